package sqlite

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"

	"zombiezen.com/go/sqlite"

	"verbatim/stores"
	"verbatim/stores/merkle"
	"verbatim/stores/sqlcore"
)

// Seal implements stores.Store: a transaction seals its own entries.
func (s *Store) Seal(context.Context) error { return nil }

// last returns the last root of the log.
func (c *conn) last(ctx context.Context) (root stores.Root, err error) {
	err = c.query(ctx, "SELECT size, hash FROM main.verbatim_head ORDER BY size DESC LIMIT 1", nil, func(row *sqlite.Stmt) error {
		root.Size = row.ColumnInt64(0)
		return readHash(row, 1, &root.Hash)
	})
	return root, err
}

// chain returns the end of the older chain.
func (c *conn) chain(ctx context.Context) (end sqlcore.Chain, err error) {
	err = c.query(ctx, `SELECT seq, chain_hash FROM main.verbatim_journal WHERE salt = ''
AND seq <= COALESCE((SELECT number FROM main.verbatim_leaf WHERE place = 0), 9223372036854775807) ORDER BY seq DESC LIMIT 1`, nil, func(row *sqlite.Stmt) error {
		end.Seq = row.ColumnInt64(0)
		return readHash(row, 1, &end.Hash)
	})
	return end, err
}

// leaves returns leaves by their numbers.
func (c *conn) leaves(ctx context.Context, numbers []int64) (map[int64]stores.Leaf, error) {
	found := make(map[int64]stores.Leaf, len(numbers))
	for _, n := range numbers {
		err := c.query(ctx, "SELECT number, nodes FROM main.verbatim_leaf WHERE place = ?", []stores.Value{stores.NewInt(n)}, func(row *sqlite.Stmt) error {
			nodes, err := readNodes(row, 1)
			found[n] = stores.Leaf{Seq: row.ColumnInt64(0), Row: nodes}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

func readNodes(row *sqlite.Stmt, at int) ([]byte, error) {
	nodes, err := hex.DecodeString(row.ColumnText(at))
	if text := row.ColumnText(at); err != nil || len(nodes) < merkle.Size || len(nodes)%merkle.Size != 0 || strings.ToLower(text) != text {
		return nil, errors.New("sqlite: the log holds a leaf that cannot be read")
	}
	return nodes, nil
}

// place gives entries their places, and writes the log's new root.
func (t *tx) place(entries []stores.Entry) error {
	ctx := context.Background()
	if t.tree == nil {
		root, err := t.c.last(ctx)
		if err == nil {
			t.tree, err = t.s.sealer.Tree(root, merkle.Rows(func(rows []int64) (map[int64][]byte, error) {
				leaves, err := t.c.leaves(ctx, rows)
				return rowsOf(leaves), err
			}))
		}
		if err != nil {
			return fault("journal", err)
		}
	}
	var end sqlcore.Chain
	if t.tree.Len() == 0 {
		var err error
		if end, err = t.c.chain(ctx); err != nil {
			return fault("journal", err)
		}
	}
	at := t.tree.Len()
	for _, leaf := range sqlcore.Place(t.tree, end, entries) {
		if _, err := t.c.exec("INSERT INTO main.verbatim_leaf (place, number, nodes) VALUES (?,?,?)", stores.NewInt(at), stores.NewInt(leaf.Seq), str(hex.EncodeToString(leaf.Row))); err != nil {
			return fault("journal", err)
		}
		at++
	}
	root := t.tree.Root()
	_, err := t.c.exec("INSERT INTO main.verbatim_head (size, hash) VALUES (?,?)", stores.NewInt(t.tree.Len()), str(hex.EncodeToString(root[:])))
	return fault("journal", err)
}

func rowsOf(leaves map[int64]stores.Leaf) map[int64][]byte {
	rows := make(map[int64][]byte, len(leaves))
	for n, leaf := range leaves {
		rows[n] = leaf.Row
	}
	return rows
}

// Head implements stores.Store.
func (s *Store) Head(ctx context.Context) (place int64, hash [32]byte, err error) {
	if err := s.replaced(); err != nil {
		return 0, hash, err
	}
	err = s.read(ctx, func(c *conn) (err error) {
		place, hash, err = c.head(ctx)
		return err
	})
	return place, hash, fault("journal", err)
}

func (c *conn) head(ctx context.Context) (int64, [32]byte, error) {
	root, err := c.last(ctx)
	if err != nil {
		return 0, [32]byte{}, err
	}
	if root.Size <= 1 {
		end, err := c.chain(ctx)
		return end.Seq, end.Hash, err
	}
	first, err := c.first(ctx)
	return first + root.Size - 1, root.Hash, err
}

// first returns how many entries the older chain has.
func (c *conn) first(ctx context.Context) (int64, error) {
	leaf, err := c.leaves(ctx, []int64{0})
	if _, ok := leaf[0]; ok || err != nil {
		return leaf[0].Seq, err
	}
	end, err := c.chain(ctx)
	return end.Seq, err
}

// Placed implements stores.Store.
func (s *Store) Placed(ctx context.Context, from, to int64) (entries []stores.Entry, err error) {
	err = s.read(ctx, func(c *conn) error {
		first, err := c.first(ctx)
		if err != nil {
			return err
		}
		if from <= first {
			last := first
			if to != 0 {
				last = min(to, first)
			}
			if entries, err = c.entries(ctx, from, last, 0); err != nil {
				return err
			}
		}
		if to != 0 && to <= first {
			return nil
		}
		var missing error
		err = c.query(ctx, "SELECT "+entryColumns+", l.nodes, l.number FROM main.verbatim_leaf l LEFT JOIN main.verbatim_journal j ON j.seq = l.number WHERE l.place >= ? AND (? = 0 OR l.place <= ?) ORDER BY l.place",
			[]stores.Value{stores.NewInt(max(1, from-first)), stores.NewInt(to), stores.NewInt(to - first)}, func(row *sqlite.Stmt) error {
				if missing != nil {
					return nil
				}
				if row.ColumnType(0) == sqlite.TypeNull {
					missing = &stores.ChainError{Seq: row.ColumnInt64(entryWidth + 1), Msg: "is missing: the log has its leaf", Missing: true}
					return nil
				}
				e, err := readEntry(row, first)
				if err != nil {
					return err
				}
				e.Row, err = readNodes(row, entryWidth)
				copy(e.Hash[:], e.Row)
				entries = append(entries, e)
				return err
			})
		if err == nil && len(entries) == 0 {
			err = missing
		}
		return err
	})
	if err != nil {
		return nil, fault("journal", err)
	}
	return entries, nil
}

// Roots implements stores.Store.
func (s *Store) Roots(ctx context.Context, from int64) (roots []stores.Root, err error) {
	err = s.read(ctx, func(c *conn) error {
		return c.query(ctx, "SELECT size, hash FROM main.verbatim_head WHERE size >= ? ORDER BY size LIMIT 1000", []stores.Value{stores.NewInt(from)}, func(row *sqlite.Stmt) error {
			root := stores.Root{Size: row.ColumnInt64(0)}
			err := readHash(row, 1, &root.Hash)
			roots = append(roots, root)
			return err
		})
	})
	return roots, fault("journal", err)
}

// Leaves implements stores.Store.
func (s *Store) Leaves(ctx context.Context, numbers []int64) (found map[int64]stores.Leaf, err error) {
	err = s.read(ctx, func(c *conn) error {
		found, err = c.leaves(ctx, numbers)
		return err
	})
	return found, fault("journal", err)
}

// Unsealed implements stores.Store: nothing waits here.
func (s *Store) Unsealed(ctx context.Context) (u stores.Unsealed, err error) {
	err = s.read(ctx, func(c *conn) error {
		return c.query(ctx, "SELECT seq FROM main.verbatim_journal WHERE (salt <> '' OR seq > (SELECT number FROM main.verbatim_leaf WHERE place = 0)) AND NOT EXISTS (SELECT 1 FROM main.verbatim_leaf WHERE number = seq) ORDER BY seq LIMIT 10", nil, func(row *sqlite.Stmt) error {
			u.Stray = append(u.Stray, row.ColumnInt64(0))
			return nil
		})
	})
	return u, fault("journal", err)
}
