// Package mcp calls tools of other servers for the engine: tools of MCP servers, skills of agents that
// speak A2A, and operations of APIs that OpenAPI describes. MCP's library is used only here.
//
//	config, err := mcp.ReadConfig(text)
//	servers := mcp.New(config, accepted, mcp.Options{Env: os.Getenv})
//	engine, err := engine.New(registry, store, engine.Options{Tools: servers})
//
// Nothing that a server says is trusted. It is a stranger that gets data: each external call has a
// deadline, a limit on the answer, and no more of the environment than the operator names. Calls for a
// principal (tools.For) share one connection, which stays open, so that a server may remember one call
// in the next; no two principals ever share one. See connection. A tool is called only under the
// server's last list, and only if its description is the one that the operator accepted. A server's
// address is checked when it is dialled, whatever its name resolves to.
package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

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
	Files   fs.FS               // where descriptions of APIs are
	// Idle is how long a connection stays open that nobody uses; 0 means until Close.
	Idle time.Duration
}

// Servers are the servers of a configuration. They are safe for use by many
// goroutines.
type Servers struct {
	config   Config
	accepted Accepted
	opt      Options

	mu    sync.Mutex
	kept  map[owner]*connection
	ended map[owner]bool // had a connection that ended, which nobody was told of yet
	apis  map[string]*description
}

var _ tools.Servers = (*Servers)(nil)

// New makes Servers. Nothing is started or dialled before it is asked.
func New(c Config, a Accepted, o Options) *Servers {
	if o.Env == nil {
		o.Env = func(string) string { return "" }
	}
	return &Servers{config: c, accepted: a, opt: o, kept: map[owner]*connection{}, ended: map[owner]bool{}, apis: map[string]*description{}}
}

// Tool implements tools.Servers.
func (s *Servers) Tool(ctx context.Context, server, name string) (tools.Spec, error) {
	said, err := s.Said(ctx, server, name)
	if err != nil {
		return tools.Spec{}, err
	}
	spec := tools.Spec{Input: said.Input, Output: said.Output, Writes: said.writes(), Says: said.Description, Digest: said.Digest()}
	if config := s.config.Servers[server]; config.API != "" {
		spec.Repeats = spec.Writes && config.Idempotency == ""
	}
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
		a, _ := s.accepted.of(server, name)
		said, err = saidNow(ctx, c, server, name, a.Digest())
		return err
	})
	return said, err
}

// saidNow finds the description of a tool. Where it is not the wanted one, the server is asked again:
// it may be so by now, whether or not the server says that its list changed.
func saidNow(ctx context.Context, c peer, server, name, want string) (Said, error) {
	said, err := saidOf(ctx, c, server, name)
	if talk, ok := c.(*conversation); ok && talk.list != nil && (err != nil || said.Digest() != want) {
		talk.list = nil
		return saidOf(ctx, c, server, name)
	}
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
		if s.lost(ctx, call.Server) {
			return tools.ErrRestarted
		}
		said, err := saidNow(ctx, c, call.Server, call.Name, call.Digest)
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
	case err != nil && !sent && !errors.Is(err, tools.ErrChanged) && !errors.Is(err, tools.ErrNotCalled) && !errors.Is(err, tools.ErrRestarted):
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

// with calls fn with a connection to a server: the open one of the principal, or one for this call
// alone if nobody is named.
func (s *Servers) with(ctx context.Context, server string, fn func(context.Context, peer) error) error {
	config, ok := s.config.Servers[server]
	if !ok {
		return fmt.Errorf("no server is called %q in the configuration: %w", server, tools.ErrNone)
	}
	ctx, cancel := context.WithTimeout(ctx, config.Timeout)
	defer cancel()
	switch {
	case config.Agent != "":
		return s.agent(ctx, config, fn)
	case config.API != "":
		return s.api(ctx, server, config, fn)
	}
	if tools.Principal(ctx) != "" {
		return s.keeping(ctx, server, config, fn)
	}
	c, err := s.dial(ctx, config)
	if err != nil {
		return err
	}
	defer c.within(ctx)()
	err = fn(ctx, c)
	if wrote := c.end(); err != nil {
		return plain(ctx, config, wrote, err)
	}
	return nil
}

// dial connects to a server. The end of ctx ends the attempt; the connection stays open until end.
func (s *Servers) dial(ctx context.Context, config Server) (*conversation, error) {
	open, shut := context.WithCancel(context.WithoutCancel(ctx))
	c := &conversation{limit: config.MaxAnswer, recorder: &recorder{limit: 2*config.MaxAnswer + 4096}, shut: shut, tells: config.URL == "", gone: make(chan struct{})}
	defer c.within(ctx)()
	transport, end, err := s.transport(open, config, c.recorder)
	if err != nil {
		shut()
		return nil, err
	}
	// Roots, sampling and elicitation are offered to no server: a server that is called may not ask
	// back.
	client := sdk.NewClient(&sdk.Implementation{Name: "verbatim", Version: s.opt.Version}, &sdk.ClientOptions{
		Capabilities:           &sdk.ClientCapabilities{},
		MultiRoundTrip:         &sdk.MultiRoundTripOptions{Disabled: true},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { c.changes.Add(1) },
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			if p := r.Params; p != nil && p.Progress < 1e9 && p.Total < 1e9 {
				c.hears(p.ProgressToken, int(p.Progress), int(p.Total), p.Message)
			}
		},
	})
	if c.session, err = client.Connect(open, transport, nil); err != nil {
		wrote := end(nil)
		shut()
		return nil, plain(ctx, config, wrote, err)
	}
	c.end = sync.OnceValue(func() string { defer shut(); return end(c.session) })
	go func() {
		_ = c.session.Wait()
		close(c.gone)
	}()
	return c, nil
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

// A conversation is one connection to one server. One call uses it at a time.
type conversation struct {
	session  *sdk.ClientSession
	tell     atomic.Pointer[listener] // nil if nobody listens
	calls    int
	limit    int
	recorder *recorder

	shut func()        // ends it at once
	end  func() string // ends it, and returns what the program wrote to stderr last
	gone chan struct{} // closed when the server has ended it

	tells   bool         // the server says when its list changes
	changes atomic.Int64 // of its list, as far as it has said
	list    []Said       // the last list; nil before the first
	listed  int64        // changes when that was asked for
}

// within ends the connection when the time of ctx is over. What it returns ends that bond. A caller
// that only stops waiting ends no connection: the server may remember what others still need.
func (c *conversation) within(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		if c.session == nil || errors.Is(ctx.Err(), context.DeadlineExceeded) {
			c.shut()
		}
	})
}

// A listener is told of the progress of one call.
type listener struct {
	token string
	tell  func(done, total int, what string)
}

// hears passes on the progress that the server reports, in its own words.
func (c *conversation) hears(token any, done, total int, what string) {
	if l := c.tell.Load(); l != nil && token == l.token {
		l.tell(done, total, strings.ToValidUTF8(what, "\uFFFD"))
	}
}

// saidOf finds the description of a tool in the server's list.
func saidOf(ctx context.Context, c peer, server, name string) (Said, error) {
	if a, ok := c.(*api); ok {
		return a.said(name) // a large API has a thousand descriptions, and makes one
	}
	for said, err := range c.all(ctx, server) {
		if err != nil || said.Name == name {
			return said, err
		}
	}
	return Said{}, fmt.Errorf("%s has no tool %q: %w", server, name, tools.ErrNone)
}

// all yields the tools in the server's list, up to the first error. A server that says when its list
// changes is asked once, and after each change.
func (c *conversation) all(ctx context.Context, server string) iter.Seq2[Said, error] {
	return func(yield func(Said, error) bool) {
		if changes := c.changes.Load(); !c.tells || c.list == nil || c.listed != changes {
			list, err := c.lists(ctx, server)
			if err != nil {
				yield(Said{}, err)
				return
			}
			c.list, c.listed = list, changes
		}
		for _, said := range c.list {
			if !yield(said, nil) {
				return
			}
		}
	}
}

func (c *conversation) lists(ctx context.Context, server string) ([]Said, error) {
	list := []Said{}
	for tool, err := range c.session.Tools(ctx, nil) {
		if err == nil && len(list) == maxTools {
			err = fmt.Errorf("it lists more than %d tools", maxTools)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, said(server, tool))
	}
	return list, nil
}

// said is what a tool says of itself.
func said(server string, tool *sdk.Tool) Said {
	s := Said{Server: server, Name: tool.Name, Title: tool.Title, Description: tool.Description,
		Input: raw(tool.InputSchema), Output: raw(tool.OutputSchema), Meta: raw(tool.Meta)}
	if tool.Annotations != nil {
		s.Hints = raw(tool.Annotations)
	}
	return s
}

// ReadSaid reads what a tool says of itself, as its server lists it.
func ReadSaid(server string, text json.RawMessage) (Said, error) {
	var tool sdk.Tool
	err := json.Unmarshal(text, &tool)
	return said(server, &tool), err
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
	c.calls++
	c.tell.Store(nil)
	if call.Tell != nil {
		l := &listener{fmt.Sprintf("call %d", c.calls), call.Tell}
		c.tell.Store(l)
		params.SetProgressToken(l.token)
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
		exact, ok := c.recorder.structured(res.StructuredContent)
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

// structured finds the text of a structured answer: in a JSON document, in lines of JSON, or in lines
// of an event stream. An answer to an earlier call, which nobody waited for, may have come as well.
func (o *recorder) structured(answer any) (string, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	found := ""
	is := func(text string) {
		var m struct {
			Result struct {
				Structured json.RawMessage `json:"structuredContent"`
			} `json:"result"`
		}
		var same any
		if json.Unmarshal([]byte(text), &m) == nil && json.Unmarshal(m.Result.Structured, &same) == nil && reflect.DeepEqual(same, answer) {
			found = string(m.Result.Structured)
		}
	}
	is(string(o.text))
	for line := range strings.Lines(string(o.text)) {
		is(strings.TrimPrefix(line, "data:"))
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
