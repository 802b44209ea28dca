package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const parcels = `openapi: 3.1.0
info: {title: A post office, version: "1"}
paths:
  /parcels/{id}:
    get:
      operationId: showParcel
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses: {"200": {description: ok, content: {application/json: {schema: {$ref: "#/components/schemas/Parcel"}}}}}
  /parcels:
    post:
      operationId: sendParcel
      description: Sends a parcel.
      requestBody: {required: true, content: {application/json: {schema: {$ref: "#/components/schemas/Parcel"}}}}
      responses: {"201": {description: made, content: {application/json: {schema: {$ref: "#/components/schemas/Parcel"}}}}}
components:
  schemas:
    Parcel:
      type: object
      required: [number, toWhom]
      properties: {number: {type: integer}, toWhom: {type: string}}
`

// G30: a palette over an API asks it. A read whose answer is lost is asked for again; what a write did
// whose answer is lost is unknown, and it is sent once; an operation that has changed is not called.
func TestAnAPICarriesVerbsOut(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	lose := 0 // answers to lose
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, strings.TrimSpace(r.Method+" "+r.RequestURI+" "+string(body)))
		if lose > 0 {
			lose--
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"toWhom": "Ada", "number": 9007199254740993}`)
	}))
	t.Cleanup(web.Close)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	put(t, at("post.yaml"), []byte(parcels))
	put(t, at("servers.yaml"), []byte("servers:\n  post: {api: post.yaml, url: \""+web.URL+"/v1\", local: true}\n"))
	verbatim := func(want int, args ...string) (string, string) {
		t.Helper()
		var out, said bytes.Buffer
		code := run(context.Background(), world{load: loadOnce, args: args, in: strings.NewReader(""), out: &out, err: &said, env: func(string) string { return "" }, now: func() time.Time { return morning }, random: rand.Reader, terminal: openTerminal})
		if code != want {
			t.Fatalf("%v: exit %d: %s%s", args, code, &out, &said)
		}
		return out.String(), said.String()
	}
	sent := func() []string {
		mu.Lock()
		defer mu.Unlock()
		all := asked
		asked = nil
		return all
	}
	verbatim(exitDone, "new", "--palettes", at("verbs"), "--from", at("post.yaml"))
	if out, _ := verbatim(exitDone, "lint", at("verbs"), "--servers", at("servers.yaml"), "--accept"); !strings.Contains(out, "2 verbs, 0 errors") {
		t.Error(out)
	}
	put(t, at("people.sql"), []byte("INSERT INTO verbatim_principal (name, label) VALUES ('ada', 'Ada');\nINSERT INTO verbatim_grant (principal, role) VALUES ('ada', 'post-user');\n"))
	verbatim(exitDone, "migrate", "--palettes", at("verbs"), "--store", at("verbatim.db"), "--data", at("people.sql"))
	does := func(want int, key, line string) (string, string) {
		t.Helper()
		put(t, at("call.dsl"), []byte(line+"\n"))
		return verbatim(want, "run", "--palettes", at("verbs"), "--store", at("verbatim.db"), "--servers", at("servers.yaml"), "--as", "ada", "--yes", "--key", key, at("call.dsl"))
	}
	does(exitDone, "0", `post.show-parcel :id "a b"`)
	usual := len(sent())
	lose = 1
	if out, _ := does(exitDone, "a", `post.show-parcel :id "a b"`); !strings.Contains(out, "9007199254740993") {
		t.Error(out)
	}
	if got := sent(); len(got) != usual+1 || got[0] != "GET /v1/parcels/a%20b" || got[1] != got[0] {
		t.Errorf("it was asked %q", got)
	}
	does(exitDone, "b", `post.send-parcel :number 9007199254740993 :to-whom "Ada"`)
	if got := sent(); len(got) != 1 || got[0] != `POST /v1/parcels {"number":9007199254740993,"toWhom":"Ada"}` {
		t.Errorf("it was asked %q", got)
	}
	mu.Lock()
	lose = 1
	mu.Unlock()
	for range 2 { // and again under the same key
		if _, said := does(exitSystem, "c", `post.send-parcel :number 1 :to-whom "Ben"`); !strings.Contains(said, "unknown[tool-unknown]: sendParcel of post was asked") {
			t.Error(said)
		}
	}
	if got := sent(); len(got) != 1 {
		t.Errorf("it was asked %q", got)
	}
	put(t, at("post.yaml"), []byte(strings.Replace(parcels, "Sends a", "Burns a", 1)))
	if _, said := does(exitRefused, "d", `post.send-parcel :number 1 :to-whom "Cid"`); !strings.Contains(said, "tool-changed") {
		t.Error(said)
	}
	// An author cannot have a request repeated that the API would act upon twice.
	text, err := os.ReadFile(at("verbs/post.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, at("verbs/post.yaml"), bytes.Replace(text, []byte("      name: sendParcel\n"), []byte("      name: sendParcel\n      idempotent: true\n"), 1))
	if out, said := verbatim(exitInput, "lint", at("verbs"), "--servers", at("servers.yaml"), "--accept"); !strings.Contains(out+said, "sends no key under which sendParcel would act once") {
		t.Error(out, said)
	}
	// No description is read from outside of the folder.
	put(t, filepath.Join(t.TempDir(), "post.yaml"), []byte(parcels))
	if err := os.Symlink("/etc/hostname", at("link.yaml")); err != nil {
		t.Fatal(err)
	}
	put(t, at("servers.yaml"), []byte("servers:\n  post: {api: link.yaml, url: \""+web.URL+"\", local: true}\n"))
	if out, said := verbatim(exitInput, "lint", at("verbs"), "--servers", at("servers.yaml")); !strings.Contains(out+said, "escapes") {
		t.Error(out, said)
	}
	if got := sent(); len(got) > 0 {
		t.Errorf("it was asked %q", got)
	}
}
