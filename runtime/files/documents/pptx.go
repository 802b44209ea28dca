package documents

import (
	"encoding/xml"
	"strings"
)

// pptx reads the slides in the order in which they are shown, each with the
// notes of its speaker.
func (x *extractor) pptx(data []byte) error {
	a, err := x.open(data)
	if err != nil {
		return err
	}
	part, rels, err := a.main("ppt/presentation.xml")
	if err != nil {
		return err
	}
	var slides []string
	err = a.each(part, func(t xml.Token) error {
		if e, ok := t.(xml.StartElement); ok && e.Name.Local == "sldId" {
			id := ""
			for _, at := range e.Attr {
				if at.Name.Local == "id" && at.Name.Space != "" {
					id = at.Value
				}
			}
			for _, r := range rels {
				if r.id == id {
					slides = append(slides, r.target)
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(slides) == 0 {
		return fail(Damaged, "it has no slides")
	}
	for i, slide := range slides {
		if a.files[strings.ToLower(slide)] == nil {
			return fail(Damaged, "a slide of it is missing")
		}
		if err := x.page(); err != nil {
			return err
		}
		if err := x.far(i+1, len(slides)); err != nil {
			return err
		}
		x.section = ""
		hidden, err := a.slide(slide, i+1, "", false)
		if err != nil {
			return err
		}
		of, err := a.relations(slide)
		if err != nil {
			return err
		}
		for _, r := range of {
			if r.kind == "notesSlide" {
				if _, err := a.slide(r.target, i+1, "notes", hidden); err != nil {
					return err
				}
			}
		}
	}
	if x.inside == "" {
		x.doc.Pages = len(slides)
	}
	return nil
}

// slide reads the shapes of a slide or of its notes.
func (a *archive) slide(part string, on int, called string, hidden bool) (bool, error) {
	x := a.x
	var s, cell strings.Builder
	var inText, inCell, title, skip bool
	var table, row, column, columns, paragraphs int
	err := a.each(part, func(t xml.Token) error {
		switch t := t.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "sld":
				hidden = hidden || attr(t, "show") == "0"
			case "sp", "graphicFrame":
				title, skip = false, false
			case "ph":
				kind := attr(t, "type")
				title = called == "" && (kind == "title" || kind == "ctrTitle")
				skip = kind == "sldNum" || kind == "dt" || kind == "sldImg" || called != "" && kind != "body"
			case "tbl":
				x.tables++
				table, row = x.tables, 0
			case "tr":
				row, column, columns = row+1, 0, 0
			case "tc":
				column++
				inCell = attr(t, "hMerge") == "" && attr(t, "vMerge") == ""
				columns = number(attr(t, "gridSpan"))
				cell.Reset()
			case "p":
				s.Reset()
			case "t":
				inText = true
			case "br":
				s.WriteByte(' ')
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "t":
				inText = false
			case "p":
				said := strings.TrimSpace(s.String())
				switch {
				case said == "" || skip:
				case table > 0:
					if cell.Len() > 0 {
						cell.WriteByte('\n')
					}
					cell.WriteString(said)
				default:
					paragraphs++
					p := Piece{Kind: Text, Text: said, Hidden: hidden}
					if called != "" {
						p.Kind = Note
					} else if title {
						p.Kind, p.Level, x.section = Heading, 1, said
					}
					p.At = Location{Slide: on, Part: called, Section: x.section, Paragraph: paragraphs}
					return x.add(p)
				}
			case "tc":
				if cell.Len() == 0 || !inCell {
					return nil
				}
				at := Location{Slide: on, Part: called, Section: x.section, Table: table, Row: row, Column: column}
				return x.add(Piece{Kind: InCell, At: at, Text: cell.String(), Hidden: hidden, Cell: &Cell{Columns: many(columns)}})
			case "tbl":
				table = 0
			}
		case xml.CharData:
			if inText {
				s.Write(t)
			}
		}
		return nil
	})
	return hidden, err
}
