package engine_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/verbs"
)

// calls has one call of every verb of the lending palette that changes
// something itself, with every one of its conditions met.
var calls = map[string]string{
	"lending.add-item":      `lending.add-item :club-id @north :name "Axe" :worth 1.50 :tags ["a"]`,
	"lending.lend":          `lending.lend :item-id @drill :member-id @ann`,
	"lending.note":          `lending.note :loan-id @saw-bob :note "x" :expected-date 2025-01-03`,
	"lending.extend":        `lending.extend :loan-id @saw-bob :new-date 2025-01-11`,
	"lending.return":        `lending.return :loan-id @saw-bob`,
	"lending.close-late":    `lending.close-late :member-id @ann`,
	"lending.remind":        `lending.remind :loan-id @saw-bob :on 2025-02-01`,
	"lending.forget":        `lending.forget :reminder-id @saw-2025-01-11`,
	"lending.clean":         `lending.clean :before 2030-01-01`,
	"lending.set-phone":     `lending.set-phone :member-id @bob :phone "1"`,
	"lending.ring":          `lending.ring :loan-id @saw-bob :note "x"`,
	"lending.lose":          `lending.lose :item-id @tent`,
	"lending.board-only":    `lending.board-only :item-id @saw`,
	"lending.plan":          `lending.plan :loan-id @saw-bob :on 2025-02-01`,
	"lending.rename-member": `lending.rename-member :member-id @bob :name "Robert"`,
	"lending.drop-loan":     `lending.drop-loan :loan-id @tent-ann`,
	"lending.ask-later":     `lending.ask-later :loan-id @saw-bob :on 2030-01-01`,
	"lending.note-later":    `lending.note-later :loan-id @saw-bob :text "call" :on 2030-01-01`,
	"lending.tell-board":    `lending.tell-board :loan-id @saw-bob :text "call"`,
}

// SAFE-A7: for every verb of the palette that changes anything, a handler that
// does what the palette says and, in turn, each thing more and each thing less,
// is rolled back whole.
func TestEveryVerbIsHeldToItsPromises(t *testing.T) {
	t.Parallel()
	// The same palette, in which every such verb has a handler.
	text, err := os.ReadFile("testdata/palettes/lending.yaml")
	if err != nil {
		t.Fatal(err)
	}
	yaml := regexp.MustCompile(`(?m)^  - verb: (\S+)$`).ReplaceAllStringFunc(string(text), func(line string) string {
		if _, ok := calls["lending."+strings.TrimPrefix(line, "  - verb: ")]; ok {
			return line + "\n    handler: true"
		}
		return line
	})
	reg := loadYAML(t, map[string]string{"lending.yaml": yaml})
	for _, v := range reg.Verbs() {
		if len(v.Effects) > 0 && calls[v.Name] == "" {
			t.Errorf("%s is not tried", v.Name)
		}
	}
	cells := 0
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		v := reg.Verb(name)
		var now func(c *engine.Call, o *engine.Outcome)
		h := &engine.Handlers{}
		for other := range calls {
			engine.HandleAs(h, other, argsOf(reg.Verb(other)), func(_ context.Context, c *engine.Call) (engine.Outcome, error) {
				o := c.Declared()
				if now != nil {
					now(c, &o)
				}
				return o, nil
			})
		}
		w := newWorldOf(t, reg, h)
		who := "kim"
		if name == "lending.board-only" {
			who = "bo"
		}
		before := w.state()
		s := w.session(who)
		p := w.program(s, calls[name])
		try := func(what string, mutate func(c *engine.Call, o *engine.Outcome)) {
			t.Helper()
			cells++
			now = mutate
			_, err := s.Run(context.Background(), p, engine.RunOptions{})
			var broken *engine.BrokenPromise
			if !errors.As(err, &broken) || broken.Verb != name || broken.Happened == "" || broken.Place.Source == nil {
				t.Errorf("%s, %s: got %v", name, what, err)
			}
			if d := diff(w.entity, before, w.state()); len(d) > 0 {
				t.Fatalf("%s, %s: left %q", name, what, d)
			}
		}
		var honest engine.Outcome // what the palette says
		now = func(_ *engine.Call, o *engine.Outcome) { honest = *o }
		if _, err := s.Preview(context.Background(), p); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		// More: a row of every entity, beside those that are promised.
		for _, e := range reg.Entities() {
			try("a row of "+e.Store.Name, func(_ *engine.Call, o *engine.Outcome) {
				o.Changes = append(o.Changes, engine.Create(e.Store.Name, nil))
			})
			try("the deletion of a row of "+e.Store.Name, func(c *engine.Call, o *engine.Outcome) {
				for _, row := range all(c, e.Store.Name) {
					if !slices.ContainsFunc(o.Changes, func(d engine.Edit) bool { return d.Row == row.Ref() }) {
						o.Changes = append(o.Changes, engine.Delete(row.Ref()))
						return
					}
				}
				// All of them are in it already: one that is to be deleted
				// goes a second way.
				o.Changes = append(o.Changes, engine.Create(e.Store.Name, nil))
			})
			for i := range e.Store.Fields {
				f := &e.Store.Fields[i]
				if i == e.Store.Key {
					continue
				}
				try(fmt.Sprintf("%s of a row of %s", f.Name, e.Store.Name), func(c *engine.Call, o *engine.Outcome) {
					for _, row := range all(c, e.Store.Name) {
						if !slices.ContainsFunc(o.Changes, func(d engine.Edit) bool { return d.Row == row.Ref() }) {
							o.Changes = append(o.Changes, engine.Update(row.Ref(), engine.Fields{f.Name: some(f)}))
							return
						}
					}
					o.Changes = append(o.Changes, engine.Create(e.Store.Name, nil))
				})
			}
		}
		for _, n := range []engine.Notice{engine.Notify("press", nil), engine.Trigger("board", nil), engine.Notify("insurance-claim", nil)} {
			try("a "+n.Kind+" to "+n.Target, func(_ *engine.Call, o *engine.Outcome) { o.Notices = append(o.Notices, n) })
		}
		for i := range honest.Notices {
			try("a notice twice", func(_ *engine.Call, o *engine.Outcome) { o.Notices = append(o.Notices, o.Notices[i]) })
		}
		for i, change := range honest.Changes {
			e := reg.Entity(change.Entity).Store
			if change.Op == stores.Delete {
				continue
			}
			for j := range e.Fields {
				f := &e.Fields[j]
				if j == e.Key && change.Op == stores.Insert {
					continue
				}
				// Another field of a promised row, or another value of it.
				try(fmt.Sprintf("another %s", f.Name), func(_ *engine.Call, o *engine.Outcome) {
					o.Changes[i].Fields = maps.Clone(o.Changes[i].Fields)
					o.Changes[i].Fields[f.Name] = some(f)
				})
			}
		}
		// Less: each thing that is promised without a condition.
		may := func(entity string, op stores.Op) bool {
			return slices.ContainsFunc(v.Effects, func(e verbs.Effect) bool {
				return e.May && e.Entity != nil && e.Entity.Store.Name == entity && (e.Kind == verbs.Creates) == (op == stores.Insert)
			})
		}
		for i, change := range honest.Changes {
			if !may(change.Entity, change.Op) {
				try("no change "+change.Entity, func(_ *engine.Call, o *engine.Outcome) { o.Changes = slices.Delete(o.Changes, i, i+1) })
			}
			if change.Op != stores.Delete {
				for field := range change.Fields {
					def := reg.Entity(change.Entity).Store
					given, ok := change.Fields[field].(stores.Value)
					if ok && stores.Equal(given, def.Fields[def.FieldIndex(field)].Default) {
						continue // it would come about anyhow
					}
					try("no "+field, func(_ *engine.Call, o *engine.Outcome) {
						o.Changes[i].Fields = maps.Clone(o.Changes[i].Fields)
						delete(o.Changes[i].Fields, field)
					})
				}
			}
		}
		for i, n := range honest.Notices {
			if n.Target != "board" { // which is a may-notify
				try("no notice", func(_ *engine.Call, o *engine.Outcome) { o.Notices = slices.Delete(o.Notices, i, i+1) })
			}
		}
		for _, e := range w.journal() {
			if e.Outcome != "failed" || e.Reason != "broken-promise" && e.Reason != "handler-failed" || strings.Contains(e.Changes, "Rows") {
				t.Errorf("%s: the journal says %+v", name, e)
			}
		}
		// And as the palette says, it runs.
		now = nil
		if len(w.done(who, calls[name])) == 0 {
			t.Errorf("%s changes nothing", name)
		}
	}
	if cells < 500 {
		t.Errorf("only %d handlers were tried", cells)
	}
	t.Logf("%d handlers, all rolled back", cells)
}

func all(c *engine.Call, entity string) []engine.Row {
	rows, err := c.Find(context.Background(), entity, nil)
	if err != nil {
		panic(err)
	}
	return rows
}

// some is a value for a field that no palette speaks of. A handler is held
// against its promises before anybody asks whether its values are any good.
func some(f *stores.Field) any {
	switch f.Holds() {
	case stores.UUID:
		return id(998)
	case stores.Date:
		return date("1999-12-31")
	case stores.Time:
		return stores.NewTime(date("1999-12-31").Time())
	case stores.Decimal:
		return decimal("7.77")
	case stores.JSON:
		return []string{"unheard of"}
	}
	return "unheard of"
}

// argsOf makes the struct that a handler of a verb takes.
func argsOf(v *verbs.Verb) reflect.Type {
	var fields []reflect.StructField
	for i := range v.Params {
		p := &v.Params[i]
		t := reflect.TypeFor[stores.Value]()
		if p.Type.Name == verbs.RefType {
			t = reflect.TypeFor[engine.Ref]()
		}
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("A%d", i), Type: t, Tag: reflect.StructTag(fmt.Sprintf("verb:%q", p.Name))})
	}
	return reflect.StructOf(fields)
}
