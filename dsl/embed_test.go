package dsl

import (
	"strings"
	"testing"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

type embedding struct {
	Name   string  `parser:"@Ident '='"`
	Script *Script `parser:"@@?"`
	End    string  `parser:"@'end'"`
}

func TestScriptsStandInOtherGrammars(t *testing.T) {
	t.Parallel()
	elided := participle.MustBuild[embedding](
		participle.Lexer(lexer.MustSimple([]lexer.SimpleRule{
			{Name: "Space", Pattern: `\s+`},
			{Name: "String", Pattern: `"[^"]*"`},
			{Name: "Ident", Pattern: `[a-z][a-z.-]*`},
			{Name: "Other", Pattern: `[^\s"]`},
		})), participle.Elide("Space"))
	dropped := participle.MustBuild[embedding]()
	for name, p := range map[string]*participle.Parser[embedding]{"elided": elided, "dropped": dropped} {
		for text, want := range map[string]string{
			"x = a.b :k 1 end": "a.b :k 1\n",
			"x = a.b :k 1\n  (c.d :e \"f g\" :as @h) end": "a.b :k 1\nc.d :e \"f g\" :as @h\n",
			"x = end": "",
		} {
			got, err := p.ParseString("host", text)
			if err != nil {
				t.Errorf("%s: %q: %v", name, text, err)
				continue
			}
			s := ""
			if got.Script != nil {
				s = Format(got.Script)
			}
			if s != want {
				t.Errorf("%s: %q holds %q, want %q", name, text, s, want)
			}
		}
		_, err := p.ParseString("host", "x =\n  a.b :k 2025-02-30 end")
		if err == nil || !strings.HasPrefix(err.Error(), "host:2:10:") || !strings.Contains(err.Error(), "28 days") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
