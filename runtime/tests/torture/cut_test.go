package torture

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"verbatim/runtime/engine"
)

// SAFE-R6: the line to PostgreSQL is cut after every byte of a run, either way,
// and so after COMMIT is sent and before its answer is there. The reply is true,
// or says that it is not known; the key settles it; nothing is done twice.
func TestLineCutAfterEveryByte(t *testing.T) {
	t.Parallel()
	y := begin(t, "SAFE-R6", "line cut after each byte, PostgreSQL", "cuts")
	ctx := context.Background()
	db := newDatabase(t)
	direct := opened(t, db.App)
	if long() {
		y.asked = 2000
	}
	p := newProxy(t, db, "&pool_max_conns=1")
	tess, err := sit(ctx, opened(t, p.store), "tess", engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	next := func() script {
		n++
		tag := fmt.Sprintf("cut-%06d/2", n)
		return script{tag: tag, parts: 2, text: fmt.Sprintf(
			"bank.move :from-id @acc%d :to-id @acc%d :amount 1 :tag \"%s\" :part 1\nbank.write :account-id @acc%d :text \"%s\" :tag \"%s\" :part 2\n",
			n%accounts, (n+1)%accounts, tag, n%accounts, tag, tag)}
	}
	fine := func() [2]int64 {
		sc := next()
		prog, err := tess.program(sc.text)
		if err != nil {
			t.Fatal(err)
		}
		p.arm(toServer, -1)
		if _, err := tess.Run(ctx, prog, engine.RunOptions{Key: sc.tag}); err != nil {
			t.Fatal(err)
		}
		_, passed := p.disarm()
		return passed
	}
	fine()
	bytes := fine()
	words := make(map[string]int)
	for way, name := range []string{"to the server", "to the client"} {
		var places []int64
		for at := range bytes[way] {
			places = append(places, at)
		}
		if !long() {
			// The last bytes of a run are those of the commit.
			rnd := rand.New(rand.NewPCG(*seeded, uint64(way)))
			rnd.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
			places = places[:20]
			for back := range min(bytes[way], 60) {
				if back%5 == 0 || back < 8 {
					places = append(places, bytes[way]-1-back)
				}
			}
			slices.Sort(places)
		}
		for _, at := range places {
			sc := next()
			when := fmt.Sprintf("cut after byte %d of %d %s", at, bytes[way], name)
			prog, err := tess.program(sc.text)
			if err != nil {
				t.Fatal(when, err)
			}
			p.arm(way, at)
			reply, err := tess.Run(ctx, prog, engine.RunOptions{Key: sc.tag})
			cut, _ := p.disarm()
			if !cut {
				continue // what is sent differs by a few bytes from run to run
			}
			y.try(1)
			what, rest := outcome(reply, err)
			words[what]++
			again, err := tess.Run(ctx, prog, engine.RunOptions{Key: sc.tag})
			settled, why := outcome(again, err)
			switch {
			case settled != saidAck:
				y.wrong("%s: it said %s, and sent again: %s %s", when, what, settled, why)
			case what == saidAck && !again.Repeated:
				y.wrong("%s: lost: it was acknowledged, and was not done", when)
			case (what == saidFailed || what == saidRefused) && again.Repeated:
				y.wrong("%s: it said %s %s, and was done", when, what, rest)
			}
		}
	}
	for _, what := range sorted(words) {
		y.remark("%s %d", what, words[what])
	}
	if words[saidUnknown] == 0 {
		y.wrong("no cut left anything unknown: the commit was never reached")
	}
	v, err := judge(ctx, direct)
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range v.wrongs {
		y.wrong("%s", wrong)
	}
	for tag := range n {
		if tag := fmt.Sprintf("cut-%06d/2", tag+1); v.done[tag] != 2 {
			y.wrong("lost: script %s was settled, and is not there", tag)
		}
	}
}
