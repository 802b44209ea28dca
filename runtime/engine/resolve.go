package engine

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	goruntime "runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/internal/provenance"
	"verbatim/runtime/state/names"
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
	var elsewhere []callError
	for i := range c.Args {
		p := &st.verb.Params[i]
		st.resolving.accepts, st.resolving.trail = p.From, nil
		g, err := r.argument(ctx, f, st, p.Type, &c.Args[i], p.Name)
		if err == nil && p.Active && g.value.IsNull() {
			g, err = atWork(ctx, r, st, p, st.call.place)
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
			return &callError{st.call.index, tell(r.placeOfArg(f, st, &c.Args[i]), "wrong-value/nothing", p.Name)}
		}
		st.args.values[i], st.args.rows[i], st.args.from[i] = g.value, g.row, g.from
		if p.Clear && g.value.IsNull() && c.Args[i].Syntax != nil && !g.left {
			st.args.cleared |= 1 << i
		}
		if g.sensitive || p.Sensitive {
			st.markSensitive(i)
		}
		if g.sensitive && !(g.partly && p.Partly) {
			st.args.taken |= 1 << i
		}
		if p.Upload != nil && !g.value.IsNull() {
			if err := useUpload(ctx, r, st, i, g.value, r.placeOfArg(f, st, &c.Args[i])); err != nil {
				return err
			}
		}
		if st.verb.Moves() {
			if err := p.Type.OnDay(r.s.today(r.now), g.value); err != nil {
				elsewhere = append(elsewhere, callError{st.call.index, tell(r.placeOfArg(f, st, &c.Args[i]), "wrong-value", p.Name, err.Error())})
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
		g, err := r.named(ctx, f, st, a, place, param)
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
		return resolvedArg{}, &callError{st.call.index, tell(place, "wrong-value", param, err.Error())}
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
			return resolvedArg{}, &callError{st.call.index, tell(place, "wrong-value", param, "a list of references is wanted")}
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
		row, err := r.get(ctx, st, e.Store, key)
		if errors.Is(err, stores.ErrNotFound) {
			continue
		}
		if err != nil {
			return resolvedArg{}, err
		}
		return resolvedArg{value: key, entity: e, row: row, sensitive: g.sensitive, from: g.from}, nil
	}
	return resolvedArg{}, &callError{st.call.index, tell(place, "unknown-name", param)}
}

// named resolves a name: inside a macro to an argument of the macro, otherwise to a row that the
// session knows.
func (r *source) named(ctx context.Context, f *frame, st *step, a *verbs.Arg, place dsl.Place, param string) (resolvedArg, error) {
	if f.macro != nil && !f.made {
		return r.ofMacro(ctx, f, st, a, place)
	}
	bound, ok := f.prog.Bound(a)
	if !ok {
		return resolvedArg{}, &callError{st.call.index, tell(place, "unknown-name", param)}
	}
	e := bound.Entity
	if a.Path() == "" {
		return resolvedArg{value: bound.Key, entity: e, from: f.said(a)}, nil
	}
	row, err := r.get(ctx, st, e.Store, bound.Key)
	if errors.Is(err, stores.ErrNotFound) {
		return resolvedArg{}, &callError{st.call.index, tell(place, "unknown-name", param)}
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
		g := resolvedArg{value: m.args.values[i], row: m.args.rows[i], sensitive: m.isSensitive(i), partly: m.partly(i), left: m.args.cleared&(1<<i) == 0, from: m.args.from[i]}
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
	return resolvedArg{}, &callError{st.call.index, tell(place, "no-result", a.Name(), "the script of "+m.verb.Name+" has no such argument")}
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
		return resolvedArg{}, &callError{st.call.index, tell(place, "tool-answers-later", symbol, from.verb.Name)}
	}
	if a.Path() == "" {
		switch {
		case some:
			return resolvedArg{value: key, entity: entity, from: from.rowOrigin(key)}, nil
		case from.out.cells != nil && len(from.out.cells.rows) == 1 && len(from.out.cells.columns) == 1:
			cell := from.out.cells.rows[0][0]
			return resolvedArg{value: cell.value, entity: cell.entity, sensitive: from.out.cells.columns[0].sensitive, from: cell.from}, nil
		case from.out.cells != nil && len(from.out.cells.rows) > 1:
			return resolvedArg{}, &callError{st.call.index, tell(place, "no-result", symbol, fmt.Sprintf("%s gave %d rows", from.verb.Name, len(from.out.cells.rows)))}
		}
		return resolvedArg{}, &callError{st.call.index, tell(place, "no-result", symbol, from.verb.Name+" gave no row")}
	}
	step, rest, more := strings.Cut(a.Path(), ".")
	if from.out.cells != nil {
		for i, column := range from.out.cells.columns {
			if !sameWord(column.name, step) {
				continue
			}
			if n := len(from.out.cells.rows); n != 1 {
				return resolvedArg{}, &callError{st.call.index, tell(place, "no-result", symbol, fmt.Sprintf("%s gave %d rows", from.verb.Name, n))}
			}
			cell := from.out.cells.rows[0][i]
			if !more {
				return resolvedArg{value: cell.value, entity: cell.entity, sensitive: column.sensitive, from: cell.from}, nil
			}
			if cell.entity == nil || cell.value.IsNull() {
				return resolvedArg{}, nil
			}
			row, err := r.get(ctx, st, cell.entity.Store, cell.value)
			if err != nil {
				return resolvedArg{}, err
			}
			return r.follow(ctx, st, cell.entity, row, symbol, rest, place)
		}
	}
	if !some {
		return resolvedArg{}, &callError{st.call.index, tell(place, "no-result", symbol, from.verb.Name+" gave no row")}
	}
	row, err := r.get(ctx, st, entity.Store, key)
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
		return resolvedArg{}, &callError{st.call.index, tell(place, "no-result", symbol, "it has no "+path)}
	}
	g := resolvedArg{entity: to, sensitive: sensitivePath(e.Store, p)}
	if len(p.Steps) == 0 {
		g.value, g.from = row.Values[p.Field], r.s.from.Field(&row, p.Field)
		return g, nil
	}
	values, came, err := r.fields(ctx, st, e.Store, row.Key(), []stores.Path{p})
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
			return p, refersTo(r.e, at, i), true
		}
		if at.Fields[i].Ref == nil {
			return p, nil, false
		}
		p.Steps = append(p.Steps, stores.Step{Field: i, To: at.Fields[i].Ref})
		at, words = at.Fields[i].Ref, rest
	}
}

// refersTo returns the entity whose key a field holds, nil when it holds none.
func refersTo(e *Engine, of *stores.Entity, field int) *verbs.Entity {
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

// Where values come from.
//
// Every argument of a call has an origin. A literal has the origin of its author (see
// CheckOptions.Said), a field of a row that of a record or of the field's mark, an answer that of
// its tool, and a value computed from several values all of their origins. If a saved value is
// less trusted than a record, its origin is saved as a mark beside the field, so that saving and
// reading back does not raise trust.
//
// Two things do not pass on an origin. One is the choice of a row: `@payee.iban` is a record's
// value, no matter who named @payee. But the choice itself is a value too: a reference has the
// origin of its author, and a row that a read found has the origin of the values that the read
// searched for. The other is a condition: a value that the palette sets `when` a document says so
// is the palette's, because the palette's author wrote both the condition and its consequence, and
// a document can only choose among what they foresaw. (If it were marked, nearly every row would be
// marked after the first document, and people would learn to agree without reading.) A conditional
// expression is different: `a ? b : c` has the origins of all three.

var (
	ofRecord   = provenance.OfRecord
	ofDocument = provenance.OfDocument
)

// chosen returns the origin of the choice of rows that a call found or made: that of all its
// arguments, or that of a record if it had none.
func (st *step) chosen() verbs.Origin {
	if o := st.argumentOrigins(); o != (verbs.Origin{}) {
		return o
	}
	return ofRecord
}

// argumentOrigins mixes the origins of all arguments, those of the calls of a macro too.
func (st *step) argumentOrigins() verbs.Origin {
	var o verbs.Origin
	for i := range st.args.from {
		if !st.args.values[i].IsNull() {
			o = o.Mix(st.args.from[i])
		}
	}
	for _, inner := range st.tree.inner {
		o = o.Mix(inner.argumentOrigins())
	}
	return o
}

// rowOrigin returns the origin of a reference to a row that a call returned: that of the argument
// that named the row, if one did.
func (st *step) rowOrigin(key stores.Value) verbs.Origin {
	for s := st; s != nil; {
		for i := range s.args.rows {
			if s.args.rows[i].Entity != nil && s.args.values[i] == key {
				return s.args.from[i]
			}
		}
		if len(s.tree.inner) != 1 {
			break
		}
		s = s.tree.inner[0]
	}
	return st.chosen()
}

// made returns the origin of the value of an expression: those of the arguments and fields that it
// uses.
func made(st *step, x *verbs.Expr, reads []verbs.Origin) verbs.Origin {
	var o verbs.Origin
	if i, alone := x.ArgOnly(); alone {
		return st.args.from[i]
	}
	x.Args(func(i int) {
		if !st.args.values[i].IsNull() {
			o = o.Mix(st.args.from[i])
		}
	})
	for _, p := range reads {
		o = o.Mix(p)
	}
	if st.external != nil && x.OfAnswer() {
		o = o.Mix(st.external.came)
	}
	return o
}

// wants compares the origin of an argument with those that its palette accepts. Any other is
// refused, or asked about.
func (st *step) wants(i int, g resolvedArg, place dsl.Place) *callError {
	p := &st.verb.Params[i]
	if p.From == 0 || g.value.IsNull() || g.from.Within(p.From) {
		return nil
	}
	if p.Otherwise == nil {
		return &callError{st.call.index, tell(place, "origin", cameFrom(p, g.from, st.resolving.trail), toComeFrom(p.From))}
	}
	ask := newAsk(st, p.Otherwise)
	said := cameFrom(p, g.from, st.resolving.trail)
	if ask.Reason != "" {
		said += "; " + ask.Reason
	}
	ask.Reason = said
	st.asks = append(st.asks, ask)
	return nil
}

// follow notes the path by which an argument got an origin that is not accepted.
func (st *step) follow(f *frame, a *verbs.Arg, g resolvedArg) {
	if st.resolving.accepts == 0 || g.value.IsNull() || g.from.Within(st.resolving.accepts) {
		return
	}
	way := symbolOf(a)
	if f.macro != nil && !f.made && a.Kind == verbs.Name {
		// Inside a macro, a name is an argument of the macro.
		way = ":" + a.Syntax.Text + " of " + f.macro.verb.Name
		for i := range f.macro.verb.Params {
			p := &f.macro.verb.Params[i]
			if !sameWord(p.Name, a.Name()) {
				continue
			}
			if outer, ok := f.macro.call.syntax.Get(p.Name); ok && outer.Kind == dsl.Symbol {
				way = "@" + names.Shorten(outer.Text) + " and " + way
			}
		}
	}
	if way != "" && !slices.Contains(st.resolving.trail, way) {
		st.resolving.trail = append(st.resolving.trail, way)
	}
}

func symbolOf(a *verbs.Arg) string {
	if a.Syntax.Kind == dsl.Symbol {
		return "@" + a.Syntax.Text
	}
	if call := a.Syntax.Call(); call != nil {
		return "the answer of " + call.Verb
	}
	return ""
}

// originsText returns the origins of arguments for a journal entry: canonical JSON from argument to
// origin, without those of the palette and of the script; "" if there are no others.
func originsText(st *step) string {
	var keys []string
	var values []stores.Value
	for i, o := range st.args.from {
		if o.Kinds()&^verbs.FromScript != 0 && !st.args.values[i].IsNull() {
			keys, values = append(keys, st.verb.Params[i].Name), append(values, stores.NewString(o.String()))
		}
	}
	if keys == nil {
		return ""
	}
	return stores.NewObject(keys, values).Text()
}

// throughWords words the path by which a value came.
func throughWords(trail []string) string {
	if len(trail) == 0 {
		return ""
	}
	return ", through " + strings.Join(trail, " and ")
}

// said returns the origin of a literal argument. A literal in a macro's script is the palette's and
// has no origin.
func (f *frame) said(a *verbs.Arg) verbs.Origin {
	if f.macro != nil && !f.made {
		return verbs.Origin{}
	}
	return f.prog.Said(a)
}

// vouches reports whether an assignment confirms the value that a field holds already, but from
// a less trusted origin: only the origin changes.
func vouches(a assignment, marks []stores.Mark) bool {
	return a.came.Trusted() && stores.MarkOf(marks, a.field) != ""
}

// marks returns the origins that go along with a notice: of its values that are less trusted than a
// record.
func (n *notice) marks() (stores.Value, bool) {
	var keys []string
	var values []stores.Value
	for i, o := range n.came {
		if !o.Trusted() {
			keys, values = append(keys, n.keys[i]), append(values, stores.NewString(o.Mark()))
		}
	}
	return stores.NewObject(keys, values), keys != nil
}

// A Known is a value for which the handler states the origin, for example one that it read out of a
// document or got from another system. Any other value that a handler returns has the origins of
// all its arguments and of every row that it read, because its computation cannot be followed. A
// Known stands for a whole value of Fields or of an Answer.
type Known struct {
	Value  any
	Origin verbs.Origin
}

// Origin returns the origin of an argument; the zero Origin if there is no such argument.
func (c *Call) Origin(arg string) verbs.Origin {
	for i := range c.st.args.from {
		if sameWord(c.st.verb.Params[i].Name, arg) {
			return c.st.args.from[i]
		}
	}
	return verbs.Origin{}
}

// saw records that a handler read a row.
func (c *Call) saw(row *stores.Row) { c.read = c.read.Mix(c.r.s.from.Row(row)) }

// vouched returns the origin of a value that a handler returned.
func vouched(v any, came verbs.Origin) verbs.Origin {
	if known, ok := v.(Known); ok {
		return known.Origin
	}
	return came
}

// vouch sets the origins of the values of a handler's row change. A value that equals the palette's
// own keeps the origin that the palette gives it.
func (p *rowChange) vouch(f Fields, came verbs.Origin, promises []promise) {
	e := p.entity.Store
	for i := range p.set {
		a := &p.set[i]
		a.came = came
		known := false
		for name, v := range f {
			if k, ok := v.(Known); ok && sameWord(name, e.Fields[a.field].Name) {
				a.came, known = k.Origin, true
			}
		}
		if known {
			continue
		}
		for j := range promises {
			q := &promises[j]
			if q.effect.Entity != p.entity {
				continue
			}
			sets := q.set
			if q.effect.OnRows() {
				sets = nil
				if t := picks(q, p.key); t != nil {
					sets = t.set
				}
			}
			if k := slices.IndexFunc(sets, func(b assignment) bool { return b.field == a.field && stores.Equal(a.value, b.value) }); k >= 0 {
				a.came = sets[k].came
			}
		}
	}
}

// A value that was taken from a sensitive value is sensitive too, wherever it goes: through
// the result of another call, an argument of a macro, an expression or a handler. The palette
// marks where sensitive values begin. A step knows which of its arguments hold one, and the
// receipt leaves it out of every change that it reaches.

// markSensitive notes that an argument was taken from something sensitive.
func (st *step) markSensitive(i int) {
	if st.args.sensitive == nil {
		st.args.sensitive = make([]bool, len(st.args.values))
	}
	st.args.sensitive[i] = true
}

func (st *step) isSensitive(i int) bool { return st.args.sensitive != nil && st.args.sensitive[i] }

// secret reports whether an argument, or a part of the record that it is, holds a sensitive value.
func (st *step) secret(i, part int) bool {
	return st.args.taken&(1<<i) != 0 || st.verb.Params[i].SensitivePart(part)
}

// partly reports whether an argument is a record of which only the sensitive parts are sensitive.
func (st *step) partly(i int) bool { return st.verb.Params[i].Partly && st.args.taken&(1<<i) == 0 }

// sensitiveAt marks one of several values as sensitive.
func sensitiveAt(sensitive []bool, i int) []bool {
	for len(sensitive) <= i {
		sensitive = append(sensitive, false)
	}
	sensitive[i] = true
	return sensitive
}

// shownValues returns the values that go along with a notice. A notice waits in a queue and is sent
// to others, so sensitive values are left out: its reader looks them up, if they may.
func (n *notice) shownValues() []stores.Value {
	if n.sensitive == nil {
		return n.values
	}
	told := slices.Clone(n.values)
	for i, sensitive := range n.sensitive {
		if sensitive && !told[i].IsNull() {
			told[i] = stores.NewString(withheld)
		}
	}
	return told
}

// askedLater describes the part of an expression that is still to be evaluated of an argument.
// It holds names from the palette and no values.
var askedLater = regexp.MustCompile(`\bmissing\s*\(\s*\w+\s*\)`)

// origin says what a set value is taken from, an argument by its name and anything else by its
// expression, and whether that is sensitive.
func (st *step) origin(x *verbs.Expr, row *stores.Row) (from string, sensitive bool) {
	if i, alone := x.ArgOnly(); alone {
		return ":" + st.verb.Params[i].Name, st.isSensitive(i)
	}
	if list, ok := x.ItemOf(); ok && st.isSensitive(list) {
		return x.Text, true
	}
	for i := range x.Reads {
		read := &x.Reads[i]
		of := row
		switch {
		case read.Part > 0:
			if st.isSensitive(read.Param) || sensitivePath(read.Entity(st.verb).Store, read.Path) {
				return x.Text, true
			}
			continue
		case read.Param >= 0:
			of = &st.args.rows[read.Param]
		case read.Param == verbs.OfEach:
			of = st.sees.each.row
		case read.Param == verbs.OfNew, read.Param == verbs.OfDisclosed:
			continue
		case read.Param == verbs.OfTotal:
			if t := st.verb.Totals[read.Path.Field]; t.Kind.OfField() && t.Entity.Store.Fields[t.Field].Sensitive {
				return x.Text, true
			}
			continue
		}
		if of != nil && of.Entity != nil && sensitivePath(of.Entity, read.Path) {
			return x.Text, true
		}
	}
	if st.args.sensitive == nil {
		return x.Text, false
	}
	words := strings.FieldsFunc(askedLater.ReplaceAllString(x.Text, ""), func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	for i := range st.verb.Params {
		if st.args.sensitive[i] && slices.Contains(words, st.verb.Params[i].Ident) {
			return x.Text, true
		}
	}
	return x.Text, false
}

// secretsOf returns the sensitive values among the arguments of a call and in the rows that were read
// for it.
func secretsOf(st *step) (all []stores.Value) {
	for i := range st.args.values {
		if st.isSensitive(i) {
			all = append(all, st.args.values[i])
		}
	}
	for ; st != nil; st = st.tree.outer {
		for i := range st.reads {
			s := &st.reads[i]
			if s.entity == nil {
				continue
			}
			for j, v := range s.values {
				if s.paths == nil && s.entity.Fields[j].Sensitive || s.paths != nil && sensitivePath(s.entity, s.paths[j]) {
					all = append(all, v)
				}
			}
		}
	}
	return all
}

// carries reports whether a handler's value equals a sensitive value that the handler got or read.
func carries(st *step, v stores.Value) bool { return among(secretsOf(st), v) }

func among(secrets []stores.Value, v stores.Value) bool {
	return !v.IsNull() && v.Kind() != stores.Bool && slices.ContainsFunc(secrets, func(secret stores.Value) bool { return stores.Equal(secret, v) })
}

// dim marks the columns of a handler's answer that hold a sensitive value.
func dim(st *step, t *table) {
	secrets := secretsOf(st) // once: a handler may have read thousands of rows
	for _, row := range t.rows {
		for i, c := range row {
			if !t.columns[i].sensitive && c.entity == nil {
				t.columns[i].sensitive = among(secrets, c.value)
			}
		}
	}
}

// A redactedError is an error of a handler or a tool without the sensitive values of the call.
// Operators read it, and they may not see those values.
type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string { return e.text }
func (e *redactedError) Unwrap() error { return e.err }

// redact removes the sensitive values of a call from an error of its handler.
func redact(st *step, err error) error {
	secrets := secretsOf(st)
	dim := func(text string) string {
		for _, v := range secrets {
			if secret := v.Text(); len(secret) > 1 {
				text = strings.ReplaceAll(text, secret, withheld)
				text = strings.ReplaceAll(text, strings.Trim(strconv.Quote(secret), `"`), withheld)
			}
		}
		return text
	}
	var c *callError
	if errors.As(err, &c) {
		told := *c
		d := &told.diagnostic
		d.Summary, d.Label, d.Notes = dim(d.Summary), dim(d.Label), slices.Clone(d.Notes)
		for i := range d.Notes { // those for a console name verbs alone
			d.Notes[i] = dim(d.Notes[i])
		}
		return &told
	}
	if text := dim(err.Error()); text != err.Error() {
		return &redactedError{text, err}
	}
	return err
}

// panicked makes an error of a handler's panic. A runtime error of Go names only types and
// numbers. Any other panic value may hold anything, so the error tells only its type, and
// where it happened.
func panicked(p any) error {
	what := fmt.Sprintf("with a %T", p)
	var fault goruntime.Error
	if err, ok := p.(error); ok && errors.As(err, &fault) {
		what = fault.Error()
	}
	return fmt.Errorf("it panicked: %s\n%s", what, debug.Stack())
}

// mostWalked is the greatest number of rows that following a reference may find, whatever part of
// them a read returns.
const mostWalked = 10_000

// along returns the keys of the row that a read starts at and of all rows that can be reached from
// it by a reference, the nearest first. It sends one query per step. Each row is followed once, so
// that circles end.
func (r *source) along(ctx context.Context, st *step, a *verbs.Along) ([]stores.Value, error) {
	start := st.args.rows[a.From].Key()
	found, met := []stores.Value{start}, map[stores.Value]bool{start: true}
	for from := 0; from < len(found); {
		find := a.Step(found[from:])
		find.Hold = r.holdsAs(stores.Shared)
		rows, err := r.findWithPostponed(ctx, st, find)
		if err != nil {
			return nil, err
		}
		from = len(found)
		for _, row := range rows {
			if key := row[0]; !key.IsNull() && !met[key] {
				met[key] = true
				found = append(found, key)
			}
		}
		if len(found) > mostWalked {
			return nil, fmt.Errorf("more than %d rows are led to: %w", mostWalked, stores.ErrLimit)
		}
	}
	return found, nil
}

// onlyThose narrows a condition to rows with some keys.
func onlyThose(where *stores.Cond, e *stores.Entity, keys []stores.Value) *stores.Cond {
	those := stores.Cond{Op: stores.In, Path: stores.Path{Field: e.Key}, Value: stores.NewList(keys...)}
	if where == nil {
		return &those
	}
	return &stores.Cond{Op: stores.And, Kids: []stores.Cond{*where, those}}
}

// asFound sorts rows, whose first value is their key, in the order of some keys.
func asFound(rows [][]stores.Value, keys []stores.Value) {
	place := make(map[stores.Value]int, len(keys))
	for i, key := range keys {
		place[key] = i
	}
	slices.SortFunc(rows, func(a, b []stores.Value) int { return place[a[0]] - place[b[0]] })
}

// A record is one argument, and the references in it are like any others: each is looked up within
// scope and locked like other rows that are read, and the reads along it are part of the plan.

// referredInside fetches the rows that a record, or a list of them, refers to.
func (r *source) referredInside(ctx context.Context, st *step, t *verbs.Type, v stores.Value, place dsl.Place, param string) error {
	if t.Name == verbs.ListType {
		items, err := v.Items(stores.JSON)
		if err != nil {
			return &callError{st.call.index, tell(place, "wrong-value", param, "a list of records is wanted")}
		}
		for _, item := range items {
			if err := r.referredInside(ctx, st, t.Item, item, place, param); err != nil {
				return err
			}
		}
		return nil
	}
	parts, ok := t.Parts(v)
	if !ok {
		return &callError{st.call.index, tell(place, "wrong-value", param, t.Phrase()+" is wanted")}
	}
	for i := range parts {
		if _, err := r.referred(ctx, st, t.Fields[i].Type, resolvedArg{value: parts[i]}, place, param); err != nil {
			return err
		}
	}
	return nil
}

// rowOfPart returns the row that a field of a record refers to; nil if it refers to none.
func (r *source) rowOfPart(ctx context.Context, st *step, read *verbs.ExprRead) (*stores.Row, error) {
	t, v := st.verb.Params[read.Param].Type, st.args.values[read.Param]
	if read.Each {
		t, v = t.Item, st.sees.each.item
	}
	parts, ok := t.Parts(v)
	if !ok || parts[read.Part-1].IsNull() {
		return nil, nil
	}
	row, err := r.get(ctx, st, t.Fields[read.Part-1].Type.Entity.Store, parts[read.Part-1])
	if errors.Is(err, stores.ErrNotFound) {
		return nil, st.refuse("unknown-name", st.verb.Params[read.Param].Name)
	}
	return &row, err
}

// ofRecord follows a path into a record that a macro was given.
func (r *source) ofRecord(ctx context.Context, st *step, t *verbs.Type, g resolvedArg, a *verbs.Arg, place dsl.Place) (resolvedArg, error) {
	part, rest, _ := strings.Cut(a.Path(), ".")
	parts, ok := t.Parts(g.value)
	for i := range t.Fields {
		f := &t.Fields[i]
		if !ok || !sameWord(f.Name, part) {
			continue
		}
		out := resolvedArg{value: parts[i], sensitive: g.sensitive && (!g.partly || f.Sensitive), from: g.from}
		if f.Type.Name == verbs.RefType {
			out.entity = f.Type.Entity
		}
		if rest == "" || out.value.IsNull() {
			return out, nil
		}
		if out.entity == nil {
			break
		}
		row, err := r.get(ctx, st, out.entity.Store, out.value)
		if err != nil {
			return resolvedArg{}, err
		}
		return r.follow(ctx, st, out.entity, row, a.Name(), rest, place)
	}
	return resolvedArg{}, &callError{st.call.index, tell(place, "no-result", a.Name(), "it has no "+a.Path())}
}

// ofItem resolves @each, or a part of it, in a call of a macro.
func (r *source) ofItem(ctx context.Context, st *step, t *verbs.Type, g resolvedArg, a *verbs.Arg, place dsl.Place) (resolvedArg, error) {
	if t.Name == verbs.RefType {
		g.entity = t.Entity
	}
	switch {
	case a.Path() == "":
		return g, nil
	case t.Name == verbs.RecordType:
		return r.ofRecord(ctx, st, t, g, a, place)
	case g.entity == nil:
		return resolvedArg{}, &callError{st.call.index, tell(place, "no-result", a.Name(), "it has no "+a.Path())}
	}
	row, err := r.get(ctx, st, g.entity.Store, g.value)
	if err != nil {
		return resolvedArg{}, err
	}
	return r.follow(ctx, st, g.entity, row, a.Name(), a.Path(), place)
}

// partOf returns the part of a written record that a path leads to; ok is false if the part is not
// written there.
func partOf(v dsl.Value, path string) (dsl.Value, bool) {
	part, rest, _ := strings.Cut(path, ".")
	for _, e := range v.Entries() {
		switch {
		case !sameWord(e.Key, part):
		case rest == "":
			return e.Value, true
		case e.Value.Kind == dsl.Symbol:
			return dsl.NewSymbol(e.Value.Text + "." + rest), true
		}
	}
	return dsl.NewNil(), rest == ""
}
