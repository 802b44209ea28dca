package values

import (
	"strconv"
	"strings"
)

// The program's sentences and questions for a person, in their language. {} stands for a value.

var problemWords = [...]Key{
	NoSuchDay:    "words/no-such-day",
	WrongWeekday: "words/wrong-weekday",
	Hidden:       "words/hidden",
	Unread:       "words/unread",
	Negated:      "words/negated",
	Spread:       "words/spread",
	Checksum:     "words/checksum",
	NoCountry:    "words/no-country",
	TooEarly:     "words/too-early",
	TooLate:      "words/too-late",
	TooOld:       "words/too-old",
	NotBorn:      "words/not-born",
	NotWhole:     "words/not-whole",
}

// maxOffered is the number of choices that a question names.
const maxOffered = 5

// Ask returns the question for a reading without a value: "Is that 3 April 1972 or 4 March 1972?" It
// returns "" if the reading has a value.
func (r *Reading) Ask(l Language) string {
	switch {
	case r.Known():
		return ""
	case r.Problem != 0:
		detail := strconv.Itoa(r.Detail)
		if r.Problem == WrongWeekday && 1 <= r.Detail && r.Detail <= 7 {
			detail = ours().tongues[l].weekdays[r.Detail-1]
		}
		return problemWords[r.Problem].In(l, detail)
	case len(r.Others) == 0:
		return problemWords[Unread].In(l)
	}
	var all []string
	for _, c := range r.Offered() {
		all = append(all, r.SayChoice(c, l))
	}
	return Key("words/is-that").In(l, Either(l, all))
}

// Ask returns what to ask the person about a text with such a problem.
func (p Problem) Ask(l Language) string { return problemWords[p].In(l) }

// Either lists alternatives: "a, b or c".
func Either(l Language, all []string) string {
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	return Key("words/or").In(l, strings.Join(all[:len(all)-1], ", "), all[len(all)-1])
}

// Offered returns the choices that Ask names, in their order.
func (r *Reading) Offered() []Choice { return r.Others[:min(len(r.Others), maxOffered)] }

// SayChoice words a choice as Ask does.
func (r *Reading) SayChoice(c Choice, l Language) string {
	switch {
	case c.Value.Kind() == 0:
		return ""
	case r.What == Date && r.Kind != Exact:
		return SayDay(c.Value, l)
	}
	return c.Say(l)
}

var assumptionWords = [...]Key{
	"words/assumed-next-such-day",
	"words/assumed-last-working-day",
	"words/assumed-day-before-month",
	"words/assumed-last-day-of-month",
	"words/assumed-thousands",
	"words/assumed-last-such-day",
	"words/assumed-century",
	"words/assumed-rounded",
}

// Say words an assumption.
func (a Assumption) Say(l Language) string {
	var all []string
	for i := range assumptionWords {
		if a&(1<<i) != 0 {
			all = append(all, assumptionWords[i].In(l))
		}
	}
	return strings.Join(all, ", ")
}

var problemNames = [...]string{"", "no-such-day", "wrong-weekday", "hidden-characters", "not-understood", "negated", "several", "check-digits", "no-country", "too-early", "too-late", "too-old", "not-born", "not-whole"}

// String returns the problem's code: "no-such-day".
func (p Problem) String() string { return problemNames[p] }
