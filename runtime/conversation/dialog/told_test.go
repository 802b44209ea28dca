package dialog_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/conversation/llm"
	"verbatim/runtime/conversation/values"
	"verbatim/runtime/engine"
	"verbatim/runtime/state/sessions"
	"verbatim/runtime/tests/told"
	"verbatim/stores"
	"verbatim/verbs"
)

// What a conversation tells of a state is so (G10): each sentence is told while the rows are so, and
// not while they are otherwise. claims.txt of package values names these tests.

// houseWith is a house whose palette has other texts, in pairs.
func houseWith(t *testing.T, changes ...string) *house {
	t.Helper()
	text, err := os.ReadFile("testdata/house/house.yaml")
	if err != nil {
		t.Fatal(err)
	}
	changed := string(text)
	for i := 0; i < len(changes); i += 2 {
		if !strings.Contains(changed, changes[i]) {
			t.Fatalf("%q is not in the palette", changes[i])
		}
		changed = strings.Replace(changed, changes[i], changes[i+1], 1)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "house.yaml"), []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	return newHouseAt(t, dir)
}

// elsewhere agrees to the question that stands, as another door does.
func (c *talk) elsewhere(s *engine.Session) {
	c.h.t.Helper()
	q := c.Open()[len(c.Open())-1]
	script, _ := dsl.Parse(dsl.NewSource("elsewhere", strings.Join(q.Calls, "\n")))
	p, ds := s.Check(context.Background(), script, engine.CheckOptions{Said: verbs.Literals{Origin: verbs.NewOrigin(verbs.FromPerson, "")}})
	if p == nil {
		c.h.t.Fatal(ds)
	}
	if _, err := s.Run(context.Background(), p, engine.RunOptions{Agreed: q.ID}); err != nil {
		c.h.t.Fatal(err)
	}
}

const pay = `house.pay :flat-id @garden-flat :iban "` + iban + `" :amount `

// G10: what became of a question, and of the call that it asks about.
func TestWhatIsToldOfAQuestionIsSo(t *testing.T) {
	t.Parallel()
	const please = "Please cancel the boiler"
	question := func(h *house) (*talk, string) {
		c := h.window("ann", answers(calls(cancelBoiler)))
		return c, c.say(please).Text
	}
	h := newHouse(t, "house")
	c, first := question(h)
	noted := c.say("no").Text
	h.later(5 * time.Minute)
	c, second := question(h)
	told.Check(t, "dialog/shall-i", first, second, "", values.SayTime(morning.Add(15*time.Minute), time.UTC))
	done := c.say("yes").Text
	told.Check(t, "dialog/not-done", noted, done)
	told.Check(t, "dialog/did", done, noted, "cancel a repair")
	if h.field("repair", 11, "status") != "CANCELLED" {
		t.Error("it is told as done, and is not")
	}
	told.Check(t, "dialog/nothing-open", h.asks("max", "z").say("no").Text, noted)

	// Too old, moved, gone.
	h = newHouse(t, "house")
	c, _ = question(h)
	h.later(16 * time.Minute)
	expired := c.say("yes").Text
	told.Check(t, "dialog/expired", expired, done)
	h.does("max", `house.order :repair-id @boiler :cost 80`)
	stale := c.say("yes").Text
	told.Check(t, "dialog/stale", stale, expired)
	h.later(16 * time.Minute)
	if err := h.store.SetPrincipal(context.Background(), stores.Principal{Name: "ann"}); err != nil {
		t.Fatal(err)
	}
	gone := c.say("yes").Text
	told.Check(t, "dialog/gone", gone, stale)
	if h.field("repair", 11, "status") != "ORDERED" {
		t.Error("it is told as not done, and was done")
	}

	// Agreed to elsewhere: neither a yes nor a no says anything else.
	for _, say := range []string{"yes", "no", "forget what I said", "no wait, make it Friday"} {
		h = newHouse(t, "house")
		s := h.session("ann")
		c = h.talk(answers(calls(cancelBoiler), pleased), func(o *dialog.Options) { o.Session = s })
		c.say(please)
		c.elsewhere(s)
		again := c.say(say).Text
		told.Check(t, "dialog/answered", again, noted)
		if told.Check(t, "dialog/not-done", noted, again); h.field("repair", 11, "status") != "CANCELLED" {
			t.Errorf("%q took it back", say)
		}
	}

	// One of two stands; then the other.
	h = newHouse(t, "house")
	c = h.window("ann", answers(calls(cancelBoiler), calls(cancelWindow)))
	one := c.say(please).Text
	both := c.say("And the window too").Text
	told.Check(t, "dialog/put-off", both, one, "cancel a repair (Boiler)")
	next := c.say("yes").Text
	told.Check(t, "dialog/still-open", next, both)
	told.Check(t, "dialog/still-open", next, c.say("yes").Text)

	// Worded by a palette; told and started at commit, and not before.
	h = houseWith(t, "    phrases: [\"cancel {repair-id}\"]\n", "    phrases: [\"cancel {repair-id}\"]\n    tells: {asks: \"May I cancel {repair-id}?\"}\n")
	_, first = question(h)
	h.later(5 * time.Minute)
	_, second = question(h)
	told.Check(t, "dialog/answer-how", first, second, "", values.SayTime(morning.Add(15*time.Minute), time.UTC))

	h = houseWith(t, "        set: {status: CANCELLED}\n", "        set: {status: CANCELLED}\n      - notifies: landlord\n        with: {repair: repair-id}\n      - triggers: clean-up\n        with: {repair: repair-id}\n",
		"  - verb: pay\n", "  - verb: forget\n    description: Forget a repair.\n    roles: [tenant]\n    args:\n      - {name: repair-id, type: ref, ref-type: repair, required: true}\n    confirm:\n      - {reason: it is gone then}\n    effects:\n      - deletes: repair\n        where: repair-id\n  - verb: pay\n")
	c = h.window("ann", answers(calls(cancelBoiler), calls("house.forget :repair-id @kitchen-window")))
	asked := c.say(please).Text
	did := c.say("yes").Text
	told.Check(t, "dialog/told", did, asked, "landlord")
	told.Check(t, "dialog/started", did, asked)
	if jobs, err := h.store.Jobs(context.Background(), stores.JobFilter{}); err != nil || len(jobs) != 2 || jobs[0].State != stores.JobWaiting {
		t.Errorf("%+v, %v", jobs, err)
	}
	asked = c.say("Forget the kitchen window").Text
	told.Check(t, "dialog/deleted", c.say("yes").Text, asked)
}

// G10: somebody else's agreement, and the same call once more.
func TestWhatIsToldOfOthersAndOfEarlierCallsIsSo(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "house")
	c := h.window("ann", answers(calls(pay+"200"), calls(pay+"2000"), calls(pay+"200"), calls(pay+"200"), calls(pay+"200")))
	say := func(amount string) string {
		return c.say("Pay " + amount + " to " + iban + " for the garden flat").Text
	}
	first := say("200")
	alone := c.say("yes").Text
	say("2000")
	waits := c.say("yes").Text
	told.Check(t, "dialog/waits-for", waits, alone, "manager")
	again := say("200")
	told.Check(t, "dialog/same-done", again, first, "Friday 27 December 2024")
	c.say("no")

	// A request to a tool whose answer was lost, and one that was done there alone.
	own := engine.Own()
	entity := func(name string) *stores.Entity {
		return own[slices.IndexFunc(own, func(e *stores.Entity) bool { return e.Name == name })]
	}
	deliveries, attempts := entity("verbatim.delivery"), entity("verbatim.attempt")
	insert := func(key, status string) {
		t.Helper()
		err := h.store.Update(context.Background(), stores.Scope{All: true}, func(tx stores.Tx) error {
			rows, err := tx.Find(context.Background(), stores.Find{Entity: deliveries})
			if err != nil {
				return err
			}
			same := rows[0][deliveries.FieldIndex("same")]
			b := stores.Change{Op: stores.Insert, Entity: attempts, Key: stores.NewString(key)}
			fields := map[string]stores.Value{"principal": stores.NewString("ann"), "text": stores.NewString("x"), "sent": stores.NewString("x"), "tool": stores.NewString("bank pay"), "status": stores.NewString(status), "time": stores.NewTime(h.clock()), "same": same, "first": stores.NewInt(1), "ended": stores.NewString("open")}
			for i := range attempts.Fields {
				if v, ok := fields[attempts.Fields[i].Name]; ok {
					b.Set = append(b.Set, stores.Assign{Field: i, Value: v})
				}
			}
			return tx.Apply(context.Background(), stores.Batch{Changes: []stores.Change{b}})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	insert("lost", engine.AttemptUnknown)
	lost := say("200")
	told.Check(t, "dialog/same-unknown", lost, again)
	c.say("no")
	insert("alone", engine.AttemptDone)
	told.Check(t, "dialog/same-alone", say("200"), lost)
}

// G10, G75: what somebody else asked for, decided by message: only what was shown, one at a time.
func TestWhatIsToldOfDecisionsIsSo(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "house")
	ann := h.window("ann", answers(calls(pay+"2000"), calls(pay+"3000")))
	proposes := func(amount string) {
		ann.say("Pay " + amount + " to " + iban + " for the garden flat")
		ann.say("yes")
	}
	max := h.window("max", answers())
	nothing := max.say("what waits for my approval?").Text
	proposes("2000")
	h.later(time.Minute)
	proposes("3000")
	if a := max.say("I approve it"); h.count("payment") != 0 || !strings.Contains(a.Text, "amount 2000") || !strings.Contains(a.Text, "More after this: 1.") {
		t.Fatalf("a payment that was not shown: %d, %s", h.count("payment"), a.Text)
	}
	done := max.say("yes").Text
	if h.count("payment") != 1 || !strings.Contains(done, "amount 3000") {
		t.Fatalf("%d payments: %s", h.count("payment"), done)
	}
	declined := max.say("no").Text
	if h.count("payment") != 1 {
		t.Fatalf("declined, and done: %s", declined)
	}
	told.Check(t, "dialog/decided", done, declined)
	told.Check(t, "dialog/decided-not", declined, done)
	told.Check(t, "dialog/no-decision", nothing, done)
	told.Check(t, "dialog/no-decision", max.say("what waits for me?").Text, done)
}

// G10: whose message it was, whether anything was done about it, and whether it is kept.
func TestWhatIsToldOfAMessageIsSo(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "house")
	c, kept := h.talk(answers(pleased), nil), h.window("ann", answers(pleased))
	own := kept.say("thanks").Text
	told.Check(t, "dialog/kept", own, c.say("thanks").Text)
	before := h.state()
	told.Check(t, "dialog/someone-else", kept.send(dialog.Message{Text: "cancel the boiler", From: "ben"}).Text, own)
	told.Check(t, "dialog/automatic", kept.send(dialog.Message{Text: "cancel the boiler", Automatic: true}).Text, own)
	long := understands{func(said string) dialog.Understood { return dialog.Understood{Long: len(said) > 1000} }}
	much := h.talk(nil, func(o *dialog.Options) { o.Model, o.Interpreter = nil, long })
	told.Check(t, "dialog/much-at-once", much.say(strings.Repeat("cancel the boiler ", 100)).Text, much.say("cancel the boiler").Text)
	if h.state() != before {
		t.Error("something was done")
	}
	told.Check(t, "dialog/card-taken", c.say("My card is 4111 1111 1111 1111").Text, c.say("My number is 4111").Text)
	// A message that was cut off before it was answered, and one that was not.
	for _, told := range []bool{false, true} {
		v, err := h.engine.Visit(context.Background(), "ann", engine.Visit{Name: "repairs"})
		if err != nil {
			t.Fatal(err)
		}
		said := []sessions.Said{{Role: sessions.Client, Content: "What is broken?", Via: fmt.Sprint("mail ", told)}}
		if told {
			said = append(said, sessions.Said{Role: sessions.Agent, Content: "The boiler is."})
		}
		if _, err := v.Turns().Say(context.Background(), said...); err != nil {
			t.Fatal(err)
		}
	}
	again := func(id string) string {
		t.Helper()
		a, err := kept.Say(context.Background(), dialog.Message{Text: "What is broken?", ID: id})
		if err != nil {
			t.Fatal(err)
		}
		return a.Text
	}
	told.Check(t, "dialog/interrupted", again("mail false"), again("mail true"))
	told.Check(t, "dialog/nothing-to-undo", h.window("max", answers(pleased)).say("undo that").Text, own)
	// A part of which nothing was made.
	parts := understands{func(said string) dialog.Understood {
		u := dialog.Understood{Script: "house.list-repairs", Verb: "house.list-repairs", Confidence: 1}
		if _, left, ok := strings.Cut(said, " and "); ok {
			u.Left = []string{left}
		}
		return u
	}}
	of := h.talk(nil, func(o *dialog.Options) { o.Model, o.Interpreter = nil, parts })
	told.Check(t, "dialog/not-taken-in", of.say("what is broken and blue elephants").Text, of.say("what is broken").Text, `"blue elephants"`)
}

// understands is an interpreter that is a function.
type understands struct {
	of func(string) dialog.Understood
}

func (u understands) Interpret(_ context.Context, said string, _ dialog.Settled, _ []dialog.Spoken) (dialog.Understood, error) {
	return u.of(said), nil
}
func (understands) Correct(context.Context, string, *dsl.Call) (dialog.Correction, bool, error) {
	return dialog.Correction{}, false, nil
}
func (understands) Tongue(string) (values.Language, bool) { return values.English, false }
func (u understands) Shortlist(said string, among []*verbs.Verb, most int) []*verbs.Verb {
	return fixed{}.Shortlist(said, among, most)
}
func (understands) Named(context.Context, string) ([]string, error) { return nil, nil }

// corrects is an interpreter for which any message corrects a call into another one.
type corrects struct {
	understands
	into string
}

func (c corrects) Correct(context.Context, string, *dsl.Call) (dialog.Correction, bool, error) {
	return dialog.Correction{Fits: []dialog.Fit{{Script: c.into}}, Cued: true}, true, nil
}

// G10: what is asked back and what is corrected, and what waits meanwhile.
func TestWhatIsToldOfWhatIsAskedBackIsSo(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "house")
	c := h.asks("ann", "s")
	first := c.say("I would like to cancel").Text
	open := c.say("what is there").Text
	told.Check(t, "dialog/open-still", open, first, "Which repair is it?")
	unaware := c.say("I don't know").Text
	told.Check(t, "dialog/unaware", unaware, first)
	goes := c.say("the window is expected 3 April 2027").Text
	told.Check(t, "dialog/let-go", goes, open, "Which repair is it?")
	c.say("no")
	told.Check(t, "dialog/open-still", open, c.say("what is there").Text)

	// Corrected before it was agreed to, and after.
	to := func(note string) string { return fmt.Sprintf("house.note :repair-id @boiler :note %q", note) }
	book := corrects{understands{func(said string) dialog.Understood {
		if strings.HasPrefix(said, "note") {
			return dialog.Understood{Script: to(strings.TrimPrefix(said, "note that ")), Verb: "house.note", Confidence: 1}
		}
		return dialog.Understood{}
	}}, to("the tap leaks")}
	with := func(i dialog.Interpreter) *talk {
		return h.talk(nil, func(o *dialog.Options) { o.Model, o.Interpreter = nil, i })
	}
	c = with(book)
	c.say("note that the pump leaks")
	instead := c.say("the tap, not the pump").Text
	if h.field("repair", 11, "notes") != "waits for a part" {
		t.Error("it was done")
	}
	c = with(book)
	c.say("note that the pump leaks")
	c.say("yes")
	before := c.say("the tap, not the pump").Text
	told.Check(t, "dialog/instead", instead, before)
	told.Check(t, "dialog/done-before", before, instead)

	// Held up: it waits, and is not done.
	c = with(book.understands)
	c.say("note that the bath leaks")
	held := c.say("no wait, make it Friday").Text
	if n := len(c.Open()); n != 1 {
		t.Errorf("%d questions wait", n)
	}
	c.say("no") // it is put again
	c.say("no")
	told.Check(t, "dialog/held-up", held, c.say("no wait, make it Friday").Text)
}

// A flaky store fails a write in the way that it is told; the write that is cut off is done.
type flaky struct {
	stores.Store
	fails error
}

func (s *flaky) Update(ctx context.Context, scope stores.Scope, do func(stores.Tx) error) error {
	if s.fails != nil && !errors.Is(s.fails, stores.ErrUnknown) {
		return s.fails
	}
	return errors.Join(s.Store.Update(ctx, scope, do), s.fails)
}

// G10: what is told where the system fails is what it knows: that nothing was changed, that it cannot
// tell, or what was done before.
func TestWhatIsToldWhereTheSystemFailsIsSo(t *testing.T) {
	t.Parallel()
	texts := map[string]string{}
	for name, fails := range map[string]error{"done": nil, "failed": errors.New("the disk is full"), "unknown": stores.ErrUnknown, "not-migrated": stores.ErrSchema,
		"store-full": stores.ErrFull, "store-read-only": stores.ErrStandby, "store-crowded": stores.ErrCrowded, "store-slow": stores.ErrSlow} {
		h := newHouse(t, "house")
		store := &flaky{Store: h.store}
		var err error
		if h.engine, err = engine.New(h.reg, store, engine.Options{Clock: h.clock, NewID: h.newID}); err != nil {
			t.Fatal(err)
		}
		c := h.talk(answers(calls(cancelBoiler)), nil)
		c.say("Please cancel the boiler")
		store.fails = fails
		texts[name] = c.say("yes").Text
		want := map[bool]string{true: "ORDERED", false: "CANCELLED"}[name != "done" && name != "unknown"]
		if got := h.field("repair", 11, "status"); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	told.Check(t, "dialog/failed", texts["failed"], texts["done"])
	told.Check(t, "dialog/failed", texts["failed"], texts["unknown"])
	told.Check(t, "dialog/not-migrated", texts["not-migrated"], texts["failed"])
	told.Check(t, "dialog/unknown-end", texts["unknown"], texts["failed"])
	// G22
	told.Check(t, "dialog/store-full", texts["store-full"], texts["failed"])
	told.Check(t, "dialog/store-read-only", texts["store-read-only"], texts["failed"])
	told.Check(t, "dialog/store-crowded", texts["store-crowded"], texts["failed"])
	told.Check(t, "dialog/store-slow", texts["store-slow"], texts["failed"])

	// One call is done, and the next one fails or is refused: that nothing was changed is not so.
	for _, fails := range []error{errors.New("the disk is full"), nil} {
		h := newHouse(t, "house")
		store := &flaky{Store: h.store}
		var err error
		if h.engine, err = engine.New(h.reg, store, engine.Options{Clock: h.clock, NewID: h.newID}); err != nil {
			t.Fatal(err)
		}
		m := &between{script: answers(calls(`house.report :flat-id @garden-flat :title "Sink"`), calls(`house.note :repair-id @front-door :note "Bath"`)), then: func() { store.fails = fails }}
		c := h.talk(m, func(o *dialog.Options) { o.Limits.Repairs = 1 })
		text := c.say("Please report Sink for the garden flat. Then note Bath on the front door, too").Text
		if h.count("repair") != 5 {
			t.Fatalf("%d repairs: %s", h.count("repair"), text)
		}
		if fails != nil {
			told.Check(t, "dialog/then-failed", text, texts["failed"])
		}
		told.Check(t, "dialog/nothing-changed", "Nothing was changed.", text)
	}
	h := newHouse(t, "house")
	c := h.talk(answers(calls(`house.note :repair-id @front-door :note "Sink"`)), nil)
	refused := c.say("Please note Sink on the front door").Text
	told.Check(t, "dialog/nothing-changed", refused, texts["done"])
}

// A between is a script that does something before its second answer.
type between struct {
	*script
	then func()
}

func (b *between) Chat(ctx context.Context, r llm.Request, f func(string)) (*llm.Reply, error) {
	if len(b.asked) == 1 {
		b.then()
	}
	return b.script.Chat(ctx, r, f)
}

// G10: a refusal claims of a state what the rows say, in a language that has no words of the engine's
// own.
func TestWhatARefusalTellsIsSo(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := newHouse(t, "house")
	check := func(s *engine.Session, text string) *verbs.Program {
		t.Helper()
		script, _ := dsl.Parse(dsl.NewSource("refused", text))
		p, ds := s.Check(ctx, script, engine.CheckOptions{Said: verbs.Literals{Origin: verbs.NewOrigin(verbs.FromPerson, "")}})
		if p == nil {
			t.Fatal(ds)
		}
		return p
	}
	refused := func(s *engine.Session, err error) string {
		t.Helper()
		var r *engine.Refusal
		if !errors.As(err, &r) {
			t.Fatalf("it is not refused: %v", err)
		}
		return dialog.NewTeller(h.reg, s, values.German).Refused(r.Diagnostics)
	}
	ann, max := h.session("ann"), h.session("max")
	run := func(text, agreed string) error {
		_, err := ann.Run(ctx, check(ann, text), engine.RunOptions{Agreed: agreed})
		return err
	}
	preview := func(text string) string {
		t.Helper()
		r, err := ann.Keep(ctx, check(ann, text), engine.RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return r.Answer()
	}
	needs := refused(ann, run(cancelBoiler, ""))
	// Moved, and too old.
	agreed := preview(cancelBoiler)
	h.does("max", `house.order :repair-id @boiler :cost 80`)
	stale := refused(ann, run(cancelBoiler, agreed))
	agreed = preview(cancelBoiler)
	h.later(25 * time.Hour)
	expired := refused(ann, run(cancelBoiler, agreed))
	told.CheckIn(t, values.German, "dialog/refused-stale-preview", stale, expired)
	told.CheckIn(t, values.German, "dialog/refused-stale-preview", stale, needs)
	told.CheckIn(t, values.German, "dialog/refused-expired", expired, stale)
	// Agreed to by somebody else, once; declined by them.
	big := pay + "2000"
	propose := func(amount string) (string, error) {
		p, err := ann.Propose(ctx, check(ann, amount), engine.RunOptions{Agreed: preview(amount)})
		if err != nil {
			return "", err
		}
		return p.ID, nil
	}
	id, err := propose(big)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := max.Agree(ctx, id); err != nil {
		t.Fatal(err)
	}
	used := refused(max, max.Decline(ctx, id, "too late"))
	told.CheckIn(t, values.German, "dialog/refused-already-used", used, needs)
	if id, err = propose(pay + "3000"); err != nil {
		t.Fatal(err)
	}
	if err := max.Decline(ctx, id, "no"); err != nil {
		t.Fatal(err)
	}
	_, _, err = max.Agree(ctx, id)
	told.CheckIn(t, values.German, "dialog/refused-declined-before", refused(max, err), used)
	told.CheckIn(t, values.German, "dialog/refused-already-used", used, refused(max, err))
	// Taken back while it is as it was left, and after somebody changed it.
	note := func(text string) int64 {
		t.Helper()
		r, err := ann.Run(ctx, check(ann, `house.note :repair-id @boiler :note "`+text+`"`), engine.RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return r.First
	}
	first := note("one")
	if _, err := ann.Journal().Undo(ctx, first); err != nil {
		t.Fatal(err)
	}
	h.sets("repair", 11, "notes", "of somebody else")
	script, err := ann.Journal().Undo(ctx, first)
	if err == nil {
		_, err = ann.Preview(ctx, check(ann, dsl.Format(script)))
	}
	told.CheckIn(t, values.German, "dialog/refused-changed-since", refused(ann, err), needs)
}

// G10: a greeting is answered with where the person stands, in the palette's sentences, and never with
// a list of rows that nobody asked for.
func TestAGreetingIsAnsweredWithNoList(t *testing.T) {
	t.Parallel()
	hello := func(h *house) string { return h.asks("ann", "greets").say("Hello").Text }
	if text := hello(newHouse(t, "house")); strings.Contains(text, "Boiler") || !strings.HasPrefix(text, "Hello ann. You can say, for example: ") {
		t.Errorf("without sentences: %q", text)
	}
	h := houseWith(t, "    phrases: [\"what is broken\", \"what is still open\"]\n", "    phrases: [\"what is broken\", \"what is still open\"]\n    tells: {each: \"{title} is {status}.\"}\n")
	if text := hello(h); !strings.Contains(text, "Boiler is ordered.") {
		t.Errorf("with sentences: %q", text)
	}
	for range 3 {
		h.does("ann", `house.report :flat-id @garden-flat :title "Sink"`)
	}
	if text := hello(h); strings.Contains(text, "Sink") || !strings.Contains(text, "You can say, for example: ") {
		t.Errorf("with more rows: %q", text)
	}
	if text := h.asks("ann", "greets").say("what is there").Text; !strings.Contains(text, "Sink") {
		t.Errorf("what is asked for is told as %q", text)
	}
}
