// Package strict reads the files that people write for the program, besides palettes and scripts:
// settings, lists of servers, channels, packs and data sets; and those that it keeps beside them.
//
// Libraries cut and drop what does not fit: a fraction becomes a whole number, a null an empty text, of
// a key that stands twice one is taken. Here each of these is an error that names its line, and so is
// a key that means nothing.
package strict

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"gopkg.in/yaml.v3"

	"verbatim/dsl"
)

// An Error is a mistake in a file.
type Error struct {
	Line int // from 1
	Text string
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Text) }

// YAML reads a document of YAML into a struct with tags of yaml.v3. A document of nothing leaves it as
// it is. The errors are *Error, joined if there are several.
func YAML(text []byte, into any) (err error) {
	defer func() { // its parser has panicked on odd input before
		if recover() != nil {
			err = &Error{1, "this cannot be read as YAML"}
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc, second yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return syntax(err)
	}
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		if err != nil {
			return syntax(err)
		}
		return &Error{second.Line, "a second document begins here, and one is wanted"}
	}
	c := checker{}
	root := doc.Content[0]
	if root.Tag == "!!null" {
		return nil
	}
	c.check(root, reflect.TypeOf(into).Elem(), "the file")
	if len(c.all) > 0 {
		return errors.Join(c.all...)
	}
	if err := root.Decode(into); err != nil {
		return syntax(err)
	}
	return nil
}

func syntax(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	var types *yaml.TypeError
	if errors.As(err, &types) {
		text = types.Errors[0]
	}
	line := 1
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		if n, said, ok := strings.Cut(rest, ": "); ok {
			if at, err := strconv.Atoi(n); err == nil {
				line, text = at, said
			}
		}
	}
	return &Error{line, "this is not YAML: " + text}
}

// A checker collects the mistakes of a document.
type checker struct{ all []error }

func (c *checker) wrong(n *yaml.Node, format string, args ...any) {
	c.all = append(c.all, &Error{n.Line, fmt.Sprintf(format, args...)})
}

var unmarshaler = reflect.TypeFor[yaml.Unmarshaler]()

// check holds a node to the type that it is for. What is the name of its place.
func (c *checker) check(n *yaml.Node, t reflect.Type, what string) {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if reflect.PointerTo(t).Implements(unmarshaler) {
		return // it looks for itself
	}
	if t.Kind() == reflect.Pointer {
		c.check(n, t.Elem(), what)
		return
	}
	if t == reflect.TypeFor[yaml.Node]() || t.Kind() == reflect.Interface {
		c.twice(n)
		return
	}
	wants := wanted(t)
	if n.Tag == "!!null" {
		c.wrong(n, "%s has no value, and %s is wanted; leave it out to have its default", what, wants)
		return
	}
	fits := false
	switch t.Kind() {
	case reflect.Struct:
		if n.Kind == yaml.MappingNode && wants == aMapping {
			c.fields(n, t, what)
			return
		}
		fits = n.Tag == "!!timestamp" || n.Tag == "!!str" // a time
	case reflect.Map:
		if n.Kind == yaml.MappingNode {
			c.twice(n)
			for i := 0; i+1 < len(n.Content); i += 2 {
				c.check(n.Content[i+1], t.Elem(), strconv.Quote(n.Content[i].Value))
			}
			return
		}
	case reflect.Slice, reflect.Array:
		if n.Kind == yaml.SequenceNode {
			for i, item := range n.Content {
				c.check(item, t.Elem(), fmt.Sprintf("item %d of %s", i+1, what))
			}
			return
		}
	case reflect.String:
		fits = n.Kind == yaml.ScalarNode
	case reflect.Bool:
		fits = n.Tag == "!!bool"
	case reflect.Float32, reflect.Float64:
		var f float64
		fits = (n.Tag == "!!int" || n.Tag == "!!float") && n.Decode(&f) == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
	default:
		fits = n.Tag == "!!int" && n.Decode(reflect.New(t).Interface()) == nil || t.String() == "time.Duration" && n.Tag == "!!str"
	}
	if !fits {
		said := "is a mapping"
		switch n.Kind {
		case yaml.ScalarNode:
			said = "is " + n.Value
		case yaml.SequenceNode:
			said = "is a list"
		}
		c.wrong(n, "%s %s, and %s is wanted", what, said, wants)
	}
}

const aMapping = "a mapping of keys"

func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct:
		if t.String() == "time.Time" {
			return "a time such as 2025-01-31T09:00:00Z"
		}
		return aMapping
	case reflect.Map:
		return aMapping
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	if t.String() == "time.Duration" {
		return "a duration such as 30s"
	}
	return "a whole number"
}

// twice finds keys that stand twice.
func (c *checker) twice(n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		return
	}
	at := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if line := at[key.Value]; line > 0 {
			c.wrong(key, "%q stands here and in line %d", key.Value, line)
		}
		at[key.Value] = key.Line
	}
}

func (c *checker) fields(n *yaml.Node, t reflect.Type, what string) {
	c.twice(n)
	known := map[string]reflect.Type{}
	keysOf(t, known)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		of, ok := known[key.Value]
		if !ok {
			mean := ""
			if near := dsl.Nearest(key.Value, maps.Keys(known)); len(near) > 0 {
				slices.Sort(near)
				mean = "; did you mean " + strings.Join(near, " or ") + "?"
			}
			c.wrong(key, "%q means nothing in %s%s", key.Value, what, mean)
			continue
		}
		c.check(value, of, strconv.Quote(key.Value))
	}
}

func keysOf(t reflect.Type, known map[string]reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case options == "inline":
			keysOf(f.Type, known)
		case name != "-" && f.IsExported():
			name = cmp.Or(name, strings.ToLower(f.Name))
			known[name] = f.Type
		}
	}
}

// JSON reads one JSON value into a struct with tags of encoding/json. The errors are *Error.
func JSON(text []byte, into any) error { return readJSON(text, into, false) }

// Record reads JSON that the program wrote, with JSON of others inside, in which a null may stand.
func Record(text []byte, into any) error { return readJSON(text, into, true) }

func readJSON(text []byte, into any, nulls bool) error {
	at := func(offset int64, format string, args ...any) error {
		return &Error{1 + bytes.Count(text[:min(offset, int64(len(text)))], []byte("\n")), fmt.Sprintf(format, args...)}
	}
	dec := jsontext.NewDecoder(bytes.NewReader(text))
	ended := false
	for first := true; ; first = false {
		token, err := dec.ReadToken()
		var wrong *jsontext.SyntacticError
		switch {
		case errors.Is(err, io.EOF) && !first:
		case errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &wrong):
			return at(wrong.ByteOffset, "%q stands twice", wrong.JSONPointer.LastToken())
		case errors.As(err, &wrong):
			return at(wrong.ByteOffset, "this is not JSON: %s", wrong.Err)
		case err != nil:
			return at(dec.InputOffset(), "this is not JSON: it ends too early")
		case ended:
			return at(dec.InputOffset(), "a second value begins here, and one is wanted")
		case token.Kind() == 'n' && !nulls:
			return at(dec.InputOffset(), "%s is null; leave it out to have its default", place(dec.StackPointer()))
		default:
			ended = dec.StackDepth() == 0
			continue
		}
		break
	}
	err := json.Unmarshal(text, into, json.RejectUnknownMembers(true))
	var wrong *json.SemanticError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, json.ErrUnknownName) && errors.As(err, &wrong):
		return at(wrong.ByteOffset, "%s means nothing here", place(wrong.JSONPointer))
	case errors.As(err, &wrong) && wrong.GoType != nil:
		return at(wrong.ByteOffset, "%s is %s, and %s is wanted", place(wrong.JSONPointer), said(wrong), wanted(wrong.GoType))
	}
	return at(int64(len(text)), "this is not JSON that can be read: %v", err)
}

func place(p jsontext.Pointer) string {
	if p == "" {
		return "the file"
	}
	return strconv.Quote(string(p[1:]))
}

func said(e *json.SemanticError) string {
	if len(e.JSONValue) > 0 && len(e.JSONValue) < 40 {
		return string(e.JSONValue)
	}
	switch e.JSONKind {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a text"
	}
	return "something else"
}
