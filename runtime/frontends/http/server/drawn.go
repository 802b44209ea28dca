package server

import (
	"context"
	"strconv"

	"verbatim/runtime/conversation/values"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/http/pages"
	"verbatim/stores"
)

// A Drawing is drawn by a domain below the facts of a row: boxes with arrows, or pairs of bars,
// with the table that holds the same. It contains only text.
type Drawing struct {
	Title, Says string
	Boxes       []Box
	Bars        []Bars
	Head        []string
	Rows        [][]string
	Moves       bool // it is looked at again every other second
}

// A Box is one box, with the indexes of the boxes that lead to it.
type Box struct {
	Tone        string // "done", "open", "wait", "bad" or "left"
	Text, Under string
	From        []int
}

// A Bars is two shares beside each other, from 0 to 1.
type Bars struct {
	Text string
	A, B float64
}

// Draws returns the drawings of a row that the person may see.
type Draws func(ctx context.Context, s *engine.Session, entity string, key stores.Value, l values.Language) ([]Drawing, error)

// drawings returns the drawings of the one row that a call reads.
func (d *desk) drawings(ctx context.Context, entity string, keys []stores.Value) (all []pages.Block, err error) {
	if d.Draws == nil || len(keys) != 1 {
		return nil, nil
	}
	drawn, err := d.Draws(ctx, d.session, entity, keys[0], d.tongue())
	if err != nil {
		return nil, err
	}
	for i := range drawn {
		id := "drawn-" + strconv.Itoa(i+1)
		if len(drawn[i].Boxes) > 0 {
			again := ""
			if drawn[i].Moves {
				again = d.r.URL.EscapedPath()
			}
			all = append(all, graph(id, &drawn[i], again))
			continue
		}
		all = append(all, pairs(id, &drawn[i]))
	}
	return all, nil
}

const (
	boxWide, boxHigh = 190, 56
	apart            = 50
)

// graph arranges boxes so that each one comes after those that lead to it.
func graph(id string, d *Drawing, again string) pages.Graph {
	g := pages.Graph{ID: id, Title: d.Title, Says: d.Says, Head: d.Head, Rows: d.Rows, Again: again}
	depth := make([]int, len(d.Boxes))
	for range d.Boxes {
		for i, b := range d.Boxes {
			for _, from := range b.From {
				depth[i] = max(depth[i], min(depth[from]+1, len(d.Boxes)))
			}
		}
	}
	filled := map[int]int{}
	for i, b := range d.Boxes {
		n := pages.Node{Class: b.Tone, X: 2 + depth[i]*(boxWide+apart), Y: 2 + filled[depth[i]]*(boxHigh+20), W: boxWide, H: boxHigh, Text: cut(b.Text, 24), Under: cut(b.Under, 30)}
		filled[depth[i]]++
		g.Nodes = append(g.Nodes, n)
		g.Width, g.Height = max(g.Width, n.X+n.W+2), max(g.Height, n.Y+n.H+2)
	}
	for i, b := range d.Boxes {
		for _, from := range b.From {
			f, t := g.Nodes[from], g.Nodes[i]
			g.Edges = append(g.Edges, pages.Edge{X1: f.X + f.W, Y1: f.Y + f.H/2, X2: t.X, Y2: t.Y + t.H/2})
		}
	}
	return g
}

func cut(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}

// pairs draws shares as bars.
func pairs(id string, d *Drawing) pages.Plot {
	plot := pages.Plot{ID: id, Title: d.Title, Says: d.Says, Head: d.Head, Rows: d.Rows}
	for i, b := range d.Bars {
		x, h, k := 8+i*62, int(b.A*150), int(b.B*150)
		plot.Bars = append(plot.Bars, pages.Bar{Class: "a", X: x, Y: 160 - h, W: 24, H: h}, pages.Bar{Class: "b", X: x + 26, Y: 160 - k, W: 24, H: k})
		plot.Marks = append(plot.Marks, pages.Mark{X: x, Text: b.Text})
	}
	return plot
}
