package guard

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// An address is the pipe to a server over HTTP.
type address struct {
	inbox
	at      string
	headers map[string]string
	client  *http.Client

	mu               sync.Mutex
	session, version string
}

func newAddress(ctx context.Context, at string, headers map[string]string) *address {
	ctx, stop := context.WithCancel(ctx)
	a := &address{inbox: inbox{ctx, stop, make(chan *message, 64)}, at: at, headers: headers}
	a.client = &http.Client{CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if r.URL.Host != via[0].URL.Host || len(via) > 3 {
			return errors.New("it sends us elsewhere") // with what is meant for it
		}
		return nil
	}}
	return a
}

// hear hands a message on, unless nobody listens any more.
func (a *address) hear(m *message) {
	select {
	case a.in <- m:
	case <-a.ctx.Done():
	}
}

func (a *address) write(m *message) error {
	if !m.asks() {
		return a.post(m)
	}
	go func() {
		if err := a.post(m); err != nil {
			answer := &message{ID: m.ID, lost: true}
			var dial *net.OpError
			var says *statusError
			if errors.As(err, &dial) && dial.Op == "dial" || errors.As(err, &says) {
				answer = &message{ID: m.ID, Error: errorOf(codeFailed, err.Error())} // it was not taken
			}
			a.hear(answer)
		}
	}()
	return nil
}

// A statusError is an answer of HTTP that is none of the protocol.
type statusError struct{ status string }

func (e *statusError) Error() string { return "the server answers " + e.status }

func (a *address) request(method string, body io.Reader) (*http.Request, error) {
	r, err := http.NewRequestWithContext(a.ctx, method, a.at, body)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for name, value := range map[string]string{"Mcp-Session-Id": a.session, "Mcp-Protocol-Version": a.version} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	for name, value := range a.headers {
		r.Header.Set(name, value)
	}
	return r, nil
}

// post sends a message, and hears what is answered.
func (a *address) post(m *message) error {
	r, err := a.request(http.MethodPost, bytes.NewReader(m.bytes()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := a.client.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		a.mu.Lock()
		a.session = id
		a.mu.Unlock()
	}
	stream := strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream")
	switch {
	case resp.StatusCode == http.StatusNotFound && r.Header.Get("Mcp-Session-Id") != "":
		defer a.stop() // it forgot the session
		return &statusError{resp.Status}
	case resp.StatusCode >= 300 && !stream:
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
		if said, err := parse(text); err == nil && bytes.Equal(said.ID, m.ID) {
			a.hear(said)
			return nil
		}
		return &statusError{resp.Status}
	case !m.asks():
		_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
		return nil
	case stream:
		if !a.events(resp.Body, m.ID) {
			return io.ErrUnexpectedEOF
		}
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, MaxMessage+1))
	if err != nil {
		return err
	}
	if len(text) > MaxMessage {
		a.hear(&message{ID: m.ID, Error: errorOf(codeFailed, (&tooLong{}).Error()+"; the server's answer is longer and is not passed on; what it did is done")})
		return nil
	}
	said, err := parse(text)
	if err == nil {
		a.hear(said)
	}
	return err
}

// events hears the messages of a stream, and reports whether the answer to a request was among them.
func (a *address) events(body io.Reader, id json.RawMessage) (answered bool) {
	in := bufio.NewReaderSize(body, 64<<10)
	var data []byte
	for {
		line, err := in.ReadBytes('\n')
		if len(line)+len(data) > MaxMessage {
			return answered
		}
		if text, is := bytes.CutPrefix(bytes.TrimRight(line, "\r\n"), []byte("data:")); is {
			data = append(append(data, bytes.TrimPrefix(text, []byte(" "))...), '\n')
		} else if len(bytes.TrimSpace(line)) == 0 && len(data) > 0 {
			if m, err := parse(data); err == nil {
				answered = answered || m.answers() && bytes.Equal(m.ID, id)
				a.hear(m)
			}
			data = nil
		}
		if err != nil {
			return answered
		}
	}
}

// greeted begins to hear what the server says by itself.
func (a *address) greeted(hello json.RawMessage) {
	var h struct{ ProtocolVersion string }
	_ = json.Unmarshal(hello, &h)
	a.mu.Lock()
	a.version = h.ProtocolVersion
	a.mu.Unlock()
	go func() {
		for wait := time.Second; a.ctx.Err() == nil; wait = min(2*wait, time.Minute) {
			r, err := a.request(http.MethodGet, nil)
			if err != nil {
				return
			}
			r.Header.Set("Accept", "text/event-stream")
			if resp, err := a.client.Do(r); err == nil {
				if resp.StatusCode != http.StatusOK {
					resp.Body.Close()
					return // it says nothing by itself
				}
				a.events(resp.Body, nil)
				resp.Body.Close()
			}
			select {
			case <-time.After(wait):
			case <-a.ctx.Done():
			}
		}
	}()
}

func (a *address) close() {
	if a.ctx.Err() != nil {
		return
	}
	if r, err := a.request(http.MethodDelete, nil); err == nil && r.Header.Get("Mcp-Session-Id") != "" {
		ctx, stop := context.WithTimeout(context.WithoutCancel(a.ctx), time.Second)
		defer stop()
		if resp, err := a.client.Do(r.WithContext(ctx)); err == nil {
			resp.Body.Close()
		}
	}
	a.stop()
}
