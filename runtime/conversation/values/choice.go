package values

import (
	"cmp"
	"strings"
)

// ReadChoice returns the number of the chosen thing of several offered ones, counted from 1, -1 for
// the last, if the message names it only by its place: "the second one", "am zweiten Tag". It
// returns 0 for everything else. Words that ReadAnswer does not know may name the offered things, or
// give a reason, since they agree to nothing.
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

// ReadDay returns the day in a message that states nothing else: "1972-04-03", or "-04-03" without a
// year, as in "the third of April, please". Otherwise it returns "".
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

// Words that only a choice has.
var moreOfSeveral, offered = placesOf("choice"), phrasesOf("offered")

// reason begins a clause with a reason; after a further pause the message may ask for something
// else.
var reason = phrasesOf("reason")

func pauses(r rune) bool { return strings.ContainsRune(",;:.!\n–—", r) }
