package sqlcore

import (
	"fmt"
	"testing"

	"verbatim/stores"
)

// What an index keeps unique, and what it cannot: SAFE-A1, within the root of the scope.
func TestUniqueWithin(t *testing.T) {
	t.Parallel()
	root := &stores.Entity{Fields: make([]stores.Field, 2)}
	child := &stores.Entity{Managed: true, Fields: make([]stores.Field, 4), Scope: []stores.Step{{Field: 1, To: root}}}
	grand := &stores.Entity{Managed: true, Fields: make([]stores.Field, 4), Scope: []stores.Step{{Field: 1, To: child}, {Field: 1, To: root}}, Unique: [][]int{{2}, {1, 3}, {2, 3}}}
	for _, c := range []struct {
		e    *stores.Entity
		set  []int
		want string
	}{{root, []int{1}, "[1] true"}, {child, []int{2}, "[1 2] true"}, {child, []int{1, 2}, "[1 2] true"}, {grand, []int{2}, "[2] false"}, {grand, []int{1, 2}, "[1 2] true"}} {
		if fields, unique := UniqueWithin(c.e, c.set); fmt.Sprint(fields, unique) != c.want {
			t.Errorf("%v: %v %v, want %s", c.set, fields, unique, c.want)
		}
	}
	for field, want := range map[int]string{0: "[]", 1: "[0 2]", 2: "[0 2]", 3: "[2]"} {
		c := &stores.Change{Entity: grand, Set: []stores.Assign{{Field: field}}}
		if got := fmt.Sprint(Unindexed(c)); got != want {
			t.Errorf("a change of field %d touches %s, want %s", field, got, want)
		}
	}
}
