package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"zombiezen.com/go/sqlite"
)

// pagesAtOnce is how many pages a backup copies between two checks for cancellation.
const pagesAtOnce = 1024

// ErrDamaged says that the file of a store is not what SQLite wrote.
var ErrDamaged = errors.New("the file of the store is damaged")

// Backup copies the store, as it is at one moment, into a new file, while others write. The file
// appears at path only once it is complete. An existing file is left alone, and is the error
// os.ErrExist; a damaged store is not copied, and is ErrDamaged. Backup reads the store twice,
// the first time with SQLite's quick_check, which finds torn or missing pages. It does not find
// values that somebody changed; log verify does.
func (s *Store) Backup(ctx context.Context, path string) (err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("sqlite: %w", err)
	}
	if _, err := os.Lstat(path); err == nil {
		return os.ErrExist
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".backup-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	part := filepath.Join(dir, "part")
	err = s.read(ctx, func(c *conn) error {
		// The snapshot begins with the first read, and is kept to the end: a backup of a file
		// that changes meanwhile would begin again and again.
		if _, err := c.exists("SELECT 1 FROM sqlite_schema", nil); err != nil {
			return fault("backup", err)
		}
		// Otherwise the damage would be found only when the copy is needed.
		bad := false
		err := c.query(ctx, "PRAGMA quick_check(1)", nil, func(found *sqlite.Stmt) error {
			bad = bad || found.ColumnText(0) != "ok"
			return nil
		})
		if err != nil {
			return fault("backup", err)
		}
		if bad {
			return ErrDamaged
		}
		return fault("backup", c.copyTo(ctx, part))
	})
	if err != nil {
		return err
	}
	if err := os.Chmod(part, 0o600); err != nil { // it holds everything that must be kept private
		return err
	}
	if err := os.Rename(part, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func (c *conn) copyTo(ctx context.Context, path string) (err error) {
	to, err := open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, shut(to)) }()
	copying, err := sqlite.NewBackup(to, "", c.db, "")
	if err != nil {
		return raise(err)
	}
	defer copying.Close()
	for more := true; more && err == nil; {
		if err = ctx.Err(); err == nil {
			more, err = copying.Step(pagesAtOnce)
			err = raise(err)
		}
	}
	return err
}

// syncDir makes the names in a directory survive a power cut.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// InUse reports whether anybody has the file open, in this program or another.
func InUse(path string) (used bool, err error) {
	db, err := open(path)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, shut(db)) }()
	db.SetBusyTimeout(0)
	// A lone connection may lock the file exclusively, also one with a write-ahead log.
	for _, statement := range [...]string{"PRAGMA locking_mode=EXCLUSIVE", "BEGIN EXCLUSIVE", "ROLLBACK"} {
		st, _, err := db.PrepareTransient(statement)
		if err == nil {
			for more := true; more && err == nil; {
				more, err = st.Step()
			}
			err = errors.Join(err, st.Finalize())
		}
		if resultCode(raise(err)).ToPrimary() == sqlite.ResultBusy {
			return true, nil
		}
		if err != nil {
			return false, raise(err)
		}
	}
	return false, nil
}
