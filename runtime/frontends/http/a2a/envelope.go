package a2a

import (
	"context"
	"encoding/json"
	"io"
	"net/http"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/http/server"
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
type Caller struct{ p *peer }

// A toldProblem is the error of a refused call, with a sentence for the program.
type toldProblem struct{ server.Problem }

// Sentence returns the code and the sentence.
func (p toldProblem) Sentence() (code, text string) {
	text = p.Title
	if len(p.Diagnostics) > 0 {
		d := &p.Diagnostics[0]
		if text = d.Summary; d.Code == "pattern-mismatch" && d.Label != "" {
			text += ": " + d.Label
		}
	}
	return p.Code, text
}

// Act makes one call of values, at most once for each key. It returns the id of the task that the
// call was about, the task's columns, and the call's result. An argument may name a task by its id.
// The error has a Sentence.
func (c *Caller) Act(ctx context.Context, verb string, args map[string]any, key string) (id string, told, answered map[string]any, err error) {
	id, told, answered, err = c.act(ctx, verb, args, key)
	if err != nil {
		p := server.ProblemOf(err)
		if p.Status >= 500 {
			c.p.Log.Error("a message failed", "error", err)
		}
		err = toldProblem{p}
	}
	return id, told, answered, err
}

func (c *Caller) act(ctx context.Context, name string, args map[string]any, key string) (string, map[string]any, map[string]any, error) {
	p := c.p
	verb := p.Registry.Verb(name)
	if verb == nil || !p.Session.May(verb) {
		return "", nil, nil, server.Problem{Status: http.StatusForbidden, Code: "not-permitted", Title: "there is no such message for you"}
	}
	about := ""
	for i := range verb.Params {
		param := &verb.Params[i]
		said, ok := args[param.Name].(string)
		if ok && param.Type.Name == verbs.RefType {
			if _, err := p.task(ctx, said); err != nil {
				return "", nil, nil, err
			}
			about, args[param.Name] = said, "@"+said
		}
	}
	text, err := json.Marshal(args)
	if err != nil {
		return "", nil, nil, err
	}
	vocabulary := grammar.Vocabulary{Verbs: []*verbs.Verb{verb}}
	tools, err := grammar.Tools(vocabulary)
	if err != nil || len(tools) == 0 {
		return "", nil, nil, server.BadBody("this cannot be said with values", "")
	}
	call, err := grammar.Call(vocabulary, tools[0].Name, string(text))
	if err != nil {
		return "", nil, nil, server.BadBody(err.Error(), "")
	}
	script, _ := dsl.Parse(dsl.NewSource("message", dsl.FormatCall(&call)+"\n"))
	o := engine.RunOptions{}
	if key != "" {
		o.Key = digest.Of("verbatim message 1", p.Route.Pattern, key)
	}
	a, err := p.act(ctx, p.Session, script, o)
	if err != nil {
		return "", nil, nil, err
	}
	if a.asks != nil {
		return "", nil, nil, server.Problem{Status: http.StatusForbidden, Code: "needs-agreement", Title: "this asks somebody first, and a message cannot agree"}
	}
	t, err := p.became(ctx, a)
	if t == nil && err == nil && about != "" {
		t, err = p.task(ctx, about)
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

// envelopes returns the routes of the envelopes.
func (a *Agents) envelopes() (all []server.Route) {
	for _, e := range a.Envelopes {
		all = append(all, server.Route{Pattern: "POST " + e.Path, Door: server.Program, Body: a.server.Limits.Script, Stream: true, Does: e.Does,
			Handle: func(v *server.Visit) error { return (&peer{v, a}).message(e) },
			Refuse: func(v *server.Visit, why server.Problem) {
				if why.Retry > 0 {
					v.W.Header().Set("Retry-After", "1")
				}
				_ = v.JSON(why.Status, e.Refuse(why.Code, why.Title, why.Next))
			}})
	}
	return all
}

// message answers one message of an envelope, with its steps if the program listens.
func (p *peer) message(e Envelope) error {
	body, err := io.ReadAll(p.R.Body)
	if err != nil {
		return server.CutShort(err)
	}
	c := &Caller{p}
	if !p.WantsEvents() {
		return p.JSON(http.StatusOK, e.Answer(p.R.Context(), c, body, nil))
	}
	stream := p.Stream()
	tell := func(reply any) { stream.Send("", reply) }
	tell(e.Answer(p.R.Context(), c, body, tell))
	return nil
}
