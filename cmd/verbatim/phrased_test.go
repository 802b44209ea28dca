package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/conversation/llm"
	"verbatim/runtime/domains/client"
	"verbatim/runtime/engine"
	"verbatim/stores/sqlite"
	"verbatim/verbs/load"
)

// F5: 60 true and 60 false sentences about rows, in two languages, by somebody who had
// not read what answers them. Where a palette lets a model add sentences, how many of the
// false are told and how many of the true are dropped is the limit that README names. Of
// the true no more than a third is dropped. One set was looked at since, and the other
// was not.
func TestSentencesByAnother(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"sentences_seen.jsonl", "sentences_by_another.jsonl"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			sentencesByAnother(t, file)
		})
	}
}

func sentencesByAnother(t *testing.T, file string) {
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	type sentence struct {
		Language, Text string
		True           bool
		Rows           []string
	}
	var all []sentence
	var lines []string
	names := map[string]string{"@status": "client.get-status", "@commitment-1": "client.get-commitments"}
	lines = append(lines, `{"call": "client__add-note", "args": {"request-id": "@pierre-dupont-source-of-wealth", "note": "Waiting on accountant", "expected-date": "2025-01-03"}}`, says("WELCOME"))
	for line := range bytes.Lines(text) {
		var s sentence
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
		for i, row := range s.Rows {
			if name, ok := names[row]; ok {
				s.Rows[i] = name
			}
		}
		args, _ := json.Marshal(map[string]any{"text": s.Text, "rows": s.Rows})
		lines = append(lines, `{"call": "reply__add", "args": `+string(args)+`}`+"\n"+says("WHO_I_AM"))
	}
	talk := phrasing(t, perform(t, lines).URL)
	say := func(text string) *dialog.Answer {
		a, err := talk.Say(context.Background(), dialog.Message{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	say("Please note for Pierre: waiting on accountant, who should have his papers next week.")
	told, dropped := map[string]int{}, map[string]int{}
	for _, s := range all {
		a := say("And what about it?")
		if !strings.Contains(a.Text, "I am a program") {
			t.Fatalf("told %q", a.Text)
		}
		switch is := strings.Contains(a.Text, s.Text); {
		case is && !s.True:
			told[s.Language]++
			t.Logf("false, and told: %s", s.Text)
		case !is && s.True:
			dropped[s.Language]++
			t.Logf("true, and dropped: %s %v", s.Text, a.Turn.Replaced)
		}
	}
	t.Logf("of %d: false and told: %v; true and dropped: %v", len(all), told, dropped)
	if n := dropped["en"] + dropped["de"]; len(all) != 120 || n > 20 {
		t.Errorf("of 60 true sentences %d are dropped", n)
	}
}

// phrasing begins a conversation of Clara's with a model that may add sentences.
func phrasing(t *testing.T, url string) *dialog.Conversation {
	t.Helper()
	dir := t.TempDir()
	if err := layOut(dir); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "verbs", "client.yaml")
	text, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, bytes.Replace(text, []byte("\nconversation:\n"), []byte("\nconversation:\n  replies: phrased\n"), 1), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	reg, ds := load.Dir(os.DirFS(filepath.Join(dir, "verbs")))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	store, err := sqlite.Open(filepath.Join(dir, "verbatim.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	handlers := &engine.Handlers{Partial: true}
	client.Register(handlers, reg)
	clock := func() time.Time { return morning }
	engine, err := engine.New(reg, store, engine.Options{Clock: clock, Handlers: handlers})
	if err != nil {
		t.Fatal(err)
	}
	session, err := engine.Session(context.Background(), "clara")
	if err != nil {
		t.Fatal(err)
	}
	model, err := llm.New(llm.Config{BaseURL: url, Model: "scripted", Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	c, err := dialog.New(dialog.Options{Registry: reg, Session: session, Model: model, Clock: clock, Zone: time.UTC, Person: session.Person().Label})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
