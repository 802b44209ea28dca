package manda

import (
	"math/big"
	"reflect"
	"slices"
	"testing"
)

// An answer has the form of what it says: one figure is one line with what makes it less
// than certain (M3), a development is a list with one line before it (M4, M13, M17), several
// topics have headings (M13), and an answer ends with an offer where something is missing
// and does nothing about it (M15).
func TestAnAnswerHasTheFormOfWhatItSays(t *testing.T) {
	t.Parallel()
	fact := func(metric, unit, period, document, status string, value int64, confidence int) Fact {
		return Fact{Stated: Stated{Metric: metric, Unit: unit, Period: period, Document: document, Status: status, Value: new(big.Rat).SetInt64(value), Step: big.NewRat(1, 1)}, Place: "p.1", Domain: "financial", Confidence: confidence}
	}
	acme := func() *Room {
		room := &Room{Deal: "Acme", Documents: 6,
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
			"said: **Gaps:**",
			"missing: - Transfer pricing documentation (tax, HIGH priority)",
			"next: Would you like me to add the gaps to the Q&A list?",
		}},
		{"What's missing?", []string{
			"said: Here's the coverage against the information request list of Acme, judged by the words of the documents:",
			"said: **Tax (0/1 items covered)**",
			"missing: - ✗ Transfer pricing documentation (HIGH priority)",
			"said: **Legal (1/1 items covered)**",
			"covered: - ✓ Articles (source: articles.pdf)",
			"next: Would you like me to generate Q&A items for the missing information?",
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
