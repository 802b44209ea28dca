package llm

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
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
	adapted    adapted        // what this endpoint refuses otherwise
	asked      []byte         // the request before it was adapted
	sent       bool           // the request left the library
	written    atomic.Bool    // and reached the endpoint
	status     int
	refused    *refusal // the endpoint's own account
	retryAfter time.Duration
	broken     bool // the connection ended before the answer did
	done       bool // the stream said that it is over
	streamed   bool // the library expects a stream, whatever was asked for at last
	pieces     bool // the answer comes in pieces
	began      bool // something of it has come
	thought    bool // it had tokens of reasoning
	ghosts     bool // a call that is none stood beside others
	size       int  // of the request, in tokens as we guess
	calls      []gathered
	texts      [3]growing // what was said, thought and refused
	details    []any      // of the reasoning, beside the message
	beside     []string   // what the endpoint put beside each message of the request, and each call in it

	keeps             bool   // for Exchanged:
	carried, received []byte // the request as it was sent, and its answer
	reply             *Reply // what was made of it
}

type exchangeKey struct{}

// A transport stands between the protocol library and the network: it adds the fields that the
// library lacks, and bounds answers that the library would read without end.
type transport struct {
	next     http.RoundTripper
	maxBytes int64
	first    time.Duration // until the first byte of a stream
	whole    time.Duration // and of an answer in one piece
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
	r, streamed, err := x.complete(r)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
		WroteRequest: func(w httptrace.WroteRequestInfo) { x.written.Store(w.Err == nil) },
	}))
	first := t.whole // all of it comes at once
	if streamed {
		first = t.first
	}
	silent := time.AfterFunc(first, func() { cancel(errSilent) })
	resp, err := t.next.RoundTrip(r.WithContext(ctx))
	if err != nil {
		silent.Stop()
		if cause := context.Cause(ctx); errors.Is(cause, errSilent) {
			err = &Error{Kind: Late, Err: fmt.Errorf("%w within %s", errSilent, first)}
		}
		cancel(nil)
		return nil, err
	}
	x.status = resp.StatusCode
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		silent.Stop()
		cancel(nil)
		_ = resp.Body.Close()
		err := errElsewhere
		if to, wrong := resp.Location(); wrong == nil {
			err = fmt.Errorf("%w: it sends us to %s", errElsewhere, (&url.URL{Scheme: to.Scheme, Host: to.Host, Path: strings.TrimSuffix(to.Path, "/chat/completions")}).String())
		}
		return nil, &Error{Kind: Invalid, Err: err}
	}
	x.retryAfter = retryAfter(resp.Header, t.now())
	b := &body{ReadCloser: resp.Body, x: x, left: t.maxBytes, idle: t.idle, silent: silent, ctx: ctx, cancel: cancel}
	if err := x.look(resp, b); err != nil {
		_ = b.Close()
		return nil, err
	}
	return resp, nil
}

// complete adds to a request what the library does not know, and changes what the endpoint refuses.
func (x *exchange) complete(r *http.Request) (_ *http.Request, streamed bool, err error) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, false, err
	}
	if err := r.Body.Close(); err != nil {
		return nil, false, err
	}
	if text, err = withFields(text, x.extra, x.beside); err != nil {
		return nil, false, err
	}
	x.asked = text
	if text, err = x.adapted.applied(text); err != nil {
		return nil, false, err
	}
	var is struct {
		Stream bool `json:"stream"`
	}
	if err := json.Unmarshal(text, &is); err != nil {
		return nil, false, err
	}
	if x.keeps {
		x.carried = text
	}
	x.size = EstimateTokens(string(text))
	r = r.Clone(r.Context())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
	return r, is.Stream, nil
}

// look reads a refusal, in whatever form, and brings an answer into the one that the library expects.
func (x *exchange) look(resp *http.Response, b *body) error {
	if resp.StatusCode >= 400 {
		text, _ := io.ReadAll(io.LimitReader(b, mostRefusal)) // what can be read of it
		x.refused = readRefusal(resp.StatusCode, text)
		resp.Body = held{bytes.NewReader(text), b}
		return nil
	}
	in := bufio.NewReader(b)
	var c byte
	var err error
	for c = ' '; err == nil && strings.ContainsRune(" \t\r\n", rune(c)); {
		c, err = in.ReadByte()
	}
	if err == nil {
		err = in.UnreadByte()
	}
	if err != nil && err != io.EOF {
		resp.Body = held{failing{err}, b}
		return nil
	}
	var text []byte
	x.pieces = !strings.ContainsRune("{[<", rune(c)) && x.reply != nil
	if !x.pieces {
		if text, err = io.ReadAll(in); err != nil {
			resp.Body = held{failing{err}, b}
			return nil
		}
		if lines := severalLines(text); lines != nil && x.reply != nil {
			x.pieces, in = true, bufio.NewReader(bytes.NewReader(lines))
		}
	}
	switch {
	case x.pieces && x.streamed:
		resp.Body = &events{Closer: b, x: x, in: in}
		return nil
	case x.pieces:
		text, err = (&events{Closer: b, x: x, in: in}).whole()
	case c == '<':
		return x.failed(readRefusal(http.StatusNotFound, text))
	default:
		text, err = x.document(text)
	}
	resp.Body = held{bytes.NewReader(text), b}
	return err
}

// severalLines returns the pieces of an answer that come as JSON without the frame of events, one after the
// other or in a list, each on a line; nil if there is only one.
func severalLines(text []byte) (lines []byte) {
	var all []json.RawMessage
	if json.Unmarshal(text, &all) != nil {
		all = nil
		for in := json.NewDecoder(bytes.NewReader(text)); ; {
			var one json.RawMessage
			if in.Decode(&one) != nil {
				break
			}
			all = append(all, one)
		}
	}
	if len(all) < 2 {
		return nil
	}
	for _, one := range all {
		var line bytes.Buffer
		if json.Compact(&line, one) != nil {
			return nil
		}
		lines = append(append(lines, line.Bytes()...), '\n')
	}
	return lines
}

// A held is the rest of an answer, of which some is read.
type held struct {
	io.Reader
	io.Closer
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// withFields adds fields to a request's JSON, and to its messages and calls what the endpoint put beside
// them.
func withFields(text []byte, extra map[string]any, beside []string) ([]byte, error) {
	if len(extra) == 0 {
		return text, nil
	}
	if strings.Join(beside, "") != "" {
		value, err := ordered(text)
		if err != nil {
			return nil, err
		}
		body, _ := value.(*object)
		give := func(o *object) {
			if all, err := ordered([]byte(beside[0])); err == nil {
				for _, f := range *all.(*object) { // written by add and by whole and stream
					o.set(f.key, f.value)
				}
			}
			beside = beside[1:]
		}
		eachMessage(body, func(m *object) {
			give(m)
			calls, _ := m.list("tool_calls")
			for _, c := range calls {
				give(c.(*object))
			}
		})
		if text, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, fmt.Errorf("the request is no JSON object: %w", err)
	}
	for name, value := range extra {
		var err error
		if fields[name], err = json.Marshal(value); err != nil {
			return nil, err
		}
	}
	return json.Marshal(fields)
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
	if b.x.keeps && len(b.x.received) < mostKept {
		b.x.received = append(b.x.received, p[:n]...)
	}
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
	if s, err := strconv.ParseFloat(strings.TrimSuffix(text, "s"), 64); err == nil && s >= 0 && s < 1e7 { // some write parts of a second
		return time.Duration(s * float64(time.Second))
	}
	if at, err := http.ParseTime(text); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}
