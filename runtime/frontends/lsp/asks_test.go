package lsp

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/verbs/load"
	"verbatim/verbs/verbstest"
)

// OB12, U13: what could stand at a position is offered, in scripts and in palettes.
func TestCompletion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, marked, want string }{
		{"a.dsl", "|", "shop.add-order shop.list-orders"},
		{"a.dsl", "shop.li|", "shop.add-order shop.list-orders"},
		{"a.dsl", "shop.add-order |", ":size :due-date :note"},
		{"a.dsl", "shop.add-order :size SMALL :d|", ":due-date :note"},
		{"a.dsl", "(shop.add-order :size LARGE\n  :|\n", ":due-date :note"},
		{"a.dsl", "shop.add-order :size |\nshop.list-orders\n", "SMALL LARGE"},
		{"a.dsl", "shop.add-order :size SMALL :as @one\nshop.add-order :note @|\n", "one"},
		{"verbs/shop.yaml", strings.Replace(shop, "ref-type: size, required: true}", "ref-type: |}", 1), "size"},
		{"verbs/shop.yaml", strings.Replace(shop, "roles: [clerk]", "roles: [|]", 1), "clerk"},
		{"verbs/shop.yaml", strings.Replace(shop, "entity: order", "entity: |", 1), "order"},
		{"verbs/shop.yaml", strings.Replace(shop, "creates: order", "creates: order\n        wh|", 1), "where"},
		{"verbs/shop.yaml", strings.Replace(shop, "note: note\n", "note: no|\n", 1), "note"},
		{"verbs/shop.yaml", strings.Replace(shop, "row.size == size", "row.size == L|", 1), "SMALL LARGE"},
		{"verbs/shop.yaml", strings.Replace(shop, "row.size == size", "row.| == size", 1), "due_date"},
		{"verbs/shop.yaml", strings.Replace(shop, "type: date}\n      - {name: note", "type: dat|}\n      - {name: note", 1), "datetime"},
	} {
		e := start(t, "verbs/shop.yaml", shop)
		text, p := at(t, c.marked)
		e.open(c.file, text)
		var list completionList
		e.ask("textDocument/completion", e.at(c.file, p), &list)
		var got []string
		slices.SortStableFunc(list.Items, func(a, b completionItem) int { return strings.Compare(a.Sort, b.Sort) })
		for _, item := range list.Items {
			got = append(got, item.Label)
		}
		switch said := strings.Join(got, " "); {
		case c.file == "a.dsl" && said != c.want, !strings.Contains(" "+said+" ", " "+c.want+" "):
			t.Errorf("%s: %q is offered, not %q", c.marked[max(0, strings.Index(c.marked, "|")-40):strings.Index(c.marked, "|")+1], said, c.want)
		}
	}
}

// OB12: what palettes say of a thing is told where it is named, and where it is declared
// and used is found, across palettes, expressions in them, and scripts.
func TestHoverDefinitionAndReferences(t *testing.T) {
	t.Parallel()
	e := start(t, "verbs/shop.yaml", shop, "b.dsl", "shop.list-orders :size LARGE\n")
	e.open("verbs/shop.yaml", shop)
	for _, c := range []struct {
		marked, hover string
		uses          int
	}{
		{"shop.add-or|der :size SMALL :note \"x\" :as @first\nshop.list-orders\n", "Take an order.", 2},
		{"shop.add-order :si|ze SMALL :note \"x\"\n", "how large", 3},
		{"shop.add-order :size SM|ALL :note \"x\"\n", "SMALL", 2},
		{"shop.add-order :size LARGE :due-d|ate 2030-01-01\n", ":due-date date optional", 5},
		{"shop.add-order :size LARGE :as @fi|rst\nshop.add-order :size LARGE :note @first\n", "line 1", 2},
	} {
		text, p := at(t, c.marked)
		e.open("a.dsl", text)
		var h hover
		e.ask("textDocument/hover", e.at("a.dsl", p), &h)
		if !strings.Contains(h.Contents.Value, c.hover) {
			t.Errorf("%s: %q", c.marked, h.Contents.Value)
		}
		var found []location
		e.ask("textDocument/definition", e.at("a.dsl", p), &found)
		if len(found) != 1 {
			t.Errorf("%s: declared %d times", c.marked, len(found))
		}
		with := e.at("a.dsl", p)
		with["context"] = map[string]bool{"includeDeclaration": true}
		e.ask("textDocument/references", with, &found)
		if len(found) != c.uses {
			t.Errorf("%s: %d places, not %d: %v", c.marked, len(found), c.uses, found)
		}
	}
	_, p := at(t, strings.Replace(shop, "ref-type: size}", "ref-|type: size}", 1))
	var h hover
	e.ask("textDocument/hover", e.at("verbs/shop.yaml", p), &h)
	if doc, _ := load.KeyDoc("arg ref-type"); doc == "" || !strings.Contains(h.Contents.Value, doc) {
		t.Errorf("a key: %q", h.Contents.Value)
	}
}

func apply(text string, edits []textEdit) string {
	t := newText("", text)
	slices.SortFunc(edits, func(a, b textEdit) int { return t.offset(b.Range.Start) - t.offset(a.Range.Start) })
	for _, e := range edits {
		text = text[:t.offset(e.Range.Start)] + e.NewText + text[t.offset(e.Range.End):]
	}
	return text
}

// OB12: a thing is renamed in palettes and scripts at once; a rename that collides, or that
// is no name, is refused with the reason.
func TestRename(t *testing.T) {
	t.Parallel()
	shop := strings.Replace(shop, "    description: Take an order.\n", `    description: Take an order.
    phrases: ["order a {size} one"]
    tells: {asks: "Shall I order one, {size}[, for {due-date}][: {note}]?", done: "One is ordered, {size}.[due-date? It comes on {due-date}.]"}
`, 1)
	e := start(t, "verbs/shop.yaml", shop)
	e.open("verbs/shop.yaml", shop)
	call := "shop.add-order :size SMALL :due-date 2030-01-01 :as @first\nshop.add-order :size LARGE :note @first :as @second\n"
	e.open("a.dsl", call)
	said := codes(e.diagnostics("a.dsl")) // @first is no text
	for _, c := range []struct{ at, to, refused string }{
		{"shop.add-or|der", "take-order", ""},
		{"shop.add-or|der", "list-orders", "twice"},
		{"shop.add-or|der", "Add Order", "is no name"},
		{":si|ze", "how-large", ""},
		{":si|ze", "note", "twice"},
		{":due-d|ate", "wanted-on", ""},
		{"SM|ALL", "TINY", ""},
		{"SM|ALL", "LARGE", "twice"},
		{"SM|ALL", "tiny", "code"},
		{"@fi|rst", "@one", ""},
		{"@fi|rst", "second", "two calls"},
	} {
		clean := strings.Replace(c.at, "|", "", 1)
		text, p := at(t, strings.Replace(call, clean, c.at, 1))
		e.open("a.dsl", text)
		with := e.at("a.dsl", p)
		with["newName"] = c.to
		var edit workspaceEdit
		err := e.try("textDocument/rename", with, &edit)
		if c.refused != "" {
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%s to %s: %v", c.at, c.to, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s to %s: %v", c.at, c.to, err)
			continue
		}
		palette, changed := apply(shop, edit.Changes[e.uri("verbs/shop.yaml")]), apply(text, edit.Changes[e.uri("a.dsl")])
		if changed == text || strings.Contains(changed, clean+" ") {
			t.Errorf("%s to %s: %s", c.at, c.to, changed)
		}
		e.edit("verbs/shop.yaml", change{nil, palette})
		e.expect("verbs/shop.yaml")
		e.edit("a.dsl", change{nil, changed})
		e.expect("a.dsl", said...)
		e.edit("verbs/shop.yaml", change{nil, shop})
	}
	for _, c := range []struct{ at, to, refused string }{
		{"- {name: cl|erk", "seller", ""},
		{"\n  or|der:", "purchase", ""},
		{"      no|te: {type: string, desc", "remark", ""},
		{"      no|te: {type: string, desc", "size", "twice"},
		{"\n  or|der:", "a b", "is no name"},
		{"ro|les:\n  - {name", "people", "of your own choosing"},
	} {
		_, p := at(t, strings.Replace(shop, strings.Replace(c.at, "|", "", 1), c.at, 1))
		with := e.at("verbs/shop.yaml", p)
		with["newName"] = c.to
		var edit workspaceEdit
		err := e.try("textDocument/rename", with, &edit)
		switch {
		case c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)):
			t.Errorf("%s to %s: %v", c.at, c.to, err)
		case c.refused == "" && err != nil:
			t.Errorf("%s to %s: %v", c.at, c.to, err)
		case c.refused == "":
			e.edit("verbs/shop.yaml", change{nil, apply(shop, edit.Changes[e.uri("verbs/shop.yaml")])})
			e.expect("verbs/shop.yaml")
			e.edit("verbs/shop.yaml", change{nil, shop})
		}
	}
}

// OB12: a fix is a code action; formatting, symbols, signatures and tokens are of the text
// as it stands.
func TestTheRest(t *testing.T) {
	t.Parallel()
	e := start(t, "verbs/shop.yaml", shop)
	wrong := strings.Replace(shop, "type: date}\n      - {name: note", "type: dat}\n      - {name: note", 1)
	e.open("verbs/shop.yaml", wrong)
	d := e.diagnostics("verbs/shop.yaml")
	if len(d) != 1 || d[0].Code != "unknown-type" {
		t.Fatalf("%+v", d)
	}
	var actions []codeAction
	e.ask("textDocument/codeAction", map[string]any{"textDocument": map[string]any{"uri": e.uri("verbs/shop.yaml")}, "range": d[0].Range, "context": map[string]any{"diagnostics": d}}, &actions)
	if len(actions) == 0 || apply(wrong, actions[0].Edit.Changes[e.uri("verbs/shop.yaml")]) != shop {
		t.Errorf("%+v", actions)
	}
	e.open("a.dsl", "shop.add-order   :size   SMALL ; small\n")
	var edits []textEdit
	e.ask("textDocument/formatting", e.at("a.dsl", position{}), &edits)
	if got := apply("shop.add-order   :size   SMALL ; small\n", edits); !strings.HasPrefix(got, "shop.add-order :size SMALL") {
		t.Error(got)
	}
	var help signatureHelp
	e.ask("textDocument/signatureHelp", e.at("a.dsl", position{0, 25}), &help)
	if len(help.Signatures) != 1 || help.Parameter != 0 || !strings.HasPrefix(help.Signatures[0].Label, "shop.add-order :size") {
		t.Errorf("%+v", help)
	}
	var syms []symbol
	e.ask("textDocument/documentSymbol", e.at("verbs/shop.yaml", position{}), &syms)
	if len(syms) != 5 || syms[4].Name != "list-orders" || len(syms[3].Children) != 3 {
		t.Errorf("%+v", syms)
	}
	e.ask("workspace/symbol", map[string]any{"query": "list-ord"}, &syms)
	if len(syms) != 2 || syms[0].Name != "shop.list-orders" {
		t.Errorf("%+v", syms)
	}
	var toks struct{ Data []int }
	e.ask("textDocument/semanticTokens/full", e.at("a.dsl", position{}), &toks)
	if want := []int{0, 0, 14, tokenFunction, 0, 0, 17, 5, tokenParameter, 0, 0, 8, 5, tokenEnumMember, 0, 0, 6, 7, tokenComment, 0}; !slices.Equal(toks.Data, want) {
		t.Error(toks.Data)
	}
}

// Positions are in UTF-16, whatever stands before: pairs of surrogates, combining
// characters, line ends of three kinds. Edits that make no sense do no harm.
func TestPositionsAreUTF16(t *testing.T) {
	t.Parallel()
	e := start(t, "verbs/shop.yaml", shop)
	e.open("a.dsl", "shop.add-order :size SMALL :note \"😀e\u0301\" :sise 1\r\n")
	d := e.diagnostics("a.dsl")
	if len(d) != 1 || d[0].Range != (span{position{0, 40}, position{0, 45}}) {
		t.Errorf("%+v", d)
	}
	e.edit("a.dsl", change{&span{position{0, 39}, position{0, 47}}, ""})
	e.expect("a.dsl")
	for _, c := range []span{{position{-1, -1}, position{99, 99}}, {position{5, 0}, position{0, 0}}, {position{0, 99999}, position{0, 3}}} {
		e.edit("a.dsl", change{&c, script})
	}
	e.diagnostics("a.dsl")
}

// However a text came to be, by whichever edits, it is the text, and what is said of it is
// what is said when it is opened.
func TestEditsComeToTheSame(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 1))
		e := start(t, "verbs/shop.yaml", shop)
		name, s := "a.dsl", script+"; 😀 e\u0301\r\n"+script
		if seed%2 == 1 {
			name, s = "verbs/shop.yaml", shop
		}
		e.open(name, s)
		model := newText("", s)
		for range 30 {
			n := len(model.src.Text)
			from := r.IntN(n + 1)
			to := min(n, from+r.IntN(6))
			ruler := model.ruler()
			a, b := ruler.position(from), ruler.position(to)
			c := change{&span{a, b}, []string{"", "x", "😀", "\n", "\r\n", "e\u0301", " :size SMALL", "{", "\""}[r.IntN(9)]}
			from, to = model.offset(a), max(model.offset(a), model.offset(b))
			model = newText("", model.src.Text[:from]+c.Text+model.src.Text[to:])
			e.edit(name, c)
		}
		typed := e.diagnostics(name)
		f := start(t, "verbs/shop.yaml", shop)
		f.open(name, model.src.Text)
		if opened := f.diagnostics(name); fmt.Sprint(codes(typed)) != fmt.Sprint(codes(opened)) {
			t.Errorf("seed %d: %v by edits, %v opened: %q", seed, codes(typed), codes(opened), model.src.Text)
		}
	}
}

// Bad input: ten megabytes in one line are refused in one sentence, and the next key stroke
// is answered.
func TestTenMegabytesInALine(t *testing.T) {
	t.Parallel()
	e := start(t, "verbs/shop.yaml", shop)
	long := "shop.add-order :note \"" + strings.Repeat("x", 10<<20) + "\"\n"
	e.open("a.dsl", long)
	e.expect("a.dsl", "too-large")
	e.edit("a.dsl", change{&span{position{0, 22}, position{0, 22 + 10<<20}}, ""})
	e.expect("a.dsl", "missing-argument")
	e.open("verbs/long.yaml", "domain: "+strings.Repeat("y", 10<<20))
	e.expect("verbs/long.yaml", "palette-too-large")
}

// Every position of a palette, whole or cut off there, can be asked about.
func TestAskedAnywhere(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.open("verbs/shop.yaml", shop)
	text := newText("", shop)
	for i := 0; i < len(shop); i += 37 {
		e.edit("verbs/shop.yaml", change{nil, shop[:i]})
		p := e.at("verbs/shop.yaml", text.ruler().position(i))
		for method := range requests {
			if method == "workspace/symbol" {
				continue
			}
			if err := e.try(method, p, nil); err != nil && strings.Contains(err.Error(), "the server failed") {
				t.Fatalf("%s at %d: %v", method, i, err)
			}
		}
	}
}

// Diagnostics after a key stroke in a palette of 1 257 verbs.
func BenchmarkKeystroke(b *testing.B) {
	s := string(verbstest.Palette(1257))
	if len(s) > load.DefaultMaxFile {
		s = s[:load.DefaultMaxFile]
		s = s[:strings.LastIndex(s, "\n  - verb:")+1]
	}
	e := start(b, "work.yaml", s)
	e.open("work.yaml", s)
	e.diagnostics("work.yaml")
	line := strings.Count(s[:strings.Index(s[len(s)/2:], "description: ")+len(s)/2], "\n")
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		e.edit("work.yaml", change{&span{position{line, 18}, position{line, 18}}, "x"})
		e.diagnostics("work.yaml")
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
	b.ReportMetric(float64(strings.Count(s, "- verb:")), "verbs")
}

// The TextMate grammar is JSON, its expressions can be compiled, and it gives each token the
// scope that goes with what the server says of it.
func TestTextMateGrammar(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("editors/vscode/syntaxes/verbatim.tmLanguage.json")
	if err != nil {
		t.Fatal(err)
	}
	var grammar struct {
		Patterns []struct{ Name, Match, Begin string }
	}
	if err := json.Unmarshal(raw, &grammar); err != nil {
		t.Fatal(err)
	}
	lookaround := regexp.MustCompile(`\(\?<?!\[[^]]*\]\)`) // which Go does not have
	s := "shop.add-order :size SMALL :note \"a b\" :due-date 2030-01-01 :n -3.5 :ok true :as @first ; so\n"
	scopes := []string{tokenFunction: "entity.name.function", tokenParameter: "variable.parameter", tokenVariable: "variable.other", tokenEnumMember: "constant.other",
		tokenString: "string", tokenNumber: "constant.numeric", tokenComment: "comment", tokenKeyword: "constant.language"}
	parsed, ds := dsl.Parse(dsl.NewSource("", s))
	if len(ds) > 0 {
		t.Fatal(ds[0].Summary)
	}
	for _, tok := range tokensOf(parsed) {
		word, got := s[tok.at.Start:tok.at.End], "nothing"
		for _, p := range grammar.Patterns {
			exp := p.Match
			if exp == "" {
				exp = p.Begin
			}
			re, err := regexp.Compile("^(?:" + lookaround.ReplaceAllString(exp, "") + ")")
			if err != nil {
				t.Fatal(p.Name, err)
			}
			if found := re.FindString(word); found == word || p.Begin != "" && found != "" {
				got = p.Name
				break
			}
		}
		if !strings.HasPrefix(got, scopes[tok.kind]) {
			t.Errorf("%s is %s, not %s", word, got, scopes[tok.kind])
		}
	}
}
