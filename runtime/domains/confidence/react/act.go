package react

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/conversation/llm"
	"verbatim/runtime/engine"
	"verbatim/stores/receipt"
	"verbatim/verbs"
	"verbatim/verbs/grammar"
)

// A work is one question that is being answered.
type work struct {
	Agent
	session *engine.Session
	tell    func(Message) error
	request llm.Request
	named   []*verbs.Entity            // the entities whose rows are arguments of some function
	names   map[*verbs.Entity][]string // that the functions of the request were made with
	words   grammar.Vocabulary
	tools   []string     // the functions that are offered
	origin  verbs.Origin // of the model's text
	// made holds the calls that would give the same result again, and whether they changed
	// something. After a change the other calls may give another result, and calls of tools always
	// may.
	made    map[string]bool
	repeats int
}

// maxRepeats is how often the model may repeat a call.
const maxRepeats = 3

// offer makes the functions that the model may call: the verbs of the session, with the names that
// it knows now. A call may give rows their first names.
func (w *work) offer(ctx context.Context) error {
	may := w.session.Verbs()
	if w.tools == nil {
		w.named = takes(may, w.Registry.Entities())
	}
	names := map[*verbs.Entity][]string{}
	if len(w.named) > 0 {
		var err error
		if names, err = w.session.Names().All(ctx, w.named); err != nil {
			return ended(ctx, Failed, err)
		}
	}
	if w.tools != nil && maps.EqualFunc(names, w.names, slices.Equal) {
		return nil
	}
	w.names, w.words = names, grammar.Vocabulary{Verbs: may, Names: func(e *verbs.Entity) []string {
		if e != nil {
			return names[e]
		}
		all := slices.Concat(slices.Collect(maps.Values(names))...)
		slices.Sort(all)
		return slices.Compact(all)
	}}
	made, err := grammar.Tools(w.words)
	if err != nil {
		return ended(ctx, Failed, err)
	}
	w.request.Tools, w.tools = nil, []string{}
	for i := range made {
		t := &made[i]
		w.tools = append(w.tools, t.Name)
		w.request.Tools = append(w.request.Tools, llm.Tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters})
	}
	return nil
}

// takes returns the entities whose rows are arguments of verbs. The names of others are not read:
// there may be thousands, and the model would not use them.
func takes(all []*verbs.Verb, entities []*verbs.Entity) (named []*verbs.Entity) {
	for _, v := range all {
		for i := range v.Params {
			for t := v.Params[i].Type; t != nil; t = t.Item {
				switch {
				case t.Name == verbs.RefType && t.Entity != nil:
					if !slices.Contains(named, t.Entity) {
						named = append(named, t.Entity)
					}
				case slices.Contains([]verbs.TypeName{verbs.AnyType, verbs.RefType, verbs.ObjectType, verbs.RecordType, verbs.CallType}, t.Name):
					return entities // the argument may be any row
				}
			}
		}
	}
	return named
}

// act makes the first call of a reply, and returns its result for the model. An error ends the work.
func (w *work) act(ctx context.Context, reply *llm.Reply) (string, error) {
	asked := &reply.Calls[0]
	if reply.Finish == llm.TooLong {
		return sayCutCall, nil
	}
	call, err := grammar.Call(w.words, asked.Name, asked.Arguments)
	offered := slices.ContainsFunc(w.words.Verbs, func(v *verbs.Verb) bool { return v.Name == call.Verb })
	switch {
	case call.Verb != "" && !offered: // even if others may call it: it does not exist for the asker
		return unknown(asked.Name, dsl.Nearest(asked.Name, slices.Values(w.tools))), nil
	case err != nil:
		return fmt.Sprintf(sayUnread, short(asked.Name, maxCell), err), nil
	}
	if err := w.tell(Message{Action, w.masked(&call)}); err != nil {
		return "", err
	}
	text := dsl.FormatCall(&call)
	if _, before := w.made[text]; before {
		if w.repeats++; w.repeats > maxRepeats {
			return "", failed(Repeated, nil)
		}
		return sayRepeated, nil
	}
	script, ds := dsl.Parse(dsl.NewSource(source, text))
	if ds.HasErrors() {
		return refused(w.Registry.Mask(script, ds)), nil
	}
	done, err := w.run(ctx, script)
	var refusal *engine.Refusal
	var broken *engine.Failure
	switch {
	case errors.As(err, &refusal):
		if !mayBeOver(nil, err) {
			w.made[text] = false
		}
		return w.refused(refusal.Diagnostics), nil
	case errors.As(err, &broken) && (broken.Unknown || broken.Told != nil):
		return "", &Error{Unknown, engine.Sentence(err), err}
	case err != nil && ctx.Err() != nil:
		return "", ended(ctx, Failed, err)
	case err != nil:
		return engine.Sentence(err), nil
	}
	switch {
	case slices.ContainsFunc(done.Calls, acted):
		maps.DeleteFunc(w.made, func(_ string, acted bool) bool { return !acted })
		w.made[text] = true
	case !slices.ContainsFunc(done.Calls, func(c receipt.Call) bool { return len(c.External) > 0 }):
		w.made[text] = false
	}
	said, origin := observed(done)
	w.origin = w.origin.Mix(origin)
	return said, nil
}

// run checks and carries out a script, and repeats it after a transient fault.
func (w *work) run(ctx context.Context, script *dsl.Script) (done *receipt.Receipt, err error) {
	for tries := 1; ; tries++ {
		program, ds := w.session.Check(ctx, script, engine.CheckOptions{Said: verbs.Literals{Origin: w.origin, Unheard: true}})
		switch {
		case ds.HasErrors() || program == nil:
			err = &engine.Refusal{Diagnostics: ds}
		case slices.ContainsFunc(program.Calls(), byKey):
			err = &engine.Refusal{Diagnostics: dsl.Diagnostics{{Code: "unknown-name", Summary: sayKey, Severity: dsl.Error}}}
		default:
			done, err = w.session.Run(ctx, program, engine.RunOptions{Source: source})
		}
		if err == nil || !mayBeOver(program, err) || !w.again(ctx, tries, 0) {
			return done, err
		}
	}
}

// byKey reports whether a call names a row by its key. The model was shown no key, so it took this
// one from untrusted text or made it up.
func byKey(c verbs.Call) bool {
	for i := range c.Args {
		t := c.Verb.Params[i].Type
		for t.Name == verbs.ListType && t.Item != nil {
			t = t.Item
		}
		if a := &c.Args[i]; t.Name == verbs.RefType && a.Kind == verbs.Literal && a.Syntax != nil {
			return true
		}
	}
	return false
}

// mayBeOver reports whether a call failed by a fault that may be over the next time, and did
// nothing, so that making it again does nothing twice. Without a program it does not matter
// whether it acted.
func mayBeOver(p *verbs.Program, err error) bool {
	var refusal *engine.Refusal
	var broken *engine.Failure
	if errors.As(err, &refusal) && len(refusal.Diagnostics) > 0 {
		switch refusal.Diagnostics[0].Code {
		case engine.CodeToolSilent, "names-unread", "changed-meanwhile":
			return true
		case "tool-failed", "tool-answer":
			return p == nil || !slices.ContainsFunc(p.Calls(), func(c verbs.Call) bool { return c.Verb.Tool == nil || !c.Verb.Tool.ReadOnly })
		}
		return false
	}
	return errors.As(err, &broken) && !broken.Unknown && broken.Told == nil
}

// refused tells the model why a call was not made. A tool's own text about its failure is untrusted.
func (w *work) refused(ds dsl.Diagnostics) string {
	for i := range ds {
		if ds[i].Code == engine.CodeNeedsAgreement {
			return fmt.Sprintf(sayAgree, ds[i].Summary)
		}
		if strings.HasPrefix(ds[i].Code, "tool-") {
			w.origin = w.origin.Mix(verbs.NewOrigin(verbs.FromTool, ""))
		}
	}
	return refused(ds)
}

// masked returns a call without the values of sensitive arguments.
func (w *work) masked(c *dsl.Call) string {
	return dsl.FormatCall(dsl.Replace(c, func(of *dsl.Call, key string, _ *dsl.Value) (dsl.Value, bool) {
		v := w.Registry.Verb(of.Verb)
		known := v != nil && slices.ContainsFunc(v.Params, func(p verbs.Param) bool { return p.Name == key && !p.Sensitive })
		return dsl.NewString("(withheld)"), !known
	}))
}
