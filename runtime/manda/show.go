package manda

import (
	"math/big"
	"strings"
	"unicode"
)

func (f *Fact) source() string {
	return "(source: " + f.Document + strings.TrimSuffix(", "+f.Place, ", ") + ")"
}

var signs = map[string]string{"EUR": "€", "USD": "$", "GBP": "£"}

// Show writes a figure as people read it: €5.2m, 42.5 %, 240.
func Show(v *big.Rat, unit string) string {
	switch unit {
	case "%":
		return shown(v) + " %"
	case "pp":
		return shown(v) + " pp"
	}
	sign := signs[unit]
	if sign == "" && unit != "" {
		sign = unit + " "
	}
	minus := ""
	if v.Sign() < 0 {
		minus, v = "-", new(big.Rat).Neg(v)
	}
	for _, by := range []struct {
		n      int64
		letter string
		exact  int64 // what is cut off must be nothing
	}{{1_000_000_000, "bn", 1_000_000}, {1_000_000, "m", 1_000}, {1_000, "k", 1_000}} {
		if unit == "" || v.Cmp(big.NewRat(by.n, 1)) < 0 || by.letter == "k" && v.Cmp(big.NewRat(10_000, 1)) < 0 {
			continue
		}
		if new(big.Rat).Quo(v, big.NewRat(by.exact, 1)).IsInt() {
			return minus + sign + shown(new(big.Rat).Quo(v, big.NewRat(by.n, 1))) + by.letter
		}
	}
	return minus + sign + grouped(shown(v))
}

// grouped puts commas between thousands.
func grouped(s string) string {
	whole, rest, _ := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if rest != "" {
		return whole + "." + rest
	}
	return whole
}

// called is what a metric is called in a sentence.
func called(metric, part string) string {
	switch metric {
	case "ebitda", "ebit", "ebitda margin", "ebit margin", "adjusted ebitda", "adjusted ebitda margin":
		metric = strings.NewReplacer("ebitda", "EBITDA", "ebit", "EBIT").Replace(metric)
	}
	if part != "" {
		return metric + " (" + part + ")"
	}
	return metric
}

func capital(s string) string {
	for i, r := range s {
		return string(unicode.ToUpper(r)) + s[i+len(string(r)):]
	}
	return s
}

// Change says how far a figure is from another: exactly, and in percent of the other with
// one decimal. Of percentages it is percentage points.
func Change(from, to *big.Rat, unit string) (difference *big.Rat, text string) {
	difference = new(big.Rat).Sub(to, from)
	plus := ""
	if difference.Sign() >= 0 {
		plus = "+"
	}
	if unit == "%" {
		return difference, plus + shown(difference) + " pp"
	}
	text = plus + Show(difference, unit)
	if from.Sign() != 0 {
		percent := new(big.Rat).Quo(difference, new(big.Rat).Abs(from))
		text += " (" + plus + trimmed(percent.Mul(percent, big.NewRat(100, 1)).FloatString(1)) + " %)"
	}
	return difference, text
}

func trimmed(s string) string { return strings.TrimSuffix(s, ".0") }
