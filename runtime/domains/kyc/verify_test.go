package kyc_test

import (
	"context"
	"crypto/ecdh"
	"crypto/hpke"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/domains/kyc"
	"verbatim/runtime/engine"
	"verbatim/runtime/engine/seal"
	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/receipt"
	"verbatim/stores/sqlite"
	"verbatim/verbs"
	"verbatim/verbs/load"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

var ctx = context.Background()

// An agent is the palette of the example over the people of the example.
type agent struct {
	t        testing.TB
	reg      *verbs.Registry
	handlers *engine.Handlers
	engine   *engine.Engine
	store    stores.Store

	mu    sync.Mutex
	clock time.Time
}

func (a *agent) now() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.clock = a.clock.Add(time.Second)
	return a.clock
}

// hourly is a clock that goes on by an hour with each look, so that no limit is reached.
func (a *agent) hourly() func() time.Time {
	return func() time.Time {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.clock = a.clock.Add(time.Hour)
		return a.clock
	}
}

func agents(t *testing.T, fn func(t *testing.T, a *agent)) {
	for name, open := range map[string]func(t testing.TB) stores.Store{
		"sqlite": func(t testing.TB) stores.Store {
			s, err := sqlite.Open(filepath.Join(t.TempDir(), "kyc.db"))
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
		"postgres": func(t testing.TB) stores.Store {
			db := pgtest.Database(t)
			s, err := postgres.Open(ctx, db.App, postgres.MigrateAs(db.Owner))
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fn(t, newAgent(t, open(t)))
		})
	}
}

func newAgent(t testing.TB, store stores.Store) *agent {
	t.Helper()
	t.Cleanup(func() { store.Close() })
	reg, ds := load.Dir(os.DirFS("../../../verbs/palettes/kyc"))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	h := &engine.Handlers{}
	kyc.Register(h)
	a := &agent{t: t, reg: reg, handlers: h, store: store, clock: time.Date(2026, 11, 25, 9, 0, 0, 0, time.UTC)}
	var tables []*stores.Entity
	for _, e := range reg.Entities() {
		tables = append(tables, e.Store)
	}
	if plan, err := store.Migrate(ctx, append(tables, engine.Own()...), true); err != nil || len(plan.Problems) > 0 {
		t.Fatal(err, plan)
	}
	script, err := os.ReadFile("../../../examples/kyc/people.sql")
	if err != nil {
		t.Fatal(err)
	}
	const who = `INSERT INTO verbatim_principal (name, label) VALUES ('northbank', 'Northbank'), ('southbank', 'Southbank'), ('safe-wallet', 'Safe Wallet'), ('other-wallet', 'Other Wallet'), ('rosa', 'Rosa Lind'), ('omar', 'Omar Haddad');
INSERT INTO verbatim_grant (principal, role, entity, key) VALUES
    ('northbank', 'peer', 'peer', '00000004-0000-4000-8000-000000000001'), ('southbank', 'peer', 'peer', '00000004-0000-4000-8000-000000000002'),
    ('safe-wallet', 'wallet', '', ''), ('other-wallet', 'wallet', '', ''), ('rosa', 'compliance', '', ''), ('omar', 'compliance', '', '')`
	if err := store.(interface {
		Load(context.Context, string, ...*stores.Entity) error
	}).Load(ctx, string(script)+";\n"+who); err != nil {
		t.Fatal(err)
	}
	if _, err := store.(stores.Searcher).Index(ctx, reg.Entity("person").Store, true); err != nil {
		t.Fatal(err)
	}
	if a.engine, err = engine.New(reg, store, engine.Options{Clock: a.now, Handlers: h}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.engine.NameRows(ctx); err != nil {
		t.Fatal(err)
	}
	return a
}

func (a *agent) run(who, text string) (*receipt.Receipt, error) {
	a.t.Helper()
	s, p, err := a.checked(who, text)
	if err != nil {
		return nil, err
	}
	return s.Run(ctx, p, engine.RunOptions{})
}

func (a *agent) checked(who, text string) (*engine.Session, *verbs.Program, error) {
	a.t.Helper()
	s, err := a.engine.Session(ctx, who)
	if err != nil {
		a.t.Fatal(err)
	}
	script, ds := dsl.Parse(dsl.NewSource("test", text))
	if !ds.HasErrors() {
		var p *verbs.Program
		if p, ds = s.Check(ctx, script); !ds.HasErrors() {
			return s, p, nil
		}
	}
	return nil, nil, fmt.Errorf("%v", ds)
}

// previewed is a preview of one call that tells nothing of what comes of it.
func (a *agent) previewed(who, text string) {
	a.t.Helper()
	s, p, err := a.checked(who, text)
	if err != nil {
		a.t.Fatal(err)
	}
	r, err := s.Preview(ctx, p)
	if err != nil {
		a.t.Fatal(err)
	}
	if c := r.Calls[0]; !c.Result.Hidden() || len(c.Rows) > 0 {
		a.t.Errorf("a preview of %s tells %+v", text, c)
	}
}

// tells is one value of the last answer of a script.
func (a *agent) tells(who, text, column string) string {
	a.t.Helper()
	r, err := a.run(who, text)
	if err != nil {
		a.t.Fatalf("%s: %v", text, err)
	}
	table := r.Calls[len(r.Calls)-1].Result
	i := slices.Index(table.Columns, column)
	if i < 0 || len(table.Rows) == 0 {
		a.t.Fatalf("%s tells %v, and no %s", text, table.Columns, column)
	}
	return strings.Trim(fmt.Sprint(table.Rows[0][i]), `"`)
}

// refused is what a script is refused with.
func (a *agent) refused(who, text string) string {
	a.t.Helper()
	_, err := a.run(who, text)
	if err == nil {
		a.t.Fatalf("%s is not refused", text)
	}
	return err.Error()
}

// begun begins a verification, and returns its status and what it is called.
func (a *agent) begun(who, text string) (status, name string) {
	a.t.Helper()
	r, err := a.run(who, text)
	if err != nil {
		a.t.Fatalf("%s: %v", text, err)
	}
	return strings.Trim(fmt.Sprint(r.Calls[0].Result.Rows[0][0]), `"`), r.Calls[0].Rows[0].Name
}

// secrets are what is stored of people.
var secrets = []string{"5550123", "555-0123", "john.smith@", "219-09-9999", "1980-05-01", "4155550132", "mgarcia@", "078-05-1120", "1975-11-30", "2125550171", "wei.zhang", "457-55-5462", "2065550144", "ana.novak@", "a.novak@post", "536-22", "3125550188", "bill@mail", "387-01", "R-100"}

// The scenarios of the source, from the first message to the last.
func TestAVerificationFromEndToEnd(t *testing.T) { // H1, H17, H25, H26, H27, H28, H33, H34, H36
	t.Parallel()
	agents(t, func(t *testing.T, a *agent) {
		for text, want := range map[string]string{
			`kyc.verify :name "John Smith" :phone "555-0123"`:                                            "VERIFIED",
			`kyc.verify :name "Jon Smith" :phone "5550123"`:                                              "VERIFIED",
			`kyc.verify :name "Jane Unknown" :phone "9999999"`:                                           "REJECTED",
			`kyc.verify :name "John Smith"`:                                                              "NEEDS_IDENTIFIERS",
			`kyc.verify :name "Jane Unknown"`:                                                            "NEEDS_IDENTIFIERS",
			`kyc.verify :name "Garcia Maria" :email "MGarcia@mail.example"`:                              "VERIFIED",
			`kyc.verify :name "Ana Novak" :phone "(206) 555-0144"`:                                       "CHALLENGED",
			`kyc.verify :name "Ana Novak" :phone "206 555 0144" :birth-date 1993-01-21`:                  "VERIFIED",
			`kyc.verify :name "Bill OBrien" :ssn-last4 "4455"`:                                           "VERIFIED",
			`kyc.verify :name "Zhang Wei" :phone "212-555-0171" :birth-date 1990-02-14 :risk-level HIGH`: "HELD",
			`kyc.verify :name "Zhang Wei" :phone "212-555-0171" :risk-level HIGH`:                        "CHALLENGED",
		} {
			if got, _ := a.begun("northbank", text); got != want {
				t.Errorf("%s: %s, want %s", text, got, want)
			}
		}
		// Its own level is the least that a peer asks by.
		if got := a.refused("northbank", `kyc.verify :name "John Smith" :phone "555-0123" :risk-level LOW`); !strings.Contains(got, "not milder") {
			t.Error(got)
		}
		// A challenge is corrected, as often as five times.
		status, v := a.begun("northbank", `kyc.verify :name "John Smith" :phone "555-0199"`)
		if status != "CHALLENGED" {
			t.Fatal(status)
		}
		message := a.tells("northbank", "kyc.status :verification-id "+v, "message")
		log := a.tells("northbank", "kyc.explain :verification-id "+v, "log")
		for _, secret := range secrets {
			if strings.Contains(message+log, secret) {
				t.Errorf("%q is told: %s %s", secret, message, log)
			}
		}
		if got := a.tells("northbank", "kyc.supply :verification-id "+v+` :phone "5550123"`, "status"); got != "VERIFIED" {
			t.Error(got)
		}
		a.refused("northbank", "kyc.supply :verification-id "+v+` :phone "5550123"`)
		// Another peer's verification does not exist.
		for _, verb := range []string{"status", "explain", "cancel"} {
			if got := a.refused("southbank", "kyc."+verb+" :verification-id "+v); !strings.Contains(got, "unknown-name") && !strings.Contains(got, "nothing") {
				t.Error(got)
			}
		}
		// Compliance sees both renderings of the steps, and every challenge.
		_, second := a.begun("northbank", `kyc.verify :name "Jon Smith" :email "x@mail.example"`)
		if seen := a.tells("rosa", "kyc.review :verification-id "+second, "seen"); !strings.Contains(seen, `John Smith`) || !strings.Contains(seen, "90.0% alike by letters") {
			t.Error(seen)
		}
		if r, err := a.run("rosa", "kyc.challenges"); err != nil || len(r.Calls[0].Result.Rows) != 4 {
			t.Errorf("%v, %v", r, err)
		}
		// So it is counted by day.
		r, err := a.run("rosa", "kyc.outcomes-by-day")
		if err != nil {
			t.Fatal(err)
		}
		var counted []string
		for _, row := range r.Calls[0].Result.Rows {
			counted = append(counted, fmt.Sprint(row[0].Text(), " ", row[1].Text(), " ", row[2].Text()))
		}
		if want := []string{"2026-11-25 CHALLENGED 3", "2026-11-25 HELD 1", "2026-11-25 NEEDS_IDENTIFIERS 2", "2026-11-25 REJECTED 1", "2026-11-25 VERIFIED 6"}; !slices.Equal(counted, want) {
			t.Errorf("%q, want %q", counted, want)
		}
		a.refused("northbank", "kyc.outcomes-by-day")
		a.refused("northbank", "kyc.review :verification-id "+second)
		// The journal tells each, with who asked, and holds nothing that is stored.
		entries, err := a.store.Journal(ctx, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			told := e.Call + string(e.Changes)
			for _, secret := range secrets {
				if strings.Contains(told, secret) && !strings.Contains(told, "people.sql") {
					t.Errorf("%s holds %q", told, secret)
				}
			}
		}
	})
}

// The number of somebody who agreed is sealed for the peer's key, once; a link is good for
// one wallet, once, for an hour (H13, H14).
func TestWhatIsGivenAwayOfSomebodyWhoAgreed(t *testing.T) {
	t.Parallel()
	agents(t, func(t *testing.T, a *agent) {
		private, err := ecdh.X25519().GenerateKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		owner, err := hpke.NewDHKEMPrivateKey(private)
		if err != nil {
			t.Fatal(err)
		}
		key := base64.StdEncoding.EncodeToString(private.PublicKey().Bytes())
		open := func(sealed string, info ...string) string {
			raw, err := base64.StdEncoding.DecodeString(sealed)
			if err != nil {
				t.Fatal(err)
			}
			plain, err := hpke.Open(owner, hpke.HKDFSHA256(), hpke.AES256GCM(), []byte(seal.Info(info...)), raw)
			if err != nil {
				return err.Error()
			}
			return string(plain)
		}
		_, v := a.begun("northbank", `kyc.verify :name "John Smith" :phone "555-0123"`)
		exchange := fmt.Sprintf("kyc.exchange-keys :verification-id %s :public-key %q", v, key)
		a.previewed("northbank", exchange)
		r, err := a.run("northbank", exchange)
		if err != nil {
			t.Fatal(err)
		}
		text := r.Calls[0].Text
		bound := strings.Fields(text[strings.Index(text, "~")+1:])[0]
		sealed := strings.Trim(fmt.Sprint(r.Calls[0].Result.Rows[0][1]), `"`)
		if got := open(sealed, "kyc.exchange-keys", "ssn", "northbank", bound); got != "219-09-9999" {
			t.Errorf("it opens to %q", got)
		}
		if got := open(sealed, "kyc.exchange-keys", "ssn", "southbank", bound); got == "219-09-9999" {
			t.Error("it opens for another peer")
		}
		a.refused("northbank", fmt.Sprintf("kyc.exchange-keys :verification-id %s :public-key %q", v, key))
		a.refused("northbank", fmt.Sprintf("kyc.exchange-keys :verification-id %s :public-key %q", v, base64.StdEncoding.EncodeToString(make([]byte, 32))))
		// Whoever did not agree is kept.
		_, wei := a.begun("northbank", `kyc.verify :name "Wei Zhang" :phone "212-555-0171"`)
		if got := a.refused("northbank", fmt.Sprintf("kyc.exchange-keys :verification-id %s :public-key %q", wei, key)); !strings.Contains(got, "did not agree") {
			t.Error(got)
		}
		// There is nothing to seal where no number is known, and nothing is spent.
		if err := a.store.(interface {
			Load(context.Context, string, ...*stores.Entity) error
		}).Load(ctx, "INSERT INTO person (person_id, register, record, full_name, phone, consents) VALUES ('00000003-0000-4000-8000-000000000077', '00000001-0000-4000-8000-000000000001', 'R-1077', 'Delta Freight', '5550177', '[\"ACCOUNT_OPENING\"]');\n"); err != nil {
			t.Fatal(err)
		}
		_, delta := a.begun("northbank", `kyc.verify :name "Delta Freight" :phone "555-0177"`)
		if got := a.refused("northbank", fmt.Sprintf("kyc.exchange-keys :verification-id %s :public-key %q", delta, key)); !strings.Contains(got, "no number of that person") {
			t.Error(got)
		}
		if got := a.tells("northbank", "kyc.status :verification-id "+delta, "status"); got != "VERIFIED" {
			t.Error(got)
		}
		// A link that nobody used may be made again, for another wallet, and is then good no longer.
		if r, err = a.run("northbank", "kyc.migrate :verification-id "+v+` :audience "other-wallet"`); err != nil {
			t.Fatal(err)
		}
		old := strings.Trim(fmt.Sprint(r.Calls[0].Result.Rows[0][slices.Index(r.Calls[0].Result.Columns, "link")]), `"`)
		if r, err = a.run("northbank", "kyc.migrate :verification-id "+v+` :audience "safe-wallet"`); err != nil {
			t.Fatal(err)
		}
		table := r.Calls[0].Result
		link := strings.Trim(fmt.Sprint(table.Rows[0][slices.Index(table.Columns, "link")]), `"`)
		redeem := func(link string) string { return fmt.Sprintf("kyc.redeem :link %q :public-key %q", link, key) }
		const bad = "this link is not good"
		for _, link := range []string{link, old} {
			if got := a.refused("other-wallet", redeem(link)); !strings.Contains(got, bad) {
				t.Error(got)
			}
		}
		if got := a.refused("safe-wallet", redeem("00000000-0000-4000-8000-000000000000")); !strings.Contains(got, bad) {
			t.Error(got)
		}
		a.previewed("safe-wallet", redeem(link))
		// Of several at once, one is given it.
		var wg sync.WaitGroup
		var good atomic.Int32
		for range 4 {
			wg.Go(func() {
				r, err := a.run("safe-wallet", redeem(link))
				if err != nil {
					if !strings.Contains(err.Error(), bad) {
						t.Error(err)
					}
					return
				}
				good.Add(1)
				if got := open(strings.Trim(fmt.Sprint(r.Calls[0].Result.Rows[0][1]), `"`), "kyc.redeem", "data", "safe-wallet", link); !strings.Contains(got, "John Smith") || strings.Contains(got, "219-09") {
					t.Error(got)
				}
			})
		}
		wg.Wait()
		if good.Load() != 1 {
			t.Errorf("a link was good %d times", good.Load())
		}
		if got := a.refused("safe-wallet", redeem(link)); !strings.Contains(got, bad) {
			t.Error(got)
		}
		if got := a.refused("northbank", "kyc.migrate :verification-id "+v+` :audience "other-wallet"`); !strings.Contains(got, "was used") {
			t.Error(got)
		}
		// One that is over.
		_, v = a.begun("northbank", `kyc.verify :name "John Smith" :phone "555-0123" :purpose PAYMENT`)
		if r, err = a.run("northbank", "kyc.migrate :verification-id "+v+` :audience "safe-wallet"`); err != nil {
			t.Fatal(err)
		}
		link = strings.Trim(fmt.Sprint(r.Calls[0].Result.Rows[0][slices.Index(table.Columns, "link")]), `"`)
		a.mu.Lock()
		a.clock = a.clock.Add(2 * time.Hour)
		a.mu.Unlock()
		if got := a.refused("safe-wallet", redeem(link)); !strings.Contains(got, bad) {
			t.Error(got)
		}
	})
}

// The numbers of other states are taken, and their last four compared.
func TestANumberIsOfAnyState(t *testing.T) {
	t.Parallel()
	agents(t, func(t *testing.T, a *agent) {
		for i, c := range [][2]string{{"9001014455", "4455"}, {"131052-308T", "308t"}, {"12345678Z", "678Z"}, {"2 55 08 14 168 025 38", "2538"}} {
			name := fmt.Sprintf("Mira %c. Testova", 'A'+i)
			if _, err := a.run("rosa", fmt.Sprintf(`kyc.add-person :register-id "People" :record "S-%d" :full-name %q :ssn %q`, i, name, c[0])); err != nil {
				t.Fatal(c, err)
			}
		}
		if status, _ := a.begun("northbank", `kyc.verify :name "Mira Testova" :ssn-last4 "308t"`); status != "VERIFIED" {
			t.Error(status)
		}
	})
}

// Whoever leaves out a patronymic, a second family name, particles or a legal form is found by what
// else they send, whatever that is.
func TestAShorterNameIsFound(t *testing.T) {
	t.Parallel()
	agents(t, func(t *testing.T, a *agent) {
		for i, c := range [][2]string{{"Теодора Стоянова Кирилова", "Teodora Kirilova"}, {"Nguyễn Thị Ánh Tuyết", "Tuyet Nguyen"}, {"Lucía Fernández Ortega", "Lucia Fernandez"}, {"Кирилов Асен Петров", "Asen Kirilov"}, {"Wilhelmina van der Oye", "Wilhelmina Oye"}, {"Levant Shipping & Trading Ltd.", "Levant Shipping & Trading"}} {
			if _, err := a.run("rosa", fmt.Sprintf(`kyc.add-person :register-id "People" :record "T-%d" :full-name %q :ssn "10010144%02d" :birth-date 1988-01-%02d`, i, c[0], i, i+1)); err != nil {
				t.Fatal(c, err)
			}
			for _, by := range []string{fmt.Sprintf(`:birth-date 1988-01-%02d`, i+1), fmt.Sprintf(`:ssn-last4 "44%02d"`, i)} {
				if status, all := a.answer("northbank", fmt.Sprintf(`kyc.verify :name %q %s`, c[1], by)); status != "VERIFIED" {
					t.Errorf("%s is not found as %s: %s", c[0], c[1], all)
				}
			}
		}
	})
}

// Numbers and addresses that came by SQL, as people write them, are compared as those that were typed.
func TestIdentifiersThatCameBySQL(t *testing.T) {
	t.Parallel()
	agents(t, func(t *testing.T, a *agent) {
		for i, stored := range []string{"+359 888 123 456", "359888123456", "+359888123456", "9888123456", "0888 123 456", "(0888) 12-34-56"} {
			name := []string{"Teodora Kirilova", "Boris Mihaylov", "Ivana Stefcheva", "Georgi Popov", "Lyudmila Zhekova", "Asen Dragiev"}[i]
			if err := a.store.(interface {
				Load(context.Context, string, ...*stores.Entity) error
			}).Load(ctx, fmt.Sprintf("INSERT INTO person (person_id, register, record, full_name, phone, email) VALUES ('00000003-0000-4000-8000-0000000001%02d', '00000001-0000-4000-8000-000000000001', 'Q-%d', '%s', '%s', ' Teodora.%d@Poshta.Example');\n", i, i, name, stored, i)); err != nil {
				t.Fatal(err)
			}
			if _, err := a.store.(stores.Searcher).Index(ctx, a.reg.Entity("person").Store, true); err != nil {
				t.Fatal(err)
			}
			for _, sent := range []string{`:phone "+359 888 123 456"`, `:phone "0888 123 456"`, `:phone "00359888123456"`, fmt.Sprintf(`:email "teodora.%d@poshta.example"`, i)} {
				if status, all := a.answer("northbank", fmt.Sprintf("kyc.verify :name %q %s", name, sent)); status != "VERIFIED" {
					t.Errorf("%q is kept, and %s does not fit it: %s", stored, sent, all)
				}
			}
			if status, _ := a.begun("southbank", fmt.Sprintf(`kyc.verify :name %q :phone "0888 123 457"`, name)); status != "CHALLENGED" {
				t.Error(status)
			}
		}
	})
}
