package load

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/expr"
	"verbatim/verbs/naming"
)

// requires reads the preconditions. The rest of the verb may rely on them.
func (l *loader) requires(vn *verbNode) {
	d, v := vn.d, vn.v
	list := vn.f.at("requires")
	d.filled(list)
	d.each(list, func(n *yaml.Node) {
		f, ok := d.fields(n, "requirement")
		if !ok {
			return
		}
		switch {
		case f.at("none").key != nil, f.at("some").key != nil, f.at("all").key != nil:
			l.ofRows(vn, n, f)
			return
		case f.at("where").value != nil:
			d.report(missingKey(d.place(n), "requirement", "none"))
			return
		case f.at("that").value == nil:
			d.report(missingKey(d.place(n), "requirement", "that"))
			return
		}
		rule := verbs.Require{Else: f.text("else"), Place: d.place(f.at("that").value)}
		rule.That = l.compile(d, f.at("that").value, scope{verb: v}, wantBoolean, nil)
		if rule.That == nil {
			return
		}
		if holds, ok := rule.That.Constant(); ok {
			d.report(requiresNothing(rule.Place, v.Name, holds.Bool()))
			return
		}
		l.nilPasses(vn, &rule, f.at("nil"))
		v.Requires = append(v.Requires, rule)
	})
}

// ofRows reads a precondition that none of some rows exist, or some do, or a condition holds for
// all of them.
func (l *loader) ofRows(vn *verbNode, n *yaml.Node, f mapping) {
	d := vn.d
	if that := f.at("that"); that.value != nil && f.at("all").key == nil {
		d.report(tell(d.place(that.key), "contradiction", "a requirement is a condition, or that there is none of some rows", "make it two requirements", dsl.Place{}, ""))
		return
	}
	t := &verbs.Total{Place: d.place(n)}
	if l.total(vn, t, n, f) {
		vn.v.Requires = append(vn.v.Requires, verbs.Require{Rows: t, Else: f.text("else"), Place: d.place(f.at("where").value)})
	}
}

// belongs finds the condition that determines the owner of the rows that a filter picks: a
// reference of theirs is the row of an argument that is always given.
func belongs(n *expr.Condition, e *verbs.Entity, v *verbs.Verb) (by int, ok bool) {
	switch {
	case n.Op == stores.And:
		for i := range n.Kids {
			if by, ok = belongs(&n.Kids[i], e, v); ok {
				return by, true
			}
		}
	case n.If == nil && n.Op == stores.Eq && len(n.Path.Steps) == 0 && n.Path.Count == nil && n.Value != nil && n.Value.From == expr.Argument:
		p, to := &v.Params[n.Value.Index], e.Store.Fields[n.Path.Field].Ref
		if to != nil && (p.Required || p.Active) && p.Type != nil && p.Type.Name == verbs.RefType && p.Type.Entity != nil && p.Type.Entity.Store == to {
			return n.Path.Field, true
		}
	}
	return 0, false
}

// totals reads the values that a verb computes from several rows.
func (l *loader) totals(vn *verbNode) {
	d, v := vn.d, vn.v
	d.each(vn.f.at("totals"), func(n *yaml.Node) {
		f, ok := d.fields(n, "total")
		if !ok || f.at("name").value == nil {
			return
		}
		name := f.at("name").value
		d.name(name, "total")
		t := verbs.Total{Name: naming.Underscored(name.Value), Place: d.place(name)}
		if naming.IsReserved(t.Name) {
			d.report(tell(t.Place, "reserved-word", "total", name.Value))
		}
		if i := v.ParamNamed(t.Name); i >= 0 {
			d.report(tell(t.Place, "declared-twice", "argument", name.Value, v.Params[i].Place))
			return
		}
		if i := slices.IndexFunc(v.Totals, func(o *verbs.Total) bool { return o.Name == t.Name }); i >= 0 {
			d.report(tell(t.Place, "declared-twice", "total", name.Value, v.Totals[i].Place))
			return
		}
		if !l.total(vn, &t, n, f) {
			t.Type = nil // it is recorded, and nothing more is reported about it
		}
		v.Totals = append(v.Totals, &t)
	})
}

// total reads the operand of a total: exactly one key gives its kind.
func (l *loader) total(vn *verbNode, t *verbs.Total, n *yaml.Node, f mapping) bool {
	d := vn.d
	var of pair
	for kind, word := range verbs.TotalWords {
		if p := f.at(word); p.value != nil {
			if of.key != nil {
				d.report(tell(d.place(p.key), "two-effects", word, of.key.Value))
				return false
			}
			of, t.Kind = p, verbs.TotalKind(kind)
		}
	}
	if of.key == nil {
		d.report(missingKey(d.place(n), "total", "count"))
		return false
	}
	if f.at("where").value == nil {
		d.report(missingKey(d.place(n), "total", "where"))
		return false
	}
	t.Beyond = f.boolean("beyond")
	if !l.totalOf(vn, t, of.value) || !l.totalWhere(vn, t, f.at("where").value) {
		return false
	}
	if t.Beyond && len(vn.v.Discloses) == 0 && vn.f.at("discloses").value == nil {
		d.report(tell(d.place(f.at("beyond").key), "beyond-its-caller/nothing", t.Name))
		return false
	}
	that := f.at("that")
	switch {
	case t.Kind != verbs.AllTotal && that.key != nil:
		d.report(operandDoesNotApply(d.place(that.key), "that", t.Kind.String()))
		return false
	case t.Kind == verbs.AllTotal && that.value == nil:
		d.report(missingKey(d.place(n), "total", "that"))
		return false
	case t.Kind == verbs.AllTotal:
		t.That = l.filter(d, that.value, scope{verb: vn.v, row: t.Entity})
		return t.That != nil && (!t.Beyond || vn.unprobedBeyond(t, that.value, t.That.Root))
	}
	return true
}

// totalOf reads what is counted or added: an entity, or a field of one.
func (l *loader) totalOf(vn *verbNode, t *verbs.Total, n *yaml.Node) bool {
	d := vn.d
	name, field, dotted := strings.Cut(n.Value, ".")
	switch t.Entity = l.entityWithin(d, n, 0, name); {
	case t.Entity == nil || d.broken[t.Entity]:
		return false
	case dotted != t.Kind.OfField():
		d.report(tell(d.place(n), "bad-operand/total", t.Kind.String(), t.Entity))
		return false
	case t.Kind == verbs.CountTotal:
		t.Type = plainTypes[verbs.IntegerType]
		return true
	case t.Kind.Asks():
		t.Type = plainTypes[verbs.BooleanType]
		return true
	}
	place := d.within(n, len(name)+1, len(n.Value))
	if t.Field = d.fieldWithin(t.Entity, n, len(name)+1, field); t.Field < 0 {
		return false
	}
	if t.Beyond && t.Entity.Store.Fields[t.Field].Sensitive {
		d.report(tell(place, "beyond-its-caller/sensitive", field))
		return false
	}
	switch t.Type = t.Entity.Fields[t.Field].Type; {
	case t.Type == nil:
		return false
	case !t.Kind.Fits(t.Type.Name):
		d.report(tell(place, "type-mismatch/total", t.Kind.String(), field))
		return false
	}
	return true
}

// unprobedBeyond refuses a total over rows that the caller does not see if it compares the order of
// a sensitive field with an argument.
func (vn *verbNode) unprobedBeyond(t *verbs.Total, n *yaml.Node, root expr.Condition) bool {
	if halves(&root, t.Entity) {
		vn.d.report(tell(vn.d.place(n), "not-a-filter/sensitive", "the order of what is sensitive"))
		return false
	}
	return true
}

func (l *loader) totalWhere(vn *verbNode, t *verbs.Total, n *yaml.Node) (ok bool) {
	if t.Where = l.where(vn, n, scope{verb: vn.v, row: t.Entity}); t.Where == nil {
		return false
	}
	if _, one := t.Where.One(); one {
		vn.d.report(tell(vn.d.place(n), "type-mismatch/each", &vn.v.Params[t.Where.Param]))
		return false
	}
	if t.Where.Filter == nil {
		if t.Beyond {
			vn.d.report(tell(vn.d.place(n), "beyond-its-caller/list", t.Name))
		}
		return !t.Beyond
	}
	root := t.Where.Filter.Root
	if t.Beyond {
		t.By = -1 // the rows are not locked
		if p := mayLackFor(&root, vn.v, 0); p != nil {
			vn.d.report(tell(vn.d.place(n), "beyond-its-caller/absent", p))
			return false
		}
		return vn.unprobedBeyond(t, n, root)
	}
	if t.By, ok = belongs(&root, t.Entity, vn.v); !ok {
		if t.By, ok = -1, inList(&root, t.Entity, vn.v); !ok {
			vn.d.report(heldByNobody(vn.d.place(n), vn.v, t.Entity))
		}
	}
	return ok
}

// mayLackFor finds an argument that may be absent although a field is compared with it: an absent
// argument would match a field without a value.
func mayLackFor(n *expr.Condition, v *verbs.Verb, asked uint64) (lacks *verbs.Param) {
	if n.Value != nil && n.Value.From == expr.Argument && asked&(1<<n.Value.Index) == 0 {
		if p := &v.Params[n.Value.Index]; !p.Sure() {
			return p
		}
	}
	if n.Op == stores.And {
		asked |= asks(n)
	}
	for i := range n.Kids {
		if p := mayLackFor(&n.Kids[i], v, asked); p != nil {
			return p
		}
	}
	return nil
}

// asks returns the bits of the arguments that the conditions joined by `and` test without a row.
func asks(n *expr.Condition) (bits uint64) {
	n.If.Uses(func(from expr.Source, i int) {
		if from == expr.Argument {
			bits |= 1 << i
		}
	})
	for i := range n.Kids {
		if n.Op == stores.And {
			bits |= asks(&n.Kids[i])
		}
	}
	return bits
}

// inList reports whether each row that a filter picks is in a list of references that is always
// given.
func inList(n *expr.Condition, e *verbs.Entity, v *verbs.Verb) bool {
	if n.Op == stores.And {
		return slices.ContainsFunc(n.Kids, func(kid expr.Condition) bool { return inList(&kid, e, v) })
	}
	if n.If != nil || n.Op != stores.In || len(n.Path.Steps) > 0 || n.Path.Count != nil || n.Path.Field != e.Store.Key || n.Value == nil || n.Value.From != expr.Argument {
		return false
	}
	p := &v.Params[n.Value.Index]
	return p.Required && p.Type != nil && p.Type.Item != nil && p.Type.Item.Entity == e
}

// settleExclusions reads which verbs exclude a verb, once all verbs are known.
func (l *loader) settleExclusions(vn *verbNode) {
	d, v := vn.d, vn.v
	d.each(vn.f.at("excludes"), func(n *yaml.Node) {
		f, ok := d.fields(n, "exclusion")
		if !ok || f.at("verb").value == nil || f.at("else").value == nil {
			return
		}
		name := f.at("verb").value
		x := verbs.Exclusion{Verb: l.verbNamed[name.Value], Param: -1, Other: -1, Before: f.text("when") == "before", Else: f.text("else"), Place: d.place(n)}
		if domain, _, ok := cutLast(v.Name); ok && x.Verb == nil {
			x.Verb = l.verbNamed[domain+"."+name.Value]
		}
		if x.Verb != nil && x.Verb.Name != name.Value {
			d.use(name, 0, len(name.Value), VerbThing, x.Verb.Name, false, true, nil)
		} else {
			l.verbOf(d, name)
		}
		if x.Verb == nil {
			d.report(tell(d.place(name), "unknown-verb", name.Value, l.verbNamed))
			return
		}
		if same := f.at("same").value; same != nil {
			for _, of := range []struct {
				verb  *verbs.Verb
				param *int
			}{{v, &x.Param}, {x.Verb, &x.Other}} {
				if *of.param = d.paramAt(of.verb, same); *of.param < 0 {
					d.report(unknownArgument(d.place(same), of.verb, same.Value))
					return
				}
			}
		}
		v.Excludes = append(v.Excludes, x)
	})
}

// cutLast splits a name at its last dot.
func cutLast(name string) (before, after string, ok bool) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return "", name, false
	}
	return name[:i], name[i+1:], true
}

// maxUses is how many uses a limit can count: their times are stored.
const maxUses = 1000

// usage reads how often a verb may be used.
func (l *loader) usage(vn *verbNode) {
	d, v := vn.d, vn.v
	list := vn.f.at("limits")
	d.filled(list)
	d.each(list, func(n *yaml.Node) {
		f, ok := d.fields(n, "limit")
		if !ok {
			return
		}
		limit := verbs.Limit{Everyone: f.text("of") == "everyone", Refused: f.text("refused") == "counts", Else: f.text("else"), Place: d.place(n)}
		if limit.AtMost, ok = d.integer(f.at("at-most"), 1); !ok {
			return
		}
		if limit.AtMost > maxUses {
			d.report(tell(d.place(f.at("at-most").value), "contradiction", "a limit counts 1000 uses at most", "say less within a shorter time", dsl.Place{}, ""))
			return
		}
		if d.lasting(f.at("within").value, &limit.Within); limit.Within > 0 {
			v.Limits = append(v.Limits, limit)
		}
	})
}

func (l *loader) confirm(vn *verbNode) {
	d, v := vn.d, vn.v
	n := vn.f.at("confirm").value
	if n == nil {
		return
	}
	if n.Kind == yaml.ScalarNode {
		switch n.Value {
		case "never":
		case "always":
			v.Confirm = []verbs.Confirm{{Always: true, Place: d.place(n)}}
		default:
			d.report(tell(d.place(n), "unknown-word/confirm", n.Value, []string{"never", "always"}))
		}
		return
	}
	if len(n.Content) == 0 {
		d.report(tell(d.place(n), "nothing-written/list", "confirm"))
	}
	for _, n := range n.Content {
		if n.Kind == poisoned {
			continue
		}
		if n.Kind == yaml.ScalarNode {
			switch n.Value {
			case "always":
				v.Confirm = append(v.Confirm, verbs.Confirm{Always: true, Place: d.place(n)})
			case "never":
				d.report(tell(d.place(n), "contradiction", "never stands beside other rules", "rules add up, so `never` can only stand alone: confirm: never", dsl.Place{}, ""))
			default:
				d.report(tell(d.place(n), "unknown-word", "confirm", n.Value, []string{"always"}))
			}
			continue
		}
		f, ok := d.fields(n, "confirmation")
		if !ok {
			continue
		}
		c := verbs.Confirm{Place: d.place(n), Reason: f.text("reason")}
		if w := f.at("when"); w.value != nil {
			c.When = l.compile(d, w.value, scope{verb: v}, wantBoolean, nil)
			c.Place = d.place(w.value)
		}
		c.Always = f.at("when").key == nil
		l.agreement(d, &c, f)
		v.Confirm = append(v.Confirm, c)
	}
}

// ofPerson is what `by:` says instead of a role to take the agreement of whoever asks only from
// a person who is signed in, and loginLasts is how long a login lasts.
const (
	ofPerson   = "person"
	loginLasts = 12 * 60 * 60
)

// agreement reads who must agree, and how long the confirmation stays open.
func (l *loader) agreement(d *doc, c *verbs.Confirm, f mapping) {
	by, programs := f.at("by").value, f.at("programs")
	d.lasting(f.at("expires").value, &c.Expires)
	d.lasting(f.at("signed-in").value, &c.SignedIn)
	c.Programs = f.boolean("programs")
	person := by != nil && by.Value == ofPerson && named(d, l.roleNamed, ofPerson) == nil
	switch {
	case person && c.SignedIn == 0:
		c.SignedIn = loginLasts
	case by != nil && !person:
		if c.By = l.roleOf(d, by); c.By == nil {
			d.report(unknownRole(d.place(by), by.Value, l.roles, "as it stands, nobody could ever agree to this verb"))
		}
	}
	switch {
	case !c.Programs:
	case by == nil || person:
		d.report(tell(d.place(programs.key), "contradiction", "`programs` is about the agreement of somebody else, and this rule asks whoever makes the call", "name a role with `by`, or leave it out", dsl.Place{}, ""))
	case c.SignedIn > 0:
		d.report(tell(d.place(programs.key), "contradiction", "no program ever signed in, so that none could agree", "leave out `programs` or `signed-in`", d.place(f.at("signed-in").key), "the sign-in is asked for here"))
	}
}

var anyDigits = regexp.MustCompile("[0-9]+")

// lasting reads a duration of at least a second.
func (d *doc) lasting(n *yaml.Node, into *int64) {
	if n == nil {
		return
	}
	dur, ok := verbs.ParseDuration(n.Value)
	if _, short := verbs.ParseDuration(anyDigits.ReplaceAllString(n.Value, "1")); !ok && short {
		d.report(tell(d.place(n), "bad-duration/long", n.Value))
		return
	}
	if !ok || dur.Duration().Seconds() < 1 {
		d.report(tell(d.place(n), "bad-duration", n.Value))
		return
	}
	*into = int64(dur.Duration().Seconds())
}

// retry reads how often a job or a tool call is tried.
func (d *doc) retry(p pair) *stores.Retry {
	if p.value == nil {
		return nil
	}
	f, ok := d.fields(p.value, "retry")
	if !ok {
		return nil
	}
	r := &stores.Retry{Factor: 2, Longest: time.Hour}
	var first, longest int64
	for key, n := range map[string]struct {
		into *int
		most int
	}{"attempts": {&r.Attempts, 50}, "factor": {&r.Factor, 10}} {
		is, ok := d.integer(f.at(key), 1)
		switch {
		case !ok:
		case is > n.most:
			d.report(tell(d.place(f.at(key).value), "contradiction", fmt.Sprintf("%s is %d at most", key, n.most), "say less", dsl.Place{}, ""))
		default:
			*n.into = is
		}
	}
	d.lasting(f.at("first").value, &first)
	d.lasting(f.at("longest").value, &longest)
	if r.First = time.Duration(first) * time.Second; longest > 0 {
		r.Longest = time.Duration(longest) * time.Second
	}
	if r.First > r.Longest {
		d.report(tell(d.place(f.at("first").value), "contradiction", "the first wait is longer than the longest", "make longest at least as long", d.place(f.at("longest").key), "the longest is said here"))
	}
	return r
}

// otherwise reads what happens to a value whose origin the argument does not accept.
func (l *loader) otherwise(d *doc, p *verbs.Param, f mapping) {
	n := f.at("otherwise").value
	switch {
	case n == nil:
	case f.at("from").value == nil:
		d.report(tell(d.place(f.at("otherwise").key), "contradiction", ":"+p.Name+" says what happens otherwise, and accepts a value from anywhere", "say with `from` where it should come from", dsl.Place{}, ""))
		return
	case n.Kind == yaml.ScalarNode:
		switch n.Value {
		case "refuse":
		case "ask":
			p.Otherwise = &verbs.Confirm{Always: true, Place: d.place(n)}
		default:
			d.report(tell(d.place(n), "unknown-word", "otherwise", n.Value, []string{"refuse", "ask"}))
		}
	default:
		if o, ok := d.fields(n, "otherwise"); ok {
			p.Otherwise = &verbs.Confirm{Always: true, Place: d.place(n), Reason: o.text("reason")}
			l.agreement(d, p.Otherwise, o)
		}
	}
	if p.From != 0 && p.From&verbs.FromScript == 0 && p.Otherwise == nil && f.at("default").value != nil {
		d.report(tell(d.place(f.at("default").key), "contradiction", "the default of :"+p.Name+" can never be used", "a default is the palette author's own, which is as a script's; add script to from, or leave the default out",
			d.place(f.at("from").key), "it must come from "+p.From.Wanted()))
	}
}
