package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"regexp"
	goruntime "runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
	"verbatim/stores/receipt"
)

// The checks that every request passes first.

// policy is the content security policy of pages: they load only what this server serves, and run
// no inline code.
const policy = "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// A request holds the facts about an HTTP request that are known before its caller is.
type request struct {
	id      string
	trace   string // of W3C traceparent, "" where none was given
	from    string // the address of the client
	route   string // the pattern that it matched, for logs and counts
	status  int
	bytes   int64
	started time.Time
}

// matched returns the route, or "none".
func (q *request) matched() string { return cmp.Or(q.route, "none") }

type requestKey struct{}

func requestOf(ctx context.Context) *request {
	r, _ := ctx.Value(requestKey{}).(*request)
	return r
}

// traceparent is https://www.w3.org/TR/trace-context/, version 00.
var traceparent = regexp.MustCompile(`^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$`)

// guard wraps all routes. It gives the request an id, limits how many a client sends, refuses other
// hosts, compressed bodies and forms of other sites, and logs and counts the outcome.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := &request{id: newID(), started: time.Now(), from: s.address(r)}
		if m := traceparent.FindStringSubmatch(r.Header.Get("Traceparent")); m != nil && strings.Trim(m[1], "0") != "" {
			q.trace = m[1]
		}
		h := w.Header()
		h.Set("X-Request-Id", q.id)
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if s.secure() {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		if r.ContentLength != 0 {
			// A request that is refused unread gets a deadline too.
			_ = http.NewResponseController(w).SetReadDeadline(q.started.Add(readTime))
		}
		t := &teller{ResponseWriter: w, request: q}
		defer s.told(r, q)
		if s.Meter != nil && s.Meter.Spans != nil {
			ctx, span := s.Meter.Spans.request(r)
			r = r.WithContext(ctx)
			defer func() { answered(span, method(r.Method), q.matched(), q) }()
		}
		defer s.recovered(t, q)
		r = r.WithContext(context.WithValue(r.Context(), requestKey{}, q))
		switch {
		case !s.hosts[strings.ToLower(r.Host)] && !byHand(r):
			came, answers := receipt.Safe(r.Host[:min(len(r.Host), 100)]), strings.Join(slices.Sorted(maps.Keys(s.hosts)), ", ")
			s.Log.Info("other host", "id", q.id, "came", came, "answers", answers)
			Problem{Status: http.StatusMisdirectedRequest, Code: "other-host", Title: fmt.Sprintf("this server does not answer to %q, but to %s", came, answers),
				Next: "pass the header Host as it came, with its port; or start the server with this --url"}.Send(t)
		case r.Header.Get("Content-Encoding") != "" && r.Header.Get("Content-Encoding") != "identity":
			Problem{Status: http.StatusUnsupportedMediaType, Code: "encoded", Title: "bodies are taken as they are, not compressed"}.Send(t)
		case s.cross.Check(r) != nil:
			Problem{Status: http.StatusForbidden, Code: "cross-origin", Title: "this was sent by a page of another site"}.Send(t)
		case !probes(r) && !s.gate.lets(r.Context(), "from "+s.address(r), 1, time.Now()):
			s.refuse(t, r, errTooMany)
		default:
			next.ServeHTTP(t, r)
		}
	})
}

// probes reports whether a program asks how the server is. Who asks much from the same address does not make it
// look ill.
func probes(r *http.Request) bool {
	return r.Method == http.MethodGet && (r.URL.Path == "/healthz" || r.URL.Path == "/readyz" || r.URL.Path == "/metrics")
}

// refuse answers a request that reached no route: a person gets a page.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, p Problem) {
	if strings.HasPrefix(r.URL.Path, "/v1/") || !strings.Contains(r.Header.Get("Accept"), "text/html") {
		p.Send(w)
		return
	}
	(&Visit{Server: s, W: w, R: r, Route: &Route{Name: "elsewhere", Door: Open}}).failPage(p)
}

// byHand reports whether somebody at this machine looks how the server does, by an address that no page of
// another site can have.
func byHand(r *http.Request) bool {
	host := (&url.URL{Host: r.Host}).Hostname()
	return onlyHere(r) && loopback(host) && probes(r)
}

// onlyHere reports whether a request comes from this machine, and from no proxy on it.
func onlyHere(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	ip := net.ParseIP(host)
	return err == nil && ip != nil && ip.IsLoopback() && r.Header.Get("X-Forwarded-For") == ""
}

func newID() string {
	var b [8]byte
	rand.Read(b[:]) // never fails, by its documentation
	return hex.EncodeToString(b[:])
}

// address returns the client's address. A trusted proxy appends its client to X-Forwarded-For.
func (s *Server) address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	if all := r.Header.Values("X-Forwarded-For"); s.Proxied && len(all) > 0 {
		last := all[len(all)-1]
		if i := strings.LastIndexByte(last, ','); i >= 0 {
			last = last[i+1:]
		}
		if ip := net.ParseIP(strings.TrimSpace(last)); ip != nil {
			host = ip.String()
		}
	}
	// An IPv6 client can use any address of its /64 network, so they count as one.
	if ip := net.ParseIP(host); ip != nil && ip.To4() == nil {
		host = ip.Mask(net.CIDRMask(64, 128)).String()
	}
	return host
}

// told logs a request: its route, status and duration, and nothing of its content.
func (s *Server) told(r *http.Request, q *request) {
	took, route := time.Since(q.started), q.matched()
	s.metrics.requests.WithLabelValues(route, strconv.Itoa(q.status)).Observe(took.Seconds())
	level := slog.LevelInfo
	if q.status >= 500 {
		level = slog.LevelError
	}
	attrs := []slog.Attr{slog.String("id", q.id), slog.String("method", method(r.Method)), slog.String("route", route), slog.Int("status", q.status),
		slog.Int64("bytes", q.bytes), slog.Float64("took_ms", float64(took.Microseconds())/1000)}
	if q.trace != "" {
		attrs = append(attrs, slog.String("trace", q.trace))
	}
	s.Log.LogAttrs(r.Context(), level, "request", attrs...)
}

// method returns a known method, since a client may send any text.
func method(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return m
	}
	return "other"
}

// recovered answers after a panic, and logs where it happened, without values.
func (s *Server) recovered(t *teller, q *request) {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler {
		panic(p)
	}
	what := fmt.Sprintf("a %T", p)
	var fault goruntime.Error
	if err, ok := p.(error); ok && errors.As(err, &fault) {
		what = fault.Error()
	}
	s.Log.Error("panic", "id", q.id, "what", what, "stack", string(debug.Stack()))
	if q.status == 0 {
		Problem{Status: http.StatusInternalServerError, Code: "internal", Title: "the server itself failed"}.Send(t)
	}
}

// passing reports whether a status says that an answer may be had later.
func passing(status int) bool {
	return status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout || status == http.StatusInsufficientStorage
}

// A teller is a ResponseWriter that remembers the status and size of its answer.
type teller struct {
	http.ResponseWriter
	*request
}

func (t *teller) WriteHeader(status int) {
	if h := t.Header(); status == http.StatusUnauthorized && h.Get("WWW-Authenticate") == "" {
		h.Set("WWW-Authenticate", `Bearer realm="verbatim"`) // RFC 9110, 15.5.2: whatever door it is
	}
	if t.status == 0 && status >= 200 {
		t.status = status
	}
	if h := t.Header(); passing(status) && h.Get("Retry-After") == "" {
		h.Set("Retry-After", "5")
	}
	t.ResponseWriter.WriteHeader(status)
}

func (t *teller) Write(b []byte) (int, error) {
	t.status = cmp.Or(t.status, http.StatusOK)
	n, err := t.ResponseWriter.Write(b)
	t.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (t *teller) Unwrap() http.ResponseWriter { return t.ResponseWriter }
