package sqlcore

import (
	"fmt"
	"strings"
	"testing"
)

// Two databases that differ in all that a Syntax can say.
var (
	loose = &Syntax{Quotes: "\"`[", LineEnds: "\n", Params: "?@$:", Words: true, Marks: strings.Fields("->> -> || <= >= ( ) = , . *")}
	tight = &Syntax{Quotes: `"`, LineEnds: "\n\r", Nested: true, Params: "$:", MaxName: 63, Plain: strings.ToLower, Marks: strings.Fields("->> -> :: [ ] ( ) = ? , . *")}
)

// written puts tokens one behind the other: names in angle brackets, texts in quotes.
func written(toks []Token) string {
	var words []string
	for _, t := range toks {
		switch {
		case t.IsText():
			words = append(words, "'"+t.Name+"'")
		case t.Kind == Word || t.Kind == Quoted:
			words = append(words, "<"+t.Name+">")
		case t.Kind == Param:
			words = append(words, ":"+t.Name)
		default:
			words = append(words, t.Text)
		}
	}
	return strings.TrimSpace(strings.Join(words, " "))
}

// SAFE-A4: what the guard looks at is what the database will read: texts, names, comments
// and numbers end where they end there, or the query is refused.
func TestSyntaxesSplitAsTheirDatabasesDo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, loose, tight string }{
		{`SELECT a.B FROM "My ""T"""`, `<SELECT> <a> . <B> <FROM> <My "T">`, `<select> <a> . <b> <from> <My "T">`},
		{`'it''s' 'a\'`, `'it's' 'a\'`, `'it's' 'a\'`},
		{"`x` [y z]", `<x> <y z>`, "0: a character that has no meaning in a query"},
		{`a[1]`, `<a> <1>`, `<a> [ 1 ]`},
		{"a -- b\rc\nd", `<a> <d>`, `<a> <c> <d>`},
		{`a /* b /* c */ d`, `<a> <d>`, "2: a comment that is never closed"},
		{`a /* b /* c */ * d`, `<a> * <d>`, "2: a comment that is never closed"},
		{`a /* /* b */ */ d`, "14: a character that has no meaning in a query", `<a> <d>`},
		{`/*/`, "0: a comment that is never closed", "0: a comment that is never closed"},
		{`1.5e-3 .5 1e5`, `1.5e-3 .5 1e5`, `1.5e-3 .5 1e5`},
		{`0x1f`, `0x1f`, "0: a number runs into a word"},
		{`1e+x`, `1e+x`, "0: a number runs into a word"},
		{`:n = $1`, "5: an argument is written :name", "5: an argument is written :name"},
		{`:n::int`, "2: an argument is written :name", `:n :: <int>`},
		{`a ->> 'b'`, `<a> ->> 'b'`, `<a> ->> 'b'`},
		{`a; b`, "1: a query is one statement, without a semicolon", "1: a query is one statement, without a semicolon"},
		{`'a`, "0: a text that is never closed", "0: a text that is never closed"},
		{`""`, `<>`, "0: a name has between one and 63 bytes"},
		{strings.Repeat("n", 64), "<" + strings.Repeat("n", 64) + ">", "0: a name has between one and 63 bytes"},
		{"a\x00b", "1: a character that has no meaning in a query", "1: a character that has no meaning in a query"},
		{``, ``, ``},
	} {
		for i, x := range []*Syntax{loose, tight} {
			want := []string{c.loose, c.tight}[i]
			toks, err := x.Lex(c.text)
			got := written(toks)
			if err != nil {
				got = fmt.Sprintf("%d: %s", err.Offset, err.Msg)
			}
			if got != want {
				t.Errorf("%q: %s, want %s", c.text, got, want)
			}
		}
	}
}

// FuzzLex: every token stands where it says, in order, and nothing but white space and
// comments is left out.
func FuzzLex(f *testing.F) {
	for _, s := range []string{`SELECT a.b FROM "t" WHERE x = 'y' -- z`, "WITH a AS (SELECT 1) /* b */ SELECT :n, 1e5", "`a` [b] 'c''d'"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, x := range []*Syntax{loose, tight} {
			toks, err := x.Lex(s)
			if err != nil {
				continue
			}
			at := 0
			for _, k := range toks {
				if k.Start < at || k.Start+len(k.Text) > len(s) || s[k.Start:k.Start+len(k.Text)] != k.Text {
					t.Fatalf("%q: %q is not at %d", s, k.Text, k.Start)
				}
				if left := strings.TrimLeft(s[at:k.Start], " \t\n\r\f"); left != "" && !strings.HasPrefix(left, "--") && !strings.HasPrefix(left, "/*") {
					t.Fatalf("%q: %q is left out", s, left)
				}
				at = k.Start + len(k.Text)
			}
			if last := toks[len(toks)-1]; last.Kind != End || last.Start != len(s) {
				t.Fatalf("%q: ends with %+v", s, last)
			}
		}
	})
}
