package confidence

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/conversation/llm"
	"verbatim/runtime/domains/confidence/score"
	"verbatim/runtime/engine"
	"verbatim/runtime/internal/recent"
	"verbatim/runtime/jobs/serviceaccount"
	"verbatim/runtime/jobs/workflow"
	"verbatim/runtime/protocols/trustgraph"
	"verbatim/stores"
	"verbatim/stores/receipt"
)

// name is what names a row for good.
func (w *world) name(entity string, key stores.Value) string {
	w.t.Helper()
	d, err := w.e.Session(w.t.Context(), "oskar")
	if err != nil {
		w.t.Fatal(err)
	}
	name, err := w.a.Runner.Clerk.Name(w.t.Context(), d, entity, key)
	if err != nil {
		w.t.Fatal(err)
	}
	return "@" + name.Text
}

// refused asks what is refused with words of the reason.
func (w *world) refused(as string, r trustgraph.Request, kind, says string) {
	w.t.Helper()
	told, err := w.ask(as, r)
	var e *trustgraph.Error
	if !errors.As(err, &e) || e.Type != kind || !strings.Contains(e.Message, says) || len(told) > 0 {
		w.t.Errorf("%s: %v %q, want %s %q", r.Question, err, told, kind, says)
	}
}

// A model that makes plans is told what is wrong, and no plan of nonsense is begun: not of
// verbs that do not exist, are not permitted, are internal, or of circles. // T3 T36
func TestPlansOfModelsAreChecked(t *testing.T) {
	t.Parallel()
	step := func(id, function, args, needs string) string {
		return fmt.Sprintf(`{"id": %q, "function": %q, "arguments": %s, "dependencies": [%s]}`, id, function, args, needs)
	}
	for name, c := range map[string]struct{ plan, says string }{
		"no JSON":            {"Sure! I would look that up.", "not the JSON"},
		"nothing":            {`{"steps": []}`, "no steps"},
		"an unknown verb":    {`{"steps": [` + step("a", "graph__destroy", `{}`, "") + `]}`, "graph.destroy"},
		"a verb of editors":  {`{"steps": [` + step("a", "graph__add", `{"name": "x", "kind": "y"}`, "") + `]}`, "may not be used"},
		"an internal verb":   {`{"steps": [` + step("a", "plan__wake", `{"plan-id": "@x"}`, "") + `]}`, "plan.wake"},
		"a circle":           {`{"steps": [` + step("a", "graph__find", `{"name": "@b.name"}`, `"b"`) + `,` + step("b", "graph__find", `{"name": "@a.name"}`, `"a"`) + `]}`, "wait for one another"},
		"an unknown need":    {`{"steps": [` + step("a", "graph__find", `{"name": "x"}`, `"z"`) + `]}`, "no such step"},
		"an unused need":     {`{"steps": [` + step("a", "graph__find", `{"name": "Company"}`, "") + `,` + step("b", "graph__find", `{"name": "Company"}`, `"a"`) + `]}`, "does not use it"},
		"twice the same id":  {`{"steps": [` + step("a", "graph__find", `{"name": "Company"}`, "") + `,` + step("a", "graph__find", `{"name": "Company"}`, "") + `]}`, "an id of its own"},
		"a wrong value":      {`{"steps": [` + step("a", "graph__connections", `{"from": "A", "to": "B", "hops": 99}`, "") + `]}`, "hops"},
		"ten thousand steps": {`{"steps": [` + strings.Repeat(step("a", "graph__find", `{"name": "Company"}`, "")+",", 9999) + step("a", "graph__find", `{"name": "Company"}`, "") + `]}`, "10000 steps"},
		"null":               {`null`, "no steps"},
		"a list":             {`[]`, "not the JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, DefaultConfig())
			asked := 0
			w.plans = func(string) string { asked++; return c.plan }
			w.refused("ada", trustgraph.Request{Question: "What is Company A?"}, trustgraph.AgentError, c.says)
			if asked != 1+mostRepairs {
				t.Errorf("the model was asked %d times", asked)
			}
			if rows, _ := w.a.Runner.Clerk.All(t.Context(), "plan", nil); len(rows) > 0 {
				t.Error("a plan was kept")
			}
		})
	}
}

// A model that repairs its plan is heard: it is told what was wrong with it.
func TestAPlanIsRepaired(t *testing.T) {
	t.Parallel()
	w := newWorld(t, DefaultConfig())
	w.plans = func(last string) string {
		if strings.Contains(last, "What is wrong:") && strings.Contains(last, "graph.conections") {
			return connectedPlan
		}
		return strings.ReplaceAll(connectedPlan, "graph__connections", "graph__conections")
	}
	if told := w.told("ada", "What are the connections between Entity X and Entity Y?"); len(told) != 3 {
		t.Errorf("%q", told)
	}
}

// Who may do nothing is refused, and nobody's rows are planned for by another.
func TestWhoAsks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, DefaultConfig())
	w.plans = func(string) string { return connectedPlan }
	w.refused("stranger", trustgraph.Request{Question: "x"}, trustgraph.AccessDenied, "access denied")
	w.refused("nobody", trustgraph.Request{Question: "x"}, trustgraph.AgentError, "nothing that you may ask for")
	w.refused("oskar", trustgraph.Request{Question: "x"}, trustgraph.AgentError, "nothing that you may ask for")
	w.told("ada", "What are the connections between Entity X and Entity Y?")
	rows, _ := w.a.Runner.Clerk.All(t.Context(), "plan", nil)
	state := statePrefix + rows[0].Key().Text()
	w.refused("olga", trustgraph.Request{Question: "x", State: state}, trustgraph.BadRequest, "no such plan")
	w.refused("ada", trustgraph.Request{Question: "x", State: "plan:nonsense"}, trustgraph.BadRequest, "no such plan")
	if told, err := w.ask("ada", trustgraph.Request{Question: "x", State: state}); err != nil || len(told) != 1 || !strings.Contains(told[0], "no way of at most 3 links") || !strings.Contains(told[0], "As it was asked, it had no sure answer.") {
		t.Error(told, err)
	}
}

// A request sets thresholds within reason, and those of changes can only be raised. // T21 T22 T52
func TestThresholds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, DefaultConfig())
	least := func(as, plans string, asked *float64) []float64 {
		t.Helper()
		w.plans = func(string) string { return plans }
		w.a.kept = recent.Map[string]{}
		s, err := w.e.Session(t.Context(), as)
		if err != nil {
			t.Fatal(err)
		}
		m, err := w.a.make(t.Context(), s, &trustgraph.Request{Question: "q"})
		if err != nil {
			t.Fatal(err)
		}
		all, err := w.a.thresholds(t.Context(), m.calls, trustgraph.Overrides{Threshold: asked})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	f := func(f float64) *float64 { return &f }
	if got := least("ada", summaryPlan, nil); !slices.Equal(got, []float64{0.75, 0.75, 0.7}) {
		t.Error(got)
	}
	if got := least("ada", connectedPlan, f(0.5)); !slices.Equal(got, []float64{0.5}) {
		t.Error(got)
	}
	change := `{"steps": [{"id": "a", "function": "graph__find", "arguments": {"name": "Entity X"}, "dependencies": []}, {"id": "b", "function": "graph__connect", "arguments": {"subject-id": "@a", "how": "knows", "object-id": "@a"}, "dependencies": ["a"]}]}`
	if got := least("eve", change, f(0.5)); !slices.Equal(got, []float64{0.9, 0.9}) {
		t.Error(got)
	}
	if got := least("eve", change, f(0.97)); !slices.Equal(got, []float64{0.97, 0.97}) {
		t.Error(got)
	}
	w.refused("eve", trustgraph.Request{Question: "q", Plan: trustgraph.Overrides{Threshold: f(1.1)}}, trustgraph.BadRequest, "1.1")
}

// Questions of one shape have one plan, which is made once; another asker has another, and
// the names are those of the question. // T43
func TestPlansAreKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, DefaultConfig())
	asked := 0
	w.plans = func(string) string { asked++; return connectedPlan }
	w.told("ada", "What are the connections between Entity X and Entity Y?")
	w.told("ada", "what are the  connections between Entity X and Entity Y")
	told := w.told("ada", "What are the connections between Company A and Company B?")
	if asked != 1 || !strings.Contains(told[len(told)-1], "Company A has a partnership agreement with Company B") || !strings.Contains(told[0], "an earlier plan") {
		t.Errorf("the model was asked %d times; %q", asked, told)
	}
	w.told("olga", "What are the connections between Entity X and Entity Y?")
	if asked != 2 {
		t.Errorf("the model was asked %d times", asked)
	}
	// The rights of the asker are part of the key.
	if err := w.store.SetPrincipal(t.Context(), stores.Principal{Name: "ada", Roles: []string{"planner"}}); err != nil {
		t.Fatal(err)
	}
	w.refused("ada", trustgraph.Request{Question: "What are the connections between Entity X and Entity Y?"}, trustgraph.AgentError, "nothing that you may ask for")
}

// A plan that names rows is for one question alone: a name in it may stand for one of them.
func TestPlansThatNameRows(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`graph.find :name "x"`:                                  false,
		`graph.find :name @a`:                                   true,
		`graph.find :name [@a.b "x"]`:                           true,
		`graph.find :name 550e8400-e29b-41d4-a716-446655440000`: true,
		`graph.links :name "x" :as @a
		graph.find :name @a.way`: false,
		`graph.find :name (graph.links :name @b)`: true,
	} {
		script, ds := dsl.Parse(dsl.NewSource("test", text))
		if ds.HasErrors() {
			t.Fatal(text, ds)
		}
		if got := namesRows(script.Calls); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// Plans that went well are proposed as templates, to who keeps the journal: of questions that
// were asked often, with places for the names. What is proposed is a configuration that makes
// the same plans, without a model.
func TestTemplatesAreProposed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, DefaultConfig())
	w.plans = func(text string) string {
		if strings.Contains(text, "Zeppelin") {
			return strings.NewReplacer("Entity X", "Zeppelin Works", "Entity Y", "Nobody Known").Replace(connectedPlan)
		}
		return connectedPlan
	}
	w.told("ada", "What are the connections between Entity X and Entity Y?")
	propose := func(who string, since time.Duration, least int) ([]Proposal, error) {
		t.Helper()
		s, err := w.e.Session(t.Context(), who)
		if err != nil {
			t.Fatal(err)
		}
		return w.a.Proposals(t.Context(), s, w.a.Clock().Add(-since), least)
	}
	w.told("ada", "What are the connections between Company A and Company B?")
	if all, err := propose("jo", time.Hour, 3); err != nil || len(all) != 0 {
		t.Errorf("what was asked twice: %+v, %v", all, err)
	}
	w.told("olga", "what are the connections between Entity X and Entity Y")
	if _, err := w.ask("ada", trustgraph.Request{Question: "What are the connections between Zeppelin Works and Nobody Known?", Plan: trustgraph.Overrides{Threshold: new(0.99)}}); err != nil { // which stays in doubt
		t.Fatal(err)
	}
	var refusal *engine.Refusal
	for _, who := range []string{"ada", "olga", "plans"} {
		if _, err := propose(who, time.Hour, 3); !errors.As(err, &refusal) {
			t.Errorf("%s is told: %v", who, err)
		}
	}
	all, err := propose("jo", time.Hour, 3)
	if err != nil || len(all) != 1 || all[0].Plans != 3 || all[0].Askers != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	text := Templates(all)
	c, err := ReadConfig([]byte(text))
	if err != nil || len(c.Templates) != 1 {
		t.Fatalf("%v\n%s", err, text)
	}
	if strings.Contains(text, "Entity") || strings.Contains(text, "Company") {
		t.Errorf("it tells what was asked about:\n%s", text)
	}
	w.a.Config, w.a.Model = c, nil
	if told := w.told("ada", "What are the connections between Company A and Project X?"); !strings.Contains(told[0], "template proposed-1") || !strings.Contains(strings.Join(told, " "), "Company A founded Project X") {
		t.Errorf("%q", told)
	}
	if all, err := propose("jo", time.Hour, 2); err != nil || len(all) != 0 {
		t.Errorf("what a template answers: %+v, %v", all, err)
	}
}

// Templates make plans without a model, for questions that read as they say. // T48
func TestTemplates(t *testing.T) {
	t.Parallel()
	c, err := ReadConfig([]byte(`
templates:
  - name: connections
    asks: ["What are the connections between {x} and {y}?", "how is {x} connected with {y}"]
    steps: graph.connections :from "{x}" :to "{y}" :as @found
  - name: papers
    asks: ["documents about {about}"]
    when: [regulation]
    steps: |
      graph.papers :about "{about}" :as @docs
`))
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, c)
	w.a.Model = nil
	if told := w.told("ada", `How is "Company A" connected  with Project X?`); len(told) != 3 || !strings.Contains(told[2], "Company A founded Project X") {
		t.Errorf("%q", told)
	}
	if told := w.told("ada", "documents about AI regulation"); !strings.Contains(told[0], "template papers") {
		t.Errorf("%q", told)
	}
	w.refused("ada", trustgraph.Request{Question: "documents about harbours"}, trustgraph.AgentError, "no template fits")
	// What stands in a question is a text, whatever it holds.
	told := w.told("ada", `How is x" :to "Company B" plan.abort :plan-id @y connected with Company A?`)
	if !strings.Contains(strings.Join(told, " "), `I looked for “x" :to "Company B" plan.abort :plan-id @y”`) {
		t.Errorf("%q", told)
	}
}

// A name without a thing is told as looked for, and no overseer is waited for. // G78
func TestAnUnknownNameIsSaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t, DefaultConfig())
	w.plans = func(string) string { return strings.Replace(connectedPlan, "Entity Y", "Zebra AG", 1) }
	told := w.told("ada", "What are the connections between Entity X and Zebra AG?")
	if got := told[len(told)-1]; !strings.Contains(got, "Entity X is known") || !strings.Contains(got, "I looked for “Zebra AG”, also as a part of a name, and found nothing called so that you can see.") || strings.Contains(got, "waits") || strings.Contains(got, ":from") {
		t.Errorf("%q", told)
	}
}

// An answer that stays in doubt waits for somebody else, a day later, and the asker is told
// when they ask again. // T25 T45
func TestAnOverride(t *testing.T) {
	t.Parallel()
	w := newWorld(t, DefaultConfig())
	w.plans = func(string) string {
		return `{"steps": [{"id": "found", "function": "graph__links", "arguments": {"name": "Nobody"}, "dependencies": []},
			{"id": "told", "function": "graph__complete", "arguments": {"instruction": "Say it.", "text": "@found"}, "dependencies": ["found"]}]}`
	}
	w.mind = func(_, text string) string { return "No connection between Nobody and Nothing was found." }
	told := w.told("ada", "How is Nobody connected with Nothing?")
	all := strings.Join(told, "\n")
	if !strings.Contains(all, "Somebody with the role plan-overseer may accept it. told depends on it.") || !strings.Contains(all, "This waits for somebody.\nI looked for connections of Nobody and found none that you can see. Whether the answer to found will do") || w.answered != 0 {
		t.Fatal(all)
	}
	rows, _ := w.a.Runner.Clerk.All(t.Context(), "plan", nil)
	key := rows[0].Key()
	w.now.Add(int64(20 * time.Hour))
	if _, err := w.try("ada", `plan.accept :step-id @how-is-nobody-connected-with-nothing-found :reason "I looked myself"`); err == nil {
		t.Error("the asker accepted their own")
	}
	w.do("oskar", `plan.accept :step-id @how-is-nobody-connected-with-nothing-found :reason "both are made up, I looked"`)
	told, err := w.ask("ada", trustgraph.Request{Question: "x", State: statePrefix + key.Text()})
	if err != nil || !strings.Contains(told[len(told)-1], "No connection between Nobody and Nothing was found.") {
		t.Errorf("%q %v", told, err)
	}
	p, err := w.a.Runner.Load(t.Context(), key)
	if err != nil || p.Status != "DONE" || *p.Steps[0].Least != 0.8 || *p.Steps[0].Score != 0.2639 && *p.Steps[0].Score > 0.3 {
		t.Errorf("%+v %v", p, err)
	}
}

// Without overrides, or where nobody accepts, the plan fails gracefully, with what was found.
func TestGracefulFailure(t *testing.T) { // T24
	t.Parallel()
	c := DefaultConfig()
	c.Override = false
	w := newWorld(t, c)
	w.plans = func(string) string {
		return `{"steps": [{"id": "a", "function": "graph__links", "arguments": {"name": "Company A"}, "dependencies": []}, {"id": "found", "function": "graph__links", "arguments": {"name": "Nobody"}, "dependencies": []}]}`
	}
	told := w.told("ada", "What is Nobody connected with?")
	if got := told[len(told)-1]; !strings.Contains(got, "This could not be answered: @found was not made") || !strings.Contains(got, "What was found:") {
		t.Error(got)
	}
}

// A figure of confidence is told to overseers and to nobody else: not in messages, and not by
// any verb. // T44
func TestFiguresAreForOverseers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, DefaultConfig())
	w.plans = func(string) string { return connectedPlan }
	told := strings.Join(w.told("ada", "What are the connections between Entity X and Entity Y?"), "\n")
	if strings.Contains(told, "0.3") || strings.Contains(told, "0.8") {
		t.Error(told)
	}
	s, err := w.e.Session(t.Context(), "ada")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range s.Verbs() {
		if v.Read == nil {
			continue
		}
		for _, f := range v.Read.Fields {
			if slices.Contains([]string{"score", "least", "factors"}, f.Name) {
				t.Errorf("%s tells %s to %v", v.Name, f.Name, s.Principal().Roles)
			}
		}
	}
}

// What people said of answers comes into later scores, and thresholds follow within bounds;
// each change can be reverted. // T46 T47
func TestWhatIsLearnt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, DefaultConfig())
	w.plans = func(string) string { return connectedPlan }
	w.told("ada", "What are the connections between Entity X and Entity Y?")
	rows, _ := w.a.Runner.Clerk.All(t.Context(), "plan-step", nil)
	step := w.name("plan-step", rows[0].Key())
	if _, err := w.try("ada", "confidence.assess :step-id "+step+" :right true"); err == nil {
		t.Error("somebody else than an overseer assessed an answer")
	}
	w.do("oskar", "confidence.assess :step-id "+step+" :right true")
	if _, err := w.try("oskar", "confidence.assess :step-id "+step+" :right false"); err == nil {
		t.Error("it was assessed twice")
	}
	w.a.Forget()
	k := w.a.learned(t.Context())
	if r := k.records[score.GraphQuery]; r != (score.Record{Right: 1, Judged: 1}) || k.history[score.GraphQuery][0].Score != 0.85 {
		t.Errorf("%+v", k)
	}
	w.do("oskar", `confidence.set-threshold :tool GRAPH_QUERY :value 0.7 :least 0.6 :most 0.9 :step 0.02 :reason "to begin with"`)
	// A history in which three of four answers are right, as people assess them.
	for i := range 60 {
		if i > 0 {
			w.told("ada", fmt.Sprintf("What are the connections between Entity X and Entity Y, number %d?", i))
		}
	}
	steps, _ := w.a.Runner.Clerk.All(t.Context(), "plan-step", nil)
	for i, s := range steps {
		_, err := w.try("oskar", fmt.Sprintf("confidence.assess :step-id %s :right %t", w.name("plan-step", s.Key()), i%4 != 1))
		if (err != nil) != (w.name("plan-step", s.Key()) == step) {
			t.Fatal(err) // one was assessed before
		}
	}
	moved, err := w.a.Adapt(t.Context())
	if err != nil || !slices.Equal(moved, []score.Tool{score.GraphQuery}) {
		t.Fatal(moved, err)
	}
	if got := w.a.learned(t.Context()).thresholds[score.GraphQuery]; got != 0.72 {
		t.Error(got)
	}
	w.do("oskar", `confidence.revert :threshold-id @graph-query :reason "too early"`)
	w.a.Forget()
	if got := w.a.learned(t.Context()).thresholds[score.GraphQuery]; got != 0.7 {
		t.Error(got)
	}
	if r := w.a.Reliabilities(t.Context()); len(r) != 1 || r[0].Judged < 60 {
		t.Errorf("%+v", r)
	}
}

// The audit trail has the form of the specification, holds no value of an answer, is for who
// keeps the journal alone, and is what the rows are. // T8 T35 T44 T45
func TestAudit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, DefaultConfig())
	w.plans = func(string) string { return connectedPlan }
	w.told("ada", "What are the connections between Entity X and Entity Y?")
	rows, _ := w.a.Runner.Clerk.All(t.Context(), "plan", nil)
	id := rows[0].Key().Text()
	read := func(as string) (*Record, error) {
		s, err := w.e.Session(t.Context(), as)
		if err != nil {
			t.Fatal(err)
		}
		return w.a.Audit(t.Context(), s, id)
	}
	var refusal *engine.Refusal
	for _, who := range []string{"ada", "olga", "oskar", "plans"} {
		if _, err := read(who); !errors.As(err, &refusal) {
			t.Errorf("%s reads it: %v", who, err)
		}
	}
	r, err := read("jo")
	if err != nil {
		t.Fatal(err)
	}
	byID := id
	id = "What are the connections between Entity X and Entity Y?"
	if same, err := read("jo"); err != nil || same == nil || same.ExecutionID != r.ExecutionID {
		t.Errorf("by its title: %+v, %v", same, err)
	}
	id = "@none"
	if none, err := read("jo"); err != nil || none != nil {
		t.Errorf("%+v, %v", none, err)
	}
	id = byID
	text, err := json.MarshalIndent(r, "", "    ")
	if err != nil {
		t.Fatal(err)
	}
	want := `{
    "execution_id": "ID",
    "timestamp": "2026-03-02T09:00:00Z",
    "request": {
        "question": "What are the connections between Entity X and Entity Y?",
        "confidence_threshold": 0.75
    },
    "plan": {
        "steps": [
            {
                "id": "found",
                "function": "GraphQuery",
                "confidence_threshold": 0.8
            }
        ]
    },
    "execution": [
        {
            "step_id": "found",
            "start_time": "2026-03-02T09:00:00Z",
            "end_time": "2026-03-02T09:00:00.15Z",
            "confidence_score": 0.85,
            "retry_count": 2,
            "success": true
        }
    ],
    "final_confidence": 0.85,
    "total_duration_ms": 150
}`
	if got := uuids.ReplaceAllString(string(text), "ID"); got != want {
		t.Errorf("%s", got)
	}
	// Rows that somebody changed behind the journal's back are found out.
	e := w.reg.Entity("plan-step").Store
	steps, _ := w.a.Runner.Clerk.All(t.Context(), "plan-step", nil)
	err = w.store.Update(t.Context(), stores.Scope{All: true}, func(tx stores.Tx) error {
		return tx.Apply(t.Context(), stores.Batch{Changes: []stores.Change{{Op: stores.Update, Entity: e, Key: steps[0].Key(), Before: steps[0].Values, Set: []stores.Assign{{Field: e.FieldIndex("score"), Value: decimal(0.99)}}}}})
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := read("jo"); !errors.Is(err, ErrDiffers) {
		t.Error(err)
	}
}

// A question longer than the title of its plan is judged and audited whole, and the threshold
// of the audit is the one that was asked for, whatever the configuration says by then. // T35 T52
func TestALongQuestion(t *testing.T) {
	t.Parallel()
	w := newWorld(t, DefaultConfig())
	w.plans = func(string) string { return connectedPlan }
	question := strings.Repeat("Please look closely. ", 20) + "What are the connections between Entity X and Entity Y?"
	least := 0.82
	if _, err := w.ask("ada", trustgraph.Request{Question: question, Plan: trustgraph.Overrides{Threshold: &least}}); err != nil {
		t.Fatal(err)
	}
	rows, _ := w.a.Runner.Clerk.All(t.Context(), "plan", nil)
	if title := rows[0].Text("title"); len([]rune(title)) != 200 {
		t.Errorf("%q", title)
	}
	attempts, _ := w.a.Runner.Clerk.All(t.Context(), "plan-attempt", nil)
	var judged []string // in any order: both attempts have the same time
	for _, a := range attempts {
		judged = append(judged, a.Text("factors"))
	}
	if len(judged) != 3 || !strings.Contains(strings.Join(judged, ""), string(score.MeasureEntityPrecision)) {
		t.Errorf("the names in it were not looked for: %q", judged)
	}
	w.a.Config.Threshold = 0.5
	s, err := w.e.Session(t.Context(), "jo")
	if err != nil {
		t.Fatal(err)
	}
	r, err := w.a.Audit(t.Context(), s, rows[0].Key().Text())
	if err != nil {
		t.Fatal(err)
	}
	if r.Request.Question != question || r.Request.Threshold == nil || *r.Request.Threshold != least {
		t.Errorf("%+v", r.Request)
	}
}

// A model that is away, and verbs whose model is away, end a question with a clear answer.
func TestModelsThatAreAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t, DefaultConfig())
	w.plans = func(string) string { return summaryPlan }
	told := w.told("ada", "Summarize the main topics discussed about AI regulation")
	if got := told[len(told)-1]; !strings.Contains(got, "This could not be answered: @topics was not made") {
		t.Errorf("%q", told)
	}
	w.a.Model = away{}
	if _, err := w.ask("ada", trustgraph.Request{Question: "anything else"}); err == nil {
		t.Error("it was answered")
	}
}

type away struct{ llm.Model }

func (away) Chat(context.Context, llm.Request, func(string)) (*llm.Reply, error) {
	return nil, &llm.Error{Kind: llm.Unavailable, Err: errors.New("connection refused")}
}

// A model that fails or says nothing is asked for the plan again, as often as a step is tried,
// after growing pauses. What will not pass, it is not asked again for. // T24 T37
func TestAPlanIsAskedForAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fails []error // of the calls in turn; nil is an answer without text
		calls int
		took  time.Duration
		err   string
	}{
		"it fails":                {[]error{&llm.Error{Kind: llm.Unavailable}, &llm.Error{Kind: llm.Late}}, 3, 150 * time.Millisecond, ""},
		"it says nothing":         {[]error{nil}, 2, 50 * time.Millisecond, ""},
		"it is busy for a while":  {[]error{&llm.Error{Kind: llm.Busy, RetryAfter: 3 * time.Second}}, 2, 3 * time.Second, ""},
		"it is busy for long":     {[]error{&llm.Error{Kind: llm.Busy, RetryAfter: time.Minute}}, 1, 0, "the model made no plan"},
		"it takes no such thing":  {[]error{&llm.Error{Kind: llm.Invalid}}, 1, 0, "the model made no plan"},
		"it fails for good":       {[]error{nil, nil, &llm.Error{Kind: llm.Cut}, &llm.Error{Kind: llm.Garbled}}, 4, 350 * time.Millisecond, "the model made no plan"},
		"it says nothing at last": {[]error{nil, nil, nil, nil}, 4, 350 * time.Millisecond, "the model made no plan"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, DefaultConfig())
			w.plans = func(string) string { // which is answered at once
				return strings.NewReplacer("Entity X", "Company A", "Entity Y", "Company B").Replace(connectedPlan)
			}
			m := &failing{Model: w, fails: c.fails}
			w.a.Model = m
			began := w.clock()
			_, err := w.ask("ada", trustgraph.Request{Question: "What are the connections between Company A and Company B?"})
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("the error is %v, want %q", err, c.err)
			}
			if took := w.clock().Sub(began); m.calls != c.calls || took != c.took {
				t.Errorf("%d calls in %v, want %d in %v", m.calls, took, c.calls, c.took)
			}
		})
	}
}

// A failing model fails some calls, and answers then.
type failing struct {
	llm.Model
	fails []error
	calls int
}

func (f *failing) Chat(ctx context.Context, r llm.Request, piece func(string)) (*llm.Reply, error) {
	f.calls++
	switch {
	case f.calls > len(f.fails):
		return f.Model.Chat(ctx, r, piece)
	case f.fails[f.calls-1] == nil:
		return &llm.Reply{Finish: llm.Stopped}, nil
	}
	return nil, f.fails[f.calls-1]
}

// An empty answer for which the palette has no other call is asked for once more, and is believed
// to be the tool's when it comes twice: then somebody has to say whether it will do. // T24
func TestTheSameIsAskedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, DefaultConfig())
	w.plans = func(string) string {
		return `{"steps": [{"id": "a", "function": "graph__find", "arguments": {"name": "Nowhere"}, "dependencies": []}]}`
	}
	told := w.told("ada", "Where is it?")
	rows, _ := w.a.Runner.Clerk.All(t.Context(), "plan-attempt", nil)
	if len(rows) != 2 || rows[0].Text("call") != rows[1].Text("call") || !strings.Contains(told[1], "it is asked again") || !strings.Contains(told[len(told)-1], "waits for somebody") {
		t.Errorf("%d attempts; %q", len(rows), told)
	}
}

// A model that fails under a verb is asked again, the same if it failed and otherwise if its
// answer was bad. // T24
func TestAVerbIsMadeAgainWhoseModelFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t, DefaultConfig())
	w.plans = func(string) string {
		return `{"steps": [{"id": "topics", "function": "graph__extract-topics", "arguments": {"text": "Fines reach 35 million."}, "dependencies": []}]}`
	}
	// The second says nothing, the third fails.
	w.fails = func(n int) bool { return n == 1 || n == 3 }
	w.mind = func(instruction, _ string) string {
		if w.answered == 2 {
			return ""
		}
		return "Fines of 35 million"
	}
	told := w.told("ada", "What are the topics?")
	rows, _ := w.a.Runner.Clerk.All(t.Context(), "plan-attempt", nil)
	var tries []string
	for _, r := range rows {
		tries = append(tries, fmt.Sprint(r.Value("number").Int(), " ", r.Text("outcome"), " ", strings.Contains(r.Text("call"), ":closely true")))
	}
	slices.Sort(tries)
	if want := []string{"1 FAILED false", "2 DOUBTFUL false", "3 FAILED true", "4 OK true"}; !slices.Equal(tries, want) {
		t.Errorf("%q, want %q; %q", tries, want, told)
	}
}

// Rows that do not speak of what an earlier step found are no answer to what was looked for.
func TestRowsSpeakOfWhatWasFound(t *testing.T) {
	t.Parallel()
	call := func(value dsl.Value) dsl.Call { return dsl.NewCall("graph.links", dsl.NewArg("name", value)) }
	w := newWorld(t, DefaultConfig())
	least := 0.8
	score := func(says string) float64 {
		r := &receipt.Result{Columns: []string{"subject", "how", "object"}, Rows: [][]stores.Value{{stores.NewString(says), stores.NewString("makes"), stores.NewString("Boats")}}}
		at := &workflow.Attempt{Number: 1, Call: call(dsl.NewSymbol("founded.object")), Made: call(dsl.NewString("Acme")), Outcome: workflow.OK, Receipt: &receipt.Receipt{Calls: []receipt.Call{{Result: r}}}}
		v := w.a.Judge(t.Context(), &workflow.Plan{Title: "What does the company make?"}, &workflow.Step{Verb: w.reg.Verb("graph.links"), Least: &least}, at)
		return *v.Score
	}
	if about, other := score("Acme"), score("Bolt"); about < 0.9 || other >= 0.8 {
		t.Error(about, other)
	}
}

// What a configuration says otherwise than it may is refused with its key. // T16 T19 T40 T51
func TestConfigurations(t *testing.T) {
	t.Parallel()
	whole := `
service: {name: confidence-agent, type: trustgraph.agent.confidence}
pulsar: {request_queue: confidence-agent-request, response_queue: confidence-agent-response}
config:
  max_iterations: 12
  default_confidence_threshold: 0.7
  retry: {max_attempts: 2, backoff_factor: 1.5, max_delay_ms: 4000}
  tool_confidence: {GraphQuery: 0.85, TextCompletion: 0.65, McpTool: 0.5}
  memory: {max_context_size: 4096, cache_ttl_seconds: 60}
  audit: {enabled: false, log_level: ERROR, include_raw_outputs: true}
  performance: {parallel_execution: true, plan_cache_size: 10, timeout_ms: 20000}
feature_flags: {confidence_agent_enabled: true, confidence_agent_traffic_percentage: 5, confidence_agent_fallback_to_react: true}
`
	c, err := ReadConfig([]byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	if c.MaxSteps != 12 || c.Threshold != 0.7 || c.MaxRetries != 2 || c.BackoffFactor != 1.5 || c.MaxDelay != 4*time.Second || c.Tools[score.GraphQuery] != 0.85 || c.Context != 4096 || c.CacheTTL != time.Minute ||
		c.Audit != (Audit{false, slog.LevelError, true}) || c.Parallel != parallel || c.PlanCache != 10 || c.StepTimeout != 20*time.Second || c.Flags != (trustgraph.Flags{Enabled: true, Share: 5, Fallback: true}) || c.Wires.Request != "confidence-agent-request" {
		t.Errorf("%+v", c)
	}
	c, err = ReadConfig([]byte("confidence_agent: {default_confidence_threshold: 0.7, max_retries: 3, retry_backoff_factor: 2.0, override_enabled: false, step_timeout_ms: 30000, parallel_execution: false}\nservices:\n  - {name: confidence-agent, module: trustgraph.agent.confidence, instances: 2, config: {max_iterations: 15, confidence_threshold: 0.75}}\n  - {name: react-agent, module: trustgraph.agent.react, instances: 2}\n"))
	if err != nil || c.Override || c.Threshold != 0.7 || c.MaxSteps != 15 {
		t.Errorf("%+v %v", c, err)
	}
	if d, err := ReadConfig(nil); err != nil || d.Threshold != 0.75 || d.MaxRetries != 3 || d.Tools[score.McpTool] != 0.6 {
		t.Errorf("%+v %v", d, err)
	}
	for text, says := range map[string]string{
		"config: {confidence_threshold: 1.1}":                            "from 0 to 1",
		"config: {confidence_threshold: .nan}":                           "a number is wanted",
		"config: {retry: {backoff_factor: .inf}}":                        "a number is wanted",
		"config: {max_retries: -1}":                                      "from 0 to 10",
		"config: {tool_confidence: {Oracle: 0.5}}":                       `no tool is called "Oracle"`,
		"feature_flags: {confidence_agent_traffic_percentage: 0.5}":      "is 0.5, and a whole number is wanted", // G70
		"config: {tresholds: 1}":                                         "tresholds",
		"feature_flags: {confidence_agent_traffic_percentage: 101}":      "from 0 to 100",
		"config: {audit: {log_level: LOUD}}":                             "log_level",
		"config: {performance: {timeout_ms: 5}}":                         "from 10",
		"templates: [{name: x, asks: [\"{a} {a}\"], steps: graph.find}]": "twice",
		"templates: [{name: x, asks: [a], steps: \"(\"}]":                "no script",
		"config: [": "",
	} {
		if _, err := ReadConfig([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
}

// The first retry asks the same, and the second changes the question; a further chance reaches the
// score, and the same answer again is none. // T24
func TestRetriesChangeTheQuestion(t *testing.T) {
	t.Parallel()
	w := newWorld(t, DefaultConfig())
	w.plans = func(string) string { return connectedPlan }
	w.told("ada", "What are the connections between Entity X and Entity Y?")
	rows, _ := w.a.Runner.Clerk.All(t.Context(), "plan-attempt", nil)
	slices.SortFunc(rows, func(a, b *serviceaccount.Row) int { return int(a.Value("number").Int() - b.Value("number").Int()) })
	if len(rows) != 3 || rows[0].Text("call") != rows[1].Text("call") || rows[1].Text("call") == rows[2].Text("call") {
		t.Fatalf("%d attempts", len(rows))
	}
	for i, chances := range []int{1, 1, 2} {
		var s Scored
		if err := json.Unmarshal([]byte(rows[i].Text("factors")), &s); err != nil || !slices.Contains(s.Factors, score.Attempts(chances)) {
			t.Errorf("%s: %v", rows[i].Text("factors"), err)
		}
		if i > 0 {
			if pause := rows[i].Value("started_at").Time().Sub(rows[i-1].Value("ended_at").Time()); pause != time.Duration(i)*firstWait {
				t.Errorf("attempt %d came after %v", i+1, pause)
			}
		}
	}
}

// What a model answered is used again for a while: for the same asker and the same words, and
// where it was good enough. // T6
func TestAnswersAreUsedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, DefaultConfig())
	w.plans = func(string) string {
		return `{"steps": [{"id": "a", "function": "graph__complete", "arguments": {"instruction": "Say hello to the reader of this text.", "text": "A text."}, "dependencies": []}]}`
	}
	w.mind = func(_, text string) string { return "Hello to you, who read this text with care." }
	ask := func(who string, want int) {
		t.Helper()
		if w.told(who, "Say hello"); w.answered != want {
			t.Fatalf("the model answered %d times, want %d", w.answered, want)
		}
	}
	ask("ada", 1)
	ask("ada", 1)
	ask("olga", 2)
	w.now.Add(int64(301 * time.Second))
	ask("ada", 3)
	w.mind = func(_, text string) string { return "" } // which will not do
	w.now.Add(int64(301 * time.Second))
	ask("ada", 7)
	ask("ada", 11)
}

// A plan of a model that changes something is not begun: whoever asked is shown its calls, and it is
// made once they agree. (G1)
func TestAPlanThatChangesSomethingWaitsForTheAsker(t *testing.T) {
	t.Parallel()
	w := newWorld(t, DefaultConfig())
	w.plans = func(string) string {
		return `{"steps": [{"id": "a", "function": "graph__add", "arguments": {"name": "Company Z", "kind": "company"}, "dependencies": []}]}`
	}
	things := func() (n int) {
		rows, err := w.a.Runner.Clerk.All(t.Context(), "thing", map[string]stores.Value{"name": stores.NewString("Company Z")})
		if err != nil {
			t.Fatal(err)
		}
		return len(rows)
	}
	told, err := w.ask("eve", trustgraph.Request{Question: "Add Company Z."})
	if err != nil || len(told) == 0 {
		t.Fatal(told, err)
	}
	if last := told[len(told)-1]; !strings.HasPrefix(last, string(trustgraph.Answer)) || !strings.Contains(last, `graph.add :name "Company Z"`) || !strings.Contains(last, "you are asked first") || things() != 0 {
		t.Errorf("%s, and there are %d", last, things())
	}
	if rows, _ := w.a.Runner.Clerk.All(t.Context(), "plan", nil); len(rows) > 0 {
		t.Error("a plan was kept")
	}
	s, err := w.e.Session(t.Context(), "eve")
	if err != nil {
		t.Fatal(err)
	}
	waits, err := s.Pending(t.Context())
	if err != nil || len(waits) != 1 || !waits[0].Mine {
		t.Fatal(waits, err)
	}
	_, done, err := s.Agree(t.Context(), waits[0].ID)
	if err != nil || done == nil {
		t.Fatal(done, err)
	}
	if _, err := w.a.Runner.Advance(t.Context(), done.Calls[0].Rows[0].Key, nil); err != nil || things() != 1 {
		t.Errorf("%v: there are %d", err, things())
	}
}
