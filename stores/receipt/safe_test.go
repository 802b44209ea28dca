package receipt

import (
	"testing"
	"unicode"
)

// SAFE-C5: whatever a text holds, what is printed of it moves no cursor, turns
// no line around and hides nothing; and a text without such things stays as it
// is.
func TestNothingIsPrintedThatCannotBeSeen(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"\u202egnirts\u202c", "zero\u200bwidth\u2060joined", "two\nlines\r\n\tand a tab", "\x1b[2K\x1b[1A", "\x00", "\u2028\u2029", "a\u00adb", "\ufeff", "\xff\xfe",
	} {
		for _, r := range Safe(s) {
			if !unicode.IsPrint(r) {
				t.Errorf("of %q, %q is printed", s, r)
			}
		}
	}
	for _, s := range []string{"", "plain", `"quoted" \ and more`, "Zoé Müller, раура", "日本"} {
		if got := Safe(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}

// In a margin stands the least trusted of what a value came from.
func TestAMarginNamesTheLeastTrusted(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "", "script": "script", "document=letter.pdf,model": "letter.pdf", "document=a.pdf,document=b.pdf,record": "a.pdf, b.pdf",
		"tool=crm.find,record": "tool crm.find", "document,tool=crm": "document", "record,script": "record", "document=a%2Cb%3D100%25.pdf": "a,b=100%.pdf"} {
		if got := brief(text); got != want {
			t.Errorf("%q reads %q", text, got)
		}
	}
}
