package trustgraph

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits that are checked before a request is decoded.
const (
	maxText  = 256 << 10 // bytes of a question, of a state and of a goal
	maxName  = 1000      // bytes of ids and names
	maxPlan  = 1000      // bytes of overrides
	maxGroup = 100
	maxSteps = 1000
)

// members takes a JSON object apart. A dash in a key is read as an underscore, as releases
// differ in that; a key that is given twice is an error.
func members(text []byte, what string) (map[string]json.RawMessage, *Error) {
	if !utf8.Valid(text) || !json.Valid(text) {
		return nil, badRequest("%s is not JSON", what)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if first, err := d.Token(); err != nil || first != json.Delim('{') {
		return nil, badRequest("%s is not a JSON object", what)
	}
	all := map[string]json.RawMessage{}
	for d.More() {
		token, err := d.Token()
		key, ok := token.(string)
		var value json.RawMessage
		if err != nil || !ok || d.Decode(&value) != nil {
			return nil, badRequest("%s is not JSON", what)
		}
		key = strings.ReplaceAll(key, "-", "_")
		if _, twice := all[key]; twice {
			return nil, badRequest("%s has %.40q twice", what, key)
		}
		all[key] = value
	}
	return all, nil
}

// A reader reads the members of an object and keeps the first error. A member that is
// missing or null is left at its zero value.
type reader struct {
	all    map[string]json.RawMessage
	prefix string // of keys in errors
	err    *Error
}

// value reads a member. What says which values it may have.
func (r *reader) value(key, what string, into any) (given bool) {
	text, ok := r.all[key]
	if !ok || string(text) == "null" || r.err != nil {
		return false
	}
	if json.Unmarshal(text, into) != nil {
		r.err = badRequest("%s%s is %s", r.prefix, key, what)
	}
	return r.err == nil
}

func (r *reader) text(key string, most int) (text string) {
	r.value(key, "a string", &text)
	r.bounded(key, text, most)
	return text
}

// bounded refuses a text that is too long, or that databases cannot store.
func (r *reader) bounded(key, text string, most int) {
	switch {
	case r.err != nil:
	case len(text) > most:
		r.err = badRequest("%s%s is longer than %d bytes", r.prefix, key, most)
	case strings.ContainsRune(text, 0):
		r.err = badRequest("%s%s has the character U+0000", r.prefix, key)
	}
}

func (r *reader) flag(key string) (set bool) {
	r.value(key, "true or false", &set)
	return set
}

func (r *reader) number(key string) (n int) {
	r.value(key, "a whole number", &n)
	return n
}

// only refuses members that are not among keys.
func (r *reader) only(keys ...string) {
	var unknown []string
	for key := range r.all {
		if !slices.Contains(keys, key) {
			unknown = append(unknown, key)
		}
	}
	if len(unknown) > 0 && r.err == nil {
		r.err = badRequest("%s has no %.40q: it has %s", strings.TrimSuffix(r.prefix, "."), slices.Min(unknown), strings.Join(keys, " and "))
	}
}

// encoded returns a value as JSON. It does not escape < and >, as in Python.
func encoded(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return []byte("null")
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
