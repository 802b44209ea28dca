package sqlite

import (
	"reflect"
	"strings"
	"testing"

	"verbatim/stores"
)

// SAFE-L3, PERF-X3: a column of a table that we keep is named as it is, so that an
// index finds it; one of a table of others is compared by what its values mean.
func TestColumnsOfOurOwnTablesAreNamedAsTheyAre(t *testing.T) {
	t.Parallel()
	for kind := stores.Bool; kind <= stores.JSON; kind++ {
		e := &stores.Entity{Name: "e", Table: "t", Fields: []stores.Field{{Name: "f", Column: "c", Kind: kind}}}
		wrapped := datum(e, "t", 0) != `t."c"`
		switch kind {
		case stores.Time, stores.JSON, stores.Decimal, stores.String:
			if !wrapped {
				t.Errorf("a %s of others is compared as it is spelled", kind)
			}
		default:
			if wrapped {
				t.Errorf("a %s has one spelling: %s", kind, datum(e, "t", 0))
			}
		}
		if e.Managed = true; datum(e, "t", 0) != `t."c"` {
			t.Errorf("a %s of ours: %s", kind, datum(e, "t", 0))
		}
	}
}

// SAFE-L3: lists of any length make few statements: of up to 32 values, one for
// each power of two, and one for all longer ones. No value is lost or added.
func TestListsOfAnyLengthMakeFewStatements(t *testing.T) {
	t.Parallel()
	for n, places := range map[int]int{1: 1, 2: 2, 3: 4, 4: 4, 5: 8, 16: 16, 17: 32, 32: 32} {
		var keys []stores.Value
		var args []stores.Value
		for i := range n {
			keys, args = append(keys, stores.NewInt(int64(i))), append(args, stores.NewInt(int64(i)))
		}
		for len(args) < places {
			args = append(args, stores.NewInt(int64(n-1)))
		}
		q := newText()
		in(q, stores.Int, keys)
		if want := " IN (?" + strings.Repeat(",?", places-1) + ")"; q.String() != want || !reflect.DeepEqual(q.Args, args) {
			t.Errorf("%d values: %s %v", n, q, q.Args)
		}
	}
	for _, c := range []struct {
		kind  stores.Kind
		value stores.Value
		want  string
	}{{stores.Int, stores.NewInt(-7), "-7"}, {stores.String, stores.NewString(`a"b`), `"a\"b"`}, {stores.Decimal, stores.NewInt(3), `"3"`}} {
		keys := make([]stores.Value, 33)
		for i := range keys {
			keys[i] = c.value
		}
		q := newText()
		in(q, c.kind, keys)
		if want := "[" + c.want + strings.Repeat(","+c.want, 32) + "]"; q.String() != " IN (SELECT value FROM json_each(?))" || !reflect.DeepEqual(q.Args, []stores.Value{str(want)}) {
			t.Errorf("%s: %s %v", c.kind, q, q.Args)
		}
	}
}
