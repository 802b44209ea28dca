package sqlite

import "verbatim/stores"

// A script makes many changes that differ only in their values. A transaction writes the
// statement for such a change once, and replaces only the values for the next change of the same
// shape.

// A shape is what the text of a change's statement depends on, within the scope of one
// transaction. Sets of fields are bit sets.
type shape struct {
	entity *stores.Entity
	op     stores.Op
	set    uint64
	refers uint64 // fields that refer to a row which has to exist
	guard  uint64
}

// mostFields is the number of fields up to which an entity's shapes are cached.
const mostFields = 64

func shapeOf(c *stores.Change) (s shape, ok bool) {
	if len(c.Entity.Fields) > mostFields {
		return s, false
	}
	s.entity, s.op = c.Entity, c.Op
	for i := range c.Set {
		s.set |= 1 << c.Set[i].Field
		if looksUp(c, &c.Set[i]) {
			s.refers |= 1 << c.Set[i].Field
		}
	}
	for _, g := range c.Guard {
		s.guard |= 1 << g
	}
	return s, true
}

// looksUp reports whether an assignment refers to a row that the caller must be able to see: any
// but the row itself.
func looksUp(c *stores.Change, a *stores.Assign) bool {
	ref := c.Entity.Fields[a.Field].Ref
	return ref != nil && !a.Value.IsNull() && (ref != c.Entity || a.Value != c.Key)
}

// A slot is an argument of a statement that differs from one change to the next.
type slot struct {
	arg  int // index of the argument
	kind slotKind
	at   int
}

type slotKind uint8

const (
	theKey  slotKind = iota
	aSet             // Set[at], as its column stores it
	aRef             // Set[at], as a key
	aBefore          // Before[at], as its column stores it
)

// of returns the value of a change that belongs in the slot.
func (s *slot) of(c *stores.Change) stores.Value {
	switch s.kind {
	case aSet:
		return kept(c.Entity.Fields[c.Set[s.at].Field].Keeps(), c.Set[s.at].Value)
	case aRef:
		return c.Set[s.at].Value
	case aBefore:
		return kept(c.Entity.Fields[s.at].Keeps(), c.Before[s.at])
	}
	if parts, ok := c.Entity.PartsOf(c.Key); ok {
		return parts[s.at]
	}
	return c.Key
}

// A wording is a statement with the arguments of the change that it was last used for.
type wording struct {
	words string
	args  []stores.Value
	slots slots
}

// worded returns the statement that carries out a change. If it is the first of its shape, write
// writes it. The arguments are valid until the next call.
func (t *tx) worded(c *stores.Change, write func(q *text)) (string, []stores.Value) {
	s, ok := shapeOf(c)
	w := t.wordings[s]
	if !ok || w == nil {
		q := newText()
		write(q)
		words := q.Whole()
		if ok {
			w = &wording{words: words, args: q.Args, slots: q.Own}
			if t.wordings == nil {
				t.wordings = make(map[shape]*wording)
			}
			t.wordings[s] = w
		}
		return words, q.Args
	}
	for i := range w.slots {
		w.args[w.slots[i].arg] = w.slots[i].of(c)
	}
	return w.words, w.args
}
