package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/receipt"
)

// A twin is a world of the same rows as its siblings, which does the same
// scripts in a way of its own.
type twin struct {
	*world
	name  string
	messy bool // it is given the text as somebody in a hurry would write it
	each  bool // it commits call by call what can be done whole
	kim   *engine.Session
}

// SAFE-R9: one stream of scripts is answered alike by every twin, to the word,
// whether calls are refused or done: on a file and on a server, with one
// connection and with many, asking the store for each row and change at once or
// as late as possible, in one transaction or call by call, the text formatted or
// not. Afterwards the same rows are
// there.
func TestTwinsAnswerAlike(t *testing.T) {
	t.Parallel()
	const scripts = 30
	twins := []*twin{
		{name: "a file, at once", world: twinWorld(t, "sqlite", 0)},
		{name: "a file", world: twinWorld(t, "sqlite", 0)},
		{name: "a file, text as it comes", world: twinWorld(t, "sqlite", 0), messy: true},
		{name: "a file, call by call", world: twinWorld(t, "sqlite", 0), each: true},
		{name: "a server, call by call, text as it comes", world: twinWorld(t, "postgres", 8), each: true, messy: true},
		{name: "a server", world: twinWorld(t, "postgres", 8)},
		{name: "a server, one connection, text as it comes", world: twinWorld(t, "postgres", 1), messy: true},
	}
	engine.AtOnce(twins[0].engine)
	rnd := rand.New(rand.NewPCG(8, 8))
	done, refused := 0, map[string]int{}
	for n := range scripts {
		calls := drawScript(rnd, n)
		want := twins[0].answer(n, calls)
		for _, tw := range twins[1:] {
			if got := tw.answer(n, calls); got != want {
				t.Fatalf("script %d, %s\n%s\nanswers\n%s\nand %s\n%s", n, tw.name, strings.Join(calls, "\n"), got, twins[0].name, want)
			}
		}
		if code, is := strings.CutPrefix(want, "refused "); is {
			refused[strings.Fields(code)[0]]++
		} else {
			done++
		}
	}
	want := twins[0].rendered()
	for _, tw := range twins[1:] {
		if got := tw.rendered(); !slices.Equal(got, want) {
			t.Errorf("%s ends with\n%s\nand %s with\n%s", tw.name, strings.Join(got, "\n"), twins[0].name, strings.Join(want, "\n"))
		}
		if got, want := len(tw.journal()), len(twins[0].journal()); got != want {
			t.Errorf("%s has a journal of %d entries, and %s of %d", tw.name, got, twins[0].name, want)
		}
	}
	t.Logf("%d done, refused %v", done, refused)
	if done < scripts/4 || len(refused) < 4 {
		t.Errorf("the scripts are too much alike: %d done, refused %v", done, refused)
	}
}

var previewID = regexp.MustCompile(`[0-9a-f]{4}-[0-9a-f]{4}\b`)

// twinWorld opens the fixture on a backend, with a clock that stands still.
func twinWorld(t *testing.T, backend string, pool int) *world {
	t.Helper()
	if backend == "sqlite" {
		w := newWorld(t)
		return w.unchanged(w.store)
	}
	reg := load(t, "testdata/palettes")
	w := &world{t: t, reg: reg, clock: newWorldClock}
	_, db := serverAndLike(t, reg.Digest(), w.furnish)
	ctx := context.Background()
	if backend == "row-level security alone" {
		ctx = pgtest.Ajar(ctx)
	}
	store, err := postgres.Open(ctx, fmt.Sprintf("%s&pool_max_conns=%d", db.App, pool), postgres.MigrateAs(db.Owner))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return w.unchanged(store)
}

// still makes an engine whose clock stands still, until a script moves it.
func (w *world) unchanged(store stores.Store) *world {
	w.t.Helper()
	s := &world{t: w.t, reg: w.reg, store: store, clock: newWorldClock}
	var err error
	s.engine, err = engine.New(w.reg, store, engine.Options{Clock: func() time.Time { return s.clock }, NewID: s.newID})
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// drawScript makes up a script of a few calls, most of which can be done.
func drawScript(rnd *rand.Rand, n int) []string {
	pick := func(of ...string) string { return of[rnd.IntN(len(of))] }
	item := func() string {
		return pick("@drill", "@saw", "@ladder", "@tent", "@drill", "@saw", "@ladder", "@tent", id(21).Text(), id(24).Text(), "@axe", id(25).Text())
	}
	loan := func() string {
		return pick("@saw-bob", "@ladder-ann", "@tent-ann", "@saw-bob", "@ladder-ann", "@tent-ann", id(31).Text(), id(32).Text(), id(33).Text(), id(34).Text())
	}
	member := func() string { return pick("@ann", "@bob") }
	day := func() string { return pick("2025-01-02", "2025-01-12", "2025-02-01", "2025-06-30") }
	var calls []string
	bound := ""
	for len(calls) < 1+rnd.IntN(7) {
		which := loan()
		if bound != "" && rnd.IntN(2) == 0 {
			which = bound
		}
		switch rnd.IntN(20) {
		case 0, 1, 2, 3:
			calls = append(calls, fmt.Sprintf(`lending.note :loan-id %s :note "n%d"`, which, rnd.IntN(3)))
		case 4, 5:
			calls = append(calls, fmt.Sprintf(`lending.note :loan-id %s :note "n%d" :expected-date %s`, which, n, day()))
		case 6:
			calls = append(calls, fmt.Sprintf(`lending.extend :loan-id %s :new-date %s`, which, day()))
		case 7:
			calls = append(calls, fmt.Sprintf(`lending.return :loan-id %s :on %s`, which, day()))
		case 8, 9:
			bound = fmt.Sprintf("@l%d", len(calls))
			calls = append(calls, fmt.Sprintf(`lending.lend :item-id %s :member-id %s :as %s`, item(), member(), bound))
		case 10:
			calls = append(calls, fmt.Sprintf(`lending.close-late :member-id %s`, member()))
		case 11, 12:
			calls = append(calls, fmt.Sprintf(`lending.remind :loan-id %s :on %s`, which, day()))
		case 13:
			calls = append(calls, fmt.Sprintf(`lending.clean :before %s`, day()))
		case 14:
			calls = append(calls, fmt.Sprintf(`lending.lose :item-id %s`, item()))
		case 15:
			calls = append(calls, fmt.Sprintf(`lending.relend :loan-id %s :item-id %s :member-id %s`, which, item(), member()))
		case 16:
			calls = append(calls, fmt.Sprintf(`lending.add-item :club-id @north :name "%s" :worth %d.%02d`, pick("Axe", "Rope", "Drill", fmt.Sprint("Thing ", n)), rnd.IntN(900), rnd.IntN(100)))
		case 17:
			calls = append(calls, `lending.list-items`, `lending.count-loans`)
		case 18:
			calls = append(calls, fmt.Sprintf(`lending.get-item :item-id %s`, item()))
		case 19:
			calls = append(calls, fmt.Sprintf(`lending.plan :loan-id %s`, which), fmt.Sprintf(`lending.set-phone :member-id %s :phone "+49 %d"`, member(), rnd.IntN(3)))
		}
	}
	return calls
}

// answer does a script, agreeing to what it asks, and writes down all that is
// said about it.
func (tw *twin) answer(n int, calls []string) string {
	tw.t.Helper()
	tw.clock = newWorldClock.Add(time.Duration(n) * time.Hour)
	text := strings.Join(calls, "\n")
	if tw.messy {
		text = messy(n, calls)
	}
	if n%5 == 0 { // names last as long as a session
		tw.kim = tw.session("kim")
	}
	script, ds := dsl.Parse(dsl.NewSource("twin.dsl", text))
	if ds.HasErrors() {
		tw.t.Fatalf("%s: %s", text, told(ds))
	}
	p, ds := tw.kim.Check(context.Background(), script)
	if p == nil {
		return "invalid " + plain(tw.callErrors(script, ds))
	}
	ctx := context.Background()
	preview, err := tw.kim.Preview(ctx, p)
	if err != nil {
		return tw.error(script, err)
	}
	o := engine.RunOptions{}
	if len(preview.Asks()) > 0 {
		o.Agreed = preview.ID
	}
	reply, err := committed(ctx, tw.kim, p, tw.each, o)
	if err != nil {
		return tw.error(script, err)
	}
	return plain(twinReply(reply))
}

func (tw *twin) error(script *dsl.Script, err error) string {
	tw.t.Helper()
	var refusal *engine.Refusal
	if !errors.As(err, &refusal) {
		tw.t.Fatalf("%s: %T: %v", tw.name, err, err)
	}
	return "refused " + tw.callErrors(script, refusal.Diagnostics)
}

// complaints tells diagnostics by the calls that they are about.
func (tw *twin) callErrors(script *dsl.Script, ds dsl.Diagnostics) string {
	var b strings.Builder
	for _, d := range ds {
		call := -1
		for i := range script.Calls {
			if r := script.Calls[i].Range; d.Place.Range.Start >= r.Start && d.Place.Range.Start < r.End {
				call = i
			}
		}
		fmt.Fprintf(&b, "%s call %d: %s (%s)\n", d.Code, call, d.Summary, strings.Join(d.Notes, "; "))
	}
	// The id of a preview stands on keys, which are others in each world.
	return previewID.ReplaceAllString(b.String(), "ID")
}

// twinReply writes a reply down without what differs between worlds: keys, ids
// and the numbers of journal entries. It says how many entries there are.
func twinReply(r *receipt.Receipt) string {
	var b strings.Builder
	entries := 0
	for i, c := range r.Calls {
		if c.Seq > 0 {
			entries++
		}
		fmt.Fprintf(&b, "%s journalled=%v %v %v\n", r.Calls[i].Text, c.Seq > 0, c.Notices, len(r.Calls[i].Asks))
		for _, row := range c.Rows {
			fmt.Fprintf(&b, "  %s %s %s %q", row.Op, row.Entity, row.Name, row.Label)
			for _, f := range row.Fields {
				fmt.Fprintf(&b, " %s: %s > %s from %s", f.Name, f.Before, f.After, f.From)
			}
			b.WriteByte('\n')
		}
		if c.Result != nil {
			fmt.Fprintf(&b, "  %v %v\n", c.Result.Columns, c.Result.Rows)
		}
	}
	fmt.Fprintf(&b, "%+v entries=%d\n", r.Totals(), entries)
	return b.String()
}

// messy writes calls as nobody should: the spelling differs, the meaning does
// not.
func messy(n int, calls []string) string {
	var b strings.Builder
	for i, c := range calls {
		switch (n + i) % 3 {
		case 0:
			b.WriteString("  " + strings.ReplaceAll(c, " :", "\n\t  :") + "   ; as it came\n\n")
		case 1:
			b.WriteString("(" + strings.ReplaceAll(c, " :", "    :") + " )\n")
		default:
			b.WriteString(c + " ")
		}
	}
	return b.String()
}

// rendered is every row there is without the keys, which differ: what a
// reference leads to stands in its place.
func (w *world) rendered() []string {
	w.t.Helper()
	all := w.state()
	var render func(entity string, row []stores.Value) string
	render = func(entity string, row []stores.Value) string {
		e := w.entity(entity)
		line := entity
		for i, v := range row {
			switch to := e.Fields[i].Ref; {
			case i == e.Key:
			case to != nil && !v.IsNull():
				line += " " + e.Fields[i].Name + "=(" + render(to.Name, all[to.Name+" "+v.Text()]) + ")"
			default:
				line += " " + e.Fields[i].Name + "=" + v.String()
			}
		}
		return line
	}
	var lines []string
	for k, row := range all {
		entity, _, _ := strings.Cut(k, " ")
		lines = append(lines, render(entity, row))
	}
	slices.Sort(lines)
	return lines
}
