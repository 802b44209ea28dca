package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"verbatim/verbs/palettes"
)

func lints(t *testing.T, args ...string) (code int, out, said string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(context.Background(), world{args: append([]string{"lint"}, args...), in: strings.NewReader(""), out: &o, err: &e,
		env: func(string) string { return "" }, now: func() time.Time { return morning }, terminal: openTerminal})
	return code, o.String(), e.String()
}

// Each set that is shipped passes by itself, with the program's own palettes beside it, and is what
// the program carries: of the same version, so that what waits for an agreement still does.
func TestEachSetPasses(t *testing.T) {
	t.Parallel()
	code, out, said := lints(t, "../../verbs/palettes")
	if code != exitDone || said != "" {
		t.Errorf("%d: %s", code, said)
	}
	for _, name := range palettes.Names() {
		if !strings.Contains(out, "ok   "+name+": ") || !strings.Contains(out, "0 errors, 0 warnings") {
			t.Errorf("%s is not checked:\n%s", name, out)
		}
		folder, carried := loadedFrom(t, filepath.Join("../../verbs/palettes", name)), loadedFrom(t, name)
		if folder.Digest() != carried.Digest() {
			t.Errorf("%s is of another version than its folder", name)
		}
	}
	// One that fails is named, and the others are checked all the same.
	dir := t.TempDir()
	for name, text := range map[string]string{"good": "domain: good\ndescription: Good.\n", "wrong": "domain: wrong\nrules: []\n"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "one.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	code, out, said = lints(t, dir)
	if code != exitInput || !strings.Contains(out, "ok   good: 1 palette") || !strings.Contains(said, "\nwrong: 1 error, ") {
		t.Errorf("%d:\n%s\n%s", code, out, said)
	}
	if code, out, said = lints(t, dir, "--json"); code != exitInput || strings.Count(out, `"schema"`) != 1 || !strings.Contains(out, `"ok":false,"palettes":2,`) {
		t.Errorf("%d:\n%s\n%s", code, out, said)
	}
}

// G67: the palette that the source document prints lints with warnings alone, by the command, which
// has the program's own palettes beside it.
func TestThePrintedPaletteLints(t *testing.T) {
	t.Parallel()
	code, out, said := lints(t, "../../verbs/testdata/printed")
	if code != exitDone || strings.Contains(said, "error[") || !strings.Contains(out, ", 0 errors, ") || !strings.Contains(said, "warning[any-code]: the codes of document-type are declared nowhere") {
		t.Errorf("%d:\n%s\n%s", code, out, said)
	}
}
