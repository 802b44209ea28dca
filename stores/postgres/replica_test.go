package postgres_test

import (
	"context"
	"errors"
	"flag"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/storetest"
)

// A followed is a store whose Views read a replica, and what was told of that.
type followed struct {
	*postgres.Store
	mu   sync.Mutex
	told []string
}

func (f *followed) tells(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.told = append(f.told, what)
}

// last is what was told last, up to its colon.
func (f *followed) last() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.told) == 0 {
		return ""
	}
	what, _, _ := strings.Cut(f.told[len(f.told)-1], ":")
	return what
}

func follow(t *testing.T, db pgtest.DB, replica string) *followed {
	t.Helper()
	f := &followed{}
	s, err := postgres.Open(context.Background(), db.App, postgres.MigrateAs(db.Owner), postgres.Replica(replica, f.tells))
	if err != nil {
		t.Fatal(err)
	}
	f.Store = s
	t.Cleanup(func() { s.Close() })
	return f
}

// The contract of a store holds where its Views read a replica. X4
func TestStoreReadsAReplica(t *testing.T) {
	t.Parallel()
	main := pgtest.Own(t)
	var once sync.Once
	var standby *pgtest.Standby
	storetest.Run(t, func(t *testing.T, entities []*stores.Entity) stores.Store {
		once.Do(func() { standby = main.Follow(t) })
		db := main.Another(t)
		f := follow(t, db, standby.Of(db).App)
		if entities != nil {
			if plan, err := f.Migrate(context.Background(), entities, true); err != nil || len(plan.Problems) > 0 {
				t.Fatal(plan.Problems, err)
			}
		}
		return f
	}, some("names")...)
}

var everyCase = flag.Bool("every-case", false, "hold a store with a replica or behind a pooler to every case of the suite")

// some are the groups of the suite that are tried where nobody asks for all.
func some(groups ...string) []string {
	if *everyCase {
		return nil
	}
	return groups
}

func cbuEntity() *stores.Entity {
	return &stores.Entity{Name: "cbu", Table: "bank.cbus", Managed: true, Access: stores.ByPath, Place: "bank.yaml:1:1", Added: true, Changed: []int{1},
		Fields: []stores.Field{{Name: "cbu-id", Column: "cbu_id", Kind: stores.Int, Required: true}, {Name: "name", Column: "name", Kind: stores.String}}}
}

// A View sees what was written before it began, by its own session and by others, however
// far the replica is behind; whatever becomes of the replica, no caller is told of it, and
// the operator is. Rights are read from the store itself, so that one that was taken back
// is gone at once.
func TestAReplicaIsReadWhenItHasCaughtUp(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	main := pgtest.Own(t)
	standby := main.Follow(t)
	there := standby.Of(main.DB)
	e := cbuEntity()
	f := follow(t, main.DB, there.App)
	if plan, err := f.Migrate(ctx, []*stores.Entity{e}, true); err != nil || len(plan.Problems) > 0 {
		t.Fatal(plan.Problems, err)
	}
	all := stores.Scope{Principal: "ada", All: true}
	set := func(s stores.Store, op stores.Op, name string) {
		t.Helper()
		err := s.Update(ctx, all, func(tx stores.Tx) error {
			return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{{Op: op, Entity: e, Key: stores.NewInt(1), Set: []stores.Assign{{Field: 1, Value: stores.NewString(name)}}}}, Entries: []stores.Entry{{Verb: "v", Principal: "ada"}}})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	reads := func(s stores.Store, want string) {
		t.Helper()
		err := s.View(ctx, all, func(r stores.Reader) error {
			row, err := r.Get(ctx, e, stores.NewInt(1))
			if err == nil && row.Values[1].Text() != want {
				t.Errorf("%q is read, and %q was written before", row.Values[1].Text(), want)
			}
			return err
		})
		if err != nil {
			t.Errorf("reading %q: %v", want, err)
		}
	}
	// onReplica reports whether rows are read there.
	onReplica := func(s stores.Store, want string) bool {
		t.Helper()
		before := tuples(t, there)
		for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			reads(s, want)
			if tuples(t, there) > before {
				return true
			}
		}
		return false
	}
	until := func(want string, do func()) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); f.last() != want; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%q was told, and not %q", f.last(), want)
			}
			do()
		}
	}
	other := follow(t, main.DB, there.App) // another process
	set(f, stores.Insert, "first")
	if !onReplica(f, "first") {
		t.Fatal("the replica is never read")
	}

	// It cuts a View off: that runs again, on the store itself, whatever its function made of it.
	for ran, deadline := 0, time.Now().Add(20*time.Second); ran != 2; {
		if time.Now().After(deadline) {
			t.Fatal("no View runs again")
		}
		ran = 0
		name := ""
		if err := f.View(ctx, all, func(r stores.Reader) error {
			ran++
			_, err := r.Get(ctx, e, stores.NewInt(1))
			if ran == 1 {
				there.Run(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()")
			}
			if row, err := r.Get(ctx, e, stores.NewInt(1)); err == nil {
				name = row.Values[1].Text()
			}
			return err
		}); err != nil || name != "first" {
			t.Errorf("a View that is cut off reads %q: %v", name, err)
		}
	}

	// It lags: what was written is seen all the same, by whoever.
	there.Run(t, "SELECT pg_wal_replay_pause()")
	set(f, stores.Update, "second")
	reads(f, "second")
	reads(other, "second")
	if err := f.SetPrincipal(ctx, stores.Principal{Name: "bob", Roles: []string{"clerk"}}); err != nil {
		t.Fatal(err)
	}
	if p, err := other.Principal(ctx, "bob"); err != nil || !slices.Equal(p.Roles, []string{"clerk"}) {
		t.Error(p, err)
	}
	if err := f.SetPrincipal(ctx, stores.Principal{Name: "bob"}); err != nil {
		t.Fatal(err)
	}
	if p, err := other.Principal(ctx, "bob"); err != nil || len(p.Roles) > 0 {
		t.Error("a role that was taken back is there:", p, err)
	}
	until("the replica is behind", func() { reads(f, "second") })
	there.Run(t, "SELECT pg_wal_replay_resume()")
	until("reads go to the replica where it has come far enough", func() { reads(f, "second") })

	// It is gone, and comes back.
	standby.Stop()
	set(f, stores.Update, "third")
	until("the replica does not answer", func() { reads(f, "third") })
	began := time.Now()
	for range 100 {
		reads(f, "third")
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("a hundred reads take %s while the replica is gone", took)
	}
	standby.Start()
	until("reads go to the replica where it has come far enough", func() { reads(f, "third") })

	// It is promoted: what it tells from then on is another story.
	there.Run(t, "SELECT pg_promote()")
	reads(f, "third")
	set(f, stores.Update, "fourth")
	there.Run(t, "UPDATE bank.cbus SET name = 'another story'")
	until("the replica follows no longer, it was promoted or restored", func() { reads(f, "fourth") })
	reads(other, "fourth")
}

// tuples is how many rows of our table were read on a server, which it tells within a
// second.
func tuples(t *testing.T, db pgtest.DB) (n int64) {
	t.Helper()
	n, err := db.Number(`SELECT coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::bigint FROM pg_stat_user_tables WHERE relname = 'cbus'`)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A server that is none of the store's replicas is refused: one of another database, one
// with a role that sees everything. One that does not answer is left alone until it does.
func TestWhatIsNoReplica(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db, main := pgtest.Database(t), pgtest.Own(t)
	standby := main.Follow(t)
	for name, url := range map[string]string{
		"follows another store": standby.Of(main.DB).App,
		"another role":          standby.Of(main.DB).Admin,
	} {
		of := db
		if name == "another role" {
			of = main.DB
		}
		s, err := postgres.Open(ctx, of.App, postgres.Replica(url, nil))
		if !errors.Is(err, postgres.ErrReplica) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			s.Close()
		}
	}
	if _, err := postgres.Open(ctx, db.App, postgres.Replica("postgres://:::/", nil)); err == nil || strings.Contains(err.Error(), ":::") {
		t.Errorf("a URL that cannot be read is told as %v", err)
	}
	f := follow(t, db, db.App+"&host=/nowhere")
	if f.last() != "the replica does not answer" {
		t.Errorf("%q is told of a replica that is not there", f.last())
	}
	same := follow(t, db, db.App) // the store itself
	if !strings.HasPrefix(same.last(), "the replica follows no longer") {
		t.Errorf("%q is told of the store itself", same.last())
	}
}
