package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"

	"verbatim/stores"
	"verbatim/stores/postgres/pgtest"
)

// SAFE-R2: the journal's lock is given back before the disk has answered, and
// Update returns after. So the server is stopped dead while eight write, again
// and again: what was acknowledged is there, what was refused is not, of the rest
// nobody can say, and all of it is whole and one chain. The server's own writer
// is made to sleep, so that nothing reaches the disk but what somebody waits for.
func TestCrashLosesOnlyWhatWasNotAcknowledged(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	run(t, server.Admin, "ALTER SYSTEM SET wal_writer_delay = '10s'")
	run(t, server.Admin, "SELECT pg_reload_conf()")
	s, entities, scope, db := bankOn(t, server.DB)
	ctx := context.Background()
	const writers, crashes, each = 8, 4, 40
	note := entities[1]
	acknowledged, unsure := map[string]bool{}, map[string]bool{}
	key := int64(100)
	for crash := range crashes {
		var mu sync.Mutex
		var all sync.WaitGroup
		enough := make(chan struct{})
		done := 0
		for range writers {
			all.Go(func() {
				for {
					mu.Lock()
					key++
					mine := key
					mu.Unlock()
					name := fmt.Sprint(mine)
					err := s.Update(ctx, scope, func(tx stores.Tx) error {
						return tx.Apply(ctx, stores.Batch{
							Changes: []stores.Change{{Op: stores.Insert, Entity: note, Key: stores.NewInt(mine), Set: []stores.Assign{{Field: 1, Value: stores.NewInt(1)}, {Field: 2, Value: stores.NewString(name)}}}},
							Entries: []stores.Entry{{Verb: "first", Call: name}, {Verb: "second", Call: name}},
							Late:    mine%2 == 0,
						})
					})
					mu.Lock()
					switch {
					case err == nil:
						acknowledged[name] = true
						if done++; done == each {
							close(enough)
						}
					case errors.Is(err, stores.ErrUnknown):
						unsure[name] = true
					}
					mu.Unlock()
					if err != nil {
						return
					}
				}
			})
		}
		<-enough
		if err := server.Crash(); err != nil {
			t.Fatal(err)
		}
		all.Wait()
		s.Close()
		var err error
		if s, err = Open(ctx, db.App); err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		entries, err := s.Journal(ctx, 2, 0) // the first is of the bank's making
		if err != nil {
			t.Fatal(err)
		}
		before, err := s.Journal(ctx, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := stores.VerifyChain(1, before[0].Hash, entries); err != nil {
			t.Fatalf("crash %d: %v", crash, err)
		}
		written := map[string]int{}
		for i, e := range entries {
			written[e.Call]++
			if i%2 == 1 && (e.Verb != "second" || e.Call != entries[i-1].Call) {
				t.Fatalf("entry %d stands apart from the one it was written with", e.Seq)
			}
		}
		var rows [][]stores.Value
		err = s.View(ctx, scope, func(r stores.Reader) (err error) {
			rows, err = r.Find(ctx, stores.Find{Entity: note, Where: &stores.Cond{Op: stores.Gt, Path: stores.Path{Field: 0}, Value: stores.NewInt(100)}})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		kept := map[string]int{}
		for _, row := range rows {
			kept[row[2].Text()] = 2
		}
		if !maps.Equal(kept, written) {
			t.Errorf("crash %d: %d rows, and a journal of %d", crash, len(kept), len(written))
		}
		for name := range acknowledged {
			if written[name] != 2 {
				t.Errorf("crash %d: %s was acknowledged and is lost", crash, name)
			}
		}
		for name := range written {
			if !acknowledged[name] && !unsure[name] {
				t.Errorf("crash %d: %s is there and was refused", crash, name)
			}
		}
	}
}

// SAFE-R6: behind COMMIT there is no refusal any more. What fails there is
// answered as unknown, and it is committed. A store that may not wait late does
// not commit early either.
func TestFailureBehindCommitIsUnknown(t *testing.T) {
	t.Parallel()
	s, entities, scope, db := bank(t)
	ctx := context.Background()
	write := func(s *Store, text string) error {
		return s.Update(ctx, scope, func(tx stores.Tx) error {
			return tx.Apply(ctx, stores.Batch{
				Changes: []stores.Change{{Op: stores.Update, Entity: entities[1], Key: stores.NewInt(1), Set: []stores.Assign{{Field: 2, Value: stores.NewString(text)}}}},
				Entries: []stores.Entry{{Verb: text}},
				Late:    true,
			})
		})
	}
	run(t, db.Admin, pgtest.ForMessages("REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC"))
	if err := write(s, "late"); !errors.Is(err, stores.ErrUnknown) || err.Error() != stores.ErrUnknown.Error() {
		t.Error(err)
	}
	var row stores.Row
	err := s.View(ctx, scope, func(r stores.Reader) (err error) {
		row, err = r.Get(ctx, entities[1], stores.NewInt(1))
		return err
	})
	if err != nil || row.Values[2] != stores.NewString("late") {
		t.Errorf("%v, %v", row.Values, err)
	}
	second, err := Open(ctx, db.App)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if second.late {
		t.Error("it means to wait with what it may not use")
	}
	if err := write(second, "again"); err != nil {
		t.Error(err)
	}
	entries, err := s.Journal(ctx, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if n, _, err := stores.VerifyChain(0, [32]byte{}, entries); err != nil || n != 3 {
		t.Errorf("%d entries, %v", n, err)
	}
}
