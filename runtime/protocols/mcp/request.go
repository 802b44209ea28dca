package mcp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"verbatim/verbs/jsondoc"
	"verbatim/verbs/propose"
)

// A request is what is sent to an API.
type request struct {
	method, url string
	header      http.Header
	body        []byte
}

// compose writes the arguments of a call into a request, each where the operation has it. sets reports
// which inputs are set elsewhere.
func compose(o *propose.Operation, base, args string, sets func(propose.Input) bool) (*request, error) {
	var given map[string]json.RawMessage
	if err := json.Unmarshal([]byte(args), &given); err != nil {
		return nil, errors.New("its arguments are no object")
	}
	r := &request{method: o.Method, header: http.Header{"Accept": {o.Accept}}}
	var query, form, path []string
	body := map[string]json.RawMessage{}
	var whole json.RawMessage
	for _, in := range o.Inputs {
		value, ok := given[in.Key]
		if sets(in) || !ok || string(value) == "null" && in.In != "body" {
			if in.In == "path" {
				return nil, fmt.Errorf("%q is a part of its address, and is not given", in.Key)
			}
			continue
		}
		delete(given, in.Key)
		var err error
		switch in.In {
		case "path":
			var text string
			if text, err = plainly(in, value, url.PathEscape); err == nil && leaves(in, value) {
				err = errors.New("is a part of its address, and leads elsewhere")
			}
			path = append(path, "{"+in.Name+"}", text)
		case "header":
			var text string
			text, err = plainly(in, value, func(s string) string { return s })
			r.header.Set(in.Name, text)
		case "query":
			query, err = pairs(query, in, value)
		case "form":
			form, err = pairs(form, in, value)
		case "body":
			body[in.Name] = value
		default:
			whole = value
		}
		if err != nil {
			return nil, fmt.Errorf("%q %w", in.Key, err)
		}
	}
	if len(given) > 0 {
		return nil, fmt.Errorf("it takes no %q", slices.Sorted(maps.Keys(given))[0])
	}
	r.url = base + strings.NewReplacer(path...).Replace(o.Path)
	if len(query) > 0 {
		sign := "?"
		if strings.Contains(r.url, "?") {
			sign = "&"
		}
		r.url += sign + strings.Join(query, "&")
	}
	var err error
	switch kind := o.Body(); {
	case kind == propose.AsJSON && whole != nil:
		r.body = whole
	case kind == propose.AsJSON && (len(body) > 0 || o.Needs):
		r.body, err = encoded(body)
	case kind == "form" && whole != nil:
		form, err = pairs(nil, propose.Input{Style: "form", Explode: true}, whole)
		fallthrough
	case kind == "form" && (len(form) > 0 || o.Needs):
		r.body = []byte(strings.Join(form, "&"))
	case kind == "text" && whole != nil:
		var text string
		text, err = plainly(propose.Input{}, whole, func(s string) string { return s })
		r.body = []byte(text)
	default:
		return r, nil
	}
	media := o.Media
	if strings.Contains(media, "*") {
		media = "application/json"
	}
	r.header.Set("Content-Type", media)
	return r, err
}

// encoded writes a body with each value as it was given, to the last digit.
func encoded(body map[string]json.RawMessage) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(body)
	return bytes.TrimSpace(b.Bytes()), err
}

var errShape = errors.New("holds objects or lists where a request has none")

// leaves reports whether a part of an address would lead to another one: to the folder itself, or above.
func leaves(in propose.Input, value json.RawMessage) bool {
	text, _ := plainly(in, value, func(s string) string { return s })
	parts := strings.FieldsFunc(text, func(c rune) bool { return c == '/' || c == '\\' })
	return slices.ContainsFunc(parts, func(s string) bool { return s == "." || s == ".." })
}

func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case nil:
		return "", true
	case string:
		return v, true
	case bool, json.Number:
		return fmt.Sprint(v), true
	}
	return "", false
}

// plainly writes a value as one text, in the style `simple` of OpenAPI.
func plainly(in propose.Input, value json.RawMessage, escape func(string) string) (string, error) {
	if in.Style == propose.AsJSON {
		return escape(string(value)), nil
	}
	v, err := jsondoc.Decode(string(value))
	if err != nil {
		return "", err
	}
	parts, err := flattened(v, in.Explode, escape)
	text := strings.Join(parts, ",")
	if err == nil && text == "" && in.In == "path" {
		err = errors.New("is a part of its address, and empty")
	}
	return text, err
}

// flattened returns the parts of a value of one level.
func flattened(v any, explode bool, escape func(string) string) (parts []string, err error) {
	add := func(v any, before string) {
		text, ok := scalar(v)
		if !ok {
			err = errShape
		}
		parts = append(parts, before+escape(text))
	}
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			add(item, "")
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if explode {
				add(v[key], escape(key)+"=")
			} else {
				parts = append(parts, escape(key))
				add(v[key], "")
			}
		}
	default:
		add(v, "")
	}
	return parts, err
}

// inQuery escapes a text for the query of an address and for a form.
func inQuery(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

// pairs adds the pairs of a name and a value to a query, or a form.
func pairs(to []string, in propose.Input, value json.RawMessage) ([]string, error) {
	name := inQuery(in.Name)
	v, err := jsondoc.Decode(string(value))
	if err != nil {
		return nil, err
	}
	if in.Style == propose.AsJSON {
		return append(to, name+"="+inQuery(string(value))), nil
	}
	list, isList := v.([]any)
	_, isObject := v.(map[string]any)
	if isList && len(list) == 0 {
		return to, nil
	}
	if in.Style == "deepObject" && isObject {
		return deep(to, in.Name, v)
	}
	parts, err := flattened(v, isObject && in.Explode, inQuery)
	between := cmp.Or(map[string]string{"spaceDelimited": "%20", "pipeDelimited": "%7C"}[in.Style], ",")
	switch {
	case isObject && in.Explode:
		return append(to, parts...), err
	case isList && in.Explode:
		for i := range parts {
			parts[i] = name + "=" + parts[i]
		}
		return append(to, parts...), err
	}
	return append(to, name+"="+strings.Join(parts, between)), err
}

// deep adds the parts of an object, each under its path: a[b][c]=1.
func deep(to []string, name string, v any) (_ []string, err error) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if to, err = deep(to, name+"["+key+"]", v[key]); err != nil {
				break
			}
		}
		return to, err
	case []any:
		for _, item := range v {
			text, ok := scalar(item)
			if !ok {
				return to, errShape
			}
			to = append(to, inQuery(name)+"="+inQuery(text))
		}
		return to, nil
	}
	text, _ := scalar(v)
	return append(to, inQuery(name)+"="+inQuery(text)), nil
}
