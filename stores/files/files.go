package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"strings"
	"time"
)

// Errors that callers tell apart.
var (
	// ErrNotFound says that a file does not exist.
	ErrNotFound = errors.New("there is no such file")
	// ErrTooLarge says that the file has more bytes than the limit.
	ErrTooLarge = errors.New("the file is larger than allowed")
	// ErrEmpty says that the file has no bytes.
	ErrEmpty = errors.New("the file is empty")
	// ErrCorrupt says that a file's bytes do not match its name.
	ErrCorrupt = errors.New("the file is damaged")
	// ErrSent wraps an error in reading the sender's bytes: the sender is at fault and not the
	// store.
	ErrSent = errors.New("the file could not be read to its end")
)

// A Sum is a SHA-256.
type Sum [sha256.Size]byte

// String returns the sum in hexadecimal.
func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// ParseSum reads what String wrote, and nothing else.
func ParseSum(text string) (s Sum, ok bool) { return s, unhex(s[:], text) }

// A Tag distinguishes one stored copy of some bytes from another. It is random.
type Tag [8]byte

// String returns the tag in hexadecimal.
func (t Tag) String() string { return hex.EncodeToString(t[:]) }

// ParseTag reads what String wrote, and nothing else.
func ParseTag(text string) (t Tag, ok bool) { return t, unhex(t[:], text) }

// A Name is the name of a stored file.
type Name struct {
	Sum Sum
	Tag Tag
}

// String writes the name: 64 digits, a dash, 16 digits.
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

// unhex fills to from lower-case hexadecimal digits, of exactly that length.
func unhex(to []byte, text string) bool {
	if len(text) != 2*len(to) || strings.ContainsAny(text, "ABCDEF") {
		return false
	}
	_, err := hex.Decode(to, []byte(text))
	return err == nil
}

// An Info describes a stored file.
type Info struct {
	Name Name
	Size int64
}

// A Store keeps files. It is safe for use by many goroutines and processes.
type Store interface {
	// Take reads a file to its end, at most limit bytes of it: one more is ErrTooLarge, none is
	// ErrEmpty. Nobody can see the file until it is kept; it is gone when it is dropped or the
	// process ends. Take stops when ctx has ended and r returns; a reader that may block for ever
	// must be closed by the caller.
	Take(ctx context.Context, r io.Reader, limit int64) (*Taken, error)
	// Open reads n bytes of a file from an offset, or all that follow if n is negative. A read
	// from the beginning to the end is checked: see ErrCorrupt. A part that begins behind the end
	// is empty.
	Open(ctx context.Context, name Name, from, n int64) (io.ReadCloser, error)
	// Stat returns the size of a file.
	Stat(ctx context.Context, name Name) (Info, error)
	// Delete removes a file. It is no error if the file does not exist.
	Delete(ctx context.Context, name Name) error
	// List returns up to n files whose names sort after another name, in that order; the zero
	// Name sorts before all.
	List(ctx context.Context, after Name, n int) ([]Info, error)
	// Tidy removes files that were being taken by processes that died, if they began before a
	// time. It returns how many.
	Tidy(ctx context.Context, before time.Time) (int, error)
	// String says where the store is, for an operator; it holds nothing secret.
	String() string
	Close() error
}

// A Taken is a file that was read and is not kept yet. One goroutine may use it.
type Taken struct {
	Sum  Sum
	Size int64
	// Head is the beginning of the file, at most HeadSize bytes of it.
	Head []byte

	keep func(context.Context, *Taken, Name) error
	drop func()
}

// HeadSize is how much of a file's beginning is available for determining its type.
const HeadSize = 4096

// Keep makes the file visible to others, under a name with its own Sum. It may be called again
// when it failed, and not after it succeeded.
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

// Drop deletes the file, unless it was kept. It may be called at any time, and again.
func (t *Taken) Drop() {
	if t.drop != nil {
		t.drop()
	}
	t.keep, t.drop = nil, nil
}

// Copy copies a file into another store, under the same name. The copy is there once all of it was read
// and matches the name; otherwise it is ErrCorrupt, and nothing is there.
func Copy(ctx context.Context, from, to Store, name Name) error {
	r, err := from.Open(ctx, name, 0, -1)
	if err != nil {
		return err
	}
	defer r.Close()
	t, err := to.Take(ctx, r, math.MaxInt64-1)
	if errors.Is(err, ErrEmpty) { // which no file is that was kept
		return ErrCorrupt
	}
	if err != nil {
		return err
	}
	defer t.Drop()
	return t.Keep(ctx, name)
}

// bufferSize is the size of the buffer for copying a file.
const bufferSize = 64 << 10

// take copies r to w. It enforces the limit.
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

// A checked is a whole file that is compared with its name as it is read.
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
