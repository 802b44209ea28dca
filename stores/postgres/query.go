package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"

	"verbatim/stores"
	"verbatim/stores/sqlcore"
)

// A palette's author may write a query of their own, and must be able to do nothing with it but
// read rows that the caller may see. Seven measures ensure that, each of which would stop every
// attack that we know of:
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

// guardian says what an author may write for PostgreSQL. Operators are written with spaces
// between them: PostgreSQL would read a run of such characters as one operator. Text that
// PostgreSQL reads differently depending on its settings is refused, or written so that it reads
// it in only one way.
var guardian = &sqlcore.Guard{Dialect: dialect, Schemas: true,
	TableFunctions: sqlcore.SetOf("json_array_elements json_array_elements_text jsonb_array_elements jsonb_array_elements_text json_each json_each_text jsonb_each jsonb_each_text unnest"),
	Syntax: &sqlcore.Syntax{
		Quotes: `"`, LineEnds: "\n\r", Nested: true, Params: "$:", MaxName: 63, Plain: sqlcore.Lower,
		Marks: strings.Fields("#>> ->> -> #> @> <@ ?| ?& || <= >= <> != :: ( ) [ ] + - * / % < > = ? , ."),
	}}

// functions are PostgreSQL's functions that only compute, at a cost in proportion to their
// arguments. Not among them are functions that make text of any length from a number, that read
// files, settings or the catalogue, and that wait, lock or run a text as a query.
var functions = sqlcore.SetOf(`abs age array_agg array_length avg bool_and bool_or cardinality ceil ceiling char_length
	character_length coalesce concat concat_ws count cume_dist date date_part date_trunc decimal_sum dense_rank every
	extract first_value floor greatest initcap json_agg json_array_length json_build_array json_build_object
	json_extract_path_text json_object_agg json_typeof jsonb_agg jsonb_array_length jsonb_build_array jsonb_build_object
	jsonb_extract_path_text jsonb_object_agg jsonb_typeof lag last_value lead least left length lower ltrim max min mod
	nth_value ntile nullif octet_length percent_rank percentile_cont percentile_disc position power rank replace reverse
	right round row_number rtrim sign split_part sqrt starts_with string_agg strpos substr substring sum to_char to_date
	to_json to_jsonb trim trunc upper`)

// renamed maps functions of the SQLite store to their names in PostgreSQL.
var renamed = map[string]string{"decimal_sum": "sum"}

// asking are functions in whose parentheses FROM names no table.
var asking = sqlcore.SetOf("extract substring trim")

// types are the types that a query may cast to: none of them looks a name up.
var types = sqlcore.SetOf(`int integer bigint smallint int2 int4 int8 numeric decimal text varchar boolean bool date timestamp
	timestamptz time interval uuid json jsonb`)

// noCalls are words after which a parenthesis does not begin a call, and a text can stand.
var noCalls = sqlcore.SetOf(`all and any array as between both by case cast collate cross cube distinct else end escape except
	exists filter first from full group grouping having ilike in inner intersect is isnull join last leading left like
	limit materialized natural not notnull null nulls offset on or order outer over partition right rollup row select
	sets some symmetric then trailing union using values when where with within zone`)

// refused are words that a query may not use.
var refused = sqlcore.SetOf(`copy current_catalog current_role current_schema current_user delete execute insert into lateral
	merge operator recursive returning session_user similar table tablesample update user`)

// reserved reports whether a name belongs to PostgreSQL or to us.
func reserved(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "pg_") || strings.HasPrefix(name, "verbatim_") || name == "information_schema"
}

// A frame is the state of the walk within one pair of parentheses.
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
// It writes the author's subqueries so that PostgreSQL does not inline them: it would copy a
// subquery's expressions to every mention of its columns, and thirty nested subqueries that each
// say x || x would become a billion expressions while the statement is still being planned.
// PostgreSQL inlines neither a common table that is MATERIALIZED nor a subquery with an OFFSET.
func parse(entities []*stores.Entity, q stores.SQL) (*sqlcore.Query, error) {
	if !utf8.ValidString(q.Text) {
		return nil, &stores.SQLError{Msg: "the query is not UTF-8"}
	}
	p, err := guardian.Split(entities, q)
	if err != nil {
		return nil, err
	}
	toks := p.Toks
	for i, t := range toks {
		if t.IsText() {
			p.As[i] = literalText(t.Name)
		} else if t.Kind == sqlcore.Quoted {
			p.As[i] = quote(t.Name)
		}
	}
	frames := []frame{{}}
	with := toks[0].Is("WITH") // before the author's first SELECT at the outermost level
	depth := func() int { return len(frames) - 1 }
	for i := 0; i < len(toks)-1; i++ {
		f := &frames[len(frames)-1]
		t, next := toks[i], toks[i+1]
		prev := sqlcore.Token{Kind: sqlcore.End}
		if i > 0 {
			prev = toks[i-1]
		}
		if with && depth() == 0 {
			// WITH name [(column, …)] AS [[NOT] MATERIALIZED] ( … ), …
			switch {
			case i == 0:
				continue
			case t.Is("SELECT"):
				with = false
			case (prev.Is("WITH") || prev.Is(",")) && t.Naming():
				if t.Kind == sqlcore.Word && refused[t.Name] {
					return nil, p.Fail(i, "%s is not allowed in a query", strings.ToUpper(t.Text))
				}
				if reserved(t.Name) {
					return nil, p.Fail(i, "the name %s is taken", t.Name)
				}
				if slices.Contains(p.Own, t.Name) {
					return nil, p.Fail(i, "%s is named twice", t.Name)
				}
				if err := p.Names(i); err != nil {
					return nil, err
				}
				continue
			case t.Is("AS"):
				p.As[i] = "AS MATERIALIZED" // see above
				continue
			case t.Is("NOT", "MATERIALIZED"):
				p.As[i] = ""
				continue
			case t.Is(","):
				continue
			case t.Is("("):
				frames = append(frames, frame{})
				continue
			default:
				return nil, p.Fail(i, "WITH is followed by a name, AS, and a query in brackets")
			}
			f = &frames[len(frames)-1]
		}
		switch {
		case f.expect && !t.Is("(", "SELECT", "VALUES"):
			f.expect = false
			last, err := p.Table(i, with)
			if err != nil {
				return nil, err
			}
			i = last
			continue
		case t.Is("("):
			inner := frame{from: f.expect, expect: f.expect, table: f.expect, open: i, casts: prev.Is("CAST"), asks: prev.Kind == sqlcore.Word && asking[prev.Name]}
			f.expect = false
			frames = append(frames, inner)
			continue
		case t.Is(")"):
			if depth() == 0 {
				return nil, p.Fail(i, "a bracket that was never opened")
			}
			if f.table && f.selects && !f.limits {
				p.As[i] = "OFFSET 0 )" // see above
			}
			if f.table && !f.selects && !f.several {
				p.As[f.open], p.As[i] = "", "" // parentheses around one table have no meaning
			}
			frames = frames[:len(frames)-1]
			continue
		case t.Is("::") || f.casts && t.Is("AS"):
			// The name of the type is checked here; what may follow it is harmless.
			if next.Kind != sqlcore.Word || !types[next.Name] || toks[min(i+2, len(toks)-1)].Is(".") {
				return nil, p.Fail(i+1, "%s is not a type that a query may make", strings.TrimSpace(next.Text+" "))
			}
			i++
			continue
		}
		if prev.Is(".") && t.Naming() {
			if next.Is("(") {
				return nil, p.Fail(i, "the function %s is not one that a query may use", t.Name)
			}
			continue // a column's name, which may be any word
		}
		switch {
		case t.Is("SELECT", "VALUES"):
			f.from, f.expect, f.asks = false, false, false
			f.selects, f.several = f.selects || t.Is("SELECT"), true
		case t.Is("FROM"):
			// extract(year FROM y) names no table.
			if !f.asks && p.From(i) {
				f.from, f.expect = true, true
			}
		case t.Is("FOR"):
			if !f.asks {
				return nil, p.Fail(i, "FOR is not allowed in a query")
			}
		case t.Is("JOIN") || t.Is(",") && f.from:
			f.expect, f.several = true, true
		case t.Is("WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "FETCH", "UNION", "EXCEPT", "INTERSECT", "WINDOW"):
			f.from = false
			f.limits = f.limits || t.Is("LIMIT", "OFFSET", "FETCH")
		case t.Is("WITH"):
			return nil, p.Fail(i, "WITH stands at the beginning of a query only")
		case t.Kind == sqlcore.Word && refused[t.Name]:
			return nil, p.Fail(i, "%s is not allowed in a query", strings.ToUpper(t.Text))
		case t.Kind == sqlcore.Param:
			if !slices.Contains(q.Params, t.Name) {
				return nil, p.Fail(i, "there is no argument %s", t.Name)
			}
		case t.Naming():
			if reserved(t.Name) {
				return nil, p.Fail(i, "the name %s is taken", t.Name)
			}
			keyword := t.Kind == sqlcore.Word && noCalls[t.Name]
			if next.Is("(") && !keyword {
				if !functions[t.Name] {
					return nil, p.Fail(i, "the function %s is not one that a query may use", t.Name)
				}
				if ours, ok := renamed[t.Name]; ok {
					p.As[i] = ours
				}
			}
			// A word before a text makes a value of a type, or reads the text in
			// another way.
			if next.IsText() && !keyword && !(t.Kind == sqlcore.Word && types[t.Name]) {
				return nil, p.Fail(i, "%s is not a type that a query may make", t.Name)
			}
			i = p.Qualified(i)
		}
	}
	if depth() > 0 {
		return nil, p.Fail(len(toks)-1, "a bracket is never closed")
	}
	p.Call()
	return p, nil
}

// A statement is the SQL that runs for a query.
type statement struct {
	sql  string
	args []any
	at   []int // where each token of the query begins in sql
	to   int   // where the query ends in it
}

// write makes the statement that runs.
func write(p *sqlcore.Query, v *view, limit int) *statement {
	t := newText()
	sqlcore.With(p, t, v, func(e *stores.Entity, field int) string {
		// JSON in its declared type, so that its operators work on it.
		f, col := &e.Fields[field], column(e, "t", field)
		if f.Keeps() != stores.JSON {
			col = v.told(e, "t", field)
		}
		if f.Spelling != nil && f.Spelling.Digits > 0 {
			col = "(" + col + " * 0." + strings.Repeat("0", f.Spelling.Digits-1) + "1)"
		}
		return col
	})
	s := &statement{args: slices.Clone(filled(t)), at: make([]int, len(p.Toks))}
	b := []byte(t.Whole() + " SELECT * FROM (")
	first := len(s.args) + 1
	used := make([]bool, len(p.SQL.Params))
	for i := range p.Toks[:len(p.Toks)-1] {
		b = append(b, ' ')
		s.at[i] = len(b)
		if p.Toks[i].Kind != sqlcore.Param {
			b = append(b, p.As[i]...)
			continue
		}
		k := slices.Index(p.SQL.Params, p.Toks[i].Name)
		used[k] = true
		b = append(b, argument(p, k, first)...)
	}
	s.to = len(b)
	b = append(b, " ) verbatim_result"...)
	if slices.Contains(used, false) {
		// PostgreSQL needs to know the type of every argument.
		b = append(b, " WHERE true"...)
		for k := range used {
			if !used[k] {
				b = fmt.Appendf(b, " OR $%d::text IS NULL", first+k)
			}
		}
	}
	s.sql = string(b) + " LIMIT " + strconv.Itoa(limit)
	for i := range p.SQL.Params {
		var arg any // CheckSQL may have no arguments yet
		if i < len(p.SQL.Args) {
			arg = encode(p.SQL.Args[i])
		}
		s.args = append(s.args, arg)
	}
	return s
}

// argument writes a placeholder for a parameter, with the type of its value or the declared type.
// If neither is known, PostgreSQL infers the type from the context, which it cannot do in a
// context such as IS NULL.
func argument(p *sqlcore.Query, k, first int) string {
	s := "$" + strconv.Itoa(first+k)
	kind := stores.Null
	if k < len(p.SQL.Args) {
		kind = p.SQL.Args[k].Kind()
	}
	if kind == stores.Null && k < len(p.SQL.Kinds) {
		kind = p.SQL.Kinds[k]
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
	for _, scope := range p.Scopes() {
		v := &view{scoped: newScoped(scope)}
		if err := c.ready(ctx, v, p.Tables...); err != nil {
			return err
		}
		err := c.aside(ctx, c.asks(q), func() error { return c.check(ctx, p, write(p, v, 1)) })
		if err != nil {
			return err
		}
	}
	return nil
}

func columnsNamed(q stores.SQL) error {
	if len(q.Columns) == 0 {
		return &stores.SQLError{Offset: -1, Msg: "the palette does not say which columns come back"}
	}
	return nil
}

// asks returns the role that runs a query. A query that declares sensitive columns reads what
// only the application's own role may.
func (c *conn) asks(q stores.SQL) string {
	if q.Sensitive {
		return ""
	}
	return c.asker
}

// aside runs fn read-only, with a time limit, and under another role unless that is "". It leaves
// the transaction as it was before, even when fn fails. The statements in look run before fn and
// again after it, in round trips that are made anyway.
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
	firm, cancel := stores.Detached(ctx)
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

const setAside = "SELECT pg_catalog.set_config('transaction_read_only', 'on', true), pg_catalog.set_config('statement_timeout', $1::text, true), pg_catalog.set_config('plan_cache_mode', 'auto', true), pg_catalog.set_config('search_path', 'pg_catalog', true)"

// check makes sure, by EXPLAIN, that a statement reads only what it may.
func (c *conn) check(ctx context.Context, p *sqlcore.Query, st *statement) error {
	c.s.mu.Lock()
	sound := c.s.sound[st.sql]
	c.s.mu.Unlock()
	if sound {
		return nil
	}
	const name = "verbatim_query"
	desc, err := c.pc.Conn().PgConn().Prepare(ctx, name, st.sql, nil)
	if err != nil {
		return blame(ctx, p, st, err)
	}
	defer func() {
		if !c.pc.Conn().IsClosed() {
			firm, end := stores.Detached(ctx)
			defer end()
			_ = c.pc.Conn().PgConn().Deallocate(firm, name)
		}
	}()
	if _, err := columnsOf(p, len(desc.Fields), func(i int) string { return desc.Fields[i].Name }); err != nil {
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

// maxSound is how many checked queries a store remembers.
const maxSound = 500

// explain checks the plan that PostgreSQL makes of a prepared statement: a generic plan, which
// leaves nothing out because of the present arguments.
func (c *conn) explain(ctx context.Context, p *sqlcore.Query, name string, args int) error {
	allowed := map[string]bool{}
	known := map[*stores.Entity]bool{}
	for _, e := range p.Tables {
		for _, at := range append([]*stores.Entity{e}, tos(e)...) {
			if known[at] {
				continue
			}
			known[at] = true
			columns := "*"
			if c.asks(p.SQL) != "" {
				columns = columnList(asks(at, slices.Contains(p.Tables, at), p.Tables))
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

// tos lists the entities on a scope path.
func tos(e *stores.Entity) []*stores.Entity {
	var all []*stores.Entity
	for _, step := range e.Scope {
		if step.To != nil {
			all = append(all, step.To)
		}
	}
	return all
}

// A plan is a node of the output of EXPLAIN.
type plan struct {
	Node     string `json:"Node Type"`
	Schema   string
	Relation string `json:"Relation Name"`
	Function string `json:"Function Name"`
	Plans    []*plan
}

// planOf returns the plan of a statement without arguments.
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

// relations adds the relations that a plan reads, and reports whether it only reads.
func (n *plan) relations(to map[string]bool) bool {
	ok := n.Node != "ModifyTable" && n.Node != "LockRows" && n.Node != "Foreign Update"
	if n.Relation != "" {
		to[quote(n.Schema)+"."+quote(n.Relation)] = true
	}
	if n.Node == "Function Scan" || n.Function != "" {
		ok = ok && guardian.TableFunctions[n.Function]
	}
	for _, kid := range n.Plans {
		ok = kid.relations(to) && ok
	}
	return ok
}

// blame turns PostgreSQL's error about a statement into one about the author's text, at the place
// that it points to.
func blame(ctx context.Context, p *sqlcore.Query, st *statement, err error) error {
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
	last := len(p.Toks) - 1
	i := -1
	switch {
	case at >= st.to:
		i = last
	case at >= st.at[0] && at >= 0:
		for i = 0; i+1 < last && st.at[i+1] <= at; i++ {
		}
	case at >= 0:
		return fault(ctx, "query", err) // the error is in a part of ours
	}
	if i < 0 {
		return &stores.SQLError{Offset: -1, Msg: e.Message}
	}
	switch e.Code {
	case "42601":
		if i == last {
			return p.Fail(i, "the query ends too early")
		}
		return p.Fail(i, "%s does not belong here", p.Toks[i].Text)
	case "42703", "42P01", "42702":
		for i+2 < last && p.Toks[i+1].Is(".") && p.Toks[i+2].Naming() {
			i += 2
		}
		if e.Code == "42703" {
			return p.Fail(i, "there is no column %s%s", p.Toks[i].Name, p.SQL.Unread(p.Tables, p.Toks[i].Name))
		}
		if e.Code == "42702" {
			return p.Fail(i, "the column %s could be that of several tables", p.Toks[i].Name)
		}
	case "42P18":
		return p.Fail(i, "the type of %s cannot be told from where it stands; write CAST(%s AS type)", p.Toks[i].Text, p.Toks[i].Text)
	}
	return p.Fail(i, "%s", e.Message)
}

// columnsOf finds the declared columns among those of the result.
func columnsOf(p *sqlcore.Query, n int, name func(int) string) ([]int, error) {
	at := make([]int, len(p.SQL.Columns))
	seen := map[string]int{}
	for i := range n {
		if _, twice := seen[strings.ToLower(name(i))]; !twice {
			seen[strings.ToLower(name(i))] = i
		}
	}
	for k, c := range p.SQL.Columns {
		i, ok := seen[strings.ToLower(c.Name)]
		if !ok {
			return nil, &stores.SQLError{Offset: 0, Msg: fmt.Sprintf("the query returns no column %s, which the palette declares", c.Name)}
		}
		at[k] = i
		delete(seen, strings.ToLower(c.Name))
	}
	if len(seen) > 0 {
		extra := slices.Sorted(maps.Keys(seen))
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
	if err := r.c.ready(ctx, &r.view, p.Tables...); err != nil {
		return nil, err
	}
	limit := sqlcore.Capped(q.Limit, r.s.rowCap)
	var rows [][]stores.Value
	var look []op
	if q.Origins != nil && len(p.Tables) > 0 {
		*q.Origins = nil
		look = []op{r.origins(p.Tables, q.Origins)}
	}
	err = r.c.aside(ctx, r.c.asks(q), func() error {
		st := write(p, &r.view, limit+1)
		if err := r.c.check(ctx, p, st); err != nil {
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

// run reads the rows of a statement and converts their columns to the declared kinds.
func (c *conn) run(ctx context.Context, p *sqlcore.Query, st *statement, limit int) ([][]stores.Value, error) {
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
			if at, err = columnsOf(p, len(fields), func(i int) string { return fields[i].Name }); err != nil {
				return nil, err
			}
			raw.fields = fields
		}
		if len(rows) == limit {
			return nil, fmt.Errorf("more than %d rows: %w", limit, stores.ErrLimit)
		}
		raw.raw = res.RawValues()
		row := make([]stores.Value, len(at))
		wrong := 0
		for k, i := range at {
			c := p.SQL.Columns[k]
			wrong = k
			if row[k], err = raw.decode(i, c.Kind); err == nil {
				row[k], err = c.Spelling.Loaded(row[k])
			}
			if err != nil {
				break
			}
		}
		if err == nil {
			rows = append(rows, row)
		} else if err = p.SQL.Leave(wrong, err, ""); err != nil {
			return nil, err
		}
	}
	if err := res.Err(); err != nil {
		return nil, fault(ctx, "query", err)
	}
	return rows, nil
}

// ranInto interprets an error of a running query. PostgreSQL's message may quote a value, and is
// not passed on.
func ranInto(err error) error {
	var f *failure
	var why *stores.Refused
	if errors.As(err, &f) && len(f.code) == 5 && (f.code[:2] == "22" || f.code[:2] == "42") || errors.As(err, &why) {
		return &stores.SQLError{Offset: -1, Msg: "the query ran into a value that it cannot handle"}
	}
	return err
}
