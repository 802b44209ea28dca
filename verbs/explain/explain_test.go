package explain_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/verbs"
	"verbatim/verbs/explain"
	"verbatim/verbs/load"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func pay(t *testing.T) *verbs.Registry {
	t.Helper()
	text, err := os.ReadFile("../drift/testdata/base.yaml")
	if err != nil {
		t.Fatal(err)
	}
	r, ds := load.Sources(dsl.NewSource("verbs/pay.yaml", string(text)))
	if r == nil {
		t.Fatal(ds)
	}
	return r
}

// golden compares with a file under testdata; -update rewrites it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; run with -update and read the difference\n%s", path, got)
	}
}

// The reference of a verb says everything that decides whether one dares to
// use it.
func TestExplain(t *testing.T) {
	t.Parallel()
	r := pay(t)
	var b bytes.Buffer
	for i, v := range r.Verbs() {
		if i > 0 {
			b.WriteString("----\n")
		}
		if err := explain.Verb(&b, v); err != nil {
			t.Fatal(err)
		}
	}
	golden(t, "pay.txt", b.Bytes())
}

// The reference of a palette reads as a page.
func TestMarkdown(t *testing.T) {
	t.Parallel()
	r := pay(t)
	var b bytes.Buffer
	if err := explain.Palette(&b, r, r.Palette("pay")); err != nil {
		t.Fatal(err)
	}
	golden(t, "pay.md", b.Bytes())
}

// X6: the reference of a verb that is kept for work says that nobody can call it, and shows no call.
func TestExplainOfInternalVerb(t *testing.T) {
	t.Parallel()
	r, ds := load.Sources(dsl.NewSource("x.yaml", `domain: x
roles: [{name: clerk, description: c}]
verbs:
  - verb: chase
    description: Chase the order.
    roles: [clerk]
    internal: true
    args: [{name: title, type: string, required: true}]
    effects: [{notifies: supplier, with: {title: title}}]
    undo: {none: it was said}
  - verb: order
    description: Order it.
    roles: [clerk]
    handler: true
    phrases: [order it]
    undo: {none: it was said}
    effects: [{triggers: chaser, at: now + days(1), run: 'x.chase :title "Bricks"'}]
`))
	if r == nil {
		t.Fatal(ds)
	}
	var b strings.Builder
	if err := explain.Verb(&b, r.Verb("x.chase")); err != nil || !strings.Contains(b.String(), "nobody can call it") || strings.Contains(b.String(), "\n  x.chase") {
		t.Errorf("it is explained as\n%s", b.String())
	}
}
