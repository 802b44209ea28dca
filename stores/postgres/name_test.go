package postgres

import (
	"context"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"verbatim/stores"
	"verbatim/stores/postgres/pgtest"
)

var names = flag.Int("names", 100_000, "rows among whose names one is looked up; a million take half a minute")

// F2: among the names of a million rows one is found by a look-up, whichever way it
// is asked for.
func TestANameIsOneLookUp(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db := pgtest.Database(t)
	s, err := Open(ctx, db.App, MigrateAs(db.Owner))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	e := &stores.Entity{Name: "request", Table: "kyc.requests", Fields: []stores.Field{{Name: "id", Column: "id", Kind: stores.Int}}}
	if _, err := s.Migrate(ctx, nil, true); err != nil {
		t.Fatal(err)
	}
	// Half of all rows share one name, as rows without a label do.
	at := *names / 10 * 7 // a row with a name of its own
	key, owner := strconv.Itoa(at), strconv.Itoa(at/100)
	if _, err := s.owner.Exec(ctx, `INSERT INTO public.verbatim_name
SELECT 'kyc.requests', CASE WHEN i % 2 = 1 THEN 'same' ELSE 'row-' || i END, (i / 100)::text, i::text, lpad(to_hex(i::bigint * 40503), 16, '0') FROM generate_series(1, $1::int) i`, *names); err != nil {
		t.Fatal(err)
	}
	if _, err := s.owner.Exec(ctx, "ANALYZE public.verbatim_name"); err != nil {
		t.Fatal(err)
	}
	err = s.read(ctx, s.pool, stores.Scope{}, func(c *conn) error {
		for what, q := range map[string]stores.NameQuery{
			"a name":             {Entity: e, Plain: []string{"row-" + key}, Most: 6},
			"a name of an owner": {Entity: e, Plain: []string{"row-" + key}, Owners: []string{owner}, Most: 6},
			"a suffix":           {Entity: e, Suffix: fmt.Sprintf("%016x", at*40503)[:13], Most: 6},
			"a row":              {Entity: e, Keys: []stores.Value{stores.NewInt(int64(at))}},
		} {
			q := q
			text := namesText(newText(), &q)
			if all := explained(t, s, "EXPLAIN ", text); strings.Contains(all, "Seq Scan") {
				t.Errorf("%s goes through the table:\n%s", what, all)
			}
			r := &reader{s: s, c: c}
			found, err := r.Names(ctx, q)
			if err != nil {
				return err
			}
			if len(found) != 1 || found[0].Key.Text() != key {
				t.Errorf("%s: %v", what, found)
			}
		}
		// Of a name that half of all rows have, no more are read than are wanted.
		text := namesText(newText(), &stores.NameQuery{Entity: e, Plain: []string{"same"}, Most: 6})
		if all := explained(t, s, "EXPLAIN (ANALYZE, TIMING OFF) ", text); !strings.Contains(all, "Limit") || !strings.Contains(all, "actual rows=6 ") {
			t.Errorf("a common name:\n%s", all)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// explained is how a statement would be carried out.
func explained(t *testing.T, s *Store, how string, q *text) string {
	t.Helper()
	o := opOf(q, "explain", nil)
	rows, err := s.owner.Query(context.Background(), how+o.sql, append([]any{pgx.QueryExecModeSimpleProtocol}, o.args...)...)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(plan, "\n")
}
