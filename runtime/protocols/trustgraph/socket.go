package trustgraph

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// Of one socket, this many questions are answered at once and this many wait. Then nothing
// more is read until one is answered.
const (
	maxAsked   = 15
	maxWaiting = 10
)

// A socket is one WebSocket.
type socket struct {
	g       *Gateway
	r       *http.Request
	conn    *websocket.Conn
	who     *Caller // nil until authenticated; used by the reading goroutine
	token   string  // by which they are; it is looked up again for each question
	waiting chan socketRequest

	mu  sync.Mutex
	ids map[string]bool // of questions that are not answered yet
}

// A socketRequest is a question that came over a socket.
type socketRequest struct {
	id json.RawMessage
	q  question
}

// A frame is one message of the server about a question.
type frame struct {
	ID       json.RawMessage `json:"id,omitempty"`
	Response json.RawMessage `json:"response,omitempty"`
	Error    *Error          `json:"error,omitempty"`
	Complete bool            `json:"complete"`
}

// socket serves one WebSocket until the client is gone.
func (g *Gateway) socket(w http.ResponseWriter, r *http.Request) {
	s := &socket{g: g, r: r, waiting: make(chan socketRequest, maxWaiting), ids: map[string]bool{}}
	if query := r.URL.Query(); query.Has("token") { // before 2.4.5
		who, err := g.Authenticate(r.Context(), query.Get("token"))
		if err != nil {
			g.refuse(w, g.denied(r, err))
			return
		}
		s.who, s.token = &who, query.Get("token")
	}
	var err error
	// Origins were looked at already, as for every request.
	if s.conn, err = websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true}); err != nil {
		return
	}
	defer s.conn.CloseNow()
	s.conn.SetReadLimit(g.maxBytes())
	if !g.enter(s) {
		_ = s.conn.Close(websocket.StatusGoingAway, errClosing.Message)
		return
	}
	ctx, stop := context.WithCancel(r.Context())
	var working sync.WaitGroup
	working.Go(func() { s.work(ctx, &working) })
	s.read(ctx)
	stop()
	working.Wait()
	for len(s.waiting) > 0 {
		<-s.waiting
		g.asking.Done()
	}
	g.leave(s)
}

// enter counts a socket in, unless the gateway is closed.
func (g *Gateway) enter(s *socket) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	if g.sockets == nil {
		g.sockets = map[*socket]struct{}{}
	}
	g.sockets[s] = struct{}{}
	return true
}

func (g *Gateway) leave(s *socket) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.sockets, s)
}

// Close accepts no more sockets and questions of sockets, waits until the questions under way are
// answered or ctx ends, and closes the sockets. It leaves HTTP requests to the server.
func (g *Gateway) Close(ctx context.Context) error {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	answered := make(chan struct{})
	go func() { g.asking.Wait(); close(answered) }()
	select {
	case <-answered:
	case <-ctx.Done():
	}
	var closing sync.WaitGroup
	g.mu.Lock()
	for s := range g.sockets {
		closing.Go(func() { _ = s.conn.Close(websocket.StatusGoingAway, errClosing.Message) })
	}
	g.mu.Unlock()
	closing.Wait()
	return ctx.Err()
}

// read reads frames until the client is gone, or something cannot be sent.
func (s *socket) read(ctx context.Context) {
	hurry, stop := context.WithTimeout(ctx, cmp.Or(s.g.AuthTimeout, time.Minute))
	defer stop()
	for {
		until := ctx
		if s.who == nil {
			until = hurry
		}
		kind, text, err := s.conn.Read(until)
		if err != nil {
			return
		}
		if kind != websocket.MessageText {
			err = s.refuse(ctx, nil, errBinary)
		} else {
			err = s.take(ctx, text)
		}
		if err != nil {
			return
		}
	}
}

// take carries out the request in a frame.
func (s *socket) take(ctx context.Context, text []byte) error {
	all, wrong := members(text, "the frame")
	if wrong != nil {
		return s.refuse(ctx, nil, wrong)
	}
	in := &reader{all: all}
	if in.text("type", maxName) == "auth" {
		return s.authenticate(ctx, in.text("token", len(text)))
	}
	id := all["id"]
	if len(id) == 0 || len(id) > maxName || string(id) == `""` || id[0] != '"' && id[0] != '-' && (id[0] < '0' || id[0] > '9') {
		return s.refuse(ctx, nil, errNoID)
	}
	service, flow := in.text("service", maxName), cmp.Or(in.text("flow", maxName), "default")
	workspace := in.text("workspace", maxName)
	switch {
	case s.who == nil:
		return s.refuse(ctx, id, errAuth)
	case in.err != nil:
		return s.refuse(ctx, id, in.err)
	case service != "agent":
		return s.refuse(ctx, id, errService)
	case all["request"] == nil:
		return s.refuse(ctx, id, errNoRequest)
	}
	who, err := s.g.Authenticate(ctx, s.token)
	if err != nil {
		return s.refuse(ctx, id, s.g.denied(s.r, err))
	}
	s.who = &who
	own := cmp.Or(s.who.Workspace, "default")
	r, err := DecodeRequest(all["request"])
	if err == nil {
		err = cmp.Or(s.who.enters(cmp.Or(workspace, own)), s.who.enters(cmp.Or(r.Workspace, own)))
	}
	if err == nil {
		err = s.begin(string(id))
	}
	if err != nil {
		return s.refuse(ctx, id, err.(*Error))
	}
	r.Flow = flow
	select {
	case s.waiting <- socketRequest{id, s.g.question(s.r, s.token, *s.who, r)}:
	case <-ctx.Done():
		s.g.asking.Done()
	}
	return nil
}

// begin notes a question that is asked.
func (s *socket) begin(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ids[id] {
		return errTwiceID
	}
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	if s.g.closed {
		return errClosing
	}
	s.g.asking.Add(1)
	s.ids[id] = true
	return nil
}

// free makes an id the client's again, which is so before the last frame is sent.
func (s *socket) free(id json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.ids, string(id))
}

// work answers questions until ctx ends.
func (s *socket) work(ctx context.Context, working *sync.WaitGroup) {
	room := make(chan struct{}, maxAsked)
	for {
		select {
		case room <- struct{}{}:
		case <-ctx.Done():
			return
		}
		select {
		case a := <-s.waiting:
			working.Go(func() {
				defer func() { <-room }()
				defer s.g.asking.Done()
				s.answer(ctx, a)
			})
		case <-ctx.Done():
			return
		}
	}
}

func (s *socket) answer(ctx context.Context, a socketRequest) {
	err := a.q.ask(ctx, func(m Message) error {
		if m.EndOfDialog {
			s.free(a.id)
		}
		return s.send(ctx, frame{ID: a.id, Response: s.g.Shape.Encode(m), Complete: m.EndOfDialog})
	})
	s.free(a.id)
	var told *Error
	switch {
	case errors.As(err, &told) && told.refuses():
		_ = s.refuse(ctx, a.id, told)
	case errors.As(err, &told):
		_ = s.send(ctx, frame{ID: a.id, Response: encoded(failed{told}), Complete: true})
	}
}

// authenticate answers an auth frame. If it fails, the socket stays as it is: the client may try
// again.
func (s *socket) authenticate(ctx context.Context, token string) error {
	who, err := s.g.Authenticate(ctx, token)
	if err != nil {
		return s.send(ctx, struct {
			Type  string `json:"type"`
			Error string `json:"error"`
		}{"auth-failed", s.g.denied(s.r, err).Message})
	}
	s.who, s.token = &who, token
	return s.send(ctx, struct {
		Type      string `json:"type"`
		Workspace string `json:"default_workspace"`
	}{"auth-ok", cmp.Or(who.Workspace, "default")})
}

func (s *socket) refuse(ctx context.Context, id json.RawMessage, e *Error) error {
	return s.send(ctx, frame{ID: id, Error: e, Complete: true})
}

// send sends a frame. A client that does not take it in time loses its socket.
func (s *socket) send(ctx context.Context, v any) error {
	ctx, stop := context.WithTimeout(ctx, s.g.writeTimeout())
	defer stop()
	return s.conn.Write(ctx, websocket.MessageText, encoded(v))
}
