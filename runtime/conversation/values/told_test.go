package values

import (
	"fmt"
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
	for _, pattern := range []string{"../../../verbs/palettes/*/*.yaml", "../../../examples/*/verbs/*.yaml"} {
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
