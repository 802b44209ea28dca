package llm

import (
	"encoding/json"
	"regexp"
	"strings"
)

// A Family is a kind of endpoint or model whose refusals are publicly known, so that the first request
// is right. What the table does not know is learned from the first refusal.
type Family struct {
	Name string
	// Host and Model are regular expressions that the endpoint's host and the model's name, without
	// the part before its last slash, must match; an empty one matches all.
	Host, Model string
	// Refuses says which parts of a request are changed, by name; twice means the second way.
	Refuses []string
	// Fact says in words what is known, Source where it is reported, and Seen when that was written.
	Fact, Source, Seen string
}

// Families is the table of what is known. All rows that match are used.
var Families = []Family{
	{"OpenAI, reasoning models", ``, `^(o[134]|gpt-[56])([.-]|$)`, []string{"max_tokens", "temperature"},
		"max_tokens is called max_completion_tokens, and no temperature but the default is taken",
		"github.com/griptape-ai/ComfyUI-Griptape issue 312; github.com/gabrii/Cursor-Azure-GPT-5 issue 33; github.com/johny-b/llmcomp issue 69 (gpt-5.4)", "2025-08-22, 2025-09-15, 2026-04-20"},
	{"OpenAI, the first reasoning models", ``, `^o1-(mini|preview)`, []string{"system"},
		"no message of the system, and no tools: ask in --mode text",
		"github.com/aaif-goose/goose pull request 921; github.com/microsoft/agent-framework issue 1077", "2025-01-30"},
	{"OpenAI", `(^|\.)api\.openai\.com$`, ``, []string{"max_tokens"},
		"the older name of the bound is deprecated for all models, and refused by newer ones",
		"github.com/teilomillet/gollm issue 33", "2025-03-12"},
	{"Azure OpenAI", `\.openai\.azure\.com$`, ``, nil,
		"deployments have any name, so their model is not known; older ones refuse stream_options, newer ones max_tokens. Both are learned",
		"github.com/langchain-ai/langchain pull request 23552; github.com/anomalyco/opencode issue 37964", "2024-06-26, 2026-07-20"},
	{"DeepSeek, thinking models", ``, `^deepseek-(v4|reasoner)`, []string{"tool_choice", "reasoning_content"},
		"a call cannot be forced while the model thinks, and its reasoning has to be sent back with its calls",
		"github.com/cloudwego/eino issue 994; github.com/BerriAI/litellm pull request 37470; github.com/decolua/9router issue 773", "2026-04-24, 2026-04-25"},
	{"DeepSeek", `(^|\.)api\.deepseek\.com$`, ``, []string{"response_format"},
		"an answer is JSON, but not by a schema",
		"github.com/llm-exe/llm-exe issue 662", "2026-07-11"},
	{"Qwen, thinking models", `(^|\.)dashscope[a-z-]*\.aliyuncs\.com$`, `^(qwen3|qwq)`, []string{"tool_choice"},
		"a call cannot be forced while the model thinks",
		"github.com/cloudwego/eino issue 994 (qwen3.5-plus)", "2026-04-24"},
	{"Gemini", `^generativelanguage\.googleapis\.com$`, ``, append([]string{"seed", "properties"}, profiles["gemini"]...),
		"schemas are a subset: unknown keywords, formats but date-time, objects without properties, and unknown fields of the request are refused by name",
		"github.com/karthink/gptel issue 806; github.com/openswarm-ai/openswarm issue 24; github.com/zed-industries/zed issue 44875; github.com/huggingface/smolagents pull request 2229", "2025-04-25, 2026-05-06, 2025-12-15, 2026-04-27"},
	{"Gemini, at Vertex AI", `(^|[.-])aiplatform\.googleapis\.com$`, `^gemini`, profiles["gemini"],
		"schemas are the same subset, and nothing may stand beside anyOf",
		"github.com/anomalyco/opencode issue 15795; github.com/lambda-alpha-labs/Graphenium issue 37", "2026-03-03"},
	{"Moonshot, thinking models", ``, `^kimi-k2\.[5-9]`, []string{"temperature", "reasoning_content"},
		"no temperature but the default, and the reasoning has to be sent back with its calls",
		"github.com/continuedev/continue issue 11600; github.com/MoonshotAI/kimi-cli issue 2621", "2026-03-18"},
	{"Perplexity", `(^|\.)api\.perplexity\.ai$`, ``, []string{"roles"},
		"after system messages, the person and the model speak in turns; no tools: ask in --mode text",
		"github.com/perplexityai/api-discussion issue 265; github.com/agno-agi/agno pull request 6058", "2025-04-01"},
	{"Cloudflare Workers AI", `^api\.cloudflare\.com$`, ``, []string{"content"},
		"the content of each message is a text, also beside a call",
		"github.com/we-promise/sure pull request 467", "2025-12-19"},
	{"Databricks", `\.(cloud\.databricks\.com|azuredatabricks\.net)$`, ``, []string{"stream_options"},
		"unknown fields are refused, stream_options among them",
		"github.com/anomalyco/opencode issue 31156", "2026-06-06"},
	{"Mistral", `(^|\.)api\.mistral\.ai$`, ``, []string{"seed"},
		"unknown fields are refused, max_completion_tokens and seed among them; a call's id has nine letters or digits",
		"github.com/editor-code-assistant/eca issues 231 and 315; github.com/simonw/llm-mistral issue 2", "2025-12-12, 2026-02-18, 2023-12-15"},
	{"Anthropic, newer models", ``, `^claude-(opus-4-[789]|opus-5|fable)`, []string{"temperature"},
		"a temperature is refused as deprecated",
		"github.com/RooCodeInc/Roo-Code issue 12162; github.com/The-PR-Agent/pr-agent issue 2456", "2026-04-21, 2026-06-18"},
	{"Anthropic, Fable 5.1 and Mythos 5.1", ``, `^claude-(fable|mythos)-5-1`, []string{"temperature", "tool_choice"},
		"a call cannot be forced",
		"github.com/anthropics/claude-cookbooks issue 854", "2026-09-02"},
	{"Anthropic", `(^|\.)api\.anthropic\.com$`, ``, []string{"response_format", "response_format"},
		"strict, seed and response_format are ignored, so the schema of an answer is told in words",
		"the documentation of its OpenAI SDK compatibility", "read 2026-11-29"},
	{"Together", `(^|\.)api\.together\.(xyz|ai)$`, ``, []string{"tool_choice"},
		"a forced call is an invalid request, and nothing says why",
		"github.com/tensorzero/tensorzero pull request 2952", "2025-07-30"},
	{"vLLM", ``, ``, nil,
		"tools need the server's flags --enable-auto-tool-choice and --tool-call-parser unless a call is forced; templates without a system role, or with roles in turn, refuse others. The latter is learned",
		"github.com/QwenLM/Qwen-Agent issue 344; github.com/microsoft/autogen issues 1037 and 3597", "2024-09-12, 2023-12-21, 2024-10-02"},
	{"llama.cpp", ``, ``, nil,
		"older builds take tools only with --jinja; a long maxLength or an odd pattern is no grammar to it. The latter is learned",
		"github.com/defilantech/LLMKube issue 126; github.com/flagdizero/jenny-android-ai-agent issue 2 (build b10229)", "2026-01-27, 2026-08-02"},
	{"Ollama", ``, ``, nil,
		"a model whose template has no tools refuses them; nothing but another model, or --mode text, helps",
		"github.com/ollama/ollama issues 6027, 5793 and 14795 (0.17.7)", "2024-07-28, 2026-03-12"},
}

// known is the rows of the table that match.
type known []*Family

func familyOf(host, model string) (rows known) {
	for i := range Families {
		if f := &Families[i]; f.Matches(host, model) {
			rows = append(rows, f)
		}
	}
	return rows
}

// Matches reports whether a model at a host is of the family.
func (f *Family) Matches(host, model string) bool {
	model = strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	return (f.Host != "" || f.Model != "") && regexp.MustCompile(f.Host).MatchString(strings.ToLower(host)) && regexp.MustCompile(f.Model).MatchString(model)
}

func (k known) adapted() adapted {
	a := adapted{}
	for _, f := range k {
		own := adapted{}
		for _, name := range f.Refuses {
			own[name]++
		}
		for name, n := range own {
			a[name] = max(a[name], n)
		}
	}
	return a
}

// The published subset of schemas that are enforced with strict: every object names all its
// properties as required and takes no others.
const (
	strictDeepest    = 10
	strictProperties = 5000
	strictValues     = 1000
	strictText       = 120_000 // bytes of all names and values
	strictEnum       = 250     // values, beyond which their bytes count
	strictEnumText   = 15_000
)

var strictKeywords = map[string]bool{
	"type": true, "description": true, "properties": true, "required": true, "additionalProperties": true, "items": true,
	"enum": true, "const": true, "anyOf": true, "$ref": true, "$defs": true, "pattern": true, "format": true,
	"minimum": true, "maximum": true, "exclusiveMinimum": true, "exclusiveMaximum": true, "multipleOf": true, "minItems": true, "maxItems": true,
}

var strictFormats = map[string]bool{"date-time": true, "time": true, "date": true, "duration": true, "email": true, "hostname": true, "ipv4": true, "ipv6": true, "uuid": true}

// strictSubset reports whether a schema is in the subset.
func strictSubset(schema json.RawMessage) bool {
	value, err := ordered(schema)
	root, ok := value.(*object)
	if err != nil || !ok || root.text("type") != "object" || root.at("anyOf") >= 0 {
		return false
	}
	properties, values, text := 0, 0, 0
	fine := true
	eachSchema(root, func(s *object) bool {
		for _, m := range *s {
			fine = fine && strictKeywords[m.key]
		}
		if all, ok := s.list("enum"); ok {
			own := 0
			for _, v := range all {
				raw, _ := v.(json.RawMessage)
				own += len(raw)
			}
			values, text = values+len(all), text+own
			fine = fine && len(all) > 0 && (len(all) <= strictEnum || own <= strictEnumText)
		}
		fine = fine && (s.at("format") < 0 || strictFormats[s.text("format")])
		own, isObject := s.get("properties").(*object)
		if !isObject && !mayBeObject(s) {
			return false
		}
		if !isObject {
			own = &object{}
		}
		properties += len(*own)
		required := map[string]bool{}
		names, _ := s.list("required")
		for _, n := range names {
			var name string
			if raw, ok := n.(json.RawMessage); ok && json.Unmarshal(raw, &name) == nil {
				required[name] = true
			}
		}
		for _, p := range *own {
			text += len(p.key)
			fine = fine && required[p.key]
		}
		closed, _ := s.get("additionalProperties").(json.RawMessage)
		fine = fine && string(closed) == "false"
		return false
	})
	return fine && properties <= strictProperties && values <= strictValues && text <= strictText && depth(root) <= strictDeepest
}

func mayBeObject(s *object) bool {
	return s.text("type") == "object" || s.at("additionalProperties") >= 0
}

// depth is how many objects stand inside each other.
func depth(v any) int {
	most := 0
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			most = max(most, depth(item))
		}
	case *object:
		for _, m := range *v {
			most = max(most, depth(m.value))
		}
		if v.at("properties") >= 0 {
			most++
		}
	}
	return most
}

// longPattern is the length beyond which a pattern beside a format is not worth its tokens: that of a
// date, with its leap years, has 580.
const longPattern = 100

// short leaves out of a schema what costs tokens and is checked in full all the same: a long pattern
// beside a format, and the lengths of texts, with which a tool is not strict.
func short(schema json.RawMessage) json.RawMessage {
	value, err := ordered(schema)
	root, ok := value.(*object)
	if err != nil || !ok {
		return schema // the library says what is wrong with it
	}
	changed := eachSchema(root, func(s *object) bool {
		changed := s.at("format") >= 0 && len(s.text("pattern")) > longPattern && s.drop("pattern")
		if s.text("type") == "string" {
			changed = s.drop("minLength") || changed
			changed = s.drop("maxLength") || changed
		}
		return changed
	})
	if !changed {
		return schema
	}
	text, err := json.Marshal(root)
	if err != nil {
		return schema
	}
	return text
}
