package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"
)

// A shell runs command lines in a folder of their own, where verbatim is this
// program.
type shellIn struct{ dir, bin string }

// newShell lays out the example bank.
func newShell(t *testing.T) shellIn {
	t.Helper()
	s := shellIn{t.TempDir(), t.TempDir()}
	if err := layOut(s.dir); err != nil {
		t.Fatal(err)
	}
	if err := putProgram(s.bin); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s shellIn) run(t *testing.T, line string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "PATH="+s.bin+string(os.PathListSeparator)+os.Getenv("PATH"), "TERM=dumb",
		"VERBATIM_STORE=", "VERBATIM_PALETTES=", "VERBATIM_AS=", "VERBATIM_TRACE=", "XDG_STATE_HOME="+filepath.Join(s.bin, "state"))
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			t.Fatal(err)
		}
		code = exit.ExitCode()
	}
	return out.String(), said.String(), code
}

// U12: help begins with an example, fits on a screen, and its examples work.
func TestHelpBeginsWithExamplesThatRun(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	a := &app{world: world{env: func(string) string { return "" }}}
	graph := sync.OnceValue(func() *graphHouse {
		h := newGraph(t, "as: plans\n")
		h.plan()
		return h
	})
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Hidden {
			return
		}
		text, _, code := s.run(t, cmd.CommandPath()+" --help")
		lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
		if code != exitDone || len(lines) > 24 || !strings.HasPrefix(lines[0], "  verbatim") {
			t.Errorf("%s --help exits with %d, has %d lines and begins with %q", cmd.CommandPath(), code, len(lines), lines[0])
		}
		for _, line := range lines {
			if len([]rune(line)) > 100 {
				t.Errorf("%s --help has a line of %d characters: %s", cmd.CommandPath(), len(line), line)
			}
		}
		for line := range strings.Lines(cmd.Example) {
			switch cmd.Name() {
			case "fix": // of a folder without mistakes
				line = "rm -f mistakes.dsl; " + line
			case "install", "accept": // there is neither such a client nor such a server here
				continue
			case "guard": // it serves until its input ends
				line = "verbatim guard -- true </dev/null"
			case "serve": // it goes on until it is told to end
				line = "timeout --preserve-status -s INT 3 " + line
			case "undo": // of a call that was made just before
				out, said, _ := s.run(t, `echo 'client.add-note :request-id @pierre-dupont-source-of-wealth :note "x"' | verbatim run --as clara -`)
				_, number, ok := strings.Cut(out, "verbatim undo ")
				if !ok {
					t.Fatalf("%s%s", out, said)
				}
				line = strings.Replace(line, " 17", " "+strings.Fields(number)[0], 1)
			case "plan", "templates": // the bank has no plans
				if out, err := graph().command(strings.Fields(line)[1:]...).CombinedOutput(); err != nil {
					t.Errorf("%s: %v\n%s", strings.TrimSpace(line), err, out)
				}
				continue
			}
			if out, said, code := s.run(t, line); code != exitDone {
				t.Errorf("%s: exit code %d\n%s%s", strings.TrimSpace(line), code, out, said)
			}
		}
		for _, sub := range a.listed(cmd) {
			walk(sub)
		}
	}
	walk(a.root())
}

// U2: a flag that is not what it takes is refused in words of ours.
func TestFlagsSayWhatTheyTake(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	for line, want := range map[string]string{
		"verbatim log templates --plans x": `--plans takes a whole number, and "x" is none`,
		"verbatim run --from 1.5 x.dsl":    `--from takes a whole number, and "1.5" is none`,
		"verbatim run --yes=maybe x.dsl":   `--yes takes true or false, and "maybe" is none`,
	} {
		if _, said, code := s.run(t, line); code != exitUsage || !strings.Contains(said, want) || strings.Contains(said, "strconv") {
			t.Errorf("%s: %d %s", line, code, said)
		}
	}
}

// U4: every code is explained, and the examples of the command's own
// codes do what they say: the wrong one earns the code, the right one works.
func TestEveryCodeIsExplained(t *testing.T) {
	t.Parallel()
	kebab := regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
	known := map[string]bool{}
	for _, doc := range allCodes() {
		known[doc.Code] = true
		if !kebab.MatchString(doc.Code) || doc.Meaning == "" {
			t.Errorf("%q is no code, or says nothing: %q", doc.Code, doc.Meaning)
		}
	}
	// What the command stops or warns with can be explained, each of it.
	stops := regexp.MustCompile(`&stop\{exit\w+, "([a-z-]+)"|warning\[([a-z-]+)\]`)
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range stops.FindAllSubmatch(text, -1) {
			code := string(m[1]) + string(m[2])
			if !strings.HasSuffix(file, "_test.go") && !known[code] {
				t.Errorf("%s: nothing explains the code %s", file, code)
			}
		}
	}
	s := newShell(t)
	if err := os.MkdirAll(filepath.Join(s.dir, "broken"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "broken", "a.yaml"), []byte("domain: 1 2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, doc := range ownCodes() {
		if doc.Wrong == "" {
			continue
		}
		out, _, first := s.run(t, doc.Wrong+" --json")
		_, said, second := s.run(t, doc.Wrong)
		if first == exitDone || second == exitDone || !strings.Contains(out, `"code":"`+doc.Code+`"`) && !strings.Contains(said, "["+doc.Code+"]") {
			t.Errorf("%s does not earn %s (exit codes %d, %d)\n%s%s", doc.Wrong, doc.Code, first, second, out, said)
		}
		if !strings.Contains(out+said, "next") {
			t.Errorf("%s does not say what to do next\n%s", doc.Wrong, said)
		}
		if out, said, code := s.run(t, doc.Right); code != exitDone {
			t.Errorf("%s: exit code %d\n%s%s", doc.Right, code, out, said)
		}
	}
}

// U5: what people read holds no word of Go or SQL and no key, in any of the
// sessions. Sections that are somebody's own files are not what we say.
func TestSessionsSayNothingInternal(t *testing.T) {
	t.Parallel()
	internal := regexp.MustCompile(`\*?(dsl|verbs|stores|runtime|sqlite|errors|fmt|yaml|cobra|pflag)\.[A-Z]\w+|goroutine |0x[0-9a-f]{4}|\b(SELECT|INSERT|UPDATE) [a-z"]|%!|<nil>|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}`)
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		section := ""
		for line := range strings.Lines(string(text)) {
			if rest, ok := strings.CutPrefix(line, "-- "); ok {
				section = strings.TrimSuffix(strings.TrimSpace(rest), " --")
				continue
			}
			if section == "" || filepath.Ext(section) != "" {
				continue
			}
			if found := internal.FindString(line); found != "" {
				t.Errorf("%s, %s says %q: %s", name, section, found, line)
			}
		}
	}
}

// A reader that goes away, or a disk that is full, is not success.
func TestResultThatCannotBeWrittenIsNotSuccess(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("there is no /dev/full here")
	}
	s := newShell(t)
	if _, said, code := s.run(t, "verbatim check answer.dsl >/dev/full"); code != exitSystem || !strings.Contains(said, "the result could not be written: no space left on device") {
		t.Errorf("exit code %d, %q", code, said)
	}
}

// A fault of ours is exit code 4 and one sentence, never a trace.
func TestFaultIsOneSentence(t *testing.T) {
	t.Parallel()
	for _, trace := range []string{"", "1"} {
		var out, said bytes.Buffer
		code := run(context.Background(), world{
			args: []string{"check", "-"}, in: faulty{}, out: &out, err: &said,
			env: func(name string) string {
				return map[string]string{"VERBATIM_TRACE": trace, "VERBATIM_PALETTES": "../../verbs/palettes/bank"}[name]
			},
		})
		if code != exitSystem || out.Len() > 0 || !strings.Contains(said.String(), "the program itself failed") {
			t.Errorf("exit code %d, %q, %q", code, out.String(), said.String())
		}
		if got := strings.Contains(said.String(), "goroutine"); got != (trace != "") {
			t.Errorf("with VERBATIM_TRACE=%q it says %q", trace, said.String())
		}
	}
}

type faulty struct{}

func (faulty) Read([]byte) (int, error) { panic("a fault") }

// A subcommand is found in the table by the name that it has, and made alone; the
// help, and what is misspelt, know them all.
func TestASubcommandIsMadeAlone(t *testing.T) {
	t.Parallel()
	for _, c := range commands {
		a := &app{world: world{args: []string{"--json", c.name}}}
		if name := c.make(a).Name(); name != c.name {
			t.Errorf("%s is in the table as %s", name, c.name)
		}
		want := 1
		if c.name == "help" || c.name == "completion" {
			want = len(commands)
		}
		if made := len((&app{world: a.world}).root().Commands()); made != want {
			t.Errorf("%s: %d subcommands are made, want %d", c.name, made, want)
		}
	}
	for _, args := range [][]string{nil, {"--help"}, {"rnu"}, {"__complete", "run", ""}, {"--color", "run"}} {
		if made := len((&app{world: world{args: args}}).root().Commands()); made != len(commands) {
			t.Errorf("%q: %d subcommands are made", args, made)
		}
	}
}
