package engine_test

import (
	"context"
	"regexp"
	"testing"

	"verbatim/dsl"
	"verbatim/verbs"
	"verbatim/verbs/grammar"
)

// What a model is offered is what its principal may say: the verbs of their
// roles, and names of rows in their scope, each of which the session knows.
func TestAModelIsOfferedWhatItsPrincipalMaySay(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, load(t, "testdata/palettes"), handlers(honest, appraised))
	kim, sam := w.session("kim"), w.session("sam")
	of := func(names map[*verbs.Entity][]string) map[string]bool {
		all := map[string]bool{}
		for _, list := range names {
			for _, n := range list {
				all[n] = true
			}
		}
		return all
	}
	mine, err := kim.Names().All(t.Context(), w.reg.Entities())
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := sam.Names().All(t.Context(), w.reg.Entities())
	if err != nil {
		t.Fatal(err)
	}
	if len(of(mine)) == 0 || len(of(theirs)) == 0 {
		t.Fatalf("%v and %v", mine, theirs)
	}
	item := w.reg.Entity("item")
	if len(mine[item]) == 0 || len(theirs[item]) == 0 {
		t.Fatalf("no items: %v and %v", mine, theirs)
	}
	knows := func(name string) bool {
		script, ds := dsl.Parse(dsl.NewSource("", "lending.lose :item-id @"+name))
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		_, ds = kim.Check(context.Background(), script)
		return !ds.HasErrors()
	}
	for _, n := range mine[item] {
		if !knows(n) {
			t.Errorf("@%s is offered and not known", n)
		}
	}
	for _, n := range theirs[item] {
		if !of(mine)[n] && knows(n) {
			t.Errorf("@%s is known and not offered", n)
		}
	}
	for _, v := range kim.Verbs() {
		if !kim.May(v) {
			t.Errorf("%s is offered and not permitted", v.Name)
		}
	}
	if len(kim.Verbs()) == len(w.reg.Verbs()) {
		t.Error("every verb is permitted: this shows nothing")
	}
	g := grammar.New(grammar.Vocabulary{Verbs: kim.Verbs(), Names: func(e *verbs.Entity) []string { return mine[e] }})
	for _, v := range w.reg.Verbs() {
		if can := regexp.MustCompile(regexp.QuoteMeta(v.Name) + `[^a-z0-9-]`).MatchString(g.GBNF()); can != kim.May(v) {
			t.Errorf("%s can be said: %t", v.Name, can)
		}
	}
}
