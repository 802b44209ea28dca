// Package names says what rows are called. A person or a model is never shown a
// key. It sees names such as `@pierre-dupont-identity`, made of the label of a row,
// and where rows share a label `@pierre-dupont-identity~k3f9ab`. The suffix belongs
// to the row: it is made of the row's key with a secret of the store, so that it
// never changes, tells nothing of the key, and means nothing in another store.
//
// The store keeps each name that a row was given, for ever: see stores.Name. What
// is kept (journal, pending confirmations, what is done under a key) holds the name
// with the whole suffix. This package holds what one session knows of names; what
// it does not know is looked up by package runtime.
package names

import (
	"slices"
	"strings"
	"sync"

	"verbatim/stores"
)

// A Given is a row that is given a name.
type Given struct {
	Key    stores.Value
	Label  string
	Owner  string // as of stores.Name
	Plain  string // the name without suffix
	Suffix string
	Shared bool // other rows have its plain name
	Kept   bool // the store has this very name
}

// Name is the name as the store keeps it.
func (g *Given) Name(e *stores.Entity) stores.Name {
	return stores.Name{Entity: e, Key: g.Key, Plain: g.Plain, Suffix: g.Suffix, Owner: g.Owner}
}

// A Row is the name of a row, in its several forms.
type Row struct {
	Name  string // as people see it: without the suffix while no other row has this name
	Kept  string // with the whole suffix, as the journal and other records hold it
	Label string
	Owner string // as of stores.Name
	at    string // Kept, of which Name is the beginning, after an @
}

// Shown is the name with what begins names.
func (r *Row) Shown() string { return r.at[:1+len(r.Name)] }

// Plain is the name without its suffix.
func (r *Row) Plain() string {
	plain, _, _ := strings.Cut(r.Kept, "~")
	return plain
}

func (r *Row) short() string { return r.Kept[:strings.LastIndexByte(r.Kept, '~')+1+shownSuffix] }

// MaxHomonyms is how many rows of one name are told of.
const MaxHomonyms = 6

// Books hold what a session knows of the names of rows. The zero Books know
// nothing. They may be used by several goroutines at once.
type Books struct {
	mu    sync.Mutex
	books map[*stores.Entity]*book
	fresh []stores.Name
}

// A book holds what is known of the names of one entity's rows.
type book struct {
	extent Extent
	rows   map[stores.Value]Row
	plain  map[string][]stores.Value // rows by their name without suffix
	keys   map[string]stores.Value   // rows by each word that they are known by
	unsure map[string]bool           // words that may mean several rows
	texts  map[string]stores.Value   // what a script called a row that has exactly that label
}

// An Extent says how many of the rows within scope are known.
type Extent uint8

// What may be known of the rows of an entity.
const (
	Some Extent = iota // single rows
	All
	TooMany // some, and there are too many to read
)

func (b *Books) book(e *stores.Entity) *book {
	if b.books == nil {
		b.books = make(map[*stores.Entity]*book)
	}
	of := b.books[e]
	if of == nil {
		of = &book{rows: make(map[stores.Value]Row), plain: make(map[string][]stores.Value), keys: make(map[string]stores.Value), unsure: make(map[string]bool), texts: make(map[string]stores.Value)}
		b.books[e] = of
	}
	return of
}

// Unknown leaves those rows that have no name here yet. It changes the slice.
func (b *Books) Unknown(e *stores.Entity, rows []Given) []Given {
	b.mu.Lock()
	defer b.mu.Unlock()
	of := b.book(e)
	return slices.DeleteFunc(rows, func(g Given) bool { _, known := of.rows[g.Key]; return known })
}

// Add notes what rows are called. A name that turns out to be that of several rows
// no longer means the first of them. Names that the store does not have are Fresh.
func (b *Books) Add(e *stores.Entity, rows ...Given) {
	b.mu.Lock()
	defer b.mu.Unlock()
	of := b.book(e)
	for i := range rows {
		of.add(&rows[i])
		if !rows[i].Kept {
			b.fresh = append(b.fresh, rows[i].Name(e))
		}
	}
}

func (b *book) add(g *Given) {
	if _, known := b.rows[g.Key]; known {
		return
	}
	at := "@" + g.Plain + "~" + g.Suffix
	row := Row{Name: at[1 : 1+len(g.Plain)], Kept: at[1:], Label: g.Label, Owner: g.Owner, at: at}
	short := row.short()
	others := b.plain[g.Plain]
	b.plain[g.Plain] = append(others, g.Key)
	if g.Shared || len(others) > 0 {
		row.Name = short
		for _, other := range others {
			had := b.rows[other]
			if had.Name == g.Plain {
				had.Name = had.short()
				b.rows[other] = had
			}
		}
		delete(b.keys, g.Plain)
		b.unsure[g.Plain] = b.unsure[g.Plain] || len(others) > 0
	} else {
		b.keys[g.Plain] = g.Key
	}
	if other, taken := b.keys[short]; taken && other != g.Key {
		// Two rows of one name whose suffixes begin alike: both are shown whole.
		row.Name = row.Kept
		had := b.rows[other]
		had.Name = had.Kept
		b.rows[other] = had
		b.unsure[short] = true
		delete(b.keys, short)
	} else if !b.unsure[short] {
		b.keys[short] = g.Key
	} else {
		row.Name = row.Kept
	}
	b.keys[row.Kept] = g.Key
	b.rows[g.Key] = row
}

// Fresh takes the names that the store does not have yet.
func (b *Books) Fresh() []stores.Name {
	b.mu.Lock()
	defer b.mu.Unlock()
	fresh := b.fresh
	b.fresh = nil
	return fresh
}

// Settle decides which row a word names. found lists every row that has or had this
// name. The word names a row only if no other row ever had the name, and the row
// still exists.
func (b *Books) Settle(e *stores.Entity, word string, found []stores.Name) {
	b.mu.Lock()
	defer b.mu.Unlock()
	of := b.book(e)
	var keys, there []stores.Value
	for _, n := range found {
		if slices.Contains(keys, n.Key) {
			continue
		}
		keys = append(keys, n.Key)
		if _, ok := of.rows[n.Key]; ok {
			there = append(there, n.Key)
		}
	}
	switch {
	case len(there) == 0:
	case len(keys) == 1 && !of.unsure[word]:
		of.keys[word] = keys[0]
	default:
		// It was, or is, the name of another row as well.
		delete(of.keys, word)
		of.unsure[word] = true
		if !strings.Contains(word, "~") {
			for _, key := range there {
				if !slices.Contains(of.plain[word], key) {
					of.plain[word] = append(of.plain[word], key)
				}
			}
		}
	}
}

// Forget drops what a row was called, whose label has changed. The words that it
// was known by go on meaning it.
func (b *Books) Forget(e *stores.Entity, key stores.Value) {
	b.mu.Lock()
	defer b.mu.Unlock()
	of := b.book(e)
	delete(of.rows, key)
	if of.extent == All {
		of.extent = Some
	}
	for plain, keys := range of.plain {
		of.plain[plain] = slices.DeleteFunc(keys, func(k stores.Value) bool { return k == key })
	}
}

// Extent says how many of an entity's rows are known.
func (b *Books) Extent(e *stores.Entity) Extent {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.book(e).extent
}

// SetExtent notes how many of an entity's rows are known.
func (b *Books) SetExtent(e *stores.Entity, to Extent) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.book(e).extent = to
}

// Most is how many rows of an entity are remembered before Trim forgets them: what a
// session may have read to know all names of an entity is kept for longer.
const (
	Most    = 1000
	mostAll = 10_000
)

// Trim forgets the names of entities of which too many are known, so that a session that
// goes on for long takes no more memory than others. The store has them.
func (b *Books) Trim() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for e, of := range b.books {
		if n := len(of.rows); n > mostAll || n > Most && of.extent != All {
			delete(b.books, e)
			if of.extent == TooMany {
				b.book(e).extent = TooMany
			}
		}
	}
}

// Row is what a row is called, if it was named.
func (b *Books) Row(e *stores.Entity, key stores.Value) (Row, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	row, ok := b.book(e).rows[key]
	return row, ok
}

// Key is the row that a name stands for.
func (b *Books) Key(e *stores.Entity, name string) (stores.Value, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key, ok := b.book(e).keys[name]
	return key, ok
}

// Each calls fn with each row that was named, in no order. fn must not call Books.
func (b *Books) Each(e *stores.Entity, fn func(key stores.Value, row Row)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, row := range b.book(e).rows {
		fn(key, row)
	}
}

// Homonyms are the rows that a name may mean, where it may mean several, by names
// that tell them apart.
func (b *Books) Homonyms(e *stores.Entity, word string) []Row {
	b.mu.Lock()
	defer b.mu.Unlock()
	of := b.book(e)
	if _, known := of.keys[word]; known {
		return nil
	}
	plain, suffix, _ := strings.Cut(word, "~")
	var all []Row
	for _, key := range of.plain[plain] {
		row := of.rows[key]
		if strings.HasPrefix(row.Kept[strings.LastIndexByte(row.Kept, '~')+1:], suffix) {
			row.Name = row.short()
			all = append(all, row)
		}
	}
	slices.SortFunc(all, func(a, b Row) int { return strings.Compare(a.Kept, b.Kept) })
	return all[:min(len(all), MaxHomonyms)]
}

// Text is the row that a text is the label of.
func (b *Books) Text(e *stores.Entity, text string) (stores.Value, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key, ok := b.book(e).texts[text]
	return key, ok
}

// SetText notes which row a text is the label of; Null is none.
func (b *Books) SetText(e *stores.Entity, text string, key stores.Value) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if key.IsNull() {
		delete(b.book(e).texts, text)
		return
	}
	b.book(e).texts[text] = key
}
