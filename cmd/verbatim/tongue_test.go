package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"
	"gopkg.in/yaml.v3"

	"verbatim/runtime/words"
)

// speaks fails where something that the house or a palette says in English was
// printed: speaks de.
func speaks(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: speaks LANGUAGE")
	}
	if _, ok := words.ParseLanguage(args[0]); !ok {
		ts.Fatalf("nobody speaks %s", args[0])
	}
	all, err := englishTexts()
	ts.Check(err)
	said := ts.ReadFile("stdout")
	for _, text := range all {
		if holds(said, text) {
			ts.Fatalf("in %s, this is English: %q\n%s", args[0], text, said)
		}
	}
}

// holds reports whether a text holds another, and not as a part of words.
func holds(said, text string) bool {
	for {
		at := strings.Index(said, text)
		if at < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(said[:at])
		after, _ := utf8.DecodeRuneInString(said[at+len(text):])
		if !unicode.IsLetter(before) && !unicode.IsLetter(after) {
			return true
		}
		said = said[at+1:]
	}
}

// englishTexts are the pieces between what is filled in, of all that is said in
// English: of every sentence of the packages that speak, and of the palettes.
// Pieces of one word are in any language.
var englishTexts = sync.OnceValues(func() (all []string, err error) {
	add := func(text string) {
		for _, piece := range regexp.MustCompile(`[{][^}]*[}]|[\][<>]|\[(?:[a-z_]+\?)?|\b[a-z_]+\*`).Split(text, -1) {
			if piece = strings.Trim(piece, " .,;:()\"“”\n"); strings.Contains(piece, " ") && len(piece) > 6 {
				all = append(all, piece)
			}
		}
	}
	for _, dir := range []string{"dialog", "client", "collect", "phrase", "words"} {
		files, err := filepath.Glob("../../runtime/" + dir + "/*.go")
		if err != nil {
			return nil, err
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				return nil, err
			}
			ast.Inspect(f, func(n ast.Node) bool {
				lit, ok := n.(*ast.CompositeLit)
				if !ok || len(lit.Elts) != len(words.Languages) {
					return true
				}
				var first string
				for i, e := range lit.Elts {
					text, ok := e.(*ast.BasicLit)
					if !ok || text.Kind != token.STRING {
						return true
					}
					if i == 0 {
						first, _ = strconv.Unquote(text.Value)
					}
				}
				add(first)
				return true
			})
		}
	}
	text, err := os.ReadFile("../../verbs/client.yaml")
	if err != nil {
		return nil, err
	}
	var palette yaml.Node
	if err := yaml.Unmarshal(text, &palette); err != nil {
		return nil, err
	}
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		for i, c := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 0 {
				if v := n.Content[i+1]; c.Value == "en" && v.Kind == yaml.ScalarNode {
					add(v.Value)
				} else if v.Kind == yaml.MappingNode && len(v.Content) > 0 && v.Content[0].Value == "de" {
					add(c.Value)
				}
			}
			walk(c)
		}
	}
	walk(&palette)
	return all, nil
})

// What is looked for is there: the check is of something.
func TestEnglishIsKnown(t *testing.T) {
	t.Parallel()
	all, err := englishTexts()
	if err != nil {
		t.Fatal(err)
	}
	whole := strings.Join(all, "\n")
	for _, text := range []string{"I did not understand that", "What is still needed", "was not understood. Write it like this", "Nothing was saved", "May I go through", "Which request is it for?",
		"it sends a message that cannot be recalled", "That would make an age of", "both sides of a valid national identity card"} {
		if !strings.Contains(whole, text) {
			t.Errorf("%q is not among what is English", text)
		}
	}
	if len(all) < 250 {
		t.Errorf("%d pieces of English were found; there are more", len(all))
	}
}
