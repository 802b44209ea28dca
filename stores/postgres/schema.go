package postgres

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgxpool"

	"verbatim/stores"
	"verbatim/stores/merkle"
	"verbatim/stores/sqlcore"
)

// schemaVersion is the version of everything that the program keeps in a database, in
// verbatim_schema: see schemaVersion in stores/sqlite, which may differ.
const schemaVersion = 5

// withChain is the version whose journal was a hash chain. Migrate upgrades it.
const withChain = 4

// marksBeside is the version in which the marks of all rows were kept beside them: see mark.go.
// Migrate upgrades it.
const marksBeside = 3

// ownTables are the store's own tables, in schemaVersion. They have the same names as in SQLite,
// and are in the schema public, so that code that reads or fills them is the same for both.
var ownTables = []string{
	`CREATE TABLE public.verbatim_schema (version bigint NOT NULL, store text NOT NULL, secret bytea NOT NULL)`,
	`INSERT INTO public.verbatim_schema (version, store, secret) VALUES (5, replace(gen_random_uuid()::text, '-', ''), sha256((gen_random_uuid()::text || gen_random_uuid()::text)::bytea))`,
	// A name is a present or former name of a row: see stores.Name.
	`CREATE TABLE public.verbatim_name (
  table_name text COLLATE pg_catalog."C" NOT NULL,
  plain text COLLATE pg_catalog."C" NOT NULL,
  owner text COLLATE pg_catalog."C" NOT NULL,
  row_key text COLLATE pg_catalog."C" NOT NULL,
  suffix text COLLATE pg_catalog."C" NOT NULL,
  PRIMARY KEY (table_name, plain, owner, row_key)
)`,
	`CREATE INDEX verbatim_name_suffix ON public.verbatim_name (table_name, suffix)`,
	`CREATE INDEX verbatim_name_row ON public.verbatim_name (table_name, row_key)`,
	// A principal is somebody who may use verbs; person, if it is not empty, names the owner of
	// the login.
	`CREATE TABLE public.verbatim_principal (
  name text COLLATE pg_catalog."C" NOT NULL PRIMARY KEY,
  label text NOT NULL DEFAULT '',
  person text NOT NULL DEFAULT ''
)`,
	// A grant gives a principal a role, or a row to hold, or both at once. The kind of a key is
	// 'integer', or '' for a UUID or a text.
	`CREATE TABLE public.verbatim_grant (
  principal text COLLATE pg_catalog."C" NOT NULL REFERENCES public.verbatim_principal (name) ON DELETE CASCADE,
  role text COLLATE pg_catalog."C" NOT NULL DEFAULT '',
  entity text COLLATE pg_catalog."C" NOT NULL DEFAULT '',
  key text COLLATE pg_catalog."C" NOT NULL DEFAULT '',
  kind text NOT NULL DEFAULT '' CHECK (kind IN ('', 'integer')),
  PRIMARY KEY (principal, role, entity, key)
)`,
	// An origin marks a value that is less trusted than its record, if the record's table is not
	// ours. It names table and column as the palettes do.
	`CREATE TABLE public.verbatim_origin (
  table_name text COLLATE pg_catalog."C" NOT NULL,
  row_key text COLLATE pg_catalog."C" NOT NULL,
  column_name text COLLATE pg_catalog."C" NOT NULL,
  origin text NOT NULL,
  PRIMARY KEY (table_name, row_key, column_name)
)`,
	`CREATE TABLE public.verbatim_journal (
  seq bigint NOT NULL PRIMARY KEY,
  "time" timestamp with time zone NOT NULL,
  principal text NOT NULL,
  roles json NOT NULL,
  session text NOT NULL,
  source text NOT NULL,
  verb text NOT NULL,
  call text NOT NULL,
  outcome text NOT NULL,
  reason text NOT NULL,
  changes text NOT NULL,
  preview text NOT NULL,
  agreed text NOT NULL,
  palette text NOT NULL,
  turn text NOT NULL,
  origins text NOT NULL,
  salt bytea,
  body bytea NOT NULL,
  chain_prev bytea, -- of an entry of the older chain, which has no salt
  chain_hash bytea
)`,
	placeTable,
	placeRow,
	appendOnly,
	fmt.Sprintf(appendOnlyRows, "journal"),
	fmt.Sprintf(appendOnlyTable, "journal", "public.verbatim_journal"),
}

// logTables are those of the sealed log. The log is a Merkle tree. Its first leaf is that of the
// older chain, and every other that of an entry: see stores.LeafData and package merkle.
var logTables = []string{
	`CREATE SEQUENCE public.verbatim_number CACHE 1`,
	`CREATE TABLE public.verbatim_waiting (number bigint NOT NULL PRIMARY KEY)`,
	`CREATE TABLE public.verbatim_leaf (place bigint NOT NULL PRIMARY KEY, number bigint NOT NULL UNIQUE, nodes bytea NOT NULL)`,
	`CREATE TABLE public.verbatim_head (size bigint NOT NULL PRIMARY KEY, hash bytea NOT NULL)`,
	fmt.Sprintf(appendOnlyRows, "leaf"),
	fmt.Sprintf(appendOnlyTable, "leaf", "public.verbatim_leaf"),
	fmt.Sprintf(appendOnlyRows, "head"),
	fmt.Sprintf(appendOnlyTable, "head", "public.verbatim_head"),
}

// The place tells a restored database from the one that was in use: see name.go.
const (
	placeTable = `CREATE TABLE public.verbatim_place (written bigint NOT NULL, timeline text NOT NULL)`
	placeRow   = `INSERT INTO public.verbatim_place SELECT pg_catalog.pg_current_xact_id()::text::bigint, ` + timeline
)

// These triggers stop accidental changes of the journal and the log, which shows the changes that
// they cannot stop.
const (
	appendOnly = `CREATE FUNCTION public.verbatim_append_only() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS
$$BEGIN RAISE EXCEPTION 'the journal is append-only'; END$$`
	appendOnlyRows  = "CREATE TRIGGER verbatim_%[1]s_rows BEFORE UPDATE OR DELETE ON public.verbatim_%[1]s FOR EACH ROW EXECUTE FUNCTION public.verbatim_append_only()"
	appendOnlyTable = "CREATE TRIGGER verbatim_%s_table BEFORE TRUNCATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION public.verbatim_append_only()"
)

// ownRights are the rights that the application needs on these tables: it can change neither the
// journal, the log nor the version.
var ownRights = []struct{ table, rights string }{
	{"verbatim_schema", "SELECT"},
	{"verbatim_principal", "SELECT, INSERT, UPDATE"},
	{"verbatim_grant", "SELECT, INSERT, DELETE"},
	{"verbatim_origin", "SELECT, INSERT, UPDATE, DELETE"},
	{"verbatim_journal", "SELECT, INSERT"},
	{"verbatim_number", "SELECT, UPDATE"},
	{"verbatim_waiting", "SELECT, INSERT, DELETE"},
	{"verbatim_leaf", "SELECT, INSERT"},
	{"verbatim_head", "SELECT, INSERT"},
	{"verbatim_name", "SELECT, INSERT"},
	{"verbatim_place", "SELECT, UPDATE"},
}

// migrateLock is held while a database is migrated, so that of two processes that start together
// only one migrates.
const migrateLock = "-2102251852386772863"

// migrator is the pool of the role that owns our tables.
func (s *Store) migrator() *pgxpool.Pool {
	if s.owner != nil {
		return s.owner
	}
	return s.pool
}

// Migrate implements stores.Store. It works as the role of MigrateAs, if there is one. It grants
// what it makes to the application's role; the owners of other tables grant the rights that this
// role needs on them.
func (s *Store) Migrate(ctx context.Context, entities []*stores.Entity, apply bool, tell ...func(*stores.Plan) ([]stores.Entry, error)) (stores.Plan, error) {
	defer s.forget()
	plan, err := s.migrate(ctx, entities, migration{writes: apply}, func(m *migration) error {
		if !apply || len(m.Problems) > 0 {
			return sqlcore.ErrPlanned
		}
		t := &tx{reader: reader{s: s, c: m.c, view: view{scoped: m.c.scoped}, writes: true}, migrates: true}
		m.c.judge = func(ctx context.Context, err error) error { return t.told(ctx, err) }
		if err := m.Carry(ctx, t, tell, func(step string) error { return m.c.plain(ctx, "migrate", step) }); err != nil {
			return err
		}
		for _, e := range m.Reindex {
			if err := m.c.anew(ctx, e); err != nil {
				return err
			}
		}
		return t.finish()
	})
	if err == nil && apply && len(plan.Problems) == 0 {
		s.sealSoon() // a migration has entries
	}
	return plan, err
}

// forget discards the shapes of tables, so that the store reads them anew.
func (s *Store) forget() {
	s.mu.Lock()
	clear(s.shapes)
	s.learned.Store(nil)
	s.epoch++
	clear(s.sound)
	s.mu.Unlock()
}

// Rehearse implements stores.Store.
func (s *Store) Rehearse(ctx context.Context, entities []*stores.Entity, queries []stores.SQL) (stores.Plan, []error, error) {
	defer s.forget()
	var wrong []error
	plan, err := s.migrate(ctx, entities, migration{rehearses: true}, func(m *migration) error {
		wrong = nil
		m.undeclared()
		switch {
		case len(m.Shapes) > 0 && len(m.Problems) > 0:
			return sqlcore.ErrPlanned
		case len(m.Shapes) > 0 && m.itself:
			m.notOwner()
			return sqlcore.ErrPlanned
		case len(m.Shapes) > 0 && !m.writes:
			return sqlcore.ErrWrites
		}
		if !m.itself && len(m.Problems) == 0 {
			if err := m.costs(); err != nil {
				return err
			}
		}
		s.forget()
		r := &reader{s: s, c: m.c, view: view{scoped: m.c.scoped}}
		var err error
		wrong, err = m.Try(entities, queries, func(step string) error {
			defer s.forget()
			return m.c.plain(ctx, "migrate", step)
		}, func(e *stores.Entity) error {
			defer func() { m.c.broken = nil }()
			return m.c.aside(ctx, "", func() error {
				_, err := r.Find(ctx, stores.Find{Entity: e, Where: &stores.Cond{Op: stores.False}})
				return err
			})
		}, func(q stores.SQL) error {
			defer func() { m.c.broken = nil }()
			return m.c.checkSQL(ctx, stores.Spoken(entities), q)
		})
		return err
	})
	return plan, wrong, err
}

// errNotOwner says that the role may not change tables.
var errNotOwner = errors.New("not the owner")

// migrate makes a plan, and passes it to fn in the same transaction. Renaming is done before the
// rest is planned. So a plan that renames is made in a transaction that writes, and sqlcore.ErrPlanned
// from fn rolls that back.
func (s *Store) migrate(ctx context.Context, entities []*stores.Entity, how migration, fn func(*migration) error) (stores.Plan, error) {
	var plan stores.Plan
	run := func(c *conn) error {
		m := &migration{c: c, ctx: ctx, role: s.grantTo, cuts: s.cutJournal, writes: how.writes, rehearses: how.rehearses}
		m.Schema = sqlcore.Schema{Dialect: dialect, On: m, Entities: entities}
		if m.writes {
			if err := c.do(ctx, op{doing: "migrate", sql: "SELECT pg_catalog.pg_advisory_xact_lock(" + migrateLock + ")"}); err != nil {
				return err
			}
		}
		err := m.plan()
		if err == nil {
			err = fn(m)
		}
		plan = m.Plan
		return err
	}
	// Row-level security applies to owners too, and a plan has to see every row.
	all := stores.Scope{All: true}
	return sqlcore.Planned(how.writes, func(writes bool) error {
		if how.writes = writes; writes {
			return s.write(ctx, s.migrator(), all, run)
		}
		return s.read(ctx, s.migrator(), all, run)
	}, func() stores.Plan { return plan })
}

// A migration compares the existing database with the declared entities.
type migration struct {
	sqlcore.Schema
	c      *conn
	ctx    context.Context
	role   string // of the application; "" if nothing is to be granted
	cuts   bool   // the journal continues in another part
	writes bool   // the transaction writes
	// rehearses says that nothing is kept; itself, that the application's own role plans, which
	// cannot grant itself anything.
	rehearses, itself bool
	tables            map[*stores.Entity]*tableInfo
	schemas           map[string]bool                   // schemas that exist or are planned
	begun             map[*stores.Entity]*sqlcore.Table // planned tables that do not exist yet
	indexes           map[string]map[string]bool        // names of existing or planned relations, by schema
	grants            []string                          // schemas that the role may use, or will be allowed to
	added             []addedField                      // fields added to existing tables
}

// An addedField is a field whose column its table still lacks.
type addedField struct {
	entity *stores.Entity
	field  int
}

func (m *migration) plan() error {
	m.tables, m.begun = map[*stores.Entity]*tableInfo{}, map[*stores.Entity]*sqlcore.Table{}
	if err := m.known(); err != nil {
		return err
	}
	if m.rehearses && m.indexes["public"]["verbatim_schema"] { // a server rehearses for its own role
		err := m.ask("SELECT current_user::text FROM pg_catalog.pg_class WHERE oid = 'public.verbatim_schema'::pg_catalog.regclass AND NOT pg_catalog.pg_has_role(relowner, 'USAGE') AND $1::text IN ('', current_user::text)", []any{m.role}, func(r row) error {
			m.role, m.itself = r.str(0), true
			return nil
		})
		if err != nil {
			return err
		}
	}
	if m.indexes["public"]["verbatim_schema"] {
		if err := m.hold(); err != nil {
			return err
		}
		if err := m.Move(); errors.Is(err, errNotOwner) {
			m.notOwner()
			return nil
		} else if err != nil {
			return err
		}
	}
	if err := m.own(); err != nil {
		return err
	}
	if m.cuts && len(m.Problems) == 0 {
		if err := m.cut(); err != nil {
			return err
		}
	}
	if err := m.jobs(); err != nil {
		return err
	}
	m.names()
	var err error
	all := slices.Clone(m.Entities)
	for _, e := range m.Entities { // the targets of references, declared here or not
		for i := range e.Fields {
			if ref := e.Fields[i].Ref; ref != nil && !slices.Contains(all, ref) {
				all = append(all, ref)
			}
		}
	}
	for _, e := range all {
		t, err := m.look(e)
		if err != nil {
			return err
		}
		if t != nil {
			m.tables[e] = t
		}
	}
	var fresh []*stores.Entity
	for _, e := range m.Entities {
		var there *sqlcore.Table
		if t := m.tables[e]; t != nil {
			there = t.Table
		} else if e.Managed {
			fresh = append(fresh, e)
		}
		if there != nil && !e.Managed {
			err = m.rights(e)
		}
		if err == nil {
			err = m.Entity(e, there)
		}
		if err != nil {
			return err
		}
	}
	// References and policies name other tables, which exist by now.
	for _, a := range m.added {
		m.reference(a.entity, a.field)
	}
	for _, e := range fresh {
		for i := range e.Fields {
			m.reference(e, i)
		}
	}
	if err := m.roots(); err != nil {
		return err
	}
	m.marks()
	if err := m.searched(); err != nil {
		return err
	}
	for _, e := range m.Entities {
		if e.Managed {
			if err := m.secure(e); err != nil {
				return err
			}
		}
	}
	if err := m.askers(); err != nil {
		return err
	}
	if len(m.Lacks) > 0 && !(m.itself && len(m.Shapes) > 0) { // a right to what is not there yet cannot be granted
		m.Problems = append(m.Problems, fmt.Sprintf("role %s lacks rights that verbs of these palettes need: whoever owns the tables runs %s", m.role, strings.Join(m.Lacks, "; ")))
	}
	return nil
}

// heldTries is how often the tables of an earlier version are tried to be held.
const heldTries = 50

// hold takes the tables of an earlier version from programs of then that still run, before anything else is locked:
// they lock rows first and the journal last, and the migration would meet them half-way. Each try is shorter than
// what PostgreSQL takes for a deadlock.
func (m *migration) hold() error {
	if !m.writes {
		return nil
	}
	earlier, err := m.exists("SELECT FROM public.verbatim_schema HAVING max(version) < " + strconv.Itoa(schemaVersion))
	if err != nil || !earlier {
		return err
	}
	all := []string{"public.verbatim_journal"}
	for _, e := range m.Entities {
		schema, name := schemaAndName(e.Table)
		if e.Managed && m.indexes[schema][name] {
			all = append(all, table(e))
		}
	}
	for range heldTries {
		err = m.c.plain(m.ctx, "migrate", "SAVEPOINT verbatim_hold; SET LOCAL lock_timeout = 200; LOCK TABLE "+strings.Join(all, ", ")+"; SET LOCAL lock_timeout = "+milliseconds(m.c.s.busy))
		if !errors.Is(err, stores.ErrConflict) {
			return err
		}
		if err := m.c.plain(m.ctx, "migrate", "ROLLBACK TO SAVEPOINT verbatim_hold"); err != nil {
			return err
		}
	}
	return err
}

// known reads which schemas exist, and which relations they hold.
func (m *migration) known() error {
	m.schemas, m.indexes = map[string]bool{}, map[string]map[string]bool{}
	return m.ask("SELECT n.nspname::text, COALESCE(c.relname::text, '') FROM pg_catalog.pg_namespace n LEFT JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid WHERE n.nspname <> 'pg_catalog'",
		nil, func(r row) error {
			m.schemas[r.str(0)] = true
			if m.indexes[r.str(0)] == nil {
				m.indexes[r.str(0)] = map[string]bool{}
			}
			m.indexes[r.str(0)][r.str(1)] = true
			return nil
		})
}

// Read implements sqlcore.Catalogue.
func (m *migration) Read(e *stores.Entity) (*sqlcore.Table, error) {
	t, err := m.look(e)
	if err != nil || t == nil {
		return nil, err
	}
	return t.Table, nil
}

// Run implements sqlcore.Catalogue.
func (m *migration) Run(step string) error {
	switch {
	case m.itself:
		return errNotOwner
	case !m.writes:
		return sqlcore.ErrWrites
	}
	return m.c.plain(m.ctx, "migrate", step)
}

// Was implements sqlcore.Catalogue.
func (m *migration) Was(e *stores.Entity) (called, table string, there, now bool) {
	oldSchema, was := schemaAndName(e.WasTable)
	schema, name := schemaAndName(e.Table)
	return e.WasTable, quote(oldSchema) + "." + quote(was), e.WasTable != "" && m.indexes[oldSchema][was], m.indexes[schema][name]
}

// Rename implements sqlcore.Catalogue.
func (m *migration) Rename(e *stores.Entity) (err error) {
	schema, name := schemaAndName(e.Table)
	oldSchema, was := schemaAndName(e.WasTable)
	if schema != oldSchema {
		if !m.schemas[schema] {
			err = m.Do("CREATE SCHEMA %s", quote(schema))
		}
		if err == nil {
			err = m.Do("ALTER TABLE %s.%s SET SCHEMA %s", quote(oldSchema), quote(was), quote(schema))
		}
	}
	if err == nil && name != was {
		err = m.Do("ALTER TABLE %s.%s RENAME TO %s", quote(schema), quote(was), quote(name))
	}
	for _, of := range [...]string{"origin", "name"} {
		if err == nil {
			err = m.Do("UPDATE public.verbatim_%s SET table_name = %s WHERE table_name = %s", of, literalText(e.Table), literalText(e.WasTable))
		}
	}
	if err == nil {
		err = m.known()
	}
	return err
}

// Recolumn implements sqlcore.Catalogue.
func (m *migration) Recolumn(e *stores.Entity, t *sqlcore.Table, f *stores.Field) error {
	err := m.Do("UPDATE public.verbatim_origin SET column_name = %s WHERE table_name = %s AND column_name = %s", literalText(f.Column), literalText(e.Table), literalText(f.WasColumn))
	if err == nil && t.There(markColumn) {
		err = m.Do("UPDATE %[1]s SET %[2]s = (%[2]s - %[3]s) || jsonb_build_object(%[4]s, %[2]s -> %[3]s) WHERE %[2]s ? %[3]s", table(e), markColumn, literalText(f.WasColumn), literalText(f.Column))
	}
	return err
}

// Count implements sqlcore.Catalogue.
func (m *migration) Count(sql string) (n int64, err error) {
	err = m.ask(sql, nil, func(r row) error {
		n = r.num(0)
		return nil
	})
	return n, err
}

// notOwner reports that another role first has to change tables.
func (m *migration) notOwner() {
	problem := fmt.Sprintf("tables have to be changed first, which role %s may not: migrate as the role that owns them", m.role)
	if stays, _ := m.Plan.Back(); len(stays) > 0 {
		problem += "; missing: " + strings.Join(stays, ", ")
	}
	m.Problems = append(m.Problems, problem)
}

// Own implements sqlcore.Catalogue.
func (m *migration) Own(column string) bool { return column == rootColumn || column == markColumn }

// undeclared lists the columns that have no field.
func (m *migration) undeclared() {
	for _, e := range m.Entities {
		if t := m.tables[e]; t != nil {
			m.Undeclare(e, t.Table)
		}
	}
}

func (m *migration) ask(sql string, args []any, read func(row) error) error {
	return m.c.do(m.ctx, op{doing: "migrate", sql: sql, args: args, read: read})
}

// exists reports whether a statement returns a row.
func (m *migration) exists(sql string, args ...any) (bool, error) {
	found := false
	err := m.ask(sql, args, func(row) error {
		found = true
		return nil
	})
	return found, err
}

// Exists implements sqlcore.Catalogue.
func (m *migration) Exists(sql string) (bool, error) { return m.exists(sql) }

// own plans the store's own tables.
func (m *migration) own() error {
	there := m.indexes["public"]
	if !there["verbatim_schema"] {
		for name := range there {
			if strings.HasPrefix(name, "verbatim_") {
				m.Problems = append(m.Problems, "the schema public has "+name+", which is not ours: names that begin with verbatim_ are taken")
			}
		}
		slices.Sort(m.Problems)
		m.Steps = append(append(m.Steps, ownTables...), logTables...)
	} else {
		version := int64(0)
		err := m.ask("SELECT COALESCE(max(version), 0) FROM public.verbatim_schema", nil, func(r row) error {
			version = r.num(0)
			return nil
		})
		if err != nil {
			return err
		}
		if version == marksBeside || version == withChain {
			if err := m.seal(); err != nil || len(m.Problems) > 0 {
				return err
			}
			m.Step("UPDATE public.verbatim_schema SET version = %d", schemaVersion)
		} else if version != schemaVersion {
			m.Problems = append(m.Problems, fmt.Sprintf("the database cannot be used: %v", &stores.VersionError{Is: version, Known: schemaVersion}))
			return nil
		}
		if err := m.restore(); err != nil {
			return err
		}
	}
	for _, g := range ownRights {
		if err := m.grant("public", g.table, g.rights); err != nil {
			return err
		}
	}
	return m.takes()
}

// sealedTables are the tables to which rows are only added.
const sealedTables = "pg_catalog.to_regclass('public.verbatim_journal'), pg_catalog.to_regclass('public.verbatim_leaf'), pg_catalog.to_regclass('public.verbatim_head')"

// ofOurs is the condition that c is one of our tables: the store's own, or one with our policies.
const ofOurs = `(c.relkind IN ('r', 'p') AND (c.relnamespace = 'public'::pg_catalog.regnamespace AND c.relname ^@ 'verbatim_'
	OR EXISTS (SELECT FROM pg_catalog.pg_policy p WHERE p.polrelid = c.oid AND p.polname ^@ 'verbatim_')))`

// takes plans to take rights away that our roles must not have, which a restore may have brought, or somebody
// gave: to change what is only added to, and to write as the role that queries run as.
func (m *migration) takes() error {
	if m.role == "" {
		return nil
	}
	return m.ask(`SELECT pg_catalog.format('%I.%I', n.nspname, c.relname), COALESCE(r.rolname::text, ''), pg_catalog.string_agg(x.privilege_type, ', ' ORDER BY x.privilege_type)
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace CROSS JOIN pg_catalog.aclexplode(c.relacl) x LEFT JOIN pg_catalog.pg_roles r ON r.oid = x.grantee
WHERE x.privilege_type IN ('UPDATE', 'DELETE', 'TRUNCATE') AND c.oid IN (`+sealedTables+`) AND (x.grantee = 0 OR r.rolname IN ($1::text, $1::text || $2::text))
	OR x.privilege_type IN ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE') AND (x.grantee = 0 OR r.rolname = $1::text || $2::text) AND `+ofOurs+`
GROUP BY 1, 2 ORDER BY 1, 2`, []any{m.role, queriesAs}, func(r row) error {
		whose := "PUBLIC"
		if r.str(1) != "" {
			whose = quote(r.str(1))
		}
		m.Step("REVOKE %s ON %s FROM %s", r.str(2), r.str(0), whose)
		return nil
	})
}

// restore plans indexes of our tables, and triggers of the journal, that somebody dropped, and the
// table that earlier builds did not make.
func (m *migration) restore() error {
	if !m.indexes["public"]["verbatim_place"] {
		m.Steps = append(m.Steps, placeTable, placeRow)
	}
	for _, s := range ownTables {
		name, index := strings.CutPrefix(s, "CREATE INDEX ")
		if name, _, _ = strings.Cut(name, " "); index && !m.indexes["public"][name] {
			m.Steps = append(m.Steps, s)
		}
	}
	there, err := m.exists("SELECT FROM pg_catalog.pg_proc WHERE proname = 'verbatim_append_only' AND pronamespace = 'public'::pg_catalog.regnamespace")
	if err != nil {
		return err
	}
	if !there {
		m.Steps = append(m.Steps, appendOnly)
	}
	if m.indexes["public"]["verbatim_head"] {
		behind, err := m.exists("SELECT FROM public.verbatim_number n WHERE n.last_value < (SELECT max(seq) FROM public.verbatim_journal)")
		if err != nil {
			return err
		}
		if behind { // somebody filled the table by other means
			m.Step("SELECT pg_catalog.setval('public.verbatim_number', (SELECT max(seq) FROM public.verbatim_journal))")
		}
	}
	// A row trigger is copied from the whole journal to its parts, and a statement trigger is not.
	return m.ask(`SELECT c.relname::text, k.name, g.name = 'rows', t.oid IS NOT NULL FROM (VALUES ('journal'), ('leaf'), ('head')) k (name)
JOIN pg_catalog.pg_class c ON c.oid = pg_catalog.to_regclass('public.verbatim_' || k.name)
	OR k.name = 'journal' AND c.oid IN (SELECT inhrelid FROM pg_catalog.pg_inherits WHERE inhparent = 'public.verbatim_journal'::pg_catalog.regclass)
CROSS JOIN (VALUES ('rows'), ('table')) g (name)
LEFT JOIN pg_catalog.pg_trigger t ON t.tgrelid = c.oid AND t.tgname = 'verbatim_' || k.name || '_' || g.name
WHERE t.tgenabled IN ('D', 'R') OR t.oid IS NULL AND (c.relname = 'verbatim_' || k.name OR g.name = 'table') ORDER BY 1, 2, 3 DESC`, nil, func(r row) error {
		table, of := "public."+quote(r.str(0)), r.str(1)
		switch {
		case r.yes(3) && r.yes(2):
			m.Step("ALTER TABLE %s ENABLE TRIGGER verbatim_%s_rows", table, of)
		case r.yes(3):
			m.Step("ALTER TABLE %s ENABLE TRIGGER verbatim_%s_table", table, of)
		case r.yes(2):
			m.Step(appendOnlyRows, of)
		default:
			m.Step(appendOnlyTable, of, table)
		}
		return nil
	})
}

// seal plans the upgrade of a journal that is a chain: its last entry becomes the first leaf of a
// log. A program of the older version finds none of the columns that it would write, and so adds
// nothing more.
func (m *migration) seal() error {
	if m.writes {
		if err := m.ask("SELECT pg_catalog.pg_advisory_xact_lock("+chainLock+")", nil, nil); err != nil {
			return err
		}
	}
	var at int64
	var hash [32]byte
	columns := strings.NewReplacer("j.salt", "NULL::bytea", "j.chain_", "j.").Replace(entryColumns)
	columns = columns[:strings.Index(columns, ", l.place")]
	var parts []journalPart
	if err := m.c.do(m.ctx, partsOp(&parts)); err != nil {
		return err
	}
	for more := true; more; {
		more = false
		err := m.ask("SELECT "+columns+" FROM public.verbatim_journal j WHERE j.seq > $1::bigint ORDER BY j.seq LIMIT 1000", []any{strconv.FormatInt(at, 10)}, func(r row) error {
			more = true
			e, err := readEntry(r)
			if err == nil && e.Seq > at+1 && len(parts) > 0 && !attached(parts, at+1, e.Seq-1) {
				at, hash = e.Seq-1, e.Prev // behind a part that is detached
			}
			if err == nil {
				at, hash, err = stores.VerifyChain(at, hash, []stores.Entry{e})
			}
			return err
		})
		var broken *stores.ChainError
		if errors.As(err, &broken) {
			m.Problems = append(m.Problems, "the journal cannot be sealed: "+broken.Error())
			return nil
		}
		if err != nil {
			return err
		}
	}
	// Entries that nobody sees now would not be under the first leaf, and their numbers drawn again.
	if n := len(parts); n > 0 && (parts[n-1].last != 0 || at < parts[n-1].first-1) {
		m.Problems = append(m.Problems, fmt.Sprintf("the journal cannot be sealed: its last entries, behind entry %d, are in a part that is not attached: attach it until the journal is sealed", at))
		return nil
	}
	const journal = "public.verbatim_journal"
	err := m.ask(`SELECT pg_catalog.format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::pg_catalog.regclass, conname) FROM pg_catalog.pg_constraint WHERE contype = 'u'
AND (conrelid = 'public.verbatim_journal'::pg_catalog.regclass OR conrelid IN (SELECT inhrelid FROM pg_catalog.pg_inherits WHERE inhparent = 'public.verbatim_journal'::pg_catalog.regclass)) ORDER BY 1`, nil, func(r row) error {
		m.Steps = append(m.Steps, r.str(0))
		return nil
	})
	if err != nil {
		return err
	}
	for _, column := range [...]string{"prev", "hash"} {
		m.Step("ALTER TABLE %s RENAME COLUMN %s TO chain_%[2]s", journal, column)
		m.Step("ALTER TABLE %s ALTER COLUMN chain_%s DROP NOT NULL", journal, column)
	}
	m.Step("ALTER TABLE %s ADD COLUMN salt bytea", journal)
	// A part that is detached can be attached again.
	err = m.ask(`SELECT pg_catalog.format('public.%I', c.relname) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attname = 'prev'
WHERE c.relnamespace = 'public'::pg_catalog.regnamespace AND c.relkind = 'r' AND c.relname ~ '^verbatim_journal_[0-9]+$' AND NOT c.relispartition AND pg_catalog.pg_has_role(c.relowner, 'USAGE') ORDER BY 1`, nil, func(r row) error {
		m.Step("ALTER TABLE %s RENAME COLUMN prev TO chain_prev", r.str(0))
		m.Step("ALTER TABLE %s RENAME COLUMN hash TO chain_hash", r.str(0))
		m.Step("ALTER TABLE %s ALTER COLUMN chain_prev DROP NOT NULL, ALTER COLUMN chain_hash DROP NOT NULL, ADD COLUMN salt bytea", r.str(0))
		return nil
	})
	if err != nil {
		return err
	}
	m.Steps = append(m.Steps, logTables...)
	if at > 0 {
		tree := merkle.New()
		leaf := sqlcore.Place(tree, sqlcore.Chain{Seq: at, Hash: hash}, nil)[0]
		m.Step(`INSERT INTO public.verbatim_leaf (place, number, nodes) VALUES (0, %d, '\x%x')`, at, leaf.Row)
		m.Step(`INSERT INTO public.verbatim_head (size, hash) VALUES (1, '\x%x')`, tree.Root())
		m.Step("SELECT pg_catalog.setval('public.verbatim_number', %d)", at)
	}
	return nil
}

// grant plans rights on a table of ours that the application lacks.
func (m *migration) grant(schema, name, rights string) error {
	if m.role == "" {
		return nil
	}
	role := quote(m.role)
	if !slices.Contains(m.grants, schema) {
		m.grants = append(m.grants, schema)
		may, err := m.exists("SELECT 1 FROM pg_catalog.pg_namespace n WHERE n.nspname = $1::text AND pg_catalog.has_schema_privilege($2::text, n.oid, 'USAGE')", schema, m.role)
		if err != nil {
			return err
		}
		if !may {
			m.give(fmt.Sprintf("GRANT USAGE ON SCHEMA %s TO %s", quote(schema), role), !m.itself)
		}
	}
	has := 0
	wants := strings.Split(rights, ", ")
	for _, right := range wants {
		may, err := m.exists("SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1::text AND c.relname = $2::text AND pg_catalog.has_table_privilege($3::text, c.oid, $4::text)",
			schema, name, m.role, right)
		if err != nil {
			return err
		}
		if may {
			has++
		}
	}
	if has < len(wants) {
		m.give(fmt.Sprintf("GRANT %s ON %s.%s TO %s", rights, quote(schema), quote(name), role), !m.itself)
	}
	return nil
}

// names reports reserved names of tables, and tables that two entities share.
func (m *migration) names() {
	tables := map[string]*stores.Entity{}
	for _, e := range m.Entities {
		schema, name := schemaAndName(e.Table)
		if strings.HasPrefix(strings.ToLower(name), "verbatim_") || strings.HasPrefix(schema, "pg_") || schema == "information_schema" {
			m.Problem(e, "a table cannot be called %s here: such names are taken", e.Table)
		}
		if other := tables[schema+"."+name]; other != nil {
			m.Problem(e, "its table %s is also that of entity %s (%s)", e.Table, other.Name, other.Place)
		}
		tables[schema+"."+name] = e
		m.SharedColumns(e)
	}
}

// A tableInfo describes an existing table.
type tableInfo struct {
	*sqlcore.Table
	declared   map[string]declaration
	secured    bool // row-level security is enabled and forced
	policies   []string
	roots      []string // our foreign keys that keep an owner column correct
	given      []string // our constraints that say how many fields have values
	referrable bool     // the migrating role may refer to it
	readable   bool     // the migrating role may also read it
}

// look reads the description of an entity's table.
func (m *migration) look(e *stores.Entity) (*tableInfo, error) {
	schema, name := schemaAndName(e.Table)
	const of = " FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
	const is = " WHERE n.nspname = $1::text AND c.relname = $2::text "
	args := []any{schema, name}
	var t *tableInfo
	err := m.ask("SELECT c.relkind IN ('v', 'm'), c.relrowsecurity AND c.relforcerowsecurity, pg_catalog.has_table_privilege(c.oid, 'REFERENCES'), pg_catalog.has_table_privilege(c.oid, 'SELECT')"+of+is+"AND c.relkind IN ('r', 'p', 'v', 'm', 'f')", args, func(r row) error {
		t = &tableInfo{Table: &sqlcore.Table{View: r.yes(0), Columns: map[string]sqlcore.Column{}}, declared: map[string]declaration{}, secured: r.yes(1), referrable: r.yes(2), readable: r.yes(3)}
		return nil
	})
	if err != nil || t == nil {
		return nil, err
	}
	err = m.ask(theColumns, args, func(r row) error {
		d := readDeclaration(r)
		t.declared[d.name], t.Columns[d.name] = d, d.Column
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = m.ask("SELECT pg_catalog.pg_get_expr(k.conbin, k.conrelid)"+of+"JOIN pg_catalog.pg_constraint k ON k.conrelid = c.oid"+is+"AND k.contype = 'c'", args, func(r row) error {
		column, values, ok := stores.CheckedValues(r.str(0))
		if c, there := t.Columns[column]; ok && there && c.Takes == nil {
			c.Takes = values
			t.Columns[column] = c
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = m.ask(`SELECT i.indisunique AND i.indimmediate, i.indisprimary,
	pg_catalog.array_to_string(ARRAY(SELECT COALESCE(a.attname::text, '') FROM pg_catalog.unnest(i.indkey::int2[]) WITH ORDINALITY k(num, pos)
		LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.num AND k.num > 0 WHERE k.pos <= i.indnkeyatts ORDER BY k.pos), E'\x01')`+
		of+"JOIN pg_catalog.pg_index i ON i.indrelid = c.oid"+is+"AND i.indpred IS NULL AND i.indisvalid ORDER BY i.indexrelid", args, func(r row) error {
		x := sqlcore.Index{Columns: strings.Split(r.str(2), "\x01"), Unique: r.yes(0)}
		if r.yes(1) {
			t.Key = x.Columns
		}
		t.Indexes = append(t.Indexes, x)
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = m.ask("SELECT p.polname::text"+of+"JOIN pg_catalog.pg_policy p ON p.polrelid = c.oid"+is+"ORDER BY 1", args, func(r row) error {
		t.policies = append(t.policies, r.str(0))
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = m.ask("SELECT k.conname::text, k.contype = 'f'"+of+"JOIN pg_catalog.pg_constraint k ON k.conrelid = c.oid"+is+"AND (k.contype = 'f' AND k.conname ^@ 'verbatim_root_' OR k.contype = 'c' AND k.conname ^@ 'verbatim_given_') ORDER BY 1", args, func(r row) error {
		if r.yes(1) {
			t.roots = append(t.roots, r.str(0))
		} else {
			t.given = append(t.given, r.str(0))
		}
		return nil
	})
	return t, err
}

// Declared implements sqlcore.Catalogue.
func (m *migration) Declared(kind stores.Kind) string {
	switch kind {
	case stores.String:
		return "text"
	case stores.Time:
		return "timestamp with time zone"
	}
	return declaredAs(kind)
}

// Define implements sqlcore.Catalogue.
func (m *migration) Define(e *stores.Entity, field int) string {
	return m.Column(e, field, declaredAs(e.Fields[field].Keeps()), func(v stores.Value) string { return literalText(encode(v).(string)) })
}

// Called, Altered and Added implement sqlcore.Catalogue.
func (m *migration) Called(e *stores.Entity) string  { return e.Table }
func (m *migration) Altered(e *stores.Entity) string { return table(e) }
func (m *migration) Added(e *stores.Entity, field int) {
	m.added = append(m.added, addedField{e, field})
}

// literalText writes a constant. A backslash in it means itself, whatever the settings.
func literalText(s string) string {
	s = strings.ReplaceAll(s, "'", "''")
	if strings.Contains(s, `\`) {
		return `E'` + strings.ReplaceAll(s, `\`, `\\`) + `'`
	}
	return "'" + s + "'"
}

// Create implements sqlcore.Catalogue.
func (m *migration) Create(e *stores.Entity, t *sqlcore.Table) string {
	schema, name := schemaAndName(e.Table)
	if !m.schemas[schema] {
		m.Shape("CREATE SCHEMA %s", quote(schema))
		m.schemas[schema], m.indexes[schema] = true, map[string]bool{}
	}
	m.indexes[schema][name], m.begun[e] = true, t
	return ""
}

// reference plans the foreign key of a reference field, if the table referred to allows one.
func (m *migration) reference(e *stores.Entity, field int) {
	ref := e.Fields[field].Ref
	if ref == nil || rooted(e) && field == e.Scope[0].Field {
		return // or one of two columns will be
	}
	key := m.Columns(ref, ref.Key)
	if t := m.tables[ref]; t != nil {
		d := t.declared[key[0]]
		f, err := d.form(ref.Fields[ref.Key].Kind, ref.Managed)
		if t.View || !t.referrable || err != nil || f.reads != "" || f.typ != f.arg || !t.Has(key, true) {
			return
		}
	} else if !ref.Managed {
		return
	}
	m.Step("ALTER TABLE %s ADD FOREIGN KEY (%s) REFERENCES %s (%s)", table(e), quote(e.Fields[field].Column), table(ref), quote(key[0]))
}

// secure plans row-level security and the application's rights.
func (m *migration) secure(e *stores.Entity) error {
	t := m.tables[e]
	if t == nil {
		t = &tableInfo{Table: &sqlcore.Table{}}
	}
	if t.View {
		return nil // reported as a problem already
	}
	if !t.secured {
		m.Step("ALTER TABLE %s ENABLE ROW LEVEL SECURITY", table(e))
		m.Step("ALTER TABLE %s FORCE ROW LEVEL SECURITY", table(e))
	}
	var keep []string
	for _, p := range m.policies(e) {
		keep = append(keep, p.name)
		if !slices.Contains(t.policies, p.name) {
			m.Step("%s", p.statement(e))
		}
	}
	for _, name := range t.policies {
		if strings.HasPrefix(name, "verbatim_") && !slices.Contains(keep, name) {
			m.Step("DROP POLICY %s ON %s", quote(name), table(e))
		}
	}
	schema, name := schemaAndName(e.Table)
	return m.grant(schema, name, "SELECT, INSERT, UPDATE, DELETE")
}

// NameIndex implements sqlcore.Catalogue. PostgreSQL would cut a longer name, which could make
// two names equal.
func (m *migration) NameIndex(e *stores.Entity, columns []string, suffix string) string {
	schema, name := schemaAndName(e.Table)
	if name += "_" + strings.Join(columns, "_"); len(name) > 50 {
		name = fmt.Sprintf("%.40s_%.8x", name, sha256.Sum256([]byte(name)))
		name = strings.ToValidUTF8(name, "")
	}
	for name += suffix; m.indexes[schema][name]; name += "_" {
	}
	m.indexes[schema][name] = true
	return name
}

// Helps implements sqlcore.Catalogue.
func (m *migration) Helps(e *stores.Entity, field int) string {
	return fmt.Sprintf("CREATE INDEX ON %s (%s)", table(e), quote(e.Fields[field].Column))
}

// Given implements sqlcore.Catalogue with constraints.
func (m *migration) Given(e *stores.Entity, t *sqlcore.Table) error {
	var kept, given []string
	if there := m.tables[e]; there != nil {
		given = there.given
	}
	for i := range e.Given {
		g := &e.Given[i]
		columns, before := m.Columns(e, g.Fields...), make([]string, len(g.Fields))
		for j, c := range columns {
			columns[j], before[j] = quote(c), "NULL"
			if t.There(c) {
				before[j] = columns[j]
			}
		}
		holds := g.SQL("num_nonnulls(" + strings.Join(columns, ", ") + ")")
		name := fmt.Sprintf("verbatim_given_%.8x", sha256.Sum256([]byte(holds)))
		if kept = append(kept, name); slices.Contains(given, name) {
			continue
		}
		if len(t.Columns) > 0 {
			found, err := m.exists("SELECT 1 FROM " + table(e) + " WHERE NOT " + g.SQL("num_nonnulls("+strings.Join(before, ", ")+")") + " LIMIT 1")
			if err != nil {
				return err
			}
			if found {
				m.Problem(e, "table %s has rows that its constraint over %s does not allow", e.Table, strings.Join(columns, ", "))
				continue
			}
		}
		m.Step("ALTER TABLE %s ADD CONSTRAINT %s CHECK (%s)", table(e), quote(name), holds)
	}
	for _, name := range given {
		if !slices.Contains(kept, name) {
			m.Step("ALTER TABLE %s DROP CONSTRAINT %s", table(e), quote(name))
		}
	}
	return nil
}

// Drawn implements sqlcore.Catalogue: it reports drawn fields for which the database generates no
// value, and fields that only the database sets.
func (m *migration) Drawn(e *stores.Entity, field int, _ *sqlcore.Table, c *sqlcore.Column) error {
	f := &e.Fields[field]
	sequence, counts := sequenceOf(c.Gives)
	switch {
	case f.Drawn && c.Gives == "":
		m.Problem(e, "column %s of table %s has no default and is no identity, and the database is to give field %s its value", f.Column, e.Table, f.Name)
	case c.Computed && !f.Computed:
		m.Problem(e, "column %s of table %s is generated, and nobody can set field %s: say read-only: true", f.Column, e.Table, f.Name)
	case f.Drawn && counts && m.role != "" && e.Added:
		return m.ask(`SELECT pg_catalog.has_sequence_privilege($1::text, c.oid, 'USAGE'), pg_catalog.pg_has_role(c.relowner, 'USAGE') FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'S' AND $2::text IN (pg_catalog.format('%I.%I', n.nspname, c.relname), pg_catalog.format('%I', CASE WHEN n.nspname = 'public' THEN c.relname ELSE '' END))`, []any{m.role, sequence}, func(r row) error {
			if !r.yes(0) {
				m.give(fmt.Sprintf("GRANT USAGE ON SEQUENCE %s TO %s", sequence, quote(m.role)), r.yes(1))
			}
			return nil
		})
	}
	return nil
}

// sequenceOf returns the name of the sequence that an expression draws from, as SQL spells it.
func sequenceOf(gives string) (name string, counts bool) {
	_, next, _ := strings.Cut(gives, "nextval(")
	name, _, counts = strings.Cut(next, "::regclass")
	return strings.ReplaceAll(strings.Trim(name, "'"), "''", "'"), counts
}

// Fits implements sqlcore.Catalogue.
func (m *migration) Fits(e *stores.Entity, field int, _ *sqlcore.Table) bool {
	d := m.tables[e].declared[e.Fields[field].Column]
	_, err := d.form(e.Fields[field].Keeps(), e.Managed)
	return err == nil
}

// Held implements sqlcore.Catalogue.
func (m *migration) Held(e *stores.Entity, field int, _ *sqlcore.Table, known []string) (held []stores.Held, err error) {
	f := &e.Fields[field]
	d := m.tables[e].declared[f.Column]
	form, _ := d.form(f.Keeps(), e.Managed)
	if n := lengthOf(d.Declared); n > 0 && form.arg == "text" {
		for j, stored := range f.StoredCodes() {
			if utf8.RuneCountInString(stored) > n {
				m.Warn(e, "column %s of table %s is declared %s, and is too short for code %s of field %s", f.Column, e.Table, d.Declared, f.Codes[j], f.Name)
			}
		}
	}
	if !m.tables[e].readable {
		m.Warn(e, "the role that migrates may not read table %s, so that what column %s holds could not be compared with the codes of field %s", e.Table, f.Column, f.Name)
		return nil, nil
	}
	datum := form.read(quote(f.Column))
	err = m.ask("SELECT ("+datum+")::text, count(*) FROM "+table(e)+" WHERE ("+datum+")::text <> ALL ($1::text[]) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 7", []any{textsOf(known)}, func(r row) error {
		held = append(held, stores.Held{Value: r.str(0), Rows: r.num(1)})
		return nil
	})
	return held, err
}

// Recoded implements sqlcore.Catalogue.
func (m *migration) Recoded(f *stores.Field, was, now string) (holds, becomes string) {
	if f.Kind == stores.JSON { // a list of codes
		text, was, now := quote(f.Column)+"::text", literalText(`"`+was+`"`), literalText(`"`+now+`"`)
		return "pg_catalog.strpos(" + text + ", " + was + ") > 0", "pg_catalog.replace(" + text + ", " + was + ", " + now + ")::" + declaredAs(f.Keeps())
	}
	return quote(f.Column) + " = " + literalText(was), literalText(now)
}

// Unfit implements sqlcore.Catalogue.
func (m *migration) Unfit(e *stores.Entity, field int, _ *sqlcore.Table, _ *sqlcore.Column) string {
	f := &e.Fields[field]
	d := m.tables[e].declared[f.Column]
	if _, err := d.form(f.Keeps(), false); err != nil {
		return err.Error()
	}
	switch d.base {
	case "timestamp":
		if f.Kind == stores.Time && f.Zone == nil {
			m.Warn(e, "column %s of table %s has no time zone, and is taken for UTC: `zone:` of field %s says in which it is written", f.Column, e.Table, f.Name)
		}
	case "timestamptz":
		if f.Zone != nil {
			return "it has a time zone of its own: leave `zone:` out"
		}
	}
	return ""
}

// give plans a right of the application's on a table that is not ours, or leaves it to the owner.
func (m *migration) give(statement string, owned bool) {
	switch {
	case slices.Contains(m.Lacks, statement), slices.Contains(m.Steps, statement):
	case owned:
		m.Step("%s", statement)
	default:
		m.Lacks = append(m.Lacks, statement)
	}
}

// rights grants the rights that verbs need on a table of others, if the migrating role may, and
// otherwise says what its owner has to grant. Rows that a verb reads to decide are locked, even
// in a table that no verb changes, and locking a row needs the right to update a column.
func (m *migration) rights(e *stores.Entity) error {
	if m.role == "" {
		return nil
	}
	schema, name := schemaAndName(e.Table)
	decides := slices.ContainsFunc(m.Entities, func(e *stores.Entity) bool { return !e.Managed && (e.Added || len(e.Changed) > 0 || e.Removed) })
	// We grant rights on the whole table; an owner may have granted them on columns alone. A
	// right to one column, for locking rows, is no right to the others.
	var all, added []int
	for i := range e.Fields {
		if i == e.Key && len(e.Parts) > 0 {
			continue // it has no column
		}
		f := &e.Fields[i]
		if all = append(all, i); e.Added && f.Required && f.Default.IsNull() && !f.Computed && !f.Drawn {
			added = append(added, i) // even if a verb leaves it out
		}
	}
	return m.ask(`SELECT pg_catalog.has_schema_privilege($3::text, n.oid, 'USAGE'), pg_catalog.pg_has_role(n.nspowner, 'USAGE'), pg_catalog.pg_has_role(c.relowner, 'USAGE'), c.relkind IN ('r', 'p'),
	r.selects, r.inserts AND (NOT $7::boolean OR pg_catalog.has_any_column_privilege($3::text, c.oid, 'INSERT')), r.updates, pg_catalog.has_table_privilege($3::text, c.oid, 'DELETE'), pg_catalog.has_any_column_privilege($3::text, c.oid, 'UPDATE')
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace CROSS JOIN LATERAL (
	SELECT COALESCE(bool_and(pg_catalog.has_column_privilege($3::text, c.oid, a.attnum, 'SELECT') OR a.attname <> ALL ($4::text[])), true) AS selects,
	COALESCE(bool_and(pg_catalog.has_column_privilege($3::text, c.oid, a.attnum, 'INSERT') OR a.attname <> ALL ($5::text[])), true) AS inserts,
	COALESCE(bool_and(pg_catalog.has_column_privilege($3::text, c.oid, a.attnum, 'UPDATE') OR a.attname <> ALL ($6::text[])), true) AS updates
	FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) r
WHERE n.nspname = $1::text AND c.relname = $2::text`,
		[]any{schema, name, m.role, m.Columns(e, all...), m.Columns(e, added...), m.Columns(e, e.Changed...), e.Added}, func(r row) error {
			if !r.yes(0) {
				m.give(fmt.Sprintf("GRANT USAGE ON SCHEMA %s TO %s", quote(schema), quote(m.role)), r.yes(1))
			}
			var rights []string
			for i, right := range [...]string{"SELECT", "INSERT", "UPDATE", "DELETE"} {
				switch {
				case (i < 3 || e.Removed) && !r.yes(4+i):
					rights = append(rights, right)
				case right == "UPDATE" && decides && r.yes(3) && !r.yes(8): // to lock
					rights = append(rights, "UPDATE ("+quote(e.Fields[e.KeyFields()[0]].Column)+")")
				}
			}
			if len(rights) > 0 {
				m.give(fmt.Sprintf("GRANT %s ON %s TO %s", strings.Join(rights, ", "), table(e), quote(m.role)), r.yes(2))
			}
			return nil
		})
}
