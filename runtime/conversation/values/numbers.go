package values

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"verbatim/stores"
)

// A numeral is a number as it is written or said.
type numeral struct {
	texts   []string // the possible values, as decimals: two if a separator is ambiguous
	grouped bool     // thousands are separated
	words   bool     // it begins in words
	near    bool     // no decimal is exactly this number: a third
	lone    bool     // it is a number only where nothing else stands: "3/4"
	unread  bool
	end     int
}

// maxParts is the greatest number of separated groups of digits in a number; a longer list is no
// number.
const maxParts = 12

// numeral reads "1.234,56", "50M", "2.5 million", "five hundred and three", "half a million".
func (s *scan) numeral(i int) (f numeral, ok bool) {
	if n, is := s.is(i, cardinal); is {
		f = numeral{texts: []string{itoa(n)}, words: true, end: i + 1}
	}
	if n, is := s.is(i, halved); is {
		f = numeral{texts: []string{itoa(n) + ".5"}, words: true, end: i + 1}
	}
	if s.are(i, one) && s.are(i+1, dozen) {
		few, _ := s.is(i+1, dozen)
		f = numeral{texts: []string{"1"}, words: true, lone: few < 12, end: i + 1} // "a couple" is mostly no number
	}
	if of, ok := s.fraction(i); ok {
		f = of
	} else if f.end == 0 {
		if f, ok = s.figure(i); !ok || f.unread {
			return f, ok
		}
	}
	for end := 0; end != f.end; {
		end = f.end
		s.pointed(&f)
		s.multiplied(&f)
		s.plusPart(&f)
	}
	s.divided(&f, i)
	if s.space(f.end) != newLine && (s.are(f.end, parts, dozen) && f.words || s.marked(f.end, '-') && s.are(f.end+1, parts) || s.are(f.end, also) && (s.are(f.end+1, one) && s.are(f.end+2, parts, ordinal) || s.are(f.end+1, number) && s.marked(f.end+2, '/'))) {
		f.unread = true
	}
	// What stands beside a number and is a number belongs to it: "one twenty two" is neither.
	for s.space(f.end) != newLine && (s.are(f.end, likeNumber) && f.words && !s.are(i, one) || s.are(f.end, cardinal, hundred, halved) && !s.are(f.end, one) || s.are(f.end, times) && !s.short(f.end) || s.are(f.end, number) && (f.words || f.unread)) {
		f.unread = true
		f.end++
		if s.marked(f.end, '-') {
			f.end++
		}
	}
	return f, true
}

// figure reads "1.234,56", "1'000", "12", ",5", "1e10".
func (s *scan) figure(i int) (numeral, bool) {
	j := i
	parts := []string{"0"}
	var seps []rune
	if s.marked(i, ',', '.') && !s.tight(i) && s.tight(i+1) && s.are(i+1, number) {
		seps, parts, j = []rune{s.lexemes[i].mark}, append(parts, s.digitsText(i+1)), i+2
	} else if text, exact := s.vulgar(i); text != "" {
		return numeral{texts: []string{text}, near: !exact, end: i + 1}, true
	} else if s.are(i, point) && i == 0 && s.are(1, cardinal, number) {
		return numeral{texts: []string{"0"}, lone: true}, true
	} else if !s.are(i, number) {
		return numeral{}, false
	} else {
		parts[0], j = s.digitsText(i), i+1
	}
	for len(parts) < maxParts && s.are(j+1, number) && s.tight(j) && s.tight(j+1) && s.marked(j, '.', ',', '\'', '’') {
		seps, parts = append(seps, s.lexemes[j].mark), append(parts, s.digitsText(j+1))
		j += 2
	}
	// "1 234 567": separated by a no-break space, or by any space if the language allows it.
	loose := false
	for len(parts) < maxParts && (len(seps) == 0 || seps[len(seps)-1] == ' ') && s.are(j, number) && s.lexemes[j].digits == 3 && len(parts[0]) <= 3 {
		sp := s.space(j)
		if sp != thinSpace && sp != oneSpace {
			break
		}
		loose = loose || sp == oneSpace && !(s.sole && s.has(spacedThousands))
		seps, parts = append(seps, ' '), append(parts, s.digitsText(j))
		j++
		if s.marked(j, ',', '.') && s.tight(j) && s.tight(j+1) && s.are(j+1, number) {
			seps, parts = append(seps, s.lexemes[j].mark), append(parts, s.digitsText(j+1))
			j += 2
		}
	}
	f := numeral{end: j}
	whole := strings.Join(parts, "")
	if len(parts) == maxParts || len(whole) > 30 {
		f.unread = true
		return f, true
	}
	n := len(seps)
	switch {
	case n == 0:
		f.texts = []string{whole}
	case seps[n-1] != seps[0]:
		// The last is the point of the fraction, those before it group.
		if !grouping(parts[:n], seps[:n-1]) || seps[n-1] != '.' && seps[n-1] != ',' || seps[0] == ' ' && loose {
			f.unread = true
			break
		}
		f.texts, f.grouped = []string{strings.Join(parts[:n], "") + "." + parts[n]}, true
	case n > 1 || seps[0] == '\'' || seps[0] == '’' || seps[0] == ' ':
		f.grouped = true
		if !grouping(parts, seps) {
			f.unread = true
		} else if loose && n == 1 && parts[n][0] != '0' {
			f.texts = []string{whole, parts[n]} // "room 2 300" may be two numbers
		} else {
			f.texts = []string{whole}
		}
	case len(parts[1]) != 3 || !grouping(parts, seps):
		f.texts = []string{parts[0] + "." + parts[1]}
	case s.sole && (seps[0] == ',') == s.has(commaThousands) && !s.has(spacedThousands):
		f.texts, f.grouped = []string{whole}, true
	default:
		f.texts, f.grouped = []string{whole, parts[0] + "." + parts[1]}, true
	}
	if e := f.end; s.tight(e) && s.plainOf(e) == "e" {
		if s.marked(e+1, '+') && s.tight(e+1) {
			e++
		}
		if power, digits, ok := s.digits(e + 1); ok && digits <= 2 && s.tight(e+1) {
			f.texts, f.end = []string{shift(f.texts[0], power)}, e+2
		}
	} else if text, exact := s.vulgar(e); text != "" && n == 0 {
		f.texts[0], f.near, f.end = f.texts[0]+text[1:], !exact, e+1
	}
	return f, true
}

// vulgar reads a sign such as "½", as a decimal.
func (s *scan) vulgar(i int) (text string, exact bool) {
	if i >= len(s.lexemes) || !unicode.IsNumber(s.lexemes[i].mark) {
		return "", false
	}
	above, below, ok := strings.Cut(norm.NFKC.String(string(s.lexemes[i].mark)), "⁄")
	n, _ := strconv.Atoi(above)
	d, _ := strconv.Atoi(below)
	if !ok || n == 0 || d == 0 {
		return "", false
	}
	return exactly(big.NewRat(int64(n), int64(d)))
}

// grouping reports whether marks divide a number into thousands, or as in India: "12,34,567".
func grouping(parts []string, seps []rune) bool {
	last := len(parts) - 1
	if len(parts[0]) > 3 || parts[0][0] == '0' || len(parts[last]) != 3 {
		return false
	}
	for k, p := range parts[1:] {
		if seps[k] != seps[0] || len(p) != 3 && !(len(p) == 2 && seps[0] == ',' && k+1 < last && len(parts[0]) < 3 && len(parts[1]) == 2) {
			return false
		}
	}
	return true
}

func (s *scan) digitsText(i int) string {
	t := &s.tokens[s.lexemes[i].first]
	return string(s.plain[t.from:t.to])
}

// multiplied reads what multiplies a number, and what it says below that: "50M", "2.5 million", "two
// dozen", "4 thousand 3 hundred and 21", "treinta y 3".
func (s *scan) multiplied(f *numeral) {
	end := f.end
	for k, text := range f.texts {
		n, err := strconv.ParseInt(text, 10, 64)
		factor, dozens := s.is(end, dozen)
		exp, scaled := s.is(end, times)
		switch {
		case s.space(end) == newLine || f.near || s.linked(end-1) && dozens:
		case dozens:
			f.texts[k], _ = exactly(new(big.Rat).Mul(rat(text), big.NewRat(int64(factor), 1)))
			f.end = end + 1
		case err == nil && n > 0 && n < most/1000:
			if a, j := s.sums(end, sum{n: n, last: n, room: roomBelow(n) * b2i(s.are(end-1, cardinal)), some: true}); j > end {
				f.texts[k], f.end = itoa(a.total()), j
			}
		case scaled:
			f.texts[k], f.end = shift(text, exp), end+1
		}
	}
	if f.end > end && s.marked(f.end, '.') && s.tight(f.end) && s.abbreviated(f.end-1) && f.end+1 < len(s.lexemes) && s.space(f.end+1) != newLine {
		f.end++
	}
}

// pointed reads a fraction in words: "two point five", "siete con cincuenta". With a word that means
// more than a point (n is 1) it has to end there: "dos con 5 niños" is none.
func (s *scan) pointed(f *numeral) {
	if !s.are(f.end, point) || len(f.texts) != 1 || strings.Contains(f.texts[0], ".") || s.are(f.end-1, currency) {
		return
	}
	digits, j := "", f.end+1
	for ; s.are(j, cardinal, number); j++ {
		if n, ok := s.is(j, cardinal); ok {
			digits += itoa(n)
		} else {
			digits += s.digitsText(j)
		}
	}
	if loose, _ := s.is(f.end, point); digits != "" && (loose == 0 || j == len(s.lexemes) || s.space(j) == newLine || s.are(j, percent, currency) || s.marked(j, '.', ',', ';', '!', '%', '€')) {
		f.texts[0], f.end = f.texts[0]+"."+digits, j
	}
}

// share reads a part of one: "a half", "three quarters".
func (s *scan) share(i int) (of *big.Rat, end int) {
	n, j := 1, i
	if v, ok := s.is(i, cardinal); ok && v > 0 {
		n, j = v, i+1
	} else if s.are(i, one) {
		j++
	}
	if s.marked(j, '-') && j > i && s.tight(j) {
		j++
	}
	d, ok := s.is(j, parts)
	if !ok && j > i {
		d, ok = s.is(j, ordinal)
		ok = ok && d > 4
	}
	if !ok || s.space(j) == newLine && j > i || s.linked(i) {
		return nil, i
	}
	return big.NewRat(int64(n), int64(d)), j + 1
}

// linked reports whether a number in words has an "and" in it: of "two hundred and two thirds" nobody
// knows what the thirds are of.
func (s *scan) linked(i int) bool {
	return !s.has(partsWith) && s.are(i, cardinal) && slices.ContainsFunc(strings.Fields(s.plainOf(i)), func(w string) bool { return s.lexicon.entries[w][0].class == also })
}

// fraction reads a part of one, of a million or of a dozen: "two thirds", "half a million". "A third"
// and "three quarters" are a number only where nothing else stands.
func (s *scan) fraction(i int) (f numeral, ok bool) {
	n, end := s.share(i)
	if n == nil {
		return f, false
	}
	j := end
	for s.are(j, one, of) && j < end+2 || s.marked(j, '-') && s.tight(j) {
		j++
	}
	f.words, f.end = true, j+1
	if exp, is := s.is(j, times); is && !s.short(j) && s.space(j) != newLine {
		n.Mul(n, new(big.Rat).SetInt64(pow10(exp)))
	} else if of, is := s.is(j, dozen); is {
		n.Mul(n, big.NewRat(int64(of), 1))
	} else if of, is := s.is(j, cardinal); is && of >= 1000 {
		n.Mul(n, big.NewRat(int64(of), 1))
	} else {
		f.end = end
		f.lone = !s.are(i, cardinal) || s.are(i, one) || s.are(end-1, unit, ordinal)
	}
	text, exact := exactly(n)
	f.texts, f.near = []string{text}, !exact
	return f, f.end > i+1
}

// plusPart reads what a number has beside its whole: "a million and a half", "five and a half million".
func (s *scan) plusPart(f *numeral) {
	if !s.are(f.end, also, point) || len(f.texts) != 1 || f.near || f.lone {
		return
	}
	of, end := s.share(f.end + 1)
	if of == nil {
		return
	}
	n, exp := rat(f.texts[0]), 0
	if before, scaled := s.is(f.end-1, times); scaled {
		exp = before
	} else if f.words {
		for rest := rat(f.texts[0]); rest.Sign() > 0; exp += 3 {
			if rest.Mul(rest, big.NewRat(1, 1000)); !rest.IsInt() {
				break
			}
		}
	}
	n.Add(n, of.Mul(of, new(big.Rat).SetInt64(pow10(exp))))
	text, exact := exactly(n)
	f.texts[0], f.near, f.end, f.unread = text, !exact, end, exp == 3 || exp > 0 && s.are(end, times)
}

// divided reads "3/4", "1 3/4" and "one over three", which are numbers only where nothing else stands.
func (s *scan) divided(f *numeral, i int) {
	by := func(j int) bool {
		return s.are(j, over) || s.marked(j, '/') && s.tight(j) && s.tight(j+1) && s.are(j+1, number) && !s.day
	}
	j, whole := f.end, new(big.Rat)
	if len(f.texts) != 1 {
		return
	}
	above := f.texts[0]
	if s.are(j, number) && by(j+1) {
		whole, above = rat(above), s.digitsText(j)
		j++
	}
	if !by(j) || !s.are(j+1, cardinal, number) {
		return
	}
	of, ok := s.numeral(j + 1)
	if !ok || len(of.texts) != 1 || rat(of.texts[0]).Sign() == 0 {
		return
	}
	f.unread = of.unread || s.are(j, over) && !s.alone(i, of.end)
	text, exact := exactly(whole.Add(whole, new(big.Rat).Quo(rat(above), rat(of.texts[0]))))
	f.texts, f.near, f.lone, f.end = []string{text}, !exact, true, of.end
}

func rat(text string) *big.Rat {
	n, _ := new(big.Rat).SetString(text)
	return n
}

// roundedTo is how many digits behind the point are told of a number that no decimal is exactly.
const roundedTo = 9

// exactly returns a number as a decimal, and whether it is exactly that.
func exactly(n *big.Rat) (string, bool) {
	digits, exact := n.FloatPrec()
	if exact = exact && digits <= 24; !exact {
		digits = roundedTo
	}
	text := n.FloatString(digits)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text, exact
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

func itoa[N int | int64](n N) string { return strconv.FormatInt(int64(n), 10) }

// signed reads a sign before a number. One with a space behind it begins a text: "- 5".
func (s *scan) signed(i int) (negative bool, j int) {
	if s.are(i, minus) || s.marked(i, '-', '−') && (s.tight(i+1) && s.free(i) || i == 0) {
		return true, i + 1
	}
	return false, i
}

// measured makes a reading of a number of some kind.
func (s *scan) measured(what What, f numeral, negative bool, codes ...string) Reading {
	r := Reading{What: what}
	var choices []Choice
	for _, t := range f.texts {
		if negative && t != "0" {
			t = "-" + t
		}
		v, ok := stores.ParseDecimal(t)
		if n, whole := stores.ParseInt(t); whole && what == Integer {
			v, ok = n, true
		} else if ok && what == Integer {
			r.What = Decimal
		}
		for _, c := range codes {
			if ok {
				choices = append(choices, Choice{v, c})
			}
		}
	}
	if len(choices) == 0 || f.unread {
		r.Problem = Unread
		return r
	}
	if r.offer(slices.Compact(choices)); f.near {
		r.Assumed |= Rounded
	} else if f.grouped && len(f.texts) == 1 && (s.sole || what == Integer) {
		r.Assumed |= Grouped
	}
	return r
}

// alone reports whether nothing but marks stands beside some lexemes.
func (s *scan) alone(i, end int) bool {
	n := 0
	for k := i; k < end; k++ {
		n += b2i(s.lexemes[k].mark == 0)
	}
	return n == s.solid
}

// money reads "€50M", "50 million euros", "CHF 2'000.–", "1.234,56 EUR", "5 euros 20".
func (s *scan) money(i int) (Reading, int) {
	negative, j := s.signed(i)
	codes, k := s.currency(j)
	if k > j {
		if s.tight(j) && j == i && s.lexemes[j].mark == 0 && s.lexemes[j-1].mark == 0 {
			return Reading{}, i
		}
		if s.marked(k, '-', '−') && s.tight(k+1) && !negative {
			negative, k = true, k+1
		}
	}
	if k >= len(s.lexemes) || k > j && s.space(k) == newLine || k == j && s.are(k, number) && !s.free(k) && !negative {
		return Reading{}, i
	}
	f, ok := s.numeral(k)
	if !ok || f.lone && !f.unread {
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
		// "millions d'euros", "million of euros", "siebenhundert-Euro"
		m := end
		if s.are(m, of) && (end > k+1 || f.words) {
			m++
			if s.marked(m, '\'', '’') {
				m++
			}
		} else if s.marked(m, '-') && s.tight(m) && s.tight(m+1) {
			m++
		}
		if s.space(m) == newLine {
			return Reading{}, i
		}
		if codes, m = s.currency(m); len(codes) == 0 {
			return Reading{}, i
		}
		end = m
	}
	if s.loose(end) || s.oneEnd(i, end) || s.are(end, times) && !s.short(end) {
		f.unread = true
	}
	// A third digit after the point is a group, in a currency that has cents.
	grouped := len(f.texts) == 2 && len(codes) == 1 && minorDigits(codes[0]) < 3 && end == f.end && !s.are(f.end-1, times)
	if grouped {
		f.texts = f.texts[:1]
	}
	s.cents(&f, &end)
	r := s.measured(Money, f, negative, codes...)
	if grouped && r.Problem == 0 {
		r.Assumed |= Grouped
	}
	return r, end
}

// cents reads the change behind an amount: "5 euros 20", "dreizehn Euro und fünfundvierzig Cent".
func (s *scan) cents(f *numeral, end *int) {
	j := *end
	if s.are(j, also, point) {
		j++
	}
	n, digits, figures := s.digits(j)
	if v, ok := s.is(j, cardinal); ok {
		n, digits = v, 2
	} else if !figures {
		return
	}
	named := s.are(j+1, cent)
	whole := len(f.texts) == 1 && !strings.Contains(f.texts[0], ".")
	switch {
	case s.space(j) == newLine, s.space(j+1) != newLine && !named && !s.marked(j+1, '.', ',', ';', '!', '?') || s.tight(j+2) && s.are(j+2, number):
	case whole && n < 100 && (digits == 2 || named && n > 0):
		f.texts[0], *end = f.texts[0]+"."+itoa(n/10)+itoa(n%10), j+1+b2i(named)
	}
}

// oneEnd reports that a number is one end of a range: "10-50 EUR".
func (s *scan) oneEnd(i, end int) bool {
	before := s.marked(i-1, '-', '–', '/') && s.are(i-2, number) && s.tight(i)
	before = before || s.are(i-1, to, or) && s.are(i-2, number, cardinal, times, currency)
	after := s.marked(end, '-', '–', '/') && s.tight(end+1) && s.are(end+1, number)
	return before || after || s.are(end, to, or) && s.are(end+1, number, cardinal) && !s.are(end+1, one)
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
	dollar := len(raw) <= 3 && s.marked(i+1, '$') // "US$", "mxn$"
	switch {
	case x.first != x.last:
	case dollar && dollars[strings.ToUpper(raw)] != "" && (s.tight(i+1) || len(raw) < 3 && !s.are(i, one)):
		return []string{dollars[strings.ToUpper(raw)]}, i + 2
	case len(raw) <= 2 && dollar && s.tight(i+1):
		return nil, i
	case len(raw) == 3:
		upper := strings.ToUpper(raw)
		if raw == upper || upper == "EUR" || upper == "USD" || upper == "GBP" || upper == "CHF" {
			for j := range currencies {
				if currencies[j].code == upper {
					return []string{upper}, i + 1 + b2i(dollar && s.tight(i+1))
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
	if all := shared[s.plainOf(i)]; all != nil {
		return all, i + 1
	}
	return nil, i
}

// dollars are what stands before "$" and tells whose it is.
var dollars = map[string]string{"US": "USD", "C": "CAD", "CA": "CAD", "A": "AUD", "AU": "AUD", "NZ": "NZD", "S": "SGD", "HK": "HKD", "R": "BRL", "NZD": "NZD", "MXN": "MXN", "USD": "USD", "CAD": "CAD", "AUD": "AUD"}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// percent reads "25 %", "twelve percent", "12,5 Prozent".
func (s *scan) percent(i int) (Reading, int) {
	negative, j := s.signed(i)
	if j >= len(s.lexemes) || s.are(j, number) && !negative && !s.free(j) {
		return Reading{}, i
	}
	f, ok := s.numeral(j)
	if !ok || s.space(f.end) == newLine || !s.marked(f.end, '%') && !s.are(f.end, percent) {
		return Reading{}, i
	}
	end := f.end + 1
	if s.oneEnd(i, end) || s.loose(end) {
		f.unread = true
	}
	return s.measured(Percent, f, negative, ""), end
}

// plainNumber reads a number that is nothing else.
func (s *scan) plainNumber(i int) (Reading, int) {
	negative, j := s.signed(i)
	if s.marked(i, '-', '−') && s.tight(i) || j >= len(s.lexemes) || s.are(j, number) && !negative && !s.free(j) {
		return Reading{}, i
	}
	f, ok := s.numeral(j)
	end := f.end
	switch {
	case !ok || s.loose(end) || s.marked(end, '°') || s.are(end, spoils), s.tight(end) && s.marked(end, '-', '/'):
		return Reading{}, i
	case s.are(j-1, this, last, next) && s.are(j, cardinal) && end == j+1 && f.texts[0] == "1": // "this one"
		return Reading{}, i
	case (f.lone && !f.unread || s.are(j, one) && end == j+1) && !s.alone(i, end): // "un document"
		return Reading{}, i
	case f.unread && end > j+4 && !f.words: // "1.2.3"
		return Reading{}, i
	case s.are(end-1, times) && !f.words && s.short(end-1) && !s.tight(end-1) && i != 0:
		return Reading{}, i // "12 k" is a number only if it is written without the space
	case s.oneEnd(i, end), s.are(end, cent):
		f.unread = true
	}
	return s.measured(Integer, f, negative, ""), end
}
