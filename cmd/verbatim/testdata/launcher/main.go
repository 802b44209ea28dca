// Command launcher is put in the place of verbatim by tests. It has a worker of the tests run the
// command, with its arguments, environment, folder and streams, and exits as the command did: so a
// command costs a millisecond of start-up instead of thirty. It becomes the program itself where a
// worker would be something else to the command: see own.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unsafe"
)

func main() {
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		fail("who am I", err)
	}
	home, here := filepath.Dir(self), ""
	if !own(home) {
		here, _ = os.Getwd() // no worker gets to a folder that is gone
	}
	if here == "" {
		program := filepath.Join(home, filepath.Base(os.Args[0]))
		fail("start "+program, syscall.Exec(program, os.Args, os.Environ()))
	}
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		err = syscall.Connect(fd, &syscall.SockaddrUnix{Name: filepath.Join(home, "socket")})
	}
	if err != nil {
		fail("reach the tests", err)
	}
	// What is asked for: a length of eight digits, then words that end in NUL.
	words := append([]string{here, fmt.Sprint(len(os.Args) - 1)}, os.Args[1:]...)
	text := strings.Join(append(words, os.Environ()...), "\x00") + "\x00"
	request := []byte(fmt.Sprintf("%08d", len(text)) + text)
	for rights := syscall.UnixRights(0, 1, 2); len(request) > 0; rights = nil {
		n, err := syscall.SendmsgN(fd, request, rights, nil, 0)
		if err != nil && err != syscall.EINTR {
			fail("ask the tests", err)
		}
		request = request[max(n, 0):]
	}
	var code [1]byte
	for {
		n, err := syscall.Read(fd, code[:])
		if err == syscall.EINTR {
			continue
		}
		if n != 1 {
			fail("run the command", fmt.Errorf("its worker ended: %v", err))
		}
		os.Exit(int(code[0]))
	}
}

// own reports whether a command gets a process of its own: it serves until it is stopped, somebody
// types, or its environment has what a process reads when it starts. PROCESS=own in a script asks
// for it. Roots of certificates and proxies that the tests were started with are no reason: all
// commands have them, and speak to this machine.
func own(home string) bool {
	for _, arg := range os.Args[1:min(2, len(os.Args))] {
		switch arg {
		case "serve", "work", "mcp", "lsp":
			return true
		}
	}
	for _, name := range []string{"PROCESS", "TZ", "GODEBUG", "GOMAXPROCS", "GOMEMLIMIT", "GOTRACEBACK", "SSL_CERT_FILE", "HTTP_PROXY", "HTTPS_PROXY"} {
		switch value := os.Getenv(name); {
		case value == "", name == "GOTRACEBACK" && value == "system": // testscript sets it
		case value == given(home, name):
		default:
			return true
		}
	}
	for fd := range 3 {
		var size [4]uint16
		if _, _, none := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), syscall.TIOCGWINSZ, uintptr(unsafe.Pointer(&size))); none == 0 {
			return true
		}
	}
	return false
}

// given returns what the tests were started with.
func given(home, name string) string {
	value, _ := os.ReadFile(filepath.Join(home, name))
	return string(value)
}

func fail(what string, err error) {
	fmt.Fprintf(os.Stderr, "launcher: cannot %s: %v\n", what, err)
	os.Exit(99)
}
