package engine_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/receipt"
)

// A watched store notes which reads are said to be the last of their View, and
// lets somebody change rows just before such a read.
type watched struct {
	stores.Store
	last, views, together atomic.Int64
	before                func()
	gone                  bool
}

func (s *watched) View(ctx context.Context, scope stores.Scope, fn func(stores.Reader) error) error {
	s.views.Add(1)
	return s.Store.View(ctx, scope, func(r stores.Reader) error { return fn(watchedReader{r, s}) })
}

type watchedReader struct {
	stores.Reader
	s *watched
}

func (r watchedReader) Find(ctx context.Context, f stores.Find) ([][]stores.Value, error) {
	if f.Last {
		r.s.last.Add(1)
		if fn := r.s.before; fn != nil {
			r.s.before = nil
			fn()
		}
	}
	return r.Reader.Find(ctx, f)
}

// PERF-X3: a read that is all of a program is the only thing asked of the store,
// in one View, once the names are known; and where it tells of a row that is
// newer than the names, it is read again with them, on one snapshot.
func TestALastReadIsTheOnlyOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	store := &watched{Store: w.store}
	e, err := engine.New(w.reg, store, engine.Options{Clock: w.now, NewID: w.newID})
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Session(context.Background(), "kim")
	if err != nil {
		t.Fatal(err)
	}
	list := func() int {
		t.Helper()
		store.last.Store(0)
		store.views.Store(0)
		p := w.program(s, "lending.list-items")
		reply, err := s.Run(context.Background(), p, engine.RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range reply.Calls[0].Result.Rows {
			if name := row[0].Text(); len(name) < 2 || name[0] != '@' {
				t.Errorf("a row without a name: %v", row)
			}
		}
		if p := reply; p.ID != "" || p.Sealed().ID == "" || p.Digest == [32]byte{} || p.Sealed() != p {
			t.Errorf("sealed, it is %q", p.ID)
		}
		return len(reply.Calls[0].Result.Rows)
	}
	rows := list()
	if store.last.Load() != 0 {
		t.Error("a first read was said to be the last, and rows had no names yet")
	}
	if n := list(); n != rows || store.last.Load() != 1 || store.views.Load() != 1 {
		t.Errorf("%d rows, %d views, %d last reads", n, store.views.Load(), store.last.Load())
	}
	store.before = func() {
		if _, err := w.run("kim", `lending.add-item :club-id @north :name "Axe" :worth 1.50`); err != nil {
			t.Error(err)
		}
	}
	if n := list(); n < rows || store.last.Load() != 1 {
		t.Errorf("%d rows, %d last reads", n, store.last.Load())
	}
	if n := list(); n != rows+1 || store.last.Load() == 0 {
		t.Errorf("%d rows, %d last reads", n, store.last.Load())
	}
	// The calls of a macro do not make a read in the middle the last one, which would begin the run again.
	store.last.Store(0)
	store.views.Store(0)
	if _, err := s.Run(context.Background(), w.program(s, "lending.look :item-id @saw\nlending.list-items\nlending.list-items"), engine.RunOptions{}); err != nil || store.last.Load() != 1 || store.views.Load() != 1 {
		t.Errorf("%v, %d views, %d last reads", err, store.views.Load(), store.last.Load())
	}
	// Two reads, or a read in the middle, are none.
	store.last.Store(0)
	p := w.program(s, "lending.list-items\nlending.count-loans")
	if _, err := s.Run(context.Background(), p, engine.RunOptions{}); err != nil || store.last.Load() != 0 {
		t.Errorf("%v, %d last reads", err, store.last.Load())
	}
}

// Together notes the last read among several that are asked for at once. Where
// rows are said to be gone, it finds none.
func (r watchedReader) Together(ctx context.Context, asks []stores.Ask) error {
	err := r.Reader.Together(ctx, asks)
	if n := len(asks); n > 0 && asks[n-1].Find != nil && asks[n-1].Find.Last {
		r.s.together.Add(1)
		if r.s.gone {
			asks[0].Rows = nil
		}
	}
	return err
}

// PERF-X3: a read that names a row, or is filled with one, asks for the row and
// for what it reads at once. Where the row is not there, it asks again, for one
// after the other, and says what it always says.
func TestARowIsAskedForWithWhatIsReadOfIt(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, deskRegistry(t), &engine.Handlers{Partial: true})
	store := &watched{Store: w.store}
	e, err := engine.New(w.reg, store, engine.Options{Clock: w.now, NewID: w.newID, Handlers: &engine.Handlers{Partial: true}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Session(context.Background(), "kim")
	if err != nil {
		t.Fatal(err)
	}
	shelf := func(text string, together, views int64) *receipt.Receipt {
		t.Helper()
		store.together.Store(0)
		p := w.program(s, text)
		store.views.Store(0)
		reply, err := s.Run(context.Background(), p, engine.RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if store.together.Load() != together || store.views.Load() != views {
			t.Errorf("%s: %d times together and %d views, want %d and %d", text, store.together.Load(), store.views.Load(), together, views)
		}
		return reply
	}
	const filled, named = "desk.shelf", "desk.shelf :club-id @north"
	shelf(named, 0, 1) // nothing has a name yet
	for _, text := range []string{filled, named} {
		shelf(text, 1, 1)
		want := shelf(text, 1, 1)
		store.gone = true
		got := shelf(text, 1, 2)
		store.gone = false
		if len(want.Calls[0].Result.Rows) == 0 || !reflect.DeepEqual(want.Calls[0].Result, got.Calls[0].Result) || !reflect.DeepEqual(want.Calls[0].Filled, got.Calls[0].Filled) {
			t.Errorf("%s: at once\n%v\nand one after the other\n%v", text, want.Calls[0], got.Calls[0])
		}
		if a, b := want.Sealed().Digest, got.Sealed().Digest; a != b {
			t.Errorf("%s: at once %x, and one after the other %x", text, a, b)
		}
	}
	shelf(named+"\n"+named, 0, 1) // more than one read
}

// A foundStore counts the rows that transactions find.
type foundStore struct {
	stores.Store
	rows int
}

func (s *foundStore) Update(ctx context.Context, scope stores.Scope, fn func(stores.Tx) error) error {
	return s.Store.Update(ctx, scope, func(tx stores.Tx) error { return fn(foundTx{tx, s}) })
}

type foundTx struct {
	stores.Tx
	s *foundStore
}

func (t foundTx) Find(ctx context.Context, f stores.Find) ([][]stores.Value, error) {
	rows, err := t.Tx.Find(ctx, f)
	t.s.rows += len(rows)
	return rows, err
}

// A principal who sees all rows has those named that a run speaks of, however many others
// there are, and in one question for all of them.
func TestWhoSeesAllNamesWhatIsSpokenOf(t *testing.T) {
	t.Parallel()
	reg := loadYAML(t, map[string]string{"shop.yaml": `domain: shop
roles: [{name: clerk, sees: all}]
entities:
  shelf: {table: shop.shelves, managed: true, key: shelf_id, scope: self, label: "{name}", fields: {name: {type: string, required: true}}}
  item: {table: shop.items, managed: true, key: item_id, scope: shelf, label: "{name}", fields: {name: {type: string}, shelf: {type: ref, ref-type: shelf}}}
verbs:
  - {verb: build, description: Build a shelf., roles: [clerk], args: [{name: name, type: string, required: true}], effects: [{creates: shelf, set: {name: name}}]}
  - {verb: stock, description: Put an item on a shelf., roles: [clerk], args: [{name: shelf, type: ref, ref-type: shelf, required: true}, {name: name, type: string, required: true}], effects: [{creates: item, set: {name: name, shelf: shelf}}]}
  - {verb: move, description: Put an item on another shelf., roles: [clerk], args: [{name: item, type: ref, ref-type: item, required: true}, {name: shelf, type: ref, ref-type: shelf, required: true}], effects: [{updates: item.shelf, where: item, set: {shelf: shelf}}]}
`})
	w := newBareWith(t, reg, &engine.Handlers{}, stores.Principal{Name: "p", Roles: []string{"clerk"}})
	var fill, move strings.Builder
	for n := range 300 {
		fmt.Fprintf(&fill, "shop.build :name \"shelf %d\" :as @s%d\n", n, n)
	}
	for n := range 3 {
		fmt.Fprintf(&fill, "shop.stock :shelf @s%d :name \"nail %d\"\n", n, n)
		fmt.Fprintf(&move, "shop.move :item @nail-%d :shelf @shelf-9\n", n)
	}
	if _, err := w.run("p", fill.String()); err != nil {
		t.Fatal(err)
	}
	store := &foundStore{Store: w.store}
	engine, err := engine.New(reg, store, engine.Options{Clock: w.now, NewID: w.newID})
	if err != nil {
		t.Fatal(err)
	}
	w.engine = engine
	reply, err := w.run("p", move.String())
	if err != nil {
		t.Fatal(err)
	}
	for n, call := range reply.Calls {
		if got := call.Rows[0].Fields[0].Before.Text(); !strings.HasPrefix(got, fmt.Sprintf("@shelf-%d", n)) {
			t.Errorf("item %d was on %s", n, got)
		}
	}
	if store.rows > 12 {
		t.Errorf("%d rows were found to name 3", store.rows)
	}
}
