package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"verbatim/dsl"
	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/conversation/llm"
	"verbatim/runtime/conversation/phrases"
	"verbatim/runtime/domains/kyc"
	"verbatim/runtime/domains/rights"
	"verbatim/runtime/engine"
	"verbatim/runtime/files/intake"
	"verbatim/runtime/frontends/channel"
	"verbatim/runtime/frontends/http/a2a"
	"verbatim/runtime/frontends/http/a2a/peers"
	"verbatim/runtime/frontends/http/api"
	"verbatim/runtime/frontends/http/console"
	"verbatim/runtime/frontends/http/pages"
	"verbatim/runtime/frontends/http/portal"
	"verbatim/runtime/frontends/http/server"
	"verbatim/runtime/frontends/http/server/logins"
	"verbatim/runtime/jobs/worker"
	"verbatim/runtime/jobs/workflow"
	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// serveFlags are the flags of `verbatim serve`.
type serveFlags struct {
	palettes, store   string
	listen, cert, key string
	urls, signIn      []string
	proxied, apart    bool
	modelFlags
	mode, budget string
	log, metrics string
	limits       server.Limits
	bodies       int64 // MiB
	script       int64 // KiB
}

func serveCommand(a *app) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:     "serve",
		Short:   "Serve the portal, the console and the API: verbatim help serve",
		Example: "verbatim serve --sign-in clara",
		Args:    atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.fromVariables(cmd); err != nil {
				return err
			}
			if a.rereads != nil {
				a.rereads(f)
				return nil
			}
			return a.serve(cmd.Context(), f)
		},
	}
	cmd.AddCommand(tokenCommand(a))
	a.palettesFlag(cmd, &f.palettes)
	a.storeFlag(cmd, &f.store)
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", "", "the `address` to listen at (default localhost, 8080 or the next free port)")
	flags.StringSliceVar(&f.urls, "url", nil, "how people reach it, a `URL`, the first for links (default $VERBATIM_URL)")
	flags.StringVar(&f.cert, "tls-cert", "", "the `file` of its certificate")
	flags.StringVar(&f.key, "tls-key", "", "the `file` of its key")
	flags.BoolVar(&f.proxied, "behind-proxy", false, "a proxy in front has TLS, and says who its clients are")
	flags.StringSliceVar(&f.signIn, "sign-in", nil, "print a link by which this `name` signs in, once; on this machine only")
	a.modelFlags(cmd, &f.modelFlags)
	flags.StringVar(&f.mode, "mode", "tools", "the `way` calls are written, as for verbatim chat")
	flags.StringVar(&f.budget, "budget", usualBudget, "most `tokens` of a message, a conversation and a day")
	flags.BoolVar(&f.apart, "no-work", false, "leave jobs to verbatim work")
	flags.StringVar(&f.metrics, "metrics", "", "an `address` that answers /metrics to all who reach it, like :9090")
	flags.Float64Var(&f.limits.Rate, "rate", 200, "requests a second of one client")
	flags.IntVar(&f.limits.Burst, "burst", 1000, "requests of one client that may come together")
	flags.IntVar(&f.limits.Requests, "requests", 256, "requests that are answered at once")
	flags.IntVar(&f.limits.Streams, "streams", 20_000, "streams of events at once")
	flags.Int64Var(&f.bodies, "bodies", 256, "memory of all bodies at once, in `MiB`")
	flags.Int64Var(&f.script, "script", 1024, "the largest script of a client, in `KiB`")
	flags.IntVar(&f.limits.Calls, "calls", dsl.DefaultLimits.Calls, "most calls of a script of a client")
	flags.DurationVar(&f.limits.Drain, "drain", 10*time.Second, "how long requests and jobs may go on when the server stops, a `time`")
	flags.DurationVar(&f.limits.Linger, "linger", 3*time.Second, "how long requests are still taken when the server is told to stop, a `time`")
	for _, seldom := range []string{"linger", "mode", "rate", "burst", "requests", "streams", "bodies", "script", "calls", "drain"} {
		_ = flags.MarkHidden(seldom) // their variables stand in verbatim help variables
	}
	flags.StringVar(&f.log, "log", "info", "log to standard error what has this `level`, info or error; off for nothing")
	return cmd
}

// safely refuses addresses at which others could read the traffic.
func (f *serveFlags) safely() error {
	local := true
	if f.listen != "" {
		host, port, err := net.SplitHostPort(f.listen)
		if err == nil {
			_, err = net.LookupPort("tcp", port)
		}
		if err != nil {
			return usage(fmt.Sprintf("--listen takes an address, not %q", f.listen), "write it like :8443 or 127.0.0.1:8080")
		}
		ip := net.ParseIP(host)
		local = host == "localhost" || ip != nil && ip.IsLoopback()
	}
	switch {
	case (f.cert == "") != (f.key == ""):
		return usage("a certificate and its key go together", "give --tls-cert and --tls-key")
	case !local && f.cert == "" && !f.proxied:
		return usage("others reach that address, and what is said there could be read on the way", "give --tls-cert and --tls-key, or --behind-proxy where a proxy has TLS")
	case !local && len(f.urls) == 0:
		return usage("nothing says how people reach it", "verbatim serve --url https://portal.bank.example")
	case len(f.signIn) > 0 && (!local || f.proxied):
		return usage("--sign-in is for who sits at this machine", "people elsewhere sign in by mail, or with OpenID Connect")
	case f.log != "info" && f.log != "error" && f.log != "off":
		return usage(fmt.Sprintf("--log is info, error or off, not %q", f.log), "verbatim serve --help")
	case !(f.limits.Rate > 0) || f.limits.Burst < 1 || f.limits.Requests < 1 || f.limits.Streams < 1 || f.bodies < 1 || f.bodies > 1<<20:
		return usage("a limit is a number above 0", "give --rate, --burst, --requests, --streams and --bodies so, or leave them out")
	case f.script < 1 || f.script<<10 > int64(dsl.DefaultLimits.Bytes) || f.limits.Calls < 1 || f.limits.Calls > dsl.DefaultLimits.Calls:
		return usage(fmt.Sprintf("no script has more than %d KiB and %s calls, and none is smaller than one", dsl.DefaultLimits.Bytes>>10, receipt.Thousands(dsl.DefaultLimits.Calls)), "give --script and --calls within that, or leave them out")
	case f.limits.Linger < 0 || f.limits.Linger > time.Hour:
		return usage("--linger is a time up to an hour", "write it like 5s, 0s for none, or leave it out for 3s")
	case f.limits.Drain <= 0 || f.limits.Drain > time.Hour:
		return usage("--drain is a time up to an hour", "write it like 30s, or leave it out for 10s")
	}
	return nil
}

// ports is how many ports are tried if none is given.
const ports = 20

// listener listens at the given address, or at the first free port.
func (f *serveFlags) listener() (net.Listener, error) {
	if f.listen != "" {
		return net.Listen("tcp", f.listen)
	}
	var l net.Listener
	var err error
	for port := 8080; port < 8080+ports; port++ {
		if l, err = net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); !errors.Is(err, syscall.EADDRINUSE) {
			return l, err
		}
	}
	return l, err
}

// watch listens where metrics are answered apart, nil if nowhere.
func (f *serveFlags) watch() (net.Listener, error) {
	if f.metrics == "" {
		return nil, nil
	}
	l, err := net.Listen("tcp", f.metrics)
	if err != nil {
		return nil, usage(fmt.Sprintf("--metrics takes an address that is free, not %q: %s", f.metrics, reason(err)), "write it like :9090 or 10.0.0.7:9090")
	}
	return l, nil
}

func (a *app) serve(ctx context.Context, f serveFlags) error {
	hangups := make(chan os.Signal, 1) // several that come together are one
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	var ends []func()
	defer func() {
		for i := len(ends) - 1; i >= 0; i-- {
			ends[i]()
		}
	}()
	r, err := a.server(ctx, f, &ends)
	if err != nil {
		return err
	}
	return r.run(ctx, hangups)
}

// server builds what serve runs, and adds to ends what has to be called when it has ended, the last
// first.
func (a *app) server(ctx context.Context, f serveFlags, ends *[]func()) (*runningServer, error) {
	r := &runningServer{app: a, flags: f, meter: server.NewMeter(), log: a.logger(f.log), ends: ends, listeners: newListeners()}
	first, err := a.configured(ctx, f, r, nil)
	if err != nil {
		return nil, err
	}
	r.configured = first
	*ends = append(*ends, func() { r.configured.end() })
	r.front = server.NewFront(first.Server)
	r.log.Info("serving", "url", first.URL, "address", r.listener.Addr().String(), "palettes", server.PalettesVersion(first.Registry))
	if err := a.announces(ctx, first.Server, first.URL, f.signIn); err != nil {
		return nil, err
	}
	if a.env("GOGC") == "" {
		// Memory of the start is returned. From here on the collector spends memory for speed.
		debug.SetGCPercent(150)
		debug.FreeOSMemory()
	}
	return r, nil
}

// opens opens what a server has for as long as it runs, whatever is read anew.
func (r *runningServer) opens(ctx context.Context, reg *verbs.Registry) error {
	a := r.app
	if err := a.spans(ctx, r.meter, r.log, r.ends); err != nil {
		return err
	}
	a.shares = r.log
	if at := a.env("VERBATIM_REPLICA"); at != "" {
		a.replica = postgres.Replica(at, func(what string) { r.log.Info("replica", "now", what) })
	}
	store, err := a.openWrapped(ctx, r.flags.store)
	if err != nil {
		return err
	}
	at, err := a.storeAddress(r.flags.store)
	if err != nil {
		return err
	}
	r.store, r.shared = store, at.url != ""
	*r.ends = append(*r.ends, func() { store.Close() })
	return nil
}

// marks compares the store with what is noted of it.
func (r *runningServer) marks(ctx context.Context, engine *engine.Engine) error {
	a := r.app
	mark, err := a.marked(ctx, engine, r.store, r.flags.store)
	if err != nil {
		return a.runFailed(err)
	}
	*r.ends = append(*r.ends, func() { mark.keep(ctx) })
	if mark.tells {
		watching, end := context.WithCancel(ctx)
		*r.ends = append(*r.ends, end)
		go a.watchRestores(watching, engine, r.store, r.log)
	}
	if r.blind, err = a.withoutMark(ctx, mark, engine, r.log); err != nil {
		return a.runFailed(err)
	}
	return nil
}

// listens opens the addresses of the server.
func (r *runningServer) listens() (err error) {
	if r.listener, err = r.flags.listener(); err != nil {
		return broken("nothing can be served", err, "name another address with --listen")
	}
	*r.ends = append(*r.ends, func() { r.listener.Close() })
	if r.watch, err = r.flags.watch(); err == nil && r.watch != nil {
		*r.ends = append(*r.ends, func() { r.watch.Close() })
	}
	return err
}

// configured reads the configuration, and builds what depends on it: at the start, which also opens
// what stays, and again for a reload, which passes the palettes that it has read.
func (a *app) configured(ctx context.Context, f serveFlags, r *runningServer, reg *verbs.Registry) (_ *configured, err error) {
	c := &configured{}
	defer func() {
		if err != nil {
			c.end()
		}
	}()
	meter, logger := r.meter, r.log
	if at := a.env("VERBATIM_URL"); at != "" && len(f.urls) == 0 {
		f.urls = []string{at}
	}
	if err := f.safely(); err != nil {
		return nil, err
	}
	tokens, err := readBudget(f.budget)
	if err != nil {
		return nil, err
	}
	zone, err := a.zone()
	if err != nil {
		return nil, err
	}
	chat := &chatFlags{modelFlags: f.modelFlags, mode: f.mode, session: "kept", log: logger}
	model, _, err := a.model(chat, zone, &c.ends)
	if err != nil {
		return nil, err
	}
	certified, err := a.certified(f.cert != "")
	if err != nil {
		return nil, err
	}
	starts := r.store == nil
	if starts {
		if err := r.certificate(a, f); err != nil {
			return nil, err
		}
	}
	a.idle = 15 * time.Minute // there is a connection for each principal
	tools, err := a.tools("")
	if err != nil {
		return nil, err
	}
	c.ends = append(c.ends, a.close)
	model = watched(model, chat.model, meter, logger)
	a.observe = func(ctx context.Context, o engine.Observed) {
		meter.Observe(ctx, o)
		if o.Err != nil && !errors.Is(o.Err, context.Canceled) {
			logger.Error("program", "outcome", o.Outcome, "code", o.Code, "error", o.Err.Error())
		}
	}
	if reg == nil {
		if reg, err = a.wholePalettes(f.palettes); err != nil {
			return nil, err
		}
	}
	if starts {
		if err := r.opens(ctx, reg); err != nil {
			return nil, err
		}
	}
	store := r.store
	engine, err := a.newEngine(reg, store, tools)
	if err != nil {
		return nil, a.runFailed(err)
	}
	if starts {
		if err := r.marks(ctx, engine); err != nil {
			return nil, err
		}
	}
	channels, err := a.channels("", a.now)
	if err != nil {
		return nil, err
	}
	version, _ := built()
	o := server.Options{
		Registry: reg, Engine: engine, Store: store, Clock: a.now, Random: a.random, Proxied: f.proxied, Certificates: certified, Log: logger,
		Meter: meter, Together: r.shared, People: people(reg, store), Tokens: tokensOf(reg, store), Version: version,
	}
	o.Unfit = func(ctx context.Context) error { return unfit(ctx, reg, store) }
	o.Limits = f.limits
	o.Limits.Bodies, o.Limits.Script = f.bodies<<20, f.script<<10
	key, err := a.logKey("")
	if err != nil {
		return nil, err
	}
	o.Notes = func(ctx context.Context) []string {
		notes := r.notes()
		if key != nil {
			if err := key.refuses(ctx, store); err != nil {
				notes = append(notes, "the key signs no journal that is not the one it signed last, so nothing is proven: "+err.Error())
			}
		}
		return notes
	}
	posts, err := a.posts()
	if err != nil {
		return nil, err
	}
	o.Talk = a.talks(reg, model, chat, tokens, zone)
	if o.Brand, err = a.brand(); err != nil {
		return nil, err
	}
	o.Mail = channels != nil && channels.Writes()
	if o.OpenID, err = a.openID(); err != nil {
		return nil, err
	}
	if o.Uploads, err = a.shelved(ctx, reg, engine, &c.ends); err != nil {
		return nil, err
	}
	by, err := a.reach(reg, store, engine, &channel.Service{Uploads: o.Uploads, Talk: o.Talk, Clock: a.now, Zone: zone, Log: logger})
	if err != nil {
		return nil, err
	}
	if by != nil {
		if err := by.open(ctx); err != nil {
			return nil, a.runFailed(err)
		}
		if err := by.binds(r.listeners); err != nil {
			return nil, err
		}
		c.ends = append(c.ends, by.unbinds)
	}
	plans, err := a.plans(reg, store, engine, model, a.now, meter, logger)
	if err != nil {
		return nil, err
	}
	queue, err := plans.queue(a.secret)
	if err != nil {
		return nil, err
	}
	if starts {
		if err := r.listens(); err != nil {
			return nil, err
		}
	}
	if o.URL, o.Hosts, err = f.reached(r.listener, r.certs != nil); err != nil {
		return nil, err
	}
	s, err := server.New(o)
	if err != nil {
		return nil, usage(err.Error(), "verbatim serve --help")
	}
	c.ends = append(c.ends, s.Close)
	programs, err := api.New(ctx, s, api.Options{Codes: allCodes(), Search: a.finding(reg), Version: version, Sign: key.signs(store)})
	if err != nil {
		return nil, a.runFailed(err)
	}
	agents := a2a.New(s, a2a.Options{Envelopes: envelopes(reg), Posts: posts})
	s.Beside(agents.Notify)
	s.Beside(func(ctx context.Context) { follow(ctx, engine, logger) })
	site := portal.New(portal.Options{Draws: plans.draws, Staff: console.Links(), History: console.History})
	s.Mount(slices.Concat(programs.Routes(), agents.Routes(), site.Routes(), console.Routes(site))...)
	gateway := plans.gateway(s)
	if by != nil {
		s.Mount(by.routes...)
	}
	if err := errors.Join(s.Housekeep(ctx), agents.Housekeep(ctx)); err != nil {
		return nil, a.runFailed(err)
	}
	send := plans.delivers(by.delivers(a.posting(reg, store, a.now, posts, a.sending(reg, store, channels, o.URL))))
	r.readings++
	name := workerName(r.readings)
	c.Server, c.channels, c.plans, c.queue, c.gateway = s, by, plans, queue, gateway
	c.work = func(ctx context.Context) error {
		return a.workBeside(ctx, f, name, engine, store, send, channels.Channel, meter, logger)
	}
	return c, nil
}

// workerName is the name of a worker of this process: there are two for a moment while one replaces the
// other.
func workerName(reading int) string {
	host, _ := os.Hostname() // without one, the process id suffices
	name := strings.TrimSpace(host + " " + strconv.Itoa(os.Getpid()))
	if reading > 1 {
		name += " " + strconv.Itoa(reading)
	}
	return name
}

// brand reads whose pages the server shows.
func (a *app) brand() (pages.Brand, error) {
	var logo []byte
	file := a.env("VERBATIM_LOGO")
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return pages.Brand{}, usage("VERBATIM_LOGO names a file that cannot be read: "+reason(err), "check the path, and who may read it")
		}
		logo = text
	}
	b, err := pages.NewBrand(a.env("VERBATIM_ORGANISATION"), a.env("VERBATIM_COLOURS"), file, logo)
	if err != nil {
		return b, usage(err.Error(), "verbatim help variables")
	}
	return b, nil
}

// followEvery is how often the index of the journal is brought up to date behind the pages that show it.
const followEvery = 10 * time.Second

// follow keeps the index of the journal up to date until ctx ends.
func follow(ctx context.Context, e *engine.Engine, logger *slog.Logger) {
	failed := false
	for {
		err := e.Follow(ctx)
		if err != nil && ctx.Err() == nil && !failed {
			logger.Error("history", "error", err.Error())
		}
		failed = err != nil
		select {
		case <-ctx.Done():
			return
		case <-time.After(followEvery):
		}
	}
}

// certificates reads the server's certificate, nil if it has none, and whether programs show
// certificates of their own.
func (a *app) certificates(f *serveFlags) (certified bool, certs *tls.Config, err error) {
	if certified, err = a.certified(f.cert != ""); err != nil || f.cert == "" {
		return certified, nil, err
	}
	for _, file := range []string{f.cert, f.key} {
		if _, err := os.ReadFile(file); err != nil {
			return certified, nil, usage(fmt.Sprintf("the file %s of the certificate cannot be read: %s", quoted(file), reason(err)), "check the path, and who may read it")
		}
	}
	pair, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		return certified, nil, usage("the certificate cannot be used: "+reason(err), "check --tls-cert and --tls-key")
	}
	certs = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
	if certified {
		certs.ClientAuth = tls.RequestClientCert // each is identified by its digest, whoever signed it
	}
	return certified, certs, nil
}

// outOfTime says that a certificate does not hold at an instant, by the clock that TLS goes by; "" if it does.
func outOfTime(certs *tls.Config, now time.Time) string {
	leaf, err := leafOf(&certs.Certificates[0])
	switch {
	case err != nil:
		return ""
	case now.After(leaf.NotAfter):
		return "the certificate has expired: it held until " + leaf.NotAfter.UTC().Format(time.RFC3339)
	case now.Before(leaf.NotBefore):
		return "the certificate does not hold yet: it holds from " + leaf.NotBefore.UTC().Format(time.RFC3339)
	}
	return ""
}

// nextOfTime is what to do about such a certificate.
const nextOfTime = "renew it, and check the clock of this machine"

// spans sends the meter's spans to the endpoint in the environment.
func (a *app) spans(ctx context.Context, meter *server.Meter, logger *slog.Logger, ends *[]func()) (err error) {
	endpoint := a.env("OTEL_EXPORTER_OTLP_ENDPOINT")
	if endpoint == "" {
		return nil
	}
	meter.Spans, err = server.NewSpans(endpoint, a.env("OTEL_EXPORTER_OTLP_HEADERS"), a.env("OTEL_SERVICE_NAME"), func(err error) { logger.Error("spans", "lost", err.Error()) })
	if err != nil {
		return usage(err.Error(), "set OTEL_EXPORTER_OTLP_ENDPOINT, or leave it out")
	}
	*ends = append(*ends, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		_ = meter.Spans.Close(ctx) // failures have been reported
	})
	return nil
}

// openID returns the provider that the environment names, nil if it names none.
func (a *app) openID() (*server.OpenID, error) {
	issuer, client := a.env("VERBATIM_OPENID"), a.env("VERBATIM_OPENID_CLIENT")
	switch {
	case issuer == "":
		return nil, nil
	case client == "":
		return nil, usage("an OpenID provider knows this server by an id", "set VERBATIM_OPENID_CLIENT")
	}
	return &server.OpenID{Name: cmp.Or(a.env("VERBATIM_OPENID_NAME"), "your organisation"), Issuer: strings.TrimRight(issuer, "/"), ClientID: client, Secret: a.env("VERBATIM_OPENID_SECRET")}, nil
}

// reached returns how people reach the server: the URL for links, and the hosts that it answers
// for.
func (f *serveFlags) reached(l net.Listener, secure bool) (first string, hosts []string, err error) {
	for _, at := range f.urls {
		u, err := url.Parse(at)
		if err != nil || u.Host == "" {
			return "", nil, usage(fmt.Sprintf("--url takes a URL, not %q", at), "write it like https://portal.bank.example")
		}
		hosts = append(hosts, u.Host)
	}
	if len(f.urls) > 0 {
		return f.urls[0], hosts, nil
	}
	scheme := "http"
	if secure {
		scheme = "https"
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return scheme + "://localhost:" + port, []string{"127.0.0.1:" + port}, nil
}

// announces prints the address of the server, and links for those who sign in at this machine.
func (a *app) announces(ctx context.Context, s *server.Server, at string, signIn []string) error {
	said := fmt.Sprintf("serving   %s\n", at)
	for _, name := range signIn {
		link, err := s.Link(ctx, name, "/")
		if err != nil {
			return a.runFailed(err)
		}
		said += fmt.Sprintf("sign in   %s  %s\n", name, link)
	}
	fmt.Fprint(a.out, said)
	return a.flush()
}

// talks returns the options of conversations, for people who sign in or write.
func (a *app) talks(reg *verbs.Registry, model llm.Model, chat *chatFlags, tokens chatBudget, zone *time.Location) func(*engine.Session) dialog.Options {
	index := a.phrases(reg)
	return func(s *engine.Session) dialog.Options {
		unused := func(why string) { chat.log.Warn("model not used", "model", chat.model, "why", why) }
		return dialog.Options{Unused: unused, Registry: reg, Model: model, Mode: dialog.Mode(chat.mode), XGrammar: chat.xgrammar, Clock: a.now, Zone: zone, Person: s.Person().Label,
			Budget: tokens.of(chat, s, a.now), Limits: dialog.Limits{Tokens: tokens.turn}, Source: "portal", Interpreter: phrases.New(reg, index, s, a.now, zone)}
	}
}

// workBeside runs jobs for as long as the server runs.
func (a *app) workBeside(ctx context.Context, f serveFlags, name string, engine *engine.Engine, store stores.Store, send func(context.Context, engine.Message) error, channel func(string) string, meter *server.Meter, log *slog.Logger) error {
	if f.apart {
		return nil
	}
	w := &worker.Worker{Engine: engine, Store: store, Name: name, Drain: f.limits.Drain, Spread: rand.Float64, Send: send, Channel: channel,
		Report:   func(e worker.Event) { ran(&e, channel, meter, log) },
		Provider: answersFor(channel), Up: func(provider string, up bool) {
			if !strings.HasPrefix(provider, a2a.TargetPush) { // agents come and go, and each would be a line for ever
				meter.Channel(provider, up)
			}
			if !up {
				log.Warn("channel does not answer", "channel", provider, "next", "its notices wait, and one is tried now and then; look whether its server runs")
				return
			}
			log.Info("channel answers again", "channel", provider)
		}}
	return w.Run(ctx)
}

// answersFor returns what has to answer for a notice to leave: the channel that its route names, the
// server of mail for letters, the agent that it is pushed to, or the steps of plans. What else the program
// itself does under the name of a notice has none; nor has what people are told in conversations, whose providers the notice
// does not name.
func answersFor(channel func(string) string) func(engine.Message) string {
	return func(m engine.Message) string {
		switch m.Target {
		case a2a.TargetPush:
			return a2a.TargetPush + " " + a2a.PushOf(m)
		case server.TargetSignIn:
			return "letters"
		case engine.TargetAgreement:
			return cmp.Or(channel(m.Target), "letters")
		}
		if workflow.Continues(m.Target) {
			return worker.Plans
		}
		return channel(m.Target)
	}
}

// shelved opens the upload service, if a scanner is configured or verbs write files; nil otherwise.
func (a *app) shelved(ctx context.Context, reg *verbs.Registry, engine *engine.Engine, ends *[]func()) (*intake.Service, error) {
	takes := a.env("VERBATIM_SCAN") != ""
	if !takes && !slices.ContainsFunc(reg.Verbs(), func(v *verbs.Verb) bool { return v.Read != nil && v.Read.File != "" }) {
		return nil, nil
	}
	s, err := a.shelf(ctx, engine)
	if err != nil {
		return nil, err
	}
	if !takes {
		s.Scanner = nil
	}
	*ends = append(*ends, func() { s.Files.Close() })
	return s, nil
}

// logger writes JSON lines to standard error.
func (a *app) logger(level string) *slog.Logger {
	least := slog.LevelInfo
	switch level {
	case "off":
		return slog.New(slog.DiscardHandler)
	case "error":
		least = slog.LevelError
	}
	return slog.New(slog.NewJSONHandler(a.err, &slog.HandlerOptions{Level: least}))
}

// people finds the principal of an identity.
func people(reg *verbs.Registry, store stores.Store) func(context.Context, string, string) (string, error) {
	return func(ctx context.Context, issuer, subject string) (string, error) {
		name, err := rights.PrincipalOf(ctx, reg, store, issuer, subject)
		if err == nil && name == "" {
			err = server.ErrNobody
		}
		return name, err
	}
}

func tokensOf(reg *verbs.Registry, store stores.Store) func(context.Context, string) (server.Token, error) {
	return func(ctx context.Context, digest string) (server.Token, error) {
		t, err := rights.TokenOf(ctx, reg, store, digest)
		if err == nil && t == nil {
			err = server.ErrNobody // a store that could not be asked says nothing of the token
		}
		if err != nil {
			return server.Token{}, err
		}
		return server.Token{Principal: t.Principal, Audience: t.Audience, Expires: t.Expires, Verbs: t.Only, Script: t.Script}, nil
	}
}

// ownTables returns the program's own tables.
func ownTables() []*stores.Entity { return slices.Concat(engine.Own(), logins.Own(), peers.Own()) }

// allTables returns the tables of the palettes, and the program's own.
func allTables(reg *verbs.Registry) []*stores.Entity {
	return slices.Concat(engine.Tables(reg), logins.Own(), peers.Own())
}

// envelopes returns the JSON protocols of the loaded domains.
func envelopes(reg *verbs.Registry) (all []a2a.Envelope) {
	if reg.Verb("kyc.verify") != nil {
		all = append(all, a2a.Envelope{
			Path: "/kyc", Does: "Takes the messages of verifications, " + kyc.Protocol + ".",
			Answer: func(ctx context.Context, c *a2a.Caller, message []byte, step func(any)) any {
				if step == nil {
					return kyc.Answer(ctx, c, message, nil)
				}
				return kyc.Answer(ctx, c, message, func(r kyc.Reply) { step(r) })
			},
			Refuse: func(_, title, next string) any { return kyc.Refused(title, next) },
		})
	}
	return all
}

// ran counts a run of a job, and logs one that did not succeed.
func ran(e *worker.Event, channel func(string) string, meter *server.Meter, log *slog.Logger) {
	by := e.Job.Kind
	switch {
	case by != engine.JobNotice:
	case e.What == server.TargetSignIn: // which no route but that of letters leads anywhere
		by = "letters"
	case channel != nil && channel(e.What) != "":
		by = channel(e.What)
	case e.What == engine.TargetAgreement:
		by = "letters"
	}
	meter.Ran(by, e.Outcome)
	if e.Err == nil && !e.Alarm() || e.Outcome == engine.WorkWaiting {
		return
	}
	attrs := []any{"outcome", e.Outcome, "code", e.Reason, "kind", e.Job.Kind, "job", e.Job.ID, "target", e.What, "attempt", e.Attempt, "of", e.Job.Tries()}
	if !e.Again.IsZero() {
		attrs = append(attrs, "again", e.Again.UTC().Format(time.RFC3339))
	}
	if e.Err != nil {
		attrs = append(attrs, "error", e.Err.Error())
	}
	log.Error("job", attrs...)
}
