package values

import (
	"slices"
)

func (s *scan) far(day int64) int64 { return max(day-s.today, s.today-day) }

// modifier returns which of "next", "this" and the like a lexeme is.
func (s *scan) modifier(i int) class {
	for _, c := range []class{next, coming, this, last, afterNext} {
		if s.are(i, c) {
			return c
		}
	}
	return none
}

var distances = map[class]int{next: 1, coming: 1, this: 0, last: -1, afterNext: 2}

// modified reads "next week" or "semaine prochaine": a unit, and its distance from now.
func (s *scan) modified(i int) (n, u, end int, ok bool) {
	is := func(j int) bool {
		u, ok = s.is(j, unit)
		return ok && weeks <= u && u <= years
	}
	if c := s.modifier(i); c != none && is(i+1) && s.space(i+1) != newLine {
		return distances[c], u, i + 2, true
	}
	if c := s.modifier(i + 1); is(i) && c != none && c != this && s.space(i+1) != newLine && (s.has(adjectivesBehind) || c == afterNext) {
		return distances[c], u, i + 2, true
	}
	return 0, 0, i, false
}

// period reads "next week", "this month", "next March", "the weekend", "March 1972", "Q1", "in 2025".
func (s *scan) period(i int) (Reading, int) {
	r, end := s.inner(i)
	switch {
	case end == i || s.are(i, unit) && end == i+1:
		return Reading{}, i
	case s.are(i, weekend) && end == i+1 && !s.are(i-1, by, of):
		return Reading{}, i
	case s.are(i, month) && end == i+1 && (s.verbLike(i) || !s.are(i-1, by, within)):
		return Reading{}, i
	case s.are(i, number) && end == i+1: // a year
		if !s.are(i-1, within, by) || s.tight(i) || end < len(s.lexemes) && s.space(end) != newLine && !s.marked(end, '.', ',', ';', '!', '?', ')') && !s.ends(end) {
			return Reading{}, i
		}
	}
	if r.unit == weeks {
		// "next week on Friday"
		k := s.past(end, 2, by, of)
		k += b2i(s.marked(k, '-') && s.are(k+1, weekday))
		if w, ok := s.is(k, weekday); ok && s.space(k) != newLine {
			return onDate(Relative, r.of.first+int64(w-1), s.daypart(k+1))
		}
	}
	return r, end
}

// inner reads a period where one has to stand: "(the end of) the month", "(the first Monday in) May".
func (s *scan) inner(i int) (Reading, int) {
	if i >= len(s.lexemes) {
		return Reading{}, i
	}
	if n, u, end, ok := s.modified(i); ok {
		r, end := vague(spanOf(u, s.today, n), u, end)
		if n == 0 {
			r.First = dateValue(max(r.of.first, s.today))
		}
		return r, end
	}
	how := s.modifier(i)
	j := i + b2i(how != none)
	if m, ok := s.is(j, month); ok && how != none && s.space(j) != newLine && !s.verbLike(j) {
		p := s.nextMonth(m)
		y, _, _ := civil(s.today)
		py, _, _ := civil(p.first)
		switch {
		case how == coming, how == this && py == y, how == next && py > y:
			return vague(p, months, j+1)
		case how == next:
			later := monthSpan(py+1, m)
			return oneOf(Vague, j+1, p.lastWorkingDay(), later.lastWorkingDay())
		}
		return Reading{}, i
	}
	if s.are(j, weekend) && (how == none || s.space(j) != newLine) {
		switch {
		case how == none && s.are(j+1, next, coming) && s.has(adjectivesBehind):
			return s.weekend(1, j+2)
		case how == next:
			return s.weekend(1, j+1)
		case how == none || how == this || how == coming:
			return s.weekend(0, j+1)
		}
	}
	if how != none {
		return Reading{}, i
	}
	if u, ok := s.is(i, unit); ok && weeks <= u && u <= years {
		return vague(spanOf(u, s.today, 0), u, i+1)
	}
	if m, ok := s.is(i, month); ok {
		y, end := s.year(i + 1)
		switch {
		case y.said && !y.short:
			r, end := vague(monthSpan(y.year, m), months, end)
			r.fixed = true
			return r, end
		case y.said || y.unread:
			return failed(Unread, 0, end)
		}
		r, end := vague(s.nextMonth(m), months, i+1)
		r.Assumed |= NextSuch
		return r, end
	}
	if y, l, ok := s.digits(i); ok && l == 4 && 1900 <= y && y < 2200 && !s.loose(i+1) {
		r, end := vague(span{dayOf(y, 1, 1), dayOf(y, 12, 31)}, years, i+1)
		r.fixed = true
		return r, end
	}
	return s.quarter(i)
}

// nextMonth returns the next month with this number that is not over.
func (s *scan) nextMonth(m int) span {
	y, _, _ := civil(s.today)
	p := monthSpan(y, m)
	if p.last < s.today {
		p = monthSpan(y+1, m)
	}
	return p
}

// weekend reads this weekend, or that of a later week.
func (s *scan) weekend(n, end int) (Reading, int) {
	first := monday(s.today) + 5
	if n == 1 && weekdayOf(s.today) < 6 { // the coming one, or that of next week
		return oneOf(Vague, end, first+1, first+8)
	}
	first += 7 * int64(n)
	r, end := onDate(Vague, first+1, end)
	r.First, r.Last = dateValue(max(first, s.today)), r.Value
	return r, end
}

// quarter reads "Q1", "first quarter of 2025", "1. Quartal".
func (s *scan) quarter(i int) (Reading, int) {
	q, j := 0, i
	if s.are(i, quarterMark) {
		n, l, digits := s.digits(i + 1)
		if !digits || l != 1 || !s.tight(i+1) || s.tight(i) && !s.free(i) {
			return Reading{}, i
		}
		q, j = n, i+2
	} else {
		n, k, marked, numbered := s.dayNumber(i)
		if u, unit := s.is(k, unit); !numbered || !marked || !unit || u != quarters {
			return Reading{}, i
		}
		q, j = n, k+1
	}
	y, end := s.year(j)
	if q < 1 || q > 4 || y.said && y.short || y.unread {
		return Reading{}, i
	}
	of := func(y int) span { return span{monthSpan(y, 3*q-2).first, monthSpan(y, 3*q).last} }
	this, _, _ := civil(s.today)
	switch {
	case y.said:
		this, j = y.year, end
	case of(this).last < s.today:
		this++
	}
	r, end := vague(of(this), quarters, j)
	if r.fixed = y.said; !y.said {
		r.Assumed |= NextSuch
	}
	return r, end
}

// part reads "end of the month", "mid-January", "early next year".
func (s *scan) part(i int) (Reading, int) {
	which := none
	n := 0
	for _, c := range []class{ending, early, mid, late} {
		if v, ok := s.is(i, c); ok {
			which, n = c, v
		}
	}
	j := i + 1
	if n != 0 { // "Monatsende" holds the unit
		r, end := vague(spanOf(n, s.today, 0), n, j)
		return s.partOf(which, r, end)
	}
	if s.marked(j, '-', '–') {
		j++
	}
	for k := 0; k < 4 && (s.are(j, of) && !s.are(j, unit, month) || s.marked(j, '\'', '’')); k++ {
		j++
	}
	if s.space(j) == newLine {
		return Reading{}, i
	}
	if v, ok := s.is(j, unit); ok && v == days && which == ending {
		return onDate(Relative, s.today, j+1)
	}
	r, end := s.inner(j)
	switch {
	case end == j || r.Problem == 0 && (r.unit == 0 || len(r.Others) > 0):
		return Reading{}, i
	case r.Problem != 0:
		return r, end
	}
	return s.partOf(which, r, end)
}

// partOf reads the end, the beginning or the middle of a period.
func (s *scan) partOf(which class, of Reading, end int) (Reading, int) {
	p, u, open := of.of, of.unit, of.Assumed&NextSuch
	y, m, _ := civil(p.first)
	third := map[int]int{quarters: 1, years: 4}[u] // months of a third
	switch {
	case which == ending && u != weeks:
		r, end := onDate(Relative, p.last, end)
		if of.fixed {
			r, end = onDate(Exact, p.last, end)
		}
		r.whole, r.Assumed = false, open
		return r, end
	case u == weeks && (which == ending || which == late):
		now := p.first < s.today
		if p.first += 4; now {
			p.first = max(p.first, min(s.today, p.last))
		}
	case u == weeks && which == early:
		p.last = p.first + 1
	case u == weeks:
		p = span{p.first + 2, p.first + 2}
	case u == months && which == early:
		p.last = p.first + 9
	case u == months && which == mid:
		p = span{p.first + 10, p.first + 19}
	case u == months:
		p.first += 20
	case which == early:
		p.last = monthSpan(y, m+third-1).last
	case which == mid:
		p = span{monthSpan(y, m+third).first, monthSpan(y, m+2*third-1).last}
	default:
		p.first = monthSpan(y, m+2*third).first
	}
	r, end := vague(p, 0, end)
	r.Assumed |= open
	return r, end
}

// nth reads a day in a period: "the first Monday in May", "the fifth last day of May".
func (s *scan) nth(i int) (Reading, int) {
	n, j, marked, ok := s.dayNumber(i)
	if s.are(i, last) {
		n, j, ok = -1, i+1, true
	} else if j = s.past(j, 1, to); ok && s.are(j, last) {
		n, j = -n, j+1
	}
	w, weekly := s.is(j, weekday)
	u, is := s.is(j, unit)
	if !ok || n == 0 || n > 0 && !marked || s.space(j) == newLine || !weekly && !(is && u <= weeks) {
		return Reading{}, i
	}
	k := s.past(j+1, 3, of, within, by)
	r, end := s.inner(k)
	switch {
	case (end == k || r.Kind != Vague || r.unit == 0 || k == j+1 && r.fixed && s.are(k, number)) && (!weekly || s.are(i, last)):
		return Reading{}, i
	case end == k || r.Kind != Vague || r.unit == 0 || !weekly && u == weeks:
		return failed(Unread, 0, max(end, j+1))
	}
	step, day := int64(1), r.of.first
	if n < 0 {
		day = r.of.last
	}
	if weekly {
		if step = 7; n > 0 {
			day += int64((w - weekdayOf(day) + 7) % 7)
		} else {
			day -= int64((weekdayOf(day) - w + 7) % 7)
		}
	}
	if n > 0 {
		day += step * int64(n-1)
	} else {
		day += step * int64(n+1)
	}
	if day < r.of.first || day > r.of.last {
		return failed(NoSuchDay, n, end)
	}
	kind := Relative
	if r.fixed {
		kind = Exact
	}
	of, end := onDate(kind, day, end)
	of.Assumed, of.whole = r.Assumed&NextSuch, false
	return of, end
}

// weekdaysOn reads "2 Sundays from now".
func (s *scan) weekdaysOn(i int) (Reading, int) {
	w := 1 + slices.IndexFunc(s.house.tongues[s.language].weekdays, func(d string) bool { return s.wordAt(i+1) == Plain(d)+"s" })
	n, ok := s.amountOf(i, false)
	switch {
	case !ok || w == 0 || n == 0:
	case s.are(i+2, ago):
		return onDate(Relative, s.comingDay(w, -n)-7*int64(b2i(weekdayOf(s.today) == w)), i+3)
	case s.are(i+2, hence):
		return onDate(Relative, s.comingDay(w, n-1), i+3)
	}
	return Reading{}, i
}

// wordAt returns the word at a place, or nothing.
func (s *scan) wordAt(i int) string {
	if 0 <= i && i < len(s.lexemes) && s.lexemes[i].mark == 0 {
		return s.plainOf(i)
	}
	return ""
}

// named reads "tomorrow", "Christmas" and "Easter 2025".
func (s *scan) named(i int) (Reading, int) {
	if n, ok := s.is(i, day); ok {
		if s.space(i) != newLine && n == 1 && s.behind(i, "nomorrow") {
			return Reading{}, i // "la mañana"
		}
		more := s.inEight(i + 1)
		return onDate(Relative, s.today+int64(n)+more, s.daypart(i+1+2*b2i(more > 0)))
	}
	n, ok := s.is(i, holiday)
	if !ok || s.now.IsZero() {
		return Reading{}, i
	}
	y, end := s.year(i + 1)
	switch {
	case y.said && !y.short:
		return onDate(Exact, holidayIn(y.year, n), end)
	case y.said || y.unread:
		return failed(Unread, 0, end)
	}
	this, _, _ := civil(s.today)
	day := holidayIn(this, n)
	if day < s.today {
		day = holidayIn(this+1, n)
	}
	r, end := onDate(Relative, day, i+1)
	r.Assumed = NextSuch
	return r, end
}
