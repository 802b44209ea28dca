package intent

import (
	_ "embed"
	"fmt"
	"slices"

	"verbatim/dsl"
	"verbatim/runtime/conversation/intent/rank"
	"verbatim/verbs"
)

// A clash is a verb whose phrases another verb takes, for a role that may use both.
type clash struct {
	verb, by *verbs.Verb
	taken    []sharedPhrase
}

// A sharedPhrase is a phrase that another verb has too, or would get if the phrase were left out, with the
// probabilities of both verbs.
type sharedPhrase struct {
	phrase    string
	same      bool
	own, by   float64
	elsewhere dsl.Place
}

// Held is the result of leaving out each phrase in turn and matching it: how many still went to
// their verb, and how many would go to another.
type Held struct {
	Phrases int `json:"phrases"`
	First   int `json:"first"`
	Taken   int `json:"taken"`
}

// Lint warns of verbs that share phrases or take each other's. It leaves out each phrase in turn
// and matches it.
func (ix *Index) Lint() (ds dsl.Diagnostics, held Held) {
	var all []clash
	all, held = ix.clashes()
	for _, c := range all {
		said := len(c.verb.Phrases)
		for _, phrases := range c.verb.PhrasesIn {
			said += len(phrases)
		}
		first := c.taken[0]
		d := dsl.Diagnostic{Code: "phrase-taken", Severity: dsl.Warning, Place: c.verb.PhrasePlace(first.phrase)}
		if first.same {
			d.Code = "phrase-shared"
			d.Summary = fmt.Sprintf("%s and %s have a phrase in common, so that nobody can tell which is meant", c.verb.Name, c.by.Name)
			d.Label = c.by.Name + " has it as well"
			d.Related = []dsl.Related{{Place: first.elsewhere, Message: "here"}}
			d.Notes = []string{"give it to one of them, or say in each what makes the difference"}
		} else {
			d.Summary = fmt.Sprintf("%d of the %d phrases of %s would be taken for %s", len(c.taken), said, c.verb.Name, c.by.Name)
			d.Label = likelihood(c, first)
			d.Notes = []string{"this is what comes of words like these, where they are no phrase; say in both verbs what makes the difference"}
		}
		for _, t := range c.taken[1:min(len(c.taken), mostTold)] {
			message := likelihood(c, t)
			if t.same {
				message = "in common, too"
			}
			d.Related = append(d.Related, dsl.Related{Place: c.verb.PhrasePlace(t.phrase), Message: message})
		}
		if more := len(c.taken) - mostTold; more > 0 {
			d.Notes = append(d.Notes, fmt.Sprintf("and of %d more", more))
		}
		ds = append(ds, d)
	}
	return ds, held
}

// mostTold is how many phrases a warning shows.
const mostTold = 4

func likelihood(c clash, t sharedPhrase) string {
	return fmt.Sprintf("%.0f %% %s, %.0f %% %s", 100*t.by, c.by.Name, 100*t.own, c.verb.Name)
}

//go:embed codes.txtar
var codesText string

// Codes explains the warnings of Lint.
func Codes() []dsl.CodeDoc { return dsl.ReadCodes(codesText) }

// clashes compares each verb's phrases with all verbs that a role may use beside it.
func (ix *Index) clashes() (all []clash, held Held) {
	r := &Reader{ix: ix, may: make([]bool, len(ix.verbs))}
	for p := range ix.templates {
		of := ix.templates[p].verb
		v, tp := ix.verbs[of], &ix.templates[p]
		if tp.named || v.Deprecated != nil || v.Internal {
			continue
		}
		for i, o := range ix.verbs {
			r.may[i] = o.Deprecated == nil && !o.Internal && (o == v || slices.ContainsFunc(o.Roles, func(role *verbs.Role) bool { return slices.Contains(v.Roles, role) }))
		}
		held.Phrases++
		add := func(by *verbs.Verb, t sharedPhrase) {
			t.phrase = tp.text
			i := slices.IndexFunc(all, func(c clash) bool { return c.verb == v && c.by == by && c.taken[0].same == t.same })
			if i < 0 {
				i, all = len(all), append(all, clash{verb: v, by: by})
			}
			all[i].taken = append(all[i].taken, t)
		}
		c, q := ix.saidAs(int32(p))
		same := false
		for _, twin := range ix.ranker.Exact(q.Words) {
			o := ix.ranker.Verb(twin)
			if same = same || o != of && r.may[o] && !ix.templates[twin].named; same && o > of {
				add(ix.verbs[o], sharedPhrase{same: true, elsewhere: ix.verbs[o].PhrasePlace(ix.templates[twin].text)})
			}
		}
		c.sought = q
		found := r.signsOf(c, int32(p))
		ix.model.Weigh(found)
		own := slices.IndexFunc(found, func(k rank.Candidate) bool { return k.Verb == of })
		if own == 0 {
			held.First++
		}
		if own == 0 || same || len(found) == 0 {
			continue
		}
		by := ix.verbs[found[0].Verb]
		if found[0].Score < sureToRead || len(by.Effects) > 0 && found[0].Score < sureToWrite {
			continue // it would be asked about
		}
		held.Taken++
		t := sharedPhrase{by: found[0].Score}
		if own > 0 {
			t.own = found[own].Score
		}
		add(by, t)
	}
	return all, held
}
