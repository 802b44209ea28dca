package documents

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
)

// Tables of a PDF whose structure declares them (ISO 32000-1, 14.8.4.3.4): programs that print pages, and
// publishers who care for readers that cannot see, write which part of a page is which cell.

// A tagged is a table that the structure declares, also across pages.
type tagged struct {
	number int // in the document, 0 before its first cell was added
	row    int // of the cells that are being read
	column int
	below  map[int]int // by column, how many further rows a cell above covers
}

// A tag says to which cell of a table a part of a page belongs.
type tag struct {
	table                      *tagged
	row, column, rows, columns int
}

// begin begins what an element of the structure is of a table, and returns the table and the cell that its
// kids belong to.
func (t *tagged) begin(p *pdf, element types.Dict, cell *tag) (*tagged, *tag) {
	kind := p.name(element["S"])
	if roles := p.roles; roles != nil && p.name(roles[kind]) != "" {
		kind = p.name(roles[kind])
	}
	switch {
	case kind == "Table":
		return &tagged{below: map[int]int{}}, nil
	case t == nil:
		return nil, nil
	case kind == "TR":
		t.row, t.column = t.row+1, 0
		for column, rows := range t.below {
			t.below[column] = max(0, rows-1)
		}
		return t, nil
	case kind == "TD" || kind == "TH":
		for t.column++; t.below[t.column] > 0; t.column++ {
		}
		cell = &tag{t, t.row, t.column, p.attribute(element["A"], "RowSpan"), p.attribute(element["A"], "ColSpan")}
		for k := range cell.columns {
			t.below[t.column+k] = cell.rows
		}
		t.column += cell.columns - 1
	}
	return t, cell
}

// mostSpan is the greatest number of rows or columns that a cell may cover.
const mostSpan = 100

// attribute reads a number among the attributes of an element, which is 1 if it is not there.
func (p *pdf) attribute(o types.Object, name string) int {
	all, several := p.get(o).(types.Array)
	if !several {
		all = types.Array{o}
	}
	for _, one := range all {
		d, _ := p.dict(one)
		if n, ok := p.number(d[name]); ok {
			return int(min(max(1, n), mostSpan))
		}
	}
	return 1
}

// A drawn is a table that the structure declares, as far as it stands on one page.
type drawn struct {
	of    *tagged
	cells []placed // by rows and columns
}

// longest is the greatest number of letters in a cell of a table, and not of a page that a table arranges.
const longest = 1000

// declared takes the tables that the structure declares out of the letters of a page. In place of each it
// leaves a word that is as wide, where its first row stands. A table whose cells stand elsewhere than its
// rows say is none.
func declared(glyphs []glyph) ([]glyph, []span) {
	of := map[*tag][]glyph{}
	var order []*tag
	for _, g := range glyphs {
		if g.cell != nil {
			if of[g.cell] == nil {
				order = append(order, g.cell)
			}
			of[g.cell] = append(of[g.cell], g)
		}
	}
	if len(order) == 0 {
		return glyphs, nil
	}
	tables := map[*tagged]*drawn{}
	for _, t := range order {
		c := placed{row: t.row, column: t.column, rows: t.rows, columns: t.columns, x0: math.Inf(1), x1: math.Inf(-1), top: math.Inf(-1), bottom: math.Inf(1)}
		for _, r := range rowsOf(wordsOf(of[t])) {
			whole := row{words: r.words}.cells(math.Inf(1))[0]
			c.text = strings.TrimSpace(c.text + " " + whole.text)
			c.top, c.bottom, c.x0, c.x1 = max(c.top, r.y+r.size), min(c.bottom, r.y), min(c.x0, whole.x0), max(c.x1, whole.x1)
		}
		if c.text == "" {
			continue
		}
		if tables[t.table] == nil {
			tables[t.table] = &drawn{of: t.table}
		}
		tables[t.table].cells = append(tables[t.table].cells, c)
	}
	var places []span
	for _, d := range tables {
		if !d.believed() {
			delete(tables, d.of)
		}
	}
	at := map[*tagged]int{}
	glyphs = slices.Clone(glyphs)
	glyphs = slices.DeleteFunc(glyphs, func(g glyph) bool {
		if g.cell == nil || tables[g.cell.table] == nil {
			return false
		}
		i, ok := at[g.cell.table]
		if !ok {
			i = len(places)
			at[g.cell.table] = i
			places = append(places, span{table: tables[g.cell.table], x0: g.x, x1: g.x, y: g.y})
		}
		s := &places[i]
		s.x0, s.x1, s.y, s.size = min(s.x0, g.x), max(s.x1, g.x+g.dx), max(s.y, g.y), max(s.size, g.size)
		return true
	})
	return glyphs, places
}

// believed sorts the cells of a table and reports whether they stand as a table's do: in rows of several,
// beside one another.
func (d *drawn) believed() bool {
	slices.SortStableFunc(d.cells, func(a, b placed) int { return cmp.Or(a.row-b.row, a.column-b.column) })
	beside, apart := 0, 0
	for i, c := range d.cells {
		if utf8.RuneCountInString(c.text) > longest {
			return false
		}
		if i == 0 || d.cells[i-1].row != c.row || c.rows > 1 || d.cells[i-1].rows > 1 {
			continue
		}
		if o := d.cells[i-1]; c.top < o.bottom || o.top < c.bottom {
			apart++
		} else {
			beside++
		}
	}
	if beside == 0 || apart*5 > beside {
		return false
	}
	width, last := map[int]int{}, 0
	for _, c := range d.cells {
		width[c.row] = max(width[c.row], c.column+c.columns-1)
		last = max(last, width[c.row])
	}
	for _, n := range width {
		if n < last { // cells without text are not declared, as some programs have it
			arrange(d.cells, columnsOf(d.cells))
			break
		}
	}
	return true
}
