package console

import (
	"context"
	"testing"

	"verbatim/runtime/conversation/values"
	"verbatim/runtime/tests/told"
	"verbatim/stores"
)

// A kept is a journal of so many entries, of which it gives those that it has.
type kept struct {
	size    int64
	entries []stores.Entry
}

func (k kept) Head(context.Context) (int64, [32]byte, error) { return k.size, [32]byte{}, nil }

func (k kept) Journal(context.Context, int64, int64) ([]stores.Entry, error) { return k.entries, nil }

func (k kept) Placed(_ context.Context, from, _ int64) ([]stores.Entry, error) {
	return k.entries[min(len(k.entries), int(from)-1):], nil
}

func (k kept) Roots(context.Context, int64) ([]stores.Root, error) { return nil, nil }

// G10: that the journal is whole is told after it was verified, and of no other; one that is too long
// to be verified here is not told as verified.
func TestWhatIsToldOfTheJournalIsSo(t *testing.T) {
	t.Parallel()
	says := func(k kept) string {
		t.Helper()
		text, err := chain(t.Context(), k, values.English)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	whole, long := says(kept{}), says(kept{size: longestChain + 1})
	broken := says(kept{size: 1, entries: []stores.Entry{{Seq: 1, Place: 1, Verb: "house.note", Hash: [32]byte{1}}}})
	told.Check(t, "pages/chain-whole", whole, broken, "0")
	told.Check(t, "pages/chain-whole", whole, long)
	told.Check(t, "pages/chain-broken", broken, whole)
	told.Check(t, "pages/chain-long", long, whole, "5001")
}
