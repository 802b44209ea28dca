package provider

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// Families are the kinds of endpoints that are played.
var Families = []Family{
	{Name: "OpenAI, reasoning models", Host: "api.openai.com", Model: "gpt-5-mini",
		Fact:   "max_tokens is called max_completion_tokens; no temperature but the default, no stop; strict schemas keep to the published subset",
		Source: "github.com/griptape-ai/ComfyUI-Griptape issue 312; github.com/gabrii/Cursor-Azure-GPT-5 issue 33", Seen: "2025-08-22, 2025-09-15",
		refuses: func(q *request) (int, string) {
			switch {
			case q.has("max_tokens"):
				return refusal("max_tokens", "unsupported_parameter", "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
			case q.has("temperature"):
				return refusal("temperature", "unsupported_value", "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.")
			case q.has("stop"):
				return refusal("stop", "unsupported_parameter", "Unsupported parameter: 'stop' is not supported with this model.")
			}
			return strictly(q)
		}},
	{Name: "OpenAI of today", Fact: "what is against the protocol, and a strict schema beyond the published subset", Source: "platform.openai.com, api-reference/chat/create", Seen: "read 2026-11-30", refuses: strictly},
	{Name: "OpenAI, an organisation that may not stream", Fact: "a stream is refused until the organisation is verified",
		Source: "github.com/charmbracelet/crush issue 422", Seen: "2025-07-31",
		refuses: func(q *request) (int, string) {
			if q.fields["stream"] == true {
				return refusal("stream", "unsupported_value", "Your organization must be verified to stream this model.")
			}
			return strictly(q)
		}},
	{Name: "OpenAI, the first reasoning models", Model: "o1-mini", NoTools: true, Fact: "no tools, no message of the system, no temperature, and the newer name of the bound",
		Source: "github.com/aaif-goose/goose pull request 921; github.com/microsoft/agent-framework issue 1077", Seen: "2025-01-30",
		refuses: func(q *request) (int, string) {
			switch {
			case q.has("tools"):
				status, body := refusal("", "", "tools is not supported in this model.")
				return max(status, http.StatusNotFound), body
			case q.has("max_tokens"):
				return refusal("max_tokens", "unsupported_parameter", "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
			case q.has("temperature"):
				return refusal("temperature", "unsupported_value", "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.")
			}
			for i, m := range q.messages() {
				if m["role"] == "system" {
					return refusal(fmt.Sprintf("messages[%d].role", i), "unsupported_value", fmt.Sprintf("Unsupported value: 'messages[%d].role' does not support 'system' with this model.", i))
				}
			}
			return 0, ""
		}},
	{Name: "Azure OpenAI, older", Fact: "stream_options is not known", Source: "github.com/langchain-ai/langchain pull request 23552", Seen: "2024-06-26",
		refuses: func(q *request) (int, string) {
			if q.has("stream_options") {
				return http.StatusBadRequest, `{"error":{"code":null,"message":"Unrecognized request argument supplied: stream_options","param":null,"type":"invalid_request_error"}}`
			}
			return 0, ""
		}},
	{Name: "DeepSeek, thinking models", Host: "api.deepseek.com", Model: "deepseek-v4", Fact: "a call cannot be forced while the model thinks, and its reasoning has to come back with its calls",
		Source: "github.com/cloudwego/eino issue 994; github.com/decolua/9router issue 773", Seen: "2026-04-24, 2026-04-25",
		refuses: func(q *request) (int, string) {
			if q.fields["tool_choice"] == "required" {
				return http.StatusBadRequest, `{"error":{"message":"Thinking mode does not support this tool_choice","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`
			}
			if f, ok := q.fields["response_format"].(map[string]any); ok && f["type"] == "json_schema" {
				return http.StatusBadRequest, `{"error":{"message":"This response_format type is unavailable now","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`
			}
			return 0, ""
		}},
	{Name: "Qwen, thinking models", Host: "dashscope.aliyuncs.com", Model: "qwen3.5-plus", Fact: "a call cannot be forced while the model thinks", Source: "github.com/cloudwego/eino issue 994", Seen: "2026-04-24",
		refuses: func(q *request) (int, string) {
			if q.fields["tool_choice"] == "required" {
				return http.StatusBadRequest, `{"error":{"message":"<400> InternalError.Algo.InvalidParameter: The tool_choice parameter does not support being set to required or object in thinking mode","type":"invalid_request_error","param":null,"code":"invalid_parameter_error"},"id":"x"}`
			}
			return 0, ""
		}},
	{Name: "Gemini", Host: "generativelanguage.googleapis.com", Model: "models/gemini-3-flash", Fact: "fields and keywords beyond its subset are refused by name, all at once",
		Source: "github.com/karthink/gptel issue 806; github.com/openswarm-ai/openswarm issue 24; github.com/promptfoo/promptfoo issue 6902", Seen: "2025-04-25, 2026-05-06, 2026-01-01",
		refuses: func(q *request) (int, string) {
			unknown := ""
			for _, f := range []string{"seed", "parallel_tool_calls"} {
				if q.has(f) {
					unknown += fmt.Sprintf(`Invalid JSON payload received. Unknown name \"%s\": Cannot find field.\n`, f)
				}
			}
			reader := Readers["gemini"]
			for i, t := range q.tools() {
				for _, k := range reader.allUnknown(t.parameters) {
					unknown += fmt.Sprintf(`Invalid JSON payload received. Unknown name \"%s\" at 'tools[%d].function_declarations[0].parameters.properties[1].value': Cannot find field.\n`, k, i)
				}
				if f := formatIn(t.parameters); f != "" && unknown == "" {
					unknown = fmt.Sprintf(`* GenerateContentRequest.tools[%d].function_declarations[0].parameters.properties[x].format: only 'enum' and 'date-time' are supported for STRING type\n`, i)
				}
			}
			if unknown != "" {
				return http.StatusBadRequest, `[{"error":{"code":400,"message":"` + unknown + `","status":"INVALID_ARGUMENT","details":[{"@type":"x","fieldViolations":[]}]}}]`
			}
			return noProperties(q)
		}},
	{Name: "Gemini at Vertex AI", Host: "europe-west1-aiplatform.googleapis.com", Model: "google/gemini-2.5-flash", Fact: "nothing may stand beside anyOf",
		Source: "github.com/anomalyco/opencode issue 15795; github.com/lambda-alpha-labs/Graphenium issue 37", Seen: "2026-03-03",
		refuses: func(q *request) (int, string) {
			for _, t := range q.tools() {
				if besideAnyOf(t.parameters) {
					return http.StatusBadRequest, fmt.Sprintf("[{\"error\":{\"code\":400,\"message\":\"Unable to submit request because `%s` functionDeclaration `parameters.x` schema specified other fields alongside any_of. When using any_of, it must be the only field set.\",\"status\":\"INVALID_ARGUMENT\"}}]", t.name)
				}
			}
			return 0, ""
		}},
	{Name: "a gateway before Gemini", Fact: "the answer of a tool has its name", Source: "github.com/ollama/ollama issue 14214", Seen: "2026-02-12",
		refuses: func(q *request) (int, string) {
			for _, m := range q.messages() {
				if name, _ := m["name"].(string); m["role"] == "tool" && name == "" {
					return http.StatusBadRequest, `[{"error":{"code":400,"message":"* GenerateContentRequest.contents[2].parts[0].function_response.name: Name cannot be empty.\n","status":"INVALID_ARGUMENT"}}]`
				}
			}
			return 0, ""
		}},
	{Name: "Gemini, before tools without arguments", Fact: "an object has properties", Source: "github.com/huggingface/smolagents pull request 2229; github.com/SWE-agent/SWE-agent pull request 1431", Seen: "2026-04-27, 2026-06-24",
		refuses: func(q *request) (int, string) {
			return noProperties(q)
		}},
	{Name: "a gateway of another language", Fact: "fields are refused by the names of its own types", Source: "ours, after github.com/QuantumNous/new-api issue 847", Seen: "2026-11-30",
		refuses: func(q *request) (int, string) {
			if q.has("stream_options") {
				return http.StatusBadRequest, `{"code":"InvalidParameter","message":"Unrecognized field \"streamOptions\" (class ChatRequest)"}`
			}
			return 0, ""
		}},
	{Name: "Gemma at Google", Fact: "no message of the system", Source: "github.com/0xPlaygrounds/rig issue 788; github.com/CherryHQ/cherry-studio issue 3242", Seen: "2025-09-08, 2025-03-12",
		refuses: func(q *request) (int, string) {
			for _, m := range q.messages() {
				if m["role"] == "system" {
					return http.StatusBadRequest, `[{"error":{"code":400,"message":"Developer instruction is not enabled for models/gemma-3-27b-it","status":"INVALID_ARGUMENT"}}]`
				}
			}
			return 0, ""
		}},
	{Name: "Mistral", Host: "api.mistral.ai", Model: "devstral-medium", Fact: "unknown fields are refused by their place, seed and max_completion_tokens among them; the id of a call has nine letters or digits",
		Source: "github.com/editor-code-assistant/eca issues 231 and 315; github.com/anomalyco/opencode issue 1680", Seen: "2025-12-12, 2026-02-18, 2025-08-07",
		refuses: func(q *request) (int, string) {
			for _, f := range []string{"seed", "max_completion_tokens"} {
				if q.has(f) {
					return forbidden(f)
				}
			}
			for i, m := range q.messages() {
				if _, ok := m["reasoning_content"]; ok {
					return forbidden("messages", fmt.Sprint(i), "assistant", "reasoning_content")
				}
			}
			if id := oddID(q); id != "" {
				return http.StatusBadRequest, fmt.Sprintf(`{"object":"error","message":"Tool call id was %s but must be a-z, A-Z, 0-9, with a length of 9.","type":"invalid_function_call","param":null,"code":"3280"}`, id)
			}
			return 0, ""
		}},
	{Name: "Mistral of 2024", Fact: "stream_options is refused too", Source: "github.com/crewAIInc/crewAI issue 60; github.com/mistralai/platform-docs-public issue 7", Seen: "2024-04-02",
		refuses: func(q *request) (int, string) {
			for _, f := range []string{"seed", "stream_options", "max_completion_tokens"} {
				if q.has(f) {
					return forbidden(f)
				}
			}
			return 0, ""
		}},
	{Name: "Anthropic, newer models", Host: "api.anthropic.com", Model: "claude-opus-4-8", Fact: "a temperature is refused as deprecated", Source: "github.com/RooCodeInc/Roo-Code issue 12162; github.com/BerriAI/litellm issue 26444", Seen: "2026-04-21, 2026-04-24",
		refuses: deprecatedTemperature},
	{Name: "Anthropic, Fable 5.1", Host: "api.anthropic.com", Model: "claude-fable-5-1", Fact: "a call cannot be forced, and a temperature is refused", Source: "github.com/anthropics/claude-cookbooks issue 854", Seen: "2026-09-02",
		refuses: func(q *request) (int, string) {
			if q.fields["tool_choice"] == "required" {
				return http.StatusBadRequest, `{"error":{"code":"invalid_request_error","message":"tool_choice: type \"tool\" and \"any\" are not supported for this model.","type":"invalid_request_error","param":null}}`
			}
			return deprecatedTemperature(q)
		}},
	{Name: "a gateway before Claude", Fact: "what is refused stands as JSON in the text of a message", Source: "github.com/The-PR-Agent/pr-agent issue 2456", Seen: "2026-06-18",
		refuses: func(q *request) (int, string) {
			if q.has("temperature") {
				return http.StatusBadRequest, `{"message":"{\"type\":\"error\",\"request_id\":\"r\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"` + "`temperature`" + ` is deprecated for this model.\"}}"}`
			}
			return 0, ""
		}},
	{Name: "LiteLLM before a reasoning model", Fact: "what is refused stands as JSON behind words, with the name of its group of models", Source: "github.com/BerriAI/litellm issue 13327", Seen: "2025-08-06",
		refuses: func(q *request) (int, string) {
			if q.has("temperature") {
				return http.StatusBadRequest, `{"error":{"message":"litellm.BadRequestError: AzureException BadRequestError - {\n  \"error\": {\n    \"message\": \"Unsupported parameter: 'temperature' is not supported with this model.\",\n    \"type\": \"invalid_request_error\",\n    \"param\": \"temperature\",\n    \"code\": null\n  }\n}. Received Model Group=azure/o3-mini\nAvailable Model Group Fallbacks=None","type":null,"param":null,"code":"400"}}`
			}
			return 0, ""
		}},
	{Name: "LiteLLM, which knows what a model takes", Fact: "parameters that it does not know of a model are refused in a list", Source: "github.com/kortix-ai/suna issue 254", Seen: "2025-05-10",
		refuses: func(q *request) (int, string) {
			if q.has("temperature") || q.has("tool_choice") {
				return http.StatusBadRequest, `{"error":{"message":"litellm.UnsupportedParamsError: bedrock does not support parameters: ['temperature', 'tool_choice'], for model=deepseek.r1-v1:0. To drop these, set litellm.drop_params=True or for proxy:\n\nlitellm_settings:\n drop_params: true\n. \n If you want to use these params dynamically send allowed_openai_params=['temperature', 'tool_choice'] in your request.","type":"None","param":null,"code":"400"}}`
			}
			return 0, ""
		}},
	{Name: "OpenRouter, before a provider that refuses", Fact: "the refusal of the provider stands as a text inside its own", Source: "github.com/BeehiveInnovations/pal-mcp-server issue 134", Seen: "2025-06-27",
		refuses: func(q *request) (int, string) {
			if q.fields["stream"] == true {
				return http.StatusBadRequest, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\n  \"error\": {\n    \"message\": \"Your organization must be verified to stream this model.\",\n    \"type\": \"invalid_request_error\",\n    \"param\": \"stream\",\n    \"code\": \"unsupported_value\"\n  }\n}"}}}`
			}
			return 0, ""
		}},
	{Name: "Groq of 2024", Fact: "stream_options is refused, with a question that names another field", Source: "github.com/vercel/ai pull request 1578", Seen: "2024-05-15",
		refuses: func(q *request) (int, string) {
			if q.has("stream_options") {
				return http.StatusBadRequest, `{"error":{"message":"property 'stream_options' is unsupported, did you mean 'stream'?","type":"invalid_request_error"}}`
			}
			return 0, ""
		}},
	{Name: "Groq, with a bound of its own", Fact: "an answer has a bound below what is asked for, and the newer name of the bound is not known", Source: "github.com/skapadia3214/groq-moa issue 8; github.com/RooCodeInc/Roo-Code issue 5136", Seen: "2024-07-31, 2025-06-26",
		refuses: func(q *request) (int, string) {
			if q.number("max_tokens") > 1000 {
				return http.StatusBadRequest, "{\"error\":{\"message\":\"max_tokens for `gemma-7b-it` must be less than or equal to 1000\",\"type\":\"invalid_request_error\"}}"
			}
			if q.has("max_completion_tokens") {
				return http.StatusBadRequest, `{"error":{"message":"property 'max_completion_tokens' is unsupported"}}`
			}
			return 0, ""
		}},
	{Name: "Together", Unnamed: true, Host: "api.together.xyz", Model: "deepseek-ai/DeepSeek-V3", Fact: "a forced call is an invalid request, and nothing says why", Source: "github.com/tensorzero/tensorzero pull request 2952", Seen: "2025-07-30",
		refuses: func(q *request) (int, string) {
			if q.fields["tool_choice"] == "required" {
				return http.StatusBadRequest, `{"id":"x","error":{"message":"Invalid request","type":"invalid_request_error","param":null,"code":null}}`
			}
			return 0, ""
		}},
	{Name: "Moonshot, thinking models", Host: "api.moonshot.ai", Model: "kimi-k2.5", Fact: "no temperature but the default, and the reasoning comes back with the calls", Source: "github.com/continuedev/continue issue 11600; github.com/MoonshotAI/kimi-cli issue 2621", Seen: "2026-03-18",
		refuses: func(q *request) (int, string) {
			if q.has("temperature") {
				return http.StatusBadRequest, `{"error":{"message":"invalid temperature: only 1 is allowed for this model","type":"invalid_request_error"}}`
			}
			return 0, ""
		}},
	{Name: "Perplexity", Host: "api.perplexity.ai", Model: "sonar", NoTools: true, Fact: "no tools; after system messages, the person and the model speak in turns", Source: "github.com/perplexityai/api-discussion issue 265; github.com/agno-agi/agno pull request 6058", Seen: "2025-04-01",
		refuses: func(q *request) (int, string) {
			if q.has("tools") {
				return http.StatusBadRequest, `{"error":{"message":"Tool calling is not supported for this model","type":"invalid_request","code":400}}`
			}
			last := "assistant"
			for _, m := range q.messages() {
				role, _ := m["role"].(string)
				if role == "system" && last == "assistant" {
					continue
				}
				if role == last || role != "user" && role != "assistant" {
					return http.StatusBadRequest, `{"error":{"message":"After the (optional) system message(s), user or tool message(s) should alternate with assistant message(s).","type":"invalid_message","code":400}}`
				}
				last = role
			}
			return 0, ""
		}},
	{Name: "Cloudflare Workers AI", Host: "api.cloudflare.com", Model: "@cf/meta/llama-3.3-70b-instruct-fp8-fast", Fact: "each content is a text, also beside a call", Source: "github.com/we-promise/sure pull request 467", Seen: "2025-12-19",
		refuses: func(q *request) (int, string) {
			for i, m := range q.messages() {
				if _, ok := m["content"].(string); !ok {
					return http.StatusBadRequest, fmt.Sprintf(`{"errors":[{"message":"AiError: Bad input: Error: oneOf at '/' not met, 0 matches: required properties at '/messages/%d' are 'role,content'","code":5006}],"success":false,"result":{},"messages":[]}`, i)
				}
			}
			return 0, ""
		}},
	{Name: "Databricks", Host: "adb-1.cloud.databricks.com", Model: "databricks-qwen35-122b", Fact: "unknown fields are refused, stream_options among them", Source: "github.com/anomalyco/opencode issue 31156", Seen: "2026-06-06",
		refuses: func(q *request) (int, string) {
			if q.has("stream_options") {
				return http.StatusBadRequest, `{"error_code":"BAD_REQUEST","message":"Bad request: json: unknown field \"stream_options\""}`
			}
			return 0, ""
		}},
	{Name: "vLLM, a template of two roles", Fact: "a template without a system and without tools knows two roles, in turn", Source: "github.com/microsoft/autogen issue 1037", Seen: "2023-12-21",
		refuses: func(q *request) (int, string) {
			last := ""
			for _, m := range q.messages() {
				role, _ := m["role"].(string)
				if role == "system" || role == "tool" || role == last {
					return http.StatusBadRequest, `{"object":"error","message":"Conversation roles must alternate user/assistant/user/assistant/...","type":"BadRequestError","param":null,"code":400}`
				}
				last = role
			}
			return 0, ""
		}},
	{Name: "vLLM, the template of Gemma 3", Fact: "after one system message, roles are in turn, and there is no role tool", Source: "github.com/suitenumerique/conversations issue 197; github.com/google/adk-python issue 1373", Seen: "2025-12-05",
		refuses: func(q *request) (int, string) {
			for i, m := range q.messages()[min(1, len(q.messages())):] {
				if m["role"] != []string{"user", "assistant"}[i%2] {
					return http.StatusBadRequest, `{"error":{"message":"Conversation roles must alternate user/assistant/user/assistant/...","type":"BadRequestError","param":null,"code":400}}`
				}
			}
			return 0, ""
		}},
	{Name: "vLLM of 2024", Fact: "unknown fields are refused by their place, in a list as Python prints it", Source: "github.com/microsoft/autogen issue 3597", Seen: "2024-10-02",
		refuses: func(q *request) (int, string) {
			if q.has("stream_options") {
				return http.StatusBadRequest, `{"object":"error","message":"[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options'), 'msg': 'Extra inputs are not permitted', 'input': {}}]","type":"BadRequestError","param":null,"code":400}`
			}
			return 0, ""
		}},
	{Name: "vLLM, a small context", Fact: "the bound of an answer counts in full against the length of the context", Source: "github.com/ogx-ai/ogx issue 4534; github.com/vllm-project/vllm issue 42474", Seen: "2025-02-06",
		refuses: func(q *request) (int, string) {
			if q.number("max_tokens") > 700 {
				return http.StatusBadRequest, `{"object":"error","message":"This model's maximum context length is 6048 tokens. However, you requested 6483 tokens (4483 in the messages, 2000 in the completion). Please reduce the length of the messages or completion.","type":"BadRequestError","param":null,"code":400}`
			}
			return 0, ""
		}},
	{Name: "vLLM, whose grammar of a forced call is beyond xgrammar", Fact: "a forced call is refused with a sentence about its grammar", Source: "github.com/vllm-project/vllm issue 16321", Seen: "2025-04-09",
		refuses: func(q *request) (int, string) {
			if q.fields["tool_choice"] == "required" {
				return http.StatusBadRequest, `{"object":"error","message":"The provided JSON schema contains features not supported by xgrammar.","type":"BadRequestError","param":null,"code":400}`
			}
			return 0, ""
		}},
	{Name: "llama.cpp of 2024", Fact: "a stream with tools is an error of the server", Source: "github.com/danny-avila/LibreChat issue 7408", Seen: "2025-05-16",
		refuses: func(q *request) (int, string) {
			if q.fields["stream"] == true && q.has("tools") {
				return http.StatusInternalServerError, `{"error":{"code":500,"message":"Cannot use tools with stream","type":"server_error"}}`
			}
			return 0, ""
		}},
	{Name: "llama.cpp, before an odd pattern", Fact: "a repetition of many, or a long text with a bound, is no grammar to it", Source: "github.com/flagdizero/jenny-android-ai-agent issue 2 (build b10229)", Seen: "2026-08-02",
		refuses: func(q *request) (int, string) {
			if strings.Contains(q.text, "{1,3000}") || q.keyword("maxLength") {
				return http.StatusBadRequest, `{"error":{"code":400,"message":"Failed to initialize samplers: failed to parse grammar","type":"invalid_request_error"}}`
			}
			return 0, ""
		}},
	{Name: "a template of Mistral elsewhere", Fact: "an id that the server itself has given is an error of the server when it comes back", Source: "github.com/jundot/omlx pull request 1997", Seen: "2026-06-24",
		refuses: func(q *request) (int, string) {
			if id := oddID(q); id != "" {
				return http.StatusInternalServerError, fmt.Sprintf(`{"error":{"message":"Tool call id was %s but must be a-z, A-Z, 0-9, with a length of 9","type":"server_error"}}`, id)
			}
			return 0, ""
		}},
	{Name: "Ollama, a model without tools", NoTools: true, Fact: "tools are refused where the template of the model has none", Source: "github.com/ollama/ollama issues 6027 and 14795", Seen: "2024-07-28, 2026-03-12",
		refuses: func(q *request) (int, string) {
			if q.has("tools") {
				return http.StatusBadRequest, `{"error":{"message":"registry.ollama.ai/library/smollm2:135m does not support tools","type":"api_error","param":null,"code":null}}`
			}
			return 0, ""
		}},
	{Name: "LM Studio", Fact: "a form of tool_choice that it does not know is refused under status 200", Source: "github.com/lmstudio-ai/lmstudio-bug-tracker issues 670 and 618", Seen: "2025-05-21, 2025-04-25",
		refuses: func(q *request) (int, string) {
			if q.fields["tool_choice"] == "required" {
				return http.StatusOK, `{"error":"Invalid tool_choice type: 'required'. Supported: none, auto"}`
			}
			return 0, ""
		}},
	{Name: "TGI", Fact: "a temperature has to be above 0", Source: "github.com/vibrantlabsai/ragas issue 264", Seen: "2023-11-08",
		refuses: func(q *request) (int, string) {
			if t, ok := q.fields["temperature"].(float64); ok && t <= 0 {
				return http.StatusUnprocessableEntity, "{\"error\":\"Input validation error: `temperature` must be strictly positive\",\"error_type\":\"validation\"}"
			}
			return 0, ""
		}},

	// Kinds that many have, of which no one report was chosen.
	{Name: "one that takes no strict", Fact: "strict is refused by name", Source: "ours", Seen: "2026-11-30",
		refuses: func(q *request) (int, string) {
			if strings.Contains(q.text, `"strict":true`) {
				return http.StatusBadRequest, `{"error":{"message":"Unrecognized field: 'strict'","type":"invalid_request_error"}}`
			}
			return 0, ""
		}},
	{Name: "one with small enums", Fact: "an enum of many values is refused", Source: "ours, after the limits that OpenAI publishes", Seen: "2026-11-30",
		refuses: func(q *request) (int, string) {
			if q.keyword("enum") {
				return refusal("tools[0].function.parameters", "invalid_function_parameters", "Invalid schema for function 'a': 1001 enum values, when the limit is 1000")
			}
			return 0, ""
		}},
	{Name: "one that wants a content, and not an empty one", Fact: "a content is there, and is not an empty text", Source: "ours, after github.com/MoonshotAI/kimi-cli issue 2621", Seen: "2026-11-30",
		refuses: func(q *request) (int, string) {
			for _, m := range q.messages() {
				switch is, ok := m["content"]; {
				case !ok:
					return http.StatusUnprocessableEntity, `{"detail":[{"type":"missing","loc":["body","messages",2,"assistant","content"],"msg":"Field required"}]}`
				case is == "":
					return http.StatusBadRequest, `{"error":{"message":"text content is empty","type":"invalid_request_error"}}`
				}
			}
			return 0, ""
		}},
	{Name: "one that reads plain schemas alone, and does not say why", Fact: "schemas beyond the plain ones are refused without their keyword", Source: "ours, in the words of github.com/googleapis/python-genai issue 660", Seen: "2025-04-09",
		refuses: func(q *request) (int, string) {
			reader := Readers["plain"]
			for _, t := range q.tools() {
				if reader.Beyond(t.parameters) != "" {
					return http.StatusBadRequest, `{"error":{"message":"The specified schema produces a constraint that has too many states for serving."}}`
				}
			}
			return 0, ""
		}},
	{Name: "one without definitions", Fact: "$ref and $defs are refused", Source: "ours", Seen: "2026-11-30",
		refuses: func(q *request) (int, string) {
			if q.keyword("$ref") || q.keyword("$defs") {
				return http.StatusBadRequest, `{"error":{"message":"Unsupported keyword: $ref"}}`
			}
			return 0, ""
		}},
}

func deprecatedTemperature(q *request) (int, string) {
	if q.has("temperature") {
		return http.StatusBadRequest, "{\"error\":{\"code\":\"invalid_request_error\",\"message\":\"`temperature` is deprecated for this model.\",\"type\":\"invalid_request_error\",\"param\":null}}"
	}
	return 0, ""
}

// noProperties refuses a tool without arguments that has a schema.
func noProperties(q *request) (int, string) {
	for i, t := range q.tools() {
		if s := object(t.parameters); s != nil && len(object(s["properties"])) == 0 {
			return http.StatusBadRequest, fmt.Sprintf(`[{"error":{"code":400,"message":"* GenerateContentRequest.tools[0].function_declarations[%d].parameters.properties: should be non-empty for OBJECT type\n","status":"INVALID_ARGUMENT"}}]`, i)
		}
	}
	return 0, ""
}

// strictly refuses a strict schema beyond the published subset.
func strictly(q *request) (int, string) {
	reader := Readers["openai-strict"]
	for i, t := range q.tools() {
		if !t.strict {
			continue
		}
		why := reader.Beyond(t.parameters)
		if why == "" {
			why = open(t.parameters)
		}
		if why != "" {
			return refusal(fmt.Sprintf("tools[%d].function.parameters", i), "invalid_function_parameters", fmt.Sprintf("Invalid schema for function '%s': In context=(), %s", t.name, why))
		}
	}
	return 0, ""
}

// open says which object of a schema takes other properties, or lets one be left out.
func open(schema any) string {
	s := object(schema)
	if properties := object(s["properties"]); s["type"] == "object" || properties != nil {
		if s["additionalProperties"] != false {
			return "'additionalProperties' is required to be supplied and to be false."
		}
		required, _ := json.Marshal(s["required"]) // a list of texts
		for name := range properties {
			if !strings.Contains(string(required), fmt.Sprintf("%q", name)) {
				return fmt.Sprintf("'required' is required to be supplied and to be an array including every key in properties. Missing '%s'.", name)
			}
		}
	}
	for _, inner := range inside(s) {
		if why := open(inner); why != "" {
			return why
		}
	}
	return ""
}

// besideAnyOf reports whether something stands beside an anyOf.
func besideAnyOf(schema any) bool {
	s := object(schema)
	return s["anyOf"] != nil && len(s) > 1 || slices.ContainsFunc(inside(s), func(of any) bool { return besideAnyOf(of) })
}

// formatIn returns a format of a text that Gemini does not take.
func formatIn(schema any) string {
	s := object(schema)
	if f, _ := s["format"].(string); f != "" && f != "date-time" && f != "enum" && s["type"] == "string" {
		return f
	}
	for _, inner := range inside(s) {
		if f := formatIn(inner); f != "" {
			return f
		}
	}
	return ""
}

// oddID returns the id of a call that has not nine letters or digits.
func oddID(q *request) string {
	for _, m := range q.messages() {
		for _, c := range list(m["tool_calls"]) {
			if id, _ := object(c)["id"].(string); !nine.MatchString(id) {
				return id
			}
		}
	}
	return ""
}

var nine = regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)
