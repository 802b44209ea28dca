package values

import "testing"

// The number of a card is masked however it is set; other numbers are left as they are.
func TestCardsAreMasked(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"my card is 4111 1111 1111 1111, until 12/26":      "my card is ••••••, until 12/26",
		"4111111111111111":                                 "••••••",
		"4111 1111 1111 1111 12/26":                        "•••••• 12/26",
		"Amex 3782-822463-10005.":                          "Amex ••••••.",
		"5555555555554444 und 6011111111111117":            "•••••• und ••••••",
		"4111 1111 1111 1112":                              "4111 1111 1111 1112",
		"IBAN LU28 0019 4006 4475 0000":                    "IBAN LU28 0019 4006 4475 0000",
		"IBAN DE89 3704 0044 0532 0130 00":                 "IBAN DE89 3704 0044 0532 0130 00",
		"GB33BUKB20201555555555 and GB82 4111111111111111": "GB33BUKB20201555555555 and GB82 4111111111111111",
		"call +49 151 5550199 before 2025-01-03":           "call +49 151 5550199 before 2025-01-03",
	} {
		if got := WithoutCards(text); got != want {
			t.Errorf("%q becomes %q, not %q", text, got, want)
		}
	}
}
