// Package upload takes files that people send. It keeps their bytes, tells their
// type by what is in them, has them looked at for harm, and lets go of what
// nobody used.
//
//	service := &upload.Service{Engine: engine, Files: store, Scanner: scanner}
//	sent, err := service.Receive(ctx, session, "Passport.pdf", body)
//	sent.Reference()                       // "upload://q3vn5…": what calls name it by
//
// What calls may do with a reference is decided at the engine's gate; see
// uploads.Upload.
//
// # One file on its way
//
// The bytes are read up to what the largest argument that the sender may fill
// takes, and hashed. The row of the upload is committed, PENDING, with an entry in
// the journal that tells the hash. Then the bytes are kept, under a name that the
// row knows; then they are scanned, as they were kept; then the verdict is noted.
// Wherever this is cut off, what is there is an upload that cannot be used, and
// Housekeep finishes it or lets it go.
//
// # What nobody learns
//
// The same bytes are kept once, whoever sends them. All senders are put through
// the same work and told the same: the file is read, written and flushed whether
// or not somebody had sent it before, and scanned each time. What is left is the
// difference between adding a row and finding one.
//
// # Collecting
//
// An upload that nothing used expires, and goes. Bytes to which no upload refers
// are marked as going, in a transaction that holds them against whoever might
// refer to them; then deleted; then forgotten. Who sends the same bytes meanwhile
// keeps them anew, under another name, so that a late deletion takes nothing that
// is in use. Only bytes that this database once knew are ever deleted: databases
// can share a directory or a bucket.
package upload

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"verbatim/runtime"
	"verbatim/runtime/uploads"
	"verbatim/stores/files"

	"github.com/gabriel-vasile/mimetype"
)

// Unused is how long an upload waits to be used, where nothing else is said.
const Unused = 7 * 24 * time.Hour

// A Service takes files. Its fields are set before it is used and not after; it
// is safe for use by many goroutines.
type Service struct {
	Engine *runtime.Engine
	Files  files.Store
	// Scanner looks at files for harm. It must be named: NoScanner says that
	// nobody does.
	Scanner Scanner
	// Unused is how long an upload waits to be used; the package's Unused when
	// zero.
	Unused time.Duration
	// Clock tells the time; the system's when nil.
	Clock func() time.Time
	// Random makes references; it must not be predictable. The system's when nil.
	Random io.Reader
}

// A Refusal says to the sender why a file was not taken.
type Refusal struct {
	Code string // "upload-empty"
	Text string // a sentence without a full stop
	Next string // what to do
}

// Error implements error.
func (r *Refusal) Error() string { return r.Text }

// The codes of refusals.
const (
	CodeEmpty        = "upload-empty"
	CodeTooLarge     = "upload-too-large"
	CodeNotPermitted = "not-permitted"
	CodeType         = "upload-type"
)

// Receive takes a file from the session's principal. name is what they call it.
// It returns a *Refusal for a file that is not taken. Where the file was taken
// and could not be scanned, the upload is returned with an error: it waits for
// Housekeep.
func (s *Service) Receive(ctx context.Context, session *runtime.Session, name string, body io.Reader) (uploads.Upload, error) {
	if s.Scanner == nil {
		return uploads.Upload{}, errors.New("nothing says who looks at files for harm")
	}
	most := session.LargestUpload()
	if most == 0 {
		return uploads.Upload{}, &Refusal{CodeNotPermitted, "you may use no verb that takes a file", "verbatim explain says who may do what"}
	}
	return s.take(ctx, session, uploads.Upload{Name: name}, body, most)
}

// Keep keeps a file that a verb made for the session's principal, as one that they had
// sent. Where it cannot be used yet, it is an error.
func (s *Service) Keep(ctx context.Context, session *runtime.Session, verb, name string, content []byte) (uploads.Upload, error) {
	u, err := s.take(ctx, session, uploads.Upload{Name: name, MadeBy: verb}, bytes.NewReader(content), int64(len(content)))
	if err == nil && u.Verdict != uploads.Clean {
		err = errors.New("something harmful was found in it")
	}
	return u, err
}

func (s *Service) take(ctx context.Context, session *runtime.Session, u uploads.Upload, body io.Reader, most int64) (uploads.Upload, error) {
	taken, err := s.Files.Take(ctx, body, most)
	switch {
	case errors.Is(err, files.ErrEmpty):
		return uploads.Upload{}, &Refusal{CodeEmpty, "the file is empty", "send one that has something in it"}
	case errors.Is(err, files.ErrTooLarge):
		return uploads.Upload{}, tooLarge(most)
	case err != nil:
		return uploads.Upload{}, err
	}
	defer taken.Drop()
	if twoTypes(taken.Head) {
		return uploads.Upload{}, &Refusal{CodeType, "the file is a PDF to some programs and something else to others", "save it again as what it is, with the program that made it"}
	}
	id, tag, err := s.random()
	if err != nil {
		return uploads.Upload{}, err
	}
	lasts := s.Unused
	if lasts <= 0 {
		lasts = Unused
	}
	u.Name, u.Type, u.Size, u.Sum = Harmless(u.Name), Sniff(taken.Head), taken.Size, taken.Sum.String()
	if u, err = session.BeginUpload(ctx, u, id, tag.String(), lasts, s.drop); err != nil {
		return uploads.Upload{}, err
	}
	kept, err := nameOf(u)
	if err != nil {
		return u, err
	}
	if err := taken.Keep(ctx, kept); err != nil {
		return u, err
	}
	return s.scan(ctx, u)
}

// scan has the kept bytes of an upload scanned and notes the verdict, even if the caller has gone
// away meanwhile.
func (s *Service) scan(ctx context.Context, u uploads.Upload) (uploads.Upload, error) {
	verdict := uploads.Failed
	found, err := s.look(ctx, u)
	switch {
	case err == nil && found.Harmful:
		verdict = uploads.Infected
	case err == nil:
		verdict = uploads.Clean
	case ctx.Err() != nil:
		return u, ctx.Err() // it is pending, and nobody's fault
	}
	kept := u.Kept
	u, lost := s.Engine.Uploads().Judge(context.WithoutCancel(ctx), u.ID, verdict, s.Scanner.String())
	u.Kept = kept
	if lost != nil {
		return u, errors.Join(lost, err)
	}
	if err != nil {
		err = fmt.Errorf("the file could not be looked at for harm: %w", err)
	}
	return u, err
}

func (s *Service) look(ctx context.Context, u uploads.Upload) (Finding, error) {
	name, err := nameOf(u)
	if err != nil {
		return Finding{}, err
	}
	r, err := s.Files.Open(ctx, name, 0, -1)
	if err != nil {
		return Finding{}, err
	}
	defer r.Close()
	whole := &ending{Reader: r}
	found, err := s.Scanner.Scan(ctx, whole)
	if err == nil && !found.Harmful && !whole.ended {
		// Half a file that is clean says nothing of the other half; and only at its
		// end is it known that it is the file that was sent.
		_, err = io.Copy(io.Discard, whole)
	}
	return found, err
}

// ending notes whether a file was read to its end.
type ending struct {
	io.Reader
	ended bool
}

func (e *ending) Read(b []byte) (int, error) {
	n, err := e.Reader.Read(b)
	e.ended = e.ended || err == io.EOF
	return n, err
}

func nameOf(u uploads.Upload) (files.Name, error) {
	name, ok := files.ParseName(u.Sum + "-" + u.Kept)
	if !ok {
		return name, fmt.Errorf("the bytes of an upload are not kept: %w", files.ErrNotFound)
	}
	return name, nil
}

// Open opens a file by a reference: one that the engine handed to a service of this program,
// or that Session.Upload found for its owner;
// files.ErrNotFound where it is not there, not yet found harmless, or gone.
func (s *Service) Open(ctx context.Context, reference string) (name string, content io.ReadCloser, err error) {
	u, found, err := s.Engine.Uploads().Named(ctx, reference)
	if err == nil && !found {
		err = files.ErrNotFound
	}
	if err != nil {
		return "", nil, err
	}
	kept, err := nameOf(u)
	if err != nil {
		return "", nil, err
	}
	content, err = s.Files.Open(ctx, kept, 0, -1)
	return u.Name, content, err
}

func (s *Service) drop(ctx context.Context, u uploads.Upload) error {
	name, err := nameOf(u)
	if err != nil {
		return err
	}
	return s.Files.Delete(ctx, name)
}

// idLetters spell references: lower case, and nothing that looks like another.
var idLetters = base32.NewEncoding("abcdefghjkmnpqrstuvwxyz023456789").WithPadding(base32.NoPadding)

// random makes an id of 160 bits, and a tag.
func (s *Service) random() (id string, tag files.Tag, err error) {
	r := s.Random
	if r == nil {
		r = rand.Reader
	}
	var b [20]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return "", tag, err
	}
	if _, err := io.ReadFull(r, tag[:]); err != nil {
		return "", tag, err
	}
	return idLetters.EncodeToString(b[:]), tag, nil
}

func (s *Service) now() time.Time {
	if s.Clock != nil {
		return s.Clock()
	}
	return time.Now()
}

// Housekept says what Housekeep did.
type Housekept struct {
	Judged  map[string]int // verdicts on what had none
	Expired int            // uploads that nothing used
	Freed   int            // files deleted
	Bytes   int64          // how large they were
	Tidied  int            // what processes left that died
}

const (
	// settling is how long a file may be on its way before Housekeep takes its
	// sender for dead, and scans it.
	settling = 15 * time.Minute
	// page is how much is looked at at once.
	page = 100
)

// Housekeep scans what was not, and what was taken while nobody looked once somebody
// does; it forgets what expired, and deletes what nothing
// refers to. Without a scanner it leaves out the first. It is safe to call at any
// time, from any process, also at once. What fails is told, and left for the next
// time; it does not keep the rest from being done.
func (s *Service) Housekeep(ctx context.Context) (Housekept, error) {
	t := Housekept{Judged: map[string]int{}}
	var failed []error
	for after, more := "", s.Scanner != nil; more; {
		list, err := s.Engine.Uploads().Unjudged(ctx, s.now().Add(-settling), after, page, s.Scanner.String())
		if err != nil {
			return t, err
		}
		for _, u := range list {
			if ctx.Err() != nil {
				return t, ctx.Err()
			}
			judged, err := s.scan(ctx, u)
			if err != nil {
				failed = append(failed, err)
			}
			t.Judged[judged.Verdict]++
			after = u.ID
		}
		more = len(list) == page
	}
	var err error
	if t.Expired, err = s.Engine.Uploads().Forget(ctx); err != nil {
		return t, errors.Join(append(failed, err)...)
	}
	for more := true; more; {
		free, err := s.Engine.Uploads().Free(ctx, page)
		if err != nil {
			return t, errors.Join(append(failed, err)...)
		}
		more = len(free) == page
		for _, u := range free {
			if err := s.drop(ctx, u); err != nil {
				// It stays marked, and is tried the next time.
				failed, more = append(failed, err), false
				continue
			}
			if err := s.Engine.Uploads().ForgetContent(ctx, u); err != nil {
				return t, errors.Join(append(failed, err)...)
			}
			t.Freed, t.Bytes = t.Freed+1, t.Bytes+u.Size
		}
	}
	if t.Tidied, err = s.Files.Tidy(ctx, s.now().Add(-24*time.Hour)); err != nil {
		failed = append(failed, err)
	}
	return t, errors.Join(failed...)
}

// twoTypes reports whether a file would be read as a PDF, although it does not begin as
// one: readers look for the beginning of a PDF in the first 1024 bytes, whatever stands
// before it.
func twoTypes(head []byte) bool {
	at := bytes.Index(head[:min(len(head), 1024)], []byte("%PDF-"))
	return at > 0 && len(bytes.Trim(head[:at], "\ufeff \t\r\n\x00")) > 0
}

// Sniff tells the type of a file by how it begins: a media type without
// parameters.
func Sniff(head []byte) string {
	kind, _, _ := strings.Cut(mimetype.Detect(head).String(), ";")
	return kind
}
