package stores

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Holds returns the kind of value that the field takes; for a reference, the kind of the key that
// it refers to.
func (f *Field) Holds() Kind {
	if f.Ref != nil {
		return f.Ref.Fields[f.Ref.Key].Kind
	}
	return f.Kind
}

// check reports whether the field takes v. The error wraps ErrInvalid and never
// shows the value, which may be secret.
func (e *Entity) check(field int, v Value) error {
	f := &e.Fields[field]
	refuse := func(why string) error {
		return fmt.Errorf("%s.%s %s: %w", e.Name, f.Name, why, ErrInvalid)
	}
	if v.IsNull() {
		if f.Required || field == e.Key {
			return refuse("needs a value")
		}
		return nil
	}
	kind := f.Holds()
	if v.Kind() != kind && !(kind == Decimal && v.Kind() == Int) {
		return refuse(fmt.Sprintf("takes a %s, not a %s", kind, v.Kind()))
	}
	switch kind {
	case String:
		// PostgreSQL stores neither, so no backend does.
		if s := v.Text(); !utf8.ValidString(s) || strings.IndexByte(s, 0) >= 0 {
			return refuse("takes text that is UTF-8 and has no zero byte")
		}
		if f.Codes != nil && !slices.Contains(f.Codes, v.Text()) {
			return refuse("takes a code of its list")
		}
	case Date, Time:
		if y := v.Time().Year(); y < minYear || y > maxYear {
			return refuse("takes years from 1 to 9999")
		}
	}
	return nil
}

// Insert returns the change that inserts a row with these values, one for each field.
func (e *Entity) Insert(row ...Value) Change {
	c := Change{Op: Insert, Entity: e, Key: row[e.Key]}
	for f, v := range row {
		if f != e.Key {
			c.Set = append(c.Set, Assign{Field: f, Value: v})
		}
	}
	return c
}

// Grace is how long storing, and taking leave of a database, may take once the deadline of whoever waits
// for it has passed.
const Grace = 300 * time.Millisecond

// Detached makes a context for what has to be stored or ended even if ctx has ended. It cannot be
// cancelled, and ends Grace after the deadline of ctx, or after half a minute: nobody waits for a line
// that is dead.
func Detached(ctx context.Context) (context.Context, context.CancelFunc) {
	wait := 30 * time.Second
	if at, ok := ctx.Deadline(); ok {
		wait = min(wait, max(0, time.Until(at))+Grace)
	}
	return context.WithTimeout(context.WithoutCancel(ctx), wait)
}

// Insist calls Update up to five times while it fails with ErrConflict or ErrDuplicate, that is
// because of somebody else's change. It waits two milliseconds longer each time, and stops when
// ctx ends.
func Insist(ctx context.Context, s Store, scope Scope, fn func(Tx) error) (err error) {
	for n := range 5 {
		if err = s.Update(ctx, scope, fn); ctx.Err() != nil || !errors.Is(err, ErrConflict) && !errors.Is(err, ErrDuplicate) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(time.Duration(n+1) * 2 * time.Millisecond):
		}
	}
	return err
}

// Prepare checks a change against its entity and returns it as backends carry it out. For an
// Insert, Set then names every field with a column that we set, the key and defaults included;
// for an Update, it names no field twice. The values are in the form that columns store. The
// error wraps ErrInvalid.
func (c Change) Prepare() (Change, error) {
	e := c.Entity
	if err := e.check(e.Key, c.Key); err != nil {
		return c, err
	}
	last := -1
	for _, a := range c.Set {
		if a.Field <= last || a.Field >= len(e.Fields) {
			return c, fmt.Errorf("%s: fields are set out of order or twice: %w", e.Name, ErrInvalid)
		}
		last = a.Field
	}
	switch c.Op {
	case Insert:
		set := make([]Assign, len(e.Fields))
		for i := range e.Fields {
			set[i] = Assign{Field: i, Value: e.Fields[i].Default}
		}
		set[e.Key].Value = c.Key
		for _, a := range c.Set {
			if a.Field == e.Key && a.Value != c.Key {
				return c, fmt.Errorf("%s: two keys for one row: %w", e.Name, ErrInvalid)
			}
			set[a.Field].Value, set[a.Field].Origin = a.Value, a.Origin
		}
		if len(e.Parts) > 0 {
			parts := make([]Value, len(e.Parts))
			for i, f := range e.Parts {
				parts[i] = set[f].Value
			}
			if NewKey(parts...) != c.Key {
				return c, fmt.Errorf("%s: a key that is not made of its parts: %w", e.Name, ErrInvalid)
			}
		}
		// Fields without a column, and fields that only the database sets, are not set.
		c.Set = slices.DeleteFunc(set, func(a Assign) bool {
			return e.Fields[a.Field].Computed || a.Field == e.Key && len(e.Parts) > 0
		})
	case Update:
		if len(c.Set) == 0 {
			return c, fmt.Errorf("%s: an update that sets nothing: %w", e.Name, ErrInvalid)
		}
		for _, a := range c.Set {
			// A key names the row in journals and in other rows; it stays.
			if a.Field == e.Key || slices.Contains(e.Parts, a.Field) {
				return c, fmt.Errorf("%s: a key cannot be changed: %w", e.Name, ErrInvalid)
			}
			if e.Fields[a.Field].Computed {
				return c, fmt.Errorf("%s.%s is given by the database: %w", e.Name, e.Fields[a.Field].Name, ErrInvalid)
			}
		}
	case Delete:
		if len(c.Set) != 0 {
			return c, fmt.Errorf("%s: a delete that sets fields: %w", e.Name, ErrInvalid)
		}
	}
	for _, a := range c.Set {
		if err := e.check(a.Field, a.Value); err != nil {
			return c, err
		}
	}
	if err := c.checkMarks(); err != nil {
		return c, err
	}
	if err := c.stored(); err != nil {
		return c, err
	}
	if n := c.Number; n != 0 && (c.Op != Insert || n < 0 || n >= len(e.Fields) || n == e.Key || e.Fields[n].Ref != nil || e.Fields[n].Kind != Int || !c.Set[n].Value.IsNull()) {
		return c, fmt.Errorf("%s: a number of the journal goes into an integer of a new row that nothing else sets: %w", e.Name, ErrInvalid)
	}
	for _, g := range c.Guard {
		if g < 0 || g >= len(e.Fields) || g >= len(c.Before) {
			return c, fmt.Errorf("%s: a guard without its value: %w", e.Name, ErrInvalid)
		}
	}
	return c, nil
}

// Vouches reports whether a caller who sees a row of e also sees the row that its reference field
// refers to, because e's own scope path goes that way.
func (e *Entity) Vouches(field int) bool {
	if len(e.Scope) == 0 || e.Scope[0].Field != field || e.Scope[0].To == nil {
		return false
	}
	to, rest := e.Scope[0].To, e.Scope[1:]
	if to.Access != e.Access || len(to.Scope) != len(rest) {
		return false
	}
	for i := range rest {
		if to.Scope[i].Field != rest[i].Field || to.Scope[i].To != rest[i].To {
			return false
		}
	}
	return e.Access == ByPath || len(rest) > 0
}

// Hides returns how many steps of the scope path lead to the farthest row that can hide this one:
// 0 if only the row itself can, -1 if none can.
func (e *Entity) Hides() int {
	far := -1
	if len(e.Visible) > 0 {
		far = 0
	}
	for i, step := range e.Scope {
		if step.To != nil && len(step.To.Visible) > 0 {
			far = i + 1
		}
	}
	return far
}

var (
	escapePart   = strings.NewReplacer("~", "~0", "/", "~1")
	unescapePart = strings.NewReplacer("~1", "/", "~0", "~")
)

// NewKey makes one key from its parts. It returns null if one of them is null.
func NewKey(parts ...Value) Value {
	texts := make([]string, len(parts))
	for i, p := range parts {
		if p.IsNull() {
			return Value{}
		}
		texts[i] = escapePart.Replace(p.Text())
	}
	return NewString(strings.Join(texts, "/"))
}

// PartsOf splits a key of the entity into the values of its parts; a key without parts is
// returned alone. ok is false if the value is no key of the entity.
func (e *Entity) PartsOf(key Value) (parts []Value, ok bool) {
	if len(e.Parts) == 0 {
		return []Value{key}, true
	}
	texts := strings.Split(key.Text(), "/")
	if key.Kind() != String || len(texts) != len(e.Parts) {
		return nil, false
	}
	parts = make([]Value, len(texts))
	for i, text := range texts {
		if parts[i], ok = Parse(e.Fields[e.Parts[i]].Holds(), unescapePart.Replace(text)); !ok {
			return nil, false
		}
	}
	return parts, true
}

// KeyFields returns the fields that identify a row: the key, or its parts.
func (e *Entity) KeyFields() []int {
	if len(e.Parts) > 0 {
		return e.Parts
	}
	return []int{e.Key}
}

// At returns the index of a field in c.Set, -1 if it is not set.
func (c *Change) At(field int) int {
	for i := range c.Set {
		if c.Set[i].Field == field {
			return i
		}
	}
	return -1
}

// NewRow stands for the key of a new row, among values that are compared between plans: a number
// that a database generates may be different in each plan.
func NewRow(entity string, key Value) Value {
	return NewString("row\x00" + entity + "\x00" + key.Text())
}
