package rank

import (
	"math"
	"slices"
	"strings"
)

// How the texts of verbs are indexed, once.

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

// A gathering numbers the words and pieces of verbs, and counts the verbs that have them.
type gathering struct {
	m       *Ranker
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
func (g *gathering) verb(v int32, k Verb) {
	t := text{verb: v, counts: map[int32]float32{}}
	for _, w := range k.About {
		id := g.word(w, v)
		t.counts[id] = max(t.counts[id], 0.7)
		g.m.one[id] = several
	}
	for l, phrases := range k.Phrases {
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
func (g *gathering) describe(all []Verb) {
	m := g.m
	m.about = make([][]int32, len(m.list))
	for v, k := range all {
		for i, w := range k.About {
			if slices.Contains(k.About[:i], w) {
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
func (m *Ranker) weighWords(has []map[int32]bool) {
	m.weight = make([]float32, len(m.list))
	for id, w := range m.list {
		m.weight[id] = m.says(len(has[id])) * m.ordinary(w)
		if len(w) > 0 {
			m.letters[w[0]] = append(m.letters[w[0]], int32(id))
		}
	}
}

// indexTexts lists for each word the texts that have it, with their weights (BM25).
func (m *Ranker) indexTexts() {
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
func (m *Ranker) weighPieces(common []float64) {
	verbs, phrases := float64(m.verbs), float64(len(m.phrases))
	for id, of := range m.rarity {
		m.rarity[id] = float32(math.Log(1+verbs/float64(of))/math.Log(1+verbs)+math.Log(1+phrases/common[id])/math.Log(1+phrases)) / 2
	}
}

// indexPhrases notes which phrases have a piece, by the pieces of each, and how long the phrases
// of a verb are together.
func (m *Ranker) indexPhrases(pieces [][]int32) {
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
			w := m.weightOf(names[id]) * m.rarity[id]
			sum += w * w
		}
		norm := 1 / float32(math.Sqrt(max(float64(sum), 1e-9)))
		for _, id := range ids {
			w := m.weightOf(names[id]) * m.rarity[id] * norm
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
