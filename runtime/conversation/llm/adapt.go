package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Endpoints that speak one protocol refuse different parts of it. A part that is refused is left out,
// called by its other name, or weakened, and the same question is asked again at once. What helped is
// remembered by the client, which asks one model at one endpoint.

// An Adaptation is a change to every request, because the endpoint refuses requests without it.
type Adaptation struct {
	Parameter string // as the protocol calls it
	Change    string // what is done, such as "left out"
	Said      string // the endpoint's own words; empty if the table of families says it
}

// An adjustable is a part of a request that endpoints are known to refuse. Its steps are tried in
// their order, each in place of the one before.
type adjustable struct {
	name string
	// words are other words by which refusals tell of it.
	words []string
	// quoted says that the name is a common word, which counts only as a name: quoted, or alone.
	quoted bool
	// but are words by which a refusal tells of something else that has the name in it.
	but []string
	// last says that it is changed only where nothing else is named.
	last  bool
	steps []adjustment
}

type adjustment struct {
	says  string
	apply func(body *object) bool // reports whether it changed the request
}

// adjustables are in the order in which they are applied: names before values.
var adjustables = []adjustable{
	{name: "max_tokens", words: []string{"max_completion_tokens"}, but: tooMany, steps: []adjustment{
		{"sent as max_completion_tokens", func(b *object) bool { return rename(b, "max_tokens", "max_completion_tokens") }},
		{"left out", func(b *object) bool { return b.drop("max_tokens") || b.drop("max_completion_tokens") }},
	}},
	{name: "the bound of an answer", words: tooMany, steps: bounded(1000, 500, 250)},
	{name: "temperature", steps: leftOut("temperature")},
	{name: "seed", quoted: true, steps: leftOut("seed")},
	{name: "stop", quoted: true, steps: leftOut("stop")},
	{name: "stream_options", steps: leftOut("stream_options")},
	{name: "stream", quoted: true, words: []string{"tools with stream", "stream with tools", "stream tools", "streaming is not", "streaming not", "not support stream", "support streaming"}, steps: []adjustment{{"the answer is asked for in one piece", func(b *object) bool {
		streamed := string(raw(b.get("stream"))) == "true"
		b.drop("stream_options")
		return b.drop("stream") && streamed
	}}}},
	{name: "parallel_tool_calls", steps: leftOut("parallel_tool_calls")},
	{name: "tool_choice", words: []string{"tool choice", "toolchoice", "xgrammar", "guided decoding", "structured output", "force a tool", "forced tool"}, steps: []adjustment{
		{"weakened to auto", func(b *object) bool {
			if b.text("tool_choice") != "required" {
				return false
			}
			b.set("tool_choice", "auto")
			return true
		}},
		leftOut("tool_choice")[0],
	}},
	{name: "reasoning_effort", steps: []adjustment{{"set to none", func(b *object) bool {
		if b.text("reasoning_effort") == "none" {
			return false
		}
		b.set("reasoning_effort", "none")
		return true
	}}}},
	{name: "reasoning_content", steps: []adjustment{{"sent back with the model's own calls", func(b *object) bool { return giveBack(b) }}}},
	{name: "response_format", words: []string{"json_schema"}, steps: []adjustment{
		{"weakened to json_object, with the schema in the text", func(b *object) bool { return schemaAsText(b, true) }},
		{"left out, with the schema in the text", func(b *object) bool { return schemaAsText(b, false) }},
	}},
	{name: "system", quoted: true, words: []string{"system role", "role system", "system message", "developer instruction"}, steps: []adjustment{
		{"the rules stand in the first message of the person, and roles alternate", withoutSystem},
	}},
	{name: "roles", quoted: true, words: []string{"must alternate", "should be alternating", "alternating user", "alternate between", "unexpected role", "tool role", "role tool", "role 'tool'", "role \"tool\"", "'tool' role", "last role", "last message"}, steps: []adjustment{
		{"calls and their answers are told as text, and messages of one role are joined", func(b *object) bool { return inTurns(b) }},
		{"calls and their answers are told as text, and the rules stand in the first message of the person", func(b *object) bool {
			told := inTurns(b)
			return withoutSystem(b) || told
		}},
	}},
	{name: "content", quoted: true, words: []string{"role,content", "/content'", ".content", "content is empty", "content is required", "content cannot be", "content must be", "content should be"}, steps: []adjustment{
		{"an empty text beside a call", besideCalls(`""`)},
		{"null beside a call", besideCalls(`null`)},
		{"a blank beside a call", besideCalls(`" "`)},
	}},
	{name: "name", words: []string{"function_response.name", "tool.name", "name cannot be empty", "tool messages must have a name", "tool message must have a name"}, quoted: true, steps: []adjustment{
		{"the name of the tool stands with its answer", func(b *object) bool { return nameAnswers(b) }},
	}},
	{name: "tool_call_id", words: []string{"tool call id", "tool_use ids", "duplicate id"}, steps: []adjustment{
		{"nine letters and digits, in the order of the calls", func(b *object) bool { return numberCalls(b) }},
	}},
	{name: "tool_calls", quoted: true, steps: []adjustment{{"an entry without a name is dropped", func(*object) bool { return false }}}}, // of an answer
	{name: "stream mode", words: []string{"only support stream", "only supports stream", "streaming is required", "stream must be true", "must be streamed"}, steps: []adjustment{
		{"the answer is asked for as a stream", func(b *object) bool {
			streamed := string(raw(b.get("stream"))) == "true"
			b.set("stream", json.RawMessage("true"))
			return !streamed
		}},
	}},
	{name: "enable_thinking", steps: []adjustment{{"set to false", func(b *object) bool {
		was := b.at("enable_thinking") >= 0
		b.set("enable_thinking", json.RawMessage("false"))
		return !was
	}}}},
	{name: "strict", quoted: true, steps: []adjustment{{"left out", func(b *object) bool { return dropStrict(b) }}}},
	{name: "properties", words: []string{"non-empty for object", "'properties' or 'anyof'"}, quoted: true, steps: []adjustment{
		{"a tool without arguments is sent without a schema", func(b *object) bool { return dropEmpty(b) }},
	}},
	{name: "$defs", words: []string{"$ref", "definitions"}, steps: []adjustment{
		{"written out where it is used", func(b *object) bool { return inSchemas(b, inlined) }},
	}},
	{name: "additionalProperties", words: []string{"additional_properties"}, steps: withoutKeyword("additionalProperties")},
	{name: "patternProperties", steps: withoutKeyword("patternProperties")},
	{name: "propertyNames", steps: withoutKeyword("propertyNames")},
	{name: "$schema", steps: withoutKeyword("$schema")},
	{name: "pattern", quoted: true, words: []string{"regex", "failed to parse grammar"}, steps: withoutKeyword("pattern")},
	{name: "maxLength", words: []string{"number of repetitions", "failed to parse grammar"}, steps: withoutKeyword("maxLength", "minLength")},
	{name: "minLength", steps: withoutKeyword("minLength", "maxLength")},
	{name: "maxItems", words: []string{"number of repetitions"}, steps: withoutKeyword("maxItems", "minItems")},
	{name: "minItems", steps: withoutKeyword("minItems", "maxItems")},
	{name: "uniqueItems", steps: withoutKeyword("uniqueItems")},
	{name: "minimum", quoted: true, steps: withoutKeyword("minimum", "exclusiveMinimum")},
	{name: "maximum", quoted: true, steps: withoutKeyword("maximum", "exclusiveMaximum")},
	{name: "exclusiveMinimum", steps: withoutKeyword("exclusiveMinimum")},
	{name: "exclusiveMaximum", steps: withoutKeyword("exclusiveMaximum")},
	{name: "multipleOf", steps: withoutKeyword("multipleOf")},
	{name: "format", quoted: true, steps: []adjustment{{"the formats are in the descriptions", func(b *object) bool {
		return inSchemas(b, func(s *object) bool { return eachSchema(s, formatAsText) })
	}}}},
	{name: "default", quoted: true, steps: withoutKeyword("default")},
	{name: "examples", quoted: true, steps: withoutKeyword("examples")},
	{name: "title", quoted: true, steps: withoutKeyword("title")},
	{name: "not", quoted: true, steps: withoutKeyword("not")},
	{name: "allOf", steps: withoutKeyword("allOf")},
	{name: "oneOf", steps: []adjustment{{"written as anyOf", func(b *object) bool {
		return inSchemas(b, func(s *object) bool {
			return eachSchema(s, func(s *object) bool { return rename(s, "oneOf", "anyOf") })
		})
	}}}},
	{name: "anyOf", quoted: true, steps: []adjustment{{"what may be null may be left out, and the first of other forms is taken", func(b *object) bool {
		return inSchemas(b, func(s *object) bool {
			eachSchema(s, nullsAreOptional)
			return eachSchema(s, firstForm)
		})
	}}}},
	{name: "fields beside anyOf", words: []string{"alongside any_of", "alongside anyof", "only field set"}, steps: []adjustment{{"written into its forms", func(b *object) bool {
		return inSchemas(b, func(s *object) bool { return eachSchema(s, intoForms) })
	}}}},
	{name: "const", quoted: true, steps: []adjustment{{"written as an enum of one value", func(b *object) bool {
		return inSchemas(b, func(s *object) bool {
			return eachSchema(s, func(s *object) bool {
				i := s.at("const")
				if i >= 0 {
					(*s)[i] = member{"enum", []any{(*s)[i].value}}
				}
				return i >= 0
			})
		})
	}}}},
	{name: "enum", quoted: true, words: []string{"enum values", "enum size"}, steps: []adjustment{
		{"the values are in the description", func(b *object) bool {
			return inSchemas(b, func(s *object) bool { return eachSchema(s, enumAsText) })
		}},
	}},
	{name: "schema", quoted: true, last: true, words: []string{"invalid schema", "json schema", "json_schema", "schema is", "the specified schema", "schema error", "too many states", "function_declarations", "function.parameters"}, steps: []adjustment{
		{"types, descriptions, properties, items and enums alone", func(*object) bool { return false }}, // see applied
	}},
}

// tooMany are words about the length of an answer, and not about how its bound is called.
var tooMany = []string{"in the completion", "completion tokens", "output tokens", "max_new_tokens", "tokens is too large", "tokens' is too large", "tokens` is too large", "tokens\" is too large",
	"range of max_tokens", "must be less than or equal", "tokens must be less", "tokens' must be less", "tokens` must be less", "and `max_tokens` exceed", "reduce max_tokens", "decrease input length", tooManyAMinute, tooDear}

// bounded lowers the bound of an answer: it counts against the length of the context.
func bounded(tokens ...int) (steps []adjustment) {
	for _, most := range tokens {
		steps = append(steps, adjustment{fmt.Sprintf("%d tokens", most), func(b *object) (changed bool) {
			for _, name := range []string{"max_tokens", "max_completion_tokens"} {
				if n, ok := b.number(name); ok && n > most {
					b.set(name, most)
					changed = true
				}
			}
			return changed
		}})
	}
	return steps
}

func leftOut(field string) []adjustment {
	return []adjustment{{"left out", func(b *object) bool { return b.drop(field) }}}
}

func withoutKeyword(words ...string) []adjustment {
	return []adjustment{{"left out of schemas", func(b *object) bool {
		return inSchemas(b, func(s *object) bool {
			return eachSchema(s, func(s *object) bool {
				changed := false
				for _, w := range words {
					changed = s.drop(w) || changed
				}
				return changed
			})
		})
	}}}
}

func rename(o *object, from, to string) bool {
	i := o.at(from)
	if i >= 0 {
		(*o)[i].key = to
	}
	return i >= 0
}

// adapted is how many steps of each adjustable are made, by its name.
type adapted map[string]int

// applied returns a request with the adjustments made.
func (a adapted) applied(text []byte) ([]byte, error) {
	value, err := ordered(text)
	body, ok := value.(*object)
	if err != nil || !ok {
		return text, err
	}
	if a["reasoning_content"] == 0 {
		eachMessage(body, func(m *object) { m.drop("reasoning_content") }) // refused by most
	}
	changed := false
	if a["schema"] > 0 {
		a = maps.Clone(a)
		for _, name := range profiles["plain"] {
			a[name] = max(a[name], 1)
		}
		a["strict"] = 1
	}
	for i := range adjustables {
		j := &adjustables[i]
		if n := a[j.name]; n > 0 {
			changed = j.steps[n-1].apply(body) || changed
		}
	}
	if !changed && !bytes.Contains(text, []byte("reasoning_content")) {
		return text, nil
	}
	return json.Marshal(body)
}

// next returns what to change after a refusal: every adjustable that the endpoint names and the
// request has. ok is false if there is nothing to change.
func (a adapted) next(text []byte, said string) (more adapted, ok bool) {
	more = maps.Clone(a)
	for i := range adjustables {
		j := &adjustables[i]
		if !j.named(said) || j.last && ok {
			continue
		}
		if n := a.step(text, j); n > 0 {
			more[j.name], ok = n, true
		}
	}
	return more, ok
}

// step returns how many steps of an adjustable are to be made so that a request changes; 0 if none does it.
func (a adapted) step(text []byte, j *adjustable) int {
	for n := a[j.name] + 1; n <= len(j.steps); n++ {
		try := maps.Clone(a)
		try[j.name] = n
		before, err := a.applied(text)
		after, err2 := try.applied(text)
		if err == nil && err2 == nil && !bytes.Equal(before, after) {
			return n
		}
	}
	return 0
}

// without changes what has this name, if the request has it; nothing has none.
func (a adapted) without(text []byte, name string) (more adapted, ok bool) {
	i := slices.IndexFunc(adjustables, func(j adjustable) bool { return j.name == name })
	if i < 0 {
		return a, true
	}
	more = maps.Clone(a)
	more[name] = max(a.step(text, &adjustables[i]), a[name])
	return more, more[name] > a[name]
}

// suggests is the part of a refusal that names something else than it refuses.
var suggests = expression(`(?i)did you mean [^?\n]*`)

// named reports whether a refusal names it.
func (j *adjustable) named(said string) bool {
	said = suggests().ReplaceAllString(said, "")
	lower := strings.ToLower(said)
	if says(lower, j.but) {
		return false
	}
	if says(lower, j.words) {
		return true
	}
	name := `(?:` + regexp.QuoteMeta(j.name) + `|` + regexp.QuoteMeta(camel(j.name)) + `)` // gateways in other languages
	pattern := `(?m)(^|[^\w$])` + name + `([^\w]|$)`
	if j.quoted {
		pattern = `(?m)['"` + "`" + `](?:[\w.\[\]]+\.)?` + name + `['"` + "`" + `]|^([\w.\[\]]+\.)?` + name + `$|(?i:parameters?|param|argument[a-z ]*|field|keyword|name):? ` + name + `\b`
	}
	return regexp.MustCompile(pattern).MatchString(said)
}

// mayName reports whether a refusal may be about a part of the request.
func (r *refusal) mayName() bool {
	if r.any(tooManyAMinute, tooDear) {
		return true // whatever the status: a shorter answer may do
	}
	if slices.Contains([]Kind{Denied, Unpaid, Garbled}, r.kind()) {
		return false
	}
	switch r.status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity, http.StatusNotImplemented:
		return true
	case http.StatusInternalServerError, http.StatusBadGateway: // llama.cpp says so of what it does not know, and others under status 200
		return r.any("support", "cannot use", "not allowed", "unknown", "unrecognized", "unexpected", "invalid", "must be", "must alternate")
	}
	return false
}

// list says what is adapted, in the order of the table.
func (a adapted) list(said map[string]string) (all []Adaptation) {
	for i := range adjustables {
		j := &adjustables[i]
		if n := a[j.name]; n > 0 {
			all = append(all, Adaptation{j.name, j.steps[n-1].says, said[j.name]})
		}
	}
	return all
}

// schemas.

// inSchemas changes every schema of a request.
func inSchemas(b *object, change func(*object) bool) (changed bool) {
	if tools, ok := b.get("tools").([]any); ok {
		for _, t := range tools {
			if s := child(child(t, "function"), "parameters"); s != nil {
				changed = change(s) || changed
			}
		}
	}
	if s := child(child(b.get("response_format"), "json_schema"), "schema"); s != nil {
		changed = change(s) || changed
	}
	return changed
}

func child(of any, key string) *object {
	o, _ := of.(*object)
	if o == nil {
		return nil
	}
	c, _ := o.get(key).(*object)
	return c
}

// eachSchema changes a schema and those inside it. A property that is called as a keyword is none.
func eachSchema(s *object, change func(*object) bool) (changed bool) {
	for i := range *s {
		switch m := (*s)[i]; m.key {
		case "properties", "$defs", "definitions", "patternProperties", "dependentSchemas":
			if all, ok := m.value.(*object); ok {
				for _, p := range *all {
					if inner, ok := p.value.(*object); ok {
						changed = eachSchema(inner, change) || changed
					}
				}
			}
		case "items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else":
			if inner, ok := m.value.(*object); ok {
				changed = eachSchema(inner, change) || changed
			}
		case "anyOf", "oneOf", "allOf", "prefixItems":
			if all, ok := m.value.([]any); ok {
				for _, v := range all {
					if inner, ok := v.(*object); ok {
						changed = eachSchema(inner, change) || changed
					}
				}
			}
		}
	}
	return change(s) || changed
}

// mostValues is how many values of an enum a description lists.
const mostValues = 60

// enumAsText replaces an enum by words in the description, so that the model still knows the values.
func enumAsText(s *object) bool {
	values, ok := s.get("enum").([]any)
	if !ok {
		return false
	}
	var words []string
	for _, v := range values {
		if raw, ok := v.(json.RawMessage); ok && len(words) < mostValues {
			words = append(words, string(raw))
		}
	}
	text := "one of " + strings.Join(words, ", ")
	if len(values) > len(words) {
		text += " and " + strconv.Itoa(len(values)-len(words)) + " more"
	}
	if d := s.text("description"); d != "" {
		text = d + " (" + text + ")"
	}
	s.drop("enum")
	s.set("description", text)
	return true
}

// mostDeep bounds definitions that use themselves.
const mostDeep = 4

// inlined writes definitions where they are used. One that uses itself ends, after some rounds, in a
// schema that takes everything.
func inlined(root *object) bool {
	defs := map[string]any{}
	for _, word := range []string{"$defs", "definitions"} {
		if all, ok := root.get(word).(*object); ok {
			for _, d := range *all {
				defs["#/"+word+"/"+d.key] = d.value
			}
		}
	}
	found := root.drop("$defs")
	found = root.drop("definitions") || found
	var write func(v any, deep int) any
	write = func(v any, deep int) any {
		switch v := v.(type) {
		case []any:
			out := make([]any, len(v))
			for i := range v {
				out[i] = write(v[i], deep)
			}
			return out
		case *object:
			if ref := v.text("$ref"); ref != "" {
				found = true
				target, ok := defs[ref].(*object)
				if !ok || deep == mostDeep {
					return &object{}
				}
				out := write(target, deep+1).(*object)
				for _, m := range *v {
					if m.key != "$ref" {
						out.set(m.key, m.value) // a description beside it
					}
				}
				return out
			}
			out := make(object, 0, len(*v))
			for _, m := range *v {
				out = append(out, member{m.key, write(m.value, deep)})
			}
			return &out
		}
		return v
	}
	*root = *write(root, 0).(*object)
	return found
}

// camel writes max_tokens as maxTokens.
func camel(name string) string {
	words := strings.Split(name, "_")
	for i := 1; i < len(words); i++ {
		words[i] = strings.ToUpper(words[i][:min(1, len(words[i]))]) + words[i][min(1, len(words[i])):]
	}
	return strings.Join(words, "")
}

// dropEmpty leaves out the schemas of tools that take no arguments.
func dropEmpty(b *object) (changed bool) {
	for _, t := range listed(b, "tools") {
		f := child(t, "function")
		if p := child(f, "parameters"); p != nil && (child(p, "properties") == nil || len(*child(p, "properties")) == 0) {
			f.drop("strict")
			changed = f.drop("parameters") || changed
		}
	}
	return changed
}

func dropStrict(b *object) (changed bool) {
	if tools, ok := b.get("tools").([]any); ok {
		for _, t := range tools {
			if f := child(t, "function"); f != nil {
				changed = f.drop("strict") || changed
			}
		}
	}
	if f := child(b.get("response_format"), "json_schema"); f != nil {
		changed = f.drop("strict") || changed
	}
	return changed
}

// messages.

func eachMessage(b *object, do func(*object)) {
	all, _ := b.get("messages").([]any)
	for _, m := range all {
		if o, ok := m.(*object); ok {
			do(o)
		}
	}
}

// giveBack keeps the reasoning of an assistant's calls, which applied would otherwise drop.
func giveBack(b *object) (has bool) {
	eachMessage(b, func(m *object) { has = has || m.at("reasoning_content") >= 0 })
	return has
}

// schemaAsText tells the schema of the answer in words.
func schemaAsText(b *object, asObject bool) bool {
	schema := child(child(b.get("response_format"), "json_schema"), "schema")
	if schema == nil {
		return false
	}
	text, err := json.Marshal(schema)
	if err != nil {
		return false
	}
	b.drop("response_format")
	if asObject {
		b.set("response_format", &object{{"type", json.RawMessage(`"json_object"`)}})
	}
	said := "Answer with JSON alone, of this JSON Schema: " + string(text)
	all, _ := b.get("messages").([]any)
	if len(all) > 0 {
		if first, ok := all[0].(*object); ok && first.text("role") == string(System) {
			first.set("content", first.text("content")+"\n\n"+said)
			return true
		}
	}
	system := &object{}
	system.set("role", string(System))
	system.set("content", said)
	b.set("messages", append([]any{system}, all...))
	return true
}

func raw(v any) json.RawMessage {
	text, _ := v.(json.RawMessage)
	return text
}

// nameAnswers writes the name of a tool beside its answer.
func nameAnswers(b *object) (changed bool) {
	names := map[string]string{}
	eachMessage(b, func(m *object) {
		for _, c := range listed(m, "tool_calls") {
			if call, ok := c.(*object); ok {
				names[call.text("id")] = child(call, "function").text("name")
			}
		}
		if name := names[m.text("tool_call_id")]; name != "" && m.text("role") == string(ToolRole) {
			m.set("name", name)
			changed = true
		}
	})
	return changed
}

// numberCalls gives each call an id of nine letters and digits, and its answer the same.
func numberCalls(b *object) (changed bool) {
	ids := map[string]string{}
	eachMessage(b, func(m *object) {
		for _, c := range listed(m, "tool_calls") {
			if call, ok := c.(*object); ok {
				was, is := call.text("id"), fmt.Sprintf("call%05d", len(ids)+1)
				ids[was] = is
				call.set("id", is)
				changed = changed || was != is
			}
		}
		if is := ids[m.text("tool_call_id")]; is != "" {
			m.set("tool_call_id", is)
		}
	})
	return changed
}

// besideCalls sets the content of messages that hold calls and no text.
func besideCalls(content string) func(*object) bool {
	return func(b *object) (changed bool) {
		eachMessage(b, func(m *object) {
			if m.at("tool_calls") >= 0 && strings.TrimSpace(m.text("content")) == "" {
				m.set("content", json.RawMessage(content))
				changed = true
			}
		})
		return changed
	}
}

// withoutSystem joins the system's messages with the first of the person, for templates that know two
// roles in turn.
func withoutSystem(b *object) (changed bool) {
	eachMessage(b, func(m *object) {
		if m.text("role") == string(System) {
			m.set("role", string(User))
			changed = true
		}
	})
	return joined(b) || changed
}

// inTurns tells calls and their answers as text, for templates that know no tools.
func inTurns(b *object) (changed bool) {
	eachMessage(b, func(m *object) {
		if calls, ok := m.list("tool_calls"); ok {
			text := m.text("content")
			for _, c := range calls {
				if f := child(c, "function"); f != nil {
					text += fmt.Sprintf("\n(calls %s with %s)", f.text("name"), f.text("arguments"))
				}
			}
			m.drop("tool_calls")
			m.set("content", strings.TrimSpace(text))
			changed = true
		}
		if m.text("role") == string(ToolRole) {
			m.drop("tool_call_id")
			m.set("role", string(User))
			m.set("content", "(the answer to the call)\n"+m.text("content"))
			changed = true
		}
	})
	return joined(b) || changed
}

// joined joins neighbours of one role.
func joined(b *object) (changed bool) {
	all, _ := b.get("messages").([]any)
	var out []any
	for _, v := range all {
		m, ok := v.(*object)
		if !ok {
			return false
		}
		if len(out) > 0 {
			last := out[len(out)-1].(*object)
			role := m.text("role")
			if role == last.text("role") && role != string(ToolRole) && last.at("tool_calls") < 0 && m.at("tool_calls") < 0 {
				last.set("content", last.text("content")+"\n\n"+m.text("content"))
				changed = true
				continue
			}
		}
		out = append(out, m)
	}
	b.set("messages", out)
	return changed
}
