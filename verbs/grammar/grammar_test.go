package grammar_test

import (
	"flag"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/verbs"
	"verbatim/verbs/grammar"
	loading "verbatim/verbs/load"
)

var (
	samples = flag.Int("samples", 300, "sentences to take from each grammar")
	update  = flag.Bool("update", false, "write the golden files anew")
)

// The wide palette, and all that are shipped. bank is the portal with what its analysts
// have beside it.
var palettes = map[string]string{
	"wide": "testdata/wide.yaml", "bank": "../palettes/bank/client.yaml ../palettes/bank/onboarding.yaml ../palettes/bank/review.yaml",
	"retail": "../../examples/retail/verbs/retail.yaml", "helpdesk": "../../examples/helpdesk/verbs/desk.yaml",
	"workshop": "../../examples/workshop/verbs/workshop.yaml", "system": "../../runtime/domains/rights/system.yaml",
	"apart": "../../runtime/engine/testdata/apart/bank.yaml ../../runtime/engine/testdata/apart/club.yaml",
}

// What these palettes leave open: values of any type, and objects that a condition of
// their schema is about.
var looseOf = map[string][]string{
	"bank":   {"client.add-note :expected-date", "client.collection-response :value", "client.correct-info :collected-data", "client.name-repayment-account :iban", "client.provide-info :collected-data"},
	"system": {"system.add-identity :issuer", "system.add-token :audience", "system.allow :until"},
}

func load(t testing.TB, name string) *verbs.Registry {
	t.Helper()
	var sources []*dsl.Source
	for _, path := range strings.Fields(palettes[name]) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, dsl.NewSource(path, string(text)))
	}
	reg, ds := loading.Sources(sources...)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	return reg
}

// A session that has a name for two rows of every entity but those it should
// lack.
type session struct {
	reg   *verbs.Registry
	lacks string
}

func (s session) names(e *verbs.Entity) (out []string) {
	for _, known := range s.reg.Entities() {
		if (e == nil || e == known) && known.Store.Name != s.lacks {
			name := strings.ReplaceAll(known.Store.Name, ".", "-")
			out = append(out, name+"-1", name+"-zweite")
		}
	}
	return out
}

func (s session) Lookup(name string) *verbs.Entity {
	for _, e := range s.reg.Entities() {
		if slices.Contains(s.names(e), name) {
			return e
		}
	}
	return nil
}

func (s session) Nearby(string) []string { return nil }

func vocabulary(s session) grammar.Vocabulary {
	return grammar.Vocabulary{Verbs: s.reg.Verbs(), Names: s.names, Calls: 3}
}

// A model that is held to the grammar cannot say anything that the checker would
// refuse: sentences of every palette parse and check, all of them, and are in
// the one spelling of the language.
func TestWhatAGrammarAllowsIsAccepted(t *testing.T) {
	t.Parallel()
	for name := range palettes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := session{reg: load(t, name)}
			g := grammar.New(vocabulary(s))
			if loose := g.Loose(); !slices.Equal(loose, looseOf[name]) {
				t.Errorf("the grammar is loose for %q, want %q", loose, looseOf[name])
			}
			r := rand.New(rand.NewPCG(4711, uint64(len(name))))
			said := map[string]bool{}
			for range max(*samples, 3_000) {
				text := g.Sample(r)
				script, ds := dsl.Parse(dsl.NewSource("model", text))
				if ds.HasErrors() {
					t.Fatalf("%s\n%v", text, ds)
				}
				// No grammar counts check digits, nor does it know a field that another one requires: that is
				// all that may be wrong, and only where it says so.
				loose := func(name string) bool {
					return slices.ContainsFunc(g.Loose(), func(arg string) bool { return strings.HasSuffix(arg, name) })
				}
				_, ds = s.reg.Check(script, s)
				for _, d := range ds {
					if d.Severity == dsl.Error && !(d.Code == "invalid-iban" && loose(":iban")) && !(d.Code == "schema-mismatch" && strings.Contains(d.Summary, "is missing :") && loose(":collected-data")) {
						t.Fatalf("%s\n%v", text, ds)
					}
				}
				for _, c := range script.Calls {
					said[c.Verb] = true
				}
				for i := range script.Calls {
					line := strings.Split(text, "\n")[i]
					if again := dsl.FormatCall(&script.Calls[i]); again != line {
						t.Fatalf("not the one spelling:\n%s\n%s", line, again)
					}
				}
				if !g.Accepts(text) {
					t.Fatalf("the grammar does not accept what it said: %s", text)
				}
			}
			for _, v := range s.reg.Verbs() {
				if said[v.Name] == v.Internal {
					t.Errorf("that %s was said is %t", v.Name, said[v.Name])
				}
			}
		})
	}
}

var long = strings.Repeat("x", 1250)

// maySay is what people say of the wide palette, and whether they may.
var maySay = []struct {
	text string
	ok   bool
}{
	{`wide.texts :plain ""`, true},
	{`wide.texts :plain "Zürich \"早\" \\ \n"`, true},
	{`wide.texts :plain "x" :short "äöü"`, true},
	{`wide.texts :plain "x" :short ""`, false},
	{`wide.texts :plain "x" :short "abcd"`, false},
	{`wide.texts :plain "x" :long "` + long + `"`, true},
	{`wide.texts :plain "x" :long "` + long + `x"`, false},
	{`wide.texts :plain "x" :exact "` + long[:600] + `"`, true},
	{`wide.texts :plain "x" :exact "` + long[:599] + `"`, false},
	{`wide.texts :plain "x" :shaped "DE89 3704 0044 05"`, true},
	{`wide.texts :plain "x" :shaped "de89 3704 0044 05"`, false},
	{`wide.texts :plain "x" :quoted "A\"b\\\ncdÉ"`, true},
	{`wide.texts :plain "x" :mail "clara.b@example.com"`, true},
	{`wide.numbers :any -9223372036854775808 :paid {:amount 0 :currency CHF}`, true},
	{`wide.numbers :any 9223372036854775808 :paid {:amount 0 :currency CHF}`, false},
	{`wide.numbers :any 0 :paid {:amount 12.50 :currency USD}`, false},
	{`wide.numbers :any 0 :price 1000000.00 :paid {:amount -3.5 :currency EUR}`, true},
	{`wide.numbers :any 0 :price 1000000.01 :paid {:amount 1 :currency EUR}`, false},
	{`wide.numbers :any 0 :price 12.345 :paid {:amount 1 :currency EUR}`, false},
	{`wide.numbers :any 0 :rate -0.125 :paid {:amount 1 :currency EUR}`, true},
	{`wide.numbers :any 0 :rate -0.1250001 :paid {:amount 1 :currency EUR}`, false},
	{`wide.numbers :any 0 :rate 0.75000 :paid {:amount 1 :currency EUR}`, true},
	{`wide.numbers :any 0 :rate 0.7500001 :paid {:amount 1 :currency EUR}`, false},
	{`wide.numbers :any 0 :narrow 1.05 :paid {:amount 1 :currency EUR}`, true},
	{`wide.numbers :any 0 :narrow 1.049 :paid {:amount 1 :currency EUR}`, false},
	{`wide.numbers :any 0 :narrow 1.20 :paid {:amount 1 :currency EUR}`, true},
	{`wide.numbers :any 0 :narrow 1.201 :paid {:amount 1 :currency EUR}`, false},
	{`wide.numbers :any 0 :debt -2.4 :paid {:amount 1 :currency EUR}`, false},
	{`wide.numbers :any 0 :debt -30 :paid {:amount 1 :currency EUR}`, true},
	{`wide.numbers :any 0 :whole 2 :paid {:amount 1 :currency EUR}`, false},
	{`wide.numbers :any 0 :whole 4 :paid {:amount 1 :currency EUR}`, true},
	{`wide.times :day 2024-02-29`, true},
	{`wide.times :day 2023-02-29`, false},
	{`wide.times :day 1900-02-29`, false},
	{`wide.times :day 2000-02-29`, true},
	{`wide.times :day 0001-01-01`, true},
	{`wide.times :day 2024-01-01 :soon 2023-11-16`, false},
	{`wide.times :day 2024-01-01 :soon 2023-11-17`, true},
	{`wide.times :day 2024-01-01 :soon 2024-02-29`, true},
	{`wide.times :day 2024-01-01 :soon 2025-03-02`, true},
	{`wide.times :day 2024-01-01 :soon 2025-03-03`, false},
	{`wide.times :day 2024-01-01 :century 1900-02-29`, false},
	{`wide.times :day 2024-01-01 :century 1904-02-29`, true},
	{`wide.times :day 2024-01-01 :century 2100-12-31`, true},
	{`wide.times :day 2024-01-01 :at 2025-01-03T23:59:59.000001+01:00 :for "1d12h"`, true},
	{`wide.rest :colour DARK_BLUE :colours [RED RED] :notes []`, true},
	{`wide.rest :colour YELLOW`, false},
	{`wide.rest :colour RED :colours [RED]`, false},
	{`wide.rest :colour RED :thing @thing-1`, true},
	{`wide.rest :colour RED :thing @thing-3`, false},
	{`wide.rest :colour RED :address {:country "AT" :rooms 12 :street "x" :zip "1010"}`, true},
	{`wide.rest :colour RED :address {:country "AT" :rooms 13 :street "x"}`, false},
	{`wide.rest :colour RED :address {:street "x"}`, false},
	{`wide.rest :colour RED :optional {}`, true},
	{`wide.rest :colour RED :optional {:b nil :d {:x 0}}`, true},
	{`wide.rest :colour RED :other 1`, false},
	{`wide.unknown`, false},
	{``, false},
	{"wide.times :day 2024-01-01\nwide.times :day 2024-01-01\nwide.times :day 2024-01-01", true},
	{"wide.times :day 2024-01-01\nwide.times :day 2024-01-01\nwide.times :day 2024-01-01\nwide.times :day 2024-01-01", false},
}

// What may be said, the grammar allows: calls of people, in their one spelling,
// with the values at the edge of every limit; and it does not allow what the
// checker would refuse.
func TestWhatMayBeSaidIsAllowed(t *testing.T) {
	t.Parallel()
	s := session{reg: load(t, "wide")}
	g := grammar.New(vocabulary(s))
	for _, c := range maySay {
		if got := g.Accepts(c.text); got != c.ok {
			t.Errorf("allowed: %v, want %v: %.120s", got, c.ok, c.text)
		}
		if c.text == "" || strings.Count(c.text, "\n") > 2 {
			continue
		}
		script, ds := dsl.Parse(dsl.NewSource("person", c.text))
		if !ds.HasErrors() {
			_, ds = s.reg.Check(script, s)
		}
		if ds.HasErrors() == c.ok {
			t.Errorf("the checker takes another view of it: %.120s: %v", c.text, ds)
		}
	}
}

// Nobody is offered what they may not use, or a verb that speaks of rows for
// which there is no name.
func TestWhatCannotBeSaidIsLeftOut(t *testing.T) {
	t.Parallel()
	s := session{reg: load(t, "wide"), lacks: "thing"}
	v := vocabulary(s)
	for _, text := range []string{grammar.New(v).GBNF(), grammar.New(v).Lark()} {
		if strings.Contains(text, "wide.needs") || strings.Contains(text, ":thing") {
			t.Error("a thing without a name can be spoken of")
		}
		if !strings.Contains(text, "wide.rest") {
			t.Error("a verb that can do without is gone")
		}
	}
	v.Verbs = []*verbs.Verb{s.reg.Verb("wide.needs")}
	g := grammar.New(v)
	if !g.Accepts("") || g.Accepts("wide.needs :thing @thing-1") {
		t.Errorf("with nothing to say: %s", g.GBNF())
	}
	v.Verbs = []*verbs.Verb{s.reg.Verb("wide.times")}
	if text := grammar.New(v).GBNF(); strings.Contains(text, "wide.rest") {
		t.Error("a verb that is not permitted can be said")
	}
}

// Limits that cannot be said are told, not silently dropped.
func TestLooseLimitsAreTold(t *testing.T) {
	t.Parallel()
	const palette = `
domain: loose
description: Limits beyond grammars.
roles: [{name: tester, description: may say all of it}]
verbs:
  - verb: said
    description: Something.
    roles: [tester]
    phrases: ["say {a}"]
    handler: true
    args:
      - {name: a, type: string, pattern: "(ab|c)+", max-length: 5}
      - {name: b, type: string, pattern: "x\\by"}
      - {name: c, type: duration, max: "3d"}
      - {name: d, type: object, schema: {type: object, minProperties: 1}}
      - {name: e, type: string, max-length: 5}
      - {name: f, type: string, pattern: "x[a-z]*-?y", min-length: 3, max-length: 5}
      - {name: g, type: string, pattern: "[A-Z][a-z]+", min-length: 3, max-length: 5}
`
	reg, ds := loading.Sources(dsl.NewSource("loose.yaml", palette))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	g := grammar.New(grammar.Vocabulary{Verbs: reg.Verbs()})
	if got, want := g.Loose(), []string{"loose.said :a", "loose.said :b", "loose.said :c", "loose.said :d", "loose.said :f"}; !slices.Equal(got, want) {
		t.Errorf("loose for %q, want %q", got, want)
	}
	// A pattern of one part that repeats is held to a length.
	for text, want := range map[string]bool{"Ab": false, "Abc": true, "Abcde": true, "Abcdef": false, "abc": false} {
		if got := g.Accepts(`loose.said :g "` + text + `"`); got != want {
			t.Errorf("that %q is allowed is %t", text, got)
		}
	}
}

func TestGrammarsAreWrittenAsEver(t *testing.T) {
	t.Parallel()
	g := grammar.New(vocabulary(session{reg: load(t, "wide")}))
	for name, text := range map[string]string{"testdata/wide.gbnf": g.GBNF(), "testdata/wide.lark": g.Lark()} {
		if *update {
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if text != string(want) {
			t.Errorf("%s is not what is written now; look at it, then run go test ./verbs/grammar -update", name)
		}
	}
}

func BenchmarkNew(b *testing.B) {
	v := vocabulary(session{reg: load(b, "bank")})
	b.ReportAllocs()
	for b.Loop() {
		if grammar.New(v).GBNF() == "" {
			b.Fatal("empty")
		}
	}
}
