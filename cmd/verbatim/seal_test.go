package main

import (
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
