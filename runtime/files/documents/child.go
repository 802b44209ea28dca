package documents

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// ChildMark is an environment variable of child processes alone.
const ChildMark = "VERBATIM_DOCUMENTS_CHILD"

// exitMemory is the exit code of a child that exceeded its memory.
const exitMemory = 97

// Child does the work of a child process and ends it. In any other process it
// does nothing. A program that calls Read calls Child first in its main, and
// in TestMain where its tests call Read.
func Child() {
	if os.Getenv(ChildMark) != "" {
		os.Exit(serve(os.Stdin, os.Stdout, extract))
	}
}

// serve reads a request, drops the rights that a child does not need, and does the work.
func serve(in io.Reader, out io.Writer, work func(*extractor, request, []byte) error) int {
	buffered := bufio.NewReader(in)
	line, err := buffered.ReadBytes('\n')
	var req request
	if err != nil || json.Unmarshal(line, &req) != nil {
		return 2
	}
	data := make([]byte, req.Size)
	if _, err := io.ReadFull(buffered, data); err != nil {
		return 2
	}
	confine(req.Limits)
	x := &extractor{limits: req.Limits, out: bufio.NewWriterSize(out, 1<<16), names: make(map[string]int)}
	err = safely(func() error { return work(x, req, data) })
	return x.end(err)
}

// confine sets the limits of this process, for good. The files and connections
// it may still open are none.
func confine(l Limits) {
	l.Memory -= program()
	debug.SetMemoryLimit(l.Memory / 4 * 3)
	debug.SetMaxStack(64 << 20)
	setLimits(l)
	// Where a system kills no child with its parent, the child outlives it by
	// no more than its time.
	time.AfterFunc(l.Wall+time.Second, func() { os.Exit(2) })
	go func() {
		sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
		for {
			metrics.Read(sample)
			if int64(sample[0].Value.Uint64()-sample[1].Value.Uint64()) > l.Memory {
				os.Exit(exitMemory)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
}

// program returns how much memory this program itself takes, which is at most the size of its file.
func program() int64 {
	self, err := os.Executable()
	if err != nil {
		return 0
	}
	file, err := os.Stat(self)
	if err != nil {
		return 0
	}
	return file.Size()
}

// safely turns a panic into an error. The panic's value may be text of the file, so it is dropped.
func safely(work func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &Failure{Damaged, "it cannot be understood"}
		}
	}()
	return work()
}

// An extractor reads one file, with all that is in it.
type extractor struct {
	limits Limits
	out    *bufio.Writer
	doc    Document

	batch  []Piece
	inside string // the attachments that we are in
	mails  int    // how many mails those are
	counts
	tables, paragraphs, line int
	ended                    ended
	body                     float64 // the size of the letters of a page's text
	section                  string
	names                    map[string]int // how many attachments have a name
	told                     time.Time      // when it was last said how far it is
}

// counts are the used parts of the limits.
type counts struct {
	unpacked              int64
	cells, entries, pages int
}

// add hands on a piece.
func (x *extractor) add(p Piece) error {
	p.At.Inside = x.inside
	if p.Cell != nil {
		if x.cells++; x.cells > x.limits.Cells {
			return fail(TooMany, "at most %d cells are read", x.limits.Cells)
		}
	}
	x.batch = append(x.batch, p)
	if len(x.batch) < 256 {
		return nil
	}
	return x.send(frame{})
}

// send writes the waiting pieces together with a frame.
func (x *extractor) send(f frame) error {
	f.Pieces = x.batch
	err := json.NewEncoder(x.out).Encode(f)
	x.batch = x.batch[:0]
	return err
}

// far tells how many pages are read, now and then.
func (x *extractor) far(done, total int) error {
	if x.inside != "" || time.Since(x.told) < 100*time.Millisecond {
		return nil
	}
	if x.told = time.Now(); x.send(frame{Done: done, Total: total}) != nil {
		return nil // nobody reads, which the end will show
	}
	return x.out.Flush()
}

// end tells how it went.
func (x *extractor) end(err error) int {
	f := frame{Document: &x.doc}
	if err != nil {
		if !errors.As(err, &f.Failure) {
			f.Failure = &Failure{Damaged, "it cannot be understood"}
		}
		if f.Failure.Reason != Scan {
			f.Document, x.batch = nil, nil
		}
	}
	if x.send(f) != nil || x.out.Flush() != nil {
		return 2
	}
	return 0
}

// page counts a page, a sheet or a slide.
func (x *extractor) page() error {
	if x.pages++; x.pages > x.limits.Pages {
		return fail(TooMany, "at most %d pages are read", x.limits.Pages)
	}
	return nil
}

// entry counts a file in an archive or a part of a mail.
func (x *extractor) entry() error {
	if x.entries++; x.entries > x.limits.Entries {
		return fail(TooMany, "at most %d parts are read", x.limits.Entries)
	}
	return nil
}

// unpack reads packed data and counts it.
func (x *extractor) unpack(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, x.limits.Unpacked-x.unpacked+1))
	if x.unpacked += int64(len(data)); x.unpacked > x.limits.Unpacked {
		return nil, fail(TooLarge, "it unpacks to more than %d bytes", x.limits.Unpacked)
	}
	return data, err
}
