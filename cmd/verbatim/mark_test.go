package main

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"verbatim/stores/postgres/pgtest"
)

// A database is the same under another address: what waits there is not dropped.
func TestAnotherAddressIsNoCopy(t *testing.T) {
	t.Parallel()
	h := onServer(t)
	h.people()
	h.proposes(`system.grant-high-role :principal-id @nina :role "analyst"`)
	var at *url.URL
	for _, v := range h.env {
		if text, ok := strings.CutPrefix(v, "VERBATIM_STORE="); ok {
			at, _ = url.Parse(text)
		}
	}
	q := at.Query()
	other := filepath.Join(t.TempDir(), "s")
	if err := os.Symlink(q.Get("host"), other); err != nil {
		t.Fatal(err)
	}
	q.Set("host", other)
	at.RawQuery = q.Encode()
	if out := h.do("confirm", "--as", "bo", "--store", at.String()); !strings.Contains(out, "system.grant-high-role") || strings.Contains(out, "dropped") {
		t.Errorf("it does not wait under another address: %s", out)
	}
	if out := h.do("confirm", "--as", "bo"); !strings.Contains(out, "system.grant-high-role") {
		t.Errorf("it does not wait any more: %s", out)
	}
	// An earlier build noted the address. It counts once, and is not there to be believed later, when
	// another database may stand under it.
	notes, _ := filepath.Glob(filepath.Join(h.dir, ".state", "verbatim", "*.json"))
	if len(notes) != 1 {
		t.Fatal(notes)
	}
	text, err := os.ReadFile(notes[0])
	if err != nil || !strings.Contains(string(text), `"database `) {
		t.Fatal(string(text), err)
	}
	address := (address{url: at.String()}).place()
	old := regexp.MustCompile(`"database [^"]*"`).ReplaceAllString(string(text), strconv.Quote(address))
	if err := os.WriteFile(notes[0], []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := h.do("confirm", "--as", "bo", "--store", at.String()); !strings.Contains(out, "system.grant-high-role") {
		t.Errorf("it does not wait after an earlier build: %s", out)
	}
	if text, err = os.ReadFile(notes[0]); err != nil || strings.Contains(string(text), address) || !strings.Contains(string(text), `"database `) {
		t.Errorf("%s is noted, %v", text, err)
	}
}

// An agreement that was used after a dump is not used again when the dump is put back, also where
// nothing can be noted of a store, as in a container; nor is a login that was ended since.
func TestARestoredDatabaseAsksAnew(t *testing.T) { // G80
	t.Parallel()
	db := bankDatabase(t)
	h := newHouse(t)
	h.env = append(h.env, "VERBATIM_STORE="+db.App, "XDG_STATE_HOME=/dev/null/none", "VERBATIM_FILES="+filepath.Join(h.dir, "files"))
	h.people()
	h.proposes(`system.grant-high-role :principal-id @nina :role "analyst"`)
	id := regexp.MustCompile(`\S+`).FindString(h.do("confirm", "--as", "bo"))
	dump := filepath.Join(t.TempDir(), "bank.dump")
	command := func(name string, args ...string) {
		if out, err := exec.Command(pgtest.Program(t, name), args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
	}
	// The role of runs backs nothing up, since policies hold it; one made for it does, and the dump is whole.
	h.env = append(h.env, "PATH="+filepath.Dir(pgtest.Program(t, "pg_dump"))+":"+os.Getenv("PATH"))
	h.fails("row-level security holds it", "backup", dump)
	if out := h.do("backup", "--store", db.Admin, dump); !strings.Contains(out, "backed up: "+dump) {
		t.Fatal(out)
	}
	h.fails("is there already", "backup", "--store", db.Admin, dump)
	h.fails("is not empty", "restore", "--store", db.Admin, dump)
	if out := h.do("confirm", "--as", "bo", "--agree", id); !strings.Contains(out, "system.grant-high-role") {
		t.Fatal(out)
	}
	// What tidies a table up, and a second look, make no restore of it.
	for _, how := range []string{"FREEZE", "FULL, FREEZE"} {
		command("psql", "--quiet", "--dbname="+db.Admin, "--command=VACUUM ("+how+") public.verbatim_place")
	}
	h.proposes(`system.grant-high-role :principal-id @nina :role "administrator"`)
	if out := h.do("confirm", "--as", "bo"); !strings.Contains(out, "administrator") {
		t.Fatalf("it does not wait although nothing was restored: %s", out)
	}

	command("pg_restore", "--clean", "--if-exists", "--dbname="+db.Admin, dump)
	s := h.serve("--no-work", "--sign-in", "bo")
	if !strings.Contains(s.said.String(), "put back from a backup") {
		t.Errorf("the server did not say that the store was restored: %s", s.said)
	}
	if out := h.do("confirm", "--as", "bo"); strings.Contains(out, "system.grant-high-role") {
		t.Errorf("it waits again after a restore: %s", out)
	}
	// Once more under the server: it finds out by itself, ends every login, and says so.
	bo := newVisitor(t).comes(s, "bo")
	if status, _ := bo.get(s.url + "/"); status != 200 {
		t.Fatalf("bo is not signed in: %d", status)
	}
	command("pg_restore", "--clean", "--if-exists", "--dbname="+db.Admin, dump)
	for out := time.Now().Add(20 * time.Second); !strings.Contains(s.said.String(), "while this server ran"); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(out) {
			t.Fatalf("the server did not notice a restore under it: %s", s.said)
		}
	}
	if out := h.do("confirm", "--as", "bo"); strings.Contains(out, "system.grant-high-role") {
		t.Errorf("it waits again after a restore under a server: %s", out)
	}
	s.stop()
	h.proposes(`system.grant-high-role :principal-id @nina :role "administrator"`)
	if out := h.do("confirm", "--as", "bo"); !strings.Contains(out, "administrator") {
		t.Errorf("what was asked after the restore does not wait: %s", out)
	}
}

// A role that was made for it, as the guide says, backs a database up, and what it wrote goes whole into another one.
func TestABackupOfADatabaseIsWhole(t *testing.T) { // G83
	t.Parallel()
	db := bankDatabase(t)
	h := newHouse(t)
	h.env = append(h.env, "VERBATIM_STORE="+db.App, "PATH="+filepath.Dir(pgtest.Program(t, "pg_dump"))+":"+os.Getenv("PATH"))
	h.do("run", "--as", "clara", "--yes", "note.dsl")
	h.do("log", "verify")
	db.Run(t, "DROP DATABASE IF EXISTS restored", "DROP ROLE IF EXISTS backup", "CREATE ROLE backup LOGIN BYPASSRLS IN ROLE pg_read_all_data",
		"REVOKE EXECUTE ON FUNCTION pg_catalog.set_config(text, text, boolean) FROM PUBLIC", "GRANT EXECUTE ON FUNCTION pg_catalog.set_config(text, text, boolean) TO verbatim_owner, verbatim_app, backup", "CREATE DATABASE restored OWNER verbatim_owner")
	h.do("backup", "--store", elsewhereAt(t, db.Admin, "", "backup"), "bank.dump")
	if info, err := os.Stat(filepath.Join(h.dir, "bank.dump")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read the dump: %v, %v", info.Mode(), err)
	}
	h.do("restore", "--store", elsewhereAt(t, db.Admin, "/restored", ""), "bank.dump")
	h.env = append(h.env, "VERBATIM_STORE="+elsewhereAt(t, db.App, "/restored", ""))
	if out := h.do("log", "verify"); !strings.Contains(out, "journal whole: 1 entry") {
		t.Error(out)
	}
	h.do("run", "--as", "clara", "--yes", "note.dsl")
	if out := h.do("log", "show", "--as", "d.lang"); strings.Count(out, "add-note") != 2 {
		t.Error(out)
	}
}

// A file that was put back moves to PostgreSQL without what waited in it: it may have been decided since.
func TestACopyMovesWithoutWhatWaits(t *testing.T) { // G80
	t.Parallel()
	h := newHouse(t)
	h.env = append(h.env, "XDG_STATE_HOME="+filepath.Join(h.dir, "state"))
	h.people()
	h.proposes(`system.grant-high-role :principal-id @nina :role "analyst"`)
	h.do("backup", "asked.db")
	h.do("restore", "asked.db", "--store", "back.db")
	db := pgtest.Database(t)
	whole, err := os.ReadFile(filepath.Join(h.dir, "bank.postgres.sql"))
	if err != nil {
		t.Fatal(err)
	}
	tables, _, _ := strings.Cut(string(whole), "\nINSERT")
	if err := os.WriteFile(filepath.Join(h.dir, "tables.sql"), []byte(tables), 0o600); err != nil {
		t.Fatal(err)
	}
	out := h.do("migrate", "--store", db.Owner, "--grant-to", "verbatim_app", "--data", "tables.sql", "--from", "back.db")
	if !strings.Contains(out, "What waited for an agreement was dropped (1)") {
		t.Error(out)
	}
	if out := h.do("confirm", "--as", "bo", "--store", db.App); strings.Contains(out, "grant-high-role") {
		t.Errorf("it waits where it was moved: %s", out)
	}
}

// Where nothing can be noted of a file, every start may follow a restore: what waits is dropped, and
// operators are told, in the log and by /readyz.
func TestAStoreWithoutANoteAsksAnew(t *testing.T) { // G80
	t.Parallel()
	h := newHouse(t)
	h.people()
	h.proposes(`system.grant-high-role :principal-id @nina :role "analyst"`)
	h.env = append(h.env, "XDG_STATE_HOME=/dev/null/none", "VERBATIM_FILES="+filepath.Join(h.dir, "files"))
	s := h.serve("--no-work")
	status, body := newVisitor(t).get(s.url + "/readyz")
	s.stop()
	if status != 200 || !strings.Contains(body, "\na restored store would not be noticed") {
		t.Errorf("/readyz says %d %q", status, body)
	}
	if !strings.Contains(s.said.String(), "STATE_DIRECTORY") {
		t.Errorf("the log does not say what to do: %s", s.said)
	}
	if out := h.do("confirm", "--as", "bo"); strings.Contains(out, "system.grant-high-role") {
		t.Errorf("it waits still: %s", out)
	}
}
