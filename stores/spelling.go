package stores

import (
	"fmt"
	"slices"
	"strings"
)

// A Spelling is how a column keeps what a field holds, where it keeps it in another
// form: a code as a word or a number of the table's own. Stores turn values at their
// door, so that everything above them has values and nothing below has.
type Spelling struct {
	// Name says what columns hold, for messages: "a code of order-status".
	Name string
	// Kind is that of what columns hold.
	Kind Kind
	// Ordered says that what columns hold stands in the order of the values.
	Ordered bool
	// Digits, of a decimal that is kept as an integer, is how many stand after the point.
	Digits int
	// Store gives what the column holds for a value that is not null, Load the value
	// for what a column holds; ok is false where there is none.
	Store, Load func(v Value) (w Value, ok bool)
}

// NewCodes is the spelling of codes: values is parallel to names, and all of them are
// text or all integers.
func NewCodes(list string, names []string, values []Value) *Spelling {
	stored, named := make(map[Value]Value, len(names)), make(map[Value]Value, len(names))
	for i, name := range names {
		stored[NewString(name)], named[values[i]] = values[i], NewString(name)
	}
	return &Spelling{
		Name: "a code of " + list, Kind: values[0].Kind(),
		Store: func(v Value) (Value, bool) { w, ok := stored[v]; return w, ok },
		Load:  func(v Value) (Value, bool) { w, ok := named[v]; return w, ok },
	}
}

// Keeps returns the kind of value that the field's column holds.
func (f *Field) Keeps() Kind {
	if f.Spelling != nil {
		return f.Spelling.Kind
	}
	return f.Holds()
}

// Stored is what the column holds for a value of the field.
func (f *Field) Stored(v Value) (Value, bool) {
	if f.Spelling == nil || v.IsNull() {
		return v, true
	}
	return f.Spelling.Store(v)
}

// Loaded is the value for what a column holds. The error does not show it.
func (s *Spelling) Loaded(v Value) (Value, error) {
	if s == nil || v.IsNull() {
		return v, nil
	}
	w, ok := s.Load(v)
	if !ok {
		return Value{}, fmt.Errorf("something other than %s", s.Name)
	}
	return w, nil
}

// spelt reports whether columns of the entity keep fields in another form.
func (e *Entity) spelt() bool {
	return slices.ContainsFunc(e.Fields, func(f Field) bool { return f.Spelling != nil })
}

// stored turns what a change sets, and what it guards, into what columns hold.
func (c *Change) stored() error {
	e := c.Entity
	if !e.spelt() {
		return nil
	}
	c.Set, c.Before = slices.Clone(c.Set), slices.Clone(c.Before)
	for i := range c.Set {
		a := &c.Set[i]
		v, ok := e.Fields[a.Field].Stored(a.Value)
		if !ok {
			return fmt.Errorf("%s.%s takes %s: %w", e.Name, e.Fields[a.Field].Name, e.Fields[a.Field].Spelling.Name, ErrInvalid)
		}
		a.Value = v
	}
	for i := range c.Before {
		if v, ok := e.Fields[i].Stored(c.Before[i]); ok {
			c.Before[i] = v
		}
	}
	return nil
}

// Same reports whether two columns keep the same values alike.
func (s *Spelling) Same(o *Spelling) bool {
	return s == o || s != nil && o != nil && s.Name == o.Name && s.Kind == o.Kind
}

// End is the field where a path ends, nil where it ends at a number or at nothing.
func (p *Path) End(e *Entity) *Field {
	for _, s := range p.Steps {
		if e = s.To; e == nil {
			return nil
		}
	}
	if p.Count != nil || p.Marks || p.Field < 0 || p.Field >= len(e.Fields) {
		return nil
	}
	return &e.Fields[p.Field]
}

// spelling is that of the field where a path ends.
func (p *Path) spelling(e *Entity) *Spelling {
	if f := p.End(e); f != nil {
		return f.Spelling
	}
	return nil
}

// Spellings are those of what a Find returns, parallel to it; nil where each value is
// what its column holds.
func (f *Find) Spellings() []*Spelling { return spellingsOf(f.Entity, f.Select) }

// Spellings are those of what a List returns.
func (l *List) Spellings() []*Spelling { return spellingsOf(l.Entity, l.Select) }

func spellingsOf(e *Entity, paths []Path) (all []*Spelling) {
	set := func(i, n int, s *Spelling) {
		if s != nil && all == nil {
			all = make([]*Spelling, n)
		}
		if s != nil {
			all[i] = s
		}
	}
	if paths == nil {
		for i := range e.Fields {
			set(i, len(e.Fields), e.Fields[i].Spelling)
		}
	}
	for i := range paths {
		set(i, len(paths), paths[i].spelling(e))
	}
	return all
}

// Load turns a row of what columns hold into values, and says which cannot be.
func Load(row []Value, as []*Spelling) (field int, err error) {
	for i, s := range as {
		if row[i], err = s.Loaded(row[i]); err != nil {
			return i, err
		}
	}
	return -1, nil
}

// Stored is a Find whose conditions compare with what columns hold.
func (f Find) Stored() (Find, error) {
	where, err := f.Where.stored(f.Entity)
	f.Where = where
	for i := range f.Lists {
		of := f.Lists[i].Where
		only, listErr := of.stored(f.Lists[i].Entity)
		if listErr != nil {
			err = listErr
		}
		if only != of {
			f.Lists = slices.Clone(f.Lists)
			f.Lists[i].Where = only
		}
	}
	return f, err
}

// stored is the condition itself where columns hold the values that it speaks of.
func (c *Cond) stored(e *Entity) (*Cond, error) {
	if c == nil {
		return nil, nil
	}
	if len(c.Kids) > 0 {
		out := c
		for i := range c.Kids {
			kid, err := c.Kids[i].stored(e)
			if err != nil {
				return c, err
			}
			if kid != &c.Kids[i] {
				if out == c {
					out = &Cond{Op: c.Op, Kids: slices.Clone(c.Kids)}
				}
				out.Kids[i] = *kid
			}
		}
		return out, nil
	}
	if c.Op < Eq {
		return c, nil
	}
	if whole := c.byParts(e); whole != nil {
		return whole, nil
	}
	s := c.Path.spelling(e)
	if c.Other != nil {
		if s.Same(c.Other.spelling(e)) {
			return c, nil
		}
		return c.apart(e)
	}
	if s == nil || c.Value.IsNull() {
		return c, nil
	}
	out := *c
	switch c.Op {
	case In:
		items, err := c.Value.Items(c.Path.End(e).Holds())
		if err != nil {
			return c, fmt.Errorf("a list to look in: %w: %w", err, ErrInvalid)
		}
		kept := items[:0]
		for _, v := range items {
			if v.IsNull() {
				kept = append(kept, v)
			} else if w, ok := s.Store(v); ok {
				kept = append(kept, w)
			}
		}
		out.Value = NewList(kept...)
	case Eq, Ne:
		// No row holds what cannot be stored.
		w, ok := s.Store(c.Value)
		if !ok && c.Op == Eq {
			return &Cond{Op: False}, nil
		}
		if !ok {
			return &Cond{Op: True}, nil
		}
		out.Value = w
	default:
		w, ok := s.Store(c.Value)
		if !ok && s.Digits > 0 {
			// Between two numbers of units: what is less is at most the lower of them.
			if w, ok = floorUnits(c.Value, s.Digits); out.Op == Lt || out.Op == Le {
				out.Op = Le
			} else {
				out.Op = Gt
			}
		}
		if !s.Ordered || !ok {
			return c, fmt.Errorf("%s.%s is kept in a form that has another order: %w", e.Name, c.Path.End(e).Name, ErrInvalid)
		}
		out.Value = w
	}
	return &out, nil
}

// byParts is a condition that a row has a key, or one of some, of several parts, as one
// on the parts, for which there is an index. It is nil for every other condition.
func (c *Cond) byParts(e *Entity) *Cond {
	if len(e.Parts) == 0 || len(c.Path.Steps) > 0 || c.Path.Count != nil || c.Path.Marks || c.Path.Field != e.Key || c.Other != nil || c.Op != Eq && c.Op != In || c.Value.IsNull() {
		return nil
	}
	keys := []Value{c.Value}
	if c.Op == In {
		var err error
		if keys, err = c.Value.Items(String); err != nil {
			return nil
		}
	}
	some := &Cond{Op: Or}
	for _, key := range keys {
		if parts, ok := e.PartsOf(key); ok {
			one := Cond{Op: And}
			for i, v := range parts {
				one.Kids = append(one.Kids, Cond{Op: Eq, Path: Path{Field: e.Parts[i]}, Value: v})
			}
			some.Kids = append(some.Kids, one)
		}
	}
	return some
}

// apart compares two fields whose columns keep codes in different forms, code by code.
func (c *Cond) apart(e *Entity) (*Cond, error) {
	l, r := c.Path.End(e), c.Other.End(e)
	if l == nil || r == nil || l.Codes == nil || r.Codes == nil || c.Op != Eq && c.Op != Ne {
		return c, fmt.Errorf("two fields that are kept in different forms cannot be compared: %w", ErrInvalid)
	}
	both := func(a, b Value) Cond {
		return Cond{Op: And, Kids: []Cond{{Op: Eq, Path: c.Path, Value: a}, {Op: Eq, Path: *c.Other, Value: b}}}
	}
	same := Cond{Op: Or, Kids: []Cond{both(Value{}, Value{})}}
	for _, name := range l.Codes {
		if slices.Contains(r.Codes, name) {
			a, _ := l.Stored(NewString(name))
			b, _ := r.Stored(NewString(name))
			same.Kids = append(same.Kids, both(a, b))
		}
	}
	if c.Op == Ne {
		return &Cond{Op: Not, Kids: []Cond{same}}, nil
	}
	return &same, nil
}

// A Held is how many rows of a table hold a value.
type Held struct {
	Value string
	Rows  int64
}

// maxHeld bounds what Migrate tells of the values that no code is kept as.
const maxHeld = 6

// StoredCodes are the values that a column with codes may hold, as its text.
func (f *Field) StoredCodes() []string {
	all := make([]string, len(f.Codes))
	for i, name := range f.Codes {
		v, _ := f.Stored(NewString(name))
		all[i] = v.Text()
	}
	return all
}

// Uncovered says that a column holds what is no code of its field, "" where it holds
// nothing else. held are the most frequent of those values.
func (f *Field) Uncovered(held []Held) string {
	if len(held) == 0 {
		return ""
	}
	var all []string
	for _, h := range held[:min(len(held), maxHeld)] {
		value := "a value"
		if !f.Sensitive && !f.Personal {
			value = "'" + h.Value + "'"
		}
		rows := "rows"
		if h.Rows == 1 {
			rows = "row"
		}
		all = append(all, fmt.Sprintf("%s in %d %s", value, h.Rows, rows))
	}
	if len(held) > maxHeld {
		all = append(all, "and others")
	}
	return strings.Join(all, ", ")
}

// Untaken lists the codes of a field that its column does not take, where a type or a
// constraint of the table says what it takes.
func (f *Field) Untaken(takes []string) []string {
	if takes == nil || f.Codes == nil {
		return nil
	}
	var all []string
	for i, stored := range f.StoredCodes() {
		if !slices.Contains(takes, stored) {
			all = append(all, f.Codes[i])
		}
	}
	return all
}
