package kyc_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores/sqlite"
)

// BenchmarkVerify verifies somebody who is known, somebody whose telephone is another, and
// somebody who is not known, in turn; the medians of the last two, over that of the first, are
// what a peer with a clock could learn (of 10 000 calls each: -benchtime 10000x).
func BenchmarkVerify(b *testing.B) {
	store, err := sqlite.Open(filepath.Join(b.TempDir(), "kyc.db"))
	if err != nil {
		b.Fatal(err)
	}
	a := newAgent(b, store)
	a.engine, err = engine.New(a.reg, store, engine.Options{Clock: a.hourly(), Handlers: a.handlers})
	if err != nil {
		b.Fatal(err)
	}
	s, err := a.engine.Session(ctx, "northbank")
	if err != nil {
		b.Fatal(err)
	}
	ask := func(text string) time.Duration {
		script, ds := dsl.Parse(dsl.NewSource("bench", text))
		p, more := s.Check(ctx, script)
		if ds.HasErrors() || more.HasErrors() {
			b.Fatal(ds, more)
		}
		start := time.Now()
		if _, err := s.Run(ctx, p, engine.RunOptions{}); err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}
	kinds := []string{`kyc.verify :name "John Smith" :phone "555-0123"`, `kyc.verify :name "John Smith" :phone "555-0199"`, `kyc.verify :name "Jean Smoth" :phone "555-0777"`}
	took := make([][]time.Duration, len(kinds))
	b.ReportAllocs()
	for b.Loop() {
		for i, text := range kinds {
			took[i] = append(took[i], ask(text))
		}
	}
	var medians []float64
	for _, t := range took {
		slices.Sort(t)
		medians = append(medians, float64(t[len(t)/2]))
	}
	b.ReportMetric(medians[1]/medians[0], "challenged/verified")
	b.ReportMetric(medians[2]/medians[1], "unknown/challenged")
}

// What is told of somebody who is known but for a telephone, and of somebody who is not known,
// has the same members and is of one size, within a third, where the source lets it be.
func TestKnownAndUnknownAreToldAlike(t *testing.T) { // H16
	t.Parallel()
	agents(t, func(t *testing.T, a *agent) {
		var sizes [2]int
		var columns [2]string
		for i, text := range []string{`kyc.verify :name "John Smith" :phone "555-0199"`, `kyc.verify :name "Jahn Snath" :phone "555-0199"`} {
			_, v := a.begun("northbank", text)
			r, err := a.run("northbank", "kyc.status :verification-id "+v)
			if err != nil {
				t.Fatal(err)
			}
			columns[i], sizes[i] = fmt.Sprint(r.Calls[0].Result.Columns), len(fmt.Sprint(r.Calls[0].Result.Rows))
		}
		if columns[0] != columns[1] || 3*max(sizes[0], sizes[1]) > 4*min(sizes[0], sizes[1]) {
			t.Errorf("%v, %v", columns, sizes)
		}
	})
}
