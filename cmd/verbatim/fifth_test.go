package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// F29: a fifth language is files and no Go. The program is built with two more files, of
// how the language is read and of what is said in it, and given palettes with a file in
// it beside them: then a conversation is heard, matched, asked, answered and told in it.
func TestAFifthLanguageIsFilesAllTheWay(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program anew")
	}
	t.Parallel()
	dir := t.TempDir()
	at := func(parts ...string) string {
		file, err := filepath.Abs(filepath.Join(parts...))
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		at(root, "runtime/conversation/values/tongues/eo.txt"):   at("testdata/tongue/tongue.txt"),
		at(root, "runtime/conversation/values/catalogue/eo.txt"): at("testdata/tongue/catalogue.txt"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "overlay.json"), overlay)
	program := filepath.Join(dir, "verbatim")
	build := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, from := range []string{filepath.Join(root, "verbs/palettes/bank/*.yaml"), "testdata/tongue/*.yaml", filepath.Join(root, "examples/client/*.sql")} {
		files, err := filepath.Glob(from)
		if err != nil || len(files) == 0 {
			t.Fatal(from, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			into := filepath.Join(dir, "verbs", filepath.Base(file))
			if filepath.Ext(file) == ".sql" {
				into = filepath.Join(dir, filepath.Base(file))
			}
			put(t, into, text)
		}
	}
	run := func(in string, args ...string) string {
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(in)
		cmd.Env = append(os.Environ(), "VERBATIM_STORE="+filepath.Join(dir, "v.db"), "VERBATIM_PALETTES="+filepath.Join(dir, "verbs"), "VERBATIM_AS=clara", "XDG_STATE_HOME="+dir, "TERM=dumb")
		var told strings.Builder
		cmd.Stderr = &told
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v\n%s%s", args, err, out, &told)
		}
		return string(out)
	}
	run("", "migrate", "--data", "bank.sql", "--data", "people.sql")
	said := run("Kio ankoraŭ mankas?\nnia librotenisto ankoraŭ prilaboras ĝin\nla dua\njes\nĈu vi povas pruntedoni monon?\n", "chat")
	for _, want := range []string{
		`Assistant: Ankoraŭ mankas:\n1\. Thomas Müller, identeco\n2\. Pierre Dupont, fonto de riĉaĵo\n`,
		`Assistant: Pri kiu peto temas\? Thomas Müller \(identeco\), Pierre Dupont \(fonto de riĉaĵo\) aŭ Maria Schmidt \(naskiĝdato\)\n`,
		`Assistant: Ĉu mi notu pri Pierre Dupont \(fonto de riĉaĵo\): “nia librotenisto ankoraŭ prilaboras ĝin”\?\nRespondu jes aŭ ne, aŭ diru “detaloj”\. \(valida ĝis \d\d:\d\d UTC\)\n`,
		`Assistant: Notita pri Pierre Dupont \(fonto de riĉaĵo\): nia librotenisto ankoraŭ prilaboras ĝin\.\n`,
		`Assistant: Tion mi ne komprenis\. .*Plej proksime estas: "kio ankoraŭ mankas", `,
	} {
		if !regexp.MustCompile(want).MatchString(said) {
			t.Errorf("nobody says %s:\n%s", want, said)
		}
	}
	if read := run("", "say", "--language", "eo", "Lasu noton pri @thomas-muller-identity: ĝi venos la 3 marto 2027"); !strings.Contains(read, "2027-03-03") {
		t.Errorf("it is read as %s", read)
	}
}

func put(t *testing.T, file string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o666); err != nil {
		t.Fatal(err)
	}
}
