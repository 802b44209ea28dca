package intent

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"verbatim/dsl"
)

// A matcher ranks verbs by their names, descriptions, arguments and phrases. It knows nothing of
// languages. It is immutable.
type matcher struct {
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
	rough   *model             // chooses the verbs that are compared in full
}

// A text is the words of a verb in one language.
type text struct {
	verb   int32
	length float32
	counts map[int32]float32
}

// A wording is a phrase in its compared form.
type wording struct {
	verb, text int32
	words      []int32
}

type post struct {
	at     int32
	weight float32
}

// A known is the text of a palette about one verb.
type known struct {
	labels  []string     // what it may share with other verbs
	about   []string     // words of its name, its description, and its arguments
	phrases [][][]string // by language: the words of each phrase
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

func newMatcher(all []known) *matcher {
	m := &matcher{exact: map[string][]int32{}, verbs: len(all), words: map[string]int32{}, pieces: map[string]int32{}, letters: map[byte][]int32{}, of: make([][]int32, len(all))}
	g := gathering{m: m, counted: map[int64]bool{}}
	for v, k := range all {
		g.verb(int32(v), k)
	}
	m.weighWords(g.has)
	m.indexTexts()
	if m.large() {
		g.describe(all)
	}
	m.weighPieces(g.common)
	m.indexPhrases(g.pieces)
	m.rough = shipped(len(all))
	if m.large() {
		m.weighed = m.weigh(g.pieces, g.common, all)
	}
	return m
}

// A gathering numbers the words and pieces of verbs, and counts the verbs that have them.
type gathering struct {
	m       *matcher
	has     []map[int32]bool // by word: verbs
	pieces  [][]int32        // by phrase
	common  []float64        // by piece: phrases that have it
	counted map[int64]bool   // a verb and a piece
}

// Instead of the one phrase that has a word: no phrase has it, or several have it.
const (
	noPhrase = -2
	several  = -1
)

// verb adds the texts of a verb: one of its name and its phrases in English, and one of its phrases
// in each other language.
func (g *gathering) verb(v int32, k known) {
	t := text{verb: v, counts: map[int32]float32{}}
	for _, w := range k.about {
		id := g.word(w, v)
		t.counts[id] = max(t.counts[id], 0.7)
		g.m.one[id] = several
	}
	for l, phrases := range k.phrases {
		if l > 0 {
			g.text(t)
			t = text{verb: v, counts: map[int32]float32{}}
		}
		for _, p := range phrases {
			g.phrase(v, p, t.counts)
		}
	}
	g.text(t)
}

func (g *gathering) word(s string, verb int32) int32 {
	m := g.m
	id, ok := m.words[s]
	if !ok {
		id = int32(len(m.list))
		m.words[s], m.list, m.one, g.has = id, append(m.list, s), append(m.one, noPhrase), append(g.has, map[int32]bool{})
	}
	g.has[id][verb] = true
	return id
}

func (g *gathering) text(t text) {
	if len(t.counts) == 0 {
		return
	}
	length := 0.0 // which is exact, in whatever order
	for _, n := range t.counts {
		length += float64(n)
	}
	t.length = float32(length)
	g.m.of[t.verb] = append(g.m.of[t.verb], int32(len(g.m.texts)))
	g.m.texts = append(g.m.texts, t)
}

// phrase takes a phrase of the text that comes next, whose words it counts.
func (g *gathering) phrase(v int32, p []string, counts map[int32]float32) {
	m, n := g.m, int32(len(g.m.phrases))
	s := wording{verb: v, text: int32(len(m.texts))}
	said := strings.Join(p, " ")
	m.exact[said] = append(m.exact[said], n)
	for _, w := range p {
		if strings.HasPrefix(w, "{") {
			continue
		}
		id := g.word(w, v)
		s.words = append(s.words, id)
		if counts[id]++; m.one[id] == noPhrase {
			m.one[id] = n
		} else if m.one[id] != n {
			m.one[id] = several
		}
	}
	var ids []int32
	for _, piece := range m.piecesOf(p) {
		id, ok := m.pieces[piece]
		if !ok {
			id = int32(len(m.pieces))
			m.pieces[piece] = id
			m.rarity, g.common = append(m.rarity, 0), append(g.common, 0)
		}
		ids = append(ids, id)
		g.common[id]++
		if key := int64(v)<<32 | int64(id); !g.counted[key] {
			g.counted[key] = true
			m.rarity[id]++
		}
	}
	m.phrases, g.pieces = append(m.phrases, s), append(g.pieces, ids)
}

// describe makes pieces of the words that only descriptions have.
func (g *gathering) describe(all []known) {
	m := g.m
	m.about = make([][]int32, len(m.list))
	for v, k := range all {
		for i, w := range k.about {
			if slices.Contains(k.about[:i], w) {
				continue
			}
			m.about[m.words[w]] = append(m.about[m.words[w]], int32(v))
			if id, ok := m.pieces[w]; !ok {
				m.pieces[w] = int32(len(m.rarity))
				m.rarity, g.common = append(m.rarity, 1), append(g.common, 1)
			} else if key := int64(v)<<32 | int64(id); !g.counted[key] {
				g.counted[key] = true
				m.rarity[id]++
				g.common[id]++
			}
		}
	}
}

// weighWords weighs each word by the verbs that have it.
func (m *matcher) weighWords(has []map[int32]bool) {
	m.weight = make([]float32, len(m.list))
	for id, w := range m.list {
		m.weight[id] = m.says(len(has[id])) * ordinary(w)
		if len(w) > 0 {
			m.letters[w[0]] = append(m.letters[w[0]], int32(id))
		}
	}
}

// indexTexts lists for each word the texts that have it, with their weights (BM25).
func (m *matcher) indexTexts() {
	m.posts = make([][]post, len(m.list))
	mean := float32(0)
	for i := range m.texts {
		mean += m.texts[i].length / float32(len(m.texts))
	}
	for i := range m.texts {
		t := &m.texts[i]
		t.length /= max(mean, 1)
		for id, n := range t.counts {
			m.posts[id] = append(m.posts[id], post{int32(i), saturated(n, t.length)})
		}
	}
	for id := range m.posts {
		slices.SortFunc(m.posts[id], func(a, b post) int { return int(a.at - b.at) })
	}
}

// weighPieces weighs each piece by its inverse document frequency, over verbs and over phrases.
func (m *matcher) weighPieces(common []float64) {
	verbs, phrases := float64(m.verbs), float64(len(m.phrases))
	for id, of := range m.rarity {
		m.rarity[id] = float32(math.Log(1+verbs/float64(of))/math.Log(1+verbs)+math.Log(1+phrases/common[id])/math.Log(1+phrases)) / 2
	}
}

// indexPhrases notes which phrases have a piece, by the pieces of each, and how long the phrases
// of a verb are together.
func (m *matcher) indexPhrases(pieces [][]int32) {
	names := make([]string, len(m.pieces))
	for piece, id := range m.pieces {
		names[id] = piece
	}
	m.inside = make([][]post, len(m.rarity))
	m.norms = make([]float32, m.verbs)
	together := make([]float32, len(m.rarity)) // by piece: of all phrases of a verb, which follow each other
	var of []int32
	for p, ids := range pieces {
		sum := float32(0)
		for _, id := range ids {
			w := counts(names[id]) * m.rarity[id]
			sum += w * w
		}
		norm := 1 / float32(math.Sqrt(max(float64(sum), 1e-9)))
		for _, id := range ids {
			w := counts(names[id]) * m.rarity[id] * norm
			m.inside[id] = append(m.inside[id], post{int32(p), w})
			if together[id] == 0 {
				of = append(of, id)
			}
			together[id] += w
		}
		if v := m.phrases[p].verb; p+1 == len(pieces) || m.phrases[p+1].verb != v {
			for _, id := range of {
				m.norms[v] += together[id] * together[id]
				together[id] = 0
			}
			m.norms[v], of = 1/float32(math.Sqrt(max(float64(m.norms[v]), 1e-9))), of[:0]
		}
	}
}

// large reports whether the palette counts as large.
func (m *matcher) large() bool { return m.verbs >= manyVerbs }

// says returns the inverse document frequency of a word that so many verbs have.
func (m *matcher) says(verbs int) float32 {
	n := float64(m.verbs)
	return float32(math.Log(1+n/float64(max(1, verbs))) / math.Log(1+n))
}

// ordinary lowers the weight of words that are frequent in any text.
func ordinary(w string) float32 {
	if small()[w] {
		return 0.6
	}
	return 1
}

func saturated(n, length float32) float32 {
	return n * (saturation + 1) / (n + saturation*(1-lengthCount+lengthCount*length))
}

// piecesOf returns the words, word pairs and letter n-grams of a text, each once.
func (m *matcher) piecesOf(p []string) []string {
	var all []string
	before, run := "", run
	if m.large() {
		run--
	}
	for _, w := range p {
		if m.large() && w >= "0" && w < ":" {
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

// counts returns the weight of a piece by its kind.
func counts(piece string) float32 {
	switch {
	case piece[0] == '#':
		return runs
	case strings.Contains(piece, " "):
		return pairs
	case piece[0] == '{':
		return 0.8
	}
	return max(ordinary(piece), 0.35)
}

// A query is a sentence in its compared form.
type query struct {
	words  []string // as written
	kinds  []uint64 // by word: the kinds of its readings, 0 if it is only a word
	masked []string // with a placeholder for each value or name
}

// Signs are the features of a candidate.
type signs [signCount]float32

// The features.
const (
	ofWords    = iota // BM25, as a share of the greatest possible score of the sentence
	ofNearest         // likeness of the nearest phrase
	ofThree           // mean likeness of the three nearest phrases
	ofAll             // likeness of all its phrases together; among many verbs, weighed against theirs
	ofCover           // share of the sentence whose words it has
	ofRequired        // share of its required arguments that are there
	ofLoose           // values that it has no argument for
	ofQuestion        // a question, and it changes something
	ofOrder           // an order that begins with its own word
	ofFree            // it takes free text
	ofUnknown         // share of the sentence whose words no verb has
	ofOrdinary        // all its words in the sentence are words that any sentence may have
	ofSaid            // one of its phrases matches, and ends in free text
	ofShare           // among many verbs, the logarithm of its share of what they are weighed
	ofAbout           // and the share of the sentence whose words are in its description
	signCount
)

// A candidate is a verb with its features and score.
type candidate struct {
	verb, phrase int32
	signs        signs
	score        float64
}

// compare scores the verbs for a sentence. left is a phrase that is left out, or -1.
func (m *matcher) compare(q *query, may []bool, takes []uint64, left int32) []candidate {
	ids, weights := m.find(q, left)
	all := m.alike(q, ids, takes, left)
	for t, s := range m.full(ids, weights, left) {
		c := &all[m.texts[t].verb]
		c.signs[ofWords] = max(c.signs[ofWords], s/10)
	}
	out := make([]candidate, 0, mostCompared+1)
	order := func(a, b *candidate) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.verb, b.verb)) }
	for v := range all {
		c := &all[v]
		if may != nil && !may[v] || c.signs[ofWords] == 0 && c.signs[ofNearest] == 0 {
			continue
		}
		for _, k := range [...]int{ofWords, ofNearest, ofThree, ofAll, ofShare} {
			c.score += float64(m.rough.signs[k] * c.signs[k])
		}
		if n := len(out); n == mostCompared && order(c, &out[n-1]) > 0 {
			continue
		}
		k, _ := slices.BinarySearchFunc(out, c, func(o candidate, c *candidate) int { return order(&o, c) })
		out = slices.Insert(out, k, *c)
		out = out[:min(len(out), mostCompared)]
	}
	var total, unknown float32
	for i := range ids {
		total += weights[i]
		if ids[i] < 0 && q.kinds[i] == 0 {
			unknown += weights[i]
		}
	}
	for i, id := range ids {
		if id < 0 || m.about == nil {
			continue
		}
		for k := range out {
			if slices.Contains(m.about[id], out[k].verb) {
				out[k].signs[ofAbout] += weights[i] / max(total, 0.01)
			}
		}
	}
	for k := range out {
		c := &out[k]
		c.signs[ofCover], c.signs[ofOrdinary] = m.covers(c.verb, q, ids, weights, takes[c.verb], left)
		c.signs[ofCover] /= max(total, 0.01)
		c.signs[ofUnknown] = unknown / max(total, 0.01)
	}
	return out
}

// full returns the score of each text for the words of a sentence (BM25).
func (m *matcher) full(ids []int32, weights []float32, left int32) []float32 {
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
func (m *matcher) alike(q *query, ids []int32, takes []uint64, left int32) []candidate {
	said := m.piecesOf(q.words)
	like := m.likeness(said)
	var masked []string
	var other []float32
	if q.masked != nil {
		masked = m.piecesOf(q.masked)
		other = m.likeness(masked)
	}
	together, share := m.together(said, masked, ids, takes, left, like)
	all := make([]candidate, m.verbs)
	for v := range all {
		all[v] = candidate{verb: int32(v), phrase: -1}
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
			all[v].phrase = int32(p)
		case s > n[1]:
			n[1], n[2] = s, n[1]
		case s > n[2]:
			n[2] = s
		}
	}
	for v := range all {
		c := &all[v]
		c.signs[ofNearest] = near[v][0]
		c.signs[ofThree] = (near[v][0] + near[v][1] + near[v][2]) / 3
		c.signs[ofAll] = sum[v] * m.norms[v]
		if together != nil {
			c.signs[ofAll], c.signs[ofShare] = together[v]/10, max(together[v]-share, -faint)/10
		}
	}
	return all
}

// covers returns the weight of the words of a sentence that a verb has, or takes as values. common
// is 1 if any sentence may have these words, and 0 otherwise.
func (m *matcher) covers(verb int32, q *query, ids []int32, weights []float32, takes uint64, left int32) (cover, common float32) {
	common = 1
	var free float32
	for i, id := range ids {
		if kinds := q.kinds[i] & takes; kinds != 0 {
			free += weights[i] // it is a value, or a name, and not a word
			if kinds&(codeKind|fileKind) != 0 {
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
				if ordinary(m.list[id]) == 1 {
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
func (m *matcher) without(ids []int32, weights []float32, left int32) (sum float32) {
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
func (m *matcher) find(q *query, left int32) (ids []int32, weights []float32) {
	ids, weights = make([]int32, len(q.words)), make([]float32, len(q.words))
	for i, w := range q.words {
		id, ok := m.words[w]
		if ok && left >= 0 && m.one[id] == left {
			ok = false
		}
		switch {
		case slices.Contains(q.words[:i], w):
			ids[i] = -1 // and of no weight
		case ok:
			ids[i], weights[i] = id, m.weight[id]
		default:
			ids[i], weights[i] = m.spelt(w), 0.85*ordinary(w)
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
func (m *matcher) spelt(w string) int32 {
	if len(w) < 5 || ordinary(w) != 1 || !plainWord(w) {
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
func (m *matcher) likeness(pieces []string) []float32 {
	like := make([]float32, len(m.phrases))
	sum := float32(0)
	for _, piece := range pieces {
		w := counts(piece)
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
