package values

import (
	"strings"
	"testing"
)

// A number is the same as people write it at home, with its country, and by its last ten digits, in
// every country.
func TestANumberIsTheSameAtHomeAndAbroad(t *testing.T) {
	t.Parallel()
	for region, of := range phones().region {
		if region == "001" || of.pattern != nil {
			continue // no number is written inside it, or their own tests are below
		}
		for _, n := range of.lengths {
			if len(of.code)+n > longestPhone || n < 6 {
				continue
			}
			number := strings.Repeat("73", n)[:n]
			full := of.code + number
			for _, home := range []string{of.prefix + number, of.prefix + " " + number[:2] + "-" + number[2:], "+" + full, "00" + full, "+" + of.code + " (" + of.prefix + ") " + number, full[max(0, len(full)-10):]} {
				if !SamePhone(home, "+"+full) {
					t.Errorf("%s: %q is not +%s", region, home, full)
				}
			}
			if other := of.prefix + number[:n-1] + "9"; SamePhone(other, "+"+full) {
				t.Errorf("%s: %q is +%s", region, other, full)
			}
		}
	}
	for _, c := range [][2]string{{"0897 700 100", "+359 897 700 100"}, {"0912345678", "+84 91 234 5678"}, {"011 15 2345-6789", "+54 9 11 2345 6789"}, {"8 912 345-67-89", "+7 912 345 67 89"}, {"06 20 123 4567", "+36 20 123 4567"}, {"06 1234 5678", "+39 06 12345678"}, {"0888 123 456", "9888123456"}} {
		if !SamePhone(c[0], c[1]) {
			t.Errorf("%q is not %q: %v, %v", c[0], c[1], PhoneNumbers(c[0]), PhoneNumbers(c[1]))
		}
	}
	for _, c := range [][2]string{{"0897 700 100", "+359 897 700 200"}, {"", ""}, {"+359 888 123 456", "+30 888 123 456"}, {"555-0123", "555-0199"}} {
		if SamePhone(c[0], c[1]) {
			t.Errorf("%q is %q", c[0], c[1])
		}
	}
}
