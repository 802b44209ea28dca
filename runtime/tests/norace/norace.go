// Package norace runs a heavy test again in a binary without the race detector:
//
//	func TestMain(m *testing.M) { os.Exit(norace.Cleanup(m.Run())) }
//
//	func TestManyPrograms(t *testing.T) {
//		t.Parallel()
//		if norace.Run(t) {
//			return
//		}
//		…
//	}
//
// It is for tests that do one thing after another in one goroutine, many times over. The
// detector has nothing to look for there, and makes them take five times as long.
package norace

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// Binary returns the test binary of this package without the race detector: this one, or one that
// is built for it and removed by Cleanup.
var Binary = sync.OnceValues(func() (string, error) {
	self, err := os.Executable()
	if err != nil || !on {
		return self, err
	}
	if dir, err = os.MkdirTemp("", "verbatim-norace-"); err != nil {
		return "", err
	}
	built := filepath.Join(dir, "verbatim.test")
	build := exec.Command("go", "test", "-c", "-o", built, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as the program is built
	if said, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, said)
	}
	return built, nil
})

var dir string // where Binary was built

// Cleanup removes what Binary built, and returns code.
func Cleanup(code int) int {
	if dir != "" {
		os.RemoveAll(dir)
	}
	return code
}

// Run runs a test in Binary and returns true if the race detector is on; then the caller returns.
func Run(t *testing.T) bool {
	t.Helper()
	if !on {
		return false
	}
	binary, err := Binary()
	if err != nil {
		t.Fatal(err)
	}
	said, err := exec.Command(binary, arguments(t)...).CombinedOutput()
	switch told := func(what string) bool { return bytes.Contains(said, []byte("--- "+what+": "+t.Name()+" (")) }; {
	case err == nil && told("SKIP"):
		t.Skipf("%s", said)
	case err != nil || !told("PASS"): // a pattern that matches no test ends well too
		t.Errorf("%v\n%s", err, said)
	}
	return true
}

// arguments have a binary run this test alone, with the flags that this process was given.
func arguments(t *testing.T) []string {
	var pattern []string
	for _, part := range strings.Split(t.Name(), "/") {
		pattern = append(pattern, "^"+regexp.QuoteMeta(part)+"$")
	}
	args := []string{"-test.v", "-test.run", strings.Join(pattern, "/"), fmt.Sprintf("-test.short=%v", testing.Short())}
	if end, ok := t.Deadline(); ok {
		args = append(args, "-test.timeout", time.Until(end).String())
	}
	flag.Visit(func(f *flag.Flag) {
		if !strings.HasPrefix(f.Name, "test.") {
			args = append(args, "-"+f.Name+"="+f.Value.String())
		}
	})
	return args
}
