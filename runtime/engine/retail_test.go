package engine_test

import (
	"bytes"
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

	"pgregory.net/rapid"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/tests/norace"
	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/sqlite"
	"verbatim/verbs"
)

// The shops of examples/retail: tables that were there before, a palette, and
// not a line of Go behind it. Two backends must do the same with it.
const shops = "../../examples/retail/"

// A shop is an engine on a store of the example.
type shop struct {
	reg    *verbs.Registry
	store  stores.Store
	engine *engine.Engine
	url    string // of a database that was there before, "" where it does not matter
}

// vienna is the key of the shop that mara and otto work in.
var vienna, _ = stores.ParseUUID("00000001-0000-4000-8000-000000000001")

func openShop(t testing.TB, store stores.Store) *shop {
	t.Helper()
	return openShopOf(t, load(t, shops+"verbs"), store)
}

func openShopOf(t testing.TB, reg *verbs.Registry, store stores.Store) *shop {
	t.Helper()
	s := &shop{reg: reg, store: store}
	ctx := context.Background()
	plan, err := store.Migrate(ctx, s.tables(), true)
	if err != nil || len(plan.Problems) > 0 {
		t.Fatalf("migrate: %v %v", err, plan.Problems)
	}
	for name, role := range map[string]string{"mara": "clerk", "otto": "manager"} {
		err := store.SetPrincipal(ctx, stores.Principal{Name: name, Roles: []string{role}, Holds: map[string][]stores.Value{"shop": {vienna}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	// A clock that stands still: what is compared are rows.
	noon := time.Date(2024, 12, 27, 12, 0, 0, 0, time.UTC)
	s.engine, err = engine.New(s.reg, store, engine.Options{Clock: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *shop) tables() []*stores.Entity {
	var all []*stores.Entity
	for _, e := range s.reg.Entities() {
		all = append(all, e.Store)
	}
	return all
}

func sqliteShop(t testing.TB, dir string, opts ...sqlite.Option) *shop {
	t.Helper()
	store, err := sqlite.Open(filepath.Join(dir, "shop.db"), opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	var script bytes.Buffer
	for _, name := range []string{"schema.sql", "data.sql"} {
		text, err := os.ReadFile(shops + name)
		if err != nil {
			t.Fatal(err)
		}
		script.Write(text)
	}
	if err := store.Load(context.Background(), script.String()); err != nil {
		t.Fatal(err)
	}
	return openShop(t, store)
}

func postgresShop(t testing.TB) *shop {
	t.Helper()
	psql, err := exec.LookPath("psql")
	if err != nil && os.Getenv("TEST_REQUIRE_POSTGRES") != "1" {
		t.Skip("SKIPPED, NOT TESTED: psql is not installed")
	}
	db := pgtest.Database(t)
	var script bytes.Buffer
	for _, name := range []string{"schema.postgres.sql", "data.sql"} {
		text, err := os.ReadFile(shops + name)
		if err != nil {
			t.Fatal(err)
		}
		if name == "data.sql" {
			text = bytes.ReplaceAll(text, []byte("retail_"), []byte("retail."))
		}
		script.Write(text)
	}
	// Tests delete rows that no verb does; what verbs need, migrating grants.
	script.WriteString("GRANT USAGE ON SCHEMA retail TO verbatim_app; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA retail TO verbatim_app;")
	cmd := exec.Command(psql, "-q", "-X", "-v", "ON_ERROR_STOP=1", db.Owner)
	cmd.Stdin = &script
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("psql: %v\n%s", err, out)
	}
	store, err := postgres.Open(context.Background(), db.App, postgres.MigrateAs(db.Owner))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return openShop(t, store)
}

// onBoth runs a test on either backend.
func onBoth(t *testing.T, test func(t *testing.T, s *shop)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, sqliteShop(t, t.TempDir()))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, postgresShop(t))
	})
}

// say runs a script, and agrees to nothing.
func (s *shop) say(who, text string) error {
	ctx := context.Background()
	session, err := s.engine.Session(ctx, who)
	if err != nil {
		return err
	}
	script, ds := dsl.Parse(dsl.NewSource("shop.dsl", text))
	if ds.HasErrors() {
		return errors.New(told(ds))
	}
	p, ds := session.Check(context.Background(), script)
	if p == nil {
		return fmt.Errorf("%s: %s", text, told(ds))
	}
	_, err = session.Run(ctx, p, engine.RunOptions{})
	return err
}

// rows reads every row of an entity, by key.
func (s *shop) rows(t testing.TB, entity string) map[stores.Value]map[string]stores.Value {
	t.Helper()
	e := s.reg.Entity(entity).Store
	all := make(map[stores.Value]map[string]stores.Value)
	err := s.store.View(context.Background(), stores.Scope{All: true}, func(r stores.Reader) error {
		rows, err := r.Find(context.Background(), stores.Find{Entity: e})
		for _, values := range rows {
			row := make(map[string]stores.Value)
			for i, v := range values {
				row[e.Fields[i].Name] = v
			}
			all[values[e.Key]] = row
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func (s *shop) field(t testing.TB, entity, key, field string) string {
	t.Helper()
	id, _ := stores.ParseUUID(key)
	return s.rows(t, entity)[id][field].Text()
}

func code(err error) string {
	var r *engine.Refusal
	if errors.As(err, &r) {
		return r.Diagnostics[0].Code
	}
	return ""
}

const (
	mug     = "00000004-0000-4000-8000-000000000001"
	sticker = "00000004-0000-4000-8000-000000000004"
	cup     = "00000004-0000-4000-8000-000000000002"
	paidOne = "00000005-0000-4000-8000-000000000002" // V-1002, 37.50
	openOne = "00000005-0000-4000-8000-000000000003" // V-1003, 12.50

	giftCard = "00000008-0000-4000-8000-000000000001" // GC-0001, 20.00
)

// X16, OB3, SAFE-A7: of many who ask for the last of something at the same
// moment, as many get it as there is of it; of many who give money back, no more
// goes back than came in. The sums are exact.
func TestShopsSellWhatThereIsOnceOnly(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, s *shop) {
		rush := func(script string) int { return rushEach(t, s, 8, func(int) string { return script }) }
		if n := rush("retail.add-item :order-id " + openOne + " :product-id " + cup); n != 3 {
			t.Errorf("3 cups were sold %d times", n)
		}
		if n := rush("retail.refund :order-id " + paidOne + " :amount {:amount 12.51 :currency EUR} :reason LATE"); n != 2 {
			t.Errorf("12.51 of 37.50 went back %d times", n)
		}
		for _, c := range []struct{ entity, key, field, want string }{
			{"product", cup, "stock", "0"},
		} {
			if got := s.field(t, c.entity, c.key, c.field); got != c.want {
				t.Errorf("%s of the %s is %s, want %s", c.field, c.entity, got, c.want)
			}
		}
		b := s.books(t)
		for _, c := range []struct{ entity, order, want string }{{"order-item", openOne, "39.20"}, {"refund", paidOne, "25.02"}} {
			id, _ := stores.ParseUUID(c.order)
			if got := b.sum(c.entity, id).Text(); got != c.want {
				t.Errorf("every %s of the order comes to %s, want %s", c.entity, got, c.want)
			}
		}
		// Of a gift card, no more is spent than is on it.
		for i := range 3 {
			if err := s.say("mara", fmt.Sprintf("retail.open-order :customer-id 00000002-0000-4000-8000-000000000001 :address-id 00000003-0000-4000-8000-000000000001 :number \"V-60%02d\" :as @o retail.add-item :order-id @o :product-id %s retail.place-order :order-id @o", i, mug)); err != nil {
				t.Fatal(err)
			}
		}
		spent := rushEach(t, s, 3, func(i int) string { return fmt.Sprintf("retail.pay-by-card :order-id @v-60%02d :card-id @gc-0001", i) })
		id, _ := stores.ParseUUID(giftCard)
		if got := s.books(t).spent(id).Text(); spent != 2 || got != "20.00" {
			t.Errorf("%d payments took %s of a card of 20.00", spent, got)
		}
	})
}

// rushEach has several things said at the same moment, and says how many were done.
func rushEach(t *testing.T, s *shop, n int, script func(int) string) (done int) {
	t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			err := s.say("mara", script(i))
			for code(err) == "changed-meanwhile" {
				err = s.say("mara", script(i))
			}
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				done++
			case code(err) != "requirement-not-met":
				t.Error(err)
			}
		})
	}
	all.Wait()
	return done
}

// OB3: fractions of a cent, which no field holds, are refused by the field's own
// limits; a store would have kept them or rounded them off.
func TestShopsHoldWhatIsReckonedToItsField(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, s *shop) {
		pay := "retail.pay :order-id " + openOne + " :amount {:amount %s :currency EUR} :method CASH"
		if err := s.say("mara", "retail.place-order :order-id "+openOne); err != nil {
			t.Fatal(err)
		}
		err := s.say("mara", fmt.Sprintf(pay, "0.001"))
		if code(err) != "not-accepted" || !strings.Contains(err.Error(), "at most 2 digits may stand after the point") {
			t.Errorf("got %v", err)
		}
		if err := s.say("mara", fmt.Sprintf(pay, "12.5")); err != nil {
			t.Error(err)
		}
		if got := s.field(t, "order", openOne, "status"); got != "PAID" {
			t.Errorf("it is %s", got)
		}
	})
}

// after says which states an order may come to from each.
var after = map[string]string{
	"":          "OPEN PAID", // over the counter it is all of it at once
	"OPEN":      "PLACED CANCELLED",
	"PLACED":    "PAID CANCELLED",
	"PAID":      "SHIPPED CANCELLED",
	"SHIPPED":   "DELIVERED",
	"DELIVERED": "",
	"CANCELLED": "",
}

// X16, OB3, O18: whatever is asked for, in whatever order, what must hold of the
// books of a shop holds: nothing is sold that is not there, nothing goes back
// that did not come in, every sum is exact, and no order takes a step that it
// cannot take. What is refused changes nothing.
func TestShopsKeepTheirBooks(t *testing.T) {
	t.Parallel()
	if norace.Run(t) {
		return
	}
	first := t.TempDir()
	sqliteShop(t, first).store.Close()
	file, err := os.ReadFile(filepath.Join(first, "shop.db"))
	if err != nil {
		t.Fatal(err)
	}
	reg := load(t, shops+"verbs")
	said, refused := make(map[string]int), make(map[string]int)
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(first, "")
		if err != nil {
			rt.Fatal(err)
		}
		name := filepath.Join(dir, "shop.db")
		if err := os.WriteFile(name, file, 0o600); err != nil {
			rt.Fatal(err)
		}
		store, err := sqlite.Open(name)
		if err != nil {
			rt.Fatal(err)
		}
		defer store.Close()
		noon := time.Date(2024, 12, 27, 12, 0, 0, 0, time.UTC)
		ids := 0 // the same each time, so that a failure can be played again
		eng, err := engine.New(reg, store, engine.Options{Clock: func() time.Time { return noon }, NewID: func() string {
			ids++
			return fmt.Sprintf("00000009-0000-4000-8000-%012d", ids)
		}})
		if err != nil {
			rt.Fatal(err)
		}
		s := &shop{reg: reg, store: store, engine: eng}
		b := s.books(t)
		b.opening = b.pieces()
		var calls []string
		for i := range 8 {
			if len(calls) == 0 {
				calls = strings.Split(b.draw(rt, i), "\n")
			}
			call := calls[0]
			calls = calls[1:]
			verb, _, _ := strings.Cut(call, " ")
			err := s.say("otto", call)
			var refusal *engine.Refusal
			switch {
			case err == nil:
				said[verb]++
			case errors.As(err, &refusal):
				refused[verb]++
			default:
				rt.Fatalf("%s: %v", call, err)
			}
			now := s.books(t)
			now.opening = b.opening
			if err != nil && fmt.Sprint(now.entities) != fmt.Sprint(b.entities) {
				rt.Fatalf("%s was refused and changed something", call)
			}
			if err == nil && verb == "retail.restock" {
				product, quantity := arg(call, "product-id"), arg(call, "quantity")
				n, _ := stores.ParseInt(quantity)
				now.opening[product] += n.Int()
			}
			now.audit(rt, call, b)
			b = now
		}
	})
	for _, verb := range drawn {
		if said[verb] == 0 {
			t.Errorf("%s was never carried out (%d times refused)", verb, refused[verb])
		}
	}
	for _, verb := range []string{"retail.add-item", "retail.pay", "retail.ship", "retail.refund", "retail.cancel", "retail.put-back"} {
		if refused[verb] == 0 {
			t.Errorf("%s was never refused", verb)
		}
	}
	t.Logf("carried out %v", said)
	t.Logf("refused %v", refused)
}

// What an audit finds.
type found []string

func (f *found) Errorf(format string, args ...any) { *f = append(*f, fmt.Sprintf(format, args...)) }

// SAFE-L5: the audit sees what happens when a palette requires less, or does
// something else: otherwise the test above would prove nothing.
func TestTheAuditSeesWhatAPaletteForgot(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(shops + "verbs/retail.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	sqliteShop(t, dir).store.Close()
	for _, c := range []struct {
		name, from, to, call, finds string
	}{
		{"how much there is", "      - {that: product_id.stock >= quantity, else: there is not so much of it on the shelf}\n", "",
			"retail.add-item :order-id " + openOne + " :product-id " + cup + " :quantity 4", "on the shelf"},
		{"what was paid", "      - {that: back + amount.amount <= paid, else: that is more than was paid and not given back yet}\n", "",
			"retail.refund :order-id " + paidOne + " :amount {:amount 37.51 :currency EUR} :reason LATE", "refunded: 37.51 is more than 37.50"},
		{"what is to be paid", "      - {that: paid + amount.amount <= cost, else: that is more than is still to be paid}\n", "",
			"retail.place-order :order-id " + openOne + "\nretail.pay :order-id " + openOne + " :amount {:amount 12.51 :currency EUR} :method CASH", "paid: 12.51 is more than 12.50"},
		{"what is shipped", "      - {that: order_id.status == PAID, else: only what is paid is shipped}\n      - {that: back < paid,", "      - {that: paid >= back,",
			"retail.ship :order-id " + openOne + " :tracking \"AT0000\"", "from \"OPEN\" to SHIPPED"},
		{"how many there are", "amount: product_id.price * quantity}", "amount: product_id.price}",
			"retail.add-item :order-id " + openOne + " :product-id " + cup + " :quantity 2", "an item: 8.90 is not 17.80"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(string(text), c.from) {
				t.Fatal("the palette has no such text")
			}
			changed := strings.Replace(strings.Replace(string(text), c.from, c.to, 1), "stock:        {type: integer, min: 0,", "stock:        {type: integer,", 1)
			file, err := os.ReadFile(filepath.Join(dir, "shop.db"))
			if err != nil {
				t.Fatal(err)
			}
			name := filepath.Join(t.TempDir(), "shop.db")
			if err := os.WriteFile(name, file, 0o600); err != nil {
				t.Fatal(err)
			}
			store, err := sqlite.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			s := openShopOf(t, loadYAML(t, map[string]string{"retail.yaml": changed}), store)
			before := s.books(t)
			before.opening = before.pieces()
			if err := s.say("otto", c.call); err != nil {
				t.Fatal(err)
			}
			now := s.books(t)
			now.opening = before.opening
			var f found
			now.audit(&f, "it", before)
			if !strings.Contains(strings.Join(f, "; "), c.finds) {
				t.Errorf("the audit finds %q", f)
			}
		})
	}
}

// Books are all rows of the shops.
type books struct {
	entities map[string]map[stores.Value]map[string]stores.Value
	opening  map[string]int64 // pieces of each product that there must be, on the shelf or in orders
}

func (s *shop) books(t testing.TB) *books {
	b := &books{entities: make(map[string]map[stores.Value]map[string]stores.Value)}
	for _, name := range []string{"product", "order", "order-item", "payment", "refund"} {
		b.entities[name] = s.rows(t, name)
	}
	return b
}

func (b *books) pieces() map[string]int64 {
	n := make(map[string]int64)
	for key, p := range b.entities["product"] {
		n[key.Text()] = p["stock"].Int()
	}
	for _, item := range b.entities["order-item"] {
		if item["status"].Text() != "RETURNED" {
			n[item["product"].Text()] += item["quantity"].Int()
		}
	}
	return n
}

// sum adds up what the rows come to that belong to an order, without what came back.
func (b *books) sum(entity string, order stores.Value) stores.Value {
	return b.adds(entity, func(row map[string]stores.Value) bool {
		return row["order"] == order && row["status"].Text() != "RETURNED"
	})
}

// spent is what a gift card paid for and did not get back.
func (b *books) spent(card stores.Value) stores.Value {
	of := func(row map[string]stores.Value) bool { return row["gift_card"] == card }
	v, _ := stores.Arith('-', b.adds("payment", of), b.adds("refund", of))
	return v
}

func (b *books) adds(entity string, of func(row map[string]stores.Value) bool) stores.Value {
	total := decimal("0")
	for _, row := range b.entities[entity] {
		if of(row) {
			total, _ = stores.Arith('+', total, row["amount"])
		}
	}
	return total
}

func (b *books) audit(rt interface{ Errorf(string, ...any) }, call string, before *books) {
	atMost := func(what string, a, b stores.Value) {
		if n, ok := stores.Compare(a, b); !ok || n > 0 {
			rt.Errorf("%s: %s: %s is more than %s", call, what, a, b)
		}
	}
	same := func(what string, a, b stores.Value) {
		if !stores.Equal(a, b) {
			rt.Errorf("%s: %s: %s is not %s", call, what, a, b)
		}
	}
	zero := decimal("0")
	pieces := b.pieces()
	for key, p := range b.entities["product"] {
		if p["stock"].Int() < 0 || pieces[key.Text()] != b.opening[key.Text()] {
			rt.Errorf("%s: of %s there are %s on the shelf, and %d in all where %d must be", call, p["name"], p["stock"], pieces[key.Text()], b.opening[key.Text()])
		}
	}
	for key, o := range b.entities["order"] {
		cost, paid, refunded := b.sum("order-item", key), b.sum("payment", key), b.sum("refund", key)
		kept, _ := stores.Arith('-', paid, refunded)
		atMost("nothing", zero, refunded)
		atMost("refunded", refunded, paid)
		atMost("paid", kept, cost)
		status, was := o["status"].Text(), ""
		if old := before.entities["order"][key]; old != nil {
			was = old["status"].Text()
		}
		if status != was && !slices.Contains(strings.Fields(after[was]), status) {
			rt.Errorf("%s: an order went from %q to %s", call, was, status)
		}
		switch status {
		case "PAID", "SHIPPED", "DELIVERED":
			if refunded == zero {
				same("what is paid", paid, cost)
			}
		case "CANCELLED":
			same("what went back", refunded, paid)
		}
	}
	for _, item := range b.entities["order-item"] {
		amount, _ := stores.Arith('*', item["unit_price"], item["quantity"])
		same("an item", item["amount"], amount)
	}
}

// drawn are the verbs that the test asks for. Money is asked for more often: it
// takes an order that was placed and a sum that fits.
var drawn = []string{
	"retail.add-item", "retail.remove-item", "retail.place-order", "retail.pay", "retail.ship", "retail.deliver",
	"retail.refund", "retail.cancel", "retail.put-back", "retail.restock", "retail.open-order", "retail.sell",
	"retail.pay", "retail.pay", "retail.pay-by-card", "retail.return-items", "retail.exchange", "retail.deliver", "retail.ship",
	"retail.fill-order",
}

// wanted says in which state a row has to be, for a verb that looks at it.
var wanted = map[string]string{
	"retail.add-item order":      "OPEN",
	"retail.fill-order order":    "OPEN",
	"retail.place-order order":   "OPEN",
	"retail.pay order":           "PLACED",
	"retail.ship order":          "PAID",
	"retail.deliver order":       "SHIPPED",
	"retail.refund order":        "PAID SHIPPED DELIVERED",
	"retail.cancel order":        "OPEN PLACED PAID",
	"retail.put-back order-item": "CANCELLED",
	"retail.pay-by-card order":   "OPEN PLACED",
	"retail.return-items order":  "SHIPPED DELIVERED",
	"retail.exchange order-item": "RESERVED",
}

// draw writes a call. Orders and items are those that there are, mostly in a
// state that fits; sums are often just what is owed, and sometimes too much.
func (b *books) draw(rt *rapid.T, i int) string {
	verb := rapid.SampledFrom(drawn).Draw(rt, "verb")
	sensible := rapid.IntRange(0, 3).Draw(rt, "sensible") > 0
	pick := func(entity, label string) (string, map[string]stores.Value) {
		var keys, apt []string
		for key, row := range b.entities[entity] {
			keys = append(keys, key.Text())
			if slices.Contains(strings.Fields(wanted[verb+" "+entity]), row["status"].Text()) {
				apt = append(apt, key.Text())
			}
		}
		if sensible && len(apt) > 0 {
			keys = apt
		}
		slices.Sort(keys)
		key := rapid.SampledFrom(keys).Draw(rt, label)
		id, _ := stores.ParseUUID(key)
		return key, b.entities[entity][id]
	}
	order, o := pick("order", "order")
	id, _ := stores.ParseUUID(order)
	product, p := pick("product", "product")
	quantity := rapid.SampledFrom([]int{1, 1, 2, 3, 7, 900}).Draw(rt, "quantity")
	cents := func(owed stores.Value) string {
		if rapid.Bool().Draw(rt, "all of it") {
			return owed.Text()
		}
		return rapid.SampledFrom([]string{"0.10", "0.01", "3.33", "12.50", "99.99", "100.01", "-1.00", "0"}).Draw(rt, "amount")
	}
	minus := func(a, b stores.Value) stores.Value {
		v, _ := stores.Arith('-', a, b)
		return v
	}
	// before takes the step that an order has to take first.
	before := func(order map[string]stores.Value, status, step, key string) string {
		if !sensible || order["status"].Text() != status {
			return ""
		}
		return step + " :order-id " + key + "\n"
	}
	switch verb {
	case "retail.add-item":
		return fmt.Sprintf("%s :order-id %s :product-id %s :quantity %d", verb, order, product, quantity)
	case "retail.pay-by-card":
		return before(o, "OPEN", "retail.place-order", order) + fmt.Sprintf("%s :order-id %s :card-id %s", verb, order, giftCard)
	case "retail.return-items":
		var items []string
		for key, item := range b.entities["order-item"] {
			if item["order"].Text() == order && (!sensible || item["status"].Text() == "RESERVED") {
				items = append(items, key.Text())
			}
		}
		if slices.Sort(items); len(items) == 0 {
			items = []string{"00000006-0000-4000-8000-000000000001"}
		}
		return before(o, "SHIPPED", "retail.deliver", order) + fmt.Sprintf("%s :order-id %s :item-ids [%s] :reason LATE", verb, order, strings.Join(items, " "))
	case "retail.exchange":
		item, i := pick("order-item", "item")
		of := i["order"]
		if sensible {
			product = sticker // it costs least
		}
		return before(b.entities["order"][of], "SHIPPED", "retail.deliver", of.Text()) + fmt.Sprintf("%s :order-id %s :item-id %s :product-id %s", verb, of.Text(), item, product)
	case "retail.remove-item", "retail.put-back":
		if len(b.entities["order-item"]) == 0 {
			return "retail.place-order :order-id " + order
		}
		item, _ := pick("order-item", "item")
		return fmt.Sprintf("%s :item-id %s", verb, item)
	case "retail.pay":
		return fmt.Sprintf("%s :order-id %s :amount {:amount %s :currency EUR} :method CASH", verb, order, cents(minus(b.sum("order-item", id), b.sum("payment", id))))
	case "retail.refund":
		return fmt.Sprintf("%s :order-id %s :amount {:amount %s :currency EUR} :reason LATE", verb, order, cents(minus(b.sum("payment", id), b.sum("refund", id))))
	case "retail.ship":
		return fmt.Sprintf("%s :order-id %s :tracking \"AT0000\"", verb, order)
	case "retail.fill-order":
		line := fmt.Sprintf("{:product %s :quantity %d}", product, quantity)
		return fmt.Sprintf("%s :order-id %s :lines [%s {:quantity 1 :product %s} %s]", verb, order, line, sticker, line)
	case "retail.restock":
		return fmt.Sprintf("%s :product-id %s :quantity %d", verb, product, quantity)
	case "retail.open-order":
		return fmt.Sprintf("%s :customer-id 00000002-0000-4000-8000-000000000001 :address-id 00000003-0000-4000-8000-000000000001 :number \"V-%d\"", verb, 5000+i)
	case "retail.sell":
		cost, _ := stores.Arith('*', p["price"], stores.NewInt(int64(quantity)))
		return fmt.Sprintf("%s :customer-id 00000002-0000-4000-8000-000000000001 :address-id 00000003-0000-4000-8000-000000000001 :number \"V-%d\" :product-id %s :quantity %d :amount {:amount %s :currency EUR}", verb, 5000+i, product, quantity, cents(cost))
	}
	return verb + " :order-id " + order
}

// arg finds an argument in a call that draw wrote.
func arg(call, name string) string {
	_, rest, _ := strings.Cut(call, ":"+name+" ")
	value, _, _ := strings.Cut(rest, " ")
	return value
}
