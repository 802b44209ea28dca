package dsl

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// realistic writes a script of n calls such as models write them, about a
// hundred bytes a call.
func realistic(n int) string {
	var b strings.Builder
	for i := range n {
		switch i % 5 {
		case 0:
			fmt.Fprintf(&b, "client.add-note :request-id @pierre-sow-%d :note \"Accountant is sending it\" :expected-date 2025-01-%02d\n", i, i%28+1)
		case 1:
			fmt.Fprintf(&b, "(client.submit-document :request-id @thomas-id :document-type PASSPORT :file-reference \"file-%d.pdf\" :as @doc-%d)\n", i, i)
		case 2:
			fmt.Fprintf(&b, "client.provide-value :request-id @maria-dob :field-name \"date of birth\" :amount %d.%02d :final true\n", i, i%100)
		case 3:
			fmt.Fprintf(&b, "client.extend-due-date :request-id @doc-%d.request :new-date 2025-02-%02d :reason \"Away until \\\"then\\\"\"\n", i-2, i%28+1)
		case 4:
			fmt.Fprintf(&b, "client.set-address :entity 123e4567-e89b-12d3-a456-%012d :lines [\"Main street %d\", \"Zug\"] :meta {:zip %d}\n", i, i, 1000+i)
		}
	}
	return b.String()
}

// PERF-P1: one allocation a call at most, on ten thousand calls.
func TestParseAllocatesLessThanOncePerCall(t *testing.T) {
	const n = 10_000
	text := realistic(n)
	allocs := testing.AllocsPerRun(3, func() {
		if s, ds := Parse(NewSource("", text)); len(s.Calls) != n || len(ds) != 0 {
			t.Fatalf("%d calls, %v", len(s.Calls), ds)
		}
	})
	if allocs > n {
		t.Errorf("%.0f allocations for %d calls", allocs, n)
	}
}

const oneCall = `client.add-note :request-id @pierre-sow :note "Accountant is sending it" :expected 2025-01-03`

// PERF-P2: fifteen allocations at most for a single call of 93 bytes.
func TestParseOneCallAllocatesLittle(t *testing.T) {
	if len(oneCall) != 93 {
		t.Fatalf("the call has %d bytes", len(oneCall))
	}
	src := NewSource("", oneCall)
	if allocs := testing.AllocsPerRun(100, func() { Parse(src) }); allocs > 15 {
		t.Errorf("%.0f allocations", allocs)
	}
}

func BenchmarkParse10k(b *testing.B) {
	text := realistic(10_000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Parse(NewSource("", text))
	}
}

func BenchmarkParseOne(b *testing.B) {
	b.SetBytes(int64(len(oneCall)))
	b.ReportAllocs()
	for b.Loop() {
		Parse(NewSource("", oneCall))
	}
}

func BenchmarkFormat(b *testing.B) {
	s, _ := Parse(NewSource("", realistic(10_000)))
	b.SetBytes(int64(len(s.Source.Text)))
	b.ReportAllocs()
	for b.Loop() {
		Format(s)
	}
}

func BenchmarkAppendCall(b *testing.B) {
	s, _ := Parse(NewSource("", oneCall))
	var dst []byte
	b.SetBytes(int64(len(oneCall)))
	b.ReportAllocs()
	for b.Loop() {
		dst = AppendCall(dst[:0], &s.Calls[0])
	}
}

func BenchmarkNearest(b *testing.B) {
	names := map[string]bool{}
	for i := range 10_000 {
		names[fmt.Sprintf("%s.%s-%s-%d", realisticDomains[i%len(realisticDomains)], realisticActs[i%7], realisticThings[i%11], i)] = true
	}
	sorted := slices.Sorted(maps.Keys(names))
	b.ReportAllocs()
	for b.Loop() {
		Nearest("client.sumbit-documant", slices.Values(sorted))
	}
}

var (
	realisticDomains = []string{"client", "kyc", "deal", "agent", "billing"}
	realisticActs    = []string{"add", "submit", "extend", "close", "list", "get", "escalate"}
	realisticThings  = []string{"note", "document", "due-date", "request", "outstanding", "status", "reminder", "address", "owner", "review", "finding"}
)

// The grammar is the slow way, some 85 times: compare with BenchmarkParse10k.
func BenchmarkGrammar10k(b *testing.B) {
	text := realistic(10_000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := callGrammar.Read(text); !ok {
			b.Fatal("refused")
		}
	}
}
