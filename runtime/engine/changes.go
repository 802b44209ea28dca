package engine

import (
	"context"
	"fmt"
	"slices"

	"verbatim/runtime/internal/view"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// apply hands the changes of a call to the transaction, so that later calls see them.
func (r *run) apply(ctx context.Context, st *step, rowChanges []rowChange) (err error) {
	others := slices.ContainsFunc(r.plan.steps, func(other *step) bool { return other != st && len(other.out.changes) > 0 })
	if err := drawValues(ctx, r.src, rowChanges); err != nil {
		return err
	}
	if st.out.changes, err = changesOf(r.src, st, rowChanges, others); err != nil || len(st.out.changes) == 0 {
		return err
	}
	if r.src.snapshot {
		return &Failure{Err: fmt.Errorf("%s was taken for a verb that only reads", st.verb.Name)}
	}
	batch := make([]stores.Change, len(st.out.changes))
	for i := range st.out.changes {
		c := &st.out.changes[i]
		if c.Op != stores.Insert {
			row, err := r.src.nameRow(ctx, c.entity, c.Key)
			if err != nil {
				return err
			}
			if c.row.Label = row.Label; row.Name != "" {
				c.row.Name = row.Shown()
			}
		}
		if err := r.src.lockParents(ctx, &c.Change); err != nil {
			return err
		}
		batch[i] = c.Change
	}
	if err := r.unchanged(st); err != nil {
		return err
	}
	if err := r.src.read.Change(ctx, batch); err != nil {
		return err
	}
	return r.readBack(ctx, st)
}

// readBack replaces the values of changed rows by those that the triggers of the database made of
// them. Only tables of others have triggers: for those without, it reads nothing.
func (r *run) readBack(ctx context.Context, st *step) error {
	rewritten := map[*verbs.Entity][]*change{}
	var order []*verbs.Entity
	for i := range st.out.changes {
		c := &st.out.changes[i]
		if c.Op == stores.Delete || c.Entity.Managed {
			continue
		}
		if rewritten[c.entity] == nil {
			if does, err := r.src.read.Rewrites(ctx, c.Entity); err != nil {
				return err
			} else if !does {
				continue
			}
			order = append(order, c.entity)
		}
		rewritten[c.entity] = append(rewritten[c.entity], c)
	}
	if len(order) == 0 {
		return nil
	}
	if err := r.src.read.Flush(ctx); err != nil {
		return err
	}
	for _, e := range order {
		keys := make([]stores.Value, len(rewritten[e]))
		for i, c := range rewritten[e] {
			keys[i] = c.Key
		}
		rows, err := r.src.read.Rows(ctx, e.Store, keys)
		if err != nil {
			return err
		}
		for _, c := range rewritten[e] {
			i := slices.IndexFunc(rows, func(row stores.Row) bool { return row.Key() == c.Key })
			if i < 0 {
				return st.refuse("row-rewritten", st.verb.Name, e.Store.Name)
			}
			r.became(c, rows[i].Values)
		}
	}
	return nil
}

// became compares a change with the row that the database has after it.
func (r *run) became(c *change, is []stores.Value) {
	c.Set = slices.Clone(c.Set) // the store may still hold the old one
	for f := range c.Entity.Fields {
		if f == c.Entity.Key || slices.Contains(c.Entity.Parts, f) || c.Entity.Fields[f].Computed {
			continue
		}
		at, set := slices.BinarySearchFunc(c.Set, f, func(a stores.Assign, field int) int { return a.Field - field })
		switch {
		case set && !stores.Equal(c.Set[at].Value, is[f]):
			c.row.Fields[at].Made, c.row.Fields[at].Given = true, receipt.Of(c.Set[at].Value)
			c.Set[at].Value, c.row.Fields[at].After = is[f], receipt.Of(is[f])
		case !set && c.Op == stores.Insert && !is[f].IsNull(), !set && c.Op == stores.Update && !stores.Equal(c.Before[f], is[f]):
			made := c.field(assignment{field: f, value: is[f], from: drawnBy, came: ofRecord})
			made.Made = true
			c.Set = slices.Insert(c.Set, at, stores.Assign{Field: f, Value: is[f]})
			c.row.Fields = slices.Insert(c.row.Fields, at, made)
		default:
			continue
		}
		switch is[f].Kind() {
		case stores.Time, stores.UUID:
			r.src.draft.alias[is[f]] = "drawn" // as in draw
		}
	}
}

// changesOf turns verified row changes into changes for the store. Those of one row become one change, and an
// update that would set nothing new is dropped. others says that earlier calls may have changed
// the rows since they were read.
func changesOf(r *source, st *step, rowChanges []rowChange, others bool) (all []change, err error) {
	for i := range rowChanges {
		if all, err = joinChange(r, all, st, &rowChanges[i], others); err != nil {
			return nil, err
		}
	}
	all = slices.DeleteFunc(all, func(c change) bool { return c.Op == stores.Update && len(c.Set) == 0 })
	for i := range all {
		for j := range all[i].Entity.Given {
			if c := &all[i]; c.Op != stores.Delete && !c.Entity.Given[j].Holds(c.after) {
				return nil, st.refuse("requirement-not-met/row", c.Entity.Name, c.entity.Given[j].Else, &c.entity.Given[j])
			}
		}
	}
	return all, nil
}

// after returns the value of a field after the change. If the change leaves the field as it is, it
// also guards the field.
func (c *change) after(field int) stores.Value {
	if i := c.At(field); i >= 0 {
		return c.Set[i].Value
	}
	if c.Before == nil {
		return stores.Value{}
	}
	c.guard(field)
	return c.Before[field]
}

// joinChange adds a row change to the changes of a call.
func joinChange(r *source, all []change, st *step, p *rowChange, others bool) ([]change, error) {
	e := p.entity.Store
	if p.op == stores.Insert {
		c, err := insertRow(r, st, p)
		return append(all, c), err
	}
	var c *change
	for i := range all {
		if d := &all[i]; d.Op != stores.Insert && d.Entity == e && d.Key == p.key {
			c = d
		}
	}
	if c == nil {
		all = append(all, planned(p.entity, stores.Change{Op: p.op, Entity: e, Key: p.key, Before: p.before.Values, Marks: p.before.Marks,
			Set: make([]stores.Assign, 0, len(p.set)), Guard: make([]int, 0, len(p.set)+len(p.stood))}))
		c = &all[len(all)-1]
		c.forgets = p.forgets
		if p.op == stores.Delete {
			for i, v := range p.before.Values {
				if c.Guard = append(c.Guard, i); i != e.Key && !v.IsNull() {
					c.row.Fields = append(c.row.Fields, c.field(assignment{field: i}))
				}
			}
		}
	} else if c.Op != p.op {
		return nil, &Failure{Err: fmt.Errorf("%s would both change and delete one row of %s", st.verb.Name, e.Name)}
	}
	for _, a := range p.set {
		if stores.Equal(a.value, p.before.Values[a.field]) && !vouches(a, p.before.Marks) && !a.back {
			if slices.ContainsFunc(c.Set, func(b stores.Assign) bool { return b.Field == a.field }) {
				return nil, contradiction(st, e, a.field)
			}
			continue
		}
		var err error
		if a.value, err = acceptValue(st, p, a); err != nil {
			return nil, err
		}
		if by, ok := p.entity.CountryField(a.field); ok {
			c.guard(by)
		}
		if err := follows(st, p.entity, a, p.before.Values[a.field]); err != nil {
			return nil, err
		}
		at, found := slices.BinarySearchFunc(c.Set, a.field, func(b stores.Assign, field int) int { return b.Field - field })
		if found {
			if !stores.Equal(c.Set[at].Value, a.value) {
				return nil, contradiction(st, e, a.field)
			}
			// A value that was computed twice has the less trusted origin of the two.
			came := a.came
			if was := c.row.Fields[at].Origin; was != "" {
				came = came.Mix(verbs.Stored(was))
			}
			c.Set[at].Origin, c.row.Fields[at].Origin = came.Mark(), came.String()
			continue
		}
		c.Set = slices.Insert(c.Set, at, stores.Assign{Field: a.field, Value: a.value, Origin: a.came.Mark()})
		c.row.Fields = slices.Insert(c.row.Fields, at, c.field(a))
		c.guard(a.field)
	}
	for _, f := range p.stood {
		c.guard(f)
	}
	return all, rely(c, st, others)
}

// follows refuses a code that may not follow the code in the field, if the palette declares which
// codes may.
func follows(st *step, e *verbs.Entity, a assignment, before stores.Value) error {
	t := e.Fields[a.field].Type
	if t.Codes == nil || before.IsNull() || stores.Equal(before, a.value) {
		return nil
	}
	if declared, may := t.Codes.Steps(before.Text(), a.value.Text()); declared && !may {
		return &callError{st.call.index, noStep(st.call.place, st.verb.Name, e.Store.Name, e.Store.Fields[a.field].Name, before.Text(), a.value.Text(), t.Codes.Else(before.Text()))}
	}
	return nil
}

// duplicateText returns the palette's sentence about duplicate rows, "" unless it is the same for all
// changes that could have met a duplicate.
func duplicateText(st *step) string {
	says := ""
	for i := range st.out.changes {
		e := st.out.changes[i].entity
		switch {
		case len(e.Store.Unique) == 0 || st.out.changes[i].Op == stores.Delete:
		case says != "" && says != e.Twice, e.Twice == "":
			return ""
		default:
			says = e.Twice
		}
	}
	return says
}

// guard makes the change valid only while a field keeps its value.
func (c *change) guard(field int) {
	if at, found := slices.BinarySearch(c.Guard, field); !found {
		c.Guard = slices.Insert(c.Guard, at, field)
	}
}

var opNames = [...]string{stores.Insert: receipt.Inserted, stores.Update: receipt.Updated, stores.Delete: receipt.Deleted}

// planned begins a change, with room in the receipt for the fields that it sets.
func planned(e *verbs.Entity, c stores.Change) change {
	return change{entity: e, Change: c, row: receipt.Row{Op: opNames[c.Op], Entity: c.Entity.Name, Table: c.Entity.Table, Key: c.Key, Fields: make([]receipt.Field, 0, cap(c.Set))}}
}

// field makes the receipt's account of one field. It is sensitive if the palette says so, if its value
// is taken from a sensitive argument, or if it is personal and about to be forgotten.
func (c *change) field(a assignment) receipt.Field {
	def := &c.Entity.Fields[a.field]
	f := receipt.Field{Name: def.Name, Column: def.Column, Kind: def.Holds(), Code: def.Codes != nil, After: receipt.Of(a.value),
		Sensitive: a.sensitive || def.Sensitive || c.forgets && def.Personal, From: a.from, Origin: a.came.String()}
	if c.Before != nil {
		f.Before.Value = c.Before[a.field]
	}
	if mark := stores.MarkOf(c.Marks, a.field); mark != "" {
		f.Was = verbs.Stored(mark).Mark()
	}
	return f
}

func contradiction(st *step, e *stores.Entity, field int) error {
	return &Failure{Err: fmt.Errorf("%s gives %s of one row of %s two values", st.verb.Name, e.Fields[field].Name, e.Name)}
}

// filled returns the greatest number of fields of a new row that hold a value.
func filled(e *stores.Entity, set []assignment) int {
	n := len(set)
	for i := range e.Fields {
		if !e.Fields[i].Default.IsNull() {
			n++
		}
	}
	return n
}

// insertRow makes the change that adds a row. It makes up a key unless one was given, and writes out
// the defaults of fields that were left out, so that a person who agrees sees them.
func insertRow(r *source, st *step, p *rowChange) (change, error) {
	e := p.entity.Store
	c := planned(p.entity, stores.Change{Op: stores.Insert, Entity: e, Key: p.key, Set: make([]stores.Assign, 0, filled(e, p.set))})
	for i := range e.Fields {
		f := &e.Fields[i]
		a := assignment{field: i, value: f.Default, from: "default"}
		for _, b := range p.set {
			if b.field == i {
				a = b
			}
		}
		if i == e.Key {
			if !a.value.IsNull() {
				c.Key = a.value
				c.row.Key, c.row.Given = a.value, []receipt.Field{c.field(a)}
			}
			continue
		}
		if f.Computed {
			continue
		}
		var err error
		if a.value, err = acceptValue(st, p, a); err != nil {
			return c, err
		}
		if a.value.IsNull() && f.Default.IsNull() {
			continue
		}
		c.Set = append(c.Set, stores.Assign{Field: i, Value: a.value, Origin: a.came.Mark()})
		c.row.Fields = append(c.row.Fields, c.field(a))
	}
	if len(e.Parts) > 0 {
		parts := make([]stores.Value, len(e.Parts))
		for i, f := range e.Parts {
			at := c.At(f)
			if at < 0 {
				return c, st.refuse("value-needed", st.verb.Name, e.Name, e.Fields[f].Name)
			}
			parts[i] = c.Set[at].Value
		}
		c.Key = stores.NewKey(parts...)
	}
	if c.Key.IsNull() {
		var err error
		if c.Key, err = newKey(r, e); err != nil {
			return c, err
		}
	}
	c.row.Key = c.Key
	isNew(r, e, c.Key)
	return c, nil
}

// acceptValue checks a value against the type of its field, wherever the value comes from: arguments
// have limits of their own, and computed values have none. A store would refuse such a value
// without saying why, or round it.
func acceptValue(st *step, p *rowChange, a assignment) (stores.Value, error) {
	entity, e := p.entity, p.entity.Store
	f := &e.Fields[a.field]
	if f.Required && a.value.IsNull() {
		return a.value, st.refuse("value-needed", st.verb.Name, e.Name, f.Name)
	}
	t := entity.Fields[a.field].Type
	if by, ok := entity.CountryField(a.field); ok {
		t = t.In(p.holds(by))
	}
	v, err := t.Accept(a.value)
	if err != nil {
		return v, st.refuse("not-accepted/field", st.verb.Name, e.Name, f.Name, err.Error())
	}
	return v, nil
}

// holds returns the value that a field has once the row is changed.
func (p *rowChange) holds(field int) stores.Value {
	for _, a := range p.set {
		if a.field == field {
			return a.value
		}
	}
	if field < len(p.before.Values) {
		return p.before.Values[field]
	}
	return p.entity.Store.Fields[field].Default
}

// isNew notes that the run adds a row. The digest uses a description in place of a key that the
// database numbers, but only for this row: elsewhere the same number has its usual meaning.
func isNew(r *source, e *stores.Entity, key stores.Value) {
	if r.draft.added == nil {
		r.draft.added = make(map[view.RowKey]bool)
	}
	r.draft.added[view.RowKey{Entity: e, Key: key}] = true
	if key.Kind() != stores.UUID && (e.Fields[e.Key].Drawn || len(e.Parts) > 0) { // the parts stand in fields
		r.draft.alias[stores.NewRow(e.Name, key)] = fmt.Sprintf("new %d", r.draft.made+len(r.draft.added))
	}
}

// drawnBy is the source that the receipt names for a value that the database makes.
const drawnBy = "database"

// drawValues lets the database make those values of new rows that only it can make: keys, and fields that
// nothing sets.
func drawValues(ctx context.Context, r *source, rowChanges []rowChange) (err error) {
	for i := range rowChanges {
		p := &rowChanges[i]
		e := p.entity.Store
		if p.op != stores.Insert {
			continue
		}
		for f := range e.Fields {
			if !e.Fields[f].Drawn || slices.ContainsFunc(p.set, func(a assignment) bool { return a.field == f && !a.value.IsNull() }) {
				continue
			}
			if f == e.Key {
				if p.key.IsNull() {
					p.key, err = r.read.Draw(ctx, e, f)
				}
			} else {
				a := assignment{field: f, from: drawnBy, came: ofRecord}
				a.value, err = r.read.Draw(ctx, e, f)
				if k := a.value.Kind(); k == stores.Time || k == stores.UUID {
					r.draft.alias[a.value] = "drawn" // another each time: now(), gen_random_uuid()
				}
				p.set = slices.DeleteFunc(slices.Clone(p.set), func(b assignment) bool { return b.field == f })
				p.set = append(p.set, a)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// newKey makes up the key of a new row.
func newKey(r *source, e *stores.Entity) (stores.Value, error) {
	text := r.e.opt.NewID()
	kind := e.Fields[e.Key].Kind
	key, ok := stores.Parse(kind, text)
	if !ok {
		return stores.Value{}, &Failure{Err: fmt.Errorf("the key of %s is a %s, which cannot be made up: set it", e.Name, kind)}
	}
	r.draft.alias[key] = fmt.Sprintf("new %d", r.draft.made+len(r.draft.added)+1)
	return key, nil
}
