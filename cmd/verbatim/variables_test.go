package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The list of variables is what the code reads: none is missing, and none is gone. Each flag of serve
// has one, but for links that are printed for people at this machine. G87
func TestVariablesAreThoseThatAreRead(t *testing.T) {
	t.Parallel()
	var read []string
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`(?:env|Getenv)\("(VERBATIM_[A-Z0-9_]+)"\)`)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range name.FindAllStringSubmatch(string(text), -1) {
			read = append(read, m[1])
		}
	}
	known := variables()
	var serve *cobra.Command
	for _, c := range (&app{world: world{env: func(string) string { return "" }}}).root().Commands() {
		if c.Name() == "serve" {
			serve = c
		}
	}
	serve.Flags().VisitAll(func(f *pflag.Flag) {
		name := "VERBATIM_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		if f.Name != "sign-in" && f.Name != "help" && known[name] == "" {
			t.Errorf("--%s has no variable", f.Name)
		}
		read = append(read, name)
	})
	for name, purpose := range known {
		if !slices.Contains(read, name) {
			t.Errorf("%s is listed and never read", name)
		}
		if purpose == "" {
			t.Errorf("%s is for nothing", name)
		}
	}
	for _, name := range read {
		if known[name] == "" && name != "VERBATIM_SIGN_IN" && name != "VERBATIM_HELP" {
			t.Errorf("%s is read and not listed", name)
		}
	}
}

// A misspelt variable is an error with the nearest name, another's variable is none, a secret can
// stand in a file, and a flag of serve takes its variable. G87
func TestVariablesAreRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "store")
	if err := os.WriteFile(file, []byte("nowhere/at-all.db\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		environ []string
		args    string
		says    string
	}{
		{[]string{"VERBATIM_STOER=a.db"}, "log verify", "did you mean VERBATIM_STORE?"},
		{[]string{"VERBATIM_PALETES=a"}, "lint", "did you mean VERBATIM_PALETTES?"},
		{[]string{"VERBATIM_WHATSAPP_SECRET=a"}, "help variables", "VERBATIM_STORE"},
		{[]string{"TEST_JUDGES=a", "VERBATIM_=b"}, "help variables", "VERBATIM_STORE"},
		{[]string{"VERBATIM_STORE_FILE=" + file}, "log verify", "nowhere"},
		{[]string{"VERBATIM_STORE_FILE=" + file + ".not"}, "log verify", "VERBATIM_STORE_FILE names a file that cannot be read"},
		{[]string{"VERBATIM_STORE_FILE=" + file, "VERBATIM_STORE=a.db"}, "log verify", "both VERBATIM_STORE and VERBATIM_STORE_FILE"},
		{[]string{"VERBATIM_LISTEN=0.0.0.0:1"}, "serve", "others reach that address"},
		{[]string{"VERBATIM_BEHIND_PROXY=maybe"}, "serve", `VERBATIM_BEHIND_PROXY is "maybe"`},
		{[]string{"VERBATIM_LISTEN=0.0.0.0:1", "VERBATIM_BEHIND_PROXY=true"}, "serve", "nothing says how people reach it"},
	} {
		env := func(name string) string {
			for _, set := range c.environ {
				if of, value, _ := strings.Cut(set, "="); of == name {
					return value
				}
			}
			return ""
		}
		var out bytes.Buffer
		run(context.Background(), world{load: loadOnce, args: strings.Fields(c.args), in: strings.NewReader(""), out: &out, err: &out, env: env, environ: c.environ})
		if !strings.Contains(out.String(), c.says) {
			t.Errorf("%v, %s: %q is not in\n%s", c.environ, c.args, c.says, &out)
		}
	}
}
