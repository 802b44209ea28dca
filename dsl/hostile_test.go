package dsl

import (
	"runtime"
	"strings"
	"testing"

	"verbatim/runtime/tests/norace"
)

// hostile texts of about n bytes, each made to be slow or large.
var hostile = map[string]func(n int) string{
	"open parentheses":      func(n int) string { return strings.Repeat("(", n) },
	"open brackets":         func(n int) string { return "a.b :x " + strings.Repeat("[", n) },
	"open calls":            func(n int) string { return strings.Repeat("(a.b ", n/5) },
	"open calls in lines":   func(n int) string { return strings.Repeat("(a.b :x [\n", n/10) },
	"open values in lines":  func(n int) string { return strings.Repeat("(a.b :x\n", n/8) },
	"open lists, far apart": func(n int) string { return strings.Repeat("(a.b :x [\n"+strings.Repeat("(c.d)\n", 400), n/2410) },
	"indented calls":        func(n int) string { return "(a.b :x [\n" + strings.Repeat(" (c.d\n", n/6) },
	"closing brackets":      func(n int) string { return "a.b " + strings.Repeat(")", n) },
	"mixed brackets":        func(n int) string { return "a.b :x " + strings.Repeat("[(}{])", n/6) },
	"closers in lists":      func(n int) string { return strings.Repeat("(a.b :x [)\n", n/11) },
	"empty calls":           func(n int) string { return strings.Repeat("a.b ", n/4) },
	"empty lists":           func(n int) string { return "a.b :x [" + strings.Repeat("[]", n/2) + "]" },
	"lists of one":          func(n int) string { return "a.b :x [" + strings.Repeat("[1]", n/3) + "]" },
	"one long list":         func(n int) string { return "a.b :x [" + strings.Repeat("1 ", n/2) + "]" },
	"long lists":            func(n int) string { return strings.Repeat("a.b :x ["+strings.Repeat("1 ", 1500)+"]\n", n/3010) },
	"one long map":          func(n int) string { return "a.b :x {" + strings.Repeat(":k 1 ", n/5) + "}" },
	"one map, quoted keys":  func(n int) string { return "a.b :x {" + strings.Repeat(`:"K" 1 `, n/7) + "}" },
	"escaped keys":          func(n int) string { return "a.b :x {" + strings.Repeat(`:"\n" 1 `, n/8) + "}" },
	"open quoted keys":      func(n int) string { return "a.b :x {" + strings.Repeat(`:"K `, n/4) },
	"colons behind keys":    func(n int) string { return "a.b :x {" + strings.Repeat(`:"K": `, n/6) },
	"arguments":             func(n int) string { return "a.b " + strings.Repeat(":k 1 ", n/5) },
	"nested calls":          func(n int) string { return "a.b :x [" + strings.Repeat("(a.b)", n/5) + "]" },
	"comments":              func(n int) string { return strings.Repeat(";\n", n/2) },
	"comments in a list":    func(n int) string { return "a.b :x [" + strings.Repeat("1;\n", n/3) + "]" },
	"one long comment":      func(n int) string { return ";" + strings.Repeat(" ", n) },
	"escapes":               func(n int) string { return `a.b :x "` + strings.Repeat(`\n`, n/2) + `"` },
	"strings with escapes":  func(n int) string { return "a.b :x [" + strings.Repeat(`"\n" `, n/5) + "]" },
	"bad escapes":           func(n int) string { return `a.b :x "` + strings.Repeat(`\q`, n/2) + `"` },
	"one huge string":       func(n int) string { return `a.b :x "` + strings.Repeat("x", n) + `"` },
	"one huge open string":  func(n int) string { return `a.b :x "` + strings.Repeat("x", n) },
	"open strings":          func(n int) string { return strings.Repeat("a.b :x \"y\n", n/10) },
	"quotes in lines":       func(n int) string { return "a.b :x " + strings.Repeat("\"\n", n/2) },
	"quotes":                func(n int) string { return "a.b :x " + strings.Repeat("\"", n) },
	"quotes and letters":    func(n int) string { return "a.b :x " + strings.Repeat("\"x", n/2) },
	"apostrophes":           func(n int) string { return "a.b :x " + strings.Repeat("'x ", n/3) },
	"one huge word":         func(n int) string { return "a.b :x " + strings.Repeat("x", n) },
	"one huge number":       func(n int) string { return "a.b :x " + strings.Repeat("1", n) },
	"dotted word":           func(n int) string { return strings.Repeat("a.", n/2) },
	"mistakes":              func(n int) string { return "a.b " + strings.Repeat("? ", n/2) },
	"commas":                func(n int) string { return "a.b " + strings.Repeat(",", n) },
	"commas in a list":      func(n int) string { return "a.b :x [" + strings.Repeat(",", n) + "]" },
	"keys":                  func(n int) string { return "a.b " + strings.Repeat(":k ", n/3) },
	"colons":                func(n int) string { return "a.b " + strings.Repeat(": ", n/2) },
	"equals signs":          func(n int) string { return "a.b " + strings.Repeat(":k=", n/3) },
	"spaced equals signs":   func(n int) string { return "a.b :k " + strings.Repeat("= ", n/2) },
	"touching keys":         func(n int) string { return "a.b " + strings.Repeat(":k@x", n/4) },
	"quoted words":          func(n int) string { return "a.b :x " + strings.Repeat(`a"b" `, n/5) },
	"single quotes":         func(n int) string { return "a.b :x " + strings.Repeat("'x' ", n/4) },
	"open single quotes":    func(n int) string { return "a.b " + strings.Repeat(":k ‘x ", n/8) },
	"prose":                 func(n int) string { return strings.Repeat("so it goes\n", n/11) },
	"prose on a line":       func(n int) string { return strings.Repeat("so it goes ", n/11) },
	"spaces":                func(n int) string { return strings.Repeat(" ", n) },
	"odd spaces":            func(n int) string { return strings.Repeat("\u00a0;\n", n/4) },
	"zero bytes":            func(n int) string { return strings.Repeat("\x00 ", n/2) },
	"bytes that are no text": func(n int) string {
		return strings.Repeat("\xff ", n/2)
	},
	"carriage returns": func(n int) string { return strings.Repeat("\r", n) },
	"swallowed calls":  func(n int) string { return "(a.b :x [\n" + strings.Repeat("(c.d :y 1)\n", n/11) },
}

// SAFE-P3: whatever the text, no more is allocated than twenty times its size
// and a mebibyte, and diagnostics are capped and say so. All that is ever
// allocated bounds the peak from above.
func TestHostileTextsAllocateInProportion(t *testing.T) {
	if norace.Run(t) {
		return
	}
	for name, make := range hostile {
		for _, n := range []int{1 << 12, 1 << 17, 1 << 20} {
			src := NewSource("", make(n))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, ds := Parse(src)
			runtime.ReadMemStats(&after)
			got, most := after.TotalAlloc-before.TotalAlloc, uint64(20*len(src.Text)+1<<20)
			if got > most {
				t.Errorf("%s: %d bytes allocated for %d", name, got, len(src.Text))
			}
			if len(ds) > DefaultLimits.Diagnostics+1 {
				t.Errorf("%s: %d diagnostics", name, len(ds))
			}
			if len(ds) > DefaultLimits.Diagnostics && ds[len(ds)-1].Code != "too-many-mistakes" {
				t.Errorf("%s: the cap is not mentioned", name)
			}
		}
	}
}

// beyond are texts that are one step beyond a limit.
var beyond = map[string]string{
	"too-large":       strings.Repeat("a.b ", DefaultLimits.Bytes/4+1),
	"too-many-calls":  strings.Repeat("a.b ", DefaultLimits.Calls+1),
	"too-many-values": "a.b :x [" + strings.Repeat("1 ", DefaultLimits.Values) + "]",
	"too-deep":        "a.b :x " + strings.Repeat("[", DefaultLimits.Depth+1),
}

// SAFE-P3: what is beyond a limit is refused once, and what stands behind that
// is not read: a hundred times more of it costs no more memory. How long it
// takes is BenchmarkBeyondLimits.
func TestLimitsEndTheReading(t *testing.T) {
	for name, text := range beyond {
		_, ds := Parse(NewSource("", text))
		if len(ds) != 1 || ds[0].Code != name {
			t.Errorf("%s: %v", name, ds)
		}
		if name == "too-large" {
			continue // more of it is refused for its size alone, as this was
		}
		limits := Limits{Calls: 100, Values: 500, Depth: 8}
		short := strings.Repeat("a.b ", 110)
		switch name {
		case "too-many-values":
			short = "a.b :x [" + strings.Repeat("1 ", 510)
		case "too-deep":
			short = "a.b :x " + strings.Repeat("[", 10)
		}
		long := short + strings.Repeat("a.b :x [1] ", 100_000)
		cost := func(text string) float64 {
			src := NewSource("", text)
			return testing.AllocsPerRun(3, func() { limits.Parse(src) })
		}
		if less, more := cost(short), cost(long); name != "too-deep" && more > 2*less+16 {
			t.Errorf("%s: %v allocations for %d bytes, %v for %d", name, less, len(short), more, len(long))
		}
	}
}

// SAFE-P3 asks for 10 ms at most.
func BenchmarkBeyondLimits(b *testing.B) {
	for name, text := range beyond {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Parse(NewSource("", text))
			}
		})
	}
}

func BenchmarkHostile(b *testing.B) {
	for name, make := range hostile {
		b.Run(strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
			text := make(1 << 20)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				Parse(NewSource("", text))
			}
		})
	}
}
