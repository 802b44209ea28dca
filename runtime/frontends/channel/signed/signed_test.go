package signed_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"verbatim/runtime/frontends/channel"
	"verbatim/runtime/frontends/channel/signed"
	"verbatim/runtime/jobs/notify"
)

var now = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

type door struct {
	mu   sync.Mutex
	all  []channel.Facts
	fail error
}

func (d *door) Receive(_ context.Context, all ...channel.Message) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, m := range all {
		d.all = append(d.all, m.Facts())
	}
	return d.fail
}

func (d *door) Note(context.Context, ...channel.Status) error { return nil }

var secret = "whsec_" + base64.StdEncoding.EncodeToString([]byte("0123456789012345678901234567"))

// K39: only who signs as a program is known to brings messages, of that program's people; all
// else is refused in one way, before it is read.
func TestOnlyASignedMessageIsTaken(t *testing.T) {
	t.Parallel()
	d := &door{}
	a, err := signed.New(signed.Options{Programs: []signed.Program{{Name: "crm", Issuer: "https://crm.example", Secret: secret}}, Door: d, Clock: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("POST /channels/api/{program}", a)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	key, err := notify.WebhookKeys(secret)
	if err != nil {
		t.Fatal(err)
	}
	good := []byte(`{"sender": "u-17", "text": "Hello", "thread": "t"}`)
	post := func(path string, body []byte, change func(http.Header)) (int, string) {
		req, err := http.NewRequest(http.MethodPost, server.URL+"/channels/api/"+path, strings.NewReader(string(body)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Webhook-Id", "m-1")
		req.Header.Set("Webhook-Timestamp", strconv.FormatInt(now.Unix(), 10))
		req.Header.Set("Webhook-Signature", notify.Sign(key, "m-1", now.Unix(), good))
		if change != nil {
			change(req.Header)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(text)
	}
	refused := map[string]bool{}
	no := func(name string, status int, text string) {
		t.Helper()
		if refused[text] = true; status != http.StatusUnauthorized {
			t.Errorf("%s: %d", name, status)
		}
	}
	for i := range good {
		body := []byte(string(good))
		body[i] ^= 1
		status, text := post("crm", body, nil)
		no("a bit of the body", status, text)
	}
	status, text := post("else", good, nil)
	no("another program", status, text)
	for name, change := range map[string]func(http.Header){
		"no signature":        func(h http.Header) { h.Del("Webhook-Signature") },
		"two signatures":      func(h http.Header) { h.Add("Webhook-Signature", h.Get("Webhook-Signature")) },
		"another id":          func(h http.Header) { h.Set("Webhook-Id", "m-2") },
		"no id":               func(h http.Header) { h.Del("Webhook-Id") },
		"two ids":             func(h http.Header) { h.Add("Webhook-Id", "m-1") },
		"another version":     func(h http.Header) { h.Set("Webhook-Signature", "v2"+h.Get("Webhook-Signature")[2:]) },
		"an old time":         func(h http.Header) { sign(h, key, good, now.Add(-6*time.Minute)) },
		"a time to come":      func(h http.Header) { sign(h, key, good, now.Add(6*time.Minute)) },
		"a time that is none": func(h http.Header) { h.Set("Webhook-Timestamp", "soon") },
		"another key": func(h http.Header) {
			h.Set("Webhook-Signature", notify.Sign([][]byte{[]byte("x")}, "m-1", now.Unix(), good))
		},
	} {
		status, text := post("crm", good, change)
		no(name, status, text)
	}
	if len(d.all) != 0 || len(refused) != 1 {
		t.Fatalf("%d were taken, refused in %d ways", len(d.all), len(refused))
	}
	if status, _ := post("crm", good, nil); status != http.StatusAccepted {
		t.Fatal(status)
	}
	// A member that is not read is refused, whatever it says, and so is one that stands twice. // G6
	for _, body := range []string{`{"sender": "u-17", "text": "Yes", "group": "g"}`, `{"sender": "u-17", "text": "Yes", "forwarded": true}`, `{"sender": "u-17", "text": "Yes"} {}`,
		`{"sender": "u-17", "sender": "u-18", "text": "Yes"}`, `{"sender": "u-17", "text": "No", "Text": "Yes"}`, `{"sender": "u-17", "replyTo": "a", "replyto": "b", "text": "Yes"}`} {
		if status, text := post("crm", []byte(body), func(h http.Header) { sign(h, key, []byte(body), now) }); status != http.StatusBadRequest || !strings.Contains(text, "nothing else") || len(d.all) != 1 {
			t.Errorf("%s: %d %s", body, status, text)
		}
	}
	// One of several signatures is enough: keys are changed.
	if status, _ := post("crm", good, func(h http.Header) { h.Set("Webhook-Signature", "v1,x "+h.Get("Webhook-Signature")) }); status != http.StatusAccepted {
		t.Fatal(status)
	}
	f := d.all[0]
	if f.Inbox != "https://crm.example" || f.From != "u-17" || len(f.Known) != 1 || f.Known[0] != (channel.Identity{Kind: "https://crm.example", Subject: "u-17"}) || f.Text != "Hello" || f.Thread != "t" || f.ID != "m-1" {
		t.Errorf("%+v", f)
	}
	bad := []byte(`{"text": "nobody"}`)
	if status, _ := post("crm", bad, func(h http.Header) { sign(h, key, bad, now) }); status != http.StatusBadRequest {
		t.Error(status)
	}
	large := []byte(strings.Repeat("x", signed.MaxBody+1))
	if status, _ := post("crm", large, func(h http.Header) { sign(h, key, large, now) }); status != http.StatusRequestEntityTooLarge {
		t.Error(status)
	}
	d.fail = errors.New("the disk is full")
	if status, _ := post("crm", good, nil); status != http.StatusServiceUnavailable {
		t.Error("it was acknowledged and is not stored")
	}
}

func sign(h http.Header, key [][]byte, body []byte, at time.Time) {
	h.Set("Webhook-Timestamp", strconv.FormatInt(at.Unix(), 10))
	h.Set("Webhook-Signature", notify.Sign(key, h.Get("Webhook-Id"), at.Unix(), body))
}

// While a secret replaces another, what either signed is taken, and answers carry both signatures.
func TestAProgramMayHaveTwoSecrets(t *testing.T) {
	t.Parallel()
	newer := "whsec_" + base64.StdEncoding.EncodeToString([]byte("7654321076543210765432107654"))
	var answered string
	reply := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { answered = r.Header.Get("Webhook-Signature") }))
	t.Cleanup(reply.Close)
	d := &door{}
	a, err := signed.New(signed.Options{Programs: []signed.Program{{Name: "crm", Issuer: "https://crm.example", Secret: newer + "\n" + secret, Reply: reply.URL}}, Door: d, Clock: func() time.Time { return now }, Private: true})
	if err != nil {
		t.Fatal(err)
	}
	body := `{"sender": "u-17", "text": "Hello"}`
	for of, want := range map[string]int{newer: http.StatusAccepted, secret: http.StatusAccepted, "whsec_" + base64.StdEncoding.EncodeToString([]byte("another another another another")): http.StatusUnauthorized} {
		keys, err := notify.WebhookKeys(of)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodPost, "/channels/api/crm", strings.NewReader(body))
		r.SetPathValue("program", "crm")
		r.Header.Set("Webhook-Id", "m-1")
		sign(r.Header, keys, []byte(body), now)
		w := httptest.NewRecorder()
		if a.ServeHTTP(w, r); w.Code != want {
			t.Errorf("signed with %s it is answered %d", of, w.Code)
		}
	}
	if _, err := a.Send(t.Context(), channel.Out{ID: "d-1", Inbox: "https://crm.example", To: "u-17", Text: "Done."}); err != nil || strings.Count(answered, "v1,") != 2 {
		t.Errorf("an answer is signed %q: %v", answered, err)
	}
}

// An answer is posted to the program, signed, under one id however often it is sent.
func TestAnswersAreSigned(t *testing.T) {
	t.Parallel()
	key, err := notify.WebhookKeys(secret)
	if err != nil {
		t.Fatal(err)
	}
	status := http.StatusOK
	var got struct{ ID, To, Text, Answers string }
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Header.Get("Webhook-Signature") != notify.Sign(key, "d-1", now.Unix(), body) || r.Header.Get("Webhook-Id") != "d-1" {
			t.Error("it is not signed")
		}
		if err := json.Unmarshal(body, &got); err != nil {
			t.Error(err)
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(server.Close)
	a, err := signed.New(signed.Options{Programs: []signed.Program{{Name: "crm", Issuer: "https://crm.example", Secret: secret, Reply: server.URL}}, Door: &door{}, Clock: func() time.Time { return now }, Private: true})
	if err != nil {
		t.Fatal(err)
	}
	o := channel.Out{ID: "d-1", Inbox: "https://crm.example", To: "u-17", Text: "Done.", ReplyTo: "m-1"}
	if id, err := a.Send(t.Context(), o); err != nil || id != "d-1" || got.To != "u-17" || got.Text != "Done." || got.Answers != "m-1" {
		t.Errorf("%q %v %+v", id, err, got)
	}
	var failed *channel.Failure
	status = http.StatusInternalServerError
	if _, err := a.Send(t.Context(), o); !errors.As(err, &failed) || failed.Permanent {
		t.Error(err)
	}
	status = http.StatusGone
	if _, err := a.Send(t.Context(), o); !errors.As(err, &failed) || !failed.Permanent {
		t.Error(err)
	}
	o.Inbox = "https://else.example"
	if _, err := a.Send(t.Context(), o); !errors.As(err, &failed) || !failed.Permanent {
		t.Error(err)
	}
}

func TestProgramsThatCannotBe(t *testing.T) {
	t.Parallel()
	good := signed.Program{Name: "crm", Issuer: "https://crm.example", Secret: secret}
	for name, change := range map[string]func(*signed.Program){
		"a short secret":  func(p *signed.Program) { p.Secret = "whsec_AAAA" },
		"no URL":          func(p *signed.Program) { p.Issuer = "crm" },
		"a slash":         func(p *signed.Program) { p.Name = "a/b" },
		"no name":         func(p *signed.Program) { p.Name = "" },
		"answers by http": func(p *signed.Program) { p.Reply = "http://crm.example/in" },
	} {
		p := good
		change(&p)
		if _, err := signed.New(signed.Options{Programs: []signed.Program{p}}); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	if _, err := signed.New(signed.Options{Programs: []signed.Program{good, good}}); err == nil {
		t.Error("two programs of one name are taken")
	}
}
