package manda

import (
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// An answer has the form of what it says: one figure is one line with what makes it less
// than certain (M3), a development is a list with one line before it (M4, M13, M17), several
// topics have headings (M13), and an answer ends with an offer where something is missing
// and does nothing about it (M15).
func TestAnAnswerHasTheFormOfWhatItSays(t *testing.T) {
	t.Parallel()
	fact := func(metric, unit, period, document, status string, value int64, confidence int) Fact {
		return Fact{FindingFacts: FindingFacts{Metric: metric, Unit: unit, Period: period, Document: document, Status: status, Value: new(big.Rat).SetInt64(value), Step: big.NewRat(1, 1)}, Place: "p.1", Domain: "financial", Confidence: confidence}
	}
	acme := func() *DealFacts {
		room := &DealFacts{Deal: "Acme", Documents: 6,
			Facts: []Fact{
				fact("revenue", "EUR", "FY2023", "2023.pdf", Actual, 90e6, 95),
				fact("revenue", "EUR", "FY2024", "2024.pdf", Actual, 100e6, 95),
				fact("revenue", "EUR", "FY2024", "draft.pdf", Draft, 99e6, 95),
				fact("revenue", "EUR", "FY2024", "2024-old.pdf", Actual, 120e6, 95),
				fact("ebitda", "EUR", "FY2024", "2024.pdf", Actual, 20e6, certain-1),
				fact("headcount", "", "FY2024", "slides.pptx", Actual, 634, 95),
				fact("headcount", "", "FY2024", "staff.xlsx", Actual, 641, 95),
			},
			Requests: []Request{
				{Domain: "tax", Text: "Transfer pricing documentation", Priority: "HIGH"},
				{Domain: "legal", Text: "Articles", Priority: "LOW", Covered: true, Document: "articles.pdf"},
			},
		}
		room.Replaces = map[string]string{"contracts.docx": "contracts-old.docx"}
		room.Passages = []Passage{
			{Document: "contracts.docx", Place: "p.2", Heading: "Leases", Text: "Siegen, head office | 612"},
			{Document: "notes.pdf", Place: "p.7", Text: "The facilities agreement is of 2019. The facilities agreement runs until 14 March 2027."},
		}
		room.Facts[3].Superseded, room.Facts[3].By = true, "2024.pdf"
		room.Clashes = []Clash{{&room.Facts[5], &room.Facts[6]}}
		return room
	}
	room := acme()
	for _, c := range []struct {
		question string
		want     []string
	}{
		{"What's the revenue?", []string{
			"claim: FY2024 revenue was €100m (source: 2024.pdf, p.1)",
			"against: Note: an earlier version stated €120m; this was later corrected in 2024.pdf (source: 2024-old.pdf, p.1)",
		}},
		{"What's the EBITDA?", []string{
			"claim: FY2024 EBITDA was €20m (source: 2024.pdf, p.1)",
			"said: Note: the document does not state all of this in one place; what is not beside the figure was taken from the text around it.",
		}},
		{"How did revenue develop?", []string{
			"said: Revenue over time:",
			"claim: - FY2024: €100m, +€10m (+11.1 %) on the year before (source: 2024.pdf, p.1)",
			"claim: - FY2023: €90m (source: 2023.pdf, p.1)",
		}},
		{"Walk me through the P&L", []string{
			"said: Here's the P&L breakdown for FY2024:",
			"claim: - **Revenue:** €100m, +€10m (+11.1 %) against FY2023 (source: 2024.pdf, p.1)",
			"claim: - **EBITDA:** €20m (source: 2024.pdf, p.1)",
		}},
		{"Any red flags?", []string{
			"said: **Contradictions:**",
			"claim: - Headcount, FY2024: 634 (source: slides.pptx, p.1)",
			"claim:   but 641 (source: staff.xlsx, p.1)",
			"said: **Gaps** (I looked in 6 documents and found no passage that covers them):",
			"missing: - Transfer pricing documentation (tax, HIGH priority)",
			"next: To put a question to the company on the Q&A list, write “Q&A:” and the question.",
		}},
		{"Are there concerns about dragons?", []string{
			"said: I looked for a risk of “dragons” in 6 documents and found no passage.",
			"said: What stands out in all of them:",
			"said: **Contradictions:**",
			"claim: - Headcount, FY2024: 634 (source: slides.pptx, p.1)",
			"claim:   but 641 (source: staff.xlsx, p.1)",
			"said: **Gaps** (I looked in 6 documents and found no passage that covers them):",
			"missing: - Transfer pricing documentation (tax, HIGH priority)",
			"next: To put a question to the company on the Q&A list, write “Q&A:” and the question.",
		}},
		{"How does revenue compare to the year before?", []string{
			"said: FY2024 against FY2023, side by side:",
			"claim: - **Revenue, FY2023:** FY2023 €90m (source: 2023.pdf, p.1)",
			"claim:   FY2024 €100m, variance +€10m (+11.1 %) (source: 2024.pdf, p.1)",
		}},
		{"Summarise the leases", []string{
			"said: Here's what the documents say about leases:",
			"said: **Leases**",
			"claim: - “Siegen, head office | 612” (source: contracts.docx, p.2)",
			"said: Note: contracts.docx replaced an earlier version, contracts-old.docx.",
		}},
		{"When does the facilities agreement end?", []string{
			"claim: “The facilities agreement runs until 14 March 2027.” (source: notes.pdf, p.7)",
		}},
		{"How much do they spend on marketing?", []string{
			"said: I looked for “spend marketing” in 6 documents and found no passage.",
			"next: To put a question to the company on the Q&A list, write “Q&A:” and the question.",
		}},
		{"Who is the biggest?", []string{"next: What would you like to explore? The P&L, the management team, red flags, or what is missing?"}},
		{"???", []string{"next: What would you like to explore? The P&L, the management team, red flags, or what is missing?"}},
		{"What's missing?", []string{
			"said: I compared the information request list of Acme with the words of 6 documents (✓ I found a passage, ✗ I found none):",
			"said: **Tax (0/1 items covered)**",
			"missing: - ✗ Transfer pricing documentation (HIGH priority)",
			"said: **Legal (1/1 items covered)**",
			"covered: - ✓ Articles (source: articles.pdf)",
			"next: To put a question to the company on the Q&A list, write “Q&A:” and the question.",
		}},
	} {
		var got []string
		for _, l := range Answer(Read(c.question, "Acme", nil), room) {
			got = append(got, string(l.Role)+": "+l.Text)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s\n%q\nwant\n%q", c.question, got, c.want)
		}
	}
	if !reflect.DeepEqual(room, acme()) {
		t.Error("an answer changed what is known of the deal")
	}
}

// M23: who asks for minutes is not served by a sentence that mentions them.
func TestAPaperIsNotThereBecauseItIsMentioned(t *testing.T) {
	t.Parallel()
	mentioned := Passage{Document: "report.pdf", Text: "The auditor has issued a management letter."}
	here := Passage{Document: "letter.pdf", Heading: "Management letter of the auditor", Text: "We recommend four things."}
	for _, c := range []struct {
		of   []Passage
		want *Passage
	}{{[]Passage{mentioned}, nil}, {[]Passage{mentioned, here}, &here}} {
		if by := Covering([]string{"Management letters of the auditor"}, c.of)[0]; (by == nil) != (c.want == nil) || by != nil && by.Document != c.want.Document {
			t.Errorf("%v covers it", by)
		}
	}
}

// M18: who or what has most of something is told by the row of a table that lists such things,
// else by a sentence that says so. How many there are is no answer to it; where nothing says it,
// that is told. Rows that add up others are none.
func TestWhatHasMostIsTold(t *testing.T) {
	t.Parallel()
	customers := Passage{Document: "customers.xlsx", Place: "Top!A1", Heading: "Customers 2024", Text: "Net sales by customer, EUR k\nCustomer | Country | Net sales | Share\nNordwerk AB | Sweden | 1,800 | 17.8\nHeidelbach GmbH | Germany | 970 | 9.6\nTwo largest | | 2,770 | 27.4\nTatra a.s. | Slovakia | 970 | 9.6"}
	staff := Passage{Document: "staff.xlsx", Place: "Sites!A1", Text: "Headcount\nSite | Blue collar | Total\nBrno | 71 | 96\nSiegen | 61 | 268\nRoanne | 58 | 84\nGroup | 190 | 448"}
	owners := Passage{Document: "owners.xlsx", Place: "A1", Text: "Shareholder | Shares\nAlpha Fund | 70\nBeta Fund | 30"}
	land := Passage{Document: "laender.csv", Text: "Land | Umsatz (T€) | Anteil\nDeutschland | 41.730 | 41,2 %\nSchweden | 18.640 | 18,4 %"}
	pays := Passage{Document: "ventes.csv", Text: "Pays | Chiffre d'affaires (k€)\nSuède | 18 640\nAllemagne | 41 730"}
	sentence := Passage{Document: "memo.pdf", Place: "p.4", Text: "There are many suppliers. The largest supplier is Moravia Castings."}
	for _, c := range []struct {
		asked    string
		passages []Passage
		want     string
	}{
		{"Who is the biggest customer?", []Passage{staff, customers}, "Customer: Nordwerk AB | Country: Sweden"},
		{"Quel est le plus gros client ?", []Passage{staff, customers}, "Customer: Nordwerk AB | Country: Sweden"},
		{"Which site has the most employees?", []Passage{customers, staff}, "Site: Siegen | Blue collar: 61 | Total: 268"},
		{"Welcher Standort hat die wenigsten Mitarbeiter?", []Passage{customers, staff}, "Site: Roanne | Blue collar: 58 | Total: 84"},
		{"Who owns the company?", []Passage{customers, owners}, "Shareholder: Alpha Fund | Shares: 70 Shareholder: Beta Fund | Shares: 30"},
		{"Who owns the company?", []Passage{{Document: "a.xlsx", Place: "A1", Text: "Company | Revenue\nAlpha | 7\nBeta | 3"}}, "I looked for Who owns the company? in 6 documents and found no passage."},
		{"Which country has the highest revenue?", []Passage{customers, land}, "Land: Deutschland | Umsatz (T€): 41.730 | Anteil: 41,2 %"},
		{"Which country has the highest revenue?", []Passage{customers, pays}, "Pays: Allemagne | Chiffre d'affaires (k€): 41 730"},
		{"Quel pays a le chiffre d'affaires le plus élevé ?", []Passage{land}, "Land: Deutschland |"},
		{"Welches Land hat den höchsten Umsatz?", []Passage{pays}, "Pays: Allemagne |"},
		{"Who are our largest customers?", []Passage{staff, customers}, "Net sales: 970 | Share: 9.6"},
		{"Wer sind die größten Kunden?", []Passage{staff, customers}, "Customer: Tatra a.s."},
		{"Who are the top 3 customers?", []Passage{staff, customers}, "Customer: Heidelbach GmbH"},
		{"revenue by country", []Passage{customers, land}, "Land: Deutschland | Umsatz (T€): 41.730 | Anteil: 41,2 % Land: Schweden |"},
		{"Ingresos por país", []Passage{customers, land}, "Land: Deutschland | Umsatz (T€): 41.730 | Anteil: 41,2 % Land: Schweden |"},
		{"Empleados por sede", []Passage{customers, staff}, "Site: Brno | Blue collar: 71 | Total: 96 Site: Siegen |"},
		{"headcount by site", []Passage{customers, staff}, "Site: Brno | Blue collar: 71 | Total: 96 Site: Siegen |"},
		{"Who is the biggest supplier?", []Passage{customers, sentence}, "The largest supplier is Moravia Castings."},
		{"Who is the biggest supplier?", []Passage{customers}, "I looked for Who is the biggest supplier? in 6 documents and found no passage."},
		{"Who is the biggest customer?", nil, "I looked for Who is the biggest customer? in 6 documents and found no passage."},
	} {
		room := deal()
		room.Facts = append(room.Facts, Fact{FindingFacts: FindingFacts{Metric: "customers", Period: "FY2024", Document: "memo.pdf", Status: Actual, Value: rat_("1140"), Step: rat_("1")}, Confidence: 95})
		room.Passages = c.passages
		got := ""
		for _, l := range Answer(Read(c.asked, room.Deal, nil), room) {
			got += l.Text + " "
		}
		if plain := strings.NewReplacer("“", "", "”", "", "« ", "", " »", "", "„", "", " (source: owners.xlsx, A1)", "", " (source: laender.csv)", "", " (source: staff.xlsx, Sites!A1)", "").Replace(got); !strings.Contains(plain, c.want) || strings.Contains(got, "1,140") || strings.Contains(got, "448") && !strings.Contains(c.asked, " by ") && !strings.Contains(c.asked, " por ") {
			t.Errorf("%s\n%s\nwant %s", c.asked, got, c.want)
		}
	}
}

// A forecast that was asked for does not mean that there is no actual figure, an earlier version
// that rounds differently was not corrected, and growth in a year is from the year before.
func TestNotesOfAFigureAreTrue(t *testing.T) {
	t.Parallel()
	fact := func(period, document, status, value, step string) Fact {
		return Fact{FindingFacts: FindingFacts{Metric: "revenue", Unit: "EUR", Period: period, Document: document, Status: status, Value: rat_(value), Step: rat_(step)}, Confidence: 95}
	}
	old := fact("FY2024", "old.pdf", Actual, "101300000", "100000")
	old.Superseded = true
	room := &DealFacts{Deal: "Acme", Documents: 4, Facts: []Fact{
		fact("FY2023", "2024.pdf", Actual, "90000000", "1000"), fact("FY2024", "2024.pdf", Actual, "101287000", "1000"), fact("FY2024", "budget.pdf", Forecast, "100000000", "1000000"), old,
		fact("FY2025", "budget.pdf", Forecast, "108000000", "1000000"),
	}}
	growth := "FY2024 against FY2023, side by side:\n- **Revenue, FY2023:** FY2023 €90m (source: 2024.pdf)\n  FY2024 €101.287m, variance +€11.287m (+12.5 %) (source: 2024.pdf)"
	for asked, want := range map[string]string{
		"How much did revenue grow in 2024?":                         growth,
		"Wie stark ist der Umsatz 2024 gewachsen?":                   growth,
		"De combien le chiffre d'affaires a-t-il augmenté en 2024 ?": growth,
		"¿Cuánto crecieron los ingresos en 2024?":                    growth,
		"revenue forecast 2024":                                      "FY2024 revenue is forecast at €100m (source: budget.pdf)",
		"revenue forecast 2025":                                      "FY2025 revenue is forecast at €108m (source: budget.pdf)\nNote: this is a forecast; I looked for an actual figure for FY2025 in 4 documents and found none.",
		"revenue growth 2024":                                        growth,
		"Revenue 2024?":                                              "FY2024 revenue was €101.287m (source: 2024.pdf)\nNote: the forecast was €100m; the figure above is the actual one (source: budget.pdf)",
	} {
		var got []string
		for _, l := range Answer(Read(asked, room.Deal, nil), room) {
			got = append(got, l.Text)
		}
		if got := strings.Join(got, "\n"); got != want {
			t.Errorf("%s\n%s\nwant\n%s", asked, got, want)
		}
	}
}

// Interest cover is no interest expense, and what risks are the main ones asks for the risks.
func TestALongerNameIsAnotherThing(t *testing.T) {
	t.Parallel()
	for asked, want := range map[string]string{"What is the interest cover?": "", "What is the interest?": "interest expense", "Wie hoch ist der Zinsdeckungsgrad?": "", "Combien d'employés à Roanne ?": "headcount"} {
		if got := strings.Join(Read(asked, "Acme", nil).Metrics, " "); got != want {
			t.Errorf("%s: %q", asked, got)
		}
	}
	if q := Read("¿Cuáles son los riesgos principales?", "Acme", nil); q.Intent != DueDiligence || len(q.Aims) > 0 {
		t.Errorf("%s of %v", q.Intent, q.Aims)
	}
}

// A country is the same in any language, what is asked per employee is asked of the figure and of
// the headcount, and a domain is called by an adjective in its feminine too.
func TestNamesInOtherLanguagesMeanTheSame(t *testing.T) {
	t.Parallel()
	l := &loader{}
	for _, part := range []string{"deutschland", "schweden", "vereinigte staaten"} {
		l.room.Facts = append(l.room.Facts, Fact{FindingFacts: FindingFacts{Metric: "revenue", Subject: part}})
	}
	for said, want := range map[string]string{"germany": "deutschland", "allemagne": "deutschland", "alemania": "deutschland", "sweden": "schweden", "united states": "vereinigte staaten", "japan": "", "germany sweden": ""} {
		if got := l.called([]string{"revenue"}, strings.Fields(said)); got != want {
			t.Errorf("%s is %q, want %q", said, got, want)
		}
	}
	for _, asked := range []string{"Average revenue per employee 2024", "Umsatz je Mitarbeiter 2024", "Chiffre d'affaires par salarié 2024", "Ingresos por empleado 2024"} {
		if q := Read(asked, "Acme", nil); q.Intent != FactLookup || !slices.Equal(q.Metrics, []string{"revenue", "headcount"}) {
			t.Errorf("%s: %s of %v", asked, q.Intent, q.Metrics)
		}
	}
	for _, l := range Answer(Read("Que manque-t-il en matière fiscale ?", "Acme", nil), deal()) {
		if strings.Contains(l.Text, "Legal") {
			t.Error(l.Text)
		}
	}
}

// A period that was asked for is told or said not to be there, also one that cannot be, and of three
// periods each is told.
func TestEachPeriodThatWasAskedForIsTold(t *testing.T) {
	t.Parallel()
	fact := func(period, value string) Fact {
		return Fact{FindingFacts: FindingFacts{Metric: "revenue", Unit: "EUR", Period: period, Document: "a.pdf", Status: Actual, Value: rat_(value), Step: rat_("1")}, Confidence: 95}
	}
	room := &DealFacts{Deal: "Acme", Documents: 1, Facts: []Fact{fact("FY2022", "80000000"), fact("FY2023", "90000000"), fact("FY2024", "99000000"), fact("Q4 2024", "25000000")}}
	const no = "I looked for revenue for %s in"
	years := "Revenue over time:\n- FY2024: €99m, +€9m (+10 %) on the year before (source: a.pdf)\n- FY2023: €90m, +€10m (+12.5 %) on the year before (source: a.pdf)\n- FY2022: €80m (source: a.pdf)"
	for asked, want := range map[string]string{
		"What was revenue in 1823?":           strings.Replace(no, "%s", "FY1823", 1),
		"Revenue in 1999?":                    strings.Replace(no, "%s", "FY1999", 1),
		"Revenue in 2150?":                    strings.Replace(no, "%s", "FY2150", 1),
		"What is the revenue in Q5 2024?":     strings.Replace(no, "%s", "Q5 2024", 1),
		"Umsatz 5. Quartal 2024":              strings.Replace(no, "%s", "Q5 2024", 1),
		"Revenue 2022, 2023 and 2024":         years,
		"Revenue 2022, 2023, 2024 and 2019":   years + "\n" + strings.Replace(no, "%s", "FY2019", 1),
		"Revenue in 2024, in units of €1900m": "FY2024 revenue was €99m",
	} {
		var got []string
		for _, l := range Answer(Read(asked, room.Deal, nil), room) {
			got = append(got, l.Text)
		}
		if got := strings.Join(got, "\n"); !strings.HasPrefix(got, want) {
			t.Errorf("%s\n%s\nwant\n%s", asked, got, want)
		}
	}
}

// M18: who asks for a date is told a sentence that has one, and not what else is said of the matter.
func TestADateIsAnsweredWithASentenceThatHasOne(t *testing.T) {
	t.Parallel()
	room := &DealFacts{Deal: "Acme", Documents: 1, Passages: []Passage{
		{Document: "lease.docx", Text: "The lease of the Siegen site has a long term and a short termination notice."},
		{Document: "lease.docx", Text: "The lease of the Siegen site ends on 31 December 2031."},
	}}
	lines := Answer(Read("When does the lease of the Siegen site end?", room.Deal, nil), room)
	if !strings.Contains(lines[0].Text, "31 December 2031") || len(lines) != 1 {
		t.Errorf("%+v", lines)
	}
}
