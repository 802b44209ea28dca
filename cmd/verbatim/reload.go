package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/http/server"
	"verbatim/runtime/protocols/trustgraph"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// Reloading. On SIGHUP the server reads its configuration again, with the code of its start, and builds
// from it what answers requests from then on. The listener, the store and the counts stay. What was
// begun is finished by what it was begun with. A part that cannot be read is refused whole, and the one
// before goes on.

// A configured is what one reading of the configuration came to.
type configured struct {
	*server.Server
	work     func(context.Context) error
	channels *reached
	plans    *planning
	queue    func(context.Context) error // nil without a broker
	gateway  *trustgraph.Gateway         // nil without a gateway
	ends     []func()                    // called when it has ended, the last first
	stop     context.CancelFunc          // nil before it begins
	running  sync.WaitGroup              // counts what runs beside the requests
	failed   error                       // of work; to be read after running
}

// begins starts what runs beside the requests. failed is called with what has to end the server.
func (c *configured) begins(ctx context.Context, failed func(error)) {
	ctx, c.stop = context.WithCancel(ctx)
	beside := func(run func(context.Context) error) {
		c.running.Go(func() {
			if err := run(ctx); err != nil && ctx.Err() == nil {
				failed(err)
			}
		})
	}
	c.running.Go(func() { c.failed = c.work(ctx) })
	if c.channels != nil {
		for _, listen := range c.channels.listen {
			beside(listen)
		}
	}
	if c.queue != nil {
		beside(c.queue)
	}
	go c.plans.inBackground(ctx)
	if c.gateway != nil {
		go func() {
			<-ctx.Done() // the server does not end sockets
			closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
			defer cancel()
			_ = c.gateway.Close(closing) // unfinished plans continue later
		}()
	}
}

// end ends what runs beside the requests, of which there are none any more.
func (c *configured) end() {
	if c.stop != nil {
		c.stop()
	}
	c.running.Wait()
	for _, end := range slices.Backward(c.ends) {
		end()
	}
	c.ends = nil
}

// A runningServer is a server with everything that runs beside it.
type runningServer struct {
	*configured // the one that was read last
	app         *app
	flags       serveFlags // of the start
	meter       *server.Meter
	log         *slog.Logger
	store       stores.Store
	shared      bool          // other servers may use it
	blind       []server.Note // why a restore would not be noticed
	listener    net.Listener
	watch       net.Listener // where metrics are answered apart, or nil
	scraped     atomic.Int64 // when somebody read them there last, or the server began, in nanoseconds
	listeners   *listeners   // of channels
	certs       *tls.Config  // nil without TLS
	presents    atomic.Pointer[tls.Config]
	front       *server.Front
	readings    int
	ends        *[]func()
	refused     atomic.Pointer[refusedParts] // of the last reload; nil before the first
}

// refusedParts are what a reload refused.
type refusedParts struct {
	names  []string
	causes map[string]string // the code of why, by name
}

// run serves until ctx ends, and returns after everything beside it has ended. It reads the
// configuration again at each hangup. A channel or a queue that fails stops it.
func (r *runningServer) run(ctx context.Context, hangups <-chan os.Signal) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	failed := func(err error) { stop(err) }
	r.begins(ctx, failed)
	if r.watch != nil {
		read := func() { r.scraped.Store(r.app.now().UnixNano()) }
		read()
		go func() {
			if err := r.front.ServeMetrics(ctx, r.watch, read); err != nil {
				stop(err)
			}
		}()
		go r.tellsUnread(ctx)
	}
	reloads := make(chan struct{})
	go func() {
		defer close(reloads)
		for {
			select {
			case <-ctx.Done():
				return
			case <-hangups:
				r.reload(ctx, failed)
			}
		}
	}()
	err := r.front.Run(ctx, r.listener, r.certs)
	stop(nil)
	<-reloads
	r.end()
	if err == nil {
		err = r.failed
	}
	if cause := context.Cause(ctx); err == nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	if err != nil && ctx.Err() == nil {
		return broken("the server ended", err, "look at what it logged")
	}
	return nil
}

// unreadFor is how long nobody need read what --metrics answers before operators are told.
const unreadFor = 10 * time.Minute

// unread says that nobody has read what is counted for a while, "" if somebody has. Whether an alarm then reaches
// anybody, only the Prometheus that sends it knows.
func (r *runningServer) unread() string {
	if r.watch == nil || r.app.now().Sub(time.Unix(0, r.scraped.Load())) < unreadFor {
		return ""
	}
	return "nobody has read /metrics at " + r.watch.Addr().String() + " for ten minutes, so no alarm can fire"
}

// tellsUnread logs, until ctx ends, that nobody reads what is counted, and that somebody does again.
func (r *runningServer) tellsUnread(ctx context.Context) {
	looks := time.NewTicker(unreadFor / 10)
	defer looks.Stop()
	for was := ""; ; {
		select {
		case <-ctx.Done():
			return
		case <-looks.C:
		}
		why := r.unread()
		if why != "" && was == "" {
			r.log.Error("metrics", "why", why, "next", "look whether Prometheus runs, and reaches that address")
		} else if why == "" && was != "" {
			r.log.Info("metrics are read again")
		}
		was = why
	}
}

// notes are what operators should mend, apart from what the configuration shows.
func (r *runningServer) notes(disks []server.Disk) []server.Note {
	notes := slices.Clone(r.blind)
	if certs := r.presents.Load(); certs != nil {
		if why := outOfTime(certs, time.Now()); why != "" {
			notes = append(notes, server.Note{About: server.NoteCertificate, Says: why})
		}
	}
	if refused := r.refused.Load(); refused != nil && len(refused.names) > 0 {
		notes = append(notes, server.Note{About: server.NoteReload, Says: "the last reload refused the " + strings.Join(refused.names, ", ") + "; the log says why"})
	}
	if why := r.unread(); why != "" {
		notes = append(notes, server.Note{About: server.NoteWatch, Says: why})
	}
	if why := small(disks); why != "" {
		notes = append(notes, server.Note{About: server.NoteDisk, Says: why})
	}
	return notes
}

// certificate reads the certificate, which connections from now on are shown.
func (r *runningServer) certificate(a *app, f serveFlags) error {
	certs, err := a.certificates(&f)
	if err != nil {
		return err
	}
	return r.presentsNow(certs)
}

// presentsNow has connections from now on be shown a certificate, nil for none.
func (r *runningServer) presentsNow(certs *tls.Config) error {
	if certs == nil {
		return nil
	}
	if why := outOfTime(certs, time.Now()); why != "" && r.certs != nil {
		return &stop{exitUsage, "out-of-time", why, nextOfTime} // the one before goes on
	} else if why != "" {
		r.log.Error("certificate", "why", why, "next", nextOfTime)
	}
	r.presents.Store(certs)
	if r.certs == nil {
		r.certs = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return r.presents.Load(), nil }, NextProtos: certs.NextProtos, MinVersion: certs.MinVersion}
	}
	return nil
}

// again reads the environment and the flags anew, by the same command.
func (a *app) again(ctx context.Context) (b *app, f serveFlags, err error) {
	b = &app{world: a.began, began: a.began, command: a.command, sent: a.sent}
	b.out, b.err = a.out, &bytes.Buffer{}
	if err := b.readEnvironment(); err != nil {
		return b, f, err
	}
	b.rereads = func(read serveFlags) { f = read }
	root := a.command(b)
	root.SetArgs(a.began.args)
	root.SetOut(b.err)
	root.SetErr(b.err)
	return b, f, root.ExecuteContext(ctx)
}

// reload reads the configuration again. It logs once what was read and what was refused, and why.
func (r *runningServer) reload(ctx context.Context, failed func(error)) {
	var read, why []string
	refused := refusedParts{causes: map[string]string{}}
	told := func(what string, b *app, err error) {
		if err == nil {
			read = append(read, what)
			return
		}
		refused.names, refused.causes[what] = append(refused.names, what), cause(err)
		why = append(why, what+": "+refusal(b, err))
	}
	b, f, err := r.app.again(ctx)
	by := b
	if err != nil { // the files of the certificate are those of the start then
		told("configuration", b, err)
		by, f = r.app, r.flags
	}
	if r.certs != nil && f.cert != "" {
		told("certificate", by, r.certificate(by, f))
	}
	if err == nil {
		b.now, b.observe, b.agreed = r.app.now, r.app.observe, r.app.agreed
		reg, unfit := r.palettesAgain(ctx, b, f)
		told("palettes", b, unfit)
		var next *configured
		next, err = b.configured(ctx, f, r, reg)
		if told("configuration", b, err); err == nil {
			r.replace(ctx, next, failed)
		} else if unfit == nil && reg != r.Registry { // nobody has seen them
			read = slices.DeleteFunc(read, func(what string) bool { return what == "palettes" })
			refused.names, refused.causes["palettes"] = append(refused.names, "palettes"), refused.causes["configuration"]
		}
	}
	r.refused.Store(&refused)
	attrs := []any{"read", read, "palettes", server.PalettesVersion(r.Registry)}
	if fixed := r.fixed(by, f); len(fixed) > 0 {
		attrs = append(attrs, "unchanged", fixed, "next", "start the server again for what is unchanged")
	}
	if len(refused.names) > 0 {
		r.log.Error("reload", append(attrs, "refused", refused.names, "error", strings.Join(why, "\n"))...)
		return
	}
	r.log.Info("reload", attrs...)
}

// replace has requests from now on answered by what was read.
func (r *runningServer) replace(ctx context.Context, next *configured, failed func(error)) {
	was := r.configured
	next.begins(ctx, failed)
	r.configured = next
	r.front.Replace(ctx, next.Server, was.end)
	was.stop()
}

// palettesAgain reads the palettes, and returns those in use where they are the same, or cannot be used.
func (r *runningServer) palettesAgain(ctx context.Context, b *app, f serveFlags) (*verbs.Registry, error) {
	reg, err := b.wholePalettes(f.palettes)
	if err != nil || reg.Digest() == r.Registry.Digest() {
		return r.Registry, err
	}
	// A server may start before its store is migrated; one that serves does not go back to that.
	var why *server.Unfit
	plan, wrong, _, err := engine.Rehearse(ctx, reg, r.store, ownTables()...)
	switch {
	case errors.As(unfitFor(ctx, reg, r.store, plan, err), &why):
		return r.Registry, &stop{exitRefused, "not-migrated", why.Why, why.Do + "; then reload"}
	case err != nil:
		return r.Registry, b.runFailed(err)
	case len(plan.Problems) > 0:
		return r.Registry, &stop{exitRefused, "not-migrated", plan.Problems[0], "verbatim migrate --check"}
	case wrong.HasErrors():
		b.complain(wrong)
		return r.Registry, said(exitInput)
	case len(plan.Steps) > 0:
		return r.Registry, &stop{exitRefused, "not-migrated", "the store is not prepared for them: " + receipt.Counted(len(plan.Steps), "statement") + " of migrate were not run yet", "verbatim migrate, as the owner of the tables, and then reload"}
	}
	return reg, nil
}

// cause is the code of why something was refused, of which there are few.
func cause(err error) string {
	var s *stop
	var printed said
	switch {
	case errors.As(err, &s):
		return s.code
	case errors.As(err, &printed):
		return "mistakes"
	}
	return "other"
}

// refusal is why something was refused, with the diagnostics that the command printed.
func refusal(b *app, err error) string {
	err = b.named(err)
	text := err.Error()
	var s *stop
	if errors.As(err, &s) && s.next != "" {
		text += "; next: " + s.next
	}
	if printed, ok := b.err.(*bytes.Buffer); ok {
		text = strings.TrimSpace(strings.TrimSpace(printed.String()) + "\n" + text)
		printed.Reset()
	}
	return text
}

// fixed lists what a reload does not read, as far as it changed.
func (r *runningServer) fixed(b *app, f serveFlags) (names []string) {
	was := r.flags
	at, err := b.storeAddress(f.store)
	stands, _ := r.app.storeAddress(was.store)
	for _, of := range []struct {
		name string
		same bool
	}{
		{"--listen", f.listen == was.listen},
		{"--metrics", f.metrics == was.metrics},
		{"--log", f.log == was.log},
		{"--store, apart from its password", err == nil && at.as("") == stands.as("") && at.file == stands.file},
		{"--tls-cert, whether there is one", (f.cert == "") == (was.cert == "")},
		{"VERBATIM_REPLICA", b.env("VERBATIM_REPLICA") == r.app.env("VERBATIM_REPLICA")},
	} {
		if !of.same {
			names = append(names, of.name)
		}
	}
	return names
}

// listeners are addresses at which channels listen. What was read last takes over from the one before,
// and no connection is refused meanwhile.
type listeners struct {
	mu  sync.Mutex
	all map[string]*sharedListener
}

func newListeners() *listeners { return &listeners{all: map[string]*sharedListener{}} }

// A sharedListener accepts for those who hold it.
type sharedListener struct {
	net.Listener
	conns chan net.Conn
	ended chan struct{} // closed once it accepts nothing more
	err   error         // why, to be read after ended
	held  int
	left  chan struct{} // closed once nobody holds it
}

// take returns a listener at an address, which others may hold too.
func (l *listeners) take(address string) (net.Listener, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.all[address]
	if s == nil {
		open, err := net.Listen("tcp", address)
		if err != nil {
			return nil, err
		}
		s = &sharedListener{Listener: open, conns: make(chan net.Conn), ended: make(chan struct{}), left: make(chan struct{})}
		l.all[address] = s
		go s.accepts()
	}
	s.held++
	h := &heldListener{sharedListener: s, closed: make(chan struct{})}
	h.close = sync.OnceFunc(func() {
		close(h.closed)
		l.mu.Lock()
		defer l.mu.Unlock()
		if s.held--; s.held == 0 {
			delete(l.all, address)
			close(s.left)
			_ = s.Listener.Close()
		}
	})
	return h, nil
}

func (s *sharedListener) accepts() {
	defer close(s.ended)
	for {
		c, err := s.Listener.Accept()
		if err != nil {
			s.err = err
			return
		}
		select {
		case s.conns <- c:
		case <-s.left:
			_ = c.Close()
		}
	}
}

// A heldListener is a sharedListener as one holder sees it.
type heldListener struct {
	*sharedListener
	closed chan struct{}
	close  func()
}

// Accept implements net.Listener.
func (h *heldListener) Accept() (net.Conn, error) {
	select {
	case <-h.closed:
		return nil, net.ErrClosed
	case <-h.ended:
		return nil, h.err
	case c := <-h.conns:
		return c, nil
	}
}

// Close implements net.Listener.
func (h *heldListener) Close() error {
	h.close()
	return nil
}
