package trustgraph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Gateway serves an agent as TrustGraph's gateway does:
//
//	POST /api/v1/flow/{flow}/service/agent   the last message, or with Accept: text/event-stream all
//	     /api/v1/socket                      a WebSocket
//
// Agent and Authenticate must be set. It must not be copied.
type Gateway struct {
	Agent Agent
	// Authenticate returns the caller of a token, which is "" if none was sent. An error that wraps
	// ErrUnasked is reported as one that passes, and any other as "auth failure" and nothing else.
	Authenticate func(ctx context.Context, token string) (Caller, error)
	Shape        Shape
	MaxBytes     int64         // of a request and of a frame; 0: 1 MiB
	Fresh        time.Duration // for which a token that was looked up counts, while answers are told; 0: a second
	WriteTimeout time.Duration // for a client to take one message; 0: 30 seconds
	AuthTimeout  time.Duration // for a new socket to authenticate; 0: 1 minute
	// Origins are patterns, as in path.Match, of the hosts whose pages may call from a browser. The
	// gateway's own host always may.
	Origins []string
	Log     *slog.Logger // nil: none

	mu      sync.Mutex
	closed  bool
	sockets map[*socket]struct{}
	asking  sync.WaitGroup // questions of sockets
}

// ServeHTTP implements http.Handler.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	flow, service := address(r.URL.Path)
	switch {
	case g.foreign(r):
		g.refuse(w, errAccess)
	case r.URL.Path == "/api/v1/socket":
		g.socket(w, r)
	case service != "agent":
		g.refuse(w, errKind)
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		g.reply(w, http.StatusMethodNotAllowed, refusal("a question is sent with POST"))
	default:
		g.service(w, r, flow)
	}
}

// address takes the path of a service apart.
func address(path string) (flow, service string) {
	rest, ok := strings.CutPrefix(path, "/api/v1/flow/")
	parts := strings.Split(rest, "/")
	if !ok || len(parts) != 3 || parts[0] == "" || len(parts[0]) > maxName || parts[1] != "service" {
		return "", ""
	}
	return parts[0], parts[2]
}

// foreign reports whether a page of another host calls, which Origins does not name.
func (g *Gateway) foreign(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return true
	}
	return !strings.EqualFold(u.Host, r.Host) && !slices.ContainsFunc(g.Origins, func(pattern string) bool {
		ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(u.Host))
		return ok && err == nil
	})
}

func (g *Gateway) service(w http.ResponseWriter, r *http.Request, flow string) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	who, err := g.Authenticate(r.Context(), token)
	if err != nil {
		g.refuse(w, g.denied(r, err))
		return
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, g.maxBytes()))
	if large := new(http.MaxBytesError); errors.As(err, &large) {
		g.reply(w, http.StatusRequestEntityTooLarge, refusal(tooLarge(large.Limit).Message))
		return
	} else if err != nil {
		g.reply(w, http.StatusBadRequest, refusal(errCut.Message))
		return
	}
	request, err := DecodeRequest(text)
	if err == nil {
		// TrustGraph assumes workspace "default" for a request without one, for every caller.
		err = who.enters(cmp.Or(request.Workspace, "default"))
	}
	if err != nil {
		g.refuse(w, err.(*Error))
		return
	}
	request.Flow = flow
	q := g.question(r, token, who, request)
	if strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		g.events(w, r, q)
		return
	}
	// What is told of the answer comes right before it, and belongs to the one message of this door.
	var last, of Message
	err = q.ask(r.Context(), func(m Message) error {
		switch last = m; m.Type {
		case Thought:
			of.Thought = m.Content
		case Observation:
			of.Observation = m.Content
		case Answer:
			last.Thought, last.Observation = cmp.Or(m.Thought, of.Thought), cmp.Or(m.Observation, of.Observation)
		}
		return nil
	})
	var told *Error
	switch {
	case errors.As(err, &told) && told.refuses():
		g.refuse(w, told)
	case errors.As(err, &told):
		g.reply(w, http.StatusOK, encoded(failed{told}))
	case err == nil:
		g.reply(w, http.StatusOK, g.Shape.Encode(last))
	}
}

// events sends each message as a server-sent event.
func (g *Gateway) events(w http.ResponseWriter, r *http.Request, q question) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	control, n := http.NewResponseController(w), 0
	send := func(text []byte) error {
		n++
		_ = control.SetWriteDeadline(time.Now().Add(g.writeTimeout()))
		if _, err := fmt.Fprintf(w, "id: %d\ndata: %s\n\n", n, text); err != nil {
			return err
		}
		return control.Flush()
	}
	err := q.ask(r.Context(), func(m Message) error { return send(g.Shape.Encode(m)) })
	if told := new(Error); errors.As(err, &told) {
		_ = send(encoded(failed{told})) // the client may have gone away
	}
}

// enters refuses a workspace that is not the caller's.
func (c Caller) enters(workspace string) error {
	if workspace != cmp.Or(c.Workspace, "default") {
		return errAccess
	}
	return nil
}

// question is a question of a caller, whose token is looked up again while it is answered.
func (g *Gateway) question(from *http.Request, token string, who Caller, r Request) question {
	who.Workspace = cmp.Or(who.Workspace, "default")
	r.Workspace = who.Workspace
	return question{agent: g.Agent, who: who, r: r, shape: g.Shape, log: g.Log, fresh: cmp.Or(g.Fresh, time.Second), again: func(ctx context.Context) *Error {
		now, err := g.Authenticate(ctx, token)
		switch {
		case err != nil:
			return g.denied(from, err)
		case now.Name != who.Name:
			return errAuth
		}
		return nil
	}}
}

// failed is the body that tells clients that an agent failed.
type failed struct {
	Error *Error `json:"error"`
}

// refusal returns the body that tells HTTP clients that the question was not asked.
func refusal(text string) []byte {
	return encoded(struct {
		Error string `json:"error"`
	}{text})
}

// refuse answers a request that is not served. What is wrong with a request itself is told
// with status 200, as TrustGraph does.
func (g *Gateway) refuse(w http.ResponseWriter, e *Error) {
	status := http.StatusOK
	switch e.Type {
	case NotNow:
		status = http.StatusServiceUnavailable
		w.Header().Set("Retry-After", "5")
	case AuthRequired:
		status = http.StatusUnauthorized
	case AccessDenied:
		status = http.StatusForbidden
	case UnknownService, WorkspaceNotFound:
		status = http.StatusNotFound
	}
	g.reply(w, status, refusal(e.Message))
}

func (g *Gateway) reply(w http.ResponseWriter, status int, body []byte) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(g.writeTimeout()))
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// denied notes why a token was refused, which the caller is not told, and returns what they are told.
func (g *Gateway) denied(r *http.Request, err error) *Error {
	if errors.Is(err, ErrUnasked) {
		logger(g.Log).Error("trustgraph: a token could not be looked up", "error", err, "from", r.RemoteAddr)
		return errUnasked
	}
	logger(g.Log).Info("trustgraph: a token was refused", "error", err, "from", r.RemoteAddr)
	return errAuth
}

func (g *Gateway) maxBytes() int64             { return cmp.Or(g.MaxBytes, 1<<20) }
func (g *Gateway) writeTimeout() time.Duration { return cmp.Or(g.WriteTimeout, 30*time.Second) }
