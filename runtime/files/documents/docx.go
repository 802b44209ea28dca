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
	levels := map[string]int{}
	for _, r := range rels {
		if r.kind == "styles" {
			if levels, err = a.headings(r.target); err != nil {
				return err
			}
		}
	}
	if err := a.words(part, "", levels); err != nil {
		return err
	}
	for _, r := range rels {
		switch r.kind {
		case "footnotes", "endnotes", "comments", "header", "footer":
			x.section = ""
			if err := a.words(r.target, strings.TrimSuffix(path.Base(r.target), ".xml"), nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// headings returns the styles that mark headings, with their levels.
func (a *archive) headings(part string) (map[string]int, error) {
	levels, based := map[string]int{}, map[string]string{}
	var id string
	err := a.each(part, func(t xml.Token) error {
		e, ok := t.(xml.StartElement)
		if !ok {
			return nil
		}
		switch e.Name.Local {
		case "style":
			id = attr(e, "styleId")
		case "basedOn":
			based[id] = attr(e, "val")
		case "name":
			name := strings.ToLower(attr(e, "val"))
			if n := number(strings.TrimPrefix(name, "heading ")); n > 0 && n < 10 {
				levels[id] = n
			} else if name == "title" {
				levels[id] = 1
			}
		case "outlineLvl":
			if n := number(attr(e, "val")) + 1; n < 10 && levels[id] == 0 {
				levels[id] = n
			}
		}
		return nil
	})
	for id := range based {
		for up, steps := based[id], 0; levels[id] == 0 && up != "" && steps < 10; up, steps = based[up], steps+1 {
			levels[id] = levels[up]
		}
	}
	return levels, err
}

// A grid is a table that is read, and how far.
type grid struct {
	number, row, column int
	cell                strings.Builder
	merged              bool // the cell continues the one in the row above
	columns             int  // the number of columns that the cell spans
}

// words reads the paragraphs and tables of one part.
func (a *archive) words(part, called string, levels map[string]int) error {
	x := a.x
	var grids []*grid
	var texts []*strings.Builder // text boxes nest paragraphs inside paragraphs
	var level, skip int
	var inText, deleted bool
	end := func() error {
		s := strings.TrimSpace(texts[len(texts)-1].String())
		texts = texts[:len(texts)-1]
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
			return x.paragraph(s, level, false)
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
				texts, level = append(texts, &strings.Builder{}), 0
			case "pStyle":
				level = levels[attr(t, "val")]
			case "outlineLvl":
				if n := number(attr(t, "val")) + 1; called == "" && n < 10 && levels != nil {
					level = n
				}
			case "t":
				inText = true
			case "del", "moveFrom":
				deleted = true
			case "tab", "br", "cr":
				if len(texts) > 0 {
					texts[len(texts)-1].WriteByte(' ')
				}
			case "noBreakHyphen":
				if len(texts) > 0 {
					texts[len(texts)-1].WriteByte('-')
				}
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
			if inText && !deleted && skip == 0 && len(texts) > 0 {
				texts[len(texts)-1].Write(t)
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
