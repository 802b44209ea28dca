package dialog

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// Which rows a person means by their own words. A change is asked about where its row is another.

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

// unchosen lists, by their labels, the rows of changing calls that the model chose: the person named
// none of them, they are not the only ones of their kind, and the last answer was not about them
// alone. (SAFE-S8)
func (t *turn) unchosen(ctx context.Context, script *dsl.Script, u *Understood) (called []string, err error) {
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
	var texts, rows []string
	t.eachChanging(script, func(_ *verbs.Param, v *dsl.Value) {
		switch v.Kind {
		case dsl.String:
			texts = append(texts, v.Text)
		case dsl.Symbol:
			rows = append(rows, v.Text)
		}
	})
	for i := range script.Calls {
		c := &script.Calls[i]
		for _, row := range c.Args {
			if row.Value.Kind != dsl.Symbol || !t.changes(t.c.o.Registry.Verb(c.Verb)) {
				continue
			}
			another := false
			t.eachChanging(&dsl.Script{Calls: script.Calls[i : i+1]}, func(_ *verbs.Param, v *dsl.Value) {
				another = another || t.trace.saidOfAnother(v, row.Value.Text, t.alike(row.Value.Text), texts, rows)
			})
			if another {
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
		row, failed := t.codedRow(ctx, name, others)
		if err = cmp.Or(err, failed); row != "" || failed != nil {
			if row != name {
				add(name)
			}
			return
		}
		if slices.ContainsFunc(itemsOf(t.heard.own), func(item string) bool { return excludes(item, name) }) && !t.trace.wishedNow(func(s *source) bool { return s.chooses(name, others) }) {
			add(name)
			return
		}
		if !t.trace.namesAnother(name, others) && (slices.Contains(u.Assumed, name) || slices.Contains(u.Names, name) || strings.Contains(u.Script, "@"+name+" ")) {
			return // our own reader takes it from the words
		}
		about := slices.DeleteFunc(slices.Clone(others), func(other string) bool {
			return settled[other] && other != name || !slices.Contains(last, other) && !told.chooses(other, others)
		})
		switch same := func(other string) bool { return other != name && slices.Contains(others, other) }; {
		case misnamed(t.heard.own, name):
		case t.trace.chose(name, others, rows), len(others) == 1 && others[0] == name:
			return
		case len(about) == 1 && about[0] == name && !slices.ContainsFunc(others, func(other string) bool { return same(other) && t.trace.chose(other, others, rows) }):
			return
		}
		add(name)
	})
	return called, err
}

// codedRow returns the row of a name's kind, all of whose names are others, that the newest order which names one names
// by a code that no other has: "the passport one", of a request for one. It is "" where an order uses the words of names.
func (t *turn) codedRow(ctx context.Context, name string, others []string) (row string, err error) {
	var codes map[string][]string
	for _, s := range slices.Backward(t.trace.wish) {
		s.prepare(t.trace.read)
		if slices.ContainsFunc(others, func(other string) bool { return s.chooses(other, others) }) {
			return "", nil
		}
		for _, said := range sentencesOf(s.text) {
			if at := toldAt(said); at > 0 {
				said = said[:at]
			}
			if !orders(said) {
				continue
			}
			if codes == nil {
				if codes, err = t.c.o.Session.Names().Codes(ctx, t.c.o.Session.Names().Of(name), others); err != nil {
					return "", err
				}
			}
			found := slices.DeleteFunc(slices.Sorted(maps.Keys(codes)), func(other string) bool {
				return !slices.ContainsFunc(codes[other], func(code string) bool { return t.saysCode(said, code) })
			})
			if len(found) == 1 {
				return found[0], nil
			}
		}
	}
	return "", nil
}

// orders reports whether a text asks for something to be done, also where the order comes last: "en la del pasaporte ponga".
func orders(text string) bool {
	return asksFor(text) || slices.ContainsFunc(strings.Fields(nameable(text)), func(w string) bool { return isOne(w, "bidding") })
}

// saysCode reports whether a text has the words of a code, or of what it is called in the text's language: "Pass" for "Reisepass".
func (t *turn) saysCode(text, code string) bool {
	const short = 3
	said := wordsIn(text)
	all := []string{codeWords(code)}
	for _, l := range values.Detect(text) {
		if label, ok := t.c.o.Registry.Says(l.String(), code); ok {
			all = append(all, label)
		}
	}
	return slices.ContainsFunc(all, func(label string) bool {
		words := meaningful(label)
		return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool {
			return !slices.ContainsFunc(said, func(other string) bool {
				return sameStem(w, other) || len(other) > short && len(words) == 1 && strings.HasSuffix(values.Plain(w), values.Plain(other))
			})
		})
	})
}

// misnamed reports whether a text has words of a row's name within names of others, and nowhere its own whole name: "Paul
// Dupont", "Pierre Weber" and "Pierre Dupont senior" are not Pierre Dupont. Where nouns are written with capitals, one that the lexicon does not know
// may be the first name before another one, and what stands behind is told by nobody.
func misnamed(text, name string) (mis bool) {
	in := values.Detect(text)
	nouns := len(in) == 1 && in[0].Has(values.NounCapitals)
	parts := strings.Split(name, "-")
	of := func(w string) int {
		w, _, _ = strings.Cut(strings.ReplaceAll(w, "’", "'"), "'")
		return slices.IndexFunc(parts, func(part string) bool { return part == values.Plain(w) || part+"s" == values.Plain(w) })
	}
	for _, said := range sentencesOf(text) {
		words := strings.Fields(said)
		for i, w := range words[min(1, len(words)):] {
			w = values.Plain(w)
			if slices.Contains(values.Phrases("generation"), w) && of(words[i]) >= 0 && !slices.Contains(parts, w) {
				return true
			}
		}
		for i := 0; i < len(words); i++ {
			var run []string // words on end with a capital; the first of a sentence has one in any case
			for ; i < len(words); i++ {
				w := strings.Trim(words[i], `.,;:!?"“”„«»()…`)
				first, _ := utf8.DecodeRuneInString(w)
				capital := i > 0 && unicode.IsUpper(first) && w != strings.ToUpper(w) && !noNames(w) && !titles(w) && !values.HasMeaning(fold(w))
				if capital {
					run = append(run, w)
				}
				if !capital || w != words[i] {
					break
				}
			}
			for j, w := range run {
				switch at := of(w); {
				case at < 0:
				case !nouns && at == 0 && j+1 < len(run) && of(run[j+1]) < 0, at > 0 && j > 0 && of(run[j-1]) < 0 && !isLight(values.Plain(run[j-1])): // "Akte Dupont"
					mis = true
				case len(run) > 1:
					return false
				}
			}
		}
	}
	return mis
}

// tellsMore reports whether an item of a sentence tells something of its own row before the next item names another: "on
// Pierre …, and on Thomas …". "For both Pierre and Thomas …" does not, and neither does "note on Pierre's and on Thomas's".
func (t *tracer) tellsMore(said, item, next string) bool {
	const few = 2
	words := meaningful(item)
	before := strings.Fields(nameable(said[:max(0, strings.Index(said, next))]))
	if len(before) > 0 && slices.Contains(values.Phrases("joining"), before[len(before)-1]) {
		words = slices.DeleteFunc(words, func(w string) bool {
			w, _, _ = strings.Cut(strings.ReplaceAll(w, "’", "'"), "'")
			return isOne(values.Plain(w), "bidding") || t.called(w)
		})
	}
	return len(words) > few
}

// chose reports whether the person named a row in the words that led here. The newest message that names
// one of this kind takes the place of those before.
func (t *tracer) chose(name string, others, rows []string) bool {
	for _, s := range slices.Backward(t.wish) {
		s.prepare(t.read)
		if slices.ContainsFunc(others, func(other string) bool { return s.chooses(other, others) }) {
			return s.chooses(name, others) && !(s.past && !s.amended && t.another(s, name, others, rows))
		}
	}
	// A change uses up the words for its own rows. Another one that they named is still to come.
	return !slices.ContainsFunc(t.used, func(at string) bool { return strings.HasPrefix(at[1:]+"~", name+"~") }) && slices.ContainsFunc(t.all, func(s *source) bool {
		if s.origin != ofPerson {
			return false
		}
		s.prepare(t.read)
		return s.chooses(name, others) && !t.another(s, name, others, rows)
	})
}

// another reports whether an earlier message names another row of the kind as well, of which no call is and that no change
// has used up: "him" is one of two.
func (t *tracer) another(s *source, name string, others, rows []string) bool {
	return slices.ContainsFunc(others, func(other string) bool {
		return other != name && !slices.Contains(rows, other) && s.chooses(other, others) &&
			!slices.ContainsFunc(t.used, func(at string) bool { return strings.HasPrefix(at[1:]+"~", other+"~") })
	})
}

// namesAnother reports whether this message names rows of the kind and not this one.
func (t *tracer) namesAnother(name string, others []string) bool {
	return t.wishedNow(func(s *source) bool {
		return !s.chooses(name, others) && slices.ContainsFunc(others, func(other string) bool { return s.chooses(other, others) })
	})
}

// saidOfAnother reports whether each sentence that says a value names other rows of the kind and not this one, or
// this one only within a text and another, of which no call is, outside: "for Maria, write that Pierre …".
func (t *tracer) saidOfAnother(v *dsl.Value, name string, others, texts, rows []string) (another bool) {
	text := ""
	switch {
	case isExact(v):
	case v.Kind == dsl.String:
		text = v.Text
	default:
		return false
	}
	for _, s := range t.wish {
		if s.amended {
			continue // "the same note on Thomas"
		}
		for _, own := range s.own {
			if calls(text, name, others) && slices.ContainsFunc(others, func(other string) bool {
				return !slices.Contains(rows, other) && !slices.ContainsFunc(texts, func(text string) bool { return calls(text, other, others) }) &&
					slices.ContainsFunc(itemsOf(own.text), func(item string) bool { return calls(item, other, others) })
			}) {
				another = true
				continue
			}
			about := []string{} // the items that name rows, here or last
			for i, said := range itemsOf(own.text) {
				if slices.ContainsFunc(others, func(other string) bool { return calls(said, other, others) && !calls(text, other, others) }) {
					if i > 0 && t.tellsMore(own.text, itemsOf(own.text)[i-1], said) {
						about = nil
					}
					about = append(about, said)
				}
				one := &source{origin: s.origin, text: said, when: s.when}
				one.prepare(t.read)
				if certain, _ := one.says(v); text == "" && !certain || text != "" && !one.tells(text, t.read) {
					continue
				}
				if len(about) == 0 || calls(said, name, others) || slices.ContainsFunc(about, func(said string) bool { return calls(said, name, others) }) {
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
	if s.hasWords("@" + strings.ToLower(name)) {
		return true
	}
	named := func(said string) bool {
		return calls(said, name, others) || containsWord(fold(said), strings.ReplaceAll(name, "-", " "))
	}
	return slices.ContainsFunc(sentencesOf(s.text), func(said string) bool {
		items := itemsOf(said)
		other := false // "note for Thomas that Pierre …"
		if slices.ContainsFunc(items, func(item string) bool {
			if at := conjoins().FindStringIndex(item); at != nil && asksFor(item[:at[0]]) && slices.ContainsFunc(others, func(other string) bool { return calls(item[:at[0]], other, others) }) {
				item = item[:at[0]] // "note for Thomas that he has not …"
				other = other || !named(item)
			}
			return named(item) && !slices.ContainsFunc(wordsIn(item), denies)
		}) {
			return true
		}
		if slices.ContainsFunc(items, func(item string) bool { return named(item) && excludes(item, name) }) {
			return false
		}
		return !other && (named(said) || slices.ContainsFunc(items, named)) && !slices.ContainsFunc(items, func(item string) bool {
			return slices.ContainsFunc(others, func(other string) bool { return other != name && calls(item, other, others) }) // "not Pierre, Thomas"
		})
	})
}

// excludes reports whether an item of a sentence denies the words of a name themselves: "not for Mr Müller".
func excludes(item, name string) bool {
	denied := false
	for _, w := range wordsIn(item) {
		switch plain := values.Plain(w); {
		case denies(w):
			denied = true
		case isLight(plain), slices.Contains(values.Phrases("title"), plain), slices.Contains(values.Phrases("onday"), plain):
		case slices.Contains(strings.Split(name, "-"), strings.TrimSuffix(plain, "s")), slices.Contains(strings.Split(name, "-"), plain):
			if denied {
				return true
			}
		default:
			denied = false
		}
	}
	return false
}
