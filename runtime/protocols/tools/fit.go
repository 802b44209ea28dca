package tools

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
)

// A schema is a JSON Schema as far as this package uses it: its members and their types.
// Constraints that the package does not understand are ignored; the tool checks its arguments
// itself.
type schema struct {
	root map[string]any
	is   map[string]any
	any  bool // it accepts everything
	none bool // it takes nothing
}

func readSchema(raw json.RawMessage) schema {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return schema{any: true}
	}
	root, _ := v.(map[string]any)
	return schema{root: root}.of(v, 0)
}

// of reads a part of the schema.
func (s schema) of(v any, depth int) schema {
	switch v := v.(type) {
	case bool:
		return schema{root: s.root, any: v, none: !v}
	case map[string]any:
		ref, ok := v["$ref"].(string)
		if !ok {
			return schema{root: s.root, is: v, any: len(v) == 0}
		}
		at := any(s.root)
		for _, step := range strings.Split(strings.TrimPrefix(ref, "#"), "/")[1:] {
			m, _ := at.(map[string]any)
			at = m[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]
		}
		if !strings.HasPrefix(ref, "#/") || at == nil || depth > 16 {
			return schema{root: s.root, any: true}
		}
		return s.of(at, depth+1)
	}
	return schema{root: s.root, any: true}
}

func (s schema) list(key string) []schema {
	items, _ := s.is[key].([]any)
	out := make([]schema, len(items))
	for i, item := range items {
		out[i] = s.of(item, 0)
	}
	return out
}

func (s schema) properties() map[string]any {
	p, _ := s.is["properties"].(map[string]any)
	return p
}

// open reports whether there may be members that it does not name.
func (s schema) open() bool {
	if s.any || s.is["patternProperties"] != nil || s.is["$ref"] != nil || s.is["allOf"] != nil || s.is["anyOf"] != nil || s.is["oneOf"] != nil {
		return true
	}
	more, said := s.is["additionalProperties"]
	return said && more != false
}

func (s schema) required() []string { return words(s.is["required"]) }

// types returns the JSON types that it allows; nil means all.
func (s schema) types() []string {
	if t, ok := s.is["type"].(string); ok {
		return []string{t}
	}
	return words(s.is["type"])
}

func words(v any) []string {
	items, _ := v.([]any)
	var out []string
	for _, item := range items {
		if w, ok := item.(string); ok {
			out = append(out, w)
		}
	}
	return out
}

func (s schema) number(key string) (stores.Value, bool) {
	n, ok := s.is[key].(float64)
	if !ok {
		return stores.Value{}, false
	}
	text, _ := json.Marshal(n)
	return stores.ParseDecimal(string(text))
}

// Required returns the required members of a JSON Schema.
func Required(raw json.RawMessage) []string { return readSchema(raw).required() }

// fit compares a tool's description with the declaration in its palette.
func fit(reg *verbs.Registry, v *verbs.Verb, spec Spec) dsl.Diagnostics {
	var ds dsl.Diagnostics
	t := v.Tool
	if t.ReadOnly && spec.Writes {
		ds = append(ds, writes(v))
	}
	if t.Idempotent && spec.Repeats {
		ds = append(ds, repeats(v))
	}
	in := readSchema(spec.Input)
	if in.none || in.types() != nil && !slices.Contains(in.types(), "object") {
		return append(ds, mismatch(v, t.Place, "it takes no named arguments", nil))
	}
	sure := make(map[string]bool) // sent in every call
	for i := range t.Sends {
		s := &t.Sends[i]
		if s.Param >= 0 {
			p := &v.Params[s.Param]
			sure[s.Key] = p.Sure()
		} else {
			sure[s.Key] = true // its value is checked when it is sent
		}
		member, there := in.properties()[s.Key]
		if !there {
			if !in.open() {
				ds = append(ds, mismatch(v, s.Place, fmt.Sprintf("it takes no %q", s.Key), dsl.Nearest(s.Key, maps.Keys(in.properties()))))
			}
			continue
		}
		if in.of(member, 0).is["format"] == "upload" {
			if why := noFile(reg, v, s); why != "" {
				ds = append(ds, mismatch(v, s.Place, fmt.Sprintf("%q of it is a file: %s", s.Key, why), nil))
				continue
			}
		}
		if why := in.of(member, 0).takes(s.Type); why != "" {
			ds = append(ds, mismatch(v, s.Place, fmt.Sprintf("%q of it %s", s.Key, why), nil))
		}
	}
	for _, name := range in.required() {
		always, sent := sure[name]
		switch {
		case !sent:
			ds = append(ds, mismatch(v, t.Place, fmt.Sprintf("it needs %q, which is not sent", name), nil))
		case !always:
			i := slices.IndexFunc(t.Sends, func(s verbs.Send) bool { return s.Key == name })
			ds = append(ds, mismatch(v, t.Sends[i].Place, fmt.Sprintf("it needs %q, which may be left out", name), nil))
		}
	}
	if spec.Output != nil {
		ds = append(ds, fitAnswer(v, readSchema(spec.Output))...)
	}
	return ds
}

// noFile returns the reason why a sent value may name a file that the caller may not use, "" if it
// cannot: it is an upload of theirs, which the engine has resolved, or a field of a row that they
// see, to which verbs assign only uploads. A text that anybody may have written could name
// anybody's file.
func noFile(reg *verbs.Registry, v *verbs.Verb, s *verbs.Send) string {
	const next = "send an argument with upload, or a field of a row"
	if s.Param >= 0 {
		if v.Params[s.Param].Upload == nil {
			return next
		}
		return ""
	}
	if written(v, s.Value) || len(s.Value.Reads) == 0 {
		return next
	}
	for i := range s.Value.Reads {
		e, field := s.Value.Reads[i].End(v)
		if e == nil {
			return next
		}
		for _, w := range reg.Verbs() {
			for j := range w.Effects {
				x := &w.Effects[j]
				if x.Entity == nil || x.Entity.Store != e {
					continue
				}
				for _, set := range x.Set {
					if set.Field == field && (written(w, set.Value) || set.Value.OfAnswer()) {
						return fmt.Sprintf("%s puts a text that is no upload into %s of %s", w.Name, e.Fields[field].Name, e.Name)
					}
				}
			}
		}
	}
	return ""
}

// written reports whether a value is computed from an argument that is no upload.
func written(v *verbs.Verb, x *verbs.Expr) (is bool) {
	x.Args(func(i int) { is = is || v.Params[i].Upload == nil })
	return is
}

// takes says why values of a type are not all accepted, "" when they are as
// far as can be told.
func (s schema) takes(t *verbs.Type) string {
	switch {
	case s.none:
		return "takes nothing"
	case s.any || t == nil || t.Name == verbs.AnyType:
		return ""
	}
	for _, all := range s.list("allOf") {
		if why := all.takes(t); why != "" {
			return why
		}
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		why := ""
		branches := s.list(key)
		for _, branch := range branches {
			if why = branch.takes(t); why == "" {
				break
			}
		}
		if why != "" {
			return why
		}
	}
	if types := s.types(); types != nil && !slices.ContainsFunc(jsonTypes(t), func(is string) bool { return slices.Contains(types, is) }) {
		return fmt.Sprintf("takes %s; this is %s", aType(types), aType(jsonTypes(t)[:1]))
	}
	if allowed := words(s.is["enum"]); s.is["enum"] != nil && jsonTypes(t)[0] == "string" {
		if t.Codes == nil {
			return "takes only " + strings.Join(allowed, ", ") + "; this may be anything else"
		}
		for _, c := range t.Codes.Codes {
			if sent := t.Spelled(stores.NewString(c.Name)).Text(); !slices.Contains(allowed, sent) {
				return "takes only " + strings.Join(allowed, ", ") + "; this may be " + sent
			}
		}
	}
	return s.limits(t)
}

func (s schema) limits(t *verbs.Type) string {
	if most, ok := s.number("maxLength"); ok && t.Name == verbs.StringType {
		if n := stores.NewInt(int64(t.MaxLength)); t.MaxLength == 0 || after(n, most) {
			return "takes at most " + most.Text() + " characters; this may be longer"
		}
	}
	if least, ok := s.number("minLength"); ok && t.Name == verbs.StringType && after(least, stores.NewInt(int64(t.MinLength))) {
		return "takes at least " + least.Text() + " characters; this may be shorter"
	}
	if t.Name != verbs.IntegerType && t.Name != verbs.DecimalType {
		return ""
	}
	if most, ok := s.number("maximum"); ok && (t.Max.IsNull() || after(t.Max, most)) {
		return "takes at most " + most.Text() + "; this may be more"
	}
	if least, ok := s.number("minimum"); ok && (t.Min.IsNull() || after(least, t.Min)) {
		return "takes at least " + least.Text() + "; this may be less"
	}
	return ""
}

func after(a, b stores.Value) bool {
	order, ok := stores.Compare(a, b)
	return !ok || order > 0
}

// jsonTypes returns the JSON types that fit values of a type, the best one first.
func jsonTypes(t *verbs.Type) []string {
	switch t.Name {
	case verbs.CodeType:
		if t.Codes != nil && t.Codes.Spelling != nil && t.Codes.Spelling.Kind == stores.Int {
			return []string{"integer", "number"}
		}
	case verbs.IntegerType:
		return []string{"integer", "number"}
	case verbs.DecimalType:
		return []string{"number"}
	case verbs.BooleanType:
		return []string{"boolean"}
	case verbs.ObjectType, verbs.MoneyType, verbs.RecordType:
		return []string{"object"}
	case verbs.ListType:
		return []string{"array"}
	}
	return []string{"string"}
}

func aType(types []string) string {
	out := make([]string, len(types))
	for i, t := range types {
		switch t {
		case "integer", "array", "object":
			out[i] = "an " + t
		case "null":
			out[i] = "nothing"
		default:
			out[i] = "a " + t
		}
	}
	return strings.Join(out, " or ")
}

// fitAnswer compares a tool's declared answer with the columns in its palette.
func fitAnswer(v *verbs.Verb, out schema) dsl.Diagnostics {
	var ds dsl.Diagnostics
	t := v.Tool
	if len(t.Columns) == 0 {
		return nil
	}
	if t.Rows != "" {
		list, there := out.named(t.Rows)
		switch {
		case !there && out.open():
			return nil
		case !there:
			return append(ds, mismatch(v, t.Place, fmt.Sprintf("it answers with no %q", t.Rows), dsl.Nearest(t.Rows, maps.Keys(out.properties()))))
		case list.types() != nil && !slices.Contains(list.types(), "array"):
			return append(ds, mismatch(v, t.Place, fmt.Sprintf("%q of its answer is no list", t.Rows), nil))
		}
		out = list.of(list.is["items"], 0)
	}
	for i, c := range t.Columns {
		member, there := out.named(c.Name)
		if !there {
			if !out.open() {
				ds = append(ds, mismatch(v, t.Places[i], fmt.Sprintf("it answers with no %q", c.Name), dsl.Nearest(c.Name, maps.Keys(out.properties()))))
			}
			continue
		}
		types := member.types()
		// Values other than objects and lists may also arrive as text.
		fit := append(jsonTypes(t.Types[i]), "string")
		if t.Types[i].Name == verbs.AnyType {
			types = nil
		}
		for _, is := range types {
			if is != "null" && !slices.Contains(fit, is) && !(is == "integer" && slices.Contains(fit, "number")) {
				ds = append(ds, mismatch(v, t.Places[i], fmt.Sprintf("%q of its answer may be %s", c.Name, aType([]string{is})), nil))
				break
			}
		}
	}
	return ds
}

// named finds a member as an answer's are found.
func (s schema) named(name string) (schema, bool) {
	properties := s.properties()
	if m, ok := properties[name]; ok {
		return s.of(m, 0), true
	}
	var found any
	n := 0
	for key, m := range properties {
		if Squash(key) == Squash(name) {
			found = m
			n++
		}
	}
	return s.of(found, 0), n == 1
}

// Squash returns a member's name without insignificant differences: dashes, underscores and
// capitals.
func Squash(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '-' || r == '_':
			return -1
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
