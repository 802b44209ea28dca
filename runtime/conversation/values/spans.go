package values

import (
	"slices"

	"verbatim/stores"
)

// weekday reads "Friday", "Friday, 3 January 2025", "Friday of next week".
func (s *scan) weekday(i int) (Reading, int) {
	w, full := s.is(i, weekday)
	if !full {
		w, _ = s.is(i, weekdayOn)
	}
	j := i + 1
	if s.marked(j, '.') && s.tight(j) && !full {
		j++
	}
	// With a date beside it, it has to be right.
	k := j + b2i(s.marked(j, ',') || s.marked(j, '-') && s.tight(j))
	k = s.past(k, 2, of, by)
	if s.space(k) != newLine {
		r, end := s.calendar(k)
		if end == k {
			r, end = s.dayOfMonth(k)
		}
		if end > k {
			return s.onWeekday(r, w, end)
		}
	}
	if !full && !s.are(i-1, by, next, this, coming) && !s.alone(i, j) {
		return Reading{}, i
	}
	// Of a week.
	if k = s.past(j, 3, of, within, by); s.space(k) != newLine {
		if n, u, end, ok := s.modified(k); ok && u == weeks {
			return onDate(Relative, spanOf(weeks, s.today, n).first+int64(w-1), end)
		}
	}
	if n := s.inEight(j); n > 0 { // "lundi en huit"
		return onDate(Relative, s.comingDay(w, 0)-7*int64(b2i(weekdayOf(s.today) == w))+n, j+2)
	}
	k = s.past(j, 1, of)
	if c, end := s.count(k); end > k && s.space(k) != newLine && c.u == weeks && c.least == 0 && c.from != onward && c.from != backward {
		if in := spanOf(weeks, s.today, c.n).first + int64(w-1); c.n < 0 {
			return onDate(Relative, in, end)
		} else {
			return oneOf(Relative, end, in, s.comingDay(w, c.n))
		}
	}
	if u, ok := s.is(j, unit); ok && (u == weeks || u == fortnights) && s.space(j) != newLine {
		return failed(Unread, 0, j+1) // "Friday week"
	}
	how, end := none, j
	for _, c := range []class{next, coming, last, afterNext} {
		if s.are(j, c) && (s.has(adjectivesBehind) || c == afterNext) {
			how, end = c, j+1
			break
		}
	}
	r, end := s.whichDay(w, how, end)
	r.bare = how == none
	return r, s.daypart(end)
}

// inEight returns the days of "en huit" and "en quince", which are a week and two, or 0.
func (s *scan) inEight(j int) int64 {
	n, ok := s.amountOf(j+1, false)
	if !ok || n != 8 && n != 15 || !s.has(fortnightOfFifteen) || !s.are(j, within) || s.are(j+2, unit) {
		return 0
	}
	return int64(n / 7 * 7)
}

// roughly reads "around next Tuesday".
func (s *scan) roughly(i int) (Reading, int) {
	k := s.past(i+1, 1, of)
	r, end := s.which(k)
	if end == k {
		r, end = s.dayOfMonth(k)
	}
	if end == k || s.are(i+1, about) {
		return Reading{}, i
	}
	r.Kind = Vague
	return r, end
}

// daypart skips "morning".
func (s *scan) daypart(end int) int {
	if s.are(end, daypart) && s.space(end) != newLine {
		end++
	}
	return end
}

// onWeekday holds a weekday to its date. Where the date leaves the year or the month open, the nearest
// that fits is taken if the next one is much further away.
func (s *scan) onWeekday(r Reading, w, end int) (Reading, int) {
	others := func(c Choice) bool { return weekdayOf(c.Value.Days()) != w }
	if all := slices.Clone(r.centuries); r.Problem == 0 && (all != nil || len(r.Others) > 0) {
		if all == nil {
			all = r.choices()
		}
		if all = slices.DeleteFunc(all, others); len(all) == 0 {
			return failed(WrongWeekday, w, end)
		}
		r.centuries = nil
		r.offer(all)
		return r, end
	}
	if r.Problem != 0 || !others(r.Choice) {
		return r, end
	}
	y, m, d := civil(r.Value.Days())
	var near, far int64
	for n := -14; n <= 14 && r.Assumed&NextSuch != 0; n++ {
		v, ok := stores.NewDate(y+n, m, d)
		if r.monthly {
			p := monthSpan(y, m+n)
			v, ok = dateValue(p.first+int64(d-1)), d <= p.days()
		}
		switch {
		case !ok || others(Choice{Value: v}):
		case near == 0 || s.far(v.Days()) < s.far(near):
			near, far = v.Days(), near
		case far == 0 || s.far(v.Days()) < s.far(far):
			far = v.Days()
		}
	}
	if near == 0 || far != 0 && s.far(far) < 4*s.far(near) {
		r.fail(WrongWeekday, w)
	} else if r.Value, r.Assumed = dateValue(near), NextSuch; near < s.today {
		r.Assumed = LastSuch
	}
	return r, end
}

func (s *scan) far(day int64) int64 { return max(day-s.today, s.today-day) }

// comingDay returns the next such weekday from tomorrow on, or the one n weeks later.
func (s *scan) comingDay(w, n int) int64 {
	return s.today + int64((w-weekdayOf(s.today)+6)%7+1) + 7*int64(n)
}

// whichDay reads a weekday with a word such as "this" or "next".
func (s *scan) whichDay(w int, how class, end int) (Reading, int) {
	inWeek := func(n int) int64 { return monday(s.today) + 7*int64(n) + int64(w-1) }
	soonest := s.comingDay(w, 0)
	today := weekdayOf(s.today) == w
	recent := soonest - 7 - 7*int64(b2i(today)) // today is no last Friday
	switch how {
	case next: // the very next one, or that of next week
		return oneOf(Relative, end, soonest, inWeek(1))
	case coming:
		return onDate(Relative, soonest, end)
	case this:
		if inWeek(0) < s.today {
			return oneOf(Relative, end, inWeek(0), soonest)
		}
		return onDate(Relative, inWeek(0), end)
	case last:
		return oneOf(Relative, end, recent, inWeek(-1))
	case ago:
		return onDate(Relative, recent, end)
	case afterNext:
		return oneOf(Relative, end, soonest+7, inWeek(2))
	}
	if today {
		return oneOf(Relative, end, s.today, soonest)
	}
	r, end := onDate(Relative, soonest, end)
	r.Assumed, r.before = NextSuch, dateValue(soonest-7)
	return r, end
}

// which reads "next Friday", "this past Wednesday", "next 5/12", "within the next two weeks".
func (s *scan) which(i int) (Reading, int) {
	how := s.modifier(i)
	j := i + 1
	if how == this && s.are(j, last) {
		how, j = ago, j+1
	}
	if s.space(j) == newLine {
		return Reading{}, i
	}
	if w, ok := s.is(j, weekday); ok {
		if r, end := s.weekday(j); end > j+2 && (r.Assumed&NextSuch != 0 || r.Kind == Exact || r.Problem != 0) && how != last {
			return r, end
		}
		r, end := s.whichDay(w, how, j+1)
		return r, s.daypart(end)
	}
	if s.are(j, holiday) {
		r, end := s.named(j)
		if n, _ := s.is(j, holiday); how == last && r.Known() && r.Kind == Relative {
			y, _, _ := civil(r.Value.Days())
			r.Value, r.Assumed = dateValue(holidayIn(y-1, n)), 0
		}
		return r, end
	}
	if r, end := s.calendar(j); end > j && how != last {
		return r, end
	}
	n, ok := s.amountOf(j, false)
	if u, is := s.is(j+1, unit); ok && is && s.space(j+1) != newLine && (how == next || how == coming) {
		last, _ := s.after(s.today, n, u)
		return vague(span{s.today, last}, 0, j+2)
	}
	return Reading{}, i
}

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

// amountOf reads a small number, in digits or in words. Marks may touch the digits of a loose one.
func (s *scan) amountOf(i int, loose bool) (int, bool) {
	if n, ok := s.is(i, cardinal); ok {
		return n, n <= 999
	}
	n, l, ok := s.digits(i)
	if s.are(i, one) {
		return 1, true
	}
	return n, ok && l <= 3 && (loose || !s.loose(i+1))
}

// after returns the day that is n units after another.
func (s *scan) after(day int64, n, u int) (to int64, cut bool) {
	switch u {
	case days:
		return day + int64(n), false
	case weeks:
		return day + 7*int64(n), false
	case fortnights:
		return day + 14*int64(n), false
	case months:
		return addMonths(day, n)
	case quarters:
		return addMonths(day, 3*n)
	case years:
		return addMonths(day, 12*n)
	}
	step := int64(1)
	if n < 0 {
		step, n = -1, -n
	}
	for range n {
		day += step
		for weekdayOf(day) > 5 {
			day += step
		}
	}
	return day, false
}

// A count is of units from a day on, or back from it.
type count struct {
	n, least, u int
	from        class // within, since, onward or backward
	vague       bool
}

// count reads "in about three weeks", "three weeks ago", "vor drei Wochen", "two days before".
func (s *scan) count(i int) (c count, end int) {
	j := i
	if s.are(i, within, since) && !s.are(i, cardinal) {
		c.from = within
		if j++; s.are(i, since) {
			c.from = since
		}
		if c.vague = s.are(j, about); c.vague {
			j++
		}
	}
	var ok bool
	if c.n, ok = s.amountOf(j, j > i && (s.are(j+1, or, to) || s.marked(j+1, '-', '–', '/'))); !ok || s.space(j) == newLine && j > i || j == i && s.are(i, number) && !s.free(i) {
		if u, is := s.is(i, unit); !is || u != days { // "the day before Christmas"
			return c, i
		}
		c.n, j = 1, i-1
	} else if more, is := s.amountOf(j+2, false); j > i && is && (s.are(j+1, or, to) || s.marked(j+1, '-', '–', '/')) {
		c.least, c.n, j = c.n, more, j+2 // "in 2-3 weeks"
	}
	u, ok := s.is(j+1, unit)
	if end = j + 2; !ok || s.space(j+1) == newLine {
		return c, i
	}
	c.u = u
	switch behind := s.space(end) != newLine; {
	case behind && s.are(end, onward) && c.from != since:
		c.from = onward
		end++
	case behind && s.are(end, backward, since) && c.from == none:
		c.from = backward
		end++
	case c.from != none:
		if e := end + b2i(s.marked(end, '\'', '’')); c.from == within && s.are(e, hence) {
			end = e + 1
		}
	case j < i:
		return c, i
	case s.are(end, ago):
		c.from = since
		end++
	case s.are(end, hence) && !slices.Contains(s.said("henceonly"), s.plainOf(end)):
		c.from = within
		end++
	default:
		return c, i
	}
	if c.from == since || c.from == backward {
		c.n, c.least = -c.n, -c.least
	}
	return c, end
}

// counted reads "in three days", "three days ago", "two weeks from now", "two days before Easter".
func (s *scan) counted(i int) (Reading, int) {
	c, end := s.count(i)
	if end == i {
		return s.weekdaysOn(i)
	}
	base := Reading{Choice: Choice{Value: dateValue(s.today)}, Kind: Relative}
	if c.from == onward || c.from == backward {
		k := s.past(end, 1, of)
		read := (*scan).date
		if s.are(k, number, cardinal, one, within, since, unit) {
			read = (*scan).calendar // no count from a count
		}
		var best int
		if base, best = read(s, k); best == k {
			best = 0
		}
		if best == 0 && s.are(i, within) {
			return failed(Unread, 0, end) // "in two weeks since 2011"
		} else if best == 0 {
			return Reading{}, i
		}
		if end = best; !base.Known() || c.u == years && base.Assumed&NextSuch != 0 {
			base.fail(Unread, 0)
			return base, end
		}
	}
	day, cut := s.after(base.Value.Days(), c.n, c.u)
	first, _ := s.after(s.today, c.least, c.u)
	switch {
	case c.least != 0:
		r, end := oneOf(Vague, end, first, day)
		r.fail(Spread, 0)
		return r, end
	case c.u == days && c.from != onward && c.from != backward && (c.n == 8 && s.has(weekOfEight) || c.n == 15 && s.has(fortnightOfFifteen)):
		return oneOf(Relative, end, day-1, day) // "dans quinze jours" is in two weeks, or in fifteen days
	}
	r, end := onDate(base.Kind, day, end)
	if r.Assumed = base.Assumed; cut {
		r.Assumed |= Shortened
	}
	if c.vague {
		r.Kind = Vague
	}
	return r, end
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
