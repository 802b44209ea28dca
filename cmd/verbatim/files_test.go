package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/conversation/eval"
	"verbatim/runtime/domains/confidence"
	"verbatim/runtime/domains/confidence/modeltest"
	"verbatim/runtime/frontends/mcp/guard"
	"verbatim/runtime/jobs/notify"
	"verbatim/runtime/protocols/mcp"
	"verbatim/verbs/load"
	"verbatim/verbs/pack"
)

// G70: whatever file the program reads, a key that means nothing or stands twice, a null, a fraction
// in place of a whole number and a second document are errors that name their line. Each fault is one
// line that takes the place of the last, or follows it.
func TestEveryFileIsReadStrictly(t *testing.T) {
	t.Parallel()
	lock := func(text []byte) error { _, err := pack.ReadLock(text); return err }
	kept := func(name string) func([]byte) error {
		return func(text []byte) error {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
				return err
			}
			state, err := guard.OpenState(dir)
			if err != nil {
				return err
			}
			if name == "pins.json" {
				_, err = state.Known()
				return err
			}
			if _, err = state.Uninstall(guard.Client{Name: "claude"}); errors.Is(err, os.ErrNotExist) {
				return nil // the client's own file
			}
			return err
		}
	}
	for name, f := range map[string]struct {
		read           func([]byte) error
		good           string
		whole, nothing string // a line with a fraction, and one with a null; "" where there is no such
	}{
		"palette": {func(text []byte) error {
			_, ds := load.Sources(dsl.NewSource("p.yaml", string(text)))
			for _, d := range ds {
				if d.Severity == dsl.Error {
					return fmt.Errorf("line %d: %s", d.Place.Source.Position(d.Place.Range.Start).Line, d.Summary)
				}
			}
			return nil
		}, "domain: x\ndescription: Of x.\nroles:\n  - {name: r, description: An r.}\nverbs:\n  - verb: a\n    description: Does a.\n    roles: [r]\n    phrases: [a]\n    handler: true\n    args:\n      - name: n\n        type: string\n        max-length: 5",
			"        max-length: 5.5", "        max-length:"},
		"servers.yaml": {func(text []byte) error { _, err := mcp.ReadConfig(text); return err },
			"servers:\n  desk:\n    command: [desk]\n    max-answer: 4096", "    max-answer: 4096.5", "    max-answer:"},
		"servers.accepted.json": {func(text []byte) error { _, err := mcp.ReadAccepted(text); return err },
			"{\"tools\": [{\n\"server\": \"s\", \"name\": \"n\", \"input\": {\"default\": null},\n\"description\": \"d\"\n}]}", "\"description\": 0.5", ""},
		"guard.yaml": {func(text []byte) error { _, err := guard.ReadRules(text); return err },
			"rules:\n  - tools: [a.b]\n    then: pass\n    per-hour: 5", "    per-hour: 5.5", "    per-hour:"},
		"pins.json":      {kept("pins.json"), "{\"s\": {\"tools\": {\"t\": {\"default\": null}},\n\"reads\": []\n}}", "\"reads\": 0.5", ""},
		"installed.json": {kept("installed.json"), "{\n\"claude\": {\n\"File\": \"x\"\n}}", "\"File\": 0.5", ""},
		"channels.json": {func(text []byte) error {
			_, err := notify.Read(bytes.NewReader(text), notify.Options{})
			return err
		}, "{\"channels\": {\"out\": {\n\"kind\": \"log\",\n\"path\": \"-\"\n}}, \"routes\": {\"*\": {\"channel\": \"out\"}}}", "\"path\": 0.5", "\"path\": null"},
		"settings of an agent": {func(text []byte) error { _, err := confidence.ReadConfig(text); return err },
			"config:\n  max_iterations: 15", "  max_iterations: 15.5", "  max_iterations:"},
		"data set": {func(text []byte) error { _, err := dialog.ReadDataset(bytes.NewReader(text)); return err },
			"as: clara\ncases:\n  - id: A-1\n    turns: [hello]\n    checks: []\nthreshold: 90", "threshold: 99.9", "threshold:"},
		"race.yaml": {func(text []byte) error {
			file := filepath.Join(t.TempDir(), "race.yaml")
			if err := os.WriteFile(file, text, 0o600); err != nil {
				return err
			}
			_, err := modeltest.ReadRace(file)
			return err
		}, "scale: 1", "", "scale:"},
		"pack.json": {func(text []byte) error { _, err := pack.ReadManifest(text); return err },
			"{\"name\": \"x\", \"version\": \"1.0.0\",\n\"description\": \"d\"\n}", "\"description\": 0.5", "\"description\": null"},
		"verbatim.lock": {lock, "{\"packs\": {\"x\": {\"version\": \"1.0.0\",\n\"digest\": \"d\"\n}}}", "\"digest\": 0.5", "\"digest\": null"},
		"a kept run": {func(text []byte) error { _, err := eval.Read(text); return err },
			"{\"schema\": \"" + eval.Schema + "\",\n\"tokens\": 5\n}", "\"tokens\": 5.5", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := f.read([]byte(f.good)); err != nil && name != "a kept run" && name != "data set" { // these say more of what they lack
				t.Fatalf("the good file: %v", err)
			}
			isJSON := strings.HasPrefix(f.good, "{")
			lines := strings.Split(f.good, "\n")
			last := len(lines) - 1 // what is changed
			if isJSON {
				last--
			}
			with := func(line string) string {
				all := append([]string{}, lines...)
				all[last] = line
				return strings.Join(all, "\n")
			}
			twice, odd := lines[last]+"\n"+lines[last], regexp.MustCompile(`[\w-]+`).ReplaceAllString(lines[last], "${0}z")
			if isJSON {
				twice, odd = lines[last]+",\n"+lines[last], strings.Replace(lines[last], `":`, `z":`, 1)
			}
			faults := map[string]string{"an odd key": with(odd), "a key twice": with(twice), "a fraction": with(f.whole), "a null": with(f.nothing), "a second document": f.good + "\n---\n" + f.good}
			if isJSON {
				faults["a second document"] = f.good + "\n{}"
			}
			for fault, text := range faults {
				if fault == "a fraction" && f.whole == "" || fault == "a null" && f.nothing == "" {
					continue
				}
				at := last + 1
				switch {
				case fault == "a key twice":
					at++
				case fault == "a second document":
					at = strings.Count(f.good, "\n") + 2
				}
				if err := f.read([]byte(text)); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("line %d", at)) && !strings.Contains(err.Error(), fmt.Sprintf("line %d", at+1)) {
					t.Errorf("%s in line %d: %v\n%s", fault, at, err, text)
				}
			}
		})
	}
}
