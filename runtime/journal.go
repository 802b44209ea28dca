package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
)

// What the journal holds: an entry for every call that may change something,
// whether it did or was refused, and for every call that gave back a sensitive
// field. Other reads leave no entry, so that reading stays cheap and writes
// nothing. The calls of a macro have entries of their own, with what they
// changed; the entry of the macro before them says what was asked for.

const (
	outcomeOK       = "ok"
	outcomeRefused  = "refused"
	outcomeDeclined = "declined"
	outcomeSkipped  = "skipped" // of work whose time came when there was no more point in it
	outcomeExpired  = "expired" // of a confirmation that nobody decided in time
)

// A LoggedChange is one row change as a journal entry tells it.
type LoggedChange struct {
	Op     string // "insert", "update", "delete"
	Entity string
	Table  string
	Key    string
	Name   string `json:",omitempty"` // what the row was called in the session
	Fields []LoggedField
}

// A LoggedField is one field of a LoggedChange. The values of a sensitive field
// are not kept.
type LoggedField struct {
	Field     string
	Before    stores.Value
	After     stores.Value
	Sensitive bool
	Origin    string // what the field is marked with: see verbs.Stored
}

// ReadChanges reads what stores.Entry.Changes holds. Values come back by their
// JSON: text for dates and the like.
func ReadChanges(text string) ([]LoggedChange, error) {
	if text == "" {
		return nil, nil
	}
	var raw []struct {
		Op, Entity, Table, Key, Name string
		Fields                       []struct {
			Field     string
			Before    json.RawMessage
			After     json.RawMessage
			Sensitive bool
			Origin    string
		}
	}
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		return nil, fmt.Errorf("the changes of a journal entry cannot be read: %w", err)
	}
	var out []LoggedChange
	for _, c := range raw {
		change := LoggedChange{Op: c.Op, Entity: c.Entity, Table: c.Table, Key: c.Key, Name: c.Name}
		for _, f := range c.Fields {
			change.Fields = append(change.Fields, LoggedField{f.Field, plain(f.Before), plain(f.After), f.Sensitive, f.Origin})
		}
		out = append(out, change)
	}
	return out, nil
}

func plain(raw json.RawMessage) stores.Value {
	for _, k := range []stores.Kind{stores.String, stores.Bool, stores.Int, stores.Decimal, stores.JSON} {
		if len(raw) == 0 {
			break
		}
		if v, ok := stores.FromJSON(k, raw); ok {
			return v
		}
	}
	return stores.Value{}
}

var opNames = [...]string{stores.Insert: "insert", stores.Update: "update", stores.Delete: "delete"}

// changesText is the canonical JSON of a call's changes: keys in the order of
// the alphabet, no white space.
func (r *run) changesText(st *step) string {
	if len(st.changes) == 0 {
		return ""
	}
	list := make([]stores.Value, 0, len(st.changes))
	for i := range st.changes {
		c := &st.changes[i]
		var fields []stores.Value
		field := func(f int, before, after stores.Value, mark string) {
			def := &c.Entity.Fields[f]
			keys, values := []string{"Field"}, []stores.Value{stores.NewString(def.Name)}
			if slices.Contains(c.secret, f) {
				keys, values = append(keys, "Sensitive"), append(values, stores.NewBool(true))
			} else {
				if !before.IsNull() {
					keys, values = append(keys, "Before"), append(values, before)
				}
				if !after.IsNull() {
					keys, values = append(keys, "After"), append(values, after)
				}
			}
			if mark != "" {
				keys, values = append(keys, "Origin"), append(values, stores.NewString(mark))
			}
			fields = append(fields, stores.NewObject(keys, values))
		}
		if c.Op == stores.Delete {
			for f, v := range c.Before {
				if f != c.Entity.Key && !v.IsNull() {
					field(f, v, stores.Value{}, "")
				}
			}
		}
		for _, a := range c.Set {
			var before stores.Value
			if c.Before != nil {
				before = c.Before[a.Field]
			}
			field(a.Field, before, a.Value, a.Origin)
		}
		keys := []string{"Op", "Entity", "Table", "Key", "Fields"}
		values := []stores.Value{stores.NewString(opNames[c.Op]), stores.NewString(c.Entity.Name), stores.NewString(c.Entity.Table),
			stores.NewString(c.Key.Text()), stores.NewList(fields...)}
		if c.named.name != "" {
			keys, values = append(keys, "Name"), append(values, stores.NewString("@"+c.named.name))
		}
		list = append(list, stores.NewObject(keys, values))
	}
	return stores.NewList(list...).Text()
}

// entries makes the journal of a run, in the order in which its calls were
// carried out, and the steps that they belong to.
func (r *run) entries(o RunOptions) ([]stores.Entry, []*step) {
	var entries []stores.Entry
	var of []*step
	for _, st := range r.steps {
		if r.e.onlyReads(st.verb) && !gaveSensitive(st) {
			continue
		}
		e := r.s.entry(r.prog, o, st.place)
		e.Time, e.Verb, e.Call, e.Outcome, e.Changes = r.now, st.verb.Name, st.text, outcomeOK, r.changesText(st)
		e.Origins = originsText(st)
		switch {
		case r.agreedBy != "":
			e.Preview, e.Agreed = r.id, r.agreedBy
		case o.Agreed != "":
			e.Preview, e.Agreed = r.id, r.s.who.Name
		}
		entries, of = append(entries, e), append(of, st)
	}
	return entries, of
}

func gaveSensitive(st *step) bool {
	return st.cells != nil && len(st.cells.rows) > 0 && slices.ContainsFunc(st.cells.columns, func(c column) bool { return c.sensitive })
}

// entry fills what every entry of a session has.
func (s *Session) entry(p *verbs.Program, o RunOptions, place dsl.Place) stores.Entry {
	e := stores.Entry{Principal: s.who.Name, Session: s.id, Source: o.Source, Palette: s.e.reg.Digest()}
	for _, role := range s.roles {
		e.Roles = append(e.Roles, role.Name)
	}
	if src := p.Script().Source; src != nil {
		if e.Source == "" {
			e.Source = src.Name
		}
		e.Source = fmt.Sprintf("%s:%d", e.Source, src.Position(place.Range.Start).Line)
	}
	return e
}

// refusal writes refused calls into the journal, in a transaction of their own.
func (s *Session) refusal(ctx context.Context, p *verbs.Program, o RunOptions, err error) error {
	return s.refused(ctx, p, o, err)
}

// refused is refusal, of a run of a job if there is one.
func (s *Session) refused(ctx context.Context, p *verbs.Program, o RunOptions, err error, settled ...stores.Settlement) error {
	var r *Refusal
	if !errors.As(err, &r) || r.told {
		return err
	}
	var entries []stores.Entry
	told := make(map[int]bool)
	calls := p.Calls()
	for i, call := range r.calls {
		if call < 0 && len(calls) > 0 {
			call = p.Order()[0] // it is about the script, which begins here
		}
		if call < 0 || told[call] {
			continue
		}
		told[call] = true
		c := &calls[call]
		e := s.entry(p, o, placeOf(p, c))
		e.Time, e.Verb, e.Outcome, e.Reason = s.e.clock(), c.Verb.Name, outcomeRefused, r.Diagnostics[i].Code
		e.Call = dsl.FormatCall(s.e.written(c.Syntax, nil))
		entries = append(entries, e)
	}
	if len(entries) == 0 && len(settled) == 0 {
		return err
	}
	if failed := s.record(ctx, stores.Batch{Entries: entries, Settled: settled}); failed != nil {
		return &Failure{Err: fmt.Errorf("%w; and the journal could not be told: %w", err, failed)}
	}
	return err
}

// record writes what has to be kept even where the request was cancelled
// meanwhile.
func (s *Session) record(ctx context.Context, b stores.Batch) error {
	ctx, stop := firmly(ctx)
	defer stop()
	return s.e.write(ctx, s.scope, func(tx stores.Tx) error {
		return tx.Apply(ctx, b)
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

// onlyReads reports whether a verb cannot change anything: it promises nothing
// but an answer, and nor does any verb that it uses.
func (e *Engine) onlyReads(v *verbs.Verb) bool {
	return answers(v) && !slices.ContainsFunc(e.inside[v], func(inner *verbs.Verb) bool { return !answers(inner) })
}

func answers(v *verbs.Verb) bool {
	if v.Tool != nil {
		return false // whatever it is for, something leaves the house
	}
	for i := range v.Effects {
		switch v.Effects[i].Kind {
		case verbs.ReturnsEffect, verbs.Validates:
		default:
			return false
		}
	}
	return true
}

// onlyLooks reports whether a program can run on a snapshot: it changes
// nothing and nothing of it is journalled.
func (e *Engine) onlyLooks(p *verbs.Program) bool {
	calls := p.Calls()
	for i := range calls {
		v := calls[i].Verb
		if !e.onlyReads(v) || e.givesSensitive(v) || slices.ContainsFunc(e.inside[v], e.givesSensitive) {
			return false
		}
	}
	return true
}

func (e *Engine) givesSensitive(v *verbs.Verb) bool {
	return e.dark[v] != nil || v.Read != nil && slices.ContainsFunc(v.Read.Fields, func(f verbs.ReadField) bool { return f.Sensitive })
}
