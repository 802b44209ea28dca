package storetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"verbatim/stores"
)

// Measured is the store of a benchmark, and its size in bytes.
type Measured struct {
	stores.Store
	Size func() int64
}

// MeasureChain measures what the journal costs a store, and what it costs to record the origins
// of values: writers side by side add rows, in transactions of one row each, without a journal,
// with an entry each, and with an entry and a mark each. They take turns, so that a busy moment
// of the machine affects all of them; the results are the ratios of the medians, and the bytes of
// each entry and mark.
//
// SAFE-J3: with the chain, at least half as many as without.
func MeasureChain(b *testing.B, open func() Measured) {
	const rounds, writers, each = 7, 8, 40
	ctx := context.Background()
	item := &stores.Entity{Name: "item", Table: "bench.items", Managed: true, Place: "bench", Fields: []stores.Field{
		{Name: "item_id", Column: "item_id", Kind: stores.UUID, Required: true}, {Name: "note", Column: "note", Kind: stores.String}}}
	kinds := []string{"bare", "chained", "marked"}
	all := make([]Measured, len(kinds))
	empty := make([]int64, len(kinds))
	took := make([][]float64, len(kinds))
	for i := range all {
		all[i] = open()
		defer all[i].Close()
		if plan, err := all[i].Migrate(ctx, []*stores.Entity{item}, true); err != nil || len(plan.Problems) > 0 {
			b.Fatal(err, plan.Problems)
		}
		empty[i] = all[i].Size()
	}
	var made atomic.Int64
	write := func(i int) error {
		n := made.Add(1)
		key, _ := stores.ParseUUID(fmt.Sprintf("%08x-0000-4000-8000-%012x", uint32(n*2654435761), n))
		set := stores.Assign{Field: 1, Value: stores.NewString("Accountant is sending it")}
		batch := stores.Batch{}
		if i > 0 {
			batch.Entries = []stores.Entry{{Time: time.Unix(1735290842, 0), Principal: "clara", Roles: []string{"client"}, Session: key.Text(), Source: "note.dsl:2",
				Verb: "client.add-note", Call: `client.add-note :request-id @pierre-dupont-source-of-wealth :note "Accountant is sending it"`, Outcome: "ok",
				Changes: `[{"Entity":"item","Fields":[{"After":"Accountant is sending it","Field":"note"}],"Key":"` + key.Text() + `","Op":"insert","Table":"bench.items"}]`,
				Palette: "b4ed37effb38959b63919e48ea270da32609ffa62e6e6728e3afcf30cb96d5e6"}}
		}
		if i > 1 {
			set.Origin = "document=letter.pdf"
		}
		batch.Changes, batch.Late = []stores.Change{{Op: stores.Insert, Entity: item, Key: key, Set: []stores.Assign{set}}}, true
		return all[i].Update(ctx, everything, func(tx stores.Tx) error { return tx.Apply(ctx, batch) })
	}
	for range rounds {
		for i := range all {
			began := time.Now()
			var group sync.WaitGroup
			for range writers {
				group.Go(func() {
					for range each {
						if err := write(i); err != nil {
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
	const rows = rounds * writers * each
	grown := func(i int) float64 { return float64(all[i].Size()-empty[i]) / rows }
	b.ReportMetric(0, "ns/op") // there is only one pass
	b.ReportMetric(writers*each/median[0], "bare/s")
	b.ReportMetric(median[0]/median[1], "x-chained")
	b.ReportMetric(median[0]/median[2], "x-marked")
	b.ReportMetric(grown(1)-grown(0), "B/entry")
	b.ReportMetric(grown(2)-grown(1), "B/mark")
}
