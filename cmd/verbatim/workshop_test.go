package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"verbatim/stores/postgres/pgtest"
)

// F17, F18, F19: a database of PostgreSQL's that another program made gets a palette by
// one command and an afternoon of editing, as the README of the workshops says. The page
// names a server on this machine; the test has another, and its owner owns the tables.
func TestWorkshopsReadmeIsTrue(t *testing.T) {
	t.Parallel()
	db := pgtest.Database(t)
	s := shellIn{t.TempDir(), t.TempDir()}
	err := putProgram(s.bin)
	if err == nil {
		err = os.CopyFS(s.dir, os.DirFS("../../examples/workshop"))
	}
	if err != nil {
		t.Fatal(err)
	}
	p := s.page(t, "examples/workshop/README.md", "examples/workshop/verbs/workshop.yaml", "examples/workshop/*.dsl")
	const owner, app = "postgres://workshop_owner@localhost/workshops", "postgres://verbatim_app@localhost/workshops"
	here := strings.NewReplacer(owner, "'"+db.Owner+"'", app, "'"+db.App+"'")
	there := strings.NewReplacer(regexp.MustCompile(`\?.*`).ReplaceAllString(db.Owner, ""), owner, filepath.Base(strings.Split(db.Owner, "?")[0]), "workshops")
	var kept []string // what the shell of the page was told to remember
	p.run = func(command string) string {
		if strings.HasPrefix(command, "create") || strings.HasPrefix(command, "psql -q -c") {
			return "" // the roles and the database of the test are there
		}
		if strings.HasPrefix(command, "psql ") { // lines for psql itself there are none
			for _, file := range []string{"schema.sql", "data.sql"} {
				text, err := os.ReadFile(filepath.Join(s.dir, file))
				if err == nil {
					err = db.Load(string(text))
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			return ""
		}
		command = here.Replace(command)
		if strings.HasPrefix(command, "export ") {
			kept = append(kept, command)
			return ""
		}
		return there.Replace(s.prints(t, strings.Join(append(kept, command), "; ")))
	}
	p.play(t)
}

// F18: a role that may read none of the tables gets no empty palette, and is told why.
func TestNewSaysWhenNothingCanBeRead(t *testing.T) {
	t.Parallel()
	db := pgtest.Database(t)
	s := shellIn{t.TempDir(), t.TempDir()}
	schema, err := os.ReadFile("../../examples/workshop/schema.sql")
	if err == nil {
		err = putProgram(s.bin)
	}
	if err == nil {
		err = db.Load(string(schema))
	}
	if err != nil {
		t.Fatal(err)
	}
	_, said, code := s.run(t, "verbatim new --from '"+db.App+"'")
	if code != exitInput || !strings.Contains(said, "none of the 16 tables of the database") || !strings.Contains(said, "permission denied for schema billing\nnext: connect as a role that may read them") {
		t.Errorf("exit %d: %s", code, said)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "verbs")); err == nil {
		t.Error("a palette was written")
	}
}
