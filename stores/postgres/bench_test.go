package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"verbatim/stores"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/storetest"
)

// benchBank has cbus, of so many requests each, three references away.
func benchBank(b testing.TB, durable bool, cbus, requests int) (s *Store, request *stores.Entity, scope stores.Scope) {
	b.Helper()
	// What waits for the disk measures the disk; BenchmarkApplyOneDurable does.
	get := pgtest.Database
	if durable {
		get = pgtest.Durable
	}
	db := get(b)
	s, err := Open(context.Background(), db.App+"&pool_max_conns=8", MigrateAs(db.Owner))
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
	s, request, scope := benchBank(b, false, 1000, 10)
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
	s, request, scope := benchBank(b, false, 1000, 10)
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

// One guarded change with its journal entry, on eight connections at once.
func BenchmarkApplyOne(b *testing.B)        { benchApplyOne(b, false) }
func BenchmarkApplyOneDurable(b *testing.B) { benchApplyOne(b, true) }

func benchApplyOne(b *testing.B, durable bool) {
	s, request, scope := benchBank(b, durable, 1000, 10)
	ctx := context.Background()
	eight(b, func(who, i int) error {
		scope := stores.Scope{Principal: scope.Principal, Holds: map[string][]stores.Value{"cbu": {benchKey(1, who)}}}
		return s.Update(ctx, scope, func(tx stores.Tx) error {
			return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{benchNote(request, 10*who+i%10, i)}, Entries: []stores.Entry{benchEntry()}})
		})
	})
}

// A change that its row refuses, in a transaction that has read another row: by
// itself, and with the commit.
func BenchmarkApplyRefused(b *testing.B)     { benchRefused(b, false) }
func BenchmarkApplyRefusedLate(b *testing.B) { benchRefused(b, true) }

func benchRefused(b *testing.B, late bool) {
	s, request, scope := benchBank(b, false, 1000, 10)
	ctx := context.Background()
	for range b.N {
		err := s.Update(ctx, scope, func(tx stores.Tx) error {
			if _, err := tx.Get(ctx, request, benchKey(4, 1)); err != nil {
				return err
			}
			return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{benchNote(request, 99_999, 1)}, Entries: []stores.Entry{benchEntry()}, Late: late})
		})
		if !errors.Is(err, stores.ErrNotFound) {
			b.Fatal(err)
		}
	}
}

// The same rows written with the driver alone: one statement, without a scope, a
// chain or policies. It is what the two above are to be compared with.
func BenchmarkApplyOneBare(b *testing.B)        { benchBare(b, false) }
func BenchmarkApplyOneBareDurable(b *testing.B) { benchBare(b, true) }

func benchBare(b *testing.B, durable bool) {
	s, _, _ := benchBank(b, durable, 1000, 10)
	ctx := context.Background()
	if _, err := s.owner.Exec(ctx, "CREATE TABLE public.bare (LIKE public.verbatim_journal INCLUDING ALL); CREATE SEQUENCE public.bare_seq; GRANT ALL ON public.bare, public.bare_seq TO verbatim_app; ALTER TABLE kyc.requests NO FORCE ROW LEVEL SECURITY; ALTER TABLE kyc.requests DISABLE ROW LEVEL SECURITY"); err != nil {
		b.Fatal(err)
	}
	e := benchEntry()
	b.ResetTimer()
	eight(b, func(who, i int) error {
		key := benchKey(4, 10*who+i%10).Text()
		tag, err := s.pool.Exec(ctx, `WITH u AS (UPDATE kyc.requests SET notes = $2 WHERE id = $1::text::uuid AND status = 'PENDING' RETURNING 1)
			INSERT INTO public.bare SELECT n, now(), $3, '[]', '', '', $4, $5, 'ok', '', $6, '', '', '', int8send(n), int8send(n) FROM nextval('public.bare_seq') n, u`,
			key, fmt.Sprint("Accountant is sending it ", i), e.Principal, e.Verb, e.Call, e.Changes)
		if err == nil && tag.RowsAffected() != 1 {
			b.Error(tag)
		}
		return err
	})
}

// eight runs fn b.N times in all on eight goroutines, each with a number.
func eight(b *testing.B, fn func(who, i int) error) {
	var left atomic.Int64
	left.Store(int64(b.N))
	done := make(chan error, 8)
	for who := range cap(done) {
		go func() {
			for i := 0; left.Add(-1) >= 0; i++ {
				if err := fn(who, i); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range cap(done) {
		if err := <-done; err != nil {
			b.Error(err)
		}
	}
}

// A thousand of the same in one batch, and the same thousand one by one in one
// transaction, as an engine does that looks at each before the next.
func BenchmarkApply1000(b *testing.B)         { benchApply1000(b, 1000) }
func BenchmarkApply1000OneByOne(b *testing.B) { benchApply1000(b, 1) }

func benchApply1000(b *testing.B, each int) {
	s, request, scope := benchBank(b, false, 10, 1000)
	ctx := context.Background()
	for i := range b.N {
		err := s.Update(ctx, scope, func(tx stores.Tx) error {
			for j := 0; j < 1000; j += each {
				var batch stores.Batch
				for k := range each {
					batch.Changes = append(batch.Changes, benchNote(request, j+k, i))
					batch.Entries = append(batch.Entries, benchEntry())
				}
				if err := tx.Apply(ctx, batch); err != nil {
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

// One row by its key in a view of its own, on eight connections at once, and the
// same with the driver alone.
func BenchmarkView(b *testing.B) {
	s, request, _ := benchBank(b, false, 1000, 10)
	ctx := context.Background()
	eight(b, func(who, i int) error {
		scope := stores.Scope{Principal: "p", Holds: map[string][]stores.Value{"cbu": {benchKey(1, who)}}}
		return s.View(ctx, scope, func(r stores.Reader) error {
			_, err := r.Get(ctx, request, benchKey(4, 10*who+i%10))
			return err
		})
	})
}

func BenchmarkViewBare(b *testing.B) {
	s, _, _ := benchBank(b, false, 1000, 10)
	ctx := context.Background()
	if _, err := s.owner.Exec(ctx, "ALTER TABLE kyc.requests DISABLE ROW LEVEL SECURITY; ALTER TABLE kyc.workstreams DISABLE ROW LEVEL SECURITY; ALTER TABLE kyc.cases DISABLE ROW LEVEL SECURITY"); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	eight(b, func(who, i int) error {
		rows, err := s.pool.Query(ctx, `SELECT r.* FROM kyc.requests r WHERE r.id = $1::text::uuid AND EXISTS (SELECT 1 FROM kyc.workstreams w JOIN kyc.cases c ON c.id = w."case" WHERE w.id = r.workstream AND c.cbu = $2::text::uuid)`,
			benchKey(4, 10*who+i%10).Text(), benchKey(1, who).Text())
		if err != nil {
			return err
		}
		n := 0
		for rows.Next() {
			n++
		}
		rows.Close()
		if n != 1 {
			return fmt.Errorf("%d rows", n)
		}
		return rows.Err()
	})
}

// An author's query for the same rows as BenchmarkFind.
func BenchmarkSQL(b *testing.B) {
	s, request, scope := benchBank(b, false, 1000, 10)
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

// What the journal and the marks cost, where commits wait for the disk: see
// storetest.MeasureChain.
func BenchmarkChain(b *testing.B) {
	ctx := context.Background()
	storetest.MeasureChain(b, func() storetest.Measured {
		db := pgtest.Durable(b)
		s, err := Open(ctx, db.App+"&pool_max_conns=8", MigrateAs(db.Owner))
		if err != nil {
			b.Fatal(err)
		}
		return storetest.Measured{Store: s, Size: func() (n int64) {
			err := s.read(ctx, s.pool, stores.Scope{}, func(c *conn) error {
				return c.do(ctx, op{doing: "size", sql: "SELECT pg_database_size(current_database())", read: func(r row) error {
					n = r.num(0)
					return nil
				}})
			})
			if err != nil {
				b.Fatal(err)
			}
			return n
		}}
	})
}
