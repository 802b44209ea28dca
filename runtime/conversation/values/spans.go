package values

import "slices"

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
	k := j
	if s.marked(k, ',') {
		k++
	}
	for n := 0; n < 2 && s.are(k, of, by) && !s.are(k, month); n++ {
		k++
	}
	if r, end := s.dated(k); end > k && s.space(k) != newLine {
		if len(r.Others) == 0 && r.Problem == 0 && weekdayOf(r.Value.Days()) != w {
			r.fail(WrongWeekday, w)
		} else if len(r.Others) > 0 {
			r.Others = slices.DeleteFunc(r.Others, func(c Choice) bool { return weekdayOf(c.Value.Days()) != w })
			if len(r.Others) == 0 {
				return s.failed(WrongWeekday, w, end)
			}
			r.offer(r.Others)
		}
		return r, end
	}
	if !full && !s.are(i-1, by, next, this, coming) {
		return Reading{}, i
	}
	// Of a week.
	k = j
	for n := 0; n < 2 && s.are(k, of, within, by); n++ {
		k++
	}
	if mod, end, ok := s.modified(k, weeks); ok {
		first := spanOf(weeks, s.today, mod).first
		return s.relative(first+int64(w-1), end)
	}
	if s.are(j, within) {
		if n, u, end, ok := s.count(j + 1); ok && u == weeks {
			return s.either(Relative, end, spanOf(weeks, s.today, n).first+int64(w-1), s.comingDay(w, 0)+7*int64(n))
		}
	}
	if u, ok := s.is(j, unit); ok && (u == weeks || u == fortnights) && s.space(j) != newLine {
		return s.failed(Unread, 0, j+1) // "Friday week"
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
	if s.are(end, daypart) && s.space(end) != newLine {
		end++
	}
	return r, end
}

// dated reads a day with its number, at a place where nothing else counts.
func (s *scan) dated(i int) (Reading, int) {
	if i >= len(s.lexemes) {
		return Reading{}, i
	}
	if r, end := s.numeric(i); end > i {
		return r, end
	}
	if r, end := s.dayMonth(i); end > i {
		return r, end
	}
	if s.are(i, month) {
		if r, end := s.monthDay(i); end > i {
			return r, end
		}
	}
	return s.dayOfMonth(i)
}

// comingDay returns the next such weekday from tomorrow on, or the one n weeks later.
func (s *scan) comingDay(w, n int) int64 {
	return s.today + int64((w-weekdayOf(s.today)+6)%7+1) + 7*int64(n)
}

// whichDay reads a weekday with a word such as "this" or "next".
func (s *scan) whichDay(w int, how class, end int) (Reading, int) {
	inWeek := func(n int) int64 { return monday(s.today) + 7*int64(n) + int64(w-1) }
	soonest := s.comingDay(w, 0)
	today := weekdayOf(s.today) == w
	extra := int64(0) // today is no last Friday
	if today {
		extra = 1
	}
	switch how {
	case next:
		// The very next one, or that of next week.
		return s.either(Relative, end, soonest, inWeek(1))
	case coming:
		return s.relative(soonest, end)
	case this:
		if inWeek(0) < s.today {
			return s.either(Relative, end, inWeek(0), soonest)
		}
		return s.relative(inWeek(0), end)
	case last:
		return s.either(Relative, end, soonest-7-7*extra, inWeek(-1))
	case afterNext:
		return s.either(Relative, end, soonest+7, inWeek(2))
	}
	if today {
		return s.either(Relative, end, s.today, soonest)
	}
	r, end := s.relative(soonest, end)
	r.Assumed, r.before = NextSuch, dateValue(soonest-7)
	return r, end
}

// modified reads "next week" or "semaine prochaine": a unit, and its distance from now.
func (s *scan) modified(i, u int) (n, end int, ok bool) {
	mods := []struct {
		c class
		n int
	}{{next, 1}, {coming, 1}, {this, 0}, {last, -1}, {afterNext, 2}}
	for _, m := range mods {
		if s.are(i, m.c) {
			if v, ok := s.is(i+1, unit); ok && v == u && s.space(i+1) != newLine {
				return m.n, i + 2, true
			}
		}
		if v, ok := s.is(i, unit); ok && v == u && m.c != this && s.are(i+1, m.c) && s.space(i+1) != newLine && (s.has(adjectivesBehind) || m.c == afterNext) {
			return m.n, i + 2, true
		}
	}
	return 0, i, false
}

// span reads "next week", "this month", "next Friday", "next March".
func (s *scan) span(i int) (Reading, int) {
	for _, u := range []int{weeks, months, quarters, years} {
		n, end, ok := s.modified(i, u)
		if !ok {
			continue
		}
		p := spanOf(u, s.today, n)
		if u == weeks {
			// "next week on Friday"
			k := end
			for m := 0; m < 2 && s.are(k, by, of); m++ {
				k++
			}
			if w, ok := s.is(k, weekday); ok && s.space(k) != newLine {
				if s.are(k+1, daypart) {
					k++
				}
				return s.relative(p.first+int64(w-1), k+1)
			}
		}
		if n == 0 {
			p.first = max(p.first, s.today)
		}
		return s.vague(p, end)
	}
	how := none
	for _, c := range []class{next, this, coming, last, afterNext} {
		if s.are(i, c) {
			how = c
			break
		}
	}
	if how == none {
		if s.are(i, weekend) && s.are(i-1, by, of) {
			return s.weekend(0, i+1)
		}
		if s.are(i, weekend) && s.are(i+1, next, coming) && s.has(adjectivesBehind) {
			return s.weekend(1, i+2)
		}
		return Reading{}, i
	}
	j := i + 1
	if s.space(j) == newLine {
		return Reading{}, i
	}
	if w, ok := s.is(j, weekday); ok {
		r, end := s.whichDay(w, how, j+1)
		if s.are(end, daypart) && s.space(end) != newLine {
			end++
		}
		return r, end
	}
	if s.are(j, weekend) && (how == this || how == coming) {
		return s.weekend(0, j+1)
	}
	if s.are(j, weekend) && how == next {
		return s.weekend(1, j+1)
	}
	if m, ok := s.is(j, month); ok && !s.verbLike(j) {
		p := s.nextMonth(m)
		y, _, _ := civil(s.today)
		py, _, _ := civil(p.first)
		switch {
		case how == coming, how == this && py == y, how == next && py > y:
			return s.vague(p, j+1)
		case how == next:
			later := monthSpan(py+1, m)
			return s.either(Vague, j+1, p.lastWorkingDay(), later.lastWorkingDay())
		}
		return Reading{}, i
	}
	// "within the next two weeks"
	if n, u, end, ok := s.count(j); ok && (how == next || how == coming) {
		last, _ := s.after(n, u)
		return s.vague(span{s.today, last}, end)
	}
	return Reading{}, i
}

// weekend reads this weekend, or that of a later week.
func (s *scan) weekend(n, end int) (Reading, int) {
	first := monday(s.today) + 5
	last := first + 1
	r, end := s.relative(last, end)
	r.Kind = Vague
	if n == 1 {
		// The coming one, or that of next week.
		if weekdayOf(s.today) >= 6 {
			first, last = first+7, last+7
			r.Value, r.First, r.Last = dateValue(last), dateValue(first), dateValue(last)
			return r, end
		}
		return s.either(Vague, end, last, last+7)
	}
	r.First, r.Last = dateValue(max(first, s.today)), dateValue(last)
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
		return s.partOf(which, n, spanOf(n, s.today, 0), true, j)
	}
	if s.marked(j, '-', '–') {
		j++
	}
	for k := 0; k < 4 && (s.are(j, of) && !s.are(j, unit, month) || s.marked(j, '\'', '’')); k++ {
		j++
	}
	if j >= len(s.lexemes) || s.space(j) == newLine {
		return Reading{}, i
	}
	for _, u := range []int{weeks, months, quarters, years} {
		if n, end, ok := s.modified(j, u); ok {
			return s.partOf(which, u, spanOf(u, s.today, n), true, end)
		}
		if v, ok := s.is(j, unit); ok && v == u {
			return s.partOf(which, u, spanOf(u, s.today, 0), true, j+1)
		}
	}
	if v, ok := s.is(j, unit); ok && v == days && which == ending && !s.are(i, weekend) {
		return s.relative(s.today, j+1)
	}
	if m, ok := s.is(j, month); ok {
		y, end := s.year(j + 1)
		switch {
		case y.said && !y.short:
			return s.partOf(which, months, monthSpan(y.year, m), false, end)
		case y.said || y.unread:
			return s.failed(Unread, 0, end)
		}
		r, end := s.partOf(which, months, s.nextMonth(m), true, j+1)
		r.Assumed |= NextSuch
		return r, end
	}
	if y, l, ok := s.digits(j); ok && l == 4 && 1900 <= y && y < 2200 {
		return s.partOf(which, years, span{dayOf(y, 1, 1), dayOf(y, 12, 31)}, false, j+1)
	}
	if p, end, year, ok := s.quarterSpan(j); ok {
		r, end := s.partOf(which, quarters, p, !year, end)
		if !year {
			r.Assumed |= NextSuch
		}
		return r, end
	}
	return Reading{}, i
}

// partOf reads the end, the beginning or the middle of a span.
func (s *scan) partOf(which class, u int, p span, now bool, end int) (Reading, int) {
	switch {
	case which == ending && u != weeks:
		r, end := s.relative(p.last, end)
		if !now {
			r.Kind = Exact
		}
		return r, end
	case u == weeks && (which == ending || which == late):
		p = span{p.first + 4, p.last}
		if now && p.first < s.today {
			p.first = min(s.today, p.last)
		}
	case u == weeks && which == early:
		p = span{p.first, p.first + 1}
	case u == weeks:
		p = span{p.first + 2, p.first + 2}
	case u == months && which == early:
		p = span{p.first, p.first + 9}
	case u == months && which == mid:
		p = span{p.first + 10, p.first + 19}
	case u == months:
		p = span{p.first + 20, p.last}
	default:
		y, m, _ := civil(p.first)
		third := 1 // months of a third of a quarter
		if u == years {
			third = 4
		}
		switch which {
		case early:
			p.last = monthSpan(y, m+third-1).last
		case mid:
			p = span{monthSpan(y, m+third).first, monthSpan(y, m+2*third-1).last}
		default:
			p.first = monthSpan(y, m+2*third).first
		}
	}
	return s.vague(p, end)
}

// count reads a number and a unit.
func (s *scan) count(i int) (n, u, end int, ok bool) {
	n, ok = s.amountOf(i)
	if !ok {
		return 0, 0, i, false
	}
	if s.space(i+1) == newLine {
		return 0, 0, i, false
	}
	u, ok = s.is(i+1, unit)
	if !ok {
		return 0, 0, i, false
	}
	return n, u, i + 2, true
}

// amountOf reads a small number, in digits or in words.
func (s *scan) amountOf(i int) (int, bool) {
	if n, ok := s.is(i, cardinal); ok {
		return n, true
	}
	if s.are(i, one) {
		return 1, true
	}
	n, l, ok := s.digits(i)
	return n, ok && l <= 3 && !s.loose(i+1)
}

// after returns the day that is n units after today.
func (s *scan) after(n, u int) (day int64, cut bool) {
	switch u {
	case days:
		return s.today + int64(n), false
	case weeks:
		return s.today + 7*int64(n), false
	case fortnights:
		return s.today + 14*int64(n), false
	case months:
		return addMonths(s.today, n)
	case quarters:
		return addMonths(s.today, 3*n)
	case years:
		return addMonths(s.today, 12*n)
	}
	day = s.today
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

// counted reads "in three days", "three days ago", "two weeks from now".
func (s *scan) counted(i int) (Reading, int) {
	j, in, back := i, false, false
	switch {
	case s.are(i, within):
		j, in = i+1, true
	case s.are(i, since):
		j, back = i+1, true
	}
	vague := false
	if s.are(j, about) && j > i {
		j, vague = j+1, true
	}
	if in && s.are(j, of) { // "within the next two weeks" is read at "next"
		return Reading{}, i
	}
	if s.space(j) == newLine && j > i {
		return Reading{}, i
	}
	// "in two or three weeks", "in 2-3 weeks"
	if a, ok := s.amountLoose(j); ok && j > i && (s.are(j+1, or, to) || s.marked(j+1, '-', '–', '/')) {
		if n, u, end, ok := s.count(j + 2); ok {
			if back {
				a, n = -a, -n
			}
			first, _ := s.after(a, u)
			last, _ := s.after(n, u)
			r, end := s.either(Vague, end, first, last)
			r.fail(Spread, 0)
			return r, end
		}
	}
	n, u, end, ok := s.count(j)
	if !ok || n > 999 {
		if n, l, ok := s.digits(j); in && ok && l == 4 && 1900 <= n && n < 2200 && !s.loose(j+1) {
			return Reading{}, i // read at the place of the year
		}
		return Reading{}, i
	}
	if j == i {
		if s.lexemes[i].means[0].class == number && !s.free(i) {
			return Reading{}, i
		}
		switch {
		case s.are(end, ago):
			back = true
			end++
		case s.are(end, hence) && !slices.Contains(s.said("henceonly"), s.plainOf(end)):
			end++
		default:
			return Reading{}, i
		}
	} else if in {
		if s.marked(end, '\'', '’') && s.are(end+1, hence) {
			end++
		}
		if s.are(end, hence) {
			end++
		}
	}
	if back {
		n = -n
	}
	day, cut := s.after(n, u)
	// "dans quinze jours" is in two weeks, or in fifteen days.
	if u == days && (n == 8 && s.has(weekOfEight) || n == 15 && s.has(fortnightOfFifteen)) {
		return s.either(Relative, end, day-1, day)
	}
	r, end := s.relative(day, end)
	if cut {
		r.Assumed |= Shortened
	}
	if vague {
		r.Kind = Vague
	}
	return r, end
}

// amountLoose is amountOf, but other characters may touch the number.
func (s *scan) amountLoose(i int) (int, bool) {
	if n, ok := s.amountOf(i); ok {
		return n, true
	}
	n, l, ok := s.digits(i)
	return n, ok && l <= 3
}

// fromToday reads "tomorrow".
func (s *scan) fromToday(i, n int) (Reading, int) {
	end := i + 1
	if s.space(i) != newLine && n == 1 && s.behind(i, "nomorrow") {
		return Reading{}, i // "la mañana"
	}
	if s.are(end, daypart) && s.space(end) != newLine {
		end++
	}
	return s.relative(s.today+int64(n), end)
}

// quarter reads "Q1", "first quarter of 2025", "1. Quartal".
func (s *scan) quarter(i int) (Reading, int) {
	p, end, year, ok := s.quarterSpan(i)
	if !ok {
		return Reading{}, i
	}
	r, end := s.vague(p, end)
	if !year {
		r.Assumed |= NextSuch
	}
	return r, end
}

func (s *scan) quarterSpan(i int) (p span, end int, year, ok bool) {
	q, j := 0, i
	if s.are(i, quarterMark) {
		n, l, digits := s.digits(i + 1)
		if !digits || l != 1 || !s.tight(i+1) || s.tight(i) && !s.free(i) {
			return p, i, false, false
		}
		q, j = n, i+2
	} else {
		n, k, marked, numbered := s.dayNumber(i)
		if !numbered || !marked {
			return p, i, false, false
		}
		if u, unit := s.is(k, unit); !unit || u != quarters {
			return p, i, false, false
		}
		q, j = n, k+1
	}
	if q < 1 || q > 4 {
		return p, i, false, false
	}
	y, end := s.year(j)
	this, _, _ := civil(s.today)
	of := func(y int) span { return span{monthSpan(y, 3*q-2).first, monthSpan(y, 3*q).last} }
	switch {
	case y.said && !y.short:
		return of(y.year), end, true, true
	case y.said || y.unread:
		return p, i, false, false
	}
	p = of(this)
	if p.last < s.today {
		p = of(this + 1)
	}
	return p, j, false, true
}

// yearAlone reads "in 2025".
func (s *scan) yearAlone(i int) (Reading, int) {
	y, l, ok := s.digits(i)
	if !ok || l != 4 || y < 1900 || y >= 2200 || !s.are(i-1, within, by) || s.tight(i) || s.loose(i+1) {
		return Reading{}, i
	}
	if i+1 < len(s.lexemes) && s.space(i+1) != newLine && !s.marked(i+1, '.', ',', ';', '!', '?', ')') && !s.ends(i+1) {
		return Reading{}, i
	}
	return s.vague(span{dayOf(y, 1, 1), dayOf(y, 12, 31)}, i+1)
}
