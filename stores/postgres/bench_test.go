package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"verbatim/stores"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/storetest"
)

// benchBank has cbus, of so many requests each: see storetest.Bench.
func benchBank(b testing.TB, durable bool, cbus, requests int) (*Store, *storetest.Bench) {
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
	return s, storetest.NewBench(b, s, cbus, requests)
}

// plain is one whose commits do not wait for the disk.
func plain(b testing.TB) *storetest.Bench {
	_, s := benchBank(b, false, 1000, 10)
	return s
}

func BenchmarkGet(b *testing.B)  { storetest.BenchGet(b, plain(b)) }
func BenchmarkFind(b *testing.B) { storetest.BenchFind(b, plain(b)) }
func BenchmarkSQL(b *testing.B)  { storetest.BenchSQL(b, plain(b)) }

// One guarded change with its journal entry, on eight connections at once.
func BenchmarkApplyOne(b *testing.B)        { benchApplyOne(b, false) }
func BenchmarkApplyOneDurable(b *testing.B) { benchApplyOne(b, true) }

func benchApplyOne(b *testing.B, durable bool) {
	_, s := benchBank(b, durable, 1000, 10)
	ctx := context.Background()
	eight(b, func(who, i int) error {
		scope := stores.Scope{Principal: s.Scope.Principal, Holds: map[string][]stores.Value{"cbu": {storetest.BenchKey(1, who)}}}
		return s.Update(ctx, scope, func(tx stores.Tx) error {
			return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{s.Note(10*who+i%10, i)}, Entries: []stores.Entry{storetest.BenchEntry()}})
		})
	})
}

// A change that its row refuses, in a transaction that has read another row: by
// itself, and with the commit.
func BenchmarkApplyRefused(b *testing.B)     { benchRefused(b, false) }
func BenchmarkApplyRefusedLate(b *testing.B) { benchRefused(b, true) }

func benchRefused(b *testing.B, late bool) {
	_, s := benchBank(b, false, 1000, 10)
	ctx := context.Background()
	for range b.N {
		err := s.Update(ctx, s.Scope, func(tx stores.Tx) error {
			if _, err := tx.Get(ctx, s.Request, storetest.BenchKey(4, 1)); err != nil {
				return err
			}
			return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{s.Note(99_999, 1)}, Entries: []stores.Entry{storetest.BenchEntry()}, Late: late})
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
	s, _ := benchBank(b, durable, 1000, 10)
	ctx := context.Background()
	if _, err := s.owner.Exec(ctx, "CREATE TABLE public.bare (LIKE public.verbatim_journal INCLUDING ALL); CREATE SEQUENCE public.bare_seq; GRANT ALL ON public.bare, public.bare_seq TO verbatim_app; ALTER TABLE kyc.requests NO FORCE ROW LEVEL SECURITY; ALTER TABLE kyc.requests DISABLE ROW LEVEL SECURITY"); err != nil {
		b.Fatal(err)
	}
	e := storetest.BenchEntry()
	b.ResetTimer()
	eight(b, func(who, i int) error {
		key := storetest.BenchKey(4, 10*who+i%10).Text()
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
	_, s := benchBank(b, false, 10, 1000)
	ctx := context.Background()
	for i := range b.N {
		err := s.Update(ctx, s.Scope, func(tx stores.Tx) error {
			for j := 0; j < 1000; j += each {
				var batch stores.Batch
				for k := range each {
					batch.Changes = append(batch.Changes, s.Note(j+k, i))
					batch.Entries = append(batch.Entries, storetest.BenchEntry())
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
	_, s := benchBank(b, false, 1000, 10)
	ctx := context.Background()
	eight(b, func(who, i int) error {
		scope := stores.Scope{Principal: "p", Holds: map[string][]stores.Value{"cbu": {storetest.BenchKey(1, who)}}}
		return s.View(ctx, scope, func(r stores.Reader) error {
			_, err := r.Get(ctx, s.Request, storetest.BenchKey(4, 10*who+i%10))
			return err
		})
	})
}

func BenchmarkViewBare(b *testing.B) {
	s, _ := benchBank(b, false, 1000, 10)
	ctx := context.Background()
	if _, err := s.owner.Exec(ctx, "ALTER TABLE kyc.requests DISABLE ROW LEVEL SECURITY; ALTER TABLE kyc.workstreams DISABLE ROW LEVEL SECURITY; ALTER TABLE kyc.cases DISABLE ROW LEVEL SECURITY"); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	eight(b, func(who, i int) error {
		rows, err := s.pool.Query(ctx, `SELECT r.* FROM kyc.requests r WHERE r.id = $1::text::uuid AND EXISTS (SELECT 1 FROM kyc.workstreams w JOIN kyc.cases c ON c.id = w."case" WHERE w.id = r.workstream AND c.cbu = $2::text::uuid)`,
			storetest.BenchKey(4, 10*who+i%10).Text(), storetest.BenchKey(1, who).Text())
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
