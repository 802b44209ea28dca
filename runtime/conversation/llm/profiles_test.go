package llm_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"verbatim/runtime/conversation/llm"
	"verbatim/runtime/tests/provider"
	"verbatim/verbs/grammar"
	"verbatim/verbs/load"
)

// G36: the schema of every tool of the shipped palettes, as it is exported and as a model is sent it, is in
// the subset that each kind of reader publishes, and a schema with every keyword that a palette's author may write.
func TestProfilesKeepToWhatIsPublished(t *testing.T) {
	t.Parallel()
	schemas := map[string]json.RawMessage{"rich": json.RawMessage(`{"type":"object","$schema":"x","properties":{"pattern":{"type":"string","maxLength":40,"pattern":"^a$"},"kind":{"const":"a"},
		"day":{"type":"string","format":"date","description":"when"},"of":{"$ref":"#/$defs/of"},"n":{"description":"how many","anyOf":[{"type":"integer","minimum":1},{"type":"null"}]},"m":{"oneOf":[{"type":"string"},{"type":"boolean"}]},
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
	if len(schemas) < 160 || len(llm.Profiles()) != len(provider.Readers) {
		t.Errorf("%d schemas, profiles %v", len(schemas), llm.Profiles())
	}
	for name, p := range provider.Readers {
		if p.Source == "" || p.Seen == "" || p.Keywords == "" {
			t.Errorf("%s is not published anywhere", name)
		}
	}
	changed := map[string]bool{}
	for name, schema := range schemas {
		for profile, reader := range provider.Readers {
			text, err := llm.SchemaFor(profile, schema)
			if err != nil {
				t.Fatal(err)
			}
			var doc any
			if err := json.Unmarshal(text, &doc); err != nil {
				t.Fatal(err)
			}
			if why := reader.Beyond(doc); why != "" {
				t.Errorf("%s for %s has %s: %s", name, profile, why, text)
			}
			var was any
			_ = json.Unmarshal(schema, &was)
			if name == "rich" && reader.Beyond(was) != "" {
				changed[profile] = true
			}
			if props := propertiesOf(doc); len(props) != len(propertiesOf(was)) {
				t.Errorf("%s for %s has other properties: %s", name, profile, text)
			}
		}
	}
	if len(changed) < len(provider.Readers) {
		t.Errorf("only %v had to be changed", changed)
	}
	text, _ := llm.SchemaFor("plain", schemas["rich"])
	for _, want := range []string{`"description":"when; a date, such as 2025-01-31"`, `"enum":["a"]`, `"required":["pattern","kind","day","of","m","l"]`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("plain is %s, without %s", text, want)
		}
	}
	if text, _ := llm.SchemaFor("gemini", schemas["rich"]); !strings.Contains(string(text), `"n":{"anyOf":[{"type":"integer","minimum":1,"description":"how many"},{"type":"null"}]}`) {
		t.Errorf("gemini is %s", text)
	}
	if _, err := llm.SchemaFor("geminy", schemas["rich"]); err == nil || !strings.Contains(err.Error(), "anthropic-compatible, gemini, llama.cpp, openai-strict, plain, vllm") {
		t.Error(err)
	}
}

func propertiesOf(schema any) map[string]any {
	s, _ := schema.(map[string]any)
	all, _ := s["properties"].(map[string]any)
	return all
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
