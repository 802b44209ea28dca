package lsp

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// built is the command, which editors start, in a folder of its own; it is built as it is
// released, and once: by make test, which says where in TEST_PROGRAM, or here.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "verbatim-lsp-")
	if err != nil {
		return "", err
	}
	if at := os.Getenv("TEST_PROGRAM"); at != "" {
		return dir, os.Symlink(at, dir+"/verbatim")
	}
	build := exec.Command("go", "build", "-o", dir+"/verbatim", "../../../cmd/verbatim")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return dir, fmt.Errorf("%w: %s", err, out)
	}
	return dir, nil
})

var wanted atomic.Bool // by a test

func TestMain(m *testing.M) {
	code := m.Run()
	if wanted.Load() {
		if dir, _ := built(); dir != "" {
			os.RemoveAll(dir)
		}
	}
	os.Exit(code)
}

func program(t *testing.T) string {
	t.Helper()
	wanted.Store(true)
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "verbatim")
}

// OB12: the command is a server over standard input and output, and what it ends with says
// whether the editor took leave.
func TestTheCommandServes(t *testing.T) {
	t.Parallel()
	file := program(t)
	for leave, want := range map[bool]int{true: 0, false: 1} {
		cmd := exec.Command(file, "lsp")
		in, _ := cmd.StdinPipe()
		out, _ := cmd.StdoutPipe()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		stop := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		e := newEditor(t, pipes{out, in}, "verbs/shop.yaml", shop)
		e.ask("initialize", map[string]any{"rootUri": uriOf(e.dir), "capabilities": map[string]any{}}, nil)
		e.open("a.dsl", "shop.add-ordr :size SMALL\n")
		e.expect("a.dsl", "unknown-verb")
		if leave {
			e.ask("shutdown", nil, nil)
		}
		e.notify("exit", nil)
		_ = cmd.Wait()
		stop.Stop()
		if got := cmd.ProcessState.ExitCode(); got != want {
			t.Errorf("shutdown %v: exit code %d, not %d", leave, got, want)
		}
	}
}

type pipes struct {
	io.Reader
	io.WriteCloser
}

// OB12, U21, U13: the guide "your first palette" is written in Neovim, its
// mistake and the fix included.
func TestTutorialInNeovim(t *testing.T) {
	t.Parallel()
	nvim, err := exec.LookPath("nvim")
	if err != nil {
		why := "there is no nvim here; `make neovim` installs it"
		if os.Getenv("TEST_REQUIRE_NEOVIM") == "1" {
			t.Fatal(why)
		}
		fmt.Fprintln(os.Stderr, "SKIPPED, NOT TESTED:", t.Name(), why)
		t.Skip("SKIPPED, NOT TESTED: " + why)
	}
	guide, err := os.ReadFile("../../../cmd/verbatim/guide/your-first-palette.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(guide), "```yaml file=verbs/rooms.yaml\n")
	typed, _, closed := strings.Cut(after, "```\n")
	if !found || !closed || !strings.Contains(typed, "type: dat,") {
		t.Fatal("the tutorial has no palette with the mistake")
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "verbs"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "typed.yaml"), []byte(typed), 0o644); err != nil {
		t.Fatal(err)
	}
	steps, err := filepath.Abs("testdata/tutorial.lua")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(nvim, "--headless", "--clean", "-S", steps)
	cmd.Env = append(os.Environ(), "TUTORIAL="+dir, "VERBATIM="+program(t), "XDG_STATE_HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CACHE_HOME="+dir)
	stop := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
	defer stop.Stop()
	out, err := cmd.CombinedOutput()
	const want = `diagnostic 32:20 no type is called "dat"
fix write date
line       day:  {type: date, required: true}
no diagnostics
offered rooms.book rooms.list
line rooms.book
diagnostic 1:1 rooms.book needs :team-id, :room and :day
hover Book a room for a day.
no diagnostics
`
	if got := strings.ReplaceAll(string(out), "\r", ""); err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
}
