package propose

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// An Operation is what a request of an operation of an API is made of. The verbs that are proposed
// for an API and the requests that are sent to it are made from the same reading.
type Operation struct {
	Name         string // of the operation as a tool
	Method, Path string // "GET", "/parcels/{id}"
	Server       string // where the description says that it is, "" if it does not
	Description  string
	Reads        bool // by its method
	Inputs       []Input
	Media        string         // of the body of the request, "" without one
	Needs        bool           // the body must be there
	Accept       string         // media type of the answer
	Listed       bool           // the answer is a list, which its schema has as the member Items
	Unsent       string         // why no request can be made, "" if one can
	Text         map[string]any // the operation in the description

	answer any // schema of the answer, nil if it is not described
	doc    *describer
}

// An Input is one value in a request.
type Input struct {
	Key      string `json:"key"` // in the arguments of the tool
	Name     string `json:"name"`
	In       string `json:"in"`              // "path", "query", "header", "form", "body", or "the" if it is the whole body
	Style    string `json:"style,omitempty"` // as OpenAPI names it, or "json"
	Explode  bool   `json:"explode,omitempty"`
	Required bool   `json:"required,omitempty"`

	schema      any
	description string
}

// Items is the member that holds an answer that is a list.
const Items = "items"

// AsJSON is the style of a value that is written as JSON.
const AsJSON = "json"

// Operations reads the operations of an API as OpenAPI 3 describes it, in JSON or YAML, in order. One
// that cannot be read is Unsent.
func Operations(text []byte) (all []Operation, err error) {
	doc, err := readDocument(text)
	if err != nil {
		return nil, err
	}
	top, _ := doc.(map[string]any)
	if version, _ := top["openapi"].(string); !strings.HasPrefix(version, "3.") {
		return nil, errors.New("it is no description by OpenAPI 3")
	}
	p := &describer{root: doc}
	for v, why := range p.operations(top) {
		r := v.request
		if r.Method == "" {
			continue // a path that cannot be read
		}
		if why != "" {
			r.Unsent = why
		}
		r.Description, r.doc = v.description, p
		for _, a := range v.args {
			if a.unsaid == "" {
				r.Inputs = append(r.Inputs, Input{a.key, a.wire, a.place, a.style, a.explode, a.required, a.schema, a.description})
			}
		}
		all = append(all, r)
	}
	return all, nil
}

// InputSchema returns the JSON Schema of an operation's arguments, without those that are set
// elsewhere.
func (o *Operation) InputSchema(set func(Input) bool) map[string]any {
	b := bundler{p: o.doc, names: map[string]string{}, defs: map[string]any{}}
	properties, required := map[string]any{}, []string{}
	for _, in := range o.Inputs {
		if set(in) {
			continue
		}
		schema := b.copy(in.schema)
		if in.description != "" {
			of, _ := schema.(map[string]any)
			schema = map[string]any{"allOf": []any{of}, "description": in.description}
			if len(of) == 0 {
				delete(schema.(map[string]any), "allOf")
			}
		}
		properties[in.Key] = schema
		if in.Required {
			required = append(required, in.Key)
		}
	}
	out := map[string]any{"type": "object", "properties": properties, "required": required}
	if len(b.defs) > 0 {
		out["$defs"] = b.defs
	}
	return out
}

// OutputSchema returns the JSON Schema of an operation's answer, nil if it is not described.
func (o *Operation) OutputSchema() any { return o.doc.bundled(o.answer) }

// bundled returns a schema with everything that it refers to.
func (p *describer) bundled(schema any) any {
	of, ok := schema.(map[string]any)
	if !ok {
		return nil
	}
	b := bundler{p: p, names: map[string]string{}, defs: map[string]any{}}
	out, _ := b.copy(of).(map[string]any)
	if len(b.defs) > 0 {
		out["$defs"] = b.defs
	}
	return out
}

// A bundler copies schemas, and the targets of their references into $defs, each once: a schema that
// leads to itself stays as short as it is.
type bundler struct {
	p     *describer
	names map[string]string // by reference
	defs  map[string]any
}

func (b *bundler) copy(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = b.copy(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, part := range v {
			if ref, ok := part.(string); ok && k == "$ref" {
				if out[k] = b.refer(ref); out[k] == "" {
					return map[string]any{} // the target is not there: anything fits
				}
				continue
			}
			if !strings.HasPrefix(k, "x-") {
				out[k] = b.copy(part)
			}
		}
		return out
	}
	return v
}

func (b *bundler) refer(ref string) string {
	name, known := b.names[ref]
	if !known {
		to, why := b.p.lookup(ref)
		if why != "" {
			return ""
		}
		base := slug(refName(ref), '_')
		name = base
		for n := 2; b.defs[name] != nil; n++ {
			name = base + "_" + strconv.Itoa(n)
		}
		b.names[ref], b.defs[name] = name, true // the content is filled in when it is copied
		b.defs[name] = b.copy(to)
	}
	return "#/$defs/" + name
}

// answers reads what an operation answers with when it succeeds.
func (p *describer) answers(r *Operation, op map[string]any) {
	all, _ := op["responses"].(map[string]any)
	var code string
	for _, c := range []string{"200", "201", "202", "203", "2XX", "2xx", "default"} {
		if all[c] != nil {
			code = c
			break
		}
	}
	of, why := p.flat(all[code], 0)
	content, _ := of["content"].(map[string]any)
	types := byRank(content)
	r.Accept = "application/json"
	if code == "" || why != "" || len(types) == 0 {
		return
	}
	if rank(types[0]) > 1 {
		r.Accept = types[0] + ", application/json;q=0.5"
		return
	}
	r.Accept = types[0]
	media, _ := content[types[0]].(map[string]any)
	switch m, why := p.flat(media["schema"], 0); {
	case why != "" || code == "default" || media["schema"] == nil:
	case jsonKindOf(m) == "array":
		r.Listed = true
		r.answer = map[string]any{"type": "object", "required": []any{Items}, "properties": map[string]any{Items: media["schema"]}}
	case jsonKindOf(m) == "object":
		r.answer = media["schema"]
	}
}

// byRank returns the media types of a content, those first that are written best.
func byRank(content map[string]any) []string {
	types := make([]string, 0, len(content))
	for t := range content {
		types = append(types, t)
	}
	slices.SortFunc(types, func(a, b string) int {
		if n := rank(a) - rank(b); n != 0 {
			return n
		}
		return strings.Compare(a, b)
	})
	return types
}

// rank says how well a media type is written: JSON best.
func rank(t string) int {
	t, _, _ = strings.Cut(strings.ToLower(t), ";")
	switch t = strings.TrimSpace(t); {
	case t == "application/json":
		return 0
	case strings.HasSuffix(t, "+json"):
		return 1
	case t == "application/x-www-form-urlencoded":
		return 2
	case t == "multipart/form-data":
		return 3
	}
	return 4
}

// Body returns how the body of a request is written: as "json", "form" or "text", "" if there is none.
func (o *Operation) Body() string {
	switch n := rank(o.Media); {
	case o.Media == "":
		return ""
	case n < 2:
		return AsJSON
	case n == 2:
		return "form"
	}
	return "text"
}

// unsent says why no request of an operation can be made, "" if one can.
func unsent(r *Operation, args []describedArg) string {
	if r.Media != "" && rank(r.Media) > 2 && !isText(r.Media) {
		return "a body of " + cutText(r.Media, 60) + " is not sent"
	}
	if !strings.HasPrefix(r.Path, "/") || strings.Contains(r.Path, "#") {
		return "its path is none"
	}
	names := map[string]bool{}
	for _, a := range args {
		switch {
		case a.place == "cookie" && a.required:
			return "it needs the cookie " + cutText(a.wire, 60) + ", and cookies are not sent"
		case a.place == "path" && a.style != "" && a.style != "simple" && a.style != AsJSON:
			return "its path is written in the style " + cutText(a.style, 60)
		case a.place == "path":
			names[a.wire] = true
		}
	}
	for rest := r.Path; ; {
		_, after, found := strings.Cut(rest, "{")
		name, behind, closed := strings.Cut(after, "}")
		if !found {
			return ""
		}
		if !closed || !names[name] {
			return "its path needs " + cutText(name, 60) + ", which it does not describe"
		}
		rest = behind
	}
}

// isText reports whether a media type is of texts.
func isText(t string) bool {
	t, _, _ = strings.Cut(strings.ToLower(t), ";")
	t = strings.TrimSpace(t)
	return strings.HasPrefix(t, "text/") || strings.HasSuffix(t, "xml")
}
