package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"sync"
)

// MaxLine is the greatest length of a message over a pipe, in bytes.
const MaxLine = 1 << 20

// lines writes the messages of a pipe, one per line. The library ends a connection at a line that it
// cannot read; here such a line is answered with an error, and reading continues. It also ends one
// whose input ends, and drops what it is doing; here the input ends when the calls are answered that
// came before, except those that wait for an answer of the client, which cannot come any more.
type lines struct {
	mu      sync.Mutex
	to      io.Writer
	calls   map[string]bool // of the client, that are not answered, by id
	asked   map[string]bool // of ours, that are not answered
	settled chan struct{}   // gets something whenever one of them is
}

// Write implements io.Writer: a message is written whole.
func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, err := l.to.Write(b)
	l.note(b, l.asked, l.calls)
	return n, err
}

// note counts a message: as one that is to be answered, or as an answer.
func (l *lines) note(text []byte, begun, ended map[string]bool) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Request json.RawMessage `json:"requestId"`
		} `json:"params"`
	}
	_ = json.Unmarshal(text, &m) // what is unlike that has no id, either
	switch {
	case m.Method == "notifications/cancelled":
		delete(begun, string(m.Params.Request)) // it need not be answered
	case len(m.ID) == 0:
		return
	case m.Method != "":
		begun[string(m.ID)] = true
	default:
		delete(ended, string(m.ID))
	}
	select {
	case l.settled <- struct{}{}:
	default:
	}
}

// finish waits for the answers to the calls that came.
func (l *lines) finish(ctx context.Context) {
	for {
		l.mu.Lock()
		left := len(l.calls) - len(l.asked)
		l.mu.Unlock()
		if left <= 0 {
			return
		}
		select {
		case <-l.settled:
		case <-ctx.Done():
			return
		}
	}
}

// Close implements io.Closer. The pipe is not ours to close.
func (l *lines) Close() error { return nil }

// refuses answers a line that is no message.
func (l *lines) refuses(code, text string) error {
	_, err := io.WriteString(l, `{"jsonrpc":"2.0","id":null,"error":{"code":`+code+`,"message":"`+text+`"}}`+"\n")
	return err
}

// newLines returns the lines of a pipe, and the reader of those that are messages.
func newLines(ctx context.Context, in io.Reader, out io.Writer) (*lines, io.Reader) {
	l := &lines{to: out, calls: make(map[string]bool), asked: make(map[string]bool), settled: make(chan struct{}, 1)}
	return l, &messages{lines: l, ctx: ctx, in: bufio.NewReaderSize(in, 64<<10)}
}

type messages struct {
	*lines
	ctx  context.Context
	in   *bufio.Reader
	left []byte // of a message that was not read to its end
}

// Read implements io.Reader.
func (m *messages) Read(p []byte) (int, error) {
	for len(m.left) == 0 {
		line, err := m.next()
		if err != nil {
			m.finish(m.ctx)
			return 0, err
		}
		m.left = line
	}
	n := copy(p, m.left)
	m.left = m.left[n:]
	return n, nil
}

// next returns the next line that is a message, with its line end; nil for one that was refused.
func (m *messages) next() ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := m.in.ReadSlice('\n')
		if long = long || len(line)+len(part) > MaxLine; !long {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && (long || len(bytes.TrimSpace(line)) == 0) {
			return nil, err // it ended, or broke off
		}
		break
	}
	switch text := bytes.TrimSpace(line); {
	case long:
		return nil, m.refuses("-32600", "a message is 1 MiB at most")
	case len(text) == 0:
		return nil, nil
	case text[0] == '[':
		return nil, m.refuses("-32600", "messages are sent one by one")
	case text[0] != '{' || !json.Valid(text):
		return nil, m.refuses("-32700", "that is no JSON")
	case !distinct(text):
		return nil, m.refuses("-32600", notTwice)
	case !isMessage(text):
		return nil, m.refuses("-32600", "that is no message of JSON-RPC 2.0")
	default:
		m.mu.Lock()
		m.note(text, m.calls, m.asked)
		m.mu.Unlock()
		return append(text, '\n'), nil
	}
}

// isMessage reports whether the library can read an object as a message.
func isMessage(text []byte) bool {
	var m struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  *string         `json:"method"`
		Result  json.RawMessage `json:"result"`
		Error   json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(text, &m); err != nil || m.Version != "2.0" {
		return false
	}
	if len(m.ID) > 0 && m.ID[0] != '"' {
		// The library reads a number as a float, and would answer another id.
		if n, err := strconv.ParseInt(string(m.ID), 10, 64); err != nil || max(n, -n) > 1<<53 {
			return false
		}
	}
	return m.Method != nil || len(m.ID) > 0 && (m.Result != nil || m.Error != nil)
}
