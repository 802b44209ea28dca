package engine

import (
	"context"
	"slices"
	"time"

	"verbatim/runtime/internal/view"
	"verbatim/runtime/state/uploads"
	"verbatim/stores"
	"verbatim/stores/receipt"
)

// commit adds the journal entries, notices and the engine's own rows to a transaction that already
// holds the changes.
func (r *run) commit(ctx context.Context, o RunOptions) error {
	r.e.enter(StageRecord)
	for _, st := range r.steps {
		if err := r.still(st); err != nil {
			return err
		}
	}
	for i := range r.uploads {
		r.own = append(r.own, uploads.Use(r.uploads[i].row, r.uploads[i].verb, r.now))
	}
	if len(r.uses) > 0 {
		r.own = append(r.own, r.usedUp()...)
	}
	b := stores.Batch{Changes: r.own, Jobs: r.tells, Settled: r.settled, Late: true}
	var err error
	if err = r.nameAdded(ctx, &b); err != nil {
		return err
	}
	if err := r.spoken(ctx, &o); err != nil {
		return err
	}
	for _, st := range r.steps {
		r.changeJobs(&b, st)
		for i := range st.notices {
			n := &st.notices[i]
			for _, was := range n.instead {
				// A job that another call of this run scheduled is known by its key alone.
				if at := slices.IndexFunc(b.Jobs, func(j stores.Job) bool { return j.Unique == n.unique && j.Kind == JobCall }); at >= 0 && was.Kind == "" {
					was.Job = b.Jobs[at]
				}
				st.dropped = append(st.dropped, was.Job)
			}
			st.jobs = append(st.jobs, r.job(st, n))
		}
		b.Jobs = append(b.Jobs, st.jobs...)
	}
	if r.of, err = r.entries(&b, o); err != nil {
		return err
	}
	if err := r.keepSession(ctx, &b, o.Said, r.about); err != nil {
		return err
	}
	if o.Key != "" {
		b.Changes = append(b.Changes[:len(b.Changes):len(b.Changes)], r.delivery(o.Key))
	}
	if len(b.Entries) == 0 && len(b.Changes) == 0 && len(b.Jobs) == 0 && len(b.Settled) == 0 && len(b.JobChanges) == 0 && !r.read.Waiting() {
		return nil
	}
	return r.read.Apply(ctx, b)
}

// outgoing returns the content of a notice: the call, the rows that it speaks of, and the
// values that the palette sends along. Only our own workers read it, so it holds keys.
// Sensitive values are left out unless the palette sends them.
func (r *run) outgoing(st *step, n *notice) stores.Value {
	var refs []string
	var keys []stores.Value
	for i := range st.args {
		if st.rows[i].Entity != nil {
			refs, keys = append(refs, st.verb.Params[i].Name), append(keys, st.args[i])
		}
	}
	names := []string{"verb", "call", "refs", "with"}
	parts := []stores.Value{stores.NewString(st.verb.Name), stores.NewString(st.text), stores.NewObject(refs, keys), stores.NewObject(n.keys, n.told())}
	if marks, ok := n.marks(); ok {
		names, parts = append(names, "origins"), append(parts, marks)
	}
	return stores.NewObject(names, parts)
}

// reply makes the receipt of a committed run. New rows get their names only now.
func (r *run) reply() *receipt.Receipt {
	r.e.enter(StageReply)
	for _, n := range r.called {
		compare(n.rows, n.found)
	}
	for _, st := range r.steps {
		for i := range st.changes {
			if c := &st.changes[i]; c.Op == stores.Insert {
				r.s.adopt(c.Entity, r.minted[view.RowKey{Entity: c.Entity, Key: c.Key}])
			}
		}
	}
	if r.told == nil || len(r.added) > 0 {
		r.tellAll()
	}
	reply := r.preview()
	reply.Done = true
	for i, st := range r.written() {
		reply.Calls[i].Seq, reply.Calls[i].Undo = st.seq, st.undoUntil(r.now)
	}
	reply.First, reply.Last = r.journalled()
	for _, st := range r.steps {
		for i := range st.changes {
			if c := &st.changes[i]; c.Op == stores.Update && r.e.renames(c) {
				r.s.names.Forget(c.Entity, c.Key)
			}
		}
	}
	if r.unsealed {
		r.read = nil // it is kept for its digest
		reply.SealLater(func() (string, [32]byte) {
			r.finish()
			return r.id, r.digest
		})
	}
	return reply
}

// journalled returns the first and the last journal entry of a run.
func (r *run) journalled() (first, last int64) {
	for _, st := range r.steps {
		if st.seq > 0 && (first == 0 || st.seq < first) {
			first = st.seq
		}
		last = max(last, st.seq)
	}
	return first, last
}

// undoUntil returns the time until which a call can be taken back; null where it cannot,
// or where its palette names no time.
func (st *step) undoUntil(now time.Time) stores.Value {
	u := st.verb.Undo
	if st.verb.Undoes != nil {
		u = st.verb.Undoes.Undo
	}
	if u == nil || u.None != "" {
		return stores.Value{}
	}
	return stores.NewTime(now.Add(u.Within))
}
