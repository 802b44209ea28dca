package receipt

import "testing"

// A condition, and an expression that is too long to read beside a value, have a short name there.
func TestAMarginQuotesNoRule(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ source, origin, want string }{
		{"today + days(7)", "record", "     (today + days(7))"},
		{":note", "script", "     from :note (script)"},
		{"missing > sent + 1 ? PART : WHOLE", "script", "     (as its rule says, script)"},
		{"missing > 1 ? PART : WHOLE", "record", "     (as its rule says)"},
		{"request_id.workstream.case.opened_at + days(14)", "", "     (as its rule says)"},
	} {
		if got := from(c.source, c.origin, "", "x"); got != c.want {
			t.Errorf("%s: %q, want %q", c.source, got, c.want)
		}
	}
}
