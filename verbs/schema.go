package verbs

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs/jsondoc"
	"verbatim/verbs/message"
)

// A Schema is a JSON Schema (draft 2020-12) for object arguments. It is
// compiled when first needed, because most runs need none of them, and is safe
// for use by many goroutines. Formats are asserted, numbers are compared
// exactly, and nothing is ever fetched from elsewhere.
type Schema struct {
	Name  string
	Place dsl.Place

	text []byte // JSON
	once sync.Once
	root *jsonschema.Schema
	doc  any // the parsed schema, for messages
	err  error

	moves bool // it bounds dates by the current date; see day.go
	says  map[Saying]string
}

// Says returns a text of the schema, such as a title, in a language; the text itself if no
// palette translates it.
func (s *Schema) Says(language, text string) string {
	return cmp.Or(s.says[Saying{language, text}], text)
}

// NewSchema makes a schema of a JSON text.
func NewSchema(name string, jsonText []byte, place dsl.Place) *Schema {
	return &Schema{Name: name, Place: place, text: jsonText}
}

// Text returns the schema as JSON.
func (s *Schema) Text() []byte { return bytes.Clone(s.text) }

// Compile returns the error of the schema itself, nil if it has none.
func (s *Schema) Compile() error {
	s.once.Do(func() {
		// The library panics on some patterns that it did not foresee.
		defer func() {
			if r := recover(); r != nil {
				s.err = fmt.Errorf("not a usable JSON Schema: %v", r)
			}
		}()
		s.err = s.compile()
	})
	return s.err
}

// schemaURL identifies the schema in the library; it is never fetched.
const schemaURL = "schema:///"

func (s *Schema) compile() error {
	dec := json.NewDecoder(bytes.NewReader(s.text))
	dec.UseNumber()
	if err := dec.Decode(&s.doc); err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	c.AssertFormat = true
	c.LoadURL = func(u string) (io.ReadCloser, error) {
		return nil, fmt.Errorf("%s lies outside the palette; a schema can refer only to its own parts, as in #/$defs/address", u)
	}
	if err := c.AddResource(schemaURL, bytes.NewReader(s.text)); err != nil {
		return trimLibrary(err)
	}
	root, err := c.Compile(schemaURL)
	if err != nil {
		return trimLibrary(err)
	}
	s.root = root
	return s.lookForDays(s.doc, true)
}

// trimLibrary shortens the library's errors to what an author can use.
func trimLibrary(err error) error {
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		leaf := invalid
		for len(leaf.Causes) > 0 {
			leaf = leaf.Causes[0]
		}
		where := cmp.Or(leaf.InstanceLocation, "the top")
		return fmt.Errorf("not a JSON Schema: at %s, %s", where, leaf.Message)
	}
	var wrapped *jsonschema.SchemaError
	if errors.As(err, &wrapped) && wrapped.Err != nil {
		return errors.New(strings.TrimPrefix(wrapped.Err.Error(), "jsonschema: "))
	}
	return errors.New(strings.TrimPrefix(err.Error(), "jsonschema: "))
}

// check validates a JSON value and returns the broken rules, leaf by leaf.
func (s *Schema) check(v stores.Value) ([]breach, error) {
	if err := s.Compile(); err != nil {
		return nil, err
	}
	instance, err := jsondoc.Decode(v.Text())
	if err != nil {
		return nil, err
	}
	err = s.root.Validate(instance)
	if err == nil {
		return nil, nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return nil, trimLibrary(err)
	}
	var found []breach
	s.leaves(invalid, instance, &found)
	slices.SortFunc(found, func(a, b breach) int {
		if n := slices.Compare(a.path, b.path); n != 0 {
			return n
		}
		return strings.Compare(a.says, b.says)
	})
	return slices.CompactFunc(found, func(a, b breach) bool { return slices.Equal(a.path, b.path) && a.says == b.says && a.key == b.key }), nil
}

// A breach is one rule of a schema that a value breaks.
type breach struct {
	path    []string // to the wrong value: keys and indexes
	key     string   // the extra key, if that is what is wrong
	says    string   // "is missing :city", after the name of the value
	want    string   // shown beside the caret
	near    []string // words that may have been meant
	list    []string // words to choose from
	safe    bool     // says and want quote nothing of the value
	rule    string   // the keyword of the schema
	missing string   // the required key that is missing
}

func (s *Schema) leaves(e *jsonschema.ValidationError, instance any, found *[]breach) {
	keyword := e.KeywordLocation[strings.LastIndexByte(e.KeywordLocation, '/')+1:]
	if len(e.Causes) > 0 && keyword != "anyOf" && keyword != "oneOf" && keyword != "minContains" {
		for _, cause := range e.Causes {
			s.leaves(cause, instance, found)
		}
		return
	}
	b := breach{path: jsondoc.Pointer(e.InstanceLocation), safe: true, rule: keyword}
	rule := jsondoc.At(s.doc, s.location(e))
	switch keyword {
	case "required":
		object, _ := jsondoc.At(instance, b.path).(map[string]any)
		for _, name := range jsondoc.Words(rule) {
			if _, there := object[name]; there {
				continue
			}
			m := b
			m.says, m.want = "is missing "+dsl.FormatKey(name), dsl.FormatKey(name)+" is missing"
			m.missing = name
			*found = append(*found, m)
		}
		return
	case "additionalProperties", "unevaluatedProperties":
		loc := s.location(e)
		parent, _ := jsondoc.At(s.doc, loc[:len(loc)-1]).(map[string]any)
		object, _ := jsondoc.At(instance, b.path).(map[string]any)
		declared, _ := parent["properties"].(map[string]any)
		names := slices.Sorted(maps.Keys(declared))
		var free []string
		for _, n := range names {
			if _, given := object[n]; !given {
				free = append(free, n)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(object)) {
			if _, known := declared[name]; known || !strings.Contains(e.Message, libraryQuote(name)) {
				continue
			}
			m := b
			m.key, m.says, m.near, m.list = name, "has no key "+dsl.FormatKey(name), dsl.Nearest(name, slices.Values(free)), colons(names)
			*found = append(*found, m)
		}
		return
	case "type":
		want := jsondoc.Words(rule)
		if w, ok := rule.(string); ok {
			want = []string{w}
		}
		for i := range want {
			want[i] = jsonPhrase(want[i])
		}
		b.says = fmt.Sprintf("must be %s, not %s", message.Joined(want, "or"), jsonKind(jsondoc.At(instance, b.path)))
		b.want = message.Joined(want, "or") + " is wanted here"
	case "enum":
		b.list = enumWords(rule)
		if s, ok := jsondoc.At(instance, b.path).(string); ok {
			b.near = dsl.Nearest(s, slices.Values(b.list))
		}
		b.says = "is none of the values allowed"
	case "const":
		b.says = "must be " + jsondoc.Text(rule)
		b.want = jsondoc.Text(rule) + " is wanted here"
	case "format":
		b.says = fmt.Sprintf("is not %s", message.Article(fmt.Sprint(rule)))
		b.want = message.Article(fmt.Sprint(rule)) + " is wanted here"
	case "pattern":
		b.says = "does not have the form wanted"
		b.want = fmt.Sprintf("this form is wanted: %v", rule)
	case "anyOf", "oneOf":
		b.says = "has none of the forms allowed"
		if len(e.Causes) == 0 {
			b.says = "has several of the forms allowed, and must have exactly one"
		}
		var inner []breach
		for _, cause := range e.Causes {
			s.leaves(cause, instance, &inner)
		}
		for i := range inner {
			rest := inner[i].path[min(len(b.path), len(inner[i].path)):]
			b.list = append(b.list, strings.TrimSpace(strings.Join(rest, ".")+" "+inner[i].says))
		}
		slices.Sort(b.list)
		b.list = slices.Compact(b.list)
	default:
		says, known := ruleSays[keyword]
		if b.says = strings.ReplaceAll(says, "N", fmt.Sprint(rule)); !known {
			b.says, b.safe = "does not satisfy its schema: "+e.Message, false
		}
	}
	b.want = cmp.Or(b.want, "it "+b.says)
	*found = append(*found, b)
}

// ruleSays are the messages for rules that depend only on their number N.
var ruleSays = map[string]string{
	"minLength": "needs at least N characters", "maxLength": "takes at most N characters",
	"minItems": "needs at least N items", "maxItems": "takes at most N items", "uniqueItems": "holds the same item twice",
	"minProperties": "needs at least N keys", "maxProperties": "takes at most N keys",
	"minimum": "must be N or more", "maximum": "must be N or less",
	"exclusiveMinimum": "must be more than N", "exclusiveMaximum": "must be less than N", "multipleOf": "must be a multiple of N",
	"minContains": "holds too few of the items wanted", "maxContains": "holds too many of some items",
	"not": "has a form that is not allowed",
}

// location returns the path to the rule within the schema's own text.
func (s *Schema) location(e *jsonschema.ValidationError) []string {
	_, fragment, _ := strings.Cut(e.AbsoluteKeywordLocation, "#")
	return jsondoc.Pointer(fragment)
}

func enumWords(rule any) []string {
	list, _ := rule.([]any)
	var out []string
	for _, w := range list {
		if s, ok := w.(string); ok {
			out = append(out, s)
		} else {
			out = append(out, jsondoc.Text(w))
		}
	}
	return out
}

func jsonPhrase(t string) string {
	switch t {
	case "boolean":
		return "true or false"
	case "null":
		return "nil"
	case "array":
		return "a list"
	case "object":
		return "a map"
	}
	return message.Article(t)
}

func jsonKind(v any) string {
	switch v.(type) {
	case nil:
		return "nil"
	case bool:
		return "true or false"
	case json.Number:
		return "a number"
	case string:
		return "a string"
	case []any:
		return "a list"
	}
	return "a map"
}

// libraryQuote quotes a key as the library does in its messages.
func libraryQuote(s string) string {
	s = strings.ReplaceAll(strconv.Quote(s), `\"`, `"`)
	s = strings.ReplaceAll(s, `'`, `\'`)
	return "'" + s[1:len(s)-1] + "'"
}

// unschematic checks a literal object against its schema and reports each breach at its place
// inside the literal.
func (c *checker) unschematic(at site, s *Schema, v *dsl.Value, w stores.Value) []dsl.Diagnostic {
	breaches, err := s.check(w)
	if err != nil {
		return []dsl.Diagnostic{badSchema(c.place(v.Range), at, s, err)}
	}
	var ds []dsl.Diagnostic
	for _, b := range breaches {
		if at.param.FollowUps && s.follows(&b) {
			continue
		}
		where, name := v, ":"+at.param.Name
		for _, step := range b.path {
			next, label := into(where, step)
			if next == nil {
				break
			}
			where, name = next, label+" in "+name
		}
		r := where.Range
		if b.key != "" {
			for i, entries := 0, where.Entries(); i < len(entries); i++ {
				if entries[i].Key == b.key {
					r = entries[i].KeyRange
				}
			}
		}
		d := schemaBreach(c.place(r), name, s, b, where.Kind, c.sensitive)
		if says := s.wrongAt(b.path); says != "" && b.key == "" && b.missing == "" {
			d.Notes = append([]string{says}, d.Notes...)
		}
		ds = append(ds, d)
	}
	return ds
}

// schemaOf checks an object against the schema that a code selects, if both are written out. The
// engine checks values that become known later.
func (c *checker) schemaOf(v *Verb, k int, code, object *Arg) {
	if code.Kind != Literal || object.Kind != Literal || code.Syntax == nil || object.Syntax == nil || code.Value.IsNull() || object.Value.IsNull() {
		return
	}
	by, _ := v.Params[k].SchemaOf()
	if s := v.Params[by].Type.Codes.Schema(code.Value.Text()); s != nil {
		c.sensitive = v.Params[k].Sensitive
		for _, d := range c.unschematic(site{verb: v, param: &v.Params[k]}, s, object.Syntax, object.Value) {
			c.add(d)
		}
		c.sensitive = false
	}
}

// FollowUps lists the keys that the object lacks and that the schema requires only under a
// condition, by a `then`, an `else` or another rule beside its own `required`: what is still to
// be asked, given the rest.
func (s *Schema) FollowUps(object stores.Value) ([]string, error) {
	found, err := s.check(object)
	if err != nil {
		return nil, err
	}
	var keys []string
	for i := range found {
		if b := &found[i]; s.follows(b) && !slices.Contains(keys, b.missing) {
			keys = append(keys, b.missing)
		}
	}
	return keys, nil
}

// follows reports whether a breach is a missing key that is not always required.
func (s *Schema) follows(b *breach) bool {
	top, _ := s.doc.(map[string]any)
	return b.missing != "" && len(b.path) == 0 && !slices.Contains(jsondoc.Words(top["required"]), b.missing)
}

// Follows reports whether a breach of the schema is a key that FollowUps lists.
func (s *Schema) Follows(b Breach) bool {
	return b.Rule == "required" && s.follows(&breach{path: b.Path, missing: b.Key})
}

// A Breach is one rule of a schema that a value breaks.
type Breach struct {
	Path []string // to the wrong value: keys and indexes
	Key  string   // the key that is missing or extra, if it is one
	Rule string   // "required", "pattern" and the like, as JSON Schema calls it
	Says string   // "needs at least 2 characters", to be read after the name of the value; if Safe, it quotes nothing of the value
	Safe bool
	// Wrong is the schema's own sentence for a wrong value at that path, x-wrong; "" if it has
	// none, or there is no value.
	Wrong string
}

// wrongAt returns a schema's sentence for a wrong value at a path.
func (s *Schema) wrongAt(path []string) string {
	m, _ := s.doc.(map[string]any)
	for _, step := range path {
		properties, _ := m["properties"].(map[string]any)
		m, _ = properties[step].(map[string]any)
	}
	says, _ := m["x-wrong"].(string)
	return says
}

// Check validates a JSON value against the schema, and returns the broken rules. The error is
// about the schema itself.
func (s *Schema) Check(v stores.Value) ([]Breach, error) {
	found, err := s.check(v)
	if err != nil {
		return nil, err
	}
	all := make([]Breach, len(found))
	for i, b := range found {
		all[i] = Breach{Path: b.path, Key: cmp.Or(b.key, b.missing), Rule: b.rule, Says: b.says, Safe: b.safe}
		if all[i].Key == "" {
			all[i].Wrong = s.wrongAt(b.path)
		}
	}
	return all, nil
}

// into follows one step of an instance path into a literal.
func into(v *dsl.Value, step string) (*dsl.Value, string) {
	for i, entries := 0, v.Entries(); i < len(entries); i++ {
		if entries[i].Key == step {
			return &entries[i].Value, dsl.FormatKey(step)
		}
	}
	if items := v.Items(); items != nil {
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(items) {
			return &items[i], "item " + strconv.Itoa(i+1)
		}
	}
	return nil, ""
}

// Example returns an object that satisfies the schema, if that can be derived from its plain
// rules; `{}` if there are none.
func (s *Schema) Example() string {
	if s == nil || s.Compile() != nil {
		return "{}"
	}
	return s.exampleOf(s.doc, 0)
}

func (s *Schema) exampleOf(doc any, depth int) string {
	m, ok := doc.(map[string]any)
	if !ok || depth > 8 {
		return `"value"`
	}
	if ref, ok := m["$ref"].(string); ok && strings.HasPrefix(ref, "#/") {
		return s.exampleOf(jsondoc.At(s.doc, jsondoc.Pointer(ref[1:])), depth+1)
	}
	for _, key := range []string{"const", "default"} {
		if v, ok := m[key]; ok {
			return jsondoc.Literal(v)
		}
	}
	for _, key := range []string{"examples", "enum"} {
		if list, ok := m[key].([]any); ok && len(list) > 0 {
			return jsondoc.Literal(list[0])
		}
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		if list, ok := m[key].([]any); ok && len(list) > 0 && m["type"] == nil && m["properties"] == nil {
			return s.exampleOf(list[0], depth+1)
		}
	}
	kind, _ := m["type"].(string)
	if kinds := jsondoc.Words(m["type"]); len(kinds) > 0 {
		kind = kinds[0]
	}
	if kind == "" && m["properties"] != nil {
		kind = "object"
	}
	switch kind {
	case "object":
		props, _ := m["properties"].(map[string]any)
		names := jsondoc.Words(m["required"])
		if len(names) == 0 {
			names = slices.Sorted(maps.Keys(props))
		}
		parts := message.Names(names, func(name string) string { return dsl.FormatKey(name) + " " + s.exampleOf(props[name], depth+1) })
		return "{" + strings.Join(parts, " ") + "}"
	case "array":
		return "[" + s.exampleOf(m["items"], depth+1) + "]"
	case "integer", "number":
		for _, key := range []string{"minimum", "maximum"} {
			if n, ok := m[key].(json.Number); ok {
				return n.String()
			}
		}
		return "1"
	case "boolean":
		return "true"
	case "null":
		return "nil"
	}
	switch m["format"] {
	case "date":
		return "2025-01-03"
	case "date-time":
		return "2025-01-03T10:00:00Z"
	case "email":
		return `"clara@example.com"`
	case "uuid":
		return "123e4567-e89b-12d3-a456-426614174000"
	}
	return `"text"`
}
