package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"verbatim/stores"
	"verbatim/verbs"
)

// Left says what a store still holds of palettes as they were, and what comes of it:
// roles that somebody has and no palette declares any more, and work that waits for
// verbs which there are no more. Each is one line.
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
			continue // whoever runs it says so
		}
		v := reg.Verb(w.Verb)
		if v == nil || !slices.ContainsFunc(v.Effects, func(e verbs.Effect) bool { return e.Run != nil && noticeTarget(&e) == w.Trigger }) {
			work[w.Trigger+" of "+w.Verb]++
		}
	}
	for role, n := range roles {
		lines = append(lines, fmt.Sprintf("the role %s, which no palette declares, is that of %s; it gives no rights", role, verbs.Count(n, "principal")))
	}
	for trigger, n := range work {
		lines = append(lines, fmt.Sprintf("%s for %s, which no palette declares; it cannot be done when its time has come", verbs.Count(n, "job"), trigger))
	}
	slices.Sort(lines)
	return lines, nil
}
