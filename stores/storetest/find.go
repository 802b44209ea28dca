package storetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"verbatim/stores"
)

func (w *world) toCBU() []stores.Step {
	return []stores.Step{{Field: reqWorkstream, To: w.workstream}, {Field: 1, To: w.case_}, {Field: 1, To: w.cbu}}
}

var findCases = []testCase{
	{"a last read is like any other, and more may follow", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		for _, scope := range []stores.Scope{everything, holding(1), holding(2), {}} {
			for _, f := range []stores.Find{{Entity: w.request}, {Entity: w.request, Limit: 2}, {Entity: w.submission}, {Entity: w.country}, {Entity: w.diary}} {
				last := f
				last.Last = true
				for name, within := range map[string]func(func(stores.Reader) error) error{
					"view": func(fn func(stores.Reader) error) error { return w.View(context.Background(), scope, fn) },
					"update": func(fn func(stores.Reader) error) error {
						return w.Update(context.Background(), scope, func(tx stores.Tx) error { return fn(tx) })
					},
				} {
					w.must(within(func(r stores.Reader) error {
						first, err1 := r.Find(context.Background(), last)
						then, err2 := r.Find(context.Background(), f)
						again, err3 := r.Find(context.Background(), last)
						if !reflect.DeepEqual(first, then) || !reflect.DeepEqual(first, again) || errors.Is(err1, stores.ErrLimit) != errors.Is(err2, stores.ErrLimit) || errors.Is(err2, stores.ErrLimit) != errors.Is(err3, stores.ErrLimit) {
							t.Errorf("%s of %s: %v, %v, then %v, %v, then %v, %v", name, f.Entity.Name, first, err1, then, err2, again, err3)
						}
						return nil
					}))
				}
			}
		}
	}},
	{"a last read may come with rows and with lists, all of one moment", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		w.fillLists()
		for _, scope := range []stores.Scope{everything, holding(1), holding(2), {}} {
			w.must(w.View(context.Background(), scope, func(r stores.Reader) error {
				ask := func(last bool, limit int) (string, error) {
					var parts [][][]stores.Value
					asks := []stores.Ask{
						{Entity: w.cbu, Keys: []stores.Value{id("cbu", 1), id("cbu", 2), id("cbu", 9)}},
						{Entity: w.request, Keys: []stores.Value{id("request", 1)}},
						{Find: &stores.Find{Entity: w.workstream, Limit: limit, Last: last, Lists: []stores.List{{Entity: w.request, By: stores.Path{Field: reqWorkstream}, Select: []stores.Path{{Field: reqSubtype}}, Into: &parts}}}},
					}
					err := r.Together(context.Background(), asks)
					return fmt.Sprint(asks[0].Rows, asks[1].Rows, asks[2].Found, parts), err
				}
				want, err := ask(false, 0)
				w.must(err)
				for range 2 { // a read may follow one marked Last after all
					got, err := ask(true, 0)
					if w.must(err); got != want {
						t.Errorf("last, it is\n%s\nand otherwise\n%s", got, want)
					}
				}
				// After an error the reader still works, or says why not.
				if scope.All {
					if _, err := ask(true, 1); !errors.Is(err, stores.ErrLimit) {
						t.Error("more rows than the limit:", err)
					}
				}
				return nil
			}))
		}
	}},
	{"what a client sees, in its order", func(t *testing.T, open Open) {
		// O24: only what is meant for the client and not settled; by due date,
		// without one last, then by age; how much was submitted.
		w := newWorld(t, open)
		w.must(w.do(everything,
			update(w.request, id("request", 3), stores.Assign{Field: reqVisible, Value: stores.NewBool(false)}),
			insert(w.request, id("request", 5), stores.Assign{Field: reqWorkstream, Value: id("workstream", 1)}, stores.Assign{Field: reqSubtype, Value: str("X")}, stores.Assign{Field: reqStatus, Value: str("FULFILLED")}),
			insert(w.request, id("request", 6), stores.Assign{Field: reqWorkstream, Value: id("workstream", 1)}, stores.Assign{Field: reqSubtype, Value: str("Y")}, stores.Assign{Field: reqDue, Value: date("2025-01-02")})))
		rows, err := w.find(holding(1), stores.Find{
			Entity: w.request,
			Select: []stores.Path{{Field: reqID}, {Count: w.submission, By: 1}, {Steps: w.toCBU()[:1], Field: 2}},
			Where: &stores.Cond{Op: stores.And, Kids: []stores.Cond{
				{Op: stores.Eq, Path: stores.Path{Field: reqVisible}, Value: stores.NewBool(true)},
				{Op: stores.Ne, Path: stores.Path{Field: reqStatus}, Value: str("FULFILLED")},
			}},
			Order: []stores.Order{{Path: stores.Path{Field: reqDue}}, {Path: stores.Path{Field: reqCreated}}},
		})
		w.must(err)
		got := fmt.Sprint(rows)
		want := fmt.Sprint([][]stores.Value{
			{id("request", 6), stores.NewInt(0), str("stream 1")},
			{id("request", 1), stores.NewInt(2), str("stream 1")},
			{id("request", 4), stores.NewInt(0), str("stream 1")},
			{id("request", 2), stores.NewInt(0), str("stream 1")},
		})
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}},
	{"nulls are last in both directions, and the key decides", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		by := func(field int, desc bool) stores.Find {
			return stores.Find{Entity: w.request, Order: []stores.Order{{Path: stores.Path{Field: field}, Desc: desc}}}
		}
		w.wantKeys(holding(1), by(reqDue, false), "request", 3, 1, 2, 4)
		w.wantKeys(holding(1), by(reqDue, true), "request", 1, 3, 2, 4)
		w.wantKeys(holding(1), by(reqAmount, false), "request", 1, 2, 3, 4)
		w.wantKeys(holding(1), by(reqAmount, true), "request", 2, 3, 1, 4)
		w.wantKeys(holding(1), by(reqCreated, false), "request", 4, 1, 2, 3)
		w.wantKeys(holding(1), by(reqNotes, true), "request", 1, 2, 3, 4)
		w.wantKeys(holding(1), stores.Find{Entity: w.request, Order: []stores.Order{{Path: stores.Path{Count: w.submission, By: 1}}, {Path: stores.Path{Field: reqID}, Desc: true}}}, "request", 4, 3, 2, 1)
	}},
	{"decimals are compared exactly", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		where := func(op stores.CondOp, v stores.Value) stores.Find {
			return stores.Find{Entity: w.request, Where: &stores.Cond{Op: op, Path: stores.Path{Field: reqAmount}, Value: v}}
		}
		w.wantKeys(holding(1), where(stores.Eq, dec("10.0")), "request", 2, 3)
		w.wantKeys(holding(1), where(stores.Eq, stores.NewInt(10)), "request", 2, 3)
		w.wantKeys(holding(1), where(stores.Lt, dec("10")), "request", 1)
		w.wantKeys(holding(1), where(stores.Le, dec("10.0000000000000000000000001")), "request", 1, 2, 3)
		w.wantKeys(holding(1), where(stores.Lt, dec("10.0000000000000000000000001")), "request", 1, 2, 3)
		w.wantKeys(holding(1), where(stores.Gt, dec("9.4999999999999999999999999")), "request", 1, 2, 3)
		w.wantKeys(holding(1), where(stores.Eq, dec("9.5000000000000000000000001")), "request")
		w.wantKeys(holding(1), where(stores.In, list("[10,9.5]")), "request", 1, 2, 3)
	}},
	{"a list is looked in", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		in := func(field int, l string) stores.Find {
			return stores.Find{Entity: w.request, Where: &stores.Cond{Op: stores.In, Path: stores.Path{Field: field}, Value: list(l)}}
		}
		w.wantKeys(holding(1), in(reqSubtype, `["TAX","ADDRESS","NONE"]`), "request", 2, 3)
		w.wantKeys(holding(1), in(reqSubtype, `[]`), "request")
		w.wantKeys(holding(1), in(reqDue, `["2025-01-10",null]`), "request", 2, 3, 4)
		w.wantKeys(holding(1), in(reqCreated, `["2024-12-02T10:00:00+01:00"]`), "request", 1)
		w.must(w.do(everything, update(w.request, id("request", 4), stores.Assign{Field: reqCount, Value: stores.NewInt(-5)})))
		long := func(other string, items ...string) string {
			return "[" + strings.Join(append(slices.Repeat([]string{other}, 100), items...), ",") + "]"
		}
		w.wantKeys(holding(1), in(reqSubtype, long(`"NONE"`, `"TAX"`, `"IDENTITY"`)), "request", 1, 3)
		w.wantKeys(holding(1), in(reqAmount, long("0.5", "9.5", "10", "77")), "request", 1, 2, 3)
		w.wantKeys(holding(1), in(reqCount, long("7", "-5")), "request", 4)
		w.wantKeys(holding(1), in(reqCreated, long(`"2001-01-01T00:00:00Z"`, `"2024-12-02T10:00:00+01:00"`)), "request", 1)
		if _, err := w.find(holding(1), in(reqDue, `["soon"]`)); !errors.Is(err, stores.ErrInvalid) {
			t.Error(err)
		}
		if _, err := w.find(holding(1), stores.Find{Entity: w.request, Where: &stores.Cond{Op: stores.In, Path: stores.Path{Field: reqDue}, Value: str("x")}}); !errors.Is(err, stores.ErrInvalid) {
			t.Error(err)
		}
	}},
	{"no select is every field in order", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		rows, err := w.find(holding(1), stores.Find{Entity: w.request})
		w.must(err)
		row, err := w.get(holding(1), w.request, id("request", 1))
		w.must(err)
		if len(rows) != 4 || !slices.Equal(rows[0], row.Values) {
			t.Errorf("%v\n%v", rows, row.Values)
		}
	}},
	{"too many rows are an error and never a part", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		for limit, ok := range map[int]bool{0: true, 3: false, 4: true, 5: true, 1 << 40: true} {
			rows, err := w.find(holding(1), stores.Find{Entity: w.request, Limit: limit})
			if ok && (err != nil || len(rows) != 4) || !ok && (!errors.Is(err, stores.ErrLimit) || rows != nil) {
				t.Errorf("limit %d: %d rows, %v", limit, len(rows), err)
			}
		}
	}},
	{"a page is the first rows in order, and the next begins behind it", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		all, err := w.find(holding(1), stores.Find{Entity: w.request})
		w.must(err)
		for size := 1; size <= len(all)+1; size++ {
			var got [][]stores.Value
			f := stores.Find{Entity: w.request, Limit: size, Cut: true}
			for {
				page, err := w.find(holding(1), f)
				w.must(err)
				if len(page) > size {
					t.Fatalf("%d rows of at most %d", len(page), size)
				}
				if got = append(got, page...); len(page) < size {
					break
				}
				f.Where = &stores.Cond{Op: stores.Gt, Path: stores.Path{Field: w.request.Key}, Value: page[len(page)-1][w.request.Key]}
			}
			if !reflect.DeepEqual(got, all) {
				t.Errorf("by %d: %d rows, want %d in order", size, len(got), len(all))
			}
		}
	}},
	{"a path that leads nowhere is refused", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		for name, p := range map[string]stores.Path{
			"no field":          {Field: 99},
			"no reference":      {Steps: []stores.Step{{Field: reqNotes, To: w.case_}}},
			"another reference": {Steps: []stores.Step{{Field: reqWorkstream, To: w.case_}}},
			"a foreign count":   {Count: w.workstream, By: 1},
		} {
			if _, err := w.find(everything, stores.Find{Entity: w.request, Select: []stores.Path{p}}); !errors.Is(err, stores.ErrInvalid) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}},
	{"any condition and order finds what reading every row would", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		model := w.fill(t)
		rapid.Check(t, func(r *rapid.T) { model.check(r) })
	}},
}

// A model holds the same rows as the store, in memory.
type model struct {
	*world
	rows  [][]stores.Value // of request
	paths []stores.Path
	of    func(row []stores.Value, p stores.Path) stores.Value
}

// fill adds requests whose fields are often null and often equal.
func (w *world) fill(t *testing.T) *model {
	var b stores.Batch
	pick := func(n, salt int, values ...stores.Value) stores.Value { return values[(n*7+n/3*salt)%len(values)] }
	for n := 100; n < 160; n++ {
		set := []stores.Assign{
			{Field: reqWorkstream, Value: id("workstream", 1+n%2)},
			{Field: reqSubtype, Value: str(fmt.Sprint("S", n))},
			{Field: reqStatus, Value: pick(n, 1, str("PENDING"), str("FULFILLED"))},
			{Field: reqDue, Value: pick(n, 2, stores.Value{}, date("2025-01-10"), date("2025-02-01"))},
			{Field: reqVisible, Value: stores.NewBool(n%3 == 0)},
			{Field: reqNotes, Value: pick(n, 3, stores.Value{}, str(""), str("A"), str("a"), str("ä"))},
			{Field: reqAmount, Value: pick(n, 5, stores.Value{}, dec("1"), dec("1.0"), dec("9"), dec("10.00"), dec("-3"))},
			{Field: reqTypes, Value: pick(n, 7, stores.Value{}, list("[]"), list(`["A"]`))},
			{Field: reqCreated, Value: pick(n, 11, stores.Value{}, instant("2024-12-02T09:00:00Z"), instant("2024-12-02T09:00:00.5Z"))},
			{Field: reqGrace, Value: pick(n, 13, stores.Value{}, stores.NewDuration(1000), stores.NewDuration(2000))},
			{Field: reqCount, Value: pick(n, 17, stores.Value{}, stores.NewInt(1), stores.NewInt(9), stores.NewInt(10))},
			{Field: reqCountry, Value: pick(n, 19, stores.Value{}, str("DE"))},
		}
		b.Changes = append(b.Changes, insert(w.request, id("request", n), set...))
		if n%4 == 0 {
			b.Changes = append(b.Changes, insert(w.submission, id("submission", n), stores.Assign{Field: 1, Value: id("request", n)}))
		}
	}
	w.must(w.apply(everything, b))
	m := &model{world: w}
	var err error
	m.rows, err = w.find(holding(1, 2), stores.Find{Entity: w.request})
	w.must(err)
	for f := range w.request.Fields {
		m.paths = append(m.paths, stores.Path{Field: f})
	}
	name := stores.Path{Steps: w.toCBU(), Field: 1}
	stage := stores.Path{Steps: w.toCBU()[:2], Field: 2}
	country := stores.Path{Steps: []stores.Step{{Field: reqCountry, To: w.country}}, Field: 1}
	count := stores.Path{Count: w.submission, By: 1}
	m.paths = append(m.paths, name, stage, country, count)
	m.of = func(row []stores.Value, p stores.Path) stores.Value {
		switch {
		case p.Count != nil && row[reqID] == id("request", 1):
			return stores.NewInt(2)
		case p.Count != nil:
			for n := 100; n < 160; n += 4 {
				if row[reqID] == id("request", n) {
					return stores.NewInt(1)
				}
			}
			return stores.NewInt(0)
		case len(p.Steps) == 3:
			if row[reqWorkstream] == id("workstream", 1) {
				return str("CBU 1")
			}
			return str("CBU 2")
		case len(p.Steps) == 2:
			return stores.Value{}
		case len(p.Steps) == 1:
			if row[reqCountry].IsNull() {
				return stores.Value{}
			}
			return str("Germany")
		}
		return row[p.Field]
	}
	return m
}

func (m *model) path(r *rapid.T) stores.Path {
	return m.paths[rapid.IntRange(0, len(m.paths)-1).Draw(r, "path")]
}

func (m *model) cond(r *rapid.T, depth int) stores.Cond {
	op := stores.CondOp(rapid.IntRange(int(stores.True), int(stores.Same)).Draw(r, "op"))
	if depth == 0 && (op == stores.And || op == stores.Or || op == stores.Not) {
		op = stores.Eq
	}
	c := stores.Cond{Op: op}
	switch op {
	case stores.True, stores.False:
	case stores.And, stores.Or:
		for range rapid.IntRange(0, 3).Draw(r, "kids") {
			c.Kids = append(c.Kids, m.cond(r, depth-1))
		}
	case stores.Not:
		c.Kids = []stores.Cond{m.cond(r, depth-1)}
	default:
		c.Path = m.path(r)
		// Values of existing rows, so that conditions are true now and then.
		value := func() stores.Value { return m.of(rapid.SampledFrom(m.rows).Draw(r, "row"), c.Path) }
		switch {
		case op >= stores.Contains:
			// A part of an existing value, in either case.
			text := []rune(value().Text())
			from := rapid.IntRange(0, len(text)).Draw(r, "from")
			c.Value = str(string(text[from:rapid.IntRange(from, len(text)).Draw(r, "to")]))
			if c.Lower = rapid.Bool().Draw(r, "lower"); c.Lower && rapid.Bool().Draw(r, "small") {
				c.Value = str(strings.ToLower(c.Value.Text()))
			}
		case op == stores.In:
			var items []stores.Value
			for range rapid.IntRange(0, 4).Draw(r, "items") {
				items = append(items, value())
			}
			c.Value = stores.NewList(items...)
		case rapid.Bool().Draw(r, "other"):
			p := m.path(r)
			c.Other = &p
		case rapid.IntRange(0, 9).Draw(r, "odd") == 0:
			c.Value = m.of(rapid.SampledFrom(m.rows).Draw(r, "row"), m.path(r))
		default:
			c.Value = value()
		}
	}
	return c
}

func (m *model) holds(row []stores.Value, c stores.Cond) bool {
	switch c.Op {
	case stores.True:
		return true
	case stores.False:
		return false
	case stores.Not:
		return !m.holds(row, c.Kids[0])
	case stores.And:
		return !slices.ContainsFunc(c.Kids, func(k stores.Cond) bool { return !m.holds(row, k) })
	case stores.Or:
		return slices.ContainsFunc(c.Kids, func(k stores.Cond) bool { return m.holds(row, k) })
	}
	a, b := m.of(row, c.Path), c.Value
	if c.Op == stores.In {
		e, field := m.request, c.Path.Field
		for _, s := range c.Path.Steps {
			e = s.To
		}
		kind := stores.Int
		if c.Path.Count == nil {
			kind = e.Fields[field].Holds()
		}
		items, err := b.Items(kind)
		if err != nil {
			panic(err)
		}
		return slices.ContainsFunc(items, func(v stores.Value) bool { return stores.Equal(a, v) })
	}
	if c.Op >= stores.Contains {
		return a.Kind() == stores.String && c.OfText(a.Text())
	}
	if c.Other != nil {
		b = m.of(row, *c.Other)
	}
	n, ordered := stores.Compare(a, b)
	switch c.Op {
	case stores.Eq:
		return stores.Equal(a, b)
	case stores.Ne:
		return !stores.Equal(a, b)
	case stores.Lt:
		return ordered && n < 0
	case stores.Le:
		return ordered && n <= 0
	case stores.Gt:
		return ordered && n > 0
	}
	return ordered && n >= 0
}

func (m *model) check(r *rapid.T) {
	c := m.cond(r, 3)
	f := stores.Find{Entity: m.request, Where: &c, Select: []stores.Path{{Field: reqID}}}
	for range rapid.IntRange(0, 2).Draw(r, "orders") {
		p := m.path(r)
		if p.Count == nil && len(p.Steps) == 0 && p.Field == reqTypes {
			continue // JSON has no order
		}
		f.Order = append(f.Order, stores.Order{Path: p, Desc: rapid.Bool().Draw(r, "desc")})
	}
	var want []string
	rows := slices.Clone(m.rows)
	slices.SortFunc(rows, func(x, y []stores.Value) int {
		for _, o := range append(f.Order, stores.Order{Path: stores.Path{Field: reqID}}) {
			a, b := m.of(x, o.Path), m.of(y, o.Path)
			switch {
			case a.IsNull() && b.IsNull():
				continue
			case a.IsNull():
				return 1
			case b.IsNull():
				return -1
			}
			n, _ := stores.Compare(a, b)
			if o.Desc {
				n = -n
			}
			if n != 0 {
				return n
			}
		}
		return 0
	})
	for _, row := range rows {
		if m.holds(row, c) {
			want = append(want, row[reqID].Text())
		}
	}
	var got []string
	err := m.View(context.Background(), holding(1, 2), func(reader stores.Reader) error {
		found, err := reader.Find(context.Background(), f)
		for _, row := range found {
			got = append(got, row[0].Text())
		}
		return err
	})
	if err != nil {
		r.Fatalf("%+v: %v", f, err)
	}
	if !slices.Equal(got, want) {
		r.Fatalf("%+v %+v\n got %v\nwant %v", c, f.Order, got, want)
	}
}
