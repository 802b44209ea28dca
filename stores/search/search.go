// Package search computes the index entries of texts, and the terms of a question to look up in
// the index. Both stores share its folding of words, so that the same question finds the same
// rows in the same order in each.
//
// A row is found by words and by meaning. For its words the index stores terms: the stems that a
// word has in English, German, French and Spanish (Snowball), each without diacritics. So the
// caller need not say in which language a text is written, and "Umsätze" finds "Umsatz". The
// weight of a term in a row is BM25 (Robertson and Zaragoza, 2009) with k1 = 1.2 and b = 0.75,
// relative to a row of pivot words and not to the average row: so a row's weights depend on no
// other row. How rare a word is, is computed over the rows that the caller may see: see Weigh.
//
// Meaning is a vector. Without a model, Grams makes vectors from runs of letters: they find other
// spellings and parts of words, but no synonyms.
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

// Version is the version of the folding. An index of another version is rebuilt.
const Version = 3

// Limits of a question. Anything beyond them is not looked for.
const (
	mostWords  = 200 // words, the first
	mostLetter = 64  // bytes of a word
)

// Words returns the words of a text in lower case, in order: letters and digits; points and
// commas between digits become one point.
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

// plain returns a word without diacritics.
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

// umlauts are the letters for which two stand where there are none: Kaeufer is Käufer, as in Snowball's
// German since version 3, which the library does not have yet.
var umlauts = strings.NewReplacer("que", "que", "ae", "ä", "oe", "ö", "ue", "ü")

// Stems returns the stems by which a word is found, in order, each once.
func Stems(word string) []string {
	word = norm.NFC.String(word)
	stems := []string{plain(word)}
	if r, _ := utf8.DecodeRuneInString(word); !unicode.IsLetter(r) {
		return stems // a number has no endings
	}
	stems = stems[:0]
	env := snowballstem.NewEnv("")
	for i, stem := range [...]func(*snowballstem.Env) bool{german.Stem, english.Stem, french.Stem, spanish.Stem} {
		env.SetCurrent(word)
		if i == 0 {
			env.SetCurrent(umlauts.Replace(word))
		}
		stem(env)
		if s := plain(env.Current()); !slices.Contains(stems, s) {
			stems = append(stems, s)
		}
	}
	slices.Sort(stems)
	return stems
}

// known caches the stems of recent words: texts repeat the same words, and computing stems costs
// more than looking them up.
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

// number returns a digest of texts. A collision makes a search find a row that it should not, but
// never a row that the caller may not see.
func number(parts ...string) int64 {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	var sum [sha256.Size]byte
	return int64(binary.BigEndian.Uint64(h.Sum(sum[:0])))
}

// Owner returns the number of the owner of a row, from the text of the owner's key.
func Owner(key string) int64 {
	sum := sha256.Sum256([]byte(key))
	return int64(binary.BigEndian.Uint64(sum[:]))
}

// A Posting says that a row has a term, and with which weight.
type Posting struct {
	Term   int64
	Weight int64 // thousandths
}

const (
	k1    = 1.2
	b     = 0.75
	pivot = 60 // words
)

// Postings returns the postings of a row with some texts, by term.
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

// Question returns the terms of each word of a question, each word once.
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

// Counted is how far rows are counted: more rows of a word, and more rows in all, are not
// distinguished.
const Counted = 20_000

// Complete is how many rows of one term are read at first. A word with more rows is one that half
// of the rows have, as far as they are counted, and Weigh seldom needs such words.
const Complete = Counted / 2

// A Term is a term to look up in the index: with its word of the question, and its rarity, in
// thousandths.
type Term struct {
	Term   int64
	Word   int
	Rarity int64
}

// mostTerms is how many terms are looked up at once.
const mostTerms = 48

// Weigh computes how much each term of a question counts, from the number of rows that have it
// and the number of all rows, of those that the caller may see, both up to Counted. A word that
// half of the rows have says little and costs much: it is left out if there are rarer ones.
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

// A Hit says that a row has a term, in one number: the number of the row in the index, and the
// weight in the last twelve bits.
type Hit int64

// HitBits is how many bits the weight has. No Posting weighs more than 1000 × (k1 + 1).
const HitBits = 12

func (h Hit) row() int64    { return int64(h) >> HitBits }
func (h Hit) weight() int64 { return int64(h) & (1<<HitBits - 1) }

// A Scored is a row by its number in the index, and its score.
type Scored struct{ Row, Score int64 }

// Score returns the best so many rows, in no order, and all with the same score as the last of
// them. The score of a row is the sum, over the words of the question, of the greatest weight of
// the word's terms, each times its rarity. It sorts the hits of each term.
func Score(terms []Term, hits map[int64][]Hit, most int) []Scored {
	terms = slices.Clone(terms)
	slices.SortStableFunc(terms, func(a, b Term) int { return a.Word - b.Word })
	lists := make([][]Hit, len(terms)) // for each term, the hits still to come
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

// best returns the best so many, best first, and those with the same score as the last of them.
func best(all []Scored, most int) []Scored {
	slices.SortFunc(all, func(a, b Scored) int { return cmp.Compare(b.Score, a.Score) })
	n := min(most, len(all))
	for n < len(all) && all[n].Score == all[n-1].Score {
		n++
	}
	return all[:n]
}

// Digest returns a number that distinguishes texts.
func Digest(texts ...string) int64 { return number(texts...) }

// TermBytes encodes the terms of postings as they are stored with their row.
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
