package storetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"verbatim/stores"
	"verbatim/stores/search"
)

// newSearched is newWorld with searched entities whose owners are determined in every possible
// way.
func newSearched(t *testing.T, open Open) *world {
	t.Helper()
	return newWorld(t, func(t *testing.T, entities []*stores.Entity) stores.Store {
		searched(entities)
		return open(t, entities)
	})
}

func searched(entities []*stores.Entity) {
	for _, e := range entities {
		switch e.Name {
		case "cbu", "country", "workstream":
			i := len(e.Fields) - 1
			e.Search = &stores.Search{Text: []int{i}}
		case "diary":
			e.Search = &stores.Search{Text: []int{2}, Meaning: []int{2}}
		case "request":
			e.Search = &stores.Search{Text: []int{reqSubtype, reqNotes}, Meaning: []int{reqNotes}}
		}
	}
}

func note(w *world, n int, text string) stores.Change {
	return update(w.request, id("request", n), stores.Assign{Field: reqNotes, Value: str(text)})
}

// match finds keys by words alone, or by meaning too.
func (w *world) match(scope stores.Scope, m stores.Match) (keys []string, more bool) {
	w.t.Helper()
	m.Limit = cmp.Or(m.Limit, 10)
	w.must(w.View(context.Background(), scope, func(r stores.Reader) error {
		found, are, err := r.Match(context.Background(), m)
		keys, more = keysOf(found), are
		return err
	}))
	return keys, more
}

func keysOf(found []search.Found) (keys []string) {
	for _, f := range found {
		keys = append(keys, f.Key)
	}
	return keys
}

func (w *world) wantMatch(scope stores.Scope, e *stores.Entity, text string, kind string, want ...int) {
	w.t.Helper()
	got, _ := w.match(scope, stores.Match{Entity: e, Text: text})
	var keys []string
	for _, n := range want {
		keys = append(keys, id(kind, n).Text())
	}
	if !slices.Equal(got, keys) {
		w.t.Errorf("%q finds %v, want %s %v", text, got, kind, want)
	}
}

func (w *world) clean() {
	w.t.Helper()
	for _, e := range w.all() {
		if e.Search == nil {
			continue
		}
		state, err := w.Index(context.Background(), e, false)
		w.must(err)
		if !state.Clean() {
			w.t.Errorf("the index of %s is %+v", e.Name, state)
		}
	}
}

var searchCases = []testCase{
	{"words are found whatever their case, marks and endings", func(t *testing.T, open Open) {
		// M10
		w := newSearched(t, open)
		w.must(w.do(everything, note(w, 1, "Die Umsätze stiegen; der Jahresüberschuß fiel."), note(w, 2, "Les bénéfices ont progressé"),
			note(w, 3, "revenues were growing by 5,2 percent. Der Käufer zahlt."), note(w, 4, "las empresas españolas")))
		for text, n := range map[string]int{"UMSATZE": 1, "Umsätzen": 1, "jahresuberschuss": 1, "bénéfice": 2, "progresser": 2, "revenue": 3, "Grow": 3, "5.2": 3, "Kaeufer": 3, "KÄUFERN": 3, "Kaufer": 3, "empresa": 4, "española": 4, "wealth": 4, "TAX": 3} {
			w.wantMatch(holding(1), w.request, text, "request", n)
		}
		for _, text := range []string{"", " \t", "…", "nothing", "' OR 1=1 --", "\"", "*", strings.Repeat("word ", 8000), "5", "\x00", "\xff"} {
			w.wantMatch(holding(1), w.request, text, "request")
		}
		w.clean()
	}},
	{"the index follows what is written, in its transaction", func(t *testing.T, open Open) {
		w := newSearched(t, open)
		w.must(w.do(everything, note(w, 1, "alpha beta"), note(w, 2, "alpha")))
		w.must(w.Update(context.Background(), holding(1), func(tx stores.Tx) error {
			find := func(text string) string {
				found, _, err := tx.Match(context.Background(), stores.Match{Entity: w.request, Text: text, Limit: 9})
				w.must(err)
				return fmt.Sprint(len(found))
			}
			got := find("alpha") + find("gamma")
			w.must(tx.Apply(context.Background(), stores.Batch{Changes: []stores.Change{note(w, 1, "gamma")}, Late: true}))
			got += find("alpha") + find("gamma")
			w.must(tx.Apply(context.Background(), stores.Batch{Changes: []stores.Change{note(w, 1, ""), remove(w.request, id("request", 2))}}))
			got += find("alpha") + find("gamma")
			w.must(tx.Apply(context.Background(), stores.Batch{Changes: []stores.Change{insert(w.request, id("request", 7),
				stores.Assign{Field: reqWorkstream, Value: id("workstream", 1)}, stores.Assign{Field: reqSubtype, Value: str("X")}, stores.Assign{Field: reqNotes, Value: str("gamma")})}}))
			if got += find("alpha") + find("gamma"); got != "20110001" {
				t.Error(got)
			}
			tx.Discard()
			return nil
		}))
		w.wantMatch(holding(1), w.request, "alpha", "request", 2, 1)
		w.clean()
		if err := w.do(everything, note(w, 1, "delta"), remove(w.cbu, id("cbu", 1))); err == nil {
			t.Error("that is taken")
		}
		w.wantMatch(holding(1), w.request, "delta", "request")
		w.must(w.do(everything, note(w, 1, "delta")))
		w.wantMatch(holding(1), w.request, "delta", "request", 1)
		w.must(w.do(everything, update(w.request, id("request", 1), stores.Assign{Field: reqCount, Value: stores.NewInt(3)})))
		w.wantMatch(holding(1), w.request, "delta", "request", 1)
		w.clean()
	}},
	{"what others own neither shows nor counts", func(t *testing.T, open Open) {
		w := newSearched(t, open)
		w.must(w.do(everything, note(w, 1, "alpha beta"), note(w, 2, "alpha alpha"), note(w, 3, "beta"), note(w, 4, "beta beta gamma"), note(w, 11, "alpha alpha alpha beta")))
		ask := func(scope stores.Scope) (all string) {
			for _, text := range []string{"alpha beta", "beta", "alpha gamma", "identity", "alpha beta gamma tax wealth"} {
				keys, more := w.match(scope, stores.Match{Entity: w.request, Text: text, Near: search.Grams(text), Maker: search.Letters})
				all += fmt.Sprintln(text, keys, more)
			}
			return all
		}
		before, empty := ask(holding(1)), ask(stores.Scope{})
		if strings.Contains(before, id("request", 11).Text()) || !strings.Contains(ask(everything), id("request", 11).Text()) || !strings.Contains(ask(holding(1, 2)), id("request", 11).Text()) {
			t.Error("whose rows are found is wrong")
		}
		var many []stores.Change
		for n := range 60 {
			many = append(many, insert(w.request, id("request", 100+n), stores.Assign{Field: reqWorkstream, Value: id("workstream", 2)},
				stores.Assign{Field: reqSubtype, Value: str(fmt.Sprint("S", n))}, stores.Assign{Field: reqNotes, Value: str("beta identity " + strings.Repeat("gamma ", n%5))}))
		}
		w.must(w.do(everything, many...))
		if after := ask(holding(1)); after != before {
			t.Errorf("rows of another change what is found:\n%s\n%s", before, after)
		}
		if strings.Contains(empty, id("request", 1).Text()) || ask(stores.Scope{Principal: "pierre"}) != empty {
			t.Error("rows are found that nobody holds")
		}
		for _, c := range []struct {
			scope stores.Scope
			e     *stores.Entity
			text  string
			want  string
		}{
			{stores.Scope{Principal: "pierre"}, w.diary, "mine", id("diary", 1).Text()}, {stores.Scope{Principal: "pierre"}, w.diary, "his", ""}, {stores.Scope{}, w.diary, "mine", ""},
			{stores.Scope{}, w.country, "germany", "DE"}, {holding(2), w.workstream, "stream", id("workstream", 2).Text()}, {holding(1), w.cbu, "cbu", id("cbu", 1).Text()},
		} {
			if keys, _ := w.match(c.scope, stores.Match{Entity: c.e, Text: c.text}); strings.Join(keys, " ") != c.want {
				t.Errorf("%s %q finds %v", c.e.Name, c.text, keys)
			}
		}
		// A row that moves to another owner belongs to that owner.
		w.must(w.do(everything, update(w.request, id("request", 1), stores.Assign{Field: reqWorkstream, Value: id("workstream", 2)}, stores.Assign{Field: reqSubtype, Value: str("MOVED")})))
		w.wantMatch(holding(1), w.request, "moved", "request")
		w.wantMatch(holding(2), w.request, "moved", "request", 1)
		w.clean()
	}},
	{"narrowed to one owner, it is answered as if no other were there", func(t *testing.T, open Open) {
		questions := []string{"alpha beta", "beta", "alpha gamma", "identity", "alpha beta gamma tax wealth", "betas"}
		ask := func(w *world, scope stores.Scope, m stores.Match) (all string) {
			for _, text := range questions {
				for _, limit := range []int{1, 3, 40} {
					for _, near := range [][]float32{nil, search.Grams(text)} {
						m.Entity, m.Text, m.Near, m.Maker, m.Limit = cmp.Or(m.Entity, w.request), text, near, search.Letters, limit
						w.must(w.View(context.Background(), scope, func(r stores.Reader) error {
							for range 2 { // the second time from cached vectors
								found, more, err := r.Match(context.Background(), m)
								w.must(err)
								all += fmt.Sprintln(text, limit, found, more)
							}
							return nil
						}))
					}
				}
			}
			return all
		}
		rows := func(w *world, from, stream int) (all []stores.Change) {
			for n := range 50 {
				all = append(all, insert(w.request, id("request", from+n), stores.Assign{Field: reqWorkstream, Value: id("workstream", stream)},
					stores.Assign{Field: reqSubtype, Value: str(fmt.Sprint("S", n))}, stores.Assign{Field: reqNotes, Value: str(strings.Repeat("alpha ", (n*stream)%3) + strings.Repeat("beta identity ", n%4) + strings.Repeat("gamma ", n%5*(stream-1)))}))
			}
			return all
		}
		w := newSearched(t, open)
		w.must(w.do(everything, append(rows(w, 100, 1), remove(w.request, id("request", 11)))...))
		alone := ask(w, holding(1), stores.Match{})
		w.must(w.do(everything, rows(w, 300, 2)...))
		one := stores.Match{Owner: id("cbu", 1)}
		for _, scope := range []stores.Scope{holding(1), holding(1, 2), everything} {
			if got := ask(w, scope, one); got != alone {
				t.Errorf("%v is told\n%s\nwhere who holds the owner alone is told\n%s", scope, got, alone)
			}
		}
		if ask(w, holding(1, 2), stores.Match{}) == alone {
			t.Error("the rows of the other owner make no difference: nothing is shown here")
		}
		nothing := ask(w, stores.Scope{}, stores.Match{})
		if ask(w, holding(2), one) != nothing || ask(w, stores.Scope{Principal: "pierre"}, one) != nothing {
			t.Error("who does not hold the owner is told of its rows")
		}
		for _, c := range []struct {
			scope stores.Scope
			e     *stores.Entity
			owner stores.Value
			text  string
			want  string
		}{
			{everything, w.diary, str("pierre"), "mine his", id("diary", 1).Text()}, {stores.Scope{Principal: "pierre"}, w.diary, str("marie"), "mine his", ""},
			{everything, w.cbu, id("cbu", 2), "cbu", id("cbu", 2).Text()}, {everything, w.country, str("DE"), "germany", ""},
		} {
			if keys, _ := w.match(c.scope, stores.Match{Entity: c.e, Owner: c.owner, Text: c.text}); strings.Join(keys, " ") != c.want {
				t.Errorf("%s of %s: %q finds %v", c.e.Name, c.owner.Text(), c.text, keys)
			}
		}
	}},
	{"the order is that of the formula, and then of the keys", func(t *testing.T, open Open) {
		w := newSearched(t, open)
		drawn := 0
		draw := func(below uint64) int {
			drawn++
			return int(uint64(search.Digest(fmt.Sprint(drawn))) % below)
		}
		texts := map[string][]search.Posting{}
		var changes []stores.Change
		for n := range 120 {
			words := make([]string, 1+draw(12))
			for i := range words {
				words[i] = fmt.Sprint("w", min(draw(9), draw(9)))
			}
			key := id("request", 200+n)
			note := strings.Join(words, " ")
			texts[key.Text()] = search.Postings(w.request.Table, []string{fmt.Sprint("T", n), note})
			changes = append(changes, insert(w.request, key, stores.Assign{Field: reqWorkstream, Value: id("workstream", 1)}, stores.Assign{Field: reqSubtype, Value: str(fmt.Sprint("T", n))}, stores.Assign{Field: reqNotes, Value: str(note)}))
		}
		w.must(w.do(everything, changes...))
		for n, subtype := range []string{"IDENTITY", "ADDRESS", "TAX", "WEALTH"} {
			texts[id("request", n+1).Text()] = search.Postings(w.request.Table, []string{subtype})
		}
		for range 60 {
			question := fmt.Sprintf("w%d w%d w%d", draw(9), draw(9), draw(9))
			limit := 1 + draw(40)
			keys, more := w.match(holding(1), stores.Match{Entity: w.request, Text: question, Limit: limit})
			want := byFormula(w.request, texts, question)
			if !slices.Equal(keys, want[:min(limit, len(want))]) || more != (len(want) > limit) {
				t.Fatalf("%q, %d: %v, want %v", question, limit, keys, want)
			}
		}
	}},
	{"meaning is compared with vectors of its maker, and those of a model are kept while the text is the same", func(t *testing.T, open Open) {
		w := newSearched(t, open)
		w.must(w.do(everything, note(w, 1, "Kundenabwanderung"), note(w, 2, "customers"), note(w, 3, "churn")))
		near := func(text, maker string, want ...int) {
			t.Helper()
			v := search.Grams(text)
			if maker != search.Letters {
				v = search.Unit([]float32{1, 0.2})
			}
			keys, _ := w.match(holding(1), stores.Match{Entity: w.request, Text: "?", Near: v, Maker: maker})
			var all []string
			for _, n := range want {
				all = append(all, id("request", n).Text())
			}
			if !slices.Equal(keys, all) {
				t.Errorf("%s, %s: %v, want %v", text, maker, keys, all)
			}
		}
		near("Kundenabwanderungen", search.Letters, 1)
		near("x", "model")
		asked := 0
		n, err := w.Vectors(context.Background(), w.request, "model", 2, func(texts []string) (vectors [][]float32, err error) {
			asked++
			for i, text := range texts {
				vectors = append(vectors, search.Unit([]float32{1, float32(i)}))
				if text == "customers" {
					w.must(w.do(everything, note(w, 2, "clients"))) // meanwhile
				}
			}
			return vectors, nil
		})
		if err != nil || n != 2 || asked != 1 {
			t.Fatal(n, err)
		}
		near("x", "model", 1)
		n, err = w.Vectors(context.Background(), w.request, "model", 9, func(texts []string) ([][]float32, error) {
			slices.Sort(texts)
			if fmt.Sprint(texts) != "[churn clients]" {
				t.Error(texts)
			}
			return nil, errors.New("no model")
		})
		if err == nil || n != 0 {
			t.Error("its error is lost")
		}
		w.must(w.do(everything, note(w, 1, "other")))
		near("x", "model")
		near("others", search.Letters, 1)
		w.clean()
	}},
	{"names are found that are spelled almost so, as they are now", func(t *testing.T, open Open) { // PERF-F1
		w := newWorld(t, func(t *testing.T, entities []*stores.Entity) stores.Store {
			for _, e := range entities {
				if e.Name == "request" {
					e.Search = &stores.Search{Names: []int{reqNotes}}
				}
			}
			return open(t, entities)
		})
		w.must(w.do(everything, note(w, 1, "John Smith"), note(w, 2, "Jon  SMITH"), note(w, 3, "Łukasz Müller"), note(w, 4, "Пётр Ильич"), note(w, 11, "Joan Smithers")))
		type asked struct {
			r     stores.Reader
			scope stores.Scope
		}
		near := func(a asked, text string, edits int, beyond bool, want ...int) {
			t.Helper()
			ask := func(r stores.Reader) error {
				found, _, err := r.Match(context.Background(), stores.Match{Entity: w.request, Text: text, Edits: edits, Beyond: beyond, Limit: 9})
				keys := keysOf(found)
				for i, n := range want {
					if err == nil && (i >= len(keys) || keys[i] != id("request", n).Text()) || len(keys) != len(want) {
						t.Errorf("%q within %d finds %v, want %v", text, edits, keys, want)
						break
					}
				}
				return err
			}
			if a.r != nil {
				w.must(ask(a.r))
				return
			}
			w.must(w.View(context.Background(), a.scope, ask))
		}
		all, mine := asked{scope: everything}, asked{scope: holding(1)}
		near(all, "john smith", 0, false, 1)
		near(all, "JOHN SMITH", 1, false, 1, 2)
		near(all, "jonn smith", 1, false, 1, 2)
		near(all, "lukasz muller", 0, false, 3)
		near(all, "Petr Ilitch", 2, false, 4)
		near(all, "john smithers", 2, false, 11)
		near(all, "", 2, false)
		near(all, strings.Repeat("x", 10_000), 8, false)
		// Rows of other owners are found only by a search beyond the scope.
		near(mine, "joan smithers", 2, false)
		near(mine, "joan smithers", 2, true, 11)
		near(asked{scope: stores.Scope{}}, "john smith", 0, false)
		near(asked{scope: stores.Scope{}}, "john smith", 0, true, 1)
		// The index follows within the transaction, and is restored by a rollback.
		back := errors.New("back")
		err := w.Update(context.Background(), everything, func(tx stores.Tx) error {
			w.must(tx.Apply(context.Background(), stores.Batch{Changes: []stores.Change{note(w, 1, "Jane Roe")}}))
			near(asked{r: tx}, "jane roe", 0, false, 1)
			near(asked{r: tx}, "john smith", 1, false, 2)
			return back
		})
		if !errors.Is(err, back) {
			t.Error(err)
		}
		near(all, "jane roe", 2, false)
		near(all, "john smith", 0, false, 1)
		w.must(w.do(everything, note(w, 2, "Jane Roe")))
		near(all, "jane roe", 0, false, 2)
		near(all, "john smith", 1, false, 1)
		w.clean()
		// The rebuilt index finds the same.
		state, err := w.Index(context.Background(), w.request, true)
		if w.must(err); !state.Clean() {
			t.Errorf("%+v", state)
		}
		near(all, "john smith", 0, false, 1)
		near(all, "jane roe", 0, false, 2)
		for i := range 40 { // so often that the cached names are read again
			w.must(w.do(everything, note(w, 1+i%2, fmt.Sprint("Name ", i))))
			near(all, fmt.Sprint("name ", i), 0, false, 1+i%2)
		}
		w.clean()
	}},
	{"an index is made for rows that are there, and anew when it is declared otherwise", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		w.must(w.do(everything, note(w, 1, "alpha")))
		unprepared := func(of string) {
			t.Helper()
			err := w.View(context.Background(), holding(1), func(r stores.Reader) error {
				_, _, err := r.Match(context.Background(), stores.Match{Entity: w.request, Text: "no word of any row", Limit: 1})
				return err
			})
			_, indexed := w.Index(context.Background(), w.request, true)
			if !errors.Is(err, stores.ErrSchema) || !errors.Is(indexed, stores.ErrSchema) {
				t.Errorf("an index of %s answers %v, %v", of, err, indexed)
			}
		}
		searched(w.all())
		unprepared("nothing")
		plan, err := w.Migrate(context.Background(), w.all(), false)
		w.must(err)
		if len(plan.Steps) == 0 || len(plan.Problems) > 0 {
			t.Error(plan)
		}
		_, err = w.Migrate(context.Background(), w.all(), true)
		w.must(err)
		w.wantMatch(holding(1), w.request, "alpha identity", "request", 1)
		w.clean()
		w.request.Search = &stores.Search{Text: []int{reqNotes}}
		unprepared("other fields")
		_, err = w.Migrate(context.Background(), w.all(), true)
		w.must(err)
		w.wantMatch(holding(1), w.request, "identity", "request")
		w.clean()
		plan, err = w.Migrate(context.Background(), w.all(), false)
		if w.must(err); len(plan.Steps) > 0 {
			t.Error(plan.Steps)
		}
		state, err := w.Index(context.Background(), w.request, true)
		if w.must(err); state.Rows != 5 || !state.Clean() {
			t.Errorf("%+v", state)
		}
	}},
}

// byFormula ranks rows as the package search specifies, by going through all of them.
func byFormula(e *stores.Entity, all map[string][]search.Posting, question string) []string {
	rows := map[int64]int64{}
	for _, postings := range all {
		for _, p := range postings {
			rows[p.Term]++
		}
	}
	terms := search.Weigh(search.Question(e.Table, question), rows, int64(len(all)))
	var found []search.Found
	for key, postings := range all {
		best := map[int]int64{}
		for _, p := range postings {
			for _, q := range terms {
				if q.Term == p.Term {
					best[q.Word] = max(best[q.Word], p.Weight*q.Rarity)
				}
			}
		}
		score := int64(0)
		for _, s := range best {
			score += s
		}
		if score > 0 {
			found = append(found, search.Found{Key: key, Score: float64(score)})
		}
	}
	slices.SortFunc(found, func(a, b search.Found) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.Key, b.Key))
	})
	return keysOf(found)
}
