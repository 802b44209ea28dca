package load

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"verbatim/dsl"
)

// SAFE-P5: one wrong word anywhere in a palette is reported, whatever else depends on that word.
// Each of these once crashed the loader, far from the mistake.
func TestOneWrongWordIsReported(t *testing.T) {
	t.Parallel()
	const roles = "domain: a\nroles: [{name: r, description: x}]\n"
	for name, c := range map[string]struct{ palette, code string }{
		"the entity of a read that a page shows": {roles + `entities:
  loan: {description: x, managed: true, key: loan_id, scope: everyone, label: "{due}", fields: {due: {type: date, required: true}}}
pages:
  - {role: r, title: Loans, items: {verb: a.mine, row: loan, title: [due]}}
verbs:
  - {verb: mine, description: x, roles: [r], reads: {entity: loans, fields: {loan: loan_id, due: due}}}
`, "unknown-entity"},
		"the type of the argument that a value is sealed for": {roles + `entities:
  loan: {description: x, managed: true, key: loan_id, scope: everyone, fields: {pin: {type: string, sensitive: true}}}
verbs:
  - verb: open
    description: x
    roles: [r]
    args: [{name: key, type: strnig, required: true}]
    looks: [loan]
    discloses: [{name: pin, type: string, sealed: {for: key, bound: [key]}}]
`, "unknown-type"},
		"the type of an argument of a query": {roles + `verbs:
  - verb: sales
    description: x
    roles: [r]
    args: [{name: since, type: dtae, required: true}]
    query: {columns: {n: integer}, sql: "SELECT 1 AS n WHERE :since IS NOT NULL"}
`, "unknown-type"},
		"the fields of a record that a macro goes through": {roles + `entities:
  line: {description: x, managed: true, key: line_id, scope: everyone, fields: {n: {type: integer}}}
verbs:
  - {verb: add, description: x, roles: [r], args: [{name: n, type: integer}], effects: [{creates: line, set: {n: n}}]}
  - verb: all
    description: x
    roles: [r]
    args: [{name: lines, type: list, required: true, of: {type: record, null: {n: {type: integer}}}}]
    for-each: lines
    script: "a.add :n @each.n"
`, "missing-key"},
	} {
		r, ds := Sources(dsl.NewSource("a.yaml", c.palette))
		codes := map[string]bool{}
		for _, d := range ds {
			codes[d.Code] = true
		}
		if r != nil || !codes[c.code] {
			t.Errorf("%s: %s", name, inWords(ds))
		}
	}
}

// SAFE-P5: the palettes that are shipped, with one plain scalar replaced at a time: a registry or
// errors, and no panic. every picks a few of about 14 000 scalars; with 1, all of them take minutes.
func TestMutatedPalettesLoadOrAreRefused(t *testing.T) {
	t.Parallel()
	const every = 43
	with := []string{"x", "null", "[]", "{}", "@x", "-1", "a.b.c"} // in turn; x is put behind the value
	var files []string
	for _, pattern := range []string{"../../examples/*/verbs/*.yaml", "../palettes/k*/*.yaml", "../palettes/manda/*.yaml", "../palettes/confidence/graph.yaml"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatal(pattern, err)
		}
		files = append(files, found...)
	}
	palettes := map[string]map[string]string{} // texts by folder and file
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Dir(file)
		if palettes[dir] == nil {
			palettes[dir] = map[string]string{}
		}
		palettes[dir][filepath.Base(file)] = string(text)
	}
	nth, tried := 0, 0
	for _, file := range files {
		dir, base := filepath.Dir(file), filepath.Base(file)
		text := palettes[dir][base]
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(text, "\n")
		for _, n := range plainScalars(&doc, nil) {
			line, from := []rune(lines[n.Line-1]), n.Column-1
			to := from + len([]rune(n.Value))
			if to > len(line) || string(line[from:to]) != n.Value {
				continue // written over several lines
			}
			if nth++; nth%every != 0 {
				continue
			}
			with := with[tried%len(with)]
			if with == "x" {
				with = n.Value + with
			}
			tried++
			mutated := strings.Join(lines[:n.Line-1], "\n") + "\n" + string(line[:from]) + with + string(line[to:]) + "\n" + strings.Join(lines[n.Line:], "\n")
			var srcs []*dsl.Source
			for name, whole := range palettes[dir] {
				if name == base {
					whole = mutated
				}
				srcs = append(srcs, dsl.NewSource(name, whole))
			}
			if r, ds := Sources(srcs...); (r == nil) != ds.HasErrors() {
				t.Errorf("%s:%d, %q for %q: a registry: %v\n%s", file, n.Line, with, n.Value, r != nil, inWords(ds))
			}
		}
	}
	if tried < 100 {
		t.Errorf("only %d mutations", tried)
	}
}

// plainScalars lists the scalars of a document that are written without quotes.
func plainScalars(n *yaml.Node, all []*yaml.Node) []*yaml.Node {
	if n.Kind == yaml.ScalarNode && n.Style == 0 {
		all = append(all, n)
	}
	for _, child := range n.Content {
		all = plainScalars(child, all)
	}
	return all
}

// The members that a tool is sent have the names of another system: user-id and user_id are two.
func TestMembersOfAToolAreTheirOwnNames(t *testing.T) {
	t.Parallel()
	const palette = `domain: a
roles: [{name: r, description: x}]
verbs:
  - verb: find
    description: x
    roles: [r]
    args: [{name: one, type: string, required: true}, {name: two, type: string, required: true}]
    tool: {server: s, name: find, read-only: true, with: {user-id: one, user_id: two%s}}
`
	r, ds := Sources(dsl.NewSource("a.yaml", fmt.Sprintf(palette, "")))
	if r == nil {
		t.Fatal(inWords(ds))
	}
	var sent []string
	for _, s := range r.Verb("a.find").Tool.Sends {
		sent = append(sent, s.Key)
	}
	if got := strings.Join(sent, " "); got != "user-id user_id" {
		t.Errorf("it is sent %s", got)
	}
	if r, _ := Sources(dsl.NewSource("a.yaml", fmt.Sprintf(palette, ", user_id: one"))); r != nil {
		t.Error("a member is sent twice")
	}
}
