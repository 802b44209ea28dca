package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"verbatim/runtime/frontends/channel/whatsapp/cloudtest"
	"verbatim/stores/postgres/pgtest"
)

const (
	ourNumber = "106540352242922"
	hers      = "491515550199"
)

// messaging is a house with a small palette that people reach by WhatsApp and mail, the
// WhatsApp, and the mails that are sent.
func messaging(t *testing.T, test func(t *testing.T, h *house, cloud *cloudtest.Server, mails <-chan string)) {
	t.Parallel()
	lay := func(t *testing.T) *house {
		dir := t.TempDir()
		for _, name := range []string{".bin", "verbs"} {
			if err := os.Mkdir(filepath.Join(dir, name), 0o777); err != nil {
				t.Fatal(err)
			}
		}
		if err := putProgram(filepath.Join(dir, ".bin")); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(root, "runtime", "frontends", "channel", "testdata", "desk.yaml"))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "verbs", "desk.yaml"), text, 0o666)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "desk.sql"), []byte(`
INSERT INTO org (org_id, name) VALUES ('00000001-0000-4000-8000-000000000001', 'UMZA');
INSERT INTO project (project_id, org, name) VALUES ('00000002-0000-4000-8000-000000000001', '00000001-0000-4000-8000-000000000001', 'Solar One');
`), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		return &house{t, dir, []string{"PATH=" + filepath.Join(dir, ".bin") + ":" + os.Getenv("PATH"), "XDG_STATE_HOME=" + filepath.Join(dir, ".state"), "VERBATIM_SCAN=none", "TICK=now"}}
	}
	play := func(t *testing.T, h *house) {
		h.do("migrate", "--administrator", "ada", "--administrator", "bo")
		h.script("ada", `system.add-principal :name "nora" :label "Nora" :as @nora
system.grant-role :principal-id @nora :role "member"
system.grant-scope :principal-id @nora :entity "org" :key "00000001-0000-4000-8000-000000000001"
system.add-principal :name "channels" :as @channels
system.add-principal :name "tia" :as @tia`)
		h.script("ada", `system.grant-high-role :principal-id "channels" :role "channel-door"`)
		h.script("ada", `system.grant-high-role :principal-id "tia" :role "triage"`)
		h.script("ada", fmt.Sprintf(`system.add-identity :principal-id "nora" :issuer "whatsapp_phone" :subject "+%s"`, hers))
		cloud := cloudtest.New(cloudtest.Options{Token: "token", Secret: "secret", Verify: "verify", Number: ourNumber})
		api := httptest.NewServer(cloud)
		t.Cleanup(api.Close)
		post, mails := mailServer(t)
		config, err := json.Marshal(map[string]any{"private": true, "whatsapp": map[string]any{"api": api.URL + "/v23.0", "numbers": []string{ourNumber}, "token-env": "WA_TOKEN", "secret-env": "WA_SECRET", "verify-env": "WA_VERIFY", "media-hosts": []string{"127.0.0.1"}},
			"mail": map[string]any{"domain": "umza.example", "inboxes": []string{"deals@umza.example"}, "mailgun-key-env": "MG_KEY", "submission": map[string]any{"server": post, "security": "none"}}})
		if err == nil {
			err = os.WriteFile(filepath.Join(h.dir, "channels.json"), config, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		h.env = append(h.env, "VERBATIM_CHANNELS=channels.json", "WA_TOKEN=token", "WA_SECRET=secret", "WA_VERIFY=verify", "MG_KEY=key")
		test(t, h, cloud, mails)
	}
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		h := lay(t)
		h.do("migrate")
		h.do("migrate", "--data", "desk.sql")
		play(t, h)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		db := pgtest.Database(t)
		h := lay(t)
		h.env = append(h.env, "VERBATIM_STORE="+db.Owner, "VERBATIM_FILES="+filepath.Join(h.dir, "files"))
		h.do("migrate", "--grant-to", "verbatim_app")
		h.do("migrate", "--grant-to", "verbatim_app", "--data", "desk.sql")
		h.env = append(h.env, "VERBATIM_STORE="+db.App)
		play(t, h)
	})
}

// sent waits until so many messages were sent, and a little longer.
func sent(t *testing.T, cloud *cloudtest.Server, want int) []cloudtest.Sent {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); len(cloud.Sent()) < want && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	time.Sleep(300 * time.Millisecond)
	all := cloud.Sent()
	if len(all) != want {
		t.Fatalf("%d messages were sent, not %d: %+v", len(all), want, all)
	}
	return all
}

// SAFE-H2: a message that was acknowledged is handled though the process is killed before it
// is, once, whichever of two processes it arrives at again.
func TestAMessageSurvivesAKill(t *testing.T) {
	messaging(t, func(t *testing.T, h *house, cloud *cloudtest.Server, mails <-chan string) {
		first := h.serve("--log", "off", "--no-work")
		cloud.Webhook(first.url + "/channels/whatsapp")
		if err := cloud.Subscribe(t.Context()); err != nil {
			t.Fatal(err)
		}
		batch := cloud.Batch([]cloudtest.Object{cloud.Message(hers, cloudtest.Text("order repairs for Solar One"))}, nil)
		post := func(to *running) {
			t.Helper()
			cloud.Webhook(to.url + "/channels/whatsapp")
			if status, err := cloud.Post(t.Context(), batch); err != nil || status != http.StatusOK {
				t.Fatal(status, err)
			}
		}
		post(first)
		if err := first.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		one, two := h.serve("--log", "off"), h.serve("--log", "off")
		post(one)
		post(two)
		all := sent(t, cloud, 1)
		if all[0].To != hers || all[0].Text == "" {
			t.Errorf("%+v", all[0])
		}
		// What Meta did not sign is refused at the real door.
		resp, err := http.Post(two.url+"/channels/whatsapp", "application/json", strings.NewReader(string(batch)))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusUnauthorized {
			t.Error(resp.StatusCode)
		}
		// A signature of Mailgun covers no mail. What it came with first, to whatever process, is
		// what it is good for.
		mailgun := func(to *running, subject string) int {
			t.Helper()
			timestamp, token := strconv.FormatInt(time.Now().Unix(), 10), strings.Repeat("t", 50)
			mac := hmac.New(sha256.New, []byte("key"))
			mac.Write([]byte(timestamp + token))
			resp, err := http.PostForm(to.url+"/channels/mail/mime", url.Values{"timestamp": {timestamp}, "token": {token}, "signature": {hex.EncodeToString(mac.Sum(nil))}, "recipient": {"deals@umza.example"},
				"body-mime": {"From: eve@evil.example\r\nSubject: " + subject + "\r\n\r\nHello\r\n"}})
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			return resp.StatusCode
		}
		if a, b, c, d, e := mailgun(one, "first"), mailgun(two, "first"), mailgun(two, "second"), mailgun(one, "second"), mailgun(one, "first"); a != 200 || b != 200 || c != 401 || d != 401 || e != 200 {
			t.Error(a, b, c, d, e)
		}
	})
}

// A server that leaves work to others takes messages, and a worker beside it answers them.
func TestAWorkerAnswersWhoWrites(t *testing.T) {
	messaging(t, func(t *testing.T, h *house, cloud *cloudtest.Server, mails <-chan string) {
		s := h.serve("--log", "off", "--no-work")
		cloud.Webhook(s.url + "/channels/whatsapp")
		if _, status, err := cloud.Say(t.Context(), hers, cloudtest.Text("order repairs for Solar One")); err != nil || status != http.StatusOK {
			t.Fatal(status, err)
		}
		sent(t, cloud, 0)
		h.do("work", "--once")
		h.do("work", "--once")
		all := sent(t, cloud, 1)
		if all[0].To != hers || all[0].Text == "" {
			t.Errorf("%+v", all)
		}
		// WhatsApp tells later that it could not deliver what it took: it goes by mail, once.
		h.script("ada", `system.add-identity :principal-id "nora" :issuer "email" :subject "nora@umza.example"`)
		for range 2 {
			if status, err := cloud.Deliver(t.Context(), nil, []cloudtest.Object{cloud.Status(all[0].ID, "failed", 131026)}); err != nil || status != http.StatusOK {
				t.Fatal(status, err)
			}
			for range 3 {
				h.do("work", "--once")
			}
		}
		sent(t, cloud, 1)
		var letters []string
		for len(mails) > 0 {
			if letter := <-mails; strings.Contains(letter, "nora@umza.example") {
				letters = append(letters, letter)
			}
		}
		words, _, _ := strings.Cut(all[0].Text, "\n")
		if len(letters) != 1 || !strings.Contains(letters[0], words) {
			t.Errorf("%d mails tell her: %q", len(letters), letters)
		}
	})
}

// What an operator gets wrong in the file of channels is told, with what to do, and nothing
// is served.
func TestAFileOfChannelsThatCannotBe(t *testing.T) {
	messaging(t, func(t *testing.T, h *house, _ *cloudtest.Server, _ <-chan string) {
		for name, c := range map[string]struct{ config, want string }{
			"no JSON":                {`{`, "cannot be used"},
			"an unknown key":         {`{"whatsap": {}}`, `"whatsap" means nothing here`},
			"nothing":                {`{}`, "none of the channels"},
			"programs for nobody":    {`{"programs": [{"name": "crm", "issuer": "https://crm.example", "secret-env": "WA_SECRET", "reply": "https://crm.example/in"}]}`, `has "programs", and no palette has a conversation by the channel api`},
			"no secret":              {`{"whatsapp": {"api": "https://graph.facebook.com/v23.0", "numbers": ["1"], "token-env": "NO_SUCH", "secret-env": "WA_SECRET", "verify-env": "WA_VERIFY"}}`, "the environment has no NO_SUCH"},
			"no address":             {`{"mail": {"domain": "x.example", "inboxes": ["no address"]}}`, "is no address of mail"},
			"http to the world":      {`{"whatsapp": {"api": "http://graph.facebook.com", "numbers": ["1"], "token-env": "WA_TOKEN", "secret-env": "WA_SECRET", "verify-env": "WA_VERIFY"}}`, "https://HOST/VERSION"},
			"a network that is none": {`{"mail": {"domain": "x.example", "inboxes": ["a@x.example"], "relays": ["x"]}}`, "a relay is a network"},
		} {
			if err := os.WriteFile(filepath.Join(h.dir, "bad.json"), []byte(c.config), 0o666); err != nil {
				t.Fatal(err)
			}
			s, err := startServer(h.dir, append(h.env, "VERBATIM_CHANNELS=bad.json"), []string{"--listen", "127.0.0.1:0"})
			if err == nil {
				s.stop()
				t.Errorf("%s is served", name)
				continue
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", name, err, c.want)
			}
		}
	})
}

// Somebody who looks after strangers sees on their page who wrote, opens what stands masked,
// and says whose it is. (K41, ux.md 2e)
func TestTriageOnAPage(t *testing.T) {
	messaging(t, func(t *testing.T, h *house, cloud *cloudtest.Server, mails <-chan string) {
		s := h.serve("--log", "off", "--sign-in", "tia")
		cloud.Webhook(s.url + "/channels/whatsapp")
		if _, status, err := cloud.Say(t.Context(), "4915799999", cloudtest.Text("My secret question about Solar One")); err != nil || status != http.StatusOK {
			t.Fatal(status, err)
		}
		if all := sent(t, cloud, 1); strings.Contains(all[0].Text, "Solar") {
			t.Error(all[0].Text)
		}
		tia := newVisitor(t).comes(s, "tia")
		status, body := tia.get(s.url + "/")
		if status != http.StatusOK || !strings.Contains(body, "4915799999") || strings.Contains(body, "secret question") {
			t.Fatalf("%d %s", status, body)
		}
		item := regexp.MustCompile(`/p/\d+/item/[\w.~-]+`).FindString(body)
		status, body = tia.get(s.url + item)
		if status != http.StatusOK || strings.Contains(body, "secret question") {
			t.Fatalf("%d %s", status, body)
		}
		if status, body = tia.form(s.url+item, url.Values{"show": {"1"}}); status != http.StatusOK || !strings.Contains(body, "My secret question about Solar One") {
			t.Fatalf("%d %s", status, body)
		}
		name := item[strings.LastIndexByte(item, '/')+1:]
		_, body = tia.get(s.url + "/do/channel.claim?item=" + name)
		values := url.Values{"item": {name}, "key": {regexp.MustCompile(`name="key" value="([^"]+)"`).FindStringSubmatch(body)[1]}, "principal-id": {"nora"}, "create-identity": {"false"}}
		status, body = tia.form(s.url+"/do/channel.claim", values)
		agreed := regexp.MustCompile(`name="agreed" value="([^"]+)"`).FindStringSubmatch(body)
		if status != http.StatusOK || agreed == nil || !strings.Contains(body, "the rights of this person") {
			t.Fatalf("%d %s", status, body)
		}
		values.Set("agreed", agreed[1])
		values.Set("yes", "1")
		if status, body = tia.form(s.url+"/do/channel.claim", values); status != http.StatusSeeOther {
			t.Fatalf("%d %s", status, body)
		}
		// It is answered as nora would be.
		if all := sent(t, cloud, 2); all[1].To != "4915799999" {
			t.Errorf("%+v", all[1])
		}
		// That its words were opened stands in the journal.
		h.script("ada", `system.grant-high-role :principal-id "ada" :role "journal-keeper"`)
		if log := h.do("log", "show", "--as", "ada"); !strings.Contains(log, "channel.open") || strings.Contains(log, "secret question") {
			t.Error(log)
		}
	})
}

// BenchmarkMessagesOverHTTP is how many messages by WhatsApp a server takes, handles and
// answers, from webhook to reply, without a model, and how long WhatsApp waits until one is
// acknowledged.
func BenchmarkMessagesOverHTTP(b *testing.B) {
	for _, kind := range []string{"sqlite", "postgres"} {
		b.Run(kind, func(b *testing.B) {
			dir := b.TempDir()
			if err := putProgram(dir); err != nil {
				b.Fatal(err)
			}
			cloud := cloudtest.New(cloudtest.Options{Token: "token", Secret: "secret", Verify: "verify", Number: ourNumber})
			api := httptest.NewServer(cloud)
			defer api.Close()
			palette, err := filepath.Abs(filepath.Join(root, "runtime", "frontends", "channel", "testdata", "desk.yaml"))
			if err != nil {
				b.Fatal(err)
			}
			owner, app, grant := "verbatim.db", "verbatim.db", ""
			if kind == "postgres" {
				db := pgtest.Database(b)
				owner, app, grant = db.Owner, db.App, "--grant-to verbatim_app"
			}
			script := fmt.Sprintf(`set -e
mkdir verbs; cp %[4]q verbs/desk.yaml
verbatim migrate --store %[1]q %[3]s --administrator ada --administrator bo >log 2>&1 || verbatim migrate --store %[1]q %[3]s >>log
export VERBATIM_STORE=%[2]q
verbatim migrate --administrator ada --administrator bo >>log 2>&1 || true
cat >people.dsl <<'END'
system.add-principal :name "channels" :as @channels
END
for n in $(seq 8); do cat >>people.dsl <<END
system.add-principal :name "nora$n" :as @n$n
system.grant-role :principal-id @n$n :role "member"
END
done
verbatim run --as ada --yes people.dsl >>log
echo 'system.grant-high-role :principal-id "channels" :role "channel-door"' >role.dsl
verbatim run --as ada --yes role.dsl >>log 2>&1 || true
for n in $(seq 8); do echo "system.add-identity :principal-id \"nora$n\" :issuer \"whatsapp_phone\" :subject \"+4915155501$n$n\"" >id.dsl; verbatim run --as ada --yes id.dsl >>log 2>&1 || true; done
for id in $(verbatim confirm --as bo | cut -f 1); do verbatim confirm "$id" --agree --as bo >>log; done
cat >channels.json <<END
{"private": true, "whatsapp": {"api": "%[5]s/v23.0", "numbers": ["%[6]s"], "token-env": "WA_TOKEN", "secret-env": "WA_SECRET", "verify-env": "WA_VERIFY"}}
END
verbatim serve --listen 127.0.0.1:0 --log off >serving 2>>log </dev/null & echo $! >pid
for _ in $(seq 100); do grep -q http serving && break; sleep 0.1; done
`, owner, app, grant, palette, api.URL, ourNumber)
			cmd := exec.Command("bash", "-c", script)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "XDG_STATE_HOME="+filepath.Join(dir, "state"), "TICK=now", "VERBATIM_CHANNELS=channels.json", "WA_TOKEN=token", "WA_SECRET=secret", "WA_VERIFY=verify")
			if out, err := cmd.CombinedOutput(); err != nil {
				log, _ := os.ReadFile(filepath.Join(dir, "log"))
				b.Fatalf("%v %s %s", err, out, log)
			}
			defer func() {
				stop := exec.Command("bash", "-c", "kill $(cat pid)")
				stop.Dir = dir
				_ = stop.Run()
			}()
			serving, err := os.ReadFile(filepath.Join(dir, "serving"))
			if err != nil {
				b.Fatal(err)
			}
			cloud.Webhook(regexp.MustCompile(`http://\S+`).FindString(string(serving)) + "/channels/whatsapp")
			var mu sync.Mutex
			var waits []time.Duration
			var n atomic.Int64
			b.SetParallelism(4) // on two processors
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					i := n.Add(1)%8 + 1
					began := time.Now()
					_, status, err := cloud.Say(context.Background(), fmt.Sprintf("4915155501%d%d", i, i), cloudtest.Text("what is the status of all"))
					if err != nil || status != http.StatusOK {
						b.Error(status, err)
						return
					}
					mu.Lock()
					waits = append(waits, time.Since(began))
					mu.Unlock()
				}
			})
			for end := time.Now().Add(5 * time.Minute); len(cloud.Sent()) < int(n.Load()); time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					b.Fatalf("%d of %d were answered", len(cloud.Sent()), n.Load())
				}
			}
			slices.Sort(waits)
			b.ReportMetric(float64(n.Load())/b.Elapsed().Seconds(), "answered/s")
			b.ReportMetric(float64(waits[len(waits)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(waits[len(waits)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}
