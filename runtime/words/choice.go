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
		o := cmp.Or(ofSeveral()[words[i]], moreOfSeveral()[words[i]])
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
var moreOfSeveral, offered = placesOf("choice"), phrasesOf("offered")
