// Package storetest defines what a store promises.
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T, entities []*stores.Entity) stores.Store { … })
//	}
//
// A backend that passes all tests is a valid store; no backend promises a behaviour that no
// subtest here checks. The cases use a store through its interface alone, so that they hold for
// every dialect of SQL.
package storetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"verbatim/stores"
)

// Open returns a new store, closed when the test ends, to which the entities have been migrated.
// For nil entities nothing has been migrated: the database is empty.
type Open func(t *testing.T, entities []*stores.Entity) stores.Store

// Run checks every promise of a backend, or those of some groups.
func Run(t *testing.T, open Open, only ...string) {
	for _, group := range []struct {
		name  string
		cases []testCase
	}{
		{"values", valueCases},
		{"scope", scopeCases},
		{"hidden", hiddenCases},
		{"write", writeCases},
		{"find", findCases},
		{"lists", listCases},
		{"journal", journalCases},
		{"transactions", transactionCases},
		{"principals", principalCases},
		{"migrate", migrateCases},
		{"query", queryCases},
		{"jobs", jobCases},
		{"marks", markCases},
		{"names", nameCases},
		{"existing", existingCases},
		{"search", searchCases},
		{"tables", tableCases},
	} {
		if len(only) > 0 && !slices.Contains(only, group.name) {
			continue
		}
		t.Run(group.name, func(t *testing.T) {
			t.Parallel()
			for _, c := range group.cases {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					c.run(t, open)
				})
			}
		})
	}
}

type testCase struct {
	name string
	run  func(t *testing.T, open Open)
}

// The entities that the cases use. A cbu owns itself; cases, workstreams,
// requests and submissions belong to it over ever longer paths; a diary page
// belongs to the principal who wrote it; countries belong to everybody.
type schema struct {
	cbu, case_, workstream, request, submission, diary, country *stores.Entity
}

// Schema is what most cases give to Open, made anew: a store that costs much to make may be a copy of
// one that was made for it.
func Schema() []*stores.Entity { return newSchema().all() }

func (s *schema) all() []*stores.Entity {
	return []*stores.Entity{s.cbu, s.case_, s.workstream, s.request, s.submission, s.diary, s.country}
}

// Fields of request, in order.
const (
	reqID = iota
	reqWorkstream
	reqSubtype
	reqStatus
	reqDue
	reqVisible
	reqNotes
	reqAmount
	reqTypes
	reqCreated
	reqGrace
	reqCount
	reqReference
	reqCountry
)

func newSchema() *schema {
	key := func(column string) stores.Field {
		return stores.Field{Name: column, Column: column, Kind: stores.UUID, Required: true}
	}
	ref := func(name string, to *stores.Entity, required bool) stores.Field {
		return stores.Field{Name: name, Column: name + "_id", Kind: stores.UUID, Ref: to, Required: required}
	}
	field := func(name string, kind stores.Kind) stores.Field {
		return stores.Field{Name: name, Column: name, Kind: kind}
	}
	required := func(name string, kind stores.Kind) stores.Field {
		f := field(name, kind)
		f.Required = true
		return f
	}
	entity := func(name, table string, fields ...stores.Field) *stores.Entity {
		return &stores.Entity{Name: name, Table: table, Fields: fields, Managed: true, Place: "test.yaml:1:1"}
	}
	s := new(schema)
	s.cbu = entity("cbu", "ob.cbus", key("cbu_id"), required("name", stores.String))
	s.cbu.Unique = [][]int{{1}}
	s.case_ = entity("case", "kyc.cases", key("case_id"), ref("cbu", s.cbu, true), field("stage", stores.String))
	s.case_.Scope = []stores.Step{{Field: 1, To: s.cbu}}
	s.case_.Unique = [][]int{{2}}
	s.workstream = entity("workstream", "kyc.workstreams", key("workstream_id"), ref("case", s.case_, true), field("name", stores.String))
	s.workstream.Scope = append([]stores.Step{{Field: 1, To: s.case_}}, s.case_.Scope...)
	s.country = entity("country", "ref.countries", stores.Field{Name: "code", Column: "code", Kind: stores.String, Required: true}, field("name", stores.String))
	s.country.Access = stores.ForAll
	status := required("status", stores.String)
	status.Default, status.Codes = stores.NewString("PENDING"), []string{"PENDING", "PARTIALLY_FULFILLED", "FULFILLED"}
	visible := required("visible", stores.Bool)
	visible.Default = stores.NewBool(true)
	subtype := required("subtype", stores.String)
	s.request = entity("request", "kyc.requests",
		key("request_id"), ref("workstream", s.workstream, true), subtype, status,
		field("due_date", stores.Date), visible, field("notes", stores.String), field("amount", stores.Decimal),
		field("types", stores.JSON), field("created_at", stores.Time), field("grace", stores.Duration),
		field("count", stores.Int), field("reference", stores.String), ref("country", s.country, false))
	s.request.Fields[reqCountry].Kind = stores.String
	s.request.Scope = append([]stores.Step{{Field: reqWorkstream, To: s.workstream}}, s.workstream.Scope...)
	s.request.Unique = [][]int{{reqWorkstream, reqSubtype}, {reqReference}}
	s.submission = entity("submission", "kyc.submissions", key("submission_id"), ref("request", s.request, true), field("note", stores.String), ref("previous", nil, false))
	s.submission.Fields[3].Ref = s.submission
	s.submission.Scope = append([]stores.Step{{Field: 1, To: s.request}}, s.request.Scope...)
	s.diary = entity("diary", "own.diaries", key("page_id"), required("owner", stores.String), field("text", stores.String))
	s.diary.Scope, s.diary.Access = []stores.Step{{Field: 1}}, stores.ByPrincipal
	return s
}

// id makes the nth key of a kind, in a readable form.
func id(kind string, n int) stores.Value {
	v, ok := stores.ParseUUID(fmt.Sprintf("%08x-0000-4000-8000-%012x", kind[0], n))
	if !ok {
		panic("storetest: bad id")
	}
	return v
}

func str(s string) stores.Value { return stores.NewString(s) }

func dec(s string) stores.Value {
	v, ok := stores.ParseDecimal(s)
	if !ok {
		panic("storetest: bad decimal " + s)
	}
	return v
}

func date(s string) stores.Value {
	v, ok := stores.ParseDate(s)
	if !ok {
		panic("storetest: bad date " + s)
	}
	return v
}

func instant(s string) stores.Value {
	v, ok := stores.ParseTime(s)
	if !ok {
		panic("storetest: bad time " + s)
	}
	return v
}

func list(s string) stores.Value {
	v, err := stores.ParseJSON(s)
	if err != nil {
		panic(err)
	}
	return v
}

var everything = stores.Scope{Principal: "analyst", All: true}

func holding(cbus ...int) stores.Scope {
	s := stores.Scope{Principal: "pierre", Holds: map[string][]stores.Value{}}
	for _, n := range cbus {
		s.Holds["cbu"] = append(s.Holds["cbu"], id("cbu", n))
	}
	return s
}

// A world is a store with two cbus. Number n has case n and workstream n; the first owns requests
// 1 to 4, the second request 11. Request 1 has submissions 1 and 2.
type world struct {
	stores.Store
	*schema
	t *testing.T
}

func newWorld(t *testing.T, open Open) *world {
	t.Helper()
	s := newSchema()
	w := &world{Store: open(t, s.all()), schema: s, t: t}
	var b stores.Batch
	add := func(e *stores.Entity, key stores.Value, set ...stores.Assign) {
		b.Changes = append(b.Changes, insert(e, key, set...))
	}
	add(s.country, str("DE"), stores.Assign{Field: 1, Value: str("Germany")})
	for n := 1; n <= 2; n++ {
		add(s.cbu, id("cbu", n), stores.Assign{Field: 1, Value: str(fmt.Sprint("CBU ", n))})
		add(s.case_, id("case", n), stores.Assign{Field: 1, Value: id("cbu", n)})
		add(s.workstream, id("workstream", n), stores.Assign{Field: 1, Value: id("case", n)}, stores.Assign{Field: 2, Value: str(fmt.Sprint("stream ", n))})
	}
	request := func(n, stream int, subtype, due, created, amount string) {
		set := []stores.Assign{{Field: reqWorkstream, Value: id("workstream", stream)}, {Field: reqSubtype, Value: str(subtype)}}
		if due != "" {
			set = append(set, stores.Assign{Field: reqDue, Value: date(due)})
		}
		if amount != "" {
			set = append(set, stores.Assign{Field: reqAmount, Value: dec(amount)})
		}
		set = append(set, stores.Assign{Field: reqCreated, Value: instant(created)})
		add(s.request, id("request", n), set...)
	}
	request(1, 1, "IDENTITY", "2025-01-15", "2024-12-02T09:00:00Z", "9.50")
	request(2, 1, "ADDRESS", "", "2024-12-02T09:00:00.5Z", "10")
	request(3, 1, "TAX", "2025-01-10", "2024-12-02T09:00:01Z", "10.00")
	request(4, 1, "WEALTH", "", "2024-12-01T23:59:59Z", "")
	request(11, 2, "IDENTITY", "2025-01-01", "2024-12-01T00:00:00Z", "100")
	for n := 1; n <= 2; n++ {
		add(s.submission, id("submission", n), stores.Assign{Field: 1, Value: id("request", 1)})
	}
	add(s.diary, id("diary", 1), stores.Assign{Field: 1, Value: str("pierre")}, stores.Assign{Field: 2, Value: str("mine")})
	add(s.diary, id("diary", 2), stores.Assign{Field: 1, Value: str("thomas")}, stores.Assign{Field: 2, Value: str("his")})
	w.must(w.apply(everything, b))
	return w
}

func insert(e *stores.Entity, key stores.Value, set ...stores.Assign) stores.Change {
	return stores.Change{Op: stores.Insert, Entity: e, Key: key, Set: set}
}

func update(e *stores.Entity, key stores.Value, set ...stores.Assign) stores.Change {
	return stores.Change{Op: stores.Update, Entity: e, Key: key, Set: set}
}

func remove(e *stores.Entity, key stores.Value) stores.Change {
	return stores.Change{Op: stores.Delete, Entity: e, Key: key}
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// apply commits a batch in a transaction of its own.
func (w *world) apply(scope stores.Scope, b stores.Batch) error {
	return w.Update(context.Background(), scope, func(tx stores.Tx) error {
		return tx.Apply(context.Background(), b)
	})
}

func (w *world) do(scope stores.Scope, changes ...stores.Change) error {
	return w.apply(scope, stores.Batch{Changes: changes})
}

func (w *world) get(scope stores.Scope, e *stores.Entity, key stores.Value) (row stores.Row, err error) {
	err = w.View(context.Background(), scope, func(r stores.Reader) error {
		row, err = r.Get(context.Background(), e, key)
		return err
	})
	return row, err
}

func (w *world) find(scope stores.Scope, f stores.Find) (rows [][]stores.Value, err error) {
	err = w.View(context.Background(), scope, func(r stores.Reader) error {
		rows, err = r.Find(context.Background(), f)
		return err
	})
	return rows, err
}

// keys finds rows and returns their keys in order.
func (w *world) keys(scope stores.Scope, f stores.Find) []stores.Value {
	w.t.Helper()
	f.Select = []stores.Path{{Field: f.Entity.Key}}
	rows, err := w.find(scope, f)
	w.must(err)
	var keys []stores.Value
	for _, r := range rows {
		keys = append(keys, r[0])
	}
	return keys
}

func (w *world) wantKeys(scope stores.Scope, f stores.Find, kind string, want ...int) {
	w.t.Helper()
	got := w.keys(scope, f)
	ok := len(got) == len(want)
	for i := 0; ok && i < len(want); i++ {
		ok = got[i] == id(kind, want[i])
	}
	if !ok {
		w.t.Errorf("found %v, want %s %v", got, kind, want)
	}
}

func entry(verb string) stores.Entry {
	return stores.Entry{
		Time: time.Date(2025, 1, 3, 10, 0, 0, 123456789, time.UTC), Principal: "pierre", Roles: []string{"client"},
		Session: "s1", Source: "test.dsl:1", Verb: verb, Call: "client." + verb, Outcome: "ok", Changes: "[]", Palette: "p1",
	}
}
