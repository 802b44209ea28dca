package dsl

import (
	"cmp"
	"slices"
)

// ApplyFixes applies fixes to the text they were offered for. A fix that overlaps an earlier one
// in the list is left out: parse the result again, and it is offered again if it is still needed.
// It returns how many were applied.
func ApplyFixes(text string, fixes []Fix) (string, int) {
	var edits []Edit
	made := 0
next:
	for _, f := range fixes {
		for _, e := range f.Edits {
			if e.Range.Start < 0 || e.Range.End < e.Range.Start || int(e.Range.End) > len(text) {
				continue next
			}
			for _, other := range edits {
				if e.Range.Start < other.Range.End && other.Range.Start < e.Range.End || e.Range == other.Range {
					continue next
				}
			}
		}
		edits = append(edits, f.Edits...)
		made++
	}
	slices.SortStableFunc(edits, func(a, b Edit) int {
		return cmp.Or(int(a.Range.Start-b.Range.Start), int(a.Range.End-b.Range.End))
	})
	out := make([]byte, 0, len(text))
	from := int32(0)
	for _, e := range edits {
		out = append(out, text[from:e.Range.Start]...)
		out = append(out, e.Text...)
		from = e.Range.End
	}
	return string(append(out, text[from:]...)), made
}

// Fixes returns the first fix of each diagnostic; only the safe ones if safe is set.
func (ds Diagnostics) Fixes(safe bool) []Fix {
	var fixes []Fix
	for i := range ds {
		for _, f := range ds[i].Fixes {
			if f.Safe || !safe {
				fixes = append(fixes, f)
				break
			}
		}
	}
	return fixes
}
