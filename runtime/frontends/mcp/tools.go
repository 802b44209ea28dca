package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/wire"
	"verbatim/verbs"
	"verbatim/verbs/explain"
	"verbatim/verbs/grammar"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A list is a set of verbs as tools. It is made once for all callers who may use the same verbs.
type list struct {
	shown []*sdk.Tool // the tools in the list for clients
	tools []*sdk.Tool // one for each verb
	undo  bool        // some of the verbs can be undone
	verbs map[string]*verbs.Verb
	few   bool // they are listed one by one
}

// maxLists is the greatest number of lists that are kept: roles make few, tokens for some verbs
// more.
const maxLists = 256

// list returns the verbs of a session as tools.
func (d *Door) list(s *engine.Session) (*list, error) {
	may := s.Verbs()
	var key strings.Builder
	for _, v := range may {
		key.WriteString(v.Name + " ")
	}
	d.mu.Lock()
	l := d.lists[key.String()]
	d.mu.Unlock()
	if l != nil {
		return l, nil
	}
	l, err := d.makeList(may)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.lists) >= maxLists {
		clear(d.lists)
	}
	d.lists[key.String()] = l
	return l, nil
}

func (d *Door) makeList(may []*verbs.Verb) (*list, error) {
	tools, err := grammar.Tools(grammar.Vocabulary{Verbs: may})
	if err != nil {
		return nil, err
	}
	l := &list{verbs: make(map[string]*verbs.Verb, len(tools)), few: len(tools) <= d.Most}
	for i := range tools {
		t := &tools[i]
		schema, err := t.Plain()
		if err != nil {
			return nil, err
		}
		l.verbs[t.Name] = t.Verb
		l.tools = append(l.tools, &sdk.Tool{Name: t.Name, Title: t.Verb.Name, Description: says(t.Verb), InputSchema: schema, OutputSchema: outputSchema, Annotations: d.hints(t.Verb)})
	}
	if l.shown = l.tools; !l.few {
		l.shown = threeTools(len(tools))
	}
	l.undo = slices.ContainsFunc(may, func(v *verbs.Verb) bool { return v.Undo != nil && v.Undo.None == "" })
	if l.undo {
		l.shown = append(slices.Clip(l.shown), undoing)
	}
	return l, nil
}

// says returns the description of a verb for a model: what it does, and whose agreement it may want.
func says(v *verbs.Verb) string {
	text := cmp.Or(v.Description, "Does "+v.Name+".")
	for i := range v.Confirm {
		c := &v.Confirm[i]
		who := "The person you work for is asked first"
		if c.By != nil {
			who = "Somebody else, with the role " + c.By.Name + ", has to agree first"
		}
		if !c.Always {
			who += " where a rule says so"
		}
		if c.Reason != "" {
			who += ": " + c.Reason
		}
		text += " " + who + "."
	}
	if v.Deprecated != nil {
		text += " It is deprecated."
	}
	return text
}

// hints returns a client's hints about a verb's effects. They follow from the palette's promises,
// which the engine enforces.
func (d *Door) hints(v *verbs.Verb) *sdk.ToolAnnotations {
	w := d.effectKinds(v, nil)
	destroys := w.changes
	return &sdk.ToolAnnotations{Title: v.Name, ReadOnlyHint: !w.writes, DestructiveHint: &destroys, IdempotentHint: !w.writes || !w.adds, OpenWorldHint: &w.outside}
}

// effectKinds says what kinds of effects a verb may have.
type effectKinds struct {
	writes  bool // anything at all
	changes bool // existing rows: they are updated or deleted
	adds    bool // something new with each call: rows, notices, jobs
	outside bool // beyond the store: servers of tools are asked, people are told
}

func (d *Door) effectKinds(v *verbs.Verb, within []*verbs.Verb) (w effectKinds) {
	w.writes = !d.Registry.OnlyReads(v)
	for i := range v.Effects {
		switch e := &v.Effects[i]; e.Kind {
		case verbs.Updates, verbs.Deletes:
			w.changes = true
		case verbs.Notifies:
			w.adds, w.outside = true, true
		case verbs.Validates, verbs.ReturnsEffect, verbs.Sets:
		case verbs.IfTrue, verbs.IfFalse:
			w.changes, w.adds = true, true // a handler decides what they do
		default:
			w.adds = true
		}
	}
	if v.Tool != nil {
		w.outside = true
		w.adds = w.adds || !v.Tool.ReadOnly && !v.Tool.Idempotent
		w.changes = w.changes || !v.Tool.ReadOnly
	}
	if v.Macro == nil {
		return w
	}
	for i := range v.Macro.Script.Calls {
		inner := d.Registry.Verb(v.Macro.Script.Calls[i].Verb)
		if inner == nil || slices.Contains(within, inner) {
			continue
		}
		of := d.effectKinds(inner, append(within, v))
		w = effectKinds{w.writes || of.writes, w.changes || of.changes, w.adds || of.adds, w.outside || of.outside}
	}
	return w
}

// outputSchema is the schema of the answers of all tools, a document of wire. It is sent with each
// tool, so it says no more than a model needs to read an answer.
var outputSchema = json.RawMessage(`{"type":"object","properties":{` +
	`"schema":{"const":"` + wire.RunSchema + `"},` +
	`"outcome":{"enum":["done","waiting","refused","invalid","unknown"],"description":"nothing was changed unless it is done; unknown: ask again under the same idempotency key"},` +
	`"code":{"type":"string"},"preview":{"type":"object","description":"the receipt: rows before and after, and results"},` +
	`"confirmation":{"type":"object"},"repeated":{"type":"boolean"},"diagnostics":{"type":"array"}},"required":["schema","outcome"]}`)

// undoTool undoes a call of another tool.
const undoTool = "undo"

var yes = true

var undoing = &sdk.Tool{Name: undoTool, Description: "Takes back what a call did, under the rules of today: the receipt of the call names its entry, and until when. It is refused where others built on it.",
	InputSchema:  json.RawMessage(`{"type":"object","properties":{"entry":{"type":"integer","minimum":1,"description":"the number of the call's entry in the journal"}},"required":["entry"],"additionalProperties":false}`),
	OutputSchema: outputSchema, Annotations: &sdk.ToolAnnotations{DestructiveHint: &yes, OpenWorldHint: &yes}}

// The tools in whose place many are.
const (
	searchTool   = "search"
	describeTool = "describe"
	callTool     = "call"
)

// threeTools are listed in place of many.
func threeTools(many int) []*sdk.Tool {
	closed := false
	return []*sdk.Tool{
		{Name: searchTool, Description: fmt.Sprintf("Finds verbs by what they are for, among %d. Say what is wanted in plain words.", many),
			InputSchema:  json.RawMessage(`{"type":"object","properties":{"words":{"type":"string","description":"what is wanted, in plain words"}},"required":["words"],"additionalProperties":false}`),
			OutputSchema: json.RawMessage(`{"type":"object","properties":{"verbs":{"type":"array","items":{"type":"object","properties":{"verb":{"type":"string"},"description":{"type":"string"},"example":{"type":"string"}}}}},"required":["verbs"]}`),
			Annotations:  &sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &closed}},
		{Name: describeTool, Description: "Tells what a verb takes, what it may change, and who is asked first, with the JSON Schema of its arguments.",
			InputSchema:  json.RawMessage(`{"type":"object","properties":{"verb":{"type":"string","description":"its name, as search tells it"}},"required":["verb"],"additionalProperties":false}`),
			OutputSchema: json.RawMessage(`{"type":"object","properties":{"verb":{"type":"string"},"description":{"type":"string"},"example":{"type":"string"},"arguments":{"type":"object"},"text":{"type":"string"}},"required":["verb","arguments"]}`),
			Annotations:  &sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &closed}},
		{Name: callTool, Description: "Calls a verb. What it may do, and who is asked first, describe tells.",
			InputSchema:  json.RawMessage(`{"type":"object","properties":{"verb":{"type":"string","description":"its name, as search tells it"},"arguments":{"type":"object","description":"as describe tells them"}},"required":["verb"],"additionalProperties":false}`),
			OutputSchema: outputSchema, Annotations: &sdk.ToolAnnotations{DestructiveHint: &yes, OpenWorldHint: &yes}},
	}
}

// A sketch is the description of a verb that search and describe return.
type sketch struct {
	Verb        string          `json:"verb"`
	Description string          `json:"description"`
	Example     string          `json:"example"`
	Arguments   json.RawMessage `json:"arguments,omitempty"`
	Text        string          `json:"text,omitempty"`
}

// mostFound is the greatest number of verbs in the answer of a search.
const mostFound = 10

// meta answers search and describe.
func (d *Door) meta(_ context.Context, s *engine.Session, l *list, tool string, args json.RawMessage) *sdk.CallToolResult {
	var said struct{ Words, Verb string }
	if ds := read(args, &said); ds != nil {
		return d.invalid(ds)
	}
	if tool == searchTool {
		var among []*verbs.Verb
		for _, v := range s.Verbs() {
			if !v.Internal {
				among = append(among, v)
			}
		}
		found := []sketch{}
		var text strings.Builder
		for _, v := range d.Search(said.Words, among, mostFound) {
			found = append(found, sketch{Verb: v.Name, Description: says(v), Example: v.Example()})
			fmt.Fprintf(&text, "%s: %s\n  %s\n", v.Name, says(v), v.Example())
		}
		if len(found) == 0 {
			text.WriteString("Nothing is found by these words. Other words may find it.\n")
		}
		return structured(struct {
			Verbs []sketch `json:"verbs"`
		}{found}, text.String())
	}
	i := slices.IndexFunc(l.tools, func(t *sdk.Tool) bool { return l.verbs[t.Name].Name == said.Verb })
	if i < 0 {
		return d.invalid(unknown(said.Verb, l))
	}
	v := l.verbs[l.tools[i].Name]
	var text strings.Builder
	if err := explain.Verb(&text, v); err != nil {
		return d.refused(err)
	}
	return structured(sketch{v.Name, says(v), v.Example(), l.tools[i].InputSchema.(json.RawMessage), text.String()}, text.String())
}

// unknown says that there is no such verb, and which is spelled nearly so.
func unknown(name string, l *list) dsl.Diagnostics {
	among := make([]string, 0, 2*len(l.verbs))
	for tool, v := range l.verbs {
		if l.few {
			among = append(among, tool)
		} else {
			among = append(among, v.Name)
		}
	}
	slices.Sort(among)
	diagnostic := dsl.Diagnostic{Severity: dsl.Error, Code: "unknown-verb", Summary: fmt.Sprintf("there is no tool called %q", name)}
	if near := dsl.Nearest(name, slices.Values(among)); len(near) > 0 {
		diagnostic.Label = "did you mean " + strings.Join(near, " or ") + "?"
		diagnostic.Notes = []string{diagnostic.Label}
	}
	return dsl.Diagnostics{diagnostic}
}

// read reads the arguments of a tool that is not a verb.
func read(args json.RawMessage, into any) dsl.Diagnostics {
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	dec := json.NewDecoder(strings.NewReader(string(args)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return badArguments("the arguments are not those that the tool takes")
	}
	return nil
}
