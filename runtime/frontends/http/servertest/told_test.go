package servertest

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/engine"
	"verbatim/runtime/tests/told"
	"verbatim/stores"
	"verbatim/stores/sqlite"
	"verbatim/verbs"
)

// What pages tell of a state is so (G10): each sentence is told while the rows are so, and not while
// they are otherwise. claims.txt of package values names these tests.

// sets changes fields of a row of the house's database, as nobody in particular.
func (h *house) sets(entity string, key stores.Value, fields map[string]stores.Value) {
	h.t.Helper()
	all := engine.Own()
	reg, ds := verbs.Load(os.DirFS(filepath.Join(root, "verbs/palettes/bank")))
	if ds.HasErrors() {
		h.t.Fatal(ds)
	}
	for _, e := range reg.Entities() {
		all = append(all, e.Store)
	}
	e := all[slices.IndexFunc(all, func(e *stores.Entity) bool { return e.Name == entity })]
	c := stores.Change{Op: stores.Update, Entity: e, Key: key}
	for i := range e.Fields {
		if v, ok := fields[e.Fields[i].Name]; ok {
			c.Set = append(c.Set, stores.Assign{Field: i, Value: v})
		}
	}
	store, err := sqlite.Open(filepath.Join(h.dir, "house.db"))
	if err != nil {
		h.t.Fatal(err)
	}
	defer store.Close()
	err = store.Update(context.Background(), stores.Scope{All: true}, func(tx stores.Tx) error {
		return tx.Apply(context.Background(), stores.Batch{Changes: []stores.Change{c}})
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

// The requests of the example.
const pierre, thomas, maria = 1, 2, 3

func (h *house) request(n int, field string, v stores.Value) {
	h.t.Helper()
	key, _ := stores.ParseUUID(fmt.Sprintf("000004e9-0000-4000-8000-%012d", n))
	h.sets("outstanding-request", key, map[string]stores.Value{field: v})
}

// form is what the form of a page sends to an address.
func form(t testing.TB, page, action string) url.Values {
	t.Helper()
	m := regexp.MustCompile(`(?s)<form [^>]*action="` + regexp.QuoteMeta(action) + `".*?</form>`).FindString(page)
	if m == "" {
		t.Fatalf("no form is sent to %s:\n%s", action, page)
	}
	values := url.Values{}
	for _, m := range regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)"`).FindAllStringSubmatch(m, -1) {
		values.Add(m[1], html.UnescapeString(m[2]))
	}
	return values
}

// with is a form with more in it.
func with(values url.Values, more ...string) url.Values {
	all := url.Values{}
	for name, of := range values {
		all[name] = slices.Clone(of)
	}
	for i := 0; i < len(more); i += 2 {
		all.Set(more[i], more[i+1])
	}
	return all
}

// G10: how far a client is, and what is with whom.
func TestWhatTheHomeOfAClientTellsIsSo(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	clara := h.reader("clara")
	status := func(n int, code string) { h.request(n, "status", stores.NewString(code)) }
	home := func() string { return clara.get("/", http.StatusOK) }
	three := home()
	status(maria, "PENDING_REVIEW")
	two := home()
	status(thomas, "PENDING_REVIEW")
	one := home()
	status(pierre, "PENDING_REVIEW")
	none := home()
	for _, n := range []int{pierre, thomas, maria} {
		status(n, "FULFILLED")
	}
	all := home()
	os.WriteFile("/tmp/three.html", []byte(three), 0o600)
	os.WriteFile("/tmp/none.html", []byte(none), 0o600)
	os.WriteFile("/tmp/all.html", []byte(all), 0o600)
	told.Check(t, "pages/steps-percent", three, two, "27", "31", "87")
	told.Check(t, "pages/with-you-some", three, two, "3")
	told.Check(t, "pages/with-you-one", one, two)
	told.Check(t, "pages/with-you-none", none, one)
	told.Check(t, "pages/with-us-none", three, two)
	told.Check(t, "pages/with-us-one", two, one)
	told.Check(t, "pages/with-us-some", none, one, "3")
	told.Check(t, "pages/needed-list", three, all, "3")
	told.Check(t, "pages/all-here", all, three)
	told.Check(t, "pages/done-list", all, three, "4")
	told.Check(t, "pages/part", three, all)
	told.Check(t, "pages/with-us", none, three)
	status(maria, "PENDING")
	told.Check(t, "pages/to-do", home(), all)
	status(maria, "CORRECTION_NEEDED")
	told.Check(t, "pages/correction", home(), all)

	// Days are those of today.
	day := stores.DateOf(time.Now().UTC())
	due := func(ahead int) string {
		h.request(maria, "due_date", stores.DateOf(time.Now().UTC().AddDate(0, 0, ahead)))
		return home()
	}
	_ = day
	past, today, tomorrow, later := due(-1), due(0), due(1), due(5)
	told.Check(t, "pages/was-due", past, today)
	told.Check(t, "pages/due-today", today, tomorrow)
	told.Check(t, "pages/due-tomorrow", tomorrow, later)
	told.Check(t, "pages/due-in", later, due(6), later[strings.Index(later, "Due ")+4:strings.Index(later, ", in 5 days")], "5")
}
