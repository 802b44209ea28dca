package values

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed phones.txt
var phonesText string

// A numbering is how the telephone numbers of a country are made.
type numbering struct {
	code    string // the calling code
	lengths []int  // how many digits may follow the code
	prefix  string // what stands before a number inside the country
	pattern func() *regexp.Regexp
	put     string // what an expression puts in its place
}

type numberings struct {
	region map[string]*numbering
	code   map[string][]*numbering
}

var phones = sync.OnceValue(func() numberings {
	all := numberings{map[string]*numbering{}, map[string][]*numbering{}}
	lines(phonesText, func(f []string) {
		n := &numbering{code: f[1]}
		for part := range strings.SplitSeq(f[2], ",") {
			from, to, more := strings.Cut(part, "-")
			first, _ := strconv.Atoi(from)
			last := first
			if more {
				last, _ = strconv.Atoi(to)
			}
			for ; first <= last; first++ {
				n.lengths = append(n.lengths, first)
			}
		}
		if len(f) > 3 {
			n.prefix = f[3]
			if strings.Trim(n.prefix, "0123456789") != "" {
				n.pattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^(?:" + f[3] + ")") })
			}
		}
		if len(f) > 4 {
			n.put = f[4]
		}
		all.region[f[0]] = n // of 001 any: no number is written inside it
		all.code[n.code] = append(all.code[n.code], n)
	})
	return all
})

// IsCalled reports whether digits begin with the code of a country.
func IsCalled(digits string) bool {
	for n := 1; n <= min(3, len(digits)); n++ {
		if len(phones().code[digits[:n]]) > 0 {
			return true
		}
	}
	return false
}

// longestPhone is how many digits a number has at most, by E.164.
const longestPhone = 15

// Phone reads a telephone number: with + or 00 and its country first, or as it is written inside a
// country, which is a code of ISO 3166-1 or "". It is kept as E.164 has it: +442079460018.
//
// How many digits a country's numbers have is checked, and not whether a number is in use: numbers
// are given out faster than tables are read.
func Phone(text, country string) (string, error) {
	digits, abroad, f := dialled(text)
	if f != nil {
		return text, f
	}
	all := phones()
	if !abroad {
		home := all.region[country]
		if home == nil || country == "001" {
			return text, fault("its country is not said: a number begins with + and the country, as in +44 20 7946 0018")
		}
		number := home.national(digits)
		if f := fits(number, []*numbering{home}); f != nil {
			return text, f
		}
		return "+" + home.code + number, nil
	}
	for n := 1; n <= 3 && n < len(digits); n++ {
		regions := all.code[digits[:n]]
		if len(regions) == 0 {
			continue
		}
		// What is only written inside the country may stand behind its code as well: +44 (0)20 …,
		// +54 11 15 …, +52 1 55 ….
		number := regions[0].national(digits[n:])
		if f := fits(number, regions); f != nil {
			return text, f
		}
		if text[1:] == digits && number == digits[n:] {
			return text, nil
		}
		return "+" + digits[:n] + number, nil
	}
	return text, fault("no country has a code with which it begins").instead("its country has no such code")
}

// SamePhone reports whether two texts may be the same telephone number: each as E.164 has it, as it is
// written inside its country, or by its last ten digits. Where no country is said, each counts.
func SamePhone(a, b string) bool {
	if n := LastTen(a); n != "" && n == LastTen(b) {
		return true
	}
	x, y := PhoneNumbers(a), PhoneNumbers(b)
	return slices.ContainsFunc(x, func(n string) bool { return slices.Contains(y, n) })
}

// PhoneForms returns the forms in which a number may be kept: as it is written, as E.164 has it if its
// country is said, and by its last ten digits.
func PhoneForms(text string) []string {
	all, numbers := []string{text, LastTen(text)}, PhoneNumbers(text)
	for _, n := range numbers {
		if all = append(all, LastTen(n)); len(numbers) <= 2 {
			all = append(all, n, n[1:])
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// LastTen returns the last ten digits of a text.
func LastTen(text string) string {
	digits := onlyDigits(text)
	return digits[max(0, len(digits)-10):]
}

func onlyDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, text)
}

// PhoneNumbers returns the numbers, as E.164 has them, that a text may mean: one that begins with + or 00
// and a country, or those of every country inside which a number is written so, whose code it begins
// with, or whose numbers it may be the last ten digits of. What is no digit makes no difference.
func PhoneNumbers(text string) (all []string) {
	digits := onlyDigits(text)
	abroad := strings.HasPrefix(strings.TrimSpace(text), "+")
	if !abroad && strings.HasPrefix(digits, "00") {
		abroad, digits = true, digits[2:]
	}
	add := func(of *numbering, number string) {
		if slices.Contains(of.lengths, len(number)) {
			all = append(all, "+"+of.code+number)
		}
	}
	for n := 1; n <= 3 && n < len(digits); n++ {
		for _, of := range phones().code[digits[:n]] {
			add(of, of.national(digits[n:]))
		}
	}
	if abroad {
		return append(all, "+"+digits)
	}
	const last = 10
	for _, of := range phones().region {
		add(of, of.national(digits))
		for _, n := range of.lengths {
			if len(digits) == last && n < last && strings.HasSuffix(of.code, digits[:last-n]) {
				add(of, digits[last-n:])
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// dialled returns the digits of a number without the usual punctuation; abroad says that they begin
// with the country.
func dialled(text string) (digits string, abroad bool, f *Fault) {
	if len(text) > 4 && text[0] == '+' && strings.Trim(text[1:], "0123456789") == "" {
		return text[1:], true, nil // as it is kept
	}
	b := make([]byte, 0, 20)
	text = strings.TrimSpace(text)
	for i, r := range text {
		switch {
		case r >= '0' && r <= '9':
			b = append(b, byte(r))
		case r == '+' && i == 0:
			abroad = true
		case strings.ContainsRune(" -./()\u00a0\u202f\u2011", r):
		case lookAlike(r) != 0:
			return "", false, odd(r, len(b)+1)
		default:
			return "", false, fault("%q is no part of a telephone number", r).instead("it holds more than digits, and + and the usual marks between them")
		}
	}
	digits = string(b)
	if !abroad && strings.HasPrefix(digits, "00") {
		abroad, digits = true, digits[2:]
	}
	if len(digits) < 4 {
		return "", false, long(len(digits), "a telephone number", "has more").digits()
	}
	return digits, abroad, nil
}

// digits makes a fault count digits.
func (f *Fault) digits() *Fault {
	return fault("%s", strings.NewReplacer("characters", "digits", "character", "digit").Replace(f.says))
}

// national removes what stands before a number only inside its country.
func (n *numbering) national(digits string) string {
	if n.prefix == "" {
		return digits
	}
	short := strings.TrimPrefix(digits, n.prefix)
	if n.pattern != nil {
		at := n.pattern().FindStringSubmatchIndex(digits)
		if at == nil {
			return digits
		}
		short = digits[at[1]:]
		if n.put != "" && at[len(at)-1] >= 0 {
			short = string(n.pattern().ExpandString(nil, n.put, digits, at)) + short
		}
	}
	// Where the prefix may also begin a number, the digits decide.
	if !slices.Contains(n.lengths, len(short)) || n.prefix[0] != '0' && slices.Contains(n.lengths, len(digits)) && n.put == "" {
		return digits
	}
	return short
}

// fits reports a number with more or fewer digits than any of the countries that share a code has.
func fits(number string, all []*numbering) *Fault {
	n := all[0]
	var lengths []int
	for _, r := range all {
		if slices.Contains(r.lengths, len(number)) && len(n.code)+len(number) <= longestPhone {
			return nil
		}
	}
	for _, r := range all {
		lengths = append(lengths, r.lengths...)
	}
	slices.Sort(lengths)
	var says []string
	for i := 0; i < len(lengths); {
		j := i
		for j+1 < len(lengths) && lengths[j+1] <= lengths[j]+1 {
			j++
		}
		if last := min(lengths[j], longestPhone-len(n.code)); last > lengths[i] {
			says = append(says, fmt.Sprintf("%d to %d", lengths[i], last))
		} else {
			says = append(says, strconv.Itoa(lengths[i]))
		}
		i = j + 1
	}
	return long(len(number), "those of +"+n.code, "have "+strings.Join(says, " or ")+" after the country").
		digits().instead("it has more or fewer digits than the numbers of its country")
}
