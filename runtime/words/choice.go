package words

import (
	"cmp"
	"strings"
)

// ReadChoice reads which of several things that were offered is taken, counted from
// 1, -1 the last, by nothing but its place: "the second one", "am zweiten Tag". It
// is 0 for everything else. Words that ReadAnswer knows nothing of may say what was
// offered, since nothing is agreed to by them.
func ReadChoice(text string) int {
	if len(text) > longestReply {
		return 0
	}
	which := 0
	words := strings.Fields(Plain(strings.NewReplacer("º", "", "ª", "").Replace(text)))
	if len(words) > longestAnswer || strings.ContainsAny(text, "?¿\"„“”«»") {
		return 0
	}
	for i := 0; i < len(words); {
		o := cmp.Or(ofSeveral[words[i]], moreOfSeveral[words[i]])
		switch n := max(around.at(words, i), besides.at(words, i), offered.at(words, i)); {
		case o != 0 && (which == 0 || which == o):
			which = o
			i++
		case n > 0: // also "one" and "un", beside what tells the place
			i += n
		default:
			return 0
		}
	}
	return which
}

// What only a choice is said with.
var (
	moreOfSeveral = map[string]int{
		"erster": 1, "erstere": 1, "ersteres": 1, "ersterer": 1, "former": 1, "primer": 1,
		"zweiter": 2, "zweitem": 2, "latter": -1, "seconde": 2,
		"dritter": 3, "drittes": 3, "tercer": 3,
		"4": 4, "four": 4, "fourth": 4, "vier": 4, "vierte": 4, "vierten": 4, "viertes": 4, "vierter": 4, "quatrieme": 4, "quatre": 4, "cuarto": 4, "cuarta": 4, "cuatro": 4,
		"5": 5, "five": 5, "fifth": 5, "funf": 5, "funfte": 5, "funften": 5, "funftes": 5, "funfter": 5, "cinquieme": 5, "cinq": 5, "quinto": 5, "quinta": 5, "cinco": 5,
		"letztes": -1, "letzter": -1, "letztere": -1, "letzteres": -1, "letzterer": -1, "derniers": -1, "dernieres": -1,
	}
	offered = phrasesOf("one", "th", "e", "er", "eme", "o", "day", "date", "request", "of those", "of the two", "i mean", "i meant", "i mean the", "it is the", "it's the", "on", "is right", "would be right",
		"tag", "datum", "anfrage", "mal", "am", "ich meine", "ich meinte", "von beiden", "war gemeint", "ist gemeint", "ist richtig", "ist es", "es ist",
		"jour", "demande", "un", "une", "celui", "celle", "l", "d", "des deux", "je veux dire", "je voulais dire", "est la bonne", "est le bon", "c'est",
		"dia", "fecha", "solicitud", "uno", "una", "de los dos", "de las dos", "opcion", "quiero decir", "queria decir", "es la correcta", "es el correcto")
)
