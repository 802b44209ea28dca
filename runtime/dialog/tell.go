package dialog

import (
	"unicode"
	"unicode/utf8"

	"verbatim/runtime"
	"verbatim/runtime/words"
	"verbatim/verbs"
)

// A turn may take a while, and whoever waits is told how far it is: what is read,
// that the model is asked, what is done, as soon as it is, and the answer.

// EventKind says what is going on.
type EventKind string

// What is going on.
const (
	Reading     EventKind = "reading" // rows are read
	AskingModel EventKind = "asking"  // the model is asked
	Mending     EventKind = "mending" // it is told what was wrong
	Doing       EventKind = "doing"   // something is worked out, or done
	Telling     EventKind = "telling" // more of the answer
)

// An Event is told while a turn is on its way.
type Event struct {
	Kind EventKind `json:"kind"`
	// Verb is what is called, where something is, and About says it in the words
	// of its palette.
	Verb  string `json:"verb,omitempty"`
	About string `json:"about,omitempty"`
	// Done and Total tell how far a tool is that is asked; 0 where it does not tell.
	Done, Total int `json:"-"`
	// Text is more of the answer. The texts of a turn, one after the other, are
	// its Answer.Text.
	Text string `json:"text,omitempty"`
	// Language is that of the conversation.
	Language words.Language `json:"-"`
}

func (t *turn) event(kind EventKind, v *verbs.Verb) {
	if t.events == nil {
		return
	}
	e := Event{Kind: kind, Language: t.c.wording.tongue}
	if v != nil {
		e.Verb, e.About = v.Name, t.c.wording.does(v)
	}
	t.events(e)
}

// far tells how far a tool is.
func (t *turn) far(p runtime.Progress) {
	if v := t.c.o.Registry.Verb(p.Verb); t.events != nil && p.Phase == runtime.Asking {
		t.events(Event{Kind: Doing, Verb: v.Name, About: t.c.wording.does(v), Done: p.Done, Total: p.Total, Language: t.c.wording.tongue})
	}
}

// tell tells more of the answer.
func (t *turn) tell(text string) {
	if text == "" {
		return
	}
	if t.told.Len() == 0 {
		text = t.whole(text)
	}
	first, _ := utf8.DecodeRuneInString(text)
	if t.told.Len() > 0 && !unicode.IsSpace(first) {
		text = "\n" + text
	}
	t.told.WriteString(text)
	if t.events != nil {
		t.events(Event{Kind: Telling, Text: t.c.reveal(text), Language: t.c.wording.tongue})
	}
}

// whole is an answer as it begins.
func (t *turn) whole(text string) string {
	if t.heard.hidden {
		return t.c.wording.say(sayHidden) + "\n" + text
	}
	return text
}
