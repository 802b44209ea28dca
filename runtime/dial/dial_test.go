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
		if public(netip.MustParseAddr(a)) {
			t.Errorf("%s is dialled", a)
		}
	}
	for _, a := range []string{"8.8.8.8", "93.184.216.34", "2606:4700::1111"} {
		if !public(netip.MustParseAddr(a)) {
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
