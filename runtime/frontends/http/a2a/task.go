package a2a

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/http/server"
	"verbatim/runtime/state/confirmations"
	"verbatim/runtime/state/sessions"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// Tasks that a palette's verbs form (verbs.Task): how a call becomes a task, and how the row of a
// task becomes an answer. The doors for foreign programs use this file, which knows none of their
// protocols:
//
//	t, err := p.task(ctx, id)         // as it is now; errNoTask where there is none for the caller
//	a, err := p.act(ctx, session, script, engine.RunOptions{Key: key})
//	t, err = p.became(ctx, a)         // the task that the call began or went on with
//
// The id of a task is ENTITY~SUFFIX, with the whole suffix of its row, which never changes and
// reveals nothing of the key. A task that waits for an agreement before it has a row has the id
// ask~ID, with the id of the confirmation. It keeps that id: once the row exists, the task has both.

// A task is a task as its caller sees it.
type task struct {
	of      *verbs.Task
	id      string
	key     stores.Value // of its row; null while there is none
	state   verbs.TaskState
	says    string    // its state, in words
	changed time.Time // when its status changed; zero if the palette does not say
	told    []told
	// asked is the confirmation that the task waits for, or that ended it.
	asked *confirmations.Confirmation
}

// A told is a column of a task's result.
type told struct {
	Name  string
	Value stores.Value
}

// document returns the result of a task as JSON; nil while there is no row.
func (t *task) document() json.RawMessage {
	if t.told == nil {
		return nil
	}
	names, values := make([]string, len(t.told)), make([]stores.Value, len(t.told))
	for i, c := range t.told {
		names[i], values[i] = c.Name, c.Value
	}
	return json.RawMessage(stores.NewObject(names, values).Text())
}

// errNoTask answers if a task does not exist or is not the caller's.
var errNoTask = server.Problem{Status: 404, Code: "not-found", Title: "there is no such task"}

const (
	askPrefix = "ask~"
	taskKind  = "task" // where calls of tasks come from, in the journal
)

// short returns the prefix of the ids of an entity's tasks.
func short(of *verbs.Task) string {
	name := of.Entity.Store.Name
	return strings.ReplaceAll(name[strings.LastIndexByte(name, '.')+1:], "_", "-")
}

// symbol writes the id of a task as a value of a script.
func symbol(id string) dsl.Value { return dsl.NewSymbol(id) }

// task finds a task by its id.
func (p *peer) task(ctx context.Context, id string) (*task, error) {
	if ask, ok := strings.CutPrefix(id, askPrefix); ok {
		return p.askedTask(ctx, id, ask)
	}
	name, suffix, ok := strings.Cut(id, "~")
	if !ok || len(suffix) != 16 || strings.Trim(suffix, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		return nil, errNoTask
	}
	for _, of := range p.Registry.Tasks() {
		if short(of) != name {
			continue
		}
		if t, err := p.tellTasks(ctx, of, id); !errors.Is(err, errNoTask) {
			if err != nil {
				return nil, err
			}
			return t[0], nil
		}
	}
	return nil, errNoTask
}

// tellTasks reads several tasks with one script.
func (p *peer) tellTasks(ctx context.Context, of *verbs.Task, ids ...string) ([]*task, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var text strings.Builder
	for _, id := range ids {
		call := dsl.NewCall(of.Tells.Name, dsl.NewArg(of.Tells.Params[of.Tells.Read.By].Name, symbol(id)))
		text.WriteString(dsl.FormatCall(&call) + "\n")
	}
	r, err := p.reads(ctx, text.String())
	if err != nil {
		return nil, err
	}
	all := make([]*task, len(ids))
	for i, id := range ids {
		res := r.Calls[i].Result
		if res == nil || len(res.Rows) != 1 || len(res.Keys) != 1 {
			return nil, errNoTask
		}
		all[i] = &task{of: of, id: id, key: res.Keys[0], told: []told{}}
		for j, name := range res.Columns {
			value := res.Rows[0][j]
			if res.Withheld(j) {
				continue
			}
			switch name {
			case of.Status:
				all[i].state = of.States[value.Text()]
			case of.Message:
				all[i].says = value.Text()
			case of.Changed:
				if value.Kind() == stores.Time {
					all[i].changed = value.Time()
				}
			}
			all[i].told = append(all[i].told, told{name, value})
		}
		if all[i].state == "" { // a code that columns of other programs hold and no list has
			return nil, server.Problem{Status: 500, Code: "internal", Title: "the status of the task is none that its palette knows"}
		}
	}
	return all, p.waiting(ctx, of, all)
}

// unseen are the refusals that say for certain that there is no such row for the caller. Any other may
// pass, such as that of a read which the database stopped.
var unseen = []string{"unknown-name", "nothing-matched", "not-permitted"}

// reads runs a script that only reads. Rows that the caller may not see are missing from it.
func (p *peer) reads(ctx context.Context, text string) (*receipt.Receipt, error) {
	script, ds := dsl.Parse(dsl.NewSource(taskKind, text))
	if ds.HasErrors() {
		return nil, errNoTask
	}
	program, ds := p.Session.Check(ctx, script)
	if program == nil {
		if invalid := server.Invalid(script, ds); server.ProblemOf(invalid).Code == engine.CodeNamesUnread {
			return nil, invalid
		}
		return nil, errNoTask
	}
	r, err := p.Session.Run(ctx, program, engine.RunOptions{Source: taskKind})
	if refusal, ok := errors.AsType[*engine.Refusal](err); ok && slices.Contains(unseen, refusal.Diagnostics[0].Code) {
		return nil, errNoTask
	}
	return r, err
}

// byOthers reports whether a verb may need somebody else's agreement.
func byOthers(verb *verbs.Verb) bool {
	return verb != nil && slices.ContainsFunc(verb.Confirm, func(c verbs.Confirm) bool { return c.By != nil })
}

// waiting finds the tasks for which a call of the caller waits for somebody else's agreement.
func (p *peer) waiting(ctx context.Context, of *verbs.Task, all []*task) error {
	if !byOthers(of.Continues) && !byOthers(of.Cancels) {
		return nil
	}
	waits, err := p.asksOf(ctx, map[int]stores.Value{confirmations.FieldStatus: stores.NewString(confirmations.Waiting)})
	if err != nil {
		return err
	}
	for _, t := range all {
		row := of.Entity.Store.Name + " " + t.key.Text()
		for _, c := range waits {
			if slices.Contains(c.Rows, row) && p.Clock().Before(c.Expires) && !t.state.Ended() {
				t.asked, t.state, t.says = c, verbs.TaskAuth, awaits(c)
			}
		}
	}
	return nil
}

// asksOf returns the caller's pending confirmations.
func (p *peer) asksOf(ctx context.Context, where map[int]stores.Value) (all []*confirmations.Confirmation, err error) {
	where[confirmations.FieldAsker] = stores.NewString(p.Principal)
	err = p.Store.View(ctx, stores.Scope{Principal: "verbatim", All: true}, func(r stores.Reader) (err error) {
		all, err = confirmations.Find(ctx, r, where)
		return err
	})
	return slices.DeleteFunc(all, func(c *confirmations.Confirmation) bool { return c.ID == "" }), err
}

// awaits says whose agreement is missing.
func awaits(c *confirmations.Confirmation) string {
	return "Somebody with the role " + strings.Join(c.Roles, " and somebody with the role ") + " has to agree first."
}

// listAsked lists the ids of tasks that have no row before somebody agrees.
func (p *peer) listAsked(ctx context.Context) (ids []string, err error) {
	waits, err := p.asksOf(ctx, map[int]stores.Value{confirmations.FieldStatus: stores.NewString(confirmations.Waiting)})
	for _, c := range waits {
		if c.Source == taskKind && p.taskAsked(c) != nil {
			ids = append(ids, askPrefix+c.ID)
		}
	}
	slices.Sort(ids)
	return ids, err
}

// askedTask returns a task by its confirmation.
func (p *peer) askedTask(ctx context.Context, id, ask string) (*task, error) {
	all, err := p.asksOf(ctx, map[int]stores.Value{confirmations.FieldID: stores.NewString(ask)})
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(c *confirmations.Confirmation) bool {
		return c.Source == taskKind && p.taskAsked(c) != nil
	})
	if i < 0 {
		return nil, errNoTask
	}
	c := all[i]
	t := &task{of: p.taskAsked(c), id: id, asked: c, changed: c.Time}
	if !c.Settled.IsZero() {
		t.changed = c.Settled
	}
	switch c.Status {
	case confirmations.Waiting:
		t.state, t.says = verbs.TaskAuth, awaits(c)
		if !p.Clock().Before(c.Expires) {
			t.state, t.says = verbs.TaskFailed, "Nobody agreed in time."
		}
	case confirmations.Declined:
		t.state, t.says = verbs.TaskRejected, cmp.Or(c.Reason, "It was declined.")
	case confirmations.Expired:
		t.state, t.says = verbs.TaskFailed, "Nobody agreed in time."
	case confirmations.Stale:
		t.state, t.says = verbs.TaskFailed, "What it would have done had changed by the time that somebody agreed."
	case confirmations.Used:
		done, err := p.Session.Journal().Done(ctx, c.UnderKey)
		if err != nil {
			return nil, err
		}
		made, err := p.became(ctx, &callOutcome{done: done})
		if err != nil || made == nil {
			return nil, cmp.Or[error](err, errNoTask)
		}
		made.id = id
		return made, nil
	}
	return t, nil
}

// taskAsked returns the kind of task that a confirmation would begin; nil if it begins none.
func (p *peer) taskAsked(c *confirmations.Confirmation) *verbs.Task {
	script, _ := dsl.Parse(dsl.NewSource(taskKind, c.Script))
	for _, of := range p.Registry.Tasks() {
		for i := range script.Calls {
			if slices.ContainsFunc(of.Begins, func(verb *verbs.Verb) bool { return verb.Name == script.Calls[i].Verb }) {
				return of
			}
		}
	}
	return nil
}

// taskOf returns the kind of task whose rows are of an entity; nil if there is none.
func (p *peer) taskOf(entity string) *verbs.Task {
	for _, of := range p.Registry.Tasks() {
		if of.Entity.Store.Name == entity {
			return of
		}
	}
	return nil
}

// called returns the ids of tasks.
func (p *peer) called(ctx context.Context, of *verbs.Task, keys ...stores.Value) ([]string, error) {
	ids, err := p.Session.Names().Suffixes(ctx, of.Entity, keys...)
	for i := range ids {
		ids[i] = short(of) + "~" + ids[i]
	}
	return ids, err
}

// listTasks calls each with the caller's tasks, a page at a time: their ids, their states, and when
// they changed, if the palette lists that.
func (p *peer) listTasks(ctx context.Context, each func(of *verbs.Task, ids []string, states []verbs.TaskState, changed []time.Time) error) error {
	for _, of := range p.Registry.Tasks() {
		if of.Lists == nil || !p.Session.May(of.Lists) {
			continue
		}
		for after := ""; ; {
			call := dsl.NewCall(of.Lists.Name)
			if after != "" {
				call.Args = append(call.Args, dsl.NewArg(of.Lists.Params[of.Lists.Read.After].Name, symbol(after)))
			}
			r, err := p.reads(ctx, dsl.FormatCall(&call)+"\n")
			if err != nil {
				return err
			}
			res := r.Calls[0].Result
			if res == nil || len(res.Keys) != len(res.Rows) {
				return errNoTask
			}
			at, since := slices.Index(res.Columns, of.Status), slices.Index(res.Columns, of.Changed)
			ids, err := p.called(ctx, of, res.Keys...)
			if err != nil {
				return err
			}
			states := make([]verbs.TaskState, len(res.Keys))
			var changed []time.Time
			if since >= 0 && of.Changed != "" {
				changed = make([]time.Time, len(res.Keys))
			}
			for i := range res.Keys {
				states[i] = of.States[res.Rows[i][at].Text()]
				if changed != nil && !res.Rows[i][since].IsNull() {
					changed[i] = res.Rows[i][since].Time()
				}
			}
			if err := each(of, ids, states, changed); err != nil {
				return err
			}
			if of.Lists.Read.After < 0 || len(ids) < of.Lists.Read.Limit || len(ids) == 0 {
				break
			}
			after = ids[len(ids)-1]
		}
	}
	return nil
}

// listed reports whether the caller can list tasks.
func (p *peer) listed() bool {
	return slices.ContainsFunc(p.Registry.Tasks(), func(of *verbs.Task) bool { return of.Lists != nil && p.Session.May(of.Lists) })
}

// A callOutcome is the outcome of a call. Exactly one of these is set.
type callOutcome struct {
	done *receipt.Receipt
	// asks is the preview that the caller has to agree to first, by its ID.
	asks *receipt.Receipt
	// pending waits for somebody else's agreement.
	pending *engine.Pending
}

// act runs a script once for its key. If an agreement is needed, it asks the caller, who repeats
// the call with o.Agreed, or others.
func (p *peer) act(ctx context.Context, s *engine.Session, script *dsl.Script, o engine.RunOptions) (*callOutcome, error) {
	o.Source = taskKind
	if o.Key != "" {
		if done, err := s.Journal().Repeat(ctx, script, o.Key); err != nil || done != nil {
			return &callOutcome{done: done}, err
		}
	}
	if done, err := s.Journal().Answered(ctx, script, o.Agreed); err != nil || done != nil {
		return &callOutcome{done: done}, err
	}
	program, ds := s.Check(ctx, script)
	if program == nil {
		return nil, server.Invalid(script, p.Registry.Mask(script, ds))
	}
	done, err := s.Run(ctx, program, o)
	if err == nil || server.ProblemOf(err).Code != "needs-agreement" {
		return &callOutcome{done: done}, err
	}
	if o.Agreed == "" {
		preview, err := s.Keep(ctx, program, o)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(preview.Asks(), func(a receipt.Ask) bool { return a.By == "" }) {
			return &callOutcome{asks: preview}, nil
		}
	}
	c, err := s.Propose(ctx, program, o)
	if err != nil {
		return nil, err
	}
	if c.ID == "" {
		return &callOutcome{asks: c.Preview}, nil
	}
	return &callOutcome{pending: c}, nil
}

// became returns the task that a call began or continued; nil if it did neither.
func (p *peer) became(ctx context.Context, a *callOutcome) (*task, error) {
	if a.pending != nil {
		t, err := p.task(ctx, askPrefix+a.pending.ID)
		if errors.Is(err, errNoTask) { // it is about a task that is there
			return nil, nil
		}
		return t, err
	}
	if a.done == nil {
		return nil, nil
	}
	for _, op := range [...]string{receipt.Inserted, receipt.Updated} {
		for i := range a.done.Calls {
			for j := range a.done.Calls[i].Rows {
				row := &a.done.Calls[i].Rows[j]
				of := p.taskOf(row.Entity)
				if of == nil || row.Op != op {
					continue
				}
				id, err := p.called(ctx, of, row.Key)
				if err != nil {
					return nil, err
				}
				t, err := p.task(ctx, id[0])
				if errors.Is(err, errNoTask) { // the caller may begin it, but not read it
					return nil, nil
				}
				return t, err
			}
		}
	}
	return nil, nil
}

// saidOf returns the turns of a session that mention a task, oldest first. It returns the last ones
// if there are too many.
func (p *peer) saidOf(ctx context.Context, t *task, session string) (all []sessions.Turn, err error) {
	const farthest = 1000 // turns of a session are looked through
	err = p.Store.View(ctx, stores.Scope{Principal: p.Principal}, func(r stores.Reader) error {
		key := sessions.Key(p.Principal, session)
		kept, err := sessions.Get(ctx, r, key)
		if err != nil || kept == nil {
			return err
		}
		turns, err := sessions.Between(ctx, r, key, max(1, kept.Turns-farthest), 0)
		for _, turn := range turns {
			if slices.Contains(turn.Mentions, t.id) || !t.key.IsNull() && slices.Contains(turn.Rows, sessions.RowOf(t.of.Entity.Store, t.key)) || t.asked != nil && slices.Contains(turn.Mentions, askPrefix+t.asked.ID) {
				all = append(all, turn)
			}
		}
		return err
	})
	return all, err
}
