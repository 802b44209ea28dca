package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"verbatim/runtime/protocols/tools"
)

// others are the tools of another server, of which there is one.
type others struct{}

func (others) Tool(_ context.Context, server, name string) (tools.Spec, error) {
	return tools.Spec{Digest: "theirs"}, nil
}

func (others) Call(context.Context, tools.Call) (tools.Answer, error) {
	return tools.Answer{Text: "theirs"}, nil
}

// X5: a function of this program is used as a tool of another server is. Nobody else
// answers in its name, one that panics takes nothing with it, and one
// that never returns is left when the time is over.
func TestServices(t *testing.T) {
	t.Parallel()
	says := func(text string) func(context.Context, tools.Call) (tools.Answer, error) {
		return func(context.Context, tools.Call) (tools.Answer, error) { return tools.Answer{Text: text}, nil }
	}
	asleep := make(chan struct{})
	s := tools.Services{Own: map[string]map[string]tools.Service{"house": {
		"say":   {Says: "What is said.", Input: json.RawMessage(`{"type":"object"}`), Do: says("ours")},
		"panic": {Input: json.RawMessage(`{"type":"object"}`), Do: func(context.Context, tools.Call) (tools.Answer, error) { panic("x") }},
		"sleep": {Input: json.RawMessage(`{"type":"object"}`), Do: func(context.Context, tools.Call) (tools.Answer, error) { close(asleep); select {} }},
	}}, Others: others{}}
	ctx := context.Background()
	spec, err := s.Tool(ctx, "house", "say")
	if err != nil || spec.Digest != spec.Accepted || spec.Digest == "" || spec.Says != "What is said." {
		t.Errorf("%+v %v", spec, err)
	}
	for _, c := range []struct {
		call  tools.Call
		text  string
		wants error
		says  string
	}{
		{tools.Call{Server: "house", Name: "say", Digest: spec.Digest}, "ours", nil, ""},
		{tools.Call{Server: "house", Name: "say", Digest: "of before"}, "", tools.ErrChanged, ""},
		{tools.Call{Server: "shop", Name: "say"}, "theirs", nil, ""},
	} {
		a, err := s.Call(ctx, c.call)
		if a.Text != c.text || !errors.Is(err, c.wants) {
			t.Errorf("%+v: %q %v", c.call, a.Text, err)
		}
	}
	spec, _ = s.Tool(ctx, "house", "panic")
	if _, err := s.Call(ctx, tools.Call{Server: "house", Name: "panic", Digest: spec.Digest}); err == nil || errors.Is(err, tools.ErrNotCalled) || !strings.Contains(err.Error(), "panicked") {
		t.Error(err)
	}
	spec, _ = s.Tool(ctx, "house", "sleep")
	short, cancel := context.WithCancel(ctx)
	go func() { <-asleep; cancel() }()
	if _, err := s.Call(short, tools.Call{Server: "house", Name: "sleep", Digest: spec.Digest}); !errors.Is(err, context.Canceled) || errors.Is(err, tools.ErrNotCalled) {
		t.Error(err)
	}
	if _, err := s.Tool(ctx, "house", "sai"); !errors.Is(err, tools.ErrNone) || !strings.Contains(err.Error(), "only [panic say sleep]") {
		t.Error(err)
	}
	if spec, err := s.Tool(ctx, "shop", "say"); err != nil || spec.Digest != "theirs" {
		t.Error(spec, err)
	}
	s.Others = nil
	if _, err := s.Tool(ctx, "shop", "say"); !errors.Is(err, tools.ErrNone) {
		t.Error(err)
	}
	if _, err := s.Call(ctx, tools.Call{Server: "shop", Name: "say"}); !errors.Is(err, tools.ErrNotCalled) {
		t.Error(err)
	}
}
