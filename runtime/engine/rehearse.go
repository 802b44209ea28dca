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

// Misfits lists the fields of whose values some are not as the types of the palettes keep them: a number
// that is no telephone number, or one that is not written as such numbers are kept. It reads the rows, so
// it is for rows that SQL has just written. Each is one line, and quotes no value.
func Misfits(ctx context.Context, reg *verbs.Registry, store stores.Store) (lines []string, err error) {
	for _, e := range reg.Entities() {
		var fields []int
		find := stores.Find{Entity: e.Store, Select: []stores.Path{{Field: e.Store.Key}}, Limit: searchPage, Cut: true}
		for i := range e.Store.Fields {
			if t := e.Fields[i].Type; t != nil && t.CountryOf == "" && slices.Contains(exacting, t.Name) {
				fields, find.Select = append(fields, i), append(find.Select, stores.Path{Field: i})
			}
		}
		wrong := make([]int, len(fields))
		for len(fields) > 0 {
			var rows [][]stores.Value
			err := store.View(ctx, stores.Scope{All: true}, func(r stores.Reader) (err error) {
				rows, err = r.Find(ctx, find)
				return err
			})
			if err != nil {
				return nil, err
			}
			for _, row := range rows {
				for n, i := range fields {
					v := row[n+1]
					if kept, err := e.Fields[i].Type.Accept(v); !v.IsNull() && (err != nil || !stores.Equal(kept, v)) {
						wrong[n]++
					}
				}
			}
			if len(rows) < searchPage {
				break
			}
			find.Where = &stores.Cond{Op: stores.Gt, Path: stores.Path{Field: e.Store.Key}, Value: rows[len(rows)-1][0]}
		}
		for n, i := range fields {
			if wrong[n] > 0 {
				t := e.Fields[i].Type
				lines = append(lines, fmt.Sprintf("%s of %s is not as %s is kept in %s", e.Store.Fields[i].Name, e.Store.Name, t.Phrase(), message.Count(wrong[n], "row")))
			}
		}
	}
	return lines, nil
}

// exacting are the types whose values have one spelling, which SQL need not have written.
var exacting = []verbs.TypeName{verbs.PhoneType, verbs.EmailType, verbs.IBANType, verbs.BICType, verbs.LEIType, verbs.NationalIDType}

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
