package services

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"verbatim/runtime/files/documents"
	"verbatim/runtime/internal/sheet"
	"verbatim/runtime/protocols/tools"
	"verbatim/stores"
)

// A grid is the cells of one sheet that hold something, by row and column.
type grid struct {
	name string
	rows map[int]map[int]*documents.Piece
}

// table finds the table with the palette's headings, and returns its rows. Cells above the
// headings, and beside them, are left out. If a cell does not fit, the whole table is refused with
// the cell's place, and without its content: that is untrusted text.
func table(doc *documents.Document, a arguments, c tools.Call) (any, string) {
	switch {
	case doc.Format != "xlsx" && doc.Format != "csv":
		return nil, "the file is no table: rows are read from a workbook (.xlsx) or from comma-separated values (.csv)"
	case len(c.Columns) == 0:
		return nil, "the palette names no columns, by which a table could be found"
	}
	sheets := grids(doc)
	if a.Sheet != "" {
		sheets = slices.DeleteFunc(sheets, func(g *grid) bool { return g.name != a.Sheet })
		if len(sheets) == 0 {
			return nil, fmt.Sprintf("the file has no sheet %q", a.Sheet)
		}
	}
	var of *grid
	var head int
	var at []int
	why := "the file has no rows"
	most := -1
	for _, g := range sheets {
		for _, n := range slices.Sorted(maps.Keys(g.rows)) {
			columns, found, problem := g.headings(n, c.Columns)
			if problem == "" {
				of, head, at = g, n, columns
				break
			}
			if found > most {
				most, why = found, problem
			}
		}
		if of != nil {
			break
		}
	}
	if of == nil {
		return nil, why
	}
	rows := []map[string]*string{}
	for _, n := range slices.Sorted(maps.Keys(of.rows)) {
		if n <= head || !slices.ContainsFunc(at, func(column int) bool { return of.rows[n][column] != nil }) {
			continue
		}
		if len(rows) == atOnce {
			return nil, fmt.Sprintf("the table has more than %d rows: send it in parts", atOnce)
		}
		row := map[string]*string{}
		for i, column := range at {
			value, why := holds(of.rows[n][column], c.Columns[i].Kind, doc.Format)
			if why != "" {
				return nil, fmt.Sprintf("%s %s", of.place(n, column), why)
			}
			row[c.Columns[i].Name] = spelt(value, c.Columns[i].Spelling)
		}
		rows = append(rows, row)
	}
	return struct {
		Rows []map[string]*string `json:"rows"`
	}{rows}, ""
}

// spelt returns the name of a code as tables keep it: a list that was exported has names.
func spelt(value *string, as *stores.Spelling) *string {
	if value == nil || as == nil {
		return value
	}
	if _, kept := as.Load(stores.NewString(*value)); !kept {
		if w, named := as.Store(stores.NewString(*value)); named {
			text := w.Text()
			return &text
		}
	}
	return value
}

// grids returns the sheets of a file, in their order.
func grids(doc *documents.Document) (all []*grid) {
	for i := range doc.Pieces {
		p := &doc.Pieces[i]
		if p.Cell == nil || p.At.Inside != "" {
			continue
		}
		g := len(all) - 1
		if g < 0 || all[g].name != p.At.Sheet {
			all, g = append(all, &grid{p.At.Sheet, map[int]map[int]*documents.Piece{}}), g+1
		}
		if all[g].rows[p.At.Row] == nil {
			all[g].rows[p.At.Row] = map[int]*documents.Piece{}
		}
		all[g].rows[p.At.Row][p.At.Column] = p
	}
	return all
}

// headings finds the columns of a row of headings; if some are missing or stand there twice, it
// returns the reason, and the number that it found.
func (g *grid) headings(n int, wanted []stores.Column) (at []int, found int, why string) {
	by := map[string][]int{}
	for column, p := range g.rows[n] {
		by[letters(p.Text)] = append(by[letters(p.Text)], column)
	}
	at = make([]int, len(wanted))
	var missing, twice []string
	for i, w := range wanted {
		switch columns := by[letters(w.Name)]; len(columns) {
		case 0:
			missing = append(missing, fmt.Sprintf("%q", sheet.Heading(w.Name)))
		case 1:
			at[i] = columns[0]
			found++
		default:
			twice = append(twice, fmt.Sprintf("%q", sheet.Heading(w.Name)))
			found++
		}
	}
	switch {
	case len(twice) > 0:
		return nil, found, fmt.Sprintf("two columns have the heading %s: leave one", strings.Join(twice, ", "))
	case found == 0:
		return nil, 0, "no row holds the headings " + strings.Join(missing, ", ")
	case len(missing) > 0:
		return nil, found, fmt.Sprintf("no column has the heading %s, in row %d where the others stand", strings.Join(missing, ", "), n)
	}
	return at, found, ""
}

// letters returns the letters and digits of a heading: other characters are insignificant.
func letters(heading string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

// place returns the place of a cell: Sheet1!B4, or row 4, column 2.
func (g *grid) place(row, column int) string {
	if p := g.rows[row][column]; p != nil {
		return p.At.String()
	}
	return fmt.Sprintf("row %d, column %d", row, column)
}

// holds returns the value of a cell in the spelling of a kind, or the reason why it does not fit.
func holds(p *documents.Piece, kind stores.Kind, format string) (value *string, why string) {
	if p == nil {
		return nil, ""
	}
	text := cmp.Or(p.Cell.Value, p.Text)
	if format == "csv" {
		text = sheet.Said(text)
	}
	switch {
	case p.Hidden:
		return nil, "is hidden: show all rows and columns, and send the file again"
	case p.Cell.Rows > 1 || p.Cell.Columns > 1:
		return nil, "covers several cells: take the cells apart"
	case p.Cell.Type == "error":
		return nil, "holds an error"
	case p.Cell.Formula != "" && text == "":
		return nil, "holds a formula that was never worked out: open the file, and save it"
	}
	ok := true
	switch kind {
	case stores.Date:
		text = strings.TrimSuffix(text, "T00:00:00")
		_, ok = stores.ParseDate(text)
		why = "holds no date: write it as one, such as 2025-01-31"
	case stores.Time:
		if at, err := time.Parse("2006-01-02T15:04:05", text); err == nil {
			text = at.Format(time.RFC3339)
		} else if _, day := stores.ParseDate(text); day {
			text += "T00:00:00Z"
		}
		_, ok = stores.ParseTime(text)
		why = "holds no date and time: write it as one, such as 2025-01-31 10:00"
	case stores.Int, stores.Decimal:
		_, ok = stores.Parse(kind, text)
		why = "holds no number"
		if kind == stores.Int {
			why = "holds no whole number"
		}
	case stores.Bool:
		text = strings.ToLower(text)
		_, ok = stores.Parse(kind, text)
		why = "holds neither true nor false"
	}
	if !ok {
		return nil, why
	}
	return &text, ""
}
