// Package llm asks a language model, and does not trust its replies.
//
// It speaks the chat completions protocol that hosted providers, vLLM, llama.cpp and Ollama have in
// common, observes time-outs and budgets, and can record a conversation with a model and replay it:
//
//	model, err := llm.New(llm.Config{BaseURL: "http://localhost:8080/v1", Model: "qwen"})
//	…
//	reply, err := model.Chat(ctx, llm.Request{Messages: []llm.Message{
//		{Role: llm.System, Text: rules},
//		{Role: llm.User, Text: "what do you still need from me?"},
//	}}, nil)
//
// A model's reply is text from a stranger. The package bounds it and returns it; other packages
// decide whether it may have any effect. The package imports none of ours.
package llm

import (
	"context"
	"encoding/json"
)

// A Model answers. Its implementations are *Client, which asks an endpoint, and
// what Recorder, Replay and Limited make. All are safe for use by many
// goroutines.
type Model interface {
	// Chat asks for the next message of a conversation. With a function, the answer is streamed: the
	// function receives each piece of text as it arrives, on the caller's goroutine; the Reply holds
	// the whole text again. Every error is an *Error.
	Chat(ctx context.Context, r Request, piece func(string)) (*Reply, error)
	// Embed returns one vector per text, in their order.
	Embed(ctx context.Context, texts []string) ([][]float32, Usage, error)
}

// Role says whose message it is.
type Role string

// The roles of the protocol.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool" // the answer to a ToolCall
)

// A Message is one message of a conversation.
type Message struct {
	Role   Role       `json:"role"`
	Text   string     `json:"text,omitempty"`
	Calls  []ToolCall `json:"calls,omitempty"`  // of an assistant
	CallID string     `json:"callId,omitempty"` // of a tool's answer: the ID of the call that it answers
	// Reasoning, of an assistant, is sent back to endpoints that demand it, and to no others.
	Reasoning string `json:"reasoning,omitempty"`
	// Beside, of an assistant, is what the endpoint wrote beside the message and wants to have back: an
	// object of JSON, or empty.
	Beside string `json:"beside,omitempty"`
}

// A Tool is something that the model may ask to have called.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"` // a JSON Schema
}

// A ToolCall is a call that the model asked for. Arguments is the model's text, unchecked; it may
// be anything.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	// Beside is what the endpoint wrote beside the call and wants to have back with it, such as the
	// signature of a thought: an object of JSON, or empty.
	Beside string `json:"beside,omitempty"`
}

// A Request asks for one message. Of Schema, Grammar and Tools, at most one
// shapes the answer.
type Request struct {
	Messages []Message `json:"messages"`
	// Tools are the tools that the model may call; MustCall forces it to call one.
	Tools    []Tool `json:"tools,omitempty"`
	MustCall bool   `json:"mustCall,omitempty"`
	// Schema makes the answer JSON that the schema accepts, at endpoints that support it; SchemaName
	// names it.
	Schema     json.RawMessage `json:"schema,omitempty"`
	SchemaName string          `json:"schemaName,omitempty"`
	// Grammar makes the answer a sentence of a grammar, in the syntax of Config.Grammars.
	Grammar string `json:"grammar,omitempty"`
	// MaxTokens bounds the answer; with 0 the endpoint decides, or the budget if there is one.
	MaxTokens int `json:"maxTokens,omitempty"`
	// Temperature is 0 for the likeliest answer; with nil the endpoint decides, which reasoning
	// models require. Seed, if an endpoint supports it, makes answers repeatable.
	Temperature *float32 `json:"temperature,omitempty"`
	Seed        *int     `json:"seed,omitempty"`
	// Stop ends the answer before any of these texts.
	Stop []string `json:"stop,omitempty"`
}

// A Reply is the model's answer to a Request.
type Reply struct {
	Text   string     `json:"text,omitempty"`
	Calls  []ToolCall `json:"calls,omitempty"`
	Finish Finish     `json:"finish"`
	// Refusal is the provider's text instead of an answer.
	Refusal string `json:"refusal,omitempty"`
	// Reasoning is what the model wrote to itself, at endpoints that show it. Nobody is told it.
	Reasoning string `json:"reasoning,omitempty"`
	// Beside is for the Message that repeats the answer.
	Beside string `json:"beside,omitempty"`
	// Model is the name of the answering model, according to the endpoint.
	Model string `json:"model,omitempty"`
	Usage Usage  `json:"usage"`
	// Unread says that the endpoint counted far fewer tokens than it was sent, so that its server may have
	// left out the beginning. Some count only what they had not read before.
	Unread bool `json:"unread,omitempty"`
}

// Finish says why an answer ended.
type Finish string

// The ends of an answer.
const (
	Stopped  Finish = "stop"     // it was complete
	TooLong  Finish = "length"   // MaxTokens were reached: it is cut
	Called   Finish = "calls"    // it asks for tools
	Filtered Finish = "filtered" // the provider withheld it, or refused
)

// Usage counts tokens.
type Usage struct {
	In  int `json:"in"`
	Out int `json:"out"`
	// Estimated says that the endpoint did not count, and EstimateTokens did.
	Estimated bool `json:"estimated,omitempty"`
}

// Total returns the tokens that a budget is charged.
func (u Usage) Total() int { return u.In + u.Out }

// EstimateTokens guesses how many tokens a text is: one for every four bytes of
// ASCII and one for every character beyond it, rounded up. It is meant to err
// on the high side for prose in European languages; only the endpoint knows.
func EstimateTokens(text string) int {
	ascii, other := 0, 0
	for _, c := range text {
		if c < 0x80 {
			ascii++
		} else {
			other++
		}
	}
	return (ascii+3)/4 + other
}

// estimate returns the estimated cost of sending a request, in tokens.
func (r *Request) estimate() int {
	n := EstimateTokens(string(r.Schema))
	for i := range r.Messages {
		m := &r.Messages[i]
		n += 4 + EstimateTokens(m.Text) // every message has a frame around it
		for _, c := range m.Calls {
			n += EstimateTokens(c.Name) + EstimateTokens(c.Arguments)
		}
	}
	for _, t := range r.Tools {
		n += EstimateTokens(t.Name) + EstimateTokens(t.Description) + EstimateTokens(string(t.Parameters))
	}
	return n
}
