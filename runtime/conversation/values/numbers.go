package values

import (
	"slices"
	"strings"

	"verbatim/stores"
)

// A figure is a number as written: digits and their separators.
type figure struct {
	texts   []string // the possible values, as decimals: two if a separator is ambiguous
	grouped bool     // thousands are separated
	words   bool     // it is written in words
	unread  bool
	end     int
}

// maxParts is the greatest number of separated groups of digits in a number; a longer list is no
// number.
const maxParts = 12

// figure reads "1.234,56", "1'000", "12", "twelve".
func (s *scan) figure(i int) (figure, bool) {
	if n, ok := s.is(i, cardinal); ok {
		return figure{texts: []string{itoa(n)}, words: true, end: i + 1}, true
	}
	if s.lexemes[i].means[0].class != number {
		return figure{}, false
	}
	var parts []string
	var seps []rune
	parts = append(parts, s.digitsText(i))
	j := i + 1
	for len(parts) < maxParts && j+1 < len(s.lexemes) && s.lexemes[j+1].means[0].class == number && s.tight(j) && s.tight(j+1) && s.marked(j, '.', ',', '\'', '’') {
		seps = append(seps, s.lexemes[j].mark)
		parts = append(parts, s.digitsText(j+1))
		j += 2
	}
	// "1 234 567": separated by a no-break space, or by any space if the language allows it.
	loose := false
	for len(parts) < maxParts && (len(seps) == 0 || seps[len(seps)-1] == ' ') {
		if j >= len(s.lexemes) || s.lexemes[j].means[0].class != number || s.lexemes[j].digits != 3 || len(parts[0]) > 3 {
			break
		}
		sp := s.space(j)
		if sp != thinSpace && sp != oneSpace {
			break
		}
		loose = loose || sp == oneSpace && !(s.sole && s.has(spacedThousands))
		seps = append(seps, ' ')
		parts = append(parts, s.digitsText(j))
		j++
		if s.marked(j, ',', '.') && s.tight(j) && s.tight(j+1) && j+1 < len(s.lexemes) && s.lexemes[j+1].means[0].class == number {
			seps = append(seps, s.lexemes[j].mark)
			parts = append(parts, s.digitsText(j+1))
			j += 2
		}
	}
	f := figure{end: j}
	if len(parts) == maxParts || len(strings.Join(parts, "")) > 30 {
		f.unread = true
		return f, true
	}
	groups := func(parts []string) bool {
		if len(parts[0]) > 3 || parts[0] == "" || parts[0][0] == '0' {
			return false
		}
		for _, p := range parts[1:] {
			if len(p) != 3 {
				return false
			}
		}
		return true
	}
	whole := strings.Join(parts, "")
	n := len(seps)
	switch {
	case n == 0:
		f.texts = []string{whole}
	case seps[n-1] != seps[0]:
		// The last is the point of the fraction, those before it group.
		if !allSame(seps[:n-1]) || !groups(parts[:n]) || seps[n-1] != '.' && seps[n-1] != ',' || seps[0] == ' ' && loose {
			f.unread = true
			break
		}
		f.texts, f.grouped = []string{strings.Join(parts[:n], "") + "." + parts[n]}, true
	case n > 1 || seps[0] == '\'' || seps[0] == '’' || seps[0] == ' ':
		f.grouped = true
		if !allSame(seps) || !groups(parts) {
			f.unread = true
		} else if loose && parts[n][0] != '0' {
			f.texts = []string{whole, parts[n]} // "room 2 300" may be two numbers
		} else {
			f.texts = []string{whole}
		}
	case len(parts[1]) != 3 || !groups(parts):
		f.texts = []string{parts[0] + "." + parts[1]}
	case s.sole && (seps[0] == ',') == s.has(commaThousands) && !s.has(spacedThousands):
		f.texts, f.grouped = []string{whole}, true
	default:
		f.texts, f.grouped = []string{whole, parts[0] + "." + parts[1]}, true
	}
	return f, true
}

func allSame(seps []rune) bool {
	for _, r := range seps {
		if r != seps[0] {
			return false
		}
	}
	return true
}

func (s *scan) digitsText(i int) string {
	t := &s.tokens[s.lexemes[i].first]
	return string(s.plain[t.from:t.to])
}

// scaled reads a figure and what multiplies it: "50M", "2.5 million", "five
// hundred".
func (s *scan) scaled(i int) (figure, bool) {
	f, ok := s.figure(i)
	if !ok {
		return f, false
	}
	j := f.end
	power := 0
	if s.are(j, hundred) && s.space(j) != newLine && f.words {
		power, j = 2, j+1
	}
	if n, ok := s.is(j, times); ok && s.space(j) != newLine {
		// A single letter counts only if it touches the number, or a currency stands beside it.
		power, j = power+n, j+1
		if s.marked(j, '.') && s.tight(j) && (s.abbreviated(j - 1)) && j+1 < len(s.lexemes) && s.space(j+1) != newLine {
			j++
		}
	}
	// "two thousand five hundred" is more than is read.
	if power > 0 && s.are(j, cardinal, number, hundred, times) && s.space(j) != newLine {
		f.unread = true
		for s.are(j, cardinal, number, hundred, times) && s.space(j) != newLine {
			j++
		}
	} else if f.words && s.are(j, cardinal, number, hundred) && s.space(j) != newLine {
		f.unread = true
		for s.are(j, cardinal, number, hundred, times) && s.space(j) != newLine {
			j++
		}
	}
	f.end = j
	for k, t := range f.texts {
		f.texts[k] = shift(t, power)
	}
	return f, true
}

// shift multiplies a decimal by a power of ten.
func shift(text string, power int) string {
	whole, fraction, _ := strings.Cut(text, ".")
	if power > 0 {
		for len(fraction) < power {
			fraction += "0"
		}
		whole, fraction = whole+fraction[:power], fraction[power:]
		fraction = strings.TrimRight(fraction, "0")
	}
	whole = strings.TrimLeft(whole, "0")
	if whole == "" {
		whole = "0"
	}
	if fraction == "" {
		return whole
	}
	return whole + "." + fraction
}

func itoa(n int) string {
	v := stores.NewInt(int64(n))
	return v.Text()
}

// money reads "€50M", "50 million euros", "CHF 2'000.–", "1.234,56 EUR".
func (s *scan) money(i int) (Reading, int) {
	j := i
	negative := false
	if s.marked(j, '-', '−') && s.tight(j+1) && s.free(j) || s.are(j, minus) {
		negative, j = true, j+1
	}
	codes, k := s.currency(j)
	if k > j {
		if s.tight(j) && j == i && s.lexemes[j].means[0].class != mark && s.lexemes[j-1].means[0].class != mark {
			return Reading{}, i
		}
		if s.marked(k, '-', '−') && s.tight(k+1) && !negative {
			negative, k = true, k+1
		}
		if k >= len(s.lexemes) || s.space(k) == newLine {
			return Reading{}, i
		}
	}
	if k >= len(s.lexemes) || k == j && s.lexemes[k].means[0].class == number && !s.free(k) && !negative {
		return Reading{}, i
	}
	f, ok := s.scaled(k)
	if !ok {
		return Reading{}, i
	}
	end := f.end
	// "2'000.–"
	if s.marked(end, '.', ',') && s.tight(end) && s.marked(end+1, '-', '–', '—') && s.tight(end+1) {
		end += 2
		if s.marked(end, '-') && s.tight(end) {
			end++
		}
	}
	if len(codes) == 0 {
		// "millions d'euros", "million of euros"
		m := end
		if s.are(m, of) && end > k+1 {
			m++
			if s.marked(m, '\'', '’') {
				m++
			}
		}
		if s.space(m) == newLine {
			return Reading{}, i
		}
		if codes, m = s.currency(m); len(codes) == 0 {
			return Reading{}, i
		}
		end = m
	}
	r := Reading{What: Money}
	if f.unread || s.loose(end) || s.oneEnd(i, end) {
		r.Problem = Unread
		return r, end
	}
	// A third digit after the point is a group, in a currency that has cents.
	texts := f.texts
	if len(texts) == 2 && len(codes) == 1 && minorDigits(codes[0]) < 3 && end == f.end && !s.are(f.end-1, times) {
		texts = texts[:1]
		r.Assumed |= Grouped
	} else if f.grouped && len(texts) == 1 && s.sole {
		r.Assumed |= Grouped
	}
	var choices []Choice
	for _, t := range texts {
		if negative && t != "0" {
			t = "-" + t
		}
		v, ok := stores.ParseDecimal(t)
		if !ok {
			r.Problem = Unread
			return r, end
		}
		for _, c := range codes {
			choices = append(choices, Choice{v, c})
		}
	}
	r.offer(choices)
	return r, end
}

// oneEnd reports that a number is one end of a range: "10-50 EUR".
func (s *scan) oneEnd(i, end int) bool {
	before := s.marked(i-1, '-', '–', '/') && s.are(i-2, number) && s.tight(i)
	before = before || s.are(i-1, to, or) && s.are(i-2, number, cardinal, times, currency)
	after := s.marked(end, '-', '–', '/') && s.tight(end+1) && s.are(end+1, number)
	return before || after || s.are(end, to, or) && s.are(end+1, number, cardinal)
}

// currency reads a sign, a code or a name.
func (s *scan) currency(i int) (codes []string, end int) {
	if i < 0 || i >= len(s.lexemes) {
		return nil, i
	}
	x := &s.lexemes[i]
	if x.means[0].class == mark {
		return shared[string(x.mark)], i + b2i(shared[string(x.mark)] != nil)
	}
	if x.means[0].class == number {
		return nil, i
	}
	t := &s.tokens[x.first]
	raw := s.text[t.start:t.end]
	switch {
	case x.first != x.last:
	case len(raw) <= 2 && s.marked(i+1, '$') && s.tight(i+1):
		if code := map[string]string{"US": "USD", "C": "CAD", "CA": "CAD", "A": "AUD", "AU": "AUD", "NZ": "NZD", "S": "SGD", "HK": "HKD", "R": "BRL"}[raw]; code != "" {
			return []string{code}, i + 2
		}
		return nil, i
	case len(raw) == 3:
		upper := strings.ToUpper(raw)
		if raw == upper || upper == "EUR" || upper == "USD" || upper == "GBP" || upper == "CHF" {
			for j := range currencies {
				if currencies[j].code == upper {
					return []string{upper}, i + 1
				}
			}
		}
	}
	if n, ok := s.is(i, currency); ok {
		end := i + 1
		if raw == "Fr" && s.marked(end, '.') && s.tight(end) {
			end++
		}
		return []string{currencies[n].code}, end
	}
	w := s.plainOf(i)
	if all := shared[w]; all != nil {
		return all, i + 1
	}
	// "k€", "M€"
	return nil, i
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// percent reads "25 %", "twelve percent", "12,5 Prozent".
func (s *scan) percent(i int) (Reading, int) {
	j := i
	negative := false
	if s.marked(j, '-', '−') && s.tight(j+1) && s.free(j) || s.are(j, minus) {
		negative, j = true, j+1
	}
	if j >= len(s.lexemes) || s.lexemes[j].means[0].class == number && !negative && !s.free(j) {
		return Reading{}, i
	}
	f, ok := s.figure(j)
	if !ok || s.space(f.end) == newLine || !s.marked(f.end, '%') && !s.are(f.end, percent) {
		return Reading{}, i
	}
	r := Reading{What: Percent}
	end := f.end + 1
	if f.unread || s.oneEnd(i, end) || s.are(j-1, cardinal, hundred, times) {
		r.Problem = Unread
		return r, end
	}
	var choices []Choice
	for _, t := range f.texts {
		if negative && t != "0" {
			t = "-" + t
		}
		if v, ok := stores.ParseDecimal(t); ok {
			choices = append(choices, Choice{Value: v})
		}
	}
	r.offer(choices)
	return r, end
}

// plainNumber reads a number that is nothing else.
func (s *scan) plainNumber(i int) (Reading, int) {
	j := i
	negative := false
	if s.marked(j, '-', '−') && s.tight(j+1) && s.free(j) && !s.tight(j) || s.are(j, minus) {
		negative, j = true, j+1
	}
	if j >= len(s.lexemes) || s.lexemes[j].means[0].class == number && !negative && !s.free(j) {
		return Reading{}, i
	}
	f, ok := s.scaled(j)
	if !ok || s.loose(f.end) || s.marked(f.end, '°') || s.are(f.end, spoils) {
		return Reading{}, i
	}
	if s.are(i, one) && f.end == i+1 {
		return Reading{}, i // "un document"
	}
	r := Reading{What: Integer}
	if s.tight(f.end) && s.marked(f.end, '-', '/') {
		return Reading{}, i
	}
	if f.unread && f.end > j+4 && !f.words {
		return Reading{}, i // "1.2.3"
	}
	if f.unread || s.oneEnd(i, f.end) {
		r.Problem = Unread
		return r, f.end
	}
	// "12 k" is a number only if it is written without the space.
	if s.are(f.end-1, times) && !f.words && s.lexemes[f.end-1].first == s.lexemes[f.end-1].last {
		if w := s.plainOf(f.end - 1); len(w) == 1 && !s.tight(f.end-1) {
			return Reading{}, i
		}
	}
	var choices []Choice
	for _, t := range f.texts {
		if negative && t != "0" {
			t = "-" + t
		}
		if v, ok := stores.ParseInt(t); ok {
			choices = append(choices, Choice{Value: v})
		} else if v, ok := stores.ParseDecimal(t); ok {
			r.What = Decimal
			choices = append(choices, Choice{Value: v})
		}
	}
	if len(choices) == 0 {
		r.Problem = Unread
		return r, f.end
	}
	if f.grouped && len(choices) == 1 {
		r.Assumed |= Grouped
	}
	r.offer(slices.Compact(choices))
	return r, f.end
}
