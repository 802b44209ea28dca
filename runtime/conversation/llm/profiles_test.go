package llm_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"verbatim/runtime/conversation/llm"
	"verbatim/verbs/grammar"
	"verbatim/verbs/load"
)

// What each reader publishes that it takes: keywords by words, and what else it asks of each schema; where
// that is published, and when it was so.
var published = map[string]struct {
	source, at, keywords string
	also                 func(schema map[string]any, root bool) string
}{
	// The page itself was not at hand; a profile that others made of it was.
	"openai-strict": {"OpenAI, Structured model outputs, Supported schemas, by jsonschemaprofiles.unitvectorylabs.com, schemas/openai, version 202602", "2026-02",
		"type description properties required additionalProperties items enum const anyOf $ref $defs pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems",
		func(s map[string]any, root bool) string {
			if root && (s["anyOf"] != nil || s["type"] != "object") {
				return "anyOf at the root"
			}
			return formatBeyond(s, "date-time time date duration email hostname ipv4 ipv6 uuid")
		}},
	"gemini": {"Google, Gen AI SDK for TypeScript, interface Schema, googleapis.github.io/js-genai; formats by the refusals beside the profile", "read 2026-11-30",
		"type format title description nullable enum items maxItems minItems properties required minLength maxLength minProperties maxProperties pattern example default minimum maximum anyOf propertyOrdering",
		func(s map[string]any, _ bool) string {
			for _, v := range list(s["enum"]) {
				if _, ok := v.(string); !ok {
					return fmt.Sprintf("%v in an enum", v)
				}
			}
			return formatBeyond(s, "date-time enum")
		}},
	// The chat completions of the vendor ignore strict (docs.anthropic.com, api/openai-sdk, read 2026-11-30).
	// The page with the limits of strict tools was not at hand; a summary of it by others was.
	"anthropic-compatible": {"Anthropic, Structured outputs, JSON Schema limitations, by zhongwei/gh-cskiro-claudex, schema-limitations.md", "2025-11-29",
		"type description properties required additionalProperties items enum const anyOf allOf $ref $defs definitions pattern format minItems title default examples", func(s map[string]any, root bool) string {
			if root && (s["type"] != "object" || s["anyOf"] != nil || s["oneOf"] != nil || s["allOf"] != nil) {
				return "the root is no plain object"
			}
			for name := range object(s["properties"]) {
				if !regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`).MatchString(name) {
					return "the property " + name
				}
			}
			if n, ok := s["minItems"].(float64); ok && n > 1 {
				return "minItems above 1"
			}
			return formatBeyond(s, "date-time time date email uri uuid ipv4 ipv6")
		}},
	"llama.cpp": {"ggml-org/llama.cpp, grammars/README.md, known limitations, commit 363a490b54cd", "read 2026-11-30",
		"type description properties required additionalProperties items enum const anyOf oneOf allOf $ref $defs pattern format minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum minItems maxItems title default examples",
		func(s map[string]any, _ bool) string {
			if p, ok := s["pattern"].(string); ok && !(strings.HasPrefix(p, "^") && strings.HasSuffix(p, "$")) {
				return "a pattern without anchors: " + p
			}
			if s["properties"] != nil && (s["anyOf"] != nil || s["oneOf"] != nil) {
				return "properties beside anyOf"
			}
			return formatBeyond(s, "date time date-time uuid email") // email is skipped, and what it accepts is checked by us
		}},
	"vllm": {"vllm-project/vllm, vllm/v1/structured_output/backend_xgrammar.py, has_xgrammar_unsupported_json_features, commit 030141c1a61f", "read 2026-11-30",
		"type description properties required additionalProperties items prefixItems enum const anyOf oneOf allOf $ref $defs pattern format minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum minItems maxItems title default examples",
		func(s map[string]any, _ bool) string {
			if (s["pattern"] != nil || s["format"] != nil) && (s["minLength"] != nil || s["maxLength"] != nil) {
				return "a length beside a pattern or format"
			}
			return formatBeyond(s, "email date time date-time duration ipv4 ipv6 hostname uuid uri uri-reference uri-template json-pointer relative-json-pointer")
		}},
	"plain": {"ours: what every reader above takes", "2026-11-30", "type description properties required items enum", func(s map[string]any, _ bool) string {
		if kind, ok := s["type"]; ok {
			if _, ok := kind.(string); !ok {
				return "several types"
			}
		}
		return ""
	}},
}

// formatBeyond says which format of a schema is none of some.
func formatBeyond(s map[string]any, formats string) string {
	if f, ok := s["format"].(string); ok && !slices.Contains(strings.Fields(formats), f) {
		return "format " + f
	}
	return ""
}

func list(v any) []any            { l, _ := v.([]any); return l }
func object(v any) map[string]any { o, _ := v.(map[string]any); return o }

// beyond says what of a schema is not in a published subset.
func beyond(profile string, schema any, root bool) string {
	s, p := object(schema), published[profile]
	if s == nil {
		return ""
	}
	for key := range s {
		if !slices.Contains(strings.Fields(p.keywords), key) {
			return "the keyword " + key
		}
	}
	if why := p.also(s, root); why != "" {
		return why
	}
	var inner []any
	for _, word := range []string{"properties", "$defs"} {
		for _, of := range object(s[word]) {
			inner = append(inner, of)
		}
	}
	for _, word := range []string{"anyOf", "oneOf", "allOf", "prefixItems"} {
		inner = append(inner, list(s[word])...)
	}
	for _, of := range append(inner, s["items"]) {
		if why := beyond(profile, of, false); why != "" {
			return why
		}
	}
	return ""
}

// G36: the schema of every tool of the shipped palettes, as it is exported and as a model is sent it, is in
// the subset that each kind of reader publishes, and a schema with every keyword that a palette's author may write.
func TestProfilesKeepToWhatIsPublished(t *testing.T) {
	t.Parallel()
	schemas := map[string]json.RawMessage{"rich": json.RawMessage(`{"type":"object","$schema":"x","properties":{"pattern":{"type":"string","maxLength":40,"pattern":"^a$"},"kind":{"const":"a"},
		"day":{"type":"string","format":"date","description":"when"},"of":{"$ref":"#/$defs/of"},"n":{"anyOf":[{"type":"integer","minimum":1},{"type":"null"}]},"m":{"oneOf":[{"type":"string"},{"type":"boolean"}]},
		"l":{"type":"array","uniqueItems":true,"items":{"type":"number","multipleOf":5,"default":5}}},"required":["pattern","kind","day","of","n","m","l"],"additionalProperties":false,
		"$defs":{"of":{"type":"object","properties":{"title":{"type":"string","title":"t","examples":["x"],"not":{"const":"y"}}},"patternProperties":{"^x":{"type":"string"}},"propertyNames":{"maxLength":3}}}}`)}
	for _, dir := range []string{"bank", "kiisha", "kyc", "manda"} {
		reg, ds := load.Dir(os.DirFS("../../../verbs/palettes/" + dir))
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		for _, brief := range []bool{false, true} {
			tools, err := grammar.Tools(grammar.Vocabulary{Verbs: reg.Verbs(), Brief: brief})
			if err != nil {
				t.Fatal(err)
			}
			for _, tool := range tools {
				schemas[fmt.Sprint(tool.Name, brief)] = tool.Parameters
			}
		}
	}
	if len(schemas) < 160 || len(llm.Profiles()) != len(published) {
		t.Errorf("%d schemas, profiles %v", len(schemas), llm.Profiles())
	}
	for name, p := range published {
		if p.source == "" || p.at == "" || p.keywords == "" || p.also == nil {
			t.Errorf("%s is not published anywhere", name)
		}
	}
	changed := map[string]bool{}
	for name, schema := range schemas {
		for profile := range published {
			text, err := llm.SchemaFor(profile, schema)
			if err != nil {
				t.Fatal(err)
			}
			var doc any
			if err := json.Unmarshal(text, &doc); err != nil {
				t.Fatal(err)
			}
			if why := beyond(profile, doc, true); why != "" {
				t.Errorf("%s for %s has %s: %s", name, profile, why, text)
			}
			var was any
			_ = json.Unmarshal(schema, &was)
			if name == "rich" && beyond(profile, was, true) != "" {
				changed[profile] = true
			}
			if props := object(object(doc)["properties"]); len(props) != len(object(object(was)["properties"])) {
				t.Errorf("%s for %s has other properties: %s", name, profile, text)
			}
		}
	}
	if len(changed) < len(published) {
		t.Errorf("only %v had to be changed", changed)
	}
	text, _ := llm.SchemaFor("plain", schemas["rich"])
	for _, want := range []string{`"description":"when; a date, such as 2025-01-31"`, `"enum":["a"]`, `"required":["pattern","kind","day","of","m","l"]`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("plain is %s, without %s", text, want)
		}
	}
	if _, err := llm.SchemaFor("geminy", schemas["rich"]); err == nil || !strings.Contains(err.Error(), "anthropic-compatible, gemini, llama.cpp, openai-strict, plain, vllm") {
		t.Error(err)
	}
}

// G36: strict is sent where a schema is within the published limits, of which that on the text of an enum
// is reached first by names of rows.
func TestStrictIsSentWithinItsLimits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		values, long int
		strict       bool
	}{"few values": {3, 10, true}, "250 long ones": {250, 100, true}, "251 long ones": {251, 100, false}, "251 short ones": {251, 20, true}, "too many": {1001, 5, false}} {
		var values []string
		for i := range c.values {
			values = append(values, fmt.Sprintf("%0*d", c.long, i))
		}
		enum, _ := json.Marshal(values)
		e := serve(t, says("fine"))
		client, _ := e.client(t, nil)
		q := ask("?")
		q.Tools = []llm.Tool{{Name: "a", Parameters: json.RawMessage(`{"type":"object","properties":{"x":{"type":"string","enum":` + string(enum) + `}},"required":["x"],"additionalProperties":false}`)}}
		if _, err := client.Chat(t.Context(), q, nil); err != nil {
			t.Fatal(err)
		}
		sent := e.asked()[0].body["tools"].([]any)[0].(map[string]any)["function"].(map[string]any)
		if strict := sent["strict"] == true; strict != c.strict {
			t.Errorf("%s: strict is %t", name, strict)
		}
	}
}
