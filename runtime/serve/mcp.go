package serve

import (
	"context"
	"net/http"
	"time"

	"verbatim/runtime"
	"verbatim/runtime/mcp/door"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// The door for the clients of models: MCP over HTTP. The room of the protocol makes calls of
// tools; what stands here is who may come in, and for how long.

const mcpPath = "/mcp"

// mcpRoutes have no GET: nothing is told but in answer to something, so that there is no
// stream to open.
func (s *Server) mcpRoutes() []Route {
	if s.mcp == nil {
		return nil
	}
	body := s.Limits.Script + 64<<10
	return []Route{
		{Pattern: "GET /.well-known/oauth-protected-resource", Does: "Says how programs show who they are.", handle: func(v *visit) error { return v.protectedResource("") }},
		{Pattern: "GET /.well-known/oauth-protected-resource" + mcpPath, Does: "Says how the clients of models show who they are.", handle: func(v *visit) error { return v.protectedResource(mcpPath) }},
		{Pattern: "POST " + mcpPath, Door: API, Body: body, Stream: true, Does: "Takes calls of tools from the clients of models, over MCP.", handle: (*visit).mcpCall, refuse: (*visit).mcpRefuse},
		{Pattern: "DELETE " + mcpPath, Door: API, Stream: true, Does: "Ends the connection of a client of an earlier version of MCP.", handle: (*visit).mcpCall, refuse: (*visit).mcpRefuse},
	}
}

// newMCP makes the door, where there is what it leads to.
func (s *Server) newMCP() error {
	if s.Registry == nil || s.Store == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(s.ctx, readTime)
	defer cancel()
	of, err := s.Store.Identity(ctx)
	if err != nil {
		return err
	}
	s.mcp, err = door.New(door.Options{Registry: s.Registry, Seal: of.Secret, Clock: s.Clock, Search: s.Search, Version: s.Version, Log: s.Log})
	return err
}

// protectedResource is RFC 9728. Tokens are made by administrators, so no server is named that
// would make one; and what a token may be good for is told to who has one.
func (v *visit) protectedResource(path string) error {
	return v.json(http.StatusOK, object{"resource": v.origin() + path, "resource_name": "Verbatim", "bearer_methods_supported": []string{"header"}})
}

var ofModel = verbs.Literals{Origin: verbs.NewOrigin(verbs.FromModel, "")}

// mcpCall hands a request to the room that reads it. A person's login is no client's: a
// program shows a token. What it sends was written by a model.
func (v *visit) mcpCall() error {
	if v.secret != "" {
		return errToken
	}
	k, err := v.shown()
	if err != nil {
		return err
	}
	v.mcp.ServeHTTP(&prompt{v.w}, v.r, &door.Caller{
		Key: v.principal + " " + v.token,
		// A client may be asked, and answer later: who it is is found out again.
		Session: func(context.Context) (*runtime.Session, error) {
			c, err := v.known.of(k.digest, func() (caller, error) { return v.finds(k) })
			return c.session, err
		},
		Turn: func(ctx context.Context) (func(), error) {
			leave, ok := v.gate.enter(ctx, false)
			if !ok {
				v.metrics.shed()
				return nil, errBusy
			}
			return leave, nil
		},
		Said:  ofModel,
		Agree: func(id string) string { return "at " + v.origin() + "/waiting/" + receipt.Short(id) },
	})
	return nil
}

// mcpRefuse answers for what was refused before it was read, and says where a client learns
// how to come in.
func (v *visit) mcpRefuse(p problem) {
	if p.Status == http.StatusUnauthorized || p.Status == http.StatusForbidden {
		v.w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+v.origin()+`/.well-known/oauth-protected-resource`+mcpPath+`"`)
	}
	v.Server.problem(v.w, p)
}

// A prompt answer is one that is read without delay: who does not read it is cut off.
type prompt struct{ http.ResponseWriter }

func (p *prompt) Write(b []byte) (int, error) {
	_ = http.NewResponseController(p.ResponseWriter).SetWriteDeadline(time.Now().Add(stallTime))
	return p.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController find the connection.
func (p *prompt) Unwrap() http.ResponseWriter { return p.ResponseWriter }
