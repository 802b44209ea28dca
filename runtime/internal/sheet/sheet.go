// Package sheet writes rows into a file that people open with a spreadsheet program: a
// workbook, or comma-separated values.
//
//	content, err := sheet.Write("Questions.xlsx", []string{"question", "asked_on"}, rows)
//
// The first row holds headings. A number stays the same number, a date a date, and a text a text:
// also one that a spreadsheet would take for a formula.
package sheet

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"

	"verbatim/stores"
)

// A TooLong is a text that no cell of a workbook holds.
type TooLong struct {
	Column string
	Row    int // from 1, without the headings
}

// Error implements error.
func (t *TooLong) Error() string {
	return fmt.Sprintf("%s of row %d is longer than the %d characters that a cell of a workbook holds", t.Column, t.Row, excelize.TotalCellChars)
}

// Heading returns the heading of a column: asked_on is Asked on.
func Heading(column string) string {
	words := strings.NewReplacer("_", " ", "-", " ").Replace(column)
	first, n := utf8.DecodeRuneInString(words)
	return string(unicode.ToUpper(first)) + words[n:]
}

// Write makes a file of rows. The extension of its name decides its format, .csv or .xlsx. The
// error is a *TooLong for a text that does not fit into a workbook.
func Write(name string, columns []string, rows [][]stores.Value) ([]byte, error) {
	if path.Ext(name) == ".csv" {
		return values(columns, rows)
	}
	return workbook(columns, rows)
}

// formats are the number formats of cells. The format "@" keeps a text a text when somebody
// edits the cell.
var formats = map[stores.Kind]string{stores.String: "@", stores.Date: "yyyy-mm-dd", stores.Time: "yyyy-mm-dd hh:mm:ss"}

func workbook(columns []string, rows [][]stores.Value) ([]byte, error) {
	f := excelize.NewFile()
	defer f.Close()
	w, err := f.NewStreamWriter("Sheet1")
	if err != nil {
		return nil, err
	}
	bold, err := f.NewStyle(&excelize.Style{Font: &excelize.Font{Bold: true}})
	if err != nil {
		return nil, err
	}
	styles := map[stores.Kind]int{}
	for kind, format := range formats {
		if styles[kind], err = f.NewStyle(&excelize.Style{CustomNumFmt: &format}); err != nil {
			return nil, err
		}
	}
	if err := w.SetPanes(&excelize.Panes{Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft"}); err != nil {
		return nil, err
	}
	line := make([]any, len(columns))
	for i, c := range columns {
		line[i] = excelize.Cell{StyleID: bold, Value: Heading(c)}
		if err := w.SetColWidth(i+1, i+1, width(i, c, rows)); err != nil {
			return nil, err
		}
	}
	if err := w.SetRow("A1", line); err != nil {
		return nil, err
	}
	for n, row := range rows {
		for i, v := range row {
			value, kind := cell(v)
			if text, ok := value.(string); ok && utf8.RuneCountInString(text) > excelize.TotalCellChars {
				return nil, &TooLong{columns[i], n + 1}
			}
			line[i] = nil
			if value != nil {
				line[i] = excelize.Cell{StyleID: styles[kind], Value: value}
			}
		}
		if err := w.SetRow("A"+strconv.Itoa(n+2), line); err != nil {
			return nil, err
		}
	}
	if err := w.Flush(); err != nil {
		return nil, err
	}
	b, err := f.WriteToBuffer()
	if err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// width returns the width of a column, in characters.
func width(i int, column string, rows [][]stores.Value) float64 {
	most := len(column)
	for _, row := range rows[:min(len(rows), 100)] {
		most = max(most, utf8.RuneCountInString(row[i].Text()))
	}
	return float64(min(max(most, 8), 60) + 2)
}

const (
	// digits is the number of digits of a number that a workbook keeps: it holds binary fractions.
	digits = 15
	// firstDay is the first day before which programs count the days of a workbook differently.
	firstDay = "1900-03-01"
)

// cell returns a value in the form of a workbook, and its kind there. A value that a workbook
// cannot hold exactly becomes a text.
func cell(v stores.Value) (any, stores.Kind) {
	text := v.Text()
	switch kind := v.Kind(); kind {
	case stores.Null:
		return nil, kind
	case stores.Bool:
		return v.Bool(), kind
	case stores.Int, stores.Decimal:
		if n, err := strconv.ParseFloat(text, 64); err == nil && len(strings.Trim(strings.ReplaceAll(strings.TrimLeft(text, "-"), ".", ""), "0")) <= digits {
			return n, kind
		}
	case stores.Date, stores.Time:
		layout := time.DateOnly
		if kind == stores.Time {
			layout = time.RFC3339Nano
		}
		if at, err := time.Parse(layout, text); err == nil && len(text) >= len(firstDay) && text >= firstDay && at.Year() < 10000 {
			return at.UTC(), kind
		}
	case stores.JSON:
		return list(v), stores.String
	}
	return text, stores.String
}

// list returns a list of texts in readable form, and any other value unchanged.
func list(v stores.Value) string {
	items, err := v.Items(stores.String)
	if err != nil {
		return v.Text()
	}
	words := make([]string, len(items))
	for i := range items {
		words[i] = items[i].Text()
	}
	return strings.Join(words, ", ")
}

// formula holds the first characters of values of a CSV file that a spreadsheet program takes for a
// formula.
const formula = "=+-@\t\r\n＝＋－＠"

// Plain puts an apostrophe before a text that would be a formula in a CSV file; Said removes it.
func Plain(text string) string {
	if taken(text) {
		return "'" + text
	}
	return text
}

// Said returns the original text of Plain.
func Said(text string) string {
	if rest, ok := strings.CutPrefix(text, "'"); ok && taken(rest) {
		return rest
	}
	return text
}

func taken(text string) bool {
	first, size := utf8.DecodeRuneInString(strings.TrimLeft(text, "'"))
	return size > 0 && strings.ContainsRune(formula, first)
}

func values(columns []string, rows [][]stores.Value) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("\ufeff") // without it, Excel does not read UTF-8
	w := csv.NewWriter(&b)
	line := make([]string, len(columns))
	for i, c := range columns {
		line[i] = Plain(Heading(c))
	}
	_ = w.Write(line) // to memory
	for _, row := range rows {
		for i, v := range row {
			switch line[i] = v.Text(); v.Kind() {
			case stores.String:
				line[i] = Plain(line[i])
			case stores.JSON:
				line[i] = Plain(list(v))
			}
		}
		_ = w.Write(line)
	}
	w.Flush()
	return b.Bytes(), w.Error()
}
