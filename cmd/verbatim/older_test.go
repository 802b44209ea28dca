package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"verbatim/stores/postgres/pgtest"
)

// A database of each of the last three versions of the store is migrated to this one and to newer palettes, while
// an older server's statements run beside. testdata/releases holds what pg_dump wrote of each, and the statements
// with which the program of then adds a thing, as the server logged them; TestServersAreExchangedOneByOne has whole
// programs. Those of the same version go on; those of an earlier one are refused, and write nothing. 59
func TestOlderStoresAreMigratedUnderLoad(t *testing.T) {
	t.Parallel()
	dir, err := filepath.Abs("testdata/releases")
	if err != nil {
		t.Fatal(err)
	}
	for version, goesOn := range map[string]bool{"3": false, "4": false, "5": true} {
		t.Run("version "+version, func(t *testing.T) {
			t.Parallel()
			db := pgtest.Database(t)
			if out, err := exec.Command(pgtest.Program(t, "psql"), "-q", "-v", "ON_ERROR_STOP=1", "--dbname="+db.Admin, "-f", filepath.Join(dir, version+".sql")).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			writes, err := os.ReadFile(filepath.Join(dir, version+".writes.sql"))
			if err != nil {
				t.Fatal(err)
			}
			h := newHouse(t)
			palette, err := os.ReadFile(filepath.Join(dir, "shelf.yaml"))
			newer := strings.Replace(string(palette), "      colour: {type: string}\n", "      colour: {type: string}\n      state: {type: string, required: true, default: \"kept\", max-length: 20}\n      beside: {type: ref, ref-type: box}\n", 1)
			if err = errors.Join(err, os.Mkdir(filepath.Join(h.dir, "shelf"), 0o777), os.WriteFile(filepath.Join(h.dir, "shelf", "shelf.yaml"), []byte(newer), 0o666)); err != nil || newer == string(palette) {
				t.Fatal(err)
			}
			h.env = append(h.env, "TICK=now", "VERBATIM_PALETTES="+filepath.Join(h.dir, "shelf"), "VERBATIM_STORE="+db.App)
			older := db.Repeat(t, string(writes))
			older.Until(t, 5)
			if older.Refused.Load() > 0 {
				t.Fatalf("before anything is changed, the statements of then are refused: %v", older.Last())
			}

			// The check says what is to come, and changes nothing.
			dump := func() string {
				out, err := exec.Command(pgtest.Program(t, "pg_dump"), "--schema-only", "--restrict-key=same", "--dbname="+db.Admin).Output()
				if err != nil {
					out, err = exec.Command(pgtest.Program(t, "pg_dump"), "--schema-only", "--dbname="+db.Admin).Output()
				}
				if err != nil {
					t.Fatal(err)
				}
				return string(out)
			}
			was := dump()
			check := h.both("migrate", "--check", "--store", db.Owner, "--grant-to", "verbatim_app")
			for _, want := range []string{"locks public.item: readers and writers wait (ACCESS EXCLUSIVE); 5 rows, ", "from a trial on all rows", "time  ",
				map[bool]string{true: "back  the program and the palettes of before go on with it; they do not use what stays: column public.item.state, ", false: "back  only the copy of before leads back"}[goesOn]} {
				if !strings.Contains(check, want) {
					t.Errorf("migrate --check does not say %q:\n%s", want, check)
				}
			}
			if dump() != was {
				t.Error("migrate --check changed the schema")
			}
			older.Until(t, 3)
			if older.Refused.Load() > 0 {
				t.Errorf("migrate --check stands in the way: %v", older.Last())
			}

			h.do("migrate", "--store", db.Owner, "--grant-to", "verbatim_app", "--yes")
			if goesOn {
				older.Until(t, 5)
				if older.Refused.Load() > 0 {
					t.Errorf("the server of before cannot go on: %v", older.Last())
				}
			} else {
				for end := time.Now().Add(20 * time.Second); older.Refused.Load() < 3 && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
				}
				if last := older.Last(); !strings.Contains(last, "SQLSTATE 42703") && !strings.Contains(last, "SQLSTATE 42P01") {
					t.Errorf("a server of an earlier version is not stopped by what it does not find: %v", older.Last())
				}
			}
			older.Stop()

			// What was there is there, and the new program goes on.
			h.do("log", "verify")
			h.script("clara", `shelf.add-item :box-id @attic :name "Table"`)
			if out := h.do("log", "replay"); !strings.Contains(out, "no difference in the store") {
				t.Error(out)
			}
			if again := h.both("migrate", "--check", "--store", db.Owner, "--grant-to", "verbatim_app"); !strings.Contains(again, " 0 statements would be run") || strings.Contains(again, "locks ") {
				t.Errorf("migrated, and\n%s", again)
			}
		})
	}
}
