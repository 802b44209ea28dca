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
		var counts []int
		most, sum := 1, 0
		for n := range call.Result.Rows[:min(len(call.Result.Rows), mostBars)] {
			r := row{d, list, call, n}
			var label []string
			for _, column := range of.Label {
				label = append(label, r.text(column))
			}
			count, _ := strconv.ParseFloat(r.value(of.Number).Text(), 64)
			counts, most, sum = append(counts, int(count)), max(most, int(count)), sum+int(count)
			plot.Rows = append(plot.Rows, []string{strings.Join(label, ", "), r.text(of.Number)})
		}
		for n, count := range counts {
			high := count * 150 / most
			plot.Bars = append(plot.Bars, pages.Bar{Class: "a", X: 8 + n*45, Y: 160 - high, W: 30, H: high})
		}
		plot.Marks = []pages.Mark{{X: 8, Text: plot.Rows[0][0]}}
		if n := len(counts); n > 6 {
			plot.Marks = append(plot.Marks, pages.Mark{X: 480, Text: plot.Rows[n-1][0]})
		}
		plot.Says = d.Say("pages/plot-says", strconv.Itoa(len(counts)), strconv.Itoa(sum))
		all = append(all, plot)
	}
	return all, nil
}
