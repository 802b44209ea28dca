package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"sync"
)

// MaxLine is the greatest length of a message over a pipe, in bytes.
const MaxLine = 1 << 20

// lines writes the messages of a pipe, one per line. The library ends a connection at a line that it
// cannot read; here such a line is answered with an error, and reading continues.
type lines struct {
	mu sync.Mutex
	to io.Writer
}

// Write implements io.Writer: a message is written whole.
func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.Write(b)
}

// Close implements io.Closer. The pipe is not ours to close.
func (l *lines) Close() error { return nil }

// refuses answers a line that is no message.
func (l *lines) refuses(code, text string) error {
	_, err := io.WriteString(l, `{"jsonrpc":"2.0","id":null,"error":{"code":`+code+`,"message":"`+text+`"}}`+"\n")
	return err
}

// reader reads the lines that are messages.
func (l *lines) reader(in io.Reader) io.Reader {
	return &messages{lines: l, in: bufio.NewReaderSize(in, 64<<10)}
}

type messages struct {
	*lines
	in   *bufio.Reader
	left []byte // of a message that was not read to its end
}

// Read implements io.Reader.
func (m *messages) Read(p []byte) (int, error) {
	for len(m.left) == 0 {
		line, err := m.next()
		if err != nil {
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
