package kyc_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"verbatim/runtime/engine"
	"verbatim/runtime/jobs/worker"
	"verbatim/stores"
)

// answer is all that a peer is told of a verification that it begins, without the name of the row
// and the times.
func (a *agent) answer(who, text string) (status, all string) {
	a.t.Helper()
	status, v := a.begun(who, text)
	return status, a.told(who, v)
}

// told is all that a peer is told of a verification.
func (a *agent) told(who, v string) (all string) {
	a.t.Helper()
	r, err := a.run(who, "kyc.status :verification-id "+v)
	if err != nil {
		a.t.Fatal(err)
	}
	for i, column := range r.Calls[0].Result.Columns {
		if column != "verification" && column != "answered" {
			all += fmt.Sprintln(column, r.Calls[0].Result.Rows[0][i])
		}
	}
	return all
}

// agreed is what Rosa asks for and Omar agrees to.
func (a *agent) agreed(text string) {
	a.t.Helper()
	s, p, err := a.checked("rosa", text)
	if err != nil {
		a.t.Fatal(err)
	}
	asked, err := s.Propose(ctx, p, engine.RunOptions{})
	if err != nil {
		a.t.Fatal(err)
	}
	omar, err := a.engine.Session(ctx, "omar")
	if err == nil {
		_, _, err = omar.Agree(ctx, asked.ID)
	}
	if err != nil {
		a.t.Fatal(err)
	}
}

// works does what is due, and returns the notices to compliance.
func (a *agent) works() (notices []string) {
	a.t.Helper()
	w := &worker.Worker{Engine: a.engine, Store: a.store, Name: "test", Clock: a.now, Send: func(_ context.Context, m engine.Message) error {
		notices = append(notices, m.Target+" "+m.Body)
		return nil
	}, Report: func(e worker.Event) {
		a.t.Log(e.Outcome, e.What, e.Reason, e.Err)
	}}
	for range 3 { // what is triggered tells of something
		if _, err := w.Once(ctx); err != nil {
			a.t.Fatal(err)
		}
	}
	return notices
}

// more lets other companies ask.
func (a *agent) more(names ...string) {
	a.t.Helper()
	for i, name := range names {
		key := fmt.Sprintf("00000004-0000-4000-8000-00000000001%d", i)
		err := a.store.(interface {
			Load(context.Context, string, ...*stores.Entity) error
		}).Load(ctx, fmt.Sprintf("INSERT INTO peer (peer_id, name, level, held) VALUES ('%s', '%s', 'STANDARD', FALSE);\nINSERT INTO verbatim_principal (name, label) VALUES ('%s', '%s');\nINSERT INTO verbatim_grant (principal, role, entity, key) VALUES ('%s', 'peer', 'peer', '%s');\n", key, name, name, name, name, key))
		if err != nil {
			a.t.Fatal(err)
		}
	}
}

const (
	wrongGuess = `kyc.verify :name "John Smith" :ssn-last4 "%04d"`
	rightGuess = `kyc.verify :name "John Smith" :ssn-last4 "9999"`
)

// Three wrong answers of one peer about one person hold that pair: a right one is told as a wrong
// one, and nobody else is. Somebody of compliance is told, and lifts it. // G8
func TestGuessingHoldsAPair(t *testing.T) {
	t.Parallel()
	agents(t, func(t *testing.T, a *agent) {
		for i := range 2 {
			if status, _ := a.begun("northbank", fmt.Sprintf(wrongGuess, i)); status != "CHALLENGED" {
				t.Fatal(status)
			}
		}
		if got := a.works(); len(got) != 0 {
			t.Fatalf("compliance is told too early: %q", got)
		}
		// The third, by a correction of the second and under a name that is nearly the same.
		_, v := a.begun("northbank", `kyc.verify :name "Jon Smith"`)
		if got := a.tells("northbank", "kyc.supply :verification-id "+v+` :ssn-last4 "0003"`, "status"); got != "CHALLENGED" {
			t.Fatal(got)
		}
		if got := a.works(); len(got) != 1 || !strings.Contains(got[0], "compliance") || !strings.Contains(got[0], "Northbank") || strings.Contains(got[0], "R-1001") {
			t.Errorf("compliance is told %q", got)
		}
		_, wrong := a.answer("northbank", fmt.Sprintf(wrongGuess, 4))
		if status, right := a.answer("northbank", rightGuess); status != "CHALLENGED" || right != wrong {
			t.Errorf("a right guess is told from a wrong one:\n%s\n%s", right, wrong)
		}
		_, v = a.begun("northbank", fmt.Sprintf(wrongGuess, 5))
		if got := a.tells("northbank", "kyc.supply :verification-id "+v+` :ssn-last4 "9999"`, "status"); got != "CHALLENGED" {
			t.Errorf("a right correction is %s", got)
		}
		// What the peer does not know it by: nothing of the counter is in what it is told.
		if r, err := a.run("northbank", rightGuess); err != nil || strings.Contains(fmt.Sprint(r), "PAIR") || strings.Contains(fmt.Sprint(r), "R-1001") {
			t.Errorf("%v %v", r, err)
		}
		for _, other := range []string{`kyc.verify :name "Wei Zhang" :ssn-last4 "5462"`, `kyc.verify :name "Maria Garcia" :ssn-last4 "1120"`} {
			if status, _ := a.begun("northbank", other); status != "VERIFIED" {
				t.Errorf("%s: %s", other, status)
			}
		}
		if status, _ := a.begun("southbank", rightGuess); status != "VERIFIED" {
			t.Errorf("another peer is held: %s", status)
		}
		// Lifting it.
		r, err := a.run("rosa", "kyc.holds")
		if err != nil || len(r.Calls[0].Result.Rows) != 1 {
			t.Fatalf("%v %v", r, err)
		}
		a.refused("northbank", "kyc.holds")
		held := a.tells("rosa", "kyc.holds", "challenge")
		a.refused("northbank", "kyc.lift :challenge-id "+held)
		if _, err := a.run("rosa", "kyc.lift :challenge-id "+held); err != nil {
			t.Fatal(err)
		}
		if status, _ := a.begun("northbank", rightGuess); status != "VERIFIED" {
			t.Errorf("it was lifted, and is %s", status)
		}
		if got := a.works(); len(got) != 0 {
			t.Errorf("compliance is told again: %q", got)
		}
	})
}

// Ten wrong answers of all peers in a day hold the person for everybody, and one peer alone never
// does. // G8
func TestGuessingHoldsAPerson(t *testing.T) {
	t.Parallel()
	agents(t, func(t *testing.T, a *agent) {
		a.more("eastbank", "westbank", "midbank", "newbank")
		for i := range 20 { // and most of them do not count
			a.begun("northbank", fmt.Sprintf(wrongGuess, i))
		}
		for i := range 3 {
			for _, peer := range []string{"southbank", "eastbank"} {
				a.begun(peer, fmt.Sprintf(wrongGuess, i))
			}
		}
		if status, _ := a.begun("midbank", rightGuess); status != "VERIFIED" {
			t.Fatalf("three peers hold a person for the others: %s", status)
		}
		a.works()
		a.begun("westbank", fmt.Sprintf(wrongGuess, 0))
		if got := a.works(); len(got) != 1 || !strings.Contains(got[0], "compliance") {
			t.Errorf("compliance is told %q", got)
		}
		_, wrong := a.answer("newbank", fmt.Sprintf(wrongGuess, 0))
		if status, right := a.answer("newbank", rightGuess); status != "REJECTED" || right != wrong {
			t.Errorf("a right guess is told from a wrong one:\n%s\n%s", right, wrong)
		}
		// What was told before is told so again, and nothing more.
		for text, want := range map[string]string{rightGuess: "VERIFIED", fmt.Sprintf(wrongGuess, 1): "CHALLENGED", rightGuess + ` :phone "555-0123"`: "CHALLENGED", `kyc.verify :name "John Smith" :phone "555-0123"`: "CHALLENGED"} {
			if status, _ := a.begun("midbank", text); status != want {
				t.Errorf("%s is told as %s", text, status)
			}
		}
		// The day goes by, and the hold does not.
		a.mu.Lock()
		a.clock = a.clock.AddDate(0, 0, 3)
		a.mu.Unlock()
		if status, _ := a.begun("newbank", rightGuess); status != "REJECTED" {
			t.Errorf("after some days it is %s", status)
		}
		r, err := a.run("rosa", "kyc.holds")
		if err != nil || len(r.Calls[0].Result.Rows) != 4 {
			t.Fatalf("%v %v", r, err)
		}
		if _, err := a.run("rosa", "kyc.lift :challenge-id "+a.tells("rosa", "kyc.holds", "challenge")); err != nil { // the latest holds the person
			t.Fatal(err)
		}
		for _, peer := range []string{"newbank", "westbank", "northbank"} {
			if status, _ := a.begun(peer, rightGuess); status != "VERIFIED" {
				t.Errorf("it was lifted for %s, and is %s", peer, status)
			}
		}
	})
}

// What was told to be right before is told so again, and what is guessed at beside it is not. // G8
func TestAHoldTellsNothingNew(t *testing.T) {
	t.Parallel()
	agents(t, func(t *testing.T, a *agent) {
		guess := `kyc.verify :name "John Smith" :phone "555-0123" :ssn-last4 "%04d"`
		_, before := a.answer("northbank", fmt.Sprintf(guess, 0))
		for i := range 3 {
			a.begun("northbank", fmt.Sprintf(guess, i))
		}
		if status, after := a.answer("northbank", fmt.Sprintf(guess, 9999)); status != "CHALLENGED" || after != before {
			t.Errorf("the answer changes when it is held:\n%s\n%s", after, before)
		}
	})
}

// Many guesses at the same moment are counted as those one after another. // G8
func TestGuessesAtOnceAreCounted(t *testing.T) {
	t.Parallel()
	agents(t, func(t *testing.T, a *agent) {
		var all sync.WaitGroup
		for i := range 12 {
			all.Go(func() {
				for range 20 {
					if _, err := a.run("northbank", fmt.Sprintf(wrongGuess, i)); err == nil {
						return
					}
				}
			})
		}
		all.Wait()
		r, err := a.run("rosa", "kyc.holds")
		if err != nil || len(r.Calls[0].Result.Rows) != 1 {
			t.Fatalf("%v %v", r, err)
		}
		if status, _ := a.begun("northbank", rightGuess); status != "CHALLENGED" {
			t.Error(status)
		}
	})
}

// Thirty answers that were not right, of whatever kind, hold the peer. // G8
func TestChallengesCountForThePeer(t *testing.T) {
	t.Parallel()
	agents(t, func(t *testing.T, a *agent) {
		for i := range 31 {
			if _, err := a.run("northbank", fmt.Sprintf(wrongGuess, i)); err != nil {
				t.Fatal(i, err)
			}
		}
		if got := a.refused("northbank", rightGuess); !strings.Contains(got, "write to our compliance") {
			t.Error(got)
		}
		if status, _ := a.begun("southbank", rightGuess); status != "VERIFIED" {
			t.Error(status)
		}
	})
}

// Names that pass, one after the other, are a ladder to the name that is stored: each after the first
// counts as a guess, and no more is told of how alike they are than two steps.
func TestNamesThatPassAreGuesses(t *testing.T) {
	t.Parallel()
	agents(t, func(t *testing.T, a *agent) {
		ask := func(peer, name string) (string, string) {
			return a.answer(peer, fmt.Sprintf(`kyc.verify :name %q :phone "415 555 0132"`, name))
		}
		for _, name := range []string{"Maria Garcia", "Garcia, María", "Maria Garcia Lpez", "Maria Garcia Lopez", "Maria Garcia Lopes"} {
			if status, all := ask("northbank", name); status != "VERIFIED" || !strings.Contains(all, "at least 90% alike") {
				t.Errorf("%s is %s", name, all)
			}
		}
		if got := a.works(); len(got) != 1 || !strings.Contains(got[0], "Northbank") {
			t.Errorf("compliance is told %q", got)
		}
		unknown := func(name, all string) string { return strings.ReplaceAll(all, name, "NAME") }
		status, new := ask("northbank", "Maria Garcia Loopez")
		_, none := a.answer("northbank", `kyc.verify :name "Otto Zimmer" :phone "415 555 9999"`)
		if status != "REJECTED" || unknown("Maria Garcia Loopez", new) != unknown("Otto Zimmer", none) {
			t.Errorf("another name is told as\n%s\nand somebody unknown as\n%s", new, none)
		}
		if status, _ := ask("northbank", "Maria Garcia"); status != "VERIFIED" {
			t.Errorf("what was told before is told as %s", status)
		}
		if status, _ := ask("southbank", "Maria Garcia Loopez"); status != "VERIFIED" {
			t.Errorf("another peer is held: %s", status)
		}
	})
}

// fields are the names of the fields that a call of a peer set, of each row: a receipt shows them,
// without what is sensitive.
func (a *agent) fields(who, text string) (all string) {
	a.t.Helper()
	r, err := a.run(who, text)
	if err != nil {
		a.t.Fatal(err)
	}
	for _, row := range r.Calls[0].Rows {
		for _, f := range row.Fields {
			all += row.Entity + "." + f.Name + " "
		}
	}
	return all
}

// Nothing of whom an answer counts for, and what it holds, shows in which fields are set.
func TestAReceiptTellsNoCounter(t *testing.T) {
	t.Parallel()
	agents(t, func(t *testing.T, a *agent) {
		want := a.fields("northbank", `kyc.verify :name "Otto Zimmer" :phone "999-0100"`)
		for i := range 5 {
			if got := a.fields("northbank", fmt.Sprintf(`kyc.verify :name "Otto Zimme%d" :phone "555-0123"`, i)); got != want {
				t.Errorf("a name beside somebody's telephone sets\n%s, and beside nobody's\n%s", got, want)
			}
		}
		want = a.fields("southbank", fmt.Sprintf(wrongGuess, 0))
		for i := range 5 {
			if got := a.fields("southbank", fmt.Sprintf(wrongGuess, i)); got != want {
				t.Errorf("the %d. guess sets\n%s, and the first\n%s", i+2, got, want)
			}
		}
	})
}

// Name after name beside somebody's telephone is guessing at that person, though nobody fits.
func TestNamesBesideATelephoneAreGuesses(t *testing.T) {
	t.Parallel()
	agents(t, func(t *testing.T, a *agent) {
		for _, name := range []string{"Ada Quist", "Berta Quist", "Carla Quist"} {
			if status, _ := a.begun("northbank", fmt.Sprintf(`kyc.verify :name %q :phone "555-0123"`, name)); status != "REJECTED" {
				t.Fatal(status)
			}
		}
		if status, _ := a.begun("northbank", `kyc.verify :name "John Smith" :phone "555-0123"`); status != "REJECTED" {
			t.Errorf("the name that was guessed at is told as %s", status)
		}
		if got := a.tells("rosa", "kyc.holds", "about"); got != "R-1001" {
			t.Errorf("%s is held", got)
		}
	})
}

// Letters that are no words are no name: nobody is looked for, and no answer tells which of them begin
// a name that is known.
func TestLettersAreNoName(t *testing.T) {
	t.Parallel()
	agents(t, func(t *testing.T, a *agent) {
		answers := func(name string) string {
			v, all := a.answer("northbank", fmt.Sprintf(`kyc.verify :name %q :phone "555-0123"`, name))
			return strings.ReplaceAll(v+all, `"`+name, `"NAME`)
		}
		want := answers("Q")
		if !strings.Contains(want, "NEEDS_IDENTIFIERS") || !strings.Contains(want, "too little of a name") {
			t.Error(want)
		}
		for _, name := range []string{"J", "S", "J S", "J. S.", "   ", "\u0301", "J-S"} {
			if got := answers(name); got != want {
				t.Errorf("%q: %s", name, got)
			}
		}
		// A word with initials, or with the beginning of another, is told as a name of nobody.
		a.more("eastbank")
		for _, name := range []string{"J Smith", "John S", "John Sm", "Smith"} {
			v, all := a.answer("eastbank", fmt.Sprintf(`kyc.verify :name %q :phone "555-0123"`, name))
			if v != "REJECTED" || !strings.Contains(all, "an initial stands for none") {
				t.Errorf("%q: %s", name, all)
			}
		}
	})
}

// What somebody of ours decides first is not told before, and if they reject it, the peer is told what
// it is told of somebody who is not known, in every part of the answer.
func TestWhatIsHeldTellsNothing(t *testing.T) {
	t.Parallel()
	agents(t, func(t *testing.T, a *agent) {
		ask := func(name, phone, born string) (v, all string) {
			_, v = a.begun("northbank", fmt.Sprintf(`kyc.verify :name %q :phone %q :birth-date %s :risk-level HIGH`, name, phone, born))
			return v, a.told("northbank", v)
		}
		held, all := ask("Zhang Wei", "212-555-0171", "1990-02-14")
		if !strings.Contains(all, "HELD") {
			t.Fatal(all)
		}
		for _, tells := range []string{"MATCH", "% alike", "fits", "90", "100"} {
			if strings.Contains(all, tells) {
				t.Errorf("a held verification tells %q: %s", tells, all)
			}
		}
		r, err := a.run("northbank", `kyc.verify :name "Zhang Wei" :phone "212-555-0171" :birth-date 1990-02-14 :risk-level HIGH`)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range r.Calls[0].Rows {
			for _, f := range row.Fields {
				if text := strings.Trim(fmt.Sprint(f.After), `"`); !f.Sensitive && (strings.Contains(text, "MATCH") || text == "90") {
					t.Errorf("%s of a held verification is %s", f.Name, text)
				}
			}
		}
		second := r.Calls[0].Rows[0].Name
		if _, err := a.run("rosa", "kyc.turn-down :verification-id "+held); err != nil {
			t.Fatal(err)
		}
		_, none := ask("Otto Zimmer", "212-555-9999", "1991-03-04")
		if got := strings.ReplaceAll(a.told("northbank", held), "Zhang Wei", "Otto Zimmer"); got != none {
			t.Errorf("somebody who is turned down is told as\n%s\nand somebody unknown as\n%s", got, none)
		}
		if _, err := a.run("northbank", "kyc.cancel :verification-id "+second); err != nil {
			t.Fatal(err)
		}
		if all := a.told("northbank", second); strings.Contains(all, "MATCH") || strings.Contains(all, "verified") {
			t.Errorf("one that was called off tells %s", all)
		}
	})
}

// What a peer was told to be right, a hold does not call wrong.
func TestAHoldContradictsNothing(t *testing.T) {
	t.Parallel()
	agents(t, func(t *testing.T, a *agent) {
		const told = `kyc.verify :name "John Smith" :phone "555-0123"`
		_, before := a.answer("northbank", told)
		for i := range 4 {
			a.begun("northbank", fmt.Sprintf(wrongGuess, i))
		}
		if _, after := a.answer("northbank", told); after != before {
			t.Errorf("it is told as\n%s\nand was told as\n%s", after, before)
		}
		if status, _ := a.begun("northbank", rightGuess); status != "CHALLENGED" {
			t.Errorf("what was guessed at is %s", status)
		}
	})
}

// A peer that was let go on begins anew: what was not right before counts no longer.
func TestAPeerIsReleasedForGood(t *testing.T) {
	t.Parallel()
	agents(t, func(t *testing.T, a *agent) {
		for i := range 31 {
			a.begun("northbank", fmt.Sprintf(`kyc.verify :name "Otto Zimmer" :phone "999-01%02d"`, i))
		}
		a.refused("northbank", rightGuess)
		a.agreed(`kyc.release-peer :peer-id @northbank`)
		for range 3 {
			if status, _ := a.begun("northbank", rightGuess); status != "VERIFIED" {
				t.Error(status)
			}
		}
		for i := range 31 {
			if _, err := a.run("northbank", fmt.Sprintf(`kyc.verify :name "Otto Zimmer" :phone "999-02%02d"`, i)); err != nil {
				t.Fatal("after", i, err)
			}
		}
		a.refused("northbank", rightGuess) // those after it do
	})
}
