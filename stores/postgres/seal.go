package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"verbatim/stores"
	"verbatim/stores/merkle"
	"verbatim/stores/sqlcore"
)

// Entries commit without a lock. Each is numbered by the last statement before its COMMIT, and noted
// in verbatim_waiting. A sealer in every process that writes gives them places.
//
// A transaction draws its number when all that it reads and changes is behind it. So the number of
// every transaction whose work it could see is lower, and that transaction is committed: a snapshot
// that sees the one sees the other. A pass seals all that waits in one snapshot, in the order of
// numbers; so each entry stands after all that its transaction could see.

// sealLock is held by the one transaction that seals, until it ends. It is journalLock of the older
// version plus two.
const sealLock = "-2102251852386772862"

const (
	// passes is how long a sealer waits after a commit, for others to be sealed with it.
	passes = 20 * time.Millisecond
	// looks is how often a sealer looks for what processes that ended left.
	looks = time.Second
	// stuck is how long another process may have the lock before we say so.
	stuck = 10 * time.Second
	// mostSealed bounds one pass.
	mostSealed = 10_000
)

// A sealing is the sealer of a store: a goroutine that begins with the first entry, or with Seal.
type sealing struct {
	sqlcore.Sealer
	wake   chan struct{}
	ended  chan struct{}
	cancel context.CancelFunc
	mu     sync.Mutex
	closed bool
	failed error     // of the last pass; nil if it succeeded
	others time.Time // since when another process has had the lock; zero if ours had it last
}

// WithoutSealer leaves it to other processes to seal what this one writes, and to Seal.
func WithoutSealer() Option { return func(c *config) { c.sealsNot = true } }

// sealSoon wakes the sealer, and begins it if there is none yet.
func (s *Store) sealSoon() {
	z := &s.sealing
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.closed || s.sealsNot {
		return
	}
	if z.wake == nil {
		z.wake, z.ended = make(chan struct{}, 1), make(chan struct{})
		var ctx context.Context
		ctx, z.cancel = context.WithCancel(context.Background())
		go s.keepSealing(ctx)
	}
	select {
	case z.wake <- struct{}{}:
	default:
	}
}

func (s *Store) keepSealing(ctx context.Context) {
	defer close(s.sealing.ended)
	tick := time.NewTicker(looks)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.sealing.wake:
			select {
			case <-ctx.Done():
				return
			case <-time.After(passes):
			}
		case <-tick.C:
		}
		for more := true; more && ctx.Err() == nil; {
			one, end := context.WithTimeout(ctx, 10*time.Second)
			var err error
			more, err = s.pass(one, "pg_try_advisory_xact_lock")
			end()
			if s.sealing.told(ctx, err); errors.Is(err, errSealing) { // the other sealer may have looked before our entries were there
				select {
				case <-ctx.Done():
				case <-time.After(passes):
					more = true
				}
			}
		}
	}
}

// told notes the error of a pass. Another process that has the lock says nothing about
// the last pass that was ours, unless it keeps the lock: then nothing is sealed by anybody.
func (z *sealing) told(ctx context.Context, err error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	switch now := time.Now(); {
	case ctx.Err() != nil:
	case !errors.Is(err, errSealing):
		z.failed, z.others = err, time.Time{}
	case z.others.IsZero():
		z.others = now
	case now.Sub(z.others) > stuck:
		z.failed = err
	}
}

// stopSealing ends the sealer, after a last pass over what this process wrote. On a line that is dead it waits for
// neither: a pass that was on its way may take as long as it was given, and ends behind the caller's back.
func (s *Store) stopSealing() {
	z := &s.sealing
	z.mu.Lock()
	began := z.wake != nil && !z.closed
	z.closed = true
	z.mu.Unlock()
	if !began {
		return
	}
	z.cancel()
	ctx, end := context.WithTimeout(context.Background(), looks)
	defer end()
	select {
	case <-z.ended:
	case <-ctx.Done():
		return // another process seals it
	}
	for more := true; more; {
		var err error
		if more, err = s.pass(ctx, "pg_advisory_xact_lock"); err != nil {
			return // another process seals it
		}
	}
}

// Seal implements stores.Store.
func (s *Store) Seal(ctx context.Context) error {
	s.sealSoon()
	for {
		if more, err := s.pass(ctx, "pg_advisory_xact_lock"); !more || err != nil {
			return err
		}
	}
}

// SealFailed begins the sealer if nothing was written yet, so that a server seals what others left, and
// returns the error of its last pass, nil if it sealed what waited.
func (s *Store) SealFailed() error {
	if s.sealing.wakes() == nil {
		s.sealSoon()
	}
	s.sealing.mu.Lock()
	defer s.sealing.mu.Unlock()
	return s.sealing.failed
}

// wakes returns the channel that wakes the sealer, nil if there is none yet.
func (z *sealing) wakes() chan struct{} {
	z.mu.Lock()
	defer z.mu.Unlock()
	return z.wake
}

// errSealing says that another transaction seals.
var errSealing = errors.New("postgres: another process seals")

// pass seals what waits, and reports whether more may wait. take is the function that takes the
// lock. The next statement has a snapshot of its own, which is taken when we have the lock.
func (s *Store) pass(ctx context.Context, take string) (more bool, err error) {
	var tree *merkle.Tree
	err = s.write(ctx, s.pool, stores.Scope{All: true}, func(c *conn) error {
		p := placing{c: c, s: s}
		mine := true
		ops, n, err := p.waiting(ctx, op{doing: "seal", sql: "SELECT pg_catalog." + take + "(" + sealLock + ")", read: func(r row) error {
			mine = take == "pg_advisory_xact_lock" || r.yes(0)
			return nil
		}}, &mine)
		if err == nil && !mine {
			err = errSealing
		}
		c.last, more, tree = ops, n == mostSealed, p.tree
		return err
	})
	if err == nil && tree != nil {
		s.sealing.Keep(tree)
	}
	return more && err == nil, err
}

// waiting makes the statements that seal what waits when first has run, at most mostSealed entries of
// which it returns the number; none unless mine holds by then.
func (p *placing) waiting(ctx context.Context, first op, mine *bool) (ops []op, n int, err error) {
	var entries []stores.Entry
	var done []any
	err = p.c.do(ctx, first, p.lastOp(), op{doing: "seal", sql: waitingSQL, read: func(r row) error {
		e := stores.Entry{Seq: r.num(0)}
		done = append(done, strconv.FormatInt(e.Seq, 10))
		if r.yes(2) { // an entry that is not sealed yet
			if copy(e.Body[:], r.bytes(1)) != len(e.Body) {
				return &stores.ChainError{Seq: e.Seq, Msg: "has a hash that cannot be read"}
			}
			entries = append(entries, e)
		}
		return nil
	}})
	if err != nil || !*mine || len(done) == 0 {
		return nil, 0, err
	}
	ops = []op{{doing: "seal", sql: "DELETE FROM public.verbatim_waiting WHERE number = ANY ($1::bigint[])", args: []any{arrayOf(done)}}}
	if len(entries) > 0 {
		placed, err := p.place(ctx, entries)
		if err != nil {
			return nil, 0, err
		}
		ops = append(ops, placed...)
	}
	return ops, len(done), nil
}

// waitingSQL reads what waits: numbers, bodies, and whether it has no leaf yet. The note of an entry
// that is not there stays: its part of the journal may be detached, and attached again. Each entry is
// looked up by itself, whatever the planner believes of the tables, so that a pass costs by what
// waits.
var waitingSQL = fmt.Sprintf(`SELECT w.number, j.body, j.salt IS NOT NULL AND l.place IS NULL FROM public.verbatim_waiting w
CROSS JOIN LATERAL (SELECT body, salt FROM public.verbatim_journal WHERE seq = w.number LIMIT 1) j
LEFT JOIN LATERAL (SELECT place FROM public.verbatim_leaf WHERE number = w.number LIMIT 1) l ON true ORDER BY w.number LIMIT %d`, mostSealed)

// A placing gives entries places within a transaction that holds sealLock.
type placing struct {
	c    *conn
	s    *Store
	last stores.Root
	tree *merkle.Tree
}

func (p *placing) lastOp() op {
	return op{doing: "seal", sql: lastRootSQL, read: func(r row) error {
		p.last.Size = r.num(0)
		copy(p.last.Hash[:], r.bytes(1))
		return nil
	}}
}

const lastRootSQL = "SELECT size, hash FROM public.verbatim_head ORDER BY size DESC LIMIT 1"

// place makes the statements that add leaves for entries, and a root.
func (p *placing) place(ctx context.Context, entries []stores.Entry) ([]op, error) {
	if p.tree == nil {
		var err error
		p.tree, err = p.s.sealing.Tree(p.last, func(nodes []merkle.Node) ([]merkle.Hash, error) {
			return merkle.Rows(func(numbers []int64) (map[int64][]byte, error) {
				rows := map[int64][]byte{}
				err := p.c.do(ctx, leavesOp(numbers, func(n int64, leaf stores.Leaf) { rows[n] = leaf.Row }))
				return rows, err
			})(nodes)
		})
		if err != nil {
			return nil, err
		}
	}
	var end sqlcore.Chain
	if p.tree.Len() == 0 {
		if err := p.c.do(ctx, chainOp(&end)); err != nil {
			return nil, err
		}
	}
	at := p.tree.Len()
	var places, numbers, nodes []any
	for i, leaf := range sqlcore.Place(p.tree, end, entries) {
		places, numbers = append(places, strconv.FormatInt(at+int64(i), 10)), append(numbers, strconv.FormatInt(leaf.Seq, 10))
		nodes = append(nodes, fmt.Sprintf(`\x%x`, leaf.Row))
	}
	return []op{
		{doing: "seal", sql: "INSERT INTO public.verbatim_leaf (place, number, nodes) SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bytea[])", args: []any{arrayOf(places), arrayOf(numbers), arrayOf(nodes)}},
		{doing: "seal", sql: "INSERT INTO public.verbatim_head (size, hash) VALUES ($1::bigint, $2::bytea)", args: []any{strconv.FormatInt(p.tree.Len(), 10), fmt.Sprintf(`\x%x`, p.tree.Root())}},
	}, nil
}

func leavesOp(numbers []int64, each func(int64, stores.Leaf)) op {
	list := make([]any, len(numbers))
	for i, n := range numbers {
		list[i] = strconv.FormatInt(n, 10)
	}
	return op{doing: "journal", sql: "SELECT place, number, nodes FROM public.verbatim_leaf WHERE place = ANY ($1::bigint[])", args: []any{arrayOf(list)}, read: func(r row) error {
		each(r.num(0), stores.Leaf{Seq: r.num(1), Row: slices.Clone(r.bytes(2))})
		return nil
	}}
}

// chainOp reads the end of the older chain.
func chainOp(into *sqlcore.Chain) op {
	return op{doing: "journal", sql: `SELECT seq, chain_hash FROM public.verbatim_journal WHERE salt IS NULL
AND seq <= COALESCE((SELECT number FROM public.verbatim_leaf WHERE place = 0), 9223372036854775807) ORDER BY seq DESC LIMIT 1`, read: func(r row) error {
		into.Seq = r.num(0)
		copy(into.Hash[:], r.bytes(1))
		return nil
	}}
}

// headOps read the end of the log, after which head knows it.
func headOps(root *stores.Root, end *sqlcore.Chain, first *int64) []op {
	*first = -1
	return []op{
		{doing: "journal", sql: lastRootSQL, read: func(r row) error {
			root.Size = r.num(0)
			copy(root.Hash[:], r.bytes(1))
			return nil
		}},
		chainOp(end),
		firstOp(first),
	}
}

// firstOp reads how many entries the older chain has.
func firstOp(first *int64) op {
	return op{doing: "journal", sql: "SELECT number FROM public.verbatim_leaf WHERE place = 0", read: func(r row) error {
		*first = r.num(0)
		return nil
	}}
}

func headOf(root stores.Root, end sqlcore.Chain, first int64) (int64, [32]byte) {
	if root.Size <= 1 {
		return end.Seq, end.Hash
	}
	return first + root.Size - 1, root.Hash
}

// Head implements stores.Store.
func (s *Store) Head(ctx context.Context) (place int64, hash [32]byte, err error) {
	var root stores.Root
	var end sqlcore.Chain
	var first int64
	err = s.read(ctx, s.pool, stores.Scope{}, func(c *conn) error { return c.do(ctx, headOps(&root, &end, &first)...) })
	if err == nil {
		place, hash = headOf(root, end, first)
	}
	return place, hash, err
}

// Placed implements stores.Store.
func (s *Store) Placed(ctx context.Context, from, to int64) (entries []stores.Entry, err error) {
	err = s.read(ctx, s.pool, stores.Scope{}, func(c *conn) error {
		first, end := int64(-1), sqlcore.Chain{}
		if err := c.do(ctx, firstOp(&first), chainOp(&end)); err != nil {
			return err
		}
		first = max(first, end.Seq)
		if from <= first {
			last := first
			if to != 0 {
				last = min(to, first)
			}
			if err := c.do(ctx, entriesOp(from, last, 0, &entries)); err != nil {
				return err
			}
		}
		if to != 0 && to <= first {
			return nil
		}
		var missing error
		err := c.do(ctx, op{doing: "journal", sql: "SELECT " + entryColumns + ", l.nodes, l.number FROM public.verbatim_leaf l LEFT JOIN public.verbatim_journal j ON j.seq = l.number WHERE l.place >= $1::bigint AND ($2::bigint = 0 OR l.place <= $3::bigint) ORDER BY l.place",
			args: []any{strconv.FormatInt(max(1, from-first), 10), strconv.FormatInt(to, 10), strconv.FormatInt(to-first, 10)},
			read: func(r row) error {
				if missing != nil {
					return nil
				}
				if r.raw[0] == nil {
					missing = &stores.ChainError{Seq: r.num(entryWidth + 1), Msg: "is missing: the log has its leaf", Missing: true}
					return nil
				}
				e, err := readEntry(r)
				if err != nil {
					return err
				}
				e.Row = slices.Clone(r.bytes(entryWidth))
				clear(e.Hash[copy(e.Hash[:], e.Row):])
				entries = append(entries, e)
				return nil
			}})
		if err == nil && len(entries) == 0 {
			err = missing
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return entries, nil
}

// Roots implements stores.Store.
func (s *Store) Roots(ctx context.Context, from int64) (roots []stores.Root, err error) {
	err = s.read(ctx, s.pool, stores.Scope{}, func(c *conn) error {
		return c.do(ctx, op{doing: "journal", sql: "SELECT size, hash FROM public.verbatim_head WHERE size >= $1::bigint ORDER BY size LIMIT 1000", args: []any{strconv.FormatInt(from, 10)}, read: func(r row) error {
			root := stores.Root{Size: r.num(0)}
			copy(root.Hash[:], r.bytes(1))
			roots = append(roots, root)
			return nil
		}})
	})
	return roots, err
}

// Leaves implements stores.Store.
func (s *Store) Leaves(ctx context.Context, numbers []int64) (map[int64]stores.Leaf, error) {
	found := make(map[int64]stores.Leaf, len(numbers))
	err := s.read(ctx, s.pool, stores.Scope{}, func(c *conn) error {
		return c.do(ctx, leavesOp(numbers, func(n int64, leaf stores.Leaf) { found[n] = leaf }))
	})
	return found, err
}

// Unsealed implements stores.Store.
func (s *Store) Unsealed(ctx context.Context) (u stores.Unsealed, err error) {
	err = s.read(ctx, s.pool, stores.Scope{}, func(c *conn) error {
		u = stores.Unsealed{}
		return c.do(ctx,
			op{doing: "journal", sql: "SELECT count(*) FROM public.verbatim_waiting w JOIN public.verbatim_journal j ON j.seq = w.number WHERE j.salt IS NOT NULL AND NOT EXISTS (SELECT FROM public.verbatim_leaf l WHERE l.number = w.number)", read: func(r row) error {
				u.Waiting = r.num(0)
				return nil
			}},
			op{doing: "journal", sql: `SELECT j.seq FROM public.verbatim_journal j WHERE (j.salt IS NOT NULL OR j.seq > (SELECT number FROM public.verbatim_leaf WHERE place = 0)) AND NOT EXISTS (SELECT FROM public.verbatim_leaf l WHERE l.number = j.seq)
AND (j.salt IS NULL OR NOT EXISTS (SELECT FROM public.verbatim_waiting w WHERE w.number = j.seq)) ORDER BY j.seq LIMIT 10`, read: func(r row) error {
				u.Stray = append(u.Stray, r.num(0))
				return nil
			}})
	})
	return u, err
}

// Sealing returns how many entries the log has, and how many wait for it. It takes as long whatever the
// size of the log, so it may be asked again and again.
func (s *Store) Sealing(ctx context.Context) (sealed, waiting int64, err error) {
	err = s.read(ctx, s.pool, stores.Scope{}, func(c *conn) error {
		return c.do(ctx, op{doing: "journal", sql: "SELECT COALESCE((SELECT size FROM public.verbatim_head ORDER BY size DESC LIMIT 1), 0), (SELECT count(*) FROM public.verbatim_waiting)", read: func(r row) error {
			sealed, waiting = r.num(0), r.num(1)
			return nil
		}})
	})
	return sealed, waiting, err
}

// Connections returns how many connections of the pool are in use, and how many it has at most.
func (s *Store) Connections() (used, most int) {
	pool := s.pool.Stat()
	return int(pool.AcquiredConns()), int(pool.MaxConns())
}

// keep adds sealed entries of another journal.
func (t *tx) keep(ctx context.Context, entries []stores.Entry) error {
	if t.placing == nil {
		t.placing = &placing{c: t.c, s: t.s}
		if err := t.c.do(ctx, op{doing: "seal", sql: "SELECT pg_catalog.pg_advisory_xact_lock(" + sealLock + ")"}, t.placing.lastOp()); err != nil {
			return err
		}
	}
	for run := range slices.Chunk(entries, maxRun) {
		o, err := keepSQL(run)
		if err == nil {
			err = t.c.do(ctx, o...)
		}
		if err != nil {
			return err
		}
		if n := slices.IndexFunc(run, func(e stores.Entry) bool { return !e.InChain() }); n >= 0 {
			placed, err := t.placing.place(ctx, run[n:])
			if err == nil {
				err = t.c.do(ctx, placed...)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
