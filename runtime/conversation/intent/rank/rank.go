// Package rank ranks the verbs of palettes by how likely a sentence means them, from their names,
// descriptions, arguments and phrases. It knows nothing of languages and of how palettes are written.
//
//	r := rank.New(verbs, small)
//	all := r.Compare(&rank.Query{Words: words, Kinds: kinds}, nil, takes, -1)
//	model.Weigh(all) // the likeliest first, with probabilities
//
// A candidate has signs: how like the sentence is to its nearest phrases, as cosines of words, pairs of
// words and runs of letters (tf-idf; Manning, Raghavan and Schütze, Introduction to Information Retrieval,
// 6.3), which of the words its texts have (BM25, 11.4.3), and among many verbs a regression, see weighed.
// What only the caller knows, such as which arguments are there, the caller adds. A Model makes
// probabilities of signs.
//
// Everything is fitted in New. A Ranker is immutable and may be shared.
package rank

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"verbatim/dsl"
)

// A Ranker knows the texts of verbs.
type Ranker struct {
	small   func(string) bool
	verbs   int
	words   map[string]int32 // the words, by number
	list    []string
	weight  []float32 // of a word, from 0 to 1: the fewer verbs have it, the more it says
	one     []int32   // the phrase that alone has a word, -1 where several have it
	letters map[byte][]int32
	posts   [][]post // by word: the texts that have it
	texts   []text
	of      [][]int32        // the texts of a verb
	pieces  map[string]int32 // words, pairs of words and runs of letters, by number
	rarity  []float32        // of a piece
	inside  [][]post         // by piece: the phrases that have it
	phrases []wording
	exact   map[string][]int32 // phrases by their text
	norms   []float32          // by verb: of all its phrases together
	weighed *weighed           // nil for few verbs
	about   [][]int32          // by word: the verbs whose description has it
	rough   *Model             // chooses the verbs that are compared in full
}

// A Verb is the text of a palette about one verb.
type Verb struct {
	Labels  []string     // what it may share with other verbs
	About   []string     // words of its name, its description, and its arguments
	Phrases [][][]string // by language: the words of each phrase
}

// Weights of features, fitted to training sentences of public intent sets.
const (
	pairs       = 0.6
	runs        = 0.5
	run         = 4 // letters; of many verbs one fewer
	saturation  = 1.2
	lengthCount = 0.4
	// mostCompared is how many verbs are compared in full.
	mostCompared = 24
)

// New makes a Ranker. Words that are small say little.
func New(all []Verb, small func(word string) bool) *Ranker {
	m := &Ranker{small: small, exact: map[string][]int32{}, verbs: len(all), words: map[string]int32{}, pieces: map[string]int32{}, letters: map[byte][]int32{}, of: make([][]int32, len(all))}
	g := gathering{m: m, counted: map[int64]bool{}}
	for v, k := range all {
		g.verb(int32(v), k)
	}
	m.weighWords(g.has)
	m.indexTexts()
	if m.Large() {
		g.describe(all)
	}
	m.weighPieces(g.common)
	m.indexPhrases(g.pieces)
	m.rough = Shipped(len(all))
	if m.Large() {
		m.weighed = m.weigh(g.pieces, g.common, all)
	}
	return m
}

// Large reports whether the palette counts as large.
func (m *Ranker) Large() bool { return m.verbs >= ManyVerbs }

// says returns the inverse document frequency of a word that so many verbs have.
func (m *Ranker) says(verbs int) float32 {
	n := float64(m.verbs)
	return float32(math.Log(1+n/float64(max(1, verbs))) / math.Log(1+n))
}

// ordinary lowers the weight of words that are frequent in any text.
func (m *Ranker) ordinary(w string) float32 {
	if m.small(w) {
		return 0.6
	}
	return 1
}

func saturated(n, length float32) float32 {
	return n * (saturation + 1) / (n + saturation*(1-lengthCount+lengthCount*length))
}

// piecesOf returns the words, word pairs and letter n-grams of a text, each once.
func (m *Ranker) piecesOf(p []string) []string {
	var all []string
	before, run := "", run
	if m.Large() {
		run--
	}
	for _, w := range p {
		if m.Large() && w >= "0" && w < ":" {
			w = "{number}" // all words that begin with a digit count as equal
		}
		all = append(all, w, before+" "+w)
		before = w
		if strings.HasPrefix(w, "{") {
			continue
		}
		long := "_" + w + "_"
		for i := 0; i+run <= len(long); i++ {
			all = append(all, "#"+long[i:i+run])
		}
	}
	all = append(all, before+" ")
	slices.Sort(all)
	return slices.Compact(all)
}

// weightOf returns the weight of a piece by its kind.
func (m *Ranker) weightOf(piece string) float32 {
	switch {
	case piece[0] == '#':
		return runs
	case strings.Contains(piece, " "):
		return pairs
	case piece[0] == '{':
		return 0.8
	}
	return max(m.ordinary(piece), 0.35)
}

// Telling are the kinds of values that no sentence has by chance: a verb that takes one is meant by more
// than words that any sentence may have.
const Telling = CodeKind | FileKind

// Kinds of values that a verb may take, as bits; the others are the caller's.
const (
	CodeKind = 1 << 29
	FileKind = 1 << 30
)

// A Query is a sentence in its compared form.
type Query struct {
	Words  []string // as written
	Kinds  []uint64 // by word: the kinds of its readings, 0 if it is only a word
	Masked []string // with a placeholder for each value or name
}

// Signs are the features of a Candidate.
type Signs [SignCount]float32

// The features.
const (
	OfWords    = iota // BM25, as a share of the greatest possible score of the sentence
	OfNearest         // likeness of the nearest phrase
	OfThree           // mean likeness of the three nearest phrases
	OfAll             // likeness of all its phrases together; among many verbs, weighed against theirs
	OfCover           // share of the sentence whose words it has
	OfRequired        // share of its required arguments that are there
	OfLoose           // values that it has no argument for
	OfQuestion        // a question, and it changes something
	OfOrder           // an order that begins with its own word
	OfFree            // it takes free text
	OfUnknown         // share of the sentence whose words no verb has
	OfOrdinary        // all its words in the sentence are words that any sentence may have
	OfSaid            // one of its phrases matches, and ends in free text
	OfShare           // among many verbs, the logarithm of its share of what they are weighed
	OfAbout           // and the share of the sentence whose words are in its description
	SignCount
)

// A Candidate is a verb with its features and score.
type Candidate struct {
	Verb, Phrase int32 // the nearest phrase, or -1
	Signs        Signs
	Score        float64
}

// Compare scores the verbs for a sentence. left is a phrase that is left out, or -1.
func (m *Ranker) Compare(q *Query, may []bool, takes []uint64, left int32) []Candidate {
	ids, weights := m.find(q, left)
	all := m.alike(q, ids, takes, left)
	for t, s := range m.full(ids, weights, left) {
		c := &all[m.texts[t].verb]
		c.Signs[OfWords] = max(c.Signs[OfWords], s/10)
	}
	out := make([]Candidate, 0, mostCompared+1)
	order := func(a, b *Candidate) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Verb, b.Verb)) }
	for v := range all {
		c := &all[v]
		if may != nil && !may[v] || c.Signs[OfWords] == 0 && c.Signs[OfNearest] == 0 {
			continue
		}
		for _, k := range [...]int{OfWords, OfNearest, OfThree, OfAll, OfShare} {
			c.Score += float64(m.rough.Signs[k] * c.Signs[k])
		}
		if n := len(out); n == mostCompared && order(c, &out[n-1]) > 0 {
			continue
		}
		k, _ := slices.BinarySearchFunc(out, c, func(o Candidate, c *Candidate) int { return order(&o, c) })
		out = slices.Insert(out, k, *c)
		out = out[:min(len(out), mostCompared)]
	}
	var total, unknown float32
	for i := range ids {
		total += weights[i]
		if ids[i] < 0 && q.Kinds[i] == 0 {
			unknown += weights[i]
		}
	}
	for i, id := range ids {
		if id < 0 || m.about == nil {
			continue
		}
		for k := range out {
			if slices.Contains(m.about[id], out[k].Verb) {
				out[k].Signs[OfAbout] += weights[i] / max(total, 0.01)
			}
		}
	}
	for k := range out {
		c := &out[k]
		c.Signs[OfCover], c.Signs[OfOrdinary] = m.covers(c.Verb, q, ids, weights, takes[c.Verb], left)
		c.Signs[OfCover] /= max(total, 0.01)
		c.Signs[OfUnknown] = unknown / max(total, 0.01)
	}
	return out
}

// full returns the score of each text for the words of a sentence (BM25).
func (m *Ranker) full(ids []int32, weights []float32, left int32) []float32 {
	full := make([]float32, len(m.texts))
	for i, id := range ids {
		if id < 0 {
			continue
		}
		for _, p := range m.posts[id] {
			full[p.at] += p.weight * weights[i]
		}
	}
	if left >= 0 {
		full[m.phrases[left].text] = m.without(ids, weights, left)
	}
	return full
}

// alike gives the candidates, all verbs, with the signs that likeness to phrases gives them.
func (m *Ranker) alike(q *Query, ids []int32, takes []uint64, left int32) []Candidate {
	said := m.piecesOf(q.Words)
	like := m.likeness(said)
	var masked []string
	var other []float32
	if q.Masked != nil {
		masked = m.piecesOf(q.Masked)
		other = m.likeness(masked)
	}
	together, share := m.together(said, masked, ids, takes, left, like)
	all := make([]Candidate, m.verbs)
	for v := range all {
		all[v] = Candidate{Verb: int32(v), Phrase: -1}
	}
	near := make([][3]float32, m.verbs)
	sum := make([]float32, m.verbs)
	for p := range m.phrases {
		v := m.phrases[p].verb
		s := like[p]
		if other != nil && takes[v] != 0 {
			s = max(s, other[p])
		}
		if s == 0 || int32(p) == left {
			continue
		}
		sum[v] += s
		n := &near[v]
		switch {
		case s > n[0]:
			n[0], n[1], n[2] = s, n[0], n[1]
			all[v].Phrase = int32(p)
		case s > n[1]:
			n[1], n[2] = s, n[1]
		case s > n[2]:
			n[2] = s
		}
	}
	for v := range all {
		c := &all[v]
		c.Signs[OfNearest] = near[v][0]
		c.Signs[OfThree] = (near[v][0] + near[v][1] + near[v][2]) / 3
		c.Signs[OfAll] = sum[v] * m.norms[v]
		if together != nil {
			c.Signs[OfAll], c.Signs[OfShare] = together[v]/10, max(together[v]-share, -faint)/10
		}
	}
	return all
}

// covers returns the weight of the words of a sentence that a verb has, or takes as values. common
// is 1 if any sentence may have these words, and 0 otherwise.
func (m *Ranker) covers(verb int32, q *Query, ids []int32, weights []float32, takes uint64, left int32) (cover, common float32) {
	common = 1
	var free float32
	for i, id := range ids {
		if kinds := q.Kinds[i] & takes; kinds != 0 {
			free += weights[i] // it is a value, or a name, and not a word
			if kinds&(Telling) != 0 {
				common = 0
			}
			continue
		}
		if id < 0 {
			continue
		}
		for _, t := range m.of[verb] {
			n := m.texts[t].counts[id]
			if left >= 0 && m.phrases[left].text == t {
				n -= float32(count(m.phrases[left].words, id))
			}
			if n > 0.5 {
				cover += weights[i]
				if m.ordinary(m.list[id]) == 1 {
					common = 0
				}
				break
			}
		}
	}
	return cover + free, common
}

func count[T comparable](all []T, of T) (n int) {
	for _, a := range all {
		if a == of {
			n++
		}
	}
	return n
}

// without returns the score of a text without one of its phrases.
func (m *Ranker) without(ids []int32, weights []float32, left int32) (sum float32) {
	p := &m.phrases[left]
	t := &m.texts[p.text]
	for i, id := range ids {
		if id >= 0 {
			if n := t.counts[id] - float32(count(p.words, id)); n > 0 {
				sum += weights[i] * saturated(n, t.length)
			}
		}
	}
	return sum
}

// find looks up the words of a sentence, each once. An unknown word counts as the known word that
// differs in one letter.
func (m *Ranker) find(q *Query, left int32) (ids []int32, weights []float32) {
	ids, weights = make([]int32, len(q.Words)), make([]float32, len(q.Words))
	for i, w := range q.Words {
		id, ok := m.words[w]
		if ok && left >= 0 && m.one[id] == left {
			ok = false
		}
		switch {
		case slices.Contains(q.Words[:i], w):
			ids[i] = -1 // and of no weight
		case ok:
			ids[i], weights[i] = id, m.weight[id]
		default:
			ids[i], weights[i] = m.spelt(w), 0.85*m.ordinary(w)
			if ids[i] >= 0 && left >= 0 && m.one[ids[i]] == left {
				ids[i] = -1
			}
			if ids[i] >= 0 {
				weights[i] = 0.8 * m.weight[ids[i]]
			}
		}
	}
	return ids, weights
}

// spelt returns the only known word that differs from a word in one letter, or -1.
func (m *Ranker) spelt(w string) int32 {
	if len(w) < 5 || m.ordinary(w) != 1 || strings.ContainsAny(w, "0123456789") {
		return -1
	}
	for _, id := range m.letters[w[0]] {
		if s := m.list[id]; len(s) >= 5 && len(s)-len(w) <= 1 && len(w)-len(s) <= 1 && dsl.Distance(w, s, 1) <= 1 {
			return id
		}
	}
	return -1
}

// likeness returns the cosine similarity of each phrase to a sentence.
func (m *Ranker) likeness(pieces []string) []float32 {
	like := make([]float32, len(m.phrases))
	sum := float32(0)
	for _, piece := range pieces {
		w := m.weightOf(piece)
		id, ok := m.pieces[piece]
		if !ok {
			sum += w * w
			continue
		}
		w *= m.rarity[id]
		sum += w * w
		for _, p := range m.inside[id] {
			like[p.at] += p.weight * w
		}
	}
	norm := 1 / float32(math.Sqrt(max(float64(sum), 1e-9)))
	for i := range like {
		like[i] *= norm
	}
	return like
}

// Exact returns the phrases that are some words.
func (m *Ranker) Exact(words []string) []int32 { return m.exact[strings.Join(words, " ")] }

// Phrases returns the number of phrases, names included.
func (m *Ranker) Phrases() int { return len(m.phrases) }

// Verb returns the verb of a phrase.
func (m *Ranker) Verb(phrase int32) int32 { return m.phrases[phrase].verb }

// Weight returns what a word says, from 0 to 1, and whether any verb has it.
func (m *Ranker) Weight(word string) (weight float32, known bool) {
	id, known := m.words[word]
	if !known {
		return 0, false
	}
	return m.weight[id], true
}
