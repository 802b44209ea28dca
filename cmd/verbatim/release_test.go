package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

const releases = "release"

// The upgrade of a store is what its guide says, command by command. SAFE-R10
func TestTheUpgradeGuideIsPlayed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("guide/upgrade.md")
	if err != nil {
		t.Fatal(err)
	}
	s := newShell(t)
	for _, line := range []string{
		"cp -r verbs verbs-before", "verbatim log keygen journal.key --name example.com/bank >journal.pub",
		"verbatim run --as clara accountant.dsl",
	} {
		if out, said, code := s.run(t, line); code != exitDone {
			t.Fatalf("%s: %d\n%s%s", line, code, out, said)
		}
	}
	played := 0
	for _, m := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		for line := range strings.Lines(m[1]) {
			if out, said, code := s.run(t, strings.TrimSpace(line)); code != exitDone {
				t.Errorf("%s: %d\n%s%s", strings.TrimSpace(line), code, out, said)
			}
			played++
		}
	}
	if played < 6 {
		t.Errorf("%d commands were played", played)
	}
}

// The program needs nothing of the machine: alone in a folder, as in an empty image, it
// makes a store, checks, runs and shows.
func TestTheProgramStandsAlone(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root changes the root folder")
	}
	dir := t.TempDir()
	if err := layOut(filepath.Join(dir, "bank")); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "verbatim")
	if built := os.Getenv("TEST_PROGRAM"); built != "" { // by make test, for all tests
		file, err := os.ReadFile(built)
		if err == nil {
			err = os.WriteFile(program, file, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	} else {
		build := exec.Command("go", "build", "-o", program, ".")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if said, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "tmp"), 0o777); err != nil {
		t.Fatal(err)
	}
	debug := ""
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("chroot", append([]string{dir, "/verbatim"}, args...)...)
		cmd.Env = []string{"VERBATIM_PALETTES=/bank/verbs", "VERBATIM_STORE=/tmp/bank.db", "TMPDIR=/tmp", "VERBATIM_ZONE=Europe/Berlin", "GODEBUG=" + debug}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	run("version")
	run("migrate", "--data", "/bank/bank.sql", "--data", "/bank/people.sql")
	if got := run("run", "--as", "clara", "/bank/accountant.dsl"); !strings.Contains(got, "applied  1 call") {
		t.Errorf("%s", got)
	}
	run("log", "verify")

	// Every command waits for what the packages make before main: what is large, such as a long
	// expression, is made when it is first used (PERF-L2).
	debug = "inittrace=1"
	made := 0
	for _, m := range regexp.MustCompile(`(?m)^init (?:verbatim/\S+|main) @.* (\d+) bytes, \d+ allocs$`).FindAllStringSubmatch(run("version"), -1) {
		n, _ := strconv.Atoi(m[1])
		made += n
	}
	if made == 0 || made > 650_000 {
		t.Errorf("our packages make %d bytes before the program begins", made)
	}
}

// What starts the program uses flags and commands that there are, and the unit of systemd
// leaves the service no rights that it does not need.
func TestWhatStartsTheProgram(t *testing.T) {
	t.Parallel()
	a := &app{world: world{env: func(string) string { return "" }}}
	flags := func(args []string) {
		t.Helper()
		cmd, rest, err := a.root().Find(args)
		if err == nil {
			err = cmd.ParseFlags(rest)
		}
		if err != nil || !cmd.HasParent() {
			t.Errorf("%q: %v", args, err)
		}
	}
	container, err := os.ReadFile(filepath.Join(releases, "Containerfile"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^CMD (\[.*\])$`).FindSubmatch(container)
	var args []string
	if m == nil || yaml.Unmarshal(m[1], &args) != nil {
		t.Fatal("the image starts nothing")
	}
	flags(args)
	unit, err := os.ReadFile(filepath.Join(releases, "verbatim.service"))
	if err != nil {
		t.Fatal(err)
	}
	start := regexp.MustCompile(`(?m)^ExecStart=\S+ (.*)$`).FindSubmatch(unit)
	if start == nil {
		t.Fatal("the unit starts nothing")
	}
	flags(strings.Fields(string(start[1])))
	manifests, err := os.ReadFile(filepath.Join(releases, "kubernetes.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	type started struct {
		Args            []string
		SecurityContext struct {
			ReadOnlyRootFilesystem   bool  `yaml:"readOnlyRootFilesystem"`
			AllowPrivilegeEscalation *bool `yaml:"allowPrivilegeEscalation"`
		} `yaml:"securityContext"`
	}
	seen := 0
	for d := yaml.NewDecoder(bytes.NewReader(manifests)); ; {
		var doc struct {
			Kind string
			Spec struct {
				Template struct {
					Spec struct{ Containers []started }
				}
			}
		}
		if d.Decode(&doc) != nil {
			break
		}
		for _, c := range doc.Spec.Template.Spec.Containers {
			flags(c.Args)
			if p := c.SecurityContext.AllowPrivilegeEscalation; !c.SecurityContext.ReadOnlyRootFilesystem || p == nil || *p {
				t.Errorf("%q may write to its root, or gain rights", c.Args)
			}
			seen++
		}
	}
	if seen != 2 {
		t.Errorf("%d containers, want a server and a worker", seen)
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("no systemd-analyze")
	}
	out, err := exec.Command(analyze, "security", "--offline=true", "--threshold=15", filepath.Join(releases, "verbatim.service")).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
