package values

import (
	"slices"
	"strings"
	"testing"
)

// A point ends a sentence, unless it belongs to a day, an abbreviation or an initial.
func TestAPointThatEndsNoSentence(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"Dr. Weber is away. She is ill.":                           {"Dr. Weber is away.", "She is ill."},
		"We sent it to Mr. Miller, Mrs. Smith et al.":              {"We sent it to Mr. Miller, Mrs. Smith et al."},
		"It is by J. R. R. Tolkien. Maria read it":                 {"It is by J. R. R. Tolkien.", "Maria read it"},
		"Pierre A. Dupont, e.g. the son, i.e. not M. B.":           {"Pierre A. Dupont, e.g. the son, i.e. not M. B."},
		"Come at 5 p.m. Maria was born in 1972.":                   {"Come at 5 p.m.", "Maria was born in 1972."},
		"Laut Hrn. Dr. Klein ca. 5 Seiten. Nr. 7 fehlt.":           {"Laut Hrn. Dr. Klein ca. 5 Seiten.", "Nr. 7 fehlt."},
		"Er ist da. Sie kommt am 15. März. Gut.":                   {"Er ist da.", "Sie kommt am 15. März.", "Gut."},
		"Mme. Durand et M. Petit sont là. Merci":                   {"Mme. Durand et M. Petit sont là.", "Merci"},
		"La Sra. García y el Sr. López vienen. Gracias":            {"La Sra. García y el Sr. López vienen.", "Gracias"},
		"It costs 3.50 or 350. No. 15 January is better. I see 1":  {"It costs 3.50 or 350.", "No.", "15 January is better.", "I see 1"},
		"Send Violin No. 1. No. I meant Pierre":                    {"Send Violin No. 1.", "No.", "I meant Pierre"},
		"No. 12 March please. Hm?! No. 3 is mine":                  {"No.", "12 March please.", "Hm?!", "No.", "3 is mine"},
		"Is it no. 5, Op. 27 (Vol. 2, Fig. 3, p. 3)? I say no. No": {"Is it no. 5, Op. 27 (Vol. 2, Fig. 3, p. 3)?", "I say no.", "No"},
		"Geige Nr. 3, S. 5 und Bd. 2. Nr. 4 nicht":                 {"Geige Nr. 3, S. 5 und Bd. 2.", "Nr. 4 nicht"},
		"Le violon n° 3, fig. 2. Non. 3 mars":                      {"Le violon n° 3, fig. 2.", "Non.", "3 mars"},
		"El violín núm. 3, n. 5 y no. 7. No. 8 de marzo":           {"El violín núm. 3, n. 5 y no. 7.", "No.", "8 de marzo"},
		"Ask the dr.\nMaria was born in 1972":                      {"Ask the dr.", "Maria was born in 1972"},
		"Is it approx.? Yes":                                       {"Is it approx.?", "Yes"},
	} {
		all, _ := Split(text, 100)
		var got []string
		from := 0
		for _, w := range all {
			if w.Breaks {
				got, from = append(got, strings.TrimSpace(text[from:w.Range.Start])), w.Range.Start
			}
		}
		if got = append(got, text[from:]); !slices.Equal(got, want) {
			t.Errorf("%q is divided into %q", text, got)
		}
	}
}
