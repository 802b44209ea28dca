package dialog

import (
	"encoding/json"
	"math/bits"
	"slices"
	"strings"
	"unicode"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
	"verbatim/runtime/state/names"
	"verbatim/stores"
	"verbatim/verbs"
)

// Tracing the values that a model wrote.
//
// A value that the person wrote in full, and that nobody writes by chance (an account number, a
// full date, a phrase of several words), is theirs, even if a document has it too: that is how a
// person takes a value over from a letter. Anything shorter may stand in a document on purpose, so
// the least trusted of its sources counts. A value found nowhere is the model's own, and a text
// that repeats a part of a document is the document's.

// A Traced is a literal of a call, and its origin.
type Traced struct {
	Text   string       // as in the call
	Origin verbs.Origin // see above
	Words  string       // the person's words from which it was read

	at dsl.Range
}

// MarshalJSON writes the origin in its text form.
func (t Traced) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Text  string `json:"text"`
		From  string `json:"from"`
		Words string `json:"words,omitempty"`
	}{t.Text, t.Origin.String(), t.Words})
}

var (
	ofPerson = verbs.NewOrigin(verbs.FromPerson, "")
	ofRecord = verbs.NewOrigin(verbs.FromRecord, "")
	ofModel  = verbs.NewOrigin(verbs.FromModel, "")
)

// A tracer traces values to the shown texts.
type tracer struct {
	sources
	// names returns the names of all rows of the entity that a name belongs to.
	names func(name string) []string
	// called reports whether a word is one of the names of rows.
	called func(word string) bool
	// phrased says that the calls were read from the person's words without a model. Then the rows
	// that they name are the person's choice, whoever mentioned them before.
	phrased bool
	codes   []string // and the codes that they said, in whatever words
	// only returns the only currency that an argument of a verb accepts, "" if it accepts more.
	only func(verb, arg string) string
	// said is the yes or no that the person answered, if they did.
	said values.Answer
}

// literals returns the origin of every literal in a script.
func (t *tracer) literals(script *dsl.Script) (verbs.Literals, []Traced) {
	bound := map[string]bool{}
	for i := range script.Calls {
		if as := script.Calls[i].As; as != "" {
			bound[as] = true
		}
	}
	at := map[dsl.Range]verbs.Origin{}
	var all []Traced
	var call func(c *dsl.Call)
	var value func(v *dsl.Value, currency string)
	value = func(v *dsl.Value, currency string) {
		switch v.Kind {
		case dsl.List:
			items := v.Items()
			for i := range items {
				value(&items[i], currency)
			}
			return
		case dsl.Map:
			entries := v.Entries()
			for i := range entries {
				value(&entries[i].Value, currency)
			}
			// The only currency that is accepted is nobody's choice: whoever says the amount says it.
			if _, code, ok := moneyOf(v); ok && code == currency {
				i := slices.IndexFunc(entries, func(e dsl.Arg) bool { return e.Key == "amount" })
				j := 1 - i
				at[entries[j].Value.Range] = at[entries[i].Value.Range]
				all[len(all)-2+j].Origin = at[entries[i].Value.Range]
			}
			return
		case dsl.Nested:
			call(v.Call())
			return
		}
		name, _, _ := strings.Cut(v.Text, ".")
		if v.Kind == dsl.Symbol && bound[name] {
			return // the engine knows its value
		}
		o := t.origin(v)
		at[v.Range] = o
		all = append(all, Traced{Text: dsl.FormatValue(*v), Origin: o, Words: t.words(v, o), at: v.Range})
	}
	call = func(c *dsl.Call) {
		for i := range c.Args {
			value(&c.Args[i].Value, t.only(c.Verb, c.Args[i].Key))
		}
	}
	for i := range script.Calls {
		call(&script.Calls[i])
	}
	return verbs.Literals{Origin: ofModel, Of: func(r dsl.Range) (verbs.Origin, bool) {
		o, ok := at[r]
		return o, ok
	}}, all
}

// onlyCurrency returns the only currency that an argument accepts, "" if it accepts more.
func (c *Conversation) onlyCurrency(verb, arg string) string {
	if v := c.o.Registry.Verb(verb); v != nil {
		if i := slices.IndexFunc(v.Params, func(p verbs.Param) bool { return p.Name == arg }); i >= 0 && len(v.Params[i].Type.Currencies) == 1 {
			return v.Params[i].Type.Currencies[0]
		}
	}
	return ""
}

// origin traces one value.
func (t *tracer) origin(v *dsl.Value) verbs.Origin {
	switch v.Kind {
	case dsl.Nil:
		return ofModel
	case dsl.Bool:
		if t.said == values.Agree && v.Text == "true" || t.said == values.Decline && v.Text == "false" {
			return ofPerson
		}
		return ofModel
	case dsl.Symbol:
		return t.named(v.Text)
	case dsl.Code:
		if t.phrased && slices.Contains(t.codes, v.Text) {
			return ofPerson // in other words, or in another language
		}
	}
	var person bool
	var worst verbs.Origin // the least trusted origin other than a person
	for _, s := range t.all {
		s.prepare(t.read)
		mine := s.origin == ofPerson
		certain, possible := s.says(v)
		switch {
		case mine && certain:
			person = true
		case !mine && possible:
			worst = worse(worst, s.origin)
		case !s.origin.Trusted() && v.Kind == dsl.String && s.sharedWith(v.Text):
			worst = worse(worst, s.origin)
		}
	}
	switch {
	case person && (worst.Trusted() || telling(v)):
		return ofPerson
	case person && t.phrased && worst.Kinds() == verbs.FromModel:
		// No model wrote the call, and a stored answer that tells the same value only may be one's.
		return ofPerson
	case worst != (verbs.Origin{}):
		return worst
	}
	return ofModel
}

// ofRecords reports whether a value, with all its parts, was read from rows.
func (t *tracer) ofRecords(v *dsl.Value) bool {
	switch v.Kind {
	case dsl.List:
		return !slices.ContainsFunc(v.Items(), func(item dsl.Value) bool { return !t.ofRecords(&item) })
	case dsl.Map:
		return !slices.ContainsFunc(v.Entries(), func(e dsl.Arg) bool { return !t.ofRecords(&e.Value) })
	case dsl.Nil:
		return true
	}
	return t.origin(v) == ofRecord
}

// worse returns the less trusted of two origins, and both if they are equal.
func worse(a, b verbs.Origin) verbs.Origin {
	least := func(o verbs.Origin) int { return bits.Len8(uint8(o.Kinds())) }
	switch {
	case least(a) == least(b):
		return a.Mix(b)
	case least(a) > least(b):
		return a
	}
	return b
}

// isExact reports whether a value is a day or a number, or a text that the checker reads as one.
func isExact(v *dsl.Value) bool {
	if _, ok := stores.ParseDecimal(v.Text); ok && v.Kind == dsl.String {
		return true
	}
	return isDay(v) || v.Kind == dsl.Integer || v.Kind == dsl.Decimal
}

func isDay(v *dsl.Value) bool {
	_, ok := stores.ParseDate(v.Text)
	return v.Kind == dsl.Date || v.Kind == dsl.String && ok
}

// says reports whether a value occurs in the source.
func (s *source) says(v *dsl.Value) (certain, possible bool) {
	switch v.Kind {
	case dsl.Integer, dsl.Decimal:
		n, ok := stores.ParseDecimal(v.Text)
		if !ok {
			return false, false
		}
		return s.hasNumber(n)
	case dsl.Date:
		day, ok := stores.ParseDate(v.Text)
		if !ok {
			return false, false
		}
		return s.hasDate(day)
	case dsl.DateTime:
		found := s.hasWords(fold(v.Text))
		if day, ok := stores.ParseDate(v.Text[:min(len(v.Text), len("2006-01-02"))]); ok && !found && strings.Contains(v.Text, "T00:00:00") {
			return s.hasDate(day)
		}
		if at, ok := stores.ParseTime(v.Text); ok && !found {
			found = slices.ContainsFunc(s.readings, func(r reading) bool { return r.value == at })
		}
		return found, found
	case dsl.Code:
		said := fold(strings.ReplaceAll(v.Text, "_", " "))
		found := s.hasWords(said) || s.hasWords(said+"s") || s.hasWords(fold(v.Text)) ||
			slices.ContainsFunc(s.readings, func(r reading) bool { return r.currency == v.Text }) // "£116" says GBP
		return found, found || slices.ContainsFunc(s.readings, func(r reading) bool { return slices.Contains(r.currencies, v.Text) })
	}
	folded := fold(v.Text)
	if found := s.hasWords(folded); found {
		return true, true
	}
	squeezed, _, _ := squeeze(v.Text)
	if len(squeezed) >= 5 && strings.ContainsFunc(squeezed, unicode.IsDigit) && s.hasSqueezed(squeezed) {
		return true, true
	}
	// The checker may read a date or a number from a text.
	if day, ok := stores.ParseDate(v.Text); ok {
		return s.hasDate(day)
	}
	if n, ok := stores.ParseDecimal(v.Text); ok {
		return s.hasNumber(n)
	}
	for i := range s.readings {
		if s.readings[i].text != "" && s.readings[i].text == v.Text {
			return true, true
		}
	}
	return false, false
}

// telling reports whether nobody writes such a value by chance.
func telling(v *dsl.Value) bool {
	squeezed, _, _ := squeeze(v.Text)
	switch v.Kind {
	case dsl.Date, dsl.DateTime, dsl.UUID:
		return true
	case dsl.Integer, dsl.Decimal:
		return len(squeezed) >= 6
	case dsl.Code:
		return false
	}
	if strings.ContainsFunc(squeezed, unicode.IsDigit) {
		return len(squeezed) >= 6
	}
	return strings.Contains(v.Text, "@") || len(strings.Fields(v.Text)) >= 4
}

// sharedWith reports whether a text repeats a distinctive part of the source: one with digits, an
// address, or several words in a row.
func (s *source) sharedWith(text string) bool {
	const onEnd = 5
	words := strings.Fields(fold(text))
	for i, w := range words {
		w = strings.Trim(w, `.,;:!?"'()[]{}<>`)
		bare, _, _ := squeeze(w)
		switch {
		case len(bare) >= 5 && strings.ContainsFunc(bare, unicode.IsDigit) && s.hasSqueezed(bare),
			len(bare) >= 5 && strings.ContainsAny(w, "@/") && s.hasWords(w),
			i+onEnd <= len(words) && s.hasWords(strings.Join(words[i:i+onEnd], " ")):
			return true
		}
	}
	// An account number in another grouping.
	squeezed, _, _ := squeeze(text)
	return len(squeezed) >= 8 && len(squeezed) <= 40 && strings.ContainsFunc(squeezed, unicode.IsDigit) && s.hasSqueezed(squeezed)
}

// named returns the origin of a name: the person's, if they used it or words that fit no other row
// as well; a document's, if it uses the name; otherwise the model's, which chose it. The only row
// of its kind needs no choice.
func (t *tracer) named(symbol string) verbs.Origin {
	name, _, _ := strings.Cut(symbol, ".")
	spoken := strings.ReplaceAll(name, "-", " ")
	var worst verbs.Origin
	person := false
	others := t.names(name)
	for _, s := range t.all {
		s.prepare(t.read)
		exact := s.hasWords("@"+strings.ToLower(name)) || s.hasWords(spoken)
		switch {
		case s.origin == ofPerson:
			person = person || exact || calls(s.text, name, others)
		case s.origin.Trusted():
		case exact || calls(s.text, name, others):
			worst = worse(worst, s.origin)
		}
	}
	switch {
	case person && (worst.Trusted() || t.phrased):
		return ofPerson
	case worst != (verbs.Origin{}):
		return worst
	case len(others) == 1:
		return ofRecord
	}
	return ofModel
}

// calls reports whether a text contains more words of a name than of any other name of its kind.
func calls(text, name string, others []string) bool {
	words := wordsOf(text)
	mine := hits(words, name)
	if mine == 0 {
		return false
	}
	for _, o := range others {
		if o != name && hits(words, o) >= mine {
			return false
		}
	}
	return true
}

// hits counts the words of a name that a text contains, without those that any sentence has: "not" and
// "the" choose no row.
func hits(words map[string]bool, name string) int {
	n := 0
	for part := range strings.SplitSeq(name, "-") {
		if len(part) >= 3 && words[part] && len(meaningful(part)) > 0 {
			n++
		}
	}
	return n
}

// wordsOf returns the words of a text as names spell them: without marks and possessive s.
func wordsOf(text string) map[string]bool {
	all := map[string]bool{}
	for _, w := range strings.FieldsFunc(names.Unmarked(strings.ReplaceAll(text, "’", "'")), func(r rune) bool { return !isWord(r) && r != '\'' }) {
		all[w] = true
		if stem, ok := strings.CutSuffix(w, "'s"); ok {
			all[stem] = true
		}
		if stem, ok := strings.CutSuffix(w, "'"); ok {
			all[stem] = true
		}
		if stem, ok := strings.CutSuffix(w, "s"); ok { // "Pierres Beraterin", "pierres return"
			all[stem] = true
		}
	}
	return all
}

// words returns the person's text that a value was read from.
func (t *tracer) words(v *dsl.Value, o verbs.Origin) string {
	if o != ofPerson {
		return ""
	}
	for _, s := range t.all {
		if s.origin != ofPerson {
			continue
		}
		for i := range s.readings {
			r := &s.readings[i]
			switch v.Kind {
			case dsl.Date:
				if day, ok := stores.ParseDate(v.Text); ok && r.date && r.value == day {
					return s.text[r.start:r.end]
				}
			case dsl.Integer, dsl.Decimal:
				if n, ok := stores.ParseDecimal(v.Text); ok && !r.date && isNumber(r.value) && stores.Equal(r.value, n) {
					return s.text[r.start:r.end]
				}
			}
		}
	}
	return ""
}
