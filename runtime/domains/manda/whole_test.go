package manda_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"verbatim/runtime/tests/browsertest"
	"verbatim/runtime/tests/norace"
)

var (
	wholeAll = flag.Bool("whole", false, "TestWholeReports takes all six reports, of 50 to 200 pages, and not one")
	wholeSay = flag.Bool("whole-say", false, "TestWholeReports prints the answers")
)

// A wholeReport is a long report that nobody published, with questions that an analyst asks of one.
type wholeReport struct {
	name      string
	html      strings.Builder
	r         *rand.Rand
	comma     bool // 1.234,5
	now       int  // the year
	questions []wholeQuestion
}

// A wholeQuestion is right if the first claim has the value, or the words; or, with neither, if nothing is
// claimed.
type wholeQuestion struct{ text, value, words string }

func (w *wholeReport) ask(text, value, words string) {
	w.questions = append(w.questions, wholeQuestion{text, value, words})
}

// n is a number as the report prints it.
func (w *wholeReport) n(v int) string {
	s, sign := strconv.Itoa(max(v, -v)), ","
	if w.comma {
		sign = "."
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + sign + s[i:]
	}
	if v < 0 {
		return "(" + s + ")"
	}
	return s
}

// tenth is a number of tenths as the report prints it.
func (w *wholeReport) tenth(v int) string {
	sign := "."
	if w.comma {
		sign = ","
	}
	s := w.n(max(v, -v)/10) + sign + strconv.Itoa(max(v, -v)%10)
	if v < 0 {
		return "(" + s + ")"
	}
	return s
}

func (w *wholeReport) h(level int, text string) {
	fmt.Fprintf(&w.html, "<h%d>%s</h%d>", level, escaped(text), level)
}

func (w *wholeReport) p(format string, args ...any) {
	fmt.Fprintf(&w.html, "<p>%s</p>", escaped(fmt.Sprintf(format, args...)))
}

func (w *wholeReport) page() { w.html.WriteString(`<div style="break-before:page"></div>`) }

// table writes rows of cells, of which the first is the head; labels stand left, all else right.
func (w *wholeReport) table(rows ...[]string) {
	w.html.WriteString("<table>")
	for _, row := range rows {
		w.html.WriteString("<tr>")
		for i, c := range row {
			class := ""
			if i > 0 {
				class = " class=n"
			}
			fmt.Fprintf(&w.html, "<td%s>%s</td>", class, escaped(c))
		}
		w.html.WriteString("</tr>")
	}
	w.html.WriteString("</table>")
}

// lines are rows of a table with a figure for each of some columns.
func (w *wholeReport) lines(head []string, write func(int) string, rows map[string][]int, order ...string) {
	all := [][]string{head}
	for _, label := range order {
		row := []string{label}
		for _, v := range rows[label] {
			row = append(row, write(v))
		}
		all = append(all, row)
	}
	w.table(all...)
}

// some are figures around a size, one for each of n columns.
func (w *wholeReport) some(n, size int) (all []int) {
	for range n {
		all = append(all, size*4/5+w.r.IntN(max(1, size*2/5))+w.r.IntN(9))
	}
	return all
}

// fill writes the notes that make a report long: policies, and tables of things that nobody asks for, among
// them figures of parts that are called as those of the whole.
func (w *wholeReport) fill(pages int, years []string, topics, policies []string) {
	for i := range pages {
		topic := topics[i%len(topics)]
		w.page()
		w.h(3, fmt.Sprintf("%d. %s", 20+i, topic))
		for range 5 {
			k := w.r.IntN(len(policies))
			w.p("%s %s %s", policies[k], policies[(k+3)%len(policies)], policies[(k+5)%len(policies)])
		}
		rows, order := map[string][]int{}, []string{}
		for k := range 9 {
			label := fmt.Sprintf("%s, %s %c", topic, []string{"tranche", "item", "class"}[i%3], 'A'+k)
			rows[label], order = w.some(len(years), 300+w.r.IntN(9000)), append(order, label)
		}
		w.lines(append([]string{""}, years...), w.n, rows, order...)
	}
}

var (
	wholeTopics   = []string{"Operating leases", "Share-based payments", "Provisions", "Financial instruments", "Related parties", "Pension obligations", "Commitments", "Intangible assets", "Deferred taxes", "Capital management"}
	wholePolicies = []string{"Amounts are recognised when control passes and the consideration can be measured.", "The useful lives are reviewed at each reporting date and adjusted where appropriate.", "Management exercises judgement in determining the expected settlement.", "Level 3 inputs are not observable in active markets.", "Differences are taken to other comprehensive income.", "No material changes to the method were made in the year.", "The effect of discounting is presented within finance costs.", "Further information is given in the notes to the accounts.", "Assets are tested whenever there is an indication of impairment.", "Comparative information has been re-presented where necessary."}
	wholeThemen   = []string{"Leasingverhältnisse", "Aktienbasierte Vergütung", "Rückstellungen", "Finanzinstrumente", "Nahestehende Personen", "Pensionsverpflichtungen", "Sonstige Verpflichtungen", "Immaterielle Werte", "Latente Steuern", "Kapitalmanagement"}
	wholeSaetze   = []string{"Erlöse werden erfasst, sobald die Verfügungsmacht übergeht.", "Die Nutzungsdauern werden an jedem Stichtag überprüft.", "Die Schätzung beruht auf Annahmen des Vorstands.", "Eingangsparameter der Stufe 3 sind nicht beobachtbar.", "Unterschiedsbeträge werden im sonstigen Ergebnis erfasst.", "Die Methode wurde unverändert angewandt.", "Aufzinsungen werden im Finanzergebnis gezeigt.", "Weitere Angaben finden sich im Anhang.", "Vermögenswerte werden bei Anhaltspunkten auf Wertminderung geprüft.", "Vorjahreswerte wurden angepasst, soweit erforderlich."}
)

func newWhole(seed uint64, name string, now int) *wholeReport {
	return &wholeReport{name: name, r: rand.New(rand.NewPCG(seed, 52)), now: now}
}

// tenK is like the yearly report of an American company, in thousands of dollars.
func tenK(pages int) *wholeReport {
	w := newWhole(1, "Halvorsen_Instruments_10-K.pdf", 2023)
	y := []string{"2023", "2022", "2021"}
	w.h(1, "HALVORSEN INSTRUMENTS, INC.")
	w.p("Annual report pursuant to Section 13 for the fiscal year ended December 31, 2023.")
	employees := 2140 + w.r.IntN(90)
	w.page()
	w.h(2, "Item 1. Business")
	w.p("Halvorsen makes measuring instruments for laboratories and plants. As of December 31, 2023, we had %s full-time employees, of whom 410 work outside the United States.", w.n(employees))
	w.h(2, "Item 6. Selected Financial Data")
	revenue, rd, cash, net, sga, cost := w.some(3, 712000), w.some(3, 96000), w.some(3, 121000), w.some(3, 64000), w.some(3, 143000), w.some(3, 380000)
	w.p("The following data (in thousands, except per share data) should be read with our consolidated financial statements.")
	w.table([]string{"", "2023", "2022", "2021", "2020", "2019"}, []string{"Net sales", w.n(revenue[0]), w.n(revenue[1]), w.n(revenue[2]), w.n(598123), w.n(571004)}, []string{"Diluted earnings per share", "$2.14", "$1.97", "$1.61", "$1.40", "$1.22"})
	w.h(2, "Item 7. Management's Discussion")
	w.p("Sales of our Optics segment rose by 4.1 percent; those of the Flow segment fell. We expect capital expenditures of $45 million to $50 million in 2024.")
	w.page()
	w.h(2, "CONSOLIDATED STATEMENTS OF OPERATIONS")
	w.p("(in thousands, except per share data)")
	w.lines([]string{"Year Ended December 31,", y[0], y[1], y[2]}, w.n, map[string][]int{"Net sales": revenue, "Cost of sales": cost, "Research and development": rd, "Selling, general and administrative": sga, "Net income": net}, "Net sales", "Cost of sales", "Research and development", "Selling, general and administrative", "Net income")
	w.page()
	w.h(2, "CONSOLIDATED STATEMENTS OF CASH FLOWS")
	w.p("(in thousands)")
	capex := []int{-w.some(1, 41000)[0], -w.some(1, 39000)[0], -w.some(1, 37000)[0]}
	w.lines([]string{"Year Ended December 31,", y[0], y[1], y[2]}, w.n, map[string][]int{"Net income": net, "Depreciation and amortization": w.some(3, 31000), "Net cash provided by operating activities": cash, "Purchases of property, plant and equipment": capex, "Repurchases of common stock": w.some(3, 22000)}, "Net income", "Depreciation and amortization", "Net cash provided by operating activities", "Purchases of property, plant and equipment", "Repurchases of common stock")
	w.page()
	w.h(3, "18. Segment information")
	w.p("Our segments are as follows (in thousands):")
	w.lines([]string{"2023", "Optics", "Flow"}, w.n, map[string][]int{"Net sales": {revenue[0] - 250000, 250000}, "Research and development": {rd[0] - 31000, 31000}}, "Net sales", "Research and development")
	w.fill(pages, y, wholeTopics, wholePolicies)
	w.page()
	w.h(2, "SCHEDULE I. CONDENSED FINANCIAL INFORMATION OF THE PARENT COMPANY")
	w.p("(in thousands)")
	w.lines([]string{"", "2023", "2022"}, w.n, map[string][]int{"Net cash provided by operating activities of the parent": w.some(2, 9000), "Dividends from subsidiaries": w.some(2, 21000)}, "Dividends from subsidiaries", "Net cash provided by operating activities of the parent")
	w.ask("What was Halvorsen's revenue for fiscal 2023?", strconv.Itoa(revenue[0]*1000), "")
	w.ask("How much did they spend on R&D in 2022?", strconv.Itoa(rd[1]*1000), "")
	w.ask("What was the operating cash flow in 2021?", strconv.Itoa(cash[2]*1000), "")
	w.ask("How many people did Halvorsen employ at the end of 2023?", strconv.Itoa(employees), "")
	return w
}

// ifrs is like the yearly report of a British group, in millions of pounds, with the accounts of the parent.
func ifrs(pages int) *wholeReport {
	w := newWhole(2, "Marlowe_Teague_Annual_Report_2023.pdf", 2023)
	y := []string{"2023", "2022"}
	w.h(1, "Marlowe & Teague plc")
	w.p("Annual report and accounts 2023")
	w.page()
	w.h(2, "Chair's statement")
	w.p("The board proposes a final dividend of 14.2 pence per share, payable on 3 June 2024 to shareholders on the register at 26 April 2024.")
	w.h(2, "Consolidated income statement")
	w.p("For the year ended 31 December 2023. All amounts are in £ million unless otherwise stated.")
	rev, op, pbt, tax := w.some(2, 18420), w.some(2, 2140), w.some(2, 1790), w.some(2, 430)
	w.lines([]string{"£m", y[0], y[1]}, w.tenth, map[string][]int{"Revenue": rev, "Cost of sales": w.some(2, 11000), "Operating profit": op, "Finance costs": w.some(2, 350), "Profit before taxation": pbt, "Taxation": tax}, "Revenue", "Cost of sales", "Operating profit", "Finance costs", "Profit before taxation", "Taxation")
	w.page()
	w.h(2, "Consolidated balance sheet")
	w.p("As at 31 December, in £ million")
	assets, inv := w.some(2, 24100), w.some(2, 2900)
	w.lines([]string{"", "31 December 2023", "31 December 2022"}, w.tenth, map[string][]int{"Property, plant and equipment": w.some(2, 7300), "Inventories": inv, "Trade and other receivables": w.some(2, 3100), "Total assets": assets, "Total liabilities": w.some(2, 13000)}, "Property, plant and equipment", "Inventories", "Trade and other receivables", "Total assets", "Total liabilities")
	w.fill(pages, y, wholeTopics, wholePolicies)
	w.page()
	w.h(2, "Company balance sheet of Marlowe & Teague plc")
	w.p("The accounts of the parent company alone, as at 31 December, in £ million")
	w.lines([]string{"", "31 December 2023", "31 December 2022"}, w.tenth, map[string][]int{"Investments in subsidiaries": w.some(2, 9100), "Total assets of the company": w.some(2, 9900)}, "Investments in subsidiaries", "Total assets of the company")
	million := func(tenths int) string { return strconv.Itoa(tenths * 100_000) }
	w.ask("What was the group's operating profit in 2023?", million(op[0]), "")
	w.ask("What did inventories amount to at the end of 2022?", million(inv[1]), "")
	w.ask("How large were the group's total assets at 31 December 2023?", million(assets[0]), "")
	w.ask("What final dividend does the board propose?", "", "14.2 pence per share")
	return w
}

// bericht is like the yearly report of a German group, in thousands of euros, with the accounts of its AG.
func bericht(pages int) *wholeReport {
	w := newWhole(3, "Brennwald_Geschaeftsbericht_2023.pdf", 2023)
	w.comma = true
	y := []string{"2023", "2022"}
	w.h(1, "Brennwald Maschinenbau AG")
	w.p("Geschäftsbericht 2023")
	w.page()
	staff := 3120 + w.r.IntN(70)
	w.h(2, "Zusammengefasster Lagebericht")
	w.p("Zum 31. Dezember 2023 beschäftigte der Konzern %s Mitarbeiter. Für das Jahr 2024 erwartet der Vorstand ein leichtes Wachstum.", w.n(staff))
	rev, mat, sum, ebit := w.some(2, 612000), w.some(2, 287000), w.some(2, 701000), w.some(2, 48000)
	w.page()
	w.h(2, "Konzern-Gewinn- und Verlustrechnung")
	w.p("für das Geschäftsjahr vom 1. Januar bis 31. Dezember 2023, Angaben in TEUR")
	w.lines([]string{"in TEUR", y[0], y[1]}, w.n, map[string][]int{"Umsatzerlöse": rev, "Materialaufwand": mat, "Personalaufwand": w.some(2, 190000), "Abschreibungen": w.some(2, 31000), "EBIT": ebit, "Konzernergebnis": w.some(2, 29000)}, "Umsatzerlöse", "Materialaufwand", "Personalaufwand", "Abschreibungen", "EBIT", "Konzernergebnis")
	w.page()
	w.h(2, "Konzernbilanz")
	w.p("Angaben in TEUR")
	w.lines([]string{"Aktiva", "31.12.2023", "31.12.2022"}, w.n, map[string][]int{"Sachanlagen": w.some(2, 210000), "Vorräte": w.some(2, 120000), "Zahlungsmittel": w.some(2, 55000), "Bilanzsumme": sum}, "Sachanlagen", "Vorräte", "Zahlungsmittel", "Bilanzsumme")
	w.page()
	w.h(3, "Segmentberichterstattung")
	w.p("Angaben in TEUR für das Geschäftsjahr 2023")
	w.lines([]string{"", "Pressen", "Anlagen"}, w.n, map[string][]int{"Umsatzerlöse des Segments": {rev[0] - 205000, 205000}, "Materialaufwand des Segments": {mat[0] - 90000, 90000}}, "Umsatzerlöse des Segments", "Materialaufwand des Segments")
	w.fill(pages, y, wholeThemen, wholeSaetze)
	w.page()
	w.h(2, "Jahresabschluss der Brennwald Maschinenbau AG (HGB)")
	w.p("Angaben in TEUR")
	w.lines([]string{"Einzelabschluss der AG", y[0], y[1]}, w.n, map[string][]int{"Umsatzerlöse der AG": w.some(2, 180000), "Jahresüberschuss der AG": w.some(2, 12000)}, "Umsatzerlöse der AG", "Jahresüberschuss der AG")
	w.ask("Wie hoch war der Umsatz des Konzerns im Jahr 2023?", strconv.Itoa(rev[0]*1000), "")
	w.ask("Was gab der Konzern 2022 für Material aus?", strconv.Itoa(mat[1]*1000), "")
	w.ask("Wie viele Mitarbeiter hatte der Konzern Ende 2023?", strconv.Itoa(staff), "")
	w.ask("Wie hoch war die Bilanzsumme am 31. Dezember 2023?", strconv.Itoa(sum[0]*1000), "")
	return w
}

// halfYear is like the report of an Italian company on half a year, in millions of euros.
func halfYear(pages int) *wholeReport {
	w := newWhole(4, "Sorrento_Foods_Half-Year_Report_2024.pdf", 2024)
	w.h(1, "Sorrento Foods S.p.A.")
	w.p("Half-year financial report at 30 June 2024")
	w.page()
	w.h(2, "Outlook")
	w.p("For the full year 2024, management expects organic growth of net sales between 3 and 4 percent and a stable EBITDA margin.")
	sales, ebitda, debt := []int{w.some(1, 9400)[0], w.some(1, 9100)[0], w.some(1, 18700)[0]}, []int{w.some(1, 1130)[0], w.some(1, 1050)[0], w.some(1, 2240)[0]}, w.some(2, 4100)
	w.h(2, "Key figures")
	w.p("Amounts in € million")
	w.lines([]string{"", "H1 2024", "H1 2023", "FY 2023"}, w.tenth, map[string][]int{"Net sales": sales, "EBITDA": ebitda, "Net profit": {411, 398, 812}}, "Net sales", "EBITDA", "Net profit")
	w.page()
	w.h(2, "Net financial debt")
	w.p("Amounts in € million")
	w.lines([]string{"", "30 June 2024", "31 December 2023"}, w.tenth, map[string][]int{"Bank borrowings": w.some(2, 3200), "Bonds": w.some(2, 2400), "Cash and cash equivalents": w.some(2, 1500), "Net financial debt": debt}, "Bank borrowings", "Bonds", "Cash and cash equivalents", "Net financial debt")
	w.fill(pages, []string{"H1 2024", "H1 2023"}, wholeTopics, wholePolicies)
	million := func(tenths int) string { return strconv.Itoa(tenths * 100_000) }
	w.ask("What was EBITDA in the first half of 2024?", million(ebitda[0]), "")
	w.ask("What were net sales in H1 2023?", million(sales[1]), "")
	w.ask("How high was net financial debt at 30 June 2024?", million(debt[0]), "")
	w.ask("What sales growth does management expect for the full year 2024?", "", "between 3 and 4 percent")
	return w
}

// certificate is like what a borrower sends its lenders, with long annexes.
func certificate(pages int) *wholeReport {
	w := newWhole(5, "Kestrel_Compliance_Certificate_2024-06.pdf", 2024)
	w.h(1, "Compliance Certificate")
	w.p("To: Northgate Bank plc as Agent. From: Kestrel Holdings Limited. Dated 12 August 2024. We refer to the facilities agreement dated 4 March 2021.")
	w.p("We confirm that, in respect of the twelve months ended 30 June 2024, the covenants were met as follows.")
	ebitda, debt := w.some(2, 84000), w.some(2, 251000)
	w.table([]string{"Covenant", "Required", "30 June 2024", "30 June 2023"}, []string{"Leverage", "not more than 3.75x", "2.98x", "3.21x"}, []string{"Interest cover", "not less than 4.00x", "5.12x", "4.86x"})
	w.page()
	w.h(2, "Annex 1. Calculations")
	w.p("In thousands of US dollars, for the twelve months ended 30 June")
	w.lines([]string{"", "2024", "2023"}, w.n, map[string][]int{"Operating profit": w.some(2, 52000), "Depreciation": w.some(2, 19000), "Adjusted EBITDA": ebitda, "Total net debt": debt, "Net finance charges": w.some(2, 16400)}, "Operating profit", "Depreciation", "Adjusted EBITDA", "Total net debt", "Net finance charges")
	w.fill(pages, []string{"2024", "2023"}, []string{"Charged property", "Guarantors", "Permitted disposals", "Excluded accounts", "Material contracts"}, wholePolicies)
	w.ask("What was adjusted EBITDA for the twelve months to 30 June 2024?", strconv.Itoa(ebitda[0]*1000), "")
	w.ask("What was total net debt in 2023?", strconv.Itoa(debt[1]*1000), "")
	w.ask("What was the leverage at 30 June 2024?", "", "2.98x")
	w.ask("How much goodwill was written off in 2024?", "", "")
	return w
}

// segments is like the report of a group whose parts print the same rows as the whole.
func segments(pages int) *wholeReport {
	w := newWhole(6, "Aldgate_Group_Annual_Report_2024.pdf", 2024)
	w.h(1, "Aldgate Group")
	w.p("Annual report 2024")
	rev := w.some(2, 940000)
	packing, iberia := w.some(2, 310000), w.some(2, 8200)
	w.page()
	w.h(2, "Consolidated statement of profit or loss")
	w.p("Years ended 31 December, in thousands of euros")
	w.lines([]string{"", "2024", "2023"}, w.n, map[string][]int{"Revenue": rev, "Operating expenses": w.some(2, 790000), "Profit before tax": w.some(2, 101000), "Profit for the year": w.some(2, 77000)}, "Revenue", "Operating expenses", "Profit before tax", "Profit for the year")
	w.page()
	w.h(2, "Packaging segment")
	w.p("In thousands of euros")
	w.lines([]string{"Packaging", "2024", "2023"}, w.n, map[string][]int{"Revenue of Packaging": packing, "Segment result of Packaging": w.some(2, 33000)}, "Revenue of Packaging", "Segment result of Packaging")
	w.h(2, "Logistics segment")
	w.p("In thousands of euros")
	w.lines([]string{"Logistics", "2024", "2023"}, w.n, map[string][]int{"Revenue of Logistics": {rev[0] - packing[0], rev[1] - packing[1]}, "Segment result of Logistics": w.some(2, 61000)}, "Revenue of Logistics", "Segment result of Logistics")
	w.page()
	w.h(2, "Subsidiaries")
	w.p("Profit before tax of the subsidiaries, in thousands of euros")
	w.lines([]string{"Company", "2024", "2023"}, w.n, map[string][]int{"Aldgate Iberia S.L.": iberia, "Aldgate France SAS": w.some(2, 11000), "Aldgate Polska Sp. z o.o.": w.some(2, 7000)}, "Aldgate Iberia S.L.", "Aldgate France SAS", "Aldgate Polska Sp. z o.o.")
	w.fill(pages, []string{"2024", "2023"}, wholeTopics, wholePolicies)
	w.ask("What was the total revenue of the group in 2024?", strconv.Itoa(rev[0]*1000), "")
	w.ask("How much revenue did Packaging make in 2023?", strconv.Itoa(packing[1]*1000), "")
	w.ask("What was the profit before tax of Aldgate Iberia in 2024?", strconv.Itoa(iberia[0]*1000), "")
	w.ask("What was the revenue of Aldgate Nordics in 2024?", "", "")
	return w
}

// M3, M16, G9, G45: plain questions on whole reports, in which the same words stand on many pages: for
// the company and for its parts, for this year and others. What is claimed is right, and what is nowhere is
// told as a search. The questions were written before an answer was seen. One short report is asked always, all
// six with -whole.
func TestWholeReports(t *testing.T) {
	if norace.Run(t) {
		return
	}
	t.Parallel()
	press := &press{tab: browsertest.Open(t)}
	all := []*wholeReport{ifrs(8)}
	if *wholeAll {
		all = []*wholeReport{tenK(180), ifrs(130), bericht(90), halfYear(50), certificate(60), segments(110)}
	}
	const style = "<!doctype html><meta charset=utf-8><style>@page{size:A4;margin:20mm}body{font:10pt/1.35 serif}table{border-collapse:collapse;width:100%;margin:6pt 0}td{padding:1.5pt 4pt;border-bottom:.5pt solid #999}.n{text-align:right}</style>"
	room := newOutsideRoom(t, len(all))
	right, wrong, asked := 0, 0, 0
	for deal, w := range all {
		room.add(t, deal, map[string][]byte{w.name: press.print(style + w.html.String())})
		for _, q := range w.questions {
			lines := linesOf(&room.calls(t, deal, fmt.Sprintf("manda.score-answer :deal-id @deal-%d :question %s", deal, strconv.Quote(q.text)), false).Calls[0])
			how := q.judge(lines)
			switch asked++; how {
			case "right":
				right++
			case "wrong":
				wrong++
			}
			if how != "right" || *wholeSay {
				t.Logf("%s: %s %s\n  = %s%s\n%s", how, w.name, q.text, q.value, q.words, saidLines(lines))
			}
		}
	}
	t.Logf("%d of %d plain questions right, %d wrong", right, asked, wrong)
	if wrong > 0 || right*24 < asked*20 {
		t.Errorf("%d of %d right, %d wrong: at least 20 of 24, and none wrong", right, asked, wrong)
	}
}

// judge says whether what is claimed first is right, or wrong, or nothing that answers.
func (q *wholeQuestion) judge(lines []toldLine) string {
	i := slices.IndexFunc(lines, func(l toldLine) bool { return l["role"] == "claim" })
	switch {
	case q.value+q.words == "" && (i < 0 || slices.ContainsFunc(lines[:i], func(l toldLine) bool { return strings.Contains(l["text"], "found no") })):
		return "right" // told as a search, whatever is offered then
	case i < 0:
		return "nothing"
	case q.words != "" && strings.Contains(lines[i]["text"], q.words):
		return "right"
	case q.value != "" && lines[i]["value"] == q.value:
		return "right"
	case lines[i]["value"] == "":
		return "words"
	case slices.ContainsFunc(lines[:i], func(l toldLine) bool { return l["role"] == "said" }):
		return "offered" // as what fits best, and not as the answer
	}
	return "wrong"
}
