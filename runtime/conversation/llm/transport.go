package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

var (
	errLate    = errors.New("no complete answer in time")
	errSilent  = errors.New("the answer fell silent")
	errTooMuch = errors.New("the answer is longer than allowed")
	// A redirect would take the key, and what people wrote, to another place.
	errElsewhere = errors.New("the endpoint sends us elsewhere; give the address it means as the base URL")
)

// An exchange holds the facts about one request and its answer that the protocol library does not
// report.
type exchange struct {
	extra      map[string]any // fields that the library does not know
	sent       bool           // the request left the library
	status     int
	retryAfter time.Duration
	broken     bool // the connection ended before the answer did
}

type exchangeKey struct{}

// A transport stands between the protocol library and the network: it adds the fields that the
// library lacks, and bounds answers that the library would read without end.
type transport struct {
	next     http.RoundTripper
	maxBytes int64
	idle     time.Duration
	now      func() time.Time
}

// RoundTrip sends a request of the library.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	x, _ := r.Context().Value(exchangeKey{}).(*exchange)
	if x == nil {
		x = &exchange{}
	}
	x.sent = true
	if len(x.extra) > 0 {
		var err error
		if r, err = withFields(r, x.extra); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	silent := time.AfterFunc(t.idle, func() { cancel(errSilent) })
	resp, err := t.next.RoundTrip(r.WithContext(ctx))
	if err != nil {
		silent.Stop()
		if cause := context.Cause(ctx); errors.Is(cause, errSilent) {
			err = &Error{Kind: Late, Err: errSilent}
		}
		cancel(nil)
		return nil, err
	}
	x.status = resp.StatusCode
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		silent.Stop()
		cancel(nil)
		_ = resp.Body.Close()
		return nil, &Error{Kind: Invalid, Err: errElsewhere}
	}
	x.retryAfter = retryAfter(resp.Header, t.now())
	resp.Body = &body{ReadCloser: resp.Body, x: x, left: t.maxBytes, idle: t.idle, silent: silent, ctx: ctx, cancel: cancel}
	return resp, nil
}

// withFields adds fields to a request's JSON body.
func withFields(r *http.Request, extra map[string]any) (*http.Request, error) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if err := r.Body.Close(); err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, fmt.Errorf("the request is no JSON object: %w", err)
	}
	for name, value := range extra {
		if fields[name], err = json.Marshal(value); err != nil {
			return nil, err
		}
	}
	if text, err = json.Marshal(fields); err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
	return r, nil
}

// A body gives up on an answer that is too long or falls silent.
type body struct {
	io.ReadCloser
	x      *exchange
	left   int64
	idle   time.Duration
	silent *time.Timer
	ctx    context.Context
	cancel context.CancelCauseFunc
}

func (b *body) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, &Error{Kind: Garbled, Err: errTooMuch}
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	b.silent.Reset(b.idle)
	if err != nil && err != io.EOF {
		b.x.broken = true
		if errors.Is(context.Cause(b.ctx), errSilent) {
			err = &Error{Kind: Late, Err: errSilent}
		}
	}
	return n, err
}

func (b *body) Close() error {
	b.silent.Stop()
	b.cancel(nil)
	return b.ReadCloser.Close()
}

// retryAfter reads the time after which the endpoint accepts the next request: the header of RFC
// 9110, seconds or a date, and the finer one of OpenAI.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseInt(h.Get("Retry-After-Ms"), 10, 64); err == nil && ms >= 0 && ms < 1e10 {
		return time.Duration(ms) * time.Millisecond
	}
	text := h.Get("Retry-After")
	if s, err := strconv.ParseInt(text, 10, 64); err == nil && s >= 0 && s < 1e7 {
		return time.Duration(s) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}
