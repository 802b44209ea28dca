package runtime

import (
	"context"

	"verbatim/stores"
	"verbatim/verbs"
)

// total works out one value from several rows, and says where it comes from. The rows are read here and not added by the store, so that
// both stores come to the same sum, and so that what was read is held until the end: the
// rows themselves, and by the row that they belong to those that are not there.
func (r *reading) total(ctx context.Context, st *step, t *verbs.Total) (sum stores.Value, came verbs.Origin, err error) {
	rows, _, err := r.picked(ctx, st, t.Entity, t.Where)
	if err != nil {
		return sum, came, err
	}
	if t.Kind == verbs.CountTotal {
		return stores.NewInt(int64(len(rows))), st.chosen(), nil
	}
	sum = t.None()
	for i := range rows {
		if sum, err = t.With(sum, rows[i].Values[t.Field]); err != nil {
			return sum, came, &evalError{t.Place, t.Name, err}
		}
		if !rows[i].Values[t.Field].IsNull() {
			came = came.Mix(r.s.from.Field(&rows[i], t.Field))
		}
	}
	return sum, came, nil
}
