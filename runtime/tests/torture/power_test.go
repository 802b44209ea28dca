package torture

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"
)

// A recording is all that a process asked of the disk, and what it began with.
type recording struct {
	first  map[string][]byte
	events []event
}

// recorded runs an order under strace.
func recorded(t *testing.T, o order) *recording {
	t.Helper()
	image, err := pristine()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	o.Store = filepath.Join(dir, "bank.db")
	if err := os.WriteFile(o.Store, image, 0o600); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "trace")
	if said, err := o.run(t, record(log)...); err != nil {
		t.Fatalf("a run under strace: %v %v", err, said)
	}
	events, err := readTrace(log, dir)
	if err != nil {
		t.Fatal(err)
	}
	return &recording{map[string][]byte{"bank.db": image}, events}
}

// A cut is a moment of a recording, and a number that says what survives.
type cut struct {
	at     int
	chance uint64
}

// How a disk treats flushes.
const (
	honest  = "FULL"
	lazyLog = "NORMAL" // as if the log were flushed only when it is copied into the database
	never   = "OFF"
)

// power cuts the power at chosen moments and looks at what is left. It returns
// what was wrong, by kind.
func (r *recording) power(t *testing.T, flushes string, cuts []cut) (wrongs []string) {
	t.Helper()
	var mu sync.Mutex
	work := make(chan func(dir string))
	var all sync.WaitGroup
	for range goruntime.GOMAXPROCS(0) {
		dir := memoryDir(t)
		all.Go(func() {
			for fn := range work {
				fn(dir)
			}
		})
	}
	d := newDisk(r.first)
	var said strings.Builder
	next := 0
	for _, c := range cuts { // ascending
		for ; next < c.at; next++ {
			e := r.events[next]
			if e.kind == "said" {
				said.Write(e.data)
				continue
			}
			d.next(e, flushes == honest || flushes == lazyLog && !r.commitFlush(next))
		}
		files := d.image(rand.New(rand.NewPCG(c.chance, uint64(c.at))))
		heard := words(said.String())
		work <- func(dir string) {
			for _, wrong := range afterPower(dir, files, heard) {
				mu.Lock()
				wrongs = append(wrongs, fmt.Sprintf("power cut at event %d of %d, chance %d: %s", c.at, len(r.events), c.chance, wrong))
				mu.Unlock()
			}
		}
	}
	close(work)
	all.Wait()
	return wrongs
}

// commitFlush reports whether event n flushes the log because of a commit, and
// not because it is about to be copied.
func (r *recording) commitFlush(n int) bool {
	if e := r.events[n]; e.kind != "sync" || !strings.HasSuffix(e.file, "-wal") {
		return false
	}
	for _, e := range r.events[n+1:] {
		switch e.kind {
		case "write":
			return strings.HasSuffix(e.file, "-wal")
		case "said":
			return true
		}
	}
	return true
}

// afterPower opens what a power cut left, and judges it.
func afterPower(dir string, files map[string][]byte, said []word) []string {
	ctx := context.Background()
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return []string{err.Error()}
		}
	}
	defer func() {
		left, _ := filepath.Glob(filepath.Join(dir, "*"))
		for _, name := range left {
			os.Remove(name)
		}
	}()
	s, err := open(ctx, filepath.Join(dir, "bank.db"))
	if err != nil {
		return []string{fmt.Sprintf("broken: the file does not open: %v", err)}
	}
	defer s.Close()
	v, err := judge(ctx, s)
	if err != nil {
		return []string{fmt.Sprintf("broken: %v", err)}
	}
	v.acknowledged(said)
	return v.wrongs
}

// memoryDir is a directory that is quick to write to: what is in it was already
// judged lost or kept.
func memoryDir(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "verbatim")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// answers are the moments at which an answer was given, where it hurts most.
func (r *recording) answers() []int {
	var at []int
	for i, e := range r.events {
		if e.kind == "said" && strings.HasPrefix(string(e.data), saidAck) {
			at = append(at, i+1)
		}
	}
	return at
}

// SAFE-R1: the power is cut at every moment of a process that answers, and of
// what it had not flushed an arbitrary part survives, torn at sectors. What was
// acknowledged is there, nothing is there by half, and the chain holds.
func TestPowerLoss(t *testing.T) {
	t.Parallel()
	y := begin(t, "SAFE-R1", "power cut, SQLite", "images")
	needStrace(t)
	want := 400
	if long() {
		want = 50_000
		y.asked = want
	}
	events := 0
	for n := uint64(0); y.tried < want; n++ {
		o := order{Seed: *seeded + n, Name: fmt.Sprintf("p%d", n), Count: 12, Reopen: 5, Big: true}
		each := 8
		switch {
		case !long():
			o.Count, each = 8, 1
		case n%8 == 7:
			// Long enough for the log to be copied while it is written to, and
			// to begin again from its start.
			o.Count, o.Reopen, each = 120, 0, 1
		}
		r := recorded(t, o)
		events += len(r.events)
		rnd := rand.New(rand.NewPCG(*seeded, n))
		var cuts []cut
		for at := range len(r.events) + 1 {
			times := each
			if !long() && rnd.IntN(len(r.events)) > want/2 {
				times = 0
			}
			if at > 0 && r.events[at-1].kind == "said" {
				times = max(1, each)
			}
			for range times {
				cuts = append(cuts, cut{at, rnd.Uint64()})
			}
		}
		for _, wrong := range r.power(t, honest, cuts) {
			y.wrong("recording %d: %s", n, wrong)
		}
		y.try(len(cuts))
	}
	y.remark("%d events", events)
}

// SAFE-R1: the test above can fail. The same recordings, on a disk that does as
// synchronous=NORMAL and OFF ask, lose what was acknowledged.
func TestPowerLossIsNoticed(t *testing.T) {
	t.Parallel()
	y := begin(t, "SAFE-R1", "power cut without flushes: lost work is noticed", "images")
	needStrace(t)
	r := recorded(t, order{Seed: *seeded, Name: "weak", Count: 10, Big: true})
	for _, flushes := range []string{lazyLog, never} {
		rnd := rand.New(rand.NewPCG(*seeded, 1))
		var cuts []cut
		for _, at := range r.answers() {
			for range 4 {
				cuts = append(cuts, cut{at, rnd.Uint64()})
			}
		}
		lost := 0
		for _, wrong := range r.power(t, flushes, cuts) {
			if strings.Contains(wrong, ": lost: ") {
				lost++
			}
		}
		y.try(len(cuts))
		if lost == 0 {
			y.wrong("synchronous=%s loses nothing in %d power cuts: the test is blind", flushes, len(cuts))
		}
		y.remark("%s: %d acknowledged scripts lost", flushes, lost)
	}
}
