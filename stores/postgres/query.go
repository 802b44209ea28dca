package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"

	"verbatim/stores"
)

// A palette's author may write a query of their own, and must be able to do
// nothing with it but read rows that the caller may see. Seven things see to that,
// each of which would be enough for what we know of:
//
//  1. The text is split as PostgreSQL splits it and walked: one statement, a
//     SELECT, in which every name that stands where a table can stand is one that
//     the palettes declare, and every function, type and operator one of a list.
//     It is written anew from its pieces, so that nothing that was not looked at
//     is in it.
//  2. Such a name means no table. The query runs below a WITH that gives the
//     name to the entity's rows within the scope, its declared columns only.
//     Within a scope, that part is materialized, so that nothing of the author's
//     is ever computed on a row that was not let through.
//  3. The author's text stands in FROM ( … ), where only a SELECT can stand.
//  4. PostgreSQL is asked, with EXPLAIN, which relations the plan that it made
//     reads: they must be those that reading the declared entities reads.
//  5. It runs in a transaction that is read-only for as long as it runs, for a
//     limited time, to a limited number of rows.
//  6. On tables of ours, row-level security.
//  7. Where the server has a role for it, that role runs it: asker.go.

// PostgreSQL's functions that only compute, and cost no more than they are given.
// Those that make text of any length from a number, that read files, settings or
// the catalogue, that wait, lock or run a text as a query, are not here.
var functions = setOf(`abs age array_agg array_length avg bool_and bool_or cardinality ceil ceiling char_length
	character_length coalesce concat concat_ws count cume_dist date date_part date_trunc decimal_sum dense_rank every
	extract first_value floor greatest initcap json_agg json_array_length json_build_array json_build_object
	json_extract_path_text json_object_agg json_typeof jsonb_agg jsonb_array_length jsonb_build_array jsonb_build_object
	jsonb_extract_path_text jsonb_object_agg jsonb_typeof lag last_value lead least left length lower ltrim max min mod
	nth_value ntile nullif octet_length percent_rank percentile_cont percentile_disc position power rank replace reverse
	right round row_number rtrim sign split_part sqrt starts_with string_agg strpos substr substring sum to_char to_date
	to_json to_jsonb trim trunc upper`)

// renamed are functions of the store that is a file, by what they are called
// here.
var renamed = map[string]string{"decimal_sum": "sum"}

// tableFunctions may stand where a table can.
var tableFunctions = setOf("json_array_elements json_array_elements_text jsonb_array_elements jsonb_array_elements_text json_each json_each_text jsonb_each jsonb_each_text unnest")

// asking are functions in whose brackets FROM names no table.
var asking = setOf("extract substring trim")

// types are those that a value can be made of: none looks a name up.
var types = setOf(`int integer bigint smallint int2 int4 int8 numeric decimal text varchar boolean bool date timestamp
	timestamptz time interval uuid json jsonb`)

// Words after which a bracket does not make a call, and a text can stand.
var noCalls = setOf(`all and any array as between both by case cast collate cross cube distinct else end escape except
	exists filter first from full group grouping having ilike in inner intersect is isnull join last leading left like
	limit materialized natural not notnull null nulls offset on or order outer over partition right rollup row select
	sets some symmetric then trailing union using values when where with within zone`)

// Words that have no business in a query.
var refused = setOf(`copy current_catalog current_role current_schema current_user delete execute insert into lateral
	merge operator recursive returning session_user similar table tablesample update user`)

// reserved reports whether a name is PostgreSQL's or ours.
func reserved(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "pg_") || strings.HasPrefix(name, "verbatim_") || name == "information_schema"
}

// A query is an author's text, taken apart and found harmless as far as the text
// alone can tell.
type query struct {
	sql    stores.SQL
	toks   []token
	as     []string                  // per token: what is written in its place
	tables []*stores.Entity          // the entities named, in order of first use
	names  map[*stores.Entity]string // what each is called in the query
	ctes   []string                  // the author's own common tables, in order
}

// A frame is what the walk knows of one pair of brackets.
type frame struct {
	from    bool // within a FROM clause
	expect  bool // a table comes next
	table   bool // stands where a table can
	selects bool // holds a SELECT, and not only VALUES
	limits  bool // has a LIMIT or an OFFSET
	asks    bool // of a call in which FROM names no table
	casts   bool // of a CAST, in which AS names a type
	several bool // holds more than one table
	open    int  // its first bracket
}

// parse walks a query.
//
// What it writes for the author's own subqueries keeps them unfolded: PostgreSQL
// puts a subquery's expressions wherever its columns are mentioned, and thirty
// subqueries that each say x || x would become a billion expressions while the
// statement is still being planned. It does so neither to a common table that is
// MATERIALIZED nor to a subquery with an OFFSET.
func parse(entities []*stores.Entity, q stores.SQL) (*query, error) {
	toks, lexErr := lex(q.Text)
	if lexErr != nil {
		return nil, lexErr
	}
	p := &query{sql: q, toks: toks, as: make([]string, len(toks)), names: map[*stores.Entity]string{}}
	for i, t := range toks {
		switch {
		case t.isText():
			p.as[i] = literalText(t.name)
		case t.kind == quoted:
			p.as[i] = quote(t.name)
		default:
			p.as[i] = t.text
		}
	}
	if !toks[0].is("SELECT", "WITH") {
		return nil, p.fail(0, "a query begins with SELECT or WITH")
	}
	frames := []frame{{}}
	with := toks[0].is("WITH") // before the author's first SELECT at the outermost level
	depth := func() int { return len(frames) - 1 }
	for i := 0; i < len(toks)-1; i++ {
		f := &frames[len(frames)-1]
		t, next := toks[i], toks[i+1]
		prev := token{kind: end}
		if i > 0 {
			prev = toks[i-1]
		}
		if with && depth() == 0 {
			// WITH name [(column, …)] AS [[NOT] MATERIALIZED] ( … ), …
			switch {
			case i == 0:
				continue
			case t.is("SELECT"):
				with = false
			case (prev.is("WITH") || prev.is(",")) && t.naming():
				if t.kind == word && refused[t.name] {
					return nil, p.fail(i, "%s is not allowed in a query", strings.ToUpper(t.text))
				}
				if reserved(t.name) {
					return nil, p.fail(i, "the name %s is taken", t.name)
				}
				for _, e := range entities {
					if strings.EqualFold(t.name, e.Table) || strings.EqualFold(t.name, lastPart(e.Table)) || strings.EqualFold(t.name, flat(e)) {
						return nil, p.fail(i, "%s is the name of a table already", t.name)
					}
				}
				if slices.Contains(p.ctes, t.name) {
					return nil, p.fail(i, "%s is named twice", t.name)
				}
				p.ctes = append(p.ctes, t.name)
				continue
			case t.is("AS"):
				p.as[i] = "AS MATERIALIZED" // see above
				continue
			case t.is("NOT", "MATERIALIZED"):
				p.as[i] = ""
				continue
			case t.is(","):
				continue
			case t.is("("):
				frames = append(frames, frame{})
				continue
			default:
				return nil, p.fail(i, "WITH is followed by a name, AS, and a query in brackets")
			}
			f = &frames[len(frames)-1]
		}
		switch {
		case f.expect && !t.is("(", "SELECT", "VALUES"):
			f.expect = false
			last, e := p.table(i, entities, with)
			if e != nil {
				return nil, e
			}
			i = last
			continue
		case t.is("("):
			inner := frame{from: f.expect, expect: f.expect, table: f.expect, open: i, casts: prev.is("CAST"), asks: prev.kind == word && asking[prev.name]}
			f.expect = false
			frames = append(frames, inner)
			continue
		case t.is(")"):
			if depth() == 0 {
				return nil, p.fail(i, "a bracket that was never opened")
			}
			if f.table && f.selects && !f.limits {
				p.as[i] = "OFFSET 0 )" // see above
			}
			if f.table && !f.selects && !f.several {
				p.as[f.open], p.as[i] = "", "" // brackets around one table mean nothing
			}
			frames = frames[:len(frames)-1]
			continue
		case t.is("::") || f.casts && t.is("AS"):
			// The type's name is looked at here; what may follow it is harmless.
			if next.kind != word || !types[next.name] || toks[min(i+2, len(toks)-1)].is(".") {
				return nil, p.fail(i+1, "%s is not a type that a query may make", strings.TrimSpace(next.text+" "))
			}
			i++
			continue
		}
		if prev.is(".") && t.naming() {
			if next.is("(") {
				return nil, p.fail(i, "the function %s is not one that a query may use", t.name)
			}
			continue // a column's name, whatever it is
		}
		switch {
		case t.is("SELECT", "VALUES"):
			f.from, f.expect, f.asks = false, false, false
			f.selects, f.several = f.selects || t.is("SELECT"), true
		case t.is("FROM"):
			// x IS NOT DISTINCT FROM y names no table, nor does extract(year FROM y).
			if !f.asks && !(prev.is("DISTINCT") && i > 1 && toks[i-2].is("IS", "NOT")) {
				f.from, f.expect = true, true
			}
		case t.is("FOR"):
			if !f.asks {
				return nil, p.fail(i, "FOR is not allowed in a query")
			}
		case t.is("JOIN") || t.is(",") && f.from:
			f.expect, f.several = true, true
		case t.is("WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "FETCH", "UNION", "EXCEPT", "INTERSECT", "WINDOW"):
			f.from = false
			f.limits = f.limits || t.is("LIMIT", "OFFSET", "FETCH")
		case t.is("WITH"):
			return nil, p.fail(i, "WITH stands at the beginning of a query only")
		case t.kind == word && refused[t.name]:
			return nil, p.fail(i, "%s is not allowed in a query", strings.ToUpper(t.text))
		case t.kind == param:
			if !slices.Contains(q.Params, t.name) {
				return nil, p.fail(i, "there is no argument %s", t.name)
			}
		case t.naming():
			if reserved(t.name) {
				return nil, p.fail(i, "the name %s is taken", t.name)
			}
			keyword := t.kind == word && noCalls[t.name]
			if next.is("(") && !keyword {
				if !functions[t.name] {
					return nil, p.fail(i, "the function %s is not one that a query may use", t.name)
				}
				if ours, ok := renamed[t.name]; ok {
					p.as[i] = ours
				}
			}
			// A word before a text makes a value of a type, or reads the text in
			// another way.
			if next.isText() && !keyword && !(t.kind == word && types[t.name]) {
				return nil, p.fail(i, "%s is not a type that a query may make", t.name)
			}
			// schema.table.column
			if next.is(".") && i+4 < len(toks) && toks[i+3].is(".") {
				if e := declared2(entities, t.name+"."+toks[i+2].name); e != nil {
					p.as[i], p.as[i+1], p.as[i+2] = "\x00"+flat(e), "", ""
					i += 2
				}
			}
		}
	}
	if depth() > 0 {
		return nil, p.fail(len(toks)-1, "a bracket is never closed")
	}
	p.call()
	return p, nil
}

func (p *query) fail(i int, format string, args ...any) error {
	return &stores.SQLError{Offset: p.toks[i].start, Msg: fmt.Sprintf(format, args...)}
}

func lastPart(table string) string { return table[strings.LastIndexByte(table, '.')+1:] }

// flat is an entity's table in one word.
func flat(e *stores.Entity) string { return strings.ReplaceAll(e.Table, ".", "_") }

// declared2 finds an entity by its table, as the palette writes it.
func declared2(entities []*stores.Entity, table string) *stores.Entity {
	for _, e := range entities {
		if strings.EqualFold(e.Table, table) {
			return e
		}
	}
	return nil
}

// table reads a table's name at token i and returns its last token.
func (p *query) table(i int, entities []*stores.Entity, with bool) (int, error) {
	t := p.toks[i]
	if !t.naming() {
		return i, p.fail(i, "a table's name is missing")
	}
	name, last := t.name, i
	for p.toks[last+1].is(".") && p.toks[last+2].naming() {
		name += "." + p.toks[last+2].name
		last += 2
	}
	if p.toks[last+1].is("(") {
		if last > i || !tableFunctions[name] || slices.Contains(p.ctes, name) {
			return i, p.fail(i, "the function %s cannot stand for a table", name)
		}
		return last, nil
	}
	if last == i {
		if n := slices.Index(p.ctes, name); n >= 0 {
			// Within WITH, only what came before: a table that reads itself may
			// never end.
			if with && n == len(p.ctes)-1 {
				return i, p.fail(i, "%s reads itself", name)
			}
			return last, nil
		}
	}
	e := declared2(entities, name)
	if last == i && strings.Contains(name, ".") {
		e = nil // "schema.table" is one name, of another table
	}
	if e == nil {
		for _, e := range entities {
			if strings.EqualFold(lastPart(e.Table), name) {
				return i, p.fail(i, "no palette declares the table %s; did you mean %s?", name, e.Table)
			}
		}
		return i, p.fail(i, "no palette declares the table %s", name)
	}
	if !slices.Contains(p.tables, e) {
		p.tables = append(p.tables, e)
	}
	p.as[i] = "\x00" + flat(e)
	for j := i + 1; j <= last; j++ {
		p.as[j] = ""
	}
	return last, nil
}

// call gives every entity the name under which the query sees it: the last part
// of its table's name, so that columns can be qualified with it as elsewhere, or
// all of it where two would be called the same.
func (p *query) call() {
	for _, e := range p.tables {
		name := lastPart(e.Table)
		for _, other := range p.tables {
			if other != e && strings.EqualFold(lastPart(other.Table), name) {
				name = flat(e)
			}
		}
		p.names[e] = name
	}
	for i, s := range p.as {
		if !strings.HasPrefix(s, "\x00") {
			continue
		}
		p.as[i] = quote(s[1:])
		for _, e := range p.tables {
			if flat(e) == s[1:] {
				p.as[i] = quote(p.names[e])
			}
		}
	}
}

// A statement is what runs of a query.
type statement struct {
	sql  string
	args []any
	at   []int // where each token of the query begins in sql
	to   int   // where the query ends in it
}

// write makes the statement that runs.
func (p *query) write(v *view, limit int) *statement {
	t := newText()
	for i, e := range p.tables {
		if i == 0 {
			t.add("WITH ")
		} else {
			t.add(", ")
		}
		hint := " AS NOT MATERIALIZED ("
		if !v.opens(e) {
			hint = " AS MATERIALIZED ("
		}
		t.add(quote(p.names[e]), hint, "SELECT ")
		bare := true
		for i := range e.Fields {
			if !p.sql.Reads(e, i) {
				continue
			}
			if !bare {
				t.add(",")
			}
			bare = false
			// JSON as it is declared, so that its operators work on it.
			col := column(e, "t", i)
			if e.Fields[i].Keeps() != stores.JSON {
				col = v.datum(e, "t", i)
			}
			if s := e.Fields[i].Spelling; s != nil && s.Digits > 0 {
				col = "(" + col + " * 0." + strings.Repeat("0", s.Digits-1) + "1)"
			}
			t.add(col, " AS ", quote(e.Fields[i].Column))
		}
		t.add(" FROM ", table(e), " t WHERE true")
		v.within(t, e, "t", true)
		t.add(")")
	}
	s := &statement{args: slices.Clone(t.filled()), at: make([]int, len(p.toks))}
	b := []byte(t.whole() + " SELECT * FROM (")
	first := len(s.args) + 1
	used := make([]bool, len(p.sql.Params))
	for i := range p.toks[:len(p.toks)-1] {
		b = append(b, ' ')
		s.at[i] = len(b)
		if p.toks[i].kind != param {
			b = append(b, p.as[i]...)
			continue
		}
		k := slices.Index(p.sql.Params, p.toks[i].name)
		used[k] = true
		b = append(b, p.argument(k, first)...)
	}
	s.to = len(b)
	b = append(b, " ) verbatim_result"...)
	if slices.Contains(used, false) {
		// PostgreSQL wants to know the type of every argument.
		b = append(b, " WHERE true"...)
		for k := range used {
			if !used[k] {
				b = fmt.Appendf(b, " OR $%d::text IS NULL", first+k)
			}
		}
	}
	s.sql = string(b) + " LIMIT " + strconv.Itoa(limit)
	for i := range p.sql.Params {
		var arg any // CheckSQL may have none yet
		if i < len(p.sql.Args) {
			arg = encode(p.sql.Args[i])
		}
		s.args = append(s.args, arg)
	}
	return s
}

// argument writes a placeholder for a parameter, with the type of its value or
// the one that was declared. Where neither is known, its type is that of the
// place where it stands, and a place such as IS NULL gives none.
func (p *query) argument(k, first int) string {
	s := "$" + strconv.Itoa(first+k)
	kind := stores.Null
	if k < len(p.sql.Args) {
		kind = p.sql.Args[k].Kind()
	}
	if kind == stores.Null && k < len(p.sql.Kinds) {
		kind = p.sql.Kinds[k]
	}
	switch kind {
	case stores.Null:
		return s
	case stores.JSON:
		return s + "::jsonb"
	}
	return s + "::" + typeOf(kind)
}

// CheckSQL implements stores.Store.
func (s *Store) CheckSQL(ctx context.Context, entities []*stores.Entity, q stores.SQL) error {
	return s.read(ctx, s.pool, stores.Scope{}, func(c *conn) error { return c.checkSQL(ctx, entities, q) })
}

func (c *conn) checkSQL(ctx context.Context, entities []*stores.Entity, q stores.SQL) error {
	p, err := parse(entities, q)
	if err != nil {
		return err
	}
	if err := columnsNamed(q); err != nil {
		return err
	}
	scope := stores.Scope{Principal: "x", Holds: map[string][]stores.Value{}}
	for _, e := range p.tables {
		if n := len(e.Scope); n > 0 && e.Access == stores.ByPath {
			root := e.Scope[n-1].To
			scope.Holds[root.Name] = []stores.Value{sample(root)}
		}
		scope.Holds[e.Name] = []stores.Value{sample(e)}
	}
	for _, sc := range []stores.Scope{scope, {All: true}} {
		v := &view{scoped: newScoped(sc)}
		if err := c.ready(ctx, v, p.tables...); err != nil {
			return err
		}
		err := c.aside(ctx, c.asks(q), func() error { return c.check(ctx, p, v, p.write(v, 1)) })
		if err != nil {
			return err
		}
	}
	return nil
}

// sample is some key of an entity.
func sample(e *stores.Entity) stores.Value {
	switch e.Fields[e.Key].Kind {
	case stores.Int:
		return stores.NewInt(0)
	case stores.UUID:
		v, _ := stores.ParseUUID("00000000-0000-0000-0000-000000000000")
		return v
	}
	return stores.NewString("")
}

func columnsNamed(q stores.SQL) error {
	if len(q.Columns) == 0 {
		return &stores.SQLError{Offset: -1, Msg: "the palette does not say which columns come back"}
	}
	return nil
}

// asks is the role that runs a query. One that says which of its columns are sensitive
// reads what only the application's own may.
func (c *conn) asks(q stores.SQL) string {
	if q.Sensitive {
		return ""
	}
	return c.asker
}

// aside runs fn where nothing can be written, for so long and no longer, as another role
// unless that is "", and leaves the transaction as it was before, even when fn fails. What
// look reads is read before fn and again after it, in round trips that are made anyway.
func (c *conn) aside(ctx context.Context, as string, fn func() error, look ...op) error {
	set := op{doing: "query", sql: setAside, args: []any{milliseconds(c.s.queryTime)}}
	if as != "" {
		set.sql, set.args = setAside+", pg_catalog.set_config('role', $2::text, true)", append(set.args, as)
	}
	ops := append(look[:len(look):len(look)], op{doing: "query", sql: "SAVEPOINT verbatim_aside"}, set)
	err := c.do(ctx, ops...)
	if err != nil {
		return err
	}
	err = fn()
	if c.pc.Conn().IsClosed() {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		c.broken = err
		return err
	}
	firm, cancel := firmly(ctx)
	defer cancel()
	if err == nil && len(look) > 0 {
		return c.do(firm, append([]op{{doing: "query", sql: "ROLLBACK TO SAVEPOINT verbatim_aside"}, {doing: "query", sql: "RELEASE SAVEPOINT verbatim_aside"}}, look...)...)
	}
	if e := c.plain(firm, "query", "ROLLBACK TO SAVEPOINT verbatim_aside; RELEASE SAVEPOINT verbatim_aside"); e != nil {
		c.broken = e
		if err == nil {
			err = e
		}
	}
	return err
}

const setAside = "SELECT pg_catalog.set_config('transaction_read_only', 'on', true), pg_catalog.set_config('statement_timeout', $1::text, true), pg_catalog.set_config('plan_cache_mode', 'auto', true)"

// check asks PostgreSQL about a statement.
func (c *conn) check(ctx context.Context, p *query, v *view, st *statement) error {
	c.s.mu.Lock()
	sound := c.s.sound[st.sql]
	c.s.mu.Unlock()
	if sound {
		return nil
	}
	const name = "verbatim_query"
	desc, err := c.pc.Conn().PgConn().Prepare(ctx, name, st.sql, nil)
	if err != nil {
		return p.blame(ctx, st, err)
	}
	defer func() {
		if !c.pc.Conn().IsClosed() {
			_ = c.pc.Conn().PgConn().Deallocate(context.WithoutCancel(ctx), name)
		}
	}()
	if _, err := p.columns(len(desc.Fields), func(i int) string { return desc.Fields[i].Name }); err != nil {
		return err
	}
	if err := c.explain(ctx, p, name, len(desc.ParamOIDs)); err != nil {
		return err
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if len(c.s.sound) >= maxSound {
		clear(c.s.sound)
	}
	c.s.sound[st.sql] = true
	return nil
}

// maxSound bounds what a store remembers of queries.
const maxSound = 500

// explain looks at the plan that PostgreSQL makes of a prepared statement: a
// plan for any arguments, in which nothing is left out because of the ones at
// hand.
func (c *conn) explain(ctx context.Context, p *query, name string, args int) error {
	allowed := map[string]bool{}
	known := map[*stores.Entity]bool{}
	for _, e := range p.tables {
		for _, at := range append([]*stores.Entity{e}, tos(e)...) {
			if known[at] {
				continue
			}
			known[at] = true
			columns := "*"
			if c.asks(p.sql) != "" {
				columns = columnList(asks(at, slices.Contains(p.tables, at), p.tables))
			}
			plan, err := c.planOf(ctx, "SELECT "+columns+" FROM "+table(at))
			if err != nil {
				return err
			}
			plan.relations(allowed)
		}
	}
	if err := c.plain(ctx, "explain", "SET LOCAL plan_cache_mode = force_generic_plan"); err != nil {
		return err
	}
	list := strings.TrimSuffix(strings.Repeat("NULL,", args), ",")
	if args > 0 {
		list = "(" + list + ")"
	}
	plan, err := c.planOf(ctx, "EXECUTE "+quote(name)+list)
	if err == nil {
		err = c.plain(ctx, "explain", "SET LOCAL plan_cache_mode = auto")
	}
	if err != nil {
		return err
	}
	reads := map[string]bool{}
	ok := plan.relations(reads)
	for r := range reads {
		ok = ok && allowed[r]
	}
	if !ok {
		return &stores.SQLError{Offset: 0, Msg: "the query would do something other than read the tables that the palettes declare"}
	}
	return nil
}

// tos lists the entities that a scope path crosses.
func tos(e *stores.Entity) []*stores.Entity {
	var all []*stores.Entity
	for _, step := range e.Scope {
		if step.To != nil {
			all = append(all, step.To)
		}
	}
	return all
}

// A plan is a node of what EXPLAIN says.
type plan struct {
	Node     string `json:"Node Type"`
	Schema   string
	Relation string `json:"Relation Name"`
	Function string `json:"Function Name"`
	Plans    []*plan
}

// planOf asks for the plan of a statement without arguments.
func (c *conn) planOf(ctx context.Context, sql string) (*plan, error) {
	res, err := c.pc.Conn().PgConn().Exec(ctx, "EXPLAIN (VERBOSE, COSTS OFF, FORMAT JSON) "+sql).ReadAll()
	if err != nil {
		return nil, fault(ctx, "explain", err)
	}
	var out []struct{ Plan *plan }
	if len(res) != 1 || len(res[0].Rows) != 1 || json.Unmarshal(res[0].Rows[0][0], &out) != nil || len(out) != 1 || out[0].Plan == nil {
		return nil, &failure{doing: "explain", cause: errors.New("a plan that cannot be read")}
	}
	return out[0].Plan, nil
}

// relations adds what a plan reads, and reports whether it does no more than
// read.
func (n *plan) relations(to map[string]bool) bool {
	ok := n.Node != "ModifyTable" && n.Node != "LockRows" && n.Node != "Foreign Update"
	if n.Relation != "" {
		to[quote(n.Schema)+"."+quote(n.Relation)] = true
	}
	if n.Node == "Function Scan" || n.Function != "" {
		ok = ok && tableFunctions[n.Function]
	}
	for _, kid := range n.Plans {
		ok = kid.relations(to) && ok
	}
	return ok
}

// blame turns PostgreSQL's complaint about a statement into one about the
// author's text, at the place where it points.
func (p *query) blame(ctx context.Context, st *statement, err error) error {
	var e *pgconn.PgError
	if !errors.As(err, &e) || ctx.Err() != nil {
		return fault(ctx, "query", err)
	}
	if e.Code[:2] != "42" && e.Code[:2] != "22" && e.Code[:2] != "0A" && e.Code[:2] != "54" || e.Code == "42501" {
		return fault(ctx, "query", err)
	}
	// Positions count characters, from one.
	at := -1
	if e.Position > 0 {
		at = 0
		for range e.Position - 1 {
			_, size := utf8.DecodeRuneInString(st.sql[at:])
			at += size
		}
	}
	last := len(p.toks) - 1
	i := -1
	switch {
	case at >= st.to:
		i = last
	case at >= st.at[0] && at >= 0:
		for i = 0; i+1 < last && st.at[i+1] <= at; i++ {
		}
	case at >= 0:
		return fault(ctx, "query", err) // in a part of ours
	}
	if i < 0 {
		return &stores.SQLError{Offset: -1, Msg: e.Message}
	}
	switch e.Code {
	case "42601":
		if i == last {
			return p.fail(i, "the query ends too early")
		}
		return p.fail(i, "%s does not belong here", p.toks[i].text)
	case "42703", "42P01", "42702":
		for i+2 < last && p.toks[i+1].is(".") && p.toks[i+2].naming() {
			i += 2
		}
		if e.Code == "42703" {
			return p.fail(i, "there is no column %s%s", p.toks[i].name, p.sql.Unread(p.tables, p.toks[i].name))
		}
		if e.Code == "42702" {
			return p.fail(i, "the column %s could be that of several tables", p.toks[i].name)
		}
	case "42P18":
		return p.fail(i, "the type of %s cannot be told from where it stands; write CAST(%s AS type)", p.toks[i].text, p.toks[i].text)
	}
	return p.fail(i, "%s", e.Message)
}

// columns finds the declared columns among those that come back.
func (p *query) columns(n int, name func(int) string) ([]int, error) {
	at := make([]int, len(p.sql.Columns))
	seen := map[string]int{}
	for i := range n {
		if _, twice := seen[strings.ToLower(name(i))]; !twice {
			seen[strings.ToLower(name(i))] = i
		}
	}
	for k, c := range p.sql.Columns {
		i, ok := seen[strings.ToLower(c.Name)]
		if !ok {
			return nil, &stores.SQLError{Offset: 0, Msg: fmt.Sprintf("the query returns no column %s, which the palette declares", c.Name)}
		}
		at[k] = i
		delete(seen, strings.ToLower(c.Name))
	}
	if len(seen) > 0 {
		extra := make([]string, 0, len(seen))
		for name := range seen {
			extra = append(extra, name)
		}
		slices.Sort(extra)
		return nil, &stores.SQLError{Offset: 0, Msg: fmt.Sprintf("the query returns a column %s, which the palette does not declare", extra[0])}
	}
	return at, nil
}

// SQL implements stores.Reader.
func (r *reader) SQL(ctx context.Context, entities []*stores.Entity, q stores.SQL) ([][]stores.Value, error) {
	p, err := parse(entities, q)
	if err != nil {
		return nil, err
	}
	if len(q.Args) != len(q.Params) {
		return nil, fmt.Errorf("a query of %d arguments was given %d: %w", len(q.Params), len(q.Args), stores.ErrInvalid)
	}
	if err := columnsNamed(q); err != nil {
		return nil, err
	}
	if err := r.c.ready(ctx, &r.view, p.tables...); err != nil {
		return nil, err
	}
	limit := q.Limit
	if limit <= 0 || limit > r.s.rowCap {
		limit = r.s.rowCap
	}
	var rows [][]stores.Value
	var look []op
	if q.Origins != nil && len(p.tables) > 0 {
		*q.Origins = nil
		look = []op{r.origins(p.tables, q.Origins)}
	}
	err = r.c.aside(ctx, r.c.asks(q), func() error {
		st := p.write(&r.view, limit+1)
		if err := r.c.check(ctx, p, &r.view, st); err != nil {
			return err
		}
		rows, err = r.c.run(ctx, p, st, limit)
		return err
	}, look...)
	if err != nil {
		return nil, ranInto(err)
	}
	if q.Origins != nil {
		slices.Sort(*q.Origins)
		*q.Origins = slices.Compact(*q.Origins)
	}
	return rows, nil
}

// run reads the rows of a statement and gives their columns the declared kinds.
func (c *conn) run(ctx context.Context, p *query, st *statement, limit int) ([][]stores.Value, error) {
	res, err := c.pc.Query(ctx, st.sql, st.args...)
	if err != nil {
		return nil, fault(ctx, "query", err)
	}
	defer res.Close()
	var at []int
	raw := row{texts: new(texts)}
	var rows [][]stores.Value
	for res.Next() {
		if at == nil {
			fields := res.FieldDescriptions()
			if at, err = p.columns(len(fields), func(i int) string { return fields[i].Name }); err != nil {
				return nil, err
			}
			raw.fields = fields
		}
		if len(rows) == limit {
			return nil, fmt.Errorf("more than %d rows: %w", limit, stores.ErrLimit)
		}
		raw.raw = res.RawValues()
		row := make([]stores.Value, len(at))
		for k, i := range at {
			c := p.sql.Columns[k]
			if row[k], err = raw.decode(i, c.Kind); err == nil {
				row[k], err = c.Spelling.Loaded(row[k])
			}
			if err != nil {
				return nil, &stores.SQLError{Offset: 0, Msg: fmt.Sprintf("column %s holds %v", c.Name, err)}
			}
		}
		rows = append(rows, row)
	}
	if err := res.Err(); err != nil {
		return nil, fault(ctx, "query", err)
	}
	return rows, nil
}

// ranInto judges an error of a query at work. PostgreSQL's message may quote a
// value, and is not passed on.
func ranInto(err error) error {
	var f *failure
	if errors.As(err, &f) && len(f.code) == 5 && (f.code[:2] == "22" || f.code[:2] == "42") {
		return &stores.SQLError{Offset: -1, Msg: "the query ran into a value that it cannot handle"}
	}
	return err
}
