// Package serviceaccount reads and writes rows as the program itself, such as incoming messages, or the
// states of plans. It writes by calls of verbs, which are checked and journalled like those of a
// person.
//
//	c := &serviceaccount.Clerk{Registry: reg, Engine: engine, Store: store, As: "channels", Source: "channel"}
//	d, err := c.Session(ctx)
//	_, err = c.Do(ctx, d, "", serviceaccount.Call("channel.open-inbox", serviceaccount.Word("channel", "MAIL"), serviceaccount.Text("address", at)))
package serviceaccount

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// A Clerk is a principal of the program's own. Its fields are set before it is used and not
// after; it is safe for use by many goroutines.
type Clerk struct {
	Registry *verbs.Registry
	Engine   *engine.Engine
	Store    stores.Store
	As       string // the principal
	Source   string // source of the calls in the journal
}

// Session begins a session of the clerk's.
func (c *Clerk) Session(ctx context.Context) (*engine.Session, error) {
	d, err := c.Engine.Session(ctx, c.As)
	if err != nil {
		return nil, fmt.Errorf("the principal %q, in whose name the program writes, cannot be used: %w", c.As, err)
	}
	return d, nil
}

// Do makes calls in one transaction, with a key once.
func (c *Clerk) Do(ctx context.Context, d *engine.Session, key string, calls ...dsl.Call) (*receipt.Receipt, error) {
	return c.DoFrom(ctx, d, key, nil, calls...)
}

// DoFrom is Do with the origins of the arguments, by their names, that are not the program's own words.
func (c *Clerk) DoFrom(ctx context.Context, d *engine.Session, key string, from map[string]verbs.Origin, calls ...dsl.Call) (*receipt.Receipt, error) {
	var b strings.Builder
	for i := range calls {
		b.WriteString(dsl.FormatCall(&calls[i]) + "\n")
	}
	script, ds := dsl.Parse(dsl.NewSource(c.Source, b.String()))
	if ds.HasErrors() {
		return nil, fmt.Errorf("what a %s stores cannot be said: %s", c.Source, ds[0].Summary)
	}
	if key != "" {
		if done, err := d.Journal().Repeat(ctx, script, key); err != nil || done != nil {
			return done, err
		}
	}
	var said verbs.Literals
	if len(from) > 0 {
		said.Of = func(at dsl.Range) (verbs.Origin, bool) {
			for i := range script.Calls {
				for _, arg := range script.Calls[i].Args {
					if o, ok := from[arg.Key]; ok && arg.Value.Range.Start <= at.Start && at.End <= arg.Value.Range.End {
						return o, true
					}
				}
			}
			return verbs.Origin{}, false
		}
	}
	program, ds := d.Check(ctx, script, engine.CheckOptions{Said: said})
	if program == nil {
		return nil, fmt.Errorf("what a %s stores does not fit its palette: %s", c.Source, ds[0].Summary)
	}
	return d.Run(ctx, program, engine.RunOptions{Source: c.Source, Key: key})
}

// Call makes a call of a verb, without the omitted arguments.
func Call(verb string, args ...dsl.Arg) dsl.Call {
	return dsl.NewCall(verb, slices.DeleteFunc(args, func(a dsl.Arg) bool { return a.Key == "" })...)
}

// Text makes a text argument; "" omits it.
func Text(name, value string) dsl.Arg {
	if value == "" {
		return dsl.Arg{}
	}
	return dsl.NewArg(name, dsl.NewString(value))
}

// Word makes a code argument; "" omits it.
func Word(name, value string) dsl.Arg {
	if value == "" {
		return dsl.Arg{}
	}
	return dsl.NewArg(name, dsl.NewCode(value))
}

// Instant makes a time argument; the zero time omits it.
func Instant(name string, at time.Time) dsl.Arg {
	if at.IsZero() {
		return dsl.Arg{}
	}
	return dsl.NewArg(name, dsl.NewTime(at))
}

// Int makes an integer argument.
func Int(name string, n int64) dsl.Arg { return dsl.NewArg(name, dsl.NewInteger(n)) }

// Name returns the permanent name of the row with a key.
func (c *Clerk) Name(ctx context.Context, d *engine.Session, entity string, key stores.Value) (dsl.Value, error) {
	suffix, err := d.Names().Suffixes(ctx, c.Registry.Entity(entity), key)
	if err != nil {
		return dsl.Value{}, err
	}
	return dsl.NewSymbol(entity + "~" + suffix[0]), nil
}

// Ref makes an argument that names the row with a key; a null key omits it.
func (c *Clerk) Ref(ctx context.Context, d *engine.Session, arg, entity string, key stores.Value) (dsl.Arg, error) {
	if key.IsNull() {
		return dsl.Arg{}, nil
	}
	name, err := c.Name(ctx, d, entity, key)
	return dsl.NewArg(arg, name), err
}

// A Row is one of the palette's, by the names of its fields.
type Row struct {
	Entity *stores.Entity
	Values []stores.Value
	Marks  []stores.Mark
}

// Value returns a field of the row.
func (r *Row) Value(field string) stores.Value { return r.Values[r.Entity.FieldIndex(field)] }

// Text returns a field as text, "" if it is null.
func (r *Row) Text(field string) string { return r.Value(field).Text() }

// Key returns the row's key.
func (r *Row) Key() stores.Value { return r.Values[r.Entity.Key] }

// Find finds a row with some values; nil if there is none.
func (c *Clerk) Find(ctx context.Context, entity string, where map[string]stores.Value) (*Row, error) {
	all, err := c.find(ctx, entity, where, 1)
	if len(all) == 0 {
		return nil, err
	}
	return all[0], err
}

// All finds all rows with some values, with the marks of where their fields come from, in
// the order of their keys.
func (c *Clerk) All(ctx context.Context, entity string, where map[string]stores.Value) ([]*Row, error) {
	return c.find(ctx, entity, where, 0)
}

func (c *Clerk) find(ctx context.Context, entity string, where map[string]stores.Value, limit int) (all []*Row, err error) {
	e := c.Registry.Entity(entity).Store
	f := stores.Find{Entity: e, Limit: limit, Cut: limit > 0, Where: &stores.Cond{Op: stores.And}}
	for i := range e.Fields {
		f.Select = append(f.Select, stores.Path{Field: i})
	}
	f.Select = append(f.Select, stores.Path{Field: e.Key, Marks: true})
	for _, name := range slices.Sorted(maps.Keys(where)) {
		f.Where.Kids = append(f.Where.Kids, stores.Cond{Op: stores.Eq, Path: stores.Path{Field: e.FieldIndex(name)}, Value: where[name]})
	}
	err = c.Store.View(ctx, stores.Scope{All: true}, func(r stores.Reader) error {
		rows, err := r.Find(ctx, f)
		for _, row := range rows {
			marks, failed := stores.ReadMarks(e, row[len(e.Fields)])
			err = errors.Join(err, failed)
			all = append(all, &Row{e, row[:len(e.Fields)], marks})
		}
		return err
	})
	return all, err
}

// Get reads the row with a key; nil if there is none.
func (c *Clerk) Get(ctx context.Context, entity string, key stores.Value) (found *Row, err error) {
	if key.IsNull() {
		return nil, nil
	}
	e := c.Registry.Entity(entity).Store
	err = c.Store.View(ctx, stores.Scope{All: true}, func(r stores.Reader) error {
		at, err := r.Get(ctx, e, key)
		if errors.Is(err, stores.ErrNotFound) {
			return nil
		}
		if err == nil {
			found = &Row{e, at.Values, at.Marks}
		}
		return err
	})
	return found, err
}
