package server

import (
	"bytes"
	"cmp"
	"context"
	encoding "encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sync/singleflight"

	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/http/server/logins"
	"verbatim/runtime/state/uploads"
	"verbatim/verbs"
)

// A Visit is one request and its caller: what a route is given to answer. It lasts as long as the
// request, and is not shared by goroutines.
type Visit struct {
	*Server
	W     http.ResponseWriter
	R     *http.Request
	Route *Route
	Caller
	shown credential // by which the caller came in
	leave func()     // gives the place of a stream back
}

// A Caller is the principal of a request, as far as it is proven: nobody at a route that is open.
type Caller struct {
	Principal string
	Token     string // the digest of the token or the certificate that was shown, "" for a person who is signed in
	Script    bool   // no model writes what comes with the token
	Login     logins.Login
	Only      []*verbs.Verb // that a token may use; nil is all
	Session   *engine.Session
}

// Deadlines of a request. A turn of a conversation may wait for a model.
const (
	readTime  = 15 * time.Second
	writeTime = 2 * time.Minute
	stallTime = 30 * time.Second // of an upload, and of a stream that is not read
)

// answer serves a route: it checks the caller, reads a body of at most the route's size, and waits for a
// free place.
func (s *Server) answer(route Route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requestOf(r.Context()).route = route.Pattern
		v := &Visit{Server: s, W: w, R: r, Route: &route}
		c := http.NewResponseController(w) // without a connection there are no deadlines
		r.Body = http.MaxBytesReader(w, r.Body, route.Body)
		// The caller is known before anything that they send is read.
		if err := v.enters(); err != nil {
			if r.ContentLength != 0 {
				w.Header().Set("Connection", "close") // or net/http reads the body before it answers
			}
			v.fail(err)
			return
		}
		if r.ContentLength != 0 && !route.Upload {
			// The body is read before a place is taken, so a slow sender blocks no other request.
			from := ""
			if route.Door == Open {
				from = s.address(r)
			}
			give, err := s.gate.hold(r, c, from)
			defer give()
			if err != nil {
				v.fail(err)
				return
			}
		}
		if route.Door != Open || route.Body > 0 {
			leave, err := s.gate.enter(r.Context(), route.Stream)
			if err != nil {
				v.fail(err)
				return
			}
			switch {
			case route.Stream: // it may outlast this
				v.W, v.leave = &prompt{w}, leave
				defer func() { v.leave() }()
			case route.Upload:
				defer leave()
			default:
				// The answer is sent after the place is free, so a slow reader blocks none either.
				answer := &held{ResponseWriter: w}
				v.W = answer
				defer answer.send(c)
				defer leave()
				_ = c.SetWriteDeadline(time.Now().Add(writeTime))
			}
		}
		if err := route.Handle(v); err != nil {
			v.fail(err)
		}
	})
}

// Enter waits shortly for one of the places for work, and returns the function that gives it back. A
// route that streams holds no such place: it takes one for each piece of its work.
func (s *Server) Enter(ctx context.Context) (leave func(), err error) {
	return s.gate.enter(ctx, false)
}

// A prompt answer has to be read without delay: a client that does not read is cut off.
type prompt struct{ http.ResponseWriter }

func (p *prompt) Write(b []byte) (int, error) {
	_ = http.NewResponseController(p.ResponseWriter).SetWriteDeadline(time.Now().Add(stallTime))
	return p.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (p *prompt) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// errBusy asks a client that got no place to come back.
var errBusy = Problem{Status: http.StatusServiceUnavailable, Code: "busy", Title: "the server has too much to do", Next: "try again in a second", Retry: 1}

// A held answer is sent when it is complete, or from the first flush on.
type held struct {
	http.ResponseWriter
	status int
	body   []byte
	direct bool
}

func (h *held) WriteHeader(status int) {
	switch {
	case h.direct || status < 200:
		h.ResponseWriter.WriteHeader(status)
	case h.status == 0:
		h.status = status
	}
}

func (h *held) Write(b []byte) (int, error) {
	if h.direct {
		return h.ResponseWriter.Write(b)
	}
	h.body = append(h.body, b...)
	return len(b), nil
}

// FlushError is called by http.ResponseController.
func (h *held) FlushError() error {
	h.pass()
	return http.NewResponseController(h.ResponseWriter).Flush()
}

// Unwrap lets http.ResponseController reach the connection.
func (h *held) Unwrap() http.ResponseWriter { return h.ResponseWriter }

func (h *held) pass() {
	if h.direct {
		return
	}
	h.direct = true
	if h.status != 0 {
		h.ResponseWriter.WriteHeader(h.status)
	}
	if len(h.body) > 0 {
		_, _ = h.ResponseWriter.Write(h.body)
	}
	h.body = nil
}

func (h *held) send(c *http.ResponseController) {
	if !h.direct && len(h.body) > 0 && h.Header().Get("Content-Length") == "" {
		h.Header().Set("Content-Length", strconv.Itoa(len(h.body)))
	}
	_ = c.SetWriteDeadline(time.Now().Add(stallTime))
	h.pass()
}

// errSignIn sends a person to the sign-in page.
var errSignIn = Problem{Status: http.StatusUnauthorized, Code: "sign-in", Title: "sign in first"}

// enters identifies the caller and checks that they may use the route.
func (v *Visit) enters() (err error) {
	if v.Route.Door == Open {
		return nil
	}
	if v.shown, err = v.credential(); err != nil {
		return err
	}
	v.Caller, err = v.identify()
	switch {
	case err != nil:
		return err
	case !v.gate.lets(v.R.Context(), "as "+v.Principal, atOnce, time.Now()):
		return errTooMany
	case v.Only != nil && v.Route.Whole:
		return Problem{Status: http.StatusForbidden, Code: "not-permitted", Title: "this token is good for some verbs, and for nothing else", Next: "GET /v1/verbs lists them"}
	case v.Token == "" && v.Route.Door == Program:
		return errToken
	}
	return nil
}

// Again looks the caller up once more, for an answer that lasts, and returns their session as it is
// now. gone says that they may not come in any more.
func (v *Visit) Again() (s *engine.Session, gone bool, err error) {
	c, err := v.identify()
	p := ProblemOf(err)
	return c.Session, p.Status == http.StatusUnauthorized || p.Status == http.StatusForbidden, err
}

func (v *Visit) identify() (Caller, error) {
	return v.known.of(v.shown.digest, func() (Caller, error) { return v.finds(v.shown) })
}

// finds looks up the holder of a credential. The session outlives the request, and serves the caller's
// next ones.
func (v *Visit) finds(k credential) (c Caller, err error) {
	ctx, cancel := context.WithTimeout(v.ctx, readTime)
	defer cancel()
	if k.token != "" {
		c, err = v.byToken(ctx, k.token)
	} else if c.Login, err = v.Logins.Find(ctx, k.secret); errors.Is(err, logins.ErrOver) {
		return c, errSignIn
	} else {
		c.Principal = c.Login.Principal
	}
	if err == nil {
		c.Session, err = v.Engine.Session(v.ctx, c.Principal)
	}
	if err != nil {
		return c, err
	}
	c.proves(c.Session)
	return c, nil
}

// proves tells a session what is proven of its principal, and to which verbs their token is limited.
func (c *Caller) proves(s *engine.Session) {
	if c.Only != nil {
		s.Narrow(c.Only)
	}
	if c.Token != "" {
		s.ByProgram()
	}
	s.Prove(c.Login.Proven)
}

// A credential is what a caller showed.
type credential struct {
	secret, digest string
	token          string // the digest of a token or a certificate, "" of a login
}

// credential returns the credential of a request. A token comes before a certificate, and both before a
// cookie, so that a program never acts as a person by accident.
func (v *Visit) credential() (credential, error) {
	if given := v.R.Header.Values("Authorization"); len(given) > 0 {
		kind, secret, _ := strings.Cut(given[0], " ")
		if len(given) > 1 || !strings.EqualFold(kind, "Bearer") || secret == "" || v.Route.Door == Page {
			return credential{}, errToken
		}
		known := logins.Digest(secret)
		return credential{secret, "token " + known, known}, nil
	}
	// The TLS handshake proved that the client has the certificate's key.
	if v.Certificates && v.R.TLS != nil && len(v.R.TLS.PeerCertificates) > 0 && v.Route.Door != Page {
		shown := v.R.TLS.PeerCertificates[0]
		if now := v.Clock(); now.Before(shown.NotBefore) || now.After(shown.NotAfter) {
			return credential{}, errToken
		}
		known := logins.CertificateDigest(shown.Raw)
		return credential{"", "token " + known, known}, nil
	}
	cookie, err := v.R.Cookie(v.cookieName(cookieLogin))
	if err != nil || cookie.Value == "" {
		return credential{}, errSignIn
	}
	return credential{cookie.Value, "login " + logins.Digest(cookie.Value), ""}, nil
}

// errToken answers an unknown, expired, revoked or foreign token.
var errToken = Problem{Status: http.StatusUnauthorized, Code: "no-such-token", Title: "that is no token of this server", Next: "ask an administrator for one"}

func (v *Visit) byToken(ctx context.Context, digest string) (c Caller, err error) {
	if v.Tokens == nil {
		return c, errToken
	}
	if c, err = v.tries(ctx, digest, v.address(v.R)); errors.Is(err, ErrNobody) {
		err = errToken
	}
	return c, err
}

// tries returns the holder of a token by its digest, and counts attempts: in the store, for all
// processes. All failures look the same.
func (s *Server) tries(ctx context.Context, digest, from string) (c Caller, err error) {
	if c, err = s.holds(ctx, digest); errors.Is(err, ErrNobody) {
		err = cmp.Or(s.Logins.Try(ctx, "token", from, 30, time.Minute), err)
	}
	return c, err
}

// holds returns the holder of a token by its digest; ErrNobody if the token is not valid.
func (s *Server) holds(ctx context.Context, digest string) (c Caller, err error) {
	t, err := s.Tokens(ctx, digest)
	if err == nil && (!sameServer(t.Audience, s.Origin()) || !s.Clock().Before(t.Expires)) {
		err = ErrNobody
	}
	if err != nil {
		return c, err
	}
	c.Principal, c.Token, c.Script = t.Principal, digest, t.Script
	if t.Verbs != nil {
		c.Only = []*verbs.Verb{}
		for _, name := range t.Verbs {
			if verb := s.Registry.Verb(name); verb != nil {
				c.Only = append(c.Only, verb)
			}
		}
	}
	return c, nil
}

// sameServer reports whether two URLs are those of one server: on one machine it has the names
// localhost, 127.0.0.1 and [::1].
func sameServer(a, b string) bool {
	if a == b {
		return true
	}
	x, err := url.Parse(a)
	y, other := url.Parse(b)
	return err == nil && other == nil && x.Scheme == y.Scheme && x.Port() == y.Port() && loopback(x.Hostname()) && loopback(y.Hostname())
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// ByModel reports whether a program sends this, for all that is known what a model wrote.
func (c *Caller) ByModel() bool { return c.Token != "" && !c.Script }

// Holder returns the holder of a token by its digest, with a session, for work that nobody waits for;
// ErrNobody if the token is not valid any more.
func (s *Server) Holder(ctx context.Context, digest string) (c Caller, err error) {
	if c, err = s.holds(ctx, digest); err == nil {
		c.Session, err = s.Engine.Session(ctx, c.Principal)
	}
	if err == nil {
		c.proves(c.Session)
	}
	return c, err
}

// Bearer returns the principal of an API token, for a handler that received the token somewhere
// else than in a header. ctx is that of the request. A token that is limited to some verbs is
// refused. It fails if the token is unknown, or if too many were tried.
func (s *Server) Bearer(ctx context.Context, secret string) (principal string, err error) {
	if s.Tokens == nil || secret == "" {
		return "", ErrNobody
	}
	from := ""
	if q := requestOf(ctx); q != nil {
		from = q.from
	}
	c, err := s.tries(ctx, logins.Digest(secret), from)
	if err == nil && c.Only != nil {
		return "", ErrNobody
	}
	return c.Principal, err
}

// EndLogin signs the caller out where they have the login with an id.
func (v *Visit) EndLogin(id string) error {
	v.known.forget("login " + id)
	return v.Logins.EndOne(v.R.Context(), v.Principal, id)
}

// LogError logs a failure that the caller is told of in a sentence alone, with the operator's next step where
// the failure knows one.
func (v *Visit) LogError(what string, err error) {
	v.logError(what, err, "id", requestOf(v.R.Context()).id)
	if v.fit.suspects(err) {
		v.after.Go(v.looks)
	}
}

func (s *Server) logError(what string, err error, attrs ...any) {
	attrs = append(attrs, "error", err.Error())
	var knows interface{ Next() string }
	if errors.As(err, &knows) && knows.Next() != "" {
		attrs = append(attrs, "next", knows.Next())
	}
	s.Log.Error(what, attrs...)
}

// fail answers with an error.
func (v *Visit) fail(err error) {
	p := ProblemOf(err)
	if p.Status >= 500 {
		v.LogError("failed", err)
	}
	if p.Code == "unknown-principal" || p.Code == "rights-changed" {
		v.known.forget(v.shown.digest)
	}
	switch {
	case v.Route.Refuse != nil:
		v.Route.Refuse(v, p)
	case v.Route.Door == Page, v.Route.Door == Open && v.Route.Name != "":
		v.failPage(p)
	default:
		p.Send(v.W)
	}
}

// SignInAt returns the sign-in page that leads on to another.
func SignInAt(to string) string { return "/sign-in?" + url.Values{"to": {to}}.Encode() }

// back checks a path to return to: it must be on this server.
func back(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.Host != "" || u.Scheme != "" || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.ContainsAny(to, "\\\r\n") {
		return "/"
	}
	return to
}

// See redirects to a path of this server.
func (v *Visit) See(to string) error {
	http.Redirect(v.W, v.R, to, http.StatusSeeOther)
	return nil
}

// Named opens the caller's session of that name, or begins it.
func (v *Visit) Named(name string) (*engine.Session, error) {
	s, err := v.Engine.Visit(v.R.Context(), v.Principal, engine.Visit{Name: name})
	if err == nil {
		v.proves(s)
	}
	return s, err
}

// Converse continues the conversation of a session.
func (v *Visit) Converse(s *engine.Session) (*dialog.Conversation, error) {
	o := v.Talk(s)
	o.Session = s
	c, err := dialog.New(o)
	if err == nil {
		err = c.Resume(v.R.Context())
	}
	return c, err
}

// Entry returns the number of an entry of the journal, which the path has as {entry}.
func (v *Visit) Entry() (int64, error) {
	n, err := strconv.ParseInt(v.R.PathValue("entry"), 10, 64)
	if err != nil || n < 1 {
		return 0, v.NotFound()
	}
	return n, nil
}

// Key returns the Idempotency-Key of a request, "" where it has none.
func (v *Visit) Key() (string, error) {
	switch keys := v.R.Header.Values("Idempotency-Key"); {
	case len(keys) == 0:
		return "", nil
	case len(keys) > 1:
		return "", BadBody("the request has several Idempotency-Keys", "send one: what is sent twice under it is done once")
	case len(keys[0]) > 200:
		return "", BadBody("the Idempotency-Key is longer than 200 bytes", "a UUID does")
	default:
		return keys[0], nil
	}
}

// Body decodes the JSON of a request; each member occurs once.
func (v *Visit) Body(into any) error {
	if kind, _, err := mime.ParseMediaType(v.R.Header.Get("Content-Type")); err != nil || kind != "application/json" && !strings.HasSuffix(kind, "+json") {
		return Problem{Status: http.StatusUnsupportedMediaType, Code: "bad-body", Title: "the body is not application/json", Next: "set Content-Type"}
	}
	text, err := io.ReadAll(v.R.Body)
	if err != nil {
		return CutShort(err)
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return BadBody("the body is empty", "send a JSON object")
	}
	// Two readers may take a member that occurs twice, or in other capitals, or a text that is no
	// Unicode differently, for instance a proxy and this server.
	err = json.Unmarshal(text, into, json.RejectUnknownMembers(true))
	var bad *json.SemanticError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, json.ErrUnknownName) && errors.As(err, &bad):
		return BadBody(fmt.Sprintf("the body has a member that means nothing here: %q", bad.JSONPointer.LastToken()), "see /v1/openapi.json")
	case errors.As(err, &bad):
		return BadBody("the member "+cmp.Or(bad.JSONPointer.LastToken(), "at the top")+" has a value of another type", "see /v1/openapi.json")
	}
	why := "the body is no JSON"
	var at *jsontext.SyntacticError
	if errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &at) {
		why = fmt.Sprintf("the body is no JSON that is read in one way alone: the member %q stands twice", at.JSONPointer.LastToken())
	}
	return BadBody(why, "send a JSON object in UTF-8, each member once")
}

// JSON answers with a JSON document.
func (v *Visit) JSON(status int, document any) error {
	text, err := encoding.Marshal(document)
	if err != nil {
		return err
	}
	return v.Send(status, "application/json", append(text, '\n'))
}

// Send answers with a text that nobody changes, so it is not copied.
func (v *Visit) Send(status int, kind string, text []byte) error {
	if kind != "" {
		v.W.Header().Set("Content-Type", kind)
	}
	v.W.WriteHeader(status)
	if h, ok := v.W.(*held); ok && !h.direct && h.body == nil {
		h.body = text[:len(text):len(text)]
		return nil
	}
	_, _ = v.W.Write(text)
	return nil
}

// A known caches for a second who holds a credential. So a credential that one process revokes ends
// in the others within a second.
type known struct {
	asking singleflight.Group // concurrent look-ups share one answer

	mu    sync.Mutex
	all   map[string]remembered
	swept time.Time
}

type remembered struct {
	Caller
	until time.Time
}

// fresh is how long an entry is valid.
const fresh = time.Second

// of returns the holder of a digest, and calls find if none is cached.
func (k *known) of(digest string, find func() (Caller, error)) (Caller, error) {
	k.mu.Lock()
	c, ok := k.all[digest]
	k.mu.Unlock()
	if ok && time.Now().Before(c.until) {
		return c.Caller, nil
	}
	// The look-up runs on a goroutine of its own: the stacks of streams must stay small.
	found := <-k.asking.DoChan(digest, func() (any, error) {
		c, err := find()
		if err == nil {
			k.put(digest, c)
		}
		return c, err
	})
	return found.Val.(Caller), found.Err
}

func (k *known) put(digest string, c Caller) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	if now.Sub(k.swept) >= fresh {
		for d, c := range k.all {
			if !now.Before(c.until) {
				delete(k.all, d)
			}
		}
		k.swept = now
	}
	k.all[digest] = remembered{c, now.Add(fresh)}
}

func (k *known) forget(digest string) {
	k.mu.Lock()
	delete(k.all, digest)
	k.mu.Unlock()
}

// Uploads are streamed; no file is held in memory.

// A patient reader sets a deadline for each part, and none for the whole.
type patient struct {
	io.Reader
	c *http.ResponseController
}

func (p patient) Read(b []byte) (int, error) {
	_ = p.c.SetReadDeadline(time.Now().Add(stallTime))
	return p.Reader.Read(b)
}

// Slowly returns the body of a request with a deadline for each part.
func (v *Visit) Slowly() io.Reader { return patient{v.R.Body, http.NewResponseController(v.W)} }

// TakesFiles reports whether this server accepts files.
func (s *Server) TakesFiles() bool { return s.Uploads != nil && s.Uploads.Scanner != nil }

// ErrNoUpload says that a file does not exist, or is not the caller's.
var ErrNoUpload = Problem{Status: http.StatusNotFound, Code: "unknown-upload", Title: "there is no such file of yours"}

// Give sends a file. shown asks to display it, which only a PDF may be: a browser shows it in a
// viewer of its own.
func (v *Visit) Give(u *uploads.Upload, shown bool) error {
	_, content, err := v.Uploads.Open(v.R.Context(), u.Reference())
	if err != nil {
		return err
	}
	defer content.Close()
	h := v.W.Header()
	h.Set("Content-Type", u.Type)
	h.Set("Content-Length", strconv.FormatInt(u.Size, 10))
	disposition := "attachment"
	h.Set("Content-Security-Policy", "sandbox")
	if shown && u.Type == "application/pdf" {
		disposition = "inline"
		h.Set("Content-Security-Policy", "frame-ancestors 'none'") // a viewer shows nothing in a sandbox
	}
	h.Set("Content-Disposition", mime.FormatMediaType(disposition, map[string]string{"filename": u.Name}))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "private, no-store")
	c := http.NewResponseController(v.W)
	if err := c.Flush(); err != nil {
		return err
	}
	for b := make([]byte, 1<<16); ; {
		n, err := content.Read(b)
		_ = c.SetWriteDeadline(time.Now().Add(stallTime))
		if _, gone := v.W.Write(b[:n]); gone != nil || err == io.EOF {
			return nil
		}
		if err != nil {
			panic(http.ErrAbortHandler) // half a file must not look like a whole one
		}
	}
}
