package manda

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Period is the period of a figure: a year, a half, a quarter, a month, a day, or the months of a year up
// to one of them (T, to date). If a text omits the year, the surroundings decide it.
type Period struct {
	Kind byte // Y, H, Q, M, D or T; 0 means none
	Year int
	N    int // of the half, the quarter or the month, the last of them in T
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
	case p.Kind == 'T':
		return fmt.Sprintf("YTD %d-%02d", p.Year, p.N)
	case p.Kind == 'M':
		return fmt.Sprintf("%d-%02d", p.Year, p.N)
	}
	return fmt.Sprintf("%d-%02d-%02d", p.Year, p.N, p.Day)
}

// close returns the period at whose end a stock is counted: a figure at the end of September is one
// at the end of the third quarter.
func (p Period) close() Period {
	switch {
	case p.Kind == 'H':
		p = Period{Kind: 'Q', Year: p.Year, N: 2 * p.N}
	case p.Kind == 'T':
		return Period{Kind: 'M', Year: p.Year, N: p.N}.close()
	case (p.Kind == 'M' || p.Kind == 'D' && p.Day >= 28) && p.N%3 == 0:
		p = Period{Kind: 'Q', Year: p.Year, N: p.N / 3}
	}
	if p.Kind == 'Q' && p.N == 4 {
		p = Period{Kind: 'Y', Year: p.Year}
	}
	return p
}

// end returns the last day of a period as a number that can be compared.
func (p Period) end() int {
	switch p.Kind {
	case 'Y':
		return p.Year*10000 + 1231
	case 'H':
		return p.Year*10000 + p.N*600 + 30
	case 'Q':
		return p.Year*10000 + p.N*300 + 30
	case 'M', 'T':
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

// month returns the number of a month; 0 if the name is not one. Marseille is not March.
func month(name string) int {
	if !monthOnly.re().MatchString(name) {
		return 0
	}
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

// forms are the written forms of periods, the longest first.
var forms = []struct {
	form pattern
	read func(m []string) Period
}{

	{pattern(`(?i)(three|six|3|6)[- ]months? (?:period )?(?:ended|ending|to) (?:the )?(\d{1,2}) ` + months + `\.?,? (20\d\d)`), func(m []string) Period { return part(m[1], month(m[3]), yr(m[4])) }},
	{pattern(`(?i)(three|six|3|6)[- ]months? (?:period )?(?:ended|ending|to) ` + months + `\.? (\d{1,2}),? (20\d\d)`), func(m []string) Period { return part(m[1], month(m[2]), yr(m[4])) }},
	{pattern(`(?i)(seven|eight|nine|ten|eleven|7|8|9|10|11)[- ]months? (?:period )?(?:ended|ending|to) (?:the )?(?:\d{1,2} )?` + months + `\.?(?: \d{1,2})?,? (20\d\d)`), func(m []string) Period {
		if n := month(m[2]); n == num(m[1]) || n == slices.Index(strings.Fields(countedMonths), strings.ToLower(m[1]))+7 {
			return toDate(yr(m[3]), n)
		}
		return Period{}
	}},
	{pattern(`(?i)` + soFar + `[ :,(]*(?:(?:to|at|per|bis|zum|à|au|a|fin|ende?|of|the)[ ]+)*(?:\d{1,2}\.? )?` + months + `\.?[ -]'?(20\d\d)`), func(m []string) Period { return toDate(yr(m[2]), month(m[1])) }},
	{pattern(`YTD (20\d\d)-(\d\d)`), func(m []string) Period { return toDate(yr(m[1]), num(m[2])) }},
	{pattern(`(?i)(?:jan(?:uary|uar|vier)?|enero)\.?(?: (?:20\d\d))? ?(?:to|through|until|bis|à|-|–|a) ?(?:(?:the )?(?:end of|ende|fin) )?` + months + `\.? (20\d\d)`), func(m []string) Period { return toDate(yr(m[2]), month(m[1])) }},
	{pattern(`(20\d\d)/(20\d\d)`), func(m []string) Period { // a year that ends in the second
		if yr(m[2]) != yr(m[1])+1 {
			return Period{}
		}
		return Period{'Y', yr(m[2]), 0, 0}
	}},
	{pattern(`(?i)(20\d\d)-(\d\d)-(\d\d)`), func(m []string) Period { return Period{'D', yr(m[1]), num(m[2]), num(m[3])} }},
	{pattern(`(?i)(\d{1,2})[./](\d{1,2})[./](20\d\d)`), func(m []string) Period { return Period{'D', yr(m[3]), num(m[2]), num(m[1])} }},
	{pattern(`(?i)(\d{1,2})(?:st|nd|rd|th|\.|er)? (?:of )?` + months + `\.?,? (20\d\d)`), func(m []string) Period { return Period{'D', yr(m[3]), month(m[2]), num(m[1])} }},
	{pattern(`(?i)` + months + `\.? ?(\d{1,2})(?:st|nd|rd|th)?,? ?(20\d\d)`), func(m []string) Period { return Period{'D', yr(m[3]), month(m[1]), num(m[2])} }},
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
	{pattern(`F(?:Y ?)?'?([12]\d)[1-9]?`), func(m []string) Period { return Period{'Y', yr(m[1]), 0, 0} }}, // with the number of a footnote
	{pattern(`(?i)(?:(?:financial|fiscal|full|calendar)[ -]year|geschäftsjahre?s?|exercice|année|jahres?|year) (20\d\d)`), func(m []string) Period { return Period{'Y', yr(m[1]), 0, 0} }},
	{pattern(`(?i)(20[0-4]\d)([aefbp])?`), func(m []string) Period { return Period{'Y', yr(m[1]), 0, 0} }},
	{pattern(`(?i)[qt]([1-4])`), func(m []string) Period { return Period{'Q', 0, num(m[1]), 0} }},
	{pattern(`(?i)h([12])`), func(m []string) Period { return Period{'H', 0, num(m[1]), 0} }},
}

// wordy finds what the forms without a digit have: "first quarter", "erstes Halbjahr".
var wordy = pattern(`(?i) (?:quart|trimestre|half|halbjahr|semestre)`)

// soFar matches what says that a year is counted up to some month, and countedMonths are the numbers of
// months that are no quarter and no half.
const (
	soFar         = `\b(?:ytd|year[- ]to[- ]date|so far this year|kumuliert|seit jahresbeginn|aufgelaufen|cumulé?e?s?|depuis (?:le )?début d[eu] l['’]année|acumulado)\b`
	countedMonths = "seven eight nine ten eleven"
)

const toDateIn = pattern("(?i)" + soFar)

// toDate returns the months of a year up to one.
func toDate(year, month int) Period {
	if month == 12 {
		return Period{Kind: 'Y', Year: year}
	}
	return Period{Kind: 'T', Year: year, N: month}
}

// part returns the quarter or half of a calendar year that ends with a month; none if another ends there.
func part(months string, month, year int) Period {
	switch quarter := strings.EqualFold(months, "three") || months == "3"; {
	case quarter && month%3 == 0:
		return Period{'Q', year, month / 3, 0}
	case !quarter && month%6 == 0:
		return Period{'H', year, month / 6, 0}
	}
	return Period{}
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

// yr reads a year with two or four digits.
func yr(s string) int {
	n := num(s)
	if len(s) == 2 {
		n += 2000
	}
	return n
}

// periods returns the periods that a text states, in order.
func periods(text string) []said {
	if !strings.ContainsAny(text, "0123456789") && !wordy.re().MatchString(text) {
		return nil // two dozen expressions would look for nothing
	}
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
