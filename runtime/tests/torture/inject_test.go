package torture

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writing are the calls by which a file store changes what is on the disk.
var writing = []string{"pwrite64", "fsync", "fdatasync", "ftruncate", "unlink", "openat", "open"}

// counted counts, call by call, how often one clean run makes it on files of the
// store.
func counted(t *testing.T, o order) map[string]int {
	t.Helper()
	dir := filepath.Dir(o.Store)
	log := filepath.Join(t.TempDir(), "count")
	said, err := o.run(t, watchedBy(log, dir)...)
	if err != nil {
		t.Fatalf("a run without faults: %v %v", err, said)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	n := make(map[string]int)
	for line := range strings.Lines(string(text)) {
		if m := syscallLine.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			n[m[2]]++
		}
	}
	return n
}

// watchedBy is strace, looking only at what concerns the store's own files, so
// that the nth call is the nth on one of them.
func watchedBy(log, dir string, more ...string) []string {
	args := []string{"strace", "-f", "-q", "-o", log, "-e", "signal=none", "-e", "trace=" + strings.Join(writing, ",")}
	for _, name := range []string{"bank.db", "bank.db-wal", "bank.db-shm"} {
		args = append(args, "-P", filepath.Join(dir, name))
	}
	args = append(args, "-P", dir)
	return append(args, more...)
}

// everyWrite runs an order once for each call in writing that it makes, with
// something done to that call.
func everyWrite(t *testing.T, y *tally, o order, short int, does []string, check func(when, at string, o order, said []word, err error)) {
	t.Helper()
	o.Store = newTraced(t)
	n := counted(t, o)
	type turn struct {
		call, do string
		nth      int
	}
	var turns []turn
	for _, call := range writing {
		for nth := 1; nth <= n[call]; nth++ {
			for _, do := range does {
				turns = append(turns, turn{call, do, nth})
			}
		}
	}
	if n["pwrite64"] == 0 || n["fsync"]+n["fdatasync"] == 0 {
		t.Fatalf("the store writes by calls that nobody here knows: %v", n)
	}
	y.remark("%d writes, %d flushes of a run, %d faults", n["pwrite64"], n["fsync"]+n["fdatasync"], len(does))
	if !long() && len(turns) > short {
		rnd := rand.New(rand.NewPCG(*seeded, 3))
		rnd.Shuffle(len(turns), func(i, j int) { turns[i], turns[j] = turns[j], turns[i] })
		turns = turns[:short]
	}
	work := make(chan turn)
	done := make(chan bool)
	for range 2 {
		go func() {
			for u := range work {
				o := o
				o.Store = newTraced(t)
				log := filepath.Join(t.TempDir(), "trace")
				inject := fmt.Sprintf("inject=%s:%s:when=%d", u.call, u.do, u.nth)
				said, err := o.run(t, watchedBy(log, filepath.Dir(o.Store), "-e", inject)...)
				if text, _ := os.ReadFile(log); u.do != "signal=KILL" && !strings.Contains(string(text), "(INJECTED)") {
					// The run took another way and ended before the nth call.
					y.remark("%s never came", inject)
					continue
				}
				y.try(1)
				check(inject, o.Store, o, said, err)
			}
			done <- true
		}()
	}
	for _, u := range turns {
		work <- u
	}
	close(work)
	<-done
	<-done
}

// newTraced is newFile under a name without links, as strace wants it.
func newTraced(t *testing.T) string {
	t.Helper()
	path, err := filepath.EvalSymlinks(newFile(t))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// SAFE-R3: every write, flush and opening of the store's files fails in its
// turn, as on a disk that is broken or full. The process says that it failed, or
// goes on; what it acknowledged is there, and the store opens again.
func TestEveryWriteFails(t *testing.T) {
	t.Parallel()
	y := begin(t, "SAFE-R3", "a write or flush fails, SQLite", "faults")
	needStrace(t)
	o := order{Seed: *seeded, Name: "f", Count: 4, Reopen: 2, Big: true}
	everyWrite(t, y, o, 30, []string{"error=EIO", "error=ENOSPC"}, func(when, at string, o order, said []word, err error) {
		if killed(err) || err != nil && !strings.Contains(err.Error(), "exit status 4") {
			y.wrong("%s: the process ended with %v", when, err)
		}
		settle(t, y, at, when, said, o.texts())
	})
}

// SAFE-R2: the process is killed at every write, flush and opening of the
// store's files, which are the points inside the store.
func TestKilledAtEveryWrite(t *testing.T) {
	t.Parallel()
	y := begin(t, "SAFE-R2", "killed at every write, SQLite", "kills")
	needStrace(t)
	o := order{Seed: *seeded, Name: "k", Count: 3, Reopen: 2, Big: true}
	everyWrite(t, y, o, 20, []string{"signal=KILL"}, func(when, at string, o order, said []word, err error) {
		if err == nil {
			y.remark("%s never came", when)
			y.try(-1)
			return
		}
		if !killed(err) && !strings.Contains(err.Error(), "status 137") {
			y.wrong("%s: the process ended with %v", when, err)
		}
		settle(t, y, at, when, said, o.texts())
	})
}
