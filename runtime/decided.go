package runtime

import (
	"time"

	"verbatim/runtime/confirmations"
	"verbatim/stores"
)

// TargetDecided is the target of the notice that somebody decided what an asker waited for,
// who is not there to see it. Its body holds "confirmation", which is its key, "to", the
// asker's name, "by", the name of whoever decided, "source", where the calls come from, "status" and "reason".
const TargetDecided = "decided"

// decided is the notice to an asker who spoke by a channel; none to others, who see it
// where they asked.
func (e *Engine) decided(c *confirmations.Confirmation, status, by, reason string, now time.Time) []stores.Job {
	if e.tellsAsker == nil || !e.tellsAsker(c.Source) {
		return nil
	}
	body := stores.NewObject([]string{"by", "confirmation", "reason", "source", "status", "to"},
		[]stores.Value{stores.NewString(by), c.Key, stores.NewString(reason), stores.NewString(c.Source), stores.NewString(status), stores.NewString(c.Asker)})
	return []stores.Job{e.message("notify", TargetDecided, now, c.Asker, body)}
}
