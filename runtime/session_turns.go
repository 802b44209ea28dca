package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
)

// What is said in a session is kept turn by turn, in the transaction of what it
// led to where it led to anything. The words stand in the turns and nowhere
// else: a session's own values, and the notes beside a turn, are pointers.

// A TurnRole says who speaks.
type TurnRole string

// Who speaks in a conversation.
const (
	ClientTurn TurnRole = "CLIENT" // the person
	AgentTurn  TurnRole = "AGENT"  // whoever serves them, a model or a person
	SystemTurn TurnRole = "SYSTEM" // the program: an upload that arrived, a form that was sent
)

// WhyIntent is the intent of a system's turn that tells how the answer before it
// came about: it is there for whoever looks into that, and was said to nobody.
const WhyIntent = "why"

// A Said is something that is said in a session.
type Said struct {
	Role    TurnRole
	Content string
	// Intent is what the person seems to want, in a word of whoever found out.
	Intent string
	// Mentions are the things that were spoken of, as they were called.
	Mentions []string
	// Names are rows that were spoken of, by their names in this session. Those
	// that a run reads for its arguments or changes are noted besides.
	Names []string
	// Action is what was done about it, in words; without it, the verbs that
	// were called.
	Action string
	// Puts are the questions that it puts to the person, and Settles the previews
	// of those that it answers or drops: see Session.Waiting.
	Puts    []Question
	Settles []string
	// Answers is the one among those that nobody else may have settled before: it is
	// refused as used otherwise, with all that is kept with it. "" is none.
	Answers string
}

// A Turn is a Said as it is kept.
type Turn struct {
	Said
	ID     string // as journal entries name it
	Number int64  // from 1
	Time   time.Time
	// Entries and First say which journal entries the turn was kept with: how
	// many, and the number of the first.
	Entries, First int64
	// Erased says that its words were taken out, because a person asked to be
	// forgotten.
	Erased bool
}

// maxTurn is how long a turn may be, in bytes.
const maxTurn = 100_000

// turnNotes is what is kept about a turn beside its words.
type turnNotes struct {
	Intent   string    `json:"intent,omitempty"`
	Mentions []string  `json:"mentions,omitempty"`
	Rows     []turnRow `json:"rows,omitempty"`
	Action   string    `json:"action,omitempty"`
}

type turnRow struct {
	Entity string      `json:"entity"`
	Kind   stores.Kind `json:"kind"`
	Key    string      `json:"key"`
}

// turnID is the id of a turn of a session.
func turnID(session string, number int64) string { return fmt.Sprintf("%s/%d", session, number) }

func (s *Said) fit() error {
	long := len(s.Content) + len(s.Intent) + len(s.Action)
	texts := append([]string{s.Content, s.Intent, s.Action}, s.Mentions...)
	for _, m := range s.Mentions {
		long += len(m)
	}
	whole := !slices.ContainsFunc(texts, func(t string) bool { return !utf8.ValidString(t) || strings.ContainsRune(t, 0) })
	switch {
	case s.Role != ClientTurn && s.Role != AgentTurn && s.Role != SystemTurn:
		return &Failure{Err: fmt.Errorf("nobody speaks as %q", s.Role)}
	case long > maxTurn || len(s.Mentions) > 1000 || len(s.Names) > 1000:
		return refuse([]complaint{{-1, turnTooLong(maxTurn)}})
	case !whole:
		return refuse([]complaint{{-1, turnUnreadable()}})
	}
	return nil
}

// notes makes what is kept about a turn. rows are those that a run was about.
func (s *Session) notes(said *Said, rows []turnRow, action string) (stores.Value, error) {
	n := turnNotes{Intent: said.Intent, Mentions: said.Mentions, Action: said.Action}
	if n.Action == "" {
		n.Action = action
	}
	for _, name := range said.Names {
		e, key, ok := s.keyNamed(strings.TrimPrefix(name, "@"))
		if !ok {
			return stores.Value{}, refuse([]complaint{{-1, unknownName(dsl.Place{}, "names")}})
		}
		n.Rows = append(n.Rows, turnRow{e.Name, key.Kind(), key.Text()})
	}
	for _, row := range rows {
		if !slices.Contains(n.Rows, row) {
			n.Rows = append(n.Rows, row)
		}
	}
	text, err := json.Marshal(n)
	if err != nil {
		return stores.Value{}, &Failure{Err: err}
	}
	v, err := stores.ParseJSON(string(text))
	if err != nil {
		return stores.Value{}, &Failure{Err: err}
	}
	return v, nil
}

// Known tells what the rows are called now that some names stand for in this
// session, each once. Names that stand for no row are left out.
func (s *Session) Known(names []string) []string {
	var known []string
	for _, name := range names {
		e, key, ok := s.keyNamed(strings.TrimPrefix(name, "@"))
		if !ok {
			continue
		}
		if n, ok := s.names.Row(e, key); ok && !slices.Contains(known, n.Name) {
			known = append(known, n.Name)
		}
	}
	return known
}

// keyNamed finds the row that a name of this session stands for.
func (s *Session) keyNamed(name string) (*stores.Entity, stores.Value, bool) {
	for _, e := range s.e.entities {
		if key, ok := s.names.Key(e.Store, name); ok {
			return e.Store, key, true
		}
	}
	return nil, stores.Value{}, false
}

// say adds turns to what a run commits, the first with the number after after.
func (r *reading) say(changes []stores.Change, all []Said, after int64, entries int, of *touched) ([]stores.Change, error) {
	if len(all) == 0 {
		return changes, nil
	}
	changes = changes[:len(changes):len(changes)]
	if of == nil {
		of = &touched{}
	}
	for i := range all {
		said := &all[i]
		if err := said.fit(); err != nil {
			return nil, err
		}
		about, err := r.s.notes(said, of.rows, of.action)
		if err != nil {
			return nil, err
		}
		c := r.s.turn(said, after+int64(i)+1, about, r.now)
		c.Set = append(c.Set, stores.Assign{Field: turnEntries, Value: stores.NewInt(int64(entries))})
		if entries > 0 {
			c.Number = turnFirst
		}
		changes = append(changes, c)
	}
	return changes, nil
}

// A touched is the rows that a run is about, and the verbs that it calls.
type touched struct {
	rows   []turnRow
	action string
}

func (r *run) touched() *touched {
	var rows []turnRow
	add := func(e *stores.Entity, key stores.Value) {
		row := turnRow{e.Name, key.Kind(), key.Text()}
		const enough = 100
		if len(rows) < enough && !slices.Contains(rows, row) {
			rows = append(rows, row)
		}
	}
	var called []string
	for _, st := range r.steps {
		for i := range st.rows {
			if e := st.rows[i].Entity; e != nil {
				add(e, st.rows[i].Key())
			}
		}
		for i := range st.changes {
			add(st.changes[i].Entity, st.changes[i].Key)
		}
		if st.outer == nil && !slices.Contains(called, st.verb.Name) && len(called) < 100 {
			called = append(called, st.verb.Name)
		}
	}
	return &touched{rows, strings.Join(called, ", ")}
}

func (s *Session) turn(said *Said, number int64, about stores.Value, at time.Time) stores.Change {
	return stores.Change{Op: stores.Insert, Entity: turns, Key: stores.NewString(turnID(s.id, number)), Set: []stores.Assign{
		{Field: turnSession, Value: s.kept}, {Field: turnNumber, Value: stores.NewInt(number)}, {Field: turnTime, Value: stores.NewTime(at)},
		{Field: turnRole, Value: stores.NewString(string(said.Role))}, {Field: turnContent, Value: stores.NewString(said.Content)},
		{Field: turnAbout, Value: about},
	}}
}

// Say keeps what was said where nothing was done about it, and returns the number
// of the first turn. What a run does about it can name that turn with
// RunOptions.Turn; to keep both at once, give RunOptions.Said instead.
func (s *Session) Say(ctx context.Context, all ...Said) (first int64, err error) {
	if s.kept.IsNull() {
		return 0, refuse([]complaint{{-1, noSession(dsl.Place{}, "what was said")}})
	}
	if len(all) == 0 {
		return 0, nil
	}
	err = s.e.write(ctx, s.mine(), func(tx stores.Tx) error {
		r := s.reads(tx)
		var b stores.Batch
		if err := r.keepSession(ctx, &b, all, nil); err != nil {
			return err
		}
		first = r.visit.row.Values[sesTurns].Int() + 1
		return tx.Apply(ctx, b)
	})
	if err != nil {
		return 0, s.saidError(err)
	}
	return first, nil
}

func (s *Session) saidError(err error) error {
	var refusal *Refusal
	switch {
	case errors.As(err, &refusal):
		return err
	case errors.Is(err, stores.ErrConflict):
		return refuse([]complaint{{-1, changedMeanwhile(dsl.Place{})}})
	}
	return failure(err)
}

// Turns returns the turns of the session, from one number to another; to == 0 is
// the latest. Rows are named as they are in this session, and one that is out of
// the principal's scope by now is left out.
func (s *Session) Turns(ctx context.Context, from, to int64) (all []Turn, err error) {
	err = s.lookInto(ctx, func(r *reading, kept *keptSession) error {
		all, err = r.turns(ctx, from, to)
		return err
	})
	return all, err
}

// turns reads turns, in their order, a page at a time.
func (r *reading) turns(ctx context.Context, from, to int64) (all []Turn, err error) {
	const page = 200
	for {
		where := stores.Cond{Op: stores.And, Kids: []stores.Cond{
			{Op: stores.Eq, Path: stores.Path{Field: turnSession}, Value: r.s.kept},
			{Op: stores.Ge, Path: stores.Path{Field: turnNumber}, Value: stores.NewInt(from)},
		}}
		rows, err := r.read.Find(ctx, stores.Find{Entity: turns, Where: &where, Limit: page, Cut: true, Order: []stores.Order{{Path: stores.Path{Field: turnNumber}}}})
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			if from = row[turnNumber].Int() + 1; to != 0 && from > to+1 {
				return all, nil
			}
			turn, err := r.turnOf(ctx, row)
			if err != nil {
				return nil, err
			}
			all = append(all, turn)
		}
		if len(rows) < page {
			return all, nil
		}
	}
}

func (r *reading) turnOf(ctx context.Context, row []stores.Value) (Turn, error) {
	t := Turn{ID: row[turnKey].Text(), Number: row[turnNumber].Int(), Time: row[turnTime].Time(), Entries: row[turnEntries].Int(), Erased: row[turnContent].IsNull()}
	t.Role, t.Content = TurnRole(row[turnRole].Text()), row[turnContent].Text()
	if !row[turnFirst].IsNull() {
		t.First = row[turnFirst].Int()
	}
	var n turnNotes
	if !row[turnAbout].IsNull() {
		if err := json.Unmarshal([]byte(row[turnAbout].Text()), &n); err != nil {
			return t, &Failure{Err: fmt.Errorf("the notes beside a turn cannot be read: %w", err)}
		}
	}
	t.Intent, t.Mentions, t.Action = n.Intent, n.Mentions, n.Action
	for _, about := range n.Rows {
		e := r.e.reg.Entity(about.Entity)
		key, ok := stores.Parse(about.Kind, about.Key)
		if e == nil || !ok {
			continue // no palette declares it any more
		}
		named, err := r.nameRow(ctx, e, key)
		if err != nil {
			return t, err
		}
		if named.Name != "" {
			t.Names = append(t.Names, "@"+named.Name)
		}
	}
	return t, nil
}

// latestTurn says who spoke last in a session, for somebody who was overtaken.
func (r *reading) latestTurn(ctx context.Context, row stores.Row) (string, error) {
	number := row.Values[sesTurns].Int()
	if number == 0 {
		return "", nil
	}
	last, err := r.read.Get(ctx, turns, stores.NewString(turnID(r.s.id, number)))
	if err != nil {
		return "", err
	}
	var n turnNotes
	if !last.Values[turnAbout].IsNull() {
		if err := json.Unmarshal([]byte(last.Values[turnAbout].Text()), &n); err != nil {
			return "", &Failure{Err: fmt.Errorf("the notes beside a turn cannot be read: %w", err)}
		}
	}
	return n.Action, nil
}

// Forgetting

// forget takes the words out of every turn of a principal, and what their
// sessions keep but for references and marks. It returns how many turns it was.
func (e *Engine) forget(ctx context.Context, principal string, dry bool) (n int, err error) {
	of := stores.Path{Steps: []stores.Step{{Field: turnSession, To: sessions}}, Field: sesPrincipal}
	spoken := stores.Cond{Op: stores.And, Kids: []stores.Cond{
		{Op: stores.Eq, Path: of, Value: stores.NewString(principal)},
		{Op: stores.Not, Kids: []stores.Cond{{Op: stores.Eq, Path: stores.Path{Field: turnContent}}}},
	}}
	after := stores.Value{}
	for {
		where := spoken
		if !after.IsNull() {
			where.Kids = append(where.Kids[:2:2], stores.Cond{Op: stores.Gt, Path: stores.Path{Field: turnKey}, Value: after})
		}
		part := 0
		err := e.write(ctx, system(), func(tx stores.Tx) error {
			rows, err := tx.Find(ctx, stores.Find{Entity: turns, Where: &where, Limit: housekeeping, Cut: true, Order: []stores.Order{{Path: stores.Path{Field: turnKey}}}})
			if part = len(rows); err != nil || part == 0 {
				return err
			}
			after = rows[part-1][turnKey]
			if dry {
				return nil
			}
			var b stores.Batch
			for _, row := range rows {
				b.Changes = append(b.Changes, stores.Change{Op: stores.Update, Entity: turns, Key: row[turnKey], Before: row, Guard: []int{turnContent},
					Set: []stores.Assign{{Field: turnContent}, {Field: turnAbout}}})
			}
			return tx.Apply(ctx, b)
		})
		if err != nil {
			return n, err
		}
		if n += part; part < housekeeping {
			break
		}
	}
	if dry {
		return n, nil
	}
	if err := e.forgetQuestions(ctx, principal); err != nil {
		return n, err
	}
	return n, e.forgetValues(ctx, principal)
}

// forgetValues takes the words out of what a principal's sessions keep.
func (e *Engine) forgetValues(ctx context.Context, principal string) error {
	return e.write(ctx, system(), func(tx stores.Tx) error {
		rows, err := tx.Find(ctx, stores.Find{Entity: sessions, Where: &stores.Cond{Op: stores.Eq, Path: stores.Path{Field: sesPrincipal}, Value: stores.NewString(principal)}})
		if err != nil {
			return err
		}
		var b stores.Batch
		for _, row := range rows {
			values, err := sessionValues(stores.Row{Entity: sessions, Values: row})
			if err != nil {
				return err
			}
			before := len(values)
			for name, v := range values {
				if v.Entity == "" && (v.Secret || v.Kind != stores.Bool && v.Kind != stores.Int) {
					delete(values, name)
				}
			}
			if len(values) == before {
				continue
			}
			left, err := stores.ParseJSON(mustJSON(values))
			if err != nil {
				return err
			}
			b.Changes = append(b.Changes, stores.Change{Op: stores.Update, Entity: sessions, Key: row[sesKey], Before: row, Guard: []int{sesValues, sesVersion},
				Set: []stores.Assign{{Field: sesValues, Value: left}, {Field: sesVersion, Value: stores.NewInt(row[sesVersion].Int() + 1)}}})
		}
		if len(b.Changes) == 0 {
			return nil
		}
		return tx.Apply(ctx, b)
	})
}

// Handlers

// A SessionState is a session as a handler sees it.
type SessionState struct {
	// Kept says that there is one: without a name, a session keeps nothing.
	Kept     bool
	Zone     *time.Location // of the person
	Language string
	Visits   int64
	Turns    int64
	Started  time.Time

	c      *Call
	values map[string]sessionValue
}

// heardUntil is the turn that what was said up to a plan came before: somebody who
// agrees to the plan later agrees to that, whatever was said since.
func (r *reading) heardUntil() int64 {
	if r.before != 0 || r.visit == nil {
		return r.before
	}
	return r.visit.row.Values[sesTurns].Int() + 1
}

// Session returns the session that the call is made in.
func (c *Call) Session(ctx context.Context) (SessionState, error) {
	p := c.r.s.Person()
	st := SessionState{Zone: c.r.s.zone, Language: p.Language, c: c}
	if st.Zone == nil {
		st.Zone = c.r.e.zone
	}
	if c.over {
		return st, nil
	}
	kept, err := c.r.session(ctx)
	if err != nil || kept == nil {
		return st, err
	}
	row := kept.row.Values
	st.Kept, st.values = true, kept.values
	st.Visits, st.Turns, st.Started = row[sesVisits].Int(), row[sesTurns].Int(), row[sesStarted].Time()
	return st, nil
}

// Value returns what an effect has set under a name, null when nothing is; of a
// reference, use To.
func (s SessionState) Value(name string) stores.Value {
	if v := s.look(name); v.Entity == "" {
		return v.value()
	}
	return stores.Value{}
}

// To returns the row that a name was set to. It may be out of scope by now.
func (s SessionState) To(name string) Ref {
	if v := s.look(name); v.Entity != "" {
		return Ref{v.Entity, v.value()}
	}
	return Ref{}
}

func (s SessionState) look(name string) sessionValue {
	if s.c == nil || s.c.over || s.values == nil {
		return sessionValue{}
	}
	name = strings.ReplaceAll(name, "-", "_")
	v := s.values[name]
	s.c.r.sessionSaw(name, v)
	if v != (sessionValue{}) {
		s.c.read = s.c.read.Mix(verbs.Stored(v.Origin))
	}
	return v
}

// Active returns the row of an entity that the person is at work on, as
// Session.Active does; the zero Ref where there is none.
func (c *Call) Active(ctx context.Context, entity string) (Ref, error) {
	e := c.r.e.reg.Entity(entity)
	if c.over || e == nil {
		return Ref{}, fmt.Errorf("no entity is called %q", entity)
	}
	key, err := c.r.active(ctx, e)
	if err != nil || key.IsNull() {
		return Ref{}, err
	}
	return Ref{entity, key}, nil
}

// Turns returns all that was said in the session before this call, or before the
// turn of RunOptions.Before, in order.
func (c *Call) Turns(ctx context.Context) ([]Turn, error) {
	kept, err := c.r.session(ctx)
	if c.over || err != nil || kept == nil {
		return nil, err
	}
	var all []Turn
	if before := c.r.before; before != 1 { // nothing was said before the first
		if all, err = c.r.turns(ctx, 1, max(0, before-1)); err != nil {
			return nil, err
		}
	}
	for i := range all {
		who := verbs.FromScript
		switch all[i].Role {
		case ClientTurn:
			who = verbs.FromPerson
		case AgentTurn:
			who = verbs.FromModel
		}
		c.read = c.read.Mix(verbs.NewOrigin(who, ""))
	}
	c.r.seen = append(c.r.seen, seen{entity: turns, key: c.r.s.kept, paths: []stores.Path{{Field: turnNumber}}, values: []stores.Value{stores.NewInt(int64(len(all)))}})
	return all, nil
}
