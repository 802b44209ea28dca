package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/state/sessions"
	"verbatim/stores"
	"verbatim/verbs"
)

// What is said

// Waiting returns the questions that wait in the session, the oldest first, and the number of turns
// of the session.
func (ts Turns) Waiting(ctx context.Context) (all []sessions.Question, turns int64, err error) {
	err = lookInto(ctx, ts.s, func(r *source, kept *sessions.Session) (err error) {
		all, err = kept.Waiting(ctx, r.read)
		turns = kept.Turns
		return err
	})
	return all, turns, err
}

// Via returns the number of the turn that came by a channel under a name, 0 if there is none.
func (ts Turns) Via(ctx context.Context, via string) (number int64, err error) {
	err = lookInto(ctx, ts.s, func(r *source, _ *sessions.Session) (err error) {
		number, err = sessions.Via(ctx, r.read, ts.s.kept, via)
		return err
	})
	return number, err
}

// Recall checks the script of a waiting question under the palettes as they are now. Its
// preview tells whether it still does what was asked. Recall returns a *Refusal where the
// script is not valid any more.
func (ts Turns) Recall(ctx context.Context, q *sessions.Question) (*verbs.Program, error) {
	script, said, err := q.Read()
	if err != nil {
		return nil, &Failure{Err: err}
	}
	p, ds := ts.s.Check(ctx, script, CheckOptions{Said: said})
	switch {
	case p != nil:
		return p, nil
	case len(ds) == 1 && ds[0].Code == CodeNamesUnread:
		return nil, &Failure{Err: errors.New(ds[0].Summary)}
	}
	return nil, refuseScript(tell(dsl.Place{}, "stale-preview"))
}

// rowsNamed returns pointers to the rows that names of this session stand for.
func rowsNamed(s *Session, names []string) (rows []sessions.Row, err error) {
	for _, name := range names {
		e, key, ok := keyNamed(s, strings.TrimPrefix(name, "@"))
		if !ok {
			return nil, refuseScript(tell(dsl.Place{}, "unknown-name", "names"))
		}
		rows = append(rows, sessions.RowOf(e, key))
	}
	return rows, nil
}

// Known returns the present labels of the rows that some names of this session stand for,
// each row once. Names that stand for no row are left out.
func (ns Names) Known(names []string) []string {
	var known []string
	for _, name := range names {
		e, key, ok := keyNamed(ns.s, strings.TrimPrefix(name, "@"))
		if !ok {
			continue
		}
		if n, ok := ns.s.names.Row(e, key); ok && !slices.Contains(known, n.Name) {
			known = append(known, n.Name)
		}
	}
	return known
}

// keyNamed finds the row that a name of this session stands for.
func keyNamed(s *Session, name string) (*stores.Entity, stores.Value, bool) {
	for _, e := range s.e.catalog.entities {
		if key, ok := s.names.Key(e.Store, name); ok {
			return e.Store, key, true
		}
	}
	return nil, stores.Value{}, false
}

// Of returns the entity of the row that a name stands for in this session; nil where it
// stands for none.
func (ns Names) Of(name string) *verbs.Entity {
	e, _, ok := keyNamed(ns.s, strings.TrimPrefix(name, "@"))
	if !ok {
		return nil
	}
	return ns.s.e.reg.Entity(e.Name)
}

// sayTurns makes turns of what was said, the first with the number after after.
func sayTurns(r *source, all []sessions.Said, after int64, entries int, about func() sessions.Notes) (changes []stores.Change, err error) {
	var of sessions.Notes
	if about != nil && len(all) > 0 {
		of = about()
	}
	for i := range all {
		said := &all[i]
		switch {
		case said.TooLong():
			return nil, refuseScript(tell(dsl.Place{}, "bad-turn/long", sessions.MaxTurn))
		case !said.IsText():
			return nil, refuseScript(tell(dsl.Place{}, "bad-turn"))
		}
		rows, err := rowsNamed(r.s, said.Names)
		if err != nil {
			return nil, err
		}
		c, err := said.Turn(r.s.kept, after+int64(i)+1, rows, of, entries, r.now)
		if err != nil {
			return nil, err
		}
		changes = append(changes, c)
	}
	return changes, nil
}

// aboutRun returns the rows that a run is about, and the verbs that it calls.
func aboutRun(r *run) sessions.Notes {
	const enough = 100
	var rows []sessions.Row
	add := func(e *stores.Entity, key stores.Value) {
		if row := sessions.RowOf(e, key); len(rows) < enough && !slices.Contains(rows, row) {
			rows = append(rows, row)
		}
	}
	var called []string
	for _, st := range r.plan.steps {
		for i := range st.args.rows {
			if e := st.args.rows[i].Entity; e != nil {
				add(e, st.args.rows[i].Key())
			}
		}
		for i := range st.out.changes {
			add(st.out.changes[i].Entity, st.out.changes[i].Key)
		}
		if st.tree.outer == nil && !slices.Contains(called, st.verb.Name) && len(called) < enough {
			called = append(called, st.verb.Name)
		}
	}
	return sessions.Notes{Rows: rows, Action: strings.Join(called, ", ")}
}

// Say keeps turns that led to no run, and returns the number of the first. A later run can
// name that turn with RunOptions.Turn. To keep turns together with a run, use
// RunOptions.Said instead.
func (ts Turns) Say(ctx context.Context, all ...sessions.Said) (first int64, err error) {
	if len(all) == 0 {
		return 0, nil
	}
	err = writeTo(ctx, ts.s.e, mineOnly(ts.s), func(tx stores.Tx) error {
		r := sourceOf(ts.s, tx)
		var b stores.Batch
		if err := r.keepSession(ctx, &b, all, nil); err != nil {
			return err
		}
		first = r.draft.visit.Turns + 1
		return tx.Apply(ctx, b)
	})
	return first, storeError(dsl.Place{}, err)
}

// Between returns the turns of the session between two numbers; to == 0 means up to the
// latest. Rows have their names of this session. A row that has left the principal's scope
// is left out.
func (ts Turns) Between(ctx context.Context, from, to int64) (all []sessions.Turn, err error) {
	err = lookInto(ctx, ts.s, func(r *source, _ *sessions.Session) error {
		all, err = turnsBetween(ctx, r, from, to)
		return err
	})
	return all, err
}

// turnsBetween reads turns, in their order, and names their rows.
func turnsBetween(ctx context.Context, r *source, from, to int64) ([]sessions.Turn, error) {
	all, err := sessions.Between(ctx, r.read, r.s.kept, from, to)
	for i := range all {
		for _, about := range all[i].Rows {
			e := r.e.reg.Entity(about.Entity)
			key, ok := stores.Parse(about.Kind, about.Key)
			if e == nil || !ok {
				continue // no palette declares it any more
			}
			named, err := r.nameRow(ctx, e, key)
			if err != nil {
				return nil, err
			}
			if named.Name != "" {
				all[i].Names = append(all[i].Names, named.Shown())
			}
		}
	}
	return all, err
}

// Hearing

// A speech is the language that a person was heard to speak. They did not state it, so it is
// not kept: each process hears it anew.
type speech struct{ language atomic.Pointer[string] }

func (s *speech) heard() string {
	if l := s.language.Load(); l != nil {
		return *l
	}
	return ""
}

// Hears notes the language that the person speaks, such as "de". It counts only if neither
// the session nor the person's profile names one.
func (ts Turns) Hears(language string) { ts.s.speech.language.Store(&language) }

// Called returns the label of the row that a name of this session stands for, also as records keep it;
// "" where the session knows no such name. Rows of several entities may share a name; their labels then
// differ in punctuation and capitals at most.
func (ns Names) Called(name string) string {
	called := ""
	for _, e := range ns.s.e.catalog.entities {
		if key, ok := ns.s.names.Key(e.Store, name); ok {
			if row, _ := ns.s.names.Row(e.Store, key); row.Label != "" && (called == "" || row.Label < called) {
				called = row.Label
			}
		}
	}
	return called
}

// Forgetting

// forgetWords erases the words of every turn of a principal, and the values of their sessions
// except references and marks. It returns the number of turns.
func forgetWords(ctx context.Context, e *Engine, principal string, dry bool) (n int, err error) {
	if dry {
		err = e.store.View(ctx, system(), func(r stores.Reader) error {
			rows, err := r.Find(ctx, sessions.SaidBy(principal, 0))
			n = len(rows)
			return err
		})
		return n, err
	}
	n, err = e.inParts(ctx, sessions.SaidBy(principal, housekeeping), func(_ stores.Tx, rows [][]stores.Value) (b stores.Batch, err error) {
		for _, row := range rows {
			b.Changes = append(b.Changes, sessions.Erase(row))
		}
		return b, nil
	})
	if err != nil {
		return n, err
	}
	if _, err := e.prune(ctx, sessions.Questions, sessions.AskedOf(principal)); err != nil {
		return n, err
	}
	return n, writeTo(ctx, e, system(), func(tx stores.Tx) error {
		changes, err := sessions.ForgetValues(ctx, tx, principal)
		if err != nil || len(changes) == 0 {
			return err
		}
		return tx.Apply(ctx, stores.Batch{Changes: changes})
	})
}

// Handlers

// A SessionState is the session as a handler sees it.
type SessionState struct {
	// Kept says that the store keeps the session: one without a name is not kept.
	Kept     bool
	Zone     *time.Location // of the person
	Language string

	c      *Call
	values map[string]sessions.Value
}

// heardUntil returns the first turn that a plan does not know. A person who agrees to the
// plan later agrees to what was said before that turn, and to nothing said since.
func heardUntil(r *source) int64 {
	if r.before != 0 || r.draft.visit == nil {
		return r.before
	}
	return r.draft.visit.Turns + 1
}

// Session returns the session that the call is made in.
func (c *Call) Session(ctx context.Context) (SessionState, error) {
	p := c.r.s.Person()
	st := SessionState{Zone: c.r.s.zone, Language: p.Language, c: c}
	if st.Zone == nil {
		st.Zone = c.r.e.opt.Zone
	}
	leave, err := c.reads.enter()
	if err != nil {
		return st, err
	}
	defer leave()
	kept, err := c.r.session(ctx)
	if err != nil || kept == nil {
		return st, err
	}
	st.Kept, st.values = true, kept.Values
	return st, nil
}

// Value returns the value that an effect has set under a name, null if there is none. For a
// reference, use To.
func (s SessionState) Value(name string) stores.Value {
	if v := s.look(name); v.Entity == "" {
		return v.Value()
	}
	return stores.Value{}
}

// To returns the row that a name was set to. It may be out of scope by now.
func (s SessionState) To(name string) Ref {
	if v := s.look(name); v.Entity != "" {
		return Ref{v.Entity, v.Value()}
	}
	return Ref{}
}

func (s SessionState) look(name string) sessions.Value {
	if s.c == nil || s.values == nil {
		return sessions.Value{}
	}
	leave, err := s.c.reads.enter()
	if err != nil {
		return sessions.Value{}
	}
	defer leave()
	name = strings.ReplaceAll(name, "-", "_")
	v := s.values[name]
	s.c.st.sawSession(name, v)
	if v != (sessions.Value{}) {
		s.c.read = s.c.read.Mix(verbs.Stored(v.Origin))
	}
	return v
}

// Turns returns all turns of the session before this call, or before the turn of
// RunOptions.Before, in order.
func (c *Call) Turns(ctx context.Context) ([]sessions.Turn, error) {
	leave, err := c.reads.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	kept, err := c.r.session(ctx)
	if err != nil || kept == nil {
		return nil, err
	}
	var all []sessions.Turn
	if before := c.r.before; before != 1 { // nothing was said before the first
		if all, err = turnsBetween(ctx, c.r, 1, max(0, before-1)); err != nil {
			return nil, err
		}
	}
	for i := range all {
		who := verbs.FromScript
		switch all[i].Role {
		case sessions.Client:
			who = verbs.FromPerson
		case sessions.Agent:
			who = verbs.FromModel
		}
		c.read = c.read.Mix(verbs.NewOrigin(who, ""))
	}
	c.st.saw(readRow{entity: sessions.Turns, key: c.r.s.kept, paths: []stores.Path{{Field: sessions.FieldNumber}}, values: []stores.Value{stores.NewInt(int64(len(all)))}})
	return all, nil
}
