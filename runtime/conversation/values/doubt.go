package values

import (
	"regexp"
	"unicode/utf8"
)

// Words beside a number or a day may change its meaning: "more than 500 €", "a million and a half",
// "lundi en quinze", "5 euros 20", "half past eight". The package does not interpret them, but gives
// a value only if there are none: a wrong value is far worse than a question.

// beside is the number of bytes that are examined before and behind a reading.
const beside = 32

var (
	cards = regexp.MustCompile(`(?:\b[A-Za-z]{2}\d\d ?)?\b[3-6]\d{3}(?:[ -]?\d){11,15}`) // also an IBAN, which is no card
	// bounds make a number the end of a span, or a guess: the person is asked for the meaning.
	bounds = besideRegexp(`(?:{guess})[ \x{a0}\x{202f}]+(?:` + moneys + `)?[ \x{a0}\x{202f}]*$`)
	// lessWord is a minus, unless noLess stands before it: "au moins 500".
	lessWord = besideRegexp(`^(?:{lessword})(?:$|\PL)`)
	noLess   = besideRegexp(`(?:^|\PL)(?:{noless})[ \x{a0}]$`)
	// clockBefore and clockBehind make a number the hour of a day.
	clockBefore = besideRegexp(`(?:^|[^\pL])(?:{hourbefore})[ \x{a0}]$`)
	clockBehind = besideRegexp(`^[ \x{a0}]*(?:{hourbehind})(?:$|\PL)`)
	// weekOf moves it, too: "a week today".
	weekOf = besideRegexp(`(?:^|\PL)(?:{week})[ \x{a0}](?:{weekfrom})?$`)
	// between stands between two numbers that are the ends of a span, and spans before them.
	between = besideRegexp(`^[ \x{a0}]*(?:{upto}|-|–|—)[ \x{a0}]*$`)
	spans   = besideRegexp(`(?:^|\PL)(?:{span})[ \x{a0}](?:` + moneys + `)?[ \x{a0}]*$`)
	and     = besideRegexp(`^[ \x{a0}]*(?:{plusword})[ \x{a0}]*$`)
)

const moneys = `EUR|CHF|USD|GBP|€|\$|£`

// doubt removes the values whose meaning the words beside them change.
func doubt(text string, all []Reading) {
	for i := range all {
		r := &all[i]
		before, behind := neighbours(text, r.Range)
		switch {
		case r.What == Date:
			if r.Kind != Exact && weekOf().MatchString(before) {
				r.fail(Unread, 0)
			}
			continue
		case r.What > Percent:
			continue
		}
		if next := i + 1; next < len(all) && all[next].What >= Money && all[next].What <= Percent {
			link := text[r.Range.End:all[next].Range.Start]
			if between().MatchString(link) || and().MatchString(link) && spans().MatchString(before) {
				r.fail(Spread, 0)
				all[next].fail(Spread, 0)
				continue
			}
		}
		if r.Problem != 0 {
			continue
		}
		switch {
		case lessWord().MatchString(text[r.Range.Start:r.Range.End]) && noLess().MatchString(before):
			r.fail(Unread, 0)
			r.Others = nil // it was taken for less than nothing
		case (r.What == Integer || r.What == Decimal) && (clockBefore().MatchString(before) || clockBehind().MatchString(behind)):
			r.fail(Unread, 0)
		case r.Known() && bounds().MatchString(before):
			r.Others, r.Choice = r.choices(), Choice{}
		}
	}
}

// neighbours returns the text before and behind a reading.
func neighbours(text string, at Range) (before, behind string) {
	from, to := max(0, at.Start-beside), min(len(text), at.End+beside)
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	return text[from:at.Start], text[at.End:to]
}

// WithoutCards masks in a text what looks like the number of a payment card (ISO/IEC 7812-1).
func WithoutCards(text string) string {
	return cards.ReplaceAllStringFunc(text, func(found string) string {
		for end := len(found); found[0] <= '9' && end > 14; end-- {
			sum, n := 0, 0
			for i := end - 1; i >= 0; i-- {
				if d := int(found[i]) - '0'; d >= 0 {
					sum, n = sum+d+n%2*(d-d/5*9), n+1
				}
			}
			if sum%10 == 0 && (n == 15 || n == 16) && found[end-1] >= '0' {
				return "••••••" + found[end:]
			}
		}
		return found
	})
}
