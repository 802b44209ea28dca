package dialog

import (
	"slices"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
	"verbatim/stores"
	"verbatim/verbs"
)

// What a message says beside what its calls take. A list of all that turns an order into none (a condition, a doubt,
// an afterthought, a joke) never ends, so it is asked the other way round: from the first word that a call takes, each
// word of a message has to be taken by a call, to name its row or its act, or to be one of the few that say nothing.
// What is left over is asked about.

// A spokenWord is a word of a message.
type spokenWord struct {
	word     string
	from, to int  // in its sentence
	taken    bool // by a call
	text     bool // into a text
	first    bool // of a text
	day      bool
}

// heardIn returns the words of a sentence. A contraction is several words in one place, and a day that is said in
// several words is one.
func heardIn(said string, read reader, when time.Time) (all []*spokenWord) {
	days := slices.DeleteFunc(read(said, when), func(r reading) bool {
		const year = 4
		_, number := stores.ParseDecimal(said[r.start:r.end])
		return !r.date || r.value.IsNull() || number && r.end-r.start == year
	})
	for _, at := range spokenWords().FindAllStringIndex(said, -1) {
		if i := slices.IndexFunc(days, func(r reading) bool { return at[0] >= r.start && at[1] <= r.end }); i >= 0 {
			if day := days[i]; len(all) == 0 || all[len(all)-1].from != day.start {
				all = append(all, &spokenWord{word: day.value.Text(), from: day.start, to: day.end, day: true})
			}
			continue
		}
		word := values.Plain(said[at[0]:at[1]])
		if stem, ok := strings.CutSuffix(word, "nt"); ok && denies(word) {
			word = stem + "n t" // "doesnt"
		}
		for _, w := range strings.Fields(word) {
			all = append(all, &spokenWord{word: w, from: at[0], to: at[1]})
		}
	}
	return all
}

// Takings are what the changing calls of a script take from a message.
type takings struct {
	exact   []*dsl.Value // days and numbers
	others  []string     // account numbers and the like
	texts   []string
	names   []string               // the words that name their rows, verbs, arguments and codes
	phrases []string               // the words of the phrases with which the palette says them
	called  func(word string) bool // it is of the name of a row
	kin     func(word string) bool // of a row of a kind of theirs
	reads   bool                   // another call answers a question
	asks    bool                   // one of the texts is a question
}

func (t *turn) takenBy(script *dsl.Script) (of takings) {
	var rows []string
	t.eachChanging(script, func(p *verbs.Param, v *dsl.Value) {
		switch {
		case v.Kind == dsl.Symbol, v.Kind == dsl.Code:
			if v.Kind == dsl.Symbol {
				rows = append(rows, v.Text)
			}
			of.names = append(of.names, wordsIn(strings.ReplaceAll(codeWords(v.Text), "-", " "))...)
		case isExact(v):
			of.exact = append(of.exact, v)
		case v.Kind == dsl.String && p.Type.Name != verbs.StringType, v.Kind != dsl.String:
			of.others = append(of.others, v.Text)
		case t.isOwnText(p, v):
			of.texts = append(of.texts, v.Text)
			of.asks = of.asks || isQuestion(v.Text)
		}
	})
	var kin []string // words of the rows of the same kinds: "2021" may name a document, and is none of them
	for _, name := range rows {
		for _, other := range t.alike(name) {
			kin = append(kin, wordsIn(strings.ReplaceAll(other, "-", " "))...)
		}
	}
	of.kin = func(word string) bool {
		return slices.Contains(kin, word) || slices.Contains(kin, strings.TrimSuffix(word, "s"))
	}
	of.called = func(word string) bool { return t.trace.called(word) || t.trace.called(strings.TrimSuffix(word, "s")) }
	of.names = append(of.names, wordsIn(t.c.o.Person)...) // at the end of a letter
	parts := strings.NewReplacer("-", " ", ".", " ")
	for i := range script.Calls {
		v := t.c.o.Registry.Verb(script.Calls[i].Verb)
		if !t.changes(v) {
			of.reads = true
			continue
		}
		of.names = append(of.names, wordsIn(parts.Replace(v.Name))...)
		for i := range v.Params {
			of.names = append(of.names, wordsIn(parts.Replace(v.Params[i].Name))...)
		}
		of.phrases = append(of.phrases, phrasedWith(v, "")...)
		for j := range v.Effects {
			if e := v.Effects[j].Entity; e != nil && v.Effects[j].Kind == verbs.Creates { // "with a reminder"
				label, _ := t.c.o.Registry.Says(t.c.wording.language, e.Store.Name)
				of.names = append(of.names, wordsIn(parts.Replace(e.Store.Name)+" "+label)...)
			}
		}
	}
	return of
}

// isOwnText reports whether a value is a text that has to be in the person's words.
func (t *turn) isOwnText(p *verbs.Param, v *dsl.Value) bool {
	if v.Kind != dsl.String || p.Type.Name != verbs.StringType || p.From&verbs.FromModel != 0 || isExact(v) {
		return false
	}
	o := t.trace.origin(v)
	return o == ofPerson || o.Kinds()&verbs.FromModel != 0
}

// phrasedWith returns the words of the phrases that say a verb with an argument, in all languages; of all phrases
// where none is named.
func phrasedWith(v *verbs.Verb, arg string) (words []string) {
	all := slices.Clone(v.Phrases)
	for _, l := range values.Languages() {
		all = append(all, v.PhrasesIn[l.String()]...)
	}
	for _, phrase := range all {
		if arg == "" || strings.Contains(phrase, "{"+arg+"}") {
			words = append(words, wordsIn(inBraces().ReplaceAllString(phrase, " "))...)
		}
	}
	return words
}

var countsFrom = lazily(func() string { return `\b(?:` + values.Expression("countsfrom") + `)` })

var notBefore = lazily(func() string { return `\b(?:` + values.Expression("notbefore") + `)$` })

var inBraces = lazily(func() string { return `\{[^}]*\}` })

// leftOver returns the parts of this message that its calls leave over; none of one that amends the last change.
func (t *turn) leftOver(script *dsl.Script) (left []string) {
	if slices.ContainsFunc(t.trace.wish, func(s *source) bool { return s.amended }) {
		return nil // it changes some of what was said before
	}
	of := t.takenBy(script)
	raw := spokenSentences(reminded(t.heard.own))
	said := t.settledIn(raw, t.now)
	words := make([][]*spokenWord, len(said))
	for i := range said {
		words[i] = heardIn(said[i], t.trace.read, t.now)
		t.takeExact(said[i], words[i], of.exact)
		takeOthers(words[i], of.others)
	}
	for _, text := range of.texts {
		takeOthers(slices.Concat(words...), []string{text})
		left = append(left, brought(said, words, takeText(words, text, heardIn(text, t.trace.read, t.now)))...)
	}
	const few, slip = 3, 4
	begun, taken := false, false
	for i := range said {
		var over []*spokenWord
		orders := asksFor(said[i])
		switch {
		case taken && orders && lastTaken(words[i]) < 0:
			if over = of.left(said[i], words[i]); len(over) <= few && !turns(raw[i], over) {
				over = nil // "Could you let them know?"
			}
		case orders || lastTaken(words[i]) >= 0:
			begun = true
			over = of.leftBehindOrders(said[i], words[i])
			over = append(t.later(said[i], words[i], over), over...)
			taken = taken || lastTaken(words[i]) >= 0
		case begun && !(of.reads && enquires(said[i])) && !wonders(said[i]):
			over = of.left(said[i], words[i])
		}
		if n := len(over); n > 0 && n <= slip && i+1 < len(said) && corrects(raw[i+1]) && !slices.ContainsFunc(words[i], func(w *spokenWord) bool { return w.text }) {
			continue // "… he is in Madrid. Sorry, he is in Lisbon."
		}
		if len(over) > 0 {
			left = append(left, said[i][over[0].from:over[len(over)-1].to])
		}
	}
	return left
}

// brought returns the sentences from which a text takes words although an order says what to write, and its text is of that,
// too: "Between you and me, he is hopeless. Please note that the returns come on Monday." It may not begin in the order
// either: "Note for Thomas: I will post it" is not "Thomas will post it".
func brought(said []string, words [][]*spokenWord, text []*spokenWord) (all []string) {
	for i := range said {
		of := func(w *spokenWord) bool { return slices.Contains(text, w) }
		if at := strings.Index(said[i], ": "); at > 0 && orders(said[i][:at]) && slices.ContainsFunc(words[i], func(w *spokenWord) bool { return of(w) && w.to <= at }) && slices.ContainsFunc(words[i], func(w *spokenWord) bool { return of(w) && w.from >= at }) {
			all = append(all, said[i])
		}
		if _, tells := openingOf(said[i], words[i]); asksFor(said[i]) && tells > 0 && tells < len(words[i]) && slices.ContainsFunc(words[i][tells:], of) {
			for j := range i {
				if !slices.ContainsFunc(words[j], of) {
					continue
				}
				if asksFor(said[j]) {
					break // an order that goes on
				}
				all = append(all, said[j])
			}
		}
	}
	return all
}

// toldAt returns where an order in a sentence comes to what it tells, 0 if it does not.
func toldAt(said string) int {
	for _, at := range tells().FindAllStringIndex(said, -1) {
		if orders(said[:at[0]]) {
			return at[0]
		}
	}
	return 0
}

// quoteMarks match the marks around what is quoted, and no apostrophe.
var quoteMarks = lazily(func() string {
	return `(^|[^\pL\pN])["“”„«»‘’'](.)|(.)["“”„«»‘’']([^\pL\pN]|$)`
})

// later returns the words of a coming day that stand before an order and that no call takes: "tomorrow please note". The
// person wants the order carried out on that day, and not now.
func (t *turn) later(said string, words, over []*spokenWord) (left []*spokenWord) {
	first := slices.IndexFunc(words, func(w *spokenWord) bool { return w.taken || slices.Contains(over, w) })
	if first < 0 {
		first = len(words)
	}
	today := t.now.Format(time.DateOnly)
	for _, r := range t.trace.read(said, t.now) {
		for _, w := range words[:first] {
			if r.date && !r.value.IsNull() && r.value.Text() > today && w.from >= r.start && w.to <= r.end {
				left = append(left, w)
			}
		}
	}
	return left
}

// spokenSentences returns the sentences of a message without its quotation marks.
func spokenSentences(text string) []string {
	return sentencesOf(quoteMarks().ReplaceAllString(text, "$1$3 $2$4"))
}

// settledIn returns the sentences of a message without what it takes back itself.
func (t *turn) settledIn(sentences []string, when time.Time) (said []string) {
	for _, sentence := range sentences {
		kept, corrects := corrected(clausesOf(sentence), t.trace.read, when)
		now := strings.Join(kept, "")
		if n := len(said); n > 0 && corrects {
			said[n-1] = withdrawn(said[n-1], t.trace.read(now, when), t.trace.read, when)
		}
		said = append(said, now)
	}
	return said
}

// leftBehindOrders returns the words of a sentence with orders, or with what calls take, that they leave over. What
// stands before the first word that is taken may be said in any words, as far as the "that" or the colon of the order.
func (of *takings) leftBehindOrders(said string, words []*spokenWord) (left []*spokenWord) {
	starts := []int{0}
	for _, at := range joints().FindAllStringIndex(said, -1) {
		if asksFor(said[at[1]:]) {
			starts = append(starts, at[1])
		}
	}
	starts = append(starts, len(said))
	for i, from := range starts[:len(starts)-1] {
		var part []*spokenWord
		for _, w := range words {
			if w.from >= from && w.from < starts[i+1] {
				part = append(part, w)
			}
		}
		text := slices.ContainsFunc(part, func(w *spokenWord) bool { return w.first }) // and does not go on with it
		taken := lastTaken(part) >= 0
		if text || !taken || asksFor(said[from:starts[i+1]]) {
			order, tells := openingOf(said, part)
			if order >= 0 {
				left = append(left, of.owned(part[order:tells])...)
			}
			part = part[tells:]
		}
		left = append(left, of.left(said, part)...)
	}
	return left
}

// owned returns the words that name another thing of a row's person, or of the speaker, to write on: "on Pierre's mortgage".
func (of *takings) owned(words []*spokenWord) (left []*spokenWord) {
	for i := range max(0, len(words)-2) {
		if slices.Contains(values.Phrases("firstperson"), words[i+1].word) && i > 0 && isLight(words[i].word) && !of.saysNothing(words[i+2].word) && !isSmall(words[i+2].word) {
			left = append(left, words[i+2]) // "in my calendar", and not "find out for me if"
			continue
		}
		if w, s, thing := words[i], words[i+1], words[i+2]; of.called(w.word) && s.word == "s" && s.from == w.from && !of.saysNothing(thing.word) && !of.called(thing.word) && !has(of.phrases, thing.word) {
			left = append(left, thing)
		}
	}
	return left
}

// openingOf returns the word of a part of a sentence that orders, -1 if there is none, and how many words come before what
// it tells.
func openingOf(said string, words []*spokenWord) (order, tells int) {
	first := slices.IndexFunc(words, func(w *spokenWord) bool { return w.taken })
	if first < 0 {
		first = len(words)
	}
	order, tells = -1, first
	for i, w := range words[:first] {
		switch {
		case isOne(w.word, "bidding"):
			if order, tells = i, first; colonAt(said[w.to:]) {
				tells = i + 1
			}
		case (order < 0 || tells == first) && (slices.Contains(values.Phrases("conjunction"), w.word) || colonAt(said[w.to:])):
			tells = i + 1
		}
	}
	return order, tells
}

// colonAt reports whether a colon follows, behind a space as the French write it or without.
func colonAt(said string) bool { return strings.HasPrefix(strings.TrimSpace(said), ":") }

// left returns the words that are neither taken nor say nothing. A clause without a word of a text may say a day or a
// number in the words of the palette's phrases; one that is an aside says nothing.
func (of *takings) left(said string, words []*spokenWord) (left []*spokenWord) {
	whole := isValue(words)
	for _, part := range partsOf(said) {
		from, to := part[0], part[1]
		clause := said[from:to]
		var here []*spokenWord
		for _, w := range words {
			if w.from >= from && w.from < to {
				here = append(here, w)
			}
		}
		value := whole || isValue(here)
		day := isValue(here) && len(of.texts) > 0 && slices.ContainsFunc(here, func(w *spokenWord) bool { return has(of.phrases, w.word) })
		within := slices.ContainsFunc(words, func(w *spokenWord) bool { return w.text && w.from >= to }) // a text goes on behind it
		begun := slices.ContainsFunc(words, func(w *spokenWord) bool { return w.text && w.to <= from })
		if isAside(clause) || len(here) == 0 || !within && of.isOfAnother(here) || (wonders(clause) || of.reads && asksToTell(clause)) && lastTaken(here) < 0 {
			continue
		}
		if i := slices.IndexFunc(here, func(w *spokenWord) bool { return w.text }); i >= 0 && !begun && !of.asks && isAsked(clause, said[here[max(0, i-1)].from:to]) {
			left = append(left, here...) // "are two copies enough?" does not say that they are
			continue
		}
		if i := lastTaken(here) + 1; i > 0 && i < len(here) && isAside(said[here[i].from:to]) {
			here = here[:i] // "… thanks bye"
		}
		leading := from == 0 // "hello yes …"
		for i, w := range here {
			if leading = leading && opens(w.word) && !denies(w.word) && !hedges(w.word); leading {
				continue
			}
			if day && !denies(w.word) && !hedges(w.word) && !slices.Contains(values.Phrases("supposing"), w.word) {
				continue // when what a text tells of is expected: "should have the returns next week"
			}
			another := value && figures().MatchString(w.word) && i > 0 && slices.Contains(values.Phrases("joining"), here[i-1].word)
			near := another || slices.Contains(values.Phrases("onday"), w.word) && slices.ContainsFunc(here[i+1:min(len(here), i+3)], func(w *spokenWord) bool { return w.taken && !w.text }) // "bis zum 14."
			again := slices.ContainsFunc(words, func(other *spokenWord) bool { return other.text && other.word == w.word }) && !denies(w.word) && !figures().MatchString(w.word)
			if !w.taken && !near && !again && !of.saysNothing(w.word) && !(value && has(of.phrases, w.word)) && !(of.asks && isSmall(w.word)) {
				left = append(left, w)
			}
		}
	}
	return left
}

// turns reports whether words of a sentence make what was said before it less, or nothing of it.
func turns(said string, words []*spokenWord) bool {
	return supposes(said) || drops(said) || corrects(said) || slices.ContainsFunc(words, func(w *spokenWord) bool {
		return w.day || figures().MatchString(w.word) || denies(w.word) || hedges(w.word)
	})
}

// isValue reports whether calls take a day or a number from some words, and no text.
func isValue(words []*spokenWord) bool {
	return lastTaken(words) >= 0 && !slices.ContainsFunc(words, func(w *spokenWord) bool { return w.text })
}

// has reports whether a word is one of others, inflected, contracted, or with a slip of the keys in it.
func has(all []string, word string) bool {
	return slices.ContainsFunc(all, func(other string) bool {
		const long = 5
		other = values.Plain(other)
		return other == word || contracts(other, word) || sameStem(other, word) || len(word) >= long && nearly(word, other)
	})
}

// saysNothing reports whether a word names the row or the act, or says nothing, as a letter does.
func (of *takings) saysNothing(word string) bool {
	return isLight(word) || len(word) == 1 || isOne(word, "bidding") || slices.Contains(values.Phrases("pleading"), word) || slices.Contains(values.Phrases("title"), word) ||
		has(of.names, word) || has(of.names, strings.TrimSuffix(word, "s"))
}

// isLight reports whether a text may leave out a word, or have it, and say the same.
func isLight(word string) bool { return slices.Contains(values.Phrases("light"), word) }

// lastTaken returns which word is the last that calls take, -1 if none is.
func lastTaken(words []*spokenWord) int {
	for i, w := range slices.Backward(words) {
		if w.taken {
			return i
		}
	}
	return -1
}

// isQuestion reports whether a text asks, with its mark or without.
func isQuestion(text string) bool {
	return strings.ContainsAny(text, "?¿") || asksFirst().MatchString(values.Plain(text))
}

// isAsked reports whether a clause asks what it says from a place on, and does not ask politely for something to be done.
func isAsked(clause, from string) bool {
	return strings.HasSuffix(strings.TrimSpace(clause), "?") && !asksFor(clause) && (asksFirst().MatchString(values.Plain(clause)) || asksFirst().MatchString(values.Plain(from)))
}

// isSmall reports whether a question may be put with a word or without: "whether he has to", "does he have to?".
func isSmall(word string) bool {
	return len(meaningful(word)) == 0 && !denies(word) && !hedges(word) || slices.Contains(values.Phrases("whether"), word)
}

// partsOf returns where the clauses and items of a sentence begin and end.
func partsOf(said string) (parts [][2]int) {
	from := 0
	for _, clause := range clausesOf(said) {
		to := from + len(clause)
		for _, at := range joints().FindAllStringIndex(said[from:to], -1) {
			if start := len(parts); at[0] > 0 && from+at[1] < to && (start == 0 || parts[start-1][1] < from+at[0]) {
				parts = append(parts, [2]int{from, from + at[0]})
				from, to = from+at[0], from+len(said[from:to])
				break
			}
		}
		parts = append(parts, [2]int{from, to})
		from = to
	}
	return parts
}

// isOfAnother reports whether words of which calls take none speak of another row than theirs, and make no condition: "and
// I have Thomas's passport".
func (of *takings) isOfAnother(words []*spokenWord) bool {
	return slices.ContainsFunc(words, func(w *spokenWord) bool { return of.kin(w.word) && !has(of.names, w.word) }) &&
		!slices.ContainsFunc(words, func(w *spokenWord) bool {
			return w.taken || denies(w.word) || hedges(w.word) || slices.Contains(values.Phrases("supposing"), w.word) || slices.Contains(values.Phrases("contrasting"), w.word)
		})
}

// wonders reports whether a sentence is a question of its own: "how far are we?"
func wonders(said string) bool {
	const most = 3
	words := strings.Fields(nameable(said))
	asks, few := strings.HasSuffix(strings.TrimSpace(said), "?"), len(words) <= most
	for _, w := range words {
		if slices.Contains(values.Phrases("interrogative"), w) {
			return asks
		}
		if asks && few && slices.Contains(values.Phrases("joining"), w) {
			return true // "and the window?"
		}
		if !opens(w) && !slices.Contains(values.Phrases("joining"), w) {
			return false
		}
	}
	return false
}

// isAside reports whether a sentence is no more than a courtesy, or says that there is no more.
func isAside(said string) bool {
	return !slices.ContainsFunc(clausesOf(said), func(clause string) bool {
		plain := values.Plain(clause)
		return plain != "" && !aside().MatchString(plain) && !thatsAll().MatchString(plain)
	})
}

var aside = lazily(func() string {
	var all []string
	for _, said := range slices.Concat(values.Phrases("besides"), values.Phrases("asides")) {
		all = append(all, values.Plain(said))
	}
	all = append(all, values.Phrases("joining")...)
	return `^(?:(?:` + values.Expression("greeting") + `|` + values.Expression("thanks") + `|` + values.Expression("thatsall") + `|` + strings.Join(all, "|") + `|\d{4})(?: |$))+$`
})

// takeExact marks the words of the days and numbers that calls take.
func (t *turn) takeExact(said string, words []*spokenWord, exact []*dsl.Value) {
	for _, r := range t.trace.read(said, t.now) {
		if slices.ContainsFunc(exact, func(v *dsl.Value) bool {
			n, ok := stores.ParseDecimal(v.Text)
			return r.date && r.value.Text() == v.Text || ok && !r.date && isNumber(r.value) && stores.Equal(r.value, n)
		}) {
			for _, w := range words {
				w.taken = w.taken || w.from >= r.start && w.to <= r.end
			}
		}
	}
}

// takeOthers marks the words of values that are written in any grouping.
func takeOthers(words []*spokenWord, others []string) {
	for _, text := range others {
		whole, _, _ := squeeze(text)
		for i := range words {
			var run string
			for j := i; j < len(words) && len(run) < len(whole); j++ {
				if run += words[j].word; run == whole && whole != "" {
					for _, w := range words[i : j+1] {
						w.taken = true
					}
				}
			}
		}
	}
}

// takeText marks the words of a text where sentences say it word for word: in the shortest place with all of them in
// their order, or, of a question and where verbs may stand last, in another. It returns them; none where there is no such place.
func takeText(sentences [][]*spokenWord, text string, want []*spokenWord) (taken []*spokenWord) {
	const most = 20_000 // pairs of words; what is longer is asked about
	all := slices.Concat(sentences...)
	if len(all)*len(want) > most {
		return nil
	}
	sameWord := remembered(sameWord)
	asks := isQuestion(text)
	in := values.Detect(text)
	best := shortest(len(all), want, func(from int, place []int, w string) int {
		if len(place) > 0 {
			from = place[len(place)-1] + 1
		}
		return slices.IndexFunc(all[from:], func(h *spokenWord) bool { return sameWord(h.word, w) }) + from
	}, isLight)
	if asks || best == nil && len(in) > 0 && in[0].Has(values.VerbLast) {
		text := wordsIn(text)
		inflected := remembered(func(said, w string) bool { return asks && sameStem(said, w) || joins(w, said, text) })
		other := shortest(len(all), want, func(from int, place []int, w string) int {
			for i := from; i < len(all); i++ {
				same := sameWord(all[i].word, w) || inflected(all[i].word, w)
				if same && !slices.Contains(place, i) {
					return i
				}
			}
			return from - 1
		}, func(w string) bool {
			return isLight(w) || asks && isSmall(w) || slices.Contains(values.Phrases("separable"), w)
		})
		moved := 1 // the verb of each clause
		for _, w := range want {
			if slices.Contains(values.Phrases("joining"), w.word) {
				moved++
			}
		}
		if !asks && inOrder(other) < len(other)-moved {
			return nil // "he waits for them" is not "they wait for him"
		}
		if best == nil || other != nil && width(other) < width(best) {
			best = other
		}
	}
	for _, i := range best {
		all[i].taken, all[i].text = true, !all[i].day
		taken = append(taken, all[i])
	}
	if best != nil {
		all[slices.Min(best)].first = true
	}
	return taken
}

// remembered returns a comparison that is made once for each pair of words.
func remembered(same func(a, b string) bool) func(a, b string) bool {
	known := map[[2]string]bool{}
	return func(a, b string) bool {
		is, ok := known[[2]string{a, b}]
		if !ok {
			is = same(a, b)
			known[[2]string{a, b}] = is
		}
		return is
	}
}

// shortest returns the places of words among n others that lie closest together. Find returns the place of a word behind
// from, or the one before it; a light word may have none.
func shortest(n int, want []*spokenWord, find func(from int, place []int, word string) int, light func(word string) bool) (best []int) {
	for i := range n {
		var place []int
		whole := true
		for _, w := range want {
			at := find(i, place, w.word)
			switch {
			case at >= i && !slices.Contains(place, at):
				place = append(place, at)
			case !light(w.word):
				whole = false
			}
			if !whole {
				break
			}
		}
		if whole && len(place) > 0 && (best == nil || width(place) <= width(best)) {
			best = place
		}
	}
	return best
}

// width returns how far some places are apart.
func width(places []int) int { return slices.Max(places) - slices.Min(places) }

// inOrder returns how many of some places follow one another at most.
func inOrder(places []int) int {
	longest := make([]int, len(places))
	for i, at := range places {
		longest[i] = 1
		for j, before := range places[:i] {
			if before < at {
				longest[i] = max(longest[i], longest[j]+1)
			}
		}
	}
	return slices.Max(append(longest, 0))
}

// joins reports whether a said word is a word of the text with a separable prefix of that text before it: "abholt" for
// "holt … ab".
func joins(w, said string, text []string) bool {
	return slices.ContainsFunc(values.Phrases("separable"), func(part string) bool { return slices.Contains(text, part) && said == part+w })
}

// sameWord reports whether two words are the same, but for a slip of the keys, or one is the other contracted: "he's".
func sameWord(a, b string) bool {
	return a == b || nearly(a, b) || slipped(a, b) || contracts(a, b)
}

func contracts(a, b string) bool {
	short := values.Phrases("contracted")
	return slices.Contains(short, a+" "+b) || slices.Contains(short, b+" "+a)
}

// reworded lists the arguments of changing calls with a text that stands word for word in no message that led here.
func (t *turn) reworded(script *dsl.Script) (names []string) {
	t.eachChanging(script, func(p *verbs.Param, v *dsl.Value) {
		if t.isOwnText(p, v) && !slices.Contains(names, p.Name) && !t.trace.wished(func(s *source) bool {
			text := s.text
			if !s.past {
				text = t.heard.own
			}
			var words [][]*spokenWord
			for _, said := range t.settledIn(spokenSentences(text), s.when) {
				words = append(words, heardIn(said, t.trace.read, s.when))
			}
			certain, _ := s.says(v) // a number of an account, in groups
			return certain && len(strings.Fields(v.Text)) == 1 || s.amended && s.tells(v.Text, t.trace.read) || len(takeText(words, v.Text, heardIn(v.Text, t.trace.read, s.when))) > 0
		}) {
			names = append(names, p.Name)
		}
	})
	return names
}

// misdated lists the arguments for a day that may be left out whose day is said of something else: no clause with it has a
// word of the phrases with which the palette says them, or orders the day alone, or has hardly another word.
func (t *turn) misdated(script *dsl.Script) (names []string) {
	texts := t.takenBy(script).texts
	for i := range script.Calls {
		verb := t.c.o.Registry.Verb(script.Calls[i].Verb)
		t.eachChanging(&dsl.Script{Calls: script.Calls[i : i+1]}, func(p *verbs.Param, v *dsl.Value) {
			said := phrasedWith(verb, p.Name)
			if p.Required || !isDay(v) || len(said) == 0 || slices.Contains(names, p.Name) {
				return
			}
			said = slices.DeleteFunc(said, func(w string) bool { // "until", "will", "be"
				const short = 2
				w = values.Plain(w)
				return len(w) <= short || isLight(w) || slices.Contains(values.Phrases("onday"), w) || slices.Contains(values.Phrases("unsaid"), w)
			})
			said = append(said, wordsIn(strings.ReplaceAll(p.Name, "-", " "))...)
			found := false
			if !t.trace.wished(func(s *source) bool {
				return s.amended || slices.ContainsFunc(clausesOf(s.text), func(clause string) bool {
					days := slices.DeleteFunc(t.trace.read(clause, s.when), func(r reading) bool { return !r.date || r.value.IsNull() })
					return slices.ContainsFunc(days, func(r reading) bool {
						const few = 1
						if r.value.Text() != v.Text {
							return false
						}
						if slices.ContainsFunc(days, func(other reading) bool {
							from, to := min(r.end, other.end), max(r.start, other.start)
							return other.value != r.value && len(meaningful(clause[from:to])) == 0
						}) {
							found = true
							return false // "between the 13th and the 17th"
						}
						found = true
						if notBefore().MatchString(values.Plain(clause[:r.start])) && slices.ContainsFunc(wordsIn(clause), denies) {
							return false // "it won't come before the 10th"
						}
						if countsFrom().MatchString(values.Plain(clause[r.end:])) || t.saidByOthers(clause[r.start:r.end]) {
							return false // "on the 7th, and you get it two days after that"
						}
						words := meaningful(clause[:r.start] + " " + clause[r.end:])
						others := slices.DeleteFunc(slices.Clone(words), func(w string) bool {
							return t.trace.called(w) || isOne(values.Plain(w), "bidding") || slices.Contains(values.Phrases("onday"), values.Plain(w))
						})
						if isMonth(clause[r.start:r.end]) {
							return false
						}
						return len(others) <= few || asksFor(clause) && !slices.ContainsFunc(texts, func(text string) bool {
							return slices.ContainsFunc(meaningful(text), func(w string) bool { return has(words, w) })
						}) || slices.ContainsFunc(wordsIn(clause), func(w string) bool { return !isLight(w) && has(said, w) })
					})
				})
			}) && found {
				names = append(names, p.Name)
			}
		})
	}
	return names
}

// saidByOthers reports whether the message tells a day without a date of what somebody else wrote, who may have counted
// from another day: "he wrote on Monday: “you get them in a week”".
func (t *turn) saidByOthers(day string) bool {
	if figures().MatchString(day) {
		return false
	}
	if head, rest, ok := strings.Cut(t.heard.own, ":"); ok && strings.Contains(rest, day) && slices.ContainsFunc(t.trace.read(head, t.now), func(r reading) bool { return r.date && !r.value.IsNull() }) {
		return true // "what he wrote on 19 December: he sends it tomorrow"
	}
	return hearsay(unquoted(t.heard.own)) &&
		slices.ContainsFunc(inQuotes().FindAllString(t.heard.own, -1), func(quoted string) bool { return strings.Contains(quoted, day) })
}

// isMonth reports whether a day was said as a month alone, without a figure or another word.
func isMonth(said string) bool {
	words := meaningful(said)
	return len(words) == 1 && values.IsMonth(words[0])
}
