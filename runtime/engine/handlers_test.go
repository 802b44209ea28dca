package engine_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	goruntime "runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"path/filepath"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/sqlite"
	"verbatim/verbs"
	loading "verbatim/verbs/load"
)

type repairArgs struct {
	Item     engine.Ref `verb:"item-id"`
	Loan     engine.Ref `verb:"loan-id"`
	Reminder engine.Ref `verb:"reminder-id"`
	On       time.Time  `verb:"on"`
}

type appraiseArgs struct {
	Item  engine.Ref   `verb:"item-id"`
	Worth stores.Value `verb:"worth"`
	Note  *string      `verb:"note"`
}

type (
	repair   func(context.Context, *engine.Call, repairArgs) (engine.Outcome, error)
	appraise func(context.Context, *engine.Call, appraiseArgs) (engine.Outcome, error)
)

// honest keeps every promise of crafted.repair, to the letter.
func honest(_ context.Context, c *engine.Call, a repairArgs) (engine.Outcome, error) {
	return c.Declared(), nil
}

func appraised(_ context.Context, c *engine.Call, a appraiseArgs) (engine.Outcome, error) {
	return engine.Outcome{
		Changes: []engine.Edit{engine.Update(a.Item, engine.Fields{"worth": a.Worth})},
		Kept:    []string{"worth against the market"},
		Result:  &engine.Answer{Columns: []string{"item", "worth"}, Rows: [][]any{{a.Item, a.Worth}}},
	}, nil
}

func handlers(r repair, a appraise) *engine.Handlers {
	h := &engine.Handlers{}
	engine.Handle(h, "crafted.repair", r)
	engine.Handle(h, "crafted.appraise", a)
	return h
}

func craftedWorld(t testing.TB, r repair, a appraise) *world {
	return newWorldOf(t, load(t, "testdata/palettes"), handlers(r, a))
}

const (
	repairCall   = `crafted.repair :item-id @saw :loan-id @saw-bob :reminder-id @saw-2025-01-11 :on 2025-02-01`
	appraiseCall = `crafted.appraise :item-id @saw :worth 300.00`
)

// A handler that does what its palette says is committed.
func TestHandlersThatKeepTheirPromisesAreCommitted(t *testing.T) {
	t.Parallel()
	w := craftedWorld(t, honest, appraised)
	equal(t, w.done("kim", repairCall), []string{
		`+ reminder loan=` + id(31).Text() + ` remind_on=2025-02-01 text="repaired"`,
		`- reminder ` + id(41).Text(),
		`~ item ` + id(22).Text() + ` status="IN"`,
	})
	reply, err := w.run("kim", appraiseCall)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, table(reply.Calls[0].Result), []string{"item|worth", `"@saw"|300.00`})
	// The may-create is due only for what is lost.
	equal(t, w.done("kim", `crafted.repair :item-id @ladder :loan-id @saw-bob :reminder-id @saw-2025-02-01 :on 2025-02-02`), []string{
		`+ item club=` + id(1).Text() + ` name="spare" status="IN"`,
		`+ reminder loan=` + id(31).Text() + ` remind_on=2025-02-02 text="repaired"`,
		`- reminder 00000000-0000-4000-9000-000000000003`,
		`~ item ` + id(23).Text() + ` status="IN"`,
	})
}

// SAFE-A7: a handler that does more than its palette promises, or less, is
// rolled back whole, and the error says which promise and what happened.
func TestHandlersThatDoMoreOrLessAreRolledBack(t *testing.T) {
	t.Parallel()
	with := func(fn func(c *engine.Call, a repairArgs, o *engine.Outcome)) repair {
		return func(_ context.Context, c *engine.Call, a repairArgs) (engine.Outcome, error) {
			o := c.Declared()
			fn(c, a, &o)
			return o, nil
		}
	}
	add := func(changes ...engine.Edit) repair {
		return with(func(_ *engine.Call, _ repairArgs, o *engine.Outcome) { o.Changes = append(o.Changes, changes...) })
	}
	drop := func(match func(engine.Edit) bool) repair {
		return with(func(_ *engine.Call, _ repairArgs, o *engine.Outcome) {
			o.Changes = slices.DeleteFunc(o.Changes, match)
		})
	}
	setField := func(op stores.Op, entity, field string, v any) repair {
		return with(func(_ *engine.Call, _ repairArgs, o *engine.Outcome) {
			for _, c := range o.Changes {
				if c.Op == op && c.Entity == entity {
					c.Fields[field] = v
				}
			}
		})
	}
	other := func(entity string, where engine.Fields) func(c *engine.Call) engine.Ref {
		return func(c *engine.Call) engine.Ref {
			found, err := c.Find(context.Background(), entity, where)
			if err != nil || len(found) == 0 {
				panic(fmt.Sprintf("no %s: %v", entity, err))
			}
			return found[0].Ref()
		}
	}
	drill := other("item", engine.Fields{"name": "Drill"})
	for _, c := range []struct {
		name    string
		fn      repair
		happens string // in the error
	}{
		{"more: a row of an entity that nobody promised", add(engine.Create("club", engine.Fields{"name": "Third"})), "a row of club was to be added"},
		{"more: a second row where one is promised", with(func(_ *engine.Call, _ repairArgs, o *engine.Outcome) { o.Changes = append(o.Changes, o.Changes[0]) }), "a row of reminder was to be added"},
		{"more: a row whose may-create is not due", with(func(c *engine.Call, a repairArgs, o *engine.Outcome) {
			o.Changes = append(o.Changes, engine.Create("item", engine.Fields{"name": "spare"}))
		}), "a row of item was to be added"},
		{"more: a field of the new row", setField(stores.Insert, "reminder", "at", time.Now()), "a row of reminder was to be added"},
		{"more: another value in the new row", setField(stores.Insert, "reminder", "text", "paid"), "a row of reminder was to be added"},
		{"more: a field that the update does not promise", setField(stores.Update, "item", "worth", 1), "worth of a row of item was to be changed"},
		{"more: another value than the update promises", setField(stores.Update, "item", "status", "LOST"), "status of a row of item was to be changed"},
		{"more: the same update of another row", with(func(c *engine.Call, _ repairArgs, o *engine.Outcome) {
			o.Changes = append(o.Changes, engine.Update(drill(c), engine.Fields{"status": "IN"}))
		}), "status of a row of item was to be changed"},
		{"more: an update of another entity", with(func(c *engine.Call, a repairArgs, o *engine.Outcome) {
			o.Changes = append(o.Changes, engine.Update(a.Loan, engine.Fields{"note": "x"}))
		}), "note of a row of loan was to be changed"},
		{"more: the key of a row", with(func(c *engine.Call, a repairArgs, o *engine.Outcome) {
			o.Changes = append(o.Changes, engine.Update(a.Item, engine.Fields{"item_id": id(99)}))
		}), "the key of a row of item was to be changed"},
		{"more: the deletion of another row", with(func(c *engine.Call, a repairArgs, o *engine.Outcome) {
			o.Changes = append(o.Changes, engine.Delete(a.Loan))
		}), "a row of loan was to be deleted"},
		{"more: the deletion of a row that is to be changed", with(func(c *engine.Call, a repairArgs, o *engine.Outcome) {
			o.Changes = append(o.Changes, engine.Delete(a.Item))
		}), "a row of item was to be deleted"},
		{"more: a notice to somebody else", with(func(_ *engine.Call, _ repairArgs, o *engine.Outcome) {
			o.Notices = append(o.Notices, engine.Notify("press", nil))
		}), "a notify to press was to go out"},
		{"more: the same notice twice", with(func(_ *engine.Call, _ repairArgs, o *engine.Outcome) {
			o.Notices = append(o.Notices, o.Notices[0])
		}), "a notify to workshop was to go out"},
		{"more: a notice of the other kind", with(func(_ *engine.Call, _ repairArgs, o *engine.Outcome) {
			o.Notices = append(o.Notices, engine.Trigger("workshop", nil))
		}), "a trigger to workshop was to go out"},
		{"more: a promise that nobody made", with(func(_ *engine.Call, _ repairArgs, o *engine.Outcome) {
			o.Kept = append(o.Kept, "everything")
		}), `it says that it did "everything"`},
		{"less: no new row", drop(func(c engine.Edit) bool { return c.Op == stores.Insert }), "no row of reminder was to be added"},
		{"less: no update", drop(func(c engine.Edit) bool { return c.Op == stores.Update }), "a row of item was not to be changed"},
		{"less: no deletion", drop(func(c engine.Edit) bool { return c.Op == stores.Delete }), "a row of reminder was not to be deleted"},
		{"less: a promised field of the new row", with(func(_ *engine.Call, _ repairArgs, o *engine.Outcome) {
			delete(o.Changes[0].Fields, "remind_on")
		}), "a row of reminder was to be added"},
		{"less: no notice", with(func(_ *engine.Call, _ repairArgs, o *engine.Outcome) { o.Notices = o.Notices[1:] }), "no notify to workshop was to go out"},
		{"less: nothing at all", func(context.Context, *engine.Call, repairArgs) (engine.Outcome, error) {
			return engine.Outcome{}, nil
		}, "no row of reminder was to be added"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := craftedWorld(t, c.fn, appraised)
			before := w.state()
			// What comes before it in the script is undone too.
			s := w.session("kim")
			p := w.program(s, "lending.note :loan-id @saw-bob :note \"before\"\n"+repairCall)
			_, err := s.Run(context.Background(), p, engine.RunOptions{})
			var broken *engine.BrokenPromise
			if !errors.As(err, &broken) {
				t.Fatalf("want a broken promise, got %T: %v", err, err)
			}
			if broken.Verb != "crafted.repair" || broken.Happened != c.happens {
				t.Errorf("says %q", err)
			}
			if strings.HasPrefix(c.name, "less") != (broken.Promise != "") && c.name != "less: a promised field of the new row" {
				t.Errorf("promise %q", broken.Promise)
			}
			if broken.Place.Source == nil {
				t.Error("does not say where the palette promises it")
			}
			if said := engine.Sentence(err); strings.Contains(said, "reminder") || !strings.Contains(said, "Nothing was changed") {
				t.Errorf("the person is told %q", said)
			}
			equal(t, diff(w.entity, before, w.state()), nil)
			// The journal says that it was tried, and how it ended.
			if entries := w.journal(); len(entries) != 1 || entries[0].Outcome != "failed" || entries[0].Reason != "broken-promise" {
				t.Errorf("journal %v", entries)
			}
		})
	}
}

// SAFE-A7: promises in words are kept in words: the handler has to say so, and
// what it may touch is what the promise names.
func TestPromisesInWordsAreHeldToo(t *testing.T) {
	t.Parallel()
	with := func(fn func(a appraiseArgs, o *engine.Outcome)) appraise {
		return func(ctx context.Context, c *engine.Call, a appraiseArgs) (engine.Outcome, error) {
			o, err := appraised(ctx, c, a)
			fn(a, &o)
			return o, err
		}
	}
	for _, c := range []struct {
		name    string
		fn      appraise
		happens string
	}{
		{"less: did not validate", with(func(_ appraiseArgs, o *engine.Outcome) { o.Kept = nil }), "nobody says that it was done"},
		{"less: gave nothing back", with(func(_ appraiseArgs, o *engine.Outcome) { o.Result = nil }), "nothing was given back"},
		{"less: changed nothing", with(func(_ appraiseArgs, o *engine.Outcome) { o.Changes = nil }), "no row of item was to be changed"},
		{"more: another field", with(func(a appraiseArgs, o *engine.Outcome) {
			o.Changes[0].Fields["name"] = "Gold"
		}), "name of a row of item was to be changed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := craftedWorld(t, honest, c.fn)
			before := w.state()
			_, err := w.run("kim", appraiseCall)
			var broken *engine.BrokenPromise
			if !errors.As(err, &broken) || broken.Happened != c.happens {
				t.Fatalf("got %T: %v", err, err)
			}
			equal(t, diff(w.entity, before, w.state()), nil)
		})
	}
}

// A handler that fails, panics, or writes what no entity has, changes nothing;
// the operator gets the chain, the person does not.
func TestHandlersThatFailChangeNothing(t *testing.T) {
	t.Parallel()
	boom := errors.New("the market is closed: dial tcp 10.0.0.1")
	for name, fn := range map[string]appraise{
		"error": func(context.Context, *engine.Call, appraiseArgs) (engine.Outcome, error) {
			return engine.Outcome{}, boom
		},
		"panic": func(context.Context, *engine.Call, appraiseArgs) (engine.Outcome, error) { panic(boom) },
		"unknown field": func(_ context.Context, _ *engine.Call, a appraiseArgs) (engine.Outcome, error) {
			return engine.Outcome{Changes: []engine.Edit{engine.Update(a.Item, engine.Fields{"wroth": 1})}}, nil
		},
		"wrong type": func(_ context.Context, _ *engine.Call, a appraiseArgs) (engine.Outcome, error) {
			return engine.Outcome{Changes: []engine.Edit{engine.Update(a.Item, engine.Fields{"worth": "much"})}}, nil
		},
		"unknown entity": func(context.Context, *engine.Call, appraiseArgs) (engine.Outcome, error) {
			return engine.Outcome{Changes: []engine.Edit{engine.Create("itme", nil)}}, nil
		},
		"end of its goroutine": func(context.Context, *engine.Call, appraiseArgs) (engine.Outcome, error) {
			goruntime.Goexit()
			return engine.Outcome{}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := craftedWorld(t, honest, fn)
			before := w.state()
			_, err := w.run("kim", appraiseCall)
			var failure *engine.Failure
			if !errors.As(err, &failure) || !strings.Contains(err.Error(), "crafted.appraise") {
				t.Fatalf("got %T: %v", err, err)
			}
			if said := engine.Sentence(err); strings.Contains(said, "10.0.0.1") || strings.Contains(said, "item") {
				t.Errorf("the person is told %q", said)
			}
			equal(t, diff(w.entity, before, w.state()), nil)
			s := w.session("kim")
			if _, again := s.Run(t.Context(), w.program(s, appraiseCall), engine.RunOptions{}); !errors.As(again, &failure) {
				t.Errorf("without a preview: %v", again)
			}
			if entries := w.journal(); len(entries) != 1 || entries[0].Outcome != "failed" || entries[0].Reason != "handler-failed" || strings.Contains(entries[0].Changes, "10.0.0.1") {
				t.Errorf("journal %v", entries)
			}
		})
	}
}

// A handler that does not return when its time is over is left behind: its run ends, the store is free for
// others, its late outcome is dropped, and it reads no more. One that returns in time and keeps its Call
// reads no more either. (G56)
func TestAHandlerThatBlocksHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	var late *engine.Call
	reached, free, returned := make(chan *engine.Call, 1), make(chan struct{}), make(chan error, 1)
	var blocks atomic.Bool
	blocks.Store(true)
	w := craftedWorld(t, honest, func(ctx context.Context, c *engine.Call, a appraiseArgs) (engine.Outcome, error) {
		if !blocks.Load() {
			return appraised(ctx, c, a)
		}
		reached <- c
		<-free // deaf to its context
		_, err := c.Get(context.Background(), a.Item)
		returned <- err
		return appraised(context.Background(), c, a)
	})
	before := w.state()
	ctx, cancel := context.WithCancel(t.Context())
	go func() { late = <-reached; cancel() }()
	kim := w.session("kim")
	if _, err := kim.Run(ctx, w.program(kim, appraiseCall), engine.RunOptions{}); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %T: %v", err, err)
	}
	equal(t, diff(w.entity, before, w.state()), nil)
	blocks.Store(false)
	if _, err := w.run("kim", appraiseCall); err != nil {
		t.Fatalf("the next run: %v", err)
	}
	after := w.state()
	close(free)
	if err := <-returned; err == nil || !strings.Contains(err.Error(), "ended") {
		t.Errorf("the late handler read: %v", err)
	}
	equal(t, diff(w.entity, after, w.state()), nil)
	if _, err := late.Find(t.Context(), "item", nil); err == nil || !strings.Contains(err.Error(), "ended") {
		t.Errorf("a kept call reads: %v", err)
	}
}

// A handler may decline, in words for the person.
func TestHandlersMayDecline(t *testing.T) {
	t.Parallel()
	w := craftedWorld(t, honest, func(context.Context, *engine.Call, appraiseArgs) (engine.Outcome, error) {
		return engine.Outcome{}, engine.Refuse("nobody can say what a saw is worth", "ask again in spring")
	})
	r := w.refused("kim", appraiseCall, "not-possible")
	if said := engine.Sentence(r); said != "nobody can say what a saw is worth; ask again in spring" {
		t.Errorf("says %q", said)
	}
}

// X4: a handler reads within the scope of whoever calls, and no further.
func TestHandlersReadWithinScope(t *testing.T) {
	t.Parallel()
	var names []string
	w := craftedWorld(t, honest, func(ctx context.Context, c *engine.Call, a appraiseArgs) (engine.Outcome, error) {
		names = nil
		found, err := c.Find(ctx, "item", nil)
		for _, row := range found {
			names = append(names, row.Value("name").Text())
			if _, err := c.Get(ctx, row.Ref()); err != nil {
				return engine.Outcome{}, err
			}
			if got := row.To("club").Entity(); got != "club" {
				return engine.Outcome{}, fmt.Errorf("club is a %s", got)
			}
		}
		if err != nil {
			return engine.Outcome{}, err
		}
		return appraised(ctx, c, a)
	})
	if _, err := w.run("kim", appraiseCall); err != nil {
		t.Fatal(err)
	}
	equal(t, names, []string{"Drill", "Saw", "Ladder", "Tent"})
}

// Palettes and handlers are compared when an engine is made, and what does not
// fit is told at its line of YAML.
func TestPalettesAndHandlersMustAgree(t *testing.T) {
	t.Parallel()
	reg := load(t, "testdata/palettes")
	type mistyped struct {
		Item  string       `verb:"item-id"`
		Worth stores.Value `verb:"worth"`
		Note  string       `verb:"note"`
	}
	type missing struct {
		Item engine.Ref `verb:"item-id"`
		Note *string    `verb:"note"`
	}
	type extra struct {
		appraiseArgs
		Item  engine.Ref   `verb:"item-id"`
		Worth stores.Value `verb:"worth"`
		Note  *string      `verb:"note"`
		Nota  *string      `verb:"nota"`
	}
	for _, c := range []struct {
		name string
		make func(h *engine.Handlers)
		want []string // code:line
	}{
		{"in order", func(h *engine.Handlers) { engine.Handle(h, "crafted.appraise", appraised) }, nil},
		{"none for a verb", func(*engine.Handlers) {}, []string{"handler-missing"}},
		{"of the wrong type", func(h *engine.Handlers) {
			engine.Handle(h, "crafted.appraise", func(context.Context, *engine.Call, mistyped) (engine.Outcome, error) { return engine.Outcome{}, nil })
		}, []string{"handler-argument-type", "handler-argument-type"}},
		{"without an argument", func(h *engine.Handlers) {
			engine.Handle(h, "crafted.appraise", func(context.Context, *engine.Call, missing) (engine.Outcome, error) { return engine.Outcome{}, nil })
		}, []string{"handler-argument-missing"}},
		{"with an argument too many", func(h *engine.Handlers) {
			engine.Handle(h, "crafted.appraise", func(context.Context, *engine.Call, extra) (engine.Outcome, error) { return engine.Outcome{}, nil })
		}, []string{"handler-argument-extra"}},
		{"for no verb", func(h *engine.Handlers) {
			engine.Handle(h, "crafted.appraise", appraised)
			engine.Handle(h, "crafted.apraise", appraised)
		}, []string{"handler-unknown-verb"}},
		{"for a verb that says it all", func(h *engine.Handlers) {
			engine.Handle(h, "crafted.appraise", appraised)
			engine.Handle(h, "lending.list-items", appraised)
		}, []string{"handler-not-wanted"}},
		{"two for one verb", func(h *engine.Handlers) {
			engine.Handle(h, "crafted.appraise", appraised)
			engine.Handle(h, "crafted.appraise", appraised)
		}, []string{"handler-not-wanted"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := &engine.Handlers{}
			engine.Handle(h, "crafted.repair", honest)
			c.make(h)
			_, err := engine.New(reg, nullStore{}, engine.Options{Handlers: h})
			var got []string
			var config *engine.ConfigError
			if errors.As(err, &config) {
				for _, d := range config.Diagnostics {
					got = append(got, d.Code)
					if d.Code != "handler-unknown-verb" && (d.Place.Source == nil || d.Place.Range.Start == 0) {
						t.Errorf("%s does not say where", d.Code)
					}
				}
			} else if err != nil {
				t.Fatal(err)
			}
			equal(t, got, c.want)
		})
	}
}

// nullStore accepts every query and holds nothing.
type nullStore struct{ stores.Store }

func (nullStore) CheckSQL(context.Context, []*stores.Entity, stores.SQL) error { return nil }

// Without handlers the palettes still serve: the verbs that need one say so.
func TestVerbsWithoutTheirHandlerAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.refused("kim", appraiseCall, "not-carried-out")
}

// Every type of argument reaches a handler as a Go value.
func TestArgumentsArriveTyped(t *testing.T) {
	t.Parallel()
	reg := loadYAML(t, map[string]string{"t.yaml": `domain: t
roles: [{name: r}]
codes: [{name: c, values: [A, B]}]
entities:
  box:
    table: t.boxes
    key: box_id
    managed: true
    scope: everyone
    label: "{name}"
    fields: {name: {type: string, required: true}}
verbs:
  - verb: v
    description: everything
    roles: [r]
    handler: true
    args:
      - {name: s, type: string}
      - {name: i, type: integer}
      - {name: d, type: decimal}
      - {name: b, type: boolean}
      - {name: day, type: date}
      - {name: at, type: datetime}
      - {name: span, type: duration}
      - {name: c, type: code, ref-type: c}
      - {name: o, type: object}
      - {name: l, type: list, of: {type: integer}}
      - {name: any, type: any}
      - {name: def, type: integer, default: 7}
    effects: [{returns: thanks}]
`})
	type args struct {
		S    *string        `verb:"s"`
		I    *int64         `verb:"i"`
		D    stores.Value   `verb:"d"`
		B    *bool          `verb:"b"`
		Day  *time.Time     `verb:"day"`
		At   *time.Time     `verb:"at"`
		Span *time.Duration `verb:"span"`
		C    *string        `verb:"c"`
		O    map[string]any `verb:"o"`
		L    []int64        `verb:"l"`
		Any  stores.Value   `verb:"any"`
		Def  int            `verb:"def"`
	}
	var got args
	h := &engine.Handlers{}
	engine.Handle(h, "t.v", func(_ context.Context, _ *engine.Call, a args) (engine.Outcome, error) {
		got = a
		return engine.Outcome{Result: &engine.Answer{}}, nil
	})
	w := newBareWith(t, reg, h, stores.Principal{Name: "p", Roles: []string{"r"}})
	if _, err := w.run("p", `t.v :s "x" :i 3 :d 1.50 :b true :day 2025-01-03 :at 2025-01-03T10:00:00Z :span "2h" :c B :o {:k "v" :n 1.10} :l [1 2] :any "y" :def 9`); err != nil {
		t.Fatal(err)
	}
	day, at := time.Date(2025, 1, 3, 0, 0, 0, 0, time.UTC), time.Date(2025, 1, 3, 10, 0, 0, 0, time.UTC)
	if *got.S != "x" || *got.I != 3 || got.D.Text() != "1.50" || !*got.B || !got.Day.Equal(day) || !got.At.Equal(at) ||
		*got.Span != 2*time.Hour || *got.C != "B" || got.O["k"] != "v" || fmt.Sprint(got.O["n"]) != "1.10" ||
		!reflect.DeepEqual(got.L, []int64{1, 2}) || got.Any.Text() != "y" || got.Def != 9 {
		t.Errorf("got %+v", got)
	}
	if _, err := w.run("p", `t.v`); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, args{Def: 7}) {
		t.Errorf("left out: %+v", got)
	}
}

// loadYAML reads palettes from text.
func loadYAML(t testing.TB, files map[string]string) *verbs.Registry {
	t.Helper()
	dir := fstest.MapFS{}
	for name, text := range files {
		dir[name] = &fstest.MapFile{Data: []byte(text)}
	}
	reg, ds := loading.Dir(dir)
	if ds.HasErrors() {
		t.Fatalf("palettes: %s", told(ds))
	}
	return reg
}

// newBare is a world of other palettes, without rows.
func newBare(t testing.TB, reg *verbs.Registry, who ...stores.Principal) *world {
	return newBareWith(t, reg, nil, who...)
}

func newBareWith(t testing.TB, reg *verbs.Registry, h *engine.Handlers, who ...stores.Principal) *world {
	t.Helper()
	w := &world{t: t, reg: reg, clock: time.Date(2025, 1, 3, 10, 0, 0, 0, time.UTC)}
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "bare.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	w.store = store
	plan, err := store.Migrate(context.Background(), append(w.tables(), engine.Own()...), true)
	if err != nil || len(plan.Problems) > 0 {
		t.Fatalf("migrate: %v %v", err, plan.Problems)
	}
	for _, p := range who {
		if err := store.SetPrincipal(context.Background(), p); err != nil {
			t.Fatal(err)
		}
	}
	if w.engine, err = engine.New(reg, store, engine.Options{Clock: w.now, NewID: w.newID, Handlers: h}); err != nil {
		t.Fatal(err)
	}
	return w
}

// SAFE-A7: what a handler does with jobs is held against what the palette promises
// like everything else, and goes where its transaction goes.
func TestHandlerTendsOnlyWhatIsPromised(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	const palette = `domain: shop
roles: [{name: clerk, sees: all}]
verbs:
  - verb: promised
    roles: [clerk]
    handler: true
    effects: [{stores: verbatim.job}]
  - verb: silent
    roles: [clerk]
    handler: true
    effects: [{may-notify: nobody}]
`
	reg := loadYAML(t, map[string]string{"shop.yaml": palette})
	w := newWorldOf(t, reg, nil)
	drops := true
	h := &engine.Handlers{}
	tend := func(ctx context.Context, c *engine.Call, _ struct{}) (engine.Outcome, error) {
		all, err := c.Jobs(ctx, stores.JobFilter{})
		if err != nil || len(all) != 1 {
			return engine.Outcome{}, fmt.Errorf("%d jobs: %w", len(all), err)
		}
		if !drops {
			return engine.Outcome{Kept: []string{"verbatim.job"}}, nil
		}
		return engine.Outcome{Jobs: []engine.JobChange{engine.DropJob(all[0])}}, nil
	}
	engine.Handle(h, "shop.promised", tend)
	engine.Handle(h, "shop.silent", tend)
	eng, err := engine.New(reg, w.store, engine.Options{Handlers: h})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.store.SetPrincipal(ctx, stores.Principal{Name: "cy", Roles: []string{"clerk"}}); err != nil {
		t.Fatal(err)
	}
	err = w.store.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
		return tx.Apply(ctx, stores.Batch{Jobs: []stores.Job{{ID: "one", Kind: "call", Payload: `{}`, At: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}}})
	})
	if err != nil {
		t.Fatal(err)
	}
	run := func(verb string) error {
		s, err := eng.Session(ctx, "cy")
		if err != nil {
			t.Fatal(err)
		}
		script, _ := dsl.Parse(dsl.NewSource("t.dsl", verb))
		p, ds := s.Check(context.Background(), script)
		if p == nil {
			t.Fatal(ds)
		}
		_, err = s.Run(ctx, p, engine.RunOptions{})
		return err
	}
	left := func() int {
		all, err := w.store.Jobs(ctx, stores.JobFilter{})
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	var promise *engine.BrokenPromise
	if err := run("shop.silent"); !errors.As(err, &promise) || left() != 1 {
		t.Errorf("%v; %d jobs are left", err, left())
	}
	drops = false
	if err := run("shop.promised"); !errors.As(err, &promise) {
		t.Errorf("what was only said to be done: %v", err)
	}
	drops = true
	if err := run("shop.promised"); err != nil || left() != 0 {
		t.Errorf("%v; %d jobs are left", err, left())
	}
}
