package values

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// F29: each sentence of the catalogue is said by somebody, is there in every language
// with a place for all that belongs to it, and every key that is used is there.
func TestTheCatalogueIsWhole(t *testing.T) {
	t.Parallel()
	used := map[Key]string{}
	for _, pattern := range []string{"../*/*.go", "../../domains/*/*.go", "../../frontends/*/*.go", "../../frontends/http/*/*.go", "../../frontends/http/*/*/*.html", "../../../cmd/verbatim/*.go"} {
		sources, err := filepath.Glob(pattern)
		if err != nil || len(sources) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range sources {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, m := range regexp.MustCompile(`"((?:words|phrase|collect|client|chat|dialog|serve|pages|channel|plans)/[a-z0-9-]+)"`).FindAllStringSubmatch(string(text), -1) {
				used[Key(m[1])] = file
			}
		}
	}
	english := ours().tongues[English].sentences
	for key, file := range used {
		if english[key] == "" {
			t.Errorf("%s says %s, which is not in the catalogue", file, key)
		}
	}
	if len(english) < 100 {
		t.Errorf("only %d sentences", len(english))
	}
	for _, l := range Languages() {
		for _, key := range slices.Sorted(maps.Keys(ours().tongues[l].sentences)) {
			text := ours().tongues[l].sentences[key]
			switch {
			case used[key] == "":
				t.Errorf("%s: nobody says %s", l, key)
			case strings.Count(text, "{}") != strings.Count(english[key], "{}"):
				t.Errorf("%s: %s has %d places for what belongs to it: %s", l, key, strings.Count(text, "{}"), text)
			case strings.Contains(text, "!"):
				t.Errorf("%s: %s shouts: %s", l, key, text)
			case strings.Trim(text, " \n") != text && strings.Trim(english[key], " \n") == english[key]:
				t.Errorf("%s: %s begins or ends with a space: %q", l, key, text)
			}
		}
		for key := range english {
			if ours().tongues[l].sentences[key] == "" {
				t.Errorf("%s: %s is not said", l, key)
			}
		}
		// A key twice would hide the first text, and a line that is none says nothing.
		text, err := files.ReadFile("catalogue/" + l.String() + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for line := range strings.Lines(string(text)) {
			key, _, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
			switch {
			case key == "" || key[0] == '#':
			case !ok || seen[key] || !regexp.MustCompile(`^[a-z]+/[a-z0-9-]+$`).MatchString(key):
				t.Errorf("%s: %q", l, line)
			}
			seen[key] = true
		}
	}
}
