package main

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"verbatim/stores/postgres/pgtest"
)

// A letter that cannot leave is one line of the log with its target, its cause and the next time,
// and counts and gauges of it are scraped at an address of their own, by any name. G82, G84
func TestWhatFailsIsWatched(t *testing.T) {
	t.Parallel()
	h := onServer(t)
	h.people()
	h.script("ada", `system.add-identity :principal-id "bo" :issuer "email" :subject "bo@bank.example"`)
	gone, err := net.Listen("tcp", "127.0.0.1:0") // a server of mail that is down
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	letters := filepath.Join(h.dir, "letters.json")
	if err := os.WriteFile(letters, fmt.Appendf(nil, `{"channels": {"post": {"kind": "smtp", "server": %q, "from": "portal@bank.example", "tls": "none"}}, "routes": {"letters": {"channel": "post"}}}`, gone.Addr()), 0o666); err != nil {
		t.Fatal(err)
	}
	h.env = append(h.env, "VERBATIM_NOTIFY="+letters)
	h.proposes(`system.grant-high-role :principal-id @nina :role "analyst"`)

	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	watch := free.Addr().String()
	free.Close()
	s := h.serve("--metrics", watch, "--log", "error")
	scrape := func() string {
		r, _ := http.NewRequest(http.MethodGet, "http://"+watch+"/metrics", nil)
		r.Host = "verbatim.pods.example:9090"
		answer, err := http.DefaultClient.Do(r)
		status, body := newVisitor(t).answer(answer, err)
		if status != http.StatusOK {
			t.Fatal(status, body)
		}
		return body
	}
	failed := regexp.MustCompile(`verbatim_job_runs_total\{channel="letters",outcome="failed"\} [1-9]`)
	waits := regexp.MustCompile(`verbatim_oldest_failing_job_seconds [^0]|verbatim_oldest_failing_job_seconds 0\.`)
	newVisitor(t).get(s.url + "/healthz")
	body := scrape()
	for end := time.Now().Add(time.Minute); !failed.MatchString(body) || !waits.MatchString(body); body = scrape() {
		if time.Now().After(end) {
			t.Fatalf("the failed letter is not counted:\n%s", body)
		}
		time.Sleep(50 * time.Millisecond)
	}
	for _, want := range []string{`verbatim_store_up 1`, `verbatim_jobs\{state="waiting"\} [1-9]`, `verbatim_build_info\{palettes="[0-9a-f]+",version="[^"]+"\} 1`} {
		if !regexp.MustCompile(want).MatchString(body) {
			t.Errorf("%s is not in\n%s", want, body)
		}
	}
	if status, _ := newVisitor(t).get("http://" + watch + "/readyz"); status != http.StatusNotFound {
		t.Errorf("the address for metrics answers %d to something else", status)
	}
	s.stop()
	for _, part := range []string{`"msg":"job"`, `"outcome":"failed"`, `"target":"agreement"`, `"attempt":1`, `"again":"20`, `cannot be reached: connection refused`} {
		if !strings.Contains(s.said.String(), part) {
			t.Errorf("%s is not in the log:\n%s", part, s.said)
		}
	}
}

// A letter with a sign-in link is tried again: the server of mail comes back, the letter comes, and
// the link in it signs in. G86
func TestASignInLetterIsTriedAgain(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.people()
	h.script("ada", `system.add-identity :principal-id "nina" :issuer "email" :subject "nina@allianz.example"`)
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := gone.Addr().String()
	gone.Close()
	letters := filepath.Join(h.dir, "letters.json")
	if err := os.WriteFile(letters, fmt.Appendf(nil, `{"channels": {"post": {"kind": "smtp", "server": %q, "from": "portal@bank.example", "tls": "none"}}, "routes": {"letters": {"channel": "post"}}}`, at), 0o666); err != nil {
		t.Fatal(err)
	}
	h.env = append(h.env, "VERBATIM_NOTIFY="+letters)
	s := h.serve("--log", "error")
	nina := newVisitor(t)
	if status, body := nina.form(s.url+"/sign-in/mail", url.Values{"email": {"nina@allianz.example"}}); status != http.StatusOK {
		t.Fatal(status, body)
	}
	failed := regexp.MustCompile(`verbatim_job_runs_total\{channel="letters",outcome="failed"\} [1-9]`)
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if _, body := nina.get(s.url + "/metrics"); failed.MatchString(body) {
			break
		} else if time.Now().After(end) {
			t.Fatalf("nothing was tried:\n%s", body)
		}
	}
	_, mail := mailServerAt(t, at)
	select {
	case text := <-mail:
		m := regexp.MustCompile(`link=([\w-]+)`).FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("the mail is\n%s", text)
		}
		if status, body := nina.form(s.url+"/sign-in/link", url.Values{"link": {m[1]}, "to": {"/"}}); status != http.StatusSeeOther {
			t.Errorf("the link of a letter that left late: %d %s", status, body)
		}
	case <-time.After(time.Minute):
		t.Fatal("no letter came although the server of mail is back")
	}
}

// Why a server is not ready stands in its log once, and that it is ready again. G88
func TestTheLogHasWhyItIsNotReady(t *testing.T) {
	t.Parallel()
	own := pgtest.Own(t)
	h := newHouse(t)
	h.env = append(h.env, "VERBATIM_STORE="+own.Owner, "VERBATIM_FILES="+filepath.Join(h.dir, "files"))
	h.do("migrate", "--grant-to", "verbatim_app", "--data", "bank.postgres.sql", "--data", "people.sql")
	h.env = append(h.env, "VERBATIM_STORE="+own.App)
	s := h.serve("--no-work")
	v := newVisitor(t)
	release := own.Hang(t)
	for range 3 {
		if status, body := v.get(s.url + "/readyz"); status != http.StatusServiceUnavailable {
			t.Errorf("it is ready while its store is silent: %d %s", status, body)
		}
	}
	release()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if status, body := v.get(s.url + "/readyz"); status == http.StatusOK {
			break
		} else if time.Now().After(end) {
			t.Fatalf("it is not ready again: %s", body)
		}
	}
	s.stop()
	if log := s.said.String(); strings.Count(log, `"msg":"not ready"`) != 1 || strings.Count(log, `"msg":"ready again"`) != 1 {
		t.Errorf("the log says\n%s", log)
	}
}
