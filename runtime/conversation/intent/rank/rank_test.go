package rank

import (
	"fmt"
	"strings"
	"testing"
)

// resources is a palette of three operations on each of many things, of which every fourth has phrases.
func resources() (all []Verb, names []string) {
	for i := range 30 {
		thing := fmt.Sprintf("thing%c%c", 'a'+i/5, 'a'+i%5)
		for _, does := range [...][]string{{"list", "show all", "which are there of"}, {"create", "set up another", "register a new"}, {"delete", "get rid of", "wipe out"}} {
			v := Verb{Labels: []string{"to " + does[0], thing}, About: []string{does[0], thing}, Phrases: [][][]string{{{does[0], thing}}}}
			if i%4 == 0 {
				for _, said := range does[1:] {
					v.Phrases[0] = append(v.Phrases[0], strings.Fields(said+" "+thing))
				}
			}
			all, names = append(all, v), append(names, does[0]+" "+thing)
		}
	}
	return all, names
}

func (r *Ranker) first(said string) int32 {
	words := strings.Fields(said)
	all := r.Compare(&Query{Words: words, Kinds: make([]uint64, len(words))}, nil, make([]uint64, r.verbs), -1)
	Shipped(r.verbs).Weigh(all)
	return all[0].Verb
}

// G41: what is said of some things teaches what is said of all that share a word of their names.
func TestLabelsTeachEachOther(t *testing.T) {
	t.Parallel()
	verbs, names := resources()
	r := New(verbs, func(w string) bool { return w == "a" || w == "of" })
	for said, want := range map[string]string{
		"get rid of thingab":      "delete thingab",
		"set up another thingbc":  "create thingbc",
		"wipe out thingcb please": "delete thingcb",
		"show all thingdd":        "list thingdd",
	} {
		if got := names[r.first(said)]; got != want {
			t.Errorf("%q is %s, want %s", said, got, want)
		}
	}
}

// A phrase that is left out says less for its verb than one that is there.
func TestALeftOutPhraseSaysLess(t *testing.T) {
	t.Parallel()
	verbs, _ := resources()
	r := New(verbs, func(string) bool { return false })
	for p := range int32(r.Phrases()) {
		var words []string
		for _, id := range r.phrases[p].words {
			words = append(words, r.list[id])
		}
		q := &Query{Words: words, Kinds: make([]uint64, len(words))}
		sign := func(left int32) (s Signs) {
			for _, c := range r.Compare(q, nil, make([]uint64, r.verbs), left) {
				if c.Verb == r.Verb(p) {
					s = c.Signs
				}
			}
			return s
		}
		with, without := sign(-1), sign(p)
		if without[OfNearest] >= with[OfNearest] || without[OfAll] >= with[OfAll] {
			t.Fatalf("%q: %v with it, %v without", words, with, without)
		}
	}
}
