package postgres

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// A Reached is a database as PostgreSQL's own programs reach it, and what their user has to know first.
type Reached struct {
	Free     bool     // row-level security does not hold the role: it is a superuser, or has BYPASSRLS
	Super    bool     // the role is a superuser
	Has      bool     // the database has tables of a store
	Others   int      // tables in it, whoever made them
	Database string   // its name
	Environ  []string // where and as whom a program connects: arguments, which everybody on a machine sees, hold no password
}

// Reach looks at the database at a URL, as any role.
func Reach(ctx context.Context, at string) (Reached, error) {
	u, err := url.Parse(at)
	if err != nil {
		return Reached{}, fmt.Errorf("postgres: open: the URL cannot be read")
	}
	q := u.Query()
	for name := range q {
		if strings.HasPrefix(name, "pool_") { // which only a pool reads
			q.Del(name)
		}
	}
	u.RawQuery = q.Encode()
	c, err := pgx.Connect(ctx, u.String())
	if err != nil {
		return Reached{}, fault(ctx, "open", err)
	}
	defer c.Close(context.WithoutCancel(ctx))
	cfg := c.Config()
	r := Reached{Database: cfg.Database, Environ: []string{"PGHOST=" + cfg.Host, "PGPORT=" + strconv.Itoa(int(cfg.Port)), "PGUSER=" + cfg.User, "PGDATABASE=" + cfg.Database}}
	if cfg.Password != "" {
		r.Environ = append(r.Environ, "PGPASSWORD="+cfg.Password)
	}
	for of, variable := range map[string]string{"sslmode": "PGSSLMODE", "sslrootcert": "PGSSLROOTCERT", "sslcert": "PGSSLCERT", "sslkey": "PGSSLKEY"} {
		if v := q.Get(of); v != "" {
			r.Environ = append(r.Environ, variable+"="+v)
		}
	}
	err = c.QueryRow(ctx, `SELECT rolsuper OR rolbypassrls, rolsuper, to_regclass('public.verbatim_journal') IS NOT NULL,
	(SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p') AND n.nspname NOT LIKE 'pg\_%' AND n.nspname <> 'information_schema')
FROM pg_catalog.pg_roles WHERE rolname = current_user`).Scan(&r.Free, &r.Super, &r.Has, &r.Others)
	return r, fault(ctx, "open", err)
}

// Counting calls dump with a snapshot that pg_dump takes over, and then counts the rows of each table as that
// snapshot sees them, by their names as pg_dump writes them.
func Counting(ctx context.Context, at string, dump func(snapshot string) error) (map[string]int64, error) {
	c, err := pgx.Connect(ctx, at)
	if err != nil {
		return nil, fault(ctx, "open", err)
	}
	defer c.Close(context.WithoutCancel(ctx))
	tx, err := c.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, fault(ctx, "open", err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx))
	var snapshot string
	if _, err = tx.Exec(ctx, "SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL statement_timeout = 0"); err == nil {
		err = tx.QueryRow(ctx, "SELECT pg_catalog.pg_export_snapshot()").Scan(&snapshot)
	}
	if err != nil {
		return nil, fault(ctx, "open", err)
	}
	if err := dump(snapshot); err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, `SELECT pg_catalog.format('%I.%I', n.nspname, c.relname) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
	WHERE c.relkind = 'r' AND c.relpersistence = 'p' AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e') ORDER BY 1`)
	if err != nil {
		return nil, fault(ctx, "open", err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fault(ctx, "open", err)
	}
	all := map[string]int64{}
	for _, table := range tables {
		var n int64
		if err := tx.QueryRow(ctx, "SELECT count(*) FROM "+table).Scan(&n); err != nil {
			return nil, fault(ctx, "open", err)
		}
		all[table] = n
	}
	return all, nil
}

// Undo notes what the database at a URL holds, and returns a function that drops what has come since.
func Undo(ctx context.Context, at string) (func(context.Context) error, error) {
	const all = `SELECT pg_catalog.format('SCHEMA %I', nspname) FROM pg_catalog.pg_namespace WHERE nspname NOT LIKE 'pg\_%' AND nspname <> 'information_schema'
UNION SELECT pg_catalog.format('%s %s', CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'S' THEN 'SEQUENCE' WHEN 'f' THEN 'FOREIGN TABLE' ELSE 'TABLE' END, oid::pg_catalog.regclass)
	FROM pg_catalog.pg_class WHERE relnamespace = 'public'::pg_catalog.regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S', 'f')
UNION SELECT pg_catalog.format('ROUTINE %s', oid::pg_catalog.regprocedure) FROM pg_catalog.pg_proc WHERE pronamespace = 'public'::pg_catalog.regnamespace`
	look := func(ctx context.Context) (c *pgx.Conn, there []string, err error) {
		if c, err = pgx.Connect(ctx, at); err != nil {
			return nil, nil, fault(ctx, "open", err)
		}
		rows, err := c.Query(ctx, all)
		if err == nil {
			there, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		if err != nil {
			_ = c.Close(ctx)
			return nil, nil, fault(ctx, "look", err)
		}
		return c, there, nil
	}
	c, before, err := look(ctx)
	if err != nil {
		return nil, err
	}
	_ = c.Close(ctx)
	return func(ctx context.Context) error {
		c, now, err := look(ctx)
		if err != nil {
			return err
		}
		defer c.Close(context.WithoutCancel(ctx))
		statements := []string{"BEGIN"}
		for _, what := range now {
			if !slices.Contains(before, what) {
				kind, name, _ := strings.Cut(what, " ")
				if rest, ok := strings.CutPrefix(what, "MATERIALIZED VIEW "); ok {
					kind, name = "MATERIALIZED VIEW", rest
				} else if rest, ok := strings.CutPrefix(what, "FOREIGN TABLE "); ok {
					kind, name = "FOREIGN TABLE", rest
				}
				statements = append(statements, "DROP "+kind+" IF EXISTS "+name+" CASCADE")
			}
		}
		_, err = c.Exec(ctx, strings.Join(append(statements, "COMMIT"), ";\n"))
		return fault(ctx, "drop", err)
	}, nil
}
