package confidence

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"verbatim/runtime/domains/confidence/modeltest"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/search"
)

// Queries of the graph take the time of race.yaml, and go wrong as it says, in the store and in
// the handler of graph.connections: beneath both agents, and alike for both. What else an agent
// reads, such as names of rows or its own plans, is no query, and neither waits nor fails.

// A graph says how queries go now.
type graph struct {
	faults  atomic.Pointer[modeltest.Faults]
	delay   time.Duration
	timeOut time.Duration
	other   map[string]string // what nonsense is about: see raceData
	queries atomic.Int64
}

var errGraph = errors.New("the graph says that it failed")

// ask waits as a query does, and returns what goes wrong with its answer. A query that times
// out ends when its caller gives up; a caller that never does is given up after the same time.
func (g *graph) ask(ctx context.Context, query string) (modeltest.Fault, error) {
	g.queries.Add(1)
	fault, wait := g.faults.Load().Next(query), g.delay
	if fault == modeltest.TimesOut {
		wait = g.timeOut
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
		return fault, ctx.Err()
	}
	switch fault {
	case modeltest.TimesOut:
		return fault, context.DeadlineExceeded
	case modeltest.Fails:
		return fault, errGraph
	}
	return fault, nil
}

// instead is what nonsense is about where a name is asked for.
func (g *graph) instead(name string) string { return g.other[strings.ToLower(name)] }

// connections is the handler of graph.connections, as a query of the graph.
func (g *graph) connections(ctx context.Context, c *engine.Call, a connectionsArgs) (o engine.Outcome, err error) {
	fault, err := g.ask(ctx, fmt.Sprintf("connections %q %q %d %t", a.From, a.To, a.Hops, a.Parts))
	switch {
	case err != nil:
		return o, err
	case fault == modeltest.Empty:
		return engine.Outcome{Result: &engine.Answer{Columns: []string{"what", "way", "hops", endColumn}}}, nil
	case fault == modeltest.Nonsense:
		a.From, a.To = g.instead(a.From), g.instead(a.To)
	}
	return connections(ctx, c, a)
}

// A graphStore is a store whose searches for a part of a text, and by words, are queries.
type graphStore struct {
	stores.Store
	graph *graph
}

func (s *graphStore) View(ctx context.Context, scope stores.Scope, fn func(stores.Reader) error) error {
	return s.Store.View(ctx, scope, func(r stores.Reader) error { return fn(graphReader{r, s.graph}) })
}

func (s *graphStore) Update(ctx context.Context, scope stores.Scope, fn func(stores.Tx) error) error {
	return s.Store.Update(ctx, scope, func(tx stores.Tx) error { return fn(graphTx{tx, s.graph}) })
}

type graphReader struct {
	stores.Reader
	graph *graph
}

func (r graphReader) Find(ctx context.Context, f stores.Find) ([][]stores.Value, error) {
	return r.graph.find(ctx, r.Reader, f)
}

func (r graphReader) Match(ctx context.Context, m stores.Match) ([]search.Found, bool, error) {
	return r.graph.match(ctx, r.Reader, m)
}

type graphTx struct {
	stores.Tx
	graph *graph
}

func (t graphTx) Find(ctx context.Context, f stores.Find) ([][]stores.Value, error) {
	return t.graph.find(ctx, t.Tx, f)
}

func (t graphTx) Match(ctx context.Context, m stores.Match) ([]search.Found, bool, error) {
	return t.graph.match(ctx, t.Tx, m)
}

func (g *graph) find(ctx context.Context, r stores.Reader, f stores.Find) ([][]stores.Value, error) {
	part := partOf(f.Where)
	if part == "" {
		return r.Find(ctx, f)
	}
	fault, err := g.ask(ctx, f.Entity.Name+" "+part)
	switch {
	case err != nil || fault == modeltest.Empty:
		return nil, err
	case fault == modeltest.Nonsense:
		f.Where = replaced(f.Where, stores.NewString(strings.ToLower(g.instead(part))))
	}
	return r.Find(ctx, f)
}

func (g *graph) match(ctx context.Context, r stores.Reader, m stores.Match) ([]search.Found, bool, error) {
	fault, err := g.ask(ctx, m.Entity.Name+" "+m.Text)
	switch {
	case err != nil || fault == modeltest.Empty:
		return nil, false, err
	case fault == modeltest.Nonsense:
		m.Text = g.instead(m.Text)
	}
	return r.Match(ctx, m)
}

// partOf is the part of a text that a condition looks for; "" where it looks for none.
func partOf(c *stores.Cond) string {
	if c == nil || c.Op == stores.Contains {
		if c != nil {
			return c.Value.Text()
		}
		return ""
	}
	for i := range c.Kids {
		if part := partOf(&c.Kids[i]); part != "" {
			return part
		}
	}
	return ""
}

// replaced is a condition that looks for another part.
func replaced(c *stores.Cond, part stores.Value) *stores.Cond {
	to := *c
	if c.Op == stores.Contains {
		to.Value = part
	}
	to.Kids = make([]stores.Cond, len(c.Kids))
	for i := range c.Kids {
		to.Kids[i] = *replaced(&c.Kids[i], part)
	}
	return &to
}
