package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/verbs"
)

// O27, O28: what is bounded by today is held where the value is known: by the
// check of what is written out, and by the run of what comes out of a row, or
// was checked on another day. Today is the person's own.
func TestBoundsOfToday(t *testing.T) {
	t.Parallel()
	p := newPortal(t, sqliteBank(t))
	ctx := context.Background()
	const ask = `client.add-note :request-id @pierre-dupont-source-of-wealth :note "x" :expected-date `
	check := func(zone, call string) (*engine.Session, *verbs.Program, dsl.Diagnostics) {
		t.Helper()
		s, err := p.engine.Visit(ctx, "clara", engine.Visit{Name: "in " + zone, Zone: zone})
		if err != nil {
			t.Fatal(err)
		}
		script, ds := dsl.Parse(dsl.NewSource("s", call))
		if ds.HasErrors() {
			t.Fatal(told(ds))
		}
		program, ds := s.Check(context.Background(), script)
		return s, program, ds
	}

	// Half past eleven in the evening in London is the next day in Auckland.
	p.now = time.Date(2024, 12, 27, 23, 30, 0, 0, time.UTC)
	if _, program, ds := check("Pacific/Auckland", ask+"2024-12-27"); program != nil || !strings.Contains(told(ds), "the earliest is today, 2024-12-28") {
		t.Errorf("in Auckland: %s", told(ds))
	}
	s, program, ds := check("America/New_York", ask+"2024-12-27")
	if program == nil {
		t.Fatalf("in New York: %s", told(ds))
	}

	// It was right when it was checked, and is not any more.
	p.now = p.now.Add(24 * time.Hour)
	refused := func(s *engine.Session, program *verbs.Program) {
		t.Helper()
		var r *engine.Refusal
		if _, err := s.Run(ctx, program, engine.RunOptions{}); !errors.As(err, &r) || !strings.Contains(told(r.Diagnostics), "the earliest is today") {
			t.Errorf("the day after: %v", err)
		}
	}
	refused(s, program)

	// It comes out of a row, and nobody can tell before.
	p.now = time.Date(2025, 2, 1, 9, 0, 0, 0, time.UTC)
	s, program, ds = check("UTC", "client.get-request-detail :request-id @pierre-dupont-source-of-wealth :as @d\n"+ask+"@d.due_date")
	if program == nil {
		t.Fatal(told(ds))
	}
	refused(s, program)
}
