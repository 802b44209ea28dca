package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/internal/intime"
	"verbatim/runtime/state/names"
	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/message"
)

// Handlers are the Go functions that carry out verbs. Each is registered once: New refuses a second
// one for a verb.
type Handlers struct {
	// Partial says that handlers may be missing: their verbs are refused when they are used.
	Partial bool

	list      []*handler
	functions map[string]verbs.Outside
	twice     []string // the functions that were registered once more, which New refuses
}

// Function registers a Go function that palettes declare, under its name there. It gets values of
// the declared types, none of them null, and its result must depend on them alone: it may be
// called any number of times, by several goroutines at once.
func (h *Handlers) Function(name string, fn func(args []stores.Value) (stores.Value, error)) {
	if h.functions == nil {
		h.functions = make(map[string]verbs.Outside)
	}
	if h.functions[name] != nil {
		h.twice = append(h.twice, name)
	}
	h.functions[name] = fn
}

// LacksFunctions lists the declared functions that are not registered, in order.
func (h *Handlers) LacksFunctions(reg *verbs.Registry) (names []string) {
	for _, f := range reg.Functions() {
		if h == nil || h.functions[f.Name] == nil {
			names = append(names, f.Name)
		}
	}
	return names
}

// Lacks lists the verbs that need a Go function and have none here, in order.
func (h *Handlers) Lacks(reg *verbs.Registry) (names []string) {
	has := func(v *verbs.Verb, looks bool) bool {
		return slices.ContainsFunc(h.list, func(one *handler) bool { return one.verb == v.Name && (one.look != nil) == looks })
	}
	for _, v := range reg.Verbs() {
		if v.Handler && !has(v, false) || len(v.Looks) > 0 && !has(v, true) {
			names = append(names, v.Name)
		}
	}
	return names
}

type handler struct {
	verb   string
	args   reflect.Type
	fields []int // parallel to Verb.Params: the field of args, filled by New
	call   func(ctx context.Context, c *Call, args reflect.Value) (Outcome, error)
	look   func(ctx context.Context, l *Look, args reflect.Value) (Fields, error) // of a verb that looks, instead of call
}

// Handle registers the function that carries a verb out. A is a struct with a
// field for every argument, which a tag names:
//
//	type addNote struct {
//		Request  engine.Ref `verb:"request-id"`
//		Note     string      `verb:"note"`
//		Expected *time.Time  `verb:"expected-date"`
//	}
//
//	engine.Handle(h, "client.add-note", func(ctx context.Context, c *engine.Call, a addNote) (engine.Outcome, error) {
//		return engine.Outcome{Changes: []engine.Edit{
//			engine.Update(a.Request, engine.Fields{"client_notes": a.Note}),
//		}}, nil
//	})
//
// The function runs in the transaction of its run, which holds up other writers, so it has to return when
// its context ends, and what is slow belongs in a tool (tools.Service). One that does not return in time
// is left behind: nothing is changed, its outcome is dropped, and its Call reads no more.
//
// New compares the struct with the palette. Text, codes, addresses and numbers
// of telephones are a string; an integer is an int64 or int; a boolean is a
// bool; dates and date-times are a time.Time, durations a time.Duration;
// references are a Ref; lists are slices of these; objects are a
// map[string]any or a json.RawMessage; and anything, decimals and money above
// all, can be a stores.Value. An argument that may be left out and has no
// default is a pointer, a slice, a map, a json.RawMessage, a Ref or a
// stores.Value, each of which can say that nothing was given.
//
// The function reads within its caller's scope through the Call, takes the time from it, and
// returns the changes that it wants as values. It opens no transaction and sends nothing: the
// engine compares the outcome with the promises of the palette, and commits it. It may be called
// more than once for one run, and must not keep the Call.
func Handle[A any](h *Handlers, verb string, fn func(ctx context.Context, c *Call, args A) (Outcome, error)) {
	h.list = append(h.list, &handler{
		verb: verb,
		args: reflect.TypeFor[A](),
		call: func(ctx context.Context, c *Call, args reflect.Value) (Outcome, error) {
			return fn(ctx, c, args.Interface().(A))
		},
	})
}

// A Ref names a row to a handler. It is made by the engine and its key stays
// out of sight; the zero Ref names nothing.
type Ref struct {
	entity string
	key    stores.Value
}

// IsZero reports whether r names no row.
func (r Ref) IsZero() bool { return r.key.IsNull() }

// Entity returns the name of the row's entity.
func (r Ref) Entity() string { return r.entity }

// String describes the row without its key.
func (r Ref) String() string {
	if r.IsZero() {
		return "no row"
	}
	return "a row of " + r.entity
}

// Fields are values by field name. A value may be anything that an argument of that type may be;
// nil is null.
type Fields map[string]any

// An Edit is a row change that a handler asks for, by field names and with its own values: the
// engine still has to resolve, type and verify it. The receipt.Row of the change says what was
// done. Make it with Create, Update or Delete.
type Edit struct {
	Op     stores.Op
	Entity string // of Create; otherwise that of Row
	Row    Ref    // for Create the zero Ref, or one that Call.New made
	Fields Fields
}

// Create adds a row. The engine makes up its key, and gives fields that are left out their
// defaults.
func Create(entity string, f Fields) Edit {
	return Edit{Op: stores.Insert, Entity: entity, Fields: f}
}

// Update changes fields of a row.
func Update(row Ref, f Fields) Edit {
	return Edit{Op: stores.Update, Entity: row.entity, Row: row, Fields: f}
}

// Delete removes a row.
func Delete(row Ref) Edit { return Edit{Op: stores.Delete, Entity: row.entity, Row: row} }

// As gives a row to be created the key of a Ref that Call.New made, so that
// other changes of the same outcome can refer to it.
func (c Edit) As(row Ref) Edit {
	c.Row = row
	return c
}

// A Notice is a message or a piece of work that a handler wants queued.
type Notice struct {
	Kind   string // "notify" or "trigger"
	Target string // as the palette promises it
	With   Fields
}

// Notify makes a notice that tells somebody something.
func Notify(target string, with Fields) Notice { return Notice{"notify", target, with} }

// Trigger makes a notice that starts something.
func Trigger(target string, with Fields) Notice { return Notice{"trigger", target, with} }

// An Outcome is the result of a handler, as values: a test can compare two of them.
type Outcome struct {
	Changes []Edit
	Notices []Notice
	// Session holds the values to be set in the session, by name, as `sets` promises them.
	Session Fields
	Jobs    []JobChange // jobs to be tried again or dropped
	// Result is the answer of the call: rows of values by column. A cell may be anything that a
	// field may be; a Ref is shown by its name.
	Result *Answer
	// Calls are calls of other verbs, to be made after the changes in the name of the same
	// principal. Each is checked, permitted, confirmed and journalled as if the principal had
	// written it; if one is refused, nothing is done. The verb promises them with `generates:
	// VERB`.
	Calls []Generated
	// Kept names, word for word, the promises that leave no trace in rows or
	// notices and that the handler kept: for "validates: value against field
	// schema" it holds "value against field schema".
	Kept []string
	// Forgets says that the personal and sensitive values which the changes take from rows are to be
	// known no more: neither the journal nor a preview nor a receipt keeps them.
	Forgets bool
}

// A Generated is a call that a handler makes. Args are values by argument name; a Ref is written
// by the name of its row. Or it is a script of kept calls: then Field names the field that kept
// them, "plan-step.call", and the palette promises `generates: plan-step.call`. Kept calls may not
// use tools.
type Generated struct {
	Verb string
	Args Fields

	Field string
	Kept  []string
}

// An Answer is the rows that a handler returns.
type Answer struct {
	Columns []string
	Rows    [][]any
}

// A Call is a call as its handler sees it.
type Call struct {
	ctx      context.Context // of the call, for methods that get none
	r        *source
	st       *step
	promises []promise
	reads    turnstile
	read     verbs.Origin // of the rows that the handler has read
}

// Principal returns the name of the caller.
func (c *Call) Principal() string { return c.r.s.who.Name }

// Person returns the name of the person behind the caller, the same for all their logins.
func (c *Call) Person() string { return c.r.s.who.Whose() }

// May reports whether the caller may use a verb.
func (c *Call) May(v *verbs.Verb) bool { return c.r.s.May(v) }

// KeyOf and NameOf return the key of a row as text, and its name, for a row that keeps which one of
// any entity is meant.
func (c *Call) KeyOf(row Ref) string { return row.key.Text() }

// NameOf is described with KeyOf.
func (c *Call) NameOf(row Ref) string {
	e := c.r.e.reg.Entity(row.entity)
	if e == nil {
		return hidden
	}
	return c.r.shownName(e.Store, row.key)
}

// Now returns the time of the run. It is the same for all of it.
func (c *Call) Now() time.Time { return c.r.now }

// Today returns the day of the run in UTC, as midnight.
func (c *Call) Today() time.Time { return c.r.now.Truncate(24 * time.Hour) }

// A turnstile lets one read of a handler through at a time, and none once the call has ended: a handler that
// returns too late, or keeps its Call, finds it closed, so that it never reads beside the engine.
type turnstile struct {
	mu   sync.Mutex
	over bool
}

func (g *turnstile) enter() (leave func(), err error) {
	g.mu.Lock()
	if g.over {
		g.mu.Unlock()
		return nil, errCallEnded
	}
	return g.mu.Unlock, nil
}

// shut waits for a read on its way, which ends with its context.
func (g *turnstile) shut() {
	g.mu.Lock()
	g.over = true
	g.mu.Unlock()
}

var errCallEnded = errors.New("this call has ended, and reads nothing any more")

// New makes up the key of a row to be created.
func (c *Call) New(entity string) (Ref, error) {
	e := c.r.e.reg.Entity(entity)
	if e == nil {
		return Ref{}, fmt.Errorf("no entity is called %q", entity)
	}
	leave, err := c.reads.enter()
	if err != nil {
		return Ref{}, err
	}
	defer leave()
	var key stores.Value
	if e.Store.Fields[e.Store.Key].Drawn {
		key, err = c.r.read.Draw(c.ctx, e.Store, e.Store.Key)
	} else {
		key, err = newKey(c.r, e.Store)
	}
	return Ref{entity, key}, err
}

// Get reads a row within scope. Nobody else changes it before the run commits.
func (c *Call) Get(ctx context.Context, row Ref) (Row, error) {
	e := c.r.e.reg.Entity(row.entity)
	if e == nil {
		return Row{}, stores.ErrNotFound
	}
	leave, err := c.reads.enter()
	if err != nil {
		return Row{}, err
	}
	defer leave()
	found, err := c.r.get(ctx, c.st, e.Store, row.key)
	if err == nil {
		c.saw(&found)
	}
	return Row{c.r.e, c.r.s, found}, err
}

// Find reads the rows within scope whose fields have these values, in the order of their keys.
// Nobody else changes them before the run commits, but others may add more: a handler that decides
// by their number should also Get a row that every handler that adds one Gets.
func (c *Call) Find(ctx context.Context, entity string, where Fields) ([]Row, error) {
	e := c.r.e.reg.Entity(entity)
	if e == nil {
		return nil, fmt.Errorf("no entity is called %q", entity)
	}
	leave, err := c.reads.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	equal, err := fieldsEqual(e, where)
	if err != nil {
		return nil, err
	}
	found, err := c.r.rowsWhere(ctx, c.st, e.Store, equal)
	if err != nil {
		return nil, err
	}
	rows := make([]Row, len(found))
	for i := range found {
		rows[i] = Row{c.r.e, c.r.s, found[i]}
		c.saw(&found[i])
	}
	return rows, nil
}

// Meant returns the keys of the rows that a text may mean, by their key, name or label: none, one, or
// two where several are called that. It finds rows outside the caller's scope as well, and is for verbs
// that grant rights over rows to others.
func (c *Call) Meant(ctx context.Context, e *verbs.Entity, text string) (keys []stores.Value, err error) {
	leave, err := c.reads.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	of := e.Store
	find := stores.Find{Entity: of, Select: labels(e), Limit: searchPage, Cut: true, Blank: true, Beyond: true}
	if key, ok := stores.Parse(of.Fields[of.Key].Kind, text); ok {
		find.Where = isRow(of, key)
		found, err := c.r.read.Find(ctx, find)
		if err != nil || len(found) > 0 {
			return []stores.Value{key}[:len(found)], err
		}
		find.Where = nil
	}
	if len(e.Label.Text) == 0 {
		return nil, nil
	}
	name, suffix, _ := strings.Cut(strings.TrimPrefix(text, "@"), "~")
	words := names.Words(text)
	id, err := c.r.e.identity(ctx)
	if err != nil {
		return nil, err
	}
	for {
		rows, err := c.r.read.Find(ctx, find)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			label := label(e, row)
			is := names.Slug(label, of.Name) == name && strings.HasPrefix(names.Suffix(id.Secret, of, row[0]), suffix)
			if is || len(words) > 0 && slices.Equal(names.Words(label), words) {
				if keys = append(keys, row[0]); len(keys) == 2 {
					return keys, nil
				}
			}
		}
		if len(rows) < searchPage {
			return keys, nil
		}
		find.Where = &stores.Cond{Op: stores.Gt, Path: stores.Path{Field: of.Key}, Value: rows[len(rows)-1][0]}
	}
}

// Declared returns the outcome that the palette itself declares for this call, for a handler to
// extend or reduce: nothing has to be said twice.
func (c *Call) Declared() Outcome {
	d := declared(c.promises)
	var o Outcome
	for _, p := range d.rowChanges {
		change := Edit{Op: p.op, Entity: p.entity.Store.Name}
		if p.op != stores.Insert {
			change.Row = Ref{p.entity.Store.Name, p.key}
		}
		if p.op != stores.Delete {
			change.Fields = make(Fields)
			for _, a := range p.set {
				change.Fields[p.entity.Store.Fields[a.field].Name] = a.value
			}
		}
		o.Changes = append(o.Changes, change)
	}
	for _, n := range d.notices {
		out := Notice{Kind: n.kind, Target: n.target}
		for i, key := range n.keys {
			if out.With == nil {
				out.With = make(Fields)
			}
			out.With[key] = n.values[i]
		}
		o.Notices = append(o.Notices, out)
	}
	for _, a := range d.sets {
		if o.Session == nil {
			o.Session = make(Fields)
		}
		if o.Session[a.name] = a.value; a.entity != nil && !a.value.IsNull() {
			o.Session[a.name] = Ref{a.entity.Store.Name, a.value}
		}
	}
	o.Kept = d.kept
	return o
}

// A Row is a row that a handler has read.
type Row struct {
	e   *Engine
	s   *Session
	row stores.Row
}

// Ref returns the reference to the row.
func (r Row) Ref() Ref { return Ref{r.row.Entity.Name, r.row.Key()} }

// Value returns a field, null if there is no such field. For a reference, use To.
func (r Row) Value(field string) stores.Value {
	if i := r.index(field); i >= 0 && r.row.Entity.Fields[i].Ref == nil && i != r.row.Entity.Key {
		return r.row.Values[i]
	}
	return stores.Value{}
}

// To returns the row that a reference field names.
func (r Row) To(field string) Ref {
	if i := r.index(field); i >= 0 && r.row.Entity.Fields[i].Ref != nil {
		return Ref{r.row.Entity.Fields[i].Ref.Name, r.row.Values[i]}
	}
	return Ref{}
}

func (r Row) index(field string) int {
	if r.row.Entity == nil {
		return -1
	}
	return slices.IndexFunc(r.row.Entity.Fields, func(f stores.Field) bool { return sameWord(f.Name, field) })
}

// handle calls a handler and copies its outcome into the engine's row changes, so that the handler
// cannot change them afterwards.
func handle(ctx context.Context, r *source, st *step, h *handler, promises []promise) (d outcome, err error) {
	args, err := h.arguments(st)
	if err != nil {
		return outcome{}, &Failure{Err: err}
	}
	c := &Call{ctx: ctx, r: r, st: st, promises: promises}
	gave, err := intime.Call(ctx, func() (Outcome, error) {
		return safely(func() (Outcome, error) { return h.call(ctx, c, args) })
	})
	c.reads.shut()
	if err != nil {
		return outcome{}, handlerError(st, redact(st, err))
	}
	came := st.argumentOrigins().Mix(c.read)
	for _, change := range gave.Changes {
		p, err := rowChangeOf(ctx, r, st, change)
		if err != nil {
			return outcome{}, handlerError(st, err)
		}
		p.vouch(change.Fields, came, promises)
		p.forgets = gave.Forgets
		d.rowChanges = append(d.rowChanges, p)
	}
	for _, n := range gave.Notices {
		out := notice{kind: n.Kind, target: n.Target}
		for _, key := range sortedKeys(n.With) {
			v, err := plainValue(n.With[key])
			if err != nil {
				return outcome{}, handlerError(st, err)
			}
			out.keys, out.values = append(out.keys, key), append(out.values, v)
			out.came = append(out.came, vouched(n.With[key], came))
			if carries(st, v) {
				out.sensitive = sensitiveAt(out.sensitive, len(out.values)-1)
			}
		}
		d.notices = append(d.notices, out)
	}
	for _, j := range gave.Jobs {
		d.jobChanges = append(d.jobChanges, jobChangeOf(j))
	}
	if a := gave.Result; a != nil {
		if d.answer, err = answerOfHandler(r, a, came); err != nil {
			return outcome{}, handlerError(st, redact(st, err))
		}
		d.answer.found = foundBy(st)
		dim(st, d.answer)
		if err := r.nameCells(ctx, d.answer); err != nil {
			return outcome{}, err
		}
	}
	if d.sets, err = r.settings(st, gave.Session, came, promises); err != nil {
		return outcome{}, handlerError(st, err)
	}
	for _, g := range gave.Calls {
		made, err := generateCalls(ctx, r, st, g, came)
		if err != nil {
			return outcome{}, handlerError(st, err)
		}
		d.calls = append(d.calls, made)
	}
	d.kept = gave.Kept
	return d, nil
}

// safely calls a function of a handler. A panic in it becomes an error of its verb and does not affect
// others.
func safely[T any](fn func() (T, error)) (out T, err error) {
	defer func() {
		if p := recover(); p != nil {
			var none T
			out, err = none, panicked(p)
		}
	}()
	return fn()
}

// handlerError distinguishes refusals and store errors from faults of the handler.
func handlerError(st *step, err error) error {
	var c *callError
	if errors.As(err, &c) {
		return c
	}
	for _, known := range []error{stores.ErrConflict, stores.ErrNotFound, stores.ErrLimit, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, known) {
			return err
		}
	}
	return &Failure{Err: fmt.Errorf("the handler of %s: %w", st.verb.Name, err), call: st.call.index + 1}
}

func rowChangeOf(ctx context.Context, r *source, st *step, c Edit) (rowChange, error) {
	e := r.e.reg.Entity(c.Entity)
	if e == nil {
		return rowChange{}, fmt.Errorf("no entity is called %q", c.Entity)
	}
	p := rowChange{op: c.Op, entity: e, key: c.Row.key}
	if !c.Row.IsZero() && c.Row.entity != c.Entity {
		return rowChange{}, fmt.Errorf("%s is no row of %s", c.Row, c.Entity)
	}
	if c.Op != stores.Insert {
		var err error
		if p.before, err = r.get(ctx, st, e.Store, p.key); err != nil {
			return rowChange{}, err
		}
	}
	var err error
	if p.set, err = assignFields(e, c.Fields); err != nil {
		return rowChange{}, err
	}
	for i := range p.set {
		p.set[i].sensitive = carries(st, p.set[i].value)
	}
	return p, nil
}

// assignFields turns fields by name into assignments by index, in the order of the entity's fields.
func assignFields(e *verbs.Entity, f Fields) ([]assignment, error) {
	var set []assignment
	for _, name := range sortedKeys(f) {
		i := slices.IndexFunc(e.Store.Fields, func(have stores.Field) bool { return sameWord(have.Name, name) })
		if i < 0 {
			return nil, fmt.Errorf("%s has no field %q", e.Store.Name, name)
		}
		field := &e.Store.Fields[i]
		v, err := plainValue(f[name])
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", e.Store.Name, name, err)
		}
		want := field.Holds()
		if want == stores.Date && v.Kind() == stores.Time {
			v = stores.DateOf(v.Time())
		}
		if !v.IsNull() && v.Kind() != want && !(want == stores.Decimal && v.Kind() == stores.Int) {
			return nil, fmt.Errorf("%s.%s takes a %s, not a %s", e.Store.Name, name, want, v.Kind())
		}
		set = append(set, assignment{field: i, value: v})
	}
	slices.SortFunc(set, func(a, b assignment) int { return a.field - b.field })
	return set, nil
}

// fieldsEqual makes the condition that fields have some values.
func fieldsEqual(e *verbs.Entity, where Fields) (*stores.Cond, error) {
	set, err := assignFields(e, where)
	cond := &stores.Cond{Op: stores.And}
	for _, a := range set {
		cond.Kids = append(cond.Kids, stores.Cond{Op: stores.Eq, Path: stores.Path{Field: a.field}, Value: a.value})
	}
	return cond, err
}

func sortedKeys(f Fields) []string {
	return slices.Sorted(maps.Keys(f))
}

// plainValue turns a handler's value into a stores.Value.
func plainValue(v any) (stores.Value, error) {
	switch v := v.(type) {
	case nil:
		return stores.Value{}, nil
	case stores.Value:
		return v, nil
	case Known:
		if _, twice := v.Value.(Known); twice {
			return stores.Value{}, errors.New("a Known holds another")
		}
		return plainValue(v.Value)
	case Ref:
		return v.key, nil
	case string:
		return stores.NewString(v), nil
	case bool:
		return stores.NewBool(v), nil
	case int:
		return stores.NewInt(int64(v)), nil
	case int64:
		return stores.NewInt(v), nil
	case time.Time:
		return stores.NewTime(v), nil
	case time.Duration:
		return stores.NewDuration(v), nil
	case json.RawMessage:
		return stores.ParseJSON(string(v))
	case json.Number:
		if n, ok := stores.ParseInt(v.String()); ok {
			return n, nil
		}
		if n, ok := stores.ParseDecimal(v.String()); ok {
			return n, nil
		}
	}
	rv := reflect.ValueOf(v)
	switch rv.Kind() {
	case reflect.Pointer:
		if rv.IsNil() {
			return stores.Value{}, nil
		}
		return plainValue(rv.Elem().Interface())
	case reflect.Slice:
		items := make([]stores.Value, rv.Len())
		for i := range items {
			var err error
			item := rv.Index(i).Interface()
			if _, known := item.(Known); known {
				return stores.Value{}, errors.New("a Known is the whole of a value, not a part of it")
			}
			if items[i], err = plainValue(item); err != nil {
				return stores.Value{}, err
			}
		}
		return stores.NewList(items...), nil
	case reflect.Map, reflect.Struct:
		text, err := json.Marshal(v)
		if err != nil {
			return stores.Value{}, err
		}
		return stores.ParseJSON(string(text))
	}
	return stores.Value{}, fmt.Errorf("a %T cannot be stored", v)
}

func answerOfHandler(r *source, a *Answer, came verbs.Origin) (*table, error) {
	t := &table{}
	for _, name := range a.Columns {
		t.columns = append(t.columns, column{name: name})
	}
	for _, row := range a.Rows {
		if len(row) != len(a.Columns) {
			return nil, fmt.Errorf("a row of %d values under %d columns", len(row), len(a.Columns))
		}
		cells := make([]cell, len(row))
		for i, v := range row {
			var err error
			if cells[i].value, err = plainValue(v); err != nil {
				return nil, err
			}
			cells[i].from = vouched(v, came)
			if known, ok := v.(Known); ok {
				v = known.Value
			}
			if ref, ok := v.(Ref); ok {
				cells[i].entity = r.e.reg.Entity(ref.entity)
			}
		}
		t.rows = append(t.rows, cells)
	}
	return t, nil
}

// Joining handlers and palettes

// joinHandlers compares handlers with palettes.
func joinHandlers(e *Engine, h *Handlers) dsl.Diagnostics {
	if h == nil {
		return nil
	}
	var ds dsl.Diagnostics
	for _, one := range h.list {
		v, looks := e.reg.Verb(one.verb), one.look != nil
		switch {
		case v == nil:
			ds = append(ds, near(tell(dsl.Place{}, "handler-unknown-verb", one.verb), "", nearVerbs(e.reg, one.verb)))
			continue
		case !looks && !v.Handler, looks && len(v.Looks) == 0:
			ds = append(ds, tell(v.Place, "handler-not-wanted", v.Name))
			continue
		}
		into := &e.verbs[v].handler
		if looks {
			into = &e.verbs[v].looker
		}
		if *into != nil {
			ds = append(ds, tell(v.Place, "handler-not-wanted/twice", v.Name))
			continue
		}
		joined := *one // the same Handlers may serve several engines
		ds = append(ds, joined.fit(v)...)
		*into = &joined
	}
	for _, v := range e.reg.Verbs() {
		if (v.Handler && e.verbs[v].handler == nil || len(v.Looks) > 0 && e.verbs[v].looker == nil) && !h.Partial {
			ds = append(ds, tell(v.Place, "handler-missing", v.Name))
		}
	}
	for _, f := range e.reg.Functions() {
		if h.functions[f.Name] == nil && !h.Partial {
			ds = append(ds, tell(f.Place, "handler-missing/function", f.Name))
		}
		if slices.Contains(h.twice, f.Name) {
			ds = append(ds, tell(f.Place, "handler-not-wanted/twice", f.Name))
		}
		e.outside = append(e.outside, outside(f, h.functions[f.Name]))
	}
	for _, name := range slices.Sorted(maps.Keys(h.functions)) {
		if !slices.ContainsFunc(e.reg.Functions(), func(f *verbs.Function) bool { return f.Name == name }) {
			ds = append(ds, tell(dsl.Place{}, "handler-unknown-verb/function", name))
		}
	}
	return ds
}

// outside checks the results of a function against its declared type. A panic becomes an error.
func outside(f *verbs.Function, fn verbs.Outside) verbs.Outside {
	if fn == nil {
		return nil
	}
	return func(args []stores.Value) (v stores.Value, err error) {
		defer func() {
			if fault := recover(); fault != nil {
				v, err = stores.Value{}, fmt.Errorf("%s panicked: %v", f.Name, fault)
			}
		}()
		if v, err = fn(args); err != nil {
			return stores.Value{}, fmt.Errorf("%s: %w", f.Name, err)
		}
		if v, err = f.Gives.Accept(v); err != nil {
			return stores.Value{}, fmt.Errorf("%s gives what its palette does not say: %w", f.Name, err)
		}
		return v, nil
	}
}

func nearVerbs(reg *verbs.Registry, name string) []string {
	all := message.Names(reg.Verbs(), func(v *verbs.Verb) string { return v.Name })
	return dsl.Nearest(name, slices.Values(all))
}

// fit compares the arguments of a handler with those that its verb declares.
func (h *handler) fit(v *verbs.Verb) dsl.Diagnostics {
	var ds dsl.Diagnostics
	byName := make(map[string]int)
	var declared []string
	for i := range v.Params {
		declared = append(declared, v.Params[i].Name)
	}
	if h.args.Kind() == reflect.Struct {
		for i := range h.args.NumField() {
			name, tagged := h.args.Field(i).Tag.Lookup("verb")
			switch {
			case !tagged:
			case !slices.Contains(declared, name):
				ds = append(ds, near(tell(v.Place, "handler-argument-extra", v.Name, name), ":", dsl.Nearest(name, slices.Values(declared))))
			default:
				byName[name] = i
			}
		}
	}
	h.fields = make([]int, len(v.Params))
	for i := range v.Params {
		p := &v.Params[i]
		field, ok := byName[p.Name]
		if !ok {
			ds = append(ds, tell(p.Place, "handler-argument-missing", v.Name, p.Name))
			continue
		}
		h.fields[i] = field
		f := h.args.Field(field)
		optional := !p.Sure()
		if !f.IsExported() {
			ds = append(ds, tell(p.Place, "handler-argument-type", v.Name, p.Name, "a field that only its own package can fill", "a field whose name begins with a capital letter"))
		} else if !holds(f.Type, p.Type, optional) {
			want := goType(p.Type)
			if optional {
				want += ", or a pointer to one where it may be left out"
			}
			ds = append(ds, tell(p.Place, "handler-argument-type", v.Name, p.Name, f.Type.String(), want))
		}
	}
	return ds
}

var (
	valueType    = reflect.TypeFor[stores.Value]()
	refType      = reflect.TypeFor[Ref]()
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
	rawType      = reflect.TypeFor[json.RawMessage]()
	objectType   = reflect.TypeFor[map[string]any]()
)

// goTypes are the Go types that can hold arguments, besides stores.Value, which can hold any
// argument, references, and lists.
var goTypes = map[verbs.TypeName]struct {
	says  string
	holds func(reflect.Type) bool
}{
	verbs.StringType: {"a string", isString},
	verbs.CodeType:   {"a string", isString},
	verbs.EmailType:  {"a string", isString},
	verbs.PhoneType:  {"a string", isString},
	verbs.IBANType:   {"a string", isString},
	verbs.BICType:    {"a string", isString},
	verbs.LEIType:    {"a string", isString},

	verbs.NationalIDType: {"a string", isString},

	verbs.UUIDType:   {"a string", isString},
	verbs.CallType:   {"a string", isString},
	verbs.ObjectType: {"a map[string]any", isObject},
	verbs.MoneyType:  {"a map[string]any", isObject},
	verbs.RecordType: {"a map[string]any", isObject},
	verbs.IntegerType: {"an int64", func(g reflect.Type) bool {
		return g.Kind() == reflect.Int64 && g != durationType || g.Kind() == reflect.Int
	}},
	verbs.BooleanType:  {"a bool", func(g reflect.Type) bool { return g.Kind() == reflect.Bool }},
	verbs.DateType:     {"a time.Time", func(g reflect.Type) bool { return g == timeType }},
	verbs.DateTimeType: {"a time.Time", func(g reflect.Type) bool { return g == timeType }},
	verbs.DurationType: {"a time.Duration", func(g reflect.Type) bool { return g == durationType }},
}

func isString(g reflect.Type) bool { return g.Kind() == reflect.String }

func isObject(g reflect.Type) bool { return g == objectType || g == rawType }

// holds reports whether a Go type can hold every value of an argument.
func holds(g reflect.Type, t *verbs.Type, optional bool) bool {
	switch {
	case g == valueType:
		return true
	case g.Kind() == reflect.Pointer:
		return optional && holds(g.Elem(), t, false)
	case t.Name == verbs.RefType:
		return g == refType
	case t.Name == verbs.ListType:
		return g.Kind() == reflect.Slice && g != rawType && t.Item != nil && holds(g.Elem(), t.Item, false)
	}
	of, known := goTypes[t.Name]
	return known && of.holds(g) && (!optional || isObject(g))
}

// goType names the best Go type for an argument.
func goType(t *verbs.Type) string {
	switch {
	case t.Name == verbs.RefType:
		return "an engine.Ref"
	case t.Name == verbs.ListType && t.Item != nil:
		return "a slice, each item " + goType(t.Item)
	}
	return cmp.Or(goTypes[t.Name].says, "a stores.Value")
}

// arguments fills the argument struct of a handler.
func (h *handler) arguments(st *step) (reflect.Value, error) {
	args := reflect.New(h.args).Elem()
	for i := range st.args.values {
		if err := fillArgs(args.Field(h.fields[i]), st.verb.Params[i].Type, st.args.values[i], st.args.rows[i]); err != nil {
			return args, fmt.Errorf("%s: argument %s: %w", st.verb.Name, st.verb.Params[i].Name, err)
		}
	}
	return args, nil
}

func fillArgs(to reflect.Value, t *verbs.Type, v stores.Value, row stores.Row) error {
	if to.Type() == valueType {
		to.Set(reflect.ValueOf(v))
		return nil
	}
	if v.IsNull() {
		return nil
	}
	if to.Kind() == reflect.Pointer {
		to.Set(reflect.New(to.Type().Elem()))
		to = to.Elem()
		return fillArgs(to, t, v, row)
	}
	switch {
	case to.Type() == refType:
		ref := Ref{key: v}
		switch {
		case row.Entity != nil:
			ref.entity = row.Entity.Name
		case t.Entity != nil:
			ref.entity = t.Entity.Store.Name
		}
		to.Set(reflect.ValueOf(ref))
	case to.Type() == timeType:
		to.Set(reflect.ValueOf(v.Time()))
	case to.Type() == durationType:
		to.Set(reflect.ValueOf(v.Duration()))
	case to.Type() == rawType:
		to.SetBytes([]byte(v.Text()))
	case to.Type() == objectType:
		// Numbers keep their digits.
		dec := json.NewDecoder(strings.NewReader(v.Text()))
		dec.UseNumber()
		return dec.Decode(to.Addr().Interface())
	case to.Kind() == reflect.Slice:
		kind := kindOf(t.Item.Name)
		if t.Item.Name == verbs.RefType && t.Item.Entity != nil {
			kind = t.Item.Entity.Store.Fields[t.Item.Entity.Store.Key].Kind
		}
		items, err := v.Items(kind)
		if err != nil {
			return err
		}
		to.Set(reflect.MakeSlice(to.Type(), len(items), len(items)))
		for i, item := range items {
			if err := fillArgs(to.Index(i), t.Item, item, stores.Row{}); err != nil {
				return err
			}
		}
	case to.Kind() == reflect.String:
		to.SetString(v.Text())
	case to.Kind() == reflect.Bool:
		to.SetBool(v.Bool())
	case to.CanInt():
		to.SetInt(v.Int())
	default:
		return fmt.Errorf("a %s does not go into a %s", v.Kind(), to.Type())
	}
	return nil
}
