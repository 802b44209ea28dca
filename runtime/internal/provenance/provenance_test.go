package provenance

import (
	"testing"

	"verbatim/stores"
	"verbatim/verbs"
)

var (
	owner = &stores.Entity{Name: "owner", Table: "club.owners", Fields: []stores.Field{{Name: "id", Column: "id"}, {Name: "note", Column: "note"}, {Name: "name", Column: "owner_name"}}}
	thing = &stores.Entity{Name: "thing", Table: "club.things", Fields: []stores.Field{{Name: "id", Column: "id"}, {Name: "owner", Column: "owner", Ref: owner}}}

	member, keeper = &verbs.Role{Name: "member"}, &verbs.Role{Name: "keeper"}
	theirWords     = verbs.NewOrigin(verbs.FromDocument, "the words of a member")
)

func written() Written {
	return New([]*verbs.Entity{{Store: owner, Fields: []verbs.Field{{}, {WrittenBy: []*verbs.Role{member}}, {}}}, {Store: thing, Fields: make([]verbs.Field, 2)}})
}

func str(s string) stores.Value { return stores.NewString(s) }

// SAFE-S4: a field comes from where it is marked to, and from a record otherwise;
// what others write is untrusted to those who have none of their roles.
func TestAFieldComesFromWhereItIsMarkedAndWhoWritesIt(t *testing.T) {
	t.Parallel()
	letter := verbs.NewOrigin(verbs.FromDocument, "letter.pdf")
	row := func(note stores.Value, marks ...stores.Mark) *stores.Row {
		return &stores.Row{Entity: owner, Values: []stores.Value{str("1"), note, str("Ann")}, Marks: marks}
	}
	marked := stores.Mark{Field: 2, Origin: letter.Mark()}
	for _, c := range []struct {
		name  string
		roles []*verbs.Role
		row   *stores.Row
		field int
		want  verbs.Origin
	}{
		{"a field", []*verbs.Role{keeper}, row(str("x")), 2, OfRecord},
		{"a marked field", []*verbs.Role{keeper}, row(str("x"), marked), 2, verbs.Stored(letter.Mark())},
		{"beside a marked field", []*verbs.Role{keeper}, row(str("x"), marked), 0, OfRecord},
		{"the words of others", []*verbs.Role{keeper}, row(str("x")), 1, OfRecord.Mix(theirWords)},
		{"the words of others, to nobody's role", nil, row(str("x")), 1, OfRecord.Mix(theirWords)},
		{"their own words", []*verbs.Role{keeper, member}, row(str("x")), 1, OfRecord},
		{"no words", []*verbs.Role{keeper}, row(stores.Value{}), 1, OfRecord},
	} {
		if got := written().For(c.roles).Field(c.row, c.field); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	all := written().For(nil).Row(row(str("x"), marked))
	if want := OfRecord.Mix(verbs.Stored(letter.Mark())).Mix(theirWords); all != want {
		t.Errorf("a row is %s, want %s", all, want)
	}
}

// A path is read with the marks of the row at its end; a key has those of the
// reference that leads to it, and a count has none. Marks that nobody can read are
// a document's.
func TestAPathIsReadWithItsMarks(t *testing.T) {
	t.Parallel()
	to := []stores.Step{{Field: 1, To: owner}}
	paths := []stores.Path{{Steps: to, Field: 1}, {Steps: to, Field: 2}, {Steps: to, Field: 0}, {Field: 1}, {Count: thing, By: 1}}
	all, at := WithMarks(thing, paths)
	if len(all) != 7 || !all[5].Marks || len(all[5].Steps) != 1 || !all[6].Marks || len(all[6].Steps) != 0 {
		t.Fatalf("asked for are %+v", all)
	}
	if want := []int{5, 5, 6, 6, -1}; len(at) != 5 || at[0] != want[0] || at[1] != want[1] || at[2] != want[2] || at[3] != want[3] || at[4] != want[4] {
		t.Fatalf("marks stand at %v, want %v", at, want)
	}
	values := []stores.Value{str("x"), str("Ann"), str("1"), str("1"), stores.NewInt(2), {}, {}}
	reader := written().For([]*verbs.Role{keeper})
	for i, want := range []verbs.Origin{OfRecord.Mix(theirWords), OfRecord, OfRecord, OfRecord, OfRecord} {
		if got := reader.Path(thing, paths, at, i, values); got != want {
			t.Errorf("path %d is %s, want %s", i, got, want)
		}
	}
	values[5] = str("no marks at all")
	if got := reader.Path(thing, paths, at, 1, values); got != OfDocument {
		t.Errorf("with marks that cannot be read it is %s", got)
	}
}

// A query may read what its text names, and everything where it says so.
func TestAQueryMayReadWhatItNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sql  string
		want bool
	}{
		{"SELECT note FROM club.owners", true}, {"SELECT o.Note FROM Owners o", true}, {"SELECT * FROM owners", true},
		{"SELECT owner_name FROM owners", false}, {"SELECT note FROM things", false}, {"SELECT COUNT(*) FROM owners", false},
		{"SELECT notes FROM owners", false},
	} {
		q := &verbs.Query{Text: c.sql}
		if got := Reads(q, owner)(1); got != c.want {
			t.Errorf("%s: %t", c.sql, got)
		}
		want := verbs.Origin{}
		if c.want {
			want = theirWords
		}
		if got := written().For([]*verbs.Role{keeper}).Query(q); got != want {
			t.Errorf("%s comes from %s", c.sql, got)
		}
	}
}
