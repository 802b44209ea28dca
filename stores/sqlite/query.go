package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"verbatim/stores"
)

// A palette's author may write a query of their own, and must be able to do
// nothing with it but read rows that the caller may see. Five things see to
// that, each of which would be enough for what we know of:
//
//  1. The text is split as SQLite splits it and walked: one statement, a SELECT,
//     in which every name that stands where a table can stand is one that the
//     palettes declare, and every function one of a list.
//  2. Such a name means no table. The query runs below a WITH that gives the
//     name to the entity's rows within the scope, its declared columns only.
//     Within a scope, that part is materialized, so that nothing of the author's
//     is ever computed on a row that was not let through.
//  3. The author's text stands in FROM ( … ), where only a SELECT can stand.
//  4. SQLite is asked, with EXPLAIN, which tables the program that it made opens:
//     they must be those of the declared entities, and all of them for reading.
//  5. It runs for a limited time, to a limited number of rows and, outside a
//     transaction that writes, on a connection that refuses to write at all.

// SQLite's functions that only compute, and cost no more than they are given.
// Those that make text or blobs of any length from a number, that read or load
// files, or that keep state, are not here.
var functions = setOf(`abs avg ceil ceiling char coalesce concat concat_ws count cume_dist
	date datetime decimal_sum dense_rank first_value floor group_concat ifnull iif instr
	json json_array json_array_length json_extract json_group_array json_group_object
	json_object json_quote json_type json_valid julianday lag last_value lead length lower
	ltrim max min mod nth_value ntile nullif octet_length percent_rank power rank replace
	round row_number rtrim sign sqrt strftime string_agg substr substring sum time
	total trim trunc typeof unixepoch upper`)

// implied are functions that operators, and our own part of the statement, call.
var implied = setOf("like glob -> ->> current_date current_time current_timestamp " + canonicalFunction)

// tableFunctions may stand where a table can.
var tableFunctions = setOf("json_each json_tree")

// Words after which a bracket does not make a call.
var noCalls = setOf(`all and as between by case cast collate distinct else end except exists
	filter from glob group having in intersect is isnull join like limit materialized not
	notnull offset on or order over partition select then union using values when where with`)

// Words that have no business in a query. Most of them SQLite would not take
// there either.
var refused = setOf(`alter analyze attach begin commit create delete detach drop explain
	insert into match pragma raise recursive regexp reindex release returning rollback
	savepoint trigger update vacuum`)

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// reserved reports whether a name is SQLite's or ours.
func reserved(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "sqlite_") || strings.HasPrefix(name, "pragma_") || strings.HasPrefix(name, "verbatim_") ||
		name == "sqlite_schema" || name == "dbstat"
}

// A query is an author's text, taken apart and found harmless as far as the text
// alone can tell.
type query struct {
	sql    stores.SQL
	toks   []token
	as     []string                  // per token: what is written in its place
	tables []*stores.Entity          // the entities named, in order of first use
	names  map[*stores.Entity]string // what each is called in the query
	ctes   []string                  // the author's own common tables, lower case, in order
}

// A frame is what the walk knows of one pair of brackets.
type frame struct {
	from    bool // within a FROM clause
	expect  bool // a table comes next
	table   bool // stands where a table can
	selects bool // holds a SELECT, and not only VALUES
	limits  bool // has a LIMIT
}

// parse walks a query.
//
// What it writes for the author's own subqueries keeps them unfolded: SQLite
// likes to put a subquery's expressions wherever its columns are mentioned, and
// thirty subqueries that each say x || x would become a billion expressions
// while the statement is still being prepared, where nothing can interrupt it.
// It does so neither to a common table that is MATERIALIZED nor to a subquery
// with a LIMIT in a query with a LIMIT.
func parse(entities []*stores.Entity, q stores.SQL) (*query, error) {
	toks, lexErr := lex(q.Text)
	if lexErr != nil {
		return nil, lexErr
	}
	p := &query{sql: q, toks: toks, as: make([]string, len(toks)), names: map[*stores.Entity]string{}}
	for i := range toks {
		p.as[i] = toks[i].text
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
				if t.kind == word && refused[strings.ToLower(t.text)] {
					return nil, p.fail(i, "%s is not allowed in a query", strings.ToUpper(t.text))
				}
				if reserved(t.name) {
					return nil, p.fail(i, "the name %s is taken", t.name)
				}
				for _, e := range entities {
					if strings.EqualFold(t.name, e.Table) || strings.EqualFold(t.name, lastPart(e.Table)) || strings.EqualFold(t.name, tableName(e)) {
						return nil, p.fail(i, "%s is the name of a table already", t.name)
					}
				}
				if slices.Contains(p.ctes, strings.ToLower(t.name)) {
					return nil, p.fail(i, "%s is named twice", t.name)
				}
				p.ctes = append(p.ctes, strings.ToLower(t.name))
				continue
			case t.is("AS"):
				p.as[i] = "AS MATERIALIZED" // see unfolded
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
		case f.expect && !t.is("(", "SELECT", "VALUES") || prev.is("IN") && t.naming() && !prev.follows(toks, i-1, "."):
			f.expect = false
			last, e := p.table(i, entities, with)
			if e != nil {
				return nil, e
			}
			i = last
			continue
		case t.is("("):
			inner := frame{from: f.expect, expect: f.expect, table: f.expect}
			f.expect = false
			frames = append(frames, inner)
			continue
		case t.is(")"):
			if depth() == 0 {
				return nil, p.fail(i, "a bracket that was never opened")
			}
			if f.table && f.selects && !f.limits {
				p.as[i] = "LIMIT -1 )" // see unfolded
			}
			frames = frames[:len(frames)-1]
			continue
		}
		if prev.is(".") && t.kind == word {
			continue // a column's name, whatever it is
		}
		switch {
		case t.is("SELECT", "VALUES"):
			f.from, f.expect = false, false
			f.selects = f.selects || t.is("SELECT")
		case t.is("FROM"):
			// x IS NOT DISTINCT FROM y names no table.
			if !(prev.is("DISTINCT") && i > 1 && toks[i-2].is("IS", "NOT")) {
				f.from, f.expect = true, true
			}
		case t.is("JOIN"):
			f.expect = true
		case t.is(",") && f.from:
			f.expect = true
		case t.is("WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION", "EXCEPT", "INTERSECT"):
			f.from = false
			f.limits = f.limits || t.is("LIMIT")
		case t.is("WINDOW") && i+2 < len(toks) && toks[i+2].is("AS"):
			f.from = false
		case t.is("WITH"):
			return nil, p.fail(i, "WITH stands at the beginning of a query only")
		case t.kind == word && refused[strings.ToLower(t.text)]:
			return nil, p.fail(i, "%s is not allowed in a query", strings.ToUpper(t.text))
		case t.kind == param:
			n := slices.Index(q.Params, t.name)
			if n < 0 {
				return nil, p.fail(i, "there is no argument %s", t.name)
			}
			p.as[i] = "?" + strconv.Itoa(n+1) // moved behind the scope's arguments when written
		case t.kind == word || t.kind == quoted:
			if reserved(t.name) {
				return nil, p.fail(i, "the name %s is taken", t.name)
			}
			if next.is(".") && (strings.EqualFold(t.name, "main") || strings.EqualFold(t.name, "temp")) {
				return nil, p.fail(i, "%s is not a schema that a palette declares", t.name)
			}
			if next.is("(") && !(t.kind == word && noCalls[strings.ToLower(t.text)]) && !functions[strings.ToLower(t.name)] {
				return nil, p.fail(i, "the function %s is not one that a query may use", t.name)
			}
			// schema.table.column
			if next.is(".") && i+4 < len(toks) && toks[i+3].is(".") {
				if e := declared2(entities, t.name+"."+toks[i+2].name); e != nil {
					p.as[i], p.as[i+1], p.as[i+2] = "\x00"+tableName(e), "", ""
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

// follows reports whether the token before the one at i is the mark.
func (t token) follows(toks []token, i int, m string) bool { return i > 0 && toks[i-1].is(m) }

func (p *query) fail(i int, format string, args ...any) error {
	return &stores.SQLError{Offset: p.toks[i].start, Msg: fmt.Sprintf(format, args...)}
}

func lastPart(table string) string { return table[strings.LastIndexByte(table, '.')+1:] }

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
		if last > i || !tableFunctions[strings.ToLower(name)] || slices.Contains(p.ctes, strings.ToLower(name)) {
			return i, p.fail(i, "the function %s cannot stand for a table", name)
		}
		return last, nil
	}
	if last == i {
		if n := slices.Index(p.ctes, strings.ToLower(name)); n >= 0 {
			// Within WITH, only what came before: a table that reads itself may
			// never end.
			if with && n == len(p.ctes)-1 {
				return i, p.fail(i, "%s reads itself", name)
			}
			return last, nil
		}
	}
	e := declared2(entities, name)
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
	p.as[i] = "\x00" + tableName(e)
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
				name = tableName(e)
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
			if tableName(e) == s[1:] {
				p.as[i] = quote(p.names[e])
			}
		}
	}
}

// write makes the statement that runs, of the first n tokens of the query.
func (p *query) write(v *view, n, limit int) *text {
	t := newText().add("WITH ")
	for _, e := range p.tables {
		hint := " AS NOT MATERIALIZED ("
		if !v.opens(e) {
			hint = " AS MATERIALIZED ("
		}
		t.add(quote(p.names[e]), hint, "SELECT ")
		for i := range e.Fields {
			if i > 0 {
				t.add(",")
			}
			t.add(datum(e, "t", i))
			if e.Fields[i].Holds() == stores.Decimal {
				t.add(" COLLATE ", decimalCollation)
			}
			t.add(" AS ", quote(e.Fields[i].Column))
		}
		t.add(" FROM ", table(e), " t WHERE 1")
		v.within(t, e, "t", true)
		t.add("), ")
	}
	scope := len(t.args)
	// Materialized, so that all of the work is done before the first row: the
	// driver can interrupt it until then.
	t.add("verbatim_result AS MATERIALIZED (SELECT * FROM (")
	for i := range n {
		t.add(" ")
		if p.toks[i].kind == param {
			k, _ := strconv.Atoi(p.as[i][1:])
			t.add("?", strconv.Itoa(scope+k))
			continue
		}
		t.add(p.as[i])
	}
	t.add(" ) LIMIT ", strconv.Itoa(limit), ") SELECT * FROM verbatim_result")
	for i := range p.sql.Params {
		var arg driver.Value // CheckSQL has none yet
		if i < len(p.sql.Args) {
			arg = encode(p.sql.Args[i])
		}
		t.args = append(t.args, arg)
	}
	return t
}

// CheckSQL implements stores.Store.
func (s *Store) CheckSQL(ctx context.Context, entities []*stores.Entity, q stores.SQL) error {
	p, err := parse(entities, q)
	if err != nil {
		return err
	}
	if err := columnsNamed(q); err != nil {
		return err
	}
	return s.read(ctx, func(c *conn) error {
		// A scope that holds nothing would let SQLite leave out what it can
		// see to be empty.
		scope := stores.Scope{Principal: "x", Holds: map[string][]stores.Value{}}
		for _, e := range p.tables {
			if n := len(e.Scope); n > 0 && e.Access == stores.ByPath {
				root := e.Scope[n-1].To
				scope.Holds[root.Name] = []stores.Value{sample(root)}
			}
			scope.Holds[e.Name] = []stores.Value{sample(e)}
		}
		for _, v := range []*view{{scope}, {stores.Scope{All: true}}} {
			if _, err := c.check(p, v, 1); err != nil {
				return err
			}
		}
		return nil
	})
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

// check makes the statement that a query runs as, and asks SQLite about it.
func (c *conn) check(p *query, v *view, limit int) (*text, error) {
	t := p.write(v, len(p.toks)-1, limit)
	if c.checked[t.String()] {
		return t, nil
	}
	columns, err := c.describe(t)
	if err != nil {
		return nil, c.blame(p, v, err)
	}
	if _, err := p.columns(len(columns), func(i int) string { return columns[i].Name }); err != nil {
		return nil, err
	}
	if err := c.explain(p, t); err != nil {
		return nil, err
	}
	if len(c.checked) >= maxStatements {
		clear(c.checked)
	}
	c.checked[t.String()] = true
	return t, nil
}

// describe prepares a statement and returns the columns that it would return.
func (c *conn) describe(t *text) ([]sqlite.ColumnInfo, error) {
	info, ok := c.dc.(interface {
		ColumnInfo(string) ([]sqlite.ColumnInfo, error)
	})
	if !ok {
		return nil, errors.New("sqlite: the driver cannot describe a statement")
	}
	return info.ColumnInfo(t.String())
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

// explain looks at the program that SQLite makes of a statement.
func (c *conn) explain(p *query, t *text) error {
	pages, err := c.pages(p)
	if err != nil {
		return err
	}
	err = c.query(context.Background(), "EXPLAIN "+t.String(), t.args, func(row []driver.Value) error {
		op, _ := row[1].(string)
		p1, _ := row[2].(int64)
		p2, _ := row[3].(int64)
		p3, _ := row[4].(int64)
		p4, _ := row[5].(string)
		bad := false
		switch op {
		case "Transaction":
			bad = p1 != 0 || p2 != 0 // another database, or one to write
		case "OpenRead", "ReopenIdx":
			bad = p3 != 0 || !pages[p2]
		case "Function", "PureFunc", "AggStep", "AggStep1", "AggInverse":
			name, _, _ := strings.Cut(p4, "(")
			bad = !functions[name] && !implied[name]
		case "VOpen":
			bad = !slices.ContainsFunc(p.toks, func(t token) bool { return tableFunctions[strings.ToLower(t.name)] })
		case "OpenWrite", "CreateBtree", "Clear", "Destroy", "DropTable", "DropIndex", "DropTrigger", "ParseSchema", "SqlExec",
			"SetCookie", "ReadCookie", "AutoCommit", "Savepoint", "Vacuum", "IncrVacuum", "JournalMode", "Checkpoint", "Pagecount", "MaxPgcnt",
			"VCreate", "VDestroy", "VUpdate", "VRename", "VBegin", "LoadAnalysis", "Program", "FkCheck", "TableLock", "CursorLock":
			bad = true
		}
		if bad {
			return &stores.SQLError{Offset: 0, Msg: "the query would do something other than read the tables that the palettes declare"}
		}
		return nil
	})
	return fault("explain", err)
}

// pages lists the root pages of what a query may open: the tables it names,
// those that their scope paths cross, and their indexes. Those of a view are
// what SQLite opens for the view.
func (c *conn) pages(p *query) (map[int64]bool, error) {
	pages := map[int64]bool{}
	done := map[string]bool{}
	add := func(e *stores.Entity) error {
		if done[tableName(e)] {
			return nil
		}
		done[tableName(e)] = true
		view := false
		err := c.query(context.Background(), "SELECT rootpage, type FROM main.sqlite_schema WHERE lower(tbl_name) = lower(?)", []driver.Value{tableName(e)}, func(row []driver.Value) error {
			if page, _ := row[0].(int64); page > 1 {
				pages[page] = true
			}
			view = view || row[1] == "view"
			return nil
		})
		if err != nil || !view {
			return err
		}
		return c.query(context.Background(), "EXPLAIN SELECT * FROM "+table(e), nil, func(row []driver.Value) error {
			if row[1] == "OpenRead" {
				page, _ := row[3].(int64)
				pages[page] = page > 1
			}
			return nil
		})
	}
	for _, e := range p.tables {
		if err := add(e); err != nil {
			return nil, err
		}
		for _, step := range e.Scope {
			if step.To == nil {
				continue
			}
			if err := add(step.To); err != nil {
				return nil, err
			}
		}
	}
	return pages, nil
}

// blame turns SQLite's complaint about a statement into one about the author's
// text, at the right place where SQLite names it.
func (c *conn) blame(p *query, v *view, err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	_, msg, _ := strings.Cut(e.Error(), ": ")
	if i := strings.LastIndex(msg, " ("); i > 0 {
		msg = msg[:i]
	}
	last := len(p.toks) - 1
	if near, ok := strings.CutPrefix(msg, `near "`); ok {
		near, _, _ = strings.Cut(near, `": `)
		// Which of several is meant, the shortest beginning tells that SQLite
		// complains of in the same way.
		for i := range last {
			if p.as[i] != near && p.toks[i].text != near {
				continue
			}
			if _, err := c.describe(p.write(v, i+1, 1)); err != nil && strings.Contains(err.Error(), `near "`+near+`"`) {
				return p.fail(i, "%s does not belong here", near)
			}
		}
		return p.fail(last, "the query ends too early")
	}
	for _, kind := range []struct{ prefix, say string }{
		{"no such column: ", "there is no column %s"},
		{"ambiguous column name: ", "the column %s could be that of several tables"},
		{"no such table: ", "there is no table %s"},
		{"no such function: ", "there is no function %s"},
		{"wrong number of arguments to function ", "the function %s takes another number of arguments"},
		{"misuse of aggregate function ", "the function %s counts over many rows, and has no place here"},
		{"misuse of aggregate: ", "the function %s counts over many rows, and has no place here"},
		{"no such collation sequence: ", "there is no collation %s"},
		{"misuse of window function ", "the function %s needs OVER"},
	} {
		name, ok := strings.CutPrefix(msg, kind.prefix)
		if !ok {
			continue
		}
		name = strings.TrimSuffix(name, "()")
		at := &stores.SQLError{Offset: -1, Msg: fmt.Sprintf(kind.say, name)}
		want := lastPart(name)
		for i := range last {
			if p.toks[i].naming() && strings.EqualFold(p.toks[i].name, want) {
				at.Offset = p.toks[i].start
				break
			}
		}
		return at
	}
	if msg == "incomplete input" {
		return p.fail(last, "the query ends too early")
	}
	return &stores.SQLError{Offset: -1, Msg: msg}
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
	limit := q.Limit
	if limit <= 0 || limit > r.s.rowCap {
		limit = r.s.rowCap
	}
	t, err := r.c.check(p, &r.view, limit+1)
	if err != nil {
		return nil, err
	}
	if q.Origins != nil {
		if *q.Origins, err = r.origins(p.tables); err != nil {
			return nil, err
		}
	}
	timed, cancel := context.WithTimeout(ctx, r.s.queryTime)
	defer cancel()
	rows, err := r.run(timed, p, t, limit)
	if err != nil {
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case timed.Err() != nil:
			return nil, fmt.Errorf("more than %v: %w", r.s.queryTime, stores.ErrLimit)
		}
		return nil, ranInto(err)
	}
	return rows, nil
}

// run reads the rows of a statement and gives their columns the declared kinds.
func (r *reader) run(ctx context.Context, p *query, t *text, limit int) ([][]stores.Value, error) {
	st, err := r.c.prepare(ctx, t.String())
	if err != nil {
		return nil, err
	}
	res, err := st.QueryContext(ctx, r.c.bind(t.args))
	if err != nil {
		return nil, err
	}
	defer res.Close()
	names := res.Columns()
	at, err := p.columns(len(names), func(i int) string { return names[i] })
	if err != nil {
		return nil, err
	}
	vals := make([]driver.Value, len(names))
	var rows [][]stores.Value
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		switch err := res.Next(vals); {
		case isEOF(err):
			return rows, nil
		case err != nil:
			return nil, err
		}
		if len(rows) == limit {
			return nil, fmt.Errorf("more than %d rows: %w", limit, stores.ErrLimit)
		}
		row := make([]stores.Value, len(at))
		for k, i := range at {
			c := p.sql.Columns[k]
			if row[k], err = decode(c.Kind, vals[i]); err != nil {
				hint := ""
				if _, fraction := vals[i].(float64); fraction && c.Kind == stores.Decimal {
					hint = " (" + sumFunction + " adds exactly)"
				}
				return nil, &stores.SQLError{Offset: 0, Msg: fmt.Sprintf("column %s holds %v%s", c.Name, err, hint)}
			}
		}
		rows = append(rows, row)
	}
}

// ranInto judges an error of a query at work. SQLite's message may quote a
// value, so that only some of them are passed on.
func ranInto(err error) error {
	code := resultCode(err)
	if code == 0 {
		return err
	}
	msg := err.Error()
	for _, known := range []string{"malformed JSON", "integer overflow", "string or blob too big"} {
		if strings.Contains(msg, known) {
			return &stores.SQLError{Offset: -1, Msg: "the query ran into a value that it cannot handle: " + known}
		}
	}
	if _, what, ok := strings.Cut(msg, unreadable+" "); ok {
		what, _, _ = strings.Cut(what, " (")
		return &stores.SQLError{Offset: -1, Msg: what}
	}
	if code == lib.SQLITE_ERROR {
		return &stores.SQLError{Offset: -1, Msg: "the query ran into a value that it cannot handle"}
	}
	return fault("query", err)
}
