package guard

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// A Listener serves clients over HTTP. Whoever comes shows the token, as a bearer or in the path. Each
// session has connections of its own to the servers.
type Listener struct {
	guard *Guard
	ctx   context.Context
	token string

	mu       sync.Mutex
	sessions map[string]*remote
}

// Handler makes a Listener, whose sessions last until ctx ends.
func (g *Guard) Handler(ctx context.Context, token string) *Listener {
	return &Listener{guard: g, ctx: ctx, token: token, sessions: map[string]*remote{}}
}

// Listen serves clients that come to an address of this machine, until ctx ends.
func (g *Guard) Listen(ctx context.Context, l net.Listener, token string) error {
	server := &http.Server{Handler: g.Handler(ctx, token), ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// mostSessions is the greatest number of clients that are connected at once.
const mostSessions = 100

// A remote is the pipe to a client over HTTP.
type remote struct {
	inbox

	mu      sync.Mutex
	streams []*stream // of requests, the oldest first
	own     *stream   // of what belongs to no request; nil if the client does not listen
	kept    [][]byte  // until it does
}

// A stream is the answer to a request of HTTP.
type stream struct {
	id, progress string // of the message that it answers
	out          chan posted
}

// posted is a message in a stream; the last one is the answer.
type posted struct {
	text []byte
	last bool
}

func (r *remote) close() { r.stop() }

// write sends a message in the stream that it belongs to.
func (r *remote) write(m *message) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	to := r.own
	switch {
	case m.answers():
		to = nil
		for i, s := range r.streams {
			if s.id == string(m.ID) {
				to = s
				r.streams = append(r.streams[:i:i], r.streams[i+1:]...)
				break
			}
		}
		if to == nil {
			return nil // nobody waits any more
		}
	case m.Method == "notifications/progress":
		var p struct{ ProgressToken json.RawMessage }
		_ = json.Unmarshal(m.Params, &p)
		for _, s := range r.streams {
			if s.progress == string(p.ProgressToken) {
				to = s
			}
		}
	case len(r.streams) > 0:
		to = r.streams[0]
	}
	text := m.bytes()
	if to == nil {
		if len(r.kept) < 100 {
			r.kept = append(r.kept, text)
		}
		return nil
	}
	select {
	case to.out <- posted{text, m.answers()}:
		return nil
	case <-r.ctx.Done():
		return io.ErrClosedPipe
	}
}

// ServeHTTP implements http.Handler.
func (l *Listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	origin, _ := url.Parse(r.Header.Get("Origin"))
	shown := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if shown == "" {
		shown, _, _ = strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	}
	switch {
	case host != "localhost" && (ip == nil || !ip.IsLoopback()): // another name that leads here
		http.Error(w, "this is for clients of this machine", http.StatusForbidden)
		return
	case r.Header.Get("Origin") != "" && (origin == nil || origin.Host != r.Host):
		http.Error(w, "not from there", http.StatusForbidden)
		return
	case subtle.ConstantTimeCompare([]byte(shown), []byte(l.token)) != 1:
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "show the token that verbatim guard --listen told", http.StatusUnauthorized)
		return
	}
	l.mu.Lock()
	c := l.sessions[r.Header.Get("Mcp-Session-Id")]
	l.mu.Unlock()
	switch {
	case r.Method == http.MethodPost:
		l.post(w, r, c)
	case c == nil:
		http.Error(w, "there is no such session", http.StatusNotFound)
	case r.Method == http.MethodGet:
		c.hears(w, r)
	case r.Method == http.MethodDelete:
		c.stop()
	default:
		http.Error(w, "POST, GET or DELETE", http.StatusMethodNotAllowed)
	}
}

// hears opens the stream of what belongs to no request.
func (c *remote) hears(w http.ResponseWriter, r *http.Request) {
	s := &stream{out: make(chan posted, 64)}
	c.mu.Lock()
	if c.own != nil {
		c.mu.Unlock()
		http.Error(w, "this stream is open already", http.StatusConflict)
		return
	}
	c.own = s
	kept := c.kept
	c.kept = nil
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.own = nil
		c.mu.Unlock()
	}()
	begins(w)
	for _, text := range kept {
		event(w, text)
	}
	for {
		select {
		case m := <-s.out:
			event(w, m.text)
		case <-r.Context().Done():
			return
		case <-c.ctx.Done():
			return
		}
	}
}

func begins(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush()
}

func event(w io.Writer, text []byte) {
	_, _ = w.Write(append(append([]byte("event: message\ndata: "), text...), '\n'))
	if rw, is := w.(http.ResponseWriter); is {
		_ = http.NewResponseController(rw).Flush()
	}
}

// post takes a message of a client.
func (l *Listener) post(w http.ResponseWriter, r *http.Request, c *remote) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxMessage))
	var long *http.MaxBytesError
	if errors.As(err, &long) {
		http.Error(w, (&tooLong{}).Error(), http.StatusRequestEntityTooLarge)
		return
	}
	m, err := parse(text)
	if err != nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write((&message{ID: json.RawMessage("null"), Error: errorOf(codeParse, err.Error())}).bytes())
		return
	}
	if m.Method == "initialize" && c == nil {
		if c = l.begins(w); c == nil {
			return
		}
	}
	if c == nil {
		status := http.StatusNotFound
		if r.Header.Get("Mcp-Session-Id") == "" {
			status = http.StatusBadRequest
		}
		http.Error(w, "there is no such session; begin with initialize", status)
		return
	}
	var s *stream
	if m.asks() {
		var p struct {
			Meta struct{ ProgressToken json.RawMessage } `json:"_meta"`
		}
		_ = json.Unmarshal(m.Params, &p)
		s = &stream{id: string(m.ID), progress: string(p.Meta.ProgressToken), out: make(chan posted, 64)}
		c.mu.Lock()
		c.streams = append(c.streams, s)
		c.mu.Unlock()
	}
	select {
	case c.in <- m:
	case <-c.ctx.Done():
		http.Error(w, "the session has ended", http.StatusNotFound)
		return
	}
	if s == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	defer func() { // nobody reads it any more
		c.mu.Lock()
		for i, other := range c.streams {
			if other == s {
				c.streams = append(c.streams[:i:i], c.streams[i+1:]...)
				break
			}
		}
		c.mu.Unlock()
	}()
	s.serve(w, r, c)
}

// serve answers with JSON if the answer comes first, and with a stream otherwise.
func (s *stream) serve(w http.ResponseWriter, r *http.Request, c *remote) {
	streams := false
	for {
		select {
		case m := <-s.out:
			if m.last && !streams {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write(m.text)
				return
			}
			if !streams {
				streams = true
				begins(w)
			}
			event(w, m.text)
			if m.last {
				return
			}
		case <-r.Context().Done():
			return
		case <-c.ctx.Done():
			return
		}
	}
}

// begins begins a session.
func (l *Listener) begins(w http.ResponseWriter) *remote {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.sessions) >= mostSessions {
		w.Header().Set("Retry-After", "60")
		http.Error(w, "too many clients are connected", http.StatusServiceUnavailable)
		return nil
	}
	id := rand.Text()
	ctx, stop := context.WithCancel(l.ctx)
	c := &remote{inbox: inbox{ctx, stop, make(chan *message, 16)}}
	l.sessions[id] = c
	w.Header().Set("Mcp-Session-Id", id)
	go func() {
		_ = l.guard.session(ctx, c)
		stop()
		l.mu.Lock()
		delete(l.sessions, id)
		l.mu.Unlock()
	}()
	return c
}
