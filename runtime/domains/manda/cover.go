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

// A sentence is one of a passage, or a row of its table.
type sentence struct {
	of          *Passage
	text        string
	has, around map[string]bool // its subjects, and those of its heading and the name of its document
	head        bool            // it is the head of a table
}

// An index holds the sentences of some passages, and in how many passages each subject stands.
type index struct {
	all      []sentence
	rows     map[string]int
	passages int
}

func indexed(passages []Passage) *index {
	x := &index{rows: map[string]int{}, passages: len(passages)}
	several := slices.ContainsFunc(passages, func(p Passage) bool { return p.Document != passages[0].Document })
	for i := range passages {
		p := &passages[i]
		about := ""
		if several { // else it tells nothing from another
			about = p.About
		}
		around := ideas(p.Heading + " " + spaced(p.Document) + " " + about)
		all := maps.Clone(around)
		head, _, table := tabular(p.Text)
		texts := sentences(p.Text)
		if len(texts) == 0 {
			texts = []string{""} // it is there all the same
		}
		for _, s := range texts {
			if orders.re().MatchString(s) {
				s = ""
			}
			has := ideas(s)
			maps.Copy(all, has)
			x.all = append(x.all, sentence{p, s, has, around, table && s == head})
		}
		for w := range all {
			x.rows[w]++
		}
	}
	return x
}

// A fit is how much of what is wanted a sentence has.
type fit struct {
	own, either  int     // of its own, and with its heading and the name of its document
	weight, head float64 // the same by weight, for either and for the heading
}

// rare is the weight of what is wanted: the fewer passages have it, the more.
func (x *index) rare(a aim) float64 {
	return math.Log(float64(x.passages+1) / (float64(x.rows[a.of]) + 0.5))
}

func (x *index) fit(want []aim, s *sentence) (f fit) {
	for _, a := range want {
		own, around := a.in(s.has), a.in(s.around)
		if own {
			f.own++
		}
		if around {
			f.head += x.rare(a)
		}
		if own || around {
			f.either++
			f.weight += x.rare(a)
		}
	}
	return f
}

// Covering returns the passage that covers each request, nil if none does: the one with most of the
// request's subjects in one sentence, its heading and the name of its document. Subjects in the
// heading or the name count half as much again: a document that mentions something is not yet about
// it. Subjects in fewer passages count more. A document with other words than concepts.txt and
// metrics.txt have is not found, and one that says that something is missing may count as having
// it, until somebody corrects that.
func Covering(requests []string, passages []Passage) []*Passage {
	x := indexed(passages)
	by := make([]*Passage, len(requests))
	for k, request := range requests {
		want := wanted(request)
		all, most := 0.0, 0.0
		for _, a := range want {
			all += x.rare(a)
		}
		for i := range x.all {
			s := &x.all[i]
			f := x.fit(want, s)
			if sum := f.weight + f.head/2; f.either < min(2, len(want)) || sum <= most || sum < enough*all || absent.re().MatchString(s.text) {
				continue
			} else if !slices.ContainsFunc(want, func(a aim) bool { return slices.Contains(listed("form", "papers"), a.of) && !a.in(s.around) }) { // else the letter is mentioned, but it is not here
				by[k], most = s.of, sum
			}
		}
	}
	return by
}

// absent says of something that it is not there, or not yet.
var absent = pattern(`(?i)\b(?:(?:still|yet) (?:has|have|needs?) to be|(?:is|are) (?:still )?(?:planned|outstanding|missing|pending)|(?:has|have|was|were) not (?:yet )?been|not yet|does not exist|do not exist|there (?:is|are|was|were) no|not available|will be (?:provided|prepared|carried out)|steht noch aus|stehen noch aus|fehlt|fehlen|noch nicht|liegt nicht vor|liegen nicht vor|nicht vorhanden|geplant|n'existe pas|pas encore|fait défaut|est prévue?)\b`)

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
