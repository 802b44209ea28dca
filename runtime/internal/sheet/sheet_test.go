package sheet_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"
	"pgregory.net/rapid"

	"verbatim/runtime/internal/sheet"
	"verbatim/stores"
)

func value(t *testing.T, kind stores.Kind, text string) stores.Value {
	t.Helper()
	v, ok := stores.Parse(kind, text)
	if !ok {
		t.Fatalf("%s is no %s", text, kind)
	}
	return v
}

// M64: what a workbook can hold exactly is a number or a date in it; the rest is a text, with
// every digit. A text is never a formula.
func TestAWorkbookHoldsWhatWasWritten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		v    stores.Value
		raw  string
		kind excelize.CellType
	}{
		{value(t, stores.Decimal, "1234.50"), "1234.5", excelize.CellTypeUnset},
		{value(t, stores.Decimal, "0.1"), "0.1", excelize.CellTypeUnset},
		{value(t, stores.Decimal, "-123456789012.345"), "-123456789012.345", excelize.CellTypeUnset},
		{value(t, stores.Decimal, "1234567890123456.7"), "1234567890123456.7", excelize.CellTypeInlineString},
		{value(t, stores.Int, "9007199254740993"), "9007199254740993", excelize.CellTypeInlineString},
		{value(t, stores.Int, "-42"), "-42", excelize.CellTypeUnset},
		{value(t, stores.Date, "2025-01-03"), "45660", excelize.CellTypeUnset},
		{value(t, stores.Date, "1900-03-01"), "61", excelize.CellTypeUnset},
		{value(t, stores.Date, "1900-02-28"), "1900-02-28", excelize.CellTypeInlineString},
		{value(t, stores.Time, "2025-01-03T12:00:00+02:00"), "45660.416666666664", excelize.CellTypeUnset},
		{stores.NewBool(true), "1", excelize.CellTypeBool},
		{stores.NewString("=1+1"), "=1+1", excelize.CellTypeInlineString},
		{stores.NewString("+49 30 1234"), "+49 30 1234", excelize.CellTypeInlineString},
		{stores.NewString("-7"), "-7", excelize.CellTypeInlineString},
		{stores.NewString("@anna"), "@anna", excelize.CellTypeInlineString},
		{stores.NewString("007"), "007", excelize.CellTypeInlineString},
		{stores.NewString("two\nlines & <more> \x01"), "two\nlines & <more> \ufffd", excelize.CellTypeInlineString},
		{stores.NewList(stores.NewString("a"), stores.NewString("b")), "a, b", excelize.CellTypeInlineString},
		{stores.Value{}, "", excelize.CellTypeUnset},
	} {
		content, err := sheet.Write("a.xlsx", []string{"some_thing"}, [][]stores.Value{{c.v}})
		if err != nil {
			t.Fatal(err)
		}
		f, err := excelize.OpenReader(bytes.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := f.GetCellValue("Sheet1", "A2", excelize.Options{RawCellValue: true})
		kind, _ := f.GetCellType("Sheet1", "A2")
		formula, _ := f.GetCellFormula("Sheet1", "A2")
		if raw != c.raw || kind != c.kind || formula != "" {
			t.Errorf("%s: %q, a %v, formula %q; want %q, a %v", c.v.Text(), raw, kind, formula, c.raw, c.kind)
		}
		if head, _ := f.GetCellValue("Sheet1", "A1"); head != "Some thing" {
			t.Errorf("the heading is %q", head)
		}
	}
}

// What no cell holds is refused and never cut off.
func TestATextThatIsTooLongIsRefused(t *testing.T) {
	t.Parallel()
	rows := [][]stores.Value{{stores.NewString("a")}, {stores.NewString(strings.Repeat("é", 32_768))}}
	var long *sheet.TooLong
	if _, err := sheet.Write("a.xlsx", []string{"note"}, rows); !errors.As(err, &long) || long.Row != 2 || long.Column != "note" {
		t.Error(err)
	}
	if content, err := sheet.Write("a.csv", []string{"note"}, rows); err != nil || !bytes.Contains(content, []byte(strings.Repeat("é", 32_768))) {
		t.Error(err)
	}
	rows[1][0] = stores.NewString(strings.Repeat("é", 32_767))
	if content, err := sheet.Write("a.xlsx", []string{"note"}, rows); err != nil {
		t.Error(err)
	} else if f, err := excelize.OpenReader(bytes.NewReader(content)); err != nil {
		t.Error(err)
	} else if text, _ := f.GetCellValue("Sheet1", "A3"); text != rows[1][0].Text() {
		t.Errorf("%d bytes came back", len(text))
	}
}

// Comma-separated values know no types: what a program would take for a formula has an
// apostrophe, which reading takes away again, whatever the text.
func TestNoTextIsAFormula(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`'*[=+@\t\r\n＝＋－＠-]?[a-z']*`)).Draw(t, "text")
		plain := sheet.Plain(text)
		if strings.TrimLeft(plain, "=+-@\t\r\n＝＋－＠") != plain {
			t.Errorf("%q is a formula", plain)
		}
		if back := sheet.Said(plain); back != text {
			t.Errorf("%q comes back as %q", text, back)
		}
		kept := strings.ReplaceAll(text, "\r", "") // which csv.Reader leaves out of line ends
		content, err := sheet.Write("a.csv", []string{"a"}, [][]stores.Value{{stores.NewString(kept)}})
		if err != nil {
			t.Fatal(err)
		}
		all, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(string(content), "\ufeff"))).ReadAll()
		if err != nil || kept != "" && (len(all) != 2 || sheet.Said(all[1][0]) != kept) {
			t.Errorf("%q: %q %v", text, all, err)
		}
	})
}

func BenchmarkWrite(b *testing.B) {
	row := []stores.Value{stores.NewInt(1), stores.NewString("What was revenue in 2024?"), stores.NewDays(20_000), stores.NewString("EUR 5.2m, as audited")}
	rows := make([][]stores.Value, 10_000)
	for i := range rows {
		rows[i] = row
	}
	for _, name := range []string{"a.xlsx", "a.csv"} {
		b.Run(filepath.Ext(name), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := sheet.Write(name, []string{"number", "question", "asked_on", "answer"}, rows); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
