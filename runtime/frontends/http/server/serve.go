// Package server is the HTTP server that all doors share: it says who calls, sheds load, serves
// pages to sign in, and answers errors. The doors themselves, such as the API and the portal, are
// packages beside it, which it does not know. Each is a list of routes:
//
//	s, err := server.New(server.Options{Engine: engine, Registry: reg, Store: store, ...})
//	s.Mount(server.Route{Pattern: "GET /hello", Door: server.API, Handle: func(v *server.Visit) error {
//		return v.JSON(http.StatusOK, v.Principal)
//	}})
//	err = s.Run(ctx, listener, nil) // until ctx ends; then what was begun is finished
//
// Everything that a second process must know is in the store: logins, attempts at secrets, receipts of
// idempotency keys, and how much clients asked. Only what bounds the load of one process is in memory.
//
// A Server is safe for use by many goroutines.
package server

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/engine"
	"verbatim/runtime/files/intake"
	"verbatim/runtime/frontends/http/pages"
	"verbatim/runtime/frontends/http/server/logins"
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
	// People finds a principal by an identity provider's issuer and subject, Tokens by the digest
	// of an API token. Either may be nil.
	People func(ctx context.Context, issuer, subject string) (principal string, err error)
	Tokens func(ctx context.Context, digest string) (Token, error)
	// Mail says that a worker sends sign-in links by mail: see SignInLink.
	Mail bool
	// OpenID is the identity provider; nil without one.
	OpenID *OpenID
	// URL is the server's address from outside, "https://portal.bank.example". Cookies and links
	// use it.
	URL string
	// Brand is whose pages they are; without a name they are Verbatim's.
	Brand pages.Brand
	// Hosts are other host names that the server answers to.
	Hosts []string
	// Proxied says that a trusted proxy is in front, whose X-Forwarded-For names the client.
	Proxied bool
	Clock   func() time.Time
	Log     *slog.Logger
	// Meter counts what the engine does; nil for no counts.
	Meter *Meter
	// Limits bound concurrent work; a zero field means its default.
	Limits Limits
	// Together says that other processes may serve the same store: how much a client may ask is counted
	// there, for all of them.
	Together bool
	// Certificates allows a client certificate in place of a token; Tokens knows it by its digest.
	// The listener must request one; it need not be signed by any authority.
	Certificates bool
	// Version is the program's, for those who watch it.
	Version string
	// Unfit looks closely at why the store's shape does not serve the palettes, and returns nil if it does: see
	// Unfit. It may be nil.
	Unfit func(context.Context) error
	// Notes returns what operators should mend, which /readyz says while the server is ready. It may be nil.
	Notes func(context.Context) []Note
	// Watched returns what is counted beside what the server knows itself. It may be nil.
	Watched func() Watched
}

// ErrNobody says that an identity or a token is unknown.
var ErrNobody = errors.New("nobody is known by that")

// A Token describes an API token.
type Token struct {
	Principal string
	Audience  string // the URL of the server that it is for
	Expires   time.Time
	Verbs     []string // nil if it may do everything that its principal may
	Script    bool     // its operator says that no model writes what its program sends
}

// Limits bound concurrent work.
type Limits struct {
	Requests int           // that are answered at once: 256
	Streams  int           // of events: 20 000
	Wait     time.Duration // how long a request waits to be begun: 250 ms
	Rate     float64       // requests of one client a second, at all processes of a store: 200
	Burst    int           // that may come together: 1 000
	Bodies   int64         // of memory that bodies take at once, in bytes: 256 MiB
	Script   int64         // of a script, in bytes: 1 MiB
	Calls    int           // of a script: as many as the language takes
	Linger   time.Duration // how long requests are still taken when the server is told to end, while it says so: 0
	Drain    time.Duration // how long running requests may take when the server ends: 10 s
}

// Parse parses a script of a client, which has no more calls than the limits allow.
func (l *Limits) Parse(name, text string) (*dsl.Script, dsl.Diagnostics) {
	return dsl.Limits{Calls: l.Calls}.Parse(dsl.NewSource(name, text))
}

// A Server answers requests. Make it with New.
type Server struct {
	Options
	Logins  *logins.Book
	routes  []Route
	mux     *http.ServeMux
	public  *url.URL
	hosts   map[string]bool
	cross   *http.CrossOriginProtection
	handler http.Handler
	gate    *gate
	known   *known
	news    *news
	metrics *metrics
	beside  []func(context.Context)
	unready atomic.Bool // as /readyz found it the last time
	fit     fit         // of the store's shape
	// stopping says that the server was told to end, and still takes requests: see Limits.Linger.
	stopping atomic.Bool
	asked    atomic.Int64    // requests that are being answered, streams among them
	ctx      context.Context // of the server: sessions read within it
	stop     context.CancelFunc
	// Draining is closed when the server accepts nothing new: who listens to a stream comes back, to a
	// server that is there.
	Draining <-chan struct{}
	drain    func()
	after    sync.WaitGroup // counts work that continues behind an answer
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
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Brand.Name = cmp.Or(o.Brand.Name, "Verbatim")
	o.Limits = Limits{
		Requests: cmp.Or(o.Limits.Requests, 256), Streams: cmp.Or(o.Limits.Streams, 20_000), Wait: cmp.Or(o.Limits.Wait, 250*time.Millisecond),
		Rate: cmp.Or(o.Limits.Rate, 200), Burst: cmp.Or(o.Limits.Burst, 1000), Bodies: cmp.Or(o.Limits.Bodies, 256<<20), Script: cmp.Or(o.Limits.Script, 1<<20), Calls: cmp.Or(o.Limits.Calls, dsl.DefaultLimits.Calls), Drain: cmp.Or(o.Limits.Drain, 10*time.Second), Linger: o.Limits.Linger,
	}
	s := &Server{Options: o, public: public, hosts: map[string]bool{}, cross: http.NewCrossOriginProtection(), mux: http.NewServeMux(),
		Logins: &logins.Book{Store: o.Store, Clock: o.Clock}}
	for _, host := range append([]string{public.Host}, o.Hosts...) {
		s.hosts[strings.ToLower(host)] = true
	}
	if err := s.cross.AddTrustedOrigin(s.Origin()); err != nil {
		return nil, err
	}
	draining := make(chan struct{})
	s.Draining, s.drain = draining, sync.OnceFunc(func() { close(draining) })
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.metrics = newMetrics(s)
	s.gate = newGate(o.Limits, s.metrics.sheds)
	if o.Together {
		s.gate.lease = s.Logins.Lease
	}
	s.known, s.news = &known{all: map[string]remembered{}}, &news{s: s, listeners: map[*Listener]bool{}}
	s.Mount(s.own()...)
	s.handler = s.guard(http.HandlerFunc(s.dispatch))
	return s, nil
}

// Mount adds routes, before the server runs. It panics if two routes have one pattern.
func (s *Server) Mount(routes ...Route) {
	s.routes = append(s.routes, routes...)
	for _, r := range routes {
		s.mux.Handle(r.Pattern, s.answer(r))
	}
}

// Beside adds a function that Run runs beside the requests. It has to return when ctx ends.
func (s *Server) Beside(run func(ctx context.Context)) { s.beside = append(s.beside, run) }

// dispatch answers a request by its route. A path without a route is answered in the form of the API
// or as a page.
func (s *Server) dispatch(w http.ResponseWriter, r *http.Request) {
	if _, pattern := s.mux.Handler(r); pattern != "" {
		s.mux.ServeHTTP(w, r)
		return
	}
	told := &onlyHead{header: w.Header()} // 404, 405 with what is allowed, or where else
	s.mux.ServeHTTP(told, r)
	if told.status < 400 {
		w.WriteHeader(told.status)
		return
	}
	p := Problem{Status: told.status, Code: "not-found", Title: "there is nothing here", Next: "GET /v1/openapi.json lists what there is"}
	if p.Status == http.StatusMethodNotAllowed {
		p.Code, p.Title = "method", "this is not done by "+method(r.Method)
	}
	s.refuse(w, r, p)
}

// An onlyHead records the head of an answer and drops the body.
type onlyHead struct {
	header http.Header
	status int
}

func (h *onlyHead) Header() http.Header         { return h.header }
func (h *onlyHead) WriteHeader(status int)      { h.status = status }
func (h *onlyHead) Write(b []byte) (int, error) { return len(b), nil }

// Origin returns the URL without a slash at its end.
func (s *Server) Origin() string { return s.public.Scheme + "://" + s.public.Host }

// secure reports whether people reach the server by TLS.
func (s *Server) secure() bool { return s.public.Scheme == "https" }

// PalettesVersion is the beginning of the digest of palettes, by which people compare what a server has
// loaded with what lies in a folder.
func PalettesVersion(reg *verbs.Registry) string {
	digest := reg.Digest()
	return digest[:min(len(digest), 12)]
}

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
	secret, err := s.Logins.Link(ctx, principal, "", logins.Link)
	if err != nil {
		return "", err
	}
	return s.Origin() + "/sign-in/link?" + url.Values{"link": {secret}, "to": {to}}.Encode(), nil
}

// Housekeep deletes expired data of the server.
func (s *Server) Housekeep(ctx context.Context) error {
	return s.Logins.Housekeep(ctx)
}

// A Door says who may use a route.
type Door int

// The doors.
const (
	Open    Door = iota // anybody
	API                 // callers with a token, or signed in
	Program             // programs, which show a token
	Page                // people who are signed in; others are sent to sign in
)

// A Route is one route. Its zero fields say: for anybody, without a body, and no page.
type Route struct {
	Pattern string // of net/http: "POST /v1/run"
	Name    string // of a page, as tests and screenshots call it; "" of others
	Door    Door
	Body    int64 // the greatest size of a body, in bytes; 0 means no body
	Stream  bool  // it lasts as long as the client listens
	Upload  bool  // its body may take its time
	Whole   bool  // it reveals more than verbs do, so tokens limited to some verbs may not use it
	Does    string
	// Handle answers. An error is answered as a problem, or as a page that says so.
	Handle func(*Visit) error
	// Refuse writes a refusal, if another protocol defines its form; may be nil.
	Refuse func(*Visit, Problem)
}

// Handler makes a route answer as a handler of net/http does.
func Handler(h http.Handler) func(*Visit) error {
	return func(v *Visit) error {
		h.ServeHTTP(v.W, v.R)
		return nil
	}
}

// Routes lists all routes: the server's own, and those that were mounted.
func (s *Server) Routes() []Route { return s.routes }

func (s *Server) own() []Route {
	return []Route{
		{Pattern: "GET /healthz", Does: "Says that the process is there.", Handle: func(v *Visit) error { return v.Send(http.StatusOK, "text/plain; charset=utf-8", []byte("ok\n")) }},
		{Pattern: "GET /readyz", Does: "Says whether requests can be answered: the store is reached, migrated and not full, and the server is not ending.", Handle: s.readyz},
		{Pattern: "GET /metrics", Does: "Counts and durations, for Prometheus; for this machine only.", Handle: s.showMetrics},
		{Pattern: "GET " + pages.Assets + "{name}", Handle: (*Visit).asset},
		{Pattern: "POST /look", Body: 64 << 10, Handle: (*Visit).look},
		{Pattern: "GET /sign-in", Name: "sign-in", Handle: func(v *Visit) error { return v.signInPage(http.StatusOK, v.signIn()) }},
		{Pattern: "POST /sign-in/mail", Name: "sign-in-sent", Body: formSize, Handle: (*Visit).mailLink},
		{Pattern: "GET /sign-in/link", Name: "sign-in-link", Handle: (*Visit).showLink},
		{Pattern: "POST /sign-in/link", Name: "sign-in-over", Body: formSize, Handle: (*Visit).useLink},
		{Pattern: "GET /sign-in/openid", Name: "sign-in-openid", Handle: (*Visit).toOpenID},
		{Pattern: "GET /sign-in/openid/back", Name: "sign-in-back", Handle: (*Visit).fromOpenID},
		{Pattern: "POST /sign-out", Name: "sign-out", Body: formSize, Handle: (*Visit).signOut},
	}
}

// Run serves a listener until ctx ends, as a Front with this server alone does.
func (s *Server) Run(ctx context.Context, l net.Listener, certs *tls.Config) error {
	return NewFront(s).Run(ctx, l, certs)
}

// readyz says whether the server can answer requests.
func (s *Server) readyz(v *Visit) error {
	select {
	case <-s.Draining:
		return v.Send(http.StatusServiceUnavailable, "text/plain; charset=utf-8", []byte("ending\n"))
	default:
	}
	if s.stopping.Load() {
		return v.Send(http.StatusServiceUnavailable, "text/plain; charset=utf-8", []byte("stopping\n"))
	}
	ctx, cancel := context.WithTimeout(v.R.Context(), time.Second)
	defer cancel()
	err := s.ready(ctx)
	switch {
	case errors.Is(err, stores.ErrFull):
		return v.Send(http.StatusServiceUnavailable, "text/plain; charset=utf-8", []byte("the disk of the store is full\n"))
	case errors.Is(err, stores.ErrReplaced):
		return v.Send(http.StatusServiceUnavailable, "text/plain; charset=utf-8", []byte("the file of the store was replaced; start the server again\n"))
	case errors.Is(err, stores.ErrSchema), errors.Is(err, stores.ErrDenied):
		says := "not migrated\n"
		if unfit := (*Unfit)(nil); errors.As(err, &unfit) && unfit.Newer != "" {
			says += unfit.Newer + "\n"
		}
		return v.Send(http.StatusServiceUnavailable, "text/plain; charset=utf-8", []byte(says))
	case err != nil:
		return v.Send(http.StatusServiceUnavailable, "text/plain; charset=utf-8", []byte("the store does not answer\n"))
	}
	lines := []string{"ready", "palettes " + PalettesVersion(s.Registry)}
	for _, n := range s.notes(ctx) {
		lines = append(lines, n.Says)
	}
	text := strings.Join(lines, "\n") + "\n"
	if s.Meter != nil && s.Meter.down.Load() {
		// Requests are answered all the same: chats go on by phrases.
		text += "the model could not be asked the last time; the log says why\n"
	}
	return v.Send(http.StatusOK, "text/plain; charset=utf-8", []byte(text))
}

// ready returns why requests cannot be answered, nil if they can. The log has each reason once, and that it
// ended.
func (s *Server) ready(ctx context.Context) error {
	_, _, err := s.Store.Head(ctx)
	if err == nil {
		_, err = s.Logins.List(ctx, "")
	}
	if err == nil {
		err = s.fits(ctx)
	}
	if err == nil && s.Store.Full() {
		// Whether there is room by now, only a write tells.
		err = s.Logins.Try(ctx, "ready", "", math.MaxInt64, 24*time.Hour)
	}
	if sealer, ok := s.Store.(interface{ SealFailed() error }); ok && err == nil {
		err = sealer.SealFailed() // nothing is lost, and nothing can be proven until it works again
	}
	if was := s.unready.Swap(err != nil); err != nil && !was {
		s.logError("not ready", err)
	} else if err == nil && was {
		s.Log.Info("ready again")
	}
	return err
}

func (s *Server) notes(ctx context.Context) []Note {
	if s.Options.Notes == nil {
		return nil
	}
	return s.Options.Notes(ctx)
}

// readyTime is how long the store is given to say whether it is ready.
const readyTime = 5 * time.Second

// looks sees whether the server is ready without being asked for it, so that the log says why not.
func (s *Server) looks() {
	ctx, cancel := context.WithTimeout(s.ctx, readyTime)
	defer cancel()
	_ = s.ready(ctx) // the log says it
}
