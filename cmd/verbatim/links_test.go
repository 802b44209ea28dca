package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	markdownLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	notInSlug    = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	fenced       = regexp.MustCompile("(?ms)^```.*?^```")
)

// Every link of every page leads to a file that is there, and to a heading that it has.
func TestEveryLinkLeadsSomewhere(t *testing.T) {
	t.Parallel()
	headings := map[string]map[string]bool{}
	headingsOf := func(name string) map[string]bool {
		if headings[name] == nil {
			headings[name] = map[string]bool{}
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(fenced.ReplaceAllString(string(text), "")) {
				if title := strings.TrimLeft(line, "#"); title != line {
					slug := notInSlug.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
					headings[name][strings.ReplaceAll(slug, " ", "-")] = true
				}
			}
		}
		return headings[name]
	}
	seen := 0
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && name != root && (strings.HasPrefix(d.Name(), ".") && d.Name() != ".github" || d.Name() == "node_modules") {
			return fs.SkipDir
		}
		if err != nil || filepath.Ext(name) != ".md" {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, m := range markdownLink.FindAllStringSubmatch(fenced.ReplaceAllString(string(text), ""), -1) {
			to, heading, _ := strings.Cut(m[1], "#")
			if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
				continue
			}
			seen++
			target := name
			if to != "" {
				target = filepath.Join(filepath.Dir(name), to)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, which is not there", name, m[1])
			} else if heading != "" && filepath.Ext(target) == ".md" && !headingsOf(target)[heading] {
				t.Errorf("%s links to %s, and that page has no such heading", name, m[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 100 {
		t.Errorf("only %d links were found", seen)
	}
}

// What the program prints names no page of Markdown but the language's, and no task that verbatim help
// does not know.
func TestMessagesNameTasksThatAreThere(t *testing.T) {
	t.Parallel()
	topics := helpTopics((&app{world: world{env: func(string) string { return "" }}}).root())
	seen := 0
	goFiles(t, func(rel string, text []byte) {
		if strings.HasSuffix(rel, "_test.go") || strings.HasPrefix(rel, "cmd/internal/") || rel == "cmd/verbatim/guide.go" {
			return
		}
		for line := range strings.Lines(string(text)) {
			code, _, _ := strings.Cut(line, "//")
			if strings.Contains(code, "README.md") {
				t.Errorf("%s prints the name of a file: %s", rel, strings.TrimSpace(line))
			}
			for _, m := range namedHelp.FindAllStringSubmatch(code, -1) {
				if seen++; !slices.Contains(topics, m[1]) {
					t.Errorf("%s names verbatim help %s, which is not there", rel, m[1])
				}
			}
		}
	})
	if seen == 0 {
		t.Error("no message names a task")
	}
}
