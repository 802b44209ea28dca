package sqlite

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"zombiezen.com/go/sqlite"

	"verbatim/stores"
)

var names = flag.Int("names", 100_000, "rows among whose names one is looked up; a million are those of make marathon")

// F2: among the names of a million rows one is found by a look-up, whichever way it
// is asked for.
func TestANameIsOneLookUp(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, err := Open(filepath.Join(t.TempDir(), "names.db"))
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
	err = s.write(ctx, func(c *conn) error {
		_, err := c.exec(fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
INSERT INTO verbatim_name SELECT 'kyc.requests', iif(i %% 2, 'same', 'row-' || i), i / 100, i, printf('%%016x', i * 40503) FROM n`, *names))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = s.read(ctx, func(c *conn) error {
		for what, q := range map[string]stores.NameQuery{
			"a name":             {Entity: e, Plain: []string{"row-" + key}, Most: 6},
			"a name of an owner": {Entity: e, Plain: []string{"row-" + key}, Owners: []string{owner}, Most: 6},
			"a common name":      {Entity: e, Plain: []string{"same"}, Most: 6},
			"a suffix":           {Entity: e, Suffix: fmt.Sprintf("%016x", at*40503)[:13], Most: 6},
			"a row":              {Entity: e, Keys: []stores.Value{stores.NewInt(int64(at))}},
		} {
			q := q
			text := namesText(&q)
			var plan []string
			if err := c.query(ctx, "EXPLAIN QUERY PLAN "+text.String(), text.Args, func(row *sqlite.Stmt) error {
				plan = append(plan, row.ColumnText(3))
				return nil
			}); err != nil {
				return err
			}
			all := strings.Join(plan, "; ")
			if strings.Contains(all, "SCAN n") || strings.Contains(all, "SCAN m") || strings.Contains(all, "SCAN verbatim_name") || !strings.Contains(all, "USING") {
				t.Errorf("%s goes through the table: %s", what, all)
			}
			r := &reader{s: s, c: c}
			found, err := r.Names(ctx, q)
			if err != nil {
				return err
			}
			want := 1
			if what == "a common name" {
				want = 6
			}
			if len(found) != want || want == 1 && found[0].Key.Text() != key {
				t.Errorf("%s: %v", what, found)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
