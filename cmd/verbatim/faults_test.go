package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"verbatim/runtime/frontends/channel/whatsapp/cloudtest"
	"verbatim/runtime/frontends/http/server"
	"verbatim/runtime/frontends/http/server/logins"
	"verbatim/runtime/tests/faults"
	"verbatim/stores"
)

// A doors is a server as an operator starts it, on a store that fails where it is told to.
type doors struct {
	*runningServer
	t      *testing.T
	house  *house
	store  *faults.Store
	log    *lines
	who    string
	tokens int // that were not shown yet
	sent   int
}

// lines is a log that goroutines write to.
type lines struct {
	mu sync.Mutex
	bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.String()
}

func (l *lines) taken() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := l.Buffer.String()
	l.Reset()
	return text
}

const doorsURL = "http://doors.example"

// opens opens the doors of a house for somebody, who has a token for each name t0, t1, and so on.
func (h *house) opens(who string) *doors {
	h.t.Helper()
	h.granted("t", who, doorsURL, "", "--origin", "script")
	d := &doors{t: h.t, house: h, who: who, log: &lines{}, tokens: 600}
	file := filepath.Join(h.dir, "verbatim.db")
	var more strings.Builder
	for i := range d.tokens {
		fmt.Fprintf(&more, "INSERT INTO system_tokens SELECT substr(token_id, 1, 24) || '%012d', principal, name || '%[1]d', '%[2]s', audience, expires_at, only, origin, added_at FROM system_tokens WHERE name = 't';\n", i, logins.Digest(fmt.Sprint("t", i)))
	}
	if err := alterFile(file, strings.ReplaceAll(more.String(), " only, origin", ` "only", origin`)); err != nil {
		h.t.Fatal(err)
	}
	env := map[string]string{}
	for _, line := range h.env {
		name, value, _ := strings.Cut(line, "=")
		env[name] = value
	}
	if name := env["VERBATIM_CHANNELS"]; name != "" {
		env["VERBATIM_CHANNELS"] = filepath.Join(h.dir, name)
	}
	a := &app{world: world{env: func(name string) string { return env[name] }, now: time.Now, random: rand.Reader, load: loadOnce, out: &lines{}, err: d.log,
		wraps: func(s stores.Store) stores.Store { d.store = faults.New(s); return d.store }}}
	a.sent = &sink{w: a.out}
	var ends []func()
	h.t.Cleanup(func() {
		for i := len(ends) - 1; i >= 0; i-- {
			ends[i]()
		}
	})
	f := serveFlags{palettes: filepath.Join(h.dir, "verbs"), store: file, listen: "127.0.0.1:0", proxied: true, urls: []string{doorsURL}, budget: usualBudget, log: "error", apart: true}
	f.mode = "tools"
	f.limits = server.Limits{Rate: 200, Burst: 1000, Requests: 256, Streams: 20_000, Calls: 1000, Drain: time.Second}
	f.bodies, f.script = 256, 1024
	var err error
	if d.runningServer, err = a.server(h.t.Context(), f, &ends); err != nil {
		h.t.Fatal(err)
	}
	return d
}

// A knock is a request at a door; token and login are what it shows, if the door wants that.
type knock struct {
	name             string // of one request of several of a door; may be empty
	path, kind, body string // $n in the body is another number each time
	head             map[string]string
	sign             func(body string) (signed string, head map[string]string) // nil for what is not signed
}

// sends sends a knock, and returns how it was answered.
func (d *doors) sends(method string, k knock, token, login, from string) *httptest.ResponseRecorder {
	d.sent++
	if k.body = strings.ReplaceAll(k.body, "$n", fmt.Sprint(d.sent)); k.sign != nil {
		k.body, k.head = k.sign(k.body)
	}
	ctx, stop := context.WithTimeout(d.t.Context(), 300*time.Millisecond) // of what lasts as long as somebody listens
	defer stop()
	if k.head["Accept"] != "text/event-stream" {
		ctx = d.t.Context()
	}
	r := httptest.NewRequestWithContext(ctx, method, doorsURL+k.path, strings.NewReader(k.body))
	if k.body == "" {
		r.Body, r.ContentLength = http.NoBody, 0
	}
	r.RemoteAddr = from + ":1"
	if k.kind != "" {
		r.Header.Set("Content-Type", k.kind)
	}
	for name, value := range k.head {
		r.Header.Set(name, value)
	}
	switch {
	case token != "":
		r.Header.Set("Authorization", "Bearer "+token)
	case login != "":
		r.AddCookie(&http.Cookie{Name: "verbatim", Value: login})
	}
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w
}

// varies from call to call: suffixes of names, ids, times.
var varies = regexp.MustCompile(`[0-9a-f]{4,}|~[0-9a-z]+|\d+`)

// cannot matches the codes of a tool whose store could not be asked.
var cannot = regexp.MustCompile(`\[(system|unknown|store-(full|read-only|crowded|slow))\]`)

// twice returns a JSON object with one of its members twice, the shortest.
func twice(body string) string {
	var all map[string]json.RawMessage
	if json.Unmarshal([]byte(body), &all) != nil || len(all) == 0 {
		return ""
	}
	first := ""
	for name, value := range all {
		if member := fmt.Sprintf("%q:%s", name, value); first == "" || len(member) < len(first) {
			first = member
		}
	}
	return "{" + first + "," + strings.TrimSpace(body)[1:]
}

var pathValue = regexp.MustCompile(`\{[^}]*\}`)

// usually is a request of a route that nothing special is known of.
func usually(r *server.Route) (method string, k knock) {
	method, path, _ := strings.Cut(r.Pattern, " ")
	k.path = pathValue.ReplaceAllStringFunc(path, func(name string) string {
		switch name {
		case "{$}":
			return ""
		case "{entry}":
			return "1"
		}
		return "x"
	})
	if r.Body > 0 && method != "GET" {
		k.kind, k.body = "application/json", "{}"
		if r.Door == server.Page || r.Name != "" {
			k.kind, k.body = "application/x-www-form-urlencoded", "a=b"
		}
	}
	if r.Stream && method == "GET" {
		k.head = map[string]string{"Accept": "text/event-stream"}
	}
	return method, k
}

// G16, G81: a store that fails, stalls or is full at each of its calls in turn makes no caller a nobody
// at any door, and takes nothing away: the answer is the one without a fault, or says that it cannot be
// known now, when to come back, and why in the log. The doors are the server's own routes, and the tools
// that it lists. What they read as JSON has no member twice.
func TestAFailureToKnowIsNeverANo(t *testing.T) {
	t.Parallel()
	says := func(method, params string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)
	}
	const modelMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}`
	for name, in := range map[string]struct {
		house func(t *testing.T) *house
		who   string
		knows map[string][]knock // requests of a route in place of the usual one
	}{
		"bank": {func(t *testing.T) *house { return newHouse(t).administered() }, "clara", map[string][]knock{
			"POST /v1/run":     {{kind: "application/json", body: `{"script":"client.list-requests"}`}},
			"POST /v1/preview": {{kind: "application/json", body: fmt.Sprintf(`{"script":%q}`, fmt.Sprintf(aNote, 1))}},
			"POST /mcp":        {{kind: "application/json", body: says("tools/list", "{"+modelMeta+"}"), head: map[string]string{"Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}}},
		}},
		"agents": {func(t *testing.T) *house {
			h := agentsHouse(t)
			h.env = append(h.env, "VERBATIM_A2A_PUSH=private", "TICK=now")
			h.do("migrate", "--administrator", "ada", "--administrator", "bo")
			h.script("ada", "system.add-principal :name \"acme\" :label \"Acme\" :as @acme\nsystem.grant-role :principal-id @acme :role \"guest\"")
			return h
		}, "acme", map[string][]knock{
			"POST /a2a": {
				{kind: "application/json", body: says("SendMessage", `{"message":{"messageId":"m$n","role":"ROLE_USER","parts":[{"data":{"skill":"desk.report","arguments":{"text":"The printer"}}}]},"configuration":{"returnImmediately":true}}`), head: map[string]string{"A2a-Version": "1.0"}},
				{kind: "application/json", body: says("ListTasks", `{}`), head: map[string]string{"A2a-Version": "1.0"}}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := in.house(t).opens(in.who)
			if list := in.knows["POST /mcp"]; list != nil {
				in.knows["POST /mcp"] = append(list, d.tools(list[0])...)
			}
			d.all(in.knows)
		})
	}
	t.Run("channels", func(t *testing.T) {
		messaging(t, func(t *testing.T, h *house, cloud *cloudtest.Server, _ <-chan string) {
			if slices.ContainsFunc(h.env, func(line string) bool { return strings.HasPrefix(line, "VERBATIM_STORE=") }) {
				return // the doors are the same
			}
			message := cloud.Message(hers, cloudtest.Text("order repairs for Solar One"))
			message["id"] = "wamid.$n"
			hook := knock{kind: "application/json", body: string(cloud.Batch([]cloudtest.Object{message}, nil)), sign: func(body string) (string, map[string]string) {
				return body, map[string]string{"X-Hub-Signature-256": cloudtest.Sign("secret", []byte(body))}
			}}
			mail := knock{kind: "application/x-www-form-urlencoded", body: "From: Nora <nora@umza.example>\r\nTo: deals@umza.example\r\nSubject: Repairs\r\nMessage-ID: <$n@umza.example>\r\nDate: Mon, 02 Jan 2006 15:04:05 +0000\r\n\r\norder repairs for Solar One\r\n", sign: func(body string) (string, map[string]string) {
				form := url.Values{"body-mime": {body}, "sender": {"nora@umza.example"}, "recipient": {"deals@umza.example"}, "timestamp": {fmt.Sprint(time.Now().Unix())}, "token": {fmt.Sprintf("%x", sha256.Sum256([]byte(body)))}}
				mac := hmac.New(sha256.New, []byte("key"))
				mac.Write([]byte(form.Get("timestamp") + form.Get("token")))
				form.Set("signature", hex.EncodeToString(mac.Sum(nil)))
				return form.Encode(), nil
			}}
			h.opens("nora").all(map[string][]knock{"POST /channels/whatsapp": {hook}, "POST /channels/mail/mime": {mail}, "GET /channels/whatsapp": {{path: "/channels/whatsapp?hub.mode=subscribe&hub.verify_token=verify&hub.challenge=1"}}})
		})
	})
}

// tools returns a call of each tool that the server lists.
func (d *doors) tools(list knock) (calls []knock) {
	d.t.Helper()
	list.path = "/mcp"
	d.tokens--
	var told struct {
		Result struct{ Tools []struct{ Name string } }
	}
	w := d.sends("POST", list, fmt.Sprint("t", d.tokens), "", "10.255.0.1")
	if _, data, _ := strings.Cut(w.Body.String(), "data: "); json.Unmarshal([]byte(data), &told) != nil || len(told.Result.Tools) == 0 {
		d.t.Fatalf("no tools are listed: %d %s", w.Code, w.Body)
	}
	for _, tool := range told.Result.Tools {
		k := list
		k.name, k.path = "tool "+tool.Name, ""
		k.body = strings.Replace(strings.Replace(list.body, "tools/list", "tools/call", 1), `"params":{`, fmt.Sprintf(`"params":{"name":%q,"arguments":{},`, tool.Name), 1)
		k.head = maps.Clone(list.head)
		k.head["Mcp-Method"], k.head["Mcp-Name"] = "tools/call", tool.Name
		calls = append(calls, k)
	}
	return calls
}

// all knocks at all doors.
func (d *doors) all(knows map[string][]knock) {
	d.t.Helper()
	var table faults.Table
	for i, r := range d.Routes() {
		method, usual := usually(&r)
		all := knows[r.Pattern]
		if all == nil {
			all = []knock{usual}
		}
		if knows[r.Pattern] == nil && strings.Contains(r.Pattern, "/channels/") {
			d.t.Errorf("nothing knocks at %s: add a request that its channel would send", r.Pattern)
		}
		for j, k := range all {
			if k.path == "" {
				k.path = usual.path
			}
			d.tries(method, k, &r, fmt.Sprintf("10.%d.%d.1", i, j), &table)
		}
	}
	d.t.Logf("answers while the store\n%s", &table)
}

// tries knocks at a door while each call of the store fails in turn.
func (d *doors) tries(method string, k knock, r *server.Route, from string, table *faults.Table) {
	d.t.Helper()
	shows := func() (token, login string) {
		if r.Door == server.Open {
			return "", ""
		}
		if r.Door != server.Page {
			d.tokens--
			return fmt.Sprint("t", d.tokens), ""
		}
		d.store.Fail(faults.Fails, 0, 0)
		secret, err := d.Logins.Begin(d.t.Context(), d.who, "link")
		if err != nil {
			d.t.Fatal(err)
		}
		return "", secret
	}
	told := map[string]bool{}
	token, login := shows()
	d.store.Fail(faults.Fails, 0, 0)
	clean := d.sends(method, k, token, login, from)
	d.log.taken()
	if r.Door != server.Open && clean.Code == http.StatusUnauthorized || strings.Contains(r.Pattern, "/channels/") && clean.Code != http.StatusOK {
		d.t.Errorf("%s %s is not let in: %d %.300s", method, k.path, clean.Code, clean.Body)
	}
	if body := twice(k.body); body != "" && clean.Code < 300 {
		again := k
		again.body = body
		token, login := shows()
		if got := d.sends(method, again, token, login, from); got.Code < 300 && !strings.Contains(got.Body.String(), `"error":{`) {
			d.t.Errorf("%s %s: a member that stands twice is answered %d %.300s", method, k.path, got.Code, got.Body)
		}
		d.log.taken()
	}
	for _, f := range []struct {
		way  faults.Way
		code string // of its own
		want int
	}{{faults.Fails, "", 503}, {faults.Stalls, "", 503}, {faults.Full, "store-full", 507}, {faults.Standby, "store-read-only", 503}, {faults.Crowded, "store-crowded", 503}, {faults.Slow, "store-slow", 504}} {
		token, login := shows()
		for _, times := range []int{1, 1 << 30} { // once, and from then on
			for n := 1; n < 60; n++ {
				if f.code != "" && n > 4 && n%7 > 0 {
					continue // they fail at the calls at which another way does
				}
				d.store.Fail(f.way, n, times)
				got := d.sends(method, k, token, login, from)
				calls := d.store.Calls()
				said := d.log.taken()
				table.Tried(cmp.Or(k.name, r.Pattern), f.way)
				unread := strings.Contains(got.Body.String(), "could not be looked up")
				wrong := ""
				switch {
				case got.Code == clean.Code && strings.Contains(got.Body.String(), `"code":-32001`) != strings.Contains(clean.Body.String(), `"code":-32001`):
					wrong = "there is no such task"
				case k.name != "" && got.Code == clean.Code && varies.ReplaceAllString(got.Body.String(), "") != varies.ReplaceAllString(clean.Body.String(), "") && !unread && !cannot.MatchString(got.Body.String()):
					wrong = "it is answered otherwise, and no code says that the store could not be asked"
				case got.Code == clean.Code && got.Header().Get("Location") == clean.Header().Get("Location"):
				case got.Code < 500:
					wrong = fmt.Sprintf("%d %q in place of %d", got.Code, got.Header().Get("Location"), clean.Code)
				case got.Code != f.want && !(got.Code == 503 && (strings.Contains(r.Pattern, "/channels/") || r.Pattern == "GET /readyz" || unread)):
					wrong = fmt.Sprintf("%d in place of %d", got.Code, f.want)
				case got.Header().Get("Content-Type") == "application/problem+json" && f.code != "" && !strings.Contains(got.Body.String(), f.code) && !unread:
					wrong = "it has not the code " + f.code
				case got.Header().Get("Retry-After") == "":
					wrong = fmt.Sprintf("%d does not say when to come back", got.Code)
				case r.Pattern != "GET /readyz" && !strings.Contains(said, `"error":`): // which says it once
					wrong = fmt.Sprintf("%d, and the log says nothing of it", got.Code)
				}
				if wrong != "" && !told[wrong] { // once
					told[wrong] = true
					d.t.Errorf("%s %s: %s: call %d of the store %s, %d times: %s: %.300q %.200q", method, k.path, k.name, n, f.way, times, wrong, got.Body.String(), said)
				}
				if calls < n {
					break
				}
			}
		}
	}
	d.store.Fail(faults.Fails, 0, 0)
}
