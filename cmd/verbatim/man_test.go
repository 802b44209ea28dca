package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// U12: every subcommand has a manual page, which says what --help does. Each
// line is text or a request that there is; where groff is installed, it finds
// nothing to complain of.
func TestEveryCommandHasAManualPage(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	if _, said, code := s.run(t, "verbatim help man --dir man"); code != exitDone || said != "" {
		t.Fatal(code, said)
	}
	a := &app{world: world{env: func(string) string { return "" }}}
	request := regexp.MustCompile(`^\.(TH|SH|B|BR|TP|nf|fi)( |$)`)
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Log("there is no groff, so only the shape of the pages is looked at")
	}
	pages := 0
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		name := filepath.Join(s.dir, "man", strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1")
		text, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
			return
		}
		pages++
		for line := range strings.Lines(string(text)) {
			if (line[0] == '.' || line[0] == '\'') && !request.MatchString(strings.TrimSuffix(line, "\n")) {
				t.Errorf("%s: %s", name, line)
			}
		}
		for _, part := range []string{cmd.Short, cmd.Long, cmd.Example} {
			if !strings.Contains(string(text), roff(strings.TrimSuffix(part, "."))) {
				t.Errorf("%s does not say %q", name, part)
			}
		}
		if groff != "" {
			out, err := exec.Command(groff, "-man", "-Kutf8", "-Tutf8", "-P-cbou", "-ww", name).CombinedOutput()
			if err != nil || strings.Contains(string(out), "warning:") || strings.Contains(string(out), "error:") || !strings.Contains(string(out), "NAME") {
				t.Errorf("%s: %v\n%s", name, err, out)
			}
		}
		for _, sub := range cmd.Commands() {
			look(sub)
		}
	}
	look(a.root())
	if pages < 15 {
		t.Errorf("%d pages", pages)
	}
	for line, want := range map[string]string{"verbatim help man": "--dir", "verbatim --json help man --dir man": "--json"} {
		if _, said, code := s.run(t, line); code != exitUsage || !strings.Contains(said, want) {
			t.Errorf("%s: %d %s", line, code, said)
		}
	}
}
