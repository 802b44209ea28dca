package llm

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Readers take different parts of JSON Schema. A profile names what is changed in a schema for one of
// them, in the names of the table of adjustables. What each is published to take, with its source and
// date, is held by profiles_test.go; in short:
//
//	openai-strict         every object closed, every property required; no composition but anyOf
//	gemini                a subset of OpenAPI 3.0: no additionalProperties, $ref, const, nor formats of
//	                      texts but date-time and enum, and nothing beside anyOf
//	anthropic-compatible  an object at the root; of strict tools, no bounds of numbers, texts and lists
//	llama.cpp             what is beyond json_schema_to_grammar is skipped in silence, or is no grammar
//	vllm                  what is beyond its check for xgrammar is refused
//	plain                 types, descriptions, properties, items and enums alone, for all others
//
// The words for gemini are in its refusals: promptfoo/promptfoo issue 6902 (2026-01-01),
// google-gemini/gemini-cli issue 3178 (2025-07-03), hideya/langchain-mcp-tools-ts issue 36 (2025-06-17), anomalyco/opencode issue 15795 (2026-03-03).
// What an endpoint refuses besides is learned from its answers: see the table of adjustables.
var profiles = map[string][]string{
	"openai-strict":        {"$schema", "maxLength", "title", "default", "examples", "uniqueItems", "not", "oneOf", "allOf", "patternProperties", "propertyNames"},
	"gemini":               {"fields beside anyOf", "additionalProperties", "$schema", "propertyNames", "patternProperties", "const", "$defs", "format", "examples", "uniqueItems", "not", "oneOf", "allOf", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
	"anthropic-compatible": {"$schema", "maxLength", "maxItems", "uniqueItems", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "not", "oneOf", "patternProperties", "propertyNames"},
	"llama.cpp":            {"$schema", "not", "uniqueItems", "multipleOf", "patternProperties", "propertyNames", "maxLength"},
	"vllm":                 {"$schema", "not", "uniqueItems", "multipleOf", "patternProperties", "propertyNames", "maxLength"},
	"plain": {"$schema", "$defs", "additionalProperties", "patternProperties", "propertyNames", "pattern", "maxLength", "maxItems", "uniqueItems",
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "format", "default", "examples", "title", "not", "allOf", "oneOf", "const", "anyOf"},
}

// Profiles lists the names of the profiles, in order.
func Profiles() []string { return slices.Sorted(maps.Keys(profiles)) }

// SchemaFor writes the schema of a tool's arguments for the readers of a profile. What it leaves out is
// checked all the same when the arguments come.
func SchemaFor(profile string, schema json.RawMessage) (json.RawMessage, error) {
	names, ok := profiles[profile]
	if !ok {
		return nil, fmt.Errorf("there is no profile %q; they are %s", profile, strings.Join(Profiles(), ", "))
	}
	body, err := json.Marshal(map[string]any{"tools": []any{map[string]any{"function": map[string]any{"parameters": schema}}}})
	if err != nil {
		return nil, err
	}
	text, err := known{{Refuses: names}}.adapted().applied(body)
	if err != nil {
		return nil, err
	}
	var q struct {
		Tools []struct {
			Function struct{ Parameters json.RawMessage }
		}
	}
	if err := json.Unmarshal(text, &q); err != nil {
		return nil, err
	}
	return q.Tools[0].Function.Parameters, nil
}

// formatAsText says a format in the description.
func formatAsText(s *object) bool {
	format := s.text("format")
	if format == "" {
		return false
	}
	s.drop("format")
	if format == "date" {
		format = "date, such as 2025-01-31"
	}
	s.set("description", strings.TrimPrefix(s.text("description")+"; a "+format, "; "))
	return true
}

// nullsAreOptional takes properties that may be null out of those that are required.
func nullsAreOptional(s *object) bool {
	all, _ := s.get("properties").(*object)
	required, ok := s.list("required")
	if all == nil || !ok {
		return false
	}
	kept := slices.DeleteFunc(slices.Clone(required), func(name any) bool {
		var text string
		raw, _ := name.(json.RawMessage)
		_ = json.Unmarshal(raw, &text) // another value names no property
		of, _ := all.get(text).(*object)
		forms, _ := of.list("anyOf")
		return slices.ContainsFunc(forms, isNull)
	})
	s.set("required", kept)
	return len(kept) < len(required)
}

// firstForm takes the first form of a union that is not null.
func firstForm(s *object) bool {
	forms, ok := s.list("anyOf")
	if !ok {
		return false
	}
	s.drop("anyOf")
	for _, form := range forms {
		if of, is := form.(*object); is && !isNull(form) {
			for _, m := range *of {
				if s.at(m.key) < 0 {
					s.set(m.key, m.value)
				}
			}
			break
		}
	}
	return true
}

// intoForms writes what stands beside anyOf into its forms, and its description into the first that is not
// null.
func intoForms(s *object) (changed bool) {
	forms, ok := s.list("anyOf")
	if !ok {
		return false
	}
	for _, m := range slices.Clone(*s) {
		if m.key == "anyOf" || m.key == "$defs" || m.key == "definitions" {
			continue
		}
		s.drop(m.key)
		changed = true
		for _, form := range forms {
			of, is := form.(*object)
			if !is || isNull(form) {
				continue
			}
			if of.at(m.key) < 0 {
				of.set(m.key, m.value)
			}
			if m.key == "description" {
				break
			}
		}
	}
	return changed
}

func isNull(schema any) bool {
	o, _ := schema.(*object)
	return o != nil && o.text("type") == "null"
}
