package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// Requests that no browser sends, over a bare connection. (SAFE-H6)
func TestRequestsThatOneWouldHate(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	s := h.serve("--log", "off", "--sign-in", "clara")
	clara := newVisitor(t).comes(s, "clara")
	at, _ := url.Parse(s.url)
	cookie := ""
	for _, c := range clara.Jar.Cookies(at) {
		cookie += c.Name + "=" + c.Value + "; "
	}
	host := "Host: " + at.Host + "\r\n"
	whole := "Cookie: " + strings.TrimSuffix(cookie, "; ") + "\r\n"
	body := "Content-Type: application/json\r\n"
	run := func(document string) string {
		return "POST /v1/run HTTP/1.1\r\n" + host + whole + body + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(document), document)
	}
	for _, c := range []struct {
		name, send string
		want       int // 0: the connection is closed without an answer
	}{
		{"no host", "GET /v1/verbs HTTP/1.1\r\n\r\n", 400},
		{"two hosts", "GET /v1/verbs HTTP/1.1\r\n" + host + "Host: evil.example\r\n\r\n", 400},
		{"another host in the address", "GET http://evil.example/v1/verbs HTTP/1.1\r\n" + host + whole + "\r\n", 421},
		{"the address is whole", "GET http://" + at.Host + "/v1/verbs HTTP/1.1\r\n" + host + whole + "\r\n", 200},
		{"two lengths", "POST /v1/run HTTP/1.1\r\n" + host + whole + body + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400},
		{"a length and chunks", "POST /v1/run HTTP/1.1\r\n" + host + whole + body + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 400},
		{"a negative length", "POST /v1/run HTTP/1.1\r\n" + host + whole + body + "Content-Length: -1\r\n\r\n", 400},
		{"chunks of nonsense", "POST /v1/run HTTP/1.1\r\n" + host + whole + body + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
		{"half a body", "POST /v1/run HTTP/1.1\r\n" + host + whole + body + "Connection: close\r\nContent-Length: 100\r\n\r\n{\"script\":", 400},
		{"a header without end", "GET /v1/verbs HTTP/1.1\r\n" + host + "X: " + strings.Repeat("x", 40<<10) + "\r\n\r\n", 431},
		{"a header in two lines", "GET /v1/verbs HTTP/1.1\r\n" + host + "X: a\r\n b\r\n" + whole + "\r\n", 200},
		{"no HTTP", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400},
		{"a method of its own", "BREW /v1/verbs HTTP/1.1\r\n" + host + whole + "\r\n", 405},
		{"a path that climbs", "GET /v1/codes/../../../../etc/passwd HTTP/1.1\r\n" + host + whole + "\r\n", 307},
		{"a path with a nil", "GET /v1/codes/%00 HTTP/1.1\r\n" + host + whole + "\r\n", 404},
		{"a cookie of control characters", "GET /v1/verbs HTTP/1.1\r\n" + host + "Cookie: verbatim=\x01\x02\r\n\r\n", 400},
		{"a cookie that is not one", "GET /v1/verbs HTTP/1.1\r\n" + host + "Cookie: verbatim=" + strings.Repeat("%", 4000) + "\r\n\r\n", 401},
		{"two cookies, the first made up", "GET /v1/verbs HTTP/1.1\r\n" + host + "Cookie: verbatim=x; " + strings.TrimPrefix(whole, "Cookie: ") + "\r\n", 401},
		{"two tokens", "GET /v1/verbs HTTP/1.1\r\n" + host + "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n", 401},
		{"an event that never was", "GET /v1/events HTTP/1.1\r\n" + host + whole + "Last-Event-ID: -7\r\n\r\n", 400},
		{"a version that is none", "POST /v1/run HTTP/1.1\r\n" + host + whole + body + "If-Match: \"x\"\r\nContent-Length: 35\r\n\r\n{\"script\":\"client.get-status\",   \"x\"", 400},
		{"a document", run(`{"script":"client.get-status","name":"a \ud83d\ude00"}`), 200},
		{"a member twice", run(`{"script":"client.get-status","script":"client.get-outstanding"}`), 400},
		{"a member twice, once in capitals", run(`{"script":"client.get-status","Script":"client.get-outstanding"}`), 400},
		{"a member in capitals", run(`{"SCRIPT":"client.get-status"}`), 400},
		{"a member that nobody knows", run(`{"script":"client.get-status","as":"max"}`), 400},
		{"a member of another type", run(`{"script":["client.get-status"]}`), 400},
		{"half a character", run(`{"script":"client.get-status","name":"\ud800"}`), 400},
		{"two documents", run(`{"script":"client.get-status"} {}`), 400},
		{"no document", run(`null`), 400},
		{"brackets without end", run(strings.Repeat("[", 200_000)), 400},
		{"a key without end", "POST /v1/run HTTP/1.1\r\n" + host + whole + body + "Idempotency-Key: " + strings.Repeat("k", 300) + "\r\nContent-Length: 30\r\n\r\n{\"script\":\"client.get-status\" }", 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", at.Host)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
			if _, err := io.WriteString(conn, c.send); err != nil {
				t.Fatal(err)
			}
			if c.name == "half a body" || c.name == "no HTTP" {
				_ = conn.(*net.TCPConn).CloseWrite()
			}
			r, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Body.Close()
			text, _ := io.ReadAll(io.LimitReader(r.Body, 1<<16))
			if r.StatusCode != c.want {
				t.Errorf("it is answered %d, want %d\n%s", r.StatusCode, c.want, text)
			}
			if r.StatusCode == http.StatusUnauthorized && !strings.HasPrefix(r.Header.Get("WWW-Authenticate"), "Bearer ") { // G35
				t.Errorf("it does not say how to show who one is: %v", r.Header)
			}
			if strings.Contains(string(text), "goroutine") || strings.Contains(string(text), "sql") {
				t.Errorf("the answer tells of the inside: %s", text)
			}
		})
	}
	t.Run("a head that comes slowly", func(t *testing.T) {
		t.Parallel()
		conn, err := net.Dial("tcp", at.Host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		began := time.Now()
		go func() {
			for range 200 {
				if _, err := io.WriteString(conn, "G"); err != nil {
					return
				}
				time.Sleep(100 * time.Millisecond)
			}
		}()
		_ = conn.SetReadDeadline(time.Now().Add(15 * time.Second))
		if _, err := io.ReadAll(conn); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("it is waited for after %s", time.Since(began))
		}
	})
	t.Run("chunks without end", func(t *testing.T) {
		t.Parallel()
		conn, err := net.Dial("tcp", at.Host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
		go func() {
			_, _ = io.WriteString(conn, "POST /v1/run HTTP/1.1\r\n"+host+whole+body+"Transfer-Encoding: chunked\r\n\r\n")
			chunk := fmt.Sprintf("%x\r\n%s\r\n", 1<<16, strings.Repeat(" ", 1<<16))
			for range 100 {
				if _, err := io.WriteString(conn, chunk); err != nil {
					return
				}
			}
		}()
		r, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("it is answered %d", r.StatusCode)
		}
	})
}

// The doors are shut to other sites, and what a page may load is what this server gives.
func TestWhatEveryAnswerSays(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	s := h.serve("--log", "off")
	for _, path := range []string{"/sign-in", "/v1/verbs", "/healthz", "/nowhere"} {
		r, err := http.Get(s.url + path)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		policy := r.Header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'self'") || strings.Contains(policy, "unsafe") || !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("%s: the policy is %q", path, policy)
		}
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Referrer-Policy": "same-origin"} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
		if r.Header.Get("Content-Type") == "" || r.Header.Get("X-Request-Id") == "" || r.Header.Get("Server") != "" {
			t.Errorf("%s: %v", path, r.Header)
		}
	}
}

var streamsOpen = flag.Int("streams", 300, "how many streams of events TestIdleStreams opens: 10000 for what is promised")

// Streams that wait cost little, are all told, and end when the server does: 10 000 of
// them take 300 MiB at most (SAFE-H5).
func TestIdleStreams(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	s := h.serve("--log", "off", "--sign-in", "clara")
	clara := newVisitor(t).comes(s, "clara")
	at, _ := url.Parse(s.url)
	cookie := clara.Jar.Cookies(at)[0]
	before := memory(t, s.cmd.Process.Pid)
	var begun, told, ended sync.WaitGroup
	for range *streamsOpen {
		begun.Add(1)
		told.Add(1)
		ended.Go(func() {
			in, stop := listens(t, at.Host, cookie)
			begun.Done()
			defer stop()
			knows, last, began := false, "", time.Now()
			for {
				line, err := in.ReadString('\n')
				if strings.HasPrefix(line, "id: 1") && !knows {
					knows = true
					told.Done()
				}
				if err != nil {
					break
				}
				last = line
			}
			if !knows {
				t.Errorf("a stream was told nothing in %s: %q", time.Since(began), last)
				told.Done()
			}
		})
	}
	begun.Wait()
	grown := memory(t, s.cmd.Process.Pid) - before
	t.Logf("%d streams take %d MiB above an idle server", *streamsOpen, grown>>20)
	if *streamsOpen >= 5000 && grown > int64(*streamsOpen)*(300<<20)/10_000 {
		t.Errorf("%d streams take %d MiB", *streamsOpen, grown>>20)
	}
	if status, body, err := clara.post(s.url+"/v1/run", "", map[string]string{"script": fmt.Sprintf(aNote, 1)}); err != nil || status != http.StatusOK {
		t.Fatal(status, body, err)
	}
	told.Wait()
	began := time.Now()
	s.stop()
	ended.Wait()
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("they ended after %s", took)
	}
}

// listens opens a stream of events. Whoever opens many is told to wait now and then.
func listens(t *testing.T, host string, cookie *http.Cookie) (in *bufio.Reader, stop func()) {
	for {
		conn, err := net.Dial("tcp", host)
		if err != nil {
			t.Error(err)
			return bufio.NewReader(strings.NewReader("")), func() {}
		}
		fmt.Fprintf(conn, "GET /v1/events HTTP/1.1\r\nHost: %s\r\nCookie: %s=%s\r\n\r\n", host, cookie.Name, cookie.Value)
		in = bufio.NewReaderSize(conn, 512)
		for {
			line, err := in.ReadString('\n')
			if strings.HasPrefix(line, ":") {
				return in, func() { conn.Close() }
			}
			if err != nil || strings.HasPrefix(line, "HTTP/1.1 429") {
				break
			}
		}
		conn.Close()
		time.Sleep(time.Second)
	}
}

// Whoever listens is left alone for longer than a body may take, and so is whoever waits
// for a turn in which a model is slow.
func TestAStreamOutlastsDeadlines(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	s := h.serve("--log", "off", "--sign-in", "clara")
	clara := newVisitor(t).comes(s, "clara")
	at, _ := url.Parse(s.url)
	in, stop := listens(t, at.Host, clara.Jar.Cookies(at)[0])
	defer stop()
	time.AfterFunc(20*time.Second, func() {
		if status, body, err := clara.post(s.url+"/v1/run", "", map[string]string{"script": fmt.Sprintf(aNote, 1)}); err != nil || status != http.StatusOK {
			t.Error(status, body, err)
		}
	})
	for {
		line, err := in.ReadString('\n')
		if strings.HasPrefix(line, "id: 1") {
			return
		}
		if err != nil {
			t.Fatal("the stream ended: ", err)
		}
	}
}

// memory is how much of a process is in memory that no file can give back, in bytes. Pages of the
// program's own file come with each part of it that runs for the first time, and go as the machine likes.
func memory(t *testing.T, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		t.Skip("only Linux tells how much memory a process takes")
	}
	var size, resident, files int64
	if _, err := fmt.Sscan(string(text), &size, &resident, &files); err != nil {
		t.Fatal(err)
	}
	return (resident - files) * int64(os.Getpagesize())
}

// Pages that are not there, and forms that no page has. What is refused is refused in the
// caller's form, a browser's as a page and a program's as a problem; nothing that was sent
// is code on a page, and nobody is sent to another site.
func TestFormsThatOneWouldHate(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	s := h.serve("--log", "off", "--sign-in", "clara")
	clara := newVisitor(t).comes(s, "clara")
	long := strings.Repeat("z", 3000)
	for _, c := range []struct {
		method, path, body string
		want               int
	}{
		{"GET", "/p/x", "", 404}, {"GET", "/p/..%2f..%2fetc", "", 404}, {"GET", "/p/99", "", 404}, {"GET", "/why/zz", "", 404}, {"GET", "/do/client.nothing", "", 404},
		{"GET", "/questions/%00", "", 404}, {"GET", "/waiting/%3Cscript%3Ealert(1)%3C/script%3E", "", 404}, {"GET", "/verbs/%3Cb%3E", "", 404},
		{"GET", "/verbs?q=%3Cscript%3Ealert(1)%3C/script%3E", "", 404}, {"GET", "/verbs?q=%00" + long, "", 404}, {"GET", "/journal?from=-1", "", 403},
		{"GET", "/do/client.add-note?request-id=%00&note=%3Cscript%3Ealert(1)%3C/script%3E", "", 200},
		{"POST", "/nothing", "a=b", 404}, {"DELETE", "/say", "", 405}, {"POST", "/journal", "a=b", 405},
		{"POST", "/say", "", 303}, {"POST", "/say", "said=%00%01hello%ff%fe", 303}, {"POST", "/say", "said=a&said=b", 400}, {"POST", "/say", "said=" + strings.Repeat("x", 1<<20), 413},
		{"POST", "/say", url.Values{"said": {"<script>alert(1)</script> (client.get-status :as @x @x"}}.Encode(), 303},
		{"POST", "/say/file", "page=1&key=k", 422}, {"POST", "/say/file", "page=1&file=upload%3A%2F%2Fnobody", 404}, {"POST", "/say/file", "page=99&file=%00%ff", 404}, {"POST", "/say/file", "%zz", 400},
		{"GET", "/why?turn=-1", "", 200}, {"GET", "/why?turn=99999999999999999999", "", 200}, {"GET", "/questions/pierre-dupont-source-of-wealth?field=%3Cscript%3Ealert(1)%3C/script%3E&after=%3Cscript%3Ealert(1)", "", 200},
		{"POST", "/do/client.add-note", "note=x", 400}, {"POST", "/do/client.add-note", "%zz", 400}, {"POST", "/questions/zz", "a=b", 404}, {"POST", "/waiting/aaaa", "agree=yes", 400},
		{"POST", "/look", "theme=dark&to=//evil.example", 303}, {"POST", "/look", "theme=%0d%0aX:y&to=/%5Cevil.example", 303}, {"POST", "/look", "to=https://evil.example", 303},
	} {
		r, err := http.NewRequest(c.method, s.url+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "text/html")
		if c.body != "" {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		answer, err := clara.Do(r)
		if err != nil {
			t.Fatal(c.path, err)
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		kind := answer.Header.Get("Content-Type")
		if what := fmt.Sprintf("%s %.60s %.60s", c.method, c.path, c.body); answer.StatusCode != c.want || c.want != 303 && kind != "text/html; charset=utf-8" {
			t.Errorf("%s: %d %s\n%.300s", what, answer.StatusCode, kind, text)
		} else if to := answer.Header.Get("Location"); to != "" && (!strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.Contains(to, "\\")) {
			t.Errorf("%s: on to %s", what, to)
		} else if strings.Contains(string(text), "<script>alert") {
			t.Errorf("%s: what was sent is code", what)
		}
	}
	if _, page := clara.get(s.url + "/"); strings.Contains(page, "<script>alert") || !strings.Contains(page, "&lt;script&gt;alert(1)") {
		t.Error("what was said is not shown as it was said")
	}
	if status, body := clara.get(s.url + "/v1/nothing"); status != 404 || !strings.Contains(body, `"code":"not-found"`) {
		t.Errorf("a program is answered %d %s", status, body)
	}
}
