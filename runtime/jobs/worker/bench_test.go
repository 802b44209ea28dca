package worker_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/sqlite"
)

// How many jobs one worker does in a second, four at once, each a call that adds a
// row, with its journal entry and its end in one transaction that is flushed.
func BenchmarkJobs(b *testing.B) {
	run := func(b *testing.B, s stores.Store, where string) {
		migrate(b, s, registry(b))
		w := newWorld(b, s, where, nil)
		ctx := context.Background()
		for first := 0; first < b.N; first += 500 {
			var batch stores.Batch
			for i := first; i < min(first+500, b.N); i++ {
				note := stores.NewString(fmt.Sprint("note ", i))
				arg := stores.NewObject([]string{"kind", "name", "text"}, []stores.Value{stores.NewString("string"), stores.NewString("note"), note})
				batch.Jobs = append(batch.Jobs, stores.Job{ID: fmt.Sprint("bench ", i), Kind: engine.JobCall, Principal: "ada", At: start, Origins: "script",
					Payload: stores.NewObject([]string{"args", "trigger", "v", "verb"}, []stores.Value{stores.NewList(arg), stores.NewString("posting"), stores.NewInt(1), stores.NewString("desk.post-later")}).Text()})
			}
			if err := s.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error { return tx.Apply(ctx, batch) }); err != nil {
				b.Fatal(err)
			}
		}
		worker := w.worker()
		worker.Report = nil
		b.ResetTimer()
		began := time.Now()
		counts, err := worker.Once(ctx)
		if err != nil || counts[engine.WorkDone] != b.N {
			b.Fatal(counts, err)
		}
		b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "jobs/s")
	}
	b.Run("SQLite", func(b *testing.B) {
		path := filepath.Join(b.TempDir(), "desk.db")
		s, err := sqlite.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		run(b, s, path)
	})
	b.Run("PostgreSQL", func(b *testing.B) {
		db := pgtest.Durable(b)
		s, err := postgres.Open(context.Background(), db.App, postgres.MigrateAs(db.Owner))
		if err != nil {
			b.Fatal(err)
		}
		run(b, s, db.App)
	})
}
