package load

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/verbs"
)

// spends fails when fn allocates more than most bytes. What is allocated stands
// for the work, since it is the same on a fast machine and on a busy one; it is
// the whole process's, so no other test may run meanwhile. How long it takes is
// measured by the benchmarks.
func spends(t *testing.T, most int, what string, fn func()) {
	t.Helper()
	// The counter is the whole process's, and a pool that the collector emptied
	// meanwhile, or the race detector, is filled again within it: what the work
	// itself asks for is what no attempt can do without.
	var got uint64
	for range 20 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		fn()
		runtime.ReadMemStats(&after)
		if got = after.TotalAlloc - before.TotalAlloc; got <= uint64(most) {
			return
		}
	}
	t.Errorf("%s allocates %d bytes, more than %d", what, got, most)
}

// checkLoad holds what is true of every load: no panic, a registry or an error
// and never both, each place within its text, each fix too, and all that for no
// more work than the size of what can be read asks for.
func checkLoad(t *testing.T, texts ...string) (*verbs.Registry, dsl.Diagnostics) {
	t.Helper()
	var srcs []*dsl.Source
	size := 0
	for i, text := range texts {
		if len(text) <= DefaultMaxFile {
			size += len(text)
		}
		srcs = append(srcs, dsl.NewSource(string(rune('a'+i))+".yaml", text))
	}
	var r *verbs.Registry
	var diags dsl.Diagnostics
	spends(t, 1<<19+400*size, "loading", func() { r, diags = Sources(srcs...) })
	if (r == nil) != diags.HasErrors() {
		t.Errorf("a registry: %v, errors: %v", r != nil, diags.HasErrors())
	}
	for _, d := range diags {
		if d.Code == "" || d.Summary == "" || strings.Contains(d.Summary, "\n") {
			t.Errorf("an odd diagnostic: %+v", d)
		}
		places := []dsl.Place{d.Place}
		for _, r := range d.Related {
			places = append(places, r.Place)
		}
		for _, f := range d.Fixes {
			for _, e := range f.Edits {
				places = append(places, dsl.Place{Source: d.Place.Source, Range: e.Range})
			}
		}
		for _, p := range places {
			if p.Source == nil || p.Range.Start < 0 || p.Range.Start > p.Range.End || int(p.Range.End) > len(p.Source.Text) {
				t.Errorf("%s: a place outside its text: %+v", d.Code, p.Range)
			}
		}
	}
	return r, diags
}

// SAFE-P5, SAFE-P1: whatever a file holds, Load ends soon, says what is wrong
// within it, and never loads a part.
func FuzzLoad(f *testing.F) {
	for _, pattern := range []string{"../palettes/bank/client.yaml", "../palettes/bank/client.de.yaml", "../testdata/printed/*.yaml", "testdata/wrong/*.yaml"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			for chunk := range strings.SplitSeq(string(text), "\n#---\n") {
				f.Add(chunk)
			}
		}
	}
	for _, doc := range loadCodes() {
		f.Add(doc.Wrong)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<16 {
			return
		}
		r, _ := checkLoad(t, text)
		if r != nil {
			for _, v := range r.Verbs() {
				evalAll(v)
			}
		}
	})
}

// SAFE-P7: whatever an expression holds, it is refused or it evaluates, to a
// value or an error.
func FuzzExpr(f *testing.F) {
	text, err := os.ReadFile("testdata/wrong/expressions.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		if _, when, ok := strings.Cut(line, "when: "); ok {
			when, _, _ = strings.Cut(when, " #!")
			f.Add(strings.Trim(when, `"'`))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		fix := newExprFixture(t)
		for _, w := range []want{wantAnything, wantBoolean, wantField(fix.row, fix.row.FieldNamed("limit"))} {
			e, diags := fix.compile(text, w)
			if (e == nil) != diags.HasErrors() {
				t.Fatalf("%q: an expression: %v, errors: %v", text, e != nil, diags)
			}
			if e == nil {
				continue
			}
			env := fix.env(e.Reads)
			v, err := e.Eval(env)
			if err == nil && w.is != nil && w.is.Name == verbs.BooleanType && v.Kind().String() != "boolean" && !v.IsNull() {
				t.Fatalf("%q: a condition is %s", text, v.Kind())
			}
		}
		d := fix.doc(text)
		if d.root == nil {
			return
		}
		if filter := fix.l.filter(d, d.root, scope{verb: fix.verb, row: fix.row}); filter != nil {
			filter.Cond(fix.env(filter.Reads))
		}
	})
}

// hostileFiles are made to be slow, or large.
func hostileFiles() map[string]string {
	laughs := "a: &a [x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c <= 'k'; c++ {
		p := string(c - 1)
		laughs += string(c) + ": &" + string(c) + " [" + strings.TrimSuffix(strings.Repeat("*"+p+", ", 9), ", ") + "]\n"
	}
	return map[string]string{
		"billion laughs":  laughs,
		"flow depth":      "domain: " + strings.Repeat("[", 100000),
		"flow maps":       "domain: " + strings.Repeat("{a: ", 100000),
		"block depth":     "domain: a\nverbs:\n" + strings.Repeat("- ", 100000),
		"question marks":  strings.Repeat("? ", 100000),
		"indents":         nested(3000),
		"100 MB":          strings.Repeat("#", 100<<20),
		"many fields":     "domain: a\nentities:\n  e:\n    key: k\n    scope: self\n    fields:\n" + repeat(3000, "      f%d: {type: string, column: c}\n"),
		"many bad keys":   "domain: a\n" + repeat(3000, "f%d: x\n"),
		"many bad verbs":  "domain: a\nverbs:\n" + repeat(700, "  - {verb: v%d, rolls: []}\n"),
		"many bad fields": "domain: a\nverbs:\n" + repeat(400, "  - {verb: v%d, roles: [x], args: [{name: a, type: dat}], handler: true}\n"),
		"long quote":      "domain: \"" + strings.Repeat("\\u00e9", 20000),
		"anchors":         repeat(3000, "a%d: &a%d x\n"),
		"tags":            repeat(3000, "a%d: !!x%d x\n"),
		"colons":          strings.Repeat("a: ", 20000),
		"null bytes":      "domain: a\x00b",
		"utf-16":          "\xff\xfed\x00o\x00",
		"cr only":         strings.ReplaceAll("domain: a\nrols: []\n", "\n", "\r"),
		"line separator":  "domain: a\u2028rols: []\n",
		"bom":             bom + "domain: a\nrols: []\n",
		"tabs":            "domain:\ta\n\troles: []\n",
		"directives":      "%YAML 1.2\n%TAG ! x\n---\ndomain: a\n--- \nb: c\n",
		"long pattern":    "domain: a\nverbs:\n  - {verb: v, roles: [], handler: true, args: [{name: a, type: string, pattern: \"" + strings.Repeat("(a|b)*", 150) + "\"}, {name: b, type: date, x: y}]}\n",
	}
}

// SAFE-P5: what is made to be slow is refused for little work.
func TestHostileFilesAreRefusedCheaply(t *testing.T) {
	for name, text := range hostileFiles() {
		t.Run(name, func(t *testing.T) {
			r, diags := checkLoad(t, text)
			if r != nil || len(diags) == 0 {
				t.Fatal("it loads")
			}
			if diags[0].Place.Source == nil {
				t.Error("no place")
			}
		})
	}
}

// Each is to be refused within a tenth of a second.
func BenchmarkHostileFiles(b *testing.B) {
	for name, text := range hostileFiles() {
		b.Run(strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Sources(dsl.NewSource("a.yaml", text))
			}
		})
	}
}

func nested(n int) string {
	var b bytes.Buffer
	for i := range n {
		b.WriteString(strings.Repeat(" ", i%200) + "a:\n")
	}
	return b.String()
}

func repeat(n int, line string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(line, "%d", strconv.Itoa(i)))
	}
	return b.String()
}
