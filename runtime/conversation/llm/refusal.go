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
	status int    // a guess, or the code in it, where the endpoint said success
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
		case "raw": // what OpenRouter was told itself
			said := cut([]byte(v))
			if strings.HasPrefix(said, "<") {
				said = webPage([]byte(v))
			}
			r.best = strings.TrimRight(r.best, ". ") + ": " + said
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

const aWebPage = "a web page"

func webPage(text []byte) string {
	if m := pageTitle().FindSubmatch(text); m != nil {
		return fmt.Sprintf(aWebPage+" titled %q, and not an answer of a model", strings.Join(strings.Fields(string(m[1])), " "))
	}
	return aWebPage + ", and not an answer of a model"
}

// any reports whether a refusal says one of several phrases.
func (r *refusal) any(phrases ...string) bool {
	text := strings.ToLower(r.all + "\n" + r.best)
	text += "\n" + strings.ReplaceAll(text, "_", " ") // codes are words
	return says(text, phrases)
}

// says reports whether a text in small letters holds all parts of one of several phrases.
func says(text string, phrases []string) bool {
	return slices.ContainsFunc(phrases, func(p string) bool {
		return !slices.ContainsFunc(strings.Split(p, "…"), func(part string) bool { return !strings.Contains(text, part) })
	})
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
