package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"verbatim/runtime/tests/norace"
	"verbatim/stores/sqlite"
)

// An ending is a context that ends when it is asked about for the nth time. What
// runs under it is interrupted at that place, and not where a signal happens to
// find it.
type ending struct {
	context.Context
	end  context.CancelFunc
	left atomic.Int64
}

func endAt(ctx context.Context, n int) *ending {
	inner, end := context.WithCancel(ctx)
	e := &ending{Context: inner, end: end}
	e.left.Store(int64(n))
	return e
}

func (e *ending) asked() {
	if e.left.Add(-1) == 0 {
		e.end()
	}
}

func (e *ending) Done() <-chan struct{} { e.asked(); return e.Context.Done() }
func (e *ending) Err() error            { e.asked(); return e.Context.Err() }

// How many places a command is interrupted at: one of so many, at others each time.
var everyPlace = flag.Int("every-place", 5, "interrupt commands at every nth place")

// U8, X14: wherever a command is interrupted, it has done what it was asked to and
// says so, or it says that it was stopped, and nothing has changed. Nothing else is
// made of it: that names could not be read is no mistake of a script.
func TestInterruptedAnywhere(t *testing.T) {
	t.Parallel()
	if norace.Run(t) {
		return
	}
	const note = "client.add-note :request-id @pierre-dupont-source-of-wealth :note \"by the end of the month\"\n"
	laid := t.TempDir() // commands are given copies of the store in it
	if err := layOut(laid); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(laid, "note.dsl"), []byte(note), 0o666); err != nil {
		t.Fatal(err)
	}
	rows, err := os.ReadFile(filepath.Join(laid, "verbatim.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		args   []string
		in     string
		writes int // entries in the journal where it is done
	}{
		{name: "run", args: []string{"run", "note.dsl"}, writes: 1},
		{name: "run call by call", args: []string{"run", "--each", "note.dsl"}, writes: 1},
		{name: "dry run", args: []string{"run", "--dry-run", "note.dsl"}},
		{name: "once for a key", args: []string{"run", "--key", "k", "note.dsl"}, writes: 1},
		{name: "for a program", args: []string{"run", "--json", "note.dsl"}, writes: 1},
		{name: "in a session", args: []string{"run", "--session", "s", "note.dsl"}, writes: 1},
		{name: "what it means", args: []string{"say", "what is outstanding?"}},
		{name: "what was said", args: []string{"log", "show", "--as", "d.lang"}},
		{name: "whether it is whole", args: []string{"log", "verify"}},
		{name: "a talk", args: []string{"chat"}, in: "what is outstanding?\n"},
		{name: "work", args: []string{"work", "--once"}},
		{name: "migration", args: []string{"migrate"}},
		{name: "what waits", args: []string{"confirm"}},
		{name: "sessions", args: []string{"session"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			stops := 0
			seed, _ := strconv.Atoi(os.Getenv("RAPID_SEED"))
			for n := 1 + seed%*everyPlace; ; n += *everyPlace {
				store := filepath.Join(t.TempDir(), "verbatim.db")
				if err := os.WriteFile(store, rows, 0o600); err != nil {
					t.Fatal(err)
				}
				ctx := endAt(t.Context(), n)
				out, said, code := atBank(ctx, laid, store, c.in, c.args...)
				ended := ctx.left.Load() <= 0
				ctx.end()
				entries := journalled(t, store)
				switch {
				case code == exitDone && entries == c.writes:
				case ended && code == exitRefused && entries == 0 && (said+out != "") && strings.Contains(said+out, "stopped") && !strings.Contains(said, "error["):
					stops++
				default:
					t.Errorf("ended at %d: exit code %d, %d in the journal: %s%s", n, code, entries, out, said)
				}
				if !ended {
					break
				}
			}
			if stops == 0 {
				t.Error("nothing was ever stopped")
			}
			t.Logf("stopped at %d places", stops)
		})
	}
}

// journalled counts the entries of the journal in a file.
func journalled(t *testing.T, file string) int {
	t.Helper()
	s, err := sqlite.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	n, _, err := s.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return int(n)
}

// atBank runs the program in process, with the palettes of a bank and a store.
func atBank(ctx context.Context, dir, store, in string, args ...string) (out, said string, code int) {
	var stdout, stderr bytes.Buffer
	args = append([]string(nil), args...)
	for i := range args {
		if strings.HasSuffix(args[i], ".dsl") {
			args[i] = filepath.Join(dir, args[i])
		}
	}
	code = run(ctx, world{
		load: loadOnce, args: args, in: strings.NewReader(in), out: &stdout, err: &stderr, terminal: openTerminal,
		now: func() time.Time { return morning },
		env: func(name string) string {
			return map[string]string{"VERBATIM_AS": "clara", "VERBATIM_STORE": store, "VERBATIM_PALETTES": filepath.Join(dir, "verbs")}[name]
		},
	})
	return stdout.String(), stderr.String(), code
}
