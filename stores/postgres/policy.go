package postgres

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"verbatim/stores"
	"verbatim/stores/sqlcore"
)

// Row-level security is a second lock on our tables: if a condition of the engine's were missing
// or wrong, PostgreSQL would still return only the rows of the scope. The two locks share nothing
// but the entities' scope paths, and the owner columns that PostgreSQL maintains for them; see
// root.go. The policies read the scope from settings, which each of our transactions makes for
// itself and which no author's query can make. Without the settings there are no rows.
//
//	verbatim.all                on for a scope that sees every row
//	verbatim.principal          the principal's name
//	verbatim.holds_cbu_uuid     the keys of cbus that are held, as an array: {"…","…"}
//	verbatim.holds_cbu_integer  those that can be read as integers
//	verbatim.holds_cbu_string   all of them as text
//
// A key is listed under every kind that it can be read as, so that a policy can never fail on a
// key of another kind. The server reads arrays faster than any other list; an earlier version
// passed the scope as one JSON object, which cost each statement more than its rows did.

// holdsSetting names the setting with the keys of a root. The names of settings are
// case-insensitive words: the name of an entity that is no such word is turned into one, with a
// digest that distinguishes it.
func holdsSetting(root string, kind stores.Kind) string {
	word := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '_'
	}, root)
	if word != root {
		word = fmt.Sprintf("%s_%x", word, sha256.Sum256([]byte(root)))[:len(word)+13]
	}
	return "verbatim.holds_" + word + "_" + kind.String()
}

// heldKinds are the kinds of keys that a principal can hold.
var heldKinds = [...]stores.Kind{stores.UUID, stores.Int, stores.String}

// An expression that costs more than reading a setting, and does not depend on the row, stands in
// a SELECT of its own, which PostgreSQL runs once for a statement and not once for a row.
const (
	everyRow     = `pg_catalog.current_setting('verbatim.all', true) = 'on'`
	thePrincipal = `(SELECT NULLIF(pg_catalog.current_setting('verbatim.principal', true), ''))`
)

// heldKeys writes the keys of a root that the scope holds.
func heldKeys(root *stores.Entity, kind stores.Kind) string {
	list := typeOf(kind) + "[]"
	if !slices.Contains(heldKinds[:], kind) {
		return "ARRAY[]::" + list
	}
	return fmt.Sprintf("(SELECT NULLIF(pg_catalog.current_setting('%s', true), '')::%s)::%s", holdsSetting(root.Name, kind), list, list)
}

// A policy is one rule of a table.
type policy struct {
	name    string // with a digest of the rule, so that a changed rule has another name
	command string
	using   string
	check   string
	strict  bool
}

// policies lists the policies of an entity's table.
func (m *migration) policies(e *stores.Entity) []policy {
	list := []policy{{name: "verbatim_open", command: "ALL", using: "true", check: "true"}}
	strict := func(word, command string, using, check bool, rule string) {
		p := policy{command: command, strict: true}
		if using {
			p.using = rule
		}
		if check {
			p.check = rule
		}
		p.name = fmt.Sprintf("verbatim_%s_%x", word, sha256.Sum256([]byte(p.statement(e))))[:len("verbatim__")+len(word)+12]
		list = append(list, p)
	}
	if e.Access == stores.ForAll {
		strict("insert", "INSERT", false, true, everyRow)
		strict("update", "UPDATE", true, true, everyRow)
		strict("delete", "DELETE", true, false, everyRow)
		return list
	}
	// The scope is tested first: PostgreSQL tests in the order that is written, and evaluates no
	// more for a row within the scope.
	strict("scope", "ALL", true, true, m.rule(e)+m.shown(e)+" OR "+everyRow)
	return list
}

// statement writes the statement that creates a policy.
func (p policy) statement(e *stores.Entity) string {
	kind := "PERMISSIVE"
	if p.strict {
		kind = "RESTRICTIVE"
	}
	s := fmt.Sprintf("CREATE POLICY %s ON %s AS %s FOR %s", quote(p.name), table(e), kind, p.command)
	if p.using != "" {
		s += "\n  USING (" + p.using + ")"
	}
	if p.check != "" {
		s += "\n  WITH CHECK (" + p.check + ")"
	}
	return s
}

// rule writes the condition that a row of e lies within the scope of the setting. A row that
// keeps its owner is tested by that; see root.go. Otherwise, if the path begins with a reference
// to a row of ours that vouches for this one, it is enough that this row is visible: its own
// policy tests the rest.
func (m *migration) rule(e *stores.Entity) string {
	n := len(e.Scope)
	own := table(e) // a policy's columns are the row's, named with the table
	switch {
	case n == 0 && e.Access == stores.ByPath:
		return own + "." + quote(e.Fields[e.Key].Column) + " = ANY (" + heldKeys(e, e.Fields[e.Key].Kind) + ")"
	case n == 0:
		return "false"
	case n == 1:
		return m.end(e, e, m.read(e, own, e.Scope[0].Field))
	case rooted(e):
		at, _ := sqlcore.Ending(e)
		return m.end(e, at, own+"."+rootColumn)
	}
	first := e.Scope[0]
	at, alias := first.To, "v1"
	from := table(at) + " " + alias
	where := m.read(at, alias, at.Key) + " = " + m.read(e, own, first.Field)
	if at.Managed && e.Vouches(first.Field) {
		return "EXISTS (SELECT 1 FROM " + from + " WHERE " + where + ")"
	}
	for i, step := range e.Scope[1 : n-1] {
		next := fmt.Sprint("v", i+2)
		from += " JOIN " + table(step.To) + " " + next + " ON " + m.read(step.To, next, step.To.Key) + " = " + m.read(at, alias, step.Field)
		at, alias = step.To, next
	}
	return "EXISTS (SELECT 1 FROM " + from + " WHERE " + where + " AND " + m.end(e, at, m.read(at, alias, e.Scope[n-1].Field)) + ")"
}

// shown completes the rule of an entity: no Visible field hides the row or a row on its scope
// path.
func (m *migration) shown(e *stores.Entity) string {
	itself := func(at *stores.Entity, alias string) (s string) {
		for _, f := range at.Visible {
			s += " AND " + m.read(at, alias, f) + " IS TRUE"
		}
		return s
	}
	own := table(e)
	rule, n := itself(e, own), e.Hides()
	if n < 1 {
		return rule
	}
	at, alias := e.Scope[0].To, "w1"
	from := table(at) + " " + alias
	where := m.read(at, alias, at.Key) + " = " + m.read(e, own, e.Scope[0].Field) + itself(at, alias)
	for i, step := range e.Scope[1:n] {
		next := fmt.Sprint("w", i+2)
		from += " JOIN " + table(step.To) + " " + next + " ON " + m.read(step.To, next, step.To.Key) + " = " + m.read(at, alias, step.Field)
		at, alias = step.To, next
		where += itself(at, alias)
	}
	return rule + " AND EXISTS (SELECT 1 FROM " + from + " WHERE " + where + ")"
}

// end writes the condition on the field where the scope path of e ends.
func (m *migration) end(e, at *stores.Entity, col string) string {
	step := e.Scope[len(e.Scope)-1]
	if e.Access == stores.ByPrincipal {
		return col + " = " + thePrincipal
	}
	return col + " = ANY (" + heldKeys(step.To, at.Fields[step.Field].Holds()) + ")"
}

// read writes a field of a row in the form in which values are compared.
func (m *migration) read(e *stores.Entity, alias string, field int) string {
	col := column(e, alias, field)
	if t := m.tables[e]; t != nil {
		if d, ok := t.declared[e.Fields[field].Column]; ok {
			if f, err := d.form(e.Fields[field].Keeps(), e.Managed); err == nil {
				return f.read(col)
			}
		}
	}
	return col
}
