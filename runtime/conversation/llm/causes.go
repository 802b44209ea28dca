package llm

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A cause is why an endpoint refuses, known by the words in which endpoints say so: any of some, if there
// are any, and of some others, and when a condition holds. What a row leaves open follows from the status.
type cause struct {
	any, and []string
	but      []string // none of these
	when     func(*refusal) bool
	kind     Kind
	advice   string // what an operator can do
	// last says that the same request would do no better, although its kind might.
	last bool
}

// causes are in order: a refusal has the first that fits. Phrases are in small letters; the parts of one
// around "…" stand anywhere, and a code counts as its words. In advice, {model} is the model's name and
// {path} what may be wrong with the base URL.
var causes = []cause{
	{any: []string{"--jinja"}, advice: "start llama-server with --jinja"},
	{any: []string{"enable-auto-tool-choice"}, advice: "start vLLM with --enable-auto-tool-choice and a --tool-call-parser for this model, or choose --mode vllm"},
	{any: []string{"not support tool", "support tool use", "unsupported param: tools", "tool use is not supported", "tools is not supported", "tools are not supported", "tool calling is not supported", "tool calls are not supported", "tool_use is not supported",
		"not support parameters: ['tools'", "not support function", "function calling is not", "functions are not supported", "not support tool_use", "not support the tools", "'tools' is not supported", "does not support 'tools'"},
		advice: "choose a model that takes tools, or --mode text"},
	// Another API than ours (pgadmin4 issue 9795, 2026-03-27).
	{any: []string{"v1/responses", "responses api", "v1/messages", "messages api", "interactions api", "live api", "v1/completions", "not a chat model", "v1/embeddings", "v1/images", "v1/audio", "v1/realtime", "v1/batches"},
		advice: "choose another model, one that answers chat completions"},

	// An account, for which no waiting helps. Gemini has the same sentence for what is free each minute,
	// and says when to come back.
	{when: is(http.StatusPaymentRequired), kind: Unpaid},
	{any: []string{"insufficient_quota", "insufficient balance", "balance is insufficient", "insufficient credit", "insufficient fund", "exceeded_current_quota", "billing_hard_limit", "billing_not_active", "credit balance is too low",
		"no credits", "any credits", "purchase credits", "out of credits", "credits are depleted", "in arrears", "arrearage", "overdue", "spending limit", "spend limit",
		"budget_exceeded", "budget has been exceeded", "budget exceeded", "over budget", // LiteLLM issue 22726, 2026-03-04
		"余额不足", "欠费", "额度不足", "额度已用尽"}, kind: Unpaid},
	{any: []string{"exceeded your current quota…billing"}, but: []string{"retry", "per minute", "per day", "perminute", "perday"}, kind: Unpaid},

	// A request that is too large for a limit a minute (Groq, ha-groq-cloud-api issue 27, 2026-09-03), for
	// the model, or for a proxy.
	{any: []string{tooManyAMinute}, kind: Overlong, advice: "give fewer palettes, have the limit of tokens a minute raised, or choose another model"},
	{any: []string{"request too large", "request body too large", "reduce your message size"}, kind: Overlong},
	{any: []string{"context_length_exceeded", "exceed_context_size_error", "maximum context length", "context length", "context window", "context size", "context limit",
		"tokens_limit_reached", "prompt is too long", "prompt too long", "input is too long", "input is longer than", "input token count", "max_model_len", "max input tokens", "maximum…number of tokens…input"},
		when: unlimited, kind: Overlong},
	{when: page(is(http.StatusRequestEntityTooLarge)), kind: Overlong, advice: "a proxy before the model's server takes no request of this size: have it take larger ones, or give fewer palettes"},

	{any: []string{"failed_generation", "tool_use_failed", "failed to parse input", "parsing tool call", "parse tool call"}, kind: Garbled}, // the endpoint itself checks what the model wrote

	// The machine behind it (Ollama, continue issue 12689, 2026-06-16).
	{any: []string{"more system memory", "out of memory", "insufficient memory", "not enough memory"}, kind: Unavailable, last: true,
		advice: "choose a smaller model, or give its server more memory"},
	{when: (*refusal).loading, advice: "wait until it is loaded, or give --wait a longer time to begin"},
	{any: []string{"no models loaded", "no model loaded", "no model is loaded", "model is not loaded"}, advice: "load the model in its server"},

	// What stands before the API, or in its place. A page that refuses has not looked at the key
	// (Cloudflare, claude-code issue 30437, 2026-03-03).
	{when: page(is(http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired)), kind: Unavailable, last: true, advice: guarded},
	{any: []string{"just a moment", "attention required", "checking your browser", "captcha"}, when: page(always), kind: Unavailable, last: true, advice: guarded},
	{any: []string{"error code: 1010", "error code: 1020", "error code: 1006"}, kind: Unavailable, last: true, advice: guarded},
	{when: page(func(r *refusal) bool { return r.status < http.StatusInternalServerError }),
		advice: "check that the base URL is the API, such as https://host/v1, and that no proxy or sign-in stands before it"},
	{when: page(always), advice: "a proxy stands before the model's server: see whether that runs, and answers in the time that the proxy waits"},

	{any: []string{"content_filter", "content management policy", "content policy", "responsible ai", "data may contain inappropriate", "requires moderation"},
		kind: Invalid, advice: "its filter refuses what was said or what is known: have the filter relaxed, or choose another model"},
	{any: []string{"location is not supported", "country, region", "region is not supported"}, kind: Invalid, advice: "ask from a region that it serves, or choose another model"},
	{any: []string{"data policy", "privacy settings", "guardrail restrictions"}, advice: "change the settings of the account, or choose another model"},
	{any: []string{"too many…tools", "too many…functions", "'tools'…array too long", "tools…maximum length"}, advice: "give fewer palettes, or choose --mode text"},
	// Gateways use any status for it (New API, one-api issue 2308, 2025-08-22).
	{any: []string{"model_not_found", "model_not_exist", "no available channel", "no available distributor", "无可用渠道", "模型不存在", "model 不存在"}, kind: Invalid, advice: noModel},

	{any: []string{"api key", "api-key", "apikey", "invalid token", "invalid authentication", "authentication error", "authentication fails", "authorization header", "login fail", "secret key", "unauthorized", "unauthenticated", "无效的令牌"},
		when: unlimited, but: []string{"rate limit"}, kind: Denied},
	{any: []string{"rate-limited upstream"}, advice: "wait, give the account a key of its own at the provider behind it, or choose another model"}, // OpenRouter
	{when: func(r *refusal) bool {
		return (r.status == http.StatusNotFound || r.status == http.StatusMethodNotAllowed) && r.noSuchPath()
	}, advice: "check the base URL{path}"},
	{any: []string{"model", "deployment"}, and: []string{"not found", "not exist", "no such", "unknown model", "invalid model", "not a valid model", "model identifier is invalid", "not available", "not supported by any provider", "no provider", "unable to access model", "could not find"},
		when: func(r *refusal) bool { return r.status < http.StatusInternalServerError && unlimited(r) }, advice: noModel},
}

const (
	guarded = "a proxy or firewall before it takes us for a robot or a stranger, and the key was not looked at: have it let this program through, or ask from another network or address"
	noModel = "the endpoint has no model {model} for us: check its name, or choose another model"
)

// Words for which a shorter answer may do: one request is larger than a limit a minute, or its answer may
// cost more than is left (OpenRouter, openclaude issue 1125, 2026-05-12).
const (
	tooManyAMinute = "request too large…tokens per min"
	tooDear        = "can only afford"
)

func always(*refusal) bool { return true }

func unlimited(r *refusal) bool { return r.status != http.StatusTooManyRequests }

func is(statuses ...int) func(*refusal) bool {
	return func(r *refusal) bool { return slices.Contains(statuses, r.status) }
}

// page is a condition on a refusal that is a web page.
func page(also func(*refusal) bool) func(*refusal) bool {
	return func(r *refusal) bool { return strings.HasPrefix(r.best, aWebPage) && also(r) }
}

func (c *cause) fits(r *refusal) bool {
	return (len(c.any) == 0 || r.any(c.any...)) && (len(c.and) == 0 || r.any(c.and...)) && !r.any(c.but...) && (c.when == nil || c.when(r))
}

// cause returns the first row that fits a refusal, or an empty cause.
func (r *refusal) cause() *cause {
	for i := range causes {
		if c := &causes[i]; c.fits(r) {
			return c
		}
	}
	return &cause{}
}

// kind says what a caller can do about it. Endpoints use one status for different things, so their
// words count for more.
func (r *refusal) kind() Kind { return cmp.Or(r.cause().kind, r.byStatus()) }

func (r *refusal) byStatus() Kind {
	switch {
	case r.status == http.StatusTooManyRequests:
		return Busy
	case r.status == http.StatusUnauthorized, r.status == http.StatusForbidden:
		return Denied
	case r.status == http.StatusRequestEntityTooLarge:
		return Overlong
	case r.status >= 500, slices.Contains([]int{http.StatusRequestTimeout, http.StatusConflict, http.StatusFailedDependency, http.StatusTooEarly, 498, 499}, r.status):
		return Unavailable
	case r.status >= 400:
		return Invalid
	}
	return Garbled
}

// advice says what an operator can do about a refusal that no change of the request mends. withTools says
// that the request had tools, so that another mode may help.
func (c *Client) advice(r *refusal, kind Kind, wait time.Duration, withTools bool) string {
	path := ": it usually ends in /v1"
	switch {
	case c.bare:
		path = ", and where there is no /v1, write all of it, such as https://host/chat/completions"
	case strings.HasSuffix(c.base, "/v1"):
		path = ": there is no /chat/completions at it"
	}
	if known := r.cause().advice; known != "" {
		return strings.NewReplacer("{model}", strconv.Quote(c.Model), "{path}", path).Replace(known)
	}
	switch {
	case kind == Unpaid:
		return "top up the account, or raise what it may spend"
	case kind == Overlong:
		return "choose a model, or a setting of its server, with a larger context, or give fewer palettes"
	case kind == Denied && c.key == "":
		return "give the key as VERBATIM_MODEL_KEY"
	case kind == Denied && r.status == http.StatusForbidden:
		return "check what the key in VERBATIM_MODEL_KEY may use"
	case kind == Denied:
		return "check the key in VERBATIM_MODEL_KEY"
	case kind == Busy && wait > c.MaxWait:
		return fmt.Sprintf("it may be asked again in %s: wait for that, have the limit raised, or choose another model", wait.Round(time.Second))
	case kind == Busy:
		return "have the limit raised, or choose another model"
	case kind == Invalid && withTools && r.status != http.StatusNotFound:
		return "verbatim model check says what works there; choose another model, or --mode text"
	case kind == Invalid:
		return "verbatim model check says what works there; choose another model"
	case kind == Unavailable:
		return "see the log of the model's server, or try again later"
	}
	return ""
}
