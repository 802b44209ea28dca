package postgres_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/storetest"
)

// asPooled is how a store is opened behind a PgBouncer that pools transactions.
const asPooled = "&default_query_exec_mode=exec"

// The contract of a store holds behind PgBouncer, which lends one of a few connections for
// each transaction, and another the next time. Migrations go through it as well. With
// -every-case that is all of it: row-level security, locks, the queue and its workers. X4
func TestStoreBehindPgBouncer(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	pooler := pgtest.Database(t).Pooler(t, 8)
	storetest.Run(t, func(t *testing.T, entities []*stores.Entity) stores.Store {
		db := pgtest.Database(t).Behind(t, pooler)
		s, err := postgres.Open(ctx, db.App+asPooled, postgres.MigrateAs(db.Owner+asPooled))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		if entities != nil {
			if plan, err := s.Migrate(ctx, entities, true); err != nil || len(plan.Problems) > 0 {
				t.Fatal(plan.Problems, err)
			}
		}
		return s
	}, some("names")...)
}

// What a transaction needs set is set in it: a row that somebody holds is waited for as
// long as was said and no longer, on whichever connection the pooler lends.
func TestSettingsEndWithTheirTransactionBehindPgBouncer(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db := pgtest.Database(t)
	behind := db.Behind(t, db.Pooler(t, 1)) // every transaction has the same connection
	s, err := postgres.Open(ctx, behind.App+asPooled, postgres.MigrateAs(db.Owner), postgres.BusyTimeout(300*time.Millisecond), postgres.WithoutSealer())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	e := cbuEntity()
	if plan, err := s.Migrate(ctx, []*stores.Entity{e}, true); err != nil || len(plan.Problems) > 0 {
		t.Fatal(plan.Problems, err)
	}
	for _, key := range []int64{1, 2} {
		held := stores.Scope{Principal: "a", Holds: map[string][]stores.Value{"cbu": {stores.NewInt(key)}}}
		if key == 2 {
			held.All = true
		}
		if err := s.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
			return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{{Op: stores.Insert, Entity: e, Key: stores.NewInt(key)}}})
		}); err != nil {
			t.Fatal(err)
		}
	}
	count := func(sc stores.Scope) (n int) {
		t.Helper()
		err := s.View(ctx, sc, func(r stores.Reader) error {
			rows, err := r.Find(ctx, stores.Find{Entity: e})
			n = len(rows)
			return err
		})
		if err != nil {
			t.Error(err)
		}
		return n
	}
	// Whoever comes next on the connection has nothing of who was there before.
	if n := count(stores.Scope{All: true}); n != 2 {
		t.Errorf("who sees all sees %d rows", n)
	}
	if n := count(stores.Scope{Principal: "b"}); n != 0 {
		t.Errorf("who holds nothing sees %d rows after them", n)
	}
	if n := count(stores.Scope{All: true}); n != 2 {
		t.Errorf("who sees all sees %d rows", n)
	}
	n, err := pgtest.DB{Admin: behind.App + asPooled}.Number("SELECT count(*) FROM (VALUES (1)) v WHERE coalesce(current_setting('verbatim.all', true), '') || coalesce(current_setting('verbatim.principal', true), '') <> ''")
	if err != nil || n != 0 {
		t.Error("settings stay on the connection:", n, err)
	}
	release := db.Hang(t)
	bounded, stop := context.WithTimeout(ctx, 5*time.Second)
	defer stop()
	began := time.Now()
	err = s.View(bounded, stores.Scope{All: true}, func(r stores.Reader) error {
		_, err := r.Find(bounded, stores.Find{Entity: e})
		return err
	})
	if took := time.Since(began); err == nil || took > 4*time.Second {
		t.Errorf("a table that somebody holds is waited for %s, and then %v", took, err)
	}
	release()
	if n := count(stores.Scope{All: true}); n != 2 {
		t.Errorf("afterwards there are %d rows", n)
	}
}

// A store that is opened behind PgBouncer as if it were not there says what is missing,
// and does not go on with connections that it has not set up.
func TestAPoolerThatIsNotToldOf(t *testing.T) {
	t.Parallel()
	db := pgtest.Database(t)
	s, err := postgres.Open(context.Background(), db.Behind(t, db.Pooler(t, 2)).App)
	if err == nil {
		s.Close()
		t.Fatal("it is opened")
	}
	if !strings.Contains(err.Error(), "default_query_exec_mode=exec") {
		t.Errorf("it says %v", err)
	}
}
