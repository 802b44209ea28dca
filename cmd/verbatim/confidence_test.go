package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"verbatim/dsl"
	"verbatim/runtime/domains/confidence"
	"verbatim/runtime/engine"
	"verbatim/runtime/jobs/workflow"
	"verbatim/runtime/protocols/trustgraph"
	"verbatim/runtime/protocols/trustgraph/rabbit/rabbittest"
	"verbatim/runtime/protocols/trustgraph/trustgraphtest"
	"verbatim/stores"
	"verbatim/stores/postgres/pgtest"
)

const confidenceDir = "../../examples/confidence"

// The demonstration of the agent, as its README says: both worked examples message by message,
// an answer that somebody else accepts, and what is refused, on both stores (T9 T10 T15 T25 T26
// T27 T35 T52).
func TestAskingTheConfidenceAgentIsDemonstrated(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it builds a program")
	}
	play := func(t *testing.T, env ...string) {
		t.Helper()
		bin := t.TempDir()
		if err := putProgram(bin); err != nil {
			t.Fatal(err)
		}
		demo := exec.Command("bash", filepath.Join(root, "examples", "confidence", "demo.sh"))
		demo.Env = append(append(os.Environ(), "PROGRAM_DIR="+bin, "TICK=now"), env...)
		out, err := demo.CombinedOutput()
		if err != nil || strings.Count(string(out), "ok    ") != 6 || !strings.Contains(string(out), `"final_confidence":0.`) {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		play(t)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		db := pgtest.Database(t)
		play(t, "CONFIDENCE_OWNER="+db.Owner, "CONFIDENCE_STORE="+db.App)
	})
}

// So is the page of its README (OB7).
func TestPlansReadmeIsTrue(t *testing.T) {
	t.Parallel()
	s := shellIn{t.TempDir(), t.TempDir()}
	err := putProgram(s.bin)
	if err == nil {
		err = os.CopyFS(s.dir, os.DirFS(confidenceDir))
	}
	if err != nil {
		t.Fatal(err)
	}
	p := s.page(t, "examples/confidence/README.md", "verbs/palettes/confidence/graph.yaml", "")
	s.with(t, p, "VERBATIM_PALETTES=confidence").play(t)
}

// A graphHouse is the graph of examples/confidence in a store, and the program that serves it.
type graphHouse struct {
	t        *testing.T
	dir, url string
	env      []string
}

func newGraph(t *testing.T, config string, env ...string) *graphHouse {
	t.Helper()
	bin, dir := t.TempDir(), t.TempDir()
	if err := putProgram(bin); err != nil {
		t.Fatal(err)
	}
	plans := filepath.Join(dir, "plans.yaml")
	if err := os.WriteFile(plans, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	h := &graphHouse{t: t, dir: dir, env: append(append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "TICK=now", "VERBATIM_PALETTES=confidence", "VERBATIM_STORE="+filepath.Join(dir, "g.db"),
		"VERBATIM_PLANS="+plans, "XDG_STATE_HOME="+dir), env...)}
	h.does("migrate")
	h.does("migrate", "--administrator", "vera", "--administrator", "wim")
	h.runs("vera", "people.dsl")
	_ = h.command("run", "--as", "vera", "--yes", filepath.Join(confidenceDir, "rights.dsl")).Run() // it waits for the other administrator
	h.agreed()
	h.runs("ed", "graph.dsl")
	return h
}

func (h *graphHouse) command(args ...string) *exec.Cmd {
	bin := strings.TrimPrefix(h.env[slices.IndexFunc(h.env[len(os.Environ()):], func(s string) bool { return strings.HasPrefix(s, "PATH=") })+len(os.Environ())], "PATH=")
	bin, _, _ = strings.Cut(bin, ":")
	c := exec.Command(filepath.Join(bin, "verbatim"), args...)
	c.Env = h.env
	return c
}

func (h *graphHouse) does(args ...string) string {
	h.t.Helper()
	out, err := h.command(args...).CombinedOutput()
	if err != nil {
		h.t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (h *graphHouse) runs(as, script string) {
	h.t.Helper()
	h.does("run", "--as", as, "--yes", filepath.Join(confidenceDir, script))
}

// plan makes a plan that is called @ends.
func (h *graphHouse) plan() {
	h.t.Helper()
	script := filepath.Join(h.dir, "plan.dsl")
	if err := os.WriteFile(script, []byte("plan.draft :title \"Ends\" :as @p :steps [(graph.find :name \"Entity X\" :as @x)]\nplan.start :plan-id @p\n"), 0o600); err != nil {
		h.t.Fatal(err)
	}
	h.does("run", "--as", "ada", "--yes", script)
	h.does("work", "--once")
}

// agreed has the second administrator agree to all that waits.
func (h *graphHouse) agreed() {
	h.t.Helper()
	for _, line := range strings.Split(h.does("confirm", "--as", "wim"), "\n") {
		if id, _, ok := strings.Cut(line, "\t"); ok {
			h.does("confirm", id, "--agree", "--as", "wim")
		}
	}
}

// serves starts the server and returns a token of somebody's.
func (h *graphHouse) serves(who string) (token string) {
	h.t.Helper()
	c := h.command("serve", "--listen", "127.0.0.1:0", "--log", "error")
	out, err := c.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	c.Stderr = h.t.Output()
	if err := c.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		_ = c.Process.Signal(os.Interrupt)
		_ = c.Wait()
	})
	buf := make([]byte, 200)
	for h.url == "" {
		n, err := out.Read(buf)
		if err != nil {
			h.t.Fatal(err)
		}
		h.url = regexp.MustCompile(`http://\S+`).FindString(string(buf[:n]))
	}
	go io.Copy(io.Discard, out)
	said, _ := h.command("serve", "token", "client", "--as", "vera", "--for", who, "--url", h.url, "--yes").CombinedOutput() // it waits for the other administrator
	h.agreed()
	token = regexp.MustCompile(`(?m)^[A-Za-z0-9_-]{40,}$`).FindString(string(said))
	if token == "" {
		h.t.Fatalf("%s", said)
	}
	return token
}

var planIDs = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// hears is what an agent told, a line each message.
func hears(t *testing.T, a trustgraph.Agent, question string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var all []string
	err := a.Ask(ctx, trustgraph.Caller{}, trustgraph.Request{Question: question}, func(m trustgraph.Message) error {
		all = append(all, planIDs.ReplaceAllString(fmt.Sprintf("%s %s", m.Type, m.Content), "ID"))
		return nil
	})
	if err != nil {
		all = append(all, "error "+err.Error())
	}
	return all
}

const graphConfig = `
pulsar: {request_queue: "flow:tg:agent-request:default", response_queue: "response:tg:agent-response:default"}
wires:
  shape: chunked
  rabbitmq: {url_env: BROKER, subscription: agent, caller: ada, at_once: 4}
templates:
  - name: connections
    asks: ["What are the connections between {x} and {y}?"]
    steps: graph.connections :from "{x}" :to "{y}" :as @found
`

// The same question has the same answer by every way in: HTTP, events, sockets and queues. What
// is counted of it has the names and buckets of the specification, and a change of the flags
// sends questions back at once (T10 T18 T28 T29 T30 T31 T32 T33 T34 T38 T40 T41).
func TestQuestionsByEveryWire(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts a broker")
	}
	broker := rabbittest.Start(t)
	h := newGraph(t, graphConfig, "BROKER="+broker.URL)
	token := h.serves("ada")
	client := &trustgraphtest.Client{URL: h.url, Token: token}
	line, err := rabbittest.NewLine(broker.URL, "flow:tg:agent-request:default", "response:tg:agent-response:default")
	if err != nil {
		t.Fatal(err)
	}
	defer line.Close()
	const question = "What are the connections between Entity X and Entity Y?"
	want := hears(t, trustgraph.AskFunc(client.Socket), question)
	if len(want) != 7 || !strings.Contains(want[6], "no way of at most 3 links leads there") {
		t.Fatalf("%q", want)
	}
	for way, a := range map[string]trustgraph.Agent{"events": trustgraph.AskFunc(client.Events), "queue": trustgraphtest.Over(line, uuid.NewString), "socket": trustgraph.AskFunc(client.Socket)} {
		if got := hears(t, a, question); !slices.Equal(got, want) {
			t.Errorf("by %s: %q\nwant %q", way, got, want)
		}
	}
	if got := hears(t, trustgraph.AskFunc(client.Post), question); len(got) != 1 || got[0] != want[6] {
		t.Errorf("by HTTP: %q", got)
	}
	if got := hears(t, trustgraph.AskFunc((&trustgraphtest.Client{URL: h.url, Token: strings.Repeat("x", 43)}).Socket), question); len(got) != 1 || !strings.Contains(got[0], "auth") {
		t.Errorf("with a token that nobody has: %q", got)
	}

	answer, err := http.Get(h.url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`agent_confidence_score_bucket{function="GraphQuery",le="0.1"} 0`, `agent_confidence_score_bucket{function="GraphQuery",le="0.3"} 10`, `agent_confidence_score_bucket{function="GraphQuery",le="0.5"} 10`,
		`agent_confidence_score_bucket{function="GraphQuery",le="0.7"} 10`, `agent_confidence_score_bucket{function="GraphQuery",le="0.9"} 15`, `agent_confidence_score_bucket{function="GraphQuery",le="1"} 15`,
		`agent_confidence_failures{function="GraphQuery"} 10`, `agent_retry_count{function="GraphQuery"} 10`, `agent_retry_success_rate 100`, `agent_plan_execution_seconds_count 5`, `agent_step_execution_seconds_count 15`,
		`agent_plan_complexity_bucket{le="1"} 5`, `agent_routes_total{route="confidence"} 5`,
	} {
		if !strings.Contains(string(text), line+"\n") {
			t.Errorf("%s is not there: %s", line, regexp.MustCompile("(?m)^"+regexp.QuoteMeta(strings.TrimRight(line, "0123456789"))+".*$").FindString(string(text)))
		}
	}
	for _, secret := range []string{"Entity", `"ada"`} {
		if strings.Contains(string(text), secret) {
			t.Errorf("metrics hold %q", secret)
		}
	}

	// Whoever keeps the journal is told what could be a template, if none were set up.
	for who, want := range map[string]string{
		"vera": "templates:\n  # 5 plans of 1 asker; 0 others of this shape went otherwise, or did not do\n  - name: proposed-1\n    asks:\n      - what are the connections between {name1} and {name2}\n    steps: |\n      graph.connections :from \"{name1}\" :to \"{name2}\" :as @found\n",
		"ada":  "not-permitted",
	} {
		c := h.command("log", "templates", "--as", who)
		c.Env = append(slices.Clone(c.Env), "VERBATIM_PLANS=")
		if got, err := c.CombinedOutput(); !strings.Contains(string(got), want) || (err == nil) != (who == "vera") {
			t.Errorf("%s is told %v:\n%s", who, err, got)
		}
	}

	// No model is set up, so that the agent that was there before has nothing to say.
	if err := os.WriteFile(filepath.Join(h.dir, "plans.yaml"), []byte(graphConfig+"feature_flags: {confidence_agent_enabled: false}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		got := hears(t, trustgraph.AskFunc(client.Events), question)
		if len(got) == 1 && strings.Contains(got[0], "no model is set up here") {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("%q", got)
		}
	}
}

// The end of a plan is logged at the level that the operator said, without what was asked (T51).
func TestTheEndOfAPlanIsLogged(t *testing.T) {
	t.Parallel()
	ended := workflow.Event{Kind: workflow.Finished, Plan: &workflow.Plan{Key: stores.NewString("1"), Title: "Who is Ann?", Question: "Who is Ann?", Status: "DONE", Steps: make([]*workflow.Step, 2), Started: time.Unix(0, 0), Ended: time.Unix(3, 0)}}
	waits := workflow.Event{Kind: workflow.Finished, Plan: &workflow.Plan{Status: "RUNNING"}}
	for want, c := range map[string]confidence.Audit{"WARN": {Enabled: true, Level: slog.LevelWarn}, "INFO": {Enabled: true}, "": {}} {
		var out strings.Builder
		log := logsPlans(c, slog.New(slog.NewTextHandler(&out, nil)))
		log(ended)
		log(waits)
		got := out.String()
		if strings.Count(got, "\n") != min(1, len(want)) || want != "" && !strings.Contains(got, "level="+want+` msg="a plan has ended" plan=1 status=DONE steps=2 took_ms=3000`) || strings.Contains(got, "Ann") {
			t.Errorf("%s: %q", want, got)
		}
	}
}

// An error of the system in a step is logged, also where nothing else is: the asker is not told
// what it was. A refusal is not logged, since the asker is told of it.
func TestAFailureInAPlanIsLogged(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		`level=ERROR msg="a step of a plan failed" plan=1 verb=bank.list attempt=2 error="the disk is full"` + "\n": &engine.Failure{Err: errors.New("the disk is full")},
		"": &engine.Refusal{},
	} {
		var out strings.Builder
		log := logsPlans(confidence.Audit{}, slog.New(slog.NewTextHandler(&out, nil)))
		log(workflow.Event{Kind: workflow.Attempted, Plan: &workflow.Plan{Key: stores.NewString("1")}, Step: &workflow.Step{}, Attempt: &workflow.Attempt{Number: 2, Call: dsl.NewCall("bank.list"), Err: err}})
		if got := out.String(); !strings.HasSuffix(got, want) || want == "" && got != "" {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// One trace leads from a question to the programs that were carried out for it: request, agent,
// plan, step, call (T28, SAFE).
func TestSpansOfAQuestion(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts a server")
	}
	type span struct{ Name, TraceID, SpanID, ParentSpanID string }
	spans := make(chan span, 1000)
	collector := newCollector(t, func(body []byte) {
		var all struct {
			ResourceSpans []struct{ ScopeSpans []struct{ Spans []span } }
		}
		if err := json.Unmarshal(body, &all); err != nil {
			t.Error(err)
		}
		for _, r := range all.ResourceSpans {
			for _, s := range r.ScopeSpans {
				for _, one := range s.Spans {
					spans <- one
				}
			}
		}
	})
	config := strings.ReplaceAll(graphConfig, "  rabbitmq: {url_env: BROKER, subscription: agent, caller: ada, at_once: 4}\n", "")
	h := newGraph(t, config, "OTEL_EXPORTER_OTLP_ENDPOINT="+collector, "OTEL_BSP_SCHEDULE_DELAY=100")
	client := &trustgraphtest.Client{URL: h.url}
	client.Token = h.serves("ada")
	client.URL = h.url
	hears(t, trustgraph.AskFunc(client.Events), "What are the connections between Company A and Company B?")
	byID, trace := map[string]span{}, ""
	for until := time.After(20 * time.Second); ; {
		select {
		case s := <-spans:
			byID[s.SpanID] = s
			if s.Name == "execute_tool graph.connections" {
				trace = s.TraceID
			}
			if trace != "" && strings.HasPrefix(s.Name, "POST /api/v1/flow") && s.TraceID == trace {
				var names []string
				for _, of := range byID {
					if of.TraceID != trace {
						continue
					}
					path := of.Name
					for at := of; at.ParentSpanID != ""; {
						at = byID[at.ParentSpanID]
						path = at.Name + " > " + path
					}
					names = append(names, path)
				}
				all := strings.Join(names, "\n")
				const request = "POST /api/v1/flow/{flow}/service/agent > invoke_agent"
				for _, want := range []string{request + " > plan", request + " > step > execute_tool graph.connections > run graph.connections", request + " > run plan.note"} {
					if !slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, want) }) {
						t.Errorf("%s is not there:\n%s", want, all)
					}
				}
				return
			}
		case <-until:
			t.Fatalf("%v", byID)
		}
	}
}

// newCollector takes what is sent to it, as a collector of spans does.
func newCollector(t *testing.T, takes func([]byte)) string {
	t.Helper()
	s := http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			takes(body)
		}
		w.WriteHeader(http.StatusOK)
	})}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
	return "http://" + l.Addr().String()
}

// A question that is audited holds no password and no number of an account. (T44)
func TestAnAuditHoldsNoSecret(t *testing.T) {
	t.Parallel()
	got := sanitized("My password is hunter2 and my IBAN DE89370400440532013000, what of Albatros?")
	if strings.Contains(got, "hunter2") || strings.Contains(got, "DE89370400440532013000") || !strings.Contains(got, "what of Albatros?") {
		t.Error(got)
	}
}
