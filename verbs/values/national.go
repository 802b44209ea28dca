package values

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An idRule reads the number that a state gives a person.
type idRule struct {
	name   string // what people call it
	sample string
	length int
	form   string // the classes of its characters, as in ibans.txt; "" where they differ
	check  func(b []byte) *Fault
	write  []int // before which characters a mark stands in the state's own spelling
	mark   string
}

// nationalIDs are the numbers whose rule is known, by country. Sources: the offices that give them, as
// they describe them in November 2026; the lines of testdata/values.txt hold each rule.
//
//	AT Hauptverband der Sozialversicherungsträger · BE Rijksregister, arrêté royal of 3 April 1984
//	CH AHV number of 2008 (EAN-13) · DE Bundeszentralamt für Steuern, § 139b AO, form of 2016
//	DK CPR-kontoret: numbers without modulus 11 are given out since October 2007
//	ES Ministerio del Interior (DNI, NIE) · FI Digi- ja väestötietovirasto, signs of 1 January 2023
//	FR INSEE (NIR) · GB HMRC, NIM39110 · IT DM of 23 December 1976, omocodia included
//	NL Rijksdienst voor Identiteitsgegevens (BSN) · PL Ministerstwo Cyfryzacji (PESEL)
//	US Social Security Administration, rules of 25 June 2011
var nationalIDs = map[string]idRule{
	"AT": {name: "Sozialversicherungsnummer", sample: "1237 010180", length: 10, form: "nnnnnnnnnn", check: austrian},
	"BE": {name: "national number", sample: "85.07.30-033.28", length: 11, form: "nnnnnnnnnnn", check: belgian},
	"CH": {name: "AHV number", sample: "756.9217.0769.85", length: 13, form: "nnnnnnnnnnnnn", check: swiss, write: []int{3, 7, 11}, mark: "."},
	"DE": {name: "Steuer-ID", sample: "86095742719", length: 11, form: "nnnnnnnnnnn", check: german},
	"DK": {name: "CPR number", sample: "211062-5629", length: 10, form: "nnnnnnnnnn", check: danish, write: []int{6}, mark: "-"},
	"ES": {name: "DNI or NIE", sample: "12345678Z", length: 9, form: "cnnnnnnna", check: spanish},
	"FI": {name: "henkilötunnus", sample: "131052-308T", length: 11, check: finnish},
	"FR": {name: "NIR", sample: "2 55 08 14 168 025 38", length: 15, form: "nnnnnncnnnnnnnn", check: french},
	"GB": {name: "National Insurance number", sample: "AB 12 34 56 C", length: 9, form: "aannnnnna", check: british},
	"IT": {name: "codice fiscale", sample: "MRT MTT 25D09 F205Z", length: 16, form: "aaaaaaccaccaccca", check: italian},
	"NL": {name: "BSN", sample: "111222333", length: 9, form: "nnnnnnnnn", check: dutch},
	"PL": {name: "PESEL", sample: "44051401359", length: 11, form: "nnnnnnnnnnn", check: polish},
	"US": {name: "Social Security number", sample: "536-22-1234", length: 9, form: "nnnnnnnnn", check: american, write: []int{3, 5}, mark: "-"},
}

// IDCountries are the countries whose numbers NationalID checks.
func IDCountries() []string {
	return slices.Sorted(maps.Keys(nationalIDs))
}

// IDName is what the number of a country is called, and a number of that form; "" if its rule is not
// known.
func IDName(country string) (name, sample string) {
	is := nationalIDs[country]
	return is.name, is.sample
}

// longestID is the length of numbers of countries whose rule is not known.
const longestID = 40

// NationalID reads the number that a state gives a person: of Germany the tax id, of the USA the
// Social Security number. Where the rule of the country is not known, any letters, digits and marks
// between them are accepted. It is kept in capitals and in the state's own spelling: without marks,
// but 131052-308T, 211062-5629, 756.9217.0769.85 and 536-22-1234.
func NationalID(text, country string) (string, error) {
	if !IsCountry(country) {
		return text, fault("its country is not said")
	}
	is, known := nationalIDs[country]
	if !known {
		id := strings.ToUpper(strings.Join(strings.Fields(text), " "))
		if id == "" || len(id) > longestID {
			return text, fault("1 to %d characters are expected", longestID)
		}
		for i, r := range id {
			if !(r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || strings.ContainsRune(" -./", r)) {
				return text, odd(r, i+1)
			}
		}
		return id, nil
	}
	b, f := is.read(text, country)
	if f != nil {
		return text, f
	}
	for n := len(is.write) - 1; n >= 0; n-- {
		b = slices.Insert(b, is.write[n], is.mark[0])
	}
	return string(b), nil
}

func (is *idRule) read(text, country string) ([]byte, *Fault) {
	var sign rune // between the day of birth and the rest, in Finland
	if country == "FI" {
		text = strings.TrimSpace(text)
		if i := strings.IndexAny(text, "+-"); i == 6 {
			sign = rune(text[i])
			text = text[:i] + text[i+1:]
		}
	}
	b, f := compact(strings.NewReplacer(".", "", "/", "").Replace(text))
	if f != nil {
		return nil, f
	}
	if sign != 0 && len(b) >= 6 {
		b = slices.Insert(b, 6, byte(sign))
	}
	if len(b) != is.length {
		return nil, long(len(b), "a "+is.name, "has "+strconv.Itoa(is.length))
	}
	for i := range b {
		if is.form == "" {
			break
		}
		if f := of(is.form[i], b[i:i+1], i+1); f != nil {
			return nil, f
		}
	}
	return b, is.check(b)
}

var (
	noSuchDay  = fault("it holds a day of birth that no calendar has")
	wrongCheck = fault("its check digit does not fit the rest: a character is wrong, or two have changed places")
	neverGiven = fault("no such number is given out")
)

func number(b []byte) (n int) {
	for _, c := range b {
		n = n*10 + int(c-'0')
	}
	return n
}

func isDay(year, month, day int) bool {
	t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	return month >= 1 && month <= 12 && day >= 1 && t.Day() == day
}

func weighted(b []byte, weights ...int) (sum int) {
	for i, c := range b {
		sum += weights[i%len(weights)] * int(c-'0')
	}
	return sum
}

func when(wrong bool, f *Fault) *Fault {
	if wrong {
		return f
	}
	return nil
}

// austrian checks a number whose fourth digit is the check, and whose last six are a day; months 13 to
// 15 are for days whose numbers are all given out.
func austrian(b []byte) *Fault {
	month := number(b[6:8])
	switch {
	case b[0] == '0':
		return neverGiven
	case month > 15 || !isDay(2000, max(1, month%13), number(b[4:6])):
		return noSuchDay
	}
	return when(weighted(b, 3, 7, 9, 0, 5, 8, 4, 2, 1, 6)%11 != int(b[3]-'0'), wrongCheck)
}

// belgian checks a number that ends with what lacks to a multiple of 97; people born since 2000 count
// as if a 2 stood before. Month and day are zero where they are not known.
func belgian(b []byte) *Fault {
	if number(b[2:4]) > 12 || number(b[4:6]) > 31 {
		return noSuchDay
	}
	n, check := number(b[:9]), number(b[9:])
	return when(97-n%97 != check && 97-(2_000_000_000+n)%97 != check, wrongCheck)
}

func swiss(b []byte) *Fault {
	if string(b[:3]) != "756" {
		return fault("an AHV number begins with 756")
	}
	return when(weighted(b, 1, 3)%10 != 0, wrongCheck)
}

// german checks a Steuer-ID: of its first ten digits one is there twice or three times, and the others
// at most once; three of a kind never stand side by side. ISO 7064, mod 11,10, makes the last.
func german(b []byte) *Fault {
	var counts [10]int
	product := 10
	for _, c := range b[:10] {
		counts[c-'0']++
		sum := cmp.Or((int(c-'0')+product)%10, 10)
		product = sum * 2 % 11
	}
	repeated := 0
	for d, n := range counts {
		if n > 1 {
			repeated++
		}
		if n > 3 || n == 3 && strings.Contains(string(b[:10]), strings.Repeat(string(rune('0'+d)), 3)) {
			return fault("one digit of its first ten is there too often")
		}
	}
	switch {
	case b[0] == '0':
		return fault("a Steuer-ID does not begin with 0")
	case repeated != 1:
		return fault("exactly one digit of its first ten is there twice or three times")
	}
	return when((11-product)%10 != int(b[10]-'0'), wrongCheck)
}

// danish checks a day of birth, whose century the seventh digit tells. The rest has had no check digit
// since 2007.
func danish(b []byte) *Fault {
	year, seventh := number(b[4:6]), b[6]
	switch {
	case seventh <= '3':
		year += 1900
	case seventh == '4' || seventh == '9':
		year += 2000
		if year > 2036 {
			year -= 100
		}
	case year <= 57:
		year += 2000
	default:
		year += 1800
	}
	return when(!isDay(year, number(b[2:4]), number(b[:2])), noSuchDay)
}

// dutch checks the eleven test: weights 9 to 2, and the last digit taken away.
func dutch(b []byte) *Fault {
	sum := weighted(b[:8], 9, 8, 7, 6, 5, 4, 3, 2) - int(b[8]-'0')
	return when(sum%11 != 0 || sum == 0, wrongCheck)
}

func spanish(b []byte) *Fault {
	digits := slices.Clone(b[:8])
	switch c := digits[0]; {
	case c >= 'X' && c <= 'Z':
		digits[0] = '0' + c - 'X'
	case c > '9':
		return fault("a DNI begins with a digit, and a NIE with X, Y or Z")
	}
	return when("TRWAGMYFPDXBNJZSQVHLCKE"[number(digits)%23] != b[8], fault("its letter does not fit the digits"))
}

// The signs of Finland's centuries: those after the first of each stand in numbers given out since
// 1 January 2023.
var finnishCenturies = map[int]string{1800: "+", 1900: "-YXWVU", 2000: "ABCDEF"}

func finnish(b []byte) *Fault {
	if f := of(digit, b[:6], 1); f != nil {
		return f
	}
	if f := of(digit, b[7:10], 8); f != nil {
		return f
	}
	century := 0
	for c, signs := range finnishCenturies {
		if strings.IndexByte(signs, b[6]) >= 0 {
			century = c
		}
	}
	serial := number(b[7:10])
	switch {
	case century == 0:
		return fault("%q, character 7, is no sign of a century: those are + for 1800, - and Y, X, W, V, U for 1900, A to F for 2000", b[6]).
			instead("character 7 is no sign of a century")
	case !isDay(century+number(b[4:6]), number(b[2:4]), number(b[:2])):
		return noSuchDay
	case serial < 2 || serial > 899:
		return neverGiven
	}
	check := "0123456789ABCDEFHJKLMNPRSTUVWXY"[(number(b[:6])*1000+serial)%31]
	return when(check != b[10], wrongCheck)
}

// french checks a number whose key is 97 less a remainder. Months above 12 stand where the month of
// birth is not known; 2A and 2B are Corsica.
func french(b []byte) *Fault {
	digits := slices.Clone(b)
	switch string(b[5:7]) {
	case "2A":
		copy(digits[5:], "19")
	case "2B":
		copy(digits[5:], "18")
	default:
		if b[6] > '9' {
			return fault("characters 6 and 7 are no département").instead("characters 6 and 7 are no département")
		}
	}
	month := number(b[3:5])
	switch {
	case b[0] != '1' && b[0] != '2':
		return fault("a NIR begins with 1 or 2")
	case month == 0 || month > 12 && month < 20 || month > 42 && month < 50:
		return noSuchDay
	}
	return when(97-number(digits[:13])%97 != number(digits[13:]), wrongCheck)
}

func british(b []byte) *Fault {
	pair := string(b[:2])
	return when(strings.IndexByte("DFIQUV", b[0]) >= 0 || strings.IndexByte("DFIOQUV", b[1]) >= 0 ||
		strings.Contains("BG GB KN NK NT TN ZZ", pair) || b[8] > 'D', neverGiven)
}

// italian checks a codice fiscale. Where two people would have the same, letters from LMNPQRSTUV stand
// for digits.
func italian(b []byte) *Fault {
	odd := [...]int{1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23}
	const stand = "LMNPQRSTUV"
	digits := slices.Clone(b)
	for _, i := range []int{6, 7, 9, 10, 12, 13, 14} {
		if n := strings.IndexByte(stand, b[i]); n >= 0 {
			digits[i] = byte('0' + n)
		}
		if digits[i] > '9' {
			return of(digit, b[i:i+1], i+1)
		}
	}
	sum := 0
	for i, c := range b[:15] {
		n := int(c - '0')
		if c > '9' {
			n = int(c - 'A')
		}
		if i%2 == 0 {
			n = odd[n]
		}
		sum += n
	}
	day := number(digits[9:11])
	switch month := strings.IndexByte("ABCDEHLMPRST", b[8]) + 1; {
	case month == 0, !isDay(2000, month, day) && !isDay(2000, month, day-40):
		return noSuchDay
	}
	return when(b[15] != 'A'+byte(sum%26), wrongCheck)
}

// polish checks a day, whose month tells the century, and a check digit.
func polish(b []byte) *Fault {
	month := number(b[2:4])
	century := [...]int{1900, 2000, 2100, 2200, 1800}[month/20]
	if !isDay(century+number(b[:2]), month%20, number(b[4:6])) {
		return noSuchDay
	}
	return when(weighted(b, 1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)%10 != 0, wrongCheck)
}

func american(b []byte) *Fault {
	area := string(b[:3])
	return when(area == "000" || area == "666" || area >= "900" || string(b[3:5]) == "00" || string(b[5:]) == "0000", neverGiven)
}
