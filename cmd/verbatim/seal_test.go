package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"verbatim/stores/postgres/pgtest"
)

// SAFE-J6: what was committed and is not sealed yet counts, as entries of another process's that
// ended do: a baseline does not tell of it again, and a replay has it.
func TestWhatWaitsToBeSealedCounts(t *testing.T) {
	t.Parallel()
	db, s := pgtest.Database(t), newShell(t)
	does := func(line, says string) {
		t.Helper()
		out, said, code := s.run(t, "verbatim "+line+" --store '"+db.App+"'")
		if code != exitDone || !strings.Contains(out, says) {
			t.Errorf("%s: exit code %d\n%s%s", line, code, out, said)
		}
	}
	unsealed := func() {
		db.Run(t, "ALTER TABLE public.verbatim_leaf DISABLE TRIGGER ALL", "ALTER TABLE public.verbatim_head DISABLE TRIGGER ALL",
			"DELETE FROM public.verbatim_leaf", "DELETE FROM public.verbatim_head",
			"ALTER TABLE public.verbatim_leaf ENABLE TRIGGER ALL", "ALTER TABLE public.verbatim_head ENABLE TRIGGER ALL",
			"INSERT INTO public.verbatim_waiting SELECT seq FROM public.verbatim_journal")
	}
	if _, said, code := s.run(t, "verbatim migrate --store '"+db.Owner+"' --grant-to verbatim_app --data bank.postgres.sql --data people.sql"); code != exitDone {
		t.Fatal(said)
	}
	does("run --as clara --yes note.dsl", "")
	does("log baseline --as d.lang", "the journal was told of")
	unsealed()
	does("log baseline --as d.lang", "the journal knows every row already")
	unsealed()
	does("log replay", "no difference in the store")
}

// Over HTTP whoever did it gets the proof of an entry, signed by the server's key, which the command checks without
// a store; others get none. A key that has lost what it signed last signs nothing, and /readyz says so.
func TestAProofOverHTTP(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	public := strings.TrimSpace(h.do("log", "keygen", "bank.key", "--name", "bank.example/journal"))
	h.env = append(h.env, "VERBATIM_LOG_KEY=bank.key")
	s := h.serve("--no-work", "--sign-in", "clara", "--sign-in", "d.lang", "--sign-in", "jonas")
	clara, lang := newVisitor(t).comes(s, "clara"), newVisitor(t).comes(s, "d.lang")
	_, body, err := clara.post(s.url+"/v1/run", "once", map[string]string{"script": fmt.Sprintf(aNote, 1)})
	found := regexp.MustCompile(`"entry":(\d+)`).FindStringSubmatch(body)
	if err != nil || found == nil {
		t.Fatal(err, body)
	}
	at := s.url + "/v1/journal/" + found[1] + "/proof"
	status, proof := clara.get(at)
	if status != http.StatusOK {
		t.Fatal(status, proof)
	}
	if err := os.WriteFile(filepath.Join(h.dir, "mine.tlog-proof"), []byte(proof), 0o600); err != nil {
		t.Fatal(err)
	}
	if said := h.do("log", "check-proof", "mine.tlog-proof", "--key", public); !strings.Contains(said, "entry "+found[1]+" is in the log") || !strings.Contains(said, "signed by  bank.example/journal/sealed-log") {
		t.Error(said)
	}
	if status, body := lang.get(at); status != http.StatusOK { // who keeps the journal
		t.Error("a keeper:", status, body)
	}
	if status, body := newVisitor(t).comes(s, "jonas").get(at); status != http.StatusForbidden || !strings.Contains(body, "not-permitted") {
		t.Error("another:", status, body)
	}
	if status, body := lang.get(s.url + "/v1/journal/999/proof"); status != http.StatusNotFound {
		t.Error("no entry:", status, body)
	}
	if _, body := clara.get(s.url + "/readyz"); !strings.HasPrefix(body, "ready\npalettes ") || strings.Count(body, "\n") != 2 {
		t.Error(body)
	}
	if err := os.Rename(filepath.Join(h.dir, "bank.key.signed"), filepath.Join(h.dir, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	if status, body := clara.get(at); status != http.StatusServiceUnavailable || !strings.Contains(body, "log-not-signed") {
		t.Error("a key without what it signed last:", status, body)
	}
	if status, body := clara.get(s.url + "/readyz"); status != http.StatusOK || !strings.Contains(body, "what the key signed last is missing") {
		t.Error(status, body)
	}
}
