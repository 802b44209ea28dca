package values

import (
	"time"

	"verbatim/stores"
)

// Bounds are limits for dates.
type Bounds struct {
	First, Last stores.Value // a date each; null is none
	// Birth requires a date of birth: said in full, with a year of four digits, not in the future,
	// and not longer ago than the greatest human age.
	Birth bool

	today int64
}

// oldest is an age that nobody has exceeded: the greatest that is proven is 122. So 1900-01-01, which
// registers write for a day that they do not know, is no date of birth.
const oldest = 123

// Birth returns the bounds of a date of birth.
func Birth(now time.Time) Bounds {
	return Bounds{Birth: true, today: stores.DateOf(now).Days()}
}

// Hold applies the bounds to a reading. A reading outside them loses its value and gets a Problem.
// Of several choices those within the bounds are left; the person is still asked for a date of
// birth, even if one is left.
func (b Bounds) Hold(r Reading) Reading {
	if r.What != Date || r.Problem != 0 {
		return r
	}
	if b.Birth && r.centuries != nil {
		r.offer(r.centuries)
		if r.Known() {
			r.Others, r.Choice = r.centuries, Choice{}
		}
		r.whole = false
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

// Between returns bounds; null means no bound.
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

// ageOn returns the age of a person in years.
func ageOn(born, day int64) int {
	y, m, d := civil(born)
	ty, tm, td := civil(day)
	age := ty - y
	if tm < m || tm == m && td < d {
		age--
	}
	return age
}
