// Package jsondoc reads JSON whose shape is not known: a value of JSON is what encoding/json makes of it,
// with numbers as they are written.
package jsondoc

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"verbatim/dsl"
)

// Decode keeps numbers as they are written.
func Decode(text string) (v any, err error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	err = dec.Decode(&v)
	return v, err
}

// At walks a JSON document; nil if there is no such place.
func At(doc any, path []string) any {
	for _, step := range path {
		switch d := doc.(type) {
		case map[string]any:
			doc = d[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(d) {
				return nil
			}
			doc = d[i]
		default:
			return nil
		}
	}
	return doc
}

// Pointer splits a JSON Pointer into its steps.
func Pointer(p string) []string {
	if p == "" || p == "/" {
		return nil
	}
	parts := strings.Split(strings.TrimPrefix(p, "/"), "/")
	for i, part := range parts {
		if u, err := url.PathUnescape(part); err == nil {
			part = u
		}
		parts[i] = strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
	}
	return parts
}

// Words returns the texts of a list.
func Words(rule any) []string {
	list, _ := rule.([]any)
	var out []string
	for _, w := range list {
		if s, ok := w.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// Text writes a value as JSON.
func Text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}

// Value returns a value of JSON as scripts have it, with the keys of an object in order.
func Value(v any) dsl.Value {
	switch v := v.(type) {
	case bool:
		return dsl.NewBool(v)
	case json.Number:
		return dsl.NewNumber(v.String())
	case string:
		return dsl.NewString(v)
	case []any:
		items := make([]dsl.Value, len(v))
		for i := range v {
			items[i] = Value(v[i])
		}
		return dsl.NewList(items...)
	case map[string]any:
		var entries []dsl.Arg
		for _, key := range slices.Sorted(maps.Keys(v)) {
			entries = append(entries, dsl.NewArg(key, Value(v[key])))
		}
		return dsl.NewMap(entries...)
	}
	return dsl.NewNil()
}

// Literal writes a value of JSON in the language of scripts.
func Literal(v any) string { return dsl.FormatValue(Value(v)) }
