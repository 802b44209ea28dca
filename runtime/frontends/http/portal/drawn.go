package portal

import (
	"context"
	"strconv"
	"strings"

	"verbatim/runtime/conversation/values"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/http/pages"
	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/message"
)

// A Drawing is drawn by a domain below the facts of a row: boxes with arrows, or pairs of bars,
// with the table that holds the same. It contains only text.
type Drawing struct {
	Title, Says string
	Boxes       []Box
	Bars        []Bars
	Legend      []string // what the bars are: A, and B if there is one
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
func (d *Desk) drawings(ctx context.Context, entity string, keys []stores.Value) (all []pages.Block, err error) {
	if d.portal.Draws == nil || len(keys) != 1 {
		return nil, nil
	}
	drawn, err := d.portal.Draws(ctx, d.Session, entity, keys[0], d.lang)
	if err != nil {
		return nil, err
	}
	for i := range drawn {
		id := "drawn-" + strconv.Itoa(i+1)
		if len(drawn[i].Boxes) > 0 {
			again := ""
			if drawn[i].Moves {
				again = d.R.URL.EscapedPath()
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
		n := pages.Node{Class: b.Tone, X: 2 + depth[i]*(boxWide+apart), Y: 2 + filled[depth[i]]*(boxHigh+20), W: boxWide, H: boxHigh, Text: pages.Cut(b.Text, 24), Under: pages.Cut(b.Under, 30)}
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

// pairs draws shares as bars, two beside each other.
func pairs(id string, d *Drawing) pages.Plot {
	plot := pages.Plot{ID: id, Title: d.Title, Says: d.Says, Head: d.Head, Rows: d.Rows, Beside: true, Percent: true}
	for i, text := range d.Legend {
		plot.Series = append(plot.Series, pages.Series{Tone: string("ab"[i]), Text: text})
	}
	for _, b := range d.Bars {
		plot.Columns = append(plot.Columns, pages.Column{Text: b.Text, Values: []float64{b.A, b.B}[:len(d.Legend)]})
	}
	return plot
}

// mostBars is how many bars a plot has.
const mostBars = 14

// drawn draws the answers that the palette has drawn on the page.
func (d *Desk) drawn(ctx context.Context) (all []pages.Block, err error) {
	for i := range d.page.Plots {
		of := &d.page.Plots[i]
		call, err := d.read(ctx, of.Verb)
		if err != nil {
			return nil, err
		}
		if call.Result == nil || len(call.Result.Rows) == 0 {
			continue
		}
		plot := pages.Plot{ID: "plot-" + strconv.Itoa(i+1), Title: d.Tell.Text(of.Title), Head: []string{d.Tell.Text(of.Title), d.Tell.Label(of.Number)}}
		list := &verbs.PageList{Verb: of.Verb}
		plot.Series = []pages.Series{{Tone: "a", Text: plot.Head[1]}}
		sum := 0
		for n := range call.Result.Rows[:min(len(call.Result.Rows), mostBars)] {
			r := row{d, list, call, n}
			label := message.Names(of.Label, r.text)
			text := strings.Join(label, ", ")
			count, _ := strconv.ParseFloat(r.value(of.Number).Text(), 64)
			sum += int(count)
			plot.Columns = append(plot.Columns, pages.Column{Text: text, Values: []float64{count}})
			plot.Rows = append(plot.Rows, []string{text, r.text(of.Number)})
		}
		plot.Says = d.Say("pages/plot-says", strconv.Itoa(len(plot.Columns)), strconv.Itoa(sum))
		all = append(all, plot)
	}
	return all, nil
}
