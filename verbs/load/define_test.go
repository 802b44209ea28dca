package load

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
	"gopkg.in/yaml.v3"

	"verbatim/dsl"
	"verbatim/verbs"
	"verbatim/verbs/verbstest"
)

// U21: the schema that ships is the one that the definitions make.
func TestPaletteSchemaIsUpToDate(t *testing.T) {
	t.Parallel()
	for file, got := range map[string][]byte{"../palette.schema.json": PaletteSchema(), "../sidecar.schema.json": SidecarSchema()} {
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what the definitions make; go test -update writes it", file)
		}
	}
}

// U21: each key has a title, a description and an example, and no object is
// described by alternatives, on which editors complain twice.
func TestPaletteSchemaExplainsEveryKey(t *testing.T) {
	t.Parallel()
	var root, beside map[string]any
	if err := json.Unmarshal(PaletteSchema(), &root); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(SidecarSchema(), &beside); err != nil {
		t.Fatal(err)
	}
	keys := 0
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, word := range []string{"anyOf", "oneOf", "$ref", "if"} {
				if _, ok := v[word]; ok {
					t.Errorf("%s has %s", at, word)
				}
			}
			if properties, ok := v["properties"].(map[string]any); ok {
				if v["additionalProperties"] != false {
					t.Errorf("%s accepts unknown keys", at)
				}
				for name, p := range properties {
					keys++
					p := p.(map[string]any)
					for _, word := range []string{"title", "description"} {
						if s, _ := p[word].(string); s == "" {
							t.Errorf("%s.%s has no %s", at, name, word)
						}
					}
					if e, _ := p["examples"].([]any); len(e) == 0 {
						t.Errorf("%s.%s has no example", at, name)
					}
				}
			}
			for k, inner := range v {
				if k != "examples" {
					walk(at+"/"+k, inner)
				}
			}
		case []any:
			for _, inner := range v {
				walk(at+"[]", inner)
			}
		}
	}
	walk("", root)
	walk("beside", beside)
	if keys < 90 {
		t.Errorf("only %d keys", keys)
	}
}

// The examples in the table are YAML that the key accepts.
func TestExamplesOfKeysHaveTheirShape(t *testing.T) {
	t.Parallel()
	for _, sh := range shapes() {
		for i := range sh.keys {
			k := &sh.keys[i]
			var n yaml.Node
			if err := yaml.Unmarshal([]byte("x: "+k.example), &n); err != nil {
				t.Errorf("%s: %s: %v", sh.name, k.name, err)
				continue
			}
			d := &doc{src: dsl.NewSource("example.yaml", "x: "+k.example)}
			d.index()
			pair := n.Content[0].Content
			if !d.holds(pair[0], pair[1], k) || len(d.diags) > 0 {
				t.Errorf("%s: the example of %s is %s", sh.name, k.name, k.example)
			}
		}
	}
}

func compiledSchema(t *testing.T, text []byte) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	if err := c.AddResource("any.schema.json", bytes.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("any.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func asJSON(t *testing.T, text []byte) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return plain(v)
}

// plain makes of a YAML value what JSON would have: editors do the same.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = plain(v[k])
		}
		return v
	case map[any]any:
		m := map[string]any{}
		for k, inner := range v {
			s, _ := k.(string)
			m[s] = plain(inner)
		}
		return m
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
		return v
	case nil, string, bool, int, float64:
		return v
	}
	return "text" // a date
}

// U21: what loads, the schema accepts; a key with a typo it does not.
func TestPaletteSchemaAgreesWithLoad(t *testing.T) {
	t.Parallel()
	s := compiledSchema(t, PaletteSchema())
	good := map[string][]byte{"generated": verbstest.Palette(16), "expressions": []byte(exprPalette)}
	for _, pattern := range []string{"../palettes/bank/client.yaml", "../palettes/bank/onboarding.yaml", "../testdata/printed/*.yaml", "../testdata/codes/*.yaml", "../../runtime/engine/testdata/palettes/*.yaml"} {
		files, _ := filepath.Glob(pattern)
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			good[f] = text
		}
	}
	for _, doc := range loadCodes() {
		good["the right example of "+doc.Code] = []byte(doc.Right)
	}
	for name, text := range good {
		if err := s.Validate(asJSON(t, text)); err != nil {
			t.Errorf("%s: %#v", name, err)
		}
	}
	beside := compiledSchema(t, SidecarSchema())
	files, _ := filepath.Glob("../palettes/bank/*.??.yaml")
	for _, f := range files {
		text, _ := os.ReadFile(f)
		if err := beside.Validate(asJSON(t, text)); err != nil {
			t.Errorf("%s: %#v", f, err)
		}
		if beside.Validate(asJSON(t, bytes.Replace(text, []byte("says:"), []byte("say:"), 1))) == nil {
			t.Errorf("%s: a misspelt key is accepted", f)
		}
	}
	if len(files) != 9 {
		t.Errorf("beside the palettes stand %q", files)
	}
	own := regexp.MustCompile(`roles: +(\{|describe\()`) // a field of the bank's, and no word of ours
	typos := strings.NewReplacer("roles:", "rolls:", "required:", "requird:", "table:", "tabel:", "set:", "sett:", "where:", "were:", "values:", "valus:", "columns:", "colums:")
	text, _ := os.ReadFile("../palettes/bank/onboarding.yaml")
	verbs, _ := os.ReadFile("../palettes/bank/client.yaml")
	// What stands in a JSON Schema is no word of ours.
	before, rest, _ := strings.Cut(string(text), "\nschemas:\n")
	_, after, _ := strings.Cut(rest, "\nentities:\n")
	_, said, _ := strings.Cut(string(verbs), "\nverbs:\n")
	text = []byte(before + "\nentities:\n" + after + "\nverbs:\n" + said)
	text = regexp.MustCompile(`, schema: [a-z-]+\}`).ReplaceAll(text, []byte("}"))
	for _, line := range strings.Split(string(text), "\n") {
		if bad := typos.Replace(line); bad != line && !strings.HasPrefix(strings.TrimSpace(line), "#") && !own.MatchString(line) && !strings.Contains(line, `"`) {
			if err := s.Validate(asJSON(t, []byte(strings.Replace(string(text), line, bad, 1)))); err == nil {
				t.Errorf("%s is accepted", strings.TrimSpace(bad))
			}
		}
	}
}

// Every key that the decoder asks for stands in keys.txt, and it asks for every key
// that stands there.
func TestDecoderAsksForTheKeysThatThereAre(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, sh := range shapes() {
		if sh.name == "" || sh.doc == "" || len(sh.keys) == 0 {
			t.Errorf("shape %q is named and not described", sh.name)
		}
		for _, k := range sh.keys {
			if _, ok := forms[k.holds]; !ok {
				t.Errorf("%s of %s holds %q", k.name, sh.name, k.holds)
			}
			known[k.name] = true
		}
	}
	asked := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || file == "keys.go" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\.(?:at|text|boolean)\("([a-z-]+)"\)`).FindAllSubmatch(text, -1) {
			if !known[string(m[1])] {
				t.Errorf("%s asks for %s, and no shape has such a key", file, m[1])
			}
		}
		for _, m := range regexp.MustCompile(`"([a-z-]+)"`).FindAllSubmatch(text, -1) {
			asked[string(m[1])] = true
		}
	}
	for _, w := range verbs.EffectWords {
		asked[w.Name] = true
	}
	for _, word := range verbs.TotalWords {
		asked[word] = true
	}
	for name := range known {
		if !asked[name] {
			t.Errorf("nothing asks for %s", name)
		}
	}
}
