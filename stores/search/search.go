// Package search makes of texts what an index of them keeps, and of a question what is
// asked of that index. It is the one folding of words that both stores share, so that the
// same question finds the same rows in the same order on each.
//
// A row is found by words and by meaning. Of its words the index keeps terms: the stems
// that a word has in English, German, French and Spanish (Snowball), each without
// diacritics. Whoever asks need not say in which language a text is written, and "Umsätze"
// finds "Umsatz". How much a term says of a row is BM25 (Robertson and Zaragoza, 2009)
// with k1 = 1.2 and b = 0.75, against a row of pivot words and not against the average
// row: so what a row weighs depends on no other row. How rare a word is, is counted among
// the rows that the asker may see: see Weigh.
//
// Meaning is a vector. Where no model makes them, Grams does, out of runs of letters: that
// finds other spellings and parts of words, and no synonyms.
//
// Everything here is a function of its arguments and safe for use by many goroutines.
package search

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/spanish"
	"golang.org/x/text/unicode/norm"
)

// Version is that of the folding. An index of another version is made anew.
const Version = 2

// Limits of a question. What it has more is not looked for.
const (
	mostWords  = 200 // words, the first
	mostLetter = 64  // bytes of a word
)

// Words are the words of a text in small letters, in their order: letters and digits, and
// points and commas between digits, as one point.
func Words(text string) []string {
	var words []string
	var b strings.Builder
	end := func() {
		if b.Len() > 0 {
			words = append(words, b.String())
			b.Reset()
		}
	}
	last := rune(0)
	for i, r := range text {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r) && b.Len() > 0:
			if b.Len() < mostLetter {
				b.WriteRune(unicode.ToLower(r))
			}
		case (r == '.' || r == ',') && unicode.IsDigit(last):
			if next, _ := utf8.DecodeRuneInString(text[i+1:]); unicode.IsDigit(next) {
				b.WriteByte('.')
			} else {
				end()
			}
		default:
			end()
		}
		last = r
	}
	end()
	return words
}

// plain is a word without diacritics.
func plain(word string) string {
	ascii := true
	for i := range len(word) {
		ascii = ascii && word[i] < utf8.RuneSelf
	}
	if ascii {
		return word
	}
	var b strings.Builder
	for _, r := range norm.NFKD.String(word) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r == 'ß':
			b.WriteString("ss")
		case r == 'æ':
			b.WriteString("ae")
		case r == 'œ':
			b.WriteString("oe")
		case r == 'ø':
			b.WriteByte('o')
		case r == 'ł':
			b.WriteByte('l')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Stems are what a word is found by, in order, each once.
func Stems(word string) []string {
	word = norm.NFC.String(word)
	stems := []string{plain(word)}
	if r, _ := utf8.DecodeRuneInString(word); !unicode.IsLetter(r) {
		return stems // a number has no endings
	}
	stems = stems[:0]
	env := snowballstem.NewEnv("")
	for _, stem := range [...]func(*snowballstem.Env) bool{english.Stem, german.Stem, french.Stem, spanish.Stem} {
		env.SetCurrent(word)
		stem(env)
		if s := plain(env.Current()); !slices.Contains(stems, s) {
			stems = append(stems, s)
		}
	}
	slices.Sort(stems)
	return stems
}

// known are the stems of words that came lately: a text says the same words again and
// again, and to take one apart costs more than to look it up.
var known struct {
	sync.RWMutex
	stems map[string][]string
}

const mostKnown = 1 << 15

func stemsOf(word string) []string {
	known.RLock()
	stems, ok := known.stems[word]
	known.RUnlock()
	if ok {
		return stems
	}
	stems = Stems(word)
	known.Lock()
	if known.stems == nil || len(known.stems) >= mostKnown {
		known.stems = make(map[string][]string)
	}
	known.stems[strings.Clone(word)] = stems
	known.Unlock()
	return stems
}

// number is a number that stands for texts; two have the same by chance only, and then a
// row is found that should not be, and no row that the asker may not see.
func number(parts ...string) int64 {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	var sum [sha256.Size]byte
	return int64(binary.BigEndian.Uint64(h.Sum(sum[:0])))
}

// Owner is the number of whoever owns a row, by the text of that key.
func Owner(key string) int64 {
	sum := sha256.Sum256([]byte(key))
	return int64(binary.BigEndian.Uint64(sum[:]))
}

// A Posting is that a row has a term, and how much the term says of it.
type Posting struct {
	Term   int64
	Weight int64 // thousandths
}

const (
	k1    = 1.2
	b     = 0.75
	pivot = 60 // words
)

// Postings are what the index keeps of a row with some texts, by term.
func Postings(table string, texts []string) []Posting {
	counts := map[string]int{}
	long := 0
	for _, text := range texts {
		for _, w := range Words(text) {
			long++
			for _, s := range stemsOf(w) {
				counts[s]++
			}
		}
	}
	all := make([]Posting, 0, len(counts))
	for stem, n := range counts {
		tf := float64(n)
		w := tf * (k1 + 1) / (tf + k1*(1-b+b*float64(long)/pivot))
		all = append(all, Posting{number(table, stem), max(1, int64(math.Round(1000*w)))})
	}
	slices.SortFunc(all, func(x, y Posting) int {
		switch {
		case x.Term < y.Term:
			return -1
		case x.Term > y.Term:
			return 1
		}
		return 0
	})
	return all
}

// Question takes a question apart: the terms of each of its words, each word once.
func Question(table, text string) [][]int64 {
	var asked [][]int64
	seen := map[int64]bool{}
	for i, w := range Words(text) {
		if i == mostWords {
			break
		}
		var terms []int64
		for _, s := range stemsOf(w) {
			if t := number(table, s); !seen[t] {
				seen[t] = true
				terms = append(terms, t)
			}
		}
		if len(terms) > 0 {
			asked = append(asked, terms)
		}
	}
	return asked
}

// Counted is how far rows are counted: of a word that so many have, and of all rows, no
// more is asked.
const Counted = 20_000

// Complete is how many rows of one term are read at first. A word that more have is one
// that half of the rows have, as far as they are counted, and of those Weigh seldom needs
// any.
const Complete = Counted / 2

// A Term is asked of the index: which word of the question it belongs to, and how rare it
// is, in thousandths.
type Term struct {
	Term   int64
	Word   int
	Rarity int64
}

// mostTerms bounds what is asked at once.
const mostTerms = 48

// Weigh says how much each term of a question counts: by how many rows have it, of those
// that the asker may see, and how many those are, both up to Counted. A word that
// half of the rows have says little and costs much: it is left out where there are rarer
// ones.
func Weigh(asked [][]int64, rows map[int64]int64, all int64) []Term {
	var terms []Term
	for word, group := range asked {
		for _, t := range group {
			if n := rows[t]; n > 0 {
				rare := math.Log(1 + (float64(max(all, n)-n)+0.5)/(float64(n)+0.5))
				terms = append(terms, Term{t, word, max(1, int64(math.Round(1000*rare)))})
			}
		}
	}
	half := func(t Term) bool { return all > 20 && 2*rows[t.Term] > all }
	if !slices.ContainsFunc(terms, func(t Term) bool { return !half(t) }) {
		return terms[:min(len(terms), mostTerms)]
	}
	terms = slices.DeleteFunc(terms, half)
	slices.SortStableFunc(terms, func(a, b Term) int { return int(b.Rarity - a.Rarity) })
	return terms[:min(len(terms), mostTerms)]
}

// A Hit is that a row has a term, in one number: the number of the row in the index, and
// the weight in the last twelve bits.
type Hit int64

// HitBits is how many bits the weight has. No Posting weighs more than 1000 × (k1 + 1).
const HitBits = 12

func (h Hit) row() int64    { return int64(h) >> HitBits }
func (h Hit) weight() int64 { return int64(h) & (1<<HitBits - 1) }

// A Scored is a row by its number in the index, and its score.
type Scored struct{ Row, Score int64 }

// Score finds the best so many rows, in no order, and all that are as good as the last of
// them. A row scores the sum, over the words of the question, of what the word's terms
// weigh at most, each times its rarity. The hits of a term become sorted.
func Score(terms []Term, hits map[int64][]Hit, most int) []Scored {
	terms = slices.Clone(terms)
	slices.SortStableFunc(terms, func(a, b Term) int { return a.Word - b.Word })
	lists := make([][]Hit, len(terms)) // of each term, the hits that are still to come
	for i, t := range terms {
		if lists[i] = hits[t.Term]; !slices.IsSorted(lists[i]) {
			slices.Sort(lists[i])
		}
	}
	var all []Scored
	least, full := int64(0), 1024
	for {
		next := int64(math.MaxInt64)
		for _, list := range lists {
			if len(list) > 0 {
				next = min(next, list[0].row())
			}
		}
		if next == math.MaxInt64 {
			return best(all, most)
		}
		sum, word, top := int64(0), -1, int64(0)
		for i, list := range lists {
			if len(list) == 0 || list[0].row() != next {
				continue
			}
			if lists[i] = list[1:]; terms[i].Word != word {
				sum, word, top = sum+top, terms[i].Word, 0
			}
			top = max(top, list[0].weight()*terms[i].Rarity)
		}
		if sum += top; sum < least {
			continue
		}
		if all = append(all, Scored{next, sum}); len(all) >= full {
			if all = best(all, most); len(all) >= most {
				least = all[len(all)-1].Score
			}
			full = 2*len(all) + 1024
		}
	}
}

// best leaves the best so many, best first, and those as good as the last of them.
func best(all []Scored, most int) []Scored {
	slices.SortFunc(all, func(a, b Scored) int { return cmp.Compare(b.Score, a.Score) })
	n := min(most, len(all))
	for n < len(all) && all[n].Score == all[n-1].Score {
		n++
	}
	return all[:n]
}

// Digest tells texts from other texts.
func Digest(texts ...string) int64 { return number(texts...) }

// TermBytes are the terms of postings as they are kept with their row.
func TermBytes(postings []Posting) []byte {
	kept := make([]byte, 0, 8*len(postings))
	for _, p := range postings {
		kept = binary.BigEndian.AppendUint64(kept, uint64(p.Term))
	}
	return kept
}

// Terms reads what TermBytes wrote.
func Terms(kept []byte) []int64 {
	terms := make([]int64, 0, len(kept)/8)
	for ; len(kept) >= 8; kept = kept[8:] {
		terms = append(terms, int64(binary.BigEndian.Uint64(kept)))
	}
	return terms
}
