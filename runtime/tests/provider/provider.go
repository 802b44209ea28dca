// Package provider plays endpoints of models: each family refuses what its endpoints are publicly
// reported or documented to refuse, with their status, in their words and in their form, and hands
// everything else to a model.
//
//	s := httptest.NewServer(provider.Named("Mistral").Before(model))
//
// The families are a table, with where and when each was reported. What every endpoint of the protocol
// refuses, such as a tool's answer to a call that nobody made, each of them refuses too.
package provider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
)

// A Family is a kind of endpoint.
type Family struct {
	Name string
	// Host and Model are those under which the program knows the family beforehand; without both, it has to
	// learn of it.
	Host, Model string
	// Fact says in words what is refused, Source where that is reported, and Seen when.
	Fact, Source, Seen string
	// NoTools says that tools are refused whatever else is sent, Unnamed that a refusal does not say of what.
	NoTools, Unnamed bool
	refuses          func(*request) (status int, body string)
}

// Named returns a family of the table.
func Named(name string) *Family {
	for i := range Families {
		if Families[i].Name == name {
			return &Families[i]
		}
	}
	panic("there is no family " + name)
}

// Of returns a family that is not in the table.
func Of(refuses func(fields map[string]any, text string) (status int, body string)) *Family {
	return &Family{refuses: func(q *request) (int, string) { return refuses(q.fields, q.text) }}
}

// A Server is the endpoint of a family.
type Server struct {
	family  *Family
	next    http.Handler
	asked   atomic.Int32
	refused atomic.Int32
}

// Before returns an endpoint that hands to next what the family does not refuse.
func (f *Family) Before(next http.Handler) *Server { return &Server{family: f, next: next} }

// Counts returns how many requests came, and how many of them were refused.
func (s *Server) Counts() (asked, refused int) { return int(s.asked.Load()), int(s.refused.Load()) }

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	s.asked.Add(1)
	if status, body := s.family.Refuses(text); status != 0 {
		s.refused.Add(1)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(text))
	s.next.ServeHTTP(w, r)
}

// Refuses returns the status and body with which the family refuses a request; 0 if it takes it.
func (f *Family) Refuses(text []byte) (status int, body string) {
	q := &request{text: string(text)}
	if json.Unmarshal(text, &q.fields) != nil {
		return refusal("", "", "We could not parse the JSON body of your request.")
	}
	if status, body := f.refuses(q); status != 0 {
		return status, body
	}
	if why := q.malformed(); why != "" {
		return refusal("", "", why)
	}
	return 0, ""
}

// A request is what an endpoint was sent.
type request struct {
	text   string
	fields map[string]any
}

func (q *request) has(field string) bool { _, ok := q.fields[field]; return ok }

func (q *request) number(field string) float64 { n, _ := q.fields[field].(float64); return n }

// keyword reports whether a schema in it has a keyword.
func (q *request) keyword(name string) bool { return strings.Contains(q.text, `"`+name+`":`) }

func (q *request) messages() (all []map[string]any) {
	for _, m := range list(q.fields["messages"]) {
		all = append(all, object(m))
	}
	return all
}

// A tool is a function of a request.
type tool struct {
	name       string
	parameters any
	strict     bool
	is         map[string]any
}

func (q *request) tools() (all []tool) {
	for _, t := range list(q.fields["tools"]) {
		f := object(object(t)["function"])
		name, _ := f["name"].(string)
		all = append(all, tool{name, f["parameters"], f["strict"] == true, f})
	}
	return all
}

func list(v any) []any            { l, _ := v.([]any); return l }
func object(v any) map[string]any { o, _ := v.(map[string]any); return o }

// refusal is how OpenAI refuses a request, and many others after it.
func refusal(param, code, message string) (int, string) {
	text, _ := json.Marshal(map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error", "param": or(param), "code": or(code)}}) // texts
	return http.StatusBadRequest, string(text)
}

func or(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// forbidden is how validators of Python refuse a field, as FastAPI and Mistral pass it on.
func forbidden(loc ...string) (int, string) {
	at, _ := json.Marshal(append([]string{"body"}, loc...))
	return http.StatusUnprocessableEntity, fmt.Sprintf(`{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":%s,"msg":"Extra inputs are not permitted","input":1}]},"type":"invalid_request_error","param":null,"code":null}`, at)
}

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// malformed says what of a request is against the protocol itself, as OpenAI's reference of the API has it
// (platform.openai.com, api-reference/chat/create, read 2026-11-30); "" if nothing is.
func (q *request) malformed() string {
	messages := q.messages()
	switch {
	case len(messages) == 0:
		return "[] is too short - 'messages'"
	case q.has("stream_options") && q.fields["stream"] != true:
		return "The 'stream_options' parameter is only allowed when 'stream' is enabled."
	case (q.has("tool_choice") || q.has("parallel_tool_calls")) && !q.has("tools"):
		return "'tool_choice' is only allowed when 'tools' are specified."
	case q.has("max_tokens") && q.has("max_completion_tokens"):
		return "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."
	case len(list(q.fields["stop"])) > 4:
		return "'stop' has more than 4 sequences"
	}
	open := map[string]bool{} // calls without an answer
	for i, m := range messages {
		role, _ := m["role"].(string)
		id, _ := m["tool_call_id"].(string)
		text, _ := m["content"].(string)
		switch {
		case !slices.Contains([]string{"system", "developer", "user", "assistant", "tool"}, role):
			return fmt.Sprintf("'%s' is not one of the roles - 'messages.%d.role'", role, i)
		case role == "tool" && !open[id]:
			return "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
		case role != "tool" && len(open) > 0:
			return "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
		case text == "" && len(list(m["tool_calls"])) == 0:
			return fmt.Sprintf("Invalid value for 'content': expected a string, got null - 'messages.%d.content'", i)
		}
		delete(open, id)
		for _, c := range list(m["tool_calls"]) {
			f, id := object(object(c)["function"]), object(c)["id"].(string)
			arguments, _ := f["arguments"].(string)
			var args map[string]any
			if name, _ := f["name"].(string); !toolName.MatchString(name) || open[id] || id == "" {
				return fmt.Sprintf("Invalid 'messages[%d].tool_calls'", i)
			}
			if json.Unmarshal([]byte(arguments), &args) != nil || args == nil {
				return fmt.Sprintf("Invalid 'messages[%d].tool_calls[0].function.arguments': it is no JSON object", i)
			}
			open[id] = true
		}
	}
	names := map[string]bool{}
	for i, t := range q.tools() {
		description, _ := t.is["description"].(string)
		switch {
		case !toolName.MatchString(t.name) || names[t.name]:
			return fmt.Sprintf("Invalid 'tools[%d].function.name'", i)
		case len(description) > 1024:
			return fmt.Sprintf("Invalid 'tools[%d].function.description': string too long", i)
		case t.parameters != nil && object(t.parameters)["type"] != "object":
			return fmt.Sprintf("Invalid schema for function '%s': schema must be a JSON Schema of 'type: \"object\"'", t.name)
		}
		if why := noSchema(t.parameters); why != "" && t.parameters != nil {
			return fmt.Sprintf("Invalid schema for function '%s': %s", t.name, why)
		}
		names[t.name] = true
	}
	if len(names) > 128 {
		return fmt.Sprintf("Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length %d instead.", len(names))
	}
	return ""
}

// noSchema says why something is no JSON Schema.
func noSchema(schema any) string {
	s, ok := schema.(map[string]any)
	if !ok {
		return fmt.Sprintf("%v is not of type 'object'", schema)
	}
	if values, has := s["enum"]; has && len(list(values)) == 0 {
		return fmt.Sprintf("%v is not of type 'array', or is empty - 'enum'", values)
	}
	for _, inner := range inside(s) {
		if why := noSchema(inner); why != "" {
			return why
		}
	}
	return ""
}

// inside returns the schemas that stand in a schema.
func inside(s map[string]any) (all []any) {
	for _, word := range []string{"properties", "$defs", "patternProperties"} {
		for _, of := range object(s[word]) {
			all = append(all, of)
		}
	}
	for _, word := range []string{"anyOf", "oneOf", "allOf", "prefixItems"} {
		all = append(all, list(s[word])...)
	}
	if items, ok := s["items"]; ok {
		all = append(all, items)
	}
	return all
}
