package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"zombiezen.com/go/sqlite"

	"verbatim/stores"
	"verbatim/stores/sqlcore"
)

// A failure is what operators may know of a SQLite error: what was being done, and SQLite's own
// words and name for the error. It holds no statement and no value.
type failure struct {
	doing string
	code  sqlite.ResultCode
	text  string
}

func (f *failure) Error() string {
	return fmt.Sprintf("sqlite: %s: %s (%v, code %d)", f.doing, f.text, f.code, int32(f.code))
}

// A sqliteError is an error as SQLite words it. Its text may hold values.
type sqliteError struct {
	code sqlite.ResultCode
	msg  string
	at   int // offset in the statement, -1 if SQLite gives none
}

func (r *sqliteError) Error() string { return r.msg }

// raise converts an error of the library, whose types do not leave this package.
func raise(err error) error {
	if err == nil {
		return nil
	}
	r := &sqliteError{code: sqlite.ErrCode(err)}
	r.at, _ = sqlite.ErrorOffset(err)
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		err = inner // the outer ones quote the statement
	}
	r.msg = strings.TrimPrefix(err.Error(), r.code.Message()+": ")
	return r
}

// resultCode returns SQLite's extended result code, ResultOK for an error that is not SQLite's.
func resultCode(err error) sqlite.ResultCode {
	if r := (*sqliteError)(nil); errors.As(err, &r) {
		return r.code
	}
	return sqlite.ResultOK
}

// fault converts an error of SQLite's into one of ours. It returns our own errors, and those of a
// context, unchanged.
func fault(doing string, err error) error {
	var r *sqliteError
	if !errors.As(err, &r) {
		return err
	}
	f := &failure{doing: doing, code: r.code, text: r.code.Message()}
	switch r.code {
	case sqlite.ResultInterrupt:
		return context.Canceled
	case sqlite.ResultConstraintUnique, sqlite.ResultConstraintPrimaryKey, sqlite.ResultConstraintRowID:
		return refusedBy(stores.ErrDuplicate, stores.Taken, r)
	case sqlite.ResultConstraintNotNull:
		return refusedBy(stores.ErrInvalid, stores.Missing, r)
	case sqlite.ResultConstraintCheck:
		return refusedBy(stores.ErrInvalid, stores.Checked, r)
	case sqlite.ResultConstraintTrigger:
		return refusedBy(stores.ErrInvalid, stores.Raised, r)
	case sqlite.ResultConstraintForeignKey:
		if doing == "delete" {
			return refusedBy(stores.ErrInvalid, stores.ReferredTo, r)
		}
		return refusedBy(stores.ErrInvalid, stores.Referring, r)
	case resultConstraintDatatype:
		return refusedBy(stores.ErrInvalid, stores.Unfit, r)
	}
	switch r.code.ToPrimary() {
	case sqlite.ResultConstraint:
		return refusedBy(stores.ErrInvalid, stores.OtherReason, r)
	case sqlite.ResultMismatch, sqlite.ResultTooBig:
		return refusedBy(stores.ErrInvalid, stores.Unfit, r)
	case sqlite.ResultCorrupt:
		return sqlcore.Because(ErrDamaged, f)
	case sqlite.ResultBusy, sqlite.ResultLocked:
		return sqlcore.Because(stores.ErrConflict, f)
	case sqlite.ResultFull:
		return sqlcore.Because(stores.ErrFull, f)
	case sqlite.ResultReadOnly:
		return sqlcore.Because(stores.ErrStandby, f)
	case sqlite.ResultError:
		if what, ok := strings.CutPrefix(r.msg, unreadable); ok {
			return fmt.Errorf("%s: %w", what, errUnreadable)
		}
		if strings.Contains(r.msg, "no such table") || strings.Contains(r.msg, "no such column") || strings.Contains(r.msg, "has no column named") {
			return sqlcore.Because(stores.ErrSchema, f)
		}
	}
	return f
}

// Reasons why Open cannot open a file.
var (
	ErrNoDatabase = errors.New("the file is no SQLite database")
	ErrFile       = errors.New("the file may not be read and written")
	ErrFolder     = errors.New("the folder may not be written to") // SQLite keeps other files next to it
	ErrDisk       = errors.New("the disk is full, or fails")
)

// unopened returns the reason why the file at path cannot be opened.
func unopened(path string, err error) error {
	code := resultCode(err)
	switch err = fault("open", err); code.ToPrimary() {
	case sqlite.ResultNotADB:
		return sqlcore.Because(ErrNoDatabase, err)
	case sqlite.ResultFull, sqlite.ResultIOErr:
		return sqlcore.Because(ErrDisk, err)
	case sqlite.ResultReadOnly, sqlite.ResultCantOpen, sqlite.ResultPerm:
		if _, missing := os.Stat(path); missing != nil || code == sqlite.ResultReadOnlyDirectory {
			return sqlcore.Because(ErrFolder, err)
		}
		return sqlcore.Because(ErrFile, err)
	}
	return err
}

// errUnreadable says that a statement met a value in a table of others that it cannot compare.
var errUnreadable = fmt.Errorf("%w", stores.ErrInvalid)

// commitFault interprets the error of a commit. A write for which there was no room left nothing;
// after an input or output error the outcome is unknown, since the data may be complete after a
// restart.
func commitFault(err error) error {
	if code := resultCode(err); code.ToPrimary() == sqlite.ResultIOErr {
		return sqlcore.Because(stores.ErrUnknown, &failure{doing: "commit", code: code, text: code.Message()})
	}
	return fault("commit", err)
}

// resultConstraintDatatype is SQLITE_CONSTRAINT_DATATYPE, of STRICT tables.
const resultConstraintDatatype = sqlite.ResultConstraint | 12<<8

// refusedBy returns one of our errors with what SQLite says about it: names, and for a trigger its
// own words.
func refusedBy(ours error, why stores.Refusal, r *sqliteError) error {
	about := &stores.Refused{Why: why, Code: r.code.String()}
	_, what, named := strings.Cut(r.msg, " constraint failed: ")
	switch {
	case why == stores.Raised:
		about.Text = r.msg
	case why == stores.Checked:
		about.Constraint = what // or its expression
	case why == stores.Unfit: // "cannot store TEXT value in INTEGER column things.n"
		_, what, named = strings.Cut(r.msg, " column ")
	}
	for one := range strings.SplitSeq(what, ", ") {
		if table, column, ok := strings.Cut(one, "."); ok && named && why != stores.Checked && why != stores.Raised {
			about.Table, about.Columns = table, append(about.Columns, column)
		}
	}
	return sqlcore.Because(ours, about)
}
