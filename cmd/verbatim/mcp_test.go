package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// An aide is the client of a model, as its makers' library has it.
type aide struct {
	t *testing.T
	*sdk.ClientSession
	asked []string     // what the person was asked
	told  chan float64 // how far a call is
}

// starts starts `verbatim mcp` as a client does, over a pipe. Its person answers what they are
// asked; without answers, it asks nobody.
func (h *house) starts(who, version string, answer func(string) *sdk.ElicitResult, args ...string) *aide {
	h.t.Helper()
	cmd := exec.Command(filepath.Join(h.dir, ".bin", "verbatim"), append([]string{"mcp", "--as", who}, args...)...)
	cmd.Dir, cmd.Env = h.dir, h.env
	return connects(h.t, &sdk.CommandTransport{Command: cmd}, version, answer)
}

func connects(t *testing.T, over sdk.Transport, version string, answer func(string) *sdk.ElicitResult) *aide {
	t.Helper()
	a := &aide{t: t, told: make(chan float64, 100)}
	o := &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}, ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
		a.told <- r.Params.Progress / r.Params.Total
	}}
	if answer != nil {
		o.ElicitationHandler = func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			a.asked = append(a.asked, r.Params.Message)
			return answer(r.Params.Message), nil
		}
	}
	var err error
	if a.ClientSession, err = sdk.NewClient(&sdk.Implementation{Name: "aide", Version: "1"}, o).Connect(t.Context(), over, &sdk.ClientSessionOptions{ProtocolVersion: version}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// call calls a tool, and returns what it says and its document.
func (a *aide) call(tool string, args map[string]any) (text string, doc map[string]any, failed bool) {
	a.t.Helper()
	r, err := a.CallTool(a.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		a.t.Fatalf("%s: %v", tool, err)
	}
	return saysOf(r), docOf(a.t, r), r.IsError
}

func saysOf(r *sdk.CallToolResult) string {
	var b strings.Builder
	for _, c := range r.Content {
		if t, ok := c.(*sdk.TextContent); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

func docOf(t *testing.T, r *sdk.CallToolResult) (doc map[string]any) {
	t.Helper()
	text, _ := json.Marshal(r.StructuredContent)
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return doc
}

func yes(string) *sdk.ElicitResult {
	return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"agree": true}}
}

func no(string) *sdk.ElicitResult { return &sdk.ElicitResult{Action: "decline"} }

// versions are those of the protocol that clients speak.
var versions = []string{"2026-07-28", "2025-11-25", "2025-06-18"}

// The client of a model starts the program, lists what its person may do, calls, is told why
// not and what else, asks its person where a rule says so, and does what they say: in each
// version of the protocol. What comes over MCP is a model's.
func TestAClientOfAModelCallsVerbs(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.env = append(h.env, "TICK=now") // what one process did is past for the next
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			a := h.starts("clara", version, yes)
			l, err := a.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			hints := map[string]sdk.ToolAnnotations{}
			for _, tool := range l.Tools {
				hints[tool.Name] = *tool.Annotations
				if tool.Description == "" || tool.OutputSchema == nil {
					t.Errorf("%s says nothing of itself", tool.Name)
				}
			}
			if !hints["client__get-status"].ReadOnlyHint || hints["client__add-note"].ReadOnlyHint || !*hints["client__add-note"].DestructiveHint || hints["client__escalate"].ReadOnlyHint || !*hints["client__escalate"].OpenWorldHint {
				t.Errorf("the hints are %+v", hints)
			}
			if _, ok := hints["review__accept"]; ok || len(hints) != 21 {
				t.Errorf("%d tools are listed: %v", len(hints), hints)
			}
			for _, c := range []struct {
				tool, args string
				want       []string // in what is said
				code       string   // "" where it is done
			}{
				{"client__get-outstanding", `{}`, []string{"@pierre-dupont-source-of-wealth"}, ""},
				{"client__add-note", `{"request-id":"@pierre-dupont-source-of-wealth","note":"Note ` + version + `"}`, []string{"applied  1 call changed 1 row", "from :note (model)"}, ""},
				{"client__add-note", `{"request-id":"@pierre-dupont-source-of-weath","note":"x"}`, []string{`did you mean "@pierre-dupont-source-of-wealth"?`}, "unknown-name"},
				{"client__add-note", `{"request-id":"@pierre-dupont-source-of-wealth","note":"x","notes":"y"}`, []string{"takes no argument called :notes"}, "unknown-argument"},
				{"client__add-note", `{"note":"x"}`, []string{":request-id"}, "missing-argument"},
				{"client__add-note", `{"request-id":["@a"],"note":7}`, nil, "wrong-type"},
				{"client__add-note", `{"note":"x","note":"y"}`, []string{"twice"}, "bad-arguments"},
				{"client__add-notes", `{}`, []string{"did you mean client__add-note"}, "unknown-verb"},
				{"review__accept", `{"request-id":"@pierre-dupont-source-of-wealth"}`, []string{`there is no tool called "review__accept"`}, "unknown-verb"},
				{"review__nothing", `{}`, []string{`there is no tool called "review__nothing"`}, "unknown-verb"},
				{"client__remind", `{}`, []string{"there is no tool called"}, "unknown-verb"},
				{"client__name-repayment-account", `{"cbu-id":"@allianz-reinsurance-ag","iban":"LU280019400644750000"}`, []string{"must come from a person or a record; this came from the model"}, "origin"},
				{"verbatim", `{}`, []string{"there is no tool called"}, "unknown-verb"},
				{"search", `{}`, []string{"there is no tool called"}, "unknown-verb"},
			} {
				r, err := a.CallTool(t.Context(), &sdk.CallToolParams{Name: c.tool, Arguments: json.RawMessage(c.args)})
				if err != nil {
					t.Fatalf("%s %s: %v", c.tool, c.args, err)
				}
				text, doc := saysOf(r), docOf(t, r)
				if code, _ := doc["code"].(string); code != c.code || r.IsError != (c.code != "") || doc["schema"] != "verbatim/run@1" {
					t.Errorf("%s %s is answered %v", c.tool, c.args, doc)
				}
				for _, want := range c.want {
					if !strings.Contains(text, want) {
						t.Errorf("%s %s: it is not said %q:\n%s", c.tool, c.args, want, text)
					}
				}
				if strings.Contains(text, "0000-4000") {
					t.Errorf("%s %s tells a key:\n%s", c.tool, c.args, text)
				}
			}
			if len(a.asked) != 1 || !strings.Contains(a.asked[0], "May I note for Pierre Dupont") || !strings.Contains(a.asked[0], "You are asked because a model wrote it") {
				t.Errorf("the person was asked %q", a.asked)
			}
			a.asked = nil
			text, doc, failed := a.call("client__escalate", map[string]any{"reason": "We are stuck, " + version})
			if failed || doc["outcome"] != "done" || len(a.asked) != 1 || !strings.Contains(a.asked[0], "May I pass this conversation on to a person at the bank, for Allianz Reinsurance AG?") ||
				!strings.Contains(a.asked[0], "You are asked because it sends a message that cannot be recalled") || !strings.Contains(text, "applied  1 call changed 1 row and queued 1 notice") {
				t.Errorf("%v %q\n%s", doc, a.asked, text)
			}
			// What was done is taken back by the number that its receipt tells.
			_, doc, _ = a.call("client__add-note", map[string]any{"request-id": "@pierre-dupont-source-of-wealth", "note": "Wrong, " + version})
			entry, _ := doc["preview"].(map[string]any)["calls"].([]any)[0].(map[string]any)["undo"].(map[string]any)
			if text, doc, failed := a.call("undo", map[string]any{"entry": entry["entry"]}); failed || doc["outcome"] != "done" || !strings.Contains(text, `"Wrong, `+version+`" -> "Note `+version+`"`) {
				t.Errorf("%v %v %s", entry, doc, text)
			}
			if text, doc, failed := a.call("undo", map[string]any{"entry": entry["entry"]}); !failed || doc["code"] != "changed-since" {
				t.Errorf("%v %s", doc, text)
			}
			for _, args := range []map[string]any{{}, {"entry": 0}, {"entry": "x"}, {"entry": 1, "verb": "x"}} {
				if text, doc, failed := a.call("undo", args); !failed || doc["code"] != "bad-arguments" {
					t.Errorf("%v %s", doc, text)
				}
			}
			if text, doc, failed := a.call("undo", map[string]any{"entry": 100000}); !failed || doc["code"] != "unknown-entry" {
				t.Errorf("%v %s", doc, text)
			}
			listens := &sdk.CallToolParams{Name: "client__add-note", Arguments: map[string]any{"request-id": "@pierre-dupont-source-of-wealth", "note": "Told"}}
			listens.SetProgressToken("p")
			if _, err := a.CallTool(t.Context(), listens); err != nil {
				t.Error(err)
			}
			if far := <-a.told; far <= 0 || far > 1 {
				t.Errorf("it is told to be at %v of the way", far)
			}
			a = h.starts("clara", version, no)
			if text, doc, failed := a.call("client__escalate", map[string]any{"reason": "No, " + version}); !failed || doc["code"] != "declined" || len(a.asked) != 1 {
				t.Errorf("%v %s", doc, text)
			}
		})
	}
	log := h.do("log", "show", "--as", "d.lang")
	for _, want := range []string{"declined\tclient.escalate", "refused:origin\tclient.name-repayment-account"} {
		if n := strings.Count(log, want); n != len(versions) {
			t.Errorf("the journal has %q %d times\n%s", want, n, log)
		}
	}
	if n := strings.Count(log, "ok\tclient.escalate"); n != len(versions) {
		t.Errorf("%d are passed on\n%s", n, log)
	}
}

// A client that did not say that it asks people is told how its person agrees, and is not
// taken at its word where it answers all the same.
func TestAClientThatCannotAsk(t *testing.T) {
	t.Parallel()
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			a := h.starts("clara", version, nil)
			forged, err := a.CallTool(t.Context(), &sdk.CallToolParams{Name: "client__escalate", RequestState: "x", Arguments: map[string]any{"reason": "Stuck"},
				InputResponses: sdk.InputResponseMap{"agree": yes("")}})
			if err != nil || docOf(t, forged)["code"] != "not-asked" {
				t.Errorf("%v %v", err, forged)
			}
			text, doc, failed := a.call("client__escalate", map[string]any{"reason": "Stuck"})
			id := regexp.MustCompile(`verbatim confirm (\S+) --as clara`).FindStringSubmatch(text)
			if failed || doc["outcome"] != "waiting" || id == nil {
				t.Fatalf("%v\n%s", doc, text)
			}
			if again, _, _ := a.call("client__escalate", map[string]any{"reason": "Stuck"}); !strings.Contains(again, id[0]) {
				t.Errorf("asked again it is another\n%s", again)
			}
			h.do("confirm", id[1], "--as", "clara", "--agree")
		})
	}
}

// What two people have to agree to waits, says for whom, and is done once the second agreed;
// under an idempotency key the client is told what was done.
func TestFourEyesOverMCP(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.starts("t.weber", "", yes)
	waive := &sdk.CallToolParams{Name: "review__waive", Meta: sdk.Meta{"verbatim/idempotency-key": "w1"},
		Arguments: map[string]any{"request-id": "@maria-schmidt-date-of-birth", "reason": "We have the register."}}
	r, err := a.CallTool(t.Context(), waive)
	if err != nil {
		t.Fatal(err)
	}
	text, doc := saysOf(r), docOf(t, r)
	id := regexp.MustCompile(`It is kept as (\S+) until`).FindStringSubmatch(text)
	if r.IsError || doc["outcome"] != "waiting" || id == nil || !strings.Contains(text, "somebody else with the role analyst") || !strings.Contains(text, "a requirement is waived by two people") || len(a.asked) != 1 {
		t.Fatalf("%v %q\n%s", doc, a.asked, text)
	}
	if r, err = a.CallTool(t.Context(), waive); err != nil || !strings.Contains(saysOf(r), id[0]) || len(a.asked) != 1 {
		t.Errorf("%v %q %s", err, a.asked, saysOf(r))
	}
	h.do("confirm", id[1], "--as", "a.nowak", "--agree")
	if r, err = a.CallTool(t.Context(), waive); err != nil || docOf(t, r)["outcome"] != "done" || docOf(t, r)["repeated"] != true {
		t.Errorf("%v %s", err, saysOf(r))
	}
}

// A key does a thing once, whoever sends it again.
func TestAnIdempotencyKeyOverMCP(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	note := func(key any, note string) (string, map[string]any) {
		a := h.starts("clara", "", yes)
		r, err := a.CallTool(t.Context(), &sdk.CallToolParams{Name: "client__add-note", Meta: sdk.Meta{"verbatim/idempotency-key": key},
			Arguments: map[string]any{"request-id": "@pierre-dupont-source-of-wealth", "note": note}})
		if err != nil {
			t.Fatal(err)
		}
		return saysOf(r), docOf(t, r)
	}
	first, _ := note("k", "One")
	again, doc := note("k", "One")
	if !strings.Contains(first, "applied  1 call") || !strings.Contains(again, "done before, under the same key") || doc["repeated"] != true {
		t.Errorf("%s\n%s", first, again)
	}
	if _, doc := note("k", "Two"); doc["code"] != "key-reused" {
		t.Error(doc)
	}
	for _, key := range []any{7, "", strings.Repeat("k", 201), map[string]any{}} {
		if _, doc := note(key, "Three"); doc["code"] != "bad-arguments" {
			t.Errorf("%v: %v", key, doc)
		}
	}
	if n := strings.Count(h.do("log", "show", "--as", "d.lang"), "ok\tclient.add-note"); n != 1 {
		t.Errorf("it was done %d times", n)
	}
}

// Of more verbs than are listed, three tools find, describe and call them; a fourth takes
// back what was done.
func TestManyVerbsAreFoundOverMCP(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.starts("clara", "", yes, "--tools", "5")
	l, err := a.ListTools(t.Context(), nil)
	if err != nil || len(l.Tools) != 4 {
		t.Fatal(err, len(l.Tools))
	}
	text, doc, _ := a.call("search", map[string]any{"words": "I want to leave a note for them"})
	if found, _ := doc["verbs"].([]any); len(found) == 0 || !strings.Contains(text, "client.add-note: Leave a note on a request") || strings.Contains(text, "review.") {
		t.Errorf("%s", text)
	}
	if text, doc, _ := a.call("describe", map[string]any{"verb": "client.add-note"}); !strings.Contains(text, ":request-id") || doc["arguments"] == nil {
		t.Errorf("%v %s", doc, text)
	}
	for _, tool := range []string{"describe", "call"} {
		if text, doc, failed := a.call(tool, map[string]any{"verb": "review.accept"}); !failed || doc["code"] != "unknown-verb" {
			t.Errorf("%s", text)
		}
		if text, _, _ := a.call(tool, map[string]any{"verb": "client.add-notes"}); !strings.Contains(text, "did you mean client.add-note?") {
			t.Errorf("%s", text)
		}
		if text, doc, failed := a.call(tool, map[string]any{"words": 7}); !failed || doc["code"] != "bad-arguments" {
			t.Errorf("%s", text)
		}
	}
	if text, doc, _ := a.call("call", map[string]any{"verb": "client.add-note", "arguments": map[string]any{"request-id": "@pierre-dupont-source-of-wealth", "note": "Soon"}}); doc["outcome"] != "done" {
		t.Errorf("%s", text)
	}
	if text, doc, _ := a.call("call", map[string]any{"verb": "client.escalate", "arguments": map[string]any{"reason": "Stuck"}}); doc["outcome"] != "done" || len(a.asked) != 2 {
		t.Errorf("%q %s", a.asked, text)
	}
}

// What a client may read besides: the reference, codes and names of its person, and how the
// palettes want to be talked about.
func TestWhatIsToldOverMCP(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for who, c := range map[string]struct{ sees, not string }{"clara": {"@pierre-dupont-source-of-wealth", "review."}, "jonas": {"client.add-note", "@pierre-dupont-source-of-wealth"}} {
		a := h.starts(who, "", nil)
		rs, err := a.ListResources(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for _, r := range rs.Resources {
			x, err := a.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: r.URI})
			if err != nil {
				t.Fatalf("%s: %v", r.URI, err)
			}
			fmt.Fprintf(&all, "%s\n%s\n", r.URI, x.Contents[0].Text)
		}
		ps, err := a.ListPrompts(t.Context(), nil)
		if err != nil || len(ps.Prompts) != 1 || ps.Prompts[0].Name != "client" {
			t.Fatal(err, ps.Prompts)
		}
		p, err := a.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "client", Arguments: map[string]string{"wish": "How far are we?", "about": "@x"}})
		if err != nil || len(p.Messages) != 2 {
			t.Fatal(err, p)
		}
		all.WriteString(p.Messages[0].Content.(*sdk.TextContent).Text)
		for _, want := range []string{c.sees, "client.get-status", "Never make anybody feel stupid for asking", "What client.get-outstanding tells now", "verbatim://codes/contact-channel\nCALL"} {
			if !strings.Contains(all.String(), want) {
				t.Errorf("%s is not told %q:\n%s", who, want, all.String())
			}
		}
		if strings.Contains(all.String(), c.not) || strings.Contains(all.String(), "0000-4000") {
			t.Errorf("%s is told %q or a key:\n%s", who, c.not, all.String())
		}
		completes := func(ref *sdk.CompleteReference, arg, value string) string {
			r, err := a.Complete(t.Context(), &sdk.CompleteParams{Ref: ref, Argument: sdk.CompleteParamsArgument{Name: arg, Value: value}})
			if err != nil {
				t.Fatal(err)
			}
			return strings.Join(r.Completion.Values, " ")
		}
		prompt := &sdk.CompleteReference{Type: "ref/prompt", Name: "client"}
		if got := completes(prompt, "about", "@pierre"); (got == "@pierre-dupont @pierre-dupont-source-of-wealth") != (who == "clara") {
			t.Errorf("%s: %q", who, got)
		}
		verb := &sdk.CompleteReference{Type: "ref/resource", URI: "verbatim://verb/{verb}"}
		if got := completes(verb, "verb", "note") + completes(verb, "verb", "accept"); got != "client.add-note" {
			t.Errorf("%s: %q", who, got)
		}
		if got := completes(&sdk.CompleteReference{Type: "ref/resource", URI: "verbatim://codes/{list}/{code}"}, "code", "v"); got != "" {
			t.Errorf("%s: codes of no list are %q", who, got)
		}
		r, err := a.Complete(t.Context(), &sdk.CompleteParams{Ref: &sdk.CompleteReference{Type: "ref/resource", URI: "verbatim://codes/{list}/{code}"}, Argument: sdk.CompleteParamsArgument{Name: "code", Value: "v"},
			Context: &sdk.CompleteContext{Arguments: map[string]string{"list": "contact-channel"}}})
		if err != nil || strings.Join(r.Completion.Values, " ") != "VIDEO" {
			t.Error(err, r)
		}
		for _, ref := range []*sdk.CompleteReference{{Type: "ref/prompt", Name: "review"}, {Type: "ref/prompt", Name: "nothing"}, {Type: "ref/resource", URI: "file:///etc/passwd"}} {
			if got := completes(ref, "about", ""); got != "" {
				t.Errorf("%s is told %q of %v", who, got, ref)
			}
		}
		for _, uri := range []string{"verbatim://reference/review", "verbatim://reference/nothing", "verbatim://verb/review.accept", "verbatim://names/nothing", "verbatim:any", "file:///etc/passwd", "verbatim://verb/%zz"} {
			if _, err := a.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil || !strings.Contains(strings.ToLower(err.Error()), "not found") {
				t.Errorf("%s: %s is answered %v", who, uri, err)
			}
		}
		for _, name := range []string{"review", "nothing", "verbatim"} {
			if _, err := a.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: name}); err == nil || !strings.Contains(err.Error(), "there is no such prompt") {
				t.Errorf("%s: %s is answered %v", who, name, err)
			}
		}
	}
}

// What the page of the room shows of an agreement is what passes over the pipe.
func TestTheTranscriptIsTrue(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	cmd := exec.Command(filepath.Join(h.dir, ".bin", "verbatim"), "mcp", "--as", "clara")
	cmd.Dir, cmd.Env = h.dir, h.env
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { in.Close(); _ = cmd.Wait() }()
	var told strings.Builder
	lines := bufio.NewReader(out)
	call := func(more, shown string) (result struct {
		ResultType, RequestState string
		InputRequests            map[string]struct {
			Method string
			Params struct{ Message string }
		}
		Content           []struct{ Text string }
		StructuredContent map[string]any
	}) {
		t.Helper()
		fmt.Fprintf(in, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{%s,"name":"client__escalate","arguments":{"reason":"We are stuck."}%s}}`+"\n", meta(true), more)
		fmt.Fprintf(&told, "client  tools/call client__escalate {\"reason\":\"We are stuck.\"}%s\n", shown)
		line, err := lines.ReadString('\n')
		var m struct{ Result json.RawMessage }
		if err == nil {
			err = json.Unmarshal([]byte(line), &m)
		}
		if err == nil {
			err = json.Unmarshal(m.Result, &result)
		}
		if err != nil {
			t.Fatal(err, line)
		}
		return result
	}
	show := func(text string) {
		for line := range strings.Lines(strings.TrimRight(text, "\n")) {
			line = strings.TrimRight(line, "\n")
			if r := []rune(line); len(r) > 110 {
				line = string(r[:109]) + "…"
			}
			told.WriteString(strings.TrimRight("        "+line, " ") + "\n")
		}
	}
	asked := call("", "")
	q := asked.InputRequests["agree"]
	fmt.Fprintf(&told, "server  %s; agree: %s, and a requestState\n", asked.ResultType, q.Method)
	show(q.Params.Message)
	told.WriteString("person  agrees\n")
	answer := `"inputResponses":{"agree":{"action":"accept","content":{"agree":true}}}`
	done := call(`,`+answer+`,"requestState":"`+asked.RequestState+`"`, "\n        "+answer+" and the requestState")
	fmt.Fprintf(&told, "server  %s; outcome %v\n", done.ResultType, done.StructuredContent["outcome"])
	text, _, _ := strings.Cut(done.Content[0].Text, "\n")
	show(text)
	// What is another each time is shown as it once was.
	shown := told.String()
	for pattern, once := range map[string]string{`preview \w{4} \w{4}`: "preview 3aa5 ac3f", `14:02\.\d+Z`: "14:02Z", `\d\.\d s\n`: "0.0 s\n"} {
		shown = regexp.MustCompile(pattern).ReplaceAllString(shown, once)
	}
	const page = "guide/models-as-clients.md"
	readme, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```text checked\n(.*?)```")
	if *update {
		put(t, page, []byte(block.ReplaceAllLiteralString(string(readme), "```text checked\n"+shown+"```")))
	} else if m := block.FindStringSubmatch(string(readme)); m == nil || m[1] != shown {
		t.Errorf("the page shows another; run with -update, and read it:\n%s", shown)
	}
}
