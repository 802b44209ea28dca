package grammar

import (
	"math"
	"strconv"
	"strings"
	"time"

	"verbatim/stores"
)

// integers returns a node for the whole numbers from lo to hi.
func integers(lo, hi int64) node {
	var all alt
	if lo < 0 {
		// The absolute value of the least is one more than the greatest.
		least := strconv.FormatInt(lo, 10)[1:]
		greatest := "1"
		if hi < 0 {
			greatest = strconv.FormatInt(hi, 10)[1:]
		}
		all = append(all, seq{text("-"), between(greatest, least)})
	}
	if hi >= 0 {
		all = append(all, between(strconv.FormatInt(max(lo, 0), 10), strconv.FormatInt(hi, 10)))
	}
	return simple(all)
}

// between returns a node for the unsigned numbers from lo to hi, both written without leading
// zeros.
func between(lo, hi string) node {
	if len(lo) == len(hi) {
		return sameLength(lo, hi)
	}
	first, last := len(lo), len(hi) // lengths for which every number is in the range
	var all alt
	if lo != "1"+strings.Repeat("0", first-1) {
		all = append(all, sameLength(lo, strings.Repeat("9", first)))
		first++
	}
	full := hi == strings.Repeat("9", last)
	if !full {
		last--
	}
	if first <= last {
		all = append(all, seq{digits('1', '9'), simple(times{digits('0', '9'), first - 1, last - 1})})
	}
	if !full {
		all = append(all, sameLength("1"+strings.Repeat("0", last), hi))
	}
	return simple(all)
}

// sameLength returns a node for the digit strings from lo to hi, which have the same length.
func sameLength(lo, hi string) node {
	if lo == hi {
		return text(lo)
	}
	if lo == strings.Repeat("0", len(lo)) && hi == strings.Repeat("9", len(hi)) {
		return anyDigits(len(lo))
	}
	if lo[0] == hi[0] {
		same := 1
		for lo[same] == hi[same] {
			same++
		}
		return seq{text(lo[:same]), sameLength(lo[same:], hi[same:])}
	}
	if len(lo) == 1 {
		return digits(lo[0], hi[0])
	}
	rest := len(lo) - 1
	var all alt
	first, last := lo[0], hi[0]
	if lo[1:] != strings.Repeat("0", rest) {
		all = append(all, seq{text(lo[:1]), sameLength(lo[1:], strings.Repeat("9", rest))})
		first++
	}
	var end node
	if hi[1:] != strings.Repeat("9", rest) {
		end = seq{text(hi[:1]), sameLength(strings.Repeat("0", rest), hi[1:])}
		last--
	}
	if first <= last {
		all = append(all, seq{digits(first, last), anyDigits(rest)})
	}
	if end != nil {
		all = append(all, end)
	}
	return simple(all)
}

func anyDigits(n int) node { return simple(times{digits('0', '9'), n, n}) }

// decimals returns a node for the decimals from lo to hi, if these are not null, with at most
// scale digits after the point; a negative scale is no limit.
func decimals(lo, hi stores.Value, scale int) node {
	var all alt
	// Below zero: the numbers from -hi to -lo without the sign.
	if lo.IsNull() || strings.HasPrefix(lo.Text(), "-") {
		from, to := "0", ""
		if !hi.IsNull() && strings.HasPrefix(hi.Text(), "-") {
			from = hi.Text()[1:]
		}
		if !lo.IsNull() {
			to = lo.Text()[1:]
		}
		all = append(all, seq{text("-"), unsigned(from, to, scale)})
	}
	if hi.IsNull() || !strings.HasPrefix(hi.Text(), "-") {
		from, to := "0", ""
		if !lo.IsNull() && !strings.HasPrefix(lo.Text(), "-") {
			from = lo.Text()
		}
		if !hi.IsNull() {
			to = hi.Text()
		}
		all = append(all, unsigned(from, to, scale))
	}
	return simple(all)
}

// unsigned returns a node for the decimals from lo to hi; an empty hi is no bound.
func unsigned(lo, hi string, scale int) node {
	whole, part, _ := strings.Cut(lo, ".")
	part = strings.TrimRight(part, "0")
	free := maybe(seq{text("."), digitsUpTo(1, scale)})
	if scale == 0 {
		free = seq{}
	}
	if hi == "" {
		above := alt{seq{text(whole), fraction(part, "", false, scale)}}
		next := increment(whole)
		// As many digits as next, or more.
		above = append(above, seq{sameLength(next, strings.Repeat("9", len(next))), free})
		if len(next) < maxWhole {
			above = append(above, seq{digits('1', '9'), simple(times{digits('0', '9'), len(next), maxWhole - 1}), free})
		}
		return above
	}
	last, end, _ := strings.Cut(hi, ".")
	end = strings.TrimRight(end, "0")
	if whole == last {
		return seq{text(whole), fraction(part, end, true, scale)}
	}
	all := alt{seq{text(whole), fraction(part, "", false, scale)}}
	if next := increment(whole); next != last {
		all = append(all, seq{between(next, decrement(last)), free})
	}
	return append(all, seq{text(last), fraction("", end, true, scale)})
}

// Without bounds, a decimal has at most this many digits before the point, enough for any sum of
// money and few enough for 64 bits, and this many after it.
const (
	maxWhole = 18
	maxScale = 30
)

func digitsUpTo(least, scale int) node {
	if scale < 0 {
		return times{digits('0', '9'), least, maxScale}
	}
	return simple(times{digits('0', '9'), least, scale})
}

// fraction returns a node for the point and the digits after it that are at least lo and, if
// bounded, at most hi; it is optional if they allow that. Neither bound ends with a zero.
func fraction(lo, hi string, bounded bool, scale int) node {
	if scale == 0 {
		return seq{}
	}
	digits := after(lo, hi, bounded, scale)
	if lo == "" {
		return maybe(seq{text("."), nonEmpty(lo, hi, bounded, scale)})
	}
	return seq{text("."), digits}
}

// nonEmpty is after with at least one digit.
func nonEmpty(lo, hi string, bounded bool, scale int) node {
	all := steps(lo, hi, bounded, scale)
	return simple(all)
}

// after returns a node for the digits that may follow a point, or a digit after it; it is
// optional if nothing of lo is left.
func after(lo, hi string, bounded bool, scale int) node {
	if lo == "" && !bounded {
		return digitsUpTo(0, scale)
	}
	if scale == 0 {
		return seq{}
	}
	if lo == "" && hi == "" {
		return zeros(0, scale)
	}
	all := steps(lo, hi, bounded, scale)
	if lo == "" {
		return maybe(simple(all))
	}
	return simple(all)
}

func zeros(least, scale int) node {
	if scale < 0 {
		return times{text("0"), least, maxScale}
	}
	return simple(times{text("0"), least, scale})
}

// steps returns the possible first digits, each with what may follow it.
func steps(lo, hi string, bounded bool, scale int) alt {
	if lo == "" && !bounded {
		return alt{digitsUpTo(1, scale)}
	}
	if lo == "" && hi == "" {
		return alt{zeros(1, scale)}
	}
	low, high := byte('0'), byte('9')
	if lo != "" {
		low = lo[0]
	}
	if bounded {
		high = '0'
		if hi != "" {
			high = hi[0]
		}
	}
	left := scale - 1
	if scale < 0 {
		left = scale
	}
	var all alt
	rest := func(s string) string {
		if s == "" {
			return ""
		}
		return s[1:]
	}
	edge := func(d byte) bool { return lo != "" && d == low || bounded && d == high }
	for d := low; d <= high; {
		if edge(d) {
			nextLo, nextBounded := "", bounded && d == high
			if lo != "" && d == low {
				nextLo = rest(lo)
			}
			if left != 0 || nextLo == "" {
				all = append(all, seq{text(string(d)), after(nextLo, rest(hi), nextBounded, left)})
			}
			d++
			continue
		}
		end := d
		for end+1 <= high && !edge(end+1) {
			end++
		}
		all = append(all, seq{digits(d, end), digitsUpTo(0, left)})
		d = end + 1
	}
	return all
}

// amounts returns numbers of any kind as one value: a lexer that takes the first value that fits
// would take a long whole number for a decimal and stop at the decimal's limit.
func amounts() node {
	whole := alt{text("0"), seq{digits('1', '9'), times{digits('0', '9'), 0, maxWhole - 1}}}
	return alt{text("-0"), integers(math.MinInt64, math.MaxInt64), seq{maybe(text("-")), whole, text("."), digitsUpTo(1, -1)}}
}

// increment and decrement count in digits, without a limit.
func increment(s string) string {
	b := []byte(s)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < '9' {
			b[i]++
			return string(b)
		}
		b[i] = '0'
	}
	return "1" + string(b)
}

func decrement(s string) string {
	b := []byte(s)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] > '0' {
			b[i]--
			break
		}
		b[i] = '9'
	}
	if len(b) > 1 && b[0] == '0' {
		b = b[1:]
	}
	return string(b)
}

// dates returns a node for the dates from lo to hi, each written in full.
func dates(lo, hi time.Time) node {
	var all alt
	for lo.Before(hi) || lo.Equal(hi) {
		y, m, d := lo.Date()
		end := hi // end of the largest block of whole years, whole months or days that begins here
		switch {
		case m == time.January && d == 1 && hi.Year() > y:
			end = time.Date(hi.Year()-1, 12, 31, 0, 0, 0, 0, time.UTC)
			all = append(all, wholeYears(y, hi.Year()-1))
		case m == time.January && d == 1 && hi.Month() == 12 && hi.Day() == 31:
			all = append(all, wholeYears(y, y))
		default:
			if last := time.Date(y, m+1, 0, 0, 0, 0, 0, time.UTC); end.After(last) {
				end = last
			}
			all = append(all, seq{text(lo.Format("2006-01-")), sameLength(lo.Format("02"), end.Format("02"))})
		}
		lo = end.AddDate(0, 0, 1)
	}
	return simple(all)
}

// wholeYears returns a node for all dates of some years.
func wholeYears(from, to int) node {
	months := alt{
		seq{oneOf([]string{"01", "03", "05", "07", "08", "10", "12"}), text("-"), sameDay(31)},
		seq{oneOf([]string{"04", "06", "09", "11"}), text("-"), sameDay(30)},
		seq{text("02-"), sameDay(28)},
	}
	all := alt{seq{sameLength(year(from), year(to)), text("-"), months}}
	if leap := leapYears(from, to); leap != nil {
		all = append(all, seq{leap, text("-02-29")})
	}
	return simple(all)
}

func year(y int) string { return strings.Repeat("0", 4-len(strconv.Itoa(y))) + strconv.Itoa(y) }

func sameDay(last int) node { return sameLength("01", strconv.Itoa(last)) }

// leapYears returns the leap years of the Gregorian calendar: by whole centuries, and one by one
// at the ends.
func leapYears(from, to int) node {
	var all alt
	var single []string
	inCentury := oneOf(fours(4))
	first, last := math.MaxInt, -1 // of the whole centuries
	for c := from / 100; c <= to/100; c++ {
		if c*100 >= from && c*100+99 <= to {
			first, last = min(first, c), max(last, c)
			if c%4 == 0 && c > 0 {
				single = append(single, year(c*100))
			}
			continue
		}
		for y := max(from, c*100); y <= min(to, c*100+99); y++ {
			if y%4 == 0 && (y%100 != 0 || y%400 == 0) {
				single = append(single, year(y))
			}
		}
	}
	if last >= 0 {
		all = append(all, seq{sameLength(year(first)[2:], year(last)[2:]), inCentury})
	}
	if len(single) > 0 {
		all = append(all, oneOf(single))
	}
	if len(all) == 0 {
		return nil
	}
	return simple(all)
}

func fours(from int) []string {
	var out []string
	for y := from; y < 100; y += 4 {
		out = append(out, year(y)[2:])
	}
	return out
}
