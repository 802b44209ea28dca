package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"verbatim/runtime/frontends/channel/whatsapp/cloudtest"
)

// reload has a server read its configuration again, and returns what it logs of that.
func (s *running) reload(t *testing.T) string {
	t.Helper()
	const line = `"msg":"reload"`
	before := strings.Count(s.said.String(), line)
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if said := s.said.String(); strings.Count(said, line) > before {
			last := said[strings.LastIndex(said, line):]
			if all, _, whole := strings.Cut(last, "\n"); whole {
				return all
			}
		}
	}
	t.Fatalf("the server does not reload:\n%s", s.said)
	return ""
}

// edits replaces a text in a file of the house.
func (h *house) edits(name, old, by string) {
	h.t.Helper()
	file := filepath.Join(h.dir, name)
	text, err := os.ReadFile(file)
	if err == nil && strings.Count(string(text), old) != 1 {
		err = fmt.Errorf("%q stands %d times in %s", old, strings.Count(string(text), old), name)
	}
	if err == nil {
		err = os.WriteFile(file, []byte(strings.Replace(string(text), old, by, 1)), 0o600)
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

// renews puts another certificate in place of one, and returns its pool.
func renews(t *testing.T, cert, key string) *x509.CertPool {
	t.Helper()
	return renewsFor(t, cert, key, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
}

// renewsFor puts a certificate in place of one that holds for a time.
func renewsFor(t *testing.T, cert, key string, from, until time.Time) *x509.CertPool {
	t.Helper()
	newCert, newKey, pool := certificateFor(t, from, until)
	for from, to := range map[string]string{newCert: cert, newKey: key} {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	return pool
}

// shakes reports whether a connection from now on is shown a certificate that a pool knows.
func shakes(url string, pool *x509.CertPool) error {
	c, err := tls.Dial("tcp", strings.TrimPrefix(url, "https://"), &tls.Config{RootCAs: pool})
	if err == nil {
		err = c.Close()
	}
	return err
}

// G88: certificate, palettes and secrets are exchanged again and again under load, and no request fails:
// each is answered, and each write that was acknowledged is in the journal once.
func TestAReloadLosesNoRequest(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, h *house) {
		cert, key, _ := certificate(t)
		organisation := filepath.Join(h.dir, "organisation")
		if err := os.WriteFile(organisation, []byte("Bank 0\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		h.env = append(h.env, "VERBATIM_ORGANISATION_FILE="+organisation)
		s := h.serve("--tls-cert", cert, "--tls-key", key, "--sign-in", "clara")
		clara := newVisitor(t)
		// Which certificate is shown is looked at apart; here connections come and go while it changes.
		clara.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, MaxIdleConnsPerHost: 4}
		clara.comes(s, "clara")
		var stop atomic.Bool
		var asked, written, streams atomic.Int64
		var load sync.WaitGroup
		for worker := range 3 {
			load.Go(func() {
				for n := 0; !stop.Load(); n++ {
					time.Sleep(20 * time.Millisecond)
					status, body, err := clara.post(s.url+"/v1/run", fmt.Sprint(worker, "-", n), map[string]string{"script": fmt.Sprintf(aNote, n)})
					if err == nil && status == http.StatusOK {
						written.Add(1)
					} else if err != nil || status != http.StatusServiceUnavailable || !strings.Contains(body, `"busy"`) { // another writer was quicker, as at any time
						t.Errorf("a write: %d %s %v", status, body, err)
						return
					}
				}
			})
			load.Go(func() {
				for !stop.Load() {
					r, err := clara.Get(s.url + "/v1/verbs")
					if err != nil || r.StatusCode != http.StatusOK {
						t.Errorf("a read: %v %v", r, err)
						return
					}
					if status, body := clara.answer(r, nil); status != http.StatusOK || !strings.Contains(body, "client.add-note") {
						t.Errorf("a read: %d %s", status, body)
					}
					asked.Add(1)
					time.Sleep(20 * time.Millisecond) // more would be too many of one address
				}
			})
		}
		load.Go(func() { // a stream ends whole, and who listens comes back
			for !stop.Load() {
				ctx, end := context.WithTimeout(t.Context(), 5*time.Second)
				req, _ := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/v1/events", nil)
				req.Header.Set("Accept", "text/event-stream")
				r, err := clara.Do(req)
				if err != nil || r.StatusCode != http.StatusOK {
					t.Errorf("a stream: %v %v", r, err)
					end()
					return
				}
				buffer := make([]byte, 4096)
				for err == nil {
					_, err = r.Body.Read(buffer)
				}
				if err.Error() != "EOF" && ctx.Err() == nil {
					t.Errorf("a stream breaks off: %v", err)
				}
				r.Body.Close()
				end()
				streams.Add(1)
			}
		})
		const reloads = 8
		description := "It reads what the internal teams wrote"
		for n := range reloads {
			next := fmt.Sprintf("It reads, %d times, what the teams wrote", n)
			h.edits("verbs/client.yaml", description, next)
			description = next
			pool := renews(t, cert, key)
			if err := os.WriteFile(organisation, fmt.Appendf(nil, "Bank %d\n", n+1), 0o600); err != nil {
				t.Fatal(err)
			}
			if said := s.reload(t); !strings.Contains(said, `"read":["certificate","palettes","configuration"]`) || strings.Contains(said, "refused") {
				t.Fatal(said)
			}
			if err := shakes(s.url, pool); err != nil {
				t.Errorf("after reload %d the certificate before is shown: %v", n, err)
			}
		}
		stop.Store(true)
		load.Wait()
		if asked.Load() < reloads || written.Load() < reloads || streams.Load() < reloads/2 {
			t.Errorf("under load stood %d reads, %d writes and %d streams", asked.Load(), written.Load(), streams.Load())
		}
		if _, page := clara.get(s.url + "/sign-in"); !strings.Contains(page, fmt.Sprintf("Bank %d", reloads)) {
			t.Error("the pages are not those of the organisation that was read last")
		}
		if got := int64(h.done()); got != written.Load() {
			t.Errorf("%d writes were acknowledged, and the journal has %d", written.Load(), got)
		}
		if _, counts := clara.get(s.url + "/metrics"); !strings.Contains(counts, fmt.Sprintf("verbatim_request_seconds_count{route=\"POST /v1/run\",status=\"200\"} %d\n", written.Load())) {
			t.Errorf("the %d writes are not counted over all reloads", written.Load())
		}
		t.Logf("%d reloads beside %d reads, %d writes and %d streams", reloads, asked.Load(), written.Load(), streams.Load())
	})
}

// G88: what cannot be used is refused whole and the one before goes on; the log says so once, with the
// diagnostics, and /readyz which palettes are in use and what was refused.
func TestAReloadRefusesWhatCannotBeUsed(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	cert, key, pool := certificate(t)
	organisation, listen := filepath.Join(h.dir, "organisation"), filepath.Join(h.dir, "metrics")
	if err := os.WriteFile(organisation, []byte("The first bank"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(listen, []byte("127.0.0.1:0"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.env = append(h.env, "VERBATIM_ORGANISATION_FILE="+organisation, "VERBATIM_METRICS_FILE="+listen)
	s := h.serve("--tls-cert", cert, "--tls-key", key, "--sign-in", "clara")
	clara := newVisitor(t)
	clara.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	clara.comes(s, "clara")
	palettes := func() string {
		_, body := clara.get(s.url + "/readyz")
		_, version, _ := strings.Cut(body, "palettes ")
		version, _, _ = strings.Cut(version, "\n")
		return version
	}
	first := palettes()
	refuses := func(said, what string, why ...string) {
		t.Helper()
		if !strings.Contains(said, `"refused":[`+what+`]`) || !strings.Contains(said, `"palettes":"`+palettes()+`"`) {
			t.Errorf("%s is not refused: %s", what, said)
		}
		for _, part := range why {
			if !strings.Contains(said, part) {
				t.Errorf("%q is not in %s", part, said)
			}
		}
		if _, body := clara.get(s.url + "/readyz"); !strings.Contains(body, "the last reload refused the "+strings.ReplaceAll(strings.ReplaceAll(what, `"`, ""), ",", ", ")) {
			t.Errorf("/readyz: %s", body)
		}
	}
	// A palette with a mistake is refused with its place, and all else is read.
	h.edits("verbs/client.yaml", "roles: [client]\n    phrases: [\"which companies", "roles: [clint\n    phrases: [\"which companies")
	if err := os.WriteFile(organisation, []byte("The second bank"), 0o600); err != nil {
		t.Fatal(err)
	}
	said := s.reload(t)
	refuses(said, `"palettes"`, "client.yaml:", `"read":["certificate","configuration"]`)
	if _, page := clara.get(s.url + "/sign-in"); palettes() != first || !strings.Contains(page, "The second bank") {
		t.Error("beside a palette with a mistake nothing is read")
	}
	h.edits("verbs/client.yaml", "[clint\n", "[client]\n")
	// So is one that the store is not prepared for.
	for managed, why := range map[string]string{"": "table whims is not there", "    managed: true\n": "missing: table whims"} {
		whim := "entities:\n  whim:\n    table: whims\n    key: whim_id\n    scope: self\n    label: \"{text}\"\n" + managed + "    fields:\n      text: {type: string, required: true}\n"
		h.edits("verbs/client.yaml", "\nverbs:\n", "\n"+whim+"verbs:\n")
		if said = s.reload(t); !strings.Contains(said, why) || !strings.Contains(said, "verbatim migrate") {
			t.Error(said)
		}
		refuses(said, `"palettes"`)
		h.edits("verbs/client.yaml", whim, "")
	}
	// A certificate without its key, and a file that is gone.
	other, _, _ := certificate(t)
	was, err := os.ReadFile(cert)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(other, cert); err != nil {
		t.Fatal(err)
	}
	refuses(s.reload(t), `"certificate"`, "the certificate cannot be used", `"read":["palettes","configuration"]`)
	if err := shakes(s.url, pool); err != nil {
		t.Errorf("the certificate before is not shown any more: %v", err)
	}
	if err := os.WriteFile(cert, was, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(organisation); err != nil {
		t.Fatal(err)
	}
	refuses(s.reload(t), `"configuration"`, "VERBATIM_ORGANISATION_FILE names a file that cannot be read", `"read":["certificate"]`)
	if _, page := clara.get(s.url + "/sign-in"); !strings.Contains(page, "The second bank") {
		t.Error("half of a configuration is in use")
	}
	// Once all is well, all is read; an address is not, and the log says so.
	if err := os.WriteFile(organisation, []byte("The third bank"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(listen, []byte("127.0.0.1:1"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.edits("verbs/client.yaml", "It reads what the internal teams wrote", "It reads what the teams wrote")
	if said = s.reload(t); strings.Contains(said, "refused") || !strings.Contains(said, `"unchanged":["--metrics"]`) || palettes() == first {
		t.Error(said)
	}
	if _, body := clara.get(s.url + "/readyz"); strings.Contains(body, "refused") {
		t.Error(body)
	}
	if out := h.do("doctor"); !strings.Contains(out, palettes()) {
		t.Errorf("doctor does not say which palettes there are:\n%s", out)
	}
}

// What waits for an agreement was asked for under the palettes of then: after a reload that changed
// them, whoever would agree is told so, and nothing is done.
func TestAnAgreementIsOfThePalettesThatItWasAskedUnder(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.env = append(h.env, "TICK=now")
	s := h.serve("--sign-in", "t.weber", "--sign-in", "a.nowak")
	weber, nowak := newVisitor(t).comes(s, "t.weber"), newVisitor(t).comes(s, "a.nowak")
	text, err := os.ReadFile(filepath.Join(h.dir, "waive.dsl"))
	if err != nil {
		t.Fatal(err)
	}
	asks := func() string {
		t.Helper()
		if status, body, err := weber.post(s.url+"/v1/propose", "", map[string]string{"script": string(text)}); err != nil || status >= 400 {
			t.Fatal(status, body, err)
		}
		status, body := nowak.get(s.url + "/v1/confirmations")
		_, id, _ := strings.Cut(body, `"id":"`)
		if id, _, _ = strings.Cut(id, `"`); status >= 400 || id == "" {
			t.Fatal(status, body)
		}
		return id
	}
	agrees := func(id, code string, want int) {
		t.Helper()
		status, body, err := nowak.post(s.url+"/v1/confirmations/"+id+"/agree", "", map[string]string{})
		if err != nil || status != want || !strings.Contains(body, code) {
			t.Errorf("agreed to, it is answered %d %s %v, and not %d %s", status, body, err, want, code)
		}
	}
	before := h.done()
	id := asks()
	if said := s.reload(t); strings.Contains(said, "refused") { // nothing changed
		t.Fatal(said)
	}
	h.edits("verbs/review.yaml", "expires: 3d, reason: a requirement is waived", "expires: 2d, reason: a requirement is waived")
	if said := s.reload(t); strings.Contains(said, "refused") {
		t.Fatal(said)
	}
	agrees(id, `"other-palette"`, http.StatusConflict)
	if got := h.done(); got != before {
		t.Errorf("%d calls were done", got-before)
	}
	// Under the palettes that it was asked under it counts again.
	h.edits("verbs/review.yaml", "expires: 2d, reason: a requirement is waived", "expires: 3d, reason: a requirement is waived")
	if said := s.reload(t); strings.Contains(said, "refused") {
		t.Fatal(said)
	}
	agrees(id, "", http.StatusOK)
}

// The database's password is changed under a server whose VERBATIM_STORE_FILE is written anew: no
// request fails, without a reload, whichever of the two comes first.
func TestTheDatabasesPasswordIsChangedUnderAServer(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	db := bankDatabase(t)
	at, change := db.Keyed(t, "first")
	file := filepath.Join(h.dir, "store")
	says := func(passwords ...string) {
		t.Helper()
		var all []string
		for _, p := range passwords {
			all = append(all, at(p))
		}
		if err := os.WriteFile(file, []byte(strings.Join(all, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	says("first")
	h.env = append(h.env, "VERBATIM_STORE_FILE="+file, "VERBATIM_FILES="+filepath.Join(h.dir, "files"), "TICK=now")
	s := h.serve("--sign-in", "clara")
	clara := newVisitor(t).comes(s, "clara")
	n := 0
	writes := func(when string) {
		t.Helper()
		for range 3 {
			n++
			script := map[string]string{"script": fmt.Sprintf(aNote, n)}
			status, body, err := 0, "", error(nil)
			for range 20 { // the server ended connections, which says nothing of passwords: a client sends it again
				if status, body, err = clara.post(s.url+"/v1/run", fmt.Sprint("key-", n), script); err != nil || status != http.StatusServiceUnavailable {
					break
				}
			}
			if err != nil || status != http.StatusOK {
				t.Errorf("%s: %d %s %v", when, status, body, err)
			}
		}
	}
	writes("with the first")
	says("second", "first")
	change("first")
	writes("the file has both, the database the first")
	change("second")
	writes("the database has the second")
	says("third")
	change("third")
	writes("both have the third")
	if said := s.reload(t); strings.Contains(said, "refused") || strings.Contains(said, "unchanged") {
		t.Error(said)
	}
	if got := h.done(); got != n {
		t.Errorf("%d writes were acknowledged, and the journal has %d", n, got)
	}
	if strings.Contains(s.said.String(), "third") {
		t.Error("the log holds a password")
	}
}

// The secrets of channels are changed: a file holds the new one and the old one, the server reloads, and
// what either signed is taken; then the old one goes.
func TestSecretsOfChannelsAreChangedByReloads(t *testing.T) {
	messaging(t, func(t *testing.T, h *house, _ *cloudtest.Server, _ <-chan string) {
		app, key := filepath.Join(h.dir, "app"), filepath.Join(h.dir, "mailgun")
		says := func(secrets string) {
			t.Helper()
			for _, file := range []string{app, key} {
				if err := os.WriteFile(file, []byte(secrets), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		says("before\n")
		h.env = append(h.env, "WA_SECRET=", "WA_SECRET_FILE="+app, "MG_KEY=", "MG_KEY_FILE="+key)
		s := h.serve("--no-work")
		n := 0
		taken := func(secret string) (whatsapp, mailgun bool) {
			t.Helper()
			n++
			body := `{"object":"whatsapp_business_account","entry":[]}`
			r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/channels/whatsapp", strings.NewReader(body))
			r.Header.Set("X-Hub-Signature-256", cloudtest.Sign(secret, []byte(body)))
			one, _ := newVisitor(t).answer(http.DefaultClient.Do(r))
			stamp, token := fmt.Sprint(time.Now().Unix()), fmt.Sprint("token-", n)
			mac := hmac.New(sha256.New, []byte(secret))
			mac.Write([]byte(stamp + token))
			other, _ := newVisitor(t).form(s.url+"/channels/mail/mime", url.Values{"timestamp": {stamp}, "token": {token}, "signature": {hex.EncodeToString(mac.Sum(nil))},
				"recipient": {"deals@umza.example"}, "body-mime": {"From: eve@evil.example\r\nSubject: n\r\n\r\nHello\r\n"}})
			return one == http.StatusOK, other == http.StatusOK
		}
		for _, step := range []struct {
			secrets     string
			before, now bool
		}{{"before\n", true, false}, {"now\nbefore\n", true, true}, {"now\n", false, true}} {
			says(step.secrets)
			if said := s.reload(t); strings.Contains(said, "refused") {
				t.Fatal(said)
			}
			for secret, want := range map[string]bool{"before": step.before, "now": step.now} {
				if whatsapp, mailgun := taken(secret); whatsapp != want || mailgun != want {
					t.Errorf("where the secrets are %q, what %q signed is taken: %v by WhatsApp, %v by mail", step.secrets, secret, whatsapp, mailgun)
				}
			}
		}
	})
}

// A certificate that has expired, or does not hold yet, is refused at a reload, and the good one goes on; at the start
// the log and /readyz say so. W9
func TestACertificateOutOfTimeIsRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.env = append(h.env, "TICK=now")
	cert, key, good := certificate(t)
	s := h.serve("--tls-cert", cert, "--tls-key", key)
	now := time.Now()
	for why, holds := range map[string][2]time.Time{"has expired: it held until": {now.Add(-2 * time.Hour), now.Add(-time.Hour)}, "does not hold yet: it holds from": {now.Add(time.Hour), now.Add(2 * time.Hour)}} {
		renewsFor(t, cert, key, holds[0], holds[1])
		if log := s.reload(t); !strings.Contains(log, why) || !strings.Contains(log, `"refused":["certificate"]`) {
			t.Errorf("%q is not in %s", why, log)
		}
		if err := shakes(s.url, good); err != nil {
			t.Errorf("the good certificate does not go on: %v", err)
		}
	}
	s.stop()

	renewsFor(t, cert, key, now.Add(-2*time.Hour), now.Add(-time.Hour))
	s = h.serve("--tls-cert", cert, "--tls-key", key)
	v := newVisitor(t)
	v.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	if status, body := v.get(s.url + "/readyz"); status != http.StatusOK || !strings.Contains(body, "\nthe certificate has expired: it held until ") {
		t.Errorf("/readyz: %d %s", status, body)
	}
	s.stop()
	if log := s.said.String(); !strings.Contains(log, `"msg":"certificate","why":"the certificate has expired`) {
		t.Errorf("the log does not say so:\n%s", log)
	}
	h.fails("the certificate has expired: it held until "+now.Add(-time.Hour).UTC().Format("2006-01-02T15:"), "doctor", "--tls-cert", cert, "--tls-key", key)
}
