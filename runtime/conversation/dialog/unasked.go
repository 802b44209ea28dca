package dialog

import (
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/stores/search"
	"verbatim/verbs"
)

// A model writes nothing unasked (G1). Each value of a call that changes something has a source: the
// person's words that led to this call, a row, or a text that the model was shown. Without one the
// person is asked, unless the palette lets the argument come from a model (`from:` names model). The
// act is a value as well: a question, thanks or a greeting asks for no change.
//
// Words lead to one change. What the person said before the last change was said for that one, so a
// model that repeats it is asked about.

// unasked says what of a script that a model wrote nobody asked for. It is told where no rule of the
// palette puts the question anyway.
func (t *turn) unasked(script *dsl.Script) (why []reason) {
	w := t.c.wording
	if t.talks() && slices.ContainsFunc(script.Calls, func(c dsl.Call) bool { return t.changes(t.c.o.Registry.Verb(c.Verb)) }) {
		why = append(why, w.reason(sayUnasked))
	}
	for _, name := range t.unchosen(script) {
		why = append(why, w.reason(sayUnchosen, name))
	}
	if names := t.unsourced(script); len(names) > 0 {
		why = append(why, w.arguments(sayUnsourced, names))
	}
	return why
}

// unsourced lists the arguments of changing calls with a value that nobody said.
func (t *turn) unsourced(script *dsl.Script) (names []string) {
	t.eachChanging(script, func(p *verbs.Param, v *dsl.Value) {
		if v.Kind != dsl.Symbol && p.From&verbs.FromModel == 0 && !slices.Contains(names, p.Name) && !t.trace.sourced(v, p) {
			names = append(names, p.Name)
		}
	})
	return names
}

// unchosen lists, by their labels, the rows of changing calls that the model chose: the person named
// none of them, they are not the only ones of their kind, and the last answer was not about them
// alone. (SAFE-S8)
func (t *turn) unchosen(script *dsl.Script) (called []string) {
	var last []string
	if before := t.before(); len(before) > 0 {
		last = before[0].Names
	}
	made := map[string]bool{}
	for i := range script.Calls {
		made[script.Calls[i].As] = true
	}
	t.eachChanging(script, func(_ *verbs.Param, v *dsl.Value) {
		name, _, _ := strings.Cut(v.Text, ".")
		if v.Kind != dsl.Symbol || made[name] || slices.Contains(t.subject.Names, name) {
			return
		}
		others := t.alike(name)
		switch same := func(other string) bool { return other != name && slices.Contains(others, other) }; {
		case t.trace.chose(name, others), len(others) == 1 && others[0] == name:
			return
		case slices.Contains(last, name) && !slices.ContainsFunc(last, same) &&
			!slices.ContainsFunc(others, func(other string) bool { return other != name && t.trace.chose(other, others) }):
			return
		}
		label := t.c.o.Session.Called(name)
		if label == "" {
			label = name
		}
		label = receipt.Safe(label)
		if !slices.Contains(called, label) {
			called = append(called, label)
		}
	})
	return called
}

// eachChanging calls fn with each value in the arguments of calls that may change something, and
// the argument that holds it. Lists, maps and nested calls are taken apart.
func (t *turn) eachChanging(script *dsl.Script, fn func(*verbs.Param, *dsl.Value)) {
	var call func(c *dsl.Call)
	var value func(p *verbs.Param, v *dsl.Value)
	value = func(p *verbs.Param, v *dsl.Value) {
		switch v.Kind {
		case dsl.Nil:
		case dsl.Nested:
			call(v.Call())
		case dsl.List:
			for i := range v.Items() {
				value(p, &v.Items()[i])
			}
		case dsl.Map:
			for i := range v.Entries() {
				value(p, &v.Entries()[i].Value)
			}
		default:
			if p != nil {
				fn(p, v)
			}
		}
	}
	call = func(c *dsl.Call) {
		v := t.c.o.Registry.Verb(c.Verb)
		for i := range c.Args {
			var p *verbs.Param
			if t.changes(v) {
				if j := slices.IndexFunc(v.Params, func(p verbs.Param) bool { return p.Name == c.Args[i].Key }); j >= 0 {
					p = &v.Params[j]
				}
			}
			value(p, &c.Args[i].Value)
		}
	}
	for i := range script.Calls {
		call(&script.Calls[i])
	}
}

// changes reports whether a verb may change something. A tool that only reads does not.
func (t *turn) changes(v *verbs.Verb) bool { return v != nil && !v.Answers() && !sendsOnly(v) }

// talks reports whether a message asks for no change: it is a courtesy, or a question that is no
// request in form.
func (t *turn) talks() bool {
	if t.c.expected != (expected{}) || t.was.open() {
		return false // it answers a question
	}
	if t.civil || t.heard.reply.Answer == values.Pleased {
		return true
	}
	if !strings.ContainsAny(t.heard.own, "?¿") {
		return false
	}
	return !slices.ContainsFunc(sentencesOf(t.heard.own), func(s string) bool { return wants(s) })
}

// sentencesOf divides a text at the ends of its sentences and lines.
func sentencesOf(text string) (all []string) {
	from := 0
	for i, r := range text {
		next := i + len(string(r))
		ends := r == '\n' || strings.ContainsRune(".!?;", r) && (next == len(text) || text[next] == ' ' || text[next] == '\n')
		if ends && strings.TrimSpace(text[from:next]) != "" {
			all, from = append(all, strings.TrimSpace(text[from:next])), next
		}
	}
	if rest := strings.TrimSpace(text[from:]); rest != "" {
		all = append(all, rest)
	}
	return all
}

// spent marks the person's words before their last change.
func (s *sources) spent(past []*Turn) {
	for _, p := range past {
		for _, c := range p.Calls {
			if c.Wrote == 0 {
				continue
			}
			for _, src := range s.all {
				if src.past && !src.when.After(p.Time) {
					src.spent, src.used = true, append(src.used, c.Call)
				}
			}
		}
	}
}

// about reports whether a call that changed something since the words were said names a row.
func (s *source) about(name string) bool {
	return slices.ContainsFunc(s.used, func(call string) bool {
		return slices.ContainsFunc(atNames().FindAllString(call, -1), func(at string) bool {
			at, _, _ = strings.Cut(at[1:], "~")
			return at == name
		})
	})
}

// wished are the person's words that may have led to a change now.
func (s *sources) wished(fn func(*source) bool) bool {
	return s.byPerson(func(src *source) bool { return !src.spent && fn(src) })
}

// byPerson are the person's words.
func (s *sources) byPerson(fn func(*source) bool) bool {
	return slices.ContainsFunc(s.all, func(src *source) bool {
		if src.origin != ofPerson {
			return false
		}
		src.prepare(s.read)
		return fn(src)
	})
}

// chose reports whether the person named a row in the words that led here. Each sentence may name
// one, and what was done since for one row is not yet done for another: "Maria was born in May. I
// have the passport of Thomas."
func (t *tracer) chose(name string, others []string) bool {
	spoken := strings.ReplaceAll(name, "-", " ")
	return t.byPerson(func(s *source) bool {
		return !s.about(name) && (s.hasWords("@"+strings.ToLower(name)) || s.hasWords(spoken) || slices.ContainsFunc(sentencesOf(s.text), func(said string) bool { return calls(said, name, others) }))
	})
}

// sourced reports whether a value of an argument has a source.
func (t *tracer) sourced(v *dsl.Value, p *verbs.Param) bool {
	if o := t.origin(v); o != ofPerson && o.Kinds()&verbs.FromModel == 0 {
		return true // a row's, a document's or a tool's: untrusted ones are asked about as such
	}
	return t.wished(func(s *source) bool {
		if certain, _ := s.says(v); certain && !s.denies(v) {
			return true
		}
		switch v.Kind {
		case dsl.String:
			return s.words(v.Text, t.read)
		case dsl.Code:
			return s.words(strings.ReplaceAll(strings.ToLower(v.Text), "_", " "), t.read)
		case dsl.Bool:
			return v.Text == "true" && s.words(strings.ReplaceAll(p.Name, "-", " "), t.read)
		}
		return false
	})
}

// nearby is within how many words before a value a denial is one of that value.
const nearby = 4

// denies reports whether the source says a date or a number only to deny it.
func (s *source) denies(v *dsl.Value) bool {
	seen, affirmed := false, false
	for i := range s.readings {
		r := &s.readings[i]
		same := false
		switch v.Kind {
		case dsl.Date:
			day, ok := stores.ParseDate(v.Text)
			same = ok && r.date && r.value == day
		case dsl.Integer, dsl.Decimal:
			n, ok := stores.ParseDecimal(v.Text)
			same = ok && !r.date && isNumber(r.value) && stores.Equal(r.value, n)
		}
		if !same {
			continue
		}
		seen = true
		clause := s.text[:r.start]
		clause = clause[strings.LastIndexAny(clause, ".,;:!?\n")+1:]
		words := search.Words(clause)
		affirmed = affirmed || !slices.ContainsFunc(words[max(0, len(words)-nearby):], denial)
	}
	return seen && !affirmed
}

func denial(word string) bool { return slices.Contains(values.Phrases("denial"), values.Plain(word)) }

// words reports whether the names, numbers and content words of a text stand in the source, in any
// order and inflection: all of them in a few sentences on end, which deny as much as the text does.
func (s *source) words(text string, read reader) bool {
	content, no, ok := s.content(text, read)
	if !ok || len(content) == 0 {
		return false
	}
	said := sentencesOf(s.text)
	most := max(2, len(sentencesOf(text)))
	for i := range said {
		for n := 1; n <= most && i+n <= len(said); n++ {
			window := strings.Join(said[i:i+n], " ")
			stems, denials := map[string]bool{}, 0
			for _, w := range search.Words(window) {
				if denial(w) {
					denials++
				}
				for _, stem := range search.Stems(w) {
					stems[stem] = true
				}
			}
			if (denials > 0) == (no > 0) && !slices.ContainsFunc(content, func(w string) bool {
				return !slices.ContainsFunc(search.Stems(w), func(stem string) bool { return stems[stem] })
			}) {
				return true
			}
		}
	}
	return false
}

// content returns the words of a text that carry meaning, and how many deny. It is not ok if the
// text holds a date that the source does not.
func (s *source) content(text string, read reader) (words []string, denials int, ok bool) {
	left := []byte(text)
	for _, r := range read(text, s.when) {
		if !r.date || r.value.IsNull() {
			continue
		}
		if certain, _ := s.hasDate(r.value); !certain {
			return nil, 0, false
		}
		for i := r.start; i < r.end; i++ {
			left[i] = ' '
		}
	}
	for _, w := range search.Words(string(left)) {
		switch {
		case denial(w):
			denials++
		case !slices.Contains(values.Phrases("slight"), values.Plain(w)):
			words = append(words, w)
		}
	}
	return words, denials, true
}
