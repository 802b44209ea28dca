package sqlite

import (
	"context"
	"path/filepath"
	"testing"

	"zombiezen.com/go/sqlite"

	"verbatim/stores"
	"verbatim/stores/storetest"
)

// benchBank has cbus, of so many requests each: see storetest.Bench.
func benchBank(b testing.TB, cbus, requests int) *storetest.Bench {
	b.Helper()
	s, err := Open(filepath.Join(b.TempDir(), "bench.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	return storetest.NewBench(b, s, cbus, requests)
}

func BenchmarkGet(b *testing.B)  { storetest.BenchGet(b, benchBank(b, 1000, 10)) }
func BenchmarkFind(b *testing.B) { storetest.BenchFind(b, benchBank(b, 1000, 10)) }
func BenchmarkSQL(b *testing.B)  { storetest.BenchSQL(b, benchBank(b, 1000, 10)) }

// One guarded change with its journal entry, flushed to the disk.
func BenchmarkApplyOne(b *testing.B) {
	s := benchBank(b, 1000, 10)
	ctx := context.Background()
	for i := range b.N {
		err := s.Update(ctx, s.Scope, func(tx stores.Tx) error {
			return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{s.Note(i%10, i)}, Entries: []stores.Entry{storetest.BenchEntry()}})
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// A thousand of the same in one transaction.
func BenchmarkApply1000(b *testing.B) {
	s := benchBank(b, 10, 1000)
	ctx := context.Background()
	for i := range b.N {
		err := s.Update(ctx, s.Scope, func(tx stores.Tx) error {
			for j := range 1000 {
				if err := tx.Apply(ctx, stores.Batch{Changes: []stores.Change{s.Note(j, i)}, Entries: []stores.Entry{storetest.BenchEntry()}}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// What the journal and the marks cost: see storetest.MeasureChain.
func BenchmarkChain(b *testing.B) {
	storetest.MeasureChain(b, func() storetest.Measured {
		s, err := Open(filepath.Join(b.TempDir(), "chain.db"))
		if err != nil {
			b.Fatal(err)
		}
		return storetest.Measured{Store: s, Size: func() (n int64) {
			err := s.read(context.Background(), func(c *conn) error {
				return c.query(context.Background(), "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", nil, func(row *sqlite.Stmt) error {
					n = row.ColumnInt64(0)
					return nil
				})
			})
			if err != nil {
				b.Fatal(err)
			}
			return n
		}}
	})
}
