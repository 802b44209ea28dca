package sqlcore

import (
	"strings"
	"testing"

	"verbatim/stores"
)

// rows speak of rows as no database does: a field that a join follows stands in brackets.
type rows struct {
	open  bool
	keeps *stores.Entity // whose rows keep whose they are
}

var spells = &Dialect{Table: func(e *stores.Entity) string { return e.Table }, False: "no", Yes: " is yes"}

func (r *rows) Spells() *Dialect { return spells }

func (r *rows) Datum(e *stores.Entity, alias string, field int) string {
	return alias + "." + e.Fields[field].Name
}

func (r *rows) Follows(e *stores.Entity, alias string, field int) string {
	return "[" + r.Datum(e, alias, field) + "]"
}

func (r *rows) Opens(e *stores.Entity) bool { return r.open || e.Access == stores.ForAll }

func (r *rows) Keeps(e *stores.Entity, alias string) string {
	if e == r.keeps {
		return alias + ".root"
	}
	return ""
}

func (r *rows) Principal(t *Text[string, none], col string) { t.Add(col, " = ").Arg("who asks") }

func (r *rows) Holds(t *Text[string, none], col string, of *stores.Entity, kind stores.Kind) {
	t.Add(col, " held ").Arg(of.Name, ":", kind.String())
}

// table is an entity with a key, a reference, and a field that can hide its rows.
func table(name string, to *stores.Entity) *stores.Entity {
	e := &stores.Entity{Name: name, Table: name + "s", Fields: []stores.Field{{Name: "id", Kind: stores.Int}, {Name: "up", Kind: stores.Int, Ref: to}, {Name: "shown", Kind: stores.Bool}}}
	if to != nil {
		e.Scope = append([]stores.Step{{Field: 1, To: to}}, to.Scope...)
	}
	return e
}

// SAFE-A1: the condition of the scope goes the whole way to the owner of a row, and past
// everything that can hide it, whatever way it is asked.
func TestConditionsOfTheScope(t *testing.T) {
	t.Parallel()
	owner := table("owner", nil)
	file := table("file", owner)
	page := table("page", file)
	line := table("line", page)
	diary := table("diary", nil)
	diary.Access, diary.Scope = stores.ByPrincipal, []stores.Step{{Field: 1}}
	law := table("law", nil)
	law.Access = stores.ForAll
	for _, c := range []struct {
		rows  *rows
		e     *stores.Entity
		many  bool
		hides *stores.Entity
		want  string
	}{
		{&rows{open: true}, line, false, nil, ""},
		{&rows{}, law, false, nil, ""},
		{&rows{}, owner, false, nil, " AND t.id held ?:integer"},
		{&rows{}, file, true, nil, " AND t.up held ?:integer"},
		{&rows{}, diary, false, nil, " AND t.up = ?"},
		{&rows{}, page, false, nil, " AND EXISTS (SELECT 1 FROM files v1 WHERE v1.id = t.up AND v1.up held ?:integer)"},
		{&rows{}, page, true, nil, " AND t.up IN (SELECT v1.id FROM files v1 WHERE v1.up held ?:integer)"},
		{&rows{}, line, false, nil, " AND EXISTS (SELECT 1 FROM pages v1 JOIN files v2 ON v2.id = [v1.up] WHERE v1.id = t.up AND v2.up held ?:integer)"},
		{&rows{}, line, true, nil, " AND t.up IN (SELECT v1.id FROM pages v1 JOIN files v2 ON v2.id = [v1.up] WHERE v2.up held ?:integer)"},
		{&rows{keeps: line}, line, true, nil, " AND t.root held ?:integer"},
		{&rows{}, file, false, file, " AND t.up held ?:integer AND t.shown is yes"},
		{&rows{}, file, false, owner, " AND t.up held ?:integer AND EXISTS (SELECT 1 FROM owners v1 WHERE v1.id = t.up AND v1.shown is yes)"},
		{&rows{keeps: line}, line, false, line, " AND t.root held ?:integer AND t.shown is yes"},
		{&rows{keeps: line}, line, false, page, " AND t.root held ?:integer AND EXISTS (SELECT 1 FROM pages v1 WHERE v1.id = t.up AND v1.shown is yes)"},
		{&rows{keeps: line}, line, false, file, " AND t.root held ?:integer AND EXISTS (SELECT 1 FROM pages v1 JOIN files v2 ON v2.id = [v1.up] WHERE v1.id = t.up AND v2.shown is yes)"},
	} {
		if c.hides != nil {
			c.hides.Visible = []int{2}
		}
		s := NewText[string, none](Marked)
		Within(s, c.rows, c.e, "t", c.many)
		if c.hides != nil {
			c.hides.Visible = nil
		}
		if got := s.Whole(); got != c.want || strings.Count(got, "?") != len(s.Args) {
			t.Errorf("%s: %s %q\nwant %s", c.e.Name, got, s.Args, c.want)
		}
	}
	s := NewText[string, none](Marked)
	if got := Root(s, &rows{}, line, "t"); got != "(SELECT v2.up FROM pages v1 JOIN files v2 ON v2.id = [v1.up] WHERE v1.id = [t.up])" {
		t.Error(got)
	}
	if got := Root(s, &rows{keeps: line}, line, "t"); got != "t.root" {
		t.Error(got)
	}
	for e, want := range map[*stores.Entity]*stores.Entity{line: file, file: file} {
		if at, field := Ending(e); at != want || field != 1 {
			t.Errorf("the path of %s ends at %v of %s", e.Name, field, at.Name)
		}
	}
	page.Visible = []int{2}
	if Itself(s, &rows{open: true}, page, func(int) string { return "t.shown" }); s.Len() > 0 {
		t.Errorf("an open scope hides rows: %s", s)
	}
}

// A key is asked for by its parts, and what is none finds nothing.
func TestKeysInConditions(t *testing.T) {
	t.Parallel()
	e := table("page", nil)
	parts := table("part", nil)
	parts.Fields[0].Kind, parts.Parts = stores.String, []int{1, 2}
	parts.Fields[2].Kind = stores.String
	for _, c := range []struct {
		e    *stores.Entity
		key  stores.Value
		want string
	}{
		{e, stores.NewInt(7), "t.id = 7"},
		{parts, stores.NewString("7/x"), "t.up = 7 AND t.shown = x"},
		{parts, stores.NewString("7"), "no"},
	} {
		s := NewText[string, none](Marked)
		HasKeyOf(s, &rows{}, c.e, "t", c.key, func(part stores.Value, field int) { s.Add(part.Text()) })
		if got := s.Whole(); got != c.want {
			t.Errorf("%s: %s, want %s", c.key.Text(), got, c.want)
		}
	}
}
