package manda

import (
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
)

// enough is the share of a request, by weight, that a passage must have to cover it. It was
// chosen on the room of examples/manda; TestARoomByAnother measures how well it judges.
const enough = 0.54

// Covering returns the passage that covers each request, nil if none does: the one with most of the
// request's subjects in one sentence, its heading and the name of its document. Subjects in the
// heading or the name count half as much again: a document that mentions something is not yet about
// it. Subjects in fewer passages count more. A document with other words than concepts.txt and
// metrics.txt have is not found, and one that says that something is missing may count as having
// it, until somebody corrects that.
func Covering(requests []string, passages []Passage) []*Passage {
	type said struct {
		head      map[string]bool
		sentences []map[string]bool // each with its heading
	}
	has := make([]said, len(passages))
	rows := map[string]int{}
	for i := range passages {
		p := &passages[i]
		has[i].head = ideas(p.Heading + " " + spaced(p.Document))
		all := maps.Clone(has[i].head)
		for _, s := range sentences(there(p.Text)) {
			of := ideas(s)
			maps.Copy(all, of)
			maps.Copy(of, has[i].head)
			has[i].sentences = append(has[i].sentences, of)
		}
		if len(has[i].sentences) == 0 {
			has[i].sentences = append(has[i].sentences, has[i].head)
		}
		for w := range all {
			rows[w]++
		}
	}
	by := make([]*Passage, len(requests))
	for k, request := range requests {
		want := wanted(request)
		rare := func(a aim) float64 { return math.Log(float64(len(passages)+1) / (float64(rows[a.of]) + 0.5)) }
		said := func(ideas map[string]bool) (sum float64, n int) {
			for _, a := range want {
				if a.in(ideas) {
					sum, n = sum+rare(a), n+1
				}
			}
			return sum, n
		}
		all := 0.0
		for _, a := range want {
			all += rare(a)
		}
		most := 0.0
		for i := range passages {
			if slices.ContainsFunc(want, func(a aim) bool { return slices.Contains(listed("form", "papers"), a.of) && !a.in(has[i].head) }) {
				continue // the letter is mentioned, but it is not here
			}
			head, _ := said(has[i].head)
			for _, s := range has[i].sentences {
				sum, n := said(s)
				if sum += head / 2; n >= min(2, len(want)) && sum > most && sum >= enough*all {
					by[k], most = &passages[i], sum
				}
			}
		}
	}
	return by
}

// absent says of something that it is not there, or not yet.
var absent = pattern(`(?i)\b(?:(?:still|yet) (?:has|have|needs?) to be|(?:is|are) (?:still )?(?:planned|outstanding|missing|pending)|(?:has|have|was|were) not (?:yet )?been|not yet|does not exist|do not exist|there (?:is|are|was|were) no|not available|will be (?:provided|prepared|carried out)|steht noch aus|stehen noch aus|fehlt|fehlen|noch nicht|liegt nicht vor|liegen nicht vor|nicht vorhanden|geplant|n'existe pas|pas encore|fait défaut|est prévue?)\b`)

// there returns a text without the sentences that say that something is absent.
func there(text string) string {
	if !absent.re().MatchString(text) {
		return text
	}
	return strings.Join(slices.DeleteFunc(sentences(text), absent.re().MatchString), "\n")
}

// spaced returns the name of a file as words.
func spaced(name string) string {
	return strings.NewReplacer("_", " ", "-", " ", ".", " ").Replace(name)
}

// wanted returns the subjects of a request, without the form in which it wants them.
func wanted(request string) []aim {
	return aims(request, func(w string) bool {
		return stops()[w] || formal()[stem(w)] || len(periods(w)) > 0 || len(w) < 2
	})
}

var formal = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for _, w := range listed("form", "words") {
		all[stem(w)] = true
	}
	return all
})
