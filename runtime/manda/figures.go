package manda

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Figure is a number that a text states, in whole units: €5.2m is 5 200 000 EUR.
type Figure struct {
	Value *big.Rat
	Step  *big.Rat // what its last digit counts: of €5.2m, 100 000
	Unit  string   // EUR, USD and so on, or % or pp; empty where the text says none
	Text  string   // as it is written
	at    int      // in the text
	end   int
}

// A measure is what a text says that its figures count: €m is a million of EUR.
type measure struct {
	unit  string
	scale int64 // 0 where none is said
}

var currencies = map[string]string{"€": "EUR", "eur": "EUR", "euro": "EUR", "euros": "EUR", "$": "USD", "us$": "USD", "usd": "USD", "£": "GBP", "gbp": "GBP", "chf": "CHF", "sfr": "CHF", "pln": "PLN", "zł": "PLN", "czk": "CZK", "sek": "SEK", "dkk": "DKK", "nok": "NOK", "huf": "HUF", "ron": "RON"}

var scales = map[string]int64{
	"k": 1e3, "t": 1e3, "tsd": 1e3, "tausend": 1e3, "thousand": 1e3, "thousands": 1e3, "'000": 1e3, "’000": 1e3, "000": 1e3, "000s": 1e3, "'000s": 1e3, "millier": 1e3, "milliers": 1e3, "mille": 1e3,
	"m": 1e6, "mn": 1e6, "mln": 1e6, "mio": 1e6, "million": 1e6, "millions": 1e6, "millionen": 1e6,
	"bn": 1e9, "b": 1e9, "mrd": 1e9, "md": 1e9, "mds": 1e9, "billion": 1e9, "milliarde": 1e9, "milliarden": 1e9, "milliard": 1e9, "milliards": 1e9,
}

var percents = map[string]string{"%": "%", "percent": "%", "prozent": "%", "pct": "%", "pp": "pp", "ppt": "pp", "prozentpunkte": "pp", "points": "pp"}

// unitOf is what one word says of what is counted: €, €m, TEUR, Mio, k€, %.
func unitOf(word string) (m measure, ok bool) {
	word = strings.TrimRight(strings.ToLower(word), ".,;:)")
	if u, is := percents[word]; is {
		return measure{unit: u}, true
	}
	if u, is := currencies[word]; is {
		return measure{unit: u}, true
	}
	if n, is := scales[word]; is {
		return measure{scale: n}, true
	}
	for sign, unit := range currencies { // k€, T€, MEUR, €m, EURk, €000
		if rest, is := strings.CutSuffix(word, sign); is {
			if n, is := scales[rest]; is {
				return measure{unit, n}, true
			}
		}
		if rest, is := strings.CutPrefix(word, sign); is {
			if n, is := scales[rest]; is {
				return measure{unit, n}, true
			}
		}
	}
	return measure{}, false
}

var unitWords = pattern(`[\p{L}€$£%'’]+(?:000s?)?[€$£]?|[€$£]?000s?\b`)

// measureOf is what a heading, a label or a caption says of its figures: "Revenue (€m)",
// "in thousands of euros". A letter counts only beside a currency or behind "in".
func measureOf(text string) measure {
	var m measure
	words := unitWords.re().FindAllString(strings.NewReplacer("d'", " ", "d’", " ").Replace(text), -1)
	for i, w := range words {
		u, ok := unitOf(w)
		if !ok {
			continue
		}
		beside := func(j int) bool {
			if j < 0 || j >= len(words) {
				return false
			}
			v, ok := unitOf(words[j])
			return ok && v.unit != "" && v.scale == 0
		}
		in := i > 0 && (strings.EqualFold(words[i-1], "in") || strings.EqualFold(words[i-1], "en"))
		if u.unit == "" && len([]rune(strings.Trim(w, "'’"))) <= 1 && !beside(i-1) && !beside(i+1) && !in {
			continue
		}
		if m.unit == "" {
			m.unit = u.unit
		}
		if m.scale == 0 {
			m.scale = u.scale
		}
	}
	return m
}

var (
	digits   = pattern(`\d{1,3}(?:[ .,'’\x{a0}\x{202f}\x{2009}]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?`)
	someHalf = pattern(`\d,\d{1,2}(?:\D|$)`)
	somePart = pattern(`\d\.\d{1,2}(?:[^\d.]|$)`)
)

// commas reports whether a text writes 5,2 for five and two tenths.
func commas(text string) bool {
	return len(someHalf.re().FindAllString(text, 50)) > len(somePart.re().FindAllString(text, 50))
}

// number reads what digits found; step is what its last digit counts.
func number(s string, comma bool) (value, step *big.Rat, ok bool) {
	s = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '\'' || r == '’' {
			return -1
		}
		return r
	}, s)
	last := strings.LastIndexAny(s, ".,")
	decimals := 0
	if last >= 0 {
		sign := s[last : last+1]
		other := strings.Trim(".,", sign)
		behind := len(s) - last - 1
		switch {
		case strings.Count(s, sign) > 1: // 1.234.567
			s = strings.ReplaceAll(s, sign, "")
		case strings.Contains(s, other): // 1.234,5
			s = strings.ReplaceAll(s, other, "")
			s, decimals = strings.Replace(s, sign, ".", 1), behind
		case behind == 3 && s[0] != '0' && last <= 3 && (sign == ",") != comma: // 1,234 in English
			s = strings.ReplaceAll(s, sign, "")
		default:
			s, decimals = strings.Replace(s, sign, ".", 1), behind
		}
	}
	value, ok = new(big.Rat).SetString(s)
	return value, new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)), ok
}

var (
	beforeNumber = pattern(`(?i)(?:^|[^\p{L}])([tk]?€[mk]?|us\$|[$£]|[tk]?(?:eur|usd|gbp|chf|pln|czk|sek|dkk|nok|huf|ron))[ \x{a0}]?(?:mio\.? ?|m |k )?$`)
	behindNumber = pattern(`(?i)^[ \x{a0}\x{202f}]?(?:([\p{L}€$£%]+\.?)(?:[ \x{a0}\x{202f}](?:d['’])?([\p{L}€$£]+)|['’]([\p{L}]+))?)`)
)

// figures are the numbers of a text, in its order: those that are parts of words, of
// dates or of periods are left out. blank tells where periods and dates stand.
func figures(text string, comma bool, blank func(at int) bool) []Figure {
	var all []Figure
	for _, is := range digits.re().FindAllStringIndex(text, -1) {
		at, end, base := is[0], is[1], is[1]
		before, behind := text[:at], text[end:]
		if blank(at) || partOfWord(before, behind) {
			continue
		}
		value, step, ok := number(text[at:end], comma)
		if !ok || end-at > 30 {
			continue
		}
		f := Figure{Value: value, Step: step, at: at, end: end}
		scale := int64(0)
		if m := beforeNumber.re().FindStringSubmatchIndex(before); m != nil {
			u, _ := unitOf(before[m[2]:m[3]])
			f.Unit, scale, f.at = u.unit, u.scale, m[2]
			if rest, is := unitOf(strings.TrimSpace(before[m[3]:])); is {
				scale = rest.scale
			}
		}
		if m := behindNumber.re().FindStringSubmatchIndex(behind); m != nil {
			word, next := behind[m[2]:m[3]], ""
			for _, k := range [...]int{4, 6} {
				if m[k] >= 0 {
					next = behind[m[k]:m[k+1]]
				}
			}
			u, is := unitOf(word)
			switch {
			case strings.EqualFold(word+" "+next, "per cent"):
				u, is, m[3] = measure{unit: "%"}, true, m[1]
			case len(word) == 1 && f.Unit == "" && strings.ContainsAny(word, "bBtTK") && next == "":
				is = false // 5 B is no billion
			}
			if is {
				if end += m[3]; f.Unit == "" {
					f.Unit = u.unit
				}
				if scale == 0 {
					scale = u.scale
				}
				if v, is := unitOf(next); is && v.unit != "" && f.Unit == "" {
					f.Unit, end = v.unit, base+m[1]
				}
			}
		}
		if minus(text[:f.at]) {
			f.Value.Neg(f.Value)
		}
		if scale > 0 {
			by := new(big.Rat).SetInt64(scale)
			f.Value.Mul(f.Value, by)
			f.Step.Mul(f.Step, by)
		}
		f.Text, f.end = strings.TrimRight(strings.TrimSpace(text[f.at:end]), ".,"), end
		all = append(all, f)
	}
	return all
}

// minus reports whether a text ends with the sign of a number, and not with a dash
// between two.
func minus(before string) bool {
	r, n := utf8.DecodeLastRuneInString(before)
	if r != '-' && r != '−' && r != '–' {
		return false
	}
	prior, _ := utf8.DecodeLastRuneInString(before[:len(before)-n])
	return prior == utf8.RuneError || unicode.IsSpace(prior) || prior == '('
}

// numbered is what stands before a number that is a name: ISO 9001, GR-07, clause 21.
var numbered = pattern(`(?:\pL-|(?:^|[^\p{L}])(?:ISO|IFRS|IAS|DIN|EN|HGB|No\.?|Nr\.?|§|Art\.?|[Cc]lause|[Ss]ection|[Pp]age|Seite|[Cc]hapter|[Tt]able|Tabelle|[Aa]nnex|[Nn]ote|KW|[Ww]eeks?|Ziffer|article|tableau) ?)$`)

// partOfWord reports whether a number is a part of what stands around it: Q3, v2, 3rd,
// 12.05, 10:30.
func partOfWord(before, behind string) bool {
	if r, n := utf8.DecodeLastRuneInString(before); n > 0 && (unicode.IsLetter(r) || r == '_' || r == '#' || r == '/' || r == ':') {
		return r != 'R' && r != 'D' && r != 'F' && r != 'N' && r != 'k' && r != 'T' || !strings.HasSuffix(before, "EUR") && !strings.HasSuffix(before, "USD") && !strings.HasSuffix(before, "CHF") && !strings.HasSuffix(before, "PLN")
	}
	if numbered.re().MatchString(before) {
		return true
	}
	r, n := utf8.DecodeRuneInString(behind)
	switch {
	case n == 0:
		return false
	case r == ':' || r == '/' || r == '_' || (r == '.' || r == ',' || r == '-') && len(behind) > 1 && behind[1] >= '0' && behind[1] <= '9':
		return true
	case unicode.IsLetter(r):
		_, is := unitOf(strings.FieldsFunc(behind, func(r rune) bool { return unicode.IsSpace(r) || r == '.' || r == ',' || r == ')' || r == ';' })[0])
		return !is
	}
	return false
}

// shown is a number as an exact decimal.
func shown(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	s := r.FloatString(12)
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

// A Period is the time that a figure is of: a year, a half, a quarter, a month or a day.
// Without a year it is known only by what stands around it.
type Period struct {
	Kind byte // Y, H, Q, M or D; 0 is none
	Year int
	N    int // of the half, the quarter or the month
	Day  int
}

// String writes it as people cite it; the last day of a year is that year, as balance
// sheets have it.
func (p Period) String() string {
	switch {
	case p.Kind == 0 || p.Year == 0:
		return ""
	case p.Kind == 'Y' || p.Kind == 'D' && p.N == 12 && p.Day == 31:
		return "FY" + strconv.Itoa(p.Year)
	case p.Kind == 'H' || p.Kind == 'Q':
		return fmt.Sprintf("%c%d %d", p.Kind, p.N, p.Year)
	case p.Kind == 'M':
		return fmt.Sprintf("%d-%02d", p.Year, p.N)
	}
	return fmt.Sprintf("%d-%02d-%02d", p.Year, p.N, p.Day)
}

// close is the period by whose end something is counted: what stands at the end of
// September stands at the end of the third quarter.
func (p Period) close() Period {
	switch {
	case p.Kind == 'H':
		p = Period{Kind: 'Q', Year: p.Year, N: 2 * p.N}
	case (p.Kind == 'M' || p.Kind == 'D' && p.Day >= 28) && p.N%3 == 0:
		p = Period{Kind: 'Q', Year: p.Year, N: p.N / 3}
	}
	if p.Kind == 'Q' && p.N == 4 {
		p = Period{Kind: 'Y', Year: p.Year}
	}
	return p
}

// end is the last day of a period as a number that can be compared.
func (p Period) end() int {
	switch p.Kind {
	case 'Y':
		return p.Year*10000 + 1231
	case 'H':
		return p.Year*10000 + p.N*600 + 30
	case 'Q':
		return p.Year*10000 + p.N*300 + 30
	case 'M':
		return p.Year*10000 + p.N*100 + 31
	}
	return p.Year*10000 + p.N*100 + p.Day
}

// parsePeriod reads what String wrote.
func parsePeriod(s string) Period {
	if all := periods(s); len(all) == 1 {
		return all[0].Period
	}
	return Period{}
}

// A said is a period that a text states, and where.
type said struct {
	Period
	at, end int
	status  string // of 2024E or 2024A: FORECAST or ACTUAL
}

const (
	months = `(jan(?:uary|uar|vier)?|f[eé]b(?:ruary|ruar|rier)?|févr(?:ier)?|mar(?:ch|s)?|märz|apr(?:il)?|avr(?:il)?|may|mai|jun[ei]?|juin|jul[yi]?|juil(?:let)?|aug(?:ust)?|août|sept?(?:ember|embre)?|o[ck]t(?:ober|obre)?|nov(?:ember|embre)?|de[cz](?:ember|embre)?|déc(?:embre)?)`
	year   = `(?:fy ?|cy ?|gj ?|of |de |des |im )?'?((?:19|20)\d\d)`
)

var ordinals = map[string]int{"first": 1, "1st": 1, "ersten": 1, "erstes": 1, "erste": 1, "premier": 1, "1er": 1, "second": 2, "2nd": 2, "zweiten": 2, "zweites": 2, "zweite": 2, "deuxième": 2, "2e": 2, "2ème": 2, "third": 3, "3rd": 3, "dritten": 3, "drittes": 3, "dritte": 3, "troisième": 3, "3e": 3, "3ème": 3, "fourth": 4, "4th": 4, "vierten": 4, "viertes": 4, "vierte": 4, "quatrième": 4, "4e": 4, "4ème": 4, "last": 4}

var monthNames = [...]string{"jan", "feb fév féb", "mar mär", "apr avr", "may mai", "jun jui", "jul juil", "aug aoû", "sep", "oct okt", "nov", "dec dez déc"}

func month(name string) int {
	name = strings.ToLower(name)
	if strings.HasPrefix(name, "juil") {
		return 7
	}
	for i, starts := range monthNames {
		for s := range strings.FieldsSeq(starts) {
			if strings.HasPrefix(name, s) {
				return i + 1
			}
		}
	}
	return 0
}

// forms are how periods are written, the longest first.
var forms = []struct {
	form pattern
	read func(m []string) Period
}{
	{pattern(`(?i)(20\d\d)-(\d\d)-(\d\d)`), func(m []string) Period { return Period{'D', yr(m[1]), num(m[2]), num(m[3])} }},
	{pattern(`(?i)(\d{1,2})[./](\d{1,2})[./](20\d\d)`), func(m []string) Period { return Period{'D', yr(m[3]), num(m[2]), num(m[1])} }},
	{pattern(`(?i)(\d{1,2})(?:st|nd|rd|th|\.|er)? (?:of )?` + months + `\.?,? (20\d\d)`), func(m []string) Period { return Period{'D', yr(m[3]), month(m[2]), num(m[1])} }},
	{pattern(`(?i)` + months + `\.? (\d{1,2})(?:st|nd|rd|th)?,? (20\d\d)`), func(m []string) Period { return Period{'D', yr(m[3]), month(m[1]), num(m[2])} }},
	{pattern(`(?i)` + months + `\.?[ -]` + year), func(m []string) Period { return Period{'M', yr(m[2]), month(m[1]), 0} }},
	{pattern(`(?i)(20\d\d)-(0[1-9]|1[0-2])`), func(m []string) Period { return Period{'M', yr(m[1]), num(m[2]), 0} }},
	{pattern(`(?i)[qt]([1-4])[ /_-]*(?:fy ?)?'?(20\d\d|\d\d)`), func(m []string) Period { return Period{'Q', yr(m[2]), num(m[1]), 0} }},
	{pattern(`(?i)([1-4])q[ /_-]*'?(20\d\d|\d\d)`), func(m []string) Period { return Period{'Q', yr(m[2]), num(m[1]), 0} }},
	{pattern(`(?i)(20\d\d)[ /_-]*[qt]([1-4])`), func(m []string) Period { return Period{'Q', yr(m[1]), num(m[2]), 0} }},
	{pattern(`(?i)([1-4])\. ?(?:quartal|quarter)s?(?:[ ,]*` + year + `)?`), func(m []string) Period { return Period{'Q', yr(m[2]), num(m[1]), 0} }},
	{pattern(`(?i)(\pL+|\d(?:st|nd|rd|th|er|e|ème)) (?:quarter|quartals?|trimestre)(?:[ ,]*` + year + `)?`), func(m []string) Period { return ordinal('Q', m) }},
	{pattern(`(?i)h([12])[ /_-]*(?:fy ?)?'?(20\d\d|\d\d)`), func(m []string) Period { return Period{'H', yr(m[2]), num(m[1]), 0} }},
	{pattern(`(?i)(20\d\d)[ /_-]*h([12])`), func(m []string) Period { return Period{'H', yr(m[1]), num(m[2]), 0} }},
	{pattern(`(?i)([12])\. ?halbjahr(?:[ ,]*` + year + `)?`), func(m []string) Period { return Period{'H', yr(m[2]), num(m[1]), 0} }},
	{pattern(`(?i)(\pL+|\d(?:st|nd|er|e|ème)) (?:half|halbjahr|semestre)(?: year)?(?:[ ,]*` + year + `)?`), func(m []string) Period { return ordinal('H', m) }},
	{pattern(`(?i)(?:fy|gj|cy)[ -]?'?(20\d\d|\d\d)(?:/\d\d)?([aefbp])?`), func(m []string) Period { return Period{'Y', yr(m[1]), 0, 0} }},
	{pattern(`(?i)(?:(?:financial|fiscal|full|calendar)[ -]year|geschäftsjahre?s?|exercice|année|jahres?|year) (20\d\d)`), func(m []string) Period { return Period{'Y', yr(m[1]), 0, 0} }},
	{pattern(`(?i)(20[0-4]\d)([aefbp])?`), func(m []string) Period { return Period{'Y', yr(m[1]), 0, 0} }},
	{pattern(`(?i)[qt]([1-4])`), func(m []string) Period { return Period{'Q', 0, num(m[1]), 0} }},
	{pattern(`(?i)h([12])`), func(m []string) Period { return Period{'H', 0, num(m[1]), 0} }},
}

func ordinal(kind byte, m []string) Period {
	n := ordinals[strings.ToLower(m[1])]
	if n == 0 || kind == 'H' && n > 2 && n != 4 {
		return Period{}
	}
	if kind == 'H' && n == 4 {
		n = 2
	}
	return Period{kind, yr(m[2]), n, 0}
}

func num(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// yr reads a year, of which two digits are enough.
func yr(s string) int {
	n := num(s)
	if len(s) == 2 {
		n += 2000
	}
	return n
}

// periods are the periods that a text states, in its order.
func periods(text string) []said {
	var all []said
	taken := func(at, end int) bool {
		for _, s := range all {
			if at < s.end && s.at < end {
				return true
			}
		}
		return false
	}
	letter := func(at int, back bool) bool {
		r, n := utf8.DecodeRuneInString(text[at:])
		if back {
			r, n = utf8.DecodeLastRuneInString(text[:at])
		}
		return n > 0 && (unicode.IsLetter(r) || unicode.IsDigit(r))
	}
	for _, f := range forms {
		for _, is := range f.form.re().FindAllStringSubmatchIndex(text, -1) {
			if letter(is[0], true) || letter(is[1], false) || taken(is[0], is[1]) {
				continue
			}
			m := make([]string, len(is)/2)
			for i := range m {
				if is[2*i] >= 0 {
					m[i] = text[is[2*i]:is[2*i+1]]
				}
			}
			p := f.read(m)
			if p.Kind == 0 || p.Kind != 'Y' && p.N < 1 || p.N > 12 || p.Kind == 'D' && (p.Day < 1 || p.Day > 31) || p.Year != 0 && (p.Year < 1980 || p.Year > 2060) {
				continue
			}
			s := said{Period: p, at: is[0], end: is[1]}
			if n := len(m); p.Kind == 'Y' && n > 2 && m[n-1] != "" {
				s.status = Forecast
				if strings.EqualFold(m[n-1], "a") {
					s.status = Actual
				}
			}
			all = append(all, s)
		}
	}
	sortSaid(all)
	return all
}

func sortSaid(all []said) {
	slices.SortFunc(all, func(a, b said) int { return a.at - b.at })
}
