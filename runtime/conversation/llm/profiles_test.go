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

// What each reader publishes that it takes: keywords by words, and what else it asks of each schema.
// Sources stand beside the profiles.
var published = map[string]struct {
	keywords string
	also     func(schema map[string]any, root bool) string
}{
	"openai-strict": {"type description properties required additionalProperties items enum const anyOf $ref $defs pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems",
		func(s map[string]any, root bool) string {
			if f, ok := s["format"].(string); ok && !slices.Contains([]string{"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}, f) {
				return "format " + f
			}
			if root && s["anyOf"] != nil {
				return "anyOf at the root"
			}
			return ""
		}},
	"gemini": {"type format title description nullable enum items maxItems minItems properties required minLength maxLength pattern default minimum maximum anyOf",
		func(s map[string]any, _ bool) string {
			if f, ok := s["format"].(string); ok && f != "date-time" && f != "enum" {
				return "format " + f
			}
			for _, v := range list(s["enum"]) {
				if _, ok := v.(string); !ok {
					return fmt.Sprintf("%v in an enum", v)
				}
			}
			return ""
		}},
	"anthropic-compatible": {"", func(s map[string]any, root bool) string {
		if root && (s["type"] != "object" || s["anyOf"] != nil || s["oneOf"] != nil || s["allOf"] != nil) {
			return "the root is no plain object"
		}
		for name := range object(s["properties"]) {
			if !regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`).MatchString(name) {
				return "the property " + name
			}
		}
		return ""
	}},
	"llama.cpp": {"type description properties required additionalProperties items prefixItems enum const anyOf oneOf allOf $ref $defs pattern format minimum maximum exclusiveMinimum exclusiveMaximum minItems maxItems title default examples",
		func(s map[string]any, _ bool) string {
			if p, ok := s["pattern"].(string); ok && !(strings.HasPrefix(p, "^") && strings.HasSuffix(p, "$")) {
				return "a pattern without anchors: " + p
			}
			return ""
		}},
	"vllm": {"type description properties required additionalProperties items prefixItems enum const anyOf oneOf allOf $ref $defs pattern format minimum maximum exclusiveMinimum exclusiveMaximum minItems maxItems title default examples", nil},
	"plain": {"type description properties required items enum", func(s map[string]any, _ bool) string {
		if kind, ok := s["type"]; ok {
			if _, ok := kind.(string); !ok {
				return "several types"
			}
		}
		return ""
	}},
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
		if p.keywords != "" && !slices.Contains(strings.Fields(p.keywords), key) {
			return "the keyword " + key
		}
	}
	if p.also != nil {
		if why := p.also(s, root); why != "" {
			return why
		}
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

// G36: the schema of every tool of the shipped palettes is in the subset that each kind of reader
// publishes, and a schema with every keyword that a palette's author may write.
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
		tools, err := grammar.Tools(grammar.Vocabulary{Verbs: reg.Verbs()})
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range tools {
			schemas[tool.Name] = tool.Parameters
		}
	}
	if len(schemas) < 80 || len(llm.Profiles()) != len(published) {
		t.Errorf("%d schemas, profiles %v", len(schemas), llm.Profiles())
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
	if len(changed) < len(published)-1 { // anthropic's takes it as it is
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
