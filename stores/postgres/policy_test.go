package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"verbatim/stores"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/storetest"
)

// SAFE-A5: row-level security is a lock of its own. The engine's condition is
// left out here, and still no row of another's is read or written in a table of
// ours.
func TestPoliciesHoldAlone(t *testing.T) {
	t.Parallel()
	s, entities, scope, _ := bank(t)
	s.ajar = true
	ctx := context.Background()
	for _, e := range entities {
		if !e.Managed {
			continue // the organisation's own tables have the engine's lock only
		}
		// In a transaction of its own, which says of the scope for itself.
		err := s.View(ctx, scope, func(r stores.Reader) error {
			rows, err := r.Find(ctx, stores.Find{Entity: e, Last: true})
			for _, row := range rows {
				if row[len(row)-1] == stores.NewString(storetest.Canary) {
					t.Errorf("%s: found %v", e.Name, row)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		err = s.View(ctx, scope, func(r stores.Reader) error {
			// A read beyond the scope opens the policies for itself, and for nothing after it.
			rows, err := r.Find(ctx, stores.Find{Entity: e, Beyond: true})
			if err != nil || len(rows) < 2 && e.Access != stores.ForAll {
				t.Errorf("%s: beyond the scope: %v, %v", e.Name, rows, err)
			}
			rows, err = r.Find(ctx, stores.Find{Entity: e})
			if len(rows) == 0 {
				t.Errorf("%s: not even our own rows", e.Name)
			}
			for _, row := range rows {
				if row[len(row)-1] == stores.NewString(storetest.Canary) {
					t.Errorf("%s: found %v", e.Name, row)
				}
			}
			if e.Access != stores.ForAll {
				if _, err := r.Get(ctx, e, stores.NewInt(2)); err != stores.ErrNotFound {
					t.Errorf("%s: got another's row: %v", e.Name, err)
				}
			}
			q := stores.SQL{Text: "SELECT id FROM " + e.Table + " WHERE id = 2", Columns: []stores.Column{{Name: "id", Kind: stores.Int}}}
			if asked, e := r.SQL(ctx, entities, q); e != nil || len(asked) != 0 {
				t.Errorf("asked: %v, %v", asked, e)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		last := len(e.Fields) - 1
		set := []stores.Assign{{Field: last, Value: stores.NewString("x")}}
		theirs := append([]stores.Assign{}, set...)
		switch {
		case e.Access == stores.ByPrincipal:
			theirs = append([]stores.Assign{{Field: 1, Value: stores.NewString("q")}}, set...)
		case len(e.Scope) > 0:
			theirs = append([]stores.Assign{{Field: 1, Value: stores.NewInt(2)}}, set...)
		}
		key := int64(2)
		if e.Access == stores.ForAll {
			key = 1
		}
		for name, c := range map[string]stores.Change{
			"update": {Op: stores.Update, Entity: e, Key: stores.NewInt(key), Set: set},
			"delete": {Op: stores.Delete, Entity: e, Key: stores.NewInt(key)},
			"insert": {Op: stores.Insert, Entity: e, Key: stores.NewInt(99), Set: theirs},
			"move":   {Op: stores.Update, Entity: e, Key: stores.NewInt(1), Set: theirs},
		} {
			if name == "move" && len(theirs) == len(set) {
				continue
			}
			for _, run := range []int{1, 2} { // alone, and with another
				changes := []stores.Change{c}
				if run == 2 {
					changes = append(changes, c)
					changes[1].Key = stores.NewInt(c.Key.Int() + 1000)
				}
				err := s.Update(ctx, scope, func(raw stores.Tx) error {
					// Past the check that reference data is only read.
					tx := raw.(*tx)
					if err := tx.c.ready(ctx, &tx.view, e); err != nil {
						return err
					}
					for i := range changes {
						p, err := changes[i].Prepare()
						if err != nil {
							return err
						}
						changes[i] = p
					}
					var j joiner
					if err := tx.change(&j, changes); err != nil {
						return err
					}
					j.flush(nil, nil)
					err := tx.c.do(ctx, j.ops...)
					if miss := (*missed)(nil); errors.As(err, &miss) {
						err = tx.why(ctx, miss.change)
					}
					return err
				})
				if err != stores.ErrNotFound {
					t.Errorf("%s of %s, %d at a time: %v", name, e.Name, run, err)
				}
			}
		}
	}
}

// A connection that says nothing of a scope sees nothing, nor does one that says
// something else.
func TestUnsetScopeIsEmpty(t *testing.T) {
	t.Parallel()
	_, entities, _, db := bank(t)
	ctx := context.Background()
	for _, url := range []string{db.App, db.Owner} { // FORCE: the owner too
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(ctx)
		for _, setting := range [][2]string{{}, {"all", "off"}, {"all", ""}, {"principal", ""}, {"holds_cbu_integer", ""}, {"holds_cbu_integer", "{}"}, {"holds_cbu_string", "{1}"}, {"holds_note_integer", "{1}"}} {
			for _, e := range entities {
				if !e.Managed || e.Access == stores.ForAll {
					continue
				}
				n := 0
				tx, err := conn.Begin(ctx)
				if err != nil {
					t.Fatal(err)
				}
				if setting[0] != "" {
					if _, err := tx.Exec(ctx, "SELECT set_config('verbatim.' || $1::text, $2, true)", setting[0], setting[1]); err != nil {
						t.Fatal(err)
					}
				}
				if err := tx.QueryRow(ctx, "SELECT count(*) FROM "+e.Table).Scan(&n); err != nil || n != 0 {
					t.Errorf("%s with scope %q: %d rows, %v", e.Table, setting, n, err)
				}
				_ = tx.Rollback(ctx)
			}
		}
	}
}

// No key that a scope can hold makes a policy fail, whatever its kind.
func TestKeysOfAnyKind(t *testing.T) {
	t.Parallel()
	s, entities, _, _ := bank(t)
	ctx := context.Background()
	u, _ := stores.ParseUUID("00000000-0000-4000-8000-000000000001")
	scope := stores.Scope{Principal: `p"\` + "\x00", Holds: map[string][]stores.Value{
		"cbu":  {stores.NewString("x"), u, stores.NewString("1"), stores.NewInt(7), stores.NewString(`",'\`)},
		`we"i`: {stores.NewInt(1)}, "empty": nil,
	}}
	err := s.View(ctx, scope, func(r stores.Reader) error {
		rows, err := r.Find(ctx, stores.Find{Entity: entities[1]})
		if len(rows) != 2 {
			t.Errorf("a key read from a grant as text: %v", rows)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// Whoever can go around row-level security does not get to start.
func TestRolesThatAreRefused(t *testing.T) {
	t.Parallel()
	_, _, _, db := bank(t)
	ctx := context.Background()
	name := strings.TrimPrefix(strings.Split(db.App, "?")[0], "postgres:///")
	role := func(attributes string) string {
		r := "r" + name + "_" + strings.ToLower(strings.Fields(attributes)[0])
		run(t, db.Admin, "CREATE ROLE "+r+" LOGIN "+attributes)
		t.Cleanup(func() { run(t, strings.Replace(db.Admin, name, "postgres", 1), "DROP ROLE "+r) })
		return strings.Replace(db.App, "verbatim_app", r, 1)
	}
	for what, url := range map[string]string{
		"superuser":        db.Admin,
		"owner":            db.Owner,
		"bypass":           role("BYPASSRLS"),
		"member of owner":  role("IN ROLE verbatim_owner"),
		"may become owner": role("NOINHERIT IN ROLE verbatim_owner"),
	} {
		if s, err := Open(ctx, url); !errors.Is(err, ErrRole) {
			t.Errorf("%s: %v", what, err)
			if err == nil {
				s.Close()
			}
		}
	}
	// To migrate is another matter, and to name rows, and no more than that.
	s, err := Open(ctx, db.Owner, AsOwner("verbatim_app"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.View(ctx, stores.Scope{Principal: "clara"}, func(stores.Reader) error { return nil }); err == nil {
		t.Error("an owner viewed")
	}
	err = s.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
		return tx.Apply(ctx, stores.Batch{Entries: []stores.Entry{{Verb: "a.b"}}})
	})
	if err == nil {
		t.Error("an owner updated")
	}
}

// A connection comes back to the pool as it was lent, or not at all.
func TestConnectionsComeBackClean(t *testing.T) {
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
	bad := stores.Find{Entity: &stores.Entity{Name: "x", Table: "kyc.nowhere", Fields: []stores.Field{{Name: "id", Column: "id", Kind: stores.Int}}}}
	crash := stores.SQL{Text: "SELECT 1/(id - id) AS n FROM kyc.notes", Columns: []stores.Column{{Name: "n", Kind: stores.Int}}}
	cancelled := func(fn func(context.Context)) {
		ctx, cancel := context.WithCancel(ctx)
		fn(ctx)
		cancel()
	}
	for name, use := range map[string]func(){
		"a read by itself": func() {
			err := s.View(ctx, scope, func(r stores.Reader) error {
				rows, err := r.Find(ctx, stores.Find{Entity: entities[1], Last: true})
				if len(rows) != 2 {
					t.Error(rows)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		},
		"nothing wrong": func() { _ = s.View(ctx, scope, func(stores.Reader) error { return nil }) },
		"error":         func() { _ = s.View(ctx, scope, func(stores.Reader) error { return errors.New("x") }) },
		"panic": func() {
			defer func() { _ = recover() }()
			_ = s.Update(ctx, scope, func(tx stores.Tx) error {
				_, _ = tx.Get(ctx, entities[1], stores.NewInt(1))
				panic("x")
			})
		},
		"panic in a view": func() {
			defer func() { _ = recover() }()
			_ = s.View(ctx, scope, func(stores.Reader) error { panic("x") })
		},
		"a failed statement": func() {
			_ = s.View(ctx, scope, func(r stores.Reader) error { _, err := r.Find(ctx, bad); return err })
		},
		"a failed query": func() {
			_ = s.View(ctx, scope, func(r stores.Reader) error {
				var wrong *stores.SQLError
				if _, err := r.SQL(ctx, entities, crash); !errors.As(err, &wrong) {
					t.Error(err)
				}
				rows, err := r.Find(ctx, stores.Find{Entity: entities[1]})
				if err != nil || len(rows) != 2 {
					t.Errorf("after a failed query: %v, %v", rows, err)
				}
				return nil
			})
		},
		"cancelled": func() {
			cancelled(func(ctx context.Context) {
				_ = s.Update(ctx, scope, func(tx stores.Tx) error {
					_, _ = tx.Get(ctx, entities[1], stores.NewInt(1))
					ctx, cancel := context.WithCancel(ctx)
					cancel()
					_, err := tx.Get(ctx, entities[1], stores.NewInt(1))
					return err
				})
			})
		},
		"an error swallowed": func() {
			_ = s.Update(ctx, scope, func(tx stores.Tx) error {
				_, _ = tx.Get(ctx, entities[1], stores.NewInt(1))
				_, _ = tx.(interface {
					Find(context.Context, stores.Find) ([][]stores.Value, error)
				}).Find(ctx, bad)
				return nil
			})
		},
	} {
		use()
		var scopeNow, all, readOnly string
		var count int
		if err := pool.QueryRow(ctx, "SELECT COALESCE(current_setting('verbatim.principal', true), '') || COALESCE(current_setting('verbatim.holds_cbu_integer', true), ''), COALESCE(current_setting('verbatim.all', true), ''), current_setting('transaction_read_only'), (SELECT count(*) FROM kyc.notes)").Scan(&scopeNow, &all, &readOnly, &count); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if scopeNow != "" || all != "" || readOnly != "off" || count != 0 {
			t.Errorf("%s: a connection came back with scope %q, verbatim.all %q, read-only %s, %d rows", name, scopeNow, all, readOnly, count)
		}
		if n := pool.Stat().AcquiredConns(); n != 0 {
			t.Errorf("%s: %d connections are still lent", name, n)
		}
	}
}

// A journal that the application may only append to; what stops its owner comes back with the next
// migration.
func TestJournalIsAppendOnly(t *testing.T) {
	t.Parallel()
	s, _, _, db := bank(t)
	ctx := context.Background()
	if err := s.Seal(ctx); err != nil { // rows are refused, and there have to be some
		t.Fatal(err)
	}
	refuses := func() {
		t.Helper()
		for _, url := range []string{db.App, db.Owner} {
			conn, err := pgx.Connect(ctx, url)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(ctx)
			for _, sql := range []string{"UPDATE verbatim_journal SET verb = 'x'", "DELETE FROM verbatim_journal", "TRUNCATE verbatim_journal",
				"UPDATE verbatim_leaf SET number = 0", "DELETE FROM verbatim_leaf", "TRUNCATE verbatim_leaf", "UPDATE verbatim_head SET size = 0", "DELETE FROM verbatim_head", "TRUNCATE verbatim_head"} {
				if _, err := conn.Exec(ctx, sql); err == nil {
					t.Errorf("%s ran", sql)
				}
			}
		}
	}
	refuses()
	for _, dropped := range []struct {
		sql   string
		steps int
	}{
		{"DROP TRIGGER verbatim_journal_rows ON verbatim_journal; DROP INDEX verbatim_name_suffix", 2},
		{"DROP FUNCTION verbatim_append_only CASCADE", 7},
		{"ALTER TABLE verbatim_journal DISABLE TRIGGER verbatim_journal_rows", 1},
		{"ALTER TABLE verbatim_journal DISABLE TRIGGER verbatim_journal_table; ALTER TABLE verbatim_journal ENABLE REPLICA TRIGGER verbatim_journal_rows", 2},
	} {
		run(t, db.Owner, dropped.sql)
		for _, steps := range []int{dropped.steps, 0} {
			if plan, err := s.Migrate(ctx, nil, true); err != nil || len(plan.Steps) != steps || len(plan.Problems) > 0 {
				t.Errorf("%s: %+v, %v", dropped.sql, plan, err)
			}
		}
		refuses()
	}
}

// G22: what an operator has set, or a database has no more of, is told as that, and not as too much that
// was asked for.
func TestTroublesOfTheDatabase(t *testing.T) {
	t.Parallel()
	_, entities, _, db := bank(t)
	writes := func(s *Store) error {
		defer s.Close()
		return s.Update(t.Context(), stores.Scope{All: true}, func(tx stores.Tx) error {
			return tx.Apply(t.Context(), stores.Batch{Changes: []stores.Change{{Op: stores.Update, Entity: entities[0], Key: stores.NewInt(1), Set: []stores.Assign{{Field: 1, Value: stores.NewString("x")}}}}})
		})
	}
	opened := func(at string) *Store {
		s, err := Open(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	standby := db.Follow(t).Of(db)
	if err := writes(opened(standby.App)); !errors.Is(err, stores.ErrStandby) {
		t.Errorf("a standby is told as %v", err)
	}
	held, err := pgx.Connect(t.Context(), db.Admin)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close(context.WithoutCancel(t.Context()))
	if _, err := held.Exec(t.Context(), "BEGIN; SELECT FROM kyc.cbus FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	slow := map[bool]string{true: "&", false: "?"}[strings.Contains(db.App, "?")] + "statement_timeout=150"
	if err := writes(opened(db.App + slow)); !errors.Is(err, stores.ErrSlow) || errors.Is(err, stores.ErrLimit) {
		t.Errorf("what statement_timeout stopped is told as %v", err)
	}
	name := db.App[strings.LastIndexByte(db.App, '/')+1:]
	if i := strings.IndexByte(name, '?'); i >= 0 {
		name = name[:i]
	}
	run(t, db.Admin, fmt.Sprintf("ALTER DATABASE %q CONNECTION LIMIT 0", name))
	s, err := Open(t.Context(), db.App)
	if err == nil {
		s.Close()
	}
	if !errors.Is(err, stores.ErrCrowded) {
		t.Errorf("no connection left is told as %v", err)
	}
}

// A store says that it is full from the first write that finds no room to the next that the journal
// has.
func TestFull(t *testing.T) {
	t.Parallel()
	s, entities, _, db := bank(t)
	writes := func(text string, entries ...stores.Entry) error {
		return s.Update(t.Context(), stores.Scope{All: true}, func(tx stores.Tx) error {
			change := stores.Change{Op: stores.Update, Entity: entities[0], Key: stores.NewInt(1), Set: []stores.Assign{{Field: 1, Value: stores.NewString(text)}}}
			return tx.Apply(t.Context(), stores.Batch{Changes: []stores.Change{change}, Entries: entries})
		})
	}
	long, entry := strings.Repeat("long ", 100_000), stores.Entry{Verb: "v", Principal: "ada"}
	// As the server says it that cannot make a table longer.
	run(t, db.Admin, `CREATE FUNCTION public.no_room() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END$$;
CREATE TRIGGER no_room BEFORE UPDATE ON kyc.cbus FOR EACH ROW EXECUTE FUNCTION public.no_room()`)
	if err := writes(long, entry); !errors.Is(err, stores.ErrFull) || !s.Full() {
		t.Errorf("a full disk is told as %v, and full is %t", err, s.Full())
	}
	run(t, db.Admin, "DROP TRIGGER no_room ON kyc.cbus")
	if err := writes("short"); err != nil || !s.Full() {
		t.Errorf("what the journal has nothing of is found room for: %v, and full is %t", err, s.Full())
	}
	if err := writes(long, entry); err != nil || s.Full() {
		t.Errorf("with room again: %v, and full is %t", err, s.Full())
	}
}

// SAFE-A2, SAFE-A5: row-level security hides by itself what is not to be seen,
// and what belongs to it, in a table whose rows keep whose they are as well.
func TestPoliciesHide(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db := pgtest.Database(t)
	s, err := Open(ctx, db.App, MigrateAs(db.Owner))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	field := func(name string, kind stores.Kind, ref *stores.Entity) stores.Field {
		return stores.Field{Name: name, Column: name, Kind: kind, Ref: ref, Required: true}
	}
	entity := func(name string, scope []stores.Step, fields ...stores.Field) *stores.Entity {
		fields = append([]stores.Field{field("id", stores.Int, nil)}, fields...)
		return &stores.Entity{Name: name, Table: "kyc." + name, Managed: true, Fields: fields, Scope: scope}
	}
	cbu := entity("cbu", nil)
	request := entity("request", []stores.Step{{Field: 1, To: cbu}}, field("cbu", stores.Int, cbu), field("shown", stores.Bool, nil))
	part := entity("part", append([]stores.Step{{Field: 1, To: request}}, request.Scope...), field("request", stores.Int, request))
	all := []*stores.Entity{cbu, request, part}
	migrate := func() {
		t.Helper()
		if plan, err := s.Migrate(ctx, all, true); err != nil || len(plan.Problems) > 0 {
			t.Fatal(plan.Problems, err)
		}
	}
	migrate()
	request.Visible = []int{2} // said later, of tables that are there
	migrate()
	insert := func(e *stores.Entity, id int64, values ...stores.Value) stores.Change {
		c := stores.Change{Op: stores.Insert, Entity: e, Key: stores.NewInt(id)}
		for i, v := range values {
			c.Set = append(c.Set, stores.Assign{Field: i + 1, Value: v})
		}
		return c
	}
	apply := func(scope stores.Scope, changes ...stores.Change) error {
		return s.Update(ctx, scope, func(tx stores.Tx) error { return tx.Apply(ctx, stores.Batch{Changes: changes}) })
	}
	one, two := stores.NewInt(1), stores.NewInt(2)
	err = apply(stores.Scope{All: true}, insert(cbu, 1), insert(request, 1, one, stores.NewBool(false)), insert(request, 2, one, stores.NewBool(true)), insert(part, 1, one), insert(part, 2, two))
	if err != nil {
		t.Fatal(err)
	}
	scope := stores.Scope{Principal: "pierre", Holds: map[string][]stores.Value{"cbu": {one}}}
	for _, ajar := range []bool{true, false} {
		s.ajar = ajar
		for _, e := range all[1:] {
			err := s.View(ctx, scope, func(r stores.Reader) error {
				rows, err := r.Find(ctx, stores.Find{Entity: e, Select: []stores.Path{{Field: 0}}})
				if len(rows) != 1 || rows[0][0] != two {
					t.Errorf("%s, ajar %v: found %v", e.Name, ajar, rows)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		for name, c := range map[string]stores.Change{
			"hiding":          {Op: stores.Update, Entity: request, Key: two, Set: []stores.Assign{{Field: 2, Value: stores.NewBool(false)}}},
			"showing":         {Op: stores.Update, Entity: request, Key: one, Set: []stores.Assign{{Field: 2, Value: stores.NewBool(true)}}},
			"adding hidden":   insert(request, 3, one, stores.NewBool(false)),
			"adding below it": insert(part, 3, one),
		} {
			if apply(scope, c) == nil {
				t.Errorf("%s, ajar %v: done", name, ajar)
			}
		}
	}
}
