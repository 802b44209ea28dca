package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// F30: no model was ever asked, and what stands in for one was written by hand. It is
// called a play, and nowhere a recording of a model.
func TestPlaysAreCalledPlays(t *testing.T) {
	t.Parallel()
	claims := regexp.MustCompile(`(?i)recorded (model|conversation|answers?)|(model|conversation)s? (was|were) recorded|recording of a model|as it was recorded`)
	plays := 0
	for _, name := range tracked(t) {
		if !strings.HasSuffix(name, ".md") && !strings.HasSuffix(name, ".sh") && !strings.HasSuffix(name, ".txtar") && name != "Makefile" && name != "cmd/verbatim/testdata/claims.list" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if found := claims.Find(text); found != nil {
			t.Errorf("%s speaks of %q", name, found)
		}
		plays += strings.Count(string(text), "written by hand")
	}
	if plays == 0 {
		t.Error("nothing says that the plays were written by hand")
	}
}

// F33: tests draw other inputs each time, and say which; llama.cpp and ajv judge what we
// generate in every run, and their absence fails it.
func TestARunOfTheTestsIsWhatItSays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		seed string
		want []string
	}{
		{"", []string{"RAPID_SEED=", "TEST_REQUIRE_GBNF=1", "TEST_REQUIRE_AJV=1", "TEST_REQUIRE_LARK=1", "TEST_REQUIRE_POSTGRES=1", "TEST_REQUIRE_PGBOUNCER=1", "TEST_REQUIRE_PROMTOOL=1", "TEST_REQUIRE_CADDY=1", "TEST_REQUIRE_STRACE=1", "TEST_REQUIRE_RABBITMQ=1", "TEST_REQUIRE_NEOVIM=1"}},
		{"7", []string{"RAPID_SEED=7 "}},
	} {
		cmd := exec.Command("make", "-n", "test")
		cmd.Dir = root
		for _, v := range os.Environ() {
			if !strings.HasPrefix(v, "RAPID_SEED=") && !strings.HasPrefix(v, "MAKE") {
				cmd.Env = append(cmd.Env, v)
			}
		}
		if c.seed != "" {
			cmd.Env = append(cmd.Env, "RAPID_SEED="+c.seed)
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, want := range c.want {
			if !strings.Contains(string(out), want) {
				t.Errorf("make test does not say %s", want)
			}
		}
		if c.seed == "" && strings.Contains(string(out), "RAPID_SEED=1 ") {
			t.Error("the same inputs are tried each time")
		}
	}
}

// tracked are the files of the tree, without what is fetched or built.
func tracked(t *testing.T) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(root, func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if d.IsDir() && (rel == ".git" || rel == ".cache" || rel == "bin") {
			return filepath.SkipDir
		}
		if !d.IsDir() {
			names = append(names, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
