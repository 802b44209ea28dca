package manda

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"verbatim/runtime/files/documents"
)

// tableOf is a document with one table, rows by line and cells by |, between paragraphs.
func tableOf(before, table, behind string) *documents.Document {
	doc := &documents.Document{}
	paragraph := func(text string) {
		for line := range strings.Lines(text) {
			doc.Pieces = append(doc.Pieces, documents.Piece{Kind: documents.Text, Text: strings.TrimSpace(line), At: documents.Location{Paragraph: len(doc.Pieces) + 1}})
		}
	}
	paragraph(before)
	row := 0
	for line := range strings.Lines(strings.TrimSpace(table)) {
		row++
		for k, text := range strings.Split(strings.TrimRight(line, "\n"), "|") {
			if text = strings.TrimSpace(text); text != "" {
				doc.Pieces = append(doc.Pieces, documents.Piece{Kind: documents.InCell, Text: text, Cell: &documents.Cell{}, At: documents.Location{Table: 1, Row: row, Column: k + 1}})
			}
		}
	}
	paragraph(behind)
	return doc
}

// G47: in the text of a page a sign may stand between two numbers, as one is behind a number in one language
// and before it in another. It is part of one of them.
func TestASignBetweenTwoNumbers(t *testing.T) {
	all := figures("Revenue was 1,250 $ 980 and 12 € 7.", false, func(int) bool { return false })
	for i, f := range all {
		if i > 0 && f.at < all[i-1].end {
			t.Errorf("%q begins within %q", f.Text, all[i-1].Text)
		}
	}
	if len(all) != 4 {
		t.Errorf("%d figures", len(all))
	}
	doc := &documents.Document{Pieces: []documents.Piece{{Kind: documents.Text, Text: "Revenue in 2019 was 1,250 $ 980 a year earlier. EBITDA of 2019 was 12 € 7."}}}
	Extract("a.docx", doc) // and it ends
}

// G46: "545.960" in a German report, most of which have no decimals in their statements, is no 545.96.
func TestThousandsAreToldByTheWholeText(t *testing.T) {
	for text, want := range map[string]bool{"Umsatz 545.960 und 623.983 TEUR": true, "545.960\n331.397\n27.046": true, "a rate of 1.125 and 1.250, and sales of 1,200": false, "a rate of 1.125": false, "1.25 and 545.960 and 1.200": false, "5,2 Mio. und 1.200 Stück": true, "31.12.2023 und 31.12.2022": false} {
		if commas(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

// G45: a parent's own statements have the rows of the group's, and say nothing of the group.
func TestAParentAloneIsNotTheGroup(t *testing.T) {
	for heading, want := range map[string]string{"Company balance sheet": "parent company", "Jahresabschluss der Aldgate AG (HGB)": "parent company", "Consolidated balance sheet": "", "Balance sheet of the company and the group, consolidated": ""} {
		doc := tableOf(heading, "|31 December 2023|31 December 2022\nTotal assets|7|8", "")
		doc.Pieces[0].Kind = documents.Heading
		if _, all := Extract("a.docx", doc); len(all) != 2 || all[0].Subject != want {
			t.Errorf("%s: %v", heading, all)
		}
	}
}

// G46: a figure belongs to no name behind an "and"; and what stands above the heading of a table is not of it.
func TestANameBehindAnAndIsAnother(t *testing.T) {
	doc := tableOf("For 2024 the board expects growth between 3 and 4 percent and a stable EBITDA margin.\nKey figures\nAmounts in millions", "|H1 2024|H1 2023\nEBITDA|7|8", "")
	doc.Pieces[1].Kind = documents.Heading
	_, all := Extract("a.docx", doc)
	for _, f := range all {
		if f.Metric == "ebitda margin" || f.Status == Forecast {
			t.Errorf("%+v", f)
		}
	}
	if len(all) != 2 {
		t.Errorf("%v", all)
	}
}

// M3: of a report with more figures than one call takes, those that are asked most come first.
func TestWhatIsAskedMostComesFirst(t *testing.T) {
	var table strings.Builder
	table.WriteString("|2023\n")
	for i := range atOnce {
		const odd = "qxzjkwvh"
		fmt.Fprintf(&table, "Tranche %c%c%c%c|%d\n", odd[i/512%8], odd[i/64%8], odd[i/8%8], odd[i%8], i)
	}
	table.WriteString("Revenue|12000\n")
	_, all := Extract("a.docx", tableOf("", table.String(), "As of December 31, 2023, we had 2,199 employees."))
	if len(all) < atOnce+2 || all[0].Metric != "revenue" || all[1].Metric != "headcount" {
		t.Errorf("%d: %v", len(all), all[:min(3, len(all))])
	}
}

// M16: on a page the lines run on, so that what holds for a table may be said across two.
func TestAScaleAcrossTwoLines(t *testing.T) {
	doc := tableOf("The following table has our costs (amounts in\nthousands of dollars).\nIt is short.\nIt is clear.", "|2019|2018\nWorkwear|7|8", "")
	for i := range doc.Pieces {
		doc.Pieces[i].At.Page, doc.Pieces[i].At.Paragraph = 1, 0
	}
	_, all := Extract("a.pdf", doc)
	if len(all) != 2 || shown(all[0].Value) != "7000" {
		t.Errorf("%v", all)
	}
}

// G45, G46: what a figure of a table is stands in the heads above it, the labels beside and above it, and
// the text around it: its period, its scale with exceptions, its sign as printed, its own label.
func TestATableIsReadByItsStructure(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, table, behind, at, want string }{
		"two heads, one over all":         {"", "|Year ended December 31,|\n|2019|2018\nNet cash used for travel|$(5,264)|12", "", "row 3, column 3", "net cash used for travel| |FY2018|12|USD"},
		"a sign before a bracket":         {"", "|Year ended December 31,|\n|2019|2018\nNet cash used for travel|$(5,264)|12", "", "row 3, column 2", "net cash used for travel| |FY2019|-5264|USD"},
		"heads over pairs of columns":     {"", "||Fiscal 2019||Fiscal 2018\n|High|Low|High|Low\nFirst Quarter|$3.14|$2.81|$1.24|$1.11", "", "row 3, column 4", "high||Q1 2018|1.24|USD"},
		"a scale before the table":        {"All is as follows (in thousands, except per share data):", "|2019|2018\nWorkwear|7|8\nWorkwear per share|0.5|0.4", "", "row 2, column 2", "workwear||FY2019|7000|"},
		"a scale has exceptions":          {"All is as follows (in thousands, except per share data):", "|2019|2018\nWorkwear|7|8\nWorkwear per share|0.5|0.4", "", "row 3, column 2", "workwear per share||FY2019|0.5|"},
		"a scale behind the table":        {"", "|2019|2018\nWorkwear|7|8", "The table is in millions.", "row 2, column 3", "workwear||FY2018|8000000|"},
		"a scale in the corner":           {"", "($ in billions)\n|2019|2018\nWorkwear|7.5|8", "", "row 3, column 2", "workwear||FY2019|7500000000|USD"},
		"a label has several words":       {"", "|2019|2018\nEarnings before interest and taxes|7|8", "", "row 2, column 2", "earnings before interest and taxes||FY2019|7|"},
		"a year with a footnote":          {"", "|2017|20181|2019\nWorkwear|7|8|9", "", "row 2, column 3", "workwear||FY2018|8|"},
		"the year of a label is its name": {"", "|2019|2018\nLoan dated March 14, 2014|7|8", "", "row 2, column 2", "loan dated||FY2019|7|"},
		"between two balances":            {"", "|Shares\nOutstanding at December 31, 2018|70\nGranted|8\nOutstanding at December 31, 2019|78", "", "row 3, column 2", "granted|shares|FY2019|8|"},
		"a year is not taken from a note": {"The note of 2015 says more.", "|2019|Other\nWorkwear|7|8", "", "row 2, column 3", "workwear|other||8|"},
		"three months are a quarter":      {"", "|Three months ended 31 December 2019|2018\nWorkwear|7|8", "", "row 2, column 2", "workwear||Q4 2019|7|"},
		"signs in cells of their own":     {"", "||2019||||2018|\nWorkwear|$|(5,264|)||$|12|\nPart|||7|%|||8", "", "row 2, column 3", "workwear||FY2019|-5264|USD"},
		"two currencies in their own":     {"", "||2019||2018\nRent|€|5|$|7", "", "row 2, column 5", "rent||FY2018|7|USD"},
		"a percent sign in its own":       {"", "||2019|||2018|\nPart||7|%||8|%", "", "row 2, column 3", "part||FY2019|7|%"},
		"a dash is nothing":               {"", "|2019|2018\nWorkwear|—|8", "", "row 2, column 2", "workwear||FY2019|0|"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, all := Extract("report.docx", tableOf(c.before, c.table, c.behind))
			for _, f := range all {
				if f.Place != "table 1, "+c.at {
					continue
				}
				got := strings.Join([]string{f.Metric, f.Subject, f.Period.String(), shown(f.Value), f.Unit}, "|")
				if want := strings.ReplaceAll(c.want, " |", "|"); strings.ReplaceAll(got, " |", "|") != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
				return
			}
			t.Errorf("nothing was found at %s", c.at)
		})
	}
}

// G45: figures that the other document states too are paired and gone; of the rest, a cell is compared
// with the one of the same heads.
func TestEqualFiguresArePairedBeforeOthersDiffer(t *testing.T) {
	t.Parallel()
	fact := func(document, label, head string, value int64) FindingFacts {
		return FindingFacts{Document: document, Metric: "granted", Label: label, Head: head, Period: "FY2019", Status: Actual, Value: big.NewRat(value, 1), Step: big.NewRat(1, 1)}
	}
	all := []FindingFacts{
		fact("a", "RSUs: Granted", "2019", 7), fact("a", "PSUs: Granted", "2019", 9), fact("a", "PSUs: Granted", "2019", 5),
		fact("b", "RSUs: Granted", "2019", 8), fact("b", "PSUs: Granted", "2019", 9), fact("b", "PSUs: Granted", "2019", 5),
	}
	if how := Relate(all[0], all[4], false); how != Unrelated {
		t.Errorf("rows under different headings: %s", how)
	}
	var differ [][2]int
	for i := range 3 {
		for k := 3; k < 6; k++ {
			if Relate(all[i], all[k], false) == Contradicts {
				differ = append(differ, [2]int{i, k})
			}
		}
	}
	if got := Unmatched(all, differ); len(got) != 1 || !got[[2]int{0, 3}] {
		t.Errorf("of %v are left %v", differ, got)
	}
	// A sentence says no more of a cell than the other document's cell of the same heads.
	all = []FindingFacts{fact("a", "RSUs: Granted", "2019", 7), fact("b", "", "", 9), fact("b", "RSUs: Granted", "2019", 8)}
	if got := Unmatched(all, [][2]int{{0, 1}, {0, 2}}); len(got) != 1 || !got[[2]int{0, 2}] {
		t.Errorf("beside a cell of the same heads are left %v", got)
	}
}

// G9, G46: a question finds the row that has its words, reckons what it asks for, and cites the cells.
func TestAQuestionFindsItsRow(t *testing.T) {
	t.Parallel()
	table := `
|2019|2018|2017
Revenue:
Subscription solutions|$642|$464|$310
Merchant solutions|935|608|363
Total revenue|1,577|1,072|673
Deferred revenue, current portion|55|50|40
Interest income|8|5|7
Staff turnover rate|8%|9%|7%`
	doc := tableOf("Revenue by source was as follows (in millions):", table, "Subscription revenue rose because of new merchants. We acquired Oberlo for $15.7 million in 2017.")
	facts := factsOf(doc)
	passages := []Passage{{Document: "report.docx", Place: "paragraph 9", Text: "Subscription revenue rose because of new merchants. We acquired Oberlo for $15.7 million in 2017."}}
	for question, want := range map[string]string{
		"What was merchant solutions in 2018?":                                                   "608000000",
		"What was the current portion of deferred revenue in 2017?":                              "40000000",
		"What was the change in merchant solutions from 2018 to 2019?":                           "327000000",
		"What was the percentage change in merchant solutions between 2018 and 2019?":            "53.78",
		"What was the average interest income from 2017 to 2019?":                                "6670000",
		"What is the total interest income in 2018 and 2019?":                                    "13000000",
		"What is merchant solutions as a percentage of total revenue in 2019?":                   "59.29",
		"What was the difference between subscription solutions and merchant solutions in 2019?": "-293000000",
		"How many years did interest income exceed $6 million?":                                  "2",
		"What was the change in the staff turnover rate between 2018 and 2019?":                  "-1",
		"How much did we pay for Oberlo in 2017?":                                                "15700000",
		"Why did subscription revenue rise?":                                                     "“Subscription revenue rose because of new merchants.",
	} {
		q := Read(question, "Acme", nil)
		room := &DealFacts{Deal: "Acme", Documents: 1, Facts: facts, Passages: passages}
		lines, _ := seek(&q, room)
		if len(lines) == 0 {
			t.Errorf("%s: nothing", question)
			continue
		}
		got := lines[0].Text
		if lines[0].Fact != nil {
			got = shown(lines[0].Fact.Value)
		}
		if !strings.HasPrefix(got, want) || lines[0].Document == "" || lines[0].Score == nil || *lines[0].Score < 0 || *lines[0].Score > 1 {
			t.Errorf("%s: %q (%+v), want %q", question, got, lines[0], want)
		}
	}
}

// factsOf are the figures of a document, as an answer has them.
func factsOf(doc *documents.Document) (facts []Fact) {
	_, findings := Extract("report.docx", doc)
	for i := range findings {
		f := &findings[i]
		facts = append(facts, Fact{FindingFacts: FindingFacts{Document: "report.docx", Metric: f.Metric, Label: f.Label, Head: f.Head, Title: f.Title, Subject: f.Subject, Period: f.Period.String(), Unit: f.Unit, Status: f.Status, Value: f.Value, Step: f.Step}, Domain: f.Domain, Place: f.Place, Text: f.Text, Confidence: f.Confidence, Number: i + 1})
	}
	return facts
}

// G11: where several rows fit alike, none is told as the answer; two are quoted, without a value.
func TestAnUnsureFigureIsOffered(t *testing.T) {
	t.Parallel()
	table := "\n|2019|2018"
	for i := range 8 {
		table += fmt.Sprintf("\nPart %c:\nAccruals for staff|%d|%d\nAccruals for rent|%d|%d", 'A'+i, 100+7*i, 90+5*i, 31+i, 29+i)
	}
	q := Read("What were accruals in 2019?", "Acme", nil)
	lines, _ := seek(&q, &DealFacts{Deal: "Acme", Documents: 1, Facts: factsOf(tableOf("Liabilities of each part (in millions):", table, ""))})
	if len(lines) != 3 || lines[0].Role != Said || lines[1].Role != Claim || lines[1].Fact != nil || lines[2].Fact != nil || lines[1].Score == nil || *lines[1].Score >= leastSure {
		t.Errorf("%+v", lines)
	}
}
