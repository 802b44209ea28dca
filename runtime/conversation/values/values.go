// Package values reads people's words as exact values: the dates, amounts, numbers, countries,
// account numbers and answers in a sentence, in English, German, French and Spanish.
//
//	in := values.In{Now: now, Languages: []values.Language{values.English}}
//	all, _ := values.Find("Should have them next week.", in)
//	all[0].Text()   // 2025-01-03, said on 27 December 2024
//	all[0].Kind     // values.Vague: a span, of which it is the last working day
//
// It never guesses. An ambiguous text has no value but two choices; a text with a day that no
// calendar has, a weekday of another day, a wrong check digit, invisible characters, or a part that
// is not understood, has no value either, and Problem gives the reason. A Reading tells its place in
// the text and its assumptions, so that the program can repeat it to the person in full. Limits of a
// value, such as those of a date of birth, are Bounds, which the caller declares.
//
// The knowledge of a language, and the program's sentences in it, are text: the files of tongues and
// catalogue. The catalogue has a format of its own: no sentence needs the plurals of
// golang.org/x/text/message.
//
// The package has no model, reads no clock, and takes time in proportion to the text, whatever the
// text contains.
package values

import (
	"cmp"
	"slices"
	"time"

	"verbatim/stores"
)

// A Language is a language that the package understands.
type Language uint8

// The languages with a name in Go; others have the numbers after them.
const (
	English Language = iota
	German
	French
	Spanish
)

// Languages returns the languages with a file under tongues. Such a file and one under catalogue add
// a language: messages in it are read, matched and answered.
func Languages() []Language {
	all := make([]Language, len(ours().tongues))
	for i := range all {
		all[i] = Language(i)
	}
	return all
}

// Tags returns the tags of the Languages.
func Tags() (all []string) {
	for _, t := range ours().tongues {
		all = append(all, t.tag)
	}
	return all
}

// String returns the language's tag: "en".
func (l Language) String() string { return ours().tongues[l].tag }

// ParseLanguage reads a tag such as "de" or "de-AT"; the part after the language is ignored.
func ParseLanguage(tag string) (Language, bool) { return ours().parse(tag) }

func (h *house) parse(tag string) (Language, bool) {
	for i, of := range h.tongues {
		if t := of.tag; len(tag) >= 2 && (len(tag) == 2 || tag[2] == '-' || tag[2] == '_') && lower(tag[0]) == t[0] && lower(tag[1]) == t[1] {
			return Language(i), true
		}
	}
	return 0, false
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// In is the context of a message, as far as the meaning depends on it.
type In struct {
	// Now is the time of the message, in the person's own time zone.
	Now time.Time
	// Languages are the possible languages; if there are none, Detect decides.
	Languages []Language
	// Day says that the question asks for a day: then "3/4" is a day, and not a fraction.
	Day bool
}

// Answered adds the languages that the words of an answer tell: "le 3 avril" may answer a question in
// English.
func (in In) Answered(text string) In {
	likely := Detect(text)
	if len(in.Languages) == 0 || len(likely) == len(Languages()) {
		return in
	}
	in.Languages = slices.Clone(in.Languages)
	for _, l := range likely {
		if !slices.Contains(in.Languages, l) {
			in.Languages = append(in.Languages, l)
		}
	}
	return in
}

// What is the type of a reading's value.
type What uint8

// The types of values.
const (
	Date    What = iota // a calendar day: Value is a date
	Money               // Value is a decimal, Currency an ISO 4217 code
	Integer             // Value is an integer
	Decimal             // Value is a decimal: a number with a fraction
	Percent             // Value is a decimal, in percent
	Country             // Value is an ISO 3166 code of two letters
	Email               // Value is an address
	IBAN                // Value is an account number without spaces, whose check digits are right
	Phone               // Value is a number with its country, "+49151555019"
)

var whatNames = [...]string{"date", "money", "integer", "decimal", "percent", "country", "email", "iban", "phone"}

func (w What) String() string { return whatNames[w] }

// Kind is the precision of a reading.
type Kind uint8

// The kinds of reading.
const (
	Exact    Kind = iota // said in full
	Relative             // depends on the time of the message: "tomorrow", "3 January"
	Vague                // a span; the value is one of its days
)

var kindNames = [...]string{"exact", "relative", "vague"}

func (k Kind) String() string { return kindNames[k] }

// A Range is a place in a text, in bytes.
type Range struct{ Start, End int }

// A Choice is one possible value.
type Choice struct {
	Value    stores.Value
	Currency string // of money
}

// A Reading is something that was found in a text.
type Reading struct {
	What  What
	Kind  Kind
	Range Range
	// Choice is the value. It is null if there are Others or a Problem.
	Choice
	// First and Last bound the span of a vague date.
	First, Last stores.Value
	// Others are all possible values, if there are several.
	Others []Choice
	// Assumed is what the reading adds to the words.
	Assumed Assumption
	// Problem is the reason why a reading has no value.
	Problem Problem
	// Detail belongs to the problem: the resulting age, or the day that the month does not have.
	Detail int

	of        span // the whole period that it names, and the unit that it is one of
	unit      int
	fixed     bool         // the year of the period was said
	monthly   bool         // a day without a month
	centuries []Choice     // of a year of two digits
	bare      bool         // a weekday's name and nothing else
	whole     bool         // the text has day, month and a year of four digits
	before    stores.Value // for the next day of a name: the last such day, for past events
}

// Weekday reports whether a date is only a weekday's name, such as "Thursday", which is another day
// in each week.
func (r *Reading) Weekday() bool { return r.What == Date && r.bare }

// Known reports whether the reading has exactly one value.
func (r *Reading) Known() bool { return r.Problem == 0 && len(r.Others) == 0 && !r.Value.IsNull() }

// Same reports whether two readings are equal: a repeated value is still one value.
func (r *Reading) Same(o *Reading) bool {
	same := func(a, b Choice) bool { return a.Currency == b.Currency && stores.Equal(a.Value, b.Value) }
	return r.What == o.What && r.Problem == o.Problem && r.Detail == o.Detail && same(r.Choice, o.Choice) && slices.EqualFunc(r.Others, o.Others, same)
}

// An Assumption is a set of facts that a reading assumes and the words do not say.
type Assumption uint8

// What may be assumed.
const (
	NextSuch       Assumption = 1 << iota // the next such day from today on: the year, or the month, was not said
	LastWorkingDay                        // of a span: the last day from Monday to Friday in it; holidays are not known
	DayFirst                              // 3.4.1972: the day stands before the month, as is usual in the language
	Shortened                             // a month later there is no such day: the last of that month
	Grouped                               // 1,234: what separates thousands in the language
	LastSuch                              // the last such day before today, since none ahead is allowed
	Century                               // a year of two digits is of the hundred from eighty years ago on
	Rounded                               // a third: no decimal is exactly that
)

// A Problem is the reason why a reading has no value.
type Problem uint8

// The problems.
const (
	_            Problem = iota
	NoSuchDay            // 30 February
	WrongWeekday         // Friday, 2 January 2025
	Hidden               // it has invisible characters
	Unread               // a part of it is not understood
	Negated              // "not Friday"
	Spread               // "from Monday to Friday"
	Checksum             // check digits do not fit
	NoCountry            // a phone number without its country
	TooEarly             // before the first day that is allowed
	TooLate              // after the last
	TooOld               // a birth that long ago: Detail is the age
	NotBorn              // a birth that is still to come
	NotWhole             // a day that has to be said in full, and was not
)

// MaxReadings is the greatest number of readings of one text.
const MaxReadings = 256

// Find returns the readings of a text, in the order of their places. Readings never overlap. The
// longer one wins: the number in a date is no reading. more says that there are more than
// MaxReadings.
func Find(text string, in In) (all []Reading, more bool) {
	return ours().find(text, in)
}

func (h *house) find(text string, in In) (all []Reading, more bool) {
	languages := in.Languages
	if len(languages) == 0 {
		languages = h.detect(text)
	}
	s := newScan(text, in.Now, h)
	s.day = in.Day
	for i, l := range languages {
		found, cut := s.read(l, len(languages) == 1)
		more = more || cut
		if i == 0 {
			all = found
			continue
		}
		all = append(all, found...)
	}
	if len(languages) > 1 {
		all = settle(all)
	}
	all, more = all[:min(len(all), MaxReadings)], more || len(all) > MaxReadings
	doubt(text, all)
	return all, more
}

// settle joins what several languages read in one text: of readings that
// overlap the longest stays, and where two of one length say different things,
// that is a choice.
func settle(all []Reading) []Reading {
	slices.SortStableFunc(all, func(a, b Reading) int {
		return cmp.Or(cmp.Compare(a.Range.Start, b.Range.Start), cmp.Compare(b.Range.End, a.Range.End))
	})
	kept := all[:0]
	for _, r := range all {
		n := len(kept)
		switch {
		case n == 0 || r.Range.Start >= kept[n-1].Range.End:
			kept = append(kept, r)
		case r.Range == kept[n-1].Range:
			kept[n-1] = either(kept[n-1], r)
		case r.Range.End-r.Range.Start > kept[n-1].Range.End-kept[n-1].Range.Start:
			kept[n-1] = r
		}
	}
	return kept
}

// either joins two possible readings of the same words.
func either(a, b Reading) Reading {
	switch {
	case a.What != b.What:
		if a.What > b.What {
			a, b = b, a
		}
		return a
	case a.Problem != 0 || b.Problem != 0:
		if a.Problem == 0 {
			a, b = b, a
		}
		return a
	}
	choices := a.choices()
	for _, c := range b.choices() {
		if !slices.Contains(choices, c) {
			choices = append(choices, c)
		}
	}
	a.Assumed |= b.Assumed
	a.offer(choices)
	return a
}

// choices returns the possible values.
func (r *Reading) choices() []Choice {
	if len(r.Others) > 0 {
		return slices.Clone(r.Others)
	}
	if r.Value.IsNull() {
		return nil
	}
	return []Choice{r.Choice}
}

// offer sets the possible values: one, or several to choose from.
func (r *Reading) offer(choices []Choice) {
	r.Choice, r.Others = Choice{}, nil
	if len(choices) == 1 {
		r.Choice = choices[0]
		return
	}
	r.Others = choices
}

// fail withholds the value.
func (r *Reading) fail(p Problem, detail int) {
	r.Others = r.choices()
	r.Choice, r.Problem, r.Detail = Choice{}, p, detail
}

// Whole reads a text that should be one value and nothing else, such as the answer to a question:
// "It's the 3rd of April 1980, thanks". Words without meaning may stand around it. It finds nothing
// if there are two values.
func Whole(text string, what What, in In) (Reading, bool) {
	if r, ok := wholeCode(text, what); ok {
		return r, true
	}
	in.Day = in.Day || what == Date
	all, more := Find(text, in)
	if more {
		return Reading{}, false
	}
	var found *Reading
	for i := range all {
		switch {
		case all[i].What != what && !(what == Decimal && all[i].What == Integer):
		case found != nil:
			return Reading{}, false
		default:
			found = &all[i]
		}
	}
	if found == nil || !onlyFillers(text[:found.Range.Start]) || !onlyFillers(text[found.Range.End:]) {
		return Reading{}, false
	}
	return *found, true
}
