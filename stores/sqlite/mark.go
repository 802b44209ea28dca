package sqlite

import (
	"context"
	"slices"

	"zombiezen.com/go/sqlite"

	"verbatim/stores"
	"verbatim/stores/sqlcore"
)

// The marks of a row are an object from column to origin. An unmarked row costs one index
// look-up; while there are no marks at all, a read of many rows looks only once.

const marksObject = `(SELECT nullif(json_group_object(o.column_name, o.origin), '{}') FROM main.verbatim_origin o WHERE o.table_name = `

// marksOf writes the marks of the row with an alias.
func marksOf(t *text, e *stores.Entity, alias string) {
	t.Add("CASE WHEN EXISTS (SELECT 1 FROM main.verbatim_origin) THEN ", marksObject).Arg(str(tableName(e)))
	t.Add(" AND o.row_key = CAST(", datum(e, alias, e.Key), " AS TEXT)) END")
}

// marksOfRow writes the marks of the row with a key.
func marksOfRow(t *text, e *stores.Entity, key stores.Value) {
	t.Add(marksObject).Arg(str(tableName(e)))
	t.Add(" AND o.row_key = ").Arg(markKey(key))
	t.Add(")")
}

// markKey returns a key in the form in which marks store it: as a cast to text writes it.
func markKey(key stores.Value) stores.Value { return stores.NewString(key.Text()) }

func readMarks(e *stores.Entity, c cellOf) ([]stores.Mark, error) {
	s, err := decode(stores.String, c)
	if err != nil || s.IsNull() {
		return nil, err
	}
	return stores.ReadMarks(e, s)
}

// origins lists the origins with which rows of entities are marked, within the scope.
func (r *reader) origins(entities []*stores.Entity) ([]string, error) {
	if len(entities) == 0 {
		return nil, nil
	}
	t := newText()
	for i, e := range entities {
		if i > 0 {
			t.Add(" UNION ")
		}
		t.Add("SELECT DISTINCT o.origin FROM main.verbatim_origin o")
		if !r.Opens(e) {
			key := "o.row_key"
			if e.Fields[e.Key].Kind == stores.Int {
				key = "CAST(o.row_key AS INTEGER)"
			}
			t.Add(" JOIN ", table(e), " t ON ", datum(e, "t", e.Key), " = ", key)
		}
		t.Add(" WHERE o.table_name = ").Arg(str(tableName(e)))
		sqlcore.Within(t, r, e, "t", false)
	}
	var found []string
	err := r.c.query(context.Background(), t.Add(" ORDER BY 1").Whole(), t.Args, func(row *sqlite.Stmt) error {
		found = append(found, row.ColumnText(0))
		return nil
	})
	return slices.Compact(found), fault("marks", err)
}

// mark stores how a change alters marks.
func (t *tx) mark(c *stores.Change) error {
	set, clear := c.Marked()
	if len(set) == 0 && len(clear) == 0 {
		return nil
	}
	key, table := markKey(c.Key), str(tableName(c.Entity))
	for _, m := range set {
		_, err := t.c.exec(`INSERT INTO main.verbatim_origin (table_name, row_key, column_name, origin) VALUES (?,?,?,?)
ON CONFLICT (table_name, row_key, column_name) DO UPDATE SET origin = excluded.origin`, table, key, str(c.Entity.Fields[m.Field].Column), str(m.Origin))
		if err != nil {
			return fault("mark", err)
		}
	}
	for _, f := range clear {
		_, err := t.c.exec("DELETE FROM main.verbatim_origin WHERE table_name = ? AND row_key = ? AND column_name = ?",
			table, key, str(c.Entity.Fields[f].Column))
		if err != nil {
			return fault("mark", err)
		}
	}
	return nil
}
