package runtime

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/names"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// Limits of one run, far above what a person asks for and far below what
// makes a program of macros grow out of hand.
const (
	maxMacroDepth = 8    // macros inside macros
	maxMacroCalls = 1000 // made by one call that a person wrote
)

// A run carries one program out, inside one transaction or on one snapshot.
// It lives for one attempt.
type run struct {
	e    *Engine
	s    *Session
	prog *verbs.Program
	read stores.Reader
	tx   stores.Tx // nil where nothing may be written
	now  time.Time // one for the whole run

	rehearsal bool  // it will be rolled back
	writes    bool  // some call of it may change something
	goesOn    bool  // no read is taken for the last
	before    int64 // RunOptions.Before
	unsealed  bool  // its digest is worked out when somebody asks for it
	held
	met map[rowKey]bool // rows that are held because something is counted for them

	share *share // the part of the program that this is about; nil for all of it
	tell  func(Progress)
	first int // number of the program's first call
	done  int // calls carried out, of total, for tell
	total int

	top   []*step // parallel to prog.Calls()
	steps []*step // every call carried out, those of macros included, in order
	of    []*step // those that the journal tells of, parallel to its entries
	seen  []seen  // what the plan stands on
	owed  []owing // rows that are asked for with what is read

	// Values that differ from one preview to the next without anything having
	// changed: keys that were made up, and instants counted from now. The
	// digest names them by what they are.
	alias map[stores.Value]string
	// added holds the keys of rows that this run adds, and for whom.
	added  map[stores.Value]string
	owners bool                         // it is told whose rows are
	minted map[stores.Value]names.Given // what these rows are called, once they are committed
	visit  *keptSession                 // the session's row, once it was read

	labels  map[stores.Value]string // of the rows that it adds
	told    []receipt.Call          // parallel to written; nil before it was told
	digest  [32]byte
	id      string
	scratch []byte // for seals

	own      []stores.Change  // of rows that the engine keeps about this run
	agreedBy string           // who else agreed, and as what
	repeated *receipt.Receipt // of the run that had the same key
	settled  []stores.Settlement

	uploads []usedUpload // files that nothing had used before
	files   []knownFile  // that arguments name

	errands *errands // what tools answered
	errand  *errand  // the call that changes something elsewhere, while it has no answer
}

// A seen is something that was read of a row, and what it was then.
type seen struct {
	entity *stores.Entity
	key    stores.Value
	paths  []stores.Path // nil is the whole row
	values []stores.Value
	marks  []stores.Mark // of a whole row
}

// A step is one call being carried out.
type step struct {
	verb   *verbs.Verb
	index  int       // in Program.Calls: of the call, or of the call of the macro that it belongs to
	place  dsl.Place // in the script that was run
	syntax *dsl.Call // as it is kept: see written
	text   string    // canonical
	args   []stores.Value
	// contents is parallel to args, nil where none is an upload: what the bytes of
	// uploads are known by.
	contents []stores.Value
	rows     []stores.Row   // parallel to args: the rows that references name
	from     []verbs.Origin // parallel to args: where they came from
	accepts  verbs.Origins  // of the argument at hand: where it may come from
	trail    []string       // and on which way it came, where that is not so
	dark     []bool         // parallel to args: what was taken from something sensitive; nil when nothing was
	sealed   [32]byte       // of verb and arguments, as they passed the gate

	asks    []ask
	changes []change
	notices []notice
	sets    []setting        // what it gave the session
	filled  []receipt.Filled // arguments that it left out, by key
	tended  []receipt.Tended
	cells   *table
	errand  *errand // what a tool is asked
	inner   []*step // of a macro
	outer   *step   // the macro that it belongs to
	depth   int     // how many macros it stands in
	made    int     // of a call that a person wrote: the calls that it led to, itself included
	seq     int64   // of its journal entry

	seenFrom, seenTo int // what was read for it, in run.seen
}

// A change is what a store is to do with a row, and what is told of that.
type change struct {
	stores.Change
	entity *verbs.Entity
	row    receipt.Row // without the names of what it refers to; its fields are parallel to Set, where the row is not deleted
}

// at is the field of the entity that the k-th field of the row tells of.
func (c *change) at(k int) int {
	if k < len(c.Set) {
		return c.Set[k].Field
	}
	return c.Entity.FieldIndex(c.row.Fields[k].Name)
}

// A notice is an outgoing message before it has an id.
type notice struct {
	kind, target string
	keys         []string
	values       []stores.Value
	came         []verbs.Origin     // parallel to values
	dark         []bool             // parallel to values: taken from something sensitive; nil when none is
	effect       *verbs.Effect      // that promised it
	at           stores.Value       // when its work begins
	unique       string             // its correlation key, where the palette names one
	instead      []stores.JobRecord // what waits under that key, and is dropped
	active       sessionValue       // what the work takes along: see takeAlong
}

// A table is what a call gives back, with keys still in it.
type table struct {
	columns []column
	rows    [][]cell
	entity  *verbs.Entity // of keys
	keys    []stores.Value
	from    verbs.Origins // where all of it comes from; zero is from rows within scope
	// late says that it is known only once a tool has acted: no plan stands on
	// it.
	late bool
}

type column struct {
	name      string
	sensitive bool
}

type cell struct {
	value  stores.Value
	entity *verbs.Entity // whose key the value is; nil for everything else
	from   verbs.Origin
}

// program carries out every call of a frame, in the order that bindings
// demand.
func (r *run) program(ctx context.Context, f *frame) error {
	calls, order := f.prog.Calls(), f.prog.Order()
	f.steps = make([]*step, len(calls))
	if r.share != nil && f.macro == nil {
		order = r.share.calls
		copy(f.steps, r.share.before)
	}
	for at, i := range order {
		st, err := r.call(ctx, f, i)
		if err != nil {
			var c *complaint
			var all *Refusal
			switch {
			case f.macro != nil:
				return err
			case r.failed:
				// Not every store answers any more in this transaction.
				r.unread = func(ctx context.Context) []complaint { return r.others(ctx, f, order[at+1:]) }
				return err
			case errors.As(err, &c):
				return refuse(append([]complaint{*c}, r.others(ctx, f, order[at+1:])...))
			case errors.As(err, &all):
				return refuse(append(all.complaints(), r.others(ctx, f, order[at+1:])...))
			}
			return err
		}
		f.steps[i] = st
		if f.macro == nil {
			r.progress(i)
		}
	}
	return nil
}

// others looks for further names that stand for nothing, so that a person who
// has to repair a script is told of all of them at once.
func (r *run) others(ctx context.Context, f *frame, left []int) []complaint {
	var all []complaint
	calls := f.prog.Calls()
	for _, i := range left {
		if len(calls[i].Needs) > 0 {
			continue // it hangs on a call that was not carried out
		}
		var c *complaint
		if err := r.resolve(ctx, f, r.begin(f, i), &calls[i]); errors.As(err, &c) {
			all = append(all, *c)
		}
	}
	return all
}

// begin makes the step of a call.
func (r *run) begin(f *frame, i int) *step {
	c := &f.prog.Calls()[i]
	st := &step{verb: c.Verb, index: i}
	if f.macro == nil {
		st.place = placeOf(f.prog, c)
	} else {
		// What a macro does is told at the call that the person wrote.
		st.outer, st.index, st.place, st.depth = f.macro, f.macro.index, f.macro.place, f.macro.depth+1
	}
	outer := f.macro
	if f.made {
		outer = nil
	}
	st.syntax = r.e.written(f.prog, c.Syntax, outer)
	st.text = dsl.FormatCall(st.syntax)
	return st
}

func placeOf(p *verbs.Program, c *verbs.Call) dsl.Place {
	return dsl.Place{Source: p.Script().Source, Range: c.Syntax.Range}
}

// call takes one call from its arguments to changes that the transaction
// holds.
func (r *run) call(ctx context.Context, f *frame, i int) (*step, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	st := r.begin(f, i)
	st.seenFrom = len(r.seen)
	r.steps = append(r.steps, st)
	if f.macro == nil {
		r.top[i] = st
	} else {
		f.macro.inner = append(f.macro.inner, st)
	}
	written := r.top[st.index]
	if written.made++; written.made > maxMacroCalls || st.depth > maxMacroDepth {
		return nil, &complaint{st.index, tooDeep(st.place, st.verb.Name)}
	}
	if !permits(r.s.roles, st.verb.Roles) {
		// Session.forbidden has asked this of every call before anything
		// began; nothing is carried out on its word alone.
		return nil, &complaint{st.index, notPermitted(st.place, st.verb.Name, "")}
	}
	r.e.enter(StageResolve)
	if err := r.resolve(ctx, f, st, &f.prog.Calls()[i]); err != nil {
		return nil, r.mapError(st, err)
	}
	r.e.enter(StageGate)
	st.sealed = st.sealIn(&r.scratch)
	if err := r.require(ctx, st); err != nil {
		return nil, r.mapError(st, err)
	}
	if err := r.gate(ctx, st); err != nil {
		return nil, r.mapError(st, err)
	}
	r.e.enter(StageCarry)
	if err := r.carry(ctx, f, st); err != nil {
		return nil, r.mapError(st, err)
	}
	st.seenTo = len(r.seen)
	return st, nil
}

// still asserts that what is carried out, and later what is committed, is what
// passed the gate.
func (r *run) still(st *step) error {
	if st.sealIn(&r.scratch) != st.sealed {
		return &Failure{Err: fmt.Errorf("%s: its arguments changed after they passed the gate", st.verb.Name)}
	}
	return nil
}

// carry does what the verb is for, by whichever way its palette names.
func (r *run) carry(ctx context.Context, f *frame, st *step) error {
	v := st.verb
	if v.Macro != nil {
		return r.macro(ctx, st)
	}
	promises, err := r.promises(ctx, st)
	if err != nil {
		return err
	}
	var done deed
	switch h := r.e.handlers[v]; {
	case h != nil:
		done, err = r.handle(ctx, st, h, promises)
	case v.Handler:
		return &complaint{st.index, notCarriedOut(st.place, v.Name, noHandlerHere)}
	case v.Tool != nil:
		done, err = r.useTool(ctx, st, promises)
	default:
		done = declared(promises)
		switch {
		case v.Read != nil:
			done.answer, err = r.find(ctx, st)
		case v.Query != nil:
			done.answer, err = r.query(ctx, st)
		}
	}
	if err != nil {
		return err
	}
	r.e.enter(StageSettle)
	if err := settle(v, promises, &done); err != nil {
		return err
	}
	st.cells, st.notices, st.tended = done.answer, done.notices, done.tended
	if err := r.later(ctx, st); err != nil {
		return err
	}
	if err := r.set(ctx, st, done.sets); err != nil {
		return err
	}
	r.e.enter(StageApply)
	if err := r.apply(ctx, st, done.proposals); err != nil {
		return err
	}
	for _, p := range done.calls {
		if err := r.program(ctx, &frame{prog: p, macro: st, made: true}); err != nil {
			return err
		}
	}
	return nil
}

// macro carries out the script of other verbs, with the rights of whoever
// called it: forbidden has looked at its calls before anything began.
func (r *run) macro(ctx context.Context, st *step) error {
	inner := &frame{prog: r.e.macros[st.verb], macro: st}
	if err := r.program(ctx, inner); err != nil {
		return err
	}
	if len(inner.steps) > 0 {
		order := inner.prog.Order()
		st.cells = inner.steps[order[len(order)-1]].cells
	}
	return settleMacro(st.verb, st.gather())
}

// Reading

// get reads a row within scope and remembers what it was.
func (r *run) get(ctx context.Context, e *stores.Entity, key stores.Value) (stores.Row, error) {
	row, known := r.rows[rowKey{e, key}]
	var err error
	if !known {
		if row, err = r.read.Get(ctx, e, key); err == nil {
			r.keep(row)
		}
	}
	if err == nil {
		r.seen = append(r.seen, seen{entity: e, key: key, values: row.Values, marks: row.Marks})
	}
	return row, err
}

// fields reads along paths from one row, and says where the values come from.
func (r *run) fields(ctx context.Context, e *stores.Entity, key stores.Value, paths []stores.Path) ([]stores.Value, []verbs.Origin, error) {
	all, at := withMarks(e, paths)
	hold := r.holdsAs(stores.Shared)
	values, known := r.foresaw(rowKey{e, key}, all, hold != stores.Loose)
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
	r.seen = append(r.seen, seen{entity: e, key: key, paths: all, values: values})
	came := make([]verbs.Origin, len(paths))
	for i := range came {
		came[i] = r.s.pathOrigin(e, paths, at, i, values)
	}
	return values, came, nil
}

// rowsWhere reads the rows that a condition picks, and remembers what they were.
func (r *run) rowsWhere(ctx context.Context, e *stores.Entity, where *stores.Cond) ([]stores.Row, error) {
	n := len(e.Fields)
	paths := make([]stores.Path, n+1)
	for i := range n {
		paths[i].Field = i
	}
	paths[n].Marks = true
	found, err := r.read.Find(ctx, stores.Find{Entity: e, Select: paths, Where: where, Hold: r.holdsAs(stores.Firm)})
	if err != nil {
		return nil, err
	}
	rows := make([]stores.Row, len(found))
	for i, values := range found {
		row := stores.Row{Entity: e, Values: values[:n:n]}
		if row.Marks, err = stores.ReadMarks(e, values[n]); err != nil {
			return nil, err
		}
		r.seen = append(r.seen, seen{entity: e, key: row.Key(), values: row.Values, marks: row.Marks})
		rows[i] = row
	}
	return rows, nil
}

func isRow(e *stores.Entity, key stores.Value) *stores.Cond {
	return &stores.Cond{Op: stores.Eq, Path: stores.Path{Field: e.Key}, Value: key}
}

// An evalError is an expression that could not be worked out.
type evalError struct {
	place dsl.Place
	text  string
	err   error
}

func (e *evalError) Error() string {
	return fmt.Sprintf("%s: %q cannot be worked out: %s", at(e.place), e.text, e.err)
}

func (e *evalError) Unwrap() error { return e.err }

// eval works an expression out. row is the row being read or changed, nil
// where there is none.
func (r *run) eval(ctx context.Context, st *step, x *verbs.Expr, row *stores.Row) (stores.Value, error) {
	v, _, err := r.evalFrom(ctx, st, x, row)
	return v, err
}

// evalFrom is eval that also says where the value comes from.
func (r *run) evalFrom(ctx context.Context, st *step, x *verbs.Expr, row *stores.Row) (stores.Value, verbs.Origin, error) {
	env, reads, err := r.env(ctx, st, x.Reads, row)
	if err != nil {
		return stores.Value{}, verbs.Origin{}, err
	}
	v, err := x.Eval(env)
	if err != nil {
		return stores.Value{}, verbs.Origin{}, &evalError{x.Place, x.Text, err}
	}
	if v.Kind() == stores.Time {
		// An instant that moves with now is known by its distance from it.
		later := env
		later.Now = env.Now.Add(time.Microsecond)
		if w, err := x.Eval(later); err == nil && w.Kind() == stores.Time && w.Time().Sub(v.Time()) == time.Microsecond {
			r.alias[v] = "now " + strconv.FormatInt(v.Time().Sub(r.now).Microseconds(), 10)
		}
	}
	return v, made(st, x, reads), nil
}

// env fetches the fields that an expression reads. What lies in the row itself
// needs no query; all paths from one row are one query. It says, parallel to
// reads, where they come from.
func (r *run) env(ctx context.Context, st *step, reads []verbs.ExprRead, row *stores.Row) (verbs.Env, []verbs.Origin, error) {
	env := verbs.Env{Args: st.args, Contents: st.contents, Principal: r.s.who.Name, Now: r.now}
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
		from := row
		if p := reads[i].Param; p >= 0 {
			from = &st.rows[p]
		}
		if from == nil || from.Entity == nil {
			continue // the argument was left out: its fields are absent
		}
		if p := reads[i].Path; len(p.Steps) == 0 && p.Count == nil {
			env.Reads[i], came[i] = from.Values[p.Field], r.s.fieldOrigin(from, p.Field)
			continue
		}
		var paths []stores.Path
		var into []int
		for j := i; j < len(reads); j++ {
			if p := reads[j].Path; reads[j].Param == reads[i].Param && (len(p.Steps) > 0 || p.Count != nil) {
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

// cond turns a filter into a condition that the store carries out.
func (r *run) cond(ctx context.Context, st *step, f *verbs.Filter) (*stores.Cond, error) {
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
func (r *run) pathEnd(e *stores.Entity, p stores.Path) *verbs.Entity {
	if p.Count != nil {
		return nil
	}
	for _, s := range p.Steps {
		e = s.To
	}
	return r.e.refersTo(e, p.Field)
}

// query carries out a read in the palette author's own SQL.
func (r *run) query(ctx context.Context, st *step) (*table, error) {
	q := st.verb.Query
	sql := queryOf(st.verb, st.args)
	var marks []string
	sql.Origins = &marks
	rows, err := r.read.SQL(ctx, r.e.tables, sql)
	if err != nil {
		return nil, err
	}
	t := &table{}
	dark := r.e.dark[st.verb]
	for i, c := range q.Columns {
		t.columns = append(t.columns, column{c.Name, dark != nil && dark[i]})
	}
	if q.One && len(rows) != 1 {
		if len(rows) > 1 {
			return nil, &Failure{Err: fmt.Errorf("%s: the query of %s says one row and gave %d", at(q.Place), st.verb.Name, len(rows))}
		}
		return nil, &complaint{st.index, nothingThere(st.place, st.verb.Name)}
	}
	// What SQL makes of its arguments and of rows cannot be followed.
	came := st.told().Mix(ofRecord).Mix(r.s.strangeQuery(q))
	for _, mark := range marks {
		came = came.Mix(verbs.Stored(mark))
	}
	for _, row := range rows {
		cells := make([]cell, len(row))
		for i, v := range row {
			cells[i] = cell{value: v, entity: queryRef(q, i), from: came}
		}
		t.rows = append(t.rows, cells)
		r.seen = append(r.seen, seen{values: row})
	}
	return t, r.nameCells(ctx, t)
}

// queryRef returns the entity whose key a column of a query holds.
func queryRef(q *verbs.Query, i int) *verbs.Entity {
	if i < len(q.Types) && q.Types[i] != nil && q.Types[i].Name == verbs.RefType {
		return q.Types[i].Entity
	}
	return nil
}

func queryOf(v *verbs.Verb, args []stores.Value) stores.SQL {
	q := v.Query
	sql := stores.SQL{Text: q.Text, Params: q.Names, Kinds: q.Kinds, Columns: q.Columns}
	sql.Args = make([]stores.Value, len(q.Params))
	for i, p := range q.Params {
		if args != nil {
			sql.Args[i] = args[p]
		}
	}
	return sql
}
