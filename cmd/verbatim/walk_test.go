package main

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// mostWalked bounds in how many files of the product one run of an add-note script
// executes a statement. It was 177 before the engine was rebuilt, and 88 is the
// goal. It is only ever lowered.
const mostWalked = 156

var walk = flag.Bool("walk", false, "have TestAWalkThroughOneCallIsShort build the program to count files: make marathon")

// A reader who follows one call through the program has to open few files. It compiles every
// package anew to count them, for 50 seconds of processor time, so only make marathon does it.
func TestAWalkThroughOneCallIsShort(t *testing.T) {
	t.Parallel()
	if !*walk {
		t.Skip("make marathon walks")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "verbatim")
	build := exec.Command("go", "build", "-cover", "-coverpkg=verbatim/...", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	if err := layOut(dir); err != nil {
		t.Fatal(err)
	}
	note := "client.add-note :request-id @pierre-dupont-source-of-wealth :note \"by the end of the month\" :expected-date " + time.Now().AddDate(0, 0, 7).Format(time.DateOnly) + "\n"
	if err := os.WriteFile(filepath.Join(dir, "note.dsl"), []byte(note), 0o600); err != nil {
		t.Fatal(err)
	}
	covered := filepath.Join(dir, "covered")
	if err := os.Mkdir(covered, 0o700); err != nil {
		t.Fatal(err)
	}
	run := exec.Command(program, "run", "--as", "clara", "note.dsl")
	run.Dir = dir
	run.Env = append(os.Environ(), "GOCOVERDIR="+covered, "XDG_STATE_HOME="+dir)
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("verbatim run: %v\n%s", err, out)
	}
	profile := filepath.Join(dir, "profile")
	if out, err := exec.Command("go", "tool", "covdata", "textfmt", "-i", covered, "-o", profile).CombinedOutput(); err != nil {
		t.Fatalf("go tool covdata: %v\n%s", err, out)
	}
	text, err := os.ReadFile(profile)
	if err != nil {
		t.Fatal(err)
	}
	files, rooms := map[string]bool{}, map[string]int{}
	for line := range strings.Lines(string(bytes.TrimSpace(text))) {
		name, _, ok := strings.Cut(line, ":")
		if !ok || name == "mode" || strings.HasSuffix(strings.TrimSpace(line), " 0") || files[name] {
			continue
		}
		files[name] = true
		rooms[path.Dir(name)]++
	}
	t.Logf("%d files: %v", len(files), rooms)
	if len(files) > mostWalked {
		t.Errorf("one run executes statements in %d files, at most %d: %v", len(files), mostWalked, rooms)
	}
	if len(files) < 20 {
		t.Errorf("only %d files were found: %v", len(files), rooms)
	}
}
