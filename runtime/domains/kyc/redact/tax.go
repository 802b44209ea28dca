package redact

import (
	"strings"

	"verbatim/verbs/values"
)

// certain finds the numbers of persons that identify themselves: a social security number by its
// groups, and the numbers whose check digits leave little to chance.
func (g *digits) certain() (Kind, int) {
	if end, ok := g.shaped(3, 2, 4); ok && g.sep[1] == g.sep[2] && strings.IndexByte(" -.", g.sep[1]) >= 0 {
		switch {
		case isSSN(g.d):
			return SSN, end
		case isITIN(g.d):
			return Tax, end
		}
	}
	for k := min(len(g.ends), 8) - 1; k >= 0; k-- {
		d := g.d[:g.upto[k]]
		fits := false
		switch len(d) {
		case 10:
			fits = (k == 0 || k == 1 && g.upto[0] == 4) && isOf("AT", d)
		case 11:
			fits = isOf("DE", d) || k == 0 && isOf("PL", d) || (k == 0 || k >= 2) && isOf("BE", d)
		case 13:
			fits = isOf("CH", d) || d[0] <= '3' && value(d[:10])%511 == value(d[10:])
		case 15:
			fits = isOf("FR", d)
		}
		if fits {
			return Tax, g.ends[k]
		}
	}
	return "", 0
}

// labelled finds the numbers that only a word beside them tells from others, and nine
// digits alone, which are a social security number unless a word says otherwise.
func (l *looker) labelled(i int, g *digits) (Kind, int) {
	if len(g.d) < 8 {
		return "", 0
	}
	said := l.before(i)
	if said == otherLabel || said == dobLabel || l.after(g.ends[0], moneyLabel, 1) {
		return "", 0
	}
	if end, ok := g.shaped(2, 7); ok && g.sep[1] == '-' && said != phoneLabel && !strings.Contains("00 07 08 09 17 18 19 28 29 49 69 70 78 79 89 96 97", string(g.d[:2])) {
		return Tax, end
	}
	if said == taxLabel || said == ssnLabel {
		for k := len(g.ends) - 1; k >= 0; k-- {
			if n := g.upto[k]; n >= 8 && n <= 13 {
				if said == ssnLabel && n == 9 {
					return SSN, g.ends[k]
				}
				return Tax, g.ends[k]
			}
		}
	}
	if g.upto[0] == 9 && isSSN(g.d) {
		return SSN, g.ends[0]
	}
	return "", 0
}

// isOf reports whether digits or letters are the number that a country gives a person.
func isOf[T string | []byte](country string, number T) bool {
	_, err := values.NationalID(string(number), country)
	return err == nil
}

func isSSN(d []byte) bool { return isOf("US", d[:9]) }

func isITIN(d []byte) bool {
	group := string(d[3:5])
	return d[0] == '9' && (group >= "50" && group <= "65" || group >= "70" && group <= "88" || group >= "90" && group != "93")
}

func value(d []byte) (n int) {
	for _, c := range d {
		n = n*10 + int(c-'0')
	}
	return
}

// taxLetters returns the end of a tax id with letters that starts with a cell, or 0: a Spanish NIF
// or NIE, a British NINO or an Italian codice fiscale.
func (v *view) taxLetters(i int) int {
	if text, to := v.compact(i, 9); text != "" && !v.word(to) && (isOf("ES", text) || isOf("GB", text)) {
		return to
	}
	if text, to := v.compact(i, 16); text != "" && !v.word(to) && isOf("IT", text) {
		return to
	}
	return 0
}
