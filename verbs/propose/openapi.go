package propose

import (
	"maps"
	"slices"
	"strings"

	"verbatim/verbs/message"
)

// methods are the HTTP methods that an operation may have.
var methods = []string{"get", "head", "options", "put", "post", "patch", "delete", "trace"}

// api proposes a verb for each operation of an API, and returns how many there are.
func (p *describer) api(doc map[string]any) (count int) {
	p.sends = true
	info, _ := doc["info"].(map[string]any)
	says, _ := info["title"].(string)
	if says = cutText(says, 200); says == "" {
		says = "What the API does."
	}
	p.begin(says, "# A first palette over an API, in its own words. Where a line says DECIDE, it is for you",
		"# to say what is right. Nothing carries these verbs out yet: each needs a handler in Go", "# under its name, or a tool of a server in place of `handler: true`. Behind an argument",
		"# stands where the request has it.")
	if hooks, ok := doc["webhooks"].(map[string]any); ok && len(hooks) > 0 {
		p.notSaid(2, message.Count(len(hooks), "webhook")+": those are requests that others make")
	}
	paths, _ := doc["paths"].(map[string]any)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		item, why := p.flat(paths[path], 0)
		if why != "" {
			p.notSaid(2, "path "+path+": "+why)
			continue
		}
		for _, method := range methods {
			if op, ok := item[method].(map[string]any); ok {
				count++
				p.operation(method, path, doc, item, op)
				p.turn()
			}
		}
	}
	return count
}

func (p *describer) operation(method, path string, doc, item, op map[string]any) {
	address := strings.ToUpper(method) + " " + serverOf(op, item, doc) + path
	v := describedVerb{called: strings.ToUpper(method) + " " + path, heads: []string{address}, deprecated: op["deprecated"] == true}
	v.reads = slices.Contains([]string{"get", "head", "options", "trace"}, method)
	if v.name, _ = op["operationId"].(string); strings.TrimSpace(v.name) == "" {
		v.name = method + " " + path
	}
	for _, from := range []map[string]any{op, item} {
		for _, key := range []string{"description", "summary"} {
			if text, _ := from[key].(string); strings.TrimSpace(v.description) == "" {
				v.description = text
			}
		}
	}
	if strings.TrimSpace(v.description) == "" {
		v.description = v.called
	}
	p.lost = nil
	for _, q := range slices.Concat(listOf(op["parameters"]), listOf(item["parameters"])) {
		a, why := p.parameter(q)
		if why != "" {
			p.lose("a parameter: " + why)
		} else if a.wire != "" && !slices.ContainsFunc(v.args, func(b describedArg) bool { return a.wire == b.wire && a.place == b.place }) {
			v.args = append(v.args, a)
		}
	}
	if op["requestBody"] != nil {
		if why := p.requestBody(&v, op["requestBody"]); why != "" {
			p.notSaid(2, v.called+": of its body: "+why)
			return
		}
	}
	v.lost = p.lost
	v.tail = func([]describedArg) {
		if !v.reads {
			p.decide++
			p.body.line("    confirm: always  # DECIDE: who agrees, and when")
			// The person who agrees must not be told that nothing changes.
			p.body.line("    effects: [{may-store: what the request changes outside of this system}]")
		}
		p.body.line("    handler: true")
	}
	p.verb(v)
}

// serverOf returns the address of an operation, as far as it is described.
func serverOf(levels ...map[string]any) string {
	for _, m := range levels {
		if list := listOf(m["servers"]); len(list) > 0 {
			server, _ := list[0].(map[string]any)
			url, _ := server["url"].(string)
			return strings.TrimRight(url, "/")
		}
	}
	return ""
}

// parameter reads a parameter; one without a name is ignored.
func (p *describer) parameter(q any) (a describedArg, why string) {
	m, why := p.flat(q, 0)
	if why != "" {
		return a, why
	}
	a.wire, _ = m["name"].(string)
	a.place, _ = m["in"].(string)
	a.description, _ = m["description"].(string)
	a.required, a.schema = m["required"] == true, m["schema"]
	if a.place == "header" && slices.Contains([]string{"accept", "content-type", "authorization"}, strings.ToLower(a.wire)) {
		return describedArg{}, "" // OpenAPI leaves these headers to the protocol
	}
	if content, ok := m["content"].(map[string]any); ok && len(content) > 0 {
		media, _ := content[slices.Sorted(maps.Keys(content))[0]].(map[string]any)
		a.schema = media["schema"]
	}
	a.examples = p.examples(m)
	if a.wire == "" {
		why = "it has no name"
	}
	return a, why
}

// examples returns the examples beside a schema.
func (p *describer) examples(m map[string]any) (all []any) {
	if m["example"] != nil {
		all = append(all, m["example"])
	}
	named, _ := m["examples"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if e, why := p.flat(named[name], 0); why == "" && e["value"] != nil {
			all = append(all, e["value"])
		}
	}
	return all
}

// requestBody adds the arguments for a body: the members of an object, or else the whole body.
func (p *describer) requestBody(v *describedVerb, body any) string {
	b, why := p.flat(body, 0)
	if why != "" {
		return why
	}
	content, _ := b["content"].(map[string]any)
	types := slices.Sorted(maps.Keys(content))
	if len(types) == 0 {
		return ""
	}
	rank := func(t string) int {
		t, _, _ = strings.Cut(strings.ToLower(t), ";")
		switch {
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
	slices.SortStableFunc(types, func(a, b string) int { return rank(a) - rank(b) })
	media, _ := content[types[0]].(map[string]any)
	if len(types) > 1 {
		p.lose("its body as " + strings.Join(types[1:], ", "))
	}
	v.heads = append(v.heads, "body: "+types[0])
	place := map[int]string{2: "form", 3: "form"}[rank(types[0])]
	if place == "" {
		place = "body"
	}
	schema, why := p.flat(media["schema"], 0)
	if why != "" {
		return why
	}
	properties, _ := schema["properties"].(map[string]any)
	if rank(types[0]) < 4 && (len(properties) > 0 || jsonKindOf(schema) == "object" && (schema["oneOf"] != nil || schema["anyOf"] != nil)) {
		args, why := p.members(media["schema"])
		for i := range args {
			args[i].place = place
			for _, e := range p.examples(media) {
				if m, ok := e.(map[string]any); ok && m[args[i].wire] != nil {
					args[i].examples = append(args[i].examples, m[args[i].wire])
				}
			}
		}
		v.args = append(v.args, args...)
		return why
	}
	whole := describedArg{wire: "body", place: "the", required: b["required"] == true, schema: media["schema"]}
	whole.description, _ = b["description"].(string)
	switch {
	case rank(types[0]) < 4:
	case strings.HasPrefix(types[0], "text/") || strings.HasSuffix(types[0], "xml"):
		whole.schema = map[string]any{"type": "string"}
	default:
		whole.schema = map[string]any{"type": "string", "format": "binary"}
	}
	v.args = append(v.args, whole)
	return ""
}
