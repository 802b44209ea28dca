package channel

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/conversation/values"
	"verbatim/runtime/domains/rights"
	"verbatim/runtime/engine"
	"verbatim/runtime/files/intake"
	"verbatim/runtime/frontends/channel/internal/proven"
	"verbatim/runtime/jobs/notify"
	"verbatim/runtime/jobs/serviceaccount"
	"verbatim/runtime/jobs/worker"
	"verbatim/runtime/tests/norace"
	"verbatim/stores"
	"verbatim/stores/files"
	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/sqlite"
	"verbatim/verbs"
	"verbatim/verbs/load"
)

func TestMain(m *testing.M) { os.Exit(norace.Cleanup(pgtest.Run(m))) }

var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// A world is an installation with people, a worker and channels that record what is sent.
type world struct {
	t      testing.TB
	s      *Service
	reg    *verbs.Registry
	e      *engine.Engine
	store  stores.Store
	steps  []string     // that made its tables
	now    atomic.Int64 // nanoseconds since start
	person string       // whose name is written below messages, if not the principal's
	model  atomic.Int32 // how often a conversation was held

	mu   sync.Mutex
	sent []Out
	fail func(o Out) error // of the next messages
	n    int
}

func (w *world) clock() time.Time { return start.Add(time.Duration(w.now.Load())) }

func (w *world) wait(d time.Duration) { w.now.Add(int64(d)) }

// recorder is an adapter that keeps what it is sent.
type recorder struct {
	w    *world
	name string
}

func (r *recorder) Channel() string { return r.name }

func (r *recorder) Send(_ context.Context, o Out) (string, error) {
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	if r.w.fail != nil {
		if err := r.w.fail(o); err != nil {
			return "", err
		}
	}
	r.w.n++
	r.w.sent = append(r.w.sent, o)
	return fmt.Sprintf("%s-%d", r.name, r.w.n), nil
}

func (r *recorder) Fetch(_ context.Context, f File) (io.ReadCloser, error) {
	if f.ID == "gone" {
		return nil, &Failure{Code: "404", Text: "it is gone", Permanent: true}
	}
	return io.NopCloser(strings.NewReader("%PDF-1.4 " + f.ID)), nil
}

// on runs a test on both stores.
func on(t *testing.T, test func(t *testing.T, w *world)) {
	t.Parallel()
	each(t, func(name string, open func(testing.TB) *world) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	})
}

// each opens a world on each store.
func each(t testing.TB, with func(name string, open func(testing.TB) *world)) {
	t.Helper()
	with("SQLite", func(t testing.TB) *world { return onFile(t) })
	with("PostgreSQL", func(t testing.TB) *world {
		open := func(db pgtest.DB) stores.Store {
			store, err := postgres.Open(t.Context(), db.App, postgres.MigrateAs(db.Owner))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { store.Close() })
			return store
		}
		w := newWorld(t, open(pgtest.Like(t, "furnished", func(db pgtest.DB) {
			store := open(db)
			furnishedSteps = furnish(t, store)
			store.Close()
		})))
		w.steps = furnishedSteps
		return w
	})
}

// Every world begins with a copy of what furnish made: a database, or a file.
var (
	furnishedSteps []string // on a server
	furnishedFile  struct {
		sync.Once
		bytes []byte
		steps []string
	}
)

func onFile(t testing.TB) *world {
	t.Helper()
	open := func(path string) stores.Store {
		store, err := sqlite.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { store.Close() })
		return store
	}
	furnishedFile.Do(func() {
		path := filepath.Join(t.TempDir(), "first.db")
		store := open(path)
		furnishedFile.steps = furnish(t, store)
		err := store.Close()
		if err == nil {
			furnishedFile.bytes, err = os.ReadFile(path)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	path := filepath.Join(t.TempDir(), "c.db")
	if err := os.WriteFile(path, furnishedFile.bytes, 0o600); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, open(path))
	w.steps = furnishedFile.steps
	return w
}

// palettes are those of every world.
var palettes = sync.OnceValues(func() (*verbs.Registry, error) {
	sources := []*dsl.Source{rights.Source(), Source()}
	for _, name := range []string{"desk.yaml", "desk.de.yaml", "desk.fr.yaml", "desk.es.yaml"} {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			return nil, err
		}
		sources = append(sources, dsl.NewSource(name, string(text)))
	}
	reg, ds := load.Sources(sources...)
	if ds.HasErrors() {
		return nil, fmt.Errorf("%v", ds)
	}
	return reg, nil
})

// newWorld is a world on a store that is furnished.
func newWorld(t testing.TB, store stores.Store) *world {
	t.Helper()
	reg, err := palettes()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, reg: reg, store: store}
	w.s = w.service()
	w.e = w.s.Engine
	return w
}

// furnish makes the tables, the people and the inboxes of a world, and returns the steps that made
// the tables.
func furnish(t testing.TB, store stores.Store) (steps []string) {
	t.Helper()
	reg, err := palettes()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := store.Migrate(t.Context(), engine.Tables(reg), true)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, store)
	if _, err := rights.CreateAdministrators(t.Context(), reg, store, []string{"root", "other"}, start, ids()); err != nil {
		t.Fatal(err)
	}
	w.people()
	for channel, address := range map[string]string{"whatsapp": "1065", "mail": "deals@umza.example"} {
		if err := w.s.Open(t.Context(), channel, address); err != nil {
			t.Fatal(err)
		}
	}
	return plan.Steps
}

func ids() func() string {
	var n atomic.Int64
	return func() string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n.Add(1)) }
}

// service is one process of the installation.
func (w *world) service() *Service {
	h := &engine.Handlers{}
	rights.Register(h, w.reg)
	Register(h)
	s := &Service{Registry: w.reg, Store: w.store, As: "channels", Clock: w.clock, Zone: time.UTC, Log: slog.New(slog.DiscardHandler),
		Adapters: map[string]Adapter{"WHATSAPP": &recorder{w, "whatsapp"}, "MAIL": &recorder{w, "mail"}}}
	e, err := engine.New(w.reg, w.store, engine.Options{Clock: w.clock, Zone: time.UTC, Handlers: h, People: engine.People{Authority: rights.Authority(w.reg), Profile: rights.Profile(w.reg), TellsAsker: TellsAsker}})
	if err != nil {
		w.t.Fatal(err)
	}
	s.Engine = e
	kept, err := files.OpenDir(w.t.TempDir())
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { kept.Close() })
	s.Uploads = &intake.Service{Engine: e, Files: kept, Scanner: intake.NoScanner, Clock: w.clock}
	s.Talk = func(session *engine.Session) dialog.Options {
		w.model.Add(1)
		return dialog.Options{Registry: w.reg, Clock: w.clock, Zone: time.UTC, Person: cmp.Or(w.person, session.Person().Label), Interpreter: phrases{session}}
	}
	return s
}

// script runs calls as somebody, who agrees to what they ask for.
func (w *world) script(as, text string) {
	w.t.Helper()
	ctx := w.t.Context()
	s, err := w.e.Session(ctx, as)
	if err != nil {
		w.t.Fatal(err)
	}
	src, ds := dsl.Parse(dsl.NewSource("test", text))
	if ds.HasErrors() {
		w.t.Fatal(ds)
	}
	p, ds := s.Check(ctx, src)
	if p == nil {
		w.t.Fatal(ds)
	}
	preview, err := s.Keep(ctx, p, engine.RunOptions{})
	if err != nil {
		w.t.Fatal(text, err)
	}
	var own, others bool
	for _, a := range preview.Asks() {
		own, others = own || a.By == "", others || a.By != ""
	}
	o := engine.RunOptions{}
	if own {
		o.Agreed = preview.Sealed().ID
	}
	if !others {
		if _, err := s.Run(ctx, p, o); err != nil {
			w.t.Fatal(text, err)
		}
		return
	}
	c, err := s.Propose(ctx, p, o)
	if err != nil {
		w.t.Fatal(text, err)
	}
	w.agree("other", c.ID)
}

func (w *world) agree(as, id string) {
	w.t.Helper()
	s, err := w.e.Session(w.t.Context(), as)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, _, err := s.Agree(w.t.Context(), id); err != nil {
		w.t.Fatal(err)
	}
}

const (
	umza  = "00000001-0000-4000-8000-000000000001"
	other = "00000001-0000-4000-8000-000000000002"
)

// people are Ada and Ben of UMZA, Eve of another organisation, a manager, somebody who looks
// after strangers, and the program's own.
func (w *world) people() {
	w.t.Helper()
	org, project := w.reg.Entity("org").Store, w.reg.Entity("project").Store
	err := w.store.Update(w.t.Context(), stores.Scope{All: true}, func(tx stores.Tx) error {
		var b stores.Batch
		uuid := func(s string) stores.Value { v, _ := stores.Parse(stores.UUID, s); return v }
		for key, name := range map[string]string{umza: "UMZA", other: "Other"} {
			b.Changes = append(b.Changes, stores.Change{Op: stores.Insert, Entity: org, Key: uuid(key), Set: []stores.Assign{{Field: org.FieldIndex("name"), Value: stores.NewString(name)}}})
		}
		for i, of := range []string{umza, umza, other} {
			b.Changes = append(b.Changes, stores.Change{Op: stores.Insert, Entity: project, Key: uuid(fmt.Sprintf("00000002-0000-4000-8000-00000000000%d", i+1)), Set: []stores.Assign{
				{Field: project.FieldIndex("org"), Value: uuid(of)}, {Field: project.FieldIndex("name"), Value: stores.NewString([]string{"Solar One", "Wind Two", "Secret Three"}[i])}}})
		}
		return tx.Apply(w.t.Context(), b)
	})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, p := range [][3]string{{"ada", "member", umza}, {"ben", "member", umza}, {"eve", "member", other}, {"max", "manager", ""}, {"tia", "triage", ""}, {"channels", "channel-door", ""}} {
		w.script("root", fmt.Sprintf("system.add-principal :name %q :label %q", p[0], strings.ToUpper(p[0][:1])+p[0][1:]+map[string]string{"ada": " Novak"}[p[0]]))
		if p[2] != "" {
			w.script("root", fmt.Sprintf("system.grant-role :principal-id %q :role %q\nsystem.grant-scope :principal-id %q :entity \"org\" :key %q", p[0], p[1], p[0], p[2]))
		} else {
			w.script("root", fmt.Sprintf("system.grant-high-role :principal-id %q :role %q", p[0], p[1]))
		}
	}
	w.known("ada", "email", "ada@umza.example", "VERIFIED")
	w.known("ada", "whatsapp_phone", "+49 151 5550199", "VERIFIED")
	w.known("ben", "email", "ben@umza.example", "VERIFIED")
	w.known("eve", "email", "eve@other.example", "VERIFIED")
}

func (w *world) known(who, issuer, subject, status string) {
	w.t.Helper()
	w.script("root", fmt.Sprintf("system.add-identity :principal-id %q :issuer %q :subject %q :status %s", who, issuer, subject, status))
}

// works does what is due.
func (w *world) works() {
	w.t.Helper()
	w.worksAs(w.s)
}

func (w *world) worksAs(s *Service) {
	w.t.Helper()
	k := &worker.Worker{Engine: s.Engine, Store: w.store, Name: "test", Clock: w.clock, Send: func(ctx context.Context, m engine.Message) error {
		mine, err := s.Deliver(ctx, m)
		if !mine && err == nil {
			err = &notify.Error{Code: notify.CodeNoRoute, Text: "no route"}
		}
		return err
	}, Report: func(e worker.Event) {
		w.t.Logf("%s %s %s", e.Outcome, e.What, e.Reason)
		if e.Err != nil {
			w.t.Logf("%s %s: %v", e.Outcome, e.What, e.Err)
		}
	}}
	if _, err := k.Once(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// mail is a message by mail from somebody.
func (w *world) mail(from, id, text string) Facts {
	return Facts{Channel: "mail", Inbox: "deals@umza.example", ID: id, Known: []Identity{{Kind: "email", Subject: from}}, From: from, At: w.clock(), Kind: proven.Text, Text: text, Thread: "t1", Subject: "Solar"}
}

// idOf returns our ID of such a message by mail.
func (w *world) idOf(from, id string) string {
	f := w.mail(from, id, "")
	return MessageID(&f)
}

func (w *world) whatsapp(from, id, text string) Facts {
	return Facts{Channel: "whatsapp", Inbox: "1065", ID: id, Known: []Identity{{Kind: "whatsapp_phone", Subject: "+" + from}}, From: from, At: w.clock(), Kind: proven.Text, Text: text}
}

// hears takes messages, works, and returns what was sent since.
func (w *world) hears(all ...Facts) []Out {
	w.t.Helper()
	w.mu.Lock()
	w.sent = nil
	w.mu.Unlock()
	for _, f := range all {
		if err := w.s.Receive(w.t.Context(), proven.Prove(f)); err != nil {
			w.t.Fatal(err)
		}
	}
	w.works()
	return w.outs()
}

func (w *world) outs() []Out {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Out(nil), w.sent...)
}

// rows are those of an entity in which a field has a value; all with "".
func (w *world) rows(entity, field, value string) (all []*serviceaccount.Row) {
	w.t.Helper()
	e := w.reg.Entity(entity).Store
	err := w.store.View(w.t.Context(), stores.Scope{All: true}, func(r stores.Reader) error {
		rows, err := r.Find(w.t.Context(), stores.Find{Entity: e})
		for _, v := range rows {
			if at := (&serviceaccount.Row{Entity: e, Values: v}); field == "" || at.Text(field) == value {
				all = append(all, at)
			}
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// phrases understands a few sentences; "this project" is what was spoken of last.
type phrases struct{ s *engine.Session }

func (p phrases) Interpret(ctx context.Context, said string, _ dialog.Settled, before []dialog.Spoken) (dialog.Understood, error) {
	name := named(said)
	if name == "" && len(before) > 0 && strings.Contains(said, "this") {
		name = before[0].Names[0]
	}
	file := ""
	if i := strings.Index(said, "upload://"); i >= 0 {
		file = said[i:]
	}
	script := ""
	switch {
	case file != "":
		script = fmt.Sprintf("desk.file :project-id @%s :text %q", name, strings.Fields(file)[0])
	case strings.Contains(said, "status"):
		script = "desk.status :project-id @" + name
	case strings.Contains(said, " pay"), strings.Contains(said, "zahlen"), strings.Contains(said, "pague"):
		script = fmt.Sprintf("desk.pay :project-id @%s :payee \"Hartley & Sons\" :amount 1480.50 :due 2026-04-03", name)
	case strings.Contains(said, "access"), strings.Contains(said, "Zugang"), strings.Contains(said, "accès"), strings.Contains(said, "acceso"):
		script = fmt.Sprintf("desk.admit :project-id @%s :person \"Karim Haddad\"", name)
	case strings.Contains(said, "order"):
		script = fmt.Sprintf("desk.order :project-id @%s :what \"repairs\"", name)
	case strings.Contains(said, "bestellen"):
		script = fmt.Sprintf("desk.order :project-id @%s :what \"Reparaturen\"", name)
	case strings.Contains(said, "commander"):
		script = fmt.Sprintf("desk.order :project-id @%s :what \"les réparations\"", name)
	case strings.Contains(said, "encargue"):
		script = fmt.Sprintf("desk.order :project-id @%s :what \"las reparaciones\"", name)
	case strings.Contains(said, "share"):
		script = fmt.Sprintf("desk.share :project-id @%s :to \"Bank\"", name)
	case strings.Contains(said, "note"):
		script = fmt.Sprintf("desk.remark :project-id @%s :text %q", name, said)
	}
	if script == "" || name == "" {
		return dialog.Understood{}, nil
	}
	verb, _, _ := strings.Cut(script, " ")
	return dialog.Understood{Script: script, Confidence: 1, Verb: verb, Verbs: []string{verb}, Matched: said}, nil
}

// named is the project that a text names.
func named(text string) (name string) {
	for says, row := range map[string]string{"solar one": "solar-one", "wind two": "wind-two", "secret three": "secret-three"} {
		if strings.Contains(strings.ToLower(text), says) {
			name = row
		}
	}
	return name
}

func (phrases) Named(_ context.Context, text string) ([]string, error) {
	if name := named(text); name != "" {
		return []string{name}, nil
	}
	return nil, nil
}

func (phrases) Correct(context.Context, string, *dsl.Call) (dialog.Correction, bool, error) {
	return dialog.Correction{}, false, nil
}

func (phrases) Tongue(string) (values.Language, bool)              { return values.English, false }
func (phrases) Shortlist(string, []*verbs.Verb, int) []*verbs.Verb { return nil }

// tries runs calls as somebody, who agrees to nothing.
func (w *world) tries(as, text string) error {
	w.t.Helper()
	s, err := w.e.Session(w.t.Context(), as)
	if err != nil {
		w.t.Fatal(err)
	}
	_, err = s.Run(w.t.Context(), w.program(s, text), engine.RunOptions{})
	return err
}

func (w *world) program(s *engine.Session, text string) *verbs.Program {
	w.t.Helper()
	src, ds := dsl.Parse(dsl.NewSource("test", text))
	if ds.HasErrors() {
		w.t.Fatal(ds)
	}
	p, ds := s.Check(w.t.Context(), src)
	if p == nil {
		w.t.Fatal(ds)
	}
	return p
}

func (w *world) options() engine.RunOptions { return engine.RunOptions{Source: "test"} }

// visit opens a session that is kept.
func (w *world) visit(who, name string) *engine.Session {
	w.t.Helper()
	s, err := w.e.Visit(w.t.Context(), who, engine.Visit{Name: name})
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}
