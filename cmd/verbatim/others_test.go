package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// A file of another application that is given as the store by mistake is named as such, by every command, and not one
// byte of it changes, however that application keeps it; nothing is left beside it. Palettes that name its tables
// take it. 59
func TestAFileOfAnotherApplicationIsLeftAlone(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for name, mode := range map[string]string{"kept": "DELETE", "logged": "WAL"} {
		file := filepath.Join(h.dir, "its "+name, "app?.db")
		if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		db, err := sqlite.OpenConn(file, sqlite.OpenReadWrite|sqlite.OpenCreate)
		if err != nil {
			t.Fatal(err)
		}
		if err := sqlitex.ExecuteScript(db, "CREATE TABLE orders (id INTEGER PRIMARY KEY, what TEXT)", nil); err != nil {
			t.Fatal(err)
		}
		if err := sqlitex.ExecuteTransient(db, "PRAGMA journal_mode="+mode, nil); err != nil {
			t.Fatal(err)
		}
		tried := func(when string) {
			t.Helper()
			was, all := inFolder(t, filepath.Dir(file))
			for _, args := range []string{"run --as clara note.dsl", "serve --no-work --listen 127.0.0.1:0", "work --once", "confirm --as bo", "log verify", "log show --as d.lang", "log replay", "backup copy.db", "doctor", "migrate --check", "migrate --plan", "migrate"} {
				h.fails("holds no store of Verbatim, but 1 table of others, such as \"orders\"", append(strings.Fields(args), "--store", file)...)
			}
			if is, now := inFolder(t, filepath.Dir(file)); is != was || now != all {
				t.Errorf("%s, %s: the folder held %s, and holds %s; the file is the same: %t", name, when, all, now, is == was)
			}
		}
		if err := sqlitex.ExecuteScript(db, "INSERT INTO orders (what) VALUES ('tea')", nil); err != nil {
			t.Fatal(err)
		}
		tried("in use")
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		tried("at rest")
	}
}

// inFolder returns what the files of a folder hold, and their names. The index of SQLite's log is shared memory, in
// which readers note where they are.
func inFolder(t *testing.T, dir string) (held, names string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names += e.Name() + " "
		if strings.HasSuffix(e.Name(), "-shm") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		held += string(text)
	}
	return held, names
}
