package mail

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
)

// hook is what Mailgun posts.
func hook(key string, at time.Time, mail string) url.Values {
	timestamp, token := strconv.FormatInt(at.Unix(), 10), strings.Repeat("t", 50)
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(timestamp + token))
	return url.Values{"timestamp": {timestamp}, "token": {token}, "signature": {hex.EncodeToString(mac.Sum(nil))}, "recipient": {"bot@ours.example"}, "sender": {"ada@umza.example"},
		"from": {"x"}, "body-mime": {mail}}
}

// post sends a body and says how it is answered.
func post(t testing.TB, h http.Handler, kind, body string) int {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/mime", strings.NewReader(body))
	r.Header.Set("Content-Type", kind)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code
}

const urlencoded = "application/x-www-form-urlencoded"

// parts writes a form as MIME.
func parts(v url.Values) (kind, body string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for name, all := range v {
		for _, value := range all {
			_ = w.WriteField(name, value)
		}
	}
	_ = w.Close()
	return w.FormDataContentType(), b.String()
}

// Mail that a provider hands on proves its sender as any other does.
func TestMailComesInByWebhook(t *testing.T) {
	t.Parallel()
	good := signed(t, plain, "umza.example", "s")
	with := func(name string, values ...string) url.Values {
		v := hook("secret", now, good)
		v[name] = values
		return v
	}
	results := func(id string) url.Values {
		return hook("secret", now, "Authentication-Results: "+id+"; spf=pass smtp.mailfrom=umza.example\r\n"+plain)
	}
	for name, c := range map[string]struct {
		form     url.Values
		code     int
		known    bool
		messages int
	}{
		"signed by its domain":      {hook("secret", now, good), 200, true, 1},
		"nearly too old":            {hook("secret", now.Add(-window), good), 200, true, 1},
		"not signed by its domain":  {hook("secret", now, plain), 200, false, 1}, // SAFE-H3
		"results of the server":     {results("mx.ours.example"), 200, true, 1},
		"results of another server": {results("mx.evil.example"), 200, false, 1}, // SAFE-H3
		"two inboxes of ours":       {with("recipient", "Bot@ours.example, eve@ours.example,help@ours.example,bot@ours.example"), 200, true, 2},
		"no inbox of ours":          {with("recipient", "eve@ours.example"), 406, false, 0},
		"an empty mail":             {with("body-mime", ""), 406, false, 0},
		"no mail":                   {with("body-mime"), 406, false, 0},
		"two mails":                 {with("body-mime", good, good), 406, false, 0},
		"a DNS that is silent":      {hook("secret", now, signed(t, plain, "umza.example", "late")), 503, false, 0},
		"a mail that is a loop":     {hook("secret", now, "X-Verbatim-Delivery: x\r\n"+plain), 200, false, 0},
		"a bounce":                  {with("sender", ""), 200, true, 1},
	} {
		kind, body := parts(c.form)
		for kind, body := range map[string]string{urlencoded: c.form.Encode(), kind: body} {
			d := &door{}
			h := testAdapter(t, d, nil).Mailgun()
			if got := post(t, h, kind, body); got != c.code || len(d.messages) != c.messages {
				t.Errorf("%s, %.20s: %d, %d messages", name, kind, got, len(d.messages))
			} else if c.messages > 0 && ((d.messages[0].Known != nil) != c.known || d.messages[0].Automatic != (name == "a bounce")) {
				t.Errorf("%s, %.20s: %+v", name, kind, d.messages[0])
			}
		}
	}
	if code := post(t, testAdapter(t, &door{err: errors.New("full")}, nil).Mailgun(), urlencoded, hook("secret", now, good).Encode()); code != 503 {
		t.Errorf("a door that is full answers %d", code)
	}
}

// A webhook that is not Mailgun's is refused before its mail is decoded.
func TestWrongWebhooksAreRefused(t *testing.T) {
	t.Parallel()
	good := signed(t, plain, "umza.example", "s")
	var wrong []string
	edit := func(change func(url.Values)) {
		v := hook("secret", now, good)
		change(v)
		wrong = append(wrong, v.Encode())
	}
	signature := hook("secret", now, good).Get("signature")
	for i := range signature { // each digit
		edit(func(v url.Values) {
			v.Set("signature", signature[:i]+string("01"[btoi(signature[i] == '0')])+signature[i+1:])
		})
		edit(func(v url.Values) { v.Set("signature", signature[:i]) })
	}
	for _, name := range []string{"timestamp", "token", "signature"} {
		edit(func(v url.Values) { v.Del(name) })
		edit(func(v url.Values) { v.Set(name, "") })
		edit(func(v url.Values) { v.Set(name, v.Get(name)+"0") })
		edit(func(v url.Values) { v.Set(name, " "+v.Get(name)) })
		edit(func(v url.Values) { v.Add(name, v.Get(name)) })
		edit(func(v url.Values) { v.Set(name, strings.Repeat("1", 1001)) })
		edit(func(v url.Values) { v.Set(name, "%zz") })
	}
	edit(func(v url.Values) {
		v.Set("token", v.Get("timestamp")[9:]+v.Get("token"))
		v.Set("timestamp", v.Get("timestamp")[:9])
	})
	for _, v := range []url.Values{hook("", now, good), hook("Secret", now, good), hook("secret", now.Add(window+time.Second), good), hook("secret", now.Add(-window-time.Second), good),
		hook("secret", time.Unix(0, 0), good)} {
		wrong = append(wrong, v.Encode())
	}
	wrong = append(wrong, "", "&", "=", "body-mime", "timestamp=%", `{"signature":{}}`, strings.Replace(hook("secret", now, good).Encode(), "token=", "token=%zz", 1))
	if len(wrong) < 100 {
		t.Fatal(len(wrong))
	}
	d := &door{}
	a := testAdapter(t, d, nil)
	h := a.Mailgun()
	for _, body := range wrong {
		if code := post(t, h, urlencoded, body); code != 401 && code != 400 {
			t.Errorf("%.300s is answered with %d", body, code)
		}
	}
	for _, name := range []string{"timestamp", "token", "signature"} {
		for _, values := range [][]string{nil, {""}, {"1", "1"}, {strings.Repeat("1", 1001)}} {
			v := hook("secret", now, good)
			v[name] = values
			kind, body := parts(v)
			if code := post(t, h, kind, body); code != 401 && code != 400 && code != 413 {
				t.Errorf("%s %.20q is answered with %d", name, values, code)
			}
		}
	}
	for _, kind := range []string{"", "text/plain", "application/json", "multipart/form-data", "multipart/form-data; boundary=x"} {
		if code := post(t, h, kind, hook("secret", now, good).Encode()); code != 400 && code != 401 {
			t.Errorf("%q is answered with %d", kind, code)
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if w.Code != 405 {
		t.Errorf("GET is answered with %d", w.Code)
	}
	if code := post(t, testAdapter(t, d, func(o *Options) { o.SigningKey = "" }).Mailgun(), urlencoded, hook("", now, good).Encode()); code != 405 {
		t.Errorf("without a key it is %d", code)
	}
	if len(d.messages) > 0 {
		t.Errorf("%d messages", len(d.messages))
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A body that is too large is not read to its end.
func TestLargeWebhooksAreRefused(t *testing.T) {
	t.Parallel()
	a := testAdapter(t, nil, func(o *Options) { o.MaxBytes = 100 << 10 })
	kind, body := parts(hook("secret", now, plain+strings.Repeat("x", 400<<10)))
	if code := post(t, a.Mailgun(), kind, body); code != 413 {
		t.Errorf("%d", code)
	}
	if code := post(t, a.Mailgun(), urlencoded, "body-mime="+strings.Repeat("x", 400<<10)); code != 413 {
		t.Errorf("%d", code)
	}
	if code := post(t, a.Mailgun(), urlencoded, hook("secret", now, plain+strings.Repeat("x", 100<<10)).Encode()); code != 406 {
		t.Errorf("%d", code)
	}
}

// Webhooks that come all at once are told to come again.
func TestWebhooksAreReadAFewAtOnce(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(testAdapter(t, nil, nil).Mailgun())
	defer server.Close()      // after those below are cut
	for range 3 * mostPosts { // one that comes while another is answered is refused itself
		c, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, _ = io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: "+urlencoded+"\r\nContent-Length: 10\r\n\r\nx")
	}
	for deadline := time.Now().Add(10 * time.Second); ; {
		resp, err := http.Post(server.URL, urlencoded, strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode == http.StatusServiceUnavailable {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("every one is read")
		}
	}
}

// SAFE-H2: Mailgun's signature does not cover the mail. A token that comes again with the same
// mail is taken, since the door knows that mail by its id; with another mail every process
// refuses it. Where the store of tokens does not answer, nothing is taken.
func TestATokenIsGoodForOneMail(t *testing.T) {
	t.Parallel()
	d, tokens := &door{}, once()
	shared := func(o *Options) { o.Once = tokens }
	h, other := testAdapter(t, d, shared).Mailgun(), testAdapter(t, d, shared).Mailgun()
	send := func(to http.Handler, mail string) int {
		return post(t, to, urlencoded, hook("secret", now, mail).Encode())
	}
	another := strings.Replace(plain, "Subject", "X-Subject", 1)
	for i, c := range []struct {
		to   http.Handler
		mail string
		code int
	}{{h, plain, 200}, {h, plain, 200}, {other, plain, 200}, {h, another, 401}, {other, another, 401}} {
		if code := send(c.to, c.mail); code != c.code {
			t.Errorf("%d: %d", i, code)
		}
	}
	if len(d.messages) != 3 {
		t.Errorf("%d messages", len(d.messages))
	}
	silent := testAdapter(t, d, func(o *Options) {
		o.Once = func(context.Context, string, string, string) (bool, error) { return true, errors.New("gone") }
	}).Mailgun()
	if code := send(silent, plain); code != 503 || len(d.messages) != 3 {
		t.Error(code)
	}
	// What Mailgun did not sign takes no token.
	if code := post(t, h, urlencoded, hook("Secret", now, another).Encode()); code != 401 {
		t.Error(code)
	}
	if _, err := New(Options{Domain: "ours.example", Inboxes: ours, Door: d, Clock: func() time.Time { return now }, SigningKey: "secret"}); err == nil {
		t.Error("webhooks are taken without a store of tokens")
	}
}

// While the provider's key is changed, what either signed is taken.
func TestTheProviderMayHaveTwoKeys(t *testing.T) {
	t.Parallel()
	good := signed(t, plain, "umza.example", "s")
	a := testAdapter(t, &door{}, func(o *Options) { o.SigningKey = "newer\nsecret" })
	for key, want := range map[string]int{"newer": 200, "secret": 200, "newer\nsecret": 401, "": 401} {
		if code := post(t, a.Mailgun(), urlencoded, hook(key, now, good).Encode()); code != want {
			t.Errorf("signed with %q it is answered %d", key, code)
		}
	}
}
