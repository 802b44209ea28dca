package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/stores/merkle"
)

// SAFE-R10: a journal that is a chain is verified and sealed by Migrate: its head is the first leaf,
// its entries are verified as they were, and numbers go on behind it. A program of the version
// before, which is still at work, adds nothing more. A chain that was altered is not sealed.
func TestAChainIsSealed(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "a.db")
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	migrate := func(problem string) {
		t.Helper()
		plan, err := s.Migrate(ctx, nil, true)
		if err != nil || (problem == "") != (len(plan.Problems) == 0) || problem != "" && !strings.Contains(plan.Problems[0], problem) {
			t.Fatalf("%+v, %v", plan, err)
		}
	}
	exec := func(statements ...string) {
		t.Helper()
		if err := s.write(ctx, func(c *conn) error {
			for _, sql := range statements {
				if _, err := c.exec(sql); err != nil {
					return fmt.Errorf("%s: %w", sql, err)
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	migrate("")
	var head [32]byte
	var entries []stores.Entry
	for i := range 5 {
		e := stores.Entry{Time: time.Date(2025, 1, 3, 10, 0, i, 0, time.UTC), Verb: fmt.Sprint("old", i+1), Roles: []string{"client"}}
		e.Chain(int64(i+1), head)
		entries, head = append(entries, e), e.Hash
	}
	if err := s.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error { return tx.Apply(ctx, stores.Batch{Sealed: entries}) }); err != nil {
		t.Fatal(err)
	}
	exec("DROP TABLE verbatim_leaf", "DROP TABLE verbatim_head", "ALTER TABLE verbatim_journal DROP COLUMN salt", "ALTER TABLE verbatim_journal RENAME COLUMN chain_prev TO prev",
		"ALTER TABLE verbatim_journal RENAME COLUMN chain_hash TO hash", "UPDATE verbatim_schema SET version = 3")
	// A process of the version before has the file open, and its statements are prepared.
	const older = `INSERT INTO main.verbatim_journal (seq, time, principal, roles, session, source, verb, call, outcome, reason, changes, preview, agreed, palette, turn, origins, prev, body, hash) VALUES (6,'','','[]','','','','','','','','','','','','','','','')`
	before, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer before.Close()
	undo := errors.New("undo")
	add := func() error {
		return before.write(ctx, func(c *conn) error {
			if _, err := c.exec(older); err != nil {
				return err
			}
			return undo
		})
	}
	if err := add(); err != undo {
		t.Fatalf("the statement of the version before: %v", err)
	}
	var other *stores.VersionError
	if _, err := s.Identity(ctx); !errors.As(err, &other) || !other.Old || other.Is != withChain {
		t.Fatalf("a file of the version before is answered with %v", err)
	}
	exec("DROP TRIGGER verbatim_journal_update", "UPDATE verbatim_journal SET verb = 'new' WHERE seq = 3")
	migrate("entry 3 was altered")
	exec("UPDATE verbatim_journal SET verb = 'old3' WHERE seq = 3")
	migrate("")
	if err := add(); err == nil || err == undo {
		t.Error("a program of the version before adds an entry")
	}
	if place, hash, err := s.Head(ctx); err != nil || place != 5 || hash != head {
		t.Errorf("the journal ends at place %d, %x, %v", place, hash, err)
	}
	if h, err := journal.Whole(ctx, s, journal.Head{Entries: 5, Hash: head}); err != nil || h.Entries != 5 {
		t.Errorf("%+v, %v", h, err)
	}
	if err := s.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
		return tx.Apply(ctx, stores.Batch{Entries: []stores.Entry{{Verb: "new"}, {Verb: "newer"}}})
	}); err != nil {
		t.Fatal(err)
	}
	if h, err := journal.Whole(ctx, s, journal.Head{Entries: 5, Hash: head}); err != nil || h.Entries != 7 || h.Size != 3 {
		t.Errorf("%+v, %v", h, err)
	}
	if leaves, err := s.Leaves(ctx, []int64{0}); err != nil || leaves[0].Seq != 5 || merkle.Hash(leaves[0].Row) != stores.LeafHash(5, head) {
		t.Errorf("the first leaf is %+v, %v", leaves[0], err)
	}
	if plan, err := s.Migrate(ctx, nil, true); err != nil || len(plan.Steps) > 0 {
		t.Errorf("it is migrated again: %v, %v", plan.Steps, err)
	}
	// The chain has ended: an entry in its form behind the end is in no log.
	exec(`INSERT INTO verbatim_journal SELECT 9, time, principal, roles, session, source, verb, call, outcome, reason, changes, preview, agreed, palette, turn, origins, '', body, chain_prev, chain_hash FROM verbatim_journal WHERE seq = 5`)
	if u, err := s.Unsealed(ctx); err != nil || !slices.Equal(u.Stray, []int64{9}) {
		t.Errorf("%+v, %v", u, err)
	}
	if e, err := s.Journal(ctx, 9, 9); err != nil || len(e) != 1 || e[0].Place != 0 {
		t.Errorf("%+v, %v", e, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
