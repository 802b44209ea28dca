package a2a_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"verbatim/dsl"
	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/conversation/values"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/http/a2a"
	"verbatim/runtime/frontends/http/a2a/peers"
	"verbatim/runtime/frontends/http/server"
	"verbatim/runtime/frontends/http/server/logins"
	"verbatim/runtime/jobs/notify"
	"verbatim/runtime/jobs/worker"
	"verbatim/runtime/tests/faults"
	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/sqlite"
	"verbatim/verbs"
	"verbatim/verbs/load"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// A desk is the help desk of testdata on a store, of which any number of servers run in this
// process, each with an engine of its own.
type desk struct {
	t     testing.TB
	reg   *verbs.Registry
	open  func() (stores.Store, error)
	store stores.Store
	posts a2a.Posts

	limits server.Limits

	mu     sync.Mutex
	tokens map[string]server.Token // by their digests
}

// people have tokens of their names: two guests, and a clerk.
var deskPeople = map[string]string{"acme": "guest", "other": "guest", "clara": "clerk"}

type openStore interface {
	stores.Store
	Load(context.Context, string, ...*stores.Entity) error
}

func newDesk(t testing.TB, migrate openStore, open func() (stores.Store, error)) *desk {
	t.Helper()
	reg, ds := load.Dir(os.DirFS("testdata/desk"))
	if reg == nil || len(ds) > 0 {
		t.Fatal(ds)
	}
	ctx := context.Background()
	var entities []*stores.Entity
	for _, e := range reg.Entities() {
		entities = append(entities, e.Store)
	}
	if _, err := migrate.Migrate(ctx, slices.Concat(entities, engine.Own(), logins.Own(), peers.Own()), true); err != nil {
		t.Fatal(err)
	}
	for name, role := range deskPeople {
		if err := migrate.SetPrincipal(ctx, stores.Principal{Name: name, Label: name, Roles: []string{role}}); err != nil {
			t.Fatal(err)
		}
	}
	d := &desk{t: t, reg: reg, open: open, tokens: map[string]server.Token{}}
	store, err := open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	d.store = store
	return d
}

// onDesks runs a test on each of the stores.
func onDesks(t *testing.T, test func(t *testing.T, d *desk)) {
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(t, sqliteDesk(t))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		db := pgtest.Database(t)
		owner, err := postgres.Open(context.Background(), db.Owner, postgres.AsOwner("verbatim_app"))
		if err != nil {
			t.Fatal(err)
		}
		defer owner.Close()
		test(t, newDesk(t, owner, func() (stores.Store, error) { return postgres.Open(context.Background(), db.App) }))
	})
}

func sqliteDesk(t testing.TB) *desk {
	t.Helper()
	path := filepath.Join(t.TempDir(), "desk.db")
	first, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	return newDesk(t, first, func() (stores.Store, error) { return sqlite.Open(path) })
}

// A deskServer is one process, as far as the others can tell.
type deskServer struct {
	*desk
	url    string
	engine *engine.Engine
	agents *a2a.Agents
	stop   func()
}

// understands stands for the phrases of a program.
type understands struct{}

func (understands) Interpret(_ context.Context, said string, _ dialog.Settled, _ []dialog.Spoken) (dialog.Understood, error) {
	if text, ok := strings.CutSuffix(said, " does not work"); ok {
		return dialog.Understood{Script: fmt.Sprintf("desk.report :text %q", text), Verb: "desk.report", Confidence: 1}, nil
	}
	if said == "which tickets are there" {
		return dialog.Understood{Script: "desk.tickets", Verb: "desk.tickets", Confidence: 1}, nil
	}
	return dialog.Understood{}, nil
}

func (understands) Correct(context.Context, string, *dsl.Call) (dialog.Correction, bool, error) {
	return dialog.Correction{}, false, nil
}
func (understands) Tongue(string) (values.Language, bool)              { return values.English, false }
func (understands) Shortlist(string, []*verbs.Verb, int) []*verbs.Verb { return nil }

func (d *desk) serve() *deskServer {
	d.t.Helper()
	store, err := d.open()
	if err != nil {
		d.t.Fatal(err)
	}
	eng, err := engine.New(d.reg, store, engine.Options{})
	if err != nil {
		d.t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		d.t.Fatal(err)
	}
	s := &deskServer{desk: d, url: "http://" + l.Addr().String(), engine: eng}
	limits := d.limits
	limits.Drain = time.Second
	web, err := server.New(server.Options{Registry: d.reg, Engine: eng, Store: store, URL: s.url, Limits: limits,
		Talk: func(*engine.Session) dialog.Options { return dialog.Options{Interpreter: understands{}} },
		Tokens: func(_ context.Context, digest string) (server.Token, error) {
			d.mu.Lock()
			defer d.mu.Unlock()
			if t, ok := d.tokens[digest]; ok {
				t.Audience = s.url
				return t, nil
			}
			return server.Token{}, server.ErrNobody
		}})
	if err != nil {
		d.t.Fatal(err)
	}
	agents := a2a.New(web, a2a.Options{Posts: d.posts})
	s.agents = agents
	web.Mount(agents.Routes()...)
	web.Beside(agents.Notify)
	for name := range deskPeople {
		d.grant(name, nil)
	}
	ctx, end := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = web.Run(ctx, l, nil)
	}()
	s.stop = sync.OnceFunc(func() {
		end()
		<-done
		_ = store.Close()
	})
	d.t.Cleanup(s.stop)
	return s
}

// grant makes a token of a name.
func (d *desk) grant(name string, only []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	who, _, _ := strings.Cut(name, "/")
	d.tokens[logins.Digest(name)] = server.Token{Principal: who, Expires: time.Now().Add(time.Hour), Verbs: only}
}

// does runs a script as somebody, somewhere else.
func (s *deskServer) does(who, script string) {
	s.t.Helper()
	ctx := context.Background()
	session, err := s.engine.Session(ctx, who)
	if err != nil {
		s.t.Fatal(err)
	}
	parsed, ds := dsl.Parse(dsl.NewSource("clerk", script))
	program, more := session.Check(ctx, parsed)
	if program == nil {
		s.t.Fatal(ds, more)
	}
	if _, err := session.Run(ctx, program, engine.RunOptions{}); err != nil {
		s.t.Fatal(err)
	}
}

// signsIn is the secret of a login.
func (s *deskServer) signsIn(who string) string {
	s.t.Helper()
	secret, err := (&logins.Book{Store: s.store, Clock: time.Now}).Begin(context.Background(), who, "link")
	if err != nil {
		s.t.Fatal(err)
	}
	return secret
}

// A dict is a JSON object.
type dict = map[string]any

// at walks down a JSON document: "result.task.status.state", "tasks.0".
func at(doc any, path string) any {
	for key := range strings.SplitSeq(path, ".") {
		switch in := doc.(type) {
		case dict:
			doc = in[key]
		case []any:
			var i int
			if _, err := fmt.Sscan(key, &i); err != nil || i >= len(in) {
				return nil
			}
			doc = in[i]
		default:
			return nil
		}
	}
	return doc
}

// asks sends one request as it is.
func (s *deskServer) asks(who, method, path string, headers map[string]string, body []byte) (int, string) {
	s.t.Helper()
	r, err := http.NewRequest(method, s.url+path, bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if who != "" {
		r.Header.Set("Authorization", "Bearer "+who)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("A2A-Version", "1.0")
	for name, value := range headers {
		if r.Header.Set(name, value); value == "" {
			r.Header.Del(name)
		}
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// rpc makes a call, and returns its result or its error.
func (s *deskServer) rpc(who, method string, params any) dict {
	s.t.Helper()
	body, _ := json.Marshal(dict{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	_, text := s.asks(who, "POST", "/a2a", nil, body)
	var doc dict
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		s.t.Fatalf("%s: %v\n%s", method, err, text)
	}
	return doc
}

// says is a message with parts: text is text, and anything else is data.
func says(id, task string, parts ...any) dict {
	m := dict{"messageId": id, "role": "ROLE_USER"}
	if task != "" {
		m["taskId"] = task
	}
	var all []dict
	for _, p := range parts {
		if text, ok := p.(string); ok {
			all = append(all, dict{"text": text})
		} else {
			all = append(all, dict{"data": p})
		}
	}
	m["parts"] = all
	return dict{"message": m, "configuration": dict{"returnImmediately": true}}
}

// task sends a message that comes to a task, and returns it.
func (s *deskServer) task(who string, params dict) dict {
	s.t.Helper()
	doc := s.rpc(who, "SendMessage", params)
	task, ok := at(doc, "result.task").(dict)
	if !ok {
		s.t.Fatalf("%v came to %v", params, doc)
	}
	return task
}

func state(task any) string {
	text, _ := at(task, "status.state").(string)
	return strings.TrimPrefix(text, "TASK_STATE_")
}

func name(task any) string { return "@" + at(task, "id").(string) }

// A message becomes a call and a row a task, told as it is by whatever process is asked: begun
// with one, asked about by a clerk, answered at another, finished after both have restarted.
func TestA2AOfATask(t *testing.T) {
	t.Parallel()
	onDesks(t, func(t *testing.T, d *desk) {
		one, two := d.serve(), d.serve()
		begun := one.task("acme", says("m1", "", dict{"skill": "desk.report", "arguments": dict{"text": "The printer", "pin": "4711"}}))
		id := at(begun, "id").(string)
		if !regexp.MustCompile(`^ticket~[a-z0-9]{16}$`).MatchString(id) || state(begun) != "WORKING" {
			t.Fatal(begun)
		}
		if got := fmt.Sprint(at(begun, "artifacts.0.parts.0.data.subject"), at(begun, "artifacts.0.parts.0.data.pin")); got != "The printer<nil>" {
			t.Errorf("it came to %s", got)
		}
		two.does("clara", `desk.ask :ticket-id `+name(begun)+` :text "Which one?"`)
		asked := two.rpc("acme", "GetTask", dict{"id": id})["result"]
		if state(asked) != "INPUT_REQUIRED" || at(asked, "status.message.parts.0.text") != "Which one?" || at(asked, "contextId") != at(begun, "contextId") {
			t.Fatal(asked)
		}
		one.stop()
		answered := two.task("acme", says("m2", id, "The one upstairs"))
		if state(answered) != "WORKING" || at(answered, "id") != id {
			t.Fatal(answered)
		}
		two.stop()
		three := d.serve()
		three.does("clara", `desk.solve :ticket-id `+name(begun)+` :text "It prints again"`)
		solved := three.rpc("acme", "GetTask", dict{"id": id})["result"]
		if state(solved) != "COMPLETED" || at(solved, "artifacts.0.parts.0.data.remark") != "It prints again" {
			t.Error(solved)
		}
		var history []string
		for _, m := range at(solved, "history").([]any) {
			text, _ := json.Marshal(at(m, "parts.0"))
			history = append(history, fmt.Sprint(at(m, "role"), " ", at(m, "messageId") == "m1", " ", string(text)))
		}
		want := `ROLE_USER true {"data":{"arguments":{"pin":"(withheld)","text":"The printer"},"skill":"desk.report"}}
ROLE_AGENT false {"mediaType":"text/plain","text":"Which one?"}
ROLE_USER false {"text":"The one upstairs"}`
		if got := strings.Join(history, "\n"); got != want {
			t.Errorf("its history is\n%s\nwant\n%s", got, want)
		}
		if got := three.rpc("acme", "GetTask", dict{"id": id, "historyLength": 1})["result"]; len(at(got, "history").([]any)) != 1 {
			t.Error(got)
		}
		if got := three.rpc("acme", "GetTask", dict{"id": id, "historyLength": 0})["result"]; at(got, "history") != nil {
			t.Error(got)
		}
	})
}

// The same messageId is answered with the same task and has one effect, at whichever server;
// another message under it is refused.
func TestA2ARepeatsWithoutASecondEffect(t *testing.T) {
	t.Parallel()
	onDesks(t, func(t *testing.T, d *desk) {
		one, two := d.serve(), d.serve()
		message := says("m1", "", "The lamp flickers")
		ids := make([]any, 8)
		var all sync.WaitGroup
		for i := range ids {
			all.Go(func() {
				s := one
				if i%2 == 1 {
					s = two
				}
				ids[i] = at(s.rpc("acme", "SendMessage", message), "result.task.id")
			})
		}
		all.Wait()
		for _, id := range ids {
			if id != ids[0] || id == nil {
				t.Fatal(ids)
			}
		}
		one.does("clara", `desk.ask :ticket-id @`+ids[0].(string)+` :text "Which?"`)
		answer := says("m2", ids[0].(string), "The red one")
		one.task("acme", answer)
		one.does("clara", `desk.solve :ticket-id @`+ids[0].(string)+` :text "Done"`)
		if again := two.task("acme", answer); state(again) != "COMPLETED" || at(again, "id") != ids[0] {
			t.Error(again)
		}
		if doc := two.rpc("acme", "SendMessage", says("m1", "", "Another")); at(doc, "error.code") != -32602.0 {
			t.Error(doc)
		}
		// Of somebody else it is another message.
		if other := two.task("other", message); at(other, "id") == ids[0] {
			t.Error(other)
		}
		if list := two.rpc("acme", "ListTasks", dict{}); at(list, "result.totalSize") != 1.0 {
			t.Error(list)
		}
	})
}

// What a message may be: values without a verb, a script, a phrase, words that mean nothing
// else, and what comes to no task.
func TestA2AOfMessages(t *testing.T) {
	t.Parallel()
	s := sqliteDesk(t).serve()
	subject := func(task dict) any { return at(task, "artifacts.0.parts.0.data.subject") }
	for i, c := range []struct {
		part any
		want string
	}{
		{dict{"arguments": dict{"text": "A"}}, "A"},
		{dict{"verb": "desk.report", "arguments": dict{"text": "B"}}, "B"},
		{`desk.report :text "C" :pin "4711"`, "C"},
		{"The door does not work", "The door"},
		{"Help!", "Help!"},
		{`desk.report :text "C`, `desk.report :text "C`},
		{"desk.nothing :text 1", "desk.nothing :text 1"},
	} {
		task := s.task("acme", says(fmt.Sprint("t", i), "", c.part))
		if subject(task) != c.want || state(task) != "WORKING" {
			t.Errorf("%v came to %v", c.part, task)
		}
		if text, _ := json.Marshal(task); bytes.Contains(text, []byte("4711")) {
			t.Errorf("it tells what is sensitive: %s", text)
		}
	}
	for i, c := range []struct {
		part any
		want string
	}{
		{"which tickets are there", `"verb":"desk.tickets"`},
		{dict{"verb": "desk.tickets"}, `"subject"`},
		{dict{"arguments": dict{"text": "nonsense"}}, `the desk looks after machines alone`},
		{dict{"verb": "desk.replace", "arguments": dict{"text": "The car"}}, `You have to agree first: it costs money`},
		{dict{"verb": "desk.visit"}, `"outcome":"waiting"`},
	} {
		doc := s.rpc("acme", "SendMessage", says(fmt.Sprint("m", i), "", c.part))
		if text, _ := json.Marshal(at(doc, "result.message")); at(doc, "result.message.role") != "ROLE_AGENT" || !strings.Contains(string(text), c.want) {
			t.Errorf("%v came to %v", c.part, doc)
		}
	}
	// Of words with something sensitive in them, the history keeps the call without it.
	script := s.task("acme", says("h1", "", `desk.report :text "D" :pin "4711"`))
	if got := at(s.rpc("acme", "GetTask", dict{"id": at(script, "id")}), "result.history.0.parts.0.text"); got != `desk.report :text "D" :pin "(withheld)"` {
		t.Error(got)
	}
	// A preview that the caller agrees to is done.
	doc := s.rpc("acme", "SendMessage", says("r1", "", dict{"verb": "desk.replace", "arguments": dict{"text": "The car"}}))
	preview, _ := at(doc, "result.message.parts.1.data.preview.id").(string)
	agreed := says("r2", "", dict{"verb": "desk.replace", "arguments": dict{"text": "The car"}, "agreed": preview})
	agreed["message"].(dict)["contextId"] = at(doc, "result.message.contextId")
	if done := s.task("acme", agreed); subject(done) != "The car" {
		t.Error(done)
	}
	for i, c := range []struct {
		params dict
		code   float64
	}{
		{says("e1", "", dict{"verb": "desk.report", "arguments": dict{}}), -32602},
		{says("e2", "", dict{"verb": "desk.report", "arguments": dict{"text": "x", "color": "red"}}), -32602},
		{says("e3", "", dict{"verb": "desk.solve", "arguments": dict{"text": "x"}}), -32602},
		{says("e4", "", dict{"anything": 1}), -32602},
		{says("e5", "", []int{1}), -32602},
		{dict{"message": dict{"messageId": "e6", "role": "ROLE_USER", "parts": []dict{{"raw": "AA=="}}}}, -32005},
		{dict{"message": dict{"messageId": "e7", "role": "ROLE_USER", "parts": []dict{{"url": "https://acme.example/x.pdf"}}}}, -32005},
		{dict{"message": dict{"messageId": "e8", "role": "ROLE_USER", "contextId": "a\u0007b", "parts": []dict{{"text": "x"}}}}, -32602},
	} {
		if doc := s.rpc("acme", "SendMessage", c.params); at(doc, "error.code") != c.code {
			t.Errorf("%d: %v", i, doc)
		}
	}
}

// What somebody else has to agree to first is a task that says so, also where nothing is there
// yet; the name under which it was asked for is the task's for ever.
func TestA2AWaitsForTheAgreementOfOthers(t *testing.T) {
	t.Parallel()
	onDesks(t, func(t *testing.T, d *desk) {
		s := d.serve()
		clerk := func() *engine.Session {
			session, err := s.engine.Session(context.Background(), "clara")
			if err != nil {
				t.Fatal(err)
			}
			return session
		}
		urgent := func(id, text string) dict {
			return s.task("acme", says(id, "", dict{"verb": "desk.report", "arguments": dict{"text": text, "urgent": true}}))
		}
		asked := urgent("m1", "The server")
		id, _ := at(asked, "id").(string)
		if state(asked) != "AUTH_REQUIRED" || !strings.HasPrefix(id, "ask~") || !strings.Contains(fmt.Sprint(at(asked, "status.message")), "clerk") {
			t.Fatal(asked)
		}
		if list := s.rpc("acme", "ListTasks", dict{"status": "TASK_STATE_AUTH_REQUIRED"}); at(list, "result.tasks.0.id") != id || at(list, "result.tasks.0.contextId") != at(asked, "contextId") {
			t.Error(list)
		}
		if again := urgent("m1", "The server"); at(again, "id") != id {
			t.Error(again)
		}
		if doc := s.rpc("other", "GetTask", dict{"id": id}); at(doc, "error.code") != -32001.0 {
			t.Error(doc)
		}
		if doc := s.rpc("acme", "CancelTask", dict{"id": id}); at(doc, "error.code") != -32002.0 {
			t.Error(doc)
		}
		if doc := s.rpc("acme", "SendMessage", says("m9", id, "hurry")); at(doc, "error.code") != -32004.0 {
			t.Error(doc)
		}
		if _, _, err := clerk().Agree(context.Background(), strings.TrimPrefix(id, "ask~")); err != nil {
			t.Fatal(err)
		}
		begun := s.rpc("acme", "GetTask", dict{"id": id})["result"]
		if state(begun) != "WORKING" || at(begun, "id") != id || at(begun, "contextId") != at(asked, "contextId") || len(at(begun, "history").([]any)) != 1 {
			t.Error(begun)
		}
		list := s.rpc("acme", "ListTasks", dict{"contextId": at(asked, "contextId")})
		row, _ := at(list, "result.tasks.0.id").(string)
		if !strings.HasPrefix(row, "ticket~") {
			t.Fatal(list)
		}
		// About a task that is there, it is the task that waits.
		if waits := s.task("acme", says("m2", id, dict{"verb": "desk.answer", "arguments": dict{"text": "Now!", "insist": true}})); state(waits) != "AUTH_REQUIRED" || at(waits, "id") != id {
			t.Error(waits)
		}
		if waits := s.rpc("acme", "GetTask", dict{"id": row})["result"]; state(waits) != "AUTH_REQUIRED" {
			t.Error(waits)
		}
		refused := urgent("m3", "The coffee machine")
		if err := clerk().Decline(context.Background(), strings.TrimPrefix(at(refused, "id").(string), "ask~"), "not at night"); err != nil {
			t.Fatal(err)
		}
		if told := s.rpc("acme", "GetTask", dict{"id": at(refused, "id")})["result"]; state(told) != "REJECTED" || at(told, "status.message.parts.0.text") != "not at night" {
			t.Error(told)
		}
	})
}

// A task of another principal is answered exactly as one that does not exist, by every method
// of both bindings.
func TestA2AOfSomebodyElsesTask(t *testing.T) {
	t.Parallel()
	s := sqliteDesk(t).serve()
	mine := at(s.task("acme", says("m1", "", "The printer")), "id").(string)
	none := mine[:len(mine)-3] + "zzz"
	push := func(id string) dict { return dict{"taskId": id, "id": "p", "url": "https://acme.example/in"} }
	for _, c := range []struct {
		method string
		params func(id string) any
	}{
		{"GetTask", func(id string) any { return dict{"id": id} }},
		{"CancelTask", func(id string) any { return dict{"id": id} }},
		{"SubscribeToTask", func(id string) any { return dict{"id": id} }},
		{"SendMessage", func(id string) any { return says("x"+id[len(id)-3:], id, "hello") }},
		{"SendStreamingMessage", func(id string) any { return says("y"+id[len(id)-3:], id, "hello") }},
		{"CreateTaskPushNotificationConfig", func(id string) any { return push(id) }},
		{"GetTaskPushNotificationConfig", func(id string) any { return dict{"taskId": id, "id": "p"} }},
		{"ListTaskPushNotificationConfigs", func(id string) any { return dict{"taskId": id} }},
		{"DeleteTaskPushNotificationConfig", func(id string) any { return dict{"taskId": id, "id": "p"} }},
	} {
		theirs, nobodys := s.rpc("other", c.method, c.params(mine)), s.rpc("other", c.method, c.params(none))
		if at(theirs, "error.code") != -32001.0 || fmt.Sprint(theirs) != fmt.Sprint(nobodys) {
			t.Errorf("%s: of somebody else %v, of nobody %v", c.method, theirs, nobodys)
		}
	}
	for _, path := range []string{"GET /a2a/tasks/ID", "POST /a2a/tasks/ID:cancel", "GET /a2a/tasks/ID:subscribe", "GET /a2a/tasks/ID/pushNotificationConfigs", "DELETE /a2a/tasks/ID/pushNotificationConfigs/p"} {
		method, path, _ := strings.Cut(path, " ")
		status, theirs := s.asks("other", method, strings.Replace(path, "ID", mine, 1), nil, nil)
		also, nobodys := s.asks("other", method, strings.Replace(path, "ID", none, 1), nil, nil)
		if status != 404 || also != 404 || theirs != nobodys || !strings.Contains(theirs, "TASK_NOT_FOUND") {
			t.Errorf("%s: %d %s, %d %s", path, status, theirs, also, nobodys)
		}
	}
	if list := s.rpc("other", "ListTasks", dict{}); at(list, "result.totalSize") != 0.0 {
		t.Error(list)
	}
	// A token for some verbs does no more by this door than by the others.
	s.grant("acme/reads", []string{"desk.ticket", "desk.tickets"})
	if got := s.rpc("acme/reads", "GetTask", dict{"id": mine}); state(got["result"]) != "WORKING" {
		t.Error(got)
	}
	if got := s.rpc("acme/reads", "SendMessage", says("n1", "", dict{"verb": "desk.report", "arguments": dict{"text": "x"}})); at(got, "error.code") != -32602.0 {
		t.Error(got)
	}
	s.grant("acme/begins", []string{"desk.report"})
	if got := s.rpc("acme/begins", "SendMessage", says("n2", "", "The door")); at(got, "result.message.parts.0.data.outcome") != "done" {
		t.Error(got)
	}
	if got := s.rpc("acme/reads", "CancelTask", dict{"id": mine}); at(got, "error.code") != -32002.0 {
		t.Error(got)
	}
	if got := s.rpc("acme/reads", "GetExtendedAgentCard", dict{}); len(at(got, "result.skills").([]any)) != 0 {
		t.Error(got)
	}
}

// Tasks are listed a page at a time, by state, by context and by when they changed.
func TestA2AListsTasks(t *testing.T) {
	t.Parallel()
	onDesks(t, func(t *testing.T, d *desk) {
		s := d.serve()
		var ids []string
		for i := range 7 {
			m := says(fmt.Sprint("m", i), "", fmt.Sprint("Machine ", i))
			m["message"].(dict)["contextId"] = fmt.Sprint("shop ", i%2)
			ids = append(ids, at(s.task("acme", m), "id").(string))
		}
		s.does("clara", "desk.solve :ticket-id @"+ids[2]+` :text "x"`)
		// A row that another program wrote has no name yet, and is a task all the same.
		key, _ := stores.ParseUUID("00000000-0000-4000-8000-000000000001")
		ticket := d.reg.Entity("ticket").Store
		row := stores.Change{Op: stores.Insert, Entity: ticket, Key: key}
		for name, value := range map[string]stores.Value{"owner": stores.NewString("acme"), "subject": stores.NewString("Written"), "status": stores.NewString("OPEN"), "changed": stores.NewTime(time.Now())} {
			row.Set = append(row.Set, stores.Assign{Field: ticket.FieldIndex(name), Value: value})
		}
		slices.SortFunc(row.Set, func(a, b stores.Assign) int { return a.Field - b.Field })
		if err := d.store.Update(context.Background(), stores.Scope{Principal: "other program", All: true}, func(tx stores.Tx) error {
			return tx.Apply(context.Background(), stores.Batch{Changes: []stores.Change{row}})
		}); err != nil {
			t.Fatal(err)
		}
		var found []string
		token := ""
		for range 5 {
			page := s.rpc("acme", "ListTasks", dict{"pageSize": 3, "pageToken": token, "includeArtifacts": true})["result"]
			if at(page, "totalSize") != 8.0 {
				t.Fatal(page)
			}
			for _, task := range at(page, "tasks").([]any) {
				if found = append(found, at(task, "id").(string)); at(task, "artifacts.0") == nil || at(task, "history") != nil {
					t.Error(task)
				}
			}
			if token, _ = at(page, "nextPageToken").(string); token == "" {
				break
			}
		}
		found = slices.DeleteFunc(found, func(id string) bool {
			return at(s.rpc("acme", "GetTask", dict{"id": id}), "result.artifacts.0.parts.0.data.subject") == "Written"
		})
		slices.Sort(found)
		slices.Sort(ids)
		if !slices.Equal(found, ids) {
			t.Errorf("found %v, there are %v", found, ids)
		}
		count := func(params dict) any { return at(s.rpc("acme", "ListTasks", params), "result.totalSize") }
		if n := count(dict{"status": "TASK_STATE_COMPLETED"}); n != 1.0 {
			t.Error(n)
		}
		if n := count(dict{"contextId": "shop 0"}); n != 4.0 {
			t.Error(n)
		}
		if n := count(dict{"statusTimestampAfter": time.Now().Add(time.Hour).Format(time.RFC3339)}); n != 0.0 {
			t.Error(n)
		}
		if doc := s.rpc("acme", "ListTasks", dict{"pageToken": "ticket~zzz"}); at(doc, "error.code") != -32602.0 {
			t.Error(doc)
		}
	})
}

// A task is canceled by the verb of the palette, where its rules let it.
func TestA2ACancels(t *testing.T) {
	t.Parallel()
	s := sqliteDesk(t).serve()
	one, two := s.task("acme", says("m1", "", "One")), s.task("acme", says("m2", "", "Two"))
	if done := s.rpc("acme", "CancelTask", dict{"id": at(one, "id")}); state(done["result"]) != "CANCELED" {
		t.Error(done)
	}
	if again := s.rpc("acme", "CancelTask", dict{"id": at(one, "id")}); at(again, "error.code") != -32002.0 {
		t.Error(again)
	}
	s.does("clara", "desk.note :ticket-id "+name(two)+` :text "too late"`)
	if no := s.rpc("acme", "CancelTask", dict{"id": at(two, "id")}); at(no, "error.code") != -32002.0 || at(no, "error.message") != "somebody is on their way" {
		t.Error(no)
	}
	for _, method := range []string{"SendMessage", "SubscribeToTask"} {
		params := any(dict{"id": at(one, "id")})
		if method == "SendMessage" {
			params = says("m3", at(one, "id").(string), "Still?")
		}
		if no := s.rpc("acme", method, params); at(no, "error.code") != -32004.0 {
			t.Errorf("%s of a task that ended: %v", method, no)
		}
	}
}

// events reads a stream: each event, until it ends.
func (s *deskServer) events(who, method string, params any) (<-chan dict, func()) {
	s.t.Helper()
	body, _ := json.Marshal(dict{"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
	ctx, stop := context.WithCancel(context.Background())
	r, _ := http.NewRequestWithContext(ctx, "POST", s.url+"/a2a", bytes.NewReader(body))
	for name, value := range map[string]string{"Authorization": "Bearer " + who, "Content-Type": "application/json", "A2A-Version": "1.0", "Accept": "text/event-stream"} {
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	if kind := answer.Header.Get("Content-Type"); kind != "text/event-stream" {
		s.t.Fatal(answer.Status, kind)
	}
	all := make(chan dict, 100)
	go func() {
		defer close(all)
		defer answer.Body.Close()
		lines := bufio.NewScanner(answer.Body)
		for lines.Scan() {
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				var e dict
				_ = json.Unmarshal([]byte(text), &e)
				all <- e
			}
		}
	}()
	s.t.Cleanup(stop)
	return all, stop
}

func next(t *testing.T, events <-chan dict) dict {
	t.Helper()
	select {
	case e, ok := <-events:
		if !ok {
			t.Fatal("the stream ended")
		}
		return e
	case <-time.After(5 * time.Second):
		t.Fatal("nothing comes")
	}
	return nil
}

// A stream tells a task and what becomes of it, by whichever process; it ends where the task
// pauses or ends, and whoever was cut off subscribes again.
func TestA2AStreams(t *testing.T) {
	t.Parallel()
	onDesks(t, func(t *testing.T, d *desk) {
		one, two := d.serve(), d.serve()
		events, cut := one.events("acme", "SendStreamingMessage", says("m1", "", "The printer"))
		begun := at(next(t, events), "result.task")
		if state(begun) != "WORKING" {
			t.Fatal(begun)
		}
		two.does("clara", "desk.note :ticket-id "+name(begun)+` :text "We look"`)
		if e := next(t, events); at(e, "result.artifactUpdate.artifact.parts.0.data.remark") != "We look" || at(e, "id") != 7.0 {
			t.Error(e)
		}
		if e := next(t, events); at(e, "result.statusUpdate.status.message.parts.0.text") != "We look" {
			t.Error(e)
		}
		cut()
		again, _ := two.events("acme", "SubscribeToTask", dict{"id": at(begun, "id")})
		if e := next(t, again); state(at(e, "result.task")) != "WORKING" {
			t.Error(e)
		}
		one.does("clara", "desk.ask :ticket-id "+name(begun)+` :text "Which?"`)
		next(t, again) // the artifact
		if e := next(t, again); state(at(e, "result.statusUpdate")) != "INPUT_REQUIRED" {
			t.Error(e)
		}
		select {
		case e, open := <-again:
			if open {
				t.Error("it goes on after the task has paused", e)
			}
		case <-time.After(5 * time.Second):
			t.Error("it does not end where the task pauses")
		}
		// A stream of what is no task has one event.
		tickets, _ := two.events("acme", "SendStreamingMessage", says("m2", "", dict{"verb": "desk.tickets"}))
		if e := next(t, tickets); at(e, "result.message.role") != "ROLE_AGENT" {
			t.Error(e)
		}
		// Who waits is answered as soon as the task pauses or ends.
		waits := says("m3", at(begun, "id").(string), "That one")
		waits["configuration"] = dict{}
		go func() {
			for range 100 {
				time.Sleep(20 * time.Millisecond)
				if state(one.rpc("acme", "GetTask", dict{"id": at(begun, "id")})["result"]) == "WORKING" {
					break
				}
			}
			one.does("clara", "desk.solve :ticket-id "+name(begun)+` :text "Done"`)
		}()
		if done := two.task("acme", waits); state(done) != "COMPLETED" {
			t.Error(done)
		}
		// A server that ends sends its listeners away, to come back to another.
		last, _ := two.events("acme", "SendStreamingMessage", says("m4", "", "The door"))
		next(t, last)
		began := time.Now()
		two.stop()
		for range last {
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("it took %s to end", took)
		}
	})
}

// G20: a peer whose token is taken back hears nothing more of a task that it follows.
func TestA2AStreamEndsWithItsToken(t *testing.T) {
	t.Parallel()
	d := sqliteDesk(t)
	s, other := d.serve(), d.serve()
	events, _ := s.events("acme", "SendStreamingMessage", says("m1", "", dict{"skill": "desk.report", "arguments": dict{"text": "The printer", "pin": "4711"}}))
	first := <-events
	d.mu.Lock()
	clear(d.tokens)
	d.mu.Unlock()
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		status, _ := s.asks("acme", "GET", "/a2a/tasks", nil, nil)
		if status == http.StatusUnauthorized {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the token is known for longer than a second")
		}
	}
	other.does("clara", "desk.solve :ticket-id "+name(at(first, "result.task"))+` :text "Done"`)
	for e := range events {
		t.Errorf("it is told %v", e)
	}
}

// What cannot be read is refused with the code of the protocol, and nothing is done.
func TestA2ARefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	s := sqliteDesk(t).serve()
	for _, c := range []struct {
		body    string
		headers map[string]string
		code    float64
	}{
		{`{`, nil, -32700},
		{`"text"`, nil, -32600},
		{`[{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}]`, nil, -32600},
		{`{"jsonrpc":"1.0","id":1,"method":"GetTask"}`, nil, -32600},
		{`{"jsonrpc":"2.0","method":"GetTask","params":{"id":"x"}}`, nil, -32600},
		{`{"jsonrpc":"2.0","id":{},"method":"GetTask","params":{"id":"x"}}`, nil, -32600},
		{`{"jsonrpc":"2.0","id":1.5,"method":"GetTask","params":{"id":"x"}}`, nil, -32600},
		{`{"jsonrpc":"2.0","id":1,"method":"message/send","params":{}}`, nil, -32601},
		{`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":["x"]}`, nil, -32602},
		{`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x","name":"y"}}`, nil, -32602},
		{`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x","id":"y"}}`, nil, -32700},
		{`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}`, map[string]string{"A2A-Version": ""}, -32009},
		{`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}`, map[string]string{"A2A-Version": "0.3"}, -32009},
		{`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}`, map[string]string{"Content-Type": "text/plain"}, -32005},
		{`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}`, map[string]string{"A2A-Extensions": "https://acme.example/any"}, -32001},
		{`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"ticket~"}}`, nil, -32001},
		{`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"x"}]}}}`, nil, -32602},
		{`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x","url":"y"}]}}}`, nil, -32602},
		{`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]},"configuration":{"acceptedOutputModes":["image/png"]}}}`, nil, -32005},
	} {
		status, text := s.asks("acme", "POST", "/a2a", c.headers, []byte(c.body))
		var doc dict
		if err := json.Unmarshal([]byte(text), &doc); err != nil || status != 200 || at(doc, "error.code") != c.code || at(doc, "error.data.0.domain") != "a2a-protocol.org" {
			t.Errorf("%s: %d %s, want %v", c.body, status, text, c.code)
		}
	}
	if status, text := s.asks("nobody", "POST", "/a2a", nil, []byte(`{"jsonrpc":"2.0","id":1,"method":"ListTasks"}`)); status != 401 || !strings.Contains(text, `"jsonrpc"`) {
		t.Error(status, text)
	}
	// A person's login opens this door to nobody.
	if status, text := s.asks("", "GET", "/a2a/tasks", map[string]string{"Cookie": "verbatim=" + s.signsIn("acme")}, nil); status != 401 || !strings.Contains(text, "no token") {
		t.Error(status, text)
	}
	if status, text := s.asks("", "GET", "/a2a/tasks", nil, nil); status != 401 || !strings.Contains(text, "UNAUTHENTICATED") {
		t.Error(status, text)
	}
	if status, text := s.asks("acme", "POST", "/a2a", nil, bytes.Repeat([]byte(" "), 2<<20)); status != 413 || !strings.Contains(text, `"jsonrpc"`) {
		t.Error(status, text)
	}
	if status, text := s.asks("acme", "GET", "/a2a/elsewhere", nil, nil); status != 404 || !strings.Contains(text, "METHOD_NOT_FOUND") {
		t.Error(status, text)
	}
	if list := s.rpc("acme", "ListTasks", dict{}); at(list, "result.totalSize") != 0.0 {
		t.Error(list)
	}
	if status, text := s.asks("", "GET", "/.well-known/agent-card.json", nil, nil); status != 200 || !strings.Contains(text, `"id":"desk.report"`) {
		t.Error(status, text)
	}
}

// A notification leaves once for each change, whichever server notices it, with what its
// receiver wants to see; it stops with the token of whoever asked for it.
func TestA2ATellsElsewhere(t *testing.T) {
	t.Parallel()
	onDesks(t, func(t *testing.T, d *desk) {
		d.posts = a2a.PostPrivate
		type posted struct {
			header http.Header
			body   dict
			text   []byte
		}
		come := make(chan posted, 100)
		failing := true // the first answer is lost: it is sent again, under the same id
		receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var body dict
			text, _ := io.ReadAll(r.Body)
			_ = json.Unmarshal(text, &body)
			come <- posted{r.Header, body, text}
			if failing {
				failing = false
				w.WriteHeader(http.StatusInternalServerError)
			}
		}))
		defer receiver.Close()
		one, two := d.serve(), d.serve()
		poster := notify.NewPoster(true)
		worker := &worker.Worker{Engine: one.engine, Store: d.store, Name: "w", Poll: 10 * time.Millisecond, Send: func(ctx context.Context, m engine.Message) error {
			p, err := a2a.PostingOf(ctx, &peers.Book{Store: d.store, Clock: time.Now}, m)
			if err != nil || p == nil {
				return err
			}
			err = poster.Post(ctx, p.ID, p.URL, p.Headers, p.Body)
			if err != nil { // at once, and not after five seconds
				err = poster.Post(ctx, p.ID, p.URL, p.Headers, p.Body)
			}
			return err
		}}
		ctx, stop := context.WithCancel(context.Background())
		worked := make(chan error, 1)
		go func() { worked <- worker.Run(ctx) }()
		defer func() { stop(); <-worked }()
		get := func() posted {
			t.Helper()
			select {
			case p := <-come:
				return p
			case <-time.After(10 * time.Second):
				t.Fatal("nothing was posted")
			}
			return posted{}
		}
		// Each is signed by a key that either server publishes, over these very bytes.
		keys := oidc.NewRemoteKeySet(context.Background(), two.url+"/.well-known/jwks.json")
		signed := func(p posted, header string) (claims dict) {
			t.Helper()
			token := strings.TrimPrefix(p.header.Get(header), "Bearer ")
			payload, err := keys.VerifySignature(context.Background(), token)
			if err != nil {
				t.Fatalf("%v: %q", err, token)
			}
			if err := json.Unmarshal(payload, &claims); err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256(p.text)
			if claims["iss"] != one.url && claims["iss"] != two.url || claims["aud"] != receiver.URL || claims["jti"] != p.header.Get("Webhook-Id") || claims["taskId"] != at(p.body, "task.id") ||
				claims["request_body_sha256"] != hex.EncodeToString(sum[:]) || claims["exp"].(float64)-claims["iat"].(float64) != 300 {
				t.Errorf("%v", claims)
			}
			parts := strings.Split(token, ".")
			for _, forged := range []string{parts[0] + "." + parts[1] + ".", parts[0] + ".e30." + parts[2], "eyJhbGciOiJub25lIn0." + parts[1] + "." + parts[2]} {
				if _, err := keys.VerifySignature(context.Background(), forged); err == nil {
					t.Errorf("%s is taken", forged)
				}
			}
			return claims
		}
		message := says("m1", "", "The printer")
		message["configuration"] = dict{"returnImmediately": true, "taskPushNotificationConfig": dict{"url": receiver.URL, "token": "tok-1"}}
		task := one.task("acme", message)
		id := at(task, "id")
		two.does("clara", "desk.ask :ticket-id "+name(task)+` :text "Which?"`)
		first := get()
		if state(at(first.body, "task")) != "INPUT_REQUIRED" || first.header.Get("X-A2A-Notification-Token") != "tok-1" || first.header.Get("Content-Type") != "application/a2a+json" {
			t.Error(first)
		}
		signed(first, "Authorization")
		if again := get(); again.header.Get("Webhook-Id") != first.header.Get("Webhook-Id") || first.header.Get("Webhook-Id") == "" {
			t.Error(again)
		}
		configs := one.rpc("acme", "ListTaskPushNotificationConfigs", dict{"taskId": id})
		config, _ := at(configs, "result.configs.0.id").(string)
		if text, _ := json.Marshal(configs); config == "" || strings.Contains(string(text), "tok-1") {
			t.Error(configs)
		}
		if doc := one.rpc("acme", "DeleteTaskPushNotificationConfig", dict{"taskId": id, "id": config}); doc["error"] != nil {
			t.Error(doc)
		}
		made := one.rpc("acme", "CreateTaskPushNotificationConfig", dict{"taskId": id, "id": "mine", "url": receiver.URL, "token": "unused", "authentication": dict{"scheme": "Bearer", "credentials": "sesame"}})
		if at(made, "result.id") != "mine" {
			t.Error(made)
		}
		if got := two.rpc("acme", "GetTaskPushNotificationConfig", dict{"taskId": id, "id": "mine"}); at(got, "result.url") != receiver.URL {
			t.Error(got)
		}
		one.does("clara", "desk.solve :ticket-id "+name(task)+` :text "It prints"`)
		if last := get(); state(at(last.body, "task")) != "COMPLETED" || last.header.Get("Authorization") != "Bearer sesame" || last.header.Get("X-A2A-Notification-Token") != "" {
			t.Error(last)
		} else {
			signed(last, a2a.HeaderSigned)
		}
		// Nobody is told anything by a token that was taken back.
		d.grant("acme/short", nil)
		second := one.task("acme/short", says("m2", "", "The door"))
		one.rpc("acme/short", "CreateTaskPushNotificationConfig", dict{"taskId": at(second, "id"), "url": receiver.URL})
		d.mu.Lock()
		delete(d.tokens, logins.Digest("acme/short"))
		d.mu.Unlock()
		one.does("clara", "desk.solve :ticket-id "+name(second)+` :text "It opens"`)
		for range 100 {
			if left := one.rpc("acme", "ListTaskPushNotificationConfigs", dict{"taskId": at(second, "id")}); len(at(left, "result.configs").([]any)) == 0 {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		select {
		case p := <-come:
			t.Error("it is told all the same", p)
		default:
		}
	})
}

// G16, G81: a subscription ends by a certain no alone, whichever call of the store fails while it is looked
// up, and however.
func TestA2AKeepsWhatItCannotLookUp(t *testing.T) {
	t.Parallel()
	d := sqliteDesk(t)
	d.posts = a2a.PostPrivate
	open := d.open
	var failing *faults.Store
	d.open = func() (stores.Store, error) {
		s, err := open()
		failing = faults.New(s)
		return failing, err
	}
	s := d.serve()
	task := s.task("acme", says("m1", "", dict{"skill": "desk.report", "arguments": dict{"text": "The printer", "pin": "4711"}}))
	doc := s.rpc("acme", "CreateTaskPushNotificationConfig", dict{"taskId": task["id"], "id": "p", "url": "http://127.0.0.1:1/"})
	if doc["error"] != nil {
		t.Fatal(doc)
	}
	kept := func() int {
		all, err := (&peers.Book{Store: d.store, Clock: time.Now}).Pushes(t.Context(), "acme", task["id"].(string))
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	if kept() != 1 {
		t.Fatal("there is no subscription")
	}
	tried := 0
	for way := range faults.Slow + 1 {
		for n := 1; n < 60; n++ {
			failing.Fail(way, n, 1)
			err := s.agents.Noticed(t.Context())
			calls := failing.Calls()
			failing.Fail(way, 0, 0)
			if kept() != 1 {
				t.Fatalf("the subscription is gone after call %d failed (%v): %v", n, way, err)
			}
			if tried++; calls < n {
				break
			}
		}
	}
	if tried < 30 {
		t.Errorf("only %d failures were tried", tried)
	}
	d.mu.Lock()
	clear(d.tokens)
	d.mu.Unlock()
	if err := s.agents.Noticed(t.Context()); err != nil || kept() != 0 {
		t.Errorf("the subscription of a token that is certainly gone stays: %v", err)
	}
}

// Where nothing is posted, and to addresses that are no place for it, the card and the calls
// say so.
func TestA2ATellsNobody(t *testing.T) {
	t.Parallel()
	d := sqliteDesk(t)
	s := d.serve()
	task := s.task("acme", says("m1", "", "The printer"))
	for _, url := range []string{"http://acme.example/in", "ftp://acme.example", "https://", "https://user:secret@acme.example/"} {
		if doc := s.rpc("acme", "CreateTaskPushNotificationConfig", dict{"taskId": at(task, "id"), "url": url}); at(doc, "error.code") != -32602.0 {
			t.Error(url, doc)
		}
	}
	for i := range peers.MostPushes + 1 {
		doc := s.rpc("acme", "CreateTaskPushNotificationConfig", dict{"taskId": at(task, "id"), "id": fmt.Sprint(i), "url": "https://acme.example/in"})
		if (doc["error"] == nil) != (i < peers.MostPushes) {
			t.Error(i, doc)
		}
	}
	d.posts = a2a.PostNone
	off := d.serve()
	if _, text := off.asks("", "GET", "/.well-known/jwks.json", nil, nil); text != `{"keys":[]}`+"\n" {
		t.Errorf("%q", text)
	}
	if _, text := off.asks("", "GET", "/.well-known/agent-card.json", nil, nil); !strings.Contains(text, `"pushNotifications":false`) {
		t.Error(text)
	}
	for _, method := range []string{"CreateTaskPushNotificationConfig", "GetTaskPushNotificationConfig", "ListTaskPushNotificationConfigs", "DeleteTaskPushNotificationConfig"} {
		params := dict{"taskId": at(task, "id"), "id": "1"}
		if method[0] == 'C' {
			params["url"] = "https://acme.example/in"
		}
		if method[0] == 'L' {
			delete(params, "id")
		}
		if doc := off.rpc("acme", method, params); at(doc, "error.code") != -32003.0 {
			t.Error(method, doc)
		}
	}
	message := says("m2", "", "Another")
	message["configuration"] = dict{"taskPushNotificationConfig": dict{"url": "https://acme.example/in"}}
	if doc := off.rpc("acme", "SendMessage", message); at(doc, "error.code") != -32003.0 {
		t.Error(doc)
	}
	if list := off.rpc("acme", "ListTasks", dict{}); at(list, "result.totalSize") != 1.0 {
		t.Error("it was done all the same", list)
	}
}

// The client that the makers of the protocol have gives tasks, follows, answers and cancels
// them, by both bindings.
func TestA2AJudgedByItsMakers(t *testing.T) {
	t.Parallel()
	judges := os.Getenv("TEST_JUDGES")
	if _, err := os.Stat(filepath.Join(judges, "node_modules", "@a2a-js", "sdk")); judges == "" || err != nil {
		if os.Getenv("TEST_REQUIRE_A2A") != "" {
			t.Fatal("there is no @a2a-js/sdk in TEST_JUDGES: make judges fetches it")
		}
		t.Skip("there is no @a2a-js/sdk in TEST_JUDGES: make judges fetches it")
	}
	onDesks(t, func(t *testing.T, d *desk) {
		s := d.serve()
		// The client asks for the clerk's part of a story, by lines.
		cmd := exec.Command("node", "testdata/a2a.mjs", judges, s.url)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		var wrong bytes.Buffer
		cmd.Stderr = &wrong
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var told []string
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if script, ok := strings.CutPrefix(lines.Text(), "clerk "); ok {
				s.does("clara", script)
				_, _ = fmt.Fprintln(in, "done")
				continue
			}
			told = append(told, lines.Text())
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v\n%s", err, wrong.String())
		}
		want, err := os.ReadFile("testdata/a2a.txt")
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(told, "\n") + "\n"; got != string(want) {
			t.Errorf("it tells\n%s\nwant\n%s", got, want)
		}
	})
}

// BenchmarkA2ASend sends a message over HTTP and is answered with a task.
func BenchmarkA2ASend(b *testing.B) {
	s := sqliteDesk(b).serve()
	i := 0
	for b.Loop() {
		i++
		s.task("acme", says(fmt.Sprint("m", i), "", dict{"verb": "desk.report", "arguments": dict{"text": fmt.Sprint("Machine ", i)}}))
	}
}

func (understands) Named(context.Context, string) ([]string, error) { return nil, nil }
