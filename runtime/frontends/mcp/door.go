// Package mcp serves the clients of models over MCP: each verb that the caller may use is a
// tool, and a call of a tool is a call like any other.
//
//	d, err := mcp.New(mcp.Options{Registry: reg, Seal: identity.Secret, Clock: time.Now})
//	err = d.Serve(ctx, os.Stdin, os.Stdout, caller)    // one client, over a pipe
//	d.ServeHTTP(w, r, caller)                          // one request of many clients
//
// The arguments of a tool become a call in the language, which the engine parses, checks,
// previews and carries out; the protocol's library checks nothing of them. Results are the
// documents of package wire, and the same in words. Rows have their names in both directions,
// never their keys. A verb or row that a caller may not use gets the same answer as one that
// does not exist.
//
// If a rule wants the caller's agreement, the client has to ask the person; the state that it
// returns with the answer is sealed: see ask.go.
//
// The protocol's library is used only here and in package mcp. A Door is safe for use by many
// goroutines. It keeps nothing that a second process would need, except the connections of HTTP
// clients with a protocol version before 2026-07-28, which belong to one process.
package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	goruntime "runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"verbatim/runtime/engine"
	"verbatim/verbs"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// MostTools is the greatest number of verbs that are listed as a tool each. If there are more, three
// tools are listed instead: they search, describe and call a verb.
const MostTools = 40

// Options are the options of a Door.
type Options struct {
	Registry *verbs.Registry
	// Seal is the key for sealing states: the secret of the store, which all processes share.
	Seal  []byte
	Clock func() time.Time
	// Search finds verbs by words, the best first. Without it, verbs that contain the words are
	// found.
	Search func(words string, among []*verbs.Verb, most int) []*verbs.Verb
	// Most replaces MostTools.
	Most int
	// Patience is how long a connected client may take to answer a question; the default is 10
	// minutes.
	Patience time.Duration
	// Sessions is the greatest number of HTTP clients with earlier versions that are connected at
	// once; the default is 1000.
	Sessions int
	// Version is the program's version.
	Version string
	Log     *slog.Logger
}

// A Caller is an authenticated caller.
type Caller struct {
	// Key tells callers apart. A connection that one began is not gone on with by another.
	Key string
	// Session returns the caller's session, with their present rights.
	Session func(context.Context) (*engine.Session, error)
	// Turn waits for a place among the callers that are served; nil means no waiting.
	Turn func(context.Context) (leave func(), err error)
	// Said is the origin of the client's values. It is Unheard for the client of a model: then each
	// call that may change something is asked about.
	Said verbs.Literals
	// Agree says how a person agrees to the preview with an id, for clients that cannot ask.
	Agree func(id string) string
}

// A Door is the MCP server. Make it with New.
type Door struct {
	Options
	seal            sealer
	newest, earlier *sdk.StreamableHTTPHandler
	connected       *sdk.Server // that of earlier

	mu    sync.Mutex
	lists map[string]*list // by the set of verbs
}

// New makes a Door.
func New(o Options) (*Door, error) {
	if o.Registry == nil || len(o.Seal) == 0 || o.Clock == nil {
		return nil, errors.New("a door for MCP needs palettes, a secret and a clock")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Search == nil {
		o.Search = holding
	}
	o.Most, o.Patience, o.Sessions = cmp.Or(o.Most, MostTools), cmp.Or(o.Patience, 10*time.Minute), cmp.Or(o.Sessions, 1000)
	d := &Door{Options: o, lists: map[string]*list{}}
	var err error
	if d.seal, err = newSealer(o.Seal); err != nil {
		return nil, err
	}
	d.connected = d.server(nil)
	newest := d.server(nil)
	// The code that lets requests in checks callers, hosts and origins.
	d.newest = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return newest },
		&sdk.StreamableHTTPOptions{Stateless: true, DisableLocalhostProtection: true, MaxRequestBodyBytes: -1, PropagateRequestCancellation: true})
	d.earlier = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return d.connected },
		&sdk.StreamableHTTPOptions{DisableLocalhostProtection: true, MaxRequestBodyBytes: -1, SessionTimeout: 15 * time.Minute})
	return d, nil
}

// holding finds the verbs whose name or description contains some of the words, those with most of
// them first.
func holding(words string, among []*verbs.Verb, most int) []*verbs.Verb {
	wanted := strings.Fields(strings.ToLower(words))
	score := map[*verbs.Verb]int{}
	var found []*verbs.Verb
	for _, v := range among {
		text := strings.ToLower(v.Name + " " + v.Description + " " + strings.Join(v.Phrases, " "))
		for _, w := range wanted {
			if strings.Contains(text, w) {
				score[v]++
			}
		}
		if score[v] > 0 {
			found = append(found, v)
		}
	}
	slices.SortStableFunc(found, func(a, b *verbs.Verb) int { return score[b] - score[a] })
	return found[:min(len(found), most)]
}

// The names under which the library keeps the one handler of each kind: the context holds the tool,
// prompt or resource that is meant, and which of them exist depends on the caller.
const (
	anyName = "verbatim"
	anyURI  = "verbatim:any"
)

// server makes the library's server. Its caller is the given one or, if it is nil, that of each
// request.
func (d *Door) server(one *Caller) *sdk.Server {
	s := sdk.NewServer(d.implementation(), &sdk.ServerOptions{
		Instructions: instructions,
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}, Prompts: &sdk.PromptCapabilities{}, Resources: &sdk.ResourceCapabilities{},
			Completions: &sdk.CompletionCapabilities{}},
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { *c = ownOnly },
	})
	s.AddTool(&sdk.Tool{Name: anyName, InputSchema: json.RawMessage(`{"type":"object"}`)}, d.callTool)
	s.AddPrompt(&sdk.Prompt{Name: anyName}, d.getPrompt)
	s.AddResource(&sdk.Resource{Name: anyName, URI: anyURI}, d.readResource)
	s.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (res sdk.Result, err error) {
			defer d.recovers(&err)
			c := one
			if c == nil {
				if c = callerOf(req); c == nil {
					return nil, internal("nobody is known to have sent this")
				}
			}
			return d.answers(ctx, c, method, req, next)
		}
	})
	return s
}

// implementation says which program answers.
func (d *Door) implementation() *sdk.Implementation {
	return &sdk.Implementation{Name: "verbatim", Title: "Verbatim", Version: cmp.Or(d.Version, "development build")}
}

// ownOnly says that a list is the caller's own and may change soon.
var ownOnly = sdk.Cacheable{CacheScope: "private"}

const instructions = `Each tool is a verb of this organisation. Rows are called by names that begin with @, as tools and resources tell them; there are no other ids. Some calls ask the person you work for first, or somebody else: their agreement is asked for by the tool itself, and is not yours to give. What is refused says why, and what would be taken instead.`

// recovers answers after a panic, and logs where it happened, without values.
func (d *Door) recovers(err *error) {
	p := recover()
	if p == nil {
		return
	}
	what := fmt.Sprintf("a %T", p)
	var fault goruntime.Error
	if e, ok := p.(error); ok && errors.As(e, &fault) {
		what = fault.Error()
	}
	d.Log.Error("panic", "what", what, "stack", string(debug.Stack()))
	*err = internal("the server itself failed")
}

func internal(text string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: text}
}
func invalid(text string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: text}
}

// A request is a request on its way through the library.
type request struct {
	caller *Caller
	name   string // of the tool or the prompt, or the URI of the resource
}

type askedKey struct{}

func askedOf(ctx context.Context) request { return ctx.Value(askedKey{}).(request) }

// answers answers a request. It makes lists itself; requests that may have to ask the person go
// through the library's own handlers.
func (d *Door) answers(ctx context.Context, c *Caller, method string, req sdk.Request, next sdk.MethodHandler) (sdk.Result, error) {
	with := func(name string) context.Context { return context.WithValue(ctx, askedKey{}, request{c, name}) }
	switch r := req.(type) {
	case *sdk.CallToolRequest:
		params := *r.Params
		params.Name = anyName
		ctx, stop := context.WithTimeout(with(r.Params.Name), d.Patience)
		defer stop()
		return next(ctx, method, &sdk.CallToolRequest{Session: r.Session, Params: &params, Extra: r.Extra})
	case *sdk.GetPromptRequest:
		params := *r.Params
		params.Name = anyName
		return next(with(r.Params.Name), method, &sdk.GetPromptRequest{Session: r.Session, Params: &params, Extra: r.Extra})
	case *sdk.ReadResourceRequest:
		params := *r.Params
		params.URI = anyURI
		return next(with(r.Params.URI), method, &sdk.ReadResourceRequest{Session: r.Session, Params: &params, Extra: r.Extra})
	case *sdk.ListToolsRequest:
		if r.Params != nil && r.Params.Cursor != "" {
			return nil, invalid("that is no cursor of this list: it has one page")
		}
		return turn(ctx, d, c, func(s *engine.Session) (*sdk.ListToolsResult, error) {
			l, err := d.list(s)
			if err != nil {
				return nil, err
			}
			return &sdk.ListToolsResult{Tools: listed(l.shown), Cacheable: ownOnly}, nil
		})
	case *sdk.ListPromptsRequest:
		return turn(ctx, d, c, func(s *engine.Session) (*sdk.ListPromptsResult, error) {
			return &sdk.ListPromptsResult{Prompts: listed(d.prompts(s)), Cacheable: ownOnly}, nil
		})
	case *sdk.ListResourcesRequest:
		return turn(ctx, d, c, func(s *engine.Session) (*sdk.ListResourcesResult, error) {
			return &sdk.ListResourcesResult{Resources: listed(d.resources(s)), Cacheable: ownOnly}, nil
		})
	case *sdk.ListResourceTemplatesRequest:
		return &sdk.ListResourceTemplatesResult{ResourceTemplates: templates, Cacheable: ownOnly}, nil
	case *sdk.CompleteRequest:
		if r.Params == nil || r.Params.Ref == nil || r.Params.Argument.Name == "" {
			return nil, invalid("a completion says what is completed: ref and argument.name")
		}
		return turn(ctx, d, c, func(s *engine.Session) (*sdk.CompleteResult, error) { return d.complete(ctx, s, r.Params) })
	}
	return next(ctx, method, req)
}

// listed returns an empty list for none: clients refuse null where a list belongs.
func listed[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}

// turn does something for a caller after waiting for a place. Its error is one of the protocol.
func turn[T sdk.Result](ctx context.Context, d *Door, c *Caller, do func(*engine.Session) (T, error)) (res sdk.Result, err error) {
	if c.Turn != nil {
		leave, err := c.Turn(ctx)
		if err != nil {
			return nil, d.failed(err)
		}
		defer leave()
	}
	s, err := c.Session(ctx)
	if err != nil {
		return nil, d.failed(err)
	}
	done, err := do(s)
	if err != nil {
		return nil, d.failed(err)
	}
	return done, nil
}

// failed returns an error of the protocol, in words for the caller.
func (d *Door) failed(err error) error {
	var told *jsonrpc.Error
	if errors.As(err, &told) {
		return told
	}
	d.Log.Error("failed", "error", err.Error())
	return internal(engine.Sentence(err))
}

// Serve answers one client over a pipe, until it goes or ctx ends. Calls that came before the input
// ended are answered first.
func (d *Door) Serve(ctx context.Context, in io.Reader, out io.Writer, c *Caller) error {
	lines, messages := newLines(ctx, in, out)
	s := d.server(c)
	t := &sdk.IOTransport{Reader: io.NopCloser(messages), Writer: lines, MaxLineLength: -1}
	ended := make(chan error, 1)
	session, err := s.Connect(ctx, t, nil)
	if err != nil {
		return err
	}
	go func() { ended <- session.Wait() }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		// Running calls are told to stop, and get a moment to report that.
		go session.Close()
		select {
		case <-ended:
		case <-time.After(2 * time.Second):
		}
	}
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// callerKey is the key of the caller in a request.
const callerKey = "caller"

// ServeHTTP answers a request of an authenticated caller. The size of bodies, hosts and origins were
// checked before.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request, c *Caller) {
	h := d.earlier
	f := &refusing{ResponseWriter: w}
	text, ok := f.reads(r)
	if !ok {
		return
	}
	if m := direct(r, text); m != nil {
		d.answerPlain(f, r, c, m)
		return
	}
	w = f
	switch {
	case r.Header.Get("Mcp-Protocol-Version") >= modern:
		h = d.newest
	case r.Method == http.MethodPost && r.Header.Get("Mcp-Session-Id") == "" && d.full():
		w.Header().Set("Retry-After", "60")
		http.Error(w, "too many clients are connected", http.StatusServiceUnavailable)
		return
	}
	// The library hands the caller on with each request, and keeps others away from a connection
	// that they did not begin. What they showed to be let in is not its to see.
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer -")
	who := func(context.Context, string, *http.Request) (*auth.TokenInfo, error) {
		return &auth.TokenInfo{UserID: c.Key, Extra: map[string]any{callerKey: c}}, nil
	}
	auth.RequireBearerToken(who, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(h).ServeHTTP(w, r)
}

// full reports whether no further client of an earlier version can be connected.
func (d *Door) full() bool {
	n := 0
	for range d.connected.Sessions() {
		n++
	}
	return n >= d.Sessions
}

// callerOf returns the caller of a request over HTTP.
func callerOf(req sdk.Request) *Caller {
	if x := req.GetExtra(); x != nil && x.TokenInfo != nil {
		c, _ := x.TokenInfo.Extra[callerKey].(*Caller)
		return c
	}
	return nil
}
