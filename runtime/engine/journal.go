package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/state/sessions"
	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// The journal has an entry for every call that may change something, done or refused, and for
// every call that returned a sensitive field. Other reads have none, so that reading stays cheap
// and writes nothing. The calls of a macro have entries of their own, with their changes; the
// entry of the macro itself comes before them and says what was asked for.

const (
	outcomeOK       = "ok"
	outcomeRefused  = "refused"
	outcomeDeclined = "declined"
	outcomeSkipped  = "skipped" // of a job that had become pointless when its time came
	outcomeExpired  = "expired" // of a confirmation that nobody decided in time
)

// entries adds the journal entries of a run to a batch, in the order in which its calls were
// carried out, and returns the steps of the entries.
func (r *run) entries(b *stores.Batch, o RunOptions) ([]*step, error) {
	var of []*step
	b.Entries = slices.Grow(b.Entries, len(r.steps))
	for _, st := range r.steps {
		if r.e.onlyReads(st.verb) && !gaveSensitive(st) && len(st.verb.Discloses) == 0 {
			continue
		}
		e := r.s.entry(r.prog, o, st.place)
		e.Time, e.Verb, e.Outcome, e.Origins = r.now, st.verb.Name, outcomeOK, originsText(st)
		switch {
		case r.agreedBy != "":
			e.Preview, e.Agreed = r.id, r.agreedBy
		case o.Agreed != "":
			e.Preview, e.Agreed = r.id, r.s.who.Name
		case r.top[st.index].passed != "":
			e.Agreed = byStandingRule(r.s.who.Name, r.top[st.index].passed)
		}
		say := r.e.says(r.prog, st)
		say.st = st
		if err := r.e.tell(b, e, say); err != nil {
			return nil, err
		}
		of = append(of, st)
	}
	return of, nil
}

func gaveSensitive(st *step) bool {
	return st.cells != nil && len(st.cells.rows) > 0 && slices.ContainsFunc(st.cells.columns, func(c column) bool { return c.sensitive })
}

// entry begins a journal entry with the fields that every entry of a session has.
func (s *Session) entry(p *verbs.Program, o RunOptions, place dsl.Place) stores.Entry {
	e := stores.Entry{Principal: s.who.Name, Session: s.id, Source: o.Source, Palette: s.e.reg.Digest(), Turn: s.turnID(o), Roles: s.roleNames()}
	if src := p.Script().Source; src != nil {
		if e.Source == "" {
			e.Source = src.Name
		}
		e.Source = fmt.Sprintf("%s:%d", e.Source, src.Position(place.Range.Start).Line)
	}
	return e
}

// roleNames returns the principal's roles for a journal entry.
func (s *Session) roleNames() (names []string) {
	for _, role := range s.roles {
		names = append(names, role.Name)
	}
	return names
}

// turnID returns the id of the turn that led to a run, "" if there is none.
func (s *Session) turnID(o RunOptions) string {
	if o.Turn > 0 && !s.kept.IsNull() {
		return sessions.TurnID(s.id, o.Turn)
	}
	return ""
}

// refusal writes refused calls into the journal, in a transaction of their own.
func (s *Session) refusal(ctx context.Context, p *verbs.Program, o RunOptions, err error) error {
	return s.refused(ctx, p, o, err)
}

// refused is refusal for the run of a job, if there is one.
func (s *Session) refused(ctx context.Context, p *verbs.Program, o RunOptions, err error, settled ...stores.Settlement) error {
	var r *Refusal
	if !errors.As(err, &r) || r.told {
		return err
	}
	var b stores.Batch
	told := make(map[int]bool)
	calls := p.Calls()
	for i, call := range r.calls {
		if call < 0 && len(calls) > 0 {
			call = s.stands(p) // it is about the script
		}
		if call < 0 || told[call] {
			continue
		}
		told[call] = true
		c := &calls[call]
		e := s.entry(p, o, placeOf(p, c))
		e.Time, e.Verb, e.Outcome, e.Reason = s.e.clock(), c.Verb.Name, outcomeRefused, r.Diagnostics[i].Code
		if failed := s.e.tell(&b, e, s.e.saidOf(p, call)); failed != nil {
			return failed
		}
	}
	if len(b.Entries) == 0 && len(settled) == 0 {
		return err
	}
	b.Settled = settled
	if failed := s.record(ctx, b, s.countsRefused(p, r)...); failed != nil {
		return &Failure{Err: fmt.Errorf("%w; and the journal could not be told: %w", err, failed)}
	}
	return err
}

// stands picks the call that the journal names for a whole program: the first one that may
// change something, or else the first one.
func (s *Session) stands(p *verbs.Program) int {
	calls, order := p.Calls(), p.Order()
	for _, i := range order {
		if !s.e.onlyReads(calls[i].Verb) {
			return i
		}
	}
	return order[0]
}

// record writes a batch that has to be kept even if the request was cancelled meanwhile, and
// counts the uses of limited verbs.
func (s *Session) record(ctx context.Context, b stores.Batch, used ...countedUse) error {
	ctx, stop := detached(ctx)
	defer stop()
	scope := s.scope
	for _, u := range used {
		scope = holding(scope, uses, s.limitKey(u.verb, u.limit))
	}
	return s.e.write(ctx, scope, func(tx stores.Tx) error {
		with := b
		if len(used) > 0 {
			more, err := s.counts(ctx, tx, used)
			if err != nil {
				return err
			}
			with.Changes = append(b.Changes[:len(b.Changes):len(b.Changes)], more...)
		}
		err := tx.Apply(ctx, with)
		if len(used) > 0 && errors.Is(err, stores.ErrDuplicate) {
			err = fmt.Errorf("two began to count at once: %w", stores.ErrConflict)
		}
		return err
	})
}

// write runs fn in a transaction, again when rows change meanwhile.
func (e *Engine) write(ctx context.Context, scope stores.Scope, fn func(stores.Tx) error) error {
	var err error
	for attempt := range maxAttempts {
		if attempt > 0 {
			e.pause(ctx, attempt)
		}
		if err = e.store.Update(ctx, scope, fn); !errors.Is(err, stores.ErrConflict) || ctx.Err() != nil {
			break
		}
	}
	return err
}

// AddedRows writes rows in the form that journal entries have. It is for rows that are added
// outside any call and hold nothing sensitive or personal.
func AddedRows(changes []stores.Change) string {
	var told journal.Record
	for i := range changes {
		c := &changes[i]
		row := receipt.Row{Op: receipt.Inserted, Entity: c.Entity.Name, Table: c.Entity.Table, Key: c.Key}
		for _, set := range c.Set {
			f := &c.Entity.Fields[set.Field]
			after := receipt.Value{Value: set.Value}
			if f.Ref != nil {
				after.Name = newRow // it is added together with these rows, like all rows that they refer to
			}
			row.Fields = append(row.Fields, receipt.Field{Name: f.Name, Kind: f.Holds(), After: after})
		}
		told.Rows = append(told.Rows, row)
	}
	return string(told.AppendText(nil))
}

// onlyReads reports whether a verb cannot change anything: it and all verbs that it uses promise
// nothing but an answer.
func (e *Engine) onlyReads(v *verbs.Verb) bool {
	return v.Answers() && !slices.ContainsFunc(e.inside[v], func(inner *verbs.Verb) bool { return !inner.Answers() })
}

// onlyLooks reports whether a program can run on a snapshot: it changes nothing and is not
// journalled.
func (e *Engine) onlyLooks(p *verbs.Program) bool {
	calls := p.Calls()
	for i := range calls {
		v := calls[i].Verb
		if !e.onlyReads(v) || e.onRecord(v) || slices.ContainsFunc(e.inside[v], e.onRecord) {
			return false
		}
	}
	return true
}

// onRecord reports whether a verb is journalled even though it only reads: its answer may
// hold sensitive values, or tell of rows outside the caller's scope.
func (e *Engine) onRecord(v *verbs.Verb) bool {
	return e.sensitive[v] != nil || len(v.Discloses) > 0 || v.Read != nil && slices.ContainsFunc(v.Read.Fields, func(f verbs.ReadField) bool { return f.Sensitive })
}

// withheld replaces the value of a sensitive argument in a text. It is a string literal, so
// that the text still parses.
const withheld = "(withheld)"

// written returns a call of a program as it is kept and shown: with suffixed names, without
// the values of sensitive arguments and, inside a macro, with the macro's arguments in place
// of their names. p is nil for a call whose names are not settled. A call in which nothing
// needs replacing is returned unchanged.
func (e *Engine) written(p *verbs.Program, c *dsl.Call, macro *step) *dsl.Call {
	return dsl.Replace(c, func(of *dsl.Call, key string, v *dsl.Value) (dsl.Value, bool) {
		if verb := e.reg.Verb(of.Verb); verb != nil && isSensitive(verb, key) {
			return dsl.NewString(withheld), true
		}
		if macro != nil && v.Kind == dsl.Symbol {
			return macro.given(v.Text)
		}
		return p.Named(v)
	})
}

// given returns the written value of the argument that a symbol names in a macro's script.
func (st *step) given(symbol string) (dsl.Value, bool) {
	name, path, _ := strings.Cut(symbol, ".")
	if of, ok := st.verb.Macro.ForEach(); ok && name == "each" {
		outer, given := st.syntax.Get(st.verb.Params[of].Name)
		switch items := outer.Items(); {
		case st.isSensitive(of):
			return dsl.NewString(withheld), true
		case !given || st.each.at >= len(items):
			return verbs.AsLiteral(st.each.item), true
		default:
			return inMap(items[st.each.at], path), true
		}
	}
	for i := range st.verb.Params {
		p := &st.verb.Params[i]
		if !sameWord(p.Name, name) {
			continue
		}
		outer, given := st.syntax.Get(p.Name)
		switch {
		case st.isSensitive(i) && (!given || outer.Kind != dsl.Symbol):
			outer = dsl.NewString(withheld)
		case !given:
			outer = verbs.AsLiteral(st.args[i])
		default:
			outer = inMap(outer, path)
		}
		return outer, true
	}
	return dsl.Value{}, false
}

// inMap returns the part of a written value that a path leads to, as far as that is written.
func inMap(v dsl.Value, path string) dsl.Value {
	switch {
	case path == "":
	case v.Kind == dsl.Symbol:
		return dsl.NewSymbol(v.Text + "." + path)
	case v.Kind == dsl.Map:
		if part, ok := partOf(v, path); ok {
			return part
		}
	}
	return v
}

func isSensitive(v *verbs.Verb, key string) bool {
	for i := range v.Params {
		if v.Params[i].Name == key {
			return v.Params[i].Sensitive
		}
	}
	return false
}
