package grammar

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"verbatim/dsl"
	"verbatim/verbs"
)

// ModelCall reads the call that a language model wrote as Call does, and mends slips of form that can
// mean one thing only, so that the model need not be asked again: another spelling of a name, a prefix
// before a tool's name, arguments in a fence, in a text or twice in a row, an empty text for an optional
// argument whose type has none, and midnight for a day. What could mean two things stays as it is, and
// is refused as from anybody.
func ModelCall(v Vocabulary, tool, arguments string) (dsl.Call, error) {
	var args map[string]any
	if text := bare(arguments); text != "" {
		if err := decodeOnce(text, &args); err != nil {
			return dsl.Call{}, err
		}
	}
	verb := VerbMeant(v.Verbs, tool)
	if verb == nil {
		return callOf(v, strings.ReplaceAll(prefixes().ReplaceAllString(tool, ""), "__", "."), args)
	}
	params := make([]named, len(verb.Params))
	for i := range verb.Params {
		p := &verb.Params[i]
		params[i] = named{p.Name, p.Required, p.Type}
	}
	return callOf(v, verb.Name, mended(args, params))
}

// VerbMeant returns the verb that is spelt as a tool's name, by its letters and digits, if only one is;
// nil if none is.
func VerbMeant(all []*verbs.Verb, tool string) *verbs.Verb {
	tool = prefixes().ReplaceAllString(tool, "")
	var near []*verbs.Verb
	for _, verb := range all {
		switch {
		case toolName(verb.Name) == tool, verb.Name == tool:
			return verb
		case plainly(verb.Name) == plainly(tool):
			near = append(near, verb)
		}
	}
	if len(near) == 1 {
		return near[0]
	}
	return nil
}

var prefixes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:functions?|tools?|default_api)[.:/]`) })

// plainly returns the letters and digits of a name: expectedDate, expected_date and expected-date are
// one.
func plainly(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// bare takes a fence off.
func bare(text string) string {
	text = strings.TrimSpace(text)
	inner, ok := strings.CutPrefix(text, "```")
	if !ok {
		return text
	}
	if inner, ok = strings.CutSuffix(inner, "```"); !ok {
		return text
	}
	return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(inner), "json"))
}

// decodeOnce decodes arguments that are JSON, a text that holds JSON, or the same JSON several times, also
// behind empty objects.
func decodeOnce(text string, args *map[string]any) error {
	err := decode(text, args)
	if err == nil {
		return nil
	}
	var inner string
	if decode(text, &inner) == nil {
		return decode(bare(inner), args)
	}
	var one json.RawMessage
	for all := json.NewDecoder(strings.NewReader(text)); all.More(); {
		var next json.RawMessage
		if all.Decode(&next) != nil || one != nil && string(next) != string(one) {
			return err
		}
		if string(next) != "{}" {
			one = next
		}
	}
	return decode(string(one), args)
}

// A named is an argument or a field.
type named struct {
	name     string
	required bool
	of       *verbs.Type
}

// mended returns arguments, or the fields of a record, with slips of form mended.
func mended(args map[string]any, params []named) map[string]any {
	byName := map[string]*named{}
	spelt := map[string][]*named{}
	for i := range params {
		p := &params[i]
		byName[p.name] = p
		spelt[plainly(p.name)] = append(spelt[plainly(p.name)], p)
	}
	claims := map[*named]int{} // keys that may mean it
	meant := func(key string) *named {
		if p := byName[key]; p != nil {
			return p
		}
		if near := spelt[plainly(key)]; len(near) == 1 {
			return near[0]
		}
		return nil
	}
	for key := range args {
		if p := meant(key); p != nil {
			claims[p]++
		}
	}
	out := make(map[string]any, len(args))
	for key, value := range args {
		p := byName[key]
		if near := meant(key); p == nil && near != nil && claims[near] == 1 {
			p, key = near, near.name
		}
		switch {
		case p == nil:
			out[key] = value
		case value == "" && !p.required && p.of.Name != verbs.StringType:
		default:
			out[key] = mendedValue(p.of, value)
		}
	}
	return out
}

// midnight is an instant that stands for its day. At another time of day, the day depends on the zone.
var midnight = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\d{4}-\d{2}-\d{2})[T ]00:00(?::00(?:\.0+)?)?(?:Z|[+-]\d{2}:?\d{2})?$`)
})

func mendedValue(t *verbs.Type, value any) any {
	switch v := value.(type) {
	case string:
		if t.Name == verbs.DateType {
			if m := midnight().FindStringSubmatch(v); m != nil {
				return m[1]
			}
		}
	case []any:
		if t.Name == verbs.ListType && t.Item != nil {
			out := make([]any, len(v))
			for i := range v {
				out[i] = mendedValue(t.Item, v[i])
			}
			return out
		}
	case map[string]any:
		if t.Name == verbs.RecordType {
			fields := make([]named, len(t.Fields))
			for i := range t.Fields {
				f := &t.Fields[i]
				fields[i] = named{f.Name, f.Required, f.Type}
			}
			return mended(v, fields)
		}
	}
	return value
}
