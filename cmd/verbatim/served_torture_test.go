package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"math/big"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"verbatim/stores/postgres/pgtest"
)

// How much of it: a little in every run, what is promised by make torture and make marathon.
var (
	serveClients     = flag.Int("serve-clients", 810, "how many slow clients TestServeSlowClients has, a third of them with bodies, more than are worked for at once: 2000 for what is promised")
	serveTries       = flag.Int("serve-tries", 200, "how often TestServeTries tries to get in: 10000 for what is promised")
	serveConnections = flag.Int("serve-connections", 40, "by how many connections TestServeLoad asks, 250 at most: 200 for what is promised")
	serveFor         = flag.Duration("serve-for", 3*time.Second, "how long TestServeLoad lasts: 30m for what is promised")
)

// Clients that send or read a byte a second are cut off when their time is up, take little,
// and hold nobody else up. (SAFE-H5)
func TestServeSlowClients(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	s := h.serve("--log", "off", "--no-work", "--sign-in", "clara")
	clara := newVisitor(t).comes(s, "clara")
	at, _ := url.Parse(s.url)
	cookie := clara.Jar.Cookies(at)[0]
	head := fmt.Sprintf("POST /v1/run HTTP/1.1\r\nHost: %s\r\nCookie: %s=%s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n", at.Host, cookie.Name, cookie.Value)
	clara.Transport = &http.Transport{DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 3)}}).DialContext}
	// healthy is how long 99 of 100 requests from elsewhere take at most.
	healthy := func() time.Duration {
		took := make([]time.Duration, 100)
		for i := range took {
			began := time.Now()
			if status, body, err := clara.post(s.url+"/v1/run", "", map[string]string{"script": fmt.Sprintf(aNote, i)}); err != nil || status != http.StatusOK {
				t.Error(status, body, err)
			}
			took[i] = time.Since(began)
			time.Sleep(30 * time.Millisecond)
		}
		slices.Sort(took)
		return took[98]
	}
	healthy() // once, so that all is warm
	alone := healthy()
	before := memory(t, s.cmd.Process.Pid)
	var longest atomic.Int64
	var all, there sync.WaitGroup
	for i := range *serveClients {
		there.Add(1)
		all.Go(func() {
			conn, err := net.Dial("tcp", at.Host)
			if err == nil && i%3 == 1 { // a body
				_, err = io.WriteString(conn, head)
			}
			there.Done()
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			began := time.Now()
			if i%3 == 2 { // answers that nobody reads; the others are slow with a head
				_ = conn.(*net.TCPConn).SetReadBuffer(1)
				for range 200 {
					_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
					if _, err := fmt.Fprintf(conn, "GET /v1/openapi.json HTTP/1.1\r\nHost: %s\r\nCookie: %s=%s\r\n\r\n", at.Host, cookie.Name, cookie.Value); err != nil {
						break
					}
				}
				return
			}
			closed := make(chan bool)
			go func() {
				_, _ = io.Copy(io.Discard, conn)
				close(closed)
			}()
			for err == nil {
				select {
				case <-closed:
					err = io.EOF
				case <-time.After(time.Second):
					_, err = io.WriteString(conn, "x")
				}
			}
			longest.Store(max(longest.Load(), int64(time.Since(began))))
		})
	}
	there.Wait()
	beside := healthy() // three seconds: all that was sent has arrived by then
	// The clients are on this machine too, and take their share of it.
	if *serveClients >= 2000 && beside > max(2*alone, 250*time.Millisecond) {
		t.Errorf("beside %d slow clients, a request takes %s, and %s alone", *serveClients, beside, alone)
	}
	grown := memory(t, s.cmd.Process.Pid) - before
	all.Wait()
	if got := time.Duration(longest.Load()); got > 25*time.Second {
		t.Errorf("a client of a byte a second was waited for %s", got)
	}
	if *serveClients >= 2000 && grown > 64<<20 {
		t.Errorf("%d slow clients take %d MiB", *serveClients, grown>>20)
	}
	t.Logf("a request takes %s at most alone, and %s beside them (99 of 100)", alone, beside)
	t.Logf("%d slow clients take %d MiB, the last was cut off after %s", *serveClients, grown>>20, time.Duration(longest.Load()).Round(time.Second))
}

// Streams of HTTP/2 that are begun and taken back cost the server little. (SAFE-H5)
func TestServeRapidReset(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	cert, key, pool := certificate(t)
	s := h.serve("--log", "off", "--no-work", "--sign-in", "clara", "--tls-cert", cert, "--tls-key", key)
	client := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}}
	ask := func(ctx context.Context) error {
		r, _ := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/sign-in", nil)
		answer, err := client.Do(r)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		_, _ = io.Copy(io.Discard, answer.Body)
		if answer.ProtoMajor != 2 || answer.StatusCode != http.StatusOK && answer.StatusCode != http.StatusTooManyRequests {
			return fmt.Errorf("%s %d", answer.Proto, answer.StatusCode)
		}
		return nil
	}
	if err := ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	takeBack := func() {
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range *serveTries {
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(mathrand.IntN(300))*time.Microsecond)
					_ = ask(ctx) // most of them are taken back on the way
					cancel()
				}
			})
		}
		all.Wait()
	}
	takeBack() // what so many at once need is kept for the next ones
	before := memory(t, s.cmd.Process.Pid)
	takeBack()
	for range 50 { // whoever asks too often is told to wait
		if err := ask(t.Context()); err != nil {
			t.Fatal("afterwards: ", err)
		}
	}
	if grown := memory(t, s.cmd.Process.Pid) - before; grown > 64<<20 {
		t.Errorf("%d streams that were taken back take %d MiB", 8**serveTries, grown>>20)
	}
}

// certificate makes one for this machine.
func certificate(t *testing.T) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	return certificateFor(t, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
}

// certificateFor is a certificate that holds for a time.
func certificateFor(t *testing.T, from, until time.Time) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: from, NotAfter: until, IsCA: true, BasicConstraintsValid: true,
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, kind string, b []byte) string {
		to := filepath.Join(dir, name)
		if err := os.WriteFile(to, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}), 0o600); err != nil {
			t.Fatal(err)
		}
		return to
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool = x509.NewCertPool()
	pool.AddCert(parsed)
	return write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY", secret), pool
}

// done counts what a store's journal says was done.
func (h *house) done() int { return strings.Count(h.do("log", "show", "--as", "d.lang"), "\tok\t") }

// asks sends n notes at once, each under a key of its own, and returns those that were
// acknowledged. What is not is told to come back; nothing else is answered.
func (v *visitor) asks(s *running, n int, name string) (acknowledged int) {
	v.t.Helper()
	var count atomic.Int64
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			status, body, err := v.post(s.url+"/v1/run", fmt.Sprint(name, i), map[string]string{"script": fmt.Sprintf(aNote, i)})
			switch {
			case err == nil && status == http.StatusOK:
				count.Add(1)
			case err != nil || status != http.StatusServiceUnavailable && status != http.StatusTooManyRequests:
				v.t.Errorf("%s %d: %d %s %v", name, i, status, body, err)
			}
		})
	}
	all.Wait()
	return int(count.Load())
}

// Every connection to the database is cut again and again under load through two servers, and the clock of one of them is
// set back by a minute meanwhile. (One that is set back by more ends logins until the server has looked at the clock of
// the store again, half a minute later at most: nothing is to be gained by setting it back.) What was acknowledged is there once, whoever is signed in is never told that they are
// nobody, and whoever listens to events is never refused when they come back. SAFE-R7, SAFE-R11
func TestServeCutWhileAClockIsSetBack(t *testing.T) {
	t.Parallel()
	own := pgtest.Own(t)
	w := &week{house: newHouse(t), own: own}
	w.env = append(w.env, "TICK=now", "VERBATIM_STORE="+own.App+"&pool_max_conns=8", "VERBATIM_FILES="+filepath.Join(w.dir, "files"))
	w.do("migrate", "--store", own.Owner, "--grant-to", "verbatim_app", "--data", "bank.postgres.sql", "--data", "people.sql")
	one := w.serve("--log", "error", "--no-work", "--sign-in", "clara", "--rate", "10000", "--burst", "100000")
	w.nina = newVisitor(t).comes(one, "clara")
	w.nina.Transport = &http.Transport{MaxIdleConnsPerHost: 64}
	w.env = append(w.env, "TICK=back in 2s")
	two := w.serve("--log", "error", "--no-work", "--rate", "10000", "--burst", "100000")
	for i, s := range []*running{one, two} { // both take keys of both: who was not answered asks the other
		through := &week{house: w.house, own: own, url: s.url, nina: w.nina}
		defer func() {
			if n, refused := through.unauthorised.Load(), through.refused.Load(); n > 0 || refused > 0 {
				t.Errorf("server %d: %d times 401, and %d streams were refused", i+1, n, refused)
			}
		}()
		var writers sync.WaitGroup
		for n := range 3 {
			writers.Go(func() {
				for k := 0; !w.over.Load(); k++ {
					number := (3*i+n)*1_000_000 + k
					through.write(fmt.Sprint("cut ", number), number)
					w.acknowledged.Add(1)
				}
			})
		}
		writers.Go(func() {
			for !w.over.Load() {
				through.listen()
			}
		})
		defer writers.Wait()
	}
	cuts := 0
	for end := time.Now().Add(max(*serveFor, 5*time.Second)); time.Now().Before(end); time.Sleep(150 * time.Millisecond) {
		if _, err := own.HangUp(); err != nil {
			t.Error(err)
		}
		cuts++
	}
	w.over.Store(true)
	t.Cleanup(func() {
		all, twice := w.done(own.App)
		fmt.Printf("cut %d times through two servers, the clock of one a minute back: acknowledged %d, lost %d, twice %d\n", cuts, w.acknowledged.Load(), w.acknowledged.Load()-all, twice)
		if all != w.acknowledged.Load() || twice > 0 || all == 0 {
			t.Errorf("%d were acknowledged, %d are there, %d more than once", w.acknowledged.Load(), all, twice)
		}
		w.do("log", "verify")
	})
}

// A database that hangs, with every connection of the server's in it, is no server that
// hangs: readiness says so, requests are told to come back, and once it goes on all of
// them are done, each once. (SAFE-H10)
func TestServePoolExhausted(t *testing.T) {
	t.Parallel()
	db := bankDatabase(t)
	h := newHouse(t)
	h.env = append(h.env, "VERBATIM_STORE="+db.App, "VERBATIM_FILES="+filepath.Join(h.dir, "files"))
	s := h.serve("--log", "off", "--no-work", "--sign-in", "clara")
	clara := newVisitor(t).comes(s, "clara")
	clara.Transport = &http.Transport{MaxIdleConnsPerHost: 600}
	release := db.Hang(t)
	answered := make(chan int, 1)
	go func() { answered <- clara.asks(s, 100, "hangs ") }()
	time.Sleep(time.Second)
	began := time.Now()
	if status, body := clara.get(s.url + "/readyz"); status != http.StatusServiceUnavailable || time.Since(began) > 5*time.Second {
		t.Errorf("it says that it is ready: %d %s, after %s", status, body, time.Since(began))
	}
	if status, _ := clara.get(s.url + "/healthz"); status != http.StatusOK {
		t.Errorf("the process is there, and answers %d", status)
	}
	release()
	n := <-answered
	if again := clara.asks(s, 100, "hangs "); again != 100 {
		t.Errorf("%d of 100 are answered once it goes on", again)
	}
	if got := h.done(); got != 100 {
		t.Errorf("%d were done, 100 were asked for, %d at first", got, n)
	}
	if status, body := clara.get(s.url + "/readyz"); status != http.StatusOK {
		t.Errorf("afterwards: %d %s", status, body)
	}
}

// A disk that is full refuses writes and loses none: each is told to come back, readers go
// on, and once there is room the same requests are done, each once. (SAFE-H10)
func TestServeDiskFull(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	s := h.serve("--log", "error", "--no-work", "--sign-in", "clara")
	clara := newVisitor(t).comes(s, "clara")
	before := clara.asks(s, 5, "before ")
	full := exec.Command("strace", "-f", "-q", "-p", fmt.Sprint(s.cmd.Process.Pid), "-o", os.DevNull,
		"-e", "trace=pwrite64,write,fallocate,ftruncate", "-P", filepath.Join(h.dir, "verbatim.db"), "-P", filepath.Join(h.dir, "verbatim.db-wal"),
		"-e", "inject=pwrite64,write,fallocate,ftruncate:error=ENOSPC", "-e", "signal=none")
	var said bytes.Buffer
	full.Stderr = &said
	if err := full.Start(); err != nil {
		if os.Getenv("TEST_REQUIRE_STRACE") != "" {
			t.Fatal(err)
		}
		t.Skip("strace fills the disk here: make strace installs it")
	}
	defer full.Process.Kill()
	refused := 0
	for i := 0; i < 50 && refused == 0; i++ { // until strace holds it
		time.Sleep(100 * time.Millisecond)
		if status, _, err := clara.post(s.url+"/v1/run", fmt.Sprint("full ", i), map[string]string{"script": fmt.Sprintf(aNote, i)}); err == nil && status == http.StatusOK {
			before++
		} else {
			refused++
		}
	}
	if refused == 0 {
		_ = full.Process.Kill()
		_ = full.Wait()
		if os.Getenv("TEST_REQUIRE_STRACE") != "" && !strings.Contains(said.String(), "not permitted") {
			t.Fatalf("the disk is never full: %s", &said)
		}
		t.Skipf("this kernel lets nobody watch a process that is not their child: %s", &said)
	}
	for i := range 10 {
		status, body, err := clara.post(s.url+"/v1/run", fmt.Sprint("later ", i), map[string]string{"script": fmt.Sprintf(aNote, i)})
		if err != nil || status != http.StatusInsufficientStorage || !strings.Contains(body, "store-full") || !strings.Contains(body, "Nothing was changed") {
			t.Errorf("a write to a full disk: %d %s %v", status, body, err)
		}
	}
	if status, body, err := clara.post(s.url+"/v1/run", "", map[string]string{"script": "client.get-status"}); err != nil || status != http.StatusOK {
		t.Errorf("a read beside a full disk: %d %s %v", status, body, err)
	}
	if status, body := clara.get(s.url + "/readyz"); status != http.StatusServiceUnavailable || body != "the disk of the store is full\n" {
		t.Errorf("beside a full disk, /readyz: %d %s", status, body)
	}
	_ = full.Process.Signal(os.Interrupt) // it lets go
	_ = full.Wait()
	if status, body := clara.get(s.url + "/readyz"); status != http.StatusOK {
		t.Errorf("once there is room, /readyz: %d %s", status, body)
	}
	for i := range 10 {
		if status, body, err := clara.post(s.url+"/v1/run", fmt.Sprint("later ", i), map[string]string{"script": fmt.Sprintf(aNote, i)}); err != nil || status != http.StatusOK {
			t.Errorf("once there is room: %d %s %v", status, body, err)
		}
	}
	s.stop()
	if got := h.done(); got != before+10 {
		t.Errorf("%d are there, %d were acknowledged", got, before+10)
	}
	if out := h.do("log", "verify"); !strings.Contains(out, "journal whole") {
		t.Error(out)
	}
	if !strings.Contains(s.said.String(), "full") {
		t.Errorf("its operator is not told why: %s", s.said)
	}
}

// Whoever guesses at links and tokens is held up by their address, for all processes, and
// gets nowhere; others come in meanwhile. A cookie that somebody brings along is never
// what they are signed in with. (SAFE-H8)
func TestServeTries(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, h *house) {
		servers := []*running{h.serve("--log", "off", "--no-work", "--sign-in", "clara"), h.serve("--log", "off", "--no-work")}
		guesser := &http.Client{Timeout: 30 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Transport: &http.Transport{MaxIdleConnsPerHost: 8, DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}).DialContext}}
		links, tokens := map[int]int{}, map[int]int{}
		for i := range *serveTries {
			s := servers[i%2]
			r, _ := http.NewRequest(http.MethodPost, s.url+"/sign-in/link", strings.NewReader(url.Values{"link": {fmt.Sprintf("guess-%043d", i)}}.Encode()))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			counts := links
			if i%4 > 1 {
				counts = tokens
				r, _ = http.NewRequest(http.MethodGet, s.url+"/v1/verbs", nil)
				r.Header.Set("Authorization", fmt.Sprintf("Bearer guess-%043d", i))
			}
			answer, err := guesser.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			counts[answer.StatusCode]++
		}
		// Periods begin by the clock, so that two of them may be touched.
		if n := len(links) + len(tokens); links[http.StatusForbidden] == 0 || links[http.StatusForbidden] > 160 || tokens[http.StatusUnauthorized] > 120 || links[429] == 0 && *serveTries > 700 || tokens[429] == 0 || n > 4 {
			t.Errorf("links were answered %v, tokens %v", links, tokens)
		}
		clara := newVisitor(t)
		at, _ := url.Parse(servers[0].url)
		brought := &http.Cookie{Name: "verbatim", Value: strings.Repeat("A", 43), Path: "/"}
		clara.Jar.SetCookies(at, []*http.Cookie{brought})
		clara.comes(servers[0], "clara") // from an address of her own
		for _, c := range clara.Jar.Cookies(at) {
			if c.Value == brought.Value {
				t.Error("she is signed in with what she brought along")
			}
		}
		r, _ := http.NewRequest(http.MethodGet, servers[1].url+"/v1/verbs", nil)
		r.AddCookie(brought)
		if status, _ := newVisitor(t).answer(http.DefaultClient.Do(r)); status != http.StatusUnauthorized {
			t.Errorf("what she brought along is answered %d", status)
		}
		if status, _ := clara.get(servers[1].url + "/v1/verbs"); status != http.StatusOK {
			t.Errorf("she is answered %d", status)
		}
	})
}

// A load for a while: reads, writes and questions, each answer checked, nothing failed,
// and what the server holds is afterwards what it was. (SAFE-H9)
func TestServeLoad(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	s := h.serve("--log", "off", "--sign-in", "clara")
	clara := newVisitor(t).comes(s, "clara")
	connections := *serveConnections
	pid := s.cmd.Process.Pid
	files := func() int {
		all, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
		if err != nil {
			t.Skip("only Linux tells which files are open")
		}
		return len(all)
	}
	first := files()
	var mu sync.Mutex
	took := map[string][]time.Duration{}
	var writes, shed, slowed atomic.Int64
	var grown []int64
	var all sync.WaitGroup
	end := time.Now().Add(*serveFor)
	for c := range connections {
		all.Go(func() {
			// Each comes from an address of its own.
			mine := &visitor{t, clara.Client}
			transport := &http.Transport{DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(c+1))}}).DialContext}
			defer transport.CloseIdleConnections()
			mine.Transport = transport
			for i := 0; time.Now().Before(end); i++ {
				kind, script, want := "read", "client.get-status", "27"
				switch n := mathrand.IntN(100); {
				case n < 15:
					kind, script, want = "write", fmt.Sprintf(aNote, c*1_000_000+i), "Number "+fmt.Sprint(c*1_000_000+i)
				case n < 20:
					kind, script, want = "question", "client.escalate :reason \"load\"", "kyc.escalations"
				}
				route := "/v1/run"
				if kind == "question" {
					route = "/v1/preview"
				}
				began := time.Now()
				status, body, err := mine.post(s.url+route, "", map[string]string{"script": script})
				d := time.Since(began)
				switch {
				case err != nil:
					t.Error(err)
				case status == http.StatusServiceUnavailable:
					shed.Add(1)
					continue
				case status == http.StatusTooManyRequests:
					slowed.Add(1)
					continue
				case status != http.StatusOK || !strings.Contains(body, want):
					t.Errorf("%s: %d %.300s", kind, status, body)
				case kind == "write":
					writes.Add(1)
				}
				mu.Lock()
				took[kind] = append(took[kind], d)
				mu.Unlock()
				time.Sleep(time.Duration((20+mathrand.IntN(40))*connections) * time.Millisecond / 40) // below saturation, however many they are
			}
		})
	}
	for time.Now().Before(end) {
		time.Sleep(max(*serveFor/20, 100*time.Millisecond))
		grown = append(grown, memory(t, pid))
	}
	all.Wait()
	for _, kind := range []string{"read", "write", "question"} {
		d := took[kind]
		slices.Sort(d)
		if len(d) == 0 {
			t.Errorf("no %s was made", kind)
			continue
		}
		t.Logf("%s: %d, half within %s, 99 of 100 within %s", kind, len(d), d[len(d)/2], d[len(d)*99/100])
	}
	if shed.Load() > 0 && *serveFor >= 10*time.Minute || slowed.Load() > 0 {
		t.Errorf("%d were told to come back, %d that they ask too often", shed.Load(), slowed.Load())
	}
	t.Logf("%d told to come back; %d MiB, then %d MiB", shed.Load(), grown[0]>>20, grown[len(grown)-1]>>20)
	if slope := grown[len(grown)-1] - grown[len(grown)/4]; *serveFor >= 10*time.Minute && slope > int64(*serveFor/(10*time.Minute))<<20 {
		t.Errorf("it grew by %d MiB in the last three quarters", slope>>20)
	}
	// A reader's connection is opened when all before it are lent, and stays: four, of two files each.
	const few = 5 + 4*2
	for range 50 {
		if files() <= first+few {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if last := files(); last > first+few {
		t.Errorf("it has %d files open, and had %d", last, first)
	}
	if got := int64(h.done()); got != writes.Load() {
		t.Errorf("%d were done, %d acknowledged", got, writes.Load())
	}
}
