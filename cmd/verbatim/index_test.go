package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"verbatim/stores/postgres/pgtest"
)

const searchedPalette = `domain: kb
roles: [{name: reader, description: Somebody who reads.}]
entities:
  shelf:
    managed: true
    key: shelf_id
    scope: self
    label: "{name}"
    fields: {name: {type: string, required: true}}
  note:
    managed: true
    key: note_id
    scope: shelf
    label: "note"
    search: {text: [text], meaning: [text]}
    fields: {shelf: {type: ref, ref-type: shelf, required: true}, text: {type: string, required: true}}
verbs:
  - verb: write
    description: Write a note.
    roles: [reader]
    args: [{name: shelf-id, type: ref, ref-type: shelf, required: true}, {name: text, type: string, required: true}]
    effects: [{creates: note, set: {shelf: shelf-id, text: text}}]
  - verb: find
    description: Find notes.
    roles: [reader]
    args: [{name: about, type: string, required: true}]
    reads: {entity: note, matching: about, limit: 3, fields: {text: text}}
`

// An embeddings endpoint that knows two words for the same thing, and can be down.
type embeddings struct {
	down  atomic.Bool
	texts atomic.Int64
}

func (p *embeddings) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Model string
		Input []string
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || p.down.Load() || r.URL.Path != "/v1/embeddings" {
		http.Error(w, `{"error":{"message":"no"}}`, http.StatusBadRequest)
		return
	}
	p.texts.Add(int64(len(asked.Input)))
	data := []map[string]any{}
	for i, text := range asked.Input {
		v := []float64{0, 1}
		if strings.Contains(text, "staff") || strings.Contains(text, "employees") {
			v = []float64{1, 0}
		}
		data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": v})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "model": asked.Model, "data": data, "usage": map[string]int{"prompt_tokens": 1, "total_tokens": 1}})
}

// M1, M10: the index of what is searched is compared with the rows and made anew by
// command, on both stores; vectors are made by a worker; and an answer says what it was
// found by, whatever the model does.
func TestAnIndexIsVerifiedAndMadeAnew(t *testing.T) {
	t.Parallel()
	for _, on := range []string{"sqlite", "postgres"} {
		t.Run(on, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			store, owner, grants := filepath.Join(dir, "kb.db"), filepath.Join(dir, "kb.db"), []string(nil)
			var server pgtest.DB
			if on == "postgres" {
				server = pgtest.Database(t)
				store, owner, grants = server.App, server.Owner, []string{"--grant-to", "verbatim_app"}
			}
			for name, text := range map[string]string{"kb.yaml": searchedPalette, "people.sql": `INSERT INTO shelf (shelf_id, name) VALUES ('00000001-0000-4000-8000-000000000001', 'A');
INSERT INTO verbatim_principal (name) VALUES ('ada');
INSERT INTO verbatim_grant (principal, role, entity, key) VALUES ('ada', 'reader', 'shelf', '00000001-0000-4000-8000-000000000001');`} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			models := &embeddings{}
			endpoint := httptest.NewServer(models)
			t.Cleanup(endpoint.Close)
			env := map[string]string{"VERBATIM_AS": "ada", "XDG_STATE_HOME": dir}
			does := func(want int, script string, args ...string) string {
				t.Helper()
				var out bytes.Buffer
				at := store
				if args[0] == "migrate" {
					at = owner
				}
				args = append(args, "--palettes", dir, "--store", at)
				if script != "" {
					args = append(args, "-")
				}
				code := run(context.Background(), world{load: loadOnce, args: args, in: strings.NewReader(script), out: &out, err: &out, env: func(name string) string { return env[name] }, now: time.Now, random: rand.Reader,
					terminal: func(world) (io.ReadCloser, bool) { return nil, false }})
				if code != want {
					t.Fatalf("%v: exit %d, want %d\n%s", args, code, want, &out)
				}
				return out.String()
			}
			says := func(got, want string) {
				t.Helper()
				if !strings.Contains(got, want) {
					t.Errorf("%q is not in\n%s", want, got)
				}
			}
			does(0, "", append([]string{"migrate"}, grants...)...)
			does(0, "", append([]string{"migrate", "--data", filepath.Join(dir, "people.sql")}, grants...)...)
			does(0, `kb.write :shelf-id @a :text "The staff numbers 240" kb.write :shelf-id @a :text "Rent of the hall"`, "run")
			says(does(0, "", "index", "verify"), "ok   note: 2 rows\n")
			says(does(0, `kb.find :about "halls"`, "run"), "no model compares meanings here")

			// What another program writes is not in the index until it is made anew.
			const theirs = "UPDATE note SET text = 'The staff numbers 250' WHERE text LIKE 'The%'"
			if on == "postgres" {
				server.Run(t, theirs)
			} else {
				db, err := sqlite.OpenConn(store)
				if err != nil {
					t.Fatal(err)
				}
				if err := sqlitex.ExecuteScript(db, theirs, nil); err != nil {
					t.Fatal(err)
				}
				db.Close()
			}
			says(does(1, "", "index", "verify"), "!    note: 2 rows: 1 stale")
			says(does(0, "", "index", "rebuild"), "ok   note: 2 rows\n")
			says(does(0, `kb.find :about "250"`, "run"), "250")

			env["VERBATIM_EMBED"] = "vectors-1"
			says(does(2, "", "work", "--once"), "no endpoint is known")
			env["VERBATIM_EMBED_URL"] = endpoint.URL + "/v1"
			does(0, "", "work", "--once")
			if n := models.texts.Load(); n != 2 {
				t.Errorf("%d texts became vectors, want 2", n)
			}
			does(0, "", "work", "--once")
			if n := models.texts.Load(); n != 2 {
				t.Errorf("vectors are made again: %d", n)
			}
			got := does(0, `kb.find :about "employees"`, "run")
			if says(got, "staff"); strings.Contains(got, "found by") {
				t.Errorf("a model compared meanings, and it says\n%s", got)
			}
			says(does(0, "", "index", "verify"), "ok   note: 2 rows\n")

			models.down.Store(true)
			got = does(0, `kb.find :about "employees hall"`, "run")
			says(got, "found by words alone: the model that compares meanings did not answer")
			says(got, "Rent of the hall")
		})
	}
}
