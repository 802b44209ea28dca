package trustgraph

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares a text with a file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s is otherwise:\n%s", name, got)
	}
}

// T10, T38, T52: what each request of the file means, and what is said of one that is wrong.
func TestARequestIsReadOrItsSenderIsToldWhatIsWrong(t *testing.T) {
	t.Parallel()
	const name = "testdata/requests.txt"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "= ") || strings.HasPrefix(line, "! ") {
			continue
		}
		got.WriteString(line)
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		r, err := DecodeRequest([]byte(line))
		if err != nil {
			fmt.Fprintf(&got, "! %s\n", err.(*Error).Message)
			continue
		}
		fmt.Fprintf(&got, "= %s\n", encoded(r))
	}
	golden(t, name, got.String())
}

// T38: what a client sends is bounded.
func TestARequestThatIsTooLargeIsRefused(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxText+1)
	for _, c := range []struct{ text, want string }{
		{`{"question":"` + long + `"}`, "question is longer than 262144 bytes"},
		{`{"question":"q","session_id":"` + long + `"}`, "session_id is longer than 1000 bytes"},
		{`{"question":"q","plan":"` + long + `"}`, "plan is longer than 1000 bytes"},
		{`{"question":"q","group":["` + long + `"]}`, "group is longer than 1000 bytes"},
		{`{"question":"q","group":[` + strings.Repeat(`"a",`, maxGroup) + `"a"]}`, "group has more than 100 members"},
		{`{"question":"q","history":[` + strings.Repeat(`{},`, maxSteps) + `{}]}`, "history has more than 1000 steps"},
		{`{"question":"q","history":[{"arguments":{"a":"` + long + `"}}]}`, "history[0].arguments is longer than 262144 bytes"},
		{`{"question":"q","x":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, "the request is not JSON"},
		{"{\"question\":\"\xff\"}", "the request is not JSON"},
		{"", "the request is not JSON"},
	} {
		if _, err := DecodeRequest([]byte(c.text)); err == nil || err.(*Error).Message != c.want {
			t.Errorf("%.60s: %v, want %s", c.text, err, c.want)
		}
	}
}

// T10: messages of every release are read, with dashes or underscores in their keys.
func TestAMessageOfAnyReleaseIsRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want Message
	}{
		{`{"answer":"","thought":"t","observation":"","error":null}`, Message{Type: Thought, Content: "t", EndOfMessage: true}},
		{`{"answer":null,"thought":null,"observation":"o"}`, Message{Type: Observation, Content: "o", EndOfMessage: true}},
		{`{"answer":"","thought":"t","observation":"o","error":null}`, Message{Type: Observation, Content: "o", Thought: "t", EndOfMessage: true}},
		{`{"answer":"a","thought":"t","observation":"o","error":null}`, Message{Type: Answer, Content: "a", Thought: "t", Observation: "o", EndOfMessage: true, EndOfDialog: true}},
		{`{"answer":"","thought":"","observation":"","error":null}`, Message{Type: Answer, EndOfMessage: true, EndOfDialog: true}},
		{`{"answer":"","thought":"","observation":"","error":{"type":"x","message":"m"}}`, failure(&Error{"x", "m"})},
		{`{"message_type":"thought","content":"t","end_of_message":false,"end_of_dialog":false,"message_id":"1"}`, Message{Type: Thought, Content: "t", MessageID: "1"}},
		{`{"chunk_type":"answer","content":"a","end_of_message":true,"end_of_dialog":true,"answer":"","thought":"","observation":"","error":null}`, Message{Type: Answer, Content: "a", EndOfMessage: true, EndOfDialog: true}},
		{`{"chunk-type":"answer","end-of-message":true,"end-of-dialog":true,"message-id":"2"}`, Message{Type: Answer, EndOfMessage: true, EndOfDialog: true, MessageID: "2"}},
		{`{"message_type":"answer","content":"","end_of_message":true,"end_of_dialog":true,"message_id":"","explain_id":null,"explain_graph":null,"explain_triples":[],"error":null,"in_token":7,"out_token":8,"model":"m"}`, Message{Type: Answer, EndOfMessage: true, EndOfDialog: true, InTokens: 7, OutTokens: 8, Model: "m"}},
		{`{"message_type":"explain","end_of_message":true,"end_of_dialog":false,"explain_id":"e","explain_graph":"g","explain_triples":[{"s":1}]}`, Message{Type: Explain, EndOfMessage: true, ExplainID: "e", ExplainGraph: "g", ExplainTriples: json.RawMessage(`[{"s":1}]`)}},
		{`{"message_type":"error","content":"m","end_of_message":true,"end_of_dialog":true}`, failure(&Error{AgentError, "m"})},
		{`{"error":{"type":"gateway-error","message":""}}`, failure(&Error{GatewayError, ""})},
		{`{"error":{"message":"m","code":"c"}}`, failure(&Error{AgentError, "m"})},
		{`{"error":"question is missing"}`, failure(&Error{BadRequest, "question is missing"})},
	} {
		got, err := DecodeMessage([]byte(c.text))
		if err != nil || fmt.Sprintf("%+v", deref(got)) != fmt.Sprintf("%+v", deref(c.want)) {
			t.Errorf("%s:\n%+v, %v; want\n%+v", c.text, got, err, c.want)
		}
	}
	for _, text := range []string{`{}`, `[]`, `{"message_type":7}`, `{"thought":""}`, `{"answer":"a","answer":"b"}`, `{"error":7}`, `x`} {
		if m, err := DecodeMessage([]byte(text)); err == nil {
			t.Errorf("%s is read as %+v", text, m)
		}
	}
}

// deref shows the error of a message instead of its address.
func deref(m Message) any {
	e := m.Error
	m.Error = nil
	return fmt.Sprint(m, e)
}

func TestAShapeIsKnownByItsName(t *testing.T) {
	t.Parallel()
	for _, s := range []Shape{Chunked, ChunkType, Old} {
		if got, err := ParseShape(s.String()); got != s || err != nil {
			t.Errorf("%v: %v, %v", s, got, err)
		}
	}
	if _, err := ParseShape("new"); err == nil {
		t.Error("there is no shape new")
	}
}

// T38: whatever comes, it is read or refused, and what was read is written so that it means
// the same.
func FuzzRequest(f *testing.F) {
	text, err := os.ReadFile("testdata/requests.txt")
	if err != nil {
		f.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		if line[0] == '{' {
			f.Add(bytes.TrimSpace(line))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := DecodeRequest(text)
		if err != nil {
			if e, ok := err.(*Error); !ok || len(e.Message) > 400 || e.Type != BadRequest {
				t.Fatalf("%v", err)
			}
			return
		}
		once := encoded(r)
		again, err := DecodeRequest(once)
		if err != nil {
			t.Fatalf("%s: %v", once, err)
		}
		if twice := encoded(again); !bytes.Equal(once, twice) {
			t.Fatalf("%s\n%s", once, twice)
		}
	})
}

// T38: a message that was read is written so that it means the same, in each shape.
func FuzzMessage(f *testing.F) {
	for _, s := range []Shape{Chunked, ChunkType, Old} {
		f.Add(s.Encode(Message{Type: Answer, Content: "a", MessageID: "1", EndOfMessage: true, EndOfDialog: true}))
		f.Add(s.Record(Message{Type: Explain, ExplainTriples: json.RawMessage(`[1]`)}))
		f.Add(s.Record(failure(errFailed)))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := DecodeMessage(text)
		if err != nil || m.Thought != "" || m.Observation != "" { // which chunks have no place for
			return
		}
		for _, s := range []Shape{Chunked, ChunkType} {
			for _, once := range [][]byte{s.Encode(m), s.Record(m)} {
				again, err := DecodeMessage(once)
				if err != nil || !bytes.Equal(s.Record(again), s.Record(m)) {
					t.Fatalf("%s: %+v, %v", once, again, err)
				}
			}
		}
	})
}
