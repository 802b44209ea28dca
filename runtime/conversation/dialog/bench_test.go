package dialog_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/conversation/llm"
)

// crowd lays out the palette of the house beside another with many verbs.
func crowd(t testing.TB, verbs int) string {
	t.Helper()
	dir := t.TempDir()
	text, err := os.ReadFile("testdata/house/house.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("domain: crowd\ndescription: Many.\nverbs:\n")
	for i := range verbs {
		fmt.Fprintf(&b, "  - verb: thing-%d\n    description: Do thing %d to a repair.\n    roles: [tenant]\n    phrases: [\"thing %d for {repair-id}\"]\n    args: [{name: repair-id, type: ref, ref-type: repair, required: true}, {name: note, type: string}]\n    effects: [{updates: repair, where: repair-id, set: {notes: note}}]\n", i, i, i)
	}
	for name, text := range map[string]string{"house.yaml": string(text), "crowd.yaml": b.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// ends makes repairs of a palette end: what is done or cancelled stays so.
func ends(t testing.TB, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "house.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const was = "values: [REPORTED, ORDERED, {code: FIXED, description: settled}, CANCELLED]"
	if !strings.Contains(string(text), was) {
		t.Fatal("the states of repairs are no longer " + was)
	}
	text = []byte(strings.Replace(string(text), was, "values: [{code: REPORTED, to: [ORDERED, FIXED, CANCELLED]}, {code: ORDERED, to: [FIXED, CANCELLED]}, {code: FIXED, description: settled}, CANCELLED]", 1))
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

// What a turn costs beside the model: context, prompt, parse, check, preview, and
// a write on SQLite, with 1 000 verbs.
func BenchmarkTurn(b *testing.B) {
	h, ending := newHouseAt(b, crowd(b, 1000)), newHouseAt(b, ends(b, crowd(b, 1000)))
	for _, c := range []struct {
		name string
		h    *house
		mode dialog.Mode
		says []string
	}{
		{"reply/text", h, dialog.Text, []string{pleased}},
		{"reply/tools", h, dialog.Tools, []string{pleased}},
		{"reply/tools/settled", ending, dialog.Tools, []string{pleased}},
		{"reply/grammar/settled", ending, dialog.Grammar, []string{pleased}},
		{"write/text", h, dialog.Text, []string{calls(`house.note :repair-id @boiler :note "x"`), pleased}},
		{"ask/text", h, dialog.Text, []string{calls(`house.cancel :repair-id @boiler`)}},
	} {
		b.Run(c.name, func(b *testing.B) {
			m := &loop{says: c.says}
			talk, err := dialog.New(dialog.Options{Registry: c.h.reg, Session: c.h.session("ann"), Model: m, Mode: c.mode, Clock: c.h.clock, Person: "Ann"})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			var took []time.Duration
			for b.Loop() {
				m.n = 0
				began := time.Now()
				if _, err := talk.Say(context.Background(), dialog.Message{Text: "put x on the boiler"}); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
		})
	}
}

type loop struct {
	says []string
	n    int
}

func (l *loop) Chat(context.Context, llm.Request, func(string)) (*llm.Reply, error) {
	text := l.says[min(l.n, len(l.says)-1)]
	l.n++
	return &llm.Reply{Text: text, Finish: llm.Stopped}, nil
}

func (l *loop) Embed(context.Context, []string) ([][]float32, llm.Usage, error) {
	return nil, llm.Usage{}, nil
}
