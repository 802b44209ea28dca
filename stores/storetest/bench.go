package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"verbatim/stores"
)

// A Bench is a store to measure: cbus, with so many requests each, three references away. The
// scope holds the first cbu.
type Bench struct {
	stores.Store
	Request *stores.Entity
	Scope   stores.Scope
}

// NewBench fills an empty store, and then starts the benchmark's timer.
func NewBench(b testing.TB, s stores.Store, cbus, requests int) *Bench {
	b.Helper()
	f := func(name string, kind stores.Kind, ref *stores.Entity) stores.Field {
		return stores.Field{Name: name, Column: name, Kind: kind, Ref: ref}
	}
	cbu := &stores.Entity{Name: "cbu", Table: "ob.cbus", Managed: true, Fields: []stores.Field{f("id", stores.UUID, nil), f("name", stores.String, nil)}}
	kase := &stores.Entity{Name: "case", Table: "kyc.cases", Managed: true, Fields: []stores.Field{f("id", stores.UUID, nil), f("cbu", stores.UUID, cbu)}}
	kase.Scope = []stores.Step{{Field: 1, To: cbu}}
	stream := &stores.Entity{Name: "workstream", Table: "kyc.workstreams", Managed: true, Fields: []stores.Field{f("id", stores.UUID, nil), f("case", stores.UUID, kase), f("name", stores.String, nil)}}
	stream.Scope = append([]stores.Step{{Field: 1, To: kase}}, kase.Scope...)
	request := &stores.Entity{Name: "request", Table: "kyc.requests", Managed: true, Fields: []stores.Field{
		f("id", stores.UUID, nil), f("workstream", stores.UUID, stream), f("subtype", stores.String, nil), f("status", stores.String, nil),
		f("due_date", stores.Date, nil), f("visible", stores.Bool, nil), f("notes", stores.String, nil), f("created_at", stores.Time, nil), f("updated_at", stores.Time, nil)}}
	request.Scope = append([]stores.Step{{Field: 1, To: stream}}, stream.Scope...)
	ctx := context.Background()
	if plan, err := s.Migrate(ctx, []*stores.Entity{cbu, kase, stream, request}, true); err != nil || len(plan.Problems) > 0 {
		b.Fatal(plan, err)
	}
	var batch stores.Batch
	add := func(e *stores.Entity, key stores.Value, vals ...stores.Value) {
		c := stores.Change{Op: stores.Insert, Entity: e, Key: key}
		for i, v := range vals {
			c.Set = append(c.Set, stores.Assign{Field: i + 1, Value: v})
		}
		batch.Changes = append(batch.Changes, c)
	}
	now := stores.NewTime(time.Date(2025, 1, 3, 10, 0, 0, 0, time.UTC))
	for i := range cbus {
		add(cbu, BenchKey(1, i), stores.NewString("cbu"))
		add(kase, BenchKey(2, i), BenchKey(1, i))
		add(stream, BenchKey(3, i), BenchKey(2, i), stores.NewString("Pierre Dupont"))
		for j := range requests {
			add(request, BenchKey(4, requests*i+j), BenchKey(3, i), stores.NewString("SOURCE_OF_WEALTH"), stores.NewString("PENDING"), stores.NewDays(int64(20000+j%100)), stores.NewBool(true), stores.Value{}, now, now)
		}
	}
	err := s.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
		return tx.Apply(ctx, batch)
	})
	if err != nil {
		b.Fatal(err)
	}
	if b, ok := b.(*testing.B); ok {
		b.ReportAllocs()
		b.ResetTimer()
	}
	return &Bench{s, request, stores.Scope{Principal: "p", Holds: map[string][]stores.Value{"cbu": {BenchKey(1, 0)}}}}
}

// BenchKey returns the nth key of a kind: 1 for cbus, 2 for cases, 3 for workstreams, 4 for
// requests.
func BenchKey(kind, n int) stores.Value {
	v, _ := stores.ParseUUID(fmt.Sprintf("%08x-0000-4000-8000-%012x", kind, n))
	return v
}

// BenchEntry returns the journal entry of a note.
func BenchEntry() stores.Entry {
	return stores.Entry{Time: time.Date(2025, 1, 3, 10, 0, 0, 0, time.UTC), Principal: "pierre", Roles: []string{"client"}, Verb: "client.add-note",
		Call: `client.add-note :request-id @source-of-wealth :note "Accountant is sending it"`, Outcome: "ok", Changes: `[{"entity":"request","set":{"notes":"Accountant is sending it"}}]`}
}

// Note returns a guarded change of the nth request.
func (b *Bench) Note(n, salt int) stores.Change {
	before := make([]stores.Value, len(b.Request.Fields))
	before[3] = stores.NewString("PENDING")
	return stores.Change{Op: stores.Update, Entity: b.Request, Key: BenchKey(4, n), Before: before, Guard: []int{3},
		Set: []stores.Assign{{Field: 6, Value: stores.NewString(fmt.Sprint("Accountant is sending it ", salt))}}}
}

// Find returns a read of the requests of the scope, filtered and ordered.
func (b *Bench) Find() stores.Find {
	return stores.Find{Entity: b.Request, Where: &stores.Cond{Op: stores.Eq, Path: stores.Path{Field: 5}, Value: stores.NewBool(true)},
		Select: []stores.Path{{Field: 0}, {Field: 2}, {Field: 4}, {Steps: b.Request.Scope[:1], Field: 2}},
		Order:  []stores.Order{{Path: stores.Path{Field: 4}}, {Path: stores.Path{Field: 7}}}}
}

// BenchGet reads one row by its key, within a scope three references away.
func BenchGet(b *testing.B, s *Bench) {
	ctx := context.Background()
	err := s.View(ctx, s.Scope, func(r stores.Reader) error {
		for i := range b.N {
			if _, err := r.Get(ctx, s.Request, BenchKey(4, i%10)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

// BenchFind reads the ten rows of a scope among ten thousand, filtered and ordered.
func BenchFind(b *testing.B, s *Bench) {
	ctx := context.Background()
	f := s.Find()
	for range b.N {
		err := s.View(ctx, s.Scope, func(r stores.Reader) error {
			rows, err := r.Find(ctx, f)
			if len(rows) != 10 {
				b.Fatal(len(rows))
			}
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchSQL runs an author's query for the same rows.
func BenchSQL(b *testing.B, s *Bench) {
	ctx := context.Background()
	entities := []*stores.Entity{s.Request, s.Request.Scope[0].To}
	q := stores.SQL{
		Text:    "SELECT r.id, r.subtype, r.due_date, w.name FROM kyc.requests r JOIN kyc.workstreams w ON w.id = r.workstream WHERE r.visible ORDER BY r.due_date, r.created_at",
		Columns: []stores.Column{{Name: "id", Kind: stores.UUID}, {Name: "subtype", Kind: stores.String}, {Name: "due_date", Kind: stores.Date}, {Name: "name", Kind: stores.String}},
	}
	for range b.N {
		err := s.View(ctx, s.Scope, func(r stores.Reader) error {
			rows, err := r.SQL(ctx, entities, q)
			if len(rows) != 10 {
				b.Fatal(len(rows))
			}
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
