package phrase

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

// A model says how likely each of some candidates is meant, and how likely none is:
// a multinomial logit over what is known of each.
type model struct {
	signs signs
	none  float64
}

// weigh orders candidates by how likely they are meant, which becomes their score.
func (m *model) weigh(all []candidate) {
	most := m.none
	for i := range all {
		all[i].score = 0
		for k, s := range all[i].signs {
			all[i].score += float64(s) * float64(m.signs[k])
		}
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

// many and few were fitted for palettes of many verbs, and of few: to sentences of
// intents by others that are no test sentences, and to phrases of our own palettes that
// were left out. See TestFitModel.
var (
	many = &model{signs: signs{14.44, 7.35, -5.86, 13.05, -0.35, 18.31, -0.32, -6.56, 0.41, 1.11, -0.87, 0.29, 4.00}, none: 24.95}
	few  = &model{signs: signs{12.10, 2.81, 0.98, 6.64, 4.00, 2.92, 0.11, -5.50, 0.07, 0.27, 2.55, -1.09, 6.77}, none: 8.32}
)

// manyVerbs is from how many verbs on a palette is large.
const manyVerbs = 50

// shipped is the model that a palette of so many verbs begins with.
func shipped(verbs int) *model {
	if verbs >= manyVerbs {
		return many
	}
	return few
}

// Keep lets what was fitted to the palettes be kept outside, by the digest of all that it
// is made of, so that the next process does not fit it again. It is read, or made and
// written, when the first sentence is; where nothing is read, it is made.
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

// digest is of all that the fit is made of.
func (ix *Index) digest() string {
	h := sha256.New()
	fmt.Fprintln(h, *shipped(len(ix.verbs)), mostExamples, pull, steps, pace, ix.takes, ix.asking, ix.firsts, ix.matcher.list, ix.matcher.weight, ix.matcher.rarity)
	for i := range ix.templates {
		fmt.Fprintf(h, "%d %q\n", ix.templates[i].verb, ix.templates[i].text)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
