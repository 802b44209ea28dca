package intent

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
	"verbatim/verbs"
)

// A nameList indexes the names of an entity's rows by their words.
type nameList struct {
	kind   string // of rows, which begins the name of a label that begins with a digit
	names  []string
	stems  [][]string
	byStem map[string][]int32
	weight map[string]float64
}

func newNames(kind string, all []string, aliases []alias) *nameList {
	n := &nameList{kind: strings.ReplaceAll(kind, "_", "-"), names: all, stems: make([][]string, len(all)), byStem: map[string][]int32{}, weight: map[string]float64{}}
	for i, name := range all {
		plain, _, _ := strings.Cut(name, "~") // what tells rows of one label apart is in no sentence
		for w := range strings.SplitSeq(plain, "-") {
			if w == "" || small()[w] {
				continue
			}
			s := stem(w)
			if !slices.Contains(n.stems[i], s) {
				n.stems[i] = append(n.stems[i], s)
				n.byStem[s] = append(n.byStem[s], int32(i))
			}
		}
	}
	for _, a := range aliases {
		for _, row := range n.byStem[a.first] {
			if !strings.Contains(all[row], a.slug) {
				continue
			}
			for _, s := range a.stems {
				if !slices.Contains(n.byStem[s], row) {
					n.byStem[s] = append(n.byStem[s], row)
				}
			}
		}
	}
	for s, rows := range n.byStem {
		n.weight[s] = math.Log(1 + float64(len(all))/float64(len(rows)))
	}
	return n
}

// found holds the rows that words of a clause may mean.
type found struct {
	names   []string // one if it is certain
	words   []int    // of the clause
	written bool     // in full: as a call writes it, @pierre-dupont, or as its label does, MS-0004
}

// find returns the rows that a clause names. It is certain of one only if no other row's name has a
// word of the clause that this one lacks.
func (n *nameList) find(c *clause) found {
	hits := map[int32]uint64{}
	var letters uint64 // words of one letter, which name nothing by themselves
	var words [63]int  // the last bit of a set of them is free: see parts
	count := 0
	for i := range c.words {
		if count == len(words) || c.quoted[i] {
			continue
		}
		s := c.stems[i]
		rows := n.byStem[s]
		if from, to := c.glued(i, ""); rows == nil && to-from > 1 {
			rows = n.byStem[c.joined(from, to)] // names are not divided between letters and digits
		} else if small()[c.words[i].Plain] || refusals()[c.words[i].Plain] && (i == 0 || n.byStem[c.stems[i-1]] == nil) {
			continue // "No" is part of "Violin No. 1", and of nothing by itself
		}
		if rows == nil && len(s) >= 4 && len(n.byStem) <= maxLoose && plainWord(s) {
			// The beginning of a name's word, or a word with one typing error.
			for t, all := range n.byStem {
				if len(t) >= 4 && (strings.HasPrefix(t, s) || len(s) >= 5 && t[0] == s[0] && dsl.Distance(s, t, 1) <= 1) {
					rows = append(rows, all...)
				}
			}
		}
		if len(rows) == 0 {
			continue
		}
		for _, row := range rows {
			hits[row] |= 1 << count
		}
		if len(s) == 1 && (s[0] < '0' || s[0] > '9') {
			letters |= 1 << count
		}
		words[count] = i
		count++
	}
	parts := c.parts(words[:count])
	for row, h := range hits {
		alone := h &^ letters
		for k, whole := range parts {
			if whole&^h != 0 {
				alone &^= 1 << k
			}
		}
		if alone == 0 {
			delete(hits, row)
		}
	}
	if len(hits) == 0 {
		return found{}
	}
	// A row whose matching words are a proper subset of another row's is dropped.
	masks := map[uint64]bool{}
	for _, h := range hits {
		masks[h] = true
	}
	beaten := func(h uint64) bool {
		for g := range masks {
			if g&h == h && g != h {
				return true
			}
		}
		return false
	}
	for h := range masks {
		masks[h] = !beaten(h)
	}
	var best []int32
	for row, h := range hits {
		if masks[h] {
			best = append(best, row)
		}
	}
	slices.Sort(best)
	var f found
	for _, row := range best {
		if len(f.names) < maxNames {
			f.names = append(f.names, n.names[row])
		}
		for k := range count {
			if hits[row]&(1<<k) != 0 && !slices.Contains(f.words, words[k]) {
				f.words = append(f.words, words[k])
			}
		}
	}
	// The small words of a name are said with it: of "MS-0004", "Ms" is no person's title.
	for _, k := range slices.Clone(f.words) {
		from, to := c.glued(k, labelMarks)
		for i := from; i < to && !plainWord(c.joined(from, to)); i++ {
			if small()[c.words[i].Plain] && !slices.Contains(f.words, i) && slices.ContainsFunc(f.names, func(name string) bool {
				return slices.Contains(strings.Split(name, "-"), c.words[i].Plain)
			}) {
				f.words = append(f.words, i)
			}
		}
	}
	slices.Sort(f.words)
	return f
}

// labelMarks stand inside labels such as MS-0004, 2024/17 and INV.2024.7.
const labelMarks = "-–—/._#"

// mostGlued is how many words of a run are examined; a name is no longer.
const mostGlued = 48

// glued returns the run of words around a word that only some marks join, without a space.
func (c *clause) glued(i int, marks string) (from, to int) {
	joins := func(a, b int) bool {
		return strings.Trim(c.text[c.words[a].Range.End:c.words[b].Range.Start], marks) == ""
	}
	from, to = i, i+1
	for from > 0 && i-from < mostGlued && joins(from-1, from) {
		from--
	}
	for to < len(c.words) && to-i < mostGlued && joins(to-1, to) {
		to++
	}
	return from, to
}

// dotted returns the run of words around a word that the person wrote as one, with a point inside,
// such as a file's name; "Dr.Weber" is none.
func (c *clause) dotted(i int) (from, to int, ok bool) {
	from, to = c.glued(i, "._-–")
	for k := from + 1; k < to && !ok; k++ {
		before := c.words[k-1]
		ok = strings.Contains(c.text[before.Range.End:c.words[k].Range.Start], ".") && (len(before.Plain) == 1 || !small()[before.Plain])
	}
	return from, to, ok
}

// dot reports that a word with a meaning of its own, which is no date and no number, is part of such a
// run.
func (c *clause) dot(i int) bool {
	w := c.words[i].Plain
	_, _, ok := c.dotted(i)
	return ok && !c.taken[i] && plainWord(w) && len(w) > 1 && !small()[w]
}

// parts maps those of some words that the person wrote as part of a longer word with a point to all
// words of it, as bits. The extension of a file's name is not the name of another file, so such a
// word names only a row that has the others too. A bit that no row has stands for a word that is in
// no name.
func (c *clause) parts(of []int) map[int]uint64 {
	var all map[int]uint64
	for k, i := range of {
		from, to, ok := c.dotted(i)
		if !ok {
			continue
		}
		whole := uint64(0)
		for j := from; j < to; j++ {
			if at := slices.Index(of, j); at >= 0 {
				whole |= 1 << at
			} else if !small()[c.words[j].Plain] || len(c.words[j].Plain) == 1 {
				whole |= 1 << 63
			}
		}
		if all == nil {
			all = map[int]uint64{}
		}
		all[k] = whole
	}
	return all
}

// joined writes a run of words as the name of a row, with a hyphen for the space or mark between two.
func (c *clause) joined(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		if i > from && c.words[i].Range.Start > c.words[i-1].Range.End {
			b.WriteByte('-')
		}
		b.WriteString(c.words[i].Plain)
	}
	return b.String()
}

// spelled finds the rows whose labels the clause has, letter by letter, where those hold digits
// beside letters or marks: "MS-0004", "2024/17", "X1". Such a label means its row alone, although
// other names have the same words, and whatever its parts mean elsewhere.
func (n *nameList) spelled(c *clause) (found, bool) {
	f := found{written: true}
	for i := 0; i < len(c.words); {
		from, to := c.glued(i, labelMarks)
		i = to
		start := c.words[from].Range.Start
		if to-from < 2 || c.quoted[from] || inside(c.files, c.words[from].Range) || start > 0 && strings.IndexByte("@/:", c.text[start-1]) >= 0 {
			continue
		}
		name := c.joined(from, to)
		if plainWord(name) {
			continue
		}
		if name[0] >= '0' && name[0] <= '9' {
			name = n.kind + "-" + name
		}
		there := false
		for _, row := range n.names {
			if plain, _, _ := strings.Cut(row, "~"); plain == name {
				there = true
				if !slices.Contains(f.names, row) {
					f.names = append(f.names, row)
				}
			}
		}
		for k := from; k < to && there; k++ {
			f.words = append(f.words, k)
		}
	}
	return f, len(f.names) > 0
}

// named is find, but also accepts a spelled name: the words of the spelling name no other row.
func (n *nameList) named(c *clause) found {
	f := n.find(c)
	s, ok := n.spelled(c)
	if !ok || len(f.names) == 1 && len(f.words) > len(s.words) {
		return f // "the spare X1" is one row
	}
	rest := *c
	rest.quoted = slices.Clone(c.quoted)
	for k := range rest.quoted {
		rest.quoted[k] = rest.quoted[k] || slices.Contains(s.words, k) || slices.Contains(strings.Split(n.kind, "-"), c.words[k].Plain)
	}
	f = n.find(&rest)
	if !slices.ContainsFunc(f.names, func(name string) bool { return !slices.Contains(s.names, name) }) {
		return s
	}
	s.written = false // another row is named besides
	s.names, s.words = append(s.names, f.names...), append(s.words, f.words...)
	slices.Sort(s.names)
	slices.Sort(s.words)
	s.names, s.words = slices.Compact(s.names), slices.Compact(s.words)
	return s
}

// maxLoose is up to how many words of names an inexact match is tried.
const maxLoose = 4000

// written finds the one row that the clause names as a call would.
func (n *nameList) written(c *clause) (found, bool) {
	f := found{written: true}
	for i := range c.words {
		start := c.words[i].Range.Start
		if start == 0 || c.text[start-1] != '@' || c.quoted[i] {
			continue
		}
		end := start
		for end < len(c.text) && (c.text[end] == '-' || c.text[end] >= 'a' && c.text[end] <= 'z' || c.text[end] >= '0' && c.text[end] <= '9') {
			end++
		}
		if name := c.text[start:end]; slices.Contains(n.names, name) && !slices.Contains(f.names, name) {
			f.names = append(f.names, name)
			for k := i; k < len(c.words) && c.words[k].Range.End <= end; k++ {
				f.words = append(f.words, k)
			}
		}
	}
	return f, len(f.names) > 0
}

// rowsIn is find with its result kept in the clause.
func (r *Reader) rowsIn(c *clause, e *verbs.Entity) *found {
	if f := c.rows[e]; f != nil {
		return f
	}
	if c.rows == nil {
		c.rows = map[*verbs.Entity]*found{}
	}
	f, ok := r.names[e].written(c)
	if !ok {
		f = r.names[e].named(c)
	}
	c.rows[e] = &f
	return &f
}

// rowsApart is rowsIn for one argument of several. A word next to words that name a row of another
// entity belongs to that row: in "it belongs to Kwale South" nobody means the Kwale lease, since
// Kwale South is a site.
func (r *Reader) rowsApart(v *verbs.Verb, pr *verbs.Param, c *clause) *found {
	f := r.rowsIn(c, pr.Type.Entity)
	if f.written {
		return f
	}
	rest := *c
	rest.quoted = slices.Clone(c.quoted)
	beside := func(k int, in, out *found) bool {
		return slices.ContainsFunc(in.words, func(i int) bool { return (i == k-1 || i == k+1) && !slices.Contains(out.words, i) })
	}
	for i := range v.Params {
		e := v.Params[i].Type.Entity
		if e == nil || e == pr.Type.Entity || r.names[e] == nil {
			continue
		}
		other := r.rowsIn(c, e)
		for _, k := range f.words {
			if slices.Contains(other.words, k) && beside(k, other, f) && !beside(k, f, other) {
				rest.quoted[k] = true
			}
		}
	}
	if slices.Equal(rest.quoted, c.quoted) {
		return f
	}
	apart := r.names[pr.Type.Entity].find(&rest)
	return &apart
}

// sure reports that a row is certainly meant although it was not asked for: the clause has a word
// that only its name has.
func (n *nameList) sure(f *found, c *clause) bool {
	if f.written {
		return true
	}
	for _, k := range f.words {
		if len(n.byStem[c.stems[k]]) == 1 && len(c.stems[k]) >= 3 {
			return true
		}
	}
	return false
}

// doubt reports that a word next to a row's name names something else: another family name, another
// number.
func (r *Reader) doubt(v *verbs.Verb, c *clause, f *found) bool {
	if f.written {
		return false
	}
	named := make([]bool, len(c.words))
	if v != nil {
		named = r.named(v, c) // of "the UMZA permit belongs to UMZA-1", -1 is the project's
	}
	for _, k := range f.words {
		for _, i := range []int{k - 1, k + 1} {
			if i < 0 || i >= len(c.words) || slices.Contains(f.words, i) {
				continue
			}
			between := c.text[min(c.words[i].Range.End, c.words[k].Range.End):max(c.words[i].Range.Start, c.words[k].Range.Start)]
			if between == "." && c.dot(i) {
				return true // "the Kwale lease.pdf", if there is only a Kwale lease.txt
			}
			if strings.Trim(between, " -") != "" {
				continue
			}
			if !named[i] && (between == "-" || r.unknownName(c, i) || c.otherLabel(i) || i > k && !takesNumbers(v) && c.integer(i)) {
				return true
			}
		}
	}
	return false
}

// otherLabel reports that a word is part of a label of letters and digits, such as T3, that is
// nothing else: no date and no amount.
func (c *clause) otherLabel(i int) bool {
	from, to := c.glued(i, labelMarks)
	at := c.words[i].Range
	return to-from > 1 && !plainWord(c.joined(from, to)) && !slices.ContainsFunc(c.readings, func(rd values.Reading) bool {
		return rd.What != values.Integer && rd.Range.Start <= at.Start && at.End <= rd.Range.End
	})
}

// integer reports that a word is a number and no more.
func (c *clause) integer(i int) bool {
	return slices.ContainsFunc(c.readings, func(rd values.Reading) bool { return rd.What == values.Integer && rd.Range == c.words[i].Range })
}

// takesNumbers reports that a verb has a use for a number.
func takesNumbers(v *verbs.Verb) bool {
	return v != nil && slices.ContainsFunc(v.Params, func(p verbs.Param) bool {
		return p.Type.Name == verbs.IntegerType || p.Type.Name == verbs.DecimalType
	})
}

// others reports that a clause has a name or number that the verb has no use for. Then even an only
// row need not be meant.
func (r *Reader) others(c *clause, v *verbs.Verb) bool {
	named := r.named(v, c) // what another argument takes is of use
	for i := range c.words {
		if !named[i] && (r.unknownName(c, i) || !c.taken[i] && !plainWord(c.words[i].Plain)) {
			return true
		}
	}
	return !takesNumbers(v) && c.has(values.Integer)
}

// unknownName reports that a word has a capital letter inside a sentence and no known meaning, or is
// part of what looks like the name of a file.
func (r *Reader) unknownName(c *clause, i int) bool {
	if c.dot(i) && len(c.files) == 0 {
		return true
	}
	first, _ := utf8.DecodeRuneInString(c.raw(c.words[i].Range))
	if i == 0 || !unicode.IsUpper(first) || c.taken[i] || small()[c.words[i].Plain] || len(c.words[i].Plain) < 2 {
		return false
	}
	_, known := r.ix.ranker.Weight(r.rootOf(c, i))
	return !known
}

// inName reports that a number is part of a name that was found.
func (c *clause) inName(at values.Range, taken []bool) bool {
	for i := range c.words {
		if taken[i] && at.Start <= c.words[i].Range.Start && c.words[i].Range.End <= at.End {
			return true
		}
	}
	return false
}
