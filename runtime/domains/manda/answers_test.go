package manda

import (
	"flag"
	"math/big"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/conversation/values"
)

var update = flag.Bool("update", false, "write what is answered into testdata/answers.txt; then read the difference")

// deal is a room that has something for each kind of answer, and each doubt.
func deal() *DealFacts {
	fact := func(metric, part, unit, period, document, status, value string) Fact {
		return Fact{FindingFacts: FindingFacts{Metric: metric, Subject: part, Unit: unit, Period: period, Document: document, Status: status, Value: rat_(value), Step: big.NewRat(1, 1)}, Place: "p.1", Domain: "financial", Confidence: 95}
	}
	room := &DealFacts{Deal: "Acme", Documents: 6, Newest: time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC), Replaces: map[string]string{"contracts.docx": "contracts-old.docx"}}
	room.Facts = []Fact{
		fact("headcount", "", "", "FY2024", "slides.pptx", Actual, "1634"),
		fact("headcount", "", "", "FY2024", "staff.xlsx", Audited, "1641"),
		fact("revenue", "", "EUR", "FY2024", "old.pdf", Actual, "120000000"),
		fact("revenue", "", "EUR", "FY2023", "2023.pdf", Actual, "90000000"),
		fact("revenue", "", "EUR", "FY2024", "2024.pdf", Actual, "100450000"),
		fact("revenue", "", "EUR", "FY2024", "forecast.xlsx", Forecast, "95000000"),
		fact("revenue", "", "EUR", "Q3 2024", "2024.pdf", Actual, "26000000"),
		fact("revenue", "roanne", "EUR", "FY2024", "2024.pdf", Actual, "987654"),
		fact("gross margin", "", "%", "FY2023", "2023.pdf", Actual, "30.5"),
		fact("gross margin", "", "%", "FY2024", "draft.pdf", Draft, "38.2"),
		fact("ebitda", "", "EUR", "FY2024", "2024.pdf", Actual, "-20000000"),
		fact("ebitda", "", "EUR", "Q3 2024", "2024.pdf", Actual, "3720000"),
		fact("inventories", "", "EUR", "FY2024", "2024.pdf", Actual, "12345678"),
		fact("order intake", "", "EUR", "FY2025", "forecast.xlsx", Forecast, "1900000000"),
		fact("energy costs", "", "EUR", "FY2025", "forecast.xlsx", Forecast, "310000"),
		fact("net debt", "", "CHF", "FY2021", "2021.pdf", Actual, "4000000"),
		fact("rent", "", "EUR", "FY2021", "lease.pdf", Actual, "612"),
		fact("capex", "", "EUR", "Q1 2024", "2024.pdf", Actual, "1500000"),
		fact("patents", "", "", "2024-09", "ip.pdf", Actual, "41"),
		fact("open tickets", "", "", "2024-09-30", "it.pdf", Actual, "7"),
		fact("tooling subsidies", "", "EUR", "FY2024", "2024.pdf", Actual, "750000"),
		fact("remediation costs", "", "EUR", "FY2024", "soil.pdf", Actual, "1600000"),
		fact("suppliers", "", "", "FY2024", "staff.xlsx", Actual, "310"),
	}
	room.Facts[22].Corrected, room.Facts[22].Text = true, "301"
	room.Facts[2].Superseded, room.Facts[2].By = true, "2024.pdf"
	room.Facts[10].Confidence = certain - 1
	room.Facts[15].Dated = time.Date(2022, 3, 1, 0, 0, 0, 0, time.UTC)
	room.Clashes = []Clash{{&room.Facts[0], &room.Facts[1]}}
	room.Requests = []Request{
		{Domain: "tax", Text: "Transfer pricing documentation", Priority: "high"},
		{Domain: "tax", Text: "Results of customer satisfaction surveys", Priority: "low"},
		{Domain: "legal", Text: "Articles", Priority: "medium", Covered: true, Document: "articles.pdf", Place: "p.4"},
	}
	room.Passages = []Passage{
		{Document: "contracts.docx", Place: "p.2", Heading: "Leases", Text: "Siegen, head office | 612"},
		{Document: "notes.pdf", Place: "p.7", Text: "Der Kreditvertrag (facilities agreement) läuft bis 14. März 2027."},
	}
	return room
}

// A contradiction is told once, whichever side comes first. (G77)
func TestAContradictionIsToldOnce(t *testing.T) {
	t.Parallel()
	room := deal()
	a := &answer{room: room}
	one := len(a.differing())
	room.Clashes = append(room.Clashes, Clash{room.Clashes[0].B, room.Clashes[0].A})
	if again := len(a.differing()); one != 1 || again != 1 {
		t.Errorf("%d and %d contradictions of one pair", one, again)
	}
}

// M9, M13, M18 to M26: each kind of answer, and each doubt, in the four languages: what is
// around the figures, the names of metrics and periods, and numbers. Quotes, names of files
// and places are the same in all. testdata/answers.txt is written by -update.
func TestAnswersInFourLanguages(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("testdata/answers.txt")
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(file), "\n?")
	var b strings.Builder
	b.WriteString(strings.TrimSpace(head) + "\n")
	for line := range strings.Lines(string(file)) {
		asked, ok := strings.CutPrefix(strings.TrimSpace(line), "? ")
		if !ok {
			continue
		}
		b.WriteString("\n? " + asked + "\n")
		turns := strings.Split(asked, " / ")
		for _, l := range values.Languages() {
			room := deal()
			q := Read(turns[len(turns)-1], room.Deal, turns[:len(turns)-1])
			q.Language = l
			for i, said := range Answer(q, room) {
				name := l.String()
				if i > 0 {
					name = "  "
				}
				b.WriteString(name + " " + strings.TrimRight(said.Text, " ") + "\n")
			}
		}
	}
	if *update {
		if err := os.WriteFile("testdata/answers.txt", []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, want := strings.Split(b.String(), "\n"), strings.Split(string(file), "\n")
	for i := range got {
		if !*update && (i >= len(want) || got[i] != want[i]) {
			t.Fatalf("line %d differs, and perhaps others; run with -update, and read it:\n%s\nwant\n%s", i+1, got[i], want[min(i, len(want)-1)])
		}
	}
}

var placeNames = regexp.MustCompile(`\{([^}]*)\}`)

// placesOf are what belongs into a sentence, whatever its forms.
func placesOf(forms []string) (all []string) {
	for _, m := range placeNames.FindAllStringSubmatch(strings.Join(forms, " "), -1) {
		name, _, _ := strings.Cut(strings.ToLower(m[1]), ".") // as a label or in a sentence
		switch name {
		case "count", "nth", "mm", "iso", "date", "month", "n": // each form says what its language says
			continue
		}
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// M13: the catalogues have the same sentences with the same places, each is said somewhere,
// each metric, group and domain has a name, and no sentence was left in English.
func TestCataloguesAreWhole(t *testing.T) {
	t.Parallel()
	var sources strings.Builder
	for _, name := range strings.Fields("answer breakdown catalogue choose found look manda overview propose quotes") {
		text, err := os.ReadFile(name + ".go")
		if err != nil {
			t.Fatal(err)
		}
		sources.Write(text)
	}
	english := catalogues()[values.English]
	for name, m := range lexicon() {
		if len(m.called) != len(values.Languages()) || slices.Contains(m.called, "") {
			t.Errorf("the metric %s has no name for an answer in each language: %q", name, m.called)
		}
	}
	for _, p := range phrasings() {
		if p.kind == "group" && p.name != "risk" && english["group "+p.name] == nil {
			t.Errorf("the group %s has no name for an answer", p.name)
		}
	}
	for _, l := range values.Languages() {
		text, err := answersFiles.ReadFile("answers/" + l.String() + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for line := range strings.Lines(string(text)) {
			key, _, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
			if key == "" || key[0] == '#' {
				continue
			}
			if !ok || seen[key] || english[key] == nil {
				t.Errorf("%s: %q", l, line)
			}
			seen[key] = true
			kind, _, named := strings.Cut(key, " ")
			if said := `"` + kind; !strings.Contains(sources.String(), said+`"`) && !strings.Contains(sources.String(), said+` `) && !strings.Contains(sources.String(), strings.TrimSuffix(said, "-forecast")+`"`) {
				t.Errorf("%s: nobody says %s", l, key)
			}
			forms := catalogues()[l][key]
			if got, want := placesOf(forms), placesOf(english[key]); !slices.Equal(got, want) {
				t.Errorf("%s: %s has places for %s, and in English for %s", l, key, got, want)
			}
			for _, form := range forms {
				if strings.Contains(form, "!") || strings.Count(form, "{") != len(placeNames.FindAllString(form, -1)) {
					t.Errorf("%s: %s: %q", l, key, form)
				}
				if said := placeNames.ReplaceAllString(form, ""); l != values.English && !named && len(plainly(said)) > 3 && plainly(said) == plainly(placeNames.ReplaceAllString(english[key][0], "")) && !(l == values.French && slices.Contains(strings.Fields("source source-place overview-documents contradictions"), key)) { // which say it with the same word
					t.Errorf("%s: %s is in English: %q", l, key, form)
				}
			}
		}
		for key := range english {
			if !seen[key] && !strings.HasPrefix(key, "metric ") {
				t.Errorf("%s: %s is missing", l, key)
			}
		}
	}
}

// No sentence of the English catalogue stands in an answer of another language: of each of
// its sentences, no run of words between two places does.
func TestNoEnglishInOtherLanguages(t *testing.T) {
	t.Parallel()
	var runs []string
	for key, forms := range catalogues()[values.English] {
		for _, run := range placeNames.Split(strings.Join(forms, "{}"), -1) {
			if run = strings.Trim(run, " -*:,;.()“”\"✓✗"); key != "month" && !strings.Contains(key, " ") && (strings.Contains(run, " ") || len(run) > 6) && run != "source" {
				runs = append(runs, run)
			}
		}
	}
	file, err := os.ReadFile("testdata/answers.txt")
	if err != nil {
		t.Fatal(err)
	}
	language, lines := "", 0
	for line := range strings.Lines(string(file)) {
		if name := firstRunes(line, 2); strings.TrimSpace(name) != "" {
			language = name
		}
		if language != "de" && language != "fr" && language != "es" {
			continue
		}
		lines++
		for _, run := range runs {
			if strings.Contains(line, run) && !(language == "fr" && (run == "Documents" || strings.HasPrefix(run, "Contradictions"))) {
				t.Errorf("%q is English: %s", run, line)
			}
		}
	}
	if lines < 300 {
		t.Errorf("only %d lines", lines)
	}
}

// M18, X13: an answer is in the language of the question. Where that does not tell, it is in
// that of the conversation, and else in the person's own.
func TestAQuestionTellsTheLanguageOfItsAnswer(t *testing.T) {
	t.Parallel()
	german := []string{"Wie hoch war der Umsatz 2023?"}
	for _, c := range []struct {
		text   string
		before []string
		person string
		want   values.Language
	}{
		{"How high was revenue in 2023?", nil, "", values.English},
		{"Wie hoch war der Umsatz 2023?", nil, "", values.German},
		{"Quel était le chiffre d'affaires 2023 ?", nil, "", values.French},
		{"¿Cuáles fueron los ingresos de 2023?", nil, "", values.Spanish},
		{"Was fehlt noch?", nil, "en", values.German},
		{"How high was revenue in 2023?", nil, "de", values.English},
		{"EBITDA 2023?", nil, "", values.English},
		{"EBITDA 2023?", nil, "fr", values.French},
		{"EBITDA 2023?", nil, "es-MX", values.Spanish},
		{"EBITDA 2023?", german, "", values.German},
		{"EBITDA 2023?", german, "fr", values.German},
		{"Umsatz in 2023?", nil, "de", values.German}, // one word is no English
		{"Umsatz und EBITDA in 2023?", german, "", values.German},
		{"And what was it in the year before?", german, "de", values.English},
		// as much of several languages: the names of figures tell, and how it is spelt
		{"Umsatz in Frankreich?", nil, "", values.German},
		{"Umsatz in Frankreich?", nil, "fr", values.French},
		{"Was kostet die Sanierung in Chemnitz?", nil, "", values.German},
		{"Combien de salariés compte le site de Roanne ?", nil, "", values.French},
		{"Revenue in France?", nil, "", values.English},
		{"Revenue Mars 2024", nil, "", values.English},   // of which Mars is no French
		{"Revenue Mars 2024", nil, "fr", values.English}, // a session takes the month to tell the language
		{"was fehlt?", nil, "", values.German},
		{"Umsatz je Mitarbeiter 2024", nil, "", values.German}, // of which "je" is no French
		{"EBITDA je Quartal", nil, "", values.German},
		{"liste des contradictions", nil, "", values.French},
		{"Headcount in 2023?", german, "", values.German},
		// two languages: the one that more is said in
		{"Wie hoch war der net debt at closing?", nil, "", values.German},
		{"What was the Umsatz in the Geschäftsjahr 2023?", nil, "de", values.English},
		// others, and what is no language
		{"Jakie były przychody w 2023 roku?", nil, "", values.English},
		{"Jakie były przychody w 2023 roku?", nil, "de", values.German},
		{"EBITDA 2023?", nil, "pl", values.English},
		{"EBITDA 2023?", nil, "not a language", values.English},
		{"P&L overview pls", nil, "", values.English}, // of which L is no French
		{"¿?", nil, "de", values.German},
		{strings.Repeat("\x00\xff", 4000), nil, "fr", values.French},
		{"", nil, "", values.English},
	} {
		person, _ := values.ParseLanguage(c.person)
		if got := spokenIn(c.text, c.before, person); got != c.want {
			t.Errorf("%.40q after %q, of a person who speaks %q: %s, want %s", c.text, c.before, c.person, got, c.want)
		}
	}
}

// Figures and periods have the form of their language, whatever is in them.
func TestFiguresAndPeriodsInFourLanguages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ value, unit, en, de, fr, es string }{
		{"5187000", "EUR", "€5.187m", "5,187 Mio. €", "5,187\u00a0M€", "5,187 M€"},
		{"5187432", "EUR", "€5,187,432", "5.187.432 €", "5\u202f187\u202f432\u00a0€", "5.187.432 €"},
		{"-62595000", "USD", "-$62.595m", "-62,595 Mio. $", "-62,595\u00a0M$", "-62,595 M$"},
		{"1900000000", "CHF", "CHF 1.9bn", "1,9 Mrd. CHF", "1,9\u00a0MdCHF", "1,9 mil MCHF"},
		{"300000", "EUR", "€300k", "300 Tsd. €", "300\u00a0k€", "300 mil €"},
		{"1641", "", "1,641", "1.641", "1\u202f641", "1.641"},
		{"42.5", "%", "42.5 %", "42,5 %", "42,5\u00a0%", "42,5 %"},
		{"-1.5", "pp", "-1.5 pp", "-1,5 PP", "-1,5\u00a0pt", "-1,5 p. p."},
	} {
		for l, want := range [...]string{c.en, c.de, c.fr, c.es} {
			if got := tongue(l).show(rat_(c.value), c.unit); got != want {
				t.Errorf("%s %s in %s: %q, want %q", c.value, c.unit, values.Language(l), got, want)
			}
		}
	}
	for _, c := range []struct{ period, en, de, fr, es string }{
		{"FY2024", "FY2024", "GJ 2024", "exercice 2024", "ejercicio 2024"},
		{"Q3 2024", "Q3 2024", "Q3 2024", "T3 2024", "T3 2024"},
		{"H1 2024", "H1 2024", "H1 2024", "S1 2024", "S1 2024"},
		{"2024-09", "2024-09", "September 2024", "septembre 2024", "septiembre de 2024"},
		{"2024-03-01", "2024-03-01", "1. März 2024", "1er mars 2024", "1 de marzo de 2024"},
		{"the winter", "the winter", "the winter", "the winter", "the winter"}, // somebody wrote it
		{"2024", "2024", "2024", "2024", "2024"},
		{"", "", "", "", ""},
	} {
		for l, want := range [...]string{c.en, c.de, c.fr, c.es} {
			if got := tongue(l).at(&Fact{FindingFacts: FindingFacts{Period: c.period}}, label); got != want {
				t.Errorf("%s in %s: %q, want %q", c.period, values.Language(l), got, want)
			}
		}
	}
}

// G9: what was not found is told as a search, with what was looked for in the person's own words and
// in how many documents; those that have no text here were not searched, and that is said.
func TestWhatIsNotFoundIsToldAsASearch(t *testing.T) {
	t.Parallel()
	room := deal()
	room.Documents, room.Unread, room.Passages = 8, 1, nil
	for asked, want := range map[string][]string{
		"Is there a product liability claim?":  {"I looked for a risk of “product liability claim” in 7 documents and found no passage.", "1 document of the room has not been read, so I could not look in it.", "What stands out in all of them:"},
		"How much do they spend on marketing?": {"I looked for “spend marketing” in 7 documents and found no passage.", "1 document of the room has not been read, so I could not look in it."},
	} {
		var got []string
		for _, l := range Answer(Read(asked, room.Deal, nil), room) {
			got = append(got, l.Text)
		}
		if len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
			t.Errorf("%s\n%q\nwant\n%q", asked, got, want)
		}
	}
	if got := Answer(Read("Is there a product liability claim?", "Acme", nil), &DealFacts{Deal: "Acme"}); got[0].Text != "I looked for documents in the room of Acme and found none that you can see." {
		t.Errorf("%q", got[0].Text)
	}
}

// Of what an answer quotes nobody is told that no passage was found, although no passage covers what
// the request list asks for. (48)
func TestWhatIsQuotedIsNoGap(t *testing.T) {
	t.Parallel()
	room := deal()
	room.Documents, room.Unread = 2, 0
	room.Passages = []Passage{{Document: "Counsel.eml", Place: "line 1", Text: "This letter corrects the expected cost given in the litigation summary of 25 November 2024, which is a risk."}}
	room.Requests = []Request{{Text: "Pending and threatened litigation with amounts claimed", Domain: "legal", Priority: "high"}, {Text: "Powers of attorney", Domain: "legal", Priority: "low"}}
	quoted := false
	for _, l := range Answer(Read("are there any lawsuits", room.Deal, nil), room) {
		quoted = quoted || l.Document == "Counsel.eml"
		if l.Role == Missing && strings.Contains(l.Text, "litigation") {
			t.Errorf("told %q", l.Text)
		}
	}
	if !quoted {
		t.Error("the letter is not quoted")
	}
}
