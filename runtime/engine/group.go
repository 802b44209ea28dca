package engine

import (
	"slices"
	"strconv"

	"verbatim/stores"
	"verbatim/verbs"
)

// groupRows joins the rows that are equal in all fields without a total into one row, with the totals
// of the group. If all fields are totals, there is one group, even without rows.
func groupRows(st *step, t *table) error {
	read := st.verb.Read
	type group struct {
		cells []cell
		so    []verbs.Aggregate // parallel to cells
	}
	var all []*group
	known := make(map[string]*group)
	begin := func(key string, like []cell) *group {
		g := &group{cells: slices.Clone(like), so: make([]verbs.Aggregate, len(read.Fields))}
		for i := range read.Fields {
			if over := read.Fields[i].Over; over != nil {
				g.cells[i], g.so[i] = cell{from: ofRecord}, over.Begin()
			}
		}
		all, known[key] = append(all, g), g
		return g
	}
	var key []byte
	for _, cells := range t.rows {
		key = key[:0]
		for i := range cells {
			if read.Fields[i].Over == nil {
				key = append(strconv.AppendQuote(key, cells[i].value.String()), byte(cells[i].value.Kind()))
			}
		}
		g := known[string(key)]
		if g == nil {
			g = begin(string(key), cells)
		}
		for i := range cells {
			if over := read.Fields[i].Over; over == nil {
				g.cells[i].from = g.cells[i].from.Mix(cells[i].from)
			} else if err := g.so[i].Add(cells[i].value); err != nil {
				return &evalError{over.Place, read.Fields[i].Name, err}
			} else if over.Kind != verbs.CountTotal {
				g.cells[i].from = g.cells[i].from.Mix(cells[i].from)
			}
		}
	}
	if len(all) == 0 && !slices.ContainsFunc(read.Fields, func(f verbs.ReadField) bool { return f.Over == nil }) {
		begin("", make([]cell, len(read.Fields)))
	}
	t.entity, t.keys, t.rows = nil, nil, make([][]cell, len(all))
	for n, g := range all {
		for i := range g.cells {
			if over := read.Fields[i].Over; over != nil {
				v, err := g.so[i].Value()
				if err != nil {
					return &evalError{over.Place, read.Fields[i].Name, err}
				}
				g.cells[i].value = v
			}
		}
		t.rows[n] = g.cells
	}
	slices.SortStableFunc(t.rows, func(a, b []cell) int { return sorted(read.Sort, a, b) })
	if read.Limit > 0 && len(t.rows) > read.Limit {
		return st.refuse("too-much", st.verb.Name)
	}
	return nil
}

// sorted compares two rows. Null comes last in both directions, and ties are broken by all cells,
// so that the order is always the same.
func sorted(by []verbs.Sort, a, b []cell) int {
	compare := func(i int, desc bool) int {
		switch v, w := a[i].value, b[i].value; {
		case v.IsNull() && w.IsNull():
			return 0
		case v.IsNull():
			return 1
		case w.IsNull():
			return -1
		default:
			order, _ := stores.Compare(v, w)
			if desc {
				order = -order
			}
			return order
		}
	}
	for _, s := range by {
		if order := compare(s.Field, s.Desc); order != 0 {
			return order
		}
	}
	for i := range a {
		if order := compare(i, false); order != 0 {
			return order
		}
	}
	return 0
}
