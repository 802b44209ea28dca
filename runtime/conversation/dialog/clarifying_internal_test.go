package dialog

import "testing"

// X12, X13: whoever is asked which of some they mean takes one by a yes where
// there is one only, by its place, or by its words. Nothing else takes one.
func TestChoice(t *testing.T) {
	t.Parallel()
	one := []Offer{{Says: "what is settled already", Verb: "x.settled"}}
	three := []Offer{{Says: "Maria Schmidt date of birth"}, {Says: "Pierre Dupont source of wealth"}, {Says: "« répondre question par question »"}}
	days := []Offer{{Says: "3 April 1972", Text: "1972-04-03"}, {Says: "4 March 1972", Text: "1972-03-04"}}
	amounts := []Offer{{Says: "1234", Text: "1234"}, {Says: "1.234", Text: "1.2340"}}
	for _, c := range []struct {
		said   string
		offers []Offer
		want   int
	}{
		{"yes", one, 0},
		{"Ja, genau", one, 0},
		{"oui", one, 0},
		{"sí", one, 0},
		{"yes", three, -1},
		{"no", one, -1},
		{"yes\u202e", one, -1}, // what hides characters agrees to nothing
		{"yes, but not today", one, -1},
		{"the second one", three, 1},
		{"2", three, 1},
		{"die zweite", three, 1},
		{"la deuxième", three, 1},
		{"la segunda", three, 1},
		{"the last one", three, 2},
		{"yes, the first one", three, 0},
		{"the fourth one", three, -1},
		{"4", three, -1},
		{"pierre dupont source of wealth", three, 1},
		{"source of wealth", three, 1},
		{"Pierre", three, 1}, // its words (F27)
		{"of", three, -1},
		{"Répondre question par question.", three, 2},
		{"I will send it tomorrow", three, -1},
		{"", three, -1},
		{"the third of April", days, 0},
		{"April 3rd, please", days, 0},
		{"der dritte April", days, 0},
		{"c'est le quatre mars", days, 1},
		{"el tres de abril de 1972", days, 0},
		{"the third of April 1973", days, -1}, // another year
		{"the third of May", days, -1},
		{"4 April", []Offer{{Says: "4 April 1972", Text: "1972-04-04"}, {Says: "4 April 2072", Text: "2072-04-04"}}, -1},
		{"the first", amounts, 0}, // 1 is no number of "1.234"
		{"la primera", amounts, 0},
		{"der zweite", amounts, 1},
		{"1.234", amounts, 1},
		{"1234", amounts, 0},
		{"1. oder 2.", amounts, -1},
		{"yes", nil, -1},
		{"1", nil, -1},
	} {
		h := hear(c.said, false, "")
		if got, _ := choice(&h, c.offers); got != c.want {
			t.Errorf("%q takes %d of %d, want %d", c.said, got, len(c.offers), c.want)
		}
	}
}
