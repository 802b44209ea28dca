package stores

import (
	"fmt"
	"testing"
)

// G27: what a CHECK constraint demands of one column is read as PostgreSQL and as people write it.
func TestBounds(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		"(pages > 0)":                                               "[{pages false > 0}]",
		"((pages >= 1) AND (pages <= 30))":                          "[{pages false >= 1} {pages false <= 30}]",
		"pages BETWEEN 1 AND 30 AND price < 5":                      "[{pages false >= 1} {pages false <= 30} {price false < 5}]",
		"(price >= (0)::numeric)":                                   "[{price false >= 0}]",
		"((price)::double precision > (-1.5)::double precision)":    "[{price false > -1.5}]",
		"(char_length((code)::text) = 3)":                           "[{code true = 3}]",
		"((code)::character varying(20) ~ '^[A-Z]{3}$'::text)":      "[{code false ~ ^[A-Z]{3}$}]",
		"(born > '1900-01-01'::date)":                               "[{born false > 1900-01-01}]",
		"(at < '2100-01-01 00:00:00'::timestamp without time zone)": "[{at false < 2100-01-01 00:00:00}]",
		"0 < \"Pages\"":                                             "[{Pages false > 0}]",
		"((pages IS NULL) OR (pages > 0))":                          "[{pages false > 0}]",
		"(pages > other)":                                           "", "(pages > 0) OR (price > 0)": "", "(pages <> 5)": "", "(code !~ 'x')": "", "(lower(code) = 'x')": "", "": "", "(code ~* 'x')": "", "(a IS NULL OR b > 0)": "",
	} {
		got, ok := Bounds(expression)
		if !ok && want != "" || ok && fmt.Sprint(got) != want {
			t.Errorf("%s: %v, %v", expression, got, ok)
		}
	}
	for expression, want := range map[string]string{"^[A-Z]+$": "[A-Z]+", "^(a|b)$": "(a|b)", "^a|b$": "", "abc": "", `^a\$`: "", "^(?=a)$": ""} {
		if got, ok := Whole(expression); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %v", expression, got, ok)
		}
	}
}
