package storetest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"

	"verbatim/stores"
)

// names returns the names that match a query.
func (w *world) names(q stores.NameQuery) []string {
	w.t.Helper()
	q.Entity = w.request
	q.Most = cmp.Or(q.Most, 10)
	var got []string
	w.must(w.View(context.Background(), stores.Scope{}, func(r stores.Reader) error {
		found, err := r.Names(context.Background(), q)
		for _, n := range found {
			if n.Entity != w.request {
				w.t.Errorf("a name of %v", n.Entity)
			}
			got = append(got, n.Plain+"~"+n.Suffix+" "+n.Key.Text()[34:]+" "+n.Owner)
		}
		return err
	}))
	return got
}

func (w *world) keep(names ...stores.Name) error {
	return w.Update(context.Background(), everything, func(tx stores.Tx) error {
		return tx.Apply(context.Background(), stores.Batch{Names: names})
	})
}

// SAFE-S8 F1 F2: names are found by their words, by their suffix and by their rows, for the
// owners in question.
var nameCases = []testCase{
	{"a name is found by its words, its suffix and its row", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		name := func(n int, plain, suffix, owner string) stores.Name {
			return stores.Name{Entity: w.request, Key: id("request", n), Plain: plain, Suffix: suffix, Owner: owner}
		}
		w.must(w.keep(name(1, "a", "aaaa1111", "x"), name(2, "a", "aaaa2222", "y"), name(3, "b", "bbbb3333", "x"), name(1, "old", "aaaa1111", "x")))
		// Storing a name again changes nothing, and neither does a batch of two equal ones.
		w.must(w.keep(name(1, "a", "aaaa1111", "x"), name(1, "a", "aaaa1111", "x")))
		one, two, three, old := "a~aaaa1111 01 x", "a~aaaa2222 02 y", "b~bbbb3333 03 x", "old~aaaa1111 01 x"
		for _, c := range []struct {
			what string
			ask  stores.NameQuery
			want []string
		}{
			{"by its words", stores.NameQuery{Plain: []string{"a"}}, []string{one, two}},
			{"by several words", stores.NameQuery{Plain: []string{"b", "a", "c"}}, []string{one, two, three}},
			{"by its words, of an owner", stores.NameQuery{Plain: []string{"a"}, Owners: []string{"y", "z"}}, []string{two}},
			{"by its words, of nobody", stores.NameQuery{Plain: []string{"a"}, Owners: []string{}}, nil},
			{"no more than are wanted of each", stores.NameQuery{Plain: []string{"a", "b"}, Most: 1}, []string{one, three}},
			{"what it was called before", stores.NameQuery{Plain: []string{"old"}}, []string{old}},
			{"by its suffix", stores.NameQuery{Suffix: "bbbb3333"}, []string{three}},
			{"by the beginning of its suffix", stores.NameQuery{Suffix: "aaaa2"}, []string{two}},
			{"by a beginning of several", stores.NameQuery{Suffix: "aaaa", Owners: []string{"y"}}, []string{two}},
			{"by no beginning of any", stores.NameQuery{Suffix: "aaab"}, nil},
			{"a percent sign is no wildcard", stores.NameQuery{Suffix: "%"}, nil},
			{"an underscore is none", stores.NameQuery{Suffix: "____"}, nil},
			{"by its row", stores.NameQuery{Keys: []stores.Value{id("request", 1), id("request", 9)}}, []string{one, old}},
			{"all of them", stores.NameQuery{Behind: &stores.Name{}}, []string{one, two, three, old}},
			{"all behind one", stores.NameQuery{Behind: &stores.Name{Plain: "a", Owner: "x", Key: id("request", 1)}}, []string{two, three, old}},
			{"a page of those behind one", stores.NameQuery{Behind: &stores.Name{Plain: "a", Owner: "y", Key: id("request", 1)}, Most: 1}, []string{two}},
			{"words that are SQL", stores.NameQuery{Plain: []string{`a' OR '1'='1`, `a","b`, "a\\"}}, nil},
		} {
			got := w.names(c.ask)
			slices.Sort(got)
			// If there are more than are wanted, any of them will do.
			if c.what == "no more than are wanted of each" && len(got) == 2 && got[1] == three {
				continue
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s: %q, want %q", c.what, got, c.want)
			}
		}
	}},
	{"names that are asked for with the commit are those before it", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		name := func(n int, plain, owner string) stores.Name {
			return stores.Name{Entity: w.request, Key: id("request", n), Plain: plain, Suffix: "s", Owner: owner}
		}
		w.must(w.keep(name(1, "a", "x"), name(2, "a", "y")))
		var mine, all, none, old []stores.Name
		ask := func(into *[]stores.Name, plain []string, owners ...string) stores.NameAsk {
			return stores.NameAsk{NameQuery: stores.NameQuery{Entity: w.request, Plain: plain, Owners: owners, Most: 9}, Into: into}
		}
		w.must(w.Update(context.Background(), everything, func(tx stores.Tx) error {
			return tx.Apply(context.Background(), stores.Batch{Late: true, Names: []stores.Name{name(3, "a", "x"), name(4, "b", "x")},
				Asked: []stores.NameAsk{ask(&mine, []string{"a"}, "x"), ask(&all, []string{"a", "b"}), ask(&none, []string{"b"}, "x", "y")}})
		}))
		w.must(w.Update(context.Background(), everything, func(tx stores.Tx) error {
			return tx.Apply(context.Background(), stores.Batch{Asked: []stores.NameAsk{ask(&old, []string{"b"}, "x")}})
		}))
		for what, c := range map[string]struct {
			got  []stores.Name
			want int
		}{"of an owner": {mine, 1}, "of all": {all, 2}, "of which there was none": {none, 0}, "of the commit before": {old, 1}} {
			if len(c.got) != c.want {
				t.Errorf("names %s: %v", what, c.got)
			}
		}
		if got := w.names(stores.NameQuery{Plain: []string{"a", "b"}}); len(got) != 4 {
			t.Error(got)
		}
	}},
	{"names are of one table", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		w.must(w.keep(stores.Name{Entity: w.submission, Key: id("submission", 1), Plain: "a", Suffix: "s", Owner: ""}))
		if got := w.names(stores.NameQuery{Plain: []string{"a"}}); got != nil {
			t.Error(got)
		}
	}},
	{"names are kept with the transaction, or not at all", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		stop := errors.New("stop")
		err := w.Update(context.Background(), everything, func(tx stores.Tx) error {
			n := stores.Name{Entity: w.request, Key: id("request", 1), Plain: "a", Suffix: "s"}
			if err := tx.Apply(context.Background(), stores.Batch{Names: []stores.Name{n}}); err != nil {
				return err
			}
			return stop
		})
		if !errors.Is(err, stop) {
			t.Error(err)
		}
		if got := w.names(stores.NameQuery{Plain: []string{"a"}}); got != nil {
			t.Error(got)
		}
	}},
	{"each store is known by a mark and a secret of its own", func(t *testing.T, open Open) {
		known := func(s stores.Store) stores.Identity { // of a store that is no copy of another one
			t.Helper()
			is, err := s.Identity(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			return is
		}
		a, b := open(t, []*stores.Entity{newSchema().country}), open(t, []*stores.Entity{newSchema().country})
		one, again, other := known(a), known(a), known(b)
		if one.ID != again.ID || !slices.Equal(one.Secret, again.Secret) || len(one.ID) < 32 || len(one.Secret) < 32 {
			t.Errorf("%v and %v", one, again)
		}
		if one.ID == other.ID || slices.Equal(one.Secret, other.Secret) {
			t.Error("two stores are one")
		}
	}},
	{"a store that was not migrated has no identity", func(t *testing.T, open Open) {
		if _, err := open(t, nil).Identity(context.Background()); !errors.Is(err, stores.ErrSchema) {
			t.Error(err)
		}
	}},
	{"a principal may be the login of a person who has another", func(t *testing.T, open Open) {
		// F7
		w := newWorld(t, open)
		for _, p := range []stores.Principal{{Name: "t.weber"}, {Name: "T.Weber"}, {Name: "t.weber2", Person: "T.WEBER"}, {Name: "other"}} {
			w.must(w.SetPrincipal(context.Background(), p))
		}
		read := func(name string) *stores.Principal {
			p, err := w.Principal(context.Background(), name)
			w.must(err)
			return &p
		}
		weber := read("t.weber")
		if !weber.IsPerson(read("T.Weber")) || !weber.IsPerson(read("t.weber2")) || weber.IsPerson(read("other")) {
			t.Error("logins are taken for other people's")
		}
	}},
}
