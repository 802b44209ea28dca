package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/storetest"
)

// wrote adds entries to the journal, each in a transaction of its own.
func wrote(t *testing.T, s *Store, scope stores.Scope, verbs ...string) {
	t.Helper()
	for _, verb := range verbs {
		err := s.Update(context.Background(), scope, func(tx stores.Tx) error {
			return tx.Apply(context.Background(), stores.Batch{Entries: []stores.Entry{{Verb: verb}}})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// verbsOf are the verbs of sealed entries, in the order of their places.
func verbsOf(entries []stores.Entry) string {
	var all []string
	for _, e := range entries {
		if e.Verb != storetest.Canary && !strings.HasPrefix(e.Verb, "old") {
			all = append(all, e.Verb)
		}
	}
	return strings.Join(all, " ")
}

// A store seals by itself what is written to it, and what a process left that ended. Nobody has to
// write, or to ask.
func TestAStoreSealsByItself(t *testing.T) {
	t.Parallel()
	s, _, scope, db := bank(t)
	ctx := context.Background()
	settled := func(s *Store, what string) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
			u, err := s.Unsealed(ctx)
			if err != nil || len(u.Stray) > 0 {
				t.Fatal(u, err)
			}
			if u.Waiting == 0 {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s is not sealed", what)
			}
		}
	}
	wrote(t, s, scope, "a", "b")
	settled(s, "what was written")
	// A process that is dead has no sealer.
	dead, err := Open(ctx, db.App, WithoutSealer())
	if err != nil {
		t.Fatal(err)
	}
	defer dead.Close()
	s.stopSealing()
	wrote(t, dead, scope, "c")
	if u, err := s.Unsealed(ctx); err != nil || u.Waiting != 1 {
		t.Fatalf("%+v, %v", u, err)
	}
	other, err := Open(ctx, db.App)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := other.SealFailed(); err != nil { // as a server asks that is looked after
		t.Error(err)
	}
	settled(other, "what a dead process left")
	wrote(t, dead, scope, "d")
	settled(other, "what a dead process left later")
	if got := verbsOf(storetest.Whole(t, s, -1)); got != "a b c d" {
		t.Errorf("the log has %s", got)
	}
}

// A transaction holds its number while others are sealed: its entry comes behind them, and readers
// who remember a place do not miss it.
func TestANumberThatCommitsLate(t *testing.T) {
	t.Parallel()
	s, _, scope, db := bank(t)
	ctx := context.Background()
	storetest.Whole(t, s, -1)
	place, _, err := s.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	late, err := pgx.Connect(ctx, db.App)
	if err != nil {
		t.Fatal(err)
	}
	defer late.Close(ctx)
	e := stores.Entry{Verb: "late"}
	e.Write()
	cells, err := cellsOf([]stores.Entry{e})
	if err != nil {
		t.Fatal(err)
	}
	tx, err := late.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	one, _ := numberSQLs()
	var number int64
	if err := tx.QueryRow(ctx, one, cells...).Scan(&number); err != nil {
		t.Fatal(err)
	}
	wrote(t, s, scope, "a", "b", "c")
	before := storetest.Whole(t, s, -1)
	if got := verbsOf(before); got != "a b c" || before[len(before)-1].Seq != number+3 {
		t.Fatalf("the log has %s", got)
	}
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if got := verbsOf(storetest.Whole(t, s, -1)); got != "a b c late" {
		t.Errorf("the log has %s", got)
	}
	after, err := s.Placed(ctx, place+4, 0)
	if err != nil || len(after) != 1 || after[0].Seq != number || after[0].Place != place+4 {
		t.Errorf("behind place %d are %+v, %v", place+3, after, err)
	}
	byNumber, err := s.Journal(ctx, number, number+3)
	if err != nil || verbsOf(byNumber) != "late a b c" {
		t.Errorf("by number: %s, %v", verbsOf(byNumber), err)
	}
}

// Many sealers make one log, and what they are stopped in the middle of is done by others: an
// entry is neither lost nor sealed twice. SAFE-J3, SAFE-R2
func TestSealersAreKilled(t *testing.T) {
	t.Parallel()
	s, _, scope, db := bank(t)
	ctx := context.Background()
	kills := 12
	if *chained > 10_000 {
		kills = 100
	}
	admin, err := pgx.Connect(ctx, db.Admin)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(ctx)
	stop := make(chan struct{})
	var all sync.WaitGroup
	var written, passes int
	var mu sync.Mutex
	for range 3 {
		sealer, err := Open(ctx, db.App)
		if err != nil {
			t.Fatal(err)
		}
		defer sealer.Close()
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := sealer.pass(ctx, "pg_try_advisory_xact_lock"); err == nil {
					mu.Lock()
					passes++
					mu.Unlock()
				}
			}
		})
	}
	all.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			err := s.Update(ctx, scope, func(tx stores.Tx) error {
				return tx.Apply(ctx, stores.Batch{Entries: []stores.Entry{{Verb: "w"}, {Verb: "w"}}})
			})
			switch {
			case err == nil:
				mu.Lock()
				written += 2
				mu.Unlock()
			case errors.Is(err, stores.ErrUnknown):
				t.Error("the writer was stopped, and not a sealer")
			}
		}
	})
	for killed := 0; killed < kills; {
		// Whoever holds the lock is in the middle of a pass.
		var n int
		err := admin.QueryRow(ctx, `SELECT count(*) FILTER (WHERE pg_terminate_backend(pid)) FROM pg_locks WHERE locktype = 'advisory' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
AND (classid::bigint << 32 | objid::bigint) = `+sealLock).Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
		killed += n
	}
	close(stop)
	all.Wait()
	entries := storetest.Whole(t, s, -1)
	if n := strings.Count(verbsOf(entries), "w"); n != written {
		t.Errorf("%d of %d entries are sealed, in %d passes", n, written, passes)
	}
}

// toChain makes the database one of the version before, whose journal is a chain of n entries.
func toChain(t *testing.T, s *Store, run func(...string), n int) (head [32]byte) {
	t.Helper()
	ctx := context.Background()
	run("ALTER TABLE verbatim_journal DISABLE TRIGGER ALL", "DELETE FROM verbatim_journal", "ALTER TABLE verbatim_journal ENABLE TRIGGER ALL")
	var entries []stores.Entry
	for i := range n {
		e := stores.Entry{Time: time.Date(2025, 1, 3, 10, 0, i, 0, time.UTC), Verb: fmt.Sprint("old", i+1), Roles: []string{"client"}}
		e.Chain(int64(i+1), head)
		entries, head = append(entries, e), e.Hash
	}
	s.stopSealing()
	run("DROP TABLE verbatim_waiting, verbatim_leaf, verbatim_head", "CREATE TABLE verbatim_waiting (number bigint)", "CREATE TABLE verbatim_leaf (place bigint, number bigint, nodes bytea)", "CREATE TABLE verbatim_head (size bigint, hash bytea)",
		"GRANT ALL ON verbatim_leaf, verbatim_head, verbatim_waiting TO verbatim_app")
	if n > 0 {
		err := s.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error { return tx.Apply(ctx, stores.Batch{Sealed: entries}) })
		if err != nil {
			t.Fatal(err)
		}
	}
	run("DROP TABLE verbatim_waiting, verbatim_leaf, verbatim_head", "DROP SEQUENCE verbatim_number", "ALTER TABLE verbatim_journal DROP COLUMN salt",
		"ALTER TABLE verbatim_journal RENAME COLUMN chain_prev TO prev", "ALTER TABLE verbatim_journal RENAME COLUMN chain_hash TO hash",
		"ALTER TABLE verbatim_journal ALTER COLUMN prev SET NOT NULL, ALTER COLUMN hash SET NOT NULL, ADD CONSTRAINT verbatim_journal_prev_key UNIQUE (prev)",
		"UPDATE verbatim_schema SET version = 4")
	return head
}

// olderAppend is how a program of the version before adds an entry.
const olderAppend = `INSERT INTO public.verbatim_journal (seq, time, principal, roles, session, source, verb, call, outcome, reason, changes, preview, agreed, palette, turn, origins, prev, body, hash)
SELECT h.seq + 1, now(), '', '[]', '', '', 'older', '', '', '', '', '', '', '', '', '', h.hash, h.hash, sha256(h.hash) FROM (SELECT seq, hash FROM public.verbatim_journal ORDER BY seq DESC LIMIT 1) h`

// SAFE-R10: a journal that is a chain is verified and sealed by Migrate: its head is the first leaf,
// its entries are verified as they were, and numbers go on behind it. A program of the version
// before, which is still at work, adds nothing more. A chain that was altered is not sealed.
func TestAChainIsSealed(t *testing.T) {
	t.Parallel()
	s, entities, scope, db := bank(t)
	ctx := context.Background()
	run := func(statements ...string) { db.Run(t, statements...) }
	old := toChain(t, s, run, 5)
	older, err := pgx.Connect(ctx, db.App)
	if err != nil {
		t.Fatal(err)
	}
	defer older.Close(ctx)
	begun, err := older.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := begun.Exec(ctx, olderAppend); err != nil {
		t.Fatalf("the statement of the version before: %v", err)
	}
	if err := begun.Rollback(ctx); err != nil {
		t.Fatal(err)
	}
	s, err = Open(ctx, db.App, MigrateAs(db.Owner))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var other *stores.VersionError
	if _, err := s.Identity(ctx); !errors.As(err, &other) || !other.Old || other.Is != withChain {
		t.Fatalf("a database of the version before is answered with %v", err)
	}
	run("ALTER TABLE verbatim_journal DISABLE TRIGGER ALL", "UPDATE verbatim_journal SET verb = 'new' WHERE seq = 3")
	if plan, err := s.Migrate(ctx, entities, true); err != nil || len(plan.Problems) != 1 || !strings.Contains(plan.Problems[0], "entry 3 was altered") {
		t.Fatalf("an altered chain is sealed: %+v, %v", plan, err)
	}
	run("UPDATE verbatim_journal SET verb = 'old3' WHERE seq = 3", "ALTER TABLE verbatim_journal ENABLE TRIGGER ALL")
	if plan, err := s.Migrate(ctx, entities, true); err != nil || len(plan.Problems) > 0 {
		t.Fatal(plan.Problems, err)
	}
	if place, hash, err := s.Head(ctx); err != nil || place != 5 || hash != old {
		t.Errorf("the journal ends at place %d, %x, %v", place, hash, err)
	}
	if h, err := journal.Whole(ctx, s, journal.Head{Entries: 5, Hash: old}); err != nil || h.Entries != 5 {
		t.Errorf("%+v, %v", h, err)
	}
	if _, err := older.Exec(ctx, olderAppend); err == nil {
		t.Error("a program of the version before adds an entry")
	}
	wrote(t, s, scope, "new")
	entries := storetest.Whole(t, s, 6)
	if last := entries[5]; last.Seq != 6 || last.Place != 6 || last.Verb != "new" {
		t.Errorf("the entry behind the chain is %+v", last)
	}
	if leaves, err := s.Leaves(ctx, []int64{0}); err != nil || leaves[0].Seq != 5 || [32]byte(leaves[0].Row) != stores.LeafHash(5, old) {
		t.Errorf("the first leaf is %+v, %v", leaves[0], err)
	}
	if plan, err := s.Migrate(ctx, entities, true); err != nil || len(plan.Steps) > 0 {
		t.Errorf("it is migrated again: %v, %v", plan.Steps, err)
	}
}

// olderEntry adds an entry in the form of the older chain, which has ended.
const olderEntry = "INSERT INTO verbatim_journal (seq, " + ownColumns + ", chain_prev, chain_hash) SELECT seq + 1000, time, principal, roles, session, source, 'forged', call, outcome, reason, changes, preview, agreed, palette, turn, origins, NULL, body, body, body FROM verbatim_journal WHERE verb = 'c'"

// What somebody changes in the log is found, whatever it is.
func TestAnAlteredLogIsFound(t *testing.T) {
	t.Parallel()
	s, _, scope, db := bank(t)
	ctx := context.Background()
	wrote(t, s, scope, "a", "b", "c", "d", "e")
	storetest.Whole(t, s, -1)
	s.stopSealing()
	for _, c := range []struct{ sql, want, back string }{
		{"UPDATE verbatim_journal SET verb = 'x' WHERE verb = 'c'", "was altered", "UPDATE verbatim_journal SET verb = 'c' WHERE verb = 'x'"},
		{"UPDATE verbatim_journal SET body = sha256('x') WHERE verb = 'c'", "was altered", ""},
		{"UPDATE verbatim_journal SET salt = substr(sha256('x'), 1, 16) WHERE verb = 'c'", "was altered", ""},
		{"DELETE FROM verbatim_journal WHERE verb = 'c'", "is missing", ""},
		{"DELETE FROM verbatim_leaf WHERE place = 3", "stands in its place", ""},
		{"DELETE FROM verbatim_leaf WHERE place = (SELECT max(place) FROM verbatim_leaf)", "is missing", ""},
		{"UPDATE verbatim_leaf SET nodes = set_byte(nodes, 1, get_byte(nodes, 1) # 1) WHERE place = 3", "has a hash that is not its own", ""},
		{"UPDATE verbatim_leaf SET nodes = set_byte(nodes, 40, get_byte(nodes, 40) # 1) WHERE place = 3", "has a leaf that is not its own", ""},
		{"UPDATE verbatim_head SET hash = sha256('x') WHERE size = (SELECT max(size) FROM verbatim_head)", "is not that of its leaves", ""},
		{olderEntry, "", ""},
		{olderEntry + "; INSERT INTO verbatim_waiting SELECT max(seq) FROM verbatim_journal", "", ""},
		{"DELETE FROM verbatim_leaf WHERE place > 2; DELETE FROM verbatim_head WHERE size > (SELECT min(size) FROM verbatim_head)", "", ""},
	} {
		conn, err := pgx.Connect(ctx, db.Admin)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(ctx, "CREATE TABLE keep_journal AS TABLE verbatim_journal; CREATE TABLE keep_leaf AS TABLE verbatim_leaf; CREATE TABLE keep_head AS TABLE verbatim_head; SET session_replication_role = replica; "+c.sql); err != nil {
			t.Fatal(c.sql, err)
		}
		_, err = journal.Whole(ctx, s)
		u, bad := s.Unsealed(ctx)
		if bad != nil {
			t.Error(bad)
		}
		for e, err := range journal.ByNumber(ctx, s, 1, 0) {
			if err == nil && e.Verb == "forged" && e.Place != 0 {
				t.Errorf("%s: it has place %d", c.sql, e.Place)
			}
		}
		if c.want == "" && len(u.Stray) == 0 && err == nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, %+v", c.sql, err, u)
		}
		if _, err := conn.Exec(ctx, "TRUNCATE verbatim_journal, verbatim_leaf, verbatim_head; INSERT INTO verbatim_journal TABLE keep_journal; INSERT INTO verbatim_leaf TABLE keep_leaf; INSERT INTO verbatim_head TABLE keep_head; DROP TABLE keep_journal, keep_leaf, keep_head"); err != nil {
			t.Fatal(err)
		}
		conn.Close(ctx)
	}
	if _, err := journal.Whole(ctx, s); err != nil {
		t.Error(err)
	}
}

// cut ends the last part of the journal.
func cut(t *testing.T, db pgtest.DB, entities []*stores.Entity) {
	t.Helper()
	s, err := Open(context.Background(), db.App, MigrateAs(db.Owner), CutJournal(), WithoutSealer())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if plan, err := s.Migrate(context.Background(), entities, true); err != nil || len(plan.Problems) > 0 {
		t.Fatal(plan.Problems, err)
	}
}

// What waits is sealed before its part of the journal can be detached. What waits in a part that is
// detached all the same is sealed once it is attached again.
func TestAPartWaitsToBeSealed(t *testing.T) {
	t.Parallel()
	s, entities, scope, db := bank(t, WithoutSealer())
	ctx := context.Background()
	storetest.Whole(t, s, -1)
	head, _, err := s.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	wrote(t, s, scope, "a", "b")
	cut(t, db, entities)
	if entries, err := s.Placed(ctx, head+1, 0); err != nil || verbsOf(entries) != "a b" {
		t.Fatalf("a part was cut, and the log has %s behind place %d, %v", verbsOf(entries), head, err)
	}
	wrote(t, s, scope, "c")
	entries, err := s.Journal(ctx, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	first := fmt.Sprint(entries[len(entries)-1].Seq)
	var part string
	conn, err := pgx.Connect(ctx, db.Admin)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if err := conn.QueryRow(ctx, "SELECT tableoid::regclass::text, substring(tableoid::regclass::text from '[0-9]+$') FROM verbatim_journal WHERE seq = "+first).Scan(&part, &first); err != nil {
		t.Fatal(err)
	}
	db.Run(t, "ALTER TABLE verbatim_journal DETACH PARTITION "+part)
	if err := s.Seal(ctx); err != nil {
		t.Fatal(err)
	}
	db.Run(t, "ALTER TABLE verbatim_journal ATTACH PARTITION "+part+" FOR VALUES FROM ("+first+") TO (MAXVALUE)")
	if u, err := s.Unsealed(ctx); err != nil || len(u.Stray) > 0 || u.Waiting != 1 {
		t.Fatalf("a part was away, and back: %+v, %v", u, err)
	}
	if got := verbsOf(storetest.Whole(t, s, -1)); got != "a b c" {
		t.Errorf("the log has %s", got)
	}
}

// A sealer that fails while much waits does not try again and again without a pause, and another one at
// work does not hide that it fails.
func TestASealerThatFails(t *testing.T) {
	t.Parallel()
	var z sealing
	bad, ctx := errors.New("no"), context.Background()
	z.told(ctx, bad)
	z.told(ctx, errSealing)
	if z.failed != bad {
		t.Errorf("another sealer hides that ours fails: %v", z.failed)
	}
	z.told(ctx, nil)
	z.told(ctx, errSealing)
	if z.failed != nil {
		t.Errorf("another sealer that works is a failure: %v", z.failed)
	}
	z.others = z.others.Add(-stuck - 1)
	z.told(ctx, errSealing)
	if z.failed != errSealing {
		t.Errorf("a sealer that never ends is not told of: %v", z.failed)
	}
	z.told(ctx, nil)
	if z.failed != nil || !z.others.IsZero() {
		t.Errorf("a pass succeeded, and %v", z.failed)
	}

	s, _, scope, db := bank(t, WithoutSealer())
	entries := make([]stores.Entry, mostSealed)
	err := s.Update(ctx, scope, func(tx stores.Tx) error { return tx.Apply(ctx, stores.Batch{Entries: entries}) })
	if err != nil {
		t.Fatal(err)
	}
	db.Run(t, "INSERT INTO verbatim_head VALUES (1000000, sha256('x'))")
	if more, err := s.pass(ctx, "pg_advisory_xact_lock"); err == nil || more {
		t.Errorf("a pass failed with %v, and more is %v", err, more)
	}
}

// A chain in parts is sealed without the parts that are detached, which can be attached again. Its
// last entries have to be there, and none may be missing from a part that is.
func TestAChainInPartsIsSealed(t *testing.T) {
	t.Parallel()
	s, entities, scope, db := bank(t)
	ctx := context.Background()
	run := func(statements ...string) { db.Run(t, statements...) }
	old := toChain(t, s, run, 5)
	run("ALTER TABLE verbatim_journal RENAME TO verbatim_journal_1", "DROP TRIGGER verbatim_journal_rows ON verbatim_journal_1", "DROP TRIGGER verbatim_journal_table ON verbatim_journal_1",
		"CREATE TABLE verbatim_journal (LIKE verbatim_journal_1, PRIMARY KEY (seq)) PARTITION BY RANGE (seq)",
		"CREATE TABLE verbatim_journal_4 PARTITION OF verbatim_journal (UNIQUE (prev)) FOR VALUES FROM (4) TO (MAXVALUE)",
		"INSERT INTO verbatim_journal SELECT * FROM verbatim_journal_1 WHERE seq > 3", "DELETE FROM verbatim_journal_1 WHERE seq > 3",
		"DO $$ DECLARE o text := (SELECT tableowner FROM pg_tables WHERE tablename = 'verbatim_schema'); BEGIN EXECUTE 'ALTER TABLE verbatim_journal OWNER TO '||o; EXECUTE 'ALTER TABLE verbatim_journal_4 OWNER TO '||o; END $$",
		"GRANT SELECT, INSERT ON verbatim_journal TO verbatim_app")
	s, err := Open(ctx, db.App, MigrateAs(db.Owner))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, c := range []struct{ before, problem, after string }{
		{"ALTER TABLE verbatim_journal DETACH PARTITION verbatim_journal_4", "", "ALTER TABLE verbatim_journal ATTACH PARTITION verbatim_journal_4 FOR VALUES FROM (4) TO (MAXVALUE)"},
		{"CREATE TABLE away AS TABLE verbatim_journal_4; DELETE FROM verbatim_journal_4", "behind entry 0, are in a part that is not attached", "INSERT INTO verbatim_journal TABLE away"},
		{"DELETE FROM verbatim_journal WHERE seq = 4", "entry 1 is missing", "INSERT INTO verbatim_journal SELECT * FROM away WHERE seq = 4"},
		{"ALTER TABLE verbatim_journal ATTACH PARTITION verbatim_journal_1 FOR VALUES FROM (1) TO (4); ALTER TABLE verbatim_journal DETACH PARTITION verbatim_journal_4",
			"behind entry 3, are in a part that is not attached", "ALTER TABLE verbatim_journal ATTACH PARTITION verbatim_journal_4 FOR VALUES FROM (4) TO (MAXVALUE); ALTER TABLE verbatim_journal DETACH PARTITION verbatim_journal_1"},
	} {
		run(strings.Split(c.before, "; ")...)
		if c.problem != "" {
			if plan, err := s.Migrate(ctx, entities, true); err != nil || len(plan.Problems) != 1 || !strings.Contains(plan.Problems[0], c.problem) {
				t.Errorf("%s: %q, %v", c.before, plan.Problems, err)
			}
		}
		run(strings.Split(c.after, "; ")...)
	}
	if plan, err := s.Migrate(ctx, entities, true); err != nil || len(plan.Problems) > 0 {
		t.Fatal(plan.Problems, err)
	}
	if place, hash, err := s.Head(ctx); err != nil || place != 5 || hash != old {
		t.Errorf("the journal ends at place %d, %x, %v", place, hash, err)
	}
	run("ALTER TABLE verbatim_journal ATTACH PARTITION verbatim_journal_1 FOR VALUES FROM (1) TO (4)")
	wrote(t, s, scope, "new")
	if entries := storetest.Whole(t, s, 6); verbsOf(entries) != "new" {
		t.Errorf("the log has %s", verbsOf(entries))
	}
}
