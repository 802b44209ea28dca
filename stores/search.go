package stores

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"verbatim/stores/search"
)

// A Search says by which fields rows of an entity are found: by the words of the Text fields, by
// the meaning of the Meaning fields, and by Names fields whose spelling is close to the text
// asked for. The fields are texts, and not sensitive.
//
// The index is derived data: it is not journalled, and nothing is decided by it. A transaction
// that writes a row also indexes its words and the vectors that search.Grams makes; the vectors
// of a model come later: see Searcher.
type Search struct{ Text, Meaning, Names []int }

// Signature identifies the way in which an entity is indexed. Another signature means that the
// index has to be rebuilt.
func (s *Search) Signature(e *Entity) string {
	b := strconv.Itoa(search.Version)
	for _, fields := range [][]int{s.Text, s.Meaning} {
		b += ";"
		for _, f := range fields {
			b += " " + strconv.Quote(e.Fields[f].Column)
		}
	}
	if len(s.Names) > 0 {
		b += "; names"
		for _, f := range s.Names {
			b += " " + strconv.Quote(e.Fields[f].Column)
		}
	}
	for _, step := range e.Scope { // the scope path says who owns the row
		b += fmt.Sprintf("; %d", step.Field)
	}
	return b
}

// Fields returns the indexed fields, each once, ascending.
func (s *Search) Fields() []int {
	all := slices.Concat(s.Text, s.Meaning, s.Names)
	slices.Sort(all)
	return slices.Compact(all)
}

// A Match asks which rows of an entity fit a text best: by its words, by its meaning if Near is
// set, or by both, merged by reciprocal rank. Only rows within the scope are looked at and
// counted: no other row affects the order.
type Match struct {
	Entity *Entity
	// Owner restricts the search to the rows of one owner, given by key; null means every owner
	// within the scope.
	Owner Value
	Text  string
	Near  []float32 // the vector of Text, of length 1
	Maker string    // of Near; vectors of other makers are not compared with it
	Limit int
	// Edits is the greatest edit distance at which a name is like Text. With Spellings, rows are
	// found by their names alone, and also by names that are like one of the Spellings.
	Edits     int
	Spellings []string
	// Beyond searches everybody's rows, whatever the scope: the caller must not be told the
	// result.
	Beyond bool
}

// A Searcher keeps the search indexes.
type Searcher interface {
	// Index compares the index of an entity with the rows of all owners. With anew it rebuilds
	// the index first. It returns ErrSchema if Migrate has not prepared the index.
	Index(ctx context.Context, e *Entity, anew bool) (IndexState, error)
	// Vectors calls embed for at most so many rows whose vector was not made by maker, and stores
	// the vectors of those rows that still have the same text afterwards. It returns how many
	// rows it tried. embed is called outside any transaction.
	Vectors(ctx context.Context, e *Entity, maker string, most int, embed func(texts []string) ([][]float32, error)) (int, error)
}

// An IndexState is the result of comparing an index with its rows.
type IndexState struct {
	Rows    int64 `json:"rows"`    // rows that exist
	Missing int64 `json:"missing"` // rows that are not in the index
	Stale   int64 `json:"stale"`   // rows whose index entry is out of date
	Stray   int64 `json:"stray"`   // index entries without a row, and terms of no row
}

// Count counts one row: whether the index has it, and whether the entry is up to date.
func (s *IndexState) Count(has, is bool) {
	s.Rows++
	switch {
	case !has:
		s.Missing++
	case !is:
		s.Stale++
	}
}

// Clean reports whether the index matches the rows.
func (s IndexState) Clean() bool { return s.Missing+s.Stale+s.Stray == 0 }

// An Indexed is the index entry of a row.
type Indexed struct {
	Key      string
	Owner    int64 // the owner of the row: see search.Owner
	Digest   int64 // of all the other fields
	Postings []search.Posting
	Meant    string   // the text that a vector is made of
	Vector   []byte   // the vector that search.Grams makes
	Names    []string // folded, each once, in order
}

// Sum combines the number of the row's terms and their weights in one number.
func (x *Indexed) Sum() int64 {
	sum := int64(len(x.Postings)) * 1_000_000_000
	for _, p := range x.Postings {
		sum += p.Weight
	}
	return sum
}

// Indexed makes the index entry of a row from its key, its owner, and the values of its fields,
// parallel to Search.Fields.
func (e *Entity) Indexed(key, owner string, fields []string) Indexed {
	x := Indexed{Key: key, Owner: search.Owner(owner)}
	texts := func(of []int) (texts []string) {
		for i, f := range e.Search.Fields() {
			if slices.Contains(of, f) && fields[i] != "" {
				texts = append(texts, fields[i])
			}
		}
		return texts
	}
	x.Postings = search.Postings(e.Table, texts(e.Search.Text))
	x.Meant = strings.Join(texts(e.Search.Meaning), "\n")
	x.Vector = search.Bytes(search.Grams(x.Meant))
	for _, name := range texts(e.Search.Names) {
		folded := search.Name(name)
		x.Names = append(append(x.Names, folded), search.ShorterNames(folded)...)
	}
	slices.Sort(x.Names)
	x.Names = slices.Compact(x.Names)
	of := append([]string{owner}, fields...)
	if len(x.Names) > 0 {
		of = append(of, search.Folding)
	}
	x.Digest = search.Digest(of...)
	return x
}

// Reindexed reports whether a change may alter the index entry of its row.
func (c *Change) Reindexed() bool {
	s := c.Entity.Search
	if s == nil || c.Op != Update {
		return s != nil
	}
	return slices.ContainsFunc(c.Set, func(a Assign) bool {
		return slices.Contains(s.Fields(), a.Field) ||
			len(c.Entity.Scope) > 0 && c.Entity.Scope[0].Field == a.Field
	})
}

// Owners returns the numbers of the owners whose rows of an entity the scope may see; all is true
// if the scope may see every row.
func (s *Scope) Owners(e *Entity) (owners []int64, all bool) {
	switch {
	case s.All || e.Access == ForAll:
		return nil, true
	case e.Access == ByPrincipal:
		if s.Principal != "" {
			owners = append(owners, search.Owner(s.Principal))
		}
		return owners, false
	}
	for _, key := range s.Holds[e.Root().Name] {
		owners = append(owners, search.Owner(key.Text()))
	}
	return owners, false
}

// Root returns the entity whose rows own the rows of this one by its scope path; nil if there is
// none.
func (e *Entity) Root() *Entity {
	switch n := len(e.Scope); {
	case e.Access != ByPath:
		return nil
	case n > 0:
		return e.Scope[n-1].To
	}
	return e
}

// OwnerIn returns the only owner whose rows can meet a condition, which may be nil. It returns
// null if the condition does not determine one, or if the rows belong to everybody.
func (e *Entity) OwnerIn(c *Cond) Value {
	if c == nil || e.Access == ForAll {
		return Value{}
	}
	owner := Path{Field: e.Key}
	if n := len(e.Scope); n > 0 {
		owner = Path{Steps: e.Scope[:n-1], Field: e.Scope[n-1].Field}
	}
	switch f := owner.End(e); {
	case f.Spelling != nil, f.Holds() != UUID && f.Holds() != String && f.Holds() != Int:
		return Value{} // the index may spell it differently
	}
	return c.pins(owner)
}

// pins returns the value that a path has in every row that meets the condition, or null.
func (c *Cond) pins(p Path) (v Value) {
	switch {
	case c.Op == Eq && c.Other == nil && c.Path.Is(p):
		v = c.Value
	case c.Op == And:
		for i := 0; i < len(c.Kids) && v.IsNull(); i++ {
			v = c.Kids[i].pins(p)
		}
	}
	return v
}

// A Matcher reads the index of one entity, for the rows of some owners, or of everybody if owners
// is nil.
type Matcher interface {
	// Owned returns how many rows there are, and the stamp of each owner who has some. The stamp
	// differs whenever the index of the owner's rows has changed. ErrSchema if the index is not
	// the one that the entity declares.
	Owned(owners []int64) (rows int64, stamps map[int64]int64, err error)
	// Hits returns the rows that have each term, at most so many for a term; 0 is all.
	Hits(terms, owners []int64, most int) (map[int64][]search.Hit, error)
	// Keys returns the keys of rows by their numbers in the index.
	Keys(rows []int64) (map[int64]string, error)
	// NamesSince returns at most so many names that the index has got after the given entry, in
	// order; names of other tables are among them, and are marked as such.
	NamesSince(entry int64, most int) ([]search.Named, error)
	// NamesOf returns the names of rows, as the index has them now.
	NamesOf(keys []string) (map[string][]string, error)
	// Vectors calls fn with each vector of a maker. The vector is valid until fn returns.
	Vectors(maker string, owners []int64, fn func(owner int64, vector []float32, key string)) error
}

// Run carries out a Match for both stores. What it reads is cached in memory, unless the
// transaction has changed the index: other callers must not see those changes.
func (m Match) Run(scope *Scope, index Matcher, kept *search.Kept, changed bool) (found []search.Found, more bool, err error) {
	owners, all := scope.Owners(m.Entity)
	if m.Beyond {
		owners, all = nil, true
	}
	if one := search.Owner(m.Owner.Text()); !m.Owner.IsNull() {
		if !all && !slices.Contains(owners, one) {
			return nil, false, nil
		}
		owners, all = []int64{one}, false
	}
	if !all && len(owners) == 0 || m.Limit < 1 {
		return nil, false, nil
	}
	rows, stamps, err := index.Owned(owners)
	if err != nil || rows == 0 {
		return nil, false, err
	}
	var lists [][]search.Found
	keep := func(list []search.Found) {
		more = more || len(list) > m.Limit
		lists = append(lists, list[:min(len(list), m.Limit)])
	}
	if len(m.Entity.Search.Text) > 0 && m.Spellings == nil {
		best := search.NewBest(m.Limit + 1)
		if err := m.words(index, owners, rows, best); err != nil {
			return nil, false, err
		}
		keep(best.All())
	}
	if len(m.Entity.Search.Names) > 0 {
		near, err := m.names(index, owners, kept, changed)
		if err != nil {
			return nil, false, err
		}
		best := search.NewBest(m.Limit + 1)
		for _, f := range near {
			best.Add(f.Key, f.Likeness)
		}
		keep(best.All())
	}
	if m.Near != nil {
		best := search.NewBest(m.Limit + 1)
		if err := m.meaning(index, owners, stamps, kept, changed, best); err != nil {
			return nil, false, err
		}
		keep(best.All())
	}
	return search.Fuse(lists...), more, nil
}

// words adds the rows that have some of the words.
func (m Match) words(index Matcher, owners []int64, rows int64, best *search.Best) error {
	asked := search.Question(m.Entity.Table, m.Text)
	if len(asked) == 0 {
		return nil
	}
	terms, hits, err := weighed(index, asked, owners, rows, search.Complete+1)
	if err == nil && slices.ContainsFunc(terms, func(t search.Term) bool { return len(hits[t.Term]) > search.Complete }) {
		terms, hits, err = weighed(index, asked, owners, rows, 0)
	}
	if err != nil || len(terms) == 0 {
		return err
	}
	scored := search.Score(terms, hits, m.Limit+1)
	numbers := make([]int64, len(scored))
	for i, s := range scored {
		numbers[i] = s.Row
	}
	keys, err := index.Keys(numbers)
	for _, s := range scored {
		best.Add(keys[s.Row], float64(s.Score))
	}
	return err
}

// weighed returns the weighed terms of a question, and the rows that have them, at most so many
// for a term.
func weighed(index Matcher, asked [][]int64, owners []int64, rows int64, most int) ([]search.Term, map[int64][]search.Hit, error) {
	hits, err := index.Hits(slices.Concat(asked...), owners, most)
	counts := make(map[int64]int64, len(hits))
	for term, list := range hits {
		counts[term] = min(int64(len(list)), search.Counted)
	}
	return search.Weigh(asked, counts, min(rows, search.Counted)), hits, err
}

// namesAtOnce is how many new names are read at once.
const namesAtOnce = 10_000

// names returns the rows that have a name spelled almost like the text asked for. The names
// cached in memory give the candidates, and the index confirms them.
func (m Match) names(index Matcher, owners []int64, kept *search.Kept, changed bool) ([]search.NearName, error) {
	edits := min(m.Edits, search.MostEdits)
	var asked []*search.Pattern
	for _, text := range append([]string{m.Text}, m.Spellings...) {
		if name := search.Name(text); name != "" {
			asked = append(asked, search.NewPattern(name))
		}
	}
	if len(asked) == 0 || edits < 0 {
		return nil, nil
	}
	all, own := kept.Names(m.Entity.Table), &search.Names{} // names of all owners, and names that this transaction wrote
	into := all
	if changed {
		into = own
	}
	for upto, _ := all.Upto(); ; {
		more, err := index.NamesSince(upto, namesAtOnce)
		if err != nil {
			return nil, err
		}
		if len(more) == 0 {
			break
		}
		last := upto
		if changed {
			last, _ = own.Upto()
		}
		if into.Add(last, more); len(more) < namesAtOnce {
			break
		}
		upto = more[len(more)-1].Seq
	}
	if into.Settle() && !changed {
		kept.Forget(m.Entity.Table)
	}
	var of map[int64]bool
	if owners != nil {
		of = make(map[int64]bool, len(owners))
		for _, owner := range owners {
			of[owner] = true
		}
	}
	may := map[string]bool{}
	for _, p := range asked {
		for _, names := range [...]*search.Names{all, own} {
			names.Near(p, edits, of, func(key string, _ int) { may[key] = true })
		}
	}
	keys := slices.Sorted(maps.Keys(may))
	if len(keys) == 0 {
		return nil, nil
	}
	are, err := index.NamesOf(keys)
	if err != nil {
		return nil, err
	}
	var near []search.NearName
	for key, names := range are {
		for _, is := range names {
			for _, p := range asked {
				if d := p.Distance([]byte(is)); d <= edits {
					near = append(near, search.NearName{Key: key, Distance: d, Likeness: p.Likeness(is, d)})
				}
			}
		}
	}
	return search.Nearest(near), nil
}

// meaning adds the rows whose vector is similar to the one asked for.
func (m Match) meaning(index Matcher, owners []int64, stamps map[int64]int64, kept *search.Kept, changed bool, best *search.Best) error {
	if changed || owners == nil {
		return index.Vectors(m.Maker, owners, func(_ int64, vector []float32, key string) {
			if like := float64(search.Likeness(m.Near, vector)); like >= search.Alike && best.Fits(like) {
				best.Add(key, like)
			}
		})
	}
	var missing []int64
	fresh := map[int64]*search.Vectors{}
	of := func(owner int64) search.KeptOf {
		return search.KeptOf{Table: m.Entity.Table, Maker: m.Maker, Owner: owner}
	}
	for owner, stamp := range stamps {
		if v := kept.Get(of(owner), stamp); v != nil {
			v.Near(m.Near, best)
			continue
		}
		missing, fresh[owner] = append(missing, owner), &search.Vectors{}
	}
	if len(missing) == 0 {
		return nil
	}
	err := index.Vectors(m.Maker, missing, func(owner int64, vector []float32, key string) { fresh[owner].Add(key, vector) })
	if err != nil {
		return err
	}
	for owner, v := range fresh {
		v.Near(m.Near, best)
		kept.Keep(of(owner), stamps[owner], v)
	}
	return nil
}
