package grammar_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

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
	more    func(string) bool // whether its form may allow a sentence that the grammar does not
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

// Readers of grammars by name. Each takes every sentence that our grammars say, and of sentences
// that were changed at one place the same as we do.
var readers = map[string]func(*testing.T) judge{
	"Lark": func(t *testing.T) judge { // with either of its parsers
		var why string
		for _, python := range []string{"python3", "/usr/bin/python3"} { // Debian's own has Debian's modules
			out, err := exec.Command(python, "-c", "import lark").CombinedOutput()
			if err == nil {
				return judge{form: (*grammar.Grammar).Lark, parsers: []string{"lalr", "earley"}, run: []string{python, "testdata/judge_lark.py"}}
			}
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			why = fmt.Sprintf("%s: %v %s", python, err, lines[len(lines)-1])
		}
		missing(t, "TEST_REQUIRE_LARK", "Lark is not here ("+why+"); `make lark` installs it")
		return judge{}
	},
	"llama.cpp": func(t *testing.T) judge {
		addon, err := filepath.EvalSymlinks(filepath.Join(judges(t), "llama-addon.node"))
		if err != nil {
			t.Fatal(err)
		}
		return judge{form: (*grammar.Grammar).GBNF, parsers: []string{"llama.cpp"}, run: []string{"node", "testdata/judge_llama.mjs", addon}}
	},
	"xgrammar": func(t *testing.T) judge { // G38
		return judge{form: (*grammar.Grammar).XGrammar, parsers: []string{"xgrammar"}, run: []string{"node", "testdata/judge_xgrammar.mjs", judges(t)}, more: widened}
	},
}

// widened reports whether what is written for xgrammar allows more of a sentence: other characters
// beyond ASCII, a longer text, or February 29 of 1900, which xgrammar takes by a fault of its own
// (findings/xgrammar-gbnf.sh).
func widened(sentence string) bool {
	return longTexts.MatchString(sentence) || strings.Contains(sentence, "1900-02-29") ||
		strings.ContainsFunc(sentence, func(c rune) bool { return c >= utf8.RuneSelf })
}

var longTexts = regexp.MustCompile(`"(?:[^"\\]|\\.){65,}"`)

// judges is the folder of the programs of npm that read what we write.
func judges(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("TEST_JUDGES")
	if folder == "" {
		missing(t, "TEST_REQUIRE_GBNF", "llama.cpp, xgrammar and ajv are not here; `make judges` fetches them into .cache/judges, which TEST_JUDGES names")
	}
	return folder
}

// few sentences are asked of each role of each palette.
const few = 2

func TestOthersReadItAsWeDo(t *testing.T) {
	t.Parallel()
	for name, reader := range readers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reader(t).judges(t, questions(t))
		})
	}
}

// G38: every reader takes what every shipped palette and example gives each of its roles, whether
// there are rows or none.
func TestEveryReaderTakesEveryPalette(t *testing.T) {
	t.Parallel()
	for name, reader := range readers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := reader(t)
			j.parsers = j.parsers[:1]
			var all []question
			roles, known := everyRole(t), map[string]bool{}
			for _, name := range slices.Sorted(maps.Keys(roles)) {
				if g := grammar.New(roles[name]); !known[g.GBNF()] {
					known[g.GBNF()] = true
					all = append(all, spoilt(name, g, few))
				}
			}
			j.judges(t, all)
		})
	}
}

// everyRole is what each role of each of these palettes may say, with rows of every entity and with
// none.
func everyRole(t *testing.T) map[string]grammar.Vocabulary {
	t.Helper()
	all := map[string]grammar.Vocabulary{}
	for dir, reg := range shipped(t) {
		roles := map[*verbs.Role][]*verbs.Verb{}
		for _, v := range reg.Verbs() {
			for _, role := range v.Roles {
				roles[role] = append(roles[role], v)
			}
		}
		for role, may := range roles {
			for store, names := range map[string]func(*verbs.Entity) []string{
				"empty":  func(*verbs.Entity) []string { return nil },
				"filled": session{reg: reg}.names,
			} {
				all[dir+", "+role.Name+", "+store] = grammar.Vocabulary{Verbs: may, Names: names, Calls: 3}
			}
		}
	}
	if len(all) < 40 {
		t.Errorf("only %d roles and stores", len(all))
	}
	return all
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
func (j judge) judges(t *testing.T, asked []question) {
	t.Helper()
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
				if theirs != our && !(theirs && j.more != nil && j.more(q.Sentences[k])) {
					t.Errorf("%s %s, %s: %t, and we %t: %.400q", parser, answer.Version, q.name, theirs, our, q.Sentences[k])
				}
			}
			t.Logf("%s %s, %s: a grammar of %d bytes loaded in %.0f ms, %d sentences of %d bytes read in %.0f ms",
				parser, answer.Version, q.name, len(q.Grammar), v.Loaded*1000, len(v.Accepts), len(strings.Join(q.Sentences, "")), v.Took*1000)
		}
		if q.said != few && (ours[true] == 0 || ours[false] == 0) {
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
	if sentence == "" {
		return " "
	}
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

// F16, G38: ajv in strict mode compiles every JSON Schema that we make, whole and tool by tool, for
// every role, and xgrammar makes a grammar of it. What one refuses stands in a file with the reason,
// and nothing else.
func TestOthersCompileEverySchema(t *testing.T) {
	t.Parallel()
	folder := judges(t)
	schemas := map[string]json.RawMessage{}
	add := func(name string, v grammar.Vocabulary) {
		whole, err := grammar.JSONSchema(v)
		if err != nil {
			t.Fatal(err)
		}
		schemas[name+" whole"] = whole
		tools, err := grammar.Tools(v)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range tools {
			schemas[name+" "+tool.Name] = tool.Parameters
			if strict, ok := tool.Strict(); ok {
				schemas[name+" "+tool.Name+", strict"] = strict
			}
			if plain, err := tool.Plain(); err == nil {
				schemas[name+" "+tool.Name+", plain"] = plain
			}
		}
	}
	for name, v := range everyRole(t) {
		add(name, v)
	}
	for dir, reg := range shipped(t) {
		add(dir+", any name", grammar.Vocabulary{Verbs: reg.Verbs()})
		if dir != "testdata" { // what is refused of it is refused of any name
			add(dir+", for a prompt", grammar.Vocabulary{Verbs: reg.Verbs(), Brief: true})
		}
	}
	once := map[string]string{} // the same schema is asked once
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		if text := string(schemas[name]); once[text] == "" {
			once[text] = name
		} else {
			delete(schemas, name)
		}
	}
	if len(schemas) < 300 {
		t.Errorf("only %d schemas", len(schemas))
	}
	known := map[string]bool{}
	text, err := os.ReadFile("testdata/schemas_refused.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if name, _, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); ok && !strings.HasPrefix(line, "#") {
			known[name] = true
		}
	}
	for reader, script := range map[string]string{"ajv": "testdata/judge_ajv.mjs", "xgrammar": "testdata/judge_xgrammar.mjs"} {
		text, err := json.Marshal(map[string]any{"schemas": schemas})
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("node", script, folder)
		var stderr bytes.Buffer
		cmd.Stdin, cmd.Stderr = bytes.NewReader(text), &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", reader, err, &stderr)
		}
		var said struct {
			Version string
			Refused map[string]string
		}
		if err := json.Unmarshal(out, &said); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		t.Logf("%s %s: %d schemas, %d refused", reader, said.Version, len(schemas), len(said.Refused))
		for name, why := range said.Refused {
			if !known[reader+" "+name] {
				t.Errorf("%s %s: %s\n%.1500s", reader, name, why, schemas[name])
			}
		}
		for name := range known {
			if of, is := strings.CutPrefix(name, reader+" "); is && said.Refused[of] == "" {
				t.Errorf("%s is compiled now: take it out of schemas_refused.txt", name)
			}
		}
	}
}
