package sqlite

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"zombiezen.com/go/sqlite"

	"verbatim/stores"
	"verbatim/stores/merkle"
	"verbatim/stores/sqlcore"
)

// schemaVersion is the version of everything that the program keeps in a file, in
// verbatim_schema: the store's own tables, and the rows of the engine's own (confirmations,
// sessions, turns, questions, deliveries). A change of how one of them is stored or read has to
// raise it and to keep a fixture, see runtime/tests/torture/testdata/releases. A file of another
// version is refused. Records of the journal, kept receipts and payloads of jobs have versions of
// their own.
const schemaVersion = 4

// withChain is the version whose journal was a hash chain. Migrate upgrades it.
const withChain = 3

// ownTables are the store's own tables, in schemaVersion. They are simple enough to be read, and
// the grants to be written, with any tool for SQLite.
var ownTables = []string{
	`CREATE TABLE "verbatim_schema" ("version" INTEGER NOT NULL, "store" TEXT NOT NULL, "secret" TEXT NOT NULL) STRICT`,
	`INSERT INTO "verbatim_schema" ("version", "store", "secret") VALUES (4, lower(hex(randomblob(16))), lower(hex(randomblob(32))))`,
	// A name is a present or former name of a row: see stores.Name.
	`CREATE TABLE "verbatim_name" (
  "table_name" TEXT NOT NULL,
  "plain" TEXT NOT NULL,
  "owner" TEXT NOT NULL,
  "row_key" TEXT NOT NULL,
  "suffix" TEXT NOT NULL,
  UNIQUE ("table_name", "plain", "owner", "row_key")
) STRICT`,
	`CREATE INDEX "verbatim_name_suffix" ON "verbatim_name" ("table_name", "suffix")`,
	`CREATE INDEX "verbatim_name_row" ON "verbatim_name" ("table_name", "row_key")`,
	// A principal is somebody who may use verbs; person, if it is not empty, names the owner of
	// the login.
	`CREATE TABLE "verbatim_principal" (
  "name" TEXT NOT NULL PRIMARY KEY,
  "label" TEXT NOT NULL DEFAULT '',
  "person" TEXT NOT NULL DEFAULT ''
) STRICT`,
	// A grant gives a principal a role, or a row to hold, or both at once.
	`CREATE TABLE "verbatim_grant" (
  "principal" TEXT NOT NULL REFERENCES "verbatim_principal" ("name") ON DELETE CASCADE,
  "role" TEXT NOT NULL DEFAULT '',
  "entity" TEXT NOT NULL DEFAULT '',
  "key" ANY NOT NULL DEFAULT '',
  PRIMARY KEY ("principal", "role", "entity", "key")
) STRICT`,
	// An origin marks a value that is less trusted than its record. It names table and column as
	// this store does.
	`CREATE TABLE "verbatim_origin" (
  "table_name" TEXT NOT NULL,
  "row_key" TEXT NOT NULL,
  "column_name" TEXT NOT NULL,
  "origin" TEXT NOT NULL,
  PRIMARY KEY ("table_name", "row_key", "column_name")
) STRICT, WITHOUT ROWID`,
	journalTable,
	// The log is a Merkle tree. Its first leaf is that of the older chain, and every other that of
	// an entry: see stores.LeafData and package merkle.
	`CREATE TABLE "verbatim_leaf" (
  "place" INTEGER PRIMARY KEY,
  "number" INTEGER NOT NULL UNIQUE,
  "nodes" TEXT NOT NULL
) STRICT`,
	`CREATE TABLE "verbatim_head" ("size" INTEGER PRIMARY KEY, "hash" TEXT NOT NULL) STRICT`,
	// These triggers stop accidental changes. The log shows the changes that they cannot stop.
	appendOnly("verbatim_journal", "UPDATE"),
	appendOnly("verbatim_journal", "DELETE"),
	appendOnly("verbatim_leaf", "UPDATE"),
	appendOnly("verbatim_leaf", "DELETE"),
	appendOnly("verbatim_head", "UPDATE"),
	appendOnly("verbatim_head", "DELETE"),
}

// An entry of the older chain has hashes of the chain, and no salt.
const journalTable = `CREATE TABLE "verbatim_journal" (
  "seq" INTEGER PRIMARY KEY,
  "time" TEXT NOT NULL,
  "principal" TEXT NOT NULL,
  "roles" TEXT NOT NULL,
  "session" TEXT NOT NULL,
  "source" TEXT NOT NULL,
  "verb" TEXT NOT NULL,
  "call" TEXT NOT NULL,
  "outcome" TEXT NOT NULL,
  "reason" TEXT NOT NULL,
  "changes" TEXT NOT NULL,
  "preview" TEXT NOT NULL,
  "agreed" TEXT NOT NULL,
  "palette" TEXT NOT NULL,
  "turn" TEXT NOT NULL,
  "origins" TEXT NOT NULL,
  "salt" TEXT NOT NULL,
  "body" TEXT NOT NULL,
  "chain_prev" TEXT NOT NULL,
  "chain_hash" TEXT NOT NULL
) STRICT`

func appendOnly(table, change string) string {
	return fmt.Sprintf(`CREATE TRIGGER "%s_%s" BEFORE %s ON "%[1]s"
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END`, table, strings.ToLower(change), change)
}

// seal plans the upgrade of a journal that is a chain: its last entry becomes the first leaf of a
// log. A program of the older version finds none of the columns that it would write, and so adds
// nothing more.
func (m *migration) seal() error {
	var at int64
	var hash [32]byte
	err := m.c.query(context.Background(), "SELECT seq, time, principal, roles, session, source, verb, call, outcome, reason, changes, preview, agreed, palette, turn, origins, '', body, prev, hash FROM main.verbatim_journal ORDER BY seq", nil, func(row *sqlite.Stmt) error {
		e, err := readEntry(row, 0)
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
	const columns = `"seq", "time", "principal", "roles", "session", "source", "verb", "call", "outcome", "reason", "changes", "preview", "agreed", "palette", "turn", "origins"`
	m.Step(`DROP TRIGGER IF EXISTS "verbatim_journal_update"`)
	m.Step(`DROP TRIGGER IF EXISTS "verbatim_journal_delete"`)
	m.Step(`ALTER TABLE "verbatim_journal" RENAME TO "verbatim_chain"`)
	m.Steps = append(m.Steps, journalTable)
	m.Step(`INSERT INTO "verbatim_journal" (%s, "salt", "body", "chain_prev", "chain_hash") SELECT %[1]s, '', "body", "prev", "hash" FROM "verbatim_chain" ORDER BY "seq"`, columns)
	m.Step(`DROP TABLE "verbatim_chain"`)
	m.Steps = append(m.Steps, ownTables[slices.Index(ownTables, journalTable)+1:]...)
	if at > 0 {
		tree := merkle.New()
		leaf := sqlcore.Place(tree, sqlcore.Chain{Seq: at, Hash: hash}, nil)[0]
		m.Step(`INSERT INTO "verbatim_leaf" ("place", "number", "nodes") VALUES (0, %d, '%x')`, at, leaf.Row)
		m.Step(`INSERT INTO "verbatim_head" ("size", "hash") VALUES (1, '%x')`, tree.Root())
	}
	m.Step(`UPDATE "verbatim_schema" SET "version" = %d`, schemaVersion)
	return nil
}

// Migrate implements stores.Store.
func (s *Store) Migrate(ctx context.Context, entities []*stores.Entity, apply bool, tell ...func(*stores.Plan) ([]stores.Entry, error)) (stores.Plan, error) {
	return s.migrate(ctx, entities, apply, func(m *migration) error {
		if !apply || len(m.Problems) > 0 {
			return sqlcore.ErrPlanned
		}
		t := &tx{reader: reader{s: s, c: m.c, view: view{stores.Scope{All: true}}}}
		if err := m.Carry(ctx, t, tell, m.step); err != nil {
			return err
		}
		for _, e := range m.Reindex {
			if err := m.c.anew(ctx, e); err != nil {
				return fault("index", err)
			}
		}
		return t.finish(ctx)
	})
}

// Rehearse implements stores.Store.
func (s *Store) Rehearse(ctx context.Context, entities []*stores.Entity, queries []stores.SQL) (stores.Plan, []error, error) {
	var wrong []error
	var took time.Duration
	rehearse := func(m *migration) error {
		wrong, took = nil, 0
		m.undeclared()
		switch {
		case len(m.Shapes) > 0 && len(m.Problems) > 0:
			return sqlcore.ErrPlanned
		case len(m.Shapes) > 0 && !m.writes:
			return sqlcore.ErrWrites
		}
		r := &reader{s: s, c: m.c, view: view{stores.Scope{All: true}}}
		var err error
		wrong, err = m.Try(entities, queries, func(sql string) error {
			began := time.Now()
			defer func() { took += time.Since(began) }()
			return m.step(sql)
		}, func(e *stores.Entity) error {
			_, err := r.Find(ctx, stores.Find{Entity: e, Where: &stores.Cond{Op: stores.False}})
			return err
		}, func(q stores.SQL) error { return m.c.checkSQL(stores.Spoken(entities), q) })
		return err
	}
	plan, err := s.migrate(ctx, entities, false, rehearse)
	if err == nil && len(plan.Steps) > 0 && len(plan.Problems) == 0 {
		// Steps are tried on all rows of the file, and one who writes locks all of it.
		plan.Costs = []stores.Cost{{Lock: "RESERVED", Steps: len(plan.Steps), Took: took}}
	}
	return plan, wrong, err
}

// step runs a statement of the plan.
func (m *migration) step(sql string) error {
	_, err := m.c.exec(sql)
	return fault("migrate", err)
}

// migrate makes a plan, and passes it to fn in the same transaction. Renaming is done before the
// rest is planned. So a plan that renames is made in a transaction that writes, and sqlcore.ErrPlanned
// from fn rolls that back.
func (s *Store) migrate(ctx context.Context, entities []*stores.Entity, writes bool, fn func(*migration) error) (stores.Plan, error) {
	var plan stores.Plan
	run := func(c *conn) error {
		m := newMigration(c, entities, writes)
		err := m.plan()
		if err == nil {
			err = fn(m)
		} else if !errors.Is(err, sqlcore.ErrWrites) {
			err = fault("migrate", err)
		}
		plan = m.Plan
		return err
	}
	return sqlcore.Planned(writes, func(w bool) error {
		if writes = w; w {
			return s.write(ctx, run)
		}
		return s.read(ctx, run)
	}, func() stores.Plan { return plan })
}

// A migration compares the existing file with the declared entities.
type migration struct {
	sqlcore.Schema
	c       *conn
	writes  bool              // the transaction writes
	objects map[string]string // lower-case name of a table, view, index or trigger -> its type
}

func newMigration(c *conn, entities []*stores.Entity, writes bool) *migration {
	m := &migration{c: c, writes: writes}
	m.Schema = sqlcore.Schema{Dialect: dialect, On: m, Entities: entities}
	return m
}

func (m *migration) plan() error {
	if err := m.look(); err != nil {
		return err
	}
	if m.objects["verbatim_schema"] != "" {
		if err := m.Move(); err != nil {
			return err
		}
	}
	if err := m.own(); err != nil {
		return err
	}
	m.names()
	for _, e := range m.Entities {
		t, err := m.Read(e)
		if err == nil {
			err = m.Entity(e, t)
		}
		if err == nil && t != nil && e.Managed {
			err = m.respell(e, t)
		}
		if err != nil {
			return err
		}
	}
	return m.searched()
}

// respell plans to rewrite values that SQL wrote into a table of ours in the form that bind
// writes, since such values are compared as they stand. A value that cannot be read is a problem.
// The text of a key is stored in other tables too, so it is never changed.
func (m *migration) respell(e *stores.Entity, t *sqlcore.Table) error {
	for i := range e.Fields {
		f := &e.Fields[i]
		kind := f.Keeps()
		if !t.There(fold(f.Column)) || !slices.Contains([]stores.Kind{stores.Time, stores.Date, stores.Decimal}, kind) {
			continue
		}
		if why, err := m.c.misspelt(e, i); err != nil {
			return err
		} else if why != "" {
			m.Problem(e, "%s", why)
			continue
		}
		column := quote(f.Column)
		canonical := fmt.Sprintf("%s(%d, %s, '', 0)", canonicalFunction, kind, column)
		differs := column + " COLLATE BINARY <> " + canonical
		rows, err := m.Count("SELECT count(*) FROM " + table(e) + " WHERE " + differs)
		switch {
		case err != nil:
			return err
		case rows == 0:
		case f.Ref != nil || slices.Contains(e.KeyFields(), i):
			m.Problem(e, "column %s of table %s is a key, and rows spell %s in another way than this program: write it as %s", f.Column, tableName(e), kind.A(), spellings[kind])
		default:
			m.Step("UPDATE %s SET %s = %s WHERE %s", table(e), column, canonical, differs)
		}
	}
	return nil
}

// spellings describe, for messages, how values are written that SQL could write in other forms.
var spellings = map[stores.Kind]string{stores.Time: "2006-01-02T15:04:05.000000Z", stores.Date: "2006-01-02", stores.Decimal: "12.50, without zeros in front"}

// misspelt says in which rows of a table of ours a value cannot be read, if there are any, and
// which form can be.
func (c *conn) misspelt(e *stores.Entity, field int) (why string, err error) {
	f := &e.Fields[field]
	key := fmt.Sprintf("CAST(%s AS TEXT)", raw(e, "t", e.Key))
	err = c.query(context.Background(), fmt.Sprintf("SELECT %s, count(*) OVER () FROM %s t WHERE NOT verbatim_readable(%d, %s, 0) ORDER BY %[1]s LIMIT 1", key, table(e), f.Keeps(), column(e, "t", field)), nil, func(row *sqlite.Stmt) error {
		why = fmt.Sprintf("column %s of table %s holds something other than %s in row %s", f.Column, tableName(e), f.Keeps().A(), row.ColumnText(0))
		if more := row.ColumnInt64(1) - 1; more > 0 {
			why += fmt.Sprintf(" and %d more", more)
		}
		if why += ": write it as " + spellings[f.Keeps()]; !f.Required {
			why += ", or NULL"
		}
		return nil
	})
	return why, err
}

// fold returns a name of a table or column in lower case as SQLite's lower writes it: for ASCII
// alone. SQLite takes names that are equal when folded for the same name.
func fold(name string) string { return sqlcore.Lower(name) }

// look reads the existing tables. A trigger may have the name of one.
func (m *migration) look() error {
	m.objects = map[string]string{}
	return m.c.query(context.Background(), "SELECT lower(name), type FROM sqlite_schema ORDER BY type <> 'trigger'", nil, func(row *sqlite.Stmt) error {
		m.objects[row.ColumnText(0)] = row.ColumnText(1)
		return nil
	})
}

// Run implements sqlcore.Catalogue.
func (m *migration) Run(step string) error {
	if !m.writes {
		return sqlcore.ErrWrites
	}
	_, err := m.c.exec(step)
	return err
}

// Was implements sqlcore.Catalogue.
func (m *migration) Was(e *stores.Entity) (called, table string, there, now bool) {
	was := strings.ReplaceAll(e.WasTable, ".", "_")
	return was, quote(was), m.objects[fold(was)] == "table", m.objects[fold(tableName(e))] != ""
}

// Rename implements sqlcore.Catalogue.
func (m *migration) Rename(e *stores.Entity) error {
	called, was, _, _ := m.Was(e)
	err := m.Do("ALTER TABLE %s RENAME TO %s", was, quote(tableName(e)))
	if err == nil {
		err = m.Do("UPDATE main.verbatim_origin SET table_name = %s WHERE table_name = %s", literal(str(tableName(e))), literal(str(called)))
	}
	if err == nil {
		err = m.Do("UPDATE main.verbatim_name SET table_name = %s WHERE table_name = %s", literal(str(e.Table)), literal(str(e.WasTable)))
	}
	if err == nil {
		err = m.look()
	}
	return err
}

// Recolumn implements sqlcore.Catalogue.
func (m *migration) Recolumn(e *stores.Entity, _ *sqlcore.Table, f *stores.Field) error {
	return m.Do("UPDATE main.verbatim_origin SET column_name = %s WHERE table_name = %s AND column_name = %s", literal(str(f.Column)), literal(str(tableName(e))), literal(str(f.WasColumn)))
}

// Count implements sqlcore.Catalogue.
func (m *migration) Count(sql string) (n int64, err error) {
	err = m.c.query(context.Background(), sql, nil, func(row *sqlite.Stmt) error {
		n = row.ColumnInt64(0)
		return nil
	})
	return n, err
}

// Exists implements sqlcore.Catalogue.
func (m *migration) Exists(sql string) (bool, error) { return m.c.exists(sql, nil) }

// undeclared lists the columns that have no field.
func (m *migration) undeclared() {
	for _, e := range m.Entities {
		if t, err := m.Read(e); err == nil && t != nil {
			m.Undeclare(e, t)
		}
	}
}

// own plans the store's own tables.
func (m *migration) own() error {
	if m.objects["verbatim_schema"] == "" {
		for name := range m.objects {
			if strings.HasPrefix(name, "verbatim_") {
				m.Problems = append(m.Problems, "the file has a "+m.objects[name]+" "+name+" that is not ours: names that begin with verbatim_ are taken")
			}
		}
		slices.Sort(m.Problems)
		m.Steps = append(m.Steps, slices.Concat(ownTables, jobTable)...)
		return nil
	}
	if m.objects["verbatim_job"] == "" {
		m.Steps = append(m.Steps, jobTable...)
	} else {
		m.restore(jobTable)
	}
	version := int64(0)
	err := m.c.query(context.Background(), "SELECT max(version) FROM main.verbatim_schema", nil, func(row *sqlite.Stmt) error {
		version = row.ColumnInt64(0)
		return nil
	})
	switch {
	case err != nil:
		return err
	case version == withChain:
		return m.seal()
	case version != schemaVersion:
		m.Problems = append(m.Problems, fmt.Sprintf("the file cannot be used: %v", &stores.VersionError{Is: version, Known: schemaVersion}))
	}
	m.restore(ownTables)
	return nil
}

// restore adds steps that create missing indexes and triggers of the store's own tables.
func (m *migration) restore(statements []string) {
	for _, s := range statements {
		if _, name, _ := strings.Cut(s, `"`); !strings.HasPrefix(s, "CREATE TABLE") && strings.HasPrefix(s, "CREATE ") && m.objects[name[:strings.IndexByte(name, '"')]] == "" {
			m.Steps = append(m.Steps, s)
		}
	}
}

// names reports names of tables that are reserved or shared.
func (m *migration) names() {
	tables := map[string]*stores.Entity{}
	for _, e := range m.Entities {
		name := fold(tableName(e))
		if strings.HasPrefix(name, "verbatim_") && !engineOwn(e) || strings.HasPrefix(name, "sqlite_") {
			m.Problem(e, "a table cannot be called %s here: such names are taken", tableName(e))
		}
		if other := tables[name]; other != nil {
			m.Problem(e, "its table %s and %s, the table of entity %s (%s), are both called %s here: SQLite has no schemas and no case", e.Table, other.Table, other.Name, other.Place, tableName(e))
		}
		tables[name] = e
		m.SharedColumns(e)
	}
}

// engineOwn reports whether an entity belongs to the engine, in the schema verbatim, which
// palettes cannot name; it must still not be one of the store's own tables.
func engineOwn(e *stores.Entity) bool {
	return e.Managed && strings.HasPrefix(e.Table, "verbatim.") && !slices.ContainsFunc(slices.Concat(ownTables, jobTable, searchTables), func(statement string) bool {
		return strings.HasPrefix(fold(statement), "create table "+fold(quote(tableName(e)))+" ")
	})
}

// Read implements sqlcore.Catalogue.
func (m *migration) Read(e *stores.Entity) (*sqlcore.Table, error) {
	name := []stores.Value{str(tableName(e))}
	kind := m.objects[fold(tableName(e))]
	if kind != "table" && kind != "view" {
		return nil, nil
	}
	t := &sqlcore.Table{View: kind == "view", Columns: map[string]sqlcore.Column{}}
	key := map[int64]string{}
	bg := context.Background()
	err := m.c.query(bg, `SELECT lower(name), upper(type), "notnull", dflt_value IS NOT NULL OR hidden > 1, pk, coalesce(dflt_value, ''), hidden > 1 FROM pragma_table_xinfo(?)`, name, func(row *sqlite.Stmt) error {
		column, pk := row.ColumnText(0), row.ColumnInt64(4)
		t.Columns[column] = sqlcore.Column{Declared: row.ColumnText(1), NotNull: row.ColumnBool(2), Fallback: row.ColumnBool(3), Gives: row.ColumnText(5), Computed: row.ColumnBool(6)}
		if pk > 0 {
			key[pk] = column
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := int64(1); key[i] != ""; i++ {
		t.Key = append(t.Key, key[i])
	}
	err = m.c.query(bg, "SELECT sql FROM sqlite_schema WHERE lower(name) = lower(?) AND type = 'table'", name, func(row *sqlite.Stmt) error {
		for _, check := range stores.Checks(row.ColumnText(0)) {
			column, values, ok := stores.CheckedValues(check)
			if c, there := t.Columns[fold(column)]; ok && there {
				c.Takes = values
				t.Columns[fold(column)] = c
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = m.c.query(bg, `SELECT l.name, l."unique" AND NOT l.partial, group_concat(coalesce(lower(i.name), ''), char(0) ORDER BY i.seqno)
FROM pragma_index_list(?) l, pragma_index_info(l.name) i WHERE NOT l.partial GROUP BY l.name`, name, func(row *sqlite.Stmt) error {
		t.Indexes = append(t.Indexes, sqlcore.Index{Columns: strings.Split(row.ColumnText(2), "\x00"), Unique: row.ColumnBool(1)})
		return nil
	})
	if len(t.Key) > 0 {
		t.Indexes = append(t.Indexes, sqlcore.Index{Columns: t.Key, Unique: true})
	}
	return t, err
}

// declared returns the type of a column of ours.
func declared(kind stores.Kind) string {
	switch kind {
	case stores.Bool, stores.Int, stores.Duration:
		return "INTEGER"
	}
	return "TEXT"
}

// Declared implements sqlcore.Catalogue.
func (m *migration) Declared(kind stores.Kind) string { return declared(kind) }

// Define implements sqlcore.Catalogue.
func (m *migration) Define(e *stores.Entity, field int) string {
	f := &e.Fields[field]
	def := m.Column(e, field, declared(f.Keeps()), func(v stores.Value) string { return literal(kept(f.Keeps(), v)) })
	if f.Keeps() == stores.Bool {
		def += " CHECK (" + quote(f.Column) + " IN (0, 1))"
	}
	if f.Ref != nil && m.objects[fold(tableName(f.Ref))] != "view" {
		def += " REFERENCES " + quote(tableName(f.Ref)) + " (" + quote(f.Ref.Fields[f.Ref.Key].Column) + ")"
	}
	return def
}

func literal(v stores.Value) string {
	if n, ok := number(v); ok {
		return fmt.Sprint(n)
	}
	return "'" + strings.ReplaceAll(spelling(v), "'", "''") + "'"
}

// Called, Altered, Own and Added implement sqlcore.Catalogue.
func (m *migration) Called(e *stores.Entity) string  { return tableName(e) }
func (m *migration) Altered(e *stores.Entity) string { return quote(tableName(e)) }
func (m *migration) Own(string) bool                 { return false }
func (m *migration) Added(*stores.Entity, int)       {}

// Create implements sqlcore.Catalogue.
func (m *migration) Create(e *stores.Entity, _ *sqlcore.Table) string {
	m.objects[fold(tableName(e))] = "table"
	return " STRICT"
}

// Given implements sqlcore.Catalogue with triggers: SQLite cannot add a constraint to an existing
// table.
func (m *migration) Given(e *stores.Entity, t *sqlcore.Table) error {
	kept := map[string]bool{}
	for i := range e.Given {
		g := &e.Given[i]
		terms, before := make([]string, len(g.Fields)), make([]string, len(g.Fields))
		for j, f := range g.Fields {
			column := e.Fields[f].Column
			terms[j], before[j] = "(NEW."+quote(column)+" IS NOT NULL)", "0"
			if t.There(fold(column)) {
				before[j] = "(" + quote(column) + " IS NOT NULL)"
			}
		}
		holds := g.SQL("(" + strings.Join(terms, " + ") + ")")
		name := fmt.Sprintf("%s%.8x", givenPrefix(tableName(e)), sha256.Sum256([]byte(holds)))
		kept[name+"_insert"], kept[name+"_update"] = true, true
		if m.objects[name+"_insert"] != "" && m.objects[name+"_update"] != "" {
			continue
		}
		if len(t.Columns) > 0 {
			found, err := m.Exists("SELECT 1 FROM " + table(e) + " WHERE NOT " + g.SQL("("+strings.Join(before, " + ")+")") + " LIMIT 1")
			if err != nil {
				return err
			}
			if found {
				m.Problem(e, "table %s has rows that its constraint over %s does not allow", tableName(e), strings.Join(m.Columns(e, g.Fields...), ", "))
				continue
			}
		}
		for _, op := range [...]string{"INSERT", "UPDATE"} {
			m.Step("CREATE TRIGGER %s BEFORE %s ON %s WHEN NOT %s BEGIN SELECT RAISE(ABORT, 'constraint over %s'); END",
				quote(name+"_"+fold(op)), op, quote(tableName(e)), holds, strings.ReplaceAll(strings.Join(m.Columns(e, g.Fields...), ", "), "'", "''"))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.objects)) {
		if (strings.HasPrefix(name, givenPrefix(tableName(e))) || e.WasTable != "" && strings.HasPrefix(name, givenPrefix(strings.ReplaceAll(e.WasTable, ".", "_")))) && m.objects[name] == "trigger" && !kept[name] {
			m.Step("DROP TRIGGER %s", quote(name))
		}
	}
	return nil
}

// givenPrefix returns the beginning of the names of a table's triggers.
func givenPrefix(table string) string {
	return fmt.Sprintf("verbatim_given_%.8x_", sha256.Sum256([]byte(fold(table))))
}

// NameIndex implements sqlcore.Catalogue.
func (m *migration) NameIndex(e *stores.Entity, columns []string, suffix string) string {
	name := tableName(e) + "_" + strings.Join(columns, "_") + suffix
	for ; m.objects[fold(name)] != ""; name += "_" {
	}
	m.objects[fold(name)] = "index"
	return name
}

// Helps implements sqlcore.Catalogue.
func (m *migration) Helps(e *stores.Entity, field int) string {
	column := e.Fields[field].Column
	return fmt.Sprintf("CREATE INDEX %s ON %s (%s)", quote(tableName(e)+"_"+column), quote(tableName(e)), quote(column))
}

// Drawn implements sqlcore.Catalogue: it reports drawn fields for which the database generates no
// value, and fields that only the database sets.
func (m *migration) Drawn(e *stores.Entity, field int, t *sqlcore.Table, c *sqlcore.Column) error {
	f := &e.Fields[field]
	switch {
	case f.Drawn && c.Gives == "" && !(c.Declared == "INTEGER" && slices.Equal(t.Key, m.Columns(e, field))):
		m.Problem(e, "column %s of table %s has no default and is no INTEGER PRIMARY KEY, and the database is to give field %s its value", f.Column, tableName(e), f.Name)
	case c.Computed && !f.Computed:
		m.Problem(e, "column %s of table %s is generated, and nobody can set field %s: say read-only: true", f.Column, tableName(e), f.Name)
	}
	return nil
}

// Fits implements sqlcore.Catalogue: anything can be compared as text.
func (m *migration) Fits(*stores.Entity, int, *sqlcore.Table) bool { return true }

// Held implements sqlcore.Catalogue.
func (m *migration) Held(e *stores.Entity, field int, _ *sqlcore.Table, known []string) (held []stores.Held, err error) {
	f := &e.Fields[field]
	column := quote(f.Column)
	err = m.c.query(context.Background(), "SELECT CAST("+column+" AS TEXT), count(*) FROM "+table(e)+" WHERE "+column+" IS NOT NULL AND (CAST("+column+" AS TEXT) NOT IN (SELECT value FROM json_each(?)) OR typeof("+column+") <> ?) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 7",
		[]stores.Value{str(listOf(known)), str(fold(declared(f.Keeps())))}, func(row *sqlite.Stmt) error {
			held = append(held, stores.Held{Value: row.ColumnText(0), Rows: row.ColumnInt64(1)})
			return nil
		})
	return held, err
}

// Recoded implements sqlcore.Catalogue.
func (m *migration) Recoded(f *stores.Field, was, now string) (holds, becomes string) {
	column := quote(f.Column)
	if f.Kind == stores.JSON { // a list of codes
		was, now := literal(str(`"`+was+`"`)), literal(str(`"`+now+`"`))
		return "instr(" + column + ", " + was + ") > 0", "replace(" + column + ", " + was + ", " + now + ")"
	}
	return column + " = " + literal(str(was)), literal(str(now))
}

// Unfit implements sqlcore.Catalogue.
func (m *migration) Unfit(e *stores.Entity, field int, t *sqlcore.Table, c *sqlcore.Column) string {
	if t.View {
		return ""
	}
	f := &e.Fields[field]
	kind := f.Keeps()
	if f.Zone != nil && f.Spelling == nil && f.Zone != time.UTC {
		return "`zone:` needs `form:` here, which says how the time is written"
	}
	if f.Spelling != nil && kind == stores.String {
		kind = f.Holds() // a date as text stays text
	}
	return unfit(kind, c.Declared, f.Places)
}

// unfit says why a column with a declared type cannot store values of a kind. SQLite derives from
// the declared type whether it silently turns text into numbers, or numbers into text.
func unfit(kind stores.Kind, declared string, places int) string {
	affinity := "NUMERIC"
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(declared, p) })
	}
	switch {
	case has("INT"):
		affinity = "INTEGER"
	case has("CHAR", "CLOB", "TEXT"):
		affinity = "TEXT"
	case declared == "", has("BLOB"), declared == "ANY":
		affinity = ""
	case has("REAL", "FLOA", "DOUB"):
		affinity = "REAL"
	}
	switch kind {
	case stores.Bool, stores.Int, stores.Duration:
		if affinity == "TEXT" || affinity == "REAL" {
			return fmt.Sprintf("a %s is kept as an integer, and SQLite would make %s of it", kind, map[string]string{"TEXT": "text", "REAL": "a binary fraction"}[affinity])
		}
	case stores.Decimal:
		if affinity != "TEXT" && affinity != "" && places == 0 {
			return "a decimal is kept as text, and SQLite would make a number of it, which is not exact; say with scale: how many digits after the point are, or with unit: what an integer counts"
		}
	case stores.String:
		if affinity != "TEXT" && affinity != "" {
			return fmt.Sprintf("a %s is kept as text, and SQLite would make a number of it, which is not exact; declare it TEXT", kind)
		}
	default:
		// A date, a time, a UUID or JSON never reads as a number, so a numeric column does not
		// convert it.
		if affinity == "INTEGER" || affinity == "REAL" {
			return fmt.Sprintf("a %s is kept as text, and this column is for numbers", kind)
		}
	}
	return ""
}
