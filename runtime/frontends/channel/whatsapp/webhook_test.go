package whatsapp

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"verbatim/runtime/frontends/channel"
	"verbatim/runtime/frontends/channel/whatsapp/cloudtest"
)

const (
	inbox  = "106540352242922"
	secret = "app-secret"
	person = "4915155501990"
)

var at = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)

// A door that remembers.
type door struct {
	mu       sync.Mutex
	calls    int
	messages []channel.Message
	statuses []channel.Status
	receive  error
	note     error
}

func (d *door) Receive(_ context.Context, all ...channel.Message) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls++
	if d.receive == nil {
		d.messages = append(d.messages, all...)
	}
	return d.receive
}

func (d *door) Note(_ context.Context, all ...channel.Status) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls++
	if d.note == nil {
		d.statuses = append(d.statuses, all...)
	}
	return d.note
}

// A clock that tests set.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.now }

func (c *clock) Add(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.now = c.now.Add(d) }

// A world is an adapter, with the cloud on the other side of two sockets.
type world struct {
	*Adapter
	door  *door
	clock *clock
	cloud *cloudtest.Server
	url   string // of the webhook
	log   []string
}

func newWorld(t testing.TB, change ...func(*Options, *cloudtest.Options)) *world {
	t.Helper()
	w := &world{door: &door{}, clock: &clock{now: at}}
	client := &http.Client{Transport: &http.Transport{}}
	c := cloudtest.Options{Token: "token", Secret: secret, Verify: "verify", Number: inbox, Templates: map[string]int{"reminder": 2, "hello": 0}, Clock: w.clock.Now, Client: client}
	o := Options{Token: "token", Secret: secret, Verify: "verify", Numbers: []string{inbox}, Door: w.door, Clock: w.clock.Now, MediaHosts: []string{"127.0.0.1"}, Private: true,
		Timeout: 5 * time.Second, Log: func(what string, times int) { w.log = append(w.log, fmt.Sprintf("%s: %d", what, times)) }}
	for _, f := range change {
		f(&o, &c)
	}
	w.cloud = cloudtest.New(c)
	api := httptest.NewServer(w.cloud)
	t.Cleanup(api.Close)
	if o.API == "" {
		o.API = api.URL + "/v23.0"
	}
	var err error
	if w.Adapter, err = New(o); err != nil {
		t.Fatal(err)
	}
	hook := httptest.NewServer(w.Adapter)
	t.Cleanup(hook.Close)
	t.Cleanup(client.CloseIdleConnections)
	w.url = hook.URL
	w.cloud.Webhook(hook.URL)
	return w
}

// post posts a body with headers, each of which may be there several times.
func (w *world) post(t testing.TB, body []byte, signatures ...string) int {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, w.url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header["X-Hub-Signature-256"] = signatures
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

// SAFE-H1: whatever is not signed as it should be is refused, and nothing of it is decoded.
func TestWhatIsNotSignedIsRefusedBeforeItIsDecoded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	decoded := 0
	w.read = func(b []byte) (batch, error) { decoded++; return w.decode(b) }
	body := w.cloud.Batch([]cloudtest.Object{w.cloud.Message(person, cloudtest.Text("Größe 😀 a/b <c>"))}, nil)
	right := cloudtest.Sign(secret, body)
	wrong := 0
	refused := func(name string, body []byte, signatures ...string) {
		t.Helper()
		wrong++
		if status := w.post(t, body, signatures...); status != http.StatusUnauthorized && status != http.StatusForbidden {
			t.Errorf("%s: %d", name, status)
		}
	}
	for i := range body {
		flipped := bytes.Clone(body)
		flipped[i] ^= 1 << (i % 8)
		refused(fmt.Sprintf("bit of byte %d", i), flipped, right)
	}
	for i := range right {
		for _, bit := range []byte{1, 4} {
			flipped := []byte(right)
			flipped[i] ^= bit
			refused(fmt.Sprintf("bit of digit %d", i), body, string(flipped))
		}
	}
	hex64 := strings.TrimPrefix(right, "sha256=")
	old := hmac.New(sha1.New, []byte(secret))
	old.Write(body)
	var generic any
	if err := json.Unmarshal(body, &generic); err != nil {
		t.Fatal(err)
	}
	again, err := json.MarshalIndent(generic, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	for name, signatures := range map[string][]string{
		"missing": nil, "empty": {""}, "bare": {hex64}, "algorithm only": {"sha256="}, "SHA-1": {"sha1=" + hex.EncodeToString(old.Sum(nil))},
		"SHA-1 as SHA-256": {"sha256=" + hex.EncodeToString(old.Sum(nil))}, "two, both right": {right, right}, "two, the first right": {right, "sha256=" + strings.Repeat("0", 64)},
		"two, the second right": {"sha256=" + strings.Repeat("0", 64), right}, "two in one": {right + ", " + right}, "upper-case digits": {"sha256=" + strings.ToUpper(hex64)},
		"upper-case name": {"SHA256=" + hex64}, "other name": {"sha512=" + hex64}, "space before": {"sha256= " + hex64}, "longer": {right + "0"}, "shorter": {right[:len(right)-1]},
		"twice as long": {right + hex64}, "no digit": {"sha256=" + strings.Repeat("g", 64)}, "zeros": {"sha256=" + strings.Repeat("0", 64)},
		"of nothing": {cloudtest.Sign(secret, nil)}, "wrong app": {cloudtest.Sign("other-secret", body)}, "no secret": {cloudtest.Sign("", body)}, "verify token": {cloudtest.Sign("verify", body)},
	} {
		refused(name, body, signatures...)
	}
	for name, other := range map[string][]byte{
		"no body": nil, "a byte after": append(bytes.Clone(body), ' '), "a line after": append(bytes.Clone(body), '\n'), "an object after": append(bytes.Clone(body), "{}"...),
		"a byte less": body[:len(body)-1], "a byte before": append([]byte(" "), body...), "twice": append(bytes.Clone(body), body...), "written again": again,
		"a mark before": append([]byte("\xef\xbb\xbf"), body...), "escaped, and signed raw": []byte(strings.Replace(string(body), "ö", `\u00f6`, 1)),
		"broken": []byte(`{"object"`), "no JSON": []byte("\xff\xfe\x00"), "other slash": []byte(strings.Replace(string(body), "a/b", `a\/b`, 1)),
		"not composed": []byte(strings.Replace(string(body), "ö", "o\u0308", 1)),
	} {
		refused(name, other, right)
	}
	// The escaped form is one form: small letters, and every letter that is not ASCII.
	escaped, _ := escape(body)
	for name, other := range map[string]string{"in capitals": strings.ReplaceAll(string(escaped), `\u00f6`, `\u00F6`), "in part": strings.Replace(string(escaped), `\u00f6`, "ö", 1), "a space more": string(escaped) + " "} {
		refused("escaped "+name, body, cloudtest.Sign(secret, []byte(other)))
	}
	refused("no text", []byte("\"\xff\""), cloudtest.Sign(secret, []byte(`"\ufffd"`)))
	if wrong < 300 {
		t.Errorf("only %d wrong requests", wrong)
	}
	if decoded != 0 || w.door.calls != 0 || w.Broken() != 0 || w.log != nil {
		t.Errorf("%d were decoded, the door was called %d times, %v", decoded, w.door.calls, w.log)
	}
	t.Logf("%d wrong requests", wrong)

	for name, signed := range map[string][]byte{"raw": body, "escaped": escaped} {
		if status := w.post(t, body, cloudtest.Sign(secret, signed)); status != http.StatusOK {
			t.Errorf("%s: %d", name, status)
		}
	}
	if status := w.post(t, escaped, cloudtest.Sign(secret, escaped)); status != http.StatusOK {
		t.Error(status)
	}
	if decoded != 3 || len(w.door.messages) != 3 {
		t.Fatal(decoded, len(w.door.messages))
	}
	for _, m := range w.door.messages {
		if f := m.Facts(); f.Text != "Größe 😀 a/b <c>" {
			t.Errorf("%q", f.Text)
		}
	}
}

// Signatures of another program, and the form that is known to be signed.
func TestSignaturesAreThoseOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	// openssl dgst -sha256 -hmac app-secret
	if status := w.post(t, []byte(`{"object":"whatsapp_business_account","entry":[]}`), "sha256=d3e4f9da0ce6c71ab3dba55929b8eeeee2455349e534924ead19f98d143e904f"); status != http.StatusOK {
		t.Error(status)
	}
	if got, ok := escape([]byte(`{"a":"äöå😀\n"}`)); !ok || string(got) != `{"a":"\u00e4\u00f6\u00e5\ud83d\ude00\n"}` {
		t.Errorf("%s", got)
	}
	// What is decoded is what was signed, also where a backslash stands before the letter.
	if status := w.post(t, []byte(`{"object":"whatsapp_business_account","entry":[],"x":"\é"}`),
		cloudtest.Sign(secret, []byte(`{"object":"whatsapp_business_account","entry":[],"x":"\\u00e9"}`))); status != http.StatusOK {
		t.Error(status)
	}
}

func TestHandshake(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.cloud.Subscribe(context.Background()); err != nil {
		t.Error(err)
	}
	for query, want := range map[string]int{
		"hub.mode=subscribe&hub.verify_token=verify&hub.challenge=7":   200,
		"hub.mode=subscribe&hub.verify_token=Verify&hub.challenge=7":   403,
		"hub.mode=subscribe&hub.verify_token=verify1&hub.challenge=7":  403,
		"hub.mode=subscribe&hub.verify_token=&hub.challenge=7":         403,
		"hub.mode=subscribe&hub.challenge=7":                           403,
		"hub.mode=unsubscribe&hub.verify_token=verify&hub.challenge=7": 403,
		"hub.verify_token=verify&hub.challenge=7":                      403,
		"": 403,
	} {
		resp, err := http.Get(w.url + "?" + query)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != want || (want == 200) != (string(got) == "7") {
			t.Errorf("%s: %d %q", query, resp.StatusCode, got)
		}
	}
	req, _ := http.NewRequest(http.MethodPut, w.url, nil)
	if resp, err := http.DefaultClient.Do(req); err != nil || resp.StatusCode != http.StatusMethodNotAllowed {
		t.Error(resp, err)
	}
}

// A body is read to 4 MiB and no further, whether it tells its length or not.
func TestALargeBodyIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, n := range []int{maxBody, maxBody + 1} {
		body := []byte(`{"object":"other"}`)
		body = append(body, bytes.Repeat([]byte(" "), n-len(body))...)
		for _, in := range []io.Reader{bytes.NewReader(body), io.MultiReader(bytes.NewReader(body))} {
			req, _ := http.NewRequest(http.MethodPost, w.url, in)
			req.Header.Set("X-Hub-Signature-256", cloudtest.Sign(secret, body))
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				if n > maxBody { // the connection was ended while it was still written
					continue
				}
				t.Fatal(err)
			}
			resp.Body.Close()
			if want := map[bool]int{true: 200, false: 413}[n == maxBody]; resp.StatusCode != want {
				t.Errorf("%d bytes: %d", n, resp.StatusCode)
			}
		}
	}
}

// One message that cannot be read does not take the others with it.
func TestOneBrokenMessageIsLeftOutOfAThousand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var all []cloudtest.Object
	for i := range 1000 {
		m := w.cloud.Message(person, cloudtest.Text(fmt.Sprint("canary ", i)))
		if i == 500 {
			m["text"] = "canary, which is no object"
		}
		all = append(all, m)
	}
	if status, err := w.cloud.Deliver(context.Background(), all, nil); status != http.StatusOK || err != nil {
		t.Fatal(status, err)
	}
	if w.door.calls != 1 || len(w.door.messages) != 999 || w.Broken() != 1 || len(w.log) != 1 {
		t.Errorf("%d calls, %d messages, %d broken, %v", w.door.calls, len(w.door.messages), w.Broken(), w.log)
	}
	if w.door.messages[500].Facts().Text != "canary 501" || strings.Contains(fmt.Sprint(w.log), "canary") {
		t.Error(w.door.messages[500].Facts().Text, w.log)
	}
}

// Other things that are not as they should be are left out one by one, too: one in which a member
// stands twice is among them, which every reader would take otherwise.
func TestWhatCannotBeReadIsLeftOut(t *testing.T) {
	t.Parallel()
	good := `{"from":"4915155501990","id":"m","type":"text","text":{"body":"hi"}}`
	value := func(s string) string {
		return `{"field":"messages","value":{"metadata":{"phone_number_id":"` + inbox + `"},` + s + `}}`
	}
	body := func(changes string) string {
		return `{"object":"whatsapp_business_account","entry":[{"changes":[` + changes + `]}]}`
	}
	for name, c := range map[string]struct {
		body                     string
		status, messages, broken int
	}{
		"a number in place of a message": {body(value(`"messages":[7,` + good + `]`)), 200, 1, 1},
		"null in place of a message":     {body(value(`"messages":[null,` + good + `]`)), 200, 1, 1},
		"messages that are none":         {body(value(`"messages":7`) + "," + value(`"messages":[`+good+`]`)), 200, 1, 1},
		"a change that is none":          {body(`7,` + value(`"messages":[`+good+`]`)), 200, 1, 1},
		"an entry that is none":          {`{"object":"whatsapp_business_account","entry":[7,{"changes":[` + value(`"messages":[`+good+`]`) + `]}]}`, 200, 1, 1},
		"a contact that is none":         {body(value(`"contacts":[7],"messages":[` + good + `]`)), 200, 1, 1},
		"a status that is none":          {body(value(`"statuses":[7,{"status":"sent"}],"messages":[` + good + `]`)), 200, 1, 2},
		"another field":                  {body(`{"field":"account_update","value":{"messages":7}},` + value(`"messages":[`+good+`]`)), 200, 1, 0},
		"unknown fields":                 {body(value(`"more":{"a":[]},"messages":[` + good[:len(good)-1] + `,"more":1}]`)), 200, 1, 0},
		"no id":                          {body(value(`"messages":[{"from":"4915155501990","type":"text"}]`)), 200, 0, 1},
		"nobody":                         {body(value(`"messages":[{"id":"m","type":"text"}]`)), 200, 0, 1},
		"nobody who could be":            {body(value(`"messages":[{"from":"Ada","id":"m","type":"text"}]`)), 200, 0, 1},
		"an id without end":              {body(value(`"messages":[{"from":"4915155501990","id":"` + strings.Repeat("m", 513) + `","type":"text"}]`)), 200, 0, 1},
		"an id with a zero byte":         {body(value(`"messages":[{"from":"4915155501990","id":"m\u0000","type":"text"}]`)), 200, 0, 1},
		"ids of statuses":                {body(value(`"statuses":[{"id":"m\u0000","status":"sent"},{"id":"` + strings.Repeat("m", 513) + `","status":"sent"}]`)), 200, 0, 2},
		"another product":                {strings.Replace(body(value(`"messages":[`+good+`]`)), "whatsapp_business_account", "page", 1), 200, 0, 0},
		"another number":                 {strings.Replace(body(value(`"messages":[`+good+`]`)), inbox, "1", 1), 200, 0, 0},
		"no number":                      {body(`{"field":"messages","value":{"messages":[` + good + `]}}`), 200, 0, 0},
		"several entries":                {`{"object":"whatsapp_business_account","entry":[{"changes":[` + value(`"messages":[`+good+`]`) + `]},{"changes":[` + value(`"messages":[`+good+`]`) + `,` + value(`"messages":[`+good+`,`+good+`]`) + `]}]}`, 200, 4, 0},
		"a change without a value":       {body(`{"field":"messages"},` + value(`"messages":[`+good+`]`)), 200, 1, 1},
		"no JSON":                        {`{"object":`, 400, 0, 1},
		"an array":                       {`[]`, 400, 0, 1},
		"nothing":                        {``, 400, 0, 1},
		"two of them":                    {body("") + body(""), 400, 0, 1},
		"a text twice":                   {body(value(`"messages":[` + strings.Replace(good, `"text":`, `"text":{"body":"no"},"text":`, 1) + `,` + good + `]`)), 200, 1, 1},
		"forwarded, and then not":        {body(value(`"messages":[` + good[:len(good)-1] + `,"context":{"forwarded":true},"context":{}},` + good + `]`)), 200, 1, 1},
		"a sender twice, in capitals":    {body(value(`"messages":[` + good[:len(good)-1] + `,"From":"4915155501991"},` + good + `]`)), 200, 1, 1},
		"a state twice":                  {body(value(`"statuses":[{"id":"m","status":"failed","status":"read"}],"messages":[` + good + `]`)), 200, 1, 1},
		"messages twice":                 {body(value(`"messages":[`+good+`],"messages":[`+good+`]`) + "," + value(`"messages":[`+good+`]`)), 200, 1, 1},
		"a number twice":                 {body(value(`"metadata":{"phone_number_id":"` + inbox + `"},"messages":[` + good + `]`)), 200, 0, 1},
		"changes twice":                  {`{"object":"whatsapp_business_account","entry":[{"changes":[],"changes":[` + value(`"messages":[`+good+`]`) + `]}]}`, 400, 0, 1},
		"an object twice":                {`{"object":"page","Object":"whatsapp_business_account","entry":[{"changes":[` + value(`"messages":[`+good+`]`) + `]}]}`, 400, 0, 1},
		"very deep":                      {strings.Repeat("[", 20000), 400, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if status := w.post(t, []byte(c.body), cloudtest.Sign(secret, []byte(c.body))); status != c.status || len(w.door.messages) != c.messages || w.Broken() != int64(c.broken) {
				t.Errorf("%d, %d messages, %d broken", status, len(w.door.messages), w.Broken())
			}
		})
	}
}

// A batch is acknowledged when the door has it, and comes again when it has not.
func TestOnlyWhatIsStoredIsAcknowledged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	message := []cloudtest.Object{w.cloud.Message(person, cloudtest.Text("hi"))}
	status := []cloudtest.Object{{"id": "wamid.out.1", "status": "sent"}}
	for _, c := range []struct {
		receive, note error
		want          int
	}{{errors.New("full"), nil, 503}, {nil, errors.New("full"), 503}, {nil, nil, 200}} {
		w.door.receive, w.door.note = c.receive, c.note
		if got, err := w.cloud.Deliver(ctx, message, status); got != c.want || err != nil {
			t.Errorf("%v: %d %v", c, got, err)
		}
	}
	if got, err := w.cloud.Deliver(ctx, nil, nil); got != 200 || err != nil || w.door.calls != 5 {
		t.Error(got, err, w.door.calls) // nothing is no reason to call the door
	}
}

// What arrives twice, or in another order, is passed on as it is: the door puts it in order.
func TestStatusesArePassedOnAsTheyCome(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	if _, _, err := w.cloud.Say(ctx, person, cloudtest.Text("hi")); err != nil {
		t.Fatal(err)
	}
	id, err := w.Send(ctx, channel.Out{ID: "d-1", Inbox: inbox, To: person, Text: "Hello."})
	if err != nil {
		t.Fatal(err)
	}
	var all []cloudtest.Object
	for _, s := range []string{"played", "read", "delivered", "sent", "sent", "deleted"} {
		all = append(all, w.cloud.Status(id, s, 0))
	}
	all = append(all, w.cloud.Status(id, "failed", 131047), w.cloud.Status(id, "failed", 0), w.cloud.Status("wamid.other", "sent", 0))
	if status, err := w.cloud.Deliver(ctx, nil, all); status != 200 || err != nil {
		t.Fatal(status, err)
	}
	want := []channel.State{channel.Read, channel.Read, channel.Delivered, channel.Sent, channel.Sent, channel.Failed, channel.Failed, channel.Sent}
	if len(w.door.statuses) != len(want) || w.door.calls != 2 || w.Broken() != 0 {
		t.Fatal(w.door.statuses, w.door.calls, w.Broken())
	}
	for i, s := range w.door.statuses {
		if s.State != want[i] || s.Channel != "whatsapp" || !s.At.Equal(at) || (s.State == channel.Failed) != (s.Why != nil) {
			t.Errorf("%d: %+v", i, s)
		}
		if last := i == len(want)-1; (s.ID == id) == last || (s.Ours == "d-1") == last {
			t.Errorf("%d: %+v", i, s)
		}
	}
	if why := w.door.statuses[5].Why; why.Code != "131047" || !why.Closed || w.door.statuses[6].Why.Closed {
		t.Errorf("%+v", why)
	}
}

func BenchmarkWebhook(b *testing.B) {
	for _, n := range []int{1, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := newWorld(b, func(o *Options, _ *cloudtest.Options) { o.Door = nothing{} })
			var all []cloudtest.Object
			for range n {
				all = append(all, w.cloud.Message(person, cloudtest.Text("When is the next document due, and which one is it?")))
			}
			body := w.cloud.Batch(all, nil)
			signature := cloudtest.Sign(secret, body)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
				r.Header.Set("X-Hub-Signature-256", signature)
				rec := httptest.NewRecorder()
				w.ServeHTTP(rec, r)
				if rec.Code != http.StatusOK {
					b.Fatal(rec.Code)
				}
			}
		})
	}
}

// A door that keeps nothing.
type nothing struct{}

func (nothing) Receive(context.Context, ...channel.Message) error { return nil }
func (nothing) Note(context.Context, ...channel.Status) error     { return nil }

// While the secret of the app is changed, what either signed is taken.
func TestTheAppMayHaveTwoSecrets(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options, _ *cloudtest.Options) { o.Secret = "newer-secret\n" + secret })
	for _, body := range []string{`{"object":"whatsapp_business_account","entry":[]}`, `{"object":"whatsapp_business_account","entry":[],"x":"é"}`} {
		escaped, _ := escape([]byte(body))
		for of, want := range map[string]int{"newer-secret": http.StatusOK, secret: http.StatusOK, "newer-secret\n" + secret: http.StatusForbidden, "": http.StatusForbidden} {
			for _, signed := range [][]byte{[]byte(body), escaped} {
				if status := w.post(t, []byte(body), cloudtest.Sign(of, signed)); status != want {
					t.Errorf("%s, signed with %q, is answered %d", body, of, status)
				}
			}
		}
	}
}
