package values

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write what is read into the golden files")

// Friday, 27 December 2024, in the morning, in Luxembourg.
var now = time.Date(2024, 12, 27, 9, 14, 0, 0, time.FixedZone("CET", 3600))

// describe says a reading in one line.
func describe(text string, r *Reading) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", r.What)
	if r.Known() {
		fmt.Fprintf(&b, " %s", r.Text())
	}
	for i, c := range r.Others {
		sep := " or"
		if i == 0 {
			sep = ""
		}
		fmt.Fprintf(&b, "%s %s", sep, c.Text())
	}
	if len(r.Others) == 1 && r.Problem == 0 {
		b.WriteString("?") // it is asked if that is meant
	}
	if r.Kind != Exact {
		fmt.Fprintf(&b, ", %s", r.Kind)
	}
	if !r.First.IsNull() {
		fmt.Fprintf(&b, " %s..%s", r.First.Text(), r.Last.Text())
	}
	if r.Assumed != 0 {
		fmt.Fprintf(&b, " (%s)", r.Assumed.Say(English))
	}
	if r.Problem != 0 {
		fmt.Fprintf(&b, " ! %s", r.Problem)
	}
	fmt.Fprintf(&b, "  %q", text[r.Range.Start:r.Range.End])
	return b.String()
}

// Every sentence of a language's file is read as the file says, and the file
// was read by a person. What nothing is read from says so. (U46)
func TestGolden(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"en", "de", "fr", "es", "any"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join("testdata", name+".txt")
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			in := In{Now: now}
			if l, ok := ParseLanguage(name); ok && len(name) == 2 {
				in.Languages = []Language{l}
			}
			var b strings.Builder
			cases := 0
			for line := range strings.Lines(string(data)) {
				line = strings.TrimSuffix(line, "\n")
				if strings.HasPrefix(line, "\t") {
					continue
				}
				b.WriteString(line + "\n")
				if line == "" || strings.HasPrefix(line, "#") {
					continue
				}
				cases++
				all, _ := Find(line, in)
				if len(all) == 0 {
					b.WriteString("\tnothing\n")
				}
				for i := range all {
					b.WriteString("\t" + describe(line, &all[i]) + "\n")
				}
			}
			if *update {
				if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got := b.String(); got != string(data) {
				t.Errorf("%s is not what is read now:\n%s", file, firstDifference(string(data), got))
			}
			t.Logf("%s: %d sentences", name, cases)
		})
	}
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	sentence := ""
	for i := range min(len(w), len(g)) {
		if !strings.HasPrefix(g[i], "\t") {
			sentence = g[i]
		}
		if w[i] != g[i] {
			return fmt.Sprintf("of %q\nwant %s\ngot  %s", sentence, w[i], g[i])
		}
	}
	return "one is longer"
}
