package main

import (
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// G88: two servers on one PostgreSQL let pass together what one address may ask, and a tenth of the burst
// more each: not twice as much.
func TestTwoServersLimitOneAddressTogether(t *testing.T) {
	t.Parallel()
	h := onServer(t)
	servers := []*running{h.serve("--log", "off", "--no-work"), h.serve("--log", "off", "--no-work")}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	var passed, refused atomic.Int64
	var askers sync.WaitGroup
	began := time.Now()
	for i := range 8 {
		askers.Go(func() {
			for range 400 {
				answer, err := client.Get(servers[i%2].url + "/sign-in")
				if err != nil {
					t.Error(err)
					return
				}
				_ = answer.Body.Close()
				switch answer.StatusCode {
				case http.StatusOK:
					passed.Add(1)
				case http.StatusTooManyRequests:
					refused.Add(1)
				default:
					t.Error(answer.Status)
				}
			}
		})
	}
	askers.Wait()
	took := time.Since(began).Seconds()
	most := 1000 + 200*took + 2*(100+10*took)
	t.Logf("in %.1f s, %d of 3200 pass, and %.0f may", took, passed.Load(), most)
	if float64(passed.Load()) > most {
		t.Errorf("in %.1f s, %d requests pass; %.0f may", took, passed.Load(), most)
	}
	if most < 3000 && refused.Load() == 0 {
		t.Error("nothing is refused")
	}
}

// One who takes over an address accepts from then on, and the address is free once nobody holds it.
func TestAnAddressIsTakenOver(t *testing.T) {
	t.Parallel()
	all := newListeners()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := free.Addr().String()
	_ = free.Close()
	first, err := all.take(at)
	if err != nil {
		t.Fatal(err)
	}
	reaches := func(l net.Listener) {
		t.Helper()
		c, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		taken, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		_ = taken.Close()
	}
	reaches(first)
	second, err := all.take(at)
	if err != nil {
		t.Fatal("it cannot be taken over:", err)
	}
	_ = first.Close()
	_ = first.Close()
	if _, err := first.Accept(); err == nil {
		t.Error("who gave it up accepts")
	}
	reaches(second)
	_ = second.Close()
	again, err := net.Listen("tcp", at)
	if err != nil {
		t.Fatal("it is held though nobody holds it:", err)
	}
	_ = again.Close()
}

// A server that is told to stop waits for what is under way, and no longer than its operator says.
func TestAServerStopsWithinItsDrain(t *testing.T) {
	t.Parallel()
	s := newHouse(t).serve("--log", "off", "--no-work", "--drain", "300ms")
	at, _ := strings.CutPrefix(s.url, "http://")
	c, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	// It sends the beginning of a body, and never the rest.
	if _, err := c.Write([]byte("POST /sign-in/link HTTP/1.1\r\nHost: " + at + "\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\nlink=")); err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond) // until the request is begun
	began := time.Now()
	s.stop()
	if took := time.Since(began); took < 250*time.Millisecond || took > 3*time.Second {
		t.Errorf("it takes %v to stop", took)
	}
}
