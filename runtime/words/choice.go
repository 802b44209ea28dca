package words

import (
	"cmp"
	"strings"
)

// ReadChoice reads which of several things that were offered is taken, counted from
// 1, -1 the last, by nothing but its place: "the second one", "am zweiten Tag". It
// is 0 for everything else. Words that ReadAnswer knows nothing of may say what was
// offered, or why this one, since nothing is agreed to by them.
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
		case which != 0 && reason.at(words, i) > 0 && len(strings.FieldsFunc(text, pauses)) < 3 && !Turns(strings.Join(words[i:], " ")):
			return which
		case n > 0: // also "one" and "un", beside what tells the place
			i += n
		default:
			return 0
		}
	}
	return which
}

// ReadDay returns the day that a message states if it states nothing else: "1972-04-03", or "-04-03"
// where no year is said, as in "the third of April, please". Otherwise it returns "".
func ReadDay(text string) string {
	const leap = " 2000"
	found, _ := Find(text, In{})
	if len(text) > longestReply || len(found) != 1 || found[0].What != Date || !found[0].Known() || strings.ContainsAny(text, "?¿") {
		return ""
	}
	beside := strings.Fields(Plain(text[:found[0].Range.Start] + " " + text[found[0].Range.End:]))
	for i := 0; i < len(beside); {
		n := max(around.at(beside, i), besides.at(beside, i), offered.at(beside, i))
		if n == 0 {
			return ""
		}
		i += n
	}
	if day := found[0].Value.Text(); found[0].Kind == Exact {
		return day
	}
	// "Friday" says no day of any year, and "the third of April" says one of each.
	found, _ = Find(text[found[0].Range.Start:found[0].Range.End]+leap, In{})
	if len(found) == 1 && found[0].What == Date && found[0].Kind == Exact && found[0].Known() {
		return found[0].Value.Text()[len("2000"):]
	}
	return ""
}

// What only a choice is said with.
var moreOfSeveral, offered = placesOf("choice"), phrasesOf("offered")

// reason begins a clause that says why; behind a further pause something else may be wanted.
var reason = phrasesOf("reason")

func pauses(r rune) bool { return strings.ContainsRune(",;:.!\n–—", r) }
