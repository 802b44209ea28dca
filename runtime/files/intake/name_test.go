package intake

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestHarmless(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Thomas_Mueller_Passport.pdf":       "Thomas_Mueller_Passport.pdf",
		"Thomas Müller – Reisepass (2).PDF": "Thomas Müller – Reisepass (2).PDF",
		"身份证.jpg":                           "身份证.jpg",
		"../../etc/passwd":                  "passwd",
		`C:\Users\clara\pass.pdf`:           "pass.pdf",
		"/":                                 "file",
		"":                                  "file",
		"...":                               "file",
		".htaccess":                         "htaccess",
		"-rf":                               "rf",
		"a\x00b.pdf":                        "a b.pdf",
		"a\r\nSet-Cookie: x.pdf":            "a Set-Cookie_ x.pdf",
		"\x1b[31mred.pdf":                   "[31mred.pdf",
		"invoice\u202efdp.exe":              "invoicefdp.exe", // it read invoiceexe.pdf
		"\u2066hidden\u2069.pdf":            "hidden.pdf",
		"zero\u200bwidth.pdf":               "zerowidth.pdf",
		"two\u2028lines.pdf":                "two lines.pdf",
		"bad\xff\xfebytes.pdf":              "badbytes.pdf",
		"con<>:\"|?*`.txt":                  "con________.txt",
		"trailing. . ":                      "trailing",
		strings.Repeat("ä", 300) + ".pdf":   strings.Repeat("ä", 116) + ".pdf",
		strings.Repeat("x", 300):            strings.Repeat("x", 120),
	} {
		if got := Harmless(name); got != want {
			t.Errorf("%q: %q, not %q", name, got, want)
		}
	}
}

func FuzzHarmless(f *testing.F) {
	f.Add("Passport.pdf")
	f.Add("..\\\u202e/x\x00.exe")
	f.Add(strings.Repeat(". -", 80) + ".pdf")
	f.Fuzz(func(t *testing.T, name string) {
		got := Harmless(name)
		if got == "" || !utf8.ValidString(got) || utf8.RuneCountInString(got) > maxName || got != Harmless(got) {
			t.Fatalf("%q: %q, then %q", name, got, Harmless(got))
		}
		for _, r := range got {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || strings.ContainsRune(`/\<>:"|?*`, r) || unicode.IsSpace(r) && r != ' ' {
				t.Fatalf("%q keeps %U", got, r)
			}
		}
		if strings.HasPrefix(got, ".") || strings.HasPrefix(got, "-") || strings.HasSuffix(got, ".") || got != strings.TrimSpace(got) {
			t.Fatalf("%q", got)
		}
	})
}

// A type is told by what is in a file: how it is called has no say in it.
func TestSniff(t *testing.T) {
	t.Parallel()
	for head, want := range map[string]string{
		"%PDF-1.7\n":                          "application/pdf",
		"\xff\xd8\xff\xe0\x00\x10JFIF\x00":    "image/jpeg",
		"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR": "image/png",
		"MZ\x90\x00\x03":                      "application/vnd.microsoft.portable-executable",
		"<html><script>alert(1)</script>":     "text/html",
		"<?xml version=\"1.0\"?><svg xmlns=\"http://www.w3.org/2000/svg\"/>": "image/svg+xml",
		"just words":       "text/plain",
		"\x00\x01\x02\x03": "application/octet-stream",
		"PK\x03\x04":       "application/zip",
	} {
		if got := Sniff([]byte(head)); got != want {
			t.Errorf("%q: %s", head, got)
		}
	}
}

func FuzzSniff(f *testing.F) {
	f.Add([]byte("%PDF-1.7"))
	f.Fuzz(func(t *testing.T, head []byte) {
		kind := Sniff(head)
		if strings.Count(kind, "/") != 1 || strings.ContainsAny(kind, "; \n") {
			t.Fatal(kind)
		}
	})
}
