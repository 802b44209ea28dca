package storetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"verbatim/stores"
)

func contains(s, part string) bool { return strings.Contains(s, part) }

var journalCases = []testCase{
	{"entries come back whole, chained in order", func(t *testing.T, open Open) {
		s := open(t, newSchema().all())
		ctx := context.Background()
		full := stores.Entry{
			Time: time.Date(2025, 1, 3, 10, 0, 0, 123456789, time.FixedZone("", 3600)), Principal: "pierre", Roles: []string{"client", "owner"},
			Session: "s", Source: "a.dsl:3", Verb: "client.add-note", Call: "client.add-note :note \"é\n\"", Outcome: "refused",
			Reason: "not-permitted", Changes: `[{"op":"update"}]`, Preview: "p", Agreed: "thomas, by mail", Palette: "d1",
		}
		var sealed []stores.Entry
		err := s.Update(ctx, everything, func(tx stores.Tx) error {
			for _, entries := range [][]stores.Entry{{full, {}}, nil, {entry("c")}} {
				got, err := tx.Apply(ctx, stores.Batch{Entries: entries})
				if err != nil {
					return err
				}
				sealed = append(sealed, got...)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
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
		}
		if !reflect.DeepEqual(kept, sealed) {
			t.Errorf("kept\n%+v\nsealed\n%+v", kept, sealed)
		}
		full.Time = time.Date(2025, 1, 3, 9, 0, 0, 123456000, time.UTC)
		full.Seq, full.Prev, full.Hash = kept[0].Seq, kept[0].Prev, kept[0].Hash
		if !reflect.DeepEqual(kept[0], full) {
			t.Errorf("kept\n%+v\nmeant\n%+v", kept[0], full)
		}
		if _, _, err := stores.VerifyChain(0, [32]byte{}, kept); err != nil {
			t.Error(err)
		}
	}},
	{"a range of entries is a range", func(t *testing.T, open Open) {
		s := open(t, newSchema().all())
		ctx := context.Background()
		for i := range 5 {
			err := s.Update(ctx, everything, func(tx stores.Tx) error {
				_, err := tx.Apply(ctx, stores.Batch{Entries: []stores.Entry{entry(fmt.Sprint("v", i))}})
				return err
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
	{"eight writers make one chain, without gaps, in commit order", func(t *testing.T, open Open) {
		// SAFE-J3, in the small. A row that every transaction adds one to says
		// what the order of the commits was.
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
						_, err = tx.Apply(ctx, stores.Batch{
							Changes: []stores.Change{update(w.request, id("request", 1), stores.Assign{Field: reqCount, Value: count})},
							Entries: []stores.Entry{e},
						})
						return err
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		entries, err := w.Journal(ctx, 0, 0)
		w.must(err)
		if seq, _, err := stores.VerifyChain(0, [32]byte{}, entries); err != nil || seq != writers*each {
			t.Errorf("%d entries, %v", seq, err)
		}
		for i, e := range entries {
			if e.Changes != fmt.Sprint(i+1) {
				t.Fatalf("entry %d was commit %s", e.Seq, e.Changes)
			}
		}
	}},
	{"an outbox id is taken once", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		b := stores.Batch{Notices: []stores.Notice{{ID: "n1", Kind: "notify", Target: "assigned-analyst", Payload: "{}", Time: time.Unix(0, 0)}}}
		w.must(w.apply(holding(1), b))
		if err := w.apply(holding(1), b); !errors.Is(err, stores.ErrDuplicate) {
			t.Error(err)
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
