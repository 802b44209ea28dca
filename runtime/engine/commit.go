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
	r.src.e.enter(StageRecord)
	for _, st := range r.plan.steps {
		if err := r.still(st); err != nil {
			return err
		}
	}
	for i := range r.src.mem.uploads {
		r.own.Changes = append(r.own.Changes, uploads.Use(r.src.mem.uploads[i].row, r.src.mem.uploads[i].verb, r.src.now))
	}
	if len(r.met.uses) > 0 {
		r.own.Changes = append(r.own.Changes, r.usedUp()...)
	}
	b := r.own
	b.Late = true
	var err error
	if err = r.nameAdded(ctx, &b); err != nil {
		return err
	}
	if err := r.src.spoken(ctx, &o); err != nil {
		return err
	}
	for _, st := range r.plan.steps {
		r.changeJobs(&b, st)
		for i := range st.out.notices {
			n := &st.out.notices[i]
			for _, was := range n.instead {
				// A job that another call of this run scheduled is known by its key alone.
				if at := slices.IndexFunc(b.Jobs, func(j stores.Job) bool { return j.Unique == n.unique && j.Kind == JobCall }); at >= 0 && was.Kind == "" {
					was.Job = b.Jobs[at]
				}
				st.out.dropped = append(st.out.dropped, was.Job)
			}
			st.out.jobs = append(st.out.jobs, r.job(st, n))
		}
		b.Jobs = append(b.Jobs, st.out.jobs...)
	}
	if r.of, err = r.entries(&b, o); err != nil {
		return err
	}
	if err := r.src.keepSession(ctx, &b, o.Said, r.about); err != nil {
		return err
	}
	if o.Key != "" {
		b.Changes = append(b.Changes[:len(b.Changes):len(b.Changes)], r.delivery(o.Key))
	}
	if len(b.Entries) == 0 && len(b.Changes) == 0 && len(b.Jobs) == 0 && len(b.Settled) == 0 && len(b.JobChanges) == 0 && !r.src.read.Waiting() {
		return nil
	}
	return r.src.read.Apply(ctx, b)
}

// outgoing returns the content of a notice: the call, the rows that it speaks of, and the
// values that the palette sends along. Only our own workers read it, so it holds keys.
// Sensitive values are left out unless the palette sends them.
func (r *run) outgoing(st *step, n *notice) stores.Value {
	var refs []string
	var keys []stores.Value
	for i := range st.args.values {
		if st.args.rows[i].Entity != nil {
			refs, keys = append(refs, st.verb.Params[i].Name), append(keys, st.args.values[i])
		}
	}
	names := []string{"verb", "call", "refs", "with"}
	parts := []stores.Value{stores.NewString(st.verb.Name), stores.NewString(st.call.text), stores.NewObject(refs, keys), stores.NewObject(n.keys, n.told())}
	if marks, ok := n.marks(); ok {
		names, parts = append(names, "origins"), append(parts, marks)
	}
	return stores.NewObject(names, parts)
}

// reply makes the receipt of a committed run. New rows get their names only now.
func (r *run) reply() *receipt.Receipt {
	r.src.e.enter(StageReply)
	for _, n := range r.plan.called {
		compare(n.rows, n.found)
	}
	for _, st := range r.plan.steps {
		for i := range st.out.changes {
			if c := &st.out.changes[i]; c.Op == stores.Insert {
				r.src.s.adopt(c.Entity, r.src.mem.minted[view.RowKey{Entity: c.Entity, Key: c.Key}])
			}
		}
	}
	if r.plan.told == nil || len(r.src.mem.added) > 0 {
		r.tellAll()
	}
	reply := r.preview()
	reply.Done = true
	for i, st := range r.written() {
		reply.Calls[i].Seq, reply.Calls[i].Undo = st.out.seq, st.undoUntil(r.src.now)
	}
	reply.First, reply.Last = r.journalled()
	for _, st := range r.plan.steps {
		for i := range st.out.changes {
			if c := &st.out.changes[i]; c.Op == stores.Update && r.src.e.renames(c) {
				r.src.s.names.Forget(c.Entity, c.Key)
			}
		}
	}
	if r.plan.unsealed {
		r.src.read = nil // it is kept for its digest
		reply.SealLater(func() (string, [32]byte) {
			r.finish()
			return r.plan.id, r.plan.digest
		})
	}
	return reply
}

// journalled returns the first and the last journal entry of a run.
func (r *run) journalled() (first, last int64) {
	for _, st := range r.plan.steps {
		if st.out.seq > 0 && (first == 0 || st.out.seq < first) {
			first = st.out.seq
		}
		last = max(last, st.out.seq)
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
