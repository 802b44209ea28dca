package main

import (
	"cmp"
	"embed"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// guides are the pages by task that verbatim help prints. README.md is their index.
//
//go:embed guide/*.md
var guides embed.FS

// guideNames lists the guides: a task is called as its file is.
func guideNames() (names []string) {
	entries, err := guides.ReadDir("guide")
	if err != nil {
		panic(err) // embedded
	}
	for _, e := range entries {
		if e.Name() != "README.md" {
			names = append(names, strings.TrimSuffix(e.Name(), ".md"))
		}
	}
	return names
}

// guideText returns the text of a guide as a terminal shows it.
func guideText(name string) (string, bool) {
	text, err := guides.ReadFile("guide/" + name + ".md")
	return plainPage(string(text)), err == nil
}

// nearGuides returns the guides that say a word most, three at most: in their name, in their title, or
// at least three times in their text.
func nearGuides(word string) []string {
	word = strings.TrimSuffix(strings.ToLower(word), "s")
	if len(word) < 3 {
		return nil
	}
	score := map[string]int{}
	var names []string
	for _, name := range guideNames() {
		data, _ := guides.ReadFile("guide/" + name + ".md")
		text := strings.ToLower(string(data))
		title, _, _ := strings.Cut(text, "\n")
		n := min(strings.Count(text, word), 50)
		if strings.Contains(title, word) {
			n += 100
		}
		if strings.Contains(name, word) {
			n += 100
		}
		if score[name] = n; n >= 3 {
			names = append(names, name)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(score[b], score[a]) })
	return names[:min(len(names), 3)]
}

var (
	pageLink = regexp.MustCompile(`\[([^\]]*)\]\(([^)\s]+)\)`)
	listItem = regexp.MustCompile(`^(?:- |\d+\. )`)
)

// plainPage is a page of Markdown for a terminal: paragraphs of 80 columns, blocks indented, and
// links to other guides as the commands that print them.
func plainPage(text string) string {
	var b strings.Builder
	var words []string // of the paragraph or the item that is being read
	first, rest := "", ""
	flush := func() {
		line := first
		for i, w := range words {
			if i > 0 && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(w) > 80 {
				fmt.Fprintln(&b, line)
				line = rest
			} else if i > 0 {
				line += " "
			}
			line += w
		}
		if len(words) > 0 {
			fmt.Fprintln(&b, line)
		}
		words, first, rest = nil, "", ""
	}
	block := false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "```") {
			flush()
			if block = !block; block {
				if _, file, ok := strings.Cut(line, " file="); ok {
					fmt.Fprintf(&b, "    -- %s --\n", file)
				}
			}
			continue
		}
		if block {
			fmt.Fprintln(&b, strings.TrimRight("    "+line, " "))
			continue
		}
		if strings.HasPrefix(line, "    ") { // a block, too
			flush()
			fmt.Fprintln(&b, line)
			continue
		}
		line = strings.ReplaceAll(pageLink.ReplaceAllStringFunc(line, plainLink), "**", "")
		switch item := listItem.FindString(line); {
		case line == "":
			flush()
			fmt.Fprintln(&b)
		case line[0] == '#':
			flush()
			fmt.Fprintln(&b, strings.ToUpper(strings.TrimLeft(line, "# ")))
		case line[0] == '|':
			flush()
			fmt.Fprintln(&b, line)
		case item != "":
			flush()
			first, rest = item, strings.Repeat(" ", len(item))
			words = strings.Fields(line[len(item):])
		default:
			words = append(words, strings.Fields(line)...)
		}
	}
	flush()
	return b.String()
}

// plainLink is a link as a terminal shows it.
func plainLink(link string) string {
	m := pageLink.FindStringSubmatch(link)
	file, _, _ := strings.Cut(m[2], "#")
	switch {
	case strings.Contains(m[2], "://"):
		return m[1] + " <" + m[2] + ">"
	case path.Base(file) == file && path.Ext(file) == ".md":
		if name := strings.TrimSuffix(file, ".md"); name != "README" {
			return m[1] + " (verbatim help " + name + ")"
		}
		return m[1] + " (verbatim help tasks)"
	}
	return m[1]
}
