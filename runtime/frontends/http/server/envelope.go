package server

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/internal/digest"
	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/grammar"
)

// An Envelope is a JSON protocol of one domain: programs post messages to its path and get one
// answer each. The domain defines the messages. It acts only by calling verbs, under the same rules
// as any caller.
type Envelope struct {
	Path string // "/kyc"
	Does string
	// Answer answers a message. It calls step for each step, which a program that listens receives
	// first.
	Answer func(ctx context.Context, c *Caller, message []byte, step func(any)) any
	// Refuse answers a message that was refused before it was read.
	Refuse func(code, title, next string) any
}

// A Caller makes calls as the program that sent the message.
type Caller struct{ v *visit }

// A toldProblem is the error of a refused call, with a sentence for the program.
type toldProblem struct{ problem }

// Sentence returns the code and the sentence.
func (p toldProblem) Sentence() (code, text string) {
	text = p.Title
	if len(p.Diagnostics) > 0 {
		text = p.Diagnostics[0].Summary
	}
	return p.Code, text
}

// Act makes one call of values, at most once for each key. It returns the id of the task that the
// call was about, the task's columns, and the call's result. An argument may name a task by its id.
// The error has a Sentence.
func (c *Caller) Act(ctx context.Context, verb string, args map[string]any, key string) (id string, told, answered map[string]any, err error) {
	id, told, answered, err = c.act(ctx, verb, args, key)
	if err != nil {
		p := problemOf(err)
		if p.Status >= 500 {
			c.v.Log.Error("a message failed", "error", err)
		}
		err = toldProblem{p}
	}
	return id, told, answered, err
}

func (c *Caller) act(ctx context.Context, name string, args map[string]any, key string) (string, map[string]any, map[string]any, error) {
	v := c.v
	verb := v.Registry.Verb(name)
	if verb == nil || !v.session.May(verb) {
		return "", nil, nil, problem{Status: http.StatusForbidden, Code: "not-permitted", Title: "there is no such message for you"}
	}
	about := ""
	for i := range verb.Params {
		p := &verb.Params[i]
		said, ok := args[p.Name].(string)
		if ok && p.Type.Name == verbs.RefType {
			if _, err := v.task(ctx, said); err != nil {
				return "", nil, nil, err
			}
			about, args[p.Name] = said, "@"+said
		}
	}
	text, err := json.Marshal(args)
	if err != nil {
		return "", nil, nil, err
	}
	vocabulary := grammar.Vocabulary{Verbs: []*verbs.Verb{verb}}
	tools, err := grammar.Tools(vocabulary)
	if err != nil || len(tools) == 0 {
		return "", nil, nil, badBody("this cannot be said with values", "")
	}
	call, err := grammar.Call(vocabulary, tools[0].Name, string(text))
	if err != nil {
		return "", nil, nil, badBody(err.Error(), "")
	}
	script, _ := dsl.Parse(dsl.NewSource("message", dsl.FormatCall(&call)+"\n"))
	o := engine.RunOptions{}
	if key != "" {
		o.Key = digest.Of("verbatim message 1", v.route.Pattern, key)
	}
	a, err := v.act(ctx, v.session, script, o)
	if err != nil {
		return "", nil, nil, err
	}
	if a.asks != nil {
		return "", nil, nil, problem{Status: http.StatusForbidden, Code: "needs-agreement", Title: "this asks somebody first, and a message cannot agree"}
	}
	t, err := v.became(ctx, a)
	if t == nil && err == nil && about != "" {
		t, err = v.task(ctx, about)
	}
	if t == nil || err != nil {
		return "", nil, nil, err
	}
	told, answered := map[string]any{}, map[string]any{}
	if document := t.document(); document != nil {
		if err := json.Unmarshal(document, &told); err != nil {
			return "", nil, nil, err
		}
	}
	if a.done != nil {
		if table := a.done.Calls[len(a.done.Calls)-1].Result; table != nil && len(table.Rows) > 0 {
			if err := json.Unmarshal([]byte(stores.NewObject(table.Columns, table.Rows[0]).Text()), &answered); err != nil {
				return "", nil, nil, err
			}
		}
	}
	return t.id, told, answered, nil
}

// envelopeRoutes returns the routes of the envelopes.
func (s *Server) envelopeRoutes() (all []Route) {
	for _, e := range s.Envelopes {
		all = append(all, Route{Pattern: "POST " + e.Path, Door: API, Body: s.Limits.Script, Stream: true, Does: e.Does,
			handle: func(v *visit) error { return v.message(e) },
			refuse: func(v *visit, p problem) {
				if p.retry > 0 {
					v.w.Header().Set("Retry-After", "1")
				}
				v.answerMessage(p.Status, e.Refuse(p.Code, p.Title, p.Next))
			}})
	}
	return all
}

// message answers one message of an envelope, with its steps if the program listens.
func (v *visit) message(e Envelope) error {
	if v.secret != "" {
		return errToken
	}
	body, err := io.ReadAll(v.r.Body)
	if err != nil {
		return cutShort(err)
	}
	c := &Caller{v}
	if !strings.Contains(v.r.Header.Get("Accept"), "text/event-stream") {
		v.answerMessage(http.StatusOK, e.Answer(v.r.Context(), c, body, nil))
		return nil
	}
	stream := v.stream()
	tell := func(reply any) {
		if text, err := json.Marshal(reply); err == nil {
			stream.event("", text)
		}
	}
	tell(e.Answer(v.r.Context(), c, body, tell))
	return nil
}

func (v *visit) answerMessage(status int, reply any) {
	_ = http.NewResponseController(v.w).SetWriteDeadline(time.Now().Add(stallTime))
	v.w.Header().Set("Content-Type", "application/json")
	v.w.WriteHeader(status)
	_ = json.NewEncoder(v.w).Encode(reply)
}
