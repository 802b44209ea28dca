package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"zombiezen.com/go/sqlite"

	"verbatim/stores"
	"verbatim/stores/storetest"
)

var errInjected = errors.New("injected")

// SAFE-R4, the store's part: whichever use of SQLite fails, in a transaction
// that does everything, all or nothing is kept, and the store goes on.
func TestNthFault(t *testing.T) {
	t.Parallel()
	s, entities, scope := bank(t, Readers(1))
	ctx := context.Background()
	note := entities[1]
	write := func() error {
		return s.Update(ctx, scope, func(tx stores.Tx) error {
			row, err := tx.Get(ctx, note, stores.NewInt(1))
			if err != nil {
				return err
			}
			if _, err := tx.Find(ctx, stores.Find{Entity: note}); err != nil {
				return err
			}
			if _, err := tx.SQL(ctx, entities, stores.SQL{Text: "SELECT text FROM kyc.notes", Columns: []stores.Column{{Name: "text", Kind: stores.String}}}); err != nil {
				return err
			}
			return tx.Apply(ctx, stores.Batch{
				Changes: []stores.Change{
					{Op: stores.Update, Entity: note, Key: row.Key(), Before: row.Values, Guard: []int{2}, Set: []stores.Assign{{Field: 2, Value: stores.NewString("changed")}}},
					{Op: stores.Insert, Entity: note, Key: stores.NewInt(10), Set: []stores.Assign{{Field: 1, Value: stores.NewInt(1)}}},
					{Op: stores.Delete, Entity: note, Key: stores.NewInt(3)},
				},
				Entries: []stores.Entry{{Verb: "whole"}},
				Jobs:    []stores.Job{{ID: "whole", Kind: "notice", Payload: "{}", At: time.Unix(1, 0)}},
			})
		})
	}
	state := func() string {
		var b strings.Builder
		err := s.View(ctx, stores.Scope{All: true}, func(r stores.Reader) error {
			rows, err := r.Find(ctx, stores.Find{Entity: note})
			fmt.Fprint(&b, rows)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		entries, err := s.Journal(ctx, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(&b, len(entries))
		return b.String()
	}
	before := state()
	for n := 1; ; n++ {
		left := n
		c := <-s.writer
		if c == nil {
			t.Fatalf("no connection after fault %d", n-1)
		}
		c.forget()
		clear(c.checked)
		c.use = func() error {
			if left--; left == 0 {
				return errInjected
			}
			return nil
		}
		s.writer <- c
		err := write()
		if c := <-s.writer; c == nil {
			// The connection was given up; the next transaction opens another.
			c, err := s.connect(toWrite)
			if err != nil {
				t.Fatal(err)
			}
			s.writer <- c
		} else {
			c.use = nil
			s.writer <- c
		}
		if left > 0 {
			if err != nil {
				t.Fatalf("fault %d never came: %v", n, err)
			}
			t.Logf("%d faults", n-1)
			break
		}
		// A fault in the rollback of nothing, or in asking again why, may leave
		// the transaction whole; otherwise nothing of it is there.
		if err == nil {
			t.Fatalf("fault %d was swallowed", n)
		}
		if after := state(); after != before {
			t.Fatalf("fault %d: %v left %s", n, err, after)
		}
	}
	if state() == before {
		t.Error("the last transaction did nothing")
	}
}

// Errors, cancellations and panics leave no goroutine and no transaction.
func TestNothingLeaks(t *testing.T) {
	s, entities, scope := bank(t, Readers(2), QueryTime(5*time.Millisecond))
	ctx := context.Background()
	note := entities[1]
	mess := func() {
		ended, cancel := context.WithCancel(ctx)
		cancel()
		_ = s.View(ended, scope, func(stores.Reader) error { return nil })
		_ = s.Update(ended, scope, func(stores.Tx) error { return nil })
		_ = s.View(ctx, scope, func(r stores.Reader) error {
			_, _ = r.Find(ended, stores.Find{Entity: note})
			_, _ = r.Find(ctx, stores.Find{Entity: note, Limit: 1})
			many := strings.Repeat(", kyc.notes", 20)
			_, err := r.SQL(ctx, entities, stores.SQL{Text: "SELECT count(*) AS n FROM kyc.notes" + many, Columns: []stores.Column{{Name: "n", Kind: stores.Int}}})
			return err
		})
		_ = s.Update(ctx, scope, func(tx stores.Tx) error {
			return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{{Op: stores.Delete, Entity: note, Key: stores.NewInt(77)}}})
		})
		func() {
			defer func() { _ = recover() }()
			_ = s.Update(ctx, scope, func(stores.Tx) error { panic("x") })
		}()
	}
	mess()
	before := runtime.NumGoroutine()
	for range 20 {
		mess()
	}
	for range 1000 {
		if runtime.NumGoroutine() <= before+2 {
			break
		}
		runtime.Gosched()
	}
	if after := runtime.NumGoroutine(); after > before+2 {
		t.Errorf("%d goroutines, before %d", after, before)
	}
	if len(s.readers) != cap(s.readers) || len(s.writer) != 1 {
		t.Errorf("%d of %d readers and %d writers came back", len(s.readers), cap(s.readers), len(s.writer))
	}
	err := s.Update(ctx, scope, func(tx stores.Tx) error {
		return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{{Op: stores.Delete, Entity: note, Key: stores.NewInt(3)}}})
	})
	if err != nil {
		t.Error(err)
	}
}

// Connections that are opened while others are closed may get their addresses, and
// keep what is theirs all the same.
func TestManyConnectionsComeAndGo(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(32))
	s, _, _ := bank(t)
	var group sync.WaitGroup
	for range 32 {
		group.Go(func() {
			for range 60 {
				c, err := s.connect(toRead)
				if err == nil {
					_, err = c.exec("SELECT decimal_sum(text COLLATE verbatim_decimal) FROM secrets WHERE id = 0")
					err = errors.Join(err, c.close())
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
}

// What the store opens a file with is in force: no statement changes the text of
// the schema, no reader writes, a misspelt column is no string, a reference refers
// to something, and a commit is flushed.
func TestSettingsAreInForce(t *testing.T) {
	t.Parallel()
	s, _, _ := bank(t)
	ctx := context.Background()
	refused := func(c *conn, statements ...string) {
		for i, text := range statements {
			if _, err := c.exec(text); (err == nil) != (i < len(statements)-1) {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
	say := func(c *conn, want string, settings ...string) {
		got := ""
		for _, name := range settings {
			err := c.query(ctx, "PRAGMA "+name, nil, func(row *sqlite.Stmt) error {
				got += " " + row.ColumnText(0)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}
		if got != want {
			t.Errorf("%s:%s, want%s", settings, got, want)
		}
	}
	both := []string{"journal_mode", "synchronous", "foreign_keys", "trusted_schema", "query_only", "cache_size", "busy_timeout"}
	err := s.read(ctx, func(c *conn) error {
		say(c, " wal 2 1 0 1 -16384 5000", both...)
		refused(c, "DELETE FROM secrets")
		refused(c, `SELECT "misspelt" FROM secrets`)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	err = s.write(ctx, func(c *conn) error {
		say(c, " wal 2 1 0 0 -16384 0", both...)
		refused(c, "PRAGMA writable_schema=1", "UPDATE sqlite_schema SET sql = sql")
		refused(c, "INSERT INTO kyc_replies (id, note) VALUES (9, 99)")
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// PERF-X3: what a client reads is found along indexes, from the rows held: no
// table is read whole.
func TestFindWalksIndexes(t *testing.T) {
	t.Parallel()
	s := benchBank(t, 3, 3)
	ctx := context.Background()
	err := s.View(ctx, s.Scope, func(r stores.Reader) error {
		if _, err := r.Find(ctx, s.Find()); err != nil {
			return err
		}
		if _, err := r.Get(ctx, s.Request, storetest.BenchKey(4, 1)); err != nil {
			return err
		}
		c := r.(*reader).c
		var texts []string
		for text := range c.stmts {
			if strings.Contains(text, "kyc_requests") {
				texts = append(texts, text)
			}
		}
		if len(texts) != 2 {
			t.Errorf("%d statements", len(texts))
		}
		for _, text := range texts {
			err := c.query(ctx, "EXPLAIN QUERY PLAN "+text, nil, func(row *sqlite.Stmt) error {
				if step := row.ColumnText(3); strings.HasPrefix(step, "SCAN") {
					t.Errorf("%s: %s", text, step)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Reads one after another open one connection, which parses the schema once, and reads at the same
// time one each.
func TestAReaderIsLentAgain(t *testing.T) {
	t.Parallel()
	s, err := Open(filepath.Join(t.TempDir(), "lent.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	read := func(within func()) {
		t.Helper()
		err := s.read(t.Context(), func(*conn) error {
			within()
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 5 {
		read(func() {})
	}
	if n := len(s.idle.conns); n != 1 {
		t.Errorf("five reads opened %d connections", n)
	}
	read(func() { read(func() {}) })
	if n := len(s.idle.conns); n != 2 {
		t.Errorf("two reads at a time opened %d connections", n)
	}
}
