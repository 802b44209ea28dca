package values_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"verbatim/verbs/values"
)

// rows returns the lines of a data file that are no comments.
func rows(t *testing.T, file string) (all []string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && line[0] != '#' {
			all = append(all, line)
		}
	}
	return all
}

// Each country's own example is an account, however it is set; with one digit changed, with 97 added
// to or taken from its check digits, or a character shorter or longer, it is none (G13).
func TestIBANsOfEachCountry(t *testing.T) {
	t.Parallel()
	all := rows(t, "ibans.txt")
	if len(all) != 89 {
		t.Errorf("%d countries", len(all))
	}
	for _, iban := range all {
		var print []string
		for rest := strings.ToLower(iban); rest != ""; {
			n := min(4, len(rest))
			print, rest = append(print, rest[:n]), rest[n:]
		}
		if got, err := values.IBAN(" " + strings.Join(print, " ")); got != iban || err != nil {
			t.Errorf("%s is read as %s: %v", iban, got, err)
		}
		last := iban[len(iban)-1]
		other := byte('A' + (last-'A'+1)%26)
		if last <= '9' {
			other = '0' + (last-'0'+1)%10
		}
		for _, wrong := range []string{iban[:len(iban)-1] + string(other), iban[:len(iban)-1], iban + "0", iban[:2] + "00" + iban[4:], iban[:2] + "01" + iban[4:], iban[:2] + "99" + iban[4:]} {
			if _, err := values.IBAN(wrong); err == nil {
				t.Errorf("%s is accepted", wrong)
			}
		}
	}
}

// Check digits are 98 less a remainder: 00, 01 and 99 leave the right remainder, and are never right
// (G13).
func TestCheckDigitsOfNobody(t *testing.T) {
	t.Parallel()
	tried := 0
	for account := range 97 {
		for check, twin := range map[string]string{"00": "97", "01": "98", "99": "02"} {
			number := "3704004405320130" + string(rune('0'+account/10)) + string(rune('0'+account%10))
			if _, err := values.IBAN("DE" + twin + number); err != nil {
				continue
			}
			tried++
			if _, err := values.IBAN("DE" + check + number); err == nil || !strings.Contains(err.Error(), "never less than 02") {
				t.Errorf("DE%s%s: %v", check, number, err)
			}
		}
	}
	if tried != 3 {
		t.Errorf("%d of 3 were tried", tried)
	}
}

// What a value is kept as, or why a text is none: one line each, with its kind first. The reason names
// the fault and its place; what may be told of a value that is not shown holds nothing of it.
func TestWrittenValues(t *testing.T) {
	t.Parallel()
	for _, line := range rows(t, "values.txt") {
		f := strings.SplitN(line, "|", 3)
		if len(f) != 3 {
			t.Fatal(line)
		}
		kind, country, _ := strings.Cut(f[0], " ")
		var got string
		var err error
		switch kind {
		case "iban":
			got, err = values.IBAN(f[1])
		case "bic":
			got, err = values.BIC(f[1])
		case "lei":
			got, err = values.LEI(f[1])
		case "email":
			got, err = values.Email(f[1])
		case "phone":
			got, err = values.Phone(f[1], country)
		case "id":
			got, err = values.NationalID(f[1], country)
		default:
			t.Fatal(line)
		}
		want, wrong := strings.CutPrefix(f[2], "! ")
		switch {
		case wrong && err == nil:
			t.Errorf("%s %q is accepted as %q", f[0], f[1], got)
		case wrong && err.Error() != want:
			t.Errorf("%s %q: %s", f[0], f[1], err)
		case wrong && got != f[1]:
			t.Errorf("%s %q: %q beside a fault", f[0], f[1], got)
		case wrong:
			safe := err.(*values.Fault).Safe()
			for word := range strings.FieldsSeq(f[1]) {
				if strings.Contains(safe, word) && len(word) > 2 {
					t.Errorf("%s %q is told: %s", f[0], f[1], safe)
				}
			}
		case err != nil:
			t.Errorf("%s %q: %v", f[0], f[1], err)
		case got != want:
			t.Errorf("%s %q is %q", f[0], f[1], got)
		default:
			// Canonical is canonical.
			again := ""
			switch kind {
			case "iban":
				again, err = values.IBAN(got)
			case "bic":
				again, err = values.BIC(got)
			case "lei":
				again, err = values.LEI(got)
			case "email":
				again, err = values.Email(got)
			case "phone":
				again, err = values.Phone(got, "")
			case "id":
				again, err = values.NationalID(got, country)
			}
			if again != got || err != nil {
				t.Errorf("%s %q is %q when it is read again: %v", f[0], got, again, err)
			}
		}
	}
}

// A number of each country is read as it is written there, and as it is written abroad.
func TestPhonesOfEachCountry(t *testing.T) {
	t.Parallel()
	for _, line := range rows(t, "phones.txt") {
		f := strings.Split(line, "|")
		for _, text := range []string{f[2], f[3], f[1]} {
			home := f[0]
			if got, err := values.Phone(text, home); got != f[1] || err != nil {
				t.Errorf("%s: %s is read as %s, not %s: %v", home, text, got, f[1], err)
			}
		}
		if _, err := values.Phone(f[2], ""); err == nil {
			t.Errorf("%s is read without its country", f[2])
		}
	}
}

// A currency that ended is known, with its last day; it is not among those in use.
func TestCurrencies(t *testing.T) {
	t.Parallel()
	all := strings.Join(values.Currencies(), " ")
	text, err := os.ReadFile("currencies.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) { // each of them is read as it stands there
		if f := strings.Fields(line); len(f) > 1 && f[0] != "#" {
			c, ok := values.CurrencyOf(f[0])
			if got := strings.TrimSpace(fmt.Sprint(c.Code, " ", c.Digits, " ", c.Ended, " ", c.Now)); !ok || got != strings.Join(f, " ") || strings.Contains(all, c.Code) != (c.Ended == "") {
				t.Errorf("%s is read as %s", line, got)
			}
		}
	}
	for _, code := range []string{"SLE", "XCG", "ZWG", "EUR"} {
		if c, ok := values.CurrencyOf(code); !ok || c.Ended != "" || !strings.Contains(all, code) {
			t.Errorf("%+v", c)
		}
	}
	for code, last := range map[string]string{"BGN": "2025-12-31", "HRK": "2022-12-31"} {
		if c, ok := values.CurrencyOf(code); !ok || c.Ended != last || c.Now != "EUR" || strings.Contains(all, code) {
			t.Errorf("%+v", c)
		}
	}
	if c, _ := values.CurrencyOf("BHD"); c.Digits != 3 {
		t.Errorf("%+v", c)
	}
}

// The number that stands for a country in messages is one of its own; the lines of values.txt have one
// that is right and one that is not.
func TestSamplesOfNumbers(t *testing.T) {
	t.Parallel()
	seen := map[string][2]bool{}
	for _, line := range rows(t, "values.txt") {
		f := strings.Split(line, "|")
		is := seen[f[0]]
		is[min(1, strings.Count(f[2], "! "))] = true
		seen[f[0]] = is
	}
	for _, country := range values.IDCountries() {
		if seen["id "+country] != [2]bool{true, true} {
			t.Errorf("%s: a number that is right, one that is not: %v", country, seen["id "+country])
		}
		_, sample := values.IDName(country)
		if _, err := values.NationalID(sample, country); err != nil || !values.IsCountry(country) {
			t.Errorf("%s: %s: %v", country, sample, err)
		}
	}
}

// Whatever is written, reading it ends, and what is accepted is accepted again.
func FuzzWritten(f *testing.F) {
	f.Add("DE89 3704 0044 0532 0130 00", "DE")
	f.Add("131052-308T", "FI")
	f.Add("+54 11 15-2345-6789", "AR")
	f.Add("０４", "001")
	f.Fuzz(func(t *testing.T, text, country string) {
		for _, read := range []func(string) (string, error){values.IBAN, values.BIC, values.LEI, values.Email,
			func(s string) (string, error) { return values.Phone(s, country) },
			func(s string) (string, error) { return values.NationalID(s, country) }} {
			if got, err := read(text); err == nil {
				if again, err := read(got); err != nil || again != got {
					t.Errorf("%q is %q, and that %q: %v", text, got, again, err)
				}
			}
		}
	})
}
