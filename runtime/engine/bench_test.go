package engine

import (
	"os"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/load"
)

// PERF-C2: the decision on a call, by role and by rule, without an expression.
func BenchmarkDecideRole(b *testing.B) {
	reg := benchRegistry(b)
	have := []*verbs.Role{reg.Role("member"), reg.Role("keeper")}
	v := reg.Verb("lending.lose")
	b.ReportAllocs()
	for b.Loop() {
		if !permits(have, v.Roles) || len(v.Confirm) == 0 {
			b.Fatal("wrong")
		}
	}
}

// PERF-C3: from text to decision, one statement, no database: parse, check,
// permit, and the part of the gate that needs no row.
func BenchmarkDecide(b *testing.B) {
	reg := benchRegistry(b)
	have := []*verbs.Role{reg.Role("keeper")}
	var p verbs.Program
	b.ReportAllocs()
	for b.Loop() {
		if !textToDecision(b, reg, have, &p) {
			b.Fatal("wrong")
		}
	}
}

// PERF-C3: the same with an entry chained to the journal.
func BenchmarkDecideChained(b *testing.B) {
	reg := benchRegistry(b)
	have := []*verbs.Role{reg.Role("keeper")}
	names := []string{"keeper"}
	var p verbs.Program
	var entry stores.Entry
	var line []byte
	now := time.Date(2025, 1, 3, 10, 0, 0, 0, time.UTC)
	b.ReportAllocs()
	for b.Loop() {
		if !textToDecision(b, reg, have, &p) {
			b.Fatal("wrong")
		}
		call := &p.Calls()[0]
		line = dsl.AppendCall(line[:0], call.Syntax)
		next := stores.Entry{Time: now, Principal: "kim", Roles: names, Session: "s", Source: "a.dsl:1",
			Verb: call.Verb.Name, Call: string(line), Outcome: outcomeOK, Palette: reg.Digest()}
		next.Write()
		next.Number(entry.Seq + 1)
		entry = next
	}
}

const benchCall = `lending.note :loan-id @saw-bob :note "Accountant is sending it" :expected-date 2025-01-03`

// textToDecision reports whether a call may be made, and asks nobody.
func textToDecision(b *testing.B, reg *verbs.Registry, have []*verbs.Role, p *verbs.Program) bool {
	script, ds := dsl.Parse(dsl.NewSource("a.dsl", benchCall))
	if len(ds) > 0 {
		b.Fatal(ds)
	}
	if ds := reg.CheckInto(p, script, nil); len(ds) > 0 {
		b.Fatal(ds)
	}
	may := true
	calls := p.Calls()
	for i := range calls {
		may = may && permits(have, calls[i].Verb.Roles) && len(calls[i].Verb.Confirm) == 0
	}
	return may
}

func benchRegistry(b *testing.B) *verbs.Registry {
	b.Helper()
	reg, ds := load.Dir(os.DirFS("testdata/palettes"))
	if ds.HasErrors() {
		b.Fatal(ds)
	}
	return reg
}

// PERF-C2 as a test: deciding allocates nothing.
func TestDecidingAllocatesNothing(t *testing.T) {
	role := &verbs.Role{Name: "r"}
	have, may := []*verbs.Role{role}, []*verbs.Role{{Name: "other"}, role}
	if n := testing.AllocsPerRun(100, func() { permits(have, may) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
