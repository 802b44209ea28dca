package storetest

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"verbatim/stores"
	"verbatim/stores/search"
)

// tableLines reads the lines of a data file that are no comments. Tests of a store run in its folder.
func tableLines(t *testing.T, file string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			all = append(all, line)
		}
	}
	return all
}

// remark makes a request with some notes.
func remark(w *world, n int, text string) stores.Change {
	return insert(w.request, id("request", 1000+n), stores.Assign{Field: reqWorkstream, Value: id("workstream", 1)}, stores.Assign{Field: reqSubtype, Value: str(fmt.Sprint("S", n))}, stores.Assign{Field: reqNotes, Value: str(text)})
}

// What stands in the tables of facts is the same in every store.
var tableCases = []testCase{
	{"each line of the table of letters finds the name that it spells", func(t *testing.T, open Open) { // G49
		w := newWorld(t, func(t *testing.T, entities []*stores.Entity) stores.Store {
			for _, e := range entities {
				if e.Name == "request" {
					e.Search = &stores.Search{Names: []int{reqNotes}}
				}
			}
			return open(t, entities)
		})
		lines := tableLines(t, "../search/letters.txt")
		if len(lines) < 150 {
			t.Errorf("%d lines", len(lines))
		}
		name := func(n int, letters string) string { // which no two lines share
			return "B" + letters + "q " + strings.Map(func(r rune) rune { return r - '0' + 'p' }, fmt.Sprintf("%03d", n))
		}
		// Letters of the 26 are spelled so in names of their language, which other letters show.
		sign := func(f []string, az string) string {
			switch {
			case f[0][len(f[0])-1] > 'z':
				return ""
			case f[1] == "az":
				return az
			}
			return "petrov "
		}
		var changes []stores.Change
		kept := map[string]string{} // the first spelling of a letter
		for n, line := range lines {
			f := strings.Fields(line)
			if kept[f[0]] == "" {
				kept[f[0]] = f[3]
			}
			changes = append(changes, remark(w, n, name(n, f[0]+sign(f, "ə"))))
		}
		w.must(w.do(everything, changes...))
		w.must(w.View(context.Background(), everything, func(r stores.Reader) error {
			for n, line := range lines {
				f := strings.Fields(line)
				for _, spelled := range f[3:] {
					spelled = strings.TrimPrefix(spelled, "-")
					// An index keeps the first spelling; another one is as far from it as its letters are.
					edits := search.NewPattern(strings.TrimPrefix(kept[f[0]], "-")).Distance([]byte(spelled))
					if spelled += sign(f, "a"); f[0] >= "一" && f[0] <= "힣" { // a word of its own
						spelled += " "
					}
					found, _, err := r.Match(context.Background(), stores.Match{Entity: w.request, Text: name(n, spelled), Edits: edits, Limit: len(lines)})
					if err != nil {
						return err
					}
					if !slices.Contains(keysOf(found), id("request", 1000+n).Text()) {
						t.Errorf("%s, spelled %q, is not found within %d: %v", f[0], spelled, edits, found)
					}
				}
			}
			return nil
		}))
	}},
	{"each line of the tables of numbers is kept and found as it is written", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		lines := append(tableLines(t, "../../verbs/values/testdata/ibans.txt"), tableLines(t, "../../verbs/values/testdata/phones.txt")...)
		for _, line := range tableLines(t, "../../verbs/values/testdata/values.txt") {
			if kept := line[strings.LastIndexByte(line, '|')+1:]; !strings.HasPrefix(kept, "!") {
				lines = append(lines, kept)
			}
		}
		for _, line := range tableLines(t, "../../verbs/values/currencies.txt") {
			lines = append(lines, strings.Fields(line)[0])
		}
		var changes []stores.Change
		for n, line := range lines {
			_, number, phone := strings.Cut(line, "|")
			if lines[n] = line; phone {
				lines[n], _, _ = strings.Cut(number, "|")
			}
			changes = append(changes, remark(w, n, lines[n]))
		}
		w.must(w.do(everything, changes...))
		for n, line := range lines {
			rows, err := w.find(everything, stores.Find{Entity: w.request, Where: &stores.Cond{Op: stores.Eq, Path: stores.Path{Field: reqSubtype}, Value: str(fmt.Sprint("S", n))}, Select: []stores.Path{{Field: reqNotes}}})
			if w.must(err); len(rows) != 1 || rows[0][0].Text() != line {
				t.Errorf("%s is kept as %v", line, rows)
			}
		}
		quoted := make([]string, len(lines))
		for i, line := range lines {
			quoted[i] = fmt.Sprintf("%q", line)
		}
		rows, err := w.find(everything, stores.Find{Entity: w.request, Where: &stores.Cond{Op: stores.In, Path: stores.Path{Field: reqNotes}, Value: list("[" + strings.Join(quoted, ",") + "]")}, Select: []stores.Path{{Field: reqNotes}}})
		if w.must(err); len(rows) != len(lines) || len(lines) < 700 {
			t.Errorf("%d of %d are found", len(rows), len(lines))
		}
	}},
}
