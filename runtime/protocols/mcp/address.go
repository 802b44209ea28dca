package mcp

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"

	"verbatim/runtime/protocols/dial"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxRedirects is the greatest number of redirects, all within the host.
const maxRedirects = 3

// address makes the transport to an MCP server over HTTP.
func (s *Servers) address(ctx context.Context, config Server, o *recorder) (sdk.Transport, func(*sdk.ClientSession) string, error) {
	client, shut, err := s.door(ctx, config, config.URL, o)
	if err != nil {
		return nil, nil, err
	}
	end := func(session *sdk.ClientSession) string {
		if session != nil {
			_ = session.Close() // a courtesy; the door closes by itself
		}
		shut()
		return ""
	}
	return &sdk.StreamableClientTransport{Endpoint: config.URL, HTTPClient: client, MaxRetries: -1, DisableStandaloneSSE: true, MaxEventSize: config.MaxAnswer + 4096}, end, nil
}

// door makes an HTTP client for the host of an address, and no other. Answers are bounded, and o,
// if it is not nil, records them.
func (s *Servers) door(ctx context.Context, config Server, at string, o *recorder) (client *http.Client, shut func(), err error) {
	u, err := url.Parse(at)
	if err != nil {
		return nil, nil, errors.New("its url cannot be read")
	}
	d := &door{ctx: ctx, host: u.Host, scheme: u.Scheme, sets: http.Header{}, limit: int64(2*config.MaxAnswer) + 1<<20, o: o}
	if err := d.shows(config, s.opt.Env); err != nil {
		return nil, nil, err
	}
	t := dial.Transport(config.Local)
	t.DisableKeepAlives = true
	d.next = t
	return &http.Client{Transport: d, CheckRedirect: d.redirect}, t.CloseIdleConnections, nil
}

// A door lets requests out and answers in.
type door struct {
	ctx    context.Context // of the external call
	next   http.RoundTripper
	scheme string
	host   string
	sets   http.Header // what each request shows of who asks
	limit  int64
	o      *recorder // may be nil
}

// shows reads the secrets that the configuration names.
func (d *door) shows(config Server, env func(string) string) (err error) {
	read := func(variable, what string) string {
		value := env(variable)
		if value == "" && err == nil {
			err = fmt.Errorf("the variable %s, which holds its %s, is not set", variable, what)
		}
		return value
	}
	if config.Token != "" {
		d.sets.Set("Authorization", "Bearer "+read(config.Token, "token"))
	}
	if config.Basic != "" {
		d.sets.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(read(config.Basic, "password"))))
	}
	for name, variable := range config.Headers {
		d.sets.Set(name, read(variable, "header "+name))
	}
	return err
}

// RoundTrip implements http.RoundTripper.
func (d *door) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := d.ctx.Err(); err != nil {
		return nil, err
	}
	if d.elsewhere(r) {
		return nil, errElsewhere
	}
	// Requests of the library have contexts of their own; the end of the external call ends them
	// all.
	ctx, cancel := context.WithCancel(r.Context())
	stop := context.AfterFunc(d.ctx, cancel)
	r = r.Clone(ctx)
	maps.Copy(r.Header, d.sets)
	resp, err := d.next.RoundTrip(r)
	if err != nil {
		stop()
		cancel()
		if errors.Is(err, dial.ErrPrivate) {
			err = errPrivate
		}
		return nil, err
	}
	resp.Body = &capped{ReadCloser: resp.Body, left: d.limit, o: d.o, done: func() { stop(); cancel() }}
	return resp, nil
}

var (
	errElsewhere = errors.New("it sends us to another host, which was not asked for")
	errPrivate   = errors.New("its address leads to a private network or to this machine; say local: true if that is meant")
	errTooMuch   = errors.New("it answers with more than it may")
	errTooFar    = fmt.Errorf("it sends us on more than %d times", maxRedirects)
)

func (d *door) elsewhere(r *http.Request) bool {
	return r.URL.Host != d.host || r.URL.Scheme != d.scheme
}

// redirect follows a server within its own host. Another host would get data that is meant for the
// server.
func (d *door) redirect(r *http.Request, via []*http.Request) error {
	switch {
	case len(via) > maxRedirects:
		return errTooFar
	case d.elsewhere(r):
		return errElsewhere
	}
	return nil
}

// capped is a body that ends with an error if it is too long.
type capped struct {
	io.ReadCloser
	left int64
	o    *recorder
	done func()
}

func (c *capped) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if c.left -= int64(n); c.left < 0 {
		return 0, errTooMuch
	}
	if c.o != nil {
		c.o.hear(p[:n])
	}
	return n, err
}

func (c *capped) Close() error {
	defer c.done()
	return c.ReadCloser.Close()
}
