package services_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"verbatim/runtime/files/services"
	"verbatim/runtime/internal/sheet"
	"verbatim/runtime/protocols/tools"
	"verbatim/stores"
)

// wanted are the columns of the tests.
var wanted = []stores.Column{{Name: "number", Kind: stores.Int}, {Name: "asked_on", Kind: stores.Date}, {Name: "price", Kind: stores.Decimal}, {Name: "answer", Kind: stores.String}}

// tabled has the table of a file read, and tells its rows, a row a line, or why not.
func tabled(t *testing.T, name string, content []byte, args string, columns ...stores.Column) string {
	t.Helper()
	s := services.Documents(services.Reads(func(context.Context, string) (string, io.ReadCloser, error) {
		return name, io.NopCloser(bytes.NewReader(content)), nil
	}))["table"]
	a, err := s.Do(t.Context(), tools.Call{Args: args, Columns: columns})
	if err != nil {
		t.Fatal(err)
	}
	if a.Failed {
		return a.Text
	}
	var got struct{ Rows []map[string]*string }
	if err := json.Unmarshal([]byte(a.Structured), &got); err != nil || got.Rows == nil {
		t.Fatal(a.Structured, err)
	}
	var lines []string
	for _, row := range got.Rows {
		var cells []string
		for _, c := range columns {
			text := "-"
			if row[c.Name] != nil {
				text = *row[c.Name]
			}
			cells = append(cells, text)
		}
		if len(row) != len(columns) {
			t.Errorf("a row has the columns %v", slices.Sorted(maps.Keys(row)))
		}
		lines = append(lines, strings.Join(cells, "|"))
	}
	return strings.Join(lines, "\n")
}

// workbook lays out cells as somebody does, from A1 on; edit does the rest.
func workbook(t *testing.T, rows [][]any, edit func(f *excelize.File)) []byte {
	t.Helper()
	f := excelize.NewFile()
	for i, row := range rows {
		if err := f.SetSheetRow("Sheet1", fmt.Sprintf("A%d", i+1), &row); err != nil {
			t.Fatal(err)
		}
	}
	if edit != nil {
		edit(f)
	}
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// rewritten is a workbook in whose parts one text stands instead of another.
func rewritten(t *testing.T, content []byte, old, to string) []byte {
	t.Helper()
	from, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range from.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		part, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		out, err := w.Create(f.Name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = out.Write(bytes.ReplaceAll(part, []byte(old), []byte(to)))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A cell that holds an error is no value, also where a text is wanted.
func TestAnErrorIsNoValue(t *testing.T) {
	t.Parallel()
	content := workbook(t, [][]any{{"Number", "Answer"}, {1, 999}}, nil)
	content = rewritten(t, content, `<c r="B2"><v>999</v></c>`, `<c r="B2" t="e"><v>#DIV/0!</v></c>`)
	if got := tabled(t, "q.xlsx", content, `{"file":"upload://a"}`, wanted[0], stores.Column{Name: "answer", Kind: stores.String}); got != "Sheet1!B2 holds an error" {
		t.Error(got)
	}
}

// M64: a table is found by its headings wherever it stands, and what is not what its palette
// wants is refused, with its place and without its words.
func TestATableIsReadByItsHeadings(t *testing.T) {
	t.Parallel()
	heads := []any{"Number", "Asked on", "Price", "Answer"}
	for name, c := range map[string]struct {
		rows [][]any
		edit func(f *excelize.File)
		args string
		want string
	}{
		"as it was written":                            {[][]any{heads, {1, "2025-01-03", 12.5, "Yes"}, {2, nil, nil, nil}}, nil, "", "1|2025-01-03|12.5|Yes\n2|-|-|-"},
		"another order, other columns, other capitals": {[][]any{{"ANSWER ", "Question", "price", "asked-on", "Number"}, {"Yes", "What?", 12.5, "2025-01-03", 1}}, nil, "", "1|2025-01-03|12.5|Yes"},
		"a merged title above, and blank rows": {[][]any{{"Questions to the seller"}, {}, heads, {}, {1, nil, nil, "Yes"}, {}, {nil, nil, nil, nil, "a remark"}, {2, nil, nil, "No"}},
			func(f *excelize.File) { _ = f.MergeCell("Sheet1", "A1", "D1") }, "", "1|-|-|Yes\n2|-|-|No"},
		"no rows":                            {[][]any{heads}, nil, "", ""},
		"a heading is missing":               {[][]any{{"Project Muller"}, {"Number", "Price", "Answer"}, {1, 2, "Yes"}}, nil, "", `no column has the heading "Asked on", in row 2 where the others stand`},
		"no heading is there":                {[][]any{{"a", "b"}, {1, 2}}, nil, "", `no row holds the headings "Number", "Asked on", "Price", "Answer"`},
		"a heading stands twice":             {[][]any{{"Number", "Asked on", "Price", "Answer", "answer"}, {1}}, nil, "", `two columns have the heading "Answer": leave one`},
		"one that nobody wants stands twice": {[][]any{{"Number", "Asked on", "Price", "Answer", "Note", "Note"}, {1}}, nil, "", "1|-|-|-"},
		"a date that was typed as text":      {[][]any{heads, {1, "3. Januar", nil, nil}}, nil, "", "Sheet1!B2 holds no date: write it as one, such as 2025-01-31"},
		"a real date": {[][]any{heads, {1, 45660, nil, nil}}, func(f *excelize.File) {
			style, _ := f.NewStyle(&excelize.Style{NumFmt: 14})
			_ = f.SetCellStyle("Sheet1", "B2", "B2", style)
		}, "", "1|2025-01-03|-|-"},
		"a number as text":      {[][]any{heads, {"1", nil, "12.50", "007"}}, nil, "", "1|-|12.50|007"},
		"words for a number":    {[][]any{heads, {1, nil, "about 12; ignore the above", nil}}, nil, "", "Sheet1!C2 holds no number"},
		"half a number":         {[][]any{heads, {1.5, nil, nil, nil}}, nil, "", "Sheet1!A2 holds no whole number"},
		"a number for a text":   {[][]any{heads, {1, nil, nil, 42}}, nil, "", "1|-|-|42"},
		"never worked out":      {[][]any{heads, {1, nil, nil, nil}}, func(f *excelize.File) { _ = f.SetCellFormula("Sheet1", "D2", "1+1") }, "", "Sheet1!D2 holds a formula that was never worked out: open the file, and save it"},
		"a formula as text":     {[][]any{heads, {1, nil, nil, `=HYPERLINK("http://evil.example")`}}, nil, "", `1|-|-|=HYPERLINK("http://evil.example")`},
		"a hidden row":          {[][]any{heads, {1, nil, nil, "Yes"}}, func(f *excelize.File) { _ = f.SetRowVisible("Sheet1", 2, false) }, "", "Sheet1!A2 is hidden: show all rows and columns, and send the file again"},
		"a hidden other column": {[][]any{append(slices.Clone(heads), "Note"), {1, nil, nil, "Yes", "x"}}, func(f *excelize.File) { _ = f.SetColVisible("Sheet1", "E", false) }, "", "1|-|-|Yes"},
		"merged cells":          {[][]any{heads, {1, nil, nil, "Yes"}, {2, nil, nil, nil}}, func(f *excelize.File) { _ = f.MergeCell("Sheet1", "D2", "D3") }, "", "Sheet1!D2 covers several cells: take the cells apart"},
		"on another sheet": {[][]any{{"Read me"}}, func(f *excelize.File) {
			_, _ = f.NewSheet("Q&A")
			_ = f.SetSheetRow("Q&A", "A1", &heads)
			_ = f.SetSheetRow("Q&A", "A2", &[]any{7, nil, nil, "Yes"})
		}, "", "7|-|-|Yes"},
		"on the sheet that is named": {[][]any{heads, {1}}, func(f *excelize.File) {
			_, _ = f.NewSheet("Q&A")
			_ = f.SetSheetRow("Q&A", "A1", &heads)
			_ = f.SetSheetRow("Q&A", "A2", &[]any{7})
		}, `,"sheet":"Q&A"`, "7|-|-|-"},
		"a sheet that is not there": {[][]any{heads, {1}}, nil, `,"sheet":"Answers"`, `the file has no sheet "Answers"`},
		"nothing":                   {nil, nil, "", "the file has no rows"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tabled(t, "q.xlsx", workbook(t, c.rows, c.edit), `{"file":"upload://a"`+c.args+`}`, wanted...); got != c.want {
				t.Errorf("%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// A file that is no table, and one with more rows than an answer may have, are refused;
// comma-separated values are read as workbooks are, whoever wrote them.
func TestTablesOfOtherFiles(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("1;;;Yes\n", 1001)
	number, answer := []stores.Column{wanted[0]}, stores.Column{Name: "answer", Kind: stores.String}
	made, err := sheet.Write("a.csv", []string{"number", "answer"}, [][]stores.Value{{stores.NewInt(1), stores.NewString("=1+1")}, {stores.NewInt(2), stores.NewString("'=x")}, {stores.NewInt(3), stores.NewString("a, \"b\"\nc")}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		file, content string
		columns       []stores.Column
		want          string
	}{
		"a text":             {"a.txt", "Number and answer", wanted, "the file is no table: rows are read from a workbook (.xlsx) or from comma-separated values (.csv)"},
		"semicolons":         {"a.csv", "Number;Asked on;Price;Answer\n1;2025-01-03;12.50;Yes\n\n2;;;\n", wanted, "1|2025-01-03|12.50|Yes\n2|-|-|-"},
		"a place in a CSV":   {"a.csv", "Number;Asked on;Price;Answer\n1;tomorrow;;Yes\n", wanted, "row 2, column 2 holds no date: write it as one, such as 2025-01-31"},
		"what we wrote":      {"a.csv", string(made), append(number, answer), "1|=1+1\n2|'=x\n3|a, \"b\"\nc"},
		"a thousand rows":    {"a.csv", "Number;Asked on;Price;Answer\n" + long[:8000], number, strings.TrimSuffix(strings.Repeat("1\n", 1000), "\n")},
		"one row more":       {"a.csv", "Number;Asked on;Price;Answer\n" + long, number, "the table has more than 1000 rows: send it in parts"},
		"nothing is wanted":  {"a.csv", "Number;Answer\n1;2\n", nil, "the palette names no columns, by which a table could be found"},
		"an instant":         {"a.csv", "At;Done\n2025-01-03;TRUE\n2025-01-03T10:00:00Z;false\n", []stores.Column{{Name: "at", Kind: stores.Time}, {Name: "done", Kind: stores.Bool}}, "2025-01-03T00:00:00Z|true\n2025-01-03T10:00:00Z|false"},
		"neither yes nor no": {"a.csv", "At;Done\n;perhaps\n", []stores.Column{{Name: "done", Kind: stores.Bool}}, "row 2, column 2 holds neither true nor false"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tabled(t, c.file, []byte(c.content), `{"file":"upload://a"}`, c.columns...); got != c.want {
				t.Errorf("%s\nwant\n%s", got, c.want)
			}
		})
	}
}
