package sqlite

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"verbatim/stores"
)

// F18: what is odd about a database is told and hides nothing else: references to
// tables and rows that are not there, views that fail, columns that hold what their
// declared type does not say.
func TestTablesTellWhatIsOdd(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "odd.db")
	db, err := sqlite.OpenConn(path)
	if err != nil {
		t.Fatal(err)
	}
	err = sqlitex.ExecuteScript(db, `
		CREATE TABLE track (id INTEGER PRIMARY KEY, name TEXT);
		CREATE TABLE lost (id INTEGER PRIMARY KEY, gone INTEGER REFERENCES nowhere (id), track INTEGER REFERENCES track, again INTEGER REFERENCES lost);
		INSERT INTO lost VALUES (1, 7, 999, NULL), (2, NULL, NULL, 1);
		CREATE VIEW broken AS SELECT x FROM not_there;
		CREATE VIEW names AS SELECT name, id FROM track;
		CREATE TABLE odd ("a key" TEXT UNIQUE NOT NULL, n INTEGER, day DATE, at DATETIME, stamp TIMESTAMP, price NUMERIC(10,2), rough NUMERIC(10,2), free, shape GEOMETRY);
		INSERT INTO odd VALUES ('x', 'many', '31.12.2020', '2020-01-01 00:00:00', '2020-01-01T00:00:00Z', 0.1, 0.123456789, 'text', NULL),
			('y', 2, '01.01.2021', '2020-01-01 10:00:00', '2020-01-01 10:00', 5, 1, 'text', NULL);
		CREATE TABLE none (a TEXT UNIQUE, b TEXT);`, nil)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	tables, err := Tables(context.Background(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]*stores.Table{}
	for i := range tables {
		byName[tables[i].Name] = &tables[i]
	}
	lost := byName["lost"]
	dangling := map[string]bool{}
	for _, f := range lost.Foreign {
		dangling[f.Columns[0]+" "+f.Table+" "+strings.Join(f.To, ",")] = f.Dangling
	}
	if len(dangling) != 3 || !dangling["track track id"] || dangling["again lost id"] || dangling["gone nowhere id"] {
		t.Errorf("references are %v", dangling)
	}
	if f := byName["broken"].Fault; !strings.Contains(f, "not_there") {
		t.Errorf("the view that fails: %q", f)
	}
	if k := byName["none"].Key; len(k) != 0 {
		t.Errorf("a table without a key has %q", k)
	}
	odd := byName["odd"]
	if len(odd.Key) != 1 || odd.Key[0] != "a key" {
		t.Errorf("its key is %q", odd.Key)
	}
	want := map[string]string{
		"a key": "string ", "n": "null ", "day": "date DD.MM.YYYY", "at": "datetime YYYY-MM-DD hh:mm:ss", "stamp": "datetime ", "price": "decimal ", "rough": "null ", "free": "string ", "shape": "null ",
	}
	for _, c := range odd.Columns {
		if got := c.Kind.String() + " " + c.Form; got != want[c.Name] || (c.Why == "") != (c.Kind != stores.Null) {
			t.Errorf("%s is held by %q (%s), want %q", c.Name, got, c.Why, want[c.Name])
		}
	}
	if _, err := Tables(context.Background(), filepath.Join(t.TempDir(), "nothing.db"), nil); err == nil {
		t.Error("a file that is not there was described")
	}
}
