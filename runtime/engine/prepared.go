package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/internal/provenance"
	"verbatim/runtime/protocols/tools"
	"verbatim/stores"
	"verbatim/verbs"
)

// A prepared is what a verb comes to on one engine: what its palette, the handlers and the store
// settle before any call of it. New makes one for each verb, and nothing changes it afterwards.
type prepared struct {
	verb    *verbs.Verb
	handler *handler
	looker  *handler        // looks for the verb, also where its caller does not see
	script  *verbs.Program  // of a macro
	inside  []*verbs.Verb   // of a macro, or a handler that makes calls: every verb that it uses, however deep, once
	tools   []*verbs.Verb   // the verbs with tools among it and those inside
	unfit   *dsl.Diagnostic // why its query cannot be run; nil if it can
	ahead   []wants         // parallel to the arguments: what it reads along references from them
	selects *selections     // of a read: what is asked of the store

	checks  checks
	answers func(ctx context.Context, r *source, st *step) (*table, error) // what it gives back; nil where it gives nothing

	atOnce   bool // its read needs no row first: see canPostpone
	reads    bool // it and the verbs inside promise nothing but an answer
	recorded bool // it, or a verb inside, is journalled even though it only reads
	personal bool // its calls may hold personal data: see journaledCall
}

// Checks are the concerns of a verb that not every verb has.
type checks struct {
	early []check // what must hold before its arguments are resolved
	late  []check // what must hold of its resolved arguments
	needs []need  // what has to be asked before it can be planned
	makes []need  // what is made of what it did: jobs, a file

	unheard []check // who is asked about a call that a model wrote and nobody heard
}

// A check is a concern that only some verbs have: it refuses a call, or lets it pass.
type check func(ctx context.Context, r *run, st *step) error

// A need returns a request without whose answer a call cannot be planned, nil if it has the answer.
type need func(ctx context.Context, r *run, st *step) (*externalCall, error)

// prepare makes the prepared values of all verbs. The diagnostics point into the YAML.
func (e *Engine) prepare(h *Handlers) (ds dsl.Diagnostics, err error) {
	all := slices.Clone(e.reg.Verbs())
	for _, v := range e.reg.Verbs() {
		if v.Undo != nil && v.Undo.Back != nil {
			all = append(all, v.Undo.Back) // no palette declares it
		}
	}
	e.verbs = make(map[*verbs.Verb]*prepared, len(all))
	for _, v := range all {
		e.verbs[v] = &prepared{verb: v}
	}
	ds = joinHandlers(e, h)
	unfit, err := unfitQueries(context.Background(), e.reg, e.store)
	if err != nil {
		return nil, err
	}
	var excluded map[*verbs.Verb][]exclusionSide
	if e.reg.Excludes() {
		excluded = exclusions(all)
	}
	hides := slices.ContainsFunc(all, tellsOnceDone)
	for _, v := range all {
		p := e.verbs[v]
		if d, is := unfit[v]; is {
			p.unfit = &d
		}
		if v.Macro != nil {
			var found dsl.Diagnostics
			p.script, found = e.reg.CheckMacro(v)
			ds = append(ds, slices.DeleteFunc(found, func(d dsl.Diagnostic) bool { return d.Severity != dsl.Error })...)
		}
		p.ahead, p.atOnce = predictedReads(e, v), p.readsAtOnce()
		if v.Read != nil {
			p.selects = e.selections(v.Read)
		}
		p.check(e.reg, hides, excluded[v])
	}
	if ds.HasErrors() {
		return ds, nil
	}
	for _, v := range all {
		e.usedBy(v)
	}
	if ds := e.findGenerated(); ds.HasErrors() {
		return ds, nil
	}
	e.catalog.personal = slices.ContainsFunc(e.catalog.entities, personalLabel)
	for _, v := range all {
		p := e.verbs[v]
		with := append([]*verbs.Verb{v}, p.inside...)
		p.reads = !slices.ContainsFunc(with, func(v *verbs.Verb) bool { return !v.Answers() })
		p.recorded = slices.ContainsFunc(with, onRecord)
		p.personal = v.Undoes == nil && slices.ContainsFunc(with, func(v *verbs.Verb) bool { return isPersonal(e, v) })
		for _, inner := range with {
			if inner.Tool != nil {
				p.tools = append(p.tools, inner)
			}
		}
		if len(p.tools) > 0 && e.box == nil {
			e.box = tools.NewBox(e.opt.Tools, e.reg)
		}
	}
	return nil, nil
}

// check lists the concerns of a verb. hides says that a preview may hide the result of some verb.
func (p *prepared) check(reg *verbs.Registry, hides bool, excluded []exclusionSide) {
	if hides {
		p.checks.early = append(p.checks.early, previewable)
	}
	if len(p.verb.Limits) > 0 {
		p.checks.early = append(p.checks.early, limit)
	}
	if p.verb.Tool != nil && p.handler == nil {
		p.checks.needs = append(p.checks.needs, needTool)
	}
	if p.verb.Matching != nil {
		p.checks.needs = append(p.checks.needs, embedding)
	}
	if p.verb.Undoes != nil || slices.ContainsFunc(p.verb.Effects, func(f verbs.Effect) bool { return f.Run != nil }) {
		p.checks.makes = append(p.checks.makes, func(ctx context.Context, r *run, st *step) (*externalCall, error) { return nil, later(ctx, r, st) })
	}
	if p.verb.Read != nil && p.verb.Read.File != "" {
		p.checks.makes = append(p.checks.makes, filesOf)
	}
	if !reg.OnlyReads(p.verb) {
		p.checks.unheard = append(p.checks.unheard, unheard)
	}
	switch {
	case p.verb.Read != nil:
		p.answers = func(ctx context.Context, r *source, st *step) (*table, error) { return r.find(ctx, st) }
	case p.verb.Query != nil:
		p.answers = func(ctx context.Context, r *source, st *step) (*table, error) { return r.query(ctx, st) }
	case len(p.verb.Discloses) > 0:
		p.answers = disclose
	}
	if excluded != nil {
		p.checks.late = append(p.checks.late, func(_ context.Context, r *run, st *step) error { return together(r, st, excluded) })
	}
}

// usedBy finds the verbs that a macro uses. Nested macros multiply their calls, so each macro is
// visited once.
func (e *Engine) usedBy(v *verbs.Verb) []*verbs.Verb {
	p := e.verbs[v]
	if p.inside != nil || p.script == nil {
		return p.inside
	}
	p.inside = []*verbs.Verb{} // loading refused circles; this would end one
	calls := p.script.Calls()
	var all []*verbs.Verb
	for i := range calls {
		for _, inner := range append([]*verbs.Verb{calls[i].Verb}, e.usedBy(calls[i].Verb)...) {
			if !slices.Contains(all, inner) {
				all = append(all, inner)
			}
		}
	}
	p.inside = all
	return all
}

// uses reports whether a verb, or one that it uses, has a property.
func (p *prepared) uses(has func(*verbs.Verb) bool) bool {
	return has(p.verb) || slices.ContainsFunc(p.inside, has)
}

// CheckQueries lists the queries of palettes that cannot run on a store that has their tables.
// An engine refuses their verbs, and no others.
func CheckQueries(ctx context.Context, reg *verbs.Registry, store stores.Store) (ds dsl.Diagnostics, err error) {
	unfit, err := unfitQueries(ctx, reg, store)
	for _, v := range reg.Verbs() {
		if d, ok := unfit[v]; ok {
			ds = append(ds, d)
		}
	}
	return ds, err
}

// Unfit lists the queries of its palettes that an engine cannot run.
func (e *Engine) Unfit() (ds dsl.Diagnostics) {
	for _, v := range e.reg.Verbs() {
		if d := e.verbs[v].unfit; d != nil {
			ds = append(ds, *d)
		}
	}
	return ds
}

func unfitQueries(ctx context.Context, reg *verbs.Registry, store stores.Store) (map[*verbs.Verb]dsl.Diagnostic, error) {
	var tables []*stores.Entity
	for _, e := range reg.Entities() {
		tables = append(tables, e.Store)
	}
	unfit := make(map[*verbs.Verb]dsl.Diagnostic)
	for _, v := range reg.Verbs() {
		if v.Query == nil {
			continue
		}
		err := store.CheckSQL(ctx, tables, queryOf(v, nil))
		var wrong *stores.SQLError
		switch {
		case errors.As(err, &wrong):
			unfit[v] = tell(v.Query.PlaceOf(wrong.Offset), "bad-query", v.Name, wrong)
		case err != nil:
			return nil, fmt.Errorf("the query of %s: %w", v.Name, err)
		}
	}
	return unfit, nil
}

// An exclusionSide is one side of an exclusion: how calls of one verb stand to those of another.
type exclusionSide struct {
	with         *verbs.Verb
	mine, theirs int  // indexes of the arguments that must be equal; -1 where none has to be
	after        bool // the call may not come after one of the other verb
	rule         *verbs.Exclusion
	of           *verbs.Verb // the verb that declares it
}

// exclusions collects, for each verb, the exclusions that it is part of.
func exclusions(all []*verbs.Verb) map[*verbs.Verb][]exclusionSide {
	by := make(map[*verbs.Verb][]exclusionSide)
	for _, v := range all {
		for i := range v.Excludes {
			x := &v.Excludes[i]
			by[v] = append(by[v], exclusionSide{x.Verb, x.Param, x.Other, true, x, v})
			by[x.Verb] = append(by[x.Verb], exclusionSide{v, x.Other, x.Param, !x.Before, x, v})
		}
	}
	return by
}

// A metCall is a call of this run that excludes other calls.
type metCall struct {
	verb  *verbs.Verb
	param int
	value stores.Value
}

// together refuses a call that an earlier call of the run excludes, whether the script, a macro or
// a handler made that one.
func together(r *run, st *step, all []exclusionSide) error {
	value := func(param int) (stores.Value, bool) {
		if param < 0 {
			return stores.Value{}, true
		}
		return st.args.values[param], !st.args.values[param].IsNull()
	}
	for i := range all {
		x := &all[i]
		if v, ok := value(x.mine); ok && x.after && r.met.calls[metCall{x.with, x.theirs, v}] {
			return st.refuse("not-together", x.rule.Else, x.rule, x.of.Name, x.rule.Verb.Name)
		}
	}
	if r.met.calls == nil {
		r.met.calls = make(map[metCall]bool)
	}
	for i := range all {
		if v, ok := value(all[i].mine); ok {
			r.met.calls[metCall{st.verb, all[i].mine, v}] = true
		}
	}
	return nil
}

// generates returns the verb that an effect promises to call, or the field whose calls it
// promises to make; "" for other effects.
func generates(e *verbs.Effect) string {
	if e.Kind != verbs.Generates || len(e.Operand.Path) < 2 {
		return ""
	}
	return strings.Join(e.Operand.Path, ".")
}

// findGenerated notes the verbs that each verb may call through its handler, as is done for macros.
func (e *Engine) findGenerated() dsl.Diagnostics {
	var ds dsl.Diagnostics
	for _, v := range e.reg.Verbs() {
		for i := range v.Effects {
			name := generates(&v.Effects[i])
			if name == "" || e.keepsCalls(v.Effects[i].Operand.Path) {
				continue
			}
			inner := e.reg.Verb(name)
			if inner != nil && inner.Internal {
				ds = append(ds, tell(v.Effects[i].Place, "generates-unknown/internal", v.Name, inner.Name))
				continue
			}
			if inner == nil || inner == v {
				ds = append(ds, generatesUnknown(&v.Effects[i], v, name, nearVerbs(e.reg, name)))
				continue
			}
			e.verbs[v].inside = append(append(e.verbs[v].inside, inner), e.verbs[inner].inside...)
		}
	}
	return ds
}

// keepsCalls reports whether a path names a field of an entity that holds calls.
func (e *Engine) keepsCalls(path []string) bool {
	entity := e.reg.Entity(path[0])
	if entity == nil || len(path) != 2 {
		return false
	}
	i := entity.Store.FieldIndex(path[1])
	return i >= 0 && entity.Fields[i].Type != nil && entity.Fields[i].Type.Name == verbs.CallType
}

// selections works out what a read asks of the store.
func (e *Engine) selections(read *verbs.Read) *selections {
	fields := read.Fields
	if read.Weigh != nil {
		fields = append(fields[:len(fields):len(fields)], *read.Weigh)
	}
	all := &selections{rows: e.selection(read.Entity, fields)}
	for i := range read.Lists {
		list := &read.Lists[i]
		all.lists = append(all.lists, e.selection(list.Entity, list.Fields, list.By))
	}
	return all
}

func (e *Engine) selection(of *verbs.Entity, fields []verbs.ReadField, more ...stores.Path) *selection {
	s := &selection{of: of, paths: append([]stores.Path{{Field: of.Store.Key}}, more...), fields: make([]selectedField, len(fields))}
	for i := range fields {
		g := &s.fields[i]
		g.ReadField = &fields[i]
		switch g.From {
		case verbs.FromPath, verbs.FromCodes:
			g.at = len(s.paths)
			s.paths = append(s.paths, g.Path)
			if g.From == verbs.FromPath {
				g.to = pathEnd(e, of.Store, g.Path)
			}
		case verbs.FromExpr:
			s.works = true
			g.row = make([]int, len(g.Expr.Reads))
			for j, read := range g.Expr.Reads {
				g.row[j] = -1
				if read.Param == verbs.OfRow {
					g.row[j] = len(s.paths)
					s.paths = append(s.paths, read.Path)
				}
			}
		}
	}
	s.all, s.marks = provenance.WithMarks(of.Store, s.paths)
	return s
}
