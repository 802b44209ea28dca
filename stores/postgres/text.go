package postgres

import (
	"slices"
	"strings"
	"sync"

	"verbatim/stores"
	"verbatim/stores/sqlcore"
)

// dialect is PostgreSQL's dialect for sqlcore. Names are case-sensitive.
var dialect = &sqlcore.Dialect{Quote: quote, Table: table, Fold: func(name string) string { return name },
	True: "true", False: "false", Yes: " IS TRUE", Is: " IS NOT DISTINCT FROM ", IsNot: " IS DISTINCT FROM "}

// text is a statement under construction. Its arguments are strings, nils and slots, each written
// with its type.
type text = sqlcore.Text[any, shared]

// Shared is the state that the parts of one statement share.
type shared struct {
	trusted []string // tables that are assumed to have no marks: see mark.go
	scope   *scoped  // the scope that it runs within, if it depends on one
}

func newText() *text { return sqlcore.NewText[any, shared](sqlcore.Numbered) }

// include appends another statement, which becomes part of this one.
func include(t, p *text) *text {
	if t.Own.scope == nil {
		t.Own.scope = p.Own.scope
	}
	t.Join(p)
	p.Done()
	return t
}

// A slot stands for an argument that the text of a statement does not depend on.
type slot struct {
	of   slotOf
	n    int  // which value
	part int  // of a key that has several parts, counted from 1
	root root // root of the keys
}

type slotOf uint8

const (
	slotValue     slotOf = iota // the nth value
	slotText                    // the nth value as text, for a name
	slotItems                   // the items of the nth value
	slotPrincipal               // the caller
	slotKey                     // the one row of a root that the scope holds
	slotKeys                    // all rows of a root that the scope holds
)

// slotValues are the values for the slots of a statement.
type slotValues struct {
	*scoped
	values []operand
}

// An operand is one value, or a list of them.
type operand struct {
	value stores.Value
	parts []stores.Value // of a key that has several parts
	items []stores.Value // without nulls
}

// fill replaces slots in the arguments of a statement by their values.
func (g slotValues) fill(args []any) []any {
	i := slices.IndexFunc(args, func(a any) bool { _, is := a.(slot); return is })
	if i < 0 {
		return args
	}
	filled := slices.Clone(args)
	for ; i < len(filled); i++ {
		s, is := filled[i].(slot)
		if !is {
			continue
		}
		switch s.of {
		case slotValue:
			if filled[i] = encode(g.values[s.n].value); s.part > 0 {
				filled[i] = encode(g.values[s.n].parts[s.part-1])
			}
		case slotText:
			filled[i] = g.values[s.n].value.Text()
		case slotItems:
			filled[i] = array(g.values[s.n].items)
		case slotPrincipal:
			filled[i] = g.scope.Principal
		case slotKey:
			filled[i] = g.held[s.root].one
		case slotKeys:
			filled[i] = g.held[s.root].all
		}
	}
	return filled
}

// opOf makes a statement ready to run; read is called with each row. Nothing may be added to the
// text afterwards.
func opOf(t *text, doing string, read func(row) error) op {
	return op{doing: doing, sql: t.Whole(), args: filled(t), read: read}
}

// filled returns the arguments of a statement whose slots depend on its scope alone.
func filled(t *text) []any { return slotValues{scoped: t.Own.scope}.fill(t.Args) }

// quote quotes a name so that it can be nothing but a name.
func quote(name string) string {
	return `"` + strings.ReplaceAll(strings.ReplaceAll(name, string(rune(sqlcore.Numbered)), ""), `"`, `""`) + `"`
}

// schemaAndName splits a table's name. A table without a schema is in public.
func schemaAndName(table string) (schema, name string) {
	if schema, name, ok := strings.Cut(table, "."); ok {
		return schema, name
	}
	return "public", table
}

// table is the entity's table as a statement names it, with its schema, so that no other table
// can be meant.
func table(e *stores.Entity) string {
	schema, name := schemaAndName(e.Table)
	return quote(schema) + "." + quote(name)
}

// column is a field of the row with an alias, as it is stored.
func column(e *stores.Entity, alias string, field int) string {
	name := quote(e.Fields[field].Column)
	if alias == "" {
		return name
	}
	return alias + "." + name
}

// A view is the scope that a transaction reads and writes within.
type view struct {
	*scoped
	shapes map[*stores.Entity]*shape
	epoch  int       // number of the shapes
	marked *sync.Map // tables that are known to have marks
	// ajar leaves the engine's own condition out, so that a test can see that row-level security
	// suffices alone.
	ajar bool
}

// Datum implements sqlcore.Rows.
func (v *view) Datum(e *stores.Entity, alias string, field int) string {
	return v.shapes[e].datums(alias)[field]
}

// told is Datum for a value that is returned: reading it never fails in the server.
func (v *view) told(e *stores.Entity, alias string, field int) string {
	if as := v.shapes[e].columns[field].tells; as != "" {
		return fill(as, alias+"."+v.shapes[e].quoted[field])
	}
	return v.Datum(e, alias, field)
}

// Follows implements sqlcore.Rows.
func (v *view) Follows(e *stores.Entity, alias string, field int) string {
	return v.Datum(e, alias, field)
}

// Spells implements sqlcore.Rows.
func (v *view) Spells() *sqlcore.Dialect { return dialect }

// Opens implements sqlcore.Rows.
func (v *view) Opens(e *stores.Entity) bool {
	return v.ajar || v.scope.All || e.Access == stores.ForAll
}

// Keeps implements sqlcore.Rows: see root.go.
func (v *view) Keeps(e *stores.Entity, alias string) string {
	if v.shapes[e].rooted {
		return alias + "." + rootColumn
	}
	return ""
}

// Principal implements sqlcore.Rows.
func (v *view) Principal(t *text, col string) {
	if v.scope.Principal == "" {
		t.Add(dialect.False)
		return
	}
	t.Own.scope = v.scoped
	t.Add(col, " = ").Arg(slot{of: slotPrincipal}, "::text")
}

// Holds implements sqlcore.Rows.
func (v *view) Holds(t *text, col string, of *stores.Entity, kind stores.Kind) {
	t.Own.scope = v.scoped
	at := root{of.Name, kind}
	switch v.held[at].n {
	case 0:
		t.Add(dialect.False)
	case 1:
		t.Add(col, " = ").Arg(slot{of: slotKey, root: at}, "::", typeOf(kind))
	default:
		t.Add(col, " = ANY (").Arg(slot{of: slotKeys, root: at}, "::", typeOf(kind), "[]").Add(")")
	}
}
