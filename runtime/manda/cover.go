package manda

import (
	"maps"
	"math"
	"slices"
	"strings"
)

// share is how much of what is asked for a passage has to say, the rarer words counting
// more. It was chosen on the room of examples/manda, where it judges 41 of 54 requests as
// the author of that room does.
const share = 0.5

// Covering says which passage covers each request, nil where none does: the one that has
// most of the words of what is asked for, in its own text, its heading or the name of its
// document. A word counts the more, the fewer of the passages have it. Words are all it
// looks at: what a document says in others is not found, and one that says that something
// is missing counts as having it, until somebody says otherwise.
func Covering(requests []string, passages []Passage) []*Passage {
	has := make([]map[string]bool, len(passages))
	rows := map[string]int{}
	for i := range passages {
		p := passages[i]
		p.Text = there(p.Text)
		has[i] = map[string]bool{}
		for w := range strings.FieldsSeq(plainly(p.Heading + " " + p.Text + " " + spaced(p.Document))) {
			has[i][stem(w)] = true
		}
		for _, m := range mentions(p.Heading + " " + p.Text) {
			has[i][m.name] = true
		}
		for w := range has[i] {
			rows[w]++
		}
	}
	by := make([]*Passage, len(requests))
	for k, request := range requests {
		want := wanted(request)
		rare := func(w string) float64 {
			if !want[w] {
				return 0
			}
			return math.Log(float64(len(passages)+1) / (float64(rows[w]) + 0.5))
		}
		// In one order: what is added up in another differs by a little, and a tie is then
		// decided by chance.
		words := slices.Sorted(maps.Keys(want))
		all := 0.0
		for _, w := range words {
			all += rare(w)
		}
		most := 0.0
		for i := range passages {
			n := 0.0
			for _, w := range words {
				if has[i][w] {
					n += rare(w)
				}
			}
			if n > most && n >= share*all {
				by[k], most = &passages[i], n
			}
		}
	}
	return by
}

// absent says of something that it is not there, or not yet.
var absent = pattern(`(?i)\b(?:(?:still|yet) (?:has|have|needs?) to be|(?:is|are) (?:still )?(?:planned|outstanding|missing|pending)|(?:has|have|was|were) not (?:yet )?been|not yet|does not exist|do not exist|there (?:is|are|was|were) no|not available|will be (?:provided|prepared|carried out)|steht noch aus|stehen noch aus|fehlt|fehlen|noch nicht|liegt nicht vor|liegen nicht vor|nicht vorhanden|geplant|n'existe pas|pas encore|fait défaut|est prévue?)\b`)

// there is a text without the sentences that say that something is absent.
func there(text string) string {
	if !absent.re().MatchString(text) {
		return text
	}
	return strings.Join(slices.DeleteFunc(sentences(text), absent.re().MatchString), "\n")
}

// spaced is the name of a file as words.
func spaced(name string) string {
	return strings.NewReplacer("_", " ", "-", " ", ".", " ").Replace(name)
}

// wanted are the words of a request that say what is asked for, and not in which form; a
// metric is one word.
func wanted(request string) map[string]bool {
	want := map[string]bool{}
	forms := map[string]bool{}
	for _, w := range listed("form", "words") {
		forms[stem(w)] = true
	}
	all := mentions(request)
	for i := len(all) - 1; i >= 0; i-- {
		want[all[i].name] = true
		request = request[:all[i].at] + " " + request[all[i].end:]
	}
	for w := range strings.FieldsSeq(plainly(request)) {
		if s := stem(w); !stops()[w] && !forms[s] && len(periods(w)) == 0 && len(w) > 1 {
			want[s] = true
		}
	}
	return want
}
