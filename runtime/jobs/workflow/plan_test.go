package workflow

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/jobs/serviceaccount"
	"verbatim/runtime/jobs/worker"
	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/receipt"
	"verbatim/stores/sqlite"
	"verbatim/verbs"
	"verbatim/verbs/load"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// A world is an installation with two clerks, a chief and an overseer, and a worker.
type world struct {
	t     testing.TB
	reg   *verbs.Registry
	store stores.Store
	e     *engine.Engine
	r     *Runner
	now   atomic.Int64

	mu     sync.Mutex
	events []string
}

func (w *world) clock() time.Time { return start.Add(time.Duration(w.now.Load())) }

func (w *world) wait(d time.Duration) { w.now.Add(int64(d)) }

// on runs a test on both stores.
func on(t *testing.T, test func(t *testing.T, w *world)) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		store, err := sqlite.Open(filepath.Join(t.TempDir(), "p.db"))
		test(t, newWorld(t, store, err))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		store, err := postgres.Open(t.Context(), migrated(t).App)
		test(t, newWorld(t, store, err))
	})
}

// migrated returns a database with the tables of the desk, which are made once for all tests.
func migrated(t testing.TB) pgtest.DB {
	t.Helper()
	return pgtest.Like(t, "desk", func(db pgtest.DB) {
		store, err := postgres.Open(t.Context(), db.App, postgres.MigrateAs(db.Owner))
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		migrate(t, store, deskRegistry(t))
	})
}

func migrate(t testing.TB, store stores.Store, reg *verbs.Registry) {
	t.Helper()
	var all []*stores.Entity
	for _, e := range reg.Entities() {
		all = append(all, e.Store)
	}
	if _, err := store.Migrate(t.Context(), append(all, engine.Own()...), true); err != nil {
		t.Fatal(err)
	}
}

func deskRegistry(t testing.TB) *verbs.Registry {
	t.Helper()
	text, err := os.ReadFile("testdata/desk.yaml")
	if err != nil {
		t.Fatal(err)
	}
	reg, ds := load.Sources(dsl.NewSource("desk.yaml", string(text)), Source())
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	return reg
}

// newWorld makes the tables, unless they are there.
func newWorld(t testing.TB, store stores.Store, err error) *world {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	reg := deskRegistry(t)
	migrate(t, store, reg)
	w := &world{t: t, reg: reg, store: store}
	for who, roles := range map[string][]string{"ada": {"clerk", "planner"}, "ben": {"clerk", "planner"}, "dana": {"planner"}, "eli": {"planner"}, "cleo": {"chief"}, "olga": {"plan-overseer"}, "plans": {"plan-runner"}} {
		if err := store.SetPrincipal(t.Context(), stores.Principal{Name: who, Roles: roles}); err != nil {
			t.Fatal(err)
		}
	}
	h := &engine.Handlers{}
	Register(h, reg)
	if w.e, err = engine.New(reg, store, engine.Options{Clock: w.clock, Handlers: h, People: engine.People{TellsAsker: TellsAsker}}); err != nil {
		t.Fatal(err)
	}
	w.r = &Runner{Clerk: serviceaccount.Clerk{Registry: reg, Engine: w.e, Store: store, As: "plans", Source: "plan"}, Name: "one", Clock: w.clock,
		Sleep: func(_ context.Context, d time.Duration) { w.wait(d) }, Observe: w.observe}
	return w
}

// runner is another process.
func (w *world) runner(name string) *Runner {
	return &Runner{Clerk: w.r.Clerk, Name: name, Judge: w.r.Judge, Clock: w.clock, Sleep: w.r.Sleep}
}

func (w *world) observe(e Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	line := string(e.Kind)
	if e.Step != nil {
		line += " " + e.Step.Name + " " + e.Step.Status
	}
	if e.Attempt != nil && e.Kind == Attempted {
		line += " " + string(e.Attempt.Outcome)
	}
	w.events = append(w.events, line)
}

// try makes calls as somebody.
func (w *world) try(as, text string) (*receipt.Receipt, error) {
	w.t.Helper()
	ctx := w.t.Context()
	s, err := w.e.Session(ctx, as)
	if err != nil {
		return nil, err
	}
	script, ds := dsl.Parse(dsl.NewSource("test", text))
	if ds.HasErrors() {
		return nil, &engine.Refusal{Diagnostics: ds}
	}
	p, ds := s.Check(ctx, script)
	if p == nil {
		return nil, &engine.Refusal{Diagnostics: ds}
	}
	return s.Run(ctx, p, engine.RunOptions{})
}

func (w *world) do(as, text string) *receipt.Receipt {
	w.t.Helper()
	r, err := w.try(as, text)
	if err != nil {
		w.t.Fatalf("%s: %v", text, err)
	}
	return r
}

// refused makes calls that are refused, with words of the reason.
func (w *world) refused(as, text, says string) {
	w.t.Helper()
	_, err := w.try(as, text)
	if err == nil || !strings.Contains(tell(err), says) {
		w.t.Fatalf("%s: %v; want %q", text, tell(err), says)
	}
}

func tell(err error) string {
	var refusal *engine.Refusal
	if !errors.As(err, &refusal) {
		return fmt.Sprint(err)
	}
	var b strings.Builder
	for _, d := range refusal.Diagnostics {
		fmt.Fprintln(&b, d.Code, d.Summary, d.Notes)
	}
	return b.String()
}

// work works off what is due.
func (w *world) work() { w.workBy(w.r) }

// workBy has a process work off what is due.
func (w *world) workBy(r *Runner) {
	w.t.Helper()
	worker := &worker.Worker{Engine: w.e, Store: w.store, Name: "w", Clock: w.clock, Send: func(ctx context.Context, m engine.Message) error {
		_, err := r.Deliver(ctx, m)
		return err
	}, Report: func(e worker.Event) {
		if e.Err != nil {
			w.t.Errorf("%s %s: %v", e.What, e.Outcome, e.Err)
		}
	}}
	if _, err := worker.Once(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// plan is the plan with a title.
func (w *world) plan(title string) *Plan {
	w.t.Helper()
	row, err := w.r.Clerk.Find(w.t.Context(), plans, map[string]stores.Value{"title": stores.NewString(title)})
	if err != nil || row == nil {
		w.t.Fatal(title, err)
	}
	p, err := w.r.Load(w.t.Context(), row.Key())
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// states are those of the steps of a plan, behind its own.
func (w *world) states(title string) string {
	w.t.Helper()
	p := w.plan(title)
	all := []string{p.Status}
	for _, s := range p.Steps {
		all = append(all, s.Name+" "+s.Status)
	}
	return strings.Join(all, ", ")
}

func (w *world) want(title, states string) {
	w.t.Helper()
	if got := w.states(title); got != states {
		p := w.plan(title)
		for _, s := range p.Steps {
			w.t.Logf("%s: %s", s.Name, s.Reason)
		}
		w.t.Fatalf("%s\nwant %s", got, states)
	}
}

var suffix = regexp.MustCompile(`~[a-z0-9]+`)

// letters are the titles and bodies of all letters.
func (w *world) letters() []string {
	w.t.Helper()
	rows, err := w.r.Clerk.All(w.t.Context(), "letter", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	var all []string
	for _, r := range rows {
		all = append(all, strings.TrimSpace(r.Text("title")+" "+r.Text("body")))
	}
	slices.Sort(all)
	return all
}

// A plan is drafted, started and made: each step after what it needs, once. // T4 T12 T13 T53
func TestAPlanIsMadeStepByStep(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		w.do("ada", `desk.open :name "Taxes"`)
		w.do("ada", `plan.draft :title "Year end" :as @p :steps [
			(desk.write :folder-id @new :title "third" :body @found)
			(desk.open :name "Fresh" :as @new)
			(desk.write :folder-id @new :title "first" :as @one)
			(desk.letters :folder-id @new :about "first" :as @found)]
			plan.start :plan-id @p`)
		w.want("Year end", "RUNNING, step-1 OPEN, new OPEN, one OPEN, found OPEN")
		w.work()
		w.want("Year end", "DONE, step-1 DONE, new DONE, one DONE, found DONE")
		if got := w.letters(); len(got) != 2 {
			t.Errorf("%q", got)
		}
	})
}

// A script is staged call by call, looked at, changed, and made as a whole. // OB7
func TestAScriptIsStaged(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		w.do("ada", `desk.open :name "Taxes"`)
		w.do("ada", `plan.draft :title "Empty" :steps []`)
		w.do("ada", `plan.draft :title "Staged"`)
		w.do("ada", `plan.stage :plan-id @staged :call (desk.write :folder-id @taxes :title "A" :as @a)`)
		w.do("ada", `plan.stage :plan-id @staged :call (desk.letters :folder-id @taxes)`)
		w.do("ada", `plan.stage :plan-id @staged :call (desk.write :folder-id @taxes :title @a.title)`)
		w.refused("ada", `plan.stage :plan-id @staged :call (desk.write :folder-id @taxes :title @b.title)`, "nothing is called @b")
		w.refused("ada", `plan.stage :plan-id @staged :call (desk.chiefly :folder-id @taxes)`, "not-permitted")
		w.refused("ada", `plan.stage :plan-id @staged :call (plan.wake :plan-id @staged)`, "unknown-verb")
		w.refused("ada", `plan.stage :plan-id @staged :call (desk.wrote :folder-id @taxes)`, "unknown-verb")
		w.refused("ada", `plan.stage :plan-id @staged :call "desk.letters :folder-id @taxes"`, "wants a call")
		w.refused("ada", `plan.stage :plan-id @staged :call (desk.open :name "x" :pin "1234")`, "holds no :pin")
		w.refused("ben", `plan.stage :plan-id @staged :call (desk.letters :folder-id @taxes)`, "somebody else made this plan")
		w.refused("ada", `plan.remove :step-id @staged-a`, "nothing is called @a")
		w.do("ada", `plan.remove :step-id @staged-step-2`)
		w.do("ada", `plan.reorder :step-id @staged-step-3 :before @staged-a`)
		w.want("Staged", "STAGED, step-3 STAGED, a STAGED")
		w.do("ada", `plan.pick :step-id @staged-a :call (desk.write :folder-id @taxes :title "B")`)
		if got := suffix.ReplaceAllString(dsl.FormatCall(&w.plan("Staged").Steps[1].Call), ""); got != `desk.write :folder-id @taxes :title "B" :as @a` {
			t.Error(got)
		}
		// Its preview is that of the whole, and nothing happens by it.
		s, err := w.e.Session(t.Context(), "ada")
		if err != nil {
			t.Fatal(err)
		}
		script, _ := dsl.Parse(dsl.NewSource("test", "plan.run :plan-id @staged"))
		p, ds := s.Check(t.Context(), script)
		if p == nil {
			t.Fatal(ds)
		}
		preview, err := s.Preview(t.Context(), p)
		if err != nil {
			t.Fatal(tell(err))
		}
		if n := len(preview.Calls[0].Rows); n != 5 || len(w.letters()) != 0 {
			t.Fatalf("%d rows would change, and there are %q", n, w.letters())
		}
		if _, err := s.Run(t.Context(), p, engine.RunOptions{Agreed: preview.ID}); err != nil {
			t.Fatal(tell(err))
		}
		w.want("Staged", "DONE, step-3 DONE, a DONE")
		if got := w.letters(); fmt.Sprint(got) != "[B B]" {
			t.Errorf("%q", got)
		}
		w.refused("ada", `plan.stage :plan-id @staged :call (desk.letters :folder-id @taxes)`, "was started")
	})
}

// A call that says :as in a text gives its result no name by that.
func TestATextThatReadsLikeAName(t *testing.T) {
	t.Parallel()
	w := sqliteWorld(t)
	w.do("ada", `desk.open :name "Taxes"`)
	w.do("ada", `plan.draft :title "Plain" :as @p :steps [(desk.write :folder-id @taxes :title "x :as @step-1")]`)
	w.do("ada", `plan.pick :step-id @plain-step-1 :call (desk.write :folder-id @taxes :title "B")`)
	if as := w.plan("Plain").Steps[0].Call.As; as != "" {
		t.Errorf("the result is called @%s", as)
	}
}

type clerkRow = serviceaccount.Row

// sqliteWorld is a world in a file.
func sqliteWorld(t testing.TB) *world {
	t.Helper()
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "p.db"))
	return newWorld(t, store, err)
}

// A slowStore does not answer while somebody waits for letters.
type slowStore struct{ stores.Store }

type slowReader struct{ stores.Reader }

func (s slowReader) Find(ctx context.Context, f stores.Find) ([][]stores.Value, error) {
	if f.Entity.Name == "letter" {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.Reader.Find(ctx, f)
}

func (s *slowStore) View(ctx context.Context, scope stores.Scope, fn func(stores.Reader) error) error {
	return s.Store.View(ctx, scope, func(r stores.Reader) error { return fn(slowReader{r}) })
}

func (s *slowStore) Update(ctx context.Context, scope stores.Scope, fn func(stores.Tx) error) error {
	return s.Store.Update(ctx, scope, func(tx stores.Tx) error { return fn(slowTx{tx}) })
}

type slowTx struct{ stores.Tx }

func (s slowTx) Find(ctx context.Context, f stores.Find) ([][]stores.Value, error) {
	return slowReader{s.Tx}.Find(ctx, f)
}

// slow has the engine use another store.
func (w *world) slow(store stores.Store) {
	w.t.Helper()
	h := &engine.Handlers{}
	Register(h, w.reg)
	e, err := engine.New(w.reg, store, engine.Options{Clock: w.clock, Handlers: h, People: engine.People{TellsAsker: TellsAsker}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.e, w.r.Clerk.Engine = e, e
}
