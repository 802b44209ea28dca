package propose

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode"

	"verbatim/verbs/message"
)

// methods are the HTTP methods that an operation may have.
var methods = []string{"get", "head", "options", "put", "post", "patch", "delete", "trace"}

// api proposes a verb for each operation of an API, and returns how many there are. server is the
// name under which the operator's file has the API.
func (p *describer) api(server string, doc map[string]any) (count int) {
	info, _ := doc["info"].(map[string]any)
	says, _ := info["title"].(string)
	if says = cutText(says, 200); says == "" {
		says = "What the API does."
	}
	p.begin(says, "# A first palette over an API, in its own words. Where a line says DECIDE, it is for you",
		"# to say what is right. The server "+cutText(server, 100)+" is this API in the operator's file of servers. A verb with",
		"# `handler: true` needs a handler in Go under its name. Behind an argument stands where the", "# request has it.")
	if hooks, ok := doc["webhooks"].(map[string]any); ok && len(hooks) > 0 {
		p.notSaid(2, message.Count(len(hooks), "webhook")+": those are requests that others make")
	}
	for v, why := range p.operations(doc) {
		if why != "" {
			p.notSaid(2, v.called+": "+why)
		} else {
			v.tail = func(args []describedArg) { p.operationTail(server, &v, args) }
			p.verb(v)
		}
		if v.request.Method != "" {
			count++
			p.turn()
		}
	}
	return count
}

// operations reads the operations of an API, or why one, or a path, cannot be read.
func (p *describer) operations(doc map[string]any) iter.Seq2[describedVerb, string] {
	p.sends = true
	names := proposer{taken: map[string]bool{}}
	return func(yield func(describedVerb, string) bool) {
		paths, _ := doc["paths"].(map[string]any)
		for _, path := range slices.Sorted(maps.Keys(paths)) {
			item, why := p.flat(paths[path], 0)
			if why != "" && !yield(describedVerb{called: "path " + path}, why) {
				return
			}
			for _, method := range methods {
				if op, ok := item[method].(map[string]any); ok && why == "" {
					v, why := p.operation(method, path, doc, item, op)
					v.request.Name = names.unique(v.request.Name)
					if !yield(v, why) {
						return
					}
				}
			}
		}
	}
}

// operation reads an operation.
func (p *describer) operation(method, path string, doc, item, op map[string]any) (v describedVerb, why string) {
	r := Operation{Method: strings.ToUpper(method), Path: path, Server: serverOf(op, item, doc), Text: op}
	v = describedVerb{called: r.Method + " " + path, heads: []string{r.Method + " " + r.Server + path}, deprecated: op["deprecated"] == true}
	r.Reads = slices.Contains([]string{"get", "head", "options", "trace"}, method)
	v.reads = r.Reads
	if v.name, _ = op["operationId"].(string); strings.TrimSpace(v.name) == "" {
		v.name = method + " " + path
	}
	if r.Name = v.name; op["operationId"] != v.name || len(v.name) > 200 || strings.ContainsFunc(v.name, unicode.IsControl) {
		r.Name = slug(v.name, '-')
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
		if why := p.requestBody(&v, &r, op["requestBody"]); why != "" {
			v.request = r
			return v, "of its body: " + why
		}
	}
	p.answers(&r, op)
	r.Unsent = unsent(&r, v.args)
	keys := proposer{taken: map[string]bool{}}
	for i := range v.args {
		a := &v.args[i]
		a.key = a.wire
		for j := range v.args {
			if i != j && v.args[j].wire == a.wire {
				a.key = a.place + "." + a.wire
			}
		}
		a.key = keys.unique(a.key)
		if r.Unsent == "" && a.place == "cookie" {
			a.unsaid = "cookies are not sent"
		}
	}
	v.lost, v.request = p.lost, r
	return v, ""
}

// operationTail writes how an operation is carried out.
func (p *describer) operationTail(server string, v *describedVerb, args []describedArg) {
	r := &v.request
	if r.Unsent == "" {
		root := p.root
		p.toolTail(server, r.Name, map[string]any{"outputSchema": p.bundled(r.answer)}, map[string]any{"readOnlyHint": r.Reads}, args)
		p.root, p.sends = root, true
		return
	}
	p.notSaid(4, "a request of it: "+r.Unsent)
	if !v.reads {
		p.decide++
		p.body.line("    confirm: always  # DECIDE: who agrees, and when")
		// The person who agrees must not be told that nothing changes.
		p.body.line("    effects: [{may-store: what the request changes outside of this system}]")
	}
	p.body.line("    handler: true")
}

// serverOf returns the address of an operation, as far as it is described.
func serverOf(levels ...map[string]any) string {
	for _, m := range levels {
		if list := listOf(m["servers"]); len(list) > 0 {
			server, _ := list[0].(map[string]any)
			url, _ := server["url"].(string)
			named, _ := server["variables"].(map[string]any)
			for _, name := range slices.Sorted(maps.Keys(named)) {
				v, _ := named[name].(map[string]any)
				text, _ := v["default"].(string)
				url = strings.ReplaceAll(url, "{"+name+"}", text)
			}
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
	a.style, _ = m["style"].(string)
	if a.style == "" {
		a.style = map[string]string{"query": "form", "cookie": "form"}[a.place]
	}
	if a.explode = a.style == "form" || a.style == "deepObject"; m["explode"] != nil {
		a.explode = m["explode"] == true
	}
	if content, ok := m["content"].(map[string]any); ok && len(content) > 0 {
		media, _ := content[slices.Sorted(maps.Keys(content))[0]].(map[string]any)
		a.schema, a.style = media["schema"], AsJSON
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
func (p *describer) requestBody(v *describedVerb, r *Operation, body any) string {
	b, why := p.flat(body, 0)
	if why != "" {
		return why
	}
	content, _ := b["content"].(map[string]any)
	types := byRank(content)
	if len(types) == 0 {
		return ""
	}
	media, _ := content[types[0]].(map[string]any)
	if len(types) > 1 {
		p.lose("its body as " + strings.Join(types[1:], ", "))
	}
	v.heads = append(v.heads, "body: "+types[0])
	r.Media, r.Needs = types[0], b["required"] == true
	place := cmp.Or(map[int]string{2: "form", 3: "form"}[rank(types[0])], "body")
	encoding, _ := media["encoding"].(map[string]any)
	schema, why := p.flat(media["schema"], 0)
	if why != "" {
		return why
	}
	properties, _ := schema["properties"].(map[string]any)
	if rank(types[0]) < 4 && (len(properties) > 0 || jsonKindOf(schema) == "object" && (schema["oneOf"] != nil || schema["anyOf"] != nil)) {
		args, why := p.members(media["schema"])
		for i := range args {
			args[i].place = place
			if place == "form" {
				args[i].style, args[i].explode = "form", true
				of, _ := encoding[args[i].wire].(map[string]any)
				if style, ok := of["style"].(string); ok {
					args[i].style, args[i].explode = style, of["explode"] != false
				} else if m, _ := p.flat(args[i].schema, 0); jsonKindOf(m) == "object" || of["contentType"] == "application/json" {
					args[i].style = AsJSON
				}
			}
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
	case isText(types[0]):
		whole.schema = map[string]any{"type": "string"}
	default:
		whole.schema = map[string]any{"type": "string", "format": "binary"}
	}
	v.args = append(v.args, whole)
	return ""
}
