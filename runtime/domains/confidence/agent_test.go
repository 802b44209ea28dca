package confidence

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/conversation/llm"
	"verbatim/runtime/domains/confidence/score"
	"verbatim/runtime/engine"
	"verbatim/runtime/files/services"
	"verbatim/runtime/jobs/serviceaccount"
	"verbatim/runtime/jobs/workflow"
	"verbatim/runtime/protocols/tools"
	"verbatim/runtime/protocols/trustgraph"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/stores/sqlite"
	"verbatim/verbs"
	loading "verbatim/verbs/load"
)

var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// A world is a graph that people ask, with a model that a function plays.
type world struct {
	t     testing.TB
	reg   *verbs.Registry
	store stores.Store
	e     *engine.Engine
	a     *Agent
	now   atomic.Int64

	mu       sync.Mutex
	mind     func(instruction, text string) string // answers of the model that verbs ask
	plans    func(question string) string          // of the model that makes plans
	fails    func(n int) bool                      // whether the nth call of the model that verbs ask fails; may be nil
	says     func(server string) string            // answers of agencies, as JSON
	prompts  []string                              // everything that a model was told
	answered int
}

func (w *world) clock() time.Time { return start.Add(time.Duration(w.now.Load())) }

// Chat plays the model that makes plans.
func (w *world) Chat(_ context.Context, r llm.Request, _ func(string)) (*llm.Reply, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	last := r.Messages[len(r.Messages)-1].Text
	for _, m := range r.Messages {
		w.prompts = append(w.prompts, m.Text)
	}
	return &llm.Reply{Text: w.plans(last), Finish: llm.Stopped}, nil
}

func (w *world) Embed(context.Context, []string) ([][]float32, llm.Usage, error) {
	return nil, llm.Usage{}, errors.New("no vectors here")
}

// complete plays the model that verbs ask.
func (w *world) complete(_ context.Context, instruction, text string, _ json.RawMessage, _ func(int)) (answer, why string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.prompts = append(w.prompts, instruction, text)
	w.answered++
	if w.mind == nil {
		return "", "no model is set up here", nil
	}
	if w.fails != nil && w.fails(w.answered) {
		return "", "the model did not answer", nil
	}
	return w.mind(instruction, text), "", nil
}

func newWorld(t testing.TB, c Config) *world {
	t.Helper()
	return newWorldOf(t, c, func(palette string) string { return palette })
}

// newWorldOf is newWorld with another palette of the graph.
func newWorldOf(t testing.TB, c Config, edit func(palette string) string) *world {
	t.Helper()
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "g.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	text, err := os.ReadFile("../../../verbs/palettes/confidence/graph.yaml")
	if err != nil {
		t.Fatal(err)
	}
	reg, ds := loading.Sources(dsl.NewSource("graph.yaml", edit(string(text))), dsl.NewSource("keep.yaml", "domain: keep\nroles: [{name: keeper, keeps: journal, description: Who keeps the journal.}]\n"), dsl.NewSource("agencies.yaml", agencies), workflow.Source(), Source())
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	var all []*stores.Entity
	for _, e := range reg.Entities() {
		all = append(all, e.Store)
	}
	if _, err := store.Migrate(t.Context(), append(all, engine.Own()...), true); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, reg: reg, store: store, plans: func(string) string { return "" }}
	for who, roles := range map[string][]string{"ada": {"analyst", "planner"}, "olga": {"analyst", "planner", "plan-overseer"}, "oskar": {"plan-overseer"}, "eve": {"editor", "planner"}, "plans": {"plan-runner"}, "jo": {"keeper"}, "nobody": {"planner"}, "rita": {"reader", "planner", "plan-overseer"}} {
		if err := store.SetPrincipal(t.Context(), stores.Principal{Name: who, Roles: roles}); err != nil {
			t.Fatal(err)
		}
	}
	h := &engine.Handlers{}
	workflow.Register(h, reg)
	Register(h)
	RegisterGraph(h)
	o := engine.Options{Clock: w.clock, Handlers: h, People: engine.People{TellsAsker: workflow.TellsAsker}, Embedder: compares{},
		Tools: tools.Services{Own: map[string]map[string]tools.Service{modelsServer: services.Models(w.complete)}, Others: w}}
	if w.e, err = engine.New(reg, store, o); err != nil {
		t.Fatal(err)
	}
	r := &workflow.Runner{Clerk: serviceaccount.Clerk{Registry: reg, Engine: w.e, Store: store, As: "plans", Source: "plan"}, Name: "one", Clock: w.clock,
		Sleep: func(_ context.Context, d time.Duration) { w.now.Add(int64(d)) }}
	w.a = New(c, r, w, w.clock)
	w.fill()
	return w
}

// compares is a model that tells texts about regulation from all others, half.
type compares struct{}

func (compares) Maker() string { return "test" }

func (compares) Embed(_ context.Context, texts []string) (all [][]float32, err error) {
	for _, text := range texts {
		v := []float32{1, 0}
		switch {
		case strings.Contains(text, "cannot be compared"):
			return nil, errors.New("it is away")
		case !strings.Contains(strings.ToLower(text), "regulation"):
			v = []float32{0.2, 1}
		}
		all = append(all, v)
	}
	return all, nil
}

// fill puts a few things into the graph.
func (w *world) fill() {
	text, err := os.ReadFile("../../../examples/confidence/graph.dsl")
	if err != nil {
		w.t.Fatal(err)
	}
	w.do("eve", string(text))
}

func (w *world) try(as, text string) (*receipt.Receipt, error) {
	w.t.Helper()
	s, err := w.e.Session(w.t.Context(), as)
	if err != nil {
		return nil, err
	}
	script, ds := dsl.Parse(dsl.NewSource("test", text))
	if ds.HasErrors() {
		return nil, &engine.Refusal{Diagnostics: ds}
	}
	p, ds := s.Check(w.t.Context(), script)
	if p == nil {
		return nil, &engine.Refusal{Diagnostics: ds}
	}
	preview, err := s.Preview(w.t.Context(), p)
	if err != nil {
		return nil, err
	}
	return s.Run(w.t.Context(), p, engine.RunOptions{Agreed: preview.ID})
}

func (w *world) do(as, text string) *receipt.Receipt {
	w.t.Helper()
	r, err := w.try(as, text)
	if err != nil {
		var refusal *engine.Refusal
		if errors.As(err, &refusal) {
			w.t.Fatalf("%s: %s %v", text, refusal.Diagnostics[0].Summary, refusal.Diagnostics[0].Notes)
		}
		w.t.Fatalf("%s: %v", text, err)
	}
	return r
}

// ask asks, and returns what was told, a line each message.
func (w *world) ask(as string, r trustgraph.Request) ([]string, error) {
	w.t.Helper()
	var told []string
	err := w.a.Ask(w.t.Context(), trustgraph.Caller{Name: as}, r, func(m trustgraph.Message) error {
		line := string(m.Type) + " | " + m.Thought + " | " + m.Content
		if m.Type == trustgraph.Answer {
			line += " | " + m.Observation
		}
		told = append(told, uuids.ReplaceAllString(line, "ID"))
		return nil
	})
	return told, err
}

var uuids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

func (w *world) told(as, question string) []string {
	w.t.Helper()
	told, err := w.ask(as, trustgraph.Request{Question: question})
	if err != nil {
		w.t.Fatal(question, err)
	}
	return told
}

// connected plans as a model does for the first worked example.
const connectedPlan = `{"steps": [{"id": "found", "function": "graph__connections", "arguments": {"from": "Entity X", "to": "Entity Y"}, "dependencies": []}]}`

// summary plans as a model does for the second.
const summaryPlan = `{"steps": [
	{"id": "documents", "function": "graph__papers", "arguments": {"about": "AI regulation"}, "dependencies": []},
	{"id": "topics", "function": "graph__extract-topics", "arguments": {"text": "@documents"}, "dependencies": ["documents"]},
	{"id": "summary", "function": "graph__complete", "arguments": {"instruction": "Write a summary of these topics.", "text": "@topics"}, "dependencies": ["topics"]}]}`

// The first worked example: nothing is found, twice, the question is asked otherwise, and both ends
// exist, unconnected: 0.3, then 0.85. Three messages. // T15 T24 T26
func TestUnconnectedEntities(t *testing.T) {
	t.Parallel()
	w := newWorld(t, DefaultConfig())
	w.plans = func(string) string { return connectedPlan }
	told := w.told("olga", "What are the connections between Entity X and Entity Y?")
	want := []string{
		"observation | The question needs 1 step; the plan is of the model. | Plan: found with GraphQuery, which has to be 0.80 sure. The record is kept as plan:ID.",
		"observation | The answer to found is not sure enough, nor when it was asked again; it is asked otherwise: parts: yes. | It gave 0 rows. Confidence 0.30 of 0.80. No rows; the things asked about may not exist, or the query may be too narrow.",
		"answer | Every step was made, with confidence 0.85. | As it was asked, it had no sure answer. This is the answer with “parts: yes”.\n1. Entity X is known.\n2. Entity Y is known, and no way of at most 3 links leads there that you can see. | 1 step, 2 further tries. The record is kept as plan:ID.",
	}
	equal(t, told, want)
}

// The second: three steps that build on each other, of which the second is tried again.
// Seven messages. // T27
func TestSummaryOfTopics(t *testing.T) {
	t.Parallel()
	w := newWorld(t, DefaultConfig())
	w.plans = func(string) string { return summaryPlan }
	w.mind = func(instruction, text string) string {
		switch {
		case strings.Contains(instruction, "so many words"):
			return "Transparency duties\nHigh-risk systems\nFines for breaches"
		case strings.Contains(instruction, "topics of these texts"):
			return "Zebras Quagga 77 Okapi Tapir" // of which nothing stands there
		}
		return "The documents speak of transparency duties, of high-risk systems and of fines for breaches."
	}
	told := w.told("ada", "Summarize the main topics discussed about AI regulation")
	for _, line := range told {
		t.Log(line)
	}
	if len(told) != 7 {
		t.Errorf("%d messages", len(told))
	}
	if strings.Contains(strings.Join(told, "\n"), "0.") {
		t.Error("somebody who is no overseer is told a figure")
	}
}

func equal(t *testing.T, got, want []string) {
	t.Helper()
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
}

// What carries a verb out has the names of TrustGraph's tools, each over what was there
// already: reads, search, models and tools. // T7 T17 T20
func TestToolsOfVerbs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../verbs/palettes/confidence/graph.yaml")
	if err != nil {
		t.Fatal(err)
	}
	reg, ds := loading.Sources(dsl.NewSource("graph.yaml", string(text)), dsl.NewSource("far.yaml", `
domain: far
roles: [{name: caller, description: Who calls.}]
verbs:
  - verb: look
    description: What somebody else's tool says.
    roles: [caller]
    args:
      - {name: about, type: string, required: true, max-length: 100}
    tool: {server: elsewhere, name: look, read-only: true, with: {about: about}}
`), workflow.Source(), Source())
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	for verb, want := range map[string]score.Tool{"graph.connections": score.GraphQuery, "graph.links": score.GraphQuery, "graph.add": score.GraphQuery,
		"graph.papers": score.KnowledgeQuery, "graph.complete": score.TextCompletion, "graph.extract-topics": score.Prompt, "far.look": score.McpTool, "far.none": score.McpTool} {
		if got := ToolOf(reg.Verb(verb)); got != want {
			t.Errorf("%s is %s, want %s", verb, got, want)
		}
	}
}

// What a search by meaning found is compared with what it looked for, by the model that
// compares meanings; where that is away, or nothing is searched by meaning, it counts neither
// way. // T5
func TestHitsThatAreFarAwayAreDoubtful(t *testing.T) {
	t.Parallel()
	byMeaning := func(palette string) string {
		return strings.Replace(palette, "search: {text: [title, content]}", "search: {text: [title, content], meaning: [content]}", 1)
	}
	same := func(palette string) string { return palette }
	for name, c := range map[string]struct {
		edit  func(string) string
		about string
		want  string // of the factor, "" where there is none
	}{
		"alike":     {byMeaning, "AI regulation", `"measure":"similarity","level":"full"`},
		"far away":  {byMeaning, "regulation of zebras", `"measure":"similarity","level":"partial","have":2,"of":3`},
		"away":      {byMeaning, "regulation that cannot be compared", ""},
		"by words":  {same, "AI regulation", ""},
		"no search": {byMeaning, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorldOf(t, DefaultConfig(), c.edit)
			if name == "far away" {
				w.do("eve", `graph.file :title "Zebras" :content "Zebras graze, of zebras there is no end."`)
			}
			plan := `{"steps": [{"id": "documents", "function": "graph__papers", "arguments": {"about": "` + c.about + `", "most": 1}, "dependencies": []}]}`
			if c.about == "" {
				plan = connectedPlan
			}
			w.plans = func(string) string { return plan }
			_, _ = w.ask("ada", trustgraph.Request{Question: "What is said?"})
			attempts, err := w.a.Runner.Clerk.All(t.Context(), "plan-attempt", nil)
			if err != nil || len(attempts) == 0 {
				t.Fatal(attempts, err)
			}
			var all string
			for _, a := range attempts {
				all += a.Text("factors")
			}
			if c.want == "" && strings.Contains(all, "similarity") || !strings.Contains(all, c.want) {
				t.Errorf("%s", all)
			}
		})
	}
}
