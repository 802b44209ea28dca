package documents

import (
	"bytes"
	"math"
	"strconv"

	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
)

// A matrix maps (x, y) to (ax+cy+e, bx+dy+f).
type matrix [6]float64

// times maps by m first and then by n.
func (m matrix) times(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

func (m matrix) apply(x, y float64) (float64, float64) {
	return m[0]*x + m[2]*y + m[4], m[1]*x + m[3]*y + m[5]
}

// rotation turns a page as a viewer does: clockwise, by quarters.
func rotation(degrees int) matrix {
	switch ((degrees % 360) + 360) % 360 {
	case 90:
		return matrix{0, -1, 1, 0, 0, 0}
	case 180:
		return matrix{-1, 0, 0, -1, 0, 0}
	case 270:
		return matrix{0, 1, -1, 0, 0, 0}
	}
	return matrix{1, 0, 0, 1, 0, 0}
}

// A glyph is one or more letters drawn as one, at a position on the page.
type glyph struct {
	text   string
	x, y   float64 // where its baseline begins
	dx, dy float64 // how far it advances
	size   float64
	unseen bool // it is outside of the page, or in a layer that is off
	cell   *tag // of a table that the structure declares
}

// A state is the graphics and text state that the operators of a page set.
type state struct {
	ctm                         matrix
	font                        *font
	size, leading, rise         float64
	charSpace, wordSpace, scale float64
	unseen                      bool
	cell                        *tag
}

// A drawing is a page that is drawn.
type drawing struct {
	*pdf
	glyphs   []glyph
	pictures bool
	seen     box
	page     int // number of its object
}

// mostNested is the greatest depth of forms inside forms.
const mostNested = 20

// draw executes the operators that place text.
func (d *drawing) draw(content []byte, resources types.Dict, s state, depth int) error {
	var saved []state
	var text, line matrix
	identity := matrix{1, 0, 0, 1, 0, 0}
	text, line = identity, identity
	lex := lexer{data: content}
	var marked []mark
	for {
		op, args, ok := lex.next()
		if !ok {
			return nil
		}
		num := func(i int) float64 {
			if i < len(args) {
				f, _ := args[i].(float64)
				return f
			}
			return 0
		}
		move := func(x, y float64) {
			line = matrix{1, 0, 0, 1, x, y}.times(line)
			text = line
		}
		show := func(i int) {
			if i < len(args) {
				d.show(args[i], &s, &text)
			}
		}
		switch op {
		case "q":
			if len(saved) < 1000 {
				saved = append(saved, s)
			}
		case "Q":
			if n := len(saved); n > 0 {
				s, saved = saved[n-1], saved[:n-1]
			}
		case "cm":
			s.ctm = matrix{num(0), num(1), num(2), num(3), num(4), num(5)}.times(s.ctm)
		case "BT":
			text, line = identity, identity
		case "Tf":
			if len(args) > 1 {
				name, _ := args[0].(word)
				fonts, _ := d.dict(resources["Font"])
				f, err := d.fontOf(fonts[string(name)])
				if err != nil {
					return err
				}
				s.font, s.size = f, num(1)
			}
		case "Tc":
			s.charSpace = num(0)
		case "Tw":
			s.wordSpace = num(0)
		case "Tz":
			s.scale = num(0) / 100
		case "TL":
			s.leading = num(0)
		case "Ts":
			s.rise = num(0)
		case "Td":
			move(num(0), num(1))
		case "TD":
			s.leading = -num(1)
			move(num(0), num(1))
		case "Tm":
			line = matrix{num(0), num(1), num(2), num(3), num(4), num(5)}
			text = line
		case "T*":
			move(0, -s.leading)
		case "Tj":
			show(0)
		case "'":
			move(0, -s.leading)
			show(0)
		case "\"":
			s.wordSpace, s.charSpace = num(0), num(1)
			move(0, -s.leading)
			show(2)
		case "TJ":
			if len(args) > 0 {
				list, _ := args[0].([]any)
				for _, item := range list {
					d.show(item, &s, &text)
				}
			}
		case "BMC", "BDC":
			m := mark{from: len(d.glyphs), unseen: s.unseen, cell: s.cell}
			if op == "BDC" {
				var cell *tag
				if m.text, m.instead, cell = d.actual(args, resources, depth); cell != nil {
					s.cell = cell
				}
				s.unseen = s.unseen || d.layerOff(args, resources)
			}
			if len(marked) < 1000 {
				marked = append(marked, m)
			}
		case "EMC":
			if n := len(marked); n > 0 {
				d.instead(marked[n-1])
				s.unseen, s.cell, marked = marked[n-1].unseen, marked[n-1].cell, marked[:n-1]
			}
		case "BI":
			d.pictures = true
			lex.skipImage()
		case "Do":
			if len(args) > 0 {
				name, _ := args[0].(word)
				objects, _ := d.dict(resources["XObject"])
				if err := d.form(objects[string(name)], resources, s, depth); err != nil {
					return err
				}
			}
		}
	}
}

// form draws a named object: a picture, or a page inside the page.
func (d *drawing) form(o types.Object, resources types.Dict, s state, depth int) error {
	if d.forms++; d.forms > mostForms || depth >= mostNested {
		return fail(Loop, "forms draw one another without end")
	}
	form, ok := d.dict(o)
	if !ok {
		return nil
	}
	switch d.name(form["Subtype"]) {
	case "Image":
		d.pictures = true
		return nil
	case "Form":
	default:
		return nil
	}
	s.unseen = s.unseen || d.off(form["OC"])
	data, err := d.stream(o)
	if err != nil {
		return err
	}
	if m := d.numbers(form["Matrix"]); len(m) == 6 {
		s.ctm = matrix(m).times(s.ctm)
	}
	if own, ok := d.dict(form["Resources"]); ok {
		resources = own
	}
	return d.draw(data, resources, s, depth+1)
}

// show places the letters of a string, or moves on by a number.
func (d *drawing) show(item any, s *state, text *matrix) {
	switch item := item.(type) {
	case float64:
		*text = matrix{1, 0, 0, 1, -item / 1000 * s.size * s.scale, 0}.times(*text)
	case []byte:
		if s.font == nil {
			return
		}
		for len(item) > 0 {
			letters, width, n := s.font.next(item)
			space := s.charSpace
			if n == 1 && item[0] == ' ' {
				space += s.wordSpace
			}
			item = item[n:]
			advance := (width*s.size + space) * s.scale
			full := text.times(s.ctm)
			x, y := full.apply(0, s.rise)
			x2, y2 := full.apply(width*s.size*s.scale, s.rise)
			size := math.Abs(s.size) * math.Hypot(full[2], full[3])
			if letters != "" && size > 0 && !math.IsNaN(x+y+x2+y2) && math.Abs(x)+math.Abs(y) < 1e6 {
				d.glyphs = append(d.glyphs, glyph{letters, x, y, x2 - x, y2 - y, size, s.unseen || !d.seen.holds((x+x2)/2, (y+y2)/2), s.cell})
			}
			*text = matrix{1, 0, 0, 1, advance, 0}.times(*text)
		}
	}
}

// A word is a name: /F1.
type word string

// A lexer tokenizes the content of a page, or a font's table of letters.
type lexer struct {
	data []byte
	pos  int
}

// mostArgs is the greatest number of operands that are kept for one operator.
const mostArgs = 1 << 16

// next returns the next operator and its operands: float64, word, []byte and []any.
func (l *lexer) next() (op string, args []any, ok bool) {
	for {
		v, op, ok := l.value(0)
		switch {
		case !ok:
			return "", nil, false
		case op != "":
			return op, args, true
		case len(args) < mostArgs:
			args = append(args, v)
		}
	}
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0
}
func isDelimiter(c byte) bool { return bytes.IndexByte([]byte("()<>[]{}/%"), c) >= 0 }

func (l *lexer) value(depth int) (v any, op string, ok bool) {
	for l.pos < len(l.data) {
		c := l.data[l.pos]
		switch {
		case isSpace(c):
			l.pos++
		case c == '%':
			for l.pos < len(l.data) && l.data[l.pos] != '\n' && l.data[l.pos] != '\r' {
				l.pos++
			}
		case c == '(':
			return l.literal(), "", true
		case bytes.HasPrefix(l.data[l.pos:], []byte("<<")): // the entries of a dictionary follow one another
			l.pos += 2
		case c == '<':
			return l.hex(), "", true
		case c == '[':
			l.pos++
			list := []any{}
			for depth < 50 {
				v, op, ok := l.value(depth + 1)
				if !ok || op == "]" {
					break
				}
				if op == "" && len(list) < mostArgs {
					list = append(list, v)
				}
			}
			return list, "", true
		case c == ']':
			l.pos++
			if depth > 0 {
				return nil, "]", true
			}
		case c == '/':
			l.pos++
			return word(l.regular()), "", true
		case isDelimiter(c):
			l.pos++
		default:
			s := string(l.regular())
			if f, err := strconv.ParseFloat(s, 64); err == nil {
				return f, "", true
			}
			return nil, s, true
		}
	}
	return nil, "", false
}

// regular reads up to a space or a delimiter.
func (l *lexer) regular() []byte {
	start := l.pos
	for l.pos < len(l.data) && !isSpace(l.data[l.pos]) && !isDelimiter(l.data[l.pos]) {
		l.pos++
	}
	return l.data[start:l.pos]
}

// literal reads a string in parentheses.
func (l *lexer) literal() []byte {
	out := []byte{}
	nested := 0
	for ; l.pos < len(l.data); l.pos++ {
		c := l.data[l.pos]
		switch {
		case c == '(':
			if nested++; nested == 1 {
				continue
			}
		case c == ')':
			if nested--; nested == 0 {
				l.pos++
				return out
			}
		case c == '\\' && l.pos+1 < len(l.data):
			l.pos++
			c = l.data[l.pos]
			if i := bytes.IndexByte([]byte("nrtbf"), c); i >= 0 {
				c = "\n\r\t\b\f"[i]
			} else if c >= '0' && c <= '7' {
				n := 0
				for i := 0; i < 3 && l.pos < len(l.data) && l.data[l.pos] >= '0' && l.data[l.pos] <= '7'; i++ {
					n = n*8 + int(l.data[l.pos]-'0')
					l.pos++
				}
				l.pos--
				c = byte(n)
			} else if c == '\n' || c == '\r' {
				if c == '\r' && l.pos+1 < len(l.data) && l.data[l.pos+1] == '\n' {
					l.pos++
				}
				continue
			}
		}
		out = append(out, c)
	}
	return out
}

// hex reads a string in angle brackets.
func (l *lexer) hex() []byte {
	out := []byte{}
	digits, n := 0, byte(0)
	for l.pos++; l.pos < len(l.data); l.pos++ {
		c := l.data[l.pos]
		if c == '>' {
			l.pos++
			break
		}
		v := bytes.IndexByte([]byte("0123456789abcdef"), c|0x20)
		if c >= '0' && c <= '9' {
			v = int(c - '0')
		}
		if v < 0 {
			continue
		}
		if n, digits = n<<4|byte(v), digits+1; digits%2 == 0 {
			out = append(out, n)
		}
	}
	if digits%2 == 1 {
		out = append(out, n<<4)
	}
	return out
}

// skipImage leaves out the bytes of a picture between operators.
func (l *lexer) skipImage() {
	i := bytes.Index(l.data[l.pos:], []byte("ID"))
	if i < 0 {
		l.pos = len(l.data)
		return
	}
	l.pos += i + 2
	for {
		i := bytes.Index(l.data[l.pos:], []byte("EI"))
		if i < 0 {
			l.pos = len(l.data)
			return
		}
		l.pos += i + 2
		if isSpace(l.data[l.pos-3]) && (l.pos == len(l.data) || isSpace(l.data[l.pos])) {
			return
		}
	}
}
