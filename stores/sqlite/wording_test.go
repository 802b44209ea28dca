package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"verbatim/stores"
	"verbatim/stores/storetest"
)

// A statement that was worded for one change carries out others of its shape.
// Nobody may be able to tell: changes made in one transaction come to what they
// come to in a transaction each, and what one of them is refused for is what it
// would be refused for alone, a row out of scope above all (SAFE-A1).
func TestStatementsAreWordedForTheirShape(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	owner := &stores.Entity{Name: "owner", Table: "w.owners", Managed: true, Fields: []stores.Field{{Name: "id", Column: "id", Kind: stores.UUID}}}
	node := &stores.Entity{Name: "node", Table: "w.nodes", Managed: true}
	node.Fields = []stores.Field{
		{Name: "id", Column: "id", Kind: stores.UUID},
		{Name: "owner", Column: "owner", Kind: stores.UUID, Ref: owner, Required: true},
		{Name: "above", Column: "above", Kind: stores.UUID, Ref: node},
		{Name: "worth", Column: "worth", Kind: stores.Decimal},
		{Name: "name", Column: "name", Kind: stores.String},
	}
	node.Scope = []stores.Step{{Field: 1, To: owner}}
	const owners, nodes = 2, 3
	scope := stores.Scope{Principal: "p", Holds: map[string][]stores.Value{"owner": {storetest.BenchKey(1, 0)}}}
	open := func(t *testing.T, name string) *Store {
		s, err := Open(filepath.Join(t.TempDir(), name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		if plan, err := s.Migrate(ctx, []*stores.Entity{owner, node}, true); err != nil || len(plan.Problems) > 0 {
			t.Fatal(plan, err)
		}
		var all stores.Batch
		for i := range owners {
			all.Changes = append(all.Changes, stores.Change{Op: stores.Insert, Entity: owner, Key: storetest.BenchKey(1, i)})
		}
		all.Changes = append(all.Changes, stores.Change{Op: stores.Insert, Entity: node, Key: storetest.BenchKey(2, nodes), Set: []stores.Assign{{Field: 1, Value: storetest.BenchKey(1, 1)}}})
		if err := s.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error { return tx.Apply(ctx, all) }); err != nil {
			t.Fatal(err)
		}
		return s
	}
	carryOut := func(s *Store, changes ...stores.Change) error {
		return s.Update(ctx, scope, func(tx stores.Tx) error {
			return tx.Apply(ctx, stores.Batch{Changes: changes})
		})
	}
	verdict := func(err error) error {
		for _, v := range []error{stores.ErrNotFound, stores.ErrConflict, stores.ErrDuplicate, stores.ErrInvalid, stores.ErrReadOnly} {
			if errors.Is(err, v) {
				return v
			}
		}
		return err
	}
	rows := func(s *Store) (all [][]stores.Value) {
		err := s.View(ctx, stores.Scope{All: true}, func(r stores.Reader) (err error) {
			all, err = r.Find(ctx, stores.Find{Entity: node})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	together, alone := open(t, "together.db"), open(t, "alone.db")
	same := func(at func(string, ...any)) {
		if a, b := rows(together), rows(alone); !slices.EqualFunc(a, b, slices.Equal[[]stores.Value]) {
			at("together %v, alone %v", a, b)
		}
	}
	try := func(at func(string, ...any), changes []stores.Change) {
		for i, c := range changes {
			err := carryOut(alone, c)
			if err == nil {
				continue
			}
			if got := carryOut(together, changes[:i+1]...); verdict(got) != verdict(err) {
				at("change %d together: %v; alone: %v", i, got, err)
			}
			changes = changes[:i]
			break
		}
		if err := carryOut(together, changes...); err != nil {
			at("together: %v", err)
		}
		same(at)
	}
	set := func(values ...any) (all []stores.Assign) {
		for i := 0; i < len(values); i += 2 {
			all = append(all, stores.Assign{Field: values[i].(int), Value: values[i+1].(stores.Value)})
		}
		return all
	}
	insert := func(n int, all []stores.Assign) stores.Change {
		return stores.Change{Op: stores.Insert, Entity: node, Key: storetest.BenchKey(2, n), Set: all}
	}
	// One that begins a tree, one that is its own, and one below another.
	try(t.Fatalf, []stores.Change{
		insert(0, set(1, storetest.BenchKey(1, 0))),
		insert(1, set(1, storetest.BenchKey(1, 0), 2, storetest.BenchKey(2, 1))),
		insert(2, set(1, storetest.BenchKey(1, 0), 2, storetest.BenchKey(2, 0), 4, stores.NewString("x"))),
		insert(9, set(1, storetest.BenchKey(1, 1))), // of an owner out of scope
	})
	update := func(n int, all []stores.Assign) stores.Change {
		return stores.Change{Op: stores.Update, Entity: node, Key: storetest.BenchKey(2, n), Set: all}
	}
	// Words that look for no row, and then a row that is somebody else's.
	try(t.Fatalf, []stores.Change{update(0, set(2, storetest.BenchKey(2, 0))), update(1, set(2, storetest.BenchKey(2, nodes)))})
	try(t.Fatalf, []stores.Change{update(0, set(2, stores.Value{})), update(1, set(2, storetest.BenchKey(2, nodes)))})
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(rt, "changes")
		var changes []stores.Change
		value := func(field int) stores.Value {
			switch n := rapid.IntRange(0, 4).Draw(rt, "value"); {
			case field == 1:
				return storetest.BenchKey(1, n/3)
			case n == 0:
				return stores.Value{}
			case field == 2:
				return storetest.BenchKey(2, n-1) // the last is somebody else's
			case field == 3 && n == 1:
				return stores.NewInt(2)
			case field == 3:
				v, _ := stores.ParseDecimal(fmt.Sprint(n, ".50"))
				return v
			}
			return stores.NewString(fmt.Sprint("n", n))
		}
		now := rows(together)
		for range n {
			c := stores.Change{Op: stores.Update, Entity: node, Key: storetest.BenchKey(2, rapid.IntRange(0, nodes-1).Draw(rt, "row"))}
			for f := 1; f < len(node.Fields); f++ {
				if rapid.Bool().Draw(rt, "set") {
					c.Set = append(c.Set, stores.Assign{Field: f, Value: value(f)})
				}
			}
			for _, row := range now {
				if row[0] == c.Key && rapid.Bool().Draw(rt, "guarded") {
					c.Before, c.Guard = row, []int{rapid.IntRange(1, 4).Draw(rt, "guard")}
				}
			}
			if len(c.Set) > 0 {
				changes = append(changes, c)
			}
		}
		try(rt.Fatalf, changes)
	})
}
