package grammar

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/jsondoc"
)

// object returns a node for a map that a JSON Schema accepts, if the schema has only plain rules;
// otherwise the grammar is loose.
func (b *builder) object(t *verbs.Type, site string) (node, bool) {
	if t.Schema == nil {
		b.loosen(site)
		return text("{}"), true
	}
	return b.objectOf(t.Schema, site)
}

func (b *builder) objectOf(of *verbs.Schema, site string) (node, bool) {
	doc, err := jsondoc.Decode(string(of.Text()))
	if err != nil {
		return nil, false
	}
	return (&schema{b: b, site: site, doc: doc}).of(doc, 0)
}

// A schema is a JSON Schema that is being read.
type schema struct {
	b    *builder
	site string
	doc  any
}

// maxDepth limits schemas that refer to themselves.
const maxDepth = 6

// understood are the keywords that of handles; all others make the grammar loose.
var understood = []string{
	"$schema", "$id", "$defs", "$comment", "title", "description", "examples", "default", "deprecated",
	"$ref", "const", "enum", "anyOf", "oneOf", "type", "properties", "required", "additionalProperties", "items", "minItems",
	"maxItems", "minLength", "maxLength", "pattern", "format", "minimum", "maximum",
}

func (s *schema) of(doc any, depth int) (node, bool) {
	m, ok := doc.(map[string]any)
	if !ok || depth > maxDepth {
		return s.free(), doc != false && depth <= maxDepth
	}
	for key := range m {
		if !slices.Contains(understood, key) {
			s.b.loosen(s.site)
		}
	}
	if ref, ok := m["$ref"].(string); ok {
		if len(m) > 1 {
			s.b.loosen(s.site)
		}
		return s.of(s.at(ref), depth+1)
	}
	if v, ok := m["const"]; ok {
		return text(jsondoc.Literal(v)), true
	}
	if list, ok := m["enum"].([]any); ok {
		words := make([]string, len(list))
		for i, v := range list {
			words[i] = jsondoc.Literal(v)
		}
		return oneOf(words), len(words) > 0
	}
	list, several := m["anyOf"].([]any)
	if one, ok := m["oneOf"].([]any); ok && !several && allConstants(one) {
		list, several = one, true // no two are the same
	} else if ok {
		s.b.loosen(s.site)
	}
	if several {
		if m["type"] != nil || m["properties"] != nil {
			s.b.loosen(s.site) // both apply at once
		}
		var all alt
		for _, part := range list {
			if n, ok := s.of(part, depth+1); ok {
				all = append(all, n)
			}
		}
		return simple(all), len(all) > 0
	}
	kinds, _ := m["type"].([]any)
	if kind, ok := m["type"].(string); ok {
		kinds = []any{kind}
	}
	if len(kinds) == 0 && m["properties"] != nil {
		kinds = []any{"object"}
	}
	if len(kinds) == 0 {
		return s.free(), true
	}
	var all alt
	for _, kind := range kinds {
		if kind == "integer" && slices.Contains(kinds, any("number")) {
			continue // these are numbers too
		}
		if n, ok := s.kind(m, kind, depth); ok {
			all = append(all, n)
		}
	}
	return simple(all), len(all) > 0
}

// allConstants reports whether each of several schemas accepts only one value, all different.
func allConstants(list []any) bool {
	seen := map[string]bool{}
	for _, part := range list {
		m, _ := part.(map[string]any)
		c, ok := m["const"]
		if text := jsondoc.Literal(c); !ok || seen[text] {
			return false
		} else {
			seen[text] = true
		}
	}
	return len(list) > 0
}

func (s *schema) kind(m map[string]any, kind any, depth int) (node, bool) {
	switch kind {
	case "object":
		return s.entries(m, depth)
	case "array":
		items := s.b.anything()
		if m["items"] != nil {
			var ok bool
			if items, ok = s.of(m["items"], depth+1); !ok {
				return nil, false
			}
		}
		least, most := number(m["minItems"], 0), number(m["maxItems"], -1)
		if most == 0 {
			return text("[]"), least == 0
		}
		more := times{seq{text(" "), items}, max(least-1, 0), most}
		if most > 0 {
			more.max = most - 1
		}
		var inside node = seq{items, more}
		if least == 0 {
			inside = maybe(inside)
		}
		return seq{text("["), inside, text("]")}, true
	case "string":
		return s.text(m), true
	case "integer", "number":
		lo, hi := bound(m["minimum"]), bound(m["maximum"])
		scale := -1
		if kind == "integer" {
			scale = 0
		}
		return s.b.leaf("number", decimals(lo, hi, scale)), true
	case "boolean":
		return s.b.leaf("boolean", oneOf([]string{"true", "false"})), true
	case "null":
		return text("nil"), true
	}
	return nil, false
}

func (s *schema) text(m map[string]any) node {
	first, last := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
	day := dates(first, last)
	least, most := number(m["minLength"], 0), number(m["maxLength"], 0)
	switch format, _ := m["format"].(string); format {
	case "":
	case "date":
		if p, ok := m["pattern"].(string); ok {
			if day, ok = s.b.daysOf(p); !ok {
				s.b.loosen(s.site)
				day = dates(first, last)
			}
		}
		return s.b.leaf("quoted-date", seq{text(`"`), day, text(`"`)})
	case "email":
		return s.b.leaf("email", email())
	default:
		s.b.loosen(s.site)
	}
	if p, ok := m["pattern"].(string); ok {
		// A pattern of a schema may match anywhere; only anchored ones are used.
		if strings.HasPrefix(p, "^") && strings.HasSuffix(p, "$") {
			if n, ok, exact := patternOf(p, least, most); ok {
				if !exact {
					s.b.loosen(s.site)
				}
				return s.b.leaf("string", n)
			}
		}
		s.b.loosen(s.site)
	}
	return s.b.leaf("string", quoted(least, most))
}

// daysOf returns the dates of the years that a date pattern allows. It tests the pattern only on
// years: a pattern that also restricts months allows none.
func (b *builder) daysOf(pattern string) (node, bool) {
	if known := b.days[pattern]; known != nil {
		return known, true
	}
	re, err := regexp.Compile(pattern)
	if err != nil || !strings.HasPrefix(pattern, "^") {
		return nil, false
	}
	var ways alt
	for year, from := 1, 0; year <= 10000; year++ {
		switch matches := year < 10000 && re.MatchString(fmt.Sprintf("%04d-", year)); {
		case matches && from == 0:
			from = year
		case !matches && from > 0:
			ways = append(ways, dates(time.Date(from, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(year-1, 12, 31, 0, 0, 0, 0, time.UTC)))
			from = 0
		}
	}
	if len(ways) == 0 {
		return nil, false
	}
	if b.days == nil {
		b.days = map[string]node{}
	}
	b.days[pattern] = simple(ways)
	return b.days[pattern], true
}

// entries reads the keys of a map in alphabetical order; optional ones may be left out.
func (s *schema) entries(m map[string]any, depth int) (node, bool) {
	props, _ := m["properties"].(map[string]any)
	needed, _ := m["required"].([]any)
	var all []entry
	for _, key := range slices.Sorted(maps.Keys(props)) {
		required := slices.Contains(needed, any(key))
		n, ok := s.of(props[key], depth+1)
		if key == "" || !ok { // the language has no empty key
			if required {
				return nil, false
			}
			continue
		}
		all = append(all, entry{seq{text(dsl.FormatKey(key) + " "), n}, required})
	}
	for _, key := range needed {
		if name, ok := key.(string); ok && props[name] == nil {
			return nil, false // its type is not declared
		}
	}
	return braced(all), true
}

// record returns a node for a map with the fields of a record, in the order in which they are
// declared.
func (b *builder) record(t *verbs.Type, site string) (node, bool) {
	var all []entry
	for i := range t.Fields {
		f := &t.Fields[i]
		n, ok := b.value(f.Type, site)
		if !ok && f.Required {
			return nil, false
		}
		if ok {
			all = append(all, entry{seq{text(":" + f.Name + " "), n}, f.Required})
		}
	}
	// It is a rule of its own: otherwise a repetition would repeat its text, and readers that
	// expand repetitions would take seconds.
	return b.named("record", braced(all), false), true
}

// An entry is one entry of a map.
type entry struct {
	n        node
	required bool
}

// braced returns a node for a map of these entries, in this order.
func braced(all []entry) node {
	// One alternative for each entry that can come first, followed by the rest.
	var ways alt
	optional := true
	for i, first := range all {
		way := seq{first.n}
		for _, e := range all[i+1:] {
			part := seq{text(" "), e.n}
			if e.required {
				way = append(way, part)
			} else {
				way = append(way, maybe(part))
			}
		}
		ways = append(ways, way)
		if first.required {
			optional = false
			break
		}
	}
	switch {
	case len(ways) == 0:
		return text("{}")
	case optional:
		return seq{text("{"), maybe(simple(ways)), text("}")}
	}
	return seq{text("{"), simple(ways), text("}")}
}

func (s *schema) free() node {
	s.b.loosen(s.site)
	return s.b.anything()
}

func (s *schema) at(ref string) any {
	doc := s.doc
	for _, step := range strings.Split(strings.TrimPrefix(strings.TrimPrefix(ref, "#"), "/"), "/") {
		if step == "" {
			continue
		}
		m, _ := doc.(map[string]any)
		doc = m[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]
	}
	return doc
}

func number(v any, otherwise int) int {
	if n, ok := v.(json.Number); ok {
		if i, err := n.Int64(); err == nil && i >= 0 && i < 1e6 {
			return int(i)
		}
	}
	return otherwise
}

func bound(v any) stores.Value {
	if n, ok := v.(json.Number); ok {
		if d, ok := stores.ParseDecimal(n.String()); ok {
			return d
		}
	}
	return stores.Value{}
}
