package storetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"verbatim/stores"
)

// someLists returns one list of each kind: of rows that their owner's row vouches for, of rows
// two references away, and of rows that refer to any other.
func (w *world) someLists() []stores.List {
	all := func(e *stores.Entity) (paths []stores.Path) {
		for i := range e.Fields {
			paths = append(paths, stores.Path{Field: i})
		}
		return append(paths, stores.Path{Marks: true})
	}
	byRequest := stores.Path{Field: 1}
	pending := &stores.Cond{Op: stores.Eq, Path: stores.Path{Field: reqStatus}, Value: str("PENDING")}
	return []stores.List{
		{Entity: w.request, By: stores.Path{Field: reqWorkstream}, Select: all(w.request)},
		{Entity: w.request, By: stores.Path{Field: reqWorkstream}, Select: all(w.request)[:1], Where: pending, Order: []stores.Order{{Path: stores.Path{Field: reqDue}, Desc: true}, {Path: stores.Path{Field: reqNotes}}}},
		{Entity: w.request, By: stores.Path{Steps: w.toCBU()[:1], Field: 1}, Select: []stores.Path{{Field: reqID}, {Steps: w.toCBU()[:2], Field: 1}, {Count: w.submission, By: 1}}, Order: []stores.Order{{Path: stores.Path{Count: w.submission, By: 1}, Desc: true}}},
		{Entity: w.submission, By: byRequest, Select: append(all(w.submission), stores.Path{Steps: []stores.Step{{Field: 1, To: w.request}}, Marks: true})},
		{Entity: w.submission, By: stores.Path{Field: 3}, Select: []stores.Path{{Field: 0}, {Field: 1}}, Where: &stores.Cond{Op: stores.Or, Kids: []stores.Cond{{Op: stores.True}, {Op: stores.False}}}},
		{Entity: w.request, By: stores.Path{Field: reqCountry}, Select: []stores.Path{{Field: reqID}}},
		{Entity: w.case_, By: stores.Path{Field: 1}, Select: all(w.case_)},
	}
}

// fillLists gives every field of some request a value, odd ones where possible, and adds
// submissions of both clients that refer to those of one.
func (w *world) fillLists() {
	odd := "a\"b\\c{},'\n NULL ü"
	w.must(w.do(everything,
		update(w.request, id("request", 1), stores.Assign{Field: reqNotes, Value: str(odd), Origin: letter}, stores.Assign{Field: reqTypes, Value: list(`[{"a":"\"x\\"},null,1e5]`)},
			stores.Assign{Field: reqGrace, Value: stores.NewDuration(90_000_000_000)}, stores.Assign{Field: reqCount, Value: stores.NewInt(-7)}, stores.Assign{Field: reqCountry, Value: str("DE")}),
		update(w.request, id("request", 2), stores.Assign{Field: reqDue, Value: date("0001-01-01")}, stores.Assign{Field: reqVisible, Value: stores.NewBool(false)}, stores.Assign{Field: reqNotes, Value: str("")},
			stores.Assign{Field: reqAmount, Value: dec("-0.010")}),
		update(w.request, id("request", 3), stores.Assign{Field: reqNotes, Value: str("NULL")}, stores.Assign{Field: reqCreated, Value: instant("0001-01-01T00:00:00.000001Z")}, stores.Assign{Field: reqCountry, Value: str("DE")}),
		update(w.request, id("request", 11), stores.Assign{Field: reqDue, Value: date("9999-12-31")}, stores.Assign{Field: reqCountry, Value: str("DE")})))
	submit := func(n, request, after int) stores.Change {
		return insert(w.submission, id("submission", n), stores.Assign{Field: 1, Value: id("request", request)}, stores.Assign{Field: 2, Value: str(odd)}, stores.Assign{Field: 3, Value: id("submission", after)})
	}
	w.must(w.do(everything, submit(13, 11, 1), submit(14, 1, 1), submit(15, 2, 1), submit(16, 2, 13)))
}

var listCases = []testCase{
	{"a list is what the rows of another entity by a reference are", func(t *testing.T, open Open) {
		for name, w := range map[string]*world{"world": newWorld(t, open), "hidden": hiddenWorld(t, open)} {
			w.fillLists()
			many := 0
			for _, scope := range []stores.Scope{everything, holding(1), holding(2), holding(1, 2), {}} {
				for i, list := range w.someLists() {
					of := list.Entity
					for _, s := range list.By.Steps {
						of = s.To
					}
					of = of.Fields[list.By.Field].Ref
					for _, within := range []func(func(stores.Reader) error) error{
						func(fn func(stores.Reader) error) error { return w.View(context.Background(), scope, fn) },
						func(fn func(stores.Reader) error) error {
							return w.Update(context.Background(), scope, func(tx stores.Tx) error { return fn(tx) })
						},
					} {
						for _, f := range []stores.Find{{}, {Last: true}, {Hold: stores.Shared}, {Hold: stores.Firm, Select: []stores.Path{{Field: of.Key}}}} {
							f.Entity = of
							var found, want [][][]stores.Value
							f.Lists = []stores.List{list, list}
							f.Lists[0].Into, f.Lists[1].Into = &found, new([][][]stores.Value)
							var rows, plain [][]stores.Value
							w.must(within(func(r stores.Reader) (err error) {
								if rows, err = r.Find(context.Background(), f); err != nil {
									return err
								}
								if !reflect.DeepEqual(found, *f.Lists[1].Into) {
									t.Error("one list asked for twice is two")
								}
								f.Lists = []stores.List{list}
								f.Lists[0].Into = &want
								plain, err = f.Apart(func(one stores.Find) ([][]stores.Value, error) { return r.Find(context.Background(), one) })
								return err
							}))
							if fmt.Sprint(rows) != fmt.Sprint(plain) || len(found) != len(rows) || fmt.Sprint(found) != fmt.Sprint(want) {
								t.Errorf("%s, list %d of %s for %v:\ngot  %v %v\nwant %v %v", name, i, of.Name, scope, rows, found, plain, want)
							}
							for n := range found {
								many += len(found[n])
								for m := range found[n] {
									if !reflect.DeepEqual(found[n][m], want[n][m]) {
										t.Errorf("%s, list %d of %s: %#v, want %#v", name, i, of.Name, found[n][m], want[n][m])
									}
								}
							}
						}
					}
				}
			}
			if many < 100 {
				t.Error("the lists held next to nothing")
			}
		}
	}},
	{"what belongs to a row comes with it, in its order", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		w.fillLists()
		var parts, none [][][]stores.Value
		rows, err := w.find(holding(1, 2), stores.Find{Entity: w.workstream, Select: []stores.Path{{Field: 2}}, Last: true, Lists: []stores.List{
			{Entity: w.request, By: stores.Path{Field: reqWorkstream}, Select: []stores.Path{{Field: reqSubtype}}, Order: []stores.Order{{Path: stores.Path{Field: reqDue}}}, Into: &parts},
			{Entity: w.request, By: stores.Path{Field: reqWorkstream}, Select: []stores.Path{{Field: reqSubtype}}, Where: &stores.Cond{Op: stores.False}, Into: &none},
		}})
		w.must(err)
		if got, want := fmt.Sprint(rows, parts, none), `[["stream 1"] ["stream 2"]] [[["ADDRESS"] ["TAX"] ["IDENTITY"] ["WEALTH"]] [["IDENTITY"]]] [[] []]`; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}},
	{"a list by what is no reference to the rows is refused", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		for _, by := range []stores.Path{{Field: reqSubtype}, {Field: reqCountry}, {Field: 99}, {Count: w.submission, By: 1}, {Field: reqWorkstream, Marks: true}, {Steps: []stores.Step{{Field: reqSubtype, To: w.case_}}, Field: 1}} {
			_, err := w.find(holding(1), stores.Find{Entity: w.workstream, Lists: []stores.List{{Entity: w.request, By: by, Select: []stores.Path{{Field: reqID}}, Into: new([][][]stores.Value)}}})
			if !errors.Is(err, stores.ErrInvalid) {
				t.Errorf("%v: %v", by, err)
			}
		}
		if _, err := w.find(holding(1), stores.Find{Entity: w.workstream, Lists: []stores.List{{Entity: w.request, By: stores.Path{Field: reqWorkstream}, Into: new([][][]stores.Value)}}}); !errors.Is(err, stores.ErrInvalid) {
			t.Error("a list of nothing:", err)
		}
	}},
}
