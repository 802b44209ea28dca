package sqlcore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"verbatim/stores"
)

// A Table is the existing table of an entity. Its columns' names are folded by Fold.
type Table struct {
	View    bool
	Columns map[string]Column
	Key     []string // columns of the primary key
	Indexes []Index
}

// A Column is a column as the catalogue describes it.
type Column struct {
	Declared string // its type
	NotNull  bool
	Fallback bool     // has a default, or is generated
	Gives    string   // the expression of the default or of a generated value, "" without one
	Computed bool     // generated from other columns
	Takes    []string // the values that it accepts, if the database lists them; nil if that is not known
}

// An Index is an index without a condition.
type Index struct {
	Columns []string // "" for an expression
	Unique  bool
}

// There reports whether the table has all of these columns.
func (t *Table) There(columns ...string) bool {
	return !slices.ContainsFunc(columns, func(c string) bool { _, there := t.Columns[c]; return !there })
}

// Has reports whether an index begins with the columns; with unique, whether one makes them
// unique.
func (t *Table) Has(columns []string, unique bool) bool {
	return slices.ContainsFunc(t.Indexes, func(x Index) bool {
		if unique {
			have, want := slices.Sorted(slices.Values(x.Columns)), slices.Sorted(slices.Values(columns))
			return x.Unique && slices.Equal(have, want)
		}
		return len(x.Columns) >= len(columns) && slices.Equal(x.Columns[:len(columns)], columns)
	})
}

// A Catalogue is what a Schema needs of a database: a description of the existing tables, and the
// spelling of the statements that change them.
type Catalogue interface {
	Read(e *stores.Entity) (*Table, error) // nil if there is no table
	Run(step string) error                 // for Do
	Count(sql string) (int64, error)
	Exists(sql string) (bool, error)
	// Called is the name of an entity's table in messages, and Altered its name in statements
	// that change it.
	Called(e *stores.Entity) string
	Altered(e *stores.Entity) string
	// Was returns the former table of a renamed entity, as messages and as statements name it;
	// there says that it exists, and now that a table of the new name does. Rename renames it,
	// and everything that the store keeps under its name. Recolumn renames what the store keeps
	// under a column's name.
	Was(e *stores.Entity) (called, table string, there, now bool)
	Rename(e *stores.Entity) error
	Recolumn(e *stores.Entity, t *Table, f *stores.Field) error

	// Declared is the type of a managed column as the catalogue gives it, and Define the
	// definition of a managed column for a statement.
	Declared(kind stores.Kind) string
	Define(e *stores.Entity, field int) string
	Own(column string) bool // reports whether the column is the store's own and has no field
	// NameIndex returns a name for an index of a table that no other index has.
	NameIndex(e *stores.Entity, columns []string, suffix string) string
	// Helps returns a statement that creates an index on a table that is not managed.
	Helps(e *stores.Entity, field int) string

	// Create prepares a managed table, and returns the text that follows its columns; t describes
	// the table so far.
	Create(e *stores.Entity, t *Table) (end string)
	// Added notes that a column is added to an existing table.
	Added(e *stores.Entity, field int)
	// Given plans the constraint for Entity.Given. A table that is still to be created has no
	// columns.
	Given(e *stores.Entity, t *Table) error
	// Drawn and Unfit find reasons why a column that is not managed cannot hold a field.
	Drawn(e *stores.Entity, field int, t *Table, c *Column) error
	Unfit(e *stores.Entity, field int, t *Table, c *Column) string
	// Fits reports whether a column can be compared with the field's codes; Held finds the values
	// that it holds besides known.
	Fits(e *stores.Entity, field int, t *Table) bool
	Held(e *stores.Entity, field int, t *Table, known []string) ([]stores.Held, error)
	// Recoded returns the condition that a column holds a code under its former name, and the
	// expression for its new value.
	Recoded(f *stores.Field, was, now string) (holds, becomes string)
}

// A Schema compares the existing tables with the declared entities, and plans the changes.
type Schema struct {
	stores.Plan
	*Dialect
	On       Catalogue
	Entities []*stores.Entity
	Moved    int              // how many of Steps were run already: the renaming ones
	Shapes   []string         // those of Steps that queries depend on
	Reindex  []*stores.Entity // entities whose search index has to be rebuilt
}

// Problem notes a reason why an entity cannot be migrated.
func (m *Schema) Problem(e *stores.Entity, format string, args ...any) {
	m.Problems = append(m.Problems, fmt.Sprintf("%s: entity %s: %s", e.Place, e.Name, fmt.Sprintf(format, args...)))
}

// Warn notes a flaw that does not keep the entity from working.
func (m *Schema) Warn(e *stores.Entity, format string, args ...any) {
	m.Warnings = append(m.Warnings, fmt.Sprintf("%s: entity %s: %s", e.Place, e.Name, fmt.Sprintf(format, args...)))
}

// Step plans a statement.
func (m *Schema) Step(format string, args ...any) {
	m.Steps = append(m.Steps, fmt.Sprintf(format, args...))
}

// Shape is Step for a statement that queries depend on.
func (m *Schema) Shape(format string, args ...any) {
	m.Step(format, args...)
	m.Shapes = append(m.Shapes, m.Steps[len(m.Steps)-1])
}

// Columns returns the columns of fields.
func (m *Schema) Columns(e *stores.Entity, fields ...int) []string {
	columns := make([]string, len(fields))
	for i, f := range fields {
		columns[i] = m.Fold(e.Fields[f].Column)
	}
	return columns
}

func (m *Schema) quoted(e *stores.Entity, fields []int) []string {
	columns := make([]string, len(fields))
	for i, f := range fields {
		columns[i] = m.Quote(e.Fields[f].Column)
	}
	return columns
}

// Entity plans what an entity lacks, and reports what cannot be done. t is nil if the entity has
// no table.
func (m *Schema) Entity(e *stores.Entity, t *Table) error {
	var err error
	switch {
	case t == nil && e.Managed:
		return m.create(e)
	case t == nil:
		m.Problem(e, "table %s is not there", m.On.Called(e))
		return nil
	case e.Managed:
		err = m.extend(e, t)
	default:
		err = m.verify(e, t)
	}
	if err != nil {
		return err
	}
	return m.codes(e, t)
}

// SharedColumns reports fields that would share a column. A query without quotes cannot
// distinguish columns by their case.
func (m *Schema) SharedColumns(e *stores.Entity) {
	columns := map[string]string{}
	for i, f := range e.Fields {
		if i == e.Key && len(e.Parts) > 0 {
			continue
		}
		column := strings.ToLower(f.Column)
		if e.Managed && m.On.Own(column) {
			m.Problem(e, "field %s cannot have the column %s: the store keeps there whose a row is, or where its values come from", f.Name, f.Column)
		}
		if other, ok := columns[column]; ok {
			m.Problem(e, "fields %s and %s share the column %s", other, f.Name, f.Column)
		}
		columns[column] = f.Name
	}
}

// Do plans a step and runs it at once, because the rest of the plan depends on it.
func (m *Schema) Do(format string, args ...any) error {
	step := fmt.Sprintf(format, args...)
	err := m.On.Run(step)
	if err == nil {
		m.Steps = append(m.Steps, step)
		m.Moved = len(m.Steps)
	}
	return err
}

// Move gives managed tables and columns their present names, and renames what is kept under the
// former ones.
func (m *Schema) Move() error {
	for _, e := range m.Entities {
		if !e.Managed {
			continue
		}
		called, table, there, now := m.On.Was(e)
		if there && !slices.ContainsFunc(m.Entities, func(o *stores.Entity) bool { return m.Fold(m.On.Called(o)) == m.Fold(called) }) {
			if now {
				m.Problem(e, "tables %s and %s are both there, and one was to become the other: see what each holds, and drop one", called, m.On.Called(e))
				continue
			}
			rows, err := m.On.Count("SELECT count(*) FROM " + table)
			if err == nil {
				err = m.On.Rename(e)
			}
			if err != nil {
				return err
			}
			m.DataChanges = append(m.DataChanges, stores.DataChange{Kind: stores.RenameEntity, Entity: e.Name, From: e.Was, To: e.Name, Rows: rows})
		}
		if !slices.ContainsFunc(e.Fields, func(f stores.Field) bool { return f.WasColumn != "" }) {
			continue
		}
		t, err := m.On.Read(e)
		if err == nil && t != nil && !t.View {
			err = m.moveColumns(e, t)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *Schema) moveColumns(e *stores.Entity, t *Table) error {
	for i := range e.Fields {
		f := &e.Fields[i]
		was := m.Fold(f.WasColumn)
		if was == "" || !t.There(was) || slices.ContainsFunc(e.Fields, func(o stores.Field) bool { return m.Fold(o.Column) == was }) {
			continue
		}
		if t.There(m.Fold(f.Column)) {
			m.Problem(e, "columns %s and %s of table %s are both there, and one was to become the other: see what each holds, and drop one", f.WasColumn, f.Column, m.On.Called(e))
			continue
		}
		rows, err := m.On.Count("SELECT count(*) FROM " + m.Table(e))
		if err == nil {
			err = m.Do("ALTER TABLE %s RENAME COLUMN %s TO %s", m.On.Altered(e), m.Quote(f.WasColumn), m.Quote(f.Column))
		}
		if err == nil {
			err = m.On.Recolumn(e, t, f)
		}
		if err != nil {
			return err
		}
		m.DataChanges = append(m.DataChanges, stores.DataChange{Kind: stores.RenameField, Entity: e.Name, Field: f.Name, From: f.Was, To: f.Name, Rows: rows})
	}
	return nil
}

// Carry passes the plan to tell, and then runs its steps in one transaction.
func (m *Schema) Carry(ctx context.Context, tx stores.Tx, tell []func(*stores.Plan) ([]stores.Entry, error), run func(step string) error) error {
	for _, tell := range tell {
		entries, err := tell(&m.Plan)
		if err == nil {
			err = tx.Apply(ctx, stores.Batch{Entries: entries})
		}
		if err != nil {
			return err
		}
	}
	for _, step := range m.Steps[m.Moved:] {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := run(step); err != nil {
			return err
		}
	}
	return nil
}

var (
	// ErrPlanned rolls back a trial.
	ErrPlanned = errors.New("only planned")
	// ErrWrites says that a plan cannot be made without writing.
	ErrWrites = errors.New("the plan writes")
)

// Planned makes a plan in a transaction that lend opens. Renaming is done before the rest is
// planned: so where make returns ErrWrites, the plan is made anew in a transaction that writes.
// ErrPlanned from make rolls back what it did, and the plan is returned all the same.
func Planned(writes bool, lend func(writes bool) error, plan func() stores.Plan) (stores.Plan, error) {
	err := lend(writes)
	if errors.Is(err, ErrWrites) {
		err = lend(true)
	}
	if err != nil && !errors.Is(err, ErrPlanned) {
		return stores.Plan{}, err
	}
	return plan(), nil
}

// Try runs the planned statements that queries depend on, and then reads every entity, as far as
// nothing is wrong with the plan, and checks queries. It returns what is wrong with each query, and
// ErrPlanned if it came to its end.
func (m *Schema) Try(entities []*stores.Entity, queries []stores.SQL, run func(step string) error, read func(*stores.Entity) error, check func(stores.SQL) error) (wrong []error, err error) {
	for _, step := range m.Shapes {
		if err := run(step); err != nil {
			return nil, err
		}
	}
	for _, e := range entities {
		if len(m.Problems) > 0 {
			break // which may be the reason
		}
		if err := read(e); err != nil {
			m.Problem(e, "its rows cannot be read: %v", err)
		}
	}
	for _, q := range queries {
		wrong = append(wrong, check(q))
	}
	return wrong, ErrPlanned
}

// Undeclare lists the columns that have no field.
func (m *Schema) Undeclare(e *stores.Entity, t *Table) {
	if t.View {
		m.Views = append(m.Views, e)
	}
	for _, name := range slices.Sorted(maps.Keys(t.Columns)) {
		if !m.On.Own(name) && !slices.ContainsFunc(e.Fields, func(f stores.Field) bool { return m.Fold(f.Column) == name }) {
			m.Undeclared = append(m.Undeclared, stores.OfNoField(e, name, m.On.Called(e), !e.Managed && t.Columns[name].NotNull && !t.Columns[name].Fallback))
		}
	}
}

// Column returns the definition of a managed column, for a statement. literal writes constants as
// the database does.
func (m *Schema) Column(e *stores.Entity, field int, typ string, literal func(stores.Value) string) string {
	f := &e.Fields[field]
	def := m.Quote(f.Column) + " " + typ
	if f.Required || field == e.Key {
		def += " NOT NULL"
	}
	if field == e.Key {
		def += " PRIMARY KEY"
	}
	if !f.Default.IsNull() {
		v, _ := f.Stored(f.Default)
		def += " DEFAULT " + literal(v)
	}
	return def
}

// create plans a managed table.
func (m *Schema) create(e *stores.Entity) error {
	t := &Table{Indexes: []Index{{Columns: m.Columns(e, e.Key), Unique: true}}}
	end := m.On.Create(e, t)
	defs := make([]string, len(e.Fields))
	for i := range e.Fields {
		defs[i] = "  " + m.On.Define(e, i)
	}
	m.Shape("CREATE TABLE %s (\n%s\n)%s", m.On.Altered(e), strings.Join(defs, ",\n"), end)
	m.index(e, t)
	return m.On.Given(e, t)
}

// walked lists the fields of an entity that scope paths follow.
func (m *Schema) walked(e *stores.Entity) []int {
	var fields []int
	for _, other := range m.Entities {
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

// index plans the missing indexes: for unique sets, for sets by which rows are found, and for
// references, which scope paths, joins and counts follow.
func (m *Schema) index(e *stores.Entity, t *Table) {
	add := func(fields []int, unique bool) {
		columns := make([]string, len(fields))
		for i, f := range fields {
			columns[i] = e.Fields[f].Column
		}
		m.IndexOn(e, t, columns, unique)
	}
	for _, set := range e.Unique {
		add(UniqueWithin(e, set))
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

// IndexOn plans an index unless there is one.
func (m *Schema) IndexOn(e *stores.Entity, t *Table, columns []string, unique bool) {
	folded, quoted := make([]string, len(columns)), make([]string, len(columns))
	for i, c := range columns {
		folded[i], quoted[i] = m.Fold(c), m.Quote(c)
	}
	if t.Has(folded, unique) {
		return
	}
	kind, suffix := "INDEX", "_idx"
	if unique {
		kind, suffix = "UNIQUE INDEX", "_key"
	}
	m.Step("CREATE %s %s ON %s (%s)", kind, m.Quote(m.On.NameIndex(e, columns, suffix)), m.On.Altered(e), strings.Join(quoted, ", "))
	t.Indexes = append(t.Indexes, Index{Columns: folded, Unique: unique})
}

// orNothing returns the type of a column, or a text for a column without one.
func orNothing(s string) string {
	if s == "" {
		return "without a type"
	}
	return s
}

// extend plans what a managed table lacks, and reports what cannot be changed.
func (m *Schema) extend(e *stores.Entity, t *Table) error {
	called := m.On.Called(e)
	if t.View {
		m.Problem(e, "%s is a view, and a managed entity needs a table", called)
		return nil
	}
	if !slices.Equal(t.Key, m.Columns(e, e.Key)) {
		m.Problem(e, "the key of table %s is (%s), not %s", called, strings.Join(t.Key, ", "), e.Fields[e.Key].Column)
	}
	known := map[string]bool{}
	for i := range e.Fields {
		f := &e.Fields[i]
		known[m.Fold(f.Column)] = true
		c, ok := t.Columns[m.Fold(f.Column)]
		switch {
		case !ok && f.Required && f.Default.IsNull():
			m.Problem(e, "column %s of table %s is new and required: rows that are there need a default", f.Column, called)
		case !ok && f.Ref != nil && !f.Default.IsNull():
			m.Problem(e, "column %s of table %s is a new reference, which cannot have a default", f.Column, called)
		case !ok:
			m.Shape("ALTER TABLE %s ADD COLUMN %s", m.On.Altered(e), m.On.Define(e, i))
			m.On.Added(e, i)
			if f.Default.IsNull() {
				break
			}
			rows, err := m.On.Count("SELECT count(*) FROM " + m.Table(e))
			if err != nil {
				return err
			}
			if rows > 0 {
				m.DataChanges = append(m.DataChanges, stores.Filled(e, f, rows))
			}
		case c.Declared != m.On.Declared(f.Keeps()):
			m.Problem(e, "column %s of table %s is declared %s, and a %s is kept as %s", f.Column, called, orNothing(c.Declared), f.Keeps(), m.On.Declared(f.Keeps()))
		case c.NotNull && !f.Required && i != e.Key:
			m.mayBeNull(e, f.Column)
		case !c.NotNull && f.Required:
			// From now on the store itself refuses a null; the existing rows must have none.
			found, err := m.On.Exists("SELECT 1 FROM " + m.Table(e) + " WHERE " + m.Quote(f.Column) + " IS NULL LIMIT 1")
			if err != nil {
				return err
			}
			if found {
				m.Problem(e, "column %s of table %s holds nulls, and the field is now required", f.Column, called)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.Columns)) {
		if c := t.Columns[name]; !known[name] && c.NotNull && !c.Fallback && !m.On.Own(name) {
			m.mayBeNull(e, name) // its field is gone; its values stay
		}
	}
	for _, set := range e.Unique {
		fields, unique := UniqueWithin(e, set)
		columns := m.Columns(e, fields...)
		if !unique || !t.There(columns...) || t.Has(columns, true) {
			continue
		}
		quoted := m.quoted(e, fields)
		found, err := m.On.Exists("SELECT 1 FROM " + m.Table(e) + " WHERE " + strings.Join(quoted, " IS NOT NULL AND ") + " IS NOT NULL GROUP BY " + strings.Join(quoted, ", ") + " HAVING count(*) > 1 LIMIT 1")
		if err != nil {
			return err
		}
		if found {
			m.Problem(e, "table %s has rows alike in (%s), which is now unique", called, strings.Join(columns, ", "))
		}
	}
	m.index(e, t)
	return m.On.Given(e, t)
}

// mayBeNull plans that a managed column may be null from now on.
func (m *Schema) mayBeNull(e *stores.Entity, column string) {
	m.Shape("ALTER TABLE %s ALTER COLUMN %s DROP NOT NULL", m.On.Altered(e), m.Quote(column))
}

// codes reports values of columns that are no code of their fields, and codes that the columns do
// not accept.
func (m *Schema) codes(e *stores.Entity, t *Table) error {
	for i := range e.Fields {
		f := &e.Fields[i]
		c, there := t.Columns[m.Fold(f.Column)]
		if !there || !m.On.Fits(e, i, t) {
			continue
		}
		known := f.StoredCodes()
		if e.Managed {
			for _, pair := range f.Former() {
				if err := m.recode(e, f, pair[0], pair[1]); err != nil {
					return err
				}
				known = append(known, pair[0])
			}
		}
		if f.Codes == nil || f.Ref != nil {
			continue
		}
		if untaken := f.Untaken(c.Takes); len(untaken) > 0 {
			m.Problem(e, "column %s of table %s takes only %s, and not %s of field %s: say with value: how the column spells each code", f.Column, m.On.Called(e), strings.Join(c.Takes, ", "), strings.Join(untaken, ", "), f.Name)
			continue
		}
		held, err := m.On.Held(e, i, t, known)
		if err != nil {
			return err
		}
		if held := f.Uncovered(held); held != "" {
			m.Problem(e, "column %s of table %s holds what is no code of field %s: %s; say with value: how the column spells each code", f.Column, m.On.Called(e), f.Name, held)
		}
	}
	return nil
}

// recode plans to replace a code's former name in a column by its present one.
func (m *Schema) recode(e *stores.Entity, f *stores.Field, was, now string) error {
	holds, becomes := m.On.Recoded(f, was, now)
	rows, err := m.On.Count("SELECT count(*) FROM " + m.Table(e) + " WHERE " + holds)
	if err != nil || rows == 0 {
		return err
	}
	m.Step("UPDATE %s SET %s = %s WHERE %s", m.Table(e), m.Quote(f.Column), becomes, holds)
	m.DataChanges = append(m.DataChanges, stores.DataChange{Kind: stores.RenameCode, Entity: e.Name, Field: f.Name, From: was, To: now, Rows: rows})
	return nil
}

// verify reports why a table that is not managed cannot hold an entity.
func (m *Schema) verify(e *stores.Entity, t *Table) error {
	called := m.On.Called(e)
	for i := range e.Fields {
		f := &e.Fields[i]
		if i == e.Key && len(e.Parts) > 0 {
			continue // it has no column
		}
		c, ok := t.Columns[m.Fold(f.Column)]
		if ok && !t.View {
			if err := m.On.Drawn(e, i, t, &c); err != nil {
				return err
			}
		}
		if !ok {
			m.Problem(e, "table %s has no column %s, which field %s needs", called, f.Column, f.Name)
		} else if why := m.On.Unfit(e, i, t, &c); why != "" {
			m.Problem(e, "column %s of table %s is declared %s: %s", f.Column, called, orNothing(c.Declared), why)
		}
	}
	if t.View {
		return nil // a view has neither keys nor indexes of its own
	}
	if key := m.Columns(e, e.KeyFields()...); t.There(key...) && !t.Has(key, true) {
		m.Problem(e, "nothing makes (%s) of table %s unique, and it is the key", strings.Join(key, ", "), called)
	}
	for _, f := range m.walked(e) {
		if column := m.Columns(e, f); t.There(column...) && !t.Has(column, false) {
			m.Warn(e, "no index of table %s begins with column %s, by which rows are found for those who may see them: %s", called, column[0], m.On.Helps(e, f))
		}
	}
	return nil
}
