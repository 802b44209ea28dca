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
	"verbatim/verbs"
)

// A visit is one request and its caller.
type visit struct {
	*Server
	w     http.ResponseWriter
	r     *http.Request
	route *Route
	leave func() // gives the place of a stream back
	caller
}

// A caller is the principal of a request, as far as it is proven.
type caller struct {
	principal string
	secret    string // of the login's cookie, "" for a token
	token     string // the digest of a token, "" for a login
	login     logins.Login
	only      []*verbs.Verb // that a token may use; nil is all
	session   *engine.Session
}

// Deadlines of a request. A turn of a conversation may wait for a model.
const (
	readTime  = 15 * time.Second
	writeTime = 2 * time.Minute
	stallTime = 30 * time.Second // of an upload, and of a stream that is not read
)

// answer serves a route: it waits for a free place, reads a body of at most the route's size, and
// checks the caller.
func (s *Server) answer(route Route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requestOf(r.Context()).route = route.Pattern
		v := &visit{Server: s, w: w, r: r, route: &route}
		c := http.NewResponseController(w) // without a connection there are no deadlines
		r.Body = http.MaxBytesReader(w, r.Body, route.Body)
		if r.ContentLength != 0 && !route.Upload {
			// The body is read before a place is taken, so a slow sender blocks no other request.
			give, err := s.gate.hold(r, c)
			defer give()
			if err != nil {
				v.fail(err)
				return
			}
		}
		if route.Door != Open || route.Body > 0 {
			leave, ok := s.gate.enter(r.Context(), route.Stream)
			if !ok {
				s.metrics.shed()
				v.fail(errBusy)
				return
			}
			switch {
			case route.Stream: // it may outlast this
				v.leave = leave
				defer func() { v.leave() }()
			case route.Upload:
				defer leave()
			default:
				// The answer is sent after the place is free, so a slow reader blocks none either.
				answer := &held{ResponseWriter: w}
				v.w = answer
				defer answer.send(c)
				defer leave()
				_ = c.SetWriteDeadline(time.Now().Add(writeTime))
			}
		}
		if err := v.enters(); err != nil {
			v.fail(err)
			return
		}
		if err := route.handle(v); err != nil {
			v.fail(err)
		}
	})
}

// errBusy asks a client that got no place to come back.
var errBusy = problem{Status: http.StatusServiceUnavailable, Code: "busy", Title: "the server has too much to do", Next: "try again in a second", retry: 1}

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
var errSignIn = problem{Status: http.StatusUnauthorized, Code: "sign-in", Title: "sign in first"}

// enters identifies the caller and checks that they may use the route.
func (v *visit) enters() error {
	if v.route.Door == Open {
		return nil
	}
	key, err := v.shown()
	if err != nil {
		return err
	}
	v.caller, err = v.known.of(key.digest, func() (caller, error) { return v.finds(key) })
	if err == nil && !v.gate.lets("as "+v.principal, atOnce, time.Now()) {
		return errTooMany
	}
	if err == nil && v.only != nil && v.route.Whole {
		return problem{Status: http.StatusForbidden, Code: "not-permitted", Title: "this token is good for some verbs, and for nothing else", Next: "GET /v1/verbs lists them"}
	}
	return err
}

// finds looks up the holder of a key. The session outlives the request, and serves the caller's
// next ones.
func (v *visit) finds(k key) (c caller, err error) {
	ctx, cancel := context.WithTimeout(v.ctx, readTime)
	defer cancel()
	if k.token != "" {
		c, err = v.byToken(ctx, k)
	} else {
		c.secret = k.secret
		if c.login, err = v.book.Find(ctx, k.secret); errors.Is(err, logins.ErrOver) {
			return c, errSignIn
		}
		c.principal = c.login.Principal
	}
	if err != nil {
		return c, err
	}
	if c.session, err = v.Engine.Session(v.ctx, c.principal); err != nil {
		return c, err
	}
	if c.only != nil {
		c.session.Narrow(c.only)
	}
	c.session.Prove(c.login.Proven)
	return c, nil
}

// A key is a credential.
type key struct {
	secret, digest string
	token          string // the digest of a token or a certificate, "" of a login
}

// shown returns the credential of a request. A token comes before a certificate, and both before a
// cookie, so that a program never acts as a person by accident.
func (v *visit) shown() (key, error) {
	if given := v.r.Header.Values("Authorization"); len(given) > 0 {
		kind, secret, _ := strings.Cut(given[0], " ")
		if len(given) > 1 || !strings.EqualFold(kind, "Bearer") || secret == "" || v.route.Door == Page {
			return key{}, errToken
		}
		known := logins.Digest(secret)
		return key{secret, "token " + known, known}, nil
	}
	// The TLS handshake proved that the client has the certificate's key.
	if v.Certificates && v.r.TLS != nil && len(v.r.TLS.PeerCertificates) > 0 && v.route.Door != Page {
		shown := v.r.TLS.PeerCertificates[0]
		if now := v.Clock(); now.Before(shown.NotBefore) || now.After(shown.NotAfter) {
			return key{}, errToken
		}
		known := logins.CertificateDigest(shown.Raw)
		return key{"", "token " + known, known}, nil
	}
	cookie, err := v.r.Cookie(v.cookieName(cookieLogin))
	if err != nil || cookie.Value == "" {
		return key{}, errSignIn
	}
	return key{cookie.Value, "login " + logins.Digest(cookie.Value), ""}, nil
}

// errToken answers an unknown, expired, revoked or foreign token.
var errToken = problem{Status: http.StatusUnauthorized, Code: "no-such-token", Title: "that is no token of this server", Next: "ask an administrator for one"}

func (v *visit) byToken(ctx context.Context, k key) (c caller, err error) {
	if v.Tokens == nil {
		return c, errToken
	}
	c, err = v.holds(ctx, k.token)
	if errors.Is(err, ErrNobody) {
		// Attempts are counted in the store, for all processes, and all failures look the same.
		if err := v.book.Try(ctx, "token", v.address(v.r), 30, time.Minute); err != nil {
			return c, err
		}
		return c, errToken
	}
	return c, err
}

// holds returns the holder of a token by its digest; ErrNobody if the token is not valid.
func (s *Server) holds(ctx context.Context, digest string) (c caller, err error) {
	t, err := s.Tokens(ctx, digest)
	if err == nil && (t.Audience != s.origin() || !s.Clock().Before(t.Expires)) {
		err = ErrNobody
	}
	if err != nil {
		return c, err
	}
	c.principal, c.token = t.Principal, digest
	if t.Verbs != nil {
		c.only = []*verbs.Verb{}
		for _, name := range t.Verbs {
			if verb := s.Registry.Verb(name); verb != nil {
				c.only = append(c.only, verb)
			}
		}
	}
	return c, nil
}

// fail answers with an error.
func (v *visit) fail(err error) {
	p := problemOf(err)
	if p.Code == errToken.Code {
		v.w.Header().Set("WWW-Authenticate", `Bearer realm="verbatim"`)
	}
	if p.Status >= 500 {
		v.Log.Error("failed", "id", requestOf(v.r.Context()).id, "error", err.Error())
	}
	if p.Code == "unknown-principal" || p.Code == "rights-changed" {
		if k, err := v.shown(); err == nil {
			v.known.forget(k.digest)
		}
	}
	if v.route.refuse != nil {
		v.route.refuse(v, p)
		return
	}
	if v.route.Door == API || v.route.Name == "" && v.route.Door == Open {
		v.Server.problem(v.w, p)
		return
	}
	v.failPage(p)
}

// signInAt returns the sign-in page that leads on to another.
func signInAt(to string) string { return "/sign-in?" + url.Values{"to": {to}}.Encode() }

// back checks a path to return to: it must be on this server.
func back(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.Host != "" || u.Scheme != "" || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.ContainsAny(to, "\\\r\n") {
		return "/"
	}
	return to
}

// see redirects to a page.
func (v *visit) see(to string) error {
	http.Redirect(v.w, v.r, to, http.StatusSeeOther)
	return nil
}

// named opens the caller's session of that name, or begins it.
func (v *visit) named(name string) (*engine.Session, error) {
	s, err := v.Engine.Visit(v.r.Context(), v.principal, engine.Visit{Name: name})
	if err != nil {
		return nil, err
	}
	if v.only != nil {
		s.Narrow(v.only)
	}
	s.Prove(v.login.Proven)
	return s, nil
}

// talk continues the conversation of a session.
func (v *visit) talk(s *engine.Session) (*dialog.Conversation, error) {
	o := v.Talk(s)
	o.Session = s
	c, err := dialog.New(o)
	if err == nil {
		err = c.Resume(v.r.Context())
	}
	return c, err
}

// isJSON reports whether a body is declared as JSON.
func isJSON(r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json"))
}

// key returns the Idempotency-Key of a request, "" where it has none.
func (v *visit) key() (string, error) {
	switch keys := v.r.Header.Values("Idempotency-Key"); {
	case len(keys) == 0:
		return "", nil
	case len(keys) > 1:
		return "", badBody("the request has several Idempotency-Keys", "send one: what is sent twice under it is done once")
	case len(keys[0]) > 200:
		return "", badBody("the Idempotency-Key is longer than 200 bytes", "a UUID does")
	default:
		return keys[0], nil
	}
}

// badBody is the error of an unreadable body.
func badBody(why, next string) error {
	return problem{Status: http.StatusBadRequest, Code: "bad-body", Title: why, Next: next}
}

// body decodes the JSON of a request; each member occurs once.
func (v *visit) body(into any) error {
	if !isJSON(v.r) {
		return problem{Status: http.StatusUnsupportedMediaType, Code: "bad-body", Title: "the body is not application/json", Next: "set Content-Type"}
	}
	text, err := io.ReadAll(v.r.Body)
	if err != nil {
		return cutShort(err)
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return badBody("the body is empty", "send a JSON object")
	}
	// Two readers may take a member that occurs twice, or in other capitals, or a text that is no
	// Unicode differently, for instance a proxy and this server.
	err = json.Unmarshal(text, into, json.RejectUnknownMembers(true))
	var bad *json.SemanticError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, json.ErrUnknownName) && errors.As(err, &bad):
		return badBody(fmt.Sprintf("the body has a member that means nothing here: %q", bad.JSONPointer.LastToken()), "see /v1/openapi.json")
	case errors.As(err, &bad):
		return badBody("the member "+cmp.Or(bad.JSONPointer.LastToken(), "at the top")+" has a value of another type", "see /v1/openapi.json")
	}
	why := "the body is no JSON"
	var at *jsontext.SyntacticError
	if errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &at) {
		why = fmt.Sprintf("the body is no JSON that is read in one way alone: the member %q stands twice", at.JSONPointer.LastToken())
	}
	return badBody(why, "send a JSON object in UTF-8, each member once")
}

// cutShort converts an error of reading a body.
func cutShort(err error) error {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return err
	}
	return badBody("the body was cut short", "send it again")
}

// json answers with a JSON document.
func (v *visit) json(status int, document any) error {
	text, err := jsonText(document)
	if err != nil {
		return err
	}
	return v.whole(status, "application/json", text)
}

func jsonText(document any) ([]byte, error) {
	var b bytes.Buffer
	enc := encoding.NewEncoder(&b)
	enc.SetEscapeHTML(true)
	err := enc.Encode(document)
	return b.Bytes(), err
}

// whole answers with a text that nobody changes, so it is not copied.
func (v *visit) whole(status int, kind string, text []byte) error {
	v.w.Header().Set("Content-Type", kind)
	v.w.WriteHeader(status)
	if h, ok := v.w.(*held); ok && !h.direct && h.body == nil {
		h.body = text[:len(text):len(text)]
		return nil
	}
	_, _ = v.w.Write(text)
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
	caller
	until time.Time
}

// fresh is how long an entry is valid.
const fresh = time.Second

func newKnown() *known { return &known{all: map[string]remembered{}} }

// of returns the holder of a digest, and calls find if none is cached.
func (k *known) of(digest string, find func() (caller, error)) (caller, error) {
	k.mu.Lock()
	c, ok := k.all[digest]
	k.mu.Unlock()
	if ok && time.Now().Before(c.until) {
		return c.caller, nil
	}
	// The look-up runs on a goroutine of its own: the stacks of streams must stay small.
	found := <-k.asking.DoChan(digest, func() (any, error) {
		c, err := find()
		if err == nil {
			k.put(digest, c)
		}
		return c, err
	})
	return found.Val.(caller), found.Err
}

func (k *known) put(digest string, c caller) {
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
