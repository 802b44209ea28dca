package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	zombie "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"verbatim/runtime/domains/rights"
	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/sqlite"
	"verbatim/verbs"
	"verbatim/verbs/load"
)

// How each table of the engine in a file comes to the server. Whoever adds one says so
// here, and has it moved: rows of ownTables are, and what is beside them is not by
// itself.
var movedTables = map[string]string{
	"verbatim_schema":    "the secret; version and mark are the target's own",
	"verbatim_name":      "Reader.Names, behind one another",
	"verbatim_principal": "Kept.Principals",
	"verbatim_grant":     "Kept.Principals",
	"verbatim_origin":    "marks of rows",
	"verbatim_journal":   "Batch.Sealed",
	"verbatim_leaf":      "computed from them",
	"verbatim_head":      "computed from them",
	"verbatim_job":       "Kept.Jobs",
}

func TestEveryTableIsMoved(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a.db")
	openMoved(t, file, ownTables())
	db, err := zombie.OpenConn(file, zombie.OpenReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var tables []string
	err = sqlitex.ExecuteTransient(db, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'", &sqlitex.ExecOptions{ResultFunc: func(row *zombie.Stmt) error {
		tables = append(tables, row.ColumnText(0))
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range ownTables() {
		name := strings.ReplaceAll(e.Table, ".", "_")
		tables = slices.DeleteFunc(tables, func(t string) bool { return t == name })
	}
	for _, name := range tables {
		if movedTables[name] == "" {
			t.Errorf("nothing says how table %s is moved", name)
		}
	}
	if len(tables) != len(movedTables) {
		t.Errorf("%v", tables)
	}
}

const treePalette = `domain: tree
entities:
  topic:
    description: What is talked about.
    key: topic_id
    managed: true
    scope: everyone
    label: "{text}"
    fields:
      text: {type: string, required: true}
      size: {type: decimal}
      at: {type: datetime}
      parent: {type: ref, ref-type: topic, column: parent_id}
      home: {type: ref, ref-type: place, column: home_id}
  place:
    description: Where it is talked about.
    key: place_id
    managed: true
    scope: everyone
    label: "{name}"
    fields:
      name: {type: string, required: true}
      topic: {type: ref, ref-type: topic, column: topic_id}
verbs:
  - verb: all
    description: What there is.
    reads: {entity: topic, fields: {text: text}}
`

// A treeStore is a file with rows that refer to rows behind them and in circles, with
// marks, with jobs in every state and with a journal.
func treeStore(t testing.TB, dir string, rows, entries int) (reg *verbs.Registry, all []*stores.Entity) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "verbs"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "verbs", "tree.yaml"), []byte(treePalette), 0o666); err != nil {
		t.Fatal(err)
	}
	reg, ds := load.Dir(os.DirFS(filepath.Join(dir, "verbs")), load.Beside(rights.Source()))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	all = allTables(reg)
	file := filepath.Join(dir, "verbatim.db")
	s := openMoved(t, file, all)
	topic, place := reg.Entity("topic").Store, reg.Entity("place").Store
	id := func(of, n int) stores.Value {
		v, _ := stores.ParseUUID(fmt.Sprintf("%08x-0000-4000-8000-%012x", of, n))
		return v
	}
	set := func(e *stores.Entity, field string, v stores.Value) stores.Assign {
		return stores.Assign{Field: e.FieldIndex(field), Value: v}
	}
	sorted := func(set ...stores.Assign) []stores.Assign {
		slices.SortFunc(set, func(a, b stores.Assign) int { return a.Field - b.Field })
		return set
	}
	var b stores.Batch
	size, _ := stores.ParseDecimal("12345678901234567890.0123456789")
	for n := rows; n > 0; n-- { // the parent of each row stands behind it
		marked := set(topic, "text", stores.NewString(fmt.Sprint("topic ", n)))
		marked.Origin = map[bool]string{true: "document"}[n%2 == 0]
		c := stores.Change{Op: stores.Insert, Entity: topic, Key: id(1, n), Set: sorted(marked, set(topic, "size", size), set(topic, "at", stores.NewTime(time.UnixMicro(1735689600123456))))}
		if n < rows {
			c.Set = sorted(append(c.Set, set(topic, "parent", id(1, n+1)))...)
		}
		b.Changes = append(b.Changes, c)
		b.Names = append(b.Names, stores.Name{Entity: topic, Key: id(1, n), Plain: "topic", Suffix: fmt.Sprintf("s%015d", n)})
	}
	b.Names = append(b.Names, stores.Name{Entity: topic, Key: id(1, rows+7), Plain: "gone", Suffix: "gone"})
	b.Changes = append(b.Changes, stores.Change{Op: stores.Insert, Entity: place, Key: id(2, 1), Set: sorted(set(place, "name", stores.NewString("here")), set(place, "topic", id(1, 1)))})
	for _, state := range []string{"waiting", "soon", "again", "running", "done", "dead"} {
		b.Jobs = append(b.Jobs, stores.Job{ID: state, Kind: "call", Payload: `{"n":1.50}`, At: time.Date(2025, 1, 2, 3, 4, 5, 6000, time.UTC), Attempts: 3, Unique: "one " + state, Principal: "nina", Origins: `{"n":"document"}`})
	}
	err := s.Update(t.Context(), stores.Scope{All: true}, func(tx stores.Tx) error {
		err := tx.Apply(t.Context(), b)
		for part := range slices.Chunk(make([]stores.Entry, entries), 10_000) {
			for i := range part {
				part[i] = stores.Entry{Time: morning.Add(time.Duration(i) * time.Microsecond), Principal: "nina", Roles: []string{"clerk"}, Verb: "tree.all", Call: "tree.all", Outcome: "ok", Changes: `{}`, Palette: strings.Repeat("p", 64)}
			}
			if err == nil {
				err = tx.Apply(t.Context(), stores.Batch{Entries: part})
			}
		}
		circle := []stores.Change{{Op: stores.Update, Entity: topic, Key: id(1, rows), Set: sorted(set(topic, "parent", id(1, rows-1)), set(topic, "home", id(2, 1)))}}
		if err == nil {
			err = tx.Apply(t.Context(), stores.Batch{Changes: circle})
		}
		return err
	})
	if err == nil {
		err = s.SetPrincipal(t.Context(), stores.Principal{Name: "nina", Label: "Nina", Person: "n", Roles: []string{"clerk"}, Holds: map[string][]stores.Value{"topic": {id(1, 1)}}})
	}
	if err == nil {
		err = s.Close()
	}
	if err == nil {
		err = alterFile(file, `UPDATE verbatim_job SET at = '2999-01-01T00:00:00.000000Z' WHERE id = 'waiting';
			UPDATE verbatim_job SET attempt = 2, started = '2025-01-03T00:00:00.000001Z', worker = 'w1', note = 'system-failure' WHERE id IN ('again', 'running', 'done', 'dead');
			UPDATE verbatim_job SET state = id WHERE id IN ('running', 'done', 'dead');
			UPDATE verbatim_job SET ended = '2025-01-04T00:00:00.000000Z' WHERE id IN ('done', 'dead')`)
	}
	if err != nil {
		t.Fatal(err)
	}
	return reg, all
}

func openMoved(t testing.TB, file string, all []*stores.Entity) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(file)
	if err == nil {
		t.Cleanup(func() { s.Close() })
		_, err = s.Migrate(t.Context(), all, true)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A move that is killed has done nothing, and is tried again. What it moves is the same
// in the end: rows in circles, marks, exact numbers, jobs in every state, and names of
// rows that are gone. Jobs go on from where they were.
func TestAMoveIsKilled(t *testing.T) {
	t.Parallel()
	ctx, db, sh := t.Context(), pgtest.Database(t), newShell(t)
	if err := os.RemoveAll(filepath.Join(sh.dir, "verbs")); err != nil {
		t.Fatal(err)
	}
	os.Remove(filepath.Join(sh.dir, "verbatim.db"))
	_, all := treeStore(t, sh.dir, 1100, 3000)
	move := fmt.Sprintf("verbatim migrate --from verbatim.db --store '%s' --grant-to verbatim_app", db.Owner)
	if out, said, code := sh.run(t, strings.Replace(move, "--from verbatim.db ", "", 1)); code != 0 {
		t.Fatal(out, said)
	}
	target, err := postgres.Open(ctx, db.App)
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	killed := 0
	for wait := 50 * time.Millisecond; ; wait += wait / 2 {
		out, said, code := sh.run(t, fmt.Sprintf("exec timeout -s KILL %.3f %s", wait.Seconds(), move))
		people, err := target.Principals(ctx)
		seq, _, bad := target.Head(ctx)
		if err != nil || bad != nil || (len(people) == 0) != (seq == 0) {
			t.Fatal(people, seq, err, bad)
		}
		if seq > 0 {
			if seq != 3000 {
				t.Errorf("%d entries", seq)
			}
			if code == 0 && !strings.Contains(out, "moved  1,100 rows of topic\n") {
				t.Error(out, said)
			}
			break
		}
		if killed++; code != -1 && code != 137 {
			t.Fatalf("exit %d: %s%s", code, out, said)
		}
	}
	if killed == 0 {
		t.Error("no move was killed")
	}
	source, err := sqlite.Open(filepath.Join(sh.dir, "verbatim.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	if used, err := sqlite.InUse(filepath.Join(sh.dir, "verbatim.db")); err != nil || !used {
		t.Error("nobody is said to use a store that is open", err)
	}
	if _, said, code := sh.run(t, move); code != exitRefused || !strings.Contains(said, "refused[in-use]") {
		t.Error(code, said)
	}
	was, is := everythingIn(t, source, all), everythingIn(t, target, all)
	for what := range was {
		if names, ok := was[what].([]stores.Name); ok { // rows without one got one
			is[what] = slices.DeleteFunc(is[what].([]stores.Name), func(n stores.Name) bool { return !slices.Contains(names, n) })
		}
		if !reflect.DeepEqual(was[what], is[what]) {
			t.Errorf("%s was\n%v, and is\n%v", what, was[what], is[what])
		}
	}
	var ran, lost []string
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	err = target.Work(ctx, stores.Shift{Worker: "w2", Kinds: []string{"call"}, Once: true, Concurrency: 1, Timeout: time.Hour, Poll: time.Millisecond, Drain: time.Minute, Kept: 100000 * time.Hour,
		Clock: func() time.Time { return now }, Lost: func(r stores.Run) { lost = append(lost, r.ID) }, Run: func(ctx context.Context, r stores.Run) error {
			ran = append(ran, fmt.Sprint(r.ID, r.Attempt))
			return target.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
				return tx.Apply(ctx, stores.Batch{Settled: []stores.Settlement{{Run: r, State: stores.JobDone, At: now}}})
			})
		}})
	if slices.Sort(ran); err != nil || fmt.Sprint(ran, lost) != "[again3 running3 soon1] [running]" {
		t.Error(ran, lost, err)
	}
}

// everythingIn is what a store tells of what is in it.
func everythingIn(t *testing.T, s stores.Store, all []*stores.Entity) map[string]any {
	t.Helper()
	ctx, in := t.Context(), map[string]any{}
	err := s.View(ctx, stores.Scope{All: true}, func(r stores.Reader) error {
		for _, e := range all {
			var rows []string
			for row, err := range stores.EachRow(ctx, r, e) {
				if err != nil {
					return err
				}
				rows = append(rows, fmt.Sprint(row.Values, row.Marks))
			}
			in[e.Name] = rows
			names, err := r.Names(ctx, stores.NameQuery{Entity: e, Behind: &stores.Name{}, Most: 9999})
			names = append([]stores.Name{}, names...)
			if err != nil {
				return err
			}
			in["names of "+e.Name] = names
		}
		return nil
	})
	id, bad := s.Identity(ctx)
	if in["secret"] = id.Secret; err == nil {
		err = bad
	}
	if in["nina"], bad = s.Principal(ctx, "nina"); err == nil {
		err = bad
	}
	if in["jobs"], bad = s.Jobs(ctx, stores.JobFilter{}); err == nil {
		err = bad
	}
	if in["head"], bad = journal.Whole(ctx, s); err == nil {
		err = bad
	}
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// What a hundred thousand entries and twenty thousand rows take: go test ./cmd/verbatim -run - -bench Move -benchtime 1x
func BenchmarkMove(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		ctx, db, dir := b.Context(), pgtest.Database(b), b.TempDir()
		_, all := treeStore(b, dir, 20_000, 100_000)
		source, err := sqlite.Open(filepath.Join(dir, "verbatim.db"))
		if err != nil {
			b.Fatal(err)
		}
		target, err := postgres.Open(ctx, db.Owner, postgres.AsOwner("verbatim_app"))
		if err == nil {
			_, err = target.Migrate(ctx, all, true)
		}
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		err = source.Update(ctx, stores.Scope{All: true}, func(read stores.Tx) error {
			read.Discard()
			return target.Fill(ctx, func(fill stores.Filler) error {
				_, err := (&stores.Move{From: source, To: target, Read: read, Fill: fill, Entities: all}).Run(ctx)
				return err
			})
		})
		if err != nil {
			b.Fatal(err)
		}
		source.Close()
		target.Close()
	}
}
