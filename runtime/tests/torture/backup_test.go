package torture

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/sqlite"
)

// A keeper backs a bank up while it is written to, and puts a backup back.
type keeper struct {
	backup  func(t *testing.T) string            // leads to a copy as it is at some moment
	restore func(t *testing.T, it string) string // the address of a store made of it
}

// fileKeeper copies a file as verbatim backup does.
func fileKeeper(at string) keeper {
	return keeper{
		backup: func(t *testing.T) string {
			t.Helper()
			it := filepath.Join(t.TempDir(), "backup.db")
			s, err := sqlite.Open(at)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if err := s.Backup(context.Background(), it); err != nil {
				t.Fatal(err)
			}
			return it
		},
		restore: copied,
	}
}

// copied copies one file, and nothing of what stands beside it.
func copied(t *testing.T, it string) string {
	t.Helper()
	b, err := os.ReadFile(it)
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(t.TempDir(), "bank.db")
	if err := os.WriteFile(at, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return at
}

// serverKeeper dumps and restores as PostgreSQL's own programs do.
func serverKeeper(db pgtest.DB) keeper {
	run := func(t *testing.T, name string, args ...string) {
		t.Helper()
		if out, err := exec.Command(pgtest.Program(t, name), args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
	}
	return keeper{
		backup: func(t *testing.T) string {
			it := filepath.Join(t.TempDir(), "backup.dump")
			run(t, "pg_dump", "--format=custom", "--file="+it, db.Admin)
			return it
		},
		restore: func(t *testing.T, it string) string {
			to := pgtest.Database(t)
			run(t, "pg_restore", "--exit-on-error", "--dbname="+to.Admin, it)
			return to.App
		},
	}
}

// head is where the journal of a store ends, and known says whether it extends
// what somebody kept of it.
func head(t *testing.T, s stores.Store, known ...journal.Head) (journal.Head, error) {
	t.Helper()
	if err := s.Seal(context.Background()); err != nil {
		return journal.Head{}, err
	}
	return journal.Whole(context.Background(), s, known...)
}

// wants judges a store and expects nothing wrong.
func wants(t *testing.T, y *tally, s stores.Store, when string) *verdict {
	t.Helper()
	v, err := judge(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range v.wrongs {
		y.wrong("%s: %s", when, wrong)
	}
	return v
}

// SAFE-R13: a backup that is made while processes write is whole: its chain holds
// up to its head, nothing in it is done by half, and it goes on from there. That
// it is older than what a checkpoint knows of is reported.
func TestBackupWhileWriting(t *testing.T) {
	t.Parallel()
	test := func(t *testing.T, kind, at string, k keeper) {
		y := begin(t, "SAFE-R13", "backup while writing, restore, continue, "+kind, "backups")
		rounds := 2
		if long() {
			rounds = 12
		}
		rnd := rand.New(rand.NewPCG(*seeded, 13))
		p := spawn(t, order{Store: at, Seed: rnd.Uint64(), Streams: 4, Big: true, Name: "w"})
		live := opened(t, at)
		var backups []string
		var kept []journal.Head
		grown := func(than int64) journal.Head {
			for deadline := time.Now().Add(2 * time.Minute); ; {
				h, err := head(t, live)
				if err != nil {
					t.Fatal(err)
				}
				if h.Size > than {
					return h
				}
				if time.Now().After(deadline) {
					t.Fatal("nothing is written any more")
				}
			}
		}
		last := int64(0)
		for range rounds {
			last = grown(last).Size
			backups = append(backups, k.backup(t))
			// What it may hold is what is there by now: more has to come after it.
			kept = append(kept, grown(grown(0).Size))
		}
		p.kill()
		if _, err := p.wait(); err != nil && !killed(err) {
			t.Fatal(err)
		}
		final, err := head(t, live, kept...)
		if err != nil {
			t.Fatal(err)
		}
		for i, it := range backups {
			y.try(1)
			s := opened(t, k.restore(t, it))
			wants(t, y, s, "the backup")
			h, err := head(t, s)
			if err != nil || h.Size == 0 || h.Size > final.Size {
				y.wrong("backup %d ends at entry %d, %v", i, h.Size, err)
				continue
			}
			// It is what was there, and no other story.
			if _, err := head(t, live, h); err != nil {
				y.wrong("backup %d: %v", i, err)
			}
			var behind *journal.BehindError
			if _, err := head(t, s, final); !errors.As(err, &behind) || behind.Size != h.Entries || behind.Known != final.Entries {
				y.wrong("backup %d was put back, and the checkpoint of %d entries says %v", i, final.Size, err)
			}
			// It goes on, and then it is another journal than the one that was lost.
			tess, err := sit(context.Background(), s, "tess", engine.Options{})
			if err != nil {
				t.Fatal(err)
			}
			scripts := newStream(*seeded+uint64(i), "after")
			for n := 0; ; n++ {
				sc := scripts.next()
				if what, rest := outcome(tess.do(context.Background(), sc.text, sc.tag)); what != saidAck && what != saidRefused {
					y.wrong("after backup %d: %s %s", i, what, rest)
				}
				if now, err := head(t, s, h); err != nil {
					y.wrong("backup %d, continued: %v", i, err)
					break
				} else if now.Size > final.Size {
					break
				}
			}
			wants(t, y, s, "the backup, continued")
			var fork *journal.ForkError
			if _, err := head(t, s, final); h.Size < final.Size && !errors.As(err, &fork) {
				y.wrong("backup %d was written on, and the checkpoint says %v", i, err)
			}
		}
		y.remark("%d entries", final.Size)
	}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		at := newFile(t)
		test(t, "SQLite", at, fileKeeper(at))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		db := newDatabase(t)
		test(t, "PostgreSQL", db.App, serverKeeper(db))
	})
}

// SAFE-R13: who copies the file of a store that is in use and leaves the -wal file
// beside it gets an older state, or nothing, but nothing that is not true; and a
// checkpoint tells.
func TestCopyWithoutItsLog(t *testing.T) {
	t.Parallel()
	y := begin(t, "SAFE-R13", "copy without the -wal file, SQLite", "copies")
	at := newFile(t)
	s := opened(t, at)
	tess, err := sit(context.Background(), s, "tess", engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	scripts := newStream(*seeded, "c")
	rounds := 3
	if long() {
		rounds = 30
	}
	for n := range rounds {
		for before, _ := head(t, s); ; {
			sc := scripts.next()
			if what, rest := outcome(tess.do(context.Background(), sc.text, sc.tag)); what != saidAck && what != saidRefused {
				t.Fatalf("%s %s", what, rest)
			}
			if h, err := head(t, s); err != nil || h.Size > before.Size {
				break
			}
		}
		known, err := head(t, s)
		if err != nil {
			t.Fatal(err)
		}
		other := opened(t, copied(t, at))
		y.try(1)
		wants(t, y, other, "the copy")
		h, err := head(t, other)
		if err != nil {
			y.wrong("copy %d: %v", n, err)
		}
		if _, err := head(t, s, h); err != nil {
			y.wrong("copy %d tells another story: %v", n, err)
		}
		var behind *journal.BehindError
		if _, err := head(t, other, known); h.Size < known.Size && !errors.As(err, &behind) || h.Size > known.Size {
			y.wrong("copy %d ends at %d of %d entries, and the checkpoint says %v", n, h.Size, known.Size, err)
		}
	}
}
