package values

import (
	"slices"
)

// Times that are counted: "in three weeks", "two days after Easter".

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
