package storetest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	signed "golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"verbatim/stores"
	"verbatim/stores/journal"
)

// Whole seals what waits, and checks that the journal is whole and, unless entries is -1, has so
// many entries. It returns them in the order of their places.
func Whole(t testing.TB, s stores.Store, entries int64) []stores.Entry {
	t.Helper()
	ctx := context.Background()
	if err := s.Seal(ctx); err != nil {
		t.Fatal(err)
	}
	if h, err := journal.Whole(ctx, s); err != nil || entries >= 0 && h.Entries != entries {
		t.Errorf("the journal has %d entries, want %d: %v", h.Entries, entries, err)
	}
	if waits, err := s.Unsealed(ctx); err != nil || waits.Waiting != 0 || len(waits.Stray) > 0 {
		t.Errorf("unsealed: %+v, %v", waits, err)
	}
	all, err := s.Placed(ctx, 1, 0)
	if err != nil {
		t.Error(err)
	}
	return all
}

func contains(s, part string) bool { return strings.Contains(s, part) }

var journalCases = []testCase{
	{"many entries come a page at a time, by number", func(t *testing.T, open Open) {
		s := open(t, newSchema().all())
		ctx := context.Background()
		before := len(Whole(t, s, -1))
		err := s.Update(ctx, everything, func(tx stores.Tx) error {
			return tx.Apply(ctx, stores.Batch{Entries: make([]stores.Entry, stores.EntriesAtOnce+1)})
		})
		if err != nil {
			t.Fatal(err)
		}
		if some, err := s.Journal(ctx, 1, 0); err != nil || len(some) != stores.EntriesAtOnce {
			t.Errorf("%d entries at once, %v", len(some), err)
		}
		all := -before
		for _, err := range journal.ByNumber(ctx, s, 1, 0) {
			if err != nil {
				t.Fatal(err)
			}
			all++
		}
		if all != stores.EntriesAtOnce+1 {
			t.Errorf("%d entries by number", all)
		}
	}},
	{"entries come back whole, numbered in order", func(t *testing.T, open Open) {
		s := open(t, newSchema().all())
		ctx := context.Background()
		full := stores.Entry{
			Time: time.Date(2025, 1, 3, 10, 0, 0, 123456789, time.FixedZone("", 3600)), Principal: "pierre", Roles: []string{"client", "owner"},
			Session: "s", Source: "a.dsl:3", Verb: "client.add-note", Call: "client.add-note :note \"é\n\"", Outcome: "refused",
			Reason: "not-permitted", Changes: `[{"op":"update"}]`, Preview: "p", Agreed: "thomas, by mail", Palette: "d1",
			Turn: "t7", Origins: `{"note":"document"}`,
		}
		var of stores.Tx
		err := s.Update(ctx, everything, func(tx stores.Tx) error {
			of = tx
			for _, entries := range [][]stores.Entry{{full, {}}, nil, {entry("c")}} {
				if err := tx.Apply(ctx, stores.Batch{Entries: entries}); err != nil {
					return err
				}
				if tx.Numbered() != nil {
					t.Error("numbered before the commit")
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		sealed := of.Numbered()
		kept, err := s.Journal(ctx, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(kept) != 3 {
			t.Fatalf("%d entries", len(kept))
		}
		for i := range kept {
			if len(kept[i].Roles) == 0 {
				kept[i].Roles = nil
			}
			kept[i].Place = 0
			if err := kept[i].Check(); err != nil || kept[i].InChain() {
				t.Errorf("entry %d: %v", i+1, err)
			}
		}
		if !reflect.DeepEqual(kept, sealed) {
			t.Errorf("kept\n%+v\nsealed\n%+v", kept, sealed)
		}
		full.Time = time.Date(2025, 1, 3, 9, 0, 0, 123456000, time.UTC)
		full.Salt = kept[0].Salt
		full.Write()
		full.Number(1)
		if !reflect.DeepEqual(kept[0], full) {
			t.Errorf("kept\n%+v\nmeant\n%+v", kept[0], full)
		}
		Whole(t, s, 3)
	}},
	{"entries have no place in the journal until they are committed", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		ctx := context.Background()
		w.must(w.apply(everything, stores.Batch{Entries: []stores.Entry{entry("first")}}))
		var outer, failed stores.Tx
		mine := errors.New("mine")
		w.must(w.Update(ctx, everything, func(tx stores.Tx) error {
			outer = tx
			return tx.Apply(ctx, stores.Batch{Entries: []stores.Entry{entry("a"), entry("b")}})
		}))
		err := w.Update(ctx, everything, func(tx stores.Tx) error {
			failed = tx
			w.must(tx.Apply(ctx, stores.Batch{Entries: []stores.Entry{entry("never")}}))
			return mine
		})
		if err != mine || failed.Numbered() != nil {
			t.Errorf("%v, numbered %v", err, failed.Numbered())
		}
		kept, err := w.Journal(ctx, 2, 0)
		w.must(err)
		got := outer.Numbered()
		if len(got) != 2 || len(kept) != 2 {
			t.Fatalf("%d entries, %d of them told", len(kept), len(got))
		}
		for i, e := range got {
			if e.Seq != int64(i+2) || e.Seq != kept[i].Seq || e.Salt != kept[i].Salt || e.Body != kept[i].Body || e.Hash != kept[i].Hash {
				t.Errorf("told %+v, kept %+v", e, kept[i])
			}
		}
	}},
	{"a new row may hold the number of the transaction's first entry", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		ctx := context.Background()
		request := func(n int) stores.Change {
			c := insert(w.request, id("request", n), stores.Assign{Field: reqWorkstream, Value: id("workstream", 1)}, stores.Assign{Field: reqSubtype, Value: str(fmt.Sprint("S", n))})
			c.Number = reqCount
			return c
		}
		for n, entries := range [][]stores.Entry{{entry("a")}, nil, {entry("b"), entry("c"), entry("d")}, {entry("e"), entry("f")}} {
			w.must(w.Update(ctx, holding(1), func(tx stores.Tx) error {
				if err := tx.Apply(ctx, stores.Batch{Changes: []stores.Change{request(50 + n)}, Entries: entries[:len(entries)/2]}); err != nil {
					return err
				}
				if _, err := tx.Get(ctx, w.request, id("request", 50+n)); err != stores.ErrNotFound {
					t.Errorf("read before the commit: %v", err)
				}
				return tx.Apply(ctx, stores.Batch{Entries: entries[len(entries)/2:]})
			}))
		}
		for n, want := range []stores.Value{stores.NewInt(1), {}, stores.NewInt(2), stores.NewInt(5)} {
			row, err := w.get(holding(1), w.request, id("request", 50+n))
			if err != nil || row.Values[reqCount] != want {
				t.Errorf("row %d holds %v, %v", n, row.Values, err)
			}
		}
		// It fails as any other change does, and then nothing else of the transaction is kept.
		for name, c := range map[string]struct {
			scope  stores.Scope
			change stores.Change
			want   error
		}{
			"there already":   {holding(1), request(50), stores.ErrDuplicate},
			"another's":       {holding(2), request(60), stores.ErrNotFound},
			"no integer":      {holding(1), stores.Change{Op: stores.Insert, Entity: w.request, Key: id("request", 60), Set: request(60).Set, Number: reqNotes}, stores.ErrInvalid},
			"no field":        {holding(1), stores.Change{Op: stores.Insert, Entity: w.request, Key: id("request", 60), Set: request(60).Set, Number: 99}, stores.ErrInvalid},
			"no new row":      {holding(1), stores.Change{Op: stores.Update, Entity: w.request, Key: id("request", 50), Set: request(60).Set[1:], Number: reqCount}, stores.ErrInvalid},
			"set beside that": {holding(1), stores.Change{Op: stores.Insert, Entity: w.request, Key: id("request", 60), Set: append(request(60).Set, stores.Assign{Field: reqCount, Value: stores.NewInt(3)}), Number: reqCount}, stores.ErrInvalid},
		} {
			b := stores.Batch{Changes: []stores.Change{update(w.request, id("request", 1), stores.Assign{Field: reqNotes, Value: str("half")}), c.change}, Entries: []stores.Entry{entry("half")}}
			if name == "another's" {
				b.Changes = b.Changes[1:]
			}
			if err := w.apply(c.scope, b); !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", name, err, c.want)
			}
		}
		row, err := w.get(holding(1), w.request, id("request", 1))
		w.must(err)
		if entries, err := w.Journal(ctx, 0, 0); err != nil || len(entries) != 6 || !row.Values[reqNotes].IsNull() {
			t.Errorf("half was done: %v, %d entries, %v", row.Values, len(entries), err)
		}
	}},
	{"an entry is proven to whoever has the log's key, and one log extends another", func(t *testing.T, open Open) {
		// Another implementation of the formats judges the proofs.
		s := open(t, newSchema().all())
		ctx := context.Background()
		signer, err := journal.NewSigner("bank.example"+journal.OfLog, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		verifier, err := signed.NewVerifier(signer.Verifier.String())
		if err != nil {
			t.Fatal(err)
		}
		read := func(text string) (size int64, root tlog.Hash) {
			t.Helper()
			n, err := signed.Open([]byte(text), signed.VerifierList(verifier))
			if err != nil {
				t.Fatal(err)
			}
			var hash string
			if _, err := fmt.Sscanf(n.Text, "bank.example/sealed-log\n%d\n%s\n", &size, &hash); err != nil {
				t.Fatal(err)
			}
			if root, err = tlog.ParseHash(hash); err != nil {
				t.Fatal(err)
			}
			return size, root
		}
		was := journal.Head{}
		for n := range 5 {
			e := entry(fmt.Sprint("v", n))
			e.Call, e.Changes = "client.add-note", `[{"v":1},{"Entity":"note","Key":"1"},{"Entity":"note","Key":"2"}]`
			if err := s.Update(ctx, everything, func(tx stores.Tx) error {
				return tx.Apply(ctx, stores.Batch{Entries: []stores.Entry{e, entry("other")}})
			}); err != nil {
				t.Fatal(err)
			}
			Whole(t, s, int64(2*n+2))
			h, err := journal.Last(ctx, s)
			if err != nil {
				t.Fatal(err)
			}
			size, root := read(signer.Sign(h))
			if was.Size > 0 {
				path, err := journal.Consistency(ctx, s, was.Size, h)
				if err != nil {
					t.Fatal(err)
				}
				proof := make(tlog.TreeProof, len(path))
				for i := range path {
					proof[i] = path[i]
				}
				if err := tlog.CheckTree(proof, size, root, was.Size, was.Hash); err != nil {
					t.Errorf("from %d to %d leaves: %v", was.Size, size, err)
				}
			}
			was = h
			entries, err := s.Journal(ctx, 1, 0)
			if err != nil {
				t.Fatal(err)
			}
			for i := range entries {
				e := &entries[i]
				p, err := journal.Prove(ctx, s, e, journal.Show(e, func(part int) bool { return part != stores.RowParts }), func(h journal.Head) (string, error) { return signer.Sign(h), nil })
				if err != nil {
					t.Fatal(err)
				}
				size, root := read(p.Note)
				proof := make(tlog.RecordProof, len(p.Path))
				for i := range p.Path {
					proof[i] = p.Path[i]
				}
				if err := tlog.CheckRecord(proof, size, root, p.Index, tlog.RecordHash(stores.LeafData(e.Seq, e.Body))); err != nil {
					t.Errorf("entry %d: %v", e.Seq, err)
				}
				text := p.String()
				if strings.Contains(text, `"Key":"1"`) {
					t.Error("it shows what was withheld")
				}
				back, c, err := journal.ReadProof(text, &signer.Verifier)
				if err != nil || !c.Signed || back.Number != e.Seq || back.Parts[stores.CallPart].Texts[0] != e.Call {
					t.Errorf("entry %d is read as %+v, %v", e.Seq, back, err)
				}
				for i := 0; n == 4 && e.Seq == 1 && i < len(text); i++ {
					bad := []byte(text)
					bad[i] ^= 1
					if _, _, err := journal.ReadProof(string(bad), &signer.Verifier); err == nil {
						t.Fatalf("byte %d of a proof was altered, and it is accepted: %q", i, text[max(0, i-10):i+1])
					}
				}
			}
		}
	}},
	{"a range of entries is a range", func(t *testing.T, open Open) {
		s := open(t, newSchema().all())
		ctx := context.Background()
		for i := range 5 {
			err := s.Update(ctx, everything, func(tx stores.Tx) error {
				return tx.Apply(ctx, stores.Batch{Entries: []stores.Entry{entry(fmt.Sprint("v", i))}})
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range []struct{ from, to, first, n int64 }{{0, 0, 1, 5}, {2, 3, 2, 2}, {4, 0, 4, 2}, {6, 0, 0, 0}, {3, 2, 0, 0}} {
			got, err := s.Journal(ctx, c.from, c.to)
			if err != nil || int64(len(got)) != c.n || c.n > 0 && got[0].Seq != c.first {
				t.Errorf("%d to %d: %d entries, %v", c.from, c.to, len(got), err)
			}
		}
	}},
	{"eight writers make one log, without gaps, in commit order", func(t *testing.T, open Open) {
		// SAFE-J3, in the small. A row that every transaction increments records the order of the
		// commits.
		w := newWorld(t, open)
		ctx := context.Background()
		w.must(w.do(everything, update(w.request, id("request", 1), stores.Assign{Field: reqCount, Value: stores.NewInt(0)})))
		var wg sync.WaitGroup
		const writers, each = 8, 6
		for i := range writers {
			wg.Go(func() {
				for n := range each {
					err := w.Update(ctx, everything, func(tx stores.Tx) error {
						row, err := tx.Get(ctx, w.request, id("request", 1))
						if err != nil {
							return err
						}
						count := stores.NewInt(row.Values[reqCount].Int() + 1)
						e := entry(fmt.Sprintf("w%d-%d", i, n))
						e.Changes = count.Text()
						return tx.Apply(ctx, stores.Batch{
							Changes: []stores.Change{update(w.request, id("request", 1), stores.Assign{Field: reqCount, Value: count})},
							Entries: []stores.Entry{e},
						})
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		for i, e := range Whole(t, w.Store, writers*each) {
			if e.Changes != fmt.Sprint(i+1) {
				t.Fatalf("entry %d was commit %s", e.Seq, e.Changes)
			}
		}
	}},
}

var principalCases = []testCase{
	{"a principal has a name, roles and rows", func(t *testing.T, open Open) {
		s := open(t, newSchema().all())
		ctx := context.Background()
		if _, err := s.Principal(ctx, "pierre"); err != stores.ErrNotFound {
			t.Error(err)
		}
		for _, p := range []stores.Principal{
			{Name: "pierre", Label: "Pierre Dupont", Roles: []string{"client", "owner"}, Holds: map[string][]stores.Value{
				"cbu": {id("cbu", 1), id("cbu", 2)}, "country": {str("DE")}, "plant": {stores.NewInt(7)},
			}},
			{Name: "thomas"},
			{Name: "pierre", Roles: []string{"client"}, Holds: map[string][]stores.Value{"cbu": {id("cbu", 2)}}},
		} {
			if err := s.SetPrincipal(ctx, p); err != nil {
				t.Fatal(err)
			}
			got, err := s.Principal(ctx, p.Name)
			if err != nil || !reflect.DeepEqual(got, p) {
				t.Errorf("got %+v, %v, want %+v", got, err, p)
			}
		}
		if err := s.SetPrincipal(ctx, stores.Principal{Name: "Zoé"}); err != nil {
			t.Fatal(err)
		}
		if names, err := s.Principals(ctx); err != nil || !slices.Equal(names, []string{"Zoé", "pierre", "thomas"}) {
			t.Errorf("%q are known, %v", names, err)
		}
		if err := s.SetPrincipal(ctx, stores.Principal{}); !errors.Is(err, stores.ErrInvalid) {
			t.Error(err)
		}
		if err := s.SetPrincipal(ctx, stores.Principal{Name: "x", Holds: map[string][]stores.Value{"cbu": {dec("1.5")}}}); !errors.Is(err, stores.ErrInvalid) {
			t.Error(err)
		}
		if _, err := s.Principal(ctx, "x"); err != stores.ErrNotFound {
			t.Errorf("half a principal was kept: %v", err)
		}
	}},
}
