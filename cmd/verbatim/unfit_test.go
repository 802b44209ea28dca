package main

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"verbatim/stores/postgres/pgtest"
)

// booksOf is a palette with a field, and what else a book has.
func booksOf(field, more string) string {
	return `domain: shelf
roles: [{name: clerk, sees: all}]
entities:
  book:
    table: shelf.books
    key: book_id
    managed: true
    scope: self
    label: "{title}"
    fields:
      title: {type: string, required: true}
      ` + field + `
` + more + `verbs:
  - verb: add
    roles: [clerk]
    args: [{name: title, type: string, required: true}]
    effects: [{creates: book, set: {title: title}}]
`
}

// A server whose store lacks what verbs of its palettes need is not ready: at the start, and once another migrates
// the store forward under it; the log says what is missing, once. Older palettes do not add an empty column of the
// former name. W2, W3
func TestAServerOfOtherPalettesIsNotReady(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, h *house) {
		var owner, admin []string
		for _, v := range h.env {
			if at, ok := strings.CutPrefix(v, "VERBATIM_STORE="); ok {
				if owner == nil {
					owner = []string{"--store", at, "--grant-to", "verbatim_app"}
				}
				admin = []string{elsewhereAt(t, at, "", "postgres")}
			}
		}
		palettes := func(name, text string) string {
			dir := filepath.Join(h.dir, name)
			if err := os.MkdirAll(dir, 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "shelf.yaml"), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			return dir
		}
		first := palettes("first", booksOf("genre: {type: string}", ""))
		second := palettes("second", booksOf("genre: {type: string}", "      due: {type: string}\n"))
		third := palettes("third", booksOf("kind: {type: string, renamed-from: genre}", "      due: {type: string}\n"))
		migrate := func(palettes string, more ...string) string {
			return h.do(append(append([]string{"migrate", "--palettes", palettes}, owner...), more...)...)
		}
		migrate(first)

		s := h.serve("--no-work", "--palettes", second)
		v := newVisitor(t)
		ready := func(want string) {
			t.Helper()
			for end := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
				status, body := v.get(s.url + "/readyz")
				if strings.HasPrefix(body, want) && (status == http.StatusOK) == strings.HasPrefix(want, "ready") {
					return
				}
				if time.Now().After(end) {
					t.Fatalf("/readyz: %d %s, and not %q\n%s", status, body, want, s.said.String())
				}
			}
		}
		if status, body := v.get(s.url + "/readyz"); status != http.StatusServiceUnavailable || body != "not migrated\n" {
			t.Errorf("before it is migrated: %d %s", status, body)
		}
		said := func(s *running, all ...string) {
			t.Helper()
			for end := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) { // it is read behind the answers
				log := s.said.String()
				if !slices.ContainsFunc(all, func(text string) bool { return !strings.Contains(log, text) }) {
					return
				}
				if time.Now().After(end) {
					t.Fatalf("the log does not say %q:\n%s", all, s.said.String())
				}
			}
		}
		said(s, "books.due", `"next":"verbatim migrate`)
		migrate(second)
		ready("ready\n")

		if len(admin) > 0 {
			db := pgtest.DB{Admin: admin[0]}
			db.Run(t, `REVOKE SELECT ON shelf.books FROM verbatim_app, verbatim_app_queries`)
			ready("not migrated\n")
			migrate(second)
			ready("ready\n")
			// A server finds what only writing needs when it starts.
			db.Run(t, `REVOKE INSERT ON shelf.books FROM verbatim_app`)
			db.Run(t, `DO $$ BEGIN IF has_table_privilege('verbatim_app', 'shelf.books', 'INSERT') THEN RAISE EXCEPTION 'it may'; END IF; END $$`)
			begun := h.serve("--no-work", "--palettes", second)
			if status, body := v.get(begun.url + "/readyz"); status != http.StatusServiceUnavailable || body != "not migrated\n" {
				t.Errorf("without the right to add: %d %s", status, body)
			}
			said(begun, "migrate --grant-to")
			begun.stop()
			migrate(second)
		}

		h.fails("at that moment", append([]string{"migrate", "--check", "--palettes", third}, owner[:min(len(owner), 2)]...)...) // roles of the example have no palette here
		migrate(third, "--yes")
		ready("not migrated\nthis store was migrated by newer palettes (entry ")
		h.fails("migrated-forward", append([]string{"migrate", "--yes", "--palettes", second}, owner...)...)
		h.fails("migrated-forward", append([]string{"migrate", "--check", "--palettes", second}, owner...)...)
		migrate(third)
		s.stop()
		if log := s.said.String(); strings.Count(log, `"msg":"not ready"`) < 2 || strings.Count(log, `"msg":"not ready"`) > 4 || !strings.Contains(log, "field genre of book is called kind since entry ") {
			t.Errorf("the log says\n%s", log)
		}
	})
}

// The database of another application is named, and is not to be migrated without a look; and of a URL whose password
// has a sign that ends it nothing is shown. W18, W22
func TestTheDatabaseOfOthersIsNamed(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	db := pgtest.Database(t)
	db.Run(t, "CREATE TABLE theirs (n int)", "CREATE TABLE also (n int)")
	h.env = append(h.env, "VERBATIM_STORE="+db.App)
	h.fails("holds no store of Verbatim, but 2 tables of others: is it the right one?", "run", "--as", "clara", "accountant.dsl")
	for _, url := range []string{"postgres://app:se@cr/et@db.example/bank", "postgres://app:secr/et@db.example/bank", "postgres://app:se@cret@db.example/bank", "postgres://app:se#cret@db.example/bank", "postgres://app:se?cret@db.example/bank"} {
		if at, why := addressOf(url); !strings.Contains(why, "are escaped") || strings.Contains(why, "cr") || at.url != "" {
			t.Errorf("%s: %q %+v", url, why, at)
		}
	}
	for _, url := range []string{db.App, "postgres://app:p%40ss@db.example/bank?options=a@b", "postgres:///bank?host=/run&user=app@bank", "postgres://app@db.example:5432/bank"} {
		if _, why := addressOf(url); why != "" {
			t.Errorf("%s: %q", url, why)
		}
	}
}
