package rank

import (
	"math"
	"slices"
	"strings"
)

// Large palettes weigh the texts of all verbs against each other: "how many" may be all that
// distinguishes two verbs, and a word that both have says little. This is a softmax regression over the
// pieces of texts (Bishop, Pattern Recognition and Machine Learning, 4.3.4). The score of a verb is the sum
// of those of its labels: a thousand operations of an API share "list" or "channel", so the phrases of one
// teach what is said for all, although each has few. It is stopped early, since more rounds would learn the
// phrases by heart.
type weighed struct {
	counts  []float32   // by piece: how much it counts, 0 if not at all
	rows    [][]float32 // by piece: what it says for each output
	outputs int
	labels  [][]int32 // by verb: the outputs of its labels, in one piece
	fine    bool
	own     [][]post // by phrase: what it taught
}

// Parameters of the regression, chosen on training sentences of public intent sets and on left-out
// phrases of operations of APIs.
const (
	rounds    = 8
	pace      = 3.0
	ofLabel   = 0.65  // how much a label counts
	leastStep = 0.002 // smaller steps are left out
	faint     = 10.0  // a score so far below the greatest has no probability
	rarely    = 0.7   // the exponent of how rare a piece is
	// mostFine is up to how many texts times verbs runs of letters are compared, and all pairs of words.
	// Beyond, verbs are told apart by what they share, and there are fewer rounds.
	mostFine  = 300_000
	coarsely  = 3 // rounds,
	ofSeveral = 3 // the phrases that have a pair of words if it counts
)

// weigh fits the regression by stochastic gradient descent.
func (m *Ranker) weigh(phrases [][]int32, common []float64, all []Verb) *weighed {
	w := &weighed{counts: make([]float32, len(m.rarity)), rows: make([][]float32, len(m.rarity)), labels: make([][]int32, m.verbs), own: make([][]post, len(phrases))}
	texts := slices.Clone(phrases)
	verbs := make([]int32, len(phrases))
	for p := range phrases {
		verbs[p] = m.phrases[p].verb
	}
	for v, k := range all {
		var ids []int32
		for _, word := range k.About {
			if id, ok := m.pieces[word]; ok && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		texts, verbs = append(texts, ids), append(verbs, int32(v))
	}
	most, exponent := rounds, rarely
	if w.fine = len(texts)*m.verbs <= mostFine; !w.fine {
		most, exponent = coarsely, 1
	}
	used := 0
	for piece, id := range m.pieces {
		pair := strings.Contains(piece, " ")
		if w.fine || piece[0] != '#' && (!pair || common[id] >= ofSeveral) {
			w.counts[id] = speaks(piece) * float32(math.Pow(float64(m.rarity[id]), exponent))
			used++
		}
	}
	outputs := w.share(all)
	w.outputs = outputs
	cells := make([]float32, used*outputs)
	for id, c := range w.counts {
		if c > 0 {
			w.rows[id], cells = cells[:outputs:outputs], cells[outputs:]
		}
	}
	order := make([]int32, len(texts))
	for i := range order {
		order[i] = int32(i)
	}
	scores, sums, steps := make([]float32, m.verbs), make([]float32, outputs), make([]float32, outputs)
	var stepped []int32
	seed := uint32(1)
	for round := range most {
		pace := pace * (1 - float32(round)/float32(most))
		for i := range order {
			seed = seed*1664525 + 1013904223
			j := i + int(seed>>8)%(len(order)-i)
			order[i], order[j] = order[j], order[i]
			text := order[i]
			norm := w.score(texts[text], sums, scores, 0)
			most, sum := slices.Max(scores), float32(0)
			for v, s := range scores {
				if s -= most; s > -faint {
					scores[v] = float32(math.Exp(float64(s)))
					sum += scores[v]
				} else {
					scores[v] = 0
				}
			}
			stepped = stepped[:0]
			step := func(o int32, s float32) {
				if steps[o] == 0 {
					stepped = append(stepped, o)
				}
				steps[o] += s
			}
			for v, c := range scores {
				s := -c / sum
				if int32(v) == verbs[text] {
					s++
				}
				if s > -leastStep && s < leastStep {
					continue
				}
				for _, o := range w.labels[v] {
					step(o, pace*s*ofLabel)
				}
			}
			for _, id := range texts[text] {
				if row := w.rows[id]; row != nil {
					by := norm * w.counts[id]
					for _, o := range stepped {
						row[o] += steps[o] * by
					}
				}
			}
			if int(text) < len(phrases) {
				slices.Sort(stepped)
				w.own[text] = added(w.own[text], slices.Compact(stepped), steps)
			}
			for _, o := range stepped {
				steps[o] = 0
			}
		}
	}
	return w
}

// share numbers the labels that several verbs have, and a label for each verb alone unless they are told
// apart by what they share, and returns how many there are.
func (w *weighed) share(all []Verb) (outputs int) {
	count, number := map[string]int{}, map[string]int32{}
	for _, k := range all {
		for _, l := range k.Labels {
			count[l]++
		}
	}
	var flat []int32
	ends := make([]int, len(all))
	for v, k := range all {
		if w.fine {
			flat = append(flat, int32(outputs))
			outputs++
		}
		for _, l := range k.Labels {
			if count[l] < 2 || count[l] == len(all) {
				continue
			}
			n, ok := number[l]
			if !ok {
				n = int32(outputs)
				number[l] = n
				outputs++
			}
			flat = append(flat, n)
		}
		ends[v] = len(flat)
	}
	from := 0
	for v, to := range ends {
		w.labels[v], from = flat[from:to], to
	}
	return outputs
}

// score gives the sum of each output and the score of each verb, and returns the factor that normalises
// a text to length 1; squares is the sum for unknown pieces.
func (w *weighed) score(pieces []int32, sums, scores []float32, squares float32) float32 {
	clear(sums)
	for _, id := range pieces {
		c := w.counts[id]
		squares += c * c
		for o, s := range w.rows[id] {
			sums[o] += s * c
		}
	}
	norm := 1 / float32(math.Sqrt(max(float64(squares), 1e-9)))
	for o := range sums {
		sums[o] *= norm
	}
	w.sum(sums, scores)
	return norm
}

func (w *weighed) sum(sums, scores []float32) {
	for v := range scores {
		s := float32(0)
		for _, o := range w.labels[v] {
			s += sums[o]
		}
		scores[v] = ofLabel * s
	}
}

// added adds the steps of some outputs to a row that is sorted by them.
func added(to []post, outputs []int32, steps []float32) []post {
	k := 0
	for _, o := range outputs {
		for k < len(to) && to[k].at < o {
			k++
		}
		if k == len(to) || to[k].at != o {
			to = slices.Insert(to, k, post{at: o})
		}
		to[k].weight += steps[o]
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

// speak returns the scores of all verbs for the pieces of a sentence, and for the words that misspelt ones
// stand for. A phrase that is left out takes away what it taught, as far as it is like the sentence.
func (m *Ranker) speak(pieces []string, spelt []int32, left int32, like float32) []float32 {
	w := m.weighed
	var known []int32
	squares := float32(0)
	for _, piece := range pieces {
		if id, ok := m.pieces[piece]; ok {
			known = append(known, id)
		} else if w.fine || piece[0] != '#' && !strings.Contains(piece, " ") {
			squares += speaks(piece) * speaks(piece)
		}
	}
	for _, id := range spelt {
		if id, ok := m.pieces[m.list[id]]; ok && !slices.Contains(known, id) {
			known = append(known, id)
		}
	}
	sums, scores := make([]float32, w.outputs), make([]float32, m.verbs)
	w.score(known, sums, scores, squares)
	if left >= 0 {
		for _, own := range w.own[left] {
			sums[own.at] -= own.weight * like
		}
		w.sum(sums, scores)
	}
	return scores
}

// together returns the scores of all verbs, with words or with placeholders for values, and the logarithm
// of the sum of their exponentials; nil for small palettes.
func (m *Ranker) together(said, masked []string, ids []int32, takes []uint64, left int32, like []float32) (all []float32, share float32) {
	if m.weighed == nil {
		return nil, 0
	}
	var spelt []int32
	for _, id := range ids {
		if id >= 0 && !slices.Contains(said, m.list[id]) {
			spelt = append(spelt, id)
		}
	}
	is := float32(0)
	if left >= 0 {
		is = like[left]
	}
	all = m.speak(said, spelt, left, is)
	if masked != nil {
		for v, s := range m.speak(masked, spelt, left, is) {
			if takes[v] != 0 {
				all[v] = max(all[v], s)
			}
		}
	}
	most, sum := slices.Max(all), 0.0
	for _, s := range all {
		sum += math.Exp(float64(s - most))
	}
	return all, most + float32(math.Log(sum))
}
