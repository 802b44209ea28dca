// Package values makes a value of a written text, for the types whose rule is more than a form:
// account numbers, codes of banks and companies, telephone numbers, addresses of mail, numbers that
// a state gives a person. Each is kept in one spelling.
//
//	values.IBAN("de89 3704 0044 0532 0130 00")  // DE89370400440532013000
//	values.IBAN("DE88370400440532013000")       // its check digits do not fit the rest: …
//
// The facts of others (countries, lengths, calling codes, currencies) are the data files beside the
// code, each with its source and its date. They are read when they are first needed.
package values

import (
	"fmt"
	"strings"
	"unicode"
)

// A Fault is the reason why a text is no value of a type. It is half a sentence, which goes on after
// what the text is called: "it has 21 characters, and those of DE have 22".
type Fault struct {
	says string
	safe string // as says, and nothing of the text is in it
}

func (f *Fault) Error() string { return f.says }

// Safe returns the reason without any part of the text, for values that are not shown.
func (f *Fault) Safe() string { return f.safe }

func fault(format string, args ...any) *Fault {
	says := fmt.Sprintf(format, args...)
	return &Fault{says, says}
}

// instead sets what is said of a value that is not shown.
func (f *Fault) instead(safe string) *Fault {
	f.safe = safe
	return f
}

// kept returns a code as it is kept, in capitals and without spaces, if a check finds no fault in it.
func kept(text string, check func([]byte) *Fault) (string, error) {
	b, f := compact(text)
	if f == nil {
		f = check(b)
	}
	if f != nil {
		return text, f
	}
	return string(b), nil
}

// compact returns the letters and digits of a text, in capitals, without the spaces and hyphens that
// people put between them. Any other character is a fault, which names what it may be meant for.
func compact(text string) ([]byte, *Fault) {
	b := make([]byte, 0, len(text))
	for _, r := range text {
		switch {
		case r >= '0' && r <= '9', r >= 'A' && r <= 'Z':
			b = append(b, byte(r))
		case r >= 'a' && r <= 'z':
			b = append(b, byte(r-'a'+'A'))
		case r == ' ' || r == '\u00a0' || r == '\u202f' || r == '-':
		default:
			return nil, odd(r, len(b)+1)
		}
	}
	if len(b) == 0 {
		return nil, fault("nothing is written")
	}
	return b, nil
}

// odd says what is wrong with a character that is neither a letter from A to Z nor a digit. Places
// are counted without spaces.
func odd(r rune, at int) *Fault {
	safe := fmt.Sprintf("character %d is neither a letter from A to Z nor a digit", at)
	script := ""
	switch {
	case unicode.Is(unicode.Cyrillic, r):
		script = "a Cyrillic letter"
	case unicode.Is(unicode.Greek, r):
		script = "a Greek letter"
	case r >= '！' && r <= '～':
		script = "a full-width character"
	case unicode.IsDigit(r):
		script = "a digit of another script"
	case !unicode.IsPrint(r):
		return fault("character %d cannot be seen (%U): type it again", at, r).instead(safe + ", and cannot be seen: type it again")
	default:
		return fault("%q, character %d, is neither a letter from A to Z nor a digit", r, at).instead(safe)
	}
	if like := lookAlike(r); like != 0 {
		return fault("%q, character %d, is %s, and only looks like %c: type it again", r, at, script, like).instead(safe + ", and only looks like one: type it again")
	}
	return fault("%q, character %d, is %s", r, at, script).instead(safe)
}

// lookAlike returns the capital letter or digit that a character of another script looks like, 0 if
// none.
func lookAlike(r rune) rune {
	if r >= '！' && r <= '～' {
		return unicode.ToUpper(r - '！' + '!')
	}
	const from, to = "АВЕКМНОРСТУХІЈЅЗаеорсухіјѕАΑΒΕΖΗΙΚΜΝΟΡΤΥΧο", "ABEKMHOPCTYXIJS3AEOPCYXIJSAABEZHIKMNOPTYXO"
	i := 0
	for _, c := range from {
		if c == r {
			return rune(to[i])
		}
		i++
	}
	return 0
}

// The classes of characters in a structure.
const (
	digit        = 'n'
	capital      = 'a'
	alphanumeric = 'c'
)

// of reports a character that is of another class than its place has: a letter where a digit belongs,
// or the other way round. at is the place of the first character.
func of(class byte, b []byte, at int) *Fault {
	for i, c := range b {
		isDigit := c <= '9'
		if class == alphanumeric || isDigit == (class == digit) {
			continue
		}
		is, belongs := "a letter", "a digit"
		if isDigit {
			is, belongs = belongs, is
		}
		safe := fmt.Sprintf("character %d is %s, and %s belongs there", at+i, is, belongs)
		f := fault("%c, character %d, is %s, and %s belongs there", c, at+i, is, belongs)
		if i := strings.IndexByte("OILSBZ01580", c); i >= 0 && (i < 6) != isDigit {
			f = fault("%s: is %c meant?", f.says, "011582OISBO"[i])
		}
		return f.instead(safe)
	}
	return nil
}

// mod97 is the remainder by 97 of the number that ISO 7064 makes of letters and digits.
func mod97(parts ...[]byte) (rest int) {
	for _, part := range parts {
		for _, c := range part {
			if c <= '9' {
				rest = (rest*10 + int(c-'0')) % 97
			} else {
				rest = (rest*100 + int(c-'A') + 10) % 97
			}
		}
	}
	return rest
}

// checkDigits verifies two check digits of ISO 7064, mod 97-10. They are 98 less a remainder, so that
// 00, 01 and 99 are never right, though they leave the same remainder as 97, 98 and 02.
func checkDigits(digits []byte, parts ...[]byte) *Fault {
	if d := string(digits); d < "02" || d > "98" {
		return fault("its check digits are %s, and they are never less than 02 nor more than 98", d).instead("its check digits are none: those are 02 to 98")
	}
	if mod97(parts...) != 1 {
		return fault("its check digits do not fit the rest: a character is wrong, or two have changed places")
	}
	return nil
}

// long says that a text has another number of characters than it has to have.
func long(has int, what, want string) *Fault {
	unit := "characters"
	if has == 1 {
		unit = "character"
	}
	return fault("it has %d %s, and %s %s", has, unit, what, want)
}

// lines calls a function with the fields of each line of a data file.
func lines(file string, each func(f []string)) {
	for line := range strings.Lines(file) {
		if f := strings.Fields(line); len(f) > 0 && !strings.HasPrefix(f[0], "#") {
			each(f)
		}
	}
}

// countries are the codes of ISO 3166-1, and XK, which banks use for Kosovo. Source: the iso-codes
// project of Debian, 4.18; ISO has assigned and withdrawn none since South Sudan (2011).
const countries = " AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ " +
	"CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD " +
	"GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM " +
	"KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA " +
	"NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ " +
	"SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU " +
	"WF WS XK YE YT ZA ZM ZW "

// IsCountry reports whether a text is the code of a country: two capital letters of ISO 3166-1.
func IsCountry(code string) bool {
	return len(code) == 2 && code[0] != ' ' && code[1] != ' ' && strings.Contains(countries, " "+code+" ")
}
