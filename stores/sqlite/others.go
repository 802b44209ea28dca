package sqlite

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"zombiezen.com/go/sqlite"
)

// Others names the tables of a file that holds no store. It returns nil for a store, for a file without tables, and
// for one that cannot be read so. Neither the file nor what lies beside it is written to.
func Others(path string) (tables []string) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	if info, err := os.Stat(path); err != nil || info.Size() == 0 || info.IsDir() {
		return nil
	}
	// SQLite makes files beside one that has a log, unless it is told that nobody writes. What the log holds
	// is read only where there is one.
	at := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: "immutable=1"}
	if info, err := os.Stat(path + "-wal"); err == nil && info.Size() > 0 {
		at.RawQuery = ""
	}
	db, err := sqlite.OpenConn(at.String(), sqlite.OpenReadOnly, sqlite.OpenURI)
	if err != nil {
		return nil
	}
	defer db.Close()
	d := &describer{c: &conn{db: db}}
	err = d.ask(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name`, nil, func(row *sqlite.Stmt) { tables = append(tables, row.ColumnText(0)) })
	if err != nil || slices.Contains(tables, "verbatim_schema") {
		return nil
	}
	return tables
}
