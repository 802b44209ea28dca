package intent

import (
	"math"
	"slices"
	"strings"
)

// Large palettes weigh the phrases of all verbs against each other: "how many" may be all that
// distinguishes two verbs, and a word that both have says little. This is a multinomial logistic
// regression over the pieces of phrases, stopped early, since a verb has few phrases and more steps
// would overfit.
type weighed struct {
	counts []float32 // by piece: how much it counts
	verbs  [][]post  // by piece: the verbs that it counts for and against
	own    [][]post  // by phrase: its own contribution
}

// Parameters of the regression, chosen on training sentences of public intent sets.
const (
	mostRounds = 10
	mostVisits = 20_000 // of phrases, however many there are: the first sentence waits for it
	firstPace  = 3
	leastStep  = 0.04
)

// weigh trains the regression by stochastic gradient descent.
func (m *matcher) weigh(phrases [][]int32) *weighed {
	w := &weighed{counts: make([]float32, len(m.rarity)), verbs: make([][]post, len(m.rarity)), own: make([][]post, len(phrases))}
	for piece, id := range m.pieces {
		w.counts[id] = speaks(piece) * float32(math.Sqrt(float64(m.rarity[id])))
	}
	scores, chances := make([]float32, m.verbs), make([]float64, m.verbs)
	var steps []post
	stride := 7919 // a prime, so that a round goes through the verbs in turn
	if len(phrases)%stride == 0 {
		stride = 7907
	}
	rounds := max(2, min(mostRounds, mostVisits/max(1, len(phrases))))
	for round := range rounds {
		pace := firstPace * (1 - float32(round)/float32(rounds))
		for i := range phrases {
			p := i * stride % len(phrases)
			clear(scores)
			norm := w.add(phrases[p], scores, 0)
			most, sum := slices.Max(scores), 0.0
			for v, s := range scores {
				chances[v] = math.Exp(float64(norm * (s - most)))
				sum += chances[v]
			}
			steps = steps[:0]
			for v, c := range chances {
				step := -c / sum
				if int32(v) == m.phrases[p].verb {
					step++
				}
				if math.Abs(step) > leastStep {
					steps = append(steps, post{int32(v), pace * float32(step)})
				}
			}
			for _, id := range phrases[p] {
				w.verbs[id] = added(w.verbs[id], steps, norm*w.counts[id])
			}
			w.own[p] = added(w.own[p], steps, 1)
		}
	}
	return w
}

// add adds the contributions of pieces to the scores of verbs, and returns the factor that
// normalises a text to length 1; squares is the sum for unknown pieces.
func (w *weighed) add(pieces []int32, scores []float32, squares float32) float32 {
	for _, id := range pieces {
		squares += w.counts[id] * w.counts[id]
		for _, a := range w.verbs[id] {
			scores[a.at] += a.weight * w.counts[id]
		}
	}
	return 1 / float32(math.Sqrt(max(float64(squares), 1e-9)))
}

// added adds steps to weights; both are sorted by verb.
func added(to, steps []post, by float32) []post {
	k := 0
	for _, s := range steps {
		for k < len(to) && to[k].at < s.at {
			k++
		}
		if k == len(to) || to[k].at != s.at {
			to = slices.Insert(to, k, post{at: s.at})
		}
		to[k].weight += by * s.weight
	}
	return to
}

// speaks returns the weight of a piece by its kind.
func speaks(piece string) float32 {
	switch {
	case piece[0] == '#':
		return runs
	case strings.Contains(piece, " "):
		return pairs
	}
	return 1
}

// speak returns the scores of all verbs for the pieces of a sentence.
func (m *matcher) speak(pieces []string) []float32 {
	w, scores := m.weighed(), make([]float32, m.verbs)
	var known []int32
	squares := float32(0)
	for _, piece := range pieces {
		if id, ok := m.pieces[piece]; ok {
			known = append(known, id)
		} else {
			squares += speaks(piece) * speaks(piece)
		}
	}
	norm := w.add(known, scores, squares)
	for v := range scores {
		scores[v] *= norm
	}
	return scores
}

// together returns the scores of all verbs, with words or with placeholders for values; nil for
// small palettes.
func (m *matcher) together(said, masked []string, takes []uint64) []float32 {
	if m.weighed == nil {
		return nil
	}
	all := m.speak(said)
	if masked != nil {
		for v, s := range m.speak(masked) {
			if takes[v] != 0 {
				all[v] = max(all[v], s)
			}
		}
	}
	return all
}
