package dialog_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/conversation/llm"
	"verbatim/runtime/conversation/values"
	"verbatim/runtime/tests/told"
	"verbatim/verbs"
)

// X5, M26: what somebody says becomes a call, which is carried out, and what they
// are told is what was done.
func TestATurnDoesWhatWasSaid(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "house")
	m := answers(
		calls(`house.note :repair-id @boiler :note "the part comes on 2025-01-10" :expected 2025-01-10`),
		tells("@boiler.due"))
	a := h.talk(m, nil).say("For the boiler: the part comes on 2025-01-10")
	if got := h.field("repair", 11, "due"); got != "2025-01-10" {
		t.Errorf("due %s", got)
	}
	if want := "Done: leave a note on a repair, and say when something is expected.\n- Boiler: due Friday 10 January 2025; notes \"the part comes on 2025-01-10\".\nDue of Boiler: Friday 10 January 2025."; a.Text != want {
		t.Errorf("told %q; replaced %v", a.Text, a.Turn.Replaced)
	}
	if len(a.Done) != 1 || a.Done[0].Totals().Rows != 1 {
		t.Errorf("done %v", a.Done)
	}
}

// A read inside a turn is shown to the model, which goes on with it; nothing is
// read for ever.
func TestATurnMakesSteps(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "house")
	m := answers(calls(`house.read-letters :repair-id @kitchen-window`), tells("house.read-letters"))
	a := h.talk(m, nil).say("What did they write about the window?")
	if a.Text != "title: Kitchen Window; letter: It does not close." {
		t.Errorf("told %q; %v", a.Text, a.Turn.Replaced)
	}
	if last := m.asked[1].Messages; !strings.Contains(last[len(last)-1].Text, "It does not close.") {
		t.Error("the model was not shown what was found")
	}

	// The same answer for ever.
	m = answers(calls(`house.list-repairs`))
	a = h.talk(m, nil).say("What is broken?")
	if n := len(m.asked); n != 5 {
		t.Errorf("the model was asked %d times", n)
	}
	if !strings.Contains(a.Text, "Boiler") {
		t.Errorf("told %q", a.Text)
	}
}

// SAFE-S7: the model is told what is wrong three times and no more, whatever it
// says; and nothing that was wrong was done.
func TestRepairIsBounded(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"an invented name":        calls(`house.note :repair-id @chimney :note "x"`),
		"another tenant's name":   calls(`house.note :repair-id @zinnia-skylight :note "x"`),
		"a forbidden verb":        calls(`house.order :repair-id @boiler :cost 5`),
		"an unknown verb":         calls(`house.burn :repair-id @boiler`),
		"a wrong type":            calls(`house.note :repair-id @boiler :note 12`),
		"half a call":             "```verbatim\nhouse.note :repair-id",
		"an open string":          calls(`house.note :repair-id @boiler :note "x`),
		"nothing":                 "",
		"a key":                   calls(`house.note :repair-id 00000000-0000-4000-8000-000000000011 :note "x"`),
		"a key of somebody else":  calls(`house.note :repair-id 00000000-0000-4000-8000-000000000021 :note "x"`),
		"what is not possible":    calls(`house.note :repair-id @front-door :note "x"`),
		"an origin":               calls(`house.pay :flat-id @garden-flat :iban "DE89370400440532013000" :amount 5`),
		"a thousand calls":        calls(strings.Repeat("house.list-repairs\n", 1000)),
		"a million characters":    calls(`house.note :repair-id @boiler :note "` + strings.Repeat("x", 1<<20) + `"`),
		"a comment and no call":   calls(`; nothing`),
		"the engine's own":        calls(`verbatim.agree :id "1"`),
		"what only the house has": calls(`house.list-repairs :as @x`, `house.note :repair-id @x.key :note "x"`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, "house")
			before := h.state()
			m := answers(text)
			a := h.talk(m, nil).say("Do what you think is right about 5 things")
			long := strings.HasPrefix(name, "a thousand") || strings.HasPrefix(name, "a million") // and spends its tokens sooner
			if n := len(m.asked); n != 4 && !long || n > 4 {
				t.Errorf("the model was asked %d times", n)
			}
			if len(a.Done) > 0 || h.state() != before {
				t.Error("something was done")
			}
			for _, bad := range []string{"00000000-", "SELECT", "runtime.", "zinnia", "panic"} {
				if strings.Contains(strings.ToLower(a.Text), strings.ToLower(bad)) {
					t.Errorf("told %q", a.Text)
				}
			}
			if a.Text == "" {
				t.Error("told nothing")
			}
		})
	}
}

// A mistake is told to the model with what was probably meant, and what it writes
// then counts.
func TestAMistakeIsRepaired(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "house")
	m := answers(
		calls(`house.noet :repair-id @boiler :note "tomorrow"`),
		calls(`house.note :repair-id @boilr :note "tomorrow"`),
		calls(`house.note :repair-id @boiler :note "tomorrow"`),
		pleased)
	a := h.talk(m, nil).say("boiler: tomorrow")
	if h.field("repair", 11, "notes") != "tomorrow" {
		t.Error("nothing was noted")
	}
	if strings.Contains(a.Text, "could not") || !strings.Contains(a.Text, `notes "tomorrow"`) || a.Turn.Model.Repairs != 2 {
		t.Errorf("told %q after %d repairs", a.Text, a.Turn.Model.Repairs)
	}
	for i, want := range []string{"house.note", "@boiler"} {
		last := m.asked[i+1].Messages[len(m.asked[i+1].Messages)-1].Text
		if !strings.Contains(last, want) {
			t.Errorf("the model was told %q", last)
		}
	}
}

// A model whose change was refused does not pass over that with a courtesy. (G1)
func TestARefusalIsNotPassedOver(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "house")
	state := h.state()
	a := h.talk(answers(calls(`house.note :repair-id @garage :note "come at noon"`), pleased), nil).say("garage: come at noon")
	if h.state() != state || !strings.Contains(a.Text, "could not") {
		t.Errorf("told %q", a.Text)
	}
}

// A model that declines, one that cannot be had, and one whose answer is cut.
func TestAModelThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "house")
	for name, r := range map[string]llm.Reply{
		"declines": {Refusal: "I cannot do that", Finish: llm.Filtered},
		"is cut":   {Text: calls(`house.note :repair-id @boiler :note "x"`), Finish: llm.TooLong},
	} {
		t.Run(name, func(t *testing.T) {
			a := h.talk(&script{answers: []llm.Reply{r}}, nil).say("note x on the boiler")
			if len(a.Done) > 0 || a.Text == "" {
				t.Errorf("told %q", a.Text)
			}
		})
	}
	t.Run("is gone", func(t *testing.T) {
		a := h.talk(gone{}, nil).say("note x on the boiler")
		if !strings.Contains(a.Text, "I cannot chat just now") {
			t.Errorf("told %q", a.Text)
		}
	})
	t.Run("is gone, and phrases are understood", func(t *testing.T) {
		h := newHouse(t, "house")
		// U39: without the model the same engine does the same things. X13: what was
		// made of phrases may have been taken wrongly, so that the person sees what
		// it would change, and nothing but a yes to that changes it.
		talk := h.talk(gone{}, func(o *dialog.Options) {
			o.Interpreter = fixed{dialog.Understood{Script: `house.note :repair-id @boiler :note "come at noon"`, Matched: "tell them {note}"}}
		})
		before := h.field("repair", 11, "notes")
		for _, said := range []string{"tell them come at noon", "no, wait", "what time is it?", "tell them come at noon"} {
			if a := talk.say(said); h.field("repair", 11, "notes") != before || len(a.Done) > 0 {
				t.Fatalf("%q changed it: %q", said, a.Text)
			}
		}
		if a := talk.say("yes"); h.field("repair", 11, "notes") != "come at noon" || !strings.Contains(a.Text, "come at noon") {
			t.Errorf("told %q", a.Text)
		}
	})
}

type gone struct{}

func (gone) Chat(context.Context, llm.Request, func(string)) (*llm.Reply, error) {
	return nil, &llm.Error{Kind: llm.Unavailable, Err: errors.New("connection refused")}
}

func (gone) Embed(context.Context, []string) ([][]float32, llm.Usage, error) {
	return nil, llm.Usage{}, &llm.Error{Kind: llm.Unavailable}
}

// SAFE-S7: a turn and a session end when their tokens are spent, one answer late
// at most, and the person is told in plain words.
func TestBudgetsEndATurn(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "house")
	m := answers(calls(`house.list-repairs`))
	a := h.talk(m, func(o *dialog.Options) { o.Limits.Tokens = 6_500; o.Limits.Steps = 1000; o.Limits.Calls = 1000 }).say("What is broken?")
	if n := len(m.asked); n > 8 {
		t.Errorf("the model was asked %d times", n)
	}
	if !strings.Contains(a.Text, "Boiler") {
		t.Errorf("told %q", a.Text)
	}
	m = answers(pleased)
	c := h.talk(m, func(o *dialog.Options) { o.Budget = llm.NewBudget("session", 9_000) })
	first := c.say("hello").Text
	for range 19 {
		a = c.say("hello")
	}
	told.Check(t, "dialog/spent", a.Text, first)
	day := h.talk(answers(pleased), func(o *dialog.Options) { o.Budget = llm.NewBudget(dialog.DayBudget, 9_000) })
	var last string
	for range 20 {
		last = day.say("hello").Text
	}
	told.Check(t, "dialog/day-spent", last, a.Text)
	if n := len(m.asked); n > 9 {
		t.Errorf("the model was asked %d times", n)
	}
	if !strings.Contains(a.Text, "I cannot chat just now") {
		t.Errorf("told %q", a.Text)
	}
}

// state is all rows, in words.
func (h *house) state() string {
	var b strings.Builder
	for _, r := range []int{11, 12, 13, 21} {
		for _, f := range []string{"title", "status", "due", "notes", "letter", "cost"} {
			fmt.Fprintf(&b, "%d %s %s\n", r, f, h.field("repair", r, f))
		}
	}
	fmt.Fprintf(&b, "%d %d", h.count("repair"), h.count("payment"))
	return b.String()
}

// fixed understands every sentence in the same way.
type fixed struct{ u dialog.Understood }

func (f fixed) Interpret(context.Context, string, dialog.Settled, []dialog.Spoken) (dialog.Understood, error) {
	return f.u, nil
}

func (f fixed) Correct(context.Context, string, *dsl.Call) (dialog.Correction, bool, error) {
	return dialog.Correction{}, false, nil
}

func (fixed) Tongue(string) (values.Language, bool) { return values.English, false }

func (f fixed) Shortlist(_ string, among []*verbs.Verb, most int) []*verbs.Verb {
	return among[:min(len(among), most)]
}

func (fixed) Named(context.Context, string) ([]string, error) { return nil, nil }

// Whoever says so has what was done last taken back, once they have seen what that is and
// agreed; and then what was done before it. With another question open, nothing is. A model
// that takes something back has the person asked.
func TestWhatWasDoneIsTakenBack(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "house")
	m := answers(
		calls(`house.note :repair-id @boiler :note "the part comes on 2025-01-10" :expected 2025-01-10`), tells("@boiler.due"),
		calls(`house.note :repair-id @boiler :note "no, it comes on 2025-01-20" :expected 2025-01-20`), tells("@boiler.due"),
		calls(`house.note.undo :entry 1`))
	talk := h.talk(m, nil)
	if a := talk.say("Please undo that"); a.Text != "I looked through what I did here and found nothing that can be taken back." {
		t.Errorf("%q", a.Text)
	}
	talk.say("For the boiler: the part comes on 2025-01-10")
	talk.say("For the boiler: no, it comes on 2025-01-20")
	asked := len(m.asked)
	for _, was := range []string{"2025-01-10", "2025-01-15"} {
		a := talk.say("Please undo that.")
		if len(a.Done) != 0 || !strings.HasPrefix(a.Text, "This would take back: leave a note on a repair") || !strings.Contains(a.Text, "This stays: Whoever read the note has read it.") {
			t.Errorf("%q", a.Text)
		}
		a = talk.say("yes")
		if got := h.field("repair", 11, "due"); got != was || !strings.Contains(a.Text, "Done: take back: leave a note") {
			t.Errorf("due %s: %q", got, a.Text)
		}
	}
	if a := talk.say("undo that"); len(m.asked) != asked || len(a.Done) != 0 {
		t.Errorf("the model was asked %d times: %q", len(m.asked)-asked, a.Text)
	}
	if a := talk.say("What about the first note?"); len(a.Done) != 0 {
		t.Errorf("a model took something back: %q", a.Text)
	}
	if a := newHouse(t, "house").talk(answers(), nil).say("Bitte rückgängig machen"); a.Text != "Ich habe durchgesehen, was ich hier getan habe, und nichts gefunden, was sich zurücknehmen lässt." {
		t.Errorf("%q", a.Text)
	}
}

// A word that takes back in its language does so alone, where it says no as well ("annuler"): unless it
// is the no to what was asked back.
func TestOneWordTakesBack(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "house")
	for i, said := range []string{"undo", "rückgängig", "annuler", "deshacer"} {
		c := h.asks("ann", fmt.Sprintf("u%d", i))
		c.say("tell them: The pump leaks\n4 March 2027")
		c.say("yes")
		if a := c.say(said); len(a.Open) != 1 || !strings.Contains(a.Open[0].Calls[0], "undo") {
			t.Errorf("%q is answered %q", said, a.Text)
		}
		c.say("no")
	}
	c := h.asks("ann", "u2")
	c.say("I would like to cancel")
	if a := c.say("annuler"); len(a.Open) != 0 || a.Turn.Taken != dialog.TakenNo {
		t.Errorf("told %q", a.Text)
	}
}

// G40: what a model reads twice in a turn is told once.
func TestARepeatedReadIsToldOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "house")
	const list = "house.list-repairs"
	once := h.window("ann", answers(calls(list), "That is all.", "That is all.")).say("what is being repaired?").Text
	many := h.window("ann", answers(calls(list), calls(list), calls(list), "That is all.", "That is all.")).say("what is being repaired?").Text
	if once != many || !strings.Contains(once, "Boiler") {
		t.Errorf("told %q, and after three reads %q", once, many)
	}
}
