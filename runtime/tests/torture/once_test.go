package torture

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/engine"
)

// crowd starts two processes that all do the same, kills the first of them at
// some moment, and returns what they said.
func crowd(t *testing.T, y *tally, o order, kill bool, rnd *rand.Rand) []word {
	t.Helper()
	one, two := spawn(t, o), spawn(t, o)
	if kill {
		// Some time after it has begun to work, which is all that chance says.
		for len(one.out.words()) == 0 && len(two.out.words()) == 0 {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Duration(rnd.IntN(30)) * time.Millisecond)
		one.kill()
	}
	said, err := one.wait()
	if err != nil && !killed(err) {
		y.wrong("a process ended with %v", err)
	}
	more, err := two.wait()
	if err != nil {
		y.wrong("a process ended with %v", err)
	}
	return append(said, more...)
}

// SAFE-R5: two processes, many in each, all send one text under one key, and one
// of the processes is killed while they do. It is done once; whoever is answered
// is answered alike; the same key with another text, or another's key, is another
// matter.
func TestOneKeyInTwoProcesses(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, kind, at string) {
		y := begin(t, "SAFE-R5", "one key, two processes, kills, "+kind, "requests")
		ctx := context.Background()
		rnd := rand.New(rand.NewPCG(*seeded, 5))
		rounds, streams, count := 2, 16, 2
		if long() {
			rounds, streams, count, y.asked = 16, 64, 5, 10_000
		}
		s := opened(t, at)
		tess, err := sit(ctx, s, "tess", engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		theo, err := sit(ctx, s, "theo", engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for round := range rounds {
			tag := fmt.Sprintf("key-%d/2", round)
			text := fmt.Sprintf("bank.move :from-id @acc0 :to-id @acc1 :amount 7 :tag \"%s\" :part 1\nbank.write :account-id @acc2 :text \"x\" :tag \"%s\" :part 2\n", tag, tag)
			said := crowd(t, y, order{Store: at, Seed: *seeded, Streams: streams, Count: count, Name: tag, Same: text}, round%2 == 1, rnd)
			answers, fresh := make(map[string]int), 0
			for _, w := range said {
				switch w.what {
				case saidTry:
					y.try(1)
				case saidAck:
					entries, repeated, _ := strings.Cut(w.rest, " ")
					answers[entries]++
					if repeated == "false" {
						fresh++
					}
				case saidRefused:
					// With so many at one row, somebody's patience may end.
					if w.rest != "changed-meanwhile" {
						y.wrong("round %d: %s %s", round, w.what, w.rest)
					}
				default:
					y.wrong("round %d: %s %s", round, w.what, w.rest)
				}
			}
			if fresh > 1 || len(answers) > 1 {
				y.wrong("round %d: double: %d were told that they did it, and there are the answers %v", round, fresh, answers)
			}
			settle(t, y, at, fmt.Sprintf("round %d", round), said, map[string]script{tag: {tag: tag, text: text}})
			// Another text under the key.
			other := strings.Replace(text, ":amount 7", ":amount 8", 1)
			if what, code := outcome(tess.do(ctx, other, tag)); what != saidRefused || code != "key-reused" {
				y.wrong("round %d: another text under the key: %s %s", round, what, code)
			}
			// Another's key, spelt the same: what is done is theirs, and new.
			theirs := strings.ReplaceAll(text, tag, "theo-"+tag)
			if what, rest := outcome(theo.do(ctx, theirs, tag)); what != saidAck || !strings.HasSuffix(rest, "false") {
				y.wrong("round %d: somebody else under the key: %s %s", round, what, rest)
			}
		}
		v, err := judge(ctx, s)
		if err != nil {
			t.Fatal(err)
		}
		for _, wrong := range v.wrongs {
			y.wrong("%s", wrong)
		}
	})
}

// SAFE-C3: two processes, many in each, all carry out one agreement, and one of
// the processes is killed while they do. It is carried out once, or not at all
// if everybody who could was killed before; whoever agrees again gets the same
// answer, told as a repeated one.
func TestOneAgreementInTwoProcesses(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, kind, at string) {
		y := begin(t, "SAFE-C3", "one agreement, two processes, kills, "+kind, "requests")
		ctx := context.Background()
		rnd := rand.New(rand.NewPCG(*seeded, 6))
		rounds, streams := 2, 16
		if long() {
			rounds, streams = 50, 32
		}
		s := opened(t, at)
		tess, err := sit(ctx, s, "tess", engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for round := range rounds {
			tag := fmt.Sprintf("agree-%d/1", round)
			prog, err := tess.program(fmt.Sprintf("bank.move :from-id @acc%d :to-id @acc%d :amount 600 :tag \"%s\" :part 1\n", round%accounts, (round+1)%accounts, tag))
			if err != nil {
				t.Fatal(err)
			}
			pending, err := tess.Propose(ctx, prog, engine.RunOptions{})
			if err != nil {
				t.Fatal(err)
			}
			kill := round%2 == 1
			said := crowd(t, y, order{Store: at, Who: "mara", Streams: streams, Count: 1, Name: "c", Agree: pending.ID}, kill, rnd)
			answers, fresh := make(map[string]int), 0
			for _, w := range said {
				switch {
				case w.what == saidTry:
					y.try(1)
				case w.what == saidAck:
					entries, repeated, _ := strings.Cut(w.rest, " ")
					answers[entries]++
					if repeated == "false" {
						fresh++
					}
				case w.what == saidRefused && (w.rest == "already-used" || w.rest == "changed-meanwhile"):
				default:
					y.wrong("round %d: %s %s", round, w.what, w.rest)
				}
			}
			v, err := judge(ctx, s)
			if err != nil {
				t.Fatal(err)
			}
			for _, wrong := range v.wrongs {
				y.wrong("round %d: %s", round, wrong)
			}
			switch done := v.done[tag]; {
			case fresh > 1 || len(answers) > 1:
				y.wrong("round %d: double: %d were told that they carried it out, and there are the answers %v", round, fresh, answers)
			case len(answers) > done:
				y.wrong("round %d: lost: somebody was told that they carried it out", round)
			case !kill && done != 1:
				y.wrong("round %d: lost: nobody was killed, and it was carried out %d times", round, done)
			}
		}
	})
}
