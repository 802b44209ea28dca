package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
)

// A refusal is an endpoint's own account of why it does not answer.
type refusal struct {
	status int
	all    string // every text in it, one a line: where a parameter may be named
	best   string // the sentence to show
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
		case "message", "msg", "error", "detail", "error_description":
			r.best = v // the innermost is the last
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
		for _, k := range []string{"param", "field", "description", "code", "type", "status", "msg", "message", "error", "detail", "details", "fieldViolations", "metadata", "raw", "error_description"} {
			if inner, ok := v[k]; ok {
				r.walk(k, inner, lines, deep+1)
			}
		}
		if msg, ok := v["msg"].(string); ok && loc != "" {
			r.best = loc + ": " + msg
		}
	}
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

// advice says what an operator can do about a refusal that no change of the request mends.
func (r *refusal) advice(model string) string {
	text := strings.ToLower(r.all + "\n" + r.best)
	has := func(words ...string) bool {
		for _, w := range words {
			if !strings.Contains(text, w) {
				return false
			}
		}
		return true
	}
	switch {
	case has("--jinja"):
		return "start llama-server with --jinja"
	case has("enable-auto-tool-choice"):
		return "start vLLM with --enable-auto-tool-choice and a --tool-call-parser for this model, or choose --mode vllm"
	case has("does not support tools"), has("unsupported param: tools"), has("tool use is not supported"):
		return "choose a model that takes tools, or --mode text"
	case has("/v1/responses"), has("responses api"):
		return "choose a model that answers chat completions"
	case r.status == http.StatusNotFound && (has("model", "not found") || has("model", "does not exist") || has("model", "not exist")):
		return fmt.Sprintf("the endpoint has no model %q: name one that it has", model)
	case has("web page") && r.status < http.StatusInternalServerError:
		return "check that the base URL is the API, such as https://host/v1, and that no proxy or sign-in stands before it"
	case r.status == http.StatusNotFound:
		return "check the base URL: it usually ends in /v1"
	case r.status == http.StatusUnauthorized:
		return "check the key in VERBATIM_MODEL_KEY"
	case r.status == http.StatusPaymentRequired || has("insufficient_quota") || has("insufficient balance"):
		return "the account has nothing left: top it up"
	}
	return ""
}

// wrongAnswer returns the refusal that stands in an answer with status 200; nil if it is an answer.
func wrongAnswer(body []byte) *refusal {
	text := bytes.TrimSpace(body)
	if len(text) > 0 && text[0] == '<' {
		return readRefusal(http.StatusNotFound, text)
	}
	var answer struct {
		Error   json.RawMessage   `json:"error"`
		Choices []json.RawMessage `json:"choices"`
		Data    []json.RawMessage `json:"data"`
	}
	if json.Unmarshal(text, &answer) != nil || len(answer.Choices)+len(answer.Data) > 0 || len(answer.Error) == 0 || string(answer.Error) == "null" {
		return nil
	}
	status := http.StatusBadGateway // in trouble, unless it says otherwise
	var coded struct {
		Code json.Number `json:"code"`
	}
	if json.Unmarshal(answer.Error, &coded) == nil {
		if n, err := coded.Code.Int64(); err == nil && n >= 400 && n < 600 {
			status = int(n)
		}
	}
	return readRefusal(status, text)
}
