package mcp

import (
	"context"
	"errors"
	"time"

	"verbatim/runtime/protocols/tools"
)

// An owner is the principal on whose behalf a server is called.
type owner struct{ server, principal string }

// A connection is the way to a server that stays open for one principal: a server may remember one
// call in the next, as a browser, a database or a basket does. Calls wait for one another. A server
// that has ended is started again, and the next call is told so, with ErrRestarted, before anything
// is asked.
type connection struct {
	turn chan struct{} // holds something while a call uses the connection
	open *conversation // nil until it is needed
	used time.Time
}

// keeping calls fn with the principal's connection.
func (s *Servers) keeping(ctx context.Context, server string, config Server, fn func(context.Context, peer) error) error {
	of := owner{server, tools.Principal(ctx)}
	s.mu.Lock()
	k := s.kept[of]
	if k == nil {
		k = &connection{turn: make(chan struct{}, 1)}
		s.kept[of] = k
	}
	s.mu.Unlock()
	s.sweep()
	select {
	case k.turn <- struct{}{}:
	case <-ctx.Done():
		return plain(ctx, config, "", ctx.Err())
	}
	defer func() {
		k.used = time.Now()
		<-k.turn
	}()
	if k.open != nil {
		select {
		case <-k.open.gone:
			s.drop(of, k)
		default:
		}
	}
	if k.open == nil {
		var err error
		if k.open, err = s.dial(ctx, config); err != nil {
			return err
		}
	}
	c := k.open
	stop := c.within(ctx)
	err := fn(ctx, c)
	stop()
	if err == nil || sound(ctx, err) {
		return err
	}
	return plain(ctx, config, s.drop(of, k), err)
}

// sound reports whether a connection can be used after an error of a call.
func sound(ctx context.Context, err error) bool {
	_, _, says := refusal(err)
	return says || errors.Is(err, tools.ErrChanged) || errors.Is(err, tools.ErrNone) || errors.Is(err, tools.ErrRestarted) || errors.Is(ctx.Err(), context.Canceled)
}

// drop ends a connection, and returns what the program wrote last. The caller has the turn.
func (s *Servers) drop(of owner, k *connection) string {
	c := k.open
	k.open = nil
	if c == nil {
		return ""
	}
	if c.calls > 0 {
		s.mu.Lock()
		s.ended[of] = true
		s.mu.Unlock()
	}
	return c.end()
}

// lost reports, once, whether the server has ended since the principal's last call.
func (s *Servers) lost(ctx context.Context, server string) bool {
	of := owner{server, tools.Principal(ctx)}
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.ended[of]
	delete(s.ended, of)
	return was
}

// sweep ends the connections that nobody has used for a while.
func (s *Servers) sweep() {
	if s.opt.Idle > 0 {
		s.endAll(func(k *connection) bool { return time.Since(k.used) > s.opt.Idle })
	}
}

// Close ends all connections that no call uses.
func (s *Servers) Close() { s.endAll(func(*connection) bool { return true }) }

func (s *Servers) endAll(which func(*connection) bool) {
	s.mu.Lock()
	all := make(map[owner]*connection, len(s.kept))
	for of, k := range s.kept {
		all[of] = k
	}
	s.mu.Unlock()
	for of, k := range all {
		select {
		case k.turn <- struct{}{}:
			if k.open != nil && which(k) {
				s.drop(of, k)
			}
			<-k.turn
		default: // in use
		}
	}
}
