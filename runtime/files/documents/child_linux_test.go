package documents

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"verbatim/runtime/tests/norace"
)

// What a child does that a file has taken over.
var misbehaviours = map[string]func(*extractor, request, []byte) error{
	"hang": func(*extractor, request, []byte) error { select {} },
	"spin": func(*extractor, request, []byte) error {
		for n := 1; n != 0; n += 2 {
		}
		return nil
	},
	"crash": func(*extractor, request, []byte) error { syscall.Kill(os.Getpid(), syscall.SIGSEGV); select {} },
	"quit":  func(*extractor, request, []byte) error { os.Exit(0); return nil },
	"deep": func(*extractor, request, []byte) error {
		var down func(int) int
		down = func(n int) int { return down(n+1) + 1 }
		return fmt.Errorf("%d", down(0))
	},
	"panic": func(*extractor, request, []byte) error { panic("a secret of the file") },
	"grow": func(*extractor, request, []byte) error {
		all := []byte{1}
		for len(all) > 0 {
			all = append(all, all...)
		}
		return nil
	},
	"grab": func(*extractor, request, []byte) error {
		b := make([]byte, 8<<30)
		b[len(b)-1] = 1
		return errors.New(string(b[:1]))
	},
	"babble": func(*extractor, request, []byte) error {
		for {
			os.Stdout.WriteString(`{"p":[{"t":"again"}]}` + "\n")
		}
	},
	"blab": func(*extractor, request, []byte) error { os.Stdout.WriteString("I am no answer"); return nil },
	"lie": func(*extractor, request, []byte) error {
		os.Stdout.WriteString(`{"f":{"reason":"because"}}`)
		select {}
	},
	"probe": func(x *extractor, _ request, _ []byte) error {
		try := map[string]func() error{
			"connect": func() error { _, err := net.Dial("tcp", "127.0.0.1:1"); return err },
			"listen":  func() error { _, err := net.Listen("unix", "@documents-test"); return err },
			"read":    func() error { _, err := os.ReadFile("/etc/hostname"); return err },
			"write":   func() error { return os.WriteFile(os.TempDir()+"/documents-test", nil, 0o600) },
			"run":     func() error { return exec.Command("/bin/true").Run() },
		}
		for what, f := range try {
			if err := f(); !errors.Is(err, syscall.EMFILE) {
				x.add(Piece{Text: fmt.Sprintf("it can %s: %v", what, err)})
			}
		}
		for what, most := range map[int]uint64{syscall.RLIMIT_DATA: 2 << 30, syscall.RLIMIT_CPU: 6, syscall.RLIMIT_FSIZE: 0, syscall.RLIMIT_CORE: 0} {
			var is syscall.Rlimit
			if err := syscall.Getrlimit(what, &is); err != nil || is.Max > most {
				x.add(Piece{Text: fmt.Sprintf("limit %d is %d", what, is.Max)})
			}
		}
		if env := os.Environ(); len(env) > 4 {
			x.add(Piece{Text: strings.Join(env, " ")})
		}
		return nil
	},
}

// Whatever a child does, its parent learns why there is no text, in time, and
// is left with no child, no goroutine and no memory of it.
func TestAChildCannotHarmItsParent(t *testing.T) {
	t.Parallel()
	for how, want := range map[string]struct {
		reason Reason
		limits Limits
	}{
		"hang":   {TimedOut, Limits{Wall: 300 * time.Millisecond}},
		"spin":   {TimedOut, Limits{CPU: time.Second}},
		"crash":  {Crashed, Limits{}},
		"quit":   {Crashed, Limits{}},
		"deep":   {Loop, Limits{}},
		"panic":  {Damaged, Limits{}},
		"grow":   {Memory, Limits{Memory: 64 << 20}},
		"grab":   {Memory, Limits{Memory: 64 << 20}},
		"babble": {TooLarge, Limits{Output: 1 << 20}},
		"blab":   {Crashed, Limits{}},
		"lie":    {Crashed, Limits{}},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			if want.limits.Wall == 0 {
				want.limits.Wall = time.Minute // what is busy with other tests is slow
			}
			began := time.Now()
			_, err := read(t.Context(), "a.txt", strings.NewReader("text"), want.limits, nil, misbehaving+"="+how)
			is := reasonOf(err)
			if raced && want.reason == Memory && is == Crashed {
				is = Memory // the race detector ends a process in its own way when it gets no memory
			}
			if is != want.reason {
				t.Errorf("it says %v, not %v", err, want.reason)
			}
			if took, most := time.Since(began), want.limits.orDefault().Wall+5*time.Second; took > most {
				t.Errorf("it took %v", took)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("it says what the file says: %v", err)
			}
		})
	}
}

// SAFE-H7: a child can open no file and no connection, start no program, has
// little memory and time, and knows nothing of our environment.
func TestAChildReachesNothing(t *testing.T) {
	t.Parallel()
	d, err := read(t.Context(), "a.txt", strings.NewReader("text"), Limits{Wall: time.Minute, CPU: 5 * time.Second}, nil, misbehaving+"=probe")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range d.Pieces {
		t.Error(p.Text)
	}
}

func TestReadingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	why := errors.New("nobody waits")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(100*time.Millisecond, func() { cancel(why) })
	if _, err := read(ctx, "a.txt", strings.NewReader("text"), Limits{Wall: time.Minute}, nil, misbehaving+"=hang"); !errors.Is(err, why) {
		t.Errorf("it says %v", err)
	}
}

// A child dies with its parent, and does not go on for nobody.
func TestAChildDiesWithItsParent(t *testing.T) {
	t.Parallel()
	if os.Getenv("DOCUMENTS_TEST_PARENT") != "" {
		read(t.Context(), "a.txt", strings.NewReader("text"), Limits{Wall: time.Minute}, nil, misbehaving+"=hang")
		return
	}
	parent := exec.Command("/proc/self/exe", "-test.run=^TestAChildDiesWithItsParent$")
	parent.Env = append(os.Environ(), "DOCUMENTS_TEST_PARENT=1")
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	child := 0
	// A child that still waits for its file ends when nobody sends one; this
	// one has its file, and its limits.
	confined := func() bool {
		limits, _ := os.ReadFile(fmt.Sprintf("/proc/%d/limits", child))
		return regexp.MustCompile(`Max open files +0 `).Match(limits)
	}
	for end := time.Now().Add(20 * time.Second); !confined() && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", parent.Process.Pid))
		for _, task := range tasks {
			list, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", parent.Process.Pid, task.Name()))
			fmt.Sscan(string(list), &child)
		}
	}
	parent.Process.Kill()
	parent.Wait()
	if child == 0 {
		t.Fatal("it started no child")
	}
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", child))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
	}
	t.Errorf("child %d goes on", child)
	syscall.Kill(child, syscall.SIGKILL)
}

// G19: a child never has more memory than it is allowed, whatever its file unpacks to. The system
// measures it, from outside.
func TestAChildKeepsToItsMemory(t *testing.T) {
	if norace.Run(t) {
		return
	}
	// What is packed is never whole here, since a child begins with the memory of its parent.
	page := func(text string, megabytes int) []byte {
		var b bytes.Buffer
		w := zlib.NewWriter(&b)
		for n := 0; n < megabytes<<20; n += len(text) {
			_, _ = io.WriteString(w, text)
		}
		_ = w.Close()
		return pdfOf("<</Type/Catalog/Pages 2 0 R>>", onePage, "<</Type/Page/Contents 4 0 R"+resources+">>", stream("/Filter/FlateDecode", b.String()))
	}
	for _, file := range []struct {
		name string
		data []byte
	}{
		{"too-much.pdf", page(strings.Repeat(" ", 1<<10), 400)},
		{"numbers.pdf", page("1 2 3 4 5 6 7 8 9 ", 250)},
	} {
		began := time.Now()
		_, err := Read(t.Context(), file.name, bytes.NewReader(file.data), Limits{Wall: time.Minute})
		var all syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_CHILDREN, &all)
		t.Logf("%s: %d kB, read in %v with %d MiB: %v", file.name, len(file.data)>>10, time.Since(began).Round(time.Millisecond), all.Maxrss>>10, err)
		if all.Maxrss > 512<<10 {
			t.Errorf("a child had %d MiB", all.Maxrss>>10)
		}
	}
}

// leftover reports children and goroutines that tests have left.
func leftover() error {
	var status syscall.WaitStatus
	if pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil); !errors.Is(err, syscall.ECHILD) {
		return fmt.Errorf("a child is left: %d", pid)
	}
	for end := time.Now().Add(2 * time.Second); runtime.NumGoroutine() > 2; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			stacks := make([]byte, 1<<16)
			return fmt.Errorf("%d goroutines are left:\n%s", runtime.NumGoroutine(), stacks[:runtime.Stack(stacks, true)])
		}
	}
	return nil
}
