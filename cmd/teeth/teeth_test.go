package main

import "testing"

// The list says what it means, and each line to spoil is still there. Whether
// the faults are caught is a matter of minutes: make teeth.
func TestFaultsAreUpToDate(t *testing.T) {
	t.Parallel()
	faults, err := read("faults.txt")
	if err != nil {
		t.Fatal(err)
	}
	if len(faults) < 40 {
		t.Errorf("only %d faults", len(faults))
	}
	for _, f := range faults {
		if err := f.fits("../.."); err != nil {
			t.Errorf("%s %s: %v", f.id, f.what, err)
		}
	}
}
