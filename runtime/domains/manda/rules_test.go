package manda

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"verbatim/runtime/conversation/values"
	"verbatim/runtime/files/documents"
)

// Figures in whole units, whatever their notation, scale and currency: money is never read
// as a thousand times what it is.
func TestFiguresAreReadInWholeUnits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"€5.2m": "5200000 EUR ±100000", "EUR 5.2 million": "5200000 EUR ±100000", "5,2 Mio. €": "5200000 EUR ±100000", "T€ 5.200": "5200000 EUR ±1000",
		"5.200 T€": "5200000 EUR ±1000", "204 k€": "204000 EUR ±1000", "k€ 204": "204000 EUR ±1000", "€ 300K": "300000 EUR ±1000", "1 234 567 €": "1234567 EUR ±1",
		"USD 3.1 million": "3100000 USD ±100000", "$1.5bn": "1500000000 USD ±100000000", "£12,500": "12500 GBP ±1", "CHF 1'250.50": "1250.5 CHF ±0.01",
		"12,5 %": "12.5 % ±0.1", "42.0%": "42 % ±0.1", "four per cent": "", "3 per cent": "3 % ±1", "1,480 machines": "1480  ±1",
		"640 thousand": "640000  ±1000", "186 milliers d'euros": "186000 EUR ±1000", "-3.4 Mio. EUR": "-3400000 EUR ±100000", "ISO 9001": "", "GR-07": "", "Q3": "", "v2": "", "10:30": "", "3rd": "",
		"clause 21": "", "5 months": "5  ±1",
	} {
		comma := strings.ContainsAny(text, "€T") && strings.Contains(text, ".200") || strings.Contains(text, "5,2") || strings.Contains(text, "12,5 ")
		got := ""
		for _, f := range figures(text, comma, func(int) bool { return false }) {
			got = shown(f.Value) + " " + f.Unit + " ±" + shown(f.Step)
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Periods as people write them in three languages; the last day of a year is that year.
func TestPeriodsAreRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Q3 2024": "Q3 2024", "3Q24": "Q3 2024", "T3 2024": "Q3 2024", "third quarter of 2024": "Q3 2024", "3. Quartal 2024": "Q3 2024", "troisième trimestre 2024": "Q3 2024",
		"H1 2024": "H1 2024", "first half of 2024": "H1 2024", "2. Halbjahr 2024": "H2 2024", "FY2024": "FY2024", "FY24": "FY2024", "Geschäftsjahr 2024": "FY2024", "exercice 2024": "FY2024", "2024": "FY2024", "2025E": "FY2025",
		"September 2024": "2024-09", "Sept. 2024": "2024-09", "März 2024": "2024-03", "août 2024": "2024-08", "2024-09": "2024-09", "30 September 2024": "2024-09-30", "30.09.2024": "2024-09-30",
		"October 14, 2024": "2024-10-14", "le 6 septembre 2024": "2024-09-06", "31 December 2024": "FY2024", "31.12.2024": "FY2024", "32.13.2024": "FY2024", "1850": "", "Q5 2024": "FY2024", "may 5": "",
	} {
		got := ""
		for _, p := range periods(text) {
			got = strings.TrimSpace(got + " " + p.String())
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// What a heading says of its figures; a letter alone says nothing.
func TestUnitsOfHeadings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]measure{
		"Revenue (€m)": {unit: "EUR", scale: 1e6}, "in thousands of euros": {unit: "EUR", scale: 1e3}, "EUR k": {unit: "EUR", scale: 1e3}, "T€": {unit: "EUR", scale: 1e3}, "Angaben in T€": {unit: "EUR", scale: 1e3}, "Mio. EUR": {unit: "EUR", scale: 1e6},
		"en milliers d'euros": {unit: "EUR", scale: 1e3}, "USD thousand": {unit: "USD", scale: 1e3}, "€'000": {unit: "EUR", scale: 1e3}, "Share in %": {unit: "%"}, "Plan M": {}, "Mr T": {}, "Item": {},
	} {
		if got := measureOf(text); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

func rat_(s string) *big.Rat {
	r, _ := new(big.Rat).SetString(s)
	return r
}

// M5 to M8: the rules by which two figures have to do with each other.
func TestConflictRules(t *testing.T) {
	t.Parallel()
	base := FindingFacts{Metric: "revenue", Period: "Q3 2024", Unit: "EUR", Status: Actual, Document: "a.pdf", Value: rat_("5200000"), Step: rat_("100000")}
	other := func(change func(s *FindingFacts)) FindingFacts {
		s := base
		s.Document, s.Value = "b.pdf", rat_("5000000")
		change(&s)
		return s
	}
	for name, c := range map[string]struct {
		b        FindingFacts
		corrects bool
		want     Relation
	}{
		"two documents, nothing replaced":   {other(func(*FindingFacts) {}), false, Contradicts},                       // M8
		"another period":                    {other(func(s *FindingFacts) { s.Period = "Q3 2023" }), false, Unrelated}, // M5
		"another metric":                    {other(func(s *FindingFacts) { s.Metric = "ebitda" }), false, Unrelated},
		"a part of the company":             {other(func(s *FindingFacts) { s.Subject = "france" }), false, Unrelated},
		"another currency":                  {other(func(s *FindingFacts) { s.Unit = "USD" }), false, Unrelated},
		"a forecast":                        {other(func(s *FindingFacts) { s.Status = Forecast }), false, Unrelated},
		"audited against management":        {other(func(s *FindingFacts) { s.Status = Audited }), false, Contradicts},
		"the same document":                 {other(func(s *FindingFacts) { s.Document = "a.pdf" }), false, Unrelated},
		"a correction":                      {other(func(*FindingFacts) {}), true, Supersedes}, // M6, M7
		"a correction of the same value":    {other(func(s *FindingFacts) { s.Value = rat_("5200000") }), true, Supersedes},
		"a correction of another period":    {other(func(s *FindingFacts) { s.Period = "Q2 2024" }), true, Unrelated},
		"the same, more exactly":            {other(func(s *FindingFacts) { s.Value, s.Step = rat_("5187432"), rat_("1") }), false, Supports},
		"not the same after rounding":       {other(func(s *FindingFacts) { s.Value, s.Step = rat_("5149000"), rat_("1") }), false, Contradicts},
		"as exact, and different by little": {other(func(s *FindingFacts) { s.Value = rat_("5300000") }), false, Contradicts},
	} {
		if got := Relate(base, c.b, c.corrects); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if got := Relate(c.b, base, c.corrects); got != c.want {
			t.Errorf("%s, the other way round: %q, want %q", name, got, c.want)
		}
	}
}

// Whatever a figure is rounded to, it agrees with what it was rounded from, and not with
// what is a whole step away.
func TestRoundingIsNoContradiction(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		exact := rapid.Int64Range(-1_000_000_000, 1_000_000_000).Draw(t, "exact")
		step := []int64{10, 100, 1000, 100_000}[rapid.IntRange(0, 3).Draw(t, "step")]
		rounded := new(big.Rat).SetInt64((exact + step/2) / step * step)
		if exact < 0 {
			rounded.SetInt64((exact - step/2) / step * step)
		}
		s := new(big.Rat).SetInt64(step)
		if !Agree(new(big.Rat).SetInt64(exact), big.NewRat(1, 1), rounded, s) {
			t.Fatal(exact, step, rounded)
		}
		if off := new(big.Rat).Add(rounded, s); Agree(off, s, rounded, s) {
			t.Fatal(off, rounded)
		}
	})
}

// M21: a variance is exact, in the unit of what is compared.
func TestVariancesAreExact(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, to, unit, want string }{
		{"5000000", "5200000", "EUR", "+€200k (+4 %)"}, {"11610000", "13310000", "EUR", "+€1.7m (+14.6 %)"}, {"44", "42", "%", "-2 pp"}, {"36.8", "38.2", "%", "+1.4 pp"},
		{"171", "268", "", "+97 (+56.7 %)"}, {"0", "10", "", "+10"}, {"-100", "-50", "EUR", "+€50 (+50 %)"}, {"3", "3", "EUR", "+€0 (+0 %)"},
	} {
		if got := tongue(values.English).change(rat_(c.from), rat_(c.to), c.unit); got != c.want {
			t.Errorf("from %s to %s %s: %q, want %q", c.from, c.to, c.unit, got, c.want)
		}
	}
	for value, want := range map[string]string{"5200000": "€5.2m", "5187000": "€5.187m", "5187432": "€5,187,432", "300000": "€300k", "9999": "€9,999", "1900000000": "€1.9bn", "-62595000": "-€62.595m", "0.5": "€0.5"} {
		if got := tongue(values.English).show(rat_(value), "EUR"); got != want {
			t.Errorf("%s: %q, want %q", value, got, want)
		}
	}
}

// M2: what is recent weighs more, and what has no day as much as what is of today.
func TestRecency(t *testing.T) {
	t.Parallel()
	for days, want := range map[int64]float64{0: 1, -30: 1, 2 * 365: 0.5, 4 * 365: 0.25} {
		if got := Recency(days); got != want {
			t.Errorf("after %d days %g, want %g", days, got, want)
		}
	}
}

// M18 to M26: what is wanted, taken from how it is asked, and from what was asked before.
func TestQuestionsAreTakenApart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		before []string
		text   string
		want   string
	}{
		{nil, "What was Q3 revenue?", "fact_lookup revenue Q3"},
		{nil, "How many employees?", "fact_lookup headcount"},
		{nil, "What's the EBITDA margin for FY2023?", "fact_lookup ebitda margin FY2023"},
		{nil, "Walk me through the P&L", "deep_dive P&L"},
		{nil, "Any red flags?", "due_diligence"},
		{nil, "What concerns should I have?", "due_diligence"},
		{nil, "Compare forecast to actual", "comparison FORECAST ACTUAL"},
		{nil, "How does revenue in Q3 2024 compare to Q3 2023?", "comparison revenue Q3 2024 Q3 2023"},
		{nil, "Summarize the management team", "synthesis"},
		{nil, "What's missing?", "gap_identification"},
		{nil, "What don't we know?", "gap_identification"},
		{nil, "Tell me about the company", "exploration"},
		{nil, "Was fehlt noch?", "gap_identification"},
		{nil, "Wie hoch war der Umsatz 2024?", "fact_lookup revenue FY2024"},
		{nil, "Quel était le chiffre d'affaires 2023 ?", "fact_lookup revenue FY2023"},
		{[]string{"What's the Q3 revenue?"}, "And EBITDA?", "fact_lookup ebitda Q3 assumes period"},
		{[]string{"What's the EBITDA?"}, "And gross margin?", "fact_lookup gross margin assumes latest"},
		{[]string{"What was revenue in FY2024?"}, "And in FY2023?", "fact_lookup revenue FY2023 assumes metric"},
		{[]string{"What was revenue in Q3 2024?"}, "What about last year?", "fact_lookup revenue Q3 2023 assumes metric unclear"},
		{[]string{"What was revenue in FY2024?"}, "And in the year before?", "fact_lookup revenue FY2023 assumes metric"},
		{[]string{"What's the Q3 revenue?"}, "Tell me about the management team.", "synthesis"},
		{[]string{"What's the Q3 revenue?"}, "What was net debt in FY2023?", "fact_lookup net debt FY2023"},
		// in other words, and with slips of the pen
		{nil, "topline 3Q?", "fact_lookup revenue Q3"},
		{nil, "pls gimme the thrid quarter salse figure", "fact_lookup revenue Q3"},
		{nil, "Wie viele Aufträge gingen im Jänner 2025 ein?", "fact_lookup order intake 2025-01"},
		{nil, "heads YE24", "fact_lookup headcount FY2024"},
		{nil, "Q3-Umsatz?", "fact_lookup revenue Q3"},
		{nil, "Umsatzbudget 2025", "fact_lookup revenue FY2025 FORECAST"},
		{nil, "third-quarter sales in 2024 against the same quarter of 2023", "comparison revenue Q3 2024 Q3 2023"},
		{nil, "Did EBITDA go up in 2024 on the year before?", "comparison ebitda FY2024"},
		{nil, "capex25 breakdwon", "deep_dive capex FY2025"},
		{nil, "When do the bank loans fall due?", "fact_lookup"},
		{nil, "I have not read the income statement yet. Give me the tour.", "deep_dive P&L"},
		{nil, "Who runs the show?", "synthesis"},
		{nil, "Who is Marek Hartung?", "fact_lookup"},                  // and not whose brand or liability
		{nil, "siegen headcount 2024", "fact_lookup headcount FY2024"}, // and not how it rises
		{nil, "What does Acme sell?", "exploration"},                   // and not what smells
		{nil, "Any lawsuits?", "due_diligence"},
		{nil, "What is missing in IT?", "gap_identification"},
		{[]string{"Q3 2024 revenue?"}, "vs last year?", "fact_lookup revenue Q3 2023 assumes metric unclear"},
		{[]string{"Q3 2024 revenue?"}, "Thank you. And how did last year look?", "fact_lookup revenue Q3 2023 assumes metric unclear"},
		// in Spanish
		{nil, "¿Cuáles fueron los ingresos del tercer trimestre de 2024?", "fact_lookup revenue Q3 2024"},
		{nil, "¿Cuántos empleados tenía el grupo a finales de 2024?", "fact_lookup headcount FY2024"},
		{nil, "¿Cuál fue la entrada de pedidos en enero de 2025?", "fact_lookup order intake 2025-01"},
		{nil, "¿Cuál es el presupuesto de ingresos para 2025?", "fact_lookup revenue FY2025 FORECAST"},
		{nil, "Explícame la cuenta de resultados", "deep_dive P&L"},
		{nil, "¿Cómo evolucionó la deuda neta?", "deep_dive net debt"},
		{nil, "Compara la previsión con las cifras reales", "comparison FORECAST ACTUAL"},
		{nil, "¿Hay señales de alerta?", "due_diligence"},
		{nil, "Resumen del equipo directivo", "synthesis"},
		{nil, "¿Qué nos falta en impuestos?", "gap_identification"},
		{nil, "Háblame de la empresa", "exploration"},
		{[]string{"¿Cuáles fueron los ingresos del T3 2024?"}, "¿Y el EBITDA?", "fact_lookup ebitda Q3 2024 assumes period"},
		{[]string{"¿Cuáles fueron los ingresos del T3 2024?"}, "¿Y el año anterior?", "fact_lookup revenue Q3 2023 assumes metric unclear"},
		{nil, strings.Repeat("a-", 4000), "exploration"},
		{nil, strings.Repeat("very long ", 4000), "exploration"}, // what names nothing is answered with what there is
		{nil, "", "fact_lookup"},
	} {
		q := Read(c.text, "Acme", c.before)
		got := []string{string(q.Intent)}
		got = append(got, q.Metrics...)
		if q.Group != "" {
			got = append(got, q.Group)
		}
		for _, p := range q.Periods {
			if p.Year == 0 {
				got = append(got, string(p.Kind)+string(rune('0'+p.N)))
			} else {
				got = append(got, p.String())
			}
		}
		got = append(got, q.Statuses...)
		if q.Assumed != "" {
			got = append(got, "assumes "+q.Assumed)
		}
		if q.Unclear {
			got = append(got, "unclear")
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%.60q after %q: %q, want %q", c.text, c.before, s, c.want)
		}
	}
}

// M9, M14: whatever the room, an answer never holds a confidence, is never empty, has a
// source for each claim, and never just says that it does not know.
func TestAnswersKeepTheirPromises(t *testing.T) {
	t.Parallel()
	questions := []string{"What's the Q3 revenue?", "Walk me through the P&L", "Any red flags?", "Compare forecast to actual", "Summarize the management team", "What's missing?", "Tell me about the company", "Is there a dragon?", "Revenue FY2031", "And?"}
	read := map[string]Question{}
	for _, text := range questions {
		read[text] = Read(text, "Acme", nil)
	}
	rapid.Check(t, func(t *rapid.T) {
		room := &DealFacts{Deal: "Acme", Documents: rapid.IntRange(0, 9).Draw(t, "documents")}
		for range rapid.IntRange(0, 12).Draw(t, "facts") {
			room.Facts = append(room.Facts, Fact{FindingFacts: FindingFacts{Metric: rapid.SampledFrom([]string{"revenue", "ebitda", "gross margin", "headcount"}).Draw(t, "metric"), Period: rapid.SampledFrom([]string{"FY2023", "FY2024", "Q3 2024", "Q3 2023"}).Draw(t, "period"), Unit: "EUR",
				Status: rapid.SampledFrom([]string{Actual, Forecast, Draft, Audited}).Draw(t, "status"), Document: rapid.SampledFrom([]string{"a.pdf", "b.xlsx"}).Draw(t, "document"), Value: new(big.Rat).SetInt64(rapid.Int64Range(1, 1e9).Draw(t, "value")), Step: big.NewRat(1, 1)},
				Place: "p.1", Confidence: 61 + rapid.IntRange(0, 38).Draw(t, "confidence"), Superseded: rapid.Bool().Draw(t, "superseded")})
		}
		for i := 1; i < len(room.Facts); i += 2 {
			room.Clashes = append(room.Clashes, Clash{&room.Facts[i-1], &room.Facts[i]})
		}
		for _, text := range questions {
			lines := Answer(read[text], room)
			if len(lines) == 0 {
				t.Fatalf("%s: nothing is said", text)
			}
			for _, l := range lines {
				if (l.Role == Claim || l.Role == Against) && (l.Document == "" || !strings.Contains(l.Text, "(source: "+l.Document)) {
					t.Fatalf("%s: %q has no source", text, l.Text)
				}
				if low := strings.ToLower(l.Text); strings.Contains(low, "confidence") || strings.Contains(low, "don't know") {
					t.Fatalf("%s: %q", text, l.Text)
				}
				if f := l.Fact; f != nil && f.Superseded && l.Role == Claim {
					t.Fatalf("%s: %q was replaced, and is told as what is true", text, l.Text)
				}
			}
		}
	})
}

// M16: a table's figure has the place of its cell, its unit from the corner, its period from
// the column; what a sentence states has the page.
func TestFiguresOfATableAndASentence(t *testing.T) {
	t.Parallel()
	cell := func(row, column int, text string) documents.Piece {
		return documents.Piece{Kind: documents.InCell, Text: text, Cell: &documents.Cell{}, At: documents.Location{Page: 3, Table: 1, Row: row, Column: column}}
	}
	doc := documents.Document{Title: "Annual report 2024", Pieces: []documents.Piece{
		{Kind: documents.Text, Text: "Revenue rose by 12 % to €5.2m in the third quarter of 2024, after €4.6m a year earlier.", At: documents.Location{Page: 2, Line: 1}},
		cell(1, 1, "EUR thousand"), cell(1, 2, "2024"), cell(1, 3, "2023"), cell(1, 4, "Change"),
		cell(2, 1, "Revenue"), cell(2, 2, "20,100"), cell(2, 3, "18,000"), cell(2, 4, "11.7%"),
		cell(3, 1, "Cost of sales"), cell(3, 2, "(9,000)"), cell(3, 3, "(8,100)"), cell(3, 4, "11.1%"),
		cell(4, 1, "Headcount"), cell(4, 2, "240"), cell(4, 3, "228"), cell(4, 4, "5.3%"),
	}}
	_, all := Extract("Annual_Report_2024.pdf", &doc)
	var got []string
	for _, f := range all {
		got = append(got, strings.Join([]string{f.Place, f.Metric, f.Period.String(), shown(f.Value), f.Unit}, " "))
	}
	want := []string{
		"p.3 revenue FY2024 20100000 EUR", "p.3 revenue FY2023 18000000 EUR", "p.3 revenue change  11.7 %", // of no period that is said
		"p.3 cost of sales FY2024 -9000000 EUR", "p.3 cost of sales FY2023 -8100000 EUR", "p.3 cost of sales change  11.1 %",
		"p.3 headcount FY2024 240 ", "p.3 headcount FY2023 228 ", "p.3 headcount change  5.3 %", "p.2 revenue Q3 2024 5200000 EUR", "p.2 revenue Q3 2023 4600000 EUR",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A figure is of the day that its sentence counts it at: no number of a heading and no end of
// a term takes that away. What something was reduced by is not what it is.
func TestTheDayOfABalanceIsRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2 Ergebnis\nZum 31. Dezember 2024 beträgt der Barwert der Verpflichtung 7,6 Mio. €.":                                          "pension provisions FY2024 7600000",
		"Le prêt est remboursable jusqu'en avril 2026.\nLes engagements de retraite s'élèvent à 290 k€.":                               "pension provisions FY2025 290000",
		"Le loyer annuel est porté à 204 k€ et le bail expire désormais le 31 décembre 2030.":                                          "rent FY2025 204000",
		"The loan is repaid until 31 December 2027. Revenue was €5.2m.":                                                                "revenue FY2025 5200000",
		"Von 2022 bis 2024 stieg der Umsatz auf 5,2 Mio. €.":                                                                           "revenue FY2024 5200000",
		"The energy price brake reduced cost of goods sold by €220 thousand. Fluctuation was 8 %, employee turnover in Marseille 9 %.": "staff turnover FY2025 9",
	} {
		doc := documents.Document{Title: "Report 2025"}
		for i, line := range strings.Split(text, "\n") {
			doc.Pieces = append(doc.Pieces, documents.Piece{Kind: documents.Text, Text: line, At: documents.Location{Page: 1, Line: i + 1}})
		}
		got := ""
		_, all := Extract("x.pdf", &doc)
		for _, f := range all {
			got = strings.TrimSpace(got + " " + f.Metric + " " + f.Period.String() + " " + shown(f.Value))
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A name that begins as a month does is none, and a plural of another language is no plural:
// Renten are pensions, and no rents.
func TestNamesThatAreLikeOthers(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{"Marseille": 0, "Augsburg": 0, "Octavia": 0, "Mayen": 0, "Sept.": 9, "juillet": 7, "Mai": 5, "Dez": 12} {
		if got := month(name); got != want {
			t.Errorf("%s is the month %d", name, got)
		}
	}
	for name, want := range map[string]string{"renten": "", "rents": "rent", "dividenden": "dividend", "mieten": "rent"} {
		got := ""
		if m := known(name); m != nil {
			got = m.name
		}
		if got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	if q := Read("What was revenue in Marseille in 2024?", "Acme", nil); q.Part != "marseille" {
		t.Errorf("the part is %q", q.Part)
	}
}

// A month is read whatever the language of the question. Mars, a customer too, is one in French only.
func TestMonthsOfAnyLanguage(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"What is the revenue with Mars 2024?": "FY2024", "Revenue Mars 2024": "FY2024", "Revenue March 2024": "2024-03", "Umsatz Mai 2024": "2024-05",
		"EBITDA mars 2024": "2024-03", "Quel était le chiffre d'affaires en mars 2024 ?": "2024-03", "Wie hoch war der Umsatz im März 2024?": "2024-03",
		"¿Cuáles fueron los ingresos de marzo 2024?": "2024-03", "What was revenue in Dez 2024?": "2024-12", "Umsatz Dez 2024": "2024-12",
		"What was revenue in août 2024?": "2024-08", "Chiffre d'affaires März 2024": "2024-03", "Umsatz mit Mars 2024": "FY2024",
	} {
		got := ""
		for _, p := range Read(text, "Acme", nil).Periods {
			got += p.String()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// No document makes the reader panic, hang, or state what is of no period.
func FuzzExtract(f *testing.F) {
	f.Add("Revenue was €5.2m in Q3 2024.", "Q3.pdf")
	f.Add("Der Umsatz lag 2024 bei 1.234.567,89 T€ (Vorjahr: 99)", "x_v2 (1).xlsx")
	f.Add("ersetzt die Fassung vom 15.01.2025 (2023: 38.5%) -–−", "")
	f.Fuzz(func(t *testing.T, text, name string) {
		doc := documents.Document{Title: name}
		for i, line := range strings.Split(text, "\n") {
			p := documents.Piece{Kind: documents.Text, Text: line, At: documents.Location{Page: 1, Line: i + 1}}
			if cells := strings.Split(line, "|"); len(cells) > 1 {
				for k, c := range cells {
					doc.Pieces = append(doc.Pieces, documents.Piece{Kind: documents.InCell, Text: c, Cell: &documents.Cell{}, At: documents.Location{Page: 1, Table: 1, Row: i + 1, Column: k + 1}})
				}
				continue
			}
			doc.Pieces = append(doc.Pieces, p)
		}
		_, all := Extract(name, &doc)
		for _, x := range all {
			if x.Period.String() == "" || x.Confidence < 0 || x.Confidence > 100 || x.Metric == "" {
				t.Fatalf("%+v", x)
			}
		}
		Read(text, name, []string{name})
	})
}

func BenchmarkExtract(b *testing.B) {
	var doc documents.Document
	for i := range 200 {
		doc.Pieces = append(doc.Pieces, documents.Piece{Kind: documents.Text, Text: "Consolidated revenue was €101.3m, after €94.1m in 2023. EBITDA rose to €13.3m and net income to €5.7m.", At: documents.Location{Page: i/20 + 1, Line: i%20 + 1}})
	}
	b.ReportAllocs()
	for b.Loop() {
		Extract("Annual_Report_2024.pdf", &doc)
	}
}
