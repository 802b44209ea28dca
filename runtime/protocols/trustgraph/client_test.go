package trustgraph_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/protocols/trustgraph"
	"verbatim/runtime/protocols/trustgraph/trustgraphtest"
)

// written is what a client gets, as text: of messages what the shape has a place for.
func written(s trustgraph.Shape, all []trustgraph.Message, err error) string {
	var b strings.Builder
	for _, m := range all {
		fmt.Fprintf(&b, "%s\n", s.Encode(m))
	}
	fmt.Fprint(&b, err)
	return b.String()
}

// T10, T18, T38: the client gets the same messages and the same errors by every wire as from
// the agent itself, whichever agent it is and however many gateways are between.
func TestAClientCannotTellAgentsApart(t *testing.T) {
	t.Parallel()
	for name, agent := range map[string]trustgraph.Agent{
		"answers":  trustgraph.Tells(nil, trustgraph.Story...),
		"fails":    trustgraph.Tells(errors.New("secret"), trustgraph.Story[0]),
		"says why": trustgraph.Tells(&trustgraph.Error{Type: trustgraph.AgentError, Message: "no model"}, trustgraph.Story[0]),
		"refuses":  trustgraph.Tells(&trustgraph.Error{Type: trustgraph.AccessDenied, Message: "access denied"}),
	} {
		for _, shape := range []trustgraph.Shape{trustgraph.Chunked, trustgraph.ChunkType, trustgraph.Old} {
			for _, streaming := range []bool{false, true} {
				r := trustgraph.Request{Question: "q", Streaming: streaming, Workspace: "default"}
				// The messages that the protocol has, without a wire.
				var want []trustgraph.Message
				err := trustgraph.Direct(t.Context(), agent, r, shape, func(m trustgraph.Message) error { want = append(want, m); return nil })
				direct := written(shape, want, err)

				near := &trustgraphtest.Client{URL: trustgraph.ServeTest(t, &trustgraph.Gateway{Agent: agent, Shape: shape}), Token: "tg_ana"}
				switched := trustgraph.NewTestSwitch(t, nil, trustgraph.AskFunc(near.Socket), trustgraph.Flags{}, nil)
				far := &trustgraphtest.Client{URL: trustgraph.ServeTest(t, &trustgraph.Gateway{Agent: switched, Shape: shape}), Token: "tg_ana"}
				for wire, ask := range map[string]trustgraph.AskFunc{"WebSocket": near.Socket, "SSE": near.Events, "a gateway behind": far.Socket, "SSE, a gateway behind": far.Events} {
					if name == "refuses" && wire != "WebSocket" && wire != "a gateway behind" {
						continue // events have one place for errors
					}
					all, err := trustgraph.Collect(t.Context(), ask, r)
					if got := written(shape, all, err); got != direct {
						t.Errorf("%s, %s, streaming %v, %s:\n%s\nwant\n%s", name, shape, streaming, wire, got, direct)
					}
				}
				last := want[max(len(want)-1, 0):]
				if err != nil {
					last = nil
				}
				all, failed := trustgraph.Collect(t.Context(), trustgraph.AskFunc(near.Post), r)
				if got, want := written(shape, all, failed), written(shape, last, err); got != want {
					t.Errorf("%s, %s, streaming %v, HTTP:\n%s\nwant\n%s", name, shape, streaming, got, want)
				}
			}
		}
	}
}

// T38: what a gateway says that is not the protocol is an error of the client's.
func TestAClientIsToldOfAGatewayThatIsNone(t *testing.T) {
	t.Parallel()
	answers := ""
	status := 200
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(answers))
	}))
	defer server.Close()
	c := &trustgraphtest.Client{URL: server.URL}
	const notJSON, ended = "trustgraphtest: the message is not a JSON object", "trustgraphtest: the answer ended before the dialog did"
	for _, answer := range []struct {
		status       int
		text         string
		post, events string
	}{
		{200, "<html>", notJSON, ended},
		{200, "data: {}\n\n", notJSON, "trustgraphtest: this is no message of an agent"},
		{502, "<html>", "trustgraphtest: the gateway answered with status 502", "trustgraphtest: the gateway answered with status 502"},
		{401, `{"error":"auth failure"}`, "auth-required: auth failure", "auth-required: auth failure"},
		{200, `{"error":"question is missing"}`, "error: question is missing", ended},
	} {
		status, answers = answer.status, answer.text
		got := []string{}
		for _, ask := range []trustgraph.AskFunc{c.Post, c.Events} {
			_, err := trustgraph.Collect(t.Context(), ask, trustgraph.Request{Question: "q"})
			got = append(got, fmt.Sprint(err))
		}
		if want := []string{answer.post, answer.events}; !slices.EqualFunc(got, want, strings.HasPrefix) {
			t.Errorf("%s: %q, want %q", answer.text, got, want)
		}
	}
	if _, err := trustgraph.Collect(t.Context(), trustgraph.AskFunc(c.Socket), trustgraph.Request{Question: "q"}); err == nil {
		t.Error("this is no socket")
	}
	wrong := &trustgraphtest.Client{URL: trustgraph.ServeTest(t, &trustgraph.Gateway{Agent: trustgraph.Echo}), Token: "tg_eve"}
	for _, ask := range []trustgraph.AskFunc{wrong.Post, wrong.Events, wrong.Socket} {
		if _, err := trustgraph.Collect(t.Context(), ask, trustgraph.Request{Question: "q"}); fmt.Sprint(err) != trustgraph.ErrAuth.Error() {
			t.Error(err)
		}
	}
}

// T10: when the client is gone, the agent is told to stop.
func TestAQuestionEndsWithItsClient(t *testing.T) {
	t.Parallel()
	begun, ended := make(chan bool, 1), make(chan bool, 1)
	agent := trustgraph.AskFunc(func(ctx context.Context, _ trustgraph.Caller, _ trustgraph.Request, _ func(trustgraph.Message) error) error {
		begun <- true
		<-ctx.Done()
		ended <- true
		return ctx.Err()
	})
	client := &trustgraphtest.Client{URL: trustgraph.ServeTest(t, &trustgraph.Gateway{Agent: agent}), Token: "tg_ana"}
	for name, ask := range map[string]trustgraph.AskFunc{"HTTP": client.Post, "SSE": client.Events, "WebSocket": client.Socket} {
		ctx, stop := context.WithCancel(t.Context())
		go func() { <-begun; stop() }()
		if _, err := trustgraph.Collect(ctx, ask, trustgraph.Request{Question: "q"}); err == nil {
			t.Errorf("%s: no error", name)
		}
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			t.Errorf("%s: the agent goes on", name)
		}
	}
}

// T10: messages of every release are read, with dashes or underscores in their keys.
func TestAMessageOfAnyReleaseIsRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want trustgraph.Message
	}{
		{`{"answer":"","thought":"t","observation":"","error":null}`, trustgraph.Message{Type: trustgraph.Thought, Content: "t", EndOfMessage: true}},
		{`{"answer":null,"thought":null,"observation":"o"}`, trustgraph.Message{Type: trustgraph.Observation, Content: "o", EndOfMessage: true}},
		{`{"answer":"","thought":"t","observation":"o","error":null}`, trustgraph.Message{Type: trustgraph.Observation, Content: "o", Thought: "t", EndOfMessage: true}},
		{`{"answer":"a","thought":"t","observation":"o","error":null}`, trustgraph.Message{Type: trustgraph.Answer, Content: "a", Thought: "t", Observation: "o", EndOfMessage: true, EndOfDialog: true}},
		{`{"answer":"","thought":"","observation":"","error":null}`, trustgraph.Message{Type: trustgraph.Answer, EndOfMessage: true, EndOfDialog: true}},
		{`{"answer":"","thought":"","observation":"","error":{"type":"x","message":"m"}}`, trustgraph.TestFailure(&trustgraph.Error{Type: "x", Message: "m"})},
		{`{"message_type":"thought","content":"t","end_of_message":false,"end_of_dialog":false,"message_id":"1"}`, trustgraph.Message{Type: trustgraph.Thought, Content: "t", MessageID: "1"}},
		{`{"chunk_type":"answer","content":"a","end_of_message":true,"end_of_dialog":true,"answer":"","thought":"","observation":"","error":null}`, trustgraph.Message{Type: trustgraph.Answer, Content: "a", EndOfMessage: true, EndOfDialog: true}},
		{`{"chunk-type":"answer","end-of-message":true,"end-of-dialog":true,"message-id":"2"}`, trustgraph.Message{Type: trustgraph.Answer, EndOfMessage: true, EndOfDialog: true, MessageID: "2"}},
		{`{"message_type":"answer","content":"","end_of_message":true,"end_of_dialog":true,"message_id":"","explain_id":null,"explain_graph":null,"explain_triples":[],"error":null,"in_token":7,"out_token":8,"model":"m"}`, trustgraph.Message{Type: trustgraph.Answer, EndOfMessage: true, EndOfDialog: true, InTokens: 7, OutTokens: 8, Model: "m"}},
		{`{"message_type":"explain","end_of_message":true,"end_of_dialog":false,"explain_id":"e","explain_graph":"g","explain_triples":[{"s":1}]}`, trustgraph.Message{Type: trustgraph.Explain, EndOfMessage: true, ExplainID: "e", ExplainGraph: "g", ExplainTriples: json.RawMessage(`[{"s":1}]`)}},
		{`{"message_type":"error","content":"m","end_of_message":true,"end_of_dialog":true}`, trustgraph.TestFailure(&trustgraph.Error{Type: trustgraph.AgentError, Message: "m"})},
		{`{"error":{"type":"gateway-error","message":""}}`, trustgraph.TestFailure(&trustgraph.Error{Type: trustgraph.GatewayError, Message: ""})},
		{`{"error":{"message":"m","code":"c"}}`, trustgraph.TestFailure(&trustgraph.Error{Type: trustgraph.AgentError, Message: "m"})},
		{`{"error":"question is missing"}`, trustgraph.TestFailure(&trustgraph.Error{Type: trustgraph.BadRequest, Message: "question is missing"})},
	} {
		got, err := trustgraphtest.DecodeMessage([]byte(c.text))
		if err != nil || fmt.Sprintf("%+v", deref(got)) != fmt.Sprintf("%+v", deref(c.want)) {
			t.Errorf("%s:\n%+v, %v; want\n%+v", c.text, got, err, c.want)
		}
	}
	for _, text := range []string{`{}`, `[]`, `{"message_type":7}`, `{"thought":""}`, `{"error":7}`, `x`} {
		if m, err := trustgraphtest.DecodeMessage([]byte(text)); err == nil {
			t.Errorf("%s is read as %+v", text, m)
		}
	}
}

// deref shows the error of a message instead of its address.
func deref(m trustgraph.Message) any {
	e := m.Error
	m.Error = nil
	return fmt.Sprint(m, e)
}

// T38: a message that was read is written so that it means the same, in each shape.
func FuzzMessage(f *testing.F) {
	for _, s := range []trustgraph.Shape{trustgraph.Chunked, trustgraph.ChunkType, trustgraph.Old} {
		f.Add(s.Encode(trustgraph.Message{Type: trustgraph.Answer, Content: "a", MessageID: "1", EndOfMessage: true, EndOfDialog: true}))
		f.Add(s.Record(trustgraph.Message{Type: trustgraph.Explain, ExplainTriples: json.RawMessage(`[1]`)}))
		f.Add(s.Record(trustgraph.TestFailure(trustgraph.ErrFailed)))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := trustgraphtest.DecodeMessage(text)
		if err != nil || m.Thought != "" || m.Observation != "" { // which chunks have no place for
			return
		}
		for _, s := range []trustgraph.Shape{trustgraph.Chunked, trustgraph.ChunkType} {
			for _, once := range [][]byte{s.Encode(m), s.Record(m)} {
				again, err := trustgraphtest.DecodeMessage(once)
				if err != nil || !bytes.Equal(s.Record(again), s.Record(m)) {
					t.Fatalf("%s: %+v, %v", once, again, err)
				}
			}
		}
	})
}
