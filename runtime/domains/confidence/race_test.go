package confidence

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"text/tabwriter"
	"time"
	"unicode"

	"verbatim/dsl"
	"verbatim/runtime/conversation/llm"
	"verbatim/runtime/domains/confidence/modeltest"
	"verbatim/runtime/domains/confidence/react"
	"verbatim/runtime/engine"
	"verbatim/runtime/files/services"
	"verbatim/runtime/jobs/serviceaccount"
	"verbatim/runtime/jobs/workflow"
	"verbatim/runtime/protocols/tools"
	"verbatim/runtime/protocols/trustgraph"
	"verbatim/stores"
	"verbatim/stores/sqlite"
	"verbatim/verbs"
	loading "verbatim/verbs/load"
)

// The race between the agent that plans and ReAct, under the conditions of testdata/race.yaml.

var raceSeeds = flag.Int("race-seeds", 0, "run the race of testdata/race.yaml with so many of its seeds: 5 for what is claimed")

// The racers.
const (
	reacts   = "ReAct"
	planning = "plans"
	caching  = "plans, with plan cache and parallel steps"
)

var racers = []string{reacts, planning, caching}

// raceSource is the palette of the example, as it stands.
func raceRegistry(t testing.TB) *verbs.Registry {
	t.Helper()
	text, err := os.ReadFile("../../../verbs/palettes/confidence/graph.yaml")
	if err != nil {
		t.Fatal(err)
	}
	reg, ds := loading.Sources(dsl.NewSource("graph.yaml", string(text)), workflow.Source(), Source())
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	return reg
}

// filled makes the graph once, and returns the file that holds it.
func (d *raceData) filled(t testing.TB) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "graph.db")
	store, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	reg := raceRegistry(t)
	all := engine.Own()
	for _, e := range reg.Entities() {
		all = append(all, e.Store)
	}
	if _, err := store.Migrate(t.Context(), all, true); err != nil {
		t.Fatal(err)
	}
	// Whoever asks ReAct may not plan, so that it is not offered the verbs of plans.
	for who, roles := range map[string][]string{"ada": {"analyst", "planner"}, "rea": {"analyst"}, "eve": {"editor"}, "plans": {"plan-runner"}} {
		if err := store.SetPrincipal(t.Context(), stores.Principal{Name: who, Roles: roles}); err != nil {
			t.Fatal(err)
		}
	}
	h := &engine.Handlers{}
	workflow.Register(h, reg)
	Register(h)
	RegisterGraph(h)
	e, err := engine.New(reg, store, engine.Options{Clock: time.Now, Handlers: h, Tools: tools.Services{Own: map[string]map[string]tools.Service{modelsServer: services.Models(nil)}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range d.scripts {
		s, err := e.Session(t.Context(), "eve")
		if err != nil {
			t.Fatal(err)
		}
		script, ds := dsl.Parse(dsl.NewSource("graph.dsl", text))
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		p, ds := s.Check(t.Context(), script)
		if p == nil {
			t.Fatal(ds)
		}
		if _, err := s.Run(t.Context(), p, engine.RunOptions{}); err != nil {
			t.Fatal(text, engine.Sentence(err))
		}
	}
	store.Close()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A racer is one agent on a graph of its own.
type racer struct {
	t     testing.TB
	race  *modeltest.Race
	name  string
	graph *graph
	ask   func(ctx context.Context, question string) (answer string, err error)

	reg    *verbs.Registry
	store  stores.Store
	engine *engine.Engine
	model  atomic.Pointer[counted]
	server *modeltest.Server
}

// A counted model counts what it is asked.
type counted struct {
	llm.Model
	calls, in, out atomic.Int64
}

func (c *counted) Chat(ctx context.Context, r llm.Request, piece func(string)) (*llm.Reply, error) {
	c.calls.Add(1)
	reply, err := c.Model.Chat(ctx, r, piece)
	var e *llm.Error
	switch {
	case err == nil:
		c.in.Add(int64(reply.Usage.In))
		c.out.Add(int64(reply.Usage.Out))
	case errors.As(err, &e):
		c.in.Add(int64(e.Usage.In))
	}
	return reply, err
}

// newRacer opens a copy of the graph.
func newRacer(t testing.TB, race *modeltest.Race, name string, d *raceData, file []byte) *racer {
	t.Helper()
	r := &racer{t: t, race: race, name: name, reg: raceRegistry(t),
		graph: &graph{delay: race.Time(race.Tools["query"]), timeOut: race.Time(race.TimeOut), other: d.other}}
	path := filepath.Join(t.TempDir(), "graph.db")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if r.store, err = sqlite.Open(path); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.store.Close() })
	h := &engine.Handlers{}
	workflow.Register(h, r.reg)
	Register(h)
	engine.Handle(h, "graph.connections", r.graph.connections)
	o := engine.Options{Clock: time.Now, Handlers: h, People: engine.People{TellsAsker: workflow.TellsAsker},
		Tools: tools.Services{Own: map[string]map[string]tools.Service{modelsServer: services.Models(r.complete)}}}
	if r.engine, err = engine.New(r.reg, &graphStore{r.store, r.graph}, o); err != nil {
		t.Fatal(err)
	}
	return r
}

// complete asks the model for verbs, as cmd/verbatim does.
func (r *racer) complete(ctx context.Context, instruction, text string, _ json.RawMessage, _ func(int)) (answer, why string, err error) {
	reply, err := r.model.Load().Chat(ctx, llm.Request{Messages: []llm.Message{{Role: llm.System, Text: instruction}, {Role: llm.User, Text: text}}}, nil)
	switch {
	case ctx.Err() != nil:
		return "", "", ctx.Err()
	case err != nil:
		return "", "the model did not answer", nil
	}
	return reply.Text, "", nil
}

// begin begins with a seed: a new agent, which remembers nothing, on the same graph.
func (r *racer) begin(seed uint64, rate float64, url string) {
	r.t.Helper()
	r.end()
	if url == "" {
		r.server = modeltest.New(raceMind, r.race.Options(seed, rate))
		url = r.server.URL
	}
	r.graph.faults.Store(&modeltest.Faults{Seed: seed, Rate: rate, Shares: r.race.Faults.Tool})
	transport := &http.Transport{MaxIdleConnsPerHost: r.race.Concurrency}
	client, err := llm.New(llm.Config{BaseURL: url, Model: "race", Transport: transport, Attempts: r.race.Below.ClientAttempts, Timeout: r.race.Time(r.race.TimeOut)})
	if err != nil {
		r.t.Fatal(err)
	}
	model := &counted{Model: client}
	r.model.Store(model)
	switch r.name {
	case reacts:
		agent := react.Agent{Registry: r.reg, Model: model, MaxSteps: r.race.React.Steps, Tries: 1 + r.race.React.Retries, Pause: r.race.Time(r.race.React.Pause)}
		r.ask = func(ctx context.Context, question string) (answer string, err error) {
			s, err := r.engine.Session(ctx, "rea")
			if err != nil {
				return "", err
			}
			err = agent.Ask(ctx, s, question, func(m react.Message) error {
				if m.Type == react.Answer {
					answer = m.Text
				}
				return nil
			})
			return answer, err
		}
	default:
		c := DefaultConfig()
		c.PlanCache = 0
		if firstWait.Milliseconds() != int64(r.race.Planner.Pause) {
			r.t.Fatal("the planner's first pause is not that of race.yaml")
		}
		// What hangs is given up beneath both agents, by the client of the model and by the
		// graph. A limit of the planner's own as short as that would also cut steps that a busy
		// machine held up, and ReAct's not.
		c.MaxRetries, c.BackoffFactor, c.StepTimeout = r.race.Planner.Retries, r.race.Planner.PauseFactor, 5*r.race.Time(r.race.TimeOut)
		if r.name == caching {
			c.PlanCache, c.Parallel = DefaultConfig().PlanCache, parallel
		}
		runner := &workflow.Runner{Clerk: serviceaccount.Clerk{Registry: r.reg, Engine: r.engine, Store: r.store, As: "plans", Source: "plan"}, Name: "race", Clock: time.Now, Sleep: r.sleep}
		agent := New(c, runner, model, time.Now)
		r.ask = func(ctx context.Context, question string) (answer string, err error) {
			err = agent.Ask(ctx, trustgraph.Caller{Name: "ada"}, trustgraph.Request{Question: question}, func(m trustgraph.Message) error {
				if m.Type == trustgraph.Answer {
					answer = m.Content
				}
				return nil
			})
			return answer, err
		}
	}
}

// sleep sleeps for a time of the simulated world.
func (r *racer) sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(time.Duration(float64(d) * r.race.Scale))
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

func (r *racer) end() {
	if r.server != nil {
		r.server.Close()
		r.server = nil
	}
}

// A result is what became of a question.
type result struct {
	verdict verdict
	took    time.Duration // of the simulated world
	calls   int64         // of the model
	in, out int64         // tokens
	queries int64
	answer  string
}

type verdict string

// The verdicts.
const (
	right  verdict = "right"
	wrong  verdict = "wrong"
	silent verdict = "unanswered"
)

// run asks a question. Nothing else is asked of the racer meanwhile.
func (r *racer) run(d *raceData, q *raceQuestion) result {
	m := r.model.Load()
	before := result{calls: m.calls.Load(), in: m.in.Load(), out: m.out.Load(), queries: r.graph.queries.Load()}
	began := time.Now()
	answer, err := r.ask(r.t.Context(), q.text)
	took := time.Since(began)
	if err != nil {
		answer = "error: " + err.Error()
	}
	return result{d.judge(q, answer, err), time.Duration(float64(took) / r.race.Scale), m.calls.Load() - before.calls, m.in.Load() - before.in, m.out.Load() - before.out, r.graph.queries.Load() - before.queries, answer}
}

// judge says by the rule of race.yaml whether an answer is right.
func (d *raceData) judge(q *raceQuestion, answer string, err error) verdict {
	if err != nil || answer == "" || strings.Contains(answer, saysUnanswered) || strings.Contains(answer, "This waits for somebody") {
		return silent
	}
	said := plainWords(answer)
	has := func(fact string) bool { return strings.Contains(said, plainWords(fact)) }
	for _, f := range q.facts {
		if !has(f) {
			return wrong
		}
	}
	for i := range d.questions {
		if other := &d.questions[i]; other != q && slices.ContainsFunc(other.own, has) {
			return wrong
		}
	}
	return right
}

// plainWords are the words of a text in small letters, each between two blanks.
func plainWords(text string) string {
	return " " + strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), "  ") + " "
}

// Both agents answer all kinds of questions where nothing goes wrong, by the calls that
// race.yaml counts, and the harness counts them. // T37 T42
func TestRacersAnswerWhereNothingFails(t *testing.T) {
	t.Parallel()
	race := readRace(t)
	race.TimeOut *= 20 // a busy machine is no fault
	for i := range race.Questions.Kinds {
		k := &race.Questions.Kinds[i]
		k.Count, k.Unconnected = 5, min(k.Unconnected, 2)
	}
	d := newRaceData(race, 1)
	file := d.filled(t)
	for _, name := range racers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRacer(t, race, name, d, file)
			r.begin(1, 0, "")
			defer r.end()
			for i := range d.questions {
				q := &d.questions[i]
				got := r.run(d, q)
				if got.verdict != right {
					t.Errorf("%s: %s: %s", q.text, got.verdict, got.answer)
				}
				// A connection that is found takes one query, and not two as race.yaml counts.
				queries := map[string]int64{lookup: 1, connection: 1, twoStep: 2, summary: 1}[q.kind]
				if slices.Contains(q.facts, noWay) {
					if queries++; name != reacts { // which does not ask the same again
						queries++
					}
				}
				calls := map[string]int64{lookup: 0, connection: 0, twoStep: 0, summary: 2}[q.kind] // of verbs
				switch name {
				case reacts:
					calls += queries + calls + 1
				case planning:
					calls++
				default:
					calls = got.calls // the first of a shape is planned
				}
				if got.queries != queries || got.calls != calls || got.out < got.calls || got.took < 40*time.Millisecond {
					t.Errorf("%s: %+v, want %d queries and %d calls of the model", q.text, got, queries, calls)
				}
			}
			if calls, most := r.model.Load().calls.Load(), int64(len(d.questions)+10); name == caching && calls > most {
				t.Errorf("%d calls of the model for %d questions of 12 shapes, 5 of which take two: plans were not used again", calls, len(d.questions))
			}
		})
	}
}

// A fault of each kind, of the model and of queries, is survived, and what comes of it does not
// depend on when it is asked. // T37 T42
func TestRacersMeetTheSameFaultsEachTime(t *testing.T) {
	t.Parallel()
	race := readRace(t)
	race.TimeOut *= 20
	for i := range race.Questions.Kinds {
		k := &race.Questions.Kinds[i]
		k.Count, k.Unconnected = 5, min(k.Unconnected, 2)
	}
	delete(race.Faults.Model, modeltest.TimesOut) // they would last
	delete(race.Faults.Tool, modeltest.TimesOut)
	d := newRaceData(race, 1)
	file := d.filled(t)
	for _, name := range racers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRacer(t, race, name, d, file)
			var first []verdict
			for round := range 2 {
				r.begin(7, 0.3, "")
				var all []verdict
				faults := 0
				for i := range d.questions {
					all = append(all, r.run(d, &d.questions[i]).verdict)
				}
				for _, seen := range r.server.Seen() {
					if seen.Fault != modeltest.NoFault {
						faults++
					}
				}
				r.end()
				if faults == 0 || !slices.Contains(all, right) {
					t.Errorf("%d faults, %v", faults, all)
				}
				if round == 0 {
					first = all
				} else if !slices.Equal(all, first) {
					t.Errorf("another run ended otherwise:\n%v\n%v", first, all)
				}
			}
		})
	}
}

// The rule by which answers are judged. // T42
func TestAnswersAreJudged(t *testing.T) {
	t.Parallel()
	d := &raceData{questions: []raceQuestion{
		{facts: []string{"Port Halden"}, own: []string{"Port Halden"}},
		{facts: []string{"35 million"}, own: []string{"35 million"}},
		{facts: []string{"Ann", noWay}, own: []string{"Ann"}},
		{facts: []string{"Bo", noWay}, own: []string{"Bo"}},
	}}
	for answer, want := range map[string]verdict{
		"Acme is based in port  HALDEN.":                    right,
		"Acme is based in Port Haldenburg.":                 wrong,
		"Acme is based in Port Halden and pays 35 million.": wrong,
		"Acme is ba": wrong,
		"":           silent,
		"This could not be answered: Port Halden is not reached.":  silent,
		"This waits for somebody.\nWhether Port Halden will do, …": silent,
	} {
		if got := d.judge(&d.questions[0], answer, nil); got != want {
			t.Errorf("%q is %s, want %s", answer, got, want)
		}
	}
	if got := d.judge(&d.questions[0], "Port Halden", errors.New("it failed")); got != silent {
		t.Error(got)
	}
	if got := d.judge(&d.questions[2], "Ann is known; "+noWay+" 4 links leads there.", nil); got != right {
		t.Error(got)
	}
	if got := d.judge(&d.questions[3], "Ann is known; "+noWay+" 4 links leads there.", nil); got != wrong {
		t.Error(got)
	}
}

func readRace(t testing.TB) *modeltest.Race {
	t.Helper()
	race, err := modeltest.ReadRace("testdata/race.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return race
}

// The race itself: one table. It takes about two minutes a seed. // T42 T43
func TestTheRace(t *testing.T) {
	if *raceSeeds == 0 {
		t.Skip("make race runs it")
	}
	race := readRace(t)
	d := newRaceData(race, 1)
	file := d.filled(t)
	seeds := race.Seeds[:min(*raceSeeds, len(race.Seeds))]
	report := &strings.Builder{}
	fmt.Fprintf(report, "%s, %d processors; %d questions with %d seeds at each rate of faults; times in ms of the simulated world, slept at %v of that. Load of the machine at first: %s.\n", goruntime.Version(), goruntime.NumCPU(), len(d.questions), len(seeds), race.Scale, load())
	missed := 0
	for _, rate := range race.Faults.Rates {
		var field []*racer
		for _, name := range racers {
			field = append(field, newRacer(t, race, name, d, file))
		}
		got := make([]heat, len(field))
		for _, seed := range seeds {
			for _, r := range field {
				r.begin(seed, rate, "")
			}
			for i := range d.questions {
				// The racers take turns, and each is as often the first.
				for j := range field {
					at := (i + j) % len(field)
					got[at].results = append(got[at].results, field[at].run(d, &d.questions[i]))
				}
			}
			for _, r := range field {
				r.end()
			}
		}
		for at, r := range field {
			got[at].heap = r.memory(d, rate)
		}
		missed += printRace(report, race, rate, got, len(d.questions))
		for at, h := range got {
			for i, res := range h.results {
				if q := d.questions[i%len(d.questions)]; res.verdict != right {
					t.Logf("at %v %s: %s: %s: %s", rate, racers[at], res.verdict, q.text, oneLine(res.answer))
				}
			}
		}
	}
	fmt.Fprintf(report, "\n%d goals missed. Load of the machine at last: %s.\n", missed, load())
	fmt.Print(report)
}

// load is how many processes wanted a processor in the last minutes. Above that of the
// processors, times say little.
func load() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(b))[:3], " ")
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// A heat is what one racer did at one rate of faults: of each seed all questions, in order.
type heat struct {
	results []result
	heap    float64 // MB
}

func (h *heat) share(v verdict) float64 {
	n := 0
	for _, r := range h.results {
		if r.verdict == v {
			n++
		}
	}
	return float64(n) / float64(len(h.results))
}

func (h *heat) took(quantile float64) float64 {
	var all []float64
	for _, r := range h.results {
		all = append(all, float64(r.took)/float64(time.Millisecond))
	}
	slices.Sort(all)
	return all[min(len(all)-1, int(quantile*float64(len(all))))]
}

func (h *heat) mean(of func(result) int64) float64 {
	sum := int64(0)
	for _, r := range h.results {
		sum += of(r)
	}
	return float64(sum) / float64(len(h.results))
}

// printRace prints the table of one rate, and returns how many goals were missed.
func printRace(to io.Writer, race *modeltest.Race, rate float64, got []heat, questions int) (missed int) {
	fmt.Fprintf(to, "\nFaults: %.0f %%\n", 100*rate)
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\tp50\tp99\tright\twrong\tunanswered\tmodel calls\ttokens in + out\tqueries\theap, 32 at once")
	for i := range got {
		h := &got[i]
		fmt.Fprintf(w, "%s\t%.0f\t%.0f\t%.1f %%\t%.1f %%\t%.1f %%\t%.2f\t%.0f + %.0f\t%.2f\t%.1f MB\n", racers[i], h.took(0.5), h.took(0.99), 100*h.share(right), 100*h.share(wrong), 100*h.share(silent),
			h.mean(func(r result) int64 { return r.calls }), h.mean(func(r result) int64 { return r.in }), h.mean(func(r result) int64 { return r.out }), h.mean(func(r result) int64 { return r.queries }), h.heap)
	}
	w.Flush()
	met := func(ok bool) string {
		if ok {
			return "met"
		}
		missed++
		return "MISSED"
	}
	react := &got[0]
	for i := 1; i < len(got); i++ {
		h := &got[i]
		w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
		fmt.Fprintf(w, "%s, against ReAct\t\t\t\n", racers[i])
		gain, low, high := gain(react.results, h.results, questions, race.Claims.Resamples, race.Claims.Interval)
		says := "no gain is claimed"
		if rate != race.Claims.NoGainAt {
			goal := race.Source["confidence"].Success - race.Source["react"].Success
			says = fmt.Sprintf("at least %+.0f, and the interval above 0\t%s", 100*goal, met(gain >= goal-1e-9 && low > 0))
		}
		fmt.Fprintf(w, "  right, in points\t%+.1f [%+.1f, %+.1f]\t%s\n", 100*gain, 100*low, 100*high, says)
		for _, goal := range []struct {
			what       string
			ratio, may float64
		}{{"p50", h.took(0.5) / react.took(0.5), race.Claims.P50AtMost}, {"p99", h.took(0.99) / react.took(0.99), race.Claims.P99AtMost}, {"heap", h.heap / react.heap, race.Claims.MemoryAtMost}} {
			fmt.Fprintf(w, "  %s\t%.2f ×\tat most %.1f\t%s\n", goal.what, goal.ratio, goal.may, met(goal.ratio <= goal.may))
		}
		w.Flush()
	}
	return missed
}

// gain is by how much the second is right more often than the first, with an interval that
// resampling gives: of questions, with all seeds of a question together.
func gain(first, second []result, questions, resamples int, interval float64) (mean, low, high float64) {
	by := make([]float64, questions) // the difference of the answers to each question
	for i := range first {
		for of, sign := range map[*result]float64{&first[i]: -1, &second[i]: 1} {
			if of.verdict == right {
				by[i%questions] += sign / float64(len(first)/questions)
			}
		}
	}
	mean = average(by)
	chance := rand.New(rand.NewPCG(1, 2))
	means, again := make([]float64, resamples), make([]float64, questions)
	for i := range means {
		for j := range again {
			again[j] = by[chance.IntN(questions)]
		}
		means[i] = average(again)
	}
	slices.Sort(means)
	tail := (1 - interval) / 2
	return mean, means[int(tail*float64(resamples))], means[int((1-tail)*float64(resamples))]
}

func average(all []float64) float64 {
	sum := 0.0
	for _, f := range all {
		sum += f
	}
	return sum / float64(len(all))
}

// memory is the live heap, in MB, with 32 questions under way, less that with none: the median of
// what is live after collections while all questions are asked. The model is served by another
// process, so that none of it is in the figure; the store is in this one.
func (r *racer) memory(d *raceData, rate float64) float64 {
	url, end := serveModel(r.t, rate)
	defer end()
	r.begin(1, rate, url)
	live := func() float64 {
		goruntime.GC()
		var m goruntime.MemStats
		goruntime.ReadMemStats(&m)
		return float64(m.HeapAlloc) / 1e6
	}
	for i := range d.questions[:20] { // what is there for good is there
		_, _ = r.ask(r.t.Context(), d.questions[i].text)
	}
	live()
	before := live()
	ask := make(chan string)
	var under atomic.Int64
	var all sync.WaitGroup
	for range r.race.Concurrency {
		all.Go(func() {
			for q := range ask {
				under.Add(1)
				_, _ = r.ask(r.t.Context(), q)
				under.Add(-1)
			}
		})
	}
	done := make(chan []float64)
	stop := make(chan bool)
	go func() {
		var samples []float64
		for {
			select {
			case <-stop:
				done <- samples
				return
			case <-time.After(20 * time.Millisecond):
				if under.Load() >= int64(r.race.Concurrency-1) {
					samples = append(samples, live()-before)
				}
			}
		}
	}()
	for range 2 {
		for i := range d.questions {
			ask <- d.questions[i].text
		}
	}
	close(stop)
	samples := <-done
	close(ask)
	all.Wait()
	if len(samples) == 0 {
		r.t.Fatal("the heap was never looked at")
	}
	slices.Sort(samples)
	return samples[len(samples)/2]
}

// modelAt is the variable of the environment that has this program be a model: at which rate of
// faults.
const modelAt = "VERBATIM_RACE_MODEL"

// serveModel has another process of this program be the model.
func serveModel(t testing.TB, rate float64) (url string, end func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestBeTheModel$")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%v", modelAt, rate))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if at, ok := strings.CutPrefix(lines.Text(), modelAt+" "); ok {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return at, func() { in.Close(); _ = cmd.Wait() }
		}
	}
	t.Fatal("the model did not start")
	return "", nil
}

// TestBeTheModel is the other process of serveModel; in a run of tests it does nothing.
func TestBeTheModel(t *testing.T) {
	rate := os.Getenv(modelAt)
	if rate == "" {
		return
	}
	var at float64
	if _, err := fmt.Sscan(rate, &at); err != nil {
		t.Fatal(err)
	}
	s := modeltest.New(raceMind, readRace(t).Options(1, at))
	defer s.Close()
	fmt.Printf("%s %s\n", modelAt, s.URL)
	_, _ = io.Copy(io.Discard, os.Stdin) // until the other process closes it, or ends
}
