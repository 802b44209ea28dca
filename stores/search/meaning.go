package search

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"sync"
)

// Letters is the maker of vectors that Grams made.
const Letters = "letters"

// Wide is how many numbers a vector of Grams has.
const Wide = 256

// Grams counts the runs of three and four letters of the words of some texts, by their digest, in
// a vector of length 1. It returns nil if there is no word.
func Grams(texts ...string) []float32 {
	sums := make([]float64, Wide)
	some := false
	for _, text := range texts {
		for _, w := range Words(text) {
			some = true
			runes := []rune(" " + plain(w) + " ")
			for n := 3; n <= 4; n++ {
				for i := 0; i+n <= len(runes); i++ {
					h := fnv(string(runes[i : i+n]))
					sign := 1.0
					if h>>63 == 1 {
						sign = -1
					}
					sums[h%Wide] += sign
				}
			}
		}
	}
	if !some {
		return nil
	}
	v := make([]float32, Wide)
	for i, s := range sums {
		v[i] = float32(math.Copysign(math.Sqrt(math.Abs(s)), s)) // dampens the weight of runs that occur often
	}
	return Unit(v)
}

// fnv is FNV-1a, of 64 bits.
func fnv(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h ^ h>>29
}

// Unit scales a vector to length 1, in place. A zero vector stays as it is; for a vector with a
// value that is not a finite number it returns nil.
func Unit(v []float32) []float32 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		return nil
	}
	if sum > 0 {
		by := float32(1 / math.Sqrt(sum))
		for i := range v {
			v[i] *= by
		}
	}
	return v
}

// Bytes returns a vector in its stored form: 32-bit IEEE numbers, the lowest byte first.
func Bytes(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// Vector reads what Bytes wrote into v, and returns v, extended if necessary.
func Vector(kept []byte, v []float32) []float32 {
	v = v[:0]
	for ; len(kept) >= 4; kept = kept[4:] {
		v = append(v, math.Float32frombits(binary.LittleEndian.Uint32(kept)))
	}
	return v
}

// Likeness returns the cosine of the angle between two vectors of length 1; 0 if their lengths
// differ.
func Likeness(a, b []float32) float32 {
	if len(a) != len(b) {
		return 0
	}
	var s0, s1, s2, s3 float32
	n := len(a) &^ 3
	a4, b4 := a[:n], b[:n]
	for i := 0; i < len(a4) && i+3 < len(b4); i += 4 {
		s0 += a4[i] * b4[i]
		s1 += a4[i+1] * b4[i+1]
		s2 += a4[i+2] * b4[i+2]
		s3 += a4[i+3] * b4[i+3]
	}
	for i := n; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return (s0 + s1) + (s2 + s3)
}

// Vectors are the vectors of the rows of one owner, one after another.
type Vectors struct {
	Keys  []string
	Wide  int // number of elements of each
	Parts []float32
}

// Add adds the vector of a row, if it is as long as the others.
func (v *Vectors) Add(key string, vector []float32) {
	if v.Wide == 0 {
		v.Wide = len(vector)
	}
	if len(vector) == v.Wide && v.Wide > 0 {
		v.Keys, v.Parts = append(v.Keys, key), append(v.Parts, vector...)
	}
}

// Near adds to best the rows whose vectors are similar to near.
func (v *Vectors) Near(near []float32, best *Best) {
	for i, key := range v.Keys {
		if like := float64(Likeness(near, v.Parts[i*v.Wide:(i+1)*v.Wide])); like >= Alike && best.Fits(like) {
			best.Add(key, like)
		}
	}
}

// A Kept caches vectors in memory: to read those of 100 000 rows takes many times as long as to
// compare them. Each entry has the stamp that its owner's part of the index had, and is read
// again if the stamp has changed. It is safe for use by many goroutines, which must not change
// the Vectors that they get.
type Kept struct {
	mu    sync.Mutex
	size  int
	all   map[KeptOf]keptVectors
	names map[string]*Names // by table
}

// A KeptOf identifies cached vectors.
type KeptOf struct {
	Table, Maker string
	Owner        int64
}

type keptVectors struct {
	stamp   int64
	vectors *Vectors
}

// mostKept is how many numbers are cached at most, of four bytes each.
const mostKept = 64 << 20

// Get returns cached vectors, nil if there are none or their stamp was another.
func (k *Kept) Get(of KeptOf, stamp int64) *Vectors {
	k.mu.Lock()
	defer k.mu.Unlock()
	if is := k.all[of]; is.stamp == stamp {
		return is.vectors
	}
	return nil
}

// Keep caches vectors. If there are too many, it drops all others.
func (k *Kept) Keep(of KeptOf, stamp int64, v *Vectors) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if was := k.all[of]; was.vectors != nil {
		k.size -= len(was.vectors.Parts)
		delete(k.all, of)
	}
	if k.size+len(v.Parts) > mostKept || k.all == nil {
		k.size, k.all = 0, map[KeptOf]keptVectors{}
	}
	if len(v.Parts) <= mostKept {
		k.size += len(v.Parts)
		k.all[of] = keptVectors{stamp, v}
	}
}

// Alike is the least likeness of two vectors that count as similar.
const Alike = 0.2

// A Found is a row that was found, and its score.
type Found struct {
	Key   string
	Score float64
}

// better orders found rows: the best first, and rows of equal score by their keys.
func better(a, b Found) int {
	if c := cmp.Compare(b.Score, a.Score); c != 0 {
		return c
	}
	return strings.Compare(a.Key, b.Key)
}

// A Best collects the best of the rows added to it.
type Best struct {
	most  int
	least float64 // the score that a row needs to be among them
	found []Found
}

// NewBest returns a Best for so many rows.
func NewBest(most int) *Best { return &Best{most: most, least: math.Inf(-1)} }

// Fits reports whether a row of that score may be among the best.
func (b *Best) Fits(score float64) bool { return score >= b.least }

// Add adds a row.
func (b *Best) Add(key string, score float64) {
	if b.found = append(b.found, Found{key, score}); len(b.found) >= 2*b.most+64 {
		b.All()
	}
}

// All returns the best rows, the first of them first.
func (b *Best) All() []Found {
	slices.SortFunc(b.found, better)
	if len(b.found) >= b.most {
		b.found = b.found[:b.most]
		b.least = b.found[b.most-1].Score
	}
	return b.found
}

// Fuse merges several lists, each with its best first, by reciprocal rank (Cormack, Clarke and
// Büttcher, 2009, with k = 60): a row scores more, the further up it is in each list. The best
// possible score is 1.
func Fuse(lists ...[]Found) []Found {
	const k = 60
	at := map[string]int{}
	var all []Found
	for _, list := range lists {
		for rank, f := range list {
			i, ok := at[f.Key]
			if !ok {
				i = len(all)
				at[f.Key], all = i, append(all, Found{Key: f.Key})
			}
			all[i].Score += float64(k+1) / float64(k+1+rank) / float64(len(lists))
		}
	}
	slices.SortFunc(all, better)
	return all
}
