package sqlite

import (
	"strconv"
	"strings"

	"verbatim/stores"
	"verbatim/stores/sqlcore"
)

// dialect is SQLite's dialect for sqlcore.
var dialect = &sqlcore.Dialect{Quote: quote, Table: table, Fold: fold, True: "1", False: "0", Yes: " = 1", Is: " IS ", IsNot: " IS NOT "}

// A text is a statement under construction.
type text = sqlcore.Text[stores.Value, slots]

// slots are the arguments of a statement that come from a change, ascending.
type slots []slot

func newText() *text { return sqlcore.NewText[stores.Value, slots](sqlcore.Marked) }

// put writes a placeholder for the value of a change that belongs in a slot.
func put(t *text, c *stores.Change, kind slotKind, at int) { fill(t.Add("?"), c, kind, at) }

// fill is put, for a placeholder that is written elsewhere.
func fill(t *text, c *stores.Change, kind slotKind, at int) {
	s := slot{arg: len(t.Args), kind: kind, at: at}
	t.Own, t.Args = append(t.Own, s), append(t.Args, s.of(c))
}

// str returns a text as an argument.
func str(s string) stores.Value { return stores.NewString(s) }

// quote quotes a name so that it can be nothing but a name.
func quote(name string) string {
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// tableName is the name of an entity's table here: SQLite has no schemas.
func tableName(e *stores.Entity) string { return sqlcore.Flat(e) }

// table is the entity's table as a statement names it. It includes the schema, so that it cannot
// mean a common table expression.
func table(e *stores.Entity) string { return "main." + quote(tableName(e)) }

// column is a field of the row with an alias, as it is stored.
func column(e *stores.Entity, alias string, field int) string {
	name := e.Fields[field].Column
	switch {
	case alias == "":
		return quote(name)
	case strings.Contains(name, `"`):
		return alias + "." + quote(name)
	}
	return alias + `."` + name + `"` // the same as quote, in one allocation
}

// raw is a field of a row as it is stored, to be read and not compared.
func raw(e *stores.Entity, alias string, field int) string {
	if field == e.Key && len(e.Parts) > 0 {
		return wholeKey(e, alias)
	}
	return column(e, alias, field)
}

// doubtful reports whether a column may hold a value that cannot be compared.
func doubtful(e *stores.Entity, field int) bool {
	if e.Managed || field == e.Key && len(e.Parts) > 0 {
		return false
	}
	kind := e.Fields[field].Keeps()
	return kind == stores.Time || kind == stores.JSON || kind == stores.Decimal
}

// readableFunction writes the condition that a doubtful column of the row with an alias can be
// compared.
func readableFunction(e *stores.Entity, alias string, field int) string {
	return "verbatim_readable(" + strconv.Itoa(int(e.Fields[field].Keeps())) + "," + column(e, alias, field) + "," + strconv.Itoa(e.Fields[field].Places) + ")"
}

// datum is a field of a row in the form that bind writes. Our own tables store that form; for
// other tables it may have to be computed.
func datum(e *stores.Entity, alias string, field int) string {
	if field == e.Key && len(e.Parts) > 0 {
		return wholeKey(e, alias)
	}
	col := column(e, alias, field)
	if e.Managed {
		return col
	}
	if doubtful(e, field) {
		kind := e.Fields[field].Keeps()
		place := strings.ReplaceAll(e.Name+"."+e.Fields[field].Name, "'", "''")
		return canonicalFunction + "(" + strconv.Itoa(int(kind)) + "," + col + ",'" + place + "'," + strconv.Itoa(e.Fields[field].Places) + ")"
	}
	if e.Fields[field].Keeps() == stores.String {
		// Another's table may ignore case. Keys and scopes must not.
		return col + " COLLATE BINARY"
	}
	return col
}

// wholeKey writes a key of several parts, as stores.NewKey does.
func wholeKey(e *stores.Entity, alias string) string {
	parts := make([]string, len(e.Parts))
	for i, f := range e.Parts {
		if parts[i] = datum(e, alias, f); e.Fields[f].Keeps() == stores.String {
			parts[i] = "replace(replace(" + column(e, alias, f) + ", '~', '~0'), '/', '~1')"
		}
	}
	return "(" + strings.Join(parts, "||'/'||") + ")"
}

// hasKey writes the condition that the row with an alias has a key.
func (v *view) hasKey(t *text, e *stores.Entity, alias string, key stores.Value) {
	sqlcore.HasKeyOf(t, v, e, alias, key, func(part stores.Value, _ int) { t.Arg(part) })
}

// A view is the scope that a transaction reads and writes within.
type view struct {
	scope stores.Scope
}

// Spells implements sqlcore.Rows.
func (v *view) Spells() *sqlcore.Dialect { return dialect }

// Datum implements sqlcore.Rows.
func (v *view) Datum(e *stores.Entity, alias string, field int) string { return datum(e, alias, field) }

// Follows implements sqlcore.Rows: it returns the column as it is stored, so that an index on it
// can be used.
func (v *view) Follows(e *stores.Entity, alias string, field int) string {
	return column(e, alias, field)
}

// Opens implements sqlcore.Rows.
func (v *view) Opens(e *stores.Entity) bool { return v.scope.All || e.Access == stores.ForAll }

// Keeps implements sqlcore.Rows: no row here keeps its owner.
func (v *view) Keeps(*stores.Entity, string) string { return "" }

// Principal implements sqlcore.Rows.
func (v *view) Principal(t *text, col string) {
	if v.scope.Principal == "" {
		t.Add(dialect.False)
		return
	}
	t.Add(col, " = ").Arg(str(v.scope.Principal))
}

// Holds implements sqlcore.Rows.
func (v *view) Holds(t *text, col string, of *stores.Entity, kind stores.Kind) {
	keys := v.scope.Holds[of.Name]
	if len(keys) == 0 {
		t.Add(dialect.False)
		return
	}
	in(t.Add(col), kind, keys)
}

// in writes membership in a list of values, none of them null. Few lengths are used, so that
// statements stay prepared.
func in(t *text, kind stores.Kind, keys []stores.Value) {
	if len(keys) > 32 {
		// Columns and JSON store these kinds in the same form, except times and durations.
		b := []byte{'['}
		for i, k := range keys {
			if i > 0 {
				b = append(b, ',')
			}
			if n, ok := number(kept(kind, k)); ok {
				b = strconv.AppendInt(b, n, 10)
			} else {
				b = stores.AppendJSONString(b, spelling(k))
			}
		}
		t.Add(" IN (SELECT value FROM json_each(").Arg(str(string(append(b, ']')))).Add("))")
		return
	}
	size := 1
	for size < len(keys) {
		size *= 2
	}
	t.Add(" IN (")
	for i := range size {
		if i > 0 {
			t.Add(",")
		}
		t.Arg(kept(kind, keys[min(i, len(keys)-1)]))
	}
	t.Add(")")
}
