package load

import (
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/message"
)

// A session value is declared by the effect that sets it: `sets: session.NAME = VALUE` sets the
// value of that name, whose type is the type of the expression. All effects that set one name
// must have the same type. `sets: session.NAME` alone says that a handler sets it, to a value of
// its own.

// session reads an effect that sets a session value. In any other form it is a promise for a
// handler.
func (l *loader) session(vn *verbNode, e *verbs.Effect, at *yaml.Node, sc scope) {
	d := vn.d
	name := session(&e.Operand)
	if name == "" {
		return
	}
	e.Session, e.Operand.Path = name, []string{"session", name}
	before, after, given := strings.Cut(at.Value, "=")
	if !given {
		return
	}
	if e.Operand.Value == "" {
		d.report(tell(e.Place, "session-nothing", name))
		return
	}
	from := len(before) + 1 + strings.Index(after, e.Operand.Value)
	value := *at
	value.Value, value.Style = e.Operand.Value, 0
	if at.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 {
		value.Column += utf8.RuneCountInString(at.Value[:from])
		if at.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
			value.Column++
		}
	}
	var t term
	e.Value, t = l.compileTerm(d, &value, sc, wantAnything, e.When)
	if e.Value == nil {
		return
	}
	if t.name != nilType {
		e.Of = &verbs.Type{Name: t.name, Codes: t.codes, Entity: t.entity, Item: t.item}
	}
	e.Declared = !e.May || e.When != nil
}

// sessions compares the types to which verbs set session values.
func (l *loader) sessions() {
	first := make(map[string]*verbs.Effect)
	for i := range l.verbNodes {
		vn := &l.verbNodes[i]
		for j := range vn.v.Effects {
			e := &vn.v.Effects[j]
			if e.Session == "" || e.Of == nil {
				continue
			}
			was := first[e.Session]
			if was == nil {
				first[e.Session] = e
			} else if !sameSessionType(was.Of, e.Of) {
				vn.d.report(tell(e.Place, "session-type", e.Session, e.Of, was))
			}
			if e.Session == verbs.SessionActive && (e.Of.Name != verbs.RefType || e.Of.Entity == nil) {
				vn.d.report(tell(e.Place, "session-type/active", e.Of))
			}
		}
	}
}

// sameSessionType reports whether two expressions have the same type, as a session stores it. The
// active row may be of any entity.
func sameSessionType(a, b *verbs.Type) bool {
	if a.Name != b.Name || (a.Name == verbs.ListType) && (a.Item == nil || b.Item == nil || a.Item.Name != b.Item.Name) {
		return false
	}
	return a.Name != verbs.RefType || a.Entity == b.Entity
}

// activeWord is the default of a reference that means the active row.
const activeWord = "active"

// active reads the default of a reference. The active row must be of an entity at which scopes
// end, to whose rows principals are given access: these are few, they have names, and a caller
// who sees one sees all of it.
func (l *loader) active(d *doc, p *verbs.Param, n *yaml.Node) bool {
	switch {
	case n.Kind == poisoned:
	case n.Kind != yaml.ScalarNode || n.Value != activeWord:
		d.report(refDefault(d.place(n), p.Name, message.Shorten(n.Value, 40)))
	case p.Type.Entity != nil && d.broken[p.Type.Entity]:
	case p.Type.Entity == nil || !heldItself(p.Type.Entity):
		d.report(activeOfWhat(d.place(n), p))
	default:
		return true
	}
	return false
}

// heldItself reports whether access is given to the rows of an entity themselves.
func heldItself(e *verbs.Entity) bool {
	return e.Store.Access == stores.ByPath && len(e.Store.Scope) == 0
}
