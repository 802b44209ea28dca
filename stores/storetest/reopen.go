package storetest

import (
	"errors"
	"testing"

	"verbatim/stores"
)

// Reopened checks that nothing is known to one process only. A place is a database, empty at
// first, that can be opened more than once.
func Reopened(t *testing.T, place func(t *testing.T) Open) {
	for _, c := range reopenCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, place(t))
		})
	}
}

// again closes the store and reopens it.
func (w *world) again(open Open) {
	w.t.Helper()
	w.must(w.Close())
	w.Store = open(w.t, w.all())
}

// SAFE-Q1
var reopenCases = []testCase{
	{"of a correlation key one job waits, whoever enqueues the second", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		with := func(id string, again stores.Again) stores.Job {
			j := job(id, noon)
			j.Unique, j.Again = "k", again
			return j
		}
		w.enqueue(with("a", stores.KeepOther))
		w.again(open)
		w.enqueue(with("b", stores.KeepOther))
		w.again(open)
		if err := w.batch(stores.Batch{Jobs: []stores.Job{with("c", stores.RefuseAnother)}, Changes: []stores.Change{w.effect(1, "refused")}}); !errors.Is(err, stores.ErrDuplicate) || w.notes(1) == "refused" {
			t.Errorf("%v, notes %q", err, w.notes(1))
		}
		runs := w.take(noon, 9)
		w.wantTaken(runs, "a")
		w.again(open)
		w.enqueue(with("d", stores.KeepOther)) // a is still running
		w.wantTaken(w.take(noon, 9))
		w.must(w.batch(stores.Batch{Settled: []stores.Settlement{settle(runs[0], stores.JobDone, noon)}}))
		w.again(open)
		w.enqueue(with("e", stores.KeepOther))
		w.wantTaken(w.take(noon, 9), "e")
	}},
	{"no two jobs have one id, whoever enqueues the second", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		w.enqueue(job("a", noon))
		w.again(open)
		if err := w.batch(stores.Batch{Jobs: []stores.Job{job("a", noon)}, Changes: []stores.Change{w.effect(1, "again")}}); !errors.Is(err, stores.ErrDuplicate) || w.notes(1) == "again" {
			t.Errorf("%v, notes %q", err, w.notes(1))
		}
		w.wantTaken(w.take(noon, 9), "a")
	}},
}
