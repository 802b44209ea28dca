package main

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

var writeLines = flag.Bool("lines", false, "write lines.txt anew")

// linesHead opens lines.txt.
const linesHead = `# Lines of Go in each folder, without tests, without packages that serve tests alone, and without
# cmd/internal. A figure may only fall: write it anew with go test ./cmd/verbatim -run TestLines -lines.
# A rise is a commit of its own that names the capability. Moving code keeps the sum.

`

// slack is by how many lines a folder may be smaller than its figure before that has to follow.
const slack = 100

func TestLinesOnlyFall(t *testing.T) {
	t.Parallel()
	now := map[string]int{}
	goFiles(t, func(rel string, text []byte) {
		pkg := path.Dir(rel)
		if folder := folderOf(pkg); !strings.HasSuffix(rel, "_test.go") && !isTest(pkg) && folder != "cmd/internal" {
			now[folder] += bytes.Count(text, []byte("\n"))
			now["all"] += bytes.Count(text, []byte("\n"))
		}
	})
	folders := slices.Sorted(maps.Keys(now))
	if *writeLines {
		text := linesHead
		for _, folder := range folders {
			text += fmt.Sprintf("%-28s %6d\n", folder, now[folder])
		}
		if err := os.WriteFile("lines.txt", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile("lines.txt")
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]int{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		var folder string
		var n int
		if _, err := fmt.Sscan(line, &folder, &n); err != nil {
			t.Fatalf("lines.txt: %q: %v", line, err)
		}
		kept[folder] = n
		switch is, there := now[folder]; {
		case !there:
			t.Errorf("%s has no lines and a figure in lines.txt", folder)
		case is > n:
			t.Errorf("%s has %d lines of Go, and lines.txt allows %d", folder, is, n)
		case is < n-slack:
			t.Errorf("%s has %d lines of Go; let lines.txt follow, which says %d", folder, is, n)
		}
	}
	for _, folder := range folders {
		if _, ok := kept[folder]; !ok {
			t.Errorf("%s has %d lines of Go and no figure in lines.txt", folder, now[folder])
		}
	}
}
