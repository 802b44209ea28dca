package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// transport makes the way to a server. What it returns beside it ends the
// conversation, and tells the last that a program wrote to its standard error.
func (s *Servers) transport(ctx context.Context, config Server, o *recorder) (sdk.Transport, func(*sdk.ClientSession) string, error) {
	if config.URL != "" {
		return s.address(ctx, config, o)
	}
	cmd := exec.Command(config.Command[0], config.Command[1:]...)
	cmd.Env = []string{"PATH=" + s.opt.Env("PATH")}
	for _, name := range config.Env {
		value := s.opt.Env(name)
		if value == "" {
			return nil, nil, fmt.Errorf("the variable %s, which it is given, is not set", name)
		}
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	group(cmd)
	wrote := &Tail{}
	cmd.Stderr = wrote
	cmd.WaitDelay = time.Second // its children may still hold its pipes
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, errors.New("its program cannot be started: " + reason(err))
	}
	// A program that does not answer in time is killed in time, whatever the library is waiting for.
	stop := context.AfterFunc(ctx, func() { kill(cmd) })
	end := func(session *sdk.ClientSession) string {
		stop()
		in.Close()
		kill(cmd)
		_ = cmd.Wait() // it was killed: there is nothing to learn
		if session != nil {
			_ = session.Close()
		}
		return wrote.Text()
	}
	return &sdk.IOTransport{Reader: &listening{ReadCloser: out, o: o}, Writer: in, MaxLineLength: config.MaxAnswer + 4096}, end, nil
}

// reason leaves out what exec puts before the cause.
func reason(err error) string {
	var e *exec.Error
	if errors.As(err, &e) {
		err = e.Err
	}
	return err.Error()
}

// listening is the output of a server, which is also recorded.
type listening struct {
	io.ReadCloser
	o *recorder
}

func (l *listening) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	l.o.hear(p[:n])
	return n, err
}

// A Tail keeps the end of the text that is written to it, and passes all of it on if To is set.
type Tail struct {
	To   io.Writer
	mu   sync.Mutex
	kept []byte
}

const maxTail = 300

// Write implements io.Writer. It never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p[max(0, len(p)-maxTail):]...)
	t.kept = t.kept[max(0, len(t.kept)-maxTail):]
	if t.To != nil {
		_, _ = t.To.Write(p)
	}
	return len(p), nil
}

// Text returns the end of what was written.
func (t *Tail) Text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(strings.TrimSpace(string(t.kept)), "\uFFFD")
}

// refusal extracts code and text from a server's error response.
func refusal(err error) (code int64, text string, ok bool) {
	var e *jsonrpc.Error
	if !errors.As(err, &e) {
		return 0, "", false
	}
	return e.Code, e.Message, true
}
