package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/message"
)

// Rehearse returns the migration that a store needs for some palettes, and the problems that would
// remain: queries that cannot run, and remains of earlier palettes. Nothing changes.
func Rehearse(ctx context.Context, reg *verbs.Registry, store stores.Store, more ...*stores.Entity) (plan stores.Plan, unfit dsl.Diagnostics, left []string, err error) {
	var asked []*verbs.Verb
	var queries []stores.SQL
	for _, v := range reg.Verbs() {
		if v.Query != nil {
			asked, queries = append(asked, v), append(queries, queryOf(v, nil))
		}
	}
	var tables []*stores.Entity
	for _, e := range reg.Entities() {
		tables = append(tables, e.Store)
	}
	plan, found, err := store.Rehearse(ctx, append(tables, more...), queries)
	if err != nil {
		return plan, nil, nil, err
	}
	for i, err := range found {
		var wrong *stores.SQLError
		switch {
		case errors.As(err, &wrong):
			unfit = append(unfit, tell(asked[i].Query.PlaceOf(wrong.Offset), "bad-query", asked[i].Name, wrong))
		case err != nil && len(plan.Problems) == 0:
			return plan, nil, nil, fmt.Errorf("the query of %s: %w", asked[i].Name, err)
		}
	}
	left, err = Left(ctx, reg, store)
	if errors.Is(err, stores.ErrSchema) {
		err = nil // nothing is kept yet
	}
	return plan, unfit, left, err
}

// Left lists what a store still holds of earlier palettes: roles that somebody has and no palette
// declares, and waiting jobs for verbs that do not exist any more. Each is one line.
func Left(ctx context.Context, reg *verbs.Registry, store stores.Store) (lines []string, err error) {
	names, err := store.Principals(ctx)
	if err != nil {
		return nil, err
	}
	roles, work := map[string]int{}, map[string]int{}
	for _, name := range names {
		p, err := store.Principal(ctx, name)
		if err != nil {
			return nil, err
		}
		for _, role := range p.Roles {
			if reg.Role(role) == nil {
				roles[role]++
			}
		}
	}
	jobs, err := store.Jobs(ctx, stores.JobFilter{Kinds: []string{JobCall}, States: []stores.JobState{stores.JobWaiting}})
	if err != nil {
		return nil, err
	}
	for i := range jobs {
		var w struct{ Verb, Trigger string }
		if json.Unmarshal([]byte(jobs[i].Payload), &w) != nil {
			continue // the worker that runs it reports this
		}
		if _, why, err := readWork(reg, stores.Run{Job: jobs[i].Job}); err == nil && why == reasonOther {
			work[w.Trigger+" of "+w.Verb]++
		}
	}
	for role, n := range roles {
		lines = append(lines, fmt.Sprintf("the role %s, which no palette declares, is that of %s; it gives no rights", role, message.Count(n, "principal")))
	}
	for trigger, n := range work {
		lines = append(lines, fmt.Sprintf("%s for %s, which no palette declares as it was asked for; it cannot be done when its time has come", message.Count(n, "job"), trigger))
	}
	slices.Sort(lines)
	return lines, nil
}
