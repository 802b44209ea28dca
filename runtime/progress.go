package runtime

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"slices"
	"strings"
	"sync"
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
	Asking     Phase = "ask"     // a tool is asked, and tells how far it is
)

// A Progress says how far a run is. It is told after each call and while a tool is asked,
// one at a time, and the run waits: whoever listens is quick. A run that has to begin
// again begins to count again.
type Progress struct {
	Phase  Phase
	Done   int
	Total  int
	Number int // of the call, as RunOptions.From counts
	// Verb and What are those of a tool that is asked: of What, such as pages, Done are done
	// of Total, which is 0 where it is not known.
	Verb, What string
	// Call is what the call did, once that is committed; nil before.
	Call *receipt.Call
}

const (
	// mostTold is how often one tool is listened to, however often it tells.
	mostTold = 200
	// longestWhat is how many characters of a tool's own word are repeated.
	longestWhat = 40
)

// listens tells how far a tool is: each percent once, and nothing after over.
func (o *runOptions) listens(st *step) (tell func(done, total int, what string), over func()) {
	if o.Progress == nil {
		return nil, func() {}
	}
	var m sync.Mutex
	last, told, ended := 0, 0, false
	tell = func(done, total int, what string) {
		m.Lock()
		defer m.Unlock()
		if ended || done <= last || told == mostTold || total < 0 || total > 0 && (done > total || done < total && last > 0 && done*100/total == last*100/total) {
			return
		}
		last, told = done, told+1
		if r := []rune(strings.Join(strings.Fields(what), " ")); len(r) > longestWhat {
			what = string(r[:longestWhat])
		} else {
			what = string(r)
		}
		o.Progress(Progress{Phase: Asking, Done: done, Total: total, Number: max(1, o.From) + st.index, Verb: st.verb.Name, What: what})
	}
	return tell, func() {
		m.Lock()
		defer m.Unlock()
		ended = true
	}
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
