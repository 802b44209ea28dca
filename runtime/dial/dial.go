// Package dial opens connections to addresses that others gave. The address that is dialled
// is what is looked at, whatever its name was resolved to before:
//
//	client := &http.Client{Transport: dial.Transport(false)}
//	_, err := client.Get("http://localhost/") // errors.Is(err, dial.ErrPrivate)
package dial

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"syscall"
	"time"
)

// ErrPrivate says that an address is not one of the public internet.
var ErrPrivate = errors.New("the address is not one of the public internet")

// Transport makes a transport that dials addresses of the public internet alone, unless
// private, which is for services in the operator's own network.
func Transport(private bool) *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	if !private {
		dialer.Control = publicOnly
	}
	// A proxy would dial in our place, and look at no address.
	return &http.Transport{DialContext: dialer.DialContext, TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: 64 << 10, ForceAttemptHTTP2: true}
}

// publicOnly looks at the address that is about to be dialled.
func publicOnly(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !public(at.Addr()) {
		return ErrPrivate
	}
	return nil
}

// closedRanges are not of the public internet, beside those that netip knows:
// "this network", shared address space, benchmarking, documentation, reserved,
// and the ranges in which an IPv4 address hides in an IPv6 one.
var closedRanges = sync.OnceValue(func() (all []netip.Prefix) {
	for _, s := range []string{"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
		"203.0.113.0/24", "240.0.0.0/4", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "fec0::/10", "::/96"} {
		all = append(all, netip.MustParsePrefix(s))
	}
	return all
})

func public(a netip.Addr) bool {
	a = a.Unmap()
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || a.Zone() != "" {
		return false
	}
	for _, r := range closedRanges() {
		if r.Contains(a) {
			return false
		}
	}
	return true
}
