package postgres

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"verbatim/stores"
)

// text is a statement in the making: its words and, in step, its arguments.
type text struct {
	words []byte
	args  []any // strings, nils and slots: every argument is written with its type
	*shared
}

// A shared is what the parts of one statement share.
type shared struct {
	seq     int      // of aliases
	trusted []string // tables that are taken to have no marks: see mark.go
	values  int      // how many values of the question were written
	scope   *scoped  // that it is asked within, where it speaks of it
}

// A slot stands for an argument that the text of a statement does not depend on.
type slot struct {
	of   slotOf
	n    int  // which value
	part int  // of a key that has several, counted from 1
	root root // whose keys
}

type slotOf uint8

const (
	slotValue     slotOf = iota // the nth value
	slotText                    // the same as a name
	slotItems                   // the items of the nth value
	slotPrincipal               // who asks
	slotKey                     // the one row of a root that the scope holds
	slotKeys                    // all of them
)

// A given is what the slots of a statement are filled with.
type given struct {
	*scoped
	values []operand
}

// An operand is one value, or a list of them.
type operand struct {
	value stores.Value
	parts []stores.Value // of a key that has several
	items []stores.Value // without nulls
}

// fill gives the arguments of a statement.
func (g given) fill(args []any) []any {
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

// hole stands for an argument until the statement is whole and its arguments
// are numbered. No name and no word of ours holds it.
const hole = "\x00"

// longText is the length from which a text is not kept.
const longText = 16 << 10

// rooms are buffers in which statements were written. The next ones are written into them.
var rooms = sync.Pool{New: func() any { b := make([]byte, 0, 2048); return &b }}

func newText() *text { return &text{words: (*rooms.Get().(*[]byte))[:0], shared: new(shared)} }

// done gives up what was written. Whoever goes on with the text finds it empty.
func (t *text) done() {
	b := t.words
	if t.words, t.args = nil, nil; cap(b) <= longText {
		rooms.Put(&b)
	}
}

// String is what was written so far.
func (t *text) String() string { return string(t.words) }

// part begins a piece that is written out of turn and joined later.
func (t *text) part() *text { return &text{shared: t.shared} }

// add writes words one after another.
func (t *text) add(words ...string) *text {
	for _, w := range words {
		t.words = append(t.words, w...)
	}
	return t
}

// arg writes a placeholder of a type.
func (t *text) arg(v any, typ string) *text {
	t.add(hole, "::", typ)
	t.args = append(t.args, v)
	return t
}

// join appends a piece with its arguments.
func (t *text) join(p *text) *text {
	t.words = append(t.words, p.words...)
	t.args = append(t.args, p.args...)
	if t.scope == nil {
		t.scope = p.scope // of another statement, that becomes part of this one
	}
	return t
}

// alias makes a name that no other part of the statement has.
func (t *text) alias() string {
	t.seq++
	return "v" + strconv.Itoa(t.seq)
}

// nth numbers the values of a question as they are written.
func (t *text) nth() int {
	t.values++
	return t.values - 1
}

// limit writes how many rows are wanted, in so many words: the planner has to know, to
// find that a plan is good for all that is asked in this form.
func (t *text) limit(n int) *text { return t.add(" LIMIT ", strconv.Itoa(n)) }

// op makes the statement one that can be run; read is called with each row. Nothing may be
// added to the text then.
func (t *text) op(doing string, read func(row) error) op {
	o := op{doing: doing, sql: t.whole(), args: t.filled(), read: read}
	t.done()
	return o
}

// filled are the arguments of a statement that is about nothing but its scope.
func (t *text) filled() []any { return given{scoped: t.scope}.fill(t.args) }

// whole is the statement with its arguments numbered.
func (t *text) whole() string {
	room := rooms.Get().(*[]byte)
	defer rooms.Put(room)
	b, n := (*room)[:0], 0
	for _, w := range t.words {
		if w != hole[0] {
			b = append(b, w)
			continue
		}
		n++
		b = strconv.AppendInt(append(b, '$'), int64(n), 10)
	}
	if len(b) > longText {
		return string(b)
	}
	*room = b
	return wholes.keep(b)
}

// wholes are the statements that were written lately. Most are written again and again.
var wholes spelled

// A spelled keeps each text once.
type spelled struct {
	mu    sync.RWMutex
	texts map[string]string
}

func (s *spelled) keep(b []byte) string {
	s.mu.RLock()
	text, there := s.texts[string(b)]
	s.mu.RUnlock()
	if there {
		return text
	}
	text = string(b)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.texts == nil || len(s.texts) >= mostTexts {
		s.texts = make(map[string]string)
	}
	s.texts[text] = text
	return text
}

// quote writes a name so that it can be nothing but a name.
func quote(name string) string {
	return `"` + strings.ReplaceAll(strings.ReplaceAll(name, hole, ""), `"`, `""`) + `"`
}

// schemaAndName splits a table's name. A table without a schema is in public.
func schemaAndName(table string) (schema, name string) {
	if schema, name, ok := strings.Cut(table, "."); ok {
		return schema, name
	}
	return "public", table
}

// table is the entity's table as a statement names it, with its schema, so that
// nothing else can stand in for it.
func table(e *stores.Entity) string {
	schema, name := schemaAndName(e.Table)
	return quote(schema) + "." + quote(name)
}

// column is a field of the row that alias names, as it is stored.
func column(e *stores.Entity, alias string, field int) string {
	name := quote(e.Fields[field].Column)
	if alias == "" {
		return name
	}
	return alias + "." + name
}

// view is the scope that a transaction reads and writes within.
type view struct {
	*scoped
	shapes map[*stores.Entity]*shape
	epoch  int       // of the shapes
	marked *sync.Map // tables that had marks when somebody looked
	// ajar leaves the engine's own condition out, so that a test can see that
	// row-level security holds alone.
	ajar bool
}

// datum is a field of a row in the form in which values are compared.
func (v *view) datum(e *stores.Entity, alias string, field int) string {
	return v.shapes[e].datums(alias)[field]
}

// opens reports whether the scope opens every row of an entity.
func (v *view) opens(e *stores.Entity) bool {
	return v.ajar || v.scope.All || e.Access == stores.ForAll
}

// within adds to a condition that the row alias names lies within the scope.
func (v *view) within(t *text, e *stores.Entity, alias string, many bool) {
	if v.opens(e) {
		return
	}
	t.add(" AND ")
	if v.shapes[e].rooted {
		at, _ := ending(e)
		v.last(t, e, at, alias+"."+rootColumn)
		v.shown(t, e, func(f int) string { return v.datum(e, alias, f) })
		return
	}
	v.scopeOf(t, e, many, func(f int) string { return v.datum(e, alias, f) })
}

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
		key := v.datum(first.To, alias, first.To.Key)
		if many {
			t.add(col(first.Field), " IN (SELECT ", key)
		} else {
			t.add("EXISTS (SELECT 1")
		}
		t.add(" FROM ", table(first.To), " ", alias)
		at := first.To
		for _, step := range e.Scope[1 : n-1] {
			next := t.alias()
			t.add(" JOIN ", table(step.To), " ", next, " ON ", v.datum(step.To, next, step.To.Key), " = ", v.datum(at, alias, step.Field))
			at, alias = step.To, next
		}
		t.add(" WHERE ")
		if !many {
			t.add(key, " = ", col(first.Field), " AND ")
		}
		v.last(t, e, at, v.datum(at, alias, e.Scope[n-1].Field))
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
		v.itself(hidden, at, func(f int) string { return v.datum(at, alias, f) })
	}
	own()
	where := t.part().add(" WHERE ", v.datum(at, alias, at.Key), " = ", col(e.Scope[0].Field))
	for _, step := range e.Scope[1:n] {
		next := t.alias()
		t.add(" JOIN ", table(step.To), " ", next, " ON ", v.datum(step.To, next, step.To.Key), " = ", v.datum(at, alias, step.Field))
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
		t.add(" AND ", col(f), " IS TRUE")
	}
}

// last writes the condition on the field where the scope path of e ends.
func (v *view) last(t *text, e, at *stores.Entity, col string) {
	step := e.Scope[len(e.Scope)-1]
	if e.Access == stores.ByPrincipal {
		if v.scope.Principal == "" {
			t.add("false")
			return
		}
		t.scope = v.scoped
		t.add(col, " = ").arg(slot{of: slotPrincipal}, "text")
		return
	}
	v.holds(t, col, step.To, at.Fields[step.Field].Holds())
}

// holds writes that a column is the key of a row of an entity that the scope holds.
func (v *view) holds(t *text, col string, of *stores.Entity, kind stores.Kind) {
	t.scope = v.scoped
	at := root{of.Name, kind}
	switch v.held[at].n {
	case 0:
		t.add("false")
	case 1:
		t.add(col, " = ").arg(slot{of: slotKey, root: at}, typeOf(kind))
	default:
		t.add(col, " = ANY (").arg(slot{of: slotKeys, root: at}, typeOf(kind)+"[]").add(")")
	}
}
