package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"verbatim/verbs/load"
)

// A guide says in one of its first lines where it is played, and otherwise begins with an empty folder.
var (
	inTheBank = regexp.MustCompile(`Play this in the\s+folder\s+that\s+the\s+\[quick\s+start\]`)
	after     = regexp.MustCompile(`Play this after\s+\[[^\]]*\]\(([a-z-]+)\.md\)`)
)

// G57, F35: each guide does what it says, from its first file to its last command: in the bank of the
// quick start, in the folder that another guide leaves, or in an empty one.
func TestGuides(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("guide/*.md")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".md")
		if name == "README" || name == "move-to-postgresql" || name == "install" || name == "upgrade" {
			continue // the index; TestPostgresGuideIsTrue and TestTheInstallGuideIsPlayed have servers for the others, and TestTheUpgradeGuideIsPlayed a release
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			guideShell(t, name).play(t)
		})
	}
}

// guideShell prepares the folder that a guide is played in, and returns the guide.
func guideShell(t *testing.T, name string) *page {
	t.Helper()
	file := "cmd/verbatim/guide/" + name + ".md"
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	var p *page
	if m := after.FindSubmatch(text); m != nil {
		p = guideShell(t, string(m[1]))
		p.leave(t)
		p.name = file
	} else if inTheBank.Match(text) {
		s := newShell(t)
		p = s.with(t, s.page(t, file, "", ""), "VERBATIM_PALETTES=bank")
	} else {
		s := shellIn{t.TempDir(), t.TempDir()}
		if err := putProgram(s.bin); err != nil {
			t.Fatal(err)
		}
		p = s.page(t, file, "", "")
	}
	p.palette, p.also = "verbs/palettes/bank/client.yaml", "verbs/load/testdata/every-key/pay.yaml"
	return p
}

// leave writes the files of a page and runs its commands, for the page that goes on from there.
func (p *page) leave(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, p.name))
	if err != nil {
		t.Fatal(err)
	}
	var last lastIDs
	for _, m := range blockOf.FindAllStringSubmatch(string(text), -1) {
		if file, ok := strings.CutPrefix(m[2], " file="); ok {
			p.put(t, file, m[3])
		} else if m[1] == "console" {
			replayBlock(m[3], p.run, &last)
		}
	}
}

// G57: a guide is read in one go, the index names each guide once, and what a terminal shows of
// one names commands and no files.
func TestGuidesAreShort(t *testing.T) {
	t.Parallel()
	index, err := guides.ReadFile("guide/README.md")
	if err != nil {
		t.Fatal(err)
	}
	first, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(strings.Fields(string(first))); n > 1800 {
		t.Errorf("README.md has %d words; 1 800 at most, for who decides in two minutes", n)
	}
	for _, name := range append(guideNames(), "README") {
		text, err := guides.ReadFile("guide/" + name + ".md")
		if err != nil {
			t.Fatal(err)
		}
		if n := len(strings.Fields(string(text))); n > 1500 {
			t.Errorf("%s has %d words; a guide has 1 500 at most", name, n)
		}
		if !strings.HasPrefix(string(text), "# ") {
			t.Errorf("%s has no title", name)
		}
		if n := strings.Count(string(index), "]("+name+".md)"); n != 1 && name != "README" {
			t.Errorf("the index names %s %d times", name, n)
		}
		if shown := plainPage(string(text)); strings.Contains(shown, "](") || strings.Contains(shown, "```") {
			t.Errorf("a terminal shows the Markdown of %s", name)
		}
	}
}

// verbatim help prints a guide, and answers a word that is none with the nearest tasks.
func TestHelpPrintsGuides(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	for line, want := range map[string]string{
		"verbatim help find-a-row":        "FIND A ROW\n",
		"verbatim help tasks":             "(verbatim help find-a-row)",
		"verbatim help undo":              "The flags of the command: verbatim undo --help\n",
		"verbatim help run":               "usage: verbatim run",
		"verbatim help --json find-a-row": `{"schema":"verbatim/help@1","text":"FIND A ROW\n`,
		"verbatim help keys":              "an entity\n",
		"verbatim help keys entity":       "  key!: \"request_id\"\n",
	} {
		if out, said, code := s.run(t, line); code != exitDone || !strings.Contains(out, want) {
			t.Errorf("%s: %d %s%s", line, code, out, said)
		}
	}
	for line, want := range map[string]string{
		"verbatim help postgres":         "next: verbatim help move-to-postgresql, ",
		"verbatim help find-a-rwo":       `did you mean "find-a-row"?`,
		"verbatim help qqqq":             "next: verbatim help tasks lists the tasks, and verbatim --help the commands",
		"verbatim help keys 'an enttiy'": `no mapping of a palette is called "an enttiy"; did you mean "an entity"?`,
		"verbatim help keys a b":         `does not know what to do with "b"`,
		"verbatim help undo further":     `does not know what to do with "further"`,
	} {
		if _, said, code := s.run(t, line); code != exitUsage || !strings.Contains(said, want) {
			t.Errorf("%s: %d %s", line, code, said)
		}
	}
}

var (
	inBackquotes = regexp.MustCompile("`([^`\n]+)`")
	namedCommand = regexp.MustCompile(`\bverbatim ([a-z][a-z -]*)`)
	namedFlag    = regexp.MustCompile(`(?:^|[\s(])(--[a-z][a-z-]+)`)
	inQuotes     = regexp.MustCompile(`"[^"]*"`)
	wordOnly     = regexp.MustCompile(`^[a-z]+$`)
	namedKeys    = regexp.MustCompile(`verbatim help keys "([^"]*)"`)
	namedHelp    = regexp.MustCompile(`verbatim help ([a-z][a-z-]+)`)
)

// commandOf is the command that words begin with.
func commandOf(root *cobra.Command, words string) *cobra.Command {
	at := root
	for _, word := range strings.Fields(words) {
		i := slices.IndexFunc(at.Commands(), func(c *cobra.Command) bool { return c.Name() == word })
		if i < 0 {
			break
		}
		at = at.Commands()[i]
	}
	return at
}

// Where a guide, or the README, names a flag, a command has it: the one before it on the line, or any
// where the flag stands alone. What is named with verbatim help is there.
func TestGuidesNameFlagsThatAreThere(t *testing.T) {
	t.Parallel()
	a := &app{world: world{env: func(string) string { return "" }}}
	root := a.root()
	topics := helpTopics(root)
	anywhere := map[string]bool{"--help": true, "--version": true}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) { anywhere["--"+f.Name] = true })
		c.PersistentFlags().VisitAll(func(f *pflag.Flag) { anywhere["--"+f.Name] = true })
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
	seen := 0
	check := func(page, code string) {
		at := namedCommand.FindStringSubmatchIndex(code)
		if at == nil && !strings.HasPrefix(code, "--") {
			return // another program's
		}
		var cmd *cobra.Command
		if at != nil {
			code, _, _ = strings.Cut(code[at[0]:], " | ")
			if cmd = commandOf(root, strings.TrimPrefix(code, "verbatim ")); cmd == root {
				t.Errorf("%s: there is no such command: %s", page, code)
				return
			}
		}
		if cmd != nil && len(cmd.Commands()) > 0 && cmd.Args != nil {
			if words := strings.Fields(strings.TrimPrefix(code, "verbatim ")); len(words) > 1 && wordOnly.MatchString(words[1]) && cmd.Args(cmd, words[1:2]) != nil {
				t.Errorf("%s: there is no such command: %s", page, code)
			}
		}
		for _, m := range namedFlag.FindAllStringSubmatch(inQuotes.ReplaceAllString(code, ""), -1) {
			seen++
			if m[1] == "--help" || cmd != nil && (cmd.Flags().Lookup(m[1][2:]) != nil || cmd.InheritedFlags().Lookup(m[1][2:]) != nil) || cmd == nil && anywhere[m[1]] {
				continue
			}
			t.Errorf("%s: there is no flag %s: %s", page, m[1], code)
		}
	}
	pages := []string{"README.md"}
	for _, name := range append(guideNames(), "README") {
		pages = append(pages, "cmd/verbatim/guide/"+name+".md")
	}
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join("../..", page)) // as it is, and not as the program has it
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(fenced.ReplaceAllString(string(text), "")) {
			if strings.HasPrefix(line, "    ") {
				check(page, strings.TrimSpace(line))
				continue
			}
			for _, m := range inBackquotes.FindAllStringSubmatch(line, -1) {
				check(page, m[1])
			}
		}
		for _, block := range fenced.FindAllString(string(text), -1) {
			for line := range strings.Lines(block) {
				if command, ok := strings.CutPrefix(line, "$ "); ok {
					check(page, strings.TrimSpace(command))
				}
			}
		}
		for _, m := range namedKeys.FindAllStringSubmatch(string(text), -1) {
			if _, ok := load.KeysOf(m[1]); !ok {
				t.Errorf("%s names the keys of %q, which a palette has not", page, m[1])
			}
		}
		for _, m := range namedHelp.FindAllStringSubmatch(string(text), -1) {
			if !slices.Contains(topics, m[1]) {
				t.Errorf("%s names verbatim help %s, which is not there", page, m[1])
			}
		}
	}
	if seen < 50 {
		t.Errorf("only %d flags were found", seen)
	}
}
