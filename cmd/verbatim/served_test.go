package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
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

// onBoth runs a test in a house on each of the stores.
func onBoth(t *testing.T, test func(t *testing.T, h *house)) {
	lay := func(t *testing.T) *house {
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
		return &house{t, dir, []string{"PATH=" + filepath.Join(dir, ".bin") + ":" + os.Getenv("PATH"), "XDG_STATE_HOME=" + filepath.Join(dir, ".state"), "VERBATIM_SCAN=none", "TICK=1ms"}}
	}
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(t, lay(t))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		db := pgtest.Database(t)
		h := lay(t)
		h.env = append(h.env, "VERBATIM_STORE="+db.Owner, "VERBATIM_FILES="+filepath.Join(h.dir, "files"))
		h.do("migrate", "--grant-to", "verbatim_app", "--data", "bank.postgres.sql", "--data", "people.sql")
		h.env = append(h.env, "VERBATIM_STORE="+db.App)
		test(t, h)
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
		if got := strings.Count(h.do("log", "show"), "\tok\t"); got != cuts {
			t.Errorf("%d notes were written, %d were asked for\n%s", got, cuts, h.do("log", "show"))
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
		if got := strings.Count(h.do("log", "show"), "\tok\t"); got < acknowledged {
			t.Errorf("%d were acknowledged, %d are there", acknowledged, got)
		}
	})
}
