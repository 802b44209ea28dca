package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"verbatim/runtime/engine"
	"verbatim/runtime/protocols/tools"
)

// deskTools is the server of the examples that are palettes.
type deskTools struct{}

func (deskTools) Tool(_ context.Context, server, name string) (tools.Spec, error) {
	spec := tools.Spec{Input: json.RawMessage(`{"type":"object","properties":{"title":{"type":"string"}}}`), Digest: "1", Accepted: "1"}
	switch {
	case server == "down":
		return spec, errors.New("nobody answers")
	case server != "desk":
		return spec, fmt.Errorf("no server is called %q: %w", server, tools.ErrNone)
	}
	switch name {
	case "open":
	case "close":
		spec.Writes = true
	case "unread":
		spec.Accepted = ""
	case "rewritten":
		spec.Digest = "2"
	default:
		return spec, fmt.Errorf("%s has no tool %q: %w", server, name, tools.ErrNone)
	}
	return spec, nil
}

func (deskTools) Call(context.Context, tools.Call) (tools.Answer, error) {
	return tools.Answer{}, tools.ErrNotCalled
}

// earnedOfTools runs an example with a workshop that behaves in some way.
func earnedOfTools(t *testing.T, who, how, text string) string {
	w, shop := newToolWorld(t)
	ctx := context.Background()
	o := engine.RunOptions{}
	answer := func(a tools.Answer, err error) {
		shop.answer = func(int, tools.Call) (tools.Answer, error) { return a, err }
	}
	move := func() { w.set("item", 21, "worth", decimal("81")) }
	switch how {
	case "":
	case "that says something else of itself":
		spec := shop.specs["order"]
		spec.Digest = "2"
		shop.specs["order"] = spec
		w.tools(shop)
	case "that does not answer":
		answer(tools.Answer{}, tools.ErrNotCalled)
	case "that has no blades":
		answer(tools.Answer{Failed: true, Text: "no blades left"}, nil)
	case "that answers in prose":
		answer(tools.Answer{Text: "it depends"}, nil)
	case "that is cut off":
		answer(tools.Answer{}, errCut)
	case "while somebody else writes":
		shop.before = move
	case "that was asked under the same key at another time":
		o.Key, shop.before = "k", move
		s := w.session(who)
		if _, err := s.Run(ctx, w.program(s, text), o); err == nil {
			t.Error("nothing moved")
		}
	case "of which it was settled that it did it", "of which it was settled that it did not":
		o.Key = "k"
		normal := shop.answer
		answer(tools.Answer{}, errCut)
		s := w.session(who)
		if _, err := s.Run(ctx, w.program(s, text), o); err == nil {
			t.Error("nothing was lost")
		}
		how = map[bool]string{true: engine.SettleDone, false: engine.SettleNotDone}[strings.HasSuffix(how, "it")]
		if _, err := s.Journal().Settle(ctx, 1, how); err != nil {
			t.Fatal(err)
		}
		shop.answer = normal
	case "that is settled while it is asked":
		s := w.session(who)
		err := errors.New("it is not asked")
		shop.before = func() { _, err = s.Journal().Settle(ctx, 1, engine.SettleDone) }
		_, _ = s.Run(ctx, w.program(s, text), o)
		return codeOf(t, err)
	default:
		t.Fatalf("no workshop %q", how)
	}
	s := w.session(who)
	_, err := s.Run(ctx, w.program(s, text), o)
	return codeOf(t, err)
}
