package main

import (
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// An aide is the client of a model, as its makers' library has it.
type aide struct {
	t *testing.T
	*sdk.ClientSession
	asked []string // what the person was asked
}

// starts starts `verbatim mcp` as a client does, over a pipe. Its person answers what they are
// asked; without answers, it asks nobody.
func (h *house) starts(who string, answer func(string) *sdk.ElicitResult, args ...string) *aide {
	h.t.Helper()
	cmd := exec.Command(filepath.Join(h.dir, ".bin", "verbatim"), append([]string{"mcp", "--as", who}, args...)...)
	cmd.Dir, cmd.Env = h.dir, h.env
	return connects(h.t, &sdk.CommandTransport{Command: cmd}, answer)
}

func connects(t *testing.T, over sdk.Transport, answer func(string) *sdk.ElicitResult) *aide {
	t.Helper()
	a := &aide{t: t}
	o := &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}}
	if answer != nil {
		o.ElicitationHandler = func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			a.asked = append(a.asked, r.Params.Message)
			return answer(r.Params.Message), nil
		}
	}
	var err error
	if a.ClientSession, err = sdk.NewClient(&sdk.Implementation{Name: "aide", Version: "1"}, o).Connect(t.Context(), over, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// call calls a tool, and returns what it says and its document.
func (a *aide) call(tool string, args map[string]any) (text string, doc map[string]any, failed bool) {
	a.t.Helper()
	r, err := a.CallTool(a.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		a.t.Fatalf("%s: %v", tool, err)
	}
	return saysOf(r), docOf(a.t, r), r.IsError
}

func saysOf(r *sdk.CallToolResult) string {
	var b strings.Builder
	for _, c := range r.Content {
		if t, ok := c.(*sdk.TextContent); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

func docOf(t *testing.T, r *sdk.CallToolResult) (doc map[string]any) {
	t.Helper()
	text, _ := json.Marshal(r.StructuredContent)
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return doc
}

func yes(string) *sdk.ElicitResult {
	return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"agree": true}}
}

func TestScratch(t *testing.T) {
	h := newHouse(t)
	a := h.starts("clara", yes)
	l, err := a.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range l.Tools {
		text, _ := json.Marshal(tool)
		t.Logf("%s", text)
	}
	for _, c := range []struct {
		tool string
		args map[string]any
	}{
		{"client__get-outstanding", nil},
		{"client__add-note", map[string]any{"request-id": "@pierre-dupont-source-of-wealth", "note": "Waiting on accountant"}},
		{"client__add-notes", nil},
		{"client__add-note", map[string]any{"request-id": "@pierre-dupont-source-of-weath", "note": "Waiting on accountant", "x": 1}},
		{"client__escalate", map[string]any{"reason": "I want a person"}},
		{"review__accept", nil},
	} {
		text, doc, failed := a.call(c.tool, c.args)
		d, _ := json.Marshal(doc)
		t.Logf("%s %v -> %v\n%s\n%s", c.tool, c.args, failed, text, d)
	}
	t.Log(a.asked)
	rs, err := a.ListResources(t.Context(), nil)
	t.Log(err)
	for _, r := range rs.Resources {
		t.Log(*r)
		x, err := a.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: r.URI})
		if err != nil {
			t.Error(err)
		} else {
			t.Log(x.Contents[0].Text)
		}
	}
	ps, err := a.ListPrompts(t.Context(), nil)
	t.Log(err)
	for _, p := range ps.Prompts {
		g, err := a.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: p.Name, Arguments: map[string]string{"wish": "hello"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range g.Messages {
			t.Log(m.Content.(*sdk.TextContent).Text)
		}
	}
	cm, err := a.Complete(t.Context(), &sdk.CompleteParams{Ref: &sdk.CompleteReference{Type: "ref/prompt", Name: "client"}, Argument: sdk.CompleteParamsArgument{Name: "about", Value: "pie"}})
	t.Log(err, cm)
}
