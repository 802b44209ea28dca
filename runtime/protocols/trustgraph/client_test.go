package trustgraph

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// written is what a client gets, as text: of messages what the shape has a place for.
func written(s Shape, all []Message, err error) string {
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
	for name, agent := range map[string]Agent{
		"answers":  tells(nil, story...),
		"fails":    tells(errors.New("secret"), story[0]),
		"says why": tells(&Error{AgentError, "no model"}, story[0]),
		"refuses":  tells(&Error{AccessDenied, "access denied"}),
	} {
		for _, shape := range []Shape{Chunked, ChunkType, Old} {
			for _, streaming := range []bool{false, true} {
				r := Request{Question: "q", Streaming: streaming, Workspace: "default"}
				// The messages that the protocol has, without a wire.
				var want []Message
				err := (question{agent: agent, r: r, shape: shape}).ask(t.Context(), func(m Message) error { want = append(want, m); return nil })
				direct := written(shape, want, err)

				near := &Client{URL: serve(t, &Gateway{Agent: agent, Shape: shape}), Token: "tg_ana"}
				switched := newSwitch(t, nil, AskFunc(near.Socket), Flags{}, nil)
				far := &Client{URL: serve(t, &Gateway{Agent: switched, Shape: shape}), Token: "tg_ana"}
				for wire, ask := range map[string]AskFunc{"WebSocket": near.Socket, "SSE": near.Events, "a gateway behind": far.Socket, "SSE, a gateway behind": far.Events} {
					if name == "refuses" && wire != "WebSocket" && wire != "a gateway behind" {
						continue // events have one place for errors
					}
					all, err := collect(t.Context(), ask, r)
					if got := written(shape, all, err); got != direct {
						t.Errorf("%s, %s, streaming %v, %s:\n%s\nwant\n%s", name, shape, streaming, wire, got, direct)
					}
				}
				last := want[max(len(want)-1, 0):]
				if err != nil {
					last = nil
				}
				all, failed := collect(t.Context(), AskFunc(near.Post), r)
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
	c := &Client{URL: server.URL}
	for _, answer := range []struct {
		status       int
		text         string
		post, events string
	}{
		{200, "<html>", "error: the message is not JSON", errEnded.Error()},
		{200, "data: {}\n\n", "error: the message is not JSON", errNoMessage.Error()},
		{502, "<html>", "trustgraph: the gateway answered with status 502", "trustgraph: the gateway answered with status 502"},
		{401, `{"error":"auth failure"}`, "auth-required: auth failure", "auth-required: auth failure"},
		{200, `{"error":"question is missing"}`, "error: question is missing", errEnded.Error()},
	} {
		status, answers = answer.status, answer.text
		got := []string{}
		for _, ask := range []AskFunc{c.Post, c.Events} {
			_, err := collect(t.Context(), ask, Request{Question: "q"})
			got = append(got, fmt.Sprint(err))
		}
		if want := []string{answer.post, answer.events}; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", answer.text, got, want)
		}
	}
	if _, err := collect(t.Context(), AskFunc(c.Socket), Request{Question: "q"}); err == nil {
		t.Error("this is no socket")
	}
	wrong := &Client{URL: serve(t, &Gateway{Agent: echo}), Token: "tg_eve"}
	for _, ask := range []AskFunc{wrong.Post, wrong.Events, wrong.Socket} {
		if _, err := collect(t.Context(), ask, Request{Question: "q"}); fmt.Sprint(err) != errAuth.Error() {
			t.Error(err)
		}
	}
}
