package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"verbatim/stores"
)

// A failure is what operators may know of an error of SQLite's: what was being
// done, and SQLite's own name for what went wrong. It holds no statement and no
// value.
type failure struct {
	doing string
	code  int
	text  string
}

func (f *failure) Error() string {
	return fmt.Sprintf("sqlite: %s: %s (code %d)", f.doing, f.text, f.code)
}

func isEOF(err error) bool { return err == io.EOF }

// resultCode returns SQLite's extended result code, zero when err is none of
// SQLite's.
func resultCode(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

// fault turns an error of the driver into one of ours. Errors that are ours
// already, and those of a context, pass unchanged.
func fault(doing string, err error) error {
	var e *sqlite.Error
	if err == nil || !errors.As(err, &e) {
		return err
	}
	code := e.Code()
	if code == lib.SQLITE_INTERRUPT {
		return context.Canceled
	}
	f := &failure{doing: doing, code: code, text: plainText(e)}
	switch code {
	case lib.SQLITE_CONSTRAINT_UNIQUE, lib.SQLITE_CONSTRAINT_PRIMARYKEY, lib.SQLITE_CONSTRAINT_ROWID:
		return because(stores.ErrDuplicate, f)
	}
	switch code & 0xff {
	case lib.SQLITE_CONSTRAINT, lib.SQLITE_MISMATCH, lib.SQLITE_TOOBIG:
		return because(stores.ErrInvalid, f)
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return because(stores.ErrConflict, f)
	case lib.SQLITE_ERROR:
		if _, what, ok := strings.Cut(e.Error(), unreadable+" "); ok {
			what, _, _ = strings.Cut(what, " (")
			return fmt.Errorf("%s: %w", what, stores.ErrInvalid)
		}
		if strings.Contains(e.Error(), "no such table") || strings.Contains(e.Error(), "no such column") || strings.Contains(e.Error(), "has no column named") {
			return because(stores.ErrSchema, f)
		}
	}
	return f
}

// commitFault judges a failed commit. A write that did not fit left nothing; an
// input or output error leaves it open, for what was written may be found whole
// after a restart.
func commitFault(err error) error {
	if resultCode(err)&0xff == lib.SQLITE_IOERR {
		return because(stores.ErrUnknown, &failure{doing: "commit", code: resultCode(err), text: "input or output error"})
	}
	return fault("commit", err)
}

// plainText keeps of a message what names no value: SQLite's name for the code,
// and of a broken constraint the table and columns.
func plainText(e *sqlite.Error) string {
	msg := e.Error()
	if i := strings.Index(msg, " constraint failed: "); i >= 0 && e.Code()&0xff == lib.SQLITE_CONSTRAINT {
		msg = msg[i+len(" constraint failed: "):]
		if j := strings.LastIndex(msg, " ("); j >= 0 {
			msg = msg[:j]
		}
		return "constraint on " + msg
	}
	if s, ok := sqlite.ErrorCodeString[e.Code()]; ok {
		return s
	}
	return sqlite.ErrorCodeString[e.Code()&0xff]
}

// because gives an error the text and the identity of one of ours, and keeps the
// cause for errors.As. The text is that of ours alone: users may see it.
func because(ours error, cause *failure) error { return &caused{ours, cause} }

type caused struct {
	ours  error
	cause *failure
}

func (c *caused) Error() string   { return c.ours.Error() }
func (c *caused) Unwrap() []error { return []error{c.ours, c.cause} }
