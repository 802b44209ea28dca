// Package names makes and remembers the names of rows. A person or a model is never shown a
// key. They see names such as `@pierre-dupont-identity`, made from the label of a row, or,
// if rows share a label, `@pierre-dupont-identity~k3f9ab`. The suffix belongs to the row: it
// is made from the row's key with a secret of the store, so that it never changes, reveals
// nothing of the key, and means nothing in another store.
//
// The store keeps each name that a row was ever given: see stores.Name. Everything that is
// kept (journal, pending confirmations, receipts of keys) holds the name with the whole
// suffix. This package holds the names that one session knows; package runtime looks up the
// others.
package names

import (
	"slices"
	"strings"
	"sync"

	"verbatim/stores"
)

// A NamedRow is a row with the name that it is given.
type NamedRow struct {
	Key    stores.Value
	Label  string
	Owner  string // as of stores.Name
	Plain  string // the name without suffix
	Suffix string
	Shared bool // other rows have its plain name
	Kept   bool // the store has this very name
}

// Name returns the name in the form in which the store keeps it.
func (g *NamedRow) Name(e *stores.Entity) stores.Name {
	return stores.Name{Entity: e, Key: g.Key, Plain: g.Plain, Suffix: g.Suffix, Owner: g.Owner}
}

// A Row is the name of a row, in its several forms.
type Row struct {
	Name  string // as people see it: without the suffix while no other row has this name
	Kept  string // with the whole suffix, as the journal and other records hold it
	Label string
	Owner string // as of stores.Name
	at    string // "@" and Kept; Name is a prefix of Kept
}

// Shown returns the name with a leading @.
func (r *Row) Shown() string { return r.at[:1+len(r.Name)] }

// Plain returns the name without its suffix.
func (r *Row) Plain() string {
	plain, _, _ := strings.Cut(r.Kept, "~")
	return plain
}

func (r *Row) short() string { return r.Kept[:strings.LastIndexByte(r.Kept, '~')+1+shownSuffix] }

// MaxHomonyms is the greatest number of rows with one name that are listed.
const MaxHomonyms = 6

// A Cache holds the names of rows that a session knows. The zero Cache is empty. It is safe for use
// by several goroutines.
type Cache struct {
	mu       sync.Mutex
	byEntity map[*stores.Entity]*entityNames
	fresh    []stores.Name
}

// entityNames holds the known names of the rows of one entity.
type entityNames struct {
	extent Extent
	rows   map[stores.Value]Row
	plain  map[string][]stores.Value // rows by their name without suffix
	keys   map[string]stores.Value   // rows by each of their known names
	unsure map[string]bool           // names that may mean several rows
	texts  map[string]stores.Value   // rows by a text that is exactly their label
}

// An Extent says how many of an entity's rows within scope have known names.
type Extent uint8

// The extents.
const (
	Some Extent = iota // single rows
	All
	TooMany // some, and there are too many to read
)

func (b *Cache) book(e *stores.Entity) *entityNames {
	if b.byEntity == nil {
		b.byEntity = make(map[*stores.Entity]*entityNames)
	}
	of := b.byEntity[e]
	if of == nil {
		of = &entityNames{rows: make(map[stores.Value]Row), plain: make(map[string][]stores.Value), keys: make(map[string]stores.Value), unsure: make(map[string]bool), texts: make(map[string]stores.Value)}
		b.byEntity[e] = of
	}
	return of
}

// Unknown removes the rows that have a name here from a slice, and returns the rest.
func (b *Cache) Unknown(e *stores.Entity, rows []NamedRow) []NamedRow {
	b.mu.Lock()
	defer b.mu.Unlock()
	of := b.book(e)
	return slices.DeleteFunc(rows, func(g NamedRow) bool { _, known := of.rows[g.Key]; return known })
}

// Add notes the names of rows. A name that turns out to be shared by several rows stops meaning the
// first of them. Names that the store does not have are Fresh.
func (b *Cache) Add(e *stores.Entity, rows ...NamedRow) {
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

func (b *entityNames) add(g *NamedRow) {
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
		// Two rows with one name and equal beginnings of their suffixes: both are shown whole.
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

// Fresh returns the names that the store does not have yet, and clears the list.
func (b *Cache) Fresh() []stores.Name {
	b.mu.Lock()
	defer b.mu.Unlock()
	fresh := b.fresh
	b.fresh = nil
	return fresh
}

// Settle decides which row a word names. found lists every row that has or had this
// name. The word names a row only if no other row ever had the name, and the row
// still exists.
func (b *Cache) Settle(e *stores.Entity, word string, found []stores.Name) {
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
		// It is, or was, the name of another row too.
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

// Forget drops the name of a row whose label has changed. The names by which the row was known go on
// meaning it.
func (b *Cache) Forget(e *stores.Entity, key stores.Value) {
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
func (b *Cache) Extent(e *stores.Entity) Extent {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.book(e).extent
}

// SetExtent notes how many of an entity's rows are known.
func (b *Cache) SetExtent(e *stores.Entity, to Extent) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.book(e).extent = to
}

// Trim forgets the names of an entity beyond these numbers of rows: beyond mostAll if the session
// has read all its rows, and beyond Most otherwise.
const (
	Most    = 1000
	mostAll = 10_000
)

// Trim forgets the names of entities that have too many, so that a long session does not need more
// memory than others. The store has them.
func (b *Cache) Trim() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for e, of := range b.byEntity {
		if n := len(of.rows); n > mostAll || n > Most && of.extent != All {
			delete(b.byEntity, e)
			if of.extent == TooMany {
				b.book(e).extent = TooMany
			}
		}
	}
}

// Row returns the name of a row, if it has one here.
func (b *Cache) Row(e *stores.Entity, key stores.Value) (Row, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	row, ok := b.book(e).rows[key]
	return row, ok
}

// Key returns the row that a name means.
func (b *Cache) Key(e *stores.Entity, name string) (stores.Value, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key, ok := b.book(e).keys[name]
	return key, ok
}

// Each calls fn with each named row, in no order. fn must not call the Cache.
func (b *Cache) Each(e *stores.Entity, fn func(key stores.Value, row Row)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, row := range b.book(e).rows {
		fn(key, row)
	}
}

// Homonyms returns the rows that an ambiguous name may mean, with names that tell them apart.
func (b *Cache) Homonyms(e *stores.Entity, word string) []Row {
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

// Text returns the row whose label a text is.
func (b *Cache) Text(e *stores.Entity, text string) (stores.Value, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key, ok := b.book(e).texts[text]
	return key, ok
}

// SetText notes the row whose label a text is; a null key means none.
func (b *Cache) SetText(e *stores.Entity, text string, key stores.Value) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if key.IsNull() {
		delete(b.book(e).texts, text)
		return
	}
	b.book(e).texts[text] = key
}
