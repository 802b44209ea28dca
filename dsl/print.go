package dsl

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Style says how Print shows diagnostics.
type Style struct {
	Color bool // use the colours of a terminal
}

const (
	colorBold   = "\x1b[1m"
	colorRed    = "\x1b[1;31m"
	colorYellow = "\x1b[1;33m"
	colorBlue   = "\x1b[34m"
	colorReset  = "\x1b[0m"
)

func (s Style) paint(color, text string) string {
	if !s.Color || text == "" {
		return text
	}
	return color + text + colorReset
}

// excerptWidth is how many cells of a line are shown; longer lines are cut around the marked
// part.
const excerptWidth = 100

// Print writes diagnostics for a person: what is wrong, where, the line with a caret under the
// place, what was expected, and further help. Characters that are invisible, or change how their
// neighbours are shown, are written as escapes, and masked ones as bullets.
func (ds Diagnostics) Print(w io.Writer, style Style) error {
	var b bytes.Buffer
	for i := range ds {
		if i > 0 {
			b.WriteByte('\n')
		}
		ds[i].print(&b, style)
		if b.Len() > 1<<15 {
			if _, err := w.Write(b.Bytes()); err != nil {
				return err
			}
			b.Reset()
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// hasRange reports whether the place is more than "the input as a whole".
func (p Place) hasRange() bool { return p.Source != nil && p.Range != Range{} }

// String returns file:line:column.
func (p Place) String() string {
	if p.Source == nil {
		return ""
	}
	if !p.hasRange() {
		return visible(p.Source.Name)
	}
	at := p.Source.Position(p.Range.Start)
	return fmt.Sprintf("%s:%d:%d", visible(p.Source.Name), at.Line, at.Column)
}

// visible escapes invisible characters in a name or message.
func visible(s string) string {
	if strings.IndexFunc(s, hidden) < 0 && utf8.ValidString(s) {
		return s
	}
	var b []byte
	for _, r := range s {
		if hidden(r) {
			b = appendEscape(b, r)
		} else {
			b = utf8.AppendRune(b, r)
		}
	}
	return string(b)
}

func (d *Diagnostic) print(b *bytes.Buffer, style Style) {
	color := colorRed
	if d.Severity == Warning {
		color = colorYellow
	}
	b.WriteString(style.paint(color, fmt.Sprintf("%s[%s]", d.Severity, d.Code)))
	b.WriteString(style.paint(colorBold, ": "+visible(d.Summary)))
	b.WriteByte('\n')

	marks := d.marks()
	gutter := 3
	for _, m := range marks {
		gutter = max(gutter, len(strconv.Itoa(m.to.Line)))
	}
	bar := style.paint(colorBlue, strings.Repeat(" ", gutter)+" |")
	if d.Place.Source != nil {
		b.WriteString(style.paint(colorBlue, strings.Repeat(" ", gutter)+"--> "))
		b.WriteString(d.Place.String() + "\n")
	}
	if len(marks) > 0 {
		b.WriteString(bar + "\n")
	}
	d.excerpt(b, style, marks, gutter, bar, color)

	notes := make([]string, 0, len(d.Notes)+len(d.Related)+1)
	if len(marks) == 0 && d.Label != "" {
		notes = append(notes, d.Label)
	}
	for _, r := range d.Related {
		if r.Place.Source != d.Place.Source || !r.Place.hasRange() || len(marks) == 0 {
			notes = append(notes, strings.TrimSuffix(r.Message+": "+r.Place.String(), ": "))
		}
	}
	notes = append(notes, d.Notes...)
	if len(notes) > 0 && len(marks) > 0 {
		b.WriteString(bar + "\n")
	}
	for _, n := range notes {
		b.WriteString(style.paint(colorBlue, strings.Repeat(" ", gutter)+" = "))
		b.WriteString(visible(n) + "\n")
	}
}

// A mark is a range to be underlined, on the lines it touches.
type mark struct {
	from, to Position
	r        Range
	text     string
	main     bool
}

func (d *Diagnostic) marks() []mark {
	if !d.Place.hasRange() {
		return nil
	}
	marks := []mark{d.mark(d.Place.Range, d.Label, true)}
	for _, r := range d.Related {
		if r.Place.Source == d.Place.Source && r.Place.hasRange() {
			marks = append(marks, d.mark(r.Place.Range, r.Message, false))
		}
	}
	slices.SortStableFunc(marks, func(a, b mark) int {
		return cmp.Or(a.from.Line-b.from.Line, int(a.r.Start-b.r.Start))
	})
	return marks
}

func (d *Diagnostic) mark(r Range, text string, main bool) mark {
	src := d.Place.Source
	m := mark{from: src.Position(r.Start), to: src.Position(r.End), r: r, text: visible(text), main: main}
	if r.End > r.Start {
		// The end is the place after the last character, which may already be on the next line.
		if last := src.Position(r.End - 1); last.Line < m.to.Line {
			m.to = Position{last.Line, utf8.RuneCountInString(src.Line(last.Line)) + 1}
		}
	}
	return m
}

// excerpt shows the marked lines. For a range over several lines it shows the first and the last.
func (d *Diagnostic) excerpt(b *bytes.Buffer, style Style, marks []mark, gutter int, bar, color string) {
	shown := 0
	line := func(n int) {
		if shown > 0 && n > shown+1 {
			b.WriteString(style.paint(colorBlue, strings.Repeat(".", 3)) + "\n")
		}
		shown = n
	}
	under := func(n, from, to int, m mark, text string) {
		l := d.layLine(n, from, to)
		if shown != n || !l.whole {
			line(n)
			b.WriteString(style.paint(colorBlue, fmt.Sprintf("%*d |", gutter, n)))
			if l.text != "" {
				b.WriteString(" " + l.text)
			}
			b.WriteByte('\n')
		}
		sign, paint := "^", color
		if !m.main {
			sign, paint = "-", colorBlue
		}
		b.WriteString(bar + " " + strings.Repeat(" ", l.pad))
		tail := strings.Repeat(sign, max(1, l.width))
		if text != "" {
			tail += " " + text
		}
		b.WriteString(style.paint(paint, tail) + "\n")
	}
	for _, m := range marks {
		if m.from.Line == m.to.Line {
			under(m.from.Line, m.from.Column, m.to.Column, m, m.text)
			continue
		}
		first := utf8.RuneCountInString(d.Place.Source.Line(m.from.Line)) + 1
		under(m.from.Line, m.from.Column, max(first, m.from.Column), m, "from here")
		under(m.to.Line, 1, m.to.Column, m, strings.TrimSpace("to here; "+m.text))
	}
}

// A laidLine is a line as it is shown, with the beginning and the width in cells of its marked
// part.
type laidLine struct {
	text       string
	pad, width int
	whole      bool // the line is not cut
}

// layLine lays a line out in cells: tabs become four spaces, invisible characters escapes, masked
// ones bullets; then it cuts a window around columns from to to.
func (d *Diagnostic) layLine(n, from, to int) laidLine {
	src := d.Place.Source
	line := src.Line(n)
	base := lineStart(src, n)
	type cell struct {
		text  string
		width int
	}
	// Only the part of a very long line near the mark is laid out.
	const around = 4 * excerptWidth
	var cells []cell
	first := 0 // number of cells before the first of cells
	column := 1
	for i := 0; i < len(line); column++ {
		r, size := utf8.DecodeRuneInString(line[i:])
		if column < from-around {
			i += size
			first++
			continue
		}
		if column > from+around {
			break
		}
		c := cell{line[i : i+size], runeWidth(r)}
		switch {
		case d.masked(base+i, base+i+size):
			c = cell{strings.Repeat("•", max(1, c.width)), max(1, c.width)}
		case r == '\t':
			if c = (cell{"    ", 4}); column >= from && column < to {
				c.text = "→   " // the tab is the mistake
			}
		case r == utf8.RuneError && size == 1:
			c.text = fmt.Sprintf(`\x%02X`, line[i])
			c.width = len(c.text)
		case hidden(r):
			c.text = string(appendEscape(nil, r))
			c.width = len(c.text)
		}
		cells = append(cells, c)
		i += size
	}
	start, end := min(from-1-first, len(cells)), min(max(to-1-first, from-1-first), len(cells))
	width := 0
	for _, c := range cells {
		width += c.width
	}
	lo, hi := 0, len(cells)
	if width > excerptWidth || first > 0 {
		// A third of the window is before the mark.
		lo, hi = start, start
		for room := excerptWidth / 3; lo > 0 && room >= cells[lo-1].width; lo-- {
			room -= cells[lo-1].width
		}
		room := excerptWidth
		for i := lo; i < start; i++ {
			room -= cells[i].width
		}
		for ; hi < len(cells) && room >= cells[hi].width; hi++ {
			room -= cells[hi].width
		}
	}
	var l laidLine
	var b strings.Builder
	if lo > 0 || first > 0 {
		b.WriteString("...")
		l.pad = 3
	}
	for i := lo; i < hi; i++ {
		b.WriteString(cells[i].text)
		if i < start {
			l.pad += cells[i].width
		} else if i < end {
			l.width += cells[i].width
		}
	}
	if hi < len(cells) || first+len(cells) < utf8.RuneCountInString(line) {
		b.WriteString("...")
	}
	l.whole = lo == 0 && first == 0 && hi == len(cells) && column > utf8.RuneCountInString(line)
	l.text = strings.TrimRight(b.String(), " ")
	return l
}

// lineStart returns the offset of the first character of a line.
func lineStart(src *Source, n int) int {
	src.Position(0)
	start := int(src.lines[n-1])
	if n == 1 && strings.HasPrefix(src.Text, bom) {
		start += len(bom)
	}
	return start
}

func (d *Diagnostic) masked(from, to int) bool {
	for _, r := range d.Mask {
		if int(r.Start) < to && from < int(r.End) {
			return true
		}
	}
	return false
}

// runeWidth returns the width of a character in terminal cells.
func runeWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me) || r == 0x200c || r == 0x200d:
		return 0
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0x303e, r >= 0x3041 && r <= 0xa4cf,
		r >= 0xa960 && r <= 0xa97f, r >= 0xac00 && r <= 0xd7a3, r >= 0xf900 && r <= 0xfaff,
		r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6,
		r >= 0x1f300 && r <= 0x1f64f, r >= 0x1f680 && r <= 0x1f6ff, r >= 0x1f900 && r <= 0x1f9ff,
		r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}
