package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// operatorKeys are the keys that a server is set up with, in its environment.
var operatorKeys = map[string]string{
	"VERBATIM_MODEL_KEY":         "canary-model-7q2vx9",
	"VERBATIM_JUDGE_KEY":         "canary-judge-7q2vx9",
	"VERBATIM_OPENID_SECRET":     "canary-openid-7q2vx9",
	"OTEL_EXPORTER_OTLP_HEADERS": "authorization=canary-spans-7q2vx9",
	"AWS_ACCESS_KEY_ID":          "canaryfilesid7q2vx9",
	"AWS_SECRET_ACCESS_KEY":      "canary-files-7q2vx9",
	"FLOW_SECRET":                "whsec_" + base64.StdEncoding.EncodeToString([]byte("canary-webhook-secret-7q2vx9")),
	"DATABASE":                   "canary-database-7q2vx9", // stands in addresses of stores
}

// A listener searches outputs for the keys, as they are and in base64.
type listener struct {
	t     *testing.T
	spelt map[string]string // by a spelling of a key, whose it is
	heard int               // how many texts
}

func newListener(t *testing.T) *listener {
	l := &listener{t: t, spelt: map[string]string{}}
	for name, key := range operatorKeys {
		if _, value, ok := strings.Cut(key, "="); ok && name == "OTEL_EXPORTER_OTLP_HEADERS" {
			key = value
		}
		l.add(name, key)
	}
	return l
}

func (l *listener) add(name, key string) {
	l.spelt[key] = name
	// Three bytes are four letters, so a key inside a longer text has three spellings; the letters
	// at both ends also depend on what is beside it.
	for shift := range 3 {
		text := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + key))
		l.spelt[text[4:len(text)-4]] = name + " in base64"
	}
}

func (l *listener) hears(what, text string) {
	l.t.Helper()
	l.heard++
	for spelling, name := range l.spelt {
		if strings.Contains(text, spelling) {
			l.t.Errorf("%s tells %s:\n%.2000s", what, name, text)
		}
	}
}

// tellsAll is an endpoint of any protocol that refuses, with a status, and says in its refusal
// everything that it was sent.
func tellsAll(t *testing.T, status int) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Key", r.Header.Get("Authorization"))
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"type": "denied", "message": fmt.Sprintf("denied: %s %v %s", r.URL, r.Header, body)}})
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// SAFE-L1: keys of the operator stand nowhere in what the program says, logs or keeps, though the
// other side of each connection answers with all that it was sent, or is not there, or an address
// cannot be read.
func TestKeysOfTheOperatorAreSilent(t *testing.T) {
	t.Parallel()
	l, h := newListener(t), newHouse(t)
	said := func(more map[string]string, args ...string) {
		env := map[string]string{"VERBATIM_PALETTES": filepath.Join(h.dir, "verbs"), "VERBATIM_STORE": filepath.Join(h.dir, "verbatim.db"), "XDG_STATE_HOME": h.dir}
		maps.Copy(env, operatorKeys)
		maps.Copy(env, more)
		var out bytes.Buffer
		run(t.Context(), world{load: loadOnce, args: args, in: strings.NewReader("what is still missing?\n"), out: &out, err: &out, env: func(name string) string { return env[name] },
			now: func() time.Time { return morning }, terminal: func(world) (io.ReadCloser, bool) { return nil, false }}) // most of it fails, as it should
		l.hears("verbatim "+strings.Join(args, " "), out.String())
	}
	for name, key := range operatorKeys {
		h.env = append(h.env, name+"="+key)
	}
	h.people()
	eval, note := filepath.Join(h.dir, "eval.yaml"), filepath.Join(h.dir, "note.dsl")
	if err := os.WriteFile(eval, []byte("cases:\n- id: a\n  as: clara\n  turns:\n  - say: hello\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	for _, status := range []int{http.StatusOK, http.StatusUnauthorized, http.StatusBadRequest, http.StatusInternalServerError} {
		peer := tellsAll(t, status)
		for _, args := range [][]string{
			{"chat", "--as", "clara", "--model", "m", "--base-url", peer, "--explain-turn", "--record", filepath.Join(h.dir, fmt.Sprintf("asked-%d.jsonl", status))},
			{"chat", "--as", "clara", "--model", "m", "--base-url", peer, "--json", "--events"},
			{"eval", eval, "--model", "m", "--base-url", peer, "--judge", "j", "--judge-url", peer},
			{"index", "build", "--model", "m", "--base-url", peer},
			{"work", "--once"},
		} {
			notify, files := filepath.Join(h.dir, fmt.Sprintf("notify-%d.json", status)), "s3://bank/?path-style=true&endpoint="+peer
			routes := fmt.Sprintf(`{"channels": {"flow": {"kind": "webhook", "url": %q, "secret-env": "FLOW_SECRET", "private": true}}, "routes": {"*": {"channel": "flow"}}}`, peer)
			if err := os.WriteFile(notify, []byte(routes), 0o600); err != nil {
				t.Fatal(err)
			}
			said(map[string]string{"VERBATIM_NOTIFY": notify, "VERBATIM_FILES": files, "VERBATIM_TRACE": "1"}, args...)
		}
	}

	// Addresses with a password in them, which cannot be read, or where nobody is.
	key := operatorKeys["DATABASE"]
	for _, store := range []string{
		"postgres://u:" + key + "@127.0.0.1:1/db", "postgres://u:" + key + "@127.0.0.1:port/db", "postgres://u:" + key + "%zz@127.0.0.1/db",
		"postgres://u@127.0.0.1:1/db?password=" + key, "postgres://u:" + key + "@127.0.0.1:1/db?sslmode=wrong", "postgres://u:" + key + "@127.0.0.1:1/db?pool_max_conns=x",
		"host=127.0.0.1 port=1 user=u password=" + key, "postgres:u:" + key + "@h", "mysql://u:" + key + "@h/d",
	} {
		for _, args := range [][]string{
			{"run", "--as", "clara", note}, {"migrate"}, {"log", "verify"}, {"serve", "--listen", "127.0.0.1:0"}, {"work", "--once"}, {"backup", filepath.Join(h.dir, "copy.db")}, {"chat", "--as", "clara"},
		} {
			said(nil, append(args, "--store", store, "--json")...) // what fails is told in words too
		}
		said(nil, "new", "--from", store)
		said(map[string]string{"VERBATIM_REPLICA": store}, "serve", "--listen", "127.0.0.1:0", "--store", "postgres://127.0.0.1:1/db")
	}
	for _, url := range []string{"http://u:" + key + "@127.0.0.1:1/v1", "http://u:" + key + "%zz@h/v1", "u:" + key + "@h", "http://127.0.0.1:1/v1?key=" + key} {
		said(nil, "chat", "--as", "clara", "--model", "m", "--base-url", url)
		said(nil, "index", "build", "--model", "m", "--base-url", url)
		said(nil, "new", "--from", url)
		said(map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": url, "VERBATIM_OPENID": url}, "serve", "--listen", "nowhere")
	}

	// A server whose model, provider of sign-ins and collector of spans all answer so.
	peer := tellsAll(t, http.StatusUnauthorized)
	h.env = append(h.env, "OTEL_EXPORTER_OTLP_ENDPOINT="+peer, "VERBATIM_OPENID="+peer, "VERBATIM_OPENID_CLIENT=verbatim", "VERBATIM_TRACE=1")
	s := h.serve("--log", "info", "--sign-in", "clara", "--sign-in", "ada", "--model", "m", "--base-url", peer)
	clara, ada := newVisitor(t).comes(s, "clara"), newVisitor(t).comes(s, "ada")
	for _, who := range []*visitor{clara, ada, newVisitor(t)} {
		for _, path := range []string{"/", "/metrics", "/readyz", "/healthz", "/sign-in", "/sign-in/openid", "/sign-in/openid/back?code=x&state=y", "/v1/verbs", "/v1/openapi.json", "/console", "/nowhere"} {
			status, body := who.get(s.url + path)
			l.hears(fmt.Sprint("GET ", path, ": ", status), body)
		}
		_, body, _ := who.post(s.url+"/v1/sessions/portal/turns", "", map[string]string{"text": "good morning, how are you today"})
		l.hears("a turn", body)
		_, body = who.form(s.url+"/sign-in/link", url.Values{"link": {"x"}})
		l.hears("a link that is none", body)
	}
	s.stop()
	l.hears("the log of the server", s.said.String())
	for name := range maps.Values(s.links) {
		if strings.Contains(s.said.String(), name) {
			t.Error("the log of the server tells a link that signs somebody in")
		}
	}

	// Then the files that it wrote.
	kept := 0
	err := filepath.WalkDir(h.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Base(filepath.Dir(name)) == ".bin" {
			return err
		}
		text, err := os.ReadFile(name)
		kept++
		l.hears("the file "+name, string(text))
		l.hears("a name of a file", name)
		return err
	})
	if err != nil || kept < 20 || l.heard < 250 {
		t.Errorf("%d files and %d texts were read: %v", kept, l.heard, err)
	}
}
