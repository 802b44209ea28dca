package stores

import (
	"slices"
	"testing"
)

// F15: what a constraint says of a column is read where it is a list of values, and
// nothing is made of what says more.
func TestCheckedValuesAreThoseOfAList(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string][]string{
		`status IN ('a', 'it''s')`:                     {"status", "a", "it's"},
		`"The Status" in ('a')`:                        {"The Status", "a"},
		`status = 'a' OR status = 'b'`:                 {"status", "a", "b"},
		`kind IN (1, -2)`:                              {"kind", "1", "-2"},
		`status IS NULL OR status IN ('a')`:            {"status", "a"},
		`(status = ANY (ARRAY['a'::text, 'b'::text]))`: {"status", "a", "b"},
		`((status)::text = ANY ((ARRAY['a'::character varying, 'b'::character varying(20)])::text[]))`: {"status", "a", "b"},
		`(kind = ANY (ARRAY[1, 2]))`:     {"kind", "1", "2"},
		`status <> 'a'`:                  nil,
		`status NOT IN ('a')`:            nil,
		`status IN ('a') AND kind = 1`:   nil,
		`status IN ('a') OR other = 'b'`: nil,
		`length(status) = 3`:             nil,
		`amount > 0`:                     nil,
		`status IS NOT NULL`:             nil,
		`'a'`:                            nil,
		`status IN ('a`:                  nil,
	} {
		column, values, ok := CheckedValues(expression)
		if ok != (want != nil) || ok && !slices.Equal(append([]string{column}, values...), want) {
			t.Errorf("%s is read as %q %q %v", expression, column, values, ok)
		}
	}
	create := `CREATE TABLE healthcheck (a text CHECK (a IN ('x)')), -- CHECK (a IN ('y'))
		"check" int, b int check(b > 0), /* CHECK (b IN (1)) */ CONSTRAINT c CHECK (b IN (1, (2))))`
	if got, want := Checks(create), []string{"a IN ('x)')", "b > 0", "b IN (1, (2))"}; !slices.Equal(got, want) {
		t.Errorf("the constraints are %q", got)
	}
}
