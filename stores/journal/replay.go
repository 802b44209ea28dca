package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"verbatim/stores"
	"verbatim/stores/receipt"
)

// A State is what rows are by what a journal tells of them. It grows with the
// rows that were changed, not with the entries.
type State struct {
	entities map[string]*stores.Entity
	order    []*stores.Entity
	rows     map[*stores.Entity]map[stores.Value]*row
	found    []Difference
	foreign  map[string]int
	later    map[*stores.Entity]map[stores.Value]*receipt.Row // by Foretell
}

type row struct {
	entity *stores.Entity
	seq    int64 // of the entry that changed it last
	whole  bool  // the journal knows it from its beginning, every field of it
	gone   bool  // it was deleted
	values []stores.Value
	state  []knowledge // parallel to values
	marks  []mark      // parallel to values
	seen   bool        // by Compare
}

// A mark is what a field is marked with, "" for a value that is as trusted as a
// record, as far as entries tell of it.
type mark struct {
	origin string
	known  bool
}

func newRow(e *stores.Entity) *row {
	n := len(e.Fields)
	return &row{entity: e, values: make([]stores.Value, n), state: make([]knowledge, n), marks: make([]mark, n)}
}

// marked lists the marks that are known of a row, as stores do.
func (r *row) marked() (all []stores.Mark) {
	if r == nil {
		return nil
	}
	for f, m := range r.marks {
		if m.origin != "" {
			all = append(all, stores.Mark{Field: f, Origin: m.origin})
		}
	}
	return all
}

// A knowledge says how far a field is known.
type knowledge uint8

const (
	unknown knowledge = iota // no entry told of it
	known
	erased // an entry told of it, and the value was erased
	// untold is a field with a default of which the entry of a new row says nothing: it
	// was null, or there was no such field yet, and it has the default since there is.
	untold
)

// may reports whether a field can hold a value, by what is known of it.
func (r *row) may(field int, v stores.Value) bool {
	switch r.state[field] {
	case known:
		return stores.Equal(v, r.values[field])
	case untold:
		return v.IsNull() || stores.Equal(v, r.entity.Fields[field].Default)
	}
	return true
}

// A Difference is one thing in which rows are not what the journal says.
type Difference struct {
	Entity *stores.Entity
	Key    stores.Value
	Seq    int64  // the entry that says so, zero when none does
	Field  string // empty when it is the row
	Msg    string // a phrase, without values that are sensitive
}

// NewState begins with no rows.
func NewState(entities []*stores.Entity) *State {
	s := &State{entities: map[string]*stores.Entity{}, rows: map[*stores.Entity]map[stores.Value]*row{}, foreign: map[string]int{}, order: entities, later: map[*stores.Entity]map[stores.Value]*receipt.Row{}}
	for _, e := range entities {
		s.entities[e.Name] = e
		if e.Was != "" {
			s.entities[e.Was] = e
		}
		s.rows[e] = map[stores.Value]*row{}
	}
	return s
}

// Erased returns how many fields of rows are not known any more because their
// values were erased.
func (s *State) Erased() (n int) {
	for _, rows := range s.rows {
		for _, r := range rows {
			for _, k := range r.state {
				if k == erased && !r.gone {
					n++
				}
			}
		}
	}
	return n
}

// Gone lists the fields whose values were erased, row by row.
func (s *State) Gone() []Difference {
	var all []Difference
	for _, e := range s.order {
		for _, key := range s.keys(e) {
			r := s.rows[e][key]
			for f, k := range r.state {
				if k == erased && !r.gone {
					all = append(all, Difference{e, key, r.seq, e.Fields[f].Name, "was erased"})
				}
			}
		}
	}
	return all
}

// Foreign counts the changes of entities and fields that nobody declares any
// more, by their names.
func (s *State) Foreign() map[string]int { return s.foreign }

// Rows returns how many rows there are, and how many of them the journal knows
// in part only, because they were there before it.
func (s *State) Rows() (all, partly int) {
	for _, rows := range s.rows {
		for _, r := range rows {
			if !r.gone {
				all++
				if !r.whole {
					partly++
				}
			}
		}
	}
	return all, partly
}

func (s *State) keys(e *stores.Entity) []stores.Value {
	keys := make([]stores.Value, 0, len(s.rows[e]))
	for k := range s.rows[e] {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b stores.Value) int {
		n, _ := stores.Compare(a, b)
		return n
	})
	return keys
}

// Apply carries the changes of an entry out. The record must have been opened.
// Where an entry tells of a row that it was something else before than the
// entries before it say, that is kept as a difference: somebody changed it
// without the journal.
func (s *State) Apply(seq int64, r *Record) {
	for i := range r.Rows {
		c := &r.Rows[i]
		if c.Op == receipt.Redacted {
			continue
		}
		e := s.entities[c.Entity]
		if e == nil {
			s.foreign[c.Entity]++
			continue
		}
		was := s.rows[e][c.Key]
		now := was
		differs := func(field, msg string) { s.found = append(s.found, Difference{e, c.Key, seq, field, msg}) }
		switch c.Op {
		case receipt.Inserted, receipt.Found:
			if c.Op == receipt.Inserted && was != nil && !was.gone {
				differs("", "was added again: it was taken away without the journal")
			}
			now = newRow(e)
			now.whole = true
			for f := range now.state {
				// A field that is not told is null. Of a row that was found only the
				// marks that are told are known: once, none were.
				now.marks[f].known = c.Op == receipt.Inserted
				switch {
				case e.Fields[f].Computed: // what the database works out, no entry tells
				case !e.Fields[f].Default.IsNull():
					now.state[f] = untold
				default:
					now.state[f] = known
				}
			}
			now.values[e.Key], now.state[e.Key] = c.Key, known
		case receipt.Updated, receipt.Deleted:
			if was == nil || was.gone {
				if was != nil {
					differs("", "was there again: it was added without the journal")
				}
				now = newRow(e)
				now.values[e.Key], now.state[e.Key] = c.Key, known
			}
		}
		now.seq = seq
		s.rows[e][c.Key] = now
		for j := range c.Fields {
			f := c.Fields[j]
			at := e.FieldIndex(f.Name)
			if at < 0 {
				s.foreign[c.Entity+"."+f.Name]++
				continue
			}
			f.Before.Value, f.After.Value = e.Fields[at].Now(f.Before.Value), e.Fields[at].Now(f.After.Value)
			if e.Fields[at].Computed {
				continue
			}
			if was != nil && !was.gone && (c.Op == receipt.Updated || c.Op == receipt.Deleted) && !f.Before.Gone && !was.may(at, f.Before.Value) {
				differs(f.Name, "was changed before that, without the journal")
			}
			if c.Op == receipt.Found && was != nil && !was.gone && !f.After.Gone && !was.may(at, f.After.Value) {
				differs(f.Name, "was changed before that, without the journal")
			}
			if f.Origin != "" || c.Op != receipt.Found {
				now.marks[at] = mark{f.Origin, true}
			}
			switch {
			case c.Op == receipt.Deleted:
			case f.After.Gone:
				now.values[at], now.state[at] = stores.Value{}, erased
			default:
				now.values[at], now.state[at] = f.After.Value, known
			}
		}
		if c.Op == receipt.Deleted {
			now.gone, now.whole = true, true
		}
	}
}

// Differences returns what Apply and Compare found, in the order in which they
// did.
func (s *State) Differences() []Difference { return s.found }

// Compare holds the rows of a store against the state, each of them once, and
// adds what differs to Differences. It returns how many rows it looked at, and
// how many of those the journal does not know at all.
//
// Rows that the journal knows in part are compared in that part. What it cannot
// know is what a row that no entry speaks of should be.
func (s *State) Compare(ctx context.Context, live stores.Reader) (looked, strange int, err error) {
	for _, e := range s.order {
		for row, err := range stores.EachRow(ctx, live, e) {
			if err != nil {
				return looked, strange, err
			}
			values, marks := row.Values, row.Marks
			looked++
			r := s.rows[e][values[e.Key]]
			switch {
			case r == nil:
				strange++
			case r.gone:
				r.seen = true
				s.found = append(s.found, Difference{e, values[e.Key], r.seq, "", "is there, and was deleted"})
			default:
				r.seen = true
				for f, v := range values {
					if !r.may(f, v) {
						s.found = append(s.found, Difference{e, values[e.Key], r.seq, e.Fields[f].Name, differ(&e.Fields[f], v, r.values[f])})
					}
				}
				for f, m := range r.marks {
					if is := stores.MarkOf(marks, f); m.known && is != m.origin {
						s.found = append(s.found, Difference{e, values[e.Key], r.seq, e.Fields[f].Name, fmt.Sprintf("comes from %s, and the journal says from %s", spellMark(is), spellMark(m.origin))})
					}
				}
			}
		}
		for _, key := range s.keys(e) {
			if r := s.rows[e][key]; !r.seen && !r.gone {
				s.found = append(s.found, Difference{e, key, r.seq, "", "is missing"})
			}
		}
	}
	return looked, strange, nil
}

func differ(f *stores.Field, is, should stores.Value) string {
	if f.Sensitive {
		return "is another value than the journal says"
	}
	return fmt.Sprintf("is %s, and the journal says %s", spell(is), spell(should))
}

func spell(v stores.Value) string {
	if v.Kind() == stores.UUID {
		return "another row"
	}
	return strings.ReplaceAll(v.String(), "\n", " ")
}

func spellMark(origin string) string {
	if origin == "" {
		return "a record"
	}
	return origin
}

// erasedText stands in a rebuilt row for text that was erased, where there must
// be one.
const erasedText = "(erased)"

// Foretell notes the rows of baseline entries. Such a row is older than the journal, so that entries
// before the baseline may change it or refer to it. Call it for every entry before Rebuild.
func (s *State) Foretell(r *Record) {
	for i := range r.Rows {
		c := &r.Rows[i]
		e := s.entities[c.Entity]
		if e == nil || c.Op != receipt.Found || s.later[e][c.Key] != nil {
			continue
		}
		if s.later[e] == nil {
			s.later[e] = map[stores.Value]*receipt.Row{}
		}
		s.later[e][c.Key] = c
	}
}

// bring adds a row from its baseline entry if it is missing, and the rows that it refers to. A
// reference to a row that a later entry adds stays null until the baseline sets it.
func (s *State) bring(ctx context.Context, tx stores.Tx, e *stores.Entity, key stores.Value) error {
	c := s.later[e][key]
	if c == nil {
		return nil
	}
	if there, err := has(ctx, tx, e, key); there || err != nil {
		return err
	}
	set := rebuilt(e, c)
	for i := range set {
		to := e.Fields[set[i].Field].Ref
		if to == nil || set[i].Value.IsNull() {
			continue
		}
		if err := s.bring(ctx, tx, to, set[i].Value); err != nil {
			return err
		}
		if there, err := has(ctx, tx, to, set[i].Value); err != nil {
			return err
		} else if !there {
			set[i].Value = stores.Value{}
		}
	}
	return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{{Op: stores.Insert, Entity: e, Key: key, Set: withNulls(e, set)}}})
}

func has(ctx context.Context, tx stores.Tx, e *stores.Entity, key stores.Value) (bool, error) {
	_, err := tx.Get(ctx, e, key)
	if errors.Is(err, stores.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// rebuilt returns the assignments of a row of an entry.
func rebuilt(e *stores.Entity, c *receipt.Row) (set []stores.Assign) {
	for f := range e.Fields {
		at := slices.IndexFunc(c.Fields, func(field receipt.Field) bool { return e.FieldIndex(field.Name) == f })
		if at < 0 || f == e.Key || e.Fields[f].Computed {
			continue
		}
		v := e.Fields[f].Now(c.Fields[at].After.Value)
		if c.Fields[at].After.Gone && e.Fields[f].Required && e.Fields[f].Holds() == stores.String && e.Fields[f].Codes == nil {
			v = stores.NewString(erasedText)
		}
		set = append(set, stores.Assign{Field: f, Value: v, Origin: c.Fields[at].Origin})
	}
	return set
}

// Rebuild makes the changes of an entry in another store, and leaves out what
// it cannot make: rows that the journal knows in part only, and rows that must
// hold a value that was erased and is no text. It returns a sentence for each
// row that it leaves out, once. Apply comes after it, with the same entry.
func (s *State) Rebuild(ctx context.Context, tx stores.Tx, seq int64, r *Record) (left []string, err error) {
	var b stores.Batch
	added := map[*stores.Entity]map[stores.Value]bool{}
	for i := range r.Rows {
		c := &r.Rows[i]
		e := s.entities[c.Entity]
		if e == nil || c.Op == receipt.Redacted {
			continue
		}
		was := s.rows[e][c.Key]
		there := was != nil && !was.gone && was.whole || added[e][c.Key]
		marks := was.marked()
		if !there && c.Op != receipt.Inserted {
			if c.Op != receipt.Found {
				if err := s.bring(ctx, tx, e, c.Key); err != nil {
					return left, err
				}
			}
			// It may have been put there by other means, as what was there before.
			got, err := tx.Get(ctx, e, c.Key)
			marks = got.Marks
			if there = err == nil; err != nil && !errors.Is(err, stores.ErrNotFound) {
				return left, err
			}
		}
		change := stores.Change{Entity: e, Key: c.Key, Marks: marks}
		switch {
		case c.Op == receipt.Inserted, c.Op == receipt.Found && !there:
			change.Op = stores.Insert
		case c.Op == receipt.Deleted && there:
			change.Op = stores.Delete
		case there:
			change.Op = stores.Update
		default:
			if was == nil {
				left = append(left, fmt.Sprintf("a row of %s was there before the journal: entry %d changed it", e.Name, seq))
			}
			continue
		}
		if change.Op != stores.Delete {
			change.Set = rebuilt(e, c)
		}
		for _, a := range change.Set {
			if to := e.Fields[a.Field].Ref; to != nil && !added[to][a.Value] {
				if err := s.bring(ctx, tx, to, a.Value); err != nil {
					return left, err
				}
			}
		}
		if change.Op == stores.Insert {
			// Nothing stands there by default that the journal does not tell of.
			change.Set = withNulls(e, change.Set)
			if added[e] == nil {
				added[e] = map[stores.Value]bool{}
			}
			added[e][c.Key] = true
		}
		if change.Op == stores.Update && len(change.Set) == 0 {
			continue
		}
		b.Changes = append(b.Changes, change)
	}
	if len(b.Changes) == 0 {
		return left, nil
	}
	return left, tx.Apply(ctx, b)
}

func withNulls(e *stores.Entity, set []stores.Assign) []stores.Assign {
	all := make([]stores.Assign, 0, len(e.Fields))
	for f := range e.Fields {
		if f == e.Key {
			continue
		}
		a := stores.Assign{Field: f}
		for _, given := range set {
			if given.Field == f {
				a = given
			}
		}
		all = append(all, a)
	}
	return all
}
