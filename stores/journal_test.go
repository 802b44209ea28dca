package stores_test

import (
	"encoding/hex"
	"errors"
	"testing"
	"time"

	"verbatim/stores"
)

func chain(n int) []stores.Entry {
	entries := make([]stores.Entry, n)
	var prev [32]byte
	for i := range entries {
		entries[i] = stores.Entry{
			Time: time.Date(2025, 1, 3, 10, 0, i, 123456789, time.UTC), Principal: "pierre", Roles: []string{"client", "owner"}, Session: "s",
			Source: "a.dsl:1", Verb: "client.add-note", Call: "client.add-note :note \"x\"", Outcome: "ok", Reason: "r", Changes: "[]",
			Preview: "p", Agreed: "a", Palette: "d",
		}
		entries[i].Seal(int64(i+1), prev)
		prev = entries[i].Hash
	}
	return entries
}

// The encoding is for ever: journals of every release are verified by the next.
func TestSealIsStable(t *testing.T) {
	t.Parallel()
	e := chain(1)[0]
	if got, want := hex.EncodeToString(e.Hash[:]), "a87bac044ae94d4941550f9d2f0462b92a7bec0f09e25d1b7b7aac93369333af"; got != want {
		t.Errorf("hash is %s, want %s", got, want)
	}
	if e.Time.Nanosecond() != 123456000 {
		t.Error("the time was not cut to what a store keeps")
	}
}

// SAFE-J1: every change of an entry, and of the order of entries, is found and
// the first bad entry named.
func TestVerifyChainFindsEveryChange(t *testing.T) {
	t.Parallel()
	if seq, head, err := stores.VerifyChain(0, [32]byte{}, chain(9)); err != nil || seq != 9 || head != chain(9)[8].Hash {
		t.Fatal(seq, err)
	}
	if seq, _, err := stores.VerifyChain(4, chain(4)[3].Hash, chain(9)[4:]); err != nil || seq != 9 {
		t.Fatal(seq, err)
	}
	text := func(get func(*stores.Entry) *string) func([]stores.Entry) []stores.Entry {
		return func(es []stores.Entry) []stores.Entry { *get(&es[4]) += "x"; return es }
	}
	for name, c := range map[string]struct {
		seq    int64
		change func([]stores.Entry) []stores.Entry
	}{
		"time":      {5, func(es []stores.Entry) []stores.Entry { es[4].Time = es[4].Time.Add(time.Microsecond); return es }},
		"principal": {5, text(func(e *stores.Entry) *string { return &e.Principal })},
		"session":   {5, text(func(e *stores.Entry) *string { return &e.Session })},
		"source":    {5, text(func(e *stores.Entry) *string { return &e.Source })},
		"verb":      {5, text(func(e *stores.Entry) *string { return &e.Verb })},
		"call":      {5, text(func(e *stores.Entry) *string { return &e.Call })},
		"outcome":   {5, text(func(e *stores.Entry) *string { return &e.Outcome })},
		"reason":    {5, text(func(e *stores.Entry) *string { return &e.Reason })},
		"changes":   {5, text(func(e *stores.Entry) *string { return &e.Changes })},
		"preview":   {5, text(func(e *stores.Entry) *string { return &e.Preview })},
		"agreed":    {5, text(func(e *stores.Entry) *string { return &e.Agreed })},
		"palette":   {5, text(func(e *stores.Entry) *string { return &e.Palette })},
		"role":      {5, func(es []stores.Entry) []stores.Entry { es[4].Roles = []string{"client"}; return es }},
		"roles that read alike": {5, func(es []stores.Entry) []stores.Entry {
			es[4].Roles = []string{"clientowner"}
			return es
		}},
		"text moved to the next field": {5, func(es []stores.Entry) []stores.Entry {
			es[4].Session, es[4].Source = es[4].Session+"a", es[4].Source[1:]
			return es
		}},
		"hash":             {5, func(es []stores.Entry) []stores.Entry { es[4].Hash[31] ^= 1; return es }},
		"prev":             {5, func(es []stores.Entry) []stores.Entry { es[4].Prev[0] ^= 1; return es }},
		"deleted":          {5, func(es []stores.Entry) []stores.Entry { return append(es[:4:4], es[5:]...) }},
		"the first gone":   {1, func(es []stores.Entry) []stores.Entry { return es[1:] }},
		"doubled":          {6, func(es []stores.Entry) []stores.Entry { return append(es[:5:5], es[4:]...) }},
		"swapped":          {5, func(es []stores.Entry) []stores.Entry { es[4], es[5] = es[5], es[4]; return es }},
		"sealed again":     {6, func(es []stores.Entry) []stores.Entry { es[4].Call = "y"; es[4].Seal(5, es[3].Hash); return es }},
		"another's number": {5, func(es []stores.Entry) []stores.Entry { es[4].Seal(6, es[3].Hash); return es }},
	} {
		_, _, err := stores.VerifyChain(0, [32]byte{}, c.change(chain(9)))
		var bad *stores.ChainError
		if !errors.As(err, &bad) || bad.Seq != c.seq {
			t.Errorf("%s: %v, want entry %d", name, err, c.seq)
		}
	}
}
