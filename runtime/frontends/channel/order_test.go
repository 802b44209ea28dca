package channel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/channel/internal/proven"
	"verbatim/runtime/jobs/worker"
)

// A yes is answered after the correction before it: what one person writes is handled in the
// order in which it was sent, and answered in that order, by however many processes.
func TestMessagesOfOneSenderAreHandledInOrder(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		const n = 12
		sent := map[string]Facts{}
		for i := range n {
			w.wait(time.Second)
			f := w.whatsapp("491515550199", fmt.Sprint("o", i), fmt.Sprintf("note on Wind Two: %d", i))
			f.At = start.Add(time.Duration(i/2) * time.Minute) // WhatsApp tells it by the second
			sent[f.ID] = f
		}
		// The first two come last, as after a webhook that failed at first.
		for i := range n {
			w.wait(time.Millisecond)
			if err := w.s.Receive(t.Context(), proven.Prove(sent[fmt.Sprint("o", (i+2)%n)])); err != nil {
				t.Fatal(err)
			}
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		var all sync.WaitGroup
		for i := range 3 {
			s := w.service()
			k := &worker.Worker{Engine: s.Engine, Store: w.store, Name: fmt.Sprint("process ", i), Clock: w.clock, Poll: 5 * time.Millisecond,
				Send: func(ctx context.Context, m engine.Message) error { _, err := s.Deliver(ctx, m); return err }}
			all.Go(func() { _ = k.Run(ctx) })
		}
		for len(w.outs()) < n && ctx.Err() == nil {
			time.Sleep(5 * time.Millisecond)
			w.wait(5 * time.Millisecond) // so that what is tried again falls due
		}
		stop()
		all.Wait()
		for i, o := range w.outs() {
			if want := fmt.Sprint("o", i); o.ReplyTo != want {
				t.Errorf("answer %d is to %s, not to %s", i, o.ReplyTo, want)
			}
		}
		if len(w.outs()) != n {
			t.Errorf("%d of %d were answered", len(w.outs()), n)
		}
	})
}

// flaky is a channel that fails to fetch every file.
type flaky struct{ recorder }

func (f *flaky) Fetch(context.Context, File) (io.ReadCloser, error) {
	return nil, errors.New("the host is away")
}

// A message that cannot be handled holds up the next one for some attempts, and no more.
func TestAMessageThatFailsDoesNotSilenceItsSender(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		w.s.Adapters["WHATSAPP"] = &flaky{recorder{w, "whatsapp"}}
		ids := make([]string, 3)
		for i := range ids {
			w.wait(time.Second)
			f := w.whatsapp("491515550199", fmt.Sprint("f", i), "status of Solar One")
			if i == 0 {
				f.Files = []File{{ID: "x", Name: "plan.pdf"}}
			}
			if err := w.s.Receive(t.Context(), proven.Prove(f)); err != nil {
				t.Fatal(err)
			}
			ids[i] = MessageID(&f)
		}
		status := func(i int) string { return w.rows(messages, "message_id", ids[i])[0].Text("status") }
		if err := w.s.handle(t.Context(), ids[0], 1); err == nil {
			t.Fatal("the file was had")
		}
		soon, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if err := w.s.handle(soon, ids[1], patience); err == nil || status(1) != received {
			t.Errorf("it did not wait for the one before: %v, %s", err, status(1))
		}
		if err := w.s.handle(t.Context(), ids[1], patience+1); err != nil || status(1) != handled {
			t.Errorf("it waits for ever: %v, %s", err, status(1))
		}
		if err := w.s.handle(t.Context(), ids[2], 1); err != nil || status(2) != handled {
			t.Errorf("it waits for one that another went past: %v, %s", err, status(2))
		}
		w.s.Adapters["WHATSAPP"] = &recorder{w, "whatsapp"}
		if err := w.s.handle(t.Context(), ids[0], 2); err != nil || status(0) != handled {
			t.Errorf("it is not handled later: %v, %s", err, status(0))
		}
	})
}
