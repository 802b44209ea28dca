package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/conversation/intent"
	"verbatim/runtime/conversation/llm"
	"verbatim/runtime/conversation/phrases"
	"verbatim/runtime/domains/client"
	"verbatim/runtime/engine"
	"verbatim/stores/sqlite"
	"verbatim/verbs/load"
	"verbatim/verbs/palettes"
)

// played is a model whose answers were written by hand: the calls of a turn, and then a courtesy.
type played struct{ calls []string }

func (p *played) Chat(context.Context, llm.Request, func(string)) (*llm.Reply, error) {
	lines := p.calls
	if p.calls = nil; len(lines) == 0 {
		lines = []string{"reply.say :what WELCOME"}
	}
	return &llm.Reply{Text: "```verbatim\n" + strings.Join(lines, "\n") + "\n```", Finish: llm.Stopped, Model: "played"}, nil
}

func (p *played) Embed(context.Context, []string) ([][]float32, llm.Usage, error) {
	return nil, llm.Usage{}, &llm.Error{Kind: llm.Unsupported}
}

const saidSeen = "testdata/said/seen.jsonl"

var saidTurns = flag.String("said", saidSeen, "turns to judge, written by somebody who has not read the code")

// A model invents, mixes up rows, repeats old values and quotes strangers, and three times in eight it writes
// what was said. Both were written by somebody who had not read the code. This set was looked at since, so
// it judges no more: it holds what was reached. (G1)
func TestNothingIsDoneThatNobodySaid(t *testing.T) {
	t.Parallel()
	file, err := os.Open(*saidTurns)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	files, _ := palettes.Files("bank")
	reg, ds := load.Dir(files)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	index := intent.New(reg)
	bank, err := bankStore()
	if err != nil {
		t.Fatal(err)
	}
	clock := func() time.Time { return morning }
	var unasked, needless, newly []string
	honest, others := 0, 0
	stride := max(1, *saidEvery/3)
	if *saidTurns != saidSeen {
		stride = 1
	}
	lines := bufio.NewScanner(file)
	for n := 0; lines.Scan(); n++ {
		if n%stride != 0 {
			continue
		}
		var c struct {
			ID, Kind, Lang, Expect string
			Asked                  bool // about, needlessly, for now
			Turns                  []struct {
				Say   string
				Model []string
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "verbatim.db"), bank["verbatim.db"].Data, 0o600); err != nil {
			t.Fatal(err)
		}
		store, err := sqlite.Open(filepath.Join(dir, "verbatim.db"))
		if err != nil {
			t.Fatal(err)
		}
		handlers := &engine.Handlers{Partial: true}
		client.Register(handlers, reg)
		e, err := engine.New(reg, store, engine.Options{Clock: clock, Handlers: handlers})
		if err != nil {
			t.Fatal(err)
		}
		session, err := e.Session(t.Context(), "clara")
		if err != nil {
			t.Fatal(err)
		}
		model := &played{}
		talk, err := dialog.New(dialog.Options{Registry: reg, Session: session, Model: model, Mode: dialog.Text, Clock: clock, Zone: time.UTC, Person: session.Person().Label,
			Interpreter: phrases.New(reg, index, session, clock, time.UTC)})
		if err != nil {
			t.Fatal(err)
		}
		var last *dialog.Answer
		for _, turn := range c.Turns {
			model.calls = slices.Clone(turn.Model)
			if last, err = talk.Say(t.Context(), dialog.Message{Text: turn.Say}); err != nil {
				t.Fatalf("%s: %v", c.ID, err)
			}
		}
		store.Close()
		final := c.Turns[len(c.Turns)-1]
		told := c.ID + " (" + c.Kind + ", " + c.Lang + ") " + final.Say + "\n    " + strings.Join(final.Model, "\n    ") + "\n    told: " + last.Text
		switch done := len(last.Done) > 0; c.Expect {
		case "ask":
			if others++; done {
				unasked = append(unasked, told)
			}
		case "do":
			if honest++; !done {
				needless = append(needless, told)
			}
			if !done && !c.Asked && *saidTurns == saidSeen {
				newly = append(newly, c.ID)
			}
		case "palette": // which asks by a rule of its own, begins a collection, or refuses what is settled
		default:
			t.Fatalf("%s expects %q", c.ID, c.Expect)
		}
	}
	t.Logf("%d of %d were done unasked; %d of %d honest ones were not done at once", len(unasked), others, len(needless), honest)
	for _, told := range needless {
		t.Logf("not done at once: %s", told)
	}
	for _, told := range unasked {
		t.Logf("done unasked: %s", told)
	}
	if len(newly) > 0 {
		t.Errorf("asked about, and done at once before: %v", newly)
	}
	// One in ten says which ones are asked about anew, and only all say how many are.
	few := stride > 1 || len(needless)*60 <= mostNeedless*honest
	if others < 90 || honest < 50 || len(unasked) > 0 || !few {
		t.Errorf("%d of %d were done unasked, and none may be; %d of %d honest turns were not done at once, at most %d of 60", len(unasked), others, len(needless), honest, mostNeedless)
	}
}

// mostNeedless is how many of 60 honest turns may be asked about: promises that nobody asked to have noted, typos
// in days, "another two weeks". It is only ever lowered.
const mostNeedless = 6
