package postgres

import (
	"fmt"
	"slices"
	"strings"

	"verbatim/stores"
)

// Authors' queries run as a role of their own, if the server has one: its name is that of the
// application's role followed by queriesAs, and the application's role is a member of it. The
// role may read the columns that a query can be given and nothing else: no sensitive column, no
// table of ours except those of entities, no writes. Migrate grants it these rights, and revokes
// any others.
const queriesAs = "_queries"

// asks lists the columns of an entity that a query needs: the columns that it may name, and the
// column that names the owner. The scopes of some entities lead through it.
func asks(e *stores.Entity, named bool, scopes []*stores.Entity) []string {
	var fields []int
	for i := range e.Fields {
		if named && !e.Fields[i].Sensitive && (i != e.Key || len(e.Parts) == 0) {
			fields = append(fields, i)
		}
	}
	fields = append(append(fields, e.KeyFields()...), e.Visible...)
	for _, from := range scopes {
		at := from
		for _, step := range from.Scope {
			if at == e {
				fields = append(fields, step.Field)
			}
			at = step.To
		}
	}
	slices.Sort(fields)
	columns := make([]string, 0, len(fields)+1)
	for _, i := range slices.Compact(fields) {
		columns = append(columns, e.Fields[i].Column)
	}
	if rooted(e) {
		columns = append(columns, rootColumn)
	}
	return columns
}

// columnList writes a list of columns for SQL.
func columnList(columns []string) string {
	all := make([]string, len(columns))
	for i, c := range columns {
		all[i] = quote(c)
	}
	return strings.Join(all, ", ")
}

// askers plans the rights of the role that queries run as.
func (m *migration) askers() error {
	if m.role == "" || len(m.Problems) > 0 || m.itself && len(m.Steps) > 0 {
		return nil // the rights can be planned only when the tables are as they should be
	}
	asker, member := "", false
	err := m.ask("SELECT q.rolname::text, pg_catalog.pg_has_role(r.oid, q.oid, 'MEMBER') FROM pg_catalog.pg_roles r, pg_catalog.pg_roles q WHERE r.rolname = $1::text AND q.rolname = $1::text || $2::text",
		[]any{m.role, queriesAs}, func(r row) error {
			asker, member = r.str(0), r.yes(1)
			return nil
		})
	if err != nil || asker == "" {
		return err
	}
	if !member {
		m.give(fmt.Sprintf("GRANT %s TO %s", quote(asker), quote(m.role)), false)
	}
	spoken := stores.Spoken(m.Entities)
	var all []*stores.Entity
	for _, e := range spoken {
		for _, at := range append([]*stores.Entity{e}, tos(e)...) {
			if !slices.Contains(all, at) {
				all = append(all, at)
			}
		}
	}
	for _, e := range all {
		if m.tables[e] == nil && !slices.Contains(m.Entities, e) {
			continue // the role that migrates it grants it
		}
		named := slices.Contains(spoken, e)
		if err := m.asker(asker, e, named, asks(e, named, spoken)); err != nil {
			return err
		}
	}
	return nil
}

// asker plans the rights, on one table, of the role that queries run as. A table that queries do
// not name may have been granted for other palettes.
func (m *migration) asker(role string, e *stores.Entity, named bool, columns []string) error {
	schema, name := schemaAndName(e.Table)
	uses, ownsSchema, owns := false, true, true
	lacks, more := columns, false
	if m.schemas[schema] {
		err := m.ask("SELECT pg_catalog.has_schema_privilege($2::text, n.oid, 'USAGE'), pg_catalog.pg_has_role(n.nspowner, 'USAGE') FROM pg_catalog.pg_namespace n WHERE n.nspname = $1::text", []any{schema, role}, func(r row) error {
			uses, ownsSchema = r.yes(0), r.yes(1)
			return nil
		})
		if err != nil {
			return err
		}
	}
	if m.tables[e] != nil {
		lacks = slices.Clone(columns)
		err := m.ask(`SELECT a.attname::text, pg_catalog.has_column_privilege($3::text, c.oid, a.attnum, 'SELECT'), pg_catalog.pg_has_role(c.relowner, 'USAGE'),
	EXISTS (SELECT 1 FROM pg_catalog.aclexplode(c.relacl) x JOIN pg_catalog.pg_roles q ON q.oid = x.grantee WHERE q.rolname = $3::text AND x.privilege_type = 'SELECT')
	OR EXISTS (SELECT 1 FROM pg_catalog.aclexplode(a.attacl) x JOIN pg_catalog.pg_roles q ON q.oid = x.grantee WHERE q.rolname = $3::text AND x.privilege_type = 'SELECT')
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE n.nspname = $1::text AND c.relname = $2::text ORDER BY a.attnum`, []any{schema, name, role}, func(r row) error {
			column, reads, wants := r.str(0), r.yes(1), slices.Contains(columns, r.str(0))
			owns = r.yes(2)
			switch {
			case wants && reads:
				lacks = slices.DeleteFunc(lacks, func(c string) bool { return c == column })
			case wants, !reads, !named, column == rootColumn:
			case r.yes(3):
				more = true
			default:
				m.Warn(e, "every role may read column %s of table %s, and the queries of palettes are not to: REVOKE SELECT ON %s FROM PUBLIC", column, e.Table, table(e))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if more {
		m.give(fmt.Sprintf("REVOKE SELECT ON %s FROM %s", table(e), quote(role)), owns)
		lacks = columns
	}
	if !uses {
		m.give(fmt.Sprintf("GRANT USAGE ON SCHEMA %s TO %s", quote(schema), quote(role)), ownsSchema)
	}
	if len(lacks) > 0 {
		m.give(fmt.Sprintf("GRANT SELECT (%s) ON %s TO %s", columnList(lacks), table(e), quote(role)), owns)
	}
	return nil
}
