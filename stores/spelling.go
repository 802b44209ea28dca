package stores

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Spelling says how a column stores the values of a field in another form: a code, say, as a
// word or a number of the table's own. Stores convert values at their boundary, so that
// everything above them sees the language's values, and everything below sees the stored form.
type Spelling struct {
	// Name describes the stored values, for messages: "a code of order-status".
	Name string
	// Kind is the kind of the stored values.
	Kind Kind
	// Ordered says that the stored values sort in the order of the values.
	Ordered bool
	// Digits is the number of decimal places of a decimal that is stored as an integer.
	Digits int
	// Store converts a value that is not null to its stored form, and Load converts it back; ok
	// is false if it has no counterpart.
	Store, Load func(v Value) (w Value, ok bool)
}

// NewCodes returns the spelling of codes: values holds the stored form of each of names, and all
// of them are text or all integers.
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

// Keeps returns the kind of value that the field's column stores.
func (f *Field) Keeps() Kind {
	if f.Spelling != nil {
		return f.Spelling.Kind
	}
	return f.Holds()
}

// Stored returns the stored form of a value of the field.
func (f *Field) Stored(v Value) (Value, bool) {
	if f.Spelling == nil || v.IsNull() {
		return v, true
	}
	return f.Spelling.Store(v)
}

// Loaded returns the value of the field for what its column stores, or an error that says what
// the column holds instead. The error does not show the value.
func (f *Field) Loaded(v Value) (Value, error) {
	if f == nil || v.IsNull() {
		return v, nil
	}
	v, err := f.Spelling.Loaded(v)
	switch {
	case err != nil:
	case f.Kind == String && !utf8.ValidString(v.text):
		err = errors.New("a text that is not UTF-8")
	case f.Kind == JSON && f.Elem != Null:
		if _, wrong := v.Items(f.Elem); wrong != nil {
			err = fmt.Errorf("something other than a list whose items are each %s", f.Elem.A())
		}
	}
	return v, err
}

// Loaded returns the value for a stored form. The error does not show it.
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

// spelt reports whether some column of the entity stores a field in another form.
func (e *Entity) spelt() bool {
	return slices.ContainsFunc(e.Fields, func(f Field) bool { return f.Spelling != nil || f.Zone != nil })
}

// stored converts the values that a change sets and guards to their stored form.
func (c *Change) stored() error {
	e := c.Entity
	if !e.spelt() {
		return nil
	}
	c.Set, c.Before = slices.Clone(c.Set), slices.Clone(c.Before)
	for i := range c.Set {
		a := &c.Set[i]
		if zone := e.Fields[a.Field].Zone; zone != nil && a.Value.Kind() == Time {
			if again, ok := instant(wall(a.Value, zone), zone); !ok || again != a.Value {
				return fmt.Errorf("%s.%s is kept as clocks in %s show it, and they show that time again: %w", e.Name, e.Fields[a.Field].Name, zone, ErrInvalid)
			}
		}
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

// Same reports whether two columns store the same values in the same form.
func (s *Spelling) Same(o *Spelling) bool {
	return s == o || s != nil && o != nil && s.Name == o.Name && s.Kind == o.Kind
}

// End returns the field where a path ends, nil if it ends at a count or is not valid.
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

// spelling returns the spelling of the field where a path ends.
func (p *Path) spelling(e *Entity) *Spelling {
	if f := p.End(e); f != nil {
		return f.Spelling
	}
	return nil
}

// Ends returns the field of each value that a Find returns, nil for a value that is as its column
// stores it. The slice is nil if all values are.
func (f *Find) Ends() []*Field { return endsOf(f.Entity, f.Select) }

// Ends returns the same for a List.
func (l *List) Ends() []*Field { return endsOf(l.Entity, l.Select) }

func endsOf(e *Entity, paths []Path) (all []*Field) {
	set := func(i, n int, f *Field, of *Entity) {
		if f == nil || f.Spelling == nil && (of.Managed || f.Kind != String && f.Elem == Null) {
			return
		}
		if all == nil {
			all = make([]*Field, n)
		}
		all[i] = f
	}
	if paths == nil {
		for i := range e.Fields {
			set(i, len(e.Fields), &e.Fields[i], e)
		}
	}
	for i := range paths {
		of := e
		for _, s := range paths[i].Steps {
			of = s.To
		}
		set(i, len(paths), paths[i].End(e), of)
	}
	return all
}

// EndAt returns one of the fields of Ends.
func EndAt(ends []*Field, i int) *Field {
	if ends == nil {
		return nil
	}
	return ends[i]
}

// Stored returns the Find with the values of its conditions in stored form.
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

// stored returns the condition with its values in stored form, or c itself if they are stored as
// they are.
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
		// No row holds a value that cannot be stored.
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
			// The value lies between two numbers of units: smaller ones are at most the lower.
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

// byParts rewrites the condition that a row has one of some keys of several parts as a condition
// on the parts, which have an index. It returns nil for every other condition.
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

// apart compares two fields whose columns store codes in different forms, code by code.
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

// A Held is a value of a column and the number of rows that hold it.
type Held struct {
	Value string
	Rows  int64
}

// maxHeld is how many values that match no code Migrate lists at most.
const maxHeld = 6

// StoredCodes returns the values that a column with codes may hold, as text.
func (f *Field) StoredCodes() []string {
	all := make([]string, len(f.Codes))
	for i, name := range f.Codes {
		v, _ := f.Stored(NewString(name))
		all[i] = v.Text()
	}
	return all
}

// Uncovered says that a column holds values that are no code of its field; it returns "" if held
// is empty. held are the most frequent of those values.
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

// Untaken lists the codes of a field that its column does not accept. takes are the values that a
// type or a constraint of the table accepts, nil if it has none.
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
