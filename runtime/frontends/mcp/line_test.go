package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
)

// What is no message of JSON-RPC is refused before the library reads it: it would end the connection,
// or answer another id than the one that was sent.
func TestWhatIsNoMessage(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`:                  true,
		`{"jsonrpc":"2.0","id":-1,"method":"ping"}`:                 true,
		`{"jsonrpc":"2.0","id":"a","method":"ping"}`:                true,
		`{"jsonrpc":"2.0","id":9007199254740992,"method":"ping"}`:   true,
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`:   false,
		`{"jsonrpc":"2.0","id":7.9,"method":"ping"}`:                false,
		`{"jsonrpc":"2.0","id":7.0,"method":"ping"}`:                false,
		`{"jsonrpc":"2.0","id":7e1,"method":"ping"}`:                false,
		`{"jsonrpc":"2.0","id":99999999999999999999,"method":"x"}`:  false,
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`:               false,
		`{"jsonrpc":"2.0","id":[1],"method":"ping"}`:                false,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`:    true,
		`{"jsonrpc":"2.0","id":1,"result":{}}`:                      true,
		`{"jsonrpc":"2.0","id":1}`:                                  false,
		`{"jsonrpc":"1.0","id":1,"method":"ping"}`:                  false,
		`{"id":1,"method":"ping"}`:                                  false,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":""}}`: true,
	} {
		if got := isMessage([]byte(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// ending is an input that says when it has ended.
type ending struct {
	io.Reader
	ended chan struct{}
	once  sync.Once
}

func (e *ending) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	if err != nil {
		e.once.Do(func() { close(e.ended) })
	}
	return n, err
}

// A client that says what it wants and closes its end is answered what it asked before: calls under way
// are finished. One that waits for an answer of the client gets none, and does not keep the program. A
// call that was called off need not be answered. (G1)
func TestCallsAreFinishedWhenTheInputEnds(t *testing.T) {
	t.Parallel()
	const begin = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`
	for name, c := range map[string]struct {
		said string
		want int
		left map[string]string
	}{
		"under way":  {`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ledger__list","arguments":{}}}`, 2, map[string]string{"2": `"done"`}},
		"two":        {`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ledger__list","arguments":{}}}` + "\n" + `{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"ledger__open","arguments":{"title":"Rent"}}}`, 3, map[string]string{"2": `"done"`, `"b"`: `"done"`}},
		"asking":     {`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ledger__pay","arguments":{"title":"Gas"}}}`, 1, nil},
		"called off": {`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ledger__list","arguments":{}}}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`, 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reg, caller := house(t, 1)
			d, err := New(Options{Registry: reg, Seal: []byte("x"), Clock: time.Now})
			if err != nil {
				t.Fatal(err)
			}
			in := &ending{Reader: strings.NewReader(begin + c.said), ended: make(chan struct{})}
			caller.Turn = func(ctx context.Context) (func(), error) {
				<-in.ended // the call is under way when the input ends
				return func() {}, ctx.Err()
			}
			var out bytes.Buffer
			if err := d.Serve(t.Context(), in, &out, caller); err != nil {
				t.Fatal(err)
			}
			answers := map[string]string{}
			for line := range strings.Lines(out.String()) {
				var m struct {
					ID     json.RawMessage
					Method string
					Result json.RawMessage
				}
				if err := json.Unmarshal([]byte(line), &m); err != nil {
					t.Fatal(line, err)
				}
				if m.Method == "" && m.Result != nil {
					answers[string(m.ID)] = string(m.Result)
				}
			}
			for id, want := range c.left {
				if !strings.Contains(answers[id], want) {
					t.Errorf("%s is answered %q: %s", id, answers[id], out.String())
				}
			}
			if len(answers) < c.want {
				t.Errorf("%d answers: %s", len(answers), out.String())
			}
		})
	}
}
