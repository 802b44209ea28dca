package postgres

import (
	"context"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"verbatim/stores"
)

// Identity implements stores.Store.
func (s *Store) Identity(ctx context.Context) (id stores.Identity, err error) {
	err = s.read(ctx, s.pool, stores.Scope{}, func(c *conn) error {
		if err := rightVersion(ctx, c); err != nil {
			return err
		}
		return c.do(ctx, op{doing: "identity", sql: "SELECT store, encode(secret, 'hex') FROM public.verbatim_schema", read: func(r row) error {
			id.ID, id.Secret = r.str(0), []byte(r.str(1))
			return nil
		}})
	})
	if err == nil && id.ID == "" {
		err = stores.ErrSchema
	}
	return id, err
}

// Head implements stores.Store.
func (s *Store) Head(ctx context.Context) (seq int64, hash [32]byte, err error) {
	err = s.read(ctx, s.pool, stores.Scope{}, func(c *conn) error {
		return c.do(ctx, op{doing: "journal", sql: "SELECT seq, encode(hash, 'hex') FROM public.verbatim_journal ORDER BY seq DESC LIMIT 1", read: func(r row) error {
			seq = r.num(0)
			b, err := hex.DecodeString(r.str(1))
			copy(hash[:], b)
			return err
		}})
	})
	return seq, hash, err
}

// rightVersion refuses the database of another version.
func rightVersion(ctx context.Context, c *conn) error {
	version := int64(schemaVersion)
	err := c.do(ctx, op{doing: "identity", sql: "SELECT max(version) FROM public.verbatim_schema", read: func(r row) error {
		version = r.num(0)
		return nil
	}})
	if err == nil && version != schemaVersion {
		err = &stores.VersionError{Is: version, Known: schemaVersion}
	}
	return err
}

// Names implements stores.Reader.
func (r *reader) Names(ctx context.Context, q stores.NameQuery) ([]stores.Name, error) {
	var names []stores.Name
	err := r.c.do(ctx, namesText(&q).op("names", func(raw row) error {
		key, ok := stores.Parse(q.Entity.Fields[q.Entity.Key].Kind, raw.str(0))
		if ok { // a key of another kind was that of a row before the table changed
			names = append(names, stores.Name{Entity: q.Entity, Key: key, Plain: raw.str(1), Suffix: raw.str(2), Owner: raw.str(3)})
		}
		return nil
	}))
	return names, err
}

func namesText(q *stores.NameQuery) *text {
	t := newText().add("SELECT n.row_key, n.plain, n.suffix, n.owner FROM ")
	owned := func(alias string) {
		if q.Owners != nil {
			t.add(" AND ", alias, ".owner = ANY (").arg(textsOf(q.Owners), "text[]").add(")")
		}
	}
	switch {
	case len(q.Plain) > 0:
		// Of a name that a million rows have, no more are looked at than are wanted.
		t.add("unnest(").arg(textsOf(q.Plain), "text[]").add(") p CROSS JOIN LATERAL (SELECT * FROM public.verbatim_name m WHERE m.table_name = ").arg(q.Entity.Table, "text")
		t.add(" AND m.plain = p")
		owned("m")
		t.add(" LIMIT ").arg(strconv.Itoa(q.Most), "bigint").add(") n ORDER BY n.row_key")
	case q.Suffix != "":
		t.add("public.verbatim_name n WHERE n.table_name = ").arg(q.Entity.Table, "text")
		t.add(" AND n.suffix >= ").arg(q.Suffix, "text").add(" AND n.suffix < ").arg(q.Suffix+"~", "text")
		owned("n")
		t.add(" ORDER BY n.row_key LIMIT ").arg(strconv.Itoa(q.Most), "bigint")
	default:
		keys := make([]string, len(q.Keys))
		for i, k := range q.Keys {
			keys[i] = k.Text()
		}
		t.add("public.verbatim_name n WHERE n.table_name = ").arg(q.Entity.Table, "text").add(" AND n.row_key = ANY (").arg(textsOf(keys), "text[]").add(")")
		owned("n")
		t.add(" ORDER BY n.row_key")
	}
	return t
}

func textsOf(texts []string) string {
	items := make([]any, len(texts))
	for i, s := range texts {
		items[i] = s
	}
	return arrayOf(items)
}

// callOps makes the statement that keeps names of rows. Two writers keep the same
// names in the same order, so that they wait for one another and not in a circle.
func callOps(names []stores.Name) []op {
	if len(names) == 0 {
		return nil
	}
	names = slices.Clone(names)
	slices.SortFunc(names, func(a, b stores.Name) int {
		if c := strings.Compare(a.Entity.Table, b.Entity.Table); c != 0 {
			return c
		}
		if c := strings.Compare(a.Plain, b.Plain); c != 0 {
			return c
		}
		return strings.Compare(a.Key.Text(), b.Key.Text())
	})
	var columns [5][]any
	for i := range names {
		n := &names[i]
		for j, s := range [...]string{n.Entity.Table, n.Plain, n.Owner, n.Key.Text(), n.Suffix} {
			columns[j] = append(columns[j], s)
		}
	}
	q := newText().add("INSERT INTO public.verbatim_name (table_name, plain, owner, row_key, suffix) SELECT * FROM unnest(")
	for i := range columns {
		if i > 0 {
			q.add(",")
		}
		q.arg(arrayOf(columns[i]), "text[]")
	}
	return []op{q.add(") ON CONFLICT DO NOTHING").op("name", nil)}
}
