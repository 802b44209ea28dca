package journal

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"strconv"
	"time"

	"verbatim/stores"
	"verbatim/stores/merkle"
)

// A Source supplies entries in the order of their places; usually it is a store.
type Source interface {
	// Placed returns sealed entries with Place in [from, to], ascending; to == 0 is the end.
	Placed(ctx context.Context, from, to int64) ([]stores.Entry, error)
	// Head returns the place of the last sealed entry, and the root of the log.
	Head(ctx context.Context) (int64, [32]byte, error)
}

// page is how many entries are held in memory at once.
const page = 500

// EntryAt returns the place of the first journal entry at or after a time. Entries are in the order
// of their times, apart from differences between the clocks of several machines.
func EntryAt(ctx context.Context, s Source, at time.Time) (int64, error) {
	at = at.Add(-time.Minute)
	before := func(n int64) (bool, error) {
		all, err := s.Placed(ctx, n, n)
		return len(all) > 0 && all[0].Time.Before(at), err
	}
	low, high := int64(1), int64(1)
	for {
		is, err := before(high)
		if err != nil {
			return 0, err
		}
		if !is {
			break
		}
		low, high = high, 2*high
	}
	for low < high {
		mid := low + (high-low)/2
		is, err := before(mid)
		if err != nil {
			return 0, err
		}
		if is {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low, nil
}

// Entries iterates over the sealed entries from one place to another, to == 0 being the last. It
// reads a page at a time, so that memory does not grow with their number.
func Entries(ctx context.Context, s Source, from, to int64) iter.Seq2[*stores.Entry, error] {
	return func(yield func(*stores.Entry, error) bool) {
		for at := max(1, from); to == 0 || at <= to; {
			end := at + page - 1
			if to != 0 {
				end = min(end, to)
			}
			entries, err := s.Placed(ctx, at, end)
			if err == nil && len(entries) == 0 {
				last, _, bad := s.Head(ctx)
				if err = bad; err == nil && last < at {
					return
				}
				if err == nil { // it may have been sealed since we looked
					entries, err = s.Placed(ctx, at, end)
				}
				if err == nil && len(entries) == 0 {
					err = &stores.ChainError{Seq: at, Msg: "is missing, or the leaf of place " + strconv.FormatInt(at, 10), Missing: true}
				}
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range entries {
				if !yield(&entries[i], nil) {
					return
				}
			}
			at = max(at, entries[len(entries)-1].Place) + 1
		}
	}
}

// ByNumber iterates over the entries from one number to another, to == 0 being the last, in the
// order of numbers. Entries that wait to be sealed are among them.
func ByNumber(ctx context.Context, s interface {
	Journal(ctx context.Context, from, to int64) ([]stores.Entry, error)
}, from, to int64) iter.Seq2[*stores.Entry, error] {
	return func(yield func(*stores.Entry, error) bool) {
		for at := max(1, from); to == 0 || at <= to; {
			entries, err := s.Journal(ctx, at, to)
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range entries {
				if !yield(&entries[i], nil) {
					return
				}
			}
			if len(entries) < stores.EntriesAtOnce {
				return
			}
			at = entries[len(entries)-1].Seq + 1
		}
	}
}

// A Rooted is a Source with the roots of its log.
type Rooted interface {
	Source
	Roots(ctx context.Context, from int64) ([]stores.Root, error)
}

// Roots iterates over the roots of a log.
func Roots(ctx context.Context, s Rooted) iter.Seq2[stores.Root, error] {
	return func(yield func(stores.Root, error) bool) {
		for at := int64(1); ; {
			roots, err := s.Roots(ctx, at)
			if err != nil {
				yield(stores.Root{}, err)
			}
			if err != nil || len(roots) == 0 {
				return
			}
			for _, r := range roots {
				if !yield(r, nil) {
					return
				}
			}
			at = roots[len(roots)-1].Size + 1
		}
	}
}

// A BehindError says that a journal has fewer entries than a checkpoint: its end was cut off, or
// an older copy of it was restored.
type BehindError struct {
	Size  int64 // entries that exist
	Known int64 // those at the checkpoint
}

func (e *BehindError) Error() string {
	return fmt.Sprintf("the journal ends at entry %d, and the checkpoint knows of %d: its end was cut off, or an older copy was put back", e.Size, e.Known)
}

// A ForkError says that a journal does not contain the head of a checkpoint: it was rewritten up
// to there, or it is another journal.
type ForkError struct{ Seq int64 }

func (e *ForkError) Error() string {
	return fmt.Sprintf("entry %d, or one before it, is not the one that the checkpoint knows: the journal was written anew, or the checkpoint is another journal's", e.Seq)
}

// Verify checks that entries are a whole journal, in the order of their places and from the first
// on, and that it extends every known head. roots are those that the log has; nil for a file,
// which has none. Verify returns the journal's head. The error is a *stores.ChainError, a
// *stores.LogError, a *BehindError, a *ForkError or that of the entries; the head returned with an
// error is the last valid one.
//
// Without a known head it cannot know whether the end of the journal was cut off or all of it
// rewritten.
func Verify(entries iter.Seq2[*stores.Entry, error], roots iter.Seq2[stores.Root, error], known ...Head) (h Head, err error) {
	v := verification{known: known}
	if roots != nil {
		next, stop := iter.Pull2(roots)
		defer stop()
		v.next = next
	}
	for e, err := range entries {
		if err == nil {
			err = v.add(e)
		}
		if err != nil {
			return v.head, err
		}
	}
	return v.head, v.end()
}

// Whole verifies the journal of a store: see Verify.
func Whole(ctx context.Context, s Rooted, known ...Head) (Head, error) {
	return Verify(Entries(ctx, s, 1, 0), Roots(ctx, s), known...)
}

// Verified passes lines on and verifies each. head is that of the lines so far. Lines that are not
// the whole of a journal are verified one by one, and the chain among them.
func Verified(lines iter.Seq2[*Line, error], whole bool, head *Head) iter.Seq2[*Line, error] {
	return func(yield func(*Line, error) bool) {
		v := verification{part: !whole}
		for l, err := range lines {
			if err == nil && v.part && v.head.Entries == 0 {
				v.head = Head{Entries: l.Entry.Place - 1, Hash: l.Entry.Prev}
			}
			if err == nil {
				err = v.add(&l.Entry)
				*head = v.head
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(l, nil) {
				return
			}
		}
	}
}

// A verification is how far Verify has come.
type verification struct {
	head  Head
	tree  *merkle.Tree
	part  bool // there is no tree
	known []Head
	next  func() (stores.Root, error, bool) // the next root; nil without any
	root  stores.Root                       // the last one read
}

func (v *verification) add(e *stores.Entry) error {
	if e.Place != v.head.Entries+1 {
		return &stores.ChainError{Seq: v.head.Entries + 1, Msg: fmt.Sprintf("is missing: entry %d stands in its place", e.Seq), Missing: true}
	}
	if e.InChain() {
		if v.tree != nil {
			return &stores.ChainError{Seq: e.Seq, Msg: "is of the older chain, which has ended"}
		}
		if _, _, err := stores.VerifyChain(v.head.Entries, v.head.Hash, []stores.Entry{*e}); err != nil {
			return err
		}
		v.head = Head{Entries: e.Place, Hash: e.Hash}
		return v.forks(func(k Head) bool { return k.Size == 0 && k.Entries == e.Place })
	}
	if err := e.Check(); err != nil {
		return err
	}
	if v.part {
		v.head = Head{Entries: e.Place, Hash: e.Hash}
		return nil
	}
	if v.tree == nil {
		for _, k := range v.known {
			if k.Size == 0 && k.Entries > v.head.Entries { // it signed the chain, which ends before that
				return &ForkError{k.Entries}
			}
		}
		v.tree = merkle.New()
		v.tree.Append(stores.LeafHash(v.head.Entries, v.head.Hash))
		if err := v.grown(v.head.Entries); err != nil {
			return err
		}
	}
	row := v.tree.Append(e.Hash)
	if e.Row != nil && !bytes.Equal(e.Row, row) {
		return &stores.ChainError{Seq: e.Seq, Msg: "has a leaf that is not its own"}
	}
	return v.grown(e.Place)
}

// grown compares the root of a tree that has grown with the one that the log has.
func (v *verification) grown(entries int64) error {
	size := v.tree.Len()
	v.head = Head{Entries: entries, Size: size, Hash: v.tree.Root()}
	for v.next != nil && v.root.Size < size {
		root, err, ok := v.next()
		if !ok {
			break
		}
		if err != nil {
			return err
		}
		v.root = root
	}
	if v.root.Size == size && v.root.Hash != v.head.Hash {
		return &stores.LogError{Size: size, Msg: "is not that of its leaves"}
	}
	return v.forks(func(k Head) bool { return k.Size == size })
}

func (v *verification) forks(at func(Head) bool) error {
	for _, k := range v.known {
		if at(k) && k.Hash != v.head.Hash {
			return &ForkError{v.head.Entries}
		}
	}
	return nil
}

func (v *verification) end() error {
	if v.next != nil && v.root.Size < v.head.Size {
		return &stores.LogError{Size: v.head.Size, Msg: "is missing"}
	}
	for _, k := range v.known {
		if k.Size > v.head.Size {
			k.Entries = v.head.EntriesAt(k.Size)
		}
		if k.Entries > v.head.Entries {
			return &BehindError{v.head.Entries, k.Entries}
		}
	}
	return nil
}
