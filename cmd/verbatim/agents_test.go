package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"verbatim/runtime/protocols/trustgraph"
	"verbatim/runtime/protocols/trustgraph/trustgraphtest"
)

// An agency is a server of somebody else's, which rates companies by A2A.
type agency struct {
	*house
	*running
	token string
	at    string // where it is asked; its own address where that is empty
}

// newAgency starts an agency: how it rates companies and how sure it says that it is are
// expressions over company, and of one company it does not know at once.
func newAgency(t *testing.T, rating, sure, slow string) *agency {
	t.Helper()
	h := layAgents(t, "rating")
	h.env = append(h.env, "TICK=now")
	file := filepath.Join(h.dir, "verbs", "rating.yaml")
	text, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, []byte(strings.NewReplacer("'RATING'", fmt.Sprintf("%q", rating), "'SURE'", fmt.Sprintf("%q", sure), "SLOW", slow).Replace(string(text))), 0o666)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(h.dir, "people.sql"), []byte("INSERT INTO verbatim_principal (name, label) VALUES ('clara', 'Clara');\nINSERT INTO verbatim_grant (principal, role, entity, key) VALUES ('clara', 'clerk', '', '');\n"), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	h.do("migrate", "--data", "people.sql")
	h.do("migrate", "--administrator", "ada", "--administrator", "bo")
	h.script("ada", "system.add-principal :name \"desk\" :label \"Desk\" :as @desk\nsystem.grant-role :principal-id @desk :role \"guest\"")
	a := &agency{house: h, running: h.serve("--log", "off")}
	a.token = h.granted("peer", "desk", a.url, "rating.rate rating.weigh rating.opinion rating.withdraw")
	return a
}

// again kills the agency, and starts it where it was.
func (a *agency) again() {
	a.t.Helper()
	_ = a.cmd.Process.Kill()
	_ = a.cmd.Wait()
	a.running = a.house.serve("--log", "off", "--listen", "127.0.0.1:"+strings.TrimPrefix(a.url, "http://localhost:"))
}

// asked counts the questions about a company that it was asked.
func (a *agency) asked(company string) int {
	a.t.Helper()
	return strings.Count(a.lists("clara", "rating.opinions"), "company  "+company+"\n")
}

// lists runs a call.
func (h *house) lists(as, call string) string {
	h.t.Helper()
	file := filepath.Join(h.dir, "call.dsl")
	if err := os.WriteFile(file, []byte(call+"\n"), 0o666); err != nil {
		h.t.Fatal(err)
	}
	return h.do("run", "--as", as, "--yes", file)
}

func layAgents(t *testing.T, palette string) *house {
	t.Helper()
	dir := t.TempDir()
	bin := filepath.Join(dir, ".bin")
	err := os.CopyFS(filepath.Join(dir, "verbs"), os.DirFS(filepath.Join("testdata", "agents", palette)))
	if err == nil {
		err = os.Mkdir(bin, 0o777)
	}
	if err == nil {
		err = putProgram(bin)
	}
	if err != nil {
		t.Fatal(err)
	}
	return &house{t, dir, []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "XDG_STATE_HOME=" + filepath.Join(dir, ".state"), "VERBATIM_PALETTES=" + filepath.Join(dir, "verbs")}}
}

const agentsConfig = `config: {performance: {parallel_execution: true, timeout_ms: 20000}, tool_confidence: {McpTool: 0.7}, retry: {max_attempts: 2}}
templates:
  - name: rated
    asks: ["How is {x} rated?"]
    steps: |
      brief.north :company "{x}" :as @n
      brief.south :company "{x}" :as @s
      brief.weigh :first @n.rating :second @s.rating :as @both
  - name: kept
    asks: ["Keep how {x} is rated"]
    steps: |
      brief.north :company "{x}" :as @n
      brief.keep :company "{x}" :rating @n.rating :as @kept
`

// newDesk starts a server whose questions agencies answer.
func newDesk(t *testing.T, agencies map[string]*agency) (*house, *trustgraphtest.Client) {
	t.Helper()
	h := layAgents(t, "brief")
	servers := "servers:\n"
	for name, a := range agencies {
		servers += fmt.Sprintf("  %s: {agent: %q, token: %s_TOKEN, local: true, timeout: 15s}\n", name, cmp.Or(a.at, a.url)+"/", strings.ToUpper(name))
		h.env = append(h.env, strings.ToUpper(name)+"_TOKEN="+a.token)
	}
	for name, text := range map[string]string{"servers.yaml": servers, "plans.yaml": agentsConfig} {
		if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	h.env = append(h.env, "TICK=now", "VERBATIM_SERVERS="+filepath.Join(h.dir, "servers.yaml"), "VERBATIM_PLANS="+filepath.Join(h.dir, "plans.yaml"))
	h.do("lint", "--accept")
	h.do("lint")
	h.do("migrate")
	h.do("migrate", "--administrator", "ada", "--administrator", "bo")
	h.script("ada", `system.add-principal :name "plans" :label "Plans"
system.add-principal :name "rita" :label "Rita" :as @rita
system.grant-role :principal-id @rita :role "planner"
system.grant-role :principal-id @rita :role "reader"`)
	h.script("ada", `system.grant-high-role :principal-id "plans" :role "plan-runner"`)
	s := h.serve("--log", "off")
	return h, &trustgraphtest.Client{URL: s.url, Token: h.granted("client", "rita", s.url, "")}
}

// Two agents of others answer the steps of one plan at once, and a third step uses what both
// say: where they agree it is the answer, and where they do not it stays in doubt, however sure
// each says that it is. One that doubts itself is not believed, and the other is asked. One that
// is killed meanwhile is waited for, and neither is given a task twice. Two plans of one asker
// keep apart. (T49)
func TestSeveralAgentsOnOnePlan(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts servers")
	}
	north := newAgency(t, "company == 'Slow' ? nil : company == 'Globex' ? 'B' : company == 'Initech' ? 'C' : 'AA'", "company == 'Initech' ? 0.2 : 1", "Slow")
	south := newAgency(t, "company == 'Initech' ? 'CC' : 'AA'", "1", "nobody")
	_, client := newDesk(t, map[string]*agency{"north": north, "south": south})
	asks := func(company string) string {
		return strings.Join(hears(t, trustgraph.AskFunc(client.Events), "How is "+company+" rated?"), "\n")
	}

	if got := asks("Acme"); !strings.Contains(got, "AA") || strings.Contains(got, "doubt") {
		t.Errorf("Acme: %s", got)
	}
	if got := asks("Globex"); !strings.Contains(got, "The answer to both stays in doubt") {
		t.Errorf("Globex: %s", got)
	}
	if got := asks("Initech"); !strings.Contains(got, "asked otherwise: How the agency of the south") || !strings.Contains(got, "CC") {
		t.Errorf("Initech: %s", got)
	}

	// What an agent says is a tool's word: it does not become a person's by being passed on.
	if got := strings.Join(hears(t, trustgraph.AskFunc(client.Events), "Keep how Acme is rated"), "\n"); !strings.Contains(got, "this came from the tool north.rating.rate") {
		t.Errorf("kept: %s", got)
	}

	slow := make(chan string)
	go func() { slow <- asks("Slow") }()
	other := make(chan string)
	go func() { other <- asks("Umbrella") }()
	for until := time.Now().Add(10 * time.Second); north.asked("Slow") == 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("the north was never asked")
		}
	}
	north.again()
	north.lists("clara", `rating.settle :opinion-id @slow :rating "AA"`)
	if got := <-slow; !strings.Contains(got, "AA") || strings.Contains(got, "doubt") || strings.Contains(got, "Umbrella") {
		t.Errorf("Slow: %s", got)
	}
	if got := <-other; !strings.Contains(got, "AA") || strings.Contains(got, "Slow") {
		t.Errorf("Umbrella: %s", got)
	}
	for name, a := range map[string]*agency{"north": north, "south": south} {
		for _, company := range []string{"Slow", "Umbrella"} {
			if n := a.asked(company); n != 1 {
				t.Errorf("the %s was asked %d times about %s", name, n, company)
			}
		}
	}
}

// forgetful stands before an agency and passes on all that it is asked, but loses the answers to
// so many messages.
func (a *agency) forgetful(lost int32) {
	var left atomic.Int32
	left.Store(lost)
	var door *httptest.Server
	door = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		on, err := http.NewRequestWithContext(r.Context(), r.Method, a.url+r.URL.Path, bytes.NewReader(body))
		if err != nil {
			panic(err)
		}
		on.Header = r.Header
		answer, err := http.DefaultClient.Do(on)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer answer.Body.Close()
		text, _ := io.ReadAll(answer.Body)
		if bytes.Contains(body, []byte("SendMessage")) && left.Add(-1) >= 0 {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Type", answer.Header.Get("Content-Type"))
		w.WriteHeader(answer.StatusCode)
		_, _ = w.Write(bytes.ReplaceAll(text, []byte(a.url), []byte(door.URL)))
	}))
	a.t.Cleanup(door.Close)
	a.at = door.URL
}

// An agent whose answers are lost is asked again, by the same attempt and by the next, and does
// once what it is asked: all of that is the same message to it. (T49)
func TestAnAgentWhoseAnswersAreLost(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts servers")
	}
	north, south := newAgency(t, "'AA'", "1", "nobody"), newAgency(t, "'AA'", "1", "nobody")
	north.forgetful(4) // an attempt asks three times
	_, client := newDesk(t, map[string]*agency{"north": north, "south": south})
	got := strings.Join(hears(t, trustgraph.AskFunc(client.Events), "How is Acme rated?"), "\n")
	if !strings.Contains(got, "n did not answer: rating.rate of north does not answer; it is asked again") || !strings.Contains(got, "answer rating: AA") {
		t.Errorf("%s", got)
	}
	for name, a := range map[string]*agency{"north": north, "south": south} {
		if n := a.asked("Acme"); n != 1 {
			t.Errorf("the %s was given %d tasks", name, n)
		}
	}
}

// An agent that is to change something and does not answer in time is told to take it back, and
// what became of it is unknown: nothing changes here, and it is not asked a second time. What it
// answers in time is kept, once under a key. (T49)
func TestAnAgentThatIsToChangeSomething(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts servers")
	}
	north := newAgency(t, "'AA'", "1", "Slow")
	h, _ := newDesk(t, map[string]*agency{"north": north, "south": newAgency(t, "'AA'", "1", "nobody")})
	for _, company := range []string{"Slow", "Acme"} {
		file := filepath.Join(h.dir, company+".dsl")
		if err := os.WriteFile(file, []byte(fmt.Sprintf("brief.commission :company %q\n", company)), 0o666); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			run := exec.Command(filepath.Join(h.dir, ".bin", "verbatim"), "run", "--as", "rita", "--key", company, file)
			run.Dir, run.Env = h.dir, h.env
			out, _ := run.CombinedOutput()
			want, code := "unknown[tool-unknown]: rating.rate of north was asked at", exitSystem
			if company == "Acme" {
				want, code = "applied  1 call changed 1 row", 0
			}
			if run.ProcessState.ExitCode() != code || !strings.Contains(string(out), want) {
				t.Errorf("%s: %d %s", company, run.ProcessState.ExitCode(), out)
			}
		}
	}
	opinions := north.lists("clara", "rating.opinions")
	if north.asked("Slow") != 1 || north.asked("Acme") != 1 || strings.Count(opinions, "status   WITHDRAWN") != 1 {
		t.Error(opinions)
	}
}

// The four phases of the rollout are walked by the file of flags alone, while the server runs:
// nobody but the server that developers start, half and half with both sides counted, five of
// a hundred sessions, more and more up to all; and back again at once. (T39)
func TestARolloutIsWalkedByItsFlags(t *testing.T) {
	t.Parallel()
	const config = "templates:\n  - {name: connections, asks: [\"What are the connections between {x} and {y}?\"], steps: 'graph.connections :from \"{x}\" :to \"{y}\" :as @found'}\n"
	file := filepath.Join(t.TempDir(), "plans.yaml")
	flags := func(share int, on bool) {
		text := fmt.Sprintf("%sfeature_flags: {confidence_agent_enabled: %t, confidence_agent_traffic_percentage: %d, confidence_agent_fallback_to_react: true}\n", config, on, share)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	counted := map[trustgraph.Route]int{}
	answers := func(text string) trustgraph.Agent {
		return trustgraph.AskFunc(func(_ context.Context, _ trustgraph.Caller, _ trustgraph.Request, tell func(trustgraph.Message) error) error {
			return tell(trustgraph.Message{Type: trustgraph.Answer, Content: text})
		})
	}
	flags(0, true)
	c, err := readPlans(file)
	if err != nil {
		t.Fatal(err)
	}
	p := &planning{file: file, config: c, log: slog.New(slog.DiscardHandler)}
	if p.answer, err = trustgraph.NewSwitch(answers("confidence"), answers("react"), c.Flags, func(r trustgraph.Route, _ error) { counted[r]++ }); err != nil {
		t.Fatal(err)
	}
	const sessions = 10_000
	var before map[int]bool
	for _, phase := range []struct {
		name        string
		share       int
		off         bool
		least, most int // of the sessions
	}{
		{"1 development", 0, false, 0, 0}, {"2 A/B", 50, false, 4850, 5150}, {"3 canary", 5, false, 450, 550},
		{"4 progressive", 25, false, 2350, 2650}, {"4 progressive", 60, false, 5850, 6150}, {"4 everybody", 100, false, sessions, sessions}, {"rolled back", 100, true, 0, 0},
	} {
		flags(phase.share, !phase.off)
		p.reload()
		clear(counted)
		now := map[int]bool{}
		for i := range sessions {
			_ = p.answer.Ask(t.Context(), trustgraph.Caller{Name: "ada"}, trustgraph.Request{Question: "q", SessionID: fmt.Sprint("session-", i)}, func(m trustgraph.Message) error {
				now[i] = m.Content == "confidence"
				return nil
			})
		}
		n := counted[trustgraph.ToConfidence]
		t.Logf("%s: %d of %d sessions", phase.name, n, sessions)
		if n < phase.least || n > phase.most || n+counted[trustgraph.ToReact] != sessions {
			t.Errorf("%s: %v of %d sessions", phase.name, counted, sessions)
		}
		if strings.HasPrefix(phase.name, "4") { // who had the agent keeps it
			for i := range now {
				if before[i] && !now[i] {
					t.Fatalf("%s: session %d was given back", phase.name, i)
				}
			}
		}
		before = now
	}
}

// What a phase is judged by is counted at the server that runs: routes, scores and failures.
// Its flags count within seconds, and going back needs nothing else. (T39)
func TestAServerIsRolledOutAndBack(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts a server")
	}
	config := strings.ReplaceAll(graphConfig, "  rabbitmq: {url_env: BROKER, subscription: agent, caller: ada, at_once: 4}\n", "")
	h := newGraph(t, config+"feature_flags: {confidence_agent_traffic_percentage: 0}\n")
	client := &trustgraphtest.Client{}
	client.Token = h.serves("ada")
	client.URL = h.url
	routed := func() (confidence, react int) {
		answer, err := http.Get(h.url + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			_, _ = fmt.Sscanf(line, `agent_routes_total{route="confidence"} %d`, &confidence)
			_, _ = fmt.Sscanf(line, `agent_routes_total{route="react"} %d`, &react)
		}
		return confidence, react
	}
	asks := func(n int) {
		for i := range n {
			_ = client.Events(t.Context(), trustgraph.Caller{}, trustgraph.Request{Question: "What are the connections between Entity X and Entity Y?", SessionID: fmt.Sprint("session-", i)}, func(trustgraph.Message) error { return nil })
		}
	}
	const sessions = 40
	was, and := 0, 0
	for _, share := range []string{"0", "50", "100", "100, confidence_agent_enabled: false"} {
		if err := os.WriteFile(filepath.Join(h.dir, "plans.yaml"), []byte(config+"feature_flags: {confidence_agent_traffic_percentage: "+share+"}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(watchEvery + time.Second)
		asks(sessions)
		confidence, react := routed()
		mine, theirs := confidence-was, react-and
		was, and = confidence, react
		fits := map[string]bool{"0": mine == 0, "50": mine > 10 && mine < 30, "100": mine == sessions}
		if ok, of := fits[share]; mine+theirs != sessions || of && !ok || !of && mine > 0 {
			t.Errorf("%s: %d to the agent, %d to the one before", share, mine, theirs)
		}
	}
}
