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
// were left out. Intents take no arguments, so that many has of these what few has, and
// its none is a little higher than fitted, for what belongs to nothing. See TestFitModel.
var (
	many = &model{signs: signs{10.19, 4.60, -0.06, 9.38, -0.76, 2.92, 0.18, -5.50, 0.48, 0.27, -2.01, -0.51, 6.77}, none: 10.20}
	few  = &model{signs: signs{12.10, 2.81, 0.98, 6.64, 4.00, 2.92, 0.11, -5.50, 0.07, 0.27, 2.55, -1.09, 6.77}, none: 8.32}
)

const (
	// manyVerbs is from how many verbs on a palette is large.
	manyVerbs = 60
	// sure is how much the signs of a large palette tell, times the logarithm of its verbs,
	// up to the most that were measured.
	sure         = 3.5
	mostMeasured = 226
)

// shipped is the model that a palette of so many verbs begins with. The more verbs there
// are, the more of them come near what was said by chance, and the less a likeness tells:
// among 59 to 226 intents, about as many in a hundred are then proposed wrongly at 0.8.
func shipped(verbs int) *model {
	if verbs < manyVerbs {
		return few
	}
	m := *many
	by := sure / math.Log(float64(min(verbs, mostMeasured)))
	for k := range m.signs {
		m.signs[k] *= float32(by)
	}
	m.none *= by
	return &m
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
	fmt.Fprintln(h, *shipped(len(ix.verbs)), mostExamples, pull, steps, pace, mostRounds, mostVisits, firstPace, leastStep, ix.takes, ix.asking, ix.firsts, ix.matcher.list, ix.matcher.weight, ix.matcher.rarity)
	for i := range ix.templates {
		fmt.Fprintf(h, "%d %q\n", ix.templates[i].verb, ix.templates[i].text)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
