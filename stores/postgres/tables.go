package postgres

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"verbatim/stores"
)

// Tables describes the tables and views of a database that a role may read. It only
// reads, and the database need not be a store. keep says which; nil keeps all.
func Tables(ctx context.Context, url string, keep func(name string) bool) ([]stores.Table, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fault(ctx, "open", err)
	}
	config.RuntimeParams["default_transaction_read_only"] = "on"
	config.RuntimeParams["search_path"] = "public"
	config.RuntimeParams["statement_timeout"] = "30000"
	pc, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, fault(ctx, "open", err)
	}
	defer leave(ctx, pc)
	d := &describer{pc, ctx}
	var tables []stores.Table
	err = d.ask(`SELECT n.nspname::text, c.relname::text, c.relkind IN ('v', 'm'), COALESCE(pg_catalog.obj_description(c.oid, 'pg_class'), '') FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition AND n.nspname NOT IN ('information_schema', '`+riverSchema+`', 'verbatim') AND NOT n.nspname ^@ 'pg_' AND NOT c.relname ^@ 'verbatim_'
ORDER BY 1, 2`, nil, func(r row) {
		if keep == nil || keep(r.str(0)+"."+r.str(1)) {
			tables = append(tables, stores.Table{Name: usual(r.str(0), r.str(1)), View: r.yes(2), Comment: r.str(3)})
		}
	})
	if err != nil {
		return nil, fault(ctx, "describe", err)
	}
	each := func(describe func(t *stores.Table) error) {
		for i := range tables {
			if t := &tables[i]; t.Fault == "" && ctx.Err() == nil {
				if err := describe(t); err != nil {
					var said *pgconn.PgError
					if t.Fault = plainCause(err).Error(); errors.As(err, &said) {
						t.Fault = said.Message
					}
				}
			}
		}
	}
	each(d.describe)
	each(func(t *stores.Table) error { return d.view(t, tables) })
	return tables, ctx.Err()
}

// view finds what the columns of a view refer to, and which of them identify its rows, from the
// tables that they are taken from under their own names.
func (d *describer) view(t *stores.Table, tables []stores.Table) error {
	if !t.View {
		return nil
	}
	schema, name := schemaAndName(t.Name)
	taken := map[string][]string{} // table -> columns
	err := d.ask(`SELECT DISTINCT sn.nspname::text, s.relname::text, a.attname::text FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_rewrite w ON w.ev_class = c.oid JOIN pg_catalog.pg_depend p ON p.classid = 'pg_catalog.pg_rewrite'::regclass AND p.objid = w.oid AND p.refclassid = 'pg_catalog.pg_class'::regclass AND p.refobjid <> c.oid
JOIN pg_catalog.pg_class s ON s.oid = p.refobjid JOIN pg_catalog.pg_namespace sn ON sn.oid = s.relnamespace
JOIN pg_catalog.pg_attribute o ON o.attrelid = s.oid AND o.attnum = p.refobjsubid JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attname = o.attname AND a.atttypid = o.atttypid
WHERE n.nspname = $1::text AND c.relname = $2::text ORDER BY 1, 2, 3`, []any{schema, name}, func(r row) {
		from := usual(r.str(0), r.str(1))
		taken[from] = append(taken[from], r.str(2))
	})
	if err != nil {
		return err
	}
	var keys [][]string
	for i := range tables {
		from := &tables[i]
		has := func(c string) bool { return slices.Contains(taken[from.Name], c) }
		for _, fk := range from.Foreign {
			if len(fk.Columns) == 1 && has(fk.Columns[0]) {
				t.Foreign = append(t.Foreign, fk)
			}
		}
		if len(from.Key) == 0 || slices.ContainsFunc(from.Key, func(c string) bool { return !has(c) }) {
			continue
		}
		if keys = append(keys, from.Key); len(from.Key) == 1 {
			t.Foreign = append(t.Foreign, stores.ForeignKey{Columns: from.Key, Table: from.Name, To: from.Key})
		}
	}
	all := slices.Clone(t.Foreign)
	t.Foreign = slices.DeleteFunc(t.Foreign, func(f stores.ForeignKey) bool { // for an id, either table may be meant
		return slices.ContainsFunc(all, func(o stores.ForeignKey) bool { return o.Columns[0] == f.Columns[0] && o.Table != f.Table })
	})
	// The longer key distinguishes more rows.
	slices.SortStableFunc(keys, func(a, b []string) int { return len(b) - len(a) })
	for _, c := range t.Columns {
		if c.Kind == stores.Int || c.Kind == stores.String || c.Kind == stores.UUID {
			keys = append(keys, []string{c.Name})
		}
	}
	for _, key := range keys {
		var quoted []string
		for _, c := range key {
			quoted = append(quoted, quote(c))
		}
		of := strings.Join(quoted, ", ")
		err := d.ask("SELECT count(*) > 0 AND count(*) = count(DISTINCT ("+of+")) AND count(*) = count(*) FILTER (WHERE ("+of+") IS NOT NULL) FROM (SELECT "+of+" FROM "+quote(schema)+"."+quote(name)+" LIMIT 10001) s", nil, func(r row) {
			if r.yes(0) {
				t.Key = key
			}
		})
		if err != nil || len(t.Key) > 0 {
			return err
		}
	}
	return nil
}

// usual returns the name of a table, without its schema if that is public.
func usual(schema, name string) string {
	if schema == "public" {
		return name
	}
	return schema + "." + name
}

type describer struct {
	pc  *pgx.Conn
	ctx context.Context
}

func (d *describer) ask(sql string, args []any, fn func(r row)) error {
	res, err := d.pc.Query(d.ctx, sql, args...)
	if err != nil {
		return err
	}
	defer res.Close()
	for res.Next() {
		fn(row{raw: res.RawValues(), fields: res.FieldDescriptions()})
	}
	return res.Err()
}

func (d *describer) describe(t *stores.Table) error {
	schema, name := schemaAndName(t.Name)
	args := []any{schema, name}
	from := " FROM " + quote(schema) + "." + quote(name)
	err := d.ask(theColumns, args, func(r row) { t.Columns = append(t.Columns, described(readDeclaration(r))) })
	if err != nil {
		return err
	}
	const of = " FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
	const is = " WHERE n.nspname = $1::text AND c.relname = $2::text "
	column := func(name string) *stores.TableColumn {
		for i := range t.Columns {
			if t.Columns[i].Name == name {
				return &t.Columns[i]
			}
		}
		return &stores.TableColumn{}
	}
	err = d.ask("SELECT a.attname::text, pg_catalog.col_description(c.oid, a.attnum)"+of+"JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0"+is+"AND pg_catalog.col_description(c.oid, a.attnum) IS NOT NULL", args, func(r row) {
		column(r.str(0)).Comment = r.str(1)
	})
	if err != nil {
		return err
	}
	err = d.ask("SELECT pg_catalog.pg_get_expr(k.conbin, k.conrelid)"+of+"JOIN pg_catalog.pg_constraint k ON k.conrelid = c.oid"+is+"AND k.contype = 'c'", args, func(r row) {
		if name, values, ok := stores.CheckedValues(r.str(0)); ok && column(name).Takes == nil {
			column(name).Takes = values
		}
		t.Bounded(r.str(0))
	})
	if err != nil {
		return err
	}
	err = d.ask(`SELECT pg_catalog.array_to_string(ARRAY(SELECT COALESCE(a.attname::text, '') FROM pg_catalog.unnest(i.indkey::int2[]) WITH ORDINALITY k(num, pos)
	LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.num AND k.num > 0 WHERE k.pos <= i.indnkeyatts ORDER BY k.pos), E'\x01')`+
		of+"JOIN pg_catalog.pg_index i ON i.indrelid = c.oid"+is+"AND i.indisunique AND i.indimmediate AND i.indpred IS NULL AND i.indisvalid ORDER BY i.indisprimary DESC, i.indexrelid", args, func(r row) {
		set := strings.Split(r.str(0), "\x01")
		if t.Tells(set); !slices.Equal(set, t.Key) && !slices.Contains(set, "") {
			t.Unique = append(t.Unique, set)
		}
	})
	if err != nil {
		return err
	}
	names := func(key string) string {
		return `pg_catalog.array_to_string(ARRAY(SELECT a.attname::text FROM pg_catalog.unnest(k.` + key + `) WITH ORDINALITY u(num, pos) JOIN pg_catalog.pg_attribute a ON a.attnum = u.num AND a.attrelid = k.` + map[string]string{"conkey": "conrelid", "confkey": "confrelid"}[key] + ` ORDER BY u.pos), E'\x01')`
	}
	err = d.ask("SELECT "+names("conkey")+", fn.nspname::text, f.relname::text, "+names("confkey")+of+
		"JOIN pg_catalog.pg_constraint k ON k.conrelid = c.oid JOIN pg_catalog.pg_class f ON f.oid = k.confrelid JOIN pg_catalog.pg_namespace fn ON fn.oid = f.relnamespace"+is+"AND k.contype = 'f' ORDER BY k.conname", args, func(r row) {
		t.Foreign = append(t.Foreign, stores.ForeignKey{Columns: strings.Split(r.str(0), "\x01"), Table: usual(r.str(1), r.str(2)), To: strings.Split(r.str(3), "\x01")})
	})
	if err != nil {
		return err
	}
	for i := range t.Foreign {
		f := &t.Foreign[i]
		to, other := schemaAndName(f.Table)
		if len(f.Columns) == 1 && len(f.To) == 1 {
			// A constraint that is not validated allows such rows.
			_ = d.ask("SELECT 1"+from+" a WHERE a."+quote(f.Columns[0])+" IS NOT NULL AND NOT EXISTS (SELECT 1 FROM "+quote(to)+"."+quote(other)+" b WHERE b."+quote(f.To[0])+" = a."+quote(f.Columns[0])+") LIMIT 1", nil, func(row) { f.Dangling = true })
		}
	}
	if err := d.ask("SELECT 1"+from+" LIMIT 0", nil, func(row) {}); err != nil {
		return err // the role may not read it, also where no column is looked into
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Kind != stores.String || c.Takes != nil {
			continue
		}
		err := d.ask("SELECT v::text, count(*) FROM (SELECT "+quote(c.Name)+" AS v"+from+" WHERE "+quote(c.Name)+" IS NOT NULL LIMIT 5000) s GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT "+strconv.Itoa(stores.MaxFew+1), nil, func(r row) {
			c.Few = append(c.Few, stores.Held{Value: r.str(0), Rows: r.num(1)})
		})
		if err != nil {
			return err
		}
		if len(c.Few) > stores.MaxFew {
			c.Few = nil
		}
	}
	return nil
}

// sizeOf returns the numbers in parentheses after a type.
func sizeOf(full string) []string {
	return strings.Split(strings.TrimRight(full[strings.IndexByte(full, '(')+1:], ")"), ",")
}

// lengthOf returns how many characters a text type holds, 0 if it is not limited.
func lengthOf(full string) int {
	n, _ := strconv.Atoi(sizeOf(full)[0])
	return n
}

// described returns the description of a column, with the kind of field that can hold it.
func described(d declaration) stores.TableColumn {
	c := stores.TableColumn{Name: d.name, Type: d.Declared, Required: d.NotNull, Given: d.Gives != "" && !d.Computed, Numbered: strings.Contains(d.Gives, "nextval("), Computed: d.Computed, Takes: d.Takes}
	c.Kind = map[string]stores.Kind{
		"int2": stores.Int, "int4": stores.Int, "int8": stores.Int, "bool": stores.Bool, "numeric": stores.Decimal, "date": stores.Date, "timestamp": stores.Time, "timestamptz": stores.Time,
		"uuid": stores.UUID, "json": stores.JSON, "jsonb": stores.JSON, "interval": stores.Duration, "text": stores.String, "varchar": stores.String, "bpchar": stores.String, "name": stores.String, "citext": stores.String,
	}[d.base]
	switch {
	case d.class == "e":
		c.Kind, c.Enum = stores.String, d.typ
	case d.category == "A" && arrayElements[d.element]:
		c.Kind = stores.JSON
		c.Elem = map[string]stores.Kind{"uuid": stores.UUID, "int2": stores.Int, "int4": stores.Int, "int8": stores.Int, "numeric": stores.Decimal, "bool": stores.Bool, "date": stores.Date}[d.element]
		if c.Elem == stores.Null {
			c.Elem = stores.String
		}
	}
	if c.Kind == stores.String {
		c.Length = lengthOf(d.Declared)
	}
	if size := sizeOf(d.Declared); len(size) == 2 && c.Kind == stores.Decimal {
		c.Places, _ = strconv.Atoi(size[1])
	}
	if c.Kind == stores.Null {
		c.Why = "its type " + d.Declared + " is not one that a field holds"
		if d.base == "float4" || d.base == "float8" || d.base == "money" {
			c.Why = "its type " + d.Declared + " is not exact"
		}
	} else if _, err := d.form(c.Kind, false); err != nil {
		c.Kind, c.Why = stores.Null, err.Error()
	}
	return c
}
