package runtime

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// A promise is one effect of a verb, for one call, as the rows stand before
// the call does anything. The engine carries out a verb from its promises, and
// holds whatever carried it out against them: both look at the same values.
type promise struct {
	effect *verbs.Effect
	// due says that its condition holds, or that it has none. For effects on
	// rows there is a condition for each target instead.
	due     bool
	set     []assigned // of a row to be added
	targets []target   // of rows to be changed or deleted
	values  []stores.Value
	came    []verbs.Origin // parallel to values
	dark    []bool         // parallel to values; nil while none is sensitive
	at      stores.Value   // when the work of a trigger begins; Null is at once
	setting setting        // of the session
}

// A target is a row that an effect picks.
type target struct {
	row stores.Row
	due bool
	set []assigned
	// stood holds the fields of the row that conditions and values were worked
	// out from: the change is only right while they are what they were.
	stood []int
}

// An assigned is a value for a field, and where it comes from.
type assigned struct {
	field     int
	value     stores.Value
	from      string
	sensitive bool // an argument that it is taken from is
	came      verbs.Origin
}

// A deed is what carried a verb out wants done.
type deed struct {
	proposals []proposal
	notices   []notice
	sets      []setting // of the session
	tended    []receipt.Tended
	calls     []*verbs.Program
	answer    *table
	// kept names the promises that leave no trace in rows or notices, which
	// only whoever carried the verb out can know of: "validates: …".
	kept []string
}

// A proposal is a row change that somebody wants.
type proposal struct {
	op     stores.Op
	entity *verbs.Entity
	key    stores.Value
	before stores.Row // of Update and Delete
	set    []assigned
	stood  []int
}

// promises works out what each effect of a verb means for this call.
func (r *run) promises(ctx context.Context, st *step) ([]promise, error) {
	effects := st.verb.Effects
	promises := make([]promise, len(effects))
	for i := range effects {
		effect := &effects[i]
		p := &promises[i]
		p.effect = effect
		var err error
		switch {
		case onRows(effect):
			err = r.targets(ctx, st, p)
		default:
			if p.due, err = r.holds(ctx, st, effect.When, nil); err == nil && p.due {
				p.set, err = r.sets(ctx, st, effect, nil)
			}
			if err == nil && p.due {
				for _, w := range effect.With {
					v, came, err := r.evalFrom(ctx, st, w.Value, nil)
					if err != nil {
						return nil, err
					}
					p.values, p.came = append(p.values, v), append(p.came, came)
					if _, dark := st.origin(w.Value, nil); dark {
						p.dark = darkAt(p.dark, len(p.values)-1)
					}
				}
				if effect.Value != nil {
					err = r.given(ctx, st, p)
				}
				if effect.At != nil {
					p.at, err = r.eval(ctx, st, effect.At, nil)
				}
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return promises, nil
}

// targets finds the rows that an effect picks, and what it does to each.
func (r *run) targets(ctx context.Context, st *step, p *promise) error {
	effect := p.effect
	var rows []stores.Row
	switch w := effect.Where; {
	case w == nil:
		// A promise in so many words, for a handler to keep: any row within
		// scope. Whether its condition holds is all there is to know.
		var err error
		p.due, err = r.holds(ctx, st, effect.When, nil)
		return err
	case w.Filter != nil:
		where, err := r.cond(ctx, st, w.Filter)
		if err != nil {
			return err
		}
		if rows, err = r.rowsWhere(ctx, effect.Entity.Store, where); err != nil {
			return err
		}
	default:
		row := st.rows[w.Param]
		if row.Entity != nil && row.Entity != effect.Entity.Store {
			// The argument takes a row of any kind, the effect does not.
			return &complaint{st.index, unknownName(st.place, st.verb.Params[w.Param].Name)}
		}
		if row.Entity != nil {
			rows = append(rows, row)
		}
	}
	for _, row := range rows {
		t := target{row: row}
		var err error
		if t.due, err = r.holds(ctx, st, effect.When, &row); err != nil {
			return err
		}
		if t.due {
			if t.set, err = r.sets(ctx, st, effect, &row); err != nil {
				return err
			}
		}
		t.stood = stoodOn(effect)
		p.due = p.due || t.due
		p.targets = append(p.targets, t)
	}
	return nil
}

// stoodOn lists the fields of a target itself that an effect reads.
func stoodOn(e *verbs.Effect) []int {
	var fields []int
	add := func(x *verbs.Expr) {
		if x == nil {
			return
		}
		for _, read := range x.Reads {
			own := read.Param < 0 || e.Where.Filter == nil && read.Param == e.Where.Param
			if own && read.Path.Count == nil {
				f := read.Path.Field
				if len(read.Path.Steps) > 0 {
					f = read.Path.Steps[0].Field
				}
				fields = append(fields, f)
			}
		}
	}
	add(e.When)
	for i := range e.Set {
		add(e.Set[i].Value)
	}
	return fields
}

func (r *run) holds(ctx context.Context, st *step, when *verbs.Expr, row *stores.Row) (bool, error) {
	if when == nil {
		return true, nil
	}
	v, err := r.eval(ctx, st, when, row)
	return v.Bool(), err
}

func (r *run) sets(ctx context.Context, st *step, effect *verbs.Effect, row *stores.Row) ([]assigned, error) {
	if len(effect.Set) == 0 {
		return nil, nil
	}
	set := make([]assigned, 0, len(effect.Set))
	for i := range effect.Set {
		x := effect.Set[i].Value
		v, came, err := r.evalFrom(ctx, st, x, row)
		if err != nil {
			return nil, err
		}
		from, secret := st.origin(x, row)
		set = append(set, assigned{effect.Set[i].Field, v, from, secret, came})
	}
	return set, nil
}

// declared does what promises say, where the palette says all of it.
func declared(promises []promise) deed {
	var d deed
	for i := range promises {
		p := &promises[i]
		effect := p.effect
		switch {
		case !effect.Declared:
		case addsRow(effect):
			if p.due {
				d.proposals = append(d.proposals, proposal{op: stores.Insert, entity: effect.Entity, set: p.set})
			}
		case onRows(effect):
			op := stores.Update
			if effect.Kind == verbs.Deletes {
				op = stores.Delete
			}
			for _, t := range p.targets {
				if t.due {
					d.proposals = append(d.proposals, proposal{op: op, entity: effect.Entity, key: t.row.Key(), before: t.row, set: t.set, stood: t.stood})
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
	n := notice{kind: noticeKind(p.effect.Kind), target: noticeTarget(p.effect), values: p.values, came: p.came, dark: p.dark}
	for _, w := range p.effect.With {
		n.keys = append(n.keys, w.Key)
	}
	return n
}

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

// settle holds what is to be done against what was promised, before any of it
// is: nothing that no effect covers, and every promise that is due. It makes
// no difference who carried the verb out.
func (r *run) settle(st *step, promises []promise, d deed) error {
	kept := make([]int, len(promises)) // how often each promise was used
	for i := range d.proposals {
		if happened := cover(promises, kept, &d.proposals[i]); happened != "" {
			return broken(st, nil, happened)
		}
	}
	for i := range d.notices {
		n := &d.notices[i]
		covered := false
		for j := range promises {
			p := &promises[j]
			if sends(p.effect) && p.due && kept[j] == 0 && noticeKind(p.effect.Kind) == n.kind && noticeTarget(p.effect) == n.target {
				kept[j]++
				covered = true
				n.effect, n.at = p.effect, p.at
				break
			}
		}
		if !covered {
			return broken(st, nil, fmt.Sprintf("a %s to %s was to go out", n.kind, n.target))
		}
	}
	for i := range d.sets {
		if j := keepsSetting(promises, kept, &d.sets[i]); j < 0 {
			return broken(st, nil, fmt.Sprintf("session.%s was to be set", d.sets[i].name))
		}
	}
	if err := settleJobs(st, promises, kept, d.tended); err != nil {
		return err
	}
	for _, p := range d.calls {
		name := p.Calls()[0].Verb.Name
		j := slices.IndexFunc(promises, func(q promise) bool { return q.due && generates(q.effect) == name })
		if j < 0 {
			return broken(st, nil, name+" was to be called")
		}
		kept[j]++
	}
	for _, text := range d.kept {
		j := slices.IndexFunc(promises, func(p promise) bool { return p.due && !traces(p.effect) && p.effect.Operand.Text == text })
		if j < 0 {
			return broken(st, nil, fmt.Sprintf("it says that it did %q", text))
		}
		kept[j]++
	}
	for i := range promises {
		if missing := unkept(&promises[i], kept[i], &d); missing != "" {
			return broken(st, promises[i].effect, missing)
		}
	}
	return nil
}

// traces reports whether rows, notices or an answer show that an effect took
// place.
func traces(e *verbs.Effect) bool {
	return addsRow(e) || onRows(e) || sends(e) || e.Session != "" || tendsJobs(e) || generates(e) != "" || e.Kind == verbs.ReturnsEffect
}

// cover finds the promises that a proposal keeps, or says what would happen
// that nobody promised. It names fields and never values.
func cover(promises []promise, kept []int, p *proposal) string {
	e := p.entity.Store
	switch p.op {
	case stores.Insert:
		for i := range promises {
			if q := &promises[i]; addsRow(q.effect) && q.effect.Entity == p.entity && q.due && fitsInsert(q, p) {
				// What is said to the letter is said once; "creates: item"
				// alone is said of as many as there are.
				if len(q.effect.Set) == 0 || kept[i] == 0 {
					kept[i]++
					return ""
				}
			}
		}
		return fmt.Sprintf("a row of %s was to be added", e.Name)

	case stores.Delete:
		for i := range promises {
			if q := &promises[i]; onRows(q.effect) && q.effect.Kind == verbs.Deletes && q.effect.Entity == p.entity && picks(q, p.key) != nil {
				kept[i]++
				return ""
			}
		}
		return fmt.Sprintf("a row of %s was to be deleted", e.Name)
	}
	for _, a := range p.set {
		if a.field == e.Key {
			return fmt.Sprintf("the key of a row of %s was to be changed", e.Name)
		}
	}
	keeps := make([]bool, len(promises))
	for _, a := range p.set {
		covered := false
		for i := range promises {
			q := &promises[i]
			if !onRows(q.effect) || q.effect.Kind == verbs.Deletes || q.effect.Entity != p.entity {
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
			kept[i]++
		}
	}
	return ""
}

// fitsInsert reports whether a row to be added is the one that was promised.
func fitsInsert(q *promise, p *proposal) bool {
	if len(q.effect.Set) == 0 {
		return true
	}
	e := p.entity.Store
	for _, a := range p.set {
		i := slices.IndexFunc(q.set, func(b assigned) bool { return a.field == b.field })
		switch {
		case i >= 0 && !stores.Equal(a.value, q.set[i].value):
			return false
		case i < 0 && a.field != e.Key && !stores.Equal(a.value, e.Fields[a.field].Default):
			return false
		}
	}
	for _, b := range q.set {
		given := slices.ContainsFunc(p.set, func(a assigned) bool { return a.field == b.field })
		if !given && !stores.Equal(b.value, e.Fields[b.field].Default) {
			return false
		}
	}
	return true
}

// anyRow is the target of an effect that does not say which row it means.
var anyRow = target{due: true}

// picks returns the target that a row is, nil when the effect does not reach
// it.
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

// allows reports whether an effect lets a field of a row become a value.
func allows(e *verbs.Effect, t *target, a assigned) bool {
	for _, b := range t.set {
		if b.field == a.field {
			return stores.Equal(a.value, b.value)
		}
	}
	if slices.ContainsFunc(e.Set, func(s verbs.Set) bool { return s.Field == a.field }) {
		// It says what the field becomes, of a row that it names itself.
		return false
	}
	if e.Fields == nil {
		return len(e.Set) == 0
	}
	return slices.Contains(e.Fields, a.field)
}

// unkept says what is missing of a promise, "" when nothing is.
func unkept(p *promise, used int, d *deed) string {
	effect := p.effect
	if effect.May || !p.due {
		return ""
	}
	switch {
	case effect.Kind == verbs.IfTrue || effect.Kind == verbs.IfFalse:
		return ""
	case effect.Kind == verbs.ReturnsEffect:
		if d.answer == nil {
			return "nothing was given back"
		}
	case addsRow(effect):
		if used == 0 {
			return fmt.Sprintf("no row of %s was to be added", effect.Entity.Store.Name)
		}
	case onRows(effect):
		name := effect.Entity.Store.Name
		if effect.Where == nil {
			if used == 0 {
				return fmt.Sprintf("no row of %s was to be changed", name)
			}
			break
		}
		for i := range p.targets {
			if t := &p.targets[i]; t.due && !t.reached(effect, d) {
				if effect.Kind == verbs.Deletes {
					return fmt.Sprintf("a row of %s was not to be deleted", name)
				}
				return fmt.Sprintf("a row of %s was not to be changed", name)
			}
		}
	case generates(effect) != "":
		if used == 0 {
			return generates(effect) + " was not to be called"
		}
	case effect.Session != "":
		if used == 0 {
			return fmt.Sprintf("session.%s was not to be set", effect.Session)
		}
	case sends(effect):
		if used == 0 {
			return fmt.Sprintf("no %s to %s was to go out", noticeKind(effect.Kind), noticeTarget(effect))
		}
	case tendsJobs(effect):
		if used == 0 {
			return "no job was to be tried again or dropped"
		}
	default:
		if used == 0 {
			return "nobody says that it was done"
		}
	}
	return ""
}

// reached reports whether a promise about one row is kept: the row is deleted,
// or every field that was to be set is, or held that value already. Where the
// promise only names fields, one of them has to be spoken of.
func (t *target) reached(effect *verbs.Effect, d *deed) bool {
	if effect.Kind != verbs.Deletes && len(t.set) > 0 {
		return t.setBy(d)
	}
	for i := range d.proposals {
		p := &d.proposals[i]
		if p.entity != effect.Entity || p.key != t.row.Key() {
			continue
		}
		switch p.op {
		case stores.Delete:
			if effect.Kind == verbs.Deletes {
				return true
			}
		case stores.Update:
			if effect.Kind != verbs.Deletes && slices.ContainsFunc(p.set, func(a assigned) bool { return allows(effect, t, a) }) {
				return true
			}
		}
	}
	return false
}

func (t *target) setBy(d *deed) bool {
	for _, b := range t.set {
		done := stores.Equal(t.row.Values[b.field], b.value)
		for i := range d.proposals {
			q := &d.proposals[i]
			if q.op == stores.Update && q.entity.Store == t.row.Entity && q.key == t.row.Key() &&
				slices.ContainsFunc(q.set, func(a assigned) bool { return a.field == b.field && stores.Equal(a.value, b.value) }) {
				done = true
			}
		}
		if !done {
			return false
		}
	}
	return true
}

// settleMacro holds everything that the calls of a macro did against what the
// macro itself promises, where it promises anything. Each of those calls was
// settled by its own verb already.
func (r *run) settleMacro(ctx context.Context, st *step) error {
	if len(st.verb.Effects) == 0 {
		return nil
	}
	all := st.gather(&gathered{})
	for i := range all.changes {
		c := &all.changes[i]
		if !slices.ContainsFunc(st.verb.Effects, func(e verbs.Effect) bool { return wide(&e, c) }) {
			return broken(st, nil, happening(c))
		}
	}
	for _, n := range all.notices {
		if !slices.ContainsFunc(st.verb.Effects, func(e verbs.Effect) bool {
			return sends(&e) && noticeKind(e.Kind) == n.kind && noticeTarget(&e) == n.target
		}) {
			return broken(st, nil, fmt.Sprintf("a %s to %s was to go out", n.kind, n.target))
		}
	}
	for _, a := range all.sets {
		if !slices.ContainsFunc(st.verb.Effects, func(e verbs.Effect) bool { return e.Session == a.name }) {
			return broken(st, nil, fmt.Sprintf("session.%s was to be set", a.name))
		}
	}
	tended := st.allTended()
	if len(tended) > 0 && !slices.ContainsFunc(st.verb.Effects, func(e verbs.Effect) bool { return tendsJobs(&e) }) {
		return broken(st, nil, tending(&tended[0]))
	}
	for i := range st.verb.Effects {
		e := &st.verb.Effects[i]
		if e.May || e.When != nil || !traces(e) {
			continue
		}
		kept := false
		switch {
		case sends(e):
			kept = slices.ContainsFunc(all.notices, func(n notice) bool {
				return noticeKind(e.Kind) == n.kind && noticeTarget(e) == n.target
			})
		case e.Session != "":
			kept = slices.ContainsFunc(all.sets, func(a setting) bool { return a.name == e.Session }) || st.setBefore(e.Session)
		case tendsJobs(e):
			kept = len(tended) > 0
		case generates(e) != "":
			kept = st.calls(generates(e))
		case e.Kind == verbs.ReturnsEffect:
			kept = st.cells != nil
		default:
			kept = slices.ContainsFunc(all.changes, func(c change) bool { return wide(e, &c) }) || onRows(e)
		}
		if !kept {
			return broken(st, e, "none of its calls did it")
		}
	}
	return nil
}

type gathered struct {
	changes []change
	notices []notice
	sets    []setting
}

// gather collects what a call and the calls inside it do.
func (st *step) gather(g *gathered) *gathered {
	g.changes = append(g.changes, st.changes...)
	g.notices = append(g.notices, st.notices...)
	g.sets = append(g.sets, st.sets...)
	for _, inner := range st.inner {
		inner.gather(g)
	}
	return g
}

// wide reports whether an effect of a macro covers a change, by entity,
// operation and fields.
func wide(e *verbs.Effect, c *change) bool {
	if e.Entity != c.entity {
		return false
	}
	switch c.Op {
	case stores.Insert:
		return addsRow(e)
	case stores.Delete:
		return e.Kind == verbs.Deletes
	}
	if !onRows(e) || e.Kind == verbs.Deletes {
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

func broken(st *step, effect *verbs.Effect, happened string) error {
	b := &BrokenPromise{Verb: st.verb.Name, Happened: happened, Place: st.verb.Place}
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
