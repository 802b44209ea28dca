// Package intake receives files from people. It keeps their bytes, determines their type from their
// content, lets them be scanned, and deletes unused ones.
//
//	service := &intake.Service{Engine: engine, Files: store, Scanner: scanner}
//	sent, err := service.Receive(ctx, session, "Passport.pdf", body)
//	sent.Reference()                       // "upload://q3vn5…": what calls name it by
//
// The engine's checks decide how calls may use a reference; see uploads.Upload.
//
// # One file on its way
//
// The bytes are read up to the limit of the largest argument that the sender may fill, and hashed.
// The row of the upload is committed, PENDING, with a journal entry that has the hash. Then the
// bytes are kept, under a name in the row; then the kept bytes are scanned; then the verdict is
// noted. If this is interrupted anywhere, the result is an upload that cannot be used, and
// Housekeep finishes or removes it.
//
// # What nobody learns
//
// Equal bytes are kept once, for all senders. Every sender gets the same treatment and the same
// reply: the file is read, written and flushed whether or not somebody had sent it before, and
// scanned each time. The only difference left is that between adding a row and finding one.
//
// # Collecting
//
// An unused upload expires, and is removed. Bytes without an upload are marked as going, in a
// transaction that locks out new references to them; then deleted; then forgotten. If the same
// bytes are sent meanwhile, they are kept anew, under another name, so that a late deletion removes
// nothing in use. Only bytes that this database once knew are ever deleted: databases can share a
// directory or a bucket.
package intake

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

	"verbatim/runtime/engine"
	"verbatim/runtime/state/uploads"
	"verbatim/stores/files"

	"github.com/gabriel-vasile/mimetype"

	"verbatim/stores"
)

// A Service takes files. Its fields are set before it is used and not after; it
// is safe for use by many goroutines.
type Service struct {
	Engine *engine.Engine
	Files  files.Store
	// Scanner scans files for harm. It must be set: NoScanner means that files are not scanned.
	Scanner Scanner
	// Clock tells the time; the system's when nil.
	Clock func() time.Time
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

// Receive receives a file from the session's principal. name is its name for them. It returns a
// *Refusal for a file that it does not accept. If the file was accepted but the scan failed, the
// upload is returned with an error: it waits for Housekeep.
func (s *Service) Receive(ctx context.Context, session *engine.Session, name string, body io.Reader) (uploads.Upload, error) {
	if s.Scanner == nil {
		return uploads.Upload{}, errors.New("nothing says who looks at files for harm")
	}
	most := session.Uploads().Largest()
	if most == 0 {
		return uploads.Upload{}, &Refusal{CodeNotPermitted, "you may use no verb that takes a file", "verbatim explain says who may do what"}
	}
	return s.take(ctx, session, uploads.Upload{Name: name}, body, most, uploads.Unused)
}

// Keep keeps a file that a verb made for the session's principal, like an upload of theirs, for a
// time. It returns an error if the file cannot be used yet.
func (s *Service) Keep(ctx context.Context, session *engine.Session, verb, name string, content []byte, lasts time.Duration) (uploads.Upload, error) {
	u, err := s.take(ctx, session, uploads.Upload{Name: name, MadeBy: verb}, bytes.NewReader(content), int64(len(content)), lasts)
	if err == nil && u.Verdict != uploads.Clean {
		err = errors.New("something harmful was found in it")
	}
	return u, err
}

func (s *Service) take(ctx context.Context, session *engine.Session, u uploads.Upload, body io.Reader, most int64, lasts time.Duration) (uploads.Upload, error) {
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
	id, tag := random()
	u.Name, u.Type, u.Size, u.Sum = Harmless(u.Name), Sniff(taken.Head), taken.Size, taken.Sum.String()
	if u, err = session.Uploads().Begin(ctx, u, id, tag.String(), lasts, s.drop); err != nil {
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
		return u, ctx.Err() // it stays pending, by no fault of the file
	}
	kept := u.Kept
	firm, end := stores.Detached(ctx)
	defer end()
	u, lost := s.Engine.Uploads().Judge(firm, u.ID, verdict, s.Scanner.String())
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
		// Half a clean file says nothing about the other half; and only its end shows that it is
		// the file that was sent.
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

// Open opens a file by a reference: one that the engine passed to a service of this program, or
// that Uploads.Get found for its owner. It returns files.ErrNotFound if the file is missing, not
// yet found harmless, or deleted.
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
func random() (id string, tag files.Tag) {
	var b [20]byte
	rand.Read(b[:]) // never fails, by its documentation
	rand.Read(tag[:])
	return idLetters.EncodeToString(b[:]), tag
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
}

const (
	// settling is the time after which Housekeep presumes that the sender of an unfinished file has
	// failed, and scans the file.
	settling = 15 * time.Minute
	// page is the number of uploads per query.
	page = 100
)

// Housekeep scans unscanned files, and once there is a scanner also those accepted without one; it
// removes expired uploads, and deletes bytes without references. Without a scanner it skips the
// scans. It is safe to call at any time, from any process, also concurrently. Failures are
// returned, and left for the next time; they do not stop the rest.
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
	if _, err = s.Files.Tidy(ctx, s.now().Add(-24*time.Hour)); err != nil {
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
