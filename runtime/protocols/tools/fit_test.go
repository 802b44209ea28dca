package tools

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/verbs"
	loading "verbatim/verbs/load"
)

const palette = `domain: desk
roles: [{name: clerk, description: Who sits at the desk.}]
codes: [{name: kind, values: [HIGH, {code: LOW, value: low}]}]
verbs:
  - verb: open
    description: Open a ticket at another desk.
    roles: [clerk]
    args:
      - {name: title, type: string, required: true, max-length: 80}
      - {name: kind, type: code, ref-type: kind, required: true}
      - {name: count, type: integer, min: 1, max: 10}
    confirm: always
    tool: {server: desk, name: open, columns: {ticket: string, size: integer}}
`

// spec is a tool that fits the verb of the palette.
func spec(change func(in, out map[string]any)) Spec {
	read := func(text string) map[string]any {
		var m map[string]any
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			panic(err)
		}
		return m
	}
	in := read(`{"type":"object","additionalProperties":false,"required":["title"],"properties":{"title":{"type":"string","maxLength":80},"kind":{"enum":["HIGH","low"]},"count":{"type":"integer","minimum":0,"maximum":10}}}`)
	out := read(`{"type":"object","additionalProperties":false,"properties":{"ticket":{"type":"string"},"size":{"type":["integer","null"]}}}`)
	change(in, out)
	write := func(m map[string]any) json.RawMessage { text, _ := json.Marshal(m); return text }
	return Spec{Input: write(in), Output: write(out), Writes: true, Digest: "1", Accepted: "1", Says: "It opens a ticket."}
}

// one is a server with one tool.
type one struct {
	spec  Spec
	err   error
	asked int
}

func (o *one) Tool(context.Context, string, string) (Spec, error) {
	o.asked++
	return o.spec, o.err
}
func (*one) Call(context.Context, Call) (Answer, error) { return Answer{}, ErrNotCalled }

func load(t *testing.T) *verbs.Registry {
	t.Helper()
	reg, ds := loading.Sources(dsl.NewSource("desk.yaml", palette))
	if ds.HasErrors() {
		t.Fatal(ds[0].Summary)
	}
	return reg
}

// X5: a tool that does not take what a verb sends, or does not answer with what it
// wants, is found out before it is asked, and what is wrong points into the palette.
func TestAToolIsHeldAgainstItsVerb(t *testing.T) {
	t.Parallel()
	reg := load(t)
	member := func(m map[string]any, name string) map[string]any {
		return m["properties"].(map[string]any)[name].(map[string]any)
	}
	for name, c := range map[string]struct {
		change func(in, out map[string]any)
		want   string // "" is a tool that fits
	}{
		"it fits":                 {func(_, _ map[string]any) {}, ""},
		"it takes no such member": {func(in, _ map[string]any) { delete(in["properties"].(map[string]any), "count") }, `it takes no "count"`},
		"it takes any member": {func(in, _ map[string]any) {
			delete(in["properties"].(map[string]any), "count")
			in["additionalProperties"] = true
		}, ""},
		"it takes another type":        {func(in, _ map[string]any) { member(in, "count")["type"] = "string" }, `"count" of it takes a string; this is an integer`},
		"it takes a shorter text":      {func(in, _ map[string]any) { member(in, "title")["maxLength"] = 20 }, "takes at most 20 characters; this may be longer"},
		"it takes a longer text":       {func(in, _ map[string]any) { member(in, "title")["minLength"] = 2 }, "takes at least 2 characters; this may be shorter"},
		"it takes a smaller number":    {func(in, _ map[string]any) { member(in, "count")["maximum"] = 9 }, "takes at most 9; this may be more"},
		"it takes a larger number":     {func(in, _ map[string]any) { member(in, "count")["minimum"] = 2 }, "takes at least 2; this may be less"},
		"it takes fewer codes":         {func(in, _ map[string]any) { member(in, "kind")["enum"] = []string{"HIGH"} }, "takes only HIGH; this may be low"},
		"it needs what may be missing": {func(in, _ map[string]any) { in["required"] = []string{"count"} }, `it needs "count", which may be left out`},
		"it needs what is not sent":    {func(in, _ map[string]any) { in["required"] = []string{"owner"} }, `it needs "owner", which is not sent`},
		"it takes no names":            {func(in, _ map[string]any) { in["type"] = "array" }, "it takes no named arguments"},
		"it answers with less":         {func(_, out map[string]any) { delete(out["properties"].(map[string]any), "size") }, `it answers with no "size"`},
		"it answers with other types":  {func(_, out map[string]any) { member(out, "size")["type"] = "array" }, `"size" of its answer may be an array`},
		"it spells a name otherwise": {func(_, out map[string]any) {
			p := out["properties"].(map[string]any)
			p["Ticket"] = p["ticket"]
			delete(p, "ticket")
		}, ""},
	} {
		var told []string
		for _, d := range Check(t.Context(), reg, &one{spec: spec(c.change)}) {
			told = append(told, d.Summary)
			if d.Code != codeMismatch || d.Place.Source == nil {
				t.Errorf("%s: %s at %v", name, d.Code, d.Place)
			}
		}
		if all := strings.Join(told, "\n"); c.want == "" && all != "" || !strings.Contains(all, c.want) {
			t.Errorf("%s: %q, want %q", name, all, c.want)
		}
	}
}

// A tool that is not there, is not reached, was not accepted, or says something else
// of itself than what was accepted, is not used; one that is in order is met once.
func TestAToolIsMetBeforeItIsUsed(t *testing.T) {
	t.Parallel()
	reg := load(t)
	v := reg.Verb("desk.open")
	fits := spec(func(_, _ map[string]any) {})
	unaccepted, changed := fits, fits
	unaccepted.Accepted, changed.Digest = "", "2"
	for _, c := range []struct {
		code string
		is   one
	}{
		{codeMissing, one{err: ErrNone}},
		{CodeUnreached, one{err: errors.New("no route")}},
		{codeUnaccepted, one{spec: unaccepted}},
		{CodeChanged, one{spec: changed}},
		{"", one{spec: fits}},
	} {
		server := c.is
		box := NewBox(&server, reg)
		for range 2 {
			_, ds := box.Verify(t.Context(), v)
			if c.code == "" && len(ds) > 0 || c.code != "" && (len(ds) != 1 || ds[0].Code != c.code) {
				t.Errorf("%q: %v", c.code, ds)
			}
		}
		_, met := box.Spec(v)
		if met != (c.code == "") || server.asked != map[bool]int{true: 1, false: 2}[met] {
			t.Errorf("%q: met %t, asked %d times", c.code, met, server.asked)
		}
	}
}

// What a tool says of itself is quoted as its own words, and not at any length.
func TestWhatAToolSaysIsQuoted(t *testing.T) {
	t.Parallel()
	d := Said("do\n this "+strings.Repeat("x", 1000), dsl.Diagnostic{Notes: []string{"next"}})
	if len(d.Notes) != 2 || !strings.HasPrefix(d.Notes[0], `it says: "do this x`) || len(d.Notes[0]) > maxWords+20 || d.Notes[1] != "next" {
		t.Errorf("%q", d.Notes)
	}
	if d := Said(" \n", dsl.Diagnostic{}); d.Notes != nil {
		t.Errorf("%q", d.Notes)
	}
}

// What a tool says is a file is an upload that the engine has resolved, or a field of a
// row: a text that anybody may have written could name somebody else's.
func TestAFileIsNoText(t *testing.T) {
	t.Parallel()
	const room = `domain: room
roles: [{name: clerk, description: Who sits at the desk.}]
entities:
  paper: {key: paper_id, scope: everyone, fields: {file: {type: string}, loose: {type: string}, kept: {type: string}}}
verbs:
  - verb: add
    description: Add a paper.
    roles: [clerk]
    args:
      - {name: name, type: string, required: true}
      - {name: scan, type: string, required: true, upload: {types: [application/pdf], max-size: 1 MB}}
    effects:
      - {creates: paper, set: {file: scan, loose: name}}
  - verb: keep
    description: Keep the scan of another paper.
    roles: [clerk]
    args: [{name: paper-id, type: ref, ref-type: paper, required: true}]
    effects:
      - {updates: paper.kept, where: paper-id, set: {kept: row.file}}
  - verb: read
    description: Read a paper.
    roles: [clerk]
    args:
      - {name: paper-id, type: ref, ref-type: paper, required: true}
      - {name: text, type: string, required: true}
      - {name: scan, type: string, required: true, upload: {types: [application/pdf], max-size: 1 MB}}
    tool: {server: desk, name: open, read-only: true, with: {file: VALUE}}
`
	takes := Spec{Input: json.RawMessage(`{"type":"object","required":["file"],"properties":{"file":{"type":"string","format":"upload"}}}`), Digest: "1", Accepted: "1"}
	for value, ok := range map[string]bool{"paper_id.file": true, "scan": true, "text": false, `"text ?? paper_id.file"`: false, `"'upload://abc'"`: false, `"paper_id.file ?? scan"`: true, `"paper_id.file ?? text"`: false, "paper_id.loose": false, "paper_id.kept": true} {
		reg, ds := loading.Sources(dsl.NewSource("room.yaml", strings.Replace(room, "VALUE", value, 1)))
		if ds.HasErrors() {
			t.Fatal(ds[0].Summary)
		}
		found := Check(t.Context(), reg, &one{spec: takes})
		if ok != (len(found) == 0) || !ok && found[0].Code != codeMismatch {
			t.Errorf("%s: %v", value, found)
		}
	}
}
