package mcp_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"verbatim/runtime/protocols/mcp"
	"verbatim/runtime/protocols/tools"
)

// A stubAPI is an API that answers in some way, and notes each request.
type stubAPI struct {
	*httptest.Server
	answer func(w http.ResponseWriter, r *http.Request, nth int)

	mu    sync.Mutex
	asked []string // "POST /v1/orders?x=1 body"
	shown []http.Header
}

func newStub(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, nth int)) *stubAPI {
	t.Helper()
	s := &stubAPI{answer: answer}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

func (s *stubAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.asked = append(s.asked, strings.TrimSpace(r.Method+" "+r.RequestURI+" "+string(body)))
	s.shown = append(s.shown, r.Header.Clone())
	nth := len(s.asked)
	s.mu.Unlock()
	s.answer(w, r, nth)
}

func (s *stubAPI) requests() ([]string, []http.Header) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.asked...), append([]http.Header(nil), s.shown...)
}

func says(status int, kind, body string, headers ...string) func(http.ResponseWriter, *http.Request, int) {
	return func(w http.ResponseWriter, _ *http.Request, _ int) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func shopText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("testdata/shop.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// shopAt configures the API of testdata/shop.yaml.
func shopAt(t *testing.T, server mcp.Server) (*mcp.Servers, fstest.MapFS) {
	t.Helper()
	files := fstest.MapFS{"apis/shop.yaml": {Data: []byte(shopText(t))}}
	server.API, server.Local = "apis/shop.yaml", true
	if server.Timeout == 0 {
		server.Timeout = 20 * time.Second
	}
	if server.MaxAnswer == 0 {
		server.MaxAnswer = 64 << 10
	}
	env := map[string]string{"SHOP_TOKEN": "t0ken", "SHOP_LOGIN": "ada:s3cret", "SHOP_KEY": "k3y"}
	return mcp.New(mcp.Config{Servers: map[string]mcp.Server{"shop": server}}, mcp.Accepted{}, mcp.Options{Files: files, Env: func(name string) string { return env[name] }}), files
}

func asks(t *testing.T, s *mcp.Servers, name, args string) (tools.Answer, error) {
	t.Helper()
	spec, err := s.Tool(t.Context(), "shop", name)
	if err != nil {
		t.Fatal(err)
	}
	return s.Call(t.Context(), tools.Call{Server: "shop", Name: name, Digest: spec.Digest, Args: args, Key: "key-1"})
}

// Each argument is written where the description has it, to the last digit; secrets come from the
// environment; what would lead to another address is not sent.
func TestRequestsOfAnAPI(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, args string
		server     mcp.Server
		want       string // the request
		header     string // "Name: value"
	}{
		{name: "listOrders", args: `{"state":["a b","c&d"],"ids":["1,2","3"],"made":{"from":{"day":"2025-01-20"},"in":["x","y"]},"q":{"a":1.50},"X-Tenant":"ours","X-Api-Key":"mine"}`,
			want:   `GET /v1/orders?state=a%20b&state=c%26d&ids=1%2C2,3&made%5Bfrom%5D%5Bday%5D=2025-01-20&made%5Bin%5D=x&made%5Bin%5D=y&q=%7B%22a%22%3A1.50%7D`,
			header: "X-Tenant: ours"},
		{name: "listOrders", args: `{"state":[],"X-Api-Key":"mine"}`, want: `GET /v1/orders`, header: "X-Api-Key: mine"},
		{name: "listOrders", args: `{}`, server: mcp.Server{Headers: map[string]string{"X-Api-Key": "SHOP_KEY"}}, want: `GET /v1/orders`, header: "X-Api-Key: k3y"},
		{name: "placeOrder", args: `{"number":12345678901234567890,"amount":0.10,"after":{"number":1,"amount":1e2,"<":"&"}}`, server: mcp.Server{Token: "SHOP_TOKEN"},
			want: `POST /v1/orders {"after":{"number":1,"amount":1e2,"<":"&"},"amount":0.10,"number":12345678901234567890}`, header: "Authorization: Bearer t0ken"},
		{name: "placeOrder", args: `{"number":1,"amount":1}`, server: mcp.Server{Basic: "SHOP_LOGIN", Idempotency: "Idempotency-Key"}, want: `POST /v1/orders {"amount":1,"number":1}`, header: "Idempotency-Key: key-1"},
		{name: "placeOrder", args: `{"number":1,"amount":1}`, server: mcp.Server{Basic: "SHOP_LOGIN"}, want: `POST /v1/orders {"amount":1,"number":1}`, header: "Authorization: Basic YWRhOnMzY3JldA=="},
		{name: "getOrder", args: `{"id":"a/b ?#{id}ü"}`, want: `GET /v1/orders/a%2Fb%20%3F%23%7Bid%7D%C3%BC`, header: "Accept: application/json"},
		{name: "changeOrder", args: `{"path.id":"1","form.id":"2","note":"a=b&c","tags":["x","y"]}`, want: `PATCH /v1/orders/1 id=2&note=a%3Db%26c&tags=x&tags=y`, header: "Content-Type: application/x-www-form-urlencoded"},
		{name: "changeOrder", args: `{"path.id":"1"}`, want: `PATCH /v1/orders/1`},
		{name: "searchOrders", args: `{"body":"all of \"them\""}`, want: `POST /v1/orders/search all of "them"`, header: "Content-Type: text/plain"},
		// Not sent.
		{name: "getOrder", args: `{"id":""}`}, {name: "getOrder", args: `{"id":"."}`}, {name: "getOrder", args: `{"id":".."}`}, {name: "getOrder", args: `{"id":[".."]}`}, {name: "getOrder", args: `{"id":"../../admin"}`}, {name: "getOrder", args: `{"id":"x\\..\\y"}`},
		{name: "getOrder", args: `{}`}, {name: "getOrder", args: `{"id":{"a":[1]}}`}, {name: "getOrder", args: `{"id":"1","other":2}`}, {name: "listOrders", args: `{"X-Api-Key":"a\r\nX-Evil: 1"}`},
		{name: "listOrders", args: `{"ids":[[1]],"X-Api-Key":"mine"}`}, {name: "getOrder", args: `{"id":"1"}`, server: mcp.Server{Token: "NOT_SET"}},
	} {
		stub := newStub(t, says(200, "application/json", "{}"))
		c.server.URL = stub.URL + "/v1/"
		s, _ := shopAt(t, c.server)
		_, err := asks(t, s, c.name, c.args)
		asked, shown := stub.requests()
		if c.want == "" {
			if !errors.Is(err, tools.ErrNotCalled) || len(asked) > 0 {
				t.Errorf("%s %s was sent: %q, %v", c.name, c.args, asked, err)
			}
			continue
		}
		if err != nil || len(asked) != 1 || asked[0] != c.want {
			t.Errorf("%s %s is sent as\n%q, want\n%q: %v", c.name, c.args, asked, c.want, err)
			continue
		}
		if name, value, _ := strings.Cut(c.header, ": "); name != "" && shown[0].Get(name) != value {
			t.Errorf("%s %s: %s is %q, want %q", c.name, c.args, name, shown[0].Get(name), value)
		}
	}
}

// Whatever an API answers, it is known whether it may have acted. What may have acted, and is sent
// under no key, is sent once.
func TestAnswersOfAnAPI(t *testing.T) {
	t.Parallel()
	elsewhere := newStub(t, says(200, "application/json", "{}"))
	hang := func(w http.ResponseWriter, r *http.Request, _ int) {
		select {
		case <-r.Context().Done():
		case <-time.After(20 * time.Second):
		}
	}
	drops := func(w http.ResponseWriter, r *http.Request, _ int) { panic(http.ErrAbortHandler) }
	cuts := func(w http.ResponseWriter, r *http.Request, _ int) {
		w.Header().Set("Content-Length", "100")
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"number":1`)
	}
	first := func(one, then func(http.ResponseWriter, *http.Request, int)) func(http.ResponseWriter, *http.Request, int) {
		return func(w http.ResponseWriter, r *http.Request, nth int) {
			if nth == 1 {
				one(w, r, nth)
				return
			}
			then(w, r, nth)
		}
	}
	busy, away := says(429, "text/plain", "slowly", "Retry-After", "0"), says(503, "text/plain", "back soon", "Retry-After", "0")
	good := says(201, "application/json; charset=utf-8", ` {"number":12345678901234567890, "amount":0.10} `)
	list := says(200, "application/vnd.shop+json", `[{"number":1}]`)
	type way struct {
		times  int
		answer string // structured, or the text of one that has only that
		failed string // words of a refusal
		why    string // words of an error; one that begins with ! says that it was not sent
	}
	for _, c := range []struct {
		mood              string
		answer            func(http.ResponseWriter, *http.Request, int)
		read, write, once way // a read, a write, and a write under a key
	}{
		{"well", good, way{times: 1, answer: `{"number":12345678901234567890, "amount":0.10}`}, way{times: 1, answer: `{"number":12345678901234567890, "amount":0.10}`}, way{times: 1, answer: `{"number":12345678901234567890, "amount":0.10}`}},
		{"a list", list, way{times: 1, answer: `{"items":[{"number":1}]}`}, way{times: 1, answer: `{"items":[{"number":1}]}`}, way{times: 1, answer: `{"items":[{"number":1}]}`}},
		{"nothing", says(204, "", ""), way{times: 1, answer: "No Content"}, way{times: 1, answer: "No Content"}, way{times: 1, answer: "No Content"}},
		{"text", says(200, "text/plain", "yes\n"), way{times: 1, answer: "yes"}, way{times: 1, answer: "yes"}, way{times: 1, answer: "yes"}},
		{"a picture", says(200, "image/png", "\x89PNG"), way{times: 1, answer: "4 bytes of image/png"}, way{times: 1, answer: "4 bytes of image/png"}, way{times: 1, answer: "4 bytes of image/png"}},
		{"refused", says(422, "application/problem+json", "{\"title\":\"No\x1b such\n amount\"}"), way{times: 1, failed: `it refuses the request (status 422: {"title":"No such amount"})`}, way{times: 1, failed: "it refuses the request (status 422"}, way{times: 1, failed: "it refuses the request (status 422"}},
		{"locked", says(401, "text/plain", strings.Repeat("é", 5000)), way{times: 1, failed: "it refuses the token that it was shown (status 401: " + strings.Repeat("é", 300) + "…)"}, way{times: 1, failed: "it refuses the token"}, way{times: 1, failed: "it refuses the token"}},
		{"forbidden", says(403, "text/plain", ""), way{times: 1, failed: "it refuses the token that it was shown (status 403)"}, way{times: 1, failed: "it refuses the token"}, way{times: 1, failed: "it refuses the token"}},
		{"busy once", first(busy, good), way{times: 2, answer: `{"number":12345678901234567890, "amount":0.10}`}, way{times: 1, failed: "it refuses the request (status 429: slowly)"}, way{times: 2, answer: `{"number":12345678901234567890, "amount":0.10}`}},
		{"busy", busy, way{times: 4, failed: "it refuses the request (status 429"}, way{times: 1, failed: "it refuses the request (status 429"}, way{times: 4, failed: "it refuses the request (status 429"}},
		{"busy for long", says(429, "text/plain", "", "Retry-After", "3600"), way{times: 1, failed: "it refuses the request (status 429)"}, way{times: 1, failed: "it refuses the request"}, way{times: 1, failed: "it refuses the request"}},
		{"away once", first(away, good), way{times: 2, answer: `{"number":12345678901234567890, "amount":0.10}`}, way{times: 1, why: "status 503"}, way{times: 2, answer: `{"number":12345678901234567890, "amount":0.10}`}},
		{"away, then refused", first(away, says(409, "text/plain", "in progress")), way{times: 2, failed: "it refuses the request (status 409: in progress)"}, way{times: 1, why: "status 503"}, way{times: 2, why: "status 409"}},
		{"broken", says(500, "text/html", "<h1>Oops</h1>"), way{times: 1, why: "it answered with status 500: <h1>Oops</h1>"}, way{times: 1, why: "status 500"}, way{times: 1, why: "status 500"}},
		{"drops", drops, way{times: 1, why: "EOF"}, way{times: 1, why: "EOF"}, way{times: 1, why: "EOF"}},
		{"cuts", cuts, way{times: 1, why: "ends before its end"}, way{times: 1, why: "ends before its end"}, way{times: 1, why: "ends before its end"}},
		{"stalls", hang, way{times: 1, why: "no answer within"}, way{times: 1, why: "no answer within"}, way{times: 1, why: "no answer within"}},
		{"huge", says(200, "application/json", `"`+strings.Repeat("x", 5<<20)+`"`), way{times: 1, why: "more than 65536 bytes"}, way{times: 1, why: "more than 65536 bytes"}, way{times: 1, why: "more than 65536 bytes"}},
		{"no JSON", says(200, "application/json", "<html>"), way{times: 1, why: "no JSON"}, way{times: 1, why: "no JSON"}, way{times: 1, why: "no JSON"}},
		{"elsewhere", says(302, "", "", "Location", elsewhere.URL+"/v1/orders/1"), way{times: 1, why: "another host"}, way{times: 1, why: "status 302"}, way{times: 1, why: "status 302"}},
		{"elsewhere, and again", says(307, "", "", "Location", elsewhere.URL+"/v1/orders/1"), way{times: 1, why: "another host"}, way{times: 1, why: "status 307"}, way{times: 1, why: "status 307"}},
		{"moved", first(says(302, "", "", "Location", "/v2/orders/1"), good), way{times: 2, answer: `{"number":12345678901234567890, "amount":0.10}`}, way{times: 1, why: "status 302"}, way{times: 1, why: "status 302"}},
		{"moves on", says(302, "", "", "Location", "/v2/orders/1"), way{times: 4, why: "more than 3 times"}, way{times: 1, why: "status 302"}, way{times: 1, why: "status 302"}},
	} {
		for kind, w := range map[string]way{"read": c.read, "write": c.write, "once": c.once} {
			t.Run(c.mood+" "+kind, func(t *testing.T) {
				t.Parallel()
				stub := newStub(t, c.answer)
				server := mcp.Server{URL: stub.URL + "/v1", Token: "SHOP_TOKEN"}
				if c.mood == "stalls" {
					server.Timeout = 300 * time.Millisecond
				}
				name, args := "getOrder", `{"id":"1"}`
				if kind != "read" {
					name, args = "placeOrder", `{"number":1,"amount":1}`
				}
				if kind == "once" {
					server.Idempotency = "Idempotency-Key"
				}
				s, _ := shopAt(t, server)
				a, err := asks(t, s, name, args)
				switch {
				case w.why != "":
					if err == nil || errors.Is(err, tools.ErrNotCalled) || !strings.Contains(err.Error(), w.why) || strings.Contains(err.Error(), stub.URL) {
						t.Errorf("%+v %v", a, err)
					}
				case err != nil || a.Failed != (w.failed != "") || a.Failed && !strings.HasPrefix(a.Text, w.failed) || !a.Failed && a.Structured != w.answer && (a.Structured != "" || a.Text != w.answer):
					t.Errorf("%+v %v", a, err)
				}
				asked, shown := stub.requests()
				if len(asked) != w.times {
					t.Errorf("sent %d times: %q", len(asked), asked)
				}
				for _, h := range shown {
					if h.Get("Authorization") != "Bearer t0ken" || (h.Get("Idempotency-Key") == "key-1") != (kind == "once") {
						t.Errorf("it was shown %v", h)
					}
				}
			})
		}
	}
	t.Cleanup(func() {
		if asked, _ := elsewhere.requests(); len(asked) > 0 {
			t.Errorf("another host was asked: %q", asked)
		}
	})
}

// What cannot be reached was not asked: nobody listens, the certificate is none, or the address is of a
// private network.
func TestAnAPIThatIsNotReached(t *testing.T) {
	t.Parallel()
	secret := httptest.NewTLSServer(http.NotFoundHandler())
	secret.Config.ErrorLog = nil
	t.Cleanup(secret.Close)
	for at, why := range map[string]string{"http://127.0.0.1:1": "refused", secret.URL: "certificate"} {
		s, _ := shopAt(t, mcp.Server{URL: at})
		if _, err := asks(t, s, "placeOrder", `{"number":1,"amount":1}`); !errors.Is(err, tools.ErrNotCalled) || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", at, err)
		}
	}
	stub := newStub(t, says(200, "application/json", "{}"))
	files := fstest.MapFS{"shop.yaml": {Data: []byte(shopText(t))}}
	public := mcp.New(mcp.Config{Servers: map[string]mcp.Server{"shop": {API: "shop.yaml", URL: stub.URL, Timeout: time.Second, MaxAnswer: 4096}}}, mcp.Accepted{}, mcp.Options{Files: files})
	if _, err := asks(t, public, "getOrder", `{"id":"1"}`); !errors.Is(err, tools.ErrNotCalled) || !strings.Contains(err.Error(), "private network") {
		t.Error(err)
	}
	if asked, _ := stub.requests(); len(asked) > 0 {
		t.Errorf("it was asked: %q", asked)
	}
}

// What is accepted of an operation is each word of it and of what it refers to, and how and where it is
// sent. An operation that has changed is not called.
func TestAnOperationThatChanged(t *testing.T) {
	t.Parallel()
	stub := newStub(t, says(200, "application/json", "{}"))
	server := mcp.Server{URL: stub.URL}
	s, files := shopAt(t, server)
	spec, err := s.Tool(t.Context(), "shop", "placeOrder")
	if err != nil || !spec.Writes || !spec.Repeats || spec.Says != "Places an order." {
		t.Fatalf("%+v %v", spec, err)
	}
	call := tools.Call{Server: "shop", Name: "placeOrder", Digest: spec.Digest, Args: `{"number":1,"amount":1}`, Key: "k"}
	text := shopText(t)
	for _, change := range [][2]string{{"Places an", "Cancels an"}, {"required: [number, amount]", "required: [number]"}, {"amount: {type: number}", "amount: {type: number, description: in cents}"},
		{"{name: Idempotency-Key, in: header", "{name: Idempotency-Key, in: query"}, {"  /orders:\n", "  /other-orders:\n"}, {"    post:\n      operationId: placeOrder", "    put:\n      operationId: placeOrder"}} {
		if strings.Count(text, change[0]) < 1 {
			t.Fatalf("there is no %q", change[0])
		}
		files["apis/shop.yaml"] = &fstest.MapFile{Data: []byte(strings.Replace(text, change[0], change[1], 1))}
		if _, err := s.Call(t.Context(), call); !errors.Is(err, tools.ErrChanged) {
			t.Errorf("%s: %v", change[1], err)
		}
	}
	// Another file of the description belongs to it.
	order := `{"Order": {"type": "object", "properties": {"amount": {"type": "number"}}}}`
	files["apis/parts/order.json"] = &fstest.MapFile{Data: []byte(order)}
	files["apis/shop.yaml"] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(text, "#/components/schemas/Order", "parts/order.json#/Order"))}
	several, err := s.Tool(t.Context(), "shop", "placeOrder")
	if err != nil || !strings.Contains(string(several.Input), `"amount"`) {
		t.Fatalf("%s %v", several.Input, err)
	}
	files["apis/parts/order.json"] = &fstest.MapFile{Data: []byte(strings.Replace(order, "number", "integer", 1))}
	if _, err := s.Call(t.Context(), tools.Call{Server: "shop", Name: "placeOrder", Digest: several.Digest, Args: `{"amount":1}`, Key: "k"}); !errors.Is(err, tools.ErrChanged) {
		t.Error(err)
	}
	files["apis/shop.yaml"] = &fstest.MapFile{Data: []byte(text)}
	for _, other := range []mcp.Server{{URL: stub.URL + "/v2"}, {URL: stub.URL, Reads: []string{"placeOrder"}}, {URL: stub.URL, Idempotency: "Idempotency-Key"}} {
		moved, _ := shopAt(t, other)
		if _, err := moved.Call(t.Context(), call); !errors.Is(err, tools.ErrChanged) {
			t.Errorf("%+v: %v", other, err)
		}
	}
	if asked, _ := stub.requests(); len(asked) > 0 {
		t.Fatalf("it was asked: %q", asked)
	}
	if _, err := s.Call(t.Context(), call); err != nil {
		t.Error(err)
	}
	reading, _ := shopAt(t, mcp.Server{URL: stub.URL, Reads: []string{"searchOrders"}})
	if spec, err := reading.Tool(t.Context(), "shop", "searchOrders"); err != nil || spec.Writes || spec.Repeats {
		t.Errorf("%+v %v", spec, err)
	}
}

// An API has the tools of which requests can be made; a description that cannot be read, or that says
// nowhere where the API is, is told to be that.
func TestToolsOfAnAPI(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, files := shopAt(t, mcp.Server{})
	all, err := s.All(ctx, "shop")
	var names []string
	for _, said := range all {
		names = append(names, said.Name)
	}
	if got := strings.Join(names, " "); err != nil || got != "listOrders placeOrder searchOrders getOrder changeOrder" {
		t.Errorf("%s %v", got, err)
	}
	said, err := s.Said(ctx, "shop", "placeOrder")
	if err != nil || string(said.Input) != `{"$defs":{"order":{"properties":{"after":{"$ref":"#/$defs/order"},"amount":{"type":"number"},"id":{"readOnly":true,"type":"string"},"number":{"type":"integer"}},"required":["number","amount"],"type":"object"}},`+
		`"additionalProperties":false,"properties":{"Idempotency-Key":{"type":"string"},"after":{"$ref":"#/$defs/order"},"amount":{"type":"number"},"number":{"type":"integer"}},"required":["number","amount"],"type":"object"}` ||
		!strings.Contains(string(said.Meta), `"base":"https://api.shop.example/v1"`) || string(said.Hints) != `{"readOnlyHint":false}` || !strings.Contains(string(said.Output), `"$ref":"#/$defs/order"`) {
		t.Errorf("%s\n%s\n%s\n%s %v", said.Input, said.Output, said.Hints, said.Meta, err)
	}
	for name, want := range map[string]string{"uploadLabel": "a body of multipart/form-data is not sent", "nothing": "shop has no operation"} {
		if _, err := s.Tool(ctx, "shop", name); !errors.Is(err, tools.ErrNone) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	text := shopText(t)
	for _, c := range []struct{ from, to, want string }{
		{"https://{where}", "/{where}", "say so with url"}, {"https://{where}", "ftp://{where}", "not encrypted"}, {"openapi: 3.1.0", "openapi: 2.0", "no description by OpenAPI 3"},
		{"paths:", "paths: [", "neither JSON nor YAML"},
	} {
		files["apis/shop.yaml"] = &fstest.MapFile{Data: []byte(strings.Replace(text, c.from, c.to, 1))}
		if _, err := s.Tool(ctx, "shop", "getOrder"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.to, err)
		}
	}
	delete(files, "apis/shop.yaml")
	if _, err := s.Tool(ctx, "shop", "getOrder"); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Error(err)
	}
	s, _ = shopAt(t, mcp.Server{Reads: []string{"searchorders"}})
	if _, err := s.Tool(ctx, "shop", "getOrder"); err == nil || !strings.Contains(err.Error(), `reads names "searchorders"`) {
		t.Error(err)
	}
}
