package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"zombiezen.com/go/sqlite"

	"verbatim/stores"
)

// A palette's author may write a query of their own, and must be able to do
// nothing with it but read rows that the caller may see. Four things see to
// that:
//
//  1. The author's text stands in FROM ( … ), where only a SELECT can stand,
//     below a WITH that gives the name of each entity to its rows within the
//     scope, its declared columns only. Within a scope, that part is
//     materialized, so that nothing of the author's is ever computed on a row
//     that was not let through.
//  2. While SQLite prepares the statement, it asks about each column, table and
//     function, and says in whose text it stands: see guard. In the author's, no
//     table of the file is read, and no function called but those of a list.
//  3. The text is split as SQLite splits it and written anew: one statement, in
//     which every name that stands where a table can stand is one that the
//     palettes declare.
//  4. It runs for a limited time, to a limited number of rows and, outside a
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

// implied are functions that operators call.
var implied = setOf("like glob -> ->> current_date current_time current_timestamp")

// tableFunctions may stand where a table can.
var tableFunctions = setOf("json_each json_tree")

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// A query is an author's text, taken apart.
type query struct {
	sql      stores.SQL
	entities []*stores.Entity // that palettes declare
	toks     []token
	as       []string                  // per token: what is written in its place
	tables   []*stores.Entity          // those that it names, in order of first use
	names    map[*stores.Entity]string // what each is called in the query
	own      map[string]bool           // the author's own common tables, lower case
}

// parse takes a query apart.
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
	p := &query{sql: q, entities: entities, toks: toks, as: make([]string, len(toks)), names: map[*stores.Entity]string{}, own: map[string]bool{}}
	for i := range toks {
		p.as[i] = toks[i].text
	}
	if !toks[0].is("SELECT", "WITH") {
		return nil, p.fail(0, "a query begins with SELECT or WITH")
	}
	// A bracket stands where a table can, or holds a SELECT or a LIMIT, or is
	// within a FROM clause at the moment.
	type bracket struct{ table, selects, limits, from bool }
	brackets := []bracket{{}}
	with := toks[0].is("WITH") // before the author's first SELECT outside brackets
	for i := 0; i < len(toks)-1; i++ {
		f := &brackets[len(brackets)-1]
		heading := with && len(brackets) == 1
		t, next, prev := toks[i], toks[i+1], token{kind: end}
		if i > 0 {
			prev = toks[i-1]
		}
		switch table := from(toks, i-1) || f.from && prev.is("JOIN", ",") || f.table && prev.is("("); {
		case t.is("("):
			brackets = append(brackets, bracket{table: table, from: table})
		case t.is(")"):
			if len(brackets) == 1 {
				return nil, p.fail(i, "a bracket that was never opened")
			}
			if f.table && f.selects && !f.limits {
				p.as[i] = "LIMIT -1 )"
			}
			brackets = brackets[:len(brackets)-1]
		case t.is("SELECT", "VALUES"):
			f.selects, f.from = f.selects || t.is("SELECT"), false
			with = with && !heading
		case table || prev.is("IN") && t.naming() && !(i > 1 && toks[i-2].is(".")):
			last, err := p.table(i)
			if err != nil {
				return nil, err
			}
			i = last
		case prev.is(".") && t.kind == word: // a column's name, whatever it is
		case heading && t.is("AS"):
			p.as[i] = "AS MATERIALIZED"
		case heading && t.is("NOT", "MATERIALIZED"):
			p.as[i] = ""
		case heading && prev.is("WITH", ",") && t.naming():
			name := strings.ToLower(t.name)
			for _, e := range entities {
				if name == strings.ToLower(lastPart(e.Table)) || name == strings.ToLower(tableName(e)) {
					return nil, p.fail(i, "%s is the name of a table already", t.name)
				}
			}
			if strings.HasPrefix(name, "sqlite_") || strings.HasPrefix(name, "verbatim_") || t.is("RECURSIVE") {
				return nil, p.fail(i, "the name %s is taken", t.name)
			}
			p.own[name] = true
		case from(toks, i):
			f.from = true
		case t.is("WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION", "EXCEPT", "INTERSECT"),
			t.is("WINDOW") && i+2 < len(toks) && toks[i+2].is("AS"):
			f.from = false
			f.limits = f.limits || t.is("LIMIT")
		case t.is("WITH") && i > 0:
			return nil, p.fail(i, "WITH stands at the beginning of a query only")
		case t.kind == param:
			n := slices.Index(q.Params, t.name)
			if n < 0 {
				return nil, p.fail(i, "there is no argument %s", t.name)
			}
			p.as[i] = strconv.Itoa(n + 1) // moved behind the scope's arguments when written
		case t.naming() && next.is(".") && i+4 < len(toks) && toks[i+3].is("."): // schema.table.column
			if e := p.declared(t.name + "." + toks[i+2].name); e != nil {
				p.as[i], p.as[i+1], p.as[i+2] = "\x00"+tableName(e), "", ""
				i += 2
			}
		}
	}
	if len(brackets) > 1 {
		return nil, p.fail(len(toks)-1, "a bracket is never closed")
	}
	p.call()
	return p, nil
}

// from reports whether a FROM clause begins at token i: x IS NOT DISTINCT FROM y
// is none.
func from(toks []token, i int) bool {
	return i > 0 && toks[i].is("FROM") && !(i > 1 && toks[i-1].is("DISTINCT") && toks[i-2].is("IS", "NOT"))
}

func (p *query) fail(i int, format string, args ...any) error {
	return &stores.SQLError{Offset: p.toks[i].start, Msg: fmt.Sprintf(format, args...)}
}

func lastPart(table string) string { return table[strings.LastIndexByte(table, '.')+1:] }

// declared finds an entity by its table, as the palette writes it.
func (p *query) declared(table string) *stores.Entity {
	for _, e := range p.entities {
		if strings.EqualFold(e.Table, table) {
			return e
		}
	}
	return nil
}

// table reads a table's name at token i and returns its last token.
func (p *query) table(i int) (last int, err error) {
	if !p.toks[i].naming() {
		return i, p.fail(i, "a table's name is missing")
	}
	name, last := p.toks[i].name, i
	for p.toks[last+1].is(".") && p.toks[last+2].naming() {
		name += "." + p.toks[last+2].name
		last += 2
	}
	own := p.own[strings.ToLower(name)] && last == i
	if p.toks[last+1].is("(") {
		if own || !tableFunctions[strings.ToLower(name)] {
			return i, p.fail(i, "the function %s cannot stand for a table", name)
		}
		return last, nil
	}
	if own {
		return last, nil
	}
	e := p.declared(name)
	if e == nil {
		for _, e := range p.entities {
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
	clear(p.as[i+1 : last+1])
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

// write makes the statement that runs, and says where in it each token of the
// query stands.
func (p *query) write(v *view, limit int) (t *text, at []int) {
	t = newText()
	for i, e := range p.tables {
		if i == 0 {
			t.add("WITH ")
		} else {
			t.add(", ")
		}
		hint := " AS MATERIALIZED (SELECT "
		if v.opens(e) {
			hint = " AS NOT MATERIALIZED (SELECT "
		}
		t.add(quote(p.names[e]), hint)
		first := true
		for i := range e.Fields {
			if !p.sql.Reads(e, i) {
				continue
			}
			if !first {
				t.add(",")
			}
			first = false
			if s := e.Fields[i].Spelling; s != nil && s.Digits > 0 {
				t.add(unitsFunction, "(", column(e, "t", i), ",", strconv.Itoa(s.Digits), ") COLLATE ", decimalCollation, " AS ", quote(e.Fields[i].Column))
				continue
			}
			t.add(datum(e, "t", i))
			if e.Fields[i].Keeps() == stores.Decimal {
				t.add(" COLLATE ", decimalCollation)
			}
			t.add(" AS ", quote(e.Fields[i].Column))
		}
		t.add(" FROM ", table(e), " t WHERE 1")
		v.within(t, e, "t", true)
		t.add(")")
	}
	scope := len(t.args)
	t.add(" SELECT * FROM (")
	for i, as := range p.as {
		at = append(at, t.Len()+1)
		t.add(" ")
		if p.toks[i].kind == param {
			n, _ := strconv.Atoi(as)
			as = "?" + strconv.Itoa(scope+n)
		}
		t.add(as)
	}
	t.add(") LIMIT ", strconv.Itoa(limit))
	t.args = append(t.args, p.sql.Args...) // CheckSQL has none yet
	return t, at
}

// CheckSQL implements stores.Store.
func (s *Store) CheckSQL(ctx context.Context, entities []*stores.Entity, q stores.SQL) error {
	return s.read(ctx, func(c *conn) error { return c.checkSQL(entities, q) })
}

func (c *conn) checkSQL(entities []*stores.Entity, q stores.SQL) error {
	p, err := parse(entities, q)
	if err != nil {
		return err
	}
	// A scope that holds nothing would let SQLite leave out what it can see to be
	// empty.
	scope := stores.Scope{Principal: "x", Holds: map[string][]stores.Value{}}
	for _, e := range p.tables {
		if n := len(e.Scope); n > 0 && e.Access == stores.ByPath {
			root := e.Scope[n-1].To
			scope.Holds[root.Name] = []stores.Value{sample(root)}
		}
		scope.Holds[e.Name] = []stores.Value{sample(e)}
	}
	for _, v := range []*view{{scope}, {stores.Scope{All: true}}} {
		if _, _, err := c.check(p, v, 1); err != nil {
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

// A guard answers SQLite while it prepares a query.
type guard struct {
	*query
	err error // why it was refused
}

// Authorize implements sqlite.Authorizer. SQLite says in which view's or common
// table's text the thing stands that it asks about: in none, or in one of the
// author's own, it is the author who asks. About a table of which no column is
// read it asks when the texts are one already; then it counts whether its name was
// qualified, as it is in our text and in views. It asks about no column that a
// join has by USING or NATURAL, for which parse alone is there.
func (c *conn) Authorize(a sqlite.Action) sqlite.AuthResult {
	g := c.guard
	if g == nil {
		return sqlite.AuthResultOK
	}
	by := strings.ToLower(a.Accessor())
	authors := by == "" || g.own[by]
	switch a.Type() {
	case sqlite.OpSelect:
		return sqlite.AuthResultOK
	case sqlite.OpRead:
		table := strings.ToLower(a.Table())
		if a.Column() == "" {
			authors = a.Database() == "" && !g.own[table] && !g.calls(table)
		}
		if !authors || tableFunctions[table] {
			return sqlite.AuthResultOK
		}
		g.err = g.about(0, table, "no palette declares the table %s")
	case sqlite.OpFunction:
		// The library has no method for the name.
		name := reflect.ValueOf(a).FieldByName("arg2").String()
		if !authors || functions[strings.ToLower(name)] || implied[strings.ToLower(name)] {
			return sqlite.AuthResultOK
		}
		g.err = g.about(0, name, "the function %s is not one that a query may use")
	case sqlite.OpRecursive:
		g.err = g.fail(0, "a common table reads itself")
	default:
		g.err = g.fail(0, "the query would do something other than read")
	}
	return sqlite.AuthResultDeny
}

// calls reports whether the query calls a table of ours so.
func (p *query) calls(name string) bool {
	for _, called := range p.names {
		if strings.EqualFold(called, name) {
			return true
		}
	}
	return false
}

// about complains of what the author's text names, where it does so first from
// token i on.
func (p *query) about(i int, name, format string) error {
	bad := &stores.SQLError{Offset: -1, Msg: fmt.Sprintf(format, name)}
	for _, t := range p.toks[i:] {
		if t.naming() && strings.EqualFold(t.name, lastPart(name)) {
			bad.Offset = t.start
			break
		}
	}
	return bad
}

// check makes the statement that a query runs as, has SQLite prepare it under
// guard, and says where the declared columns come back.
func (c *conn) check(p *query, v *view, limit int) (*text, []int, error) {
	t, at := p.write(v, limit)
	back := c.checked[t.String()]
	if back == nil {
		var err error
		if back, err = c.guarded(p, t.String()); err != nil {
			return nil, nil, p.blame(err, at)
		}
		if len(c.checked) >= maxStatements {
			clear(c.checked)
		}
		c.checked[t.String()] = back
	}
	columns, err := p.columns(back)
	return t, columns, err
}

// guarded prepares a statement while a guard answers for it, and names the columns
// that come back.
func (c *conn) guarded(p *query, text string) (back []string, err error) {
	if err := c.used(); err != nil {
		return nil, err
	}
	g := &guard{query: p}
	c.guard = g
	st, _, err := c.db.PrepareTransient(text)
	c.guard = nil
	if err != nil {
		return nil, cmp.Or(g.err, raise(err))
	}
	defer st.Finalize()
	for i := range st.ColumnCount() {
		back = append(back, st.ColumnName(i))
	}
	return back, g.err
}

// columns finds the declared columns among those that come back.
func (p *query) columns(back []string) ([]int, error) {
	if len(p.sql.Columns) == 0 {
		return nil, &stores.SQLError{Offset: -1, Msg: "the palette does not say which columns come back"}
	}
	complain := func(format, name string) ([]int, error) {
		return nil, &stores.SQLError{Offset: 0, Msg: fmt.Sprintf(format, name)}
	}
	at := make([]int, len(p.sql.Columns))
	for k, c := range p.sql.Columns {
		at[k] = slices.IndexFunc(back, func(name string) bool { return strings.EqualFold(name, c.Name) })
		if at[k] < 0 || slices.Contains(at[:k], at[k]) {
			return complain("the query returns no column %s, which the palette declares", c.Name)
		}
	}
	for i, name := range back {
		if !slices.Contains(at, i) {
			return complain("the query returns a column %s, which the palette does not declare", name)
		}
	}
	return at, nil
}

// blame turns SQLite's complaint about a statement into one about the author's
// text, at the place of which SQLite complains, or where what it complains of is
// named.
func (p *query) blame(err error, at []int) error {
	var r *raised
	if !errors.As(err, &r) {
		return err
	}
	i, last := 0, len(p.toks)-1
	if r.at >= at[0] {
		i, _ = slices.BinarySearch(at, r.at+1)
		i--
	}
	if strings.HasPrefix(r.msg, `near "`) && i < last {
		return p.fail(i, "%s does not belong here", p.toks[i].text)
	}
	if i == last || r.msg == "incomplete input" {
		return p.fail(last, "the query ends too early")
	}
	for _, kind := range []struct{ prefix, say string }{
		{"no such column: ", "there is no column %s"},
		{"ambiguous column name: ", "the column %s could be that of several tables"},
		{"no such function: ", "the function %s is not one that a query may use"},
		{"wrong number of arguments to function ", "the function %s takes another number of arguments"},
		{"misuse of aggregate function ", "the function %s counts over many rows, and has no place here"},
		{"misuse of aggregate: ", "the function %s counts over many rows, and has no place here"},
		{"no such collation sequence: ", "there is no collation %s"},
		{"misuse of window function ", "the function %s needs OVER"},
	} {
		if name, ok := strings.CutPrefix(r.msg, kind.prefix); ok {
			return p.about(i, strings.TrimSuffix(name, "()"), kind.say+p.sql.Unread(p.tables, lastPart(name)))
		}
	}
	return &stores.SQLError{Offset: -1, Msg: r.msg}
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
	limit := q.Limit
	if limit <= 0 || limit > r.s.rowCap {
		limit = r.s.rowCap
	}
	t, columns, err := r.c.check(p, &r.view, limit+1)
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
	var rows [][]stores.Value
	err = r.c.query(timed, t.String(), t.args, func(found *sqlite.Stmt) (err error) {
		if len(rows) == limit {
			return fmt.Errorf("more than %d rows: %w", limit, stores.ErrLimit)
		}
		row := make([]stores.Value, len(columns))
		for k, i := range columns {
			c, cell := q.Columns[k], cellOf{found, i}
			if row[k], err = decode(c.Kind, cell); err != nil {
				hint := ""
				switch real := cell.Type() == sqlite.TypeFloat; {
				case real && c.Kind == stores.Decimal:
					hint = " (" + sumFunction + " adds exactly)"
				case real && c.Kind == stores.Int:
					hint = " (of decimals, sum is a binary fraction: " + sumFunction + " adds exactly, for a column of type decimal)"
				}
				return &stores.SQLError{Offset: 0, Msg: fmt.Sprintf("column %s holds %v%s", c.Name, err, hint)}
			}
			if row[k], err = c.Spelling.Loaded(row[k]); err != nil {
				return &stores.SQLError{Offset: 0, Msg: fmt.Sprintf("column %s holds %v", c.Name, err)}
			}
		}
		rows = append(rows, row)
		return nil
	})
	switch {
	case err == nil:
		return rows, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case timed.Err() != nil:
		return nil, fmt.Errorf("more than %v: %w", r.s.queryTime, stores.ErrLimit)
	}
	return nil, ranInto(err)
}

// ranInto judges an error of a query at work. SQLite's message may quote a
// value, so that only some of them are passed on.
func ranInto(err error) error {
	var r *raised
	if !errors.As(err, &r) {
		return err
	}
	for _, known := range []string{"malformed JSON", "integer overflow", "string or blob too big"} {
		if strings.Contains(r.msg, known) {
			return &stores.SQLError{Offset: -1, Msg: "the query ran into a value that it cannot handle: " + known}
		}
	}
	if what, ok := strings.CutPrefix(r.msg, unreadable); ok {
		return &stores.SQLError{Offset: -1, Msg: what}
	}
	if r.code == sqlite.ResultError {
		return &stores.SQLError{Offset: -1, Msg: "the query ran into a value that it cannot handle"}
	}
	return fault("query", err)
}
