package view

import (
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"verbatim/stores"
)

// Changes that are like one another come together, and none passes another that
// it may depend on: the order of the changes of every row stays, and a row comes
// before what refers to it.
func TestChangesAreGroupedInOrder(t *testing.T) {
	t.Parallel()
	text := func(name string, to *stores.Entity) stores.Field {
		return stores.Field{Name: name, Column: name, Kind: stores.String, Ref: to}
	}
	item := &stores.Entity{Name: "item", Managed: true, Fields: []stores.Field{text("id", nil), text("name", nil)}, Unique: [][]int{{1}}}
	loan := &stores.Entity{Name: "loan", Managed: true, Fields: []stores.Field{text("id", nil), text("item", item), text("note", nil)}}
	reminder := &stores.Entity{Name: "reminder", Managed: true, Fields: []stores.Field{text("id", nil), text("loan", loan), text("text", nil)}}
	facts := NewFacts([]*stores.Entity{item, loan, reminder})
	id := func(n int) stores.Value { return stores.NewString(strconv.Itoa(n)) }
	field := func(e *stores.Entity, name string, v stores.Value) stores.Assign {
		return stores.Assign{Field: e.FieldIndex(name), Value: v}
	}
	rapid.Check(t, func(rt *rapid.T) {
		var changes []stores.Change
		n := 100
		for range rapid.IntRange(0, 30).Draw(rt, "changes") {
			n++
			key := id(rapid.IntRange(1, 4).Draw(rt, "row"))
			var c stores.Change
			switch rapid.IntRange(0, 5).Draw(rt, "kind") {
			case 0:
				c = stores.Change{Op: stores.Update, Entity: loan, Key: key, Set: []stores.Assign{field(loan, "note", id(n))}}
			case 1:
				c = stores.Change{Op: stores.Insert, Entity: reminder, Key: id(n), Set: []stores.Assign{field(reminder, "loan", key)}}
			case 2:
				c = stores.Change{Op: stores.Insert, Entity: loan, Key: key, Set: []stores.Assign{field(loan, "item", key)}}
			case 3:
				c = stores.Change{Op: stores.Update, Entity: reminder, Key: id(rapid.IntRange(101, n).Draw(rt, "reminder")), Set: []stores.Assign{field(reminder, "text", id(n))}}
			case 4:
				c = stores.Change{Op: stores.Delete, Entity: reminder, Key: key}
			case 5:
				c = stores.Change{Op: stores.Update, Entity: item, Key: key, Set: []stores.Assign{field(item, "name", id(n))}}
			}
			c.Before = []stores.Value{id(n)} // no two are the same
			changes = append(changes, c)
		}
		sorted := facts.inRuns(changes)
		place := func(all []stores.Change, c *stores.Change) int {
			for i := range all {
				if all[i].Before[0] == c.Before[0] {
					return i
				}
			}
			rt.Fatalf("%v is not there", *c)
			return -1
		}
		if len(sorted) != len(changes) {
			rt.Fatalf("%d of %d", len(sorted), len(changes))
		}
		for i := range changes {
			for j := range changes[:i] {
				a, b := &changes[j], &changes[i]
				refers := func(x, y *stores.Change) bool {
					for _, s := range x.Set {
						if x.Entity.Fields[s.Field].Ref == y.Entity && s.Value == y.Key {
							return y.Op == stores.Insert
						}
					}
					return false
				}
				bound := a.Entity == b.Entity && a.Key == b.Key || refers(a, b) || refers(b, a) ||
					a.Op == stores.Delete || b.Op == stores.Delete || a.Entity == item && b.Entity == item
				if bound && place(sorted, a) > place(sorted, b) {
					rt.Fatalf("%v was to come before %v", *a, *b)
				}
			}
		}
	})
	var changes []stores.Change
	for i := range 10 {
		changes = append(changes,
			stores.Change{Op: stores.Update, Entity: loan, Key: id(i), Set: []stores.Assign{field(loan, "note", id(i))}},
			stores.Change{Op: stores.Insert, Entity: reminder, Key: id(100 + i), Set: []stores.Assign{field(reminder, "loan", id(i))}})
	}
	kinds := ""
	for _, c := range facts.inRuns(changes) {
		kinds += c.Entity.Name[:1]
	}
	if kinds != strings.Repeat("l", 10)+strings.Repeat("r", 10) {
		t.Errorf("they come as %s", kinds)
	}
}
