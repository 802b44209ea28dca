package engine

import (
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/internal/provenance"
	"verbatim/runtime/state/names"
	"verbatim/stores"
	"verbatim/verbs"
)

// Where values come from.
//
// Every argument of a call has an origin. A literal has the origin of its author (see
// CheckOptions.Said), a field of a row that of a record or of the field's mark, an answer that of
// its tool, and a value computed from several values all of their origins. If a saved value is
// less trusted than a record, its origin is saved as a mark beside the field, so that saving and
// reading back does not raise trust.
//
// Two things do not pass on an origin. One is the choice of a row: `@payee.iban` is a record's
// value, no matter who named @payee. But the choice itself is a value too: a reference has the
// origin of its author, and a row that a read found has the origin of the values that the read
// searched for. The other is a condition: a value that the palette sets `when` a document says so
// is the palette's, because the palette's author wrote both the condition and its consequence, and
// a document can only choose among what they foresaw. (If it were marked, nearly every row would be
// marked after the first document, and people would learn to agree without reading.) A conditional
// expression is different: `a ? b : c` has the origins of all three.

var (
	ofRecord   = provenance.OfRecord
	ofDocument = provenance.OfDocument
)

// chosen returns the origin of the choice of rows that a call found or made: that of all its
// arguments, or that of a record if it had none.
func (st *step) chosen() verbs.Origin {
	if o := st.told(); o != (verbs.Origin{}) {
		return o
	}
	return ofRecord
}

// told mixes the origins of all arguments, those of the calls of a macro too.
func (st *step) told() verbs.Origin {
	var o verbs.Origin
	for i := range st.args.from {
		if !st.args.values[i].IsNull() {
			o = o.Mix(st.args.from[i])
		}
	}
	for _, inner := range st.tree.inner {
		o = o.Mix(inner.told())
	}
	return o
}

// rowOrigin returns the origin of a reference to a row that a call returned: that of the argument
// that named the row, if one did.
func (st *step) rowOrigin(key stores.Value) verbs.Origin {
	for s := st; s != nil; {
		for i := range s.args.rows {
			if s.args.rows[i].Entity != nil && s.args.values[i] == key {
				return s.args.from[i]
			}
		}
		if len(s.tree.inner) != 1 {
			break
		}
		s = s.tree.inner[0]
	}
	return st.chosen()
}

// made returns the origin of the value of an expression: those of the arguments and fields that it
// uses.
func made(st *step, x *verbs.Expr, reads []verbs.Origin) verbs.Origin {
	var o verbs.Origin
	if i, alone := x.ArgOnly(); alone {
		return st.args.from[i]
	}
	x.Args(func(i int) {
		if !st.args.values[i].IsNull() {
			o = o.Mix(st.args.from[i])
		}
	})
	for _, p := range reads {
		o = o.Mix(p)
	}
	if st.external != nil && x.OfAnswer() {
		o = o.Mix(st.external.came)
	}
	return o
}

// wants compares the origin of an argument with those that its palette accepts. Any other is
// refused, or asked about.
func (st *step) wants(i int, g resolvedArg, place dsl.Place) *complaint {
	p := &st.verb.Params[i]
	if p.From == 0 || g.value.IsNull() || g.from.Within(p.From) {
		return nil
	}
	if p.Otherwise == nil {
		return &complaint{st.call.index, wrongOrigin(place, p, g.from, st.resolving.trail)}
	}
	ask := newAsk(st, p.Otherwise)
	said := cameFrom(p, g.from, st.resolving.trail)
	if ask.Reason != "" {
		said += "; " + ask.Reason
	}
	ask.Reason = said
	st.asks = append(st.asks, ask)
	return nil
}

// follow notes the path by which an argument got an origin that is not accepted.
func (st *step) follow(f *frame, a *verbs.Arg, g resolvedArg) {
	if st.resolving.accepts == 0 || g.value.IsNull() || g.from.Within(st.resolving.accepts) {
		return
	}
	way := symbolOf(a)
	if f.macro != nil && !f.made && a.Kind == verbs.Name {
		// Inside a macro, a name is an argument of the macro.
		way = ":" + a.Syntax.Text + " of " + f.macro.verb.Name
		for i := range f.macro.verb.Params {
			p := &f.macro.verb.Params[i]
			if !sameWord(p.Name, a.Name()) {
				continue
			}
			if outer, ok := f.macro.call.syntax.Get(p.Name); ok && outer.Kind == dsl.Symbol {
				way = "@" + names.Shorten(outer.Text) + " and " + way
			}
		}
	}
	if way != "" && !slices.Contains(st.resolving.trail, way) {
		st.resolving.trail = append(st.resolving.trail, way)
	}
}

func symbolOf(a *verbs.Arg) string {
	if a.Syntax.Kind == dsl.Symbol {
		return "@" + a.Syntax.Text
	}
	if call := a.Syntax.Call(); call != nil {
		return "the answer of " + call.Verb
	}
	return ""
}

// originsText returns the origins of arguments for a journal entry: canonical JSON from argument to
// origin, without those of the palette and of the script; "" if there are no others.
func originsText(st *step) string {
	var keys []string
	var values []stores.Value
	for i, o := range st.args.from {
		if o.Kinds()&^verbs.FromScript != 0 && !st.args.values[i].IsNull() {
			keys, values = append(keys, st.verb.Params[i].Name), append(values, stores.NewString(o.String()))
		}
	}
	if keys == nil {
		return ""
	}
	return stores.NewObject(keys, values).Text()
}

// throughWords words the path by which a value came.
func throughWords(trail []string) string {
	if len(trail) == 0 {
		return ""
	}
	return ", through " + strings.Join(trail, " and ")
}

// said returns the origin of a literal argument. A literal in a macro's script is the palette's and
// has no origin.
func (f *frame) said(a *verbs.Arg) verbs.Origin {
	if f.macro != nil && !f.made {
		return verbs.Origin{}
	}
	return f.prog.Said(a)
}

// vouches reports whether an assignment confirms the value that a field holds already, but from
// a less trusted origin: only the origin changes.
func vouches(a assignment, marks []stores.Mark) bool {
	return a.came.Trusted() && stores.MarkOf(marks, a.field) != ""
}

// marks returns the origins that go along with a notice: of its values that are less trusted than a
// record.
func (n *notice) marks() (stores.Value, bool) {
	var keys []string
	var values []stores.Value
	for i, o := range n.came {
		if !o.Trusted() {
			keys, values = append(keys, n.keys[i]), append(values, stores.NewString(o.Mark()))
		}
	}
	return stores.NewObject(keys, values), keys != nil
}

// A Known is a value for which the handler states the origin, for example one that it read out of a
// document or got from another system. Any other value that a handler returns has the origins of
// all its arguments and of every row that it read, because its computation cannot be followed. A
// Known stands for a whole value of Fields or of an Answer.
type Known struct {
	Value  any
	Origin verbs.Origin
}

// Origin returns the origin of an argument; the zero Origin if there is no such argument.
func (c *Call) Origin(arg string) verbs.Origin {
	for i := range c.st.args.from {
		if sameWord(c.st.verb.Params[i].Name, arg) {
			return c.st.args.from[i]
		}
	}
	return verbs.Origin{}
}

// Origin returns the origin of a field's value.
func (r Row) Origin(field string) verbs.Origin {
	if i := r.index(field); i >= 0 {
		return r.s.from.Field(&r.row, i)
	}
	return verbs.Origin{}
}

// saw records that a handler read a row.
func (c *Call) saw(row *stores.Row) { c.read = c.read.Mix(c.r.s.from.Row(row)) }

// vouched returns the origin of a value that a handler returned.
func vouched(v any, came verbs.Origin) verbs.Origin {
	if known, ok := v.(Known); ok {
		return known.Origin
	}
	return came
}

// vouch sets the origins of the values of a handler's proposal. A value that equals the palette's
// own keeps the origin that the palette gives it.
func (p *proposal) vouch(f Fields, came verbs.Origin, promises []promise) {
	e := p.entity.Store
	for i := range p.set {
		a := &p.set[i]
		a.came = came
		known := false
		for name, v := range f {
			if k, ok := v.(Known); ok && sameWord(name, e.Fields[a.field].Name) {
				a.came, known = k.Origin, true
			}
		}
		if known {
			continue
		}
		for j := range promises {
			q := &promises[j]
			if q.effect.Entity != p.entity {
				continue
			}
			sets := q.set
			if q.effect.OnRows() {
				sets = nil
				if t := picks(q, p.key); t != nil {
					sets = t.set
				}
			}
			if k := slices.IndexFunc(sets, func(b assignment) bool { return b.field == a.field && stores.Equal(a.value, b.value) }); k >= 0 {
				a.came = sets[k].came
			}
		}
	}
}
