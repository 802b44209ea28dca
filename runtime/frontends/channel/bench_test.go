package channel

import (
	"fmt"
	"testing"

	"verbatim/runtime/frontends/channel/internal/proven"
)

// BenchmarkMessages is how many messages are received, handled and answered, one after the
// other, without a model: what the engine and the store take, for nothing else is asked.
func BenchmarkMessages(b *testing.B) {
	each(b, func(name string, open func(testing.TB) *world) {
		b.Run(name, func(b *testing.B) {
			w := open(b)
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				n++
				f := w.whatsapp("491515550199", fmt.Sprint("b", n), "status of Solar One")
				if err := w.s.Receive(b.Context(), proven.Prove(f)); err != nil {
					b.Fatal(err)
				}
				if err := w.s.handle(b.Context(), MessageID(&f), 1); err != nil {
					b.Fatal(err)
				}
				if err := w.s.send(b.Context(), DeliveryID("answer", MessageID(&f), received), 1); err != nil {
					b.Fatal(err)
				}
			}
			if len(w.outs()) != n {
				b.Fatalf("%d of %d were answered", len(w.outs()), n)
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "messages/s")
		})
	})
}

// BenchmarkReceive is what a channel waits for before it is told that a message is safe.
func BenchmarkReceive(b *testing.B) {
	each(b, func(name string, open func(testing.TB) *world) {
		b.Run(name, func(b *testing.B) {
			w := open(b)
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				n++
				if err := w.s.Receive(b.Context(), proven.Prove(w.whatsapp("491515550199", fmt.Sprint("b", n), "status of Solar One"))); err != nil {
					b.Fatal(err)
				}
			}
		})
	})
}
