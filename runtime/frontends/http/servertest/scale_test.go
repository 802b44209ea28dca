package servertest

import (
	"context"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/domains/client"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/http/console"
	"verbatim/runtime/frontends/http/portal"
	"verbatim/runtime/frontends/http/server"
	"verbatim/runtime/frontends/http/server/logins"
	"verbatim/stores"
	"verbatim/stores/sqlite"
	"verbatim/verbs/load"
)

// A counted store counts the questions that a page asks, and the rows that it is given. Entries of the
// journal count as rows.
type counted struct {
	stores.Store
	asks, rows int
}

func (c *counted) count(rows int) { c.asks, c.rows = c.asks+1, c.rows+rows }

func (c *counted) View(ctx context.Context, scope stores.Scope, fn func(stores.Reader) error) error {
	return c.Store.View(ctx, scope, func(r stores.Reader) error { return fn(countedReader{r, c}) })
}

func (c *counted) Journal(ctx context.Context, from, to int64) ([]stores.Entry, error) {
	all, err := c.Store.Journal(ctx, from, to)
	c.count(len(all))
	return all, err
}

func (c *counted) Placed(ctx context.Context, from, to int64) ([]stores.Entry, error) {
	all, err := c.Store.Placed(ctx, from, to)
	c.count(len(all))
	return all, err
}

func (c *counted) Jobs(ctx context.Context, f stores.JobFilter) ([]stores.JobRecord, error) {
	all, err := c.Store.Jobs(ctx, f)
	c.count(len(all))
	return all, err
}

func (c *counted) Principals(ctx context.Context) ([]string, error) {
	all, err := c.Store.Principals(ctx)
	c.count(len(all))
	return all, err
}

type countedReader struct {
	stores.Reader
	c *counted
}

func (r countedReader) Get(ctx context.Context, e *stores.Entity, key stores.Value) (stores.Row, error) {
	r.c.count(1)
	return r.Reader.Get(ctx, e, key)
}

func (r countedReader) Rows(ctx context.Context, e *stores.Entity, keys []stores.Value) ([]stores.Row, error) {
	all, err := r.Reader.Rows(ctx, e, keys)
	r.c.count(len(all))
	return all, err
}

func (r countedReader) Find(ctx context.Context, f stores.Find) ([][]stores.Value, error) {
	all, err := r.Reader.Find(ctx, f)
	r.c.count(len(all))
	return all, err
}

func (r countedReader) Together(ctx context.Context, asks []stores.Ask) error {
	err := r.Reader.Together(ctx, asks)
	for i := range asks {
		r.c.count(len(asks[i].Rows) + len(asks[i].Found))
	}
	return err
}

func (r countedReader) Jobs(ctx context.Context, f stores.JobFilter) ([]stores.JobRecord, error) {
	all, err := r.Reader.Jobs(ctx, f)
	r.c.count(len(all))
	return all, err
}

func (r countedReader) Names(ctx context.Context, q stores.NameQuery) ([]stores.Name, error) {
	all, err := r.Reader.Names(ctx, q)
	r.c.count(len(all))
	return all, err
}

// manyRequests adds requests that wait for an analyst, ten of a company. Each request has a document, and a
// proposal waits for each.
const manyRequests = `
CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %[1]d) SELECT i FROM n;
INSERT INTO "ob-poc_cbus" SELECT printf('1000000c-0000-4000-8000-%%012x', i), 'Fund ' || i FROM n WHERE i %% 10 = 1;
INSERT INTO "ob-poc_entities" SELECT printf('1000000e-0000-4000-8000-%%012x', i), printf('1000000c-0000-4000-8000-%%012x', i - (i - 1) %% 10), 'Person ' || i, 'PERSON', NULL, NULL FROM n;
INSERT INTO kyc_cases SELECT printf('1000ca5e-0000-4000-8000-%%012x', i), printf('1000000c-0000-4000-8000-%%012x', i), 'DOCUMENTS', CASE WHEN i %% 20 = 1 THEN 't.weber' ELSE 'a.nowak' END, 's.keller' FROM n WHERE i %% 10 = 1;
INSERT INTO kyc_entity_workstreams SELECT printf('10000003-0000-4000-8000-%%012x', i), printf('1000ca5e-0000-4000-8000-%%012x', i - (i - 1) %% 10), printf('1000000e-0000-4000-8000-%%012x', i) FROM n;
INSERT INTO kyc_outstanding_requests (request_id, workstream_id, request_type, request_subtype, acceptable_document_types, status, due_date, created_at, updated_at)
	SELECT printf('100004e9-0000-4000-8000-%%012x', i), printf('10000003-0000-4000-8000-%%012x', i), 'DOCUMENT', 'IDENTITY', '["PASSPORT"]', 'PENDING_REVIEW', date('2025-01-01', '+' || (i %% 400) || ' days'), '2024-12-02T09:00:00Z', '2024-12-02T09:00:00Z' FROM n;
INSERT INTO kyc_request_submissions (submission_id, request_id, document_type, file_reference, submitted_at, verdict)
	SELECT printf('1000005b-0000-4000-8000-%%012x', i), printf('100004e9-0000-4000-8000-%%012x', i), 'PASSPORT', 'upload://p' || i, '2024-12-12T14:30:00Z', 'RECEIVED' FROM n;
INSERT INTO verbatim_confirmations (key, id, short_id, asker, person, session, source, script, digest, preview, palette, roles, agreed, stands_on, asked_at, expires, status)
	SELECT printf('c%%08d', i), printf('%%08x-00000000', i), '00000000', 't.weber', 't.weber', '', 'page', 'review.waive :request-id @person-' || i || ' :reason "x"', '', '', '', '["analyst"]', '[""]', '[]', printf('2025-01-%%02dT09:%%02d:00.000000Z', 1 + i %% 28, i %% 60), '2099-01-01T00:00:00.000000Z', 'WAITING' FROM n;
DROP TABLE n;
`

// indexed adds entries of the journal to its index, up to one number.
const indexed = `INSERT INTO verbatim_trail (id, entry, is_first, time, principal, verb, place) SELECT seq || ' 0', seq, 1, time, principal, verb, seq FROM verbatim_journal WHERE seq <= %d`

// A crowd is the bank with many requests, served in this process over a store that counts.
type crowd struct {
	t      *testing.T
	engine *engine.Engine
	store  *counted
	at     *httptest.Server
}

func newCrowd(t *testing.T, requests, entries int) *crowd {
	t.Helper()
	reg, ds := load.Dir(os.DirFS(filepath.Join(root, "verbs/palettes/bank")))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	inner, err := sqlite.Open(filepath.Join(t.TempDir(), "crowd.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = inner.Close() })
	loads := func(text string) {
		t.Helper()
		if err := inner.Load(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	example := func(name string) string {
		text, err := os.ReadFile(filepath.Join(root, "examples/client", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	loads(example("bank.sql"))
	tables := append(engine.Own(), logins.Own()...)
	for _, e := range reg.Entities() {
		tables = append(tables, e.Store)
	}
	if plan, err := inner.Migrate(t.Context(), tables, true); err != nil || len(plan.Problems) > 0 {
		t.Fatal(err, plan.Problems)
	}
	loads(example("people.sql"))
	loads(fmt.Sprintf(manyRequests, requests))
	var happened []stores.Entry
	for i := 1; i <= entries; i++ {
		e := stores.Entry{Time: time.Date(2025, 1, 1+i%28, 9, 0, 0, 0, time.UTC), Principal: "clara", Roles: []string{"analyst"}, Source: "page",
			Verb: "review.accept", Call: fmt.Sprintf("review.accept :request-id @person-%d", i), Outcome: "ok", Changes: "{}"}
		if i%3 == 0 {
			e.Principal = "t.weber"
		}
		if i%1000 == 0 {
			e.Verb = "review.waive"
		}
		happened = append(happened, e)
	}
	if err := inner.Update(t.Context(), stores.Scope{All: true}, func(tx stores.Tx) error {
		return tx.Apply(t.Context(), stores.Batch{Entries: happened})
	}); err != nil {
		t.Fatal(err)
	}
	loads(fmt.Sprintf(indexed, entries-100))
	c := &crowd{t: t, store: &counted{Store: inner}}
	h := &engine.Handlers{Partial: true}
	client.Register(h, reg)
	eng, err := engine.New(reg, c.store, engine.Options{Handlers: h})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := eng.NameRows(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.engine = eng
	c.at = httptest.NewUnstartedServer(nil)
	s, err := server.New(server.Options{Registry: reg, Engine: eng, Store: c.store, URL: "http://" + c.at.Listener.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	site := portal.New(portal.Options{Staff: console.Links(), History: console.History})
	s.Mount(append(site.Routes(), console.Routes(site)...)...)
	c.at.Config.Handler = s
	c.at.Start()
	t.Cleanup(func() { c.at.Close(); s.Close() })
	return c
}

// A cost is what one page costs.
type cost struct{ asks, rows, bytes int }

// as signs somebody in, and returns what reads a page for them.
func (c *crowd) as(who string) func(path string) (string, cost) {
	c.t.Helper()
	jar, _ := cookiejar.New(nil)
	browser := &http.Client{Jar: jar}
	s := c.at.Config.Handler.(*server.Server)
	link, err := s.Link(c.t.Context(), who, "/verbs")
	if err != nil {
		c.t.Fatal(err)
	}
	u, _ := url.Parse(link)
	if r, err := browser.PostForm(c.at.URL+"/sign-in/link", url.Values{"link": {u.Query().Get("link")}}); err != nil || r.StatusCode != http.StatusOK {
		c.t.Fatal(err, r.Status)
	}
	return func(path string) (string, cost) {
		c.t.Helper()
		var took time.Duration
		var text []byte
		for range 2 { // the first look gives names to the rows that it shows
			c.store.asks, c.store.rows = 0, 0
			begun := time.Now()
			r, err := browser.Get(c.at.URL + path)
			if err != nil {
				c.t.Fatal(err)
			}
			text, err = io.ReadAll(r.Body)
			_ = r.Body.Close()
			if took = time.Since(begun); err != nil || r.StatusCode != http.StatusOK {
				c.t.Fatalf("%s: %s %v\n%s", path, r.Status, err, text)
			}
		}
		k := cost{c.store.asks, c.store.rows, len(text)}
		c.t.Logf("%-60s %6d ms %8d bytes %4d statements %6d rows", path, took.Milliseconds(), k.bytes, k.asks, k.rows)
		return string(text), k
	}
}

// G53: what a page asks of the store and shows does not grow with the tables. TEST_SCALE says how
// large the second store is; with -v each page's figures are printed:
//
//	TEST_SCALE="10000 1000000" go test ./runtime/frontends/http/servertest -run TestPagesDoNotGrow -v
func TestPagesDoNotGrow(t *testing.T) {
	t.Parallel()
	requests, entries := 600, 3000
	if scale := os.Getenv("TEST_SCALE"); scale != "" {
		if _, err := fmt.Sscan(scale, &requests, &entries); err != nil {
			t.Fatal(err)
		}
	}
	pages := []struct{ who, path string }{
		{"t.weber", "/p/1"},
		{"t.weber", "/p/1?mine=1"},
		{"t.weber", "/p/1?q=person+1&order=-due_date"},
		{"t.weber", "/p/1?after=person-7-identity"},
		{"t.weber", "/p/1/item/person-7-identity"},
		{"t.weber", "/do/review.accept?item=person-7-identity"},
		{"a.nowak", "/waiting"},
		{"t.weber", "/waiting"},
		{"d.lang", "/journal"},
		{"d.lang", "/journal?who=t.weber&from=2025-01-05"},
		{"d.lang", "/journal?verb=review.accept&before=200"},
	}
	var costs [2][]cost
	for i, c := range []*crowd{newCrowd(t, 200, 300), newCrowd(t, requests, entries)} {
		if err := c.engine.Follow(t.Context()); err != nil {
			t.Fatal(err)
		}
		readers := map[string]func(string) (string, cost){"t.weber": c.as("t.weber"), "d.lang": c.as("d.lang"), "a.nowak": c.as("a.nowak")}
		for _, page := range pages {
			text, k := readers[page.who](page.path)
			costs[i] = append(costs[i], k)
			if k.bytes > 200_000 {
				t.Errorf("%s has %d bytes", page.path, k.bytes)
			}
			if i == 0 && page.who == "a.nowak" { // each proposal is on one page
				seen := map[string]bool{}
				for at := page.path; at != ""; {
					list, _ := readers[page.who](at)
					for _, m := range waiting.FindAllStringSubmatch(list, -1) {
						seen[m[1]] = true
					}
					at = ""
					if m := regexp.MustCompile(`href="(/waiting\?after=[^"]+)" rel="next"`).FindStringSubmatch(list); m != nil {
						at = html.UnescapeString(m[1])
					}
				}
				if len(seen) != 200 {
					t.Errorf("%d proposals are listed, of 200", len(seen))
				}
			}
			if shown := strings.Count(text, "data-row"); shown != 50 && !strings.Contains(page.path, "/do/") {
				t.Errorf("%s shows %d rows", page.path, shown)
			}
		}
	}
	for i, page := range pages {
		if few, many := costs[0][i], costs[1][i]; many.asks > few.asks || many.rows > few.rows+50 { // other names and owners
			t.Errorf("%s: %d statements and %d rows of a small store, %d and %d of a large one", page.path, few.asks, few.rows, many.asks, many.rows)
		}
	}
}
