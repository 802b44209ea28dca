package dial

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
)

// SAFE-H4: the address that is dialled decides.
func TestOnlyAddressesOfThePublicInternetAreDialled(t *testing.T) {
	t.Parallel()
	for _, a := range []string{"127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "255.255.255.255", "224.0.0.1",
		"::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "::127.0.0.1", "2001:db8::1", "ff02::1", "198.18.0.1"} {
		if dials(netip.AddrPortFrom(netip.MustParseAddr(a), 80).String(), false) == nil {
			t.Errorf("%s is dialled", a)
		}
	}
	for _, a := range []string{"8.8.8.8", "93.184.216.34", "2606:4700::1111"} {
		if dials(netip.AddrPortFrom(netip.MustParseAddr(a), 80).String(), false) != nil {
			t.Errorf("%s is not dialled", a)
		}
	}
	reached := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	t.Cleanup(server.Close)
	if _, err := (&http.Client{Transport: Transport(false)}).Get(server.URL); !errors.Is(err, ErrPrivate) || reached != 0 {
		t.Error(err, reached)
	}
	resp, err := (&http.Client{Transport: Transport(true)}).Get(server.URL)
	if err != nil || reached != 1 {
		t.Fatal(err, reached)
	}
	resp.Body.Close()
}

// SAFE-H4: which addresses may be dialled at all, and which with leave.
func TestReachable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ip            string
		public, local bool
	}{
		{"93.184.216.34", true, true}, {"2606:2800:220:1::1", true, true}, {"8.8.8.8", true, true},
		{"127.0.0.1", false, true}, {"127.255.0.1", false, true}, {"::1", false, true},
		{"10.1.2.3", false, true}, {"172.16.0.1", false, true}, {"172.31.255.255", false, true}, {"172.32.0.1", true, true},
		{"192.168.1.1", false, true}, {"100.64.0.1", false, true}, {"100.128.0.1", true, true}, {"fd00::1", false, true},
		{"169.254.169.254", false, false}, {"fe80::1", false, false}, {"0.0.0.0", false, false}, {"0.1.2.3", false, false}, {"::", false, false},
		{"224.0.0.1", false, false}, {"255.255.255.255", false, false}, {"ff02::1", false, false}, {"198.18.0.1", false, false}, {"192.0.0.192", false, false},
		{"64:ff9b::a9fe:a9fe", false, false}, {"2002:7f00:1::", false, false}, {"2001::1", false, false}, {"::7f00:1", false, false}, {"fec0::1", false, false},
	} {
		for _, local := range []bool{false, true} {
			want := c.public
			if local {
				want = c.local
			}
			if got := reachable(netip.MustParseAddr(c.ip), local); got != want {
				t.Errorf("%s, local %t: %t", c.ip, local, got)
			}
		}
	}
	for _, address := range []string{"[::ffff:127.0.0.1]:80", "[::ffff:a9fe:a9fe]:80", "[fe80::1%eth0]:80", "127.0.0.1:80", "localhost:80", "nonsense", "/tmp/socket"} {
		if dials(address, false) == nil {
			t.Errorf("%s is dialled", address)
		}
	}
	if dials("[::ffff:127.0.0.1]:80", true) != nil || dials("[::ffff:169.254.169.254]:80", true) == nil {
		t.Error("an address inside another is not looked at")
	}
}
