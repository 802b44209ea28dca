package engine_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/tests/norace"
	"verbatim/stores"
	"verbatim/stores/sqlite"
	"verbatim/verbs"
	loading "verbatim/verbs/load"
)

// The palettes that are shipped, and the test's own, which has a sink of every
// kind.
var shippedPalettes = []string{"../../verbs/palettes/bank", "../../examples/retail/verbs", "testdata/paying"}

// A route is a way on which a value reaches an argument. begin is said in
// sessions before, in order; text is the call, in which SINK stands for the verb
// and V for the value; needs says of which type the argument is.
type route struct {
	name, begin, text string
	stored            bool // it goes through a field, so that what is trusted is a record's
}

// textRoutes lead text to an argument of a sink that also takes :payee-id.
func textRoutes(sink, arg string) []route {
	call := func(v string) string { return sink + " :payee-id @bob :" + arg + " " + v }
	routes := []route{
		{"literal", "", call("«\"de89\"»"), false},
		{"delayed job", "", "JOB " + call("«\"de89\"»"), false},
		{"binding", "", "paying.note :payee-id @ann :note «\"de89\"» :as @a\npaying.get :payee-id @a :as @g\n" + call("@g.note"), true},
		{"field of a binding", "", "paying.note :payee-id @ann :note «\"de89\"» :as @a\n" + call("@a.note"), true},
		{"field of a name", "paying.note :payee-id @ann :note «\"de89\"»", call("@ann.note"), true},
		{"second session", "paying.note :payee-id @ann :note «\"de89\"»\nnext\npaying.copy :from-id @ann :payee-id @mallory", call("@mallory.note"), true},
		{"concatenation", "paying.join :payee-id @ann :a «\"de\"» :b \"89\"", call("@ann.note"), true},
		{"conditional expression", "paying.join :payee-id @ann :a «\"de\"» :b \"89\" :first false", call("@ann.iban"), true},
		{"filter", "paying.note :payee-id @ann :note «\"de89\"»", "paying.find :name \"Ann\" :as @f\n" + call("@f.note"), true},
		{"along a reference", "paying.note :payee-id @ann :note «\"de89\"»", call("@mallory.next.note"), true},
		{"query", "paying.note :payee-id @ann :note «\"zz\"»", "paying.ask :as @q\n" + call("@q.note"), true},
		{"query that echoes", "", "paying.ask :text «\"de89\"» :as @q\n" + call("@q.text"), false},
	}
	if sink == "paying.pay" && arg == "iban" {
		routes = append(routes,
			route{"macro", "", "paying.pay-by :payee-id @bob :iban «\"de89\"»", false},
			route{"macro in a macro", "", "paying.pay-by-two :payee-id @bob :iban «\"de89\"»", false},
			route{"inside a macro", "paying.note :payee-id @ann :note «\"de89\"»", "paying.pay-noted :payee-id @ann", true})
	}
	return routes
}

// SAFE-S1: every verb that writes, every argument of it that says where its value
// may come from, every origin and every route. What the palette does not accept
// does not reach the store unasked; what it accepts does.
func TestNoOriginReachesWhatDoesNotAcceptIt(t *testing.T) {
	t.Parallel()
	if norace.Run(t) {
		return
	}
	type cell struct {
		verb, arg string
		from      verbs.Origins
		asks      bool
		route     route
	}
	var cells []cell
	free := 0
	for _, dir := range shippedPalettes {
		for _, v := range load(t, dir).Verbs() {
			writes := slices.ContainsFunc(v.Effects, func(e verbs.Effect) bool { return e.Kind != verbs.ReturnsEffect && e.Kind != verbs.Validates })
			for i := range v.Params {
				p := &v.Params[i]
				if p.From == 0 {
					if writes && p.Sensitive {
						free++ // from anywhere: the palette forbids nothing
					}
					continue
				}
				var routes []route
				switch {
				case shopSinks[v.Name].routes != nil:
					routes = shopSinks[v.Name].routes
				case !strings.HasPrefix(v.Name, "paying."):
					t.Errorf("%s :%s is not tried", v.Name, p.Name)
				case p.Type.Name == verbs.ListType:
					call := func(v string) string { return "paying.pay :payee-id @bob :" + p.Name + " " + v }
					routes = []route{
						{"literal in a list", "", call(`["a" «"de89"»]`), false}, {"list", "", call(`[«"a"» «"de89"»]`), false},
						{"binding in a list", "paying.note :payee-id @ann :note «\"de89\"»", call(`["a" @ann.note]`), true},
						{"list that was kept", "paying.keep :payee-id @ann :codes [\"a\" «\"de89\"»]", call("@ann.codes"), true},
						{"list in a macro", "", "paying.pay-by :payee-id @bob :codes [\"a\" «\"de89\"»]", false},
						{"binding in a list in a macro", "paying.note :payee-id @ann :note «\"de89\"»", "paying.pay-by :payee-id @bob :codes [@ann.note]", true},
					}
				case p.Type.Name == verbs.ObjectType:
					call := func(v string) string { return "paying.pay :payee-id @bob :" + p.Name + " " + v }
					routes = []route{
						{"literal in a map", "", call(`{:k {:l «"de89"»} :m 1}`), false},
						{"binding in a map", "paying.note :payee-id @ann :note «\"de89\"»", call(`{:k [1 @ann.note]}`), true},
						{"map that was kept", "paying.keep :payee-id @ann :data {:k «\"de89\"»}", call("@ann.data"), true},
					}
				case p.Type.Name == verbs.RefType:
					call := func(v string) string { return "paying.pay :payee-id @bob :" + p.Name + " " + v }
					routes = []route{
						{"name", "", call("«@mallory»"), false},
						{"row that was found", "", "paying.find :name «\"Mallory\"» :as @f\n" + call("@f"), false},
						{"key that was found", "", "paying.find :name «\"Mallory\"» :as @f\n" + call("@f.payee"), false},
						{"row that was changed", "", "paying.note :payee-id «@mallory» :note \"x\" :as @f\n" + call("@f"), false},
						{"reference that was kept", "paying.point :payee-id @ann :to-id «@mallory»", call("@ann.next"), true},
						{"reference that was kept and found", "paying.point :payee-id @ann :to-id «@mallory»", "paying.find :name \"Ann\" :as @f\n" + call("@f.next-key"), true},
					}
				default:
					routes = textRoutes(v.Name, p.Name)
				}
				for _, r := range routes {
					cells = append(cells, cell{v.Name, p.Name, p.From, p.Otherwise != nil, r})
				}
			}
		}
	}
	forbidden, accepted := 0, 0
	w := newTill(t)
	shops := map[string]*shop{"retail": sqliteShop(t, t.TempDir()), "client": sqliteBank(t)}
	per := map[string]int{}
	for _, c := range cells {
		for _, origin := range []verbs.Origin{ofScript, ofPerson, ofRecord, ofModel, ofTool, ofLetter} {
			if origin == ofRecord && !c.route.stored {
				continue // a record is a field, and nothing that is written out
			}
			said := origin
			if origin == ofRecord {
				said = ofPerson // who saved it
			}
			arrives := said
			if c.route.stored && said.Trusted() {
				arrives = ofRecord
			}
			if c.route.name == "query" || c.route.name == "query that echoes" {
				arrives = arrives.Mix(ofRecord)
			}
			wanted := arrives.Within(c.from)
			var code string
			changed := 0
			domain, _, _ := strings.Cut(c.verb, ".")
			if sink, ok := shopSinks[c.verb]; ok {
				shop, origin := shops[domain], said
				if c.route.begin != "" {
					// What a person said stays theirs when a model repeats it, so
					// something else stands there first.
					other := strings.ReplaceAll(c.route.begin, "LU", "DE")
					for _, err := range []error{shop.saidBy(sink.who, other, "note", ofPerson), shop.saidBy(sink.who, c.route.begin, "note", said)} {
						if err != nil {
							t.Fatalf("%s: %v", c.route.begin, err)
						}
					}
					origin = ofPerson // who points at what was saved
				}
				before := len(shop.rows(t, sink.writes))
				code = codeOf(t, shop.saidBy(sink.who, c.route.text, c.arg, origin))
				changed = len(shop.rows(t, sink.writes)) - before
				if wanted && code == "needs-agreement" {
					code = "" // it always asks, wherever it comes from
				}
			} else {
				w.reset()
				for _, text := range strings.Split(c.route.begin, "\nnext\n") {
					if text == "" {
						continue
					}
					s := w.session("kim")
					if _, err := s.Run(context.Background(), w.said(s, text, ofPerson, said), engine.RunOptions{}); err != nil {
						t.Fatalf("%s: %v", text, err)
					}
				}
				before := len(w.rowsOf("payment"))
				s := w.session("kim")
				text, job := strings.CutPrefix(c.route.text, "JOB ")
				p := w.said(s, text, ofPerson, said)
				if job {
					p = w.later(p)
				}
				_, err := s.Run(context.Background(), p, engine.RunOptions{})
				code, changed = codeOf(t, err), len(w.rowsOf("payment"))-before
			}
			name := fmt.Sprintf("%s :%s, %s, by %s", c.verb, c.arg, origin, c.route.name)
			want := "origin"
			if c.asks {
				want = "needs-agreement"
			}
			if wanted {
				accepted++
				if code != "" {
					t.Errorf("%s: refused with %s", name, code)
				}
				continue
			}
			forbidden++
			per[domain]++
			t.Log(name)
			if code != want || changed != 0 {
				t.Errorf("%s: told %q, and %d rows", name, code, changed)
			}
		}
	}
	t.Logf("%d cells that a palette forbids, 0 reached the store unasked; %d that it accepts; %d sensitive arguments of verbs that write accept anything", forbidden, accepted, free)
	t.Logf("forbidden by palette: %v", per)
	if forbidden < 100 || per["client"] < 5 || per["retail"] < 5 {
		t.Errorf("only %d cells: %v", forbidden, per)
	}
}

// later is a program as a job has it that runs another day: as text, and a short
// word for each origin.
func (w *till) later(p *verbs.Program) *verbs.Program {
	w.t.Helper()
	origins := p.Literals().Encode(p.Script())
	script, ds := dsl.Parse(dsl.NewSource("job", dsl.Format(p.Script())))
	if ds.HasErrors() {
		w.t.Fatal(told(ds))
	}
	said, err := verbs.ReadLiterals(origins, script)
	if err != nil {
		w.t.Fatal(err)
	}
	again, ds := w.session("kim").Check(context.Background(), script, engine.CheckOptions{Said: said})
	if again == nil {
		w.t.Fatal(told(ds))
	}
	return again
}

// reset makes every payee what they were, and takes every payment away.
func (w *till) reset() {
	w.t.Helper()
	var all []stores.Change
	err := w.store.View(context.Background(), stores.Scope{All: true}, func(r stores.Reader) error {
		for _, name := range []string{"payment", "payee"} {
			e := w.entity(name)
			found, err := r.Find(context.Background(), stores.Find{Entity: e, Select: []stores.Path{{Field: e.Key}}})
			if err != nil {
				return err
			}
			var keys []stores.Value
			for _, f := range found {
				keys = append(keys, f[0])
			}
			rows, err := r.Rows(context.Background(), e, keys)
			if err != nil {
				return err
			}
			for _, row := range rows {
				if name == "payment" {
					all = append(all, stores.Change{Op: stores.Delete, Entity: e, Key: row.Key(), Before: row.Values, Marks: row.Marks})
					continue
				}
				c := stores.Change{Op: stores.Update, Entity: e, Key: row.Key(), Marks: row.Marks}
				fresh := map[string]stores.Value{"iban": str("de01"), "note": str("aa")}
				if row.Key() == id(13) {
					fresh["next"] = id(11)
				}
				for _, f := range []string{"iban", "note", "codes", "data", "next"} {
					c.Set = append(c.Set, stores.Assign{Field: e.FieldIndex(f), Value: fresh[f]})
				}
				all = append(all, c)
			}
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.change(all...)
}

// A shopSink is a verb of a shipped palette that demands origins: who may use it,
// the rows that it makes, and the ways that lead to it.
type shopSink struct {
	who, writes string
	routes      []route
}

var shopSinks = map[string]shopSink{
	"retail.change-address": {"mara", "address", []route{{"literal", "",
		`retail.change-address :address-id @anna-berger-wien :street "Praterstraße 1" :postcode "1020" :city "Wien"`, false}}},
	"retail.add-address": {"mara", "address", []route{{"literal", "",
		`retail.add-address :customer-id @anna-berger :street "Praterstraße 1" :postcode "1020" :city "Graz"`, false}}},
	"client.name-repayment-account": {"clara", "repayment-account", []route{
		{"literal", "", `client.name-repayment-account :cbu-id @allianz-reinsurance-ag :iban "LU280019400644750000"`, false},
		{"field of a name", `client.add-note :request-id @pierre-dupont-source-of-wealth :note "LU280019400644750000"`,
			`client.name-repayment-account :cbu-id @allianz-reinsurance-ag :iban @pierre-dupont-source-of-wealth.client_notes`, true},
	}},
}

// sqliteBank is the bank of the examples.
func sqliteBank(t testing.TB) *shop {
	t.Helper()
	first, err := bankFile()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "bank.db")
	if err := os.WriteFile(path, first, 0o600); err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	s := &shop{store: store, reg: load(t, "../../verbs/palettes/bank")}
	noon := time.Date(2024, 12, 27, 12, 0, 0, 0, time.UTC)
	s.engine, err = engine.New(s.reg, store, engine.Options{Clock: func() time.Time { return noon }, Handlers: &engine.Handlers{Partial: true}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// bankFile makes the file that every sqliteBank is a copy of.
var bankFile = sync.OnceValues(func() ([]byte, error) {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "bank")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "bank.db")
	store, err := sqlite.Open(path)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	reg, ds := loading.Dir(os.DirFS("../../verbs/palettes/bank"))
	if ds.HasErrors() {
		return nil, fmt.Errorf("palettes: %s", told(ds))
	}
	var script strings.Builder
	for _, name := range []string{"bank.sql", "people.sql"} {
		text, err := os.ReadFile("../../examples/client/" + name)
		if err != nil {
			return nil, err
		}
		script.Write(text)
	}
	// Who may do what is data too: the store's own tables come first.
	_, err = store.Migrate(ctx, nil, true)
	if err == nil {
		err = store.Load(ctx, script.String())
	}
	if err == nil {
		_, err = store.Migrate(ctx, append((&shop{reg: reg}).tables(), engine.Own()...), true)
	}
	if err == nil {
		err = store.Close()
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// saidBy makes a call one argument of which somebody else said.
func (s *shop) saidBy(who, call, arg string, origin verbs.Origin) error {
	ctx := context.Background()
	session, err := s.engine.Session(ctx, who)
	if err != nil {
		return err
	}
	script, _ := dsl.Parse(dsl.NewSource("shop.dsl", call))
	part, ok := script.Calls[0].Get(arg)
	if !ok {
		return errors.New("no such argument")
	}
	p, ds := session.Check(context.Background(), script, engine.CheckOptions{Said: verbs.Literals{Origin: ofPerson, Of: func(at dsl.Range) (verbs.Origin, bool) { return origin, at == part.Range }}})
	if p == nil {
		return errors.New(told(ds))
	}
	_, err = session.Run(ctx, p, engine.RunOptions{})
	return err
}

var searchSeed = flag.Uint64("search-seed", 1, "where the search begins")

var searched = flag.Int("search", 15_000, "how many calls the search for a way around `from:` makes")

// SAFE-S3: a search that knows the palette, the origins and the rules, and goes
// on from what got it furthest. Every untrusted value is a word of its own, so
// that it is recognised wherever it turns up, whatever the engine believes of it:
// none may stand in a payment.
func TestSearchFindsNoWayAround(t *testing.T) {
	t.Parallel()
	if norace.Run(t) {
		return
	}
	seed := *searchSeed
	rng := rand.New(rand.NewPCG(seed, 1))
	t.Logf("seed %d", seed)
	w := newTill(t)
	ctx := context.Background()
	names := []string{"@ann", "@bob", "@mallory"}
	fields := []string{"note", "iban", "next.note", "next.iban", "name"}
	// The weight of each production grows when what it made was carried out and
	// brought an untrusted word to where none had been.
	weight := map[string]float64{}
	pick := func(options ...string) string {
		total := 0.0
		for _, o := range options {
			total += 1 + weight[o]
		}
		at := rng.Float64() * total
		for _, o := range options {
			if at -= 1 + weight[o]; at < 0 {
				return o
			}
		}
		return options[len(options)-1]
	}
	tokens := 0
	calls, runs, done, paid, refusedBy := 0, 0, 0, 0, map[string]int{}
	var best []string // scripts that went furthest
	reached := map[string]bool{}
	for calls < *searched {
		var used, bound []string
		use := func(p string) string { used = append(used, p); return p }
		word := func() string {
			tokens++
			if rng.IntN(3) == 0 {
				return fmt.Sprintf("\"s%dz\"", tokens)
			}
			return fmt.Sprintf("«\"t%dz\"»", tokens)
		}
		value := func() string {
			switch use(pick("word", "field", "bound")) {
			case "field":
				return pick(names...) + "." + use(pick(fields...))
			case "bound":
				if len(bound) > 0 {
					return bound[rng.IntN(len(bound))]
				}
			}
			return word()
		}
		var lines []string
		n := 1 + rng.IntN(12)
		for i := range n {
			as := fmt.Sprintf("@x%d", i)
			who := pick(names...)
			v := use(pick("paying.note", "paying.join", "paying.keep", "paying.copy", "paying.copy-all", "paying.point", "paying.mark-when", "paying.find", "paying.get", "paying.ask"))
			line := v
			gives := []string{as + ".note", as + ".iban"}
			switch v {
			case "paying.note", "paying.mark-when":
				line += " :payee-id " + who + " :note " + value()
			case "paying.join":
				line += " :payee-id " + who + " :a " + value() + " :b " + value()
				if rng.IntN(2) == 0 {
					line += " :first false"
				}
			case "paying.keep":
				line += " :payee-id " + who + " :codes [" + value() + " " + value() + "] :data {:k " + value() + "}"
			case "paying.copy":
				line += " :from-id " + pick(names...) + " :payee-id " + who
			case "paying.copy-all":
				line += " :from-id " + pick(names...) + " :name \"" + pick("Ann", "Bob", "Mallory") + "\""
				gives = nil
			case "paying.point":
				line += " :payee-id " + who + " :to-id " + pick(names...)
			case "paying.find":
				line += " :name \"" + pick("Ann", "Bob", "Mallory") + "\""
				gives = append(gives, as+".next-note")
			case "paying.get":
				line += " :payee-id " + who
			case "paying.ask":
				line += " :text " + value()
				gives = []string{as + ".text", as + ".note"}
			}
			if len(gives) > 0 {
				line += " :as " + as
			}
			lines, bound = append(lines, line), append(bound, gives...)
		}
		if len(best) > 0 && rng.IntN(4) == 0 {
			lines, bound = strings.Split(best[rng.IntN(len(best))], "\n"), nil // go on from there
		}
		sink := use(pick("none", "paying.pay", "paying.pay codes", "paying.pay data", "paying.pay-by", "paying.pay-by-two", "paying.pay-asking", "paying.pay-noted"))
		switch sink {
		case "none":
		case "paying.pay codes":
			lines = append(lines, "paying.pay :payee-id "+pick(names...)+" :codes ["+value()+" "+value()+"]")
		case "paying.pay data":
			lines = append(lines, "paying.pay :payee-id "+pick(names...)+" :data {:k ["+value()+"]}")
		case "paying.pay-noted":
			lines = append(lines, sink+" :payee-id "+pick(names...))
		default:
			lines = append(lines, sink+" :payee-id "+pick(names...)+" :iban "+value())
		}
		text := strings.Join(lines, "\n")
		calls, runs = calls+len(lines), runs+1
		s := w.session("kim")
		err := w.try(ctx, s, text, pick("model", "tool=crm", "document=letter.pdf"))
		if err != nil {
			var r *engine.Refusal
			if !errors.As(err, &r) {
				t.Fatalf("seed %d: %v\n%s", seed, err, text)
			}
			refusedBy[r.Diagnostics[0].Code]++
			continue
		}
		done++
		if sink != "none" {
			paid++
		}
		if done%300 == 0 {
			w.reset()
		}
		// What did it bring where?
		for _, found := range w.words() {
			if strings.HasPrefix(found, "payment") {
				t.Fatalf("seed %d: %s came about by\n%s", seed, found, text)
			}
			if !reached[found] && len(reached) < 100000 {
				reached[found] = true
				for _, u := range used {
					weight[u] = min(weight[u]+0.02, 8)
				}
				if len(text) < 2000 {
					best = append(best[max(0, len(best)-30):], text)
				}
			}
		}
		for k := range weight {
			weight[k] *= 0.995
		}
	}
	t.Logf("%d calls in %d scripts, %d carried out, 0 ways around; refused: %v", calls, runs, done, refusedBy)
	if refusedBy["origin"] < 20 || done < 50 || paid < 10 {
		t.Errorf("the search does not search: %d payments", paid)
	}
	for _, where := range []string{"payee.note", "payee.iban", "payee.codes", "payee.data"} {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(reached)), func(k string) bool { return strings.HasPrefix(k, where) }) {
			t.Errorf("no untrusted word ever reached %s", where)
		}
	}
}

// try runs a script in which what stands in guillemets has an origin.
func (w *till) try(ctx context.Context, s *engine.Session, text, origin string) error {
	o, err := verbs.ParseOrigin(origin)
	if err != nil {
		return err
	}
	_, err = s.Run(ctx, w.said(s, text, ofPerson, o), engine.RunOptions{})
	return err
}

// words finds untrusted words in fields: "payee.note t17".
func (w *till) words() []string {
	w.t.Helper()
	var found []string
	err := w.store.View(context.Background(), stores.Scope{All: true}, func(r stores.Reader) error {
		for _, name := range []string{"payee", "payment"} {
			e := w.entity(name)
			rows, err := r.Find(context.Background(), stores.Find{Entity: e, Order: []stores.Order{{Path: stores.Path{Field: e.Key}, Desc: true}}})
			if err != nil {
				return err
			}
			for _, row := range rows {
				for i, v := range row {
					text := v.Text()
					for at := strings.IndexByte(text, 't'); at >= 0 && e.Fields[i].Ref == nil && i != e.Key; {
						end := at + 1
						for end < len(text) && text[end] >= '0' && text[end] <= '9' {
							end++
						}
						if end > at+1 && end < len(text) && text[end] == 'z' {
							found = append(found, name+"."+e.Fields[i].Name+" "+text[at:end])
						}
						next := strings.IndexByte(text[at+1:], 't')
						if next < 0 {
							break
						}
						at += 1 + next
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}
