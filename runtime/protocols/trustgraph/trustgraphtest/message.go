package trustgraphtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"verbatim/runtime/protocols/trustgraph"
)

// DecodeMessage reads a message of any shape, with dashes or underscores in its keys. In the old
// shape, an answer ends the dialog, and so does a response with nothing in it.
func DecodeMessage(text []byte) (trustgraph.Message, error) {
	var dashed map[string]json.RawMessage
	if err := json.Unmarshal(text, &dashed); err != nil {
		return trustgraph.Message{}, fmt.Errorf("trustgraphtest: the message is not a JSON object: %w", err)
	}
	all := map[string]json.RawMessage{}
	for key, value := range dashed {
		all[strings.ReplaceAll(key, "-", "_")] = value
	}
	plain, err := json.Marshal(all)
	if err != nil {
		return trustgraph.Message{}, err
	}
	var in struct {
		MessageType    trustgraph.Type `json:"message_type"`
		ChunkType      trustgraph.Type `json:"chunk_type"`
		Content        string          `json:"content"`
		EndOfMessage   bool            `json:"end_of_message"`
		EndOfDialog    bool            `json:"end_of_dialog"`
		MessageID      string          `json:"message_id"`
		ExplainID      string          `json:"explain_id"`
		ExplainGraph   string          `json:"explain_graph"`
		ExplainTriples json.RawMessage `json:"explain_triples"`
		InTokens       int             `json:"in_token"`
		OutTokens      int             `json:"out_token"`
		Model          string          `json:"model"`
		Answer         string          `json:"answer"`
		Thought        string          `json:"thought"`
		Observation    string          `json:"observation"`
		Error          json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(plain, &in); err != nil {
		return trustgraph.Message{}, fmt.Errorf("trustgraphtest: the message: %w", err)
	}
	kind := cmp.Or(in.MessageType, in.ChunkType)
	_, isOld := all["answer"]
	switch failed, err := decodeError(in.Error); {
	case err != nil:
		return trustgraph.Message{}, err
	case failed != nil:
		return failure(failed), nil
	case kind == trustgraph.Failure:
		return failure(&trustgraph.Error{Type: trustgraph.AgentError, Message: in.Content}), nil
	case kind != "":
		m := trustgraph.Message{Type: kind, Content: in.Content, EndOfMessage: in.EndOfMessage, EndOfDialog: in.EndOfDialog, MessageID: in.MessageID,
			ExplainID: in.ExplainID, ExplainGraph: in.ExplainGraph, InTokens: in.InTokens, OutTokens: in.OutTokens, Model: in.Model}
		if triples := string(in.ExplainTriples); triples != "null" && triples != "[]" {
			m.ExplainTriples = in.ExplainTriples
		}
		return m, nil
	case in.Answer != "" || isOld && in.Thought == "" && in.Observation == "":
		return trustgraph.Message{Type: trustgraph.Answer, Content: in.Answer, Thought: in.Thought, Observation: in.Observation, EndOfMessage: true, EndOfDialog: true}, nil
	case in.Observation != "":
		return trustgraph.Message{Type: trustgraph.Observation, Content: in.Observation, Thought: in.Thought, EndOfMessage: true}, nil
	case in.Thought != "":
		return trustgraph.Message{Type: trustgraph.Thought, Content: in.Thought, EndOfMessage: true}, nil
	}
	return trustgraph.Message{}, errNoMessage
}

// decodeError reads the member error: an object, or a text if something failed before an agent
// was asked.
func decodeError(text json.RawMessage) (*trustgraph.Error, error) {
	if len(text) == 0 || string(text) == "null" {
		return nil, nil
	}
	var e trustgraph.Error
	if json.Unmarshal(text, &e.Message) == nil {
		e.Type = trustgraph.BadRequest
	} else if err := json.Unmarshal(text, &e); err != nil {
		return nil, fmt.Errorf("trustgraphtest: the error of a message is neither a text nor an object: %w", err)
	}
	e.Type = cmp.Or(e.Type, trustgraph.AgentError)
	return &e, nil
}

// failure makes a message from an error.
func failure(e *trustgraph.Error) trustgraph.Message {
	return trustgraph.Message{Type: trustgraph.Failure, Content: e.Message, EndOfMessage: true, EndOfDialog: true, Error: e}
}
