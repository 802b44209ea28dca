package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"
	"time"
)

// Errors that callers tell apart.
var (
	// ErrNotFound answers for a file that is not there.
	ErrNotFound = errors.New("there is no such file")
	// ErrTooLarge says that there was more than the limit.
	ErrTooLarge = errors.New("the file is larger than allowed")
	// ErrEmpty says that there was not a single byte.
	ErrEmpty = errors.New("the file is empty")
	// ErrCorrupt says that bytes are not what their name says.
	ErrCorrupt = errors.New("the file is damaged")
	// ErrSent wraps what went wrong while the sender's bytes were read: it is the
	// sender's trouble and not the store's.
	ErrSent = errors.New("the file could not be read to its end")
)

// A Sum is a SHA-256.
type Sum [sha256.Size]byte

// String is the sum in hexadecimal.
func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// ParseSum reads what String wrote, and nothing else.
func ParseSum(text string) (s Sum, ok bool) { return s, unhex(s[:], text) }

// A Tag tells one keeping of some bytes from another. It is random.
type Tag [8]byte

// String is the tag in hexadecimal.
func (t Tag) String() string { return hex.EncodeToString(t[:]) }

// ParseTag reads what String wrote, and nothing else.
func ParseTag(text string) (t Tag, ok bool) { return t, unhex(t[:], text) }

// A Name is what a file is kept under.
type Name struct {
	Sum Sum
	Tag Tag
}

// String is the name as it is spelt: 64 digits, a dash, 16 digits.
func (n Name) String() string { return n.Sum.String() + "-" + n.Tag.String() }

// ParseName reads what String wrote, and nothing else.
func ParseName(text string) (n Name, ok bool) {
	sum, tag, found := strings.Cut(text, "-")
	if !found {
		return n, false
	}
	if n.Sum, ok = ParseSum(sum); ok {
		n.Tag, ok = ParseTag(tag)
	}
	if !ok {
		return Name{}, false
	}
	return n, true
}

// unhex fills to with lower-case digits that stand for exactly that much.
func unhex(to []byte, text string) bool {
	if len(text) != 2*len(to) || strings.ContainsAny(text, "ABCDEF") {
		return false
	}
	_, err := hex.Decode(to, []byte(text))
	return err == nil
}

// An Info says what is kept.
type Info struct {
	Name Name
	Size int64
}

// A Store keeps files. It is safe for use by many goroutines and processes.
type Store interface {
	// Take reads a file to its end, at most limit bytes of it: one more is
	// ErrTooLarge, none is ErrEmpty. What is taken is not there for anybody until
	// it is kept, and gone when it is dropped or the process ends. It stops when
	// ctx ends, as soon as r gives something; a reader that may block for ever is
	// the caller's to close.
	Take(ctx context.Context, r io.Reader, limit int64) (*Taken, error)
	// Open reads n bytes of a file from an offset, or, where n is negative, all
	// that follow. Read from the beginning to the end, it is checked: see
	// ErrCorrupt. A part that begins behind the end is empty.
	Open(ctx context.Context, name Name, from, n int64) (io.ReadCloser, error)
	// Stat says how large a file is.
	Stat(ctx context.Context, name Name) (Info, error)
	// Delete removes a file. That it is not there is not an error.
	Delete(ctx context.Context, name Name) error
	// List returns up to n files whose names are spelt behind another's, in that
	// order; the zero Name stands before all.
	List(ctx context.Context, after Name, n int) ([]Info, error)
	// Tidy removes what was being taken by processes that died, where it began
	// before a time. It returns how much.
	Tidy(ctx context.Context, before time.Time) (int, error)
	// String says where it is, for an operator; it holds nothing secret.
	String() string
	Close() error
}

// A Taken is a file that was read and is not kept yet. It is for one goroutine.
type Taken struct {
	Sum  Sum
	Size int64
	// Head is how the file begins, at most HeadSize bytes of it.
	Head []byte

	keep func(context.Context, *Taken, Name) error
	drop func()
}

// HeadSize is how much of a file's beginning is at hand to tell its type by.
const HeadSize = 4096

// Keep makes the file one that others see, under a name with its own Sum. It may
// be called again when it failed, and not after it succeeded.
func (t *Taken) Keep(ctx context.Context, name Name) error {
	switch {
	case name.Sum != t.Sum:
		return fmt.Errorf("the name is not that of these bytes: %w", ErrCorrupt)
	case t.keep == nil:
		return errors.New("what was taken is kept or dropped already")
	}
	if err := t.keep(ctx, t, name); err != nil {
		return err
	}
	t.Drop()
	return nil
}

// Drop forgets the file, unless it was kept. It may be called at any time, and
// again.
func (t *Taken) Drop() {
	if t.drop != nil {
		t.drop()
	}
	t.keep, t.drop = nil, nil
}

// bufferSize is what a copy holds of a file in memory.
const bufferSize = 64 << 10

// take copies r to w. It is where the limit is kept.
func take(ctx context.Context, t *Taken, w io.Writer, r io.Reader, limit int64) error {
	sum := sha256.New()
	buf := make([]byte, bufferSize)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		// One byte over the limit is enough to know.
		want := buf
		if left := limit - t.Size + 1; left < int64(len(want)) {
			want = want[:left]
		}
		n, err := r.Read(want)
		if n < 0 || n > len(want) {
			return fmt.Errorf("%w: its reader counts wrongly", ErrSent)
		}
		if t.Size += int64(n); t.Size > limit {
			return ErrTooLarge
		}
		if more := HeadSize - len(t.Head); more > 0 {
			t.Head = append(t.Head, want[:min(n, more)]...)
		}
		sum.Write(want[:n])
		if _, err := w.Write(want[:n]); err != nil {
			return err
		}
		switch {
		case err == io.EOF && t.Size == 0:
			return ErrEmpty
		case err == io.EOF:
			sum.Sum(t.Sum[:0])
			return nil
		case err != nil && ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return fmt.Errorf("%w: %w", ErrSent, err)
		}
	}
}

// checked is a whole file on its way, held against its name.
type checked struct {
	io.ReadCloser
	sum  hash.Hash
	want Sum
}

func check(r io.ReadCloser, want Sum) io.ReadCloser { return &checked{r, sha256.New(), want} }

func (c *checked) Read(b []byte) (int, error) {
	n, err := c.ReadCloser.Read(b)
	c.sum.Write(b[:n])
	if err == io.EOF && Sum(c.sum.Sum(nil)) != c.want {
		err = ErrCorrupt
	}
	return n, err
}
