package rights_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/domains/rights"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/sqlite"
	"verbatim/stores/storetest"
	"verbatim/verbs"
	"verbatim/verbs/load"
)

const garden = `domain: garden
description: Beds, and who may dig in them.
roles:
  - {name: gardener, description: Who digs}
  - {name: owner, description: Who is asked}
  - {name: auditor, description: Who sees all beds, sees: all}
codes: [{name: manner, values: [DRY, WET]}]
entities:
  bed:
    description: A bed.
    table: garden.beds
    key: bed_id
    managed: true
    scope: self
    label: "{name}"
    fields:
      name:  {type: string, required: true}
      holes: {type: integer, default: 0}
verbs:
  - verb: dig
    description: Make a hole.
    roles: [gardener]
    args: [{name: bed-id, type: ref, ref-type: bed, required: true}]
    effects: [{updates: bed.holes, where: bed-id, set: {holes: row.holes + 1}}]
  - verb: pave
    description: Never dig again.
    roles: [gardener]
    args: [{name: bed-id, type: ref, ref-type: bed, required: true}]
    confirm: [{by: owner, reason: it is for good}]
    effects: [{updates: bed.holes, where: bed-id, set: {holes: "-1"}}]
  - verb: feed
    description: Feed a bed, and perhaps others.
    roles: [gardener]
    args:
      - {name: bed-id, type: ref, ref-type: bed, required: true}
      - {name: others, type: list, of: {type: ref, ref-type: bed}}
      - {name: cost, type: money}
      - {name: how, type: code, ref-type: manner}
      - {name: bags, type: integer, default: 1}
    effects: [{updates: bed.holes, where: bed-id, set: {holes: 0}}]
`

type world struct {
	*testing.T
	reg    *verbs.Registry
	store  stores.Store
	engine *engine.Engine
	mu     sync.Mutex
	ids    int
}

const bed = "00000000-0000-4000-8000-0000000000b1"

// newWorld has one bed and two administrators, ada and bela.
func newWorld(t *testing.T, store stores.Store) *world {
	w := &world{T: t, store: store}
	t.Cleanup(func() { store.Close() })
	var ds dsl.Diagnostics
	w.reg, ds = load.Dir(fstest.MapFS{"garden.yaml": {Data: []byte(garden)}}, load.Beside(rights.Source()))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	all := engine.Own()
	for _, e := range w.reg.Entities() {
		all = append(all, e.Store)
	}
	if plan, err := store.Migrate(t.Context(), all, true); err != nil || len(plan.Problems) > 0 {
		t.Fatal(err, plan.Problems)
	}
	h := &engine.Handlers{}
	rights.Register(h, w.reg)
	var err error
	if w.engine, err = engine.New(w.reg, store, engine.Options{Clock: w.now, NewID: w.id, Handlers: h, People: engine.People{Authority: rights.Authority(w.reg), Standing: rights.Standing(w.reg)}}); err != nil {
		t.Fatal(err)
	}
	if _, err := rights.CreateAdministrators(t.Context(), w.reg, store, []string{"ada", "bela"}, w.now(), w.id); err != nil {
		t.Fatal(err)
	}
	e := w.reg.Entity("bed").Store
	key, _ := stores.ParseUUID(bed)
	err = store.Update(t.Context(), stores.Scope{All: true}, func(tx stores.Tx) error {
		return tx.Apply(t.Context(), stores.Batch{Changes: []stores.Change{{Op: stores.Insert, Entity: e, Key: key, Set: []stores.Assign{{Field: e.FieldIndex("name"), Value: stores.NewString("Rose")}}}}})
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) now() time.Time { return time.Date(2025, 1, 3, 10, 0, 0, 0, time.UTC) }

func (w *world) id() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ids++
	return fmt.Sprintf("00000000-0000-4000-9000-%012d", w.ids)
}

// run runs a script as somebody, and says what became of it: "ok", "asked" or
// the code of a refusal.
func (w *world) run(who, text string) string {
	_, said := w.try(who, text)
	return said
}

func (w *world) try(who, text string) (*engine.Pending, string) {
	w.Helper()
	s, err := w.engine.Session(context.Background(), who)
	if err != nil {
		return nil, code(err)
	}
	script, ds := dsl.Parse(dsl.NewSource("test.dsl", text))
	if len(ds) > 0 {
		w.Fatal(ds)
	}
	p, ds := s.Check(context.Background(), script)
	if p == nil {
		return nil, ds[0].Code
	}
	c, err := s.Propose(context.Background(), p, engine.RunOptions{})
	if err != nil {
		return nil, code(err)
	}
	if c.ID != "" {
		return c, "asked"
	}
	_, err = s.Run(context.Background(), p, engine.RunOptions{})
	return nil, code(err)
}

// agree agrees to something as somebody.
func (w *world) agree(who string, c *engine.Pending) string {
	w.Helper()
	s, err := w.engine.Session(context.Background(), who)
	if err != nil {
		return code(err)
	}
	_, _, err = s.Agree(context.Background(), c.ID)
	return code(err)
}

func code(err error) string {
	var r *engine.Refusal
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &r):
		return r.Diagnostics[0].Code
	}
	return err.Error()
}

func (w *world) want(got, want string) {
	w.Helper()
	if got != want {
		w.Errorf("%s, want %s", got, want)
	}
}

// both runs a test on both stores.
func both(t *testing.T, test func(w *world)) {
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		store, err := sqlite.Open(t.TempDir() + "/system.db")
		if err != nil {
			t.Fatal(err)
		}
		test(newWorld(t, store))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		db := pgtest.Database(t)
		store, err := postgres.Open(t.Context(), db.App, postgres.MigrateAs(db.Owner))
		if err != nil {
			t.Fatal(err)
		}
		test(newWorld(t, store))
	})
}

const vera = `system.add-principal :name "vera" :as @v
system.grant-role :principal-id @v :role "gardener"
system.grant-scope :principal-id @v :entity "bed" :key "` + bed + `"`

// SAFE-A3: what somebody may do follows what was granted, at once, and granting
// is for administrators.
func TestRightsFollowWhatIsGranted(t *testing.T) {
	t.Parallel()
	both(t, func(w *world) {
		for _, c := range []struct{ who, text, want string }{
			{"vera", "garden.dig :bed-id @rose", "unknown-principal"},
			{"ada", "garden.dig :bed-id @rose", "unknown-name"},
			{"ada", `system.add-principal :name "vera"`, "ok"},
			{"ada", `system.add-principal :name "vera"`, "already-exists"},
			{"vera", "garden.dig :bed-id " + bed, "not-permitted"},
			{"ada", `system.grant-role :principal-id "vera" :role "gardner"`, "not-possible"},
			{"ada", `system.grant-role :principal-id "vera" :role "gardener"`, "ok"},
			{"ada", `system.grant-role :principal-id "vera" :role "gardener"`, "already-exists"},
			{"vera", "garden.dig :bed-id " + bed, "unknown-name"},
			{"ada", `system.grant-scope :principal-id "vera" :entity "bed" :key "nettle"`, "not-possible"},
			{"ada", `system.grant-scope :principal-id "vera" :entity "bed" :key "` + strings.ReplaceAll(bed, "1", "9") + `"`, "not-possible"},
			{"ada", `system.grant-scope :principal-id "vera" :entity "system-realm" :key "all"`, "not-possible"},
			{"ada", `system.grant-scope :principal-id "vera" :entity "system-role" :key "all"`, "not-possible"},
			{"ada", `system.grant-scope :principal-id "vera" :entity "nowhere" :key "all"`, "not-possible"},
			{"ada", `system.grant-scope :principal-id "vera" :entity "bed" :key "` + bed + `"`, "ok"},
			{"vera", "garden.dig :bed-id @rose", "ok"},
			{"vera", `system.grant-role :principal-id "vera" :role "owner"`, "unknown-name"},
			{"vera", "system.list-principals", "not-permitted"},
			{"ada", "system.list-principals system.list-roles system.list-scopes", "ok"},
			{"ada", `system.revoke-scope :principal-id "vera" :entity "bed" :key "` + bed + `"`, "ok"},
			{"ada", `system.revoke-scope :principal-id "vera" :entity "bed" :key "` + bed + `"`, "not-possible"},
			{"vera", "garden.dig :bed-id " + bed, "unknown-name"},
			// A row is called what people call it: its label or its name, and so it is taken back.
			{"ada", `system.grant-scope :principal-id "vera" :entity "bed" :key "rose"`, "ok"},
			{"vera", "garden.dig :bed-id @rose", "ok"},
			{"ada", `system.revoke-scope :principal-id "vera" :entity "bed" :key "@rose"`, "ok"},
			{"vera", "garden.dig :bed-id " + bed, "unknown-name"},
			{"ada", `system.grant-scope :principal-id "vera" :entity "bed" :key "@rose~zzzz"`, "not-possible"},
			{"ada", `system.revoke-role :principal-id "vera" :role "gardener"`, "ok"},
			{"ada", `system.revoke-role :principal-id "vera" :role "gardener"`, "not-possible"},
			{"vera", "garden.dig :bed-id " + bed, "not-permitted"},
		} {
			if got := w.run(c.who, c.text); got != c.want {
				w.Errorf("%s: %s: %s, want %s", c.who, c.text, got, c.want)
			}
		}
	})
}

// What gives much takes two: roles that see every row, that of administrator,
// and whatever somebody would give themselves.
func TestMuchTakesTwo(t *testing.T) {
	t.Parallel()
	both(t, func(w *world) {
		w.want(w.run("ada", vera), "ok")
		for _, role := range []string{"auditor", "administrator"} {
			w.want(w.run("ada", `system.grant-role :principal-id "vera" :role "`+role+`"`), "not-possible")
			c, said := w.try("ada", `system.grant-high-role :principal-id "vera" :role "`+role+`"`)
			w.want(said, "asked")
			if c == nil {
				return
			}
			w.want(w.agree("ada", c), "same-person")
			w.want(w.agree("vera", c), map[string]string{"auditor": "unknown-confirmation", "administrator": "unknown-confirmation"}[role])
			w.want(w.agree("bela", c), "ok")
		}
		w.want(w.run("ada", `system.grant-high-role :principal-id "vera" :role "gardener"`), "not-possible")
		w.want(w.run("ada", `system.grant-role :principal-id "ada" :role "gardener"`), "asked")
		w.want(w.run("ada", `system.grant-scope :principal-id "ada" :entity "bed" :key "`+bed+`"`), "asked")
		w.want(w.run("vera", "system.list-principals"), "ok")
	})
}

// Who left may do nothing, is known by nothing, and what they are called stands nowhere: not in a
// row, and, once it is erased there, not in the journal. G85
func TestWhoLeftIsForgotten(t *testing.T) {
	t.Parallel()
	both(t, func(w *world) {
		w.want(w.run("ada", vera), "ok")
		w.want(w.run("ada", `system.describe-principal :principal-id "vera" :label "Vera Rosengarten" :email "vera@rosengarten.example"`), "ok")
		for _, text := range []string{`system.add-identity :principal-id "vera" :issuer "email" :subject "vera@rosengarten.example"`,
			`system.add-token :principal-id "vera" :name "t" :digest "` + strings.Repeat("0", 64) + `" :audience "https://x.example" :expires-at 2030-01-01T00:00:00Z`} {
			c, said := w.try("ada", text)
			w.want(said, "asked")
			w.want(w.agree("bela", c), "ok")
		}
		w.want(w.run("vera", "garden.dig :bed-id @rose"), "ok")
		c, said := w.try("ada", `system.end-principal :principal-id "vera"`)
		w.want(said, "asked")
		w.want(w.agree("ada", c), "same-person")
		w.want(w.agree("bela", c), "ok")
		w.want(w.run("vera", "garden.dig :bed-id "+bed), "not-permitted")
		rows := ""
		for _, e := range w.reg.Entities() {
			if !strings.HasPrefix(e.Store.Name, "system-") {
				continue
			}
			err := w.store.View(t.Context(), stores.Scope{All: true}, func(r stores.Reader) error {
				found, err := r.Find(t.Context(), stores.Find{Entity: e.Store})
				for _, row := range found {
					for _, v := range row {
						rows += v.Text() + "\n"
					}
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if strings.Contains(strings.ToLower(rows), "rosengarten") {
			t.Errorf("their name is in the rows of rights:\n%s", rows)
		}
		entries, err := w.store.Journal(t.Context(), 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			// What can be erased stands apart from what the hash covers.
			if strings.Contains(e.Call+e.Changes+e.Preview+e.Agreed, "osengarten") {
				t.Errorf("entry %d tells for ever: %s %s", e.Seq, e.Call, e.Changes)
			}
		}
		c, said = w.try("ada", `system.end-principal :principal-id "bela"`)
		w.want(said, "asked")
		w.want(w.agree("bela", c), "ok")
		w.want(w.run("ada", `system.end-principal :principal-id "ada"`), "not-possible")
	})
}

// The last administrator stays, also when two take each other's role at the
// same moment; and there are first ones once.
func TestTheLastAdministratorStays(t *testing.T) {
	t.Parallel()
	both(t, func(w *world) {
		if _, err := rights.CreateAdministrators(context.Background(), w.reg, w.store, []string{"eve"}, w.now(), w.id); !errors.Is(err, rights.ErrHasAdministrators) {
			w.Error(err)
		}
		var done sync.WaitGroup
		said := make([]string, 2)
		for i, names := range [][2]string{{"ada", "bela"}, {"bela", "ada"}} {
			done.Add(1)
			go func() {
				defer done.Done()
				said[i] = w.run(names[0], `system.revoke-role :principal-id "`+names[1]+`" :role "administrator"`)
			}()
		}
		done.Wait()
		if (said[0] == "ok") == (said[1] == "ok") {
			w.Errorf("they were both unmade, or neither: %q", said)
		}
		last := "ada"
		if said[1] == "ok" {
			last = "bela"
		}
		w.want(w.run(last, `system.revoke-role :principal-id "`+last+`" :role "administrator"`), "not-possible")
		w.want(w.run(last, "system.list-roles"), "ok")
		// Alone, they can make no other, so the second is made as the first were: of whoever is meant, known or not.
		other := map[string]string{"ada": "bela", "bela": "ada"}[last]
		create := func(name string) error {
			_, err := rights.CreateAdministrators(context.Background(), w.reg, w.store, []string{name}, w.now(), w.id)
			return err
		}
		if err := create(last); !errors.Is(err, rights.ErrHasAdministrators) {
			w.Error("who is one already: ", err)
		}
		if err := create(other); err != nil {
			w.Error("the second: ", err)
		}
		if err := create("eve"); !errors.Is(err, rights.ErrHasAdministrators) {
			w.Error("a third: ", err)
		}
		w.want(w.run(other, `system.revoke-role :principal-id "`+last+`" :role "administrator"`), "ok")
	})
}

// SAFE-A3: a role that is lost while a confirmation waits is lost for it, be it
// that of whoever asked or of whoever would agree; so is a row.
func TestWhatIsLostWhileItWaitsIsLost(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]struct{ text, want string }{
		"nothing":            {"system.list-roles", "ok"},
		"the asker's role":   {`system.revoke-role :principal-id "vera" :role "gardener"`, "role-lost"},
		"the asker's row":    {`system.revoke-scope :principal-id "vera" :entity "bed" :key "` + bed + `"`, "stale-preview"},
		"the decider's role": {`system.revoke-role :principal-id "olga" :role "owner"`, "unknown-confirmation"},
		"the decider's row":  {`system.revoke-scope :principal-id "olga" :entity "bed" :key "` + bed + `"`, "unknown-confirmation"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, func(w *world) {
				olga := strings.NewReplacer("vera", "olga", "gardener", "owner").Replace(vera)
				w.want(w.run("ada", vera), "ok")
				w.want(w.run("ada", olga), "ok")
				c, said := w.try("vera", "garden.pave :bed-id @rose")
				if w.want(said, "asked"); c == nil {
					return
				}
				w.want(w.run("bela", lose.text), "ok")
				w.want(w.agree("olga", c), lose.want)
				paved := false
				err := w.store.View(context.Background(), stores.Scope{All: true}, func(r stores.Reader) error {
					e := w.reg.Entity("bed").Store
					rows, err := r.Find(context.Background(), stores.Find{Entity: e})
					paved = len(rows) == 1 && rows[0][e.FieldIndex("holes")].Int() == -1
					return err
				})
				if err != nil || paved != (lose.want == "ok") {
					w.Errorf("paved: %v %v", paved, err)
				}
			})
		})
	}
}

// Somebody whom these verbs know has what they gave, whatever the store's own
// table says; everybody else has what the table says.
func TestGrantedRightsComeFirst(t *testing.T) {
	t.Parallel()
	both(t, func(w *world) {
		key, _ := stores.ParseUUID(bed)
		for _, name := range []string{"vera", "old"} {
			if err := w.store.SetPrincipal(context.Background(), stores.Principal{Name: name, Roles: []string{"gardener"}, Holds: map[string][]stores.Value{"bed": {key}}}); err != nil {
				w.Fatal(err)
			}
		}
		w.want(w.run("vera", "garden.dig :bed-id @rose"), "ok")
		w.want(w.run("ada", `system.add-principal :name "vera"`), "ok")
		w.want(w.run("vera", "garden.dig :bed-id "+bed), "not-permitted")
		w.want(w.run("old", "garden.dig :bed-id @rose"), "ok")
		names, err := rights.Names(context.Background(), w.reg, w.store)
		if strings.Join(names, " ") != "ada bela vera" || err != nil {
			w.Error(names, err)
		}
		// What is granted and revoked stands in the journal.
		entries, err := w.store.Journal(context.Background(), 1, 0)
		if err != nil || len(entries) < 3 || entries[0].Verb != "system.found" || !strings.Contains(entries[len(entries)-1].Verb, "garden.dig") {
			w.Error(len(entries), err)
		}
	})
}

// X10, OB15: work that failed is looked at, tried again and dropped by verbs: for
// operators only, dropping only when agreed to, each in the journal with what it
// does, and nothing of it where the transaction fails or the job has moved on.
func TestWorkThatFailedIsLookedAfter(t *testing.T) {
	t.Parallel()
	both(t, func(w *world) {
		ctx := context.Background()
		noon := w.now()
		for _, name := range []string{"otto", "vera"} {
			role := map[string]string{"otto": "operator", "vera": "gardener"}[name]
			if err := w.store.SetPrincipal(ctx, stores.Principal{Name: name, Roles: []string{role}}); err != nil {
				t.Fatal(err)
			}
		}
		batch := func(b stores.Batch) {
			t.Helper()
			if err := w.store.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error { return tx.Apply(ctx, b) }); err != nil {
				t.Fatal(err)
			}
		}
		payload := `{"args":[{"kind":"string","name":"note","text":"a secret of hers"}],"trigger":"digging","v":1,"verb":"garden.dig"}`
		batch(stores.Batch{Jobs: []stores.Job{
			{ID: "one", Kind: "call", Payload: payload, At: noon, Principal: "vera", Unique: "k"}, {ID: "two", Kind: "call", Payload: payload, At: noon, Principal: "vera"},
			{ID: "later", Kind: "call", Payload: payload, At: noon.Add(time.Hour), Principal: "vera"}}})
		runs, err := storetest.Take(ctx, w.store, noon, "worker", 2)
		if err != nil || len(runs) != 2 {
			t.Fatal(runs, err)
		}
		for _, run := range runs {
			batch(stores.Batch{Settled: []stores.Settlement{{Run: run, State: stores.JobDead, At: noon, Note: "not-permitted"}}})
		}
		state := func(want string) {
			t.Helper()
			all, err := w.store.Jobs(ctx, stores.JobFilter{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, j := range all {
				got = append(got, j.ID+" "+j.State.String())
			}
			slices.Sort(got)
			w.want(strings.Join(got, ", "), want)
		}
		told := func(text string) string {
			t.Helper()
			s, err := w.engine.Session(ctx, "otto")
			if err != nil {
				t.Fatal(err)
			}
			script, _ := dsl.Parse(dsl.NewSource("test.dsl", text))
			p, ds := s.Check(context.Background(), script)
			if p == nil {
				t.Fatal(ds)
			}
			reply, err := s.Run(ctx, p, engine.RunOptions{})
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			for _, row := range reply.Calls[0].Result.Rows {
				lines = append(lines, fmt.Sprint(row[0].Text(), " ", row[1].Text(), " ", row[3].Text(), " ", row[4].Text(), " ", row[9].Text()))
			}
			slices.Sort(lines)
			return strings.Join(lines, "; ")
		}
		w.want(told(`system.jobs`), "one dead garden.dig digging vera not-permitted; two dead garden.dig digging vera not-permitted")
		if all := told(`system.jobs :all true`); !strings.Contains(all, "later waiting") || strings.Contains(all, "secret") {
			t.Error(all)
		}
		w.want(told(`system.jobs :job "later"`), "later waiting garden.dig digging vera ")
		// G10: a notice that no worker has taken is not sent yet, and is no quiet list.
		batch(stores.Batch{Jobs: []stores.Job{{ID: "unsent", Kind: engine.JobNotice, Payload: `{"target":"owner"}`, At: noon.Add(-2 * time.Minute), Principal: "vera"}}})
		w.want(told(`system.jobs`), "one dead garden.dig digging vera not-permitted; two dead garden.dig digging vera not-permitted; unsent waiting owner vera not yet sent: no worker has taken it")
		batch(stores.Batch{JobChanges: []stores.JobChange{{ID: "unsent", Drop: true}}})

		for _, text := range []string{`system.jobs`, `system.retry-job :job "one"`, `system.drop-job :job "one"`} {
			for _, who := range []string{"vera", "ada"} { // an administrator has no part in it by that alone
				w.want(w.run(who, text), "not-permitted")
			}
		}
		w.want(w.run("otto", `system.retry-job :job "nobody"`), "not-possible")
		w.want(w.run("otto", `system.drop-job :job "one"`), "needs-agreement")
		// With a call that is refused it is not done either.
		w.want(w.run("otto", `system.retry-job :job "one" system.retry-job :job "nobody"`), "not-possible")
		state("later waiting, one dead, two dead")

		// What was agreed to is what the job was then.
		s, err := w.engine.Session(ctx, "otto")
		if err != nil {
			t.Fatal(err)
		}
		script, _ := dsl.Parse(dsl.NewSource("test.dsl", `system.drop-job :job "one"`))
		p, _ := s.Check(context.Background(), script)
		shown, err := s.Preview(ctx, p)
		if err != nil || len(shown.Calls[0].JobChanges) != 1 || !shown.Calls[0].JobChanges[0].Drop || shown.Calls[0].JobChanges[0].What != "garden.dig digging" {
			t.Fatalf("%+v, %v", shown, err)
		}
		w.want(w.run("otto", `system.retry-job :job "one"`), "ok")
		state("later waiting, one waiting, two dead")
		_, err = s.Run(ctx, p, engine.RunOptions{Agreed: shown.ID})
		w.want(code(err), "stale-preview")
		state("later waiting, one waiting, two dead")
		shown, err = s.Preview(ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Run(ctx, p, engine.RunOptions{Agreed: shown.ID, Key: "drop"})
		w.want(code(err), "ok")
		state("later waiting, two dead")
		again, err := s.Run(ctx, p, engine.RunOptions{Agreed: shown.ID, Key: "drop"})
		if err != nil || !again.Repeated || len(again.Calls[0].JobChanges) != 1 {
			t.Errorf("%+v, %v", again, err)
		}

		// Running and done are left alone, and so is one whose key is another's.
		batch(stores.Batch{Jobs: []stores.Job{{ID: "three", Kind: "call", Payload: payload, At: noon, Unique: "k3"}}})
		runs, err = storetest.Take(ctx, w.store, noon, "worker", 1)
		if err != nil || len(runs) != 1 || runs[0].ID != "three" {
			t.Fatal(runs, err)
		}
		w.want(w.run("otto", `system.retry-job :job "three"`), "not-possible")
		batch(stores.Batch{Settled: []stores.Settlement{{Run: runs[0], State: stores.JobDead, At: noon}}, Jobs: []stores.Job{{ID: "four", Kind: "call", Payload: payload, At: noon.Add(time.Hour), Unique: "k3"}}})
		w.want(w.run("otto", `system.retry-job :job "three"`), "not-possible")
		w.want(w.run("otto", `system.retry-job :job "two"`), "ok")
		state("four waiting, later waiting, three dead, two waiting")

		entries, err := w.store.Journal(ctx, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		counts := map[string]int{}
		for _, e := range entries {
			if strings.HasSuffix(e.Verb, "-job") {
				counts[e.Principal+" "+e.Verb+" "+e.Outcome]++
			}
		}
		for what, want := range map[string]int{"otto system.retry-job ok": 2, "otto system.drop-job ok": 1, "vera system.drop-job refused": 1, "ada system.retry-job refused": 1} {
			if counts[what] != want {
				t.Errorf("the journal tells %d times of %s, want %d", counts[what], what, want)
			}
		}
	})
}
