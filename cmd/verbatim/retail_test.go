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
	const name = "../../examples/retail/README.md"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	palette, err := os.ReadFile("../../examples/retail/verbs/retail.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s := shellIn{t.TempDir(), t.TempDir()}
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(s.bin, "verbatim"))
	}
	if err == nil {
		err = layOutShop(s.dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	var last lastIDs
	written := regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$").ReplaceAllStringFunc(string(text), func(block string) string {
		head, body, _ := strings.Cut(block, "\n")
		body = strings.TrimSuffix(body, "```")
		switch head {
		case "```console":
			return head + "\n" + s.replay(t, body, &last) + "```"
		case "```yaml":
			if !strings.Contains(string(palette), body) {
				t.Errorf("this is not in verbs/retail.yaml:\n%s", body)
			}
		default:
			t.Errorf("nothing checks a block of %s", strings.TrimPrefix(head, "```"))
		}
		return block
	})
	scripts, err := filepath.Glob("../../examples/retail/*.dsl")
	if err != nil || len(scripts) == 0 {
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
	if got, want := anyID(written), anyID(string(text)); got != want {
		var b strings.Builder
		writeDiff(&b, "README.md", want, got)
		t.Errorf("the README says something else than the program (-update writes what the program says):\n%s", b.String())
	}
}
