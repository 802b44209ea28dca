package load

import (
	"slices"

	"gopkg.in/yaml.v3"

	"verbatim/dsl"
	"verbatim/verbs"
)

// A taskNode is a palette's task, and where it is written.
type taskNode struct {
	d *doc
	p *verbs.Palette
	n pair
}

// task reads how the verbs of a palette form a task, once all verbs are known.
func (l *loader) task(tn *taskNode) {
	d := tn.d
	f, ok := d.fields(tn.n.value, "task")
	for _, k := range [...]string{"entity", "status", "states", "begins", "tells"} {
		ok = ok && f.at(k).value != nil
	}
	if !ok {
		return
	}
	t := &verbs.Task{Row: -1, Words: -1, CancelRow: -1, States: map[string]verbs.TaskState{}, Place: d.place(tn.n.key)}
	if t.Entity = l.entityAt(d, f.at("entity").value); t.Entity == nil {
		return
	}
	if first, twice := l.tasks[t.Entity]; twice {
		d.report(tell(t.Place, "declared-twice", "the task of", t.Entity.Store.Name, first))
	}
	l.tasks[t.Entity] = t.Place
	field := d.fieldAt(t.Entity, f.at("status").value)
	switch at := d.place(f.at("status").value); {
	case field < 0:
	case t.Entity.Fields[field].Type == nil: // it has an error of its own
	case t.Entity.Fields[field].Type.Name != verbs.CodeType || t.Entity.Fields[field].Type.Codes == nil:
		d.report(tell(at, "contradiction", f.text("status")+" says how far a task is, and is of no code list", "name a field of type code, with a ref-type", t.Entity.Fields[field].Place, "declared here"))
	default:
		t.Codes = t.Entity.Fields[field].Type.Codes
		l.taskStates(d, t, f)
	}
	l.taskReads(d, t, f, field)
	d.items(f.at("begins"), func(n *yaml.Node) { l.taskBegins(d, t, n) })
	if n := f.at("anything-else").value; n != nil {
		if g, ok := d.fields(n, "anything-else"); ok && g.at("verb").value != nil && g.at("argument").value != nil {
			if a := l.taker(d, g); a != nil && !slices.Contains(t.Begins, a.Verb) {
				d.report(tell(d.place(g.at("verb").value), "contradiction", a.Verb.Name+" takes words that mean nothing else, and begins no task", "name one of the verbs under begins", a.Verb.Place, "declared here"))
			} else {
				t.Otherwise = l.ofWords(d, g, a)
			}
		}
	}
	if n := f.at("continues").value; n != nil {
		if g, ok := d.fields(n, "task-continues"); ok && g.at("verb").value != nil {
			l.taskContinues(d, t, g)
		}
	}
	if n := f.at("cancels").value; n != nil {
		if t.Cancels, t.CancelRow = l.ofTask(d, t, n); t.Cancels != nil {
			l.needsOnly(d, t.Cancels, n, t.CancelRow)
		}
	}
	tn.p.Task = t
}

// taskStates reads the state that each code means; every code must have one.
func (l *loader) taskStates(d *doc, t *verbs.Task, f mapping) {
	misspelt := false
	d.scalars(f.at("states"), func(k, n *yaml.Node) {
		switch {
		case !t.Codes.Has(k.Value):
			misspelt = true
			d.report(tell(d.place(k), "unknown-word", "a code of "+t.Codes.Name, k.Value, t.Codes.Names()))
		case !slices.Contains(verbs.TaskStates, n.Value):
			d.report(tell(d.place(n), "unknown-word", k.Value, n.Value, verbs.TaskStates))
		default:
			t.States[k.Value] = verbs.TaskState(n.Value)
		}
	})
	var without []string
	for _, name := range t.Codes.Names() {
		if !slices.ContainsFunc(f.at("states").value.Content, func(n *yaml.Node) bool { return n.Value == name }) {
			without = append(without, name)
		}
	}
	if len(without) > 0 && !misspelt {
		d.report(tell(d.place(f.at("states").key), "code-without-state", without, verbs.TaskStates))
	}
}

// taskReads reads which verbs return and list tasks.
func (l *loader) taskReads(d *doc, t *verbs.Task, f mapping, status int) {
	reads := func(n *yaml.Node, one bool) *verbs.Verb {
		v := l.callable(d, n, "a task is made of")
		what := "a read of " + t.Entity.Store.Name + " with one:, which needs no other argument"
		if !one {
			what = "a read of " + t.Entity.Store.Name + " without one: that needs no argument"
		}
		switch {
		case v == nil:
			return nil
		case v.Read == nil || v.Read.Entity != t.Entity || v.Read.One != one || v.Read.Groups() || v.WritesFile() || !v.Answers():
			d.report(tell(d.place(n), "contradiction", v.Name+" tells no task", "name "+what, v.Place, "declared here"))
			return nil
		}
		if !l.needsOnly(d, v, n, v.Read.By) {
			return nil
		}
		return v
	}
	if t.Tells = reads(f.at("tells").value, true); t.Tells == nil {
		return
	}
	t.Message, t.Changed = d.column(t.Tells, f.at("message")), d.column(t.Tells, f.at("changed"))
	shows := func(v *verbs.Verb, n *yaml.Node) (name string) {
		for i := range v.Read.Fields {
			if rf := &v.Read.Fields[i]; status >= 0 && rf.From == verbs.FromPath && len(rf.Path.Steps) == 0 && rf.Path.Field == status {
				return rf.Name
			}
		}
		if status >= 0 {
			d.report(tell(d.place(n), "contradiction", v.Name+" does not tell the status of a task", "return "+t.Entity.Store.Fields[status].Name+" among its fields", v.Place, "declared here"))
		}
		return ""
	}
	t.Status = shows(t.Tells, f.at("tells").value)
	if i := slices.IndexFunc(t.Tells.Read.Fields, func(rf verbs.ReadField) bool { return rf.Name == t.Changed }); t.Changed != "" && (i < 0 || t.Tells.Read.Fields[i].Type == nil || t.Tells.Read.Fields[i].Type.Name != verbs.DateTimeType) {
		d.report(tell(d.place(f.at("changed").value), "contradiction", t.Changed+" says when a task changed, and is no datetime", "name a column that is one", t.Tells.Place, "declared here"))
	}
	if n := f.at("lists").value; n != nil {
		if t.Lists = reads(n, false); t.Lists != nil && shows(t.Lists, n) != t.Status && t.Status != "" {
			d.report(tell(d.place(n), "contradiction", t.Lists.Name+" calls the status of a task otherwise than "+t.Tells.Name, "call it "+t.Status+" in both", t.Tells.Place, "declared here"))
		}
	}
}

// taskBegins reads a verb that begins a task: it creates the row, and every role that may use it
// may also read the task.
func (l *loader) taskBegins(d *doc, t *verbs.Task, n *yaml.Node) {
	v := l.callable(d, n, "a task is made of")
	if v == nil {
		return
	}
	if !l.makesRow(v, t.Entity, nil) {
		d.report(tell(d.place(n), "contradiction", v.Name+" begins a task, and does not promise to create "+t.Entity.Store.Name, "add the effect creates: "+t.Entity.Store.Name+", without may-", v.Place, "declared here"))
		return
	}
	for _, role := range v.Roles {
		if t.Tells != nil && !slices.Contains(t.Tells.Roles, role) {
			d.report(tell(d.place(n), "contradiction", role.Name+" may begin a task with "+v.Name+", and may not use "+t.Tells.Name+", by which it is told", "add the role to "+t.Tells.Name, t.Tells.Place, "declared here"))
		}
	}
	t.Begins = append(t.Begins, v)
}

// makesRow reports whether a verb promises one row of an entity, by an effect or by a call of
// its script.
func (l *loader) makesRow(v *verbs.Verb, e *verbs.Entity, within []*verbs.Verb) bool {
	if v == nil || slices.Contains(within, v) {
		return false // endless recursion is reported elsewhere
	}
	if slices.ContainsFunc(v.Effects, func(f verbs.Effect) bool { return f.Kind == verbs.Creates && !f.May && f.Entity == e && f.Each == nil }) {
		return true
	}
	if _, each := v.Macro.ForEach(); v.Macro == nil || each {
		return false
	}
	return slices.ContainsFunc(v.Macro.Script.Calls, func(c dsl.Call) bool { return l.makesRow(l.verbNamed[c.Verb], e, append(within, v)) })
}

// taskContinues reads which verb takes an answer, and as which argument.
func (l *loader) taskContinues(d *doc, t *verbs.Task, g mapping) {
	if t.Continues, t.Row = l.ofTask(d, t, g.at("verb").value); t.Continues == nil {
		return
	}
	n := g.at("argument").value
	if n == nil {
		return // the answer is given as values
	}
	if t.Words = d.paramAt(t.Continues, n); t.Words < 0 {
		d.report(unknownArgument(d.place(n), t.Continues, n.Value))
	} else if l.ofWords(d, g, &verbs.Answering{Verb: t.Continues, Param: t.Words}) != nil {
		l.needsOnly(d, t.Continues, g.at("verb").value, t.Row, t.Words)
	}
}

// ofTask returns a verb whose first reference to the entity of a task names the task.
func (l *loader) ofTask(d *doc, t *verbs.Task, n *yaml.Node) (*verbs.Verb, int) {
	v := l.callable(d, n, "a task is made of")
	if v == nil {
		return nil, -1
	}
	i := slices.IndexFunc(v.Params, func(p verbs.Param) bool {
		return p.Type != nil && p.Type.Name == verbs.RefType && p.Type.Entity == t.Entity
	})
	if i < 0 {
		d.report(tell(d.place(n), "contradiction", v.Name+" is about a task, and takes none", "name a verb with a reference to "+t.Entity.Store.Name, v.Place, "declared here"))
		return nil, -1
	}
	return v, i
}

// needsOnly reports a required argument other than the given ones.
func (l *loader) needsOnly(d *doc, v *verbs.Verb, n *yaml.Node, given ...int) bool {
	for i := range v.Params {
		if p := &v.Params[i]; !slices.Contains(given, i) && p.Required && p.Default.IsNull() {
			d.report(tell(d.place(n), "contradiction", v.Name+" is called for a task, and needs :"+p.Name+" as well", "let it do without that, or name another verb", v.Place, "declared here"))
			return false
		}
	}
	return true
}

// ofWords checks that an argument can take what somebody said, word for word.
func (l *loader) ofWords(d *doc, g mapping, a *verbs.Answering) *verbs.Answering {
	if a == nil {
		return nil
	}
	if t := a.Verb.Params[a.Param].Type; t != nil && t.Name != verbs.StringType && t.Name != verbs.AnyType {
		d.report(tell(d.place(g.at("argument").value), "contradiction", "words are text, and :"+a.Verb.Params[a.Param].Name+" is "+t.Phrase(), "name an argument of type string", a.Verb.Params[a.Param].Place, "declared here"))
		return nil
	}
	return a
}
