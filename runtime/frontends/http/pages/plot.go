package pages

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// A Plot is a bar chart with an axis, a legend and the table of its values: it can be read without
// seeing it, and without colour.
type Plot struct {
	ID, Title, Says string
	Series          []Series // what the parts of a column are
	Columns         []Column
	Beside          bool // the parts stand beside each other, and not on each other
	Percent         bool // the values are shares, from 0 to 1
	Head            []string
	Rows            [][]string
}

// A Series is one entry of the legend. Its tone is "a", "b" or "c".
type Series struct{ Tone, Text string }

// A Column is one column of a Plot, with a value for each Series.
type Column struct {
	Text   string
	Values []float64
}

// A Bar is a rectangle in the picture of a Plot.
type Bar struct {
	Class      string
	X, Y, W, H int
}

// A Mark is a text in the picture of a Plot.
type Mark struct {
	X, Y int
	Text string
}

// The picture of a Plot: the axis stands at the left, and the names of the columns below.
const (
	plotLeft, plotRight, plotTop, plotBase = 48, 680, 10, 170
	letterWide                             = 7 // a letter of a mark, at most
)

// most returns the highest value of the axis, and how many steps lead there: whole numbers that
// people count in.
func (p Plot) most() (most float64, steps int) {
	if p.Percent {
		return 1, 4
	}
	for _, c := range p.Columns {
		sum := 0.0
		for _, v := range c.Values {
			if sum += v; p.Beside {
				most, sum = max(most, v), 0
			}
		}
		most = max(most, sum)
	}
	if most <= 4 {
		return max(1, math.Ceil(most)), int(max(1, math.Ceil(most)))
	}
	step := math.Pow(10, math.Floor(math.Log10(most/4)))
	for _, times := range []float64{1, 2, 2.5, 5, 10} {
		if by := step * times; by == math.Trunc(by) && most <= by*5 {
			steps = int(math.Ceil(most / by))
			return by * float64(steps), steps
		}
	}
	return math.Ceil(most), 1
}

// Axis returns the marks of the axis, the lowest first.
func (p Plot) Axis() (all []Mark) {
	most, steps := p.most()
	for i := range steps + 1 {
		value := most * float64(i) / float64(steps)
		text := strconv.FormatFloat(value, 'f', -1, 64)
		if p.Percent {
			text = fmt.Sprintf("%.0f %%", value*100)
		}
		all = append(all, Mark{plotLeft - 6, plotBase - int(value/most*(plotBase-plotTop)), text})
	}
	return all
}

func (p Plot) column() float64 { return float64(plotRight-plotLeft) / float64(max(len(p.Columns), 1)) }

// Bars returns the rectangles of the columns.
func (p Plot) Bars() (all []Bar) {
	most, _ := p.most()
	wide := min(p.column()*0.7, 60)
	for i, c := range p.Columns {
		left := plotLeft + p.column()*(float64(i)+0.5) - wide/2
		base := plotBase
		for k, v := range c.Values {
			b := Bar{Class: p.Series[k].Tone, X: int(left), W: int(wide), H: int(v / most * (plotBase - plotTop))}
			if p.Beside {
				b.W = int(wide) / len(c.Values)
				b.X += k * b.W
				b.W -= min(2, b.W-1)
				base = plotBase
			}
			b.Y = base - b.H
			base = b.Y
			all = append(all, b)
		}
	}
	return all
}

// Marks returns the names of the columns, as many as do not touch.
func (p Plot) Marks() (all []Mark) {
	const longest = 20 // letters; the table has the whole name
	wide := 0
	for _, c := range p.Columns {
		wide = max(wide, min(utf8.RuneCountInString(c.Text), longest))
	}
	every := max(1, int(math.Ceil(float64((wide+1)*letterWide)/p.column())))
	for i := 0; i < len(p.Columns); i += every {
		half := min(utf8.RuneCountInString(p.Columns[i].Text), longest) * letterWide / 2
		at := plotLeft + int(p.column()*(float64(i)+0.5))
		all = append(all, Mark{min(max(at, half), plotRight-half), plotBase + 18, Cut(p.Columns[i].Text, longest)})
	}
	return all
}

// Cut shortens a text to a number of characters.
func Cut(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}
