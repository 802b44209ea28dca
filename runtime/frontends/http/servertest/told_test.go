package servertest

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"mime/multipart"
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
	"verbatim/verbs/load"
)

// What pages tell of a state is so (G10): each sentence is told while the rows are so, and not while
// they are otherwise. claims.txt of package values names these tests.

// sets changes fields of a row of the house's database, as nobody in particular.
func (h *house) sets(entity string, key stores.Value, fields map[string]stores.Value) {
	h.t.Helper()
	all := engine.Own()
	reg, ds := load.Dir(os.DirFS(filepath.Join(root, "verbs/palettes/bank")))
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

// rows reads the rows of an entity, as they are in the house's database.
func (h *house) rows(entity string) (e *stores.Entity, rows [][]stores.Value) {
	h.t.Helper()
	reg, ds := load.Dir(os.DirFS(filepath.Join(root, "verbs/palettes/bank")))
	if ds.HasErrors() {
		h.t.Fatal(ds)
	}
	e = reg.Entity(entity).Store
	store, err := sqlite.Open(filepath.Join(h.dir, "house.db"))
	if err != nil {
		h.t.Fatal(err)
	}
	defer store.Close()
	err = store.View(context.Background(), stores.Scope{All: true}, func(r stores.Reader) (err error) {
		rows, err = r.Find(context.Background(), stores.Find{Entity: e})
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return e, rows
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
	told.Check(t, "pages/steps-percent", three, two, "27", "31", "87")
	told.Check(t, "pages/with-you-some", three, two, "4") // Pierre's counts for two
	told.Check(t, "pages/with-you-none", none, one)
	told.Check(t, "pages/with-us-none", three, two)
	told.Check(t, "pages/with-us-one", two, one)
	told.Check(t, "pages/with-us-some", none, one, "3")
	told.Check(t, "pages/needed-list", none, three, "3")
	told.Check(t, "pages/else-list", three, none, "2")
	told.Check(t, "pages/all-here", all, three)
	told.Check(t, "pages/done-list", all, three, "4")
	told.Check(t, "pages/part", three, all)
	told.Check(t, "pages/with-us", none, three)
	status(maria, "PENDING")
	left := home()
	told.Check(t, "pages/with-you-one", left, two)
	told.Check(t, "pages/to-do", left, all)
	status(maria, "CORRECTION_NEEDED")
	told.Check(t, "pages/correction", home(), all)

	// Days are those of today.
	due := func(ahead int) string {
		h.request(maria, "due_date", stores.DateOf(time.Now().UTC().AddDate(0, 0, ahead)))
		return home()
	}
	past, yesterday, today, tomorrow, later := due(-2), due(-1), due(0), due(1), due(5)
	told.Check(t, "pages/was-due", past, yesterday, past[strings.Index(past, "Was due ")+8:strings.Index(past, ", 2 days ago")], "2")
	told.Check(t, "pages/was-due-yesterday", yesterday, past)
	told.Check(t, "pages/late", yesterday, today)
	told.Check(t, "pages/due-today", today, tomorrow)
	told.Check(t, "pages/due-tomorrow", tomorrow, later)
	told.Check(t, "pages/due-in", later, due(6), later[strings.Index(later, "Due ")+4:strings.Index(later, ", in 5 days")], "5")
}

// settles puts the confirmation that waits into another state.
func (h *house) settles(status string) {
	h.t.Helper()
	h.sets("verbatim.confirmation", h.waits(), map[string]stores.Value{"status": stores.NewString(status)})
}

// waits returns the key of the confirmation that waits for somebody else.
func (h *house) waits() stores.Value {
	h.t.Helper()
	store, err := sqlite.Open(filepath.Join(h.dir, "house.db"))
	if err != nil {
		h.t.Fatal(err)
	}
	defer store.Close()
	var key stores.Value
	err = store.View(context.Background(), stores.Scope{All: true}, func(r stores.Reader) error {
		own := engine.Own()
		e := own[slices.IndexFunc(own, func(e *stores.Entity) bool { return e.Name == "verbatim.confirmation" })]
		rows, err := r.Find(context.Background(), stores.Find{Entity: e})
		for _, row := range rows {
			if row[e.FieldIndex("status")].Text() == "WAITING" && row[e.FieldIndex("roles")].Text() != "[]" {
				key = row[e.Key]
			}
		}
		return err
	})
	if err != nil || key.IsNull() {
		h.t.Fatal("nothing waits", err)
	}
	return key
}

// upload sends a form with a file.
func (r reader) upload(path string, status int, form url.Values, field, name string) string {
	r.h.t.Helper()
	return r.uploads(path, status, form, field, name, "%PDF-1.4 a file")
}

// uploads sends a form with a file of some content.
func (r reader) uploads(path string, status int, form url.Values, field, name, content string) string {
	r.h.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for key, of := range form {
		for _, v := range of {
			_ = w.WriteField(key, v)
		}
	}
	part, _ := w.CreateFormFile(field, name)
	_, _ = part.Write([]byte(content))
	_ = w.Close()
	return r.read(status)(r.c.Post(r.h.url(path), w.FormDataContentType(), &body))
}

// G10: what a form did, what waits for whom, and what became of it.
func TestWhatPagesTellOfCallsIsSo(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(h *house) {
		own := filepath.Join(h.dir, "palettes")
		if err := os.CopyFS(own, os.DirFS(filepath.Join(root, "verbs/palettes/bank"))); err != nil {
			t.Fatal(err)
		}
		h.edit("palettes/onboarding.yaml", "percent: overall_progress_percent, ", "")
		h.edit("palettes/onboarding.yaml", "states: {PENDING: to-do,", "states: {PENDING: late,")
		h.edit("palettes/review.yaml", "- {by: analyst, expires: 3d, reason: a requirement is waived by two people}",
			"- {by: analyst, expires: 3d, reason: a requirement is waived by two people}\n      - {by: privacy-officer, expires: 3d, reason: somebody of the bank looks at it too}")
		h.edit("palettes/review.yaml", "verbs:\n", "verbs:\n  - verb: list-parts\n    description: The parts as a workbook.\n    roles: [analyst]\n    reads:\n      entity: request-part\n      order: [name]\n      file: Parts.xlsx\n      fields: {name: name}\n  - verb: see-parts\n    description: The parts.\n    roles: [analyst]\n    reads:\n      entity: request-part\n      order: [name]\n      fields: {name: name}\n")
		h.env = []string{"VERBATIM_PALETTES=" + own}
	})
	clara, weber, nowak, lang, kim := h.reader("clara"), h.reader("t.weber"), h.reader("a.nowak"), h.reader("d.lang"), h.reader("kim")
	early := lang.get("/health", http.StatusOK)
	number := func(page, pattern string) string {
		t.Helper()
		m := regexp.MustCompile(pattern).FindStringSubmatch(html.UnescapeString(page))
		if m == nil {
			t.Fatalf("%s is not there", pattern)
		}
		return m[1]
	}
	before := clara.get("/", http.StatusOK)
	told.Check(t, "pages/no-messages", kim.get("/why", http.StatusOK), before)

	// A form that is sent, sent again, with other values, and under an older palette.
	const note = "/do/client.add-note"
	f := with(form(t, clara.get(note+"?item=pierre-dupont-source-of-wealth", http.StatusOK), note), "note", "The register has it")
	first := clara.post(note, http.StatusOK, f)
	again := clara.post(note, http.StatusOK, f)
	told.Check(t, "pages/done-before", again, first)
	told.Check(t, "pages/done-before", again, clara.get("/?done=again", http.StatusOK)) // an address is no fact
	told.Check(t, "pages/done-before", again, kim.get("/?done=again&entry="+h.entry("client.add-note"), http.StatusOK))
	told.Check(t, "pages/sent-before", clara.post(note, http.StatusConflict, with(f, "note", "Something else")), again)
	told.Check(t, "pages/asked-again", clara.post(note, http.StatusConflict, with(f, "edition", "older", "key", "another")), first)
	h.request(maria, "status", stores.NewString("PENDING_REVIEW"))
	after := clara.get("/", http.StatusOK)
	told.Check(t, "pages/steps", before, after, "27", "31")
	h.request(thomas, "status", stores.NewString("PENDING_REVIEW"))
	told.Check(t, "pages/late", before, clara.get("/", http.StatusOK))
	h.request(thomas, "status", stores.NewString("PENDING"))

	// A file that is here already, though the form is not done.
	const submit = "/do/client.submit-document"
	clean := clara.get(submit+"?item=thomas-muller-identity", http.StatusOK)
	told.Check(t, "pages/file-here", clara.upload(submit, http.StatusUnprocessableEntity, form(t, clean, submit), "file-reference", "passport.pdf"), clean, "passport.pdf")

	// A no, and a no after a yes in another tab.
	const person = "/do/client.escalate"
	ask := func() url.Values {
		t.Helper()
		return form(t, clara.post(person, http.StatusOK, form(t, clara.get(person, http.StatusOK), person)), person)
	}
	no := clara.post(person, http.StatusOK, with(ask(), "no", "1"))
	both := ask()
	yes := clara.post(person, http.StatusOK, with(both, "yes", "1"))
	late := clara.post(person, http.StatusOK, with(both, "no", "1"))
	banner := regexp.MustCompile(`(?s)<div class="banner.*?</div>`).FindString // the conversation has the earlier ones too
	told.Check(t, "pages/not-done", banner(no), banner(yes))
	told.Check(t, "pages/not-done", banner(no), banner(late))
	told.Check(t, "pages/done-before", banner(late), banner(no))

	// Two people besides: what waits, for whom, and what became of it.
	empty := nowak.get("/waiting", http.StatusOK)
	const waive = "/do/review.waive"
	waived := func(item string) (proposed, id string) {
		t.Helper()
		f := with(form(t, weber.get(waive, http.StatusOK), waive), "request-id", item, "reason", "The register has it")
		asked := weber.post(waive, http.StatusOK, f)
		proposed = weber.post(waive, http.StatusOK, with(form(t, asked, waive), "yes", "1"))
		told.Check(t, "pages/proposed", proposed, asked)
		return proposed, number(nowak.get("/waiting", http.StatusOK), `href="/waiting/([^"]+)"`)
	}
	const item = "/p/1/item/pierre-dupont-source-of-wealth"
	free := weber.get(item, http.StatusOK)
	_, id := waived("pierre-dupont-source-of-wealth")
	for _, who := range []reader{weber, nowak} { // the item says what was asked for
		if page := who.get(item, http.StatusOK); !strings.Contains(page, `href="/waiting/`+id) || strings.Contains(free, "/waiting/"+id) {
			t.Error("the page of an item does not say what waits for it")
		}
	}
	queue := nowak.get("/waiting", http.StatusOK)
	told.Check(t, "pages/waiting-list", queue, empty, "1")
	told.Check(t, "pages/nothing-waits", empty, queue)
	card := nowak.get("/waiting/"+id, http.StatusOK)
	mine := weber.get("/waiting/"+id, http.StatusOK)
	told.Check(t, "pages/waits-for", mine, card)
	told.Check(t, "pages/also-looking", mine, card, "A. Nowak")
	h.request(pierre, "status", stores.NewString("PENDING_REVIEW"))
	told.Check(t, "pages/stale", nowak.get("/waiting/"+id, http.StatusOK), card)
	h.request(pierre, "status", stores.NewString("PARTIALLY_FULFILLED"))
	half := nowak.post("/waiting/"+id, http.StatusOK, with(form(t, card, "/waiting/"+id), "decide", "agree"))
	other := lang.get("/waiting/"+id, http.StatusOK)
	told.Check(t, "pages/agreed-already", other, card, "A. Nowak")
	whole := lang.post("/waiting/"+id, http.StatusOK, with(form(t, other, "/waiting/"+id), "decide", "agree"))
	told.Check(t, "pages/agreed-waits", half, whole)
	told.Check(t, "pages/agreed", whole, half)
	used := weber.get("/waiting/"+id, http.StatusOK)
	told.Check(t, "pages/settled-used", used, mine)
	told.Check(t, "pages/good-until", mine, used)
	_, id = waived("thomas-muller-identity")
	told.Check(t, "pages/while-same", nowak.get("/waiting/"+id, http.StatusOK), used)
	declined := nowak.post("/waiting/"+id, http.StatusOK, with(form(t, nowak.get("/waiting/"+id, http.StatusOK), "/waiting/"+id), "decide", "decline", "reason", "no"))
	told.Check(t, "pages/declined", declined, whole)
	gone := weber.get("/waiting/"+id, http.StatusOK)
	told.Check(t, "pages/settled-declined", gone, used)
	h.request(maria, "status", stores.NewString("PENDING"))
	_, id = waived("maria-schmidt-date-of-birth")
	h.settles("EXPIRED")
	expired := weber.get("/waiting/"+id, http.StatusOK)
	told.Check(t, "pages/settled-expired", expired, gone)
	told.Check(t, "pages/settled-used", used, expired)

	// A file of an answer, and what the journal counts.
	told.Check(t, "pages/file", weber.post("/do/review.list-parts", http.StatusOK, form(t, weber.get("/do/review.list-parts", http.StatusOK), "/do/review.list-parts")),
		weber.post("/do/review.see-parts", http.StatusOK, form(t, weber.get("/do/review.see-parts", http.StatusOK), "/do/review.see-parts")))
	now := lang.get("/health", http.StatusOK)
	told.Check(t, "pages/per-day-says", now, early, "14", number(now, `In 14 days, (\d+) calls`))
	told.Check(t, "pages/per-verb-says", now, early, "3", "2", "2")
	told.Check(t, "pages/latency-says", now, early, number(now, `(\d+) programs were carried out`))

	// A link is good once.
	fresh := lang.get("/sign-in", http.StatusOK)
	at, _ := url.Parse(h.links["clara"])
	stranger := reader{h, &http.Client{}}
	told.Check(t, "pages/link-over", stranger.read(http.StatusForbidden)(stranger.c.PostForm(h.url("/sign-in/link"), url.Values{"link": {at.Query().Get("link")}})), fresh)

	// The questions of an older palette are shown again, and nothing is taken.
	const questions = "/questions/pierre-dupont-source-of-wealth"
	h.request(pierre, "status", stores.NewString("PARTIALLY_FULFILLED"))
	old := with(form(t, clara.get(questions, http.StatusOK), questions), "value", "SALE")
	h.kill()
	h.edit("palettes/onboarding.yaml", "x-example: a business\n", "x-example: an inheritance\n")
	h.run("migrate", "--yes")
	h.start()
	shown := clara.post(questions, http.StatusConflict, old)
	told.Check(t, "pages/asked-again", shown, clara.get(questions, http.StatusOK))
	if !regexp.MustCompile(`value="SALE"[^>]* checked`).MatchString(shown) {
		t.Errorf("the question is shown as\n%s", shown)
	}
	if text := h.run("log", "show", "--as", "d.lang"); strings.Contains(text, "collection-response") {
		t.Errorf("it was taken before it was shown:\n%s", text)
	}
}
