package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"verbatim/stores"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/storetest"
)

// legacy opens a database as an organisation may already have it.
func legacy(t testing.TB, sql string) *Store { return legacyBy(t, "", sql) }

// legacyBy is legacy with more in the URL.
func legacyBy(t testing.TB, more, sql string) *Store {
	t.Helper()
	db := pgtest.Database(t)
	run(t, db.Admin, sql+"; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO verbatim_app; GRANT SELECT ON ALL TABLES IN SCHEMA public TO verbatim_app_queries")
	s, err := Open(context.Background(), db.App+more, MigrateAs(db.Owner))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func mappedTo(table string, fields ...stores.Field) *stores.Entity {
	e := &stores.Entity{Name: "thing", Table: table, Place: "p.yaml:1:1", Access: stores.ForAll}
	e.Fields = append([]stores.Field{{Name: "id", Column: "id", Kind: stores.String, Required: true}}, fields...)
	return e
}

func of(name string, kind stores.Kind) stores.Field {
	return stores.Field{Name: name, Column: name, Kind: kind}
}

func find(s *Store, f stores.Find) (rows [][]stores.Value, err error) {
	ctx := context.Background()
	err = s.View(ctx, stores.Scope{All: true}, func(r stores.Reader) error {
		rows, err = r.Find(ctx, f)
		return err
	})
	return rows, err
}

// O2: the organisation's own tables are read, compared and written as they are; also through a pooler,
// where a client that sends moments as such has stored those of other zones a day off.
func TestTypesOfOthers(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]string{"prepared": "", "through a pooler": "&default_query_exec_mode=exec"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			typesOfOthers(t, more)
		})
	}
}

func typesOfOthers(t *testing.T, more string) {
	s := legacyBy(t, more, `CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE DOMAIN iban AS varchar(34); CREATE EXTENSION IF NOT EXISTS citext;
		CREATE TABLE things (id varchar(10) PRIMARY KEY, at timestamp, zoned timestamptz, day date, amount numeric(12,2), small smallint, data jsonb, text_data text, raw json,
			tags text[], keys uuid[], counts int[], mood mood, account iban, folded citext, padded char(5), spell interval, span bigint, yes boolean);
		INSERT INTO things VALUES ('a', '2025-01-03 10:00', '2025-01-03 11:00+01', '2025-01-03', 9.50, 7, '{"b": 1, "a": [ ]}', '{"b": 1, "a": [ ]}', '{"b": 1, "a": [ ]}',
			'{x,"y \" z",NULL}', '{00000000-0000-4000-8000-00000000000a}', '{1,2}', 'ok', 'LU28', 'Abc', 'xy', '1 day 00:00:01.5', 1500000, true); INSERT INTO things (id) VALUES ('b')`)
	e := mappedTo("things", of("at", stores.Time), of("zoned", stores.Time), of("day", stores.Date), of("amount", stores.Decimal), of("small", stores.Int), of("data", stores.JSON), of("text_data", stores.JSON),
		of("raw", stores.JSON), of("tags", stores.JSON), of("keys", stores.JSON), of("counts", stores.JSON), of("mood", stores.String), of("account", stores.String), of("folded", stores.String), of("padded", stores.String),
		of("spell", stores.Duration), of("span", stores.Duration), of("yes", stores.Bool))
	ctx := context.Background()
	plan, err := s.Migrate(ctx, []*stores.Entity{e}, false)
	if err != nil || len(plan.Problems) > 0 {
		t.Fatal(plan, err)
	}
	rows, err := find(s, stores.Find{Entity: e})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range rows[0] {
		got = append(got, v.Text())
	}
	want := `a|2025-01-03T10:00:00Z|2025-01-03T10:00:00Z|2025-01-03|9.50|7|{"a":[],"b":1}|{"a":[],"b":1}|{"a":[],"b":1}|["x","y \" z",null]|["00000000-0000-4000-8000-00000000000a"]|[1,2]|ok|LU28|Abc|xy|24h0m1.5s|1.5s|true`
	if strings.Join(got, "|") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "|"), want)
	}
	for f := range e.Fields {
		// Each is found by its own value, beside null, ordered, and written back.
		c := stores.Cond{Op: stores.Eq, Path: stores.Path{Field: f}, Value: rows[0][f]}
		for _, c := range []stores.Cond{c, {Op: stores.Not, Kids: []stores.Cond{{Op: stores.Ne, Path: c.Path, Value: c.Value}}}, {Op: stores.In, Path: c.Path, Value: stores.NewList(c.Value)}} {
			found, err := find(s, stores.Find{Entity: e, Where: &c, Order: []stores.Order{{Path: stores.Path{Field: f}}}})
			if err != nil || len(found) != 1 || found[0][0] != stores.NewString("a") {
				t.Errorf("%s: %v, %v", e.Fields[f].Name, found, err)
			}
		}
	}
	all := make([]int, len(e.Fields))
	var set []stores.Assign
	for i := range all {
		all[i] = i
		if i > 0 {
			set = append(set, stores.Assign{Field: i, Value: rows[0][i]})
		}
	}
	err = s.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
		return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{
			{Op: stores.Update, Entity: e, Key: stores.NewString("a"), Before: rows[0], Guard: all, Set: set},
			{Op: stores.Update, Entity: e, Key: stores.NewString("b"), Before: rows[1], Guard: all, Set: set},
			{Op: stores.Insert, Entity: e, Key: stores.NewString("c"), Set: set},
			{Op: stores.Insert, Entity: e, Key: stores.NewString("d"), Set: set},
			{Op: stores.Insert, Entity: e, Key: stores.NewString("e")},
		}})
	})
	if err != nil {
		t.Fatal(err)
	}
	// A moment just after midnight in another zone is the one of the day before in UTC, in both columns.
	early, _ := stores.Parse(stores.Time, "2026-03-01T00:30:00+02:00")
	err = s.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
		return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{{Op: stores.Insert, Entity: e, Key: stores.NewString("f"), Set: []stores.Assign{{Field: 1, Value: early}, {Field: 2, Value: early}}}}})
	})
	if err != nil {
		t.Fatal(err)
	}
	if found, err := find(s, stores.Find{Entity: e, Where: &stores.Cond{Op: stores.Eq, Path: stores.Path{Field: 1}, Value: early}}); err != nil || len(found) != 1 || found[0][1].Text() != "2026-02-28T22:30:00Z" || found[0][2].Text() != "2026-02-28T22:30:00Z" {
		t.Errorf("a moment of another zone is %v, %v", found, err)
	}
	again, err := find(s, stores.Find{Entity: e, Where: &stores.Cond{Op: stores.Ne, Path: stores.Path{Field: 0}, Value: stores.NewString("f")}})
	if err != nil || len(again) != 5 {
		t.Fatal(again, err)
	}
	for i, row := range again[:4] {
		if fmt.Sprint(row[1:]) != fmt.Sprint(rows[0][1:]) {
			t.Errorf("row %d came back as\n%v", i, row)
		}
	}
	if !again[4][9].IsNull() {
		t.Errorf("no list came back as %v", again[4][9])
	}
	// What the column would not take is refused, and its value is not told.
	for f, v := range map[int]stores.Value{5: stores.NewInt(1 << 40), 9: stores.NewObject([]string{"secret"}, []stores.Value{{}}), 11: stores.NewList(stores.NewString("secret")), 12: stores.NewString("secret"), 13: stores.NewString("secret" + strings.Repeat("x", 40))} {
		err := s.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
			return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{{Op: stores.Update, Entity: e, Key: stores.NewString("a"), Set: []stores.Assign{{Field: f, Value: v}}}}})
		})
		if !errors.Is(err, stores.ErrInvalid) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", e.Fields[f].Name, err)
		}
	}
}

// What could be misread is an error that names the field.
func TestValuesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	s := legacy(t, `CREATE TABLE things (id text PRIMARY KEY, spell interval, day date, at timestamptz, amount numeric, note text, list text);
		INSERT INTO things VALUES ('a', '1 month', 'infinity', 'infinity', 'NaN', 'x', '{secret')`)
	for _, f := range []stores.Field{of("spell", stores.Duration), of("day", stores.Date), of("at", stores.Time), of("amount", stores.Decimal), of("list", stores.JSON)} {
		_, err := find(s, stores.Find{Entity: mappedTo("things", f)})
		if !errors.Is(err, stores.ErrInvalid) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", f.Name, err)
		}
		if f.Kind != stores.Duration && f.Kind != stores.JSON && !strings.Contains(err.Error(), "thing."+f.Name) {
			t.Errorf("%s is not named: %v", f.Name, err)
		}
	}
}

// A declared type that would change a value, or that has no place here, is a
// problem.
func TestDeclaredTypes(t *testing.T) {
	t.Parallel()
	s := legacy(t, `CREATE TABLE things (id text PRIMARY KEY, a real, b double precision, c money, d bytea, e xml, f text, g integer, h date, i uuid, j boolean, k numeric, l inet[])`)
	var fields []stores.Field
	for name, kind := range map[string]stores.Kind{"a": stores.Decimal, "b": stores.Decimal, "c": stores.Decimal, "d": stores.String, "e": stores.String, "f": stores.UUID,
		"g": stores.Decimal, "h": stores.Time, "i": stores.String, "j": stores.Int, "k": stores.Int, "l": stores.JSON} {
		fields = append(fields, of(name, kind))
	}
	plan, err := s.Migrate(context.Background(), []*stores.Entity{mappedTo("things", fields...)}, false)
	if err != nil || len(plan.Problems) != len(fields) {
		t.Errorf("%d problems, %v\n%s", len(plan.Problems), err, strings.Join(plan.Problems, "\n"))
	}
}

// A view of others can carry an entity, and so can a table with policies of its
// owner's that look at tables of theirs.
func TestViewsAndPoliciesOfOthers(t *testing.T) {
	t.Parallel()
	s := legacy(t, `CREATE TABLE base (id text PRIMARY KEY, v text, secret text); INSERT INTO base VALUES ('a', 'one', 's'); CREATE VIEW things AS SELECT id, v FROM base;
		CREATE TABLE allowed (id text PRIMARY KEY); INSERT INTO allowed VALUES ('a'); CREATE TABLE guarded (id text PRIMARY KEY, v text); INSERT INTO guarded VALUES ('a', 'one'), ('b', 'two');
		ALTER TABLE guarded ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON guarded USING (EXISTS (SELECT 1 FROM allowed WHERE allowed.id = guarded.id))`)
	ctx := context.Background()
	for _, table := range []string{"things", "guarded"} {
		e := mappedTo(table, of("v", stores.String))
		if plan, err := s.Migrate(ctx, []*stores.Entity{e}, true); err != nil || len(plan.Problems) > 0 {
			t.Fatal(plan, err)
		}
		err := s.Update(ctx, stores.Scope{All: true}, func(r stores.Tx) error {
			if _, err := r.Get(ctx, e, stores.NewString("a")); err != nil {
				return err
			}
			rows, err := r.SQL(ctx, []*stores.Entity{e}, stores.SQL{Text: "SELECT v FROM " + table, Columns: []stores.Column{{Name: "v", Kind: stores.String}}})
			if len(rows) != 1 {
				t.Error(rows)
			}
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", table, err)
		}
	}
}

// A pool without prepared statements, as pgbouncer asks for one, gives the same.
func TestWithoutPreparedStatements(t *testing.T) {
	t.Parallel()
	_, entities, scope, db := bank(t)
	ctx := context.Background()
	for _, mode := range []string{"exec", "describe_exec", "cache_describe"} {
		s, err := Open(ctx, db.App+"&default_query_exec_mode="+mode)
		if err != nil {
			t.Fatal(err)
		}
		err = s.Update(ctx, scope, func(tx stores.Tx) error {
			err := tx.Apply(ctx, stores.Batch{Changes: []stores.Change{
				{Op: stores.Update, Entity: entities[1], Key: stores.NewInt(1), Set: []stores.Assign{{Field: 2, Value: stores.NewString(mode)}}},
				{Op: stores.Update, Entity: entities[1], Key: stores.NewInt(3), Set: []stores.Assign{{Field: 2, Value: stores.NewString(mode)}}},
			}, Entries: []stores.Entry{{Verb: mode, Roles: []string{"a"}}}})
			if err != nil {
				return err
			}
			rows, err := tx.SQL(ctx, entities, stores.SQL{Text: "SELECT count(*) AS n FROM kyc.notes WHERE text = :mode", Params: []string{"mode"}, Args: []stores.Value{stores.NewString(mode)}, Columns: []stores.Column{{Name: "n", Kind: stores.Int}}})
			if err == nil && rows[0][0] != stores.NewInt(2) {
				t.Errorf("%s: %v", mode, rows)
			}
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", mode, err)
		}
		storetest.Whole(t, s, -1)
		s.Close()
	}
	if s, err := Open(ctx, db.App+"&default_query_exec_mode=simple_protocol"); err == nil {
		s.Close()
		t.Error("the simple protocol is accepted")
	}
}

// Whatever digits a decimal has, they come back.
func TestDecimalsKeepTheirDigits(t *testing.T) {
	t.Parallel()
	s := legacy(t, `CREATE TABLE things (id text PRIMARY KEY, n numeric)`)
	e := mappedTo("things", of("n", stores.Decimal))
	ctx := context.Background()
	if plan, err := s.Migrate(ctx, []*stores.Entity{e}, true); err != nil || len(plan.Problems) > 0 {
		t.Fatal(plan, err)
	}
	n := 0
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.StringMatching(`-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,30})?`).Draw(r, "digits")
		want, ok := stores.ParseDecimal(text)
		if !ok {
			r.Fatal(text)
		}
		if zero, _ := stores.Compare(want, stores.NewInt(0)); zero == 0 {
			want, _ = stores.ParseDecimal(strings.TrimPrefix(text, "-"))
		}
		n++
		key := stores.NewString(fmt.Sprint(n))
		err := s.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
			if err := tx.Apply(ctx, stores.Batch{Changes: []stores.Change{{Op: stores.Insert, Entity: e, Key: key, Set: []stores.Assign{{Field: 1, Value: want}}}}}); err != nil {
				return err
			}
			row, err := tx.Get(ctx, e, key)
			if err == nil && row.Values[1] != want {
				r.Fatalf("%s came back as %s", want.Text(), row.Values[1].Text())
			}
			return err
		})
		if err != nil {
			r.Fatal(err)
		}
	})
}

// A database of a newer version is left alone.
func TestNewerSchema(t *testing.T) {
	t.Parallel()
	s := legacy(t, `CREATE TABLE verbatim_schema (version bigint); INSERT INTO verbatim_schema VALUES (99); ALTER TABLE verbatim_schema OWNER TO verbatim_owner`)
	plan, err := s.Migrate(context.Background(), nil, true)
	if err != nil || len(plan.Problems) != 1 || !strings.Contains(plan.Problems[0], "99") {
		t.Errorf("%+v, %v", plan, err)
	}
	var other *stores.VersionError
	if _, err := s.Identity(context.Background()); !errors.Is(err, stores.ErrVersion) || !errors.As(err, &other) || other.Is != 99 || other.Known != schemaVersion {
		t.Errorf("its identity is answered with %v", err)
	}
}

// An error tells neither a password nor a statement.
func TestOpenKeepsSecrets(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"postgres://u:hunter2@localhost:1/x", "postgres://u:hunter2@[/x", "postgres://u:hunter2@localhost/x?sslmode=wrong"} {
		_, err := Open(context.Background(), url)
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// SAFE-S4: tables of others carry marks without being altered, whatever they
// are: partitioned, a view, with keys of any kind.
func TestMarksInTablesOfOthers(t *testing.T) {
	t.Parallel()
	s := legacy(t, `CREATE TABLE parted (id bigint PRIMARY KEY, iban text) PARTITION BY RANGE (id); CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (10);
		CREATE TABLE padded (id char(5) PRIMARY KEY, iban text); CREATE TABLE named (id text PRIMARY KEY, iban text); CREATE VIEW seen AS SELECT * FROM named;
		INSERT INTO parted VALUES (1, ''); INSERT INTO padded VALUES ('ab', ''); INSERT INTO named VALUES ('it''s', '')`)
	ctx := context.Background()
	keyed := func(table string, kind stores.Kind) *stores.Entity {
		e := mappedTo(table, of("iban", stores.String))
		e.Name, e.Fields[0].Kind = table, kind
		return e
	}
	entities := []*stores.Entity{keyed("parted", stores.Int), keyed("padded", stores.String), keyed("named", stores.String), keyed("seen", stores.String)}
	if plan, err := s.Migrate(ctx, entities, true); err != nil || len(plan.Problems) > 0 {
		t.Fatal(plan, err)
	}
	all := stores.Scope{All: true}
	for i, key := range []stores.Value{stores.NewInt(1), stores.NewString("ab"), stores.NewString("it's"), stores.NewString("it's")} {
		e := entities[i]
		if i == 1 { // as the table has it
			rows, err := find(s, stores.Find{Entity: e})
			if err != nil || len(rows) != 1 {
				t.Fatal(rows, err)
			}
			key = rows[0][0]
		}
		var row stores.Row
		err := s.Update(ctx, all, func(tx stores.Tx) (err error) {
			err = tx.Apply(ctx, stores.Batch{Changes: []stores.Change{{Op: stores.Update, Entity: e, Key: key, Set: []stores.Assign{{Field: 1, Value: stores.NewString("DE89"), Origin: "document"}}}}})
			if err == nil {
				row, err = tx.Get(ctx, e, key)
			}
			return err
		})
		if err != nil || stores.MarkOf(row.Marks, 1) != "document" {
			t.Error(e.Table, row.Marks, err)
		}
		rows, err := find(s, stores.Find{Entity: e, Select: []stores.Path{{Marks: true}}})
		if err != nil || len(rows) != 1 || rows[0][0].Text() != `{ "iban" : "document" }` {
			t.Error(e.Table, rows, err)
		}
	}
}

// F19: what verbs need of tables of others is granted by who may, and said to who may not:
// no more than that, the right to lock rows among it.
func TestRightsOnTablesOfOthers(t *testing.T) {
	t.Parallel()
	db := pgtest.Database(t)
	run(t, db.Admin, `CREATE SCHEMA theirs; CREATE TABLE theirs.books (id serial PRIMARY KEY, name text); CREATE TABLE theirs.readers (id text PRIMARY KEY); CREATE VIEW theirs.shown AS SELECT * FROM theirs.readers;
		CREATE TABLE public.open (id text PRIMARY KEY); GRANT SELECT, UPDATE (id) ON public.open TO verbatim_app; GRANT SELECT ON public.open TO verbatim_app_queries; INSERT INTO theirs.readers VALUES ('ada')`)
	book := mappedTo("theirs.books", of("name", stores.String))
	book.Fields[0].Kind, book.Fields[0].Drawn, book.Added, book.Removed = stores.Int, true, true, true
	reader, shown, free := mappedTo("theirs.readers"), mappedTo("theirs.shown"), mappedTo("open")
	reader.Access, shown.Name, free.Name, book.Name = stores.ByPath, "shown", "open", "book"
	all := []*stores.Entity{book, reader, shown, free}
	ctx := context.Background()
	s, err := Open(ctx, db.App, MigrateAs(db.Owner))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	wants := []string{
		`GRANT USAGE ON SCHEMA "theirs" TO "verbatim_app"`,
		`GRANT SELECT, INSERT, UPDATE ("id"), DELETE ON "theirs"."books" TO "verbatim_app"`,
		`GRANT USAGE ON SEQUENCE theirs.books_id_seq TO "verbatim_app"`,
		`GRANT SELECT, UPDATE ("id") ON "theirs"."readers" TO "verbatim_app"`,
		`GRANT SELECT ON "theirs"."shown" TO "verbatim_app"`,
		`GRANT USAGE ON SCHEMA "theirs" TO "verbatim_app_queries"`,
		`GRANT SELECT ("id", "name") ON "theirs"."books" TO "verbatim_app_queries"`,
		`GRANT SELECT ("id") ON "theirs"."readers" TO "verbatim_app_queries"`,
		`GRANT SELECT ("id") ON "theirs"."shown" TO "verbatim_app_queries"`,
	}
	granted := func(plan stores.Plan) (these []string) {
		for _, step := range plan.Steps {
			if strings.Contains(step, "theirs") || strings.Contains(step, `"open"`) {
				these = append(these, step)
			}
		}
		return these
	}
	plan, err := s.Migrate(ctx, all, true)
	if err != nil || len(plan.Problems) != 1 || !strings.HasSuffix(plan.Problems[0], "whoever owns the tables runs "+strings.Join(wants, "; ")) || granted(plan) != nil {
		t.Fatalf("%v\n%s\n%s", err, strings.Join(plan.Problems, "\n"), strings.Join(granted(plan), "\n"))
	}
	run(t, db.Admin, "ALTER SCHEMA theirs OWNER TO verbatim_owner; ALTER TABLE theirs.books OWNER TO verbatim_owner; ALTER TABLE theirs.readers OWNER TO verbatim_owner; ALTER VIEW theirs.shown OWNER TO verbatim_owner")
	plan, err = s.Migrate(ctx, all, true)
	if err != nil || len(plan.Problems) > 0 || strings.Join(granted(plan), "\n") != strings.Join(wants, "\n") {
		t.Fatalf("%v %v\n%s", err, plan.Problems, strings.Join(granted(plan), "\n"))
	}
	// A row that a verb decides by is locked, although nobody may change it.
	if err := s.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
		if _, err := tx.Find(ctx, stores.Find{Entity: reader, Hold: stores.Firm}); err != nil {
			return err
		}
		other, err := pgx.Connect(ctx, db.Admin)
		if err != nil {
			return err
		}
		defer other.Close(ctx)
		free := 0
		err = other.QueryRow(ctx, "SELECT count(*) FROM (SELECT id FROM theirs.readers FOR UPDATE SKIP LOCKED) r").Scan(&free)
		if free > 0 {
			t.Error("another may change a row that is decided by")
		}
		return err
	}); err != nil {
		t.Error(err)
	}
	if plan, err = s.Migrate(ctx, all, true); err != nil || granted(plan) != nil {
		t.Errorf("%v: it is granted again: %s", err, strings.Join(granted(plan), "\n"))
	}
}

// F19: when a verb comes to change a table whose rows were only locked before, the right to
// change is granted too, and a rehearsal says so before. Where an owner has granted the
// columns that verbs change, and no others, that is enough.
func TestRightsGrowWithTheVerbs(t *testing.T) {
	t.Parallel()
	db := pgtest.Database(t)
	run(t, db.Admin, `CREATE TABLE public.shipments (id text PRIMARY KEY, state text, weight text); CREATE TABLE public.depots (id text PRIMARY KEY);
		ALTER TABLE public.shipments OWNER TO verbatim_owner; ALTER TABLE public.depots OWNER TO verbatim_owner; INSERT INTO public.shipments VALUES ('s1', 'open', '3')`)
	shipment, depot := mappedTo("shipments", of("state", stores.String), of("weight", stores.String)), mappedTo("depots")
	depot.Name, depot.Changed, depot.Added = "depot", nil, true
	all := []*stores.Entity{shipment, depot}
	ctx := context.Background()
	s, err := Open(ctx, db.App, MigrateAs(db.Owner))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	rights := func(plan stores.Plan, err error) string {
		t.Helper()
		if err != nil || len(plan.Problems) > 0 {
			t.Fatal(plan.Problems, err)
		}
		return strings.Join(slices.DeleteFunc(plan.Steps, func(step string) bool {
			return !strings.HasPrefix(step, "GRANT ") || !strings.HasSuffix(step, ` ON "public"."shipments" TO "verbatim_app"`)
		}), "\n")
	}
	change := func(field int) error {
		return s.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
			return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{{Op: stores.Update, Entity: shipment, Key: stores.NewString("s1"), Set: []stores.Assign{{Field: field, Value: stores.NewString("done")}}}}})
		})
	}
	if got, want := rights(s.Migrate(ctx, all, true)), `GRANT SELECT, UPDATE ("id") ON "public"."shipments" TO "verbatim_app"`; got != want {
		t.Fatal(got)
	}
	if err := change(1); err == nil {
		t.Fatal("a row that may only be locked can be changed")
	}
	run(t, db.Owner, "GRANT UPDATE (state) ON public.shipments TO verbatim_app")
	shipment.Changed = []int{1}
	if got := rights(s.Migrate(ctx, all, true)); got != "" {
		t.Errorf("the columns that verbs change are granted already, and this is run: %s", got)
	}
	shipment.Changed = []int{1, 2}
	plan, _, err := s.Rehearse(ctx, all, nil)
	const want = `GRANT UPDATE ON "public"."shipments" TO "verbatim_app"`
	if got := rights(plan, err); got != want {
		t.Errorf("a rehearsal says %q", got)
	}
	if got := rights(s.Migrate(ctx, all, true)); got != want {
		t.Error(got)
	}
	if err := change(2); err != nil {
		t.Error(err)
	}
	if got := rights(s.Migrate(ctx, all, true)); got != "" {
		t.Errorf("it is granted again: %s", got)
	}
}

// F19: the role that runs use sees by a rehearsal what it lacks, and that it may not
// change tables.
func TestTheApplicationRehearses(t *testing.T) {
	t.Parallel()
	db := pgtest.Database(t)
	ctx := context.Background()
	owner, err := Open(ctx, db.App, MigrateAs(db.Owner))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { owner.Close() })
	run(t, db.Admin, "CREATE TABLE public.theirs (id text PRIMARY KEY); GRANT SELECT ON public.theirs TO verbatim_owner")
	ours, theirs := mappedTo("ours", of("name", stores.String)), mappedTo("theirs")
	ours.Managed, theirs.Name = true, "theirs"
	if plan, err := owner.Migrate(ctx, []*stores.Entity{ours}, true); err != nil || len(plan.Problems) > 0 {
		t.Fatal(plan.Problems, err)
	}
	run(t, db.Admin, "REVOKE DELETE ON public.ours FROM verbatim_app")
	s, err := Open(ctx, db.App, AsOwner(""))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	all := []*stores.Entity{ours, theirs}
	plan, _, err := s.Rehearse(ctx, all, nil)
	const want = `role verbatim_app lacks rights that verbs of these palettes need: whoever owns the tables runs GRANT SELECT ON "public"."theirs" TO "verbatim_app"; GRANT SELECT, INSERT, UPDATE, DELETE ON "public"."ours" TO "verbatim_app"; GRANT SELECT ("id") ON "public"."theirs" TO "verbatim_app_queries"`
	if err != nil || len(plan.Problems) != 1 || plan.Problems[0] != want {
		t.Errorf("%v %q", err, plan.Problems)
	}
	run(t, db.Admin, "GRANT SELECT ON public.theirs TO verbatim_app; GRANT SELECT ON public.theirs TO verbatim_app_queries; GRANT DELETE ON public.ours TO verbatim_app")
	if plan, _, err = s.Rehearse(ctx, all, nil); err != nil || len(plan.Problems)+len(plan.Steps) > 0 {
		t.Errorf("%v %+v", err, plan)
	}
	ours.Fields = append(ours.Fields, of("more", stores.String))
	if plan, _, err = s.Rehearse(ctx, all, nil); err != nil || len(plan.Problems) != 1 || !strings.Contains(plan.Problems[0], "which role verbatim_app may not") {
		t.Errorf("%v %+v", err, plan)
	}
}

// F10: that row-level security was switched off, or lost its policies, is told when a
// store is opened, until migrating puts it back.
func TestPoliciesThatAreOffAreTold(t *testing.T) {
	t.Parallel()
	db := pgtest.Database(t)
	ctx := context.Background()
	ours := mappedTo("ours", of("name", stores.String))
	ours.Managed = true
	open := func() *Store {
		t.Helper()
		s, err := Open(ctx, db.App, MigrateAs(db.Owner))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	migrate := func() {
		t.Helper()
		if plan, err := open().Migrate(ctx, []*stores.Entity{ours}, true); err != nil || len(plan.Problems) > 0 {
			t.Fatal(plan.Problems, err)
		}
		if told := open().Unlocked(); len(told) > 0 {
			t.Error(told)
		}
	}
	for sql, want := range map[string]string{
		"ALTER TABLE public.ours DISABLE ROW LEVEL SECURITY":  "row-level security of table public.ours is switched off",
		"ALTER TABLE public.ours NO FORCE ROW LEVEL SECURITY": "row-level security of table public.ours is switched off",
		"DO $$ DECLARE p text; BEGIN FOR p IN SELECT polname FROM pg_policy WHERE polrelid = 'public.ours'::regclass AND NOT polpermissive LOOP EXECUTE format('DROP POLICY %I ON public.ours', p); END LOOP; END $$": "table public.ours has lost the policies that keep its rows apart",
	} {
		migrate()
		run(t, db.Admin, sql)
		if told := open().Unlocked(); len(told) != 1 || told[0] != (Unlocked{Why: want}) {
			t.Errorf("%s: %v", sql, told)
		}
	}
	migrate()
}

// F15: a code that its column has no room for is warned about before somebody says it.
func TestCodesThatAColumnHasNoRoomFor(t *testing.T) {
	t.Parallel()
	s := legacy(t, `CREATE TABLE things (id text PRIMARY KEY, state varchar(4) CHECK (state IN ('OPEN', 'CLOSED'))); GRANT SELECT ON things TO verbatim_owner`)
	state := of("state", stores.String)
	state.Codes = []string{"OPEN", "CLOSED"}
	plan, err := s.Migrate(context.Background(), []*stores.Entity{mappedTo("things", state)}, false)
	const want = "column state of table things is declared character varying(4), and is too short for code CLOSED of field state"
	if err != nil || len(plan.Problems) > 0 || len(plan.Warnings) != 1 || !strings.HasSuffix(plan.Warnings[0], want) {
		t.Errorf("%v %v %q", err, plan.Problems, plan.Warnings)
	}
}

// G28: a timestamp without zone is in the zone that the palette says, and taken for UTC only with a
// warning.
func TestTimesWithoutAZone(t *testing.T) {
	t.Parallel()
	paris, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		t.Fatal(err)
	}
	s := legacy(t, `CREATE TABLE things (id text PRIMARY KEY, at timestamp, zoned timestamptz); INSERT INTO things VALUES ('a', '2025-07-03 10:00', '2025-07-03 10:00+02'), ('b', '2025-10-26 02:30', NULL)`)
	ctx := context.Background()
	plain, in := mappedTo("things", of("at", stores.Time)), mappedTo("things", of("at", stores.Time), of("zoned", stores.Time))
	in.Fields[1].Zone = paris
	twice := mappedTo("things", of("zoned", stores.Time))
	twice.Fields[1].Zone = paris
	for want, e := range map[string]*stores.Entity{"has no time zone, and is taken for UTC": plain, "": in, "has a time zone of its own": twice} {
		plan, err := s.Migrate(ctx, []*stores.Entity{e}, false)
		if got := strings.Join(append(plan.Warnings, plan.Problems...), "\n"); err != nil || !strings.Contains(got, want) || want == "" && strings.Contains(got, "zone") {
			t.Errorf("%v, %s; want %q", err, got, want)
		}
	}
	if plan, err := s.Migrate(ctx, []*stores.Entity{in}, true); err != nil || len(plan.Problems) > 0 {
		t.Fatal(plan.Problems, err)
	}
	eight, _ := stores.ParseTime("2025-07-03T08:00:00Z")
	rows, err := find(s, stores.Find{Entity: in, Where: &stores.Cond{Op: stores.Le, Path: stores.Path{Field: 1}, Value: eight}})
	if err != nil || len(rows) != 1 || rows[0][1] != eight {
		t.Errorf("found %v, %v", rows, err)
	}
	if rows, err = find(s, stores.Find{Entity: in}); err != nil || rows[1][1].Text() != "2025-10-26T01:30:00Z" {
		t.Errorf("found %v, %v", rows, err)
	}
	nine, _ := stores.ParseTime("2025-07-03T09:00:00Z")
	change := func(at string) error {
		v, _ := stores.ParseTime(at)
		return s.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
			return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{{Op: stores.Update, Entity: in, Key: stores.NewString("a"), Guard: []int{1}, Before: []stores.Value{stores.NewString("a"), eight, eight}, Set: []stores.Assign{{Field: 1, Value: v}}}}})
		})
	}
	if err := change("2025-10-26T00:30:00Z"); !errors.Is(err, stores.ErrInvalid) {
		t.Errorf("a time that clocks show again: %v", err)
	}
	if err := change(nine.Text()); err != nil {
		t.Error(err)
	}
	if rows, err = find(s, stores.Find{Entity: plain}); err != nil || rows[0][1].Text() != "2025-07-03T11:00:00Z" {
		t.Errorf("the column holds %v, %v", rows, err)
	}
}
