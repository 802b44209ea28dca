package workflow

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/sqlite"
)

// stepsOf are the calls of a plan of n steps that write and read by turns, in a folder of
// its own.
func stepsOf(n int) string {
	var b strings.Builder
	b.WriteString(`(desk.open :name "Box" :as @f)`)
	for i := 1; i < n; i++ {
		if i%2 == 1 {
			fmt.Fprintf(&b, ` (desk.write :folder-id @f :title "L%d" :as @s%d)`, i, i)
		} else {
			fmt.Fprintf(&b, ` (desk.letters :folder-id @f :about @s%d.title :as @s%d)`, i-1, i)
		}
	}
	return b.String()
}

// What it takes to draft, start and make a plan of so many steps, with commits that wait for
// the disk.
func BenchmarkPlan(b *testing.B) {
	for _, kind := range []string{"SQLite", "PostgreSQL"} {
		for _, n := range []int{1, 5, 12} {
			b.Run(fmt.Sprintf("%s/steps=%d", kind, n), func(b *testing.B) {
				w := benchWorld(b, kind)
				b.ReportAllocs()
				b.ResetTimer()
				for i := range b.N {
					title := fmt.Sprintf("P%d", i)
					w.do("ada", fmt.Sprintf("plan.draft :title %q :as @p :steps [%s]\nplan.start :plan-id @p :here true", title, stepsOf(n)))
					b.StopTimer()
					key := w.plan(title).Key
					b.StartTimer()
					if status, err := w.r.Advance(b.Context(), key, nil); err != nil || status != done {
						b.Fatal(status, err)
					}
				}
				b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "steps/s")
			})
		}
	}
}

func benchWorld(b *testing.B, kind string) *world {
	b.Helper()
	if kind == "SQLite" {
		store, err := sqlite.Open(filepath.Join(b.TempDir(), "p.db"))
		return newWorld(b, store, err)
	}
	db := pgtest.Durable(b)
	store, err := postgres.Open(b.Context(), db.App, postgres.MigrateAs(db.Owner))
	return newWorld(b, store, err)
}
