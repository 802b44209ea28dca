package storetest

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"verbatim/stores"
)

var valueCases = []testCase{
	{"every kind comes back as it went", func(t *testing.T, open Open) {
		// O2: dates, instants, lists and exact amounts of a request survive.
		w := newWorld(t, open)
		for field, values := range map[int][]stores.Value{
			reqNotes:   {str(""), str("plain"), str("it's \"so\" -- ; ? :x \\"), str("日本語 🙂 e\u0301"), str("007"), str("1e5"), str("  spaces \r\n\t"), {}},
			reqAmount:  {dec("0"), dec("3.50"), dec("-0.10"), dec("12345678901234567890.123456789"), dec("0.1000000000000000055511151231257827")},
			reqDue:     {date("0001-01-01"), date("1969-12-31"), date("2024-02-29"), date("9999-12-31")},
			reqCreated: {instant("2024-12-02T09:00:00Z"), instant("2024-12-02T09:00:00.000001Z"), instant("1960-01-01T00:00:00.999999Z"), instant("9999-12-31T23:59:59.999999Z")},
			reqVisible: {stores.NewBool(true), stores.NewBool(false)},
			reqGrace:   {stores.NewDuration(0), stores.NewDuration(-time.Microsecond), stores.NewDuration(250 * 365 * 24 * time.Hour)},
			reqCount:   {stores.NewInt(0), stores.NewInt(math.MaxInt64), stores.NewInt(math.MinInt64)},
			reqTypes:   {list(`[]`), list(`{}`), list(`["PASSPORT","TAX_RETURN"]`), list(`{"a":{"b":[1.50,null,true]},"ü":"\u0001"}`)},
		} {
			for _, v := range values {
				w.must(w.do(holding(1), update(w.request, id("request", 1), stores.Assign{Field: field, Value: v})))
				row, err := w.get(holding(1), w.request, id("request", 1))
				w.must(err)
				if row.Values[field] != v {
					t.Errorf("%s: %v came back as %v", w.request.Fields[field].Name, v, row.Values[field])
				}
			}
		}
	}},
	{"an integer in a decimal field is a decimal", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		w.must(w.do(holding(1), update(w.request, id("request", 1), stores.Assign{Field: reqAmount, Value: stores.NewInt(7)})))
		row, err := w.get(holding(1), w.request, id("request", 1))
		w.must(err)
		if row.Values[reqAmount] != dec("7") {
			t.Error(row.Values[reqAmount])
		}
	}},
	{"a value that a field does not take is refused without being shown", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		for name, c := range map[string]stores.Change{
			"another kind":        update(w.request, id("request", 1), stores.Assign{Field: reqDue, Value: str("secret")}),
			"no code":             update(w.request, id("request", 1), stores.Assign{Field: reqStatus, Value: str("secret")}),
			"null where required": update(w.request, id("request", 1), stores.Assign{Field: reqVisible}),
			"not UTF-8":           update(w.request, id("request", 1), stores.Assign{Field: reqNotes, Value: str("secret\xff")}),
			"a zero byte":         update(w.request, id("request", 1), stores.Assign{Field: reqNotes, Value: str("secret\x00")}),
			"no date":             update(w.request, id("request", 1), stores.Assign{Field: reqDue, Value: stores.NewDays(1 << 40)}),
			"missing":             insert(w.request, id("request", 50), stores.Assign{Field: reqWorkstream, Value: id("workstream", 1)}),
			"no key":              insert(w.cbu, stores.Value{}, stores.Assign{Field: 1, Value: str("secret")}),
			"a new key":           update(w.request, id("request", 1), stores.Assign{Field: reqID, Value: id("request", 51)}),
			"nothing":             update(w.request, id("request", 1)),
			"twice":               update(w.request, id("request", 1), stores.Assign{Field: reqNotes, Value: str("a")}, stores.Assign{Field: reqNotes, Value: str("b")}),
		} {
			err := w.do(everything, c)
			if !errors.Is(err, stores.ErrInvalid) || contains(err.Error(), "secret") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}},
}

var writeCases = []testCase{
	{"an insert fills defaults", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		row, err := w.get(holding(1), w.request, id("request", 1))
		w.must(err)
		if row.Values[reqStatus] != str("PENDING") || row.Values[reqVisible] != stores.NewBool(true) || !row.Values[reqNotes].IsNull() {
			t.Error(row.Values)
		}
	}},
	{"an update changes what it names and no more", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		before, err := w.get(holding(1), w.request, id("request", 1))
		w.must(err)
		w.must(w.do(holding(1), update(w.request, id("request", 1), stores.Assign{Field: reqStatus, Value: str("FULFILLED")}, stores.Assign{Field: reqNotes, Value: str("done")})))
		after, err := w.get(holding(1), w.request, id("request", 1))
		w.must(err)
		for i := range after.Values {
			want := before.Values[i]
			switch i {
			case reqStatus:
				want = str("FULFILLED")
			case reqNotes:
				want = str("done")
			}
			if after.Values[i] != want {
				t.Errorf("%s is %v", w.request.Fields[i].Name, after.Values[i])
			}
		}
		other, err := w.get(holding(1), w.request, id("request", 2))
		w.must(err)
		if other.Values[reqStatus] != str("PENDING") {
			t.Error("another row changed")
		}
	}},
	{"a delete removes", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		w.must(w.do(holding(1), remove(w.request, id("request", 2))))
		w.wantKeys(everything, stores.Find{Entity: w.request}, "request", 1, 3, 4, 11)
	}},
	{"a row that others refer to stays", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		if err := w.do(holding(1), remove(w.request, id("request", 1))); !errors.Is(err, stores.ErrInvalid) {
			t.Error(err)
		}
	}},
	{"a row may refer to itself, and to one of its own batch", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		w.must(w.do(holding(1),
			insert(w.submission, id("submission", 7), stores.Assign{Field: 1, Value: id("request", 1)}, stores.Assign{Field: 3, Value: id("submission", 7)}),
			insert(w.submission, id("submission", 8), stores.Assign{Field: 1, Value: id("request", 1)}, stores.Assign{Field: 3, Value: id("submission", 7)})))
	}},
	{"a key is taken once", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		if err := w.do(everything, insert(w.submission, id("submission", 1), stores.Assign{Field: 1, Value: id("request", 1)})); !errors.Is(err, stores.ErrDuplicate) {
			t.Error(err)
		}
	}},
	{"a unique set is taken once", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		set := []stores.Assign{{Field: reqWorkstream, Value: id("workstream", 1)}, {Field: reqSubtype, Value: str("IDENTITY")}}
		if err := w.do(holding(1), insert(w.request, id("request", 50), set...)); !errors.Is(err, stores.ErrDuplicate) {
			t.Error(err)
		}
		if err := w.do(holding(1), update(w.request, id("request", 2), set[1])); !errors.Is(err, stores.ErrDuplicate) {
			t.Error(err)
		}
	}},
	{"a guard holds while nothing changed, and conflicts after", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		row, err := w.get(holding(1), w.request, id("request", 1))
		w.must(err)
		all := make([]int, len(row.Values))
		for i := range all {
			all[i] = i
		}
		planned := stores.Change{Op: stores.Update, Entity: w.request, Key: row.Key(), Before: row.Values, Guard: all,
			Set: []stores.Assign{{Field: reqNotes, Value: str("mine")}}}
		w.must(w.do(holding(1), planned)) // every kind of field, nulls too, compares equal to itself
		for name, c := range map[string]stores.Change{
			"update": planned,
			"delete": {Op: stores.Delete, Entity: w.request, Key: row.Key(), Before: row.Values, Guard: all},
		} {
			if err := w.do(holding(1), c); !errors.Is(err, stores.ErrConflict) {
				t.Errorf("%s: %v", name, err)
			}
		}
		planned.Guard = []int{reqStatus} // a change of another field does not matter
		w.must(w.do(holding(1), planned))
	}},
	{"a guard compares decimals by worth", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		c := update(w.request, id("request", 3), stores.Assign{Field: reqNotes, Value: str("x")})
		c.Before, c.Guard = make([]stores.Value, len(w.request.Fields)), []int{reqAmount}
		c.Before[reqAmount] = dec("10")
		w.must(w.do(holding(1), c))
		c.Before[reqAmount] = dec("10.000000000000000000001")
		if err := w.do(holding(1), c); !errors.Is(err, stores.ErrConflict) {
			t.Error(err)
		}
	}},
	{"a batch is done whole or not at all", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		before, err := w.Journal(context.Background(), 0, 0)
		w.must(err)
		bad := []stores.Change{
			remove(w.request, id("request", 99)),
			insert(w.submission, id("submission", 1), stores.Assign{Field: 1, Value: id("request", 1)}),
			update(w.request, id("request", 1), stores.Assign{Field: reqVisible}),
		}
		for _, c := range bad {
			err := w.apply(everything, stores.Batch{
				Changes: []stores.Change{update(w.request, id("request", 1), stores.Assign{Field: reqNotes, Value: str("half")}), c},
				Entries: []stores.Entry{entry("half")},
				Jobs:    []stores.Job{{ID: "half", Kind: "notice", Payload: "{}", At: time.Unix(0, 0)}},
			})
			if err == nil {
				t.Error("committed")
			}
		}
		row, err := w.get(everything, w.request, id("request", 1))
		w.must(err)
		after, err := w.Journal(context.Background(), 0, 0)
		w.must(err)
		if !row.Values[reqNotes].IsNull() || len(after) != len(before) {
			t.Errorf("half was done: %v, %d entries", row.Values[reqNotes], len(after)-len(before))
		}
		// The job was not kept either: its id is free.
		w.must(w.apply(everything, stores.Batch{Jobs: []stores.Job{{ID: "half", Kind: "notice", Payload: "{}", At: time.Unix(0, 0)}}}))
	}},
	{"nothing commits after a failed apply", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		err := w.Update(context.Background(), everything, func(tx stores.Tx) error {
			ctx := context.Background()
			err := tx.Apply(ctx, stores.Batch{Changes: []stores.Change{update(w.request, id("request", 1), stores.Assign{Field: reqNotes, Value: str("half")})}})
			w.must(err)
			if err := tx.Apply(ctx, stores.Batch{Changes: []stores.Change{remove(w.request, id("request", 99))}}); err == nil {
				t.Error("removed nothing")
			}
			return nil // as if it had not failed
		})
		if !errors.Is(err, stores.ErrNotFound) {
			t.Error(err)
		}
		row, err := w.get(everything, w.request, id("request", 1))
		w.must(err)
		if !row.Values[reqNotes].IsNull() {
			t.Error("half was committed")
		}
	}},
}
