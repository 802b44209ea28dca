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
	r, err := a.run(who, "kyc.status :verification-id "+v)
	if err != nil {
		a.t.Fatal(err)
	}
	for i, column := range r.Calls[0].Result.Columns {
		if column != "verification" && column != "answered" {
			all += fmt.Sprintln(column, r.Calls[0].Result.Rows[0][i])
		}
	}
	return status, all
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
		a.more("eastbank", "westbank", "midbank")
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
		_, wrong := a.answer("midbank", fmt.Sprintf(wrongGuess, 0))
		if status, right := a.answer("midbank", rightGuess); status != "CHALLENGED" || right != wrong {
			t.Errorf("a right guess is told from a wrong one:\n%s\n%s", right, wrong)
		}
		// The day goes by, and the hold does not.
		a.mu.Lock()
		a.clock = a.clock.AddDate(0, 0, 3)
		a.mu.Unlock()
		if status, _ := a.begun("midbank", rightGuess); status != "CHALLENGED" {
			t.Errorf("after some days it is %s", status)
		}
		r, err := a.run("rosa", "kyc.holds")
		if err != nil || len(r.Calls[0].Result.Rows) != 4 {
			t.Fatalf("%v %v", r, err)
		}
		if _, err := a.run("rosa", "kyc.lift :challenge-id "+a.tells("rosa", "kyc.holds", "challenge")); err != nil { // the latest holds the person
			t.Fatal(err)
		}
		for _, peer := range []string{"midbank", "westbank", "northbank"} {
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
