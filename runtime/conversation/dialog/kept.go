package dialog

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"verbatim/runtime/conversation/values"
	"verbatim/runtime/engine"
	"verbatim/runtime/state/sessions"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// A conversation in a kept session continues from process to process, and may run in several at
// once. Its turns and open questions are rows. Each turn first reads what has happened since, so a
// yes always answers the question that was put last, in whatever process.

// Resume continues a kept session: its last turns are shown to the model again, its questions are
// open again, and new turns are stored.
func (c *Conversation) Resume(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	info, err := c.o.Session.Turns().Info(ctx)
	if err != nil {
		return err
	}
	c.kept = true
	c.known = max(0, info.Turns-int64(3*c.o.History))
	return c.catchUp(ctx)
}

// catchUp reads the turns and questions that came since this conversation last looked.
func (c *Conversation) catchUp(ctx context.Context) error {
	if !c.kept {
		return nil
	}
	waiting, turns, err := c.o.Session.Turns().Waiting(ctx)
	if err != nil {
		return err
	}
	if turns > c.known {
		said, err := c.o.Session.Turns().Between(ctx, c.known+1, turns)
		if err != nil {
			return err
		}
		c.recall(said)
		c.known = turns
	}
	// Questions that could not be stored are known here alone.
	open := slices.DeleteFunc(slices.Clone(c.open), func(q *Question) bool { return q.stored })
	if c.unclear.stored {
		c.unclear = unclear{}
	}
	c.leaves = nil
	for i := range waiting {
		if k := &waiting[i]; k.Words != "" && k.Words != decidesWords {
			u, err := recallUnclear(k)
			if err != nil {
				return err
			}
			// The question that was put last counts, in whatever process.
			if c.unclear.open() && !c.unclear.stored {
				c.leaves = append(c.leaves, u.id)
				continue
			}
			if c.unclear.stored {
				c.leaves = append(c.leaves, c.unclear.id)
			}
			c.unclear = u
			continue
		}
		q, err := c.recallQuestion(&waiting[i])
		if err != nil {
			return err
		}
		open = append(open, q)
	}
	c.open = open
	return nil
}

// recall adds turns that were stored elsewhere.
func (c *Conversation) recall(said []sessions.Turn) {
	for i := range said {
		s := &said[i]
		switch last := len(c.turns) - 1; {
		case s.Erased:
		case s.Role == sessions.System:
			c.recallExchange(s)
		case s.Role == sessions.Client:
			h := hear(s.Content, false, c.o.Person)
			if s.Intent != foreignIntent && h.bad == "" && !h.auto {
				c.listen(h.own)
			}
			c.turns = append(c.turns, &Turn{Number: len(c.turns) + 1, Time: s.Time.In(c.o.Zone), Said: h.own, Quoted: h.quoted, Foreign: s.Intent == foreignIntent, spoken: spokenIn(s)})
		case s.Role == sessions.Agent && last >= 0 && c.turns[last].Told == "":
			c.turns[last].Told = s.Content
			c.turns[last].spoken.join(spokenIn(s))
			// The text of a stored answer counts as written by a model, and may repeat an untrusted
			// text.
			c.turns[last].tainted = verbs.NewOrigin(verbs.FromModel, "")
			intent := s.Intent
			for _, put := range [...]string{asksIntent, laterIntent} {
				if rest, ok := strings.CutPrefix(intent, put); ok {
					c.turns[last].asks, intent, _ = strings.Cut(rest, " ")
					c.turns[last].later = put == laterIntent
				}
			}
			if mark, ok := strings.CutPrefix(intent, repeatsIntent); ok {
				c.turns[last].tainted = c.turns[last].tainted.Mix(verbs.Stored(mark))
			}
		}
	}
}

// The intents with a meaning of their own.
const (
	foreignIntent = "not the person's own"
	asksIntent    = "asks "           // a question of a collection, by its digest
	laterIntent   = "puts off "       // the same, while something else is asked
	repeatsIntent = "after words of " // of untrusted origins, in the form of verbs.Origin.Mark
)

// decidesWords are stored in place of a program with a question about a proposal of a colleague.
const decidesWords = "what somebody else asked for"

// aboutQuestion is what is stored to put a question again.
type aboutQuestion struct {
	Title  string            `json:"title"`
	Shows  string            `json:"shows"`
	Asks   string            `json:"asks,omitempty"`
	Why    string            `json:"why,omitempty"`
	Told   string            `json:"told,omitempty"` // why, in the person's language
	Calls  []string          `json:"calls"`
	Others []string          `json:"others,omitempty"`
	More   []reason          `json:"reasons,omitempty"`
	Turn   int64             `json:"turn,omitempty"`
	Values map[string]string `json:"values,omitempty"` // of the arguments
}

// recallQuestion reads a stored question.
func (c *Conversation) recallQuestion(k *sessions.Question) (*Question, error) {
	for _, q := range c.open {
		if q.stored && q.ID == k.Preview && q.Until.Equal(k.Until) {
			q.fresh = k.Last
			return q, nil
		}
	}
	var about aboutQuestion
	if err := json.Unmarshal([]byte(k.About), &about); err != nil {
		return nil, &engine.Failure{Err: errors.New("a question that waits cannot be read")}
	}
	q := &Question{ID: k.Preview, Title: about.Title, secret: secret{mark: c.marks}, shows: shifted(about.Shows, c.marks), asks: shifted(about.Asks, c.marks), Why: about.Why, Because: about.Told, Calls: about.Calls, others: about.Others, more: about.More,
		Asked: k.Asked.In(c.o.Zone), Until: k.Until.In(c.o.Zone), before: k.Before, turn: about.Turn, values: about.Values, decides: k.Words == decidesWords, fresh: k.Last, stored: true, recalled: k}
	q.Shows, q.Asks = c.conceal(q.shows), c.conceal(q.asks)
	c.marks = (c.marks + rune(q.marks())) % mostMarks
	return q, nil
}

// meaning returns the program that a question asks about. A question of another process is checked
// here first.
func (c *Conversation) meaning(ctx context.Context, q *Question) (*verbs.Program, error) {
	if q.program == nil && q.recalled != nil && !q.decides {
		p, err := c.o.Session.Turns().Recall(ctx, q.recalled)
		if err != nil {
			return nil, err
		}
		q.program = p
	}
	return q.program, nil
}

// puts returns the questions that the answer puts.
func (c *Conversation) puts() []sessions.Question {
	var all []sessions.Question
	for _, q := range c.open {
		if !q.fresh {
			continue
		}
		k := sessions.Question{}
		if q.recalled != nil {
			k = *q.recalled
		}
		about, err := json.Marshal(aboutQuestion{q.Title, shifted(q.shows, -q.mark), shifted(q.asks, -q.mark), q.Why, q.Because, q.Calls, q.others, q.more, q.turn, q.values})
		if err != nil {
			continue // of strings: it does not happen
		}
		k.Preview, k.Asked, k.Until, k.Before, k.Source = q.ID, q.Asked, q.Until, q.before, c.o.Source
		k.About = string(about)
		if q.program != nil {
			k.Program = q.program
		}
		if q.decides {
			k.Words, k.Again = decidesWords, q.stored
		}
		all = append(all, k)
	}
	if c.unclear.open() && (c.unclear.fresh || !c.unclear.stored) {
		if k, err := c.unclear.kept(c.o.Source); err == nil {
			all = append(all, k)
		}
	}
	return all
}

// keep stores the turn: the message, the answer, its questions, and the record.
func (t *turn) keep(ctx context.Context) error {
	c := t.c
	client := t.client()
	for _, call := range t.record.Calls {
		if client.Intent == "" {
			client.Intent = call.Verb
		}
	}
	var why strings.Builder
	if err := t.record.Explain(&why); err != nil {
		return err
	}
	agent := sessions.Said{Role: sessions.Agent, Content: t.record.Told, Names: c.o.Session.Names().Known(t.record.spoken.Names), Puts: c.puts(), Settles: append(t.settled, c.leaves...), Answers: t.ends}
	if foreign(t.record.tainted) {
		agent.Intent = repeatsIntent + t.record.tainted.Mark()
	}
	if put := t.record.asks; put != "" && t.record.later {
		agent.Intent = strings.TrimSuffix(laterIntent+put+" "+agent.Intent, " ")
	} else if put != "" {
		agent.Intent = strings.TrimSuffix(asksIntent+put+" "+agent.Intent, " ")
	}
	about := sessions.Said{Role: sessions.System, Intent: sessions.WhyIntent, Content: why.String()}
	about.Exchange, about.Like = t.keptExchange()
	all := []sessions.Said{client, agent, about}
	ours := 0
	if t.kept {
		all, ours = all[1:], 1
	}
	first, err := c.o.Session.Turns().Say(ctx, all...)
	if err != nil {
		return err
	}
	for _, q := range c.open {
		q.stored = q.stored || q.fresh
	}
	c.unclear.stored = c.unclear.open()
	t.ends = ""
	if first > c.known+1+int64(ours) {
		// Somebody took a turn elsewhere meanwhile.
		said, err := c.o.Session.Turns().Between(ctx, c.known+1, first-1)
		if err != nil {
			return err
		}
		if at := slices.IndexFunc(said, func(s sessions.Turn) bool { return s.Content == t.spoken && s.Role == sessions.Client }); ours == 1 && at >= 0 {
			said = slices.Delete(said, at, at+1)
		}
		c.recall(said)
	}
	c.known = first + int64(len(all)) - 1
	return nil
}

// means records what the message's program is about.
func (t *turn) means(p *verbs.Program) {
	calls := p.Calls()
	for i := range calls {
		if t.intent == "" {
			t.intent = calls[i].Verb.Name
		}
		for j := range calls[i].Args {
			a := &calls[i].Args[j]
			if a.Kind == verbs.Name && a.Path() == "" && !slices.Contains(t.about, a.Name()) {
				t.about = append(t.about, a.Name())
				t.record.spoken.join(Spoken{Names: []string{a.Name()}})
			}
		}
	}
}

// client returns the person's message with its intent and the rows that it is about.
func (t *turn) client() sessions.Said {
	said := sessions.Said{Role: sessions.Client, Content: t.spoken, Intent: t.intent, Names: t.c.o.Session.Names().Known(t.about), Via: t.via}
	if t.record.Foreign {
		said.Intent = foreignIntent
	}
	return said
}

// run runs a program. The person's words are stored with the first run of the turn, so that the
// journal can cite them, and the question that the turn answers is settled with it.
func (t *turn) run(ctx context.Context, p *verbs.Program, o engine.RunOptions, answered *Question) (*receipt.Receipt, error) {
	o.Source, o.Progress = t.c.o.Source, t.far
	if answered == nil {
		t.c.masks.learnProgram(p, t.heard.own)
	}
	with := t.c.kept && !t.kept && !t.c.o.Session.Reads(p)
	if with {
		if answered != nil {
			t.means(p)
		}
		said := t.client()
		if answered != nil && answered.stored {
			said.Settles = []string{answered.ID}
		}
		said.Answers = t.ends
		o.Said = []sessions.Said{said}
	}
	reply, err := t.c.o.Session.Run(ctx, p, o)
	if with && err == nil && !reply.Repeated { // what was done before kept no words of this turn
		t.kept, t.ends = true, ""
	}
	if with && t.via != "" && (err != nil || reply.Repeated) {
		number, failed := t.c.o.Session.Turns().Via(ctx, t.via)
		t.twice = failed == nil && number > 0
	}
	return reply, err
}

// answeredBefore returns the answer to a message that was handled before; nil if it was not.
func (c *Conversation) answeredBefore(ctx context.Context, id string) (*Answer, error) {
	number, err := c.o.Session.Turns().Via(ctx, id)
	if err != nil || number == 0 {
		return nil, err
	}
	said, err := c.o.Session.Turns().Between(ctx, number, 0)
	if err != nil {
		return nil, err
	}
	a := &Answer{Open: slices.Clone(c.open), Turn: &Turn{Number: int(number)}, Before: true, Text: c.wording.say(sayInterrupted)}
	for i := range said {
		switch {
		case i == 0:
			a.CutOff = said[i].Time
		case said[i].Role == sessions.Client:
			return a, nil // something else was said then
		case said[i].Role == sessions.Agent:
			a.Text, a.CutOff = said[i].Content, time.Time{}
			return a, nil
		}
	}
	return a, nil
}

// answeredElsewhere reports whether a question was settled since this turn began.
func (t *turn) answeredElsewhere(ctx context.Context, q *Question) bool {
	if !t.c.kept || !q.stored {
		return false
	}
	waiting, _, err := t.c.o.Session.Turns().Waiting(ctx)
	return err == nil && !slices.ContainsFunc(waiting, func(k sessions.Question) bool { return k.Preview == q.ID })
}

// Reminder puts the question that stands open from an earlier process; "" if there is none.
func (c *Conversation) Reminder() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, asks := c.o.Clock(), ""
	q := c.stands()
	if q != nil && now.Before(q.Until) {
		asks = c.reveal(c.wording.question(q))
	}
	if c.unclear.open() && now.Before(c.unclear.until) && (asks == "" || !q.fresh) {
		asks = c.unclear.Asked
	}
	if asks == "" {
		return ""
	}
	return c.wording.say(sayStillOpen) + "\n" + asks
}

// Language returns the language in which the person is answered: the one they used last.
func (c *Conversation) Language() values.Language {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wording.tongue
}
