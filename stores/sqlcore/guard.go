package sqlcore

import (
	"fmt"
	"slices"
	"strings"

	"verbatim/stores"
)

// A Guard says which SQL an author may write for a database.
type Guard struct {
	*Dialect
	*Syntax
	// TableFunctions may be used as tables.
	TableFunctions map[string]bool
	// Schemas says that tables have schemas: "a.b" in quotes is one name, of another
	// table than a.b.
	Schemas bool
}

// A Query is an author's text as tokens. The store walks them and decides what is written for
// each; no other part of the text runs.
type Query struct {
	*Guard
	SQL      stores.SQL
	Entities []*stores.Entity // that palettes declare
	Toks     []Token
	As       []string         // for each token, what is written in its place
	Tables   []*stores.Entity // entities that the query names, in order of first use
	Own      []string         // the author's own common tables, folded, in order
	names    map[*stores.Entity]string
}

// Split splits a query, which has to begin with SELECT or WITH, into tokens.
func (g *Guard) Split(entities []*stores.Entity, q stores.SQL) (*Query, error) {
	toks, err := g.Lex(q.Text)
	if err != nil {
		return nil, err
	}
	p := &Query{Guard: g, SQL: q, Entities: entities, Toks: toks, As: make([]string, len(toks)), names: map[*stores.Entity]string{}}
	for i := range toks {
		p.As[i] = toks[i].Text
	}
	if !toks[0].Is("SELECT", "WITH") {
		return nil, p.Fail(0, "a query begins with SELECT or WITH")
	}
	return p, nil
}

// Fail returns an error about token i.
func (p *Query) Fail(i int, format string, args ...any) error {
	return &stores.SQLError{Offset: p.Toks[i].Start, Msg: fmt.Sprintf(format, args...)}
}

// From reports whether a FROM clause begins at token i. The FROM in x IS NOT DISTINCT FROM y
// begins none.
func (p *Query) From(i int) bool {
	return i > 0 && p.Toks[i].Is("FROM") && !(i > 1 && p.Toks[i-1].Is("DISTINCT") && p.Toks[i-2].Is("IS", "NOT"))
}

// called marks an entity in As until Call has determined its name.
const called = "\x00"

// declared finds an entity by its table, as the palette writes it.
func (p *Query) declared(table string) *stores.Entity {
	for _, e := range p.Entities {
		if strings.EqualFold(e.Table, table) {
			return e
		}
	}
	return nil
}

// Names adds the name at token i to Own. It fails if a table has that name.
func (p *Query) Names(i int) error {
	name := p.Toks[i].Name
	for _, e := range p.Entities {
		if strings.EqualFold(name, e.Table) || strings.EqualFold(name, LastPart(e.Table)) || strings.EqualFold(name, Flat(e)) {
			return p.Fail(i, "%s is the name of a table already", name)
		}
	}
	p.Own = append(p.Own, p.Fold(name))
	return nil
}

// Table reads a table's name at token i and returns its last token. With writing, the last common
// table in Own is still being defined and may not be named: a table that reads itself might never
// end.
func (p *Query) Table(i int, writing bool) (last int, err error) {
	if !p.Toks[i].Naming() {
		return i, p.Fail(i, "a table's name is missing")
	}
	name, last := p.Toks[i].Name, i
	for p.Toks[last+1].Is(".") && p.Toks[last+2].Naming() {
		name += "." + p.Toks[last+2].Name
		last += 2
	}
	own := -1
	if last == i {
		own = slices.Index(p.Own, p.Fold(name))
	}
	switch {
	case p.Toks[last+1].Is("("):
		if own >= 0 || !p.TableFunctions[p.Fold(name)] {
			return i, p.Fail(i, "the function %s cannot stand for a table", name)
		}
		return last, nil
	case own >= 0 && writing && own == len(p.Own)-1:
		return i, p.Fail(i, "%s reads itself", name)
	case own >= 0:
		return last, nil
	}
	e := p.declared(name)
	if p.Schemas && last == i && strings.Contains(name, ".") {
		e = nil
	}
	if e == nil {
		for _, e := range p.Entities {
			if strings.EqualFold(LastPart(e.Table), name) {
				return i, p.Fail(i, "no palette declares the table %s; did you mean %s?", name, e.Table)
			}
		}
		return i, p.Fail(i, "no palette declares the table %s", name)
	}
	if !slices.Contains(p.Tables, e) {
		p.Tables = append(p.Tables, e)
	}
	p.As[i] = called + Flat(e)
	clear(p.As[i+1 : last+1])
	return last, nil
}

// Qualified reads the schema and table before a column, schema.table.column, at token i and
// returns the index of their last token, i if there are none.
func (p *Query) Qualified(i int) int {
	if i+4 < len(p.Toks) && p.Toks[i].Naming() && p.Toks[i+1].Is(".") && p.Toks[i+3].Is(".") {
		if e := p.declared(p.Toks[i].Name + "." + p.Toks[i+2].Name); e != nil {
			p.As[i], p.As[i+1], p.As[i+2] = called+Flat(e), "", ""
			return i + 2
		}
	}
	return i
}

// Call gives every entity its name in the query: the last part of its table's name, so that
// columns can be qualified with it as usual, or the whole name if two would be called the same.
func (p *Query) Call() {
	for _, e := range p.Tables {
		name := LastPart(e.Table)
		for _, other := range p.Tables {
			if other != e && strings.EqualFold(LastPart(other.Table), name) {
				name = Flat(e)
			}
		}
		p.names[e] = name
	}
	for i, s := range p.As {
		flat, is := strings.CutPrefix(s, called)
		if !is {
			continue
		}
		p.As[i] = p.Quote(flat)
		for _, e := range p.Tables {
			if Flat(e) == flat {
				p.As[i] = p.Quote(p.names[e])
			}
		}
	}
}

// Calls reports whether a name in the query means an entity.
func (p *Query) Calls(name string) bool {
	for _, called := range p.names {
		if strings.EqualFold(called, name) {
			return true
		}
	}
	return false
}

// With writes the WITH that binds the name of each entity to its rows within the scope, with its
// declared columns only; column writes a column of the row t. Unless the scope opens every row,
// that part is materialized, so that no expression of the author's is ever computed on a row
// outside the scope.
func With[A, S any](p *Query, t *Text[A, S], v Rows[A, S], column func(e *stores.Entity, field int) string) {
	for i, e := range p.Tables {
		if i == 0 {
			t.Add("WITH ")
		} else {
			t.Add(", ")
		}
		hint := " AS MATERIALIZED (SELECT "
		if v.Opens(e) {
			hint = " AS NOT MATERIALIZED (SELECT "
		}
		t.Name(p.names[e]).Add(hint)
		first := true
		for i := range e.Fields {
			if !p.SQL.Reads(e, i) {
				continue
			}
			if !first {
				t.Add(",")
			}
			first = false
			t.Add(column(e, i), " AS ").Name(e.Fields[i].Column)
		}
		t.Add(" FROM ", p.Dialect.Table(e), " t WHERE ", p.True)
		Within(t, v, e, "t", true)
		t.Add(")")
	}
}

// Scopes returns the scopes that a query is checked within: one that holds a key of every entity,
// because a database leaves out tables that it knows to be empty, and one that opens every row.
func (p *Query) Scopes() []stores.Scope {
	scope := stores.Scope{Principal: "x", Holds: map[string][]stores.Value{}}
	for _, e := range p.Tables {
		if n := len(e.Scope); n > 0 && e.Access == stores.ByPath {
			root := e.Scope[n-1].To
			scope.Holds[root.Name] = []stores.Value{sample(root)}
		}
		scope.Holds[e.Name] = []stores.Value{sample(e)}
	}
	return []stores.Scope{scope, {All: true}}
}

// sample returns some key of an entity.
func sample(e *stores.Entity) stores.Value {
	switch e.Fields[e.Key].Kind {
	case stores.Int:
		return stores.NewInt(0)
	case stores.UUID:
		v, _ := stores.ParseUUID("00000000-0000-0000-0000-000000000000")
		return v
	}
	return stores.NewString("")
}
