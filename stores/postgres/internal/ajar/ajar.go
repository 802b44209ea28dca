// Package ajar lets a test open a store that leaves the engine's own scope condition out, to see
// that row-level security suffices alone. It is internal, so that only pgtest, which only tests
// use, can import it.
package ajar

import "context"

type key struct{}

// Open marks a context: a store that is opened in it leaves the condition out.
func Open(ctx context.Context) context.Context { return context.WithValue(ctx, key{}, true) }

// In reports whether a context is marked.
func In(ctx context.Context) bool { return ctx.Value(key{}) != nil }
