package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"verbatim/stores/postgres/pgtest"
)

// The program as an operator starts it: an agent with a token of `serve token` gives a task by
// a phrase, at a server that does no work; a worker of another process posts what became of
// it, in the order of the environment; the server is killed meanwhile, and another goes on.
func TestAnAgentGivesATask(t *testing.T) {
	t.Parallel()
	desk, err := filepath.Abs(filepath.Join(root, "runtime", "serve", "testdata", "desk"))
	if err != nil {
		t.Fatal(err)
	}
	const people = `INSERT INTO verbatim_principal (name, label) VALUES ('clara', 'Clara');
INSERT INTO verbatim_grant (principal, role, entity, key) VALUES ('clara', 'clerk', '', '');
`
	test := func(t *testing.T, h *house) {
		come := make(chan string, 10)
		receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			come <- r.Header.Get("X-A2A-Notification-Token") + " " + string(body)
		}))
		defer receiver.Close()
		h.env = append(h.env, "VERBATIM_A2A_PUSH=private", "TICK=now")
		h.do("migrate", "--administrator", "ada", "--administrator", "bo")
		h.script("ada", `system.add-principal :name "acme" :label "Acme" :as @acme
system.grant-role :principal-id @acme :role "guest"`)
		first := h.serve("--log", "off", "--no-work")
		token := h.granted("peer", "acme", first.url, "desk.report desk.answer desk.ticket")
		says := func(s *running, params string) string {
			t.Helper()
			r, _ := http.NewRequest("POST", s.url+"/a2a", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":`+params+`}`))
			r.Header = http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "A2a-Version": {"1.0"}}
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			body, _ := io.ReadAll(answer.Body)
			return string(body)
		}
		sent := fmt.Sprintf(`"SendMessage","params":{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"please report a fault: the printer"}]},"configuration":{"returnImmediately":true,"taskPushNotificationConfig":{"url":%q,"token":"sesame"}}}`, receiver.URL)
		var began struct {
			Result struct {
				Task struct {
					ID     string
					Status struct{ State string }
				}
			}
		}
		answer := says(first, sent)
		if err := json.Unmarshal([]byte(answer), &began); err != nil || began.Result.Task.Status.State != "TASK_STATE_WORKING" || !strings.Contains(answer, `"subject":"the printer"`) {
			t.Fatal(answer)
		}
		_ = first.cmd.Process.Kill()
		_ = first.cmd.Wait()
		second := h.serve("--log", "off", "--listen", "127.0.0.1:"+strings.TrimPrefix(first.url, "http://localhost:"))
		if again := says(second, sent); !strings.Contains(again, began.Result.Task.ID) {
			t.Error(again)
		}
		file := filepath.Join(h.dir, "ask.dsl")
		if err := os.WriteFile(file, []byte(`desk.ask :ticket-id @`+began.Result.Task.ID+` :text "Which one?"`+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		h.do("run", "--as", "clara", "--yes", file)
		select {
		case posted := <-come:
			if !strings.HasPrefix(posted, "sesame {") || !strings.Contains(posted, "TASK_STATE_INPUT_REQUIRED") || !strings.Contains(posted, "Which one?") {
				t.Error(posted)
			}
		case <-time.After(20 * time.Second):
			t.Error("nothing was posted")
		}
	}
	lay := func(t *testing.T) *house {
		dir := t.TempDir()
		if err := os.CopyFS(filepath.Join(dir, "verbs"), os.DirFS(desk)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "people.sql"), []byte(people), 0o666); err != nil {
			t.Fatal(err)
		}
		bin := filepath.Join(dir, ".bin")
		if err := os.Mkdir(bin, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := putProgram(bin); err != nil {
			t.Fatal(err)
		}
		return &house{t, dir, []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "XDG_STATE_HOME=" + filepath.Join(dir, ".state"), "VERBATIM_PALETTES=" + filepath.Join(dir, "verbs")}}
	}
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		h := lay(t)
		h.do("migrate", "--data", "people.sql")
		test(t, h)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		db := pgtest.Database(t)
		h := lay(t)
		h.env = append(h.env, "VERBATIM_STORE="+db.Owner)
		h.do("migrate", "--grant-to", "verbatim_app", "--data", "people.sql")
		h.env = append(h.env, "VERBATIM_STORE="+db.App)
		test(t, h)
	})
}

// granted makes a token for somebody else, to which the other administrator agrees.
func (h *house) granted(name, who, url, only string) string {
	h.t.Helper()
	cmd := exec.Command(filepath.Join(h.dir, ".bin", "verbatim"), "serve", "token", name, "--as", "ada", "--for", who, "--url", url, "--only", only, "--yes")
	cmd.Dir, cmd.Env = h.dir, h.env
	var told bytes.Buffer
	cmd.Stderr = &told
	out, err := cmd.Output()
	id := regexp.MustCompile(`verbatim confirm (.+) --as`).FindStringSubmatch(told.String())
	if err == nil || id == nil {
		h.t.Fatalf("%v %s%s", err, out, told.String())
	}
	h.do("confirm", strings.Trim(id[1], "'"), "--as", "bo", "--agree")
	lines := strings.Fields(string(out))
	return lines[len(lines)-1]
}
