package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"zombiezen.com/go/sqlite"

	"verbatim/stores"
)

// Tables describes the tables and views of a file, which it only reads: the file need not be a
// store. keep says which; nil keeps all.
func Tables(ctx context.Context, path string, keep func(name string) bool) ([]stores.Table, error) {
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		return nil, errors.Join(err, fs.ErrNotExist)
	}
	db, err := sqlite.OpenConn(path, sqlite.OpenReadOnly)
	if err != nil {
		return nil, fault("open", raise(err))
	}
	defer db.Close()
	db.SetInterrupt(ctx.Done())
	d := &describer{c: &conn{db: db}}
	var names []string
	views := map[string]bool{}
	err = d.ask("SELECT name, type = 'view' FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE 'verbatim\\_%' ESCAPE '\\' ORDER BY name", nil, func(row *sqlite.Stmt) {
		if keep != nil && !keep(row.ColumnText(0)) {
			return
		}
		names = append(names, row.ColumnText(0))
		views[row.ColumnText(0)] = row.ColumnBool(1)
	})
	if err != nil {
		return nil, fault("describe", err)
	}
	tables := make([]stores.Table, len(names))
	for i, name := range names {
		tables[i] = stores.Table{Name: name, View: views[name]}
		if err := d.describe(&tables[i]); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			tables[i].Fault = err.Error()
		}
	}
	d.refer(tables)
	return tables, nil
}

type describer struct{ c *conn }

func (d *describer) ask(sql string, args []stores.Value, fn func(row *sqlite.Stmt)) error {
	st, _, err := d.c.db.PrepareTransient(sql)
	if err != nil {
		return raise(err)
	}
	defer st.Finalize()
	for i, v := range args {
		bind(st, i+1, v)
	}
	for {
		more, err := st.Step()
		if err != nil || !more {
			return raise(err)
		}
		fn(st)
	}
}

func (d *describer) describe(t *stores.Table) error {
	name := []stores.Value{str(t.Name)}
	keys := map[int64]string{}
	err := d.ask(`SELECT name, type, "notnull", dflt_value IS NOT NULL, hidden, pk FROM pragma_table_xinfo(?)`, name, func(row *sqlite.Stmt) {
		if row.ColumnInt64(4) == 1 { // belongs to a virtual table
			return
		}
		t.Columns = append(t.Columns, stores.TableColumn{Name: row.ColumnText(0), Type: row.ColumnText(1), Required: row.ColumnBool(2), Given: row.ColumnBool(3), Computed: row.ColumnInt64(4) > 1})
		if n := row.ColumnInt64(5); n > 0 {
			keys[n] = row.ColumnText(0)
		}
	})
	if err != nil {
		return err
	}
	for n := int64(1); keys[n] != ""; n++ {
		t.Key = append(t.Key, keys[n])
	}
	var create string
	if err := d.ask("SELECT coalesce(sql, '') FROM sqlite_schema WHERE name = ? AND type <> 'trigger'", name, func(row *sqlite.Stmt) { create = row.ColumnText(0) }); err != nil {
		return err
	}
	for _, check := range stores.Checks(create) {
		if column, values, ok := stores.CheckedValues(check); ok {
			for i := range t.Columns {
				if strings.EqualFold(t.Columns[i].Name, column) {
					t.Columns[i].Takes = values
				}
			}
		}
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		if len(t.Key) == 1 && t.Key[0] == c.Name {
			c.Required = true
			c.Numbered = strings.EqualFold(c.Type, "INTEGER") && !t.View
		}
		if slices.Contains(t.Key, c.Name) {
			c.Required = true
		}
		if err := d.column(t, c); err != nil {
			return err
		}
	}
	for _, check := range stores.Checks(create) {
		t.Bounded(check)
	}
	return d.unique(t)
}

// unique looks for columns that identify rows.
func (d *describer) unique(t *stores.Table) error {
	var sets [][]string
	err := d.ask(`SELECT group_concat(i.name, char(0) ORDER BY i.seqno) FROM pragma_index_list(?) l, pragma_index_info(l.name) i WHERE l."unique" AND NOT l.partial GROUP BY l.name ORDER BY l.seq`, []stores.Value{str(t.Name)}, func(row *sqlite.Stmt) {
		sets = append(sets, strings.Split(row.ColumnText(0), "\x00"))
	})
	for _, set := range sets {
		t.Tells(set)
		if !slices.Equal(set, t.Key) {
			t.Unique = append(t.Unique, set)
		}
	}
	if !t.View || len(t.Key) > 0 || err != nil {
		return err
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Kind != stores.Int && c.Kind != stores.String && c.Kind != stores.UUID {
			continue
		}
		alone := false
		err := d.ask("SELECT count(*) > 0 AND count(*) = count(DISTINCT "+quote(c.Name)+") FROM (SELECT "+quote(c.Name)+" FROM main."+quote(t.Name)+" LIMIT 10001)", nil, func(row *sqlite.Stmt) { alone = row.ColumnBool(0) })
		if err != nil {
			return err
		}
		if alone {
			t.Key = []string{c.Name}
			return nil
		}
	}
	return nil
}

// column determines which kind of field can hold a column, by its declared type and by the first
// thousand of its values.
func (d *describer) column(t *stores.Table, c *stores.TableColumn) error {
	declared := strings.ToUpper(c.Type)
	col := quote(c.Name)
	types := map[string]bool{}
	var texts []string
	err := d.ask("SELECT DISTINCT typeof(v), CASE typeof(v) WHEN 'text' THEN substr(v, 1, 100) END FROM (SELECT "+col+" AS v FROM main."+quote(t.Name)+" WHERE "+col+" IS NOT NULL LIMIT 1000)", nil, func(row *sqlite.Stmt) {
		types[row.ColumnText(0)] = true
		if row.ColumnText(0) == "text" {
			texts = append(texts, row.ColumnText(1))
		}
	})
	if err != nil {
		return err
	}
	only := func(kinds ...string) bool {
		for k := range types {
			if !slices.Contains(kinds, k) {
				return false
			}
		}
		return true
	}
	base, size := declared, []int(nil)
	if i := strings.IndexByte(declared, '('); i >= 0 {
		base = strings.TrimSpace(declared[:i])
		for _, n := range strings.Split(strings.TrimRight(declared[i+1:], ") "), ",") {
			v, _ := strconv.Atoi(strings.TrimSpace(n))
			size = append(size, v)
		}
	}
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(base, p) })
	}
	switch {
	case strings.HasPrefix(base, "BOOL"):
		c.Kind = stores.Bool
	case has("DATE", "TIME"):
		if kind, form, ok := stores.FormOf(texts); ok && only("text") {
			c.Kind, c.Form = kind, form
		} else if only("integer") && len(types) > 0 {
			c.Why = "it counts seconds or days, and no field holds that as a date"
		} else if c.Kind = stores.Time; len(types) == 0 && base == "DATE" {
			c.Kind = stores.Date
		} else if len(types) == 0 {
			c.Form = "YYYY-MM-DD hh:mm:ss" // as CURRENT_TIMESTAMP writes it
		} else if !only("text") || slices.ContainsFunc(texts, func(s string) bool { _, ok := readTime(s); return !ok }) {
			c.Why = "it holds dates in several forms, or something else"
		}
		if c.Kind == stores.Date && c.Form == "YYYY-MM-DD" {
			c.Form = ""
		}
	case has("INT"):
		if c.Kind = stores.Int; !only("integer") {
			c.Why = "it holds other things than whole numbers"
		}
	case has("CHAR", "CLOB", "TEXT"):
		c.Kind = stores.String
		if len(size) == 1 {
			c.Length = size[0]
		}
	case has("DEC", "NUM", "MONEY", "REAL", "FLOA", "DOUB"):
		if c.Kind, c.Places = stores.Decimal, 2; len(size) == 2 {
			c.Places = max(1, size[1])
		}
		exact := false
		for ; !exact && c.Places <= 6; c.Places++ {
			n := strconv.Itoa(c.Places)
			exact = only("integer", "real")
			err := d.ask("SELECT 1 FROM main."+quote(t.Name)+" WHERE typeof("+col+") = 'real' AND CAST(printf('%."+n+"f', "+col+") AS REAL) <> "+col+" LIMIT 1", nil, func(*sqlite.Stmt) { exact = false })
			if err != nil {
				return err
			}
		}
		if c.Places--; !exact {
			c.Why = "it holds binary fractions that are exact to no number of digits"
		}
	case base == "JSON":
		c.Kind = stores.JSON
	case base == "UUID":
		c.Kind = stores.UUID
	case base == "" && only("text") && len(types) > 0:
		c.Kind = stores.String
	case base == "" && only("integer") && len(types) > 0:
		c.Kind = stores.Int
	case has("BLOB"), base == "":
		c.Why = "it holds bytes"
	default:
		c.Why = "its type " + c.Type + " is not known"
	}
	if c.Kind == stores.String && !only("text") {
		c.Why = "it holds other things than text"
	}
	if c.Why == "" && c.Kind != stores.Null && c.Form == "" && !t.View {
		c.Why = unfit(c.Kind, declared, c.Places)
	}
	if c.Why != "" {
		c.Kind, c.Form = stores.Null, ""
	}
	if c.Kind == stores.String && c.Takes == nil && len(texts) > 0 && len(texts) <= stores.MaxFew {
		return d.ask("SELECT v, count(*) FROM (SELECT "+col+" AS v FROM main."+quote(t.Name)+" WHERE "+col+" IS NOT NULL LIMIT 5000) GROUP BY 1 ORDER BY 2 DESC LIMIT "+fmt.Sprint(stores.MaxFew+1), nil, func(row *sqlite.Stmt) {
			c.Few = append(c.Few, stores.Held{Value: row.ColumnText(0), Rows: row.ColumnInt64(1)})
		})
	}
	return nil
}

// refer reads the foreign keys. One that names no columns of the other table refers to its key.
func (d *describer) refer(tables []stores.Table) {
	for i := range tables {
		t := &tables[i]
		if t.View || t.Fault != "" {
			continue
		}
		var all []stores.ForeignKey
		last := int64(-1)
		_ = d.ask(`SELECT id, "table", "from", coalesce("to", '') FROM pragma_foreign_key_list(?) ORDER BY id, seq`, []stores.Value{str(t.Name)}, func(row *sqlite.Stmt) {
			if id := row.ColumnInt64(0); id != last {
				all, last = append(all, stores.ForeignKey{Table: row.ColumnText(1)}), id
			}
			f := &all[len(all)-1]
			f.Columns = append(f.Columns, row.ColumnText(2))
			if to := row.ColumnText(3); to != "" {
				f.To = append(f.To, to)
			}
		})
		for j := range all {
			f := &all[j]
			at := slices.IndexFunc(tables, func(o stores.Table) bool { return strings.EqualFold(o.Name, f.Table) })
			if at < 0 {
				continue
			}
			f.Table = tables[at].Name
			if len(f.To) == 0 {
				f.To = tables[at].Key
			}
			if len(f.Columns) == 1 && len(f.To) == 1 {
				_ = d.ask("SELECT 1 FROM main."+quote(t.Name)+" a WHERE a."+quote(f.Columns[0])+" IS NOT NULL AND NOT EXISTS (SELECT 1 FROM main."+quote(f.Table)+" b WHERE b."+quote(f.To[0])+" = a."+quote(f.Columns[0])+") LIMIT 1", nil,
					func(*sqlite.Stmt) { f.Dangling = true })
			}
		}
		t.Foreign = all
	}
}
