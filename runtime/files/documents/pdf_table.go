package documents

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Tables of a page by where things stand on it. Figures tell the columns: those of one column stand below
// one another and never beside. Labels, heads and signs are put where the figures are.

// A placed is a cell, or a line of one, with where it stands.
type placed struct {
	text                string
	x0, x1, top, bottom float64
	row, column         int // from 1
	rows, columns       int // that it covers
}

// lazily compiles a pattern when it is first used: most programs read no page.
func lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

var (
	figureLike = lazily(`^[-–−(]?\s*(?:\pL{0,3}[$€£¥]|[A-Z]{3})?\s*[-–−(]{0,2}\s*(?:\d[\d.,'’ \x{a0}\x{202f}]*|\.\d+|[-–—])\s*[)%]*\s*(?:\pL{0,3}[$€£¥]|%|pp|x|bps)?[-–−)]?(?:\s?(?:\(\w{1,2}\)|\[\w{1,2}\]|[*†‡¹²³⁰⁴⁵⁶⁷⁸⁹]+))?$`)
	signLike   = lazily(`^(?:\pL{0,3}[$€£¥]|EUR|USD|GBP|CHF|RMB)$`)
	closing    = lazily(`^[)%*†‡]+$|^pp$`)
	yearLike   = lazily(`^(?:19|20)\d\d$`)
)

// arrange puts the cells of a table, which know their rows, into columns.
func arrange(cells []placed, strips []strip) {
	for i := range cells {
		c := &cells[i]
		c.column, c.columns = columnAt(strips, c)
	}
	for i := range cells { // a sign stands with its figure
		switch c := &cells[i]; {
		case signLike().MatchString(c.text) && i+1 < len(cells) && cells[i+1].row == c.row && figureLike().MatchString(cells[i+1].text):
			c.column, c.columns = cells[i+1].column, 1
		case closing().MatchString(c.text) && i > 0 && cells[i-1].row == c.row && figureLike().MatchString(cells[i-1].text):
			c.column, c.columns = cells[i-1].column, 1
		}
	}
}

// A strip is what the cells of a column cover of the width of the page.
type strip struct{ x0, x1 float64 }

// columnsOf returns the strips of the columns: first those of the figures, then those of the other cells in
// rows with figures, then what stands beside all of them. Among texts alone, the rows with the most cells
// tell them, since a cell of another row may cover several.
func columnsOf(cells []placed) []strip {
	numbers, beside := map[int]bool{}, map[int]int{}
	for _, c := range cells {
		numbers[c.row] = numbers[c.row] || figureLike().MatchString(c.text) && !yearLike().MatchString(c.text)
		beside[c.row]++
	}
	most, times := 0, map[int]int{}
	for _, n := range beside {
		times[n]++
	}
	for n, t := range times {
		if n > most && (t > 1 || len(beside) < 3) {
			most = n
		}
	}
	var strips []strip
	add := func(keep func(c *placed) bool) {
		var all []strip
		for i := range cells {
			c := &cells[i]
			if !slices.ContainsFunc(strips, func(s strip) bool { return c.x0 < s.x1 && c.x1 > s.x0 }) && keep(c) {
				all = append(all, strip{c.x0, c.x1})
			}
		}
		slices.SortFunc(all, func(a, b strip) int { return cmp.Compare(a.x0, b.x0) })
		n := len(strips)
		for _, s := range all {
			if k := len(strips); k > n && s.x0 <= strips[k-1].x1 {
				strips[k-1].x1 = max(strips[k-1].x1, s.x1)
			} else {
				strips = append(strips, s)
			}
		}
	}
	aside := func(c *placed) bool { return signLike().MatchString(c.text) || closing().MatchString(c.text) }
	add(func(c *placed) bool { return figureLike().MatchString(c.text) && !aside(c) })
	add(func(c *placed) bool { return numbers[c.row] && beside[c.row] >= most && !aside(c) })
	add(func(c *placed) bool { return numbers[c.row] && !aside(c) })
	add(func(c *placed) bool { return beside[c.row] >= max(most, 2) && !aside(c) })
	if len(strips) == 0 {
		add(func(*placed) bool { return true })
	}
	slices.SortFunc(strips, func(a, b strip) int { return cmp.Compare(a.x0, b.x0) })
	return strips
}

// columnAt returns the first column that a cell covers and how many, or else the nearest one.
func columnAt(strips []strip, c *placed) (column, columns int) {
	nearest, apart := 0, math.Inf(1)
	for i, s := range strips {
		shared := min(s.x1, c.x1) - max(s.x0, c.x0)
		if shared > 0.15*min(s.x1-s.x0, c.x1-c.x0) {
			if columns == 0 {
				column = i + 1
			}
			columns = i + 2 - column
		}
		if -shared < apart {
			nearest, apart = i+1, -shared
		}
	}
	if columns == 0 {
		return nearest, 1
	}
	return column, columns
}

// apart returns the cells of a row, and years one by one, however close they are set.
func (r row) apart(gap float64) []span {
	if !slices.ContainsFunc(r.words, func(w span) bool { return !yearLike().MatchString(w.text) }) {
		return r.words
	}
	return r.cells(gap)
}

// tableOf returns the number of the first rows that form a table, its cells and its columns: rows of several cells, with
// single cells between them where a label wraps or names the rows below it.
func tableOf(rows []row) (n int, cells []placed, strips []strip) {
	first := 0 // heads that stand alone above their columns, or close together
	for first < len(rows)-1 && first < 3 && len(rows[first].apart(wide)) < 2 && (len(rows[first].apart(narrow)) > 1 || rows[first].words[0].x0 > left(rows[first+1:min(len(rows), first+5)])+8*rows[first].size) && rows[first].y-rows[first+1].y < 3*rows[first].size {
		first++
	}
	several, reach := 0, math.Inf(-1)
	for _, r := range rows[first:] {
		if len(r.apart(wide)) > 1 {
			reach = max(reach, r.words[len(r.words)-1].x1)
		} else {
			break
		}
	}
	alone := 0
	for i := first; i < len(rows); i++ {
		r := rows[i]
		if slices.ContainsFunc(r.words, func(w span) bool { return w.table != nil }) || i > first && rows[i-1].y-r.y > 4*max(r.size, rows[i-1].size) {
			break
		}
		if len(r.apart(wide)) > 1 {
			if several > 0 && i > first && rows[i-1].y-r.y > 2.2*max(r.size, rows[i-1].size) && startsAnew(rows[first:i], r) {
				break
			}
			several, n, alone = several+1, i+1, 0
			reach = max(reach, r.words[len(r.words)-1].x1)
			continue
		}
		edge := left(rows[first : i+1])
		if alone++; i == first || alone > 4 || r.words[len(r.words)-1].x1-edge > 0.75*(reach-edge) {
			break
		}
	}
	if several < 2 {
		return 0, nil, nil
	}
	for n < len(rows) { // the end of a label that wraps
		r, above := rows[n], rows[n-1]
		letter, _ := utf8.DecodeRuneInString(r.words[0].text)
		if len(r.apart(wide)) > 1 || above.y-r.y > 1.45*r.size || !unicode.IsLower(letter) && above.y-r.y > 0.8*r.size || r.words[len(r.words)-1].x1-left(rows[first:n]) > 0.6*(reach-left(rows[first:n])) {
			break
		}
		n++
	}
	lines := make([][]placed, n)
	place := func(i int, parts []span) (all []placed) {
		for _, s := range parts {
			all = append(all, placed{text: s.text, x0: s.x0, x1: s.x1, top: rows[i].y + s.size, bottom: rows[i].y, row: i + 1})
		}
		return all
	}
	for i, r := range rows[:n] {
		lines[i] = place(i, r.apart(narrow))
	}
	strips = columnsOf(slices.Concat(lines[first:]...))
	if len(strips) < 2 {
		return 0, nil, nil
	}
	for i := range first {
		if words := place(i, rows[i].words); ownColumns(strips, words) { // heads that are set close
			lines[i] = words
		} else if len(lines[i]) == 1 && (lines[i][0].x0 < strips[0].x1 || lines[i][0].x0 > strips[len(strips)-1].x1) {
			return 0, nil, nil // the line is no head, and the table begins behind it
		}
	}
	cells = slices.Concat(lines...)
	arrange(cells, strips)
	return n, wrapped(cells, rows[:n]), strips
}

// ownColumns reports whether each of several cells stands in a column of its own.
func ownColumns(strips []strip, cells []placed) bool {
	used := map[int]bool{}
	for i := range cells {
		column, columns := columnAt(strips, &cells[i])
		if columns > 1 || used[column] {
			return false
		}
		used[column] = true
	}
	return len(cells) > 1
}

// left is where the leftmost of some rows begins.
func left(rows []row) float64 {
	edge := math.Inf(1)
	for _, r := range rows {
		edge = min(edge, r.words[0].x0)
	}
	return edge
}

// startsAnew reports whether a row behind a gap is the head of another table: years, or texts, of which
// none stands where labels do.
func startsAnew(rows []row, r row) bool {
	for _, c := range r.cells(narrow) {
		if figureLike().MatchString(c.text) && !yearLike().MatchString(c.text) {
			return false
		}
	}
	return len(rows) > 2 && r.words[0].x0 > left(rows)+2*r.size && yearLike().MatchString(r.words[len(r.words)-1].text)
}

// wrapped joins the lines of cells that wrap: lines that stand closer together than rows do, or, where all
// stand alike, those of which the words say that they go on.
func wrapped(cells []placed, rows []row) []placed {
	of := make([][]*placed, len(rows))
	for i := range cells {
		c := &cells[i]
		of[c.row-1] = append(of[c.row-1], c)
	}
	labels := func(i int) bool { return len(of[i]) == 1 && of[i][0].column == 1 } // alone
	figures := func(i int) bool {
		return slices.ContainsFunc(of[i], func(c *placed) bool { return figureLike().MatchString(c.text) && c.column > 1 })
	}
	tight, loose := math.Inf(1), math.Inf(1)
	for i := 1; i < len(rows); i++ {
		if apart := (rows[i-1].y - rows[i].y) / max(rows[i].size, rows[i-1].size); apart > 0.85 {
			tight = min(tight, apart)
			if figures(i) && figures(i-1) {
				loose = min(loose, apart)
			}
		}
	}
	told := tight < 1.5 && loose > 1.07*tight && loose < 4 // rows stand further apart than lines
	group := make([]int, len(rows))
	for i := 1; i < len(rows); i++ {
		apart := (rows[i-1].y - rows[i].y) / max(rows[i].size, rows[i-1].size)
		group[i] = i
		goesOn := false
		switch {
		case apart <= 0.85: // figures beside the middle of two lines
			goesOn = !(figures(i) && figures(i-1))
		case figures(i) && figures(i-1):
		case told:
			goesOn = apart < (tight+min(loose, 1.5*tight))/2
		case labels(i) || labels(i-1):
			goesOn = continues(of[i-1], of[i])
		case !figures(i) && !figures(i-1):
			goesOn = apart < 1.5
		}
		if goesOn {
			group[i] = group[i-1]
		}
	}
	type place struct{ row, column int }
	at := map[place]int{}
	var joined []placed
	for _, c := range cells {
		c.row = group[c.row-1] + 1
		k, ok := at[place{c.row, c.column}]
		if !ok {
			at[place{c.row, c.column}] = len(joined)
			joined = append(joined, c)
			continue
		}
		o := &joined[k]
		o.text, o.columns = o.text+" "+c.text, max(o.columns, c.columns)
	}
	last, number := 0, 0
	slices.SortStableFunc(joined, func(a, b placed) int { return cmp.Or(a.row-b.row, a.column-b.column) })
	for i := range joined {
		if joined[i].row != last {
			last = joined[i].row
			number++
		}
		joined[i].row = number
	}
	return joined
}

// unfinished matches the end of a line whose text goes on.
var unfinished = lazily(`(?i)(?:[,(–-]|\b(?:and|or|of|the|to|in|for|by|from|on|with|at|per|as|than|und|oder|der|die|des|zum|von|für|aus|et|ou|de|du|des|la|le|y|del|el))$`)

// continues reports whether the label of a line goes on in that of the next.
func continues(above, below []*placed) bool {
	a, b := above[0].text, below[0].text
	if above[0].column != 1 || below[0].column != 1 {
		return below[0].column != 1 && !strings.HasSuffix(a, ":") && below[0].x0 > above[0].x0 && above[0].column == 1 && strings.Count(a, "(") > strings.Count(a, ")")
	}
	letter, _ := utf8.DecodeRuneInString(b)
	return !strings.HasSuffix(a, ":") && (unicode.IsLower(letter) || letter == '(' && len(below) == 1 || yearLike().MatchString(b) || unfinished().MatchString(a) || strings.Count(a, "(") > strings.Count(a, ")"))
}

// An ended is a table at the end of a page, which the next page may go on with.
type ended struct {
	page, number, rows int
	strips             []strip
}

// goesOn reports whether a table at the top of a page has the columns of that at the end of the page before.
func (e *ended) goesOn(page int, strips []strip) bool {
	return e.page == page-1 && slices.EqualFunc(e.strips, strips, func(a, b strip) bool { return a.x0 < b.x1 && b.x0 < a.x1 })
}

// table adds the cells of a table of a page.
func (x *extractor) table(page, number int, cells []placed, hidden bool) error {
	last := 0
	for i, c := range cells {
		if c.row != last {
			last = c.row
			x.line++
		}
		if i > 0 && cells[i-1].row == c.row && cells[i-1].column == c.column {
			continue
		}
		for _, o := range cells[i+1:] { // what stands in the same place: a sign and its figure
			if o.row != c.row || o.column != c.column {
				break
			}
			c.text += " " + o.text
		}
		cell := &Cell{}
		if c.rows > 1 {
			cell.Rows = c.rows
		}
		if c.columns > 1 {
			cell.Columns = c.columns
		}
		at := Location{Page: page, Line: x.line, Table: number, Row: c.row, Column: c.column}
		if err := x.add(Piece{Kind: InCell, At: at, Text: c.text, Hidden: hidden, Cell: cell}); err != nil {
			return err
		}
	}
	return nil
}
