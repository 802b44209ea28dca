package mcp

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Calls of tools that are answered without the library. Over HTTP it decodes a message eleven
// times, with a buffer of 32 kB each, and makes a session that ends with the answer: 400 kB a call,
// most of the time that a client waits for a read. So a plain call goes to callTool directly: one
// message of 2026-07-28, whose headers agree with it, that answers no question and wants no progress.
// All other messages go through the library, which also refuses the malformed ones.

// modern is the version of the protocol that has no connections.
const modern = "2026-07-28"

// A plain message has these members and no others.
type plain struct {
	Version string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id"`
	Method  string         `json:"method"`
	Params  struct {
		Name      string         `json:"name"`
		Arguments jsontext.Value `json:"arguments"`
		Meta      map[string]any `json:"_meta"`
	} `json:"params"`
}

// direct returns the plain call that a request holds, nil if the library has to read it.
func direct(r *http.Request, text []byte) *plain {
	h := r.Header
	if r.Method != http.MethodPost || h.Get("Mcp-Protocol-Version") != modern || h.Get("Last-Event-Id") != "" || !mediaTypes(h) {
		return nil
	}
	m := new(plain)
	if json.Unmarshal(text, m, json.RejectUnknownMembers(true)) != nil {
		return nil
	}
	meta := m.Params.Meta
	_, capable := meta[sdk.MetaKeyClientCapabilities].(map[string]any)
	_, named := meta[sdk.MetaKeyClientInfo]
	_, wantsProgress := meta["progressToken"]
	if m.Version != "2.0" || !isID(m.ID) || m.Method != "tools/call" || meta[sdk.MetaKeyProtocolVersion] != modern ||
		!capable || wantsProgress || named && !isInfo(meta[sdk.MetaKeyClientInfo]) {
		return nil
	}
	if name := m.Params.Name; name == "" || h.Get("Mcp-Method") != m.Method || h.Get("Mcp-Name") != name {
		return nil
	}
	return m
}

// mediaTypes reports whether a request sends JSON and says that it takes both kinds of answers, as
// the protocol wants it.
func mediaTypes(h http.Header) bool {
	accept := strings.Join(h.Values("Accept"), ",")
	return h.Get("Content-Type") == "application/json" && strings.Contains(accept, "application/json") && strings.Contains(accept, "text/event-stream")
}

// isID reports whether a value is an id that is sent back as it came: a text, or an integer
// that a float64 holds exactly.
func isID(id jsontext.Value) bool {
	_, err := strconv.ParseInt(string(id), 10, 64)
	return id.Kind() == '"' || err == nil && len(id) < 16
}

// isInfo reports whether a value tells which program the client is.
func isInfo(value any) bool {
	text, err := stdjson.Marshal(value)
	return err == nil && stdjson.Unmarshal(text, new(sdk.Implementation)) == nil
}

// An answer is a result of a tool as version 2026-07-28 has it. The library's own type says only
// inside the library whether it is complete.
type answer struct {
	Meta              map[string]any      `json:"_meta"`
	Content           []sdk.Content       `json:"content"`
	StructuredContent any                 `json:"structuredContent,omitempty"`
	IsError           bool                `json:"isError,omitempty"`
	ResultType        string              `json:"resultType"`
	InputRequests     sdk.InputRequestMap `json:"inputRequests,omitempty"`
	RequestState      string              `json:"requestState,omitempty"`
}

// answerPlain answers a plain call.
func (d *Door) answerPlain(f *refusing, r *http.Request, c *Caller, m *plain) {
	ctx, stop := context.WithTimeout(r.Context(), d.Patience)
	defer stop()
	res, err := d.resultOf(ctx, c, m)
	var told *jsonrpc.Error
	if errors.As(err, &told) {
		f.refuse(http.StatusOK, told.Code, told.Message)
		return
	}
	a := answer{map[string]any{sdk.MetaKeyServerInfo: d.implementation()}, res.Content, res.StructuredContent, res.IsError, "complete", res.InputRequests, res.RequestState}
	if res.RequestState != "" {
		a.ResultType = "input_required"
	}
	body, err := stdjson.Marshal(struct {
		Version string             `json:"jsonrpc"`
		ID      stdjson.RawMessage `json:"id"`
		Result  answer             `json:"result"`
	}{m.Version, stdjson.RawMessage(m.ID), a})
	if err != nil {
		d.Log.Error("failed", "error", err.Error())
		f.refuse(http.StatusOK, jsonrpc.CodeInternalError, "the answer cannot be written")
		return
	}
	f.Header().Set("Content-Type", "application/json")
	f.Header().Set("Cache-Control", "no-cache, no-transform")
	_, _ = f.ResponseWriter.Write(body)
}

// resultOf makes the call. An error is one of the protocol.
func (d *Door) resultOf(ctx context.Context, c *Caller, m *plain) (res *sdk.CallToolResult, err error) {
	defer d.recovers(&err)
	req := &sdk.CallToolRequest{Params: &sdk.CallToolParamsRaw{Name: m.Params.Name, Arguments: stdjson.RawMessage(m.Params.Arguments), Meta: m.Params.Meta}}
	return d.calls(ctx, request{c, m.Params.Name}, req)
}
