package dialog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"verbatim/runtime"
	"verbatim/runtime/sessions"
	"verbatim/runtime/words"
)

// What an unclear message was asked about is a row of a session that is kept, as
// any other question is: it belongs to its person alone, the turn that puts it
// writes it, and the turn that answers it takes it away, or is refused where another
// window was quicker. Its words stand in the row only while it waits. It would have
// been enough to point to the turns that it was said in; but what was offered has
// to be known as it was offered, and the row can be guarded by itself, so that what
// is said in another window in between does not get in the way of the answer.

const (
	// defaultOpen is how long it waits: whoever writes by mail answers tomorrow.
	// Nothing is agreed to by it, so that time does no harm to it, and what comes of
	// the answer is worked out when it comes.
	defaultOpen = 24 * time.Hour
	// mostAside is how many turns about something else it outlasts.
	mostAside = 3
)

// aboutUnclear is what is kept of an unclear message beside its words.
type aboutUnclear struct {
	Before string        `json:"before,omitempty"`
	Verb   string        `json:"verb,omitempty"`
	Asked  string        `json:"asked"`
	Offers []Offer       `json:"offers,omitempty"`
	Places []words.Range `json:"places,omitempty"`
	About  string        `json:"about,omitempty"`
	Spoken []Spoken      `json:"spoken,omitempty"`
	Aside  int           `json:"aside,omitempty"`
	// Corrects says that it changes a call that waits.
	Corrects bool `json:"corrects,omitempty"`
}

// recallUnclear makes what was asked about of the question that is kept.
func recallUnclear(k *sessions.Question) (unclear, error) {
	var about aboutUnclear
	if err := json.Unmarshal([]byte(k.About), &about); err != nil || about.Asked == "" {
		return unclear{}, &runtime.Failure{Err: errors.New("a question that waits cannot be read")}
	}
	return unclear{said: k.Words, before: about.Before, verb: about.Verb, asked: about.Asked, offers: about.Offers, places: about.Places, about: about.About, spoken: about.Spoken, corrects: about.Corrects,
		id: k.Preview, at: k.Asked, until: k.Until, aside: about.Aside, fresh: k.Last, stored: true}, nil
}

// kept is the question as it is written.
func (u *unclear) kept(source string) (sessions.Question, error) {
	about, err := json.Marshal(aboutUnclear{u.before, u.verb, u.asked, u.offers, u.places, u.about, u.spoken, u.aside, u.corrects})
	return sessions.Question{Preview: u.id, Asked: u.at, Until: u.until, Source: source, Words: u.said, About: string(about), Again: u.stored}, err
}

// waits finds what waits for an answer. Where that comes too late, it is remembered
// for this turn alone, so that it can be put again.
func (t *turn) waits() {
	c := t.c
	if c.unclear.open() && !t.now.Before(c.unclear.until) {
		t.lapsed = c.unclear
		t.closed(false)
	}
	t.was = c.unclear
	c.unclear.fresh = false // until it is put again
}

// closed ends the waiting. Where it is answered, nobody else may have answered it.
func (t *turn) closed(answered bool) {
	switch u := &t.c.unclear; {
	case !u.stored:
	case answered:
		t.ends = u.id
	default:
		t.settled = append(t.settled, u.id)
	}
	t.c.unclear = unclear{}
}

// asksBack puts what was asked back.
func (t *turn) asksBack(u *Understood, was *unclear) {
	next := t.next
	if next.said == "" {
		next.said, next.spoken = t.heard.own, t.c.before()
		if u.Of.End > u.Of.Start && u.Of.End <= len(next.said) {
			next.said = next.said[u.Of.Start:u.Of.End]
			for i := range u.Places {
				u.Places[i].Start -= u.Of.Start
				u.Places[i].End -= u.Of.Start
			}
		}
	} else {
		next.spoken = was.spoken
	}
	next.asked, next.offers, next.places, next.about = u.Ask, u.Offers, u.Places, u.Verb
	next.at, next.until, next.fresh = t.now, t.now.Add(t.c.o.Limits.Open), true
	next.id = fmt.Sprintf("words-%d-%x", t.record.Number, t.now.UnixNano())
	t.c.unclear = next
}

// aside answers something else than what is waited for, and reminds of that, so that
// it is put again before an answer to it counts. Whoever goes on speaking of other
// things is told that it is not waited for any longer.
func (t *turn) aside(ctx context.Context, text string) (string, error) {
	u := &t.c.unclear
	if !u.open() {
		return text, nil
	}
	if u.aside++; u.aside > mostAside {
		text += "\n" + t.c.wording.say(sayLetGo, firstLine(u.asked))
		t.record.note(noteLetGo)
		t.closed(false)
		return text, nil
	}
	if u.corrects {
		u.fresh = true
		return text + "\n" + t.c.wording.say(sayOpenStill, u.asked), nil
	}
	// As it is now, and in the language that is spoken now.
	now, err := t.c.understood(ctx, u.said, u.verb, u.spoken)
	if err != nil {
		return text, err
	}
	if now.Ask != "" {
		u.asked, u.offers, u.places = now.Ask, now.Offers, now.Places
	}
	u.fresh = true
	t.record.note(noteStillOpen)
	return text + "\n" + t.c.wording.say(sayOpenStill, u.asked), nil
}

// lapse puts a question again that was answered too late.
func (t *turn) lapse(ctx context.Context) (string, error) {
	was := t.lapsed
	if was.corrects {
		return "", nil // what it was about is too old as well
	}
	if i, _ := choice(&t.heard, was.offers); i < 0 {
		u, err := t.answer(ctx, t.heard.own, &Understood{}, &was)
		if err != nil || u == nil || u.Script == "" && u.Ask == was.asked {
			return "", err
		}
	}
	t.next = unclear{said: was.said, before: was.before, verb: was.verb}
	now, err := t.c.understood(ctx, was.said, was.verb, was.spoken)
	if err != nil || now.Ask == "" {
		return "", err
	}
	t.asksBack(&now, &was)
	return t.c.wording.say(sayExpired) + "\n" + now.Ask, nil
}

// quicker reports whether an error says that somebody has settled the question that
// this turn answers.
func quicker(err error) bool {
	var refusal *runtime.Refusal
	return errors.As(err, &refusal) && len(refusal.Diagnostics) > 0 && refusal.Diagnostics[0].Code == "already-used"
}

// overtaken takes back what this turn was about to ask: it was answered elsewhere.
func (t *turn) overtaken() string {
	c := t.c
	c.unclear, t.ends = unclear{}, ""
	c.open = slices.DeleteFunc(c.open, func(q *Question) bool { return slices.Contains(t.asked, q) })
	t.record.note(noteElsewhere)
	return c.wording.say(sayAnswered)
}

// firstLine is a question without what it offers line by line.
func firstLine(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return first
}
