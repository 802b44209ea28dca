package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/wire"
	"verbatim/runtime/protocols/mcp"
	"verbatim/stores/receipt"
	"verbatim/verbs"
	"verbatim/verbs/grammar"

	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Source is the source of calls over MCP in the journal.
const Source = "mcp"

// maxKey is the greatest length of an idempotency key, in bytes.
const maxKey = 200

// callTool is the library's handler of calls of tools.
func (d *Door) callTool(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	return d.calls(ctx, askedOf(ctx), req)
}

// calls answers a call of a tool. A mistake in the call is a result of the tool and no error of the
// protocol, so that the model reads it and corrects the call.
func (d *Door) calls(ctx context.Context, of request, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	c := &call{Door: d, request: of, req: req, agreed: req.Params.RequestState}
	res, question := c.take(ctx)
	if question == nil {
		return res, nil
	}
	if c.inRounds() {
		return c.pause(question)
	}
	// A client of an earlier version is asked while it waits, and no place is taken meanwhile.
	if err := c.askNow(ctx, question); err != nil {
		return c.unanswered(ctx, err), nil
	}
	if res, question = c.take(ctx); question != nil { // it answered a question that nobody had asked
		return c.invalid(notAsked()), nil
	}
	return res, nil
}

// A call is one call of a tool.
type call struct {
	*Door
	request
	req    *sdk.CallToolRequest
	answer *sdk.ElicitResult // to the question, of a client that was asked while it waited
	agreed string            // the sealed state of the question that the answer is to

	began   time.Time
	session *engine.Session
	text    string // in the language
}

// take carries the request out, if no agreement is needed first; otherwise it returns the question
// that the caller has to answer.
func (c *call) take(ctx context.Context) (*sdk.CallToolResult, *question) {
	if c.caller.Turn != nil {
		leave, err := c.caller.Turn(ctx)
		if err != nil {
			return c.refused(err), nil
		}
		defer leave()
	}
	c.began = c.Clock()
	var err error
	if c.session, err = c.caller.Session(ctx); err != nil {
		return c.refused(err), nil
	}
	l, err := c.list(c.session)
	if err != nil {
		return c.refused(err), nil
	}
	tool, args := c.name, c.req.Params.Arguments
	if !l.few {
		switch tool {
		case searchTool, describeTool:
			return c.meta(ctx, c.session, l, tool, args), nil
		case callTool:
			var said struct {
				Verb      string
				Arguments json.RawMessage
			}
			if ds := read(args, &said); ds != nil {
				return c.invalid(ds), nil
			}
			tool, args = toolOf(l, said.Verb), said.Arguments
			if tool == "" {
				return c.invalid(unknown(said.Verb, l)), nil
			}
		}
	}
	o := engine.RunOptions{Source: Source}
	key, ok := c.req.Params.Meta[mcp.IdempotencyKey]
	if o.Key, _ = key.(string); ok && (o.Key == "" || len(o.Key) > maxKey) {
		return c.invalid(badArguments("the idempotency key in _meta is a text of 200 bytes at most")), nil
	}
	if len(args) > 0 {
		// A proxy that checks the message may read a repeated member, or an unpaired surrogate,
		// in another way than we do.
		switch at, err := strict(args); {
		case errors.Is(err, jsontext.ErrDuplicateName):
			return c.invalid(badArguments(fmt.Sprintf("the argument %q stands twice", at.JSONPointer.LastToken()))), nil
		case err != nil:
			return c.invalid(badArguments("the arguments are no JSON object in valid Unicode")), nil
		}
	}
	if tool == undoTool && l.undo {
		return c.takeBack(ctx, args, o)
	}
	verb := l.verbs[tool]
	if verb == nil {
		return c.invalid(unknown(tool, l)), nil
	}
	said, err := grammar.Call(grammar.Vocabulary{Verbs: []*verbs.Verb{verb}}, tool, string(args))
	if err != nil {
		return c.invalid(badArguments(err.Error())), nil
	}
	c.text = dsl.FormatCall(&said) + "\n"
	return c.run(ctx, o)
}

// takeBack makes the call that takes another back.
func (c *call) takeBack(ctx context.Context, args json.RawMessage, o engine.RunOptions) (*sdk.CallToolResult, *question) {
	var said struct{ Entry int64 }
	if ds := read(args, &said); ds != nil || said.Entry < 1 {
		return c.invalid(badArguments("entry is the number of a call's entry in the journal")), nil
	}
	script, err := c.session.Journal().Undo(ctx, said.Entry)
	if err != nil {
		return c.refused(err), nil
	}
	c.text = dsl.Format(script)
	return c.run(ctx, o)
}

func toolOf(l *list, verb string) string {
	for tool, v := range l.verbs {
		if v.Name == verb {
			return tool
		}
	}
	return ""
}

// run carries the call out.
func (c *call) run(ctx context.Context, o engine.RunOptions) (*sdk.CallToolResult, *question) {
	script, faults := dsl.Parse(dsl.NewSource(Source, c.text))
	faults = c.Registry.Mask(script, faults)
	yes := false
	if c.agreed != "" || len(c.req.Params.InputResponses) > 0 {
		answer, ds := c.opens()
		if ds != nil {
			return c.invalid(ds), nil
		}
		o.Agreed, yes = answer, c.says()
	}
	if !faults.HasErrors() {
		// An earlier run may have deleted the rows that the call names: its receipt is looked for
		// before the call is checked.
		if done, err := c.before(ctx, script, o); err != nil {
			return c.refused(err), nil
		} else if done != nil {
			return c.done(done, nil), nil
		}
	}
	program, more := c.session.Check(ctx, script, engine.CheckOptions{Said: c.caller.Said, Parsed: faults})
	faults = append(faults, more...)
	if faults.HasErrors() {
		return c.invalid(faults), nil
	}
	if o.Agreed != "" && !yes {
		return c.declines(ctx, program, o.Agreed), nil
	}
	tell, told := c.progress(ctx)
	o.Progress = tell
	done, err := c.session.Run(ctx, program, o)
	told()
	if err == nil {
		return c.done(done, faults), nil
	}
	if codeOf(err) != engine.CodeNeedsAgreement {
		return c.refused(err), nil
	}
	return c.needs(ctx, program, o, err)
}

// before returns the receipt of what the same request, or the same answer, did before; nil if it did
// nothing yet.
func (c *call) before(ctx context.Context, script *dsl.Script, o engine.RunOptions) (done *receipt.Receipt, err error) {
	if o.Key != "" {
		done, err = c.session.Journal().Repeat(ctx, script, o.Key)
	}
	if done == nil && err == nil {
		done, err = c.session.Journal().Answered(ctx, script, o.Agreed)
	}
	return done, err
}

// needs asks for the missing agreements: the caller's own, and those of others.
func (c *call) needs(ctx context.Context, program *verbs.Program, o engine.RunOptions, refusal error) (*sdk.CallToolResult, *question) {
	o.Progress = nil
	if o.Agreed == "" {
		preview, err := c.session.Keep(ctx, program, o)
		if err != nil {
			return c.refused(err), nil
		}
		own := slices.ContainsFunc(preview.Asks(), func(a receipt.Ask) bool { return a.By == "" })
		if slices.ContainsFunc(preview.Asks(), func(a receipt.Ask) bool { return a.By != "" }) {
			// The person may have been asked before, and others are still to agree.
			p, err := c.session.Proposed(ctx, preview)
			if err != nil {
				return c.refused(err), nil
			}
			if p != nil {
				return c.waits(p, slices.ContainsFunc(p.Roles, func(a engine.Agreement) bool { return a.Role == "" && a.By == "" })), nil
			}
		}
		if own && c.canAsk() {
			return nil, c.asks(preview)
		}
		o.Absent = own
	}
	p, err := c.session.Propose(ctx, program, o)
	switch {
	case err != nil:
		return c.refused(err), nil
	case p.ID == "": // meanwhile nobody else has to agree
		return c.refused(refusal), nil
	}
	return c.waits(p, o.Absent), nil
}

// declines says no to the preview that the person was asked about.
func (c *call) declines(ctx context.Context, program *verbs.Program, preview string) *sdk.CallToolResult {
	if err := c.session.DeclinePreview(ctx, program, preview); err != nil {
		return c.refused(err)
	}
	return c.no(wire.Refused, dsl.Diagnostics{{Severity: dsl.Error, Code: codeDeclined, Summary: "the person did not agree; nothing was changed",
		Notes: []string{"ask them what they want instead, before you call it again"}}})
}

// codeOf returns the code of a refusal, "" for any other error.
func codeOf(err error) string {
	var refusal *engine.Refusal
	if errors.As(err, &refusal) && len(refusal.Diagnostics) > 0 {
		return refusal.Diagnostics[0].Code
	}
	return ""
}

// progress tells a client that wants to know how far its call is. It never keeps the run
// waiting: a client that reads slowly is told less. told waits until nothing more is told.
func (c *call) progress(ctx context.Context) (tell func(engine.Progress), told func()) {
	token := c.req.Params.GetProgressToken()
	if token == nil {
		return nil, func() {}
	}
	next, ended := make(chan engine.Progress, 16), make(chan struct{})
	go func() {
		defer close(ended)
		last := -1.0
		for p := range next {
			// A run works things out, and then does them: each is half of the way.
			at, total := float64(p.Done), float64(2*p.Total)
			if p.Phase != engine.Previewing {
				at += float64(p.Total)
			}
			if p.Phase == engine.Asking {
				at, total = float64(p.Done), float64(p.Total)
			}
			if at <= last { // it began again
				continue
			}
			last = at
			_ = c.req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: at, Total: total, Message: string(p.Phase)})
		}
	}()
	return func(p engine.Progress) {
			select {
			case next <- p:
			default:
			}
		}, func() {
			close(next)
			<-ended
		}
}
