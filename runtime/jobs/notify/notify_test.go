package notify

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"slices"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/engine"
)

var at = time.Date(2025, 1, 4, 0, 0, 0, 0, time.UTC)

var secret = "whsec_" + base64.StdEncoding.EncodeToString([]byte("0123456789abcdef0123456789abcdef"))

var message = engine.Message{ID: "n-1", Kind: "notify", Target: "desk", Time: at,
	Body: `{"call":"desk.remind :note \"x\"","verb":"desk.remind","with":{"note":"Größe\r\nBcc: eve@example.com\r\n."}}`}

func read(t *testing.T, text string, out io.Writer) *Sender {
	t.Helper()
	s, err := Read(strings.NewReader(text), Options{Env: func(string) string { return secret }, Out: out, Clock: func() time.Time { return at }, Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func code(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return fmt.Sprint(err)
}

func TestLogIsALineOfJSON(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := read(t, `{"channels": {"l": {"kind": "log", "path": "-"}}, "routes": {"desk": {"channel": "l"}}}`, &out)
	if err := s.Send(context.Background(), message); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.HasPrefix(got, `{"id":"n-1","kind":"notify","target":"desk","time":"2025-01-04T00:00:00Z","body":{`) || strings.Count(got, "\n") != 1 {
		t.Error(got)
	}
	other := message
	other.Target = "elsewhere"
	if err := s.Send(context.Background(), other); code(err) != CodeNoRoute {
		t.Error(err)
	}
}

// SAFE-Q3: a webhook is signed as Standard Webhooks say, only 2xx counts, and an
// answer that does not come is unknown.
func TestWebhook(t *testing.T) {
	t.Parallel()
	status := make(chan int, 1)
	got := make(chan *http.Request, 1)
	bodies := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got <- r
		bodies <- string(b)
		n := <-status
		if n == 0 { // taken, and never answered
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(n)
	}))
	t.Cleanup(server.Close)
	s := read(t, `{"channels": {"w": {"kind": "webhook", "url": "`+server.URL+`", "secret-env": "S", "private": true}}, "routes": {"desk": {"channel": "w"}}}`, nil)
	for _, c := range []struct {
		status    int
		want      string
		permanent bool
	}{{200, "<nil>", false}, {204, "<nil>", false}, {302, CodeRefused, false}, {410, CodeRefused, true}, {500, CodeRefused, false}, {0, CodeUnknown, false}} {
		status <- c.status
		err := s.Send(context.Background(), message)
		r, body := <-got, <-bodies
		var e *Error
		if code(err) != c.want || errors.As(err, &e) && e.Permanent != c.permanent {
			t.Errorf("%d: %v", c.status, err)
		}
		key, _ := WebhookKeys(secret)
		if r.Header.Get("webhook-id") != "n-1" || r.Header.Get("webhook-timestamp") != fmt.Sprint(at.Unix()) || r.Method != http.MethodPost ||
			r.Header.Get("webhook-signature") != Sign(key, "n-1", at.Unix(), []byte(body)) || body != string(document(message)) {
			t.Errorf("%v %s", r.Header, body)
		}
	}
}

// While a secret replaces another, a webhook carries a signature of each, the newest first: receivers
// that know one of them take it.
func TestAWebhookIsSignedWithBothSecrets(t *testing.T) {
	t.Parallel()
	newer := "whsec_" + base64.StdEncoding.EncodeToString([]byte("fedcba9876543210fedcba9876543210"))
	var header string
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		header = r.Header.Get("webhook-signature")
		body, _ = io.ReadAll(r.Body)
	}))
	t.Cleanup(server.Close)
	s, err := Read(strings.NewReader(`{"channels": {"w": {"kind": "webhook", "url": "`+server.URL+`", "secret-env": "S", "private": true}}, "routes": {"desk": {"channel": "w"}}}`),
		Options{Env: func(string) string { return newer + "\n" + secret }, Clock: func() time.Time { return at }})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Send(t.Context(), message); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, one := range []string{newer, secret} {
		keys, err := WebhookKeys(one)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, Sign(keys, "n-1", at.Unix(), body))
	}
	if got := strings.Split(header, " "); !slices.Equal(got, want) {
		t.Errorf("it is signed %q, and not %q", got, want)
	}
	for _, none := range []string{"", " \n", newer + " else"} {
		if keys, err := WebhookKeys(none); err == nil {
			t.Errorf("%q is %d secrets", none, len(keys))
		}
	}
}

// The example of the specification.
func TestSignatureIsThatOfTheSpecification(t *testing.T) {
	t.Parallel()
	key, err := WebhookKeys("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	if got := Sign(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, []byte(`{"test": 2432232314}`)); got != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" {
		t.Error(got)
	}
}

// SAFE-H4, for what goes out: the address that is dialled decides.
func TestWebhookStaysOnThePublicInternet(t *testing.T) {
	t.Parallel()
	reached := false
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	t.Cleanup(server.Close)
	s := read(t, `{"channels": {"w": {"kind": "webhook", "url": "`+server.URL+`", "secret-env": "S"}}, "routes": {"desk": {"channel": "w"}}}`, nil)
	if err := s.Send(context.Background(), message); code(err) != CodeRefused || reached {
		t.Error(err, reached)
	}
}

// mailServer speaks SMTP for one connection. after says what it answers to the
// end of the message; "" is nothing, the connection ends.
func mailServer(t *testing.T, after string) (address string, got chan string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	got = make(chan string, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		in := bufio.NewReader(conn)
		say := func(s string) { fmt.Fprintf(conn, "%s\r\n", s) }
		say("220 mail.example")
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			switch word, _, _ := strings.Cut(strings.TrimSpace(line), " "); word {
			case "DATA":
				say("354 go on")
				var text strings.Builder
				for {
					line, err := in.ReadString('\n')
					if err != nil {
						return
					}
					if line == ".\r\n" {
						break
					}
					text.WriteString(strings.TrimPrefix(line, "."))
				}
				got <- text.String()
				if after == "" {
					return
				}
				say(after)
			case "QUIT":
				say("221 bye")
				return
			default:
				say("250 fine")
			}
		}
	}()
	return l.Addr().String(), got
}

// SAFE-Q3: a mail has the notice's id, and one whose acceptance was not heard is
// unknown. What it says cannot become a header.
func TestMail(t *testing.T) {
	t.Parallel()
	for after, want := range map[string]string{"250 taken": "<nil>", "": CodeUnknown, "554 no": CodeRefused} {
		address, got := mailServer(t, after)
		s := read(t, `{"channels": {"m": {"kind": "smtp", "server": "`+address+`", "from": "v@bank.example", "tls": "none"}}, "routes": {"desk": {"channel": "m", "to": ["a@bank.example"]}}}`, nil)
		err := s.Send(context.Background(), message)
		if code(err) != want {
			t.Errorf("%q: %v", after, err)
		}
		m, err := mail.ReadMessage(strings.NewReader(<-got))
		if err != nil {
			t.Fatal(err)
		}
		if m.Header.Get("Message-ID") != "<n-1@bank.example>" || m.Header.Get("Bcc") != "" || m.Header.Get("To") != "a@bank.example" {
			t.Errorf("%v", m.Header)
		}
		if body, _ := io.ReadAll(m.Body); !bytes.Contains(body, []byte("note: Gr=C3=B6=C3=9Fe Bcc: eve@example.com .")) {
			t.Errorf("%s", body)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	s := read(t, `{"channels": {"m": {"kind": "smtp", "server": "`+l.Addr().String()+`", "from": "v@bank.example"}}, "routes": {"*": {"channel": "m", "to": ["a@bank.example"]}}}`, nil)
	if err := s.Send(context.Background(), message); code(err) != CodeUnreachable {
		t.Error(err)
	}
}

func TestWhatIsWrongWithAFileIsTold(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[]`: "a mapping of keys is wanted", `{"chanels": {}}`: `"chanels" means nothing`,
		`{"channels": {"x": {"kind": "fax"}}}`:                                                                                                                         "log, smtp or webhook",
		`{"channels": {"x": {"kind": "log"}}}`:                                                                                                                         "needs a path",
		`{"channels": {"x": {"kind": "webhook", "url": "http://a.example", "secret-env": "S"}}}`:                                                                       "https",
		`{"channels": {"x": {"kind": "webhook", "url": "https://u:p@a.example", "secret-env": "S"}}}`:                                                                  "without a password",
		`{"channels": {"x": {"kind": "webhook", "url": "https://a.example"}}}`:                                                                                         "needs a secret",
		`{"channels": {"x": {"kind": "smtp", "server": "a", "from": "a@b.example"}}}`:                                                                                  "HOST:PORT",
		`{"channels": {"x": {"kind": "smtp", "server": "a:25", "from": "A <a@b.example>"}}}`:                                                                           "bare mail address",
		`{"channels": {"x": {"kind": "smtp", "server": "a:25", "from": "a@b.example", "user": "u", "password-env": "S", "tls": "none"}}}`:                              "without TLS",
		`{"channels": {"x": {"kind": "smtp", "server": "a:25", "from": "a@b.example"}}, "routes": {"d": {"channel": "x"}}}`:                                            "to whom",
		`{"channels": {"x": {"kind": "log", "path": "-"}}, "routes": {"d": {"channel": "x", "to": ["a@b.example"]}}}`:                                                  "only mail",
		`{"channels": {}, "routes": {"d": {"channel": "x"}}}`:                                                                                                          "not there",
		`{"channels": {"x": {"kind": "smtp", "server": "a:25", "from": "a@b.example"}}, "routes": {"d": {"channel": "x", "to": ["a@b.example\r\nBcc: c@d.example"]}}}`: "bare mail address",
	} {
		if _, err := Read(strings.NewReader(text), Options{Env: func(string) string { return secret }}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// An address that somebody else gave is dialled where it is of the public internet alone,
// unless the operator says otherwise; what is posted has its id and what its receiver wants to
// see.
func TestPostsToAddressesThatOthersGave(t *testing.T) {
	t.Parallel()
	come := make(chan *http.Request, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { come <- r }))
	defer receiver.Close()
	headers := map[string]string{"Authorization": "Bearer x", "webhook-id": "n-1"}
	err := NewPoster(false).Post(context.Background(), "n-1", receiver.URL, headers, []byte("{}"))
	var refused *Error
	if !errors.As(err, &refused) || refused.Code != CodeRefused || !refused.Permanent {
		t.Error(err)
	}
	if err := NewPoster(true).Post(context.Background(), "n-1", receiver.URL, headers, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if r := <-come; r.Header.Get("Authorization") != "Bearer x" || r.Header.Get("Webhook-Id") != "n-1" || r.Header.Get("Webhook-Signature") != "" {
		t.Error(r.Header)
	}
}
