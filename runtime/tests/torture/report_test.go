package torture

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"verbatim/stores/postgres/pgtest"
)

var (
	minutes = flag.Int("torture", 0, "run the long versions, the open-ended ones of them for about `minutes` in all")
	seeded  = flag.Uint64("seed", 1, "where chance begins")
)

func TestMain(m *testing.M) {
	if spec := os.Getenv(inChild); spec != "" {
		os.Exit(child(spec, os.Stdout, os.Stderr))
	}
	flag.Parse()
	code := pgtest.Run(m)
	if *minutes > 0 && !table(os.Stdout) && code == 0 {
		code = 1
	}
	os.Exit(code)
}

// long says whether this is the long version.
func long() bool { return *minutes > 0 }

// share is a part of the time that the open-ended tests have.
func share(of float64) time.Duration {
	return time.Duration(float64(*minutes) * of * float64(time.Minute))
}

// A tally is one line of the table: what was tried and what came of it.
type tally struct {
	t    *testing.T
	id   string // of the promise
	what string
	unit string

	mu      sync.Mutex
	tried   int
	asked   int // how many the promise wants, in the long version
	lost    []string
	remarks []string
	skipped bool
}

var (
	talliesMu sync.Mutex
	tallies   []*tally
)

// begin adds a line to the table.
func begin(t *testing.T, id, what, unit string) *tally {
	y := &tally{t: t, id: id, what: what, unit: unit}
	talliesMu.Lock()
	tallies = append(tallies, y)
	talliesMu.Unlock()
	t.Cleanup(func() {
		y.mu.Lock()
		defer y.mu.Unlock()
		y.skipped = t.Skipped()
		if t.Failed() && len(y.lost) == 0 {
			y.lost = append(y.lost, "the test failed")
		}
		if !y.skipped {
			t.Logf("%s %s: %d %s, %d lost; %s", id, what, y.tried, unit, len(y.lost), strings.Join(y.remarks, "; "))
		}
	})
	return y
}

// try counts.
func (y *tally) try(n int) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.tried += n
}

// wrong counts something that must not be, and says how to see it again.
func (y *tally) wrong(format string, args ...any) {
	y.t.Helper()
	said := fmt.Sprintf(format, args...)
	y.mu.Lock()
	y.lost = append(y.lost, said)
	n := len(y.lost)
	y.mu.Unlock()
	if n > 20 {
		return // the first ones tell enough
	}
	y.t.Errorf("%s\nagain: %s", said, again(y.t))
}

// again is the command that repeats a test.
func again(t *testing.T) string {
	name, _, _ := strings.Cut(t.Name(), "/")
	cmd := fmt.Sprintf("go test ./runtime/tests/torture -run '^%s$' -args -seed %d", name, *seeded)
	if long() {
		cmd += fmt.Sprintf(" -torture %d", *minutes)
	}
	return cmd
}

// remark adds words to the line.
func (y *tally) remark(format string, args ...any) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.remarks = append(y.remarks, fmt.Sprintf(format, args...))
}

// table prints what was done, and reports whether all of it was tried and
// nothing was lost.
func table(out io.Writer) bool {
	talliesMu.Lock()
	defer talliesMu.Unlock()
	sound := true
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\npromise\twhat was done\thow often\tlost\t\n")
	for _, y := range tallies {
		often, lost := fmt.Sprintf("%d %s", y.tried, y.unit), fmt.Sprint(len(y.lost))
		remarks := append([]string(nil), y.remarks...)
		switch {
		case y.skipped:
			often, lost, sound = "NOT TRIED", "-", false
		case len(y.lost) > 0:
			sound = false
			remarks = append(remarks, "again: "+again(y.t))
		case y.tried < y.asked:
			sound = false
			remarks = append(remarks, fmt.Sprintf("fewer than the %d asked for", y.asked))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", y.id, y.what, often, lost, strings.Join(remarks, "; "))
	}
	w.Flush()
	fmt.Fprintf(out, "\nseed %d\n", *seeded)
	return sound
}

// needStrace skips where nobody can watch a process, and says so.
func needStrace(t *testing.T) {
	t.Helper()
	out, err := exec.Command("strace", "-f", "-o", os.DevNull, "true").CombinedOutput()
	if err == nil {
		return
	}
	why := fmt.Sprintf("strace does not work here (%v %s); `make strace` installs it, and the kernel must let a process watch its children", err, out)
	if os.Getenv("TEST_REQUIRE_STRACE") == "1" || long() {
		t.Fatal(why)
	}
	fmt.Fprintln(os.Stderr, "SKIPPED, NOT TESTED:", t.Name(), why)
	t.Skip("SKIPPED, NOT TESTED: " + why)
}
