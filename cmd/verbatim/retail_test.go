package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// X16: the example of the shops is true: what its README shows is what
// happens, its palette stands in its palette, and every script of it is played.
// With -update the output is written into it.
func TestShopsReadmeIsTrue(t *testing.T) {
	t.Parallel()
	s := shellIn{t.TempDir(), t.TempDir()}
	err := putProgram(s.bin)
	if err == nil {
		err = layOutShop(s.dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.playReadme(t, "../../examples/retail/README.md", "../../examples/retail/verbs/retail.yaml", "../../examples/retail/*.dsl")
}

// O26 to O30, O22, X16, U29: so is that of the bank, the conversation with a
// client among it.
func TestBankReadmeIsTrue(t *testing.T) {
	t.Parallel()
	const folder = "../../examples/client/"
	newShell(t).playReadme(t, folder+"README.md", "../../verbs/client.yaml", folder+"conversation/*.dsl")
}

// U12: so is what else the command does.
func TestCommandReadmeIsTrue(t *testing.T) {
	t.Parallel()
	newShell(t).playReadme(t, "README.md", "../../verbs/client.yaml", "")
}

// playReadme plays the commands of a README, looks for its YAML in a palette, and
// for each of some scripts in it.
func (s shellIn) playReadme(t *testing.T, name, from, pattern string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	palette, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	var last lastIDs
	written := regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$").ReplaceAllStringFunc(string(text), func(block string) string {
		head, body, _ := strings.Cut(block, "\n")
		body = strings.TrimSuffix(body, "```")
		switch head {
		case "```console":
			return playedBlock(block, head+"\n"+s.replay(t, body, &last)+"```")
		case "```yaml":
			if !strings.Contains(string(palette), body) {
				t.Errorf("this is not in the palette:\n%s", body)
			}
		default:
			t.Errorf("nothing checks a block of %s", strings.TrimPrefix(head, "```"))
		}
		return block
	})
	scripts, err := filepath.Glob(pattern)
	if err != nil || len(scripts) == 0 && pattern != "" {
		t.Error("there are no scripts", err)
	}
	for _, script := range scripts {
		if !strings.Contains(written, filepath.Base(script)) {
			t.Errorf("nothing runs %s", script)
		}
	}
	if *update {
		if err := os.WriteFile(name, []byte(written), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, want := anyReference(written), anyReference(string(text)); got != want {
		var b strings.Builder
		writeDiff(&b, "README.md", want, got)
		t.Errorf("the README says something else than the program (-update writes what the program says):\n%s", b.String())
	}
}
