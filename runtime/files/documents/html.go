package documents

import (
	"bytes"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

// html reads a page: headings, paragraphs and tables, as they follow.
func (x *extractor) html(data []byte) error {
	e, name, sure := charset.DetermineEncoding(data, "")
	if _, found, ok := decode(data); ok && !sure {
		e, _ = charset.Lookup(found)
		name = strings.ToLower(found)
	}
	if e == nil {
		return fail(WrongType, "the bytes are not text")
	}
	text, err := e.NewDecoder().Bytes(data)
	if err != nil {
		return fail(Damaged, "it is not %s throughout", name)
	}
	if x.inside == "" {
		x.doc.Encoding = name
	}
	return x.markup(text)
}

// markup reads a page in UTF-8, whatever it says of its encoding.
func (x *extractor) markup(text []byte) error {
	root, err := html.ParseWithOptions(bytes.NewReader(text), html.ParseOptionEnableScripting(false))
	if err != nil {
		return fail(Damaged, "it cannot be taken apart")
	}
	p := &page{extractor: x}
	if err := p.walk(root, false, 0); err != nil {
		return err
	}
	return p.flush()
}

// A page is an HTML page that is read.
type page struct {
	*extractor
	buf    strings.Builder
	level  int // of the heading we are in
	hidden bool
}

// flush ends a paragraph.
func (p *page) flush() error {
	s := strings.Join(strings.Fields(p.buf.String()), " ")
	p.buf.Reset()
	if s == "" {
		return nil
	}
	return p.paragraph(s, p.level, p.hidden)
}

// paragraph adds a paragraph or a heading; what follows stands under the
// heading.
func (x *extractor) paragraph(s string, level int, hidden bool) error {
	x.paragraphs++
	piece := Piece{Kind: Text, Text: s, Hidden: hidden}
	if level > 0 {
		piece.Kind, piece.Level, x.section = Heading, level, s
	}
	piece.At = Location{Section: x.section, Paragraph: x.paragraphs}
	return x.add(piece)
}

var blocks = map[atom.Atom]bool{
	atom.P: true, atom.Div: true, atom.Li: true, atom.Ul: true, atom.Ol: true, atom.Section: true, atom.Article: true, atom.Header: true,
	atom.Footer: true, atom.Blockquote: true, atom.Pre: true, atom.Dt: true, atom.Dd: true, atom.Caption: true, atom.Figcaption: true,
	atom.Main: true, atom.Nav: true, atom.Aside: true, atom.Hr: true, atom.Br: true, atom.Address: true, atom.Body: true, atom.Td: true, atom.Th: true, atom.Tr: true, atom.Form: true, atom.Option: true,
}

func (p *page) walk(n *html.Node, hidden bool, depth int) error {
	if depth > 512 {
		return fail(Loop, "its elements are nested more than 512 deep")
	}
	if n.Type == html.TextNode {
		p.buf.WriteString(n.Data)
		return nil
	}
	level := 0
	if n.Type == html.ElementNode {
		hidden = hidden || isHidden(n)
		switch n.DataAtom {
		case atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Svg, atom.Iframe:
			return nil
		case atom.Title:
			if p.inside == "" {
				p.doc.Title = flat(n)
			}
			return nil
		case atom.Table:
			if err := p.flush(); err != nil {
				return err
			}
			if !arranges(n) {
				return p.table(n, hidden)
			}
		case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
			level = int(n.Data[1] - '0')
		}
	}
	block := level > 0 || blocks[n.DataAtom]
	if block || hidden != p.hidden {
		if err := p.flush(); err != nil {
			return err
		}
	}
	if level > 0 {
		p.level = level
	}
	p.hidden = hidden
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if err := p.walk(c, hidden, depth+1); err != nil {
			return err
		}
	}
	if block {
		if err := p.flush(); err != nil {
			return err
		}
	}
	if level > 0 {
		p.level = 0
	}
	return nil
}

// arranges reports whether a table only puts parts of a page beside one
// another: there are tables in it.
func arranges(t *html.Node) bool {
	for n := range t.Descendants() {
		if n.DataAtom == atom.Table {
			return true
		}
	}
	return false
}

// table adds the cells of a table.
func (p *page) table(t *html.Node, hidden bool) error {
	p.tables++
	number, row := p.tables, 0
	taken := map[[2]int]bool{}
	for n := range t.Descendants() {
		switch n.DataAtom {
		case atom.Caption:
			if err := p.paragraph(flat(n), 0, hidden); err != nil {
				return err
			}
		case atom.Tr:
			row++
			column := 1
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				if c.DataAtom != atom.Td && c.DataAtom != atom.Th {
					continue
				}
				for taken[[2]int{row, column}] {
					column++
				}
				rows, columns := covers(c, "rowspan"), covers(c, "colspan")
				for r := range rows {
					for k := range columns {
						taken[[2]int{row + r, column + k}] = true
					}
				}
				if s := flat(c); s != "" {
					cell := &Cell{Rows: many(rows), Columns: many(columns)}
					at := Location{Section: p.section, Table: number, Row: row, Column: column}
					if err := p.add(Piece{Kind: InCell, At: at, Text: s, Hidden: hidden || isHidden(n) || isHidden(c), Cell: cell}); err != nil {
						return err
					}
				}
				column += columns
			}
		}
	}
	return nil
}

func covers(n *html.Node, key string) int {
	v, err := strconv.Atoi(attribute(n, key))
	if err != nil || v < 1 || v > 100 {
		return 1
	}
	return v
}

// many returns the number of rows or columns that a cell spans, 0 for one.
func many(n int) int {
	if n < 2 {
		return 0
	}
	return n
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func isHidden(n *html.Node) bool {
	style := strings.ReplaceAll(attribute(n, "style"), " ", "")
	for _, a := range n.Attr {
		if a.Key == "hidden" {
			return true
		}
	}
	return strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden")
}

// flat returns the visible text of an element.
func flat(n *html.Node) string {
	var b strings.Builder
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			switch {
			case c.Type == html.TextNode:
				b.WriteString(c.Data)
			case c.DataAtom == atom.Script || c.DataAtom == atom.Style || isHidden(c):
			default:
				if c.DataAtom == atom.Br || blocks[c.DataAtom] {
					b.WriteByte(' ')
				}
				walk(c)
			}
		}
	}
	walk(n)
	return strings.Join(strings.Fields(b.String()), " ")
}
