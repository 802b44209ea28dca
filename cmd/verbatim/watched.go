package main

import (
	"context"
	"errors"
	"log/slog"
	"regexp"
	"sync"

	"verbatim/runtime/conversation/llm"
	"verbatim/runtime/frontends/http/server"
)

// A watchedModel reports the cost and duration of a model's answers, and when it cannot be asked.
type watchedModel struct {
	llm.Model
	name  string
	meter *server.Meter
	log   *slog.Logger
}

// watched wraps a model; nil stays nil.
func watched(model llm.Model, name string, meter *server.Meter, log *slog.Logger) llm.Model {
	if model == nil {
		return nil
	}
	return &watchedModel{model, name, meter, log}
}

// Chat implements llm.Model.
func (w *watchedModel) Chat(ctx context.Context, r llm.Request, piece func(string)) (*llm.Reply, error) {
	ctx, done := w.meter.Asked(ctx, w.name)
	reply, err := w.Model.Chat(ctx, r, piece)
	var used llm.Usage
	var failed *llm.Error
	switch {
	case reply != nil:
		used = reply.Usage
	case errors.As(err, &failed):
		used = failed.Usage
	}
	done(used.In, used.Out, err == nil)
	switch {
	case err == nil:
		w.meter.Model(w.name, true)
	case failed != nil && unasked(failed):
		if failed.Kind != llm.Overlong { // a shorter conversation is answered
			w.meter.Model(w.name, false)
		}
		w.log.Error("model not asked", "model", w.name, "kind", string(failed.Kind), "why", failed.Error())
	}
	return reply, err
}

// unasked reports whether a model did not answer for a reason that an operator can mend.
func unasked(e *llm.Error) bool {
	switch e.Kind {
	case llm.Cancelled, llm.Spent, llm.Uncounted, llm.Unrecorded:
		return false
	}
	return true
}

// A noted model tells the user of a terminal, who is its operator, why it could not be asked; the same
// reason once.
type noted struct {
	llm.Model
	note func(string)
	mu   sync.Mutex
	told map[string]bool
}

// Chat implements llm.Model.
func (n *noted) Chat(ctx context.Context, r llm.Request, piece func(string)) (*llm.Reply, error) {
	reply, err := n.Model.Chat(ctx, r, piece)
	var failed *llm.Error
	if errors.As(err, &failed) && unasked(failed) {
		n.once(failed.Error())
	}
	return reply, err
}

var figures = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d+`) })

// once tells a reason, if it was not told before with other figures.
func (n *noted) once(why string) {
	n.mu.Lock()
	kind := figures().ReplaceAllString(why, "")
	known := n.told[kind]
	if n.told == nil {
		n.told = map[string]bool{}
	}
	n.told[kind] = true
	n.mu.Unlock()
	if !known {
		n.note(why)
	}
}
