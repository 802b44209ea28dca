package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// environed runs the program with an environment, and ends it once it serves.
func environed(t *testing.T, environ []string, args ...string) (said string, code int) {
	t.Helper()
	ctx, end := context.WithTimeout(t.Context(), time.Minute)
	defer end()
	env := func(name string) string {
		for _, set := range slices.Backward(environ) {
			if of, value, _ := strings.Cut(set, "="); of == name {
				return value
			}
		}
		return ""
	}
	out := &whenServing{then: end}
	code = run(ctx, world{load: loadOnce, args: args, in: strings.NewReader(""), out: out, err: &out.Buffer, env: env, environ: environ, now: time.Now, random: rand.Reader})
	return out.String(), code
}

// A whenServing calls then when a server says that it serves.
type whenServing struct {
	bytes.Buffer
	then func()
}

func (w *whenServing) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte("serving ")) {
		w.then()
	}
	return w.Buffer.Write(b)
}

// What serve ends with, doctor names with its variable: for each variable of the program in turn, with
// values that mean nothing to it.
func TestDoctorTriesWhatServeDiesOf(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "a.db")
	usual := []string{"VERBATIM_PALETTES=../../verbs/palettes/manda", "VERBATIM_STORE=" + file, "STATE_DIRECTORY=" + dir, "VERBATIM_LISTEN=127.0.0.1:0"}
	if said, code := environed(t, usual, "migrate"); code != exitDone {
		t.Fatal(said)
	}
	died := 0
	for _, name := range slices.Sorted(maps.Keys(variables())) {
		for _, value := range []string{"0", "no such/thing"} {
			if name == "VERBATIM_FILES" {
				continue // any name is one of a folder, which is made
			}
			environ := append(slices.Clone(usual), name+"="+value)
			said, code := environed(t, environ, "serve")
			if code == exitDone {
				continue
			}
			died++
			told, examined := environed(t, environ, "doctor")
			if examined == exitDone || !strings.Contains(told, "fails") && !strings.HasPrefix(told, "verbatim: ") {
				t.Errorf("serve dies of %s=%s:\n%s\nand doctor says\n%s", name, value, said, told)
			}
			about := name
			switch name {
			case "VERBATIM_MODEL", "VERBATIM_BASE_URL": // one without the other
				about = "both"
			case "VERBATIM_TLS_CERT", "VERBATIM_TLS_KEY":
				about = "VERBATIM_TLS_"
			case "VERBATIM_STORE":
				about = strings.TrimSuffix(value, "/thing")
			}
			if !strings.Contains(told, about) {
				t.Errorf("doctor does not name %s=%s, of which serve says\n%s\nbut says\n%s", name, value, said, told)
			}
		}
	}
	if died < 30 {
		t.Errorf("serve died of %d values alone", died)
	}
}

// A key beside which nothing can be written signs nothing: serve and doctor say so before a proof is asked for.
func TestAKeyThatCannotNoteIsRefused(t *testing.T) {
	t.Parallel()
	if goruntime.GOOS != "linux" {
		t.Skip("needs a folder in which not even root writes")
	}
	dir := t.TempDir()
	environ := []string{"VERBATIM_PALETTES=../../verbs/palettes/manda", "VERBATIM_STORE=" + filepath.Join(dir, "a.db"), "STATE_DIRECTORY=" + dir, "VERBATIM_LISTEN=127.0.0.1:0"}
	if said, code := environed(t, environ, "migrate"); code != exitDone {
		t.Fatal(said)
	}
	if said, code := environed(t, environ, "log", "keygen", filepath.Join(dir, "bank.key"), "--name", "bank.example/journal"); code != exitDone {
		t.Fatal(said)
	}
	f, err := os.Open(filepath.Join(dir, "bank.key"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	key := fmt.Sprintf("/proc/self/fd/%d", f.Fd())
	for _, command := range []string{"serve", "doctor"} {
		if said, code := environed(t, append(environ, "VERBATIM_LOG_KEY="+key), command); code == exitDone || !strings.Contains(said, "VERBATIM_LOG_KEY is \""+key+"\", and what it signs cannot be noted beside it") {
			t.Errorf("%s: %d\n%s", command, code, said)
		}
	}
}

// A name that begins with VERBATIM_ and means nothing ends what an operator runs: with the nearest names, those
// of files among them. What a file of the configuration names, and what orchestrators set, is let be.
func TestStrangeVariablesAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	notify := filepath.Join(dir, "notify.json")
	if err := os.WriteFile(notify, []byte(`{"channels": {"hook": {"kind": "webhook", "url": "https://a.example", "secret-env": "VERBATIM_HOOK"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ set, says string }{
		{"VERBATIM_STORE_FIL=/x", "did you mean VERBATIM_STORE_FILE?"},
		{"VERBATIM_NOTIFYFILE=1", "did you mean VERBATIM_NOTIFY_FILE?"},
		{"VERBATIM_FOO=1", "the environment sets VERBATIM_FOO, which the program does not read"},
		{"VERBATIM_PORT=8080", "sets VERBATIM_PORT"},
		{"VERBATIM_HOOK_FILE=/x", ""},
		{"VERBATIM_PORT=tcp://10.0.0.7:8080", ""},
		{"VERBATIM_PORT_8080_TCP_ADDR=10.0.0.7", ""},
		{"VERBATIM_SERVICE_PORT_HTTP=8080", ""},
		{"VERBATIM_STORE_FILE=", ""},
	} {
		for _, command := range []string{"serve", "doctor", "work"} {
			said, code := environed(t, []string{"VERBATIM_NOTIFY=" + notify, "VERBATIM_STORE=" + dir, c.set}, command)
			of, _, _ := strings.Cut(c.set, "=")
			if c.says != "" && (code != exitUsage || !strings.Contains(said, c.says)) || c.says == "" && strings.Contains(said, "sets "+of) {
				t.Errorf("%s %s: %d\n%s", c.set, command, code, said)
			}
		}
	}
}

// Who owns the tables and migrates without naming the role of runs is told that it has no rights to what is new.
func TestMigrateWarnsOfRightsThatAreMissing(t *testing.T) {
	t.Parallel()
	h := onServer(t)
	var owner string
	for _, v := range h.env {
		if at, ok := strings.CutPrefix(v, "VERBATIM_STORE="); ok {
			owner = elsewhereAt(t, at, "", "verbatim_owner")
		}
	}
	if err := os.WriteFile(filepath.Join(h.dir, "verbs", "desk.yaml"), []byte(`domain: desk
entities:
  ticket:
    managed: true
    key: ticket_id
    scope: self
    label: "{subject}"
    fields:
      subject: {type: string, required: true, max-length: 120}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	const warning = "role verbatim_app was granted nothing of what is new: verbatim migrate --grant-to verbatim_app"
	if out := h.both("migrate", "--store", owner); !strings.Contains(out, warning) {
		t.Errorf("%q is not in\n%s", warning, out)
	}
	if out := h.both("migrate", "--store", owner, "--grant-to", "verbatim_app"); strings.Contains(out, warning) {
		t.Error(out)
	}
}
