package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/internal/provenance"
	"verbatim/runtime/internal/view"
	"verbatim/runtime/state/names"
	"verbatim/runtime/state/sessions"
	"verbatim/runtime/state/uploads"
	"verbatim/stores"
	"verbatim/verbs"
)

// A source reads rows for a session at one time. The steps of a call read through it and through
// nothing else; it remembers nothing of what they read, which is in the step of the call. In the names
// of rows it shows those of a draft as new.
type source struct {
	e    *Engine
	s    *Session
	read *view.View
	now  time.Time // one for all of it

	snapshot bool  // it only reads
	locks    bool  // rows that it reads are locked until it commits
	writes   bool  // some call of the program may change something
	owners   bool  // the receipt names the owner of each row
	before   int64 // RunOptions.Before
	window   *verbs.Window

	script  *dsl.Source           // diagnostics about all of the script are placed there
	answers map[string]toolAnswer // of tools, by externalCall.id
	kept    map[string]toolAnswer // of the preview before it, by requestDigest
	pasts   map[int64]*pastCall   // calls that are taken back, by the numbers of their journal entries
	draft   *draft
}

// A draft is what a run makes, as far as it has come: new rows, and the values of its session.
type draft struct {
	// alias holds values that differ between two previews of the same plan: generated
	// keys, and instants relative to now. The digest uses their description instead.
	alias map[stores.Value]string
	// added holds the rows that a run adds; made counts those that the parts before it added.
	added  map[view.RowKey]bool
	made   int
	minted map[view.RowKey]*names.NamedRow // the names that added rows get when they are committed
	visit  *sessions.Session               // the session's row, once a call needs it
}

func newDraft() *draft {
	return &draft{alias: make(map[stores.Value]string)}
}

// mint keeps the name that a new row gets.
func (d *draft) mint(e *stores.Entity, n *names.NamedRow) {
	if d.minted == nil {
		d.minted = make(map[view.RowKey]*names.NamedRow)
	}
	d.minted[view.RowKey{Entity: e, Key: n.Key}] = n
}

// sourceOf begins a reading that changes nothing.
func sourceOf(s *Session, r stores.Reader) *source {
	return sourceAt(s, view.Direct(r, nil, nil), stores.NewTime(s.e.opt.Clock()).Time())
}

func sourceAt(s *Session, v *view.View, now time.Time) *source {
	return &source{e: s.e, s: s, read: v, now: now, snapshot: true, draft: newDraft()}
}

// A readRow is a row that was read, with its values at that time.
type readRow struct {
	entity *stores.Entity
	key    stores.Value
	paths  []stores.Path // nil is the whole row
	values []stores.Value
	marks  []stores.Mark // of a whole row
}

// get reads a row within scope for a call.
func (r *source) get(ctx context.Context, st *step, e *stores.Entity, key stores.Value) (stores.Row, error) {
	row, err := r.read.Get(ctx, e, key)
	if err == nil {
		st.saw(readRow{entity: e, key: key, values: row.Values, marks: row.Marks})
	}
	return row, err
}

// fields reads along paths from one row, and returns the origins of the values.
func (r *source) fields(ctx context.Context, st *step, e *stores.Entity, key stores.Value, paths []stores.Path) ([]stores.Value, []verbs.Origin, error) {
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
	st.saw(readRow{entity: e, key: key, paths: all, values: values})
	came := make([]verbs.Origin, len(paths))
	for i := range came {
		came[i] = r.s.from.Path(e, paths, at, i, values)
	}
	return values, came, nil
}

// rowsWhere reads the rows that a condition picks for a call.
func (r *source) rowsWhere(ctx context.Context, st *step, e *stores.Entity, where *stores.Cond, order ...stores.Order) ([]stores.Row, error) {
	n := len(e.Fields)
	found, err := r.read.Find(ctx, r.picking(e, where, order...))
	if err != nil {
		return nil, err
	}
	if len(order) == 0 && len(r.draft.added) > 0 {
		// Rows that this run added have random keys. They stand in the order in which they were added,
		// so that a preview and the run that it is agreed to are the same.
		slices.SortStableFunc(found, func(a, b []stores.Value) int {
			x, y := r.draft.alias[a[e.Key]], r.draft.alias[b[e.Key]]
			return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y))
		})
	}
	rows := make([]stores.Row, len(found))
	for i, values := range found {
		row := stores.Row{Entity: e, Values: values[:n:n]}
		if row.Marks, err = stores.ReadMarks(e, values[n]); err != nil {
			return nil, err
		}
		st.saw(readRow{entity: e, key: row.Key(), values: row.Values, marks: row.Marks})
		rows[i] = row
	}
	return rows, nil
}

// picking asks for whole rows, with their marks.
func (r *source) picking(e *stores.Entity, where *stores.Cond, order ...stores.Order) stores.Find {
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
func (r *source) eval(ctx context.Context, st *step, x *verbs.Expr, row *stores.Row) (stores.Value, error) {
	v, _, err := r.evalFrom(ctx, st, x, row)
	return v, err
}

// evalFrom is eval that also returns the origin of the value.
func (r *source) evalFrom(ctx context.Context, st *step, x *verbs.Expr, row *stores.Row) (stores.Value, verbs.Origin, error) {
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
			r.draft.alias[v] = "now " + strconv.FormatInt(v.Time().Sub(r.now).Microseconds(), 10)
		}
	}
	return v, made(st, x, reads), nil
}

// env reads the fields that an expression uses, and returns their origins, parallel to reads.
// Fields of the row itself need no query; all paths from one row are one query.
func (r *source) env(ctx context.Context, st *step, reads []verbs.ExprRead, row *stores.Row) (verbs.Env, []verbs.Origin, error) {
	env := verbs.Env{Args: st.args.values, Item: st.sees.each.item, Contents: st.args.contents, Principal: r.s.who.Name, Now: r.now, Outside: r.e.outside}
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
			if st.sees.added != nil {
				env.Reads[i], came[i] = st.sees.added[reads[i].Path.Field], ofRecord
			}
			continue
		}
		if reads[i].Param == verbs.OfDisclosed {
			var err error
			if env.Reads[i], err = disclosed(ctx, r, st, reads[i].Path.Field); err != nil {
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
			from = &st.args.rows[p]
		case p == verbs.OfEach:
			from = st.sees.each.row
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
		values, origins, err := r.fields(ctx, st, from.Entity, from.Key(), paths)
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
func (r *source) cond(ctx context.Context, st *step, f *verbs.Filter) (*stores.Cond, error) {
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
func pathEnd(e *Engine, from *stores.Entity, p stores.Path) *verbs.Entity {
	if p.Count != nil {
		return nil
	}
	for _, s := range p.Steps {
		from = s.To
	}
	return refersTo(e, from, p.Field)
}

// Read-ahead. Most reads of a call are known before it begins: the rows that it names, the fields
// along references from them that its conditions, values and notices use, and the fields that the
// labels of added rows use. A view may read them together, before the first call.

// wants lists what a verb reads along references from the row of one argument.
type wants struct {
	locked []stores.Path     // that its conditions and values use
	names  []stores.Path     // that the labels of added rows use
	adding []conditionalPath // the same, of rows that are added where a condition holds
}

// A conditionalPath is a path for the label of a row that is added only if a condition holds.
type conditionalPath struct {
	when *verbs.Expr // depends on arguments alone
	path stores.Path
}

// predictedReads works out what a verb reads from the row of each argument.
func predictedReads(e *Engine, v *verbs.Verb) []wants {
	all := make([]wants, len(v.Params))
	add := func(to *[]stores.Path, p stores.Path) {
		if (len(p.Steps) > 0 || p.Count != nil) && !slices.ContainsFunc(*to, func(have stores.Path) bool { return have.Is(p) }) {
			*to = append(*to, p)
		}
	}
	reads := func(x *verbs.Expr, row int) {
		if x == nil {
			return
		}
		for _, read := range x.Reads {
			of := read.Param
			if of == verbs.OfRow {
				of = row
			}
			if of >= 0 && read.Part == 0 {
				add(&all[of].locked, read.Path)
			}
		}
	}
	for i := range v.Requires {
		reads(v.Requires[i].That, -1)
		if rows := v.Requires[i].Rows; rows != nil && rows.Where.Filter != nil {
			for _, read := range rows.Where.Filter.Reads {
				if read.Param >= 0 && read.Part == 0 {
					add(&all[read.Param].locked, read.Path)
				}
			}
		}
	}
	for i := range v.Confirm {
		reads(v.Confirm[i].When, -1)
	}
	for i := range v.Effects {
		f := &v.Effects[i]
		row := -1 // the argument whose row the effect's own expressions read
		if f.Where != nil {
			var one bool
			if row, one = f.Where.One(); !one {
				continue
			}
		}
		reads(f.When, row)
		if f.When == nil { // its values are evaluated only where the condition holds
			for j := range f.Set {
				reads(f.Set[j].Value, row)
			}
			for j := range f.With {
				reads(f.With[j].Value, row)
			}
			reads(f.Value, row)
			reads(f.At, row)
		}
		if !f.Adds() || f.When != nil && len(f.When.Reads) > 0 {
			continue
		}
		for _, s := range f.Set {
			param, alone := s.Value.ArgOnly()
			to := f.Entity.Store.Fields[s.Field].Ref
			if !alone || to == nil {
				continue
			}
			for _, p := range e.catalog.labels[f.Entity] {
				if len(p.Steps) == 0 || p.Steps[0].Field != s.Field {
					continue
				}
				rest := stores.Path{Steps: p.Steps[1:], Field: p.Field, Count: p.Count, By: p.By}
				switch {
				case f.When == nil:
					add(&all[param].names, rest)
				case len(rest.Steps) > 0 || rest.Count != nil: // the row itself is read anyhow
					all[param].adding = append(all[param].adding, conditionalPath{f.When, rest})
				}
			}
		}
	}
	return all
}

// wanted lists the rows that the calls of a script name, and the paths that they read from
// them. A missing row is reported later, at the call that names it.
func wanted(r *run) []view.Want {
	calls, order := r.plan.prog.Calls(), r.plan.prog.Order()
	var wants []view.Want
	for _, i := range order {
		c := &calls[i]
		for j := range c.Args {
			if p := &c.Verb.Params[j]; p.Upload != nil && !r.src.snapshot && c.Args[j].Kind == verbs.Literal {
				if id, ok := strings.CutPrefix(c.Args[j].Value.Text(), verbs.UploadScheme); ok {
					wants = append(wants, view.Want{Row: view.RowKey{Entity: uploads.Entity, Key: stores.NewString(id)}})
				}
			}
			e, key := rowOf(r.plan.prog, c, j)
			if e == nil || !e.Managed && !r.src.snapshot && len(order) >= view.Few {
				continue // the first change of a mapped table would discard its rows
			}
			want := view.Want{Row: view.RowKey{Entity: e, Key: key}}
			if along := &r.src.e.verbs[c.Verb].ahead[j]; !r.src.snapshot {
				if len(along.locked) > 0 {
					paths, _ := provenance.WithMarks(e, along.locked)
					want.Along = append(want.Along, view.Paths{Paths: paths, Hold: r.src.holdsAs(stores.Shared)})
				}
				if names := labelled(r, c, along); len(names) > 0 {
					paths, _ := provenance.WithMarks(e, names)
					want.Along = append(want.Along, view.Paths{Paths: paths})
				}
			}
			wants = append(wants, want)
		}
	}
	return wants
}

// labelled lists the paths from the row of an argument that the labels of added rows use.
func labelled(r *run, c *verbs.Call, along *wants) []stores.Path {
	if len(along.adding) == 0 {
		return along.names
	}
	st := known(r, c)
	if st == nil {
		return along.names
	}
	names, env := slices.Clip(along.names), argued(r, st)
	for _, a := range along.adding {
		if fires(a.when, env) && !slices.ContainsFunc(names, a.path.Is) {
			names = append(names, a.path)
		}
	}
	return names
}

// known returns a step for a call if all its arguments are known before it begins, and nil
// otherwise.
func known(r *run, c *verbs.Call) *step {
	st := &step{verb: c.Verb, args: arguments{values: make([]stores.Value, len(c.Args)), rows: make([]stores.Row, len(c.Args))}}
	for i := range c.Args {
		e, key := rowOf(r.plan.prog, c, i)
		switch {
		case e != nil:
			st.args.rows[i].Entity, st.args.values[i] = e, key
		case c.Args[i].Kind == verbs.Literal:
			st.args.values[i] = c.Args[i].Value
		case c.Args[i].Kind != verbs.Absent:
			return nil
		}
	}
	return st
}

// argued returns the environment of expressions that depend on arguments alone.
func argued(r *run, st *step) verbs.Env {
	return verbs.Env{Args: st.args.values, Principal: r.src.s.who.Name, Now: r.src.now, Outside: r.src.e.outside}
}

// predictedAsks lists the queries that a program of one call is going to make, as far as they depend on
// its arguments alone: for the rows that its effects pick, and for the jobs that its own jobs
// replace.
func predictedAsks(r *run) (asks []stores.Ask) {
	if len(r.plan.prog.Calls()) != 1 || r.src.snapshot {
		return nil
	}
	c := &r.plan.prog.Calls()[0]
	st := known(r, c)
	if st == nil {
		return nil
	}
	env := argued(r, st)
	for i := range c.Verb.Effects {
		f := &c.Verb.Effects[i]
		switch {
		case f.Each != nil:
		case f.Run != nil && len(f.Key) > 0 && f.Again != verbs.Keep:
			if f.When == nil || len(f.When.Reads) == 0 && fires(f.When, env) {
				asks = append(asks, stores.Ask{Jobs: waitingUnder(workKey(r.src, st, &notice{effect: f, target: noticeTarget(f)}))})
			}
		case f.OnRows() && f.Where != nil && f.Where.Filter != nil && len(f.Where.Filter.Reads) == 0:
			if where, err := f.Where.Filter.Cond(env); err == nil { // if it fails, it fails again when the call is made
				find := r.src.picking(f.Entity.Store, &where)
				asks = append(asks, stores.Ask{Find: &find})
			}
		}
	}
	return asks
}

// fires reports whether a condition that depends on arguments alone holds.
func fires(x *verbs.Expr, env verbs.Env) bool {
	v, err := x.Eval(env)
	return err == nil && v.Bool()
}

// rowOf returns the row that an argument names, if that is known before the call begins; a nil
// entity otherwise.
func rowOf(p *verbs.Program, c *verbs.Call, arg int) (*stores.Entity, stores.Value) {
	t := c.Verb.Params[arg].Type
	if t == nil || t.Name != verbs.RefType || t.Entity == nil {
		return nil, stores.Value{}
	}
	e := t.Entity.Store
	var key stores.Value
	known := true
	switch a := &c.Args[arg]; a.Kind {
	case verbs.Literal:
		key = a.Value
		if kind := e.Fields[e.Key].Kind; key.Kind() != kind && !key.IsNull() {
			key, known = stores.Parse(kind, key.Text())
		}
	case verbs.Name:
		if known = a.Path() == ""; known {
			row, bound := p.Bound(a)
			key, known = row.Key, bound
		}
	default:
		known = false
	}
	if !known || key.IsNull() {
		return nil, stores.Value{}
	}
	return e, key
}

// If a program is a single read, and nothing needs the rows that its arguments name before the
// read, these rows are fetched together with the read, in one round trip. Fetched first, they would
// cost a round trip, the end of the snapshot another, and the read a third.
//
// If such a row does not exist, the view has misjudged: the run starts again, and fetches the rows
// one after the other.

// A postponed is a row that is read together with the next read.
type postponed struct {
	row view.RowKey
	at  int // its place in step.reads
}

// readsAtOnce reports whether neither the read of a verb nor anything before it depends on the
// values of a row that an argument names.
func (p *prepared) readsAtOnce() bool {
	v := p.verb
	if v.Read == nil || p.handler != nil || v.Handler || v.Macro != nil || v.Tool != nil ||
		len(v.Requires) > 0 || len(v.Confirm) > 0 || len(v.Effects) > 0 {
		return false
	}
	ofArgument := func(read verbs.ExprRead) bool { return read.Param != verbs.OfRow }
	asks := func(f *verbs.Filter, fields []verbs.ReadField) bool {
		return f != nil && slices.ContainsFunc(f.Reads, ofArgument) ||
			slices.ContainsFunc(fields, func(f verbs.ReadField) bool { return f.Expr != nil && slices.ContainsFunc(f.Expr.Reads, ofArgument) })
	}
	return !asks(v.Read.Filter, v.Read.Fields) &&
		!slices.ContainsFunc(v.Read.Lists, func(l verbs.ReadList) bool { return asks(l.Filter, l.Fields) })
}

// canPostpone reports whether the row of an argument can be fetched together with the read. The
// session must know its name already, since a name is made from the label.
func (r *source) canPostpone(st *step, e *stores.Entity, key stores.Value) bool {
	if !st.tree.alone || !st.prep.atOnce || !r.read.Postpone(view.RowKey{Entity: e, Key: key}) {
		return false
	}
	_, named := r.s.names.Row(e, key)
	return named
}

// postpone notes that a row is to be fetched with the next read. Until then it holds only its key.
func (r *source) postpone(st *step, e *stores.Entity, key stores.Value) stores.Row {
	row := stores.Row{Entity: e, Values: make([]stores.Value, len(e.Fields))}
	row.Values[e.Key] = key
	st.postponed = append(st.postponed, postponed{view.RowKey{Entity: e, Key: key}, len(st.reads)})
	st.saw(readRow{entity: e, key: key})
	return row
}

// findWithPostponed is Find that also asks for the postponed rows.
func (r *source) findWithPostponed(ctx context.Context, st *step, f stores.Find) ([][]stores.Value, error) {
	if len(st.postponed) == 0 {
		return r.read.Find(ctx, f)
	}
	asks := make([]stores.Ask, len(st.postponed), len(st.postponed)+1)
	for i, o := range st.postponed {
		asks[i] = stores.Ask{Entity: o.row.Entity, Keys: []stores.Value{o.row.Key}}
	}
	asks = append(asks, stores.Ask{Find: &f})
	if err := r.read.Together(ctx, asks); err != nil {
		return nil, err
	}
	for i, o := range st.postponed {
		if len(asks[i].Rows) == 0 {
			return nil, r.read.Missed(o.row)
		}
		row := asks[i].Rows[0]
		st.reads[o.at].values, st.reads[o.at].marks = row.Values, row.Marks
		for j := range st.args.rows {
			if at := &st.args.rows[j]; at.Entity == o.row.Entity && at.Key() == o.row.Key {
				*at = row
			}
		}
	}
	st.postponed = nil
	return asks[len(asks)-1].Found, nil
}

// A run that writes locks the rows by which it decides, until it commits: the rows that its
// references name, those that conditions lead to, those that a filter picked, and those that a
// handler or a read in the script found.
//
// A count has no row of its own to lock. A run that counts the rows that refer to a parent locks
// the parent, and a run that adds, moves or removes such a row locks the parent too, so that one
// of the two waits.

// holdsAs returns the lock for rows that a run reads: none if it changes nothing or is rolled back.
func (r *source) holdsAs(h stores.Hold) stores.Hold {
	if !r.locks {
		return stores.Loose
	}
	return h
}

// writesRows reports whether a call of a program may change something.
func writesRows(e *Engine, p *verbs.Program) bool {
	calls := p.Calls()
	for i := range calls {
		if !e.verbs[calls[i].Verb].reads {
			return true
		}
	}
	return false
}

// countedBy lists the reference fields by which reads, requirements and totals count rows. The value
// is true if a total uses the field: then a change to any field of such a row may alter the result.
func countedBy(all []*verbs.Verb) map[view.Field]bool {
	by := make(map[view.Field]bool)
	total := func(t *verbs.Total) {
		if t != nil && t.Where.Filter != nil && t.By >= 0 {
			by[view.Field{Entity: t.Entity.Store, Field: t.By}] = true
		}
	}
	for _, v := range all {
		for i := range v.Requires {
			total(v.Requires[i].Rows)
		}
		for _, t := range v.Totals {
			total(t)
		}
	}
	add := func(l view.Field) {
		if !by[l] {
			by[l] = false
		}
	}
	for _, v := range all {
		if v.Read == nil {
			continue
		}
		for _, f := range v.Read.Fields {
			if f.Path.Count != nil {
				add(view.Field{Entity: f.Path.Count, Field: f.Path.By})
			}
		}
		for i := range v.Read.Lists {
			// A list is locked by its parent row, if the list's rows refer to that directly.
			if list := &v.Read.Lists[i]; len(list.By.Steps) == 0 {
				add(view.Field{Entity: list.Entity.Store, Field: list.By.Field})
			}
		}
		if a := v.Read.Along; a != nil && a.Here != a.Entity.Store.Key {
			add(view.Field{Entity: a.Entity.Store, Field: a.Here})
		}
		if p := v.Read.Entity.Progress; p != nil && len(p.By.Steps) == 0 {
			add(view.Field{Entity: p.Steps.Store, Field: p.By.Field})
		}
		for _, o := range v.Read.Order {
			if o.Path.Count != nil {
				add(view.Field{Entity: o.Path.Count, Field: o.Path.By})
			}
		}
	}
	return by
}

// lockParents locks the parent rows whose counts a change may alter. Most are locked already, because a
// reference of the call names them.
func (r *source) lockParents(ctx context.Context, c *stores.Change) error {
	if len(r.e.catalog.counted) == 0 || !r.locks {
		return nil
	}
	hold := func(field int, key stores.Value) error {
		to := c.Entity.Fields[field].Ref
		if key.IsNull() || to == nil || r.draft.added[view.RowKey{Entity: to, Key: key}] {
			return nil
		}
		// This principal can neither refer to a row outside their scope nor count for it.
		if _, err := r.read.Get(ctx, to, key); err != nil && !errors.Is(err, stores.ErrNotFound) {
			return err
		}
		return nil
	}
	for i := range c.Entity.Fields {
		counts, is := r.e.catalog.counted[view.Field{Entity: c.Entity, Field: i}]
		if !is {
			continue
		}
		set, moves := stores.Value{}, c.Op == stores.Delete || counts
		for _, a := range c.Set {
			if a.Field == i {
				set, moves = a.Value, true
			}
		}
		if !moves {
			continue
		}
		if c.Op != stores.Insert {
			if err := hold(i, c.Before[i]); err != nil {
				return err
			}
		}
		if err := hold(i, set); err != nil {
			return err
		}
	}
	return nil
}
