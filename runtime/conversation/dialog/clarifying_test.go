package dialog_test

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"verbatim/dsl"
	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/conversation/values"
	"verbatim/runtime/engine"
	"verbatim/runtime/state/sessions"
	"verbatim/verbs"
)

// A book understands a few sentences and no others, as an interpreter of phrases
// does: what is to be cancelled, until when something is expected, and what there
// is. What it lacks it asks for.
type book struct{}

var (
	twoDays = regexp.MustCompile(`3/4/2027`)
	oneDay  = regexp.MustCompile(`(?i)2027-04-03|2027-03-04|3 april 2027|4 march 2027`)
)

func (book) Interpret(_ context.Context, said string, settled dialog.Settled, _ []dialog.Spoken) (dialog.Understood, error) {
	plain := strings.ToLower(said)
	row := ""
	for name, word := range map[string]string{"@boiler": "boiler", "@kitchen-window": "window"} {
		if strings.Contains(plain, word) {
			if row != "" {
				return dialog.Understood{}, nil
			}
			row = name
		}
	}
	u := dialog.Understood{Confidence: 1}
	answered := func(param string) (text string) {
		for _, g := range settled.Given {
			if g.Param == param {
				text = g.Text
			}
		}
		return text
	}
	which := func(verb string) {
		u.Verb, u.Ask, u.Wants = verb, "Which repair is it?", dialog.Given{Verb: verb, Param: "repair-id"}
		u.Offers = []dialog.Offer{{Says: "Boiler", Text: "@boiler"}, {Says: "Kitchen Window", Text: "@kitchen-window"}}
	}
	switch {
	case strings.HasPrefix(plain, "tell them"), strings.HasPrefix(plain, "write down"):
		u = note(said, settled.Given)
	case strings.Contains(plain, "cancel"):
		row = cmp.Or(row, answered("repair-id"))
		if u.Verb = "house.cancel"; row == "" {
			which("house.cancel")
		} else {
			u.Script = "house.cancel :repair-id " + row
		}
	case strings.Contains(plain, "expected"):
		u.Verb = "house.note"
		given := answered("expected")
		day := cmp.Or(oneDay.FindString(given), oneDay.FindString(said))
		if _, beside, ok := strings.Cut(given, ", "); ok {
			u.Beside = beside
		}
		u.Wants = dialog.Given{Verb: "house.note", Param: "expected"}
		switch {
		case row == "":
			which("house.note")
		case day == "" && twoDays.MatchString(said+given):
			u.Ask = "Is that 3 April 2027 or 4 March 2027?"
			u.Offers = []dialog.Offer{{Says: "3 April 2027", Text: "2027-04-03"}, {Says: "4 March 2027", Text: "2027-03-04"}}
		case day == "":
			u.Ask = "When is it?"
		default:
			u.Script = fmt.Sprintf("house.note :repair-id %s :note %q :expected %s", row, said, map[bool]string{true: "2027-03-04", false: "2027-04-03"}[strings.Contains(strings.ToLower(day), "mar") || day == "2027-03-04"])
		}
	case strings.Contains(plain, "what is there"), plain == "nope", settled.Verb == "house.list-repairs":
		u.Verb, u.Script = "house.list-repairs", "house.list-repairs"
	case strings.Contains(plain, "why do you need it"):
		u.Verb, u.Ask = "house.list-repairs", "Whose repairs do you mean?"
	case strings.Contains(plain, "repairs"):
		u.Ask, u.Offers = "Is that what you mean: the list?", []dialog.Offer{{Says: "the list", Verb: "house.list-repairs"}}
	}
	return u, nil
}

// note understands "tell them: …", of which all behind the colon is the note, and "write down 4
// March 2027", which has no place for one.
func note(said string, given []dialog.Given) dialog.Understood {
	u := dialog.Understood{Confidence: 1, Verb: "house.note", Verbs: []string{"house.note"}}
	text, day := "", oneDay.FindString(said)
	if _, behind, ok := strings.Cut(said, "tell them: "); ok {
		text = behind
	}
	for _, g := range given {
		if g.Param == "note" {
			text = g.Text
		} else {
			day = oneDay.FindString(g.Text)
		}
	}
	switch {
	case text == "":
		u.Ask, u.Dictated, u.Wants = "What is the note?", true, dialog.Given{Verb: "house.note", Param: "note"}
	case len(text) > 40:
		u.Ask, u.Dictated, u.Wants = fmt.Sprintf("%d letters are too many.", len(text)), true, dialog.Given{Verb: "house.note", Param: "note"}
	default:
		u.Texts = []dialog.Given{{Verb: "house.note", Param: "note", Text: text}}
		if u.Ask, u.Wants = "When is it?", (dialog.Given{Verb: "house.note", Param: "expected"}); day != "" {
			u.Ask, u.Script = "", fmt.Sprintf("house.note :repair-id @boiler :note %q :expected 2027-03-04", text)
		}
	}
	return u
}

func (book) Correct(context.Context, string, *dsl.Call) (dialog.Correction, bool, error) {
	return dialog.Correction{}, false, nil
}

func (book) Tongue(string) (values.Language, bool) { return values.English, false }

func (book) Shortlist(_ string, among []*verbs.Verb, most int) []*verbs.Verb {
	return among[:min(len(among), most)]
}

// asks opens a session that is kept, or one that is not, where phrases are
// understood as the book has them.
func (h *house) asks(who, name string) *talk {
	h.t.Helper()
	ctx := context.Background()
	s := h.session(who)
	if name != "" {
		var err error
		if s, err = h.engine.Visit(ctx, who, engine.Visit{Name: name}); err != nil {
			h.t.Fatal(err)
		}
	}
	c, err := dialog.New(dialog.Options{Registry: h.reg, Session: s, Interpreter: book{}, Mode: dialog.Text, Clock: h.clock})
	if err != nil {
		h.t.Fatal(err)
	}
	if name != "" {
		if err := c.Resume(ctx); err != nil {
			h.t.Fatal(err)
		}
	}
	return &talk{h: h, Conversation: c}
}

// kept is what was asked back in a session and is waited for.
func (h *house) waitsFor(who, name string) []sessions.Question {
	h.t.Helper()
	s, err := h.engine.Visit(context.Background(), who, engine.Visit{Name: name})
	if err != nil {
		h.t.Fatal(err)
	}
	all, _, err := s.Turns().Waiting(context.Background())
	if err != nil {
		h.t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(q sessions.Question) bool { return q.Words == "" })
}

const (
	noted     = `to "The pump leaks".`
	stillOpen = "My question is still open: "
	neededFor = "I need it for this: cancel a repair.\nWhich repair is it?"
	letGo     = "I no longer wait for an answer to my question: "
)

// X11, SAFE-C7: what was asked back is answered in another process, where it is
// reminded of; a question in between is answered and reminds of it again, for so
// long; another matter ends it, and that is said.
func TestWhatWasAskedBackIsAnsweredElsewhere(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, h *house) {
		far := h.another(h.reg)
		for i, c := range []struct {
			name string
			says []string // in turn here and there
			told []string // a part of each answer
			ends bool     // nothing is waited for afterwards
		}{
			{"by a place", []string{"I would like to cancel", "the second one"}, []string{"Which repair is it?", "Kitchen Window"}, true},
			{"by a place, and why", []string{"I would like to cancel", "the second one, since it is the oldest"}, []string{"Which repair is it?", "Kitchen Window"}, true},
			{"by its words", []string{"I would like to cancel", "Kitchen Window"}, []string{"Which repair", "Kitchen Window"}, true},
			{"by what it lacks", []string{"the boiler is expected", "4 March 2027"}, []string{"When is it?", "4 March 2027"}, true},
			{"a yes to two days", []string{"the boiler is expected 3/4/2027", "yes", "what did you note?"}, []string{"Is that 3 April 2027 or 4 March 2027?", "Is that 3 April 2027 or 4 March 2027?", "Is that"}, false},
			{"with another answer that is unclear", []string{"the boiler is expected", "3/4/2027", "the second"}, []string{"When is it?", "Is that 3 April 2027 or 4 March 2027?", "4 March 2027"}, true},
			{"by its place among days", []string{"the boiler is expected 3/4/2027", "the first"}, []string{"Is that", "3 April 2027"}, true},
			{"by a month", []string{"the boiler is expected 3/4/2027", "March"}, []string{"Is that", "4 March 2027"}, true},
			{"by a number that is a day", []string{"the boiler is expected 3/4/2027", "the 4th"}, []string{"Is that", "4 March 2027"}, true},
			{"by a yes", []string{"the repairs", "yes"}, []string{"Is that what you mean: the list?", "Boiler"}, true},
			{"a yes that says nothing", []string{"I would like to cancel", "yes", "the first"}, []string{"Which repair", "so that we mean the same:\nWhich repair", "Boiler"}, true},
			{"after a question in between", []string{"I would like to cancel", "what is there", "the second"}, []string{"Which repair", stillOpen + "Which repair is it?", "Kitchen Window"}, true},
			{"after thanks", []string{"I would like to cancel", "thanks", "the second"}, []string{"Which repair", stillOpen, "Kitchen Window"}, true},
			{"after others' words", []string{"I would like to cancel", "> the first", "the second", "the second"}, []string{"Which repair", "only words of others", "so that we mean the same:\nWhich repair is it?", "Kitchen Window"}, true},
			{"for so long", []string{"I would like to cancel", "what is there", "what is there", "what is there", "what is there", "the second"},
				[]string{"Which repair", stillOpen, stillOpen, stillOpen, letGo + "Which repair is it?", "did not understand"}, true},
			{"another matter", []string{"I would like to cancel", "the window is expected 3 April 2027"}, []string{"Which repair", letGo + "Which repair is it?\n"}, true},
			{"another question", []string{"the boiler is expected", "I would like to cancel"}, []string{"When", letGo + "When is it?\nWhich repair is it?"}, false},
			{"the same matter in full", []string{"I would like to cancel", "cancel the window"}, []string{"Which repair", "Kitchen Window"}, true},
			{"a no", []string{"I would like to cancel", "no", "the second"}, []string{"Which repair", "Good.", "did not understand"}, true},
			{"a no that a phrase for a read has as well", []string{"the boiler is expected", "nope", "the second"}, []string{"When is it?", "Good.", "did not understand"}, true},
			{"nothing that fits", []string{"the repairs", "blue elephants", "yes"}, []string{"Is that what", "Is that what", "Boiler"}, true},
			{"with a question behind it", []string{"the boiler is expected", "4 March 2027, and what is there"}, []string{"When is it?", "Kitchen Window"}, true},
			{"a text and a day", []string{"tell them", "The pump leaks", "4 March 2027"}, []string{"What is the note?", "When is it?", noted}, true},
			{"a text that has no place", []string{"write down 4 March 2027", "The pump leaks"}, []string{"What is the note?", noted}, true},
			{"a text that has no place, and a day", []string{"write down", "The pump leaks", "4 March 2027"}, []string{"What is the note?", "When is it?", noted}, true},
			{"a text in quotation marks", []string{"write down 4 March 2027", `"The pump leaks"`}, []string{"What is the note?", noted}, true},
			{"a text that is too long", []string{"tell them", strings.Repeat("drip ", 20), "The pump leaks", "4 March 2027"}, []string{"What is", "99 letters", "When is it?", noted}, true},
			{"another matter than the text", []string{"write down 4 March 2027", "I would like to cancel"}, []string{"What is", letGo + "What is the note?\nWhich repair is it?"}, false},
			{"a question in place of a text", []string{"write down 4 March 2027", "who reads that?"}, []string{"What is", "What is the note?"}, false},
			{"why the text is asked for", []string{"write down 4 March 2027", "why?", "The pump leaks"}, []string{"What is", "I need it for this: ", noted}, true},
			{"what the text is asked for, with no mark", []string{"write down 4 March 2027", "what for", "The pump leaks"}, []string{"What is", "I need it for this: ", noted}, true},
			{"a noted on the question", []string{"I would like to cancel", "what for?", "the second"}, []string{"Which repair", neededFor, "Kitchen Window"}, true},
			{"not now", []string{"I would like to cancel", "not now", "the second"}, []string{"Which repair", "Tell me when you want to go on.", "did not understand"}, true},
			{"that they do not know", []string{"I would like to cancel", "I don't know", "the second"}, []string{"Which repair", "stays open: answer when you know, or say no to leave it.\nWhich repair is it?", "Kitchen Window"}, true},
			{"that they do not know, for a text", []string{"write down 4 March 2027", "I am not sure yet", "no"}, []string{"What is", "stays open: answer when you know, or say no to leave it.\nWhat is the note?", "Good."}, true},
			{"that they do not know, at a question", []string{"cancel the boiler", "no idea", "no"}, []string{"Boiler", "stays open: answer when you know", "Not done."}, true},
			{"a noted that is a phrase for a read", []string{"I would like to cancel", "why do you need it?", "the second"}, []string{"Which repair", neededFor, "Kitchen Window"}, true},
			{"what was said is forgotten", []string{"I would like to cancel", "forget what I said", "the second"}, []string{"Which repair", "Not done.", "did not understand"}, true},
			{"a question is asked what it is for", []string{"cancel the boiler", "why?", "no"}, []string{"Boiler", "I need it for this: cancel a repair.\n", "Not done."}, true},
			{"no text", []string{"write down 4 March 2027", "no"}, []string{"What is", "Good."}, true},
			{"a question that was put before it", []string{"cancel the boiler", "I wonder about all of the repairs", "yes", "no"}, []string{"Boiler", "I come back to this question afterwards: cancel a repair (Boiler)\nIs that what you mean", "Kitchen Window", "Not done."}, true},
		} {
			name := fmt.Sprintf("%d", i)
			before := h.state()
			for k, said := range c.says {
				at := []*house{h, far}[k%2].asks("ann", name)
				a := at.say(said)
				if !strings.Contains(a.Text, c.told[k]) {
					t.Errorf("%s: %q is answered %q, want %q in it", c.name, said, a.Text, c.told[k])
				}
				if len(a.Text) > 0 && strings.Contains(a.Text, letGo) != strings.Contains(c.told[k], letGo) {
					t.Errorf("%s: %q is answered %q", c.name, said, a.Text)
				}
			}
			if got := h.waitsFor("ann", name); (len(got) == 0) != c.ends {
				t.Errorf("%s: %d questions wait", c.name, len(got))
			}
			if h.state() != before {
				t.Errorf("%s: something was done", c.name)
			}
		}
	})
}

// Whoever wants to have said nothing is asked about nothing more, in all four languages: neither what
// was asked back nor a question. Where nothing waits, that is said.
func TestWhatWasSaidIsForgotten(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "house")
	before := h.state()
	for i, said := range []string{"forget what I said", "please forget it", "vergessen Sie, was ich gesagt habe", "oubliez ce que j'ai dit, s'il vous plaît", "olvide lo que he dicho"} {
		c := h.asks("ann", fmt.Sprintf("f%d", i))
		if a := c.say(said); strings.Contains(a.Text, "?") || a.Turn.Taken != dialog.TakenNo {
			t.Errorf("%q, where nothing waits, is answered %q", said, a.Text)
		}
		c.say("cancel the boiler")
		if a := c.say("I would like to cancel"); len(a.Open) != 1 || len(h.waitsFor("ann", fmt.Sprintf("f%d", i))) != 1 {
			t.Fatalf("%q leaves %d questions", a.Text, len(a.Open))
		}
		if a := c.say(said); len(a.Open) != 0 || len(a.Turn.Withdrawn) != 1 || len(h.waitsFor("ann", fmt.Sprintf("f%d", i))) != 0 {
			t.Errorf("%q is answered %q, and %d questions are open", said, a.Text, len(a.Open))
		}
	}
	if h.state() != before {
		t.Error("something was done")
	}
}

// SAFE-C7: it is its person's alone; nobody else's words answer it, and neither do
// those of a machine.
func TestWhatWasAskedBackIsNobodyElses(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "house")
	h.asks("ann", "s").say("I would like to cancel")
	if a := h.asks("ben", "s").say("the second"); !strings.Contains(a.Text, "did not understand") {
		t.Errorf("told %q", a.Text)
	}
	for _, m := range []dialog.Message{{Text: "the second", From: "ben"}, {Text: "the second", Automatic: true}} {
		h.asks("ann", "s").send(m)
		if n := len(h.waitsFor("ann", "s")); n != 1 {
			t.Fatalf("%d questions wait after %+v", n, m)
		}
	}
	if a := h.asks("ann", "s").say("the second"); !strings.Contains(a.Text, "Kitchen Window") {
		t.Errorf("told %q", a.Text)
	}
}

// A question that is too old is put again to who answers it, and tidied away where
// nobody does; what was asked back is nowhere once it is answered.
func TestWhatWasAskedBackExpires(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "house")
	h.asks("ann", "s").say("I would like to cancel")
	h.later(25 * time.Hour)
	if a := h.asks("ann", "s").say("the second"); !strings.Contains(a.Text, "too old") || !strings.HasSuffix(a.Text, "Which repair is it?") {
		t.Fatalf("told %q", a.Text)
	}
	if a := h.asks("ann", "s").say("the second"); !strings.Contains(a.Text, "Kitchen Window") {
		t.Fatalf("told %q", a.Text)
	}
	h.asks("ann", "t").say("I would like to cancel")
	h.later(25 * time.Hour)
	if a := h.asks("ann", "t").say("what is there"); strings.Contains(a.Text, "Which repair") {
		t.Errorf("told %q", a.Text)
	}
	h.asks("ann", "u").say("I would like to cancel")
	if _, err := h.engine.Housekeep(context.Background(), h.clock().Add(48*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if n := len(h.waitsFor("ann", "u")); n > 0 {
		t.Errorf("%d questions wait", n)
	}
	// Without a name, it is known to the process alone, and waits as long.
	c := h.asks("ann", "")
	c.say("I would like to cancel")
	c.say("what is there")
	if a := c.say("the second"); !strings.Contains(a.Text, "Kitchen Window") {
		t.Errorf("told %q", a.Text)
	}
}

// X11, SAFE-C7: of many windows that answer at the same moment, one is asked to
// confirm what it said, and the others are told that it was answered.
func TestWhatWasAskedBackIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, h *house) {
		const windows = 4
		h.asks("ann", "s").say("I would like to cancel")
		all := make([]*talk, windows)
		for i := range all {
			all[i] = h.another(h.reg).asks("ann", "s")
		}
		told := make([]string, windows)
		// They have read the question by now, and answer without reading again.
		meet := make(chan struct{})
		var ready, done sync.WaitGroup
		ready.Add(windows)
		for i, c := range all {
			done.Go(func() {
				first := true
				a, err := c.Follow(context.Background(), dialog.Message{Text: "the second"}, func(e dialog.Event) {
					if e.Kind == dialog.Doing && first {
						first = false
						ready.Done()
						<-meet
					}
				})
				if err != nil {
					t.Error(err)
					return
				}
				told[i] = a.Text
			})
		}
		ready.Wait()
		close(meet)
		done.Wait()
		asked, late := 0, 0
		for _, text := range told {
			switch {
			case strings.Contains(text, "Kitchen Window"):
				asked++
			case strings.Contains(text, "answered already"):
				late++
			}
		}
		if asked != 1 || late != windows-1 {
			t.Errorf("asked %d, too late %d: %q", asked, late, told)
		}
		s, err := h.engine.Visit(context.Background(), "ann", engine.Visit{Name: "s"})
		if err != nil {
			t.Fatal(err)
		}
		if open, _, err := s.Turns().Waiting(context.Background()); err != nil || len(open) != 1 || open[0].Words != "" {
			t.Errorf("%+v, %v", open, err)
		}
	})
}

// SAFE-C7: whatever is said, in whichever window, what was asked back is answered
// then, or still open, or dropped; there is one at most; and nothing is written
// but by a plain yes to the question that was put last.
func FuzzWhatWasAskedBack(f *testing.F) {
	sayings := []string{"I would like to cancel", "the boiler is expected 3/4/2027", "expected then", "the repairs", "the first", "the second one", "yes", "no", "perfect", "what is there", "Kitchen Window", "March",
		"cancel the boiler", "> the second", "thanks", "hello", "blue elephants", "wait, the other", "yes, the first", "never mind", "the last?", "details", "I don't know", "annuler", "4 March 2027, and what is there"}
	f.Add([]byte{0, 5, 6}, "")
	f.Add([]byte{0, 9, 32 + 5, 6, 1, 4, 64, 32 + 6, 7}, "the window")
	f.Add([]byte{12, 3, 6, 6, 0, 32 + 9, 9, 32 + 9, 9, 5, 64 + 4}, "yes\n> no")
	h := newHouse(f, "house")
	far := h.another(h.reg)
	n := 0
	f.Fuzz(func(t *testing.T, moves []byte, other string) {
		h.t, far.t = t, t
		if !utf8.ValidString(other) || !strings.ContainsFunc(other, unicode.IsLetter) || len(other) > 200 {
			other = "hm" // what cannot be read is not answered at all
		}
		n++
		name := fmt.Sprintf("fuzz %d", n)
		windows := []*talk{h.asks("ann", name), far.asks("ann", name)}
		before, last := h.state(), ""
		for _, m := range moves[:min(len(moves), 12)] {
			said := other
			if k := int(m & 31); k < len(sayings) {
				said = sayings[k]
			}
			from := ""
			if m&64 != 0 {
				from = "ben"
			}
			a := windows[int(m>>5)&1].send(dialog.Message{Text: said, From: from})
			if now := h.state(); now != before {
				own, _, _ := strings.Cut(said, "\n>") // the rest is quoted
				if reply := values.ReadAnswer(own); reply.Answer != values.Agree || from != "" || !strings.Contains(last, "Answer yes or no") {
					t.Fatalf("%q did something, after %q", said, last)
				}
				before = now
			}
			waits := h.waitsFor("ann", name)
			if len(waits) > 1 {
				t.Fatalf("%d questions wait after %q", len(waits), said)
			}
			if len(waits) == 1 && waits[0].Last && from == "" && !strings.Contains(a.Text, "?") {
				t.Fatalf("after %q it is not put, and counts as put: %q", said, a.Text)
			}
			if from == "" {
				last = a.Text
			}
		}
		for key, status := range map[int]string{11: "ORDERED", 12: "REPORTED"} {
			h.sets("repair", key, "status", status)
		}
	})
}

func (book) Named(context.Context, string) ([]string, error) { return nil, nil }
