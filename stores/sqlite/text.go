package sqlite

import (
	"strconv"
	"strings"

	"verbatim/stores"
)

// text is a statement in the making: its words and, in step, its arguments.
type text struct {
	strings.Builder
	args  []stores.Value
	slots []slot // the arguments that are of a change, ascending
	seq   *int   // of aliases, shared by the parts of one statement
}

func newText() *text {
	t := &text{seq: new(int)}
	t.Grow(512)
	return t
}

// part begins a piece that is written out of turn and joined later.
func (t *text) part() *text { return &text{seq: t.seq} }

// add writes words one after another.
func (t *text) add(words ...string) *text {
	for _, w := range words {
		t.WriteString(w)
	}
	return t
}

// arg writes a placeholder.
func (t *text) arg(v stores.Value) *text {
	t.WriteByte('?')
	t.args = append(t.args, v)
	return t
}

// of writes a placeholder for what a change has in a slot.
func (t *text) of(c *stores.Change, kind slotKind, at int) *text {
	t.WriteByte('?')
	t.fill(c, kind, at)
	return t
}

// fill is of, for a placeholder that is written elsewhere.
func (t *text) fill(c *stores.Change, kind slotKind, at int) {
	s := slot{arg: len(t.args), kind: kind, at: at}
	t.slots, t.args = append(t.slots, s), append(t.args, s.of(c))
}

// str is a text as an argument.
func str(s string) stores.Value { return stores.NewString(s) }

// join appends a piece with its arguments, none of which is of a change.
func (t *text) join(p *text) *text {
	t.WriteString(p.String())
	t.args = append(t.args, p.args...)
	return t
}

// alias makes a name that no other part of the statement has.
func (t *text) alias() string {
	*t.seq++
	return "v" + strconv.Itoa(*t.seq)
}

// quote writes a name so that it can be nothing but a name.
func quote(name string) string {
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// tableName is what an entity's table is called here: SQLite has no schemas.
func tableName(e *stores.Entity) string { return strings.ReplaceAll(e.Table, ".", "_") }

// table is the entity's table as a statement names it. The schema is written, so
// that no common table expression can stand in for it.
func table(e *stores.Entity) string { return "main." + quote(tableName(e)) }

// column is a field of the row that alias names, as it is stored.
func column(e *stores.Entity, alias string, field int) string {
	name := e.Fields[field].Column
	switch {
	case alias == "":
		return quote(name)
	case strings.Contains(name, `"`):
		return alias + "." + quote(name)
	}
	return alias + `."` + name + `"` // as quote has it, in one allocation
}

// raw is a field of a row as it is stored, to be read and not compared.
func raw(e *stores.Entity, alias string, field int) string {
	if field == e.Key && len(e.Parts) > 0 {
		return wholeKey(e, alias)
	}
	return column(e, alias, field)
}

// doubtful reports whether a column may hold what cannot be compared.
func doubtful(e *stores.Entity, field int) bool {
	if e.Managed || field == e.Key && len(e.Parts) > 0 {
		return false
	}
	kind := e.Fields[field].Keeps()
	return kind == stores.Time || kind == stores.JSON || kind == stores.Decimal
}

// readableFunction is a condition on the row t that a doubtful column can be compared.
func readableFunction(e *stores.Entity, field int) string {
	return "verbatim_readable(" + strconv.Itoa(int(e.Fields[field].Keeps())) + "," + column(e, "t", field) + "," + strconv.Itoa(e.Fields[field].Places) + ")"
}

// datum is a field of a row in the spelling that bind writes. In our own
// tables that is how it is stored; in those of others it may have to be made so.
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
		// A table of others may ignore case. Keys and scopes must not.
		return col + " COLLATE BINARY"
	}
	return col
}

// wholeKey is a key of several parts, as stores.NewKey writes it.
func wholeKey(e *stores.Entity, alias string) string {
	parts := make([]string, len(e.Parts))
	for i, f := range e.Parts {
		if parts[i] = datum(e, alias, f); e.Fields[f].Keeps() == stores.String {
			parts[i] = "replace(replace(" + column(e, alias, f) + ", '~', '~0'), '/', '~1')"
		}
	}
	return "(" + strings.Join(parts, "||'/'||") + ")"
}

// hasKey writes that the row alias names has a key, by its parts if it has several.
func hasKey(t *text, e *stores.Entity, alias string, write func(part int)) {
	for i, f := range e.KeyFields() {
		if i > 0 {
			t.add(" AND ")
		}
		t.add(datum(e, alias, f), " = ")
		write(i)
	}
}

// hasKeyOf is hasKey for a key that is at hand; a key that is none finds no row.
func hasKeyOf(t *text, e *stores.Entity, alias string, key stores.Value) {
	parts, ok := e.PartsOf(key)
	if !ok {
		t.add("0")
		return
	}
	hasKey(t, e, alias, func(part int) { t.arg(parts[part]) })
}

// view is the scope that a transaction reads and writes within.
type view struct {
	scope stores.Scope
}

// opens reports whether the scope opens every row of an entity.
func (v *view) opens(e *stores.Entity) bool { return v.scope.All || e.Access == stores.ForAll }

// scopeOf writes the condition that a row of e lies within a scope that does not
// open every row of e; col gives a field of that row. For one row, the condition
// follows the row's references; for many, it begins at the rows held, so that the
// indexes on references lead from there.
func (v *view) scopeOf(t *text, e *stores.Entity, many bool, col func(field int) string) {
	switch n := len(e.Scope); {
	case n == 0:
		v.holds(t, col(e.Key), e, e.Fields[e.Key].Kind)
	case n == 1:
		v.last(t, e, e, col(e.Scope[0].Field))
	default:
		first := e.Scope[0]
		alias := t.alias()
		key := datum(first.To, alias, first.To.Key)
		if many {
			t.add(col(first.Field), " IN (SELECT ", key)
		} else {
			t.add("EXISTS (SELECT 1")
		}
		t.add(" FROM ", table(first.To), " ", alias)
		at := first.To
		for _, step := range e.Scope[1 : n-1] {
			next := t.alias()
			t.add(" JOIN ", table(step.To), " ", next, " ON ", datum(step.To, next, step.To.Key), " = ", column(at, alias, step.Field))
			at, alias = step.To, next
		}
		t.add(" WHERE ")
		if !many {
			t.add(key, " = ", col(first.Field), " AND ")
		}
		v.last(t, e, at, datum(at, alias, e.Scope[n-1].Field))
		t.add(")")
	}
	v.shown(t, e, col)
}

// shown adds to the condition of the scope that nothing hides a row of e, and
// none of those on its way to its owner.
func (v *view) shown(t *text, e *stores.Entity, col func(field int) string) {
	v.itself(t, e, col)
	n := e.Hides()
	if n < 1 {
		return
	}
	at, alias := e.Scope[0].To, t.alias()
	t.add(" AND EXISTS (SELECT 1 FROM ", table(at), " ", alias)
	hidden := t.part()
	own := func() {
		v.itself(hidden, at, func(f int) string { return datum(at, alias, f) })
	}
	own()
	where := t.part().add(" WHERE ", datum(at, alias, at.Key), " = ", col(e.Scope[0].Field))
	for _, step := range e.Scope[1:n] {
		next := t.alias()
		t.add(" JOIN ", table(step.To), " ", next, " ON ", datum(step.To, next, step.To.Key), " = ", column(at, alias, step.Field))
		at, alias = step.To, next
		own()
	}
	t.join(where).join(hidden).add(")")
}

// itself adds that a row does not hide itself.
func (v *view) itself(t *text, e *stores.Entity, col func(field int) string) {
	if v.opens(e) {
		return
	}
	for _, f := range e.Visible {
		t.add(" AND ", col(f), " = 1")
	}
}

// last writes the condition on the field where the scope path of e ends.
func (v *view) last(t *text, e, at *stores.Entity, col string) {
	step := e.Scope[len(e.Scope)-1]
	if e.Access == stores.ByPrincipal {
		if v.scope.Principal == "" {
			t.add("0")
			return
		}
		t.add(col, " = ").arg(str(v.scope.Principal))
		return
	}
	v.holds(t, col, step.To, at.Fields[step.Field].Holds())
}

// holds writes that a column is the key of a row of root that the scope holds.
func (v *view) holds(t *text, col string, root *stores.Entity, kind stores.Kind) {
	keys := v.scope.Holds[root.Name]
	if len(keys) == 0 {
		t.add("0")
		return
	}
	t.add(col)
	in(t, kind, keys)
}

// in writes membership in a list of values, none of them null. The lengths are
// few, so that statements stay prepared.
func in(t *text, kind stores.Kind, keys []stores.Value) {
	if len(keys) > 32 {
		// Columns and JSON keep these kinds alike but for instants and durations.
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
		t.add(" IN (SELECT value FROM json_each(").arg(str(string(append(b, ']')))).add("))")
		return
	}
	size := 1
	for size < len(keys) {
		size *= 2
	}
	t.add(" IN (")
	for i := range size {
		if i > 0 {
			t.add(",")
		}
		t.arg(kept(kind, keys[min(i, len(keys)-1)]))
	}
	t.add(")")
}
