package api

import (
	"context"
	"net/http"

	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/http/server"
	"verbatim/runtime/frontends/mcp"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// The door for clients of models: MCP over HTTP. Package mcp speaks the protocol; this file
// decides who may come in, and for how long.

const mcpPath = "/mcp"

// mcpRoutes has no GET: the server only answers, so there is no stream to open.
func (a *API) mcpRoutes() []server.Route {
	// The metadata of RFC 9728. Administrators issue tokens, so it names no authorization server. It
	// lists no scopes: only the holder of a token learns what it may do.
	resource := func(path, does string) server.Route {
		return server.Route{Pattern: "GET /.well-known/oauth-protected-resource" + path, Does: does, Handle: func(v *server.Visit) error {
			return v.JSON(http.StatusOK, map[string]any{"resource": v.Origin() + path, "resource_name": "Verbatim", "bearer_methods_supported": []string{"header"}})
		}}
	}
	call := server.Route{Pattern: "POST " + mcpPath, Door: server.Program, Body: a.server.Limits.Script + 64<<10, Stream: true, Does: "Takes calls of tools from the clients of models, over MCP.", Handle: a.by((*visit).mcpCall), Refuse: mcpRefuse}
	end := call
	end.Pattern, end.Body, end.Does = "DELETE "+mcpPath, 0, "Ends the connection of a client of an earlier version of MCP."
	return []server.Route{resource("", "Says how programs show who they are."), resource(mcpPath, "Says how the clients of models show who they are."), call, end}
}

var ofModel = verbs.Literals{Origin: verbs.NewOrigin(verbs.FromModel, ""), Unheard: true}

// mcpCall passes a request to package mcp. All values of the call count as written by a model.
func (v *visit) mcpCall() error {
	v.api.mcp.ServeHTTP(v.W, v.R, &mcp.Caller{
		Key: v.Principal + " " + v.Token,
		// A client may answer a question later, so the token is checked again each time.
		Session: func(context.Context) (*engine.Session, error) {
			s, _, err := v.Again()
			return s, err
		},
		Turn:  v.Enter,
		Said:  ofModel,
		Agree: func(id string) string { return "at " + v.Origin() + "/waiting/" + receipt.Short(id) },
	})
	return nil
}

// mcpRefuse answers a request that was refused before it was read, and says where a client finds
// the metadata.
func mcpRefuse(v *server.Visit, p server.Problem) {
	if p.Status == http.StatusUnauthorized || p.Status == http.StatusForbidden {
		v.W.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+v.Origin()+`/.well-known/oauth-protected-resource`+mcpPath+`"`)
	}
	p.Send(v.W)
}
