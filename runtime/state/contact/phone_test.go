package contact

import (
	"strings"
	"testing"
)

// Whatever way a number is written, it is one number.
func TestPhone(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"+4915155501990":                   "+4915155501990",
		" +49 151 555-01990\t":             "+4915155501990",
		"+49 (0)151/555 01990":             "+4915155501990",
		"+49(0) 151.555.01990":             "+4915155501990",
		"0049 151 55501990":                "+4915155501990",
		"00 49 (151) 55501990":             "+4915155501990",
		"+1 (201) 555-0123":                "+12015550123",
		"+44 (0)20 7946 0018":              "+442079460018",
		"+44 20 (0)7946 0018":              "+442079460018",
		"+39 (0)6 1234 5678":               "+390612345678", // Italy dials it
		"+378 (0)549 882914":               "+3780549882914",
		"\u202a+49\u00a0151\u202f55501990": "+4915155501990", // as telephones copy it
		"+49\u2013151\u201155501990\u202c": "+4915155501990",
		"\uff0b49 151 55501990":            "+4915155501990",
		"+1234567":                         "+1234567",
		"+123456789012345":                 "+123456789012345",
	} {
		if got, err := Phone(in); got != want || err != nil {
			t.Errorf("%q: %q %v, want %q", in, got, err, want)
		}
		if again, err := Phone(want); again != want || err != nil {
			t.Errorf("%q: %q %v the second time", want, again, err)
		}
	}
	for in, want := range map[string]error{
		"": ErrNational, "+": ErrLength, "0151 55501990": ErrNational, "15155501990": ErrNational, "(0)151 55501990": ErrNational,
		"+0151 55501990": ErrNational, "000151 55501990": ErrNational, "+(0)15155501990": ErrNational, "00": ErrLength,
		"+49 151 CALLME": ErrLetters, "+49 151 55501990 x2": ErrLetters, "tel:+4915155501990": ErrNational, "+49+15155501990": ErrLetters,
		"+49 151 55501990;ext=1": ErrLetters, "+49*15155501990": ErrLetters, "+49\x0015155501990": ErrLetters, "+49\u0661\u0665\u0661\u0665\u0665\u0665": ErrLetters,
		"+49\n15155501990": ErrLetters, "+123456": ErrLength, "+1234567890123456": ErrLength, "+\xff4915155501990": ErrLetters,
	} {
		if got, err := Phone(in); got != "" || err != want {
			t.Errorf("%q: %q %v, want %v", in, got, err, want)
		}
	}
}

// Spellings of one number have one key, and two numbers never do.
func TestFold(t *testing.T) {
	t.Parallel()
	for _, same := range [][2]string{
		{"+5215512345678", "+525512345678"},
		{"+5491123456789", "+541123456789"},
		{"+5541987654321", "+554187654321"},
		{"+5585967654321", "+558567654321"},
	} {
		if a, b := FoldPhone(same[0]), FoldPhone(same[1]); a != b {
			t.Errorf("%v: %s, %s", same, a, b)
		}
		if FoldPhone(FoldPhone(same[0])) != FoldPhone(same[0]) {
			t.Errorf("%v is folded twice", same)
		}
	}
	for _, n := range []string{
		"+525512345678", "+52155123456789", "+521551234567", "+541123456789", "+549112345678", "+5511987654321", "+5519987654321", "+5521987654321",
		"+5528987654321", "+554132654321", "+5541932654321", "+5541887654321", "+4915155501990", "+12015550123", "", "+", "+55", "5215512345678",
	} {
		if got := FoldPhone(n); got != n {
			t.Errorf("%s becomes %s", n, got)
		}
	}
	for area := 11; area <= 99; area++ {
		two := string(rune('0'+area/10)) + string(rune('0'+area%10))
		keeps := area <= 19 || area == 21 || area == 22 || area == 24 || area == 27 || area == 28
		long, short := "+55"+two+"987654321", "+55"+two+"87654321"
		if (FoldPhone(long) != FoldPhone(short)) != keeps {
			t.Errorf("area %s: %s and %s", two, FoldPhone(long), FoldPhone(short))
		}
	}
}

func TestTheOtherSpellingIsOfTheSameNumber(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"+5491123456789": "+541123456789", "+541123456789": "+5491123456789", "+5541987654321": "+554187654321", "+554187654321": "+5541987654321",
		"+5511987654321": "", "+551187654321": "", "+554132654321": "", "+5215512345678": "", "+4915155501990": "", "": "",
	} {
		if got := OtherPhone(in); got != want || got != "" && FoldPhone(got) != FoldPhone(in) {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

func FuzzPhone(f *testing.F) {
	for _, s := range []string{"+49 (0)151 555-01990", "0052 1 55 1234 5678", "+55 41 9 8765-4321", "+\xff", "(0)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := Phone(s)
		if err != nil {
			if n != "" {
				t.Fatal(n, err)
			}
			return
		}
		if again, err := Phone(n); again != n || err != nil || !strings.HasPrefix(n, "+") || len(n) < 8 || len(n) > 16 {
			t.Fatal(n, again, err)
		}
		if k := FoldPhone(n); FoldPhone(k) != k {
			t.Fatal(n, k)
		}
		if o := OtherPhone(n); o != "" && (FoldPhone(o) != FoldPhone(n) || OtherPhone(o) != n) {
			t.Fatal(n, o)
		}
	})
}
