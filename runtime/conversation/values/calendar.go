package values

import (
	"time"

	"verbatim/stores"
)

// Package stores reckons with dates. Here days are counted from 1970-01-01, as
// stores counts them.

func dayOf(year, month, day int) int64 {
	return stores.DateOf(time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)).Days()
}

func civil(day int64) (year, month, dayOfMonth int) {
	y, m, d := dateValue(day).Time().Date()
	return y, int(m), d
}

// weekdayOf returns 1 for Monday to 7 for Sunday.
func weekdayOf(day int64) int { return (int(dateValue(day).Time().Weekday())+6)%7 + 1 }

// monday returns the first day of a day's week.
func monday(day int64) int64 { return day - int64(weekdayOf(day)-1) }

// Monday returns the first day of a date's week.
func Monday(day stores.Value) stores.Value { return dateValue(monday(day.Days())) }

func addMonths(day int64, n int) (to int64, cut bool) {
	v, cut := dateValue(day).AddMonths(n)
	return v.Days(), cut
}

// A span is some days, the last included.
type span struct{ first, last int64 }

func (p span) days() int { return int(p.last-p.first) + 1 }

// lastWorkingDay returns the last day of a span from Monday to Friday, or its last day if there is
// none.
func (p span) lastWorkingDay() int64 {
	for d := p.last; d >= p.first && d > p.last-3; d-- {
		if weekdayOf(d) <= 5 {
			return d
		}
	}
	return p.last
}

// spanOf returns the week, month, quarter or year that is n units after that of a day.
func spanOf(u int, day int64, n int) span {
	y, m, _ := civil(day)
	switch u {
	case weeks:
		first := monday(day) + 7*int64(n)
		return span{first, first + 6}
	case months:
		return monthSpan(y, m+n)
	case quarters:
		first := (m-1)/3*3 + 1 + 3*n
		return span{monthSpan(y, first).first, monthSpan(y, first+2).last}
	default:
		return span{dayOf(y+n, 1, 1), dayOf(y+n, 12, 31)}
	}
}

// easterBased marks the holidays that move with Easter.
const easterBased = 5000

// easter returns Easter Sunday in the Gregorian calendar (Meeus, Jones and Butcher).
func easter(y int) int64 {
	a, b, c := y%19, y/100, y%100
	h := (19*a + b - b/4 - (b-(b+8)/25+1)/3 + 15) % 30
	l := (32 + 2*(b%4) + 2*(c/4) - h - c%4) % 7
	n := h + l - 7*((a+11*h+22*l)/451) + 114
	return dayOf(y, n/31, n%31+1)
}

// holidayIn returns the day of a holiday in a year.
func holidayIn(y, n int) int64 {
	if n > easterBased/2 {
		return easter(y) + int64(n-easterBased)
	}
	return dayOf(y, n/100, n%100)
}

// monthSpan returns a month; m may be outside 1 to 12, and then counts into other years.
func monthSpan(y, m int) span { return span{dayOf(y, m, 1), dayOf(y, m+1, 1) - 1} }

func dateValue(day int64) stores.Value { return stores.NewDays(day) }
