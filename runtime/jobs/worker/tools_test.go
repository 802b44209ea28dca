package worker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"verbatim/runtime/engine"
	"verbatim/runtime/jobs/worker"
	"verbatim/runtime/protocols/tools"
	"verbatim/stores"
	"verbatim/verbs/load"
)

// Two servers are asked by the jobs of a palette: one is far away and answers late, or never.
const asking = `
domain: ask
roles: [{name: clerk, sees: all}]
entities:
  answer:
    managed: true
    key: answer_id
    scope: self
    label: "{text}"
    fields:
      text: {type: string, required: true}
verbs:
  - verb: far
    roles: [clerk]
    args: [{name: text, type: string, required: true}]
    confirm: never
    tool: {server: far, name: say, idempotent: true}
    effects: [{creates: answer, set: {text: text}}]
  - verb: near
    roles: [clerk]
    args: [{name: text, type: string, required: true}]
    confirm: never
    tool: {server: near, name: say, idempotent: true}
    effects: [{creates: answer, set: {text: text}}]
  - verb: far-later
    roles: [clerk]
    args: [{name: text, type: string, required: true}]
    effects: [{triggers: far, run: "ask.far :text @text"}]
  - verb: near-later
    roles: [clerk]
    args: [{name: text, type: string, required: true}]
    effects: [{triggers: near, run: "ask.near :text @text"}]
`

// neighbours are the two servers.
type neighbours struct {
	mu         sync.Mutex
	down, slow bool // of far: it cannot be reached, it answers after minutes
	asked      map[string]int
	busy, most int // of far
}

func (n *neighbours) Tool(_ context.Context, server, _ string) (tools.Spec, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.down && server == "far" {
		return tools.Spec{}, fmt.Errorf("no route to it")
	}
	return tools.Spec{Input: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}}}`), Writes: true, Digest: "1", Accepted: "1"}, nil
}

func (n *neighbours) Call(ctx context.Context, c tools.Call) (tools.Answer, error) {
	n.mu.Lock()
	n.asked[c.Server]++
	down, slow := n.down, n.slow
	if c.Server == "far" {
		n.busy++
		n.most = max(n.most, n.busy)
		defer func() { n.mu.Lock(); n.busy--; n.mu.Unlock() }()
	}
	n.mu.Unlock()
	if c.Server == "far" {
		if down {
			return tools.Answer{}, fmt.Errorf("no route to it: %w", tools.ErrNotCalled)
		}
		if slow {
			<-ctx.Done()
			return tools.Answer{}, ctx.Err()
		}
	}
	return tools.Answer{Text: "yes"}, nil
}

func (w *world) neighbours() *neighbours {
	w.t.Helper()
	n := &neighbours{asked: map[string]int{}}
	reg, ds := load.Dir(fstest.MapFS{"ask.yaml": &fstest.MapFile{Data: []byte(asking)}})
	if ds.HasErrors() {
		w.t.Fatal(ds)
	}
	all := tables(reg)
	if plan, err := w.store.Migrate(w.t.Context(), all, true); err != nil || len(plan.Problems) > 0 {
		w.t.Fatal(err, plan.Problems)
	}
	w.reg = reg
	var err error
	if w.engine, err = engine.New(reg, w.store, engine.Options{Clock: w.now, NewID: w.id, Tools: n, Sleep: func(context.Context, time.Duration) {}}); err != nil {
		w.t.Fatal(err)
	}
	return n
}

// G22: calls that ask a server which answers after minutes have half of the workers: those that ask
// another one are made at once.
func TestASlowServerDelaysNoOther(t *testing.T) {
	t.Parallel()
	w := sqliteWorld(t, nil)
	n := w.neighbours()
	n.slow = true
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	for i := range 12 {
		w.run("ada", fmt.Sprintf(`ask.far-later :text "%d"`, i))
	}
	done := make(chan string, 100)
	k := w.worker()
	k.Clock, k.Poll, k.Drain = nil, 5*time.Millisecond, time.Millisecond
	k.Report = func(e worker.Event) {
		if e.Outcome == engine.WorkDone {
			done <- e.What
		}
	}
	var all sync.WaitGroup
	all.Go(func() { _ = k.Run(ctx) })
	for i := range 6 {
		w.run("ada", fmt.Sprintf(`ask.near-later :text "%d"`, i))
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			t.Fatalf("call %d of a server that answers is not made", i)
		}
	}
	stop()
	all.Wait()
	if n.most > 2 {
		t.Errorf("a slow server has %d of 4 workers", n.most)
	}
}

// G22: a job whose tool cannot be reached is no refusal: it is tried again, and made when the server is
// back; where it never is, the job is dead after its attempts, and not before.
func TestAJobOutlivesAServerThatIsAway(t *testing.T) {
	t.Parallel()
	for _, met := range []bool{false, true} {
		w := sqliteWorld(t, nil)
		n := w.neighbours()
		if met { // its description is known
			w.run("ada", `ask.far :text "x"`)
		}
		n.down = true
		w.run("ada", `ask.far-later :text "x"`)
		for tries := 1; tries <= stores.DefaultAttempts; tries++ {
			if got := w.work(); strings.Contains(got, engine.WorkRefused) {
				t.Fatalf("met %t: %s", met, got)
			}
			waiting, dead := w.jobs(stores.JobWaiting), w.jobs(stores.JobDead)
			if want := tries == stores.DefaultAttempts; len(waiting)+len(dead) != 1 || (len(dead) == 1) != want {
				t.Fatalf("met %t: after %d attempts %d wait and %d are dead", met, tries, len(waiting), len(dead))
			}
			if len(dead) == 1 {
				if dead[0].Note != engine.CodeToolSilent {
					t.Errorf("it died of %q", dead[0].Note)
				}
				break
			}
			w.set(waiting[0].At)
		}
	}
}

// G22: plans have a share of the workers as well, and are not left alone: that some take too long says
// nothing of the others.
func TestPlansThatTakeTooLongAreNotLeftAlone(t *testing.T) {
	t.Parallel()
	w := sqliteWorld(t, nil)
	for i := range 6 {
		w.run("ada", fmt.Sprintf(`desk.report :note "%d"`, i))
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	sent := make(chan string, 100)
	k := w.worker()
	k.Clock, k.Poll, k.Drain = nil, 5*time.Millisecond, time.Millisecond
	k.Provider = func(engine.Message) string { return worker.Plans }
	k.Send = func(_ context.Context, m engine.Message) error {
		sent <- m.ID
		return context.DeadlineExceeded
	}
	var all sync.WaitGroup
	all.Go(func() { _ = k.Run(ctx) })
	ids := map[string]bool{}
	for len(ids) < 6 {
		select {
		case id := <-sent:
			ids[id] = true
		case <-time.After(10 * time.Second):
			t.Fatalf("%d of 6 plans went on", len(ids))
		}
	}
	stop()
	all.Wait()
}
