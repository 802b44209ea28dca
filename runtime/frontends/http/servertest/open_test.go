package servertest

import (
	"context"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
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
)

// A reader reads pages without a script, signed in as somebody.
type reader struct {
	h *house
	c *http.Client
}

func (h *house) reader(who string) reader {
	h.t.Helper()
	jar, _ := cookiejar.New(nil)
	r := reader{h, &http.Client{Jar: jar}}
	at, err := url.Parse(h.links[who])
	if err != nil {
		h.t.Fatal(err)
	}
	r.post("/sign-in/link", http.StatusOK, url.Values{"link": {at.Query().Get("link")}})
	return r
}

func (r reader) post(path string, status int, form url.Values) string {
	r.h.t.Helper()
	return r.read(status)(r.c.PostForm(r.h.url(path), form))
}

func (r reader) get(path string, status int) string {
	r.h.t.Helper()
	return r.read(status)(r.c.Get(r.h.url(path)))
}

func (r reader) read(status int) func(*http.Response, error) string {
	return func(a *http.Response, err error) string {
		r.h.t.Helper()
		if err != nil {
			r.h.t.Fatal(err)
		}
		defer a.Body.Close()
		text, err := io.ReadAll(a.Body)
		if err != nil || a.StatusCode != status {
			r.h.t.Fatalf("%s: %s, want %d: %v\n%s", a.Request.URL, a.Status, status, err, text)
		}
		return string(text)
	}
}

// lost puts a request to a tool into the store whose answer was lost, as the engine notes it, and a
// notice that no worker has taken.
func (h *house) lost(entry int64, principal string, due time.Time) {
	h.t.Helper()
	ctx := context.Background()
	store, err := sqlite.Open(filepath.Join(h.dir, "house.db"))
	if err != nil {
		h.t.Fatal(err)
	}
	defer store.Close()
	own := engine.Own()
	e := own[slices.IndexFunc(own, func(e *stores.Entity) bool { return e.Name == "verbatim.attempt" })]
	at := time.Now().Add(-2 * time.Hour)
	row := map[string]stores.Value{"key": stores.NewString(fmt.Sprint("lost ", entry)), "principal": stores.NewString(principal), "text": stores.NewString("x"), "sent": stores.NewString("x"), "tool": stores.NewString("bank pay"),
		"status": stores.NewString(engine.AttemptUnknown), "time": stores.NewTime(at), "same": stores.NewString("x"), "first": stores.NewInt(entry), "ended": stores.NewString("open")}
	insert := stores.Change{Op: stores.Insert, Entity: e, Key: row["key"]}
	for i, f := range e.Fields {
		if v, ok := row[f.Name]; ok && i != e.Key {
			insert.Set = append(insert.Set, stores.Assign{Field: i, Value: v})
		}
	}
	notice := stores.Job{ID: fmt.Sprint("notice ", entry), Kind: engine.JobNotice, At: due, Principal: principal, Payload: `{"body":{},"kind":"notify","target":"assigned-analyst","time":"2025-01-01T00:00:00Z","v":1}`}
	err = store.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
		return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{insert}, Jobs: []stores.Job{notice}})
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

// ends notes that the other system did a request, and that a notice was given up.
func (h *house) ends(request, notice string) {
	h.t.Helper()
	h.sets("verbatim.attempt", stores.NewString(request), map[string]stores.Value{"status": stores.NewString(engine.AttemptDone)})
	store, err := sqlite.Open(filepath.Join(h.dir, "house.db"))
	if err != nil {
		h.t.Fatal(err)
	}
	defer store.Close()
	err = store.Work(context.Background(), stores.Shift{Worker: "test", Kinds: []string{engine.JobNotice}, Once: true, Concurrency: 1, Timeout: time.Minute, Clock: func() time.Time { return time.Now().Add(3 * time.Hour) },
		Run: func(_ context.Context, run stores.Run) error {
			if run.ID == notice {
				return &stores.Unfinished{State: stores.JobDead, Note: "nowhere"}
			}
			return &stores.Unfinished{State: stores.JobWaiting, After: 9 * time.Hour, Note: "later"}
		}})
	if err != nil {
		h.t.Fatal(err)
	}
}

// G61: the console lists the calls whose outcome nobody knows, to whoever made them and to who keeps
// the journal, and lets them settle each: done, not done, or to be done again; the page links both
// entries. G10: what has not left is told as not sent yet. All of it without a script.
func TestTheConsoleSettlesWhatIsUnknown(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for i := range int64(3) {
		h.lost(i+1, "t.weber", time.Now().Add(2*time.Hour))
	}
	weber, nowak, lang := h.reader("t.weber"), h.reader("a.nowak"), h.reader("d.lang")
	others := nowak.get("/open", http.StatusOK)
	if strings.Contains(others, "bank pay") || !strings.Contains(others, "found none that you can see") || strings.Contains(others, "not sent yet") {
		t.Errorf("somebody else sees\n%s", others)
	}
	nowak.post("/open/1", http.StatusConflict, url.Values{"outcome": {"done"}})
	if text := lang.get("/open", http.StatusOK); strings.Count(text, "bank pay") != 3 || strings.Count(text, "not sent yet</td>") != 3 || !strings.Contains(text, "0 of 12") {
		t.Errorf("who keeps the journal sees\n%s", text)
	}
	open := lang.get("/open", http.StatusOK)
	told.Check(t, "pages/unknown-list", others, open, "0")
	told.Check(t, "pages/none-unknown", others, open)
	told.Check(t, "pages/unsent-list", open, others, "3")
	told.Check(t, "pages/unsent", open, others)
	h.ends("lost 1", "notice 2")
	ended := lang.get("/open", http.StatusOK)
	told.Check(t, "pages/given-up", ended, open)
	told.Check(t, "pages/alone-call", ended, open)
	told.Check(t, "pages/unknown-call", open, others)
	weber.post("/open/1", http.StatusBadRequest, url.Values{"outcome": {"perhaps"}})
	weber.post("/open/x", http.StatusNotFound, url.Values{"outcome": {"done"}})
	for i, how := range []string{"done", "not-done", "again"} {
		who := []reader{weber, weber, lang}[i]
		text := who.post(fmt.Sprint("/open/", i+1), http.StatusOK, url.Values{"outcome": {how}})
		told.Check(t, "pages/settled-as", text, ended, fmt.Sprint(i+1))
		links := regexp.MustCompile(`href="/journal/(\d+)"`).FindAllStringSubmatch(text, -1)
		if len(links) < 2 || links[0][1] != fmt.Sprint(i+1) {
			t.Fatalf("%s: it links %v\n%s", how, links, text)
		}
		if entry := lang.get("/journal/"+links[1][1], http.StatusOK); !strings.Contains(entry, fmt.Sprintf("verbatim.settle :entry %d :outcome &#34;%s&#34;", i+1, how)) {
			t.Errorf("%s: the entry says\n%s", how, entry)
		}
		who.post(fmt.Sprint("/open/", i+1), http.StatusConflict, url.Values{"outcome": {how}}) // it is settled once
	}
	if text := lang.get("/open", http.StatusOK); strings.Contains(text, "bank pay") {
		t.Errorf("it is still open:\n%s", text)
	}
}

// G10: the first press of a button is not told as done before, whatever the row that it is about.
func TestTheFirstPressIsNotARepetition(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(h *house) {
		nowhere := filepath.Join(h.dir, "nowhere.json")
		if err := os.WriteFile(nowhere, []byte(`{"channels": {}, "routes": {}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		h.env = []string{"VERBATIM_NOTIFY=" + nowhere}
	})
	h.lost(1, "t.weber", time.Now())
	otto := h.reader("otto")
	for end := time.Now().Add(30 * time.Second); !strings.Contains(otto.get("/", http.StatusOK), "no-route") && time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
	}
	page := otto.get("/do/system.retry-job?"+url.Values{"item": {"notice 1"}}.Encode(), http.StatusOK)
	form := url.Values{}
	for _, m := range regexp.MustCompile(`<input[^>]* name="([^"]*)"[^>]* value="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		form.Set(m[1], html.UnescapeString(m[2]))
	}
	text := otto.post("/do/system.retry-job", http.StatusOK, form)
	if strings.Contains(text, "done already") || !strings.Contains(text, "waiting job") && !strings.Contains(text, "Done:") {
		t.Errorf("the first press is told as\n%s\n%v\n%s", text, form, page)
	}
	if text := otto.post("/do/system.retry-job", http.StatusOK, form); !strings.Contains(text, "done already") {
		t.Errorf("the same press again is told as\n%s", text)
	}
}
