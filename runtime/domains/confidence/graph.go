package confidence

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"verbatim/runtime/conversation/values"
	"verbatim/runtime/engine"
	"verbatim/verbs/message"
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
// Where a part of a name will do, it tells of each thing as an end whether it is known, and finds no
// way from a thing that is not, or that may be one of several.
func connections(ctx context.Context, c *engine.Call, a connectionsArgs) (o engine.Outcome, err error) {
	o.Result = &engine.Answer{Columns: []string{"what", "way", "hops", endColumn}}
	from, says, err := named(ctx, c, a.From, a.Parts)
	if err != nil {
		return o, err
	}
	to, saysTo, err := named(ctx, c, a.To, a.Parts)
	if err != nil {
		return o, err
	}
	ends, seen := map[engine.Ref]bool{}, map[engine.Ref]bool{}
	var ways []way
	if len(from) == 1 && len(to) == 1 {
		ends[to[0].Ref()], seen[from[0].Ref()] = true, true
		ways = append(ways, way{from[0].Ref(), from[0].Value("name").Text(), "", 0})
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
		if found == 0 && len(from) == 1 && len(to) == 1 {
			saysTo = fmt.Sprintf("%s, and no way of at most %d links leads there that you can see", saysTo, a.Hops)
		}
		known := make([][]any, 2)
		for i, rows := range [][]engine.Row{from, to} {
			if known[i] = []any{"UNKNOWN", [...]string{says, saysTo}[i], int64(0), nil}; len(rows) == 1 {
				known[i][0], known[i][3] = "END", true
			}
		}
		o.Result.Rows = append(known, o.Result.Rows...)
	}
	return o, nil
}

// named finds the thing of a name, or, if a part of it will do, the only one that may be meant. It returns
// none if several may be, and says what is known.
func named(ctx context.Context, c *engine.Call, name string, parts bool) (is []engine.Row, says string, err error) {
	if !parts {
		is, err = c.Find(ctx, things, engine.Fields{"name": name})
		return is, "", err
	}
	all, err := c.Find(ctx, things, nil)
	if err != nil {
		return nil, "", err
	}
	labels := message.Names(all, func(r engine.Row) string { return r.Value("name").Text() })
	some, near := values.Meant(name, labels)
	switch {
	case len(some) == 1 && strings.EqualFold(some[0], name):
		says = some[0] + " is known"
	case len(some) == 1:
		says = fmt.Sprintf("“%s” is taken for %s, which is known", name, some[0])
	case len(some) > 0:
		return nil, fmt.Sprintf("“%s” may be %s: ask again with one of these names", name, message.Some(some, 5)), nil
	default:
		says = fmt.Sprintf("I looked for “%s”, also as a part of a name, and found nothing called so that you can see", name)
		if len(near) > 0 {
			says += ". If you mean " + message.Joined(near, "or") + ", ask again with that name"
		}
		return nil, says, nil
	}
	return []engine.Row{all[slices.Index(labels, some[0])]}, says, nil
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
