package postgres

import (
	"slices"
	"sync"
	"sync/atomic"

	"verbatim/stores"
	"verbatim/stores/sqlcore"
)

// Most questions are asked again and again with other values: a verb asks the same ones each time
// it is used. The text of a statement is written once for all questions of one form, with slots
// for the arguments that differ.
//
// Two Finds have the same form if they differ only in the values that conditions compare with;
// the kinds of these are part of the form. The text depends on more: how much the scope holds,
// what is locked, and what is known of tables. A text is used while all of that is as it was when
// it was written.

// A prepared caches the texts of statements. Its zero value is empty.
type prepared struct {
	mu    sync.RWMutex
	texts map[textKey][]*statementOf
	n     int
}

// mostTexts is how many are cached: more than that are not asked again and again.
const mostTexts = 2000

// A textKey is the part of a question that is cheap to compare.
type textKey struct {
	entity *stores.Entity
	scope  string // its shape
	form   uint64 // a digest of the rest of the question
	as     asked
}

// asked holds the circumstances in which a question is asked.
type asked struct {
	most int // rows, of a Find
	hold stores.Hold
	has  bool // the rows that it asks for are locked already
	ajar bool
	bare bool // marks are read in any case
}

// A statementOf is the text of all questions of one form.
type statementOf struct {
	find  stores.Find // without values; nil for rows that are read by their keys
	kinds []byte      // the kinds of the values
	epoch int

	sql     string
	args    []any
	columns []stores.Kind
	lists   []listed
	ways    []lockOf
	trusted []string // tables that it assumes to have no marks
	doubts  int      // the column that tells whether one has marks, -1 without one

	rows atomic.Int32 // of the last answer: the next is expected to be as long
}

// A lockOf is a statement that locks the rows that another will find.
type lockOf struct {
	alias  string
	entity *stores.Entity
	sql    string // "" if the table is locked and not the row
	args   []any
}

// find returns the cached statement for a question, nil if there is none.
func (p *prepared) find(at textKey, v *view, same func(*statementOf) bool) *statementOf {
	p.mu.RLock()
	defer p.mu.RUnlock()
	for _, st := range p.texts[at] {
		if st.epoch == v.epoch && same(st) && !slices.ContainsFunc(st.trusted, v.hasMarks) {
			return st
		}
	}
	return nil
}

// keep caches a statement in place of any other for the same question.
func (p *prepared) keep(at textKey, st *statementOf, same func(*statementOf) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.texts == nil || p.n >= mostTexts {
		p.texts, p.n = make(map[textKey][]*statementOf), 0
	}
	all := slices.DeleteFunc(slices.Clone(p.texts[at]), same)
	p.n += len(all) + 1 - len(p.texts[at])
	p.texts[at] = append(all, st)
}

// Forms are compared by a digest (FNV-1a) of what is known without looking into entities, and
// then in full.
type digest uint64

func (d *digest) add(n int) { *d = (*d ^ digest(n)) * 1099511628211 }

func (d *digest) path(p *stores.Path) {
	for i := range p.Steps {
		d.add(p.Steps[i].Field)
	}
	d.add(p.Field)
	if p.Count != nil {
		d.add(p.By + 1<<16)
	}
	if p.Marks {
		d.add(1 << 17)
	}
}

// A question is a Find, with the digest and the kinds that make up its form.
type question struct {
	digest
	values []operand
	kinds  []byte // of the values, in the order in which conditions stand
	odd    bool   // something is wrong with it; writing its statement will return the error
}

// ask reads a Find, its lists first.
func (q *question) ask(f *stores.Find) {
	for i := range f.Select {
		q.path(&f.Select[i])
	}
	for i := range f.Order {
		q.path(&f.Order[i].Path)
	}
	for i := range f.Lists {
		l := &f.Lists[i]
		q.path(&l.By)
		q.ask(&stores.Find{Entity: l.Entity, Select: l.Select, Where: l.Where, Order: l.Order})
	}
	if f.Where != nil {
		q.cond(f.Entity, f.Where)
	}
}

func (q *question) cond(e *stores.Entity, c *stores.Cond) {
	q.add(int(c.Op) + 1<<18)
	for i := range c.Kids {
		q.cond(e, &c.Kids[i])
	}
	switch c.Op {
	case stores.Eq, stores.Ne, stores.Lt, stores.Le, stores.Gt, stores.Ge:
		q.path(&c.Path)
		if c.Other != nil {
			q.path(c.Other)
			return
		}
		q.value(operand{value: c.Value}, byte(c.Value.Kind()))
	case stores.Contains, stores.Starts, stores.Ends, stores.Same:
		lower := 0
		if c.Lower {
			lower = 1
		}
		q.add(lower)
		q.path(&c.Path)
		q.value(operand{value: c.Value}, byte(c.Value.Kind()))
	case stores.In:
		q.path(&c.Path)
		q.value(itemsOf(e, c, &q.odd))
	}
}

func (q *question) value(v operand, kind byte) {
	q.values, q.kinds = append(q.values, v), append(q.kinds, kind)
	q.add(int(kind))
}

// The bits that belong to the form of an In list, besides the fact that it is one.
const (
	withNull = 1 << 6
	withSome = 1 << 7
)

// itemsOf returns the items of the list of an In condition.
func itemsOf(e *stores.Entity, c *stores.Cond, odd *bool) (v operand, form byte) {
	kind := stores.Int
	if c.Path.Count == nil {
		at, field := sqlcore.Reached(e, c.Path)
		if at == nil || field < 0 || field >= len(at.Fields) {
			*odd = true
			return v, 0
		}
		kind = at.Fields[field].Keeps()
	}
	items, err := c.Value.Items(kind)
	*odd = *odd || err != nil
	v.items = slices.DeleteFunc(items, stores.Value.IsNull)
	form = byte(stores.JSON)
	if len(v.items) < len(items) {
		form |= withNull
	}
	if len(v.items) > 0 {
		form |= withSome
	}
	return v, form
}

// sameFind reports whether two Finds have the same form, apart from the kinds of their values.
func sameFind(a, b *stores.Find) bool {
	return a.Entity == b.Entity && a.Cut == b.Cut && (a.Select == nil) == (b.Select == nil) && slices.EqualFunc(a.Select, b.Select, stores.Path.Is) &&
		slices.EqualFunc(a.Order, b.Order, sameOrder) && sameCond(a.Where, b.Where) &&
		slices.EqualFunc(a.Lists, b.Lists, func(l, m stores.List) bool {
			return l.Entity == m.Entity && l.By.Is(m.By) && slices.EqualFunc(l.Select, m.Select, stores.Path.Is) &&
				slices.EqualFunc(l.Order, m.Order, sameOrder) && sameCond(l.Where, m.Where)
		})
}

func sameOrder(a, b stores.Order) bool { return a.Desc == b.Desc && a.Path.Is(b.Path) }

func sameCond(a, b *stores.Cond) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.Op != b.Op || len(a.Kids) != len(b.Kids) || !a.Path.Is(b.Path) || (a.Other == nil) != (b.Other == nil) || a.Other != nil && !a.Other.Is(*b.Other) {
		return false
	}
	for i := range a.Kids {
		if !sameCond(&a.Kids[i], &b.Kids[i]) {
			return false
		}
	}
	return true
}

// formOf copies a Find without its values, so that nothing in it belongs to the caller.
func formOf(f stores.Find) stores.Find {
	f.Select, f.Order, f.Where, f.Lists = slices.Clone(f.Select), slices.Clone(f.Order), formOfCond(f.Where), slices.Clone(f.Lists)
	for i := range f.Lists {
		l := &f.Lists[i]
		l.Select, l.Order, l.Where, l.Into = slices.Clone(l.Select), slices.Clone(l.Order), formOfCond(l.Where), nil
	}
	return f
}

func formOfCond(c *stores.Cond) *stores.Cond {
	if c == nil {
		return nil
	}
	form := &stores.Cond{Op: c.Op, Path: c.Path, Kids: slices.Clone(c.Kids)}
	if c.Other != nil {
		other := *c.Other
		form.Other = &other
	}
	for i := range form.Kids {
		form.Kids[i] = *formOfCond(&c.Kids[i])
	}
	return form
}
