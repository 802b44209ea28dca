package serve

import "net/http"

// A Hook is a path at which another system posts what it signs, such as a channel by which
// people write. Its handler proves who posts, before it reads anything else.
type Hook struct {
	Pattern string // "POST /channels/whatsapp"
	Body    int64  // how large a body may be, in bytes
	Does    string
	Handler http.Handler
}

func (s *Server) hookRoutes() (all []Route) {
	for _, h := range s.Hooks {
		all = append(all, Route{Pattern: h.Pattern, Door: Open, Body: h.Body, Does: h.Does, handle: func(v *visit) error {
			h.Handler.ServeHTTP(v.w, v.r)
			return nil
		}})
	}
	return all
}
