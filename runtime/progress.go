package runtime

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"slices"
	"time"

	"verbatim/stores/receipt"
)

// A Phase is what a long run is at.
type Phase string

// The phases of a run.
const (
	Previewing Phase = "preview" // it works out what would happen
	Running    Phase = "run"     // it does it, in a transaction that is still open
	Committing Phase = "commit"  // it does it, and what is done is committed
)

// A Progress says how far a run is. It is told after each call, in the goroutine
// of the run, which waits: whoever listens is quick. A run that has to begin
// again begins to count again.
type Progress struct {
	Phase  Phase
	Done   int
	Total  int
	Number int // of the call, as RunOptions.From counts
	// Call is what the call did, once that is committed; nil before.
	Call *receipt.Call
}

// progress tells of a call that was carried out.
func (r *run) progress(i int) {
	if r.tell == nil {
		return
	}
	calls := r.prog.Calls()
	if calls[i].Nested {
		return
	}
	if r.total == 0 {
		r.total = len(r.prog.Script().Calls)
		if r.share != nil {
			r.total = len(slices.DeleteFunc(slices.Clone(r.share.calls), func(i int) bool { return calls[i].Nested }))
		}
	}
	r.done++
	r.tell(Progress{Phase: r.phase, Done: r.done, Total: r.total, Number: r.first + r.done - 1})
}

// backoff is how long to wait before trying again what was in somebody's way: a
// little, longer each time, and no two the same.
func backoff(attempt int) time.Duration {
	var b [8]byte
	rand.Read(b[:]) // never fails, by its documentation
	most := time.Millisecond << min(attempt, 7)
	return most/2 + time.Duration(binary.BigEndian.Uint64(b[:])%uint64(most/2))
}

// pause waits before another attempt, unless the context ends.
func (e *Engine) pause(ctx context.Context, attempt int) {
	e.sleep(ctx, e.backoff(attempt))
}

// sleep waits, unless the context ends or nobody has to.
func sleep(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
