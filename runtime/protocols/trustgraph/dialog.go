package trustgraph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// patience is how long an agent may be silent, unless configured otherwise.
const patience = 10 * time.Minute

// A question is a question to an agent.
type question struct {
	agent    Agent
	who      Caller
	r        Request
	shape    Shape
	patience time.Duration // between two messages; 0: the default
	log      *slog.Logger  // nil: none
	// again looks the caller's token up once more, and returns what they are told where it is not theirs
	// any more; nil if there is no token. fresh is how long what it found counts.
	again func(context.Context) *Error
	fresh time.Duration
}

// ask asks the question and sends the agent's messages in the form of the protocol. It returns an
// *Error that the asker still has to be told; any other error says that the asker has gone.
func (q question) ask(ctx context.Context, send func(Message) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	wait := cmp.Or(q.patience, patience)
	silence := time.AfterFunc(wait, func() { stop(errSilent) })
	defer silence.Stop()
	d := &dialog{streaming: q.r.Streaming && q.shape != Old, old: q.shape == Old, send: send}
	var looked atomic.Int64
	looked.Store(time.Now().UnixNano())
	err := q.guarded(ctx, func(m Message) error {
		silence.Reset(wait)
		if last := looked.Load(); q.again != nil && time.Since(time.Unix(0, last)) >= q.fresh && looked.CompareAndSwap(last, time.Now().UnixNano()) {
			if over := q.again(ctx); over != nil {
				stop(over)
				return over
			}
		}
		if over := context.Cause(ctx); over != nil {
			return over
		}
		return d.tell(m)
	})
	if over := (*Error)(nil); errors.As(context.Cause(ctx), &over) && over != errSilent {
		return over // the token is gone: not even the rest of an answer is told
	}
	end, gone := d.end(err == nil)
	var known *Error
	switch {
	case gone != nil:
		return gone
	case end != nil:
		return end
	case err == nil:
		return nil
	case context.Cause(ctx) == errSilent:
		return errSilent
	case ctx.Err() != nil:
		return errGone
	case errors.As(err, &known):
		return known
	}
	logger(q.log).Error("trustgraph: the agent failed", "error", err, "session", q.r.SessionID)
	return errFailed
}

// guarded makes an error of a panic.
func (q question) guarded(ctx context.Context, tell func(Message) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("trustgraph: panic: %v\n%s", p, debug.Stack())
		}
	}()
	return q.agent.Ask(ctx, q.who, q.r, tell)
}

func logger(l *slog.Logger) *slog.Logger {
	if l == nil {
		return slog.New(slog.DiscardHandler)
	}
	return l
}

// A dialog turns an agent's messages into those of the protocol.
//
// Without streaming, every message is sent whole, and the last one is the whole answer. With
// streaming, messages are sent in the pieces in which they are told, and after the pieces of
// the answer comes an answer without content that ends the dialog.
type dialog struct {
	streaming, old bool
	send           func(Message) error

	mu       sync.Mutex
	held     *Message // pieces of a message, without streaming
	answered bool
	text     strings.Builder // the answer, without streaming
	last     Message
	over     bool
	failed   *Error // as the agent told it
	gone     error  // why nothing can be sent
}

// tell takes a message from the agent, which may tell from several goroutines.
func (d *dialog) tell(m Message) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.gone != nil:
		return d.gone
	case d.over:
		return errOver
	}
	switch m.Type {
	case Thought, Action, Observation, Explain:
		m.EndOfDialog = false
		return d.apart(m)
	case Answer:
		return d.answer(m)
	case Failure:
		d.over, d.failed = true, m.failed()
		return d.failed
	}
	return fmt.Errorf("trustgraph: there is no message of type %q", m.Type)
}

// apart sends the thought and the observation of a message as separate messages, if the shape has no
// place for them.
func (d *dialog) apart(m Message) error {
	if !d.old {
		for _, with := range []Message{{Type: Thought, Content: m.Thought}, {Type: Observation, Content: m.Observation}} {
			if with.Content != "" {
				if with.EndOfMessage = true; m.MessageID != "" {
					with.MessageID = m.MessageID + "/" + string(with.Type)
				}
				if err := d.whole(with); err != nil {
					return err
				}
			}
		}
		m.Thought, m.Observation = "", ""
	}
	if m.Type == Answer {
		return d.out(m)
	}
	return d.whole(m)
}

// whole sends a message; without streaming it waits for all pieces of it.
func (d *dialog) whole(m Message) error {
	if d.streaming {
		return d.out(m)
	}
	if h := d.held; h != nil {
		if d.held = nil; h.Type == m.Type && h.MessageID == m.MessageID {
			m.Content = h.Content + m.Content
		} else if err := d.out(*h); err != nil {
			return err
		}
	}
	if !m.EndOfMessage {
		d.held = &m
		return nil
	}
	return d.out(m)
}

// answer takes a piece of the answer.
func (d *dialog) answer(m Message) error {
	d.answered, d.over = true, m.EndOfDialog
	l := &d.last
	l.MessageID, l.Model = cmp.Or(m.MessageID, l.MessageID), cmp.Or(m.Model, l.Model)
	l.InTokens, l.OutTokens = cmp.Or(m.InTokens, l.InTokens), cmp.Or(m.OutTokens, l.OutTokens)
	l.Thought, l.Observation = cmp.Or(m.Thought, l.Thought), cmp.Or(m.Observation, l.Observation)
	if !d.streaming {
		d.text.WriteString(m.Content)
		return nil
	}
	if m.Content == "" {
		return nil
	}
	piece := Message{Type: Answer, Content: m.Content, MessageID: m.MessageID, Thought: l.Thought, Observation: l.Observation}
	l.Thought, l.Observation = "", ""
	return d.apart(piece)
}

// end ends the dialog: it sends the last message of an agent that is well. It returns the
// error that the asker has to be told, and why nothing can be sent.
func (d *dialog) end(well bool) (*Error, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.over = true
	switch {
	case d.gone != nil || d.failed != nil:
		return d.failed, d.gone
	case !well:
		return nil, nil
	case !d.answered:
		return errNoAnswer, nil
	}
	if d.held != nil {
		_ = d.out(*d.held) // d.gone keeps the error
	}
	l := d.last
	l.Type, l.Content, l.EndOfMessage, l.EndOfDialog = Answer, d.text.String(), true, true
	_ = d.apart(l)
	return nil, d.gone
}

// out sends a message. The old shape has no place for actions and explanations, and reads a
// response with nothing in it as the end.
func (d *dialog) out(m Message) error {
	if !d.streaming {
		m.EndOfMessage = true
	}
	if d.old && m.Type != Answer && (m.Type == Action || m.Type == Explain || m.Content+m.Thought+m.Observation == "") {
		return nil
	}
	if d.gone == nil {
		d.gone = d.send(m)
	}
	return d.gone
}
