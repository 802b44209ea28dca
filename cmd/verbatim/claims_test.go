package main

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var tellClaims = flag.Bool("claims", false, "print every claim and the tests that name it")

// A claim is one line of testdata/claims.list.
type claim struct {
	id, title string
	not       string   // why it is not claimed; empty where it is
	by        []string // files of tests that name it
}

func readClaims(t *testing.T) []*claim {
	t.Helper()
	text, err := os.ReadFile("testdata/claims.list")
	if err != nil {
		t.Fatal(err)
	}
	var all []*claim
	for n, line := range strings.Split(string(text), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		id, rest, ok := strings.Cut(line, "  ")
		title, not, unclaimed := strings.Cut(rest, " | not claimed: ")
		if !ok || title == "" || unclaimed && not == "" {
			t.Errorf("claims.list:%d: %q is no claim", n+1, line)
			continue
		}
		if slices.ContainsFunc(all, func(c *claim) bool { return c.id == id }) {
			t.Errorf("claims.list:%d: %s stands there twice", n+1, id)
		}
		all = append(all, &claim{id: id, title: title, not: not})
	}
	return all
}

// claimID matches what can name a claim in a comment of a test.
var claimID = regexp.MustCompile(`\b(?:SAFE-[A-Z]\d+|PERF-[A-Z]\d+|OB\d+|[XOUHKMT]\d+)\b`)

// SAFE-L7: nothing is claimed that no test names, and no test names what is not
// in the table of claims.
func TestEveryClaimIsNamedByATest(t *testing.T) {
	t.Parallel()
	claims := readClaims(t)
	known := map[string]*claim{}
	for _, c := range claims {
		known[c.id] = c
	}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".git"):
			return fs.SkipDir
		case !strings.HasSuffix(path, "_test.go") && !strings.HasSuffix(path, ".txtar") && !strings.HasPrefix(path, filepath.Join("..", "..", "cmd", "peers")):
			return nil
		case d.IsDir():
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(filepath.ToSlash(path), "../../")
		for line := range strings.Lines(string(text)) {
			said := line
			if !strings.HasSuffix(path, ".txtar") {
				_, comment, ok := strings.Cut(line, "//")
				if !ok && !strings.Contains(line, "SAFE-") && !strings.Contains(line, "PERF-") {
					continue
				}
				if ok {
					said = comment
				}
			} else if !strings.HasPrefix(line, "#") {
				continue
			}
			for _, id := range claimID.FindAllString(said, -1) {
				c := known[id]
				switch {
				case c != nil:
					if !slices.Contains(c.by, name) {
						c.by = append(c.by, name)
					}
				case strings.HasPrefix(id, "SAFE-") || strings.HasPrefix(id, "PERF-"):
					t.Errorf("%s names %s, which is not in claims.list", name, id)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	claimed := 0
	for _, c := range claims {
		if c.not == "" {
			claimed++
			if len(c.by) == 0 {
				t.Errorf("%s (%s) is claimed, and no test names it: write the test, or say in claims.list why it is not claimed", c.id, c.title)
			}
		}
		if *tellClaims {
			how := strings.Join(c.by, " ")
			if c.not != "" {
				how = strings.TrimSpace("not claimed: " + c.not + "  " + how)
			}
			fmt.Printf("%-8s %s\n         %s\n", c.id, c.title, how)
		}
	}
	if *tellClaims {
		fmt.Printf("%d of %d are claimed\n", claimed, len(claims))
	}
	if claimed < 140 {
		t.Errorf("%d claims were found", claimed)
	}
}
