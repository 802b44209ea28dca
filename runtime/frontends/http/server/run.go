package server

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"math"
	"net"
	"net/http"
	"time"

	"verbatim/stores"
)

// Run serves a listener until ctx ends. Then it accepts nothing new, finishes running requests for
// at most Limits.Drain, and returns. A request that is cut off either committed or not; its
// idempotency key tells which.
func (s *Server) Run(ctx context.Context, l net.Listener, certs *tls.Config) error {
	server := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 5 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		TLSConfig:         certs,
		ErrorLog:          slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug),
	}
	s.after.Go(func() { s.tellPeers(ctx) })
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
		s.stop()
		return err
	case <-ctx.Done():
	}
	s.drain.Do(func() { close(s.draining) })
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Limits.Drain)
	defer cancel()
	err := server.Shutdown(ending)
	if errors.Is(err, context.DeadlineExceeded) {
		// The contexts of the remaining requests end; what they have not committed is rolled back.
		err = server.Close()
	}
	s.stop()
	s.after.Wait()
	return err
}

// healthz says that the process runs.
func (s *Server) healthz(v *visit) error { return v.plain(http.StatusOK, "ok\n") }

// plain answers with a line of text.
func (v *visit) plain(status int, text string) error {
	v.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	v.w.WriteHeader(status)
	_, _ = v.w.Write([]byte(text))
	return nil
}

// readyz says whether the server can answer requests.
func (s *Server) readyz(v *visit) error {
	select {
	case <-s.draining:
		return v.plain(http.StatusServiceUnavailable, "ending\n")
	default:
	}
	ctx, cancel := context.WithTimeout(v.r.Context(), time.Second)
	defer cancel()
	_, _, err := s.Store.Head(ctx)
	if err == nil {
		// The tables of logins are the last that migrate creates, so they stand for all.
		_, err = s.book.List(ctx, "")
	}
	if err == nil {
		err = s.Engine.Searches(ctx)
	}
	if err == nil && s.Store.Full() {
		// Whether there is room by now, only a write tells.
		err = s.book.Try(ctx, "ready", "", math.MaxInt64, 24*time.Hour)
	}
	switch {
	case errors.Is(err, stores.ErrFull):
		return v.plain(http.StatusServiceUnavailable, "the disk of the store is full\n")
	case errors.Is(err, stores.ErrSchema):
		return v.plain(http.StatusServiceUnavailable, "not migrated\n")
	case err != nil:
		return v.plain(http.StatusServiceUnavailable, "the store does not answer\n")
	}
	return v.plain(http.StatusOK, "ready\n")
}
