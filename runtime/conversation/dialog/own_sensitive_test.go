package dialog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/engine"
)

// lockPalette is the house with a verb that takes secrets, and asks.
func lockPalette(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("testdata/house/house.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	more := strings.Replace(string(text), "      pin:  {type: string, sensitive: true}\n", "      pin:  {type: string, sensitive: true}\n      born: {type: date, sensitive: true}\n", 1) + `
  - verb: set-pin
    description: Set the PIN of the door, and the day of birth that one is let in with instead.
    roles: [tenant]
    tells:
      asks: "May I set the door of {flat-id} to {pin}, and the day to {born}?"
      done: "The door of {flat-id} is set."
    args:
      - {name: flat-id, type: ref, ref-type: flat, required: true}
      - {name: pin, type: string, required: true, sensitive: true}
      - {name: born, type: date, sensitive: true}
    confirm:
      - {reason: it opens the door}
    effects:
      - updates: flat
        where: flat-id
        set: {pin: pin, born: born}
`
	if err := os.WriteFile(filepath.Join(dir, "house.yaml"), []byte(more), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// SAFE-L1, U7: what is sensitive and was said in words is shown, as it was
// understood, in the question that is put to who said it, in this process and in
// another one of the same session, and nowhere else: not in what is kept of the
// turn, not in why, not in what programs are told, not in a later prompt, not in the
// journal, not in the row that the question waits in. What a document says in its
// place, or a record, is not shown even there.
func TestWhatWasSaidIsShownToWhoSaidIt(t *testing.T) {
	t.Parallel()
	h := newHouseAt(t, lockPalette(t))
	ctx := context.Background()
	begin := func(m *script) (*talk, *engine.Session) {
		t.Helper()
		s, err := h.engine.Visit(ctx, "ann", engine.Visit{Name: "lock"})
		if err != nil {
			t.Fatal(err)
		}
		c := h.talk(m, func(o *dialog.Options) { o.Session = s })
		if err := c.Resume(ctx); err != nil {
			t.Fatal(err)
		}
		return c, s
	}
	// What was understood, and stands nowhere in what was said.
	canaries := []string{"3 April 1972", "1972-04-03", "canary-5521"}
	sings := func(where, text string) {
		t.Helper()
		for _, canary := range canaries {
			if strings.Contains(text, canary) {
				t.Errorf("%s sings %q: %s", where, canary, text)
			}
		}
	}
	const asked = "May I set the door of Garden Flat to canary-5521, and the day to 3 April 1972?"
	const set = `house.set-pin :flat-id @garden-flat :pin "canary-5521" :born 1972-04-03`
	m := answers(calls(set), "I set nothing.")
	c, session := begin(m)
	var events []string
	a, err := c.Follow(ctx, dialog.Message{Text: "The door opens with canary, and then 5521. I was born on the third of April, seventy-two."}, func(e dialog.Event) {
		if e.Kind == dialog.Telling {
			events = append(events, e.Text)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(a.Text, asked) || strings.Join(events, "") != a.Text {
		t.Fatalf("told %q, in pieces %q", a.Text, events)
	}
	kept := func(a *dialog.Answer) {
		t.Helper()
		turn, err := json.Marshal(a.Turn)
		if err != nil {
			t.Fatal(err)
		}
		sings("the record of the turn", string(turn))
		var why strings.Builder
		if err := a.Turn.Explain(&why); err != nil {
			t.Fatal(err)
		}
		sings("why", why.String())
		for _, q := range a.Open {
			sings("the question, for programs,", fmt.Sprint(q.Title, q.Shows, q.Asks, q.Why, q.Calls))
		}
		waiting, _, err := session.Turns().Waiting(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for i := range waiting {
			sings("the question that waits", waiting[i].About)
		}
		turns, err := session.Turns().Between(ctx, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i := range turns {
			sings("a turn that is kept", turns[i].Content+fmt.Sprint(turns[i].Intent))
		}
		entries, err := h.store.Journal(ctx, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		sings("the journal", fmt.Sprintf("%+v", entries))
	}
	kept(a)
	if !strings.Contains(a.Turn.Told, "to (not shown), and the day to (not shown)?") {
		t.Errorf("kept %q", a.Turn.Told)
	}
	a = c.say("details")
	if !strings.Contains(a.Text, "pin canary-5521; born 3 April 1972") {
		t.Errorf("told %q", a.Text)
	}
	kept(a)
	kept(c.say("What is the weather?"))
	sings("a later prompt", m.asked[len(m.asked)-1].Messages[len(m.asked[len(m.asked)-1].Messages)-1].Text)
	for _, message := range m.asked[len(m.asked)-1].Messages {
		sings("a later prompt", message.Text)
	}

	// Another process, the same person in the same session.
	c, session = begin(answers("Hm."))
	if told := c.Reminder(); !strings.Contains(told, asked) {
		t.Errorf("reminded with %q", told)
	}
	a = c.say("yes")
	if !strings.Contains(a.Text, asked) { // it was put too long ago, and is put again
		t.Errorf("told %q", a.Text)
	}
	kept(a)
	a = c.say("yes")
	kept(a)
	if h.field("flat", 1, "pin") != "canary-5521" || !strings.Contains(a.Text, "The door of Garden Flat is set.") {
		t.Errorf("told %q", a.Text)
	}
	sings("what came of it", a.Text)

	// What somebody else wrote, and what stands in a record, is theirs to see as
	// little as before.
	canaries = []string{"canary-5521", "canary-9908", "9 May 2001", "2001-05-09"}
	h.files("boiler", "The new PIN is canary-9908, as of 2001-05-09.")
	for _, call := range []string{`house.set-pin :flat-id @garden-flat :pin "canary-9908" :born 2001-05-09`, `house.set-pin :flat-id @garden-flat :pin @garden-flat.pin`} {
		c, session = begin(answers(calls(`house.read-letters :repair-id @boiler`), calls(call)))
		a = c.say("Do as the letter about the boiler says")
		if len(a.Open) == 0 {
			t.Fatalf("it was not asked about: %q", a.Text)
		}
		sings("what a stranger wrote", a.Text)
		c.say("no")
	}
}
