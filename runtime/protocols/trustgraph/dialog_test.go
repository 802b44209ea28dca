package trustgraph

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// tells is an agent that tells messages and then fails, or not.
func tells(err error, all ...Message) AskFunc {
	return func(_ context.Context, _ Caller, _ Request, tell func(Message) error) error {
		for _, m := range all {
			if err := tell(m); err != nil {
				return err
			}
		}
		return err
	}
}

// collect asks an agent and returns what it tells.
func collect(ctx context.Context, a Agent, r Request) ([]Message, error) {
	var all []Message
	err := a.Ask(ctx, Caller{}, r, func(m Message) error { all = append(all, m); return nil })
	return all, err
}

// A dialog with a plan, a step and an answer, as the confidence agent has it.
var story = []Message{
	{Type: Observation, Thought: "First the register is asked", Content: "The plan has one step: GraphQuery, from 0.8 on", MessageID: "m1", EndOfMessage: true},
	{Type: Thought, Content: "The register ", MessageID: "m2"},
	{Type: Thought, Content: "is asked for Umza", MessageID: "m2", EndOfMessage: true},
	{Type: Action, Content: `{"function":"GraphQuery"}`, MessageID: "m3", EndOfMessage: true},
	{Type: Observation, Content: "2 owners <came> back, 0.92", MessageID: "m4", EndOfMessage: true},
	{Type: Explain, ExplainID: "urn:audit:7", ExplainGraph: "urn:graph", ExplainTriples: json.RawMessage(`[{"s":"a"}]`), MessageID: "m5", EndOfMessage: true},
	{Type: Answer, Content: "Ana and ", MessageID: "m6", Thought: "All steps went well", Observation: "The journal is 7"},
	{Type: Answer, Content: "Bo own Umza.", MessageID: "m6"},
	{Type: Answer, MessageID: "m6", InTokens: 70, OutTokens: 8, Model: "small"},
}

// T10, T15, T38, T52: the frames of one dialog, as the gateway and as queues send them, in
// each shape, with and without streaming.
func TestADialogIsWrittenInTheShapeOfTheRelease(t *testing.T) {
	t.Parallel()
	for _, shape := range []Shape{Chunked, ChunkType, Old} {
		var got strings.Builder
		for _, kind := range []struct {
			name   string
			encode func(Message) []byte
		}{{"gateway", shape.Encode}, {"queue", shape.Record}} {
			for _, streaming := range []bool{false, true} {
				for _, a := range []Agent{tells(nil, story...), tells(&Error{"budget", "no tokens are left"}, story[:3]...)} {
					fmt.Fprintf(&got, "-- %s, streaming %v --\n", kind.name, streaming)
					q := question{agent: a, r: Request{Streaming: streaming}, shape: shape}
					err := q.ask(t.Context(), func(m Message) error { fmt.Fprintf(&got, "%s\n", kind.encode(m)); return nil })
					if told := new(Error); errors.As(err, &told) {
						text := encoded(failed{told})
						if kind.name == "queue" {
							text = kind.encode(failure(told))
						}
						fmt.Fprintf(&got, "%s\n", text)
					}
				}
			}
		}
		golden(t, "testdata/"+shape.String()+".txt", got.String())
	}
}

// T10: whatever an agent does, the asker gets a dialog with one end.
func TestAnAgentThatMisbehavesEndsTheDialogOnce(t *testing.T) {
	t.Parallel()
	thought := Message{Type: Thought, Content: "t", EndOfMessage: true}
	answer := Message{Type: Answer, Content: "a"}
	for _, c := range []struct {
		name  string
		agent AskFunc
		sent  int
		want  error
	}{
		{"answers", tells(nil, thought, answer), 2, nil},
		{"answers with nothing", tells(nil, Message{Type: Answer}), 1, nil},
		{"says nothing", tells(nil), 0, errNoAnswer},
		{"only thinks", tells(nil, thought), 1, errNoAnswer},
		{"fails", tells(errors.New("pq: password"), thought), 1, errFailed},
		{"fails after the answer", tells(errors.New("no"), answer), 0, errFailed},
		{"says why it fails", tells(fmt.Errorf("planning: %w", &Error{"x", "y"})), 0, &Error{"x", "y"}},
		{"tells that it fails", tells(nil, thought, Message{Type: Failure, Content: "y"}), 1, &Error{AgentError, "y"}},
		{"tells that it fails, and goes on", func(_ context.Context, _ Caller, _ Request, tell func(Message) error) error {
			_ = tell(failure(&Error{"x", "y"}))
			_ = tell(answer)
			return nil
		}, 0, &Error{"x", "y"}},
		{"panics", func(context.Context, Caller, Request, func(Message) error) error { panic("at the disco") }, 0, errFailed},
		{"goes on after the end", tells(nil, Message{Type: Answer, Content: "a", EndOfDialog: true}, thought), 0, errFailed},
		{"says something unheard of", tells(nil, Message{Type: "song"}), 0, errFailed},
		{"tells from many goroutines", func(_ context.Context, _ Caller, _ Request, tell func(Message) error) error {
			var all sync.WaitGroup
			for range 20 {
				all.Go(func() { _ = tell(thought) })
			}
			all.Wait()
			return tell(answer)
		}, 21, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			var sent []Message
			q := question{agent: c.agent, log: slog.New(slog.NewTextHandler(&log, nil))}
			err := q.ask(t.Context(), func(m Message) error { sent = append(sent, m); return nil })
			if fmt.Sprint(err) != fmt.Sprint(c.want) || len(sent) != c.sent {
				t.Errorf("%v, want %v; %+v", err, c.want, sent)
			}
			if ends := slices.ContainsFunc(sent, func(m Message) bool { return m.EndOfDialog }); ends != (err == nil) {
				t.Errorf("%v: %+v", err, sent)
			}
			if wanted := c.want == errFailed; wanted != (log.Len() > 0) {
				t.Errorf("the operator is told: %s", log.String())
			}
		})
	}
}

// T10: an agent that says nothing for too long is stopped, and one that goes on is not.
func TestPatienceIsForEachMessage(t *testing.T) {
	t.Parallel()
	slow := AskFunc(func(ctx context.Context, _ Caller, _ Request, tell func(Message) error) error {
		for range 4 {
			time.Sleep(30 * time.Millisecond)
			if err := tell(Message{Type: Thought, Content: "t", EndOfMessage: true}); err != nil {
				return err
			}
		}
		return tell(Message{Type: Answer, Content: "a"})
	})
	send := func(Message) error { return nil }
	if err := (question{agent: slow, patience: 100 * time.Millisecond}).ask(t.Context(), send); err != nil {
		t.Error(err)
	}
	hangs := AskFunc(func(ctx context.Context, _ Caller, _ Request, _ func(Message) error) error {
		<-ctx.Done()
		return ctx.Err()
	})
	if err := (question{agent: hangs, patience: 20 * time.Millisecond}).ask(t.Context(), send); err != errSilent {
		t.Error(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, stop)
	if err := (question{agent: hangs}).ask(ctx, send); err != errGone {
		t.Error(err)
	}
}
