package client_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/conversation/forms"
	"verbatim/runtime/domains/client"
	"verbatim/runtime/engine"
	"verbatim/runtime/state/sessions"
	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/receipt"
	"verbatim/stores/sqlite"
	"verbatim/verbs"
	"verbatim/verbs/load"
)

func TestMain(m *testing.M) {
	if path := os.Getenv("TEST_ANSWER"); path != "" {
		answerAndDie(path)
	}
	pgtest.Main(m)
}

var ctx = context.Background()

// A bank is the client's palette over rows of its own.
type bank struct {
	t      testing.TB
	reg    *verbs.Registry
	store  stores.Store
	engine *engine.Engine

	mu    sync.Mutex
	clock time.Time
	ids   int
}

func registry(t testing.TB) *verbs.Registry {
	reg, ds := load.Dir(os.DirFS("../../../verbs/palettes/bank"))
	if ds.HasErrors() {
		t.Fatalf("%v", ds)
	}
	// The bank's tables are its own; here they are made.
	for _, e := range reg.Entities() {
		e.Store.Managed = true
	}
	return reg
}

func key(n int) stores.Value {
	v, _ := stores.ParseUUID(fmt.Sprintf("00000000-0000-4000-8000-%012d", n))
	return v
}

func str(s string) stores.Value { return stores.NewString(s) }

func (b *bank) now() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clock = b.clock.Add(time.Second)
	return b.clock
}

func (b *bank) newID() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ids++
	return fmt.Sprintf("00000000-0000-4000-9%03d-%012d", os.Getpid()%1000, b.ids)
}

func (b *bank) open(store stores.Store) {
	b.store = store
	h := &engine.Handlers{Partial: true}
	client.Register(h, b.reg)
	var err error
	b.engine, err = engine.New(b.reg, store, engine.Options{Clock: b.now, NewID: b.newID, Handlers: h, Zone: time.UTC,
		People: engine.People{Profile: func(_ context.Context, _ stores.Reader, name string) (engine.Profile, error) {
			return engine.Profile{Label: strings.ToUpper(name[:1]) + name[1:], Email: name + "@allianz.example", Zone: "UTC"}, nil
		}}})
	if err != nil {
		b.t.Fatal(err)
	}
}

var requestsOf = []struct {
	n       int
	entity  int
	subtype string
	name    string
	cbu     int
}{
	{101, 11, "BENEFICIAL_OWNER", "Pierre Dupont", 1}, {102, 12, "IDENTITY", "Thomas Müller", 1}, {103, 13, "DATE_OF_BIRTH", "Maria Schmidt", 1},
	{104, 14, "TAX_RESIDENCE", "Clara Weiss", 1}, {105, 15, "ADDRESS", "Jonas Lindqvist", 2}, {106, 16, "SOURCE_OF_WEALTH", "Ann Other", 1}, {107, 17, "AUTHORISED_SIGNATORY", "Sig Natory", 1},
}

// furnish makes the tables, two companies and what is needed of them.
func (b *bank) furnish(store stores.Store) {
	b.t.Helper()
	all := engine.Own()
	for _, e := range b.reg.Entities() {
		all = append(all, e.Store)
	}
	if plan, err := store.Migrate(ctx, all, true); err != nil || len(plan.Problems) > 0 {
		b.t.Fatal(err, plan.Problems)
	}
	var changes []stores.Change
	insert := func(entity string, n int, f map[string]stores.Value) {
		e := b.reg.Entity(entity).Store
		c := stores.Change{Op: stores.Insert, Entity: e, Key: key(n)}
		for i := range e.Fields {
			if v, ok := f[e.Fields[i].Name]; ok {
				c.Set = append(c.Set, stores.Assign{Field: i, Value: v})
			} else if d := e.Fields[i].Default; !d.IsNull() {
				c.Set = append(c.Set, stores.Assign{Field: i, Value: d})
			}
		}
		changes = append(changes, c)
	}
	at := stores.NewTime(time.Date(2024, 12, 2, 9, 0, 0, 0, time.UTC))
	for n, name := range map[int]string{1: "Allianz Reinsurance AG", 2: "Nordlicht Fund"} {
		insert("cbu", n, map[string]stores.Value{"name": str(name)})
		insert("case", 20+n, map[string]stores.Value{"cbu": key(n), "current_stage": str("DOCUMENTS"), "analyst": str("t.weber"), "relationship_manager": str("s.keller")})
	}
	for _, r := range requestsOf {
		insert("entity", r.entity, map[string]stores.Value{"cbu": key(r.cbu), "name": str(r.name), "entity_type": str("PERSON")})
		insert("entity-workstream", 200+r.n, map[string]stores.Value{"case": key(20 + r.cbu), "entity": key(r.entity)})
		insert("outstanding-request", r.n, map[string]stores.Value{"workstream": key(200 + r.n), "request_type": str("INFORMATION"), "request_subtype": str(r.subtype),
			"reason_for_request": str("The rules ask for it."), "created_at": at, "updated_at": at})
	}
	order := []string{"cbu", "case", "entity", "entity-workstream", "outstanding-request"}
	slices.SortStableFunc(changes, func(x, y stores.Change) int {
		return slices.Index(order, x.Entity.Name) - slices.Index(order, y.Entity.Name)
	})
	err := store.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error { return tx.Apply(ctx, stores.Batch{Changes: changes}) })
	if err != nil {
		b.t.Fatal(err)
	}
	for name, cbu := range map[string]int{"clara": 1, "carl": 1, "jonas": 2} {
		p := stores.Principal{Name: name, Label: strings.ToUpper(name[:1]) + name[1:], Roles: []string{"client"}, Holds: map[string][]stores.Value{"cbu": {key(cbu)}}}
		if err := store.SetPrincipal(ctx, p); err != nil {
			b.t.Fatal(err)
		}
	}
	for _, name := range []string{"weber", "nowak"} {
		if err := store.SetPrincipal(ctx, stores.Principal{Name: name, Roles: []string{"analyst"}}); err != nil {
			b.t.Fatal(err)
		}
	}
}

// banks tells a story on both stores.
func banks(t *testing.T, story func(t *testing.T, b *bank)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		onSQLite(t, story)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		open := func(db pgtest.DB) stores.Store {
			store, err := postgres.Open(ctx, db.App, postgres.MigrateAs(db.Owner))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { store.Close() })
			return store
		}
		on(t, open(pgtest.Like(t, "bank", func(db pgtest.DB) {
			store := open(db)
			(&bank{t: t, reg: registry(t)}).furnish(store)
			store.Close()
		})), story)
	})
}

// onSQLite tells a story in which no store does anything of its own.
func onSQLite(t *testing.T, story func(t *testing.T, b *bank)) {
	open := func(path string) stores.Store {
		store, err := sqlite.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { store.Close() })
		return store
	}
	path := filepath.Join(t.TempDir(), "bank.db")
	furnished.Do(func() {
		store := open(path)
		(&bank{t: t, reg: registry(t)}).furnish(store)
		err := store.Close()
		if err == nil {
			furnished.file, err = os.ReadFile(path)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	if err := os.WriteFile(path, furnished.file, 0o600); err != nil {
		t.Fatal(err)
	}
	on(t, open(path), story)
}

// furnished is the file that every bank on SQLite is a copy of.
var furnished struct {
	sync.Once
	file []byte
}

// on tells a story on a store that is furnished.
func on(t *testing.T, store stores.Store, story func(t *testing.T, b *bank)) {
	b := &bank{t: t, reg: registry(t), clock: time.Date(2024, 12, 27, 9, 0, 0, 0, time.UTC)}
	b.open(store)
	story(t, b)
}

// visit opens somebody's session, as another process would.
func (b *bank) visit(who string) *engine.Session {
	b.t.Helper()
	b.open(b.store)
	s, err := b.engine.Visit(ctx, who, engine.Visit{Name: "portal"})
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

func (b *bank) say(s *engine.Session, text string, o engine.RunOptions) (*receipt.Receipt, error) {
	b.t.Helper()
	script, ds := dsl.Parse(dsl.NewSource("story.dsl", text))
	if ds.HasErrors() {
		b.t.Fatalf("%s: %v", text, ds[0])
	}
	p, ds := s.Check(context.Background(), script)
	if p == nil {
		return nil, &engine.Refusal{Diagnostics: ds}
	}
	return s.Run(ctx, p, o)
}

// asks runs a call that must be done, and returns what it gives back: of each
// row the step, the label or answer, and the message.
func (b *bank) asks(s *engine.Session, text string) []string {
	b.t.Helper()
	reply, err := b.say(s, text, engine.RunOptions{})
	if err != nil {
		b.t.Fatalf("%s: %v", text, err)
	}
	res := reply.Calls[len(reply.Calls)-1].Result
	var out []string
	for _, row := range res.Rows {
		at := func(column string) string {
			i := slices.Index(res.Columns, column)
			if row[i].IsNull() {
				return ""
			}
			return row[i].Text()
		}
		out = append(out, strings.TrimRight(strings.Join([]string{at("status"), at("step"), at("label"), at("answer"), at("message")}, " | "), " |"))
	}
	return out
}

func (b *bank) refused(s *engine.Session, text, code string) string {
	b.t.Helper()
	_, err := b.say(s, text, engine.RunOptions{})
	var r *engine.Refusal
	if !errors.As(err, &r) || r.Diagnostics[0].Code != code {
		b.t.Fatalf("%s: want %s, got %v", text, code, err)
	}
	return r.Diagnostics[0].Summary
}

func equal(t testing.TB, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// rows is every row of an entity, a field as its text.
func (b *bank) rows(entity string) []map[string]string {
	b.t.Helper()
	e := b.reg.Entity(entity).Store
	var out []map[string]string
	err := b.store.View(ctx, stores.Scope{All: true}, func(r stores.Reader) error {
		found, err := r.Find(ctx, stores.Find{Entity: e})
		for _, row := range found {
			m := map[string]string{}
			for i, v := range row {
				m[e.Fields[i].Name] = v.Text()
			}
			out = append(out, m)
		}
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

const pierre = "@pierre-dupont-beneficial-owner"

// O14, O15, O16, O20, O32, X11: two of five questions are answered, the client
// goes; another session of another process goes on with the third. Answers may be
// said in words, skipped and come back to, and changed; what follows from an
// answer is asked, and no longer when the answer changes. Then they are checked
// and sent, by the very call that somebody would have written.
func TestPartialCollectionPersists(t *testing.T) {
	t.Parallel()
	banks(t, func(t *testing.T, b *bank) {
		s := b.visit("clara")
		equal(t, b.asks(s, "client.start-collection :request-id "+pierre), []string{"COLLECTING | Question 1 of 5: the beneficial owner | Full name"})
		equal(t, b.asks(s, `client.collection-response :field "full_name" :value "Pierre Dupont"`), []string{"COLLECTING | Question 2 of 5: the beneficial owner | Date of birth"})
		equal(t, b.asks(s, `client.collection-response :field "date_of_birth" :value "March 15, 1972"`), []string{"COLLECTING | Question 3 of 5: the beneficial owner | Nationality"})

		b.clock = b.clock.Add(7 * 24 * time.Hour)
		s = b.visit("clara")
		equal(t, b.asks(s, "client.start-collection :request-id "+pierre), []string{
			"COLLECTING | Question 3 of 5: the beneficial owner | Nationality |  | Welcome back. You have answered 2 of 5 questions about the beneficial owner."})
		if c := b.rows("collection"); len(c) != 1 || c[0]["collected"] != `{"date_of_birth":"1972-03-15","full_name":"Pierre Dupont"}` || c[0]["current_field"] != "nationality" {
			t.Errorf("%v", c)
		}
		equal(t, b.asks(s, "client.collection-skip"), []string{"COLLECTING | Question 4 of 5: the beneficial owner | Share held"})
		equal(t, b.asks(s, `client.collection-response :field "ownership_percent" :value "40 %"`), []string{"COLLECTING | Question 5 of 5: the beneficial owner | How they control the client"})
		equal(t, b.asks(s, `client.collection-response :field "control" :value "through a trust"`), []string{"COLLECTING | Question 6 of 6: the beneficial owner | Name of the trust"})
		equal(t, b.asks(s, `client.collection-response :field "trust_name" :value "Dupont Family Trust"`), []string{"COLLECTING | Question 3 of 6: the beneficial owner | Nationality"})
		if got := b.refused(s, "client.collection-confirm :confirmed true", "not-possible"); !strings.Contains(got, "Nationality is missing") {
			t.Error(got)
		}
		equal(t, b.asks(s, `client.collection-response :field "nationality" :value "France"`), []string{
			"REVIEWING | Answer 1 of 6: the beneficial owner | Full name | Pierre Dupont | Please check your 6 answers. They are sent when you confirm them; you can correct them until the bank has checked them.",
			"REVIEWING | Answer 2 of 6: the beneficial owner | Date of birth | 15 March 1972",
			"REVIEWING | Answer 3 of 6: the beneficial owner | Nationality | France",
			"REVIEWING | Answer 4 of 6: the beneficial owner | Share held | 40 %",
			"REVIEWING | Answer 5 of 6: the beneficial owner | How they control the client | through a trust",
			"REVIEWING | Answer 6 of 6: the beneficial owner | Name of the trust | Dupont Family Trust"})
		// Back to editing, and the answer that the trust hung on changes.
		if got := b.asks(s, "client.collection-confirm :confirmed false"); len(got) != 6 || !strings.Contains(got[0], "Say which answer to change") {
			t.Error(got)
		}
		if got := b.asks(b.visit("clara"), `client.collection-response :field "control" :value OWNERSHIP`); len(got) != 5 || !strings.HasPrefix(got[0], "REVIEWING") {
			t.Error(got)
		}
		before, err := b.store.Journal(ctx, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, b.asks(b.visit("clara"), "client.collection-confirm :confirmed true"), []string{
			"SUBMITTED |  |  |  | Your 5 answers were sent. The bank checks them now; until it has, you can correct them."})
		sent := b.rows("info-submission")
		want := `{"control":"OWNERSHIP","date_of_birth":"1972-03-15","full_name":"Pierre Dupont","nationality":"FR","ownership_percent":40}`
		if len(sent) != 1 || sent[0]["collected_data"] != want || sent[0]["info_type"] != "BENEFICIAL_OWNER" {
			t.Errorf("%v", sent)
		}
		entries, err := b.store.Journal(ctx, int64(len(before)+1), 0)
		if err != nil || len(entries) != 2 || entries[0].Verb != "client.collection-confirm" || entries[1].Verb != "client.provide-info" || strings.Contains(fmt.Sprint(entries), "Dupont ") {
			t.Errorf("%+v, %v", entries, err)
		}
		for _, r := range b.rows("outstanding-request") {
			if r["request_id"] == key(101).Text() && r["status"] != "PENDING_REVIEW" {
				t.Error(r)
			}
		}
		info, err := b.visit("clara").Turns().Info(ctx)
		if err != nil || len(info.Values) != 2 || info.Values[1].Value.Text() != "false" {
			t.Errorf("%+v, %v", info.Values, err)
		}
		// It is over, and a second press sends nothing.
		b.refused(b.visit("clara"), "client.collection-confirm :confirmed true", "not-possible")
		if len(b.rows("info-submission")) != 1 {
			t.Error("sent twice")
		}
	})
}

// O37, X12, X13: what does not fit is not stored, and the client is told what
// would; what may mean two things is asked, in their language.
func TestInlineValidationDuringCollection(t *testing.T) {
	t.Parallel()
	banks(t, func(t *testing.T, b *bank) {
		s := b.visit("clara")
		b.asks(s, "client.start-collection :request-id "+pierre)
		b.asks(s, `client.collection-response :field "full_name" :value "Pierre Dupont"`)
		for value, want := range map[string]string{
			`"1850-01-01"`:           "Date of birth must be after 1 January 1900 and not in the future. Please check the year. You entered 1 January 1850. Nothing was saved.",
			"1850-01-01":             "Date of birth must be after 1 January 1900 and not in the future. Please check the year. You entered 1 January 1850. Nothing was saved.",
			`"03/04/1972"`:           "Is that 3 April 1972 or 4 March 1972?",
			`"when he was young"`:    "Date of birth was not understood. Write it like this: 15 March 1972. Nothing was saved.",
			`[1972-03-15]`:           "Date of birth is one answer. Give it as text, not as a list or a map. Nothing was saved.",
			`{:day {:month {:x 1}}}`: "Date of birth is one answer. Give it as text, not as a list or a map. Nothing was saved.",
			`" "`:                    "Date of birth is still missing. Write the answer, or skip the question for now. Nothing was saved.",
			`"` + strings.Repeat("1972 ", 1000) + `"`: "Date of birth takes at most 2000 characters. Say it more briefly. Nothing was saved.",
			`"2030-01-01"`: "Date of birth must be after 1 January 1900 and not in the future. Please check the year. You entered 1 January 2030. Nothing was saved.",
			`true`:         "",
		} {
			got := b.asks(s, "client.collection-response :field \"date_of_birth\" :value "+value)
			if len(got) != 1 || !strings.HasPrefix(got[0], "COLLECTING | Question 2 of 5: the beneficial owner | Date of birth |  | ") || want != "" && !strings.HasSuffix(got[0], "| "+want) {
				t.Errorf("%.40s: %q", value, got)
			}
			if c := b.rows("collection"); c[0]["collected"] != `{"full_name":"Pierre Dupont"}` || strings.Contains(c[0]["validation_errors"], "1972 1972") {
				t.Errorf("%.40s was stored: %v", value, c)
			}
		}
		if c := b.rows("collection"); c[0]["validation_errors"] == "" || c[0]["current_field"] != "date_of_birth" {
			t.Errorf("%v", c)
		}
		// A field that there is not, and one that is not asked yet.
		if got := b.asks(s, `client.collection-response :field "birth_date" :value "x"`); !strings.Contains(got[0], "There is no such question.") {
			t.Errorf("%q", got)
		}
		if got := b.asks(s, `client.collection-response :field "trust_name" :value "Some Trust"`); !strings.Contains(got[0], "Name of the trust is not asked with the answers so far.") {
			t.Errorf("%q", got)
		}
		// Out of order, a value counts; the first open question stays.
		if got := b.asks(s, `client.collection-response :field "ownership_percent" :value 140`); !strings.Contains(got[0], "Share held must be 100 or less") {
			t.Errorf("%q", got)
		}
		equal(t, b.asks(s, `client.collection-response :field "ownership_percent" :value 14`), []string{"COLLECTING | Question 2 of 5: the beneficial owner | Date of birth"})
		if c := b.rows("collection"); c[0]["collected"] != `{"full_name":"Pierre Dupont","ownership_percent":14}` || c[0]["validation_errors"] != "" {
			t.Errorf("%v", c)
		}
		// Ten megabytes never get so far.
		script, ds := dsl.Parse(dsl.NewSource("big.dsl", `client.collection-response :field "full_name" :value "`+strings.Repeat("x", 10<<20)+`"`))
		if p, more := s.Check(context.Background(), script); p != nil && !ds.HasErrors() {
			if _, err := s.Run(ctx, p, engine.RunOptions{}); err == nil {
				if c := b.rows("collection"); strings.Contains(c[0]["collected"], "xxxx") {
					t.Error("10 MB were stored")
				}
			}
		} else if len(ds)+len(more) == 0 {
			t.Error("10 MB were refused without a word")
		}
		for _, e := range mustJournal(t, b) {
			if strings.Contains(fmt.Sprint(e), "when he was young") || strings.Contains(fmt.Sprint(e), "Pierre Dupont\"") {
				t.Errorf("an answer stands in the journal: %+v", e)
			}
		}
		// In German it is asked in German.
		german, err := b.engine.Visit(ctx, "carl", engine.Visit{Name: "portal", Language: "de", Zone: "Europe/Berlin"})
		if err != nil {
			t.Fatal(err)
		}
		b.asks(german, "client.start-collection :request-id @maria-schmidt-date-of-birth")
		if got := b.asks(german, `client.collection-response :field "date_of_birth" :value "15. März 1972"`); !strings.Contains(got[0], "15. März 1972") || !strings.HasPrefix(got[0], "REVIEWING") {
			t.Errorf("%q", got)
		}
	})
}

func mustJournal(t *testing.T, b *bank) []stores.Entry {
	t.Helper()
	all, err := b.store.Journal(ctx, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// SAFE-A1, O36: a collection is its client's, and a request of somebody else's
// company does not exist. What is not asked for by questions says so; what is
// sensitive is not shown again.
func TestACollectionIsItsClients(t *testing.T) {
	t.Parallel()
	banks(t, func(t *testing.T, b *bank) {
		clara, carl, jonas := b.visit("clara"), b.visit("carl"), b.visit("jonas")
		b.asks(clara, "client.start-collection :request-id "+pierre)
		b.asks(clara, `client.collection-response :field "full_name" :value "Pierre Dupont"`)
		// Carl, of the same company, answers for himself.
		equal(t, b.asks(carl, "client.start-collection :request-id "+pierre), []string{"COLLECTING | Question 1 of 5: the beneficial owner | Full name"})
		b.refused(jonas, "client.collection-response :field \"full_name\" :value \"x\"", "not-possible")
		theirs := b.refused(jonas, "client.start-collection :request-id "+pierre, "unknown-name")
		nobody := b.refused(jonas, "client.start-collection :request-id @nobody-beneficial-owner", "unknown-name")
		if strings.ReplaceAll(theirs, pierre, "") != strings.ReplaceAll(nobody, "@nobody-beneficial-owner", "") {
			t.Errorf("%q, %q", theirs, nobody)
		}
		if got := b.refused(clara, "client.start-collection :request-id @thomas-muller-identity", "not-possible"); !strings.Contains(got, "not answered by questions") {
			t.Error(got)
		}
		b.asks(clara, "client.start-collection :request-id @clara-weiss-tax-residence")
		b.asks(clara, `client.collection-response :field "country" :value "Luxembourg" client.collection-response :field "has_tax_number" :value "yes"`)
		b.asks(clara, `client.collection-response :field "tax_number" :value "1972 0315 99"`)
		got := b.asks(clara, "client.collection-skip")
		if text := strings.Join(got, "\n"); strings.Contains(text, "0315") || !strings.Contains(text, "Tax number | ••••••") || !strings.Contains(text, "Since when | (left out)") {
			t.Error(text)
		}
		// The other collection waits where it was.
		if got := b.asks(clara, "client.start-collection :request-id "+pierre); !strings.Contains(got[0], "Question 2 of 5") || !strings.Contains(got[0], "Welcome back. You have answered 1 of 5") {
			t.Error(got)
		}
		if got := b.asks(clara, "client.collection-stop"); !strings.Contains(got[0], "ABANDONED") {
			t.Error(got)
		}
		b.refused(clara, `client.collection-response :field "nationality" :value "France"`, "not-possible")
		if got := b.asks(clara, "client.start-collection :request-id "+pierre); !strings.Contains(got[0], "Question 2 of 5") {
			t.Error(got)
		}
		if n := len(b.rows("collection")); n != 3 {
			t.Errorf("%d collections", n)
		}
	})
}

// U41: two processes answer one collection at once: one of them is first, the
// other is told, or comes after; no answer is lost and none is mixed.
func TestTwoProcessesOnOneCollection(t *testing.T) {
	t.Parallel()
	banks(t, func(t *testing.T, b *bank) {
		b.asks(b.visit("clara"), "client.start-collection :request-id "+pierre)
		fields := map[string]string{"full_name": `"Pierre Dupont"`, "nationality": `"France"`, "ownership_percent": "40", "control": "OWNERSHIP"}
		var all sync.WaitGroup
		var mu sync.Mutex
		told := 0
		for field, value := range fields {
			s := b.visit("clara")
			all.Go(func() {
				_, err := b.say(s, "client.collection-response :field \""+field+"\" :value "+value, engine.RunOptions{})
				var r *engine.Refusal
				if errors.As(err, &r) && r.Diagnostics[0].Code == "changed-meanwhile" {
					mu.Lock()
					defer mu.Unlock()
					told++
				} else if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		c := b.rows("collection")
		if n := strings.Count(c[0]["collected"], `":`); n != len(fields)-told {
			t.Errorf("%d answers, %d were told no: %v", n, told, c)
		}
		// A window that shows an old question is told so.
		s := b.visit("clara")
		info, err := s.Turns().Info(ctx)
		if err != nil {
			t.Fatal(err)
		}
		b.asks(b.visit("clara"), `client.collection-response :field "full_name" :value "Pierre D."`)
		_, err = b.say(s, `client.collection-response :field "full_name" :value "Somebody Else"`, engine.RunOptions{Version: info.Version})
		var r *engine.Refusal
		if !errors.As(err, &r) || r.Diagnostics[0].Code != "session-moved" {
			t.Fatal(err)
		}
		if c := b.rows("collection"); !strings.Contains(c[0]["collected"], "Pierre D.") {
			t.Errorf("%v", c)
		}
	})
}

// answerAndDie answers a question in a process of its own, and dies before it
// could tell anybody.
func answerAndDie(path string) {
	store, err := sqlite.Open(path)
	if err != nil {
		panic(err)
	}
	reg, ds := load.Dir(os.DirFS("../../../verbs/palettes/bank"))
	if ds.HasErrors() {
		panic(ds)
	}
	for _, e := range reg.Entities() {
		e.Store.Managed = true
	}
	h := &engine.Handlers{Partial: true}
	client.Register(h, reg)
	e, err := engine.New(reg, store, engine.Options{Handlers: h})
	if err != nil {
		panic(err)
	}
	s, err := e.Visit(ctx, "clara", engine.Visit{Name: "portal"})
	if err != nil {
		panic(err)
	}
	script, _ := dsl.Parse(dsl.NewSource("a.dsl", os.Getenv("TEST_CALL")))
	p, _ := s.Check(context.Background(), script)
	if _, err := s.Run(ctx, p, engine.RunOptions{}); err != nil {
		panic(err)
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		panic(err)
	}
	_ = self.Kill()
	select {}
}

// U38, X11: a process that is killed between two answers loses nothing of them.
func TestAKilledProcessBetweenAnswers(t *testing.T) {
	t.Parallel()
	b := &bank{t: t, reg: registry(t), clock: time.Now()}
	path := filepath.Join(t.TempDir(), "bank.db")
	store, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	b.furnish(store)
	for _, call := range []string{"client.start-collection :request-id " + pierre, `client.collection-response :field "full_name" :value "Pierre Dupont"`, `client.collection-response :field "nationality" :value "France"`} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "TEST_ANSWER="+path, "TEST_CALL="+call)
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != -1 {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	b.open(store)
	if c := b.rows("collection"); len(c) != 1 || c[0]["collected"] != `{"full_name":"Pierre Dupont","nationality":"FR"}` || c[0]["current_field"] != "date_of_birth" {
		t.Errorf("%v", c)
	}
	if got := b.asks(b.visit("clara"), "client.start-collection :request-id "+pierre); !strings.Contains(got[0], "You have answered 2 of 5") {
		t.Errorf("%q", got)
	}
}

// O11: what is provided at once is held against the schema of its kind, by the
// checker and again at the gate.
func TestInformationFitsItsKind(t *testing.T) {
	t.Parallel()
	banks(t, func(t *testing.T, b *bank) {
		s := b.visit("clara")
		give := func(kind, data string) error {
			_, err := b.say(s, "client.provide-info :request-id @maria-schmidt-date-of-birth :info-type "+kind+" :collected-data "+data, engine.RunOptions{})
			return err
		}
		for _, bad := range [][2]string{
			{"DATE_OF_BIRTH", `{:date_of_birth "1850-01-01"}`}, {"DATE_OF_BIRTH", `{}`}, {"DATE_OF_BIRTH", `{:date_of_birth "1972-03-15" :more true}`},
			{"ADDRESS", `{:date_of_birth "1972-03-15"}`}, {"DATE_OF_BIRTH", `{:date_of_birth {:year 1972}}`}, {"SHOE_SIZE", `{:size 42}`},
			{"TAX_RESIDENCE", `{:country LU}`}, {"TAX_RESIDENCE", `{:country LU :has_tax_number true :tax_number "?"}`},
		} {
			var r *engine.Refusal
			if err := give(bad[0], bad[1]); !errors.As(err, &r) {
				t.Errorf("%v was taken: %v", bad, err)
			} else if strings.Contains(r.Error(), "1850") {
				t.Errorf("%v is quoted: %v", bad, err)
			}
		}
		if n := len(b.rows("info-submission")); n != 0 {
			t.Fatalf("%d submissions", n)
		}
		if err := give("DATE_OF_BIRTH", `{:date_of_birth 1972-03-15}`); err != nil {
			t.Error(err)
		}
	})
}

// O11, X12: what a schema asks for because of what was said is asked next. What was
// given at once is kept, the request stays open in part, nobody at the bank is
// troubled with half an answer, and the questions go on where it ends.
func TestFollowUpQuestions(t *testing.T) {
	t.Parallel()
	banks(t, func(t *testing.T, b *bank) {
		s := b.visit("clara")
		give := func(more string) *receipt.Receipt {
			t.Helper()
			reply, err := b.say(s, "client.provide-info :request-id "+pierre+` :info-type BENEFICIAL_OWNER :collected-data {:full_name "Pierre Dupont" :date_of_birth 1972-03-15 :nationality "FR" :ownership_percent 40 :control "TRUST"`+more+`}`, engine.RunOptions{})
			if err != nil {
				t.Fatal(err)
			}
			return reply
		}
		status := func() string {
			for _, r := range b.rows("outstanding-request") {
				if r["request_id"] == key(101).Text() {
					return r["status"]
				}
			}
			return ""
		}
		reply := give("")
		if got := status(); got != "PARTIALLY_FULFILLED" {
			t.Error(got)
		}
		sent := b.rows("info-submission")
		if len(sent) != 1 || sent[0]["missing"] != `["trust_name"]` || len(b.rows("review-task")) != 0 {
			t.Errorf("%v, %v", sent, b.rows("review-task"))
		}
		if n := reply.Calls[0].Notices; len(n) != 1 || n[0].Target != "follow-up-questions" {
			t.Errorf("%+v", n)
		}
		// The reply says what is missing, and nothing of what was said.
		told := fmt.Sprintf("%+v", reply.Calls[0].Rows)
		for _, row := range reply.Calls[0].Rows {
			for _, f := range row.Fields {
				if f.Name == "missing" && (f.Sensitive || f.After.Text() != `["trust_name"]`) || f.Name == "status" && f.Sensitive || f.Name == "collected_data" && !f.Sensitive {
					t.Errorf("%+v", f)
				}
			}
		}
		if !strings.Contains(told, "trust_name") {
			t.Error(told)
		}
		detail, err := b.say(s, "client.get-request-detail :request-id "+pierre, engine.RunOptions{})
		if err != nil || !strings.Contains(fmt.Sprint(detail.Calls[0].Result.Rows), `"missing":["trust_name"]`) {
			t.Errorf("%v, %v", detail, err)
		}

		equal(t, b.asks(b.visit("clara"), "client.start-collection :request-id "+pierre), []string{
			"COLLECTING | Question 6 of 6: the beneficial owner | Name of the trust |  | You have given 5 of 6 answers about the beneficial owner. This is what is left."})
		if got := b.asks(b.visit("clara"), `client.collection-response :field "trust_name" :value "Dupont Family Trust"`); len(got) != 6 || !strings.HasPrefix(got[0], "REVIEWING") {
			t.Errorf("%q", got)
		}
		b.asks(b.visit("clara"), "client.collection-confirm :confirmed true")
		sent = b.rows("info-submission")
		if got := status(); got != "PENDING_REVIEW" || len(sent) != 2 || len(b.rows("review-task")) != 1 {
			t.Errorf("%s, %v, %v", got, sent, b.rows("review-task"))
		}

		// While the bank looks at an answer, half of another takes it from nobody.
		give("")
		if got := status(); got != "PENDING_REVIEW" || len(b.rows("review-task")) != 1 {
			t.Error(got)
		}
		// All of it at once is all of it.
		if n := give(` :trust_name "Dupont Family Trust"`).Calls[0].Notices; len(n) != 2 {
			t.Errorf("%+v", n)
		}
		// What is always needed is no follow-up.
		_, err = b.say(s, "client.provide-info :request-id "+pierre+` :info-type BENEFICIAL_OWNER :collected-data {:full_name "Pierre Dupont" :control "TRUST"}`, engine.RunOptions{})
		var r *engine.Refusal
		if !errors.As(err, &r) || strings.Contains(r.Error(), "trust_name") || !strings.Contains(r.Error(), "nationality") || !strings.Contains(r.Error(), "date_of_birth") {
			t.Errorf("%v", err)
		}
	})
}

// O17, O35, X12: a person takes over with the whole conversation, what is
// outstanding and what was tried; it asks first, and shows what goes along.
func TestEscalationTransfersContext(t *testing.T) {
	t.Parallel()
	banks(t, func(t *testing.T, b *bank) {
		s := b.visit("clara")
		b.asks(s, "client.start-collection :request-id "+pierre)
		for i := range 5 {
			if _, err := s.Turns().Say(ctx, sessions.Said{Role: sessions.Client, Content: fmt.Sprintf("My question %d", i)},
				sessions.Said{Role: sessions.Agent, Content: fmt.Sprintf("My answer %d", i), Action: []string{"explained the request", "explained the request", "noted a date", "", ""}[i]}); err != nil {
				t.Fatal(err)
			}
		}
		call := `client.escalate :reason "I am lost" :preferred-contact CALL`
		b.refused(s, call, "needs-agreement")
		script, _ := dsl.Parse(dsl.NewSource("story.dsl", call))
		p, _ := s.Check(context.Background(), script)
		preview, err := s.Preview(ctx, p)
		if err != nil || len(preview.Calls[0].Rows) != 1 {
			t.Fatal(err)
		}
		shown := fmt.Sprint(preview.Calls[0].Rows[0].Fields)
		for _, want := range []string{"My question 0", "My answer 4", "Pierre Dupont BENEFICIAL_OWNER"} {
			if !strings.Contains(shown, want) {
				t.Errorf("the preview does not show %q: %s", want, shown)
			}
		}
		reply, err := s.Run(ctx, p, engine.RunOptions{Agreed: preview.ID, Said: []sessions.Said{{Role: sessions.Client, Content: "yes"}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := reply.Calls[0].Result.Rows[0]; got[0].Text() != "E-1" || got[2].Int() != 10 || got[4].Text() != "I have passed this conversation on to your relationship manager. Your reference is E-1." {
			t.Errorf("%v", got)
		}
		all := b.rows("escalation-request")
		if len(all) != 1 || strings.Count(all[0]["transcript"], `"said":`) != 10 || all[0]["tried"] != `["explained the request","noted a date"]` ||
			strings.Count(all[0]["outstanding"], `"request":`) != 6 || !strings.Contains(all[0]["outstanding"], `"answered":"0 of 5"`) || all[0]["relationship_manager"] != "s.keller" || all[0]["preferred_contact"] != "CALL" {
			t.Errorf("%v", all)
		}
		if strings.Contains(all[0]["outstanding"], "Jonas") {
			t.Error("another company's requests went along")
		}
		jobs, err := b.store.Jobs(ctx, stores.JobFilter{})
		if err != nil || len(jobs) != 1 || !strings.Contains(jobs[0].Payload, `relationship-manager`) || strings.Contains(jobs[0].Payload, "My question") {
			t.Errorf("%+v, %v", jobs, err)
		}
		// What was said after somebody looked is not passed on without a look.
		preview, err = s.Preview(ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Turns().Say(ctx, sessions.Said{Role: sessions.Client, Content: "and something private"}); err != nil {
			t.Fatal(err)
		}
		_, err = s.Run(ctx, p, engine.RunOptions{Agreed: preview.ID})
		var r *engine.Refusal
		if !errors.As(err, &r) || r.Diagnostics[0].Code != "stale-preview" {
			t.Errorf("%v", err)
		}
	})
}

// Every kind of information can be asked for, from its first question to its
// last, with the examples that its schema shows.
func TestEveryKindCanBeAskedFor(t *testing.T) {
	t.Parallel()
	reg := registry(t)
	e := reg.Entity("collection")
	codes := e.Fields[e.Store.FieldIndex("info_type")].Type.Codes
	if len(codes.Codes) < 6 {
		t.Fatalf("%d kinds", len(codes.Codes))
	}
	for _, c := range codes.Codes {
		form, err := forms.Read(c.Schema)
		if err != nil {
			t.Fatal(err)
		}
		filled, err := form.Fill(stores.Value{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for filled.Next() != nil {
			q := filled.Next()
			var wrong *forms.Wrong
			if filled, wrong = filled.Answer(q.Field, str(q.Example), forms.In{Now: time.Date(2024, 12, 27, 0, 0, 0, 0, time.UTC)}); wrong != nil {
				t.Fatalf("%s: the example of %s does not do: %+v", c.Name, q.Field, wrong)
			}
		}
		if found, err := c.Schema.Check(filled.Object()); err != nil || len(found) > 0 {
			t.Errorf("%s: %+v, %v", c.Name, found, err)
		}
	}
}

// O11, O15, O20: what is given at once, and lacks something, goes into the questions
// that are open for the same request, in this process or another: what was
// answered before is kept, what was given now takes its place, and what is still
// missing is asked next. An answer to a question that was answered meanwhile is
// taken for no other.
func TestWhatIsGivenAtOnceGoesIntoTheOpenQuestions(t *testing.T) {
	t.Parallel()
	banks(t, func(t *testing.T, b *bank) {
		give := func(data string) {
			t.Helper()
			if _, err := b.say(b.visit("clara"), "client.provide-info :request-id "+pierre+` :info-type BENEFICIAL_OWNER :collected-data {`+data+`}`, engine.RunOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		only := func() map[string]string {
			t.Helper()
			all := b.rows("collection")
			if len(all) != 1 {
				t.Fatalf("%d collections", len(all))
			}
			return all[0]
		}
		b.asks(b.visit("clara"), "client.start-collection :request-id "+pierre)
		b.asks(b.visit("clara"), `client.collection-response :field "full_name" :value "P. Dupont"`)
		b.asks(b.visit("clara"), `client.collection-response :field "control_details" :value "He appoints the board."`)
		b.asks(b.visit("clara"), `client.collection-skip :field "nationality"`)

		give(`:full_name "Pierre Dupont" :date_of_birth 1972-03-15 :nationality "FR" :ownership_percent 40 :control "TRUST"`)
		// The question that was open is answered; what comes now is no answer to the
		// one that is asked instead.
		got := b.asks(b.visit("clara"), `client.collection-response :value "15 March 1971"`)
		equal(t, got, []string{"COLLECTING | Question 6 of 6: the beneficial owner | Name of the trust |  | You have given 5 of 6 answers about the beneficial owner. This is what is left."})
		c := only()
		if !strings.Contains(c["collected"], `"full_name":"Pierre Dupont"`) || !strings.Contains(c["collected"], "1972-03-15") || strings.Contains(c["collected"], "1971") ||
			c["current_field"] != "trust_name" || strings.Contains(c["skipped"], "nationality") {
			t.Errorf("%v", c)
		}
		// It is taken in once: what is answered after it stays.
		b.asks(b.visit("clara"), `client.collection-response :field "full_name" :value "Pierre Jean Dupont"`)
		if got := b.asks(b.visit("clara"), "client.start-collection :request-id "+pierre); !strings.Contains(got[0], "Name of the trust") {
			t.Errorf("%q", got)
		}
		b.asks(b.visit("clara"), `client.collection-response :value "Dupont Family Trust"`)
		if c = only(); c["status"] != "REVIEWING" || !strings.Contains(c["collected"], "Pierre Jean Dupont") {
			t.Errorf("%v", c)
		}
		// Also what is to be checked already: another control has another question.
		give(`:full_name "Pierre Dupont" :date_of_birth 1972-03-15 :nationality "FR" :ownership_percent 45 :control "OTHER"`)
		if got := b.asks(b.visit("clara"), "client.start-collection :request-id "+pierre); !strings.Contains(got[0], "How exactly") {
			t.Errorf("%q", got)
		}
		b.asks(b.visit("clara"), `client.collection-response :value "She appoints the board."`)
		b.asks(b.visit("clara"), "client.collection-confirm :confirmed true")
		sent := b.rows("info-submission")
		last := sent[0]
		for _, row := range sent {
			if row["missing"] == "[]" {
				last = row
			}
		}
		if c = only(); c["status"] != "SUBMITTED" || !strings.Contains(last["collected_data"], `"ownership_percent":45`) {
			t.Errorf("%v, %v", c, last)
		}
	})
}
