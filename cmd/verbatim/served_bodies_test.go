package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"verbatim/runtime/frontends/channel/whatsapp/cloudtest"
)

// G19: 500 connections of nobody, each from an address of its own and with the body of a large mail, take
// at most 256 MiB more than a server that rests, and keep nobody else waiting. Those whose caller has to
// be known are refused before their body is read.
func TestServeBodiesOfNobody(t *testing.T) {
	messaging(t, func(t *testing.T, h *house, _ *cloudtest.Server, _ <-chan string) {
		if slices.ContainsFunc(h.env, func(line string) bool { return strings.HasPrefix(line, "VERBATIM_STORE=") }) {
			return // the doors are the same
		}
		s := h.serve("--log", "off", "--no-work")
		at, err := url.Parse(s.url)
		if err != nil {
			t.Fatal(err)
		}
		other := &http.Client{Timeout: 10 * time.Second}
		asks := func() time.Duration {
			began := time.Now()
			r, err := other.Get(s.url + "/sign-in")
			if err != nil {
				t.Error(err)
				return 0
			}
			_, _ = io.Copy(io.Discard, r.Body)
			_ = r.Body.Close()
			return time.Since(began)
		}
		asks()
		before := memory(t, s.cmd.Process.Pid)
		const connections, sent, length = 500, 1 << 20, 40 << 20
		chunk := make([]byte, 64<<10)
		var begun, all sync.WaitGroup
		ends := make(chan struct{})
		for i := range connections {
			begun.Add(1)
			all.Go(func() {
				defer begun.Done()
				dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, byte(1+i/250), byte(1+i%250))}}
				conn, err := dialer.Dial("tcp", at.Host)
				if err != nil {
					t.Error(err)
					return
				}
				all.Go(func() { <-ends; _ = conn.Close() })
				path := []string{"/channels/mail/mime", "/channels/mail/mime", "/v1/run"}[i%3]
				_ = conn.SetWriteDeadline(time.Now().Add(20 * time.Second))
				_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n", path, at.Host, length)
				for n := 0; n < sent && err == nil; n += len(chunk) { // refused, it may be closed
					_, err = conn.Write(chunk)
				}
			})
		}
		begun.Wait()
		var slowest time.Duration
		var most int64
		for range 20 {
			slowest = max(slowest, asks())
			most = max(most, memory(t, s.cmd.Process.Pid)-before)
		}
		close(ends)
		all.Wait()
		t.Logf("%d connections with bodies take %d MiB, and others are answered within %s", connections, most>>20, slowest.Round(time.Millisecond))
		if most > 256<<20 {
			t.Errorf("%d connections with bodies take %d MiB", connections, most>>20)
		}
		if slowest > time.Second {
			t.Errorf("beside %d bodies of nobody, a page takes %s", connections, slowest)
		}
	})
}
