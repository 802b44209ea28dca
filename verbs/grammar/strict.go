package grammar

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"verbatim/verbs/message"
)

// Hosted endpoints constrain a model to the schema of a tool that is marked strict, and refuse a
// schema that uses more than a part of JSON Schema. So each tool is marked strict if its schema
// uses only that part:
//
//   - an object has all of its properties required and no others;
//   - a value has a type, is a reference, or is one of several forms;
//   - texts have patterns and a few formats, numbers and lists their bounds;
//   - there are so many properties, levels, constants and characters at most.
//
// The length of a text is not included. It is described in words, and the checker enforces it.

// The limits of a strict schema, and of a request.
const (
	maxStrictProperties = 5000
	maxStrictLevels     = 10
	maxStrictConstants  = 1000
	maxStrictText       = 120_000 // characters of names and constants together
	maxLongEnum         = 250     // constants of one enum, above which
	maxLongEnumText     = 15_000  // their characters are counted
	maxHostedTools      = 128
	maxHostedName       = 64
	maxHostedSays       = 1024
)

// strictFormats are the permitted formats of texts.
var strictFormats = []string{"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}

// strictWords are the other keywords that are kept.
var strictWords = []string{"type", "description", "required", "enum", "const", "$ref", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems"}

// remarks are keywords without effect on validation, which are left out.
var remarks = []string{"$schema", "$id", "$comment", "title", "examples", "default", "deprecated"}

// Strict returns the schema of the tool's arguments for strict endpoints. ok is false if they
// would refuse it: then the tool is not strict.
func (t *Tool) Strict() (parameters json.RawMessage, ok bool) {
	s := stricter{}
	doc, ok := s.of(t.doc, 1)
	root, _ := doc.(object)
	if !ok || root.get("type") != "object" || s.properties > maxStrictProperties || s.constants > maxStrictConstants || s.text > maxStrictText {
		return nil, false
	}
	text, err := json.Marshal(root)
	return text, err == nil
}

// Hosted says why a hosted endpoint would refuse these tools; nil if it would accept them.
func Hosted(tools []Tool) error {
	if len(tools) > maxHostedTools {
		return fmt.Errorf("there are %d tools, and a request holds %d at most", len(tools), maxHostedTools)
	}
	var why []string
	for i := range tools {
		t := &tools[i]
		if len(t.Name) > maxHostedName || !toolNames.MatchString(t.Name) {
			why = append(why, fmt.Sprintf("the name of %s is no name of a tool: one is up to %d letters, digits, - and _", t.Verb.Name, maxHostedName))
		}
		if n := utf8.RuneCountInString(t.Description); n > maxHostedSays {
			why = append(why, fmt.Sprintf("the description of %s has %d characters, and may have %d", t.Verb.Name, n, maxHostedSays))
		}
	}
	if why == nil {
		return nil
	}
	return errors.New(message.Some(why, 5))
}

var toolNames = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func (o object) get(key string) any {
	for i := range o {
		if o[i].key == key {
			return o[i].value
		}
	}
	return nil
}

// A stricter makes a schema strict, and counts what endpoints limit.
type stricter struct{ properties, constants, text int }

func (s *stricter) of(doc any, level int) (any, bool) {
	var o object
	switch d := doc.(type) {
	case object:
		o = d
	case map[string]any: // a palette's schema
		o = ordered(d)
	default:
		return nil, false
	}
	if level > maxStrictLevels {
		return nil, false
	}
	out := make(object, 0, len(o))
	var lengths []string
	for _, m := range o {
		ok := true
		switch m.key {
		case "properties", "$defs":
			m.value, ok = s.named(m.value, level)
		case "anyOf":
			m.value, ok = s.each(m.value, level)
		case "items":
			m.value, ok = s.of(m.value, level)
		case "additionalProperties":
			ok = m.value == false
		case "pattern":
			text, _ := m.value.(string)
			ok = !strings.Contains(strings.ReplaceAll(text, "(?:", "("), "(?")
		case "format":
			ok = slices.Contains(strictFormats, fmt.Sprint(m.value))
		case "minLength":
			lengths = append(lengths, "at least "+characters(m.value))
			continue
		case "maxLength":
			lengths = append(lengths, "at most "+characters(m.value))
			continue
		default:
			if slices.Contains(remarks, m.key) || strings.HasPrefix(m.key, "x-") {
				continue
			}
			ok = slices.Contains(strictWords, m.key)
		}
		if !ok {
			return nil, false
		}
		out = append(out, m)
	}
	if lengths != nil {
		said, _ := out.get("description").(string)
		out = slices.DeleteFunc(out, func(m member) bool { return m.key == "description" })
		out = described(strings.TrimPrefix(said+"; "+strings.Join(lengths, ", "), "; "), out)
	}
	return out, s.whole(out)
}

// whole reports whether a schema constrains its value enough, and counts its constants.
func (s *stricter) whole(o object) bool {
	if c := o.get("const"); c != nil && !s.count([]any{c}) {
		return false
	}
	if list := o.get("enum"); list != nil && !s.count(list) {
		return false
	}
	if o.get("$ref") != nil {
		return len(o) == 1 || len(o) == 2 && o.get("$defs") != nil
	}
	if o.get("anyOf") != nil {
		return o.get("type") == nil
	}
	props, _ := o.get("properties").(object)
	switch kind := o.get("type"); {
	case kind == "object":
		return o.get("additionalProperties") == false && sameKeys(props, o.get("required"))
	case kind == "array":
		return o.get("items") != nil
	case kind == nil, props != nil:
		return false
	default:
		kinds, _ := kind.([]any)
		return !slices.Contains(kinds, any("object")) && !slices.Contains(kinds, any("array"))
	}
}

// count counts the constants of one enum.
func (s *stricter) count(list any) bool {
	n, size := 0, 0
	add := func(v any) {
		text, _ := v.(string)
		n, size = n+1, size+utf8.RuneCountInString(text)
	}
	switch list := list.(type) {
	case []any:
		for _, v := range list {
			add(v)
		}
	case []string:
		for _, v := range list {
			add(v)
		}
	}
	s.constants, s.text = s.constants+n, s.text+size
	return n > 0 && (n <= maxLongEnum || size <= maxLongEnumText)
}

func (s *stricter) named(doc any, level int) (any, bool) {
	var o object
	switch d := doc.(type) {
	case object:
		o = d
	case map[string]any:
		o = ordered(d)
	}
	out := make(object, len(o))
	for i, m := range o {
		s.properties, s.text = s.properties+1, s.text+utf8.RuneCountInString(m.key)
		value, ok := s.of(m.value, level+1)
		if !ok {
			return nil, false
		}
		out[i] = member{m.key, value}
	}
	return out, true
}

func (s *stricter) each(doc any, level int) (any, bool) {
	list, _ := doc.([]any)
	out := make([]any, len(list))
	for i := range list {
		var ok bool
		if out[i], ok = s.of(list[i], level); !ok {
			return nil, false
		}
	}
	return out, len(out) > 0
}

// sameKeys reports whether every property is required.
func sameKeys(props object, required any) bool {
	var keys []string
	switch r := required.(type) {
	case []string:
		keys = r
	case []any:
		for _, k := range r {
			key, _ := k.(string)
			keys = append(keys, key)
		}
	}
	return len(keys) == len(props) && !slices.ContainsFunc(props, func(m member) bool { return !slices.Contains(keys, m.key) })
}

// ordered returns an object with its keys in alphabetical order.
func ordered(m map[string]any) object {
	o := make(object, 0, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		o = append(o, member{key, m[key]})
	}
	return o
}

func characters(n any) string {
	if text := fmt.Sprint(n); text != "1" {
		return text + " characters"
	}
	return "1 character"
}
