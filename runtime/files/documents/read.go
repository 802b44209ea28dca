package documents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
)

// A request is the header that a child process reads. The bytes of the file follow it.
type request struct {
	Name   string `json:"name"`
	Size   int    `json:"size"`
	Limits Limits `json:"limits"`
}

// A frame is one line of a child's answer. The last one has a document or a
// failure.
type frame struct {
	Done     int       `json:"n,omitempty"` // pages that are read, of so many
	Total    int       `json:"of,omitempty"`
	Pieces   []Piece   `json:"p,omitempty"`
	Document *Document `json:"d,omitempty"`
	Failure  *Failure  `json:"f,omitempty"`
}

// Read reads a file in a child process and returns its content. The name determines the type of the
// file, and the bytes must agree. An error about the file is a *Failure; for a scan, Read returns
// both a Document and a *Failure.
func Read(ctx context.Context, name string, r io.Reader, limits Limits) (Document, error) {
	return read(ctx, name, r, limits, nil)
}

// Follow is Read with progress: tell is called with the number of pages, sheets or slides that are
// read, and their total. It may be nil.
func Follow(ctx context.Context, name string, r io.Reader, limits Limits, tell func(done, total int)) (Document, error) {
	return read(ctx, name, r, limits, tell)
}

// read is Read; a test makes its child misbehave by an environment variable.
func read(ctx context.Context, name string, r io.Reader, limits Limits, tell func(done, total int), env ...string) (Document, error) {
	limits = limits.orDefault()
	data, err := io.ReadAll(io.LimitReader(r, limits.Input+1))
	switch {
	case err != nil:
		return Document{}, err
	case int64(len(data)) > limits.Input:
		return Document{}, fail(TooLarge, "at most %d bytes are read", limits.Input)
	case len(data) == 0:
		return Document{}, &Failure{Reason: Empty}
	}
	if os.Getenv(ChildMark) != "" {
		// Without this, a program that forgets to call Child starts itself
		// without end.
		return Document{}, errors.New("documents: a child cannot start another; main has to call documents.Child first")
	}
	head, _ := json.Marshal(request{name, len(data), limits}) // of texts and numbers: it cannot fail
	self, err := os.Executable()
	if err != nil {
		return Document{}, err
	}
	if runtime.GOOS == "linux" {
		self = "/proc/self/exe" // the file may have been replaced since
	}
	timed, cancel := context.WithTimeout(ctx, limits.Wall)
	defer cancel()
	cmd := exec.CommandContext(timed, self)
	cmd.Args = []string{"verbatim-documents"}
	// The child does not get our environment, which may hold secrets.
	cmd.Env = append([]string{ChildMark + "=1", "GOMAXPROCS=2", "GOTRACEBACK=none"}, env...)
	cmd.Stdin = io.MultiReader(bytes.NewReader(append(head, '\n')), bytes.NewReader(data))
	cmd.SysProcAttr = dieWithParent()
	cmd.WaitDelay = time.Second
	said := &note{}
	cmd.Stderr = said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return Document{}, err
	}
	// The system kills the child when the thread that started it ends, so the
	// thread stays with us until the child is gone.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return Document{}, err
	}
	doc, answered, broken := receive(out, limits, tell)
	if broken != nil {
		cancel()
	}
	waited := cmd.Wait()
	if cmd.ProcessState == nil {
		return Document{}, waited
	}
	spent := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	var failure *Failure
	switch {
	case errors.As(broken, &failure):
		return doc, failure
	case answered:
		return doc, nil
	case ctx.Err() != nil:
		return Document{}, context.Cause(ctx)
	case timed.Err() != nil && broken == nil, spent > limits.CPU/10*9, strings.Contains(said.String(), "cpu limit"):
		return Document{}, fail(TimedOut, "%v", limits.Wall)
	case cmd.ProcessState.ExitCode() == exitMemory, lacksMemory(said.String()):
		return Document{}, fail(Memory, "%d MiB", limits.Memory>>20)
	case strings.Contains(said.String(), "stack exceeds"):
		return Document{}, fail(Loop, "they are nested without end")
	case broken != nil:
		return Document{}, fail(Crashed, "%v", broken)
	default:
		return Document{}, fail(Crashed, "%v", waited)
	}
}

// receive reads a child's answer. It trusts no length and no count in it.
func receive(out io.Reader, limits Limits, tell func(done, total int)) (doc Document, answered bool, err error) {
	limited := &io.LimitedReader{R: out, N: limits.Output + 1}
	lines := json.NewDecoder(limited)
	var pieces []Piece
	for {
		var f frame
		switch err := lines.Decode(&f); {
		case limited.N <= 0:
			return Document{}, false, fail(TooLarge, "its text is more than %d bytes", limits.Output)
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, os.ErrClosed):
			return Document{}, false, nil // os/exec closes the pipe of a child that it stopped
		case err != nil:
			return Document{}, false, errors.New("its answer is not one")
		}
		pieces = append(pieces, f.Pieces...)
		if tell != nil && f.Done > 0 && f.Done <= f.Total && f.Total <= limits.Pages {
			tell(f.Done, f.Total)
		}
		if f.Document != nil {
			doc = *f.Document
			doc.Pieces = pieces
		}
		if f.Failure != nil {
			if sentences[f.Failure.Reason] == "" {
				return Document{}, false, errors.New("its answer is not one")
			}
			return doc, true, f.Failure
		}
		if f.Document != nil {
			return doc, true, nil
		}
	}
}

// A note keeps the beginning of a failed child's output. It is searched for a word and shown to
// nobody: it may hold text of the file.
type note struct{ strings.Builder }

func (n *note) Write(p []byte) (int, error) {
	n.Builder.Write(p[:min(len(p), 4096-n.Len())])
	return len(p), nil
}

// lacksMemory reports whether a Go program says at its end that the system gave no memory, for its heap, its own tables or a thread.
func lacksMemory(said string) bool {
	return slices.ContainsFunc([]string{"out of memory", "cannot allocate memory", "failed to create new OS thread"}, func(s string) bool { return strings.Contains(said, s) })
}
