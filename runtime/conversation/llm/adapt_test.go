package llm_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"verbatim/runtime/conversation/llm"
	"verbatim/runtime/tests/provider"
)

func openAIRefuses(param, code, message string) (int, string) {
	text, _ := json.Marshal(message)
	return 400, fmt.Sprintf(`{"error":{"message":%s,"type":"invalid_request_error","param":%q,"code":%q}}`, text, param, code)
}

func detail(parts ...string) (int, string) {
	loc, _ := json.Marshal(append([]string{"body"}, parts...))
	return 422, fmt.Sprintf(`{"detail":[{"type":"extra_forbidden","loc":%s,"msg":"Extra inputs are not permitted","input":1}]}`, loc)
}

func has(q map[string]any, field string) bool { _, ok := q[field]; return ok }

const rich = `{"type":"object","$schema":"x","properties":{"pattern":{"type":"string","pattern":"^a{1,3000}$"},"kind":{"const":"a"},"code":{"enum":["A","B"]},"of":{"$ref":"#/$defs/of"},"day":{"description":"when","anyOf":[{"type":"string"},{"type":"null"}]}},"required":["pattern","kind","code","of","day"],"additionalProperties":false,"$defs":{"of":{"type":"object","properties":{},"additionalProperties":false}}}`

func everything() llm.Request {
	zero, seed := float32(0), 1
	return llm.Request{
		Messages: []llm.Message{{Role: llm.System, Text: "be short"}, {Role: llm.User, Text: "a"}, {Role: llm.User, Text: "b"},
			{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "call00001", Name: "b", Arguments: `{"x":"y"}`}}}, {Role: llm.ToolRole, CallID: "call00001", Text: "done"}},
		Tools: []llm.Tool{{Name: "a", Parameters: json.RawMessage(rich)},
			{Name: "empty", Parameters: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)},
			{Name: "b", Parameters: json.RawMessage(`{"type":"object","properties":{"x":{"type":"string"}},"required":["x"],"additionalProperties":false}`)}},
		MustCall: true, Temperature: &zero, Seed: &seed, Stop: []string{"\n\n"}, MaxTokens: 2000,
	}
}

// play serves a family, and counts what it was asked and refused. What it takes is answered as it was
// asked for.
func play(t *testing.T, f *provider.Family) (e *endpoint, p *provider.Server) {
	t.Helper()
	e = serve(t, func(w http.ResponseWriter, r *http.Request) {
		if q := e.asked(); q[len(q)-1].body["stream"] == true {
			events("done", delta("fine"), stop, usage)(w, r)
			return
		}
		says("fine")(w, r)
	})
	p = f.Before(e.Config.Handler)
	e.Config.Handler = p
	return e, p
}

func refused(p *provider.Server) int { _, n := p.Counts(); return n }

// G36: what an endpoint refuses by name is taken back, the same question is answered, and the second
// question is right at once. It costs nothing, and the operator is told once.
func TestWhatIsRefusedIsTakenBack(t *testing.T) {
	t.Parallel()
	for i := range provider.Families {
		f := &provider.Families[i]
		if f.NoTools || f.Unnamed || f.Name == "OpenAI of today" {
			continue // see TestWhatCannotBeMendedIsSaid
		}
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			e, p := play(t, f)
			var told []llm.Adaptation
			c, waits := e.client(t, func(c *llm.Config) { // by a name that is not known
				c.Attempts = 1
				c.Adapted = func(a llm.Adaptation) { told = append(told, a) }
			})
			q := everything()
			q.Messages[3].Calls[0].ID, q.Messages[4].CallID = "call_1", "call_1"
			for _, turn := range []string{"first", "second"} {
				before := refused(p)
				reply, err := c.Chat(t.Context(), q, func(string) {})
				if err != nil {
					t.Fatalf("%s: %v", turn, err)
				}
				if reply.Text != "fine" || reply.Usage.Total() > 23 {
					t.Errorf("%s: %+v", turn, reply)
				}
				if turn == "first" && before == refused(p) {
					t.Error("nothing was refused, so nothing is tried")
				}
				if turn == "second" && before != refused(p) {
					t.Error("it was asked again in the way that was refused")
				}
			}
			if (f.Name == "Groq of 2024" || strings.HasPrefix(f.Name, "LiteLLM before")) && len(told) != 1 {
				t.Errorf("more is changed than was refused: %v", told)
			}
			if len(told) == 0 || len(*waits) != 0 || !slices.Equal(told, c.Adaptations()) && len(c.Adaptations()) < len(told) {
				t.Errorf("told %v of %v, waited %v", told, c.Adaptations(), *waits)
			}
			for _, a := range told {
				if a.Said == "" || a.Change == "" || strings.Contains(a.Said, `{"`) || strings.Contains(a.Said, `{ "`) {
					t.Errorf("the operator is told %q, %q", a.Change, a.Said)
				}
			}
		})
	}
}

// G36: with a known family, by its address and the name of its model, the first request is right, and
// what is changed is told as known.
func TestTheFirstRequestToAPlayedFamilyIsRight(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for i := range provider.Families {
		f := &provider.Families[i]
		if f.Host == "" && f.Model == "" {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			e, p := play(t, f)
			at := e.Listener.Addr().String()
			c, _ := e.client(t, func(c *llm.Config) {
				c.BaseURL, c.Model = "http://"+cmp.Or(f.Host, "elsewhere.example")+"/v1", f.Model
				c.Transport = &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
					return (&net.Dialer{}).DialContext(ctx, network, at)
				}}
			})
			q := everything()
			if f.NoTools {
				q.Tools, q.MustCall, q.Messages = nil, false, q.Messages[:2]
			}
			q.Stop = nil // what a program would not send to it
			if reply, err := c.Chat(t.Context(), q, func(string) {}); err != nil || reply.Text != "fine" || refused(p) != 0 {
				t.Errorf("%+v, %v after %d refusals", reply, err, refused(p))
			}
			for _, a := range c.Adaptations() {
				if a.Said != "" {
					t.Errorf("%+v was learned", a)
				}
			}
		})
		for _, row := range llm.Families {
			if row.Matches(f.Host, f.Model) {
				known[row.Name] = true
			}
		}
	}
	for _, row := range llm.Families {
		if len(row.Refuses) > 0 && !known[row.Name] {
			t.Errorf("%s is not played", row.Name)
		}
	}
}

// 54: an endpoint that changes its mind between turns, as one behind which another server begins to
// answer, is asked in its new way: what was learned of the old one is changed further, once for each turn.
func TestAnEndpointThatChangesItsMind(t *testing.T) {
	t.Parallel()
	minds := []func(q map[string]any) (int, string){
		func(map[string]any) (int, string) { return 0, "" },
		func(q map[string]any) (int, string) {
			if has(q, "max_tokens") {
				return openAIRefuses("max_tokens", "unsupported_parameter", "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
			}
			return 0, ""
		},
		func(q map[string]any) (int, string) {
			if has(q, "max_completion_tokens") {
				return detail("max_completion_tokens")
			}
			if q["tool_choice"] == "required" {
				return 400, `{"error":{"message":"Thinking mode does not support this tool_choice"}}`
			}
			return 0, ""
		},
		func(q map[string]any) (int, string) {
			if has(q, "tool_choice") {
				return detail("tool_choice")
			}
			return 0, ""
		},
		func(map[string]any) (int, string) { return 0, "" },
	}
	var mind atomic.Int32
	e, p := play(t, provider.Of(func(q map[string]any, _ string) (int, string) { return minds[mind.Load()](q) }))
	var told []string
	client, waits := e.client(t, func(c *llm.Config) {
		c.Attempts = 1
		c.Adapted = func(a llm.Adaptation) { told = append(told, a.Parameter+" "+a.Change) }
	})
	for i := range minds {
		mind.Store(int32(i))
		for range 2 {
			if reply, err := client.Chat(t.Context(), everything(), func(string) {}); err != nil || reply.Text != "fine" {
				t.Fatalf("mind %d: %+v, %v", i, reply, err)
			}
		}
	}
	if want := []string{"max_tokens sent as max_completion_tokens", "max_tokens left out", "tool_choice weakened to auto", "tool_choice left out"}; !slices.Equal(told, want) || refused(p) != 4 || len(*waits) != 0 {
		t.Errorf("told %q after %d refusals and waits of %v", told, refused(p), *waits)
	}
}

// G36: nothing is weakened that was not refused by its name.
func TestOnlyWhatIsNamedIsTakenBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ status, want int }{"a fault of another kind": {400, 1}, "trouble": {500, 1}, "a wrong key": {401, 1}} {
		e := serve(t, status(c.status, "", `{"error":{"message":"Please stop: the system cannot stream in such a strict format, whatever the seed or the pattern"}}`))
		client, _ := e.client(t, func(f *llm.Config) { f.Attempts = 1 })
		if _, err := client.Chat(t.Context(), everything(), func(string) {}); err == nil || len(e.asked()) != c.want || len(client.Adaptations()) != 0 {
			t.Errorf("%s: %v after %d requests, %v", name, err, len(e.asked()), client.Adaptations())
		}
	}
}

// G36: what did not help is not remembered, and the sentence of the endpoint and what to do reaches
// the operator.
func TestWhatCannotBeMendedIsSaid(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   []string
	}{
		"Ollama without tools": {status(400, "", `{"error":{"message":"registry.ollama.ai/library/smollm2:135m does not support tools","type":"api_error","param":null,"code":null}}`),
			[]string{"does not support tools", "choose a model that takes tools, or --mode text"}},
		"llama.cpp without --jinja": {status(500, "", `{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}`),
			[]string{"tools param requires --jinja flag", "start llama-server with --jinja"}},
		"vLLM without a parser": {status(400, "", `{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","code":400}`),
			[]string{"requires --enable-auto-tool-choice", "start vLLM with"}},
		"no such model":     {status(404, "", `{"error":{"message":"model 'acme/thing' not found","type":"api_error"}}`), []string{"not found", `the endpoint has no model "test-model"`}},
		"a sign-in page":    {status(200, "Content-Type: text/html", "<!DOCTYPE html><title>Sign in</title><body>hello"), []string{`a web page titled "Sign in"`, "check that the base URL is the API"}},
		"an error with 200": {status(200, "", `{"error":{"message":"No credits","code":402}}`), []string{"nothing left on our account (HTTP 200): No credits"}},
		"OpenAI's o1-mini": {status(404, "", `{"error":{"message":"tools is not supported in this model.","type":"invalid_request_error","param":null,"code":null}}`),
			[]string{"tools is not supported in this model; choose a model that takes tools, or --mode text"}},
		"OpenRouter without tools": {status(404, "", `{"error":{"message":"No endpoints found that support tool use.","code":404}}`),
			[]string{"support tool use; choose a model that takes tools, or --mode text"}},
		"an address without /v1": {status(200, "", `{"error":"Unexpected endpoint or method. (POST /chat/completions)"}`),
			[]string{"Unexpected endpoint", "check the base URL"}},
		"a 404 of another kind": {status(404, "", `{"error":{"message":"This model is asleep, says the owl"}}`), []string{"says the owl; verbatim model check says what works there"}},
		"a key that is refused with 400": {status(400, "", `{"code":"Client specified an invalid argument","error":"Incorrect API key provided: sk***st."}`),
			[]string{"does not accept our key", "Incorrect API key provided", "check the key in VERBATIM_MODEL_KEY"}},
		"a key, in a list of errors": {status(400, "", `{"success":false,"errors":[{"code":10000,"message":"Authentication error: invalid token"}]}`),
			[]string{"Authentication error: invalid token", "check the key in VERBATIM_MODEL_KEY"}},
		"a spent account": {status(429, "", `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`),
			[]string{"has nothing left on our account", "your current quota", "top up the account"}},
		"tomorrow": {status(429, "Retry-After: 86400", `{"error":{"code":"429","message":"You have exceeded the token rate limit."}}`),
			[]string{"token rate limit; it may be asked again in 24h0m0s", "choose another model"}},
		"in an hour, in words": {status(429, "", `{"error":{"message":"Rate limit reached. Please try again in 1h2m. Visit the console."}}`), []string{"it may be asked again in 1h2m0s"}},
		"what is free in a minute is used": {status(429, "", `[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details. Please retry in 34.07s.","status":"RESOURCE_EXHAUSTED"}}]`),
			[]string{"has too many requests", "it may be asked again in 34s"}},
		"a prompt that is too large": {status(413, "", `{"error":{"code":"tokens_limit_reached","message":"Request body too large for o1-mini model. Max size: 4000 tokens."}}`),
			[]string{"does not take so long a conversation (HTTP 413)", "Max size: 4000 tokens; choose a model", "larger context"}},
		"a context that is too small, as an event": {events("", `{"error":{"message":"Input does not fit in context length. The input has 4477 tokens, but the context length only supports 4096 tokens."}}`),
			[]string{"does not take so long a conversation (HTTP 200): Input does not fit", "larger context"}},
		"a proxy that gave up":       {status(524, "Content-Type: text/html", "<!DOCTYPE html><title>524: A timeout occurred</title>"), []string{"524: A timeout occurred", "a proxy stands before the model's server"}},
		"a text under 200":           {status(200, "Content-Type: text/plain", "upstream connect error or disconnect/reset before headers"), []string{"upstream connect error", "check that the base URL is the API of a model"}},
		"an address of another kind": {status(405, "", `{"detail":"Method Not Allowed"}`), []string{"check the base URL"}},
		"an error in a choice": {status(200, "", `{"choices":[{"index":0,"error":{"code":403,"message":"Your region is not supported"},"message":{"role":"assistant","content":""}}]}`),
			[]string{"HTTP 200", "Your region is not supported; ask from a region"}},
		"a code with 200, and no data": {status(200, "", `{"code":401,"msg":"invalid token","data":null}`), []string{"does not accept our key (HTTP 200): invalid token; check the key"}},
		"a filter": {status(400, "", `{"error":{"code":"content_filter","message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy."}}`),
			[]string{"its filter refuses"}},
		"too many tools":                     {status(400, "", `{"error":{"message":"Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 140 instead."}}`), []string{"give fewer palettes"}},
		"words in a form of their own":       {status(400, "", `{"fault":{"faultstring":"Policy said no"}}`), []string{"Policy said no", "verbatim model check"}},
		"always another refusal":             {status(400, "", `{"error":{"message":"'temperature', 'tool_choice', max_tokens and stream_options are all wrong"}}`), []string{"are all wrong"}},
		"MiniMax, which has no choices then": {status(200, "", `{"id":"x","choices":null,"base_resp":{"status_code":1004,"status_msg":"login fail: Please carry the API secret key in the 'Authorization' field of the request header"}}`), []string{"does not accept our key", "login fail"}},
		"LiteLLM, for a model without tools": {status(400, "", `{"error":{"message":"litellm.UnsupportedParamsError: bedrock does not support parameters: ['tools', 'tool_choice'], for model=x. To drop these, set litellm.drop_params=True"}}`),
			[]string{"choose a model that takes tools, or --mode text"}},
		"words before JSON (LiteLLM)": {status(404, "", `{"error":{"message":"litellm.NotFoundError: VertexException - {\n \"error\": {\"code\": 404, \"message\": \"Publisher model x was not found\"}}. Received Model Group=x","code":"404"}}`),
			[]string{": Publisher model x was not found; the endpoint has no model"}},
		"a credit that is spent, with 403":       {status(403, "", `{"code":"The caller does not have permission","error":"Your newly created team doesn't have any credits yet."}`), []string{"nothing left on our account", "top up"}},
		"a balance in another language":          {status(429, "", `{"error":{"code":"1113","message":"您的账户余额不足，请充值后重试。"}}`), []string{"nothing left on our account"}},
		"no key, with 400 (Gemini)":              {status(400, "", `[{"error":{"code":400,"message":"Missing or invalid Authorization header.","status":"INVALID_ARGUMENT"}}]`), []string{"does not accept our key"}},
		"an unknown model, with 400 (Mistral)":   {status(400, "", `{"object":"error","message":"Invalid model: mistral-huge","type":"invalid_model","code":"1500"}`), []string{`the endpoint has no model "test-model"`}},
		"an unknown model (Anthropic)":           {status(404, "", `{"error":{"code":"not_found_error","message":"model: claude-9"}}`), []string{`the endpoint has no model "test-model"`}},
		"a server with no room at the moment":    {status(498, "", `{"error":{"message":"Flex tier capacity exceeded"}}`), []string{"does not answer (HTTP 498)", "try again later"}},
		"a proxy that takes no large request":    {status(413, "Content-Type: text/html", "<html><head><title>413 Request Entity Too Large</title></head>"), []string{"413 Request Entity Too Large", "a proxy before the model's server takes no request of this size"}},
		"another address":                        {status(308, "Location: https://models.example/v1/chat/completions?x=1", ""), []string{"it sends us to https://models.example/v1"}},
		"a request that is refused, and not why": {status(400, "", `{"error":{"code":400,"message":"Request contains an invalid argument.","status":"INVALID_ARGUMENT"}}`), []string{"Request contains an invalid argument; verbatim model check says what works there"}},
		"another API (OpenAI)":                   {status(404, "", `{"error":{"message":"This model is only supported in v1/responses and not in v1/chat/completions.","param":"model"}}`), []string{"and not in v1/chat/completions; choose another model, one that answers chat completions"}},
		"a machine that is too small (Ollama)":   {status(500, "", `{"error":{"message":"model requires more system memory (5.3 GiB) than is available (4.4 GiB)","type":"api_error"}}`), []string{"the model does not answer (HTTP 500): model requires more", "choose a smaller model, or give its server more memory"}},
		"no channel, in another language":        {status(503, "", `{"error":{"message":"当前分组 default 下对于模型 x 无可用渠道","type":"new_api_error"}}`), []string{`does not take such a request (HTTP 503)`, `the endpoint has no model "test-model" for us: check its name, or choose another model`}},
		"a code for a model that is not there":   {status(503, "", `{"error":{"message":"nothing serves this","code":"model_not_found"}}`), []string{`the endpoint has no model "test-model"`}},
		"a page that takes us for a robot":       {status(403, "Content-Type: text/html", "<!DOCTYPE html><title>Access to this page is denied</title>"), []string{"the model does not answer (HTTP 403)", "this page is denied", "a proxy or firewall before it", "the key was not looked at"}},
		"such a page, with another status":       {status(503, "Content-Type: text/html", "<!DOCTYPE html><title>Just a moment...</title>"), []string{"a proxy or firewall before it"}},
		"what stood behind it (OpenRouter)":      {status(429, "", `{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"x is temporarily rate-limited upstream. Please add your own key","provider_name":"y"}}}`), []string{"Provider returned error: x is temporarily rate-limited upstream. Please add your own key; wait, give the account a key of its own"}},
		"a page behind it (OpenRouter)":          {status(502, "", `{"error":{"message":"Provider returned error","metadata":{"raw":"<html><title>Bad gateway</title>"}}}`), []string{`Provider returned error: a web page titled "Bad gateway"`}},
		"a budget":                               {status(429, "", `{"error":{"message":"Budget has been exceeded! Current cost: 10.02, Max budget: 10.0","type":"budget_exceeded"}}`), []string{"nothing left on our account (HTTP 429)", "raise what it may spend"}},
		"more than a minute allows":              {status(413, "", `{"error":{"message":"Request too large for model x on tokens per minute (TPM): Limit 6000, Requested 26084, please reduce your message size","code":"rate_limit_exceeded"}}`), []string{"give fewer palettes, have the limit of tokens a minute raised, or choose another model"}},
		"settings of the account":                {status(404, "", `{"error":{"message":"No endpoints found matching your data policy","code":404}}`), []string{"your data policy; change the settings of the account, or choose another model"}},
		"no model is loaded":                     {status(404, "", `{"error":{"message":"No models loaded. Please load a model"}}`), []string{"load the model in its server"}},
		"a list that names place":                {status(422, "", `{"detail":[{"loc":["body","messages",0,"content"],"msg":"Input should be a valid string"}]}`), []string{"messages.0.content: Input should be a valid string"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := serve(t, c.answer)
			client, _ := e.client(t, func(f *llm.Config) { f.Attempts = 1 })
			for _, piece := range []func(string){nil, func(string) {}} {
				_, err := client.Chat(t.Context(), everything(), piece)
				var got *llm.Error
				if !errors.As(err, &got) {
					t.Fatal("no error")
				}
				for _, w := range c.want {
					if !strings.Contains(err.Error(), w) {
						t.Errorf("%q does not say %q", err, w)
					}
				}
				if strings.Contains(name, "under 200") {
					continue // it may have been read
				}
				if got.Usage.Total() != 0 || len(client.Adaptations()) != 0 || len(e.asked()) > 16 {
					t.Errorf("cost %+v, adapted %v, %d requests", got.Usage, client.Adaptations(), len(e.asked()))
				}
			}
		})
	}
}

// G36: with a known family the first request is right.
func TestTheFirstRequestToAKnownFamilyIsRight(t *testing.T) {
	t.Parallel()
	for model, c := range map[string]struct{ without, with string }{
		"gpt-5-mini":               {"temperature", "max_completion_tokens"},
		"openai/o3":                {"max_tokens", "max_completion_tokens"},
		"gpt-6-sol":                {"temperature", "tools"}, // the library refuses it by its name; the endpoint decides
		"deepseek-v4-flash":        {"", "tools"},
		"claude-opus-4-8":          {"temperature", "max_tokens"},
		"gpt-4o":                   {"max_completion_tokens", "temperature"},
		"acme/gpt-50":              {"max_completion_tokens", "temperature"},
		"anthropic/claude-fable-5": {"temperature", "max_tokens"},
	} {
		e := serve(t, says("fine"))
		client, _ := e.client(t, func(f *llm.Config) { f.Model = model })
		if _, err := client.Chat(t.Context(), everything(), nil); err != nil {
			t.Fatalf("%s: %v", model, err)
		}
		got := e.asked()[0].body
		if has(got, c.without) || !has(got, c.with) || got["model"] != model {
			t.Errorf("%s is sent %v", model, got)
		}
		if strings.HasPrefix(model, "deepseek") != (got["tool_choice"] == "auto") {
			t.Errorf("%s is asked with tool_choice %v", model, got["tool_choice"])
		}
	}
	for _, f := range llm.Families {
		if f.Fact == "" || f.Source == "" || f.Seen == "" {
			t.Errorf("%s has no source", f.Name)
		}
	}
}

// G36: the reasoning of a model's own calls is sent to the endpoint that demands it, and to no other.
func TestReasoningIsGivenBackOnDemand(t *testing.T) {
	t.Parallel()
	demanding := provider.Of(func(_ map[string]any, raw string) (int, string) {
		if !strings.Contains(raw, `"reasoning_content":"hm"`) {
			return 400, `{"error":{"message":"The ` + "`reasoning_content`" + ` in the thinking mode must be passed back to the API.","type":"invalid_request_error"}}`
		}
		return 0, ""
	})
	forbidding := provider.Of(func(_ map[string]any, raw string) (int, string) {
		if strings.Contains(raw, "reasoning_content") {
			return detail("messages", "1", "assistant", "reasoning_content")
		}
		return 0, ""
	})
	q := llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "?"}, {Role: llm.Assistant, Reasoning: "hm", Calls: []llm.ToolCall{{ID: "1", Name: "a", Arguments: "{}"}}}, {Role: llm.ToolRole, CallID: "1", Text: "x"}}}
	for name, c := range map[string]struct {
		*provider.Family
		refusals int
	}{"DeepSeek V4 demands it": {demanding, 1}, "Mistral forbids it": {forbidding, 0}} {
		e, p := play(t, c.Family)
		client, _ := e.client(t, nil)
		if _, err := client.Chat(t.Context(), q, nil); err != nil || refused(p) != c.refusals {
			t.Errorf("%s: %v after %d refusals", name, err, refused(p))
		}
	}
}

// 54: an endpoint that only streams is asked for a stream, and one that thinks only in a stream is told
// not to.
func TestAnswersInOnePieceAreAskedForAsTheyCanBe(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]*provider.Family{
		"Qwen that only streams": provider.Of(func(q map[string]any, _ string) (int, string) {
			if q["stream"] != true {
				return 400, `{"error":{"message":"This model only support stream mode, please enable the stream parameter to access the model.","code":"invalid_parameter_error"}}`
			}
			return 0, ""
		}),
		"Qwen3 of the open weights": provider.Of(func(q map[string]any, _ string) (int, string) {
			if q["stream"] != true && q["enable_thinking"] != false {
				return 400, `{"error":{"message":"parameter.enable_thinking must be set to false for non-streaming calls","code":"invalid_parameter_error"}}`
			}
			return 0, ""
		}),
	} {
		e, p := play(t, f)
		client, _ := e.client(t, nil)
		for range 2 {
			if reply, err := client.Chat(t.Context(), ask("?"), nil); err != nil || reply.Text != "fine" || refused(p) != 1 {
				t.Errorf("%s: %+v, %v after %d refusals", name, reply, err, refused(p))
			}
		}
	}
}

// G37: the first byte and the whole answer have their own limits, and a slow start is no silence.
func TestTheFirstByteAndTheWholeHaveTheirOwnLimits(t *testing.T) {
	t.Parallel()
	const slow = 150 * time.Millisecond
	e := serve(t, func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(slow) // a model is loaded
		events("done", delta("fine"), stop)(w, r)
	})
	for name, c := range map[string]struct {
		first, whole, idle time.Duration
		ok                 bool
	}{
		"a cold start":            {time.Minute, time.Minute, slow / 10, true},
		"no patience at first":    {slow / 10, time.Minute, time.Minute, false},
		"no patience for it all":  {time.Minute, slow / 10, time.Minute, false},
		"first beyond the whole":  {time.Hour, slow / 10, time.Minute, false},
		"the defaults are enough": {0, 0, 0, true},
	} {
		client, _ := e.client(t, func(f *llm.Config) { f.First, f.Timeout, f.Idle = c.first, c.whole, c.idle })
		_, err := client.Chat(t.Context(), ask("?"), func(string) {})
		var got *llm.Error
		if (err == nil) != c.ok || !c.ok && (!errors.As(err, &got) || got.Kind != llm.Late) {
			t.Errorf("%s: %v", name, err)
		}
		if c.first == 0 && (client.First < time.Minute || client.Timeout < client.First) {
			t.Errorf("a cold model has %s and %s", client.First, client.Timeout)
		}
	}
}

// G37: attempts that the endpoint has read are counted, all of them; refused ones are not.
func TestEveryAttemptThatWasReadIsCounted(t *testing.T) {
	t.Parallel()
	e := serve(t, status(429, "", `{}`), events("cut"), status(503, "", ``), says("fine"))
	client, _ := e.client(t, func(f *llm.Config) { f.Attempts = 9 })
	reply, err := client.Chat(t.Context(), ask("?"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if reply.Usage != (llm.Usage{In: 11, Out: 7}) {
		t.Errorf("refused attempts cost %+v", reply.Usage)
	}
	e = serve(t, status(200, "", `{"choices":[]}`), says("fine"))
	client, _ = e.client(t, nil)
	if reply, err = client.Chat(t.Context(), ask("?"), nil); err != nil || reply.Usage.In <= 11 || !reply.Usage.Estimated {
		t.Errorf("an answer that was none costs nothing: %+v, %v", reply, err)
	}
}

// G40: harmless slips of form are no reason to ask again.
func TestHarmlessFormsAreRead(t *testing.T) {
	t.Parallel()
	whole := `{"choices":[{"message":{"role":"assistant","content":"","tool_calls":[{"id":"1","type":"function","function":{"name":"a","arguments":"{}"}},{"id":"1","type":"function","function":{"name":"b","arguments":"{}"}},{"type":"function","function":{"name":"c","arguments":"{}"}}]}}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`
	for name, answer := range map[string]http.HandlerFunc{
		"a whole answer to a streamed request": status(200, "", whole),
		"done, without a reason": events("done", `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"a","arguments":"{}"}},{"index":1,"id":"1","function":{"name":"b","arguments":"{}"}},{"index":2,"function":{"name":"c","arguments":"{}"}}]}}]}`,
			`{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}`),
		"much reasoning before": events("done", `{"choices":[{"index":0,"delta":{"reasoning_content":"`+strings.Repeat("hm ", 1<<20)+`"}}]}`, `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"a","arguments":"{}"}},{"index":1,"id":"1","function":{"name":"b","arguments":"{}"}},{"index":2,"function":{"name":"c","arguments":"{}"}}]},"finish_reason":"stop"}]}`,
			`{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := serve(t, answer)
			client, _ := e.client(t, nil)
			reply, err := client.Chat(t.Context(), everything(), func(string) {})
			if err != nil || len(e.asked()) != 1 {
				t.Fatalf("%v after %d requests", err, len(e.asked()))
			}
			if reply.Finish != llm.Called || len(reply.Calls) != 3 || reply.Usage != (llm.Usage{In: 3, Out: 2}) || len(reply.Reasoning) > 1<<20 {
				t.Fatalf("%+v", reply)
			}
			// Two calls with one id, and one without, are three.
			if a := reply.Calls; a[0].ID != "1" || a[1].ID == a[0].ID || len(a[1].ID) != 9 || len(a[2].ID) != 9 || a[2].ID == a[1].ID {
				t.Errorf("%+v", a)
			}
		})
	}
}

// G40: an empty answer is asked again, once, and is none then: its server may have loaded too small a
// context, and says nothing of it.
func TestAnEmptyAnswerIsAskedAgainOnce(t *testing.T) {
	t.Parallel()
	thought := status(200, "", `{"choices":[{"message":{"content":null,"reasoning_content":"hm"},"finish_reason":"length"}]}`)
	for name, c := range map[string]struct {
		answers []http.HandlerFunc
		want    string
		asked   int
	}{
		"and then it speaks":                 {[]http.HandlerFunc{says(""), says("fine")}, "fine", 2},
		"and it says nothing":                {[]http.HandlerFunc{says(""), says(" ")}, "", 2},
		"it thought until it was cut":        {[]http.HandlerFunc{thought}, "", 1},
		"it thought, and does not show what": {[]http.HandlerFunc{status(200, "", `{"choices":[{"message":{"content":""},"finish_reason":"length"}],"usage":{"prompt_tokens":1,"completion_tokens":9,"completion_tokens_details":{"reasoning_tokens":9}}}`)}, "", 1},
		"a stream that is well formed, of 0": {[]http.HandlerFunc{events("done", stop, usage)}, "", 2},
	} {
		e := serve(t, c.answers...)
		client, _ := e.client(t, nil)
		reply, err := client.Chat(t.Context(), ask("?"), nil)
		switch {
		case len(e.asked()) != c.asked:
			t.Errorf("%s: %d requests", name, len(e.asked()))
		case c.want != "" && (err != nil || reply.Text != c.want || reply.Usage.In != 11*c.asked):
			t.Errorf("%s: %+v, %v", name, reply, err)
		case c.want == "" && (err == nil || !strings.Contains(err.Error(), "the answer is empty; ") || strings.Contains(err.Error(), "larger context") == strings.Contains(name, "it thought") || strings.Contains(err.Error(), "the model thought until") != strings.Contains(name, "it thought")):
			t.Errorf("%s: %+v, %v", name, reply, err)
		}
	}
}

// 54: some servers answer a call that must be made, or a stream of calls, with nothing. What helps is
// remembered, and told once; what does not is neither.
func TestNothingIsAskedForInAnotherWay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		silent func(q map[string]any) bool
		asked  int
		told   []string
	}{
		"a call that must be made": {func(q map[string]any) bool { return q["tool_choice"] == "required" }, 3, []string{"tool_choice weakened to auto: nothing: the answer is empty"}},
		"a stream":                 {func(q map[string]any) bool { return q["stream"] == true }, 4, []string{"stream the answer is asked for in one piece: nothing: the answer is empty"}},
		"all":                      {func(map[string]any) bool { return true }, 4, nil},
	} {
		var e *endpoint
		e = serve(t, func(w http.ResponseWriter, r *http.Request) {
			q := e.asked()
			text := "fine"
			if c.silent(q[len(q)-1].body) {
				text = ""
			}
			says(text)(w, r)
		})
		var told []string
		client, _ := e.client(t, func(f *llm.Config) {
			f.Adapted = func(a llm.Adaptation) { told = append(told, a.Parameter+" "+a.Change+": "+a.Said) }
		})
		for turn := range 2 {
			before := len(e.asked())
			reply, err := client.Chat(t.Context(), everything(), func(string) {})
			if (err == nil) != (c.told != nil) || err == nil && reply.Text != "fine" {
				t.Errorf("%s: %+v, %v", name, reply, err)
			}
			if n := len(e.asked()) - before; n != c.asked && (turn == 0 || c.told == nil) || turn == 1 && c.told != nil && n != 1 {
				t.Errorf("%s: asked %d times in turn %d", name, n, turn)
			}
		}
		if !slices.Equal(told, c.told) || len(client.Adaptations()) != len(c.told) {
			t.Errorf("%s: told %q", name, told)
		}
	}
}

// 54: where an answer may cost more than is left, or a limit a minute allows, a shorter one does, whatever
// the status. A limit that waiting helps changes nothing.
func TestAShorterAnswerIsAskedForWhereItHelps(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		says   string
		bound  float64
	}{
		"what can be afforded":     {402, "This request requires more credits, or fewer max_tokens. You requested up to 2000 tokens, but can only afford 1024.", 1000},
		"what a minute allows":     {413, "Request too large for model x on tokens per minute (TPM): Limit 6000, Requested 6084", 1000},
		"the same, by its status":  {429, "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 30084.", 1000},
		"what is used in a minute": {429, "Rate limit reached on tokens per min (TPM): Limit 30000, Used 29000, Requested 2084. Please try again in 1s.", 2000},
	} {
		var e *endpoint
		e = serve(t, func(w http.ResponseWriter, r *http.Request) {
			q := e.asked()
			if n, _ := q[len(q)-1].body["max_tokens"].(float64); n > c.bound || c.bound == 2000 && len(q) == 1 {
				text, _ := json.Marshal(c.says)
				status(c.status, "", `{"error":{"message":`+string(text)+`}}`)(w, r)
				return
			}
			says("fine")(w, r)
		})
		client, waits := e.client(t, nil)
		if reply, err := client.Chat(t.Context(), everything(), nil); err != nil || reply.Text != "fine" {
			t.Errorf("%s: %+v, %v", name, reply, err)
		}
		last := e.asked()[len(e.asked())-1].body
		if last["max_tokens"] != c.bound || len(client.Adaptations()) != int(2-c.bound/1000) || len(*waits) != int(c.bound/1000-1) {
			t.Errorf("%s: %v, %v, waited %v", name, last["max_tokens"], client.Adaptations(), *waits)
		}
	}
}

// 54: another mode is named only where tools may be what is refused.
func TestAnotherModeIsNamedWhereItMayHelp(t *testing.T) {
	t.Parallel()
	for code, text := range map[int]string{400: "says the owl", 404: "is asleep"} {
		e := serve(t, status(code, "", `{"error":{"message":"`+text+`"}}`))
		client, _ := e.client(t, nil)
		for _, q := range []llm.Request{everything(), ask("?")} {
			_, err := client.Chat(t.Context(), q, nil)
			if err == nil || strings.Contains(err.Error(), "--mode text") != (code == 400 && len(q.Tools) > 0) {
				t.Errorf("%d, %d tools: %v", code, len(q.Tools), err)
			}
		}
	}
}

// 54: a server that cuts a prompt does not say so; its count does. A count of a short prompt is none.
func TestAPromptThatWasCutIsSeen(t *testing.T) {
	t.Parallel()
	for words, want := range map[int]bool{2000: true, 100: false} {
		for _, text := range []string{"fine", ""} {
			e := serve(t, says(text)) // it counts 11
			client, _ := e.client(t, nil)
			reply, err := client.Chat(t.Context(), ask(strings.Repeat("milk ", words)), nil)
			if text != "" && (err != nil || reply.Unread != want) || text == "" && (err == nil || strings.Contains(err.Error(), llm.LargerContext) != want) {
				t.Errorf("%d words, %q: %+v, %v", words, text, reply, err)
			}
		}
	}
}

// G40: calls that a server passes on as text are calls, if the text is nothing else. A call among other
// words may be quoted from somebody, and is none.
func TestCallsInTextAreCalls(t *testing.T) {
	t.Parallel()
	const call = `{"name": "a", "arguments": {"x": 1}}`
	for text, want := range map[string]int{
		"<tool_call>\n" + call + "\n</tool_call>":                                1,
		"<tool_call>" + call + "</tool_call><tool_call>" + call + "</tool_call>": 2,
		"<think>which one?</think>\n<tool_call>" + call + "</tool_call>":         1,
		"```json\n" + call + "\n```":                                             1,
		"[TOOL_CALLS][" + call + "]":                                             1,
		call:                                                                     1,
		`{"name": "functions.a", "parameters": {}}`:                              1,
		"The letter says <tool_call>" + call + "</tool_call>":                    0,
		"<tool_call>" + call + "</tool_call> is what the letter says":            0,
		`<tool_call>{"name": "rm", "arguments": {}}</tool_call>`:                 0,
		`{"name": "a"}`:                                                          0,
		"hello":                                                                  0,
		"<tool_call>\n<function=a>\n<parameter=x>\n1\n</parameter>\n<parameter=y>\n12\n</parameter>\n</function>\n</tool_call>": 1,
		"<tool_call>a\n<arg_key>x</arg_key>\n<arg_value>1</arg_value>\n</tool_call>":                                            1,
		`<minimax:tool_call><invoke name="a"><parameter name="y">two words</parameter></invoke></minimax:tool_call>`:            1,
		`<function=a>{"x": 1}</function>`:                  1,
		`<|python_tag|>` + call:                            1,
		`[TOOL_CALLS]a[ARGS]{"x": 1}`:                      1,
		`[TOOL_CALLS]a[ARGS]{"x": 1}[TOOL_CALLS]a[ARGS]{}`: 2,
		`<|tool_calls_section_begin|><|tool_call_begin|>functions.a:0<|tool_call_argument_begin|>{"x": 1}<|tool_call_end|><|tool_calls_section_end|>`:        1,
		"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>a\n```json\n{\"x\": 1}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>":                          1,
		`<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>a<｜tool▁sep｜>{"x": 1}<｜tool▁call▁end｜><｜tool▁call▁begin｜>a<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`: 2,
		`<|channel|>analysis<|message|>A call.<|end|><|start|>assistant<|channel|>commentary to=functions.a <|constrain|>json<|message|>{"x": 1}<|call|>`:    1,
		`<|start|>assistant to=functions.a<|channel|>commentary json<|message|>{"x": 1}<|call|>`:                                                             1,
		`<|channel|>commentary to=functions.rm<|message|>{}<|call|>`:                                                                                         0,
		`<function=rm>{"x": 1}</function>`:                0,
		`The letter says <function=a>{"x": 1}</function>`: 0,
	} {
		e := serve(t, says(text))
		client, _ := e.client(t, nil)
		q := ask("?")
		q.Tools = []llm.Tool{{Name: "a", Parameters: json.RawMessage(`{"type":"object","properties":{"x":{"type":"integer"},"y":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`)}}
		reply, err := client.Chat(t.Context(), q, nil)
		for _, c := range reply.Calls {
			var args struct {
				X int
				Y string
			}
			if e := json.Unmarshal([]byte(c.Arguments), &args); e != nil || args.X == 0 && args.Y == "" && c.Arguments != "{}" {
				t.Errorf("%q is read as %s: %v", text, c.Arguments, e)
			}
		}
		if err != nil || len(reply.Calls) != want || want == 0 && reply.Text != text || want > 0 && (reply.Text != "" || reply.Calls[0].ID == "" || reply.Finish != llm.Called) {
			t.Errorf("%q: %+v, %v", text, reply, err)
		}
	}
}

// A model that writes in channels is heard in the last, and not in its thoughts.
func TestChannelsInTextAreTakenApart(t *testing.T) {
	t.Parallel()
	e := serve(t, says("<|channel|>analysis<|message|>They greet.<|end|><|start|>assistant<|channel|>final<|message|>Hello.<|return|>"))
	client, _ := e.client(t, nil)
	q := ask("?")
	q.Tools = []llm.Tool{{Name: "a", Parameters: json.RawMessage(`{"type":"object"}`)}}
	if reply, err := client.Chat(t.Context(), q, nil); err != nil || reply.Text != "Hello." {
		t.Errorf("%+v, %v", reply, err)
	}
}

// G39: a schema that is sent holds no long pattern beside a format and no length of a text, which cost
// tokens and are checked all the same. A short pattern and a property that is called as a keyword stay.
func TestSchemasAreSentShort(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("(?:2[0-8])|", 30)
	for schema, want := range map[string]string{
		`{"type":"string","pattern":"` + long + `","format":"date"}`:                              `{"type":"string","format":"date"}`,
		`{"type":"string","pattern":"` + long + `"}`:                                              `{"type":"string","pattern":"` + long + `"}`,
		`{"type":"string","minLength":1,"maxLength":2000}`:                                        `{"type":"string"}`,
		`{"type":"array","maxItems":2,"items":{"type":"integer"}}`:                                `{"type":"array","maxItems":2,"items":{"type":"integer"}}`,
		`{"type":"string","pattern":"^[A-Z]$","format":"x"}`:                                      `{"type":"string","pattern":"^[A-Z]$","format":"x"}`,
		`{"type":"object","properties":{"pattern":{"type":"string"},"format":{"type":"string"}}}`: `{"type":"object","properties":{"pattern":{"type":"string"},"format":{"type":"string"}}}`,
	} {
		e := serve(t, says("fine"))
		client, _ := e.client(t, nil)
		q := ask("?")
		q.Tools = []llm.Tool{{Name: "a", Parameters: json.RawMessage(`{"type":"object","properties":{"x":{"anyOf":[` + schema + `,{"type":"null"}]}}}`)}}
		if _, err := client.Chat(t.Context(), q, nil); err != nil {
			t.Fatal(err)
		}
		sent, _ := json.Marshal(e.asked()[0].body["tools"].([]any)[0].(map[string]any)["function"].(map[string]any)["parameters"])
		var all any
		_ = json.Unmarshal([]byte(`{"type":"object","properties":{"x":{"anyOf":[`+want+`,{"type":"null"}]}}}`), &all)
		if wanted, _ := json.Marshal(all); string(sent) != string(wanted) {
			t.Errorf("%s is sent as %s", schema, sent)
		}
	}
}
