package server

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// A Front serves a listener by one Server, and goes on with another when it is told to: connections stay,
// and no request is lost. Make it with NewFront.
type Front struct {
	mu   sync.Mutex // held while the server is exchanged
	now  atomic.Pointer[tenure]
	gone sync.WaitGroup // counts servers that were replaced and have requests left
}

// A tenure is the time for which a Server answers new requests.
type tenure struct {
	*Server
	leave context.CancelFunc // ends what runs beside the requests; nil before Run
}

// NewFront makes a Front that begins with a server.
func NewFront(first *Server) *Front {
	f := &Front{}
	f.now.Store(&tenure{Server: first})
	return f
}

// Server returns the server that answers new requests.
func (f *Front) Server() *Server { return f.now.Load().Server }

// ServeHTTP implements http.Handler.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for {
		t := f.now.Load()
		t.asked.Add(1)
		if t == f.now.Load() { // else it was replaced meanwhile, and may have ended
			defer t.asked.Add(-1)
			t.ServeHTTP(w, r)
			return
		}
		t.asked.Add(-1)
	}
}

// Replace has another server answer from now on, and returns at once. The one before answers what it has
// begun; its streams end, and who listens comes back. ended is called when it has nothing left to do.
func (f *Front) Replace(ctx context.Context, next *Server, ended func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	was := f.now.Swap(f.begin(ctx, next))
	was.drain()
	f.gone.Go(func() {
		for was.asked.Load() > 0 {
			time.Sleep(5 * time.Millisecond)
		}
		was.end()
		ended()
	})
}

// begin starts what runs beside the requests of a server.
func (f *Front) begin(ctx context.Context, s *Server) *tenure {
	ctx, leave := context.WithCancel(ctx)
	s.after.Go(s.looks)
	for _, run := range s.beside {
		s.after.Go(func() { run(ctx) })
	}
	return &tenure{s, leave}
}

// end ends a server that has no requests, and waits until it has ended.
func (t *tenure) end() {
	t.leave()
	t.stop()
	t.after.Wait()
}

// Run serves a listener until ctx ends. It goes on for Limits.Linger, in which /readyz says that it stops, so that
// a balancer sends others elsewhere. Then it accepts nothing new, finishes running requests for at most
// Limits.Drain, and returns. A request that is cut off either committed or not; its
// idempotency key tells which.
func (f *Front) Run(ctx context.Context, l net.Listener, certs *tls.Config) error {
	f.mu.Lock()
	first := f.Server()
	f.now.Store(f.begin(ctx, first))
	f.mu.Unlock()
	server := &http.Server{
		Handler:           f,
		ReadHeaderTimeout: 5 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		TLSConfig:         certs,
		ErrorLog:          slog.NewLogLogger(first.Log.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	go func() {
		if certs != nil {
			failed <- server.ServeTLS(l, "", "")
			return
		}
		failed <- server.Serve(l)
	}()
	select {
	case err := <-failed:
		f.Server().stop()
		return err
	case <-ctx.Done():
	}
	f.mu.Lock() // from here on nothing is replaced
	defer f.mu.Unlock()
	last := f.now.Load()
	last.Log.Info("stopping", "why", context.Cause(ctx).Error(), "taking_requests", last.Limits.Linger.String(), "finishing_requests", last.Limits.Drain.String())
	last.stopping.Store(true)
	select {
	case <-time.After(last.Limits.Linger):
	case err := <-failed:
		last.Log.Error("listener", "error", err.Error())
	}
	last.drain()
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), last.Limits.Drain)
	defer cancel()
	var cut int64
	err := server.Shutdown(ending)
	if errors.Is(err, context.DeadlineExceeded) {
		// The contexts of the remaining requests end; what they have not committed is rolled back.
		cut = last.asked.Load()
		err = server.Close()
	}
	last.end()
	f.gone.Wait()
	last.Log.Info("stopped", "cut_off", cut)
	return err
}
