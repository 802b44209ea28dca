package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"verbatim/stores/postgres/pgtest"
)

// SAFE-R10: every command refuses a store of another version, says which version it has
// and what to do, and leaves it as it is. The store was made by the program at commit
// 522f4cb: its journal has three entries, a confirmation and jobs wait in it, and it has
// a session and a key.
func TestStoreOfAnotherVersionIsRefused(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/stores/version-2.db.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	image, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	s := newShell(t)
	name := filepath.Join(s.dir, "verbatim.db")
	if err := os.WriteFile(name, image, 0o600); err != nil {
		t.Fatal(err)
	}
	const says = "refused[store-version]: the store verbatim.db cannot be used: it is of version 2, and this program knows version 4. Nothing was changed\n" +
		"next: use the version that made it, or load its data into a new store: verbatim migrate --store NEW\n"
	for _, line := range []string{
		"run --as clara --yes note.dsl", "run --as clara --dry-run note.dsl", "run --as clara --session talk --key k1 --yes note.dsl",
		"confirm --as t.weber", "confirm e56f-49fe --agree --as t.weber",
		"log show", "log verify", "log export", "log keygen k --name bank.example/j && verbatim log checkpoint --sign k",
		"work --once", "work list", "migrate", "migrate --plan", "migrate --data people.sql", "migrate --administrator ada",
		"session --as clara", "chat --as clara", "say --as clara 'how far are we'", "upload --as clara --scan none passport.pdf", "grammar --as clara",
	} {
		_, said, code := s.run(t, "verbatim "+line+" </dev/null")
		if code != exitRefused || !strings.HasSuffix(said, says) {
			t.Errorf("%s: exit code %d\n%s", line, code, said)
		}
		if now, err := os.ReadFile(name); err != nil || !bytes.Equal(now, image) {
			t.Fatalf("%s changed the store: %v", line, err)
		}
	}
	if out, _, code := s.run(t, "verbatim log show --json"); code != exitRefused || !strings.Contains(out, `"code":"store-version"`) {
		t.Errorf("exit code %d: %s", code, out)
	}
	if left, _ := filepath.Glob(name + "-*"); len(left) > 0 {
		t.Errorf("%q are left beside it", left)
	}
}

// SAFE-R10: a server's store of the version before is refused as well, until migrate brings it
// to the present. Then everything in it is there, and the origins of values are (SAFE-S4): the
// bank's own tables are not altered, and theirs stay beside them. The journal, of which the plan is
// made before the tables of the sealed log are there, goes on as one.
func TestStoreOfTheVersionBeforeIsMigrated(t *testing.T) {
	t.Parallel()
	db, s := pgtest.Database(t), newShell(t)
	does := func(line string) string {
		t.Helper()
		out, said, code := s.run(t, line)
		if code != exitDone {
			t.Fatalf("%s: exit code %d\n%s%s", line, code, out, said)
		}
		return out
	}
	migrate := "verbatim migrate --store '" + db.Owner + "' --grant-to verbatim_app"
	does(migrate + " --data bank.postgres.sql --data people.sql")
	db.Run(t, `DO $$DECLARE t record; BEGIN
FOR t IN SELECT table_schema, table_name FROM information_schema.columns WHERE column_name = 'verbatim_origins' LOOP
	EXECUTE format('ALTER TABLE %I.%I DROP COLUMN verbatim_origins', t.table_schema, t.table_name);
END LOOP; END$$`,
		"ALTER TABLE public.verbatim_journal DISABLE TRIGGER ALL", "DELETE FROM public.verbatim_journal", "ALTER TABLE public.verbatim_journal ENABLE TRIGGER ALL",
		"DROP TABLE public.verbatim_waiting, public.verbatim_leaf, public.verbatim_head", "DROP SEQUENCE public.verbatim_number",
		"ALTER TABLE public.verbatim_journal DROP COLUMN salt", "ALTER TABLE public.verbatim_journal RENAME COLUMN chain_prev TO prev", "ALTER TABLE public.verbatim_journal RENAME COLUMN chain_hash TO hash",
		"ALTER TABLE public.verbatim_journal ALTER COLUMN prev SET NOT NULL, ALTER COLUMN hash SET NOT NULL, ADD CONSTRAINT verbatim_journal_prev_key UNIQUE (prev)",
		"UPDATE public.verbatim_schema SET version = 3",
		"INSERT INTO public.verbatim_origin SELECT 'kyc.outstanding_requests', request_id::text, 'client_notes', 'model' FROM kyc.outstanding_requests")
	for _, line := range []string{"run --as clara --yes note.dsl", "log verify", "work --once"} {
		_, said, code := s.run(t, "verbatim "+line+" --store '"+db.App+"'")
		if code != exitRefused || !strings.Contains(said, "is of the version before this program's. Nothing was changed\nnext: end the programs of the older version that use it, then: verbatim migrate") {
			t.Errorf("%s: exit code %d\n%s", line, code, said)
		}
	}
	if out := does(migrate + " --plan"); !strings.Contains(out, "UPDATE public.verbatim_schema SET version = 5") {
		t.Errorf("the plan is %s", out)
	}
	does(migrate + " --yes")
	does("verbatim run --as clara --yes note.dsl --store '" + db.App + "'")
	if out := does("verbatim log verify --store '" + db.App + "'"); !strings.HasPrefix(out, "journal whole: 1 entry") {
		t.Errorf("the journal is %s", out)
	}
	// Clara wrote over one of seven notes that a model had written.
	db.Run(t, "DO $$BEGIN ASSERT (SELECT count(*) FROM public.verbatim_origin) = 6; END$$")
}
