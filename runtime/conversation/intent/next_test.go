package intent

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"verbatim/runtime/conversation/values"
)

// What clients say in the middle of things is understood, or asked about; what cannot
// be done here is not taken for something that can. The phrases were written with
// these sentences at hand, so that none of them is held out (F31): those that are a
// phrase of the palette, but for case and signs, are counted apart from the rest.
func TestWhatIsSaidNext(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/next.txt")
	if err != nil {
		t.Fatal(err)
	}
	r, reg := domains[0].reader(t)
	plainly := func(s string) string {
		return strings.TrimSpace(strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) || r == ' ' {
				return unicode.ToLower(r)
			}
			return -1
		}, s))
	}
	phrases := map[string]bool{}
	for _, v := range reg.Verbs() {
		for _, p := range append(slices.Concat(slices.Collect(maps.Values(v.PhrasesIn))...), v.Phrases...) {
			phrases[plainly(p)] = true
		}
	}
	kinds := [2]string{"no phrase", "a phrase"}
	var said, right, first, wrong, strays [2]int
	for line := range strings.Lines(string(data)) {
		part := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(part) != 3 || strings.HasPrefix(line, "#") {
			continue
		}
		l, _ := values.ParseLanguage(part[0])
		half, name := 0, kinds[0]
		if phrases[plainly(part[2])] {
			half, name = 1, kinds[1]
		}
		heard := r.Read(part[2], values.In{Now: now, Languages: []values.Language{l}})
		var p Part
		for i := range heard.Parts {
			if heard.Parts[i].Confidence >= p.Confidence {
				p = heard.Parts[i]
			}
		}
		wants := strings.Split(part[1], "|")
		if part[1] == "ask" {
			if p.Certainty == Sure {
				strays[half]++
				t.Logf("%s: %s (%s): %s, and means nothing", name, part[2], part[0], p.Verb.Name)
			}
			continue
		}
		said[half]++
		if leads, _ := p.Intent(); slices.Contains(wants, leads) {
			first[half]++
		}
		switch {
		case p.Certainty == Sure && slices.Contains(wants, p.Verb.Name):
			right[half]++
		case p.Certainty == Sure:
			wrong[half]++
			t.Logf("%s: %s (%s): %s, and means %s", name, part[2], part[0], p.Verb.Name, part[1])
		default:
			t.Logf("%s: %s (%s): asked", name, part[2], part[0])
		}
	}
	for half, name := range kinds {
		t.Logf("%s: of %d, %d understood, %d first, %d wrongly; %d that mean nothing taken for something", name, said[half], right[half], first[half], wrong[half], strays[half])
		least, most := 75, [2]int{1, 10}
		if half == 1 {
			least, most = 100, [2]int{}
		}
		if said[half] < 20 || right[half]*100 < said[half]*least || wrong[half] > most[0] || strays[half] > most[1] {
			t.Errorf("%s: of %d, %d understood, %d wrongly; %d that mean nothing taken for something", name, said[half], right[half], wrong[half], strays[half])
		}
	}
}
