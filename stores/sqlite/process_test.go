package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"verbatim/stores"
	"verbatim/stores/sqlite"
	"verbatim/stores/storetest"
)

// counter is a table of one row, which everybody adds to.
func counter() *stores.Entity {
	return &stores.Entity{Name: "counter", Table: "counter", Managed: true, Access: stores.ForAll, Fields: []stores.Field{
		{Name: "id", Column: "id", Kind: stores.Int, Required: true},
		{Name: "n", Column: "n", Kind: stores.Int, Required: true},
	}}
}

// add reads the counter, adds one, and journals the result.
func add(s stores.Store, e *stores.Entity, who string) error {
	ctx := context.Background()
	return s.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
		row, err := tx.Get(ctx, e, stores.NewInt(1))
		if err != nil {
			return err
		}
		n := stores.NewInt(row.Values[1].Int() + 1)
		return tx.Apply(ctx, stores.Batch{
			Changes: []stores.Change{{Op: stores.Update, Entity: e, Key: stores.NewInt(1), Set: []stores.Assign{{Field: 1, Value: n}}, Before: row.Values, Guard: []int{1}}},
			Entries: []stores.Entry{{Principal: who, Changes: n.Text()}},
		})
	})
}

const inChild = "TEST_SQLITE_FILE"

// Two processes on one file lose no update and fork no chain.
func TestTwoProcesses(t *testing.T) {
	const each = 40
	if path := os.Getenv(inChild); path != "" {
		s, err := sqlite.Open(path, sqlite.BusyTimeout(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for range each {
			if err := add(s, counter(), "child "+strconv.Itoa(os.Getpid())); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	t.Parallel()
	path := filepath.Join(t.TempDir(), "shared.db")
	s, err := sqlite.Open(path, sqlite.BusyTimeout(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx := context.Background()
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
	var children []*exec.Cmd
	for range 2 {
		c := exec.Command(os.Args[0], "-test.run=^TestTwoProcesses$")
		c.Env = append(os.Environ(), inChild+"="+path)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		children = append(children, c)
	}
	for range each {
		if err := add(s, e, "parent"); err != nil {
			t.Error(err)
		}
	}
	for _, c := range children {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	entries := storetest.Whole(t, s, 3*each)
	who := map[string]bool{}
	for i, entry := range entries {
		who[entry.Principal] = true
		if entry.Changes != fmt.Sprint(i+1) {
			t.Fatalf("entry %d committed %s", entry.Seq, entry.Changes)
		}
	}
	if len(who) != 3 {
		t.Errorf("%d processes wrote", len(who))
	}
}

// A second handle on the file waits, and gives up with a conflict.
func TestBusyIsAConflict(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "busy.db")
	var handles []*sqlite.Store
	for range 2 {
		s, err := sqlite.Open(path, sqlite.BusyTimeout(20*time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		handles = append(handles, s)
	}
	ctx := context.Background()
	e := counter()
	if _, err := handles[0].Migrate(ctx, []*stores.Entity{e}, true); err != nil {
		t.Fatal(err)
	}
	err := handles[0].Update(ctx, stores.Scope{All: true}, func(stores.Tx) error {
		for _, s := range handles {
			err := s.Update(ctx, stores.Scope{All: true}, func(stores.Tx) error { return nil })
			if !errors.Is(err, stores.ErrConflict) {
				t.Errorf("second writer: %v", err)
			}
			if err := s.View(ctx, stores.Scope{}, func(r stores.Reader) error {
				_, err := r.Find(ctx, stores.Find{Entity: e})
				return err
			}); err != nil {
				t.Errorf("reader: %v", err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A reader that takes long keeps what it began with while others write, and the log that grows meanwhile
// is cut short when it has gone.
func TestALongReaderHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	path, e := filepath.Join(t.TempDir(), "long.db"), counter()
	s, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Migrate(ctx, []*stores.Entity{e}, true); err != nil {
		t.Fatal(err)
	}
	insert := func(n int64) {
		t.Helper()
		if err := s.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
			return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{{Op: stores.Insert, Entity: e, Key: stores.NewInt(n), Set: []stores.Assign{{Field: 1, Value: stores.NewInt(0)}}}}})
		}); err != nil {
			t.Fatal(err)
		}
	}
	grown := func() int64 {
		file, err := os.Stat(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		return file.Size()
	}
	insert(0)
	const many = 1500
	err = s.View(ctx, stores.Scope{All: true}, func(r stores.Reader) error {
		rows := func() int {
			all, err := r.Find(ctx, stores.Find{Entity: e, Limit: 10 * many})
			if err != nil {
				t.Fatal(err)
			}
			return len(all)
		}
		before := rows()
		for n := range int64(many) {
			insert(n + 1)
		}
		if after := rows(); before != 1 || after != before {
			t.Errorf("a reader sees %d rows, and then %d", before, after)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	while := grown()
	for n := range int64(many) {
		insert(many + n + 1)
	}
	if now := grown(); while < 4<<20 || now > while+1<<20 {
		t.Errorf("the log has %d bytes after a long reader, and %d after as many writes without one", while, now)
	}
}
