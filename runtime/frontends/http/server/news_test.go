package server

import (
	"maps"
	"slices"
	"testing"
)

// The key of a row is found among its changes, whatever its kind, and whatever else is there.
func TestRowsAreFoundByTheirKeys(t *testing.T) {
	t.Parallel()
	for changes, want := range map[string][]string{
		`[{"Op":"insert","Key":"00000000-0000-4000-8000-000000000001","Fields":[{"Name":"number","After":12}]}]`: {`"00000000-0000-4000-8000-000000000001"`, "12"},
		`{"Key":-7,"a":["x \" y\\","z"],"b":null}`:                                                               {"-7", `"x \" y\\"`, `"z"`, "null"},
		`{"cut`:  nil,
		`{"cut\`: nil,
		``:       nil,
	} {
		values := map[string]bool{}
		mention(changes, values)
		for _, value := range want {
			if !values[value] {
				t.Errorf("%s: %s is not among %v", changes, value, slices.Sorted(maps.Keys(values)))
			}
		}
	}
}
