package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/stores/sqlite"
	loading "verbatim/verbs/load"
)

const lockerPalette = `domain: locker
description: Something that is locked, and whose handler is careless.
roles: [{name: keeper, description: Who has the key}]
entities:
  box:
    description: A box.
    table: locker.boxes
    key: box_id
    managed: true
    scope: self
    label: "{title}"
    fields:
      title:  {type: string, required: true}
      remark: {type: string}
      pin:    {type: string, sensitive: true}
verbs:
  - verb: open
    description: Open a box with its pin.
    roles: [keeper]
    handler: true
    args:
      - {name: box-id, type: ref, ref-type: box, required: true}
      - {name: pin, type: string, required: true, sensitive: true}
    effects:
      - may-update: box.remark
      - may-notify: guard
      - returns: contents
`

// SAFE-L1: what a handler says of a secret, in a panic, an error, a refusal, a
// change or its answer, is told without it: to the person, to the operator, and
// in the journal.
func TestACarelessHandlerTellsNoSecret(t *testing.T) {
	t.Parallel()
	const pin, kept = "pin-4711-zq", "pin-0815-zq"
	const own = "lock-3391-zq" // the handler's, which nobody else can know for a secret
	type openArgs struct {
		Box engine.Ref `verb:"box-id"`
		Pin string     `verb:"pin"`
	}
	read := func(ctx context.Context, c *engine.Call, a openArgs) string {
		row, err := c.Get(ctx, a.Box)
		if err != nil {
			t.Error(err)
		}
		return row.Value("pin").Text()
	}
	none := engine.Outcome{Result: &engine.Answer{}}
	for name, open := range map[string]func(context.Context, *engine.Call, openArgs) (engine.Outcome, error){
		"panics": func(_ context.Context, _ *engine.Call, a openArgs) (engine.Outcome, error) {
			panic("wrong: " + a.Pin)
		},
		"panics with what it knows": func(context.Context, *engine.Call, openArgs) (engine.Outcome, error) {
			panic("no answer to " + own)
		},
		"panics with a value": func(_ context.Context, _ *engine.Call, a openArgs) (engine.Outcome, error) { panic(a) },
		"panics with what it read": func(ctx context.Context, c *engine.Call, a openArgs) (engine.Outcome, error) {
			panic(fmt.Errorf("not %q", read(ctx, c, a)))
		},
		"fails": func(_ context.Context, _ *engine.Call, a openArgs) (engine.Outcome, error) {
			return none, fmt.Errorf("the lock says no to %q", a.Pin)
		},
		"fails over what it read": func(ctx context.Context, c *engine.Call, a openArgs) (engine.Outcome, error) {
			return none, fmt.Errorf("%w: %s", errors.New("the lock wants "+read(ctx, c, a)), a.Pin)
		},
		"refuses": func(_ context.Context, _ *engine.Call, a openArgs) (engine.Outcome, error) {
			return none, engine.Refuse(a.Pin+" is wrong", "do not try "+a.Pin)
		},
		"writes it down": func(_ context.Context, _ *engine.Call, a openArgs) (engine.Outcome, error) {
			return engine.Outcome{Changes: []engine.Edit{engine.Update(a.Box, engine.Fields{"remark": a.Pin})}, Result: &engine.Answer{}}, nil
		},
		"writes down what it read": func(ctx context.Context, c *engine.Call, a openArgs) (engine.Outcome, error) {
			return engine.Outcome{Changes: []engine.Edit{engine.Update(a.Box, engine.Fields{"remark": read(ctx, c, a)})}, Result: &engine.Answer{}}, nil
		},
		"sends it": func(ctx context.Context, c *engine.Call, a openArgs) (engine.Outcome, error) {
			return engine.Outcome{Notices: []engine.Notice{{Kind: "notify", Target: "guard", With: engine.Fields{"a": a.Pin, "b": read(ctx, c, a)}}}, Result: &engine.Answer{}}, nil
		},
		"gives it back": func(ctx context.Context, c *engine.Call, a openArgs) (engine.Outcome, error) {
			return engine.Outcome{Result: &engine.Answer{Columns: []string{"a", "b"}, Rows: [][]any{{a.Pin, read(ctx, c, a)}}}}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reg, ds := loading.Dir(fstest.MapFS{"locker.yaml": {Data: []byte(lockerPalette)}})
			if ds.HasErrors() {
				t.Fatal(told(ds))
			}
			store, err := sqlite.Open(t.TempDir() + "/locker.db")
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			box := reg.Entity("box").Store
			if _, err := store.Migrate(t.Context(), append([]*stores.Entity{box}, engine.Own()...), true); err != nil {
				t.Fatal(err)
			}
			if err := store.SetPrincipal(t.Context(), stores.Principal{Name: "kim", Roles: []string{"keeper"}, Holds: map[string][]stores.Value{"box": {id(1)}}}); err != nil {
				t.Fatal(err)
			}
			err = store.Update(t.Context(), stores.Scope{All: true}, func(tx stores.Tx) error {
				err := tx.Apply(t.Context(), stores.Batch{Changes: []stores.Change{{Op: stores.Insert, Entity: box, Key: id(1), Set: []stores.Assign{
					{Field: box.FieldIndex("title"), Value: str("Red")}, {Field: box.FieldIndex("pin"), Value: str(kept)}}}}})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			h := new(engine.Handlers)
			engine.Handle(h, "locker.open", open)
			eng, err := engine.New(reg, store, engine.Options{Clock: func() time.Time { return newWorldClock }, Handlers: h})
			if err != nil {
				t.Fatal(err)
			}
			session, err := eng.Session(t.Context(), "kim")
			if err != nil {
				t.Fatal(err)
			}
			script, _ := dsl.Parse(dsl.NewSource("open.dsl", `locker.open :box-id @red :pin "`+pin+`"`))
			p, ds := session.Check(context.Background(), script)
			if p == nil {
				t.Fatal(told(ds))
			}
			var all strings.Builder
			reply, err := session.Run(t.Context(), p, engine.RunOptions{Key: "once"})
			if err != nil {
				fmt.Fprintln(&all, outcome(err), err)
			} else {
				again, err := session.Run(t.Context(), p, engine.RunOptions{Key: "once"})
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range []*receipt.Receipt{reply, again} {
					for _, c := range r.Calls {
						for _, row := range c.Rows {
							for _, f := range row.Fields {
								if !f.Sensitive {
									t.Errorf("%s is told: %s -> %s", f.Name, f.Before, f.After)
								}
							}
						}
						for i, column := range c.Result.Columns {
							if c.Result.Sensitive == nil || !c.Result.Sensitive[i] {
								t.Errorf("column %s is told", column)
							}
						}
					}
				}
			}
			entries, err := store.Journal(t.Context(), 1, 0)
			if err != nil || len(entries) == 0 && strings.Contains(all.String(), "not-possible") {
				t.Fatal(entries, err)
			}
			fmt.Fprintf(&all, "%+v", entries)
			jobs, err := store.Jobs(t.Context(), stores.JobFilter{})
			if err != nil || (len(jobs) > 0) != (name == "sends it") {
				t.Fatal(jobs, err)
			}
			fmt.Fprintf(&all, "%+v", jobs)
			if said := all.String(); strings.Contains(said, pin) || strings.Contains(said, kept) || strings.Contains(said, own) {
				t.Errorf("told: %s", said)
			}
		})
	}
}
