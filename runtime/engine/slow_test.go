package engine_test

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"testing"
	"time"

	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/postgres"
)

// An ending is a context that ends when it is told to, with the reason that it
// is told: a deadline that no clock decides.
type ending struct {
	context.Context
	done chan struct{}
	why  error
}

func (e ending) Done() <-chan struct{} { return e.done }

func (e ending) Err() error {
	select {
	case <-e.done:
		return e.why
	default:
		return nil
	}
}

// SAFE-R7: somebody else holds a row, a statement waits for it on the server, and
// there the run's time is over, or whoever asked goes away. The run ends, and says
// why, while the row is still held; nothing of it is done, then or when the row is
// let go; no transaction of its is left; and the next run, on the only connection
// that the pool has, finds that in order.
func TestARunEndsWhileAStatementWaits(t *testing.T) {
	t.Parallel()
	for name, why := range map[string]error{"deadline": context.DeadlineExceeded, "cancel": context.Canceled} {
		for _, held := range []struct {
			entity string
			key    stores.Value
		}{{"house", id(1)}, {"room", id(13)}} {
			t.Run(name+", a "+held.entity, func(t *testing.T) {
				t.Parallel()
				h := newTwoHouses(t)
				other := h.two[1]
				store, err := postgres.Open(t.Context(), h.db.App+"&pool_max_conns=1")
				if err != nil {
					t.Fatal(err)
				}
				defer store.Close()
				eng, err := engine.New(other.reg, store, engine.Options{Clock: func() time.Time { return newWorldClock }, NewID: other.newID,
					Backoff: func(int) time.Duration { return time.Millisecond }})
				if err != nil {
					t.Fatal(err)
				}
				s, err := eng.Session(t.Context(), "wim")
				if err != nil {
					t.Fatal(err)
				}
				p := other.program(s, "guild.seal :house-id @hall")

				mine := errors.New("mine")
				holds, letGo, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
				go func() {
					e := other.entity(held.entity)
					ended <- other.store.Update(context.Background(), stores.Scope{All: true}, func(tx stores.Tx) error {
						note := stores.Change{Op: stores.Update, Entity: e, Key: held.key, Set: []stores.Assign{{Field: fieldOf(e, "note"), Value: str("held")}}}
						err := tx.Apply(context.Background(), stores.Batch{Changes: []stores.Change{note}})
						close(holds)
						<-letGo
						return errors.Join(err, mine)
					})
				}()
				<-holds
				over := ending{context.Background(), make(chan struct{}), why}
				answer := make(chan error, 1)
				go func() {
					_, err := s.Run(over, p, engine.RunOptions{})
					answer <- err
				}()
				for waiting := 0; waiting == 0; goruntime.Gosched() {
					if waiting, err = h.db.Waiting(); err != nil {
						t.Fatal(err)
					}
				}
				close(over.done)
				err = <-answer // and the row is still held
				var failed *engine.Failure
				if !errors.As(err, &failed) || failed.Unknown || !errors.Is(err, why) {
					t.Errorf("it ends with %T %v", err, err)
				}
				if got, want := engine.Sentence(err), engine.Sentence(&engine.Failure{Err: why}); got != want {
					t.Errorf("is told %q, and should be %q", got, want)
				}
				close(letGo)
				if err := <-ended; !errors.Is(err, mine) || err.Error() != mine.Error() {
					t.Error(err)
				}
				if got := diff(other.entity, h.first, other.state()); len(got) > 0 {
					t.Errorf("it left %q", got)
				}
				if entries, err := store.Journal(t.Context(), 1, 0); err != nil || len(entries) > 0 {
					t.Errorf("%d entries, %v", len(entries), err)
				}
				if _, err := s.Run(t.Context(), p, engine.RunOptions{}); err != nil {
					t.Error("the next:", err)
				}
				if got := fmt.Sprint(diff(other.entity, h.first, other.state())); got == "[]" {
					t.Error("the next did nothing")
				}
				// The sealer's are, for a moment, after a run; a run's would stay.
				open, soon := 1, time.Now().Add(time.Minute)
				for ; open > 0; goruntime.Gosched() {
					if open, err = h.db.Open(); err != nil {
						t.Fatal(err)
					}
					if open > 0 && time.Now().After(soon) {
						t.Fatalf("%d transactions are open", open)
					}
				}
			})
		}
	}
}

func fieldOf(e *stores.Entity, name string) int {
	for i := range e.Fields {
		if e.Fields[i].Name == name {
			return i
		}
	}
	panic("no field " + name)
}
