package values

import (
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A claimed sentence is a line of claims.txt.
type claimed struct {
	kind, key string
	of        []string
}

// claims reads claims.txt: its marks, and its words by kind and language.
func claims(t *testing.T) (marks map[string]claimed, words map[string]*regexp.Regexp) {
	text, err := os.ReadFile("testdata/claims.txt")
	if err != nil {
		t.Fatal(err)
	}
	marks, words = map[string]claimed{}, map[string]*regexp.Regexp{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		parts := strings.Split(line, "  ")
		switch {
		case len(parts) < 3:
			t.Errorf("claims.txt: %q", line)
		case parts[0] == "word":
			words[parts[1]] = regexp.MustCompile(`(?i)(?:^|[^\pL])(?:` + parts[2] + `)(?:$|[^\pL])`)
		case marks[parts[1]].key != "":
			t.Errorf("claims.txt: %s is there twice", parts[1])
		default:
			marks[parts[1]] = claimed{parts[0], parts[1], parts[2:]}
		}
	}
	return marks, words
}

// sentencesOf returns all sentences that people are told from catalogues, by language and key.
func sentencesOf(t *testing.T) map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, l := range Languages() {
		all[l.String()] = map[string]string{}
		for key, text := range ours().tongues[l].sentences {
			all[l.String()][string(key)] = text
		}
		text, err := os.ReadFile("../../domains/manda/answers/" + l.String() + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if key, said, ok := strings.Cut(strings.TrimSpace(line), "  "); ok && key[0] != '#' && !strings.Contains(key, " ") {
				all[l.String()]["manda/"+key] = said
			}
		}
	}
	return all
}

// G9: a sentence that says that nothing is there tells of a search: what was looked for, and where.
// A sentence with a word of absence is such a search, or claims.txt says what else it is.
func TestAbsenceIsToldAsASearch(t *testing.T) {
	t.Parallel()
	marks, words := claims(t)
	all, told := sentencesOf(t), map[string]bool{}
	for lang, sentences := range all {
		for _, key := range slices.Sorted(maps.Keys(sentences)) {
			text, mark := sentences[key], marks[key]
			if absent := words["absent "+lang].FindString(text); mark.kind == "" && absent != "" {
				t.Errorf("%s: %s says %q, and claims.txt does not say of what: %s", lang, key, strings.TrimSpace(absent), text)
			}
			if mark.kind != "absent" {
				continue
			}
			told[key] = true
			for form := range strings.SplitSeq(text, " | ") {
				if !words["search "+lang].MatchString(form) {
					t.Errorf("%s: %s does not say that it was looked for: %s", lang, key, form)
				}
				for _, place := range strings.Fields(mark.of[0]) {
					if place != "itself" && !strings.Contains(form, place) {
						t.Errorf("%s: %s does not say what was looked for, %s: %s", lang, key, place, form)
					}
				}
			}
		}
	}
	for key, mark := range marks {
		if all["en"][key] == "" || mark.kind == "absent" && !told[key] {
			t.Errorf("claims.txt: there is no sentence %s", key)
		}
	}
	if len(told) < 25 {
		t.Errorf("only %d sentences of absence", len(told))
	}
}

// G9: so do the palettes' own sentences for a list without rows.
func TestPalettesTellAbsenceAsASearch(t *testing.T) {
	t.Parallel()
	_, words := claims(t)
	var palettes []string
	for _, pattern := range []string{"../../../verbs/palettes/*/*.yaml", "../../../examples/*/verbs/*.yaml", "../../domains/*/*.yaml"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatal(pattern, err)
		}
		palettes = append(palettes, found...)
	}
	none, n := regexp.MustCompile(`(?m)^ {6}none: (.*)|^ {4}tells: .*none: ("[^"]*")`), 0
	for _, file := range palettes {
		lang := "en"
		if _, tag, ok := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".yaml"), "."); ok {
			lang = tag
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range none.FindAllStringSubmatch(string(text), -1) {
			n++
			if said := m[1] + m[2]; !words["search "+lang].MatchString(said) {
				t.Errorf("%s: %s does not say what was looked for", file, said)
			}
		}
	}
	if n < 80 {
		t.Error(fmt.Sprint(n), "sentences")
	}
}

// G10: a sentence that claims a state names the rows that it is told from, and the test that shows it
// told while they are so and not told while they are otherwise. A sentence with a word of a state is
// such a claim, or claims.txt says what else it is.
func TestAStateIsToldFromRows(t *testing.T) {
	t.Parallel()
	marks, words := claims(t)
	all := sentencesOf(t)
	for lang, sentences := range all {
		for _, key := range slices.Sorted(maps.Keys(sentences)) {
			if state := words["state "+lang].FindString(sentences[key]); marks[key].kind == "" && state != "" {
				t.Errorf("%s: %s says %q, and claims.txt does not say from which rows: %s", lang, key, strings.TrimSpace(state), sentences[key])
			}
		}
	}
	checked, n := map[string]map[string]bool{}, 0
	for _, key := range slices.Sorted(maps.Keys(marks)) {
		mark := marks[key]
		if mark.kind != "state" {
			continue
		}
		n++
		if len(mark.of) != 2 {
			t.Errorf("claims.txt: %s names no rows or no test", key)
			continue
		}
		folder, name, _ := strings.Cut(mark.of[1], " ")
		if checked[folder] == nil {
			checked[folder] = checksIn(t, folder)
		}
		if !checked[folder][name+" "+key] {
			t.Errorf("%s: %s in %s does not compare it with the rows, by told.Check with a text while it is true and another while it is false", key, name, folder)
		}
	}
	if n < 140 {
		t.Errorf("only %d sentences of a state", n)
	}
}

// checksIn lists the tests of a folder with the keys that they give to told.Check, each with two texts
// that are not the same expression.
func checksIn(t *testing.T, folder string) map[string]bool {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("../../..", filepath.FromSlash(folder), "*_test.go"))
	if err != nil || len(paths) == 0 {
		t.Fatal(folder, err)
	}
	found := map[string]bool{}
	for _, path := range paths {
		file, err := parser.ParseFile(gotoken.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				of, ok := call.Fun.(*ast.SelectorExpr)
				if !ok || of.Sel.Name != "Check" && of.Sel.Name != "CheckIn" {
					return true
				}
				at := map[string]int{"Check": 1, "CheckIn": 2}[of.Sel.Name]
				if len(call.Args) < at+3 {
					return true
				}
				key, ok := call.Args[at].(*ast.BasicLit)
				_, given := call.Args[at+2].(*ast.BasicLit) // a text that nobody was shown
				if ok && !given && types.ExprString(call.Args[at+1]) != types.ExprString(call.Args[at+2]) {
					found[f.Name.Name+" "+strings.Trim(key.Value, `"`)] = true
				}
				return true
			})
		}
	}
	return found
}
