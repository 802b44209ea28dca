package engine_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/sqlite"
	loading "verbatim/verbs/load"
)

// askingPalette has one query, written as %s.
const askingPalette = `domain: toll
description: A road.
roles: [{name: keeper, description: Who keeps it}]
entities:
  gate:
    description: A gate.
    table: toll.gates
    key: id
    managed: true
    scope: self
    fields: {id: {type: uuid, required: true}, name: {type: string, required: true}, open: {type: boolean}}
verbs:
  - verb: gates
    description: What stands open.
    roles: [keeper]
    query:
      columns: {name: string}
      sql: %s
`

// U20: what is wrong with an author's query is told at the very word in the
// palette, whichever way YAML writes it, and the same on both stores.
func TestMistakesInQueriesPointIntoThePalette(t *testing.T) {
	t.Parallel()
	open := map[string]func(t *testing.T) stores.Store{
		"sqlite": func(t *testing.T) stores.Store {
			s, err := sqlite.Open(filepath.Join(t.TempDir(), "toll.db"))
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
		"postgres": func(t *testing.T) stores.Store {
			db := pgtest.Database(t)
			s, err := postgres.Open(context.Background(), db.App, postgres.MigrateAs(db.Owner))
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
	}
	// «» stand around what is to be pointed at.
	written := map[string]string{
		"plain":                  `SELECT «nam» AS name FROM toll.gates`,
		"plain over lines":       "SELECT name\n        FROM toll.gates\n        WHERE «opened»",
		"single quotes":          `'SELECT name FROM toll.gates WHERE name <> ''é'' AND «opened»'`,
		"double quotes":          `"SELECT name\n FROM toll.gates WHERE name <> \"name\" AND \t «opened»"`,
		"literal":                "|\n        SELECT name\n          FROM toll.gates -- é\n         WHERE «opened»\n",
		"literal, stripped":      "|-\n        SELECT name\n          FROM toll.gates\n\n         WHERE «opened»",
		"folded":                 ">\n        SELECT name\n        FROM toll.gates\n        WHERE name <> 'é'\n        AND «opened»\n",
		"folded, with paragraph": ">-\n        SELECT name\n        FROM toll.gates\n\n          WHERE open\n\n        AND «opened»",
		"another table":          "|\n        SELECT name\n          FROM «tolls».gates\n",
		"a word too many":        "|\n        SELECT name\n          FROM toll.gates\n         WHERE open «5»\n",
		"ends too early":         "|\n        SELECT name\n          FROM toll.gates\n         WHER«E»\n",
		"nothing like a query":   "|\n        «DELETE» FROM toll.gates\n",
	}
	for name, open := range open {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := open(t)
			t.Cleanup(func() { store.Close() })
			good, ds := loading.Sources(dsl.NewSource("toll.yaml", strings.ReplaceAll(askingPalette, "%s", "SELECT name FROM toll.gates")))
			if ds.HasErrors() {
				t.Fatal(told(ds))
			}
			plan, err := store.Migrate(context.Background(), append([]*stores.Entity{good.Entity("gate").Store}, engine.Own()...), true)
			if err != nil || len(plan.Problems) > 0 {
				t.Fatal(err, plan.Problems)
			}
			for how, sql := range written {
				text := strings.ReplaceAll(askingPalette, "%s", sql)
				from := strings.Index(text, "«")
				to := strings.Index(text, "»") - len("«")
				text = strings.NewReplacer("«", "", "»", "").Replace(text)
				reg, ds := loading.Sources(dsl.NewSource("toll.yaml", text))
				if ds.HasErrors() {
					t.Errorf("%s: %s", how, told(ds))
					continue
				}
				engine, err := engine.New(reg, store, engine.Options{})
				if err != nil || len(engine.Unfit()) != 1 {
					t.Errorf("%s: %v", how, err)
					continue
				}
				d := engine.Unfit()[0]
				at := d.Place.Range
				if d.Code != "bad-query" || int(at.Start) != from || int(at.End) != to {
					t.Errorf("%s: %s at %q, want %q (%s)", how, d.Code, text[at.Start:at.End], text[from:to], d.Summary)
				}
			}
		})
	}
}
