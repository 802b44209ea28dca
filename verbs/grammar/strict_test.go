package grammar_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"verbatim/dsl"
	"verbatim/verbs"
	"verbatim/verbs/grammar"
	loading "verbatim/verbs/load"
)

// shipped are the folders of all palettes that are shipped, and of the wide one.
func shipped(t *testing.T) map[string]*verbs.Registry {
	t.Helper()
	dirs, err := filepath.Glob("../../examples/*/verbs")
	if err != nil || len(dirs) < 3 {
		t.Fatal(dirs, err)
	}
	plan, err := os.ReadFile("../../runtime/jobs/workflow/plan.yaml")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*verbs.Registry{}
	for _, dir := range append(dirs, "../palettes/bank", "../palettes/confidence", "../palettes/kiisha", "../palettes/kyc", "../palettes/manda", "../../runtime/domains/rights", "testdata") {
		files := os.DirFS(dir)
		if filepath.Base(dir) == "confidence" { // its palette of plans stands on that of the program
			both := fstest.MapFS{"plan.yaml": {Data: plan}}
			for _, name := range []string{"confidence.yaml", "graph.yaml"} {
				text, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil {
					t.Fatal(err)
				}
				both[name] = &fstest.MapFile{Data: text}
			}
			files = both
		}
		reg, ds := loading.Dir(files)
		if ds.HasErrors() {
			t.Fatal(dir, ds)
		}
		all[dir] = reg
	}
	return all
}

// What endpoints that others run take of a strict schema, read from its text alone.
func beyondStrict(text []byte) string {
	var doc any
	if err := decodeAll(text, &doc); err != nil {
		return err.Error()
	}
	root, _ := doc.(map[string]any)
	if root["type"] != "object" || root["anyOf"] != nil {
		return "the root is no object"
	}
	keywords := map[string]string{
		"": "description type anyOf $ref enum const $defs", "object": "properties required additionalProperties", "array": "items minItems maxItems",
		"string": "pattern format", "number": "multipleOf maximum minimum exclusiveMaximum exclusiveMinimum", "integer": "multipleOf maximum minimum exclusiveMaximum exclusiveMinimum",
	}
	properties, constants, characters := 0, 0, 0
	var look func(path string, doc any, level int) string
	look = func(path string, doc any, level int) string {
		m, ok := doc.(map[string]any)
		if !ok {
			return path + " is no schema"
		}
		if level > 10 {
			return path + " is too deep"
		}
		allowed := keywords[""]
		kinds, _ := m["type"].([]any)
		if kind, ok := m["type"].(string); ok {
			kinds = []any{kind}
		}
		for _, kind := range kinds {
			allowed += " " + keywords[fmt.Sprint(kind)]
		}
		for key := range m {
			if !slices.Contains(strings.Fields(allowed), key) {
				return path + " has " + key
			}
		}
		if len(kinds) == 0 && m["$ref"] == nil && m["anyOf"] == nil {
			return path + " has no type"
		}
		if ref, ok := m["$ref"].(string); ok {
			name := strings.TrimPrefix(ref, "#/$defs/")
			defs, _ := root["$defs"].(map[string]any)
			if len(m) > 1 || defs[strings.Split(name, "/")[0]] == nil {
				return path + " refers to " + ref
			}
		}
		if format, ok := m["format"].(string); ok && !strings.Contains(" date-time time date duration email hostname ipv4 ipv6 uuid ", " "+format+" ") {
			return path + " has format " + format
		}
		if pattern, ok := m["pattern"].(string); ok && strings.Contains(strings.ReplaceAll(pattern, "(?:", ""), "(?") {
			return path + " has pattern " + pattern
		}
		list, _ := m["enum"].([]any)
		if m["const"] != nil {
			list = append(list, m["const"])
		}
		size := 0
		for _, v := range list {
			size += utf8.RuneCountInString(fmt.Sprint(v))
		}
		if len(list) > 250 && size > 15_000 {
			return path + " lists too much"
		}
		constants, characters = constants+len(list), characters+size
		props, _ := m["properties"].(map[string]any)
		required, _ := m["required"].([]any)
		if slices.Contains(kinds, any("object")) && (m["additionalProperties"] != false || len(required) != len(props)) {
			return path + " leaves keys open"
		}
		if slices.Contains(kinds, any("array")) && m["items"] == nil {
			return path + " leaves its items open"
		}
		defs, _ := m["$defs"].(map[string]any)
		for _, named := range []map[string]any{props, defs} {
			for name, part := range named {
				properties, characters = properties+1, characters+utf8.RuneCountInString(name)
				if why := look(path+"/"+name, part, level+1); why != "" {
					return why
				}
			}
		}
		if m["items"] != nil {
			if why := look(path+"/items", m["items"], level); why != "" {
				return why
			}
		}
		forms, _ := m["anyOf"].([]any)
		for i, part := range forms {
			if why := look(fmt.Sprintf("%s/%d", path, i), part, level); why != "" {
				return why
			}
		}
		return ""
	}
	if why := look("", root, 1); why != "" {
		return why
	}
	if properties > 5000 || constants > 1000 || characters > 120_000 {
		return fmt.Sprintf("%d properties, %d constants, %d characters", properties, constants, characters)
	}
	return ""
}

func decodeAll(text []byte, into any) error {
	dec := json.NewDecoder(strings.NewReader(string(text)))
	dec.UseNumber()
	return dec.Decode(into)
}

// F16: strict is said of a tool whose schema is in the part of JSON Schema that strict
// endpoints take, and of no other; and what the whole schema accepts, the strict one does.
func TestOnlyStrictToolsAreStrict(t *testing.T) {
	t.Parallel()
	var strict, loose []string
	for dir, reg := range shipped(t) {
		for _, names := range []int{0, 2, 251} {
			v := grammar.Vocabulary{Verbs: reg.Verbs()}
			if names > 0 {
				v.Names = func(e *verbs.Entity) (all []string) {
					for i := range names {
						all = append(all, fmt.Sprintf("row-%d", i))
					}
					return all
				}
			}
			tools, err := grammar.Tools(v)
			if err != nil {
				t.Fatal(err)
			}
			if err := grammar.Hosted(tools); err != nil && len(tools) <= 128 {
				t.Errorf("%s: %v", dir, err)
			}
			for i := range tools {
				text, ok := tools[i].Strict()
				why := beyondStrict(text)
				switch {
				case ok && why != "":
					t.Errorf("%s is called strict: %s\n%s", tools[i].Name, why, text)
				case ok:
					strict = append(strict, tools[i].Name)
				case beyondStrict(tools[i].Parameters) == "":
					t.Errorf("%s is strict, and not called so", tools[i].Name)
				case names == 0:
					loose = append(loose, tools[i].Name)
				}
			}
		}
	}
	// Each of these takes an object whose schema leaves something open, any value at all,
	// or a text whose pattern has flags.
	slices.Sort(loose)
	want := []string{"client__correct-info", "client__provide-info", "wide__rest", "wide__texts"}
	if !slices.Equal(loose, want) {
		t.Errorf("not strict are %q", loose)
	}
	if len(strict) < 300 {
		t.Errorf("%d tools are strict", len(strict))
	}
}

const schemas = `
domain: odd
roles: [{name: r, description: r}]
codes: [{name: many, values: [%s]}]
entities:
  item: {key: item_id, managed: true, scope: everyone, label: "{name}", fields: {name: {type: string}}}
verbs:
  - {verb: items, description: Items., roles: [r], reads: {entity: item, fields: {item: item_id, name: name}}}
  - {verb: items-of, description: Items of a name., roles: [r], args: [{name: name, type: string, required: true}], reads: {entity: item, where: row.name == name, fields: {item: item_id}}}
  - {verb: two, description: Two of them., roles: [r], handler: true, args: [{name: a, type: ref, ref-type: item, required: true, description: the first}, {name: b, type: list, of: {type: ref, ref-type: item}}]}
  - {verb: text, description: A text., roles: [r], handler: true, args: [{name: t, type: string, min-length: 1, max-length: 20, default: "a", description: what}]}
  - {verb: codes, description: Codes., roles: [r], handler: true, args: [{name: c, type: code, ref-type: many}]}
  - {verb: open, description: Open., roles: [r], handler: true, args: [{name: o, type: object, schema: {type: object, required: [x], properties: {x: {type: string}, y: {type: string}}, additionalProperties: false}}]}
  - {verb: shut, description: Shut., roles: [r], handler: true, args: [{name: o, type: object, schema: {type: object, title: T, required: [x], properties: {x: {type: string, format: uri}}, additionalProperties: false}}]}
  - {verb: sound, description: Sound., roles: [r], handler: true, args: [{name: o, type: object, schema: {type: object, title: T, required: [x], properties: {x: {type: [string, "null"], maxLength: 3, x-wrong: no}}, additionalProperties: false}}]}
  - {verb: alone, description: Each once., roles: [r], handler: true, args: [{name: o, type: object, schema: {type: object, required: [x], properties: {x: {type: array, items: {type: string}, uniqueItems: true}}, additionalProperties: false}}]}
  - {verb: whole, description: Any object., roles: [r], handler: true, args: [{name: o, type: object}]}
  - {verb: record, description: Records., roles: [r], handler: true, args: [{name: o, type: list, of: {type: record, fields: {a: {type: ref, ref-type: item, required: true}, b: {type: date}}}}]}
`

// F16: names of rows stand once; of very many any may be said, and the read that finds them
// is named. Lengths, defaults and values are told in words.
func TestNamesStandOnce(t *testing.T) {
	t.Parallel()
	codes := make([]string, 300)
	for i := range codes {
		codes[i] = fmt.Sprintf("%s_%d", strings.Repeat("A", 50), i)
	}
	reg, ds := loading.Sources(dsl.NewSource("odd.yaml", fmt.Sprintf(schemas, strings.Join(codes, ", "))))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	n := 3
	v := grammar.Vocabulary{Verbs: reg.Verbs(), Names: func(*verbs.Entity) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprintf("item-%03d", i))
		}
		return all
	}}
	tools := func() map[string]grammar.Tool {
		made, err := grammar.Tools(v)
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]grammar.Tool{}
		for _, tool := range made {
			all[strings.TrimPrefix(tool.Name, "odd__")] = tool
		}
		return all
	}
	few := tools()
	for name, want := range map[string]bool{"two": true, "text": true, "codes": false, "open": false, "shut": false, "sound": true, "alone": false, "whole": false, "record": true, "items": true} {
		tool := few[name]
		text, strict := tool.Strict()
		if strict != want {
			t.Errorf("that %s is strict is %t: %s", name, strict, tool.Parameters)
		}
		if strict && beyondStrict(text) != "" {
			t.Errorf("%s: %s", name, beyondStrict(text))
		}
	}
	two := string(few["two"].Parameters)
	if strings.Count(two, "@item-001") != 1 || strings.Count(two, `"#/$defs/names-of-item"`) != 2 || !strings.Contains(two, `{"description":"the first","anyOf":[{"$ref":`) {
		t.Errorf("the names stand as %s", two)
	}
	text := few["text"]
	strict, _ := text.Strict()
	if !strings.Contains(string(strict), "what; null is a") || !strings.Contains(string(strict), "at least 1 character, at most 20 characters") || strings.Contains(string(strict), "maxLength") || !strings.Contains(string(text.Parameters), `"maxLength":20`) {
		t.Errorf("a text is %s, and %s", strict, text.Parameters)
	}
	whole, err := grammar.JSONSchema(v)
	if err != nil || strings.Count(string(whole), "@item-001") != 1 {
		t.Errorf("%v: the names stand in %s", err, whole)
	}
	n = 251
	if two := string(tools()["two"].Parameters); strings.Contains(two, "@item-250") || !strings.Contains(two, "the name of an item, such as @item-000; odd.items finds others") {
		t.Errorf("of many, it is %s", two)
	}
}

// F16: what a hosted endpoint would refuse, it is not given.
func TestToolsAreWithinWhatEndpointsTake(t *testing.T) {
	t.Parallel()
	verb := &verbs.Verb{Name: "a.b"}
	for want, tools := range map[string][]grammar.Tool{
		"":                                     {{Verb: verb, Name: strings.Repeat("a", 64), Description: strings.Repeat("é", 1024)}},
		"the name of a.b is no name of a tool": {{Verb: verb, Name: strings.Repeat("a", 65)}},
		"has 1025 characters":                  {{Verb: verb, Name: "a", Description: strings.Repeat("é", 1025)}},
		"there are 129 tools":                  slices.Repeat([]grammar.Tool{{Verb: verb, Name: "a"}}, 129),
	} {
		if err := grammar.Hosted(tools); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}
