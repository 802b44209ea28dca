package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"verbatim/stores"
	"verbatim/stores/receipt"
)

// A State holds the rows as a journal records them, in memory or in a file: see Spill.
type State struct {
	entities map[string]*stores.Entity
	order    []*stores.Entity
	rows     *spill
	found    []Difference
	foreign  map[string]int
	later    map[*stores.Entity]map[stores.Value]*receipt.Row // by Foretell
}

type row struct {
	entity *stores.Entity
	seq    int64 // the entry that changed it last
	whole  bool  // the journal has recorded every field of it from its beginning
	gone   bool  // it was deleted
	values []stores.Value
	state  []knowledge // parallel to values
	marks  []mark      // parallel to values
	seen   bool        // Compare has seen it
}

// A mark is the mark of a field, as far as entries record it; "" for a value that is as trusted
// as a record.
type mark struct {
	origin string
	known  bool
}

func newRow(e *stores.Entity) *row {
	n := len(e.Fields)
	return &row{entity: e, values: make([]stores.Value, n), state: make([]knowledge, n), marks: make([]mark, n)}
}

// marked lists the known marks of a row, as stores do.
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

// A knowledge says how much is known of a field.
type knowledge uint8

const (
	unknown knowledge = iota // no entry has recorded it
	known
	erased // an entry recorded it, and the value was erased
	// untold is a field with a default that the entry of a new row does not mention: it was null,
	// or the field did not exist yet and has had its default since it does.
	untold
)

// may reports whether a field can hold a value, given what is known of it.
func (r *row) may(field int, v stores.Value) bool {
	switch r.state[field] {
	case known:
		return stores.Equal(v, r.values[field])
	case untold:
		return v.IsNull() || stores.Equal(v, r.entity.Fields[field].Default)
	}
	return true
}

// A Difference is one respect in which the rows differ from the journal.
type Difference struct {
	Entity *stores.Entity
	Key    stores.Value
	Seq    int64  // the entry that records it, zero if none does
	Field  string // empty if it concerns the whole row
	Msg    string // a phrase, without sensitive values
}

// NewState begins a state without rows.
func NewState(entities []*stores.Entity) *State {
	s := &State{entities: map[string]*stores.Entity{}, rows: newSpill(entities), foreign: map[string]int{}, order: entities, later: map[*stores.Entity]map[stores.Value]*receipt.Row{}}
	for _, e := range entities {
		s.entities[e.Name] = e
		if e.Was != "" {
			s.entities[e.Was] = e
		}
	}
	return s
}

// Spill has the state keep the first megabytes of rows in memory alone, and the others in a file that open
// makes; of those it has some twenty bytes each in memory. Close closes the file.
func (s *State) Spill(open func() (Scratch, error)) { s.rows.open, s.rows.kept = open, false }

// Close ends the state.
func (s *State) Close() {
	if s.rows.file != nil {
		_ = s.rows.file.Close()
	}
}

// Erased returns how many fields of rows are no longer known because their values were erased.
func (s *State) Erased() (n int) {
	for v := range s.rows.all {
		for _, k := range v.row.state {
			if k == erased && !v.row.gone {
				n++
			}
		}
	}
	return n
}

// Gone lists the fields whose values were erased, row by row.
func (s *State) Gone() []Difference {
	var all []Difference
	for _, v := range s.those(func(r *row) bool { return !r.gone && slices.Contains(r.state, erased) }) {
		for f, k := range v.row.state {
			if k == erased {
				all = append(all, Difference{v.entity, v.key, v.row.seq, v.entity.Fields[f].Name, "was erased"})
			}
		}
	}
	return all
}

// Foreign counts, by name, the changes of entities and fields that are no longer declared.
func (s *State) Foreign() map[string]int { return s.foreign }

// Rows returns how many rows there are, and how many of them the journal knows only in part,
// because they are older than it.
func (s *State) Rows() (all, partly int) {
	for v := range s.rows.all {
		if !v.row.gone {
			all++
			if !v.row.whole {
				partly++
			}
		}
	}
	return all, partly
}

// those lists the rows that are asked for, entity by entity and by key.
func (s *State) those(wanted func(*row) bool) (all []spilt) {
	for v := range s.rows.all {
		if wanted(v.row) {
			all = append(all, *v)
		}
	}
	slices.SortFunc(all, func(a, b spilt) int {
		n, _ := stores.Compare(a.key, b.key)
		return cmp.Or(cmp.Compare(s.rows.numbers[a.entity], s.rows.numbers[b.entity]), n)
	})
	return all
}

// Apply carries out the changes of an entry. The record must have been opened. If an entry says
// that a row was different before from what earlier entries say, that is recorded as a
// difference: somebody changed it outside the journal.
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
		was := s.rows.get(e, c.Key)
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
				// A field that is not mentioned is null. Of a found row, only the recorded marks
				// are known: there was a time without marks.
				now.marks[f].known = c.Op == receipt.Inserted
				switch {
				case e.Fields[f].Computed: // no entry records computed columns
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
		s.rows.put(e, c.Key, now)
	}
}

// Differences returns what Apply and Compare found, in the order in which they found it.
func (s *State) Differences() []Difference { return s.found }

// Compare compares the rows of a store with the state, each of them once, and adds what differs
// to Differences. It returns how many rows it looked at, and how many of those the journal does
// not know at all.
//
// Rows that the journal knows in part are compared in that part. It cannot know what a row that
// no entry mentions should be.
func (s *State) Compare(ctx context.Context, live stores.Reader) (looked, strange int, err error) {
	for _, e := range s.order {
		for row, err := range stores.EachRow(ctx, live, e) {
			if err != nil {
				return looked, strange, err
			}
			values, marks := row.Values, row.Marks
			looked++
			r := s.rows.get(e, values[e.Key])
			if r != nil {
				r.seen = true
				s.rows.put(e, values[e.Key], r)
			}
			switch {
			case r == nil:
				strange++
			case r.gone:
				s.found = append(s.found, Difference{e, values[e.Key], r.seq, "", "is there, and was deleted"})
			default:
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
	}
	for _, v := range s.those(func(r *row) bool { return !r.seen && !r.gone }) {
		s.found = append(s.found, Difference{v.entity, v.key, v.row.seq, "", "is missing"})
	}
	return looked, strange, s.rows.err
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

// erasedText replaces erased text in a rebuilt row where a text is required.
const erasedText = "(erased)"

// Foretell notes the rows of baseline entries. Such a row is older than the journal, so that
// entries before the baseline may change it or refer to it. Call it for every entry before
// Rebuild.
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

// rebuilt returns the assignments that restore a row of an entry.
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

// Rebuild makes the changes of an entry in another store, and leaves out those that it cannot
// make: of rows that the journal knows only in part, and of rows that require a value that was
// erased and is no text. It returns a sentence for each row that it leaves out, once. Call Apply
// after it, with the same entry.
func (s *State) Rebuild(ctx context.Context, tx stores.Tx, seq int64, r *Record) (left []string, err error) {
	var b stores.Batch
	added := map[*stores.Entity]map[stores.Value]bool{}
	for i := range r.Rows {
		c := &r.Rows[i]
		e := s.entities[c.Entity]
		if e == nil || c.Op == receipt.Redacted {
			continue
		}
		was := s.rows.get(e, c.Key)
		there := was != nil && !was.gone && was.whole || added[e][c.Key]
		marks := was.marked()
		if !there && c.Op != receipt.Inserted {
			if c.Op != receipt.Found {
				if err := s.bring(ctx, tx, e, c.Key); err != nil {
					return left, err
				}
			}
			// Other means may have put it there, like the rows before the journal.
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
			// No default may take the place of a value that the journal does not record.
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
