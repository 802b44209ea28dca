package values

import "testing"

// X12, X13: one of several is taken by its place in all four languages, and by
// nothing that says more than a place, or another thing.
func TestReadChoice(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]int{
		"the second": 2, "the first one": 1, "the 2nd": 2, "2": 2, "2.": 2, "the latter": -1, "the last one, please": -1, "number 3": 3, "I mean the second date": 2, "the fourth": 4, "yes, the second one": 0,
		"die zweite": 2, "der erste Tag": 1, "das zweite": 2, "am zweiten": 2, "Ersteres": 1, "ich meine das dritte": 3, "die letzte": -1, "die 2.": 2, "Nummer 2, bitte": 2, "letzteres": -1,
		"le premier": 1, "la seconde": 2, "la deuxième": 2, "le 2e": 2, "le dernier": -1, "c'est le deuxième": 2, "la première date": 1,
		"la segunda": 2, "el primero": 1, "el primer día": 1, "la última, por favor": -1, "quiero decir la segunda": 2, "el 2º": 2,
		"": 0, "the one": 1, "one moment please": 0, "the second of May": 0, "first or second": 0, "the second?": 0, "“the second”": 0, "not the second": 0, "nicht die erste": 0, "the day": 0, "I would take the second": 0,
		"the second and the third":              0,
		"the first one, since it is the oldest": 1, "the second one because Maria asked.": 2, "den ersten, weil er der älteste ist": 1, "le premier, parce qu'il est le plus ancien": 1, "la segunda, ya que es la más antigua": 2,
		"the first one, since it is the oldest, and call me": 0, "the first, but since it is old": 0, "the first because it is not done": 0, "the first one, if it is the oldest": 0, "since it is the first": 0,
	} {
		if got := ReadChoice(said); got != want {
			t.Errorf("%q takes %d, want %d", said, got, want)
		}
	}
}

// A day is read in all four languages, with ordinals in words too, and with its year only where
// that was said; no other day, and nothing that says more.
func TestReadDay(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"the third of April": "-04-03", "April 3rd, please": "-04-03", "April the third": "-04-03", "on the 3rd of April 1972": "1972-04-03", "I mean the twenty-first of April": "-04-21",
		"am dritten April": "-04-03", "der 3. April": "-04-03", "der dritte April 1972": "1972-04-03", "ich meine den dritten April": "-04-03",
		"le trois avril": "-04-03", "le premier avril": "-04-01", "c'est le 3 avril 1972": "1972-04-03",
		"el tres de abril": "-04-03", "el primero de abril": "-04-01", "el 3 de abril de 1972, por favor": "1972-04-03",
		"3 April 05": "", "Easter": "", "tomorrow": "", "Friday": "", "April": "", "the third": "", "3/4/1972": "", "not the third of April": "", "the third of April?": "", "the third of April or the fourth of March": "",
		"the accountant comes on the third of April": "", "": "",
	} {
		if got := ReadDay(said); got != want {
			t.Errorf("%q is %q, want %q", said, got, want)
		}
	}
}
