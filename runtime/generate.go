package runtime

import (
	"context"
	"fmt"
	"strings"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
)

// A handler may end in a call of another verb: answers that were collected one
// by one are sent by the very call that somebody who knew them all would have
// written. Such a call has no private door. It is written out, parsed and
// checked like any other text, and carried out as the calls of macros are: with
// the rights of whoever asked, through the same gate, under its own rule of
// confirmation, with a journal entry of its own.

// generates is the verb that an effect promises a call of, "" when it promises
// something else.
func generates(e *verbs.Effect) string {
	if e.Kind != verbs.Generates || len(e.Operand.Path) < 2 {
		return ""
	}
	return strings.Join(e.Operand.Path, ".")
}

// findGenerated notes of each verb which verbs it may call through its handler,
// as is noted of macros.
func (e *Engine) findGenerated() dsl.Diagnostics {
	var ds dsl.Diagnostics
	for _, v := range e.reg.Verbs() {
		for i := range v.Effects {
			name := generates(&v.Effects[i])
			if name == "" {
				continue
			}
			inner := e.reg.Verb(name)
			if inner != nil && inner.Internal {
				ds = append(ds, generatesInternal(&v.Effects[i], v, inner))
				continue
			}
			if inner == nil || inner == v {
				ds = append(ds, generatesUnknown(&v.Effects[i], v, name, nearVerbs(e.reg, name)))
				continue
			}
			e.inside[v] = append(append(e.inside[v], inner), e.inside[inner]...)
		}
	}
	return ds
}

// isCodeArg reports whether an argument is a code, which is written without
// quotes.
func isCodeArg(v *verbs.Verb, name string) bool {
	for i := range v.Params {
		if p := &v.Params[i]; sameWord(p.Name, name) {
			return p.Type.Name == verbs.CodeType
		}
	}
	return false
}

// generate writes a call that a handler makes, and checks it.
func (r *reading) generate(ctx context.Context, st *step, g Generated, came verbs.Origin) (*verbs.Program, error) {
	verb := r.e.reg.Verb(g.Verb)
	if verb == nil {
		return nil, fmt.Errorf("no verb is called %q", g.Verb)
	}
	call := dsl.NewCall(g.Verb)
	for _, name := range sortedKeys(g.Args) {
		value := g.Args[name]
		if known, ok := value.(Known); ok {
			value = known.Value
		}
		var out dsl.Value
		if ref, ok := value.(Ref); ok {
			e := r.e.reg.Entity(ref.entity)
			if e == nil || ref.IsZero() {
				return nil, fmt.Errorf("%s.%s: the row is none", g.Verb, name)
			}
			named, err := r.nameRow(ctx, e, ref.key)
			if err != nil {
				return nil, err
			}
			if named.Name == "" {
				return nil, stores.ErrNotFound
			}
			out = dsl.NewSymbol(named.Kept)
		} else {
			v, err := r.plainValue(value)
			if err != nil {
				return nil, fmt.Errorf("%s.%s: %w", g.Verb, name, err)
			}
			if out = wholeLiteral(v); v.Kind() == stores.String && isCodeArg(verb, name) {
				out = dsl.NewCode(v.Text())
			}
		}
		call.Args = append(call.Args, dsl.NewArg(name, out))
	}
	script, ds := dsl.Parse(dsl.NewSource(st.verb.Name, dsl.FormatCall(&call)+"\n"))
	if ds.HasErrors() {
		return nil, fmt.Errorf("the call of %s cannot be written: %s", g.Verb, tell(ds))
	}
	names := r.s.mentioned(script)
	p, ds := r.e.reg.Check(script, names)
	if p == nil {
		// Whoever asked did not write this, but what is wrong with it is theirs.
		d := ds[0]
		d.Place = st.place
		return nil, &complaint{st.index, wrongCall(st.place, st.verb.Name, g.Verb, d)}
	}
	names.bind(p)
	p.SaidBy(verbs.Literals{Origin: came})
	return p, nil
}
