package propose

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"verbatim/dsl"
	"verbatim/runtime/tests/norace"
	"verbatim/verbs"
	"verbatim/verbs/jsondoc"
	"verbatim/verbs/load"
	"verbatim/verbs/naming"
)

// openapi names a folder of descriptions by others, to be measured beside our own:
//
//	go test ./verbs -run CallsOfTheirOwnExamples -v -openapi DIR
var write = flag.Bool("update", false, "rewrite the golden files")

var openapi = flag.String("openapi", "", "a `folder` of OpenAPI descriptions, whose examples are called")

// described proposes palettes and loads them without a complaint.
func described(t *testing.T, text []byte) (Described, *verbs.Registry) {
	t.Helper()
	found, err := FromDescription("post", "post", text)
	if err != nil {
		t.Fatal(err)
	}
	var srcs []*dsl.Source
	for _, f := range found.Files {
		srcs = append(srcs, dsl.NewSource(f.Name, string(f.Text)))
		if n := bytes.Count(f.Text, []byte("# DECIDE")); n != f.Decide {
			t.Errorf("%s: %d lines say DECIDE, and %d are counted", f.Name, n, f.Decide)
		}
		if n := bytes.Count(f.Text, []byte("# not said: ")); n != f.Unsaid {
			t.Errorf("%s: %d lines say what is not said, and %d are counted", f.Name, n, f.Unsaid)
		}
	}
	reg, ds := load.Sources(srcs...)
	if len(ds) > 0 {
		t.Fatalf("%s", said(ds[:min(len(ds), 5)]))
	}
	return found, reg
}

// F18: tools and operations become verbs that load as they are written; what a palette cannot
// say of them is told where it would stand.
func TestWhatIsDescribedIsProposed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"tools.json", "api.yaml"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		found, _ := described(t, text)
		if len(found.Files) != 1 {
			t.Fatalf("%s: %d files", name, len(found.Files))
		}
		golden := filepath.Join("testdata", strings.TrimSuffix(name, filepath.Ext(name))+".golden")
		if *write {
			if err := os.WriteFile(golden, found.Files[0].Text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || !bytes.Equal(want, found.Files[0].Text) {
			t.Errorf("%s becomes\n%s", name, found.Files[0].Text)
		}
	}
}

// What is no description is told to be none, and why.
func TestWhatDescribesNothing(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":`, 20000)
	bombs := "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c < 'k'; c++ {
		bombs += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat("*"+string(c-1)+", ", 10), ", "))
	}
	for text, want := range map[string]string{
		"":                       "it is empty",
		" \n ":                   "it is empty",
		"\xff\xfe{\x00":          "it is no text in UTF-8",
		"{\n\"tools\": [\n}":     "it is no JSON: line 3: invalid character '}'",
		`{"tools": []} {}`:       "more follows after its end",
		`{"tools": [`:            "it is no JSON: line 1: unexpected EOF",
		deep:                     "it is no JSON",
		"a: [":                   "it is neither JSON nor YAML",
		"just words":             "it is neither a list of tools nor an OpenAPI description",
		`{"name": 1, "x": 2}`:    "nor an OpenAPI description: at its top stands name, x",
		`{"tools": {"a": 1}}`:    "its tools are no list",
		`[]`:                     "it lists no tools",
		`{"swagger": "2.0"}`:     "it is Swagger 2, and OpenAPI 3 is read",
		`openapi: "4.0.0"`:       "it is OpenAPI 4.0.0, and OpenAPI 3 is read",
		`openapi: 3.1.0`:         "it describes no operations",
		"x: &x [*x]\n":           "anchors",
		bombs:                    "its anchors and aliases make too much of it",
		"domain: a\nverbs: []\n": "at its top stands domain, verbs",
	} {
		_, err := FromDescription("post", "post", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}

// Whatever is wrong inside of a description, what is proposed loads. Parts of good ones
// are exchanged for one another and for what nobody expects.
func TestWhateverIsDescribedLoads(t *testing.T) {
	t.Parallel()
	if norace.Run(t) {
		return
	}
	odd := []any{nil, true, json.Number("-1e400"), json.Number("1e9"), json.Number("0.5"), "", "\u0085\u0000#: x", "$ref", []any{}, []any{"string", "null"}, []any{nil},
		map[string]any{}, map[string]any{"$ref": "#"}, map[string]any{"$ref": "#/"}, map[string]any{"type": "array"}, strings.Repeat("long ", 500), "yes", "2025-01-20"}
	for _, a := range []string{ // that lead to themselves
		`{"$ref": "#/$defs/a"}`,
		`{"type": "array", "items": {"$ref": "#/$defs/a"}}`,
		`{"anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}]}`,
		`{"anyOf": [{"oneOf": [{"$ref": "#/$defs/a"}]}]}`,
		`{"allOf": [{"allOf": [{"$ref": "#/$defs/a"}]}]}`,
		`{"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#/$defs/a"}}}`,
		`{"type": "object", "properties": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#"}]}}}`,
	} {
		described(t, []byte(`[{"name": "x", "inputSchema": {"$defs": {"a": `+a+`}, "properties": {"a": {"$ref": "#/$defs/a"}, "all": {"$ref": "#"}}}}]`))
	}
	for _, name := range []string{"tools.json", "api.yaml"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(150) {
			doc, err := readDocument(text)
			if err != nil {
				t.Fatal(err)
			}
			r := rand.New(rand.NewPCG(seed, 1))
			var places []func(any)
			var parts []any
			var walk func(v any)
			walk = func(v any) {
				parts = append(parts, v)
				switch v := v.(type) {
				case map[string]any:
					for _, k := range slices.Sorted(maps.Keys(v)) {
						places = append(places, func(x any) { v[k] = x }, func(x any) { v[fmt.Sprint(x)] = v[k] })
						walk(v[k])
					}
				case []any:
					for i := range v {
						places = append(places, func(x any) { v[i] = x })
						walk(v[i])
					}
				}
			}
			walk(doc)
			for range 1 + r.IntN(6) {
				x := odd[r.IntN(len(odd))]
				if r.IntN(2) == 0 { // a copy, for nothing holds itself
					b, _ := json.Marshal(parts[r.IntN(len(parts))])
					x, _ = jsondoc.Decode(string(b))
				}
				places[r.IntN(len(places))](x)
			}
			mutated, err := json.Marshal(doc)
			if err != nil {
				continue // a number that is none
			}
			if _, err := FromDescription("post", "post", mutated); err == nil {
				if described(t, mutated); t.Failed() {
					t.Fatalf("%s, seed %d", name, seed)
				}
				all, _ := Operations(mutated)
				for i := range all {
					all[i].InputSchema(func(Input) bool { return false })
					all[i].OutputSchema()
				}
			}
		}
	}
}

// A description in several files is read as one. What leads out of its folder, or to another address,
// is not read.
func TestADescriptionInSeveralFiles(t *testing.T) {
	t.Parallel()
	const main = `openapi: 3.1.0
paths:
  /parcels: {$ref: "paths/parcels.yaml#/all~1of"}
`
	files := fstest.MapFS{
		"api.yaml":           {Data: []byte(main)},
		"paths/parcels.yaml": {Data: []byte(`{"all/of": {"get": {"operationId": "list", "parameters": [{"$ref": "#/page"}, {"$ref": "../parts.yaml#/q"}]}}, "page": {"name": "page", "in": "query", "schema": {"type": "integer"}}}`)},
		"parts.yaml":         {Data: []byte(`{"q": {"name": "q", "in": "query", "schema": {"$ref": "#/text"}}, "text": {"type": "string", "maxLength": 7}, "back": {"$ref": "api.yaml#/paths"}}`)},
	}
	text, names, err := Gather(files, "api.yaml")
	if err != nil || len(names) != 3 {
		t.Fatal(names, err)
	}
	all, err := Operations(text)
	if err != nil || len(all) != 1 || all[0].Name != "list" || jsondoc.Text(all[0].InputSchema(func(Input) bool { return false })) !=
		`{"$defs":{"text":{"maxLength":7,"type":"string"}},"properties":{"page":{"type":"integer"},"q":{"$ref":"#/$defs/text"}},"required":[],"type":"object"}` {
		t.Errorf("%s %v", jsondoc.Text(all[0].InputSchema(func(Input) bool { return false })), err)
	}
	if _, reg := described(t, text); reg.Verb("post.list") == nil {
		t.Error("no verb is proposed")
	}
	for _, to := range []string{"../secret.yaml#/x", "/etc/passwd", "paths/none.yaml", "paths/../../x", "https://x.example/a.yaml"} {
		files["api.yaml"] = &fstest.MapFile{Data: []byte(strings.Replace(main, "paths/parcels.yaml#/all~1of", to, 1) + "  /here: {get: {operationId: here}}\n")}
		asked := &opened{FS: files}
		text, _, err := Gather(asked, "api.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if all, err := Operations(text); err != nil || len(all) != 1 || all[0].Name != "here" {
			t.Errorf("%s: %+v %v", to, all, err)
		}
		if found, _ := described(t, text); !strings.Contains(string(found.Files[0].Text), "path /parcels: its schema stands in another file, "+to) {
			t.Errorf("%s: %s", to, found.Files[0].Text)
		}
		if strings.Contains(strings.Join(asked.names, " "), "..") || len(asked.names) > 1 && to != "paths/none.yaml" {
			t.Errorf("%s: %q were opened", to, asked.names)
		}
	}
}

// An opened notes the names of files that are opened.
type opened struct {
	fs.FS
	names []string
}

func (o *opened) Open(name string) (fs.File, error) {
	o.names = append(o.names, name)
	return o.FS.Open(name)
}

// One tool that asks for more than a file of ours may hold is cut to what it may.
func TestATallToolFitsIntoAFile(t *testing.T) {
	t.Parallel()
	if norace.Run(t) {
		return
	}
	type m = map[string]any
	args, wide := m{}, m{}
	for i := range 200 {
		wide[fmt.Sprintf("key%d", i)] = m{"type": "string", "description": strings.Repeat("long ", 50)}
	}
	for i := range 200 {
		var values []string
		for j := range 500 {
			values = append(values, fmt.Sprintf("value-%d-%d", i, j))
		}
		args[fmt.Sprintf("object%d", i)] = m{"type": "object", "properties": wide, "minProperties": i}
		args[fmt.Sprintf("odd%d", i)] = m{"$ref": "elsewhere.json"}
		args[fmt.Sprintf("a%d", i)] = m{"enum": values, "description": strings.Repeat("long ", 1000)}
	}
	text, err := json.Marshal([]any{m{"name": "tall", "description": strings.Repeat("so ", 1e6), "inputSchema": m{"properties": args}}})
	if err != nil {
		t.Fatal(err)
	}
	_, reg := described(t, text)
	if v := reg.Verb("post.tall"); v == nil || len(v.Params) != verbs.MaxParams || len(v.Description) > 1000 {
		t.Errorf("%v", v)
	}
}

// A server with thousands of tools makes several files of one domain.
func TestFiveThousandToolsAreAFewFiles(t *testing.T) {
	t.Parallel()
	if norace.Run(t) {
		return
	}
	type m = map[string]any
	var tools []any
	for i := range 5000 {
		tools = append(tools, m{"name": fmt.Sprintf("tool_%d", i), "description": strings.Repeat("It does something. ", 50),
			"inputSchema": m{"properties": m{"kind": m{"enum": []string{"a", "b"}}, "who": m{"properties": m{"name": m{"type": "string"}}}}}})
	}
	text, err := json.Marshal(tools)
	if err != nil {
		t.Fatal(err)
	}
	found, reg := described(t, text)
	if len(reg.Verbs()) != 5000 || found.Verbs != 5000 || len(found.Files) != 20 {
		t.Errorf("%d verbs in %d files", len(reg.Verbs()), len(found.Files))
	}
	for i := range tools {
		tools[i] = m{"name": fmt.Sprintf("tool %d", i), "inputSchema": m{"$ref": strings.Repeat("elsewhere ", 50)}}
	}
	if text, err = json.Marshal(tools); err != nil {
		t.Fatal(err)
	}
	none, _ := described(t, text)
	if none.Verbs != 0 || none.Count != 5000 {
		t.Errorf("%d verbs for %d tools", none.Verbs, none.Count)
	}
	for _, f := range append(found.Files, none.Files...) {
		if len(f.Text) > load.DefaultMaxFile {
			t.Errorf("%s has %d bytes", f.Name, len(f.Text))
		}
	}
}

// Calls that are made of the examples of an API are accepted, unless an example is
// against its own schema, which another reader of schemas has to say.
func TestCallsOfTheirOwnExamplesAreAccepted(t *testing.T) {
	t.Parallel()
	files := []string{"testdata/api.yaml"}
	if *openapi != "" {
		others, err := filepath.Glob(filepath.Join(*openapi, "*.json"))
		if err != nil || len(others) == 0 {
			t.Fatalf("no descriptions in %s: %v", *openapi, err)
		}
		files = append(files, others...)
	}
	var all tally
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := readDocument(text)
		if err != nil {
			t.Fatal(err)
		}
		found, reg := described(t, text)
		c := &caller{t: t, doc: doc.(map[string]any), reg: reg, args: map[string]map[string]string{}}
		c.learn(found.Files)
		c.operations()
		t.Logf("%s: %d verbs of %s", filepath.Base(file), found.Verbs, c.tally)
		for _, f := range found.Files {
			for line := range strings.Lines(string(f.Text)) {
				if strings.Contains(line, "# not said: ") {
					t.Logf("  %s", cutText(line, 200))
				}
			}
		}
		if file == files[0] { // ours
			if c.tally.accepted != c.tally.calls || c.tally.calls < 8 {
				t.Errorf("%s", c.tally)
			}
			continue
		}
		all.add(c.tally)
	}
	t.Logf("all: %s", all)
}

type tally struct{ operations, with, calls, accepted, against, examples, filled int }

func (c tally) String() string {
	return fmt.Sprintf("%d operations, %d with examples: %d calls of %d values (%d arguments that must be given have none): %d accepted, %d refused over a value that is against its own schema",
		c.operations, c.with, c.calls, c.examples, c.filled, c.accepted, c.against)
}

func (c *tally) add(o tally) {
	for _, p := range []struct {
		to *int
		n  int
	}{{&c.operations, o.operations}, {&c.with, o.with}, {&c.calls, o.calls}, {&c.accepted, o.accepted}, {&c.against, o.against}, {&c.examples, o.examples}, {&c.filled, o.filled}} {
		*p.to += p.n
	}
}

// A caller makes the calls of one description.
type caller struct {
	t     *testing.T
	doc   map[string]any
	reg   *verbs.Registry
	args  map[string]map[string]string // of each "POST https://…": arguments by "query page", the verb by ""
	tally tally

	schemas *jsonschema.Compiler
}

// learn reads in what was proposed which verb is which operation.
func (c *caller) learn(files []Proposal) {
	arg, verb, head := regexp.MustCompile(`^      - \{name: "?([a-z0-9-]+)"?, .*\}  # (\w+ .*)$`), regexp.MustCompile(`^  - verb: "?([a-z0-9-]+)"?$`), regexp.MustCompile(`^    # ([A-Z]+ \S*)$`)
	var name string
	var now map[string]string
	for _, f := range files {
		for line := range strings.Lines(string(f.Text)) {
			line = strings.TrimSuffix(line, "\n")
			if m := verb.FindStringSubmatch(line); m != nil {
				name = m[1]
			} else if m := head.FindStringSubmatch(line); m != nil {
				now = map[string]string{"": name}
				c.args[m[1]] = now
			} else if m := arg.FindStringSubmatch(line); m != nil {
				now[m[2]] = m[1]
			}
		}
	}
}

// resolved follows a reference, to where it leads and under which pointer.
func (c *caller) resolved(v any, ptr string) (map[string]any, string) {
	m, _ := v.(map[string]any)
	for range 5 {
		ref, ok := m["$ref"].(string)
		if !ok {
			break
		}
		ptr = ref[1:]
		m, _ = jsondoc.At(c.doc, jsondoc.Pointer(ptr)).(map[string]any)
	}
	return m, ptr
}

func (c *caller) operations() {
	step := strings.NewReplacer("~", "~0", "/", "~1")
	paths, _ := c.doc["paths"].(map[string]any)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		item := paths[path].(map[string]any)
		for _, method := range methods {
			op, ok := item[method].(map[string]any)
			if !ok {
				continue
			}
			c.tally.operations++
			head := strings.ToUpper(method) + " " + serverOf(op, item, c.doc) + path
			args := c.args[head]
			if args == nil {
				c.t.Logf("  no verb for %s", head)
				continue
			}
			ptr := "/paths/" + step.Replace(path) + "/" + method
			sets := map[string][]sample{}
			for _, from := range []struct {
				list any
				ptr  string
			}{{op["parameters"], ptr}, {item["parameters"], "/paths/" + step.Replace(path)}} {
				for i, q := range listOf(from.list) {
					m, at := c.resolved(q, from.ptr+"/parameters/"+strconv.Itoa(i))
					name := args[fmt.Sprint(m["in"], " ", m["name"])]
					if name == "" {
						continue
					}
					c.gather(sets, m, func(v any) []sample { return []sample{{name, v, at + "/schema"}} })
				}
			}
			if body, at := c.resolved(op["requestBody"], ptr+"/requestBody"); body != nil {
				content, _ := body["content"].(map[string]any)
				for _, kind := range slices.Sorted(maps.Keys(content)) {
					media, _ := content[kind].(map[string]any)
					_, schema := c.resolved(media["schema"], at+"/content/"+step.Replace(kind)+"/schema")
					c.gather(sets, media, func(v any) (all []sample) {
						if args["the body"] != "" {
							return []sample{{args["the body"], v, schema}}
						}
						m, _ := v.(map[string]any)
						for _, k := range slices.Sorted(maps.Keys(m)) {
							name := args["form "+k]
							if name == "" {
								name = args["body "+k]
							}
							if name != "" {
								all = append(all, sample{name, m[k], schema + "/properties/" + step.Replace(k)})
							} else if slices.Contains(slices.Sorted(maps.Keys(args)), "the body") {
								c.t.Errorf("%s: no argument for %s", head, k)
							}
						}
						return all
					})
				}
			}
			v := c.reg.Verb("post." + args[""])
			for _, set := range slices.Sorted(maps.Keys(sets)) {
				c.call(v, sets[set], sets)
			}
			if len(sets) > 0 {
				c.tally.with++
			} else if text, _ := c.words(v, nil, nil); len(c.check(text)) > 0 {
				c.t.Errorf("made up: %s", text) // nor is what explain shows wrong
			}
		}
	}
}

type sample struct {
	arg    string
	value  any
	schema string // where its schema stands
}

// gather adds the examples beside a schema to the sets of their names.
func (c *caller) gather(sets map[string][]sample, m map[string]any, of func(v any) []sample) {
	if m["example"] != nil {
		sets["example"] = append(sets["example"], of(m["example"])...)
	}
	named, _ := m["examples"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(named)) {
		e, _ := named[name].(map[string]any)
		sets[name] = append(sets[name], of(e["value"])...)
	}
}

// call makes a call of a set of examples. What must be given and is in no such set comes
// from another, or is made up.
func (c *caller) call(v *verbs.Verb, set []sample, others map[string][]sample) {
	text, sound := c.words(v, set, others)
	c.tally.calls++
	ds := c.check(text)
	switch {
	case !ds.HasErrors():
		c.tally.accepted++
	case !sound:
		c.tally.against++
	default:
		c.t.Errorf("%s\n%s", cutText(text, 500), said(ds))
	}
}

func (c *caller) check(text string) dsl.Diagnostics {
	script, ds := dsl.Parse(dsl.NewSource("example.dsl", text))
	if !ds.HasErrors() {
		_, more := c.reg.Check(script, nil)
		ds = append(ds, more...)
	}
	return ds
}

// words writes a call, and reports whether all of its values are what their own schemas
// want.
func (c *caller) words(v *verbs.Verb, set []sample, others map[string][]sample) (text string, sound bool) {
	given := map[string]sample{}
	for _, s := range set {
		given[s.arg] = s
	}
	text, sound = v.Name, true
	for i := range v.Params {
		p := &v.Params[i]
		s, ok := given[p.Name]
		for _, name := range slices.Sorted(maps.Keys(others)) {
			if j := slices.IndexFunc(others[name], func(o sample) bool { return o.arg == p.Name }); !ok && p.Required && j >= 0 {
				s, ok = others[name][j], true
			}
		}
		switch {
		case ok && s.value == nil:
		case ok:
			c.tally.examples++
			text += " :" + p.Name + " " + asWritten(p.Type, s.value)
			if why := c.against(s); why != "" {
				sound = false
				c.t.Logf("  %s :%s %s is against its own schema: %s", v.Name, p.Name, cutText(jsondoc.Text(s.value), 60), why)
			}
		case p.Required:
			c.tally.filled++
			text += " :" + p.Name + " " + p.Example()
		}
	}
	return text, sound
}

// asWritten writes a JSON value as a script has it for an argument.
func asWritten(t *verbs.Type, v any) string {
	switch v := v.(type) {
	case string:
		switch {
		case t.Name == verbs.CodeType && t.Codes.Called(v) != "":
			return t.Codes.Called(v)
		case (t.Name == verbs.BooleanType || t.Name == verbs.IntegerType || t.Name == verbs.DecimalType) && (v == "true" || v == "false" || naming.IsNumber(v)):
			return v // in a form all is text
		case t.Name == verbs.ObjectType:
			if object, err := jsondoc.Decode(v); err == nil {
				return jsondoc.Literal(object)
			}
		}
	case json.Number:
		if t.Name == verbs.StringType {
			return dsl.FormatValue(dsl.NewString(v.String()))
		}
	case bool:
		if t.Name == verbs.StringType {
			return dsl.FormatValue(dsl.NewString(strconv.FormatBool(v)))
		}
	case []any:
		if t.Name == verbs.ListType {
			parts := make([]string, len(v))
			for i := range v {
				parts[i] = asWritten(t.Item, v[i])
			}
			return "[" + strings.Join(parts, ", ") + "]"
		}
	}
	return jsondoc.Literal(v)
}

// against says why a value is against its own schema, as another reader of schemas has
// it; "" where it is not, or the schema cannot be read.
func (c *caller) against(s sample) string {
	if c.schemas == nil {
		text, err := json.Marshal(c.doc)
		if err != nil {
			c.t.Fatal(err)
		}
		c.schemas = jsonschema.NewCompiler()
		c.schemas.Draft, c.schemas.AssertFormat = jsonschema.Draft2020, true
		if err := c.schemas.AddResource("schema:///", bytes.NewReader(text)); err != nil {
			c.t.Fatal(err)
		}
	}
	schema, err := c.schemas.Compile("schema:///#" + s.schema)
	if err != nil {
		return ""
	}
	err = schema.Validate(s.value)
	if text, ok := s.value.(string); err != nil && ok { // in a form all is text
		if v, wrong := jsondoc.Decode(text); wrong == nil && schema.Validate(v) == nil {
			return ""
		}
	} else if err != nil && schema.Validate(fmt.Sprint(s.value)) == nil {
		return ""
	}
	if err != nil {
		return verbs.OneLine(err.Error())
	}
	return ""
}

func TestNamesKeepTheirLetters(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"Fällig": "fallig", "Überland-Größe": "uberland-grosse", "OrderLine": "order-line", "N° dossier": "n-dossier", "Œuvre": "oeuvre"} {
		if got := slug(name, '-'); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

// Members of a tool whose names differ in a dash alone are two, and what is proposed for them loads.
func TestNamesOfMembersAreTheirOwn(t *testing.T) {
	t.Parallel()
	found, err := FromDescription("post", "post", []byte(`{"tools":[{"name":"x","inputSchema":{"type":"object","properties":{"user-id":{"type":"string"},"user_id":{"type":"string"}}}}]}`))
	if err != nil || len(found.Files) != 1 {
		t.Fatal(err)
	}
	if r, ds := load.Sources(dsl.NewSource("post.yaml", string(found.Files[0].Text))); r == nil {
		t.Errorf("what is proposed does not load: %s", said(ds))
	}
}

func said(ds dsl.Diagnostics) string {
	var b strings.Builder
	for _, d := range ds {
		fmt.Fprintf(&b, "%s: %s | %s\n", d.Code, d.Summary, d.Label)
	}
	return b.String()
}
