package postgres

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"verbatim/stores"
	"verbatim/stores/sqlcore"
)

// sampleRows is how many rows of a table the steps of a plan are timed on.
const sampleRows = 20_000

// sampled is the table with these rows, which is rolled back.
const sampled = `"public"."verbatim_sample"`

// A stepKind is a form of statements that plans have, with the lock that PostgreSQL takes on the table.
type stepKind struct {
	form *regexp.Regexp // its first group is the table
	lock string
	// reads says that the statement reads or writes each row of the table; it is timed then.
	reads bool
}

// The locks, from the weakest to the strongest. Each is held until the migration has ended.
var lockNames = []string{"", "ROW EXCLUSIVE", "SHARE", "SHARE ROW EXCLUSIVE", "ACCESS EXCLUSIVE"}

// stepKinds are looked through in this order.
var stepKinds = sync.OnceValue(func() []stepKind {
	const table = `((?:"[^"]+"|\w+)\.(?:"[^"]+"|\w+))`
	kind := func(form, lock string, reads bool) stepKind {
		return stepKind{regexp.MustCompile(`(?s)^` + strings.ReplaceAll(form, "TABLE_NAME", table)), lock, reads}
	}
	return []stepKind{
		kind(`UPDATE TABLE_NAME`, "ROW EXCLUSIVE", true),
		kind(`(?:INSERT INTO|DELETE FROM) TABLE_NAME`, "ROW EXCLUSIVE", false),
		kind(`CREATE (?:UNIQUE )?INDEX \S+ ON TABLE_NAME`, "SHARE", true),
		kind(`CREATE TRIGGER .*? ON TABLE_NAME`, "SHARE ROW EXCLUSIVE", false),
		kind(`ALTER TABLE TABLE_NAME ADD (?:CONSTRAINT \S+ )?FOREIGN KEY`, "SHARE ROW EXCLUSIVE", true),
		kind(`ALTER TABLE TABLE_NAME (?:ENABLE|DISABLE) TRIGGER`, "SHARE ROW EXCLUSIVE", false),
		kind(`ALTER TABLE TABLE_NAME (?:ADD COLUMN .*(?:GENERATED|IDENTITY)|ALTER COLUMN \S+ (?:SET NOT NULL|TYPE)|ADD CONSTRAINT|ADD CHECK|ADD UNIQUE|ATTACH)`, "ACCESS EXCLUSIVE", true),
		kind(`ALTER TABLE TABLE_NAME`, "ACCESS EXCLUSIVE", false),
		kind(`(?:CREATE|DROP|ALTER) POLICY .*? ON TABLE_NAME`, "ACCESS EXCLUSIVE", false),
	}
})

// lockedBy returns the existing table that a step locks, how, and whether it goes through its rows; "" for none.
func lockedBy(step string) (table, lock string, reads bool) {
	for _, k := range stepKinds() {
		if m := k.form.FindStringSubmatch(step); m != nil {
			return m[1], k.lock, k.reads
		}
	}
	return "", "", false
}

// costs says what the steps of a plan lock, and how long they take: it tries them on rows of each table in a
// copy of these, which is rolled back.
func (m *migration) costs() error {
	byTable := map[string]*stores.Cost{}
	steps := map[string][]string{}
	for _, step := range m.Steps {
		table, lock, reads := lockedBy(step)
		schema, name := schemaAndName(strings.ReplaceAll(table, `"`, ""))
		key := schema + "." + name
		c := byTable[key]
		if table == "" || c == nil && !m.indexes[schema][name] {
			continue
		}
		if c == nil {
			if there, err := m.exists("SELECT WHERE pg_catalog.to_regclass($1::text) IS NOT NULL", quote(schema)+"."+quote(name)); err != nil {
				return err
			} else if !there { // it is planned
				continue
			}
			c = &stores.Cost{Table: key}
			byTable[key] = c
			m.Costs = append(m.Costs, stores.Cost{Table: key}) // in the order of the steps
		}
		if slices.Index(lockNames, lock) > slices.Index(lockNames, c.Lock) {
			c.Lock = lock
		}
		c.Steps++
		c.Reads = c.Reads || reads
		steps[key] = append(steps[key], strings.Replace(step, table, sampled, 1))
	}
	for _, c := range byTable {
		if c.Reads && !m.writes {
			m.Costs = nil
			return sqlcore.ErrWrites
		}
	}
	for i := range m.Costs {
		c := byTable[m.Costs[i].Table]
		if err := m.cost(c, steps[c.Table]); err != nil {
			return err
		}
		m.Costs[i] = *c
	}
	return nil
}

// indexName is replaced, since an index is in the schema of its table.
var indexName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(CREATE (?:UNIQUE )?INDEX )\S+`) })

// cost counts the rows of a table, and times its steps on some of them.
func (m *migration) cost(c *stores.Cost, steps []string) error {
	schema, name := schemaAndName(c.Table)
	of := quote(schema) + "." + quote(name)
	pages := int64(0)
	err := m.ask("SELECT GREATEST(reltuples, 0)::bigint, pg_catalog.pg_relation_size(oid) / 8192 FROM pg_catalog.pg_class WHERE oid = pg_catalog.to_regclass($1::text)", []any{of}, func(r row) error {
		c.Rows, pages = r.num(0), r.num(1)
		return nil
	})
	if err == nil && pages <= 1000 { // so few are counted
		err = m.ask("SELECT count(*) FROM "+of, nil, func(r row) error {
			c.Rows = r.num(0)
			return nil
		})
	}
	if err != nil || !c.Reads {
		return err
	}
	run := func(sql string) error { return m.c.plain(m.ctx, "migrate", sql) }
	if err := run("SAVEPOINT verbatim_cost; CREATE TABLE " + sampled + " AS SELECT * FROM " + of + " LIMIT " + strconv.Itoa(sampleRows)); err != nil {
		return err
	}
	if err := m.ask("SELECT count(*) FROM "+sampled, nil, func(r row) error {
		c.Sample = r.num(0)
		return nil
	}); err != nil {
		return err
	}
	for _, step := range steps {
		_, _, reads := lockedBy(step)
		if err := run("SAVEPOINT verbatim_step"); err != nil {
			return err
		}
		began := time.Now()
		if err := run(indexName().ReplaceAllString(step, "${1}verbatim_sample_index")); err != nil {
			// A policy may need what the copy has not. What goes through rows counts as not timed.
			if reads {
				c.Untimed++
			}
			if err := run("ROLLBACK TO SAVEPOINT verbatim_step"); err != nil {
				return err
			}
		} else if reads {
			c.Took += time.Since(began)
			if strings.HasPrefix(step, "CREATE ") { // another may have the name
				if err := run("DROP INDEX IF EXISTS public.verbatim_sample_index"); err != nil {
					return err
				}
			}
		}
	}
	if c.Sample > 0 {
		c.Took = time.Duration(float64(c.Took) * float64(max(c.Rows, c.Sample)) / float64(c.Sample))
	}
	return run("ROLLBACK TO SAVEPOINT verbatim_cost; RELEASE SAVEPOINT verbatim_cost")
}
