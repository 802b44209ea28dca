package postgres

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"verbatim/stores"
	"verbatim/stores/sqlcore"
)

// The owner of a row is at the end of its scope path, several rows away. Following the path for
// every row that is looked at, and again for its policy, and for the policies of the rows on the
// way, cost more than the reads themselves. So a row of ours keeps the value at the end of its
// path in a column of its own, and the condition of the scope and the policy are one comparison
// each.
//
// PostgreSQL keeps that column correct: together with the first reference of the path it is a
// foreign key to the row referred to and its owner, and is updated when that changes. Two
// concurrent writers cannot make them differ, as they could with a trigger. A trigger only fills
// the column in for writers other than ourselves.
//
// A row keeps its owner if every row on the path is in a table of ours and none of the references
// may be null. Otherwise the policy and the condition follow the path.

// rootColumn is the column with the row's owner. No field can have this column.
const rootColumn = "verbatim_root"

// rooted reports whether rows of an entity keep their owner.
func rooted(e *stores.Entity) bool {
	if len(e.Scope) < 2 || !e.Managed {
		return false
	}
	first := e.Scope[0]
	return e.Fields[first.Field].Required && e.Vouches(first.Field) && tellsOwner(first.To)
}

// tellsOwner reports whether a column of an entity names the owner of each row.
func tellsOwner(e *stores.Entity) bool {
	return rooted(e) || e.Managed && len(e.Scope) == 1 && e.Fields[e.Scope[0].Field].Required
}

// ownerColumn returns that column.
func ownerColumn(e *stores.Entity) string {
	if len(e.Scope) == 1 {
		return e.Fields[e.Scope[0].Field].Column
	}
	return rootColumn
}

// rootName names the foreign key and the function that keep the owner column correct. The name
// holds a digest of the path. If a foreign key of that name exists, the column holds the value at
// the end of this path and no other.
func rootName(e *stores.Entity) string {
	var b strings.Builder
	at := e
	for _, step := range e.Scope {
		f := &at.Fields[step.Field]
		fmt.Fprintf(&b, "%s %s %s;", table(at), quote(f.Column), f.Holds())
		at = step.To
	}
	return fmt.Sprintf("verbatim_root_%x", sha256.Sum256([]byte(b.String())))[:len("verbatim_root_")+12]
}

// roots plans the owner columns and what keeps them correct, and the removal of those that are no
// longer correct. Parents come first: children take their owner from them.
func (m *migration) roots() error {
	sorted := slices.Clone(m.Entities)
	slices.SortStableFunc(sorted, func(a, b *stores.Entity) int { return len(a.Scope) - len(b.Scope) })
	for _, e := range sorted {
		if !e.Managed {
			continue
		}
		t, name := m.tables[e], rootName(e)
		fresh := t == nil
		if fresh {
			t = &tableInfo{Table: &sqlcore.Table{}}
		}
		if t.View || rooted(e) && slices.Equal(t.roots, []string{name}) {
			continue
		}
		if t.There(rootColumn) {
			// It holds the value at the end of another path. Policies that name it are dropped
			// with it; secure makes those that are needed now.
			m.Step("ALTER TABLE %s DROP COLUMN %s CASCADE", table(e), rootColumn)
			for _, old := range t.roots {
				m.Step("DROP FUNCTION IF EXISTS public.%s() CASCADE", quote(old))
			}
			t.policies = slices.DeleteFunc(t.policies, func(p string) bool { return strings.HasPrefix(p, "verbatim_scope_") })
		}
		if !rooted(e) {
			continue
		}
		if err := m.root(e, t, fresh, name); err != nil {
			return err
		}
	}
	return nil
}

// root plans the owner column of one entity.
func (m *migration) root(e *stores.Entity, t *tableInfo, fresh bool, name string) error {
	first := e.Scope[0]
	parent, ref := first.To, quote(e.Fields[first.Field].Column)
	key, owner := quote(parent.Fields[parent.Key].Column), quote(ownerColumn(parent))
	at, field := sqlcore.Ending(e)
	m.Step("ALTER TABLE %s ADD COLUMN %s %s", table(e), rootColumn, declaredAs(at.Fields[field].Holds()))
	if !fresh && t.There(e.Fields[first.Field].Column) && m.tables[parent] != nil {
		lost, err := m.exists("SELECT 1 FROM " + table(e) + " c LEFT JOIN " + table(parent) + " p ON p." + key + " = c." + ref + " WHERE p." + key + " IS NULL LIMIT 1")
		if err != nil {
			return err
		}
		if lost {
			m.Problem(e, "table %s has rows whose %s leads nowhere, so that nobody owns them", e.Table, e.Fields[first.Field].Name)
			return nil
		}
		// A foreign key on one column adds nothing to it.
		schema, its := schemaAndName(e.Table)
		err = m.ask(`SELECT k.conname::text FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class c ON c.oid = k.conrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
	JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND k.conkey = ARRAY[a.attnum]
WHERE n.nspname = $1::text AND c.relname = $2::text AND a.attname = $3::text AND k.contype = 'f' ORDER BY 1`, []any{schema, its, e.Fields[first.Field].Column}, func(r row) error {
			m.Step("ALTER TABLE %s DROP CONSTRAINT %s", table(e), quote(r.str(0)))
			return nil
		})
		if err != nil {
			return err
		}
		m.Step("UPDATE %s AS c SET %s = p.%s FROM %s p WHERE p.%s = c.%s", table(e), rootColumn, owner, table(parent), key, ref)
	}
	m.Step("ALTER TABLE %s ALTER COLUMN %s SET NOT NULL", table(e), rootColumn)
	m.IndexOn(e, t.Table, []string{rootColumn}, false)
	pt := m.begun[parent]
	if there := m.tables[parent]; there != nil {
		pt = there.Table
	}
	if pt != nil {
		m.IndexOn(parent, pt, []string{parent.Fields[parent.Key].Column, ownerColumn(parent)}, true)
	}
	m.Step("ALTER TABLE %s ADD CONSTRAINT %s FOREIGN KEY (%s, %s) REFERENCES %s (%s, %s) ON UPDATE CASCADE", table(e), quote(name), ref, rootColumn, table(parent), key, owner)
	// The function sees only the rows that its caller may see: otherwise it returns null, which
	// the column does not accept.
	if !fresh {
		m.Step("DROP FUNCTION IF EXISTS public.%s() CASCADE", quote(name))
	}
	m.Step(`CREATE FUNCTION public.%s() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS
$$BEGIN NEW.%s := (SELECT p.%s FROM %s p WHERE p.%s = NEW.%s); RETURN NEW; END$$`, quote(name), rootColumn, owner, table(parent), key, ref)
	m.Step("CREATE TRIGGER verbatim_root_new BEFORE INSERT ON %s FOR EACH ROW WHEN (NEW.%s IS NULL) EXECUTE FUNCTION public.%s()", table(e), rootColumn, quote(name))
	m.Step("CREATE TRIGGER verbatim_root_moved BEFORE UPDATE OF %s ON %s FOR EACH ROW WHEN (NEW.%s IS DISTINCT FROM OLD.%s) EXECUTE FUNCTION public.%s()", ref, table(e), ref, ref, quote(name))
	return nil
}
