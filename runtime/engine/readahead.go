package engine

import (
	"slices"
	"strings"

	"verbatim/runtime/internal/provenance"
	"verbatim/runtime/internal/view"
	"verbatim/runtime/state/uploads"
	"verbatim/stores"
	"verbatim/verbs"
)

// Read-ahead. Most reads of a call are known before it begins: the rows that it names, the fields
// along references from them that its conditions, values and notices use, and the fields that the
// labels of added rows use. A view may read them together, before the first call.

// wants lists what a verb reads along references from the row of one argument.
type wants struct {
	locked []stores.Path     // that its conditions and values use
	names  []stores.Path     // that the labels of added rows use
	adding []conditionalPath // the same, of rows that are added where a condition holds
}

// A conditionalPath is a path for the label of a row that is added only if a condition holds.
type conditionalPath struct {
	when *verbs.Expr // depends on arguments alone
	path stores.Path
}

// predictedReads works out what a verb reads from the row of each argument.
func (e *Engine) predictedReads(v *verbs.Verb) []wants {
	all := make([]wants, len(v.Params))
	add := func(to *[]stores.Path, p stores.Path) {
		if (len(p.Steps) > 0 || p.Count != nil) && !slices.ContainsFunc(*to, func(have stores.Path) bool { return have.Is(p) }) {
			*to = append(*to, p)
		}
	}
	reads := func(x *verbs.Expr, row int) {
		if x == nil {
			return
		}
		for _, read := range x.Reads {
			of := read.Param
			if of == verbs.OfRow {
				of = row
			}
			if of >= 0 && read.Part == 0 {
				add(&all[of].locked, read.Path)
			}
		}
	}
	for i := range v.Requires {
		reads(v.Requires[i].That, -1)
		if rows := v.Requires[i].Rows; rows != nil && rows.Where.Filter != nil {
			for _, read := range rows.Where.Filter.Reads {
				if read.Param >= 0 && read.Part == 0 {
					add(&all[read.Param].locked, read.Path)
				}
			}
		}
	}
	for i := range v.Confirm {
		reads(v.Confirm[i].When, -1)
	}
	for i := range v.Effects {
		f := &v.Effects[i]
		row := -1 // the argument whose row the effect's own expressions read
		if f.Where != nil {
			var one bool
			if row, one = f.Where.One(); !one {
				continue
			}
		}
		reads(f.When, row)
		if f.When == nil { // its values are evaluated only where the condition holds
			for j := range f.Set {
				reads(f.Set[j].Value, row)
			}
			for j := range f.With {
				reads(f.With[j].Value, row)
			}
			reads(f.Value, row)
			reads(f.At, row)
		}
		if !f.Adds() || f.When != nil && len(f.When.Reads) > 0 {
			continue
		}
		for _, s := range f.Set {
			param, alone := s.Value.ArgOnly()
			to := f.Entity.Store.Fields[s.Field].Ref
			if !alone || to == nil {
				continue
			}
			for _, p := range e.catalog.labels[f.Entity] {
				if len(p.Steps) == 0 || p.Steps[0].Field != s.Field {
					continue
				}
				rest := stores.Path{Steps: p.Steps[1:], Field: p.Field, Count: p.Count, By: p.By}
				switch {
				case f.When == nil:
					add(&all[param].names, rest)
				case len(rest.Steps) > 0 || rest.Count != nil: // the row itself is read anyhow
					all[param].adding = append(all[param].adding, conditionalPath{f.When, rest})
				}
			}
		}
	}
	return all
}

// wanted lists the rows that the calls of a script name, and the paths that they read from
// them. A missing row is reported later, at the call that names it.
func (r *run) wanted() []view.Want {
	calls, order := r.plan.prog.Calls(), r.plan.prog.Order()
	if r.plan.part != nil {
		order = r.plan.part.calls
	}
	var wants []view.Want
	for _, i := range order {
		c := &calls[i]
		for j := range c.Args {
			if p := &c.Verb.Params[j]; p.Upload != nil && !r.src.snapshot && c.Args[j].Kind == verbs.Literal {
				if id, ok := strings.CutPrefix(c.Args[j].Value.Text(), verbs.UploadScheme); ok {
					wants = append(wants, view.Want{Row: view.RowKey{Entity: uploads.Entity, Key: stores.NewString(id)}})
				}
			}
			e, key := rowOf(r.plan.prog, c, j)
			if e == nil || !e.Managed && !r.src.snapshot && len(order) >= view.Few {
				continue // the first change of a mapped table would discard its rows
			}
			want := view.Want{Row: view.RowKey{Entity: e, Key: key}}
			if along := &r.src.e.verbs[c.Verb].ahead[j]; !r.src.snapshot {
				if len(along.locked) > 0 {
					paths, _ := provenance.WithMarks(e, along.locked)
					want.Along = append(want.Along, view.Paths{Paths: paths, Hold: r.src.holdsAs(stores.Shared)})
				}
				if names := r.labelled(c, along); len(names) > 0 {
					paths, _ := provenance.WithMarks(e, names)
					want.Along = append(want.Along, view.Paths{Paths: paths})
				}
			}
			wants = append(wants, want)
		}
	}
	return wants
}

// labelled lists the paths from the row of an argument that the labels of added rows use.
func (r *run) labelled(c *verbs.Call, along *wants) []stores.Path {
	if len(along.adding) == 0 {
		return along.names
	}
	st := r.known(c)
	if st == nil {
		return along.names
	}
	names, env := slices.Clip(along.names), r.argued(st)
	for _, a := range along.adding {
		if fires(a.when, env) && !slices.ContainsFunc(names, a.path.Is) {
			names = append(names, a.path)
		}
	}
	return names
}

// known returns a step for a call if all its arguments are known before it begins, and nil
// otherwise.
func (r *run) known(c *verbs.Call) *step {
	st := &step{verb: c.Verb, args: arguments{values: make([]stores.Value, len(c.Args)), rows: make([]stores.Row, len(c.Args))}}
	for i := range c.Args {
		e, key := rowOf(r.plan.prog, c, i)
		switch {
		case e != nil:
			st.args.rows[i].Entity, st.args.values[i] = e, key
		case c.Args[i].Kind == verbs.Literal:
			st.args.values[i] = c.Args[i].Value
		case c.Args[i].Kind != verbs.Absent:
			return nil
		}
	}
	return st
}

// argued returns the environment of expressions that depend on arguments alone.
func (r *run) argued(st *step) verbs.Env {
	return verbs.Env{Args: st.args.values, Principal: r.src.s.who.Name, Now: r.src.now, Outside: r.src.e.outside}
}

// predictedAsks lists the queries that a program of one call is going to make, as far as they depend on
// its arguments alone: for the rows that its effects pick, and for the jobs that its own jobs
// replace.
func (r *run) predictedAsks() (asks []stores.Ask) {
	if r.plan.part != nil || len(r.plan.prog.Calls()) != 1 || r.src.snapshot {
		return nil
	}
	c := &r.plan.prog.Calls()[0]
	st := r.known(c)
	if st == nil {
		return nil
	}
	env := r.argued(st)
	for i := range c.Verb.Effects {
		f := &c.Verb.Effects[i]
		switch {
		case f.Each != nil:
		case f.Run != nil && len(f.Key) > 0 && f.Again != verbs.Keep:
			if f.When == nil || len(f.When.Reads) == 0 && fires(f.When, env) {
				asks = append(asks, stores.Ask{Jobs: waitingUnder(r.src.workKey(st, &notice{effect: f, target: noticeTarget(f)}))})
			}
		case f.OnRows() && f.Where != nil && f.Where.Filter != nil && len(f.Where.Filter.Reads) == 0:
			if where, err := f.Where.Filter.Cond(env); err == nil { // if it fails, it fails again when the call is made
				find := r.src.picking(f.Entity.Store, &where)
				asks = append(asks, stores.Ask{Find: &find})
			}
		}
	}
	return asks
}

// fires reports whether a condition that depends on arguments alone holds.
func fires(x *verbs.Expr, env verbs.Env) bool {
	v, err := x.Eval(env)
	return err == nil && v.Bool()
}

// rowOf returns the row that an argument names, if that is known before the call begins; a nil
// entity otherwise.
func rowOf(p *verbs.Program, c *verbs.Call, arg int) (*stores.Entity, stores.Value) {
	t := c.Verb.Params[arg].Type
	if t == nil || t.Name != verbs.RefType || t.Entity == nil {
		return nil, stores.Value{}
	}
	e := t.Entity.Store
	var key stores.Value
	known := true
	switch a := &c.Args[arg]; a.Kind {
	case verbs.Literal:
		key = a.Value
		if kind := e.Fields[e.Key].Kind; key.Kind() != kind && !key.IsNull() {
			key, known = stores.Parse(kind, key.Text())
		}
	case verbs.Name:
		if known = a.Path() == ""; known {
			row, bound := p.Bound(a)
			key, known = row.Key, bound
		}
	default:
		known = false
	}
	if !known || key.IsNull() {
		return nil, stores.Value{}
	}
	return e, key
}
