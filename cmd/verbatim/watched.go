package main

import (
	"context"
	"errors"

	"verbatim/runtime/conversation/llm"
	"verbatim/runtime/frontends/http/server"
)

// A watchedModel reports the cost and duration of a model's answers.
type watchedModel struct {
	llm.Model
	name  string
	meter *server.Meter
}

// watched wraps a model; nil stays nil.
func watched(model llm.Model, name string, meter *server.Meter) llm.Model {
	if model == nil {
		return nil
	}
	return &watchedModel{model, name, meter}
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
	return reply, err
}
