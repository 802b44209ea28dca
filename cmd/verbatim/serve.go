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
	room         int64 // MiB
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
			return a.named(a.serve(cmd.Context(), f))
		},
	}
	cmd.AddCommand(tokenCommand(a))
	a.serveFlags(cmd, &f)
	cmd.Flags().StringSliceVar(&f.signIn, "sign-in", nil, "print a link by which this `name` signs in, once; on this machine only")
	return cmd
}

// serveFlags declares the flags that serve and doctor have.
func (a *app) serveFlags(cmd *cobra.Command, f *serveFlags) {
	a.palettesFlag(cmd, &f.palettes)
	a.storeFlag(cmd, &f.store)
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", "", "the `address` to listen at (default localhost, 8080 or the next free port)")
	flags.StringSliceVar(&f.urls, "url", nil, "how people reach it, a `URL`, the first for links (default $VERBATIM_URL)")
	flags.StringVar(&f.cert, "tls-cert", "", "the `file` of its certificate")
	flags.StringVar(&f.key, "tls-key", "", "the `file` of its key")
	flags.BoolVar(&f.proxied, "behind-proxy", false, "a proxy in front has TLS, and says who its clients are")
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
	flags.Int64Var(&f.room, "room", 512, "free space of each disk below which operators are told, in `MiB`")
	flags.IntVar(&f.limits.Calls, "calls", dsl.DefaultLimits.Calls, "most calls of a script of a client")
	flags.DurationVar(&f.limits.Drain, "drain", 10*time.Second, "how long requests and jobs may go on when the server stops, a `time`")
	flags.DurationVar(&f.limits.Linger, "linger", 3*time.Second, "how long requests are still taken when the server is told to stop, a `time`")
	for _, seldom := range []string{"linger", "room", "mode", "rate", "burst", "requests", "streams", "bodies", "script", "calls", "drain"} {
		_ = flags.MarkHidden(seldom) // their variables stand in verbatim help variables
	}
	flags.StringVar(&f.log, "log", "info", "log to standard error what has this `level`, info or error; off for nothing")
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
	if err := a.announces(ctx, first.Server, r.listener.Addr().String(), first.URL, f.signIn); err != nil {
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
func (r *runningServer) opens(ctx context.Context) error {
	a := r.app
	a.shares = r.log
	a.follows(r.log)
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

// follows has reads go to the replica that the environment names, if it names one.
func (a *app) follows(log *slog.Logger) {
	if at := a.env("VERBATIM_REPLICA"); at != "" {
		a.replica = postgres.Replica(at, func(what string) { log.Info("replica", "now", what) })
	}
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
	starts := r.store == nil
	a.idle = 15 * time.Minute // there is a connection for each principal
	from := &settings{chat: &chatFlags{session: "kept", log: logger}}
	for _, setting := range from.list(a, &f, &c.ends) {
		if setting.part == "certificate" && !starts {
			continue // a reload reads it apart
		}
		if err := setting.read(); err != nil {
			return nil, err
		}
	}
	c.ends = append(c.ends, a.close)
	if starts {
		if err := r.presentsNow(from.certs); err != nil {
			return nil, err
		}
		if err := a.spans(ctx, meter, logger, r.ends); err != nil {
			return nil, err
		}
	}
	model := watched(from.model, from.chat.model, meter, logger)
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
		if err := r.opens(ctx); err != nil {
			return nil, err
		}
	}
	store := r.store
	engine, err := a.newEngine(reg, store, from.tools)
	if err != nil {
		return nil, a.runFailed(err)
	}
	if starts {
		if err := r.marks(ctx, engine); err != nil {
			return nil, err
		}
	}
	version, _ := built()
	o := server.Options{
		Registry: reg, Engine: engine, Store: store, Clock: a.now, Proxied: f.proxied, Certificates: from.certified, Brand: from.brand, OpenID: from.openID, Log: logger,
		Meter: meter, Together: r.shared, People: people(reg, store), Tokens: tokensOf(reg, store), Version: version,
	}
	o.Unfit = func(ctx context.Context) error { return unfit(ctx, reg, store) }
	o.Limits = f.limits
	o.Limits.Bodies, o.Limits.Script = f.bodies<<20, f.script<<10
	key, channels := from.key, from.channels
	o.Notes = func(ctx context.Context) []server.Note {
		notes := r.notes(a.disks(&f))
		if key != nil {
			if err := key.refuses(ctx, store); err != nil {
				notes = append(notes, server.Note{About: server.NoteKey, Says: "the key signs no journal that is not the one it signed last, so nothing is proven: " + err.Error()})
			}
		}
		return notes
	}
	o.Watched = func() server.Watched {
		w := server.Watched{Certificates: map[string]time.Time{}, Disks: a.disks(&f), ClockAhead: r.app.clockAhead()}
		ends := func(name string, certs *tls.Config) {
			if certs == nil {
				return
			}
			if leaf, err := leafOf(&certs.Certificates[0]); err == nil {
				w.Certificates[name] = leaf.NotAfter
			}
		}
		ends("https", r.presents.Load())
		if c.channels != nil {
			ends("mail", c.channels.certs)
		}
		if refused := r.refused.Load(); refused != nil {
			w.Refused = refused.causes
		}
		return w
	}
	o.Talk = a.talks(reg, model, from.chat, from.tokens, from.zone)
	o.Mail = channels != nil && channels.Writes()
	if o.Uploads, err = a.shelved(ctx, reg, engine, &c.ends); err != nil {
		return nil, err
	}
	by, err := a.reach(reg, store, engine, &channel.Service{Uploads: o.Uploads, Talk: o.Talk, Clock: a.now, Zone: from.zone, Log: logger})
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
	o.URL, o.Hosts = f.reached(from.hosts, r.listener, r.certs != nil)
	s, err := server.New(o)
	if err != nil {
		return nil, usage(err.Error(), "verbatim serve --help")
	}
	c.ends = append(c.ends, s.Close)
	programs, err := api.New(ctx, s, api.Options{Codes: allCodes(), Search: a.finding(reg), Version: version, Sign: key.signs(store)})
	if err != nil {
		return nil, a.runFailed(err)
	}
	agents := a2a.New(s, a2a.Options{Envelopes: envelopes(reg), Posts: from.posts})
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
	send := plans.delivers(by.delivers(a.posting(reg, store, a.now, from.posts, a.sending(reg, store, channels, o.URL))))
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
			return pages.Brand{}, usage(fmt.Sprintf("VERBATIM_LOGO names a file that cannot be read: %s: %s", file, reason(err)), "check the path, and who may read it")
		}
		logo = text
	}
	colours := a.env("VERBATIM_COLOURS")
	if _, err := pages.NewBrand("", colours, "", nil); err != nil {
		return pages.Brand{}, usage("VERBATIM_COLOURS: "+err.Error(), "verbatim help variables")
	}
	b, err := pages.NewBrand(a.env("VERBATIM_ORGANISATION"), colours, file, logo)
	if err != nil {
		return b, usage("VERBATIM_ORGANISATION or VERBATIM_LOGO: "+err.Error(), "verbatim help variables")
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

// certificates reads the server's certificate, nil if it has none.
func (a *app) certificates(f *serveFlags) (*tls.Config, error) {
	certified, err := a.certified(f.cert != "")
	if err != nil || f.cert == "" {
		return nil, err
	}
	for _, file := range []string{f.cert, f.key} {
		if _, err := os.ReadFile(file); err != nil {
			return nil, usage(fmt.Sprintf("the file %s of the certificate cannot be read: %s", quoted(file), reason(err)), "check the path, and who may read it")
		}
	}
	pair, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		return nil, usage("the certificate cannot be used: "+reason(err), "check --tls-cert and --tls-key")
	}
	certs := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
	if certified {
		certs.ClientAuth = tls.RequestClientCert // each is identified by its digest, whoever signed it
	}
	return certs, nil
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
	meter.Spans, err = a.spansTo(func(err error) { logger.Error("spans", "lost", err.Error()) })
	if err != nil || meter.Spans == nil {
		return err
	}
	*ends = append(*ends, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		_ = meter.Spans.Close(ctx) // failures have been reported
	})
	return nil
}

// spansTo reads where spans are sent, nil if nowhere.
func (a *app) spansTo(failed func(error)) (*server.Spans, error) {
	endpoint := a.env("OTEL_EXPORTER_OTLP_ENDPOINT")
	if endpoint == "" {
		return nil, nil
	}
	spans, err := server.NewSpans(endpoint, a.env("OTEL_EXPORTER_OTLP_HEADERS"), a.env("OTEL_SERVICE_NAME"), failed)
	if err != nil {
		return nil, usage(err.Error(), "set OTEL_EXPORTER_OTLP_ENDPOINT, or leave it out")
	}
	return spans, nil
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

// announces prints the address of the server, and links for those who sign in at this machine.
func (a *app) announces(ctx context.Context, s *server.Server, listens, at string, signIn []string) error {
	said := fmt.Sprintf("listening %s\nserving   %s\n", listens, at)
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
