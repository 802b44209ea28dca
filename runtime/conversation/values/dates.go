package values

import (
	"cmp"
	"slices"
	"unicode"

	"verbatim/stores"
)

// date reads a day or a span that begins at a lexeme, and returns the lexeme
// after it.
func (s *scan) date(i int) (Reading, int) {
	x := &s.lexemes[i]
	best, end := Reading{}, i
	try := func(r Reading, j int) {
		if j > end {
			best, end = r, j
		}
	}
	for _, e := range x.means {
		switch e.class {
		case number:
			try(s.numeric(i))
			try(s.dayMonth(i))
			try(s.dayOfMonth(i))
			try(s.counted(i))
			try(s.quarter(i))
			try(s.yearAlone(i))
		case ordinal:
			try(s.dayMonth(i))
			try(s.quarter(i))
			try(s.dayOfMonth(i))
		case cardinal:
			try(s.dayMonth(i))
			try(s.counted(i))
		case one:
			try(s.counted(i))
		case month:
			try(s.monthDay(i))
			try(s.monthAlone(i))
		case weekday, weekdayOn:
			try(s.weekday(i))
		case next, this, last, coming, afterNext, unit, weekend:
			try(s.span(i))
		case ending, early, mid, late:
			try(s.part(i))
		case within:
			try(s.counted(i))
		case since:
			try(s.counted(i))
		case day:
			try(s.fromToday(i, int(e.n)))
		case quarterMark:
			try(s.quarter(i))
		}
	}
	if end > i && s.loose(end) {
		return Reading{}, i
	}
	return best, end
}

// loose reports whether a character touches the end of a reading and makes it part of something
// else: "2025-01-03T10", "tomorrow's".
func (s *scan) loose(end int) bool {
	if !s.tight(end) {
		return false
	}
	switch x := &s.lexemes[end]; x.means[0].class {
	case mark:
		switch x.mark {
		case '.', ',', ':', '-', '\'', '’', '_', '@', '#', '\\':
			return s.tight(end+1) && s.lexemes[end+1].means[0].class != mark && !s.are(end+1, spoils)
		case '/':
			return s.tight(end+1) && s.lexemes[end-1].means[0].class == number
		case '%', '^':
			return true
		}
		return unicode.IsNumber(x.mark) // "2²"
	default:
		return true
	}
}

// free reports that nothing touches a number on its left that would make it part
// of something else.
func (s *scan) free(i int) bool {
	if !s.tight(i) {
		return true
	}
	switch s.lexemes[i-1].mark {
	case '(', '[', '"', '\'', '“', '„', '«', '‘', ',', ';', '=', '>', '¿', '¡', '–', '—', '*', '|':
		return s.lexemes[i-1].mark != ',' || !s.are(i-2, number)
	case ':':
		return !s.are(i-2, number)
	}
	return false
}

func (s *scan) exactly(day int64, end int) (Reading, int) {
	return Reading{What: Date, Choice: Choice{Value: dateValue(day)}, whole: true}, end
}

func (s *scan) relative(day int64, end int) (Reading, int) {
	return Reading{What: Date, Kind: Relative, Choice: Choice{Value: dateValue(day)}}, end
}

// vague proposes the last working day of a span.
func (s *scan) vague(p span, end int) (Reading, int) {
	return Reading{What: Date, Kind: Vague, Choice: Choice{Value: dateValue(p.lastWorkingDay())},
		First: dateValue(p.first), Last: dateValue(p.last), Assumed: LastWorkingDay}, end
}

func (s *scan) failed(p Problem, detail, end int) (Reading, int) {
	return Reading{What: Date, Problem: p, Detail: detail}, end
}

// either offers days to choose from.
func (s *scan) either(kind Kind, end int, all ...int64) (Reading, int) {
	r := Reading{What: Date, Kind: kind}
	slices.Sort(all)
	var choices []Choice
	for _, d := range slices.Compact(all) {
		choices = append(choices, Choice{Value: dateValue(d)})
	}
	r.offer(choices)
	return r, end
}

// onDay reads a day whose year may be missing, or short.
func (s *scan) onDay(d, m int, y yearSaid, end int) (Reading, int) {
	switch {
	case y.unread:
		return s.failed(Unread, 0, end)
	case y.short:
		var all []int64
		for _, century := range []int{1900, 2000} {
			if v, ok := stores.NewDate(century+y.year, m, d); ok {
				all = append(all, v.Days())
			}
		}
		if len(all) == 0 {
			return s.failed(NoSuchDay, d, end)
		}
		r, end := s.either(Exact, end, all...)
		if len(all) == 1 {
			r.Others, r.Choice = []Choice{r.Choice}, Choice{}
		}
		return r, end
	case y.said:
		v, ok := stores.NewDate(y.year, m, d)
		if !ok {
			return s.failed(NoSuchDay, d, end)
		}
		return s.exactly(v.Days(), end)
	}
	this, _, _ := civil(s.today)
	for n := range 9 {
		v, ok := stores.NewDate(this+n, m, d)
		if ok && v.Days() >= s.today {
			r, end := s.relative(v.Days(), end)
			r.Assumed = NextSuch
			for k := n - 1; k > n-9; k-- {
				if v, ok := stores.NewDate(this+k, m, d); ok {
					r.before = v
					break
				}
			}
			return r, end
		}
	}
	return s.failed(NoSuchDay, d, end)
}

// numeric reads 2025-01-03, 3.1.2025, 3/1/2025 and the like.
func (s *scan) numeric(i int) (Reading, int) {
	a, la, ok := s.digits(i)
	if !ok || !s.free(i) || !s.tight(i+1) || !s.marked(i+1, '.', '/', '-') {
		return Reading{}, i
	}
	sep := s.lexemes[i+1].mark
	// "15. 3. 1972" may be written with spaces after the points.
	near := func(j int) bool { return s.tight(j) || sep == '.' && s.space(j) <= oneSpace }
	b, lb, ok := s.digits(i + 2)
	if !ok || lb > 2 || !near(i+2) {
		return Reading{}, i
	}
	c, lc, ok := s.digits(i + 4)
	y, end := yearSaid{said: true, year: c, short: lc == 2}, i+5
	third := s.marked(i+3, sep) && s.tight(i+3)
	switch {
	case !third || !ok || !near(i+4) || s.space(i+4) == oneSpace && lc != 4:
		// "bis zum 15.3.", which can only be a day, or "15/3" as the answer to a question for a day.
		y, end = yearSaid{}, i+3
		if third && sep == '.' {
			end++
		}
		asked := s.day && !s.are(i-1, number) && !s.are(end, of, unit)
		switch {
		case la > 2 || s.loose(end) || s.tight(i+4):
			return Reading{}, i
		case sep == '.' && s.has(ordinalPoint) && (asked || third && s.are(i-1, by, of)):
			return s.onDay(a, b, y, end)
		case sep != '/' || !asked:
			return Reading{}, i
		}
	case la == 4 && lc <= 2:
		return s.onDay(c, b, yearSaid{said: true, year: a}, end)
	case la > 2 || lc != 4 && lc != 2:
		return Reading{}, i
	}
	// With points the day comes first in all languages that write dates so; with other separators
	// it comes first if no language of the text writes it otherwise. In English the person is asked.
	dayFirst := sep == '.' && !s.has(monthFirst) || s.sole && s.has(dayFirstAlways)
	switch {
	case dayFirst && b <= 12 || a > 12 || a == b:
		r, end := s.onDay(a, b, y, end)
		if dayFirst && a <= 12 && a != b && r.Problem == 0 {
			r.Assumed |= DayFirst
		}
		return r, end
	case b > 12 && !(sep == '.' && dayFirst):
		return s.onDay(b, a, y, end)
	case b > 12:
		return s.failed(NoSuchDay, a, end)
	}
	first, _ := s.onDay(a, b, y, 0)
	second, _ := s.onDay(b, a, y, 0)
	both := either(first, second)
	both.whole = false
	return both, end
}

// A yearSaid is the year of a date, as far as the text gives it.
type yearSaid struct {
	year   int
	said   bool
	short  bool // it has two digits
	unread bool // the text has something there that may be a year
}

// year reads the year that may follow a day and a month.
func (s *scan) year(i int) (yearSaid, int) {
	j := i
	comma := false
	if s.marked(j, '.') && s.tight(j) && s.lexemes[j-1].means[0].class == month {
		j++ // "Jan. 2025"
	}
	switch {
	case s.marked(j, ','):
		comma = true
		j++
	case s.marked(j, '-', '/') && s.tight(j) && s.tight(j+1):
		j++
	}
	for n := 0; n < 2 && s.are(j, of); n++ {
		j++
	}
	if s.marked(j, '\'', '’') && s.tight(j+1) {
		if n, l, ok := s.digits(j + 1); ok && l == 2 {
			return yearSaid{year: n, said: true, short: true}, j + 2
		}
	}
	if s.space(j) == newLine && j > i {
		return yearSaid{}, i
	}
	n, l, ok := s.digits(j)
	switch {
	case !ok:
		if v, spelt := s.is(j, cardinal); spelt && v >= 10 {
			// "March 15, nineteen seventy-two": a year, probably, which is not
			// read.
			return yearSaid{unread: true}, j + 1
		}
		if s.are(j, times) && !comma {
			return yearSaid{unread: true}, j + 1
		}
		return yearSaid{}, i
	case l == 4 && 1000 <= n && n <= 2999 && !s.loose(j+1):
		return yearSaid{year: n, said: true}, j + 1
	case l == 2 && !s.loose(j+1) && (j+1 >= len(s.lexemes) || s.lexemes[j+1].means[0].class == mark || s.space(j+1) == newLine) && !s.marked(j+1, '%'):
		return yearSaid{year: n, said: true, short: true}, j + 1
	case !comma && j == i && l != 2 && l != 1:
		return yearSaid{unread: true}, j + 1
	}
	return yearSaid{}, i
}

// dayNumber reads the number of a day: "15", "15th", "15.", "fifteenth",
// "quince".
func (s *scan) dayNumber(i int) (n, end int, marked, ok bool) {
	if n, ok := s.is(i, ordinal); ok {
		return n, i + 1, true, true
	}
	if n, ok := s.is(i, cardinal); ok && s.has(cardinalDays) && n <= 31 {
		return n, i + 1, false, true
	}
	n, l, ok := s.digits(i)
	if !ok || l > 2 {
		return 0, i, false, false
	}
	end = i + 1
	if s.marked(end, '.') && s.tight(end) && (s.has(ordinalPoint) || s.are(end+1, suffix) && s.tight(end+1)) {
		end, marked = end+1, true
	}
	if s.are(end, suffix) && s.tight(end) && !s.are(end, quarterMark) {
		end, marked = end+1, true
	}
	return n, end, marked, true
}

// dayMonth reads "15 March 1972", "15th of March", "15. März", "1er mars".
func (s *scan) dayMonth(i int) (Reading, int) {
	d, j, marked, ok := s.dayNumber(i)
	if !ok || !s.free(i) && s.lexemes[i].means[0].class == number {
		return Reading{}, i
	}
	linked := false
	if s.marked(j, '-') && s.tight(j) && s.tight(j+1) {
		j++
		linked = true
	}
	for n := 0; n < 2 && s.are(j, of) && !s.are(j, month); n++ {
		j, linked = j+1, true
	}
	m, ok := s.is(j, month)
	if !ok || s.space(j) == newLine {
		return Reading{}, i
	}
	if s.are(i, cardinal) && s.has(linkedDays) && !linked {
		return Reading{}, i
	}
	verb := s.verbLike(j)
	j++
	y, end := s.year(j)
	if !y.said && !y.unread {
		if verb && !linked && !marked && !s.are(i-1, by) {
			return Reading{}, i
		}
		if verb && s.are(i, ordinal) && !linked {
			return Reading{}, i
		}
		end = j
		if s.marked(end, '.') && s.tight(end) && s.abbreviated(end-1) && end+1 < len(s.lexemes) && s.space(end+1) != newLine {
			end++
		}
	}
	if d < 1 || d > 31 {
		if !y.said {
			return Reading{}, i
		}
		return s.failed(NoSuchDay, d, end)
	}
	return s.onDay(d, m, y, end)
}

// abbreviated reports that a month is written short.
func (s *scan) abbreviated(i int) bool {
	t := &s.tokens[s.lexemes[i].first]
	return t.to-t.from <= 4
}

// verbLike reports that a month may as well be another word: "may".
func (s *scan) verbLike(i int) bool {
	t := &s.tokens[s.lexemes[i].first]
	return slices.Contains(s.said("verblike"), s.text[t.start:t.end])
}

// monthDay reads "March 15, 1972".
func (s *scan) monthDay(i int) (Reading, int) {
	m, _ := s.is(i, month)
	j := i + 1
	if s.marked(j, '.') && s.tight(j) {
		j++
	}
	the := false
	for n := 0; n < 1 && s.are(j, of); n++ {
		j, the = j+1, true
	}
	if s.space(j) == newLine {
		return Reading{}, i
	}
	var d int
	if n, ok := s.is(j, ordinal); ok {
		d, j = n, j+1
	} else {
		n, l, ok := s.digits(j)
		if !ok || l > 2 || n == 0 || the && !(s.are(j+1, suffix) && s.tight(j+1)) {
			return Reading{}, i
		}
		d, j = n, j+1
		if s.are(j, suffix) && s.tight(j) {
			j++
		} else if s.tight(j) && !s.marked(j, ',', '.', ';', '?', '!', ')', ':', '-', '–', '"') {
			return Reading{}, i
		}
	}
	y, end := s.year(j)
	if !y.said && !y.unread {
		end = j
		if i > 0 && s.verbLike(i) && !s.are(j-1, suffix) && !s.are(i-1, by, mid, early, late, ending) {
			return Reading{}, i // "you may 2 times"
		}
	}
	if d > 31 {
		if !y.said {
			return Reading{}, i
		}
		return s.failed(NoSuchDay, d, end)
	}
	return s.onDay(d, m, y, end)
}

// monthAlone reads "March 1972", and "March" if it can be nothing else.
func (s *scan) monthAlone(i int) (Reading, int) {
	m, _ := s.is(i, month)
	y, end := s.year(i + 1)
	switch {
	case y.said && !y.short:
		return s.vague(monthSpan(y.year, m), end)
	case y.said || y.unread:
		return s.failed(Unread, 0, end)
	case s.verbLike(i) || !s.are(i-1, by, within):
		return Reading{}, i
	}
	r, end := s.vague(s.nextMonth(m), i+1)
	r.Assumed |= NextSuch
	return r, end
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

// dayOfMonth reads "the 10th", "am 10.", "le 10", "el 10".
func (s *scan) dayOfMonth(i int) (Reading, int) {
	if !s.are(i-1, by, of) || s.tight(i) || s.are(i, cardinal) {
		return Reading{}, i
	}
	d, j, marked, ok := s.dayNumber(i)
	switch {
	case !ok || d < 1 || d > 31 || s.are(i, ordinal):
		return Reading{}, i
	case s.has(markedDays) && !marked, len(s.said("onday")) > 0 && !s.behind(i, "onday"):
		return Reading{}, i
	}
	if j < len(s.lexemes) && s.space(j) != newLine && !s.marked(j, '.', ',', ';', '!', '?', ')', ':', '-', '–', '/') && !s.are(j, by, within, or, to, daypart, since) && !s.ends(j) {
		return Reading{}, i
	}
	y, m, today := civil(s.today)
	this, next := monthSpan(y, m), monthSpan(y, m+1)
	switch {
	case d == today:
		if d > next.days() {
			return s.either(Relative, j, s.today)
		}
		return s.either(Relative, j, s.today, next.first+int64(d-1))
	case d > this.days():
		// This month has no such day: either its last day is meant, or that day of a later month.
		for n := 1; ; n++ {
			if of := monthSpan(y, m+n); d <= of.days() {
				return s.either(Relative, j, this.last, of.first+int64(d-1))
			}
		}
	case d > today:
		r, end := s.relative(dayOf(y, m, d), j)
		r.Assumed = NextSuch
		return r, end
	}
	if d > next.days() {
		after := monthSpan(y, m+2)
		return s.either(Relative, j, next.last, after.first+int64(d-1))
	}
	r, end := s.relative(next.first+int64(d-1), j)
	r.Assumed = NextSuch
	return r, end
}

// said returns the phrases of the current language under a key.
func (s *scan) said(key string) []string { return s.house.tongues[s.language].said[key] }

// has reports whether the current language has a trait.
func (s *scan) has(trait string) bool { return s.house.tongues[s.language].traits[trait] }

// behind reports that a lexeme stands behind one of the phrases under a key.
func (s *scan) behind(i int, key string) bool {
	return i > 0 && slices.Contains(s.said(key), s.plainOf(i-1))
}

// plainOf returns the words of a lexeme.
func (s *scan) plainOf(i int) string {
	x := &s.lexemes[i]
	if x.first == x.last {
		t := &s.tokens[x.first]
		return string(s.plain[t.from:t.to])
	}
	var b []byte
	for t := x.first; t <= x.last; t++ {
		if s.tokens[t].kind == markToken {
			continue
		}
		if len(b) > 0 {
			b = append(b, ' ')
		}
		b = append(b, s.plain[s.tokens[t].from:s.tokens[t].to]...)
	}
	return string(b)
}

// ends reports whether a lexeme continues a sentence after a complete day; any other word would be
// the thing that the number counts: "the 3rd document".
func (s *scan) ends(i int) bool {
	return slices.ContainsFunc(s.house.tongues, func(t *tongue) bool { return slices.Contains(t.said["behindday"], s.plainOf(i)) })
}

// surroundings applies the words beside a date, which may change its meaning.
func (s *scan) surroundings(r *Reading, i, end int) {
	if r.Problem != 0 {
		return
	}
	k := i - 1
	if s.are(k, not) || s.are(k, by, of) && s.are(k-1, not) {
		r.fail(Negated, 0)
		return
	}
	if s.are(k, by, of) {
		if s.are(k-1, after) || s.are(k-1, unit) && s.are(k-2, number, cardinal, one, next) && !s.has(adjectivesBehind) {
			r.fail(Unread, 0) // "two days before Friday"
			return
		}
	}
	switch {
	case s.are(k, after):
		r.fail(Unread, 0)
	case s.are(end, also) && s.are(end+1, one) && s.are(end+2, parts), s.are(end, also) && s.are(end+1, parts), s.are(end, spoils) && s.space(end) != newLine, s.marked(end, '-') && s.are(end+1, spoils):
		r.fail(Unread, 0)
	case s.are(end, or) && s.are(end+1, number, cardinal, one, ordinal):
		if _, j := s.date(end + 1); j == end+1 {
			r.fail(Unread, 0)
		}
	}
}

// join makes one reading of two dates that belong together: "tomorrow, Friday",
// "Friday or Monday", "from Monday to Friday".
func (s *scan) join(a, b *Reading, at, i int) bool {
	between := i - at
	comma := between == 1 && s.marked(at, ',')
	choices := append(a.choices(), b.choices()...)
	unread := a.Problem != 0 || b.Problem != 0
	switch {
	case between == 0 && s.space(i) != newLine || comma:
		if len(choices) == 2 && choices[0] == choices[1] && !unread {
			a.Range.End = b.Range.End
			if b.Kind == Exact {
				a.Kind, a.Assumed, a.whole = b.Kind, b.Assumed, b.whole
			}
			return true
		}
		if comma {
			return false
		}
		unread = true
	case between == 1 && (s.are(at, or) || s.marked(at, '/')):
	case between == 1 && (s.are(at, to) || s.marked(at, '-', '–')), between == 2 && s.are(at, to, or) && s.are(at+1, of, by):
		if !s.are(at, or) {
			a.offer(nil)
			a.Problem, a.Others = Spread, choices
			a.Range.End = b.Range.End
			return true
		}
	default:
		return false
	}
	a.Range.End = b.Range.End
	a.Kind = max(a.Kind, b.Kind)
	a.Assumed |= b.Assumed
	a.First, a.Last, a.whole = stores.Value{}, stores.Value{}, false
	var all []Choice
	for _, c := range choices {
		if !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(x, y Choice) int { return cmp.Compare(x.Value.Days(), y.Value.Days()) })
	a.offer(all)
	if unread {
		a.fail(Unread, 0)
	}
	return true
}
