package sqlite

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"zombiezen.com/go/sqlite"

	"verbatim/stores"
)

// schemaVersion is that of all that the program keeps in a file, in verbatim_schema:
// the store's own tables, and the rows of the engine's own (confirmations, sessions,
// turns, questions, deliveries). Whoever changes how one of them is kept or read
// raises it and keeps a fixture, see runtime/torture/testdata/releases. A file of
// another version is refused. Records of the journal, kept receipts and payloads of
// jobs have versions of their own.
const schemaVersion = 3

// ownTables are the store's own, of schemaVersion. They are plain enough to be
// read, and the grants to be written, with any tool for SQLite.
var ownTables = []string{
	`CREATE TABLE "verbatim_schema" ("version" INTEGER NOT NULL, "store" TEXT NOT NULL, "secret" TEXT NOT NULL) STRICT`,
	`INSERT INTO "verbatim_schema" ("version", "store", "secret") VALUES (3, lower(hex(randomblob(16))), lower(hex(randomblob(32))))`,
	// A name is what a row is called, or once was: see stores.Name.
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
	// A principal is somebody who may use verbs; person, where it is not empty, says
	// whose login it is.
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
	// An origin marks a value that is less trusted than the record it is in. It
	// names table and column as they are called here.
	`CREATE TABLE "verbatim_origin" (
  "table_name" TEXT NOT NULL,
  "row_key" TEXT NOT NULL,
  "column_name" TEXT NOT NULL,
  "origin" TEXT NOT NULL,
  PRIMARY KEY ("table_name", "row_key", "column_name")
) STRICT, WITHOUT ROWID`,
	`CREATE TABLE "verbatim_journal" (
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
  "prev" TEXT NOT NULL UNIQUE,
  "body" TEXT NOT NULL,
  "hash" TEXT NOT NULL
) STRICT`,
	// These stop a slip of the hand. What they cannot stop, the chain shows.
	`CREATE TRIGGER "verbatim_journal_update" BEFORE UPDATE ON "verbatim_journal"
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END`,
	`CREATE TRIGGER "verbatim_journal_delete" BEFORE DELETE ON "verbatim_journal"
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END`,
}

// Migrate implements stores.Store.
func (s *Store) Migrate(ctx context.Context, entities []*stores.Entity, apply bool, tell ...func(*stores.Plan) ([]stores.Entry, error)) (stores.Plan, error) {
	return s.migrate(ctx, entities, apply, func(m *migration) error {
		if !apply || len(m.Problems) > 0 {
			return errPlanned
		}
		t := &tx{reader: reader{s: s, c: m.c, view: view{stores.Scope{All: true}}}}
		for _, tell := range tell {
			entries, err := tell(&m.Plan)
			if err == nil {
				err = t.Apply(ctx, stores.Batch{Entries: entries})
			}
			if err != nil {
				return err
			}
		}
		for _, step := range m.Steps[m.moved:] {
			if err := ctx.Err(); err != nil {
				return err
			}
			if _, err := m.c.exec(step); err != nil {
				return fault("migrate", err)
			}
		}
		for _, e := range m.reindex {
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
	rehearse := func(m *migration) error {
		wrong = nil
		m.undeclared()
		switch {
		case len(m.shapes) > 0 && len(m.Problems) > 0:
			return errPlanned
		case len(m.shapes) > 0 && !m.writes:
			return errWrites
		}
		for _, step := range m.shapes {
			if _, err := m.c.exec(step); err != nil {
				return fault("migrate", err)
			}
		}
		r := &reader{s: s, c: m.c, view: view{stores.Scope{All: true}}}
		for _, e := range entities {
			if len(m.Problems) > 0 {
				break // which may be why
			}
			if _, err := r.Find(ctx, stores.Find{Entity: e, Where: &stores.Cond{Op: stores.False}}); err != nil {
				m.problem(e, "its rows cannot be read: %v", err)
			}
		}
		for _, q := range queries {
			wrong = append(wrong, m.c.checkSQL(stores.Spoken(entities), q))
		}
		return errPlanned
	}
	plan, err := s.migrate(ctx, entities, false, rehearse)
	return plan, wrong, err
}

var (
	// errPlanned rolls back what was only tried.
	errPlanned = errors.New("only planned")
	// errWrites says that a plan cannot be made without writing.
	errWrites = errors.New("the plan writes")
)

// migrate makes a plan, and hands it to fn in the same transaction. What is called
// otherwise is renamed before the rest is planned. So a plan that renames is made in a
// transaction that writes, and errPlanned from fn rolls that back.
func (s *Store) migrate(ctx context.Context, entities []*stores.Entity, writes bool, fn func(*migration) error) (stores.Plan, error) {
	var plan stores.Plan
	run := func(c *conn) error {
		m := &migration{c: c, entities: entities, writes: writes}
		err := m.plan()
		if err == nil {
			err = fn(m)
		} else if !errors.Is(err, errWrites) {
			err = fault("migrate", err)
		}
		plan = m.Plan
		return err
	}
	lend := s.read
	if writes {
		lend = s.write
	}
	err := lend(ctx, run)
	if errors.Is(err, errWrites) {
		writes = true
		err = s.write(ctx, run)
	}
	if err != nil && !errors.Is(err, errPlanned) {
		return stores.Plan{}, err
	}
	return plan, nil
}

// migration compares what is there with what should be.
type migration struct {
	stores.Plan
	c        *conn
	entities []*stores.Entity
	writes   bool              // the transaction does
	moved    int               // how many of Steps were run already: those that rename
	shapes   []string          // of Steps, what queries depend on
	reindex  []*stores.Entity  // whose index is to be made
	objects  map[string]string // lower-case name of a table, view, index or trigger -> its type
}

func (m *migration) plan() error {
	if err := m.look(); err != nil {
		return err
	}
	if err := m.move(); err != nil {
		return err
	}
	if err := m.own(); err != nil {
		return err
	}
	m.names()
	for _, e := range m.entities {
		t, err := m.read(e)
		if err != nil {
			return err
		}
		switch {
		case t == nil && e.Managed:
			m.create(e)
		case t == nil:
			m.problem(e, "table %s is not there", tableName(e))
		case e.Managed:
			err = m.extend(e, t)
		default:
			m.verify(e, t)
		}
		if err == nil && t != nil {
			err = m.codes(e, t)
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

// respell plans that what SQL wrote into a table of ours is spelled as bind does, since such
// values are compared as they stand. One that cannot be read is a problem. The text of a key
// is kept in other tables too, so that it is never changed.
func (m *migration) respell(e *stores.Entity, t *tableInfo) error {
	for i := range e.Fields {
		f := &e.Fields[i]
		kind := f.Keeps()
		if !t.there(strings.ToLower(f.Column)) || !slices.Contains([]stores.Kind{stores.Time, stores.Date, stores.Decimal}, kind) {
			continue
		}
		if why, err := m.c.misspelt(e, i); err != nil || why != "" {
			if why != "" {
				m.problem(e, "%s", why)
			}
			return err
		}
		column := quote(f.Column)
		canonical := fmt.Sprintf("%s(%d, %s, '', 0)", canonicalFunction, kind, column)
		differs := column + " COLLATE BINARY <> " + canonical
		rows, err := m.count("SELECT count(*) FROM " + table(e) + " WHERE " + differs)
		switch {
		case err != nil:
			return err
		case rows == 0:
		case f.Ref != nil || slices.Contains(e.KeyFields(), i):
			m.problem(e, "column %s of table %s is a key, and rows spell %s in another way than this program: write it as %s", f.Column, tableName(e), kind.A(), map[stores.Kind]string{stores.Time: "2006-01-02T15:04:05.000000Z", stores.Date: "2006-01-02", stores.Decimal: "12.50, without zeros in front"}[kind])
		default:
			m.step("UPDATE %s SET %s = %s WHERE %s", table(e), column, canonical, differs)
		}
	}
	return nil
}

// misspelt says in which row of a table of ours a value cannot be read, if there is one.
func (c *conn) misspelt(e *stores.Entity, field int) (why string, err error) {
	f := &e.Fields[field]
	err = c.query(context.Background(), fmt.Sprintf("SELECT CAST(%s AS TEXT) FROM %s t WHERE NOT verbatim_readable(%d, %s, 0) LIMIT 1", raw(e, "t", e.Key), table(e), f.Keeps(), column(e, "t", field)), nil, func(row *sqlite.Stmt) error {
		why = fmt.Sprintf("column %s of table %s holds something other than %s in row %s", f.Column, tableName(e), f.Keeps().A(), row.ColumnText(0))
		return nil
	})
	return why, err
}

// look learns what there is.
func (m *migration) look() error {
	m.objects = map[string]string{}
	return m.c.query(context.Background(), "SELECT lower(name), type FROM sqlite_schema", nil, func(row *sqlite.Stmt) error {
		m.objects[row.ColumnText(0)] = row.ColumnText(1)
		return nil
	})
}

// move gives tables and columns of ours the names that they have now, and what is kept
// by those.
func (m *migration) move() error {
	if m.objects["verbatim_schema"] == "" {
		return nil
	}
	do := func(format string, args ...any) error {
		if !m.writes {
			return errWrites
		}
		m.step(format, args...)
		_, err := m.c.exec(m.Steps[len(m.Steps)-1])
		m.moved = len(m.Steps)
		return err
	}
	for _, e := range m.entities {
		was := strings.ReplaceAll(e.WasTable, ".", "_")
		if e.Managed && was != "" && m.objects[strings.ToLower(was)] == "table" && !slices.ContainsFunc(m.entities, func(o *stores.Entity) bool { return strings.EqualFold(tableName(o), was) }) {
			if m.objects[strings.ToLower(tableName(e))] != "" {
				m.problem(e, "tables %s and %s are both there, and one was to become the other: see what each holds, and drop one", was, tableName(e))
				continue
			}
			rows, err := m.count("SELECT count(*) FROM " + quote(was))
			if err == nil {
				err = do("ALTER TABLE %s RENAME TO %s", quote(was), quote(tableName(e)))
			}
			if err == nil {
				err = do("UPDATE main.verbatim_origin SET table_name = %s WHERE table_name = %s", literal(str(tableName(e))), literal(str(was)))
			}
			if err == nil {
				err = do("UPDATE main.verbatim_name SET table_name = %s WHERE table_name = %s", literal(str(e.Table)), literal(str(e.WasTable)))
			}
			if err == nil {
				err = m.look()
			}
			if err != nil {
				return err
			}
			m.Deeds = append(m.Deeds, stores.Deed{Kind: stores.RenameEntity, Entity: e.Name, From: e.Was, To: e.Name, Rows: rows})
		}
		if !e.Managed || !slices.ContainsFunc(e.Fields, func(f stores.Field) bool { return f.WasColumn != "" }) {
			continue
		}
		t, err := m.read(e)
		if err != nil || t == nil || t.view {
			if err != nil {
				return err
			}
			continue
		}
		for i := range e.Fields {
			f := &e.Fields[i]
			if f.WasColumn == "" || !t.there(strings.ToLower(f.WasColumn)) || slices.ContainsFunc(e.Fields, func(o stores.Field) bool { return strings.EqualFold(o.Column, f.WasColumn) }) {
				continue
			}
			if t.there(strings.ToLower(f.Column)) {
				m.problem(e, "columns %s and %s of table %s are both there, and one was to become the other: see what each holds, and drop one", f.WasColumn, f.Column, tableName(e))
				continue
			}
			rows, err := m.count("SELECT count(*) FROM " + table(e))
			if err == nil {
				err = do("ALTER TABLE %s RENAME COLUMN %s TO %s", quote(tableName(e)), quote(f.WasColumn), quote(f.Column))
			}
			if err == nil {
				err = do("UPDATE main.verbatim_origin SET column_name = %s WHERE table_name = %s AND column_name = %s", literal(str(f.Column)), literal(str(tableName(e))), literal(str(f.WasColumn)))
			}
			if err != nil {
				return err
			}
			m.Deeds = append(m.Deeds, stores.Deed{Kind: stores.RenameField, Entity: e.Name, Field: f.Name, From: f.Was, To: f.Name, Rows: rows})
		}
	}
	return nil
}

func (m *migration) count(sql string) (n int64, err error) {
	err = m.c.query(context.Background(), sql, nil, func(row *sqlite.Stmt) error {
		n = row.ColumnInt64(0)
		return nil
	})
	return n, err
}

// undeclared lists the columns that no field has.
func (m *migration) undeclared() {
	for _, e := range m.entities {
		t, err := m.read(e)
		if err != nil || t == nil {
			continue
		}
		if t.view {
			m.Views = append(m.Views, e)
		}
		for _, name := range slices.Sorted(maps.Keys(t.columns)) {
			if !slices.ContainsFunc(e.Fields, func(f stores.Field) bool { return strings.EqualFold(f.Column, name) }) {
				m.Undeclared = append(m.Undeclared, stores.OfNoField(e, name, tableName(e), t.columns[name].notNull && !t.columns[name].fallback))
			}
		}
	}
}

func (m *migration) problem(e *stores.Entity, format string, args ...any) {
	m.Problems = append(m.Problems, fmt.Sprintf("%s: entity %s: %s", e.Place, e.Name, fmt.Sprintf(format, args...)))
}

func (m *migration) warn(e *stores.Entity, format string, args ...any) {
	m.Warnings = append(m.Warnings, fmt.Sprintf("%s: entity %s: %s", e.Place, e.Name, fmt.Sprintf(format, args...)))
}

func (m *migration) step(format string, args ...any) {
	m.Steps = append(m.Steps, fmt.Sprintf(format, args...))
}

// shape is step, of a statement that queries depend on.
func (m *migration) shape(format string, args ...any) {
	m.step(format, args...)
	m.shapes = append(m.shapes, m.Steps[len(m.Steps)-1])
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
	}
	version := int64(0)
	err := m.c.query(context.Background(), "SELECT max(version) FROM main.verbatim_schema", nil, func(row *sqlite.Stmt) error {
		version = row.ColumnInt64(0)
		return nil
	})
	if err == nil && version != schemaVersion {
		m.Problems = append(m.Problems, fmt.Sprintf("the file cannot be used: %v", &stores.VersionError{Is: version, Known: schemaVersion}))
	}
	return err
}

// names finds what would share a name.
func (m *migration) names() {
	tables := map[string]*stores.Entity{}
	for _, e := range m.entities {
		name := strings.ToLower(tableName(e))
		if strings.HasPrefix(name, "verbatim_") && !engineOwn(e) || strings.HasPrefix(name, "sqlite_") {
			m.problem(e, "a table cannot be called %s here: such names are taken", tableName(e))
		}
		if other := tables[name]; other != nil {
			m.problem(e, "its table %s and %s, the table of entity %s (%s), are both called %s here: SQLite has no schemas and no case", e.Table, other.Table, other.Name, other.Place, tableName(e))
		}
		tables[name] = e
		columns := map[string]string{}
		for i, f := range e.Fields {
			if i == e.Key && len(e.Parts) > 0 {
				continue
			}
			column := strings.ToLower(f.Column)
			if other, ok := columns[column]; ok {
				m.problem(e, "fields %s and %s share the column %s", other, f.Name, f.Column)
			}
			columns[column] = f.Name
		}
	}
}

// engineOwn reports whether an entity is kept for the engine, in the schema
// verbatim, which palettes cannot name; it must not be one of the store's own
// tables all the same.
func engineOwn(e *stores.Entity) bool {
	return e.Managed && strings.HasPrefix(e.Table, "verbatim.") && !slices.ContainsFunc(slices.Concat(ownTables, jobTable, searchTables), func(statement string) bool {
		return strings.HasPrefix(strings.ToLower(statement), "create table "+strings.ToLower(quote(tableName(e)))+" ")
	})
}

// A tableInfo is what there is.
type tableInfo struct {
	view    bool
	columns map[string]columnInfo // by lower-case name
	key     []string              // columns of the primary key
	indexes []indexInfo
}

type columnInfo struct {
	declared string // upper case
	notNull  bool
	fallback bool     // has a default, or is generated
	gives    string   // the expression of its default, "" without one
	computed bool     // generated of other columns
	takes    []string // all that it takes, where a constraint lists it; nil is not known
}

type indexInfo struct {
	columns []string // lower case; "" for an expression
	unique  bool
}

func (m *migration) read(e *stores.Entity) (*tableInfo, error) {
	name := []stores.Value{str(tableName(e))}
	kind := m.objects[strings.ToLower(tableName(e))]
	if kind != "table" && kind != "view" {
		return nil, nil
	}
	t := &tableInfo{view: kind == "view", columns: map[string]columnInfo{}}
	key := map[int64]string{}
	bg := context.Background()
	err := m.c.query(bg, `SELECT lower(name), upper(type), "notnull", dflt_value IS NOT NULL OR hidden > 1, pk, coalesce(dflt_value, ''), hidden > 1 FROM pragma_table_xinfo(?)`, name, func(row *sqlite.Stmt) error {
		column, pk := row.ColumnText(0), row.ColumnInt64(4)
		t.columns[column] = columnInfo{declared: row.ColumnText(1), notNull: row.ColumnBool(2), fallback: row.ColumnBool(3), gives: row.ColumnText(5), computed: row.ColumnBool(6)}
		if pk > 0 {
			key[pk] = column
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := int64(1); key[i] != ""; i++ {
		t.key = append(t.key, key[i])
	}
	err = m.c.query(bg, "SELECT sql FROM sqlite_schema WHERE lower(name) = lower(?) AND type = 'table'", name, func(row *sqlite.Stmt) error {
		for _, check := range stores.Checks(row.ColumnText(0)) {
			column, values, ok := stores.CheckedValues(check)
			if c, there := t.columns[strings.ToLower(column)]; ok && there {
				c.takes = values
				t.columns[strings.ToLower(column)] = c
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = m.c.query(bg, `SELECT l.name, l."unique" AND NOT l.partial, group_concat(coalesce(lower(i.name), ''), char(0) ORDER BY i.seqno)
FROM pragma_index_list(?) l, pragma_index_info(l.name) i WHERE NOT l.partial GROUP BY l.name`, name, func(row *sqlite.Stmt) error {
		t.indexes = append(t.indexes, indexInfo{columns: strings.Split(row.ColumnText(2), "\x00"), unique: row.ColumnBool(1)})
		return nil
	})
	if len(t.key) > 0 {
		t.indexes = append(t.indexes, indexInfo{columns: t.key, unique: true})
	}
	return t, err
}

// has reports whether an index begins with the columns; with unique, whether
// one forbids two rows alike in them.
func (t *tableInfo) has(columns []string, unique bool) bool {
	return slices.ContainsFunc(t.indexes, func(x indexInfo) bool {
		if unique {
			have, want := slices.Sorted(slices.Values(x.columns)), slices.Sorted(slices.Values(columns))
			return x.unique && slices.Equal(have, want)
		}
		return len(x.columns) >= len(columns) && slices.Equal(x.columns[:len(columns)], columns)
	})
}

func (t *tableInfo) there(column string) bool {
	_, ok := t.columns[column]
	return ok
}

// lower returns the columns of fields as SQLite compares names.
func lower(e *stores.Entity, fields []int) []string {
	columns := make([]string, len(fields))
	for i, f := range fields {
		columns[i] = strings.ToLower(e.Fields[f].Column)
	}
	return columns
}

// walked lists the fields of an entity that scope paths follow.
func (m *migration) walked(e *stores.Entity) []int {
	var fields []int
	for _, other := range m.entities {
		at := other
		for _, step := range other.Scope {
			if at == e && !slices.Contains(fields, step.Field) {
				fields = append(fields, step.Field)
			}
			at = step.To
		}
	}
	slices.Sort(fields)
	return fields
}

// declared is the type of a column of ours.
func declared(kind stores.Kind) string {
	switch kind {
	case stores.Bool, stores.Int, stores.Duration:
		return "INTEGER"
	}
	return "TEXT"
}

func (m *migration) define(e *stores.Entity, field int) string {
	f := &e.Fields[field]
	def := quote(f.Column) + " " + declared(f.Keeps())
	if f.Required || field == e.Key {
		def += " NOT NULL"
	}
	if field == e.Key {
		def += " PRIMARY KEY"
	}
	if !f.Default.IsNull() {
		v, _ := f.Stored(f.Default)
		def += " DEFAULT " + literal(kept(f.Keeps(), v))
	}
	if f.Keeps() == stores.Bool {
		def += " CHECK (" + quote(f.Column) + " IN (0, 1))"
	}
	if f.Ref != nil && m.objects[strings.ToLower(tableName(f.Ref))] != "view" {
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

func (m *migration) create(e *stores.Entity) {
	defs := make([]string, len(e.Fields))
	for i := range e.Fields {
		defs[i] = "  " + m.define(e, i)
	}
	m.shape("CREATE TABLE %s (\n%s\n) STRICT", quote(tableName(e)), strings.Join(defs, ",\n"))
	m.objects[strings.ToLower(tableName(e))] = "table"
	m.index(e, &tableInfo{indexes: []indexInfo{{columns: lower(e, []int{e.Key}), unique: true}}})
	_ = m.given(e, nil) // there is no row that could break it
}

// given plans the triggers that keep what an entity says of how many fields have values.
// SQLite adds no constraint to a table that is there.
func (m *migration) given(e *stores.Entity, t *tableInfo) error {
	kept := map[string]bool{}
	for i := range e.Given {
		g := &e.Given[i]
		terms, before := make([]string, len(g.Fields)), make([]string, len(g.Fields))
		for j, f := range g.Fields {
			column := e.Fields[f].Column
			terms[j], before[j] = "(NEW."+quote(column)+" IS NOT NULL)", "0"
			if t == nil {
				continue
			}
			if t.there(strings.ToLower(column)) {
				before[j] = "(" + quote(column) + " IS NOT NULL)"
			}
		}
		holds := g.SQL("(" + strings.Join(terms, " + ") + ")")
		name := fmt.Sprintf("%s%.8x", givenPrefix(tableName(e)), sha256.Sum256([]byte(holds)))
		kept[name+"_insert"], kept[name+"_update"] = true, true
		if m.objects[name+"_insert"] != "" && m.objects[name+"_update"] != "" {
			continue
		}
		if t != nil {
			found, err := m.c.exists("SELECT 1 FROM "+table(e)+" WHERE NOT "+g.SQL("("+strings.Join(before, " + ")+")")+" LIMIT 1", nil)
			if err != nil {
				return err
			}
			if found {
				m.problem(e, "table %s has rows that its constraint over %s does not allow", tableName(e), strings.Join(lower(e, g.Fields), ", "))
				continue
			}
		}
		for _, op := range [...]string{"INSERT", "UPDATE"} {
			m.step("CREATE TRIGGER %s BEFORE %s ON %s WHEN NOT %s BEGIN SELECT RAISE(ABORT, 'constraint over %s'); END",
				quote(name+"_"+strings.ToLower(op)), op, quote(tableName(e)), holds, strings.ReplaceAll(strings.Join(lower(e, g.Fields), ", "), "'", "''"))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.objects)) {
		if (strings.HasPrefix(name, givenPrefix(tableName(e))) || e.WasTable != "" && strings.HasPrefix(name, givenPrefix(strings.ReplaceAll(e.WasTable, ".", "_")))) && m.objects[name] == "trigger" && !kept[name] {
			m.step("DROP TRIGGER %s", quote(name))
		}
	}
	return nil
}

// givenPrefix is how the names of a table's triggers begin.
func givenPrefix(table string) string {
	return fmt.Sprintf("verbatim_given_%.8x_", sha256.Sum256([]byte(strings.ToLower(table))))
}

// index plans the indexes that are not there: for unique sets, for sets by which rows are
// found, and for references, which scope paths, joins and counts follow.
func (m *migration) index(e *stores.Entity, t *tableInfo) {
	add := func(fields []int, unique bool) {
		if t.has(lower(e, fields), unique) {
			return
		}
		kind, suffix := "INDEX", "_idx"
		if unique {
			kind, suffix = "UNIQUE INDEX", "_key"
		}
		quoted, name := make([]string, len(fields)), tableName(e)
		for i, f := range fields {
			quoted[i] = quote(e.Fields[f].Column)
			name += "_" + e.Fields[f].Column
		}
		for name += suffix; m.objects[strings.ToLower(name)] != ""; name += "_" {
		}
		m.objects[strings.ToLower(name)] = "index"
		m.step("CREATE %s %s ON %s (%s)", kind, quote(name), quote(tableName(e)), strings.Join(quoted, ", "))
		t.indexes = append(t.indexes, indexInfo{columns: lower(e, fields), unique: unique})
	}
	for _, set := range e.Unique {
		add(uniqueWithin(e, set))
	}
	for _, set := range e.Found {
		add(set, false)
	}
	for _, f := range m.walked(e) {
		add([]int{f}, false)
	}
	for i := range e.Fields {
		if e.Fields[i].Ref != nil {
			add([]int{i}, false)
		}
	}
}

// uniqueWithin gives the index that keeps a set unique within the scope root.
// Where the root is several references away and the set does not name the first
// of them, no index can: tx.unique checks, with the help of a plain one.
func uniqueWithin(e *stores.Entity, set []int) (fields []int, unique bool) {
	switch {
	case len(e.Scope) == 0 || slices.Contains(set, e.Scope[0].Field):
		return set, true
	case len(e.Scope) == 1:
		return append([]int{e.Scope[0].Field}, set...), true
	}
	return set, false
}

// extend plans what a table of ours lacks, and finds what it cannot become.
func (m *migration) extend(e *stores.Entity, t *tableInfo) error {
	if t.view {
		m.problem(e, "%s is a view, and a managed entity needs a table", tableName(e))
		return nil
	}
	if !slices.Equal(t.key, lower(e, []int{e.Key})) {
		m.problem(e, "the key of table %s is (%s), not %s", tableName(e), strings.Join(t.key, ", "), e.Fields[e.Key].Column)
	}
	known := map[string]bool{}
	for i := range e.Fields {
		f := &e.Fields[i]
		known[strings.ToLower(f.Column)] = true
		c, ok := t.columns[strings.ToLower(f.Column)]
		switch {
		case !ok && f.Required && f.Default.IsNull():
			m.problem(e, "column %s of table %s is new and required: rows that are there need a default", f.Column, tableName(e))
		case !ok && f.Ref != nil && !f.Default.IsNull():
			m.problem(e, "column %s of table %s is a new reference, which cannot have a default", f.Column, tableName(e))
		case !ok:
			m.shape("ALTER TABLE %s ADD COLUMN %s", quote(tableName(e)), m.define(e, i))
			if f.Default.IsNull() {
				break
			}
			rows, err := m.count("SELECT count(*) FROM " + table(e))
			if err != nil {
				return err
			}
			if rows > 0 {
				m.Deeds = append(m.Deeds, stores.Filled(e, f, rows))
			}
		case c.declared != declared(f.Keeps()):
			m.problem(e, "column %s of table %s is declared %s, and a %s is kept as %s", f.Column, tableName(e), orNothing(c.declared), f.Keeps(), declared(f.Keeps()))
		case c.notNull && !f.Required && i != e.Key:
			m.problem(e, "column %s of table %s takes no null, and the field is optional", f.Column, tableName(e))
		case !c.notNull && f.Required:
			// The store itself refuses a null from now on; the rows that are
			// there have to agree.
			found, err := m.c.exists("SELECT 1 FROM "+table(e)+" WHERE "+quote(f.Column)+" IS NULL LIMIT 1", nil)
			if err != nil {
				return err
			}
			if found {
				m.problem(e, "column %s of table %s holds nulls, and the field is now required", f.Column, tableName(e))
			}
		}
	}
	for name, c := range t.columns {
		if !known[name] && c.notNull && !c.fallback {
			m.problem(e, "column %s of table %s is required and has no default, and no field gives it a value", name, tableName(e))
		}
	}
	for _, set := range e.Unique {
		fields, unique := uniqueWithin(e, set)
		all := !slices.ContainsFunc(lower(e, fields), func(c string) bool { _, ok := t.columns[c]; return !ok })
		if !unique || !all || t.has(lower(e, fields), true) {
			continue
		}
		var columns, filled []string
		for _, f := range fields {
			columns = append(columns, quote(e.Fields[f].Column))
			filled = append(filled, quote(e.Fields[f].Column)+" IS NOT NULL")
		}
		found, err := m.c.exists("SELECT 1 FROM "+table(e)+" WHERE "+strings.Join(filled, " AND ")+" GROUP BY "+strings.Join(columns, ", ")+" HAVING count(*) > 1 LIMIT 1", nil)
		if err != nil {
			return err
		}
		if found {
			m.problem(e, "table %s has rows alike in (%s), which is now unique", tableName(e), strings.Join(lower(e, fields), ", "))
		}
	}
	m.index(e, t)
	return m.given(e, t)
}

func orNothing(s string) string {
	if s == "" {
		return "without a type"
	}
	return s
}

// drawn finds fields for which the database has no value of its own, and those that it
// alone gives a value.
func (m *migration) drawn(e *stores.Entity, field int, t *tableInfo, c *columnInfo) {
	f := &e.Fields[field]
	switch {
	case f.Drawn && c.gives == "" && !(c.declared == "INTEGER" && slices.Equal(t.key, lower(e, []int{field}))):
		m.problem(e, "column %s of table %s has no default and is no INTEGER PRIMARY KEY, and the database is to give field %s its value", f.Column, tableName(e), f.Name)
	case c.computed && !f.Computed:
		m.problem(e, "column %s of table %s is generated, and nobody can set field %s: say read-only: true", f.Column, tableName(e), f.Name)
	}
}

// codes finds what columns hold that is no code of their fields, and codes that they
// do not take.
func (m *migration) codes(e *stores.Entity, t *tableInfo) error {
	for i := range e.Fields {
		f := &e.Fields[i]
		c, there := t.columns[strings.ToLower(f.Column)]
		known := f.StoredCodes()
		if there && e.Managed {
			for _, pair := range f.Former() {
				if err := m.recode(e, f, pair[0], pair[1]); err != nil {
					return err
				}
				known = append(known, pair[0])
			}
		}
		if f.Codes == nil || f.Ref != nil || !there {
			continue
		}
		if untaken := f.Untaken(c.takes); len(untaken) > 0 {
			m.problem(e, "column %s of table %s takes only %s, and not %s of field %s: say with value: how the column spells each code", f.Column, tableName(e), strings.Join(c.takes, ", "), strings.Join(untaken, ", "), f.Name)
			continue
		}
		column := quote(f.Column)
		var held []stores.Held
		err := m.c.query(context.Background(), "SELECT CAST("+column+" AS TEXT), count(*) FROM "+table(e)+" WHERE "+column+" IS NOT NULL AND (CAST("+column+" AS TEXT) NOT IN (SELECT value FROM json_each(?)) OR typeof("+column+") <> ?) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 7",
			[]stores.Value{str(listOf(known)), str(strings.ToLower(declared(f.Keeps())))}, func(row *sqlite.Stmt) error {
				held = append(held, stores.Held{Value: row.ColumnText(0), Rows: row.ColumnInt64(1)})
				return nil
			})
		if err != nil {
			return err
		}
		if held := f.Uncovered(held); held != "" {
			m.problem(e, "column %s of table %s holds what is no code of field %s: %s; say with value: how the column spells each code", f.Column, tableName(e), f.Name, held)
		}
	}
	return nil
}

// recode plans that a column spells a code as it is called now.
func (m *migration) recode(e *stores.Entity, f *stores.Field, was, now string) error {
	column, holds, becomes := quote(f.Column), " = "+literal(str(was)), literal(str(now))
	if f.Kind == stores.JSON { // a list of them
		column, holds, becomes = "instr("+column+", "+literal(str(`"`+was+`"`))+")", " > 0", "replace("+quote(f.Column)+", "+literal(str(`"`+was+`"`))+", "+literal(str(`"`+now+`"`))+")"
	}
	rows, err := m.count("SELECT count(*) FROM " + table(e) + " WHERE " + column + holds)
	if err != nil || rows == 0 {
		return err
	}
	m.step("UPDATE %s SET %s = %s WHERE %s%s", table(e), quote(f.Column), becomes, column, holds)
	m.Deeds = append(m.Deeds, stores.Deed{Kind: stores.RenameCode, Entity: e.Name, Field: f.Name, From: was, To: now, Rows: rows})
	return nil
}

// verify finds why a table of others cannot carry an entity.
func (m *migration) verify(e *stores.Entity, t *tableInfo) {
	for i := range e.Fields {
		f := &e.Fields[i]
		if i == e.Key && len(e.Parts) > 0 {
			continue // it has no column
		}
		c, ok := t.columns[strings.ToLower(f.Column)]
		if ok && !t.view {
			m.drawn(e, i, t, &c)
		}
		if !ok {
			m.problem(e, "table %s has no column %s, which field %s needs", tableName(e), f.Column, f.Name)
			continue
		}
		kind := f.Keeps()
		if f.Spelling != nil && kind == stores.String {
			kind = f.Holds() // a date as text stays text
		}
		if why := unfit(kind, c.declared, f.Places); why != "" && !t.view {
			m.problem(e, "column %s of table %s is declared %s: %s", f.Column, tableName(e), orNothing(c.declared), why)
		}
	}
	if t.view {
		return // a view has neither keys nor indexes of its own
	}
	key := lower(e, e.KeyFields())
	if there := !slices.ContainsFunc(key, func(c string) bool { return !t.there(c) }); there && !t.has(key, true) {
		m.problem(e, "nothing makes (%s) of table %s unique, and it is the key", strings.Join(key, ", "), tableName(e))
	}
	for _, f := range m.walked(e) {
		if column := lower(e, []int{f}); t.there(column[0]) && !t.has(column, false) {
			m.warn(e, "no index of table %s begins with column %s, by which rows are found for those who may see them: CREATE INDEX %s ON %s (%s)", tableName(e), column[0], quote(tableName(e)+"_"+e.Fields[f].Column), quote(tableName(e)), quote(e.Fields[f].Column))
		}
	}
}

// unfit says why a column declared so cannot hold values of a kind. SQLite
// derives from the declared type whether it turns text into numbers, or numbers
// into text, behind one's back.
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
		// A date, an instant, a uuid or JSON never reads as a number, so that a
		// numeric column leaves it alone.
		if affinity == "INTEGER" || affinity == "REAL" {
			return fmt.Sprintf("a %s is kept as text, and this column is for numbers", kind)
		}
	}
	return ""
}
