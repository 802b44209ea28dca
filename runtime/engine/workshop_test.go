package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/tests/norace"
	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
	"verbatim/verbs"
)

// The workshops of examples/workshop: tables of PostgreSQL's that another program made,
// with keys of its own, states in small letters, types, views and columns that the
// database works out; a palette, and no Go.
const workshops = "../../examples/workshop/"

func openWorkshops(t *testing.T) *shop {
	t.Helper()
	db := pgtest.Database(t)
	ctx := context.Background()
	for _, name := range []string{"schema.sql", "data.sql"} {
		text, err := os.ReadFile(workshops + name)
		if err == nil {
			err = db.Load(string(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	store, err := postgres.Open(ctx, db.App, postgres.MigrateAs(db.Owner))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	s := &shop{reg: load(t, workshops+"verbs"), store: store, url: db.Admin}
	plan, err := store.Migrate(ctx, append(s.tables(), engine.Own()...), true)
	if err != nil || len(plan.Problems) > 0 {
		t.Fatalf("migrate: %v %v", err, plan.Problems)
	}
	for name, role := range map[string]string{"holly": "counter", "frank": "foreman"} {
		if err := store.SetPrincipal(ctx, stores.Principal{Name: name, Roles: []string{role}, Holds: map[string][]stores.Value{"depot": {stores.NewInt(1)}}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.SetPrincipal(ctx, stores.Principal{Name: "bea", Roles: []string{"bookkeeper"}}); err != nil {
		t.Fatal(err)
	}
	noon := time.Date(2024, 12, 27, 12, 0, 0, 0, time.UTC)
	if s.engine, err = engine.New(s.reg, store, engine.Options{Clock: func() time.Time { return noon }}); err != nil {
		t.Fatal(err)
	}
	return s
}

// F17, F18: what another program's database says of itself stands in the first palette:
// one list for an enumeration type wherever it is used, references that are half of a
// foreign key of two columns and those of views, what tells the rows of a view apart, what
// people call rows, and the whole path to whom they belong to. What a database gives is
// asked of nobody, and all of it lints clean and is read.
func TestAFirstPaletteOfTheWorkshops(t *testing.T) {
	t.Parallel()
	s := openWorkshops(t)
	tables, err := postgres.Tables(t.Context(), s.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	reg, text := proposed(t, tables)
	for _, want := range []string{
		"  vehicle:\n", "  bay-day:\n", "  shelf:\n", `label: "{plate_no}"`, `label: "{company}"`, `label: "shelf {depot.name} {part.part_no}"`,
		"  - name: job-state\n", "state: {type: code, ref-type: job-state, required: true, default-by: database}", "      state: {type: code, ref-type: job-state}\n",
		"part: {type: ref, ref-type: part, column: part_no, required: true}", "(depot_id, part_no) together refer to a row of stock.shelf",
		"key: job_no  # DECIDE: it tells the rows apart that are there now", "key: [depot, part]  # DECIDE: it tells", "scope: customer.home_depot", "scope: invoice.customer.home_depot",
		"order: [depot, bay, day]", "contact_email: {type: string", "{name: contact-email, type: email", "column search is left out", "nothing is said of fleet.odometer_feed",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q", want)
		}
	}
	for _, no := range []string{"board-state", "COUNTER", "nothing is said of fleet.board"} {
		if strings.Contains(text, no) {
			t.Errorf("it says %s", no)
		}
	}
	o := (&old{&shop{reg: reg, store: s.store}, t}).begin("reader", "keeper")
	// G27: verbs are called by the schema of their table.
	for _, e := range reg.Entities() {
		if name := e.Store.Name; !strings.HasPrefix(name, "system-") {
			schema, _, _ := strings.Cut(e.Store.Table, ".")
			o.must(schema + ".list-" + name)
		}
	}
	o.must(`fleet.add-vehicle :customer @pudsey-bakers :plate-no "YC24 NEW" :kind TRUCK :make "MAN" :as @new
		fleet.add-job :depot @leeds :vehicle @new :bill-to @pudsey-bakers :complaint "It leans" :as @job
		fleet.add-job-line :job @job :line-no 1 :what "Look" :quantity 1.25 :unit-price 60.01
		stock.add-movement :depot @leeds :part @brk-0042 :change 0.5 :reason COUNT :job @job`)
	if got := o.answer("fleet.list-job-line :job @job-5006"); !strings.Contains(got, "Look 1.25 60.01 75.01") {
		t.Errorf("the line is %s", got)
	}
}

// agreed runs a script of somebody's own words, and says yes where it asks them alone.
func (s *shop) agreed(who, text string) error {
	ctx := context.Background()
	session, err := s.engine.Session(ctx, who)
	if err != nil {
		return err
	}
	script, ds := dsl.Parse(dsl.NewSource("workshop.dsl", text))
	if ds.HasErrors() {
		return errors.New(told(ds))
	}
	p, ds := session.Check(ctx, script, engine.CheckOptions{Said: verbs.Literals{Origin: verbs.NewOrigin(verbs.FromPerson, "")}})
	if p == nil {
		return fmt.Errorf("%s: %s", text, told(ds))
	}
	preview, err := session.Preview(ctx, p)
	if err == nil {
		_, err = session.Run(ctx, p, engine.RunOptions{Agreed: preview.ID})
	}
	return err
}

// F17, F18: eight people at once take what is left of a part, keep one bay and bill one
// job: each is had as often as it is there, over keys of several parts and numbers that
// the database gives.
func TestWorkshopsGiveOutWhatThereIsOnceOnly(t *testing.T) {
	t.Parallel()
	s := openWorkshops(t)
	for what, c := range map[string]struct {
		script string
		who    string
		times  int
	}{
		"the four pads": {`workshop.use-part :job-id @job-5003 :part-id @brk-0042 :quantity 1`, "holly", 4},
		"the bay":       {`workshop.take-bay :depot-id @leeds :job-id @job-5005 :bay 3 :day 2025-01-02`, "frank", 1},
		"the job":       {`workshop.invoice :customer-id @aire-valley-couriers :job-ids [@job-5001]`, "bea", 1},
	} {
		var mu sync.Mutex
		var all sync.WaitGroup
		done := 0
		for range 8 {
			all.Go(func() {
				err := s.agreed(c.who, c.script)
				for code(err) == "changed-meanwhile" || code(err) == "stale-preview" {
					err = s.agreed(c.who, c.script)
				}
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					done++
				} else if code(err) != "requirement-not-met" {
					t.Errorf("%s: %v", what, err)
				}
			})
		}
		all.Wait()
		if done != c.times {
			t.Errorf("%s: %d times, want %d", what, done, c.times)
		}
	}
	s.ledger(t).audit(t, "after the rush", nil)
}

// F17, F18: whatever is asked for, in whatever order, the shelves hold what the movements
// come to, a job costs what its lines do and no more than was agreed, an invoice is the sum
// of its jobs, and no job is on two; what is refused changes nothing.
func TestWorkshopsKeepTheirBooks(t *testing.T) {
	t.Parallel()
	if norace.Run(t) {
		return
	}
	s := openWorkshops(t)
	chance := rand.New(rand.NewPCG(18, 17))
	said, refused := map[string]int{}, map[string]int{}
	l := s.ledger(t)
	for range 400 {
		who, call := l.draw(chance)
		verb, _, _ := strings.Cut(call, " ")
		err := s.agreed(who, call)
		var refusal *engine.Refusal
		switch {
		case err == nil:
			said[verb]++
		case errors.As(err, &refusal):
			refused[verb]++
		default:
			t.Fatalf("%s: %v", call, err)
		}
		now := s.ledger(t)
		if err != nil && fmt.Sprint(now) != fmt.Sprint(l) {
			t.Fatalf("%s was refused and changed something", call)
		}
		now.audit(t, call, l)
		if l = now; t.Failed() {
			return
		}
	}
	t.Logf("carried out %v", said)
	t.Logf("refused %v", refused)
	for _, verb := range workshopVerbs {
		if said[verb] == 0 {
			t.Errorf("%s was never carried out (%d times refused)", verb, refused[verb])
		}
	}
	for _, verb := range []string{"workshop.use-part", "workshop.finish", "workshop.invoice", "workshop.receive", "workshop.book"} {
		if refused[verb] == 0 {
			t.Errorf("%s was never refused", verb)
		}
	}
}

// A ledger is all rows of the workshops.
type ledger map[string]map[stores.Value]map[string]stores.Value

func (s *shop) ledger(t testing.TB) ledger {
	l := ledger{}
	for _, name := range []string{"job", "job-line", "shelf", "movement", "bay-day", "invoice", "invoice-job", "payment", "vehicle", "customer"} {
		l[name] = s.rows(t, name)
	}
	return l
}

// sum adds a field up over rows of which another has a value.
func (l ledger) sum(entity, field, by string, key stores.Value) (total stores.Value, rows int) {
	total = decimal("0")
	for _, row := range l[entity] {
		if row[by] == key {
			total, _ = stores.Arith('+', total, row[field])
			rows++
		}
	}
	return total, rows
}

func (l ledger) audit(t testing.TB, call string, before ledger) {
	t.Helper()
	same := func(what string, a, b stores.Value) {
		if !stores.Equal(a, b) {
			t.Errorf("%s: %s: %s is not %s", call, what, a, b)
		}
	}
	atMost := func(what string, a, b stores.Value) {
		if n, ok := stores.Compare(a, b); !ok || n > 0 {
			t.Errorf("%s: %s: %s is more than %s", call, what, a, b)
		}
	}
	for _, shelf := range l["shelf"] {
		moved := decimal("0")
		for _, m := range l["movement"] {
			if m["depot"] == shelf["depot"] && m["part"] == shelf["part"] {
				moved, _ = stores.Arith('+', moved, m["change"])
			}
		}
		same("the shelf of "+shelf["part"].Text(), shelf["on_hand"], moved)
	}
	for key, job := range l["job"] {
		lines, n := l.sum("job-line", "amount", "job", key)
		_, billed := l.sum("invoice-job", "net", "job", key)
		switch state := job["state"].Text(); state {
		case "DONE", "INVOICED":
			same("a job that is done", job["total"], lines)
			agreed := job["approved"]
			if agreed.IsNull() {
				agreed = l["customer"][job["bill_to"]]["approval_limit"]
			}
			atMost("what a job came to", lines, agreed)
			if want := map[string]int{"DONE": 0, "INVOICED": 1}[state]; billed != want {
				t.Errorf("%s: a job that is %s stands on %d invoices", call, state, billed)
			}
		case "CANCELLED":
			if _, days := l.sum("bay-day", "bay", "job", key); n > 0 || days > 0 {
				t.Errorf("%s: a cancelled job has %d lines and %d days", call, n, days)
			}
		}
		if km := job["odometer_km"]; !km.IsNull() {
			atMost("an odometer", km, l["vehicle"][job["vehicle"]]["odometer_km"])
		}
		if before != nil {
			was := "BOOKED"
			if old := before["job"][key]; old != nil {
				was = old["state"].Text()
			}
			if now := job["state"].Text(); now != was && !slices.Contains(strings.Fields(jobSteps[was]), now) {
				t.Errorf("%s: a job went from %s to %s", call, was, now)
			}
		}
	}
	for key, invoice := range l["invoice"] {
		net, jobs := l.sum("invoice-job", "net", "invoice", key)
		paid, _ := l.sum("payment", "amount", "invoice", key)
		atMost("paid", paid, invoice["gross"])
		if jobs > 0 { // the first were written before jobs were
			same("an invoice", invoice["net"], net)
		}
		if n, _ := stores.Compare(paid, invoice["gross"]); (n == 0) != (invoice["state"].Text() == "PAID") {
			t.Errorf("%s: an invoice of which %s of %s is paid is %s", call, paid, invoice["gross"], invoice["state"])
		}
	}
}

var jobSteps = map[string]string{
	"BOOKED": "IN_PROGRESS CANCELLED", "IN_PROGRESS": "ON_HOLD DONE", "ON_HOLD": "IN_PROGRESS CANCELLED", "DONE": "INVOICED",
}

var workshopVerbs = []string{
	"workshop.book", "workshop.start", "workshop.hold", "workshop.add-hours", "workshop.use-part", "workshop.strike", "workshop.approve",
	"workshop.finish", "workshop.cancel", "workshop.deliver", "workshop.invoice", "workshop.receive",
}

// draw writes a call, mostly about a row that it fits, and says who makes it.
func (l ledger) draw(chance *rand.Rand) (who, call string) {
	pick := func(entity string, fits func(map[string]stores.Value) bool) (stores.Value, map[string]stores.Value) {
		var some, others []stores.Value
		for key, row := range l[entity] {
			job := row // or that of a line
			if entity == "job-line" {
				job = l["job"][row["job"]]
			}
			switch {
			case job["depot"] == stores.NewInt(2): // out of sight
			case fits(row):
				some = append(some, key)
			default:
				others = append(others, key)
			}
		}
		if len(some) == 0 || chance.IntN(8) == 0 {
			some = append(some, others...)
		}
		if len(some) == 0 {
			return stores.Value{}, nil
		}
		slices.SortFunc(some, func(a, b stores.Value) int { return strings.Compare(a.Text(), b.Text()) })
		key := some[chance.IntN(len(some))]
		return key, l[entity][key]
	}
	one := func(of ...string) string { return of[chance.IntN(len(of))] }
	job := func(states string) (string, map[string]stores.Value) {
		key, row := pick("job", func(row map[string]stores.Value) bool {
			return slices.Contains(strings.Fields(states), row["state"].Text())
		})
		return "@job-" + key.Text(), row
	}
	part := one("@brk-0042", "@bat-0110", "@oil-5w30", "@tyr-2356")
	switch verb := workshopVerbs[chance.IntN(len(workshopVerbs))]; verb {
	case "workshop.book":
		return "holly", fmt.Sprintf(`%s :depot-id @leeds :vehicle-id @%s :complaint "It rattles" :bay %d :day 2025-01-%02d`, verb, one("yk21-abc", "yk68-lry", "yj19-bun"), 1+chance.IntN(4), 1+chance.IntN(28))
	case "workshop.start":
		of, row := job("BOOKED ON_HOLD")
		km := l["vehicle"][row["vehicle"]]["odometer_km"].Int()
		return "frank", fmt.Sprintf("%s :job-id %s :odometer %d", verb, of, km+int64(chance.IntN(50))-5)
	case "workshop.add-hours":
		of, _ := job("IN_PROGRESS")
		return "frank", fmt.Sprintf(`%s :job-id %s :mechanic-id @%s :hours %s :what "Looked at it"`, verb, of, one("priya-nair", "tom-birch"), one("0.25", "1.33", "6.50"))
	case "workshop.use-part":
		of, _ := job("IN_PROGRESS")
		return "holly", fmt.Sprintf("%s :job-id %s :part-id %s :quantity %s", verb, of, part, one("1", "2", "0.75", "9"))
	case "workshop.strike":
		key, row := pick("job-line", func(row map[string]stores.Value) bool {
			return l["job"][row["job"]]["state"].Text() == "IN_PROGRESS"
		})
		if key.IsNull() {
			return "holly", "workshop.board"
		}
		return "holly", fmt.Sprintf("%s :line-id @job-%s-line-%s", verb, row["job"].Text(), row["line_no"].Text())
	case "workshop.approve":
		of, _ := job("BOOKED IN_PROGRESS ON_HOLD")
		return "holly", fmt.Sprintf("%s :job-id %s :amount %s", verb, of, one("250.00", "1999.99", "800.00"))
	case "workshop.deliver":
		return "holly", fmt.Sprintf("%s :depot-id @leeds :part-id %s :quantity %s", verb, part, one("1", "12", "40.25"))
	case "workshop.invoice":
		of, row := job("DONE")
		also, _ := job("DONE")
		jobs := of
		if also != of {
			jobs += " " + also
		}
		return "bea", fmt.Sprintf("%s :customer-id @%s :job-ids [%s]", verb, map[string]string{"1": "aire-valley-couriers", "2": "pudsey-bakers", "3": "humber-coaches"}[row["bill_to"].Text()], jobs)
	case "workshop.receive":
		key, row := pick("invoice", func(row map[string]stores.Value) bool { return row["state"].Text() == "SENT" })
		paid, _ := l.sum("payment", "amount", "invoice", key)
		owed, _ := stores.Arith('-', row["gross"], paid)
		all := owed.Text()
		if row["state"].Text() == "PAID" {
			all = "0.01"
		}
		return "bea", fmt.Sprintf("%s :invoice-id @invoice-%s :amount %s", verb, key.Text(), one(all, "0.01", "50.00", "100000.00"))
	case "workshop.finish":
		of, _ := job("IN_PROGRESS")
		return "frank", verb + " :job-id " + of
	case "workshop.hold":
		of, _ := job("IN_PROGRESS")
		return "frank", verb + " :job-id " + of
	default:
		of, _ := job("BOOKED")
		return "frank", verb + " :job-id " + of
	}
}
