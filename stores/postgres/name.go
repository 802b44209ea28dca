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
		known := false // other engines lack the function, and some owners keep it for themselves
		err := c.do(ctx, op{doing: "identity", sql: "SELECT coalesce(pg_catalog.has_function_privilege(pg_catalog.to_regprocedure('pg_catalog.pg_control_system()'), 'EXECUTE'), false)", read: func(r row) error {
			known = r.yes(0)
			return nil
		}})
		if err != nil {
			return err
		}
		place := "''"
		if known {
			place = "(SELECT 'database ' || d.oid || ' of ' || s.system_identifier FROM pg_catalog.pg_control_system() s, pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database())"
		}
		if id.Tells, id.Restored, err = restored(ctx, c); err != nil {
			return err
		}
		return c.do(ctx, op{doing: "identity", sql: "SELECT store, secret, " + place + " FROM public.verbatim_schema", read: func(r row) error {
			id.ID, id.Secret, id.Place = r.str(0), slices.Clone(r.bytes(1)), r.str(2)
			if len(id.Secret) == 32 { // made here: names in use were made with its text form
				id.Secret = []byte(hex.EncodeToString(id.Secret))
			} else if len(id.Secret) > 0 { // from another store, behind a zero byte: see filler.Keep
				id.Secret = id.Secret[1:]
			}
			return nil
		}})
	})
	if err == nil && id.ID == "" {
		err = stores.ErrSchema
	}
	return id, err
}

// A row that was put back was written by the transaction that put it back, and not by the one
// that it names: a dump cannot carry this forward. Copies of the server's own files keep the
// transaction and change the timeline, and so does a standby that takes over: what it had not
// received is lost as after a restore.
const (
	timeline  = `pg_catalog.substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_insert_lsn()), 1, 8)`
	untouched = `xmin::text::bigint = written & 4294967295 AND timeline = ` + timeline
	settle    = `UPDATE public.verbatim_place SET written = pg_catalog.pg_current_xact_id()::text::bigint, timeline = ` + timeline
)

// restored reports whether the database notices restores, and whether there was one since Settle.
// One that was migrated by an earlier build notices none.
func restored(ctx context.Context, c *conn) (tells, restored bool, err error) {
	err = c.do(ctx, op{doing: "identity", sql: "SELECT pg_catalog.to_regclass('public.verbatim_place') IS NOT NULL AND NOT pg_catalog.pg_is_in_recovery()", read: func(r row) error {
		tells = r.yes(0)
		return nil
	}})
	if err != nil || !tells {
		return false, false, err
	}
	err = c.do(ctx, op{doing: "identity", sql: "SELECT NOT (" + untouched + ") FROM public.verbatim_place", read: func(r row) error {
		restored = r.yes(0)
		return nil
	}})
	return tells, restored, err
}

// Settle implements stores.Store.
func (s *Store) Settle(ctx context.Context) error {
	id, err := s.Identity(ctx)
	if err != nil || !id.Tells {
		return err
	}
	return s.write(ctx, s.pool, stores.Scope{}, func(c *conn) error { return c.do(ctx, op{doing: "settle", sql: settle}) })
}

// rightVersion returns an error for a database of another version.
func rightVersion(ctx context.Context, c *conn) error {
	version := int64(schemaVersion)
	err := c.do(ctx, op{doing: "identity", sql: "SELECT max(version) FROM public.verbatim_schema", read: func(r row) error {
		version = r.num(0)
		return nil
	}})
	if err == nil && version != schemaVersion {
		err = &stores.VersionError{Is: version, Known: schemaVersion, Old: version == withChain || version == marksBeside}
	}
	return err
}

// Names implements stores.Reader.
func (r *reader) Names(ctx context.Context, q stores.NameQuery) ([]stores.Name, error) {
	var names []stores.Name
	err := r.c.do(ctx, opOf(namesText(newText(), &q), "names", func(raw row) error {
		names = append(names, raw.names(q.Entity)...)
		return nil
	}))
	return names, err
}

// names reads a name, unless its key is of another kind: then it belongs to a row from before the
// table changed.
func (r row) names(e *stores.Entity) []stores.Name {
	key, ok := stores.Parse(e.Fields[e.Key].Kind, r.str(0))
	if !ok {
		return nil
	}
	return []stores.Name{{Entity: e, Key: key, Plain: r.str(1), Suffix: r.str(2), Owner: r.str(3)}}
}

func namesText(t *text, q *stores.NameQuery) *text {
	t.Add("SELECT n.row_key, n.plain, n.suffix, n.owner FROM ")
	// A comparison with one text, and not with a list, is planned once and for all.
	owned := func(alias string) {
		switch {
		case len(q.Owners) == 1:
			t.Add(" AND ", alias, ".owner = ").Arg(q.Owners[0], "::text")
		case q.Owners != nil:
			t.Add(" AND ", alias, ".owner = ANY (").Arg(textsOf(q.Owners), "::text[]").Add(")")
		}
	}
	limit := " LIMIT " + strconv.Itoa(q.Most)
	switch {
	case q.Behind != nil:
		t.Add("public.verbatim_name n WHERE n.table_name = ").Arg(q.Entity.Table, "::text").Add(" AND (n.plain, n.owner, n.row_key) > (")
		t.Arg(q.Behind.Plain, "::text").Add(", ").Arg(q.Behind.Owner, "::text").Add(", ").Arg(q.Behind.Key.Text(), "::text")
		t.Add(") ORDER BY n.plain, n.owner, n.row_key", limit)
	case len(q.Plain) == 1:
		t.Add("public.verbatim_name n WHERE n.table_name = ").Arg(q.Entity.Table, "::text").Add(" AND n.plain = ").Arg(q.Plain[0], "::text")
		owned("n")
		t.Add(limit)
	case len(q.Plain) > 0:
		// If a million rows have a name, no more are looked at than are wanted.
		t.Add("unnest(").Arg(textsOf(q.Plain), "::text[]").Add(") p CROSS JOIN LATERAL (SELECT * FROM public.verbatim_name m WHERE m.table_name = ").Arg(q.Entity.Table, "::text")
		t.Add(" AND m.plain = p")
		owned("m")
		t.Add(limit, ") n ORDER BY n.row_key")
	case q.Suffix != "":
		t.Add("public.verbatim_name n WHERE n.table_name = ").Arg(q.Entity.Table, "::text")
		t.Add(" AND n.suffix >= ").Arg(q.Suffix, "::text").Add(" AND n.suffix < ").Arg(q.Suffix+"~", "::text")
		owned("n")
		t.Add(" ORDER BY n.row_key", limit)
	default:
		keys := make([]string, len(q.Keys))
		for i, k := range q.Keys {
			keys[i] = k.Text()
		}
		t.Add("public.verbatim_name n WHERE n.table_name = ").Arg(q.Entity.Table, "::text").Add(" AND n.row_key = ANY (").Arg(textsOf(keys), "::text[]").Add(")")
		owned("n")
		t.Add(" ORDER BY n.row_key")
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

// keepNames makes the statement that stores names of rows. It orders them, so that two writers of
// the same names wait for one another and do not deadlock.
func keepNames(names []stores.Name) *text {
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
	cells := make([]any, 5*len(names)) // column by column
	for i := range names {
		n := &names[i]
		for j, s := range [...]string{n.Entity.Table, n.Plain, n.Owner, n.Key.Text(), n.Suffix} {
			cells[j*len(names)+i] = s
		}
	}
	t := newText().Add("INSERT INTO public.verbatim_name (table_name, plain, owner, row_key, suffix) ")
	if len(names) == 1 {
		t.Add("VALUES (")
	} else {
		t.Add("SELECT * FROM unnest(")
	}
	comma := ""
	for column := range slices.Chunk(cells, len(names)) {
		t.Add(comma)
		comma = ","
		if len(names) == 1 {
			t.Arg(column[0], "::text")
		} else {
			t.Arg(arrayOf(column), "::text[]")
		}
	}
	return t.Add(") ON CONFLICT DO NOTHING")
}
