// Package mcp calls tools of other servers for the engine: tools of MCP servers, and skills of
// agents that speak A2A. MCP's library is used only here.
//
//	config, err := mcp.ReadConfig(text)
//	servers := mcp.New(config, accepted, mcp.Options{Env: os.Getenv})
//	engine, err := engine.New(registry, store, engine.Options{Tools: servers})
//
// Nothing that a server says is trusted. It is a stranger that gets data: each external call has a
// connection of its own, with a deadline, a limit on the answer, and no more of the environment
// than the operator names. A server is asked for its tool's description before each call, and the
// tool is not called if that differs from the description that the operator accepted. A server's
// address is checked when it is dialled, whatever its name resolves to.
package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"sync/atomic"

	"verbatim/runtime/protocols/tools"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// IdempotencyKey is the member of a call's _meta with a key that stays the same however often the
// same call is repeated.
const IdempotencyKey = "verbatim/idempotency-key"

// maxTools is the greatest number of tools that a server may list.
const maxTools = 2000

// Options are the options of Servers.
type Options struct {
	Env     func(string) string // secrets, by the names in the configuration
	Version string              // of the program, sent to servers
}

// Servers are the servers of a configuration. They are safe for use by many
// goroutines.
type Servers struct {
	config   Config
	accepted Accepted
	opt      Options
}

var _ tools.Servers = (*Servers)(nil)

// New makes Servers. Nothing is started or dialled before it is asked.
func New(c Config, a Accepted, o Options) *Servers {
	if o.Env == nil {
		o.Env = func(string) string { return "" }
	}
	return &Servers{c, a, o}
}

// Tool implements tools.Servers.
func (s *Servers) Tool(ctx context.Context, server, name string) (tools.Spec, error) {
	said, err := s.Said(ctx, server, name)
	if err != nil {
		return tools.Spec{}, err
	}
	spec := tools.Spec{Input: said.Input, Output: said.Output, Writes: said.writes(), Says: said.Description, Digest: said.Digest()}
	if a, ok := s.accepted.of(server, name); ok {
		spec.Accepted = a.Digest()
	}
	return spec, nil
}

// writes reports whether a tool says outright that it does not only read.
func (s Said) writes() bool {
	var hints struct {
		ReadOnly *bool `json:"readOnlyHint"`
	}
	return json.Unmarshal(s.Hints, &hints) == nil && hints.ReadOnly != nil && !*hints.ReadOnly
}

// Said asks a server for the present description of a tool.
func (s *Servers) Said(ctx context.Context, server, name string) (Said, error) {
	var said Said
	err := s.with(ctx, server, func(ctx context.Context, c peer) (err error) {
		said, err = saidOf(ctx, c, server, name)
		return err
	})
	return said, err
}

// Has reports whether the configuration names a server.
func (s *Servers) Has(server string) bool {
	_, ok := s.config.Servers[server]
	return ok
}

// All asks a server for the present descriptions of all its tools.
func (s *Servers) All(ctx context.Context, server string) (all []Said, err error) {
	err = s.with(ctx, server, func(ctx context.Context, c peer) error {
		for said, err := range c.all(ctx, server) {
			if err != nil {
				return err
			}
			all = append(all, said)
		}
		return nil
	})
	return all, err
}

// Call implements tools.Servers.
func (s *Servers) Call(ctx context.Context, call tools.Call) (tools.Answer, error) {
	var answer tools.Answer
	sent := false
	err := s.with(ctx, call.Server, func(ctx context.Context, c peer) error {
		said, err := saidOf(ctx, c, call.Server, call.Name)
		if err != nil {
			return err
		}
		if said.Digest() != call.Digest {
			return fmt.Errorf("%s of %s: %w", call.Name, call.Server, tools.ErrChanged)
		}
		sent = true
		answer, err = c.call(ctx, call)
		return err
	})
	switch {
	case err != nil && !sent && !errors.Is(err, tools.ErrChanged) && !errors.Is(err, tools.ErrNotCalled):
		return tools.Answer{}, fmt.Errorf("%w: %w", tools.ErrNotCalled, err)
	case err != nil:
		return tools.Answer{}, err
	}
	return answer, nil
}

// A peer is the connection to a server during one external call.
type peer interface {
	// all yields the descriptions of its tools, up to the first error.
	all(ctx context.Context, server string) iter.Seq2[Said, error]
	// call calls a tool. An error that wraps tools.ErrNotCalled says that the tool was not called.
	call(ctx context.Context, call tools.Call) (tools.Answer, error)
}

// with connects to a server, calls fn, and closes the connection, whatever the outcome.
func (s *Servers) with(ctx context.Context, server string, fn func(context.Context, peer) error) error {
	config, ok := s.config.Servers[server]
	if !ok {
		return fmt.Errorf("no server is called %q in the configuration: %w", server, tools.ErrNone)
	}
	ctx, cancel := context.WithTimeout(ctx, config.Timeout)
	defer cancel()
	if config.Agent != "" {
		return s.agent(ctx, config, fn)
	}
	c := &conversation{limit: config.MaxAnswer, recorder: &recorder{limit: 2*config.MaxAnswer + 4096}}
	transport, end, err := s.transport(ctx, config, c.recorder)
	if err != nil {
		return err
	}
	// Roots, sampling and elicitation are offered to no server: a server that is called may not ask
	// back.
	client := sdk.NewClient(&sdk.Implementation{Name: "verbatim", Version: s.opt.Version}, &sdk.ClientOptions{
		Capabilities:   &sdk.ClientCapabilities{},
		MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			if p := r.Params; p != nil && p.ProgressToken == progressToken && p.Progress < 1e9 && p.Total < 1e9 {
				c.tells(int(p.Progress), int(p.Total), p.Message)
			}
		},
	})
	session, err := client.Connect(ctx, transport, nil)
	if err != nil {
		return plain(ctx, config, end(nil), err)
	}
	c.session = session
	if err = fn(ctx, c); err != nil {
		return plain(ctx, config, end(session), err)
	}
	end(session)
	return nil
}

// plain adds facts for the operator to an error of the library: that the time ran out, and what the
// server wrote to stderr.
func plain(ctx context.Context, config Server, wrote string, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) && !errors.Is(err, tools.ErrChanged) && !errors.Is(err, tools.ErrNone) {
		err = fmt.Errorf("no answer within %s: %w", config.Timeout, err)
	}
	if wrote != "" {
		err = fmt.Errorf("%w (it wrote: %q)", err, wrote)
	}
	return err
}

// A conversation is one connection to one server.
type conversation struct {
	session  *sdk.ClientSession
	tell     atomic.Pointer[func(done, total int, what string)] // for progress of the present call; nil if nobody listens
	limit    int
	recorder *recorder
}

// progressToken is the token under which a server reports progress. A conversation has one call.
const progressToken = "call"

// tells passes on the progress that the server reports, in its own words.
func (c *conversation) tells(done, total int, what string) {
	if tell := c.tell.Load(); tell != nil {
		(*tell)(done, total, strings.ToValidUTF8(what, "\uFFFD"))
	}
}

// saidOf finds the description of a tool in the server's list.
func saidOf(ctx context.Context, c peer, server, name string) (Said, error) {
	for said, err := range c.all(ctx, server) {
		if err != nil || said.Name == name {
			return said, err
		}
	}
	return Said{}, fmt.Errorf("%s has no tool %q: %w", server, name, tools.ErrNone)
}

// all yields the tools in the server's list, up to the first error.
func (c *conversation) all(ctx context.Context, server string) iter.Seq2[Said, error] {
	return func(yield func(Said, error) bool) {
		n := 0
		for tool, err := range c.session.Tools(ctx, nil) {
			if n++; err == nil && n > maxTools {
				err = fmt.Errorf("it lists more than %d tools", maxTools)
			}
			if err != nil {
				yield(Said{}, err)
				return
			}
			said := Said{Server: server, Name: tool.Name, Title: tool.Title, Description: tool.Description,
				Input: raw(tool.InputSchema), Output: raw(tool.OutputSchema), Meta: raw(tool.Meta)}
			if tool.Annotations != nil {
				said.Hints = raw(tool.Annotations)
			}
			if !yield(said, nil) {
				return
			}
		}
	}
}

func raw(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil || string(text) == "null" {
		return nil
	}
	return text
}

// Codes of JSON-RPC with which a server says that it did not begin.
var notBegun = map[int64]bool{-32700: true, -32600: true, -32601: true, -32602: true}

func (c *conversation) call(ctx context.Context, call tools.Call) (tools.Answer, error) {
	c.recorder.begin()
	params := &sdk.CallToolParams{Name: call.Name, Arguments: json.RawMessage(call.Args), Meta: sdk.Meta{IdempotencyKey: call.Key}}
	if call.Tell != nil {
		c.tell.Store(&call.Tell)
		params.SetProgressToken(progressToken)
	}
	res, err := c.session.CallTool(ctx, params)
	if code, text, ok := refusal(err); ok && notBegun[code] {
		return tools.Answer{Failed: true, Text: text}, nil
	}
	if err != nil {
		return tools.Answer{}, err
	}
	if len(res.InputRequests) > 0 {
		return tools.Answer{Failed: true, Text: "it asks for more than it was sent"}, nil
	}
	answer := tools.Answer{Failed: res.IsError}
	var text []string
	size := 0
	for _, content := range res.Content {
		if t, ok := content.(*sdk.TextContent); ok {
			text = append(text, t.Text)
			size += len(t.Text)
		}
	}
	answer.Text = strings.ToValidUTF8(strings.Join(text, "\n"), "\uFFFD")
	if res.StructuredContent != nil {
		// The library decodes numbers as floating-point. Every digit counts, so the answer is read
		// from the recorded bytes.
		exact, ok := c.recorder.structured()
		if !ok {
			return tools.Answer{}, errors.New("its structured answer could not be read to the last digit")
		}
		answer.Structured = exact
		size += len(exact)
	}
	if size > c.limit {
		return tools.Answer{}, fmt.Errorf("it answered with more than %d bytes", c.limit)
	}
	return answer, nil
}

// A recorder records what a server sent since a call began.
type recorder struct {
	mu    sync.Mutex
	on    bool
	limit int
	text  []byte
}

func (o *recorder) begin() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.on, o.text = true, nil
}

func (o *recorder) hear(b []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.on && len(o.text)+len(b) <= o.limit {
		o.text = append(o.text, b...)
	}
}

// structured finds the structured answer: in a JSON document, in lines of JSON,
// or in lines of an event stream.
func (o *recorder) structured() (string, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	type message struct {
		Result struct {
			Structured json.RawMessage `json:"structuredContent"`
		} `json:"result"`
	}
	var m message
	if json.Unmarshal(o.text, &m) == nil && m.Result.Structured != nil {
		return string(m.Result.Structured), true
	}
	found := ""
	for line := range strings.Lines(string(o.text)) {
		var m message
		if json.Unmarshal([]byte(strings.TrimPrefix(line, "data:")), &m) == nil && m.Result.Structured != nil {
			found = string(m.Result.Structured)
		}
	}
	return found, found != ""
}

func sum(parts []string) [32]byte {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d\n%s\n", len(p), p)
	}
	var out [32]byte
	h.Sum(out[:0])
	return out
}
