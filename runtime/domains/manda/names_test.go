package manda_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"verbatim/runtime/domains/manda"
)

// M47 to M51: which file takes the place of which, by their names; in one direction only.
func TestNamesTellWhatCorrectsWhat(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, other string
		corrects    bool
	}{
		{"annual_report_CORRECTED.pdf", "annual_report.pdf", true}, // M47
		{"annual_report_corrected.pdf", "Annual Report.PDF", true},
		{"forecast_v2.xlsx", "forecast.xlsx", true}, // M48
		{"forecast_v2.xlsx", "forecast_v1.xlsx", true},
		{"forecast_v3.xlsx", "forecast_v2.xlsx", true},
		{"forecast_v10.xlsx", "forecast_v9.xlsx", true},
		{"forecast v2.xlsx", "Forecast-V1.xlsx", true},
		{"presentation_FINAL.pptx", "presentation.pptx", true}, // M49
		{"financials_updated.xlsx", "financials.xlsx", true},   // M50
		{"report (2).pdf", "report.pdf", true},                 // M51
		{"report (2).pdf", "report (1).pdf", true},
		{"report(1).pdf", "report.pdf", true},
		{"deck_FINAL_v2 (1).pptx", "deck_FINAL_v2.pptx", true},
		{"deck_FINAL_v2 (1).pptx", "deck_FINAL.pptx", true},
		{"deck_v2_FINAL.pptx", "deck FINAL.pptx", true},
		{"deck_v2_FINAL.pptx", "deck_FINAL_v2.pptx", false}, // the same
		{"Q3.2024.report_v2.pdf", "Q3.2024.report.pdf", true},
		{"BILANZ KÖLN_v2.pdf", "Bilanz_Köln.pdf", true},
		{" report_v2.pdf ", "report.pdf", true},

		{"forecast_v1.xlsx", "forecast.xlsx", false}, // the first is the first
		{"forecast_v2.xlsx", "forecast_FINAL.xlsx", false},
		{"forecast_v2.xlsx", "forecast_v2.xlsx", false},
		{"forecast_v2.xlsx", "forecast_v2.pdf", false},
		{"forecast_v2.xlsx", "budget_v1.xlsx", false},
		{"report_finale.pdf", "report.pdf", false},
		{"v2.pdf", "v1.pdf", false},
		{"(2).pdf", "(1).pdf", false},
		{"final.pdf", "final_final.pdf", false},
		{"Q3_2024.pdf", "Q3_2023.pdf", false},
		{"report_v99999.pdf", "report.pdf", false},
		{"", "", false},
		{".pdf", "_v2.pdf", false},
	} {
		if got := manda.Corrects(c.name, c.other); got != c.corrects {
			t.Errorf("%q corrects %q: %t", c.name, c.other, got)
		}
		if c.corrects && manda.Corrects(c.other, c.name) {
			t.Errorf("%q and %q correct one another", c.name, c.other)
		}
	}
}

// Nothing corrects itself, no two correct one another, and what corrects a correction
// corrects what that corrected.
func TestCorrectionsAreAnOrder(t *testing.T) {
	t.Parallel()
	names := rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		b.WriteString(rapid.SampledFrom([]string{"report", "Report", "re port", "x"}).Draw(t, "stem"))
		for range rapid.IntRange(0, 3).Draw(t, "marks") {
			b.WriteString(rapid.SampledFrom([]string{"_FINAL", " final", "_v1", "_v2", "-V3", "_updated", "_CORRECTED", " (1)", "(2)"}).Draw(t, "mark"))
		}
		return b.String() + rapid.SampledFrom([]string{".pdf", ".PDF", ""}).Draw(t, "ending")
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := names.Draw(t, "a"), names.Draw(t, "b"), names.Draw(t, "c")
		if manda.Corrects(a, a) || manda.Corrects(a, b) && manda.Corrects(b, a) {
			t.Fatal(a, b)
		}
		if manda.Corrects(a, b) && manda.Corrects(b, c) && !manda.Corrects(a, c) {
			t.Fatal(fmt.Sprintf("%q corrects %q, which corrects %q", a, b, c))
		}
	})
}
