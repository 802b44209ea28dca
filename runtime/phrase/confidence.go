package phrase

import (
	"math"

	"verbatim/verbs"
)

// How likely it is that the verb which comes first is the one that is meant: the
// logistic function of what is known of the fit. The weights were fitted to the
// tuning half of testdata/apart.txt, as the palettes were before they had any
// phrase that came from it, and tell in every ten how many are right; the tests
// print the table, and hold it against both halves.
const (
	weighBias     = -2.67
	weighScore    = 1.82 // how well its text fits
	weighMargin   = 1.74 // how much better than the next, up to 0.4
	weighCovered  = 0.69 // how much of the sentence it accounts for
	weighFree     = 0.39 // it takes words as they come
	weighFreeOf   = -0.13
	weighTemplate = 1.96 // how much of its text was said
	weighGiven    = 0.84 // how many of the arguments that it needs
)

// least is the confidence below which a verb is not proposed, however well it
// fits otherwise.
const least = 0.66

// hindered is how likely a verb is that fits a sentence which denies, imagines,
// quotes, asks about what would change something, or names a stranger.
const hindered = 0.3

func (r *Reader) confidence(s, next float32, of *scored, f *fit) float64 {
	free := 0.0
	if f.text {
		free = 1
	}
	margin := min(float64(s-next), 0.4)
	covered := float64(of.covered)
	z := weighBias + weighScore*float64(s) + weighMargin*margin + weighCovered*covered + (weighFree+weighFreeOf*covered)*free +
		weighTemplate*float64(of.recall*r.ix.templates[of.template].quality) + weighGiven*float64(f.required)
	return 1 / (1 + math.Exp(-z))
}

// Unknown is the intent of what is not understood.
const Unknown = "UNKNOWN"

// Intent is what is most likely meant, and how likely that is, from 0 to 1: the
// name of a verb, or Unknown where the words say nothing that would tell. An
// intent is no permission to do it: a verb is meant where the part is Sure, and
// is asked about otherwise.
func (p *Part) Intent() (name string, confidence float64) {
	v := p.intended()
	if v == nil {
		return Unknown, 0
	}
	return v.Name, p.Confidence
}

func (p *Part) intended() *verbs.Verb {
	switch {
	case p.Verb != nil:
		return p.Verb
	case p.Certainty == Nothing || len(p.Ranked) == 0:
		return nil
	}
	return p.Ranked[0].Verb
}
