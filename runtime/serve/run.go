package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"verbatim/stores"
)

// Run answers what comes in by a listener until ctx ends. Then it takes nothing new,
// finishes what was begun, for as long as Limits.Drain says, and returns. What was
// answered is never lost; what was cut off is settled by its key.
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
		// Their contexts end, and what they had not committed is not done.
		err = server.Close()
	}
	s.stop()
	s.after.Wait()
	return err
}

// healthz says that the process is there.
func (s *Server) healthz(v *visit) error { return v.plain(http.StatusOK, "ok\n") }

// plain answers with a line for programs.
func (v *visit) plain(status int, text string) error {
	v.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	v.w.WriteHeader(status)
	_, _ = v.w.Write([]byte(text))
	return nil
}

// readyz says whether requests can be answered.
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
		// The tables of logins are those that migrate made last.
		_, err = s.book.List(ctx, "")
	}
	if err == nil {
		err = s.Engine.Searches(ctx)
	}
	switch {
	case errors.Is(err, stores.ErrSchema):
		return v.plain(http.StatusServiceUnavailable, "not migrated\n")
	case err != nil:
		return v.plain(http.StatusServiceUnavailable, "the store does not answer\n")
	}
	return v.plain(http.StatusOK, "ready\n")
}
