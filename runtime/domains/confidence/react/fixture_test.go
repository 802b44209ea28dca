package react

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/conversation/llm"
	"verbatim/runtime/domains/confidence/modeltest"
	"verbatim/runtime/engine"
	"verbatim/runtime/protocols/tools"
	"verbatim/stores"
	"verbatim/stores/sqlite"
	"verbatim/verbs"
	"verbatim/verbs/load"
)

var start = time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)

// Values that no model may ever be sent.
var secrets = []string{"LU28-SECRET-4711", "+352-SECRET-55", "SECRET"}

// A world is an engine with companies on SQLite, a server of tools, and a model behind HTTP.
type world struct {
	rules  []engine.StandingRule
	t      testing.TB
	reg    *verbs.Registry
	store  stores.Store
	engine *engine.Engine
	papers *papers
	model  *modeltest.Server
	client *llm.Client
	agent  Agent
	waited []time.Duration
	wrote  []llm.ToolCall // by the model itself: it may be sent that again
}

func newWorld(t testing.TB, mind func(modeltest.Request) llm.Reply, o modeltest.Options) *world {
	t.Helper()
	w := &world{t: t, papers: &papers{}}
	text, err := os.ReadFile("testdata/graph.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var ds dsl.Diagnostics
	if w.reg, ds = load.Sources(dsl.NewSource("graph.yaml", string(text))); ds.HasErrors() {
		t.Fatal(ds)
	}
	if w.store, err = sqlite.Open(filepath.Join(t.TempDir(), "graph.db")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.store.Close() })
	all := engine.Own()
	for _, e := range w.reg.Entities() {
		all = append(all, e.Store)
	}
	if _, err := w.store.Migrate(t.Context(), all, true); err != nil {
		t.Fatal(err)
	}
	for _, v := range w.reg.Verbs() { // whoever asks lets the model do all of it
		w.rules = append(w.rules, engine.StandingRule{Name: "all", Verb: v.Name, Until: stores.DateOf(start)})
	}
	if w.engine, err = engine.New(w.reg, w.store, engine.Options{Clock: func() time.Time { return start }, Tools: w.papers,
		People: engine.People{Standing: func(context.Context, stores.Reader, string) ([]engine.StandingRule, error) { return w.rules, nil }}}); err != nil {
		t.Fatal(err)
	}
	if err := w.store.SetPrincipal(t.Context(), stores.Principal{Name: "ada", Label: "Ada", Roles: []string{"analyst"}}); err != nil {
		t.Fatal(err)
	}
	w.insert("person", 1, map[string]string{"name": "Bo Berg", "phone": secrets[1], "born": "1970-05-04"})
	w.insert("person", 2, map[string]string{"name": "Mia Lund"})
	w.insert("company", 3, map[string]string{"name": "Acme Holding", "standing": "ACTIVE", "director": key(1), "account": secrets[0], "note": "Founded by Mia Lund."})
	w.insert("company", 4, map[string]string{"name": "Nord Bank", "standing": "ACTIVE", "director": key(2)})

	w.model = modeltest.New(mind, o)
	t.Cleanup(w.model.Close)
	t.Cleanup(w.keptSecrets)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	if w.client, err = llm.New(llm.Config{BaseURL: w.model.URL, Model: "test", Transport: transport, Attempts: 1, Timeout: 5 * time.Second}); err != nil {
		t.Fatal(err)
	}
	w.agent = Agent{Registry: w.reg, Model: w.client, Clock: func() time.Time { return start }, Wait: func(ctx context.Context, d time.Duration) error {
		w.waited = append(w.waited, d)
		return ctx.Err()
	}}
	return w
}

func key(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

func (w *world) insert(entity string, n int, fields map[string]string) {
	w.t.Helper()
	e := w.reg.Entity(entity).Store
	id, _ := stores.ParseUUID(key(n))
	c := stores.Change{Op: stores.Insert, Entity: e, Key: id}
	for name, text := range fields {
		i := e.FieldIndex(name)
		v, ok := stores.Parse(e.Fields[i].Kind, text)
		if !ok {
			w.t.Fatal(name, text)
		}
		c.Set = append(c.Set, stores.Assign{Field: i, Value: v})
	}
	slices.SortFunc(c.Set, func(a, b stores.Assign) int { return a.Field - b.Field })
	err := w.store.Update(w.t.Context(), stores.Scope{All: true}, func(tx stores.Tx) error {
		return tx.Apply(w.t.Context(), stores.Batch{Changes: []stores.Change{c}})
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// field is a value of a row, as the store has it.
func (w *world) field(entity string, n int, name string) (text string) {
	w.t.Helper()
	e := w.reg.Entity(entity).Store
	id, _ := stores.ParseUUID(key(n))
	err := w.store.View(w.t.Context(), stores.Scope{All: true}, func(r stores.Reader) error {
		rows, err := r.Find(w.t.Context(), stores.Find{Entity: e})
		for _, row := range rows {
			if stores.Equal(row[0], id) {
				text = row[e.FieldIndex(name)].Text()
			}
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return text
}

// keptSecrets looks into every request that the model was sent.
func (w *world) keptSecrets() {
	for _, seen := range w.model.Seen() {
		body := seen.Body
		for _, c := range w.wrote {
			own, _ := json.Marshal(c.Arguments)
			body = strings.ReplaceAll(body, string(own), "")
		}
		for _, secret := range append(slices.Clone(secrets), "00000000-0000-4000") {
			if strings.Contains(body, secret) {
				w.t.Errorf("the model was sent %q: %s", secret, seen.Body)
			}
		}
	}
}

// ask asks a question as ada, and returns what was told, a line for each message.
func (w *world) ask(question string) ([]Message, error) {
	w.t.Helper()
	session, err := w.engine.Session(w.t.Context(), "ada")
	if err != nil {
		w.t.Fatal(err)
	}
	var all []Message
	err = w.agent.Ask(w.t.Context(), session, question, func(m Message) error {
		for _, secret := range secrets {
			if strings.Contains(m.Text, secret) {
				w.t.Errorf("the asker was told %q: %s", secret, m.Text)
			}
		}
		all = append(all, m)
		return nil
	})
	return all, err
}

// must is ask for a question that is answered.
func (w *world) must(question string) []Message {
	w.t.Helper()
	all, err := w.ask(question)
	if err != nil {
		w.t.Fatalf("%v, after %s", err, lines(all))
	}
	return all
}

// wantError is ask for a question that ends with an error of a type, whose text is safe.
func (w *world) wantError(kind string) []Message {
	w.t.Helper()
	all, err := w.ask("Who directs Acme Holding?")
	var e *Error
	if !errors.As(err, &e) || e.Type != kind {
		w.t.Fatalf("the error is %v, want type %s, after %s", err, kind, lines(all))
	}
	for _, leak := range append([]string{"llm", "http", "SELECT", "00000000", "127.0.0.1"}, secrets...) {
		if e.Message == "" || strings.Contains(e.Error(), leak) {
			w.t.Errorf("the asker is told %q", e.Error())
		}
	}
	return all
}

func lines(all []Message) string {
	var b strings.Builder
	for _, m := range all {
		fmt.Fprintf(&b, "%s: %s\n", m.Type, m.Text)
	}
	return b.String()
}

func equal(t testing.TB, got []Message, want string) {
	t.Helper()
	if g, w := strings.TrimSpace(lines(got)), strings.TrimSpace(want); g != w {
		t.Errorf("told:\n%s\nwant:\n%s", g, w)
	}
}

// plays is a mind that says one reply after the other, whatever it is told; the last again and
// again. Where it stands it sees by the turns of the history, so that it is a function of the
// request.
func plays(replies ...llm.Reply) func(modeltest.Request) llm.Reply {
	return func(r modeltest.Request) llm.Reply {
		turn := 0
		for _, m := range r.Messages {
			if m.Role == llm.Assistant {
				turn++
			}
		}
		return replies[min(turn, len(replies)-1)]
	}
}

// call is a reply with a thought and one call; args is a JSON object.
func call(thought, verb, args string) llm.Reply {
	return llm.Reply{Text: thought, Calls: []llm.ToolCall{{Name: "graph__" + verb, Arguments: args}}}
}

func says(text string) llm.Reply { return llm.Reply{Text: text} }

type answer = tools.Answer

// papers are a server of tools that does what it is told, in turn.
type papers struct {
	mu     sync.Mutex
	asked  int
	answer []func(context.Context) (answer, error) // the last again and again
}

func (p *papers) Tool(_ context.Context, _, name string) (tools.Spec, error) {
	input := map[string]string{"news": "about", "report": "text"}[name]
	return tools.Spec{Input: json.RawMessage(`{"type":"object","properties":{"` + input + `":{"type":"string"}}}`), Digest: "1", Accepted: "1", Writes: name == "report"}, nil
}

func (p *papers) Call(ctx context.Context, _ tools.Call) (answer, error) {
	p.mu.Lock()
	n := min(p.asked, len(p.answer)-1)
	p.asked++
	p.mu.Unlock()
	return p.answer[n](ctx)
}

func (p *papers) says(text string) func(context.Context) (answer, error) {
	return func(context.Context) (answer, error) {
		return answer{Structured: `{"news":[{"headline":` + text + `}]}`}, nil
	}
}

func (p *papers) down(context.Context) (answer, error) {
	return answer{}, errors.New("dial tcp: refused")
}

func (p *papers) fails(context.Context) (answer, error) {
	return answer{Failed: true, Text: "out of ink"}, nil
}

func (p *papers) hangs(ctx context.Context) (answer, error) {
	ctx, stop := context.WithTimeout(ctx, 20*time.Millisecond)
	defer stop()
	<-ctx.Done()
	return answer{}, ctx.Err()
}
