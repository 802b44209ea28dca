package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxRedirects is how often an address may send us on, within its own host.
const maxRedirects = 3

// address makes the way to a server over HTTP.
func (s *Servers) address(ctx context.Context, config Server, o *overheard) (sdk.Transport, func(*sdk.ClientSession) string, error) {
	u, err := url.Parse(config.URL)
	if err != nil {
		return nil, nil, errors.New("its url cannot be read")
	}
	d := door{ctx: ctx, host: u.Host, scheme: u.Scheme, limit: int64(2*config.MaxAnswer) + 1<<20, o: o}
	if config.Token != "" {
		if d.token = s.opt.Env(config.Token); d.token == "" {
			return nil, nil, fmt.Errorf("the variable %s, which holds its token, is not set", config.Token)
		}
	}
	dialer := &net.Dialer{Timeout: config.Timeout, Control: func(_, address string, _ syscall.RawConn) error { return dials(address, config.Local) }}
	t := &http.Transport{
		DialContext: dialer.DialContext,
		// No proxy of the environment: it would dial for us, unchecked.
		Proxy:                  nil,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		DisableKeepAlives:      true,
		ForceAttemptHTTP2:      true,
	}
	d.next = t
	client := &http.Client{Transport: &d, CheckRedirect: d.redirect}
	end := func(session *sdk.ClientSession) string {
		if session != nil {
			_ = session.Close() // a courtesy; the door closes by itself
		}
		t.CloseIdleConnections()
		return ""
	}
	return &sdk.StreamableClientTransport{Endpoint: config.URL, HTTPClient: client, MaxRetries: -1, DisableStandaloneSSE: true, MaxEventSize: config.MaxAnswer + 4096}, end, nil
}

// A door lets requests out and answers in.
type door struct {
	ctx    context.Context // of the errand
	next   http.RoundTripper
	scheme string
	host   string
	token  string
	limit  int64
	o      *overheard
}

// RoundTrip implements http.RoundTripper.
func (d *door) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := d.ctx.Err(); err != nil {
		return nil, err
	}
	if d.elsewhere(r) {
		return nil, errElsewhere
	}
	// Requests of the library have contexts of their own; the errand's ends
	// them all.
	ctx, cancel := context.WithCancel(r.Context())
	stop := context.AfterFunc(d.ctx, cancel)
	r = r.Clone(ctx)
	if d.token != "" {
		r.Header.Set("Authorization", "Bearer "+d.token)
	}
	resp, err := d.next.RoundTrip(r)
	if err != nil {
		stop()
		cancel()
		return nil, err
	}
	resp.Body = &capped{ReadCloser: resp.Body, left: d.limit, o: d.o, done: func() { stop(); cancel() }}
	return resp, nil
}

var (
	errElsewhere = errors.New("it sends us to another host, which was not asked for")
	errTooMuch   = errors.New("it answers with more than it may")
	errTooFar    = fmt.Errorf("it sends us on more than %d times", maxRedirects)
)

func (d *door) elsewhere(r *http.Request) bool {
	return r.URL.Host != d.host || r.URL.Scheme != d.scheme
}

// redirect follows a server within its own host. Whoever else it names would be
// handed what was meant for it.
func (d *door) redirect(r *http.Request, via []*http.Request) error {
	switch {
	case len(via) > maxRedirects:
		return errTooFar
	case d.elsewhere(r):
		return errElsewhere
	}
	return nil
}

// capped is a body that ends in an error when it is too long.
type capped struct {
	io.ReadCloser
	left int64
	o    *overheard
	done func()
}

func (c *capped) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if c.left -= int64(n); c.left < 0 {
		return 0, errTooMuch
	}
	c.o.hear(p[:n])
	return n, err
}

func (c *capped) Close() error {
	defer c.done()
	return c.ReadCloser.Close()
}

// dials decides about the address that is about to be dialled, after every name
// was looked up.
func dials(address string, local bool) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return errors.New("its address is none of the internet")
	}
	if ip := at.Addr().Unmap().WithZone(""); !reachable(ip, local) {
		return fmt.Errorf("its address leads to a private network or to this machine; say local: true if that is meant")
	}
	return nil
}

// never holds what nobody means: networks of other machinery, addresses that
// hold other addresses inside, and what no server has.
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

func reachable(ip netip.Addr, local bool) bool {
	for _, p := range ours {
		if p.Contains(ip) {
			return local
		}
	}
	for _, p := range never {
		if p.Contains(ip) {
			return false
		}
	}
	return true
}
