package runtime

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"verbatim/stores"
	"verbatim/verbs"
)

// A run asks the store as little as it can. What it knows of rows it keeps, and
// what it changes it hands over late: the changes wait until something is read
// that may depend on them, or until the end, so that a run of writes is one
// batch. Nobody inside a run can tell the difference, because every read goes
// through a current, which hands over first.
//
// Handed over late, a change also fails late, when it is no longer clear whose
// it was. The run then begins again and hands over at once, as often as it
// changes something: see Session.attempts.

// A rowKey names one row.
type rowKey struct {
	entity *stores.Entity
	key    stores.Value
}

// A held is what a run keeps of rows, and what it has not handed over yet.
type held struct {
	// atOnce keeps nothing and lets nothing wait.
	atOnce  bool
	rows    map[rowKey]stores.Row
	reached map[rowKey][]reached // from a row, what was read ahead
	waiting []stores.Change
	late    error // why changes that had waited were not accepted
	parting bool  // changes that had waited went with the commit, which judges them
	failed  bool  // the transaction is lost
	ended   bool  // what was read was said to be the last: see Session.attempt
	// unread looks at the calls that were not looked at because of that.
	unread func(context.Context) []complaint
}

// few is how many keys make it worth asking for rows ahead of time.
const few = 2

// maxAhead bounds the rows that are asked for at once.
const maxAhead = 500

// A current is a Reader that sees what the run has changed.
type current struct {
	stores.Reader
	r *run
}

// errMore says that something was to be read after what was to be the last.
var errMore = errors.New("there is more to read")

// ready goes ahead of every read.
func (c current) ready(ctx context.Context) error {
	if c.r.ended {
		return errMore
	}
	return c.r.handOver(ctx)
}

// Get implements stores.Reader.
func (c current) Get(ctx context.Context, e *stores.Entity, key stores.Value) (stores.Row, error) {
	if err := c.ready(ctx); err != nil {
		return stores.Row{}, err
	}
	return c.Reader.Get(ctx, e, key)
}

// Rows implements stores.Reader.
func (c current) Rows(ctx context.Context, e *stores.Entity, keys []stores.Value) ([]stores.Row, error) {
	if err := c.ready(ctx); err != nil {
		return nil, err
	}
	return c.Reader.Rows(ctx, e, keys)
}

// Find implements stores.Reader.
func (c current) Find(ctx context.Context, f stores.Find) ([][]stores.Value, error) {
	if err := c.ready(ctx); err != nil {
		return nil, err
	}
	return c.Reader.Find(ctx, f)
}

// Together implements stores.Reader.
func (c current) Together(ctx context.Context, asks []stores.Ask) error {
	if err := c.ready(ctx); err != nil {
		return err
	}
	return c.Reader.Together(ctx, asks)
}

// SQL implements stores.Reader.
func (c current) SQL(ctx context.Context, entities []*stores.Entity, q stores.SQL) ([][]stores.Value, error) {
	if err := c.ready(ctx); err != nil {
		return nil, err
	}
	return c.Reader.SQL(ctx, entities, q)
}

// change lets the changes of a call wait.
func (r *run) change(ctx context.Context, changes []stores.Change) error {
	if r.atOnce {
		return r.hand(ctx, stores.Batch{Changes: changes})
	}
	for i := range changes {
		r.waiting = append(r.waiting, changes[i])
		r.follows(&changes[i])
	}
	return nil
}

// handOver gives the transaction the changes that wait.
func (r *run) handOver(ctx context.Context) error {
	if len(r.waiting) == 0 {
		return nil
	}
	return r.hand(ctx, stores.Batch{})
}

// hand applies a batch, and before it the changes that wait.
func (r *run) hand(ctx context.Context, b stores.Batch) error {
	waited := len(r.waiting) > 0
	if waited {
		b.Changes = append(r.e.inRuns(r.waiting), b.Changes...)
		r.waiting = nil
		r.parting = b.Late
	}
	err := r.tx.Apply(ctx, b)
	r.failed = r.failed || err != nil
	if err != nil && waited && isVerdict(err) {
		r.late = err
	}
	return err
}

// isVerdict reports whether an error is a store's judgement on a change, which
// is told at the call that made it.
func isVerdict(err error) bool {
	for _, verdict := range []error{stores.ErrNotFound, stores.ErrReadOnly, stores.ErrDuplicate, stores.ErrInvalid, stores.ErrLimit} {
		if errors.Is(err, verdict) {
			return true
		}
	}
	return false
}

// keep remembers a row as it was just read by its key: within a transaction it
// is locked, and on a snapshot nothing moves.
func (r *run) keep(row stores.Row) {
	if r.atOnce {
		return
	}
	if r.rows == nil {
		r.rows = make(map[rowKey]stores.Row)
	}
	r.rows[rowKey{row.Entity, row.Key()}] = row
}

// follows makes what is remembered follow a change, or forgets it where what
// the database makes of the change cannot be foretold: a table of others may
// have triggers, a deleted row may be a reference's, and a row that hangs
// elsewhere takes others into the scope and out of it.
func (r *run) follows(c *stores.Change) {
	r.forgets(c)
	e := c.Entity
	if !e.Managed || c.Op == stores.Delete {
		r.rows = nil
		return
	}
	id := rowKey{e, c.Key}
	old, known := r.rows[id]
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
			if r.e.leads[lead{e, a.Field}] {
				r.rows = nil
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
			delete(r.rows, id)
			return
		}
	}
	r.keep(stores.Row{Entity: e, Values: values, Marks: marksAfter(old.Marks, c)})
}

// readsBack reports whether a value comes back from a table of ours as it was
// given. A number may lose zeros that mean nothing.
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

// A lead is a reference field that some entity's scope path follows.
type lead struct {
	entity *stores.Entity
	field  int
}

// leadsOf lists the fields on which it depends what lies within a scope.
func leadsOf(entities []*stores.Entity) map[lead]bool {
	all := make(map[lead]bool)
	for _, e := range entities {
		at := e
		for _, step := range e.Scope {
			all[lead{at, step.Field}] = true
			at = step.To
		}
	}
	return all
}

// labelKnown works a label out from what the run knows of rows, without asking.
func (r *run) labelKnown(e *verbs.Entity, key stores.Value) (string, bool) {
	row, ok := r.rows[rowKey{e.Store, key}]
	if !ok {
		return "", false
	}
	paths := r.e.labelled[e]
	values := make([]stores.Value, len(paths))
	for i, p := range paths {
		if values[i], ok = r.along(e.Store, row.Values, p); !ok {
			return "", false
		}
	}
	return label(e, values), true
}

// along follows a path through rows that the run knows.
func (r *run) along(e *stores.Entity, row []stores.Value, p stores.Path) (stores.Value, bool) {
	if p.Count != nil {
		return stores.Value{}, false
	}
	for i, step := range p.Steps {
		to := row[step.Field]
		if to.IsNull() {
			return stores.Value{}, true
		}
		rest := stores.Path{Steps: p.Steps[i+1:], Field: p.Field}
		if v, ok := r.foresaw(rowKey{step.To, to}, []stores.Path{rest}, false); ok {
			return v[0], true
		}
		next, ok := r.rows[rowKey{step.To, to}]
		if !ok {
			return stores.Value{}, false
		}
		row = next.Values
	}
	return row[p.Field], true
}

// inRuns puts changes next to others that are like them, which a store can
// carry out together. What one change does must not be seen by another that it
// passes on its way: changes of one row, and of a row that refers to a new one,
// keep their order, and some pass nothing at all.
func (e *Engine) inRuns(changes []stores.Change) []stores.Change {
	if len(changes) <= few {
		return changes
	}
	sorted := make([]stores.Change, 0, len(changes))
	var groups [][]int32                    // of changes, by their places
	latest := make(map[string]int)          // of each likeness, its last group
	written := make(map[rowKey]int)         // the last group that writes a row
	mentioned := make(map[stores.Value]int) // the last group that refers to a key
	end := func() {
		for _, g := range groups {
			for _, at := range g {
				sorted = append(sorted, changes[at])
			}
		}
		groups = groups[:0]
		clear(latest)
		clear(written)
		clear(mentioned)
	}
	var likeness []byte
	numbers := make(map[*stores.Entity]uint64)
	for i := range changes {
		c := &changes[i]
		if e.keepsPlace(c) {
			end()
			sorted = append(sorted, *c)
			continue
		}
		n, ok := numbers[c.Entity]
		if !ok {
			n = uint64(len(numbers))
			numbers[c.Entity] = n
		}
		likeness = append(likeness[:0], byte(c.Op))
		likeness = binary.AppendUvarint(likeness, n)
		likeness = binary.AppendUvarint(likeness, uint64(len(c.Set)))
		least := written[rowKey{c.Entity, c.Key}]
		for _, a := range c.Set {
			likeness = binary.AppendUvarint(likeness, uint64(a.Field))
			if to := c.Entity.Fields[a.Field].Ref; to != nil && !a.Value.IsNull() {
				least = max(least, written[rowKey{to, a.Value}])
			}
		}
		for _, g := range c.Guard {
			likeness = binary.AppendUvarint(likeness, uint64(g))
		}
		if c.Op == stores.Insert {
			least = max(least, mentioned[c.Key])
		}
		at, found := latest[string(likeness)]
		if !found || at+1 < least {
			at = len(groups)
			groups = append(groups, nil)
			latest[string(likeness)] = at
		}
		groups[at] = append(groups[at], int32(i))
		// Numbers begin at one, so that a row that nobody wrote has none.
		written[rowKey{c.Entity, c.Key}] = at + 1
		for _, a := range c.Set {
			if c.Entity.Fields[a.Field].Ref != nil {
				mentioned[a.Value] = max(mentioned[a.Value], at+1)
			}
		}
	}
	end()
	return sorted
}

// keepsPlace reports whether nothing may pass a change: others may depend on it
// in ways that are not looked into.
func (e *Engine) keepsPlace(c *stores.Change) bool {
	if c.Op == stores.Delete || !c.Entity.Managed {
		return true
	}
	for _, a := range c.Set {
		if c.Op == stores.Update && e.leads[lead{c.Entity, a.Field}] {
			return true
		}
		if slices.ContainsFunc(c.Entity.Unique, func(set []int) bool { return slices.Contains(set, a.Field) }) {
			return true
		}
	}
	return false
}
