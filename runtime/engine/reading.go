package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/internal/provenance"
	"verbatim/runtime/internal/view"
	"verbatim/runtime/protocols/tools"
	"verbatim/runtime/state/names"
	"verbatim/runtime/state/sessions"
	"verbatim/stores"
	"verbatim/verbs"
)

// A reading reads rows for a session at one time, and records what it read: a plan depends on
// that. The steps of a call read through it and through nothing else.
type reading struct {
	e    *Engine
	s    *Session
	read view.View
	now  time.Time // one for all of it

	snapshot bool  // it only reads
	locks    bool  // rows that it reads are locked until it commits
	writes   bool  // some call of the program may change something
	owners   bool  // the receipt names the owner of each row
	before   int64 // RunOptions.Before
	calls    int   // the number of calls of the program
	begun    int   // the number of calls that have begun, those of macros included

	source *dsl.Source // of the script; diagnostics about all of it are placed there

	readSet       []readRow            // what was read
	postponed     []postponed          // rows to be fetched together with the next read
	lockedParents map[view.RowKey]bool // rows that are locked because rows that refer to them are counted

	// alias holds values that differ between two previews of the same plan: generated
	// keys, and instants relative to now. The digest uses their description instead.
	alias map[stores.Value]string
	// added holds the rows that a run adds; made counts the keys that were generated
	// before.
	added  map[view.RowKey]bool
	made   int
	minted map[view.RowKey]*names.NamedRow // the names that added rows get when they are committed
	visit  *sessions.Session               // the session's row, once it was read

	uploads []usedUpload // files that nothing had used before
	files   []knownFile  // that arguments name

	answers map[string]tools.Answer // of tools, by externalCall.id

	pasts  map[int64]*pastCall // calls that are taken back, by the numbers of their journal entries
	blamed *laterChange        // the later change that stands in the way of an undo; nil without one
}

// reads begins a reading that changes nothing.
func (s *Session) reads(r stores.Reader) *reading {
	return s.readsAt(r, stores.NewTime(s.e.clock()).Time())
}

func (s *Session) readsAt(r stores.Reader, now time.Time) *reading {
	return &reading{e: s.e, s: s, read: view.Direct(r, nil, nil), now: now, snapshot: true,
		alias: make(map[stores.Value]string), added: make(map[view.RowKey]bool), minted: make(map[view.RowKey]*names.NamedRow)}
}

// A readRow is a row that was read, with its values at that time.
type readRow struct {
	entity *stores.Entity
	key    stores.Value
	paths  []stores.Path // nil is the whole row
	values []stores.Value
	marks  []stores.Mark // of a whole row
}

// get reads a row within scope and records it.
func (r *reading) get(ctx context.Context, e *stores.Entity, key stores.Value) (stores.Row, error) {
	row, err := r.read.Get(ctx, e, key)
	if err == nil {
		r.readSet = append(r.readSet, readRow{entity: e, key: key, values: row.Values, marks: row.Marks})
	}
	return row, err
}

// fields reads along paths from one row, and returns the origins of the values.
func (r *reading) fields(ctx context.Context, e *stores.Entity, key stores.Value, paths []stores.Path) ([]stores.Value, []verbs.Origin, error) {
	all, at := provenance.WithMarks(e, paths)
	hold := r.holdsAs(stores.Shared)
	values, known := r.read.Along(view.RowKey{Entity: e, Key: key}, all, hold != stores.Loose)
	if !known {
		rows, err := r.read.Find(ctx, stores.Find{Entity: e, Select: all, Where: isRow(e, key), Limit: 1, Hold: hold})
		if err != nil {
			return nil, nil, err
		}
		if len(rows) == 0 {
			return nil, nil, stores.ErrNotFound
		}
		values = rows[0]
	}
	r.readSet = append(r.readSet, readRow{entity: e, key: key, paths: all, values: values})
	came := make([]verbs.Origin, len(paths))
	for i := range came {
		came[i] = r.s.from.Path(e, paths, at, i, values)
	}
	return values, came, nil
}

// rowsWhere reads the rows that a condition picks, and records them.
func (r *reading) rowsWhere(ctx context.Context, e *stores.Entity, where *stores.Cond, order ...stores.Order) ([]stores.Row, error) {
	n := len(e.Fields)
	found, err := r.read.Find(ctx, r.picking(e, where, order...))
	if err != nil {
		return nil, err
	}
	if len(order) == 0 && len(r.added) > 0 {
		// Rows that this run added have random keys. They stand in the order in which they were added,
		// so that a preview and the run that it is agreed to are the same.
		slices.SortStableFunc(found, func(a, b []stores.Value) int {
			x, y := r.alias[a[e.Key]], r.alias[b[e.Key]]
			return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y))
		})
	}
	rows := make([]stores.Row, len(found))
	for i, values := range found {
		row := stores.Row{Entity: e, Values: values[:n:n]}
		if row.Marks, err = stores.ReadMarks(e, values[n]); err != nil {
			return nil, err
		}
		r.readSet = append(r.readSet, readRow{entity: e, key: row.Key(), values: row.Values, marks: row.Marks})
		rows[i] = row
	}
	return rows, nil
}

// picking asks for whole rows, with their marks.
func (r *reading) picking(e *stores.Entity, where *stores.Cond, order ...stores.Order) stores.Find {
	paths := make([]stores.Path, len(e.Fields)+1)
	for i := range e.Fields {
		paths[i].Field = i
	}
	paths[len(e.Fields)].Marks = true
	return stores.Find{Entity: e, Select: paths, Where: where, Order: order, Hold: r.holdsAs(stores.Firm)}
}

func isRow(e *stores.Entity, key stores.Value) *stores.Cond {
	return &stores.Cond{Op: stores.Eq, Path: stores.Path{Field: e.Key}, Value: key}
}

// An evalError is an error of evaluating an expression.
type evalError struct {
	place dsl.Place
	text  string
	err   error
}

func (e *evalError) Error() string {
	return fmt.Sprintf("%s: %q cannot be worked out: %s", at(e.place), e.text, e.err)
}

func (e *evalError) Unwrap() error { return e.err }

// eval evaluates an expression. row is the row being read or changed, nil if there is none.
func (r *reading) eval(ctx context.Context, st *step, x *verbs.Expr, row *stores.Row) (stores.Value, error) {
	v, _, err := r.evalFrom(ctx, st, x, row)
	return v, err
}

// evalFrom is eval that also returns the origin of the value.
func (r *reading) evalFrom(ctx context.Context, st *step, x *verbs.Expr, row *stores.Row) (stores.Value, verbs.Origin, error) {
	env, reads, err := r.env(ctx, st, x.Reads, row)
	if err != nil {
		return stores.Value{}, verbs.Origin{}, err
	}
	v, err := x.Eval(env)
	if err != nil {
		return stores.Value{}, verbs.Origin{}, &evalError{x.Place, x.Text, err}
	}
	if v.Kind() == stores.Time {
		// The digest names an instant that moves with now by its distance from now.
		later := env
		later.Now = env.Now.Add(time.Microsecond)
		if w, err := x.Eval(later); err == nil && w.Kind() == stores.Time && w.Time().Sub(v.Time()) == time.Microsecond {
			r.alias[v] = "now " + strconv.FormatInt(v.Time().Sub(r.now).Microseconds(), 10)
		}
	}
	return v, made(st, x, reads), nil
}

// env reads the fields that an expression uses, and returns their origins, parallel to reads.
// Fields of the row itself need no query; all paths from one row are one query.
func (r *reading) env(ctx context.Context, st *step, reads []verbs.ExprRead, row *stores.Row) (verbs.Env, []verbs.Origin, error) {
	env := verbs.Env{Args: st.args, Item: st.each.item, Contents: st.contents, Principal: r.s.who.Name, Now: r.now, Outside: r.e.outside}
	if len(reads) == 0 {
		return env, nil, nil
	}
	env.Reads = make([]stores.Value, len(reads))
	came := make([]verbs.Origin, len(reads))
	fetched := make([]bool, len(reads))
	for i := range reads {
		if fetched[i] {
			continue
		}
		if reads[i].Param == verbs.OfNew {
			if st.added != nil {
				env.Reads[i], came[i] = st.added[reads[i].Path.Field], ofRecord
			}
			continue
		}
		if reads[i].Param == verbs.OfDisclosed {
			var err error
			if env.Reads[i], err = r.disclosed(ctx, st, reads[i].Path.Field); err != nil {
				return env, nil, err
			}
			came[i] = ofRecord
			continue
		}
		if reads[i].Param == verbs.OfTotal {
			var err error
			if env.Reads[i], came[i], err = r.total(ctx, st, st.verb.Totals[reads[i].Path.Field]); err != nil {
				return env, nil, err
			}
			continue
		}
		from := row
		switch p := reads[i].Param; {
		case reads[i].Part > 0:
			var err error
			if from, err = r.rowOfPart(ctx, st, &reads[i]); err != nil {
				return env, nil, err
			}
		case p >= 0:
			from = &st.rows[p]
		case p == verbs.OfEach:
			from = st.each.row
		}
		if from == nil || from.Entity == nil {
			continue // the argument was left out: its fields are absent
		}
		if p := reads[i].Path; len(p.Steps) == 0 && p.Count == nil {
			env.Reads[i], came[i] = from.Values[p.Field], r.s.from.Field(from, p.Field)
			continue
		}
		var paths []stores.Path
		var into []int
		for j := i; j < len(reads); j++ {
			if p := reads[j].Path; reads[j].Param == reads[i].Param && reads[j].Part == reads[i].Part && reads[j].Each == reads[i].Each && (len(p.Steps) > 0 || p.Count != nil) {
				paths, into = append(paths, p), append(into, j)
				fetched[j] = true
			}
		}
		values, origins, err := r.fields(ctx, from.Entity, from.Key(), paths)
		if err != nil {
			return env, nil, err
		}
		for k, j := range into {
			env.Reads[j], came[j] = values[k], origins[k]
		}
	}
	return env, came, nil
}

// cond turns a filter into a condition for the store.
func (r *reading) cond(ctx context.Context, st *step, f *verbs.Filter) (*stores.Cond, error) {
	if f == nil {
		return nil, nil
	}
	env, _, err := r.env(ctx, st, f.Reads, nil)
	if err != nil {
		return nil, err
	}
	c, err := f.Cond(env)
	if err != nil {
		return nil, &evalError{f.Place, f.Text, err}
	}
	return &c, nil
}

// pathEnd returns the entity whose key a path ends at.
func (e *Engine) pathEnd(from *stores.Entity, p stores.Path) *verbs.Entity {
	if p.Count != nil {
		return nil
	}
	for _, s := range p.Steps {
		from = s.To
	}
	return e.refersTo(from, p.Field)
}
