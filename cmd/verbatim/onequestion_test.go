package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/conversation/intent"
	"verbatim/runtime/conversation/phrases"
	"verbatim/runtime/domains/client"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/sqlite"
	"verbatim/verbs"
	"verbatim/verbs/load"
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
	reg, ds := load.Dir(files)
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
		Interpreter: phrases.New(b.reg, b.index, s, clock, time.UTC)})
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

// The person's side of the seed's conversation, without a model: no turn puts more than one question, a
// plain yes answers the one that stands, and nobody is asked which of several is meant. (G4)
func TestAConversationAsksOneQuestionAtATime(t *testing.T) {
	t.Parallel()
	b := newClarasBank(t)
	done := 0
	for _, said := range []string{
		"Hi, what do you still need from us?",
		"Maria was born March 15, 1972. I have Thomas's passport here.",
		"yes",
		"Still waiting on our accountant. Should have them next week.",
		"yes",
		"Perfect",
		"leave a note on Pierre: the returns come soon. Leave a note on Thomas: he is away",
		"My accountant will ask the bank about something else entirely",
		"leave a note on Pierre: his lawyer is ill",
		"yes",
		"yes",
	} {
		a := b.says("seed", said)
		done += len(a.Done)
		if n := strings.Count(a.Text, "Answer yes or no"); n > 1 || n == 1 && strings.Contains(a.Text, "My question is still open") {
			t.Errorf("%q is asked several things at once: %s", said, a.Text)
		}
	}
	if done < 3 {
		t.Errorf("%d changes were made", done)
	}
}

// A menu takes its number, its words, or a yes to the only choice; anything else is a message of its
// own, and is not read together with the one before. (G3)
func TestAMenuReadsNoMessageWithAnother(t *testing.T) {
	t.Parallel()
	b := newClarasBank(t)
	for i, second := range []string{"My adviser is ill", "he is on holiday until spring", "it rains here"} {
		name := string(rune('a' + i))
		if a := b.says(name, "What does the bank need from me?"); a.Turn.To != dialog.Clarifying {
			t.Fatalf("no menu: %s", a.Text)
		}
		if a := b.says(name, second); len(a.Open) > 0 || len(a.Done) > 0 {
			t.Errorf("%q after a menu is answered %s", second, a.Text)
		}
	}
}

// An unknown yes is asked back about the question that stands: it asks for nothing else, and the next
// plain yes is to that question. (G4)
func TestAnUnknownYesDisplacesNothing(t *testing.T) {
	t.Parallel()
	b := newClarasBank(t)
	for i, odd := range []string{"sí, apúntelo", "gerne", "correcto", "ja bitte mach das", "d'accord allez-y", "claro que sí, adelante pues", "oui, notez-le donc", "jawoll so machen"} {
		name := string(rune('a' + i))
		a := b.says(name, "Still waiting on our accountant for Pierre's tax returns, chapter "+strconv.Itoa(i))
		if len(a.Open) != 1 {
			t.Fatalf("asks %d things: %s", len(a.Open), a.Text)
		}
		if a = b.says(name, odd); len(a.Done) == 0 {
			if len(a.Open) != 1 || a.Turn.Taken != dialog.TakenAgain || !strings.Contains(a.Text, "our accountant for Pierre's tax returns") {
				t.Errorf("%q is answered %s", odd, a.Text)
			}
			a = b.says(name, "yes")
		}
		if len(a.Done) != 1 || a.Done[0].Calls[0].Verb != "client.add-note" || len(a.Open) != 0 {
			t.Errorf("after %q, a yes is answered %s", odd, a.Text)
		}
	}
}

// What is written into the chat is an answer only to the question that stands there: not to one that was
// begun on a page, nor to one that went on elsewhere since. (G2)
func TestOnlyWhatIsOnTheScreenIsFilled(t *testing.T) {
	t.Parallel()
	b := newClarasBank(t)
	run := func(name, call string) {
		t.Helper()
		script, ds := dsl.Parse(dsl.NewSource("page", call))
		s := b.session(name)
		program, more := s.Check(t.Context(), script)
		if ds = append(ds, more...); ds.HasErrors() {
			t.Fatal(ds)
		}
		if _, err := s.Run(t.Context(), program, engine.RunOptions{Source: "page"}); err != nil {
			t.Fatal(err)
		}
	}
	const wealth, birth = "client.start-collection :request-id @pierre-dupont-source-of-wealth", "client.start-collection :request-id @maria-schmidt-date-of-birth"
	untouched := func(name, said string) {
		t.Helper()
		a := b.says(name, said)
		if len(a.Done) > 0 || a.Turn.Taken == dialog.TakenAnswer {
			t.Errorf("%q was stored as an answer: %s", said, a.Text)
		}
	}
	answers := func(name, said string) {
		t.Helper()
		if a := b.says(name, said); len(a.Done) != 1 || a.Turn.Taken != dialog.TakenAnswer {
			t.Errorf("%q is no answer: %s", said, a.Text)
		}
	}
	// Begun on a page.
	run("page", wealth)
	untouched("page", "Jonas is a resident of Norway")
	untouched("page", "yes")
	// Begun here, and gone on with on a page.
	b.says("two", "let us do Pierre's source of wealth together")
	answers("two", "a business")
	run("two", "client.collection-response :value \"Holdings SA\"")
	untouched("two", "Jonas is a resident of Norway")
	// Begun here, and another one begun on a page.
	b.says("other", "let us do Pierre's source of wealth together")
	run("other", birth)
	untouched("other", "a business")
	// After something in between, the question is put again, and then stands.
	b.says("between", "let us do Pierre's source of wealth together")
	if a := b.says("between", "how far are we?"); !strings.Contains(a.Text, "My question is still open: Question ") {
		t.Errorf("it is not put again: %s", a.Text)
	}
	answers("between", "a business")
}
