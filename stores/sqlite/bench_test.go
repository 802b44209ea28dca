package sqlite

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"zombiezen.com/go/sqlite"

	"verbatim/stores"
	"verbatim/stores/storetest"
)

// benchBank has cbus, of so many requests each, three references away.
func benchBank(b testing.TB, cbus, requests int) (s *Store, request *stores.Entity, scope stores.Scope) {
	b.Helper()
	s, err := Open(filepath.Join(b.TempDir(), "bench.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	f := func(name string, kind stores.Kind, ref *stores.Entity) stores.Field {
		return stores.Field{Name: name, Column: name, Kind: kind, Ref: ref}
	}
	cbu := &stores.Entity{Name: "cbu", Table: "ob.cbus", Managed: true, Fields: []stores.Field{f("id", stores.UUID, nil), f("name", stores.String, nil)}}
	kase := &stores.Entity{Name: "case", Table: "kyc.cases", Managed: true, Fields: []stores.Field{f("id", stores.UUID, nil), f("cbu", stores.UUID, cbu)}}
	kase.Scope = []stores.Step{{Field: 1, To: cbu}}
	stream := &stores.Entity{Name: "workstream", Table: "kyc.workstreams", Managed: true, Fields: []stores.Field{f("id", stores.UUID, nil), f("case", stores.UUID, kase), f("name", stores.String, nil)}}
	stream.Scope = append([]stores.Step{{Field: 1, To: kase}}, kase.Scope...)
	request = &stores.Entity{Name: "request", Table: "kyc.requests", Managed: true, Fields: []stores.Field{
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
		add(cbu, benchKey(1, i), stores.NewString("cbu"))
		add(kase, benchKey(2, i), benchKey(1, i))
		add(stream, benchKey(3, i), benchKey(2, i), stores.NewString("Pierre Dupont"))
		for j := range requests {
			add(request, benchKey(4, requests*i+j), benchKey(3, i), stores.NewString("SOURCE_OF_WEALTH"), stores.NewString("PENDING"), stores.NewDays(int64(20000+j%100)), stores.NewBool(true), stores.Value{}, now, now)
		}
	}
	err = s.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
		return tx.Apply(ctx, batch)
	})
	if err != nil {
		b.Fatal(err)
	}
	if b, ok := b.(*testing.B); ok {
		b.ReportAllocs()
		b.ResetTimer()
	}
	return s, request, stores.Scope{Principal: "p", Holds: map[string][]stores.Value{"cbu": {benchKey(1, 0)}}}
}

func benchKey(kind, n int) stores.Value {
	v, _ := stores.ParseUUID(fmt.Sprintf("%08x-0000-4000-8000-%012x", kind, n))
	return v
}

func benchEntry() stores.Entry {
	return stores.Entry{Time: time.Date(2025, 1, 3, 10, 0, 0, 0, time.UTC), Principal: "pierre", Roles: []string{"client"}, Verb: "client.add-note",
		Call: `client.add-note :request-id @source-of-wealth :note "Accountant is sending it"`, Outcome: "ok", Changes: `[{"entity":"request","set":{"notes":"Accountant is sending it"}}]`}
}

func benchNote(request *stores.Entity, n, salt int) stores.Change {
	before := make([]stores.Value, len(request.Fields))
	before[3] = stores.NewString("PENDING")
	return stores.Change{Op: stores.Update, Entity: request, Key: benchKey(4, n), Before: before, Guard: []int{3},
		Set: []stores.Assign{{Field: 6, Value: stores.NewString(fmt.Sprint("Accountant is sending it ", salt))}}}
}

func benchFind(request *stores.Entity) stores.Find {
	return stores.Find{Entity: request, Where: &stores.Cond{Op: stores.Eq, Path: stores.Path{Field: 5}, Value: stores.NewBool(true)},
		Select: []stores.Path{{Field: 0}, {Field: 2}, {Field: 4}, {Steps: request.Scope[:1], Field: 2}},
		Order:  []stores.Order{{Path: stores.Path{Field: 4}}, {Path: stores.Path{Field: 7}}}}
}

// One row by its key, within a scope three references away.
func BenchmarkGet(b *testing.B) {
	s, request, scope := benchBank(b, 1000, 10)
	ctx := context.Background()
	err := s.View(ctx, scope, func(r stores.Reader) error {
		for i := range b.N {
			if _, err := r.Get(ctx, request, benchKey(4, i%10)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

// The ten rows of a scope among ten thousand, filtered and ordered.
func BenchmarkFind(b *testing.B) {
	s, request, scope := benchBank(b, 1000, 10)
	ctx := context.Background()
	f := benchFind(request)
	for range b.N {
		err := s.View(ctx, scope, func(r stores.Reader) error {
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

// One guarded change with its journal entry, flushed to the disk.
func BenchmarkApplyOne(b *testing.B) {
	s, request, scope := benchBank(b, 1000, 10)
	ctx := context.Background()
	for i := range b.N {
		err := s.Update(ctx, scope, func(tx stores.Tx) error {
			return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{benchNote(request, i%10, i)}, Entries: []stores.Entry{benchEntry()}})
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// A thousand of the same in one transaction.
func BenchmarkApply1000(b *testing.B) {
	s, request, scope := benchBank(b, 10, 1000)
	ctx := context.Background()
	for i := range b.N {
		err := s.Update(ctx, scope, func(tx stores.Tx) error {
			for j := range 1000 {
				if err := tx.Apply(ctx, stores.Batch{Changes: []stores.Change{benchNote(request, j, i)}, Entries: []stores.Entry{benchEntry()}}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// An author's query for the same rows as BenchmarkFind.
func BenchmarkSQL(b *testing.B) {
	s, request, scope := benchBank(b, 1000, 10)
	ctx := context.Background()
	entities := []*stores.Entity{request, request.Scope[0].To}
	q := stores.SQL{
		Text:    "SELECT r.id, r.subtype, r.due_date, w.name FROM kyc.requests r JOIN kyc.workstreams w ON w.id = r.workstream WHERE r.visible ORDER BY r.due_date, r.created_at",
		Columns: []stores.Column{{Name: "id", Kind: stores.UUID}, {Name: "subtype", Kind: stores.String}, {Name: "due_date", Kind: stores.Date}, {Name: "name", Kind: stores.String}},
	}
	for range b.N {
		err := s.View(ctx, scope, func(r stores.Reader) error {
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

// What the journal and the marks cost: see storetest.MeasureChain.
func BenchmarkChain(b *testing.B) {
	storetest.MeasureChain(b, func() storetest.Measured {
		s, err := Open(filepath.Join(b.TempDir(), "chain.db"))
		if err != nil {
			b.Fatal(err)
		}
		return storetest.Measured{Store: s, Size: func() (n int64) {
			err := s.read(context.Background(), func(c *conn) error {
				return c.query(context.Background(), "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", nil, func(row *sqlite.Stmt) error {
					n = row.ColumnInt64(0)
					return nil
				})
			})
			if err != nil {
				b.Fatal(err)
			}
			return n
		}}
	})
}
