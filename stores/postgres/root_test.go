package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"verbatim/stores"
	"verbatim/stores/postgres/pgtest"
)

// A chain is entities of ours, each referring to the one before it: what the
// first is held by, whoever holds it sees of the last.
func chain(length int) []*stores.Entity {
	var all []*stores.Entity
	for i := range length {
		e := &stores.Entity{Name: fmt.Sprint("e", i), Table: fmt.Sprint("chain.e", i), Managed: true, Place: fmt.Sprintf("chain.yaml:%d:1", i+1),
			Fields: []stores.Field{{Name: "id", Column: "id", Kind: stores.Int}}}
		if i > 0 {
			parent := all[i-1]
			e.Fields = append(e.Fields, stores.Field{Name: "up", Column: "up", Kind: stores.Int, Ref: parent, Required: true})
			e.Scope = append([]stores.Step{{Field: 1, To: parent}}, parent.Scope...)
		}
		e.Fields = append(e.Fields, stores.Field{Name: "text", Column: "text", Kind: stores.String})
		all = append(all, e)
	}
	return all
}

// optional is a chain whose references may be empty, as older palettes had it.
func optional(length int) []*stores.Entity {
	all := chain(length)
	for _, e := range all[1:] {
		e.Fields[1].Required = false
	}
	return all
}

func openChain(t *testing.T, db pgtest.DB) *Store {
	t.Helper()
	s, err := Open(context.Background(), db.App, MigrateAs(db.Owner))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func migrateChain(t *testing.T, s *Store, entities []*stores.Entity) []string {
	t.Helper()
	plan, err := s.Migrate(context.Background(), entities, true)
	if err != nil || len(plan.Problems) > 0 {
		var why *failure
		errors.As(err, &why)
		t.Fatal(err, why, plan.Problems)
	}
	again, err := s.Migrate(context.Background(), entities, false)
	if err != nil || len(again.Steps)+len(again.Problems) > 0 {
		t.Fatalf("there is more to do: %v, %+v", err, again)
	}
	return plan.Steps
}

// fillChain adds two rows of each kind: row 1 hangs on row 1, and row 2 on row 2.
func fillChain(t *testing.T, s *Store, entities []*stores.Entity) {
	t.Helper()
	var b stores.Batch
	for i, e := range entities {
		for n := int64(1); n <= 2; n++ {
			c := stores.Change{Op: stores.Insert, Entity: e, Key: stores.NewInt(n)}
			if i > 0 {
				c.Set = append(c.Set, stores.Assign{Field: 1, Value: stores.NewInt(n)})
			}
			b.Changes = append(b.Changes, c)
		}
	}
	applyChain(t, s, stores.Scope{All: true}, nil, b.Changes...)
}

func applyChain(t *testing.T, s *Store, scope stores.Scope, want error, changes ...stores.Change) {
	t.Helper()
	err := s.Update(context.Background(), scope, func(tx stores.Tx) error {
		return tx.Apply(context.Background(), stores.Batch{Changes: changes})
	})
	if !errors.Is(err, want) {
		t.Errorf("%v, want %v", err, want)
	}
}

// seenInChain lists the rows of an entity that whoever holds some rows sees, by
// the condition of the engine and by the policy alone, which must agree.
func seenInChain(t *testing.T, s *Store, e *stores.Entity, held ...int64) string {
	t.Helper()
	keys := make([]stores.Value, len(held))
	for i, n := range held {
		keys[i] = stores.NewInt(n)
	}
	var both [2]string
	for i, ajar := range []bool{false, true} {
		s.ajar = ajar
		err := s.View(context.Background(), stores.Scope{Holds: map[string][]stores.Value{"e0": keys}}, func(r stores.Reader) error {
			rows, err := r.Find(context.Background(), stores.Find{Entity: e})
			for _, row := range rows {
				both[i] += row[0].Text() + " "
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	s.ajar = false
	if both[0] != both[1] {
		t.Errorf("%s: the engine opens %q, and the policy %q", e.Name, both[0], both[1])
	}
	return strings.TrimSpace(both[0])
}

func (want sight) of(t *testing.T, s *Store, e *stores.Entity) {
	t.Helper()
	for held, rows := range want {
		if got := seenInChain(t, s, e, int64(held)); got != rows {
			t.Errorf("who holds %d sees %q of %s, want %q", held, got, e.Name, rows)
		}
	}
}

// A sight is which rows the holder of each root sees.
type sight map[int]string

// SAFE-A5: a row says whose it is as long as its path does, whatever moves. Both
// locks hold against that column, and the server keeps it true.
func TestRowsFollowTheirOwner(t *testing.T) {
	t.Parallel()
	db := pgtest.Database(t)
	s, all := openChain(t, db), chain(5)
	migrateChain(t, s, all)
	fillChain(t, s, all)
	last := all[4]
	if !s.shapes[last].rooted {
		t.Fatal("it keeps no root")
	}
	sight{1: "1", 2: "2", 3: ""}.of(t, s, last)

	both := stores.Scope{Holds: map[string][]stores.Value{"e0": {stores.NewInt(1), stores.NewInt(2)}}}
	one := stores.Scope{Holds: map[string][]stores.Value{"e0": {stores.NewInt(1)}}}
	move := func(e *stores.Entity, key, to int64) stores.Change {
		return stores.Change{Op: stores.Update, Entity: e, Key: stores.NewInt(key), Set: []stores.Assign{{Field: 1, Value: stores.NewInt(to)}}}
	}
	// High up, everything below goes along; further down, what hangs there.
	applyChain(t, s, both, nil, move(all[1], 2, 1))
	sight{1: "1 2", 2: ""}.of(t, s, last)
	applyChain(t, s, both, nil, move(all[1], 2, 2))
	applyChain(t, s, both, nil, move(all[3], 1, 2))
	sight{1: "", 2: "1 2"}.of(t, s, last)
	applyChain(t, s, both, nil, move(all[3], 1, 1))
	sight{1: "1", 2: "2"}.of(t, s, last)
	// Out of the scope, or onto what is out of it, nothing goes.
	applyChain(t, s, one, stores.ErrNotFound, move(all[1], 1, 2))
	applyChain(t, s, one, stores.ErrNotFound, move(all[4], 1, 2))
	applyChain(t, s, one, stores.ErrNotFound, stores.Change{Op: stores.Insert, Entity: last, Key: stores.NewInt(9), Set: []stores.Assign{{Field: 1, Value: stores.NewInt(2)}}})
	sight{1: "1", 2: "2"}.of(t, s, last)

	// Others may write too: whose a row is they can leave out, or say, and not
	// say wrongly.
	ctx := context.Background()
	for _, c := range []struct{ sql, code string }{
		{"INSERT INTO chain.e4 (id, up) VALUES (3, 1)", ""},
		{"INSERT INTO chain.e4 (id, up, verbatim_root) VALUES (4, 1, 1)", ""},
		{"INSERT INTO chain.e4 (id, up, verbatim_root) VALUES (5, 1, 2)", "23503"},
		{"UPDATE chain.e4 SET verbatim_root = 2 WHERE id = 3", "23503"},
		{"UPDATE chain.e4 SET up = 2, verbatim_root = 1 WHERE id = 3", ""}, // it is not asked
		{"UPDATE chain.e4 SET up = 7 WHERE id = 3", "23502"},
		{"INSERT INTO chain.e4 (id, up) VALUES (6, 7)", "23502"},
	} {
		conn, err := pgx.Connect(ctx, db.Admin)
		if err != nil {
			t.Fatal(err)
		}
		_, err = conn.Exec(ctx, c.sql)
		conn.Close(ctx)
		if code := sqlState(err); code != c.code {
			t.Errorf("%s: %v, want %q", c.sql, err, c.code)
		}
	}
	sight{1: "1 4", 2: "2 3"}.of(t, s, last)
}

func sqlState(err error) string {
	var e interface{ SQLState() string }
	if errors.As(err, &e) {
		return e.SQLState()
	}
	return ""
}

// A database of before has rows that do not say whose they are yet, and palettes
// change where a path leads. Migrate makes of them what a new database has.
func TestRootsOfRowsThatAreThere(t *testing.T) {
	t.Parallel()
	db := pgtest.Database(t)
	s, before := openChain(t, db), optional(4)
	if steps := migrateChain(t, s, before); strings.Contains(strings.Join(steps, "\n"), rootColumn) {
		t.Error("a path that may be empty is kept in rows")
	}
	fillChain(t, s, before)
	sight{1: "1", 2: "2"}.of(t, s, before[3])

	// The references are never empty now. (That the column takes none is said to
	// PostgreSQL by nobody, since the store sees to it.)
	now := chain(4)
	migrateChain(t, s, now)
	for _, e := range now[1:] {
		sight{1: "1", 2: "2", 3: ""}.of(t, s, e)
	}
	// One foreign key for the reference, not two.
	conn, err := pgx.Connect(context.Background(), db.Admin)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var keys int
	if err := conn.QueryRow(context.Background(), "SELECT count(*) FROM pg_constraint WHERE conrelid = 'chain.e3'::regclass AND contype = 'f'").Scan(&keys); err != nil || keys != 1 {
		t.Errorf("%d foreign keys, %v", keys, err)
	}

	// The path of e1 leads elsewhere now, to another kind of owner.
	other := &stores.Entity{Name: "e0", Table: "chain.other", Managed: true, Place: "chain.yaml:9:1", Fields: now[0].Fields}
	moved := chain(4)
	moved[1].Fields = append(moved[1].Fields, stores.Field{Name: "side", Column: "side", Kind: stores.Int, Ref: other})
	moved[1].Scope = []stores.Step{{Field: 3, To: other}}
	for i, e := range moved[2:] {
		e.Scope = append([]stores.Step{{Field: 1, To: moved[i+1]}}, moved[i+1].Scope...)
	}
	if rooted(moved[3]) {
		t.Fatal("a path that may be empty")
	}
	moved[0].Name = "former"
	migrateChain(t, s, append(slices.Clone(moved), other))
	sight{1: "", 2: ""}.of(t, s, moved[3])
	applyChain(t, s, stores.Scope{All: true}, nil,
		stores.Change{Op: stores.Insert, Entity: other, Key: stores.NewInt(1)},
		stores.Change{Op: stores.Update, Entity: moved[1], Key: stores.NewInt(2), Set: []stores.Assign{{Field: 3, Value: stores.NewInt(1)}}})
	sight{1: "2", 2: ""}.of(t, s, moved[3])
	// And back.
	migrateChain(t, s, chain(4))
	sight{1: "1", 2: "2"}.of(t, s, chain(4)[3])

	// Rows that hang on nothing would be nobody's, and are told of.
	run(t, db.Owner, "SELECT 1") // the owner is there
	run(t, db.Admin, "ALTER TABLE chain.e3 DROP COLUMN verbatim_root CASCADE; ALTER TABLE chain.e3 DISABLE TRIGGER ALL; INSERT INTO chain.e3 (id, up) VALUES (7, 77)")
	plan, err := s.Migrate(context.Background(), chain(4), true)
	var why *failure
	errors.As(err, &why)
	if err != nil || len(plan.Problems) != 1 || !strings.Contains(plan.Problems[0], "chain.yaml:4:1: entity e3: table chain.e3 has rows whose up leads nowhere") {
		t.Errorf("%v, %v, %q", err, why, plan.Problems)
	}
	field := chain(2)
	field[1].Fields[2].Column = rootColumn
	if plan, err := s.Migrate(context.Background(), field, false); err != nil || !strings.Contains(strings.Join(plan.Problems, "\n"), "cannot have the column verbatim_root") {
		t.Errorf("%v, %q", err, plan.Problems)
	}
}

// However a row's owner changes while others hang rows on it, no row is left
// behind with the owner of before.
func TestOwnersChangeWhileRowsAreAdded(t *testing.T) {
	t.Parallel()
	db := pgtest.Database(t)
	s, all := openChain(t, db), chain(4)
	migrateChain(t, s, all)
	fillChain(t, s, all)
	ctx := context.Background()
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 40 {
			err := s.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
				return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{{Op: stores.Update, Entity: all[1], Key: stores.NewInt(1), Set: []stores.Assign{{Field: 1, Value: stores.NewInt(int64(1 + i%2))}}}}})
			})
			if err != nil && !errors.Is(err, stores.ErrConflict) {
				t.Error(err)
			}
		}
	})
	for w := range 3 {
		wg.Go(func() {
			for i := range 40 {
				err := s.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
					return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{{Op: stores.Insert, Entity: all[3], Key: stores.NewInt(int64(100 + 100*w + i)), Set: []stores.Assign{{Field: 1, Value: stores.NewInt(1)}}}}})
				})
				if err != nil && !errors.Is(err, stores.ErrConflict) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	conn, err := pgx.Connect(ctx, db.Admin)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	var rows, wrong int
	err = conn.QueryRow(ctx, `SELECT count(*), count(*) FILTER (WHERE e3.verbatim_root <> e1.up) FROM chain.e3 JOIN chain.e2 ON e2.id = e3.up JOIN chain.e1 ON e1.id = e2.up`).Scan(&rows, &wrong)
	if err != nil || wrong != 0 || rows < 50 {
		t.Errorf("%d of %d rows have the owner of before: %v", wrong, rows, err)
	}
}

// What a condition says of whose a row is costs nothing beside the scope: the row
// keeps it. The rows on the way are gone to only where they are to be held.
func TestWhoseARowIsTakesNoJoin(t *testing.T) {
	t.Parallel()
	db := pgtest.Database(t)
	s, all := openChain(t, db), chain(5)
	migrateChain(t, s, all)
	fillChain(t, s, all)
	last := all[4]
	n := len(last.Scope) - 1
	whose := stores.Path{Steps: last.Scope[:n], Field: last.Scope[n].Field}
	key := stores.Path{Field: last.Key}
	for held, want := range map[int64]string{1: "1", 2: "2", 3: ""} {
		find := stores.Find{Entity: last, Select: []stores.Path{key, whose}, Where: &stores.Cond{Op: stores.Eq, Path: whose, Value: stores.NewInt(held)}, Order: []stores.Order{{Path: whose}}}
		for _, scope := range []stores.Scope{{All: true}, {Holds: map[string][]stores.Value{"e0": {stores.NewInt(1), stores.NewInt(2)}}}} {
			look := func(r *reader, joins bool) {
				var got []string
				rows, err := r.Find(t.Context(), find)
				if err != nil {
					t.Fatal(err)
				}
				for _, row := range rows {
					got = append(got, row[0].Text())
					if row[1] != stores.NewInt(held) {
						t.Errorf("row %s of %d says that it is of %s", row[0].Text(), held, row[1].Text())
					}
				}
				if strings.Join(got, " ") != want {
					t.Errorf("of %d there are %q, want %q", held, got, want)
				}
				ops, _, err := r.finding(t.Context(), find, &rows)
				if err != nil {
					t.Fatal(err)
				}
				if sql := ops[len(ops)-1].sql; strings.Contains(sql, "JOIN") != joins {
					t.Errorf("joins %v, want %v: %s", !joins, joins, sql)
				}
			}
			find.Hold = stores.Loose
			if err := s.View(t.Context(), scope, func(r stores.Reader) error { look(r.(*reader), false); return nil }); err != nil {
				t.Fatal(err)
			}
			find.Hold = stores.Shared
			if err := s.Update(t.Context(), scope, func(x stores.Tx) error { look(&x.(*tx).reader, true); return nil }); err != nil {
				t.Fatal(err)
			}
		}
	}
}
