package engine

import (
	"fmt"
	"slices"
	"strings"

	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// An outcome is what carrying a verb out comes to, before it is verified: row changes, notices,
// session values, jobs and an answer.
type outcome struct {
	rowChanges []rowChange
	notices    []notice
	sets       []setting // of the session
	jobChanges []receipt.JobChange
	dropped    []stores.Job // those of jobChanges, where the call can be taken back
	calls      []generatedCalls
	answer     *table
	// kept names the promises that leave no trace in rows or notices, so that the handler
	// has to report them: "validates: …".
	kept []string
}

// generatedCalls are calls that a handler makes, and the promise that covers them: a verb, or the
// field in which they were kept.
type generatedCalls struct {
	prog *verbs.Program
	as   string
}

// A rowChange is a change of a row that is not verified yet.
type rowChange struct {
	op     stores.Op
	entity *verbs.Entity
	key    stores.Value
	before stores.Row // of Update and Delete
	set    []assignment
	stood  []int
	// forgets is Outcome.Forgets.
	forgets bool
}

// declared makes an outcome from promises alone, for verbs whose palette says everything.
func declared(promises []promise) outcome {
	var d outcome
	for i := range promises {
		p := &promises[i]
		effect := p.effect
		switch {
		case !effect.Declared:
		case effect.Adds():
			if p.due {
				d.rowChanges = append(d.rowChanges, rowChange{op: stores.Insert, entity: effect.Entity, key: p.key, set: p.set})
			}
		case effect.OnRows():
			op := stores.Update
			if effect.Kind == verbs.Deletes {
				op = stores.Delete
			}
			for _, t := range p.targets {
				if t.due {
					d.rowChanges = append(d.rowChanges, rowChange{op: op, entity: effect.Entity, key: t.row.Key(), before: t.row, set: t.set, stood: t.stood})
				}
			}
		case sends(effect):
			if p.due {
				d.notices = append(d.notices, noticeOf(p))
			}
		case effect.Session != "":
			if p.due {
				d.sets = append(d.sets, p.setting)
			}
		}
	}
	return d
}

func noticeOf(p *promise) notice {
	n := notice{kind: noticeKind(p.effect.Kind), target: noticeTarget(p.effect), values: p.values, came: p.came, sensitive: p.sensitive}
	for _, w := range p.effect.With {
		n.keys = append(n.keys, w.Key)
	}
	return n
}

// announces reports whether an effect promises a notice.
func announces(e *verbs.Effect, n *notice) bool {
	return sends(e) && noticeKind(e.Kind) == n.kind && noticeTarget(e) == n.target
}

func (n *notice) happening() string { return fmt.Sprintf("a %s to %s was to go out", n.kind, n.target) }

func noticeKind(k verbs.EffectKind) string {
	if k == verbs.Triggers {
		return "trigger"
	}
	return "notify"
}

func noticeTarget(e *verbs.Effect) string {
	if len(e.Operand.Path) > 0 {
		return strings.Join(e.Operand.Path, ".")
	}
	return e.Operand.Text
}

// verify compares the outcome of a call with the promises of its verb, before anything is
// written. It returns a *BrokenPromise if the outcome holds something that no effect covers, or
// lacks something that a due effect promises. The same rules hold for handlers, tools and
// declared effects.
func verify(v *verbs.Verb, promises []promise, d *outcome) error {
	s := verification{promises, make([]int, len(promises))}
	for i := range d.rowChanges {
		if happened := s.row(&d.rowChanges[i]); happened != "" {
			return broken(v, nil, happened)
		}
	}
	for i := range d.notices {
		n := &d.notices[i]
		p := s.claim(func(p *promise, used int) bool { return used == 0 && announces(p.effect, n) })
		if p == nil {
			return broken(v, nil, n.happening())
		}
		n.effect, n.at = p.effect, p.at
	}
	for i := range d.sets {
		a := &d.sets[i]
		if s.claim(func(p *promise, used int) bool {
			return used == 0 && p.effect.Session == a.name && (p.effect.Value == nil || stores.Equal(p.setting.value, a.value))
		}) == nil {
			return broken(v, nil, fmt.Sprintf("session.%s was to be set", a.name))
		}
	}
	for i := range d.jobChanges {
		if s.claim(func(p *promise, _ int) bool { return changesJobs(p.effect) }) == nil {
			return broken(v, nil, jobChangeText(&d.jobChanges[i]))
		}
	}
	for _, c := range d.calls {
		if s.claim(func(p *promise, _ int) bool { return generates(p.effect) == c.as }) == nil {
			return broken(v, nil, c.as+" was to be called")
		}
	}
	for _, text := range d.kept {
		if s.claim(func(p *promise, _ int) bool { return !traces(p.effect) && p.effect.Operand.Text == text }) == nil {
			return broken(v, nil, fmt.Sprintf("it says that it did %q", text))
		}
	}
	for i := range promises {
		if missing := unkept(&promises[i], s.used[i], d); missing != "" {
			return broken(v, promises[i].effect, missing)
		}
	}
	return nil
}

// A settlement counts how often each promise of a call was used.
type verification struct {
	promises []promise
	used     []int // parallel to promises
}

// claim returns the first due promise that fits, and counts its use; nil when none fits. An
// unconditional promise comes before a `may-` promise.
func (s *verification) claim(fits func(p *promise, used int) bool) *promise {
	for _, may := range [...]bool{false, true} {
		for i := range s.promises {
			if p := &s.promises[i]; p.due && p.effect.May == may && fits(p, s.used[i]) {
				s.used[i]++
				return p
			}
		}
	}
	return nil
}

// traces reports whether rows, notices or an answer can show that an effect took place.
func traces(e *verbs.Effect) bool {
	return e.Adds() || e.OnRows() || sends(e) || e.Session != "" || changesJobs(e) || generates(e) != "" || e.Kind == verbs.ReturnsEffect
}

// row finds the promises that cover a row change, or describes the change that no promise
// covers. The description names fields and never values.
func (s *verification) row(p *rowChange) string {
	e := p.entity.Store
	switch p.op {
	case stores.Insert:
		// A promise with `set:` covers one row; "creates: item" alone covers any number.
		if s.claim(func(q *promise, used int) bool {
			return q.effect.Adds() && q.effect.Entity == p.entity && fitsInsert(q, p) && (used == 0 || len(q.effect.Set) == 0)
		}) == nil {
			return fmt.Sprintf("a row of %s was to be added", e.Name)
		}
		return ""

	case stores.Delete:
		if s.claim(func(q *promise, _ int) bool {
			return q.effect.Kind == verbs.Deletes && q.effect.Entity == p.entity && picks(q, p.key) != nil
		}) == nil {
			return fmt.Sprintf("a row of %s was to be deleted", e.Name)
		}
		return ""
	}
	keeps := make([]bool, len(s.promises))
	for _, a := range p.set {
		if a.field == e.Key {
			return fmt.Sprintf("the key of a row of %s was to be changed", e.Name)
		}
		covered := false
		for i := range s.promises {
			q := &s.promises[i]
			if q.effect.Entity != p.entity || !q.effect.OnRows() || q.effect.Kind == verbs.Deletes {
				continue
			}
			if t := picks(q, p.key); t != nil && allows(q.effect, t, a) {
				covered, keeps[i] = true, true
			}
		}
		if !covered {
			return fmt.Sprintf("%s of a row of %s was to be changed", e.Fields[a.field].Name, e.Name)
		}
	}
	for i := range keeps {
		if keeps[i] {
			s.used[i]++
		}
	}
	return ""
}

// fitsInsert reports whether a row to be added is the one that was promised.
func fitsInsert(q *promise, p *rowChange) bool {
	if len(q.effect.Set) == 0 {
		return true
	}
	e := p.entity.Store
	for _, a := range p.set {
		i := slices.IndexFunc(q.set, func(b assignment) bool { return a.field == b.field })
		switch {
		case i >= 0 && !stores.Equal(a.value, q.set[i].value):
			return false
		case i < 0 && a.field != e.Key && !stores.Equal(a.value, e.Fields[a.field].Default):
			return false
		}
	}
	for _, b := range q.set {
		given := slices.ContainsFunc(p.set, func(a assignment) bool { return a.field == b.field })
		if !given && !stores.Equal(b.value, e.Fields[b.field].Default) {
			return false
		}
	}
	return true
}

// anyRow is the target of an effect that does not name a row.
var anyRow = target{due: true}

// picks returns the target with a key, nil if the effect does not reach that row.
func picks(q *promise, key stores.Value) *target {
	if q.effect.Where == nil {
		if q.due {
			return &anyRow
		}
		return nil
	}
	for i := range q.targets {
		if t := &q.targets[i]; t.due && t.row.Key() == key {
			return t
		}
	}
	return nil
}

// allows reports whether an effect permits an assignment to its target.
func allows(e *verbs.Effect, t *target, a assignment) bool {
	for _, b := range t.set {
		if b.field == a.field {
			return stores.Equal(a.value, b.value)
		}
	}
	if slices.ContainsFunc(e.Set, func(s verbs.Set) bool { return s.Field == a.field }) {
		// The effect itself sets that field, to another value.
		return false
	}
	if e.Fields == nil {
		return len(e.Set) == 0
	}
	return slices.Contains(e.Fields, a.field)
}

// unkept says how a promise was broken, "" if it was kept.
func unkept(p *promise, used int, d *outcome) string {
	e := p.effect
	switch {
	case e.May || !p.due || e.Kind == verbs.IfTrue || e.Kind == verbs.IfFalse:
		return ""
	case e.Kind == verbs.ReturnsEffect:
		if d.answer == nil {
			return "nothing was given back"
		}
		return ""
	case e.OnRows() && e.Where != nil:
		for i := range p.targets {
			if t := &p.targets[i]; t.due && !t.reached(e, d) {
				return fmt.Sprintf("a row of %s was not to be %s", e.Entity.Store.Name, doneTo(e))
			}
		}
		return ""
	case used > 0:
		return ""
	case e.OnRows():
		return fmt.Sprintf("no row of %s was to be %s", e.Entity.Store.Name, doneTo(e))
	case e.Adds():
		return fmt.Sprintf("no row of %s was to be added", e.Entity.Store.Name)
	case generates(e) != "":
		return generates(e) + " was not to be called"
	case e.Session != "":
		return fmt.Sprintf("session.%s was not to be set", e.Session)
	case sends(e):
		return fmt.Sprintf("no %s to %s was to go out", noticeKind(e.Kind), noticeTarget(e))
	case changesJobs(e):
		return "no job was to be tried again or dropped"
	}
	return "nobody says that it was done"
}

// doneTo says in one word what an effect does to its rows.
func doneTo(e *verbs.Effect) string {
	if e.Kind == verbs.Deletes {
		return "deleted"
	}
	return "changed"
}

// reached reports whether a promise about one row is kept: the row is deleted, or every
// field that the promise sets has that value. If the promise only names fields, the outcome has
// to mention one of them.
func (t *target) reached(effect *verbs.Effect, d *outcome) bool {
	proposed := func(op stores.Op, does func(set []assignment) bool) bool {
		return slices.ContainsFunc(d.rowChanges, func(p rowChange) bool {
			return p.op == op && p.entity == effect.Entity && p.key == t.row.Key() && does(p.set)
		})
	}
	switch {
	case effect.Kind == verbs.Deletes:
		return proposed(stores.Delete, func([]assignment) bool { return true })
	case len(effect.Set) == 0:
		return proposed(stores.Update, func(set []assignment) bool {
			return slices.ContainsFunc(set, func(a assignment) bool { return allows(effect, t, a) })
		})
	}
	for _, b := range t.set {
		if !stores.Equal(t.row.Values[b.field], b.value) && !proposed(stores.Update, func(set []assignment) bool {
			return slices.ContainsFunc(set, func(a assignment) bool { return a.field == b.field && stores.Equal(a.value, b.value) })
		}) {
			return false
		}
	}
	return true
}

// verifyMacro compares what all calls of a macro did with the macro's own promises, if it
// has any. Each of those calls was verified against its own verb already.
func verifyMacro(v *verbs.Verb, all collectedEffects) error {
	if len(v.Effects) == 0 {
		return nil
	}
	promised := func(covers func(e *verbs.Effect) bool) bool {
		return slices.ContainsFunc(v.Effects, func(e verbs.Effect) bool { return covers(&e) })
	}
	for i := range all.changes {
		c := &all.changes[i]
		if !promised(func(e *verbs.Effect) bool { return wide(e, c) }) {
			return broken(v, nil, happening(c))
		}
	}
	for i := range all.notices {
		n := &all.notices[i]
		if !promised(func(e *verbs.Effect) bool { return announces(e, n) }) {
			return broken(v, nil, n.happening())
		}
	}
	for _, a := range all.sets {
		if !promised(func(e *verbs.Effect) bool { return e.Session == a.name }) {
			return broken(v, nil, fmt.Sprintf("session.%s was to be set", a.name))
		}
	}
	for i := range all.jobChanges {
		if !promised(changesJobs) {
			return broken(v, nil, jobChangeText(&all.jobChanges[i]))
		}
	}
	for i := range v.Effects {
		e := &v.Effects[i]
		if !e.May && e.When == nil && traces(e) && !all.shows(e) {
			return broken(v, e, "none of its calls did it")
		}
	}
	return nil
}

// collectedEffects are the effects of a call and of the calls inside it.
type collectedEffects struct {
	changes    []change
	notices    []notice
	sets       []setting
	jobChanges []receipt.JobChange
	inside     []*verbs.Verb // of the calls inside it, at any depth
	answered   bool
}

// gather collects what a call and the calls inside it do.
func (st *step) gather() collectedEffects {
	g := collectedEffects{slices.Clip(st.out.changes), slices.Clip(st.out.notices), slices.Clip(st.out.sets), slices.Clip(st.out.jobChanges), nil, st.out.cells != nil}
	for _, inner := range st.tree.inner {
		more := inner.gather()
		g.changes = append(g.changes, more.changes...)
		g.notices = append(g.notices, more.notices...)
		g.sets = append(g.sets, more.sets...)
		g.jobChanges = append(g.jobChanges, more.jobChanges...)
		g.inside = append(append(g.inside, inner.verb), more.inside...)
	}
	return g
}

// shows reports whether an effect of a macro took place. An effect on rows may find no row,
// and a session that already has a value is not set again.
func (g collectedEffects) shows(e *verbs.Effect) bool {
	switch {
	case e.OnRows():
		return true
	case sends(e):
		return slices.ContainsFunc(g.notices, func(n notice) bool { return announces(e, &n) })
	case e.Session != "":
		return slices.ContainsFunc(g.inside, func(v *verbs.Verb) bool {
			return slices.ContainsFunc(v.Effects, func(f verbs.Effect) bool { return f.Session == e.Session })
		})
	case changesJobs(e):
		return len(g.jobChanges) > 0
	case generates(e) != "":
		return slices.ContainsFunc(g.inside, func(v *verbs.Verb) bool { return v.Name == generates(e) })
	case e.Kind == verbs.ReturnsEffect:
		return g.answered
	}
	return slices.ContainsFunc(g.changes, func(c change) bool { return wide(e, &c) })
}

// wide reports whether an effect of a macro covers a change, by entity, operation and fields.
func wide(e *verbs.Effect, c *change) bool {
	if e.Entity != c.entity {
		return false
	}
	switch c.Op {
	case stores.Insert:
		return e.Adds()
	case stores.Delete:
		return e.Kind == verbs.Deletes
	}
	if !e.OnRows() || e.Kind == verbs.Deletes {
		return false
	}
	for _, a := range c.Set {
		named := slices.Contains(e.Fields, a.Field) || slices.ContainsFunc(e.Set, func(s verbs.Set) bool { return s.Field == a.Field })
		if !named && (e.Fields != nil || len(e.Set) > 0) {
			return false
		}
	}
	return true
}

func happening(c *change) string {
	name := c.Entity.Name
	switch c.Op {
	case stores.Insert:
		return fmt.Sprintf("a row of %s was to be added", name)
	case stores.Delete:
		return fmt.Sprintf("a row of %s was to be deleted", name)
	}
	fields := make([]string, len(c.Set))
	for i, a := range c.Set {
		fields[i] = c.Entity.Fields[a.Field].Name
	}
	return fmt.Sprintf("%s of a row of %s was to be changed", strings.Join(fields, ", "), name)
}

func broken(v *verbs.Verb, effect *verbs.Effect, happened string) error {
	b := &BrokenPromise{Verb: v.Name, Happened: happened, Place: v.Place}
	if effect != nil {
		b.Promise, b.Place = promiseText(effect), effect.Place
	}
	return b
}

var effectWords = [...]string{
	verbs.Creates: "creates", verbs.Updates: "updates", verbs.Deletes: "deletes", verbs.Triggers: "triggers",
	verbs.Notifies: "notifies", verbs.Sets: "sets", verbs.Stores: "stores", verbs.Validates: "validates",
	verbs.Attaches: "attaches", verbs.ReturnsEffect: "returns", verbs.Generates: "generates",
	verbs.IfTrue: "if-true", verbs.IfFalse: "if-false",
}

func promiseText(e *verbs.Effect) string { return effectWords[e.Kind] + ": " + e.Operand.Text }
