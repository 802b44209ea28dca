package view

import (
	"strings"
	"testing"

	"verbatim/stores"
)

// What was read ahead is dropped by every change after which it may be something
// else, of whichever row, and kept by others.
func TestWhatWasReadAheadIsDroppedByWhatTouchesIt(t *testing.T) {
	t.Parallel()
	field := func(name string, to *stores.Entity) stores.Field {
		return stores.Field{Name: name, Column: name, Kind: stores.String, Ref: to}
	}
	owner := &stores.Entity{Name: "owner", Managed: true, Fields: []stores.Field{field("id", nil), field("name", nil), field("town", nil)}}
	thing := &stores.Entity{Name: "thing", Managed: true, Fields: []stores.Field{field("id", nil), field("owner", owner), field("other", owner)}}
	part := &stores.Entity{Name: "part", Managed: true, Fields: []stores.Field{field("id", nil), field("thing", thing)}}
	hidden := &stores.Entity{Name: "hidden", Managed: true, Fields: []stores.Field{field("id", nil), field("shown", nil)}, Visible: []int{1}}
	theirs := &stores.Entity{Name: "theirs", Fields: []stores.Field{field("id", nil), field("x", nil)}}
	toOwner := []stores.Step{{Field: 1, To: owner}}
	paths := map[string]stores.Path{
		"name":  {Steps: toOwner, Field: 1},
		"count": {Count: part, By: 1},
		"marks": {Steps: toOwner, Marks: true},
	}
	change := func(op stores.Op, e *stores.Entity, field int) *stores.Change {
		return &stores.Change{Op: op, Entity: e, Key: stores.NewString("k"), Set: []stores.Assign{{Field: field, Value: stores.NewString("v")}}}
	}
	for _, c := range []struct {
		name   string
		change *stores.Change
		left   string
	}{
		{"the field at the end", change(stores.Update, owner, 1), "count"},
		{"another field of the row at the end", change(stores.Update, owner, 2), "count name"},
		{"the reference on the way", change(stores.Update, thing, 1), "count"},
		{"another reference", change(stores.Update, thing, 2), "count marks name"},
		{"a row that is counted", change(stores.Insert, part, 1), "marks name"},
		{"a row that hides itself", change(stores.Update, hidden, 1), ""},
		{"a deleted row", change(stores.Delete, part, 1), ""},
		{"a table of others", change(stores.Update, theirs, 1), ""},
	} {
		v := &View{facts: &Facts{}}
		at := RowKey{thing, stores.NewString("t")}
		v.readAhead = map[RowKey][]pathValue{}
		for _, p := range paths {
			v.readAhead[at] = append(v.readAhead[at], pathValue{path: p, locked: true})
		}
		v.forgets(c.change)
		var names []string
		for _, name := range []string{"count", "marks", "name"} {
			if _, ok := v.Along(at, []stores.Path{paths[name]}, true); ok {
				names = append(names, name)
			}
		}
		left := strings.Join(names, " ")
		if left != c.left {
			t.Errorf("after %s, %q is left of what was read, want %q", c.name, left, c.left)
		}
	}
	v := &View{facts: &Facts{leads: map[Field]bool{{part, 1}: true}}}
	v.readAhead = map[RowKey][]pathValue{{thing, stores.NewString("t")}: {{path: paths["name"]}}}
	if _, ok := v.Along(RowKey{thing, stores.NewString("t")}, []stores.Path{paths["name"]}, true); ok {
		t.Error("what nobody holds is taken for held")
	}
	if v.forgets(change(stores.Update, part, 1)); v.readAhead != nil {
		t.Error("a row that went to another owner left what was read of others")
	}
}
