package trustgraph

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
)

// Flags say which questions go to the confidence agent. All others go to the other agent.
type Flags struct {
	Enabled  bool `json:"confidence_agent_enabled"`
	Share    int  `json:"confidence_agent_traffic_percentage"` // of the sessions: 0 to 100
	Fallback bool `json:"confidence_agent_fallback_to_react"`
}

// A Route is the route that a Switch took for a question.
type Route string

// The routes. A question that fell back is counted as ToConfidence before.
const (
	ToConfidence Route = "confidence"
	ToReact      Route = "react"
	FellBack     Route = "fallback"
)

// A Switch is an Agent that gives some questions to the confidence agent and the others to
// the agent that was there before. Questions of one session all go the same way, and a
// larger share takes more sessions but gives none back.
type Switch struct {
	confidence, react Agent
	count             func(Route, error)
	flags             atomic.Pointer[Flags]
}

// NewSwitch makes a switch. Count is called for each route that is taken, for FellBack with
// the error that made the question fall back. It may be nil.
func NewSwitch(confidence, react Agent, f Flags, count func(Route, error)) (*Switch, error) {
	if count == nil {
		count = func(Route, error) {}
	}
	s := &Switch{confidence: confidence, react: react, count: count}
	return s, s.Set(f)
}

// Set changes the flags, for every question that comes from now on.
func (s *Switch) Set(f Flags) error {
	if f.Share < 0 || f.Share > 100 {
		return fmt.Errorf("trustgraph: confidence_agent_traffic_percentage is 0 to 100, not %d", f.Share)
	}
	s.flags.Store(&f)
	return nil
}

// Flags returns the present flags.
func (s *Switch) Flags() Flags { return *s.flags.Load() }

// Ask implements Agent. A question falls back if the confidence agent failed before it sent more
// than thoughts. A question that it refused does not: the other agent might allow it.
func (s *Switch) Ask(ctx context.Context, who Caller, r Request, tell func(Message) error) error {
	if f := s.Flags(); !f.Enabled || share(r) >= f.Share && !strings.HasPrefix(r.State, PlanState) {
		s.count(ToReact, nil)
		return s.react.Ask(ctx, who, r, tell)
	}
	s.count(ToConfidence, nil)
	var more atomic.Bool
	err := question{agent: s.confidence, who: who, r: r}.guarded(ctx, func(m Message) error {
		if m.Type == Failure && !more.Load() {
			return m.failed()
		}
		if m.Type != Thought || m.Observation != "" {
			more.Store(true)
		}
		return tell(m)
	})
	var known *Error
	if err == nil || more.Load() || ctx.Err() != nil || !s.Flags().Fallback || errors.As(err, &known) && known.refuses() {
		return err
	}
	s.count(FellBack, err)
	return s.react.Ask(ctx, who, r, tell)
}

// share maps a session to a number below 100: without one, a conversation, and without that a question.
func share(r Request) int {
	sum := sha256.Sum256([]byte(cmp.Or(r.SessionID, r.ConversationID, r.Question)))
	return int(binary.BigEndian.Uint64(sum[:8]) % 100)
}
