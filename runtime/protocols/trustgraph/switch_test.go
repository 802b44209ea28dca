package trustgraph

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
)

var (
	confident = tells(nil, Message{Type: Answer, Content: "confidence"})
	reacts    = tells(nil, Message{Type: Answer, Content: "react"})
)

// went asks and returns the answer.
func went(t *testing.T, a Agent, r Request) string {
	t.Helper()
	all, err := collect(t.Context(), a, r)
	if err != nil || len(all) == 0 {
		t.Fatalf("%v, %v", all, err)
	}
	return all[len(all)-1].Content
}

func newSwitch(t *testing.T, confidence, react Agent, f Flags, count func(Route, error)) *Switch {
	t.Helper()
	s, err := NewSwitch(confidence, react, f, count)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// T40: the flags have the names of the specification, and 5 % of the sessions are about 5 %.
func TestTheShareIsOfSessions(t *testing.T) {
	t.Parallel()
	var f Flags
	if err := json.Unmarshal([]byte(`{"confidence_agent_enabled":true,"confidence_agent_traffic_percentage":5,"confidence_agent_fallback_to_react":true}`), &f); err != nil || f != (Flags{true, 5, true}) {
		t.Fatal(f, err)
	}
	routes := map[Route]int{}
	s := newSwitch(t, confident, reacts, f, func(r Route, _ error) { routes[r]++ })
	var first []int
	for i := range 10000 {
		if went(t, s, Request{Question: "q", SessionID: fmt.Sprint(i)}) == "confidence" {
			first = append(first, i)
		}
	}
	if n := len(first); n < 400 || n > 600 || routes[ToConfidence] != n || routes[ToReact] != 10000-n {
		t.Errorf("%d of 10000 went to the confidence agent; counted are %v", n, routes)
	}
	// A session goes the same way whatever it asks, and a larger share gives none back.
	if err := s.Set(Flags{true, 20, true}); err != nil {
		t.Fatal(err)
	}
	for _, i := range first {
		if went(t, s, Request{Question: fmt.Sprint("other", i), SessionID: fmt.Sprint(i), ConversationID: "c"}) != "confidence" {
			t.Errorf("session %d was given back", i)
		}
	}
	// How far a plan is is known where it was made.
	if err := s.Set(Flags{true, 0, true}); err != nil || went(t, s, Request{Question: "how far", State: PlanState + "4711"}) != "confidence" || went(t, s, Request{Question: "how far", State: "initial"}) != "react" {
		t.Error("a plan is asked for of the agent that did not make it")
	}
	if err := s.Set(Flags{true, 20, true}); err != nil {
		t.Fatal(err)
	}
	// Without a session, the conversation decides, and without either the question.
	for i := range 200 {
		k := fmt.Sprint(i)
		if a, b, c := went(t, s, Request{Question: "q", SessionID: k}), went(t, s, Request{Question: "q", ConversationID: k}), went(t, s, Request{Question: k}); a != b || b != c {
			t.Errorf("%s: %s, %s, %s", k, a, b, c)
		}
	}
}

// T40: none, all, and shares that are none.
func TestNoneAndAll(t *testing.T) {
	t.Parallel()
	s := newSwitch(t, confident, reacts, Flags{}, nil)
	for _, c := range []struct {
		f    Flags
		want string
	}{{Flags{Enabled: true, Share: 0}, "react"}, {Flags{Enabled: true, Share: 100}, "confidence"}, {Flags{Share: 100}, "react"}} {
		if err := s.Set(c.f); err != nil {
			t.Fatal(err)
		}
		for i := range 300 {
			if got := went(t, s, Request{Question: fmt.Sprint(i)}); got != c.want {
				t.Fatalf("%+v: %s", c.f, got)
			}
		}
	}
	for _, share := range []int{-1, 101} {
		if s.Set(Flags{Share: share}) == nil || s.Flags().Share != 100 {
			t.Errorf("a share of %d is set", share)
		}
	}
}

// T40: the other agent takes over only where the asker has seen no more than thoughts, and
// not where the question was refused.
func TestAQuestionFallsBackBeforeAnythingWasDone(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	thought := Message{Type: Thought, Content: "t", EndOfMessage: true}
	for _, c := range []struct {
		name  string
		agent Agent
		off   bool // no fallback
		falls bool
	}{
		{"fails at once", tells(broken), false, true},
		{"fails after a thought", tells(broken, thought), false, true},
		{"says that it fails", tells(&Error{AgentError, "m"}), false, true},
		{"tells that it fails", tells(nil, failure(&Error{AgentError, "m"})), false, true},
		{"panics", AskFunc(func(context.Context, Caller, Request, func(Message) error) error { panic("no") }), false, true},
		{"fails after an action", tells(broken, Message{Type: Action, EndOfMessage: true}), false, false},
		{"fails after an observation", tells(broken, thought, Message{Type: Observation, EndOfMessage: true}), false, false},
		{"fails after a thought with an observation", tells(broken, Message{Type: Thought, Observation: "o"}), false, false},
		{"fails in its answer", tells(broken, Message{Type: Answer, Content: "a"}), false, false},
		{"refuses", tells(&Error{AccessDenied, "access denied"}), false, false},
		{"may not fall back", tells(broken), true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var routes []Route
			s := newSwitch(t, c.agent, reacts, Flags{true, 100, !c.off}, func(r Route, err error) {
				if (r == FellBack) != (err != nil) {
					t.Error(r, err)
				}
				routes = append(routes, r)
			})
			all, err := collect(t.Context(), s, Request{Question: "q"})
			fell := len(all) > 0 && all[len(all)-1].Content == "react"
			if fell != c.falls || fell != (err == nil) || fell != slices.Contains(routes, FellBack) {
				t.Errorf("%v, %v, %v", all, err, routes)
			}
		})
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	s := newSwitch(t, tells(broken), reacts, Flags{true, 100, true}, nil)
	if all, err := collect(ctx, s, Request{Question: "q"}); err == nil || len(all) > 0 {
		t.Errorf("nobody waits for %v", all)
	}
}

// T41: from the moment that the flags are set, no question goes to the confidence agent.
func TestARollbackIsImmediate(t *testing.T) {
	t.Parallel()
	s := newSwitch(t, confident, reacts, Flags{true, 100, true}, nil)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 200 {
				_ = s.Set(Flags{true, (i*200 + j) % 101, true})
				_ = s.Ask(context.Background(), Caller{}, Request{Question: fmt.Sprint(j)}, func(Message) error { return nil })
			}
		})
	}
	all.Wait()
	if err := s.Set(Flags{Enabled: false, Share: 100, Fallback: true}); err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		if got := went(t, s, Request{Question: fmt.Sprint(i)}); got != "react" {
			t.Fatal(got)
		}
	}
}
