package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"verbatim/stores"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/storetest"
)

// bank is a store with two roots, of which the caller holds one, and things that
// no palette declares. Of its tables, replies is one of the organisation's own.
func bank(t testing.TB, opts ...Option) (*Store, []*stores.Entity, stores.Scope, pgtest.DB) {
	t.Helper()
	return bankOn(t, pgtest.Database(t), opts...)
}

func bankOn(t testing.TB, db pgtest.DB, opts ...Option) (*Store, []*stores.Entity, stores.Scope, pgtest.DB) {
	t.Helper()
	ctx := context.Background()
	s, err := Open(ctx, db.App, append([]Option{MigrateAs(db.Owner)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	field := func(name string, kind stores.Kind) stores.Field {
		return stores.Field{Name: name, Column: name, Kind: kind}
	}
	root := &stores.Entity{Name: "cbu", Table: "kyc.cbus", Managed: true, Fields: []stores.Field{field("id", stores.Int), field("name", stores.String)}}
	note := &stores.Entity{Name: "note", Table: "kyc.notes", Managed: true, Fields: []stores.Field{field("id", stores.Int), field("cbu", stores.Int), field("text", stores.String), field("secret", stores.String)}}
	note.Fields[1].Ref, note.Fields[1].Required = root, true
	note.Fields[3].Sensitive = true
	note.Scope = []stores.Step{{Field: 1, To: root}}
	reply := &stores.Entity{Name: "reply", Table: "kyc.replies", Fields: []stores.Field{field("id", stores.Int), field("note", stores.Int), field("text", stores.String)}}
	reply.Fields[1].Ref = note
	reply.Scope = append([]stores.Step{{Field: 1, To: note}}, note.Scope...)
	mark := &stores.Entity{Name: "mark", Table: "kyc.marks", Managed: true, Fields: []stores.Field{field("id", stores.Int), field("reply", stores.Int), field("text", stores.String)}}
	mark.Fields[1].Ref = reply
	mark.Scope = append([]stores.Step{{Field: 1, To: reply}}, reply.Scope...)
	line := &stores.Entity{Name: "line", Table: "kyc.lines", Managed: true, Fields: []stores.Field{field("id", stores.Int), field("note", stores.Int), field("text", stores.String)}}
	line.Fields[1].Ref, line.Fields[1].Required = note, true
	line.Scope = append([]stores.Step{{Field: 1, To: note}}, note.Scope...) // rows that keep whose they are
	page := &stores.Entity{Name: "page", Table: "own.pages", Managed: true, Access: stores.ByPrincipal, Fields: []stores.Field{field("id", stores.Int), field("owner", stores.String), field("text", stores.String)}}
	page.Scope = []stores.Step{{Field: 1}}
	land := &stores.Entity{Name: "land", Table: "ref.lands", Managed: true, Access: stores.ForAll, Fields: []stores.Field{field("id", stores.Int), field("name", stores.String)}}
	hidden := &stores.Entity{Name: "hidden", Table: "kyc.hidden", Managed: true, Fields: []stores.Field{field("id", stores.Int), field("text", stores.String)}}
	entities := []*stores.Entity{root, note, page, land}
	migrate := func(entities ...*stores.Entity) {
		plan, err := s.Migrate(ctx, entities, true)
		if err != nil || len(plan.Problems) > 0 {
			t.Fatal(plan.Problems, err)
		}
	}
	migrate(append(entities, hidden)...)
	run(t, db.Owner, `CREATE TABLE kyc.replies (id bigint PRIMARY KEY, note bigint REFERENCES kyc.notes, text text);
		CREATE INDEX ON kyc.replies (note); GRANT SELECT, INSERT, UPDATE, DELETE ON kyc.replies TO verbatim_app;
		CREATE TABLE public.secrets (id bigint PRIMARY KEY, text text); INSERT INTO public.secrets VALUES (1, 'CANARY'); GRANT SELECT, UPDATE ON public.secrets TO verbatim_app;
		CREATE VIEW public.peek AS SELECT id, cbu, text FROM kyc.notes; GRANT SELECT ON public.peek TO verbatim_app;
		CREATE FUNCTION public.leak(text) RETURNS text LANGUAGE sql AS 'SELECT $1'`)
	entities = []*stores.Entity{root, note, reply, mark, page, land, line}
	migrate(append(entities, hidden)...)
	change := func(e *stores.Entity, id int64, vals ...stores.Value) stores.Change {
		c := stores.Change{Op: stores.Insert, Entity: e, Key: stores.NewInt(id)}
		for i, v := range vals {
			c.Set = append(c.Set, stores.Assign{Field: i + 1, Value: v})
		}
		return c
	}
	one, two, mine, theirs := stores.NewInt(1), stores.NewInt(2), stores.NewString("mine"), stores.NewString(storetest.Canary)
	err = s.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
		return tx.Apply(ctx, stores.Batch{
			Changes: []stores.Change{
				change(root, 1, mine), change(root, 2, theirs),
				change(note, 1, one, mine), change(note, 2, two, theirs), change(note, 3, one, stores.NewString("mine too")),
				change(reply, 1, one, mine), change(reply, 2, two, theirs),
				change(mark, 1, one, mine), change(mark, 2, two, theirs),
				change(line, 1, one, mine), change(line, 2, two, theirs),
				change(page, 1, stores.NewString("p"), mine), change(page, 2, stores.NewString("q"), theirs),
				change(land, 1, mine), change(hidden, 1, theirs),
			},
			Entries: []stores.Entry{{Verb: storetest.Canary, Call: storetest.Canary}},
			Jobs:    []stores.Job{{ID: "1", Kind: "notice", Principal: storetest.Canary, Payload: `{"text":"` + storetest.Canary + `"}`, At: time.Unix(1, 0)}},
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	// hidden is a table of the same store that this palette does not name.
	return s, entities, stores.Scope{Principal: "p", Holds: map[string][]stores.Value{"cbu": {one}}}, db
}

// run runs SQL as a role.
func run(t testing.TB, url, sql string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, sql); err != nil {
		t.Fatal(err)
	}
}
