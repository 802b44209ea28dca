package dialog

import (
	"unicode"
	"unicode/utf8"

	"verbatim/runtime/conversation/values"
	"verbatim/runtime/engine"
	"verbatim/verbs"
)

// Progress of a turn: reads, model calls, and runs as they happen, and the answer in parts.

// EventKind is the kind of an event.
type EventKind string

// The kinds.
const (
	Reading     EventKind = "reading" // rows are read
	AskingModel EventKind = "asking"  // the model is asked
	Mending     EventKind = "mending" // the model is told of a mistake
	Doing       EventKind = "doing"   // a call is previewed or run
	Telling     EventKind = "telling" // more of the answer
)

// An Event is sent while a turn is under way.
type Event struct {
	Kind EventKind `json:"kind"`
	// Verb is the verb that runs; About describes it in the palette's words.
	Verb  string `json:"verb,omitempty"`
	About string `json:"about,omitempty"`
	// Done and Total are the progress of a tool; 0 if it reports none.
	Done, Total int `json:"-"`
	// Text is the next part of the answer. All parts together are Answer.Text.
	Text string `json:"text,omitempty"`
	// Language is the conversation's language.
	Language values.Language `json:"-"`
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

// far reports the progress of a tool.
func (t *turn) far(p engine.Progress) {
	if v := t.c.o.Registry.Verb(p.Verb); t.events != nil && p.Phase == engine.Asking {
		t.events(Event{Kind: Doing, Verb: v.Name, About: t.c.wording.does(v), Done: p.Done, Total: p.Total, Language: t.c.wording.tongue})
	}
}

// tell sends the next part of the answer.
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

// whole adds the sentence about hidden characters to an answer, if there were any.
func (t *turn) whole(text string) string {
	if t.heard.hidden {
		return t.c.wording.say(sayHidden) + "\n" + text
	}
	return text
}
