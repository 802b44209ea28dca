package documents

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/tests/norace"
)

var update = flag.Bool("update", false, "write what is read as the expected text")

// hurry keeps the race detector from a second of sleep at the end of a child.
const hurry = "GORACE=atexit_sleep_ms=0"

// misbehaving is a word in the environment of a child that does not read.
const misbehaving = "DOCUMENTS_TEST"

func TestMain(m *testing.M) {
	if work := misbehaviours[os.Getenv(misbehaving)]; work != nil {
		os.Exit(serve(os.Stdin, os.Stdout, work))
	}
	Child()
	code := norace.Cleanup(m.Run())
	if err := leftover(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// here reads a file in this process, as a child does.
func here(name string, data []byte, l Limits) (Document, error) {
	var out bytes.Buffer
	x := &extractor{limits: l.orDefault(), out: bufio.NewWriter(&out), names: make(map[string]int)}
	x.end(safely(func() error { return x.read(name, data) }))
	d, _, err := receive(&out, x.limits, nil)
	return d, err
}

// reasonOf is why a file was not read.
func reasonOf(err error) Reason {
	var f *Failure
	if errors.As(err, &f) {
		return f.Reason
	}
	return ""
}

// show writes a document as the expected texts have it: a line for each piece,
// with its place as people cite it and what only a program looks at.
func show(d Document, err error) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", d.Format)
	for _, s := range []string{d.Encoding, d.Separator, d.Title, d.Author} {
		if s != "" {
			fmt.Fprintf(&b, " · %q", s)
		}
	}
	if d.Pages > 0 {
		fmt.Fprintf(&b, " · %d pages", d.Pages)
	}
	for _, t := range []time.Time{d.Created, d.Modified} {
		if !t.IsZero() {
			fmt.Fprintf(&b, " · %s", t.UTC().Format(time.DateOnly))
		}
	}
	b.WriteByte('\n')
	if err != nil {
		fmt.Fprintf(&b, "error: %v\n", err)
	}
	if len(d.Scans) > 0 {
		fmt.Fprintf(&b, "scans: %v\n", d.Scans)
	}
	for _, s := range d.Skipped {
		fmt.Fprintf(&b, "skipped: %s: %s\n", s.Name, &Failure{s.Reason, s.Detail})
	}
	for _, p := range d.Pieces {
		fmt.Fprintf(&b, "%s", p.At)
		if p.At.Page > 0 {
			fmt.Fprintf(&b, " l%d", p.At.Line)
		}
		if p.At.Table > 0 && (p.At.Page > 0 || p.At.Slide > 0) {
			fmt.Fprintf(&b, " t%d r%d c%d", p.At.Table, p.At.Row, p.At.Column)
		}
		if p.Kind != Text && p.Kind != InCell {
			fmt.Fprintf(&b, " (%s)", p.Kind)
		}
		if p.Hidden {
			b.WriteString(" (hidden)")
		}
		fmt.Fprintf(&b, " | %s", strings.ReplaceAll(p.Text, "\n", "⏎"))
		if c := p.Cell; c != nil {
			if c.Type != "" && c.Type != "text" {
				fmt.Fprintf(&b, " · %s", c.Type)
			}
			if c.Formula != "" {
				fmt.Fprintf(&b, " ={%s}", c.Formula)
			}
			if c.Format != "" {
				fmt.Fprintf(&b, " %s", c.Format)
			}
			if c.Rows+c.Columns > 0 {
				fmt.Fprintf(&b, " · covers %d×%d", max(1, c.Rows), max(1, c.Columns))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Each file of the golden folder, made by the programs that its README lists,
// is read as a person sees it.
func TestGoldenFolder(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/golden/*")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, name := range files {
		if strings.HasSuffix(name, ".md") {
			continue
		}
		seen++
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			// The race detector makes a child slow.
			d, err := read(t.Context(), filepath.Base(name), bytes.NewReader(data), Limits{Wall: time.Minute}, nil, hurry)
			got := show(d, err)
			kept := filepath.Join("testdata/expected", filepath.Base(name)+".txt")
			if *update {
				if err := os.WriteFile(kept, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(kept)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("it reads\n%s\nand should read\n%s", got, want)
			}
			places := map[Location]bool{}
			for _, p := range d.Pieces {
				if places[p.At] {
					t.Errorf("two pieces stand at %+v", p.At)
				}
				places[p.At] = true
			}
		})
	}
	if seen < 40 && !*update {
		t.Errorf("the folder has %d files and should have 40", seen)
	}
}

// What a child does with a file, and what it costs to have it done in one.
func BenchmarkRead(b *testing.B) {
	for _, name := range []string{"discussion.pdf", "pnl-libreoffice.xlsx", "due-diligence.docx"} {
		data, err := os.ReadFile("testdata/golden/" + name)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := here(name, data, Limits{}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/in a child", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Read(b.Context(), name, bytes.NewReader(data), Limits{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
