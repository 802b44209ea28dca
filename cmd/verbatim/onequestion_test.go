package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/conversation/intent"
	"verbatim/runtime/domains/client"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/sqlite"
	"verbatim/verbs"
	"verbatim/verbs/palettes"
)

// A clarasBank is a copy of the bank, and Clara's kept session in it.
type clarasBank struct {
	t      *testing.T
	reg    *verbs.Registry
	index  *intent.Index
	engine *engine.Engine
	store  stores.Store
}

func newClarasBank(t *testing.T) *clarasBank {
	t.Helper()
	files, _ := palettes.Files("bank")
	reg, ds := verbs.Load(files)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	bank, err := bankStore()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "verbatim.db")
	if err := os.WriteFile(path, bank["verbatim.db"].Data, 0o600); err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	handlers := &engine.Handlers{Partial: true}
	client.Register(handlers, reg)
	e, err := engine.New(reg, store, engine.Options{Clock: func() time.Time { return morning }, Handlers: handlers})
	if err != nil {
		t.Fatal(err)
	}
	return &clarasBank{t: t, reg: reg, index: intent.New(reg), engine: e, store: store}
}

// session opens Clara's session of a name; each call is another process.
func (b *clarasBank) session(name string) *engine.Session {
	b.t.Helper()
	s, err := b.engine.Visit(b.t.Context(), "clara", engine.Visit{Name: name})
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

// talk continues a conversation without a model.
func (b *clarasBank) talk(name string) *dialog.Conversation {
	b.t.Helper()
	s := b.session(name)
	clock := func() time.Time { return morning }
	c, err := dialog.New(dialog.Options{Registry: b.reg, Session: s, Clock: clock, Zone: time.UTC, Person: s.Person().Label,
		Interpreter: &interpreter{b.reg, b.index, s, clock, time.UTC}})
	if err == nil {
		err = c.Resume(b.t.Context())
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return c
}

// says says something in a conversation, by another process each time.
func (b *clarasBank) says(name, text string) *dialog.Answer {
	b.t.Helper()
	a, err := b.talk(name).Say(b.t.Context(), dialog.Message{Text: text})
	if err != nil {
		b.t.Fatal(err)
	}
	return a
}

// yesOrNo is how many questions for a yes or a no an answer puts.
func yesOrNo(a *dialog.Answer) int { return strings.Count(a.Text, "yes or no") }

func TestProbe(t *testing.T) {
	b := newClarasBank(t)
	for i, talk := range strings.Split(os.Getenv("PROBE"), "|") {
		for _, said := range strings.Split(talk, "/") {
			a := b.says(string(rune('a'+i)), said)
			t.Logf("> %s\n%s\n   [%s %s->%s open %d done %d]", said, a.Text, a.Turn.Taken, a.Turn.From, a.Turn.To, len(a.Open), len(a.Done))
		}
	}
}
