package values

import (
	"cmp"
	"slices"
	"unicode"

	"verbatim/stores"
)

// A date is read by the few forms below, the longest of those that fit: a day of the calendar, a
// period (a week, a month, a quarter, a year), a part of one, a day in one, and a count from a day.

// date reads a day or a span that begins at a lexeme, and returns the lexeme after it.
func (s *scan) date(i int) (Reading, int) {
	best, end := Reading{}, i
	if s.are(i, weekday, month) && s.behind(i, "title") {
		return best, end // "Herr Sonntag", "Ms May"
	}
	for _, form := range dateForms {
		if s.are(i, form.begins...) {
			for _, read := range form.reads {
				if r, j := read(s, i); j > end {
					best, end = r, j
				}
			}
		}
	}
	if end > i && s.loose(end) {
		return Reading{}, i
	}
	return best, end
}

type dateReader = func(s *scan, i int) (Reading, int)

var dateForms []struct {
	begins []class
	reads  []dateReader
}

func init() {
	dateForms = []struct {
		begins []class
		reads  []dateReader
	}{
		{[]class{number, ordinal, cardinal, month}, []dateReader{(*scan).calendar}},
		{[]class{number, ordinal, cardinal}, []dateReader{(*scan).dayOfMonth, (*scan).nth}},
		{[]class{last}, []dateReader{(*scan).nth}},
		{[]class{number, cardinal, one, within, since, unit}, []dateReader{(*scan).counted}},
		{[]class{weekday, weekdayOn}, []dateReader{(*scan).weekday}},
		{[]class{number, ordinal, quarterMark, month, unit, weekend, next, this, last, coming, afterNext}, []dateReader{(*scan).period}},
		{[]class{next, this, last, coming, afterNext}, []dateReader{(*scan).which}},
		{[]class{ending, early, mid, late}, []dateReader{(*scan).part}},
		{[]class{day, holiday}, []dateReader{(*scan).named}},
		{[]class{about}, []dateReader{(*scan).roughly}},
	}
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

// past skips words of some classes, at most so many.
func (s *scan) past(i, most int, classes ...class) int {
	for n := 0; n < most && s.are(i, classes...); n++ {
		if i++; s.marked(i, '\'', '’') && s.tight(i) && s.tight(i+1) {
			i++ // "d'octobre"
		}
	}
	return i
}

func onDate(kind Kind, day int64, end int) (Reading, int) {
	return Reading{What: Date, Kind: kind, Choice: Choice{Value: dateValue(day)}, whole: kind == Exact}, end
}

// vague proposes the last working day of a span.
func vague(p span, u int, end int) (Reading, int) {
	return Reading{What: Date, Kind: Vague, Choice: Choice{Value: dateValue(p.lastWorkingDay())},
		First: dateValue(p.first), Last: dateValue(p.last), Assumed: LastWorkingDay, of: p, unit: u}, end
}

func failed(p Problem, detail, end int) (Reading, int) {
	return Reading{What: Date, Problem: p, Detail: detail}, end
}

// oneOf offers days to choose from.
func oneOf(kind Kind, end int, all ...int64) (Reading, int) {
	r := Reading{What: Date, Kind: kind}
	slices.Sort(all)
	var choices []Choice
	for _, d := range slices.Compact(all) {
		choices = append(choices, Choice{Value: dateValue(d)})
	}
	r.offer(choices)
	return r, end
}

// A yearSaid is the year of a date, as far as the text gives it.
type yearSaid struct {
	year   int
	said   bool
	short  bool // it has two digits
	unread bool // the text has something there that may be a year
}

// A year of two digits is one of the hundred from so many years ago on; for a date of birth the person
// is asked.
const shortYearsBack = 80

// onDay reads a day whose year may be missing, or short.
func (s *scan) onDay(d, m int, y yearSaid, end int) (Reading, int) {
	this, _, _ := civil(s.today)
	switch {
	case y.unread:
		return failed(Unread, 0, end)
	case y.short:
		var both []Choice
		first := this - shortYearsBack
		year := first + ((y.year-first)%100+100)%100
		for _, century := range []int{1900, 2000} {
			if v, ok := stores.NewDate(century+y.year, m, d); ok {
				both = append(both, Choice{Value: v})
			}
		}
		if v, ok := stores.NewDate(year, m, d); s.now.IsZero() && len(both) > 0 {
			return Reading{What: Date, Others: both}, end // nobody knows when it is said
		} else if ok {
			return Reading{What: Date, Choice: Choice{Value: v}, Assumed: Century, centuries: both}, end
		}
		return failed(NoSuchDay, d, end)
	case y.said:
		v, ok := stores.NewDate(y.year, m, d)
		if !ok {
			return failed(NoSuchDay, d, end)
		}
		return onDate(Exact, v.Days(), end)
	}
	var before stores.Value
	for n := -8; n < 9; n++ {
		v, ok := stores.NewDate(this+n, m, d)
		if ok && v.Days() >= s.today {
			r, end := onDate(Relative, v.Days(), end)
			r.Assumed, r.before, r.monthly = NextSuch, before, false
			return r, end
		} else if ok {
			before = v
		}
	}
	return failed(NoSuchDay, d, end)
}

// calendar reads a day of a month, by its number.
func (s *scan) calendar(i int) (Reading, int) {
	best, end := s.figures(i)
	for _, read := range []dateReader{(*scan).dayMonth, (*scan).monthDay} {
		if r, j := read(s, i); j > end {
			best, end = r, j
		}
	}
	return best, end
}

// orders are the orders of day, month and year where a month's name stands among figures:
// "23/Sep/2020". A year first has four digits.
var orders = map[string][3]int{"nMn": {0, 1, 2}, "Mnn": {1, 0, 2}, "YMn": {2, 1, 0}, "YnM": {1, 2, 0}, "nYM": {0, 2, 1}}

// figures reads 2025-01-03, 3.1.2025, 3/1/2025, 2025/Jan/3, and 20 2 2014.
func (s *scan) figures(i int) (Reading, int) {
	var v, l [3]int
	n, sep, shape, j, end := 0, rune(0), "", i, i
	for ; n < 3; n++ {
		if m, ok := s.is(j, month); ok {
			v[n], l[n], shape = m, 0, shape+"M"
		} else if d, digits, ok := s.digits(j); ok && digits == 4 && n < 2 {
			v[n], l[n], shape = d, 4, shape+"Y"
		} else if ok {
			v[n], l[n], shape = d, digits, shape+"n"
		} else {
			break
		}
		end = j + 1
		j = end
		switch {
		case n == 0 && s.marked(j, '.', '/', '-') && s.tight(j):
			sep = s.lexemes[j].mark
		case n == 0:
			sep = ' '
		}
		// "15. 3. 1972" may be written with spaces after the points.
		if sep != ' ' && s.marked(j, sep) && s.tight(j) && (s.tight(j+1) || sep == '.' && s.space(j+1) == oneSpace) {
			j++
		} else if sep != ' ' || s.space(j) != oneSpace {
			n++
			break
		}
	}
	if !s.free(i) && s.are(i, number) || n < 2 || sep == ' ' && (n < 3 || shape != "nnn" && shape != "Ynn") || s.loose(end) {
		return Reading{}, i
	}
	y := yearSaid{said: true, year: v[2], short: l[2] == 2}
	if order, named := orders[shape]; named && n == 3 {
		y.year, y.short = v[order[2]], l[order[2]] == 2
		if l[order[2]] != 4 && !y.short {
			return Reading{}, i
		}
		return s.onDay(v[order[0]], v[order[1]], y, end)
	}
	a, b := v[0], v[1]
	asked := s.day && !s.are(i-1, number) && !s.are(end, of, unit)
	onDay := s.are(i-1, by, weekday, weekdayOn) || s.are(i-1, of) && s.are(i-2, by, weekday)
	switch {
	case shape == "Ynn" && l[2] <= 2 && l[1] <= 2:
		return s.onDay(v[2], v[1], yearSaid{said: true, year: v[0]}, end)
	case shape[:2] != "nn" || l[0] > 2 || l[1] > 2:
		return Reading{}, i
	case n == 3 && s.tight(end-1) != (sep != ' ') && l[2] != 4 && sep == '.', n == 2 || shape != "nnn" || l[2] != 2 && l[2] != 4:
		// "bis zum 15.3.", which can only be a day, or "15/3" as the answer to a question for a day.
		y = yearSaid{}
		end = i + 3
		point := sep == '.' && s.marked(end, '.') && s.tight(end)
		switch {
		case point && s.has(ordinalPoint) && (onDay || asked || s.alone(i, end)):
			end++
		case sep == '.' && !(asked && s.has(ordinalPoint)) && !s.are(i-1, weekday), sep == '-' && asked && !s.has(dayFirstAlways) && a <= 12 && b <= 12, sep != '.' && !asked && !s.are(i-1, weekday, weekdayOn, next, this) && !(sep == '/' && onDay), s.are(end, of), s.loose(end):
			return Reading{}, i
		}
	case sep == ' ' && l[2] != 4 && !s.alone(i, end) && !onDay:
		return Reading{}, i
	}
	// With points the day comes first in all languages that write dates so; with other separators
	// it comes first if no language of the text writes it otherwise. In English the person is asked.
	dayFirst := sep == '.' && !s.has(monthFirst) || s.sole && (s.has(dayFirstAlways) || s.has(ordinalPoint) && !y.said)
	switch {
	case dayFirst && b <= 12 || a > 12 || a == b:
		r, end := s.onDay(a, b, y, end)
		if dayFirst && a <= 12 && a != b && r.Problem == 0 && y.said {
			r.Assumed |= DayFirst
		}
		return r, end
	case b > 12 && !(sep == '.' && dayFirst):
		return s.onDay(b, a, y, end)
	case b > 12:
		return failed(NoSuchDay, a, end)
	}
	first, _ := s.onDay(a, b, y, 0)
	second, _ := s.onDay(b, a, y, 0)
	both := either(first, second)
	both.whole, both.centuries = false, append(first.centuries, second.centuries...)
	return both, end
}

// year reads the year that may follow a day and a month.
func (s *scan) year(i int) (yearSaid, int) {
	j := i
	comma := false
	if s.marked(j, '.') && s.tight(j) && s.are(j-1, month) {
		j++ // "Jan. 2025"
	}
	switch {
	case s.marked(j, ','):
		comma = true
		j++
	case s.marked(j, '-', '/') && s.tight(j) && s.tight(j+1):
		j++
	}
	linked := j
	j = s.past(j, 2, of)
	linked = j - linked
	if s.marked(j, '\'', '’') && s.tight(j+1) {
		if n, l, ok := s.digits(j + 1); ok && l == 2 {
			return yearSaid{year: n, said: true, short: true}, j + 2
		}
	}
	if s.space(j) == newLine && j > i {
		return yearSaid{}, i
	}
	if u, ok := s.is(j+1, unit); ok && u == years && s.are(j, by, within) && s.are(j+2, number) {
		j += 2 // "im Jahr 2020"
	}
	n, l, ok := s.digits(j)
	v, spelt := s.is(j, cardinal)
	switch {
	case spelt && v >= 1000 && v < 3000:
		return yearSaid{year: v, said: true}, j + 1
	case spelt && v >= 10:
		if rest, ok := s.is(j+1, cardinal); ok && rest >= 10 && rest < 100 && v <= 20 {
			return yearSaid{year: 100*v + rest, said: true}, j + 2 // "nineteen seventy-two"
		}
		return yearSaid{unread: true}, j + 1
	case !ok && s.are(j, times) && !comma:
		return yearSaid{unread: true}, j + 1
	case !ok:
		return yearSaid{}, i
	case l == 4 && 1000 <= n && n <= 2999 && !s.loose(j+1):
		return yearSaid{year: n, said: true}, j + 1
	case l == 2 && !s.loose(j+1) && (j+1 >= len(s.lexemes) || s.lexemes[j+1].mark != 0 || s.space(j+1) == newLine) && !s.marked(j+1, '%'):
		return yearSaid{year: n, said: true, short: true}, j + 1
	case !comma && j == i+linked && l != 2 && l != 1:
		return yearSaid{unread: true}, j + 1
	}
	return yearSaid{}, i
}

// dayNumber reads the number of a day: "15", "15th", "15.", "fifteenth", "quince".
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

// dayMonth reads "15 March 1972", "15th of March", "15. März", "1er mars", "am siebten vierten".
func (s *scan) dayMonth(i int) (Reading, int) {
	d, j, marked, ok := s.dayNumber(i)
	if !ok || s.are(i, number) && !s.free(i) {
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
	if nth, is := s.is(j, ordinal); !ok && is && nth <= 12 && s.has(ordinalPoint) && s.are(i, ordinal) && s.are(i-1, by, of) {
		m, ok = nth, true
	} else if n, l, is := s.digits(j); !ok && is && l <= 2 && linked && s.has(linkedDays) && n <= 12 {
		_, l, year := s.digits(j + 2)
		m, ok = n, s.are(j+1, of) && year && l == 4 || s.alone(i, j+1) // "9 de 8 de 1971"
	}
	if !ok || s.space(j) == newLine || s.are(i, cardinal) && s.has(linkedDays) && !linked {
		return Reading{}, i
	}
	verb := s.verbLike(j)
	j++
	y, end := s.year(j)
	if !y.said && !y.unread {
		if verb && !linked && (s.are(i, ordinal) || !marked && !s.are(i-1, by)) {
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
		return failed(NoSuchDay, d, end)
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
	m, ok := s.is(i, month)
	j := i + 1
	if s.marked(j, '.') && s.tight(j) {
		j++
	}
	the := s.past(j, 1, of) > j
	j = s.past(j, 1, of)
	d, end, _, numbered := s.dayNumber(j)
	if n, spelt := s.is(j, cardinal); spelt && n <= 31 {
		if y, behind := s.year(j + 1); y.said && !y.short && ok && s.space(j) != newLine {
			return s.onDay(n, m, y, behind)
		}
		return Reading{}, i
	}
	if !ok || !numbered || s.space(j) == newLine {
		return Reading{}, i
	}
	suffixed := s.are(j, ordinal) || s.are(j+1, suffix) && s.tight(j+1)
	if !suffixed {
		end = j + 1
		if d == 0 || the || s.tight(end) && !s.marked(end, ',', '.', ';', '?', '!', ')', ':', '-', '–', '"') {
			return Reading{}, i
		}
	}
	y, behind := s.year(end)
	if y.said || y.unread {
		end = behind
	} else if i > 0 && s.verbLike(i) && !suffixed && !s.are(i-1, by, mid, early, late, ending) {
		return Reading{}, i // "you may 2 times"
	}
	if d > 31 {
		if !y.said {
			return Reading{}, i
		}
		return failed(NoSuchDay, d, end)
	}
	return s.onDay(d, m, y, end)
}

// dayOfMonth reads "the 10th", "am 10.", "le 10", "el 10", and a day of a month that is called by
// where it stands: "the 20th day of next month".
func (s *scan) dayOfMonth(i int) (Reading, int) {
	d, j, marked, ok := s.dayNumber(i)
	if !ok || d < 1 || d > 31 || s.are(i, number) && !s.free(i) {
		return Reading{}, i
	}
	k := j
	if u, ok := s.is(k, unit); ok && u == days && marked {
		k++
	}
	if r, end := s.inner(s.past(k, 2, of)); end > k+1 && r.unit == months && r.Kind == Vague && s.space(k) != newLine {
		if first := monthSpan(civilMonth(r.of.first)); d <= first.days() {
			return onDate(Relative, first.first+int64(d-1), end)
		}
		return failed(NoSuchDay, d, end)
	}
	after := s.are(i-1, weekday, weekdayOn) || s.are(i-2, weekday, weekdayOn) && (s.marked(i-1, ',', '.') || s.are(i-1, of)) || s.are(i-3, weekday) && s.marked(i-2, ',')
	w, weekly := s.is(j, weekday)
	weekly = weekly && !marked && s.space(j) != newLine // "the first Monday" is no first
	onday := len(s.said("onday")) == 0 || s.behind(i, "onday")
	switch {
	case s.are(i-1, unit) && s.said("dayword") != nil && s.behind(i, "dayword"): // "día nueve"
	case after && !s.are(i, ordinal) && s.space(i) != newLine:
	case !s.are(i-1, by, of) || s.tight(i) || s.are(i, cardinal, ordinal) && !weekly, s.has(markedDays) && !marked && !s.alone(i-1, j), !onday:
		return Reading{}, i
	}
	if j < len(s.lexemes) && s.space(j) != newLine && !s.marked(j, '.', ',', ';', '!', '?', ')', ':', '-', '–', '/') && !s.are(j, by, within, or, to, daypart, since, weekday) && !s.ends(j) || after && s.are(j, to, or) {
		return Reading{}, i
	}
	y, m, today := civil(s.today)
	n := b2i(d < today)
	p, day := monthSpan(y, m+n), func(n int) int64 { return monthSpan(y, m+n).first + int64(d-1) }
	later := n + 1
	for d > monthSpan(y, m+later).days() {
		later++
	}
	switch {
	case d > p.days(): // its last day is meant, or that day of a later month
		return oneOf(Relative, j, p.last, day(later))
	case d == today && !after && !weekly && later == 1:
		return oneOf(Relative, j, s.today, day(1))
	}
	r, end := onDate(Relative, day(n), j)
	if r.Assumed, r.monthly = NextSuch, true; weekly {
		return s.onWeekday(r, w, j+1) // "le 25 mardi"
	}
	return r, end
}

func civilMonth(day int64) (y, m int) {
	y, m, _ = civil(day)
	return y, m
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
	linked := s.are(k, by, of)
	if s.are(k, not) || linked && s.are(k-1, not) {
		r.fail(Negated, 0)
		return
	}
	beside := s.space(i) != newLine
	switch {
	case s.are(k, after), linked && s.are(k-1, after),
		linked && s.are(k-1, unit) && s.are(k-2, number, cardinal, one, next) && !s.has(adjectivesBehind),
		r.bare && s.are(end, onward, backward, since) && s.are(s.past(end+1, 1, of), holiday, day, month, weekday), // "Monday after Easter"
		beside && s.wordAt(k) == "s" && s.marked(k-1, '\'', '’') && s.are(k-2, unit, day, weekday, month, holiday), // "last week's Friday", and not "it's Friday"
		beside && s.are(k, of) && s.are(k-1, unit, weekday) && !s.are(i, month),
		beside && s.are(k, unit, ordinal, last) && !s.behind(i, "dayword") && !s.are(i, month, within, since),
		s.are(end, also) && (s.are(end+1, parts) || s.are(end+1, one) && s.are(end+2, parts)),
		s.are(end, spoils) && s.space(end) != newLine, s.marked(end, '-') && s.are(end+1, spoils):
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
	case between == 1 && s.are(at, by) && b.bare && !a.bare && a.Kind == Relative && len(choices) > 1: // "a week after Easter on Friday"
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
