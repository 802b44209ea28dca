package dialog

import (
	"context"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/names"
	"verbatim/runtime/words"
	"verbatim/verbs"
)

// Once something that a stranger wrote stands before a model (a document, the
// answer of a tool, a message that is quoted), whatever it proposes next may be
// the stranger's idea. Its values are traced, and that stops an account number
// out of a letter; it does not stop a call that needs no value of the letter's,
// such as the one that settles whatever the letter is about. So what the model
// writes then is done unasked only where the person answers for all of it: they
// asked for that very thing, in words, and named every value. Whatever else it
// would do is put to them, with who had a say in it.
//
// What reads is not held to this, unless it sends something out of the house.

// strangers mixes the origins of what the model was shown and strangers wrote, in
// this turn and in those that are still before it.
func (t *turn) strangers() verbs.Origin {
	var o verbs.Origin
	if t.c.planFirst {
		return o // it is shown nothing of theirs
	}
	for _, s := range t.trace.all {
		if foreign(s.origin) && !s.unshown {
			o = o.Mix(s.origin)
		}
	}
	return o
}

// swayed lists the calls of a script that the person does not answer for, by
// their verbs, and says who had a say in it. There are none where no stranger had.
func (t *turn) swayed(ctx context.Context, script *dsl.Script, said verbs.Literals) (by verbs.Origin, what []*verbs.Verb) {
	by = t.strangers()
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

// owned reports whether a value is the person's own word, or leaves no choice.
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
	// A row is a record's where it is the only one of its kind.
	return known && (o == ofPerson || v.Kind == dsl.Symbol && o == ofRecord && !strings.Contains(v.Text, "."))
}

// askedFor says of verbs whether the person asked for what they do: in this
// message, or in those before it that they were asked back about.
// A question asks for no deed; it may well ask for what a tool knows.
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
		u, err := t.c.o.Interpreter.Interpret(ctx, text, "", t.before())
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

// wants reports whether somebody who says something may want it done: a question
// about a thing asks for words, unless it is one only for politeness.
func wants(text string) bool {
	said := strings.Fields(nameable(text))
	if len(said) == 0 {
		return false
	}
	if strings.ContainsAny(text, "?¿") {
		return slices.Contains(words.Phrases("wish"), said[0])
	}
	return !slices.Contains(words.Phrases("question"), said[0])
}

// nameable is a text in small letters without marks, its words apart.
func nameable(text string) string {
	return strings.Map(func(r rune) rune {
		if isWord(r) || r == '\'' {
			return r
		}
		return ' '
	}, names.Unmarked(strings.ReplaceAll(text, "’", "'")))
}

// namesVerb reports whether words hold those that a verb is called by.
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

// sendsOnly reports whether a verb asks a tool and changes nothing. It asks nobody
// first, because nothing changes; but what it is asked has left the house.
func sendsOnly(v *verbs.Verb) bool { return v.Tool != nil && v.Tool.ReadOnly }
