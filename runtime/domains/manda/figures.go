package manda

import (
	"math/big"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Figure is a number that a text states, in whole units: €5.2m is 5 200 000 EUR.
type Figure struct {
	Value *big.Rat
	Step  *big.Rat // the place value of the last digit: 100 000 in €5.2m
	Unit  string   // EUR, USD and so on, or % or pp; "" if the text states none
	Text  string   // as written
	at    int      // position in the text
	end   int

	scaled bool // its scale is known
}

// A measure is the unit and scale that a text states for its figures: €m is a million of EUR.
type measure struct {
	unit  string
	scale int64 // 0 if none is stated
	// pieces says that numbers of shares are not in this scale.
	pieces bool
}

var currencies = map[string]string{"€": "EUR", "eur": "EUR", "euro": "EUR", "euros": "EUR", "$": "USD", "us$": "USD", "usd": "USD", "£": "GBP", "gbp": "GBP", "chf": "CHF", "sfr": "CHF", "pln": "PLN", "zł": "PLN", "czk": "CZK", "sek": "SEK", "dkk": "DKK", "nok": "NOK", "huf": "HUF", "ron": "RON", "rmb": "CNY", "cny": "CNY", "¥": "JPY", "jpy": "JPY", "nt$": "TWD", "s$": "SGD", "hk$": "HKD", "a$": "AUD", "aud": "AUD", "c$": "CAD", "cad": "CAD", "₹": "INR", "rs": "INR", "inr": "INR", "dollar": "USD", "dollars": "USD"}

var scales = map[string]int64{
	"k": 1e3, "t": 1e3, "tsd": 1e3, "tausend": 1e3, "thousand": 1e3, "thousands": 1e3, "'000": 1e3, "’000": 1e3, "000": 1e3, "000s": 1e3, "'000s": 1e3, "millier": 1e3, "milliers": 1e3, "mille": 1e3,
	"m": 1e6, "mn": 1e6, "mln": 1e6, "mio": 1e6, "million": 1e6, "millions": 1e6, "millionen": 1e6,
	"bn": 1e9, "b": 1e9, "mrd": 1e9, "md": 1e9, "mds": 1e9, "billion": 1e9, "billions": 1e9, "trillion": 1e12, "trillions": 1e12, "milliarde": 1e9, "milliarden": 1e9, "milliard": 1e9, "milliards": 1e9,
}

var percents = map[string]string{"%": "%", "percent": "%", "prozent": "%", "pct": "%", "pp": "pp", "ppt": "pp", "prozentpunkte": "pp", "points": "pp"}

// unitOf returns the unit and scale in one word: €, €m, TEUR, Mio, k€, %.
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
				return measure{unit: unit, scale: n}, true
			}
		}
		if rest, is := strings.CutPrefix(word, sign); is {
			if n, is := scales[strings.TrimLeft(rest, "'’")]; is {
				return measure{unit: unit, scale: n}, true
			}
		}
	}
	return measure{}, false
}

var unitWords = pattern(`[\p{L}€$£%'’]+(?:000s?)?[€$£]?|[€$£]?000s?\b`)

// measureOf returns the unit and scale that a heading, a label or a caption states for its figures:
// "Revenue (€m)", "in thousands of euros". A letter counts only beside a currency or after "in".
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
	dotted   = pattern(`(?:^|[^\d.,])\d{1,3}(?:\.\d{3})+(?:[^\d.,]|$)`)
	grouped3 = pattern(`(?:^|[^\d.,])\d{1,3}(?:,\d{3})+(?:[^\d,]|$)`)
)

// fewDotted is how many numbers a text without decimals has to write like 545.960 to write thousands so.
const fewDotted = 2

// commas reports whether a text writes 5,2 for five and two tenths. One without tenths does if it writes
// thousands with a point, and none with a comma.
func commas(text string) bool {
	half, part := len(someHalf.re().FindAllString(text, 50)), len(somePart.re().FindAllString(text, 50))
	if half == part {
		return len(dotted.re().FindAllString(text, 50)) >= fewDotted && part == 0 && grouped3.re().FindString(text) == ""
	}
	return half > part
}

// number reads a number that the pattern digits matched. Step is the place value of its last
// digit.
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
	beforeNumber = pattern(`(?i)(?:^|[^\p{L}])([tk]?€[mk]?|(?:us|nt|hk|s|a|c)\$|[$£¥₹]|rmb|rs\.?|[tk]?(?:eur|usd|gbp|chf|pln|czk|sek|dkk|nok|huf|ron|inr|cny|jpy|aud|cad))[ \x{a0}]?(?:mio\.? ?|m |k )?$`)
	behindNumber = pattern(`(?i)^[ \x{a0}\x{202f}]?(?:([\p{L}€$£%]+\.?)(?:[ \x{a0}\x{202f}](?:d['’])?([\p{L}€$£]+)|['’]([\p{L}]+))?)`)
)

// figures returns the numbers of a text in order, without those in words, dates or periods. blank
// reports the positions of periods and dates.
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
		if n := len(all); n > 0 { // 1,250 $ 980: the sign stands behind one and before the other
			f.at = max(f.at, all[n-1].end)
		}
		f.scale(scale)
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

// numbered matches the text before a number that is a name: ISO 9001, GR-07, clause 21.
var numbered = pattern(`(?:\pL-|(?:^|[^\p{L}])(?:ISO|IFRS|IAS|DIN|EN|HGB|No\.?|Nr\.?|§|Art\.?|[Cc]lause|[Ss]ection|[Pp]age|Seite|[Cc]hapter|[Tt]able|Tabelle|[Aa]nnex|[Nn]ote|KW|[Ww]eeks?|Ziffer|article|tableau) ?)$`)

// partOfWord reports whether a number is part of the surrounding text: Q3, v2, 3rd, 12.05, 10:30.
func partOfWord(before, behind string) bool {
	if r, n := utf8.DecodeLastRuneInString(before); n > 0 && (unicode.IsLetter(r) || r == '_' || r == '#' || r == '/' || r == ':') {
		return !beforeNumber.re().MatchString(before)
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

// shown writes a number as an exact decimal.
func shown(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	s := r.FloatString(12)
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}
