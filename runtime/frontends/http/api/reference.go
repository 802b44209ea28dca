package api

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/frontends/http/server"
	"verbatim/verbs"
	"verbatim/verbs/grammar"
)

// The reference: which calls a caller may make, and how to make them over HTTP.

type verbDoc struct {
	Verb        string          `json:"verb"`
	Description string          `json:"description"`
	Example     string          `json:"example"`
	Text        string          `json:"text,omitempty"`
	Arguments   json.RawMessage `json:"arguments,omitempty"` // JSON Schema
}

func (v *visit) verbs() error {
	list := []verbDoc{}
	for _, verb := range v.Session.Verbs() {
		list = append(list, verbDoc{Verb: verb.Name, Description: verb.Description, Example: verb.Example()})
	}
	return v.JSON(http.StatusOK, struct {
		Schema string    `json:"schema"`
		Verbs  []verbDoc `json:"verbs"`
	}{"verbatim/reference@1", list})
}

func (v *visit) verb() error {
	verb, err := v.asksFor()
	if err != nil {
		return err
	}
	text, err := server.Explained(verb)
	if err != nil {
		return err
	}
	doc := verbDoc{Verb: verb.Name, Description: verb.Description, Example: verb.Example(), Text: text}
	if tools, err := grammar.Tools(grammar.Vocabulary{Verbs: []*verbs.Verb{verb}}); err == nil && len(tools) == 1 {
		doc.Arguments = tools[0].Parameters
	}
	return v.JSON(http.StatusOK, doc)
}

func (v *visit) code() error {
	code := v.R.PathValue("code")
	i := slices.IndexFunc(v.api.Codes, func(d dsl.CodeDoc) bool { return d.Code == code })
	if i < 0 {
		return server.Problem{Status: http.StatusNotFound, Code: "unknown-code", Title: "there is no such code"}
	}
	d := v.api.Codes[i]
	return v.JSON(http.StatusOK, struct {
		Schema  string `json:"schema"`
		Code    string `json:"code"`
		Meaning string `json:"meaning"`
		Wrong   string `json:"wrong"`
		Right   string `json:"right"`
	}{"verbatim/code@1", d.Code, d.Meaning, d.Wrong, d.Right})
}

// openAPI describes the API to its caller in OpenAPI 3.1: a path for each verb that they may use,
// with the schema of its arguments, and the routes for scripts. Callers with the same verbs share
// one document.
func (v *visit) openAPI() error {
	may := v.Session.Verbs()
	var names strings.Builder
	for _, verb := range may {
		names.WriteString(verb.Name + " ")
	}
	text, ok := v.api.described.Load(names.String())
	if !ok {
		doc, err := v.api.describe(may)
		if err != nil {
			return err
		}
		line, err := json.Marshal(doc)
		if err != nil {
			return err
		}
		text = append(line, '\n')
		if v.Only == nil { // there are as many as sets of roles, not as tokens
			v.api.described.Store(names.String(), text)
		}
	}
	return v.Send(http.StatusOK, "application/json", text.([]byte))
}

type object = map[string]any

func (a *API) describe(may []*verbs.Verb) (object, error) {
	ref := func(name string) object { return object{"$ref": "#/components/schemas/" + name} }
	content := func(kind string, schema object) object { return object{kind: object{"schema": schema}} }
	answers := func(of object) object {
		return object{
			"200":     object{"description": "What it came to.", "content": content("application/json", of)},
			"default": object{"description": "Why it was not done.", "content": content("application/problem+json", ref("server.Problem"))},
		}
	}
	parameter := func(name, in, does string, schema object, required bool) object {
		return object{"name": name, "in": in, "description": does, "schema": schema, "required": required}
	}
	text := object{"type": "string"}
	once := parameter("Idempotency-Key", "header", "What is sent twice under one key is done once.", object{"type": "string", "maxLength": 200}, false)
	match := parameter("If-Match", "header", "The ETag of the session, as it was last seen.", text, false)
	paths := object{}
	for _, r := range a.routes() {
		method, path, _ := strings.Cut(r.Pattern, " ")
		if path == "/v1/verbs/{verb}" && method == http.MethodPost {
			continue // it is replaced by a path for each verb
		}
		op := object{"operationId": operation(method, path), "summary": r.Does, "responses": answers(object{"type": "object"})}
		var parameters []object
		for _, part := range strings.Split(path, "/") {
			if name, ok := strings.CutPrefix(part, "{"); ok {
				parameters = append(parameters, parameter(strings.TrimSuffix(name, "}"), "path", "", text, true))
			}
		}
		switch path {
		case "/v1/check", "/v1/preview", "/v1/run", "/v1/propose":
			op["requestBody"] = object{"required": true, "content": content("application/json", ref("Script"))}
			if path != "/v1/check" {
				op["responses"] = answers(ref("Run"))
				parameters = append(parameters, once, match)
			}
		case "/v1/sessions/{name}/turns":
			op["requestBody"] = object{"required": true, "content": content("application/json", object{"type": "object", "properties": object{"text": text}, "required": []string{"text"}})}
			parameters = append(parameters, once, match)
		case "/v1/confirmations/{id}/decline":
			op["requestBody"] = object{"content": content("application/json", object{"type": "object", "properties": object{"reason": text}})}
		case "/v1/uploads":
			op["requestBody"] = object{"required": true, "content": content("application/octet-stream", object{"type": "string", "contentMediaType": "application/octet-stream"})}
			parameters = append(parameters, parameter("name", "query", "What the file is called.", text, true))
		case "/v1/journal":
			parameters = append(parameters, parameter("from", "query", "The first entry.", object{"type": "integer", "minimum": 1}, false))
		case "/v1/events":
			parameters = append(parameters, parameter("Last-Event-ID", "header", "The last event that was seen.", text, false))
		}
		if parameters != nil {
			op["parameters"] = parameters
		}
		of, _ := paths[path].(object)
		if of == nil {
			of = object{}
			paths[path] = of
		}
		of[strings.ToLower(method)] = op
	}
	tools, err := grammar.Tools(grammar.Vocabulary{Verbs: may})
	if err != nil {
		return nil, err
	}
	for _, t := range tools {
		paths["/v1/verbs/"+t.Verb.Name] = object{"post": object{
			"operationId": t.Name, "summary": t.Verb.Description, "tags": []string{domain(t.Verb.Name)}, "responses": answers(ref("Run")),
			"requestBody": object{"required": true, "content": object{"application/json": object{"schema": t.Parameters}}},
			"parameters": []object{once, match, parameter("session", "query", "The session that it goes on in.", text, false),
				parameter("agreed", "query", "The preview that was agreed to.", text, false)},
		}}
	}
	any := object{"type": "object"}
	return object{
		"openapi":  "3.1.0",
		"info":     object{"title": "Verbatim", "version": a.server.Registry.Digest()[:12]},
		"servers":  []object{{"url": a.server.Origin()}},
		"security": []object{{"token": []string{}}},
		"paths":    paths,
		"components": object{
			"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer"}},
			"schemas": object{
				"Script": object{"type": "object", "required": []string{"script"}, "additionalProperties": false, "properties": object{
					"script": text, "name": text, "session": text, "agreed": text, "origin": text, "each": object{"type": "boolean"}}},
				"Run": object{"type": "object", "required": []string{"schema", "outcome"}, "properties": object{
					"schema": text, "outcome": text, "preview": any, "first": object{"type": "integer"}, "last": object{"type": "integer"}, "repeated": object{"type": "boolean"}, "confirmation": any}},
				"server.Problem": object{"type": "object", "required": []string{"type", "title", "status", "code"}, "properties": object{
					"type": text, "title": text, "status": object{"type": "integer"}, "code": text, "next": text, "request": text, "diagnostics": object{"type": "array", "items": any}}},
			},
		},
	}, nil
}

// operation makes the operation id of a route: "postRun", "getVerbsVerb".
func operation(method, path string) string {
	name := strings.ToLower(method)
	for _, part := range strings.FieldsFunc(strings.TrimPrefix(path, "/v1/"), func(r rune) bool { return strings.ContainsRune("/{}.-", r) }) {
		name += strings.ToUpper(part[:1]) + part[1:]
	}
	return name
}

func domain(verb string) string { return verb[:strings.LastIndexByte(verb, '.')] }
