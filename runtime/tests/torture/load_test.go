package torture

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// SAFE-R8, SAFE-R2: several processes with several clients each do whatever
// their seeds say, all on the same few accounts, while one process after another
// is killed and another takes its place. Then the journal is carried out on what
// was there at first, and comes to the same rows; the money is all there; what
// was acknowledged was done, and what is sent again is done once. The journal
// comes to the same rows in an empty store too.
//
// SAFE-J6: and it tells of every change that triggers of the test's own saw, of
// no other, and of every script that was refused.
func TestManyAtOnceWithKills(t *testing.T) {
	t.Parallel()
	onBothWitnessed(t, func(t *testing.T, kind, at string) {
		y := begin(t, "SAFE-R8", "load and random kills, replay equals state, "+kind, "scripts")
		rnd := rand.New(rand.NewPCG(*seeded, 8))
		processes, streams, kills, count := 2, 4, 3, 6
		until := time.Now()
		if long() {
			processes, streams, kills, count = 4, 16, 0, 0
			until = until.Add(share(0.2))
		}
		var said []word
		deaths := 0
		var running []*process
		start := func() {
			o := order{Store: at, Seed: rnd.Uint64(), Streams: streams, Count: count, Big: true, Name: fmt.Sprintf("l%d", deaths*100+len(running))}
			running = append(running, spawn(t, o))
		}
		for range processes {
			start()
		}
		for deaths < kills || time.Now().Before(until) {
			// How long each lives is the only thing that no seed repeats.
			for n := 5 + rnd.IntN(40); n > 0; n-- {
				time.Sleep(10 * time.Millisecond)
			}
			victim := rnd.IntN(len(running))
			running[victim].kill()
			more, err := running[victim].wait()
			if err != nil && !killed(err) {
				y.wrong("a process ended with %v", err)
			}
			said = append(said, more...)
			running = append(running[:victim], running[victim+1:]...)
			deaths++
			start()
		}
		for _, p := range running {
			if long() {
				p.kill()
			}
			more, err := p.wait()
			if err != nil && !killed(err) {
				y.wrong("a process ended with %v", err)
			}
			said = append(said, more...)
		}
		acked := 0
		for _, w := range said {
			switch w.what {
			case saidTry:
				y.try(1)
			case saidAck:
				acked++
			case saidFailed, saidUnknown:
				y.wrong("script %s: %s %s", w.tag, w.what, w.rest)
			}
		}
		y.remark("%d acknowledged, %d processes killed", acked, deaths)
		if acked == 0 {
			y.wrong("nothing was done")
		}
		s := opened(t, at)
		v, err := judge(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		v.acknowledged(said)
		changes, err := v.witnessed(context.Background(), s)
		if err == nil {
			err = v.refusals(context.Background(), s, said)
		}
		if err == nil {
			err = v.again(context.Background(), t, s)
		}
		if err != nil {
			t.Fatal(err)
		}
		y.remark("%d changes witnessed", changes)
		for _, wrong := range v.wrongs {
			y.wrong("%s", wrong)
		}
	})
}
