package verbs

import (
	"slices"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/stores"
)

// WorkTakes reports whether the job of a trigger needs an argument of its verb: for the call that
// it makes, for the decision whether and when to make it, or for its correlation key. The job
// stores what it needs until its time.
func (e *Effect) WorkTakes(v *Verb, i int) bool {
	p := &v.Params[i]
	return e.Run != nil && (e.When.speaksOf(p) || e.At.speaksOf(p) || e.Unless.speaksOf(p) || slices.Contains(e.Key, i) || NamesArgument(e.Run.Script, p.Name))
}

// speaksOf reports whether the text of an expression names an argument.
func (x *Expr) speaksOf(p *Param) bool {
	if x == nil {
		return false
	}
	words := strings.FieldsFunc(x.Text, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	return slices.Contains(words, p.Ident) || slices.Contains(words, p.Name)
}

// NamesArgument reports whether a script names an argument.
func NamesArgument(script *dsl.Script, param string) bool {
	found := false
	var value func(v dsl.Value)
	value = func(v dsl.Value) {
		if name, _, _ := strings.Cut(v.Text, "."); v.Kind == dsl.Symbol && strings.ReplaceAll(name, "_", "-") == strings.ReplaceAll(param, "_", "-") {
			found = true
		}
		if c := v.Call(); c != nil {
			for i := range c.Args {
				value(c.Args[i].Value)
			}
		}
		for _, item := range v.Items() {
			value(item)
		}
		for _, entry := range v.Entries() {
			value(entry.Value)
		}
	}
	for i := range script.Calls {
		for j := range script.Calls[i].Args {
			value(script.Calls[i].Args[j].Value)
		}
	}
	return found
}

// An Undo says how a call of a verb is undone: by Back, by Call, or not at all, for the reason
// None.
type Undo struct {
	// Back restores the rows that a call of the verb changed, with the origins of their values,
	// and undoes the scheduling of its jobs. The engine makes this verb, NAME.undo; its argument
	// is the number of the call's journal entry: see Verb.Undoes.
	Back *Verb
	// Call undoes it by other means. Its names are the arguments of the verb, and the entities of
	// the rows that it adds, each of which stands for the added row.
	Call   *Macro
	None   string
	Within time.Duration // how long after the call it can be undone
	Except []Spared      // fields that Back leaves as they are
	Stays  string        // what is not undone, for the person who does it; "" if the palette does not say
	Place  dsl.Place
}

// A Spared is a field that is left as it is when rows are restored.
type Spared struct {
	Entity *Entity
	Field  int
}

// Spares reports whether a field is left as it is.
func (u *Undo) Spares(e *stores.Entity, field int) bool {
	return slices.ContainsFunc(u.Except, func(s Spared) bool { return s.Entity.Store == e && s.Field == field })
}

// DefaultUndo is how long a call can be undone if its palette does not say.
const DefaultUndo = 24 * time.Hour

// Adds reports whether an effect adds a row.
func (e *Effect) Adds() bool {
	return e.Entity != nil && (e.Kind == Creates || e.Kind == Stores || e.Kind == Attaches)
}

// OnRows reports whether an effect changes or deletes existing rows.
func (e *Effect) OnRows() bool {
	return e.Entity != nil && (e.Kind == Updates || e.Kind == Deletes || e.Kind == Sets)
}

// NoUndo returns, in order, the names of the verbs that change something beyond the session and
// whose palette does not say how to undo that. Internal verbs are left out, and macros: each of
// their calls is undone by itself.
func (r *Registry) NoUndo() (names []string) {
	for _, v := range r.sorted {
		changes := v.Tool != nil && !v.Tool.ReadOnly ||
			slices.ContainsFunc(v.Effects, func(e Effect) bool { return e.Adds() || e.OnRows() || e.Kind == Triggers || e.Kind == Notifies })
		if changes && v.Undo == nil && !v.Internal {
			names = append(names, v.Name)
		}
	}
	return names
}
