// Package dial opens connections to addresses from others. It checks the dialled address, whatever
// its name was resolved to before:
//
//	client := &http.Client{Transport: dial.Transport(false)}
//	_, err := client.Get("http://localhost/") // errors.Is(err, dial.ErrPrivate)
package dial

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"syscall"
	"time"
)

// ErrPrivate says that an address is not one of the public internet.
var ErrPrivate = errors.New("the address is not one of the public internet")

// Transport makes a transport that dials addresses of the public internet alone or, where
// private, of the operator's own network and this machine as well.
func Transport(private bool) *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second, Control: func(_, address string, _ syscall.RawConn) error { return dials(address, private) }}
	// A proxy would dial in our place, and look at no address.
	return &http.Transport{DialContext: dialer.DialContext, TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: 64 << 10, ForceAttemptHTTP2: true}
}

// dials decides about the address that is about to be dialled, after every name was looked
// up.
func dials(address string, private bool) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !reachable(at.Addr().Unmap().WithZone(""), private) {
		return ErrPrivate
	}
	return nil
}

// never holds addresses that are never dialled: special networks, addresses that contain other
// addresses, and addresses that no server has.
var never = prefixes("0.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
	"224.0.0.0/4", "240.0.0.0/4", "::/128", "::/96", "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "fe80::/10", "fec0::/10", "ff00::/8")

// ours holds this machine and private networks.
var ours = prefixes("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "::1/128", "fc00::/7")

func prefixes(all ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(all))
	for i, p := range all {
		out[i] = netip.MustParsePrefix(p)
	}
	return out
}

func reachable(ip netip.Addr, private bool) bool {
	for _, p := range ours {
		if p.Contains(ip) {
			return private
		}
	}
	return !slices.ContainsFunc(never, func(p netip.Prefix) bool { return p.Contains(ip) })
}
