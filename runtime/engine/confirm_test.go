package engine_test

import (
	"context"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/engine"
	"verbatim/runtime/state/confirmations"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// What somebody else has to agree to: kim keeps the club, bo is its board, and
// more than two months are the board's to give.
const (
	tooLong = "lending.extend :loan-id @saw-bob :new-date 2025-03-20"
	week    = 7 * 24 * time.Hour
)

var ctx = context.Background()

// own agrees to what a program asks of the person themselves.
func (w *world) own(s *engine.Session, p *verbs.Program) engine.RunOptions {
	w.t.Helper()
	preview, err := s.Preview(ctx, p)
	if err != nil {
		w.t.Fatal(err)
	}
	return engine.RunOptions{Agreed: preview.ID}
}

// propose asks for somebody else's agreement.
func (w *world) propose(s *engine.Session, p *verbs.Program) *engine.Pending {
	w.t.Helper()
	c, err := s.Propose(ctx, p, w.own(s, p))
	if err != nil {
		w.t.Fatal(err)
	}
	if c.ID == "" {
		w.t.Fatal("nobody else is asked")
	}
	return c
}

func (w *world) later(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clock = w.clock.Add(d)
}

// grant gives somebody these roles and no others.
func (w *world) grant(who string, roles ...string) {
	w.t.Helper()
	for _, p := range people {
		if p.Name == who {
			p.Roles = roles
			if err := w.store.SetPrincipal(ctx, p); err != nil {
				w.t.Fatal(err)
			}
		}
	}
}

// otherPalettes is the same store under palettes of which one word differs.
func (w *world) otherPalettes() *world {
	w.t.Helper()
	files := map[string]string{}
	for _, name := range []string{"lending.yaml", "crafted.yaml"} {
		text, err := os.ReadFile("testdata/palettes/" + name)
		if err != nil {
			w.t.Fatal(err)
		}
		files[name] = strings.Replace(string(text), "Give more time.", "Give some more time.", 1)
	}
	return w.with(loadYAML(w.t, files), w.store)
}

// with is a world on another store or with other palettes, and the same clock.
func (w *world) with(reg *verbs.Registry, store stores.Store) *world {
	w.t.Helper()
	engine, err := engine.New(reg, store, engine.Options{Clock: w.now, NewID: w.newID})
	if err != nil {
		w.t.Fatal(err)
	}
	return &world{t: w.t, reg: reg, store: store, engine: engine, clock: w.clock, ids: w.ids}
}

// last is the newest journal entry.
func (w *world) last() stores.Entry {
	w.t.Helper()
	all := w.journal()
	return all[len(all)-1]
}

func TestSomebodyElseAgreesAndItIsDoneAsTheAsker(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.state()
	kim := w.session("kim")
	c := w.propose(kim, w.program(kim, tooLong))
	equal(t, diff(w.entity, before, w.state()), nil)
	if e := w.last(); e.Outcome != "refused" || e.Reason != "needs-agreement" || e.Agreed != "kim" || e.Preview != c.Preview.ID {
		t.Errorf("journalled as %+v", e)
	}

	// Those whom it concerns see it, and nobody else.
	for who, want := range map[string]bool{"kim": true, "bo": true, "mia": false, "sam": false, "ada": false} {
		list, err := w.session(who).Pending(ctx)
		if err != nil || len(list) == 1 != want {
			t.Errorf("%s sees %d (%v)", who, len(list), err)
		}
		if want && (list[0].ID != c.ID || list[0].Mine != (who == "bo") || len(list[0].Calls) != 1 || plain(list[0].Calls[0]) != tooLong) {
			t.Errorf("%s sees %+v", who, list[0])
		}
	}
	shown, err := w.session("bo").Show(ctx, c.ID)
	if err != nil || shown.Stale || shown.Preview.Digest != c.Preview.Digest {
		t.Fatalf("bo is shown %+v, %v", shown, err)
	}
	equal(t, diff(w.entity, before, w.state()), nil)

	p, reply, err := w.session("bo").Agree(ctx, c.ID)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, diff(w.entity, before, w.state()), []string{"~ loan " + id(31).Text() + " due=2025-03-20"})
	e := w.last()
	if e.Principal != "kim" || e.Agreed != "bo, role board" || e.Preview != c.Preview.ID || e.Outcome != "ok" || reply.Last != e.Seq || p.Status != confirmations.Used {
		t.Errorf("journalled as %+v, told %+v", e, p)
	}
	if list, err := w.session("bo").Pending(ctx); err != nil || len(list) > 0 {
		t.Errorf("it still waits: %v %v", list, err)
	}
}

// U18: neither consent of one's own nor the id of what was proposed makes up for
// somebody else's agreement.
func TestOwnConsentNeverCoversSomebodyElses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kim := w.session("kim")
	p := w.program(kim, tooLong)
	c := w.propose(kim, p)
	for _, agreed := range []string{"", c.ID, c.Preview.ID, w.own(kim, p).Agreed} {
		_, err := kim.Run(ctx, p, engine.RunOptions{Agreed: agreed})
		wantRefusal(t, err, "needs-agreement")
	}
	// And what it asks of the person is asked before anybody else is.
	other := w.program(kim, "lending.extend :loan-id @saw-bob :new-date 2025-04-20")
	_, err := kim.Propose(ctx, other, engine.RunOptions{})
	wantRefusal(t, err, "needs-agreement")
	_, err = kim.Propose(ctx, other, engine.RunOptions{Agreed: c.Preview.ID})
	wantRefusal(t, err, "stale-preview")
}

// SAFE-C1: whichever part of what was agreed to differs, nothing is executed,
// and it is said why.
func TestAnythingThatDiffersMakesAnAgreementWorthless(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		what, code string
		change     func(w *world, c *engine.Pending)
		agreer     func(w *world) *engine.Session
	}{
		{"the row it changes", "stale-preview", func(w *world, _ *engine.Pending) { w.set("loan", 31, "due", date("2025-01-11")) }, nil},
		{"another field of that row", "stale-preview", func(w *world, _ *engine.Pending) { w.set("loan", 31, "note", str("x")) }, nil},
		{"a field that was empty", "stale-preview", func(w *world, _ *engine.Pending) { w.set("loan", 31, "updated_at", stores.NewTime(time.Unix(1, 0))) }, nil},
		{"the row is gone", "role-lost", func(w *world, _ *engine.Pending) {
			w.change(stores.Change{Op: stores.Delete, Entity: w.entity("reminder"), Key: id(41)}, stores.Change{Op: stores.Delete, Entity: w.entity("loan"), Key: id(31)})
		}, nil},
		{"the target of the reference", "stale-preview", func(w *world, _ *engine.Pending) {
			// The name is another row's now.
			w.set("item", 22, "name", str("Old saw"))
			w.set("item", 24, "name", str("Saw"))
			w.set("loan", 33, "member", id(12))
		}, nil},
		{"the text", "stale-preview", func(w *world, c *engine.Pending) {
			w.tamper(c.ID, "script", str(strings.Replace(tooLong, "03-20", "03-21", 1)))
		}, nil},
		{"the digest", "stale-preview", func(w *world, c *engine.Pending) { w.tamper(c.ID, "digest", str(strings.Repeat("0", 64))) }, nil},
		{"the asker", "same-person", func(w *world, c *engine.Pending) { w.tamper(c.ID, "asker", str("bo")) }, nil},
		{"another asker", "stale-preview", func(w *world, c *engine.Pending) { w.tamper(c.ID, "asker", str("mia")) }, nil},
		{"the palettes", "other-palette", nil, func(w *world) *engine.Session { return w.otherPalettes().session("bo") }},
		{"the palettes, by the row", "other-palette", func(w *world, c *engine.Pending) { w.tamper(c.ID, "palette", str("x")) }, nil},
		{"the asker's role", "role-lost", func(w *world, _ *engine.Pending) { w.grant("kim", "auditor") }, nil},
		{"the asker has one role more", "stale-preview", func(w *world, _ *engine.Pending) { w.grant("kim", "keeper", "member") }, nil},
		{"the agreer's role", "role-lost", nil, func(w *world) *engine.Session {
			bo := w.session("bo")
			w.grant("bo", "auditor")
			return bo
		}},
		{"the role that must agree", "unknown-confirmation", func(w *world, c *engine.Pending) { w.tamper(c.ID, "roles", stores.NewList(str("auditor"))) }, nil},
		{"the time, one second late", "agreement-expired", func(w *world, c *engine.Pending) { w.at(c.Expires) }, nil},
		{"the store is another", "unknown-confirmation", nil, func(w *world) *engine.Session { return newWorld(w.t).session("bo") }},
		{"used", "already-used", func(w *world, c *engine.Pending) { w.tamper(c.ID, "status", str("USED")) }, nil},
		{"declined", "declined-before", func(w *world, c *engine.Pending) {
			if err := w.session("bo").Decline(ctx, c.ID, "no"); err != nil {
				w.t.Fatal(err)
			}
		}, nil},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			kim := w.session("kim")
			c := w.propose(kim, w.program(kim, tooLong))
			bo := w.session("bo")
			if tt.change != nil {
				tt.change(w, c)
			}
			if tt.agreer != nil {
				bo = tt.agreer(w)
			}
			before, entries := w.state(), len(w.journal())
			_, reply, err := bo.Agree(ctx, c.ID)
			if reply != nil {
				t.Error("it was carried out")
			}
			if tt.what == "the row is gone" {
				// Whether a row is gone or out of scope is one answer.
				wantRefusal(t, err, "unknown-confirmation")
			} else {
				wantRefusal(t, err, tt.code)
			}
			equal(t, diff(w.entity, before, w.state()), nil)
			if tt.what != "the store is another" {
				if e := w.last(); len(w.journal()) != entries+1 || e.Outcome != "refused" || e.Principal != "bo" || e.Verb != "verbatim.agree" {
					t.Errorf("journalled as %+v", e)
				}
			}
			// What was stale once stays so.
			if tt.code == "stale-preview" {
				_, _, err := bo.Agree(ctx, c.ID)
				wantRefusal(t, err, "stale-preview")
			}
		})
	}
}

// at sets the clock so that the next look at it gives t.
func (w *world) at(t time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clock = t.Add(-time.Second)
}

// tamper changes the row of a confirmation behind the engine's back.
func (w *world) tamper(public, field string, v stores.Value) {
	w.t.Helper()
	e := engine.Own()[0]
	err := w.store.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
		rows, err := tx.Find(ctx, stores.Find{Entity: e, Where: &stores.Cond{Op: stores.Eq, Path: stores.Path{Field: e.FieldIndex("id")}, Value: str(public)}})
		if err != nil {
			return err
		}
		if len(rows) != 1 {
			w.t.Fatalf("%d rows are called %s", len(rows), public)
		}
		return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{{Op: stores.Update, Entity: e, Key: rows[0][e.Key], Set: []stores.Assign{{Field: e.FieldIndex(field), Value: v}}}}})
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// SAFE-C1: until the second at which it expires it is good.
func TestAnAgreementIsGoodUntilTheSecond(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kim := w.session("kim")
	c := w.propose(kim, w.program(kim, tooLong))
	if got := c.Expires.Sub(c.Asked); got != verbs.DefaultExpiry {
		t.Errorf("it lasts %s", got)
	}
	bo := w.session("bo")
	// Agree looks at the clock once before the transaction and once in it.
	w.at(c.Expires.Add(-2 * time.Second))
	if _, _, err := bo.Agree(ctx, c.ID); err != nil {
		t.Fatal(err)
	}
}

// Between asking and agreeing the clock is set back or forward. What was asked is good until the instant at which it
// expires by the clock of then, is done once however often and whenever somebody agrees, and what was done under a key
// is not done again. SAFE-R11
func TestAnAgreementWhileTheClockIsSet(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{-366 * 24 * time.Hour, -24 * time.Hour, -time.Hour, -time.Second, time.Second, time.Hour, verbs.DefaultExpiry - 2*time.Second, verbs.DefaultExpiry + time.Minute, 366 * 24 * time.Hour} {
		t.Run(by.String(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			before, asked := w.state(), w.clock
			kim := w.session("kim")
			o := w.own(kim, w.program(kim, tooLong))
			o.Key = "once"
			c, err := kim.Propose(ctx, w.program(kim, tooLong), o)
			if err != nil {
				t.Fatal(err)
			}
			w.at(asked.Add(by))
			_, reply, err := w.session("bo").Agree(ctx, c.ID)
			if by >= verbs.DefaultExpiry {
				if refusal, ok := errors.AsType[*engine.Refusal](err); !ok || refusal.Diagnostics[0].Code != "agreement-expired" {
					t.Fatalf("agreeing too late: %v", err)
				}
				// What has ended stays ended, also when the clock goes back to when it was good.
				w.at(asked.Add(time.Minute))
				if _, _, err := w.session("bo").Agree(ctx, c.ID); err == nil {
					t.Error("what had expired was agreed to once the clock was set back")
				}
				equal(t, diff(w.entity, before, w.state()), nil)
				return
			}
			if err != nil || reply == nil {
				t.Fatal(err)
			}
			once := []string{"~ loan " + id(31).Text() + " due=2025-03-20"}
			equal(t, diff(w.entity, before, w.state()), once)
			entries := len(w.journal())
			for _, again := range []time.Duration{-by, by, -48 * time.Hour, 48 * time.Hour} {
				w.at(asked.Add(again))
				if _, repeated, err := w.session("bo").Agree(ctx, c.ID); err == nil && (repeated == nil || repeated.Last != reply.Last) {
					t.Errorf("agreeing again at %s: %+v", again, repeated)
				}
				if r, err := w.session("kim").Run(ctx, w.program(w.session("kim"), tooLong), engine.RunOptions{Key: "once"}); err == nil && !r.Repeated {
					t.Errorf("the same key at %s: %+v", again, r)
				}
			}
			done := 0
			for _, e := range w.journal()[entries:] {
				if e.Outcome == "ok" {
					done++
				}
			}
			if done > 0 {
				t.Errorf("%d more entries say that it was done", done)
			}
			equal(t, diff(w.entity, before, w.state()), once)
		})
	}
}

// A restoredStore says that its rows were put back from a dump while it was in use.
type restoredStore struct{ stores.Store }

func (s restoredStore) Identity(ctx context.Context) (stores.Identity, error) {
	id, err := s.Store.Identity(ctx)
	id.Restored = true
	return id, err
}

// G80: what waited in rows that were put back under a running program may have been decided since they
// were kept. It cannot be agreed to, also before anybody noticed.
func TestAnAgreementIsWorthlessOnceTheStoreWasRestored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kim := w.session("kim")
	c := w.propose(kim, w.program(kim, tooLong))
	eng, err := engine.New(w.reg, restoredStore{w.store}, engine.Options{Clock: w.now, NewID: w.newID})
	if err != nil {
		t.Fatal(err)
	}
	bo, err := eng.Session(ctx, "bo")
	if err != nil {
		t.Fatal(err)
	}
	before := w.state()
	_, _, err = bo.Agree(ctx, c.ID)
	wantRefusal(t, err, "stale-preview")
	if !reflect.DeepEqual(before["loan "+id(31).Text()], w.state()["loan "+id(31).Text()]) {
		t.Error("it was done")
	}
}

// SAFE-C2: replayed, guessed, through another session or after a refusal, it is
// worth nothing; and nothing of it is told to whom it does not concern.
func TestAnAgreementCannotBeReplayedOrGuessed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kim := w.session("kim")
	p := w.program(kim, tooLong)
	c := w.propose(kim, p)
	var unknown []string
	for _, who := range []string{"mia", "sam", "ada", "nobody"} {
		s := w.session(who)
		_, _, err := s.Agree(ctx, c.ID)
		unknown = append(unknown, strings.ReplaceAll(wantRefusal(t, err, "unknown-confirmation").Error(), c.ID, "ID"))
		_, err = s.Show(ctx, c.ID)
		wantRefusal(t, err, "unknown-confirmation")
		wantRefusal(t, s.Decline(ctx, c.ID, "x"), "unknown-confirmation")
	}
	for _, guess := range []string{"", "0000-0000", c.Preview.ID, "%", c.ID + " "} {
		_, _, err := w.session("bo").Agree(ctx, guess)
		wantRefusal(t, err, "unknown-confirmation")
	}
	_, _, err := w.session("mia").Agree(ctx, "ffff-ffff")
	if got := strings.ReplaceAll(err.Error(), "ffff-ffff", "ID"); slices.ContainsFunc(unknown, func(s string) bool { return s != got }) {
		t.Errorf("what is not theirs and what is not there are told apart: %q %q", unknown, got)
	}

	// Proposed again it is the same question, and one answer answers it.
	other := w.session("kim")
	if again := w.propose(other, w.program(other, tooLong)); again.ID != c.ID {
		t.Errorf("asked twice: %s and %s", c.ID, again.ID)
	}
	if _, _, err := w.session("bo").Agree(ctx, c.ID); err != nil {
		t.Fatal(err)
	}
	w.set("loan", 31, "due", date("2025-01-10")) // as it was
	before := w.state()
	for range 2 { // the same answer gets the same reply, and does nothing
		if _, reply, err := w.session("bo").Agree(ctx, c.ID); err != nil || !reply.Repeated {
			t.Errorf("%+v, %v", reply, err)
		}
	}
	w.grant("mia", "board")
	_, _, err = w.session("mia").Agree(ctx, c.ID) // hers is another
	wantRefusal(t, err, "already-used")
	w.grant("mia", "member")
	equal(t, diff(func(name string) *stores.Entity { return w.entity(name) }, before, w.state()), nil)

	// Declined is declined, until something about it changes.
	c = w.propose(kim, p)
	if err := w.session("bo").Decline(ctx, c.ID, "not this year"); err != nil {
		t.Fatal(err)
	}
	if e := w.last(); e.Outcome != "declined" || e.Principal != "bo" {
		t.Errorf("journalled as %+v", e)
	}
	_, err = kim.Propose(ctx, p, w.own(kim, p))
	if r := wantRefusal(t, err, "declined-before"); !strings.Contains(r.Error(), "not this year") {
		t.Errorf("the reason is not told: %s", r)
	}
	w.set("loan", 31, "note", str("Bob asked again"))
	w.propose(kim, p)
}

// SAFE-C4: four eyes are two people, whatever sessions, roles and edits there
// are.
func TestFourEyesAreTwoPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.grant("kim", "keeper", "board")
	kim := w.session("kim")
	c := w.propose(kim, w.program(kim, tooLong))
	before := w.state()
	for _, s := range []*engine.Session{kim, w.session("kim")} {
		_, _, err := s.Agree(ctx, c.ID)
		wantRefusal(t, err, "same-person")
		wantRefusal(t, s.Decline(ctx, c.ID, ""), "same-person")
	}
	if list, err := kim.Pending(ctx); err != nil || len(list) != 1 || list[0].Mine {
		t.Errorf("kim is asked for her own: %+v %v", list, err)
	}
	// F7 SAFE-C4: nor by another login, whether it is spelt in capitals or said to be
	// hers, then or since.
	for _, p := range []stores.Principal{{Name: "KIM"}, {Name: "k.other", Person: "kim"}} {
		p.Roles, p.Holds = []string{"board"}, holds(1)
		if err := w.store.SetPrincipal(ctx, p); err != nil {
			t.Fatal(err)
		}
		_, _, err := w.session(p.Name).Agree(ctx, c.ID)
		wantRefusal(t, err, "same-person")
		wantRefusal(t, w.session(p.Name).Decline(ctx, c.ID, ""), "same-person")
	}
	// The asker edits what was asked for: that is another question.
	edited := w.propose(kim, w.program(kim, "lending.extend :loan-id @saw-bob :new-date 2026-03-20"))
	if edited.ID == c.ID {
		t.Error("an edit kept its agreement")
	}
	// Another club's board, and this one's without the role.
	w.grant("sam", "board")
	w.grant("bo", "member")
	for _, who := range []string{"sam", "bo"} {
		_, _, err := w.session(who).Agree(ctx, c.ID)
		wantRefusal(t, err, "unknown-confirmation")
	}
	// The asker is gone.
	w.grant("bo", "board")
	w.grant("kim")
	_, _, err := w.session("bo").Agree(ctx, c.ID)
	wantRefusal(t, err, "role-lost")
	equal(t, diff(w.entity, before, w.state()), nil)
}

// G21: a token is no second person, whoever's it is, unless the rule says that it may be. A rule that
// asks for a person takes the asker's own agreement only once they signed in, here and where a job asks.
func TestAProgramIsNoSecondPerson(t *testing.T) {
	t.Parallel()
	rule := "by: board, reason: that is more than two months}"
	with := func(to string) *world {
		text := lendingText(t)
		if strings.Count(text, rule) != 1 {
			t.Fatal("the palette has no such rule")
		}
		crafted, err := os.ReadFile("testdata/palettes/crafted.yaml")
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld(t)
		return w.with(loadYAML(t, map[string]string{"lending.yaml": strings.Replace(text, rule, to, 1), "crafted.yaml": string(crafted)}), w.store)
	}

	w := with(rule)
	kim := w.session("kim")
	c := w.propose(kim, w.program(kim, tooLong))
	before := w.state()
	token := w.session("bo")
	token.ByProgram()
	_, _, err := token.Agree(ctx, c.ID)
	if r := wantRefusal(t, err, "role-lost"); !strings.Contains(r.Error(), "second person") || !strings.Contains(told(r.Diagnostics), "programs: true") {
		t.Errorf("%v %s", r, told(r.Diagnostics))
	}
	equal(t, diff(w.entity, before, w.state()), nil)
	if _, reply, err := w.session("bo").Agree(ctx, c.ID); err != nil || reply == nil {
		t.Errorf("bo: %v", err)
	}

	w = with("by: board, programs: true, reason: a machine looks}")
	kim = w.session("kim")
	c = w.propose(kim, w.program(kim, tooLong))
	token = w.session("bo")
	token.ByProgram()
	if _, reply, err := token.Agree(ctx, c.ID); err != nil || reply == nil {
		t.Errorf("where programs may: %v", err)
	}

	w = with("by: person, reason: think of it}")
	kim = w.session("kim")
	p := w.program(kim, tooLong)
	shown, err := kim.Preview(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	_, err = kim.Run(ctx, p, engine.RunOptions{Agreed: shown.ID})
	wantRefusal(t, err, "sign-in-again")
	kim.Prove(w.now())
	if _, err = kim.Run(ctx, p, engine.RunOptions{Agreed: shown.ID}); err != nil {
		t.Errorf("signed in: %v", err)
	}
	// Asked for in kim's absence, it is kim's to decide later.
	p = w.program(kim, "lending.extend :loan-id @saw-bob :new-date 2025-08-20")
	if c, err = kim.Propose(ctx, p, engine.RunOptions{Absent: true}); err != nil {
		t.Fatal(err)
	}
	_, _, err = w.session("kim").Agree(ctx, c.ID)
	wantRefusal(t, err, "sign-in-again")
	later := w.session("kim")
	later.Prove(w.now())
	if _, reply, err := later.Agree(ctx, c.ID); err != nil || reply == nil {
		t.Errorf("signed in, later: %v", err)
	}
}

// Where several roles must agree, the last one carries it out, and nobody
// agrees twice.
func TestSeveralRolesAgree(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for _, name := range []string{"lending.yaml", "crafted.yaml"} {
		text, err := os.ReadFile("testdata/palettes/" + name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = strings.Replace(string(text), `      - {when: "new_date > loan_id.due + days(60)", by: board,`,
			`      - {by: auditor, expires: 2h, reason: the books}
      - {when: "new_date > loan_id.due + days(60)", by: board,`, 1)
	}
	w := newWorld(t)
	w = w.with(loadYAML(t, files), w.store)
	kim := w.session("kim")
	c := w.propose(kim, w.program(kim, tooLong))
	if got := c.Expires.Sub(c.Asked); got != 2*time.Hour {
		t.Errorf("it lasts %s, the strictest rule says 2h", got)
	}
	before := w.state()
	p, reply, err := w.session("bo").Agree(ctx, c.ID)
	if err != nil || reply != nil || p.Roles[0].By != "" || p.Roles[1].By != "bo" || p.Status != confirmations.Waiting {
		t.Fatalf("after one: %+v %v %v", p, reply, err)
	}
	equal(t, diff(w.entity, before, w.state()), nil)
	_, _, err = w.session("bo").Agree(ctx, c.ID)
	wantRefusal(t, err, "already-used")
	if _, reply, err = w.session("ada").Agree(ctx, c.ID); err != nil || reply == nil {
		t.Fatalf("after both: %v %v", reply, err)
	}
	if e := w.last(); e.Agreed != "ada, role auditor; bo, role board" {
		t.Errorf("agreed: %s", e.Agreed)
	}
	equal(t, diff(w.entity, before, w.state()), []string{"~ loan " + id(31).Text() + " due=2025-03-20"})
}

// F32: a kept preview that nobody agreed to in time goes when the next is kept,
// and one entry of the journal tells of it.
func TestAPreviewThatExpiredIsInTheJournal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kim := w.session("kim")
	kept, err := kim.Keep(ctx, w.program(kim, "lending.forget :reminder-id @saw-2025-01-11"))
	if err != nil {
		t.Fatal(err)
	}
	w.later(2 * verbs.DefaultExpiry)
	before := len(w.journal())
	for range 2 {
		if _, err := kim.Keep(ctx, w.program(kim, "lending.drop-loan :loan-id @tent-ann")); err != nil {
			t.Fatal(err)
		}
	}
	told := w.journal()[before:]
	if len(told) != 1 || told[0].Outcome != "expired" || told[0].Verb != "verbatim.expire" || told[0].Principal != "kim" || told[0].Preview != kept.ID {
		t.Errorf("got %+v, want one entry about %s", told, kept.ID)
	}
}

// U17: a preview of one's own is good once and until it expires, and in another
// process as well: there it is compared whole, not by the id alone.
func TestAKeptPreviewIsGoodOnce(t *testing.T) {
	t.Parallel()
	const ask = "lending.forget :reminder-id @saw-2025-01-11"
	w := newWorld(t)
	kim := w.session("kim")
	p := w.program(kim, ask)
	kept, err := kim.Keep(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	agreed := engine.RunOptions{Agreed: kept.ID}
	run := func(s *engine.Session, o engine.RunOptions) error {
		_, err := s.Run(ctx, w.program(s, ask), o)
		return err
	}
	// The id alone is nothing: it was kept for kim, on this store.
	lost := newWorld(t)
	wantRefusal(t, run(lost.session("kim"), agreed), "stale-preview")

	w.set("reminder", 41, "text", str("second"))
	wantRefusal(t, run(w.session("kim"), agreed), "stale-preview")
	w.set("reminder", 41, "text", str("first"))
	w.later(2 * verbs.DefaultExpiry)
	wantRefusal(t, run(w.session("kim"), agreed), "agreement-expired")
	wantRefusal(t, run(kim, agreed), "agreement-expired")
	if again, err := kim.Keep(ctx, p); err != nil || again.ID != kept.ID {
		t.Fatal(again, err)
	}
	row := w.state()["reminder "+id(41).Text()]
	if err := run(w.session("kim"), agreed); err != nil {
		t.Fatal(err)
	}
	put := stores.Change{Op: stores.Insert, Entity: w.entity("reminder"), Key: id(41)}
	for i, v := range row {
		if i != w.entity("reminder").Key {
			put.Set = append(put.Set, stores.Assign{Field: i, Value: v})
		}
	}
	w.change(put)
	for _, s := range []*engine.Session{w.session("kim"), kim} { // the same answer gets the same reply, and does nothing
		if r, err := s.Run(ctx, w.program(s, ask), agreed); err != nil || !r.Repeated {
			t.Error(r, err)
		}
	}
	if _, there := w.state()["reminder "+id(41).Text()]; !there {
		t.Error("it was done again")
	}

	// Declined at the question, it is worth nothing either.
	if _, err := kim.Keep(ctx, p); err != nil {
		t.Fatal(err)
	}
	if err := w.session("kim").DeclinePreview(ctx, p, kept.ID); err != nil {
		t.Fatal(err)
	}
	if e := w.last(); e.Outcome != "declined" || e.Principal != "kim" || e.Verb != "lending.forget" {
		t.Errorf("journalled as %+v", e)
	}
	wantRefusal(t, run(w.session("kim"), agreed), "declined-before")
	if _, err := kim.Keep(ctx, p); err != nil {
		t.Fatal(err)
	}
	if err := kim.DeclinePreview(ctx, p, kept.ID); err != nil {
		t.Fatal(err)
	}
	wantRefusal(t, run(kim, agreed), "declined-before") // in the window in which it was declined, too
	if _, there := w.state()["reminder "+id(41).Text()]; !there {
		t.Error("it was done all the same")
	}
}

// F8: whoever agrees sees the whole call, whose rows they are where they see those of
// several owners, and what has changed since it was asked for.
func TestWhoeverAgreesSeesTheCallAndWhatMoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kim := w.session("kim")
	c := w.propose(kim, w.program(kim, tooLong))
	w.grant("bo", "board")
	if err := w.store.SetPrincipal(ctx, stores.Principal{Name: "bo", Roles: []string{"board"}, Holds: map[string][]stores.Value{"club": {id(1), id(2)}}}); err != nil {
		t.Fatal(err)
	}
	bo := w.session("bo")
	shown, err := bo.Show(ctx, c.ID)
	if err != nil || shown.Stale || len(shown.Calls) != 1 || plain(shown.Calls[0]) != tooLong || !suffixes.MatchString(shown.Calls[0]) {
		t.Fatalf("%+v, %v", shown, err)
	}
	if rows := shown.Preview.Calls[0].Rows; len(rows) == 0 || rows[0].Owner != "@north" {
		t.Errorf("the owner is not told: %+v", rows)
	}
	if kim, err := kim.Show(ctx, c.ID); err != nil || kim.Preview.Calls[0].Rows[0].Owner != "" {
		t.Errorf("who sees one club is told of it: %+v %v", kim, err)
	}
	w.set("loan", 31, "due", date("2025-01-11"))
	shown, err = bo.Show(ctx, c.ID)
	want := []string{"due of @saw-bob was 2025-01-10 and is 2025-01-11"}
	if err != nil || !shown.Stale || !slices.Equal(shown.Moved, want) {
		t.Errorf("%q, %v", shown.Moved, err)
	}
	_, _, err = bo.Agree(ctx, c.ID)
	wantRefusal(t, err, "stale-preview")
	var r *engine.Refusal
	if errors.As(err, &r); !strings.Contains(r.Diagnostics[0].Summary, want[0]) {
		t.Errorf("the refusal says %s", r.Diagnostics[0].Summary)
	}
}

// F6: ids have 128 bits; a short form is looked up among a person's own, and a
// preview of one session is worth nothing in another.
func TestAPreviewIsOfItsSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const text = `lending.lose :item-id @saw`
	one := w.visit(w.engine, "kim", engine.Visit{Name: "one"})
	kept, err := one.Keep(ctx, w.program(one, text))
	if err != nil || len(kept.ID) != 39 {
		t.Fatalf("%+v %v", kept, err)
	}
	for what, s := range map[string]*engine.Session{"another session": w.visit(w.engine, "kim", engine.Visit{Name: "two"}), "no session": w.session("kim")} {
		for _, id := range []string{kept.ID, receipt.Short(kept.ID)} {
			_, err := s.Run(ctx, w.program(s, text), engine.RunOptions{Agreed: id})
			if err == nil {
				t.Errorf("%s: it was done", what)
				continue
			}
			wantRefusal(t, err, "stale-preview")
		}
	}
	again := w.visit(w.engine, "kim", engine.Visit{Name: "one"})
	if _, err := again.Run(ctx, w.program(again, text), engine.RunOptions{Agreed: receipt.Short(kept.ID)}); err != nil {
		t.Errorf("its own session: %v", err)
	}
}

// F1: homonyms that come between the question and the agreement change nothing of what
// is agreed to.
func TestHomonymsBetweenQuestionAndAgreement(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kim := w.session("kim")
	c := w.propose(kim, w.program(kim, tooLong))
	e := w.entity("loan")
	w.change(stores.Change{Op: stores.Insert, Entity: e, Key: id(1), Set: []stores.Assign{
		{Field: e.FieldIndex("member"), Value: id(12)}, {Field: e.FieldIndex("item"), Value: id(22)}, {Field: e.FieldIndex("due"), Value: date("2025-01-10")}}})
	shown, err := w.session("bo").Show(ctx, c.ID)
	if err != nil || shown.Stale {
		t.Fatalf("%+v, %v", shown, err)
	}
	if _, _, err := w.session("bo").Agree(ctx, c.ID); err != nil {
		t.Fatal(err)
	}
	if is, other := w.get("loan", id(31), "due"), w.get("loan", id(1), "due"); is != date("2025-03-20") || other != date("2025-01-10") {
		t.Errorf("due on %s, and the other's on %s", is, other)
	}
}
