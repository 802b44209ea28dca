// Package react answers questions turn by turn: a model states a thought and one call of a verb,
// reads the result of the call, and continues until it answers.
//
//	a := react.Agent{Registry: reg, Model: model, Clock: time.Now}
//	err := a.Ask(ctx, session, "Who directs Acme Holding?", func(m react.Message) error {
//		fmt.Println(m.Type, m.Text) // thought, action, observation, …, answer
//		return nil
//	})
//
// It is ReAct (Yao et al., 2022) and no more: it makes no plan, scores nothing and does not vary
// failed calls. The planning agent is measured against it, so it does these things well: a
// fault is tried again, and a mistake goes back to the model with the reason.
//
// The model decides which calls to make, and the engine whether they are permitted. Every value of
// a call has the origin model, and once the model has read untrusted text, the origin of that
// too. A call that needs an agreement is not made.
package react

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"verbatim/runtime/conversation/llm"
	"verbatim/runtime/engine"
	"verbatim/verbs"
)

// An Agent answers questions. It is safe for use by many goroutines when its Model is. The
// fields beyond Registry and Model have defaults.
type Agent struct {
	Registry *verbs.Registry
	Model    llm.Model
	// MaxSteps is the greatest number of requests to the model, including the answer; the default
	// is 15.
	MaxSteps int
	// Tries is how often a call of the model or of a verb is made before it counts as failed; the
	// default is 3. The model's client may try more often for each of these.
	Tries int
	// Pause is the wait before a call is made a second time, and doubles with each time; the
	// default is 50 ms.
	Pause time.Duration
	// Wait waits, or returns the context's error; the default is the clock's.
	Wait func(context.Context, time.Duration) error
	// Clock and Zone say what day it is; the defaults are the machine's clock and UTC.
	Clock func() time.Time
	Zone  *time.Location
}

// A Type is the type of a Message.
type Type string

// The types, in the words of TrustGraph's agent API.
const (
	Thought     Type = "thought"     // the model's words about what it wants to find out
	Action      Type = "action"      // the call, without values of sensitive arguments
	Observation Type = "observation" // the result of the call, as the model reads it
	Answer      Type = "answer"      // the last message
)

// A Message is told to the asker while a question is answered.
type Message struct {
	Type Type   `json:"type"`
	Text string `json:"text"`
}

// source is the source of the calls, for the journal.
const source = "react"

// maxAnswer is the greatest length of the model's answer in one turn, in tokens.
const maxAnswer = 2048

// Ask answers a question in the name of a session's principal. tell is called with each message; its
// error ends the work, and Ask returns it. Any other error is an *Error. Changes that calls have
// made until then stay.
func (a Agent) Ask(ctx context.Context, session *engine.Session, question string, tell func(Message) error) error {
	question = strings.TrimSpace(question)
	if question == "" {
		return failed(NoQuestion, nil)
	}
	zero := float32(0)
	w := work{
		Agent: a.ready(), session: session, tell: tell,
		request: llm.Request{MaxTokens: maxAnswer, Temperature: &zero},
		origin:  verbs.NewOrigin(verbs.FromModel, ""), made: map[string]bool{},
	}
	today := w.Clock().In(w.Zone).Format("Monday 2 January 2006")
	w.request.Messages = []llm.Message{{Role: llm.System, Text: prompt}, {Role: llm.User, Text: fmt.Sprintf(sayQuestion, today, question)}}
	for step := 1; step <= w.MaxSteps; step++ {
		if err := w.offer(ctx); err != nil {
			return err
		}
		reply, err := w.think(ctx)
		if err != nil {
			return err
		}
		said := strings.TrimSpace(reply.Text)
		switch {
		case len(reply.Calls) == 0 && reply.Finish == llm.TooLong:
			w.add(llm.Message{Role: llm.Assistant, Text: said}, llm.Message{Role: llm.User, Text: sayShorter})
			continue
		case len(reply.Calls) == 0:
			return tell(Message{Answer, said})
		case step == w.MaxSteps:
			continue // it was told that it had no call left
		case said != "":
			if err := tell(Message{Thought, said}); err != nil {
				return err
			}
		}
		observed, err := w.act(ctx, reply)
		if err != nil {
			return err
		}
		if err := tell(Message{Observation, observed}); err != nil {
			return err
		}
		if step == w.MaxSteps-1 {
			observed += "\n" + sayLastStep
		}
		w.observe(said, reply.Calls, observed)
	}
	return failed(TooManySteps, nil)
}

func (a Agent) ready() Agent {
	a.MaxSteps, a.Tries = cmp.Or(max(a.MaxSteps, 0), 15), cmp.Or(max(a.Tries, 0), 3)
	a.Pause, a.Zone = cmp.Or(max(a.Pause, 0), 50*time.Millisecond), cmp.Or(a.Zone, time.UTC)
	if a.Wait == nil {
		a.Wait = wait
	}
	if a.Clock == nil {
		a.Clock = time.Now
	}
	return a
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// again waits before a call is repeated, and reports whether it may be; tries is the number of times
// that it was made.
func (w *work) again(ctx context.Context, tries int, asked time.Duration) bool {
	if tries >= w.Tries || asked > longestWait || ctx.Err() != nil {
		return false
	}
	return w.Wait(ctx, max(asked, min(w.Pause<<min(tries-1, 16), longestWait))) == nil
}

// longestWait bounds one pause. An endpoint that wants a longer one has failed.
const longestWait = 10 * time.Second

// transient are the faults of a model that may not occur again.
var transient = []llm.Kind{llm.Unavailable, llm.Busy, llm.Late, llm.Cut, llm.Garbled}

var errEmpty = errors.New("the model answered with nothing")

// think asks the model for its next step: text, calls or both.
func (w *work) think(ctx context.Context) (*llm.Reply, error) {
	for tries := 1; ; tries++ {
		// It is streamed, to distinguish a long answer from a model that has fallen silent.
		reply, err := w.Model.Chat(ctx, w.request, func(string) {})
		var e *llm.Error
		switch {
		case err == nil && (reply.Finish == llm.Filtered || reply.Refusal != ""):
			return nil, failed(ModelRefused, errors.New(reply.Refusal))
		case err == nil && strings.TrimSpace(reply.Text) == "" && len(reply.Calls) == 0:
			err = errEmpty
		case err == nil:
			return reply, nil
		}
		var asked time.Duration
		fault := errors.Is(err, errEmpty)
		if errors.As(err, &e) {
			fault, asked = slices.Contains(transient, e.Kind), e.RetryAfter
		}
		if !fault || !w.again(ctx, tries, asked) {
			return nil, ended(ctx, ModelFailed, err)
		}
	}
}

// observe adds a turn to the history: the model's reply, and the result of the first of its calls.
// The others were not made.
func (w *work) observe(said string, calls []llm.ToolCall, observed string) {
	answers := make([]llm.Message, len(calls))
	for i := range calls {
		c := &calls[i]
		if c.ID == "" { // some endpoints leave it out, and all want it back
			c.ID = fmt.Sprintf("call-%d-%d", len(w.request.Messages), i)
		}
		if !json.Valid([]byte(c.Arguments)) {
			c.Arguments = "{}" // endpoints that read them refuse the whole history otherwise
		}
		answers[i] = llm.Message{Role: llm.ToolRole, CallID: c.ID, Text: sayOneCall}
	}
	answers[0].Text = observed
	w.add(llm.Message{Role: llm.Assistant, Text: said, Calls: calls})
	w.add(answers...)
}

func (w *work) add(messages ...llm.Message) {
	w.request.Messages = append(w.request.Messages, messages...)
}
