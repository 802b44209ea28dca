package phrase

import (
	"os"
	"strings"
	"testing"

	"verbatim/runtime/words"
)

// What is said in another language is understood by the palette's phrases in it,
// whatever the language of the session, and asked about in it; never by another
// verb than the one that is meant.
func TestTongues(t *testing.T) {
	t.Parallel()
	r, _ := domains[0].reader(t)
	data, err := os.ReadFile("testdata/tongues.txt")
	if err != nil {
		t.Fatal(err)
	}
	said, first, right := 0, 0, 0
	for line := range strings.Lines(string(data)) {
		part := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(part) != 3 || strings.HasPrefix(line, "#") {
			continue
		}
		l, _ := words.ParseLanguage(part[0])
		for _, in := range []words.In{{Now: now, Languages: []words.Language{l}}, {Now: now, Languages: []words.Language{words.English}}} {
			h := r.Read(part[2], in)
			var p Part
			for i := range h.Parts {
				if h.Parts[i].Confidence >= p.Confidence {
					p = h.Parts[i]
				}
			}
			if part[1] == "ask" {
				if p.Certainty == Sure {
					t.Errorf("%q: %s", part[2], p.Verb.Name)
				}
				continue
			}
			said++
			name, is := p.Intent()
			if name == part[1] {
				first++
			}
			switch {
			case p.Certainty == Sure && p.Verb.Name == part[1]:
				right++
			case p.Certainty == Sure:
				t.Errorf("%q: %s", part[2], p.Verb.Name)
			default:
				t.Logf("%q: %s, %s %.2f", part[2], p.Certainty, name, is)
			}
		}
	}
	t.Logf("other languages: %d said, %d first, %d proposed", said, first, right)
	if first*10 < said*8 {
		t.Errorf("of %d sentences the verb comes first for %d", said, first)
	}
}
