package values

import (
	"slices"

	"verbatim/stores"
)

// A money is a currency by its code, with its digits after the point.
type money struct {
	code  string
	minor int
}

// currencies are the currencies with names or signs. The first of several that share a sign is no
// more likely than the others: the person has to choose.
var currencies = []money{
	{"EUR", 2}, {"USD", 2}, {"GBP", 2}, {"CHF", 2}, {"JPY", 0}, {"CNY", 2}, {"CAD", 2}, {"AUD", 2}, {"SEK", 2},
	{"NOK", 2}, {"DKK", 2}, {"PLN", 2}, {"INR", 2}, {"MXN", 2}, {"BRL", 2}, {"CZK", 2}, {"HUF", 2}, {"RON", 2},
	{"BGN", 2}, {"ISK", 0}, {"TRY", 2}, {"ILS", 2}, {"AED", 2}, {"SAR", 2}, {"KWD", 3}, {"BHD", 3}, {"OMR", 3},
	{"JOD", 3}, {"TND", 3}, {"EGP", 2}, {"ZAR", 2}, {"NGN", 2}, {"KES", 2}, {"MAD", 2}, {"XOF", 0}, {"XAF", 0},
	{"SGD", 2}, {"HKD", 2}, {"TWD", 2}, {"KRW", 0}, {"THB", 2}, {"MYR", 2}, {"IDR", 2}, {"PHP", 2}, {"VND", 0},
	{"NZD", 2}, {"ARS", 2}, {"CLP", 0}, {"COP", 2}, {"PEN", 2}, {"UAH", 2}, {"GEL", 2}, {"KZT", 2}, {"RSD", 2},
	{"QAR", 2},
}

// shared are signs and names of several currencies.
var shared = map[string][]string{
	"$":       {"USD", "CAD", "AUD"},
	"dollar":  {"USD", "CAD", "AUD"},
	"dollars": {"USD", "CAD", "AUD"},
	"dolar":   {"USD", "CAD", "AUD"},
	"dolares": {"USD", "CAD", "AUD"},
	"bucks":   {"USD", "CAD", "AUD"},
	"kr":      {"SEK", "NOK", "DKK"},
	"kronen":  {"SEK", "NOK", "DKK"},
	"kroner":  {"SEK", "NOK", "DKK"},
	"kronor":  {"SEK", "NOK", "DKK"},
	"¥":       {"JPY", "CNY"},
	"franc":   {"CHF", "XAF", "XOF"},
	"francs":  {"CHF", "XAF", "XOF"},
	"pesos":   {"MXN", "ARS", "CLP", "COP"},
	"€":       {"EUR"},
	"£":       {"GBP"},
	"₹":       {"INR"},
	"₩":       {"KRW"},
	"₺":       {"TRY"},
	"₴":       {"UAH"},
	"₾":       {"GEL"},
	"zł":      {"PLN"},
}

// InCurrencies holds a reading to the currencies that an argument accepts: "$" is the only dollar among
// them, and a number alone is an amount in the only one. With no currencies, it holds to nothing.
func InCurrencies(r Reading, accepted []string) Reading {
	if len(accepted) == 0 || r.Problem != 0 {
		return r
	}
	var kept []Choice
	for _, c := range r.choices() {
		if c.Currency == "" && len(accepted) == 1 && (r.What == Integer || r.What == Decimal) {
			c.Currency = accepted[0]
		}
		if slices.Contains(accepted, c.Currency) {
			kept = append(kept, c)
		}
	}
	if len(kept) > 0 {
		r.What = Money
		r.offer(kept)
	}
	return r
}

// AmountExample says an amount as a person may write it, in each of some currencies: "12.50 EUR or 12.50
// GBP". With none it takes the euro, with many the first.
func AmountExample(currencies []string, l Language) string {
	const few = 3
	if len(currencies) == 0 {
		currencies = []string{"EUR"}
	}
	amount, _ := stores.ParseDecimal("12.5")
	var all []string
	for _, code := range currencies[:min(few, len(currencies))] {
		all = append(all, SayMoney(amount, code, l))
	}
	return Either(l, all)
}

func minorDigits(code string) int {
	for i := range currencies {
		if currencies[i].code == code {
			return currencies[i].minor
		}
	}
	return 2
}
