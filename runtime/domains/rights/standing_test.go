package rights_test

import (
	"context"
	"testing"

	"verbatim/dsl"
	"verbatim/runtime/engine"
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
