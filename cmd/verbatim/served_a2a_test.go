package main

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
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

	"verbatim/runtime/frontends/http/server/logins"
	"verbatim/stores/postgres/pgtest"
)

// The program as an operator starts it: an agent with a token of `serve token` gives a task by
// a phrase, at a server that does no work; a worker of another process posts what became of
// it, in the order of the environment; the server is killed meanwhile, and another goes on.
func TestAnAgentGivesATask(t *testing.T) {
	t.Parallel()
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
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		h := agentsHouse(t)
		h.do("migrate", "--data", "people.sql")
		test(t, h)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		db := pgtest.Database(t)
		h := agentsHouse(t)
		h.env = append(h.env, "VERBATIM_STORE="+db.Owner)
		h.do("migrate", "--grant-to", "verbatim_app", "--data", "people.sql")
		h.env = append(h.env, "VERBATIM_STORE="+db.App)
		test(t, h)
	})
}

// agentsHouse is a house whose palette has tasks for agents of others.
func agentsHouse(t *testing.T) *house {
	t.Helper()
	desk, err := filepath.Abs(filepath.Join(root, "runtime", "frontends", "http", "a2a", "testdata", "desk"))
	if err != nil {
		t.Fatal(err)
	}
	const people = `INSERT INTO verbatim_principal (name, label) VALUES ('clara', 'Clara');
INSERT INTO verbatim_grant (principal, role, entity, key) VALUES ('clara', 'clerk', '', '');
`
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

// An agent that shows a certificate which is known speaks as whom it is known as, over real TLS
// with the server as an operator starts it; nobody does who only names it, or shows another.
func TestAnAgentShowsItsCertificate(t *testing.T) {
	t.Parallel()
	h := agentsHouse(t)
	h.do("migrate", "--data", "people.sql")
	h.env = append(h.env, "TICK=now")
	h.do("migrate", "--administrator", "ada", "--administrator", "bo")
	h.script("ada", `system.add-principal :name "acme" :label "Acme" :as @acme
system.grant-role :principal-id @acme :role "guest"`)
	cert, key, pool := certificate(t)
	h.env = append(h.env, "VERBATIM_CLIENT_CERTIFICATES=on")
	s := h.serve("--log", "off", "--no-work", "--tls-cert", cert, "--tls-key", key)
	hers, hersKey, _ := certificate(t)
	other, otherKey, _ := certificate(t)
	for file, want := range map[string]string{"nothing.pem": "no such file", hersKey: "not one certificate alone", "verbs/desk.yaml": "not one certificate alone"} {
		cmd := exec.Command(filepath.Join(h.dir, ".bin", "verbatim"), "serve", "token", "peer", "--as", "ada", "--for", "acme", "--url", s.url, "--certificate", file, "--yes")
		cmd.Dir, cmd.Env = h.dir, h.env
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v\n%s", file, err, out)
		}
	}
	client := func(files ...string) *http.Client {
		config := &tls.Config{RootCAs: pool}
		if len(files) > 0 {
			pair, err := tls.LoadX509KeyPair(files[0], files[1])
			if err != nil {
				t.Fatal(err)
			}
			config.Certificates = []tls.Certificate{pair}
		}
		return &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{TLSClientConfig: config}}
	}
	lists := func(c *http.Client, bearer string) int {
		t.Helper()
		r, _ := http.NewRequest("POST", s.url+"/a2a", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{}}`))
		r.Header = http.Header{"Content-Type": {"application/json"}, "A2a-Version": {"1.0"}}
		if bearer != "" {
			r.Header.Set("Authorization", "Bearer "+bearer)
		}
		answer, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		_, _ = io.Copy(io.Discard, answer.Body)
		return answer.StatusCode
	}
	mine := client(hers, hersKey)
	if status := lists(mine, ""); status != http.StatusUnauthorized {
		t.Errorf("a certificate that nobody knows is answered with %d", status)
	}
	if out := h.granted("peer", "acme", s.url, "desk.report desk.tickets", "--certificate", hers); strings.Contains(out, "PRIVATE") || len(out) > 40 {
		t.Errorf("a secret is told: %s", out)
	}
	pemOf, err := os.ReadFile(hers)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(pemOf)
	sum := sha256.Sum256(block.Bytes)
	for name, c := range map[string]struct {
		client *http.Client
		bearer string
		status int
	}{
		"hers":                          {mine, "", 200},
		"none":                          {client(), "", 401},
		"another's":                     {client(other, otherKey), "", 401},
		"hers, and a token that is bad": {mine, "nonsense", 401},
		"its digest as a token":         {client(), hex.EncodeToString(sum[:]), 401},
		"its digest in the store":       {client(), logins.CertificateDigest(block.Bytes), 401},
	} {
		if status := lists(c.client, c.bearer); status != c.status {
			t.Errorf("%s is answered with %d", name, status)
		}
	}
	// A certificate opens no page.
	mine.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if answer, err := mine.Get(s.url + "/"); err != nil || answer.StatusCode == http.StatusOK {
		t.Error(err)
	} else {
		answer.Body.Close()
	}
	answer, err := mine.Get(s.url + "/.well-known/agent-card.json")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if card, _ := io.ReadAll(answer.Body); !strings.Contains(string(card), `"mtlsSecurityScheme"`) {
		t.Errorf("%s", card)
	}
	// Taken back, it opens nothing within a second.
	h.script("ada", `system.revoke-token :token-id @acme-peer`)
	for end := time.Now().Add(10 * time.Second); lists(mine, "") != http.StatusUnauthorized; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it was taken back, and opens the door still")
		}
	}
	for how, want := range map[string]string{"on": "--tls-cert", "yes": "is on, not"} {
		if _, err := startServer(h.dir, append(h.env, "VERBATIM_CLIENT_CERTIFICATES="+how), []string{"--listen", "127.0.0.1:0"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", how, err)
		}
	}
}

// granted makes a token for somebody else, to which the other administrator agrees.
func (h *house) granted(name, who, url, only string, more ...string) string {
	h.t.Helper()
	cmd := exec.Command(filepath.Join(h.dir, ".bin", "verbatim"), append([]string{"serve", "token", name, "--as", "ada", "--for", who, "--url", url, "--only", only, "--yes"}, more...)...)
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
	if len(lines) == 0 {
		return ""
	}
	return lines[len(lines)-1]
}
