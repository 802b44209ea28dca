package dialog

import (
	"context"
	"slices"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
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
	if i := slices.IndexFunc(t.trace.wish, func(s *source) bool { return s.amended }); i >= 0 && !t.bringsNew(script) {
		t.trace.wish = slices.Delete(slices.Clone(t.trace.wish), i, i+1)
	}
	var changes []*verbs.Verb
	for i := range script.Calls {
		if v := t.c.o.Registry.Verb(script.Calls[i].Verb); t.changes(v) {
			changes = append(changes, v)
		}
	}
	if len(changes) > 0 && (t.talks() || t.denied(script) || t.ordersOther(script) || !t.wishedFor(script, changes, &u)) {
		why = append(why, w.reason(sayUnasked))
	}
	unchosen, err := t.unchosen(ctx, script, &u)
	if err != nil {
		return nil, err
	}
	for _, name := range unchosen {
		why = append(why, w.reason(sayUnchosen, name))
	}
	names := slices.Concat(t.unsourced(script), t.reworded(script), t.misdated(script))
	slices.Sort(names)
	if names = slices.Compact(names); len(names) > 0 {
		why = append(why, w.arguments(sayUnsourced, names))
	}
	if len(changes) > 0 && len(why) == 0 {
		if left := t.leftOver(script); len(left) > 0 {
			why = append(why, w.reason(sayLeftOver, strings.Join(left, " … ")))
		}
	}
	return why, nil
}

// wishedFor reports whether a message may ask for a change: it holds an order, goes on with one, or the message
// before it held one and nothing was done; it is understood as one of the verbs, and orders or, in the course of a
// conversation or of themselves, says a day or a number; or it says one that the verb needs of the row. Whatever else is only told is asked about.
func (t *turn) wishedFor(script *dsl.Script, changes []*verbs.Verb, u *Understood) bool {
	if asksToTell(t.heard.own) && !slices.ContainsFunc(sentencesOf(t.heard.own), asksFor) {
		return false
	}
	if t.c.expected != (expected{}) || t.was.open() || len(t.subject.Names) > 0 {
		return true
	}
	if n := len(t.trace.wish); !t.takesBackAll(script) && slices.ContainsFunc(t.trace.wish[max(0, n-2):], func(s *source) bool {
		return s.amended || !s.answered && slices.ContainsFunc(s.own, func(own statement) bool { return own.orders })
	}) {
		return true
	}
	if freshly().MatchString(values.Plain(t.heard.own)) || hearsay(t.heard.own) {
		return false
	}
	talks := slices.ContainsFunc(sentencesOf(t.heard.own), func(said string) bool {
		const few = 1 // "Sorry!"
		return strings.HasSuffix(said, "!") && len(meaningful(said)) > few
	}) || strings.HasSuffix(strings.TrimSpace(t.heard.own), "?")
	var words []string // of each clause, as far as the person speaks of themselves: "I had you note …" orders nothing
	for _, clause := range clausesOf(t.heard.own) {
		said := strings.Fields(nameable(clause))
		if i := slices.IndexFunc(said, isSelf); i >= 0 {
			said = said[:i]
		}
		words = append(words, said...)
	}
	bids := slices.ContainsFunc(words, func(w string) bool { return isOne(w, "bidding") })
	for _, v := range changes {
		if !talks && slices.Contains(u.Verbs, v.Name) && (bids || (len(t.c.latest()) > 0 || speaksOfSelf(t.heard.own)) && t.states(script, t.heard.own, false)) || namesVerb(words, v) {
			return true
		}
	}
	chosen := t.chosenNow(changes)
	if t.writesUnder(chosen, script) {
		return true
	}
	return slices.ContainsFunc(ownWords(t.heard.own, readWords, t.now), func(own statement) bool {
		return (len(chosen) > 0 || t.ofWhatWasTold(own.text)) && !enquires(own.text) && t.states(script, own.text, true)
	})
}

// isSelf reports whether a word is one by which people speak of themselves: "we", "our".
func isSelf(word string) bool { return slices.Contains(values.Phrases("firstperson"), word) }

// speaksOfSelf reports whether a message has such a word: "we will have it on Monday" promises, and "you get it" only tells.
func speaksOfSelf(text string) bool {
	return slices.ContainsFunc(strings.Fields(nameable(text)), isSelf)
}

// ordersOther reports whether all orders of the message are to ask somebody, and no call is of a verb that is said so.
func (t *turn) ordersOther(script *dsl.Script) (other bool) {
	for _, said := range sentencesOf(t.heard.own) {
		words := strings.Fields(nameable(lastOrder(said)))
		i := slices.IndexFunc(words, func(w string) bool { return !opens(w) })
		if i < 0 {
			continue
		}
		stem := words[i]
		for _, end := range values.Spanish.Phrases("enclitic") {
			stem = strings.TrimSuffix(stem, end)
		}
		if !isOne(words[i], "enquiring") || slices.ContainsFunc(script.Calls, func(c dsl.Call) bool {
			v := t.c.o.Registry.Verb(c.Verb)
			return v != nil && (has(phrasedWith(v, ""), words[i]) || has(phrasedWith(v, ""), stem))
		}) {
			return false
		}
		other = true
	}
	return other
}

// takesBackAll reports whether a message corrects what was said before and says nothing else in its place: "sorry, that was
// meant for somebody else".
func (t *turn) takesBackAll(script *dsl.Script) bool {
	return corrects(t.heard.own) && !slices.ContainsFunc(sentencesOf(t.heard.own), asksFor) && !t.states(script, t.heard.own, false) &&
		!slices.ContainsFunc(t.trace.wish, func(s *source) bool { return s.amended })
}

// states reports whether a sentence says a day or a number for an argument, which may have to be a required one.
func (t *turn) states(script *dsl.Script, said string, required bool) (states bool) {
	one := &source{text: said, when: t.now}
	one.prepare(readWords)
	t.eachChanging(script, func(p *verbs.Param, v *dsl.Value) {
		if isExact(v) {
			certain, _ := one.says(v)
			states = states || certain && (p.Required || !required || p.Type.Name == verbs.ObjectType)
		}
	})
	return states
}

// writesUnder reports whether the message writes a text of the calls behind the name of a row that it names and a
// colon: "Dictation for Thomas: …".
func (t *turn) writesUnder(chosen []string, script *dsl.Script) (writes bool) {
	for _, own := range ownWords(t.heard.own, readWords, t.now) {
		head, text, _ := strings.Cut(own.text, ":")
		one := &source{text: text, when: t.now}
		one.prepare(readWords)
		if hearsay(head) || slices.ContainsFunc(wordsIn(head), denies) || !slices.ContainsFunc(chosen, func(name string) bool { return calls(head, name, t.alike(name)) }) {
			continue
		}
		t.eachChanging(script, func(_ *verbs.Param, v *dsl.Value) {
			writes = writes || v.Kind == dsl.String && one.tells(v.Text, readWords)
		})
	}
	return writes
}

var freshly = lazily(func() string { return `\b(?:` + values.Expression("fresh") + `)\b` })

// ofWhatWasTold reports whether a sentence with a value is about what was just spoken of: it, or what
// follows its colon, begins with "she" or "it", or has hardly another word.
func (t *turn) ofWhatWasTold(said string) bool {
	const first, few = 3, 3
	said = said[strings.LastIndex(said, ":")+1:]
	words := wordsIn(said)
	return slices.ContainsFunc(words[:min(first, len(words))], func(w string) bool { return slices.Contains(values.Phrases("thirdperson"), values.Plain(w)) }) || len(meaningful(said)) <= few
}

// denied reports whether the message denies or forbids something after which it orders nothing, and no text
// of the calls says so: "nothing for Pierre yet, he has not called" forbids, whatever a text says of him.
func (t *turn) denied(script *dsl.Script) (denied bool) {
	var texts []string
	t.eachChanging(script, func(_ *verbs.Param, v *dsl.Value) {
		if v.Kind == dsl.String && slices.ContainsFunc(wordsIn(v.Text), denies) {
			texts = append(texts, v.Text)
		}
	})
	amends := slices.ContainsFunc(t.trace.wish, func(s *source) bool { return s.amended })
	for _, said := range sentencesOf(unquoted(reminded(t.heard.own))) {
		kept, _ := corrected(clausesOf(said), readWords, t.now)
		said = strings.Join(kept, "")
		if amends {
			if left := strings.Join(slices.DeleteFunc(clausesOf(said), deniesFirst), ""); len(meaningful(left)) > 0 {
				said = left // "13 January, not the 8th"
			}
		}
		order := 0
		if last := lastOrder(said); last != "" {
			order = strings.LastIndex(said, last)
		}
		switch {
		case drops(said) && (order == 0 || drops(said[order:])):
			denied = true // "have them note …, but forget it"
		case supposes(said), thatsAll().MatchString(values.Plain(said)), isAside(said):
		case order > 0 && !slices.ContainsFunc(wordsIn(said[order:]), denies):
			denied = false // "I had no coffee, but please put that on his request"
		case slices.ContainsFunc(clausesOf(said), func(clause string) bool {
			words := wordsIn(clause)
			return slices.ContainsFunc(words, denies) && !slices.ContainsFunc(texts, func(text string) bool {
				return slices.ContainsFunc(meaningful(text), func(w string) bool {
					return slices.ContainsFunc(words, func(other string) bool { return sameStem(w, other) })
				})
			})
		}):
			denied = true
		case asksFor(said) || t.states(script, said, true):
			denied = false
		}
	}
	return denied
}

// unsourced lists the arguments of changing calls with a value that nobody said.
func (t *turn) unsourced(script *dsl.Script) (names []string) {
	figure, name := t.leavesUnused(script, figures().FindAllString), t.leavesUnused(script, t.namesIn)
	t.eachChanging(script, func(p *verbs.Param, v *dsl.Value) {
		if v.Kind == dsl.Symbol || p.From&verbs.FromModel != 0 || slices.Contains(names, p.Name) {
			return
		}
		stale := false
		if figure && figures().MatchString(v.Text) && (isExact(v) || v.Kind == dsl.String) || name && v.Kind == dsl.String && len(t.namesIn(v.Text, -1)) > 0 {
			stale = !t.trace.wishedNow(func(s *source) bool {
				certain, _ := s.says(v)
				return certain || v.Kind == dsl.String && s.tells(v.Text, t.trace.read)
			})
		}
		if stale || !t.trace.sourced(v, p) {
			names = append(names, p.Name)
		}
	})
	return names
}

// leavesUnused reports whether the message says something of a kind, which of finds in a text, of which the calls take
// nothing. Then a value of an earlier message may be the one that it corrects: "1947, I mistyped it", "Ms Lang
// brings it, not Ms Brandt".
func (t *turn) leavesUnused(script *dsl.Script, of func(text string, n int) []string) bool {
	plain := func(found string) string { return strings.TrimLeft(fold(found), "0") }
	taken := map[string]bool{}
	t.eachChanging(script, func(_ *verbs.Param, v *dsl.Value) {
		for _, found := range of(v.Text, -1) {
			taken[plain(found)] = true
		}
	})
	if slices.ContainsFunc(t.trace.wish, func(s *source) bool { return s.amended }) {
		for _, found := range of(t.trace.changed.Said, -1) {
			taken[plain(found)] = true // "scrap the 10th, it's the 13th"
		}
	}
	return slices.ContainsFunc(of(t.heard.own, -1), func(found string) bool { return !taken[plain(found)] })
}

// namesIn returns the words of a text that stand behind a title and are no words of rows: names of people.
func (t *turn) namesIn(text string, _ int) (found []string) {
	words := spokenWords().FindAllString(text, -1)
	for i, w := range words[:max(0, len(words)-1)] {
		if next := words[i+1]; titles(w) && !t.trace.called(fold(next)) {
			found = append(found, next)
		}
	}
	return found
}

var figures = lazily(func() string { return `\d+` })

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
	if t.civil || t.heard.reply.Answer == values.Pleased || isAside(t.heard.own) {
		return true
	}
	return !slices.ContainsFunc(sentencesOf(t.heard.own), func(said string) bool {
		if !enquires(said) {
			return !thanksFor().MatchString(values.Plain(said)) || asksFor(said)
		}
		order, _, _ := strings.Cut(said, ":") // "ask them this: will a copy do?"
		return asksFor(said) || slices.ContainsFunc(wordsIn(order), func(w string) bool { return slices.Contains(values.Phrases("enquiring"), values.Plain(w)) }) && wants(strings.TrimRight(order, "?"))
	})
}

var thanksFor = lazily(func() string { return `^(?:` + values.Expression("thanksfor") + `)` })

// wishes gathers the person's words that may lead to a change now. Where the last turn asked for more, what
// was said in it is not settled. A message that amends the last change ("make that the 15th") goes on with the
// words that led to it.
func (s *sources) wishes(past []*Turn, asked bool) {
	s.asked = asked
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
			spent, s.changed = p.Time, p
		}
	}
	for _, src := range s.all {
		if src.origin != ofPerson || src.past && !src.when.After(spent) {
			continue
		}
		if own := ownWords(src.text, s.read, src.when); len(own) > 0 {
			if whole := amends(own); !src.past && s.changed != nil && sameDay(s.changed.Time, src.when) && (whole || s.changed == past[len(past)-1] && corrects(src.text)) {
				s.wish = append(s.wish, s.amended(own, src.when, whole))
			}
			s.wish = append(s.wish, &source{origin: src.origin, text: textOf(own), when: src.when, past: src.past, own: own, answered: src.past && answered[src.when]})
		}
	}
}

// bringsNew reports whether calls take from a message that amends the last change anything but that change: a row, a
// value or a word that stands in the message and did not before.
func (t *turn) bringsNew(script *dsl.Script) (brings bool) {
	now := t.trace.wish[len(t.trace.wish)-1]
	now.prepare(t.trace.read)
	before := &source{text: t.trace.changed.Said, when: t.trace.changed.Time}
	before.prepare(t.trace.read)
	t.eachChanging(script, func(_ *verbs.Param, v *dsl.Value) {
		switch v.Kind {
		case dsl.Symbol:
			brings = brings || now.chooses(v.Text, t.alike(v.Text)) && !before.chooses(v.Text, t.alike(v.Text))
		case dsl.String:
			said, old := wordsIn(now.text), wordsIn(before.text)
			brings = brings || slices.ContainsFunc(meaningful(v.Text), func(w string) bool { return stands(w, said, nil) && !stands(w, old, nil) })
		default:
			says, _ := now.says(v)
			said, _ := before.says(v)
			brings = brings || says && !said
		}
	})
	return brings
}

// amended returns the words that led to a change, and the message behind them. Dates and numbers for which the message
// has others are left out; all are, unless it asks for the whole again: "it will be later than I said".
func (s *sources) amended(own []statement, when time.Time, whole bool) *source {
	var all []statement
	others := s.read(textOf(own), when)
	for _, before := range ownWords(s.changed.Said, s.read, s.changed.Time) {
		stale := others
		if !whole {
			stale = s.read(before.text, s.changed.Time)
		}
		before.text = withdrawn(before.text, stale, s.read, s.changed.Time)
		all = append(all, before)
	}
	for _, now := range own {
		now.text = strings.Join(slices.DeleteFunc(clausesOf(now.text), deniesFirst), "") // "it is Legal, not HR"
		all = append(all, now)
	}
	return &source{origin: ofPerson, text: textOf(all), when: s.changed.Time, past: true, own: all, amended: true}
}

// sameDay reports whether two messages were sent on one day. The words of another day are read by another: "tomorrow".
func sameDay(a, b time.Time) bool {
	a = a.In(b.Location())
	return a.YearDay() == b.YearDay() && a.Year() == b.Year()
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
