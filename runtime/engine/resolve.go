package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
)

// A frame is a program being run: the one that was asked for, or the script of a macro, whose
// symbols are the arguments of the macro's call.
type frame struct {
	prog  *verbs.Program
	steps []*step // parallel to prog.Calls(); nil until carried out
	macro *step   // the call of the macro, or of the handler that made this; nil for the program itself
	made  bool    // a handler made it: its names are the session's
}

// A resolvedArg is a resolved argument: its value, its row if it is a reference, and its origin.
type resolvedArg struct {
	value     stores.Value
	entity    *verbs.Entity // of a reference, if the entity is known
	row       stores.Row    // of a reference: the row itself, within scope
	sensitive bool          // it was taken from something sensitive
	partly    bool          // it is a record, and so are its sensitive parts alone
	left      bool          // an argument of a macro that was left out
	from      verbs.Origin
}

// resolve resolves the arguments of a call: literals are taken as they are, names and results become
// values, and references become rows within scope. A row out of scope gets the same answer as a row
// that does not exist.
func (r *source) resolve(ctx context.Context, f *frame, st *step, c *verbs.Call) error {
	st.args.values = make([]stores.Value, len(c.Args))
	st.args.rows = make([]stores.Row, len(c.Args))
	st.args.from = make([]verbs.Origin, len(c.Args))
	var elsewhere []complaint
	for i := range c.Args {
		p := &st.verb.Params[i]
		st.resolving.accepts, st.resolving.trail = p.From, nil
		g, err := r.argument(ctx, f, st, p.Type, &c.Args[i], p.Name)
		if err == nil && p.Active && g.value.IsNull() {
			g, err = r.atWork(ctx, st, p, st.call.place)
		}
		if err == nil && p.DefaultDay != nil && c.Args[i].Syntax == nil && g.value.IsNull() {
			g = resolvedArg{value: p.DefaultDay.On(r.s.today(r.now)), from: f.said(&c.Args[i])}
			if !p.Sensitive {
				st.says(p.Name, dsl.NewDate(g.value.Text()))
			}
		}
		if err != nil {
			return err
		}
		if p.Required && g.value.IsNull() {
			return &complaint{st.call.index, gaveNothing(r.placeOfArg(f, st, &c.Args[i]), p.Name)}
		}
		st.args.values[i], st.args.rows[i], st.args.from[i] = g.value, g.row, g.from
		if p.Clear && g.value.IsNull() && c.Args[i].Syntax != nil && !g.left {
			st.args.emptied |= 1 << i
		}
		if g.sensitive || p.Sensitive {
			st.markSensitive(i)
		}
		if g.sensitive && !(g.partly && p.Partly) {
			st.args.taken |= 1 << i
		}
		if p.Upload != nil && !g.value.IsNull() {
			if err := r.upload(ctx, st, i, g.value, r.placeOfArg(f, st, &c.Args[i])); err != nil {
				return err
			}
		}
		if st.verb.Moves() {
			if err := p.Type.OnDay(r.s.today(r.now), g.value); err != nil {
				elsewhere = append(elsewhere, complaint{st.call.index, wrongValue(r.placeOfArg(f, st, &c.Args[i]), p.Name, err.Error())})
			}
		}
		if c := st.wants(i, g, r.placeOfArg(f, st, &c.Args[i])); c != nil {
			elsewhere = append(elsewhere, *c)
		}
	}
	if len(elsewhere) > 0 {
		return refuse(elsewhere)
	}
	return nil
}

// says adds an argument that the engine filled in to the text of the call in the journal, so that
// the text alone says what was done.
func (st *step) says(param string, v dsl.Value) {
	call := *st.call.syntax
	call.Args = append(call.Args[:len(call.Args):len(call.Args)], dsl.Arg{Key: param, Value: v})
	st.call.syntax, st.call.text = &call, dsl.FormatCall(&call)
}

func (r *source) argument(ctx context.Context, f *frame, st *step, t *verbs.Type, a *verbs.Arg, param string) (resolvedArg, error) {
	place := r.placeOfArg(f, st, a)
	switch a.Kind {
	case verbs.Literal:
		return r.referred(ctx, st, t, resolvedArg{value: a.Value, from: f.said(a)}, place, param)

	case verbs.Name:
		g, err := r.named(ctx, f, st, t, a, place, param)
		if err != nil {
			return resolvedArg{}, err
		}
		st.follow(f, a, g)
		return r.settleType(ctx, st, t, g, place, param)

	case verbs.Result:
		g, err := r.resulting(ctx, f, st, t, a, place)
		if err != nil {
			return resolvedArg{}, err
		}
		st.follow(f, a, g)
		return r.settleType(ctx, st, t, g, place, param)

	case verbs.Kept:
		texts := f.prog.Texts(a)
		values := make([]stores.Value, len(texts))
		for i := range texts {
			values[i] = stores.NewString(texts[i])
		}
		g := resolvedArg{value: stores.NewList(values...), from: f.said(a)}
		if t.Name != verbs.ListType {
			g.value = values[0]
		}
		return accept(st, t, g, place, param)

	case verbs.Listed, verbs.Mapped:
		values := make([]stores.Value, len(a.Items()))
		sensitive := false
		var came verbs.Origin
		for i := range a.Items() {
			g, err := r.argument(ctx, f, st, t.PartOf(a, i), &a.Items()[i], param)
			if err != nil {
				return resolvedArg{}, err
			}
			values[i] = g.value
			sensitive, came = sensitive || g.sensitive, came.Mix(g.from)
		}
		g := resolvedArg{value: stores.NewList(values...), sensitive: sensitive, from: came}
		if a.Kind == verbs.Mapped {
			g.value = stores.NewObject(a.Keys(), values)
		}
		if t != nil && t.Name == verbs.ListType && t.Item != nil && t.Item.Name == verbs.RefType {
			return g, nil // each item was accepted, and a key need not be a uuid
		}
		return accept(st, t, g, place, param)
	}
	return resolvedArg{}, nil
}

// placeOfArg returns the place of an argument; inside a macro, the place of the macro's call.
func (r *source) placeOfArg(f *frame, st *step, a *verbs.Arg) dsl.Place {
	if f.macro == nil && a.Syntax != nil {
		return dsl.Place{Source: f.prog.Script().Source, Range: a.Syntax.Range}
	}
	return st.call.place
}

// settleType checks a value that only the run knows against the type of its argument. The
// checker has done so for literals.
func (r *source) settleType(ctx context.Context, st *step, t *verbs.Type, g resolvedArg, place dsl.Place, param string) (resolvedArg, error) {
	g, err := r.referred(ctx, st, t, g, place, param)
	if err != nil || t == nil || t.Name == verbs.RefType || t.Name == verbs.ListType && t.Item != nil && t.Item.Name == verbs.RefType {
		return g, err
	}
	return accept(st, t, g, place, param)
}

// accept checks a value against a type. Only references may hold keys: no verb gets a key
// as text.
func accept(st *step, t *verbs.Type, g resolvedArg, place dsl.Place, param string) (resolvedArg, error) {
	if t == nil {
		return g, nil
	}
	v, err := t.Accept(g.value)
	if err != nil {
		return resolvedArg{}, &complaint{st.call.index, wrongValue(place, param, err.Error())}
	}
	g.value = v
	return g, nil
}

// referred fetches the rows that a value refers to, if its type is a reference.
func (r *source) referred(ctx context.Context, st *step, t *verbs.Type, g resolvedArg, place dsl.Place, param string) (resolvedArg, error) {
	switch {
	case t == nil || g.value.IsNull():
	case t.Name == verbs.RefType:
		if t.Entity != nil {
			g.entity = t.Entity
		}
		return r.reference(ctx, st, g, place, param)
	case t.Name == verbs.ListType && t.Item != nil && t.Item.Name == verbs.RefType && t.Item.Entity != nil:
		e := t.Item.Entity
		keys, err := g.value.Items(e.Store.Fields[e.Store.Key].Kind)
		if err != nil {
			return resolvedArg{}, &complaint{st.call.index, wrongValue(place, param, "a list of references is wanted")}
		}
		for _, key := range keys {
			if _, err := r.reference(ctx, st, resolvedArg{value: key, entity: e}, place, param); err != nil {
				return resolvedArg{}, err
			}
		}
	case t.Name == verbs.RecordType, t.Name == verbs.ListType && t.Item != nil && t.Item.Name == verbs.RecordType:
		return g, r.referredInside(ctx, st, t, g.value, place, param)
	}
	return g, nil
}

// reference fetches the row that a key names.
func (r *source) reference(ctx context.Context, st *step, g resolvedArg, place dsl.Place, param string) (resolvedArg, error) {
	candidates := r.e.catalog.entities
	if g.entity != nil {
		candidates = []*verbs.Entity{g.entity}
	}
	for _, e := range candidates {
		kind := e.Store.Fields[e.Store.Key].Kind
		key := g.value
		if key.Kind() != kind {
			var ok bool
			if key, ok = stores.Parse(kind, key.Text()); !ok {
				continue
			}
		}
		if len(candidates) == 1 && r.canPostpone(st, e.Store, key) {
			return resolvedArg{value: key, entity: e, row: r.postpone(st, e.Store, key), sensitive: g.sensitive, from: g.from}, nil
		}
		row, err := r.get(ctx, e.Store, key)
		if errors.Is(err, stores.ErrNotFound) {
			continue
		}
		if err != nil {
			return resolvedArg{}, err
		}
		return resolvedArg{value: key, entity: e, row: row, sensitive: g.sensitive, from: g.from}, nil
	}
	return resolvedArg{}, &complaint{st.call.index, unknownName(place, param)}
}

// named resolves a name: inside a macro to an argument of the macro, otherwise to a row that the
// session knows.
func (r *source) named(ctx context.Context, f *frame, st *step, t *verbs.Type, a *verbs.Arg, place dsl.Place, param string) (resolvedArg, error) {
	if f.macro != nil && !f.made {
		return r.ofMacro(ctx, f, st, a, place)
	}
	bound, ok := f.prog.Bound(a)
	if !ok {
		return resolvedArg{}, &complaint{st.call.index, unknownName(place, param)}
	}
	e := bound.Entity
	if a.Path() == "" {
		return resolvedArg{value: bound.Key, entity: e, from: f.said(a)}, nil
	}
	row, err := r.get(ctx, e.Store, bound.Key)
	if errors.Is(err, stores.ErrNotFound) {
		return resolvedArg{}, &complaint{st.call.index, unknownName(place, param)}
	}
	if err != nil {
		return resolvedArg{}, err
	}
	return r.follow(ctx, st, e, row, a.Name(), a.Path(), place)
}

// ofMacro resolves a name to an argument of the macro whose script is being run.
func (r *source) ofMacro(ctx context.Context, f *frame, st *step, a *verbs.Arg, place dsl.Place) (resolvedArg, error) {
	m := f.macro
	if of, ok := m.verb.Macro.ForEach(); ok && a.Name() == "each" {
		return r.ofItem(ctx, st, m.verb.Params[of].Type.Item, resolvedArg{value: m.sees.each.item, sensitive: m.isSensitive(of), partly: m.partly(of), from: m.args.from[of]}, a, place)
	}
	for i := range m.verb.Params {
		p := &m.verb.Params[i]
		if !sameWord(p.Name, a.Name()) {
			continue
		}
		g := resolvedArg{value: m.args.values[i], row: m.args.rows[i], sensitive: m.isSensitive(i), partly: m.partly(i), left: m.args.emptied&(1<<i) == 0, from: m.args.from[i]}
		if m.args.rows[i].Entity != nil {
			g.entity = r.e.reg.EntityOf(m.args.rows[i].Entity)
		}
		if a.Path() == "" || g.value.IsNull() {
			return g, nil
		}
		if p.Type.Name == verbs.RecordType {
			return r.ofRecord(ctx, st, p.Type, g, a, place)
		}
		if g.entity == nil {
			break
		}
		return r.follow(ctx, st, g.entity, g.row, a.Name(), a.Path(), place)
	}
	return resolvedArg{}, &complaint{st.call.index, noResult(place, a.Name(), "the script of "+m.verb.Name+" has no such argument")}
}

// resulting returns the result of an earlier call of the same script: the row that it
// added, changed or read, or a field of that row.
func (r *source) resulting(ctx context.Context, f *frame, st *step, t *verbs.Type, a *verbs.Arg, place dsl.Place) (resolvedArg, error) {
	from := f.steps[a.Call]
	symbol := from.call.syntax.As
	if symbol == "" {
		symbol = from.verb.Name
	}
	var want *verbs.Entity
	if t != nil && a.Path() == "" {
		want = t.Entity
	}
	entity, key, some := from.row(want)
	if t := from.out.cells; t != nil && t.late && (!some || a.Path() != "" && t.has(a.Path())) {
		return resolvedArg{}, &complaint{st.call.index, toolAnswersLater(place, symbol, from.verb.Name)}
	}
	if a.Path() == "" {
		switch {
		case some:
			return resolvedArg{value: key, entity: entity, from: from.rowOrigin(key)}, nil
		case from.out.cells != nil && len(from.out.cells.rows) == 1 && len(from.out.cells.columns) == 1:
			cell := from.out.cells.rows[0][0]
			return resolvedArg{value: cell.value, entity: cell.entity, sensitive: from.out.cells.columns[0].sensitive, from: cell.from}, nil
		case from.out.cells != nil && len(from.out.cells.rows) > 1:
			return resolvedArg{}, &complaint{st.call.index, noResult(place, symbol, fmt.Sprintf("%s gave %d rows", from.verb.Name, len(from.out.cells.rows)))}
		}
		return resolvedArg{}, &complaint{st.call.index, noResult(place, symbol, from.verb.Name+" gave no row")}
	}
	step, rest, more := strings.Cut(a.Path(), ".")
	if from.out.cells != nil {
		for i, column := range from.out.cells.columns {
			if !sameWord(column.name, step) {
				continue
			}
			if n := len(from.out.cells.rows); n != 1 {
				return resolvedArg{}, &complaint{st.call.index, noResult(place, symbol, fmt.Sprintf("%s gave %d rows", from.verb.Name, n))}
			}
			cell := from.out.cells.rows[0][i]
			if !more {
				return resolvedArg{value: cell.value, entity: cell.entity, sensitive: column.sensitive, from: cell.from}, nil
			}
			if cell.entity == nil || cell.value.IsNull() {
				return resolvedArg{}, nil
			}
			row, err := r.get(ctx, cell.entity.Store, cell.value)
			if err != nil {
				return resolvedArg{}, err
			}
			return r.follow(ctx, st, cell.entity, row, symbol, rest, place)
		}
	}
	if !some {
		return resolvedArg{}, &complaint{st.call.index, noResult(place, symbol, from.verb.Name+" gave no row")}
	}
	row, err := r.get(ctx, entity.Store, key)
	if err != nil {
		return resolvedArg{}, err
	}
	return r.follow(ctx, st, entity, row, symbol, a.Path(), place)
}

// has reports whether a path begins with one of the columns.
func (t *table) has(path string) bool {
	step, _, _ := strings.Cut(path, ".")
	return slices.ContainsFunc(t.columns, func(c column) bool { return sameWord(c.name, step) })
}

// follow reads along a path such as "workstream.entity.name", from a row.
func (r *source) follow(ctx context.Context, st *step, e *verbs.Entity, row stores.Row, symbol, path string, place dsl.Place) (resolvedArg, error) {
	p, to, ok := r.path(e, path)
	if !ok {
		return resolvedArg{}, &complaint{st.call.index, noResult(place, symbol, "it has no "+path)}
	}
	g := resolvedArg{entity: to, sensitive: sensitivePath(e.Store, p)}
	if len(p.Steps) == 0 {
		g.value, g.from = row.Values[p.Field], r.s.from.Field(&row, p.Field)
		return g, nil
	}
	values, came, err := r.fields(ctx, e.Store, row.Key(), []stores.Path{p})
	if err != nil {
		return resolvedArg{}, err
	}
	g.value, g.from = values[0], came[0]
	return g, nil
}

// path turns words into a Path. If the path ends at a reference or a key, it also returns the
// entity of that.
func (r *source) path(e *verbs.Entity, words string) (p stores.Path, to *verbs.Entity, ok bool) {
	at := e.Store
	for {
		word, rest, more := strings.Cut(words, ".")
		i := -1
		for j := range at.Fields {
			if sameWord(at.Fields[j].Name, word) {
				i = j
			}
		}
		if i < 0 {
			return p, nil, false
		}
		if !more {
			p.Field = i
			return p, r.e.refersTo(at, i), true
		}
		if at.Fields[i].Ref == nil {
			return p, nil, false
		}
		p.Steps = append(p.Steps, stores.Step{Field: i, To: at.Fields[i].Ref})
		at, words = at.Fields[i].Ref, rest
	}
}

// refersTo returns the entity whose key a field holds, nil when it holds none.
func (e *Engine) refersTo(of *stores.Entity, field int) *verbs.Entity {
	if field == of.Key {
		return e.reg.EntityOf(of)
	}
	return e.reg.EntityOf(of.Fields[field].Ref)
}

// sameWord compares names: expected-date and expected_date are equal.
func sameWord(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := 0; i < len(a); i++ {
		x, y := a[i], b[i]
		if x == '_' {
			x = '-'
		}
		if y == '_' {
			y = '-'
		}
		if x != y {
			return false
		}
	}
	return true
}

// kindOf returns the kind of value that a type has, Null when it has several.
func kindOf(t verbs.TypeName) stores.Kind {
	switch t {
	case verbs.StringType, verbs.CodeType, verbs.EmailType, verbs.PhoneType, verbs.IBANType, verbs.BICType, verbs.LEIType, verbs.NationalIDType, verbs.CallType:
		return stores.String
	case verbs.IntegerType:
		return stores.Int
	case verbs.DecimalType:
		return stores.Decimal
	case verbs.BooleanType:
		return stores.Bool
	case verbs.DateType:
		return stores.Date
	case verbs.DateTimeType:
		return stores.Time
	case verbs.DurationType:
		return stores.Duration
	case verbs.UUIDType:
		return stores.UUID
	case verbs.MoneyType, verbs.ObjectType, verbs.ListType, verbs.RecordType:
		return stores.JSON
	}
	return stores.Null
}
