package postgres

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"verbatim/stores"
	"verbatim/stores/postgres/pgtest"
)

// 51: a search goes by our own stems alone, which stand in a column, and by nothing of the server that
// differs between its versions: the texts that are searched and asked never reach its configurations.
func TestSearchUsesNoStemsOfTheServer(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db := pgtest.Database(t)
	entity := &stores.Entity{Name: "note", Table: "own.notes", Managed: true, Access: stores.ForAll, Search: &stores.Search{Text: []int{1}},
		Fields: []stores.Field{{Name: "id", Column: "id", Kind: stores.Int, Required: true}, {Name: "text", Column: "text", Kind: stores.String}}}
	opened, err := Open(ctx, db.App, MigrateAs(db.Owner))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := opened.Migrate(ctx, []*stores.Entity{entity}, true)
	if err != nil || len(plan.Problems) > 0 {
		t.Fatal(plan.Problems, err)
	}
	if err := opened.Close(); err != nil {
		t.Fatal(err)
	}
	traced := pgtest.Trace(t, db)
	s, err := New(ctx, traced.Pool)
	if err != nil {
		t.Fatal(err)
	}
	all := stores.Scope{Principal: "ada", All: true}
	for n, language := range []string{"german", "simple", "english"} {
		db.Run(t, "ALTER DATABASE "+regexp.MustCompile(`///(\w+)`).FindStringSubmatch(db.App)[1]+" SET default_text_search_config = 'pg_catalog."+language+"'")
		err := s.Update(ctx, all, func(tx stores.Tx) error {
			return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{{Op: stores.Insert, Entity: entity, Key: stores.NewInt(int64(n + 1)), Set: []stores.Assign{{Field: 1, Value: stores.NewString("Die Verkäuferin und der Käufer " + language)}}}}})
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, asked := range []string{"Kaeufer", "Käufern", "KAEUFER"} {
			err := s.View(ctx, all, func(r stores.Reader) error {
				found, _, err := r.Match(ctx, stores.Match{Entity: entity, Text: asked, Limit: 9})
				if len(found) != n+1 {
					t.Errorf("%s, under %s, finds %v", asked, language, found)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	said := traced.Statements()
	if len(said) < 10 {
		t.Errorf("only %d statements were traced", len(said))
	}
	for _, sql := range said {
		if own := regexp.MustCompile(`(?i)tsvector|tsquery|ts_rank|ts_lexize|@@|regconfig`).FindString(sql); own != "" {
			t.Errorf("the server's %s is used: %s", own, strings.TrimSpace(sql))
		}
	}
}
