package postgres

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgxpool"

	"verbatim/stores"
	"verbatim/stores/storetest"
)

var chained = flag.Int("entries", 640, "how many journal entries many writers make at once")

// SAFE-J3, SAFE-R12: however many write, in however many processes, the journal
// is one log without gaps, in which no entry stands before what its transaction saw.
func TestManyWritersKeepOneLog(t *testing.T) {
	t.Parallel()
	first, entities, scope, db := bank(t)
	ctx := context.Background()
	second, err := Open(ctx, db.App)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	// Two stores stand for two processes; more entries come from more writers.
	writers := 8
	if *chained > 10_000 {
		writers = 64
	}
	each := max(1, *chained/(writers*2*4))
	var wg sync.WaitGroup
	for i := range writers {
		for _, s := range []*Store{first, second} {
			wg.Go(func() {
				for n := range each {
					var done stores.Tx
					err := s.Update(ctx, scope, func(tx stores.Tx) error {
						done = tx
						// Two batches, and rows that others write too.
						for k := range 2 {
							err := tx.Apply(ctx, stores.Batch{
								Changes: []stores.Change{{Op: stores.Update, Entity: entities[1], Key: stores.NewInt(int64(1 + 2*(i%2))), Set: []stores.Assign{{Field: 2, Value: stores.NewString(fmt.Sprint(i, n))}}}},
								Entries: []stores.Entry{{Verb: fmt.Sprintf("w%d.%d.%d", i, n, k)}, {Verb: "more"}},
							})
							if err != nil {
								return err
							}
						}
						return nil
					})
					if err != nil {
						t.Error(err)
						continue
					}
					for k, e := range done.Numbered() {
						if e.Seq != done.Numbered()[0].Seq+int64(k) {
							t.Errorf("the entries of one transaction are numbered %d and %d", done.Numbered()[0].Seq, e.Seq)
						}
					}
				}
			})
		}
	}
	wg.Wait()
	// Those of one transaction keep their order. Those that changed one row come one after another.
	last := map[string]int{}
	open := map[string]string{}
	for _, e := range storetest.Whole(t, second, int64(1+writers*2*each*4)) {
		var i, n, k int
		if _, err := fmt.Sscanf(e.Verb, "w%d.%d.%d", &i, &n, &k); err != nil {
			continue
		}
		row := fmt.Sprint(i % 2)
		call := fmt.Sprintf("%d.%d", i, n)
		if k == 0 && open[row] != "" || k == 1 && open[row] != call {
			t.Fatalf("entry %d, %s, stands between those of another change of its row", e.Seq, e.Verb)
		}
		if open[row] = call; k == 1 {
			open[row] = ""
		}
		last[call]++
	}
	if len(last) != writers*each {
		t.Errorf("%d calls have entries", len(last))
	}
}

// A proxy stands between a store and the server's socket, and can cut the two
// off from one another around a commit.
type proxy struct {
	dir    string
	listen net.Listener
	to     string
	mu     sync.Mutex
	cut    string // "": nothing; "before": as COMMIT is sent; "after": as its answer comes; "behind": as it is there
}

func newProxy(t *testing.T, to string) *proxy {
	t.Helper()
	p := &proxy{dir: t.TempDir(), to: filepath.Join(to, ".s.PGSQL.5432")}
	var err error
	if p.listen, err = net.Listen("unix", filepath.Join(p.dir, ".s.PGSQL.5432")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.listen.Close() })
	go func() {
		for {
			client, err := p.listen.Accept()
			if err != nil {
				return
			}
			go p.serve(client)
		}
	}()
	return p
}

func (p *proxy) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("unix", p.to)
	if err != nil {
		return
	}
	defer server.Close()
	var mu sync.Mutex
	committing := ""
	go func() {
		defer server.Close()
		b := make([]byte, 1<<16)
		for {
			n, err := client.Read(b)
			if err != nil {
				return
			}
			// The statement is named in Parse once and prepared after; a Bind of it
			// is told by the journal's last words going with it. The test sends
			// nothing else while it cuts.
			mu.Lock()
			p.mu.Lock()
			cut := p.cut
			p.mu.Unlock()
			committing = cut
			mu.Unlock()
			if cut == "before" {
				client.Close()
				return
			}
			if _, err := server.Write(b[:n]); err != nil {
				return
			}
		}
	}()
	b := make([]byte, 1<<16)
	for {
		n, err := server.Read(b)
		if err != nil {
			return
		}
		mu.Lock()
		stop := committing
		mu.Unlock()
		switch ready := bytes.LastIndex(b[:n], []byte("Z\x00\x00\x00\x05I")); {
		case stop == "after":
			return // the answer is lost
		case stop == "behind" && ready >= 0:
			// It is told, and then the server stops.
			fatal, _ := (&pgproto3.ErrorResponse{Severity: "FATAL", SeverityUnlocalized: "FATAL", Code: "57P01", Message: "stopping"}).Encode(b[:ready:ready])
			_, _ = client.Write(fatal)
			return
		}
		if _, err := client.Write(b[:n]); err != nil {
			return
		}
	}
}

func (p *proxy) set(cut string) {
	p.mu.Lock()
	p.cut = cut
	p.mu.Unlock()
}

// SAFE-R6: whoever loses the connection around a commit is told that nobody
// knows, whichever way it went; and who loses it behind the answer, that it is done.
func TestCommitCutOff(t *testing.T) {
	t.Parallel()
	direct, entities, scope, db := bank(t)
	ctx := context.Background()
	p := newProxy(t, db.Dir)
	s, err := Open(ctx, strings.Replace(db.App, "host="+strings.ReplaceAll(db.Dir, "/", "%2F"), "host="+strings.ReplaceAll(p.dir, "/", "%2F"), 1))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	late := false // all of it goes with COMMIT
	write := func(text, cut string) error {
		return s.Update(ctx, scope, func(tx stores.Tx) error {
			err := tx.Apply(ctx, stores.Batch{
				Changes: []stores.Change{{Op: stores.Update, Entity: entities[1], Key: stores.NewInt(1), Set: []stores.Assign{{Field: 2, Value: stores.NewString(text)}}}},
				Entries: []stores.Entry{{Verb: text}},
				Late:    late,
			})
			p.set(cut)
			return err
		})
	}
	if err := write("whole", ""); err != nil {
		t.Fatal(err)
	}
	for n := range 6 {
		cut := []string{"before", "after", "behind"}[n%3]
		committed := cut != "before"
		late = n >= 3
		err := write(cut, cut)
		p.set("")
		switch {
		case cut == "behind" && err == nil:
		case cut == "behind" || !errors.Is(err, stores.ErrUnknown) || err.Error() != stores.ErrUnknown.Error():
			t.Errorf("cut off %s: %v", cut, err)
		}
		// What became of it, the database tells in a moment: the server may still
		// be at it when the client has gone.
		var row stores.Row
		for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); {
			err = direct.View(ctx, scope, func(r stores.Reader) (err error) {
				row, err = r.Get(ctx, entities[1], stores.NewInt(1))
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if (row.Values[2] == stores.NewString(cut)) == committed {
				break
			}
		}
		if (row.Values[2] == stores.NewString(cut)) != committed {
			t.Errorf("cut off %s: the row says %v", cut, row.Values[2])
		}
		// And the store goes on.
		if err := write("again", ""); err != nil {
			t.Errorf("after: %v", err)
		}
	}
	storetest.Whole(t, direct, -1)
}

// A connection that is lost before a commit is no secret: nothing was committed.
func TestConnectionLostBeforeCommit(t *testing.T) {
	t.Parallel()
	s, entities, scope, db := bank(t)
	ctx := context.Background()
	name := strings.TrimPrefix(strings.Split(db.App, "?")[0], "postgres:///")
	err := s.Update(ctx, scope, func(tx stores.Tx) error {
		if _, err := tx.Get(ctx, entities[1], stores.NewInt(1)); err != nil {
			return err
		}
		run(t, strings.Replace(db.Admin, name, "postgres", 1), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '"+name+"' AND usename = 'verbatim_app'")
		return tx.Apply(ctx, stores.Batch{Entries: []stores.Entry{{Verb: "x"}}})
	})
	if err == nil || errors.Is(err, stores.ErrUnknown) {
		t.Error(err)
	}
	for range 2 { // the sealer's connection may be the next
		if err = s.View(ctx, scope, func(r stores.Reader) error {
			_, err := r.Get(ctx, entities[1], stores.NewInt(1))
			return err
		}); err == nil {
			break
		}
	}
	if err != nil {
		t.Errorf("after: %v", err)
	}
}

// Two who wait for one another are told to try again, and so is who waits too
// long.
func TestLocksAreConflicts(t *testing.T) {
	t.Parallel()
	s, entities, scope, _ := bank(t, BusyTimeout(200*time.Millisecond))
	ctx := context.Background()
	note := func(tx stores.Tx, key int64) error {
		return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{{Op: stores.Update, Entity: entities[1], Key: stores.NewInt(key), Set: []stores.Assign{{Field: 2, Value: stores.NewString("x")}}}}})
	}
	err := s.Update(ctx, scope, func(outer stores.Tx) error {
		if err := note(outer, 1); err != nil {
			return err
		}
		err := s.Update(ctx, scope, func(inner stores.Tx) error { return note(inner, 1) })
		if !errors.Is(err, stores.ErrConflict) || err.Error() != stores.ErrConflict.Error() {
			t.Errorf("waited too long: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// What rows refuse, at once or with the commit, leaves the connection and its prepared
// statements: a thousand conflicts have none prepared and planned anew.
func TestRefusalsKeepStatements(t *testing.T) {
	t.Parallel()
	s0, entities, scope, _ := bank(t)
	ctx := context.Background()
	cfg := s0.pool.Config().Copy()
	cfg.MaxConns = 1
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	s, err := New(ctx, pool)
	if err != nil {
		t.Fatal(err)
	}
	prepared := func() (at string) {
		err := pool.QueryRow(ctx, `SELECT pg_backend_pid() || ': ' || coalesce(string_agg(name || prepare_time, ', ' ORDER BY name), 'nothing') FROM pg_prepared_statements WHERE statement ~ '^WITH u AS .*"kyc"."notes"'`, pgx.QueryExecModeExec).Scan(&at)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	write := func(c stores.Change, late bool) error {
		return s.Update(ctx, scope, func(tx stores.Tx) error {
			if _, err := tx.Get(ctx, entities[1], stores.NewInt(1)); err != nil {
				return err
			}
			return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{c}, Late: late})
		})
	}
	missed := stores.Change{Op: stores.Update, Entity: entities[1], Key: stores.NewInt(77), Set: []stores.Assign{{Field: 2, Value: stores.NewString("x")}}}
	twice := stores.Change{Op: stores.Insert, Entity: entities[1], Key: stores.NewInt(1), Set: []stores.Assign{{Field: 1, Value: stores.NewInt(1)}}}
	foreign := stores.Change{Op: stores.Insert, Entity: entities[1], Key: stores.NewInt(78), Set: []stores.Assign{{Field: 1, Value: stores.NewInt(2)}}}
	stale := stores.Change{Op: stores.Update, Entity: entities[1], Key: stores.NewInt(1), Set: []stores.Assign{{Field: 2, Value: stores.NewString("x")}},
		Guard: []int{2}, Before: []stores.Value{stores.NewInt(1), stores.NewInt(1), stores.NewString("not this")}}
	for name, c := range map[string]stores.Change{"a row that is missed": missed, "a row that is there": twice, "a row of others": foreign, "a row that is another by now": stale} {
		for _, late := range []bool{false, true} {
			if err := write(c, late); err == nil {
				t.Fatalf("%s, late %t: not refused", name, late)
			}
			before := prepared()
			for range 125 { // a thousand in all
				if err := write(c, late); err == nil {
					t.Fatalf("%s, late %t: not refused", name, late)
				}
			}
			if after := prepared(); after != before || strings.HasSuffix(before, "nothing") {
				t.Errorf("%s, late %t: prepared before:\n%s\nand after:\n%s", name, late, before, after)
			}
		}
	}
}

// Changes that are alike are one statement, and tell the same as one by one.
func TestRunsTellWhatSingleChangesDo(t *testing.T) {
	t.Parallel()
	s, entities, scope, _ := bank(t)
	ctx := context.Background()
	note := entities[1]
	update := func(key int64, before, after string) stores.Change {
		return stores.Change{Op: stores.Update, Entity: note, Key: stores.NewInt(key), Before: []stores.Value{{}, {}, stores.NewString(before)}, Guard: []int{2},
			Set: []stores.Assign{{Field: 2, Value: stores.NewString(after)}}}
	}
	insert := func(key, cbu int64) stores.Change {
		return stores.Change{Op: stores.Insert, Entity: note, Key: stores.NewInt(key), Set: []stores.Assign{{Field: 1, Value: stores.NewInt(cbu)}, {Field: 2, Value: stores.NewString(`a"\{},NULL`)}}}
	}
	remove := func(key int64) stores.Change {
		return stores.Change{Op: stores.Delete, Entity: note, Key: stores.NewInt(key)}
	}
	for name, c := range map[string]struct {
		changes []stores.Change
		want    error
	}{
		"all as planned":         {[]stores.Change{update(1, "mine", "a"), update(3, "mine too", "b")}, nil},
		"one that differs":       {[]stores.Change{update(1, "mine", "a"), update(3, "other", "b")}, stores.ErrConflict},
		"one of another's":       {[]stores.Change{update(1, "mine", "a"), update(2, storetest.Canary, "b")}, stores.ErrNotFound},
		"one that is not there":  {[]stores.Change{update(1, "mine", "a"), update(99, "x", "b")}, stores.ErrNotFound},
		"the first one counts":   {[]stores.Change{update(3, "other", "b"), update(2, storetest.Canary, "b")}, stores.ErrConflict},
		"new ones":               {[]stores.Change{insert(10, 1), insert(11, 1), insert(12, 1)}, nil},
		"new, one of another's":  {[]stores.Change{insert(10, 1), insert(11, 2)}, stores.ErrNotFound},
		"new, one twice":         {[]stores.Change{insert(10, 1), insert(1, 1)}, stores.ErrDuplicate},
		"gone, one referred to":  {[]stores.Change{remove(3), remove(1)}, stores.ErrInvalid},
		"gone, one of another's": {[]stores.Change{remove(3), remove(2)}, stores.ErrNotFound},
		"one row twice":          {[]stores.Change{update(1, "mine", "a"), update(1, "a", "b")}, nil},
	} {
		undo := errors.New("undo")
		err := s.Update(ctx, scope, func(raw stores.Tx) error {
			if err := raw.Apply(ctx, stores.Batch{Changes: c.changes}); err != nil {
				return err
			}
			for _, ch := range c.changes {
				if ch.Op != stores.Insert {
					continue
				}
				if row, err := raw.Get(ctx, note, ch.Key); err != nil || row.Values[2] != ch.Set[1].Value {
					t.Errorf("%s: %v, %v", name, row.Values, err)
				}
			}
			return undo
		})
		want := c.want
		if want == nil {
			want = undo
		}
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	if n := alike([]stores.Change{insert(10, 1), insert(11, 1), remove(3)}); n != 2 {
		t.Errorf("%d alike", n)
	}
}
