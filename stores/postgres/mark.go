package postgres

import (
	"context"
	"encoding/json"
	"slices"

	"verbatim/stores"
	"verbatim/stores/sqlcore"
)

// The marks of a row are an object from column to origin. A row of ours keeps it itself, in a
// column that is null without marks.
//
// Tables of others have no such column: marks of their rows stand in a table of ours. Most
// tables have none there, and looking for the marks of every row costs more than reading the
// rows. So a statement first assumes that these tables have no marks, and asks in the same
// statement whether that is true. If it is not, the statement is run again with the marks, and
// so are all later ones.

// markColumn is what a row keeps. No field can have this column.
const markColumn = "verbatim_origins"

const marksObject = `(SELECT json_object_agg(o.column_name, o.origin)::text FROM public.verbatim_origin o WHERE o.table_name = `

// trusts reports whether a statement assumes that a table has no marks, and notes the table.
func (v *view) trusts(t *text, e *stores.Entity) bool {
	if v.hasMarks(e.Table) {
		return false
	}
	if !slices.Contains(t.Own.trusted, e.Table) {
		t.Own.trusted = append(t.Own.trusted, e.Table)
	}
	return true
}

// doubts adds a column that tells whether a table that the statement trusts has marks. It
// reports false if the statement trusts none.
func doubts(t *text) bool {
	if len(t.Own.trusted) == 0 {
		return false
	}
	tables := make([]any, len(t.Own.trusted))
	for i, name := range t.Own.trusted {
		tables[i] = name
	}
	t.Add(",EXISTS (SELECT 1 FROM public.verbatim_origin WHERE table_name = ANY (").Arg(arrayOf(tables), "::text[]").Add("))")
	return true
}

// hasMarks reports whether a table is known to have marks.
func (v *view) hasMarks(table string) bool {
	if v.marked == nil {
		return true
	}
	_, known := v.marked.Load(table)
	return known
}

// mistrust notes that some of these tables have marks.
func (v *view) mistrust(tables []string) {
	for _, name := range tables {
		v.marked.Store(name, true)
	}
}

// waited tests whether the row t was locked only after somebody else had changed it: then the
// statement shows the row as they left it, and other tables as they were before. Their change may
// have brought marks, which are then read again.
//
// The row's transaction number is extended to 64 bits from the latest one; if that is wrong,
// because the row is very old, the marks are read again unnecessarily.
const waited = `(NOT pg_visible_in_snapshot(((pg_snapshot_xmax(pg_current_snapshot())::text::bigint & -4294967296) | t.xmin::text::bigint)::text::xid8, pg_current_snapshot())
	AND t.xmin <> COALESCE(pg_current_xact_id_if_assigned()::xid, '0'::xid))`

// marksOf writes the marks of the row with an alias.
func (v *view) marksOf(t *text, e *stores.Entity, alias string) {
	if v.shapes[e].marked {
		t.Add(alias, ".", markColumn, "::text")
		return
	}
	if v.trusts(t, e) {
		t.Add("NULL::text")
		return
	}
	t.Add("CASE WHEN EXISTS (SELECT 1 FROM public.verbatim_origin WHERE table_name = ").Arg(e.Table, "::text")
	t.Add(") THEN ", marksObject).Arg(e.Table, "::text")
	t.Add(" AND o.row_key = ", v.Datum(e, alias, e.Key), "::text) END")
}

// marksOfRow writes the marks of the row with a key: its text, or a slot for it.
func marksOfRow(t *text, e *stores.Entity, key any) {
	t.Add(marksObject).Arg(e.Table, "::text")
	t.Add(" AND o.row_key = ").Arg(key, "::text")
	t.Add(")")
}

// marks decodes a column with marks.
func (r row) marks(i int, e *stores.Entity) ([]stores.Mark, error) {
	if r.raw[i] == nil {
		return nil, nil
	}
	return stores.ReadMarks(e, stores.NewString(r.str(i)))
}

// marksNow reads the present marks of a locked row.
func (r *reader) marksNow(ctx context.Context, e *stores.Entity, key stores.Value) (found []stores.Mark, err error) {
	t := newText().Add("SELECT ")
	marksOfRow(t, e, key.Text())
	err = r.c.do(ctx, opOf(t, "marks", func(raw row) (err error) {
		found, err = raw.marks(0, e)
		return err
	}))
	return found, err
}

// origins makes the statement that adds to found the origins with which rows of entities are
// marked, within the scope. Others may add or remove marks while a query runs; a caller who reads
// them before the query and after it misses none.
func (r *reader) origins(entities []*stores.Entity, found *[]string) op {
	t := newText()
	for i, e := range entities {
		if i > 0 {
			t.Add(" UNION ")
		}
		if r.shapes[e].marked {
			t.Add("SELECT DISTINCT o.value FROM ", table(e), " t CROSS JOIN jsonb_each_text(t.", markColumn, ") o WHERE t.", markColumn, " IS NOT NULL")
			sqlcore.Within(t, r, e, "t", false)
			continue
		}
		t.Add("SELECT DISTINCT o.origin FROM public.verbatim_origin o")
		if !r.Opens(e) {
			// Keys of other tables may not be valid keys of this one.
			t.Add(" JOIN ", table(e), " t ON ", r.Datum(e, "t", e.Key), " = (CASE WHEN o.table_name = ").Arg(e.Table, "::text")
			t.Add(" THEN o.row_key END)::", r.shapes[e].columns[e.Key].arg)
		}
		t.Add(" WHERE o.table_name = ").Arg(e.Table, "::text")
		sqlcore.Within(t, r, e, "t", false)
	}
	return opOf(t, "marks", func(raw row) error {
		*found = append(*found, raw.str(0))
		return nil
	})
}

// remarks returns how changes alter the marks of rows that keep their own: for each change an
// object from column to origin, null for a mark that is removed. It is nil for most, since most
// alter none.
func remarks(cs []stores.Change) []any {
	var all []any
	for i := range cs {
		set, clear := cs[i].Marked()
		if cs[i].Op == stores.Insert {
			clear = nil
		}
		if len(set)+len(clear) == 0 {
			continue
		}
		if all == nil {
			all = slices.Repeat([]any{"{}"}, len(cs))
		}
		marks := make(map[string]*string, len(set)+len(clear))
		for j := range set {
			marks[cs[i].Entity.Fields[set[j].Field].Column] = &set[j].Origin
		}
		for _, f := range clear {
			marks[cs[i].Entity.Fields[f].Column] = nil
		}
		text, _ := json.Marshal(marks) // of texts and numbers: it cannot fail
		all[i] = string(text)
	}
	return all
}

// markOps makes the statements that store how changes of one entity alter marks that are not kept
// in the rows: none for most, since most alter none.
func (v *view) markOps(cs []stores.Change) []op {
	var ops []op
	e := cs[0].Entity
	if v.shapes[e].marked {
		return nil
	}
	var set, clear [3][]any // keys, columns and origins
	for i := range cs {
		more, less := cs[i].Marked()
		key := cs[i].Key.Text()
		for _, m := range more {
			set[0], set[1], set[2] = append(set[0], key), append(set[1], e.Fields[m.Field].Column), append(set[2], m.Origin)
		}
		for _, f := range less {
			clear[0], clear[1] = append(clear[0], key), append(clear[1], e.Fields[f].Column)
		}
	}
	if len(set[0]) > 0 {
		q := newText().Add("INSERT INTO public.verbatim_origin (table_name, row_key, column_name, origin) SELECT ").Arg(e.Table, "::text").Add(", v.* FROM unnest(")
		for i := range set {
			if i > 0 {
				q.Add(",")
			}
			q.Arg(arrayOf(set[i]), "::text[]")
		}
		q.Add(") v ON CONFLICT (table_name, row_key, column_name) DO UPDATE SET origin = excluded.origin")
		ops = append(ops, opOf(q, "mark", nil))
	}
	if len(clear[0]) > 0 {
		q := newText().Add("DELETE FROM public.verbatim_origin o USING unnest(").Arg(arrayOf(clear[0]), "::text[]").Add(",").Arg(arrayOf(clear[1]), "::text[]")
		q.Add(") v(k, c) WHERE o.table_name = ").Arg(e.Table, "::text").Add(" AND o.row_key = v.k AND o.column_name = v.c")
		ops = append(ops, opOf(q, "mark", nil))
	}
	return ops
}

// marks plans the columns of rows that keep their own marks. Marks that were kept beside older
// rows move into them. An index finds the rows that have marks.
func (m *migration) marks() {
	for _, e := range m.Entities {
		t := m.tables[e]
		if !e.Managed || t != nil && t.View {
			continue
		}
		if t != nil && t.There(markColumn) {
			continue
		}
		m.Step("ALTER TABLE %s ADD COLUMN %s jsonb", table(e), markColumn)
		if t != nil {
			m.Step("UPDATE %s AS t SET %s = o.marks FROM (SELECT row_key, jsonb_object_agg(column_name, origin) AS marks FROM public.verbatim_origin WHERE table_name = %s GROUP BY row_key) o WHERE t.%s::text = o.row_key",
				table(e), markColumn, literalText(e.Table), quote(e.Fields[e.Key].Column))
			m.Step("DELETE FROM public.verbatim_origin WHERE table_name = %s", literalText(e.Table))
		}
		by := e.Fields[e.Key].Column
		if tellsOwner(e) {
			by = ownerColumn(e)
		}
		m.Step("CREATE INDEX ON %s (%s) WHERE %s IS NOT NULL", table(e), quote(by), markColumn)
	}
}
