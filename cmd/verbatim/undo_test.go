package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/runtime/domains/confidence"
	"verbatim/runtime/domains/rights"
	"verbatim/runtime/frontends/channel"
	"verbatim/runtime/jobs/workflow"
	"verbatim/verbs/load"
	"verbatim/verbs/palettes"
)

// Each verb of the palettes that we hand out says how it is taken back, or why it is not; the
// table of them is what it was when somebody last looked at it.
func TestShippedVerbsSayHowTheyAreTakenBack(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	tell := func(where string, srcs ...*dsl.Source) {
		reg, ds := load.Sources(srcs...)
		if ds.HasErrors() {
			t.Fatal(where, ds)
		}
		for _, name := range reg.NoUndo() {
			t.Errorf("%s: %s does not say how it is taken back", where, name)
		}
		fmt.Fprintf(&table, "%s\n\n", where)
		for _, v := range reg.Verbs() {
			var how string
			switch u := v.Undo; {
			case u == nil:
				continue // it changes nothing, or only work calls it
			case u.None != "":
				how = "none          " + u.None
			case u.Call != nil:
				how = "compensation  " + dsl.FormatCall(&u.Call.Script.Calls[0])
			default:
				how = "inverse       the rows as they were"
			}
			fmt.Fprintf(&table, "    %-32s %s\n", v.Name, how)
		}
		table.WriteByte('\n')
	}
	tell("runtime", rights.Source(), channel.Source(), workflow.Source(), confidence.Source())
	dirs, err := filepath.Glob(filepath.Join(root, "examples/*/verbs"))
	if err != nil || len(dirs) < 3 {
		t.Fatal(dirs, err)
	}
	var sets []string
	for _, name := range palettes.Names() {
		sets = append(sets, filepath.Join(root, "verbs/palettes", name))
	}
	for _, dir := range append(sets, dirs...) {
		files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		var load []*dsl.Source
		for _, file := range files {
			if filepath.Base(file) == "confidence.yaml" {
				continue // it is among the program's own
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			load = append(load, dsl.NewSource(filepath.Base(file), string(text)))
		}
		where, err := filepath.Rel(root, dir)
		if err != nil {
			t.Fatal(err)
		}
		tell(filepath.ToSlash(where), load...)
	}
	const golden = "testdata/undo/shipped.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(golden); err != nil || string(want) != table.String() {
		t.Errorf("%s is not what the palettes say (-update writes it): %v", golden, err)
	}
}
