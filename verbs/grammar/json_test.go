package grammar

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"verbatim/dsl"
	"verbatim/verbs"
	"verbatim/verbs/load"
)

func wide(t *testing.T) (*verbs.Registry, Vocabulary) {
	t.Helper()
	text, err := os.ReadFile("testdata/wide.yaml")
	if err != nil {
		t.Fatal(err)
	}
	reg, ds := load.Sources(dsl.NewSource("wide.yaml", string(text)))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	return reg, Vocabulary{Verbs: reg.Verbs(), Names: func(*verbs.Entity) []string { return []string{"thing-1", "thing-2"} }, Calls: 2}
}

// sentences is how many sentences are taken from each grammar.
func sentences(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(flag.Lookup("samples").Value.String())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func compile(t *testing.T, text []byte) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat = true
	if err := c.AddResource("mem:///s", strings.NewReader(string(text))); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	s, err := c.Compile("mem:///s")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return s
}

// What the grammar can say, the schema accepts, and it comes back as the same
// call, whether it is said as one document or as a tool's arguments.
func TestJSONSaysTheSameCalls(t *testing.T) {
	t.Parallel()
	reg, v := wide(t)
	text, err := JSONSchema(v)
	if err != nil {
		t.Fatal(err)
	}
	whole := compile(t, text)
	tools, err := Tools(v)
	if err != nil {
		t.Fatal(err)
	}
	g := New(v)
	r := rand.New(rand.NewPCG(7, 7))
	for range sentences(t) {
		script, ds := dsl.Parse(dsl.NewSource("model", g.Sample(r)))
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		var calls []any
		for i := range script.Calls {
			c := &script.Calls[i]
			verb := reg.Verb(c.Verb)
			args := map[string]any{}
			for j := range verb.Params {
				p := &verb.Params[j]
				args[p.Name] = nil
				for k := range c.Args {
					if c.Args[k].Key == p.Name {
						args[p.Name] = inJSON(p.Type, &c.Args[k].Value)
					}
				}
			}
			calls = append(calls, map[string]any{"verb": c.Verb, "args": args})
			for _, tool := range tools {
				if tool.Verb == verb {
					same(t, c, func() (dsl.Call, error) { return Call(v, tool.Name, asText(t, args)) })
				}
			}
		}
		doc := asText(t, map[string]any{"calls": calls})
		var instance any
		if err := decode(doc, &instance); err != nil {
			t.Fatal(err)
		}
		if err := whole.Validate(instance); err != nil {
			t.Fatalf("%#v\n%s", err, doc)
		}
		read, err := Read(v, doc)
		if err != nil {
			t.Fatal(err)
		}
		for i := range read {
			same(t, &script.Calls[i], func() (dsl.Call, error) { return read[i], nil })
		}
	}
}

func same(t *testing.T, want *dsl.Call, read func() (dsl.Call, error)) {
	t.Helper()
	got, err := read()
	if err != nil {
		t.Fatal(err)
	}
	if a, b := dsl.FormatCall(want), dsl.FormatCall(&got); a != b {
		t.Fatalf("said %s\nread %s", a, b)
	}
}

func asText(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// inJSON is a value as a model would say it.
func inJSON(t *verbs.Type, v *dsl.Value) any {
	switch v.Kind {
	case dsl.Bool:
		return v.Text == "true"
	case dsl.Integer, dsl.Decimal:
		if t != nil && t.Name == verbs.DecimalType {
			return v.Text
		}
		return json.Number(v.Text)
	case dsl.Symbol:
		return "@" + v.Text
	case dsl.Nil:
		return nil
	case dsl.List:
		items := []any{}
		for i := range v.Items() {
			var item *verbs.Type
			if t != nil {
				item = t.Item
			}
			items = append(items, inJSON(item, &v.Items()[i]))
		}
		return items
	case dsl.Map:
		m := map[string]any{}
		if t != nil && t.Name == verbs.RecordType {
			for i := range t.Fields {
				m[t.Fields[i].Name] = nil // what is left out is null
			}
		}
		for i := range v.Entries() {
			e := &v.Entries()[i]
			part := t.Field(e.Key)
			if t != nil && t.Name == verbs.MoneyType && e.Key == "amount" {
				part = t.Amount()
			}
			m[e.Key] = inJSON(part, &e.Value)
		}
		return m
	}
	return v.Text
}

// What the schema accepts, the checker accepts.
func TestWhatTheSchemaAcceptsIsAccepted(t *testing.T) {
	t.Parallel()
	reg, v := wide(t)
	tools, err := Tools(v)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(8, 8))
	schemas := map[string]*jsonschema.Schema{}
	for _, tool := range tools {
		schemas[tool.Name] = compile(t, tool.Parameters)
	}
	for range sentences(t) / len(tools) {
		for _, tool := range tools {
			var doc any
			if err := decode(string(tool.Parameters), &doc); err != nil {
				t.Fatal(err)
			}
			args := asText(t, sampleSchema(t, r, doc, doc))
			var instance any
			if err := decode(args, &instance); err != nil {
				t.Fatal(err)
			}
			if err := schemas[tool.Name].Validate(instance); err != nil {
				t.Fatalf("the sampler is wrong: %#v", err)
			}
			call, err := Call(v, tool.Name, args)
			if err != nil {
				t.Fatal(err)
			}
			text := dsl.FormatCall(&call)
			script, ds := dsl.Parse(dsl.NewSource("model", text))
			if !ds.HasErrors() {
				_, ds = reg.Check(script, nil)
			}
			if ds.HasErrors() {
				t.Fatalf("%s\n%v", text, ds)
			}
		}
	}
}

// sampleSchema makes up what a schema accepts; whole is all of it, for its references.
// What a palette's own schema accepts is not made up: null is, in its place.
func sampleSchema(t *testing.T, r *rand.Rand, whole, doc any) any {
	t.Helper()
	m := doc.(map[string]any)
	if list, ok := m["anyOf"].([]any); ok {
		return sampleSchema(t, r, whole, list[r.IntN(len(list))])
	}
	if ref, ok := m["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, "#/$defs/")
		if !strings.HasPrefix(name, "names-of-") {
			return nil
		}
		return sampleSchema(t, r, whole, whole.(map[string]any)["$defs"].(map[string]any)[name])
	}
	if list, ok := m["enum"].([]any); ok {
		return list[r.IntN(len(list))]
	}
	n := func(key string, otherwise int) int {
		if x, ok := m[key].(json.Number); ok {
			i, err := x.Int64()
			if err != nil {
				t.Fatal(err)
			}
			return int(i)
		}
		return otherwise
	}
	switch m["type"] {
	case "null":
		return nil
	case "boolean":
		return r.IntN(2) == 0
	case "integer":
		lo, hi := n("minimum", -1<<63), n("maximum", 1<<63-1)
		return json.Number(fmt.Sprint([]int{lo, hi, lo/2 + hi/2}[r.IntN(3)]))
	case "array":
		items := []any{}
		for range n("minItems", 0) + r.IntN(2) {
			items = append(items, sampleSchema(t, r, whole, m["items"]))
		}
		return items
	case "object":
		o := map[string]any{}
		for key, part := range m["properties"].(map[string]any) {
			o[key] = sampleSchema(t, r, whole, part)
		}
		return o
	}
	switch {
	case m["format"] == "uuid":
		return "123e4567-e89b-12d3-a456-426614174000"
	case m["format"] == "email":
		return "clara@example.com"
	case m["pattern"] != nil:
		n, ok := pattern(m["pattern"].(string))
		if !ok {
			t.Fatalf("no sample of %s", m["pattern"])
		}
		g := &Grammar{rules: map[string]node{}, leaf: map[string]bool{}}
		g.add(root, seq{text("a.b :x "), n}, true)
		script, ds := dsl.Parse(dsl.NewSource("sample", g.Sample(r)))
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		return script.Calls[0].Args[0].Value.Text
	}
	least, most := n("minLength", 0), n("maxLength", 10)
	return strings.Repeat("é", least+r.IntN(min(most-least, 1)+1))
}

// What a model says that is not what was asked for is an error, or a call that
// the checker refuses; never another call.
func TestAnswersThatAreNotWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	reg, v := wide(t)
	for name, answer := range map[string]string{
		"prose":           `Sure, here you go.`,
		"half":            `{"calls":[{"verb":"wide.needs","args":{"thi`,
		"more":            `{"calls":[]} {"calls":[]}`,
		"a verb in prose": `{"calls":[{"verb":"please do it","args":{}}]}`,
		"a broken key":    `{"calls":[{"verb":"wide.needs","args":{"a b":1}}]}`,
		"no text":         "{\"calls\":[{\"verb\":\"wide.needs\",\"args\":{\"thing\":\"\xff\"}}]}",
		"an exponent":     `{"calls":[{"verb":"wide.numbers","args":{"any":1e3}}]}`,
	} {
		if calls, err := Read(v, answer); err == nil {
			t.Errorf("%s: read as %v", name, calls)
		}
	}
	for name, args := range map[string]string{
		"a name in words":   `{"thing":"thing-1 please"}`,
		"an injected call":  `{"thing":"@thing-1 wide.times :day 2024-01-01"}`,
		"another kind":      `{"thing":{"a":1}}`,
		"an unknown key":    `{"thing":"@thing-1","other":true}`,
		"nothing":           `{}`,
		"nothing but blank": ` `,
	} {
		call, err := Call(v, "wide__needs", args)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		script, ds := dsl.Parse(dsl.NewSource("model", dsl.FormatCall(&call)))
		if !ds.HasErrors() {
			if len(script.Calls) != 1 {
				t.Errorf("%s became %d calls", name, len(script.Calls))
			}
			_, ds = reg.Check(script, nil)
		}
		if !ds.HasErrors() {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := Call(v, "no verb", "{}"); err == nil {
		t.Error("a tool that nobody offered")
	}
}

// Tools have names that endpoints take, and an order.
func TestToolsAreNamed(t *testing.T) {
	t.Parallel()
	_, v := wide(t)
	tools, err := Tools(v)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range tools {
		names = append(names, tool.Name)
	}
	if want := []string{"wide__needs", "wide__numbers", "wide__rest", "wide__texts", "wide__times"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}

// A program leaves out what is not required, and is not told the days of the calendar.
func TestPlainLeavesOut(t *testing.T) {
	t.Parallel()
	reg, ds := load.Dir(os.DirFS("../palettes/bank"))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	tools, err := Tools(Vocabulary{Verbs: []*verbs.Verb{reg.Verb("client.add-note")}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := tools[0].Plain()
	var schema struct {
		Required   []string
		Properties map[string]any
	}
	if err != nil || json.Unmarshal(text, &schema) != nil {
		t.Fatal(err, string(text))
	}
	if !slices.Equal(schema.Required, []string{"request-id", "note"}) || len(schema.Properties) != 3 || !strings.Contains(string(text), `"format":"date"`) || strings.Contains(string(text), "9999") {
		t.Errorf("%s", text)
	}
	if strict := string(tools[0].Parameters); !strings.Contains(strict, `"required":["request-id","note","expected-date"]`) {
		t.Errorf("the other is changed by it: %s", strict)
	}
}

// A step that is a fraction is said in words: the validators of others divide, and find that 19.99 is
// no multiple of 0.01.
func TestStepsAreNoFractions(t *testing.T) {
	t.Parallel()
	reg, ds := load.Sources(dsl.NewSource("p.yaml", `domain: lease
schemas:
  rent: {type: object, required: [amount], additionalProperties: false, properties: {amount: {type: number, multipleOf: 0.01, description: "a month's rent"}, months: {type: integer, multipleOf: 3}}}
verbs:
  - {verb: set, description: Sets it, handler: true, args: [{name: rent, type: object, schema: rent, required: true}]}
`))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	tools, err := Tools(Vocabulary{Verbs: reg.Verbs()})
	if err != nil {
		t.Fatal(err)
	}
	text := string(tools[0].Parameters)
	if strings.Contains(text, "0.01,") || strings.Contains(text, `"multipleOf":0`) || !strings.Contains(text, "a month's rent; in steps of 0.01") || !strings.Contains(text, `"multipleOf":3`) {
		t.Errorf("%s", text)
	}
	schema := compile(t, []byte(text))
	if err := schema.Validate(map[string]any{"rent": map[string]any{"amount": 19.99, "months": 6}}); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}
