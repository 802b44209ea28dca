package torture

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/postgres/pgtest"
	"verbatim/verbs"
)

// A mute store keeps no journal: what would be entries is left out.
type mute struct{ stores.Store }

func (m mute) Update(ctx context.Context, scope stores.Scope, fn func(stores.Tx) error) error {
	return m.Store.Update(ctx, scope, func(tx stores.Tx) error { return fn(muteTx{tx}) })
}

type muteTx struct{ stores.Tx }

func (m muteTx) Apply(ctx context.Context, b stores.Batch) error {
	b.Entries = nil
	return m.Tx.Apply(ctx, b)
}

// How many scripts of one call eight clients get through the whole engine, with
// commits that wait for the disk: without a journal, with it, and with it and an
// origin to note for every value. They take turns; the ratios of the medians are
// the result.
//
// SAFE-J3: with the chain, at least half as many as without.
func BenchmarkJournal(b *testing.B) {
	measure := func(b *testing.B, open func() string) {
		const rounds, clients, each = 7, 8, 15
		ctx := context.Background()
		kinds := []string{"mute", "chained", "marked"}
		desks := make([][]*desk, len(kinds))
		took := make([][]float64, len(kinds))
		for i := range kinds {
			var s stores.Store = opened(b, open())
			if i == 0 {
				s = mute{s}
			}
			for range clients {
				d, err := sit(ctx, s, "tess", engine.Options{})
				if err != nil {
					b.Fatal(err)
				}
				desks[i] = append(desks[i], d)
			}
		}
		letter, err := verbs.ParseOrigin("document=letter.pdf")
		if err != nil {
			b.Fatal(err)
		}
		var made atomic.Int64
		write := func(i int, d *desk, account int) error {
			n := made.Add(1)
			script, _ := dsl.Parse(dsl.NewSource("bench.dsl", fmt.Sprintf(`bank.write :account-id @acc%d :text "The accountant is sending it" :tag "b%d/1" :part 1`, account, n)))
			said := verbs.Literals{}
			if i == 2 {
				said.Origin = letter
			}
			p, ds := d.Check(context.Background(), script, engine.CheckOptions{Said: said})
			if p == nil {
				return fmt.Errorf("%s", told(ds))
			}
			_, err := d.Run(ctx, p, engine.RunOptions{})
			return err
		}
		for range rounds {
			for i := range kinds {
				began := time.Now()
				var group sync.WaitGroup
				for c, d := range desks[i] {
					group.Go(func() {
						for range each {
							if err := write(i, d, c%accounts); err != nil {
								b.Error(kinds[i], err)
								return
							}
						}
					})
				}
				group.Wait()
				took[i] = append(took[i], time.Since(began).Seconds())
			}
		}
		var median [3]float64
		for i := range took {
			slices.Sort(took[i])
			median[i] = took[i][rounds/2]
		}
		b.ReportMetric(0, "ns/op") // one pass is all there is
		b.ReportMetric(clients*each/median[0], "mute/s")
		b.ReportMetric(median[0]/median[1], "x-chained")
		b.ReportMetric(median[0]/median[2], "x-marked")
	}
	b.Run("SQLite", func(b *testing.B) { measure(b, func() string { return newFile(b) }) })
	b.Run("PostgreSQL", func(b *testing.B) {
		measure(b, func() string {
			db := pgtest.Durable(b)
			establish(b, db)
			return db.App
		})
	})
}
