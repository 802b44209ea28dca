// Package contact spells addresses of mail and telephone numbers in one way, so that people are
// known by them exactly.
//
//	n, err := contact.Phone("+49 (0)151 555-01990")  // "+4915155501990"
//	m, err := contact.Mail("Ada@Müller.example")     // "ada@xn--mller-kva.example"
//	contact.FoldPhone("+5215512345678") == contact.FoldPhone("+525512345678")
//
// A number is kept as Phone spells it, and two are compared by FoldPhone. A number without its
// country is refused: which country is meant would be a guess, and who a person is must not
// rest on one.
package contact

import (
	"errors"
	"strings"
	"unicode"
)

// Errors of Phone. They do not repeat the number.
var (
	ErrNational = errors.New("a phone number begins with + and the country, such as +49 151 55501990")
	ErrLetters  = errors.New("a phone number holds only digits after the +, and spaces, brackets, dots, slashes or dashes between them")
	ErrLength   = errors.New("a phone number has 7 to 15 digits, with its country")
)

// Phone spells a number as E.164 does, "+4915155501990".
func Phone(number string) (string, error) {
	var b strings.Builder
	// People write (0) for a digit to leave out when they call from abroad. Italy and San
	// Marino alone dial it.
	const trunk = "(0)"
	rest := strings.TrimSpace(strings.Map(drop, number))
	switch {
	case strings.HasPrefix(rest, "+"):
		rest = rest[1:]
	case strings.HasPrefix(rest, "00"):
		rest = rest[2:]
	default:
		return "", ErrNational
	}
	for rest != "" {
		if strings.HasPrefix(rest, trunk) && b.Len() > 0 && b.String() != "39" && b.String() != "378" {
			rest = rest[len(trunk):]
			continue
		}
		c := rest[0]
		switch {
		case c >= '0' && c <= '9':
			b.WriteByte(c)
		case !strings.ContainsRune(" ()-./", rune(c)):
			return "", ErrLetters
		}
		rest = rest[1:]
	}
	digits := b.String()
	switch {
	case len(digits) < 7 || len(digits) > 15:
		return "", ErrLength
	case digits[0] == '0':
		return "", ErrNational
	}
	return "+" + digits, nil
}

// drop turns the spaces and dashes of all alphabets into " " and "-", and removes invisible marks,
// which are copied along with a number from a telephone.
func drop(r rune) rune {
	switch {
	case r == '\uff0b': // a wide +
		return '+'
	case unicode.Is(unicode.Cf, r):
		return -1
	case unicode.Is(unicode.Pd, r):
		return '-'
	case r == '\t' || unicode.Is(unicode.Zs, r):
		return ' '
	}
	return r
}

// ninth are the areas of Brazil whose ids always have the ninth digit; ids of other areas may be
// older than that digit.
const ninth = " 11 12 13 14 15 16 17 18 19 21 22 24 27 28 "

// FoldPhone returns one key for all spellings of a number in the form of Phone. Mexico and Argentina
// have a digit for mobile phones that some networks add, and Brazil a ninth digit.
func FoldPhone(number string) string {
	n := number
	switch {
	case len(n) == 14 && strings.HasPrefix(n, "+521"):
		return "+52" + n[4:]
	case len(n) == 14 && strings.HasPrefix(n, "+549"):
		return "+54" + n[4:]
	// A mobile number of eight digits began with 6 to 9. A number that begins with less after the
	// ninth digit is removed is a landline of somebody else.
	case len(n) == 14 && strings.HasPrefix(n, "+55") && n[5] == '9' && n[6] >= '6' && !always(n):
		return n[:5] + n[6:]
	}
	return n
}

func always(n string) bool { return strings.Contains(ninth, " "+n[3:5]+" ") }

// OtherPhone returns the other spelling of a number, under which a network may know it, or "". It is
// for Argentina and Brazil, where a message to the first spelling may not arrive.
func OtherPhone(number string) string {
	n := number
	switch {
	case len(n) == 14 && FoldPhone(n) != n && n[:4] != "+521":
		return FoldPhone(n)
	case len(n) == 13 && strings.HasPrefix(n, "+54"):
		return "+549" + n[3:]
	case len(n) == 13 && strings.HasPrefix(n, "+55") && n[5] >= '6' && !always(n):
		return n[:5] + "9" + n[5:]
	}
	return ""
}
