package sqlite

import (
	"cmp"
	"context"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"

	"zombiezen.com/go/sqlite"

	"verbatim/stores"
	"verbatim/stores/search"
	"verbatim/stores/sqlcore"
)

// searchTables hold the index: for each row what was indexed, for each term its rows, and for
// each owner the number of rows, with a stamp that changes with them. They are created for
// searched entities. SQLite's full-text tables do not do: they compute how rare a word is among
// everybody's rows.
var searchTables = []string{
	`CREATE TABLE IF NOT EXISTS "verbatim_search" ("table_name" TEXT NOT NULL PRIMARY KEY, "signature" TEXT NOT NULL) STRICT`,
	`CREATE TABLE IF NOT EXISTS "verbatim_search_row" (
  "doc" INTEGER PRIMARY KEY,
  "table_name" TEXT NOT NULL,
  "row_key" TEXT NOT NULL,
  "owner" INTEGER NOT NULL,
  "digest" INTEGER NOT NULL,
  "maker" TEXT NOT NULL,
  "vector" BLOB NOT NULL,
  "terms" BLOB NOT NULL,
  UNIQUE ("table_name", "row_key")
) STRICT`,
	`CREATE INDEX IF NOT EXISTS "verbatim_search_row_owner" ON "verbatim_search_row" ("table_name", "owner")`,
	`CREATE TABLE IF NOT EXISTS "verbatim_search_term" (
  "term" INTEGER NOT NULL,
  "owner" INTEGER NOT NULL,
  "doc" INTEGER NOT NULL,
  "weight" INTEGER NOT NULL,
  PRIMARY KEY ("term", "owner", "doc")
) STRICT, WITHOUT ROWID`,
	`CREATE TABLE "verbatim_search_owner" (
  "table_name" TEXT NOT NULL,
  "owner" INTEGER NOT NULL,
  "rows" INTEGER NOT NULL,
  "stamp" INTEGER NOT NULL,
  PRIMARY KEY ("table_name", "owner")
) STRICT, WITHOUT ROWID`,
}

// nameTables hold an entry for each name of a row, as search.Name folds it. Entries are numbered
// in the order in which they were committed.
var nameTables = []string{
	`CREATE TABLE "verbatim_search_name" (
  "entry" INTEGER PRIMARY KEY AUTOINCREMENT,
  "table_name" TEXT NOT NULL,
  "row_key" TEXT NOT NULL,
  "owner" INTEGER NOT NULL,
  "name" TEXT NOT NULL
) STRICT`,
	`CREATE INDEX "verbatim_search_name_row" ON "verbatim_search_name" ("table_name", "row_key")`,
}

// searched plans the indexes of entities, and lists those that have to be rebuilt.
func (m *migration) searched() error {
	made := map[string]string{}
	if m.objects["verbatim_search"] != "" {
		err := m.c.query(context.Background(), "SELECT table_name, signature FROM main.verbatim_search", nil, func(row *sqlite.Stmt) error {
			made[row.ColumnText(0)] = row.ColumnText(1)
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, e := range m.Entities {
		if e.Search == nil {
			continue
		}
		signature := e.Search.Signature(e)
		if made[e.Table] == signature {
			continue
		}
		if m.objects["verbatim_search_owner"] == "" {
			m.Steps = append(m.Steps, searchTables...)
			m.objects["verbatim_search_owner"] = "table"
		}
		if len(e.Search.Names) > 0 && m.objects["verbatim_search_name"] == "" {
			m.Steps = append(m.Steps, nameTables...)
			m.objects["verbatim_search_name"] = "table"
		}
		m.Reindex = append(m.Reindex, e)
		m.Step("INSERT INTO main.verbatim_search (table_name, signature) VALUES (%s, %s) ON CONFLICT (table_name) DO UPDATE SET signature = excluded.signature", literal(str(e.Table)), literal(str(signature)))
	}
	return nil
}

// follow updates the index for the rows that the transaction has written.
func (t *tx) follow(ctx context.Context) error {
	for e, keys := range t.Touched {
		t.reindexed = true
		for chunk := range slices.Chunk(slices.Collect(maps.Keys(keys)), atOnce) {
			if err := t.c.reindex(ctx, e, chunk); err != nil {
				return fault("index", err)
			}
		}
	}
	t.Touched = nil
	return nil
}

// atOnce is how many rows are read to be indexed.
const atOnce = 500

// texts reads the indexed fields of the rows t that meet a condition, in the order of keys.
func (c *conn) texts(ctx context.Context, e *stores.Entity, where *text) (rows []stores.Indexed, err error) {
	t := newText().Add("SELECT CAST(", raw(e, "t", e.Key), " AS TEXT), CAST(")
	switch n := len(e.Scope); {
	case e.Access == stores.ForAll:
		t.Add("''")
	case n == 0:
		t.Add(raw(e, "t", e.Key))
	case n == 1:
		t.Add(column(e, "t", e.Scope[0].Field))
	default:
		t.Add(sqlcore.Root(t, &view{}, e, "t"))
	}
	t.Add(" AS TEXT)")
	fields := e.Search.Fields()
	for _, f := range fields {
		t.Add(", ", column(e, "t", f))
	}
	t.Add(" FROM ", table(e), " t WHERE ").Join(where)
	err = c.query(ctx, t.Whole(), t.Args, func(row *sqlite.Stmt) error {
		texts := make([]string, len(fields))
		for i := range texts {
			texts[i] = row.ColumnText(2 + i)
		}
		rows = append(rows, e.Indexed(row.ColumnText(0), row.ColumnText(1), texts))
		return nil
	})
	return rows, err
}

// reindex brings the index of some rows up to date.
func (c *conn) reindex(ctx context.Context, e *stores.Entity, keys []stores.Value) error {
	where := newText().Add(raw(e, "t", e.Key))
	in(where, e.Fields[e.Key].Kind, keys)
	rows, err := c.texts(ctx, e, where)
	if err != nil {
		return err
	}
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.Text()
	}
	type old struct {
		doc, owner, digest int64
		terms              []byte
	}
	was := map[string]old{}
	err = c.query(ctx, "SELECT r.row_key, r.doc, r.owner, r.digest, r.terms FROM json_each(?) p CROSS JOIN main.verbatim_search_row r WHERE r.table_name = ? AND r.row_key = p.value",
		[]stores.Value{str(listOf(names)), str(e.Table)}, func(row *sqlite.Stmt) error {
			o := old{doc: row.ColumnInt64(1), owner: row.ColumnInt64(2), digest: row.ColumnInt64(3), terms: make([]byte, row.ColumnLen(4))}
			row.ColumnBytes(4, o.terms)
			was[row.ColumnText(0)] = o
			return nil
		})
	if err != nil {
		return err
	}
	fresh := rows[:0]
	for _, x := range rows {
		if o, ok := was[x.Key]; ok && o.digest == x.Digest && o.owner == x.Owner {
			delete(was, x.Key) // its text has not changed
			continue
		}
		fresh = append(fresh, x)
	}
	gone := map[int64]int64{}
	for key, o := range was {
		gone[o.owner]--
		if len(e.Search.Names) > 0 {
			if _, err := c.exec("DELETE FROM main.verbatim_search_name WHERE table_name = ? AND row_key = ?", str(e.Table), str(key)); err != nil {
				return err
			}
		}
		for _, term := range search.Terms(o.terms) {
			if _, err := c.exec("DELETE FROM main.verbatim_search_term WHERE term = ? AND owner = ? AND doc = ?", stores.NewInt(term), stores.NewInt(o.owner), stores.NewInt(o.doc)); err != nil {
				return err
			}
		}
		if _, err := c.exec("DELETE FROM main.verbatim_search_row WHERE doc = ?", stores.NewInt(o.doc)); err != nil {
			return err
		}
	}
	if err := c.stamp(e, gone); err != nil {
		return err
	}
	return c.enter(ctx, e, fresh)
}

// stamp notes that the index of some owners' rows has changed, and by how many rows it has grown.
func (c *conn) stamp(e *stores.Entity, more map[int64]int64) error {
	for owner, n := range more {
		if _, err := c.exec("INSERT INTO main.verbatim_search_owner AS o (table_name, owner, rows, stamp) VALUES (?,?,?,random()) ON CONFLICT (table_name, owner) DO UPDATE SET rows = o.rows + excluded.rows, stamp = excluded.stamp",
			str(e.Table), stores.NewInt(owner), stores.NewInt(n)); err != nil {
			return err
		}
	}
	return nil
}

// enter adds rows to the index.
func (c *conn) enter(ctx context.Context, e *stores.Entity, rows []stores.Indexed) error {
	more := map[int64]int64{}
	for i := range rows {
		x := &rows[i]
		more[x.Owner]++
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := c.exec("INSERT INTO main.verbatim_search_row (table_name, row_key, owner, digest, maker, vector, terms) VALUES (?,?,?,?,?,unhex(?),unhex(?))",
			str(e.Table), str(x.Key), stores.NewInt(x.Owner), stores.NewInt(x.Digest), str(search.Letters), str(hex.EncodeToString(x.Vector)), str(hex.EncodeToString(search.TermBytes(x.Postings)))); err != nil {
			return err
		}
		doc := stores.NewInt(c.db.LastInsertRowID())
		for _, name := range x.Names {
			if _, err := c.exec("INSERT INTO main.verbatim_search_name (table_name, row_key, owner, name) VALUES (?,?,?,?)", str(e.Table), str(x.Key), stores.NewInt(x.Owner), str(name)); err != nil {
				return err
			}
		}
		for _, p := range x.Postings {
			if _, err := c.exec("INSERT INTO main.verbatim_search_term (term, owner, doc, weight) VALUES (?,?,?,?)", stores.NewInt(p.Term), stores.NewInt(x.Owner), doc, stores.NewInt(p.Weight)); err != nil {
				return err
			}
		}
	}
	return c.stamp(e, more)
}

// each calls fn with all rows of an entity, a batch at a time.
func (c *conn) each(ctx context.Context, e *stores.Entity, fn func(rows []stores.Indexed) error) error {
	last := stores.Value{}
	for {
		where := newText().Add("1")
		if !last.IsNull() {
			where = newText().Add(raw(e, "t", e.Key), " > ").Arg(last)
		}
		where.Add(" ORDER BY ", raw(e, "t", e.Key), " LIMIT ", strconv.Itoa(atOnce))
		rows, err := c.texts(ctx, e, where)
		if err != nil || len(rows) == 0 {
			return err
		}
		last, _ = stores.Parse(e.Fields[e.Key].Kind, rows[len(rows)-1].Key)
		if err := fn(rows); err != nil {
			return err
		}
	}
}

// anew rebuilds the index of an entity.
func (c *conn) anew(ctx context.Context, e *stores.Entity) error {
	gone := []string{
		"DELETE FROM main.verbatim_search_term WHERE doc IN (SELECT doc FROM main.verbatim_search_row WHERE table_name = ?)",
		"DELETE FROM main.verbatim_search_row WHERE table_name = ?",
		"DELETE FROM main.verbatim_search_owner WHERE table_name = ?",
	}
	if len(e.Search.Names) > 0 {
		gone = append(gone, "DELETE FROM main.verbatim_search_name WHERE table_name = ?")
	}
	for _, sql := range gone {
		if _, err := c.exec(sql, str(e.Table)); err != nil {
			return err
		}
	}
	if _, err := c.exec("DELETE FROM main.verbatim_search_term WHERE doc NOT IN (SELECT doc FROM main.verbatim_search_row)"); err != nil {
		return err
	}
	return c.each(ctx, e, func(rows []stores.Indexed) error { return c.enter(ctx, e, rows) })
}

// Index implements stores.Searcher.
func (s *Store) Index(ctx context.Context, e *stores.Entity, anew bool) (state stores.IndexState, err error) {
	lend := s.read
	if anew {
		lend = s.write
	}
	err = lend(ctx, func(c *conn) error {
		if _, _, err := (&matching{ctx, c, e}).Owned([]int64{}); err != nil {
			return err
		}
		if anew {
			if err := c.anew(ctx, e); err != nil {
				return err
			}
		}
		state = stores.IndexState{}
		err := c.each(ctx, e, func(rows []stores.Indexed) error {
			for i := range rows {
				x := &rows[i]
				is := false
				in, err := c.number(ctx, "SELECT count(*) FROM main.verbatim_search_row WHERE table_name = ? AND row_key = ?", str(e.Table), str(x.Key))
				if err == nil && in == 1 {
					is, err = c.indexed(ctx, e, x)
				}
				if err != nil {
					return err
				}
				state.Count(in == 1, is)
			}
			return nil
		})
		if err != nil {
			return err
		}
		there, err := c.number(ctx, "SELECT count(*) FROM main.verbatim_search_row WHERE table_name = ?", str(e.Table))
		if err != nil {
			return err
		}
		loose, err := c.number(ctx, "SELECT count(*) FROM main.verbatim_search_term x WHERE NOT EXISTS (SELECT 1 FROM main.verbatim_search_row r WHERE r.doc = x.doc)")
		if err != nil {
			return err
		}
		wrong, err := c.number(ctx, "SELECT count(*) FROM (SELECT owner, count(*) AS n FROM main.verbatim_search_row WHERE table_name = ? GROUP BY owner) r FULL JOIN (SELECT owner, rows FROM main.verbatim_search_owner WHERE table_name = ?) o ON o.owner = r.owner WHERE coalesce(r.n, 0) <> coalesce(o.rows, 0)", str(e.Table), str(e.Table))
		state.Stray = there - (state.Rows - state.Missing) + loose + wrong
		if err != nil || len(e.Search.Names) == 0 {
			return err
		}
		stray, err := c.number(ctx, "SELECT count(*) FROM main.verbatim_search_name n WHERE n.table_name = ? AND NOT EXISTS (SELECT 1 FROM main.verbatim_search_row r WHERE r.table_name = n.table_name AND r.row_key = n.row_key)", str(e.Table))
		state.Stray += stray
		return err
	})
	return state, fault("index", err)
}

// indexed reports whether the index entry of a row is up to date.
func (c *conn) indexed(ctx context.Context, e *stores.Entity, x *stores.Indexed) (bool, error) {
	terms := make([]string, len(x.Postings))
	for i, p := range x.Postings {
		terms[i] = strconv.FormatInt(p.Term, 10)
	}
	n, err := c.number(ctx, `SELECT r.owner = ? AND r.digest = ? AND length(r.terms) = ? AND (SELECT count(*) * 1000000000 + total(x.weight) FROM json_each(?) p JOIN main.verbatim_search_term x ON x.term = p.value AND x.owner = r.owner AND x.doc = r.doc) = ?
FROM main.verbatim_search_row r WHERE r.table_name = ? AND r.row_key = ?`,
		stores.NewInt(x.Owner), stores.NewInt(x.Digest), stores.NewInt(int64(8*len(x.Postings))), str("["+strings.Join(terms, ",")+"]"), stores.NewInt(x.Sum()), str(e.Table), str(x.Key))
	if err != nil || n != 1 || len(e.Search.Names) == 0 {
		return n == 1, err
	}
	n, err = c.number(ctx, "SELECT coalesce((SELECT group_concat(name, char(10)) FROM (SELECT name FROM main.verbatim_search_name WHERE table_name = ? AND row_key = ? AND owner = ? ORDER BY name)), '') = ?", str(e.Table), str(x.Key), stores.NewInt(x.Owner), str(strings.Join(x.Names, "\n")))
	return n == 1, err
}

// number returns the single number that a statement returns.
func (c *conn) number(ctx context.Context, sql string, args ...stores.Value) (n int64, err error) {
	err = c.query(ctx, sql, args, func(row *sqlite.Stmt) error {
		n = row.ColumnInt64(0)
		return nil
	})
	return n, err
}

// Vectors implements stores.Searcher.
func (s *Store) Vectors(ctx context.Context, e *stores.Entity, maker string, most int, embed func(texts []string) ([][]float32, error)) (int, error) {
	var keys []stores.Value
	var texts []string
	was := map[string]*stores.Indexed{}
	err := s.read(ctx, func(c *conn) error {
		err := c.query(ctx, "SELECT row_key FROM main.verbatim_search_row WHERE table_name = ? AND maker <> ? AND length(vector) > 0 ORDER BY doc LIMIT ?", []stores.Value{str(e.Table), str(maker), stores.NewInt(int64(most))}, func(row *sqlite.Stmt) error {
			key, _ := stores.Parse(e.Fields[e.Key].Kind, row.ColumnText(0))
			keys = append(keys, key)
			return nil
		})
		if err != nil || len(keys) == 0 {
			return err
		}
		where := newText().Add(raw(e, "t", e.Key))
		in(where, e.Fields[e.Key].Kind, keys)
		rows, err := c.texts(ctx, e, where)
		keys = keys[:0]
		for i := range rows {
			key, _ := stores.Parse(e.Fields[e.Key].Kind, rows[i].Key)
			keys, texts = append(keys, key), append(texts, rows[i].Meant)
			was[rows[i].Key] = &rows[i]
		}
		return err
	})
	if err != nil || len(keys) == 0 {
		return 0, fault("index", err)
	}
	vectors, err := embed(texts)
	if err != nil {
		return 0, err
	}
	err = s.write(ctx, func(c *conn) error {
		changed := map[int64]int64{}
		for i, k := range keys {
			x := was[k.Text()]
			changed[x.Owner] = 0
			if _, err := c.exec("UPDATE main.verbatim_search_row SET vector = unhex(?), maker = ? WHERE table_name = ? AND row_key = ? AND digest = ?",
				str(hex.EncodeToString(search.Bytes(vectors[i]))), str(maker), str(e.Table), str(k.Text()), stores.NewInt(x.Digest)); err != nil {
				return err
			}
		}
		return c.stamp(e, changed)
	})
	return len(keys), fault("index", err)
}

// Match implements stores.Reader.
func (t *tx) Match(ctx context.Context, m stores.Match) ([]search.Found, bool, error) {
	if err := t.follow(ctx); err != nil {
		return nil, false, err
	}
	return t.reader.match(ctx, m, t.reindexed)
}

// Match implements stores.Reader.
func (r *reader) Match(ctx context.Context, m stores.Match) ([]search.Found, bool, error) {
	return r.match(ctx, m, false)
}

func (r *reader) match(ctx context.Context, m stores.Match, changed bool) ([]search.Found, bool, error) {
	found, more, err := m.Run(&r.scope, &matching{ctx, r.c, m.Entity}, r.c.found, changed)
	return found, more, fault("match", err)
}

// matching reads the index of one entity.
type matching struct {
	ctx context.Context
	c   *conn
	e   *stores.Entity
}

// owned writes the condition that rows of the index belong to some owners; nil is everybody.
func owned(t *text, alias string, owners []int64) {
	if owners == nil {
		return
	}
	t.Add(" AND ", alias, ".owner IN (SELECT value FROM json_each(").Arg(str(numbers(owners))).Add("))")
}

// numbers writes a list for json_each.
func numbers(of []int64) string {
	b := []byte{'['}
	for i, n := range of {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, n, 10)
	}
	return string(append(b, ']'))
}

func (m *matching) Owned(owners []int64) (rows int64, stamps map[int64]int64, err error) {
	t := newText().Add("SELECT s.signature, o.owner, o.rows, o.stamp FROM main.verbatim_search s LEFT JOIN main.verbatim_search_owner o ON o.table_name = s.table_name AND o.rows > 0")
	owned(t, "o", owners)
	t.Add(" WHERE s.table_name = ").Arg(str(m.e.Table))
	stamps = map[int64]int64{}
	made := ""
	err = m.c.query(m.ctx, t.Whole(), t.Args, func(row *sqlite.Stmt) error {
		if made = row.ColumnText(0); row.ColumnType(1) != sqlite.TypeNull {
			rows += row.ColumnInt64(2)
			stamps[row.ColumnInt64(1)] = row.ColumnInt64(3)
		}
		return nil
	})
	if err == nil && made != m.e.Search.Signature(m.e) {
		err = stores.ErrSchema
	}
	return rows, stamps, err
}

func (m *matching) Hits(terms, owners []int64, most int) (map[int64][]search.Hit, error) {
	t := newText().Add("SELECT x.doc << ", strconv.Itoa(search.HitBits), " | x.weight FROM main.verbatim_search_term x WHERE x.term = ")
	before := len(t.Args)
	t.Arg(stores.NewInt(0))
	owned(t, "x", owners)
	t.Add(" LIMIT ").Arg(stores.NewInt(int64(cmp.Or(most, -1))))
	hits, sql := map[int64][]search.Hit{}, t.Whole()
	for _, term := range terms {
		var list []search.Hit
		t.Args[before] = stores.NewInt(term)
		err := m.c.query(m.ctx, sql, t.Args, func(row *sqlite.Stmt) error {
			list = append(list, search.Hit(row.ColumnInt64(0)))
			return nil
		})
		if err != nil {
			return nil, err
		}
		hits[term] = list
	}
	return hits, nil
}

func (m *matching) Keys(rows []int64) (map[int64]string, error) {
	keys := make(map[int64]string, len(rows))
	err := m.c.query(m.ctx, "SELECT r.doc, r.row_key FROM json_each(?) p CROSS JOIN main.verbatim_search_row r ON r.doc = p.value", []stores.Value{str(numbers(rows))}, func(row *sqlite.Stmt) error {
		keys[row.ColumnInt64(0)] = row.ColumnText(1)
		return nil
	})
	return keys, err
}

func (m *matching) NamesSince(entry int64, most int) (all []search.Named, err error) {
	err = m.c.query(m.ctx, "SELECT entry, owner, row_key, name, table_name FROM main.verbatim_search_name WHERE entry > ? ORDER BY entry LIMIT ?", []stores.Value{stores.NewInt(entry), stores.NewInt(int64(most))}, func(row *sqlite.Stmt) error {
		all = append(all, search.Named{Seq: row.ColumnInt64(0), Owner: row.ColumnInt64(1), Key: row.ColumnText(2), Name: row.ColumnText(3), Other: row.ColumnText(4) != m.e.Table})
		return nil
	})
	return all, err
}

func (m *matching) NamesOf(keys []string) (map[string][]string, error) {
	of := make(map[string][]string, len(keys))
	err := m.c.query(m.ctx, "SELECT n.row_key, n.name FROM json_each(?) p CROSS JOIN main.verbatim_search_name n ON n.row_key = p.value AND n.table_name = ?", []stores.Value{str(listOf(keys)), str(m.e.Table)}, func(row *sqlite.Stmt) error {
		of[row.ColumnText(0)] = append(of[row.ColumnText(0)], row.ColumnText(1))
		return nil
	})
	return of, err
}

func (m *matching) Vectors(maker string, owners []int64, fn func(owner int64, vector []float32, key string)) error {
	t := newText().Add("SELECT r.vector, r.row_key, r.owner FROM main.verbatim_search_row r WHERE r.table_name = ").Arg(str(m.e.Table)).Add(" AND r.maker = ").Arg(str(maker))
	owned(t, "r", owners)
	var kept []byte
	var vector []float32
	return m.c.query(m.ctx, t.Whole(), t.Args, func(row *sqlite.Stmt) error {
		n := row.ColumnLen(0)
		kept = slices.Grow(kept[:0], n)[:n]
		row.ColumnBytes(0, kept)
		vector = search.Vector(kept, vector)
		fn(row.ColumnInt64(2), vector, row.ColumnText(1))
		return nil
	})
}
