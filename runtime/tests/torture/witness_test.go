package torture

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/receipt"
	"verbatim/stores/sqlite"
)

// A witness is a table that triggers of the test's own fill, in the transaction of
// whatever changes a row: nobody who writes the journal has a hand in it.
var witness = &stores.Entity{Name: "witness", Table: "witness", Key: 0, Place: "the test's own", Access: stores.ForAll, Fields: []stores.Field{
	{Name: "seq", Column: "seq", Kind: stores.Int, Required: true},
	{Name: "entity", Column: "entity", Kind: stores.String, Required: true},
	{Name: "row", Column: "changed", Kind: stores.String, Required: true},
	{Name: "op", Column: "op", Kind: stores.String, Required: true},
}}

var opWords = []string{receipt.Inserted, receipt.Updated, receipt.Deleted}

// watching is the SQL that makes the witness of the tables of the bank.
func watching(kind string) string {
	var b strings.Builder
	seq := "seq INTEGER PRIMARY KEY AUTOINCREMENT"
	if kind == "PostgreSQL" {
		seq = "seq bigserial PRIMARY KEY"
	}
	fmt.Fprintf(&b, "CREATE TABLE witness (%s, entity TEXT NOT NULL, changed TEXT NOT NULL, op TEXT NOT NULL);\n", seq)
	if kind == "PostgreSQL" {
		b.WriteString(`GRANT SELECT ON witness TO PUBLIC;
CREATE FUNCTION witnessed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE r jsonb := CASE WHEN TG_OP = 'DELETE' THEN to_jsonb(OLD) ELSE to_jsonb(NEW) END;
BEGIN
	INSERT INTO public.witness (entity, changed, op) VALUES (TG_ARGV[0], r->>TG_ARGV[1], lower(TG_OP));
	RETURN NULL;
END $$;
`)
	}
	for _, e := range []struct{ entity, table, key string }{{"branch", "branches", "branch_id"}, {"account", "accounts", "account_id"}, {"step", "steps", "step_id"}, {"note", "notes", "note_id"}} {
		if kind == "PostgreSQL" {
			fmt.Fprintf(&b, "CREATE TRIGGER witnessed AFTER INSERT OR UPDATE OR DELETE ON bank.%s FOR EACH ROW EXECUTE FUNCTION witnessed('%s', '%s');\n", e.table, e.entity, e.key)
			continue
		}
		for _, op := range opWords {
			row := "NEW"
			if op == receipt.Deleted {
				row = "OLD"
			}
			fmt.Fprintf(&b, "CREATE TRIGGER witnessed_%s_%s AFTER %s ON bank_%s BEGIN INSERT INTO witness (entity, changed, op) VALUES ('%s', %s.%s, '%s'); END;\n",
				e.entity, op, strings.ToUpper(op), e.table, e.entity, row, e.key, op)
		}
	}
	return b.String()
}

// onBothWitnessed is onBoth on banks with a witness.
func onBothWitnessed(t *testing.T, fn func(t *testing.T, kind, at string)) {
	ctx := context.Background()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		at := filepath.Join(t.TempDir(), "bank.db")
		s, err := sqlite.Open(at)
		if err != nil {
			t.Fatal(err)
		}
		err = foundWith(ctx, s, func() error { return s.Load(ctx, watching("SQLite")) })
		s.Close()
		if err != nil {
			t.Fatal(err)
		}
		fn(t, "SQLite", at)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		db := pgtest.Database(t)
		s, err := postgres.Open(ctx, db.App, postgres.MigrateAs(db.Owner))
		if err != nil {
			t.Fatal(err)
		}
		err = foundWith(ctx, s, func() error { return s.Load(ctx, watching("PostgreSQL")) })
		s.Close()
		if err != nil {
			t.Fatal(err)
		}
		fn(t, "PostgreSQL", db.App)
	})
}

// witnessed compares what the witness saw with what the journal tells: of every
// row the same changes in the same order, none more and none less. It returns how
// many there were.
func (v *verdict) witnessed(ctx context.Context, s stores.Store) (int, error) {
	saw, tells := map[string][]string{}, map[string][]string{}
	n := 0
	err := s.View(ctx, stores.Scope{All: true}, func(r stores.Reader) error {
		rows, err := r.Find(ctx, stores.Find{Entity: witness, Order: []stores.Order{{Path: stores.Path{Field: 0}}}})
		for _, row := range rows {
			key := row[1].Text() + " " + row[2].Text()
			saw[key] = append(saw[key], row[3].Text())
			n++
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("the witness: %w", err)
	}
	for _, c := range original() {
		key := c.Entity + " " + c.Key.Text()
		tells[key] = append(tells[key], receipt.Inserted) // before the journal
	}
	entries, err := s.Placed(ctx, 1, 0)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		record, err := journal.Parse(e.Changes)
		if err != nil {
			v.say("broken: entry %d: %v", e.Seq, err)
			return n, nil
		}
		if e.Outcome != "ok" && len(record.Rows) > 0 {
			v.say("broken: entry %d is %s, and tells of changes", e.Seq, e.Outcome)
		}
		for _, c := range record.Rows {
			key := c.Entity + " " + c.Key.Text()
			tells[key] = append(tells[key], c.Op)
		}
	}
	for _, key := range sorted(saw) {
		if is, told := strings.Join(saw[key], " "), strings.Join(tells[key], " "); is != told {
			v.say("broken: of %s the witness saw %q, and the journal tells %q", key, is, told)
		}
	}
	for _, key := range sorted(tells) {
		if saw[key] == nil {
			v.say("broken: of %s the journal tells %q, and the witness saw nothing", key, tells[key])
		}
	}
	return n, nil
}

// refusals finds those who were told no and of whom the journal says nothing.
func (v *verdict) refusals(ctx context.Context, s stores.Store, said []word) error {
	entries, err := s.Placed(ctx, 1, 0)
	if err != nil {
		return err
	}
	var refused strings.Builder
	for _, e := range entries {
		if e.Outcome == "refused" {
			refused.WriteString(e.Call + "\n")
		}
	}
	all := refused.String()
	for _, w := range said {
		// What was refused as somebody agreed stands under the confirmation's name.
		name := w.tag
		if _, id, agreeing := strings.Cut(w.rest, " "); agreeing {
			name = id
		}
		if w.what == saidRefused && !strings.Contains(all, fmt.Sprintf("%q", name)) {
			v.say("broken: script %s was refused (%s), and the journal does not say so", w.tag, w.rest)
		}
	}
	return nil
}

// again makes the rows anew from the journal in an empty store, and holds them and
// where their values come from against it.
func (v *verdict) again(ctx context.Context, t *testing.T, from stores.Store) error {
	image, err := pristine()
	if err != nil {
		return err
	}
	path := filepath.Join(t.TempDir(), "again.db")
	if err := os.WriteFile(path, image, 0o600); err != nil {
		return err
	}
	to := opened(t, path)
	reg, err := registry()
	if err != nil {
		return err
	}
	state := begun(reg)
	all := stores.Scope{Principal: "verbatim", All: true}
	err = to.Update(ctx, all, func(tx stores.Tx) error {
		for l, err := range journal.Opened(ctx, from, "verbatim", journal.Entries(ctx, from, 1, 0)) {
			if err != nil {
				return err
			}
			record, err := l.Record()
			if err != nil {
				return err
			}
			left, err := state.Rebuild(ctx, tx, l.Entry.Seq, &record)
			for _, sentence := range left {
				v.say("broken: %s", sentence)
			}
			if err != nil {
				return fmt.Errorf("entry %d: %w", l.Entry.Seq, err)
			}
			state.Apply(l.Entry.Seq, &record)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return v.compared(ctx, state, to, "made again")
}
