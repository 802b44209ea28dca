package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"verbatim/runtime/conversation/replay"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/wire"
	"verbatim/stores/receipt"
)

type replayedJSON struct {
	Schema      string              `json:"schema"`
	Mode        replay.Mode         `json:"mode"`
	Steps       int                 `json:"steps"`
	Differences []replay.Difference `json:"differences"`
}

// replaySession repeats a recorded session on a copy of a store.
func (a *app) replaySession(ctx context.Context, f sessionFlags) error {
	file, err := os.Open(f.replay)
	if err != nil {
		return usage(fmt.Sprintf("%s cannot be read: %s", quoted(f.replay), reason(err)), "verbatim session NAME --export writes one")
	}
	defer file.Close()
	head, steps, err := replay.Read(file)
	if err != nil {
		return &stop{exitInput, "bad-recording", fmt.Sprintf("%s cannot be played: %s", quoted(f.replay), receipt.Safe(err.Error())), "verbatim session NAME --export writes one"}
	}
	reg, err := a.wholePalettes(f.palettes)
	if err != nil {
		return err
	}
	store, err := a.open(ctx, f.store)
	if err != nil {
		return err
	}
	defer store.Close()
	var at atomic.Pointer[time.Time] // the time of the engine's clock
	now := a.now()
	at.Store(&now)
	eng, err := a.newEngineAt(reg, store, nil, func() time.Time { return *at.Load() })
	if err != nil {
		return a.runFailed(err)
	}
	mode := replay.Strict
	var session *engine.Session
	switch as := cmp.Or(f.as, head.Principal); {
	case f.dry:
		mode = replay.Dry
		session, err = eng.Session(ctx, as)
	default:
		if f.relaxed {
			mode = replay.Relaxed
		}
		session, err = eng.Visit(ctx, as, engine.Visit{Name: "replay " + a.now().UTC().Format(time.RFC3339Nano)})
	}
	if err != nil {
		return a.runFailed(err)
	}
	p := &replay.Player{Session: session, Store: store, Registry: reg, Mode: mode, At: func(t time.Time) { at.Store(&t) },
		As: func(ctx context.Context, name string) (*engine.Session, error) { return eng.Session(ctx, name) }}
	found, err := p.Play(ctx, steps)
	if err != nil {
		return a.runFailed(err)
	}
	if a.json {
		a.emit(replayedJSON{"verbatim/session-replay@1", mode, len(steps), wire.Some(found)})
	} else {
		if head.Palette != "" && head.Palette != reg.Digest() {
			fmt.Fprintln(a.err, "the palettes are not those of then")
		}
		for _, d := range found {
			fmt.Fprintf(a.out, "differs  step %d, entry %d, %s\n         %s\n         was %s\n         is  %s\n", d.Step, d.Entry, d.What, receipt.Safe(d.Call), receipt.Safe(d.Was), receipt.Safe(d.Is))
		}
		fmt.Fprintf(a.out, "played   %s, %s: %s\n", receipt.Counted(len(steps), "step"), mode, differencesWord(len(found)))
	}
	if len(found) > 0 {
		return said(exitInput)
	}
	return nil
}
