package sqlite

import (
	"context"
	"encoding/hex"
	"strconv"

	"zombiezen.com/go/sqlite"

	"verbatim/stores"
)

// Identity implements stores.Store.
func (s *Store) Identity(ctx context.Context) (id stores.Identity, err error) {
	err = s.read(ctx, func(c *conn) error {
		if err := rightVersion(ctx, c); err != nil {
			return err
		}
		return c.query(ctx, "SELECT store, secret FROM main.verbatim_schema", nil, func(row *sqlite.Stmt) (err error) {
			id.ID = row.ColumnText(0)
			id.Secret, err = hex.DecodeString(row.ColumnText(1))
			return err
		})
	})
	if err == nil && id.ID == "" {
		err = stores.ErrSchema
	}
	return id, fault("identity", err)
}

// Settle implements stores.Store: a file cannot tell that it is a copy.
func (s *Store) Settle(context.Context) error { return nil }

// rightVersion returns an error for a file of another version.
func rightVersion(ctx context.Context, c *conn) error {
	version := int64(schemaVersion)
	err := c.query(ctx, "SELECT max(version) FROM main.verbatim_schema", nil, func(row *sqlite.Stmt) error {
		version = row.ColumnInt64(0)
		return nil
	})
	if err == nil && version != schemaVersion {
		err = &stores.VersionError{Is: version, Known: schemaVersion, Old: version == withChain}
	}
	return err
}

// Names implements stores.Reader.
func (r *reader) Names(ctx context.Context, q stores.NameQuery) ([]stores.Name, error) {
	var names []stores.Name
	t := namesText(&q)
	err := r.c.query(ctx, t.Whole(), t.Args, func(row *sqlite.Stmt) error {
		text := row.ColumnText
		key, ok := stores.Parse(q.Entity.Fields[q.Entity.Key].Kind, text(0))
		if ok { // a key of another kind belongs to a row from before the table changed
			names = append(names, stores.Name{Entity: q.Entity, Key: key, Plain: text(1), Suffix: text(2), Owner: text(3)})
		}
		return nil
	})
	return names, fault("names", err)
}

func namesText(q *stores.NameQuery) *text {
	t := newText().Add("SELECT n.row_key, n.plain, n.suffix, n.owner FROM ")
	owned := func(alias string) {
		if q.Owners != nil {
			t.Add(" AND ", alias, ".owner IN (SELECT value FROM json_each(").Arg(str(listOf(q.Owners))).Add("))")
		}
	}
	switch {
	case q.Behind != nil:
		t.Add("main.verbatim_name n WHERE n.table_name = ").Arg(str(q.Entity.Table)).Add(" AND (n.plain, n.owner, n.row_key) > (")
		t.Arg(str(q.Behind.Plain)).Add(", ").Arg(str(q.Behind.Owner)).Add(", ").Arg(str(q.Behind.Key.Text()))
		t.Add(") ORDER BY n.plain, n.owner, n.row_key LIMIT ", strconv.Itoa(q.Most))
	case len(q.Plain) > 0:
		// If a million rows have a name, no more are looked at than are wanted.
		t.Add("json_each(").Arg(str(listOf(q.Plain))).Add(") p CROSS JOIN main.verbatim_name n WHERE n.rowid IN (SELECT m.rowid FROM main.verbatim_name m WHERE m.table_name = ").Arg(str(q.Entity.Table))
		t.Add(" AND m.plain = p.value")
		owned("m")
		t.Add(" LIMIT ", strconv.Itoa(q.Most), ") ORDER BY n.row_key")
	case q.Suffix != "":
		t.Add("main.verbatim_name n WHERE n.table_name = ").Arg(str(q.Entity.Table))
		t.Add(" AND n.suffix >= ").Arg(str(q.Suffix)).Add(" AND n.suffix < ").Arg(str(q.Suffix + "~"))
		owned("n")
		t.Add(" ORDER BY n.row_key LIMIT ", strconv.Itoa(q.Most))
	default:
		keys := make([]string, len(q.Keys))
		for i, k := range q.Keys {
			keys[i] = k.Text()
		}
		t.Add("json_each(").Arg(str(listOf(keys))).Add(") p CROSS JOIN main.verbatim_name n WHERE n.table_name = ").Arg(str(q.Entity.Table)).Add(" AND n.row_key = p.value")
		owned("n")
		t.Add(" ORDER BY n.row_key")
	}
	return t
}

// listOf writes a list of texts for json_each.
func listOf(texts []string) string {
	b := []byte{'['}
	for i, s := range texts {
		if i > 0 {
			b = append(b, ',')
		}
		b = stores.AppendJSONString(b, s)
	}
	return string(append(b, ']'))
}

// call stores names of rows.
func (t *tx) call(names []stores.Name) error {
	for i := range names {
		n := &names[i]
		_, err := t.c.exec("INSERT INTO main.verbatim_name (table_name, plain, owner, row_key, suffix) VALUES (?,?,?,?,?) ON CONFLICT DO NOTHING",
			str(n.Entity.Table), str(n.Plain), str(n.Owner), str(n.Key.Text()), str(n.Suffix))
		if err != nil {
			return fault("name", err)
		}
	}
	return nil
}
