package intent

import (
	"regexp"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/runtime/conversation/intent/rank"
	"verbatim/verbs"
	loading "verbatim/verbs/load"
	"verbatim/verbs/palettes"
)

// Bounds of how well the verbs of all our palettes as one are told apart, with some room for
// phrases that are changed elsewhere: 40.5, 66.9 and 7.9.
const (
	togetherFirst  = 39.5
	togetherFive   = 65.5
	togetherWrong5 = 10
)

// The verbs of all our palettes as one, which is large: of each fourth phrase, which is left
// out, how often its verb comes first. (F28)
func TestTheVerbsOfAllPalettes(t *testing.T) {
	t.Parallel()
	place := regexp.MustCompile(`\{[^}]*\}`)
	meant := map[string]string{} // by phrase; "" where two verbs have it
	var order [][2]string
	graph, ds := loading.Sources(dsl.NewSource("graph.yaml", palettes.Text("confidence/graph.yaml")))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	regs := []*verbs.Registry{graph}
	for _, dir := range []string{"examples/helpdesk/verbs", "verbs/palettes/kiisha", "verbs/palettes/kyc", "verbs/palettes/manda", "examples/retail/verbs", "examples/workshop/verbs", "verbs/palettes/bank"} {
		regs = append(regs, load(t, "../../../"+dir))
	}
	for _, reg := range regs {
		for _, v := range reg.Verbs() {
			name := strings.NewReplacer(".", "_", "-", "_").Replace(v.Name)
			for _, p := range v.Phrases {
				p = place.ReplaceAllString(p, "it")
				if is, ok := meant[p]; !ok {
					meant[p] = name
					order = append(order, [2]string{p, name})
				} else if is != name {
					meant[p] = ""
				}
			}
		}
	}
	var all tally
	for fold := range 4 {
		var s intentSet
		var left [][2]string
		for i, row := range order {
			switch {
			case meant[row[0]] == "":
			case i%4 == fold:
				left = append(left, row)
			default:
				s.train = append(s.train, row)
			}
		}
		reg, _ := s.palette(t)
		r := New(reg).Reader(Vocabulary{Verbs: reg.Verbs()})
		if !r.ix.ranker.Large() {
			t.Fatalf("%d verbs are few", len(reg.Verbs()))
		}
		leftOut(t, r)
		for _, row := range left {
			if reg.Verb(intentVerb(row[1])) != nil {
				all.count(r, row[0], intentVerb(row[1]))
			}
		}
	}
	t.Log(&all)
	if first, five, wrong := percent(all.first, all.said), percent(all.menu, all.said), percent(all.wrong5, all.said); all.said < 400 || first < togetherFirst || five < togetherFive || wrong > togetherWrong5 {
		t.Errorf("of %d, %.1f %% first, %.1f within five, %.1f wrongly at 0.5", all.said, first, five, wrong)
	}
}

// leftOut fails where a phrase that is left out speaks for its own verb all the same.
func leftOut(t *testing.T, r *Reader) {
	t.Helper()
	own := func(p, left int32) float32 {
		c, q := r.ix.saidAs(p)
		c.sought = q
		for _, k := range r.signsOf(c, left) {
			if k.Verb == r.ix.ranker.Verb(p) {
				return k.Signs[rank.OfAll]
			}
		}
		return 0
	}
	for p := int32(0); int(p) < r.ix.ranker.Phrases(); p += 17 {
		if with, without := own(p, -1), own(p, p); without >= with {
			t.Errorf("%q speaks for its verb with %.2f, and left out with %.2f", r.ix.templates[p].text, with, without)
		}
	}
}
