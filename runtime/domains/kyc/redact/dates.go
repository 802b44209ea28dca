package redact

// A day is a date that a text may mean.
type day struct{ y, m, d int }

func valid(y, m, d int) bool {
	return m >= 1 && m <= 12 && d >= 1 && d <= 31 && y >= 1850 && y <= 2150
}

// date reads the date around the cell i, where a group of digits starts: in numbers of any order, or
// with the name of a month, which may stand before it. If solid is set, digits without marks may be
// a date. days are all possible days.
func (v *view) date(i int, solid bool) (from, to int, days []day) {
	days = v.days[:0]
	add := func(y, m, d int, short bool) {
		if short {
			y += 1900
			if valid(y+100, m, d) {
				days = append(days, day{y + 100, m, d})
			}
		}
		if valid(y, m, d) {
			days = append(days, day{y, m, d})
		}
	}
	number := func(i int) (n, size int) {
		for isDigit(v.at(i+size)) && size < 9 {
			n, size = n*10+int(v.c[i+size]-'0'), size+1
		}
		return n, size
	}
	a, n := number(i)
	j := i + n
	if n == 8 && solid {
		add(a/10000, a/100%100, a%100, false)
		add(a%10000, a/10000%100, a/1000000, false)
		add(a%10000, a/1000000, a/10000%100, false)
		return i, j, days
	}
	if n > 4 || n == 3 || n == 0 {
		return 0, 0, days[:0]
	}
	// The name of a month, before or after the day.
	if n <= 2 {
		if m, start := v.monthBefore(i); m > 0 {
			if k := v.over(v.ordinal(j), ", "); k > j {
				if y, size := number(k); size == 4 && !v.word(k+4) {
					add(y, m, a, false)
					return start, k + 4, days
				}
			}
		}
		k := v.over(v.ordinal(j), " .-/")
		for _, small := range []string{"de ", "of ", "d'"} {
			k = v.prefix(k, small)
		}
		if m, end := v.month(k); m > 0 {
			k = v.over(end, " .,-/'")
			for _, small := range []string{"de ", "del "} {
				k = v.prefix(k, small)
			}
			y, size := number(k)
			if (size == 4 || size == 2) && !v.word(k+size) {
				add(y, m, a, size == 2)
				return i, k + size, days
			}
			return 0, 0, days[:0]
		}
	}
	sep := v.at(j)
	if sep == 0 || sep != '.' && sep != '/' && sep != '-' && sep != ' ' {
		return 0, 0, days[:0]
	}
	next := func(j int) int {
		if v.at(j) != sep {
			return j
		}
		if j++; sep != ' ' && v.at(j) == ' ' {
			j++ // "12. 3. 1984"
		}
		return j
	}
	k := next(j)
	b, bn := number(k)
	if bn < 1 || bn > 2 {
		return 0, 0, days[:0]
	}
	l := next(k + bn)
	c, cn := number(l)
	end := l + cn
	if l == k+bn || cn == 0 || v.at(end) == sep && sep != ' ' && isDigit(v.at(end+1)) {
		return 0, 0, days[:0]
	}
	switch {
	case n == 4 && cn <= 2:
		add(a, b, c, false)
		add(a, c, b, false)
		if v.at(end) == 't' && isDigit(v.at(end+1)) {
			return i, end, days
		}
	case n <= 2 && (cn == 4 || cn == 2 && sep != ' '):
		add(c, b, a, cn == 2)
		add(c, a, b, cn == 2)
	}
	if len(days) == 0 || v.word(end) {
		return 0, 0, days[:0]
	}
	return i, end, days
}

// over goes past a few of some characters.
func (v *view) over(i int, some string) int {
	for n := 0; n < 3; n++ {
		found := false
		for k := range len(some) {
			found = found || v.at(i) == some[k]
		}
		if !found {
			break
		}
		i++
	}
	return i
}

func (v *view) prefix(i int, word string) int {
	for k := range len(word) {
		if v.at(i+k) != word[k] {
			return i
		}
	}
	return i + len(word)
}

// ordinal goes past what makes a number the name of a day: "3rd".
func (v *view) ordinal(i int) int {
	for _, end := range []string{"st", "nd", "rd", "th", "er", "o", "a"} {
		if j := v.prefix(i, end); j > i && !v.word(j) {
			return j
		}
	}
	return i
}

// month reads the name of a month, and returns its end.
func (v *view) month(i int) (m, end int) {
	end = i
	for isLower(v.at(end)) && end-i < 12 {
		end++
	}
	if end-i < 3 || v.word(end) && !isDigit(v.at(end)) {
		return 0, 0
	}
	return loadWords().months[string(v.c[i:end])], end
}

// monthBefore reads the name of a month before a day, and returns its start.
func (v *view) monthBefore(i int) (m, start int) {
	end := i
	for end > 0 && i-end < 2 && (v.at(end-1) == ' ' || v.at(end-1) == '.') {
		end--
	}
	start = end
	for start > 0 && isLower(v.at(start-1)) && end-start < 12 {
		start--
	}
	if end == i || end-start < 3 || v.word(start-1) {
		return 0, 0
	}
	return loadWords().months[string(v.c[start:end])], start
}

// dated returns the kind of a date: a date of the record, a date of birth, or "" for any other.
func (l *looker) dated(from, to int, days, known []day) Kind {
	if len(days) == 0 {
		return ""
	}
	if l.before(from) == dobLabel || l.after(to, dobLabel, 5) {
		return DOB
	}
	for _, d := range days {
		for _, k := range known {
			if d == k {
				return Date
			}
		}
	}
	return ""
}
