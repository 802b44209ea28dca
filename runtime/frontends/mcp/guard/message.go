package guard

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"sync"
)

// A message is one message of JSON-RPC. Its parts stay as they came.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`

	lost bool // the answer to the request with this id will not come
}

// asks reports whether a message wants an answer.
func (m *message) asks() bool { return m.Method != "" && len(m.ID) > 0 }

// answers reports whether a message is an answer.
func (m *message) answers() bool { return m.Method == "" && len(m.ID) > 0 }

// bytes writes a message as one line.
func (m *message) bytes() []byte {
	b := make([]byte, 0, len(m.Params)+len(m.Result)+len(m.Error)+128)
	b = append(b, `{"jsonrpc":"2.0"`...)
	for _, part := range [...]struct {
		name string
		raw  []byte
	}{{"id", m.ID}, {"method", nil}, {"params", m.Params}, {"result", m.Result}, {"error", m.Error}} {
		if part.name == "method" && m.Method != "" {
			part.raw, _ = json.Marshal(m.Method)
		}
		if len(part.raw) > 0 {
			b = append(append(append(b, `,"`...), part.name...), `":`...)
			b = append(b, part.raw...)
		}
	}
	if bytes.ContainsAny(b, "\n\r") { // white space between the parts of a message over HTTP
		var line bytes.Buffer
		_ = json.Compact(&line, append(b, '}'))
		return append(line.Bytes(), '\n')
	}
	return append(b, "}\n"...)
}

// The codes of errors of JSON-RPC.
const (
	codeParse   = -32700
	codeRequest = -32600
	codeMethod  = -32601
	codeParams  = -32602
	codeFailed  = -32603
)

func errorOf(code int, text string) json.RawMessage {
	raw, _ := json.Marshal(map[string]any{"code": code, "message": text})
	return raw
}

// A pipe carries messages to and from a client or a server.
type pipe interface {
	// read returns the next message. After errNoMessage it can go on.
	read() (*message, error)
	write(*message) error
	close()
}

// An inbox is the reading half of a pipe whose messages come over HTTP, until its context ends.
type inbox struct {
	ctx  context.Context
	stop context.CancelFunc
	in   chan *message
}

func (i *inbox) read() (*message, error) {
	select {
	case m := <-i.in:
		return m, nil
	case <-i.ctx.Done():
		return nil, io.EOF
	}
}

// errNoMessage says that something else than a message came.
var errNoMessage = errors.New("that is no message of JSON-RPC 2.0")

// MaxMessage is the greatest length of a message, in bytes.
const MaxMessage = 32 << 20

// lines is a pipe with a message a line.
type lines struct {
	in   *bufio.Reader
	end  func()
	over func() // called when nothing comes any more; may be nil

	mu  sync.Mutex
	out io.Writer
}

func newLines(in io.ReadCloser, out io.Writer, end func()) *lines {
	if end == nil {
		end = func() { in.Close() }
	}
	return &lines{in: bufio.NewReaderSize(in, 64<<10), out: out, end: end}
}

// A tooLong is the error of an overlong line, with the id that stood at its beginning.
type tooLong struct{ id json.RawMessage }

func (*tooLong) Error() string {
	return fmt.Sprintf("a message is %d MiB at most", MaxMessage>>20)
}

func (*tooLong) Unwrap() error { return errNoMessage }

func (l *lines) read() (*message, error) {
	for {
		line, err := l.in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			whole := bytes.Clone(line)
			var end []byte
			long := false
			for errors.Is(err, bufio.ErrBufferFull) {
				line, err = l.in.ReadSlice('\n')
				if long = long || len(whole)+len(line) > MaxMessage; !long {
					whole = append(whole, line...)
				}
				end = append(end, line...)
				end = end[max(0, len(end)-4096):]
			}
			if long {
				id := idIn(whole[:min(len(whole), 4096)])
				if m := lastID().FindSubmatch(end); id == nil && m != nil {
					id = m[1]
				}
				return nil, &tooLong{id}
			}
			line = whole
		}
		if err != nil && (!errors.Is(err, io.EOF) || len(bytes.TrimSpace(line)) == 0) {
			if l.over != nil {
				l.over()
				l.over = nil
			}
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return parse(line)
		}
	}
}

// parse reads one message.
func parse(text []byte) (*message, error) {
	var m struct {
		Version string `json:"jsonrpc"`
		message
	}
	if json.Unmarshal(text, &m) != nil || m.Version != "2.0" || m.Method == "" && (len(m.ID) == 0 || m.Result == nil && m.Error == nil) {
		return nil, errNoMessage
	}
	if string(m.ID) == "null" {
		m.ID = nil
	}
	return &m.message, nil
}

// lastID finds the id of a long message that has it behind its parameters, as the makers' client does.
var lastID = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"id"\s*:\s*("[^"\\]*"|-?[0-9]+)\s*(?:,\s*"[a-z]+"\s*:\s*"[^"\\]*"\s*)*\}\s*$`)
})

// idIn finds the id of a message that was cut off, where it stands before the result; nil if it does
// not.
func idIn(text []byte) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(text))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	for {
		name, err := dec.Token()
		if err != nil {
			return nil
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return nil
		}
		if name == "id" {
			return value
		}
	}
}

func (l *lines) write(m *message) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := l.out.Write(m.bytes())
	return err
}

func (l *lines) close() { l.end() }

func number(n int64) json.RawMessage { return strconv.AppendInt(nil, n, 10) }
