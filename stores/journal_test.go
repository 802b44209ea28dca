package stores_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"verbatim/stores"
)

func chain(n int) []stores.Entry {
	entries := make([]stores.Entry, n)
	var prev [32]byte
	for i := range entries {
		entries[i] = stores.Entry{
			Time: time.Date(2025, 1, 3, 10, 0, i, 123456789, time.UTC), Principal: "pierre", Roles: []string{"client", "owner"}, Session: "s",
			Source: "a.dsl:1", Verb: "client.add-note", Call: "client.add-note :note \"x\"", Outcome: "ok", Reason: "r", Changes: "[]",
			Preview: "p", Agreed: "a", Palette: "d", Turn: "t", Origins: "{}",
		}
		entries[i].Chain(int64(i+1), prev)
		prev = entries[i].Hash
	}
	return entries
}

// The encoding is for ever: journals of every release are verified by the next.
func TestTheChainIsStable(t *testing.T) {
	t.Parallel()
	e := chain(2)[1]
	if got, want := hex.EncodeToString(e.Body[:]), "c9d595ab887cab504cc6695f12ffe7026e64d7c7504731db17e331cd82cca6d7"; got != want {
		t.Errorf("body is %s, want %s", got, want)
	}
	if got, want := hex.EncodeToString(e.Hash[:]), "21c759c3058fa20e1eb52ead3d9ab825ddf9121c082ff6a7c56389a3207bde84"; got != want {
		t.Errorf("hash is %s, want %s", got, want)
	}
	if e.Time.Nanosecond() != 123456000 {
		t.Error("the time was not cut to what a store keeps")
	}
}

// wantBad checks that a chain is found bad, and where.
func wantBad(t *testing.T, what string, from int64, prev [32]byte, entries []stores.Entry, seq int64) {
	t.Helper()
	_, _, err := stores.VerifyChain(from, prev, entries)
	var bad *stores.ChainError
	if !errors.As(err, &bad) || bad.Seq != seq {
		t.Fatalf("%s: %v, want entry %d", what, err, seq)
	}
}

// texts are the texts of an entry, by name.
func texts(e *stores.Entry) map[string]*string {
	all := map[string]*string{
		"principal": &e.Principal, "session": &e.Session, "source": &e.Source, "verb": &e.Verb, "call": &e.Call, "outcome": &e.Outcome,
		"reason": &e.Reason, "changes": &e.Changes, "preview": &e.Preview, "agreed": &e.Agreed, "palette": &e.Palette, "turn": &e.Turn, "origins": &e.Origins,
	}
	for i := range e.Roles {
		all[fmt.Sprint("role ", i)] = &e.Roles[i]
	}
	return all
}

// SAFE-J1: in a journal of 500 entries every bit of every byte that is hashed is
// turned, one at a time, and each time the entry that holds it is the one named.
// What comes before an entry was verified without it, and what comes after is
// not looked at, so that each turn costs the verification of one entry.
func TestVerifyChainFindsEveryBit(t *testing.T) {
	t.Parallel()
	entries := chain(500)
	turned := 0
	for i := range entries {
		from, prev := int64(i), [32]byte{}
		if i > 0 {
			prev = entries[i-1].Hash
		}
		one := slices.Clone(entries[i : i+1])
		e := &one[0]
		e.Roles = slices.Clone(e.Roles)
		wantThis := func(what string) {
			turned++
			wantBad(t, what, from, prev, one, from+1)
		}
		for name, text := range texts(e) {
			was := *text
			b := []byte(was)
			for j := range 8 * len(b) {
				b[j/8] ^= 1 << (j % 8)
				*text = string(b)
				b[j/8] ^= 1 << (j % 8)
				wantThis(name)
			}
			*text = was
		}
		for bit := range 64 {
			was := e.Time
			e.Time = time.UnixMicro(was.UnixMicro() ^ 1<<bit)
			wantThis("time")
			e.Time = was
		}
		for name, sum := range map[string]*[32]byte{"prev": &e.Prev, "body": &e.Body, "hash": &e.Hash} {
			for j := range 8 * len(sum) {
				sum[j/8] ^= 1 << (j % 8)
				wantThis(name)
				sum[j/8] ^= 1 << (j % 8)
			}
		}
		// Of a number that is not the next one, it is that one that is missing.
		for bit := range 64 {
			e.Seq ^= 1 << bit
			wantThis("number")
			e.Seq ^= 1 << bit
		}
		if _, _, err := stores.VerifyChain(from, prev, one); err != nil {
			t.Fatal(err)
		}
	}
	if want := 500 * 8 * (len("pierreclientownersa.dsl:1client.add-noteclient.add-note :note \"x\"okr[]padt{}") + 8 + 8 + 3*32); turned != want {
		t.Errorf("%d bits were turned, want %d", turned, want)
	}
}

// SAFE-J1: each entry of 500 is deleted, doubled, swapped with the next,
// replaced by a forged one and has one put before it; a text moves to the
// neighbouring field; and each time the first entry that is wrong is named.
func TestVerifyChainFindsEveryMove(t *testing.T) {
	t.Parallel()
	whole := chain(500)
	if seq, head, err := stores.VerifyChain(0, [32]byte{}, whole); err != nil || seq != 500 || head != whole[499].Hash {
		t.Fatal(seq, err)
	}
	if seq, _, err := stores.VerifyChain(400, whole[399].Hash, whole[400:]); err != nil || seq != 500 {
		t.Fatal(seq, err)
	}
	for i := range whole {
		n := int64(i + 1)
		from, prev := n-1, whole[i].Prev
		// What stands before i was verified without it, and three entries are
		// enough to come upon what is wrong.
		at := func() []stores.Entry { return slices.Clone(whole[i:min(i+3, 500)]) }
		wantFrom := func(what string, entries []stores.Entry, seq int64) {
			t.Helper()
			wantBad(t, fmt.Sprintf("%s at %d", what, n), from, prev, entries, seq)
		}
		if i < 499 {
			wantFrom("deleted", at()[1:], n)
			swapped := at()
			swapped[0], swapped[1] = swapped[1], swapped[0]
			wantFrom("swapped", swapped, n)
			sealed := at()
			sealed[0].Call = "y"
			sealed[0].Chain(n, prev)
			wantFrom("sealed again", sealed, n+1)
		}
		wantFrom("doubled", slices.Insert(at(), 0, whole[i]), n+1)
		inserted := stores.Entry{Call: "y", Time: whole[i].Time}
		inserted.Chain(n, prev)
		wantFrom("put before", slices.Insert(at(), 0, inserted), n+1)
		for name, change := range map[string]func(e *stores.Entry){
			"another's number":         func(e *stores.Entry) { e.Chain(n+1, prev) },
			"a body of something else": func(e *stores.Entry) { e.Call = "y" },
			"an entry of the log":      func(e *stores.Entry) { e.Write(); e.Number(n) },
			"a body put right":         func(e *stores.Entry) { e.Call = "y"; e.Write() },
			"a role less":              func(e *stores.Entry) { e.Roles = []string{"client"} },
			"roles that read alike":    func(e *stores.Entry) { e.Roles = []string{"clientowner"} },
			"a text in the next field": func(e *stores.Entry) { e.Session, e.Source = e.Session+e.Source[:1], e.Source[1:] },
			"a turn for an origin":     func(e *stores.Entry) { e.Turn, e.Origins = e.Origins, e.Turn },
		} {
			entries := at()
			change(&entries[0])
			wantFrom(name, entries, n)
		}
	}
}

// SAFE-J1: no false alarm on a thousand journals of whatever comes.
func TestVerifyChainAcceptsGoodJournals(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		b := make([]byte, r.IntN(12))
		for i := range b {
			b[i] = byte(r.IntN(256))
		}
		return string(b)
	}
	for range 1000 {
		var entries []stores.Entry
		var prev [32]byte
		for n := range r.IntN(20) {
			e := stores.Entry{Time: time.UnixMicro(r.Int64N(1 << 52)), Roles: make([]string, r.IntN(3))}
			for _, text := range texts(&e) {
				*text = word()
			}
			e.Chain(int64(n+1), prev)
			entries, prev = append(entries, e), e.Hash
		}
		seq, head, err := stores.VerifyChain(0, [32]byte{}, entries)
		if err != nil || seq != int64(len(entries)) || head != prev {
			t.Fatalf("%d of %d, %v", seq, len(entries), err)
		}
	}
}

// sealed is an entry of the log with parts of every kind.
func sealed() stores.Entry {
	e := chain(1)[0]
	e.Changes = `[{"v":1,"Opening":"o"},{"Entity":"note","Key":"1","Fields":[{"After":"a \"],{\" b"}]},{"Entity":"note","Key":"2"}]`
	e.Salt = stores.Salt{1, 2, 3}
	e.Write()
	e.Number(7)
	return e
}

// The encoding is for ever: logs of every release are verified by the next.
func TestTheLogIsStable(t *testing.T) {
	t.Parallel()
	e := sealed()
	if got, want := hex.EncodeToString(e.Body[:]), "83f0d0c034be45b64724f93b1895f04045cfa854e97f552c007c00c9c1cd0d67"; got != want {
		t.Errorf("body is %s, want %s", got, want)
	}
	if got, want := hex.EncodeToString(e.Hash[:]), "4ad4b4f3d17220cf909253433d4f507b4a861553317f76a881bac53d9dff3b11"; got != want {
		t.Errorf("leaf is %s, want %s", got, want)
	}
	if again := tlog.RecordHash(stores.LeafData(e.Seq, e.Body)); [32]byte(again) != e.Hash {
		t.Error("a leaf is hashed in another way than RFC 9162's")
	}
	if parts := e.Parts(); len(parts) != stores.RowParts+2 || parts[stores.RowParts+1].Texts[0] != `{"Entity":"note","Key":"2"}` || parts[stores.CallPart].Texts[5] != `[{"v":1,"Opening":"o"}]` {
		t.Errorf("the parts are %q", parts)
	}
}

// SAFE-J1: every bit of an entry of the log is turned, one at a time, and each time the entry is
// found to be altered.
func TestCheckFindsEveryBit(t *testing.T) {
	t.Parallel()
	e := sealed()
	e.Roles = slices.Clone(e.Roles)
	if err := e.Check(); err != nil {
		t.Fatal(err)
	}
	found := func(what string) {
		t.Helper()
		var bad *stores.ChainError
		if err := e.Check(); !errors.As(err, &bad) || bad.Seq != e.Seq {
			t.Fatalf("%s: %v", what, err)
		}
	}
	for name, text := range texts(&e) {
		was := *text
		b := []byte(was)
		for j := range 8 * len(b) {
			b[j/8] ^= 1 << (j % 8)
			*text = string(b)
			b[j/8] ^= 1 << (j % 8)
			found(name)
		}
		*text = was + " "
		found(name)
		*text = was
	}
	for bit := range 64 {
		was := e.Time
		e.Time = time.UnixMicro(was.UnixMicro() ^ 1<<bit)
		found("time")
		e.Time = was
		e.Seq ^= 1 << bit
		found("number")
		e.Seq ^= 1 << bit
	}
	for name, sum := range map[string][]byte{"salt": e.Salt[:], "body": e.Body[:], "hash": e.Hash[:]} {
		for j := range 8 * len(sum) {
			sum[j/8] ^= 1 << (j % 8)
			found(name)
			sum[j/8] ^= 1 << (j % 8)
		}
	}
	e.Roles = []string{"clientowner"}
	found("roles that read alike")
}

// Two texts of changes never have the same parts.
func TestChangesAreSplitInOneWay(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, text := range []string{"", "[", "[]", "{}", "[{}]", "[{}", "{}]", "[{},{}]", "[{}],[{}]", "[{}][{}]", `[{"a":"},{"}]`, `[{"a":"\"},{"}]`, "[{[},{]}]", "[{},{},]", "[{},,{}]", "[{},[{},{}]]", `[{},{"}]`} {
		e := stores.Entry{Changes: text, Salt: stores.Salt{1}}
		e.Write()
		if other, ok := seen[string(e.Body[:])]; ok {
			t.Errorf("%q and %q are one", text, other)
		}
		seen[string(e.Body[:])] = text
	}
}
