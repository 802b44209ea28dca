package receipt

import (
	"fmt"
	"slices"

	"verbatim/stores"
)

// Moved says how the rows of a second preview of the same calls differ from the first: their
// values before and after, in words that both readers may see. It is empty if the previews differ
// only in something else that the calls depend on.
func Moved(was, is *Receipt) []string {
	type at struct {
		table string
		key   stores.Value
		field string
	}
	values := func(r *Receipt) (map[at]*Field, map[at]string, []at) {
		fields, names, order := map[at]*Field{}, map[at]string{}, []at(nil)
		for i := range r.Calls {
			for j := range r.Calls[i].Rows {
				row := &r.Calls[i].Rows[j]
				if row.Op == Inserted {
					continue // its key is generated each time
				}
				for k := range row.Fields {
					p := at{row.Table, row.Key, row.Fields[k].Column}
					if fields[p] == nil {
						order = append(order, p)
					}
					fields[p], names[p] = &row.Fields[k], row.Name
				}
			}
		}
		return fields, names, order
	}
	before, _, first := values(was)
	now, names, second := values(is)
	var moved []string
	for _, p := range second {
		new, old := now[p], before[p]
		switch {
		case old == nil:
			moved = append(moved, fmt.Sprintf("%s of %s would change as well", new.Name, names[p]))
		case new.Sensitive || old.Sensitive:
		case new.Before.Value != old.Before.Value:
			moved = append(moved, fmt.Sprintf("%s of %s was %s and is %s", new.Name, names[p], old.Before, new.Before))
		case new.After.Value != old.After.Value && new.After.Value.Kind() != stores.Time:
			moved = append(moved, fmt.Sprintf("%s of %s would become %s, not %s", new.Name, names[p], new.After, old.After))
		}
	}
	for _, p := range first {
		if now[p] == nil {
			moved = append(moved, before[p].Name+" of a row would not change any more")
		}
	}
	return slices.Compact(moved)
}
