package main

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var tellClaims = flag.Bool("claims", false, "print every claim and the tests that name it")

// A claim is one line of testdata/claims.list.
type claim struct {
	id, title string
	not       string   // why it is not claimed; empty where it is
	runs      string   // how many of what is promised CI runs
	weak      string   // what the claim lacks
	missed    string   // where the figure of a goal stands that is not reached
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
		title, notes, _ := strings.Cut(rest, " | ")
		c := &claim{id: id, title: title}
		for note := range strings.SplitSeq(notes, " | ") {
			kind, text, said := strings.Cut(note, ": ")
			into := map[string]*string{"not claimed": &c.not, "CI": &c.runs, "weak": &c.weak, "missed": &c.missed}[kind]
			if notes != "" && (into == nil || !said || text == "") {
				t.Errorf("claims.list:%d: %q says nothing of a claim", n+1, note)
			} else if into != nil {
				*into = text
			}
		}
		if !ok || title == "" {
			t.Errorf("claims.list:%d: %q is no claim", n+1, line)
			continue
		}
		if c.runs != "" {
			c.runs = runInCI(t, c.runs)
		}
		if slices.ContainsFunc(all, func(c *claim) bool { return c.id == id }) {
			t.Errorf("claims.list:%d: %s stands there twice", n+1, id)
		}
		all = append(all, c)
	}
	return all
}

// runInCI fills into "dsl/laws_test.go -executions of 10 000 000" what that flag is
// where nobody says otherwise, which is what CI runs.
func runInCI(t *testing.T, says string) string {
	t.Helper()
	file, rest, flagged := strings.Cut(says, " -")
	if !flagged {
		return says
	}
	name, of, _ := strings.Cut(rest, " ")
	text, err := os.ReadFile(filepath.Join("../..", filepath.FromSlash(file)))
	if err != nil {
		t.Error(err)
		return says
	}
	m := regexp.MustCompile(`flag\.\w+\("` + regexp.QuoteMeta(name) + `", ([\d_]+|true|false), `).FindSubmatch(text)
	if m == nil {
		t.Errorf("%s has no flag %s", file, name)
		return says
	}
	return fmt.Sprintf("%s %s (-%s of %s)", strings.ReplaceAll(string(m[1]), "_", " "), of, name, file)
}

// claimID matches what can name a claim in a comment of a test.
var claimID = regexp.MustCompile(`\b(?:SAFE-[A-Z]\d+|PERF-[A-Z]\d+|OB\d+|[XOUHKMT]\d+)\b`)

// claimRange matches several at once: "M18 to M25", "T1–T3".
var claimRange = regexp.MustCompile(`\b(OB|[XOUHKMT])(\d+)(?: to |–)(?:OB|[XOUHKMT])(\d+)\b`)

// idsIn lists the ids of claims that a comment names.
func idsIn(comment string) []string {
	ids := claimID.FindAllString(comment, -1)
	for _, m := range claimRange.FindAllStringSubmatch(comment, -1) {
		first, _ := strconv.Atoi(m[2])
		last, _ := strconv.Atoi(m[3])
		for n := first + 1; n < last; n++ {
			ids = append(ids, m[1]+strconv.Itoa(n))
		}
	}
	return ids
}

// SAFE-L7: nothing is claimed that no test names, no test names what is not in the table
// of claims, and what a test names is not said to be unclaimed.
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
		case !strings.HasSuffix(path, "_test.go") && !strings.HasSuffix(path, ".txtar") && !strings.HasPrefix(path, filepath.Join("..", "..", "cmd", "internal", "bench")):
			return nil
		case d.IsDir() || strings.HasSuffix(path, ".md"): // a page tells of claims and proves none
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
			for _, id := range idsIn(said) {
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
	claimed, weak := 0, 0
	for _, c := range claims {
		switch proven := slices.ContainsFunc(c.by, func(file string) bool { return !strings.HasPrefix(file, "cmd/internal/bench/") }); {
		case c.not != "" && proven:
			t.Errorf("%s (%s) is not claimed (%s), and %s names it: claim it, or say what it lacks", c.id, c.title, c.not, c.by[0])
		case c.not == "" && c.missed == "":
			claimed++
			if c.weak != "" {
				weak++
			}
			if len(c.by) == 0 {
				t.Errorf("%s (%s) is claimed, and no test names it: write the test, or say in claims.list why it is not claimed", c.id, c.title)
			}
		}
		if *tellClaims {
			how := strings.Join(c.by, " ")
			if c.not != "" {
				how = "not claimed: " + c.not
			}
			if c.missed != "" {
				how = "missed: " + c.missed + "\n         " + how
			}
			if c.runs != "" {
				how = "CI runs " + c.runs + "\n         " + how
			}
			if c.weak != "" {
				how = "weak: " + c.weak + "\n         " + how
			}
			fmt.Printf("%-8s %s\n         %s\n", c.id, c.title, how)
		}
	}
	if *tellClaims {
		fmt.Printf("%d of %d are claimed, %d of them weakly\n", claimed, len(claims), weak)
	}
	if claimed < 380 {
		t.Errorf("%d claims were found", claimed)
	}
}
