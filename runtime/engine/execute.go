package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"verbatim/stores"
	"verbatim/verbs"
)

// execute carries out a verb in the way that its palette declares, and returns the claimed changes
// and the answer as values.
func execute(ctx context.Context, r *source, st *step, promises []promise) (done outcome, err error) {
	v := st.verb
	switch h := st.prep.handler; {
	case h != nil:
		return handle(ctx, r, st, h, promises)
	case v.Handler:
		return done, st.refuse("not-carried-out", v.Name, noHandlerHere)
	case v.Tool != nil:
		return useTool(st, promises), nil
	case v.Undoes != nil:
		return takeBack(ctx, r, st)
	}
	if done = declared(promises); st.prep.answers != nil {
		done.answer, err = st.prep.answers(ctx, r, st)
	}
	return done, err
}

// query carries out a read in the palette author's own SQL.
func (r *source) query(ctx context.Context, st *step) (*table, error) {
	q := st.verb.Query
	if st.prep.unfit != nil {
		return nil, st.refuse("not-carried-out", st.verb.Name, noQueryHere)
	}
	sql := queryOf(st.verb, st.args.values)
	var marks []string
	sql.Origins = &marks
	var dirty []stores.Unreadable
	sql.Unreadable = &dirty
	rows, err := r.read.SQL(ctx, r.e.catalog.tables, sql)
	if err == nil && len(rows) == 0 && len(dirty) > 0 {
		// No row is as the palette says: the query is wrong, and not a row.
		sql.Unreadable, dirty = nil, nil
		rows, err = r.read.SQL(ctx, r.e.catalog.tables, sql)
	}
	var wrong *stores.SQLError
	if errors.As(err, &wrong) {
		// The query's columns do not fit its palette. No caller can help it.
		return nil, st.refuse("not-carried-out", st.verb.Name, "its query does not come to what its palette says: "+wrong.Msg)
	}
	if err != nil {
		return nil, err
	}
	t := &table{}
	if t.left, err = r.leaveOut(ctx, st, dirty, nil, q.One); err != nil {
		return nil, err
	}
	for i, c := range q.Columns {
		t.columns = append(t.columns, column{c.Name, q.IsSensitive() && q.Sensitive[i]})
	}
	if q.One && len(rows) != 1 {
		if len(rows) > 1 {
			return nil, &Failure{Err: fmt.Errorf("%s: the query of %s says one row and gave %d", at(q.Place), st.verb.Name, len(rows))}
		}
		return nil, st.refuse("unknown-name/found", st.verb.Name)
	}
	// The origins of what SQL computes from arguments and rows cannot be followed.
	came := st.argumentOrigins().Mix(ofRecord).Mix(r.s.from.Query(q))
	for _, mark := range marks {
		came = came.Mix(verbs.Stored(mark))
	}
	for _, row := range rows {
		cells := make([]cell, len(row))
		for i, v := range row {
			cells[i] = cell{value: v, entity: queryRef(q, i), from: came}
		}
		t.rows = append(t.rows, cells)
		st.saw(readRow{values: row})
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
	return stores.SQL{Text: q.Text, Params: q.Names, Kinds: q.Kinds, Columns: q.Columns, Sensitive: q.IsSensitive(), Args: q.Arguments(v, args)}
}

// A promise is one effect of a verb, evaluated for one call on the rows as they are before
// the call. The engine carries out declared effects from promises, and verifies every outcome
// against the same promises.
type promise struct {
	effect *verbs.Effect
	// due says that its condition holds, or that it has none. Effects on rows have a
	// condition for each target instead.
	due       bool
	key       stores.Value // of a row to be added that other effects refer to
	set       []assignment // of a row to be added
	targets   []target     // of rows to be changed or deleted
	values    []stores.Value
	came      []verbs.Origin // parallel to values
	sensitive []bool         // parallel to values; nil while none is sensitive
	at        stores.Value   // when the work of a trigger begins; Null is at once
	setting   setting        // of the session
}

// A target is a row that an effect picks.
type target struct {
	row stores.Row
	due bool
	set []assignment
	// stood holds the fields that conditions and values were evaluated from. The change is
	// valid only while those fields keep these values.
	stood []int
}

// An assignment is a value for a field, and the origin of the value.
type assignment struct {
	field     int
	value     stores.Value
	from      string
	sensitive bool // an argument that it is taken from is
	came      verbs.Origin
	back      bool // an undo puts the earlier value back, with its origin
}

// promises works out what each effect of a verb means for this call.
func (r *source) promises(ctx context.Context, st *step) ([]promise, error) {
	promises := make([]promise, 0, len(st.verb.Effects))
	for i := range st.verb.Effects {
		p := promise{effect: &st.verb.Effects[i]}
		if follows := p.effect.Follows() && !st.verb.Tool.ReadOnly; follows != st.follows {
			continue
		}
		var err error
		switch {
		case p.effect.Upsert && p.effect.Kind == verbs.Creates:
			continue // it was done with the effect before it
		case p.effect.Upsert:
			found, added, err := r.upsert(ctx, st, i)
			if err != nil {
				return nil, err
			}
			promises = append(append(promises, found), added...)
			continue
		case p.effect.OnRows():
			err = r.targets(ctx, st, &p)
		case p.effect.Each != nil:
			err = r.each(ctx, st, p.effect, func() error {
				one := promise{effect: p.effect}
				err := r.values(ctx, st, &one)
				promises = append(promises, one)
				return err
			})
			if err != nil {
				return nil, err
			}
			continue
		default:
			err = r.values(ctx, st, &p)
			if err == nil && p.due && p.effect.As != "" {
				err = r.called(ctx, st, i, &p)
			}
		}
		if err != nil {
			return nil, err
		}
		promises = append(promises, p)
	}
	return promises, nil
}

// called gives a row that is to be added its key, so that other effects can refer to it.
func (r *source) called(ctx context.Context, st *step, effect int, p *promise) (err error) {
	e := p.effect.Entity.Store
	set := slices.IndexFunc(p.set, func(a assignment) bool { return a.field == e.Key })
	switch {
	case set >= 0:
		p.key = p.set[set].value
	case e.Fields[e.Key].Drawn:
		p.key, err = r.read.Draw(ctx, e, e.Key)
	default:
		if p.key, err = newKey(r, e); err == nil {
			r.draft.alias[p.key] = fmt.Sprintf("%s of effect %d", r.draft.alias[p.key], effect) // there may be several before one is added
		}
	}
	st.adds(effect, p.key)
	return err
}

// adds records the row that later effects of the verb may refer to.
func (st *step) adds(effect int, key stores.Value) {
	if st.sees.added == nil {
		st.sees.added = make([]stores.Value, len(st.verb.Effects))
	}
	st.sees.added[effect] = key
}

// maxEach is the greatest number of rows or items that one effect may run over.
const maxEach = 1000

// An eachOf is the row or item that an effect with `for-each` is evaluated for.
type eachOf struct {
	row  *stores.Row
	item stores.Value // the item, if it is not a row
	at   int          // in a macro, its place in the list
}

// each calls a function for each row or item that an effect runs over.
func (r *source) each(ctx context.Context, st *step, effect *verbs.Effect, do func() error) error {
	var all []eachOf
	if of := effect.Each; of.Entity != nil {
		rows, named, err := r.picked(ctx, st, of.Entity, of.Where, of.Order...)
		if err == nil && named && len(rows) == 0 {
			err = r.mustMatch(ctx, st, effect, of.Entity)
		}
		if err != nil {
			return err
		}
		for i := range rows {
			all = append(all, eachOf{row: &rows[i]})
		}
	} else if of.Answer {
		for _, row := range st.external.answer.rows {
			values := make([]stores.Value, len(row))
			for i := range row {
				values[i] = row[i].value
			}
			all = append(all, eachOf{item: st.verb.Tool.Answers(values)})
		}
	} else {
		items, err := st.args.values[of.Param].Items(kindOf(st.verb.Params[of.Param].Type.Item.Name))
		if err != nil {
			return err
		}
		for _, item := range items {
			all = append(all, eachOf{item: item})
		}
	}
	if len(all) > maxEach {
		return st.refuse("too-much", st.verb.Name)
	}
	defer func() { st.sees.each = eachOf{} }()
	for _, st.sees.each = range all {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

// mustMatch refuses a call if one of its effects found no row though its palette promises
// one.
func (r *source) mustMatch(ctx context.Context, st *step, effect *verbs.Effect, of *verbs.Entity) error {
	if effect.May || effect.When != nil && slices.ContainsFunc(effect.When.Reads, func(read verbs.ExprRead) bool {
		return read.Param == verbs.OfEach || read.Each || ofTheRow(effect, &read)
	}) {
		return nil // a condition on the row need not hold for any row
	}
	due, err := r.holds(ctx, st, effect.When, nil)
	if err == nil && due {
		err = st.refuse("nothing-matched", st.verb.Name, of.Store.Name, effect)
	}
	return err
}

// values evaluates an effect that picks no rows.
func (r *source) values(ctx context.Context, st *step, p *promise) (err error) {
	effect := p.effect
	if p.due, err = r.holds(ctx, st, effect.When, nil); !p.due {
		return err
	}
	if p.set, err = r.sets(ctx, st, effect, nil); err != nil {
		return err
	}
	for _, w := range effect.With {
		v, came, err := r.evalFrom(ctx, st, w.Value, nil)
		if err != nil {
			return err
		}
		p.values, p.came = append(p.values, v), append(p.came, came)
		if _, sensitive := st.origin(w.Value, nil); sensitive {
			p.sensitive = sensitiveAt(p.sensitive, len(p.values)-1)
		}
	}
	if effect.Value != nil {
		return r.given(ctx, st, p)
	}
	if effect.At != nil {
		p.at, err = r.eval(ctx, st, effect.At, nil)
	}
	return err
}

// targets finds the rows of an effect, and its changes of each.
func (r *source) targets(ctx context.Context, st *step, p *promise) (err error) {
	switch effect := p.effect; {
	case effect.Where == nil:
		// The promise names no row: a handler may keep it on any row within scope. Only
		// its condition can be evaluated here.
		p.due, err = r.holds(ctx, st, effect.When, nil)
		return err
	case effect.Each != nil:
		return r.each(ctx, st, effect, func() error { return r.aim(ctx, st, p) })
	}
	return r.aim(ctx, st, p)
}

// aim adds the rows that an effect picks to its targets. A row that is picked several times
// is one target: each change builds on the one before.
func (r *source) aim(ctx context.Context, st *step, p *promise) error {
	rows, named, err := r.picked(ctx, st, p.effect.Entity, p.effect.Where)
	if err == nil && named && len(rows) == 0 {
		err = r.mustMatch(ctx, st, p.effect, p.effect.Entity)
	}
	if err != nil {
		return err
	}
	return r.aimAt(ctx, st, p, rows)
}

func (r *source) aimAt(ctx context.Context, st *step, p *promise, rows []stores.Row) error {
	effect := p.effect
	for _, row := range rows {
		t := &target{row: row, stood: stoodOn(effect)}
		known := -1
		if effect.Each != nil {
			known = slices.IndexFunc(p.targets, func(t target) bool { return t.row.Key() == row.Key() })
		}
		if known >= 0 {
			t = &p.targets[known]
			row.Values = slices.Clone(row.Values)
			for _, a := range t.set {
				row.Values[a.field] = a.value
			}
		}
		due, err := r.holds(ctx, st, effect.When, &row)
		if err != nil {
			return err
		}
		if due {
			set, err := r.sets(ctx, st, effect, &row)
			if err != nil {
				return err
			}
			for _, a := range t.set {
				if !slices.ContainsFunc(set, func(b assignment) bool { return a.field == b.field }) {
					set = append(set, a)
				}
			}
			t.set = set
		}
		t.due, p.due = t.due || due, p.due || due
		if known < 0 {
			p.targets = append(p.targets, *t)
		}
	}
	return nil
}

// upsert computes the rows that an effect changes or, if there are none, adds. If it names one row
// twice, the second values win.
func (r *source) upsert(ctx context.Context, st *step, i int) (found promise, added []promise, err error) {
	change, create := &st.verb.Effects[i], &st.verb.Effects[i+1]
	found = promise{effect: change}
	one := func() error {
		row, err := r.alike(ctx, st, change)
		if err != nil {
			return err
		}
		if row != nil {
			if change.Each == nil {
				st.adds(i+1, row.Key())
			}
			return r.aimAt(ctx, st, &found, []stores.Row{*row})
		}
		p := promise{effect: create}
		if err := r.values(ctx, st, &p); err != nil || !p.due {
			return err
		}
		if create.As != "" {
			err = r.called(ctx, st, i+1, &p)
		}
		again := slices.IndexFunc(added, func(q promise) bool {
			return !slices.ContainsFunc(change.Where.By, func(by verbs.Set) bool { return !stores.Equal(p.gives(by.Field), q.gives(by.Field)) })
		})
		if again >= 0 {
			added[again] = p
		} else {
			added = append(added, p)
		}
		return err
	}
	if change.Each != nil {
		err = r.each(ctx, st, change, one)
	} else {
		err = one()
	}
	return found, added, err
}

// alike finds the row with the values of the effect's `by:` fields, nil if there is none. If another
// transaction adds such a row first, the commit conflicts and the run is retried.
func (r *source) alike(ctx context.Context, st *step, effect *verbs.Effect) (*stores.Row, error) {
	e := effect.Entity.Store
	where := stores.Cond{Op: stores.And}
	for _, by := range effect.Where.By {
		v, err := r.eval(ctx, st, by.Value, nil)
		if err != nil {
			return nil, err
		}
		if v.IsNull() {
			return nil, st.refuse("value-needed", st.verb.Name, e.Name, e.Fields[by.Field].Name)
		}
		where.Kids = append(where.Kids, stores.Cond{Op: stores.Eq, Path: stores.Path{Field: by.Field}, Value: v})
	}
	rows, err := r.rowsWhere(ctx, st, e, &where)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

// gives returns the value that a promise sets a field to, null if it does not set it.
func (p *promise) gives(field int) stores.Value {
	for _, a := range p.set {
		if a.field == field {
			return a.value
		}
	}
	return stores.Value{}
}

// picked returns the rows that a palette names: those that a filter picks, the row that an argument
// refers to, or the rows of a list of references. named is false if the argument was left out.
func (r *source) picked(ctx context.Context, st *step, e *verbs.Entity, w *verbs.Where, order ...stores.Order) (rows []stores.Row, named bool, err error) {
	if w.Filter != nil {
		where, err := r.cond(ctx, st, w.Filter)
		if err != nil {
			return nil, true, err
		}
		rows, err = r.rowsWhere(ctx, st, e.Store, where, order...)
		return rows, true, err
	}
	p := &st.verb.Params[w.Param]
	if !w.List {
		switch row := st.args.rows[w.Param]; row.Entity {
		case e.Store:
			return []stores.Row{row}, true, nil
		case nil:
			return nil, false, nil
		}
		// The argument takes a row of any kind, the effect does not.
		return nil, true, st.refuse("unknown-name", p.Name)
	}
	if st.args.values[w.Param].IsNull() {
		return nil, false, nil
	}
	keys, err := st.args.values[w.Param].Items(e.Store.Fields[e.Store.Key].Kind)
	if err != nil {
		return nil, true, st.refuse("wrong-value", p.Name, "a list of references is wanted")
	}
	rows = make([]stores.Row, len(keys))
	for i, key := range keys {
		if slices.Contains(keys[:i], key) {
			return nil, true, st.refuse("wrong-value", p.Name, "it names a row twice")
		}
		if rows[i], err = r.get(ctx, st, e.Store, key); err != nil {
			return nil, true, err
		}
	}
	return rows, true, nil
}

// stoodOn lists the fields of its target that an effect reads.
func stoodOn(e *verbs.Effect) []int {
	var fields []int
	add := func(x *verbs.Expr) {
		if x == nil {
			return
		}
		for _, read := range x.Reads {
			if ofTheRow(e, &read) && read.Path.Count == nil {
				f := read.Path.Field
				if len(read.Path.Steps) > 0 {
					f = read.Path.Steps[0].Field
				}
				fields = append(fields, f)
			}
		}
	}
	add(e.When)
	for i := range e.Set {
		add(e.Set[i].Value)
	}
	return fields
}

// ofTheRow reports whether an expression of an effect reads a field of the effect's target.
func ofTheRow(e *verbs.Effect, read *verbs.ExprRead) bool {
	if read.Param < 0 || e.Where == nil {
		return read.Param == verbs.OfRow
	}
	param, one := e.Where.One()
	return one && read.Param == param
}

func (r *source) holds(ctx context.Context, st *step, when *verbs.Expr, row *stores.Row) (bool, error) {
	if when == nil {
		return true, nil
	}
	v, err := r.eval(ctx, st, when, row)
	return v.Bool(), err
}

func (r *source) sets(ctx context.Context, st *step, effect *verbs.Effect, row *stores.Row) ([]assignment, error) {
	set := make([]assignment, 0, len(effect.Set))
	for i := range effect.Set {
		x := effect.Set[i].Value
		if param, alone := x.ArgOnly(); alone && st.args.values[param].IsNull() && st.args.cleared&(1<<param) == 0 {
			continue // an argument that is left out changes nothing
		}
		v, came, err := r.evalFrom(ctx, st, x, row)
		if err != nil {
			return nil, err
		}
		if v.IsNull() && x.OnePart {
			continue // nor does a part of a record
		}
		from, secret := st.origin(x, row)
		if f := &effect.Entity.Store.Fields[effect.Set[i].Field]; st.args.sensitive != nil && !v.IsNull() && !f.Sensitive && f.Kind != stores.Bool && x.Copies(st.secret, nil) {
			return nil, st.refuse("secret-would-be-open", st.verb.Name, effect.Entity.Store.Name, f.Name)
		}
		set = append(set, assignment{field: effect.Set[i].Field, value: v, from: from, sensitive: secret, came: came})
	}
	return set, nil
}

// total computes one value from several rows, and returns its origin. The engine adds up the
// rows, not the store, so that both stores return the same sum. The rows are locked until the
// end; a lock on the row that they belong to keeps others from being added.
func (r *source) total(ctx context.Context, st *step, t *verbs.Total) (sum stores.Value, came verbs.Origin, err error) {
	if t.Beyond {
		sum, err = seenBeyond(ctx, r, st, t)
		return sum, ofRecord, err
	}
	if t.Kind.Asks() {
		found, err := r.anyOf(ctx, st, t)
		return stores.NewBool(found == (t.Kind == verbs.SomeTotal)), st.chosen(), err
	}
	rows, _, err := r.picked(ctx, st, t.Entity, t.Where)
	if err != nil {
		return sum, came, err
	}
	if t.Kind == verbs.CountTotal {
		return stores.NewInt(int64(len(rows))), st.chosen(), nil
	}
	so := t.Begin()
	for i := range rows {
		if err := so.Add(rows[i].Values[t.Field]); err != nil {
			return sum, came, &evalError{t.Place, t.Name, err}
		}
		if !rows[i].Values[t.Field].IsNull() {
			came = came.Mix(r.s.from.Field(&rows[i], t.Field))
		}
	}
	sum, err = so.Value()
	return sum, came, err
}

// anyOf reports whether there is a row of a total or, for a total of all rows, a row for which
// `that` does not hold. The call names the parent of these rows, so the parent is locked: a
// transaction that adds such a row, or changes one so that it counts, locks the parent first, and
// the answer stays true until this run ends. See meet.
func (r *source) anyOf(ctx context.Context, st *step, t *verbs.Total) (bool, error) {
	e := t.Entity.Store
	var among stores.Cond
	if t.Where.Filter == nil {
		rows, _, err := r.picked(ctx, st, t.Entity, t.Where)
		if err != nil || t.That == nil {
			return len(rows) > 0, err
		}
		keys := make([]stores.Value, len(rows))
		for i := range rows {
			keys[i] = rows[i].Key()
		}
		among = stores.Cond{Op: stores.In, Path: stores.Path{Field: e.Key}, Value: stores.NewList(keys...)}
	} else {
		c, err := r.cond(ctx, st, t.Where.Filter)
		if err != nil {
			return false, err
		}
		among = *c
	}
	where, err := r.counterexample(ctx, st, t, among)
	if err != nil {
		return false, err
	}
	found, err := r.read.Find(ctx, stores.Find{Entity: e, Select: []stores.Path{{Field: e.Key}}, Where: &where, Limit: 1, Cut: true})
	return len(found) > 0, err
}

// counterexample adds the negation of a total's `that` to a condition.
func (r *source) counterexample(ctx context.Context, st *step, t *verbs.Total, among stores.Cond) (stores.Cond, error) {
	if t.That == nil {
		return among, nil
	}
	c, err := r.cond(ctx, st, t.That)
	if err != nil {
		return among, err
	}
	return stores.Cond{Op: stores.And, Kids: []stores.Cond{among, {Op: stores.Not, Kids: []stores.Cond{*c}}}}, nil
}
