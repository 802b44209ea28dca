package documents

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A span is text that stands together on a line: a word, or a cell.
type span struct {
	text            string
	x0, x1, y, size float64
	table           *drawn // instead of text
}

// A row is the words that stand at one height, from left to right.
type row struct {
	y, size float64
	words   []span
}

// cells joins words whose gap is smaller than a multiple of the letters' height.
func (r row) cells(gap float64) (list []span) {
	for _, w := range r.words {
		n := len(list)
		if n == 0 || w.x0-list[n-1].x1 > gap*max(w.size, list[n-1].size) && !(n == 1 && isBullet(list[0].text) && w.x0-list[0].x1 < 3*w.size && !figureLike().MatchString(w.text)) {
			list = append(list, w)
			continue
		}
		last := &list[n-1]
		last.text, last.x1, last.size = last.text+" "+w.text, max(last.x1, w.x1), max(last.size, w.size)
	}
	return list
}

// The least distance between cells of a table: one that always divides cells, and one that suffices
// inside a known table.
const (
	wide   = 1.0
	narrow = 0.45
)

// layOut adds the lines of a page in the order in which they are read. Text
// that runs up or down the page, or across it as a stamp does, comes after the
// rest, and what nobody sees after that.
func (x *extractor) layOut(page int, glyphs []glyph) error {
	x.line, x.body = 0, bodySize(glyphs)
	unseen := slices.Clone(glyphs)
	unseen = slices.DeleteFunc(unseen, func(g glyph) bool { return !g.unseen })
	if err := x.turned(page, slices.DeleteFunc(glyphs, func(g glyph) bool { return g.unseen }), false); err != nil {
		return err
	}
	return x.turned(page, unseen, true)
}

// bodySize is the size of most letters of a page.
func bodySize(glyphs []glyph) (size float64) {
	letters := map[int]int{} // by tenths of a point
	most := 0
	for _, g := range glyphs {
		if tenths := int(math.Round(g.size * 10)); !g.unseen && strings.TrimSpace(g.text) != "" {
			if letters[tenths]++; letters[tenths] > most || letters[tenths] == most && float64(tenths)/10 < size {
				most, size = letters[tenths], float64(tenths)/10
			}
		}
	}
	return size
}

// The least size of a heading, and its greatest length in words.
const (
	headingSize  = 1.15 // times the size of the page's text
	headingWords = 14
)

// hasFigure reports whether a text has a number with a point or a comma in it.
func hasFigure(text string) bool {
	digit := func(i int) bool { return text[i] >= '0' && text[i] <= '9' }
	for i := 1; i+1 < len(text); i++ {
		if (text[i] == '.' || text[i] == ',') && digit(i-1) && digit(i+1) {
			return true
		}
	}
	return false
}

// heading returns the level of a line that is set larger than the text of its page, or 0.
func (x *extractor) heading(line span) int {
	size := line.size / max(x.body, 1)
	switch {
	case size < headingSize || strings.HasSuffix(line.text, ".") || strings.Count(line.text, " ") >= headingWords || !strings.ContainsFunc(line.text, unicode.IsLetter) || hasFigure(line.text):
		return 0
	case size > 1.7:
		return 1
	case size > 1.35:
		return 2
	}
	return 3
}

// turned adds the lines of a page by the direction in which they run.
func (x *extractor) turned(page int, glyphs []glyph, hidden bool) error {
	turned := map[int][]glyph{} // by how many times fifteen degrees
	for _, g := range glyphs {
		steps := (int(math.Round(math.Atan2(g.dy, g.dx)/(math.Pi/12))) + 24) % 24
		sin, cos := math.Sincos(float64(steps) * math.Pi / 12)
		upright := matrix{cos, -sin, sin, cos, 0, 0}
		g.x, g.y = upright.apply(g.x, g.y)
		g.dx, g.dy = upright.apply(g.dx, g.dy)
		turned[steps] = append(turned[steps], g)
	}
	for _, steps := range slices.Sorted(maps.Keys(turned)) {
		text, tables := declared(turned[steps])
		for _, block := range blocksOf(rowsOf(append(wordsOf(text), tables...)), 0) {
			if err := x.block(page, block, hidden); err != nil {
				return err
			}
		}
	}
	return nil
}

// wordsOf joins letters to words, in the order of drawing: a new word begins after a space, or if
// the next letter does not follow the last one.
func wordsOf(glyphs []glyph) (list []span) {
	spaced := true
	for _, g := range glyphs {
		if strings.TrimSpace(g.text) == "" {
			spaced = true
			continue
		}
		if n := len(list); n > 0 {
			gap := g.x - list[n-1].x1
			if w := &list[n-1]; !spaced && gap < 0.25*w.size && gap > -0.3*w.size && raised(g, *w) {
				w.text, w.x1 = w.text+superscripts.Replace(g.text), max(w.x1, g.x+g.dx)
				continue
			}
			spaced = spaced && gap > 0.05*g.size || gap > 0.17*g.size || gap < -0.3*g.size || math.Abs(g.y-list[n-1].y) > 0.4*g.size
		}
		if spaced {
			list = append(list, span{x0: g.x, x1: g.x, y: g.y})
		}
		w := &list[len(list)-1]
		w.text += g.text
		w.x1, w.size, spaced = max(w.x1, g.x+g.dx), max(w.size, g.size), false
	}
	return list
}

// raised reports whether a glyph is a small digit or sign above the line of the word before it: an
// exponent, or the number of a footnote. It belongs to the word, and is no digit of its number.
func raised(g glyph, w span) bool {
	up := g.y - w.y
	return g.size < 0.85*w.size && up > 0.15*w.size && up < 0.8*w.size && superscripts.Replace(g.text) != g.text
}

var superscripts = strings.NewReplacer("0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹", "+", "⁺", "-", "⁻", "−", "⁻")

// rowsOf puts words that stand at one height into rows, from the top down.
func rowsOf(words []span) []row {
	slices.SortStableFunc(words, func(a, b span) int { return cmp.Compare(b.y, a.y) })
	var rows []row
	for len(words) > 0 {
		n, y, size := 0, words[0].y, words[0].size
		for n < len(words) && y-words[n].y < 0.4*max(size, words[n].size) {
			// A row follows its larger letters, not a raised one.
			if words[n].size > size*1.2 {
				y, size = words[n].y, words[n].size
			}
			n++
		}
		rows = append(rows, row{y: y, size: size, words: joined(words[:n])})
		words = words[n:]
	}
	return rows
}

// joined returns the words of a row from left to right. It joins words that were drawn in parts, and
// drops words that were drawn twice to look bold.
func joined(words []span) (list []span) {
	slices.SortStableFunc(words, func(a, b span) int { return cmp.Compare(a.x0, b.x0) })
	for _, w := range words {
		n := len(list)
		if n == 0 || w.table != nil || list[n-1].table != nil {
			list = append(list, w)
			continue
		}
		last := &list[n-1]
		switch gap := w.x0 - last.x1; {
		case w.text == last.text && w.x0-last.x0 < 0.1*w.size && math.Abs(w.y-last.y) < 0.1*w.size:
		case gap > -0.3*w.size && gap < 0.05*w.size:
			last.text, last.x1, last.size = last.text+w.text, max(last.x1, w.x1), max(last.size, w.size)
		default:
			list = append(list, w)
		}
	}
	return list
}

// isBullet reports whether text only begins an item of a list.
func isBullet(s string) bool {
	s = strings.TrimSpace(s)
	r, n := utf8.DecodeRuneInString(s)
	if n == len(s) {
		return !unicode.IsDigit(r) && !unicode.IsLetter(r)
	}
	return len(s) < 5 && strings.ContainsAny(s[len(s)-1:], ".)") && strings.Trim(s, "0123456789abcdivx.()") == ""
}

// blocksOf divides a page into blocks in reading order: columns of prose side by side, and the text
// above and below them.
func blocksOf(rows []row, depth int) [][]row {
	if len(rows) < 2 || depth > 12 {
		return [][]row{rows}
	}
	// Rows above and below columns, such as a title and the number of the
	// page, may reach across.
	above, below := 0, 0
	if depth == 0 {
		above, below = min(8, len(rows)/3), min(3, len(rows)/3)
	}
	for cut := range above + below + 1 {
		for i := max(0, cut-below); i <= min(cut, above); i++ {
			middle := rows[i : len(rows)-(cut-i)]
			if at, ok := gutter(middle); ok {
				left, right := divided(middle, at)
				blocks := append(blocksOf(rows[:i], depth+1), blocksOf(left, depth+1)...)
				return append(append(blocks, blocksOf(right, depth+1)...), blocksOf(rows[len(rows)-(cut-i):], depth+1)...)
			}
		}
	}
	// No gutter runs through the whole page: cut it at the widest space between rows, and look
	// again.
	cut, widest := 0, 0.0
	for i := 1; i < len(rows); i++ {
		if space := (rows[i-1].y - rows[i].y) / max(rows[i-1].size, rows[i].size); space > widest {
			cut, widest = i, space
		}
	}
	if widest < 1.6 {
		return [][]row{rows}
	}
	upper, lower := blocksOf(rows[:cut], depth+1), blocksOf(rows[cut:], depth+1)
	if len(upper) == 1 && len(lower) == 1 {
		return [][]row{rows} // nothing was found on either side
	}
	return append(upper, lower...)
}

// divided returns the words to the left and to the right of a gutter, in rows.
func divided(rows []row, at float64) (left, right []row) {
	for _, r := range rows {
		n := 0
		for n < len(r.words) && r.words[n].x0 < at {
			n++
		}
		if n > 0 {
			left = append(left, row{r.y, r.size, r.words[:n]})
		}
		if n < len(r.words) {
			right = append(right, row{r.y, r.size, r.words[n:]})
		}
	}
	return left, right
}

// gutter finds the gap between the two columns of a page: a strip that no word crosses, with running
// text on both sides.
func gutter(rows []row) (at float64, ok bool) {
	const strips = 1024
	low, high, size := math.Inf(1), math.Inf(-1), 0.0
	for _, r := range rows {
		low, high, size = min(low, r.words[0].x0), max(high, r.words[len(r.words)-1].x1), max(size, r.size)
	}
	width := (high - low) / strips
	if !(width > 0) {
		return 0, false
	}
	var taken [strips]bool
	for _, r := range rows {
		for _, w := range r.words {
			from, to := int((w.x0-low)/width), int((w.x1-low)/width)
			for i := max(from, 0); i <= min(to, strips-1); i++ {
				taken[i] = true
			}
		}
	}
	for i, free := 0, 0; i < strips; i++ {
		if !taken[i] {
			free++
			continue
		}
		if at := low + (float64(i)-float64(free)/2)*width; float64(free)*width > 0.6*size {
			if left, right := divided(rows, at); isProse(left) && isProse(right) {
				return at, true
			}
		}
		free = 0
	}
	return 0, false
}

// isProse reports whether rows are lines of running text, most of them as wide as the widest, and
// not cells of a table.
func isProse(rows []row) bool {
	full, letters, widest := 0, 0, 0.0
	width := func(r row) float64 { return r.words[len(r.words)-1].x1 - r.words[0].x0 }
	for _, r := range rows {
		widest = max(widest, width(r))
	}
	for _, r := range rows {
		if width(r) > widest*0.6 {
			full++
		}
		for _, w := range r.words {
			for _, letter := range w.text { // and no digits, which columns of figures have
				if unicode.IsLetter(letter) {
					letters++
				}
			}
		}
	}
	return len(rows) > 3 && full*2 > len(rows) && letters > 15*len(rows)
}

// block adds lines, and tables where several lines have cells below one
// another.
func (x *extractor) block(page int, rows []row, hidden bool) error {
	for len(rows) > 0 {
		if at := slices.IndexFunc(rows[0].words, func(w span) bool { return w.table != nil }); at >= 0 {
			table := rows[0].words[at].table
			if rest := slices.Delete(slices.Clone(rows[0].words), at, at+1); len(rest) > 0 { // beside it
				if err := x.block(page, []row{{rows[0].y, rows[0].size, rest}}, hidden); err != nil {
					return err
				}
			}
			if table.of.number == 0 {
				x.tables++
				table.of.number = x.tables
			}
			x.ended = ended{}
			if err := x.table(page, table.of.number, table.cells, hidden); err != nil {
				return err
			}
			rows = rows[1:]
			continue
		}
		n, cells, strips := tableOf(rows)
		if n == 0 {
			x.line++
			x.ended = ended{}
			line := row{words: rows[0].words}.cells(math.Inf(1))[0]
			p := Piece{Kind: Text, Text: line.text, Hidden: hidden}
			if level := x.heading(line); level > 0 && !hidden {
				p.Kind, p.Level, x.section = Heading, level, line.text
			}
			p.At = Location{Page: page, Line: x.line, Section: x.section}
			if err := x.add(p); err != nil {
				return err
			}
			rows = rows[1:]
			continue
		}
		if x.line > 0 || !x.ended.goesOn(page, strips) {
			x.tables++
			x.ended = ended{number: x.tables}
		}
		for i := range cells {
			cells[i].row += x.ended.rows
		}
		x.ended = ended{page, x.ended.number, cells[len(cells)-1].row, strips}
		if err := x.table(page, x.ended.number, cells, hidden); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}
