package sqlite_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"verbatim/stores"
	"verbatim/stores/sqlite"
	"verbatim/stores/storetest"
)

// SAFE-R13: a backup that is made while somebody writes holds all that was
// committed before it began, is whole in one file, and goes on from there.
func TestBackupHoldsOneMoment(t *testing.T) {
	t.Parallel()
	ctx, dir := context.Background(), t.TempDir()
	s, err := sqlite.Open(filepath.Join(dir, "live.db"), sqlite.BusyTimeout(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	e := counter()
	if plan, err := s.Migrate(ctx, []*stores.Entity{e}, true); err != nil || len(plan.Problems) > 0 {
		t.Fatal(plan, err)
	}
	err = s.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
		return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{{Op: stores.Insert, Entity: e, Key: stores.NewInt(1), Set: []stores.Assign{{Field: 1, Value: stores.NewInt(0)}}}}})
	})
	if err != nil {
		t.Fatal(err)
	}
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			if err := add(s, e, "writer"); err != nil {
				done <- err
				return
			}
		}
	}()
	var last int64
	for _, name := range []string{"one.db", "two.db", "three.db"} {
		for before := last; last <= before+3; {
			if last, _, err = s.Head(ctx); err != nil {
				t.Fatal(err)
			}
		}
		path := filepath.Join(dir, name)
		if err := s.Backup(ctx, path); err != nil {
			t.Fatal(err)
		}
		if err := s.Backup(ctx, path); !errors.Is(err, os.ErrExist) {
			t.Errorf("a second backup at the same place: %v, os.ErrExist wanted", err)
		}
		after, _, err := s.Head(ctx)
		if err != nil {
			t.Fatal(err)
		}
		b, err := sqlite.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := add(b, e, "restored"); err != nil {
			t.Error(err)
		}
		if n := int64(len(storetest.Whole(t, b, -1))) - 1; n < last || n > after {
			t.Errorf("%s holds %d entries, of %d to %d", name, n, last, after)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Error(err)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if err := s.Backup(gone, filepath.Join(dir, "four.db")); !errors.Is(err, context.Canceled) {
		t.Errorf("a backup that nobody wants any more: %v", err)
	}
	if err := s.Backup(ctx, filepath.Join(dir, "none", "five.db")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a backup to nowhere: %v", err)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".backup-*"))
	if _, e := os.Stat(filepath.Join(dir, "four.db")); err != nil || len(left) > 0 || !errors.Is(e, os.ErrNotExist) {
		t.Errorf("left behind: %v, four.db: %v, %v", left, e, err)
	}
}

// SAFE-R13: a store whose file is torn is not backed up as if it were whole, and no file is left.
func TestADamagedStoreIsNotBackedUp(t *testing.T) {
	t.Parallel()
	ctx, dir := t.Context(), t.TempDir()
	live := filepath.Join(dir, "live.db")
	s, err := sqlite.Open(live)
	if err != nil {
		t.Fatal(err)
	}
	e := counter()
	if _, err := s.Migrate(ctx, []*stores.Entity{e}, true); err != nil {
		t.Fatal(err)
	}
	for range 300 {
		if err := add(s, e, "writer"); err != nil && !errors.Is(err, stores.ErrNotFound) {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(live)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	for name, torn := range map[string]func([]byte) []byte{
		"a page of zeros":        func(b []byte) []byte { clear(b[len(b)-page:]); return b },
		"a page of noise":        func(b []byte) []byte { copy(b[len(b)-page:], strings.Repeat("noise ", page/6)); return b },
		"a page of zeros within": func(b []byte) []byte { clear(b[len(b)-2*page : len(b)-page]); return b },
		"the whole of it":        func(b []byte) []byte { return b },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file, copied := filepath.Join(dir, "torn.db"), filepath.Join(dir, "copy.db")
			if err := os.WriteFile(file, torn(slices.Clone(whole)), 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := sqlite.Open(file)
			if err == nil {
				defer s.Close()
				err = s.Backup(ctx, copied)
			}
			_, there := os.Stat(copied)
			if name == "the whole of it" {
				if err != nil || there != nil {
					t.Errorf("%v, %v", err, there)
				}
			} else if !errors.Is(err, sqlite.ErrDamaged) || !errors.Is(there, os.ErrNotExist) {
				t.Errorf("%v, and the copy: %v", err, there)
			}
		})
	}
}

// What is written to a file whose place another has taken would be lost: it is refused, and so is the look
// at the journal by which servers say that they are ready. (G80)
func TestAFileThatWasReplacedTakesNoWrites(t *testing.T) {
	t.Parallel()
	ctx, dir := context.Background(), t.TempDir()
	path, e := filepath.Join(dir, "live.db"), counter()
	s, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if plan, err := s.Migrate(ctx, []*stores.Entity{e}, true); err != nil || len(plan.Problems) > 0 {
		t.Fatal(plan, err)
	}
	insert := func(n int64) error {
		return s.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
			return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{{Op: stores.Insert, Entity: e, Key: stores.NewInt(n), Set: []stores.Assign{{Field: 1, Value: stores.NewInt(0)}}}}})
		})
	}
	if err := insert(1); err != nil {
		t.Fatal(err)
	}
	if err := s.Backup(ctx, filepath.Join(dir, "copy.db")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "copy.db"), path); err != nil {
		t.Fatal(err)
	}
	if err := insert(2); !errors.Is(err, stores.ErrReplaced) {
		t.Errorf("written to a file that nobody finds: %v", err)
	}
	if _, _, err := s.Head(ctx); !errors.Is(err, stores.ErrReplaced) {
		t.Errorf("the head of a file that nobody finds: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := insert(3); !errors.Is(err, stores.ErrReplaced) {
		t.Errorf("written to a file that was removed: %v", err)
	}
}
