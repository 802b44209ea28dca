package verbs

import (
	"verbatim/stores"
	"verbatim/verbs/expr"
)

// An Aggregate computes a total: it holds the result so far, and the number of values.
type Aggregate struct {
	of *Total
	so stores.Value
	n  int64
}

// Begin begins a total without rows.
func (t *Total) Begin() Aggregate {
	r := Aggregate{of: t}
	switch {
	case t.Kind == MinTotal || t.Kind == MaxTotal:
	case t.Type.Name == DecimalType:
		r.so, _ = stores.ParseDecimal("0")
	default:
		r.so = stores.NewInt(0)
	}
	return r
}

// Add adds a row by the value of its field. An absent value changes nothing.
func (r *Aggregate) Add(v stores.Value) (err error) {
	if v.IsNull() && r.of.Kind != CountTotal {
		return nil
	}
	switch r.n++; r.of.Kind {
	case CountTotal:
	case SumTotal, AverageTotal:
		r.so, err = expr.Functions["+"](r.so, v)
	default:
		order, _ := stores.Compare(v, r.so)
		if r.so.IsNull() || order < 0 && r.of.Kind == MinTotal || order > 0 && r.of.Kind == MaxTotal {
			r.so = v
		}
	}
	return err
}

// Value returns the total.
func (r *Aggregate) Value() (stores.Value, error) {
	switch {
	case r.of.Kind == CountTotal:
		return stores.NewInt(r.n), nil
	case r.of.Kind != AverageTotal:
		return r.so, nil
	case r.n == 0:
		return stores.Value{}, nil
	}
	return expr.Divides(r.of.Scale)(r.so, stores.NewInt(r.n))
}
