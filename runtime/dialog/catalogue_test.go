package dialog

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/runtime"
	"verbatim/runtime/words"
	"verbatim/verbs"
)

// operators are the codes of the engine that nobody meets in a conversation: it
// does not begin where palettes, handlers and servers do not fit.
var operators = []string{"handler-unknown-verb", "handler-missing", "handler-not-wanted", "handler-argument-missing", "handler-argument-extra", "handler-argument-type",
	"bad-query", "generates-unknown", "tool-missing", "tool-unreached", "tool-unaccepted", "tool-changed", "tool-writes", "tool-mismatch"}

// X12: whatever a call is refused for, by the checker or by the engine, there is a
// sentence for it in each language: a code that is added is not forgotten.
func TestEveryRefusalHasItsWordsInEachLanguage(t *testing.T) {
	t.Parallel()
	all := verbs.CheckCodes()
	for _, d := range runtime.Codes() {
		if !slices.Contains(operators, d.Code) {
			all = append(all, d)
		}
	}
	known := map[string]bool{}
	for _, d := range all {
		known[d.Code] = true
		says, ok := refusals()[d.Code]
		if !ok {
			t.Errorf("a person has no words for %s: add it to refusals.go, or to those that no conversation meets", d.Code)
		}
		whole(t, d.Code, says)
		for _, l := range words.Languages {
			w := newWording(&verbs.Registry{}).in(l.String())
			told := w.refused(dsl.Diagnostics{{Code: d.Code, Summary: "the summary of it", Notes: []string{"what to do next"}}})
			if english := strings.Contains(told, "summary"); english != (l == words.English) {
				t.Errorf("%s in %s: %s", d.Code, l, told)
			}
		}
	}
	for code := range refusals() {
		if !known[code] {
			t.Errorf("there are words for %s, which nothing is refused for", code)
		}
	}
	// What is wrong with text as text has one answer, whatever it is.
	for _, d := range dsl.Codes() {
		w := newWording(&verbs.Registry{}).in("de")
		if told := w.refused(dsl.Diagnostics{{Code: d.Code, Summary: "the summary of it"}}); strings.Contains(told, "summary") {
			t.Errorf("%s: %s", d.Code, told)
		}
	}
}

// whole reports what a sentence lacks in a language.
func whole(t *testing.T, name string, s words.Sentence) {
	t.Helper()
	for _, l := range words.Languages {
		text := s[l]
		if text == "" {
			t.Errorf("%s has no words in %s", name, l)
		}
		if n := strings.Count(text, "{}"); n != strings.Count(s[words.English], "{}") {
			t.Errorf("%s in %s has %d places for what belongs to it: %s", name, l, n, text)
		}
		if strings.Contains(text, "!") {
			t.Errorf("%s in %s shouts: %s", name, l, text)
		}
		if strings.TrimSpace(text) != text && strings.TrimSpace(s[words.English]) == s[words.English] && l != words.French && text[0] != ' ' {
			t.Errorf("%s in %s ends in a space: %q", name, l, text)
		}
	}
}

// X12: each sentence of the house is there in each language, with a place for all
// that belongs to it. They are found in the source, so that none is left out.
func TestEverySentenceIsThereInEachLanguage(t *testing.T) {
	t.Parallel()
	n := 0
	for _, dir := range []string{"."} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(node ast.Node) bool {
				lit, ok := node.(*ast.CompositeLit)
				if !ok {
					return true
				}
				var s words.Sentence
				all := len(lit.Elts) == len(s)
				for i, e := range lit.Elts {
					if text, ok := e.(*ast.BasicLit); ok && i < len(s) && text.Kind == token.STRING {
						s[i], _ = strconv.Unquote(text.Value)
					} else {
						all = false
					}
				}
				sel, typed := lit.Type.(*ast.SelectorExpr)
				if !(typed && sel.Sel.Name == "Sentence") && !(lit.Type == nil && all) {
					return true
				}
				n++
				whole(t, file+": "+s[words.English], s)
				return true
			})
		}
	}
	if least := 90; n < least {
		t.Errorf("%d sentences were found; there are more", n)
	}
	if reflect.TypeFor[words.Sentence]().Len() != len(words.Languages) {
		t.Error("a sentence has not one text for each language")
	}
}

// X13: a language that the house does not speak is answered in English, and one
// that comes with a country is the same language.
func TestTagsOfLanguages(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]string{"de-AT": "Erledigt.", "FR": "C’est fait.", "es_MX": "Hecho.", "it": "Done.", "": "Done.", "english": "Done."} {
		if got := newWording(&verbs.Registry{}).in(tag).say(sayDone); got != want {
			t.Errorf("%q: %q, not %q", tag, got, want)
		}
	}
}
