package view

import (
	"encoding/binary"
	"slices"

	"verbatim/stores"
)

// inRuns sorts changes so that similar ones, which a store can carry out together, are adjacent. No
// change may move past one that depends on it: changes of one row, and references to a new row, keep
// their order, and some changes keep their place.
func (f *Facts) inRuns(changes []stores.Change) []stores.Change {
	sorted := make([]stores.Change, 0, len(changes))
	var groups [][]int32                    // of changes, by index
	latest := make(map[string]int)          // by kind of change, the index of its last group
	written := make(map[RowKey]int)         // the last group that writes a row
	mentioned := make(map[stores.Value]int) // the last group that refers to a key
	end := func() {
		for _, g := range groups {
			for _, at := range g {
				sorted = append(sorted, changes[at])
			}
		}
		groups = groups[:0]
		clear(latest)
		clear(written)
		clear(mentioned)
	}
	var likeness []byte
	numbers := make(map[*stores.Entity]uint64)
	for i := range changes {
		c := &changes[i]
		if f.keepsPlace(c) {
			end()
			sorted = append(sorted, *c)
			continue
		}
		n, ok := numbers[c.Entity]
		if !ok {
			n = uint64(len(numbers))
			numbers[c.Entity] = n
		}
		likeness = append(likeness[:0], byte(c.Op))
		likeness = binary.AppendUvarint(likeness, n)
		likeness = binary.AppendUvarint(likeness, uint64(len(c.Set)))
		least := written[RowKey{c.Entity, c.Key}]
		for _, a := range c.Set {
			likeness = binary.AppendUvarint(likeness, uint64(a.Field))
			if to := c.Entity.Fields[a.Field].Ref; to != nil && !a.Value.IsNull() {
				least = max(least, written[RowKey{to, a.Value}])
			}
		}
		for _, g := range c.Guard {
			likeness = binary.AppendUvarint(likeness, uint64(g))
		}
		if c.Op == stores.Insert {
			least = max(least, mentioned[c.Key])
		}
		at, found := latest[string(likeness)]
		if !found || at+1 < least {
			at = len(groups)
			groups = append(groups, nil)
			latest[string(likeness)] = at
		}
		groups[at] = append(groups[at], int32(i))
		// Numbers begin at 1, so that 0 means a row that no change writes.
		written[RowKey{c.Entity, c.Key}] = at + 1
		for _, a := range c.Set {
			if c.Entity.Fields[a.Field].Ref != nil {
				mentioned[a.Value] = max(mentioned[a.Value], at+1)
			}
		}
	}
	end()
	return sorted
}

// keepsPlace reports whether no other change may move past a change: others may depend on it in ways
// that are not analysed.
func (f *Facts) keepsPlace(c *stores.Change) bool {
	if c.Op == stores.Delete || !c.Entity.Managed {
		return true
	}
	for _, a := range c.Set {
		if c.Op == stores.Update && f.leads[Field{c.Entity, a.Field}] {
			return true
		}
		if slices.ContainsFunc(c.Entity.Unique, func(set []int) bool { return slices.Contains(set, a.Field) }) {
			return true
		}
	}
	return false
}
