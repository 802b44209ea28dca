package mcp

import (
	"context"
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/verbs"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// model is what a door for the client of a model says of its values.
var model = verbs.Literals{Origin: verbs.NewOrigin(verbs.FromModel, ""), Unheard: true}

// A client is the client of a model, as its makers' library has it, and its person.
type client struct {
	t *testing.T
	*sdk.ClientSession
	asked []string
}

// joins connects a client over a pipe. Its person answers with an action; "" is a client that asks
// nobody.
func joins(t *testing.T, reg *verbs.Registry, c *Caller, version, action string) *client {
	t.Helper()
	d, err := New(Options{Registry: reg, Seal: []byte("x"), Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	in, say := io.Pipe()
	hear, out := io.Pipe()
	go func() { _ = d.Serve(context.WithoutCancel(t.Context()), in, out, c) }()
	a := &client{t: t}
	o := &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}}
	if action != "" {
		o.ElicitationHandler = func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			a.asked = append(a.asked, r.Params.Message)
			answer := &sdk.ElicitResult{Action: action}
			if action == "accept" {
				answer.Content = map[string]any{"agree": true}
			}
			return answer, nil
		}
	}
	a.ClientSession, err = sdk.NewClient(&sdk.Implementation{Name: "aide", Version: "1"}, o).Connect(t.Context(), &sdk.IOTransport{Reader: hear, Writer: say}, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// call calls a tool and returns what it says, its outcome and the code of a refusal.
func (a *client) call(tool string, args any) (text, outcome, code string) {
	a.t.Helper()
	r, err := a.CallTool(a.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		a.t.Fatalf("%s: %v", tool, err)
	}
	var doc struct{ Outcome, Code string }
	raw, _ := json.Marshal(r.StructuredContent)
	if err := json.Unmarshal(raw, &doc); err != nil {
		a.t.Fatalf("%s: %v", raw, err)
	}
	for _, c := range r.Content {
		if t, ok := c.(*sdk.TextContent); ok {
			text += t.Text
		}
	}
	return text, doc.Outcome, doc.Code
}

// holds reports whether there is an account of a title.
func (a *client) holds(title string) bool {
	a.t.Helper()
	text, outcome, _ := a.call("ledger__list", nil)
	if outcome != "done" {
		a.t.Fatal(text)
	}
	return strings.Contains(text, title)
}

// A model writes nothing that its person did not agree to, in either version of the protocol: each
// call that writes is asked about once, with its values and where they come from; a read is not. (G1)
func TestAModelWritesNothingUnasked(t *testing.T) {
	t.Parallel()
	for _, version := range []string{modern, "2025-11-25"} {
		for action, want := range map[string]struct{ outcome, code string }{
			"accept": {"done", ""}, "decline": {"refused", "declined"}, "cancel": {"refused", "declined"},
		} {
			t.Run(version+" "+action, func(t *testing.T) {
				t.Parallel()
				reg, c := house(t, 1)
				c.Said = model
				a := joins(t, reg, c, version, action)
				text, outcome, code := a.call("ledger__open", map[string]any{"title": "Rent"})
				if outcome != want.outcome || code != want.code || a.holds("Rent") != (action == "accept") {
					t.Errorf("%s %s: %s", outcome, code, text)
				}
				if len(a.asked) != 1 || !strings.Contains(a.asked[0], "a model wrote it, and the person it works for was not heard") || !regexp.MustCompile(`title +"Rent" +.*\(model\)`).MatchString(a.asked[0]) {
					t.Errorf("the person was asked %q", a.asked)
				}
				// What a rule of the palette asks is one question, not two.
				if _, outcome, code = a.call("ledger__pay", map[string]any{"title": "Gas"}); outcome != want.outcome || code != want.code || len(a.asked) != 2 || strings.Contains(a.asked[1], "was not heard") {
					t.Errorf("%s %s: %q", outcome, code, a.asked)
				}
				// That a model says yes in the call itself is no answer.
				if _, _, code = a.call("ledger__open", map[string]any{"title": "Yes", "agree": true}); code != "unknown-argument" || len(a.asked) != 2 {
					t.Errorf("%s: %q", code, a.asked)
				}
			})
		}
	}
}

// What a client that asks nobody sends waits for the person, who agrees elsewhere, once. (G1)
func TestWithoutElicitationItWaits(t *testing.T) {
	t.Parallel()
	for _, version := range []string{modern, "2025-11-25"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			reg, c := house(t, 1)
			c.Said = model
			var ids []string
			c.Agree = func(id string) string {
				ids = append(ids, id)
				return "verbatim confirm " + id
			}
			a := joins(t, reg, c, version, "")
			for range 2 {
				if text, outcome, _ := a.call("ledger__open", map[string]any{"title": "Rent"}); outcome != "waiting" || a.holds("Rent") {
					t.Fatalf("%s: %s", outcome, text)
				}
			}
			if len(ids) != 2 || ids[0] != ids[1] {
				t.Fatalf("it waits as %q", ids)
			}
			s, err := c.Session(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // the same answer again is the same act
				if _, done, err := s.Agree(t.Context(), ids[0]); err != nil || done == nil {
					t.Fatal(done, err)
				}
			}
			text, _, _ := a.call("ledger__list", nil)
			if strings.Count(text, "Rent") != 1 {
				t.Error(text)
			}
		})
	}
}

// A standing rule passes its verb while it holds, and its receipt and the journal name it. It passes
// nothing that a palette asks, and nothing once it is taken back. (G1)
func TestAStandingRulePassesItsVerb(t *testing.T) {
	t.Parallel()
	today := stores.DateOf(time.Now().UTC())
	var rules []engine.StandingRule
	reg, c := house(t, 1, func(o *engine.Options) {
		o.People.Standing = func(_ context.Context, _ stores.Reader, principal string) ([]engine.StandingRule, error) {
			if principal != "kim" {
				t.Errorf("the rules of %s are read", principal)
			}
			return rules, nil
		}
	})
	c.Said = model
	a := joins(t, reg, c, modern, "decline")
	yesterday := stores.DateOf(time.Now().UTC().AddDate(0, 0, -1))
	for i, x := range []struct {
		rule   engine.StandingRule
		tool   string
		passes bool
	}{
		{engine.StandingRule{Name: "opening", Verb: "ledger.open", Until: today}, "ledger__open", true},
		{engine.StandingRule{Name: "over", Verb: "ledger.open", Until: yesterday}, "ledger__open", false},
		{engine.StandingRule{Name: "endless", Verb: "ledger.open"}, "ledger__open", false},
		{engine.StandingRule{Name: "paying", Verb: "ledger.pay", Until: today}, "ledger__pay", false},
		{engine.StandingRule{Name: "others", Verb: "ledger.pay", Until: today}, "ledger__open", false},
		{engine.StandingRule{}, "ledger__open", false},
	} {
		rules = []engine.StandingRule{x.rule}
		asked := len(a.asked)
		text, outcome, _ := a.call(x.tool, map[string]any{"title": "A"})
		if passes := outcome == "done"; passes != x.passes || (len(a.asked) > asked) == x.passes || x.passes && !strings.Contains(text, "the standing rule "+x.rule.Name+" passes it") {
			t.Errorf("%d %+v: %s", i, x, text)
		}
	}
	// What a rule passed in a preview is not passed by it any more when it runs.
	s, err := c.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rules = []engine.StandingRule{{Name: "opening", Verb: "ledger.open", Until: today}}
	script, _ := dsl.Parse(dsl.NewSource("x", `ledger.open :title "B"`))
	program, ds := s.Check(t.Context(), script, engine.CheckOptions{Said: model})
	preview, err := s.Preview(t.Context(), program)
	if ds.HasErrors() || err != nil || len(preview.Asks()) > 0 || preview.Calls[0].Passed != "opening" {
		t.Fatal(ds, err, preview)
	}
	rules = nil
	for _, agreed := range []string{"", preview.Answer()} {
		if _, err := s.Run(t.Context(), program, engine.RunOptions{Agreed: agreed}); err == nil {
			t.Error("it passes after the rule was taken back")
		}
	}
	// A script of a person is not asked about.
	if program, _ := s.Check(t.Context(), script); program != nil {
		if _, err := s.Run(t.Context(), program, engine.RunOptions{}); err != nil {
			t.Error(err)
		}
	}
}
