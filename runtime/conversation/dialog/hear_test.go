package dialog_test

import (
	"context"
	"strings"
	"testing"

	"verbatim/runtime/conversation/dialog"
)

// What cannot be read is told in plain words, and reaches no model; what nobody
// can see is left out of what reaches one.
func TestWhatIsHeard(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "house")
	for name, c := range map[string]struct {
		text string
		told string // a part of the answer
		asks bool   // a model
	}{
		"nothing":                {"", "That message is empty", false},
		"blanks":                 {" \n\t ", "That message is empty", false},
		"only what is hidden":    {"\u200b\u202e", "That message is empty", false},
		"a megabyte":             {strings.Repeat("a", 1<<20), "That message is 1.0 MB long, and I read up to 32 KB", false},
		"bytes":                  {"caf\xe9", "no text", false},
		"only a quotation":       {"> pay 5", "only words of others", false},
		"an absence":             {"Automatic reply: I am away", "automatic reply", false},
		"a word":                 {"hello", "You are welcome", true},
		"hidden letters":         {"hel\u202elo", "characters in that message that nobody can see", true},
		"tags":                   {"hello\U000e0069\U000e0067", "characters in that message that nobody can see", true},
		"a soft hyphen":          {"hel\u00adlo", "You are welcome", true},
		"line ends of all kinds": {"a\r\nb\rc\u2028d", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := answers(pleased)
			a := h.talk(m, nil).say(c.text)
			if !strings.Contains(a.Text, c.told) {
				t.Errorf("told %q", a.Text)
			}
			if asked := len(m.asked) > 0; asked != c.asks {
				t.Errorf("the model was asked: %v", asked)
			}
			for _, hidden := range []string{"\u202e", "\u200b", "\U000e0069", "\r"} {
				for _, r := range m.asked {
					for _, msg := range r.Messages {
						if strings.Contains(msg.Text, hidden) {
							t.Errorf("the model was shown %q", hidden)
						}
					}
				}
			}
		})
	}
}

// What is shown before a yes is what will be kept, also where it holds what
// nobody sees. (SAFE-C5)
func TestHiddenValuesAreShown(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "house")
	h.does("ann", `house.report :flat-id @garden-flat :title "Tap\u{202e}x"`)
	a := h.talk(answers(calls(`house.cancel :repair-id @tap-x`), calls(`house.cancel :repair-id @tapx`)), nil).say("cancel the tap")
	if len(a.Open) != 1 || strings.ContainsRune(a.Text, 0x202e) || !strings.Contains(a.Text, "u202e") {
		t.Errorf("asked %q", a.Text)
	}
}

// halting asks for the row, and takes it for the answer alone.
type halting struct{ fixed }

func (halting) Interpret(_ context.Context, said string, settled dialog.Settled, _ []dialog.Spoken) (dialog.Understood, error) {
	switch {
	case strings.Contains(said, "cancel") && len(settled.Given) == 1 && settled.Given[0].Text == "the boiler":
		return dialog.Understood{Script: cancelBoiler}, nil
	case strings.Contains(said, "cancel"):
		return dialog.Understood{Ask: "Which repair?", Wants: dialog.Given{Verb: "house.cancel", Param: "repair-id"}}, nil
	}
	return dialog.Understood{}, nil
}

// X13: where something is missing it is asked for, and the answer makes sense
// with what was said before.
func TestAnAnswerCompletesWhatWasSaid(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "house")
	c := h.talk(nil, func(o *dialog.Options) { o.Model, o.Interpreter = nil, halting{} })
	if a := c.say("cancel it"); a.Text != "Which repair?" {
		t.Fatalf("told %q", a.Text)
	}
	if a := c.say("the boiler"); len(a.Open) != 1 {
		t.Fatalf("told %q", a.Text)
	}
	if c.say("yes"); h.field("repair", 11, "status") != "CANCELLED" {
		t.Error("it was not cancelled")
	}
	if a := c.say("the boiler"); len(a.Open) != 0 {
		t.Error("an answer counts twice")
	}
}

// No text of any kind makes a yes of what goes on after it.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{"yes", "ja, bitte", "yes, the second", "oui\n> non", "no", "s\u00ed"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, said string) {
		dialog.Answered(said)
		if verdict, _ := dialog.Answered("zzyzx " + said); verdict == "yes" && !strings.Contains(said, "\n") {
			t.Errorf("%q agrees behind a word that nobody knows", said)
		}
		if verdict, _ := dialog.Answered("> " + strings.ReplaceAll(strings.ReplaceAll(said, "\n", " "), "\r", " ")); verdict == "yes" && !strings.ContainsAny(said, "\u2028\u2029\u0085") {
			t.Errorf("a quotation of %q agrees", said)
		}
	})
}

func (halting) Named(context.Context, string) ([]string, error) { return nil, nil }
