package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A refusal is an endpoint's own account of why it does not answer.
type refusal struct {
	status int
	all    string // every text in it, one a line: where a parameter may be named
	best   string // the sentence to show
	// under200 says that the status is a guess: the endpoint said success.
	under200 bool
}

// mostRefusal bounds what is read of a refusal.
const mostRefusal = 64 << 10

// readRefusal reads a refusal in the forms that endpoints have: an object with an error in it, an
// error that is a text or a list, a list of one error, one JSON inside the text of another, a web
// page, and plain words.
func readRefusal(status int, body []byte) *refusal {
	r := &refusal{status: status}
	text := bytes.TrimSpace(body)
	var lines []string
	switch value, err := decodeLoose(text); {
	case len(text) == 0:
	case text[0] == '<':
		r.best = webPage(text)
	case err != nil:
		lines, r.best = []string{string(text)}, string(text)
	default:
		r.walk("", value, &lines, 0)
	}
	r.all = strings.Join(lines, "\n")
	if r.best == "" && len(lines) == 0 && len(text) > len("null") && text[0] != '<' {
		r.best = cut(text) // in a form of its own
	}
	if r.best = strings.Join(strings.Fields(r.best), " "); r.best == "" {
		r.best = strings.ToLower(http.StatusText(status))
	}
	return r
}

func decodeLoose(text []byte) (value any, err error) {
	err = json.Unmarshal(text, &value)
	return value, err
}

// deepestRefusal bounds JSON inside JSON.
const deepestRefusal = 12

func (r *refusal) walk(key string, value any, lines *[]string, deep int) {
	if deep > deepestRefusal {
		return
	}
	switch v := value.(type) {
	case string:
		if t := strings.TrimSpace(v); strings.HasPrefix(t, "{") || strings.HasPrefix(t, "[{") {
			if inner, err := decodeLoose([]byte(t)); err == nil {
				r.walk(key, inner, lines, deep+1)
				return
			}
		}
		*lines = append(*lines, v)
		switch key {
		case "message", "msg", "error", "errors", "detail", "error_description", "error_msg", "status_msg", "errorMessage", "Message", "description":
			r.best = v // the innermost is the last
			if inner := embedded(v); inner != nil {
				r.walk(key, inner, lines, deep+1)
			}
		}
	case []any:
		for _, item := range v {
			r.walk(key, item, lines, deep+1)
		}
	case map[string]any:
		// The place first, the text after it, and what is nested last.
		loc := place(v["loc"])
		if loc != "" {
			*lines = append(*lines, loc)
		}
		for _, k := range []string{"param", "field", "description", "code", "type", "status", "msg", "message", "error", "errors", "detail", "details", "fieldViolations", "metadata", "raw", "error_description", "error_msg", "status_msg", "errorMessage", "Message", "base_resp", "failed_generation"} {
			if inner, ok := v[k]; ok {
				r.walk(k, inner, lines, deep+1)
			}
		}
		if msg, ok := v["msg"].(string); ok && loc != "" {
			r.best = loc + ": " + msg
		}
	}
}

// embedded returns the object of JSON that stands behind words in a text, as gateways pass on what they
// were told; nil if there is none.
func embedded(text string) any {
	from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if from <= 0 || to < from {
		return nil
	}
	inner, err := decodeLoose([]byte(text[from : to+1]))
	if err != nil {
		return nil
	}
	return inner
}

// place writes where in a request a fault is, as validators of Python list it.
func place(loc any) string {
	parts, _ := loc.([]any)
	var words []string
	for _, p := range parts {
		if s := fmt.Sprint(p); s != "body" {
			words = append(words, s)
		}
	}
	return strings.Join(words, ".")
}

var pageTitle = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`) })

func webPage(text []byte) string {
	if m := pageTitle().FindSubmatch(text); m != nil {
		return fmt.Sprintf("a web page titled %q, and not an answer of a model", strings.Join(strings.Fields(string(m[1])), " "))
	}
	return "a web page, and not an answer of a model"
}

// says reports whether a refusal holds all these words, in small letters.
func (r *refusal) says(words ...string) bool {
	text := strings.ToLower(r.all + "\n" + r.best)
	text += "\n" + strings.ReplaceAll(text, "_", " ") // codes are words
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// any reports whether it holds one of several phrases.
func (r *refusal) any(phrases ...string) bool {
	return slices.ContainsFunc(phrases, func(p string) bool { return r.says(p) })
}

// kind says what a caller can do about it. Endpoints use one status for different things, so their
// words count for more.
func (r *refusal) kind() Kind {
	switch limit := r.status == http.StatusTooManyRequests; {
	case r.unpaid():
		return Unpaid
	case r.any("request too large", "request body too large", "reduce your message size"), !limit && r.overlong():
		return Overlong
	case r.any("failed_generation", "tool_use_failed", "failed to parse input", "parsing tool call", "parse tool call"):
		return Garbled // the endpoint itself checks what the model wrote
	case !limit && r.any("api key", "api-key", "apikey", "invalid token", "invalid authentication", "authentication error", "authentication fails", "authorization header", "login fail", "secret key", "unauthorized", "unauthenticated") && !r.any("rate limit"):
		return Denied
	case limit:
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

// unpaid reports whether an account has nothing left, for which no waiting helps. Gemini has the same
// sentence for what is free each minute, and says when to come back.
func (r *refusal) unpaid() bool {
	return r.status == http.StatusPaymentRequired ||
		r.any("insufficient_quota", "insufficient balance", "balance is insufficient", "insufficient credit", "insufficient fund", "exceeded_current_quota", "billing_hard_limit", "billing_not_active", "credit balance is too low",
			"no credits", "any credits", "purchase credits", "out of credits", "credits are depleted", "in arrears", "arrearage", "overdue", "spending limit", "spend limit", "余额不足", "欠费") ||
		r.says("exceeded your current quota", "billing") && !r.any("retry", "per minute", "per day", "perminute", "perday")
}

// overlong reports whether an endpoint says that a conversation does not fit.
func (r *refusal) overlong() bool {
	return r.any("context_length_exceeded", "exceed_context_size_error", "maximum context length", "context length", "context window", "context size", "context limit",
		"tokens_limit_reached", "prompt is too long", "prompt too long", "input is too long", "input is longer than", "input token count", "max_model_len", "max input tokens") ||
		r.says("maximum", "number of tokens", "input")
}

// loading reports whether a model is about to be there.
func (r *refusal) loading() bool {
	return r.status == http.StatusServiceUnavailable && r.any("loading", "warming up", "is starting", "starting up", "not ready", "cold start", "initializing")
}

// noSuchPath reports whether the endpoint knows no such address, rather than no such model.
func (r *refusal) noSuchPath() bool {
	if r.status == http.StatusMethodNotAllowed {
		return true
	}
	bare := strings.Trim(strings.ToLower(r.best), " .!\"")
	return r.any("unexpected endpoint", "/chat/completions", "page not found", "cannot post", "no route", "unknown path", "unknown url", "unrecognized request url", "invalid url", "no static resource", "route not found", "endpoint not found", "resource not found") ||
		slices.Contains([]string{"not found", "404 not found", "404", "notfound"}, bare)
}

var (
	waits  = expression(`(?i)(?:try again|retry)(?: in| after)((?: ?[\d.]+ ?(?:milliseconds?|seconds?|minutes?|hours?|days?|ms|s|m|h)?,?)+)`)
	length = expression(`(?i)([\d.]+) ?(ms|mil|mi|[mshd])?`)
)

// after returns the wait that a refusal asks for in words, such as "1h2.5s" or "in 20 seconds".
func (r *refusal) after() (d time.Duration) {
	m := waits().FindStringSubmatch(r.all + "\n" + r.best)
	if m == nil {
		return 0
	}
	units := map[string]time.Duration{"": time.Second, "s": time.Second, "ms": time.Millisecond, "mil": time.Millisecond, "m": time.Minute, "mi": time.Minute, "h": time.Hour, "d": 24 * time.Hour}
	for _, part := range length().FindAllStringSubmatch(strings.ToLower(m[1]), -1) {
		n, _ := strconv.ParseFloat(part[1], 64) // "." is no time
		d += time.Duration(min(n*float64(units[part[2]]), float64(30*24*time.Hour)))
	}
	return d
}

// advice says what an operator can do about a refusal that no change of the request mends.
func (c *Client) advice(r *refusal, kind Kind, wait time.Duration) string {
	const smaller = "choose a model, or a setting of its server, with a larger context, or give fewer palettes"
	switch {
	case r.any("--jinja"):
		return "start llama-server with --jinja"
	case r.any("enable-auto-tool-choice"):
		return "start vLLM with --enable-auto-tool-choice and a --tool-call-parser for this model, or choose --mode vllm"
	case r.any("not support tool", "support tool use", "unsupported param: tools", "tool use is not supported", "tools is not supported", "tools are not supported", "tool calling is not supported", "tool calls are not supported", "tool_use is not supported",
		"not support parameters: ['tools'", "not support function", "function calling is not", "functions are not supported", "not support tool_use", "not support the tools", "'tools' is not supported", "does not support 'tools'"):
		return "choose a model that takes tools, or --mode text"
	case r.any("/v1/responses", "responses api"):
		return "choose another model, one that answers chat completions"
	case kind == Unpaid:
		return "top up the account, or raise what it may spend"
	case kind == Overlong && r.says("web page"):
		return "a proxy before the model's server takes no request of this size: have it take larger ones, or give fewer palettes"
	case kind == Overlong:
		return smaller
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
	case r.loading():
		return "wait until it is loaded, or give --wait a longer time to begin"
	case r.says("web page") && r.status < http.StatusInternalServerError:
		return "check that the base URL is the API, such as https://host/v1, and that no proxy or sign-in stands before it"
	case r.says("web page"):
		return "a proxy stands before the model's server: see whether that runs, and answers in the time that the proxy waits"
	case r.any("content_filter", "content management policy", "content policy", "responsible ai", "data may contain inappropriate"):
		return "its filter refuses what was said or what is known: have the filter relaxed, or choose another model"
	case r.any("location is not supported", "country, region", "region is not supported"):
		return "ask from a region that it serves, or choose another model"
	case r.says("too many", "tools"), r.says("too many", "functions"), r.says("'tools'", "array too long"), r.says("tools", "maximum length"):
		return "give fewer palettes, or choose --mode text"
	case r.status == http.StatusNotFound && r.noSuchPath() && c.bare:
		return "check the base URL, and where there is no /v1, write all of it, such as https://host/chat/completions"
	case r.status == http.StatusNotFound && r.noSuchPath() && strings.HasSuffix(c.base, "/v1"):
		return "check the base URL: there is no /chat/completions at it"
	case (r.status == http.StatusNotFound || r.status == http.StatusMethodNotAllowed) && r.noSuchPath():
		return "check the base URL: it usually ends in /v1"
	case r.status < http.StatusInternalServerError && r.any("model", "deployment") && r.any("not found", "not exist", "no such", "unknown model", "invalid model", "not a valid model", "model identifier is invalid", "not available", "not supported by any provider", "no provider", "unable to access model", "could not find"):
		return fmt.Sprintf("the endpoint has no model %q: name one that it has", c.Model)
	case kind == Invalid:
		return "verbatim model check says what works there; choose another model, or --mode text"
	case kind == Unavailable:
		return "see the log of the model's server, or try again later"
	}
	return ""
}
