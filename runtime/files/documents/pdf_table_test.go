package documents

import (
	"fmt"
	"strings"
	"testing"
)

// placedAt draws words at places of a page: "100 700 Item".
func placedAt(words ...string) string {
	var b strings.Builder
	b.WriteString("BT /F 10 Tf ")
	for i, w := range words {
		at := strings.SplitN(w, " ", 3)
		fmt.Fprintf(&b, "/P <</MCID %d>> BDC 1 0 0 1 %s %s Tm (%s) Tj EMC ", i, at[0], at[1], strings.NewReplacer("(", `\(`, ")", `\)`).Replace(at[2]))
	}
	return b.String() + "ET"
}

// drawnOn is a PDF of several pages.
func drawnOn(contents ...string) []byte {
	objects := []string{"<</Type/Catalog/Pages 2 0 R>>", "", "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"}
	kids := ""
	for _, c := range contents {
		n := len(objects) + 1
		kids += fmt.Sprintf("%d 0 R ", n)
		objects = append(objects, fmt.Sprintf("<</Type/Page/Parent 2 0 R/Contents %d 0 R/Resources<</Font<</F 3 0 R>>>>>>", n+1), stream("", c))
	}
	objects[1] = fmt.Sprintf("<</Type/Pages/Kids[%s]/Count %d/MediaBox[0 0 595 842]>>", kids, len(contents))
	return pdfOf(objects...)
}

// declaredAs is a structure of tables for what placedAt draws: rows of cells by their numbers, a cell that
// covers columns as 3*2, and one that is empty and is not written as -.
func declaredAs(rows ...string) string {
	var b strings.Builder
	b.WriteString("/StructTreeRoot <</Type/StructTreeRoot/RoleMap<</Zelle/TD>>/K[<</S/Table/Pg 3 0 R/K[")
	for _, row := range rows {
		b.WriteString("<</S/TR/K[")
		for cell := range strings.FieldsSeq(row) {
			cell, columns, _ := strings.Cut(cell, "*")
			if cell == "-" {
				continue
			}
			attributes := "[<</O/Table/Headers[]>>]"
			if columns != "" {
				attributes = "[<</O/Table/Headers[]>> <</O/Table/ColSpan " + columns + ">>]"
			}
			fmt.Fprintf(&b, "<</S/Zelle/A %s/K[%s]>>", attributes, strings.ReplaceAll(cell, "+", " "))
		}
		b.WriteString("]>>")
	}
	return b.String() + "]>>]>>"
}

// M1, G47: annual reports are printed with labels that wrap, signs in columns of their own, and heads that
// stand above several columns or close together. Tables come out as somebody reads them.
func TestTablesOfPages(t *testing.T) {
	for what, c := range map[string]struct {
		file []byte
		want string
	}{
		"labels that wrap, closer than rows": {drawnOn(placedAt("300 700 2019", "400 700 2018", "100 680 Assets related to", "100 668 deferred pay", "300 668 35,842", "400 668 37,370", "100 648 Other assets", "300 648 18,111", "400 648 9,521", "100 628 Total", "300 628 53,953", "400 628 46,891")),
			"1.2 2019|1.3 2018|2.1 Assets related to deferred pay|2.2 35,842|2.3 37,370|3.1 Other assets|3.2 18,111|3.3 9,521|4.1 Total|4.2 53,953|4.3 46,891"},
		"figures beside the middle of a label": {drawnOn(placedAt("300 700 2019", "400 700 2018", "100 680 Effect of exchange", "300 674 554", "400 674 (20)", "100 668 rates on cash", "100 648 Total", "300 648 18", "400 648 95")),
			"1.2 2019|1.3 2018|2.1 Effect of exchange rates on cash|2.2 554|2.3 (20)|3.1 Total|3.2 18|3.3 95"},
		"labels that wrap, as far apart as rows": {drawnOn(placedAt("300 700 2019", "400 700 2018", "100 688 Deferred tax assets (see Note", "100 676 16)", "300 676 87,011", "400 676 64,858", "100 664 Assets:", "100 652 Cash", "300 652 5", "400 652 6", "100 640 Non-vested at December 31,", "100 628 2019", "300 628 7", "400 628 8")),
			"1.2 2019|1.3 2018|2.1 Deferred tax assets (see Note 16)|2.2 87,011|2.3 64,858|3.1 Assets:|4.1 Cash|4.2 5|4.3 6|5.1 Non-vested at December 31, 2019|5.2 7|5.3 8"},
		"signs in columns of their own": {drawnOn(placedAt("100 700 Revenue", "250 700 $", "300 700 1,200", "350 700 $", "400 700 (950", "430 700 )", "100 680 Costs", "306 680 200", "400 680 (50", "430 680 )")),
			"1.1 Revenue|1.2 $ 1,200|1.3 $ (950 )|2.1 Costs|2.2 200|2.3 (50 )"},
		"years that are set close, and a dash first": {drawnOn(placedAt("300 700 2019", "327 700 2018", "100 680 Loan of the bank", "100 660 Bonds", "310 660 88", "334 660 24", "316 640 -", "334 640 99")),
			"1.2 2019|1.3 2018|2.1 Loan of the bank|3.1 Bonds|3.2 88|3.3 24|4.2 -|4.3 99"},
		"a head above several columns": {drawnOn(placedAt("310 716 Year ended December 31,", "300 700 2019", "400 700 2018", "100 680 Revenue", "300 680 1,200", "400 680 1,100", "100 660 Costs", "300 660 800", "400 660 700")),
			"1.2 Year ended December 31, covers 2|2.2 2019|2.3 2018|3.1 Revenue|3.2 1,200|3.3 1,100|4.1 Costs|4.2 800|4.3 700"},
		"two tables": {drawnOn(placedAt("300 700 2019", "400 700 2018", "100 680 Revenue", "300 680 1,200", "400 680 1,100", "100 660 Costs", "300 660 800", "400 660 700", "250 620 2017", "350 620 2016", "100 600 Staff", "250 600 12", "350 600 11")),
			"1.2 2019|1.3 2018|2.1 Revenue|2.2 1,200|2.3 1,100|3.1 Costs|3.2 800|3.3 700|#1.2 2017|1.3 2016|2.1 Staff|2.2 12|2.3 11"},
		"long labels are no column of prose": {drawnOn(placedAt("100 700 Income from operations before taxes", "350 700 (72,836)", "430 700 (100.0%)", "100 680 Gain on the sale of the subsidiary", "350 680 500,471", "430 680 (104.0%)", "100 660 Income tax on what is discontinued", "350 660 (32,497)", "430 660 (176.9%)", "100 640 Income of operations, net of taxes", "350 640 395,138", "430 640 (100.0%)")),
			"1.1 Income from operations before taxes|1.2 (72,836)|1.3 (100.0%)|2.1 Gain on the sale of the subsidiary|2.2 500,471|2.3 (104.0%)|3.1 Income tax on what is discontinued|3.2 (32,497)|3.3 (176.9%)|4.1 Income of operations, net of taxes|4.2 395,138|4.3 (100.0%)"},
		"a heading stands larger than the text": {drawnOn("BT /F 14 Tf 100 740 Td (Key figures) Tj /F 10 Tf 0 -20 Td (All that follows is in millions of euros.) Tj ET"), "Key figures (heading)|All that follows is in millions of euros. in Key figures"},
		"a table across pages": {drawnOn(placedAt("300 700 2019", "400 700 2018", "100 680 Revenue", "300 680 1,200", "400 680 1,100"), placedAt("100 780 Costs", "300 780 800", "400 780 700", "100 760 Profit", "300 760 400", "400 760 400")),
			"1.2 2019|1.3 2018|2.1 Revenue|2.2 1,200|2.3 1,100|3.1 Costs|3.2 800|3.3 700|4.1 Profit|4.2 400|4.3 400"},
		"declared, in which the structure tells rows and figures tell columns": {pageOf(declaredAs("- 0 1", "2+3 4 5", "6 - 7"), "", placedAt("300 704 2019", "400 704 2018", "100 692 Assets held", "100 680 Under leases", "300 680 12", "400 680 11", "100 668 Next", "400 668 9")),
			"1.2 2019|1.3 2018|2.1 Assets held Under leases|2.2 12|2.3 11|3.1 Next|3.3 9"},
		"declared, with a cell that covers two": {pageOf(declaredAs("0 1*2", "2 3 4", "5 6 7"), "", placedAt("100 700 Item", "310 700 Fiscal years", "100 690 in", "300 690 2019", "330 690 2018", "100 680 Cash", "300 680 1", "330 680 2")),
			"1.1 Item|1.2 Fiscal years covers 2|2.1 in|2.2 2019|2.3 2018|3.1 Cash|3.2 1|3.3 2"},
		"declared, but not so": {pageOf(declaredAs("0 1 2 3 4 5"), "", placedAt("100 700 Item", "300 700 2019", "100 680 Cash", "300 680 12", "100 660 Debt", "300 660 13")),
			"1.1 Item|1.2 2019|2.1 Cash|2.2 12|3.1 Debt|3.2 13"},
	} {
		doc, err := Read(t.Context(), "a.pdf", strings.NewReader(string(c.file)), Limits{})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		var got []string
		table := 1
		for _, p := range doc.Pieces {
			text := fmt.Sprintf("%d.%d %s", p.At.Row, p.At.Column, p.Text)
			if p.Cell == nil {
				if text = p.Text; p.Kind == Heading {
					text += " (heading)"
				} else if p.At.Section != "" {
					text += " in " + p.At.Section
				}
			} else if p.Cell.Columns > 1 {
				text += fmt.Sprintf(" covers %d", p.Cell.Columns)
			}
			if p.At.Table > table {
				table, text = p.At.Table, "#"+text
			}
			got = append(got, text)
		}
		if is := strings.Join(got, "|"); is != c.want {
			t.Errorf("%s: it reads\n%s\nand should read\n%s", what, is, c.want)
		}
	}
}
