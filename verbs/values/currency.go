package values

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

//go:embed currencies.txt
var currenciesText string

// A Currency is a kind of money by its code in ISO 4217.
type Currency struct {
	Code   string
	Digits int    // after the point
	Ended  string // the last day on which it was money, 2025-12-31; "" if it still is
	Now    string // the currency in its place
}

var currencies = sync.OnceValue(func() map[string]Currency {
	all := make(map[string]Currency)
	lines(currenciesText, func(f []string) {
		c := Currency{Code: f[0], Digits: int(f[1][0] - '0')}
		if len(f) > 2 {
			c.Ended, c.Now = f[2], f[3]
		}
		all[c.Code] = c
	})
	return all
})

// CurrencyOf returns a currency by its code. Those that ended are among them: what was agreed in one
// while it was money stays so.
func CurrencyOf(code string) (Currency, bool) {
	c, ok := currencies()[code]
	return c, ok
}

// Currencies are the codes of the currencies in use, in order.
func Currencies() []string {
	var codes []string
	for code, c := range currencies() {
		if c.Ended == "" {
			codes = append(codes, code)
		}
	}
	slices.SortFunc(codes, strings.Compare)
	return codes
}
