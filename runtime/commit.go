package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// apply turns settled proposals into changes and hands them to the
// transaction, so that the calls that follow see them. Proposals for one row
// become one change, and what would set a value that is there already becomes
// none.
func (r *run) apply(ctx context.Context, st *step, proposals []proposal) error {
	for i := range proposals {
		if err := r.join(st, &proposals[i]); err != nil {
			return err
		}
	}
	st.changes = slices.DeleteFunc(st.changes, func(c change) bool { return c.Op == stores.Update && len(c.Set) == 0 })
	if len(st.changes) == 0 {
		return nil
	}
	if r.tx == nil {
		return &Failure{Err: fmt.Errorf("%s was taken for a verb that only reads", st.verb.Name)}
	}
	batch := make([]stores.Change, len(st.changes))
	for i := range st.changes {
		c := &st.changes[i]
		if c.Op != stores.Insert {
			row, err := r.nameRow(ctx, c.entity, c.Key)
			if err != nil {
				return err
			}
			if c.row.Label = row.Label; row.Name != "" {
				c.row.Name = "@" + row.Name
			}
		}
		if err := r.meet(ctx, &c.Change); err != nil {
			return err
		}
		batch[i] = c.Change
	}
	if err := r.still(st); err != nil {
		return err
	}
	return r.change(ctx, batch)
}

// join adds a proposal to the changes of a call.
func (r *run) join(st *step, p *proposal) error {
	e := p.entity.Store
	if p.op == stores.Insert {
		return r.insert(st, p)
	}
	var c *change
	for i := range st.changes {
		if d := &st.changes[i]; d.Op != stores.Insert && d.Entity == e && d.Key == p.key {
			c = d
		}
	}
	if c == nil {
		st.changes = append(st.changes, planned(p.entity, stores.Change{Op: p.op, Entity: e, Key: p.key, Before: p.before.Values, Marks: p.before.Marks,
			Set: make([]stores.Assign, 0, len(p.set)), Guard: make([]int, 0, len(p.set)+len(p.stood))}))
		c = &st.changes[len(st.changes)-1]
		if p.op == stores.Delete {
			for i, v := range p.before.Values {
				if c.Guard = append(c.Guard, i); i != e.Key && !v.IsNull() {
					c.row.Fields = append(c.row.Fields, c.field(assigned{field: i}))
				}
			}
		}
	} else if c.Op != p.op {
		return &Failure{Err: fmt.Errorf("%s would both change and delete one row of %s", st.verb.Name, e.Name)}
	}
	for _, a := range p.set {
		if stores.Equal(a.value, p.before.Values[a.field]) && !vouches(a, p.before.Marks) {
			if slices.ContainsFunc(c.Set, func(b stores.Assign) bool { return b.Field == a.field }) {
				return contradiction(st, e, a.field)
			}
			continue
		}
		var err error
		if a.value, err = r.accept(st, p.entity, a); err != nil {
			return err
		}
		if err := follows(st, p.entity, a, p.before.Values[a.field]); err != nil {
			return err
		}
		at, found := slices.BinarySearchFunc(c.Set, a.field, func(b stores.Assign, field int) int { return b.Field - field })
		if found {
			if !stores.Equal(c.Set[at].Value, a.value) {
				return contradiction(st, e, a.field)
			}
			// One value, worked out twice, is trusted as the lesser of the two.
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
	return r.rely(c, st)
}

// follows refuses a code that does not follow the one that a field holds, where
// the palette says which do.
func follows(st *step, e *verbs.Entity, a assigned, before stores.Value) error {
	t := e.Fields[a.field].Type
	if t.Codes == nil || before.IsNull() || stores.Equal(before, a.value) {
		return nil
	}
	if declared, may := t.Codes.Steps(before.Text(), a.value.Text()); declared && !may {
		return &complaint{st.index, noStep(st.place, st.verb.Name, e.Store.Name, e.Store.Fields[a.field].Name, before.Text(), a.value.Text(), t.Codes.Else(before.Text()))}
	}
	return nil
}

// twice is what the palette says of rows that are the same, where it is clear which
// rows a store means.
func twice(st *step) string {
	says := ""
	for i := range st.changes {
		e := st.changes[i].entity
		switch {
		case len(e.Store.Unique) == 0 || st.changes[i].Op == stores.Delete:
		case says != "" && says != e.Twice, e.Twice == "":
			return ""
		default:
			says = e.Twice
		}
	}
	return says
}

// guard makes the change hold only while a field is what it was.
func (c *change) guard(field int) {
	if at, found := slices.BinarySearch(c.Guard, field); !found {
		c.Guard = slices.Insert(c.Guard, at, field)
	}
}

var opNames = [...]string{stores.Insert: receipt.Inserted, stores.Update: receipt.Updated, stores.Delete: receipt.Deleted}

// planned begins to tell of a change that has room for what it sets.
func planned(e *verbs.Entity, c stores.Change) change {
	return change{entity: e, Change: c, row: receipt.Row{Op: opNames[c.Op], Entity: c.Entity.Name, Table: c.Entity.Table, Key: c.Key, Fields: make([]receipt.Field, 0, cap(c.Set))}}
}

// field tells of one field. It is sensitive when the palette says so, or when its
// value is taken from an argument that is.
func (c *change) field(a assigned) receipt.Field {
	def := &c.Entity.Fields[a.field]
	f := receipt.Field{Name: def.Name, Column: def.Column, Kind: def.Holds(), Code: def.Codes != nil, After: receipt.Of(a.value),
		Sensitive: a.sensitive || def.Sensitive, From: a.from, Origin: a.came.String()}
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

// insert adds a row, with a key of its own unless one was given, and with the
// defaults of the fields that were left out written down: a person who agrees
// sees them.
func (r *run) insert(st *step, p *proposal) error {
	e := p.entity.Store
	c := planned(p.entity, stores.Change{Op: stores.Insert, Entity: e, Key: p.key, Set: make([]stores.Assign, 0, len(e.Fields))})
	for i := range e.Fields {
		f := &e.Fields[i]
		a := assigned{field: i, value: f.Default, from: "default"}
		for _, b := range p.set {
			if b.field == i {
				a = b
			}
		}
		if i == e.Key {
			if !a.value.IsNull() {
				c.Key = a.value
			}
			continue
		}
		var err error
		if a.value, err = r.accept(st, p.entity, a); err != nil {
			return err
		}
		if a.value.IsNull() {
			continue
		}
		c.Set = append(c.Set, stores.Assign{Field: i, Value: a.value, Origin: a.came.Mark()})
		c.row.Fields = append(c.row.Fields, c.field(a))
	}
	if c.Key.IsNull() {
		var err error
		if c.Key, err = r.newKey(e); err != nil {
			return err
		}
	}
	c.row.Key = c.Key
	r.added[c.Key] = e.Name
	st.changes = append(st.changes, c)
	return nil
}

// accept holds a value to what its field can hold, wherever it comes from: an
// argument has limits of its own, and what is reckoned has none. A store would
// refuse it without saying why, or round it.
func (r *run) accept(st *step, entity *verbs.Entity, a assigned) (stores.Value, error) {
	e := entity.Store
	f := &e.Fields[a.field]
	if f.Required && a.value.IsNull() {
		return a.value, &complaint{st.index, valueNeeded(st.place, st.verb.Name, e.Name, f.Name)}
	}
	v, err := entity.Fields[a.field].Type.Accept(a.value)
	if err != nil {
		return v, &complaint{st.index, notHeld(st.place, st.verb.Name, e.Name, f.Name, err.Error())}
	}
	return v, nil
}

// newKey makes up the key of a new row.
func (r *run) newKey(e *stores.Entity) (stores.Value, error) {
	text := r.e.newID()
	kind := e.Fields[e.Key].Kind
	key, ok := stores.Parse(kind, text)
	if !ok {
		return stores.Value{}, &Failure{Err: fmt.Errorf("the key of %s is a %s, which cannot be made up: set it", e.Name, kind)}
	}
	made := len(r.added) + 1
	if r.share != nil {
		made += r.share.made
	}
	r.alias[key] = fmt.Sprintf("new %d", made)
	return key, nil
}

// mapError turns what a store says into what a person is told.
func (r *run) mapError(st *step, err error) error {
	var c *complaint
	var refusal *Refusal
	var promise *BrokenPromise
	var failed *Failure
	var e *errand
	switch {
	case errors.As(err, &e):
		return err
	case errors.As(err, &c):
		if c.call < 0 { // of a handler, which knows nothing of calls
			c = &complaint{st.index, c.diagnostic}
			c.diagnostic.Place = st.place
		}
		return c
	case errors.As(err, &refusal), errors.As(err, &promise), errors.As(err, &failed):
		return err
	case errors.Is(err, verbs.ErrAbsent):
		return &complaint{st.index, cannotWorkOut(st.place, st.verb.Name)}
	case errors.Is(err, verbs.ErrRange), errors.Is(err, verbs.ErrZero):
		return &complaint{st.index, leadsOutOfRange(st.place, st.verb.Name)}
	case errors.Is(err, stores.ErrConflict):
		return err // the whole run may be tried again
	case errors.Is(err, stores.ErrNotFound):
		// A row that it would touch is not there, or not theirs.
		return &complaint{st.index, notReached(st.place, st.verb.Name)}
	case errors.Is(err, stores.ErrReadOnly):
		return &complaint{st.index, onlyForReading(st.place, st.verb.Name)}
	case errors.Is(err, stores.ErrDuplicate):
		return &complaint{st.index, alreadyExists(st.place, st.verb.Name, twice(st))}
	case errors.Is(err, stores.ErrInvalid):
		return &complaint{st.index, notAccepted(st.place, st.verb.Name)}
	case errors.Is(err, stores.ErrLimit):
		return &complaint{st.index, tooMuch(st.place, st.verb.Name)}
	}
	return &Failure{Err: fmt.Errorf("%s: %w", st.verb.Name, err)}
}

// row returns the row that a call gave: one that it added or changed, of the
// wanted entity if that is known, or the one that it read.
func (st *step) row(r *run, want *verbs.Entity) (*verbs.Entity, stores.Value, bool) {
	fits := func(e *verbs.Entity) bool { return want == nil || e == want }
	all := st.gather().changes
	for i := range all {
		if c := &all[i]; c.Op == stores.Insert && fits(c.entity) {
			return c.entity, c.Key, true
		}
	}
	for i := range all {
		if c := &all[i]; c.Op == stores.Update && fits(c.entity) {
			return c.entity, c.Key, true
		}
	}
	if t := st.cells; t != nil && t.entity != nil && len(t.keys) == 1 && fits(t.entity) {
		return t.entity, t.keys[0], true
	}
	// A change that set what was there already is still about its row.
	for i := range st.verb.Effects {
		if e := &st.verb.Effects[i]; onRows(e) && e.Where != nil && e.Where.Filter == nil && fits(e.Entity) {
			if row := st.rows[e.Where.Param]; row.Entity != nil {
				return e.Entity, row.Key(), true
			}
		}
	}
	return nil, stores.Value{}, false
}

// isStoreError reports whether a store, and not an expression, failed.
func isStoreError(err error) bool {
	var x *evalError
	return !errors.As(err, &x)
}
