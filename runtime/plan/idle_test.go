package plan

import (
	"flag"
	"fmt"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/sqlite"
)

var plansWaiting = flag.Int("waiting", 250, "how many plans wait at once in TestPlansThatWaitHoldNothing: 1000 for what is promised")

// Plans that wait for a person are rows: no goroutine waits for anybody, no connection is held
// and none is in a transaction, as the server counts them. Each goes on when its person comes.
// It counts the goroutines of the process, and so runs beside no other test.
func TestPlansThatWaitHoldNothing(t *testing.T) { // OB15
	const each = 50
	plans := *plansWaiting
	wait := func(t *testing.T, w *world, open, connected func() (int, error)) {
		connections := func() int {
			t.Helper()
			n, err := connected()
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		w.do("ada", `desk.open :name "Out"`)
		begin := func(from, to int) {
			var b strings.Builder
			for n := from; n < to; n++ {
				fmt.Fprintf(&b, `plan.draft :title "P%d" :as @p%[1]d :steps [(desk.write :folder-id @out :title "L%[1]d" :as @l) (desk.send :letter-id @l :as @s)]
					plan.start :plan-id @p%[1]d
					`, n)
			}
			w.do("ada", b.String())
			w.work()
		}
		begin(0, 1) // what a first plan opens stays open
		before, few := idle(), 0
		for n := 1; n < plans; n += each {
			if begin(n, min(n+each, plans)); few == 0 {
				few = connections() // those that many at once are made with stay open
			}
		}
		after, still := idle(), connections()
		if got := len(w.pending("cleo")); got != plans {
			t.Fatalf("%d wait", got)
		}
		if after > before {
			t.Errorf("%d goroutines with one plan that waits, %d with %d", before, after, plans)
		}
		if n, err := open(); err != nil || n != 0 {
			t.Errorf("%d connections are in a transaction: %v", n, err)
		}
		if still > few {
			t.Errorf("%d connections with %d plans that wait, %d with %d", few, each+1, still, plans)
		}
		t.Logf("%d goroutines with 1 plan that waits, %d with %d; %d connections with %d, %d with %d", before, after, plans, few, each+1, still, plans)
		s, err := w.e.Session(t.Context(), "cleo")
		if err != nil {
			t.Fatal(err)
		}
		first := sourceOf(w.plan("P0").Key.Text())
		for _, p := range w.pending("cleo") {
			if p.Source != first {
				continue
			}
			if _, _, err := s.Agree(t.Context(), p.ID); err != nil {
				t.Fatal(tell(err))
			}
		}
		w.work()
		w.want("P0", "DONE, l DONE, s DONE")
		w.want(fmt.Sprintf("P%d", plans-1), "RUNNING, l DONE, s WAITING")
	}
	t.Run("SQLite", func(t *testing.T) {
		store, err := sqlite.Open(filepath.Join(t.TempDir(), "p.db"))
		nobody := func() (int, error) { return 0, nil } // the file has nobody to ask
		wait(t, newWorld(t, store, err), nobody, nobody)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		db := pgtest.Database(t)
		store, err := postgres.Open(t.Context(), db.App+"&pool_max_conns=200", postgres.MigrateAs(db.Owner))
		wait(t, newWorld(t, store, err), db.Open, db.Connected)
	})
}

// idle is how many goroutines there are once those that only end have ended.
func idle() int {
	n := goruntime.NumGoroutine()
	for range 20 {
		time.Sleep(10 * time.Millisecond)
		n = min(n, goruntime.NumGoroutine())
	}
	return n
}
