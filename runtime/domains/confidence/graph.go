package confidence

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"verbatim/runtime/engine"
)

// A question about how two things are connected goes along links, either way, in breadth.

const (
	things = "thing"
	links  = "link"
	// mostThings is the greatest number of things that one question looks at.
	mostThings = 2000
	// mostWays is the greatest number of ways in an answer.
	mostWays = 20
)

// RegisterGraph registers the verb graph.connections, over things and the links between them.
func RegisterGraph(h *engine.Handlers) {
	engine.Handle(h, "graph.connections", connections)
}

type connectionsArgs struct {
	From  string `verb:"from"`
	To    string `verb:"to"`
	Hops  int64  `verb:"hops"`
	Parts bool   `verb:"parts"`
}

// A way leads from one thing to another.
type way struct {
	end  engine.Ref
	name string // of the end
	text string
	hops int
}

// connections tells the shortest ways from one thing to another, of at most so many links.
// Where a part of a name will do, it tells of each thing as an end whether it is known.
func connections(ctx context.Context, c *engine.Call, a connectionsArgs) (o engine.Outcome, err error) {
	o.Result = &engine.Answer{Columns: []string{"what", "way", "hops", endColumn}}
	from, err := named(ctx, c, a.From, a.Parts)
	if err != nil {
		return o, err
	}
	to, err := named(ctx, c, a.To, a.Parts)
	if err != nil {
		return o, err
	}
	ends := map[engine.Ref]bool{}
	for _, r := range to {
		ends[r.Ref()] = true
	}
	seen := map[engine.Ref]bool{}
	var ways []way
	for _, r := range from {
		ways = append(ways, way{r.Ref(), r.Value("name").Text(), "", 0})
		seen[r.Ref()] = true
	}
	found := 0
	for len(ways) > 0 && found < mostWays {
		at := ways[0]
		ways = ways[1:]
		if ends[at.end] && at.hops > 0 {
			o.Result.Rows = append(o.Result.Rows, []any{"PATH", at.text, int64(at.hops), false})
			found++
			continue
		}
		if int64(at.hops) >= a.Hops {
			continue
		}
		next, err := beside(ctx, c, at)
		if err != nil {
			return o, err
		}
		for _, n := range next {
			if ends[n.end] || !seen[n.end] {
				if seen[n.end] = true; len(seen) > mostThings {
					return o, engine.Refuse("too many things lie between these", "ask for fewer hops")
				}
				ways = append(ways, n)
			}
		}
	}
	if a.Parts {
		var known [][]any
		for i, rows := range [][]engine.Row{from, to} {
			what, text := "UNKNOWN", fmt.Sprintf("I looked for “%s”, also as a part of a name, and found nothing called so that you can see", [...]string{a.From, a.To}[i])
			if len(rows) > 0 {
				what, text = "END", rows[0].Value("name").Text()+" is known"
			}
			known = append(known, []any{what, text, int64(0), true})
		}
		if found == 0 && len(from) > 0 && len(to) > 0 {
			known[1][1] = fmt.Sprintf("%s, and no way of at most %d links leads there that you can see", known[1][1], a.Hops)
		}
		o.Result.Rows = append(known, o.Result.Rows...)
	}
	return o, nil
}

// named finds things by their name or by a part of it.
func named(ctx context.Context, c *engine.Call, name string, parts bool) ([]engine.Row, error) {
	if !parts {
		return c.Find(ctx, things, engine.Fields{"name": name})
	}
	all, err := c.Find(ctx, things, nil)
	if err != nil {
		return nil, err
	}
	low := strings.ToLower(name)
	all = slices.DeleteFunc(all, func(r engine.Row) bool { return !strings.Contains(strings.ToLower(r.Value("name").Text()), low) })
	slices.SortStableFunc(all, func(a, b engine.Row) int { // the name itself first
		return len(a.Value("name").Text()) - len(b.Value("name").Text())
	})
	return all, nil
}

// beside returns the ways that go one link further.
func beside(ctx context.Context, c *engine.Call, at way) (next []way, err error) {
	for _, side := range [...][2]string{{"subject", "object"}, {"object", "subject"}} {
		rows, err := c.Find(ctx, links, engine.Fields{side[0]: at.end})
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			other := r.To(side[1])
			thing, err := c.Get(ctx, other)
			if err != nil {
				return nil, err
			}
			from, to := at.name, thing.Value("name").Text()
			if side[0] == "object" {
				from, to = to, from
			}
			text := from + " " + r.Value("how").Text() + " " + to
			if at.text != "" {
				text = at.text + "; " + text
			}
			next = append(next, way{other, thing.Value("name").Text(), text, at.hops + 1})
		}
	}
	return next, nil
}
