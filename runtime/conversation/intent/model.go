package intent

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"
)

// A model is a multinomial logit over the features of the candidates: it gives the probability of
// each, and of none.
type model struct {
	signs signs
	none  float64
}

// weigh replaces the scores of candidates by probabilities, and sorts by them.
func (m *model) weigh(all []candidate) {
	most := m.none
	for i := range all {
		all[i].score = m.score(&all[i])
		most = max(most, all[i].score)
	}
	sum := math.Exp(m.none - most)
	for i := range all {
		all[i].score = math.Exp(all[i].score - most)
		sum += all[i].score
	}
	for i := range all {
		all[i].score /= sum
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.verb, b.verb))
	})
}

func (m *model) score(c *candidate) (sum float64) {
	for k, s := range c.signs {
		sum += float64(s) * float64(m.signs[k])
	}
	return sum
}

// many and few are the shipped models for large and for small palettes. They were fitted to
// training sentences of public intent sets and to left-out phrases of our own palettes. Intents
// have no arguments, so many has the weights of few for features of arguments. Its none is higher
// than fitted, against sentences that belong to nothing. See TestFitModel.
var (
	many = &model{signs: signs{10.52, 4.70, -8.11, 3.78, -0.53, 0.81, 0.15, -5.50, 0.23, 0.2, -4.00, -0.63, 6.77, 10.18, 1.46}, none: 2.2}
	few  = &model{signs: signs{12.10, 2.81, 0.98, 6.64, 4.00, 2.92, 0.11, -5.50, 0.07, 0.27, 2.55, -1.09, 6.77}, none: 8.32}
)

// manyVerbs is from how many verbs on a palette is large.
const manyVerbs = 60

// shipped returns the model for a number of verbs.
func shipped(verbs int) *model {
	if verbs < manyVerbs {
		return few
	}
	return many
}

// Keep stores the fitted model outside, under a digest of everything that it depends on, so that
// the next process need not fit it. It is read, or fitted and written, with the first sentence.
func (ix *Index) Keep(read func(name string) []byte, write func(name string, text []byte)) *Index {
	ix.model = sync.OnceValue(func() *model {
		var kept []float64
		name := "phrases-" + ix.digest() + ".json"
		if json.Unmarshal(read(name), &kept) == nil && len(kept) == signCount+1 {
			m := &model{none: kept[signCount]}
			for k := range m.signs {
				m.signs[k] = float32(kept[k])
			}
			return m
		}
		m := ix.learn()
		kept = nil
		for _, s := range m.signs {
			kept = append(kept, float64(s))
		}
		text, _ := json.Marshal(append(kept, m.none))
		write(name, text)
		return m
	})
	return ix
}

// digest identifies everything that the fit depends on.
func (ix *Index) digest() string {
	h := sha256.New()
	fmt.Fprintln(h, *shipped(len(ix.verbs)), mostExamples, pull, steps, learning, rounds, pace, ofLabel, rarely, ix.takes, ix.asking, ix.firsts, ix.matcher.list, ix.matcher.weight, ix.matcher.rarity)
	for i := range ix.templates {
		fmt.Fprintf(h, "%d %q\n", ix.templates[i].verb, ix.templates[i].text)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
