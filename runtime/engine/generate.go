package engine

import (
	"context"
	"fmt"
	"strings"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
)

// A handler may make calls of other verbs: answers that were collected one by one end in the
// call that sends them all. Such a call is written out, parsed and checked like any other text.
// It runs as the calls of macros do: with the caller's rights, through the same gate, under the
// confirmation rules of its verb, and with its own journal entry.

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

// generateCalls checks the calls of a handler: one that is written here, or several that were kept.
func generateCalls(ctx context.Context, r *source, st *step, g Generated, came verbs.Origin) (generatedCalls, error) {
	text, as := strings.Join(g.Kept, "\n"), g.Field
	if g.Kept == nil {
		var err error
		if text, err = writeCall(ctx, r, g); err != nil {
			return generatedCalls{}, err
		}
		as = g.Verb
	}
	script, ds := dsl.Parse(dsl.NewSource(st.verb.Name, text+"\n"))
	if ds.HasErrors() {
		return generatedCalls{}, fmt.Errorf("the call of %s cannot be written: %s", as, inWords(ds))
	}
	names := r.s.mentioned(script)
	if g.Kept != nil {
		// They were kept in another session, which knew other names.
		if err := names.find(ctx, r.read); err != nil {
			return generatedCalls{}, err
		}
	}
	p, ds := r.e.reg.Check(script, names)
	if p == nil {
		// The caller did not write this, but the mistake comes from their arguments.
		d := ds[0]
		d.Place = st.call.place
		return generatedCalls{}, st.refuse("wrong-value/call", st.verb.Name, as, d.Summary)
	}
	for i := range p.Calls() {
		if v := p.Calls()[i].Verb; g.Kept != nil && len(r.e.verbs[v].tools) > 0 {
			return generatedCalls{}, st.refuse("wrong-value/kept-tool", st.verb.Name, v.Name)
		}
	}
	names.bind(p)
	p.SaidBy(verbs.Literals{Origin: came})
	return generatedCalls{p, as}, nil
}

// writeCall writes the call that a handler asks for.
func writeCall(ctx context.Context, r *source, g Generated) (string, error) {
	verb := r.e.reg.Verb(g.Verb)
	if verb == nil {
		return "", fmt.Errorf("no verb is called %q", g.Verb)
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
				return "", fmt.Errorf("%s.%s: the row is none", g.Verb, name)
			}
			named, err := r.nameRow(ctx, e, ref.key)
			if err != nil {
				return "", err
			}
			if named.Name == "" {
				return "", stores.ErrNotFound
			}
			out = dsl.NewSymbol(named.Kept)
		} else {
			v, err := plainValue(value)
			if err != nil {
				return "", fmt.Errorf("%s.%s: %w", g.Verb, name, err)
			}
			if out = verbs.AsLiteral(v); v.Kind() == stores.String && isCodeArg(verb, name) {
				out = dsl.NewCode(v.Text())
			}
		}
		call.Args = append(call.Args, dsl.NewArg(name, out))
	}
	return dsl.FormatCall(&call), nil
}
