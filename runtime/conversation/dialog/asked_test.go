package dialog_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/engine"
	"verbatim/runtime/state/sessions"
	"verbatim/stores"
	"verbatim/verbs"
)

// A question that waits for a yes outlives the process that asked it, and every
// rule that holds within one process holds between two.

// window opens ann's session of a name, as a process of its own does.
func (h *house) window(who string, m *script) *talk {
	h.t.Helper()
	s, err := h.engine.Visit(context.Background(), who, engine.Visit{Name: "repairs"})
	if err != nil {
		h.t.Fatal(err)
	}
	o := dialog.Options{Registry: h.reg, Session: s, Interpreter: fixed{}, Mode: dialog.Text, Clock: h.clock}
	if m != nil {
		o.Model = m
	}
	c, err := dialog.New(o)
	if err != nil {
		h.t.Fatal(err)
	}
	if err := c.Resume(context.Background()); err != nil {
		h.t.Fatal(err)
	}
	return &talk{h: h, Conversation: c}
}

// X11, SAFE-C7: in another process, a plain yes to the question that was put last
// agrees to it, once; everything that is no agreement in one process is none in
// two.
func TestAQuestionIsAnsweredInAnotherProcess(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, h *house) {
		for _, c := range []struct {
			name string
			send dialog.Message
			done bool
			open int
			says string
		}{
			{"another subject", dialog.Message{Text: "What about the window"}, false, 1, ""},
			{"a quotation", dialog.Message{Text: "> yes"}, false, 1, ""},
			{"a machine", dialog.Message{Text: "yes", Automatic: true}, false, 1, ""},
			{"somebody else", dialog.Message{Text: "yes", From: "ben"}, false, 1, ""},
			{"yes, with a change", dialog.Message{Text: "yes, but make it Friday"}, false, 0, ""},
			{"no", dialog.Message{Text: "no"}, false, 0, "Not done"},
			{"yes", dialog.Message{Text: "Yes, please."}, true, 0, "Done: cancel a repair"},
		} {
			first := h.window("ann", answers(calls(cancelBoiler), "All right."))
			if a := first.say("Please cancel the boiler"); len(a.Open) != 1 {
				t.Fatalf("%s: told %q", c.name, a.Text)
			}
			other := h.another(h.reg).window("ann", answers("Hm?"))
			if r := other.Reminder(); !strings.Contains(r, "Boiler") || !strings.Contains(r, "Answer yes or no") {
				t.Errorf("%s: reminded of %q", c.name, r)
			}
			a := other.send(c.send)
			if got := h.field("repair", 11, "status"); (got == "CANCELLED") != c.done || !strings.Contains(a.Text, c.says) {
				t.Fatalf("%s: %s; told %q", c.name, got, a.Text)
			}
			// Whoever asked sees the same.
			first.send(dialog.Message{Text: "yes", Automatic: true})
			if n := len(first.Open()); n != c.open || len(other.Open()) != c.open {
				t.Errorf("%s: %d questions are open where it was asked, %d where it was answered", c.name, n, len(other.Open()))
			}
			first.say("no") // and begin anew
		}
		if h.field("repair", 11, "status") != "CANCELLED" {
			t.Fatal("nothing was done")
		}
		before := h.state()
		for _, again := range []*talk{h.window("ann", answers("Hm?")), h.another(h.reg).window("ann", answers("Hm?"))} {
			again.say("yes")
		}
		if h.state() != before {
			t.Error("agreed to twice")
		}
	})
}

// SAFE-C7: nobody else's session of the same name has the question.
func TestAQuestionIsNobodyElses(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, h *house) {
		h.window("ann", answers(calls(cancelBoiler))).say("Please cancel the boiler")
		for _, who := range []string{"ben", "max"} {
			c := h.another(h.reg).window(who, answers("Hm?"))
			if c.Reminder() != "" || len(c.Open()) > 0 {
				t.Errorf("%s was reminded of %q", who, c.Reminder())
			}
			c.say("yes")
		}
		if h.field("repair", 11, "status") != "ORDERED" {
			t.Error("somebody else agreed")
		}
	})
}

// SAFE-C7: what was said in one window is a change of subject in the other, and a
// question that is put again there is put.
func TestWhatIsSaidElsewhereComesBetween(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, h *house) {
		first := h.window("ann", answers(calls(cancelBoiler)))
		first.say("Please cancel the boiler")
		m := answers(tells("@kitchen-window"))
		other := h.another(h.reg).window("ann", m)
		other.say("And the window?")
		if len(m.asked) != 1 || !strings.Contains(m.prompts(t), "Please cancel the boiler") {
			t.Error("the model of the other window was not shown what was said in the first")
		}
		if a := first.say("yes"); h.field("repair", 11, "status") != "ORDERED" || !strings.Contains(a.Text, "so that we mean the same") {
			t.Fatalf("told %q", a.Text)
		}
		if a := other.say("yes"); h.field("repair", 11, "status") != "CANCELLED" {
			t.Errorf("the question as it was put again cannot be agreed to: %q", a.Text)
		}
	})
}

// G4, SAFE-C7: of two, the newest is answered in another process, and the older one comes back in a third.
func TestTheOlderOfTwoComesBackElsewhere(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, h *house) {
		first := h.window("ann", answers(calls(cancelBoiler), calls(cancelWindow)))
		first.say("Please cancel the boiler")
		first.say("And the window too")
		there := h.another(h.reg).window("ann", nil)
		if r := there.Reminder(); strings.Contains(r, "Boiler") || !strings.Contains(r, "Kitchen Window") {
			t.Errorf("reminded of %q", r)
		}
		if a := there.say("yes"); h.field("repair", 12, "status") != "CANCELLED" || !strings.Contains(a.Text, "Boiler") {
			t.Fatalf("told %q", a.Text)
		}
		if h.field("repair", 11, "status") != "ORDERED" {
			t.Fatal("a yes answered two questions")
		}
		if a := h.another(h.reg).window("ann", nil).say("yes"); h.field("repair", 11, "status") != "CANCELLED" {
			t.Errorf("told %q", a.Text)
		}
	})
}

// SAFE-C7, U17: a question that is too old, whose rows moved, or whose palettes
// are others by now is put again as it is.
func TestAnOldQuestionIsPutAgainElsewhere(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, h *house) {
		text, err := os.ReadFile("testdata/house/house.yaml")
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "house.yaml"), []byte(strings.Replace(string(text), "it cannot be taken back", "nobody can undo it", 1)), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name, says string
			between    func() *house
		}{
			{"expired", "too old", func() *house {
				o := h.another(h.reg)
				o.later(16 * time.Minute)
				return o
			}},
			{"moved", "Something has changed", func() *house {
				h.does("max", `house.order :repair-id @boiler :cost 80`)
				return h.another(h.reg)
			}},
			{"other palettes", "nobody can undo it", func() *house { return h.another(palettesAt(t, dir)) }},
		} {
			h.window("ann", answers(calls(cancelBoiler))).say("Please cancel the boiler")
			there := c.between()
			if a := there.window("ann", nil).say("yes"); h.field("repair", 11, "status") != "ORDERED" || !strings.Contains(a.Text, c.says) || len(a.Open) > 1 {
				t.Fatalf("%s: told %q", c.name, a.Text)
			}
			if c.name == "other palettes" {
				continue
			}
			if a := there.window("ann", nil).say("yes"); h.field("repair", 11, "status") != "CANCELLED" {
				t.Fatalf("%s: the fresh question cannot be agreed to: %q", c.name, a.Text)
			}
			h.sets("repair", 11, "status", "ORDERED")
		}
	})
}

// SAFE-C7, SAFE-C3: of many windows that say yes at the same moment, exactly one
// carries it out.
func TestManyWindowsAgreeAtOnce(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, h *house) {
		const windows = 6
		h.window("ann", answers(calls(`house.pay :flat-id @garden-flat :iban "`+iban+`" :amount 200`))).say("Pay 200 to " + iban + " for the garden flat")
		var all []*talk
		for range windows {
			all = append(all, h.another(h.reg).window("ann", nil))
		}
		var done sync.WaitGroup
		start := make(chan struct{})
		paid := make([]int, windows)
		for i, c := range all {
			done.Go(func() {
				<-start
				a, err := c.Say(context.Background(), dialog.Message{Text: "yes"})
				if err != nil {
					t.Error(err)
					return
				}
				paid[i] = len(a.Done)
			})
		}
		close(start)
		done.Wait()
		n := 0
		for _, p := range paid {
			n += p
		}
		if h.count("payment") != 1 || n != 1 {
			t.Errorf("paid %d times, and %d windows were told so", h.count("payment"), n)
		}
	})
}

// What is sensitive in a question is carried out as it was said, and is nowhere
// once the question is settled; four eyes are asked from the other process too.
func TestAQuestionElsewhereAsksOthers(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, h *house) {
		h.window("ann", answers(calls(`house.pay :flat-id @garden-flat :iban "`+iban+`" :amount 2000`))).say("Pay 2000 to " + iban + " for the garden flat")
		a := h.another(h.reg).window("ann", nil).say("yes")
		if h.count("payment") != 0 || !strings.Contains(a.Text, "manager") {
			t.Fatalf("told %q", a.Text)
		}
		manager := h.session("max")
		pending, err := manager.Pending(context.Background())
		if err != nil || len(pending) != 1 || !pending[0].Mine {
			t.Fatal(pending, err)
		}
		if _, _, err := manager.Agree(context.Background(), pending[0].ID); err != nil {
			t.Fatal(err)
		}
		if h.count("payment") != 1 {
			t.Error("not paid")
		}
	})
}

// OB8, SAFE-A1, SAFE-C7: whoever must agree may read what the person wrote that led to the
// question, also where it was put again, and the journal is told each time. Nobody else may,
// nor whoever agrees where the message speaks of rows that they do not see, where it may
// hold what the call withholds, or once the person's words were forgotten.
func TestWhoMustAgreeReadsWhatWasWritten(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	text, err := os.ReadFile("testdata/house/house.yaml")
	if err != nil {
		t.Fatal(err)
	}
	variant := func(changes ...string) *verbs.Registry {
		t.Helper()
		dir, changed := t.TempDir(), string(text)
		for i := 0; i < len(changes); i += 2 {
			if !strings.Contains(changed, changes[i]) {
				t.Fatalf("%q is not in the palette", changes[i])
			}
			changed = strings.Replace(changed, changes[i], changes[i+1], 1)
		}
		if err := os.WriteFile(filepath.Join(dir, "house.yaml"), []byte(changed), 0o666); err != nil {
			t.Fatal(err)
		}
		return palettesAt(t, dir)
	}
	pays := calls(`house.pay :flat-id @garden-flat :iban "` + iban + `" :amount 2000`)
	const wrote = "Pay 2000 for the garden flat to DE89370400440532013000, please"
	asks := func(h *house, m *script, between ...func() *house) string {
		t.Helper()
		h.window("ann", m).say(wrote)
		var a *dialog.Answer
		for _, there := range append(between, func() *house { return h.another(h.reg) }) {
			a = there().window("ann", nil).say("yes")
		}
		all, err := h.session("max").Pending(ctx)
		if err != nil || len(all) == 0 {
			t.Fatalf("nothing waits: %v; told %q", err, a.Text)
		}
		return all[len(all)-1].ID
	}
	reads := func(h *house, who, id string) (said bool, words, code string) {
		t.Helper()
		s := h.session(who)
		if p, err := s.Show(ctx, id); err == nil {
			said = p.Said
		}
		words, err := s.Words(ctx, id)
		var refusal *engine.Refusal
		if errors.As(err, &refusal) {
			code = refusal.Diagnostics[0].Code
		} else if err != nil {
			t.Fatal(err)
		}
		return said, words, code
	}
	nothing := func(h *house, name, who, id string) {
		t.Helper()
		if said, words, code := reads(h, who, id); said || words != "" || code != "unknown-confirmation" {
			t.Errorf("%s: %s reads %q (%t, %s)", name, who, words, said, code)
		}
	}
	told := func(h *house) (n int, turn string) {
		t.Helper()
		entries, err := h.store.Journal(ctx, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Verb == "verbatim.read-words" && e.Outcome == "ok" {
				n, turn = n+1, e.Turn
			}
			if strings.Contains(e.Call+e.Changes, "for the garden flat to") {
				t.Errorf("the journal holds the message: %s", e.Call)
			}
		}
		return n, turn
	}
	onBoth(t, func(t *testing.T, h *house) {
		id := asks(h, answers(pays))
		for _, who := range []string{"ann", "ben", "eve"} {
			nothing(h, "not asked", who, id)
		}
		nothing(h, "no such thing", "max", "1111-2222-3333-4444-5555-6666-7777-8888")
		if n, _ := told(h); n != 0 {
			t.Errorf("the journal tells of %d who read", n)
		}
		if said, words, code := reads(h, "max", id); !said || words != wrote {
			t.Errorf("max reads %q (%t, %s)", words, said, code)
		}
		n, turn := told(h)
		mine, err := h.engine.Visit(ctx, "ann", engine.Visit{Name: "repairs"})
		if err != nil {
			t.Fatal(err)
		}
		if turns, err := mine.Turns().Between(ctx, 1, 0); n != 1 || err != nil || !slices.ContainsFunc(turns, func(s sessions.Turn) bool { return s.ID == turn && s.Content == wrote }) {
			t.Errorf("the journal tells of %d who read turn %q: %v", n, turn, err)
		}
		if err := h.session("max").Decline(ctx, id, ""); err != nil {
			t.Fatal(err)
		}
		nothing(h, "declined", "max", id)

		// Too old, the question is put again: it came of the same words, and not of the yes.
		h.later(time.Minute)
		id = asks(h, answers(strings.Replace(pays, "2000", "3000", 1)), func() *house { h.later(16 * time.Minute); return h.another(h.reg) })
		if said, words, _ := reads(h, "max", id); !said || words != wrote {
			t.Errorf("of a question that was put again, max reads %q", words)
		}
		// Whoever asked is forgotten, and with them what they wrote.
		if err := h.store.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
			rows, err := tx.Find(ctx, sessions.SaidBy("ann", 0))
			if err != nil {
				return err
			}
			var b stores.Batch
			for _, row := range rows {
				b.Changes = append(b.Changes, sessions.Erase(row))
			}
			return tx.Apply(ctx, b)
		}); err != nil {
			t.Fatal(err)
		}
		nothing(h, "forgotten", "max", id)
	})
	onBoth(t, func(t *testing.T, h *house) {
		o := h.another(variant("iban:   {type: string}", "iban:   {type: string, sensitive: true}", "- {name: iban, type: string, required: true,", "- {name: iban, type: string, required: true, sensitive: true,"))
		nothing(o, "withheld", "max", asks(o, answers(pays)))
	})
	onBoth(t, func(t *testing.T, h *house) {
		for _, p := range []stores.Principal{
			{Name: "ann", Roles: []string{"tenant"}, Holds: map[string][]stores.Value{"flat": {id(1), id(2)}}},
			{Name: "max", Roles: []string{"manager"}, Holds: map[string][]stores.Value{"flat": {id(1), id(2)}}},
			{Name: "mia", Roles: []string{"manager"}, Holds: map[string][]stores.Value{"flat": {id(1)}}},
		} {
			if err := h.store.SetPrincipal(ctx, p); err != nil {
				t.Fatal(err)
			}
		}
		o := h.another(variant(", sees: all}", "}"))
		// The message was about a repair in a flat that mia does not look after.
		id := asks(o, answers(calls(`house.read-letters :repair-id @zinnia-skylight`), pays))
		if p, err := o.session("mia").Show(ctx, id); err != nil || !p.Mine {
			t.Fatal("mia is not asked", err)
		}
		nothing(o, "of another flat", "mia", id)
		if said, words, _ := reads(o, "max", id); !said || words != wrote {
			t.Errorf("max, who looks after both, reads %q", words)
		}
	})
}
