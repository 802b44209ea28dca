package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"verbatim/stores"
)

// An Odd is a type of column in a table of others, with a value that its field allows, and values
// that the type allows and the field does not. Values are written as SQL literals.
type Odd struct {
	Name  string
	Type  string // as CREATE TABLE declares it
	Field stores.Field
	Good  string
	Odd   []string
}

// Unreadable checks that no value of others takes a row away but its own. open opens a store with
// tables that SQL statements make.
func Unreadable(t *testing.T, odds []Odd, open func(t *testing.T, statements []string) stores.Store) {
	const rows = 3
	places := map[string]func(i int) bool{
		"first": func(i int) bool { return i == 0 }, "middle": func(i int) bool { return i == 1 }, "last": func(i int) bool { return i == rows-1 },
		"all": func(int) bool { return true },
	}
	for n, odd := range odds {
		t.Run(odd.Name, func(t *testing.T) {
			t.Parallel()
			var statements []string
			var tests []func(*testing.T, stores.Store)
			for m, value := range odd.Odd {
				for place, at := range places {
					thing, ref := fmt.Sprintf("thing_%d_%d_%s", n, m, place), fmt.Sprintf("ref_%d_%d_%s", n, m, place)
					statements = append(statements, "CREATE TABLE "+thing+" (id VARCHAR(9) PRIMARY KEY, v "+odd.Type+")",
						"CREATE TABLE "+ref+" (id VARCHAR(9) PRIMARY KEY, thing VARCHAR(9))")
					bad := map[string]bool{}
					for i := range rows {
						key := fmt.Sprintf("k%d", i)
						v := odd.Good
						if at(i) {
							v, bad[key] = value, true
						}
						statements = append(statements, fmt.Sprintf("INSERT INTO %s VALUES ('%s', %s)", thing, key, v), fmt.Sprintf("INSERT INTO %s VALUES ('r%d', '%s')", ref, i, key))
					}
					tests = append(tests, func(t *testing.T, s stores.Store) { oneOdd(t, s, odd, thing, ref, value+" "+place, bad, rows) })
				}
			}
			s := open(t, statements)
			if plan, err := s.Migrate(context.Background(), nil, true); err != nil || len(plan.Problems) > 0 {
				t.Fatal(plan.Problems, err)
			}
			for _, test := range tests {
				test(t, s)
			}
		})
	}
}

// oneOdd reads a table in every way. bad are the keys of the rows that hold a value that cannot be
// read.
func oneOdd(t *testing.T, s stores.Store, odd Odd, table, refs, what string, bad map[string]bool, rows int) {
	ctx, all := context.Background(), stores.Scope{All: true}
	field := odd.Field
	field.Name, field.Column = "v", "v"
	e := &stores.Entity{Name: "thing", Table: table, Place: "p.yaml:1:1", Access: stores.ForAll,
		Fields: []stores.Field{{Name: "id", Column: "id", Kind: stores.String, Required: true}, field}}
	ref := &stores.Entity{Name: "ref", Table: refs, Place: "p.yaml:1:1", Access: stores.ForAll,
		Fields: []stores.Field{{Name: "id", Column: "id", Kind: stores.String, Required: true}, {Name: "thing", Column: "thing", Kind: stores.String, Ref: e}}}
	own, there := stores.Path{Field: 1}, stores.Path{Steps: []stores.Step{{Field: 1, To: e}}, Field: 1}
	mine, key := stores.Path{Field: 0}, stores.Path{Field: 0}
	look := func(f stores.Find) ([][]stores.Value, []stores.Unreadable, error) {
		var dirty []stores.Unreadable
		f.Unreadable = &dirty
		var found [][]stores.Value
		err := s.View(ctx, all, func(r stores.Reader) (err error) {
			dirty = nil
			found, err = r.Find(ctx, f)
			return err
		})
		return found, dirty, err
	}
	check := func(how string, found [][]stores.Value, dirty []stores.Unreadable, err error, prefix string) {
		t.Helper()
		if err != nil {
			t.Errorf("%s, %s: %v", what, how, err)
			return
		}
		var left []string
		for _, u := range dirty {
			left = append(left, u.Key.Text())
			if u.Field != "thing.v" || u.Why == "" || strings.Contains(u.Why, strings.Trim(odd.Odd[0], "'")) && len(odd.Odd[0]) > 4 {
				t.Errorf("%s, %s: %s holds %s", what, how, u.Field, u.Why)
			}
		}
		for i := range rows {
			own, of := fmt.Sprintf("%s%d", prefix, i), fmt.Sprintf("k%d", i)
			is := slices.ContainsFunc(found, func(row []stores.Value) bool { return row[0].Text() == own })
			if is == bad[of] || slices.Contains(left, own) != bad[of] {
				t.Errorf("%s, %s: row %s is found %v, and left out are %q", what, how, own, is, left)
			}
		}
	}
	found, dirty, err := look(stores.Find{Entity: e})
	check("rows", found, dirty, err, "k")
	for _, desc := range []bool{false, true} {
		found, dirty, err = look(stores.Find{Entity: e, Order: []stores.Order{{Path: own, Desc: desc}}})
		check("ordered", found, dirty, err, "k")
		found, dirty, err = look(stores.Find{Entity: ref, Select: []stores.Path{mine, there}, Order: []stores.Order{{Path: there, Desc: desc}}})
		check("ordered by a row referred to", found, dirty, err, "r")
	}
	found, dirty, err = look(stores.Find{Entity: e, Where: &stores.Cond{Op: stores.Ne, Path: own}})
	check("with a value", found, dirty, err, "k")
	found, dirty, err = look(stores.Find{Entity: ref, Select: []stores.Path{mine, there}})
	check("referred to", found, dirty, err, "r")
	var lists [][][]stores.Value
	_, dirty, err = look(stores.Find{Entity: e, Select: []stores.Path{key}, Lists: []stores.List{{Entity: ref, By: stores.Path{Field: 1}, Select: []stores.Path{mine, there}, Into: &lists}}})
	found = nil
	for _, list := range lists {
		found = append(found, list...)
	}
	check("listed", found, dirty, err, "r")
	// A label or an offer has no value there, and every row.
	var blank [][]stores.Value
	err = s.View(ctx, all, func(r stores.Reader) (err error) {
		blank, err = r.Find(ctx, stores.Find{Entity: ref, Select: []stores.Path{mine, there}, Blank: true, Order: []stores.Order{{Path: there}}})
		return err
	})
	if err != nil || len(blank) != rows {
		t.Errorf("%s, blank: %v, %v", what, blank, err)
	}
	for _, row := range blank {
		if row[1].IsNull() != bad["k"+row[0].Text()[1:]] {
			t.Errorf("%s, blank: %v", what, row)
		}
	}
	// The author's own query.
	err = s.View(ctx, all, func(r stores.Reader) (err error) {
		dirty = nil
		found, err = r.SQL(ctx, []*stores.Entity{e}, stores.SQL{Text: "SELECT id, v FROM " + table, Unreadable: &dirty,
			Columns: []stores.Column{{Name: "id", Kind: stores.String}, {Name: "v", Kind: field.Keeps(), Spelling: field.Spelling}}})
		return err
	})
	if err != nil || len(found)+len(dirty) != rows || field.Elem == stores.Null && field.Kind != stores.String && len(dirty) != len(bad) {
		t.Errorf("%s, queried: %v, left out %v, %v", what, found, dirty, err)
	}
	// One row by its key is an error that names the field.
	err = s.View(ctx, all, func(r stores.Reader) error {
		for i := range rows {
			k := fmt.Sprintf("k%d", i)
			_, err := r.Get(ctx, e, stores.NewString(k))
			if u := (*stores.Unreadable)(nil); bad[k] != errors.As(err, &u) || !bad[k] && err != nil {
				t.Errorf("%s, by its key: %v", what, err)
			}
			if bad[k] {
				return nil // the transaction may be over
			}
		}
		return nil
	})
	if err != nil {
		t.Errorf("%s, by its key: %v", what, err)
	}
}
