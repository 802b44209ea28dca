package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// Tools are the tools of other servers. The engine knows no protocol: whoever
// speaks one is handed to New.
//
// A tool acts outside of every transaction, so that the two methods are never
// called inside one.
type Tools interface {
	// Tool returns what a tool says of itself at this moment. The error wraps
	// ErrNoTool when there is no such server or tool.
	Tool(ctx context.Context, server, name string) (ToolSpec, error)
	// Call asks a tool to do something, once. An error that wraps ErrNotCalled,
	// or ErrToolChanged, says for certain that the tool was not asked; after any
	// other it may have done it or not.
	Call(ctx context.Context, c ToolCall) (ToolAnswer, error)
}

// What can keep a tool from being asked.
var (
	ErrNoTool      = errors.New("there is no such tool")
	ErrNotCalled   = errors.New("the tool was not asked")
	ErrToolChanged = errors.New("the tool says something else of itself than what was accepted")
)

// A ToolSpec is what a tool says of itself. None of it is believed: it is
// compared with the palette, and with what an operator accepted.
type ToolSpec struct {
	Input    json.RawMessage // JSON Schema of what it takes
	Output   json.RawMessage // JSON Schema of what it answers; nil when it does not say
	Writes   bool            // it says outright that it does not only read
	Says     string          // how it describes itself
	Digest   string          // of everything that it says of itself
	Accepted string          // the digest that the operator accepted, "" when none
}

// A ToolCall is one thing that is asked of a tool.
type ToolCall struct {
	Server, Name string
	Digest       string // of the ToolSpec that this was prepared for
	Args         string // a JSON object
	Key          string // the same for every time that the same thing is asked
}

// A ToolAnswer is what a tool answered.
type ToolAnswer struct {
	Structured string // a JSON value, "" when there is none
	Text       string
	Failed     bool // it says that it did not do what it was asked
}

// A toolbox is the tools that were met, by the verb that they carry out.
type toolbox struct {
	tools Tools
	used  map[*verbs.Verb][]*verbs.Verb // verbs that use tools, however deep, and which

	mu    sync.Mutex
	specs map[*verbs.Verb]ToolSpec
}

// newToolbox notes which verbs lead to a tool.
func (e *Engine) newToolbox(tools Tools) *toolbox {
	b := &toolbox{tools: tools, used: make(map[*verbs.Verb][]*verbs.Verb), specs: make(map[*verbs.Verb]ToolSpec)}
	for _, v := range e.reg.Verbs() {
		for _, inner := range append([]*verbs.Verb{v}, e.inside[v]...) {
			if inner.Tool != nil {
				b.used[v] = append(b.used[v], inner)
			}
		}
	}
	return b
}

// CheckTools asks every server that the palettes name whether its tools are
// there, take what is sent, answer with what is wanted, and are those that the
// operator accepted. What is wrong points into the YAML.
func CheckTools(ctx context.Context, reg *verbs.Registry, tools Tools) dsl.Diagnostics {
	var ds dsl.Diagnostics
	b := toolbox{tools: tools, specs: make(map[*verbs.Verb]ToolSpec)}
	for _, v := range reg.Verbs() {
		if v.Tool != nil {
			_, found := b.meet(ctx, v)
			ds = append(ds, found...)
		}
	}
	return ds
}

// meet asks what a tool is, and holds it against its verb. What was found to be
// in order is not asked again here: Call is, each time.
func (b *toolbox) meet(ctx context.Context, v *verbs.Verb) (ToolSpec, dsl.Diagnostics) {
	b.mu.Lock()
	spec, known := b.specs[v]
	b.mu.Unlock()
	if known {
		return spec, nil
	}
	spec, err := b.tools.Tool(ctx, v.Tool.Server, v.Tool.Name)
	switch {
	case errors.Is(err, ErrNoTool):
		return spec, dsl.Diagnostics{toolMissing(v, err)}
	case err != nil:
		return spec, dsl.Diagnostics{toolUnreached(v, err)}
	case spec.Accepted == "":
		return spec, append(dsl.Diagnostics{toolUnaccepted(v, spec.Says)}, fitTool(v, spec)...)
	case spec.Accepted != spec.Digest:
		return spec, append(dsl.Diagnostics{toolChanged(v, spec.Says)}, fitTool(v, spec)...)
	}
	if ds := fitTool(v, spec); len(ds) > 0 {
		return spec, ds
	}
	b.mu.Lock()
	b.specs[v] = spec
	b.mu.Unlock()
	return spec, nil
}

// spec returns what meet found.
func (b *toolbox) spec(v *verbs.Verb) (ToolSpec, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	spec, ok := b.specs[v]
	return spec, ok
}

// meetTools meets the tools that a program uses, before anything of it is
// worked out.
func (e *Engine) meetTools(ctx context.Context, p *verbs.Program) (uses bool, err error) {
	if e.box == nil || len(e.box.used) == 0 {
		return false, nil
	}
	var all []complaint
	calls := p.Calls()
	for i := range calls {
		for _, v := range e.box.used[calls[i].Verb] {
			uses = true
			if e.box.tools == nil {
				all = append(all, complaint{i, notCarriedOut(placeOf(p, &calls[i]), v.Name, noToolHere)})
				break
			}
			if _, ds := e.box.meet(ctx, v); len(ds) > 0 {
				if err := ctx.Err(); err != nil {
					return true, failure(err)
				}
				all = append(all, complaint{i, toolUnfit(placeOf(p, &calls[i]), v, ds[0].Code)})
				break
			}
		}
	}
	if len(all) > 0 {
		return uses, refuse(all)
	}
	return uses, nil
}

// An errand is what a call asks of a tool, on its way. As an error, it ends a transaction whose
// plan cannot go on, or must not be committed, before the tool has answered.
type errand struct {
	receipt.Errand
	run  *run
	st   *step
	spec ToolSpec
	args stores.Value
}

func (e *errand) Error() string { return "a tool has to be asked first: " + e.st.verb.Name }

// id names what is asked: asked twice, it is the same.
func (e *errand) id() string {
	d := digester{}
	d.text(e.Server)
	d.text(e.Name)
	d.text(e.args.Text())
	return string(d.b)
}

// useTool carries out a verb by a tool, as far as it can be inside a
// transaction: with the answer, where there is one, and with what the engine
// changes besides.
func (r *run) useTool(ctx context.Context, st *step, promises []promise) (deed, error) {
	t := st.verb.Tool
	spec, met := r.e.box.spec(st.verb)
	if r.e.box.tools == nil || !met {
		return deed{}, &complaint{st.index, notCarriedOut(st.place, st.verb.Name, noToolHere)}
	}
	e := &errand{Errand: receipt.Errand{Server: t.Server, Name: t.Name, ReadOnly: t.ReadOnly}, run: r, st: st, spec: spec}
	if err := r.pack(ctx, e); err != nil {
		return deed{}, err
	}
	st.errand = e
	d := declared(promises)
	for i := range promises {
		// What the engine cannot do and nothing shows is what the tool is for.
		if p := &promises[i]; !p.effect.Declared && p.due && !traces(p.effect) {
			d.kept = append(d.kept, p.effect.Operand.Text)
		}
	}
	var err error
	answer, answered := r.errands.answers[e.id()]
	switch {
	case answered:
		if d.answer, err = answerTable(st.verb, answer); err != nil {
			return deed{}, &Failure{Err: err}
		}
	case t.ReadOnly:
		return deed{}, e
	case r.errand != nil:
		return deed{}, &complaint{st.index, oneTool(st.place, st.verb.Name, r.errand.st.verb.Name)}
	default:
		r.errand = e
		d.answer = &table{columns: toolColumns(st.verb)}
	}
	d.answer.from, d.answer.late = verbs.FromTool, !t.ReadOnly
	// A tool may answer with what it was told.
	came := st.told().Mix(verbs.NewOrigin(verbs.FromTool, t.Server+"."+t.Name))
	for _, row := range d.answer.rows {
		for i := range row {
			row[i].from = came
		}
	}
	return d, nil
}

// pack works out what the tool is sent. What is absent is left out.
func (r *run) pack(ctx context.Context, e *errand) error {
	st := e.st
	var keys []string
	var values []stores.Value
	for i := range st.verb.Tool.Sends {
		s := &st.verb.Tool.Sends[i]
		sent := receipt.Sent{Key: s.Key}
		if s.Value == nil {
			p := &st.verb.Params[s.Param]
			sent.Value, sent.Sensitive, sent.From = st.args[s.Param], st.isDark(s.Param), ":"+p.Name
		} else {
			var err error
			if sent.Value, err = r.eval(ctx, st, s.Value, nil); err != nil {
				return err
			}
			sent.From, sent.Sensitive = st.origin(s.Value, nil)
		}
		if sent.Value.IsNull() {
			continue
		}
		e.Sent = append(e.Sent, sent)
		keys, values = append(keys, s.Key), append(values, sent.Value)
	}
	for _, name := range requiredMembers(e.spec.Input) {
		if !slices.Contains(keys, name) {
			return &complaint{st.index, toolNeeds(st.place, st.verb.Name, e.Name, name)}
		}
	}
	e.args = stores.NewObject(keys, values)
	return nil
}
