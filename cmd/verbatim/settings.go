package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/conversation/llm"
	"verbatim/runtime/frontends/http/a2a"
	"verbatim/runtime/frontends/http/pages"
	"verbatim/runtime/frontends/http/server"
	"verbatim/runtime/jobs/notify"
	"verbatim/runtime/protocols/tools"
	"verbatim/stores/receipt"
)

// settings are the variables and flags of serve that can be read without a store.
type settings struct {
	hosts     []string // of --url, none if there is none
	tokens    chatBudget
	zone      *time.Location
	chat      *chatFlags
	model     llm.Model
	certified bool
	certs     *tls.Config // nil without TLS
	tools     tools.Servers
	channels  *notify.Sender
	key       *logKey // nil without one
	posts     a2a.Posts
	brand     pages.Brand
	openID    *server.OpenID
}

// A setting is one of them. part is its line in doctor, also of what it leads to.
type setting struct {
	part string
	read func() error
}

// list says how the settings are read. serve ends with the first that is wrong, and doctor names each:
// what serve needs before it opens its store belongs here, and is then tried by both.
func (s *settings) list(a *app, f *serveFlags, ends *[]func()) []setting {
	return []setting{
		{"limits", func() error { return f.bounded() }},
		{"listen", func() error { return f.safely() }},
		{"address", func() (err error) { s.hosts, err = f.hosts(); return err }},
		{"budget", func() (err error) { s.tokens, err = readBudget(f.budget); return err }},
		{"zone", func() (err error) { s.zone, err = a.zone(); return err }},
		{"model", func() (err error) {
			s.chat.modelFlags, s.chat.mode = f.modelFlags, f.mode
			s.model, _, err = a.model(s.chat, s.zone, ends)
			return err
		}},
		{"programs", func() (err error) { s.certified, err = a.certified(f.cert != ""); return err }},
		{"certificate", func() (err error) { s.certs, err = a.certificates(f); return err }},
		{"tools", func() (err error) { s.tools, err = a.tools(""); return err }},
		{"notices", func() (err error) { s.channels, err = a.channels("", a.now); return err }},
		{"key", func() (err error) {
			if s.key, err = a.logKey(""); err == nil && s.key != nil {
				err = s.key.canNote()
			}
			return err
		}},
		{"agents", func() (err error) { s.posts, err = a.posts(); return err }},
		{"brand", func() (err error) { s.brand, err = a.brand(); return err }},
		{"sign-in", func() (err error) { s.openID, err = a.openID(); return err }},
		{"spans", func() error {
			spans, err := a.spansTo(func(error) {})
			if spans != nil {
				err = spans.Close(context.Background()) // there are none yet
			}
			return err
		}},
	}
}

// named puts the variable in place of a flag that it set into an error.
func (a *app) named(err error) error {
	s, ok := err.(*stop)
	if !ok {
		return err
	}
	told := *s
	for flag, variable := range a.given {
		of := regexp.MustCompile(`--` + regexp.QuoteMeta(flag) + `\b([^-]|$)`)
		told.text = of.ReplaceAllString(told.text, variable+"$1")
	}
	return &told
}

// bounded refuses limits that are none.
func (f *serveFlags) bounded() error {
	for _, l := range []struct {
		flag string
		is   float64
	}{
		{"rate", f.limits.Rate}, {"burst", float64(f.limits.Burst)}, {"requests", float64(f.limits.Requests)}, {"streams", float64(f.limits.Streams)}, {"bodies", float64(f.bodies)},
	} {
		if !(l.is > 0) {
			return usage(fmt.Sprintf("--%s is a number above 0, not %v", l.flag, l.is), "leave it out for what is usual")
		}
	}
	switch {
	case f.room < 0 || f.room > 1<<40:
		return usage(fmt.Sprintf("--room is 0 or more MiB, not %d", f.room), "leave it out for 512")
	case f.bodies > 1<<20:
		return usage(fmt.Sprintf("--bodies is at most %s MiB, not %s", receipt.Thousands(1<<20), receipt.Thousands(int(f.bodies))), "leave it out for what is usual")
	case f.script < 1 || f.script<<10 > int64(dsl.DefaultLimits.Bytes):
		return usage(fmt.Sprintf("--script is 1 to %d KiB, not %d", dsl.DefaultLimits.Bytes>>10, f.script), "leave it out for what is usual")
	case f.limits.Calls < 1 || f.limits.Calls > dsl.DefaultLimits.Calls:
		return usage(fmt.Sprintf("--calls is 1 to %s, not %d", receipt.Thousands(dsl.DefaultLimits.Calls), f.limits.Calls), "leave it out for what is usual")
	case f.limits.Linger < 0 || f.limits.Linger > time.Hour:
		return usage("--linger is a time up to an hour", "write it like 5s, 0s for none, or leave it out for 3s")
	case f.limits.Drain <= 0 || f.limits.Drain > time.Hour:
		return usage("--drain is a time up to an hour", "write it like 30s, or leave it out for 10s")
	case f.log != "info" && f.log != "error" && f.log != "off":
		return usage(fmt.Sprintf("--log is info, error or off, not %q", f.log), "verbatim serve --help")
	}
	return nil
}

// safely refuses addresses at which others could read the traffic.
func (f *serveFlags) safely() error {
	local := true
	for _, at := range []struct{ flag, address string }{{"listen", f.listen}, {"metrics", f.metrics}} {
		if at.address == "" {
			continue
		}
		host, port, err := net.SplitHostPort(at.address)
		if err == nil {
			_, err = net.LookupPort("tcp", port)
		}
		if err != nil {
			return usage(fmt.Sprintf("--%s takes an address, not %q", at.flag, at.address), "write it like :8443 or 127.0.0.1:8080")
		}
		if ip := net.ParseIP(host); at.flag == "listen" {
			local = host == "localhost" || ip != nil && ip.IsLoopback()
		}
	}
	switch {
	case (f.cert == "") != (f.key == ""):
		return usage("a certificate and its key go together, --tls-cert and --tls-key", "give both, or neither")
	case !local && f.cert == "" && !f.proxied:
		return usage("others reach that address, and what is said there could be read on the way", "give --tls-cert and --tls-key, or --behind-proxy where a proxy has TLS")
	case !local && len(f.urls) == 0:
		return usage("nothing says how people reach it", "verbatim serve --url https://portal.bank.example")
	case len(f.signIn) > 0 && (!local || f.proxied):
		return usage("--sign-in is for who sits at this machine", "people elsewhere sign in by mail, or with OpenID Connect")
	}
	return nil
}

// hosts returns the hosts that the server answers for.
func (f *serveFlags) hosts() (hosts []string, err error) {
	for _, at := range f.urls {
		u, err := url.Parse(at)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			return nil, usage(fmt.Sprintf("--url takes a URL, not %q", at), "write it like https://portal.bank.example")
		}
		hosts = append(hosts, u.Host)
	}
	return hosts, nil
}

// reached returns how people reach the server: the URL for links, and the hosts that it answers for.
func (f *serveFlags) reached(hosts []string, l net.Listener, secure bool) (first string, _ []string) {
	if len(f.urls) > 0 {
		return strings.TrimRight(f.urls[0], "/"), hosts
	}
	scheme := "http"
	if secure {
		scheme = "https"
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return scheme + "://localhost:" + port, []string{"127.0.0.1:" + port}
}
