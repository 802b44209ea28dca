package dialog

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"verbatim/runtime/words"
	"verbatim/verbs"
)

// A turn may take a while, and whoever waits is told how far it is: what is read,
// that the model is asked, what is done, and the answer as it comes.
//
// What a model says is told sentence by sentence while it speaks, as far as it can
// be: a sentence that states facts, all of which are facts of the turn, is told at
// once. From the first on that is anything else, an announcement, a question, a
// claim that no fact bears out, the rest waits until all of it is there: only then
// is it known whether calls come with it, and what came of them. Nothing that was
// told is taken back. It is the same in every mode: where calls stand among the
// words, the first line that may be one ends what is told meanwhile.

// EventKind says what is going on.
type EventKind string

// What is going on.
const (
	Reading EventKind = "reading" // rows are read
	Asking  EventKind = "asking"  // the model is asked
	Mending EventKind = "mending" // it is told what was wrong
	Doing   EventKind = "doing"   // something is worked out, or done
	Telling EventKind = "telling" // more of the answer
)

// An Event is told while a turn is on its way.
type Event struct {
	Kind EventKind `json:"kind"`
	// Verb is what is called, where something is, and About says it in the words
	// of its palette.
	Verb  string `json:"verb,omitempty"`
	About string `json:"about,omitempty"`
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

// tell tells more of the answer.
func (t *turn) tell(text string) {
	if text == "" {
		return
	}
	if t.told.Len() == 0 {
		text = t.whole(text)
	}
	first, _ := utf8.DecodeRuneInString(text)
	if t.told.Len() > 0 && t.apart && !unicode.IsSpace(first) {
		text = "\n" + text
	}
	t.apart = false
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

// A speaker is a model that speaks: its answer as far as it came, and how much of
// that was told.
type speaker struct {
	t    *turn
	raw  string // as it came
	text string // for the person: without the marks of comments
	from int    // where it begins to say something
	told int    // up to where it was told
	held bool
}

// listen begins to hear a model. Where it has read what strangers wrote, what it
// says may be meant to talk somebody into something, and waits for what it
// proposes.
func (t *turn) listen() *speaker {
	t.apart = true // from what was told before
	return &speaker{t: t, held: t.trace.untrusted() != (verbs.Origin{}) || t.strangers() != (verbs.Origin{})}
}

// hear takes the next piece.
func (s *speaker) hear(piece string) {
	s.raw += piece
	over := false // a call follows
	if s.text = s.raw; s.t.c.o.Mode == Grammar {
		s.text, over = s.comments()
	}
	if s.told == 0 {
		s.from = len(s.text) - len(strings.TrimLeftFunc(s.text, unicode.IsSpace))
		s.told = s.from
	}
	for !s.held {
		n := sentenceEnd(s.text[s.told:])
		if n == 0 && over {
			n = len(strings.TrimRightFunc(s.text[s.told:], unicode.IsSpace))
		}
		if n == 0 {
			return
		}
		end := s.told + n
		if !s.states(s.told, end) {
			s.held = true
			return
		}
		s.t.tell(s.text[s.told:end])
		s.told = end
	}
}

// comments is what the lines say that are comments, up to the first that is none:
// see byComments, which reads the whole. The blanks at the end of what came so far
// may be those at the end of a line, which nobody is told.
func (s *speaker) comments() (said string, over bool) {
	var b strings.Builder
	for line := range strings.Lines(s.raw) {
		whole := strings.HasSuffix(line, "\n")
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		text, ok := strings.CutPrefix(line, ";")
		if !ok {
			return b.String(), true
		}
		b.WriteString(strings.TrimPrefix(text, " "))
		if whole {
			b.WriteByte('\n')
		}
	}
	return b.String(), false
}

// whole takes the answer as it came, where not all of it was streamed.
func (s *speaker) whole(text string) {
	if rest, ok := strings.CutPrefix(text, s.raw); ok && rest != "" {
		s.hear(rest)
	}
}

// spoke reports whether anything of the answer was told.
func (s *speaker) spoke() bool { return s.told > s.from }

// rest is what is left of a text to be told.
func (s *speaker) rest(text string) string {
	if !s.spoke() {
		return text
	}
	if rest, ok := strings.CutPrefix(text, s.text[s.from:s.told]); ok {
		return rest
	}
	return text
}

// announces are sentences of a model about itself, and questions: what comes of
// them is not known while they are spoken.
var announces = lazily(`(?i)\?|(?:^|[^\pL])(?:i|i'm|i’m|i'll|i’ll|we|we'll|we’ll|let me|let's|let’s|let us|shall|one moment|just a moment|ich|wir|lass|lassen sie|einen moment|je|j'|j’|nous|laissez|un instant|un moment|voy|vamos|d[ée]jeme|d[ée]jame|perm[ií]tame|perm[ií]teme|un momento)(?:[^\pL]|$)`)

// states reports whether a sentence states facts of the turn, and nothing else.
func (s *speaker) states(from, end int) bool {
	said := s.text[from:end]
	if shown, _ := visible(said); shown != said {
		return false // what nobody sees is left out when all of it is there
	}
	if announces().MatchString(said) || strings.ContainsAny(said, "`~;<") || s.calls(said) {
		return false // or it is a call, which models write into what they say
	}
	// All that was said so far is looked at: a name may stand on both sides of
	// what ends a sentence.
	text := s.text[s.from:end]
	return len(s.t.facts.unfounded(text)) == 0
}

// verbLike is what a verb looks like.
var verbLike = regexp.MustCompile(`[A-Za-z][A-Za-z0-9_-]*(?:\.[A-Za-z][A-Za-z0-9_-]*)+`)

// calls reports whether a text may hold a call, or a part of one.
func (s *speaker) calls(said string) bool {
	for _, word := range verbLike.FindAllString(said, -1) {
		if s.t.c.o.Registry.Verb(word) != nil {
			return true
		}
	}
	return argLike.MatchString(said)
}

// argLike is what an argument of a call looks like.
var argLike = regexp.MustCompile(`(?:^|\s):[a-z][a-z0-9-]*\s`)

// sentenceEnd is where the first sentence of a text ends, and 0 while it may go
// on. A full stop behind a digit or a short word ends none: "15. Januar", "e.g.".
func sentenceEnd(text string) int {
	for i, r := range text {
		size := utf8.RuneLen(r)
		switch {
		case r == '\n':
			if strings.TrimSpace(text[:i]) != "" && strings.TrimSpace(text[i:]) != "" {
				return len(strings.TrimRightFunc(text[:i], unicode.IsSpace))
			}
		case r == '.' || r == '!' || r == '?' || r == '…':
			next, _ := utf8.DecodeRuneInString(text[i+size:])
			if !unicode.IsSpace(next) || strings.TrimSpace(text[i+size:]) == "" {
				continue
			}
			if word := lastWord(text[:i]); r == '.' && (utf8.RuneCountInString(word) < 4 || strings.ContainsFunc(word, unicode.IsDigit)) && !strings.HasSuffix(text[:i], "%") {
				continue
			}
			return i + size
		}
	}
	return 0
}

func lastWord(text string) string {
	at := strings.LastIndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if at < 0 {
		return text
	}
	_, size := utf8.DecodeRuneInString(text[at:])
	return text[at+size:]
}
