package words

import (
	"time"

	"verbatim/stores"
)

// Bounds say which dates make sense where one is wanted.
type Bounds struct {
	First, Last stores.Value // a date each; null is none
	// Birth wants the day on which somebody was born: said in full, its year in
	// four digits, not to come, and not longer ago than anybody has lived.
	Birth bool

	today int64
}

// oldest is an age that nobody has passed.
const oldest = 130

// Birth are the bounds of a date of birth.
func Birth(now time.Time) Bounds {
	return Bounds{Birth: true, today: stores.DateOf(now).Days()}
}

// Hold holds a reading against the bounds. What does not keep them has no value
// any more, and says why. Of several choices those are left that do; a date of
// birth is asked for all the same, even where one is left.
func (b Bounds) Hold(r Reading) Reading {
	if r.What != Date || r.Problem != 0 {
		return r
	}
	var kept []Choice
	var why Problem
	detail := 0
	for _, c := range r.choices() {
		p, n := b.against(c.Value.Days())
		if p == 0 {
			kept = append(kept, c)
		} else if why == 0 {
			why, detail = p, n
		}
	}
	switch {
	case b.Birth && (r.Kind != Exact || r.Known() && !r.whole):
		r.fail(NotWhole, 0)
	case len(kept) == 0 && why == TooLate && !r.before.IsNull() && b.allows(r.before):
		r.Choice, r.Assumed = Choice{Value: r.before}, LastSuch
	case len(kept) == 0:
		r.fail(why, detail)
	case len(r.Others) > 0 && (b.Birth || len(kept) > 1):
		r.Others = kept
	case len(r.Others) > 0:
		r.offer(kept)
	}
	return r
}

func (b Bounds) allows(day stores.Value) bool {
	p, _ := b.against(day.Days())
	return p == 0
}

// Between are bounds that somebody declares; null is none.
func Between(first, last stores.Value) Bounds { return Bounds{First: first, Last: last} }

func (b Bounds) against(day int64) (Problem, int) {
	if b.Birth {
		if day > b.today {
			return NotBorn, 0
		}
		if age := ageOn(day, b.today); age > oldest {
			return TooOld, age
		}
	}
	switch {
	case !b.First.IsNull() && day < b.First.Days():
		return TooEarly, 0
	case !b.Last.IsNull() && day > b.Last.Days():
		return TooLate, 0
	}
	return 0, 0
}

// ageOn is how many years somebody has lived.
func ageOn(born, day int64) int {
	y, m, d := civil(born)
	ty, tm, td := civil(day)
	age := ty - y
	if tm < m || tm == m && td < d {
		age--
	}
	return age
}
