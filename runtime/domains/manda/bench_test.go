package manda

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The words of a text are those that the expression finds which mentions goes by.
func TestPlainlyIsWhatTokensFinds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune("aÄé1&'’.-, \n")))).Draw(t, "text")
		want := strings.ReplaceAll(strings.ToLower(strings.Join(tokens.re().FindAllString(text, -1), " ")), "’", "'")
		if got := plainly(text); got != want {
			t.Fatalf("%q: %q, not %q", text, got, want)
		}
	})
}

// What a passage of 1 200 letters speaks of.
func BenchmarkIdeas(b *testing.B) {
	text := strings.Repeat("Die Sanierungskosten werden auf 1,6 Mio. EUR geschätzt; das Landratsamt hat noch keine Anordnung erlassen. The lease agreement of the Roanne site ends on 31 December 2030. ", 7)
	concepts()
	b.ReportAllocs()
	for b.Loop() {
		ideas(text)
	}
}

// What an answer of each kind takes, from what is known of a deal.
func BenchmarkAnswer(b *testing.B) {
	room := deal()
	var all []Question
	for _, text := range []string{"What's the revenue?", "Walk me through the P&L", "Compare forecast to actual", "Any red flags?", "What's missing?", "Tell me about the company"} {
		all = append(all, Read(text, room.Deal, nil))
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, q := range all {
			Answer(q, room)
		}
	}
}
