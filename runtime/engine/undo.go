package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// A call is undone by a new call, under today's rules, rights and confirmations. If its palette
// says `undo: rows`, that is a call of NAME.undo, which the engine carries out: the journal
// keeps how the rows were, with the origins of their values, and the jobs that were scheduled
// or dropped. It is refused if a row has changed since, so that no later work of others is
// lost. Messages that were sent stay sent, and the receipt says so.

// A pastCall is an earlier call, as the journal records it.
type pastCall struct {
	entry  stores.Entry
	record journal.Record
	later  *laterChange // which stands in the way of its undo; nil without one
}

// pastOf reads the journal entry of a call that can be undone; nil if there is none.
func pastOf(ctx context.Context, e *Engine, seq int64) (*pastCall, error) {
	for line, err := range journal.Opened(ctx, e.store, housekeeper, journal.ByNumber(ctx, e.store, seq, seq)) {
		if err != nil {
			return nil, failure(err)
		}
		if line.Entry.Outcome != outcomeOK {
			return nil, nil
		}
		record, err := line.Record()
		return &pastCall{entry: line.Entry, record: record}, failure(err)
	}
	return nil, nil
}

// pastCalls reads the journal for the calls that a program undoes, before a transaction begins: an entry
// does not change.
func pastCalls(ctx context.Context, s *Session, p *verbs.Program) (map[int64]*pastCall, error) {
	var found map[int64]*pastCall
	calls := p.Calls()
	for i := range calls {
		if calls[i].Verb.Undoes == nil || calls[i].Args[0].Kind != verbs.Literal {
			continue
		}
		seq := calls[i].Args[0].Value.Int()
		of, err := pastOf(ctx, s.e, seq)
		if err != nil {
			return nil, err
		}
		if found == nil {
			found = make(map[int64]*pastCall)
		}
		found[seq] = of
	}
	return found, nil
}

// of reports whether the past call is a call of a verb, or an undo of such a call.
func (p *pastCall) of(v *verbs.Verb) bool {
	return p != nil && (p.entry.Verb == v.Name || p.entry.Verb == v.Undo.Back.Name)
}

// Undo writes the call that undoes a journal entry, to be previewed and run like any other. It
// returns a *Refusal if the principal does not see the entry, may not use its verb, or if
// nothing undoes it. Its preview tells whether the call can still be undone.
func (jn Journal) Undo(ctx context.Context, seq int64) (*dsl.Script, error) {
	var unknown error = refuseScript(tell(dsl.Place{}, "unknown-entry", seq))
	p, err := pastOf(ctx, jn.s.e, seq)
	if err != nil || p == nil {
		return nil, cmp.Or(err, unknown)
	}
	v := jn.s.e.reg.Verb(p.entry.Verb)
	if v != nil && v.Undoes != nil {
		v = v.Undoes
	}
	if v == nil || !jn.s.May(v) {
		return nil, unknown
	}
	name := "undo of " + fmt.Sprint(seq)
	var text string
	err = jn.s.e.store.View(ctx, jn.s.scope, func(read stores.Reader) error {
		r := sourceOf(jn.s, read)
		if _, err := rowsOfUndo(ctx, r, nil, p); err != nil {
			return err
		}
		switch {
		case v.Undo == nil:
			return &callError{-1, tell(dsl.Place{}, "no-undo", "its palette does not say how that is done")}
		case v.Undo.None != "":
			return &callError{-1, tell(dsl.Place{}, "no-undo", v.Undo.None)}
		case v.Undo.Back != nil:
			call := dsl.NewCall(v.Undo.Back.Name, dsl.NewArg("entry", verbs.AsLiteral(stores.NewInt(seq))))
			text = dsl.FormatCall(&call)
			return nil
		}
		text, err = undoCall(ctx, r, v, p)
		return err
	})
	var c *callError
	switch {
	case errors.As(err, &c):
		return nil, refuse([]callError{*c})
	case errors.Is(err, stores.ErrNotFound):
		return nil, unknown
	case err != nil:
		return nil, storeError(dsl.Place{}, err)
	}
	script, ds := dsl.Parse(dsl.NewSource(name, text+"\n"))
	if ds.HasErrors() {
		return nil, &Failure{Err: fmt.Errorf("the call that takes entry %d back cannot be written: %s", seq, inWords(ds))}
	}
	return script, nil
}

// undoCall writes the call that a palette declares as the inverse of another, with that call's
// arguments and the names of the rows that it added.
func undoCall(ctx context.Context, r *source, v *verbs.Verb, p *pastCall) (string, error) {
	if by := p.entry.Time.Add(v.Undo.Within); r.now.After(by) {
		return "", &callError{-1, tell(dsl.Place{}, "no-undo/late", stamp(by))}
	}
	words := p.entry.Call
	if p.record.Call != "" {
		if words = p.record.Words; words == "" {
			return "", &callError{-1, tell(dsl.Place{}, "no-undo", "what it was given was erased from the journal")}
		}
	}
	was, ds := dsl.Parse(dsl.NewSource("entry", words))
	if ds.HasErrors() || len(was.Calls) != 1 {
		return "", &Failure{Err: fmt.Errorf("entry %d holds no call: %s", p.entry.Seq, inWords(ds))}
	}
	added := map[string]dsl.Value{}
	for i := range p.record.Rows {
		row := &p.record.Rows[i]
		e := r.e.reg.Entity(row.Entity)
		if e == nil || row.Op != receipt.Inserted {
			continue
		}
		name, err := workName(ctx, r.s, r.read, e, row.Key)
		if errors.Is(err, errRowGone) {
			return "", &callError{-1, tell(dsl.Place{}, "changed-since", "a row that it added is not there any more")}
		}
		if err != nil {
			return "", err
		}
		added[e.Store.Name] = name
	}
	call := v.Undo.Call.Script.Calls[0]
	out := dsl.NewCall(call.Verb)
	for _, a := range call.Args {
		missing := false
		one := dsl.NewCall(call.Verb, a)
		filled := dsl.Replace(&one, func(_ *dsl.Call, _ string, of *dsl.Value) (dsl.Value, bool) {
			if of.Kind != dsl.Symbol {
				return dsl.Value{}, false
			}
			for key, name := range added {
				if sameWord(key, of.Text) {
					return name, true
				}
			}
			for _, given := range was.Calls[0].Args {
				if sameWord(given.Key, of.Text) {
					return given.Value, true
				}
			}
			missing = true
			return dsl.Value{}, false
		})
		if !missing { // an argument that was left out is left out
			out.Args = append(out.Args, filled.Args[0])
		}
	}
	return dsl.FormatCall(&out), nil
}

// rowsOfUndo reads the present rows that a past call added or changed, parallel to those of its record.
// It returns stores.ErrNotFound if the caller does not see one of the rows, or if the entry has no
// rows and is not the caller's own.
func rowsOfUndo(ctx context.Context, r *source, st *step, p *pastCall) ([]stores.Row, error) {
	own := p.entry.Principal == r.s.who.Name
	if len(p.record.Rows) == 0 && !own {
		return nil, stores.ErrNotFound
	}
	rows := make([]stores.Row, len(p.record.Rows))
	for i := range p.record.Rows {
		row := &p.record.Rows[i]
		e := r.e.reg.Entity(row.Entity)
		if e == nil {
			return nil, &callError{-1, tell(dsl.Place{}, "changed-since", "no palette knows "+row.Entity+" any more")}
		}
		if row.Op == receipt.Deleted {
			if sees, err := sawRow(ctx, r, st, e.Store, row); err != nil || !sees && !own {
				return nil, cmp.Or(err, stores.ErrNotFound)
			}
			continue
		}
		var err error
		if rows[i], err = r.get(ctx, st, e.Store, row.Key); errors.Is(err, stores.ErrNotFound) && own {
			return nil, &callError{-1, tell(dsl.Place{}, "changed-since", "a row that it changed is not there any more")}
		} else if err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// sawRow reports whether the caller would see a row that was deleted: whether they see the row
// that it belonged to. The store checks the whole scope path when the row is put back.
func sawRow(ctx context.Context, r *source, st *step, e *stores.Entity, gone *receipt.Row) (bool, error) {
	switch {
	case r.s.scope.All:
		return true, nil
	case len(e.Scope) == 0:
		return slices.Contains(r.s.scope.Holds[e.Name], gone.Key), nil
	}
	step := e.Scope[0]
	for i := range gone.Fields {
		f := &gone.Fields[i]
		switch {
		case e.FieldIndex(f.Name) != step.Field:
		case step.To == nil:
			return f.Before.Text() == r.s.who.Name, nil
		default:
			_, err := r.get(ctx, st, step.To, f.Before.Value)
			if errors.Is(err, stores.ErrNotFound) {
				return false, nil
			}
			return err == nil, err
		}
	}
	return false, nil
}

// takeBack carries out a verb that undoes another.
func takeBack(ctx context.Context, r *source, st *step) (d outcome, err error) {
	v := st.verb.Undoes
	seq := st.args.values[0].Int()
	p := r.pasts[seq]
	if !p.of(v) {
		return d, st.refuse("unknown-entry", seq)
	}
	refused := func(err error) error {
		var c *callError
		switch {
		case errors.Is(err, stores.ErrNotFound):
			return st.refuse("unknown-entry", seq)
		case errors.As(err, &c) && c.call < 0:
			c = &callError{st.call.index, c.diagnostic}
			c.diagnostic.Place = st.call.place
			return c
		}
		return err
	}
	rows, err := rowsOfUndo(ctx, r, st, p)
	if err != nil {
		return d, refused(err)
	}
	if by := p.entry.Time.Add(v.Undo.Within); r.now.After(by) {
		return d, st.refuse("no-undo/late", stamp(by))
	}
	back := &undoing{src: r, st: st, undo: v.Undo, past: p, from: fmt.Sprintf("entry %d", seq)}
	for i := len(p.record.Rows) - 1; i >= 0; i-- { // the last change is undone first
		one, err := back.row(ctx, &p.record.Rows[i], rows[i])
		if err != nil {
			return d, refused(err)
		}
		if one != nil {
			d.rowChanges = append(d.rowChanges, *one)
		}
	}
	if err := back.work(ctx, &d); err != nil {
		return d, refused(err)
	}
	for _, to := range p.record.Sent {
		back.stays = append(back.stays, "the notice to "+to+" was sent")
	}
	if v.Undo.Stays != "" {
		back.stays = append(back.stays, v.Undo.Stays)
	}
	if len(back.stays) > 0 {
		d.answer = &table{columns: []column{{name: "stays"}}}
		for _, text := range back.stays {
			d.answer.rows = append(d.answer.rows, []cell{{value: stores.NewString(text), from: ofRecord}})
		}
	}
	return d, nil
}

// An undoing is the undo of one call.
type undoing struct {
	src   *source
	st    *step
	undo  *verbs.Undo
	past  *pastCall
	from  string
	stays []string // what cannot be undone
}

// row makes the row change that restores one row; nil if the row is as it was.
func (b *undoing) row(ctx context.Context, told *receipt.Row, now stores.Row) (*rowChange, error) {
	entity := b.src.e.reg.Entity(told.Entity)
	e := entity.Store
	p := &rowChange{entity: entity, key: told.Key, before: now}
	for i := range told.Fields {
		f := &told.Fields[i]
		field := e.FieldIndex(f.Name)
		if field < 0 {
			return nil, b.changed("no palette knows "+told.Entity+"."+f.Name+" any more", nil)
		}
		if f.Before.Gone || f.After.Gone {
			return nil, &callError{-1, tell(dsl.Place{}, "no-undo", "what was there before was erased from the journal")}
		}
		def := &e.Fields[field]
		if told.Op != receipt.Deleted && !b.undo.Spares(e, field) {
			if !stores.Equal(now.Values[field], def.Now(f.After.Value)) || stores.MarkOf(now.Marks, field) != f.Origin {
				return nil, b.changed(def.Name+" of "+b.called(ctx, entity, told.Key)+" is not what it was set to", told)
			}
		}
		alone := f.Made && f.Given.IsNull() && f.Given.Is == "" // the database set it by itself, and will again
		if told.Op == receipt.Inserted || told.Op == receipt.Updated && (alone || b.undo.Spares(e, field)) {
			continue
		}
		p.set = append(p.set, assignment{field: field, value: def.Now(f.Before.Value), from: b.from, sensitive: f.Sensitive, came: verbs.Stored(f.Was), back: true})
	}
	switch told.Op {
	case receipt.Updated:
		p.op = stores.Update
		if len(p.set) == 0 {
			return nil, nil
		}
	case receipt.Inserted:
		p.op = stores.Delete
		for field, v := range now.Values {
			said := slices.ContainsFunc(told.Fields, func(f receipt.Field) bool { return e.FieldIndex(f.Name) == field })
			if !said && field != e.Key && !v.IsNull() && !e.Fields[field].Computed && !b.undo.Spares(e, field) {
				return nil, b.changed(e.Fields[field].Name+" of "+b.called(ctx, entity, told.Key)+" has been set since", told)
			}
		}
		return p, b.free(ctx, entity, told)
	case receipt.Deleted:
		p.op = stores.Insert
		for field := range e.Fields { // a field that was null becomes null, whatever the default of a new row is
			if said := slices.ContainsFunc(p.set, func(a assignment) bool { return a.field == field }); !said && field != e.Key && !e.Fields[field].Computed {
				p.set = append(p.set, assignment{field: field, from: b.from, came: ofRecord})
			}
		}
	}
	return p, nil
}

// free refuses to delete a row if other rows refer to it that are not deleted with it.
func (b *undoing) free(ctx context.Context, of *verbs.Entity, told *receipt.Row) error {
	for _, e := range b.src.e.catalog.entities {
		for i := range e.Store.Fields {
			if e.Store.Fields[i].Ref != of.Store {
				continue
			}
			found, err := b.src.read.Find(ctx, stores.Find{Entity: e.Store, Select: []stores.Path{{Field: e.Store.Key}}, Beyond: true, Limit: len(b.past.record.Rows) + 1, Cut: true,
				Where: &stores.Cond{Op: stores.Eq, Path: stores.Path{Field: i}, Value: told.Key}})
			if err != nil {
				return err
			}
			for _, row := range found {
				goes := slices.ContainsFunc(b.past.record.Rows, func(r receipt.Row) bool {
					return r.Op == receipt.Inserted && r.Key == row[0] && b.src.e.reg.Entity(r.Entity) == e
				})
				if goes {
					continue
				}
				by := &receipt.Row{Entity: e.Store.Name, Key: row[0]}
				what := "another row"
				if _, err := b.src.get(ctx, b.st, e.Store, row[0]); err == nil {
					what = b.called(ctx, e, row[0])
				} else {
					by = nil // the caller does not see it
				}
				return b.changed(what+" refers to "+b.called(ctx, of, told.Key)+", which was added", by)
			}
		}
	}
	return nil
}

// work drops the jobs that the call scheduled, and schedules those that it dropped.
func (b *undoing) work(ctx context.Context, d *outcome) error {
	var done []stores.Job // of its own, which were done
	if len(b.past.record.Jobs) > 0 {
		jobs, err := b.src.read.Jobs(ctx, stores.JobFilter{IDs: b.past.record.Jobs})
		if err != nil {
			return err
		}
		for i := range jobs {
			switch j := &jobs[i]; j.State {
			case stores.JobRunning:
				return b.changed("work that it scheduled is being done", nil)
			case stores.JobDone:
				b.stays = append(b.stays, "its work was done: "+JobSubject(&j.Job))
				done = append(done, j.Job)
			default:
				d.jobChanges = append(d.jobChanges, jobChangeOf(DropJob(*j)))
				d.dropped = append(d.dropped, j.Job)
			}
		}
	}
	for _, dropped := range b.past.record.Dropped {
		if dropped.IsNull() {
			return &callError{-1, tell(dsl.Place{}, "no-undo", "the work that it dropped was erased from the journal")}
		}
		job, err := journal.ReadJob(dropped)
		if err != nil {
			return failure(err)
		}
		if slices.ContainsFunc(done, func(j stores.Job) bool { return j.Kind == job.Kind && j.Unique == job.Unique }) {
			// The job that replaced it was done; doing this one too would do the work twice.
			b.stays = append(b.stays, "the work before it is not scheduled again: "+JobSubject(&job))
			continue
		}
		waiting, err := b.src.read.Jobs(ctx, stores.JobFilter{Kinds: []string{job.Kind}, Unique: job.Unique})
		if err != nil {
			return err
		}
		if slices.ContainsFunc(waiting, func(j stores.JobRecord) bool { return !slices.Contains(b.past.record.Jobs, j.ID) }) {
			return b.changed("other work was scheduled in its place since", nil)
		}
		job.Again = stores.RefuseAnother
		var w struct{ Trigger string }
		if err := json.Unmarshal([]byte(job.Payload), &w); err != nil {
			return failure(err)
		}
		d.notices = append(d.notices, notice{kind: "trigger", target: w.Trigger, at: stores.NewTime(job.At), again: &job, says: b.says(ctx, &job)})
	}
	return nil
}

// says words the call of a job for people; "" if it is not known.
func (b *undoing) says(ctx context.Context, job *stores.Job) string {
	w, why, err := readWork(b.src.e.reg, stores.Run{Job: *job})
	if err != nil || why != "" {
		return ""
	}
	st := &step{verb: w.verb, args: arguments{values: w.args, from: w.from, rows: make([]stores.Row, len(w.args))}}
	for i, e := range w.refs {
		if e == nil {
			continue
		}
		if st.args.rows[i], err = b.src.get(ctx, b.st, e, w.args[i]); err != nil {
			return ""
		}
		b.called(ctx, b.src.e.reg.Entity(e.Name), w.args[i])
	}
	return callOf(b.src, st, &notice{effect: w.effect, active: w.active})
}

// called returns the name of a row.
func (b *undoing) called(ctx context.Context, e *verbs.Entity, key stores.Value) string {
	if err := b.src.s.nameKeys(ctx, b.src.read, e, []stores.Value{key}); err != nil {
		return "a row of " + e.Store.Name
	}
	return b.src.shownName(e.Store, key)
}

// changed refuses an undo because of a later change; by is the changed row, whose journal entries
// tell who made the change.
func (b *undoing) changed(what string, by *receipt.Row) *callError {
	if by != nil {
		b.past.later = &laterChange{row: journal.Row{Entity: by.Entity, Key: by.Key}, after: b.past.entry.Seq, at: b.st.call.index}
	}
	return &callError{-1, tell(dsl.Place{}, "changed-since", what)}
}

// A laterChange is a row that was changed after a call that is to be undone.
type laterChange struct {
	row   journal.Row
	after int64
	at    int // the call that takes it back
}

// blame adds to a refusal who changed the row. It reads the journal, so it is called after the
// transaction has ended.
func blame(ctx context.Context, s *Session, pasts map[int64]*pastCall, err error) error {
	var refusal *Refusal
	var b *laterChange
	for _, p := range pasts {
		if p != nil && p.later != nil {
			b = p.later
		}
	}
	if b == nil || !errors.As(err, &refusal) {
		return err
	}
	var last *stores.Entry
	for line, failed := range journal.Opened(ctx, s.e.store, housekeeper, journal.ByNumber(ctx, s.e.store, b.after+1, 0)) {
		if failed != nil {
			return err // it is refused all the same
		}
		record, failed := line.Record()
		if failed == nil && line.Entry.Outcome == outcomeOK && slices.ContainsFunc(record.Rows, func(r receipt.Row) bool { return r.Entity == b.row.Entity && r.Key == b.row.Key }) {
			last = &line.Entry
		}
	}
	for i := range refusal.Diagnostics {
		if d := &refusal.Diagnostics[i]; last != nil && refusal.calls[i] == b.at && takenBack(s.e.reg, last) == b.after {
			*d = tell(d.Place, "changed-since/taken-back", s.e.Label(ctx, last.Principal), last.Seq)
		} else if last != nil && refusal.calls[i] == b.at {
			already, what, _ := strings.Cut(d.Summary, "; ")
			d.Summary = fmt.Sprintf("%s; %s changed it on %s; %s: see entry %d of the journal, %s", already, s.e.Label(ctx, last.Principal), last.Time.In(s.e.opt.Zone).Format(time.DateTime), what, last.Seq, last.Verb)
		}
	}
	return err
}

// takenBack returns the number of the entry that an entry took back; 0 if it took none back.
func takenBack(reg *verbs.Registry, e *stores.Entry) int64 {
	if v := reg.Verb(e.Verb); v == nil || v.Undoes == nil {
		return 0
	}
	script, ds := dsl.Parse(dsl.NewSource("entry", e.Call))
	if ds.HasErrors() || len(script.Calls) != 1 {
		return 0
	}
	of, _ := script.Calls[0].Get("entry")
	seq, _ := strconv.ParseInt(of.Text, 10, 64)
	return seq
}

// lastDone is how many of the latest journal entries LastDone reads.
const lastDone = 1000

// Last returns the number of the latest journal entry of a call in this session that changed
// something and was not undone; 0 if there is none among the latest lastDone entries.
func (jn Journal) Last(ctx context.Context) (int64, error) {
	err := jn.s.e.store.Seal(ctx) // so that the latest entries have places
	if err != nil {
		return 0, failure(err)
	}
	head, _, err := jn.s.e.store.Head(ctx)
	if err != nil {
		return 0, failure(err)
	}
	entries, err := jn.s.e.store.Placed(ctx, max(1, head-lastDone+1), head)
	if err != nil {
		return 0, failure(err)
	}
	undone := map[int64]bool{}
	for i := len(entries) - 1; i >= 0; i-- {
		e := &entries[i]
		v := jn.s.e.reg.Verb(e.Verb)
		if e.Session != jn.s.id || e.Principal != jn.s.who.Name || e.Outcome != outcomeOK || v == nil || undone[e.Seq] || v.Answers() {
			continue
		}
		if v.Undoes == nil {
			return e.Seq, nil
		}
		undone[takenBack(jn.s.e.reg, e)] = true
	}
	return 0, nil
}
