package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"verbatim/stores"
)

// legacy opens a file as an organisation may already have it.
func legacy(t testing.TB, statements ...string) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "legacy.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	err = s.write(context.Background(), func(c *conn) error {
		for _, text := range statements {
			if _, err := c.exec(text); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mappedTo(table string, fields ...stores.Field) *stores.Entity {
	e := &stores.Entity{Name: "thing", Table: table, Place: "p.yaml:1:1", Access: stores.ForAll}
	e.Fields = append([]stores.Field{{Name: "id", Column: "id", Kind: stores.String, Required: true}}, fields...)
	return e
}

func find(s *Store, f stores.Find) (rows [][]stores.Value, err error) {
	ctx := context.Background()
	err = s.View(ctx, stores.Scope{All: true}, func(r stores.Reader) error {
		rows, err = r.Find(ctx, f)
		return err
	})
	return rows, err
}

// O2: the organisation's own tables are read as they are. What has two
// spellings is compared by what it means; what could be misread is an error
// that names the field.
func TestSpellingsOfOthers(t *testing.T) {
	t.Parallel()
	s := legacy(t, `CREATE TABLE things (id TEXT PRIMARY KEY, at TIMESTAMP, day DATE, amount TEXT, data JSON, code TEXT COLLATE NOCASE)`,
		`INSERT INTO things VALUES ('a', '2025-01-03 10:00:00', '2025-01-03', '9.5', '{"b": 1, "a": [ ]}', 'x'),
			('b', '2025-01-03T11:00:00.5+01:00', '2025-01-04', '10', '[1,  2]', 'X'), ('c', NULL, NULL, NULL, NULL, NULL)`)
	e := mappedTo("things",
		stores.Field{Name: "at", Column: "at", Kind: stores.Time}, stores.Field{Name: "day", Column: "day", Kind: stores.Date},
		stores.Field{Name: "amount", Column: "amount", Kind: stores.Decimal}, stores.Field{Name: "data", Column: "data", Kind: stores.JSON},
		stores.Field{Name: "code", Column: "code", Kind: stores.String})
	plan, err := s.Migrate(context.Background(), []*stores.Entity{e}, true)
	if err != nil || len(plan.Problems) > 0 {
		t.Fatal(plan, err)
	}
	rows, err := find(s, stores.Find{Entity: e, Order: []stores.Order{{Path: stores.Path{Field: 1}, Desc: true}}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, row := range rows {
		var line []string
		for _, v := range row {
			line = append(line, v.Text())
		}
		got = append(got, strings.Join(line, " "))
	}
	want := []string{
		`b 2025-01-03T10:00:00.5Z 2025-01-04 10 [1,2] X`,
		`a 2025-01-03T10:00:00Z 2025-01-03 9.5 {"a":[],"b":1} x`,
		`c     `,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	at, _ := stores.ParseTime("2025-01-03T10:00:00Z")
	data, _ := stores.ParseJSON(`{"a":[],"b":1}`)
	for name, c := range map[string]stores.Cond{
		"instant": {Op: stores.Eq, Path: stores.Path{Field: 1}, Value: at},
		"json":    {Op: stores.Eq, Path: stores.Path{Field: 4}, Value: data},
		"case":    {Op: stores.Eq, Path: stores.Path{Field: 5}, Value: stores.NewString("x")},
	} {
		if rows, err := find(s, stores.Find{Entity: e, Where: &c}); err != nil || len(rows) != 1 || rows[0][0] != stores.NewString("a") {
			t.Errorf("%s: %v, %v", name, rows, err)
		}
	}
	// A guard holds what was read, whatever its spelling.
	err = s.Update(context.Background(), stores.Scope{All: true}, func(tx stores.Tx) error {
		row, err := tx.Get(context.Background(), e, stores.NewString("a"))
		if err != nil {
			return err
		}
		return tx.Apply(context.Background(), stores.Batch{Changes: []stores.Change{{Op: stores.Update, Entity: e, Key: row.Key(), Before: row.Values, Guard: []int{0, 1, 2, 3, 4, 5},
			Set: []stores.Assign{{Field: 5, Value: stores.NewString("y")}}}}})
	})
	if err != nil {
		t.Error(err)
	}
}

func TestValuesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind  stores.Kind
		value string
	}{
		{stores.Date, "'2025-01-03 10:00:00'"}, {stores.Date, "'03.01.2025'"}, {stores.Time, "'secret'"}, {stores.Time, "1735898400"},
		{stores.Decimal, "0.1"}, {stores.Decimal, "'secret'"}, {stores.UUID, "'000004E9-0000-4000-8000-00000000000A'"},
		{stores.Bool, "2"}, {stores.Int, "'secret'"}, {stores.JSON, "'{secret'"}, {stores.String, "x'ff'"}, {stores.Duration, "9223372036854775807"},
	} {
		s := legacy(t, `CREATE TABLE things (id TEXT PRIMARY KEY, v)`, `INSERT INTO things VALUES ('a', `+c.value+`)`)
		e := mappedTo("things", stores.Field{Name: "worth", Column: "v", Kind: c.kind})
		_, err := find(s, stores.Find{Entity: e})
		if !errors.Is(err, stores.ErrInvalid) || !strings.Contains(err.Error(), "thing.worth") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s %s: %v", c.kind, c.value, err)
		}
	}
}

// SQLite takes names that differ in the case of ASCII letters for one name, and no others.
func TestNamesOfOthersInAnyAlphabet(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := legacy(t, `CREATE TABLE "Änderungen" (ID TEXT PRIMARY KEY, "Größe" TEXT, "Änderung" TEXT)`, `INSERT INTO "Änderungen" VALUES ('a', 'XL', 'b')`)
	e := mappedTo("Änderungen", stores.Field{Name: "size", Column: "Größe", Kind: stores.String}, stores.Field{Name: "change", Column: "Änderung", Kind: stores.String})
	if plan, err := s.Migrate(ctx, []*stores.Entity{e}, true); err != nil || len(plan.Problems) > 0 {
		t.Fatal(plan.Problems, err)
	}
	rows, err := find(s, stores.Find{Entity: e, Select: []stores.Path{{Field: 2}}, Where: &stores.Cond{Op: stores.Eq, Path: stores.Path{Field: 1}, Value: stores.NewString("XL")}})
	if err != nil || len(rows) != 1 || rows[0][0].Text() != "b" {
		t.Error(rows, err)
	}
	other := mappedTo("änderungen", e.Fields[1], e.Fields[2])
	if plan, err := s.Migrate(ctx, []*stores.Entity{other}, true); err != nil || len(plan.Problems) == 0 {
		t.Errorf("a table of another name is taken for it: %v", err)
	}
}

// A declared type that would change a value on the way in is a problem.
func TestDeclaredTypes(t *testing.T) {
	t.Parallel()
	good := map[stores.Kind]string{
		stores.Bool: "BOOLEAN", stores.Int: "BIGINT", stores.Decimal: "TEXT", stores.String: "VARCHAR(20)", stores.Date: "DATE",
		stores.Time: "TIMESTAMP", stores.Duration: "INTEGER", stores.UUID: "UUID", stores.JSON: "JSON",
	}
	bad := map[stores.Kind]string{
		stores.Bool: "TEXT", stores.Int: "REAL", stores.Decimal: "DECIMAL(10,2)", stores.String: "NUMERIC", stores.Date: "INTEGER",
		stores.Time: "DOUBLE", stores.Duration: "CHAR(8)", stores.UUID: "INT", stores.JSON: "FLOAT",
	}
	for kind := range good {
		if why := unfit(kind, good[kind], 0); why != "" {
			t.Errorf("%s in %s: %s", kind, good[kind], why)
		}
		if unfit(kind, bad[kind], 0) == "" {
			t.Errorf("%s in %s is accepted", kind, bad[kind])
		}
	}
}

// A view of others can carry an entity.
func TestView(t *testing.T) {
	t.Parallel()
	s := legacy(t, `CREATE TABLE base (id TEXT PRIMARY KEY, v TEXT, secret TEXT)`, `INSERT INTO base VALUES ('a', 'one', 's')`, `CREATE VIEW things AS SELECT id, v FROM base`)
	e := mappedTo("things", stores.Field{Name: "v", Column: "v", Kind: stores.String})
	ctx := context.Background()
	if plan, err := s.Migrate(ctx, []*stores.Entity{e}, true); err != nil || len(plan.Problems) > 0 {
		t.Fatal(plan, err)
	}
	err := s.View(ctx, stores.Scope{}, func(r stores.Reader) error {
		if _, err := r.Get(ctx, e, stores.NewString("a")); err != nil {
			return err
		}
		rows, err := r.SQL(ctx, []*stores.Entity{e}, stores.SQL{Text: "SELECT v FROM things", Columns: []stores.Column{{Name: "v", Kind: stores.String}}})
		if len(rows) != 1 {
			t.Error(rows)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// SQLite has no schemas: a point in a table's name becomes part of it.
func TestTableNames(t *testing.T) {
	t.Parallel()
	for table, want := range map[string]string{"kyc.outstanding_requests": `main."kyc_outstanding_requests"`, "ob-poc.cbus": `main."ob-poc_cbus"`, `we"ird`: `main."we""ird"`} {
		if got := quoteTable(table); got != want {
			t.Errorf("%s is %s, want %s", table, got, want)
		}
	}
}

func quoteTable(name string) string { return table(&stores.Entity{Table: name}) }

// A file of a newer version is left alone.
func TestNewerSchema(t *testing.T) {
	t.Parallel()
	s := legacy(t, `CREATE TABLE verbatim_schema (version INTEGER)`, `INSERT INTO verbatim_schema VALUES (99)`)
	plan, err := s.Migrate(context.Background(), nil, true)
	if err != nil || len(plan.Problems) != 1 || !strings.Contains(plan.Problems[0], "99") {
		t.Error(plan, err)
	}
	var other *stores.VersionError
	if _, err := s.Identity(context.Background()); !errors.Is(err, stores.ErrVersion) || !errors.As(err, &other) || other.Is != 99 || other.Known != schemaVersion {
		t.Errorf("its identity is answered with %v", err)
	}
	s = legacy(t, `CREATE TABLE verbatim_journal (x)`)
	plan, err = s.Migrate(context.Background(), nil, true)
	if err != nil || len(plan.Problems) != 1 || !strings.Contains(plan.Problems[0], "verbatim_journal") {
		t.Error(plan, err)
	}
}

// The journal refuses a slip of the hand, and what refuses it comes back with the next migration.
func TestJournalIsAppendOnly(t *testing.T) {
	t.Parallel()
	s, _, _ := bank(t)
	does := func(text string) error {
		return s.write(t.Context(), func(c *conn) error {
			_, err := c.exec(text)
			return err
		})
	}
	refuses := func() {
		t.Helper()
		for _, text := range []string{"UPDATE verbatim_journal SET call = ''", "DELETE FROM verbatim_journal"} {
			if does(text) == nil {
				t.Errorf("%s was done", text)
			}
		}
	}
	refuses()
	for _, text := range []string{"DROP TRIGGER verbatim_journal_update", "DROP TRIGGER verbatim_journal_delete", "DROP INDEX verbatim_name_suffix", "DROP INDEX verbatim_job_due"} {
		if err := does(text); err != nil {
			t.Fatal(err)
		}
	}
	for _, steps := range []int{4, 0} {
		if plan, err := s.Migrate(t.Context(), nil, true); err != nil || len(plan.Steps) != steps || len(plan.Problems) > 0 {
			t.Errorf("%+v, %v", plan, err)
		}
	}
	refuses()
}

// A store says that it is full from the first write that finds no room to the next that the journal
// has.
func TestFull(t *testing.T) {
	t.Parallel()
	s, entities, _ := bank(t)
	writes := func(text string, entries ...stores.Entry) error {
		return s.Update(t.Context(), stores.Scope{All: true}, func(tx stores.Tx) error {
			change := stores.Change{Op: stores.Update, Entity: entities[0], Key: stores.NewInt(1), Set: []stores.Assign{{Field: 1, Value: stores.NewString(text)}}}
			return tx.Apply(t.Context(), stores.Batch{Changes: []stores.Change{change}, Entries: entries})
		})
	}
	long, entry := strings.Repeat("long ", 100_000), stores.Entry{Verb: "v", Principal: "ada"}
	room := func(pages string) {
		t.Helper()
		if err := s.write(t.Context(), func(c *conn) error {
			_, err := c.exec("PRAGMA max_page_count = " + pages)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	room("1") // as many as there are
	if err := writes(long, entry); !errors.Is(err, stores.ErrFull) || !s.Full() {
		t.Errorf("a full disk is told as %v, and full is %t", err, s.Full())
	}
	room("100000")
	if err := writes("short"); err != nil || !s.Full() {
		t.Errorf("what the journal has nothing of is found room for: %v, and full is %t", err, s.Full())
	}
	if err := writes(long, entry); err != nil || s.Full() {
		t.Errorf("with room again: %v, and full is %t", err, s.Full())
	}
}

// Errors that users may see hold neither SQL nor SQLite's name; operators find
// the cause behind them.
func TestErrorsAreOurs(t *testing.T) {
	t.Parallel()
	s, entities, _ := bank(t)
	ctx := context.Background()
	note := entities[1]
	for _, c := range []struct {
		change stores.Change
		want   error
	}{
		{stores.Change{Op: stores.Insert, Entity: note, Key: stores.NewInt(1)}, stores.ErrDuplicate},
		{stores.Change{Op: stores.Delete, Entity: entities[0], Key: stores.NewInt(1)}, stores.ErrInvalid},
	} {
		err := s.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
			return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{c.change}})
		})
		var cause *stores.Refused
		if !errors.Is(err, c.want) || err.Error() != c.want.Error() || !errors.As(err, &cause) || cause.Code == "" {
			t.Errorf("%v, %+v", err, cause)
		}
	}
}

// The engine's own rows have the schema verbatim, and never the store's own
// tables; nobody else has either.
func TestTablesOfTheEngine(t *testing.T) {
	t.Parallel()
	for table, fine := range map[string]bool{"verbatim.confirmations": true, "verbatim.journal": false, "verbatim.Grant": false, "verbatim_confirmations": false} {
		s := legacy(t)
		e := mappedTo(table)
		e.Managed = true
		plan, err := s.Migrate(context.Background(), []*stores.Entity{e}, true)
		if err != nil || len(plan.Problems) == 0 != fine {
			t.Errorf("%s: %v %v", table, plan.Problems, err)
		}
		if !fine {
			continue
		}
		err = s.CheckSQL(context.Background(), nil, stores.SQL{Text: "SELECT id FROM verbatim_confirmations", Columns: []stores.Column{{Name: "id", Kind: stores.String}}})
		if err == nil {
			t.Error("a query may read the engine's own rows")
		}
	}
}

// SAFE-S4: tables of others carry marks without being altered, with keys of any
// kind.
func TestMarksInTablesOfOthers(t *testing.T) {
	t.Parallel()
	s := legacy(t, `CREATE TABLE numbered (id INTEGER PRIMARY KEY, iban TEXT)`, `CREATE TABLE named (id TEXT PRIMARY KEY COLLATE NOCASE, iban TEXT)`,
		`INSERT INTO numbered VALUES (1, '')`, `INSERT INTO named VALUES ('it''s', '')`)
	ctx := context.Background()
	all := stores.Scope{All: true}
	numbered := mappedTo("numbered", stores.Field{Name: "iban", Column: "iban", Kind: stores.String})
	numbered.Fields[0].Kind = stores.Int
	named := mappedTo("named", stores.Field{Name: "iban", Column: "iban", Kind: stores.String})
	named.Name = "named"
	if plan, err := s.Migrate(ctx, []*stores.Entity{numbered, named}, true); err != nil || len(plan.Problems) > 0 {
		t.Fatal(plan, err)
	}
	for e, key := range map[*stores.Entity]stores.Value{numbered: stores.NewInt(1), named: stores.NewString("it's")} {
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
		if err != nil || len(rows) != 1 || rows[0][0].Text() != `{"iban":"document"}` {
			t.Error(e.Table, rows, err)
		}
	}
}

// F18: money in a column of numbers is exact to the digits that are declared, or an
// error; what is too long to be exact there is not written. The text that SQLite makes of a binary
// fraction plays no part: before 3.53 it is 0.3 for what is 0.30000000000000004.
func TestNumbersThatAreNotExact(t *testing.T) {
	t.Parallel()
	for _, declared := range []string{"NUMERIC(10,2)", "REAL"} {
		t.Run(declared, func(t *testing.T) {
			t.Parallel()
			numbersThatAreNotExact(t, declared)
		})
	}
}

func numbersThatAreNotExact(t *testing.T, declared string) {
	ctx := context.Background()
	s := legacy(t, `CREATE TABLE things (id TEXT PRIMARY KEY, price `+declared+`)`,
		`INSERT INTO things VALUES ('a', 0.1), ('b', 19.99), ('c', 5), ('d', 1234567890123.45), ('e', -0.07), ('x', 0.125), ('y', 0.1 + 0.2)`)
	price := stores.Field{Name: "price", Column: "price", Kind: stores.Decimal}
	if plan, err := s.Migrate(ctx, []*stores.Entity{mappedTo("things", price)}, false); err != nil || len(plan.Problems) != 1 || !strings.Contains(plan.Problems[0], "scale:") {
		t.Errorf("without digits: %q, %v", plan.Problems, err)
	}
	price.Places = 2
	e := mappedTo("things", price)
	if plan, err := s.Migrate(ctx, []*stores.Entity{e}, true); err != nil || len(plan.Problems) > 0 {
		t.Fatal(plan.Problems, err)
	}
	var dirty []stores.Unreadable
	rows, err := find(s, stores.Find{Entity: e, Unreadable: &dirty, Order: []stores.Order{{Path: stores.Path{Field: 1}}}})
	got := ""
	for _, row := range rows {
		got += row[0].Text() + " " + row[1].Text() + ", "
	}
	if want := "e -0.07, a 0.10, c 5.00, b 19.99, d 1234567890123.45, "; err != nil || got != want {
		t.Errorf("read %s, %v", got, err)
	}
	if len(dirty) != 2 {
		t.Errorf("left out are %v", dirty)
	}
	write := func(text string) error {
		v, _ := stores.ParseDecimal(text)
		return s.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
			return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{{Op: stores.Update, Entity: e, Key: stores.NewString("a"), Set: []stores.Assign{{Field: 1, Value: v}}}}})
		})
	}
	for _, text := range []string{"0.30", "9999999999999.99", "-0.01", "100"} {
		if err := write(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		v, _ := stores.ParseDecimal(text)
		c := stores.Cond{Op: stores.Eq, Path: stores.Path{Field: 1}, Value: v}
		if rows, err := find(s, stores.Find{Entity: e, Unreadable: &dirty, Where: &c}); err != nil || len(rows) != 1 || !stores.Equal(rows[0][1], v) {
			t.Errorf("%s is read as %v, %v", text, rows, err)
		}
	}
	if err := write("12345678901234567.89"); !errors.Is(err, stores.ErrInvalid) {
		t.Errorf("a number that is too long: %v", err)
	}
}
