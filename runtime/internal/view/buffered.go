package view

import (
	"context"
	"errors"
	"reflect"
	"slices"

	"verbatim/stores"
	"verbatim/stores/search"
)

// A View reads a store and writes to it, within one transaction or on one snapshot. It is not safe
// for use by several goroutines.
type View struct {
	stores.Reader
	tx     stores.Tx
	facts  *Facts
	direct bool // it remembers and delays nothing

	rows      map[RowKey]stores.Row
	readAhead map[RowKey][]pathValue // by row, values that were read ahead from it
	answers   []stores.Ask           // queries that were read ahead and not used yet
	waiting   []stores.Change
	over      bool // the last read was declared to be the last
	parting   bool // delayed changes went with the last batch, so that the commit decides about them
	misjudged bool
}

// Open opens a Buffered view.
func Open(r stores.Reader, tx stores.Tx, f *Facts) *View {
	return &View{Reader: r, tx: tx, facts: f}
}

// Direct opens a Direct view.
func Direct(r stores.Reader, tx stores.Tx, f *Facts) *View {
	return &View{Reader: r, tx: tx, facts: f, direct: true}
}

// errOver says that something is read after the read that was declared to be the last.
var errOver = errors.New("there is more to read")

// ready is called before every read.
func (b *View) ready(ctx context.Context) error {
	if b.over {
		b.misjudged = true
		return errOver
	}
	return b.Flush(ctx)
}

func (b *View) Get(ctx context.Context, e *stores.Entity, key stores.Value) (stores.Row, error) {
	if row, ok := b.rows[RowKey{e, key}]; ok {
		return row, nil
	}
	if err := b.ready(ctx); err != nil {
		return stores.Row{}, err
	}
	row, err := b.Reader.Get(ctx, e, key)
	if err == nil {
		b.keep(row)
	}
	return row, err
}

func (b *View) Rows(ctx context.Context, e *stores.Entity, keys []stores.Value) ([]stores.Row, error) {
	if err := b.ready(ctx); err != nil {
		return nil, err
	}
	return b.Reader.Rows(ctx, e, keys)
}

func (b *View) Find(ctx context.Context, f stores.Find) ([][]stores.Value, error) {
	for i := range b.answers {
		if a := &b.answers[i]; a.Find != nil && reflect.DeepEqual(*a.Find, f) {
			a.Find = nil
			return a.Found, nil
		}
	}
	if err := b.ready(ctx); err != nil {
		return nil, err
	}
	f.Last = f.Last && !b.direct // there may be more reads
	b.over = f.Last
	return b.Reader.Find(ctx, f)
}

func (b *View) Together(ctx context.Context, asks []stores.Ask) error {
	if err := b.ready(ctx); err != nil {
		return err
	}
	if err := b.Reader.Together(ctx, asks); err != nil {
		return err
	}
	for i := range asks {
		for _, row := range asks[i].Rows {
			b.keep(row)
		}
		b.over = b.over || !b.direct && asks[i].Find != nil && asks[i].Find.Last
	}
	return nil
}

func (b *View) Match(ctx context.Context, m stores.Match) ([]search.Found, bool, error) {
	if err := b.ready(ctx); err != nil {
		return nil, false, err
	}
	return b.Reader.Match(ctx, m)
}

func (b *View) SQL(ctx context.Context, entities []*stores.Entity, q stores.SQL) ([][]stores.Value, error) {
	if err := b.ready(ctx); err != nil {
		return nil, err
	}
	return b.Reader.SQL(ctx, entities, q)
}

func (b *View) Jobs(ctx context.Context, f stores.JobFilter) ([]stores.JobRecord, error) {
	for i := range b.answers {
		if a := &b.answers[i]; a.Jobs != nil && reflect.DeepEqual(*a.Jobs, f) {
			a.Jobs = nil
			return a.Listed, nil
		}
	}
	if err := b.ready(ctx); err != nil {
		return nil, err
	}
	return b.Reader.Jobs(ctx, f)
}

// Known returns a row that was read by its key, in its present state.
func (b *View) Known(row RowKey) (stores.Row, bool) {
	found, ok := b.rows[row]
	return found, ok
}

// Postpone reports whether a row may be fetched together with the next read. Missed says that it did
// not exist then.
func (b *View) Postpone(row RowKey) bool {
	_, known := b.rows[row]
	return b.tx == nil && !b.direct && !known
}

func (b *View) Missed(RowKey) error {
	b.misjudged = true
	return stores.ErrNotFound
}

// Change makes changes. They may be delayed.
func (b *View) Change(ctx context.Context, changes []stores.Change) error {
	if b.direct {
		return b.Apply(ctx, stores.Batch{Changes: changes})
	}
	b.answers = nil
	for i := range changes {
		b.waiting = append(b.waiting, changes[i])
		b.follows(&changes[i])
	}
	return nil
}

// Draw calls the transaction's Draw; delayed changes stay delayed. On a snapshot there is none.
func (b *View) Draw(ctx context.Context, e *stores.Entity, field int) (stores.Value, error) {
	if b.tx == nil {
		return stores.Value{}, stores.ErrReadOnly
	}
	return b.tx.Draw(ctx, e, field)
}

// Rewrites calls the transaction's Rewrites.
func (b *View) Rewrites(ctx context.Context, e *stores.Entity) (bool, error) {
	return b.tx.Rewrites(ctx, e)
}

// Waiting reports whether there are delayed changes.
func (b *View) Waiting() bool { return len(b.waiting) > 0 }

// Flush hands the delayed changes over.
func (b *View) Flush(ctx context.Context) error {
	if len(b.waiting) == 0 {
		return nil
	}
	return b.Apply(ctx, stores.Batch{})
}

// Apply hands the delayed changes over, and then a batch.
func (b *View) Apply(ctx context.Context, batch stores.Batch) error {
	waited := len(b.waiting) > 0
	b.answers = nil
	if waited {
		if len(b.waiting) > Few {
			b.waiting = b.facts.inRuns(b.waiting)
		}
		batch.Changes = append(b.waiting, batch.Changes...)
		b.waiting, b.parting = nil, batch.Late
	}
	err := b.tx.Apply(ctx, batch)
	b.misjudged = b.misjudged || waited && isVerdict(err)
	return err
}

// Misjudged reports whether an attempt that ended with this error, nil for success, may end
// differently with a Direct view.
func (b *View) Misjudged(err error) bool {
	return !b.direct && (b.misjudged || b.parting && isVerdict(err))
}

// keep remembers a row that was just read by its key: in a transaction it is locked, and on a
// snapshot nothing changes.
func (b *View) keep(row stores.Row) {
	if b.direct {
		return
	}
	if b.rows == nil {
		b.rows = make(map[RowKey]stores.Row)
	}
	b.rows[RowKey{row.Entity, row.Key()}] = row
}

// follows applies a change to the remembered rows, or forgets them if the result in the database
// cannot be predicted: a mapped table may have triggers, references may point to a deleted row, and
// a row that gets another parent takes other rows into the scope or out of it.
func (b *View) follows(c *stores.Change) {
	b.forgets(c)
	e := c.Entity
	if !e.Managed || c.Op == stores.Delete {
		b.rows = nil
		return
	}
	id := RowKey{e, c.Key}
	old, known := b.rows[id]
	var values []stores.Value
	switch c.Op {
	case stores.Insert:
		values = make([]stores.Value, len(e.Fields))
		for i := range e.Fields {
			values[i] = e.Fields[i].Default
		}
		values[e.Key] = c.Key
	case stores.Update:
		for _, a := range c.Set {
			if b.facts.leads[Field{e, a.Field}] {
				b.rows = nil
				return
			}
		}
		if !known {
			return
		}
		values = slices.Clone(old.Values)
	}
	for _, a := range c.Set {
		values[a.Field] = a.Value
	}
	for i := range values {
		if !readsBack(&e.Fields[i], values[i]) {
			delete(b.rows, id)
			return
		}
	}
	b.keep(stores.Row{Entity: e, Values: values, Marks: marksAfter(old.Marks, c)})
}

// marksAfter returns the marks of a row after a change.
func marksAfter(marks []stores.Mark, c *stores.Change) []stores.Mark {
	untouched := len(marks) == 0
	for i := range c.Set {
		untouched = untouched && c.Set[i].Origin == ""
	}
	if untouched {
		return marks
	}
	after := slices.DeleteFunc(slices.Clone(marks), func(m stores.Mark) bool {
		return slices.ContainsFunc(c.Set, func(a stores.Assign) bool { return a.Field == m.Field })
	})
	for _, a := range c.Set {
		if a.Origin != "" {
			after = append(after, stores.Mark{Field: a.Field, Origin: a.Origin})
		}
	}
	slices.SortFunc(after, func(a, b stores.Mark) int { return a.Field - b.Field })
	return after
}

// readsBack reports whether a managed table returns a value exactly as it was written. A decimal may
// lose trailing zeros.
func readsBack(f *stores.Field, v stores.Value) bool {
	if v.IsNull() {
		return true
	}
	if v.Kind() != f.Holds() {
		return false
	}
	if v.Kind() != stores.Decimal {
		return true
	}
	text := v.Text()
	return text[0] != '-' && (text[0] != '0' || len(text) == 1 || text[1] == '.')
}

// Follow follows a path from the values of a row through known rows.
func (b *View) Follow(row []stores.Value, p stores.Path) (stores.Value, bool) {
	if p.Count != nil || b.direct {
		return stores.Value{}, false
	}
	for i, step := range p.Steps {
		to := row[step.Field]
		if to.IsNull() {
			return stores.Value{}, true
		}
		rest := stores.Path{Steps: p.Steps[i+1:], Field: p.Field}
		if v, ok := b.Along(RowKey{step.To, to}, []stores.Path{rest}, false); ok {
			return v[0], true
		}
		next, ok := b.rows[RowKey{step.To, to}]
		if !ok {
			return stores.Value{}, false
		}
		row = next.Values
	}
	return row[p.Field], true
}

// Read-ahead

const (
	// Few is the least number of rows that are worth reading ahead, and of changes that are worth
	// sorting.
	Few = 2
	// maxReadAhead is the greatest number of rows that are read ahead at once.
	maxReadAhead = 500
)

// A pathValue is the value at the end of a path from a row, which was read ahead.
type pathValue struct {
	path   stores.Path
	value  stores.Value
	locked bool // no other transaction can change it
}

// ReadAhead reads rows that will be wanted and answers queries that will be asked. Each answer is used
// once, for the same Find or filter of jobs, unless something was changed before.
func (b *View) ReadAhead(ctx context.Context, wants []Want, more []stores.Ask) error {
	if b.direct {
		return nil
	}
	var asks []stores.Ask
	at := make(map[*stores.Entity]int) // of each entity, the ask for its rows
	asked := make(map[RowKey]bool)
	for _, w := range wants {
		if asked[w.Row] {
			continue
		}
		asked[w.Row] = true
		i, ok := at[w.Row.Entity]
		if !ok || len(asks[i].Keys) >= maxReadAhead {
			i, at[w.Row.Entity] = len(asks), len(asks)
			asks = append(asks, stores.Ask{Entity: w.Row.Entity})
		}
		asks[i].Keys = append(asks[i].Keys, w.Row.Key)
	}
	rows := len(asks)
	type along struct {
		row   RowKey
		paths Paths
	}
	var all []along // the paths that are wanted, after the rows themselves
	for _, w := range wants {
		if !asked[w.Row] || len(all) >= maxReadAhead {
			continue
		}
		asked[w.Row] = false // each once
		for _, p := range w.Along {
			all = append(all, along{w.Row, p})
			asks = append(asks, stores.Ask{Find: &stores.Find{Entity: w.Row.Entity, Select: p.Paths, Limit: 1, Hold: p.Hold,
				Where: &stores.Cond{Op: stores.Eq, Path: stores.Path{Field: w.Row.Entity.Key}, Value: w.Row.Key}}})
		}
	}
	asks = append(asks, more...)
	if len(asks) == 0 || len(asks) == 1 && rows == 1 && len(asks[0].Keys) < Few {
		return nil // the call itself reads it
	}
	if err := b.Together(ctx, asks); err != nil {
		b.misjudged = b.misjudged || isVerdict(err)
		return err
	}
	b.answers = asks[rows+len(all):]
	for i, a := range all {
		if found := asks[rows+i].Found; len(found) == 1 {
			for j, p := range a.paths.Paths {
				if b.readAhead == nil {
					b.readAhead = make(map[RowKey][]pathValue)
				}
				b.readAhead[a.row] = append(b.readAhead[a.row], pathValue{p, found[0][j], a.paths.Hold != stores.Loose})
			}
		}
	}
	return nil
}

// Along returns the values at the ends of paths from a row, if all of them were read ahead and have not
// changed. With held, it returns them only if nobody else can change them.
func (b *View) Along(row RowKey, paths []stores.Path, held bool) ([]stores.Value, bool) {
	all := b.readAhead[row]
	if len(all) == 0 {
		return nil, false
	}
	values := make([]stores.Value, len(paths))
	for i, p := range paths {
		at := slices.IndexFunc(all, func(f pathValue) bool { return (f.locked || !held) && f.path.Is(p) })
		if at < 0 {
			return nil, false
		}
		values[i] = all[at].value
	}
	return values, true
}

// forgets drops the values that were read ahead and that a change may alter.
func (b *View) forgets(c *stores.Change) {
	if b.readAhead == nil {
		return
	}
	e := c.Entity
	hangs := func(a stores.Assign) bool {
		return b.facts.leads[Field{e, a.Field}] || slices.Contains(e.Visible, a.Field)
	}
	if !e.Managed || c.Op == stores.Delete || c.Op == stores.Update && slices.ContainsFunc(c.Set, hangs) {
		b.readAhead = nil
		return
	}
	for row, all := range b.readAhead {
		b.readAhead[row] = slices.DeleteFunc(all, func(f pathValue) bool { return touches(row.Entity, f.path, c) })
	}
}

// touches reports whether a change may alter the value at the end of a path from a row.
func touches(of *stores.Entity, p stores.Path, c *stores.Change) bool {
	sets := func(field int) bool {
		return of == c.Entity && c.Op == stores.Update && slices.ContainsFunc(c.Set, func(a stores.Assign) bool { return a.Field == field })
	}
	for _, s := range p.Steps {
		if sets(s.Field) {
			return true
		}
		of = s.To
	}
	switch {
	case p.Count != nil:
		return p.Count == c.Entity
	case p.Marks:
		return of == c.Entity
	}
	return sets(p.Field)
}
