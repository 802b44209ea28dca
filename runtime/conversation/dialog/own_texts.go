package dialog

import (
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
	"verbatim/stores/search"
	"verbatim/verbs"
)

// Whether a text that is to be stored stands in the words of the person, and how they spelt it.

// inOwnSpelling puts the person's own words in the place of those of a text that differ from them in spelling alone:
// what is stored is what was written, whoever was right about a letter.
func (t *turn) inOwnSpelling(script *dsl.Script) {
	t.eachChanging(script, func(p *verbs.Param, v *dsl.Value) {
		if v.Kind != dsl.String || p.Type.Name != verbs.StringType || t.trace.sourced(v, p) {
			return
		}
		for _, s := range t.trace.wish {
			spelt := *v
			if spelt.Text = s.spelt(v.Text); t.trace.sourced(&spelt, p) {
				v.Text = spelt.Text
				return
			}
		}
	})
}

// spelt returns a text with its words as the source spells them: inflected as the text has them, but letter by
// letter where they are names.
func (s *source) spelt(text string) string {
	said := spokenWords().FindAllString(s.text, -1)
	return spokenWords().ReplaceAllStringFunc(text, func(w string) string {
		name := func(w string) bool { return w != strings.ToLower(w) && fold(w) != w }
		same := slices.IndexFunc(said, func(other string) bool { return sameStem(w, other) })
		if same >= 0 && !(name(w) && name(said[same]) && len(w) == len(said[same]) && fold(w) != fold(said[same])) {
			return w
		}
		if i := slices.IndexFunc(said, func(other string) bool { return nearly(fold(w), fold(other)) }); i >= 0 {
			return said[i]
		}
		return w
	})
}

var spokenWords = lazily(func() string { return `[\pL\pM\pN]+(?:['’][\pL\pM]+)*` })

// nearly reports whether a word is meant by one that was written with slips of the keys: one edit behind its
// first letter. Digits, the words of dates and numbers, and those as short as "not" are meant as they are.
func nearly(a, b string) bool {
	const short = 4
	return a == b || min(len(a), len(b)) >= short && a[0] == b[0] && !values.HasMeaning(b) && !strings.ContainsAny(a+b, "0123456789") && dsl.Distance(a, b, 1) == 1
}

// sourced reports whether a value of an argument has a source.
func (t *tracer) sourced(v *dsl.Value, p *verbs.Param) bool {
	if v.Kind == dsl.Code && p.Type.Name == verbs.MoneyType && slices.Equal(p.Type.Currencies, []string{v.Text}) {
		return true // it is no choice
	}
	switch o := t.origin(v); {
	case o == ofRecord && (v.Kind == dsl.Date || v.Kind == dsl.Integer || v.Kind == dsl.Decimal):
		// Of all days and numbers of all rows, one is meant only if the person was told of it, and says so.
		if t.refersBack() && slices.ContainsFunc(t.told, func(s *source) bool { s.prepare(t.read); certain, _ := s.says(v); return certain }) {
			return true
		}
	case v.Kind == dsl.Code && o != ofPerson && p.Type.Codes != nil && slices.ContainsFunc(p.Type.Codes.Codes, func(other verbs.Code) bool {
		return other.Name != v.Text && t.wishedNow(func(s *source) bool {
			return s.tells(codeWords(other.Name), t.read) && !s.tells(codeWords(v.Text), t.read)
		})
	}):
		return false // "it is his national ID" is no passport, though a passport would do
	case o != ofPerson && o.Kinds()&verbs.FromModel == 0:
		return true // a row's, a document's or a tool's: untrusted ones are asked about as such
	}
	return t.wished(func(s *source) bool {
		certain, _ := s.says(v)
		if isDay(v) && t.takesBack(s, v) {
			return false
		}
		if p.Sensitive && s.past && !s.amended && !t.asked {
			return false // what is sensitive is said when it is asked for, and not taken from what was said before of anybody
		}
		switch v.Kind {
		case dsl.String:
			return certain && len(strings.Fields(v.Text)) == 1 || s.tells(v.Text, t.read)
		case dsl.Code:
			return certain || s.tells(codeWords(v.Text), t.read)
		case dsl.Bool:
			return v.Text == "true" && s.tells(strings.ReplaceAll(p.Name, "-", " "), t.read)
		}
		return certain
	})
}

// refersBack reports whether the newest message speaks of something that was said before: "on the same day", "by then".
func (t *tracer) refersBack() bool {
	n := len(t.wish)
	return n == 0 || slices.ContainsFunc(wordsIn(t.wish[n-1].text), func(w string) bool {
		w = values.Plain(w)
		return slices.Contains(values.Phrases("likewise"), w) || slices.Contains(values.Phrases("thirdperson"), w)
	})
}

// takesBack reports whether a message behind a source corrects its day: "sorry, the 10th it is".
func (t *tracer) takesBack(s *source, v *dsl.Value) bool {
	const few = 1
	return slices.ContainsFunc(t.wish[slices.Index(t.wish, s)+1:], func(newer *source) bool {
		newer.prepare(t.read)
		certain, _ := newer.says(v)
		i := slices.IndexFunc(newer.readings, func(r reading) bool { return r.date })
		return !certain && i >= 0 && (corrects(newer.text) || len(meaningful(newer.text[:newer.readings[i].start]+newer.text[newer.readings[i].end:])) <= few)
	})
}

func codeWords(code string) string { return strings.ReplaceAll(strings.ToLower(code), "_", " ") }

// wordsIn returns the words of a text, "can't" as two.
func wordsIn(text string) []string {
	return search.Words(strings.NewReplacer("n't", " not", "n’t", " not", "'ll", " will", "’ll", " will").Replace(text))
}

// deniesFirst reports whether a clause begins with a denial.
func deniesFirst(clause string) bool { return denies(append(wordsIn(clause), "")[0]) }

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
// Another letter may make another word or name, and two digits swapped are another number.
func slipped(a, b string) bool {
	const long = 7
	if len(a) < len(b) {
		a, b = b, a
	}
	if len(b) < long || len(a) > len(b)+1 || strings.ContainsAny(a+b, "0123456789") {
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
	var said []string // a denial holds as far as a "but" or a colon
	for _, sentence := range sentencesOf(s.text) {
		from := 0
		for _, at := range contrasts().FindAllStringIndex(sentence, -1) {
			said, from = append(said, sentence[from:at[0]]), at[0]
		}
		said = append(said, sentence[from:])
	}
	all := wordsIn(text)
	most := max(2, len(sentencesOf(text)))
	if s.amended {
		most = len(said)
	}
	says := func(window []string) bool {
		return slices.ContainsFunc(window, denies) == no && !slices.ContainsFunc(words, func(w string) bool { return !stands(w, window, all) })
	}
	for i := range said {
		if !statesWhatIsAsked(text, all, wordsIn(said[i])) && slices.ContainsFunc(itemsOf(said[i]), func(item string) bool { return says(wordsIn(item)) }) {
			return true // "note for him that he has not …, and for her that …"
		}
		for n := 1; n <= most && i+n <= len(said); n++ {
			window := wordsIn(strings.Join(said[i:i+n], " "))
			if statesWhatIsAsked(text, all, window) {
				continue
			}
			if says(window) {
				return true
			}
		}
	}
	return false
}

// statesWhatIsAsked reports whether a text states what a sentence only wants to have asked: "ask whether he needs to
// come" does not say that he does.
func statesWhatIsAsked(text string, words, said []string) bool {
	asked := slices.IndexFunc(said, func(w string) bool { return slices.Contains(values.Phrases("whether"), values.Plain(w)) })
	if asked < 0 || strings.ContainsAny(text, "?¿") || slices.ContainsFunc(words, func(w string) bool { return slices.Contains(values.Phrases("whether"), values.Plain(w)) }) {
		return false
	}
	behind := meaningful(strings.Join(said[asked:], " "))
	return slices.ContainsFunc(said[:asked], func(w string) bool { return isOne(values.Plain(w), "enquiring") }) &&
		slices.ContainsFunc(meaningful(text), func(w string) bool { return stands(w, behind, words) })
}

// hedges reports whether a word makes what a sentence says less sure: "almost".
func hedges(word string) bool { return slices.Contains(values.Phrases("hedging"), values.Plain(word)) }

var contrasts = lazily(func() string { return `(?i),\s+(?:` + strings.Join(values.Phrases("contrasting"), "|") + `)\s|:\s` })

// stands reports whether a word of a text stands among the words that were said, inflected, slipped, or with a part
// of a verb apart that a German clause joins to it: "holt … ab" for "abholt", and the other way round.
func stands(w string, said, text []string) bool {
	in := func(w string) bool {
		return slices.Contains(said, w) || slices.ContainsFunc(said, func(other string) bool {
			return sameStem(w, other) && !otherSex(w, other) || slipped(w, other)
		})
	}
	if slices.Contains(values.Phrases("title"), values.Plain(w)) {
		return slices.Contains(said, w) // "Mr" is not "Mrs"
	}
	return in(w) || slices.ContainsFunc(values.Phrases("separable"), func(part string) bool {
		rest, joined := strings.CutPrefix(w, part)
		switch {
		case w == part:
			return slices.ContainsFunc(text, func(verb string) bool { return in(part + verb) })
		case slices.Contains(text, part):
			return in(part + w)
		}
		return joined && slices.Contains(said, part) && in(rest)
	})
}

// otherSex reports whether two words differ as those of a man and a woman do in Spanish: "hermano", "hermana".
func otherSex(a, b string) bool {
	stem, ok := strings.CutSuffix(a, "a")
	if !ok {
		stem, ok = strings.CutSuffix(b, "a")
		a, b = b, a
	}
	return ok && (b == stem+"o" || b == stem+"e")
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
