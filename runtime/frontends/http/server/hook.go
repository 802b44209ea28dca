package server

import (
	"context"
	"errors"
	"net/http"
	"time"

	"verbatim/runtime/frontends/http/server/logins"
)

// A Hook is a path to which another system posts signed messages, such as a messaging channel. Its
// handler verifies the sender before it reads anything else.
type Hook struct {
	Pattern string // "POST /channels/whatsapp"
	Body    int64  // the greatest size of a body, in bytes
	Stream  bool   // it lasts as long as the client listens
	Does    string
	Handler http.Handler
}

// Bearer returns the principal of an API token, for a handler that received the token somewhere
// else than in a header. ctx is that of the request. A token that is limited to some verbs is
// refused. It fails if the token is unknown, or if too many were tried.
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
