package guard

import "strings"

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
			fits = (k == 0 || k == 1 && g.upto[0] == 4) && isAustrian(d)
		case 11:
			fits = isGerman(d) || k == 0 && isPolish(d) || (k == 0 || k >= 2) && isBelgian(d)
		case 13:
			fits = string(d[:3]) == "756" && checked(d, 10, 1, 3) || d[0] <= '3' && value(d[:10])%511 == value(d[10:])
		case 15:
			fits = (d[0] == '1' || d[0] == '2') && 97-value(d[:13])%97 == value(d[13:])
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

func isSSN(d []byte) bool {
	area := string(d[:3])
	return area != "000" && area != "666" && area < "900" && string(d[3:5]) != "00" && string(d[5:9]) != "0000"
}

func isITIN(d []byte) bool {
	group := string(d[3:5])
	return d[0] == '9' && (group >= "50" && group <= "65" || group >= "70" && group <= "88" || group >= "90" && group != "93")
}

// isGerman checks a Steuer-ID: one of its first ten digits is there twice or three
// times, the others once, and ISO 7064 makes the last.
func isGerman(d []byte) bool {
	var counts [10]int
	product := 10
	for _, c := range d[:10] {
		counts[c-'0']++
		sum := (int(c-'0') + product) % 10
		if sum == 0 {
			sum = 10
		}
		product = sum * 2 % 11
	}
	repeated := 0
	for _, n := range counts {
		if n > 3 {
			return false
		}
		if n > 1 {
			repeated++
		}
	}
	return d[0] != '0' && repeated == 1 && (11-product)%10 == int(d[10]-'0')
}

// isPolish checks a PESEL: a date, whose month tells the century, and a check digit.
func isPolish(d []byte) bool {
	m := value(d[2:4]) % 20
	return m >= 1 && m <= 12 && valid(2000, m, value(d[4:6])) && checked(d, 10, 1, 3, 7, 9)
}

// isBelgian checks a national number: a date, and what remains after division by 97.
func isBelgian(d []byte) bool {
	if value(d[2:4]) > 12 || value(d[4:6]) > 31 {
		return false
	}
	check := value(d[9:])
	return 97-value(d[:9])%97 == check || 97-(2_000_000_000+value(d[:9]))%97 == check
}

// isAustrian checks a number of social insurance, which ends with a date.
func isAustrian(d []byte) bool {
	sum := 0
	for i, weight := range []int{3, 7, 9, 0, 5, 8, 4, 2, 1, 6} {
		sum += weight * int(d[i]-'0')
	}
	return d[0] != '0' && sum%11 == int(d[3]-'0') && value(d[6:8]) <= 15 && valid(2000, max(1, value(d[6:8])%13), value(d[4:6]))
}

// checked reports whether the last digit makes the weighted sum a multiple.
func checked(d []byte, of int, weights ...int) bool {
	sum := int(d[len(d)-1] - '0')
	for i, c := range d[:len(d)-1] {
		sum += weights[i%len(weights)] * int(c-'0')
	}
	return sum%of == 0
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
	if text, to := v.compact(i, 9); text != "" && !v.word(to) {
		body, last := text[:8], text[8]
		if c := body[0]; c >= 'x' && c <= 'z' {
			body = string('0'+c-'x') + body[1:]
		}
		switch d := []byte(body); {
		case allDigits(body) && isLower(last):
			if last == "trwagmyfpdxbnjzsqvhlcke"[value(d)%23] {
				return to
			}
		case isLower(text[0]) && isLower(text[1]) && allDigits(text[2:8]) && last >= 'a' && last <= 'd':
			pair := text[:2]
			if strings.IndexByte("dfiuv", pair[0]) < 0 && strings.IndexByte("dfiouv", pair[1]) < 0 && !strings.Contains("bg gb kn nk nt tn zz", pair) {
				return to
			}
		}
	}
	if text, to := v.compact(i, 16); text != "" && !v.word(to) && isItalian(text) {
		return to
	}
	return 0
}

func allDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return true
}

// isItalian checks a codice fiscale: its form, and its last letter.
func isItalian(text string) bool {
	odd := [26]int{1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23}
	sum := 0
	for i := range 15 {
		c := text[i]
		if ("aaaaaa00a00a000"[i] == 'a') != isLower(c) {
			return false
		}
		n := int(c - '0')
		if isLower(c) {
			n = int(c - 'a')
		}
		if i%2 == 0 {
			n = odd[n]
		}
		sum += n
	}
	return text[15] == 'a'+byte(sum%26)
}
