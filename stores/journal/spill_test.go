package journal

import (
	crand "crypto/rand"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"verbatim/stores"
	"verbatim/stores/receipt"
)

// changes returns a record that adds, changes or deletes a row of many.
func changes(r *rand.Rand, es []*stores.Entity, rows int) *Record {
	e := es[r.IntN(len(es))]
	c := receipt.Row{Op: [...]string{receipt.Inserted, receipt.Updated, receipt.Updated, receipt.Updated, receipt.Deleted, receipt.Found}[r.IntN(6)], Entity: e.Name, Key: key(r.IntN(rows))}
	text := receipt.Field{Name: "text", Kind: stores.String, Origin: []string{"", "document"}[r.IntN(2)], After: receipt.Value{Value: stores.NewString(fmt.Sprint("said ", r.IntN(5)))}}
	text.After.Gone = r.IntN(20) == 0
	c.Fields = []receipt.Field{text, {Name: "count", Kind: stores.Int, After: receipt.Value{Value: stores.NewInt(int64(r.IntN(1000) - 500))}}}
	return &Record{Rows: []receipt.Row{c}}
}

func spillEntities() []*stores.Entity {
	var all []*stores.Entity
	for _, name := range []string{"note", "item"} {
		all = append(all, &stores.Entity{Name: name, Table: "desk." + name, Fields: []stores.Field{{Name: "id", Kind: stores.UUID}, {Name: "text", Kind: stores.String}, {Name: "count", Kind: stores.Int}}})
	}
	return all
}

func scratch(t *testing.T) Scratch {
	f, err := os.Create(filepath.Join(t.TempDir(), "rows"))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// G23: a state whose rows are in a file says what one says that has them in memory, also where rows share
// a hash, and where there is no room for a file.
func TestRowsInAFileAreThoseInMemory(t *testing.T) {
	es := spillEntities()
	for name, alter := range map[string]func(*testing.T, *spill){
		"a file": func(_ *testing.T, s *spill) { s.atOnce = 500 },
		"shared hashes": func(_ *testing.T, s *spill) {
			s.atOnce, s.hash = 500, func(_ *stores.Entity, k stores.Value) uint64 { return uint64(k.Text()[len(k.Text())-1] % 3) }
		},
		"no file": func(_ *testing.T, s *spill) {
			s.atOnce, s.open = 500, func() (Scratch, error) { return nil, errors.New("there is no room") }
		},
	} {
		t.Run(name, func(t *testing.T) {
			seed := rand.New(rand.NewPCG(1, 2))
			inMemory, other := NewState(es), NewState(es)
			defer other.Close()
			other.Spill(func() (Scratch, error) { return scratch(t), nil })
			alter(t, other.rows)
			for n := range int64(3000) {
				c := changes(seed, es, 60)
				inMemory.Apply(n, c)
				other.Apply(n, c)
			}
			if inMemory.rows.file != nil || (other.rows.file == nil) != (name == "no file") {
				t.Fatal("a file is there that should not be, or the other way round")
			}
			if got, want := other.Differences(), inMemory.Differences(); !slices.Equal(got, want) || len(want) == 0 {
				t.Errorf("%d differences, want %d", len(got), len(want))
			}
			if got, want := other.Gone(), inMemory.Gone(); !slices.Equal(got, want) || len(want) == 0 || other.Erased() != inMemory.Erased() {
				t.Errorf("%d erased, want %d", len(got), len(want))
			}
			rows, partly := other.Rows()
			if all, some := inMemory.Rows(); rows != all || partly != some || all == 0 {
				t.Errorf("%d rows and %d in part, want %d and %d", rows, partly, all, some)
			}
			for _, e := range es {
				for n := range 61 {
					got, want := other.rows.get(e, key(n)), inMemory.rows.get(e, key(n))
					if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
						t.Fatalf("%s %d is\n%+v, want\n%+v", e.Name, n, got, want)
					}
				}
			}
		})
	}
}

// G23: a replay has in memory the place of each row, and not the row, however many there are.
func TestAReplayHoldsNoRows(t *testing.T) {
	const rows = 40_000
	held := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	es, seed := spillEntities(), rand.New(rand.NewPCG(3, 4))
	s := NewState(es)
	defer s.Close()
	s.Spill(func() (Scratch, error) { return scratch(t), nil })
	s.rows.atOnce = 1 << 16
	before := held()
	for n := range int64(rows) {
		c := changes(seed, es, 1)
		c.Rows[0].Op, c.Rows[0].Key = receipt.Inserted, key(int(n))
		s.Apply(n, c)
	}
	if each := (held() - before) / rows; each > 60 {
		t.Errorf("%d bytes are held for each row", each)
	}
	if all, _ := s.Rows(); all != rows {
		t.Errorf("%d rows", all)
	}
}

// A line is read once for all that look at it, and what its opening tells one of them is told to no other.
func TestARecordIsOpenedForOneReader(t *testing.T) {
	t.Parallel()
	o := NewOpening("o", "clara")
	is, err := o.Commit(crand.Reader, stores.NewString("a secret"))
	if err != nil {
		t.Fatal(err)
	}
	r := Record{Opening: o.ID, Rows: []receipt.Row{{Op: receipt.Inserted, Entity: "note", Table: "desk.note", Key: key(1), Fields: []receipt.Field{{Name: "text", Kind: stores.String, Sensitive: true, After: receipt.Value{Is: is}}}}}}
	l := &Line{Entry: stores.Entry{Changes: string(r.AppendText(nil))}, Opening: o}
	for range 2 {
		opened, err := l.Record()
		if err != nil || opened.Rows[0].Fields[0].After.Value.Text() != "a secret" {
			t.Fatalf("%+v %v", opened, err)
		}
	}
	if as, err := l.written(); err != nil || string(as.AppendText(nil)) != l.Entry.Changes || !as.Rows[0].Fields[0].After.Value.IsNull() {
		t.Errorf("%+v %v", as, err)
	}
}
