package postgres

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"verbatim/stores"
	"verbatim/stores/search"
	"verbatim/stores/sqlcore"
)

// searchTables hold the index, as in stores/sqlite. A tsvector does not do: ts_rank does not
// consider how rare a word is, and the two stores must return the same results.
var searchTables = []string{
	`CREATE TABLE IF NOT EXISTS public.verbatim_search (table_name text COLLATE pg_catalog."C" PRIMARY KEY, signature text NOT NULL)`,
	`CREATE TABLE IF NOT EXISTS public.verbatim_search_row (
  doc bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  table_name text COLLATE pg_catalog."C" NOT NULL,
  row_key text COLLATE pg_catalog."C" NOT NULL,
  owner bigint NOT NULL,
  digest bigint NOT NULL,
  maker text COLLATE pg_catalog."C" NOT NULL,
  vector bytea NOT NULL,
  terms bigint[] NOT NULL,
  UNIQUE (table_name, row_key)
)`,
	`ALTER TABLE public.verbatim_search_row ALTER COLUMN vector SET STORAGE EXTERNAL`,
	`CREATE INDEX IF NOT EXISTS verbatim_search_row_owner ON public.verbatim_search_row (table_name, owner)`,
	`CREATE TABLE IF NOT EXISTS public.verbatim_search_term (
  term bigint NOT NULL,
  owner bigint NOT NULL,
  doc bigint NOT NULL,
  weight integer NOT NULL,
  PRIMARY KEY (term, owner, doc) INCLUDE (weight)
)`,
	`CREATE TABLE public.verbatim_search_owner (
  table_name text COLLATE pg_catalog."C" NOT NULL,
  owner bigint NOT NULL,
  rows bigint NOT NULL,
  stamp bigint NOT NULL,
  PRIMARY KEY (table_name, owner)
)`,
}

// nameTables hold an entry for each name of a row, as search.Name folds it. A writer of names
// holds a lock until the commit, so that entries are numbered in the order in which they are
// committed.
var nameTables = []string{
	`CREATE TABLE public.verbatim_search_name (
  entry bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  table_name text COLLATE pg_catalog."C" NOT NULL,
  row_key text COLLATE pg_catalog."C" NOT NULL,
  owner bigint NOT NULL,
  name text COLLATE pg_catalog."C" NOT NULL
)`,
	`CREATE INDEX verbatim_search_name_row ON public.verbatim_search_name (table_name, row_key)`,
}

// nameLock takes the lock for writing names.
const nameLock = "SELECT pg_advisory_xact_lock(8817241)"

// searched plans the indexes of entities, and lists those that have to be rebuilt.
func (m *migration) searched() error {
	made := map[string]string{}
	there := m.indexes["public"]["verbatim_search_owner"]
	if m.indexes["public"]["verbatim_search"] {
		err := m.ask("SELECT table_name, signature FROM public.verbatim_search", nil, func(r row) error {
			made[r.str(0)] = r.str(1)
			return nil
		})
		if err != nil {
			return err
		}
	}
	some, named := false, m.indexes["public"]["verbatim_search_name"]
	for _, e := range m.Entities {
		if e.Search == nil {
			continue
		}
		if some = true; !there {
			m.Steps = append(m.Steps, searchTables...)
			there = true
		}
		if len(e.Search.Names) > 0 && !named {
			m.Steps = append(m.Steps, nameTables...)
			named = true
		}
		if signature := e.Search.Signature(e); made[e.Table] != signature {
			m.Reindex = append(m.Reindex, e)
			m.Step("INSERT INTO public.verbatim_search (table_name, signature) VALUES (%s, %s) ON CONFLICT (table_name) DO UPDATE SET signature = excluded.signature", literalText(e.Table), literalText(signature))
		}
	}
	if !some {
		return nil
	}
	if err := m.grant("public", "verbatim_search", "SELECT"); err != nil {
		return err
	}
	kept := []string{"verbatim_search_row", "verbatim_search_term", "verbatim_search_owner"}
	if named {
		kept = append(kept, "verbatim_search_name")
	}
	for _, name := range kept {
		if err := m.grant("public", name, "SELECT, INSERT, UPDATE, DELETE"); err != nil {
			return err
		}
	}
	return nil
}

// follow updates the index for the rows that the transaction has written, as its last step.
func (t *tx) follow(ctx context.Context) error {
	entities := slices.SortedFunc(maps.Keys(t.Touched), func(a, b *stores.Entity) int { return strings.Compare(a.Table, b.Table) }) // in a fixed order, so that two writers wait and do not deadlock
	for _, e := range entities {
		t.reindexed = true
		keys := make([]string, 0, len(t.Touched[e]))
		for key := range t.Touched[e] {
			keys = append(keys, key.Text())
		}
		slices.Sort(keys)
		for chunk := range slices.Chunk(keys, maxRun) {
			ops, err := t.c.reindex(ctx, e, chunk)
			if err != nil {
				return err
			}
			t.c.last = append(t.c.last, ops...)
		}
	}
	t.Touched = nil
	return nil
}

// said reads the indexed fields of the rows t that meet a condition, in the order of keys.
func said(e *stores.Entity, where *text, into *[]stores.Indexed) op {
	t := newText().Add("SELECT ", column(e, "t", e.Key), "::text, ")
	switch n := len(e.Scope); {
	case e.Access == stores.ForAll:
		t.Add("''")
	case n == 0:
		t.Add(column(e, "t", e.Key))
	case rooted(e):
		t.Add("t.", rootColumn)
	case n == 1:
		t.Add(column(e, "t", e.Scope[0].Field))
	default:
		at, alias := e.Scope[0].To, t.Alias()
		first := column(at, alias, at.Key) + " = " + column(e, "t", e.Scope[0].Field)
		from := t.Part().Add(" FROM ", table(at), " ", alias)
		for _, step := range e.Scope[1 : n-1] {
			next := t.Alias()
			from.Add(" JOIN ", table(step.To), " ", next, " ON ", column(step.To, next, step.To.Key), " = ", column(at, alias, step.Field))
			at, alias = step.To, next
		}
		t.Add("(SELECT ", column(at, alias, e.Scope[n-1].Field), from.String(), " WHERE ", first, ")")
	}
	t.Add("::text")
	fields := e.Search.Fields()
	for _, f := range fields {
		t.Add(", ", column(e, "t", f), "::text")
	}
	t.Add(" FROM ", table(e), " t WHERE ").Join(where)
	return opOf(t, "index", func(r row) error {
		texts := make([]string, len(fields))
		for i := range texts {
			texts[i] = r.str(2 + i)
		}
		*into = append(*into, e.Indexed(r.str(0), r.str(1), texts))
		return nil
	})
}

// haveKeys writes the condition that the rows t have some keys.
func haveKeys(e *stores.Entity, keys []string) *text {
	return newText().Add(column(e, "t", e.Key), " = ANY (").Arg(textsOf(keys), "::", typeOf(e.Fields[e.Key].Kind), "[]").Add(")")
}

// reindex makes the statements that bring the index of some rows up to date.
func (c *conn) reindex(ctx context.Context, e *stores.Entity, keys []string) ([]op, error) {
	var rows []stores.Indexed
	type old struct{ owner, digest int64 }
	was := map[string]old{}
	there := newText().Add("SELECT row_key, owner, digest FROM public.verbatim_search_row WHERE table_name = ").Arg(e.Table, "::text").Add(" AND row_key = ANY (").Arg(textsOf(keys), "::text[]").Add(")")
	err := c.do(ctx, said(e, haveKeys(e, keys), &rows), opOf(there, "index", func(r row) error {
		was[r.str(0)] = old{r.num(1), r.num(2)}
		return nil
	}))
	if err != nil {
		return nil, err
	}
	fresh := rows[:0]
	for _, x := range rows {
		if o, ok := was[x.Key]; ok && o == (old{x.Owner, x.Digest}) {
			delete(was, x.Key) // its text has not changed
			continue
		}
		fresh = append(fresh, x)
	}
	var ops []op
	if len(was) > 0 {
		gone := newText().Add("WITH o AS (DELETE FROM public.verbatim_search_row WHERE table_name = ").Arg(e.Table, "::text").Add(" AND row_key = ANY (").Arg(textsOf(slices.Sorted(maps.Keys(was))), "::text[]")
		if len(e.Search.Names) > 0 {
			names := newText().Add("DELETE FROM public.verbatim_search_name WHERE table_name = ").Arg(e.Table, "::text").Add(" AND row_key = ANY (").Arg(textsOf(slices.Sorted(maps.Keys(was))), "::text[]").Add(")")
			ops = append(ops, opOf(names, "index", nil))
		}
		ops = append(ops, opOf(gone.Add(") RETURNING doc, owner, terms) DELETE FROM public.verbatim_search_term x USING (SELECT doc, owner, unnest(terms) AS term FROM o) o WHERE x.term = o.term AND x.owner = o.owner AND x.doc = o.doc"), "index", nil))
	}
	more := map[int64]int64{}
	for _, o := range was {
		more[o.owner]--
	}
	for i := range fresh {
		more[fresh[i].Owner]++
	}
	return append(append(ops, enter(e, fresh)...), stamp(e, more)...), nil
}

// stamp makes the statement that notes that the index of some owners' rows has changed, and by
// how many rows it has grown.
func stamp(e *stores.Entity, more map[int64]int64) []op {
	if len(more) == 0 {
		return nil
	}
	owners := slices.Sorted(maps.Keys(more))
	counts := make([]int64, len(owners))
	for i, owner := range owners {
		counts[i] = more[owner]
	}
	t := newText().Add("INSERT INTO public.verbatim_search_owner AS o (table_name, owner, rows, stamp) SELECT ").Arg(e.Table, "::text").Add(", k.owner, k.rows, pg_current_xact_id()::text::bigint FROM unnest(").Arg(numbers(owners), "::bigint[]").Add(", ").Arg(numbers(counts), "::bigint[]")
	t.Add(") AS k(owner, rows) ON CONFLICT (table_name, owner) DO UPDATE SET rows = o.rows + excluded.rows, stamp = excluded.stamp")
	return []op{opOf(t, "index", nil)}
}

// enter makes the statement that adds rows to the index.
func enter(e *stores.Entity, rows []stores.Indexed) []op {
	if len(rows) == 0 {
		return nil
	}
	cols := make([][]any, 6)
	for i := range rows {
		x := &rows[i]
		terms, weights := make([]int64, len(x.Postings)), make([]int64, len(x.Postings))
		for j, p := range x.Postings {
			terms[j], weights[j] = p.Term, p.Weight
		}
		for j, s := range [...]string{x.Key, strconv.FormatInt(x.Owner, 10), strconv.FormatInt(x.Digest, 10), hex.EncodeToString(x.Vector), numbers(terms), numbers(weights)} {
			cols[j] = append(cols[j], s)
		}
	}
	t := newText().Add("WITH k AS (SELECT * FROM unnest(")
	for j, typ := range [...]string{"text[]", "bigint[]", "bigint[]", "text[]", "text[]", "text[]"} {
		if j > 0 {
			t.Add(", ")
		}
		t.Arg(arrayOf(cols[j]), "::", typ)
	}
	t.Add(") AS k(row_key, owner, digest, vector, terms, weights)), r AS (INSERT INTO public.verbatim_search_row (table_name, row_key, owner, digest, maker, vector, terms) SELECT ").Arg(e.Table, "::text")
	t.Add(", k.row_key, k.owner, k.digest, '", search.Letters, "', decode(k.vector, 'hex'), k.terms::bigint[] FROM k RETURNING doc, row_key)")
	t.Add(" INSERT INTO public.verbatim_search_term (term, owner, doc, weight) SELECT p.term, k.owner, r.doc, p.weight FROM r JOIN k ON k.row_key = r.row_key CROSS JOIN LATERAL unnest(k.terms::bigint[], k.weights::int[]) AS p(term, weight)")
	return append([]op{opOf(t, "index", nil)}, name(e, rows)...)
}

// name makes the statements that add the names of rows to the index.
func name(e *stores.Entity, rows []stores.Indexed) []op {
	var cols [3][]any
	for i := range rows {
		for _, name := range rows[i].Names {
			for j, s := range [...]string{rows[i].Key, strconv.FormatInt(rows[i].Owner, 10), name} {
				cols[j] = append(cols[j], s)
			}
		}
	}
	if len(cols[0]) == 0 {
		return nil
	}
	t := newText().Add("INSERT INTO public.verbatim_search_name (table_name, row_key, owner, name) SELECT ").Arg(e.Table, "::text").Add(", k.row_key, k.owner, k.name FROM unnest(").Arg(arrayOf(cols[0]), "::text[]").Add(", ").Arg(arrayOf(cols[1]), "::bigint[]").Add(", ").Arg(arrayOf(cols[2]), "::text[]")
	return []op{{doing: "index", sql: nameLock}, opOf(t.Add(") AS k(row_key, owner, name)"), "index", nil)}
}

// numbers writes an array as text.
func numbers(of []int64) string {
	b := []byte{'{'}
	for i, n := range of {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, n, 10)
	}
	return string(append(b, '}'))
}

// each calls fn with all rows of an entity, a batch at a time.
func (c *conn) each(ctx context.Context, e *stores.Entity, fn func(rows []stores.Indexed) error) error {
	key := column(e, "t", e.Key)
	order := key
	if e.Fields[e.Key].Kind == stores.String {
		order += ` COLLATE pg_catalog."C"`
	}
	for last := ""; ; {
		where := newText().Add("true")
		if last != "" {
			where = newText().Add(order, " > ").Arg(last, "::", typeOf(e.Fields[e.Key].Kind))
		}
		where.Add(" ORDER BY ", order).Limit(maxRun)
		var rows []stores.Indexed
		if err := c.do(ctx, said(e, where, &rows)); err != nil || len(rows) == 0 {
			return err
		}
		last = rows[len(rows)-1].Key
		if err := fn(rows); err != nil {
			return err
		}
	}
}

// anew rebuilds the index of an entity. Writers wait meanwhile.
func (c *conn) anew(ctx context.Context, e *stores.Entity) error {
	gone := newText().Add("DELETE FROM public.verbatim_search_row WHERE table_name = ").Arg(e.Table, "::text")
	none := newText().Add("DELETE FROM public.verbatim_search_owner WHERE table_name = ").Arg(e.Table, "::text")
	if len(e.Search.Names) > 0 {
		names := newText().Add("DELETE FROM public.verbatim_search_name WHERE table_name = ").Arg(e.Table, "::text")
		if err := c.do(ctx, op{doing: "index", sql: nameLock}, opOf(names, "index", nil)); err != nil {
			return err
		}
	}
	err := c.do(ctx, op{doing: "index", sql: "LOCK TABLE public.verbatim_search_row IN SHARE ROW EXCLUSIVE MODE"}, opOf(gone, "index", nil), opOf(none, "index", nil),
		op{doing: "index", sql: "DELETE FROM public.verbatim_search_term x WHERE NOT EXISTS (SELECT 1 FROM public.verbatim_search_row r WHERE r.doc = x.doc)"})
	if err != nil {
		return err
	}
	return c.each(ctx, e, func(rows []stores.Indexed) error {
		more := map[int64]int64{}
		for i := range rows {
			more[rows[i].Owner]++
		}
		return c.do(ctx, append(enter(e, rows), stamp(e, more)...)...)
	})
}

// Index implements stores.Searcher.
func (s *Store) Index(ctx context.Context, e *stores.Entity, anew bool) (state stores.IndexState, err error) {
	lend := s.read
	if anew {
		lend = s.write
	}
	err = lend(ctx, s.pool, stores.Scope{All: true}, func(c *conn) error {
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
			cols := make([][]any, 6)
			for i := range rows {
				x := &rows[i]
				terms := make([]int64, len(x.Postings))
				for j, p := range x.Postings {
					terms[j] = p.Term
				}
				for j, s := range [...]string{x.Key, strconv.FormatInt(x.Owner, 10), strconv.FormatInt(x.Digest, 10), numbers(terms), strconv.FormatInt(x.Sum(), 10), strings.Join(x.Names, "\n")} {
					cols[j] = append(cols[j], s)
				}
			}
			t := newText().Add("SELECT r.doc IS NOT NULL, coalesce(r.owner = k.owner AND r.digest = k.digest AND r.terms = k.terms::bigint[] AND k.sum = (SELECT count(*) * 1000000000 + coalesce(sum(x.weight), 0) FROM public.verbatim_search_term x WHERE x.term = ANY (r.terms) AND x.owner = r.owner AND x.doc = r.doc)")
			if len(e.Search.Names) > 0 {
				t.Add(" AND k.names = coalesce((SELECT string_agg(n.name, E'\\n' ORDER BY n.name) FROM public.verbatim_search_name n WHERE n.table_name = r.table_name AND n.row_key = r.row_key AND n.owner = r.owner), '')")
			}
			t.Add(", false) FROM unnest(")
			for j, typ := range [...]string{"text[]", "bigint[]", "bigint[]", "text[]", "bigint[]", "text[]"} {
				if j > 0 {
					t.Add(", ")
				}
				t.Arg(arrayOf(cols[j]), "::", typ)
			}
			t.Add(") AS k(row_key, owner, digest, terms, sum, names) LEFT JOIN public.verbatim_search_row r ON r.row_key = k.row_key AND r.table_name = ").Arg(e.Table, "::text")
			return c.do(ctx, opOf(t, "index", func(r row) error {
				state.Count(r.yes(0), r.yes(1))
				return nil
			}))
		})
		if err != nil {
			return err
		}
		there := newText().Add("SELECT (SELECT count(*) FROM public.verbatim_search_row WHERE table_name = ").Arg(e.Table, "::text")
		there.Add("), (SELECT count(*) FROM public.verbatim_search_term x WHERE NOT EXISTS (SELECT 1 FROM public.verbatim_search_row r WHERE r.doc = x.doc)), ")
		there.Add("(SELECT count(*) FROM (SELECT owner, count(*) AS n FROM public.verbatim_search_row WHERE table_name = ").Arg(e.Table, "::text").Add(" GROUP BY owner) r FULL JOIN (SELECT owner, rows FROM public.verbatim_search_owner WHERE table_name = ").Arg(e.Table, "::text")
		asked := []op{opOf(there.Add(") o ON o.owner = r.owner WHERE coalesce(r.n, 0) <> coalesce(o.rows, 0))"), "index", func(r row) error {
			state.Stray = r.num(0) - (state.Rows - state.Missing) + r.num(1) + r.num(2)
			return nil
		})}
		if len(e.Search.Names) > 0 {
			names := newText().Add("SELECT count(*) FROM public.verbatim_search_name n WHERE n.table_name = ").Arg(e.Table, "::text")
			asked = append(asked, opOf(names.Add(" AND NOT EXISTS (SELECT 1 FROM public.verbatim_search_row r WHERE r.table_name = n.table_name AND r.row_key = n.row_key)"), "index", func(r row) error {
				state.Stray += r.num(0)
				return nil
			}))
		}
		return c.do(ctx, asked...)
	})
	return state, err
}

// Vectors implements stores.Searcher.
func (s *Store) Vectors(ctx context.Context, e *stores.Entity, maker string, most int, embed func(texts []string) ([][]float32, error)) (int, error) {
	var rows []stores.Indexed
	all := stores.Scope{All: true}
	err := s.read(ctx, s.pool, all, func(c *conn) error {
		var keys []string
		t := newText().Add("SELECT row_key FROM public.verbatim_search_row WHERE table_name = ").Arg(e.Table, "::text").Add(" AND maker <> ").Arg(maker, "::text").Add(" AND length(vector) > 0 ORDER BY doc").Limit(most)
		err := c.do(ctx, opOf(t, "index", func(r row) error {
			keys = append(keys, r.str(0))
			return nil
		}))
		if err != nil || len(keys) == 0 {
			return err
		}
		return c.do(ctx, said(e, haveKeys(e, keys), &rows))
	})
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	meant := make([]string, len(rows))
	for i := range rows {
		meant[i] = rows[i].Meant
	}
	vectors, err := embed(meant)
	if err != nil {
		return 0, err
	}
	cols, changed := make([][]any, 3), map[int64]int64{}
	for i := range rows {
		changed[rows[i].Owner] = 0
		for j, s := range [...]string{rows[i].Key, strconv.FormatInt(rows[i].Digest, 10), hex.EncodeToString(search.Bytes(vectors[i]))} {
			cols[j] = append(cols[j], s)
		}
	}
	t := newText().Add("UPDATE public.verbatim_search_row r SET vector = decode(k.vector, 'hex'), maker = ").Arg(maker, "::text").Add(" FROM unnest(").Arg(arrayOf(cols[0]), "::text[]").Add(", ").Arg(arrayOf(cols[1]), "::bigint[]").Add(", ").Arg(arrayOf(cols[2]), "::text[]")
	t.Add(") AS k(row_key, digest, vector) WHERE r.row_key = k.row_key AND r.digest = k.digest AND r.table_name = ").Arg(e.Table, "::text")
	err = s.write(ctx, s.pool, all, func(c *conn) error { return c.do(ctx, append([]op{opOf(t, "index", nil)}, stamp(e, changed)...)...) })
	return len(rows), err
}

// Match implements stores.Reader.
func (t *tx) Match(ctx context.Context, m stores.Match) ([]search.Found, bool, error) {
	if err := t.follow(ctx); err != nil {
		return nil, false, err
	}
	return m.Run(&t.scope, &matching{ctx, t.c, m.Entity}, &t.c.s.found, t.reindexed)
}

// Match implements stores.Reader.
func (r *reader) Match(ctx context.Context, m stores.Match) ([]search.Found, bool, error) {
	return m.Run(&r.scope, &matching{ctx, r.c, m.Entity}, &r.c.s.found, false)
}

// matching reads the index of one entity.
type matching struct {
	ctx context.Context
	c   *conn
	e   *stores.Entity
}

// owned writes the condition that rows of the index belong to some owners; nil is everybody.
func owned(t *text, alias string, owners []int64) {
	switch {
	case len(owners) == 1:
		t.Add(" AND ", alias, ".owner = ").Arg(strconv.FormatInt(owners[0], 10), "::bigint")
	case owners != nil:
		t.Add(" AND ", alias, ".owner = ANY (").Arg(numbers(owners), "::bigint[]").Add(")")
	}
}

func (m *matching) Owned(owners []int64) (rows int64, stamps map[int64]int64, err error) {
	t := newText().Add("SELECT s.signature, o.owner, o.rows, o.stamp FROM public.verbatim_search s LEFT JOIN public.verbatim_search_owner o ON o.table_name = s.table_name AND o.rows > 0")
	owned(t, "o", owners)
	t.Add(" WHERE s.table_name = ").Arg(m.e.Table, "::text")
	stamps = map[int64]int64{}
	made := ""
	err = m.c.do(m.ctx, opOf(t, "match", func(r row) error {
		if made = r.str(0); r.num(2) > 0 {
			rows += r.num(2)
			stamps[r.num(1)] = r.num(3)
		}
		return nil
	}))
	var f *failure
	switch {
	case errors.As(err, &f) && f.code == "42501": // migrate grants what it makes
		err = sqlcore.Because(stores.ErrSchema, f)
	case err == nil && made != m.e.Search.Signature(m.e):
		err = stores.ErrSchema
	}
	return rows, stamps, err
}

func (m *matching) Hits(terms, owners []int64, most int) (map[int64][]search.Hit, error) {
	// As one value for each term: one row for each hit takes twice as long.
	t := newText().Add("SELECT p.term, (SELECT string_agg(int8send(h), '') FROM (SELECT x.doc << ", strconv.Itoa(search.HitBits), " | x.weight AS h FROM public.verbatim_search_term x WHERE x.term = p.term")
	owned(t, "x", owners)
	if most > 0 {
		t.Limit(most)
	}
	t.Add(") h) FROM unnest(").Arg(numbers(terms), "::bigint[]").Add(") AS p(term)")
	hits := map[int64][]search.Hit{}
	err := m.c.do(m.ctx, opOf(t, "match", func(r row) error {
		packed := r.bytes(1)
		list := make([]search.Hit, 0, len(packed)/8)
		for ; len(packed) >= 8; packed = packed[8:] {
			list = append(list, search.Hit(binary.BigEndian.Uint64(packed)))
		}
		hits[r.num(0)] = list
		return nil
	}))
	return hits, err
}

func (m *matching) Keys(rows []int64) (map[int64]string, error) {
	keys := make(map[int64]string, len(rows))
	t := newText().Add("SELECT doc, row_key FROM public.verbatim_search_row WHERE doc = ANY (").Arg(numbers(rows), "::bigint[]").Add(")")
	err := m.c.do(m.ctx, opOf(t, "match", func(r row) error {
		keys[r.num(0)] = r.str(1)
		return nil
	}))
	return keys, err
}

func (m *matching) NamesSince(entry int64, most int) (all []search.Named, err error) {
	t := newText().Add("SELECT entry, owner, row_key, name, table_name FROM public.verbatim_search_name WHERE entry > ").Arg(strconv.FormatInt(entry, 10), "::bigint").Add(" ORDER BY entry").Limit(most)
	err = m.c.do(m.ctx, opOf(t, "match", func(r row) error {
		all = append(all, search.Named{Seq: r.num(0), Owner: r.num(1), Key: r.str(2), Name: r.str(3), Other: r.str(4) != m.e.Table})
		return nil
	}))
	return all, err
}

func (m *matching) NamesOf(keys []string) (map[string][]string, error) {
	of := make(map[string][]string, len(keys))
	t := newText().Add("SELECT row_key, name FROM public.verbatim_search_name WHERE table_name = ").Arg(m.e.Table, "::text").Add(" AND row_key = ANY (").Arg(textsOf(keys), "::text[]").Add(")")
	err := m.c.do(m.ctx, opOf(t, "match", func(r row) error {
		of[r.str(0)] = append(of[r.str(0)], r.str(1))
		return nil
	}))
	return of, err
}

func (m *matching) Vectors(maker string, owners []int64, fn func(owner int64, vector []float32, key string)) error {
	t := newText().Add("SELECT r.vector, r.row_key, r.owner FROM public.verbatim_search_row r WHERE r.table_name = ").Arg(m.e.Table, "::text").Add(" AND r.maker = ").Arg(maker, "::text")
	owned(t, "r", owners)
	var vector []float32
	return m.c.do(m.ctx, opOf(t, "match", func(r row) error {
		vector = search.Vector(r.bytes(0), vector)
		fn(r.num(2), vector, r.str(1))
		return nil
	}))
}
