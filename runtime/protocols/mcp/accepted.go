package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"verbatim/verbs/strict"
)

// An Accepted holds the descriptions of tools that an operator has read and accepted, word for word:
// if a tool's description changes, the difference of two such files shows the change. The zero
// Accepted holds none.
type Accepted struct {
	Tools []Said `json:"tools"`
}

// A Said is a tool's complete description of itself.
type Said struct {
	Server      string          `json:"server"`
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description"`
	Input       json.RawMessage `json:"input"`
	Output      json.RawMessage `json:"output,omitempty"`
	Hints       json.RawMessage `json:"hints,omitempty"`
	Meta        json.RawMessage `json:"meta,omitempty"`
}

// List writes tools in the form in which tools/list answers them.
func List(all []Said) ([]byte, error) {
	type tool struct {
		Name        string          `json:"name"`
		Title       string          `json:"title,omitempty"`
		Description string          `json:"description,omitempty"`
		Input       json.RawMessage `json:"inputSchema,omitempty"`
		Output      json.RawMessage `json:"outputSchema,omitempty"`
		Hints       json.RawMessage `json:"annotations,omitempty"`
	}
	list := make([]tool, len(all))
	for i, s := range all {
		list[i] = tool{s.Name, s.Title, s.Description, s.Input, s.Output, s.Hints}
	}
	return json.Marshal(map[string]any{"tools": list})
}

// ReadAccepted reads what Text wrote.
func ReadAccepted(text []byte) (Accepted, error) {
	var a Accepted
	if err := strict.Record(text, &a); err != nil {
		return Accepted{}, fmt.Errorf("it is not what verbatim lint --accept writes: %w", err)
	}
	return a, nil
}

// Text returns the file that ReadAccepted reads: the tools in order, each property on a line, so
// that files can be compared.
func (a Accepted) Text() []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(a); err != nil {
		panic(err) // every part of it was JSON before
	}
	return b.Bytes()
}

// With adds a tool, or replaces the accepted description of it.
func (a Accepted) With(s Said) Accepted {
	tools := slices.DeleteFunc(slices.Clone(a.Tools), func(t Said) bool { return t.Server == s.Server && t.Name == s.Name })
	tools = append(tools, s)
	slices.SortFunc(tools, func(a, b Said) int { return strings.Compare(a.Server+"\x00"+a.Name, b.Server+"\x00"+b.Name) })
	return Accepted{tools}
}

// of returns the accepted description of a tool.
func (a Accepted) of(server, name string) (Said, bool) {
	for _, t := range a.Tools {
		if t.Server == server && t.Name == name {
			return t, true
		}
	}
	return Said{}, false
}

// Digest returns a digest of the whole description.
func (s Said) Digest() string {
	parts := []string{"verbatim tool 1", s.Server, s.Name, s.Title, s.Description}
	for _, raw := range []json.RawMessage{s.Input, s.Output, s.Hints, s.Meta} {
		parts = append(parts, compact(raw))
	}
	return fmt.Sprintf("%x", sum(parts))
}

func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return ""
	}
	return b.String()
}
