package workflow

import (
	"flag"
	"fmt"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"verbatim/stores/postgres"
	"verbatim/stores/sqlite"
)

// By default it is a hundred and one, six times what there are connections: what a plan would hold
// shows with each that waits, and so more of them show nothing else.
var plansWaiting = flag.Int("waiting", 101, "how many plans wait at once in TestPlansThatWaitHoldNothing: 1000 for what is promised")

// Plans that wait for a person are rows: no goroutine waits for anybody, no connection is held
// and none is in a transaction, as the server counts them. Each goes on when its person comes.
// It counts the goroutines of the process, and so runs beside no other test. Of connections
// there are fewer than plans: were one held for each, nothing could go on.
func TestPlansThatWaitHoldNothing(t *testing.T) { // OB15
	const each, connections = 50, 16
	plans := *plansWaiting
	wait := func(t *testing.T, w *world, open, connected func() (int, error)) {
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
		before := idle(0)
		for n := 1; n < plans; n += each {
			begin(n, min(n+each, plans))
		}
		after := idle(before)
		if got := len(w.pending("cleo")); got != plans {
			t.Fatalf("%d wait", got)
		}
		if after > before {
			t.Errorf("%d goroutines with one plan that waits, %d with %d", before, after, plans)
		}
		if n, err := open(); err != nil || n != 0 {
			t.Errorf("%d connections are in a transaction: %v", n, err)
		}
		held, err := connected()
		if err != nil || held > connections {
			t.Errorf("%d connections are open: %v", held, err)
		}
		t.Logf("%d goroutines with 1 plan that waits, %d with %d; %d connections", before, after, plans, held)
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
		// A store opens readers as they are needed, and each has a goroutine, whoever waits.
		store, err := sqlite.Open(filepath.Join(t.TempDir(), "p.db"), sqlite.Readers(1))
		nobody := func() (int, error) { return 0, nil } // the file has nobody to ask
		wait(t, newWorld(t, store, err), nobody, nobody)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		db := migrated(t)
		store, err := postgres.Open(t.Context(), fmt.Sprintf("%s&pool_max_conns=%d", db.App, connections))
		wait(t, newWorld(t, store, err), db.Open, db.Connected)
	})
}

// idle is how many goroutines there are once those that only end have ended. It looks
// for a fifth of a second, and on for ten as long as there are more than wanted.
func idle(wanted int) int {
	n := goruntime.NumGoroutine()
	for tries := range 1000 {
		if tries >= 20 && (wanted == 0 || n <= wanted) {
			break
		}
		time.Sleep(10 * time.Millisecond)
		n = min(n, goruntime.NumGoroutine())
	}
	return n
}
