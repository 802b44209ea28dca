package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The author's guide, verbs/README.md, is played from its first file to its
// last command: what a reader types does what the guide shows. With -update the
// guide is given what the commands print.
func TestGuide(t *testing.T) {
	t.Parallel()
	const guide = "../../verbs/README.md"
	text, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	blocks := regexp.MustCompile("(?ms)^```([a-z]+) ?([^\n]*)\n(.*?)^```$")
	played := 0
	got := blocks.ReplaceAllFunc(text, func(block []byte) []byte {
		m := blocks.FindSubmatch(block)
		lang, info, body := string(m[1]), string(m[2]), string(m[3])
		if file, ok := strings.CutPrefix(info, "file="); ok {
			path := filepath.Join(folder, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(body), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if lang != "console" {
			return block
		}
		var out strings.Builder
		exit := 0
		for _, line := range strings.Split(body, "\n") {
			command, ok := strings.CutPrefix(line, "$ ")
			if !ok {
				continue
			}
			played++
			out.WriteString(line + "\n")
			said, code := play(t, folder, command)
			out.WriteString(said)
			exit = code
		}
		want, _ := strconv.Atoi(strings.TrimPrefix(info, "exit="))
		if exit != want {
			t.Errorf("%s\nexits with %d", out.String(), exit)
		}
		return []byte("```" + strings.TrimSpace(lang+" "+info) + "\n" + out.String() + "```")
	})
	if played < 8 {
		t.Errorf("only %d commands were found", played)
	}
	if string(got) == string(text) {
		return
	}
	if *update {
		if err := os.WriteFile(guide, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	a, b := strings.Split(string(text), "\n"), strings.Split(string(got), "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Fatalf("%s:%d says\n%s\nand the command prints\n%s", guide, i+1, a[i], b[i])
		}
	}
	t.Fatal("the guide and the commands differ in length")
}

// play runs a command as a reader would, and evens out what differs from one
// run to the next.
func play(t *testing.T, folder, command string) (said string, exit int) {
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "TERM=dumb", "NO_COLOR=1", "VERBATIM_STORE=", "VERBATIM_PALETTES=", "VERBATIM_AS=")
	out, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		exit = failed.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	said = regexp.MustCompile(`preview [0-9a-f]{4} [0-9a-f]{4}`).ReplaceAllString(string(out), "preview c7f2 91d0")
	said = regexp.MustCompile(`(?m) +\d+ ms$`).ReplaceAllString(said, "      3 ms")
	// How many statements it takes grows with what the engine keeps of its own.
	said = regexp.MustCompile(`\b[1-9]\d* statements run`).ReplaceAllString(said, "17 statements run")
	said = regexp.MustCompile(`(?m)\d+\.\d s$`).ReplaceAllString(said, "0.0 s")
	return said, exit
}
