// Package server is the HTTP server: an API for programs, pages for the people served and
// for those who serve them, and streams of events. Text enters at Parse and values at
// Check, and everything runs on the same engine; no route has a door of its own.
//
//	server, err := server.New(server.Options{Engine: engine, Registry: reg, Store: store, ...})
//	err = server.Run(ctx, listener)    // until ctx ends; then what was begun is finished
//
// Everything that a second process must know is in the store: logins, attempts at secrets,
// and receipts of idempotency keys. Only the counts that limit load are in memory.
//
// A Server is safe for use by many goroutines.
package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/engine"
	"verbatim/runtime/files/intake"
	"verbatim/runtime/frontends/http/server/logins"
	"verbatim/runtime/frontends/http/server/peers"
	"verbatim/runtime/frontends/mcp"
	"verbatim/stores"
	"verbatim/verbs"
)

// Options say what is served, and to whom.
type Options struct {
	Registry *verbs.Registry
	Engine   *engine.Engine
	Store    stores.Store
	// Uploads stores files and returns them to their owners. Without a Scanner no file is accepted.
	// May be nil.
	Uploads *intake.Service
	// Talk returns the options of a conversation in a session: the model and its budget. The server
	// adds the session.
	Talk func(*engine.Session) dialog.Options
	// Codes explains every code that an answer may have, for the reference.
	Codes []dsl.CodeDoc
	// People finds a principal by an identity provider's issuer and subject, Tokens by the digest
	// of an API token. Either may be nil.
	People func(ctx context.Context, issuer, subject string) (principal string, err error)
	Tokens func(ctx context.Context, digest string) (Token, error)
	// Mail sends a sign-in link; nil if nobody signs in by mail.
	Mail func(ctx context.Context, to, language, link string) error
	// OpenID is the identity provider; nil without one.
	OpenID *OpenID
	// URL is the server's address from outside, "https://portal.bank.example". Cookies and links
	// use it.
	URL string
	// Hosts are other host names that the server answers to.
	Hosts []string
	// Proxied says that a trusted proxy is in front, whose X-Forwarded-For names the client.
	Proxied bool
	Clock   func() time.Time
	Random  io.Reader
	Log     *slog.Logger
	// Envelopes are JSON protocols of domains.
	Envelopes []Envelope
	// Hooks are paths to which other systems post signed messages.
	Hooks []Hook
	// Draws draws rows; nil for no drawings.
	Draws Draws
	// Meter counts what the engine does; nil for no counts.
	Meter *Meter
	// Limits bound concurrent work; a zero field means its default.
	Limits Limits
	// Certificates allows a client certificate in place of a token; Tokens knows it by its digest.
	// The listener must request one; it need not be signed by any authority.
	Certificates bool
	// Posts says to which addresses other agents may have notifications sent.
	Posts Posts
	// Search finds verbs by words, for clients of models; nil matches the words literally.
	Search func(words string, among []*verbs.Verb, most int) []*verbs.Verb
	// Version is the program's version, for such clients.
	Version string
}

// ErrNobody says that an identity or a token is unknown.
var ErrNobody = errors.New("nobody is known by that")

// A Token describes an API token.
type Token struct {
	Principal string
	Audience  string // the URL of the server that it is for
	Expires   time.Time
	Verbs     []string // nil if it may do everything that its principal may
}

// Limits bound concurrent work.
type Limits struct {
	Requests int           // that are answered at once: 256
	Streams  int           // of events: 20 000
	Wait     time.Duration // how long a request waits to be begun: 250 ms
	Rate     float64       // requests of one client a second: 200
	Burst    int           // that may come together: 1 000
	Script   int64         // of a script, in bytes: 1 MiB
	Drain    time.Duration // how long running requests may take when the server ends: 10 s
}

// A Server answers requests. Make it with New.
type Server struct {
	Options
	book    *logins.Book
	peers   *peers.Book
	mcp     *mcp.Door // nil without a registry or a store
	public  *url.URL
	hosts   map[string]bool
	cross   *http.CrossOriginProtection
	handler http.Handler
	gate    *gate
	known   *known
	news    *news
	metrics *metrics
	// described caches the API description by the verbs that a caller may use.
	described sync.Map
	ctx       context.Context // of the server: sessions read within it
	stop      context.CancelFunc
	// draining is closed when the server accepts nothing new; after counts work that continues
	// behind an answer.
	draining chan struct{}
	drain    sync.Once
	after    sync.WaitGroup
}

// New makes a server. It fails if the options cannot be served safely.
func New(o Options) (*Server, error) {
	public, err := url.Parse(o.URL)
	if err != nil || public.Scheme != "http" && public.Scheme != "https" || public.Host == "" || strings.Trim(public.Path, "/") != "" || public.User != nil || public.RawQuery != "" {
		return nil, errors.New("the URL of the server is like https://portal.bank.example, without a path")
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Limits = Limits{
		Requests: cmp.Or(o.Limits.Requests, 256), Streams: cmp.Or(o.Limits.Streams, 20_000), Wait: cmp.Or(o.Limits.Wait, 250*time.Millisecond),
		Rate: cmp.Or(o.Limits.Rate, 200), Burst: cmp.Or(o.Limits.Burst, 1000), Script: cmp.Or(o.Limits.Script, 1<<20), Drain: cmp.Or(o.Limits.Drain, 10*time.Second),
	}
	s := &Server{Options: o, public: public, hosts: map[string]bool{}, cross: http.NewCrossOriginProtection(),
		book: &logins.Book{Store: o.Store, Clock: o.Clock, Random: o.Random}, peers: &peers.Book{Store: o.Store, Clock: o.Clock, Random: o.Random}}
	for _, host := range append([]string{public.Host}, o.Hosts...) {
		s.hosts[strings.ToLower(host)] = true
	}
	if err := s.cross.AddTrustedOrigin(s.origin()); err != nil {
		return nil, err
	}
	s.draining = make(chan struct{})
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.gate, s.known, s.metrics = newGate(o.Limits), newKnown(), newMetrics(s)
	s.news = newNews(s)
	if err := s.newMCP(); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	for _, r := range s.Routes() {
		mux.Handle(r.Pattern, s.answer(r))
	}
	s.handler = s.guard(s.elsewhere(mux))
	return s, nil
}

// elsewhere answers paths without a route, in the form of the API or as a page.
func (s *Server) elsewhere(mux *http.ServeMux) http.Handler {
	nowhere := Route{Name: "elsewhere", Door: Open}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		told := &onlyHead{header: w.Header()} // 404, 405 with what is allowed, or where else
		mux.ServeHTTP(told, r)
		if told.status < 400 {
			w.WriteHeader(told.status)
			return
		}
		p := problem{Status: told.status, Code: "not-found", Title: "there is nothing here", Next: "GET /v1/openapi.json lists what there is"}
		if p.Status == http.StatusMethodNotAllowed {
			p.Code, p.Title = "method", "this is not done by "+method(r.Method)
		}
		v := &visit{Server: s, w: w, r: r, route: &nowhere}
		if strings.HasPrefix(r.URL.Path, "/v1/") || !strings.Contains(r.Header.Get("Accept"), "text/html") {
			s.problem(w, p)
			return
		}
		v.failPage(p)
	})
}

// An onlyHead records the head of an answer and drops the body.
type onlyHead struct {
	header http.Header
	status int
}

func (h *onlyHead) Header() http.Header         { return h.header }
func (h *onlyHead) WriteHeader(status int)      { h.status = status }
func (h *onlyHead) Write(b []byte) (int, error) { return len(b), nil }

// origin returns the URL without a slash at its end.
func (s *Server) origin() string { return s.public.Scheme + "://" + s.public.Host }

// secure reports whether people reach the server by TLS.
func (s *Server) secure() bool { return s.public.Scheme == "https" }

// Close stops the server's background work. Run ends requests.
func (s *Server) Close() { s.stop() }

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Link makes a sign-in link for a principal, valid once and in any browser. The operator hands it
// on.
func (s *Server) Link(ctx context.Context, principal, to string) (string, error) {
	if _, err := s.Engine.Session(ctx, principal); err != nil {
		return "", err
	}
	secret, err := s.book.Link(ctx, principal, "", logins.Link)
	if err != nil {
		return "", err
	}
	return s.origin() + "/sign-in/link?" + url.Values{"link": {secret}, "to": {to}}.Encode(), nil
}

// Housekeep deletes expired data of the server.
func (s *Server) Housekeep(ctx context.Context) error {
	return errors.Join(s.book.Housekeep(ctx), s.peers.Housekeep(ctx))
}

// A Door says who may use a route.
type Door int

// The doors.
const (
	Open Door = iota // anybody
	API              // callers with a token, or signed in
	Page             // people who are signed in; others are sent to sign in
)

// A Route is one route. Routes lists them all.
type Route struct {
	Pattern string // of net/http: "POST /v1/run"
	Name    string // of a page, as tests and screenshots call it; "" of others
	Door    Door
	Body    int64 // the greatest size of a body, in bytes; 0 means no body
	Stream  bool  // it lasts as long as the client listens
	Upload  bool  // its body may take its time
	Whole   bool  // it reveals more than verbs do, so tokens limited to some verbs may not use it
	Does    string
	handle  func(*visit) error
	refuse  func(*visit, problem) // writes a refusal, if another protocol defines its form
}

// Routes lists all routes.
func (s *Server) Routes() []Route {
	routes := []Route{
		{Pattern: "GET /healthz", Does: "Says that the process is there.", handle: s.healthz},
		{Pattern: "GET /readyz", Does: "Says whether requests can be answered: the store is reached, migrated and not full, and the server is not ending.", handle: s.readyz},
		{Pattern: "GET /metrics", Does: "Counts and durations, for Prometheus; for this machine only.", handle: s.showMetrics},
	}
	routes = append(routes, s.signInRoutes()...)
	routes = append(routes, s.apiRoutes()...)
	routes = append(routes, s.a2aRoutes()...)
	routes = append(routes, s.mcpRoutes()...)
	routes = append(routes, s.envelopeRoutes()...)
	routes = append(routes, s.hookRoutes()...)
	return append(routes, s.pageRoutes()...)
}
