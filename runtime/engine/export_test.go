package engine

import (
	"context"
	"reflect"

	"verbatim/dsl"
	"verbatim/runtime/internal/view"
	"verbatim/runtime/state/names"
	"verbatim/stores"
)

// AtOnce makes an engine read whatever it needs when it needs it, and hand over
// each change as it is made.
func AtOnce(e *Engine) { e.open = view.Direct }

// HandleAs registers a handler whose arguments are known only when the test
// runs, so that one test can stand in for every verb of a palette.
func HandleAs(h *Handlers, verb string, args reflect.Type, fn func(ctx context.Context, c *Call) (Outcome, error)) {
	h.list = append(h.list, &handler{verb: verb, args: args, call: func(ctx context.Context, c *Call, _ reflect.Value) (Outcome, error) {
		return fn(ctx, c)
	}})
}

// NameOf returns what a session calls a row, and its label.
func NameOf(ctx context.Context, s *Session, entity string, key stores.Value) (name, label string) {
	e := s.e.reg.Entity(entity)
	err := s.e.store.View(ctx, s.scope, func(r stores.Reader) error { return s.read(ctx, r, e, nil) })
	if err != nil {
		panic(err)
	}
	s.keepNames(ctx)
	row, _ := s.names.Row(e.Store, key)
	return row.Name, row.Label
}

// Knows returns what a session takes for a name, a text or a key of a row that
// a script speaks of.
func Knows(s *Session, script *dsl.Script) func(text string) bool {
	names, err := s.mentionedNames(context.Background(), script)
	if err != nil {
		panic(err)
	}
	return func(text string) bool { return names.Lookup(text) != nil }
}

// Remembered are the names that a session knows of rows of an entity.
func (s *Session) Remembered(entity string) (all []string) {
	s.names.Each(s.e.reg.Entity(entity).Store, func(_ stores.Value, row names.Row) { all = append(all, row.Name) })
	return all
}
