package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/http/server"
	"verbatim/runtime/frontends/http/server/logins"
	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/sqlite"
	"verbatim/verbs/load"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// serve serves one route on a store with principals, each with a token of their name, and returns
// its URL.
func serve(t *testing.T, limits server.Limits, names ...string) string {
	t.Helper()
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "gate.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return serveOn(t, store, server.Options{Limits: limits}, names...)
}

// optionsOn makes the options of a server at a listener, on a store that it migrates.
func optionsOn(t *testing.T, l net.Listener, store stores.Store, o server.Options, names ...string) server.Options {
	t.Helper()
	ctx := t.Context()
	reg, ds := load.Dir(os.DirFS("../a2a/testdata/desk"))
	if reg == nil {
		t.Fatal(ds)
	}
	var entities []*stores.Entity
	for _, e := range reg.Entities() {
		entities = append(entities, e.Store)
	}
	if _, err := store.Migrate(ctx, slices.Concat(entities, engine.Own(), logins.Own()), true); err != nil {
		t.Fatal(err)
	}
	tokens := map[string]server.Token{}
	for _, name := range names {
		if err := store.SetPrincipal(ctx, stores.Principal{Name: name, Label: name, Roles: []string{"guest"}}); err != nil {
			t.Fatal(err)
		}
		tokens[logins.Digest(name)] = server.Token{Principal: name, Expires: time.Now().Add(time.Hour)}
	}
	eng, err := engine.New(reg, store, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o.Registry, o.Engine, o.Store, o.URL = reg, eng, store, "http://"+l.Addr().String()
	o.Tokens = func(_ context.Context, digest string) (server.Token, error) {
		token, ok := tokens[digest]
		if !ok {
			return token, server.ErrNobody
		}
		token.Audience = o.URL
		return token, nil
	}
	return o
}

func listens(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// serveOn is serve on a store, which it migrates, with options.
func serveOn(t *testing.T, store stores.Store, o server.Options, names ...string) string {
	t.Helper()
	l := listens(t)
	o = optionsOn(t, l, store, o, names...)
	s, err := server.New(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Mount(server.Route{Pattern: "GET /who", Door: server.API, Handle: func(v *server.Visit) error { return v.JSON(http.StatusOK, v.Principal) }},
		server.Route{Pattern: "POST /takes", Door: server.API, Body: 1 << 20, Handle: func(v *server.Visit) error { return v.JSON(http.StatusOK, v.Principal) }},
		server.Route{Pattern: "POST /open", Body: 40 << 20, Handle: func(v *server.Visit) error { return v.JSON(http.StatusOK, "") }})
	runs(t, server.NewFront(s), l)
	return o.URL
}

// runs serves until the test ends.
func runs(t *testing.T, f *server.Front, l net.Listener) {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = f.Run(ctx, l, nil)
	}()
	t.Cleanup(func() {
		stop()
		<-done
	})
}

// G88: a server is replaced while it answers: what it has begun it finishes, with its streams told to end,
// and what comes then is answered by the other, over the same connection. It has ended once nothing is left.
func TestAFrontGoesOnWithAnother(t *testing.T) {
	t.Parallel()
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "front.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	l := listens(t)
	o := optionsOn(t, l, store, server.Options{Limits: server.Limits{Drain: time.Second}}, "acme")
	begun, release := make(chan struct{}), make(chan struct{})
	beside := make(chan string, 4)
	named := func(name string) *server.Server {
		s, err := server.New(o)
		if err != nil {
			t.Fatal(err)
		}
		s.Mount(server.Route{Pattern: "GET /name", Door: server.API, Handle: func(v *server.Visit) error { return v.JSON(http.StatusOK, name) }},
			server.Route{Pattern: "GET /slow", Door: server.API, Handle: func(v *server.Visit) error {
				begun <- struct{}{}
				<-release
				s, _, err := v.Again() // which reads as long as the server has not ended
				if err == nil {
					_, err = s.Journal().Unsettled(v.R.Context())
				}
				return errors.Join(err, v.JSON(http.StatusOK, name))
			}},
			server.Route{Pattern: "GET /stream", Door: server.API, Stream: true, Handle: func(v *server.Visit) error {
				begun <- struct{}{}
				select {
				case <-v.Draining:
				case <-time.After(5 * time.Second):
					return errors.New("the stream is not told to end")
				}
				return v.JSON(http.StatusOK, name)
			}})
		s.Beside(func(ctx context.Context) {
			<-ctx.Done()
			beside <- name
		})
		return s
	}
	front := server.NewFront(named("first"))
	runs(t, front, l)
	client := &http.Client{Timeout: 10 * time.Second}
	ask := func(path string) string {
		r, _ := http.NewRequest(http.MethodGet, o.URL+path, nil)
		r.Header.Set("Authorization", "Bearer acme")
		answer, err := client.Do(r)
		if err != nil {
			return err.Error()
		}
		defer answer.Body.Close()
		text, _ := io.ReadAll(answer.Body)
		return strings.TrimSpace(string(text))
	}
	if got := ask("/name"); got != `"first"` {
		t.Fatal(got)
	}
	slow, stream := make(chan string, 1), make(chan string, 1)
	go func() { slow <- ask("/slow") }()
	go func() { stream <- ask("/stream") }()
	<-begun
	<-begun
	ended := make(chan struct{})
	front.Replace(context.Background(), named("second"), func() { close(ended) })
	if got := ask("/name"); got != `"second"` {
		t.Errorf("after the exchange %s answers", got)
	}
	if got := <-stream; got != `"first"` {
		t.Errorf("a stream is answered %s", got)
	}
	select {
	case <-ended:
		t.Error("a server ended that has a request")
	case <-time.After(50 * time.Millisecond):
	}
	close(release)
	if got := <-slow; got != `"first"` {
		t.Errorf("what was begun is answered %s", got)
	}
	<-ended
	if name := <-beside; name != "first" {
		t.Errorf("what runs beside the %s ended", name)
	}
}

// Whoever asks too much is told to wait, by their address and by who they are: from many
// addresses, a principal is answered as often as from five, and others are answered still.
func TestOnePersonFromManyAddresses(t *testing.T) {
	t.Parallel()
	url := serve(t, server.Limits{Rate: 0.001, Burst: 4, Drain: time.Second}, "acme", "other")
	ask := func(address byte, who string) int {
		t.Helper()
		c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 2, address)}}).DialContext}}
		r, _ := http.NewRequest(http.MethodGet, url+"/who", nil)
		r.Header.Set("Authorization", "Bearer "+who)
		answer, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode == http.StatusTooManyRequests && answer.Header.Get("Retry-After") == "" {
			t.Error("nobody is told for how long to wait")
		}
		return answer.StatusCode
	}
	count := func(address byte, who string) (answered int) {
		t.Helper()
		for range 5 {
			if ask(address, who) == http.StatusOK {
				answered++
			}
		}
		return answered
	}
	for address := range byte(8) {
		want := 4 // of five, by the address
		if address >= 5 {
			want = 0 // by who asks
		}
		if got := count(address+1, "acme"); got != want {
			t.Errorf("from address %d, %d of 5 are answered, want %d", address+1, got, want)
		}
	}
	if got := count(20, "other"); got != 4 {
		t.Errorf("%d of 5 of somebody else are answered", got)
	}
}

// G88: servers of one store count together how much a client asks: two of them let pass what one may, and
// a tenth more each. For the first requests of a client nobody asks the store, and while it does not
// answer each server goes by its own count.
func TestServersOfOneStoreCountTogether(t *testing.T) {
	t.Parallel()
	db := pgtest.Database(t)
	limits := server.Limits{Rate: 20, Burst: 200, Drain: time.Second}
	var urls []string
	var all []*readOnly
	for range 2 {
		open, err := postgres.Open(t.Context(), db.App, postgres.MigrateAs(db.Owner))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = open.Close() })
		store := &readOnly{Store: open}
		all = append(all, store)
		urls = append(urls, serveOn(t, store, server.Options{Limits: limits, Together: true, Proxied: true}, "acme"))
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	ask := func(url, from string) (status int) {
		t.Helper()
		r, _ := http.NewRequest(http.MethodGet, url+"/who", nil)
		r.Header.Set("Authorization", "Bearer acme")
		r.Header.Set("X-Forwarded-For", from)
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		var said struct{ Code string }
		if answer.StatusCode == http.StatusTooManyRequests && (answer.Header.Get("Retry-After") == "" || json.NewDecoder(answer.Body).Decode(&said) != nil || said.Code != "rate-limited") {
			t.Errorf("who asks too much is told %+v, and to wait %q", said, answer.Header.Get("Retry-After"))
		}
		return answer.StatusCode
	}
	// storm asks as fast as it can from one address, until each server refused many, and returns how many were
	// answered, and how many may have been.
	storm := func(from string) (answered int64, may float64) {
		t.Helper()
		began := time.Now()
		var passed atomic.Int64
		var askers sync.WaitGroup
		for i := range 4 {
			askers.Go(func() {
				for refused := 0; refused < 40 && time.Since(began) < 20*time.Second; {
					switch status := ask(urls[i%2], from); status {
					case http.StatusOK:
						passed.Add(1)
					case http.StatusTooManyRequests:
						refused++
					default:
						t.Errorf("answered %d", status)
						return
					}
				}
			})
		}
		askers.Wait()
		passing := 20 * time.Since(began).Seconds()
		return passed.Load(), 200 + passing + 2*(200.0/10+passing/20)
	}
	for _, url := range urls { // nothing is asked of the store for them
		for range 9 {
			if status := ask(url, "192.0.2.1"); status != http.StatusOK {
				t.Error(status)
			}
		}
	}
	if n, err := db.Number("SELECT count(*) FROM verbatim.tallies"); err != nil || n != 0 {
		t.Errorf("ordinary requests are counted in %d rows: %v", n, err)
	}
	answered, may := storm("192.0.2.2")
	t.Logf("two servers answered %d requests, and may answer 200 to %.0f", answered, may)
	if float64(answered) > may || answered < 200 {
		t.Errorf("two servers answer %d requests, and may answer 200 to %.0f", answered, may)
	}
	for _, s := range all {
		s.now.Store(true)
	}
	if answered, _ := storm("192.0.2.3"); answered < 400 {
		t.Errorf("beside a store that does not answer, two servers answer %d requests", answered)
	}
}

// A readOnly store takes no writes from now on.
type readOnly struct {
	stores.Store
	now atomic.Bool
}

func (s *readOnly) Update(ctx context.Context, scope stores.Scope, fn func(stores.Tx) error) error {
	if s.now.Load() {
		return errors.New("the store does not answer")
	}
	return s.Store.Update(ctx, scope, fn)
}

// sends begins a request with a body of a length, and sends so much of it; a proxy says that it comes from
// an address.
func sends(t *testing.T, url, path, token, from string, length, sent int) net.Conn {
	t.Helper()
	host := strings.TrimPrefix(url, "http://")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	_, _ = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nX-Forwarded-For: 203.0.113.9, %s\r\nContent-Length: %d\r\n\r\n", path, host, token, from, length)
	_, _ = conn.Write(make([]byte, sent)) // the server may have answered already
	return conn
}

func statusOf(conn net.Conn) int {
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0
	}
	return answer.StatusCode
}

// G19: nobody's body is read where the caller has to be known. Bodies of nobody take a share of memory
// alone, and those of one address, or of one network of IPv6, a share of that: others are answered beside
// them, known or not.
func TestBodiesOfNobody(t *testing.T) {
	t.Parallel()
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "gate.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	url := serveOn(t, store, server.Options{Proxied: true, Limits: server.Limits{Drain: time.Second}}, "acme")
	if status := statusOf(sends(t, url, "/takes", "nobody", "192.0.2.1", 1000, 0)); status != http.StatusUnauthorized {
		t.Errorf("nobody is answered with %d, before the body came", status)
	}
	const length = 20 << 20
	// storm sends many bodies but for their last byte, and returns the last of the first few answers.
	storm := func(many, few int, from func(n int) string) (last int) {
		answers := make(chan int, many)
		for n := range many {
			conn := sends(t, url, "/open", "", from(n), length, length-1)
			go func() { answers <- statusOf(conn) }()
		}
		for range few {
			last = <-answers
		}
		return last
	}
	one := func(path, token, from string) int { return statusOf(sends(t, url, path, token, from, 1<<19, 1<<19)) }
	if status := storm(4, 1, func(n int) string { return fmt.Sprintf("2001:db8:0:1::%d", n) }); status != http.StatusServiceUnavailable {
		t.Errorf("4 bodies of %d bytes are held for one network: %d", length, status)
	}
	for _, from := range []string{"192.0.2.2", "2001:db8:0:2::1"} {
		if status := one("/open", "", from); status != http.StatusOK {
			t.Errorf("beside the bodies of one address, %s is answered with %d", from, status)
		}
	}
	if status := storm(12, 7, func(n int) string { return fmt.Sprintf("198.51.100.%d", n) }); status != http.StatusServiceUnavailable {
		t.Errorf("12 more bodies of %d bytes are held for nobody: %d", length, status)
	}
	if status := one("/takes", "acme", "192.0.2.3"); status != http.StatusOK {
		t.Errorf("beside bodies of nobody, somebody who is known is answered with %d", status)
	}
}
