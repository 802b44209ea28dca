package values

import (
	_ "embed"
	"strconv"
	"sync"
)

//go:embed ibans.txt
var ibansText string

// A bban is the structure of an account number in one country.
type bban struct {
	parts   []run
	length  int    // of the whole IBAN
	instead string // the country whose IBANs are used; then there is nothing else
}

// A run is a number of characters of one class.
type run struct {
	n     int
	class byte
}

var ibans = sync.OnceValue(func() map[string]bban {
	all := make(map[string]bban)
	lines(ibansText, func(f []string) {
		if f[1] == ">" {
			all[f[0]] = bban{instead: f[2]}
			return
		}
		b := bban{length: 4}
		for at := 0; at < len(f[1]); {
			end := at
			for f[1][end] != '!' {
				end++
			}
			n, _ := strconv.Atoi(f[1][at:end])
			b.parts = append(b.parts, run{n, f[1][end+1]})
			b.length += n
			at = end + 2
		}
		all[f[0]] = b
	})
	return all
})

// IBANLength returns how many characters the IBANs of a country have, 0 if it has none. The code is
// in capitals.
func IBANLength(country string) int { return ibans()[country].length }

// IBAN reads an International Bank Account Number (ISO 13616). It is kept in capitals, without spaces.
func IBAN(text string) (string, error) { return kept(text, checkIBAN) }

func checkIBAN(b []byte) *Fault {
	if len(b) < 4 {
		return long(len(b), "an IBAN", "begins with two letters and two digits, and goes on for 11 to 29 more")
	}
	if f := of(capital, b[:2], 1); f != nil {
		return f
	}
	country := string(b[:2])
	is, known := ibans()[country]
	switch {
	case is.instead != "":
		return fault("accounts in %s have IBANs that begin with %s", country, is.instead).instead("accounts in this country have IBANs of another one")
	case !known && IsCountry(country):
		return fault("%s has no IBANs (SWIFT's registry, release 100)", country).instead("its country has no IBANs (SWIFT's registry, release 100)")
	case !known:
		return fault("%s is no country", country).instead("it does not begin with a country")
	}
	if len(b) != is.length {
		return long(len(b), "those of "+country, "have "+strconv.Itoa(is.length)).instead(long(len(b), "those of its country", "have "+strconv.Itoa(is.length)).says)
	}
	if f := of(digit, b[2:4], 3); f != nil {
		return f
	}
	at := 4
	for _, p := range is.parts {
		if f := of(p.class, b[at:at+p.n], at+1); f != nil {
			return f
		}
		at += p.n
	}
	return checkDigits(b[2:4], b[4:], b[:4])
}
