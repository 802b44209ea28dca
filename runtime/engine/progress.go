package engine

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

// A Phase is a phase of a long run.
type Phase string

// The phases of a run.
const (
	Previewing Phase = "preview" // the program is previewed
	Running    Phase = "run"     // the program runs in a transaction that is still open
	Committing Phase = "commit"  // the program runs, and finished calls are committed
	Asking     Phase = "ask"     // a tool works, and reports its progress
)

// A Progress is the progress of a run. It is reported after each call and while a tool works, one
// at a time, and the run waits for the listener, which must be quick. If a run starts again, it
// counts from the beginning.
type Progress struct {
	Phase  Phase
	Done   int
	Total  int
	Number int // the number of the call, counted as in RunOptions.From
	// Verb and What describe a tool at work: it has done Done of Total units of What, such as
	// pages. Total is 0 if it is not known.
	Verb, What string
	// Call is the receipt of a call once it is committed; nil before.
	Call *receipt.Call
}

const (
	// mostTold is the greatest number of reports of one tool that are passed on.
	mostTold = 200
	// longestWhat is the greatest number of characters of a tool's own word that are repeated.
	longestWhat = 40
)

// listens returns a function that passes on a tool's progress, each percent once, and a function
// after which it passes on nothing.
func (o *runOptions) listens(st *step) (tell func(done, total int, what string), over func()) {
	if o.opt.Progress == nil {
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
		o.opt.Progress(Progress{Phase: Asking, Done: done, Total: total, Number: max(1, o.opt.From) + st.call.index, Verb: st.verb.Name, What: what})
	}
	return tell, func() {
		m.Lock()
		defer m.Unlock()
		ended = true
	}
}

// progress reports a call that was carried out.
func (r *run) progress(i int) {
	if r.listen.tell == nil {
		return
	}
	calls := r.plan.prog.Calls()
	if calls[i].Nested {
		return
	}
	if r.listen.total == 0 {
		r.listen.total = len(r.plan.prog.Script().Calls)
		if r.plan.part != nil {
			r.listen.total = len(slices.DeleteFunc(slices.Clone(r.plan.part.calls), func(i int) bool { return calls[i].Nested }))
		}
	}
	r.listen.done++
	r.listen.tell(Progress{Phase: r.phase, Done: r.listen.done, Total: r.listen.total, Number: r.plan.first + r.listen.done - 1})
}

// backoff returns how long to wait before the next attempt after a conflict: a short time, longer
// for each attempt, with jitter.
func backoff(attempt int) time.Duration {
	var b [8]byte
	rand.Read(b[:]) // never fails, by its documentation
	most := time.Millisecond << min(attempt, 7)
	return most/2 + time.Duration(binary.BigEndian.Uint64(b[:])%uint64(most/2))
}

// pause waits before the next attempt, unless the context ends.
func (e *Engine) pause(ctx context.Context, attempt int) {
	e.opt.Sleep(ctx, e.opt.Backoff(attempt))
}

// sleep waits, unless the context ends or d is not positive.
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
