package torture

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/postgres"
)

// within runs something that has a moment to be done, and complains where it does not
// come back a second after that. A machine that keeps everybody waiting, as a timer
// beside it tells, is not held against it.
func (y *tally) within(what string, moment time.Duration, do func(context.Context) error) {
	y.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), moment)
	defer cancel()
	var done atomic.Bool
	var stalled time.Duration
	var watch sync.WaitGroup
	watch.Go(func() {
		for last := time.Now(); !done.Load(); {
			time.Sleep(10 * time.Millisecond)
			now := time.Now()
			stalled = max(stalled, now.Sub(last))
			last = now
		}
	})
	began := time.Now()
	err := do(ctx)
	late := time.Since(began) - moment
	done.Store(true)
	watch.Wait()
	y.try(1)
	if err == nil {
		y.wrong("%s: it was done, on a line that holds everything", what)
	}
	if late > time.Second+4*stalled {
		y.wrong("%s: back %s past the deadline, on a machine that stood still for %s: %v", what, late, stalled, err)
	}
}

const moment = 300 * time.Millisecond

// F22, SAFE-R7: on a line that dies at any place of a script, and with the pool in use,
// a row locked or the file written by others, whoever asked hears of it within a second
// of their deadline; and the server does not go on holding rows for a line that is dead.
func TestADeadlineIsKept(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	text := func(tag string) string {
		return fmt.Sprintf(`bank.move :from-id @acc0 :to-id @acc1 :amount 1 :tag "%s" :part 1`, tag)
	}
	move := func(d *desk, tag string) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := d.do(ctx, text(tag), tag)
			return err
		}
	}
	teller := func(t *testing.T, s stores.Store) *desk {
		t.Helper()
		d, err := sit(ctx, s, "tess", engine.Options{})
		if err == nil {
			_, err = d.do(ctx, text("first/1"), "first/1")
		}
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	begins := func(t *testing.T, what string) *tally { return begin(t, "SAFE-R7", what, "deadlines") }
	dial := func(t *testing.T, at string, opts ...postgres.Option) stores.Store {
		t.Helper()
		s, err := postgres.Open(ctx, at, opts...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	t.Run("line", func(t *testing.T) {
		t.Parallel()
		y := begins(t, "a line that dies at any place, PostgreSQL")
		db := newDatabase(t)
		p := newProxy(t, db, "&pool_max_conns=4")
		teller := teller(t, dial(t, p.store, postgres.BusyTimeout(500*time.Millisecond)))
		p.arm(toServer, -1)
		if err := move(teller, "whole/1")(ctx); err != nil {
			t.Fatal(err)
		}
		_, whole := p.disarm()
		watching := opened(t, db.App)
		for way := range whole {
			for part := range int64(8) {
				what := fmt.Sprintf("way %d, part %d of 8", way, part)
				p.holdAfter(way, whole[way]*part/8)
				y.within(what, moment, move(teller, fmt.Sprintf("w%dp%d/1", way, part)))
				for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
					holding, err := db.Open()
					if err != nil {
						t.Fatal(err)
					}
					if holding == 0 {
						break
					}
					if time.Since(began) > 20*time.Second {
						y.wrong("%s: %d sessions still hold what they locked", what, holding)
						break
					}
				}
				other, err := sit(ctx, watching, "theo", engine.Options{})
				if err == nil {
					_, err = other.do(ctx, text(fmt.Sprintf("o%dp%d/1", way, part)), fmt.Sprintf("o%dp%d/1", way, part))
				}
				if err != nil {
					y.wrong("%s: another cannot go on while the line is dead: %v", what, err)
				}
				p.heal()
				p.hangUp()
			}
		}
	})
	// A line that stalls after each message of the protocol, one after the other: whoever reads or writes
	// is told in time that it is not known, and never no; what was asked for under a key is done once.
	for name, text := range map[string]string{"read": "bank.list-accounts", "write": text("$n/1")} {
		t.Run("messages of a "+name, func(t *testing.T) {
			t.Parallel()
			y := begins(t, "a line that stalls after each message of a "+name+", PostgreSQL")
			p := newProxy(t, newDatabase(t), "&pool_max_conns=1")
			p.frames()
			teller := teller(t, dial(t, p.store, postgres.BusyTimeout(500*time.Millisecond)))
			done := errors.New("done")
			for n := 1; ; n++ {
				text, key := strings.ReplaceAll(text, "$n", fmt.Sprint("m", n)), fmt.Sprintf("m%d/1", n)
				what, clean := fmt.Sprintf("stalled after message %d", n), false
				p.stallAfter(n)
				y.within(what, 150*time.Millisecond, func(ctx context.Context) error {
					reply, err := teller.do(ctx, text, key)
					switch was, why := outcome(reply, err); {
					case was == saidRefused:
						y.wrong("%s: it is told as a no: %s", what, why)
					case err == nil:
						clean = !p.stalls()
						return done
					}
					return err
				})
				p.heal()
				p.hangUp()
				var err error
				for range 10 { // until the pool has noticed that its line is gone
					if _, err = teller.do(ctx, text, key); err == nil {
						break
					}
				}
				if err != nil {
					y.wrong("%s: again, under the same key: %v", what, err)
				}
				if clean {
					y.remark("%d messages", n-1)
					if n < 10 {
						y.wrong("only %d messages stalled", n-1)
					}
					break
				}
				if n == 500 {
					y.wrong("it never ends")
					break
				}
			}
		})
	}
	t.Run("pool", func(t *testing.T) {
		t.Parallel()
		y := begins(t, "a pool in use, PostgreSQL")
		s := dial(t, newDatabase(t).App+"&pool_max_conns=1")
		teller := teller(t, s)
		taken, free := make(chan struct{}), make(chan struct{})
		var all sync.WaitGroup
		all.Go(func() {
			_ = s.Update(ctx, stores.Scope{All: true}, func(stores.Tx) error { close(taken); <-free; return nil })
		})
		<-taken
		y.within("all connections are in use", moment, move(teller, "pool/1"))
		close(free)
		all.Wait()
	})
	t.Run("lock", func(t *testing.T) {
		t.Parallel()
		y := begins(t, "locked tables, PostgreSQL")
		db := newDatabase(t)
		teller := teller(t, dial(t, db.App, postgres.BusyTimeout(time.Minute)))
		db.Hang(t)
		y.within("somebody has locked the tables", moment, move(teller, "lock/1"))
	})
	t.Run("file", func(t *testing.T) {
		t.Parallel()
		y := begins(t, "a file that somebody writes, SQLite")
		at := newFile(t)
		s := opened(t, at)
		teller := teller(t, s)
		for what, holder := range map[string]stores.Store{"this process writes": s, "another writes": opened(t, at)} {
			taken, free := make(chan struct{}), make(chan struct{})
			var all sync.WaitGroup
			all.Go(func() {
				_ = holder.Update(ctx, stores.Scope{All: true}, func(stores.Tx) error { close(taken); <-free; return nil })
			})
			<-taken
			y.within(what, moment, move(teller, what[:4]+"/1"))
			close(free)
			all.Wait()
		}
	})
}
