package contact

import (
	"strings"
	"testing"
)

// One mailbox has one spelling, and two mailboxes never have the same.
func TestMailKeepsMailboxesApart(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"ada@umza.example":                        "ada@umza.example",
		" Ada@UMZA.Example ":                      "ada@umza.example",
		"ada@umza.example.":                       "ada@umza.example",
		"ada+bills@umza.example":                  "ada+bills@umza.example",
		`"ada"@umza.example`:                      "ada@umza.example",
		`"a b"@umza.example`:                      `"a b"@umza.example`,
		`"a\"b"@umza.example`:                     `"a\"b"@umza.example`,
		`"a@b"@umza.example`:                      `"a@b"@umza.example`,
		`"a(b)"@umza.example`:                     `"a(b)"@umza.example`,
		"ada(the one)@umza.example":               "ada@umza.example",
		"ada@umza.example (Ada (really))":         "ada@umza.example",
		"ada@müller.example":                      "ada@xn--mller-kva.example",
		"ada@MÜLLER.example":                      "ada@xn--mller-kva.example",
		"ada@xn--mller-kva.example":               "ada@xn--mller-kva.example",
		"ada@umz\u0430.example":                   "ada@xn--umz-8cd.example", // a Cyrillic letter
		"ada@ｕｍｚａ.example":                        "ada@umza.example",
		"ÄDA@umza.example":                        "äda@umza.example",
		"a\u0308da@umza.example":                  "äda@umza.example",
		"\u0430da@umza.example":                   "\u0430da@umza.example", // a Cyrillic letter
		"ada@münchen.example (x) ":                "ada@xn--mnchen-3ya.example",
		"":                                        "",
		"ada":                                     "",
		"@umza.example":                           "",
		"ada@":                                    "",
		"ada@umza..example":                       "",
		"ada@umza.example..":                      "",
		"ada@.umza.example":                       "",
		"ada@[192.0.2.1]":                         "",
		"ada@um za.example":                       "",
		"ada@umza_.example":                       "",
		"ada@bob@umza.example":                    "",
		"ada@umza.example, bob@umza.example":      "",
		"Ada <ada@umza.example>":                  "",
		"<ada@umza.example>":                      "",
		"us: ada@umza.example;":                   "",
		"ada(@umza.example":                       "",
		"ada)@umza.example":                       "",
		`"ada@umza.example`:                       "",
		"ada\r\nBcc: eve@umza.example":            "",
		"\"a\tb\"@umza.example":                   "",
		"ada@.":                                   "",
		"a\x00da@umza.example":                    "",
		"\u212Aing@umza.example":                  "", // the sign of Kelvin, which is a K in other forms
		"\u0130da@umza.example":                   "", // a Turkish letter that is an i in lower case
		"a\xffda@umza.example":                    "",
		strings.Repeat("a", 320) + "@b.example":   "",
		"ada@" + strings.Repeat("a.", 127) + "aa": "",
	} {
		got, err := Mail(address)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%q is %q, %v, want %q", address, got, err, want)
		}
		if again, err := Mail(got); got != "" && (again != got || err != nil) {
			t.Errorf("%q is %q, %v the second time", got, again, err)
		}
	}
}

// FuzzMail looks for addresses that have two spellings.
func FuzzMail(f *testing.F) {
	for _, s := range []string{"ada@umza.example", `"a b"@x.example`, "a(b)@c.d", "ä@ö.example", "a@b."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once, err := Mail(s)
		if err != nil {
			return
		}
		if again, err := Mail(once); err != nil || again != once || strings.ContainsAny(once, "\r\n\x00") {
			t.Fatalf("%q is %q and then %q, %v", s, once, again, err)
		}
	})
}

// Comments and quotes say nothing of what stands outside of them.
func TestCommentsAreLeftOut(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"a (b (c) d) e": {"a    e", "a  e"},
		`a "b;c" d`:     {`a "" d`, `a "b;c" d`},
		`a "b\"c" d`:    {`a "" d`, `a "b\"c" d`},
		`(a \) b) c`:    {"  c", " c"},
		`(a "b) c`:      {"  c", " c"},
		`"(a" b`:        {`"" b`, `"(a" b`},
		`a \ b`:         {`a \ b`, `a \ b`},
		"a (b":          {},
		"a) b":          {},
		`a "b`:          {},
		`a "b\`:         {},
		"a (b) c) (d":   {},
	} {
		for i, unquoted := range []bool{true, false} {
			got, ok := Uncommented(text, unquoted)
			if ok != (want[i] != "") || ok && got != want[i] {
				t.Errorf("%s is %q, %v, want %q", text, got, ok, want[i])
			}
		}
	}
}
