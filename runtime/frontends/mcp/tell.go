package mcp

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/wire"
	"verbatim/stores"
	"verbatim/stores/receipt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The results of calls for clients: the document that --json prints, and the same in words.

// The codes of the door's own answers.
const (
	codeBadArguments = "bad-arguments"
	codeNotAsked     = "not-asked"
	codeDeclined     = "declined"
)

//go:embed codes.txtar
var codesText string

// Codes explains every code that the door answers with by itself.
func Codes() []dsl.CodeDoc { return dsl.ReadCodes(codesText) }

func badArguments(why string) dsl.Diagnostics {
	return dsl.Diagnostics{{Severity: dsl.Error, Code: codeBadArguments, Summary: why, Notes: []string{"tools/list tells the schema of the arguments"}}}
}

func notAsked() dsl.Diagnostics {
	return dsl.Diagnostics{{Severity: dsl.Error, Code: codeNotAsked, Summary: "that answers no question that you were asked about this call; nothing was changed",
		Notes: []string{"call it again without an answer, and ask the person"}}}
}

// structured makes a result from a document and the same in words.
func structured(document any, text string) *sdk.CallToolResult {
	raw, err := json.Marshal(document)
	if err != nil {
		return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: "the answer cannot be written"}}}
	}
	return &sdk.CallToolResult{StructuredContent: json.RawMessage(raw), Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

// done makes the result of a call that was carried out, with its warnings.
func (c *call) done(r *receipt.Receipt, ds dsl.Diagnostics) *sdk.CallToolResult {
	run := wire.DoneRun(r)
	run.Report = wire.NewReport(ds)
	var text bytes.Buffer
	if r.Repeated {
		text.WriteString("This was done before, under the same key or by the same answer; here is what it did then.\n")
	}
	receipt.Print(&text, r, receipt.Options{Took: c.Clock().Sub(c.began)})
	for i := range ds {
		fmt.Fprintf(&text, "warning: %s\n", receipt.Safe(ds[i].Summary))
	}
	return structured(run, text.String())
}

// no makes the result of a call that was not carried out, with the reasons.
func (d *Door) no(outcome string, ds dsl.Diagnostics) *sdk.CallToolResult {
	run := wire.Run{Schema: wire.RunSchema, Outcome: outcome, Report: wire.NewReport(ds)}
	var text strings.Builder
	for i := range ds {
		if ds[i].Severity != dsl.Error {
			continue
		}
		if run.Code == "" {
			run.Code = ds[i].Code
		}
		fmt.Fprintf(&text, "%s[%s]: %s\n", outcome, ds[i].Code, receipt.Safe(ds[i].Summary))
		if ds[i].Label != "" {
			fmt.Fprintf(&text, "  %s\n", receipt.Safe(ds[i].Label))
		}
		for _, note := range ds[i].Notes {
			if note != ds[i].Label {
				fmt.Fprintf(&text, "  next: %s\n", receipt.Safe(note))
			}
		}
	}
	res := structured(run, text.String())
	res.IsError = true
	return res
}

// invalid makes the result of a call with mistakes.
func (d *Door) invalid(ds dsl.Diagnostics) *sdk.CallToolResult { return d.no(wire.Invalid, ds) }

// refused makes the result of a call that was refused.
func (d *Door) refused(err error) *sdk.CallToolResult {
	var refusal *engine.Refusal
	var failed *engine.Failure
	switch {
	case errors.As(err, &refusal):
		return d.no(wire.Refused, refusal.Diagnostics)
	case errors.As(err, &failed) && failed.Told != nil:
		return d.no(wire.Unknown, dsl.Diagnostics{*failed.Told})
	case errors.As(err, &failed) && failed.Unknown:
		return d.no(wire.Unknown, dsl.Diagnostics{{Severity: dsl.Error, Code: "unknown", Summary: engine.Sentence(err)}})
	}
	d.Log.Error("failed", "error", err.Error())
	return d.no(wire.Refused, dsl.Diagnostics{{Severity: dsl.Error, Code: cmp.Or(stores.TroubleCode(err), "system"), Summary: engine.Sentence(err)}})
}

// waits tells whose agreement is waited for. own says that it is the caller's, whom the
// client cannot ask.
func (c *call) waits(p *engine.Pending, own bool) *sdk.CallToolResult {
	run := wire.Run{Schema: wire.RunSchema, Outcome: wire.Waiting, Preview: p.Preview, Confirmation: wire.NewConfirmation(p), Report: wire.NewReport(nil)}
	var text bytes.Buffer
	text.WriteString("This waits, and nothing was changed.\n")
	if own {
		text.WriteString("The person you work for has to agree first, and this client did not say that it can ask them.\n")
		if c.caller.Agree != nil {
			text.WriteString("They agree by themselves: " + c.caller.Agree(p.ID) + "\n")
		}
	}
	var roles []string
	for _, r := range p.Roles {
		if r.Role != "" && r.By == "" {
			roles = append(roles, "somebody else with the role "+r.Role)
		}
	}
	if len(roles) > 0 {
		fmt.Fprintf(&text, "It needs the agreement of %s. Neither you nor the person you work for can give it.\n", strings.Join(roles, " and "))
	}
	for _, a := range p.Preview.Asks() {
		fmt.Fprintf(&text, "because: %s\n", receipt.Safe(a.Reason))
	}
	fmt.Fprintf(&text, "It is kept as %s until %s. Call it again to see how it stands.\n\n", receipt.Short(p.ID), p.Expires.UTC().Format("2006-01-02 15:04 MST"))
	receipt.PrintCalls(&text, p.Preview, receipt.Options{Full: true})
	return structured(run, text.String())
}
