package values

import (
	"slices"

	"verbatim/stores"
)

// Days of the week, and those that they may be.

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
