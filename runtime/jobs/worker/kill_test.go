package worker_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/engine"
	"verbatim/runtime/jobs/worker"
	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/sqlite"
	"verbatim/verbs/load"

	"testing/fstest"
)

const inChild = "TEST_WORK_STORE"

var (
	jobs  = flag.Int("jobs", 400, "how many jobs the workers that are killed are given")
	every = flag.Duration("every", 100*time.Millisecond, "how often a worker is killed")
)

// child is a worker process: it works until it is killed.
func child() int {
	ctx := context.Background()
	where := os.Getenv(inChild)
	reg, ds := load.Dir(fstest.MapFS{"desk.yaml": &fstest.MapFile{Data: []byte(palette)}})
	if ds.HasErrors() {
		return 1
	}
	var store stores.Store
	var err error
	if strings.HasPrefix(where, "postgres:") {
		store, err = postgres.Open(ctx, where)
	} else {
		store, err = sqlite.Open(where, sqlite.BusyTimeout(time.Minute))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	eng, err := engine.New(reg, store, engine.Options{})
	if err == nil {
		w := &worker.Worker{Engine: eng, Store: store, Name: fmt.Sprint(os.Getpid()), Timeout: 3 * time.Second, Poll: 20 * time.Millisecond,
			Send: func(context.Context, engine.Message) error { return nil }}
		err = w.Run(ctx)
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// SAFE-Q1: worker processes are killed again and again while they work. Every job
// is run, every effect is there exactly once, and nothing is lost or stuck. Four
// processes share one PostgreSQL, or one file. With -jobs 10000 and -every 1s it is
// the full size. What the killed leave is rescued once all jobs were tried: River looks
// for that every 30 seconds, and as soon as another worker leads.
func TestWorkersAreKilled(t *testing.T) {
	t.Parallel()
	bothStores(t, nil, func(w *world) {
		var calls strings.Builder
		for i := range *jobs {
			fmt.Fprintf(&calls, "desk.post-later :note \"%d\"\n", i)
			if i%100 == 99 || i == *jobs-1 {
				w.run("ada", calls.String())
				calls.Reset()
			}
		}
		begin := func() *exec.Cmd {
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), inChild+"="+w.where)
			c.Stderr = os.Stderr
			if err := c.Start(); err != nil {
				w.t.Fatal(err)
			}
			return c
		}
		kill := func(c *exec.Cmd) {
			_ = c.Process.Kill()
			_ = c.Wait() // it was killed, and says so
		}
		workers := []*exec.Cmd{begin(), begin(), begin(), begin()}
		defer func() {
			for _, c := range workers {
				kill(c)
			}
		}()
		ctx := context.Background()
		killed := 0
		tick := time.NewTicker(*every)
		defer tick.Stop()
		fewest, last := *jobs, time.Now() // how many were left, and since when
		for {
			<-tick.C
			left, err := w.store.Jobs(ctx, stores.JobFilter{States: []stores.JobState{stores.JobWaiting, stores.JobRunning}, Limit: *jobs})
			if err != nil {
				w.t.Fatal(err)
			}
			if len(left) == 0 {
				break
			}
			// Nobody is killed before something was done since the last was: where
			// to begin takes longer than a tick, nothing ever would be.
			if len(left) >= fewest {
				if time.Since(last) > 3*time.Minute {
					w.t.Fatalf("stuck with %d: %+v", len(left), left[0])
				}
				continue
			}
			fewest, last = len(left), time.Now()
			if !slices.ContainsFunc(left, func(j stores.JobRecord) bool { return j.Attempt == 0 }) {
				continue
			}
			kill(workers[killed%len(workers)])
			workers[killed%len(workers)] = begin()
			killed++
		}
		if killed == 0 {
			w.t.Error("it was all done before anybody was killed")
		}
		notes := map[string]int{}
		for _, row := range w.rows("posting") {
			notes[row[w.reg.Entity("posting").Store.FieldIndex("note")].Text()]++
		}
		for note, n := range notes {
			if n != 1 {
				w.t.Errorf("%s was posted %d times", note, n)
			}
		}
		if len(notes) != *jobs {
			w.t.Errorf("%d of %d were posted", len(notes), *jobs)
		}
		if dead := w.jobs(stores.JobDead); len(dead) > 0 {
			w.t.Errorf("%d jobs are dead: %+v", len(dead), dead[0])
		}
		w.t.Logf("%d jobs, %d workers killed", *jobs, killed)
		w.last()
	})
}
