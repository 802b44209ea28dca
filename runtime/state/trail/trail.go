// Package trail finds entries of the journal by who made them, by verb, by time, and by the row that they
// changed. It keeps an index of the journal in a table of its own, which follows the journal and can be
// made anew from it at any time:
//
//	_, err := trail.Follow(ctx, store, 1000)
//	found, err := trail.Find(ctx, store, trail.Filter{Entity: "order", Key: key, Limit: 50})
package trail

import (
	"context"
	"errors"
	"strconv"
	"time"

	"verbatim/stores"
	"verbatim/stores/journal"
)

// The fields of the index. An entry has a row for each row that it changed, and at least one.
const (
	fieldID = iota
	fieldEntry
	fieldFirst // it is the first row of its entry
	fieldTime
	fieldPrincipal
	fieldVerb
	fieldEntity // null if the entry changed nothing
	fieldKey
	fieldPlace // null of entries that were indexed when places were numbers
)

// Entity is the entity of the index.
var Entity = &stores.Entity{
	Name:    "verbatim.trail",
	Table:   "verbatim.trail",
	Managed: true,
	Place:   "the engine's own",
	Key:     fieldID,
	Fields: []stores.Field{
		fieldID:        {Name: "id", Column: "id", Kind: stores.String, Required: true},
		fieldEntry:     {Name: "entry", Column: "entry", Kind: stores.Int, Required: true},
		fieldFirst:     {Name: "first", Column: "is_first", Kind: stores.Bool, Required: true},
		fieldTime:      {Name: "time", Column: "time", Kind: stores.Time, Required: true},
		fieldPrincipal: {Name: "principal", Column: "principal", Kind: stores.String, Required: true},
		fieldVerb:      {Name: "verb", Column: "verb", Kind: stores.String, Required: true},
		fieldEntity:    {Name: "entity", Column: "entity", Kind: stores.String},
		fieldKey:       {Name: "row", Column: "row_key", Kind: stores.String},
		fieldPlace:     {Name: "place", Column: "place", Kind: stores.Int},
	},
	// Each index holds all that a page of Find asks for, in its order: otherwise SQLite reads the whole
	// table and sorts it.
	Found: [][]int{{fieldEntry, fieldID}, {fieldFirst, fieldEntry, fieldID}, {fieldPrincipal, fieldFirst, fieldEntry, fieldID}, {fieldVerb, fieldFirst, fieldEntry, fieldID}, {fieldTime}, {fieldPlace, fieldID},
		{fieldKey, fieldEntity, fieldEntry, fieldID}},
}

var all = stores.Scope{All: true}

// piece is how many entries are read at once.
const piece = 200

// Follow indexes at most n entries that were added to the journal since, and reports whether the index
// has all of them. It follows places, so that it misses none that is committed late. Several processes
// may call it at once.
func Follow(ctx context.Context, s stores.Store, n int) (whole bool, err error) {
	if err := s.Seal(ctx); err != nil {
		return false, err
	}
	for done := 0; done < n; done += piece {
		last, err := latest(ctx, s)
		if err != nil {
			return false, err
		}
		entries, err := s.Placed(ctx, last+1, last+piece)
		if err != nil || len(entries) == 0 {
			return err == nil, err
		}
		b := stores.Batch{}
		for i := range entries {
			b.Changes = append(b.Changes, indexed(&entries[i])...)
		}
		err = s.Update(ctx, all, func(tx stores.Tx) error { return tx.Apply(ctx, b) })
		if errors.Is(err, stores.ErrDuplicate) || errors.Is(err, stores.ErrConflict) {
			continue // another process did it
		}
		if err != nil {
			return false, err
		}
	}
	last, err := latest(ctx, s)
	if err != nil {
		return false, err
	}
	head, _, err := s.Head(ctx)
	return last >= head, err
}

// latest returns the place of the last entry that is indexed.
func latest(ctx context.Context, s stores.Store) (n int64, err error) {
	err = s.View(ctx, all, func(r stores.Reader) error {
		for _, field := range [...]int{fieldPlace, fieldEntry} {
			rows, err := r.Find(ctx, stores.Find{Entity: Entity, Select: []stores.Path{{Field: field}}, Limit: 1, Cut: true, Last: field == fieldEntry,
				Order: []stores.Order{{Path: stores.Path{Field: field}, Desc: true}}})
			if err != nil || len(rows) == 0 {
				return err
			}
			if !rows[0][0].IsNull() {
				n = rows[0][0].Int()
				return nil
			}
		}
		return nil
	})
	return n, err
}

// indexed returns the rows of an entry.
func indexed(e *stores.Entry) (all []stores.Change) {
	record, err := journal.Parse(e.Changes)
	rows := make(map[journal.Row]bool)
	add := func(entity string, key stores.Value) {
		at := journal.Row{Entity: entity, Key: key}
		if rows[at] {
			return
		}
		rows[at] = true
		id := stores.NewString(strconv.FormatInt(e.Seq, 10) + " " + strconv.Itoa(len(all)))
		c := stores.Change{Op: stores.Insert, Entity: Entity, Key: id, Set: []stores.Assign{
			{Field: fieldEntry, Value: stores.NewInt(e.Seq)}, {Field: fieldFirst, Value: stores.NewBool(len(all) == 0)}, {Field: fieldTime, Value: stores.NewTime(e.Time)},
			{Field: fieldPrincipal, Value: stores.NewString(e.Principal)}, {Field: fieldVerb, Value: stores.NewString(e.Verb)}}}
		if entity != "" {
			c.Set = append(c.Set, stores.Assign{Field: fieldEntity, Value: stores.NewString(entity)}, stores.Assign{Field: fieldKey, Value: stores.NewString(key.Text())})
		}
		c.Set = append(c.Set, stores.Assign{Field: fieldPlace, Value: stores.NewInt(e.Place)})
		all = append(all, c)
	}
	if err == nil { // an entry that cannot be read is found by who made it
		for i := range record.Rows {
			add(record.Rows[i].Entity, record.Rows[i].Key)
		}
		for _, row := range record.About {
			add(row.Entity, row.Key)
		}
	}
	if len(all) == 0 {
		add("", stores.Value{})
	}
	return all
}

// A Page is a page of entries, the latest first.
type Page struct {
	Entries []stores.Entry
	More    bool // there are earlier ones
	Behind  bool // the index has not reached the end of the journal yet
}

// A Filter says which entries are found; its zero fields limit nothing.
type Filter struct {
	Principals  []string // one of these
	Verb        string
	From, Until time.Time // from the first to before the second
	Entity      string    // with Key: entries that changed this row
	Key         stores.Value
	Before      int64 // entries with lesser numbers
	Limit       int
}

// Find returns the numbers of entries, the latest first, and reports whether there are more.
func Find(ctx context.Context, s stores.Store, f Filter) (found []int64, more bool, err error) {
	where := stores.Cond{Op: stores.And}
	is := func(op stores.CondOp, field int, v stores.Value) {
		where.Kids = append(where.Kids, stores.Cond{Op: op, Path: stores.Path{Field: field}, Value: v})
	}
	if f.Entity == "" {
		is(stores.Eq, fieldFirst, stores.NewBool(true))
	} else {
		is(stores.Eq, fieldKey, stores.NewString(f.Key.Text()))
		is(stores.Eq, fieldEntity, stores.NewString(f.Entity))
	}
	if f.Principals != nil {
		names := make([]stores.Value, len(f.Principals))
		for i, name := range f.Principals {
			names[i] = stores.NewString(name)
		}
		is(stores.In, fieldPrincipal, stores.NewList(names...))
	}
	if f.Verb != "" {
		is(stores.Eq, fieldVerb, stores.NewString(f.Verb))
	}
	if !f.From.IsZero() {
		is(stores.Ge, fieldTime, stores.NewTime(f.From))
	}
	if !f.Until.IsZero() {
		is(stores.Lt, fieldTime, stores.NewTime(f.Until))
	}
	if f.Before > 0 {
		is(stores.Lt, fieldEntry, stores.NewInt(f.Before))
	}
	err = s.View(ctx, all, func(r stores.Reader) error {
		rows, err := r.Find(ctx, stores.Find{Entity: Entity, Select: []stores.Path{{Field: fieldEntry}}, Where: &where, Limit: f.Limit + 1, Cut: true, Last: true,
			Order: []stores.Order{{Path: stores.Path{Field: fieldEntry}, Desc: true}}})
		found = nil
		for _, row := range rows {
			found = append(found, row[0].Int())
		}
		return err
	})
	if len(found) > f.Limit {
		return found[:f.Limit], true, err
	}
	return found, false, err
}
