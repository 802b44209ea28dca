package server

import (
	"context"
	"net/http"
	"time"

	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/mcp"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// The door for clients of models: MCP over HTTP. Package door speaks the protocol; this file
// decides who may come in, and for how long.

const mcpPath = "/mcp"

// mcpRoutes has no GET: the server only answers, so there is no stream to open.
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

// newMCP makes the door if there are a registry and a store.
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
	s.mcp, err = mcp.New(mcp.Options{Registry: s.Registry, Seal: of.Secret, Clock: s.Clock, Search: s.Search, Version: s.Version, Log: s.Log})
	return err
}

// protectedResource is the metadata of RFC 9728. Administrators issue tokens, so it names no
// authorization server. It lists no scopes: only the holder of a token learns what it may do.
func (v *visit) protectedResource(path string) error {
	return v.json(http.StatusOK, object{"resource": v.origin() + path, "resource_name": "Verbatim", "bearer_methods_supported": []string{"header"}})
}

var ofModel = verbs.Literals{Origin: verbs.NewOrigin(verbs.FromModel, "")}

// mcpCall passes a request to package door. A client must show a token: a person's login is
// refused. All values of the call count as written by a model.
func (v *visit) mcpCall() error {
	if v.secret != "" {
		return errToken
	}
	k, err := v.shown()
	if err != nil {
		return err
	}
	v.mcp.ServeHTTP(&prompt{v.w}, v.r, &mcp.Caller{
		Key: v.principal + " " + v.token,
		// A client may answer a question later, so the token is checked again each time.
		Session: func(context.Context) (*engine.Session, error) {
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

// mcpRefuse answers a request that was refused before it was read, and says where a client finds
// the metadata.
func (v *visit) mcpRefuse(p problem) {
	if p.Status == http.StatusUnauthorized || p.Status == http.StatusForbidden {
		v.w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+v.origin()+`/.well-known/oauth-protected-resource`+mcpPath+`"`)
	}
	v.Server.problem(v.w, p)
}

// A prompt answer has to be read without delay: a client that does not read is cut off.
type prompt struct{ http.ResponseWriter }

func (p *prompt) Write(b []byte) (int, error) {
	_ = http.NewResponseController(p.ResponseWriter).SetWriteDeadline(time.Now().Add(stallTime))
	return p.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (p *prompt) Unwrap() http.ResponseWriter { return p.ResponseWriter }
