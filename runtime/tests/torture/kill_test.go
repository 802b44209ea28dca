package torture

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"verbatim/runtime/engine"
	"verbatim/stores/receipt"
)

// settle is what a client does who was not answered: it sends everything again
// under its key, and looks at what there is. Every script that was tried must
// then be there once, whole.
func settle(t *testing.T, y *tally, at, when string, said []word, text map[string]script) {
	t.Helper()
	ctx := context.Background()
	s, err := open(ctx, at)
	if err != nil {
		y.wrong("%s: broken: the store does not open: %v", when, err)
		return
	}
	defer s.Close()
	found := func() *verdict {
		v, err := judge(ctx, s)
		if err != nil {
			y.wrong("%s: broken: %v", when, err)
			return &verdict{}
		}
		return v
	}
	v := found()
	v.acknowledged(said)
	for _, wrong := range v.wrongs {
		y.wrong("%s: %s", when, wrong)
	}
	tess, err := sit(ctx, s, "tess", engine.Options{})
	if err != nil {
		y.wrong("%s: %v", when, err)
		return
	}
	mara, err := sit(ctx, s, "mara", engine.Options{})
	if err != nil {
		y.wrong("%s: %v", when, err)
		return
	}
	tried := make(map[string]bool)
	for _, w := range said {
		if w.what != saidTry || tried[w.tag] {
			continue
		}
		tried[w.tag] = true
		sc, known := text[w.tag]
		if !known {
			y.wrong("%s: nobody asked for script %s", when, w.tag)
			continue
		}
		var reply *receipt.Receipt
		if sc.big {
			reply, err = tess.propose(ctx, mara, sc)
		} else {
			reply, err = tess.do(ctx, sc.text, sc.tag)
		}
		what, rest := outcome(reply, err)
		switch {
		case what == saidRefused && v.done[w.tag] == 0 && rest == "not-met":
		case what != saidAck:
			y.wrong("%s: script %s, sent again: %s %s", when, w.tag, what, rest)
		case reply.Repeated != (v.done[w.tag] > 0):
			y.wrong("%s: script %s, sent again: repeated %t, and there were %d parts", when, w.tag, reply.Repeated, v.done[w.tag])
		}
	}
	for _, wrong := range found().wrongs {
		y.wrong("%s, and sent again: %s", when, wrong)
	}
}

// texts are the scripts that an order makes, by tag.
func (o order) texts() map[string]script {
	all := make(map[string]script)
	scripts := newStream(o.Seed, o.Name)
	for range o.Count {
		sc := scripts.take(o.Big)
		all[sc.tag] = sc
	}
	return all
}

// SAFE-R2: a process is killed at every point that a script passes, from the
// first look at the roles to after the answer, and what it leaves is whole.
func TestKilledAtEveryPoint(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, kind, at string) {
		y := begin(t, "SAFE-R2", "killed at every point, "+kind, "kills")
		hits := 1
		if long() {
			hits = 3
		}
		o := order{Store: at, Seed: *seeded, Count: 6, Big: true, Tell: true, Name: "clean"}
		said, err := o.run(t)
		if err != nil {
			t.Fatalf("a run without faults: %v %v", err, said)
		}
		settle(t, y, at, "without faults", said, o.texts())
		passed := make(map[string]int)
		for _, w := range said {
			if w.what == saidPoint {
				var n int
				fmt.Sscan(w.rest, &n)
				passed[w.tag] = n
			}
		}
		// A point that nobody comes by would be a promise that nobody tests.
		for _, name := range strings.Fields("permit begin begun get resolve gate carry settle apply write written agreed record journal journalled notice noticed commit committed reply ack acked view viewed rollback rolled-back") {
			if passed[name] == 0 {
				y.wrong("no script passes the point %q", name)
			}
		}
		for _, point := range sorted(passed) {
			for hit := 1; hit <= min(hits, passed[point]); hit++ {
				o := order{Store: at, Seed: *seeded + uint64(hit), Count: 6, Big: true, Name: fmt.Sprintf("%s.%d", point, hit), Point: point, Hit: hit}
				when := fmt.Sprintf("killed at %s, hit %d", point, hit)
				said, err := o.run(t)
				if !killed(err) {
					y.wrong("%s: it was not: %v", when, err)
					continue
				}
				y.try(1)
				settle(t, y, at, when, said, o.texts())
			}
		}
		y.remark("%d points", len(passed))
	})
}
