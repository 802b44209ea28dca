package dialog

import (
	"context"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
	"verbatim/runtime/state/names"
	"verbatim/verbs"
)

// Once a model has read an untrusted text (a document, a tool's answer, a quoted message), that text
// may have caused its next proposal. Tracing values stops an account number from a letter, but not a
// call that needs no value from it, such as settling the request that the letter is about. So such a
// proposal runs without a question only if the person asked for it in words and named every value.
// Otherwise the person is asked, and told the origin that may have caused it.
//
// Reads are exempt, unless they send data outside.

// untrustedOrigin combines the untrusted origins that the model was shown, in this turn and in the turns
// before it that it still sees.
func (t *turn) untrustedOrigin() verbs.Origin {
	var o verbs.Origin
	if t.c.planFirst {
		return o // the model sees no untrusted text
	}
	for _, s := range t.trace.all {
		if foreign(s.origin) && !s.unshown {
			o = o.Mix(s.origin)
		}
	}
	return o
}

// swayed lists the verbs of a script that the person did not ask for, and the untrusted origins. It
// lists none if there is no such origin.
func (t *turn) swayed(ctx context.Context, script *dsl.Script, said verbs.Literals) (by verbs.Origin, what []*verbs.Verb) {
	by = t.untrustedOrigin()
	if by == (verbs.Origin{}) {
		return by, nil
	}
	asked := t.askedFor(ctx)
	for i := range script.Calls {
		call := &script.Calls[i]
		v := t.c.o.Registry.Verb(call.Verb)
		if v == nil || v.Read != nil || v.Query != nil {
			continue
		}
		if !asked(v) || slices.ContainsFunc(call.Args, func(a dsl.Arg) bool { return !owned(&a.Value, said) }) {
			what = append(what, v)
		}
	}
	return by, what
}

// owned reports whether a value is the person's own word, or the only choice.
func owned(v *dsl.Value, said verbs.Literals) bool {
	switch v.Kind {
	case dsl.List:
		return !slices.ContainsFunc(v.Items(), func(item dsl.Value) bool { return !owned(&item, said) })
	case dsl.Map:
		return !slices.ContainsFunc(v.Entries(), func(e dsl.Arg) bool { return !owned(&e.Value, said) })
	case dsl.Nil:
		return true
	case dsl.Nested:
		return false
	}
	o, known := said.Of(v.Range)
	// A row is a record's own if it is the only one of its kind.
	return known && (o == ofPerson || v.Kind == dsl.Symbol && o == ofRecord && !strings.Contains(v.Text, "."))
}

// askedFor returns a function that reports whether the person asked for a verb, in this message or
// in those before it that led to a question. A question asks for no change, but may ask for what a
// tool knows.
func (t *turn) askedFor(ctx context.Context) func(*verbs.Verb) bool {
	said := []string{t.heard.own}
	past := t.c.latest()
	for _, p := range slices.Backward(past) {
		if p.Foreign || len(p.Calls) > 0 || !strings.Contains(p.Told, "?") {
			break
		}
		said = append(said, p.Said)
	}
	if t.c.o.Interpreter == nil {
		var wanted, all []string
		for _, text := range said {
			words := strings.Fields(nameable(text))
			if all = append(all, words...); wants(text) {
				wanted = append(wanted, words...)
			}
		}
		return func(v *verbs.Verb) bool { return namesVerb(wanted, v) || sendsOnly(v) && namesVerb(all, v) }
	}
	wanted, spoken := map[string]bool{}, map[string]bool{}
	for _, text := range said {
		u, err := t.c.o.Interpreter.Interpret(ctx, text, Settled{}, t.before())
		if err != nil {
			continue // then nothing was asked for, as far as is known
		}
		for _, name := range u.Verbs {
			spoken[name] = true
			wanted[name] = wanted[name] || wants(text)
		}
	}
	return func(v *verbs.Verb) bool { return wanted[v.Name] || sendsOnly(v) && spoken[v.Name] }
}

// wants reports whether a message may ask for something to be done. A question asks for
// information, unless it is one only in form.
func wants(text string) bool {
	said := strings.Fields(nameable(text))
	if len(said) == 0 {
		return false
	}
	if strings.ContainsAny(text, "?¿") {
		return slices.Contains(values.Phrases("wish"), said[0])
	}
	return !slices.Contains(values.Phrases("question"), said[0])
}

// nameable returns a text in lower case, without marks, as separate words.
func nameable(text string) string {
	return strings.Map(func(r rune) rune {
		if isWord(r) || r == '\'' {
			return r
		}
		return ' '
	}, names.Unmarked(strings.ReplaceAll(text, "’", "'")))
}

// namesVerb reports whether words contain those of a verb's name.
func namesVerb(words []string, v *verbs.Verb) bool {
	name := v.Name[strings.LastIndexByte(v.Name, '.')+1:]
	n := 0
	for part := range strings.SplitSeq(name, "-") {
		if len(part) < 3 || slices.Contains([]string{"the", "add", "set", "new", "for", "with"}, part) {
			continue
		}
		n++
		if !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, part) && len(w) <= len(part)+3 }) {
			return false
		}
	}
	return n > 0
}

// sendsOnly reports whether a verb asks a tool and changes nothing here. It needs no agreement, but
// sends data outside.
func sendsOnly(v *verbs.Verb) bool { return v.Tool != nil && v.Tool.ReadOnly }
