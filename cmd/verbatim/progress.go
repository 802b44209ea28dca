package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"verbatim/runtime/engine"
	"verbatim/runtime/engine/each"
	"verbatim/runtime/frontends/wire"
	"verbatim/stores"
	"verbatim/stores/receipt"
)

// A meter reports the progress of a long run: nothing for the first second, then at most a line for
// each tenth or each five seconds. It never paints over a line, so logs, pipes and screen readers
// get the same text as a terminal.
type meter struct {
	w     io.Writer
	now   func() time.Time
	began time.Time

	phase engine.Phase
	call  int // the call whose tool is running
	done  int
	tenth int
	said  time.Time
}

const (
	meterPatience = time.Second
	meterPause    = 5 * time.Second
)

// due reports whether a line is due. After a retry, progress does not go back.
func (m *meter) due(p engine.Progress, patience time.Duration) bool {
	now := m.now()
	if p.Phase != m.phase || p.Phase == engine.Asking && p.Number != m.call {
		m.phase, m.call, m.done, m.tenth, m.said = p.Phase, p.Number, 0, 0, now
	}
	if p.Done <= m.done {
		return false
	}
	m.done = p.Done
	tenth := 0
	if p.Total > 0 {
		tenth = p.Done * 10 / p.Total
	}
	if p.Done == p.Total || now.Sub(m.began) < patience || tenth == m.tenth && now.Sub(m.said) < meterPause {
		return false
	}
	m.tenth, m.said = tenth, now
	return true
}

// tell prints a line if one is due.
func (m *meter) tell(p engine.Progress) {
	if !m.due(p, meterPatience) {
		return
	}
	if p.Phase == engine.Asking {
		far := receipt.Thousands(p.Done)
		if p.Total > 0 {
			far += " of " + receipt.Thousands(p.Total)
		}
		fmt.Fprintf(m.w, "%s: %s\n", p.Verb, receipt.Safe(strings.TrimSpace(far+" "+p.What)))
		return
	}
	looking := ""
	if p.Phase == engine.Previewing {
		looking = "preview: "
	}
	fmt.Fprintf(m.w, "%s%s of %s, %d %%\n", looking, receipt.Thousands(p.Done), receipt.Counted(p.Total, "call"), p.Done*100/p.Total)
}

// progress returns the function that receives the run's progress; nil unless a person watches a
// terminal or events were asked for.
func (j *job) progress() func(engine.Progress) {
	m := &meter{w: j.err, now: j.now, began: j.started}
	switch {
	case j.streams:
		return func(p engine.Progress) {
			if p.Call != nil || m.due(p, 0) {
				j.send(wire.NewProgress(p))
			}
		}
	case j.json || !isTerminal(j.err):
		return nil
	}
	return m.tell
}

// send writes an event without buffering.
func (a *app) send(e wire.Event) {
	a.write(e)
	if w, ok := a.out.(*bufio.Writer); ok {
		_ = w.Flush() // the sink remembers the error
	}
}

// halted says what stopped a run from outside; nil if nothing did.
func (a *app) halted(err error) *stop {
	switch {
	case errors.Is(err, context.DeadlineExceeded) && a.limit > 0:
		return &stop{exitRefused, "timed-out", fmt.Sprintf("stopped after %s, nothing was changed", a.limit), "give it longer with --timeout"}
	case errors.Is(err, context.Canceled):
		return &stop{exitRefused, "stopped", "stopped, nothing was changed", "run it again"}
	}
	return nil
}

// stopped reports how far a run that commits call by call has come, and how to continue.
func (j *job) stopped(ctx context.Context, reply *receipt.Receipt, s *each.Stopped, seen bool) error {
	exit, code := exitRefused, "stopped"
	var refusal *engine.Refusal
	var failed *engine.Failure
	unknown := errors.As(s.Err, &failed) && failed.Unknown
	halt := j.halted(s.Err)
	switch {
	case errors.As(s.Err, &refusal):
		code = refusal.Diagnostics[0].Code
	case halt != nil && !unknown:
		code = halt.code
	default:
		exit, code = exitSystem, cmp.Or(stores.TroubleCode(s.Err), "system")
		if unknown {
			code = "unknown"
		}
	}
	if j.json {
		out := wire.Run{Schema: wire.RunSchema, Outcome: wire.Stopped, Code: code, Done: s.Done, Total: s.Total, Next: s.Next,
			Preview: reply, First: s.First, Last: s.Last, Report: wire.NewReport(nil)}
		if refusal != nil {
			out.Report = report(refusal.Diagnostics)
		}
		j.emit(out)
		return said(exit)
	}
	if err := j.told(ctx, reply, seen); err != nil {
		return err
	}
	if err := j.flush(); err != nil {
		return err
	}
	how := "stopped"
	if halt != nil && halt.code == "timed-out" {
		how = "the time is over: stopped"
	}
	then := "Continue with"
	switch {
	case refusal != nil:
		j.refused(refusal)
		then = "Put it right, then continue with"
	case unknown:
		fmt.Fprintf(j.err, "verbatim: the connection was cut off during call %d, so it is unknown whether it happened\n", s.Next)
		if then = "Look at verbatim log show; if it did not happen, continue with"; j.key != "" {
			then = "Its key settles it; continue with"
		}
	case exit == exitSystem:
		fmt.Fprintf(j.err, "verbatim: call %d failed through nobody's fault but the system's; it changed nothing\n", s.Next)
		if j.env("VERBATIM_TRACE") != "" {
			fmt.Fprintf(j.err, "next: %s\n", s.Err)
		}
	}
	entries := ""
	if s.First > 0 {
		entries = fmt.Sprintf(" (journal %s)", numbered(s.First, s.Last))
	}
	are := "are"
	if s.Done == 1 {
		are = "is"
	}
	fmt.Fprintf(j.err, "%s after %d of %d; %d %s committed%s. %s: %s\n", how, s.Done, s.Total, s.Done, are, entries, then, j.rest(s.Next))
	return said(exit)
}

// rest returns the command for the remaining calls.
func (j *job) rest(from int) string {
	command := fmt.Sprintf("verbatim run --from %d", from)
	if j.as != j.env("VERBATIM_AS") {
		command += " --as " + shell(j.as)
	}
	if j.key != "" {
		command += " --key " + shell(j.key)
	}
	return command + " " + shell(j.file)
}

// numbered writes a range of entries as `verbatim log show` takes it.
func numbered(first, last int64) string {
	if last > first {
		return fmt.Sprintf("%d..%d", first, last)
	}
	return fmt.Sprint(first)
}
