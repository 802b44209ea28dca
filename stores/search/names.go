package search

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
	"sync"
)

// MostEdits is the greatest edit distance at which a name is found.
const MostEdits = 8

// mostName is how many letters of a name are compared: the rest is ignored.
const mostName = 64

// A Pattern is a folded name that others are compared with.
type Pattern struct {
	name string
	peq  [128]uint64 // bit set of each letter's positions in the name
	signature
	some uint16
}

// NewPattern prepares a folded name.
func NewPattern(name string) *Pattern {
	name = name[:min(len(name), mostName)]
	p := &Pattern{name: name, signature: sign(name)}
	p.some = some(p.letters)
	for i := range len(name) {
		p.peq[name[i]&127] |= 1 << i
	}
	return p
}

// Distance returns the edit distance of two folded names (Levenshtein), computed for all letters
// of the pattern at once (Myers, 1999, in the form of Hyyrö, 2003).
func (p *Pattern) Distance(name []byte) int {
	m := len(p.name)
	if m == 0 {
		return len(name)
	}
	pv, mv, d, last := ^uint64(0), uint64(0), m, uint64(1)<<(m-1)
	for i := range len(name) {
		eq := p.peq[name[i]&127]
		xv := eq | mv
		xh := (((eq & pv) + pv) ^ pv) | eq
		ph, mh := mv|^(xh|pv), pv&xh
		if ph&last != 0 {
			d++
		}
		if mh&last != 0 {
			d--
		}
		ph, mh = ph<<1|1, mh<<1
		pv, mv = mh|^(xv|ph), ph&xv
	}
	return d
}

// A signature records which letters and which pairs of letters a name has, as far as 64 bits
// allow. Names whose signatures differ by more than the permitted edits can explain are not near.
type signature struct {
	// letters has a bit for each letter, and another for each letter that occurs twice. An edit
	// sets at most one bit, and clears at most one.
	letters uint64
	// pairs has one of 64 bits for each pair of adjacent letters, the borders of the name
	// included. An edit sets at most two bits, and clears at most two.
	pairs uint64
}

func sign(name string) (s signature) {
	last := byte(0)
	for i := range len(name) {
		c := name[i]
		bit := uint64(1) << 58 // for everything but letters and the space
		switch {
		case c >= 'a' && c <= 'z':
			bit = 1 << (c - 'a')
		case c == ' ':
			bit = 1 << 26
		}
		if s.letters&bit == 0 || bit > 1<<26 {
			s.letters |= bit
		} else {
			s.letters |= bit << 29
		}
		s.pairs |= pair(last, c)
		last = c
	}
	s.pairs |= pair(last, 0)
	return s
}

func pair(a, b byte) uint64 { return 1 << ((uint32(a)*31 + uint32(b)) * 0x9e3779b1 >> 26) }

// differ reports whether one of two sets has more than so many bits that the other lacks.
func differ(a, b uint64, most int) bool {
	return max(bits.OnesCount64(a&^b), bits.OnesCount64(b&^a)) > most // one branch, nearly always taken
}

// some returns a coarser signature: a bit for each of 16 sets of letters that rarely occur
// together, set if the name has a letter of the set.
func some(letters uint64) (set uint16) {
	for i, of := range sets {
		if letters&of != 0 {
			set |= 1 << i
		}
	}
	return set
}

// sets are the sets of letters for some: the frequent letters alone, the rare ones together.
var sets = [16]uint64{
	1 << ('e' - 'a'),
	1, // a
	1 << ('r' - 'a'),
	1 << ('i' - 'a'),
	1 << ('n' - 'a'),
	1 << ('o' - 'a'),
	1 << ('l' - 'a'),
	1 << ('s' - 'a'),
	1 << ('t' - 'a'),
	1 << ('h' - 'a'),
	1<<('m'-'a') | 1<<('w'-'a'),
	1<<('d'-'a') | 1<<('q'-'a'),
	1<<('c'-'a') | 1<<('z'-'a'),
	1<<('u'-'a') | 1<<('b'-'a'),
	1<<('g'-'a') | 1<<('y'-'a') | 1<<('x'-'a'),
	1<<('k'-'a') | 1<<('p'-'a') | 1<<('f'-'a') | 1<<('v'-'a') | 1<<('j'-'a'),
}

// Names caches the names of rows of one table. It computes a name's distance only if its length
// and its letters allow so few edits, which is so for few names. It is safe for use by many
// goroutines.
//
// Names are only ever added: names that the index no longer has are found as well, so callers
// check them in the index.
type Names struct {
	mu     sync.RWMutex
	upto   int64             // number of the last entry that was read from the index
	arena  []byte            // texts of names and keys
	sorted names             // by group
	some   []uint16          // of each group, by length and letters
	groups []uint32          // for each group, by length and letters
	starts [mostName + 3]int // where each group begins in sorted, and where the last one ends
	recent names             // not sorted yet
	first  int               // names that are not sorted yet
}

// A names holds names in parallel slices.
type names struct {
	letters []uint64 // of their signatures; they suffice to distinguish most names
	pairs   []uint64
	of      []named
}

type named struct {
	owner int64
	at    uint32 // in the arena; the key follows the name
	name  uint16 // length
	key   uint16 // length
}

// mostRecent is how many names may be unsorted, besides one in oneIn of all names.
const mostRecent, oneIn = 1024, 64

// Upto returns the number of the last entry that was read from the index, and how many names
// there are.
func (n *Names) Upto() (upto int64, count int) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.upto, len(n.sorted.of) + len(n.recent.of)
}

// A Named is a name of a row.
type Named struct {
	Seq, Owner int64
	Key, Name  string // folded
	Other      bool   // it belongs to another table
}

// Add adds all the names that the index has got since upto. It does nothing if another goroutine
// has added them meanwhile.
func (n *Names) Add(upto int64, more []Named) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.upto != upto {
		return
	}
	for i := range more {
		x := &more[i]
		if n.upto = max(n.upto, x.Seq); x.Other {
			continue
		}
		signed := sign(x.Name)
		n.recent.letters, n.recent.pairs = append(n.recent.letters, signed.letters), append(n.recent.pairs, signed.pairs)
		n.recent.of = append(n.recent.of, named{x.Owner, uint32(len(n.arena)), uint16(len(x.Name)), uint16(len(x.Key))})
		n.arena = append(append(n.arena, x.Name...), x.Key...)
	}
}

// Settle is called once all new names were added: it sorts the names if many are unsorted. It
// reports whether most names may belong to rows that are gone, so that they should be read again.
func (n *Names) Settle() (stale bool) {
	n.mu.RLock()
	count, recent := len(n.sorted.of)+len(n.recent.of), len(n.recent.of)
	settled := n.first > 0 || count == 0
	stale = n.first > 0 && count > 2*n.first+mostRecent
	n.mu.RUnlock()
	if settled && recent <= mostRecent+count/oneIn {
		return stale
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.first = cmp.Or(n.first, count)
	if len(n.recent.of) > mostRecent+len(n.sorted.of)/oneIn {
		n.sort()
	}
	return stale
}

// sort sorts all names by group.
func (n *Names) sort() {
	all := names{append(n.sorted.letters, n.recent.letters...), append(n.sorted.pairs, n.recent.pairs...), append(n.sorted.of, n.recent.of...)}
	order := make([]uint64, len(all.of))
	for i := range order {
		order[i] = (uint64(all.of[i].name)<<16|uint64(some(all.letters[i])))<<32 | uint64(i)
	}
	slices.Sort(order)
	n.sorted = names{make([]uint64, len(order)), make([]uint64, len(order)), make([]named, len(order))}
	n.recent, n.some, n.groups, n.starts = names{}, nil, nil, [mostName + 3]int{}
	last := uint64(1 << 63)
	for i, o := range order {
		n.sorted.letters[i], n.sorted.pairs[i], n.sorted.of[i] = all.letters[uint32(o)], all.pairs[uint32(o)], all.of[uint32(o)]
		if id := o >> 32; id != last {
			n.some, n.groups = append(n.some, uint16(id)), append(n.groups, uint32(i))
			n.starts[id>>16+1]++
			last = id
		}
	}
	n.groups = append(n.groups, uint32(len(order)))
	for length := range mostName + 1 {
		n.starts[length+1] += n.starts[length]
	}
}

// Near calls fn for each name within so many edits. It looks only at the names of owners; nil is
// everybody's.
func (n *Names) Near(p *Pattern, edits int, owners map[int64]bool, fn func(key string, distance int)) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	look := func(in *names, from, to int) {
		for j, letters := range in.letters[from:to] {
			if differ(letters, p.letters, edits) || differ(in.pairs[from+j], p.pairs, 2*edits) {
				continue
			}
			x := &in.of[from+j]
			if owners != nil && !owners[x.owner] {
				continue
			}
			key := int(x.at) + int(x.name)
			if d := p.Distance(n.arena[x.at:key]); d <= edits {
				fn(string(n.arena[key:key+int(x.key)]), d)
			}
		}
	}
	look(&n.recent, 0, len(n.recent.of))
	if len(n.groups) == 0 {
		return
	}
	first, end := n.starts[max(0, len(p.name)-edits)], n.starts[min(mostName, len(p.name)+edits)+1]
	for i, some := range n.some[first:end] {
		if max(bits.OnesCount16(some&^p.some), bits.OnesCount16(p.some&^some)) > edits {
			continue
		}
		look(&n.sorted, int(n.groups[first+i]), int(n.groups[first+i+1]))
	}
}

// Likeness returns 1 minus the number of edits for each letter of the longer name.
func (p *Pattern) Likeness(name string, distance int) float64 {
	if longer := max(len(p.name), len(name)); longer > 0 {
		return 1 - float64(distance)/float64(longer)
	}
	return 1
}

// Names returns the cached names of a table.
func (k *Kept) Names(table string) *Names {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.names == nil {
		k.names = map[string]*Names{}
	}
	if k.names[table] == nil {
		k.names[table] = &Names{}
	}
	return k.names[table]
}

// Forget drops the cached names of a table, so that they are read again.
func (k *Kept) Forget(table string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.names, table)
}

// Nearest sorts the names that were found: the nearest first, and rows that are equally near by
// their keys; each row once.
func Nearest(found []NearName) []NearName {
	slices.SortFunc(found, func(a, b NearName) int {
		return cmp.Or(cmp.Compare(a.Distance, b.Distance), strings.Compare(a.Key, b.Key))
	})
	seen := map[string]bool{}
	return slices.DeleteFunc(found, func(f NearName) bool {
		twice := seen[f.Key]
		seen[f.Key] = true
		return twice
	})
}

// A NearName is a row with a name near the one asked for.
type NearName struct {
	Key      string
	Distance int
	Likeness float64
}
