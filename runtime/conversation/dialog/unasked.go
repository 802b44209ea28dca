package dialog

import (
	"context"
	"slices"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
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
// model that repeats it is asked about. Words count where they say it: not in quotation marks, and not
// in a sentence that only supposes. A sentence that denies something has to be told as one that does.

// unasked says what of a script that a model wrote nobody asked for. It is told where no rule of the
// palette puts the question anyway.
func (t *turn) unasked(ctx context.Context, script *dsl.Script) (why []reason, err error) {
	w := t.c.wording
	var u Understood
	if t.c.o.Interpreter != nil {
		if u, err = t.c.o.Interpreter.Interpret(ctx, t.heard.own, Settled{}, t.before()); err != nil {
			return nil, err
		}
	}
	var changes []*verbs.Verb
	for i := range script.Calls {
		if v := t.c.o.Registry.Verb(script.Calls[i].Verb); t.changes(v) {
			changes = append(changes, v)
		}
	}
	if len(changes) > 0 && (t.talks() || t.denied(script) || !t.wishedFor(script, changes, &u)) {
		why = append(why, w.reason(sayUnasked))
	}
	for _, name := range t.unchosen(script, &u) {
		why = append(why, w.reason(sayUnchosen, name))
	}
	if names := t.unsourced(script); len(names) > 0 {
		why = append(why, w.arguments(sayUnsourced, names))
	}
	return why, nil
}

// wishedFor reports whether a message may ask for a change: it holds an order, or the message before it
// did and nothing was done; it is understood as one of the verbs; it says a day or a number that the
// verb needs of the row; or it says more of a row that it names, with a word of what such rows are about. Without
// an interpreter nobody can tell.
func (t *turn) wishedFor(script *dsl.Script, changes []*verbs.Verb, u *Understood) bool {
	if t.c.o.Interpreter == nil || t.c.expected != (expected{}) || t.was.open() || len(t.subject.Names) > 0 {
		return true
	}
	if n := len(t.trace.wish); slices.ContainsFunc(t.trace.wish[max(0, n-2):], func(s *source) bool {
		return !s.answered && slices.ContainsFunc(s.own, func(own statement) bool { return own.orders })
	}) {
		return true
	}
	if freshly().MatchString(values.Plain(t.heard.own)) || hearsay(t.heard.own) {
		return false
	}
	for _, v := range changes {
		if slices.Contains(u.Verbs, v.Name) || u.Verb == v.Name || namesVerb(strings.Fields(nameable(t.heard.own)), v) {
			return true
		}
	}
	chosen := t.chosenNow(changes)
	needed := false // a value of an argument that is required, said of a row or of nothing else
	t.eachChanging(script, func(p *verbs.Param, v *dsl.Value) {
		needed = needed || p.Required && (v.Kind == dsl.Date || v.Kind == dsl.Integer || v.Kind == dsl.Decimal) && slices.ContainsFunc(ownWords(t.heard.own, readWords, t.now), func(own statement) bool {
			one := &source{text: own.text, when: t.now}
			one.prepare(readWords)
			certain, _ := one.says(v)
			return certain && (len(chosen) > 0 || t.ofWhatWasTold(own.text))
		})
	})
	return needed || len(chosen) > 0 && t.speaksOfPalettes(chosen)
}

var freshly = lazily(func() string { return `\b(?:` + values.Expression("fresh") + `)\b` })

// ofWhatWasTold reports whether a sentence with a value is about what was just spoken of: it begins with "she" or
// "it", or has hardly another word.
func (t *turn) ofWhatWasTold(said string) bool {
	const first, few = 3, 3
	words := wordsIn(said)
	return slices.ContainsFunc(words[:min(first, len(words))], func(w string) bool { return slices.Contains(values.Phrases("thirdperson"), values.Plain(w)) }) || len(meaningful(said)) <= few
}

// speaksOfPalettes reports whether a message that names rows has another word that belongs to what they
// are about: of a code of the palettes.
func (t *turn) speaksOfPalettes(names []string) bool {
	about := t.c.subjects()
	called := strings.Split(strings.Join(names, "-"), "-")
	return slices.ContainsFunc(meaningful(t.heard.own), func(w string) bool {
		const part = 4 // letters of a part of a compound: Reisepass
		plain := values.Plain(w)
		return !slices.Contains(called, plain) && slices.ContainsFunc(about, func(other string) bool {
			whole := values.Plain(other)
			return sameStem(w, other) || len(plain) >= part && (strings.HasSuffix(whole, plain) || strings.HasPrefix(whole, plain))
		})
	})
}

// subjects returns the words of the palettes for what rows are about, the names of codes, in all their
// languages.
func (c *Conversation) subjects() []string {
	if c.about != nil {
		return c.about
	}
	seen := map[string]bool{}
	add := func(text string) {
		for _, l := range values.Languages() {
			said, _ := c.o.Registry.Says(l.String(), text)
			for _, w := range meaningful(strings.ReplaceAll(said, "_", " ")) {
				if !seen[w] {
					seen[w] = true
					c.about = append(c.about, w)
				}
			}
		}
	}
	for _, list := range c.o.Registry.CodeLists() {
		for i := range list.Codes {
			add(list.Codes[i].Name)
		}
	}
	return c.about
}

// chosenNow returns the names of the rows that this message names and the verbs may take.
func (t *turn) chosenNow(changes []*verbs.Verb) (names []string) {
	for e, all := range t.names {
		if slices.ContainsFunc(changes, func(v *verbs.Verb) bool { return takes(v, e) }) {
			for _, name := range all {
				if t.trace.wishedNow(func(s *source) bool { return s.chooses(name, all) }) {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

// takes reports whether a verb has an argument for a row of an entity.
func takes(v *verbs.Verb, e *verbs.Entity) bool {
	return slices.ContainsFunc(v.Params, func(p verbs.Param) bool {
		return p.Type.Name == verbs.RefType && (p.Type.Entity == nil || p.Type.Entity == e)
	})
}

// denied reports whether the message denies or forbids something after which it orders nothing, and no text
// of the calls says so.
func (t *turn) denied(script *dsl.Script) (denied bool) {
	var texts []string
	t.eachChanging(script, func(_ *verbs.Param, v *dsl.Value) {
		if v.Kind == dsl.String && slices.ContainsFunc(wordsIn(v.Text), denies) {
			texts = append(texts, v.Text)
		}
	})
	for _, said := range sentencesOf(inQuotes().ReplaceAllString(t.heard.own, "$1 ")) {
		kept, _ := corrected(clausesOf(said), readWords, t.now)
		said = strings.Join(kept, "")
		words := wordsIn(said)
		switch {
		case supposes(said):
		case slices.ContainsFunc(words, denies):
			denied = denied || !slices.ContainsFunc(texts, func(text string) bool {
				return slices.ContainsFunc(meaningful(text), func(w string) bool {
					return slices.ContainsFunc(words, func(other string) bool { return sameStem(w, other) })
				})
			})
		case asksFor(said):
			denied = false
		}
	}
	return denied
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
func (t *turn) unchosen(script *dsl.Script, u *Understood) (called []string) {
	var last []string
	if before := t.before(); len(before) > 0 {
		last = before[0].Names
	}
	settled := map[string]bool{} // rows whose change the last turn reported: they are done with
	var told source
	if past := t.c.latest(); len(past) > 0 {
		told.text = past[len(past)-1].Told
		for _, c := range past[len(past)-1].Calls {
			if c.Wrote > 0 {
				for _, at := range atNames().FindAllString(c.Call, -1) {
					name, _, _ := strings.Cut(at[1:], "~")
					settled[name] = true
				}
			}
		}
	}
	told.prepare(t.trace.read)
	made := map[string]bool{}
	for i := range script.Calls {
		made[script.Calls[i].As] = true
	}
	add := func(name string) {
		label := t.c.o.Session.Names().Called(name)
		if label == "" {
			label = name
		}
		if label = receipt.Safe(label); !slices.Contains(called, label) {
			called = append(called, label)
		}
	}
	for i := range script.Calls {
		c := &script.Calls[i]
		for _, row := range c.Args {
			if row.Value.Kind == dsl.Symbol && t.changes(t.c.o.Registry.Verb(c.Verb)) && slices.ContainsFunc(c.Args, func(a dsl.Arg) bool {
				return a.Value.Kind == dsl.String && t.trace.saidOfAnother(a.Value.Text, row.Value.Text, t.alike(row.Value.Text))
			}) {
				add(row.Value.Text)
			}
		}
	}
	t.eachChanging(script, func(_ *verbs.Param, v *dsl.Value) {
		name, _, _ := strings.Cut(v.Text, ".")
		if v.Kind != dsl.Symbol || made[name] || slices.Contains(t.subject.Names, name) {
			return
		}
		others := t.alike(name)
		if !t.trace.namesAnother(name, others) && (slices.Contains(u.Assumed, name) || slices.Contains(u.Names, name) || strings.Contains(u.Script, "@"+name+" ")) {
			return // our own reader takes it from the words
		}
		about := slices.DeleteFunc(slices.Clone(others), func(other string) bool {
			return settled[other] && other != name || !slices.Contains(last, other) && !told.chooses(other, others)
		})
		switch same := func(other string) bool { return other != name && slices.Contains(others, other) }; {
		case t.trace.chose(name, others), len(others) == 1 && others[0] == name:
			return
		case len(about) == 1 && about[0] == name && !slices.ContainsFunc(others, func(other string) bool { return same(other) && t.trace.chose(other, others) }):
			return
		}
		add(name)
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
	return !slices.ContainsFunc(sentencesOf(t.heard.own), func(said string) bool {
		if !strings.ContainsAny(said, "?¿") {
			return !thanksFor().MatchString(values.Plain(said)) || asksFor(said)
		}
		order, _, _ := strings.Cut(said, ":") // "ask them this: will a copy do?"
		return asksFor(said) || slices.ContainsFunc(wordsIn(order), func(w string) bool { return slices.Contains(values.Phrases("enquiring"), values.Plain(w)) }) && wants(strings.TrimRight(order, "?"))
	})
}

var thanksFor = lazily(func() string { return `^(?:` + values.Expression("thanksfor") + `)` })

// wishes gathers the person's words that may lead to a change now. Where the last turn asked for more, what
// was said in it is not settled.
func (s *sources) wishes(past []*Turn, asked bool) {
	var spent time.Time
	answered := map[time.Time]bool{}
	for i, p := range past {
		answered[p.Time] = len(p.Calls) > 0
		if p.Told != "" {
			s.told = append(s.told, &source{origin: ofRecord, text: p.Told, when: p.Time})
		}
		for _, c := range p.Calls {
			if c.Wrote > 0 {
				s.used = append(s.used, atNames().FindAllString(c.Call, -1)...)
			}
		}
		if (i+1 < len(past) || !asked) && slices.ContainsFunc(p.Calls, func(c CallNote) bool { return c.Wrote > 0 }) {
			spent = p.Time
		}
	}
	for _, src := range s.all {
		if src.origin != ofPerson || src.past && !src.when.After(spent) {
			continue
		}
		if own := ownWords(src.text, s.read, src.when); len(own) > 0 {
			s.wish = append(s.wish, &source{origin: src.origin, text: textOf(own), when: src.when, past: src.past, own: own, answered: src.past && answered[src.when]})
		}
	}
}

// wished reports whether fn holds for the person's words that may lead to a change now.
func (s *sources) wished(fn func(*source) bool) bool {
	return slices.ContainsFunc(s.wish, func(src *source) bool {
		src.prepare(s.read)
		return fn(src)
	})
}

// wishedNow is wished for this message alone.
func (s *sources) wishedNow(fn func(*source) bool) bool {
	return s.wished(func(src *source) bool { return !src.past && fn(src) })
}

// chose reports whether the person named a row in the words that led here. The newest message that names
// one of this kind takes the place of those before.
func (t *tracer) chose(name string, others []string) bool {
	for _, s := range slices.Backward(t.wish) {
		s.prepare(t.read)
		if slices.ContainsFunc(others, func(other string) bool { return s.chooses(other, others) }) {
			return s.chooses(name, others)
		}
	}
	// A change uses up the words for its own rows. Another one that they named is still to come.
	return !slices.ContainsFunc(t.used, func(at string) bool { return strings.HasPrefix(at[1:]+"~", name+"~") }) && slices.ContainsFunc(t.all, func(s *source) bool {
		if s.origin != ofPerson {
			return false
		}
		s.prepare(t.read)
		return s.chooses(name, others)
	})
}

// namesAnother reports whether this message names rows of the kind and not this one.
func (t *tracer) namesAnother(name string, others []string) bool {
	return t.wishedNow(func(s *source) bool {
		return !s.chooses(name, others) && slices.ContainsFunc(others, func(other string) bool { return s.chooses(other, others) })
	})
}

// saidOfAnother reports whether each sentence that tells a text names other rows of the kind and not this one.
func (t *tracer) saidOfAnother(text, name string, others []string) (another bool) {
	const few = 2
	for _, s := range t.wish {
		for _, own := range s.own {
			about := []string{} // the items that name rows, here or last
			for i, said := range itemsOf(own.text) {
				if slices.ContainsFunc(others, func(other string) bool { return calls(said, other, others) && !calls(text, other, others) }) {
					if i > 0 && len(meaningful(itemsOf(own.text)[i-1])) > few {
						about = nil // "on Pierre …, and on Thomas …", and not "for both Pierre and Thomas …"
					}
					about = append(about, said)
				}
				one := &source{origin: s.origin, text: said, when: s.when}
				if one.prepare(t.read); !one.tells(text, t.read) {
					continue
				}
				if len(about) == 0 || slices.ContainsFunc(about, func(said string) bool { return calls(said, name, others) }) {
					return false
				}
				another = true
			}
		}
	}
	return another
}

// chooses reports whether a sentence of the source names a row, or has more words of its name than of
// any other of its kind.
func (s *source) chooses(name string, others []string) bool {
	if s.hasWords("@"+strings.ToLower(name)) || s.hasWords(strings.ReplaceAll(name, "-", " ")) {
		return true
	}
	return slices.ContainsFunc(sentencesOf(s.text), func(said string) bool {
		return calls(said, name, others) || slices.ContainsFunc(itemsOf(said), func(said string) bool { return calls(said, name, others) })
	})
}

// sourced reports whether a value of an argument has a source.
func (t *tracer) sourced(v *dsl.Value, p *verbs.Param) bool {
	switch o := t.origin(v); {
	case o == ofRecord && (v.Kind == dsl.Date || v.Kind == dsl.Integer || v.Kind == dsl.Decimal):
		// Of all days and numbers of all rows, one is meant only if the person was told of it.
		if slices.ContainsFunc(t.told, func(s *source) bool { s.prepare(t.read); certain, _ := s.says(v); return certain }) {
			return true
		}
	case o != ofPerson && o.Kinds()&verbs.FromModel == 0:
		return true // a row's, a document's or a tool's: untrusted ones are asked about as such
	}
	return t.wished(func(s *source) bool {
		certain, _ := s.says(v)
		switch v.Kind {
		case dsl.String:
			return certain && len(strings.Fields(v.Text)) == 1 || s.tells(v.Text, t.read)
		case dsl.Code:
			return certain || s.tells(strings.ReplaceAll(strings.ToLower(v.Text), "_", " "), t.read)
		case dsl.Bool:
			return v.Text == "true" && s.tells(strings.ReplaceAll(p.Name, "-", " "), t.read)
		}
		return certain
	})
}

// wordsIn returns the words of a text, "can't" as two.
func wordsIn(text string) []string {
	return search.Words(strings.NewReplacer("n't", " not", "n’t", " not").Replace(text))
}

// denies reports whether a word turns what a sentence says into its opposite.
func denies(word string) bool {
	word = values.Plain(word)
	return slices.Contains(values.Phrases("denial"), word) || slices.Contains(values.Phrases("negating"), word)
}

// meaningful returns the words of a text without those that only join others.
func meaningful(text string) (words []string) {
	for _, w := range wordsIn(text) {
		plain := values.Plain(w)
		slight := slices.Contains(values.Phrases("interrogative"), plain) || slices.Contains(values.Phrases("slight"), plain) && (!slices.Contains(values.Phrases("unsaid"), plain) || slices.Contains(values.Phrases("filler"), plain))
		if !slight && !denies(w) {
			words = append(words, w)
		}
	}
	return words
}

func sameStem(a, b string) bool {
	stems := search.Stems(b)
	return slices.ContainsFunc(search.Stems(a), func(stem string) bool { return slices.Contains(stems, stem) })
}

// slipped reports whether two long words differ as keys slip: two letters swapped, or one of them doubled.
// Another letter may make another word or name.
func slipped(a, b string) bool {
	const long = 7
	if len(a) < len(b) {
		a, b = b, a
	}
	if len(b) < long || len(a) > len(b)+1 {
		return false
	}
	i := 0
	for i < len(b) && a[i] == b[i] {
		i++
	}
	switch {
	case len(a) > len(b):
		return i > 0 && a[i] == a[i-1] && a[i+1:] == b[i:]
	case i+1 < len(a):
		return a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
	}
	return false
}

// tells reports whether the names, numbers and content words of a text stand in the source, in any
// order and inflection: all of them in a few sentences on end, which deny as much as the text does.
func (s *source) tells(text string, read reader) bool {
	words, dated, ok := s.content(text, read)
	if !ok || len(words) == 0 {
		return ok && dated
	}
	meant, _ := corrected(clausesOf(text), read, s.when)
	no := slices.ContainsFunc(wordsIn(strings.Join(meant, "")), denies)
	said := sentencesOf(s.text)
	most := max(2, len(sentencesOf(text)))
	for i := range said {
		for n := 1; n <= most && i+n <= len(said); n++ {
			window := wordsIn(strings.Join(said[i:i+n], " "))
			if slices.ContainsFunc(window, denies) == no && !slices.ContainsFunc(words, func(w string) bool {
				return !slices.ContainsFunc(window, func(other string) bool { return sameStem(w, other) || slipped(w, other) })
			}) {
				return true
			}
		}
	}
	return false
}

// content returns the words of a text that carry meaning, those of its dates apart; dated reports
// whether it has any. It is not ok if the text holds a date that the source does not.
func (s *source) content(text string, read reader) (words []string, dated, ok bool) {
	left := text
	for _, r := range slices.Backward(read(text, s.when)) {
		if !r.date || r.value.IsNull() {
			continue
		}
		if certain, _ := s.hasDate(r.value); !certain && !s.hasWords(fold(text[r.start:r.end])) {
			return nil, false, false
		}
		dated = true
		// "Monday morning" says more than Monday: what the day is understood without is kept.
		more := ""
		of := text[r.start:r.end]
		for _, w := range search.Words(of) {
			rest := read(strings.Replace(of, text[r.start+strings.Index(strings.ToLower(of), w):][:len(w)], "", 1), s.when)
			if strings.ContainsAny(w, "0123456789") || len(rest) != 1 || !rest[0].date || rest[0].value != r.value {
				continue
			}
			more += " " + w
		}
		left = left[:r.start] + more + " " + left[r.end:]
	}
	return meaningful(left), dated, true
}
