package torture

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/jobs/serviceaccount"
	"verbatim/runtime/jobs/worker"
	"verbatim/runtime/jobs/workflow"
	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/sqlite"
	"verbatim/verbs"
	"verbatim/verbs/load"
)

var (
	// On a server fifty are enough: every kind of step is among them, which killPlans checks, and a
	// dozen processes are killed. In a file, where plans end sooner, a hundred leave time for as many.
	// More rounds of the same are those of make marathon.
	planned = flag.Int("plans", 0, "how many plans are made while processes are killed, on each store; unless said 50 in a file, 25 on a server")
	every   = flag.Duration("every", 400*time.Millisecond, "how often a process that makes plans is killed")
)

//go:embed testdata/plans
var errands embed.FS

const (
	sheets   = 4
	planners = 4  // who have plans made
	workers  = 4  // processes that make them
	atOnce   = 60 // plans that have not ended
	// faster is how much faster the clock of plans runs than that of the machine, so that
	// a plan whose process was killed is another's after about a second.
	faster = 60
)

// errandRegistry is the palette of errands, with that of plans.
var errandRegistry = sync.OnceValues(func() (*verbs.Registry, error) {
	text, err := fs.ReadFile(errands, "testdata/plans/errand.yaml")
	if err != nil {
		return nil, err
	}
	reg, ds := load.Sources(dsl.NewSource("errand.yaml", string(text)), workflow.Source())
	if ds.HasErrors() {
		return nil, errors.New(told(ds))
	}
	return reg, nil
})

// An office is an engine with plans, and its runner, in one process. All processes have
// one clock, which is that of the machine made faster. It is behind that of the machine,
// and so of the server, so that a job that is due by it is due for River's tables, too.
type office struct {
	store  stores.Store
	engine *engine.Engine
	runner *workflow.Runner
	clock  func() time.Time
}

func fastFrom(began time.Time) func() time.Time {
	return func() time.Time {
		now := time.Now()
		return began.AddDate(0, -6, 0).Add(faster * now.Sub(began))
	}
}

func openOffice(ctx context.Context, at, name string, began time.Time) (*office, error) {
	reg, err := errandRegistry()
	if err != nil {
		return nil, err
	}
	var s stores.Store
	if strings.HasPrefix(at, "postgres://") {
		s, err = postgres.Open(ctx, at, postgres.RowCap(many))
	} else {
		s, err = sqlite.Open(at, sqlite.RowCap(many), sqlite.BusyTimeout(time.Minute))
	}
	if err != nil {
		return nil, err
	}
	o := &office{store: s, clock: fastFrom(began)}
	h := &engine.Handlers{}
	workflow.Register(h, reg)
	if o.engine, err = engine.New(reg, s, engine.Options{Clock: o.clock, Handlers: h, People: engine.People{TellsAsker: workflow.TellsAsker}}); err != nil {
		s.Close()
		return nil, err
	}
	o.runner = &workflow.Runner{Clerk: serviceaccount.Clerk{Registry: reg, Engine: o.engine, Store: s, As: "plans", Source: "plan"}, Name: name, Clock: o.clock, Judge: examiner{}}
	return o, nil
}

// do makes calls as somebody.
func (o *office) do(ctx context.Context, as, text string) error {
	s, err := o.engine.Session(ctx, as)
	if err != nil {
		return err
	}
	script, ds := dsl.Parse(dsl.NewSource("errand.dsl", text))
	if ds.HasErrors() {
		return errors.New(told(ds))
	}
	p, ds := s.Check(ctx, script)
	if p == nil {
		return errors.New(told(ds))
	}
	_, err = s.Run(ctx, p, engine.RunOptions{})
	return err
}

// A shift is what a process does that makes the steps of plans.
type shift struct {
	Name  string
	Began time.Time // of the clock
	Dies  int       // the event of a plan at which the process kills itself; 0 for none
}

// work makes steps until the process is killed, or told to end.
func (h *shift) work(at string, out io.Writer) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	o, err := openOffice(ctx, at, h.Name, h.Began)
	if err != nil {
		return err
	}
	defer o.store.Close()
	tell := teller(out)
	events := 0
	o.runner.Observe = func(e workflow.Event) {
		events++
		tell(saidPoint, string(e.Kind), fmt.Sprint(events))
		if events == h.Dies {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // until it is dead
		}
	}
	w := &worker.Worker{Engine: o.engine, Store: o.store, Name: h.Name, Clock: o.clock, Timeout: 3 * time.Minute, Poll: 20 * time.Millisecond, Drain: time.Second,
		Send: func(ctx context.Context, m engine.Message) error {
			_, err := o.runner.Deliver(ctx, m)
			return err
		},
		Report: func(e worker.Event) {
			if e.Err != nil {
				tell(saidFailed, e.What, fmt.Sprint(e.Outcome, " ", e.Reason, " ", chain(e.Err)))
			}
		}}
	return w.Run(ctx)
}

// chain tells an error with what the diagnostics of a refusal say.
func chain(err error) string {
	var refusal *engine.Refusal
	if errors.As(err, &refusal) {
		return err.Error() + " " + told(refusal.Diagnostics)
	}
	return err.Error()
}

// The kinds of steps. The name of a step begins with its kind.
const (
	puts   = 'w' // writes
	signs  = 's' // writes, when somebody else agreed
	spoils = 'b' // would write, and fails for good
	sheet  = 'r' // reads a sheet
	items  = 'g' // reads an item
	lists  = 'l' // reads what is beside an item
	odd    = 'o' // reads a sheet, and will do as the Judge says it otherwise
	doubts = 'q' // reads a sheet, and will do when an overseer says so
)

// An examiner says by the name of a step alone whether its answer will do.
type examiner struct{}

func (examiner) Judge(_ context.Context, _ *workflow.Plan, s *workflow.Step, a *workflow.Attempt) workflow.Verdict {
	score, least := 0.9, 0.75
	v := workflow.Verdict{Good: true, Score: &score, Least: &least}
	switch {
	case a.Outcome == workflow.Refused:
		return workflow.Verdict{}
	case a.Outcome != workflow.OK: // a store that others kept busy
		return workflow.Verdict{Again: a.Number < 20, Wait: 20 * time.Millisecond}
	case s.Name[0] == odd && a.Call.Args[0].Value.Text != s.Call.Args[0].Value.Text:
		score = 0.8
	case s.Name[0] == odd:
		score = 0.3
		next := dsl.NewCall(a.Call.Verb, dsl.NewArg("sheet-id", dsl.NewSymbol(other(s.Name))))
		v.Good, v.Again, v.Next = false, true, &next
	case s.Name[0] == doubts:
		score = 0.5
		v.Good, v.Again, v.Ask = false, a.Number < 2, a.Number >= 2
	}
	return v
}

// other is the sheet that will do for a step with that name.
func other(step string) string { return "other" + step[len(step)-1:] }

// A drawn is a plan as chance made it, and what is to become of it.
type drawn struct {
	title    string
	parallel int
	here     bool // who starts it says that they make it, and do not
	steps    []drawnStep
}

type drawnStep struct {
	name  string
	call  string
	needs []string
	state string // in which it ends
	// What its item holds: the step whose item it is beside, and words; not all words are
	// known before.
	beside, words string
	known         bool
	value         string // what others are given as its words
}

func (s *drawnStep) kind() byte { return s.name[0] }

// writes reports whether it leaves an item.
func (s *drawnStep) writes() bool { return s.kind() == puts || s.kind() == signs }

// drawnKinds are the kinds of steps, each as often as it is drawn.
const drawnKinds = "wwwwwwwwwwwwrrggglloosqb"

// draw makes plan n of a seed.
func draw(seed uint64, n int) *drawn {
	rnd := rand.New(rand.NewPCG(seed, uint64(n)))
	d := &drawn{title: fmt.Sprintf("p%d", n), parallel: 1 + rnd.IntN(4), here: rnd.IntN(10) == 0}
	for i := range 1 + rnd.IntN(12) {
		kind := drawnKinds[rnd.IntN(len(drawnKinds))]
		var left []*drawnStep // that have an item
		for j := range d.steps {
			if d.steps[j].writes() {
				left = append(left, &d.steps[j])
			}
		}
		if len(left) == 0 && (kind == items || kind == lists) {
			kind = sheet
		}
		s := drawnStep{name: fmt.Sprintf("%c%d", kind, i), state: "DONE", known: true}
		text := d.title + "/" + s.name
		needs := func(on *drawnStep) {
			if !slices.Contains(s.needs, on.name) {
				s.needs = append(s.needs, on.name)
			}
			if on.state != "DONE" {
				s.state = "SKIPPED"
			}
		}
		switch kind {
		case sheet, doubts, odd:
			name := fmt.Sprintf("sheet%d", rnd.IntN(sheets))
			s.call, s.value = "errand.sheet :sheet-id @"+name, name
			if kind == odd {
				s.value = other(s.name)
			}
		case items, lists:
			on := left[rnd.IntN(len(left))]
			needs(on)
			s.value = on.value
			s.call = fmt.Sprintf("errand.item :item-id @%s", on.name)
			if kind == lists {
				s.call = fmt.Sprintf("errand.beside :item-id @%s", on.name)
			}
		default:
			verb := map[byte]string{puts: "put", signs: "sign", spoils: "spoil"}[kind]
			s.call, s.value = fmt.Sprintf("errand.%s :text %q", verb, text), text
			if len(left) > 0 && rnd.IntN(2) == 0 {
				on := left[rnd.IntN(len(left))]
				needs(on)
				s.beside = on.value
				s.call += " :beside @" + on.name
			}
			if i > 0 && rnd.IntN(2) == 0 {
				of := &d.steps[rnd.IntN(i)]
				needs(of)
				field := ".text"
				switch of.kind() {
				case lists:
					field, s.known = "", false // what is beside an item by then
				case sheet, doubts, odd:
					field = ".name"
				}
				s.words = of.value
				s.call += " :words @" + of.name + field
			}
		}
		if kind == spoils && s.state == "DONE" {
			s.state = "FAILED"
		}
		s.call += " :as @" + s.name
		d.steps = append(d.steps, s)
	}
	return d
}

// ends is the state in which the plan ends.
func (d *drawn) ends() string {
	if slices.ContainsFunc(d.steps, func(s drawnStep) bool { return s.state != "DONE" }) {
		return "FAILED"
	}
	return "DONE"
}

// script drafts and starts the plan. Its steps stand in any order.
func (d *drawn) script(rnd *rand.Rand) string {
	var calls []string
	for _, i := range rnd.Perm(len(d.steps)) {
		calls = append(calls, "("+d.steps[i].call+")")
	}
	return fmt.Sprintf("plan.draft :title %q :parallel %d :as @p :steps [%s]\nplan.start :plan-id @p :here %t", d.title, d.parallel, strings.Join(calls, " "), d.here)
}

// asker is who has plan n made.
func asker(n int) string { return fmt.Sprintf("asker%d", n%planners) }

// foundOffice makes the tables, the people and the sheets.
func foundOffice(ctx context.Context, s stores.Store, o *office) error {
	if p, err := s.Migrate(ctx, tables(o.runner.Clerk.Registry), true); err != nil || len(p.Problems) > 0 {
		return fmt.Errorf("migrate: %w %v", err, p.Problems)
	}
	people := map[string][]string{"chief": {"chief"}, "overseer": {"plan-overseer"}, "plans": {"plan-runner"}}
	for n := range planners {
		people[asker(n)] = []string{"runner", "planner"}
	}
	for who, roles := range people {
		if err := s.SetPrincipal(ctx, stores.Principal{Name: who, Roles: roles}); err != nil {
			return err
		}
	}
	var b strings.Builder
	for n := range sheets {
		fmt.Fprintf(&b, "errand.add-sheet :name \"sheet%d\"\n", n)
	}
	for n := range 10 {
		fmt.Fprintf(&b, "errand.add-sheet :name \"other%d\"\n", n)
	}
	return o.do(ctx, asker(0), b.String())
}

// Four processes make plans of several people, and one after the other is killed and
// another takes its place. Some steps fail for good, some reads are tried otherwise, some
// steps wait for somebody's agreement, and some answers for an overseer. Then every plan
// has ended as it had to; each step that writes was made once, each after what it needs;
// and what rows say of attempts and scores is what the journal says.
//
// With -plans 10000 and -every 1s it is the full size.
//
// OB15: steps that wait for a person wait as rows, and go on once, whoever is killed.
func TestPlansAreKilled(t *testing.T) {
	t.Parallel()
	began := time.Now()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		at := filepath.Join(t.TempDir(), "plans.db")
		s, err := sqlite.Open(at)
		if err != nil {
			t.Fatal(err)
		}
		killPlans(t, "SQLite", at, began, s, cmp.Or(*planned, 50))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		db := pgtest.Database(t)
		s, err := postgres.Open(t.Context(), db.App, postgres.MigrateAs(db.Owner))
		if err != nil {
			t.Fatal(err)
		}
		killPlans(t, "PostgreSQL", db.App, began, s, cmp.Or(*planned, 25))
	})
}

// A process that makes a plan is killed at each thing that happens to the plan, in a file; another goes on, and the plan
// ends as it had to, with each step made once. OB15
func TestAPlanIsKilledAtEachStep(t *testing.T) {
	t.Parallel()
	d := (*drawn)(nil)
	for n := 0; d == nil; n++ { // one that needs nobody, and has steps of several kinds
		d = draw(20261130, n)
		kinds := map[byte]bool{}
		for _, s := range d.steps {
			kinds[s.kind()] = true
		}
		if d.here || len(d.steps) < 4 || len(d.steps) > 6 || kinds[signs] || kinds[doubts] || !kinds[puts] || !kinds[odd] && !kinds[spoils] {
			d = nil
		}
	}
	run := func(t *testing.T, dies int) (events int) {
		began, at := time.Now(), filepath.Join(t.TempDir(), "plans.db")
		owner, err := sqlite.Open(at)
		if err != nil {
			t.Fatal(err)
		}
		o, err := openOffice(t.Context(), at, "nobody", began)
		if err == nil {
			defer o.store.Close()
			err = foundOffice(t.Context(), owner, o)
		}
		owner.Close()
		if err == nil {
			err = o.do(t.Context(), asker(0), d.script(rand.New(rand.NewPCG(1, 1))))
		}
		if err != nil {
			t.Fatal(chain(err))
		}
		work := func(name string, dies int) *process {
			return spawn(t, order{Store: at, Plans: &shift{Name: name, Began: began, Dies: dies}})
		}
		p := work("first", dies)
		if dies > 0 {
			if _, err := p.wait(); !killed(err) {
				t.Fatalf("it was not killed at event %d: %v", dies, err)
			}
			p = work("second", 0)
		}
		for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
			if n, err := o.ended(t.Context()); err != nil || time.Now().After(end) {
				t.Fatalf("%d plans have ended: %v", n, err)
			} else if n == 1 {
				break
			}
		}
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		said, err := p.wait()
		if err != nil && !killed(err) {
			t.Error(err)
		}
		for _, w := range said {
			if w.what == saidPoint {
				events++
			}
		}
		a, err := audited(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		a.held([]*drawn{d})
		for _, wrong := range a.wrongs {
			t.Errorf("killed at event %d: %s", dies, wrong)
		}
		return events
	}
	events := run(t, 0)
	if events < 2*len(d.steps) {
		t.Fatalf("%d events of a plan with %d steps", events, len(d.steps))
	}
	t.Logf("killed at each of %d events of a plan with %d steps", events, len(d.steps))
	for dies := 1; dies <= events; dies++ {
		t.Run(fmt.Sprint(dies), func(t *testing.T) {
			t.Parallel()
			run(t, dies)
		})
	}
}

func killPlans(t *testing.T, kind, at string, began time.Time, owner stores.Store, plans int) {
	ctx := t.Context()
	y := begin(t, "OB15", "plans whose processes are killed, "+kind, "plans")
	o, err := openOffice(ctx, at, "nobody", began)
	if err != nil {
		t.Fatal(err)
	}
	defer o.store.Close()
	err = foundOffice(ctx, owner, o)
	owner.Close()
	if err != nil {
		t.Fatal(err)
	}
	f := &floor{t: t, y: y, at: at, began: began}
	defer f.killAll()
	for range workers {
		f.start()
	}
	decide, decided := context.WithCancel(ctx)
	defer decided()
	var people sync.WaitGroup
	people.Go(func() { o.agrees(decide, y) })
	people.Go(func() { o.accepts(decide, y) })
	start := time.Now()
	var next, over atomic.Int64
	for range planners {
		people.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= plans {
					return
				}
				for n-int(over.Load()) >= atOnce && pause(ctx) {
				}
				d := draw(*seeded, n)
				if err := o.do(ctx, asker(n), d.script(rand.New(rand.NewPCG(*seeded, uint64(n))))); err != nil {
					y.wrong("plan %d cannot be started: %s", n, chain(err))
				}
			}
		})
	}
	// One is killed at each tick until few plans are left. Where none ended since the last tick
	// nobody is, for where to begin takes longer than that nothing would ever end; and after a
	// while one is told to end instead: whoever leads River's clients then looks at once for
	// what the killed left.
	kills, best, last := 0, -1, time.Now()
	for tick := time.NewTicker(*every); ; {
		<-tick.C
		ended, err := o.ended(ctx)
		if err != nil {
			t.Fatal(err)
		}
		over.Store(int64(ended))
		if ended == plans {
			break
		}
		progress := ended > best
		if progress {
			best, last = ended, time.Now()
		}
		if time.Since(last) > 2*time.Minute {
			y.wrong("nothing ends any more: %d of %d plans have", ended, plans)
			break
		}
		if progress && (kills == 0 || ended < plans-atOnce/4) {
			f.replace(syscall.SIGKILL)
			kills++
		} else if !progress && time.Since(last) > 2*time.Second && time.Since(f.replaced) > 2*time.Second {
			f.replace(syscall.SIGTERM)
		}
	}
	took := time.Since(start)
	decided()
	people.Wait()
	f.killAll()
	y.try(plans)
	if kills == 0 {
		y.wrong("it was all done before anybody was killed")
	}
	a, err := audited(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	drawn, all := map[byte]bool{}, make([]*drawn, plans)
	for n := range all {
		all[n] = draw(*seeded, n)
		for _, s := range all[n].steps {
			drawn[s.kind()] = true
		}
	}
	for _, kind := range []byte(drawnKinds) {
		if !drawn[kind] {
			y.wrong("no step of kind %c is among %d plans", kind, plans)
			drawn[kind] = true // said once
		}
	}
	a.held(all)
	for _, wrong := range a.wrongs {
		y.wrong("%s", wrong)
	}
	y.remark("%d steps, %d attempts, %.1f plans/s, %d processes killed, %d plans taken over, %d journal entries, %s",
		len(a.steps), a.attempts, float64(plans)/took.Seconds(), kills, a.takenOver, a.entries, took.Round(time.Millisecond))
	for _, said := range f.complaints() {
		t.Log(said)
	}
}

// A floor is where the processes work.
type floor struct {
	t        *testing.T
	y        *tally
	at       string
	began    time.Time
	count    int
	running  []*process // the oldest first
	replaced time.Time
	failures map[string]int
}

func (f *floor) start() {
	f.count++
	f.running = append(f.running, spawn(f.t, order{Store: f.at, Plans: &shift{Name: fmt.Sprintf("worker%d", f.count), Began: f.began}}))
}

// replace ends the process that works longest, and starts another.
func (f *floor) replace(how syscall.Signal) {
	f.end(f.running[0], how)
	f.running = f.running[1:]
	f.replaced = time.Now()
	f.start()
}

func (f *floor) end(p *process, how syscall.Signal) {
	_ = syscall.Kill(-p.cmd.Process.Pid, how)
	said, err := p.wait()
	if err != nil && !killed(err) {
		f.y.wrong("a process ended with %v", err)
	}
	if f.failures == nil {
		f.failures = map[string]int{}
	}
	for _, w := range said {
		f.failures[w.tag+" "+w.rest]++
	}
}

func (f *floor) killAll() {
	for _, p := range f.running {
		f.end(p, syscall.SIGKILL)
	}
	f.running = nil
}

// complaints are what processes reported to have failed, and how often.
func (f *floor) complaints() (all []string) {
	for _, what := range sorted(f.failures) {
		all = append(all, fmt.Sprintf("%d times %s", f.failures[what], what))
	}
	return all[:min(len(all), 40)]
}

// ended is how many plans have.
func (o *office) ended(ctx context.Context) (n int, err error) {
	e := o.runner.Clerk.Registry.Entity("plan").Store
	err = o.store.View(ctx, stores.Scope{All: true}, func(r stores.Reader) error {
		rows, err := r.Find(ctx, stores.Find{Entity: e, Select: []stores.Path{{Field: e.Key}}, Where: &stores.Cond{Op: stores.Not, Kids: []stores.Cond{
			{Op: stores.Eq, Path: stores.Path{Field: e.FieldIndex("ended_at")}}}}})
		n = len(rows)
		return err
	})
	return n, err
}

// agrees is the chief, who agrees to whatever waits.
func (o *office) agrees(ctx context.Context, y *tally) {
	s, err := o.engine.Session(ctx, "chief")
	if err != nil {
		y.wrong("%v", err)
		return
	}
	for pause(ctx) {
		all, err := s.Pending(ctx)
		if err != nil && ctx.Err() == nil {
			y.wrong("what waits: %s", chain(err))
		}
		for _, p := range all {
			var refusal *engine.Refusal
			if !p.Mine {
				continue
			}
			if _, _, err := s.Agree(ctx, p.ID); err != nil && !errors.As(err, &refusal) && ctx.Err() == nil {
				y.wrong("agreeing: %s", chain(err))
			}
		}
	}
}

// accepts is the overseer, for whom all answers will do.
func (o *office) accepts(ctx context.Context, y *tally) {
	c := o.runner.Clerk
	s, err := o.engine.Session(ctx, "overseer")
	if err != nil {
		y.wrong("%v", err)
		return
	}
	for pause(ctx) {
		rows, err := c.All(ctx, "plan-step", map[string]stores.Value{"status": stores.NewString("DOUBTFUL")})
		if err != nil && ctx.Err() == nil {
			y.wrong("what is doubtful: %s", chain(err))
		}
		for _, row := range rows {
			ref, err := c.Ref(ctx, s, "step-id", "plan-step", row.Key())
			if err == nil {
				call := serviceaccount.Call("plan.accept", ref, serviceaccount.Text("reason", "it is what the sheet says"))
				err = o.do(ctx, "overseer", dsl.FormatCall(&call))
			}
			var refusal *engine.Refusal
			if err != nil && !errors.As(err, &refusal) && ctx.Err() == nil {
				y.wrong("accepting: %s", chain(err))
			}
		}
	}
}

// pause waits a moment, and reports whether there is more time.
func pause(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(100 * time.Millisecond):
		return true
	}
}
