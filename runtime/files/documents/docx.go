package documents

import (
	"encoding/xml"
	"path"
	"strings"
)

// docx reads a Word document: its body, then its notes and comments, and its headers and footers.
func (x *extractor) docx(data []byte) error {
	a, err := x.open(data)
	if err != nil {
		return err
	}
	part, rels, err := a.main("word/document.xml")
	if err != nil {
		return err
	}
	styles := map[string]style{}
	for _, r := range rels {
		if r.kind == "styles" {
			if styles, err = a.styles(r.target); err != nil {
				return err
			}
		}
	}
	if err := a.words(part, "", styles); err != nil {
		return err
	}
	for _, r := range rels {
		switch r.kind {
		case "footnotes", "endnotes", "comments", "header", "footer":
			x.section = ""
			if err := a.words(r.target, strings.TrimSuffix(path.Base(r.target), ".xml"), styles); err != nil {
				return err
			}
		}
	}
	return nil
}

// A style is what the name of a style says of a paragraph or of letters.
type style struct {
	level  int  // of a heading, or 0
	hidden bool // nobody sees it (w:vanish)
}

// styles returns the styles that mark headings and hidden text, by their ids.
func (a *archive) styles(part string) (map[string]style, error) {
	styles, based, shown := map[string]style{}, map[string]string{}, map[string]bool{}
	var id string
	err := a.each(part, func(t xml.Token) error {
		e, ok := t.(xml.StartElement)
		if !ok {
			return nil
		}
		s := styles[id]
		switch e.Name.Local {
		case "style":
			id = attr(e, "styleId")
			return nil
		case "basedOn":
			based[id] = attr(e, "val")
		case "name":
			name := strings.ToLower(attr(e, "val"))
			if n := number(strings.TrimPrefix(name, "heading ")); n > 0 && n < 10 {
				s.level = n
			} else if name == "title" {
				s.level = 1
			}
		case "outlineLvl":
			if n := number(attr(e, "val")) + 1; n < 10 && s.level == 0 {
				s.level = n
			}
		case "vanish":
			s.hidden, shown[id] = isSet(e), !isSet(e)
		}
		styles[id] = s
		return nil
	})
	for id := range based {
		s, seen := styles[id], shown[id]
		for up, steps := based[id], 0; up != "" && steps < 10; up, steps = based[up], steps+1 {
			if s.level == 0 {
				s.level = styles[up].level
			}
			seen = seen || shown[up]
			s.hidden = s.hidden || styles[up].hidden && !seen
		}
		styles[id] = s
	}
	return styles, err
}

// isSet reads a property that is on or off, and on where it does not say which.
func isSet(e xml.StartElement) bool { return attr(e, "val") == "" || isOn(attr(e, "val")) }

// A grid is a table that is read, and how far.
type grid struct {
	number, row, column int
	cell                strings.Builder
	merged              bool // the cell continues the one in the row above
	columns             int  // the number of columns that the cell spans
}

// A prose is a paragraph that is read: what people see, and what they do not.
type prose struct {
	style        style
	run          style // of the letters that follow
	seen, hidden strings.Builder
}

var lines = strings.NewReplacer("\r", "", "\n", " ", "\t", " ")

// words reads the paragraphs and tables of one part.
func (a *archive) words(part, called string, styles map[string]style) error {
	x := a.x
	var grids []*grid
	var texts []*prose // text boxes nest paragraphs inside paragraphs
	var skip, runs int
	var inText, deleted bool
	write := func(s string) {
		if len(texts) == 0 {
			return
		}
		if p := texts[len(texts)-1]; p.run.hidden {
			p.hidden.WriteString(s)
		} else {
			p.seen.WriteString(s)
		}
	}
	end := func() error {
		p := texts[len(texts)-1]
		texts = texts[:len(texts)-1]
		if s := strings.TrimSpace(p.hidden.String()); s != "" {
			x.paragraphs++
			if err := x.add(Piece{Kind: Text, At: Location{Part: called, Section: x.section, Paragraph: x.paragraphs}, Text: s, Hidden: true}); err != nil {
				return err
			}
		}
		s := strings.TrimSpace(p.seen.String())
		if s == "" {
			return nil
		}
		if n := len(grids); n > 0 {
			if grids[n-1].cell.Len() > 0 {
				grids[n-1].cell.WriteByte('\n')
			}
			grids[n-1].cell.WriteString(s)
			return nil
		}
		if called == "" {
			return x.paragraph(s, p.style.level, false)
		}
		kind := Note
		if strings.HasPrefix(called, "header") || strings.HasPrefix(called, "footer") {
			kind = Header
		}
		x.paragraphs++
		return x.add(Piece{Kind: kind, At: Location{Part: called, Paragraph: x.paragraphs}, Text: s})
	}
	return a.each(part, func(t xml.Token) error {
		switch t := t.(type) {
		case xml.StartElement:
			if skip > 0 || t.Name.Local == "Fallback" { // repeated content for older programs
				skip++
				return nil
			}
			g := &grid{}
			if len(grids) > 0 {
				g = grids[len(grids)-1]
			}
			switch t.Name.Local {
			case "p":
				texts = append(texts, &prose{})
			case "pStyle":
				if len(texts) > 0 {
					texts[len(texts)-1].style = styles[attr(t, "val")]
				}
			case "outlineLvl":
				if n := number(attr(t, "val")) + 1; n < 10 && len(texts) > 0 {
					texts[len(texts)-1].style.level = n
				}
			case "r":
				if runs++; len(texts) > 0 {
					texts[len(texts)-1].run = style{hidden: texts[len(texts)-1].style.hidden}
				}
			case "rStyle":
				if runs > 0 && len(texts) > 0 {
					run := &texts[len(texts)-1].run
					run.hidden = run.hidden || styles[attr(t, "val")].hidden
				}
			case "vanish":
				if runs > 0 && len(texts) > 0 { // elsewhere it is about the mark of a paragraph
					texts[len(texts)-1].run.hidden = isSet(t)
				}
			case "t":
				inText = true
			case "del", "moveFrom":
				deleted = true
			case "tab", "br", "cr":
				write(" ")
			case "noBreakHyphen":
				write("-")
			case "sym":
				write(symbol(attr(t, "font"), attr(t, "char")))
			case "tbl":
				x.tables++
				grids = append(grids, &grid{number: x.tables})
			case "tr":
				g.row, g.column = g.row+1, 0
			case "gridBefore":
				g.column += number(attr(t, "val"))
			case "tc":
				g.column += max(g.columns, 1)
				g.columns, g.merged = 0, false
				g.cell.Reset()
			case "gridSpan":
				g.columns = number(attr(t, "val"))
			case "vMerge":
				g.merged = attr(t, "val") != "restart"
			}
		case xml.EndElement:
			if skip > 0 {
				skip--
				return nil
			}
			switch t.Name.Local {
			case "p":
				if len(texts) > 0 {
					return end()
				}
			case "t":
				inText = false
			case "r":
				runs--
			case "del", "moveFrom":
				deleted = false
			case "tr":
				if len(grids) > 0 {
					grids[len(grids)-1].columns = 0
				}
			case "tc":
				if len(grids) > 0 {
					return x.cellOf(grids, called)
				}
			case "tbl":
				if len(grids) > 0 {
					grids = grids[:len(grids)-1]
				}
			}
		case xml.CharData:
			if inText && !deleted && skip == 0 {
				write(lines.Replace(string(t))) // a line break of the XML is a space
			}
		}
		return nil
	})
}

// cellOf adds the cell that has ended. A table within a cell is a table of its
// own, and its text is not said twice.
func (x *extractor) cellOf(grids []*grid, called string) error {
	g := grids[len(grids)-1]
	s := strings.TrimSpace(g.cell.String())
	if s == "" || g.merged {
		return nil
	}
	at := Location{Part: called, Section: x.section, Table: g.number, Row: g.row, Column: g.column}
	return x.add(Piece{Kind: InCell, At: at, Text: s, Cell: &Cell{Columns: many(g.columns)}})
}
