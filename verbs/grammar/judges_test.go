package grammar_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/verbs"
	"verbatim/verbs/grammar"
	loading "verbatim/verbs/load"
)

// A judge is a program that is not ours and reads grammars in one of our forms.
type judge struct {
	form    func(*grammar.Grammar) string
	parsers []string // the ways it has of reading a sentence
	run     []string
}

// A question is one grammar, in somebody else's form, and sentences that are in
// it or not.
type question struct {
	Grammar   string   `json:"grammar"`
	Parsers   []string `json:"parsers"`
	Sentences []string `json:"sentences"`

	name string
	g    *grammar.Grammar
	said int // that many of the sentences are the grammar's own
}

// A verdict is what a judge says of one question.
type verdict struct {
	Loaded, Took float64 // seconds
	Error        string
	Accepts      []bool
}

// Lark reads what is written for Lark: with either of its parsers, whoever asks
// it takes every sentence that our grammars say, and of sentences that somebody
// spoilt the same as we do.
func TestLarkReadsItAsWeDo(t *testing.T) {
	t.Parallel()
	var why string
	for _, python := range []string{"python3", "/usr/bin/python3"} { // Debian's own has Debian's modules
		out, err := exec.Command(python, "-c", "import lark").CombinedOutput()
		if err == nil {
			judge{(*grammar.Grammar).Lark, []string{"lalr", "earley"}, []string{python, "testdata/judge_lark.py"}}.judges(t)
			return
		}
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		why = fmt.Sprintf("%s: %v %s", python, err, lines[len(lines)-1])
	}
	missing(t, "VERBATIM_REQUIRE_LARK", "Lark is not here ("+why+"); `make lark` installs it")
}

// llama.cpp reads what is written as GBNF, and takes the same sentences.
func TestLlamaReadsItAsWeDo(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("VERBATIM_JUDGES")
	if folder == "" {
		missing(t, "VERBATIM_REQUIRE_GBNF", "llama.cpp's reader of grammars is not here; `make judges` fetches it into .cache/judges, which VERBATIM_JUDGES names")
	}
	addon, err := filepath.EvalSymlinks(filepath.Join(folder, "llama-addon.node"))
	if err != nil {
		t.Fatal(err)
	}
	judge{(*grammar.Grammar).GBNF, []string{"llama.cpp"}, []string{"node", "testdata/judge_llama.mjs", addon}}.judges(t)
}

func missing(t *testing.T, required, why string) {
	t.Helper()
	if os.Getenv(required) == "1" {
		t.Fatal(why)
	}
	fmt.Fprintln(os.Stderr, "SKIPPED, NOT TESTED:", t.Name(), why)
	t.Skip("SKIPPED, NOT TESTED: " + why)
}

// judges asks everything in one process.
func (j judge) judges(t *testing.T) {
	t.Helper()
	asked := questions(t)
	for i := range asked {
		asked[i].Grammar, asked[i].Parsers = j.form(asked[i].g), j.parsers
	}
	in, err := json.Marshal(map[string]any{"grammars": asked})
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := exec.Command(j.run[0], j.run[1:]...)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", j.run, err, &stderr)
	}
	var answer struct {
		Version  string
		Verdicts []map[string]verdict
	}
	if err := json.Unmarshal(out, &answer); err != nil || len(answer.Verdicts) != len(asked) {
		t.Fatalf("%v, %d answers to %d questions: %.500s", err, len(answer.Verdicts), len(asked), out)
	}
	for i, q := range asked {
		ours := map[bool]int{}
		for _, parser := range j.parsers {
			v := answer.Verdicts[i][parser]
			if v.Error != "" || len(v.Accepts) != len(q.Sentences) {
				t.Errorf("%s %s does not read the grammar of %s: %s\n%s\n%.2000s", parser, answer.Version, q.name, v.Error, &stderr, q.Grammar)
				continue
			}
			for k, theirs := range v.Accepts {
				our := k < q.said || q.g.Accepts(q.Sentences[k])
				ours[our]++
				if theirs != our {
					t.Errorf("%s %s, %s: %t, and we %t: %.400q", parser, answer.Version, q.name, theirs, our, q.Sentences[k])
				}
			}
			t.Logf("%s %s, %s: a grammar of %d bytes loaded in %.0f ms, %d sentences of %d bytes read in %.0f ms",
				parser, answer.Version, q.name, len(q.Grammar), v.Loaded*1000, len(v.Accepts), len(strings.Join(q.Sentences, "")), v.Took*1000)
		}
		if ours[true] == 0 || ours[false] == 0 {
			t.Errorf("of %s everything or nothing was accepted: %v", q.name, ours)
		}
	}
}

// questions are put to every judge: each palette with names that begin alike,
// with sentences that its grammar says and the same when somebody spoilt them;
// what people say of the wide palette; and what a palette can have at its edges.
func questions(t *testing.T) []question {
	t.Helper()
	each := *samples / 20 // sentences of each, to be quick: the parsers of others are slow
	var all []question
	for _, name := range []string{"wide", "retail", "bank", "helpdesk"} {
		s := session{reg: load(t, name)}
		v := vocabulary(s)
		v.Names = func(e *verbs.Entity) (names []string) {
			for _, n := range s.names(e) {
				names = append(names, n, n+"0", n+"-sow")
			}
			return names
		}
		all = append(all, spoilt(name, grammar.New(v), each))
	}
	for _, c := range maySay {
		all[0].Sentences = append(all[0].Sentences, c.text)
	}
	reg, ds := loading.Sources(dsl.NewSource("edges.yaml", edges))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	all = append(all, spoilt("edges", grammar.New(grammar.Vocabulary{Verbs: reg.Verbs()}), each))
	return append(all, question{name: "nothing", g: grammar.New(grammar.Vocabulary{}), Sentences: []string{"", " ", "wide.unknown"}})
}

// spoilt asks of sentences of a grammar, and of each with something changed.
func spoilt(name string, g *grammar.Grammar, n int) question {
	q := question{name: name, g: g, said: n}
	r := rand.New(rand.NewPCG(2026, uint64(len(name))))
	for range n {
		q.Sentences = append(q.Sentences, g.Sample(r))
	}
	for i := range n {
		q.Sentences = append(q.Sentences, spoil(r, q.Sentences[i], q.Sentences[(i+1)%n]))
	}
	return q
}

// spoil changes a sentence at one place, or ends it as another one ends.
func spoil(r *rand.Rand, sentence, other string) string {
	was, odd := []rune(sentence), []rune("\"\\ :@{}[]-.0129TZ+aAzé\n\u202e\U0001F600")
	at := r.IntN(len(was))
	end := min(len(was), at+1+r.IntN(8))
	strange := odd[r.IntN(len(odd))]
	switch r.IntN(6) {
	case 0: // leave some out
		return string(was[:at]) + string(was[end:])
	case 1: // say some twice
		return string(was[:end]) + string(was[at:])
	case 2: // one too many
		return string(was[:at]) + string(strange) + string(was[at:])
	case 3: // one for another
		return string(was[:at]) + string(strange) + string(was[at+1:])
	case 4: // stop
		return string(was[:at])
	}
	rest := []rune(other)
	return string(was[:at]) + string(rest[min(at, len(rest)):])
}

// edges has what a form may spell in another way than the next: twelve arguments
// that may be left out, texts with marks and characters of every length, constants
// that are no letters, counts of many and of none, and values that begin alike.
const edges = `
domain: edges
description: What is spelt differently from form to form.
roles: [{name: tester, description: may say all of it}]
codes:
  - name: word
    description: Words that begin alike.
    values: [A, AB, A_B, ABC]
verbs:
  - verb: many
    description: Twelve that may be left out.
    roles: [tester]
    phrases: ["many"]
    handler: true
    args:
      - {name: a, type: code, ref-type: word}
      - {name: b, type: integer, min: 0, max: 7}
      - {name: c, type: boolean}
      - {name: d, type: string, min-length: 500, max-length: 501}
      - {name: e, type: string, max-length: 1200}
      - {name: f, type: decimal, scale: 0}
      - {name: g, type: list, of: {type: code, ref-type: word}, min-length: 2, max-length: 60}
      - {name: h, type: list, of: {type: integer}, min-length: 3}
      - {name: i, type: string, pattern: "[\\x{1F600}-\\x{1F64F}/^\\]-]{2,4}é?"}
      - {name: j, type: list, of: {type: boolean}}
      - {name: k, type: duration}
      - {name: l, type: string, pattern: "(ab|a)?c{0}(b/c|\\\\\\$)*"}
  - verb: many-more
    description: Its name begins with that of another.
    roles: [tester]
    phrases: ["more"]
    handler: true
    args:
      - name: said
        type: object
        schema:
          type: object
          required: [kind]
          additionalProperties: false
          properties:
            kind: {enum: ["a/b", "\"quoted\"", "é😀", "\t", "a\\b", "\u200f", ""]}
            some: {type: [integer, number, "null"], minimum: -1, maximum: 1000}
            more: {type: array, minItems: 0, maxItems: 3, items: {anyOf: [{type: boolean}, {const: 7}, {type: string, maxLength: 2}]}}
            none: {type: array, maxItems: 0, items: {type: string}}
`

// F16: ajv, with its defaults, compiles every JSON Schema that we make, whole and
// tool by tool. What it refuses stands in a file with the reason, and nothing else.
func TestAjvCompilesEverySchema(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("VERBATIM_JUDGES")
	if folder == "" {
		missing(t, "VERBATIM_REQUIRE_AJV", "ajv is not here; `make judges` fetches it into .cache/judges, which VERBATIM_JUDGES names")
	}
	schemas := map[string]json.RawMessage{}
	for _, dir := range []string{"../palettes/bank", "../../examples/retail/verbs", "../../examples/helpdesk/verbs", "../../examples/workshop/verbs", "../../runtime/domains/rights", "testdata"} {
		reg, ds := loading.Dir(os.DirFS(dir))
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		v := grammar.Vocabulary{Verbs: reg.Verbs(), Names: func(*verbs.Entity) []string { return []string{"one", "two"} }, Calls: 2}
		for _, names := range []string{"named", "any name"} {
			if names == "any name" {
				v.Names = nil
			}
			whole, err := grammar.JSONSchema(v)
			if err != nil {
				t.Fatal(err)
			}
			schemas[dir+" whole, "+names] = whole
			tools, err := grammar.Tools(v)
			if err != nil {
				t.Fatal(err)
			}
			for _, tool := range tools {
				schemas[tool.Name+", "+names] = tool.Parameters
				if strict, ok := tool.Strict(); ok {
					schemas[tool.Name+", strict, "+names] = strict
				}
			}
		}
	}
	text, err := json.Marshal(schemas)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "testdata/judge_ajv.mjs", folder)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(text), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var said struct {
		Version string
		Refused map[string]string
	}
	if err := json.Unmarshal(out, &said); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Logf("ajv %s: %d schemas, %d refused", said.Version, len(schemas), len(said.Refused))
	if len(schemas) < 150 {
		t.Errorf("only %d schemas", len(schemas))
	}
	known, err := os.ReadFile("testdata/ajv_refuses.txt")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for line := range strings.Lines(string(known)) {
		if name, _, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); ok && !strings.HasPrefix(line, "#") {
			listed[name] = true
		}
	}
	for name, why := range said.Refused {
		if !listed[name] {
			t.Errorf("%s: %s", name, why)
		}
	}
	for name := range listed {
		if said.Refused[name] == "" {
			t.Errorf("%s is compiled now: take it out of ajv_refuses.txt", name)
		}
	}
}
