package provider

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A Reader is a kind of reader of JSON Schemas: what it publishes that it takes, keywords by words, and
// what else it asks of each schema; where that is published, and when it was so.
type Reader struct {
	Source, Seen, Keywords string
	also                   func(schema map[string]any, root bool) string
}

// Readers are the kinds of readers by name.
var Readers = map[string]Reader{
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
			if s["anyOf"] != nil && len(s) > 1 { // github.com/anomalyco/opencode issue 15795, 2026-03-03
				return "something beside anyOf"
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
				if !property.MatchString(name) {
					return "the property " + name
				}
			}
			if n, ok := s["minItems"].(float64); ok && n > 1 {
				return "minItems above 1"
			}
			return formatBeyond(s, "date-time time date email uri uuid ipv4 ipv6")
		}},
	"llama.cpp": {"ggml-org/llama.cpp, known limitations of grammars, commit 363a490b54cd", "read 2026-11-30",
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

var property = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// formatBeyond says which format of a schema is none of some.
func formatBeyond(s map[string]any, formats string) string {
	if f, ok := s["format"].(string); ok && !slices.Contains(strings.Fields(formats), f) {
		return "format " + f
	}
	return ""
}

// Beyond says what of a schema the reader is not published to take; "" if nothing is.
func (r *Reader) Beyond(schema any) string { return r.beyond(schema, true) }

func (r *Reader) beyond(schema any, root bool) string {
	s := object(schema)
	if unknown := r.unknown(s); len(unknown) > 0 {
		return "the keyword " + unknown[0]
	}
	if why := r.also(s, root); why != "" {
		return why
	}
	for _, of := range inside(s) {
		if why := r.beyond(of, false); why != "" {
			return why
		}
	}
	return ""
}

// unknown returns the keywords of one schema that the reader does not take.
func (r *Reader) unknown(s map[string]any) (all []string) {
	for key := range s {
		if !slices.Contains(strings.Fields(r.Keywords), key) {
			all = append(all, key)
		}
	}
	slices.Sort(all)
	return all
}

// allUnknown returns those of a schema and all inside it.
func (r *Reader) allUnknown(schema any) (all []string) {
	s := object(schema)
	all = r.unknown(s)
	for _, of := range inside(s) {
		all = append(all, r.allUnknown(of)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
