package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/tests/norace"
	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
	"verbatim/verbs/load"
)

// PERF-X1, PERF-X3: among 100 000 requests of 10 000 clients, what reading one
// client's ten requests costs, and answering one of them, are a few pages, and no
// statement goes through a table from end to end. A row that is reached through an
// index is four pages at this size, and keeps whose it is.
func TestOneClientAmongMany(t *testing.T) {
	t.Parallel()
	if norace.Run(t) {
		return
	}
	// A transaction that meets something else on the server is tried again, and its
	// pages count twice then. That does not happen each time.
	if much := pagesAmongMany(t); len(much) > 0 {
		t.Log(much)
		for _, what := range pagesAmongMany(t) {
			t.Error(what)
		}
	}
}

// pagesAmongMany tells of calls that touch more pages than they may.
func pagesAmongMany(t *testing.T) (much []string) {
	ctx := context.Background()
	db := pgtest.Database(t)
	x := pgtest.Explain(t, db)
	filler, err := postgres.Open(ctx, db.App, postgres.MigrateAs(db.Owner))
	if err != nil {
		t.Fatal(err)
	}
	defer filler.Close()
	reg := mustLoad(t)(load.Dir(os.DirFS("../../verbs/palettes/bank")))
	crowd, err := os.ReadFile("../../examples/client/crowd.postgres.sql")
	if err != nil {
		t.Fatal(err)
	}
	var tables []*stores.Entity
	ours := map[string]bool{}
	for _, e := range reg.Entities() {
		e.Store.Managed = true
		tables = append(tables, e.Store)
		// An empty table is one page, and looked at from end to end.
		ours[e.Store.Table] = strings.Contains(string(crowd), "INTO "+e.Store.Table+" ") || strings.Contains(string(crowd), `INTO "ob-poc".`+strings.TrimPrefix(e.Store.Table, "ob-poc.")+" ")
	}
	if plan, err := filler.Migrate(ctx, append(tables, engine.Own()...), true); err != nil || len(plan.Problems) > 0 {
		t.Fatal(err, plan.Problems)
	}
	sent := `INSERT INTO verbatim.contents (sum, tag, size, state) VALUES ('ab', '01', 651, 'HELD');
		INSERT INTO verbatim.uploads (id, owner, name, media_type, size, sum, content, verdict, uploaded_at) VALUES ('f1', 'clara', 'return.pdf', 'application/pdf', 651, 'ab', 'ab', 'CLEAN', now())`
	if err := filler.Load(ctx, string(crowd)+";\n"+sent); err != nil {
		t.Fatal(err)
	}
	cbu, _ := stores.ParseUUID("0000000c-0000-4000-8000-0000000004d2") // client 1234
	if err := filler.SetPrincipal(ctx, stores.Principal{Name: "clara", Roles: []string{"client"}, Holds: map[string][]stores.Value{"cbu": {cbu}}}); err != nil {
		t.Fatal(err)
	}
	x.Analyze()
	store, err := postgres.New(ctx, x.Pool)
	if err != nil {
		t.Fatal(err)
	}
	eng, err := engine.New(reg, store, engine.Options{Handlers: &engine.Handlers{Partial: true}})
	if err != nil {
		t.Fatal(err)
	}
	say := func(text string) (rows int) {
		session, err := eng.Session(ctx, "clara")
		if err != nil {
			t.Fatal(err)
		}
		script, _ := dsl.Parse(dsl.NewSource("crowd.dsl", text))
		p, ds := session.Check(context.Background(), script)
		if p == nil {
			t.Fatal(text, ds)
		}
		reply, err := session.Run(ctx, p, engine.RunOptions{})
		if err != nil {
			t.Fatal(text, err)
		}
		if res := reply.Calls[0].Result; res != nil {
			rows = len(res.Rows)
		}
		return rows
	}
	for _, call := range []struct {
		text  string
		rows  int
		pages int // of all its statements about the bank's tables
	}{
		{"client.get-outstanding", 10, 280}, // the names of its rows are some fifty of them
		{"client.get-status", 1, 160},
		{`client.get-request-detail :request-id "000004e9-0000-4000-8000-000000003034"`, 1, 80},
		{`client.submit-document :request-id "000004e9-0000-4000-8000-000000003034" :document-type TAX_RETURN :file-reference "upload://f1"`, 0, 290}, // what was sent and is missing of the request is counted; its names and jobs are written in the statement that changes its rows
	} {
		x.Plans()
		if n := say(call.text); n != call.rows {
			t.Fatal(call.text, n)
		}
		pages := 0
		for _, p := range x.Plans() {
			about := false
			p.Top.Walk(func(n *pgtest.Node) {
				if !ours[n.Schema+"."+n.Relation] {
					return
				}
				about = true
				if n.Type == "Seq Scan" || n.Type == "Parallel Seq Scan" || n.Removed > 100 {
					t.Errorf("%s goes through %s:\n%s", call.text, n.Relation, p.SQL)
				}
			})
			if about {
				pages += p.Top.Hit + p.Top.Read
			}
		}
		t.Logf("%s: %d pages", call.text, pages)
		if pages == 0 || pages > call.pages {
			much = append(much, fmt.Sprintf("%s touches %d pages, and may touch %d", call.text, pages, call.pages))
		}
	}
	return much
}
