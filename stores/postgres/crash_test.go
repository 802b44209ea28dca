package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"

	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/stores/postgres/pgtest"
)

// SAFE-R2: the server is stopped dead while eight write and a sealer seals, again
// and again: what was acknowledged is there, what was refused is not, of the rest
// nobody can say, and all of it is sealed into one log. The server's own writer
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
		if err := s.Seal(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := journal.Whole(ctx, s); err != nil {
			t.Fatalf("crash %d: %v", crash, err)
		}
		entries, err := s.Placed(ctx, 2, 0) // the first is of the bank's making
		if err != nil {
			t.Fatal(err)
		}
		written := map[string]int{}
		first := map[string]bool{}
		for _, e := range entries {
			written[e.Call]++
			if first[e.Call] = first[e.Call] || e.Verb == "first"; !first[e.Call] {
				t.Fatalf("entry %d stands before the first of its transaction", e.Seq)
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
