package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"verbatim/runtime/engine"
)

// A write verb through the whole path on a SQLite file: parse, check, permit,
// resolve, carry out, settle, commit with its journal entry.
func BenchmarkRunWrite(b *testing.B) {
	w := newWorld(b)
	s := w.session("kim")
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		n++
		p := w.program(s, fmt.Sprintf(`lending.note :loan-id @saw-bob :note "n%d"`, n))
		if _, err := s.Run(context.Background(), p, engine.RunOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

// A read verb through the whole path.
func BenchmarkRunRead(b *testing.B) {
	w := newWorld(b)
	s := w.session("kim")
	b.ReportAllocs()
	for b.Loop() {
		p := w.program(s, `lending.get-item :item-id @saw`)
		if _, err := s.Run(context.Background(), p, engine.RunOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

// A script of a thousand writes in one transaction; the time is for one call.
func BenchmarkRunScript(b *testing.B) {
	w := newWorld(b)
	s := w.session("kim")
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		var text strings.Builder
		for range 1000 {
			n++
			fmt.Fprintf(&text, "lending.note :loan-id @saw-bob :note \"n%d\"\n", n)
		}
		if _, err := s.Run(context.Background(), w.program(s, text.String()), engine.RunOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/call")
}

// A preview of a thousand writes: every row is told, and the digest is taken of all
// of it. The time is for one call.
func BenchmarkPreviewScript(b *testing.B) {
	w := newWorld(b)
	s := w.session("kim")
	text := ""
	for n := range 1000 {
		text += fmt.Sprintf("lending.note :loan-id @saw-bob :note \"n%d\"\n", n)
	}
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		n += 1000
		if _, err := s.Preview(context.Background(), w.program(s, text)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/call")
}
