package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/riverqueue/river/rivertype"

	"verbatim/stores"
	"verbatim/stores/sqlcore"
)

// Fill runs fn in one transaction, as the role that migrates. It is not part of stores.Store, and
// the engine never calls it.
func (s *Store) Fill(ctx context.Context, fn func(stores.Filler) error) error {
	return s.write(ctx, s.migrator(), stores.Scope{All: true}, func(c *conn) error {
		err := c.do(ctx, op{doing: "fill", sql: "SELECT pg_catalog.pg_advisory_xact_lock(" + migrateLock + ")"})
		if err != nil {
			return err
		}
		f := &filler{&tx{reader: reader{s: s, c: c, view: view{scoped: c.scoped}, writes: true}, migrates: true, fills: true}}
		c.judge = func(ctx context.Context, err error) error { return f.told(ctx, err) }
		if err := fn(f); err != nil {
			return err
		}
		if f.Failed != nil {
			return f.Failed
		}
		return f.follow(ctx)
	})
}

// A filler fills a store with the content of another.
type filler struct{ *tx }

// Keep implements stores.Filler.
func (f *filler) Keep(ctx context.Context, k stores.Kept) error {
	var ops []op
	if len(k.Secret) > 0 {
		// A secret made here has 32 bytes, and no zero byte before them: see Identity.
		ops = append(ops, op{doing: "fill", sql: `UPDATE public.verbatim_schema SET secret = '\x00'::bytea || $1::bytea`, args: []any{fmt.Sprintf(`\x%x`, k.Secret)}},
			op{doing: "fill", sql: "DELETE FROM public.verbatim_name"})
	}
	for _, p := range k.Principals {
		more, err := principalOps(p)
		if err != nil {
			return err
		}
		ops = append(ops, more...)
	}
	for run := range slices.Chunk(k.Jobs, maxRun) {
		o, err := keepJobs(run)
		if err != nil {
			return err
		}
		ops = append(ops, o)
	}
	if err := f.c.do(ctx, ops...); err != nil {
		return err
	}
	return nil
}

// Root implements stores.Filler.
func (f *filler) Root(ctx context.Context) (hash [32]byte, err error) {
	var root stores.Root
	var end sqlcore.Chain
	var first int64
	if err = f.c.do(ctx, headOps(&root, &end, &first)...); err == nil {
		_, hash = headOf(root, end, first)
	}
	return hash, err
}

// keepJobs makes the statement that adds jobs with their state: those that never ran as enqueue
// adds them, and the others as River's workers leave them.
func keepJobs(jobs []stores.JobRecord) (op, error) {
	var cols [12][]any
	when := func(t time.Time) any {
		if t.IsZero() {
			return nil
		}
		return t.UTC().Format(time.RFC3339Nano)
	}
	for i := range jobs {
		j := &jobs[i]
		t := tag{ID: j.ID, Unique: j.Unique, Principal: j.Principal, Origins: j.Origins}
		if j.Note != "" {
			t.Note = &note{j.Started, j.Note}
		}
		meta, err := json.Marshal(t)
		if err != nil {
			return op{}, err
		}
		var key, worker any
		if j.Unique != "" {
			key = uniqueKey(j.Kind, j.Unique)
		}
		if j.Worker != "" {
			worker = j.Worker
		}
		state := map[stores.JobState]rivertype.JobState{stores.JobWaiting: rivertype.JobStateAvailable, stores.JobRunning: rivertype.JobStateRunning,
			stores.JobDone: rivertype.JobStateCompleted, stores.JobDead: rivertype.JobStateDiscarded}[j.State]
		for i, v := range [...]any{j.Payload, j.Kind, strconv.Itoa(j.Tries()), string(meta), when(j.At), key,
			string(state), strconv.Itoa(j.Attempt), when(j.Created), when(j.Started), when(j.Ended), worker} {
			cols[i] = append(cols[i], v)
		}
	}
	q := newText().Add("INSERT INTO ", riverJob, ` (args, kind, max_attempts, metadata, queue, scheduled_at, unique_key, unique_states, state, attempt, created_at, attempted_at, finalized_at, attempted_by)
SELECT v.args, v.kind, v.tries, v.meta, '`, riverQueue, `', v.at, v.key, CASE WHEN v.key IS NOT NULL THEN B'`, unfinished, `' END,
	(CASE WHEN v.state = 'available' AND v.at > now() + interval '5 seconds' THEN 'scheduled' ELSE v.state END)::`, riverSchema, `.river_job_state,
	v.attempt, v.created, v.started, v.ended, CASE WHEN v.worker IS NOT NULL THEN ARRAY[v.worker] END
FROM unnest(`)
	for i, typ := range [...]string{"jsonb[]", "text[]", "smallint[]", "jsonb[]", "timestamptz[]", "bytea[]", "text[]", "smallint[]", "timestamptz[]", "timestamptz[]", "timestamptz[]", "text[]"} {
		if i > 0 {
			q.Add(", ")
		}
		q.Arg(arrayOf(cols[i]), "::", typ)
	}
	return opOf(q.Add(") WITH ORDINALITY v (args, kind, tries, meta, at, key, state, attempt, created, started, ended, worker, n) ORDER BY v.n"), "enqueue", nil), nil
}

// CountFrom implements stores.Filler.
func (f *filler) CountFrom(ctx context.Context, e *stores.Entity, field int, next int64) error {
	if err := f.c.ready(ctx, &f.view, e); err != nil {
		return err
	}
	sequence, counts := sequenceOf(f.shapes[e].drawn[field])
	if !counts {
		return nil
	}
	return f.c.do(ctx, op{doing: "fill", args: []any{sequence, strconv.FormatInt(next, 10)}, sql: `SELECT pg_catalog.setval(s.seqrelid, $2::bigint, false) FROM pg_catalog.pg_sequence s
WHERE s.seqrelid = $1::text::pg_catalog.regclass AND $2::bigint > COALESCE(pg_catalog.pg_sequence_last_value(s.seqrelid), s.seqstart - 1)`})
}
