package values

import (
	"slices"
	"strconv"
	"strings"
)

// A lexicon gives the words of a language their meanings here. An entry may have several words: "day
// after tomorrow".

type class uint8

const (
	none      class = iota
	number          // digits
	mark            // anything that is neither a letter nor a digit
	month           // n is its number
	weekday         // n from 1, a Monday
	weekdayOn       // short for one, if a date or a preposition stands beside it
	cardinal        // a number in words
	ordinal         // "third"
	suffix          // of an ordinal number: "3rd"
	unit            // n is one of the units
	next
	this
	last
	coming    // the very next one
	afterNext // the one after the next
	after     // makes a day the one before the meant one
	ending
	early
	mid
	late
	of     // stands between the parts of a date and carries no meaning
	by     // stands before a day: "by", "on"
	within // "in" three days
	ago    // three days "ago"
	since  // "vor", "il y a", before a time in the past
	hence  // three days "from now"
	day    // n days from today
	onward // "from", "after": what is counted begins at the day behind it
	backward
	holiday // n is month and day, or easterBased and the days from Easter
	weekend
	quarterMark // the Q of Q1
	one         // "a" week
	times       // n is the exponent of a thousand, a million
	hundred
	dozen      // n is how many
	parts      // of one: n of them are it
	halved     // n and a half
	point      // before a fraction in words
	likeNumber // it begins as a number does
	over       // between the two numbers of a fraction
	also       // "and"
	cent       // a part of a currency
	currency
	percent
	minus
	not
	or
	to
	about
	daypart // "morning", after a day
	spoils  // changes the meaning of the words before it
)

// The units.
const (
	days = 1 + iota
	weeks
	months
	quarters
	years
	workingDays
	fortnights
)

type entry struct {
	class class
	n     int64
}

type lexicon struct {
	entries map[string][2]entry // a word may have two meanings
	longest map[string]int      // words of the longest entry that begins with a word
}

var classNames = map[string]class{
	"month": month, "weekday": weekday, "weekdayon": weekdayOn, "ordinal": ordinal, "suffix": suffix, "unit": unit, "next": next, "this": this,
	"last": last, "coming": coming, "afternext": afterNext, "after": after, "end": ending, "early": early, "mid": mid, "late": late, "of": of, "by": by, "within": within,
	"ago": ago, "since": since, "hence": hence, "day": day, "holiday": holiday, "onward": onward, "backward": backward, "weekend": weekend, "q": quarterMark, "one": one, "times": times,
	"hundred": hundred, "dozen": dozen, "part": parts, "halved": halved, "point": point, "over": over, "and": also, "cent": cent, "percent": percent, "minus": minus, "not": not, "or": or, "to": to, "about": about, "daypart": daypart, "spoils": spoils,
	"cardinal": cardinal, "currency": currency,
}

// takes adds the words of a line of a tongue: a class with an optional number, and
// words divided by commas. Of a currency the number is its place among currencies.
func (x *lexicon) takes(head, list string) {
	name, n, numbered := strings.Cut(head, " ")
	e := entry{class: classNames[name]}
	switch {
	case e.class == currency:
		e.n = int64(slices.IndexFunc(currencies, func(c money) bool { return c.code == n }))
	case numbered:
		v, err := strconv.Atoi(n)
		if err != nil {
			panic("words: no number: " + head)
		}
		e.n = int64(v)
	}
	for w := range strings.SplitSeq(list, ",") {
		x.add(strings.TrimSpace(w), e)
	}
}

func (x *lexicon) add(w string, e entry) {
	if e.class == none || w == "" {
		panic("words: a lexicon has a line without a class: " + w)
	}
	all := x.entries[w]
	switch {
	case all[0] == e || all[1] == e:
		return
	case all[0].class == none:
		all[0] = e
	case all[1].class == none:
		all[1] = e
	default:
		panic("words: a lexicon gives a word three meanings: " + w)
	}
	x.entries[w] = all
	first, _, _ := strings.Cut(w, " ")
	x.longest[first] = max(x.longest[first], 1+strings.Count(w, " "))
}

// HasMeaning reports whether a word is a part of dates or numbers in any language: "junio" is no misspelt
// "julio".
func HasMeaning(word string) bool {
	return slices.ContainsFunc(ours().tongues, func(t *tongue) bool { return t.lexicon.entries[Plain(word)][0].class != none })
}

// IsMonth reports whether a word names a month in any language.
func IsMonth(word string) bool {
	return slices.ContainsFunc(ours().tongues, func(t *tongue) bool { return t.lexicon.entries[Plain(word)][0].class == month })
}
