package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/frontends/wire"
)

// follow takes a turn and prints the answer as it arrives, on the assistant's line and without
// overwriting it, so that a screen reader reads it once.
func (a *app) follow(ctx context.Context, c *dialog.Conversation, line string) (*dialog.Answer, error) {
	m := dialog.Message{Text: line}
	switch {
	case a.streams:
		return c.Follow(ctx, m, func(e dialog.Event) {
			a.send(wire.NewStep(e))
		})
	case a.json:
		return c.Say(ctx, m)
	}
	w := &watcher{after: time.After}
	if isTerminal(a.err) {
		w.begin(a.err)
	}
	defer w.end()
	speaks := false
	answer, err := c.Follow(ctx, m, func(e dialog.Event) {
		if e.Kind != dialog.Telling {
			w.see(e)
			return
		}
		w.end() // no progress line may interrupt the answer
		if !speaks {
			fmt.Fprint(a.out, "Assistant: ")
		}
		speaks = true
		fmt.Fprint(a.out, visibly(e.Text))
		_ = a.flush() // the error is reported when the line ends
	})
	if speaks {
		fmt.Fprintln(a.out)
	}
	return answer, err
}

// A watcher reports what a slow turn is doing: nothing for the first second, then a line, and one
// more every five seconds.
type watcher struct {
	after func(time.Duration) <-chan time.Time

	mu   sync.Mutex
	now  string // what the turn is doing
	stop chan struct{}
	done sync.WaitGroup
}

func (w *watcher) begin(to io.Writer) {
	w.stop = make(chan struct{})
	stop, wait := w.stop, meterPatience
	w.done.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-w.after(wait):
			}
			w.mu.Lock()
			now := w.now
			w.mu.Unlock()
			if now != "" {
				fmt.Fprintf(to, "(%s)\n", now)
			}
			wait = meterPause
		}
	})
}

// see records what the turn is doing.
func (w *watcher) see(e dialog.Event) {
	w.mu.Lock()
	w.now = visibly(atWork(e))
	w.mu.Unlock()
}

// end stops the watcher.
func (w *watcher) end() {
	if w.stop == nil {
		return
	}
	close(w.stop)
	w.stop = nil
	w.done.Wait()
}
