package trustgraph

import (
	"encoding/json"
	"fmt"
)

// A Type is the type of a message.
type Type string

// The types of messages.
const (
	Thought     Type = "thought"
	Action      Type = "action"
	Observation Type = "observation"
	Answer      Type = "answer"
	Explain     Type = "explain"
	Failure     Type = "error"
)

// A Message is one message of an agent, or a piece of one.
type Message struct {
	Type    Type
	Content string
	// Thought and Observation belong to an answer or an observation. The old shape has all of them
	// in one response; the chunked shapes have a message for each.
	Thought, Observation string

	EndOfMessage bool
	EndOfDialog  bool
	MessageID    string // the same for all pieces of a message

	ExplainID, ExplainGraph string
	ExplainTriples          json.RawMessage

	Error *Error // of a Failure

	InTokens, OutTokens int // 0 if unknown
	Model               string
}

// A Shape is the form in which messages are written. It depends on the release of TrustGraph.
type Shape int

// The shapes.
const (
	Chunked   Shape = iota // message_type and content: from 2.3.1 on
	ChunkType              // the same, but chunk_type: 1.6.0 to 2.3.0
	Old                    // answer, thought, observation and error: before 1.6.0
)

var shapes = [...]string{Chunked: "chunked", ChunkType: "chunk-type", Old: "old"}

// ParseShape reads the name of a shape: chunked, chunk-type or old.
func ParseShape(name string) (Shape, error) {
	for s, n := range shapes {
		if n == name {
			return Shape(s), nil
		}
	}
	return 0, fmt.Errorf("trustgraph: there is no shape %q: there are chunked, chunk-type and old", name)
}

// String returns the name of a shape.
func (s Shape) String() string { return shapes[s] }

// old is a response in the old shape. Its gateway leaves out what is empty, and its clients take an
// answer with a member "error", whatever it holds, for a failure.
type old struct {
	Answer      string `json:"answer,omitempty"`
	Thought     string `json:"thought,omitempty"`
	Observation string `json:"observation,omitempty"`
	Error       *Error `json:"error,omitempty"`
}

// chunk is a response in the chunked shapes as the gateway sends it.
type chunk struct {
	MessageType    Type            `json:"message_type,omitempty"`
	ChunkType      Type            `json:"chunk_type,omitempty"`
	Content        string          `json:"content,omitempty"`
	Thought        string          `json:"thought,omitempty"` // of an answer that is sent alone
	Observation    string          `json:"observation,omitempty"`
	EndOfMessage   bool            `json:"end_of_message"`
	EndOfDialog    bool            `json:"end_of_dialog"`
	MessageID      string          `json:"message_id,omitempty"`
	ExplainID      string          `json:"explain_id,omitempty"`
	ExplainGraph   string          `json:"explain_graph,omitempty"`
	ExplainTriples json.RawMessage `json:"explain_triples,omitempty"`
	Error          *Error          `json:"error,omitempty"`
	InTokens       int             `json:"in_token,omitempty"`
	OutTokens      int             `json:"out_token,omitempty"`
	Model          string          `json:"model,omitempty"`
}

// Encode writes a message as the gateway sends it.
func (s Shape) Encode(m Message) []byte {
	if s == Old {
		return encoded(m.old())
	}
	c := chunk{MessageType: m.Type, Content: m.Content, Thought: m.Thought, Observation: m.Observation, EndOfMessage: m.EndOfMessage, EndOfDialog: m.EndOfDialog, MessageID: m.MessageID,
		ExplainID: m.ExplainID, ExplainGraph: m.ExplainGraph, ExplainTriples: m.ExplainTriples, Error: m.Error,
		InTokens: m.InTokens, OutTokens: m.OutTokens, Model: m.Model}
	if s == ChunkType {
		c.MessageType, c.ChunkType = "", m.Type
	}
	return encoded(c)
}

// Record writes a message for queues: no member is left out. Empty members are null, since
// TrustGraph's gateway takes a response with an answer other than null for the last one.
func (s Shape) Record(m Message) []byte {
	all := map[string]any{"error": m.Error}
	if s == Old {
		o := m.old()
		all["answer"], all["thought"], all["observation"] = given(o.Answer), given(o.Thought), given(o.Observation)
		if m.Type == Answer {
			all["answer"] = m.Content // even if it is empty
		}
		return encoded(all)
	}
	all["content"], all["message_id"], all["end_of_message"], all["end_of_dialog"] = m.Content, m.MessageID, m.EndOfMessage, m.EndOfDialog
	all["explain_id"], all["explain_graph"], all["explain_triples"] = given(m.ExplainID), given(m.ExplainGraph), []any{}
	all["in_token"], all["out_token"], all["model"] = given(m.InTokens), given(m.OutTokens), given(m.Model)
	if m.ExplainTriples != nil {
		all["explain_triples"] = m.ExplainTriples
	}
	if s == ChunkType {
		all["chunk_type"] = m.Type
	} else {
		all["message_type"] = m.Type
	}
	return encoded(all)
}

// given returns nil for a zero value.
func given[T comparable](v T) *T {
	if v == *new(T) {
		return nil
	}
	return &v
}

func (m *Message) old() old {
	o := old{Thought: m.Thought, Observation: m.Observation, Error: m.Error}
	switch m.Type {
	case Answer:
		o.Answer = m.Content
	case Thought:
		o.Thought = m.Content
	case Observation:
		o.Observation = m.Content
	}
	return o
}

// failed returns the error in a Failure.
func (m *Message) failed() *Error {
	if m.Error == nil {
		return &Error{AgentError, m.Content}
	}
	return m.Error
}

// failure makes a message from an error.
func failure(e *Error) Message {
	return Message{Type: Failure, Content: e.Message, EndOfMessage: true, EndOfDialog: true, Error: e}
}
