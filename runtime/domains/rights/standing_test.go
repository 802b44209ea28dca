package rights_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

var (
	byPerson = verbs.Literals{Origin: verbs.NewOrigin(verbs.FromPerson, "")}
	byModel  = verbs.Literals{Origin: verbs.NewOrigin(verbs.FromModel, ""), Unheard: true}
)

// says previews a script with its values from somewhere, and runs it: with the agreement to its
// preview where yes is set. It says what became of it, and which standing rule passed it.
func (w *world) says(who, text string, from verbs.Literals, yes bool) (said, passed string) {
	w.Helper()
	s, err := w.engine.Session(context.Background(), who)
	if err != nil {
		return code(err), ""
	}
	script, ds := dsl.Parse(dsl.NewSource("test.dsl", text))
	if len(ds) > 0 {
		w.Fatal(ds)
	}
	p, ds := s.Check(context.Background(), script, engine.CheckOptions{Said: from})
	if p == nil {
		return ds[0].Code, ""
	}
	preview, err := s.Preview(context.Background(), p)
	if err != nil {
		return code(err), ""
	}
	o := engine.RunOptions{}
	if yes {
		o.Agreed = preview.Answer()
	}
	done, err := s.Run(context.Background(), p, o)
	if err == nil {
		passed = done.Calls[0].Passed
	}
	return code(err), passed
}

// A standing rule is given by the person, who is asked, and by nobody in their place: no model, no
// script and no program with a token. It passes their calls alone, until it is taken back by its
// name. (G1)
func TestAStandingRuleIsThePersonsOwn(t *testing.T) {
	t.Parallel()
	both(t, func(w *world) {
		w.want(w.run("ada", vera+"\n"+`system.grant-role :principal-id @v :role "delegator"`), "ok")
		w.want(w.run("ada", `system.add-principal :name "olga" :as @o
system.grant-role :principal-id @o :role "gardener"
system.grant-scope :principal-id @o :entity "bed" :key "`+bed+`"`), "ok")
		const allow, dig = `system.allow :name "digging" :verb "garden.dig" :until 2025-02-01`, "garden.dig :bed-id @rose"
		want := func(who, text string, from verbs.Literals, yes bool, said, passed string) {
			w.Helper()
			if got, by := w.says(who, text, from, yes); got != said || by != passed {
				w.Errorf("%s: %s %q, want %s %q", text, got, by, said, passed)
			}
		}
		want("vera", dig, byModel, false, "needs-agreement", "")
		for name, from := range map[string]verbs.Literals{"a model": byModel, "a script": {}, "a document": {Origin: verbs.NewOrigin(verbs.FromDocument, "x.pdf")}} {
			if got, _ := w.says("vera", allow, from, true); got != "origin" {
				w.Errorf("%s gives a rule: %s", name, got)
			}
		}
		want("vera", allow, byPerson, false, "needs-agreement", "")
		want("olga", allow, byPerson, true, "not-permitted", "")
		for _, text := range []string{
			`system.allow :name "x" :verb "garden.plant" :until 2025-02-01`,
			`system.allow :name "x" :verb "system.grant-role" :until 2025-02-01`, // not hers to use
			`system.allow :name "x" :verb "system.list-allowed" :until 2025-02-01`,
			`system.allow :name "x" :verb "system.allow" :until 2025-02-01`,
			`system.allow :name "x" :verb "garden.dig" :until 2027-02-01`,
		} {
			want("vera", text, byPerson, true, "not-possible", "")
		}
		want("vera", `system.allow :name "x" :verb "garden.dig" :until 2025-01-02`, byPerson, true, "out-of-range", "")
		want("vera", allow, byPerson, true, "ok", "")
		want("vera", allow, byPerson, true, "already-exists", "")
		want("vera", dig, byModel, false, "ok", "digging")
		want("olga", dig, byModel, false, "needs-agreement", "")
		// Whom a palette asks is asked all the same.
		want("vera", `system.allow :name "paving" :verb "garden.pave" :until 2025-02-01`, byPerson, true, "ok", "")
		want("vera", "garden.pave :bed-id @rose", byModel, false, "needs-agreement", "")
		want("olga", "system.disallow :rule @digging", byPerson, false, "unknown-name", "")
		want("vera", "system.disallow :rule @digging", byPerson, false, "ok", "")
		want("vera", dig, byModel, false, "needs-agreement", "")
	})
}

// A standing rule may be bounded: to one row, and to values that meet a condition. A call beyond that
// is asked about as without the rule, and so is one for which it cannot be worked out. The bounds are
// told where the rule is. (G1)
func TestAStandingRuleHasBounds(t *testing.T) {
	t.Parallel()
	both(t, func(w *world) {
		const tulip = "00000000-0000-4000-8000-0000000000b2"
		e := w.reg.Entity("bed").Store
		key, _ := stores.ParseUUID(tulip)
		if err := w.store.Update(w.Context(), stores.Scope{All: true}, func(tx stores.Tx) error {
			return tx.Apply(w.Context(), stores.Batch{Changes: []stores.Change{{Op: stores.Insert, Entity: e, Key: key, Set: []stores.Assign{{Field: e.FieldIndex("name"), Value: stores.NewString("Tulip")}}}}})
		}); err != nil {
			w.Fatal(err)
		}
		w.want(w.run("ada", vera+"\n"+`system.grant-role :principal-id @v :role "delegator"
system.grant-scope :principal-id @v :entity "bed" :key "`+tulip+`"`), "ok")
		for i, c := range []struct {
			bounds          string
			passes, escapes []string // arguments
		}{
			{`:when "cost.amount <= 500 and cost.currency == EUR"`,
				[]string{`:bed-id @rose :cost {:amount 500 :currency EUR}`, `:bed-id @tulip :cost {:amount 1.50 :currency EUR}`},
				[]string{`:bed-id @rose :cost {:amount 500.01 :currency EUR}`, `:bed-id @rose :cost {:amount 5 :currency USD}`, `:bed-id @rose`}},
			{`:when "how == DRY"`, []string{`:bed-id @rose :how DRY`}, []string{`:bed-id @rose :how WET`, `:bed-id @rose`}},
			{`:when "bags in [1, 2]"`, []string{`:bed-id @rose`, `:bed-id @rose :bags 2`}, []string{`:bed-id @rose :bags 3`}},
			{`:about @rose`, []string{`:bed-id @rose`, `:bed-id @rose :cost {:amount 9000 :currency EUR}`},
				[]string{`:bed-id @tulip`, `:bed-id @rose :others [@tulip]`, `:bed-id @rose :others [@rose]`}},
			{`:about @rose :when "bags < 3"`, []string{`:bed-id @rose`}, []string{`:bed-id @rose :bags 3`, `:bed-id @tulip`}},
		} {
			if got, _ := w.says("vera", fmt.Sprintf(`system.allow :name "r%d" :verb "garden.feed" :until 2025-02-01 `, i)+c.bounds, byPerson, true); got != "ok" {
				w.Errorf("%s: %s", c.bounds, got)
				continue
			}
			for want, all := range map[string][]string{"ok": c.passes, "needs-agreement": c.escapes} {
				for _, args := range all {
					if got, _ := w.says("vera", "garden.feed "+args, byModel, false); got != want {
						w.Errorf("%s: %s is %s, not %s", c.bounds, args, got, want)
					}
				}
			}
			w.want(w.run("vera", fmt.Sprintf("system.disallow :rule @r%d", i)), "ok")
		}
		s, err := w.engine.Session(w.Context(), "vera")
		if err != nil {
			w.Fatal(err)
		}
		for bounds, want := range map[string]string{
			`:when "litres < 3"`:                    "litres",
			`:when "bags < DRY"`:                    "compares an integer with a code",
			`:when "bags"`:                          "must be true or false",
			`:when "bags <"`:                        "condition cannot be used",
			`:when "bed_id.holes == 0"`:             "reads a field of a row",
			`:when "each == 1"`:                     "each",
			`:when "system.allow()"`:                "condition cannot be used",
			`:about @rule`:                          "takes no such row",
			`:about @rose :when "how == 'DRY'"`:     "DRY",
			`:about @rose :when "cost <= 500"`:      "an amount of money with an integer",
			`:when "cost.amount <= 500 and true) "`: "condition cannot be used",
		} {
			text := `system.allow :name "r" :verb "garden.feed" :until 2025-02-01 ` + bounds
			if strings.Contains(bounds, "@rule") {
				text = `system.allow :name "r0" :verb "garden.dig" :until 2025-02-01 :as @rule` + "\n" + text
			}
			script, _ := dsl.Parse(dsl.NewSource("test.dsl", text))
			p, ds := s.Check(w.Context(), script, engine.CheckOptions{Said: byPerson})
			if p == nil {
				w.Fatal(bounds, ds)
			}
			_, err := s.Preview(w.Context(), p)
			var refusal *engine.Refusal
			if !errors.As(err, &refusal) || !strings.Contains(refusal.Diagnostics[0].Summary, want) || len(refusal.Diagnostics[0].Notes) == 0 {
				w.Errorf("%s: %+v", bounds, err)
			}
		}
		// Where it is told.
		w.says("vera", `system.allow :name "r" :verb "garden.feed" :until 2025-02-01 :about @rose :when "bags < 3"`, byPerson, true)
		run := func(text string) *receipt.Receipt {
			w.Helper()
			script, _ := dsl.Parse(dsl.NewSource("test.dsl", text))
			p, ds := s.Check(w.Context(), script, engine.CheckOptions{Said: byModel})
			if p == nil {
				w.Fatal(ds)
			}
			done, err := s.Run(w.Context(), p, engine.RunOptions{})
			if err != nil {
				w.Fatal(err)
			}
			return done
		}
		var b bytes.Buffer
		receipt.Print(&b, run("garden.feed :bed-id @rose"), receipt.Options{Full: true})
		if want := "the standing rule r for @rose, when bags < 3, passes it"; !strings.Contains(b.String(), want) {
			w.Errorf("%q is not in\n%s", want, b.String())
		}
		b.Reset()
		receipt.Print(&b, run("system.list-allowed"), receipt.Options{Full: true})
		if told := b.String(); !strings.Contains(told, "rose") || !strings.Contains(told, "bags < 3") || strings.Contains(told, bed) {
			w.Errorf("the list says\n%s", told)
		}
		agreed := ""
		for l, err := range journal.Opened(w.Context(), w.store, "vera", journal.ByNumber(w.Context(), w.store, 1, 0)) {
			if err != nil {
				w.Fatal(err)
			}
			if l.Entry.Verb == "garden.feed" {
				agreed = l.Entry.Agreed
			}
		}
		if want := "vera, standing rule r for @rose, when bags < 3"; agreed != want {
			w.Errorf("the journal says that %q agreed, not %q", agreed, want)
		}
	})
}
