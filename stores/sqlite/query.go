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
	"verbatim/stores/sqlcore"
)

// A palette's author may write a query of their own, and must be able to do nothing with it but
// read rows that the caller may see. Four measures ensure that:
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

// guardian says what an author may write for SQLite.
var guardian = &sqlcore.Guard{Dialect: dialect, TableFunctions: sqlcore.SetOf("json_each json_tree"), Syntax: &sqlcore.Syntax{
	Quotes: "\"`[", LineEnds: "\n", Params: "?@$:", Words: true,
	Marks: strings.Fields("->> -> || <= >= <> == != << >> ( ) + - * / % < > = ! & | ~ , ."),
}}

// functions are SQLite's functions that only compute, at a cost in proportion to their arguments.
// Not among them are functions that make text or blobs of any length from a number, that read or
// load files, or that keep state.
var functions = sqlcore.SetOf(`abs avg ceil ceiling char coalesce concat concat_ws count cume_dist
	date datetime decimal_sum dense_rank first_value floor group_concat ifnull iif instr
	json json_array json_array_length json_extract json_group_array json_group_object
	json_object json_quote json_type json_valid julianday lag last_value lead length lower
	ltrim max min mod nth_value ntile nullif octet_length percent_rank power rank replace
	round row_number rtrim sign sqrt strftime string_agg substr substring sum time
	total trim trunc typeof unixepoch upper`)

// implied are functions that operators call.
var implied = sqlcore.SetOf("like glob -> ->> current_date current_time current_timestamp")

// parse splits a query and walks it.
//
// It writes the author's subqueries so that SQLite does not inline them: it would copy a
// subquery's expressions to every mention of its columns, and thirty nested subqueries that each
// say x || x would become a billion expressions while the statement is still being prepared,
// where nothing can interrupt it. SQLite inlines neither a common table that is MATERIALIZED nor
// a subquery with a LIMIT in a query with a LIMIT.
func parse(entities []*stores.Entity, q stores.SQL) (*sqlcore.Query, error) {
	p, err := guardian.Split(entities, q)
	if err != nil {
		return nil, err
	}
	toks := p.Toks
	// A bracket is a pair of parentheses: whether it is used as a table, holds a SELECT or a
	// LIMIT, or is within a FROM clause at the moment.
	type bracket struct{ table, selects, limits, from bool }
	brackets := []bracket{{}}
	with := toks[0].Is("WITH") // before the author's first SELECT outside brackets
	for i := 0; i < len(toks)-1; i++ {
		f := &brackets[len(brackets)-1]
		heading := with && len(brackets) == 1
		t, prev := toks[i], sqlcore.Token{Kind: sqlcore.End}
		if i > 0 {
			prev = toks[i-1]
		}
		switch table := p.From(i-1) || f.from && prev.Is("JOIN", ",") || f.table && prev.Is("("); {
		case t.Is("("):
			brackets = append(brackets, bracket{table: table, from: table})
		case t.Is(")"):
			if len(brackets) == 1 {
				return nil, p.Fail(i, "a bracket that was never opened")
			}
			if f.table && f.selects && !f.limits {
				p.As[i] = "LIMIT -1 )"
			}
			brackets = brackets[:len(brackets)-1]
		case t.Is("SELECT", "VALUES"):
			f.selects, f.from = f.selects || t.Is("SELECT"), false
			with = with && !heading
		case table || prev.Is("IN") && t.Naming() && !(i > 1 && toks[i-2].Is(".")):
			last, err := p.Table(i, false)
			if err != nil {
				return nil, err
			}
			i = last
		case prev.Is(".") && t.Kind == sqlcore.Word: // a column's name, which may be any word
		case heading && t.Is("AS"):
			p.As[i] = "AS MATERIALIZED"
		case heading && t.Is("NOT", "MATERIALIZED"):
			p.As[i] = ""
		case heading && prev.Is("WITH", ",") && t.Naming():
			if name := strings.ToLower(t.Name); strings.HasPrefix(name, "sqlite_") || strings.HasPrefix(name, "verbatim_") || t.Is("RECURSIVE") {
				return nil, p.Fail(i, "the name %s is taken", t.Name)
			}
			if err := p.Names(i); err != nil {
				return nil, err
			}
		case p.From(i):
			f.from = true
		case t.Is("WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION", "EXCEPT", "INTERSECT"),
			t.Is("WINDOW") && i+2 < len(toks) && toks[i+2].Is("AS"):
			f.from = false
			f.limits = f.limits || t.Is("LIMIT")
		case t.Is("WITH") && i > 0:
			return nil, p.Fail(i, "WITH stands at the beginning of a query only")
		case t.Kind == sqlcore.Param:
			n := slices.Index(q.Params, t.Name)
			if n < 0 {
				return nil, p.Fail(i, "there is no argument %s", t.Name)
			}
			p.As[i] = strconv.Itoa(n + 1) // moved behind the scope's arguments when written
		default:
			i = p.Qualified(i)
		}
	}
	if len(brackets) > 1 {
		return nil, p.Fail(len(toks)-1, "a bracket is never closed")
	}
	p.Call()
	return p, nil
}

// write makes the statement that runs, and returns where in it each token of the query is.
func write(p *sqlcore.Query, v *view, limit int) (t *text, at []int) {
	t = newText()
	sqlcore.With(p, t, v, func(e *stores.Entity, field int) string {
		f := &e.Fields[field]
		switch {
		case f.Spelling != nil && f.Spelling.Digits > 0:
			return unitsFunction + "(" + column(e, "t", field) + "," + strconv.Itoa(f.Spelling.Digits) + ") COLLATE " + decimalCollation
		case f.Keeps() == stores.Decimal:
			return datum(e, "t", field) + " COLLATE " + decimalCollation
		}
		return datum(e, "t", field)
	})
	scope := len(t.Args)
	t.Add(" SELECT * FROM (")
	for i, as := range p.As {
		at = append(at, t.Len()+1)
		t.Add(" ")
		if p.Toks[i].Kind == sqlcore.Param {
			n, _ := strconv.Atoi(as)
			as = "?" + strconv.Itoa(scope+n)
		}
		t.Add(as)
	}
	t.Add(")").Limit(limit)
	t.Args = append(t.Args, p.SQL.Args...) // CheckSQL has none yet
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
	for _, scope := range p.Scopes() {
		if _, _, _, err := c.check(p, &view{scope}, 1); err != nil {
			return err
		}
	}
	return nil
}

// A guard authorizes what SQLite prepares for a query.
type guard struct {
	*sqlcore.Query
	err error // why it was refused
}

// Authorize implements sqlite.Authorizer. SQLite says in the text of which view or common table
// the object is used: if in none, or in one of the author's own, then the author uses it. For a
// table without a column that is read, SQLite asks when the texts are already merged; then it
// matters whether its name was qualified, as it is in our text and in views. SQLite does not ask
// about columns joined by USING or NATURAL; only parse checks those.
func (c *conn) Authorize(a sqlite.Action) sqlite.AuthResult {
	g := c.guard
	if g == nil {
		return sqlite.AuthResultOK
	}
	by := strings.ToLower(a.Accessor())
	authors := by == "" || slices.Contains(g.Own, by)
	switch a.Type() {
	case sqlite.OpSelect:
		return sqlite.AuthResultOK
	case sqlite.OpRead:
		table := strings.ToLower(a.Table())
		if a.Column() == "" {
			authors = a.Database() == "" && !slices.Contains(g.Own, table) && !g.Calls(table)
		}
		if !authors || guardian.TableFunctions[table] {
			return sqlite.AuthResultOK
		}
		g.err = about(g.Query, 0, table, "no palette declares the table %s")
	case sqlite.OpFunction:
		// The library has no method for the name.
		name := reflect.ValueOf(a).FieldByName("arg2").String()
		if !authors || functions[strings.ToLower(name)] || implied[strings.ToLower(name)] {
			return sqlite.AuthResultOK
		}
		g.err = about(g.Query, 0, name, "the function %s is not one that a query may use")
	case sqlite.OpRecursive:
		g.err = g.Fail(0, "a common table reads itself")
	default:
		g.err = g.Fail(0, "the query would do something other than read")
	}
	return sqlite.AuthResultDeny
}

// about returns an error about a name in the author's text, at its first use from token i on.
func about(p *sqlcore.Query, i int, name, format string) error {
	bad := &stores.SQLError{Offset: -1, Msg: fmt.Sprintf(format, name)}
	for _, t := range p.Toks[i:] {
		if t.Naming() && strings.EqualFold(t.Name, sqlcore.LastPart(name)) {
			bad.Offset = t.Start
			break
		}
	}
	return bad
}

// check makes the statement for a query, has SQLite prepare it under guard, and returns the
// places of the declared columns in the result.
func (c *conn) check(p *sqlcore.Query, v *view, limit int) (sql string, args []stores.Value, columns []int, err error) {
	t, at := write(p, v, limit)
	sql, args = t.Whole(), t.Args
	back := c.checked[sql]
	if back == nil {
		if back, err = c.guarded(p, sql); err != nil {
			return "", nil, nil, blame(p, err, at)
		}
		if len(c.checked) >= maxStatements {
			clear(c.checked)
		}
		c.checked[sql] = back
	}
	columns, err = columnsOf(p, back)
	return sql, args, columns, err
}

// guarded prepares a statement under guard, and returns the names of its result columns.
func (c *conn) guarded(p *sqlcore.Query, text string) (back []string, err error) {
	if err := c.used(); err != nil {
		return nil, err
	}
	g := &guard{Query: p}
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

// columnsOf finds the declared columns among those of the result.
func columnsOf(p *sqlcore.Query, back []string) ([]int, error) {
	if len(p.SQL.Columns) == 0 {
		return nil, &stores.SQLError{Offset: -1, Msg: "the palette does not say which columns come back"}
	}
	complain := func(format, name string) ([]int, error) {
		return nil, &stores.SQLError{Offset: 0, Msg: fmt.Sprintf(format, name)}
	}
	at := make([]int, len(p.SQL.Columns))
	for k, c := range p.SQL.Columns {
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

// blame turns SQLite's error about a statement into one about the author's text, at the place
// that SQLite gives, or where the name in the error is used.
func blame(p *sqlcore.Query, err error, at []int) error {
	var r *sqliteError
	if !errors.As(err, &r) {
		return err
	}
	i, last := 0, len(p.Toks)-1
	if r.at >= at[0] {
		i, _ = slices.BinarySearch(at, r.at+1)
		i--
	}
	if strings.HasPrefix(r.msg, `near "`) && i < last {
		return p.Fail(i, "%s does not belong here", p.Toks[i].Text)
	}
	if i == last || r.msg == "incomplete input" {
		return p.Fail(last, "the query ends too early")
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
			return about(p, i, strings.TrimSuffix(name, "()"), kind.say+p.SQL.Unread(p.Tables, sqlcore.LastPart(name)))
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
	limit := sqlcore.Capped(q.Limit, r.s.rowCap)
	sql, args, columns, err := r.c.check(p, &r.view, limit+1)
	if err != nil {
		return nil, err
	}
	if q.Origins != nil {
		if *q.Origins, err = r.origins(p.Tables); err != nil {
			return nil, err
		}
	}
	timed, cancel := context.WithTimeout(ctx, r.s.queryTime)
	defer cancel()
	var rows [][]stores.Value
	if q.Unreadable != nil {
		r.c.lenient = asItIs
		defer func() { r.c.lenient = strict }()
	}
	err = r.c.query(timed, sql, args, func(found *sqlite.Stmt) (err error) {
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
				return q.Leave(k, err, hint)
			}
			if row[k], err = c.Spelling.Loaded(row[k]); err != nil {
				return q.Leave(k, err, "")
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

// ranInto interprets an error of a running query. SQLite's message may quote a value, so that
// only some messages are passed on.
func ranInto(err error) error {
	var r *sqliteError
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
