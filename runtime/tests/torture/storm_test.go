package torture

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/postgres/pgtest"
)

// beforeCommit does something when everything of a transaction is done but its
// commit.
type beforeCommit struct {
	stores.Store
	do func()
}

func (b *beforeCommit) Update(ctx context.Context, scope stores.Scope, fn func(stores.Tx) error) error {
	return b.Store.Update(ctx, scope, func(tx stores.Tx) error {
		err := fn(tx)
		if err == nil {
			b.do()
		}
		return err
	})
}

// SAFE-R7: a network that swallows the answer to a commit does not keep whoever
// asked waiting long after their deadline: they are told that it is not known,
// and their key settles it.
func TestCommitWithoutAnswerIsUnknown(t *testing.T) {
	t.Parallel()
	y := begin(t, "SAFE-R7", "commit whose answer is swallowed, PostgreSQL", "commits")
	db := newDatabase(t)
	p := newProxy(t, db, "")
	held := &beforeCommit{Store: opened(t, p.store), do: func() {}}
	tess, err := sit(context.Background(), held, "tess", engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := map[string]script{"held-1/1": {tag: "held-1/1", text: `bank.move :from-id @acc0 :to-id @acc1 :amount 1 :tag "held-1/1" :part 1`}}
	prog, err := tess.program(text["held-1/1"].text)
	if err != nil {
		t.Fatal(err)
	}
	// The deadline counts from the commit, so that a slow machine is no fault.
	ctx, late := context.WithCancel(context.Background())
	defer late()
	soon := &soonDue{Context: ctx}
	held.do = func() {
		p.hold(false, true)
		soon.at.Store(time.Now().Add(200 * time.Millisecond).UnixNano())
	}
	began := time.Now()
	what, rest := outcome(tess.Run(soon, prog, engine.RunOptions{Key: "held-1/1"}))
	y.try(1)
	if took := time.Since(began); took > 20*time.Second {
		y.wrong("the answer took %s", took)
	}
	if what != saidUnknown {
		y.wrong("it is said to be %s %s", what, rest)
	}
	p.heal()
	settle(t, y, db.App, "afterwards", []word{{saidTry, "held-1/1", ""}}, text)
}

// soonDue is a context whose deadline is known once there is a commit to wait
// for.
type soonDue struct {
	context.Context
	at atomic.Int64
}

func (c *soonDue) Deadline() (time.Time, bool) {
	at := c.at.Load()
	return time.Unix(0, at), at != 0
}

// SAFE-R7: the network between the engine and PostgreSQL is parted, slowed,
// half-open and cut, the server ends its sessions, and stops at once and starts
// again. No answer is wrong; and in the long version, where time is measured,
// no request hangs a second past its deadline, and five seconds after a fault is
// healed work is done again.
func TestStorm(t *testing.T) {
	t.Parallel()
	y := begin(t, "SAFE-R7", "partition, delay, half-open, hang-up, failover, PostgreSQL", "faults")
	ctx := context.Background()
	server := pgtest.Own(t)
	establish(t, server.DB)
	p := newProxy(t, server.DB, "&pool_max_conns=6")
	clients, within, rounds := 8, 3*time.Second, 7
	until := time.Now()
	if long() {
		until = until.Add(share(0.15))
	}
	var mu sync.Mutex
	said := []word{}
	texts := make(map[string]script)
	tell := func(what, tag, rest string) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, word{what, tag, rest})
	}
	var stop atomic.Bool
	var acks atomic.Int64
	var worst atomic.Int64
	store := opened(t, p.store)
	var all sync.WaitGroup
	for n := range clients {
		d, err := sit(ctx, store, "tess", engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		scripts := newStream(*seeded+uint64(n), fmt.Sprintf("s%d", n))
		all.Go(func() {
			for !stop.Load() {
				sc := scripts.next()
				mu.Lock()
				texts[sc.tag] = sc
				mu.Unlock()
				// Names are read in a time of their own, before there is a request.
				if _, err := d.program(sc.text); err != nil {
					continue
				}
				once, end := context.WithTimeout(ctx, within)
				tell(saidTry, sc.tag, "")
				began := time.Now()
				what, rest := outcome(d.do(once, sc.text, sc.tag))
				late := time.Since(began) - within
				end()
				tell(what, sc.tag, rest)
				if what == saidAck {
					acks.Add(1)
				}
				for {
					most := worst.Load()
					if int64(late) <= most || worst.CompareAndSwap(most, int64(late)) {
						break
					}
				}
				if long() && late > time.Second {
					y.wrong("script %s hung for %s past its deadline: %s %s", sc.tag, late, what, rest)
				}
			}
		})
	}
	rnd := rand.New(rand.NewPCG(*seeded, 7))
	faults := []struct {
		name string
		do   func()
	}{
		{"partition", func() { p.hold(true, true) }},
		{"half-open to the server", func() { p.hold(true, false) }},
		{"half-open to the client", func() { p.hold(false, true) }},
		{"delay", func() { p.slow(time.Duration(5+rnd.IntN(50)) * time.Millisecond) }},
		{"cut and refused", func() { p.shut(true); p.hangUp() }},
		{"sessions ended", func() {
			if _, err := server.HangUp(); err != nil {
				t.Error(err)
			}
		}},
		{"server stopped and started", func() {
			if err := server.Crash(); err != nil {
				t.Error(err)
			}
		}},
	}
	slowest := time.Duration(0)
	for round := 0; round < rounds || time.Now().Before(until); round++ {
		// Work is being done before the next fault comes.
		for before := acks.Load(); acks.Load() < before+3; {
			time.Sleep(time.Millisecond)
		}
		n := round
		if round >= len(faults) {
			n = rnd.IntN(len(faults))
		}
		fault := faults[n%len(faults)]
		fault.do()
		if long() {
			time.Sleep(time.Duration(rnd.IntN(6000)) * time.Millisecond)
		} else {
			time.Sleep(time.Duration(50+rnd.IntN(150)) * time.Millisecond)
		}
		p.heal()
		y.try(1)
		healed, before := time.Now(), acks.Load()
		for acks.Load() == before {
			if time.Since(healed) > 2*time.Minute {
				t.Fatalf("%s: nothing is done any more, two minutes after the fault was healed\nagain: %s", fault.name, again(t))
			}
			time.Sleep(time.Millisecond)
		}
		took := time.Since(healed)
		slowest = max(slowest, took)
		if long() && took > 5*time.Second {
			y.wrong("%s: work was done again only %s after healing", fault.name, took)
		}
	}
	stop.Store(true)
	all.Wait()
	words := make(map[string]int)
	for _, w := range said {
		words[w.what]++
	}
	for _, what := range sorted(words) {
		y.remark("%s %d", what, words[what])
	}
	y.remark("back within %s, %s past a deadline at most", slowest.Round(time.Millisecond), max(0, time.Duration(worst.Load())).Round(time.Millisecond))
	// What was left unknown is sent again, and a few of those that failed: while
	// the server was away that was everything.
	open := make(map[string]bool)
	for _, w := range said {
		if w.what == saidUnknown || w.what == saidFailed && len(open) < 20 {
			open[w.tag] = true
		}
	}
	var settled []word
	for _, w := range said {
		if open[w.tag] || w.what != saidTry {
			settled = append(settled, w)
		}
	}
	settle(t, y, server.App, "after the storm", settled, texts)
}
