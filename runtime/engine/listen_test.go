package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"verbatim/runtime/engine"
	"verbatim/runtime/protocols/tools"
)

// long is a server whose tools take their time.
type long struct {
	tools.Servers
	during func(ctx context.Context, c tools.Call) error
}

func (l *long) Call(ctx context.Context, c tools.Call) (tools.Answer, error) {
	if err := l.during(ctx, c); err != nil {
		return tools.Answer{}, err
	}
	return l.Servers.Call(ctx, c)
}

func longWorld(t *testing.T, during func(ctx context.Context, c tools.Call) error) *world {
	w, shop := newToolWorld(t)
	w.tools(&long{shop, during})
	return w
}

// Who waits for a tool is told how far it is: each percent once, not without end, not from
// two goroutines at once, and nothing once it has answered.
func TestAToolTellsHowFarItIs(t *testing.T) {
	t.Parallel()
	var late func(done, total int, what string)
	for name, c := range map[string]struct {
		tell func(tell func(done, total int, what string))
		want string
	}{
		"pages":         {func(tell func(int, int, string)) { tell(1, 4, "pages"); tell(2, 4, "pages"); tell(4, 4, "pages") }, "1/4 pages, 2/4 pages, 4/4 pages"},
		"backwards":     {func(tell func(int, int, string)) { tell(3, 4, ""); tell(2, 4, ""); tell(3, 4, ""); tell(4, 4, "") }, "3/4, 4/4"},
		"nonsense":      {func(tell func(int, int, string)) { tell(-1, 4, ""); tell(5, 4, ""); tell(0, 0, ""); tell(1, -4, "") }, ""},
		"no total":      {func(tell func(int, int, string)) { tell(7, 0, "files") }, "7/0 files"},
		"its own words": {func(tell func(int, int, string)) { tell(1, 2, "pages\n\n"+strings.Repeat("x", 100)) }, "1/2 pages " + strings.Repeat("x", 34)},
		"each percent": {func(tell func(int, int, string)) {
			for n := range 100_001 {
				tell(n, 100_000, "")
			}
		}, "101 of them"},
		"without end": {func(tell func(int, int, string)) {
			for n := range 100_001 {
				tell(n, 0, "")
			}
		}, "200 of them"},
		"many at once": {func(tell func(int, int, string)) {
			var all sync.WaitGroup
			for n := range 50 {
				all.Go(func() { tell(n+1, 0, "") })
			}
			all.Wait()
		}, "some of them"},
		"when it's over": {func(tell func(int, int, string)) { late = tell }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := longWorld(t, func(_ context.Context, call tools.Call) error { c.tell(call.Tell); return nil })
			var told []string
			listening := make(chan struct{}, 1)
			s := w.session("kim")
			_, err := s.Run(t.Context(), w.program(s, orderIt), engine.RunOptions{Progress: func(p engine.Progress) {
				listening <- struct{}{} // would block for ever, were somebody told at the same time
				if p.Phase == engine.Asking {
					if p.Verb != "desk.order" || p.Number != 1 {
						t.Errorf("%+v", p)
					}
					told = append(told, strings.TrimSpace(fmt.Sprintf("%d/%d %s", p.Done, p.Total, p.What)))
				}
				<-listening
			}})
			if err != nil {
				t.Fatal(err)
			}
			if name == "when it's over" {
				late(1, 2, "pages")
			}
			got := strings.Join(told, ", ")
			switch {
			case strings.HasSuffix(c.want, " of them"):
				got = fmt.Sprintf("%d of them", len(told))
				if name == "many at once" && len(told) > 0 && len(told) <= 50 {
					got = c.want
				}
			}
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
	w := longWorld(t, func(_ context.Context, call tools.Call) error {
		if call.Tell != nil {
			t.Error("somebody listens")
		}
		return nil
	})
	w.done("kim", orderIt)
}

// Whoever stops waiting for a tool is let go at once, and the journal says what is known:
// of one that only reads, nothing; of one that may have acted, that its answer was lost.
func TestWhoStopsWaitingForATool(t *testing.T) {
	t.Parallel()
	for script, c := range map[string]struct {
		unknown bool
		journal string
	}{
		`desk.prices :text "saws"`: {false, ""},
		orderIt:                    {true, "attempted desk.order, unknown desk.order tool-unknown"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		w := longWorld(t, func(ctx context.Context, _ tools.Call) error {
			cancel()
			<-ctx.Done()
			return ctx.Err()
		})
		s := w.session("kim")
		p := w.program(s, script)
		began := time.Now()
		_, err := s.Run(ctx, p, engine.RunOptions{})
		var f *engine.Failure
		if !errors.Is(err, context.Canceled) || !errors.As(err, &f) || f.Unknown != c.unknown || time.Since(began) > 5*time.Second {
			t.Errorf("%s: %v after %v", script, err, time.Since(began))
		}
		if got := strings.Join(w.outcomes(), ", "); got != c.journal {
			t.Errorf("%s: the journal says %q, want %q", script, got, c.journal)
		}
	}
}
