package documents

import (
	"cmp"
	"encoding/xml"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A workbook holds the data that its sheets share.
type workbook struct {
	*archive
	strings []string
	styles  []numberFormat // how cells of a style show numbers
	epoch   time.Time
}

// xlsx reads the sheets of a workbook in their order, hidden ones too.
func (x *extractor) xlsx(data []byte) error {
	a, err := x.open(data)
	if err != nil {
		return err
	}
	part, rels, err := a.main("xl/workbook.xml")
	if err != nil {
		return err
	}
	w := &workbook{archive: a, epoch: time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)}
	targets := map[string]string{}
	for _, r := range rels {
		switch r.kind {
		case "worksheet":
			targets[r.id] = r.target
		case "sharedStrings":
			err = w.shared(r.target)
		case "styles":
			err = w.formats(r.target)
		}
		if err != nil {
			return err
		}
	}
	type sheet struct {
		name, target string
		hidden       bool
	}
	var sheets []sheet
	err = a.each(part, func(t xml.Token) error {
		e, ok := t.(xml.StartElement)
		switch {
		case ok && e.Name.Local == "workbookPr" && isOn(attr(e, "date1904")):
			w.epoch = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
		case ok && e.Name.Local == "sheet":
			if err := x.page(); err != nil {
				return err
			}
			sheets = append(sheets, sheet{attr(e, "name"), targets[attr(e, "id")], attr(e, "state") != "" && attr(e, "state") != "visible"})
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, s := range sheets {
		if err := x.far(i+1, len(sheets)); err != nil {
			return err
		}
		if s.target == "" {
			continue // a sheet that is a chart
		}
		if err := w.sheet(s.name, s.target, s.hidden); err != nil {
			return err
		}
		if err := w.comments(s.name, s.target, s.hidden); err != nil {
			return err
		}
	}
	if len(sheets) == 0 {
		return fail(Damaged, "it has no sheets")
	}
	if x.inside == "" {
		x.doc.Pages = len(sheets)
	}
	return nil
}

// shared reads the texts that cells refer to by number.
func (w *workbook) shared(part string) error {
	var s strings.Builder
	var inText bool
	var phonetic int
	return w.each(part, func(t xml.Token) error {
		switch t := t.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "si":
				s.Reset()
			case "rPh":
				phonetic++
			case "t":
				inText = phonetic == 0
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "si":
				w.strings = append(w.strings, unescaped(s.String()))
			case "rPh":
				phonetic--
			case "t":
				inText = false
			}
		case xml.CharData:
			if inText {
				s.Write(t)
			}
		}
		return nil
	})
}

// builtin are the numbered formats that files do not write down (ECMA-376 part 1, 18.8.30): those of
// dates and times, also Thai ones, and a few others that matter.
var builtin = map[int]string{9: "0%", 10: "0.00%", 14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "yyyy-mm-dd h:mm", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0",
	71: "d/m/yyyy", 72: "d-mmm-yy", 73: "d-mmm", 74: "mmm-yy", 75: "h:mm", 76: "h:mm:ss", 77: "d/m/yyyy h:mm", 78: "mm:ss", 79: "[h]:mm:ss", 80: "mm:ss.0", 81: "d/m/bb"}

// formats reads how the cells of each style show numbers.
func (w *workbook) formats(part string) error {
	custom := map[int]string{}
	var inCells bool
	return w.each(part, func(t xml.Token) error {
		switch t := t.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "numFmt":
				custom[number(attr(t, "numFmtId"))] = attr(t, "formatCode")
			case "cellXfs":
				inCells = true
			case "xf":
				if !inCells {
					return nil
				}
				id := number(attr(t, "numFmtId"))
				code, ok := custom[id]
				if !ok {
					code = builtin[id]
				}
				f := formatOf(code)
				if !ok && (id >= 27 && id <= 36 || id >= 50 && id <= 58) { // dates of East Asia
					f.shows = aDay
				}
				w.styles = append(w.styles, f)
			}
		case xml.EndElement:
			inCells = inCells && t.Name.Local != "cellXfs"
		}
		return nil
	})
}

var merges = regexp.MustCompile(`mergeCell [^>]*ref="([A-Z]+[0-9]+):([A-Z]+[0-9]+)"`)

// sheet reads the cells of a sheet that hold something.
func (w *workbook) sheet(name, part string, hidden bool) error {
	x := w.x
	data, err := w.part(part)
	if err == nil && data == nil {
		err = fail(Damaged, "a sheet of it is missing")
	}
	if err != nil {
		return err
	}
	covers := map[string][2]int{}
	for _, m := range merges.FindAllSubmatch(data, x.limits.Cells) {
		c1, r1 := position(string(m[1]))
		c2, r2 := position(string(m[2]))
		covers[string(m[1])] = [2]int{r2 - r1 + 1, c2 - c1 + 1}
	}
	type shared struct {
		formula     string
		column, row int
	}
	formulas := map[string]shared{}
	type columns struct{ from, to int }
	var unseen []columns
	var row, column, style int
	var rowHidden bool
	var kind, id string
	var value, formula, text strings.Builder
	var in *strings.Builder
	return w.parse(part, data, func(t xml.Token) error {
		switch t := t.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "col":
				if isOn(attr(t, "hidden")) {
					unseen = append(unseen, columns{number(attr(t, "min")), number(attr(t, "max"))})
				}
			case "row":
				row, column, rowHidden = row+1, 0, isOn(attr(t, "hidden"))
				if n := number(attr(t, "r")); n > 0 {
					row = n
				}
			case "c":
				column, kind, style, id = column+1, "", 0, ""
				for _, a := range t.Attr {
					switch a.Name.Local {
					case "r":
						if c, r := position(a.Value); c > 0 {
							column, row = c, r
						}
					case "t":
						kind = a.Value
					case "s":
						style = number(a.Value)
					}
				}
				value.Reset()
				formula.Reset()
				text.Reset()
			case "f":
				in = &formula
				if attr(t, "t") == "shared" {
					id = attr(t, "si")
				}
			case "v":
				in = &value
			case "t":
				in = &text
			case "rPh":
				in = nil
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "f", "v", "t":
				in = nil
			case "c":
				f := formula.String()
				if of, ok := formulas[id]; id != "" && f != "" {
					formulas[id] = shared{f, column, row}
				} else if id != "" && ok {
					f = moved(of.formula, column-of.column, row-of.row)
				}
				v := value.String()
				if kind == "inlineStr" {
					v = text.String()
				}
				cell, shown := w.cell(kind, v, style)
				if cell.Formula = f; cell.Value == "" && f == "" {
					return nil
				}
				ref := columnName(column) + strconv.Itoa(row)
				if c := covers[ref]; c != [2]int{} {
					cell.Rows, cell.Columns = many(c[0]), many(c[1])
				}
				p := Piece{Kind: InCell, At: Location{Sheet: name, Ref: ref, Row: row, Column: column}, Text: cmp.Or(shown, cell.Value), Hidden: hidden || rowHidden, Cell: cell}
				for _, u := range unseen {
					p.Hidden = p.Hidden || column >= u.from && column <= u.to
				}
				if cell.Type == "text" {
					cell.Value = "" // it is the text
				}
				return x.add(p)
			}
		case xml.CharData:
			if in != nil {
				in.Write(t)
			}
		}
		return nil
	})
}

// comments reads what people have remarked on cells.
func (w *workbook) comments(name, part string, hidden bool) error {
	rels, err := w.relations(part)
	for _, r := range rels {
		if r.kind != "comments" || err != nil {
			continue
		}
		at := Location{Sheet: name, Part: "comment"}
		var s strings.Builder
		var inText bool
		err = w.each(r.target, func(t xml.Token) error {
			switch t := t.(type) {
			case xml.StartElement:
				if inText = t.Name.Local == "t"; t.Name.Local == "comment" {
					at.Ref = attr(t, "ref")
					at.Column, at.Row = position(at.Ref)
					s.Reset()
				}
			case xml.EndElement:
				if inText = false; t.Name.Local == "comment" && strings.TrimSpace(s.String()) != "" {
					return w.x.add(Piece{Kind: Note, At: at, Text: strings.TrimSpace(unescaped(s.String())), Hidden: hidden})
				}
			case xml.CharData:
				if inText {
					s.Write(t)
				}
			}
			return nil
		})
	}
	return err
}

// cell makes a typed value from the text in the file. It also returns how the workbook shows the
// value, where that is not the value itself.
func (w *workbook) cell(kind, v string, style int) (c *Cell, shown string) {
	c = &Cell{Type: "text", Value: strings.TrimSpace(v)}
	switch kind {
	case "s":
		c.Value = ""
		if n, err := strconv.Atoi(v); err == nil && n >= 0 && n < len(w.strings) {
			c.Value = strings.TrimSpace(w.strings[n])
		}
	case "str", "inlineStr":
		c.Value = strings.TrimSpace(unescaped(v))
	case "b":
		c.Type, c.Value = "bool", strconv.FormatBool(isOn(v))
	case "e":
		c.Type = "error"
	case "d":
		c.Type = "date"
	default:
		n, err := strconv.ParseFloat(c.Value, 64)
		if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
			break
		}
		// The file has the seventeen digits of 5.2000000000000002; people
		// typed the shortest decimal that is the same number.
		c.Type, c.Value = "number", strconv.FormatFloat(n, 'f', -1, 64)
		if style < 0 || style >= len(w.styles) {
			break
		}
		f := w.styles[style]
		c.Format = f.code
		switch f.shows {
		case aDay, aTime:
			if date := w.date(n, f.shows); date != "" {
				c.Type, c.Value = "date", date
			}
		case aDuration:
			shown = f.duration(n)
		}
	}
	if c.Value == "" {
		c.Type = "empty"
	}
	return c, shown
}

// position reads B15 as column 2 and row 15; it returns 0, 0 for anything else.
func position(ref string) (column, row int) {
	i := 0
	for ; i < len(ref) && i < 4 && ref[i] >= 'A' && ref[i] <= 'Z'; i++ {
		column = column*26 + int(ref[i]-'A') + 1
	}
	row, err := strconv.Atoi(ref[i:])
	if err != nil || column == 0 || row < 1 {
		return 0, 0
	}
	return column, row
}

func columnName(n int) (s string) {
	for ; n > 0; n = (n - 1) / 26 {
		s = string(rune('A'+(n-1)%26)) + s
	}
	return s
}

// refs finds references in a formula, and what looks like one and is not: a text, the name of a
// sheet or of several, of a function, or of a range.
var refs = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"[^"]*"|'[^']*'|[A-Za-z_][\w.]*\(|(?:[A-Za-z_\\][\w.]*:)?[A-Za-z_\\][\w.]*!|(\$?)([A-Z]{1,3})(\$?)([0-9]{1,7})\b|(\$?)([A-Z]{1,3}):(\$?)([A-Z]{1,3})\b|(\$?)([0-9]{1,7}):(\$?)([0-9]{1,7})\b|[A-Za-z_\\][\w.]*`)
})

// moved returns a formula moved by some columns and rows.
func moved(formula string, columns, rows int) string {
	column := func(fixed, name string) string {
		n, _ := position(name + "1")
		if fixed == "" {
			n += columns
		}
		return fixed + columnName(n)
	}
	row := func(fixed, name string) string {
		n := number(name)
		if fixed == "" {
			n += rows
		}
		if n < 1 {
			return ""
		}
		return fixed + strconv.Itoa(n)
	}
	return refs().ReplaceAllStringFunc(formula, func(s string) string {
		m := refs().FindStringSubmatch(s)
		var from, to, between string
		switch {
		case m[2] != "":
			from, to = column(m[1], m[2]), row(m[3], m[4])
		case m[6] != "":
			from, to, between = column(m[5], m[6]), column(m[7], m[8]), ":"
		case m[10] != "":
			from, to, between = row(m[9], m[10]), row(m[11], m[12]), ":"
		default:
			return s
		}
		if strings.Trim(from, "$") == "" || strings.Trim(to, "$") == "" {
			return "#REF!"
		}
		return from + between + to
	})
}
