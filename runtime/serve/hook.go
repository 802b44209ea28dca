package serve

import (
	"context"
	"errors"
	"net/http"
	"time"

	"verbatim/runtime/serve/logins"
)

// A Hook is a path at which another system posts what it signs, such as a channel by which
// people write. Its handler proves who posts, before it reads anything else.
type Hook struct {
	Pattern string // "POST /channels/whatsapp"
	Body    int64  // how large a body may be, in bytes
	Stream  bool   // it goes on for as long as somebody listens
	Does    string
	Handler http.Handler
}

// Bearer finds who shows a token of the API, for a handler that is shown it otherwise than in a
// header, in the request whose context it is. A token for some verbs is good for nothing here.
// The error is that nobody is known by it, or that too many were tried.
func (s *Server) Bearer(ctx context.Context, secret string) (principal string, err error) {
	if s.Tokens == nil || secret == "" {
		return "", ErrNobody
	}
	c, err := s.holds(ctx, logins.Digest(secret))
	if err == nil && c.only != nil {
		return "", ErrNobody
	}
	if errors.Is(err, ErrNobody) {
		from := ""
		if q := requestOf(ctx); q != nil {
			from = q.from
		}
		if tried := s.book.Try(ctx, "token", from, 30, time.Minute); tried != nil {
			return "", tried
		}
	}
	return c.principal, err
}

func (s *Server) hookRoutes() (all []Route) {
	for _, h := range s.Hooks {
		all = append(all, Route{Pattern: h.Pattern, Door: Open, Body: h.Body, Stream: h.Stream, Does: h.Does, handle: func(v *visit) error {
			h.Handler.ServeHTTP(v.w, v.r)
			return nil
		}})
	}
	return all
}
