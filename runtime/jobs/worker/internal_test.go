package worker_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/engine/each"
)

// X6: what a palette keeps for work is carried out by the queue and by nothing
// else, whatever roles somebody has; and where it has to ask first, the agreement
// carries it out.
func TestInternalVerbsAreWork(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	bothStores(t, nil, func(w *world) {
		s, err := w.engine.Session(ctx, "ada")
		if err != nil {
			w.t.Fatal(err)
		}
		ring := w.reg.Verb("desk.ring")
		if s.May(ring) || slices.Contains(s.Verbs(), ring) {
			w.t.Error("ada is offered desk.ring")
		}
		script, _ := dsl.Parse(dsl.NewSource("test.dsl", `desk.ring :note "By hand"`))
		if p, ds := s.Check(context.Background(), script); p != nil || ds[0].Code != "unknown-verb" {
			w.t.Errorf("ada's call is checked: %v", ds)
		}
		// Not even where a program comes about that calls it.
		p, ds := w.reg.CheckWork(script, nil)
		if p == nil {
			w.t.Fatal(ds)
		}
		var refusal *engine.Refusal
		for name, door := range map[string]func() error{
			"Run":     func() error { _, err := s.Run(ctx, p, engine.RunOptions{}); return err },
			"Each":    func() error { _, err := each.Runner{Session: s}.Run(ctx, p, engine.RunOptions{}); return err },
			"Preview": func() error { _, err := s.Preview(ctx, p); return err },
			"Keep":    func() error { _, err := s.Keep(ctx, p); return err },
			"Propose": func() error { _, err := s.Propose(ctx, p, engine.RunOptions{}); return err },
		} {
			if err := door(); !errors.As(err, &refusal) || refusal.Diagnostics[0].Code != "not-permitted" {
				w.t.Errorf("%s: %v", name, err)
			}
		}
		if n := len(w.rows("posting")); n != 0 {
			w.t.Fatalf("%d postings by hand", n)
		}

		w.run("ada", `desk.ring-later :note "By itself"`)
		w.wantWork("done desk.ring")
		if rows := w.rows("posting"); len(rows) != 1 {
			w.t.Errorf("%d postings by work", len(rows))
		}
		if e := w.last(); e.Verb != "desk.ring" || e.Principal != "ada" || e.Outcome != "ok" {
			w.t.Errorf("the journal says %s %s %s", e.Principal, e.Verb, e.Outcome)
		}

		w.run("ada", `desk.ring-all-later :note "Loudly"`)
		w.wantWork("waiting desk.ring-all needs-agreement")
		bo, err := w.engine.Session(ctx, "bo")
		if err != nil {
			w.t.Fatal(err)
		}
		asked, err := bo.Pending(ctx)
		if err != nil || len(asked) != 1 {
			w.t.Fatalf("%d questions, %v", len(asked), err)
		}
		if _, reply, err := bo.Agree(ctx, asked[0].ID); err != nil || reply == nil {
			w.t.Fatalf("bo agrees: %v", err)
		}
		if rows := w.rows("posting"); len(rows) != 2 {
			w.t.Errorf("%d postings after the agreement", len(rows))
		}
	})
}
