package journal

import (
	"context"
	"fmt"
	"iter"

	"verbatim/stores"
)

// A Source supplies entries; usually it is a store.
type Source interface {
	// Journal returns entries with Seq in [from, to], ascending; to == 0 is the
	// end.
	Journal(ctx context.Context, from, to int64) ([]stores.Entry, error)
	// Head returns the number and the hash of the last entry.
	Head(ctx context.Context) (int64, [32]byte, error)
}

// page is how many entries are held in memory at once.
const page = 500

// Entries iterates over the entries from one number to another, to == 0 being the last. It reads
// a page at a time, so that memory does not grow with their number.
func Entries(ctx context.Context, s Source, from, to int64) iter.Seq2[*stores.Entry, error] {
	return func(yield func(*stores.Entry, error) bool) {
		for at := max(1, from); to == 0 || at <= to; {
			end := at + page - 1
			if to != 0 {
				end = min(end, to)
			}
			entries, err := s.Journal(ctx, at, end)
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range entries {
				if !yield(&entries[i], nil) {
					return
				}
			}
			if len(entries) == 0 {
				// A gap is not the end. The check of the chain will report it.
				last, _, err := s.Head(ctx)
				if err != nil {
					yield(nil, err)
					return
				}
				if last <= end {
					return
				}
			}
			at = end + 1
		}
	}
}

// A BehindError says that a journal has fewer entries than a checkpoint: its end was cut off, or
// an older copy of it was restored.
type BehindError struct {
	Size  int64 // entries that exist
	Known int64 // entries at the checkpoint
}

func (e *BehindError) Error() string {
	return fmt.Sprintf("the journal ends at entry %d, and the checkpoint knows of %d: its end was cut off, or an older copy was put back", e.Size, e.Known)
}

// A ForkError says that a journal does not contain the head of a checkpoint: it was rewritten up
// to there, or it is another journal.
type ForkError struct{ Seq int64 }

func (e *ForkError) Error() string {
	return fmt.Sprintf("entry %d is not the one that the checkpoint knows: the journal was written anew, or the checkpoint is another journal's", e.Seq)
}

// Verify checks that entries are a whole journal, from its first entry on, and that it extends
// every known head. It returns its head. The error is a *stores.ChainError, a *BehindError, a
// *ForkError or that of the entries; the head returned with an error is the last valid one.
//
// Without a known head it cannot know whether the end of the journal was cut off or all of it
// rewritten: both leave a valid chain.
func Verify(entries iter.Seq2[*stores.Entry, error], known ...Head) (Head, error) {
	var h Head
	one := make([]stores.Entry, 1)
	for e, err := range entries {
		if err != nil {
			return h, err
		}
		one[0] = *e
		if _, _, err := stores.VerifyChain(h.Size, h.Hash, one); err != nil {
			return h, err
		}
		next := Head{e.Seq, e.Hash}
		for _, k := range known {
			if k.Size == next.Size && k.Hash != next.Hash {
				return h, &ForkError{k.Size}
			}
		}
		h = next
	}
	for _, k := range known {
		if k.Size > h.Size {
			return h, &BehindError{h.Size, k.Size}
		}
	}
	return h, nil
}
