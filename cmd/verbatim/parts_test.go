package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"verbatim/stores/postgres/pgtest"
)

// A journal is cut into parts while a server writes to it, and nothing is lost. A part that
// is not there is named, detached or gone, and its export is verified beside the others.
func TestAJournalInParts(t *testing.T) {
	t.Parallel()
	db := bankDatabase(t)
	h := newHouse(t)
	h.env = append(h.env, "VERBATIM_STORE="+db.App, "VERBATIM_FILES="+filepath.Join(h.dir, "files"))
	fails := func(code int, args ...string) string {
		t.Helper()
		cmd := exec.Command(filepath.Join(h.dir, ".bin", "verbatim"), args...)
		cmd.Dir, cmd.Env = h.dir, h.env
		out, _ := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got != code {
			t.Errorf("verbatim %s exits %d, not %d: %s", strings.Join(args, " "), got, code, out)
		}
		return string(out)
	}
	cut := func() {
		t.Helper()
		h.do("migrate", "--store", db.Owner, "--grant-to", "verbatim_app", "--cut-journal", "--yes")
	}
	// Whoever may not, or did not agree, cuts nothing.
	if out := fails(2, "migrate", "--check", "--cut-journal"); !strings.Contains(out, "--check changes nothing") {
		t.Error(out)
	}
	if out := fails(2, "migrate", "--store", "a.db", "--cut-journal"); !strings.Contains(out, "a file has no parts") {
		t.Error(out)
	}
	if out := fails(1, "migrate", "--store", db.Owner, "--cut-journal", "--yes"); !strings.Contains(out, "no entry yet") {
		t.Error(out)
	}
	s := h.serve("--log", "error", "--no-work", "--sign-in", "clara")
	clara := newVisitor(t).comes(s, "clara")
	writes := 0
	note := func() {
		t.Helper()
		writes++
		if status, body, err := clara.post(s.url+"/v1/run", fmt.Sprint(writes), map[string]string{"script": fmt.Sprintf(aNote, writes)}); err != nil || status != http.StatusOK {
			t.Fatal(status, body, err)
		}
	}
	note()
	if out := fails(3, "migrate", "--store", db.Owner, "--cut-journal"); !strings.Contains(out, "the journal goes on in another part, behind verbatim_journal_1 (1 entry)") {
		t.Error(out)
	}
	h.do("log", "keygen", "bank.key", "--name", "bank.example/journal")
	if err := os.WriteFile(filepath.Join(h.dir, "before.note"), []byte(h.do("log", "checkpoint", "--sign", "bank.key")), 0o600); err != nil {
		t.Fatal(err)
	}
	// It is cut twice while somebody writes.
	var stop atomic.Bool
	var writer sync.WaitGroup
	writer.Go(func() {
		for !stop.Load() && !t.Failed() {
			note()
		}
	})
	cut()
	cut()
	stop.Store(true)
	writer.Wait()
	note()
	if got := h.done(); got != writes+2 {
		t.Errorf("%d entries are there, %d calls and two cuts were made", got, writes)
	}
	if out := h.do("log", "verify", "--since", "before.note"); !strings.Contains(out, "extends the checkpoint") {
		t.Error(out)
	}
	h.do("log", "replay")
	// The role of runs adds by way of the whole, and nobody changes a part by a slip.
	if n, err := db.Number(`SELECT count(*) FROM pg_class WHERE relname ~ '^verbatim_journal_[0-9]+$' AND NOT has_table_privilege('verbatim_app', oid, 'INSERT') AND relispartition`); err != nil || n != 3 {
		t.Errorf("%d of 3 parts are closed to the role of runs: %v", n, err)
	}
	refuses := func() {
		t.Helper()
		for _, slip := range []string{"TRUNCATE verbatim_journal_1", "DELETE FROM verbatim_journal_1", "UPDATE verbatim_journal SET verb = ''"} {
			if out := slips(db, slip); !strings.Contains(out, "append-only") {
				t.Errorf("%s: %s", slip, out)
			}
		}
	}
	refuses()
	db.Run(t, "DROP TRIGGER verbatim_journal_rows ON verbatim_journal", "DROP TRIGGER verbatim_journal_table ON verbatim_journal_1")
	h.do("migrate", "--store", db.Owner)
	refuses()
	db.Run(t, "ALTER TABLE verbatim_journal_1 DISABLE TRIGGER verbatim_journal_rows", "ALTER TABLE verbatim_journal_1 DISABLE TRIGGER verbatim_journal_table")
	h.do("migrate", "--store", db.Owner)
	refuses()
	second, err := db.Number(`SELECT substr(relname, 18)::bigint FROM pg_class WHERE relname ~ '^verbatim_journal_[0-9]+$' ORDER BY 1 OFFSET 1 LIMIT 1`)
	if err != nil {
		t.Fatal(err)
	}
	third, err := db.Number(`SELECT substr(relname, 18)::bigint FROM pg_class WHERE relname ~ '^verbatim_journal_[0-9]+$' ORDER BY 1 OFFSET 2 LIMIT 1`)
	if err != nil {
		t.Fatal(err)
	}
	export := func(name string, from, to int64) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(h.dir, name), []byte(h.do("log", "export", "--as", "d.lang", "--from", fmt.Sprint(from), "--to", fmt.Sprint(to))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	export("one.jsonl", 1, second-1)
	export("two.jsonl", second, third-1)

	// The one in the middle is detached, then the first is gone.
	db.Run(t, fmt.Sprintf("ALTER TABLE verbatim_journal DETACH PARTITION verbatim_journal_%d", second))
	if out := fails(1, "log", "verify"); !strings.Contains(out, fmt.Sprintf("journal entry %d is missing", second)) || !strings.Contains(out, fmt.Sprintf("verbatim_journal_%d, which is detached", second)) {
		t.Error(out)
	}
	if out := h.do("log", "verify", "--archived", "two.jsonl", "--since", "before.note"); !strings.Contains(out, "extends the checkpoint") {
		t.Error(out)
	}
	db.Run(t, "ALTER TABLE verbatim_journal DETACH PARTITION verbatim_journal_1", "DROP TABLE verbatim_journal_1")
	if out := fails(1, "log", "verify"); !strings.Contains(out, "journal entry 1 is missing") || !strings.Contains(out, "verbatim_journal_1, which is not in the database") {
		t.Error(out)
	}
	h.do("log", "verify", "--archived", "two.jsonl", "--archived", "one.jsonl", "--since", "before.note")
	if out := fails(1, "log", "verify", "--archived", "two.jsonl"); !strings.Contains(out, "verbatim_journal_1") {
		t.Error(out)
	}
	// An export that was written anew is no part of this journal.
	text, err := os.ReadFile(filepath.Join(h.dir, "one.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.dir, "forged.jsonl"), []byte(strings.Replace(string(text), `"outcome":"ok"`, `"outcome":"no"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := fails(1, "log", "verify", "--archived", "two.jsonl", "--archived", "forged.jsonl"); !strings.Contains(out, "altered after it was written") {
		t.Error(out)
	}
	if out := fails(2, "log", "verify", "--archived", "none.jsonl"); !strings.Contains(out, "there is no file") {
		t.Error(out)
	}
	// Work goes on, and so does cutting.
	note()
	cut()
	note()
	h.do("log", "verify", "--archived", "two.jsonl", "--archived", "one.jsonl", "--since", "before.note")
	db.Run(t, fmt.Sprintf("ALTER TABLE verbatim_journal ATTACH PARTITION verbatim_journal_%d FOR VALUES FROM (%d) TO (%d)", second, second, third))
	h.do("log", "verify", "--archived", "one.jsonl", "--since", "before.note")
}

// slips runs a statement as the owner of the tables, and says what came of it.
func slips(db pgtest.DB, sql string) string {
	if err := db.Load(sql); err != nil {
		return err.Error()
	}
	return "done"
}
