package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/tests/norace"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// O18, OB3 and the goal "observed changes = promised changes": for every verb
// of the test palettes and whatever arguments it is given, the rows that
// differ afterwards are those that the preview showed, to the value, and no
// other; each is covered by an effect that the palette declares; and every
// effect that is declared without a condition took place. What is refused
// changes nothing.
func TestObservedChangesArePromisedChanges(t *testing.T) {
	t.Parallel()
	if norace.Run(t) {
		return
	}
	observed(t, load(t, "testdata/palettes"), func() *engine.Handlers { return handlers(honest, appraised) })
}

// F12, F14: the same holds where effects are there for each of several rows, and where
// totals decide.
func TestObservedChangesOfSeveralRowsArePromised(t *testing.T) {
	t.Parallel()
	if norace.Run(t) {
		return
	}
	observed(t, loadYAML(t, map[string]string{"lending.yaml": lendingText(t) + promising}), promisingHandlers)
}

func observed(t *testing.T, reg *verbs.Registry, handlers func() *engine.Handlers) {
	t.Helper()
	ran, refused := make(map[string]int), make(map[string]int)
	next := 0 // every verb has its turn, again and again
	// Verbs that chance seldom pleases begin with a call that is known to work,
	// so that each verb is carried out whatever the seed.
	first := map[string]string{
		"lending.return":    `lending.return :loan-id @saw-bob`,
		"lending.plan":      `lending.plan :loan-id @saw-bob :on 2025-03-01`,
		"lending.extend":    `lending.extend :loan-id @saw-bob :new-date 2025-01-12`,
		"lending.drop-loan": `lending.drop-loan :loan-id @tent-ann`,

		"lending.close-late": `lending.close-late :member-id @ann`,
		"lending.give-back":  `lending.give-back :member-id @bob :loan-id @saw-bob`,
		"lending.forgive":    `lending.forgive :member-id @ann :sure false`,
		"lending.tidy":       `lending.tidy :member-id @ann`,
		"lending.close-all":  `lending.close-all :loan-ids [@saw-bob @tent-ann]`,
		"lending.chase":      `lending.chase :member-id @ann`,
		"lending.worth":      `lending.worth :member-id @ann :item-ids [@drill @tent] :loan-id @ladder-ann`,
		"lending.mend":       `lending.mend :loan-ids [@saw-bob @tent-ann] :item-id @drill`,
	}
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorldOf(t, reg, handlers())
		for range 2 {
			v := reg.Verbs()[next%len(reg.Verbs())]
			next++
			who := "kim"
			if !slices.ContainsFunc(v.Roles, func(r *verbs.Role) bool { return r.Name == "keeper" }) {
				who = "bo"
			}
			call := w.draw(rt, v)
			if next <= len(reg.Verbs()) && first[v.Name] != "" {
				w, call = newWorldOf(t, reg, handlers()), first[v.Name]
			}
			if w.oneCall(rt, who, call, v) {
				ran[v.Name]++
			} else {
				refused[v.Name]++
			}
		}
	})
	for _, v := range reg.Verbs() {
		if ran[v.Name] == 0 {
			t.Errorf("%s was never carried out (%d times refused)", v.Name, refused[v.Name])
		}
	}
	t.Logf("carried out %v", ran)
	t.Logf("refused %v", refused)
}

// draw writes a call with arguments of the right types; references are rows
// that are there, mostly.
func (w *world) draw(rt *rapid.T, v *verbs.Verb) string {
	call := dsl.NewCall(v.Name)
	there := w.state()
	if rapid.IntRange(0, 7).Draw(rt, "only what is theirs") > 0 {
		there = w.seen(stores.Scope{Principal: "kim", Holds: holds(1)})
	}
	for i := range v.Params {
		p := &v.Params[i]
		if !p.Required && rapid.Bool().Draw(rt, "leave out "+p.Name) {
			continue
		}
		call.Args = append(call.Args, dsl.NewArg(p.Name, w.drawValue(rt, p.Name, p.Type, there)))
	}
	return dsl.FormatCall(&call)
}

func (w *world) drawValue(rt *rapid.T, name string, t *verbs.Type, there state) dsl.Value {
	switch t.Name {
	case verbs.RefType:
		var keys []string
		for k := range there {
			if entity, key, _ := strings.Cut(k, " "); entity == t.Entity.Store.Name {
				keys = append(keys, key)
			}
		}
		slices.Sort(keys)
		if len(keys) == 0 {
			keys = append(keys, id(999).Text())
		}
		return dsl.NewUUID(rapid.SampledFrom(keys).Draw(rt, name))
	case verbs.DateType:
		return dsl.NewDate(rapid.SampledFrom([]string{"2024-02-29", "2025-01-03", "2025-01-12", "2025-01-24", "2025-06-30", "9999-12-31"}).Draw(rt, name))
	case verbs.BooleanType:
		return dsl.NewBool(rapid.Bool().Draw(rt, name))
	case verbs.IntegerType:
		return dsl.NewInteger(rapid.Int64Range(1, 50).Draw(rt, name))
	case verbs.DecimalType:
		return dsl.NewNumber(fmt.Sprintf("%d.%02d", rapid.IntRange(0, 1000).Draw(rt, name), rapid.IntRange(0, 99).Draw(rt, name)))
	case verbs.CodeType:
		return dsl.NewCode(t.Codes.Codes[rapid.IntRange(0, len(t.Codes.Codes)-1).Draw(rt, name)].Name)
	case verbs.ListType:
		return dsl.NewList(w.drawValue(rt, name, t.Item, there), w.drawValue(rt, name, t.Item, there))
	}
	return dsl.NewString(rapid.StringN(1, 20, 100).Filter(func(s string) bool { return !strings.ContainsRune(s, 0) }).Draw(rt, name))
}

// oneCall previews and runs a call, and holds what happened against what was
// shown and what was promised. It reports whether the call was carried out.
func (w *world) oneCall(rt *rapid.T, who, text string, v *verbs.Verb) bool {
	ctx := context.Background()
	script, ds := dsl.Parse(dsl.NewSource("drawn.dsl", text))
	if ds.HasErrors() {
		rt.Fatalf("%s: %s", text, told(ds))
	}
	s := w.session(who)
	p, ds := s.Check(context.Background(), script)
	if p == nil {
		rt.Fatalf("%s: %s", text, told(ds))
	}
	before := w.state()
	preview, err := s.Preview(ctx, p)
	if d := diff(w.entity, before, w.state()); len(d) > 0 {
		rt.Fatalf("%s: the preview changed %q", text, d)
	}
	var reply *receipt.Receipt
	if err == nil {
		reply, err = s.Run(ctx, p, engine.RunOptions{Agreed: preview.ID})
	}
	after := w.state()
	if err != nil {
		var refusal *engine.Refusal
		if !errors.As(err, &refusal) {
			rt.Fatalf("%s: %T %v", text, err, err)
		}
		if d := diff(w.entity, before, after); len(d) > 0 {
			rt.Fatalf("%s was refused and changed %q", text, d)
		}
		return false
	}
	if reply.Digest != preview.Digest {
		rt.Fatalf("%s: what ran is not what was shown", text)
	}
	w.compare(rt, text, before, after, reply.Calls[0].Rows)
	effects := v.Effects
	if v.Macro != nil {
		for i := range v.Macro.Script.Calls {
			effects = append(effects, w.reg.Verb(v.Macro.Script.Calls[i].Verb).Effects...)
		}
	}
	promised(rt, text, effects, reply.Calls[0])
	return true
}

// A stopper is a test, or a case that is drawn.
type stopper interface {
	Fatalf(format string, args ...any)
}

// compare holds tables against what was shown: the same rows, fields and
// values, neither more nor less.
func (w *world) compare(rt stopper, text string, before, after state, rows []receipt.Row) {
	var observed, shown []string
	for k, was := range before {
		entity, _, _ := strings.Cut(k, " ")
		e := w.entity(entity)
		is, there := after[k]
		line := entity + " -"
		if there {
			line = entity + " ~"
		}
		changed := !there
		for i := range was {
			if there && was[i] != is[i] {
				changed = true
				line += fmt.Sprintf(" %s:%s>%s", e.Fields[i].Name, shownAs(e, i, was[i]), shownAs(e, i, is[i]))
			}
			if !there && i != e.Key && !was[i].IsNull() {
				line += fmt.Sprintf(" %s:%s>nil", e.Fields[i].Name, shownAs(e, i, was[i]))
			}
		}
		if changed {
			observed = append(observed, line)
		}
	}
	for k, is := range after {
		if _, there := before[k]; there {
			continue
		}
		entity, _, _ := strings.Cut(k, " ")
		e := w.entity(entity)
		line := entity + " +"
		for i, v := range is {
			if i != e.Key && !v.IsNull() {
				line += fmt.Sprintf(" %s:nil>%s", e.Fields[i].Name, shownAs(e, i, v))
			}
		}
		observed = append(observed, line)
	}
	for _, r := range rows {
		e := w.entity(r.Entity)
		line := r.Entity + " " + opSign[r.Op]
		for _, f := range r.Fields {
			i := e.FieldIndex(f.Name)
			line += fmt.Sprintf(" %s:%s>%s", f.Name, shownAs(e, i, f.Before.Shown()), shownAs(e, i, f.After.Shown()))
		}
		shown = append(shown, line)
	}
	slices.Sort(observed)
	slices.Sort(shown)
	if !slices.Equal(observed, shown) {
		rt.Fatalf("%s\nobserved %q\nshown    %q", text, observed, shown)
	}
}

// shownAs prints a value for comparison: references are shown by name, so that
// only whether there is one can be compared.
func shownAs(e *stores.Entity, field int, v stores.Value) string {
	if e.Fields[field].Ref != nil && !v.IsNull() {
		return "row"
	}
	return v.String()
}

// promised holds what was done against the effects as the palette declares
// them, without asking the engine.
func promised(rt stopper, text string, effects []verbs.Effect, c receipt.Call) {
	for _, r := range c.Rows {
		covered := slices.ContainsFunc(effects, func(e verbs.Effect) bool {
			if e.Entity == nil || e.Entity.Store.Name != r.Entity {
				return false
			}
			switch r.Op {
			case receipt.Inserted:
				return e.Kind == verbs.Creates
			case receipt.Deleted:
				return e.Kind == verbs.Deletes
			}
			return e.Kind == verbs.Updates && !slices.ContainsFunc(r.Fields, func(f receipt.Field) bool {
				i := e.Entity.Store.FieldIndex(f.Name)
				set := slices.ContainsFunc(e.Set, func(s verbs.Set) bool { return s.Field == i })
				return !set && !slices.Contains(e.Fields, i) && (len(e.Set) > 0 || e.Fields != nil)
			})
		})
		if !covered {
			rt.Fatalf("%s: nobody promised %s %s %v", text, r.Op, r.Entity, r.Fields)
		}
	}
	for _, n := range c.Notices {
		if !slices.ContainsFunc(effects, func(e verbs.Effect) bool {
			return (n.Kind == "trigger" && e.Kind == verbs.Triggers || n.Kind == "notify" && e.Kind == verbs.Notifies) && e.Operand.Text == n.Target
		}) {
			rt.Fatalf("%s: nobody promised to %s %s", text, n.Kind, n.Target)
		}
	}
	for i := range effects {
		e := &effects[i]
		if e.May || e.When != nil || e.Upsert { // of two, either one takes place
			continue
		}
		n := 0
		switch e.Kind {
		case verbs.Creates:
			for _, r := range c.Rows {
				if r.Op == receipt.Inserted && r.Entity == e.Entity.Store.Name {
					n++
				}
			}
		case verbs.Deletes:
			for _, r := range c.Rows {
				if r.Op == receipt.Deleted && r.Entity == e.Entity.Store.Name {
					n++
				}
			}
		case verbs.Triggers, verbs.Notifies:
			n = len(c.Notices)
		default:
			continue // an update may have found everything as it was to be
		}
		if n == 0 {
			rt.Fatalf("%s: %q did not take place", text, e.Operand.Text)
		}
	}
}
