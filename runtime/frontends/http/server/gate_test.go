package server_test

import (
	"net"
	"net/http"
	"testing"

	"verbatim/runtime/frontends/http/server"
)

// Whoever asks too much is told to wait, by their address and by who they are: from many
// addresses, a principal is answered as often as from five, and others are answered still.
func TestOnePersonFromManyAddresses(t *testing.T) {
	t.Parallel()
	d := sqliteDesk(t)
	d.limits = server.Limits{Rate: 0.001, Burst: 4}
	s := d.serve()
	ask := func(address byte, who string) int {
		t.Helper()
		c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 2, address)}}).DialContext}}
		r, _ := http.NewRequest(http.MethodGet, s.url+"/v1/verbs", nil)
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
