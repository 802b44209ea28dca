package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/sqlite"
)

// U8: nothing for a second; then a line for each tenth of the way, or one in five
// seconds; and a run that begins again is not told of until it is farther.
func TestMeterSaysLittle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		total int
		each  time.Duration
		want  []string
	}{
		{"quick", 40, time.Millisecond, nil},
		{"a second in", 10, 400 * time.Millisecond, []string{"3 of 10 calls, 30 %", "4 of 10 calls, 40 %", "5 of 10 calls, 50 %", "6 of 10 calls, 60 %", "7 of 10 calls, 70 %", "8 of 10 calls, 80 %", "9 of 10 calls, 90 %"}},
		{"slow", 2000, 1250 * time.Millisecond, []string{"5 of 2,000 calls, 0 %", "9 of 2,000 calls, 0 %", "13 of 2,000 calls, 0 %"}},
		{"thousands", 20000, time.Millisecond, []string{"2,000 of 20,000 calls, 10 %", "4,000 of 20,000 calls, 20 %", "6,000 of 20,000 calls, 30 %"}},
	} {
		var said bytes.Buffer
		now := morning
		m := &meter{w: &said, now: func() time.Time { return now }, began: morning}
		for round := range 2 { // the second time over, it began again
			for n := 1; n <= c.total && (round == 0 || n < c.total/2); n++ {
				now = now.Add(c.each)
				if round == 1 {
					now = morning.Add(time.Minute)
				}
				m.tell(engine.Progress{Phase: engine.Committing, Done: n, Total: c.total})
			}
		}
		got := strings.Split(strings.TrimSuffix(said.String(), "\n"), "\n")
		if said.Len() == 0 {
			got = nil
		}
		if len(got) < len(c.want) || c.want == nil && got != nil {
			t.Errorf("%s: said %q", c.name, got)
			continue
		}
		for i := range c.want {
			if got[i] != c.want[i] {
				t.Errorf("%s: line %d is %q, want %q", c.name, i, got[i], c.want[i])
			}
		}
		if c.total <= 40 && len(got) != len(c.want) {
			t.Errorf("%s: said %q", c.name, got)
		}
	}
}

// A tool that is asked is told of in its own numbers: each call's from the beginning, also
// where nobody knows how many there are.
func TestMeterTellsOfTools(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	now := morning
	m := &meter{w: &said, now: func() time.Time { return now }, began: morning}
	for _, p := range []engine.Progress{
		{Phase: engine.Asking, Number: 1, Verb: "room.read", What: "pages", Done: 1, Total: 3000},
		{Phase: engine.Asking, Number: 1, Verb: "room.read", What: "pages", Done: 1200, Total: 3000},
		{Phase: engine.Asking, Number: 1, Verb: "room.read", What: "pages", Done: 1201, Total: 3000},
		{Phase: engine.Asking, Number: 2, Verb: "room.read", What: "pages", Done: 900, Total: 1000},
		{Phase: engine.Asking, Number: 3, Verb: "desk.find", Done: 3},
		{Phase: engine.Asking, Number: 3, Verb: "desk.find", What: "\x1b[2Jtickets", Done: 4},
		{Phase: engine.Asking, Number: 3, Verb: "desk.find", Done: 5},
	} {
		now = now.Add(6 * time.Second)
		m.tell(p)
	}
	want := "room.read: 1,200 of 3,000 pages\nroom.read: 1,201 of 3,000 pages\nroom.read: 900 of 1,000 pages\n"
	if got := said.String(); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "tickets\ndesk.find: 5\n") || strings.Contains(got, "\x1b") {
		t.Errorf("%q, want %q", got, want)
	}
}

// A clerk at the bank of the example, in process, with a clock that does
// something when it is looked at for the nth time.
func atTheBank(t *testing.T) (dir string, verbatim func(at func(look int, cancel context.CancelFunc), args ...string) (out, said string, code int)) {
	t.Helper()
	dir = t.TempDir()
	if err := layOut(dir); err != nil {
		t.Fatal(err)
	}
	return dir, func(at func(int, context.CancelFunc), args ...string) (string, string, int) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var out, said bytes.Buffer
		looks := 0
		code := run(ctx, world{
			load: loadOnce, args: args, in: strings.NewReader(""), out: &out, err: &said, terminal: openTerminal,
			now: func() time.Time {
				looks++
				if at != nil {
					at(looks, cancel)
				}
				return morning
			},
			env: func(name string) string {
				return map[string]string{"VERBATIM_AS": "clara", "VERBATIM_STORE": filepath.Join(dir, "verbatim.db"), "VERBATIM_PALETTES": filepath.Join(dir, "verbs")}[name]
			},
		})
		return out.String(), said.String(), code
	}
}

func manyNotes(t *testing.T, dir string, n int) string {
	t.Helper()
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "client.add-note :request-id @pierre-dupont-source-of-wealth :note \"n%d\"\n", i)
	}
	name := filepath.Join(dir, "many.dsl")
	if err := os.WriteFile(name, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

// OB14: whoever stops a run call by call is told what is committed and how to go
// on, and going on does the rest.
func TestStoppedCallByCall(t *testing.T) {
	t.Parallel()
	dir, verbatim := atTheBank(t)
	file := manyNotes(t, dir, 40)
	// The clock is looked at when it begins, by the check of the days in it, by the
	// preview, by the engine's own,
	// and then by each call.
	_, said, code := verbatim(func(look int, cancel context.CancelFunc) {
		if look == 4+13 {
			cancel()
		}
	}, "run", "--each", file)
	want := fmt.Sprintf("stopped after 12 of 40; 12 are committed (journal 1..12). Continue with: verbatim run --from 13 %s\n", file)
	if code != exitRefused || said != want {
		t.Fatalf("exit code %d: %s, want %s", code, said, want)
	}
	out, said, code := verbatim(nil, "run", "--from", "13", file)
	if code != exitDone || !strings.Contains(out, "applied  28 calls") || !strings.Contains(out, "journal  13..40\n") {
		t.Errorf("exit code %d: %s%s", code, out, said)
	}
	// With a name and a key on the command line, the way on has them too.
	_, said, _ = verbatim(func(look int, cancel context.CancelFunc) {
		if look == 4+2 {
			cancel()
		}
	}, "run", "--each", "--key", "a b", "--as", "clara", file)
	if !strings.Contains(said, "stopped after 1 of 40; 1 is committed (journal 41). Continue with: verbatim run --from 2 --key 'a b' ") {
		t.Errorf("said %s", said)
	}
	// Whole, it has done nothing.
	_, said, code = verbatim(func(look int, cancel context.CancelFunc) {
		if look == 4 {
			cancel()
		}
	}, "run", file)
	if code != exitRefused || !strings.Contains(said, "stopped, nothing was changed") {
		t.Errorf("exit code %d: %s", code, said)
	}
	for _, json := range []bool{false, true} {
		args := []string{"run", "--each", file}
		if json {
			args = append(args, "--json")
		}
		// In the middle, the fixture's request is answered by somebody else.
		taken := false
		out, said, code = verbatim(func(look int, _ context.CancelFunc) {
			if look == 4+4 && !taken {
				taken = true
				fulfil(t, dir)
			}
		}, args...)
		if json {
			// It is fulfilled from the beginning now.
			if code != exitRefused || !strings.Contains(out, `"outcome":"refused"`) {
				t.Errorf("exit code %d: %s", code, out)
			}
			continue
		}
		if code != exitRefused || !strings.Contains(said, "refused[") || !strings.Contains(said, "many.dsl:4") || !strings.Contains(said, "stopped after 3 of 40; 3 are committed") ||
			!strings.Contains(said, "Put it right, then continue with: verbatim run --from 4 ") || strings.Contains(strings.ToLower(said), "nothing was changed") {
			t.Errorf("exit code %d: %s", code, said)
		}
	}
}

// fulfil answers the request behind everybody's back.
func fulfil(t *testing.T, dir string) {
	t.Helper()
	store, err := sqlite.Open(filepath.Join(dir, "verbatim.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	reg, err := (&app{world: world{env: func(string) string { return "" }}}).palettes(filepath.Join(dir, "verbs"))
	if err != nil {
		t.Fatal(err)
	}
	e := reg.Entity("outstanding-request").Store
	err = store.Update(t.Context(), stores.Scope{All: true}, func(tx stores.Tx) error {
		rows, err := tx.Find(t.Context(), stores.Find{Entity: e})
		if err != nil {
			return err
		}
		var b stores.Batch
		for _, row := range rows {
			b.Changes = append(b.Changes, stores.Change{Op: stores.Update, Entity: e, Key: row[e.Key],
				Set: []stores.Assign{{Field: e.FieldIndex("status"), Value: stores.NewString("FULFILLED")}}})
		}
		return tx.Apply(t.Context(), b)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// U8, X14: a real process is interrupted with a real signal while it commits
// call by call. What it says is committed is what is committed, and the rest is
// done by going on.
func TestInterruptedProcess(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	const calls = 3000 // whose events are more than a pipe holds, so that the process waits for us
	manyNotes(t, s.dir, calls)
	start := func(args ...string) (*exec.Cmd, *bufio.Scanner, *bytes.Buffer, io.WriteCloser) {
		cmd := exec.Command(filepath.Join(s.bin, "verbatim"), args...)
		cmd.Dir = s.dir
		cmd.Env = append(os.Environ(), "VERBATIM_AS=clara", "VERBATIM_STORE=verbatim.db", "VERBATIM_PALETTES=verbs", "PROCESS=own")
		var said bytes.Buffer
		cmd.Stderr = &said
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<26)
		return cmd, lines, &said, in
	}
	cmd, lines, said, _ := start("run", "--json", "--events", "--each", "many.dsl")
	var last struct {
		Event string
		Done  int
		Reply struct {
			Outcome, Code            string
			Done, Total, Next, First int
			Last                     int
		}
	}
	interrupted := false
	for lines.Scan() {
		if err := json.Unmarshal(lines.Bytes(), &last); err != nil {
			t.Fatalf("%v: %s", err, lines.Bytes())
		}
		if last.Event == "call" && last.Done == 12 && !interrupted {
			interrupted = true
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	err := cmd.Wait()
	r := last.Reply
	if cmd.ProcessState.ExitCode() != exitRefused || last.Event != "reply" || r.Outcome != "stopped" || r.Code != "stopped" || r.Done < 12 || r.Done >= calls || r.Next != r.Done+1 || r.Last != r.Done {
		t.Fatalf("%v: %+v\n%s", err, last, said)
	}
	if out, _, _ := s.run(t, "verbatim log show --as d.lang"); strings.Count(out, "\n") != r.Done {
		t.Errorf("%d calls are committed, and %d are in the journal", r.Done, strings.Count(out, "\n"))
	}

	// Whole, and while somebody else keeps the store busy: nothing was changed. The
	// script is longer than a pipe, so that once it is written the process is
	// there to be interrupted.
	store, err := sqlite.Open(filepath.Join(s.dir, "verbatim.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	err = store.Update(t.Context(), stores.Scope{}, func(stores.Tx) error {
		cmd, lines, said, in := start("run", "-")
		text, err := os.ReadFile(filepath.Join(s.dir, "many.dsl"))
		if err != nil {
			return err
		}
		if _, err := in.Write(text); err != nil {
			return err
		}
		in.Close()
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			return err
		}
		for lines.Scan() {
			t.Errorf("it printed %s", lines.Text())
		}
		err = cmd.Wait()
		if cmd.ProcessState.ExitCode() != exitRefused || !strings.Contains(said.String(), "stopped, nothing was changed") {
			t.Errorf("%v: %s", err, said)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if out, _, _ := s.run(t, "verbatim log show --as d.lang"); strings.Count(out, "\n") != r.Done {
		t.Error("the journal is longer than it was")
	}
}
