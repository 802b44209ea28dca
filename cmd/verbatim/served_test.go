package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/textproto"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"verbatim/stores/postgres/pgtest"
)

// A house is a folder with the bank, on one of the stores, in which servers run.
type house struct {
	t   *testing.T
	dir string
	env []string
}

// newHouse is one on SQLite.
func newHouse(t *testing.T) *house {
	t.Helper()
	dir := t.TempDir()
	if err := layOut(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, ".bin"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := putProgram(filepath.Join(dir, ".bin")); err != nil {
		t.Fatal(err)
	}
	return &house{t, dir, []string{"PATH=" + filepath.Join(dir, ".bin") + ":" + os.Getenv("PATH"), "XDG_STATE_HOME=" + filepath.Join(dir, ".state"), "VERBATIM_SCAN=none", "VERBATIM_LINGER=0s", "TICK=1ms"}}
}

// onBoth runs a test in a house on each of the stores.
func onBoth(t *testing.T, test func(t *testing.T, h *house)) {
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(t, newHouse(t))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		test(t, onServer(t))
	})
}

// onServer is a house on PostgreSQL, by whose clock servers go, so that the commands beside
// them go by a real one too.
func onServer(t *testing.T) *house {
	t.Helper()
	h := newHouse(t)
	db := bankDatabase(t)
	h.env = append(h.env, "VERBATIM_STORE="+db.Owner, "VERBATIM_FILES="+filepath.Join(h.dir, "files"), "TICK=now", "VERBATIM_STORE="+db.App) // the last one counts
	return h
}

// bankDatabase is the bank's store on PostgreSQL, made once and copied, as bankStore is in a file.
func bankDatabase(t *testing.T) pgtest.DB {
	t.Helper()
	return pgtest.Like(t, "bank", func(db pgtest.DB) {
		h := newHouse(t)
		h.do("migrate", "--store", db.Owner, "--grant-to", "verbatim_app", "--data", "bank.postgres.sql", "--data", "people.sql")
	})
}

// do runs a command, which has to succeed.
func (h *house) do(args ...string) string {
	h.t.Helper()
	cmd := exec.Command(filepath.Join(h.dir, ".bin", "verbatim"), args...)
	cmd.Dir, cmd.Env = h.dir, h.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		h.t.Fatalf("verbatim %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (h *house) serve(args ...string) *running {
	h.t.Helper()
	s, err := startServer(h.dir, h.env, append([]string{"--listen", "127.0.0.1:0"}, args...))
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(s.stop)
	return s
}

// A visitor is somebody with a browser, who keeps what servers give them.
type visitor struct {
	t *testing.T
	http.Client
}

func newVisitor(t *testing.T) *visitor {
	jar, _ := cookiejar.New(nil)
	return &visitor{t, http.Client{Jar: jar, Timeout: 30 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// comes signs in by the link that a server printed.
func (v *visitor) comes(s *running, who string) *visitor {
	v.t.Helper()
	if status, body := v.form(s.url+"/sign-in/link", url.Values{"link": {s.links[who]}}); status != http.StatusSeeOther {
		v.t.Fatalf("%s cannot sign in: %d %s", who, status, body)
	}
	return v
}

func (v *visitor) form(to string, values url.Values) (int, string) {
	v.t.Helper()
	return v.answer(v.Client.PostForm(to, values))
}

func (v *visitor) get(from string) (int, string) {
	v.t.Helper()
	return v.answer(v.Client.Get(from))
}

func (v *visitor) answer(r *http.Response, err error) (int, string) {
	v.t.Helper()
	if err != nil {
		v.t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return r.StatusCode, string(body)
}

// post sends JSON; an error is for who expects one.
func (v *visitor) post(to, key string, body any) (int, string, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return 0, "", err
	}
	r, err := http.NewRequest(http.MethodPost, to, bytes.NewReader(text))
	if err != nil {
		return 0, "", err
	}
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	answer, err := v.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	out, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(out), err
}

const aNote = `client.add-note :request-id @pierre-dupont-source-of-wealth :note "Number %d"`

// Two processes on one store are one server: who signs in with one acts with the other,
// and signing out of either is over for both within a second (SAFE-H8). The test fails
// where a session or a link that was used is kept in memory.
func TestTwoServersAreOne(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, h *house) {
		// They are one machine's: a cookie is given for a name, whatever its port.
		one, two := h.serve("--log", "off", "--sign-in", "clara"), h.serve("--log", "off")
		clara := newVisitor(t).comes(one, "clara")
		if status, body := newVisitor(t).form(two.url+"/sign-in/link", url.Values{"link": {one.links["clara"]}}); status != http.StatusForbidden {
			t.Errorf("the link is good a second time, elsewhere: %d %s", status, body)
		}
		if status, body := clara.get(two.url + "/v1/verbs"); status != http.StatusOK {
			t.Fatalf("who signed in with one is nobody to the other: %d %s", status, body)
		}
		if status, body, err := clara.post(two.url+"/v1/run", "k", map[string]string{"script": fmt.Sprintf(aNote, 1)}); err != nil || status != http.StatusOK {
			t.Fatal(status, body, err)
		}
		if status, body, err := clara.post(one.url+"/v1/run", "k", map[string]string{"script": fmt.Sprintf(aNote, 1)}); err != nil || !strings.Contains(body, `"repeated":true`) {
			t.Errorf("what was done with one is done again with the other: %d %s %v", status, body, err)
		}
		if status, body := clara.get(one.url + "/v1/verbs"); status != http.StatusOK {
			t.Fatal(status, body)
		}
		left := *clara
		left.Jar = &stubborn{clara.Jar}
		if status, _ := left.form(two.url+"/sign-out", nil); status != http.StatusSeeOther {
			t.Fatal(status)
		}
		over := time.Now().Add(time.Second)
		for {
			status, _ := left.get(one.url + "/v1/verbs")
			if status == http.StatusUnauthorized {
				break
			}
			if time.Now().After(over.Add(200 * time.Millisecond)) {
				t.Fatal("a second after signing out of one, the other still takes the cookie")
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
}

// A stubborn jar keeps what a server wants forgotten, as a thief would.
type stubborn struct{ http.CookieJar }

func (stubborn) SetCookies(*url.URL, []*http.Cookie) {}

// A server that is killed before it answers has done what it was asked once or not at
// all, and whoever asks again under the same key is told: it is done once.
func TestAServerIsKilledBeforeItAnswers(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, h *house) {
		other := h.serve("--log", "off", "--sign-in", "clara")
		clara := newVisitor(t).comes(other, "clara")
		answered := 0
		const cuts = 6
		for i := range cuts {
			script := map[string]string{"script": fmt.Sprintf(aNote, i)}
			key := fmt.Sprintf("cut %d", i)
			s := h.serve("--log", "off", "--no-work")
			// The connection is warm: what is timed is the call.
			if status, body := clara.get(s.url + "/v1/verbs"); status != http.StatusOK {
				t.Fatal(status, body)
			}
			done := make(chan bool)
			go func() {
				status, _, err := clara.post(s.url+"/v1/run", key, script)
				done <- err == nil && status == http.StatusOK
			}()
			time.Sleep(time.Duration(i*i) * time.Millisecond)
			_ = s.cmd.Process.Kill()
			if <-done {
				answered++
			}
			if status, body, err := clara.post(other.url+"/v1/run", key, script); err != nil || status != http.StatusOK {
				t.Fatalf("cut %d: %d %s %v", i, status, body, err)
			}
		}
		if got := strings.Count(h.do("log", "show", "--as", "d.lang"), "\tok\t"); got != cuts {
			t.Errorf("%d notes were written, %d were asked for\n%s", got, cuts, h.do("log", "show", "--as", "d.lang"))
		}
		t.Logf("%d of %d were answered before the server was killed", answered, cuts)
	})
}

// A server that is told to end finishes what it has begun, takes nothing new, and ends
// within ten seconds (SAFE-H10).
func TestAServerDrains(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, h *house) {
		s := h.serve("--log", "off", "--sign-in", "clara")
		clara := newVisitor(t).comes(s, "clara")
		type sent struct {
			i      int
			status int
		}
		all := make(chan sent, 200)
		go func() {
			defer close(all)
			for i := range 200 {
				status, _, err := clara.post(s.url+"/v1/run", fmt.Sprint("drain ", i), map[string]string{"script": fmt.Sprintf(aNote, i)})
				if err != nil {
					return
				}
				all <- sent{i, status}
			}
		}()
		first := <-all
		if first.status != http.StatusOK {
			t.Fatal(first)
		}
		began := time.Now()
		_ = s.cmd.Process.Signal(os.Interrupt)
		acknowledged := 1
		for one := range all {
			if one.status == http.StatusOK {
				acknowledged++
			}
		}
		if err := s.cmd.Wait(); err != nil {
			t.Errorf("it ended with %v: %s", err, s.said)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("it took %s to end", took)
		}
		if got := strings.Count(h.do("log", "show", "--as", "d.lang"), "\tok\t"); got < acknowledged {
			t.Errorf("%d were acknowledged, %d are there", acknowledged, got)
		}
	})
}

// people makes nina known to the palette of rights, with what a client has, and two
// administrators.
func (h *house) people() {
	h.t.Helper()
	h.do("migrate", "--administrator", "ada", "--administrator", "bo")
	h.script("ada", `system.add-principal :name "nina" :label "Nina Weiss" :as @nina
system.grant-role :principal-id @nina :role "client"
system.grant-scope :principal-id @nina :entity "cbu" :key "0000000c-0000-4000-8000-000000000001"`)
}

// script runs a script, whose first agreement of others the other administrator gives.
func (h *house) script(as, text string) {
	h.t.Helper()
	file := filepath.Join(h.dir, "script.dsl")
	if err := os.WriteFile(file, []byte(text+"\n"), 0o666); err != nil {
		h.t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(h.dir, ".bin", "verbatim"), "run", "--as", as, "--yes", "--json", file)
	cmd.Dir, cmd.Env = h.dir, h.env
	out, err := cmd.Output()
	var ran struct {
		Outcome      string
		Confirmation struct{ ID string }
	}
	if jerr := json.Unmarshal(out, &ran); jerr != nil {
		h.t.Fatalf("%s: %v %v\n%s", text, err, jerr, out)
	}
	switch ran.Outcome {
	case "done":
	case "waiting":
		h.do("confirm", ran.Confirmation.ID, "--as", "bo", "--agree")
	default:
		h.t.Fatalf("%s: %s\n%s", text, ran.Outcome, out)
	}
}

// A mailServer takes mail, as RFC 5321 has it, and hands it over.
func mailServer(t *testing.T) (address string, mail <-chan string) {
	t.Helper()
	return mailServerAt(t, "127.0.0.1:0")
}

func mailServerAt(t *testing.T, at string) (address string, mail <-chan string) {
	t.Helper()
	l, err := net.Listen("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	sent := make(chan string, 100)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				say := func(line string) { fmt.Fprintf(c, "%s\r\n", line) }
				say("220 mail")
				in := textproto.NewReader(bufio.NewReader(c))
				for {
					line, err := in.ReadLine()
					if err != nil {
						return
					}
					switch strings.ToUpper(strings.Fields(line + " .")[0]) {
					case "DATA":
						say("354 go on")
						text, err := io.ReadAll(quotedprintable.NewReader(in.DotReader()))
						if err != nil {
							return
						}
						sent <- string(text)
						say("250 taken")
					case "QUIT":
						say("221 bye")
						return
					default:
						say("250 ok")
					}
				}
			}()
		}
	}()
	return l.Addr().String(), sent
}

// SAFE-H8: a link is mailed to who is known and to nobody else, the answer is the same,
// it is good once and in the browser that asked, and what is tried too often is not
// done.
func TestSigningInByMail(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, h *house) {
		h.people()
		h.script("ada", `system.add-identity :principal-id "nina" :issuer "email" :subject "Nina@Allianz.example"`)
		mail := h.letters()
		s, other := h.serve("--log", "off"), h.serve("--log", "off")
		nina, stranger := newVisitor(t), newVisitor(t)
		status, known := nina.form(s.url+"/sign-in/mail", url.Values{"email": {"nina@allianz.example"}})
		_, unknown := stranger.form(s.url+"/sign-in/mail", url.Values{"email": {"nino@allianz.example"}})
		if status != http.StatusOK || strings.ReplaceAll(known, "nina@", "nino@") != unknown {
			t.Errorf("%d: who is known is answered\n%s\nwho is not\n%s", status, known, unknown)
		}
		var text string
		select {
		case text = <-mail:
		case <-time.After(10 * time.Second):
			t.Fatal("no mail came")
		}
		m := regexp.MustCompile(`link=([\w-]+)`).FindStringSubmatch(text)
		if m == nil || !strings.Contains(text, "To: nina@allianz.example") {
			t.Fatalf("the mail is\n%s", text)
		}
		use := url.Values{"link": {m[1]}, "to": {"/v1/verbs"}}
		// A scanner of mail opens it first, and her own browser shows it twice: nobody is signed in by that.
		for _, who := range []*visitor{stranger, nina, nina} {
			for _, ask := range []func(string) (*http.Response, error){who.Client.Head, who.Client.Get} {
				if r, err := ask(s.url + "/sign-in/link?" + use.Encode()); err != nil || r.StatusCode != http.StatusOK || strings.Contains(fmt.Sprint(r.Cookies()), "verbatim=") {
					t.Fatal(r, err)
				} else {
					r.Body.Close()
				}
			}
		}
		if status, body := stranger.form(other.url+"/sign-in/link", use); status != http.StatusForbidden {
			t.Errorf("another browser uses the link: %d %s", status, body)
		}
		if status, body := nina.form(other.url+"/sign-in/link", use); status != http.StatusSeeOther {
			t.Fatalf("the browser that asked cannot use it: %d %s", status, body)
		}
		if status, body := nina.get(s.url + "/v1/verbs"); status != http.StatusOK || !strings.Contains(body, "client.add-note") {
			t.Errorf("%d %s", status, body)
		}
		if status, _ := nina.form(s.url+"/sign-in/link", use); status != http.StatusForbidden {
			t.Errorf("the link is good twice: %d", status)
		}
		// One account is written to five times in a quarter of an hour; whoever asks is
		// answered the same until their address has asked too often.
		limited := 0
		for range 24 {
			if status, _ := stranger.form(s.url+"/sign-in/mail", url.Values{"email": {"nina@allianz.example"}}); status == http.StatusTooManyRequests {
				limited++
			}
		}
		if limited != 6 { // 20 by this address in all, of which two were before
			t.Errorf("%d of 24 were too many, want 6", limited)
		}
		for end := time.Now().Add(20 * time.Second); len(mail) < 4 && time.Now().Before(end); {
			time.Sleep(20 * time.Millisecond)
		}
		time.Sleep(300 * time.Millisecond)
		if len(mail) != 4 {
			t.Errorf("nina was written to %d times more, want 4", len(mail))
		}
		select {
		case more := <-mail:
			if strings.Contains(more, "nino@") {
				t.Error("a stranger was written to")
			}
		default:
		}
	})
}

// letters sends the letters of what begins from now on to a server of mail.
func (h *house) letters() <-chan string {
	h.t.Helper()
	address, mail := mailServer(h.t)
	channels := fmt.Sprintf(`{"channels": {"post": {"kind": "smtp", "server": %q, "from": "portal@bank.example", "tls": "none"}}, "routes": {"letters": {"channel": "post"}}}`, address)
	if err := os.WriteFile(filepath.Join(h.dir, "letters.json"), []byte(channels), 0o666); err != nil {
		h.t.Fatal(err)
	}
	h.env = append(h.env, "VERBATIM_NOTIFY="+filepath.Join(h.dir, "letters.json"))
	return mail
}

// Whoever may agree is told so, once and in their language, with a link that opens
// nothing by itself. The asker's other login, who may not agree, and who has no address
// are not.
func TestWhoeverMayAgreeIsTold(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, h *house) {
		h.people()
		h.script("ada", `system.describe-principal :principal-id "ada" :person "Ada Lark" :label "Ada Lark"
system.add-principal :name "adas" :person "Ada Lark"
system.add-principal :name "cato"
system.describe-principal :principal-id "bo" :language "de"`)
		for _, name := range []string{"adas", "cato"} { // cato has no address
			h.script("ada", fmt.Sprintf(`system.grant-high-role :principal-id %q :role "administrator"`, name))
		}
		for _, name := range []string{"nina", "ada", "adas", "bo"} {
			h.script("ada", fmt.Sprintf(`system.add-identity :principal-id %q :issuer "email" :subject "%s@bank.example"`, name, name))
		}
		mail := h.letters()
		h.env = append(h.env, "VERBATIM_URL=https://portal.bank.example/")
		ask := `system.add-token :principal-id "nina" :name "n" :digest "` + strings.Repeat("0", 64) + `" :audience "https://x.example" :expires-at 2030-01-01T00:00:00Z`
		h.proposes(ask)
		h.proposes(ask) // the same again waits already
		work := []string{"work", "--once"}
		if !slices.Contains(h.env, "TICK=now") { // what one process did is not past for the next
			work = append(work, "--at", "2024-12-27T10:00:00Z")
		}
		for range 3 {
			h.do(work...)
		}
		var letters []string
		for len(mail) > 0 {
			letters = append(letters, <-mail)
		}
		if len(letters) != 1 {
			t.Fatalf("%d letters:\n%s", len(letters), strings.Join(letters, "\n"))
		}
		link := regexp.MustCompile(`https://portal\.bank\.example(/waiting/[^\s]+)`).FindStringSubmatch(letters[0])
		for _, part := range []string{"To: bo@bank.example", "Ada Lark bittet um etwas"} {
			if link == nil || !strings.Contains(letters[0], part) {
				t.Fatalf("%q is not in\n%s", part, letters[0])
			}
		}
		if strings.Contains(letters[0], "nina") || strings.Contains(letters[0], "add-token") {
			t.Errorf("it tells what is asked for\n%s", letters[0])
		}
		h.env = h.env[:len(h.env)-1]
		s := h.serve("--log", "off", "--sign-in", "bo", "--sign-in", "nina")
		if status, body := newVisitor(t).get(s.url + link[1]); status == http.StatusOK || strings.Contains(body, "add-token") {
			t.Errorf("the link alone opens\n%d %s", status, body)
		}
		if status, body := newVisitor(t).comes(s, "nina").get(s.url + link[1]); status == http.StatusOK || strings.Contains(body, "add-token") {
			t.Errorf("who may not agree sees\n%d %s", status, body)
		}
		if status, body := newVisitor(t).comes(s, "bo").get(s.url + link[1]); status != http.StatusOK || !strings.Contains(body, "add-token") {
			t.Errorf("%d %s", status, body)
		}
	})
}

// A token is good at its server, until its time, for its verbs, and decides nothing; one
// that is guessed, expired, revoked or another server's is answered alike. (SAFE-H6)
func TestATokenSpeaks(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, h *house) {
		h.people()
		s := h.serve("--log", "off")
		ask := func(token, method, path, body string) (int, string) {
			r, _ := http.NewRequest(method, s.url+path, strings.NewReader(body))
			r.Header.Set("Authorization", "Bearer "+token)
			if body != "" {
				r.Header.Set("Content-Type", "application/json")
			}
			v := newVisitor(t)
			v.Timeout = 10 * time.Second // a stream of events that it is given would not end
			return v.answer(v.Do(r))
		}
		all := h.token("all", "--as", "ada", "--for", "ada", "--url", s.url)
		few := h.token("few", "--as", "ada", "--for", "ada", "--url", s.url, "--only", "system.list-principals system.list-roles")
		elsewhere := h.token("elsewhere", "--as", "ada", "--for", "ada", "--url", "https://portal.bank.example")
		list := `{"script":"system.list-principals"}`
		for name, token := range map[string]string{"all": all, "few": few} {
			if status, body := ask(token, "POST", "/v1/run", list); status != http.StatusOK || !strings.Contains(body, "nina") {
				t.Errorf("%s: %d %s", name, status, body)
			}
		}
		_, wrong := ask("guessed", "POST", "/v1/run", list)
		if status, body := ask(elsewhere, "POST", "/v1/run", list); status != http.StatusUnauthorized || masked(body) != masked(wrong) {
			t.Errorf("another server's token: %d %s\na guess: %s", status, body, wrong)
		}
		if status, body := ask(few, "POST", "/v1/run", `{"script":"system.add-principal :name \"otto\""}`); status != http.StatusForbidden || !strings.Contains(body, "not-permitted") {
			t.Errorf("a token for two verbs uses a third: %d %s", status, body)
		}
		if _, body := ask(few, "GET", "/v1/verbs", ""); strings.Contains(body, "add-principal") || !strings.Contains(body, "list-roles") {
			t.Errorf("it is told of %s", body)
		}
		if status, body := ask(all, "POST", "/v1/run", `{"script":"system.list-principals","origin":"person"}`); status != http.StatusBadRequest {
			t.Errorf("a program speaks as a person: %d %s", status, body)
		}
		// Nor does it tell of what its principal said, or what waits for them.
		for _, path := range []string{"/v1/sessions", "/v1/sessions/portal", "/v1/confirmations", "/v1/journal", "/v1/events", "/v1/logins"} {
			if status, body := ask(few, "GET", path, ""); status != http.StatusForbidden || !strings.Contains(body, "good for some verbs") {
				t.Errorf("%s: %d %s", path, status, body)
			}
		}
		// What others asked for is not decided by a token that is for some verbs.
		h.proposes(`system.add-token :principal-id "nina" :name "n" :digest "` + strings.Repeat("0", 64) + `" :audience "https://x.example" :expires-at 2030-01-01T00:00:00Z`)
		var waiting struct{ Confirmations []struct{ ID string } }
		bo := h.token("bo", "--as", "bo", "--for", "bo", "--url", s.url, "--only", "system.add-token")
		decider := h.token("decider", "--as", "bo", "--for", "bo", "--url", s.url)
		program := h.token("program", "--as", "bo", "--for", "bo", "--url", s.url, "--origin", "script")
		_, body := ask(decider, "GET", "/v1/confirmations", "")
		if err := json.Unmarshal([]byte(body), &waiting); err != nil || len(waiting.Confirmations) != 1 {
			t.Fatal(body, err)
		}
		if status, body := ask(bo, "POST", "/v1/confirmations/"+waiting.Confirmations[0].ID+"/agree", ""); status != http.StatusForbidden {
			t.Errorf("it agrees: %d %s", status, body)
		}
		// Nor by one for a model, which does not speak in a conversation, either. (G1)
		for _, path := range []string{"/v1/confirmations/" + waiting.Confirmations[0].ID + "/agree", "/v1/confirmations/" + waiting.Confirmations[0].ID + "/decline", "/v1/sessions/portal/turns"} {
			if status, body := ask(decider, "POST", path, `{"text":"yes"}`); status != http.StatusForbidden || !strings.Contains(body, "not-asked") {
				t.Errorf("%s: a model's token is answered %d %s", path, status, body)
			}
		}
		if status, body := ask(program, "POST", "/v1/sessions/portal/turns", `{"text":"what may I do?"}`); status != http.StatusOK {
			t.Errorf("a program without a model speaks: %d %s", status, body)
		}
		if _, body := ask(decider, "GET", "/v1/confirmations", ""); !strings.Contains(body, waiting.Confirmations[0].ID) {
			t.Errorf("what it may not decide does not wait any more: %s", body)
		}
		// Nor by a program's that is good for all: it is no second person. (G21)
		if status, body := ask(program, "POST", "/v1/confirmations/"+waiting.Confirmations[0].ID+"/agree", ""); status != http.StatusForbidden || !strings.Contains(body, "second person") {
			t.Errorf("a program is a second person: %d %s", status, body)
		}
		if status, body := ask(program, "POST", "/v1/confirmations/"+waiting.Confirmations[0].ID+"/decline", ""); status != http.StatusOK {
			t.Errorf("a program without a model declines: %d %s", status, body)
		}
		h.script("ada", `system.revoke-token :token-id "ada few"`)
		time.Sleep(1100 * time.Millisecond)
		if status, body := ask(few, "POST", "/v1/run", list); status != http.StatusUnauthorized || masked(body) != masked(wrong) {
			t.Errorf("a token that was taken back: %d %s", status, body)
		}
	})
}

// token has a token made, and returns it.
func (h *house) token(args ...string) string {
	h.t.Helper()
	cmd := exec.Command(filepath.Join(h.dir, ".bin", "verbatim"), append([]string{"serve", "token"}, args...)...)
	cmd.Dir, cmd.Env = h.dir, h.env
	out, err := cmd.Output()
	if err != nil {
		h.t.Fatalf("%v: %v %s", args, err, out)
	}
	lines := strings.Fields(string(out))
	return lines[len(lines)-1]
}

// proposes asks for something and leaves it to wait.
func (h *house) proposes(text string) {
	h.t.Helper()
	file := filepath.Join(h.dir, "script.dsl")
	if err := os.WriteFile(file, []byte(text+"\n"), 0o666); err != nil {
		h.t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(h.dir, ".bin", "verbatim"), "run", "--as", "ada", file)
	cmd.Dir, cmd.Env = h.dir, h.env
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "needs-agreement") {
		h.t.Fatalf("%s: %v\n%s", text, err, out)
	}
}

// masked takes the id of the request out of an answer.
func masked(body string) string {
	return regexp.MustCompile(`"request":"[0-9a-f]+"`).ReplaceAllString(body, "")
}

// A collector of OpenTelemetry is told how long a request and its program took, within the
// trace of whoever asked, and nothing of what was said. One that is not there holds nobody
// up.
func TestACollectorIsToldOfSpans(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	bodies := make(chan string, 100)
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies <- r.URL.Path + " " + r.Header.Get("X-Team") + " " + r.Header.Get("Content-Type") + "\n" + string(body)
	}))
	h.env = append(h.env, "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL, "OTEL_EXPORTER_OTLP_HEADERS=x-team=kyc%20team", "OTEL_SERVICE_NAME=portal")
	model := perform(t, []string{"Good morning."})
	s := h.serve("--log", "error", "--sign-in", "clara", "--model", "scripted", "--base-url", model.URL)
	clara := newVisitor(t).comes(s, "clara")
	if status, body, err := clara.post(s.url+"/v1/sessions/portal/turns", "", map[string]string{"text": "good morning, how are you today"}); err != nil || status != http.StatusOK {
		t.Fatal(status, body, err)
	}
	if _, counts := clara.get(s.url + "/metrics"); !regexp.MustCompile(`verbatim_model_tokens_total\{direction="in",model="scripted"\} [1-9]`).MatchString(counts) {
		t.Error("what the model read is not counted")
	}
	const trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	run := func(script string) {
		r, _ := http.NewRequest(http.MethodPost, s.url+"/v1/run", strings.NewReader(script))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Traceparent", "00-"+trace+"-"+parent+"-01")
		if status, body := clara.answer(clara.Do(r)); status != http.StatusOK && status != http.StatusUnprocessableEntity {
			t.Fatal(status, body)
		}
	}
	run(`{"script":"client.get-status"}`)
	run(`{"script":"client.get-request :request-id @nobody-of-that-name"}`)
	s.stop()
	type span struct {
		TraceID, SpanID, ParentSpanID, Name string
		Kind                                int
		StartTimeUnixNano, EndTimeUnixNano  string
		Attributes                          []struct {
			Key   string
			Value map[string]any
		}
	}
	var all []span
	for len(bodies) > 0 {
		head, body, _ := strings.Cut(<-bodies, "\n")
		var told struct {
			ResourceSpans []struct {
				Resource struct {
					Attributes []struct {
						Key   string
						Value struct{ StringValue string }
					}
				}
				ScopeSpans []struct{ Spans []span }
			}
		}
		if err := json.Unmarshal([]byte(body), &told); err != nil || head != "/v1/traces kyc team application/json" || told.ResourceSpans[0].Resource.Attributes[0].Value.StringValue != "portal" {
			t.Fatalf("%v\n%s\n%s", err, head, body)
		}
		if strings.Contains(body, "nobody-of-that-name") || strings.Contains(body, "clara") {
			t.Errorf("it tells who said what\n%s", body)
		}
		all = append(all, told.ResourceSpans[0].ScopeSpans[0].Spans...)
	}
	named := map[string]span{}
	for _, s := range all {
		if s.TraceID == trace {
			named[s.Name] = s
		}
		if start, end := s.StartTimeUnixNano, s.EndTimeUnixNano; len(s.SpanID) != 16 || len(start) != 19 || end < start {
			t.Errorf("%+v", s)
		}
	}
	if !slices.ContainsFunc(all, func(s span) bool { return s.Name == "chat scripted" && s.Kind == 3 && s.ParentSpanID != "" }) {
		t.Error("the question to the model has no span")
	}
	request, program := named["POST /v1/run"], named["run client.get-status"]
	if request.ParentSpanID != parent || request.Kind != 2 || program.ParentSpanID == "" || program.Kind != 1 {
		t.Errorf("%+v", named)
	}
	collector.Close()
	away := h.serve("--log", "off", "--sign-in", "clara")
	if status, body := newVisitor(t).comes(away, "clara").get(away.url + "/v1/verbs"); status != http.StatusOK {
		t.Errorf("without its collector: %d %s", status, body)
	}
}

// What is done in somebody's name is told to them, whichever process did it, once, also
// after they were away; nobody else is told.
func TestEventsAreToldOnce(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, h *house) {
		one, two := h.serve("--log", "off", "--sign-in", "clara", "--sign-in", "jonas"), h.serve("--log", "off")
		clara, jonas := newVisitor(t).comes(one, "clara"), newVisitor(t).comes(one, "jonas")
		listen := func(v *visitor, last string) (events <-chan string, stop func()) {
			ctx, cancel := context.WithCancel(t.Context())
			r, _ := http.NewRequestWithContext(ctx, http.MethodGet, one.url+"/v1/events", nil)
			if last != "" {
				r.Header.Set("Last-Event-ID", last)
			}
			answer, err := v.Do(r)
			if err != nil || answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/event-stream" {
				t.Fatal(answer, err)
			}
			told := make(chan string, 100)
			lines := bufio.NewScanner(answer.Body)
			lines.Scan() // it begins with a comment: whoever listens does so from here on
			go func() {
				defer close(told)
				defer answer.Body.Close()
				for lines.Scan() {
					if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
						told <- id
					}
				}
			}()
			return told, cancel
		}
		next := func(from <-chan string) string {
			select {
			case id := <-from:
				return id
			case <-time.After(10 * time.Second):
				return "nothing"
			}
		}
		hers, stop := listen(clara, "")
		his, stopHis := listen(jonas, "")
		defer stopHis()
		note := func(i int) {
			if status, body, err := clara.post(two.url+"/v1/run", "", map[string]string{"script": fmt.Sprintf(aNote, i)}); err != nil || status != http.StatusOK {
				t.Fatal(status, body, err)
			}
		}
		note(1)
		if got := next(hers); got != "1" {
			t.Errorf("the first event is %s", got)
		}
		stop()
		note(2)
		note(3)
		hers, stop = listen(clara, "1")
		defer stop()
		if got := next(hers) + " " + next(hers); got != "2 3" {
			t.Errorf("after she was away she is told of %s", got)
		}
		select {
		case id := <-his:
			t.Errorf("jonas is told of %s", id)
		case id := <-hers:
			t.Errorf("she is told again of %s", id)
		case <-time.After(600 * time.Millisecond):
		}
	})
}

// G20: who is signed out, by a statement on the store too, hears nothing more of an open stream of
// events.
func TestAStreamEndsWithItsLogin(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	s := h.serve("--log", "off", "--sign-in", "clara")
	clara := newVisitor(t).comes(s, "clara")
	clara.Timeout = time.Minute
	answer, err := clara.Get(s.url + "/v1/events")
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal(answer, err)
	}
	defer answer.Body.Close()
	if err := alterFile(filepath.Join(h.dir, "verbatim.db"), "DELETE FROM verbatim_logins"); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if status, _ := clara.get(s.url + "/v1/verbs"); status == http.StatusUnauthorized {
			break
		}
		if time.Now().After(end) {
			t.Fatal("a second after its row is gone, the login is there")
		}
	}
	if err := os.WriteFile(filepath.Join(h.dir, "note.dsl"), fmt.Appendf(nil, aNote+"\n", 1), 0o666); err != nil {
		t.Fatal(err)
	}
	h.do("run", "--as", "clara", "--yes", "note.dsl")
	body, _ := io.ReadAll(answer.Body)
	if told := string(body); strings.Contains(told, "id: ") || !strings.Contains(told, `"sign-in"`) {
		t.Errorf("it is told %s", told)
	}
}

// Files come in bit by bit, are told by what is in them, and are used by calls.
func TestAFileIsSentAndUsed(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, h *house) {
		s := h.serve("--log", "off", "--sign-in", "clara", "--sign-in", "jonas")
		clara, jonas := newVisitor(t).comes(s, "clara"), newVisitor(t).comes(s, "jonas")
		passport, err := os.ReadFile(filepath.Join(h.dir, "passport.pdf"))
		if err != nil {
			t.Fatal(err)
		}
		status, body := clara.answer(clara.Post(s.url+"/v1/uploads?name=Passport.pdf", "application/octet-stream", bytes.NewReader(passport)))
		var file struct{ Reference, Type, Verdict string }
		if err := json.Unmarshal([]byte(body), &file); err != nil || status != http.StatusCreated || file.Type != "application/pdf" {
			t.Fatal(status, body, err)
		}
		asPublished(t, body)
		script := map[string]string{"script": fmt.Sprintf("client.submit-document :request-id @thomas-muller-identity :document-type PASSPORT :file %q", file.Reference)}
		if strings.Contains(h.do("explain", "client.submit-document"), ":file-reference") {
			script["script"] = strings.Replace(script["script"], ":file ", ":file-reference ", 1)
		}
		if status, body, err := clara.post(s.url+"/v1/run", "", script); err != nil || status != http.StatusOK {
			t.Error(status, body, err)
		}
		id := strings.TrimPrefix(file.Reference, "upload://")
		form := &bytes.Buffer{}
		parts := multipart.NewWriter(form)
		field, _ := parts.CreateFormFile("file", "Passport.pdf")
		_, _ = field.Write(passport)
		_ = parts.Close()
		if status, body := clara.answer(clara.Post(s.url+"/v1/uploads?name=Passport.pdf", parts.FormDataContentType(), form)); status != http.StatusUnsupportedMediaType || !strings.Contains(body, "the body is a form, and not the file") {
			t.Errorf("a form: %d %s", status, body)
		}
		status, body = clara.get(s.url + "/v1/uploads/" + id)
		if status != http.StatusOK || !strings.Contains(body, "Passport.pdf") {
			t.Error(status, body)
		}
		asPublished(t, body)
		_, theirs := jonas.get(s.url + "/v1/uploads/" + id)
		if status, none := jonas.get(s.url + "/v1/uploads/" + strings.Repeat("a", len(id))); status != http.StatusNotFound || masked(none) != masked(theirs) {
			t.Errorf("another's file: %s\nnone: %s", theirs, none)
		}
		huge := io.LimitReader(zeroes{}, 40<<20)
		if status, body := clara.answer(clara.Post(s.url+"/v1/uploads?name=huge.pdf", "application/octet-stream", huge)); status != http.StatusRequestEntityTooLarge {
			t.Error(status, body)
		}
	})
}

type zeroes struct{}

func (zeroes) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// free is an address that nobody listens at.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// provider starts the OpenID provider of npm's oidc-provider, as a process. Anew begins it again with
// other keys, and a clock that is off.
func provider(t *testing.T, redirect string) (issuer string, anew func(off time.Duration)) {
	t.Helper()
	judges := os.Getenv("TEST_JUDGES")
	module := filepath.Join(judges, "node_modules", "oidc-provider", "lib", "index.js")
	if _, err := os.Stat(module); judges == "" || err != nil {
		if os.Getenv("TEST_REQUIRE_OIDC") != "" {
			t.Fatal("there is no oidc-provider in TEST_JUDGES: make judges fetches it")
		}
		t.Skip("there is no oidc-provider in TEST_JUDGES: make judges fetches it")
	}
	port := free(t)
	script, err := filepath.Abs("testdata/provider.mjs")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", script, module, port, redirect)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	ready := func() {
		t.Helper()
		for lines.Scan() {
			if lines.Text() == "ready" {
				return
			}
		}
		t.Fatal("the provider does not begin")
	}
	ready()
	return "http://localhost:" + port, func(off time.Duration) {
		t.Helper()
		fmt.Fprintln(in, off.Seconds())
		ready()
	}
}

// passes goes through the pages of the provider as somebody, to where it sends them.
func (v *visitor) passes(from, who, until string) string {
	v.t.Helper()
	at := from
	for range 20 {
		if strings.HasPrefix(at, until) {
			return at
		}
		r, err := v.Client.Get(at)
		if err != nil {
			v.t.Fatal(err)
		}
		if r.StatusCode == http.StatusOK { // a page with a form: to say who they are, or that they agree
			_, page := v.answer(r, nil)
			action := regexp.MustCompile(`action="([^"]+)"`).FindStringSubmatch(page)
			prompt := regexp.MustCompile(`name="prompt" value="(\w+)"`).FindStringSubmatch(page)
			if action == nil || prompt == nil {
				v.t.Fatalf("%s is\n%s", at, page)
			}
			if r, err = v.Client.PostForm(action[1], url.Values{"prompt": {prompt[1]}, "login": {who}, "password": {"x"}}); err != nil {
				v.t.Fatal(err)
			}
		}
		to, err := r.Location()
		if err != nil {
			_, page := v.answer(r, nil)
			v.t.Fatalf("%s: %d\n%s", at, r.StatusCode, page)
		}
		r.Body.Close()
		at = to.String()
	}
	v.t.Fatal("the provider goes round in circles")
	return ""
}

// Whoever another system names signs in by that, where an administrator said so; the
// code is bound to the browser, and good once. That the other system is away keeps
// nobody else out. (F7)
func TestSigningInWithOpenID(t *testing.T) {
	t.Parallel()
	port := free(t)
	here := "http://localhost:" + port
	issuer, anew := provider(t, here+"/sign-in/openid/back")
	h := newHouse(t)
	h.people()
	h.script("ada", fmt.Sprintf(`system.add-identity :principal-id "nina" :issuer %q :subject "nina"`, issuer))
	// The provider signs with the time that it is.
	h.env = append(h.env, "VERBATIM_OPENID="+issuer, "VERBATIM_OPENID_CLIENT=verbatim", "VERBATIM_OPENID_SECRET=secret", "TICK=now")
	h.serve("--log", "off", "--listen", "127.0.0.1:"+port)
	nina := newVisitor(t)
	asked, err := nina.Client.Get(here + "/sign-in/openid?to=/v1/verbs")
	if err != nil || asked.StatusCode != http.StatusSeeOther || !strings.Contains(asked.Header.Get("Location"), "code_challenge_method=S256") {
		t.Fatal(asked, err)
	}
	back := nina.passes(asked.Header.Get("Location"), "nina", here)
	if status, body := newVisitor(t).get(back); status != http.StatusForbidden {
		t.Errorf("another browser comes back with her code: %d %s", status, body)
	}
	other := *nina
	if status, body := other.get(strings.Replace(back, "state=", "state=x", 1)); status != http.StatusForbidden {
		t.Errorf("another state: %d %s", status, body)
	}
	// That used the flow up; she begins again, and is through at once.
	asked, _ = nina.Client.Get(here + "/sign-in/openid?to=//evil.example")
	back = nina.passes(asked.Header.Get("Location"), "nina", here)
	r, err := nina.Client.Get(back)
	if err != nil || r.StatusCode != http.StatusSeeOther || r.Header.Get("Location") != "/" {
		_, body := nina.answer(r, err)
		t.Fatal(r.StatusCode, r.Header, body)
	}
	if status, body := nina.get(here + "/v1/verbs"); status != http.StatusOK || !strings.Contains(body, "client.add-note") {
		t.Errorf("%d %s", status, body)
	}
	if status, body := nina.get(back); status == http.StatusSeeOther {
		t.Errorf("the code is good twice: %d %s", status, body)
	}
	eve := newVisitor(t)
	asked, _ = eve.Client.Get(here + "/sign-in/openid")
	if status, body := eve.get(eve.passes(asked.Header.Get("Location"), "eve", here)); status != http.StatusForbidden || strings.Contains(body, "eve") {
		t.Errorf("nobody knows eve, and she is answered %d %s", status, body)
	}
	// What cannot be known is told as that, and what the provider says no to as a no.
	comes := func(who *visitor) (back string) {
		t.Helper()
		asked, err := who.Client.Get(here + "/sign-in/openid?to=/v1/verbs")
		if err != nil {
			t.Fatal(err)
		}
		asked.Body.Close()
		return who.passes(asked.Header.Get("Location"), "nina", here)
	}
	answered := func(what string, who *visitor, back string, want int) {
		t.Helper()
		r, err := who.Client.Get(back)
		if status, body := who.answer(r, err); status != want || status >= 500 && (status != http.StatusServiceUnavailable || r.Header.Get("Retry-After") == "") || strings.Contains(body, "token") {
			t.Errorf("%s: %d in place of %d, to come back in %q s: %s", what, status, want, r.Header.Get("Retry-After"), body)
		}
		want = map[bool]int{true: http.StatusOK, false: http.StatusUnauthorized}[want == http.StatusSeeOther]
		if status, _ := who.get(here + "/v1/verbs"); status != want {
			t.Errorf("%s: then she is answered %d, want %d", what, status, want)
		}
	}
	for _, c := range []struct {
		off  time.Duration // of the provider's clock; it has other keys each time
		want int
	}{{5 * time.Second, 303}, {-5 * time.Second, 303}, {time.Hour, 303}, {-time.Hour - time.Minute, 503}} {
		anew(c.off)
		who := newVisitor(t)
		answered(fmt.Sprint("a clock that is off by ", c.off), who, comes(who), c.want)
	}
	anew(0)
	lost := newVisitor(t)
	at := comes(lost)
	lost.Client.Jar, _ = cookiejar.New(nil)
	answered("a browser that lost its cookies", lost, at, 403)
	again := newVisitor(t)
	at = comes(again)
	was := again.Client.Jar.Cookies(mustURL(t, here))
	anew(0)
	answered("a provider that knows nothing of the code any more", again, at, 403)
	cancelled := mustURL(t, at)
	q := cancelled.Query()
	q.Del("code")
	for said, want := range map[string]int{"access_denied": 403, "temporarily_unavailable": 503} {
		again.Client.Jar.SetCookies(mustURL(t, here), was)
		q.Set("error", said)
		cancelled.RawQuery = q.Encode()
		answered(said, again, cancelled.String(), want)
	}
}

func mustURL(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// The description of the API is valid OpenAPI 3.1, and a client that a program of others
// makes of it makes a call.
func TestAClientIsMadeOfTheDescription(t *testing.T) {
	t.Parallel()
	judges := os.Getenv("TEST_JUDGES")
	if _, err := os.Stat(filepath.Join(judges, "node_modules", "openapi-client-axios")); judges == "" || err != nil {
		if os.Getenv("TEST_REQUIRE_OIDC") != "" {
			t.Fatal("there is no openapi-client-axios in TEST_JUDGES: make judges fetches it")
		}
		t.Skip("there is no openapi-client-axios in TEST_JUDGES: make judges fetches it")
	}
	h := newHouse(t)
	h.people()
	s := h.serve("--log", "off")
	token := h.token("all", "--as", "ada", "--for", "ada", "--url", s.url, "--origin", "script")
	r, _ := http.NewRequest(http.MethodGet, s.url+"/v1/openapi.json", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	status, description := newVisitor(t).answer(http.DefaultClient.Do(r))
	file := filepath.Join(h.dir, "openapi.json")
	if err := os.WriteFile(file, []byte(description), 0o666); err != nil || status != http.StatusOK {
		t.Fatal(status, err)
	}
	out, err := exec.Command("node", "testdata/openapi.mjs", judges, file, token).Output()
	if want := "valid true \nadded 200 done\nagain 200 true\nwrong 422 invalid\n"; err != nil || string(out) != want {
		t.Errorf("%v, it says\n%s\nwant\n%s", err, out, want)
	}
}

// Every code that the server answers with is explained where its problem says.
func TestCodesOfTheServerAreExplained(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, d := range allCodes() {
		known[d.Code] = true
	}
	files, err := filepath.Glob(filepath.Join(root, "runtime", "frontends", "http", "*", "*.go"))
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	named := regexp.MustCompile(`Code: +"([a-z-]+)"|(?m)^\t"([a-z-]+)": http\.Status|, "([a-z-]+)": http\.Status`)
	found := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, m := range named.FindAllStringSubmatch(string(text), -1) {
			found++
			if code := m[1] + m[2] + m[3]; !known[code] {
				t.Errorf("%s answers with %s, which nobody explains", filepath.Base(file), code)
			}
		}
	}
	if found < 40 {
		t.Errorf("only %d codes were found", found)
	}
}

// asPublished holds a document to the form that `verbatim help json` publishes.
func asPublished(t *testing.T, text string) {
	t.Helper()
	var doc any
	schema, err := publishedSchema()
	if err == nil {
		err = json.Unmarshal([]byte(text), &doc)
	}
	if err == nil {
		err = schema.Validate(doc)
	}
	if err != nil {
		t.Errorf("%#v\n%s", err, text)
	}
}

// A server that is killed right after an agreement has noted it: in a store that is put back to a
// moment before, the agreement cannot be used again. (SAFE-C1, SAFE-R13)
func TestAKilledServerHasNotedWhatWasAgreedTo(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	s := h.serve("--log", "error", "--sign-in", "t.weber", "--sign-in", "a.nowak")
	weber, nowak := newVisitor(t).comes(s, "t.weber"), newVisitor(t).comes(s, "a.nowak")
	text, err := os.ReadFile(filepath.Join(h.dir, "waive.dsl"))
	if err != nil {
		t.Fatal(err)
	}
	if status, body, err := weber.post(s.url+"/v1/propose", "", map[string]string{"script": string(text)}); err != nil || status >= 400 {
		t.Fatal(status, body, err)
	}
	_, body := nowak.get(s.url + "/v1/confirmations")
	_, id, _ := strings.Cut(body, `"id":"`)
	id, _, _ = strings.Cut(id, `"`)
	h.do("backup", "before.db")
	if status, body, err := nowak.post(s.url+"/v1/confirmations/"+id+"/agree", "", map[string]string{}); err != nil || status != http.StatusOK {
		t.Fatal(status, body, err)
	}
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	for _, end := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(filepath.Join(h.dir, "verbatim.db"+end))
	}
	if err := os.Rename(filepath.Join(h.dir, "before.db"), filepath.Join(h.dir, "verbatim.db")); err != nil {
		t.Fatal(err)
	}
	if told := h.do("confirm", "--as", "a.nowak"); !strings.Contains(told, "was dropped (1)") || strings.Contains(told, id) {
		t.Errorf("what was agreed to waits again: %s", told)
	}
}

// SAFE-R5: over HTTP a script can be committed call by call; under its key it is done once, however it
// is sent again, and another script under the key is refused.
func TestEachCallOverHTTPIsDoneOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	s := h.serve("--log", "off", "--sign-in", "clara")
	clara := newVisitor(t).comes(s, "clara")
	script := fmt.Sprintf(aNote, 1) + "\n" + fmt.Sprintf(aNote, 2)
	for i, body := range []map[string]any{{"script": script, "each": true}, {"script": script, "each": true}, {"script": script}} {
		status, answer, err := clara.post(s.url+"/v1/run", "k", body)
		if err != nil || status != http.StatusOK || strings.Contains(answer, `"repeated":true`) != (i > 0) || strings.Count(answer, `"verb":"client.add-note"`) != 2 {
			t.Fatalf("%v: %d %s %v", body, status, answer, err)
		}
	}
	if status, answer, err := clara.post(s.url+"/v1/run", "k", map[string]any{"script": fmt.Sprintf(aNote, 3), "each": true}); err != nil || status == http.StatusOK || !strings.Contains(answer, "key-reused") {
		t.Errorf("%d %s %v", status, answer, err)
	}
}
